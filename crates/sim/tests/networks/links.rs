//! Random links, disciplines and hops.

use super::{any_delay, components};
use crate::common::links::links;
use crate::common::{MS, hop};
use crate::contracts::arq_link::lossy;
use crate::descriptions::with_kind;
use airpath_aqm::AnyQueue;
use airpath_conformance::samples;
use airpath_link::Sides;
use airpath_phy::adaptation::AnyPolicy;
use airpath_phy::errors::AnyErrors;
use airpath_phy::snr::AnySnr;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Returns every built-in component of a family, with the defaults of its Python class.
pub(super) fn all_of(family: &str, built_in: &[(&str, &str)]) -> Vec<Value> {
    let usual = |kind: &str| {
        let mut component = samples(family, kind, |_| true).swap_remove(0);
        component["kind"] = json!(kind);
        component
    };
    built_in.iter().map(|(kind, _)| usual(kind)).collect()
}

/// Returns all links, adaptive links with every policy and SNR process, the toy links, and links
/// with HARQ and ARQ.
pub(crate) fn all_links() -> Vec<Value> {
    let mut all = links();
    let snrs = all_of("snr", AnySnr::BUILT_IN);
    for (mut policy, number) in all_of("policy", AnyPolicy::BUILT_IN).into_iter().zip(0..) {
        for (key, mcs) in [("mcs", "low"), ("mcs_below", "low"), ("mcs_above", "high")] {
            if policy.get(key).is_some() {
                policy[key] = json!(mcs);
            }
        }
        let mut snr: Value = snrs[number % snrs.len()].clone();
        if snr.get("trace").is_some() {
            snr["trace"] = json!("steps");
        }
        all.push(json!({"kind": "adaptive", "table": "two", "snr": snr, "policy": policy}));
    }
    for scheduler in ["round-robin", "apart"] {
        all.push(json!({"kind": "toy-cell", "scheduler": scheduler, "rate_bps": 2_000_000}));
    }
    all.push(lossy());
    for processes in [json!(null), json!(4)] {
        all.push(json!({"kind": "fixed", "rate_bps": 2_000_000, "loss": 0.1, "arq": {"delay_ns": 50 * MS},
                        "in_order": processes.is_null(), "harq": {
                        "attempts": 3, "error": 0.1, "round_trip_ns": 8 * MS, "processes": processes}}));
    }
    all
}

/// Returns the number of directions that `link` serves.
pub(crate) fn sides(link: &Value) -> Sides {
    components(true).links.sides(link).expect("it names its kind")
}

fn any_link(can_be_duplex: bool) -> impl Strategy<Value = Value> {
    let mut all = all_links();
    all.retain(|link| can_be_duplex || sides(link) != Sides::Both);
    let errors = prop::option::of(select(all_of("errors", AnyErrors::BUILT_IN)));
    (select(all), errors).prop_map(|(mut link, errors)| {
        let is_toy = ["toy-cell", "arq"].iter().any(|toy| link["kind"] == *toy);
        if let Some(errors) = errors.filter(|_| !is_toy) {
            link["errors"] = errors;
        }
        link
    })
}

/// Returns all queue disciplines, except those with timers that expire a thousand times during the
/// transmission of a packet.
pub(crate) fn all_queues() -> Vec<Value> {
    let is_slow = |queue: &Value| {
        ["interval_ns", "update_ns", "tick_ns"]
            .iter()
            .all(|key| queue[key].as_u64().is_none_or(|nanos| nanos >= MS))
    };
    let all = AnyQueue::BUILT_IN.iter().flat_map(|(kind, _)| with_kind(kind));
    all.filter(is_slow).collect()
}

fn any_queue() -> impl Strategy<Value = Value> {
    select(all_queues())
}

pub(super) fn any_hop(can_be_duplex: bool) -> impl Strategy<Value = Value> {
    (any_link(can_be_duplex), any_queue(), any_delay()).prop_map(|(link, queue, delay_ns)| {
        let mut hop = hop(link, queue);
        hop["delay_ns"] = json!(delay_ns);
        hop
    })
}
