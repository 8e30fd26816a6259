//! The short form of a path: one bottleneck, an ACK path and an optional backhaul.

use crate::hops::{Hop, HopDirection};
use crate::scenario::WireSpec;
use serde::Deserialize;
use serde_json::Value;

/// A path with one bottleneck, the short form of a list of hops.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbell {
    /// The hop of the data packets.
    pub bottleneck: Bottleneck,
    /// The path of the ACKs.
    pub ack_path: AckPath,
    /// The wired hop between the servers and the bottleneck, in both directions. Default: none.
    pub backhaul: Option<WireSpec>,
}

/// The hop of the data packets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
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

impl Dumbbell {
    /// Returns the hops, in order from the servers to the users.
    pub fn into_hops(self) -> Vec<Hop> {
        let hop = |name: &str, wire, down, up| Hop { name: name.to_owned(), wire, down, up };
        let Bottleneck { link, queue, delay_ns } = self.bottleneck;
        let down = HopDirection { link: Some(link), queue, delay_ns: Some(delay_ns) };
        let (ack_hop, up) = match self.ack_path {
            AckPath::Ideal {} => (None, None),
            AckPath::Link { link, queue, delay_ns } => {
                let up = HopDirection { link: Some(link), queue, delay_ns: Some(delay_ns) };
                (Some(hop("ack_path", None, None, Some(up))), None)
            }
            AckPath::Reverse { link, queue, delay_ns } => {
                (None, Some(HopDirection { link, queue, delay_ns }))
            }
        };
        let backhaul = self.backhaul.map(|wire| hop("backhaul", Some(wire), None, None));
        let bottleneck = hop("bottleneck", None, Some(down), up);
        backhaul.into_iter().chain(ack_hop).chain([bottleneck]).collect()
    }

    /// Returns the short form of a path. `None` unless exactly one hop has a link for data, and the
    /// other hops are at most one wire before it and one link for ACKs.
    pub fn from_hops(hops: &[Hop]) -> Option<Dumbbell> {
        let (last, before) = hops.split_last()?;
        let (backhaul, before) = match before.split_first() {
            Some((first, rest)) if first.wire.is_some() => (first.wire, rest),
            _ => (None, before),
        };
        let HopDirection { link, queue, delay_ns } = last.down.clone()?;
        let bottleneck = Bottleneck { link: link?, queue, delay_ns: delay_ns.unwrap_or(0) };
        let ack_path = match (before, last.up.clone()) {
            ([], None) => AckPath::Ideal {},
            ([], Some(HopDirection { link, queue, delay_ns })) => {
                AckPath::Reverse { link, queue, delay_ns }
            }
            ([Hop { wire: None, down: None, up: Some(up), .. }], None) => AckPath::Link {
                link: up.link.clone()?,
                queue: up.queue.clone(),
                delay_ns: up.delay_ns.unwrap_or(0),
            },
            _ => return None,
        };
        Some(Dumbbell { bottleneck, ack_path, backhaul })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Direction, Scenario};
    use serde_json::json;

    fn link(rate_bps: u64) -> Value {
        json!({"kind": "fixed", "rate_bps": rate_bps})
    }

    fn queue() -> Value {
        json!({"kind": "droptail", "limit": {"packets": 9}})
    }

    /// Returns a scenario with these keys and one flow.
    fn scenario(path: Value) -> Scenario {
        let flow = json!({
            "source": {"kind": "cbr", "rate_bps": 1, "packet_bytes": 1},
            "start": {"kind": "at", "time_ns": 0}, "access": {"delay_ns": 0},
            "egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}});
        let mut document = path;
        document["duration_ns"] = json!(1);
        document["flows"] = json!([flow]);
        Scenario::from_json(&document.to_string()).expect("a scenario")
    }

    /// Returns name, link and delay, ns, of each link direction.
    fn directions(scenario: &Scenario) -> Vec<(String, Value, u64)> {
        let of = |hop: crate::HopSpec<'_>| (hop.name, hop.link.clone(), hop.delay.as_nanos());
        scenario.link_directions().map(of).collect()
    }

    #[test]
    fn short_form_equals_its_hops() {
        let bottleneck = json!({"link": link(5), "queue": queue(), "delay_ns": 7});
        let down = ("bottleneck".to_owned(), link(5), 7);
        let ack = |kind: &str, link: Value, delay: Value| json!({"kind": kind, "link": link, "queue": queue(), "delay_ns": delay});
        let up = |name: &str, rate, delay| vec![(name.to_owned(), link(rate), delay)];
        for (ack_path, expected) in [
            (json!({"kind": "ideal"}), vec![]),
            (ack("link", link(3), json!(4)), up("ack_path", 3, 4)),
            (ack("reverse", link(3), json!(4)), up("reverse", 3, 4)),
            (ack("reverse", link(3), json!(null)), up("reverse", 3, 0)),
            (ack("reverse", json!(null), json!(null)), up("reverse", 5, 7)),
            (ack("reverse", json!(null), json!(4)), up("reverse", 5, 4)),
        ] {
            for backhaul in [json!(null), json!({"rate_bps": 9, "delay_ns": 2})] {
                let short = scenario(json!({
                    "bottleneck": bottleneck, "ack_path": ack_path, "backhaul": backhaul}));
                let found = directions(&short);
                let expected: Vec<_> = [down.clone()].into_iter().chain(expected.clone()).collect();
                assert_eq!(found, expected, "{ack_path}");
                let dumbbell = Dumbbell::from_hops(&short.hops).expect("a dumbbell");
                assert_eq!(
                    dumbbell.backhaul.map(|wire| wire.delay_ns),
                    backhaul["delay_ns"].as_u64()
                );
                assert_eq!(dumbbell.into_hops(), short.hops);
            }
        }
    }

    #[test]
    fn paths_of_several_links_have_no_short_form() {
        let direction = json!({"link": link(5), "queue": queue()});
        let hop = |name: &str| json!({"name": name, "down": direction, "up": direction});
        let two = scenario(json!({"hops": [hop("a"), hop("b")]}));
        assert_eq!(Dumbbell::from_hops(&two.hops), None);
        assert_eq!(two.hops[0].up_name(), "a_reverse");
        assert!(two.hops.iter().all(|hop| Direction::BOTH.iter().all(|side| hop.serves(*side))));
        let one = scenario(json!({"hops": [hop("a")]}));
        assert!(Dumbbell::from_hops(&one.hops).is_some());
    }
}
