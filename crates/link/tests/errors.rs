//! Tests of the calls of the error process by a link: times, frames, and use of the result.

use airpath_aqm::{AnyQueue, Queue, QueueDisc, QueueState, delegate_queue};
use airpath_conformance::samples;
use airpath_core::{
    Bytes, Control, Ctx, DropReason, FlowId, LinkRate, Packet, Port, QueueId, Rate, Registries,
    Registry, Seed, Setup, Stage, StageError, Time, testing::TestHarness,
};
use airpath_link::{AnyLink, DirectionContext, Files, Link, LinkContext, Tables, Traces};
use airpath_phy::errors::{AnyErrors, ErrorProcess, ErrorsRegistry, Frame};
use airpath_phy::per_table::PerTable;
use airpath_trace::Trace;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const MS: u64 = 1_000_000;

/// Frames with which the error process was called.
type Calls = Arc<Mutex<Vec<Frame>>>;

/// Error process that records its calls and corrupts the second, fourth, … frame.
struct EverySecond(Calls);

/// Error process that records its calls and corrupts no frame.
struct Nothing(Calls);

impl ErrorProcess for Nothing {
    fn corrupts(&mut self, frame: &Frame) -> bool {
        self.0.lock().expect("the lock is not poisoned").push(*frame);
        false
    }
}

impl ErrorProcess for EverySecond {
    fn corrupts(&mut self, frame: &Frame) -> bool {
        let mut calls = self.0.lock().expect("the lock is not poisoned");
        calls.push(*frame);
        calls.len().is_multiple_of(2)
    }
}

/// Table with one MCS: blocks of 60 bytes, a rate of 8 Mbit/s, no errors at 10 dB.
fn tables() -> Tables {
    let table = json!({"channel": "none", "curves": [{
        "mcs": {"name": "a", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 60,
                "rate_bps": 8e6},
        "points": [{"snr_db": 0, "errors": 50, "blocks": 100},
                   {"snr_db": 10, "errors": 0, "blocks": 1000}]}]});
    [("one".to_owned(), Arc::new(PerTable::from_json(&table.to_string()).expect("a table")))].into()
}

fn droptail() -> AnyQueue {
    let queues = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &queues, extra: () };
    let droptail = json!({"kind": "droptail", "limit": {"packets": 100}});
    AnyQueue::build(&droptail, setup).expect("a queue")
}

fn build(description: Value, calls: &Calls) -> Result<AnyLink, String> {
    with_queue(description, droptail(), calls)
}

fn with_queue(mut description: Value, queue: AnyQueue, calls: &Calls) -> Result<AnyLink, String> {
    if description["errors"].is_null() {
        description["errors"] = json!({"kind": "every-second"});
    }
    let queue = Queue::new(queue, QueueId(0));
    let opportunities = Trace::parse_mahimahi("test", "1\n2\n3\n10\n").expect("a trace");
    let rates = Trace::parse_csv("test", "time_s,rate_bps\n0,8e6\n1,8e6\n").expect("a trace");
    let traces: Traces =
        [("t", opportunities), ("r", rates)].map(|(name, t)| (name.to_owned(), Arc::new(t))).into();
    let mut errors = ErrorsRegistry::default();
    let shared = Arc::clone(calls);
    let counted = Arc::clone(calls);
    errors.register("nothing", move |_, _| Ok(Box::new(Nothing(Arc::clone(&counted)))));
    errors.register("every-second", move |_, _| Ok(Box::new(EverySecond(Arc::clone(&shared)))));
    let context = LinkContext {
        files: Arc::new(Files { traces, tables: tables(), ..Files::default() }),
        registries: Registries::default().with(errors),
        ..LinkContext::new(DirectionContext::of(queue, Port(0)))
    };
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: context };
    AnyLink::build(&description, setup).map_err(|error| error.to_string())
}

/// Returns the start and end, ns, of each frame with which the error process was called.
fn spans(calls: &Calls) -> Vec<(u64, u64)> {
    let calls = calls.lock().expect("the lock is not poisoned");
    calls.iter().map(|frame| (frame.began.as_nanos(), frame.ended.as_nanos())).collect()
}

/// Sends four packets of 1000 bytes, three at 0 and one at 20 ms. Returns the calls of the error
/// process and the numbers of the delivered packets.
fn deliver(description: Value) -> (Vec<(u64, u64)>, Vec<u64>) {
    let calls = Calls::default();
    let mut link = build(description, &calls).expect("a link");
    let mut harness = TestHarness::default();
    let mut arrived = Vec::new();
    for (seq, at) in [(0, 0), (1, 0), (2, 0), (3, 20 * MS)] {
        let now = Time::from_nanos(at);
        arrived.extend(harness.run(&mut link, now));
        let packet = Packet::datagram(FlowId(0), seq, Bytes(1000), now);
        link.receive(Port(0), &packet, &mut harness.at(now));
    }
    arrived.extend(harness.run(&mut link, Time::from_secs(1)));
    let report = &link.reports(Time::from_secs(1))[0].link;
    assert_eq!((report.delivered_packets, report.lost_packets), (2, 2));
    assert_eq!(harness.counts().dropped[DropReason::Channel as usize], 2);
    assert_eq!(link.held(), 0);
    let calls = spans(&calls);
    (calls, arrived.into_iter().map(|(_, _, packet)| packet.seq).collect())
}

#[test]
fn serial_link_passes_the_time_from_first_to_last_bit() {
    let frames = [(0, MS), (MS, 2 * MS), (2 * MS, 3 * MS), (20 * MS, 21 * MS)];
    for description in [
        json!({"kind": "fixed", "rate_bps": 8_000_000}),
        json!({"kind": "multi-regime", "thresholds": [5],
               "regimes": [{"rate_bps": 8_000_000, "per": 0}, {"rate_bps": 1, "per": 0}]}),
        json!({"kind": "rate-trace", "trace": "r"}),
    ] {
        let (calls, arrived) = deliver(description.clone());
        assert_eq!(calls, frames, "{description}");
        assert_eq!(arrived, [0, 2], "{description}");
    }
}

#[test]
fn trace_link_passes_the_time_from_first_to_last_opportunity() {
    // 1504 bytes at 1, 2, 3, 10 ms and so on: packet 1 uses the rest of the first opportunity and a
    // part of the second one. An opportunity has no duration; the end of a frame is 1 ns later.
    let (calls, arrived) = deliver(json!({"kind": "trace", "trace": "t"}));
    let until = |ms| ms * MS + 1;
    assert_eq!(calls, [(MS, until(1)), (MS, until(2)), (2 * MS, until(2)), (21 * MS, until(21))]);
    assert_eq!(arrived, [0, 2]);
}

/// Sizes of the packets whose frames are checked.
const SIZES: [u64; 3] = [1500, 40, 1];

/// Returns configurations of links with framing, and their frame sizes for packets of [`SIZES`].
fn framed(kind: &str) -> (Value, Vec<u64>) {
    let with_six = vec![1506, 46, 7];
    match kind {
        "fixed" => (json!({"rate_bps": 8_000_000, "framing": 6}), with_six),
        "multi-regime" => (
            json!({"thresholds": [], "regimes": [{"rate_bps": 8_000_000, "per": 0}],
                   "framing": 6}),
            with_six,
        ),
        "rate-trace" => (json!({"trace": "r", "framing": 6}), with_six),
        "trace" => (json!({"trace": "t", "framing": 6}), with_six),
        // The packets have 26, 1 and 1 blocks.
        "adaptive" => (
            json!({"table": "one", "snr": 10, "policy": {"kind": "fixed", "mcs": "a"},
                   "framing": 6}),
            vec![1560, 60, 60],
        ),
        // The packets have 38, 1 and 1 PDUs of 40 bytes. Other PDUs are sent for polls and reports.
        "rlc-am" => (
            json!({"rate_bps": 8_000_000, "tti_ns": 10 * MS, "latency_ns": 20 * MS,
                   "pdu_payload": 40, "window": 1024, "max_dat": 10, "poll_timer_ns": 600 * MS,
                   "status_prohibit_ns": 0, "poll_window": 0.5, "last_pdu_poll": false,
                   "last_retransmission_poll": false, "missing_pdu_indicator": false,
                   "concatenation": false, "mrw_timer_ns": 200 * MS, "reset_timer_ns": 200 * MS}),
            vec![1520, 40, 40],
        ),
        other => (samples_of(other), Vec::new()),
    }
}

/// Returns a sample configuration of a link that this file does not list, from its Python class.
fn samples_of(kind: &str) -> Value {
    let accepts = |description: &Value| build(description.clone(), &Calls::default()).is_ok();
    samples("link", kind, accepts).remove(0)
}

/// A drop-tail queue that records the rate passed by the link.
struct Listening(AnyQueue, Arc<Mutex<LinkRate>>);

impl airpath_aqm::QueueWrapper for Listening {
    delegate_queue!(0: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_served);
    delegate_queue!(0: on_lost, on_held, measured, restart_measurement, take_error);

    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        *self.1.lock().expect("the lock is not poisoned") = rate;
        self.0.on_rate(rate, ctx);
    }
}

/// For every link, the sizes of the frames that the error process receives equal the sizes on the
/// air, by the framing that the queue receives. The duration of a frame equals its size divided by
/// the nominal rate.
#[test]
fn error_process_receives_every_byte_on_the_air() {
    for (kind, _) in AnyLink::BUILT_IN {
        let (mut description, expected) = framed(kind);
        description["kind"] = json!(kind);
        description["errors"] = json!({"kind": "nothing"});
        let calls = Calls::default();
        let link_rate = Arc::new(Mutex::new(LinkRate::default()));
        let queue = AnyQueue::plug_in(Box::new(Listening(droptail(), Arc::clone(&link_rate))));
        let mut link = with_queue(description.clone(), queue, &calls).expect("a link");
        let mut harness = TestHarness::default();
        link.control(&Control::Begin, &mut harness.at(Time::ZERO));
        for (seq, size) in SIZES.into_iter().enumerate() {
            let now = Time::from_millis(100 * seq as u64);
            harness.run(&mut link, now);
            let packet = Packet::datagram(FlowId(0), seq as u64, Bytes(size), now);
            link.receive(Port(0), &packet, &mut harness.at(now));
        }
        harness.run(&mut link, Time::from_millis(400));
        let calls = calls.lock().expect("the lock is not poisoned").clone();
        let bytes: Vec<u64> = calls.iter().map(|frame| frame.bytes.0).collect();
        if expected.is_empty() {
            let (on_air, sent) = (bytes.iter().sum::<u64>(), SIZES.iter().sum::<u64>());
            assert!(on_air >= sent, "{description}: {bytes:?}");
            continue;
        }
        assert_eq!(bytes, expected, "{description}");
        let link_rate = *link_rate.lock().expect("the lock is not poisoned");
        assert_eq!(SIZES.map(|size| link_rate.framing.on_air(Bytes(size)).0).to_vec(), bytes);
        for frame in calls {
            let mcs = (*kind == "adaptive").then_some(0);
            assert_eq!(frame.mcs, mcs, "{description}");
            let takes = frame.ended.saturating_since(frame.began);
            if !matches!(*kind, "trace" | "rlc-am") {
                assert_eq!(takes, frame.bytes / link_rate.nominal, "{description}");
            }
        }
    }
}

/// Padding and parity bytes use air time and opportunities in the same way as bytes of packets.
#[test]
fn padding_and_parity_use_air_time() {
    let framing = json!({"overhead_bytes": 6, "block_bytes": 60, "code_rate": 0.75});
    for kind in ["fixed", "multi-regime", "rate-trace", "trace"] {
        let (mut description, _) = framed(kind);
        description["kind"] = json!(kind);
        description.as_object_mut().expect("a table").remove("framing");
        description["framing"] = framing.clone();
        description["errors"] = json!({"kind": "nothing"});
        let calls = Calls::default();
        let mut link = build(description.clone(), &calls).expect("a link");
        let mut harness = TestHarness::default();
        let packet = Packet::datagram(FlowId(0), 0, Bytes(1500), Time::ZERO);
        link.receive(Port(0), &packet, &mut harness.at(Time::ZERO));
        let arrived = harness.run(&mut link, Time::from_secs(1))[0].0;
        // A packet of 1506 bytes fills 26 blocks. At 8 Mbit/s each byte takes 1 µs; a trace link
        // needs two opportunities, at 1 and 2 ms.
        let at_us = if kind == "trace" { 2000 } else { 2080 };
        assert_eq!(arrived, Time::from_nanos(at_us * 1000), "{kind}");
        assert_eq!(calls.lock().expect("the lock is not poisoned")[0].bytes, Bytes(2080), "{kind}");
    }
}

#[test]
fn bernoulli_loss_bypasses_error_process() {
    let calls = Calls::default();
    let lossy = json!({"kind": "fixed", "rate_bps": 8_000_000, "loss": 1});
    let mut link = build(lossy, &calls).expect("a link");
    let mut harness = TestHarness::default();
    let packet = Packet::datagram(FlowId(0), 0, Bytes(1000), Time::ZERO);
    link.receive(Port(0), &packet, &mut harness.at(Time::ZERO));
    assert!(harness.run(&mut link, Time::from_secs(1)).is_empty());
    assert_eq!(harness.counts().dropped[DropReason::Channel as usize], 1);
    assert!(calls.lock().expect("the lock is not poisoned").is_empty());
}

/// A packet that waits for a rate above zero is not on the air.
#[test]
fn packet_is_on_the_air_only_while_rate_is_positive() {
    let calls = Calls::default();
    let mut link = build(json!({"kind": "fixed", "rate_bps": 8_000_000}), &calls).expect("a link");
    let mut harness = TestHarness::default();
    link.control(&Control::Rate(Rate(0)), &mut harness.at(Time::ZERO));
    let packet = Packet::datagram(FlowId(0), 0, Bytes(1000), Time::ZERO);
    link.receive(Port(0), &packet, &mut harness.at(Time::ZERO));
    let again = Time::from_millis(50);
    link.control(&Control::Rate(Rate(8_000_000)), &mut harness.at(again));
    harness.run(&mut link, Time::from_secs(1));
    assert_eq!(spans(&calls), [(50 * MS, 51 * MS)]);
}

#[test]
fn error_messages_name_key_of_error_process() {
    for description in [
        json!({"kind": "fixed", "rate_bps": 1}),
        json!({"kind": "multi-regime", "thresholds": [], "regimes": [{"rate_bps": 1, "per": 0}]}),
        json!({"kind": "trace", "trace": "t"}),
        json!({"kind": "rate-trace", "trace": "r"}),
    ] {
        let mut wrong = description.clone();
        wrong["errors"] = json!({"kind": "independent", "loss": 2});
        let error = build(wrong, &Calls::default()).err();
        let expected = "errors.loss = 2: above 1. Accepted: 0 to 1";
        assert_eq!(error.as_deref(), Some(expected), "{description}");
        let mut unknown = description;
        unknown["errors"] = json!({"kind": "rain"});
        let error = build(unknown, &Calls::default()).err();
        let built_in: Vec<&str> = AnyErrors::BUILT_IN.iter().map(|(name, _)| *name).collect();
        let expected = format!(
            "errors.kind = rain: unknown. Accepted: {}, every-second, nothing",
            built_in.join(", ")
        );
        assert_eq!(error, Some(expected));
    }
}
