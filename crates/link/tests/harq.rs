//! Tests of HARQ, ARQ and release in order on serial links: departure times of packets,
//! distribution of delays, and throughput with a limited number of processes.

use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Control, DropReason, FlowId, Packet, Port, QueueId, Rate, Registries, Registry, Seed,
    Setup, Stage, Time, testing::TestHarness,
};
use airpath_link::{AnyLink, DirectionContext, Link, LinkContext};
use airpath_phy::errors::{ErrorProcess, ErrorsRegistry, Frame};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const MS: u64 = 1_000_000;

/// Frames with which the error process was called.
type Calls = Arc<Mutex<Vec<Frame>>>;

/// Error process that corrupts frames according to a script with one character per frame. Frames
/// after the end of the script are not corrupted.
struct Script {
    script: Vec<bool>,
    calls: Calls,
}

impl ErrorProcess for Script {
    fn corrupts(&mut self, frame: &Frame) -> bool {
        let mut calls = self.calls.lock().expect("the lock is not poisoned");
        calls.push(*frame);
        self.script.get(calls.len() - 1).copied().unwrap_or(false)
    }
}

/// A fixed link with `keys`, whose error process corrupts frame number n if `script[n]` is `x`.
fn link(keys: Value, script: &str, seed: u64) -> (AnyLink, Calls) {
    let mut description = json!({"kind": "fixed", "rate_bps": 1_200_000});
    for (key, value) in keys.as_object().expect("a table") {
        description[key] = value.clone();
    }
    if description["errors"].is_null() {
        description["errors"] = json!({"kind": "script"});
    }
    let queues = Registry::default();
    let setup = Setup { seed: Seed::new(seed, 0, "queue"), registry: &queues, extra: () };
    let droptail = json!({"kind": "droptail", "limit": {"packets": 1_000_000}});
    let queue = Queue::new(AnyQueue::build(&droptail, setup).expect("a queue"), QueueId(0));
    let calls = Calls::default();
    let script: Vec<bool> = script.chars().map(|fate| fate == 'x').collect();
    let mut errors = ErrorsRegistry::default();
    let told = Arc::clone(&calls);
    errors.register("script", move |_, _| {
        Ok(Box::new(Script { script: script.clone(), calls: Arc::clone(&told) }))
    });
    let registries = Registries::default().with(errors);
    let context =
        LinkContext { registries, ..LinkContext::new(DirectionContext::of(queue, Port(0))) };
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(seed, 0, "link"), registry: &links, extra: context };
    (AnyLink::build(&description, setup).expect("a link"), calls)
}

/// Sends packets of 1500 bytes at these times, ns. Returns number and time (ns) of the departures,
/// in order.
fn drive(
    link: &mut AnyLink,
    harness: &mut TestHarness,
    at: impl Iterator<Item = u64>,
) -> Vec<(u64, u64)> {
    let mut left = Vec::new();
    link.control(&Control::Begin, &mut harness.at(Time::ZERO));
    for (seq, at) in at.enumerate() {
        let now = Time::from_nanos(at);
        left.extend(harness.run(link, now));
        let packet = Packet::datagram(FlowId(0), seq as u64, Bytes(1500), now);
        link.receive(Port(0), &packet, &mut harness.at(now));
    }
    left.extend(harness.run(link, Time::from_secs(1_000_000)));
    assert_eq!((link.held(), link.next_wakeup()), (0, Time::NEVER));
    left.into_iter().map(|(at, _, packet)| (packet.seq, at.as_nanos())).collect()
}

/// Sends a burst of `packets` packets over a link of 1.2 Mbit/s, on which each takes 10 ms. Returns
/// number and departure time in ms.
fn leave(keys: Value, script: &str, packets: usize) -> Vec<(u64, u64)> {
    let (mut link, _) = link(keys, script, 1);
    let left = drive(&mut link, &mut TestHarness::default(), std::iter::repeat_n(0, packets));
    left.into_iter().map(|(seq, at)| (seq, at / MS)).collect()
}

fn harq(attempts: u32, round_trip_ms: u64) -> Value {
    json!({"attempts": attempts, "round_trip_ns": round_trip_ms * MS})
}

/// The first packet fails at 10 ms and, behind the third packet, at 35 ms; it is received at 60 ms.
/// The error process is called for the packets 0, 1, 2, 0 (at 35 ms), 3, 4, 5 and 0 (at 60 ms), in
/// this order.
#[test]
fn packet_is_retransmitted_after_round_trip_and_overtaken() {
    let left = leave(json!({"harq": harq(3, 25)}), "x..x", 6);
    assert_eq!(left, [(1, 20), (2, 30), (3, 40), (4, 50), (0, 60), (5, 60)]);
}

#[test]
fn retransmitted_packet_blocks_others_in_order() {
    let left = leave(json!({"harq": harq(3, 25), "in_order": true}), "x..x", 7);
    assert_eq!(left, [(0, 60), (1, 60), (2, 60), (3, 60), (4, 60), (5, 60), (6, 70)]);
}

/// The last attempt fails at 35 ms; ARQ delivers the packet 100 ms later.
#[test]
fn arq_delivers_packet_discarded_by_harq() {
    let keys = json!({"harq": harq(2, 25), "arq": {"delay_ns": 100 * MS}});
    assert_eq!(leave(keys, "x..x", 3), [(1, 20), (2, 30), (0, 135)]);
    let alone = json!({"arq": {"delay_ns": 15 * MS}});
    assert_eq!(leave(alone, "x.x", 3), [(1, 20), (0, 25), (2, 45)]);
}

/// The first packet is lost at 35 ms. Later packets are released at that time, because no packet
/// waits for a lost packet.
#[test]
fn failed_packet_blocks_others_until_discarded_in_order() {
    let keys = json!({"harq": harq(2, 25), "in_order": true});
    let (mut link, _) = link(keys, "x..x", 1);
    let mut harness = TestHarness::default();
    let left = drive(&mut link, &mut harness, [0; 4].into_iter());
    let left: Vec<_> = left.into_iter().map(|(seq, at)| (seq, at / MS)).collect();
    assert_eq!(left, [(1, 35), (2, 35), (3, 40)]);
    assert_eq!(harness.counts().dropped[DropReason::Retries as usize], 1);
    let report = link.reports(Time::from_secs(1)).swap_remove(0).link;
    assert_eq!((report.delivered_packets, report.lost_packets), (3, 1));
    let counters: Vec<_> = report.counters.iter().map(|(name, n)| (&**name, *n)).collect();
    let delay = ("recovery_delay_mean_s", 0.0);
    assert_eq!(counters, [("repetitions", 1.0), ("recovered_packets", 0.0), delay]);
}

/// For a retransmission the error process is called with the time of the retransmission and the
/// duration of the first attempt.
#[test]
fn error_process_is_called_for_each_attempt_at_its_time() {
    let (mut link, calls) = link(json!({"harq": harq(3, 25)}), "x..x", 1);
    drive(&mut link, &mut TestHarness::default(), [0; 3].into_iter());
    let calls = calls.lock().expect("the lock is not poisoned");
    let spans: Vec<_> = calls
        .iter()
        .map(|frame| (frame.began.as_nanos() / MS, frame.ended.as_nanos() / MS))
        .collect();
    assert_eq!(spans, [(0, 10), (10, 20), (20, 30), (25, 35), (50, 60)]);
    assert!(calls.iter().all(|frame| frame.bytes == Bytes(1500)));
}

/// A packet of 12 000 bytes takes 80 ms. The retransmission of the previous packet ends during this
/// time, and the error process must be called in order of time. The call for the long packet starts
/// at the start of the retransmission.
#[test]
fn error_process_is_called_in_order_of_time() {
    let (mut link, calls) = link(json!({"harq": harq(2, 25)}), "x", 1);
    let mut harness = TestHarness::default();
    for (seq, bytes) in [(0, 1500), (1, 12_000)] {
        let packet = Packet::datagram(FlowId(0), seq, Bytes(bytes), Time::ZERO);
        link.receive(Port(0), &packet, &mut harness.at(Time::ZERO));
    }
    assert_eq!(harness.run(&mut link, Time::from_secs(1)).len(), 2);
    let calls = calls.lock().expect("the lock is not poisoned");
    let spans: Vec<_> =
        calls.iter().map(|f| (f.began.as_nanos() / MS, f.ended.as_nanos() / MS)).collect();
    assert_eq!(spans, [(0, 10), (25, 35), (25, 90)]);
}

/// There are two processes and a round trip of 80 ms, counted from the start of an attempt. Two
/// packets are sent, and two more packets when the feedback has arrived. With eight processes
/// packets are sent without gaps.
#[test]
fn packet_waits_for_free_process() {
    let keys = |processes: u32| json!({"harq": {"attempts": 3, "round_trip_ns": 80 * MS, "processes": processes}});
    let two = [(0, 10), (1, 20), (2, 90), (3, 100), (4, 170)];
    assert_eq!(leave(keys(2), "", 5), two);
    let eight: Vec<_> = (0..20).map(|seq| (seq, (seq + 1) * 10)).collect();
    assert_eq!(leave(keys(8), "", 20), eight);
    // The first packet fails at 10 ms: its process is free 160 ms after its start, the other
    // process after 80 ms.
    let repeated = [(1, 20), (0, 90), (2, 100), (3, 170), (4, 180)];
    assert_eq!(leave(keys(2), "x", 5), repeated);
}

/// A packet that ARQ delivers occupies no HARQ process, because HARQ has discarded the packet.
#[test]
fn arq_occupies_no_process() {
    let keys = json!({"harq": {"attempts": 1, "round_trip_ns": 30 * MS, "processes": 1},
                      "arq": {"delay_ns": 500 * MS}});
    assert_eq!(leave(keys, "x", 3), [(1, 40), (2, 70), (0, 510)]);
}

/// At rate 0 retransmissions continue; the packet that is being sent waits.
#[test]
fn stopped_link_retransmits_sent_packets() {
    let (mut link, _) = link(json!({"harq": harq(2, 25)}), "x", 1);
    let mut harness = TestHarness::default();
    for seq in 0..2 {
        let packet = Packet::datagram(FlowId(0), seq, Bytes(1500), Time::ZERO);
        link.receive(Port(0), &packet, &mut harness.at(Time::ZERO));
    }
    let mut left = harness.run(&mut link, Time::from_millis(5));
    link.control(&Control::Rate(Rate(0)), &mut harness.at(Time::from_millis(5)));
    left.extend(harness.run(&mut link, Time::from_millis(100)));
    link.control(&Control::Rate(Rate(2_400_000)), &mut harness.at(Time::from_millis(100)));
    left.extend(harness.run(&mut link, Time::from_millis(200)));
    let left: Vec<_> = left.iter().map(|(at, _, packet)| (packet.seq, *at)).collect();
    assert_eq!(left, [(0, Time::from_millis(35)), (1, Time::from_millis(105))]);
}

/// Closed form for the additional delay of a packet, with error rate p, n attempts, round trip R
/// and ARQ delay D: P(k R) = p^k (1 - p), P((n - 1) R + D) = p^n, and the mean is R (p + … +
/// p^(n-1)) + D p^n. The test sends 10⁵ packets over a fixed link, with the parameters of the paper
/// and with others; p is the error rate of HARQ, the loss of the link, or both. The tolerance is
/// five standard deviations of the counts.
#[test]
fn delay_distribution_matches_closed_form() {
    const PACKETS: usize = 100_000;
    for (attempts, error, loss, round_trip_ms, arq_ms) in [
        (4, 0.316, 0.0, 30, 100),
        (3, 0.0, 0.2, 8, 45),
        (5, 0.25, 0.2, 12, 333),
        (1, 0.1, 0.1, 50, 70),
    ] {
        let mut loops = harq(attempts, round_trip_ms);
        loops["error"] = json!(error);
        let keys = json!({"rate_bps": 12_000_000, "loss": loss, "harq": loops,
                          "arq": {"delay_ns": arq_ms * MS}});
        let (mut link, _) = link(keys, "", 7);
        let left =
            drive(&mut link, &mut TestHarness::default(), (0..PACKETS as u64).map(|n| n * MS));
        assert_eq!(left.len(), PACKETS);
        let p: f64 = 1.0 - (1.0 - error) * (1.0 - loss);
        let delays: Vec<u64> = left.iter().map(|(seq, at)| at - (seq + 1) * MS).collect();
        let mut expected: Vec<(u64, f64)> = (0..attempts)
            .map(|k| (u64::from(k) * round_trip_ms, p.powi(k as i32) * (1.0 - p)))
            .collect();
        let last = u64::from(attempts - 1) * round_trip_ms + arq_ms;
        expected.push((last, p.powi(attempts as i32)));
        let (mut counted, mut mean_ms) = (0, 0.0);
        for (delay_ms, share) in expected {
            let found = delays.iter().filter(|delay| **delay == delay_ms * MS).count();
            let n = PACKETS as f64;
            let sigma = (n * share * (1.0 - share)).sqrt();
            let difference = found as f64 - n * share;
            assert!(difference.abs() <= 5.0 * sigma, "{delay_ms} ms: {found}, not {}", n * share);
            counted += found;
            mean_ms += delay_ms as f64 * share;
        }
        assert_eq!(counted, PACKETS, "no other delay");
        let powers: f64 = (1..attempts).map(|k| p.powi(k as i32)).sum();
        let mean = round_trip_ms as f64 * powers + arq_ms as f64 * p.powi(attempts as i32);
        assert!((mean_ms - mean).abs() < 1e-9, "{mean_ms} {mean}");
        let counters = link.reports(Time::from_secs(1_000_000)).swap_remove(0).link.counters;
        let counted = delays.iter().sum::<u64>() as f64 / PACKETS as f64 / 1e9;
        assert!((counters[2].1 - counted).abs() < 1e-12, "{counters:?}");
        assert!((1e3 * counted / mean - 1.0).abs() < 0.02, "{counted} s, not {mean} ms");
    }
}

/// N processes carry N packets in E round trips, where E is the mean number of attempts per packet,
/// unless the link limits the rate. The tolerance is five standard deviations of the mean.
#[test]
fn throughput_of_processes_matches_mean_attempts() {
    const PACKETS: usize = 20_000;
    for (processes, error, attempts, round_trip_ms) in
        [(1, 0.4f64, 3, 8), (4, 0.3, 4, 20), (16, 0.1, 2, 5)]
    {
        let keys = json!({"rate_bps": 12_000_000, "harq": {
            "attempts": attempts, "error": error, "round_trip_ns": round_trip_ms * MS,
            "processes": processes}});
        let (mut link, _) = link(keys, "", 3);
        let left = drive(&mut link, &mut TestHarness::default(), std::iter::repeat_n(0, PACKETS));
        let ends_ms = left.iter().map(|(_, at)| *at).max().expect("packets") as f64 / MS as f64;
        let mean: f64 = (0..attempts).map(|k| error.powi(k)).sum();
        let square: f64 = (0..attempts).map(|k| f64::from(2 * k + 1) * error.powi(k)).sum();
        let sigma = (square - mean * mean).sqrt() / (PACKETS as f64).sqrt();
        let by_processes = round_trip_ms as f64 / f64::from(processes);
        let each_ms = ends_ms / PACKETS as f64;
        // Packets of several processes wait for each other slightly, because the link sends one
        // packet at a time.
        let slack = if processes == 1 { 0.001 } else { 0.02 };
        let expected = (by_processes * mean).max(1.0);
        let tolerance = by_processes * 5.0 * sigma + slack * expected;
        assert!((each_ms - expected).abs() <= tolerance, "{each_ms} ms, not {expected}");
    }
}

prop_compose! {
    /// Links with HARQ or ARQ that lose no packet permanently.
    fn any_retransmission()(
        attempts in 1u32..6, error in 0.0..0.9f64, loss in 0.0..0.5f64,
        round_trip_ns in 1..200 * MS, delay_ns in 1..300 * MS,
        processes in prop::option::of(1u32..9), burst: bool,
    ) -> Value {
        let errors = if burst {
            json!({"kind": "gilbert-elliott", "p_good_to_bad": 0.1, "p_bad_to_good": 0.3,
                   "slot_ns": 7 * MS})
        } else {
            json!({"kind": "independent", "loss": loss})
        };
        json!({"loss": loss, "errors": errors, "arq": {"delay_ns": delay_ns}, "harq": {
            "attempts": attempts, "error": error, "round_trip_ns": round_trip_ns,
            "processes": processes}})
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// With release in order every packet leaves once, in the order of arrival, as soon as the
    /// packet and all previous packets have been received. Release in order does not change the
    /// times of reception.
    #[test]
    fn in_order_release_waits_only_for_previous_packets(
        loops in any_retransmission(), gaps in prop::collection::vec(0..40 * MS, 1..60), seed in 0u64..1000,
    ) {
        let times = |gaps: &[u64]| {
            let mut at = 0;
            gaps.iter().map(|gap| { at += gap; at }).collect::<Vec<u64>>()
        };
        let run = |in_order: bool| {
            let mut keys = loops.clone();
            keys["in_order"] = json!(in_order);
            let (mut link, _) = link(keys, "", seed);
            drive(&mut link, &mut TestHarness::default(), times(&gaps).into_iter())
        };
        let mut received = run(false);
        prop_assert!(received.is_sorted_by_key(|(_, at)| *at));
        received.sort_unstable();
        let mut latest = 0;
        let expected: Vec<(u64, u64)> = received
            .iter()
            .map(|(seq, at)| { latest = latest.max(*at); (*seq, latest) })
            .collect();
        prop_assert_eq!(run(true), expected);
        let everyone: Vec<u64> = (0..gaps.len() as u64).collect();
        prop_assert_eq!(received.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), everyone);
    }
}
