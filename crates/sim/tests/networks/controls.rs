//! Random control events.

use super::any_delay;
use super::paths::path_hops;
use crate::common::{MS, SECOND};
use airpath_link::AnyLink;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

pub(super) fn any_control() -> impl Strategy<Value = Value> {
    let at_ns = prop_oneof![(0..2 * SECOND), (0..200u64).prop_map(|step| step * 10 * MS)];
    let rate = select(vec![0u64, 500_000, 2_000_000, 8_000_000])
        .prop_map(|rate_bps| json!({"kind": "rate", "rate_bps": rate_bps}));
    let loss = select(vec![0.0, 0.2, 1.0]).prop_map(|loss| json!({"kind": "loss", "loss": loss}));
    let delay = any_delay().prop_map(|delay_ns| json!({"kind": "delay", "delay_ns": delay_ns}));
    let schedule = prop::collection::btree_map(0..60u64, any_delay(), 0..30).prop_map(|steps| {
        let points: Vec<_> =
            steps.into_iter().map(|(step, delay)| (step * 10 * MS, delay)).collect();
        json!({"kind": "schedule", "points": points})
    });
    let action =
        prop_oneof![2 => rate, 1 => loss, 2 => delay, 1 => schedule, 2 => any_interruption()];
    let direction = select(vec![Value::Null, json!("forward"), json!("reverse")]);
    (at_ns, action, direction).prop_map(|(at_ns, mut action, direction)| {
        action["direction"] = direction;
        json!({"at_ns": at_ns, "action": action})
    })
}

fn any_interruption() -> impl Strategy<Value = Value> {
    let duration_ns = select(vec![1, MS, 10 * MS, 50 * MS, 400 * MS]);
    let packets = select(vec!["keep", "forward", "lose"]);
    (duration_ns, packets, any_delay()).prop_map(|(duration_ns, packets, delay_ns)| {
        let forward_delay_ns = if packets == "forward" { delay_ns } else { 0 };
        json!({"kind": "interruption", "duration_ns": duration_ns, "packets": packets,
               "forward_delay_ns": forward_delay_ns})
    })
}

/// Returns the controls that fit `path`, each at one of its hops. The number selects the hop.
pub(super) fn fitting_controls(path: &Value, controls: Vec<(Value, usize)>) -> Vec<Value> {
    let mut interrupted = Vec::new();
    let mut found = Vec::new();
    for (mut control, number) in controls {
        let hops = path_hops(path);
        let kind = control["action"]["kind"].as_str().expect("a kind").to_owned();
        let fits = |hop: &&Value| match kind.as_str() {
            "delay" | "schedule" => true,
            "loss" => {
                let down = if hop["down"].is_null() { &hop["up"] } else { &hop["down"] };
                AnyLink::has_loss(&down["link"])
            }
            _ => hop["wire"].is_null() || !hop["wire"]["limit"].is_null(),
        };
        let fitting: Vec<&Value> = hops.iter().filter(fits).collect();
        let Some(hop) = fitting.get(number % fitting.len().max(1)) else { continue };
        let name = &hop["name"];
        if kind == "interruption" {
            // Interruptions of one hop must not overlap.
            if interrupted.contains(name) {
                continue;
            }
            interrupted.push(name.clone());
        }
        if path["hops"].is_array() || name != "bottleneck" {
            control["hop"] = name.clone();
        }
        let action = control["action"].as_object_mut().expect("a table");
        let is_both = action["direction"].is_null();
        let key = if action["direction"] == "reverse" { "up" } else { "down" };
        let serves = !hop["wire"].is_null() || !hop[key].is_null();
        let has_one_link = hop["wire"].is_null() && kind == "rate" || kind == "loss";
        if is_both || !serves || has_one_link {
            action.remove("direction");
        }
        found.push(control);
    }
    found
}
