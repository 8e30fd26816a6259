//! What a congestion control is told of: every ACK that arrives, with the feedback that it echoes.
//!
//! A queue numbers the packets that it lets go, the link then destroys one in fifty, and a
//! congestion control that sits in the place of Reno's notes the numbers. Every packet is
//! acknowledged at once, so the numbers heard are those of the packets that arrived, but for the
//! last round trip's.

use super::counting::Counting;
use crate::common::{fixed, flow, run_with, scenario, tcp};
use airpath_core::{Rate, StageError, Time};
use airpath_path::Components;
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, CongestionControl, IdleEvent, LossEvent, RecoveryPhase,
};
use airpath_tcp::delegate_congestion;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// What a congestion control has heard.
#[derive(Default)]
struct RecordedAcks {
    feedback: Vec<f32>,
    duplicates: usize,
    in_recovery: usize,
    after_timeout: usize,
    acked: u64,
    /// Duplicates that allowed growth, and ACKs in fast recovery that did.
    wrong_growth: usize,
}

/// Reno, and a note of every ACK.
struct Listening {
    inner: AnyCongestion,
    heard: Arc<Mutex<RecordedAcks>>,
}

impl airpath_tcp::congestion::CongestionWrapper for Listening {
    delegate_congestion!(inner: on_loss, on_rto, on_recovered, on_lost_syn, on_ecn, on_idle);
    delegate_congestion!(inner: on_sent, cwnd, ssthresh, pacing_rate, take_error);
    delegate_congestion!(inner: needs_rate_samples);

    fn needs_every_ack(&self) -> bool {
        true
    }

    fn on_ack(&mut self, event: &AckEvent) {
        let mut heard = self.heard.lock().expect("one thread");
        heard.feedback.push(event.feedback);
        heard.acked += event.acked;
        heard.duplicates += usize::from(event.duplicate);
        heard.in_recovery += usize::from(event.phase == RecoveryPhase::Recovery);
        heard.after_timeout += usize::from(event.phase == RecoveryPhase::Loss);
        let may_grow = !event.duplicate && event.phase != RecoveryPhase::Recovery;
        heard.wrong_growth += usize::from(event.growth.is_some() && !may_grow);
        drop(heard);
        self.inner.on_ack(event);
    }
}

/// One flow over 5 Mbit/s that loses 2 % of the packets, for 30 s.
fn heard(options: Value) -> (RecordedAcks, u64, u64) {
    let notes = Arc::new(Mutex::new(RecordedAcks::default()));
    let note = Arc::clone(&notes);
    let mut components = Components::default();
    components.congestion.register("listening", move |_, setup| {
        let inner = AnyCongestion::build(&json!({"kind": "reno"}), setup)?;
        Ok(Box::new(Listening { inner, heard: Arc::clone(&note) }))
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
    let heard = std::mem::take(&mut *notes.lock().expect("one thread"));
    (heard, arrived, report.links.remove(0).lost_packets)
}

#[test]
fn the_feedback_of_every_ack_is_heard_whatever_the_recovery() {
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
        let (heard, arrived, lost) = heard(options.clone());
        assert!(lost > 50, "{options}: {lost} packets lost");
        // On the way when the run ends: a window's worth at most, and there are 20 ms of it.
        let missing = arrived - heard.feedback.len() as u64;
        assert!(missing <= 20, "{options}: {arrived} arrived, {missing} ACKs were not heard");
        assert!(heard.feedback.is_sorted_by(|a, b| a < b), "{options}: each number once, in order");
        assert!(heard.duplicates > 100, "{options}: {} duplicates", heard.duplicates);
        assert!(heard.in_recovery > 100, "{options}: {} in recovery", heard.in_recovery);
        assert_eq!(heard.wrong_growth, 0, "{options}");
    }
}

/// After a timeout the ACKs say so, and what they acknowledge adds up to the whole stream.
#[test]
fn acks_after_a_timeout_say_so_and_acknowledged_bytes_add_up() {
    let options = json!({"recovery": "sack", "delayed_ack_segments": 1, "limited_transmit": false});
    let (heard, arrived, _) = heard(options);
    assert!(heard.after_timeout > 0);
    assert!(heard.acked <= arrived * 1460);
    assert!(heard.acked.is_multiple_of(1460));
}
