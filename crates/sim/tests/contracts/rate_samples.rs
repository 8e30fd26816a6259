//! Tests of delivery rate samples, as received by a plug-in congestion control algorithm.
//!
//! Over 10 Mbit/s, the payload of 1460 bytes in packets of 1500 bytes arrives at 9.733 Mbit/s and
//! never faster, even with losses and reordering.

use crate::common::{MS, droptail, fixed, flow, merge, run_with, scenario, tcp};
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_conformance::Law;
use airpath_core::{Bytes, Ctx, Duration, Ecn, LinkRate, Packet, Rate, StageError, Time};
use airpath_path::Components;
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, BurstSize, CongestionControl, IdleEvent, LossEvent, LostSegment,
    PathModel, RateSample, UndoEvent,
};
use airpath_tcp::{EcnUse, delegate_congestion};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Payload rate of the link, bit/s.
const PAYLOAD_BPS: f64 = 10e6 * 1460.0 / 1500.0;

const MEDIAN: Law = Law {
    area: "Rate samples",
    source: "draft-cheng-iccrg-delivery-rate-estimation: a bulk flow's is the bottleneck's rate",
    allows: "1 %",
};
const MOST: Law = Law {
    area: "Rate samples",
    source: "What has arrived in a time is no more than the link carries in it",
    allows: "nothing above it but the rounding of times to a nanosecond",
};

/// Reno, with a record of every sample.
struct Sampled {
    inner: AnyCongestion,
    samples: Arc<Mutex<Vec<RateSample>>>,
    wants: bool,
}

impl airpath_tcp::congestion::CongestionWrapper for Sampled {
    delegate_congestion!(inner: on_loss, on_rto, on_recovered, on_lost_syn, on_ecn, on_idle);
    delegate_congestion!(inner: on_sent, cwnd, ssthresh, pacing_rate, on_undo, take_error);
    delegate_congestion!(inner: on_negotiated);
    delegate_congestion!(inner: sets_window_in_recovery, limits_itself, on_open);
    delegate_congestion!(inner: on_segment_lost, path_model, burst_size);

    fn on_ack(&mut self, event: &AckEvent) {
        self.samples.lock().expect("one thread").extend(event.rate);
        self.inner.on_ack(event);
    }
    fn needs_every_ack(&self) -> bool {
        true
    }
    fn needs_rate_samples(&self) -> bool {
        self.wants
    }
}

/// Queue in which every tenth dequeued packet overtakes three others.
struct Shuffling {
    inner: AnyQueue,
    late: Vec<Packet>,
    left: u32,
}

impl airpath_aqm::QueueWrapper for Shuffling {
    delegate_queue!(inner: enqueue, on_bypass, on_wake, on_rate, on_served, on_lost);
    delegate_queue!(inner: on_held, measured, restart_measurement, take_error);

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if self.late.is_empty() {
            self.left += 1;
            if !self.left.is_multiple_of(10) {
                return self.inner.dequeue_into(packet, ctx);
            }
            self.late.extend((0..4).map_while(|_| self.inner.dequeue(ctx)));
            // The last packet leaves first, then the others in order.
            let last = self.late.pop();
            self.late.reverse();
            self.late.extend(last);
        }
        let Some(next) = self.late.pop() else { return false };
        *packet = next;
        true
    }
    fn peek(&self) -> Option<&Packet> {
        self.late.last().or_else(|| self.inner.peek())
    }
    fn state(&self) -> QueueState {
        let mut state = self.inner.state();
        state.packets += self.late.len();
        for packet in &self.late {
            state.backlog += packet.bytes();
        }
        state
    }
}

/// Returns the samples of one flow in 30 s. `change` overrides keys of its source; `loss` is the
/// loss rate of the link.
fn samples(options: Value, change: Value, queue: Value, loss: f64, wants: bool) -> Vec<RateSample> {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&notes);
    let mut components = Components::default();
    components.congestion.register("sampled", move |_, setup| {
        let inner = AnyCongestion::build(&json!({"kind": "reno"}), setup)?;
        Ok(Box::new(Sampled { inner, samples: Arc::clone(&note), wants }))
    });
    components.queues.register("shuffling", |_, setup| {
        let inner = AnyQueue::build(&droptail(100), setup)?;
        Ok(Box::new(Shuffling { inner, late: Vec::new(), left: 0 }))
    });
    let mut source = tcp(json!({"receive_window": 1_000_000}));
    merge(&mut source["options"], options);
    source["congestion"] = json!({"kind": "sampled"});
    merge(&mut source, change);
    let mut link = fixed(10_000_000);
    link["loss"] = json!(loss);
    let scenario = scenario(30, vec![flow(source, json!({}))], link, queue, json!({}));
    let report = run_with(&scenario, &components, &Arc::default(), 1).report(0);
    assert!(report.flows[0].delivered_packets > 500);
    std::mem::take(&mut *notes.lock().expect("one thread"))
}

fn rate(sample: &RateSample) -> f64 {
    sample.rate().0 as f64
}

fn recoveries() -> [Value; 5] {
    [
        json!({"recovery": "reno"}),
        json!({"recovery": "newreno", "timestamps": true, "mss": 1448}),
        json!({"recovery": "sack", "delayed_ack_segments": 1}),
        json!({"recovery": "prr", "sack_after_timeout": "keep"}),
        json!({"recovery": "sack", "stack": "ns3", "window_growth": "segments"}),
    ]
}

/// Checks that no sample is above the link's rate. Times are rounded up to a nanosecond.
fn none_is_above(samples: &[RateSample], options: &Value, what: &str) {
    let payload = options["mss"].as_f64().unwrap_or(1460.0) / 1500.0 * 10e6;
    let largest = samples.iter().map(rate).fold(0.0, f64::max);
    assert!(samples.len() > 500, "{options}: {} samples", samples.len());
    let name = format!("largest sample over the link's rate, {}, {what}", options["recovery"]);
    MOST.between(name, "", largest / payload, 0.0, 1.0 + 1e-6);
}

#[test]
fn the_median_sample_of_a_bulk_flow_is_the_links_rate() {
    for options in recoveries() {
        let mut all = samples(options.clone(), json!({}), droptail(50), 0.0, true);
        none_is_above(&all, &options, "no loss");
        assert!(all.iter().all(|sample| !sample.app_limited), "{options}: a bulk flow");
        assert!(all.is_sorted_by_key(|sample| sample.total_delivered));
        all.sort_by_key(RateSample::rate);
        let median = rate(&all[all.len() / 2]);
        let payload = PAYLOAD_BPS * options["mss"].as_f64().unwrap_or(1460.0) / 1460.0;
        let name = format!("median sample, {}", options["recovery"]);
        MEDIAN.close_relative(name, "bit/s", median, payload, 0.01);
    }
}

/// Regression: without SACK, duplicate ACKs were not counted. All segments after a hole then seemed
/// to arrive when the hole was filled, at several times the link's rate.
#[test]
fn no_sample_is_above_the_links_rate_under_loss_and_reordering() {
    for options in recoveries() {
        let lossy = samples(options.clone(), json!({}), droptail(100), 0.02, true);
        none_is_above(&lossy, &options, "2 % loss");
        let (shuffled, mut options) = (json!({"kind": "shuffling"}), options);
        if options["recovery"].as_str().is_some_and(|recovery| recovery.ends_with("reno")) {
            // A delayed ACK does not show that a reordered segment caused it. Only SACK shows when
            // that segment arrived.
            options["delayed_ack_segments"] = json!(1);
        }
        let reordered = samples(options.clone(), json!({}), shuffled, 0.0, true);
        none_is_above(&reordered, &options, "reordering");
    }
}

/// Bursts of ten segments, with pauses without data to send: when the window is large enough for a
/// burst, all samples measure the rate of the application.
#[test]
fn samples_of_an_application_that_pauses_are_marked() {
    for options in recoveries() {
        let burst = json!({"kind": "fixed", "bytes": 14_480});
        let pause = json!({"kind": "fixed", "time_ns": 150 * MS});
        let application = json!({"application": {"on": {"size": burst}, "off": pause}});
        let all = samples(options.clone(), application, droptail(100), 0.0, true);
        let later = all.iter().filter(|sample| sample.prior_delivered > 20 * 14_480);
        assert!(later.clone().count() > 500, "{options}: {} samples", all.len());
        assert!(later.clone().all(|sample| sample.app_limited), "{options}");
    }
}

#[test]
fn congestion_control_that_uses_no_samples_receives_none() {
    let none = samples(json!({"recovery": "sack"}), json!({}), droptail(100), 0.02, false);
    assert!(none.is_empty());
}
