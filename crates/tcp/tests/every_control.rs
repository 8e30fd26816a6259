//! Invariants of every congestion control algorithm.
//!
//! A new built-in algorithm is tested automatically, with the sample parameters from its Python
//! class.

use crate::random_channel::{every_byte_arrives_once_with, options, treatments};
use airpath_conformance::{cases, samples};
use airpath_core::{ConfigError, Duration, Seed, Setup, Time};
use airpath_tcp::congestion::{
    AckEvent, AnyCongestion, CongestionControl, CongestionRegistry, CongestionSetup, IdleEvent,
    InflightSample, LossEvent, LostSegment, RateSample, RecoveryPhase, UndoEvent,
};
use airpath_tcp::{EcnUse, RecoveryKind, StackVariant, TcpConfig};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;

const MSS: u64 = 1000;

fn try_build(description: &Value) -> Result<AnyCongestion, ConfigError> {
    build_with(description, TcpConfig { mss: MSS as u32, ..TcpConfig::rfc() })
}

fn build_with(description: &Value, options: TcpConfig) -> Result<AnyCongestion, ConfigError> {
    let registry = CongestionRegistry::default();
    let extra = CongestionSetup { options: options.into() };
    let setup = Setup { seed: Seed::new(1, 0, "congestion"), registry: &registry, extra };
    AnyCongestion::build(description, setup)
}

/// Algorithm with accepted parameters.
struct Sample {
    description: Value,
    /// False if the window also follows other events than growth and reductions: the price of CLAMP,
    /// and the model of the path in algorithms that set the window in recoveries.
    follows_losses: bool,
}

/// Every algorithm with its sample parameters, accepted extremes included.
static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let accepts = |description: &Value| try_build(description).is_ok();
    let kinds = AnyCongestion::BUILT_IN.iter();
    let descriptions = kinds.flat_map(|(kind, _)| samples("congestion", kind, accepts));
    let sample = |description| {
        let cc = try_build(&description).expect("it was accepted");
        let follows_losses = description["kind"] != "clamp" && !cc.sets_window_in_recovery();
        Sample { description, follows_losses }
    };
    descriptions.map(sample).collect()
});

/// Returns every algorithm with the defaults of its Python class.
fn defaults() -> impl Iterator<Item = Value> {
    let first = |kind: &str| samples("congestion", kind, |_| true).swap_remove(0);
    AnyCongestion::BUILT_IN.iter().map(move |(kind, _)| first(kind))
}

/// One event of a connection.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// ACK of several segments with an RTT in µs. The flag is true if the sender is
    /// application-limited.
    Ack(u64, Option<u64>, bool),
    Duplicate,
    /// Fast retransmit, and its recovery after several ACKs.
    Loss(u64),
    Timeout,
    Echo,
    Idle,
    /// The last reduction was spurious.
    Undo,
}

/// Connection that drives an algorithm with events in a possible order.
struct Connection {
    cc: AnyCongestion,
    sample: &'static Sample,
    now: Time,
    phase: RecoveryPhase,
    ack: u64,
    /// Window and ssthresh before the last reduction, bytes.
    before: Option<(u64, u64)>,
    /// Bytes delivered and lost, and bytes lost since the last ACK.
    delivered: u64,
    lost: u64,
    newly_lost: u64,
}

impl Connection {
    fn ack(&mut self, segments: u64, rtt: Option<u64>, app_limited: bool) {
        let acked = segments * MSS;
        self.ack += acked;
        let may_grow = segments > 0 && self.phase != RecoveryPhase::Recovery;
        let (flight, delivered) = (self.cc.cwnd(), acked.max(MSS));
        let before = self.cc.cwnd();
        let (rate, inflight) = self.samples(delivered, rtt, app_limited);
        self.cc.on_ack(&AckEvent {
            phase: self.phase,
            growth: may_grow.then_some(acked),
            ack: self.ack,
            sent: self.ack + flight,
            delivered,
            duplicate: segments == 0,
            in_flight: flight,
            rtt: rtt.map(|micros| Duration::from_nanos(1000 * micros)),
            app_limited,
            rate,
            inflight,
            ..AckEvent::of_new_data(self.now, acked)
        });
        if !may_grow && self.sample.follows_losses {
            let description = &self.sample.description;
            assert!(self.cc.cwnd() <= before, "{description}: the window grows without permission");
        }
    }

    /// Samples of an ACK, for algorithms that use them. The acknowledged segment was sent a window
    /// ago.
    fn samples(
        &mut self,
        delivered: u64,
        rtt: Option<u64>,
        app_limited: bool,
    ) -> (Option<RateSample>, Option<InflightSample>) {
        if !self.cc.needs_rate_samples() {
            return (None, None);
        }
        self.delivered += delivered;
        let rtt = rtt.map(|micros| Duration::from_nanos(1000 * micros));
        let prior_delivered = self.delivered.saturating_sub(self.cc.cwnd().max(delivered));
        let newly_lost = std::mem::take(&mut self.newly_lost);
        let rate = rtt.map(|interval| RateSample {
            delivered: self.delivered - prior_delivered,
            interval,
            prior_delivered,
            total_delivered: self.delivered,
            tx_in_flight: self.cc.cwnd(),
            lost: newly_lost,
            app_limited,
        });
        let inflight = InflightSample {
            bytes: self.cc.cwnd() / 2,
            prior_bytes: self.cc.cwnd() / 2 + delivered + newly_lost,
            newly_lost,
            total_delivered: self.delivered,
            total_lost: self.lost,
            rtt,
        };
        (rate, Some(inflight))
    }

    /// Deems a segment lost, for algorithms that use rate samples.
    fn lose(&mut self) {
        if self.cc.needs_rate_samples() {
            (self.lost, self.newly_lost) = (self.lost + MSS, self.newly_lost + MSS);
            self.cc.on_segment_lost(&LostSegment {
                start: self.ack,
                bytes: MSS,
                total_delivered: self.delivered,
                tx_in_flight: self.cc.cwnd().max(MSS),
                lost: self.newly_lost,
                app_limited: false,
            });
        }
    }

    fn loss(&self) -> LossEvent {
        LossEvent::new(self.now, self.cc.cwnd(), self.cc.cwnd())
    }

    fn handle(&mut self, event: Event) {
        let (cwnd, ssthresh) = (self.cc.cwnd(), self.cc.ssthresh());
        match event {
            Event::Ack(segments, rtt, app_limited) => {
                if self.phase == RecoveryPhase::Loss && segments > 2 {
                    self.phase = RecoveryPhase::Open;
                }
                self.ack(segments, rtt, app_limited);
            }
            Event::Duplicate => self.ack(0, None, false),
            Event::Loss(acks) if self.phase == RecoveryPhase::Open => {
                self.cc.on_loss(&self.loss());
                self.before = Some((cwnd, ssthresh));
                (0..=acks).for_each(|_| self.lose());
                self.phase = RecoveryPhase::Recovery;
                (0..acks).for_each(|_| self.ack(0, None, false));
                self.phase = RecoveryPhase::Open;
                self.cc.on_recovered(u64::MAX / 2);
                self.ack(1, None, false);
            }
            Event::Timeout => {
                self.cc.on_rto(&self.loss());
                self.lose();
                self.before = Some((cwnd, ssthresh));
                self.phase = RecoveryPhase::Loss;
            }
            Event::Echo if self.phase == RecoveryPhase::Open && cwnd >= 2 * MSS => {
                self.cc.on_ecn(&self.loss());
                assert!(self.cc.cwnd() <= cwnd, "the window grows after an echo");
            }
            Event::Idle => {
                self.phase = RecoveryPhase::Open;
                self.before = None;
                self.cc.on_idle(&IdleEvent { now: self.now, cwnd, ssthresh: 0 });
            }
            Event::Undo => {
                if let Some((cwnd, ssthresh)) = self.before.take() {
                    self.phase = RecoveryPhase::Open;
                    let ssthresh = ssthresh.max(cwnd / 4 * 3);
                    self.cc.on_undo(&UndoEvent { now: self.now, cwnd, ssthresh });
                }
            }
            Event::Loss(_) | Event::Echo => {}
        }
    }
}

/// Returns the window after each event.
fn windows(sample: &'static Sample, events: &[(u64, Event)]) -> Vec<u64> {
    let description = &sample.description;
    let mut connection = Connection {
        cc: try_build(description).expect("it was accepted"),
        sample,
        now: Time::ZERO,
        phase: RecoveryPhase::Open,
        ack: 0,
        before: None,
        delivered: 0,
        lost: 0,
        newly_lost: 0,
    };
    connection.cc.on_open(Time::ZERO, Some(Duration::from_millis(40)));
    let window = |&(wait, event): &(u64, Event)| {
        connection.now = connection.now + Duration::from_nanos(1000 * wait);
        connection.handle(event);
        let cwnd = connection.cc.cwnd();
        assert!(cwnd >= MSS / 2, "{description}: a window of {cwnd} bytes after {event:?}");
        assert!(cwnd < 1 << 50, "{description}: a window of {cwnd} bytes after {event:?}");
        cwnd
    };
    events.iter().map(window).collect()
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let rtt = prop::option::of(prop_oneof![1u64..500_000, Just(0), 1u64..100_000_000]);
    let event = prop_oneof![
        30 => (1u64..5, rtt, any::<bool>())
            .prop_map(|(segments, rtt, limited)| Event::Ack(segments, rtt, limited)),
        3 => Just(Event::Duplicate),
        2 => (0u64..20).prop_map(Event::Loss),
        1 => Just(Event::Timeout),
        1 => Just(Event::Echo),
        1 => Just(Event::Idle),
        1 => Just(Event::Undo),
    ];
    let wait = prop_oneof![9 => 0u64..20_000, 1 => 0u64..10_000_000];
    prop::collection::vec((wait, event), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 8,
        ..ProptestConfig::default()
    })]
    #[test]
    fn window_stays_in_its_range_and_algorithms_are_deterministic(events in events()) {
        for sample in SAMPLES.iter() {
            let once = windows(sample, &events);
            prop_assert_eq!(once, windows(sample, &events), "{}", sample.description);
        }
    }
}

/// Returns `options` with the recovery that the algorithm requires. The feedback is that of RFC 3168
/// or accurate, which selects the scalable part of Prague.
fn options_for(description: &Value, options: TcpConfig) -> TcpConfig {
    let needs_sack = try_build(description).is_ok_and(|cc| cc.sets_window_in_recovery());
    let ecn = match options.ecn {
        EcnUse::Off | EcnUse::On => options.ecn,
        _ if options.stack == StackVariant::Ns3 => EcnUse::On,
        _ => EcnUse::Accurate,
    };
    match needs_sack {
        true => {
            TcpConfig { ecn, recovery: RecoveryKind::Sack, stack: StackVariant::Rfc, ..options }
        }
        false => TcpConfig { ecn, ..options },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(40), failure_persistence: None, ..Default::default() })]

    /// Every byte arrives once and the transfer ends, with every algorithm and all options, over a
    /// channel that loses, marks, duplicates and delays packets.
    #[test]
    fn every_byte_arrives_once_with_every_algorithm(
        options in options(), treatments in treatments(), tenths in 1u64..800, one_way in 0u64..120,
    ) {
        for description in defaults() {
            let options = options_for(&description, options.clone());
            let congestion = build_with(&description, options.clone()).expect("it was accepted");
            let treatments = treatments.clone();
            every_byte_arrives_once_with(congestion, &options, treatments, tenths, one_way)
                .map_err(|error| TestCaseError::fail(format!("{description}: {error}")))?;
        }
    }
}

/// After an undo the window is at least as large as before the reduction.
#[test]
fn undo_restores_at_least_the_window_before_the_reduction() {
    for sample in SAMPLES.iter().filter(|sample| sample.follows_losses) {
        let description = &sample.description;
        for reduction in [Event::Loss(3), Event::Timeout] {
            let growth = (0..200).map(|_| (1000, Event::Ack(1, Some(40_000), false)));
            let events: Vec<_> = growth.chain([(1000, reduction), (1000, Event::Undo)]).collect();
            let windows = windows(sample, &events);
            let [.., before, _, after] = windows[..] else { panic!("three windows") };
            assert!(after >= before, "{description}: {before} B before, {after} B after the undo");
        }
    }
}
