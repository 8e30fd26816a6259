//! Tests of the complete link with traffic in both directions: losses, bursts, resets, rate
//! changes, and drivers that call the link late.

use super::settings::one_of;
use crate::{AnyLink, DirectionContext, Link, LinkContext};
use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Control, DropReason, Duration, FlowId, Packet, PayloadHandle, Port, QueueId, Rate,
    Registries, Registry, Seed, Setup, Stage, Stream, Time, testing::TestHarness,
};
use airpath_phy::errors::{ErrorProcess, ErrorsRegistry, Frame};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const MS: u64 = 1_000_000;
/// Number of TTIs that are simulated with one set of parameters.
const TTIS_OF_A_SETTING: u64 = 5_000;

/// Error process with random losses. It can be switched to a state without losses.
struct Switched {
    stream: Stream,
    loss: [f64; 2],
    is_bad: bool,
    is_clean: Arc<AtomicBool>,
}

impl ErrorProcess for Switched {
    fn corrupts(&mut self, _frame: &Frame) -> bool {
        self.is_bad ^= self.stream.bernoulli(if self.is_bad { 0.1 } else { 0.01 });
        let is_lost = self.stream.bernoulli(self.loss[usize::from(self.is_bad)]);
        is_lost && !self.is_clean.load(Ordering::Relaxed)
    }
}

fn queue(packets: u64) -> Queue {
    let registry = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
    let droptail = json!({"kind": "droptail", "limit": {"packets": packets}});
    Queue::new(AnyQueue::build(&droptail, setup).expect("a queue"), QueueId(0))
}

/// Returns a random configuration of a link, including timers and windows.
fn description(stream: &mut Stream) -> Value {
    let timers = [1, 10 * MS, 25 * MS, 60 * MS, 300 * MS];
    // With a window of few PDUs per round trip, small PDUs would take hours.
    let [window, pdu_payload] =
        one_of(stream, &[[1, 300], [2, 300], [8, 40], [64, 40], [1024, 2], [1024, 40], [2047, 40]]);
    json!({
        "kind": "rlc-am", "rate_bps": 384_000,
        "reverse_rate_bps": one_of(stream, &[None, Some(64_000)]),
        "tti_ns": 10 * MS, "latency_ns": one_of(stream, &[10 * MS, 25 * MS, 70 * MS]),
        "reverse_latency_ns": one_of(stream, &[None, Some(31 * MS)]),
        "pdu_payload": pdu_payload, "window": window,
        "max_dat": one_of(stream, &[2, 3, 10, 255]),
        "on_max_dat": one_of(stream, &["discard", "reset"]),
        "poll_timer_ns": one_of(stream, &timers), "poll_window": one_of(stream, &[0.01, 0.5, 1.0]),
        "window_poll": one_of(stream, &["every", "timed"]),
        "poll_stop": one_of(stream, &["answer", "report"]), "nack_guard": stream.bernoulli(0.7),
        "status_prohibit_ns": one_of(stream, &[0, 10 * MS, 60 * MS, 300 * MS]),
        "last_pdu_poll": true, "last_retransmission_poll": true,
        "missing_pdu_indicator": stream.bernoulli(0.7), "concatenation": stream.bernoulli(0.7),
        "mrw_timer_ns": one_of(stream, &timers), "reset_timer_ns": one_of(stream, &timers),
        "errors": {"kind": "switched"},
    })
}

/// Arrival time of a packet, and the numbers of its deliveries and drops.
#[derive(Clone, Copy, Debug)]
struct PacketOutcome {
    size: u32,
    offered: Time,
    delivered: u32,
    dropped: u32,
}

/// Drives a link in both directions and checks that every packet is delivered, dropped or held.
struct Ledger {
    harness: TestHarness,
    link: AnyLink,
    stream: Stream,
    is_clean: Arc<AtomicBool>,
    now: Time,
    /// Largest delay of a wake-up.
    lateness: u64,
    packets: Vec<PacketOutcome>,
    /// Time from the start of a TTI to the arrival of its PDUs.
    latency: [u64; 2],
    last: [Option<u64>; 2],
    inside: usize,
    /// Log of events: time, and number of the delivered packet if any.
    trace: Vec<(Time, Option<u64>)>,
    description: Value,
}

impl Ledger {
    fn new(seed: u64, lateness: u64) -> Ledger {
        let mut stream = Stream::new(seed, 0, "duplex");
        let description = description(&mut stream);
        let loss = one_of(&mut stream, &[[0.0, 0.0], [0.1, 0.1], [0.6, 0.6], [0.0, 1.0]]);
        Ledger::with(description, stream, loss, 40, lateness)
    }

    fn with(
        description: Value,
        stream: Stream,
        loss: [f64; 2],
        limit: u64,
        lateness: u64,
    ) -> Ledger {
        let is_clean = Arc::new(AtomicBool::new(false));
        let mut errors = ErrorsRegistry::default();
        let shared = Arc::clone(&is_clean);
        errors.register("switched", move |_, setup| {
            let (stream, is_clean) = (setup.seed.stream(), Arc::clone(&shared));
            Ok(Box::new(Switched { stream, loss, is_bad: false, is_clean }))
        });
        let context = LinkContext {
            reverse: Some(DirectionContext::of(queue(limit), Port(1))),
            registries: Registries::default().with(errors),
            ..LinkContext::new(DirectionContext::of(queue(limit), Port(0)))
        };
        let links = Registry::default();
        let setup = Setup {
            seed: Seed::new(stream.clone().next_u64(), 0, "link"),
            registry: &links,
            extra: context,
        };
        let forward = description["latency_ns"].as_u64().expect("the description has this field");
        let latency = [forward, description["reverse_latency_ns"].as_u64().unwrap_or(forward)];
        let mut ledger = Ledger {
            harness: TestHarness::default(),
            link: AnyLink::build(&description, setup).expect("a link"),
            stream,
            is_clean,
            now: Time::ZERO,
            lateness,
            packets: Vec::new(),
            latency,
            last: [None; 2],
            inside: 0,
            trace: Vec::new(),
            description,
        };
        ledger.control(&Control::Begin);
        ledger
    }

    fn control(&mut self, event: &Control) {
        self.link.control(event, &mut self.harness.at(self.now));
        self.check();
    }

    fn arrive(&mut self, side: u8, size: u32) {
        if self.link.next_wakeup() <= self.now {
            self.wake();
        }
        let number = 2 * self.packets.len() as u64 + u64::from(side);
        let mut packet = Packet::datagram(FlowId(0), number, Bytes(u64::from(size)), self.now);
        packet.set_payload(PayloadHandle(self.packets.len() as u32 + 1));
        self.packets.push(PacketOutcome { size, offered: self.now, delivered: 0, dropped: 0 });
        self.inside += 1;
        self.link.receive(Port(side), &packet, &mut self.harness.at(self.now));
        self.check();
    }

    fn wake(&mut self) {
        self.link.wake(&mut self.harness.at(self.now));
        self.check();
    }

    /// Advances the time to `until`, without the events that are due at `until`.
    fn pass(&mut self, until: Time) {
        let mut wakeups = 0;
        while self.link.next_wakeup() < until {
            let late = (self.stream.uniform() * self.lateness as f64) as u64;
            let due = self.link.next_wakeup().max(self.now);
            self.now = (due + Duration::from_nanos(late)).min(until);
            self.wake();
            wakeups += 1;
            assert!(wakeups < 1_000_000, "it never sleeps: {}", self.description);
        }
        self.now = until;
    }

    /// Performs random events for a few hundred TTIs, up to `until`.
    fn exchange_randomly(&mut self, until: Time) {
        while self.now < until {
            match (self.stream.uniform() * 20.0) as u32 {
                0..=9 => {
                    let side = u8::from(self.stream.bernoulli(0.5));
                    let size = 1 + (self.stream.uniform() * 3000.0) as u32;
                    self.arrive(side, size);
                }
                10 => {
                    let kbps = one_of(&mut self.stream, &[0, 1, 10, 64, 384, 10_000]);
                    self.control(&Control::Rate(Rate(kbps * 1000)));
                }
                11 => self.control(&Control::StartMeasurement),
                12..=15 => {
                    // Advances to the start of a TTI, before the events that are due at this time.
                    let ttis = 1 + (self.stream.uniform() * 10.0) as u64;
                    let tti = self.now.as_nanos() / (10 * MS) + ttis;
                    self.pass(Time::from_nanos(10 * MS * tti));
                }
                _ => {
                    let pause = (self.stream.uniform() * 2e8) as u64;
                    self.pass(self.now + Duration::from_nanos(pause));
                }
            }
        }
    }

    /// Switches to an error-free channel and to the rate of a bearer. All packets must then leave
    /// the link.
    fn drain(&mut self) {
        self.is_clean.store(true, Ordering::Relaxed);
        self.control(&Control::Rate(Rate(384_000)));
        let pause = Duration::from_secs(400);
        let until = self.now + pause;
        while self.inside > 0 && self.now < until {
            self.pass(self.now + Duration::from_secs(1));
        }
        assert_eq!(self.inside, 0, "still inside after {pause:?}: {}", self.description);
        assert_eq!(self.link.held(), 0);
        for outcome in &self.packets {
            assert_eq!(outcome.delivered + outcome.dropped, 1, "{outcome:?}");
        }
        self.is_clean.store(false, Ordering::Relaxed);
    }

    /// Checks the invariants of a link.
    fn check(&mut self) {
        for (port, packet) in self.harness.sent() {
            let (side, place) = (usize::from(port.0), packet.payload().0 as usize - 1);
            assert_eq!(packet.seq, 2 * place as u64 + side as u64, "left by the wrong output");
            let outcome = &mut self.packets[place];
            assert_eq!(u32::from(packet.size), outcome.size);
            outcome.delivered += 1;
            let taken = self.now.saturating_since(outcome.offered).as_nanos();
            assert!(
                taken >= self.latency[side],
                "faster than the radio: {outcome:?} at {:?}",
                self.now
            );
            assert!(self.last[side].is_none_or(|last| last < packet.seq), "out of order");
            self.last[side] = Some(packet.seq);
            self.inside -= 1;
            self.trace.push((self.now, Some(packet.seq)));
        }
        for handle in std::mem::take(self.harness.bus().released()) {
            self.packets[handle.0 as usize - 1].dropped += 1;
            self.inside -= 1;
            self.trace.push((self.now, None));
        }
        assert_eq!(self.link.held(), self.inside, "{}", self.description);
        let next = self.link.next_wakeup();
        assert!(self.lateness > 0 || next >= self.now, "a wake-up in the past");
    }

    fn lost(&mut self) -> u64 {
        self.harness.counts().dropped[DropReason::Retries as usize]
    }
}

fn run(seed: u64, lateness: u64, ttis: u64) -> Ledger {
    let mut ledger = Ledger::new(seed, lateness);
    let mut left = ttis;
    while left > 0 {
        let stretch = one_of(&mut ledger.stream, &[10, 100, 1000]).min(left);
        ledger.exchange_randomly(ledger.now + Duration::from_nanos(stretch * 10 * MS));
        ledger.drain();
        left -= stretch;
    }
    ledger
}

fn run_all(first_seed: u64, lateness: u64, settings: u64) {
    let mut lost = 0;
    for seed in first_seed..first_seed + settings {
        lost += run(seed, lateness, TTIS_OF_A_SETTING).lost();
    }
    assert!(lost > 5 * settings, "{lost} SDUs given up");
}

#[test]
fn invariants_hold_with_losses_in_both_directions() {
    run_all(0, 0, 20);
}

#[test]
fn invariants_hold_with_driver_up_to_200_ms_late() {
    run_all(10_000, 200 * MS, 20);
}

#[test]
#[ignore = "minutes"]
fn invariants_hold_for_a_million_ttis() {
    run_all(0, 0, 200);
    run_all(10_000, 200 * MS, 200);
}

#[test]
fn equal_seeds_give_equal_traces() {
    for seed in 0..10 {
        let (first, second) = (run(seed, 0, 1000), run(seed, 0, 1000));
        assert!(first.trace.len() > 100);
        assert_eq!(first.trace, second.trace);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The runs are short, so that a failing case is short.
    #[test]
    fn packets_are_delivered_dropped_or_held(
        seed in any::<u64>(),
        lateness in prop_oneof![Just(0), 0..200 * MS],
        ttis in 1u64..300,
    ) {
        run(seed, lateness, ttis);
    }
}

/// Regression test for an error in which a report stopped Timer_Poll although the NACK guard
/// ignored this report for the polling PDU, so that this PDU was not retransmitted. If the rest of
/// the window was lost, no poll followed.
#[test]
fn ignored_report_does_not_stop_timer_poll() {
    run(13_220_775_027_869_882_796, 52_131_650, 21);
}

/// There are 400 reports on the air: each TTI carries one SDU with one PDU, each PDU polls, and the
/// latency of the radio link is 4 s.
#[test]
fn long_latency_keeps_reports_separate() {
    let mut stream = Stream::new(0, 0, "duplex");
    let mut description = description(&mut stream);
    for (key, value) in [
        ("latency_ns", json!(4000 * MS)),
        ("reverse_latency_ns", json!(4000 * MS)),
        ("reverse_rate_bps", json!(null)),
        ("pdu_payload", json!(40)),
        ("window", json!(2047)),
        ("status_prohibit_ns", json!(0)),
        ("poll_timer_ns", json!(9000 * MS)),
    ] {
        description[key] = value;
    }
    let mut ledger = Ledger::with(description, stream, [0.0, 0.0], 1000, 0);
    for tti in 0..3000 {
        if tti == 1500 {
            ledger.control(&Control::StartMeasurement);
        }
        ledger.arrive(0, 40);
        ledger.pass(ledger.now + Duration::from_millis(10));
    }
    // The SDU is sent immediately and acknowledged 8 s later.
    let occupancy = ledger.link.reports(ledger.now)[0].queues[0].mean_packets();
    assert!((800.0..=801.0).contains(&occupancy), "{occupancy}");
    ledger.drain();
    assert_eq!(ledger.lost(), 0);
}
