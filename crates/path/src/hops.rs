//! The hops that all flows share: a link, the queues in front of it, the delay behind it.

use crate::scenario::Scenario;
use airpath_core::Duration;
use serde::Deserialize;
use serde_json::Value;

/// One direction of what all flows share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopSpec<'a> {
    /// Its name in results: `bottleneck`, `ack_path`, `reverse`, `backhaul` or `backhaul_reverse`.
    pub name: &'static str,
    /// The link: `{"kind": …}`.
    pub link: &'a Value,
    /// The discipline of its queues, however many the link has: `{"kind": …}`.
    pub queues: &'a Value,
    /// One-way propagation delay behind the link.
    pub delay: Duration,
}

/// The hop that data takes, as the document has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bottleneck {
    /// The link: `{"kind": …}`.
    pub link: Value,
    /// The queue discipline: `{"kind": …}`.
    pub queue: Value,
    /// One-way propagation delay behind the link, ns.
    #[serde(default)]
    pub delay_ns: u64,
}

/// How ACKs come back, before the flow's own return wire.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AckPath {
    /// ACKs take only the return wire.
    Ideal {},
    /// Over a link that the ACKs of all flows share.
    Link {
        /// The link: `{"kind": …}`.
        link: Value,
        /// Its queue discipline: `{"kind": …}`.
        queue: Value,
        /// One-way propagation delay behind the link, ns.
        #[serde(default)]
        delay_ns: u64,
    },
    /// Over the other direction of the bottleneck.
    Reverse {
        /// The reverse link; absent: as the forward one.
        #[serde(default)]
        link: Option<Value>,
        /// Its queue discipline: `{"kind": …}`.
        queue: Value,
        /// One-way propagation delay behind the reverse link, ns; absent: none behind a separate
        /// link, else as in the forward direction.
        #[serde(default)]
        delay_ns: Option<u64>,
    },
}

impl Scenario {
    /// The hop that data takes.
    pub fn forward_hop(&self) -> HopSpec<'_> {
        let Bottleneck { link, queue, delay_ns } = &self.bottleneck;
        hop("bottleneck", link, queue, *delay_ns)
    }

    /// The hop that ACKs share; none on an ideal path.
    pub fn reverse_hop(&self) -> Option<HopSpec<'_>> {
        match &self.ack_path {
            AckPath::Ideal {} => None,
            AckPath::Link { link, queue, delay_ns } => {
                Some(hop("ack_path", link, queue, *delay_ns))
            }
            AckPath::Reverse { link, queue, delay_ns } => {
                let forward = &self.bottleneck;
                let as_forward = if link.is_none() { forward.delay_ns } else { 0 };
                let link = link.as_ref().unwrap_or(&forward.link);
                Some(hop("reverse", link, queue, delay_ns.unwrap_or(as_forward)))
            }
        }
    }
}

fn hop<'a>(name: &'static str, link: &'a Value, queues: &'a Value, delay_ns: u64) -> HopSpec<'a> {
    HopSpec { name, link, queues, delay: Duration::from_nanos(delay_ns) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A scenario of these hops.
    fn scenario(bottleneck: Value, ack_path: Value) -> Scenario {
        let flow = json!({
            "source": {"kind": "cbr", "rate_bps": 1, "packet_bytes": 1},
            "start": {"kind": "at", "time_ns": 0}, "access": {"delay_ns": 0},
            "egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}});
        let document = json!({
            "duration_ns": 1, "flows": [flow], "bottleneck": bottleneck, "ack_path": ack_path});
        Scenario::from_json(&document.to_string()).expect("a scenario")
    }

    fn link(rate_bps: u64) -> Value {
        json!({"kind": "fixed", "rate_bps": rate_bps})
    }

    fn queue() -> Value {
        json!({"kind": "droptail", "limit": {"packets": 9}})
    }

    #[test]
    fn every_direction_has_its_name_link_queues_and_delay() {
        let nanos = Duration::from_nanos;
        let bottleneck = json!({"link": link(5), "queue": queue(), "delay_ns": 7});
        let hops = |ack_path| {
            let scenario = scenario(bottleneck.clone(), ack_path);
            let forward = scenario.forward_hop();
            assert_eq!((forward.name, forward.delay), ("bottleneck", nanos(7)));
            assert_eq!((forward.link, forward.queues), (&link(5), &queue()));
            scenario.reverse_hop().map(|hop| (hop.name, hop.link.clone(), hop.delay.as_nanos()))
        };
        assert_eq!(hops(json!({"kind": "ideal"})), None);
        let own = |kind, delay| {
            hops(json!({"kind": kind, "link": link(3), "queue": queue(), "delay_ns": delay}))
        };
        assert_eq!(own("link", json!(4)), Some(("ack_path", link(3), 4)));
        assert_eq!(own("reverse", json!(4)), Some(("reverse", link(3), 4)));
        assert_eq!(own("reverse", json!(null)), Some(("reverse", link(3), 0)));
        let mirrored =
            |delay: Value| hops(json!({"kind": "reverse", "queue": queue(), "delay_ns": delay}));
        assert_eq!(mirrored(json!(null)), Some(("reverse", link(5), 7)));
        assert_eq!(mirrored(json!(4)), Some(("reverse", link(5), 4)));
    }
}
