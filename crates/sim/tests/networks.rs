//! Tests of random networks of all registered components. Delays, start times and pauses are round
//! numbers, so that many events have equal times.

use crate::common::links::{link_files, links};
use crate::common::{MS, SECOND, hop};
use crate::contracts::arq_link::{lossy, register_arq};
use crate::contracts::cell::with_cell;
use crate::descriptions::with_kind;
use airpath_aqm::AnyQueue;
use airpath_conformance::samples;
use airpath_core::FlowId;
use airpath_link::{AnyLink, Files, Sides};
use airpath_path::{Components, Network, OpenEnds, Scenario, build_cut};
use airpath_phy::adaptation::AnyPolicy;
use airpath_phy::errors::AnyErrors;
use airpath_phy::per_table::PerTable;
use airpath_phy::snr::{AnySnr, SnrSteps};
use airpath_tcp::congestion::AnyCongestion;
use airpath_tcp::window::AnyWindow;
use airpath_tcp::{profile, profile_names};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::sync::Arc;

/// A scenario document, and test parameters that the document does not contain.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) document: String,
    /// True if the plug-in links are declared independent.
    pub(crate) is_independent: bool,
    /// Open ends by flow. Flows without an entry have none.
    pub(crate) open: Vec<OpenEnds>,
    pub(crate) seed: u64,
}

impl Case {
    pub(crate) fn scenario(&self) -> Scenario {
        Scenario::from_json(&self.document).expect("a scenario")
    }

    /// Returns the scenario with top-level keys replaced by those of `change`.
    pub(crate) fn scenario_with(&self, change: Value) -> Scenario {
        let mut document: Value = serde_json::from_str(&self.document).expect("JSON");
        crate::common::merge(&mut document, change);
        Scenario::from_json(&document.to_string()).expect("a scenario")
    }

    pub(crate) fn components(&self) -> Components {
        components(self.is_independent)
    }

    pub(crate) fn network(&self) -> Network {
        let open = |flow: FlowId| self.open.get(flow.0 as usize).copied().unwrap_or(OpenEnds::NONE);
        build_cut(&self.scenario(), &self.components(), &files(), self.seed, 0, &open)
            .expect("a network")
    }
}

/// Returns components with the toy links of the contract tests, `toy-cell` and `arq`.
pub(crate) fn components(is_independent: bool) -> Components {
    let mut components = with_cell();
    register_arq(&mut components, Arc::default());
    for name in ["toy-cell", "arq"].into_iter().filter(|_| is_independent) {
        components.links.declare_independent(name);
    }
    components
}

/// Returns the files of [`link_files`], an error table with two MCS, and an SNR trace with two
/// levels.
pub(crate) fn files() -> Arc<Files> {
    let scheme = |name: &str, bits: u64, onset_db: u64| {
        let points = [0, 10, 20, 30].map(|snr_db| {
            let errors = if snr_db < onset_db { 500_u64 } else { 500 >> ((snr_db - onset_db) / 2) };
            json!({"snr_db": snr_db, "errors": errors, "blocks": 1000})
        });
        json!({"mcs": {"name": name, "bits_per_symbol": bits, "code_rate": 0.5, "block_bytes": 50,
                       "rate_bps": 1e6 * bits as f64}, "points": points})
    };
    let table = json!({"channel": "none", "curves": [scheme("low", 2, 0), scheme("high", 4, 10)]});
    let table = PerTable::from_json(&table.to_string()).expect("a table");
    let steps = SnrSteps::new(vec![(0, 25.0), (300 * MS, 5.0)], 600 * MS).expect("steps");
    let mut files = Arc::unwrap_or_clone(link_files());
    files.tables.insert("two".to_owned(), Arc::new(table));
    files.snr.insert("steps".to_owned(), Arc::new(steps));
    Arc::new(files)
}

/// Returns every built-in component of a family, with the defaults of its Python class.
fn all_of(family: &str, built_in: &[(&str, &str)]) -> Vec<Value> {
    let usual = |kind: &str| {
        let mut component = samples(family, kind, |_| true).swap_remove(0);
        component["kind"] = json!(kind);
        component
    };
    built_in.iter().map(|(kind, _)| usual(kind)).collect()
}

fn any_delay() -> impl Strategy<Value = u64> {
    select(vec![0, 0, 1, 2, 3, MS, 2 * MS, 6 * MS, 10 * MS, 25 * MS, 120 * MS])
}

fn any_wire() -> impl Strategy<Value = Value> {
    let rate = select(vec![None, None, Some(2_000_000u64), Some(10_000_000), Some(100_000_000)]);
    (rate, any_delay())
        .prop_map(|(rate_bps, delay_ns)| json!({"rate_bps": rate_bps, "delay_ns": delay_ns}))
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

fn any_hop(can_be_duplex: bool) -> impl Strategy<Value = Value> {
    (any_link(can_be_duplex), any_queue(), any_delay()).prop_map(|(link, queue, delay_ns)| {
        let mut hop = hop(link, queue);
        hop["delay_ns"] = json!(delay_ns);
        hop
    })
}

/// Amount of data: unlimited, a number of bytes, bursts and pauses, or pages.
fn any_supply() -> impl Strategy<Value = Value> {
    let pause = select(vec![10 * MS, 300 * MS]).prop_flat_map(|nanos| {
        select(vec![
            json!({"kind": "fixed", "time_ns": nanos}),
            json!({"kind": "exponential", "mean_ns": nanos}),
        ])
    });
    let burst = prop_oneof![
        (1..60_000u64).prop_map(|bytes| json!({"size": {"kind": "fixed", "bytes": bytes}})),
        pause.clone().prop_map(|time| json!({"time": time})),
    ];
    let pages = (select(vec![1, 2, 6]), select(vec![1, 3]), 1..12u32, any::<bool>()).prop_map(
        |(connections, streams, objects, has_main)| {
            let size = json!({"kind": "exponential", "mean_bytes": 10_000});
            json!({"object": size, "objects": objects, "main": has_main.then_some(size.clone()),
                   "connections": connections, "streams": streams})
        },
    );
    prop_oneof![
        2 => Just(json!({})),
        1 => (1..200_000u64).prop_map(|bytes| json!({"transfer_bytes": bytes})),
        1 => Just(json!({"transfer": {"kind": "exponential", "mean_bytes": 50_000}})),
        1 => (burst, pause.clone())
            .prop_map(|(on, off)| json!({"application": {"on": on, "off": off}})),
        1 => (pages, pause).prop_map(|(mut pages, think)| {
            pages["think"] = think;
            json!({"requests": pages})
        }),
    ]
}

fn any_connection() -> impl Strategy<Value = Value> {
    let recovery = select(vec![Value::Null, json!("reno"), json!("newreno"), json!("sack")]);
    let acks = (select(vec![1, 2, 4]), select(vec![2 * MS, 6 * MS, 200 * MS]));
    let ecn = select(vec!["off", "on", "dctcp", "vcp"]);
    let options = (select(profile_names()), recovery, acks, ecn, any::<[bool; 2]>()).prop_map(
        |(name, recovery, (segments, timeout_ns), ecn, [handshake, is_paced])| {
            let mut options = json!({
                "delayed_ack_segments": segments, "delayed_ack_timeout_ns": timeout_ns,
                "handshake": handshake, "receive_window": 200_000,
                "pacing": if is_paced { "on" } else { "off" },
                "initial_rto_ns": 300 * MS, "min_rto_ns": 100 * MS});
            // Stack variant `ns3` has its own loss recovery, and no DCTCP.
            if name != "ns3" || ecn != "dctcp" {
                options["ecn"] = json!(ecn);
            }
            if name != "ns3" {
                // Stack variant `ns2` does not support SACK.
                let is_refused = name == "ns2" && recovery == "sack";
                if !recovery.is_null() && !is_refused {
                    options["recovery"] = recovery;
                }
            }
            profile(&name, options).expect("a profile")
        },
    );
    let congestion = select(all_of("congestion", AnyCongestion::BUILT_IN));
    let window = prop_oneof![
        2 => Just(Value::Null),
        1 => select(all_of("window", AnyWindow::BUILT_IN)),
    ];
    (options, congestion, window, any_supply()).prop_map(|(options, congestion, window, supply)| {
        let mut source = json!({
            "kind": "tcp", "congestion": congestion, "options": options, "window": window});
        crate::common::merge(&mut source, supply);
        source
    })
}

fn any_source() -> impl Strategy<Value = Value> {
    let datagrams = (any::<bool>(), select(vec![200_000, 1_000_000, 3_000_000]));
    prop_oneof![
        4 => any_connection(),
        1 => datagrams.prop_map(|(is_poisson, rate_bps): (bool, u64)| {
            crate::common::datagrams(if is_poisson { "poisson" } else { "cbr" }, rate_bps)
        }),
    ]
}

fn any_flow() -> impl Strategy<Value = Value> {
    let start = select(vec![
        json!({"kind": "at", "time_ns": 0}),
        json!({"kind": "at", "time_ns": 100 * MS}),
        json!({"kind": "uniform", "low_ns": 0, "high_ns": SECOND}),
        json!({"kind": "poisson", "from_ns": 0, "gap_ns": 200 * MS}),
    ]);
    let stop_ns = select(vec![Value::Null, Value::Null, Value::Null, json!(SECOND)]);
    let wires = (any_wire(), any_wire(), any_wire(), any_wire());
    let names = (any::<bool>(), 0..3u32, 0..2u32);
    (any_source(), start, stop_ns, wires, names).prop_map(
        |(source, start, stop_ns, (access, egress, at_acks, back), (is_back, user, group))| {
            let mut flow = json!({
                "source": source, "start": start, "stop_ns": stop_ns, "access": access,
                "egress": egress, "return_wire": back, "user": user, "group": group,
                "direction": if is_back { "reverse" } else { "forward" }});
            if flow["source"]["kind"] == "tcp" {
                flow["ack_access"] = at_acks;
            }
            if let Some(connections) = flow["source"].pointer("/requests/connections") {
                flow["count"] = connections.clone();
            }
            flow
        },
    )
}

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

fn any_control() -> impl Strategy<Value = Value> {
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
fn fitting_controls(path: &Value, controls: Vec<(Value, usize)>) -> Vec<Value> {
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

/// Returns the hops of a path in either form.
fn path_hops(path: &Value) -> Vec<Value> {
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

fn any_ends() -> impl Strategy<Value = OpenEnds> {
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
fn any_hops() -> impl Strategy<Value = Value> {
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
fn set_route(flow: &mut Value, path: &Value, route: Option<(usize, usize)>) {
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
fn any_short_path() -> impl Strategy<Value = Value> {
    let backhaul = prop::option::of(any_wire());
    (any_path(), backhaul).prop_map(|((bottleneck, ack_path), backhaul)| {
        json!({"bottleneck": bottleneck, "ack_path": ack_path, "backhaul": backhaul})
    })
}

/// Any network, for a run of two seconds.
pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    let route = prop::option::of((0..4usize, 0..4usize));
    let flows = prop::collection::vec((any_flow(), route, any_ends()), 1..5);
    let controls = prop::collection::vec((any_control(), 0..4usize), 0..4);
    let warmup_ns = select(vec![0, 500 * MS, 777_777_777]);
    let path = prop_oneof![any_short_path(), any_hops()];
    (flows, path, controls, warmup_ns, any::<bool>(), any::<u64>()).prop_map(
        |(flows, path, controls, warmup_ns, is_independent, seed)| {
            let open: Vec<OpenEnds> = flows.iter().map(|(_, _, open)| *open).collect();
            let mut flows: Vec<_> =
                flows.into_iter().map(|(flow, route, _)| (flow, route)).collect();
            for (flow, route) in &mut flows {
                set_route(flow, &path, *route);
                if path["ack_path"]["kind"] == "ideal" {
                    let flow = flow.as_object_mut().expect("a table");
                    flow.insert("direction".to_owned(), json!("forward"));
                    flow.remove("ack_access");
                }
            }
            let flows: Vec<Value> = flows.into_iter().map(|(flow, _)| flow).collect();
            let controls = fitting_controls(&path, controls);
            let mut document = json!({
                "duration_ns": 2 * SECOND, "warmup_ns": warmup_ns, "flows": flows,
                "controls": controls});
            crate::common::merge(&mut document, path);
            Case { document: document.to_string(), is_independent, open, seed }
        },
    )
}
