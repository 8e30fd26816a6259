//! Prague against its equilibrium with a fixed probability of random marks, and over a step.
//!
//! V is the virtual RTT, max(RTT, 25 ms). The window grows by 1 − p segments per V and loses p/2 of
//! itself at the first mark after V. With random marks and d reductions per V, this mark is late by
//! V d/(2 (1 − p)) on average, so d = 1/(1 + d/(2 (1 − p))), and the window is 2 (1 − p)/(d p)
//! segments per V. The comment of `tcp_prague.c` has d = 1: (1/p − 1) Mbit/s for 1.5 kB and 25 ms.

use crate::common::{MS, SECOND, fixed, flow, run_with, scenario, tcp_options};
use airpath_aqm::{Fifo, QueueDisc, QueueState};
use airpath_conformance::Law;
use airpath_core::{Bytes, Ctx, Packet, Series, Stream, Time};
use airpath_path::{Components, ReplicationReport};
use serde_json::{Value, json};
use std::sync::Arc;

const EQUILIBRIUM: Law = Law {
    area: "Prague",
    source: "equilibrium of increase and reduction with random marks (tcp_prague.c, udp_prague)",
    allows: "5 % with windows of 270 segments, 10 % with windows of 25 segments, which vary more",
};
const STEP: Law = Law {
    area: "Prague",
    source: "RFC 9331 §4.3, tcp_prague.c: a scalable flow keeps the queue at the step",
    allows: "what pacing at 1/32 less than the link's rate drains in half of a virtual RTT, 0.39 ms",
};

/// Queue that marks each ECN-capable packet with a fixed probability.
struct Marker {
    fifo: Fifo,
    probability: f64,
    stream: Stream,
}

impl QueueDisc for Marker {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let queued = self.fifo.push(packet, ctx.now);
        if queued.ecn.is_capable() && self.stream.bernoulli(self.probability) {
            ctx.mark(queued);
        }
    }

    fn dequeue_into(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.fifo.pop_into(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    fn state(&self) -> QueueState {
        self.fifo.state()
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }
}

/// Runs one flow with an RTT in ms for `seconds`, a fifth of it warm-up. Returns the report and the
/// times of the marks.
fn run(rtt_ms: u64, queue: Value, rate_bps: u64, seconds: u64) -> (ReplicationReport, Vec<Time>) {
    let options = tcp_options(json!({
        "receive_window": 8_000_000, "recovery": "sack", "ecn": "accurate",
        "delayed_ack_segments": 1}));
    let source = json!({"kind": "tcp", "congestion": {"kind": "prague"}, "options": options});
    let wire = json!({"delay_ns": rtt_ms * MS / 2});
    let one = flow(source, json!({"egress": wire, "return_wire": wire}));
    let more = json!({"warmup_ns": seconds * SECOND / 5, "record": {"series": ["mark"]}});
    let scenario = scenario(seconds, vec![one], fixed(rate_bps), queue, more);
    let mut components = Components::default();
    components.queues.register("marker", |parameters, setup| {
        let probability = parameters["probability"].as_f64().expect("a probability");
        let stream = setup.seed.stream();
        Ok(Box::new(Marker { fifo: Fifo::default(), probability, stream }))
    });
    let driver = run_with(&scenario, &components, &Arc::default(), 1);
    let report = driver.report(0);
    let marks = driver.into_recorder().samples(Series::Mark).iter().map(|one| one.time).collect();
    (report, marks)
}

/// Returns d.
fn reductions(p: f64) -> f64 {
    (1.0 - p) * ((1.0 + 2.0 / (1.0 - p)).sqrt() - 1.0)
}

/// Returns the goodput, bit/s, of a window of `segments` per V with an RTT in ms.
fn goodput(segments: f64, rtt_ms: u64) -> f64 {
    segments * 1460.0 * 8.0 / (rtt_ms.max(25) as f64 * 1e-3)
}

/// Runs a flow whose packets are marked with probability `p`. Returns its goodput, bit/s.
fn marked_at_random(p: f64, rtt_ms: u64, seconds: u64) -> f64 {
    let queue = json!({"kind": "marker", "probability": p});
    run(rtt_ms, queue, 10_000_000_000, seconds).0.flows[0].goodput_bps
}

/// Compares the rates of flows with several RTTs, all of whose packets are marked with probability
/// `p`, with the equilibrium.
fn rate_follows(p: f64, rtts_ms: &[u64], seconds: u64, allowed: f64) {
    for &rtt_ms in rtts_ms {
        let expected = goodput(2.0 * (1.0 - p) / (reductions(p) * p), rtt_ms);
        let what = format!("p = {p}, RTT {rtt_ms} ms");
        let found = marked_at_random(p, rtt_ms, seconds);
        EQUILIBRIUM.close_relative(what, "bit/s", found, expected, allowed);
    }
}

/// The rate depends on p, and not on the RTT up to 25 ms; beyond, it is proportional to 1/RTT.
#[test]
fn rate_follows_a_fixed_mark_probability_independently_of_the_rtt() {
    rate_follows(0.1, &[1, 5, 25, 50], 200, 0.1);
}

/// The window reaches its equilibrium with the time constant 2 V/(d p): 7 s for p = 0.01.
#[test]
#[ignore = "11 million packets: make long-tests"]
fn rate_follows_a_small_mark_probability_independently_of_the_rtt() {
    rate_follows(0.01, &[1, 5, 25, 50], 400, 0.05);
}

/// At p = 1/2 a window of two or three segments varies by half of itself, so only bounds are known:
/// d is at most 1, and at least that of the mean window.
#[test]
fn rate_at_half_of_the_packets_marked_is_bounded() {
    for rtt_ms in [1, 5, 25] {
        let found = marked_at_random(0.5, rtt_ms, 200);
        let (least, most) = (goodput(2.0, rtt_ms), goodput(2.0 / reductions(0.5), rtt_ms));
        assert!((least..most).contains(&found), "{rtt_ms} ms: {found}, not {least} to {most}");
    }
}

/// One flow, 100 Mbit/s, RTT 10 ms, step at 1 ms: the queue remains close to the step, the link is
/// full, and no packet is lost. The window limits the flow in the first half of a virtual RTT, when
/// pacing is faster, so the step marks less than once per virtual RTT, as it does for DCTCP.
#[test]
fn step_keeps_the_queue_at_its_threshold() {
    let queue = json!({
        "kind": "dualpi2", "limit": 10_000, "target_ns": 15 * MS, "update_ns": 16 * MS,
        "alpha": 0.16, "beta": 3.2, "coupling": 2, "ramp_start_ns": MS, "ramp_ns": 0, "th_len": 0,
        "classic_percent": 10, "mtu_bytes": 1500});
    let (report, marks) = run(10, queue, 100_000_000, 20);
    let measured: Vec<Time> =
        marks.into_iter().filter(|time| *time >= Time::from_secs(4)).collect();
    let gaps = measured.windows(2).filter(|pair| (pair[1] - pair[0]).as_nanos() > 5 * MS);
    let per_virtual_rtt = gaps.count() as f64 / 640.0;
    assert!((0.1..1.0).contains(&per_virtual_rtt), "{per_virtual_rtt}");
    let sojourn = report.queues[0].mean_sojourn_s.expect("packets wait");
    STEP.close("mean sojourn time", "s", sojourn, 1e-3, 0.39e-3);
    assert!(report.links[0].utilisation > 0.99, "{}", report.links[0].utilisation);
    assert_eq!(report.flows[0].retransmissions, Some(0));
}
