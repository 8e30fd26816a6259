//! The hops of the path: links with queues, or wires, in order from the servers to the users.

use crate::scenario::{Direction, FlowSpec, Scenario, WireSpec};
use airpath_core::{Checks, ConfigError, Duration};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A hop of the path. It is either a wire, or a link with queues in one or both directions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// Name of the hop, unique in the scenario.
    pub name: String,
    /// Wire in both directions. With a limit, it has a rate and a drop-tail queue per direction.
    #[serde(default)]
    pub wire: Option<WireSpec>,
    /// Link and queue in the direction from the servers to the users. Default: packets in this
    /// direction do not traverse the hop.
    #[serde(default)]
    pub down: Option<HopDirection>,
    /// Link and queue in the direction from the users to the servers. Default: packets in this
    /// direction do not traverse the hop.
    #[serde(default)]
    pub up: Option<HopDirection>,
}

/// The link and the queue of a hop in one direction.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HopDirection {
    /// The link: `{"kind": …}`. Default, only for `up`: a link that serves both directions, or a
    /// copy of the link of `down`.
    #[serde(default)]
    pub link: Option<Value>,
    /// The queue discipline of all queues of the link in this direction: `{"kind": …}`.
    pub queue: Value,
    /// One-way propagation delay after the link, ns. Default: 0 with a `link`, otherwise the delay
    /// of `down`.
    #[serde(default)]
    pub delay_ns: Option<u64>,
}

/// One direction of a hop with a link.
#[derive(Clone, Debug, PartialEq)]
pub struct HopSpec<'a> {
    /// Name of the direction in results.
    pub name: String,
    /// The link: `{"kind": …}`.
    pub link: &'a Value,
    /// The queue discipline of all queues of the link: `{"kind": …}`.
    pub queues: &'a Value,
    /// One-way propagation delay after the link.
    pub delay: Duration,
}

impl Hop {
    /// Returns the name of the upward direction in results. The reverse direction of a hop called
    /// `bottleneck` is `reverse`.
    pub fn up_name(&self) -> String {
        match (&self.wire, &self.down, self.name.as_str()) {
            (None, None, name) => name.to_owned(),
            (None, Some(_), "bottleneck") => "reverse".to_owned(),
            (_, _, name) => format!("{name}_reverse"),
        }
    }

    /// Returns the downward direction of a hop with a link.
    pub fn down(&self) -> Option<HopSpec<'_>> {
        let HopDirection { link, queue, delay_ns } = self.down.as_ref()?;
        let delay = Duration::from_nanos(delay_ns.unwrap_or(0));
        let link = link.as_ref().unwrap_or(&Value::Null);
        Some(HopSpec { name: self.name.clone(), link, queues: queue, delay })
    }

    /// Returns the upward direction of a hop with a link.
    pub fn up(&self) -> Option<HopSpec<'_>> {
        let HopDirection { link, queue, delay_ns } = self.up.as_ref()?;
        let down = self.down.as_ref();
        let of_down = || down.filter(|_| link.is_none()).and_then(|down| down.delay_ns);
        let delay = Duration::from_nanos(delay_ns.or_else(of_down).unwrap_or(0));
        let link = link.as_ref().or_else(|| down?.link.as_ref()).unwrap_or(&Value::Null);
        Some(HopSpec { name: self.up_name(), link, queues: queue, delay })
    }

    /// Returns true if the upward direction uses the link description of the downward direction.
    pub fn is_mirrored(&self) -> bool {
        self.down.is_some() && self.up.as_ref().is_some_and(|up| up.link.is_none())
    }

    /// Returns true if packets in this direction traverse the hop.
    pub fn serves(&self, direction: Direction) -> bool {
        self.wire.is_some()
            || match direction {
                Direction::Forward => self.down.is_some(),
                Direction::Reverse => self.up.is_some(),
            }
    }

    /// Returns the one-way propagation delay in a direction.
    pub fn delay(&self, direction: Direction) -> Duration {
        if let Some(wire) = &self.wire {
            return Duration::from_nanos(wire.delay_ns);
        }
        let spec = match direction {
            Direction::Forward => self.down(),
            Direction::Reverse => self.up(),
        };
        spec.map_or(Duration::ZERO, |spec| spec.delay)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        match (&self.wire, &self.down, &self.up) {
            (Some(wire), None, None) => {
                checks.nested("", wire.validate());
            }
            (None, None, None) => {
                checks.reject("down", "null", "no link in any direction", "Set down, up or wire");
            }
            (Some(_), _, _) => {
                checks.reject("wire", "a wire", "a hop of links has no wire", "Remove it");
            }
            (None, down, up) => {
                if down.as_ref().is_some_and(|down| down.link.is_none()) {
                    checks.reject("down.link", "null", "missing", "Set a link");
                }
                if down.is_none() && up.as_ref().is_some_and(|up| up.link.is_none()) {
                    checks.reject("up.link", "null", "missing", "Set a link");
                }
            }
        }
        checks.finish()
    }
}

impl Scenario {
    /// Returns the link directions of all hops, in the order of the report.
    pub fn link_directions(&self) -> impl Iterator<Item = HopSpec<'_>> {
        self.hops.iter().rev().flat_map(|hop| [hop.down(), hop.up()]).flatten()
    }

    /// Returns the positions of the hops that a flow crosses.
    pub fn crossed(&self, flow: &FlowSpec) -> RangeInclusive<usize> {
        let position = |name: &str| self.hops.iter().position(|hop| hop.name == name);
        let last = self.hops.len().saturating_sub(1);
        flow.hops.as_ref().map_or(0..=last, |[first, end]| {
            position(first).unwrap_or(0)..=position(end).unwrap_or(last)
        })
    }

    /// Returns the two-way propagation delay of the hops that a flow crosses: the least delay over
    /// the run, if the delay of a hop changes.
    pub fn shared_delay(&self, flow: &FlowSpec) -> Duration {
        let delays = self.crossed(flow).flat_map(|position| {
            Direction::BOTH.map(|direction| self.least_delay(position, direction))
        });
        delays.fold(Duration::ZERO, |sum, delay| sum + delay)
    }

    /// Rejects hops that cannot exist, and flows that do not fit them.
    pub(crate) fn check_hops(&self, checks: &mut Checks) {
        if self.hops.is_empty() {
            return checks.reject("hops", "[]", "no hops", "Use at least one hop");
        }
        let mut names = BTreeSet::new();
        for hop in &self.hops {
            checks.nested(&hop.name, hop.validate());
            if !names.insert(hop.name.as_str()) {
                checks.reject("hops", &hop.name, "two hops of one name", "Use another name");
            }
        }
        for (number, flow) in self.flows.entries().iter().enumerate() {
            checks.nested(&format!("flows.{number}"), self.check_route(flow));
        }
    }

    /// Rejects a flow whose data or ACKs have no hop to traverse.
    fn check_route(&self, flow: &FlowSpec) -> Result<(), ConfigError> {
        const ADVICE: &str = "Set ack_path of kind \"link\" or \"reverse\"";
        let mut checks = Checks::default();
        for name in flow.hops.iter().flatten() {
            if !self.hops.iter().any(|hop| hop.name == *name) {
                let known: Vec<&str> = self.hops.iter().map(|hop| hop.name.as_str()).collect();
                let advice = format!("Expected one of: {}", known.join(", "));
                checks.reject("hops", name, "unknown hop", &advice);
            }
        }
        checks.finish()?;
        let crossed = self.crossed(flow);
        let mut checks = Checks::default();
        if crossed.is_empty() {
            let [first, last] = flow.hops.as_ref().expect("all hops are not an empty range");
            let problem = format!("after {last} on the path");
            checks.reject("hops", first, &problem, "Use the hop that is nearer to the servers");
            return checks.finish();
        }
        let hops = &self.hops[crossed];
        let serves = |direction| hops.iter().any(|hop| hop.serves(direction));
        let has_link =
            |direction| hops.iter().any(|hop| hop.wire.is_none() && hop.serves(direction));
        let data = flow.direction;
        if data == Direction::Reverse && !has_link(Direction::Reverse) {
            let problem = "an ideal ACK path has no link that data could take";
            checks.reject("direction", "reverse", problem, ADVICE);
        } else if !serves(data) {
            let advice = "Use hops that serve the direction of the data";
            checks.reject("hops", &hops[0].name, "no hop for the data", advice);
        }
        if flow.ack_access.is_some() && !has_link(data.opposite()) {
            let problem = "an ideal ACK path has no link that ACKs could be delayed before";
            let advice = format!("{ADVICE}, or give the delay to the return wire");
            checks.reject("ack_access", "a wire", problem, &advice);
        }
        checks.finish()
    }
}
