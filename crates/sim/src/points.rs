//! Points of the path where packets can be captured.

use crate::observers::PacketEvent;
use crate::stage_map::{Role, StageMap};
use airpath_capture::Direction as PacketDirection;
use airpath_core::{ConfigError, Packet, PacketKind, Port, StageId};
use airpath_path::{Direction, Hop, Scenario};

/// Time to live of a packet at its sending host.
const FIRST_TTL: u8 = 64;

/// A point of the path where packets can be captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    name: String,
    description: String,
    site: Site,
}

/// Kind of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// The endpoints with this role.
    Hosts(Role),
    /// The forward direction of the bottleneck. Without a link in forward direction, the reverse link
    /// nearest to the users.
    Bottleneck(End),
    /// After the reverse link nearest to the users.
    Acks,
    /// One direction of a hop, by position on the path.
    Hop(usize, Direction, End),
}

/// End of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Before the queue.
    Entry,
    /// After the link or the wire.
    Exit,
}

impl Point {
    /// Names and descriptions of the points that every path has.
    ///
    /// - `sender`: the senders' hosts; data on departure, ACKs on arrival.
    /// - `ingress`: packets that arrive at the bottleneck's queue, including packets that the queue
    ///   then drops.
    /// - `bottleneck`: packets that the bottleneck's link has delivered, at the end of their
    ///   transmission. Excludes packets that the queue dropped or the channel corrupted.
    /// - `receiver`: the receivers' hosts; data on arrival, ACKs on departure.
    /// - `acks`: packets that the reverse link nearest to the users has delivered: ACKs, and the
    ///   data of reverse flows. On an ideal ACK path, which has no such link, ACKs are captured when
    ///   they leave the receivers.
    pub const OF_EVERY_PATH: [(&'static str, &'static str); 5] = [
        ("sender", "The senders' hosts: data leaving, ACKs arriving."),
        ("ingress", "Arrivals at the bottleneck's queue, before any drop."),
        ("bottleneck", "Packets sent by the bottleneck's link."),
        ("receiver", "The receivers' hosts: data arriving, ACKs leaving."),
        ("acks", "Packets behind the link that ACKs take, if there is one."),
    ];

    /// Returns all points of a path: those of every path, then those of the hops in order from the
    /// servers to the users.
    ///
    /// `NAME` is the name of a direction of a hop in the report. The point `NAME.in` is before its
    /// queue, the point `NAME` after its link. A wire without a limit has no queue: its only point
    /// is `NAME`, at its end. A wire without delay and rate has no point.
    pub fn all(scenario: &Scenario) -> Vec<Point> {
        let sites = [
            Site::Hosts(Role::Source),
            Site::Bottleneck(End::Entry),
            Site::Bottleneck(End::Exit),
            Site::Hosts(Role::Sink),
            Site::Acks,
        ];
        let of_every_path = sites.into_iter().zip(Point::OF_EVERY_PATH);
        let mut points: Vec<Point> = of_every_path
            .map(|(site, (name, what))| Point::new(name.to_owned(), what.to_owned(), site))
            .collect();
        for (position, hop) in scenario.hops.iter().enumerate() {
            for direction in Direction::BOTH {
                for point in Point::of_hop(hop, position, direction) {
                    if points.iter().all(|known| known.name != point.name) {
                        points.push(point);
                    }
                }
            }
        }
        points
    }

    /// Returns the points of one direction of a hop.
    fn of_hop(hop: &Hop, position: usize, direction: Direction) -> Vec<Point> {
        if !hop.serves(direction) {
            return Vec::new();
        }
        let name = match direction {
            Direction::Forward => hop.name.clone(),
            Direction::Reverse => hop.up_name(),
        };
        let site = |end| Site::Hop(position, direction, end);
        match hop.wire.filter(|wire| wire.limit.is_none()) {
            None => {
                let before = format!("Arrivals at the queue of {name}, before any drop.");
                let after = format!("Packets sent by the link of {name}.");
                vec![
                    Point::new(format!("{name}.in"), before, site(End::Entry)),
                    Point::new(name, after, site(End::Exit)),
                ]
            }
            Some(wire) if wire.rate_bps.is_some() || wire.delay_ns > 0 => {
                let what = format!("Packets at the end of the wire {name}.");
                vec![Point::new(name, what, site(End::Exit))]
            }
            Some(_) => Vec::new(),
        }
    }

    fn new(name: String, description: String, site: Site) -> Point {
        Point { name, description, site }
    }

    /// Returns the point of a path with this name.
    ///
    /// # Errors
    /// Fails if no point has this name.
    pub fn named(name: &str, scenario: &Scenario) -> Result<Point, ConfigError> {
        let mut points = Point::all(scenario);
        let Some(found) = points.iter().position(|point| point.name == name) else {
            let known: Vec<&str> = points.iter().map(|point| &*point.name).collect();
            let problem = format!("unknown. Accepted: {}", known.join(", "));
            return Err(ConfigError::new("capture.points", name, problem));
        };
        Ok(points.swap_remove(found))
    }

    /// Returns the name, which is unique on a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description of the captured packets, one sentence.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// Location of a point in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// The endpoints with this role.
    Hosts(Role),
    /// The outputs of the receivers.
    Receivers,
    /// One direction of a hop.
    Hop {
        /// Input of the hop, which is also its output.
        input: (StageId, Port),
        /// Position of the hop on the path.
        position: usize,
        direction: Direction,
        end: End,
    },
    /// No packet passes the point.
    Nowhere,
}

impl Location {
    pub(crate) fn new(point: &Point, stage_map: &StageMap) -> Location {
        let at = |position: usize, direction, end| {
            let input = stage_map.hop(position, direction);
            input.map_or(Location::Nowhere, |input| Location::Hop {
                input,
                position,
                direction,
                end,
            })
        };
        match point.site {
            Site::Hosts(role) => Location::Hosts(role),
            Site::Hop(position, direction, end) => at(position, direction, end),
            Site::Bottleneck(end) => {
                let place = |direction| Some((stage_map.position(direction)?, direction));
                let found = Direction::BOTH.into_iter().find_map(place);
                found
                    .map_or(Location::Nowhere, |(position, direction)| at(position, direction, end))
            }
            Site::Acks => {
                let position = stage_map.position(Direction::Reverse);
                position.map_or(Location::Receivers, |position| {
                    at(position, Direction::Reverse, End::Exit)
                })
            }
        }
    }

    /// Returns the direction in which a packet passes this location; `None` if it does not pass.
    #[inline]
    pub(crate) fn sees(
        &self,
        stage_map: &StageMap,
        event: &PacketEvent<'_>,
    ) -> Option<PacketDirection> {
        let leaves = |role| event.from.is_some_and(|from| stage_map.role(from.0) == role);
        let arrives = |role| event.to.is_some_and(|to| stage_map.role(to.0) == role);
        let passes = match *self {
            Location::Hosts(role) if leaves(role) => return Some(PacketDirection::Outbound),
            Location::Hosts(role) if arrives(role) => return Some(PacketDirection::Inbound),
            Location::Receivers => leaves(Role::Sink),
            Location::Hop { input, end: End::Entry, .. } => event.to == Some(input),
            Location::Hop { input, end: End::Exit, .. } => event.from == Some(input),
            Location::Hosts(_) | Location::Nowhere => false,
        };
        passes.then_some(PacketDirection::Passing)
    }

    /// Returns the time to live of a packet at this location: each hop with a link counts as one
    /// router.
    pub(crate) fn ttl(&self, stage_map: &StageMap, packet: &Packet) -> u8 {
        let is_ack = packet.kind == PacketKind::Ack;
        let route = stage_map.route(packet.flow);
        let of_data = route.direction;
        let passed = match *self {
            Location::Hosts(Role::Source) if is_ack => {
                stage_map.links_on(&route, of_data.opposite(), None)
            }
            Location::Hosts(Role::Sink) if !is_ack => stage_map.links_on(&route, of_data, None),
            Location::Hop { position, direction, end, .. } => {
                stage_map.links_on(&route, direction, Some((position, end == End::Exit)))
            }
            Location::Hosts(_) | Location::Receivers | Location::Nowhere => 0,
        };
        FIRST_TTL.saturating_sub(passed).max(1)
    }
}
