//! Tests that a congestion control algorithm receives every ACK that arrives, with the echoed
//! feedback.
//!
//! A queue numbers the packets that it dequeues, and the link then loses 2 % of them. A wrapper
//! around Reno records the echoed numbers. Every packet is acknowledged immediately, so the
//! recorded numbers are those of the packets that arrived, except in the last round trip.

use super::counting::Counting;
use crate::common::{fixed, flow, run_with, scenario, tcp};
use airpath_core::{Duration, Ecn, Rate, StageError, Time};
use airpath_path::Components;
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, BurstSize, CongestionControl, IdleEvent, LossEvent, LostSegment,
    PathModel, RecoveryPhase, UndoEvent,
};
use airpath_tcp::{EcnUse, delegate_congestion};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Records of the wrapper.
#[derive(Default)]
struct RecordedAcks {
    feedback: Vec<f32>,
    duplicates: usize,
    in_recovery: usize,
    after_timeout: usize,
    acked: u64,
    /// Number of duplicate ACKs, and of ACKs in fast recovery, that allowed window growth.
    wrong_growth: usize,
}

/// Reno, with a record of every ACK.
struct Listening {
    inner: AnyCongestion,
    received: Arc<Mutex<RecordedAcks>>,
}

impl airpath_tcp::congestion::CongestionWrapper for Listening {
    delegate_congestion!(inner: on_loss, on_rto, on_recovered, on_lost_syn, on_ecn, on_idle);
    delegate_congestion!(inner: on_sent, cwnd, ssthresh, pacing_rate, on_undo, take_error);
    delegate_congestion!(inner: sets_window_in_recovery, limits_itself, on_open);
    delegate_congestion!(inner: on_segment_lost, path_model, burst_size);
    delegate_congestion!(inner: needs_rate_samples, on_negotiated);

    fn needs_every_ack(&self) -> bool {
        true
    }

    fn on_ack(&mut self, event: &AckEvent) {
        let mut received = self.received.lock().expect("one thread");
        received.feedback.push(event.feedback);
        received.acked += event.acked;
        received.duplicates += usize::from(event.duplicate);
        received.in_recovery += usize::from(event.phase == RecoveryPhase::Recovery);
        received.after_timeout += usize::from(event.phase == RecoveryPhase::Loss);
        let may_grow = !event.duplicate && event.phase != RecoveryPhase::Recovery;
        received.wrong_growth += usize::from(event.growth.is_some() && !may_grow);
        drop(received);
        self.inner.on_ack(event);
    }
}

/// Runs one flow for 30 s over a link of 5 Mbit/s that loses 2 % of the packets. Returns the
/// records, the number of packets that arrived, and the number of lost packets.
fn record(options: Value) -> (RecordedAcks, u64, u64) {
    let notes = Arc::new(Mutex::new(RecordedAcks::default()));
    let note = Arc::clone(&notes);
    let mut components = Components::default();
    components.congestion.register("listening", move |_, setup| {
        let inner = AnyCongestion::build(&json!({"kind": "reno"}), setup)?;
        Ok(Box::new(Listening { inner, received: Arc::clone(&note) }))
    });
    Counting::register(&mut components);
    let mut source = tcp(options);
    source["congestion"] = json!({"kind": "listening"});
    let mut link = fixed(5_000_000);
    link["loss"] = json!(0.02);
    let queue = json!({"kind": "counting"});
    let scenario = scenario(30, vec![flow(source, json!({}))], link, queue, json!({}));
    let mut report = run_with(&scenario, &components, &Arc::default(), 1).report(0);
    let arrived = report.flows[0].delivered_packets;
    let received = std::mem::take(&mut *notes.lock().expect("one thread"));
    (received, arrived, report.links.remove(0).lost_packets)
}

#[test]
fn feedback_of_every_ack_is_received_under_every_recovery() {
    for options in [
        json!({"recovery": "reno"}),
        json!({"recovery": "newreno"}),
        json!({"recovery": "reno", "stack": "ns2"}),
        json!({"recovery": "sack"}),
        json!({"recovery": "prr", "ecn": "on"}),
        json!({"recovery": "sack", "stack": "ns3", "window_growth": "segments"}),
        json!({"recovery": "prr", "stack": "ns3", "window_growth": "per-ack"}),
    ] {
        let mut options = options;
        options["delayed_ack_segments"] = json!(1);
        let (received, arrived, lost) = record(options.clone());
        assert!(lost > 50, "{options}: {lost} packets lost");
        // ACKs in flight at the end of the run: at most those of 20 ms.
        let missing = arrived - received.feedback.len() as u64;
        assert!(missing <= 20, "{options}: {arrived} arrived, {missing} ACKs were not received");
        assert!(
            received.feedback.is_sorted_by(|a, b| a < b),
            "{options}: each number once, in order"
        );
        assert!(received.duplicates > 100, "{options}: {} duplicates", received.duplicates);
        assert!(received.in_recovery > 100, "{options}: {} in recovery", received.in_recovery);
        assert_eq!(received.wrong_growth, 0, "{options}");
    }
}

/// ACKs after a timeout have phase `Loss`, and the acknowledged bytes add up to complete segments
/// of the stream.
#[test]
fn acks_after_a_timeout_have_phase_loss_and_acknowledged_bytes_add_up() {
    let options = json!({"recovery": "sack", "delayed_ack_segments": 1, "limited_transmit": false});
    let (received, arrived, _) = record(options);
    assert!(received.after_timeout > 0);
    assert!(received.acked <= arrived * 1460);
    assert!(received.acked.is_multiple_of(1460));
}
