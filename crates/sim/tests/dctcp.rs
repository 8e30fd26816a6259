//! DCTCP over a step-marking queue against the fluid analysis of Alizadeh et al., "Data Center
//! TCP (DCTCP)", SIGCOMM 2010, §3.3 (`dctcp-2010`).
//!
//! The analysis has N synchronised flows on a path that holds C·RTT packets. Arrivals that find
//! more than K packets are marked. Results: W* = (C·RTT + K)/N; α²(1 − α/4) = (2 W* + 1)/(W* + 1)²;
//! the queue length is between Q_max = K + N and Q_max − A, with A = N (W* + 1) α/2.

use crate::common::{MS, SECOND, fixed, flow, run_with, scenario, tcp_options};
use airpath_conformance::Law;
use airpath_core::{Series, Time};
use airpath_path::{Components, ReplicationReport};
use serde_json::{Value, json};
use std::sync::Arc;

/// Parameters of a case: number of flows, K, link rate, and round trip without queueing and
/// transmission.
struct Case {
    flows: u64,
    step: u64,
    rate_bps: u64,
    rtt_ns: u64,
    delayed_ack_segments: u64,
    growth: &'static str,
}

const AMPLITUDE: Law = Law {
    area: "DCTCP",
    source: "dctcp-2010 §3.3: the queue between Q_max = K + N and Q_max − A",
    allows: "the analysis is a fluid's, windows and queues are whole packets: one or two",
};
const MARKS: Law = Law {
    area: "DCTCP",
    source: "dctcp-2010 §3.3: the marked share is α, α²(1 − α/4) = (2 W* + 1)/(W* + 1)²",
    allows: "10 %: the same, on windows of 90 to 150 segments",
};
const EQUAL: Law = Law {
    area: "DCTCP",
    source: "dctcp-2010: equal flows share equally (Jain's index over 30 s)",
    allows: "1 %",
};

/// Report of a run, and range of the queue length after the warm-up, packets.
struct Course {
    report: ReplicationReport,
    lowest: f64,
    highest: f64,
}

const WARMUP: u64 = 8 * SECOND;

/// Returns a queue with step marking at K packets of the instantaneous queue length (RFC 8257
/// §3.1).
fn step_marking(packets: u64) -> Value {
    json!({"kind": "red", "limit": 10_000, "min_th": packets, "max_th": packets + 1, "max_p": 1.0,
        "weight": 1.0, "target_delay_ns": 0, "mean_packet_bytes": 1500, "gentle": false,
        "wait": false, "ecn": true, "hard_drop": false})
}

impl Case {
    /// Returns the number of packets that fit into the round trip: those on the wires, and the
    /// packet in service.
    fn path_packets(&self) -> f64 {
        self.rate_bps as f64 * self.rtt_ns as f64 * 1e-9 / (8.0 * 1500.0) + 1.0
    }

    /// Returns W*, segments.
    fn window(&self) -> f64 {
        (self.path_packets() + self.step as f64) / self.flows as f64
    }

    /// Computes α by bisection of α²(1 − α/4) = (2 W* + 1)/(W* + 1)².
    fn alpha(&self) -> f64 {
        let window = self.window();
        let right = (2.0 * window + 1.0) / ((window + 1.0) * (window + 1.0));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let alpha: f64 = (low + high) / 2.0;
            if alpha * alpha * (1.0 - alpha / 4.0) < right {
                low = alpha;
            } else {
                high = alpha;
            }
        }
        low
    }

    /// Returns A, the amplitude of the queue's oscillation, packets.
    fn amplitude(&self) -> f64 {
        self.flows as f64 * (self.window() + 1.0) * self.alpha() / 2.0
    }

    fn name(&self) -> String {
        let Case { step, rate_bps, rtt_ns, growth, .. } = self;
        let (mbps, ms) = (rate_bps / 1_000_000, rtt_ns / MS);
        format!("K = {step}, {mbps} Mbit/s, {ms} ms, growth by {growth}")
    }

    /// Runs the flows with the start time `start`.
    fn run(&self, seconds: u64, start: Value) -> Course {
        let options = tcp_options(json!({
            "receive_window": 4_000_000, "recovery": "sack", "ecn": "dctcp",
            "window_growth": self.growth, "delayed_ack_segments": self.delayed_ack_segments,
            "min_rto_ns": 200 * MS}));
        let source = json!({"kind": "tcp", "congestion": {"kind": "dctcp"}, "options": options});
        let wire = json!({"delay_ns": self.rtt_ns / 2});
        let one = flow(source, json!({"egress": wire, "return_wire": wire, "start": start}));
        let scenario = scenario(
            seconds,
            vec![one; self.flows as usize],
            fixed(self.rate_bps),
            step_marking(self.step),
            json!({"warmup_ns": WARMUP, "record": {"series": ["queue"], "interval_ns": 0}}),
        );
        let driver = run_with(&scenario, &Components::default(), &Arc::default(), 1);
        let report = driver.report(0);
        let recorder = driver.into_recorder();
        let since = Time::from_nanos(WARMUP);
        let queue = recorder.samples(Series::Queue).iter().filter(|sample| sample.time >= since);
        let (mut lowest, mut highest) = (f64::INFINITY, 0.0);
        for sample in queue {
            lowest = sample.value.min(lowest);
            highest = sample.value.max(highest);
        }
        Course { report, lowest, highest }
    }
}

impl Course {
    /// Returns the share of marked packets, which is the mean of α over packets.
    fn marked_share(&self) -> f64 {
        let queue = &self.report.queues[0];
        queue.marks as f64 / queue.departed as f64
    }

    fn loses_nothing(&self) {
        let lost: u64 = self.report.flows.iter().map(|flow| flow.retransmissions.unwrap()).sum();
        assert_eq!((lost, self.report.queues[0].drops.len()), (0, 0));
        assert!(self.report.links[0].utilisation > 0.9999, "{}", self.report.links[0].utilisation);
    }

    fn jain(&self) -> f64 {
        let rates: Vec<f64> = self.report.flows.iter().map(|flow| flow.goodput_bps).collect();
        let (sum, squares): (f64, f64) =
            rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        sum * sum / (rates.len() as f64 * squares)
    }
}

fn at_once() -> Value {
    json!({"kind": "at", "time_ns": 0})
}

/// Checks Q_max and A of the fluid analysis. Windows and queues consist of complete packets here,
/// which changes Q_max and A by one or two packets.
#[track_caller]
fn oscillates_as_the_analysis_predicts(case: &Case, course: &Course) {
    let (highest, amplitude) = ((case.step + case.flows) as f64, case.amplitude());
    let seen = course.highest - course.lowest;
    course.loses_nothing();
    let name = case.name();
    AMPLITUDE.close(format!("Q_max, {name}"), "packets", course.highest, highest, 2.0);
    AMPLITUDE.close(format!("A, {name}"), "packets", seen, amplitude, 2.0);
}

/// One flow on three paths, all with K > C·RTT/7 and g below the bound of §3.4.
#[test]
fn dctcp_2010_s3_3_one_flow_oscillates_as_the_analysis_predicts() {
    for (step, rate_bps, rtt_ns) in
        [(20, 100_000_000, 10 * MS), (40, 100_000_000, 10 * MS), (65, 1_000_000_000, MS)]
    {
        let (delayed_ack_segments, growth) = (1, "bytes");
        let case = Case { flows: 1, step, rate_bps, rtt_ns, delayed_ack_segments, growth };
        let seconds = if rate_bps == 100_000_000 { 20 } else { 10 };
        let course = case.run(seconds, at_once());
        oscillates_as_the_analysis_predicts(&case, &course);
        MARKS.close_relative(case.name(), "", course.marked_share(), case.alpha(), 0.1);
    }
}

/// Delayed ACKs do not change the amplitude if window growth counts the acknowledged bytes or
/// segments. The share of marked packets differs from the analysis, because packets leave in pairs
/// and the second packet of a pair finds one more packet in the queue.
#[test]
fn dctcp_2010_s3_3_delayed_acks_do_not_change_the_amplitude() {
    for (step, growth) in [(20, "abc-1"), (40, "segments")] {
        let case = Case {
            flows: 1,
            step,
            rate_bps: 100_000_000,
            rtt_ns: 10 * MS,
            delayed_ack_segments: 2,
            growth,
        };
        oscillates_as_the_analysis_predicts(&case, &case.run(20, at_once()));
    }
}

/// Equal flows that start at any time in the first second share equally over 30 s.
#[test]
fn dctcp_2010_equal_flows_share_equally() {
    for (flows, step) in [(2, 20), (10, 40)] {
        let case = Case {
            flows,
            step,
            rate_bps: 100_000_000,
            rtt_ns: 10 * MS,
            delayed_ack_segments: 1,
            growth: "bytes",
        };
        let course = case.run(38, json!({"kind": "uniform", "low_ns": 0, "high_ns": SECOND}));
        course.loses_nothing();
        EQUAL.between(format!("{flows} flows"), "", course.jain(), 0.99, f64::INFINITY);
    }
}
