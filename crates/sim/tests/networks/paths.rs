//! Random paths, routes and open ends.

use super::any_wire;
use super::links::{any_hop, sides};
use airpath_link::Sides;
use airpath_path::OpenEnds;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The bottleneck and the ACK path. A link that serves both directions is also the ACK path.
fn any_path() -> impl Strategy<Value = (Value, Value)> {
    let kind = select(vec!["ideal", "ideal", "link", "reverse"]);
    (any_hop(true), any_hop(false), kind, any::<bool>()).prop_map(
        |(bottleneck, mut back, kind, is_mirrored)| {
            let sides = sides(&bottleneck["link"]);
            let kind = if sides == Sides::Both { "reverse" } else { kind };
            if kind == "ideal" {
                return (bottleneck, json!({"kind": kind}));
            }
            back["kind"] = json!(kind);
            if kind == "reverse" && (is_mirrored || sides != Sides::One) {
                back["link"] = Value::Null;
                // The reverse direction of a link that serves one direction is a copy of this link.
                back["delay_ns"] = bottleneck["delay_ns"].clone();
            }
            (bottleneck, back)
        },
    )
}

/// Returns the hops of a path in either form.
pub(super) fn path_hops(path: &Value) -> Vec<Value> {
    if let Some(hops) = path["hops"].as_array() {
        return hops.clone();
    }
    let mut hop = json!({"name": "bottleneck", "down": path["bottleneck"]});
    let mut hops = Vec::new();
    match path["ack_path"]["kind"].as_str() {
        Some("reverse") => hop["up"] = path["ack_path"].clone(),
        Some("link") => hops.push(json!({"name": "ack_path", "up": path["ack_path"]})),
        _ => {}
    }
    hops.push(hop);
    hops
}

pub(super) fn any_ends() -> impl Strategy<Value = OpenEnds> {
    prop_oneof![
        8 => Just(OpenEnds::NONE),
        1 => Just(OpenEnds { source: false, sink: true }),
        1 => Just(OpenEnds { source: true, sink: false }),
    ]
}

/// A hop of the path: a wire, or links in one or both directions.
fn any_path_hop() -> impl Strategy<Value = Value> {
    let limit = select(vec![Value::Null, json!({"packets": 5}), json!({"bytes": 20_000})]);
    let wire = (any_wire(), limit).prop_map(|(mut wire, limit)| {
        if !wire["rate_bps"].is_null() {
            wire["limit"] = limit;
        }
        json!({"wire": wire})
    });
    let links = (any_hop(true), any_hop(false), select(vec!["down", "up", "both", "mirrored"]));
    let links = links.prop_map(|(down, mut up, directions)| {
        let is_mirrored = directions == "mirrored" || sides(&down["link"]) == Sides::Both;
        if is_mirrored {
            up["link"] = Value::Null;
        }
        match directions {
            "down" if !is_mirrored => json!({"down": down}),
            "up" if !is_mirrored => json!({"up": up}),
            _ => json!({"down": down, "up": up}),
        }
    });
    prop_oneof![1 => wire, 3 => links]
}

/// A path of up to four hops, as top-level keys of a scenario.
pub(super) fn any_hops() -> impl Strategy<Value = Value> {
    prop::collection::vec(any_path_hop(), 1..5).prop_map(|mut hops| {
        for (hop, name) in hops.iter_mut().zip(["a", "bottleneck", "c", "d"]) {
            hop["name"] = json!(name);
        }
        if hops.iter().all(|hop| hop["down"].is_null() && hop["wire"].is_null()) {
            hops.push(json!({"name": "e", "wire": {"delay_ns": 0}}));
        }
        json!({"hops": hops})
    })
}

/// Sets the hops that a flow crosses: those of `route` if a link serves its data there, otherwise
/// all hops. A flow that crosses no link has an access wire with a rate.
pub(super) fn set_route(flow: &mut Value, path: &Value, route: Option<(usize, usize)>) {
    let Some(hops) = path["hops"].as_array() else { return };
    let last = hops.len() - 1;
    let (first, last) = route.map_or((0, last), |(a, b)| (a.min(b).min(last), a.max(b).min(last)));
    let serves = |key: &str, hops: &[Value]| hops.iter().any(|hop| !hop[key].is_null());
    let mut crossed = &hops[..];
    if serves("down", &hops[first..=last]) {
        crossed = &hops[first..=last];
        flow["hops"] = json!([crossed[0]["name"], crossed[last - first]["name"]]);
    }
    if !serves("down", crossed) {
        flow["access"]["rate_bps"] = json!(10_000_000);
    }
    if !serves("up", crossed) || !serves("down", crossed) {
        let flow = flow.as_object_mut().expect("a table");
        flow.insert("direction".to_owned(), json!("forward"));
        flow.remove("ack_access");
    }
}

/// The short form of a path, as top-level keys of a scenario.
pub(super) fn any_short_path() -> impl Strategy<Value = Value> {
    let backhaul = prop::option::of(any_wire());
    (any_path(), backhaul).prop_map(|((bottleneck, ack_path), backhaul)| {
        json!({"bottleneck": bottleneck, "ack_path": ack_path, "backhaul": backhaul})
    })
}
