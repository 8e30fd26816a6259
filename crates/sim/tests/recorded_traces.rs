//! Tests of flows over the recorded traces. In no interval are more bytes delivered than the
//! opportunities allow, and all opportunities are used if packets always wait.

use crate::common::*;
use crate::traces;
use airpath_conformance::Law;
use airpath_link::Traces;
use airpath_path::{Components, build};
use airpath_trace::{FadedLinkConfig, OpportunityTrace, Trace, generate};
use serde_json::{Value, json};
use std::sync::Arc;

const OPPORTUNITIES: Law = Law {
    area: "Links and traces",
    source: "A trace link under overload uses every opportunity (20 s; bytes with frame overhead)",
    allows: "nothing, in any millisecond",
};
const TCP_SHARE: Law = Law {
    area: "Links and traces",
    source: "TCP over a trace link gets no more than is offered in any millisecond (20 s)",
    allows: "at least 30 % of it: a queue of 200 packets on a link that fades",
};

/// Returns the recorded traces, and a generated trace that is always available.
fn all_traces() -> Vec<(String, OpportunityTrace)> {
    let config = FadedLinkConfig {
        duration_ns: 10 * SECOND,
        mean_snr_db: 15.0,
        bandwidth_hz: 5e6,
        cap_bps: 25e6,
        speed_mps: 10.0,
        carrier_hz: 2e9,
        seed: 1,
    };
    let made = ("generated".to_owned(), generate(&config).expect("a trace"));
    traces::recorded().into_iter().chain([made]).collect()
}

/// Returns the bytes that a flow delivered over `trace` in each millisecond of the run, including 4
/// bytes of overhead per packet. Every stage is checked after every event.
fn delivered_by_ms(
    trace: &OpportunityTrace,
    source: Value,
    queue: Value,
    seconds: u64,
) -> Vec<u64> {
    let trace = Trace::Opportunities(trace.clone());
    let traces = Traces::from([("t".to_owned(), Arc::new(trace))]);
    let link = json!({"kind": "trace", "trace": "t", "framing": 4, "delay_ns": 5 * MS});
    let scenario = scenario(seconds, vec![flow(source, json!({}))], link, queue, json!({}));
    let network = build(&scenario, &Components::default(), &Arc::new(traces.into()), 1, 0)
        .expect("a network");
    let link = network.links[0].stage;
    let mut driver = PlainDriver::new(network);
    driver.run();
    let (entered, accounted) = driver.balance();
    assert_eq!(entered, accounted);
    let mut bytes = vec![0; (seconds * 1000) as usize];
    for departure in driver.log.iter().filter(|departure| departure.from == link) {
        bytes[(departure.at.as_nanos() / MS) as usize] += u64::from(departure.size) + 4;
    }
    bytes
}

/// 16 packets arrive in each millisecond, which is more than any of the links can carry
/// permanently.
#[test]
fn datagrams_far_above_capacity_use_every_opportunity() {
    for (name, trace) in all_traces() {
        let seconds = 20;
        let delivered =
            delivered_by_ms(&trace, datagrams("cbr", 200_000_000), droptail(1000), seconds);
        let offered = traces::offered_by_ms(&trace, seconds * 1000 - 1);
        assert_eq!(delivered, offered, "{name}");
        let [got, offer] = [delivered, offered].map(|bytes| bytes.iter().sum::<u64>() as f64);
        OPPORTUNITIES.equal(format!("{name}: delivered"), "B", got, offer);
    }
}

#[test]
fn tcp_delivers_at_most_the_opportunities_of_each_millisecond() {
    for (name, trace) in all_traces() {
        for recovery in ["reno", "newreno"] {
            let seconds = 20;
            let source = tcp(json!({"recovery": recovery, "receive_window": 1_000_000}));
            let delivered = delivered_by_ms(&trace, source, droptail(200), seconds);
            let offered = traces::offered_by_ms(&trace, seconds * 1000 - 1);
            let surplus = delivered.iter().zip(&offered).position(|(out, offer)| out > offer);
            assert_eq!(surplus, None, "{name}: more than on offer at this millisecond");
            let (used, total) = (delivered.iter().sum::<u64>(), offered.iter().sum::<u64>());
            let share = used as f64 / total as f64;
            TCP_SHARE.between(
                format!("{name}, {recovery}: share used"),
                "",
                share,
                0.3,
                f64::INFINITY,
            );
        }
    }
}
