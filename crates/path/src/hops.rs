//! The hops that all flows share: a link, its queues, and the delay after the link.

use crate::scenario::Scenario;
use airpath_core::Duration;
use serde::Deserialize;
use serde_json::Value;

/// A hop that all flows share, in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopSpec<'a> {
    /// Name in results: `bottleneck`, `ack_path`, `reverse`, `backhaul` or `backhaul_reverse`.
    pub name: &'static str,
    /// The link: `{"kind": …}`.
    pub link: &'a Value,
    /// The queue discipline of all queues of the link: `{"kind": …}`.
    pub queues: &'a Value,
    /// One-way propagation delay after the link.
    pub delay: Duration,
}

/// The hop of the data packets, in the form of the document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bottleneck {
    /// The link: `{"kind": …}`.
    pub link: Value,
    /// The queue discipline: `{"kind": …}`.
    pub queue: Value,
    /// One-way propagation delay after the link, ns.
    #[serde(default)]
    pub delay_ns: u64,
}

/// The path of ACKs before the flow's own return wire.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AckPath {
    /// ACKs take only the return wire.
    Ideal {},
    /// A link that the ACKs of all flows share.
    Link {
        /// The link: `{"kind": …}`.
        link: Value,
        /// The queue discipline of the link: `{"kind": …}`.
        queue: Value,
        /// One-way propagation delay after the link, ns.
        #[serde(default)]
        delay_ns: u64,
    },
    /// The reverse direction of the bottleneck.
    Reverse {
        /// The reverse link; default: a copy of the forward link.
        #[serde(default)]
        link: Option<Value>,
        /// The queue discipline of the link: `{"kind": …}`.
        queue: Value,
        /// One-way propagation delay after the reverse link, ns. Default: 0 if `link` is set,
        /// otherwise the delay of the forward direction.
        #[serde(default)]
        delay_ns: Option<u64>,
    },
}

impl Scenario {
    /// Returns the hop of the data packets.
    pub fn forward_hop(&self) -> HopSpec<'_> {
        let Bottleneck { link, queue, delay_ns } = &self.bottleneck;
        hop("bottleneck", link, queue, *delay_ns)
    }

    /// Returns the hop that all ACKs share; `None` on an ideal ACK path.
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

    /// Returns a scenario with these hops.
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
    fn hops_have_name_link_queues_and_delay_of_their_direction() {
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
