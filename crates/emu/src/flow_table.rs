//! Which flow of the scenario a packet of the kernel belongs to.

use crate::classify::Ends;
use crate::packet_io::Side;
use airpath_core::{Duration, FlowId, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Port of flow 0's sockets at both sides.
pub const FIRST_PORT: u16 = 20_000;
/// Largest number of flows with a separate port.
pub const MOST_FLOWS: u32 = 40_000;

/// How long a connection is quiet before its place may be another's.
const QUIET: Duration = Duration::from_secs(60);

/// The port of a flow's sockets.
///
/// # Panics
/// From [`MOST_FLOWS`] on.
pub fn port_of(flow: u32) -> u16 {
    assert!(flow < MOST_FLOWS, "flow {flow} has no port");
    FIRST_PORT + flow as u16
}

/// A connection, from the side of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// IP protocol number.
    pub protocol: u8,
    /// The client's address.
    pub client: Ipv4Addr,
    /// The server's.
    pub server: Ipv4Addr,
    /// The client's port; 0 where there are none.
    pub client_port: u16,
    /// The server's.
    pub server_port: u16,
}

impl Connection {
    /// Of a packet that came from `side`.
    pub fn of(ends: &Ends, side: Side) -> Connection {
        let (there, here) =
            ((ends.destination, ends.destination_port), (ends.source, ends.source_port));
        let (server, client) = if side == Side::Server { (here, there) } else { (there, here) };
        Connection {
            protocol: ends.protocol,
            client: client.0,
            server: server.0,
            client_port: client.1,
            server_port: server.1,
        }
    }
}

/// A place for a connection of a command.
#[derive(Clone, Copy, Debug)]
pub struct PortEntry {
    /// Connection of the entry.
    pub connection: Connection,
    /// When its last packet came.
    last: Time,
}

/// Assignment of packets to flows.
#[derive(Debug)]
pub enum FlowTable {
    /// To the scenario's own flows, by their ports.
    Ports {
        /// How many flows there are.
        flows: u32,
    },
    /// To places for connections, in the order in which these come up.
    Connections(Connections),
}

impl FlowTable {
    /// The flow of a packet from `side`, which came at `now`; `None` when it has none.
    #[inline]
    pub fn flow(&mut self, ends: &Ends, side: Side, now: Time) -> Option<FlowId> {
        match self {
            FlowTable::Ports { flows } => {
                let flow = u32::from(ends.source_port.checked_sub(FIRST_PORT)?);
                (ends.source_port == ends.destination_port && flow < *flows).then_some(FlowId(flow))
            }
            FlowTable::Connections(connections) => {
                Some(connections.flow(Connection::of(ends, side), now))
            }
        }
    }

    /// Packets for which no place was free, and which share another's.
    pub fn crowded(&self) -> u64 {
        match self {
            FlowTable::Ports { .. } => 0,
            FlowTable::Connections(connections) => connections.crowded,
        }
    }
}

/// Places for the connections of commands: as many flows for each user.
#[derive(Debug)]
pub struct Connections {
    /// By user in order of the scenario, its address.
    users: Vec<Ipv4Addr>,
    /// Which of them packets belong to that name none.
    default: usize,
    /// Places of a user.
    slots: usize,
    /// By user, then by place: the latest entry, if any.
    places: Vec<Option<PortEntry>>,
    known: BTreeMap<Connection, u32>,
    /// By user: where the search for a quiet place begins.
    next: Vec<usize>,
    /// Packets for which no place was free.
    crowded: u64,
}

impl Connections {
    /// `slots` places for each of `users`, from 1.
    pub fn new(users: Vec<Ipv4Addr>, default: usize, slots: usize) -> Connections {
        let places = vec![None; users.len() * slots];
        let next = vec![0; users.len()];
        Connections { users, default, slots, places, known: BTreeMap::new(), next, crowded: 0 }
    }

    /// Entries of all places, by flow.
    pub fn places(&self) -> impl Iterator<Item = (FlowId, Connection)> + '_ {
        let numbered = (0..).map(FlowId).zip(&self.places);
        numbered.filter_map(|(flow, place)| place.map(|place| (flow, place.connection)))
    }

    fn flow(&mut self, connection: Connection, now: Time) -> FlowId {
        if let Some(flow) = self.known.get(&connection) {
            if let Some(place) = &mut self.places[*flow as usize] {
                place.last = now;
            }
            return FlowId(*flow);
        }
        self.place(connection, now)
    }

    #[cold]
    fn place(&mut self, connection: Connection, now: Time) -> FlowId {
        let named = self.users.iter().position(|address| *address == connection.client);
        let user = named.unwrap_or(self.default);
        let first = user * self.slots;
        let from = self.next[user];
        let is_free = |slot: &usize| {
            self.places[first + slot].is_none_or(|place| now.saturating_since(place.last) >= QUIET)
        };
        let Some(slot) = (from..self.slots).chain(0..from).find(is_free) else {
            self.crowded += 1;
            let shared = usize::from(connection.client_port ^ connection.server_port) % self.slots;
            return FlowId((first + shared) as u32);
        };
        self.next[user] = (slot + 1) % self.slots;
        let flow = (first + slot) as u32;
        if let Some(before) =
            self.places[flow as usize].replace(PortEntry { connection, last: now })
        {
            self.known.remove(&before.connection);
        }
        self.known.insert(connection, flow);
        FlowId(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::{client_address, server_address};

    fn ends(source_port: u16, destination_port: u16) -> Ends {
        let (source, destination) = (server_address(0), client_address(0, 3));
        Ends { protocol: 6, source, destination, source_port, destination_port }
    }

    fn reversed(ends: Ends) -> Ends {
        Ends {
            source: ends.destination,
            destination: ends.source,
            source_port: ends.destination_port,
            destination_port: ends.source_port,
            ..ends
        }
    }

    #[test]
    fn a_flow_is_known_by_its_port() {
        let mut table = FlowTable::Ports { flows: 3 };
        let mut flow = |port, other| table.flow(&ends(port, other), Side::Server, Time::ZERO);
        assert_eq!(flow(port_of(2), port_of(2)), Some(FlowId(2)));
        for (port, other) in [(19_999, 19_999), (20_003, 20_003), (20_001, 20_002), (0, 0)] {
            assert_eq!(flow(port, other), None, "{port} {other}");
        }
    }

    #[test]
    fn both_directions_of_a_connection_have_one_flow_and_users_have_their_own() {
        let users = vec![client_address(0, 0), client_address(0, 3)];
        let mut table = FlowTable::Connections(Connections::new(users, 0, 8));
        let there = ends(80, 40_000);
        let flow = table.flow(&there, Side::Server, Time::ZERO);
        assert_eq!(flow, Some(FlowId(8)));
        assert_eq!(table.flow(&reversed(there), Side::Client, Time::ZERO), flow);
        assert_eq!(table.flow(&ends(80, 40_001), Side::Server, Time::ZERO), Some(FlowId(9)));
        let stranger = Ends { destination: Ipv4Addr::new(100, 67, 0, 0), ..there };
        assert_eq!(table.flow(&stranger, Side::Server, Time::ZERO), Some(FlowId(0)));
    }

    #[test]
    fn a_place_is_anothers_when_it_was_quiet_for_a_minute() {
        let users = vec![client_address(0, 3)];
        let mut table = FlowTable::Connections(Connections::new(users, 0, 2));
        let mut flow = |port, s| table.flow(&ends(80, port), Side::Server, Time::from_secs(s));
        assert_eq!((flow(1, 0), flow(2, 0)), (Some(FlowId(0)), Some(FlowId(1))));
        let crowded = flow(3, 30).expect("it shares a place");
        assert!(crowded.0 < 2);
        assert_eq!(flow(2, 59), Some(FlowId(1)));
        assert_eq!(flow(3, 60), Some(FlowId(0)));
        assert_eq!((flow(2, 61), flow(1, 62).is_some()), (Some(FlowId(1)), true));
        assert_eq!(table.crowded(), 2);
    }
}
