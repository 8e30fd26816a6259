//! Tests a plug-in congestion control algorithm that receives the echoed feedback.

use super::counting::Counting;
use crate::common::{fixed, flow, run_with, scenario, tcp};
use airpath_conformance::Law;
use airpath_path::Components;
use airpath_tcp::congestion::{AckEvent, CongestionControl, LossEvent, UndoEvent};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Algorithm with a constant window, which records its calls.
struct Constant {
    cwnd: u64,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    acked: u64,
    sent: u64,
    rtt_samples: usize,
    losses: usize,
    feedback: Vec<f32>,
}

impl CongestionControl for Constant {
    fn on_ack(&mut self, event: &AckEvent) {
        let mut seen = self.seen.lock().expect("one thread");
        seen.acked += event.acked;
        seen.rtt_samples += usize::from(event.rtt.is_some());
        seen.feedback.push(event.feedback);
        assert!(event.in_flight <= self.cwnd);
    }
    fn on_loss(&mut self, _event: &LossEvent) {
        self.seen.lock().expect("one thread").losses += 1;
    }
    fn on_rto(&mut self, _event: &LossEvent) {
        self.seen.lock().expect("one thread").losses += 1;
    }
    fn on_recovered(&mut self, _cwnd: u64) {}
    fn on_undo(&mut self, _event: &UndoEvent) {}
    fn on_sent(&mut self, _now: airpath_core::Time, bytes: u64) {
        self.seen.lock().expect("one thread").sent += bytes;
    }
    fn cwnd(&self) -> u64 {
        self.cwnd
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

const WINDOW_PER_RTT: Law = Law {
    area: "TCP throughput",
    source: "A constant window: W MSS per round trip",
    allows: "0.2 %: where the run of 10 s begins and ends",
};

#[test]
fn plug_in_congestion_control_sets_the_window_and_receives_the_feedback() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut components = Components::default();
    let note = Arc::clone(&seen);
    components.congestion.register("constant", move |parameters, setup| {
        let segments = parameters["segments"].as_u64().expect("the test gives it");
        let cwnd = segments * u64::from(setup.extra.options.mss);
        Ok(Box::new(Constant { cwnd, seen: Arc::clone(&note) }))
    });
    Counting::register(&mut components);
    let mut source = tcp(json!({"delayed_ack_segments": 1, "handshake": false}));
    source["congestion"] = json!({"kind": "constant", "segments": 10});
    let queue = json!({"kind": "counting"});
    let scenario =
        scenario(10, vec![flow(source, json!({}))], fixed(100_000_000), queue, json!({}));
    let report = run_with(&scenario, &components, &Arc::default(), 1).report(0);
    // Ten segments in each round trip of 20 ms plus one transmission time of 120 µs.
    let rate = 10.0 * 1460.0 * 8.0 / 0.020_12;
    let goodput = report.flows[0].goodput_bps;
    WINDOW_PER_RTT.close_relative(
        "goodput, ten segments in 20.12 ms",
        "bit/s",
        goodput,
        rate,
        0.002,
    );
    let seen = seen.lock().expect("one thread");
    assert_eq!(seen.losses, 0);
    assert_eq!(seen.sent, report.flows[0].sent_packets * 1460);
    assert_eq!(seen.acked, seen.feedback.len() as u64 * 1460);
    assert_eq!(seen.rtt_samples, seen.feedback.len());
    assert!(seen.feedback.iter().zip(1u16..).all(|(value, n)| *value == f32::from(n)));
}
