//! Random flows and their traffic.

use super::any_wire;
use super::links::all_of;
use crate::common::{MS, SECOND};
use airpath_tcp::congestion::AnyCongestion;
use airpath_tcp::window::AnyWindow;
use airpath_tcp::{profile, profile_names};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

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

pub(super) fn any_flow() -> impl Strategy<Value = Value> {
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
