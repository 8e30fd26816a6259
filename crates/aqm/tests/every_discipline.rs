//! Invariants of every queue discipline.
//!
//! A new built-in discipline is tested as soon as it is registered. [`descriptions()`] panics if it
//! cannot create a configuration for the discipline.

use crate::descriptions::{but, descriptions, make, try_make, with_kind};
use airpath_aqm::{AnyQueue, Queue, QueueDisc, QueueReport, QueueState};
use airpath_conformance::samples;
use airpath_core::{
    Bytes, Ctx, Duration, Ecn, FlowId, LinkRate, Packet, PacketKind, PayloadHandle, QueueId, Rate,
    Recorder, Registry, Seed, Series, Setup, Time, testing::TestHarness,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// An event at a queue.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue { flow: u32, size: u32, ecn: Ecn, is_ack: bool },
    Dequeue,
    Pause { nanos: u64 },
    Rate { bps: u64 },
    DequeueHeld,
    Release,
    StartMeasurement,
}

fn size() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(1500u32), 1 => Just(1), 1 => Just(40), 1 => Just(65_535), 1 => 1..=65_535u32]
}

fn step() -> impl Strategy<Value = Step> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    prop_oneof![
        8 => (0..3u32, size(), ecn, prop::bool::weighted(0.3)).prop_map(
            |(flow, size, ecn, is_ack)| Step::Enqueue { flow, size, ecn, is_ack }
        ),
        6 => Just(Step::Dequeue),
        3 => prop_oneof![0..2_000_000u64, Just(0), Just(1), 0..1u64 << 50]
            .prop_map(|nanos| Step::Pause { nanos }),
        1 => prop_oneof![Just(0), Just(1), Just(u64::MAX), 0..1u64 << 40]
            .prop_map(|bps| Step::Rate { bps }),
        2 => Just(Step::DequeueHeld),
        2 => Just(Step::Release),
        1 => Just(Step::StartMeasurement),
    ]
}

/// Applies the same steps to a discipline and to the same discipline inside a [`Queue`], and counts
/// the packets independently.
struct Ledger {
    harness: TestHarness,
    bare_bench: TestHarness,
    bare: AnyQueue,
    queue: Queue,
    now: Time,
    /// Size, flow, ECN field and ACK flag of every offered packet. The index is the payload handle
    /// minus one.
    offered: Vec<(u32, u32, Ecn, bool)>,
    /// True if the order within a flow is preserved only among packets with the same ECN field.
    separates_by_ecn: bool,
    /// True if the order within a flow is preserved only among ACKs and among other packets.
    separates_acks: bool,
    bytes_in: u64,
    bytes_out: u64,
    bytes_dropped: u64,
    packets_out: u64,
    packets_dropped: u64,
    /// Last sequence number at the output, by flow, ECN field and kind.
    last_out: [[Option<u64>; 8]; 3],
    /// Sizes of the packets that the link still holds.
    held: VecDeque<u32>,
    measured_from: Time,
    /// Numbers of packets offered and dequeued since measurement started.
    measured: (u64, u64),
}

impl Ledger {
    fn new(description: &Value) -> Ledger {
        Ledger {
            harness: TestHarness::default(),
            bare_bench: TestHarness::default(),
            bare: make(description),
            queue: Queue::new(make(description), QueueId(0)),
            now: Time::ZERO,
            offered: Vec::new(),
            bytes_in: 0,
            bytes_out: 0,
            bytes_dropped: 0,
            packets_out: 0,
            packets_dropped: 0,
            separates_by_ecn: description["kind"] == "dualpi2",
            separates_acks: ["ack-priority", "fq-codel"]
                .iter()
                .any(|kind| description.to_string().contains(kind)),
            last_out: [[None; 8]; 3],
            held: VecDeque::new(),
            measured_from: Time::ZERO,
            measured: (0, 0),
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Enqueue { flow, size, ecn, is_ack } => self.enqueue(flow, size, ecn, is_ack),
            Step::Dequeue => self.dequeue(),
            Step::Pause { nanos } => self.pause(nanos),
            Step::Rate { bps } => {
                self.queue.on_rate(LinkRate::of_packets(Rate(bps)), &mut self.harness.at(self.now));
                self.bare
                    .on_rate(LinkRate::of_packets(Rate(bps)), &mut self.bare_bench.at(self.now));
            }
            Step::DequeueHeld => self.dequeue_held(),
            Step::Release => self.release(),
            Step::StartMeasurement => {
                self.queue.restart_measurement(self.now);
                self.measured_from = self.now;
                self.measured = (0, 0);
            }
        }
        self.check();
    }

    fn enqueue(&mut self, flow: u32, size: u32, ecn: Ecn, is_ack: bool) {
        let seq = self.offered.len() as u64;
        let mut packet = if is_ack {
            Packet::ack(FlowId(flow), seq, 1000, size)
        } else {
            Packet::datagram(FlowId(flow), seq, Bytes(u64::from(size)), self.now)
        };
        packet.ecn = ecn;
        self.offered.push((size, flow, ecn, is_ack));
        packet.set_payload(PayloadHandle(self.offered.len() as u32));
        self.bytes_in += u64::from(size);
        self.measured.0 += 1;
        self.queue.enqueue(&packet, &mut self.harness.at(self.now));
        self.bare.enqueue(&packet, &mut self.bare_bench.at(self.now));
    }

    fn dequeue(&mut self) {
        let packet = self.queue.dequeue(&mut self.harness.at(self.now));
        let bare = self.bare.dequeue(&mut self.bare_bench.at(self.now));
        assert_eq!(packet, bare, "measuring changes nothing");
        let Some(mut packet) = packet else {
            assert_eq!(self.queue.packets(), 0, "work-conserving: packets wait, none comes out");
            return;
        };
        self.note_out(&packet);
        self.queue.on_served(&mut packet, &mut self.harness.at(self.now));
        self.bare.on_served(&mut packet, &mut self.bare_bench.at(self.now));
    }

    /// Dequeues a packet that the link holds.
    fn dequeue_held(&mut self) {
        let mut packet = Packet::default();
        let is_found = self.queue.dequeue_held_into(&mut packet, &mut self.harness.at(self.now));
        let bare = self.bare.dequeue(&mut self.bare_bench.at(self.now));
        assert_eq!(is_found.then_some(packet), bare, "holding changes nothing");
        if is_found {
            self.note_out(&packet);
            self.held.push_back(u32::from(packet.size));
        }
        self.report_to_bare();
    }

    /// Releases the oldest packet that the link holds.
    fn release(&mut self) {
        if let Some(size) = self.held.pop_front() {
            self.queue.release(1, Bytes(u64::from(size)), &mut self.harness.at(self.now));
            self.report_to_bare();
        }
    }

    fn report_to_bare(&mut self) {
        let bytes = self.held.iter().map(|size| u64::from(*size)).sum();
        let mut ctx = self.bare_bench.at(self.now);
        self.bare.on_held(self.held.len(), Bytes(bytes), &mut ctx);
    }

    fn note_out(&mut self, packet: &Packet) {
        let (size, flow, ecn, is_ack) = self.offered[packet.seq as usize];
        assert_eq!((packet.bytes().0, packet.flow), (u64::from(size), FlowId(flow)));
        let class = if self.separates_by_ecn { ecn as usize } else { 0 }
            + if self.separates_acks && is_ack { 4 } else { 0 };
        let last = &mut self.last_out[flow as usize][class];
        assert!(last.is_none_or(|last| last < packet.seq), "{last:?} before {}", packet.seq);
        *last = Some(packet.seq);
        self.bytes_out += u64::from(packet.size);
        self.packets_out += 1;
        self.measured.1 += 1;
    }

    /// Advances the time and performs every wake-up in between.
    fn pause(&mut self, nanos: u64) {
        let until = Time::from_nanos(self.now.as_nanos() + nanos);
        for _ in 0..100 {
            let due = self.queue.next_wakeup();
            if due > until {
                break;
            }
            assert!(due >= self.now, "a wake-up in the past");
            self.now = due;
            self.queue.wake_if_due(&mut self.harness.at(due));
            self.bare.on_wake(&mut self.bare_bench.at(due));
            self.check();
        }
        self.now = until;
        // The timer is once handled later than its expiry.
        if self.bare.next_wakeup() <= until {
            self.bare.on_wake(&mut self.bare_bench.at(until));
        }
        self.queue.wake_if_due(&mut self.harness.at(until));
    }

    fn check(&mut self) {
        for handle in std::mem::take(self.harness.bus().released()) {
            self.packets_dropped += 1;
            self.bytes_dropped += u64::from(self.offered[handle.0 as usize - 1].0);
        }
        let held = self.queue.backlog().0;
        assert_eq!(self.bytes_in, self.bytes_out + self.bytes_dropped + held, "bytes");
        let packets = self.queue.packets() as u64;
        let offered = self.offered.len() as u64;
        assert_eq!(offered, self.packets_out + self.packets_dropped + packets, "packets");
        assert_eq!(self.harness.counts().total(), self.packets_dropped);
        assert_eq!(self.harness.counts(), self.bare_bench.counts());
        assert_eq!(self.bare.packets() as u64, packets);
        assert_eq!(self.bare.backlog().0, held);
        assert_eq!(self.bare.next_wakeup(), self.queue.next_wakeup());
        assert_eq!(self.bare.peek().is_some(), packets > 0, "peek shows one of those that wait");
        assert_eq!(self.queue.is_empty(), packets == 0);
        assert_eq!(self.queue.occupancy(), self.queue.packets() + self.held.len());
        assert!(self.queue.next_wakeup() >= self.now, "a wake-up in the past");
        if self.now > self.measured_from {
            self.check_report(&self.queue.report(self.now));
        }
    }

    fn check_report(&self, report: &QueueReport) {
        let total: f64 = report.distribution.iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "the distribution adds up to {total}");
        assert!(report.distribution.iter().all(|share| (0.0..=1.0).contains(share)));
        let top = report.max_packets as f64;
        assert!(report.mean_packets() <= top * (1.0 + 1e-9) && report.mean_bytes <= top * 65_536.0);
        assert_eq!((report.arrived, report.departed), self.measured);
        assert!(report.mean_sojourn_s.is_none_or(|sojourn| sojourn >= 0.0));
    }
}

#[test]
fn every_built_in_discipline_has_descriptions() {
    for (kind, summary) in AnyQueue::BUILT_IN {
        assert!(!descriptions(kind).is_empty(), "{kind}");
        // Configurations with the values of the scenario classes are accepted.
        assert!(!samples("aqm", kind, |description| try_make(description).is_ok()).is_empty());
        assert!(summary.ends_with('.'), "{kind}: {summary}");
    }
}

#[test]
fn new_queue_is_empty() {
    for description in AnyQueue::BUILT_IN.iter().flat_map(|(kind, _)| with_kind(kind)) {
        let mut harness = TestHarness::default();
        let mut queue = make(&description);
        assert!(queue.dequeue(&mut harness.at(Time::ZERO)).is_none() && queue.peek().is_none());
        assert_eq!((queue.packets(), queue.backlog()), (0, Bytes::ZERO), "{description}");
        queue.on_wake(&mut harness.at(Time::ZERO));
    }
}

/// Returns a configuration of `kind` with a limit of 40 packets and no early drops.
fn with_limit_of_40(kind: &str) -> Value {
    let changes = match kind {
        "droptail" | "rem" => json!({"limit": {"packets": 40}}),
        "gred" => json!({"min_th": 19, "max_th": 20, "max_p": 0}),
        "sbd" => json!({"limit": 40, "min_th": 40, "alpha": 1}),
        "rlc-red" => json!({"limit": 40, "max_p": 0}),
        "clamp" => json!({"inner": {"kind": "droptail", "limit": {"packets": 40}}}),
        "ack-priority" => json!({"aqm": {"kind": "droptail", "limit": {"packets": 40}}}),
        "red" | "ared" => json!({"limit": 40, "max_p": 0, "weight": 1e-9}),
        _ => json!({"limit": 40}),
    };
    but(&with_kind(kind).next().expect("one at least"), changes)
}

/// Dequeues 25 of 40 packets without releasing them, and offers more packets, each of a separate
/// flow.
#[test]
fn every_limit_counts_held_packets() {
    let descriptions = AnyQueue::BUILT_IN.iter().map(|(kind, _)| with_limit_of_40(kind));
    for description in descriptions.chain([json!({"kind": "droptail", "limit": {"bytes": 60_000}})])
    {
        let mut harness = TestHarness::default();
        let mut queue = Queue::new(make(&description), QueueId(0));
        let mut offered = 0;
        let mut offer = |queue: &mut Queue, harness: &mut TestHarness, count: u32| {
            for _ in 0..count {
                offered += 1;
                let packet = Packet::data(FlowId(offered), 0, 1460, 40, Time::ZERO);
                queue.enqueue(&packet, &mut harness.at(Time::ZERO));
                assert!(queue.occupancy() <= 40, "{description}: {}", queue.occupancy());
            }
        };
        offer(&mut queue, &mut harness, 1000);
        assert_eq!((queue.packets(), queue.occupancy()), (40, 40), "{description}");
        let mut packet = Packet::default();
        for _ in 0..25 {
            assert!(queue.dequeue_held_into(&mut packet, &mut harness.at(Time::ZERO)));
        }
        offer(&mut queue, &mut harness, 1000);
        assert_eq!((queue.packets(), queue.occupancy()), (15, 40), "{description}");
        queue.release(5, Bytes(5 * 1500), &mut harness.at(Time::ZERO));
        assert_eq!((queue.packets(), queue.occupancy()), (15, 35), "{description}");
        offer(&mut queue, &mut harness, 1000);
        assert_eq!((queue.packets(), queue.occupancy()), (20, 40), "{description}");
    }
}

/// With 25 waiting ACKs there is space for 15 packets. After these, no further ACK is admitted,
/// except by FQ-CoDel, which drops from the longest queue.
#[test]
fn every_limit_counts_waiting_acks() {
    for (kind, _) in AnyQueue::BUILT_IN.iter().filter(|(kind, _)| *kind != "ack-priority") {
        let around = json!({"kind": "ack-priority", "aqm": with_limit_of_40(kind)});
        let (mut harness, mut queue) =
            (TestHarness::default(), Queue::new(make(&around), QueueId(0)));
        for (acks, data) in [(25, 1000), (1000, 0)] {
            for flow in 0..acks + data {
                let packet = if flow < acks {
                    Packet::ack(FlowId(flow), 0, 1000, 40)
                } else {
                    Packet::data(FlowId(flow), 0, 1460, 40, Time::ZERO)
                };
                queue.enqueue(&packet, &mut harness.at(Time::ZERO));
                assert!(queue.occupancy() <= 40, "{kind}: {}", queue.occupancy());
            }
            assert_eq!(queue.occupancy(), 40, "{kind}");
        }
        let left = std::iter::from_fn(|| queue.dequeue(&mut harness.at(Time::ZERO)));
        let acks = left.filter(|packet| packet.kind == PacketKind::Ack).count();
        assert_eq!(acks, if *kind == "fq-codel" { 40 } else { 25 }, "{kind}");
    }
}

/// The link dequeues one of four packets immediately and one after a second; after two seconds it
/// releases one.
#[test]
fn measured_length_counts_waiting_and_held_packets() {
    let mut harness = TestHarness::recording(Recorder::new(&[Series::Queue], Duration::ZERO));
    let mut queue =
        Queue::new(make(&json!({"kind": "droptail", "limit": {"packets": 40}})), QueueId(0));
    for _ in 0..4 {
        let packet = Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
        queue.enqueue(&packet, &mut harness.at(Time::from_secs(0)));
    }
    let mut packet = Packet::default();
    assert!(queue.dequeue_held_into(&mut packet, &mut harness.at(Time::from_secs(0))));
    assert!(queue.dequeue_held_into(&mut packet, &mut harness.at(Time::from_secs(1))));
    queue.release(1, Bytes(1500), &mut harness.at(Time::from_secs(2)));
    let report = queue.report(Time::from_secs(3));
    let third = 1.0 / 3.0;
    assert_eq!(report.distribution, [0.0, 0.0, 0.0, third, 2.0 * third]);
    assert_eq!((report.max_packets, report.arrived, report.departed), (4, 4, 2));
    assert!((report.mean_bytes - 5500.0).abs() < 1e-9, "{}", report.mean_bytes);
    // The second packet waited for one second, the first one did not wait.
    assert_eq!(report.mean_sojourn_s, Some(0.5));
    let lengths: Vec<f64> =
        harness.recorder().samples(Series::Queue).iter().map(|sample| sample.value).collect();
    assert_eq!(lengths, [1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 3.0]);
}

/// A plug-in discipline with its own packet store, which does not write arrival times into its
/// packets.
#[derive(Default)]
struct Plain(VecDeque<Packet>);

impl QueueDisc for Plain {
    fn enqueue(&mut self, packet: &Packet, _ctx: &mut Ctx<'_>) {
        self.0.push_back(*packet);
    }
    fn dequeue_into(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) -> bool {
        let Some(next) = self.0.pop_front() else { return false };
        *packet = next;
        true
    }
    fn peek(&self) -> Option<&Packet> {
        self.0.front()
    }
    fn state(&self) -> QueueState {
        let backlog = Bytes(self.0.iter().map(|packet| packet.bytes().0).sum());
        QueueState { packets: self.0.len(), backlog, next_wakeup: Time::NEVER }
    }
}

#[test]
fn sojourn_time_is_measured_with_any_store() {
    let mut harness = TestHarness::default();
    let mut queue = Queue::new(AnyQueue::plug_in(Box::new(Plain::default())), QueueId(0));
    let acknowledgement = Packet::ack(FlowId(1), 0, 1000, 40);
    for packet in [Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO), acknowledgement] {
        queue.enqueue(&packet, &mut harness.at(Time::from_secs(1)));
    }
    assert!(queue.dequeue(&mut harness.at(Time::from_secs(2))).is_some());
    assert!(queue.dequeue(&mut harness.at(Time::from_secs(4))).is_some());
    assert_eq!(queue.report(Time::from_secs(4)).mean_sojourn_s, Some(2.0));
}

#[test]
#[should_panic(expected = "released packets and bytes must be held")]
fn releasing_more_than_held_panics() {
    let mut queue =
        Queue::new(make(&json!({"kind": "droptail", "limit": {"packets": 1}})), QueueId(0));
    queue.release(1, Bytes(1500), &mut TestHarness::default().at(Time::ZERO));
}

#[test]
fn unknown_and_missing_keys_are_rejected() {
    let registry = Registry::default();
    for (kind, _) in AnyQueue::BUILT_IN {
        let mut surplus = with_kind(kind).next().expect("one at least");
        surplus["surplus"] = json!(1);
        for wrong in [surplus, json!({"kind": kind})] {
            let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
            assert!(AnyQueue::build(&wrong, setup).is_err(), "{wrong}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    // Two tests, so that two cores can run them in parallel.

    #[test]
    fn every_discipline_accounts_for_every_packet(
        steps in prop::collection::vec(step(), 1..200),
        first in prop::sample::select(vec![0, 2]),
    ) {
        check_accounting(&steps, first)?;
    }

    #[test]
    fn every_other_discipline_accounts_for_every_packet(
        steps in prop::collection::vec(step(), 1..200),
        first in prop::sample::select(vec![1, 3]),
    ) {
        check_accounting(&steps, first)?;
    }
}

/// Checks every fourth description, starting with number `first`.
fn check_accounting(steps: &[Step], first: usize) -> Result<(), TestCaseError> {
    let all = AnyQueue::BUILT_IN.iter().flat_map(|(kind, _)| with_kind(kind));
    for description in all.skip(first).step_by(4) {
        let mut ledger = Ledger::new(&description);
        for step in steps {
            ledger.take(*step);
        }
        // Dequeues the remaining packets.
        for _ in 0..=ledger.queue.packets() {
            ledger.take(Step::Dequeue);
        }
        prop_assert_eq!(ledger.queue.packets(), 0, "{}", description);
    }
    Ok(())
}
