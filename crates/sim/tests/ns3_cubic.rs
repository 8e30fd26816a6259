//! Tests of the four cwnd courses in ns-3's CUBIC test suite (`ns3-tcp-cubic`), in segments of 1448
//! bytes.
//!
//! Network of the suite: one flow from 0.1 s on, wires of 1 Gbit/s and 5 µs, and a bottleneck with
//! FQ-CoDel and 2 bytes of PPP header. The initial window is ten segments, with an ACK for two
//! segments, timestamps and HyStart. The bounds are those of the suite. Each case sets only the
//! parameters that the suite sets. Differs: the ns-3 flow is paced, and its first steps after slow
//! start are larger. If losses in Airpath occur at another time or window than in ns-3, a test with
//! `should_panic` states the range in Airpath, and fails when this range is within the bounds of
//! the suite.

use crate::common::{MS, SECOND, droptail, flow, run, run_with, scenario, tcp_options};
use airpath_conformance::Law;
use airpath_core::{Series, Time};
use airpath_path::Components;
use serde_json::json;
use std::sync::Arc;

struct Case {
    rtt_ns: u64,
    /// Rate before and after 10 s.
    rates_bps: [u64; 2],
    fast_convergence: bool,
    reno_friendly: bool,
}

/// Samples of (time in s, cwnd in segments).
struct Windows(Vec<(f64, f64)>);

impl Case {
    fn run(&self) -> Windows {
        let options = tcp_options(json!({
            "mss": 1448, "initial_window": 14_480, "receive_window": 1_000_000, "recovery": "prr",
            "window_growth": "segments", "timestamps": true}));
        let cc = json!({"kind": "cubic", "fast_convergence": self.fast_convergence,
            "reno_friendly": self.reno_friendly, "hystart": "classic"});
        let source = json!({"kind": "tcp", "congestion": cc, "options": options});
        let edge = json!({"delay_ns": 5000, "rate_bps": 1_000_000_000});
        let back = json!({"delay_ns": self.rtt_ns / 2 + 10_000, "rate_bps": 1_000_000_000});
        let start = json!({"kind": "at", "time_ns": 100 * MS});
        let one = flow(
            source,
            json!({"access": edge, "egress": edge, "return_wire": back, "start": start}),
        );
        let link = json!({"kind": "fixed", "rate_bps": self.rates_bps[0],
            "delay_ns": self.rtt_ns / 2, "framing": 2});
        let queue = json!({"kind": "fq-codel", "limit": 10_240, "flows": 1024,
            "quantum_bytes": 1500, "target_ns": 5 * MS, "interval_ns": 100 * MS,
            "mtu_bytes": 1500, "ecn": true});
        let step = json!([{"at_ns": 10 * SECOND,
            "action": {"kind": "rate", "rate_bps": self.rates_bps[1]}}]);
        let record = json!({"series": ["cwnd"], "interval_ns": 0});
        let scenario =
            scenario(20, vec![one], link, queue, json!({"record": record, "controls": step}));
        let driver = run_with(&scenario, &Components::default(), &Arc::default(), 1);
        let recorder = driver.into_recorder();
        let samples = recorder.samples(Series::Cwnd).iter();
        Windows(samples.map(|s| (seconds(s.time), s.value / 1448.0)).collect())
    }
}

fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 * 1e-9
}

const WINDOWS: Law = Law {
    area: "CUBIC",
    source: "ns-3's suite ns3-tcp-cubic: cwnd in segments over an interval",
    allows: "the bounds are the suite's",
};

impl Windows {
    /// Checks that all values from `from` to `to` seconds are between `least` and `most` segments.
    fn lie_within(&self, case: &str, from: f64, to: f64, least: f64, most: f64) {
        let values = self.0.iter().filter(|(at, _)| (from..=to).contains(at));
        let (low, high) = values
            .fold((f64::INFINITY, 0.0), |(low, high), (_, cwnd)| (cwnd.min(low), cwnd.max(high)));
        let what = format!("{case}, {from} to {to} s");
        let holds = WINDOWS.contains(what, "segments", [low, high], [least, most]);
        assert!(holds, "{low:.1} to {high:.1} in {from} to {to} s");
    }
}

const FAST: [u64; 2] = [100_000_000; 2];
const STEP_UP: [u64; 2] = [50_000_000, 100_000_000];

const NO_HEURISTIC: Case =
    Case { rtt_ns: 5 * MS, rates_bps: FAST, fast_convergence: false, reno_friendly: false };
const FAST_CONVERGENCE: Case = Case { fast_convergence: true, ..NO_HEURISTIC };
const NO_FRIENDLINESS: Case =
    Case { rtt_ns: 20 * MS, rates_bps: STEP_UP, fast_convergence: true, reno_friendly: false };
const FRIENDLINESS: Case = Case { reno_friendly: true, ..NO_FRIENDLINESS };

#[test]
fn no_heuristic_from_1_to_19_s() {
    NO_HEURISTIC.run().lie_within("no heuristic", 1.0, 19.0, 60.0, 110.0);
}

#[test]
fn no_heuristic_before_a_reduction_from_9_to_9_6_s() {
    NO_HEURISTIC.run().lie_within("no heuristic", 9.0, 9.6, 84.0, 89.0);
}

#[test]
fn fast_convergence_from_1_to_19_s() {
    FAST_CONVERGENCE.run().lie_within("fast convergence", 1.0, 19.0, 60.0, 110.0);
}

#[test]
#[should_panic(expected = "61.6 to 88.1")]
fn fast_convergence_on_the_plateau_from_4_to_6_s() {
    FAST_CONVERGENCE.run().lie_within("fast convergence", 4.0, 6.0, 83.0, 88.0);
}

#[test]
#[should_panic(expected = "106.1 to 112.6")]
fn step_up_without_friendliness_from_11_to_15_s() {
    NO_FRIENDLINESS.run().lie_within("step up, not Reno-friendly", 11.0, 15.0, 107.0, 123.0);
}

#[test]
#[should_panic(expected = "148.7 to 180.5")]
fn step_up_without_friendliness_from_17_5_to_18_5_s() {
    NO_FRIENDLINESS.run().lie_within("step up, not Reno-friendly", 17.5, 18.5, 169.0, 215.0);
}

#[test]
fn step_up_with_friendliness_from_13_to_15_s() {
    FRIENDLINESS.run().lie_within("step up, Reno-friendly", 13.0, 15.0, 150.0, 220.0);
}

/// Runs four flows with `recovery` and `cc` over 20 Mbit/s and a loss of 1 % for a minute. Returns
/// the number of drops by the queue of 50 packets.
fn drops_with_losses(cc: &str, recovery: &str) -> u64 {
    let options = tcp_options(json!({
        "recovery": recovery, "receive_window": 10_000_000, "window_growth": "abc-1"}));
    let congestion = json!({"kind": cc, "c": 0.4, "beta": 0.7});
    let source = json!({"kind": "tcp", "congestion": congestion, "options": options});
    let delay = json!({"egress": {"delay_ns": 40 * MS}, "return_wire": {"delay_ns": 40 * MS}});
    let flows = vec![flow(source, delay); 4];
    let link = json!({"kind": "fixed", "rate_bps": 20_000_000, "loss": 0.01});
    let report = run(&scenario(60, flows, link, droptail(50), json!({})), 1);
    report.queues[0].drops.values().sum()
}

/// Regression: an ACK after a timeout enlarged the window by bytes that SACK or duplicate ACKs had
/// reported long before. The next burst filled the queue and caused the next timeout, with 10 000
/// to 30 000 drops.
#[test]
fn timeouts_do_not_cause_bursts_of_drops_outside_the_ns3_stack() {
    for recovery in ["newreno", "sack", "prr"] {
        let drops = ["cubic-ns3", "cubic"].map(|cc| drops_with_losses(cc, recovery));
        assert!(drops[0] < 500 && drops[1] < 500, "{recovery}: {drops:?}");
    }
}
