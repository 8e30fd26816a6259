//! Tests that compare a cell with closed forms and numerical integration, for single slots and for
//! saturated users. A property test checks the packet counts under random arrivals.

use airpath_aqm::{AnyQueue, Queue};
use airpath_conformance::{Law, cases, samples};
use airpath_core::{
    Bytes, Component, ConfigError, Control, Duration, FlowId, Packet, Port, QueueId, Rate,
    Registries, Registry, Seed, Setup, Stage, Stream, Time, testing::TestHarness,
};
use airpath_link::scheduler::AnyScheduler;
use airpath_link::{Cell, DirectionContext, Link, LinkContext, SideReport, Users};
use airpath_phy::snr::{Sample, SnrProcess, SnrRegistry};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::Cell as Counter;
use std::sync::Arc;

const MS: u64 = 1_000_000;
/// Slot length of the paper, ns.
pub(crate) const SLOT: u64 = 3 * MS;
/// Bandwidth W, Hz, and largest rate C, bit/s, of the paper.
const BANDWIDTH: f64 = 4.3e6;
const CAP: u64 = 10_000_000;
/// Mean SNR of the `independent` process, a power ratio.
pub(crate) const MEAN: f64 = 4.0;

/// Cell of the paper, modified by `changes`.
fn description(changes: Value) -> Value {
    let mut cell = json!({
        "slot_ns": SLOT, "attempts": 15, "margin": 0,
        "rate": {"kind": "shannon", "bandwidth_hz": BANDWIDTH, "cap_bps": CAP},
        "scheduler": {"kind": "round-robin"},
        "snr": {"kind": "independent"},
    });
    for (key, value) in changes.as_object().expect("a table") {
        cell[key] = value.clone();
    }
    cell
}

/// Exponential SNR of mean 4, independent between slots and constant within a slot.
struct Independent(u64);

impl SnrProcess for Independent {
    fn sample(&mut self, _at: Time) -> Sample {
        unreachable!("a cell asks by slots")
    }

    fn at_slot_start(&mut self, slot: u64, _length: Duration) -> f64 {
        -MEAN * (1.0 - Stream::new(self.0, slot, "snr").uniform()).ln()
    }

    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        self.at_slot_start(slot, length)
    }
}

/// Creates a cell of `users` users, each with a separate flow and queue.
fn build(description: Value, queue: Value, users: u32, seed: u64) -> Cell {
    let mut snr = SnrRegistry::default();
    snr.register("independent", |_, setup| {
        Ok(Box::new(Independent(setup.seed.stream().next_u64())))
    });
    snr.register("shared", |_, setup| {
        let shared = setup.extra.shared.expect("a cell has users");
        Ok(Box::new(Independent(shared.stream().next_u64())))
    });
    let made = Counter::new(0);
    let make = move |_: Option<&str>| -> Result<Queue, ConfigError> {
        made.set(made.get() + 1);
        let (seed, registry) = (Seed::new(seed, made.get(), "queue"), &Registry::default());
        let disc = AnyQueue::build(&queue, Setup { seed, registry, extra: () })?;
        Ok(Queue::new(disc, QueueId(made.get() as u32 - 1)))
    };
    let context = LinkContext {
        users: Users::new((0..users).map(|_| None)),
        files: Arc::new(crate::cell_mcs::files()),
        registries: Registries::default().with(snr),
        ..LinkContext::new(DirectionContext::new(Port(0), make))
    };
    let config = serde_json::from_value(description).expect("a description");
    let (seed, registry) = (Seed::new(seed, 0, "link"), &Registry::default());
    Cell::build(config, Setup { seed, registry, extra: context }).expect("a cell")
}

fn droptail(packets: u64) -> Value {
    json!({"kind": "droptail", "limit": {"packets": packets}})
}

fn packet(user: u32, seq: u64, now: Time) -> Packet {
    Packet::datagram(FlowId(user), seq, Bytes(1500), now)
}

/// Returns the measurements from slot `from` to slot `until`, with users whose queues are never
/// empty.
pub(crate) fn saturated(
    changes: Value,
    users: u32,
    seed: u64,
    [from, until]: [u64; 2],
) -> SideReport {
    let mut cell = build(description(changes), droptail(1000), users, seed);
    let mut harness = TestHarness::default();
    cell.control(&Control::Begin, &mut harness.at(Time::ZERO));
    for seq in 0..40 {
        for user in 0..users {
            cell.receive(Port(0), &packet(user, seq, Time::ZERO), &mut harness.at(Time::ZERO));
        }
    }
    for slot in 1..=until {
        let now = Time::from_nanos(slot * SLOT);
        let lost = |cell: &Cell| cell.reports(now).remove(0).link.lost_packets;
        cell.wake(&mut harness.at(now));
        for (_, sent) in harness.sent() {
            let next = packet(sent.flow.0, sent.seq + 40, now);
            cell.receive(Port(0), &next, &mut harness.at(now));
        }
        if slot == from {
            cell.control(&Control::StartMeasurement, &mut harness.at(now));
        }
        debug_assert!(slot % 1000 != 0 || lost(&cell) == 0, "nothing is given up");
    }
    cell.reports(Time::from_nanos(until * SLOT)).remove(0)
}

/// Bessel function J0, by its series; accurate up to 6.
fn bessel_j0(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..40 {
        term *= -(x / 2.0) * (x / 2.0) / f64::from(n * n);
        sum += term;
    }
    sum
}

const SLOT_ERRORS: Law = Law {
    area: "Fading cell",
    source: "Rayleigh fading, no largest rate: a slot fails with ½[1 − m/√((2 − m)² − 4ρ(1 − m))], ρ = J0²(2π f_d τ)",
    allows: "five standard deviations, and 64 waves of 300 channels",
};

/// The SNRs N and N′ at two times are exponential with the correlation ρ. Returns P(N′ < (1 − m)N).
fn slot_error_rate(margin: f64, doppler_hz: f64) -> f64 {
    let j0 = bessel_j0(std::f64::consts::TAU * doppler_hz * SLOT as f64 / 1e9);
    let root = ((2.0 - margin).powi(2) - 4.0 * j0 * j0 * (1.0 - margin)).sqrt();
    0.5 * (1.0 - margin / root)
}

/// Returns the fraction of failed slots for isolated packets. The time between packets is long, so
/// that the channel states are independent.
fn failing(margin: f64, doppler_hz: f64, channels: u64, packets: u64) -> f64 {
    let gap = (6.0 / doppler_hz * 1e9) as u64 / SLOT * SLOT;
    let changes = json!({
        "attempts": 1, "margin": margin,
        "rate": {"kind": "shannon", "bandwidth_hz": BANDWIDTH},
        "snr": {"kind": "rayleigh", "mean_db": 10.0 * MEAN.log10(), "doppler_hz": doppler_hz},
    });
    let mut failed = 0;
    for seed in 0..channels {
        let mut cell = build(description(changes.clone()), droptail(9), 1, seed);
        let mut harness = TestHarness::default();
        for seq in 0..packets {
            let now = Time::from_nanos(seq * gap);
            let small = Packet::datagram(FlowId(0), seq, Bytes(1), now);
            cell.receive(Port(0), &small, &mut harness.at(now));
            cell.wake(&mut harness.at(now));
            cell.wake(&mut harness.at(Time::from_nanos(seq * gap + SLOT)));
        }
        failed += harness.counts().total();
    }
    failed as f64 / (channels * packets) as f64
}

/// Margin, Doppler frequency (Hz), tolerance, fraction of failed slots.
const FAILING: [(f64, f64, f64, f64); 4] = [
    (0.0, 60.0, 0.01, 0.5),
    (0.5, 60.0, 0.01, 0.2769),
    (0.8, 60.0, 0.02, 0.1082),
    (0.02, 0.6, 0.02, 0.1080),
];

fn assert_failing(points: &[(f64, f64, f64, f64)]) {
    for &(margin, doppler_hz, tolerance, rounded) in points {
        let expected = slot_error_rate(margin, doppler_hz);
        assert!((expected - rounded).abs() < 6e-5, "{expected}");
        let measured = failing(margin, doppler_hz, 300, 2000);
        let what = format!("slots that fail, m = {margin}, f_d = {doppler_hz} Hz");
        SLOT_ERRORS.close_relative(what, "1", measured, expected, tolerance);
    }
}

#[test]
fn slot_error_rate_matches_slow_rayleigh_fading() {
    assert_failing(&FAILING[3..]);
}

#[test]
#[ignore = "minutes"]
fn slot_error_rate_matches_fast_rayleigh_fading() {
    assert_failing(&FAILING[..3]);
}

const DIVERSITY: Law = Law {
    area: "Fading cell",
    source: "Independent exponential SNRs, no errors: mean rates of round robin and of proportional fairness, by quadrature",
    allows: "five standard deviations of 250 000 slots",
};

/// Returns the rate of all users, Mbit/s, and the largest deviation of a user from an equal share.
fn rates(changes: Value, users: u32) -> (f64, f64) {
    let slots = [20_000, 270_000];
    let report = saturated(changes, users, u64::from(users), slots);
    let seconds = ((slots[1] - slots[0]) * SLOT) as f64 / 1e9;
    let mbps = |bytes: u64| bytes as f64 * 8e-6 / seconds;
    let of: Vec<f64> = report.users.iter().map(|user| mbps(user.delivered_bytes)).collect();
    let (sum, count) = (of.iter().sum::<f64>(), f64::from(users));
    let apart = of.iter().map(|rate| (rate * count / sum - 1.0).abs()).fold(0.0, f64::max);
    assert!(report.users.iter().all(|user| user.slot_error_rate == Some(0.0)));
    (sum, apart)
}

fn proportional_fair(changes: &Value) -> Value {
    let mut changes = changes.clone();
    changes["scheduler"] = json!({"kind": "proportional-fair", "time_constant_ns": 3000 * MS});
    changes
}

/// Checks the total rate for several users. `alone` is the rate of a single user, Mbit/s; `gains`
/// are the ratios to this rate with 2, 3 and 8 users.
fn assert_gains(name: &str, changes: &Value, alone: f64, gains: [f64; 3]) {
    let (mbps, _) = rates(changes.clone(), 1);
    DIVERSITY.close_relative(format!("one user, {name}"), "Mbit/s", mbps, alone, 0.003);
    for (users, gain) in [2, 3, 8].into_iter().zip(gains) {
        let (turns, equal) = rates(changes.clone(), users);
        let what = format!("round robin, {users} users, {name}");
        DIVERSITY.close_relative(what, "Mbit/s", turns, alone, 0.003);
        assert!(equal < 0.01, "{users}: {equal}");
        let (fair, equal) = rates(proportional_fair(changes), users);
        let what = format!("proportional fairness over round robin, {users} users, {name}");
        DIVERSITY.close_relative(what, "1", fair / alone, gain, 0.003);
        assert!(equal < 0.01, "{users}: {equal}");
    }
}

#[test]
fn proportional_fair_gain_equals_best_independent_channel() {
    assert_gains("10 Mbit/s at most", &json!({}), 7.158, [1.2354, 1.3214, 1.3937]);
}

#[test]
#[ignore = "minutes"]
fn proportional_fair_gain_is_larger_without_largest_rate() {
    let uncapped = json!({"rate": {"kind": "shannon", "bandwidth_hz": BANDWIDTH}});
    assert_gains("no largest rate", &uncapped, 8.318, [1.3117, 1.4725, 1.7852]);
}

/// The channel of a user does not depend on other users or on the scheduler.
#[test]
fn channel_depends_only_on_user() {
    for snr in [
        json!({"kind": "rayleigh", "mean_db": 6.0, "doppler_hz": 60.0}),
        json!({"kind": "beamforming", "mean_db": 6.0, "doppler_hz": 6.0, "period_ns": 100 * MS}),
    ] {
        let snr_of_first = |users: u32, kind: &str| {
            let changes = json!({"snr": snr, "scheduler": {"kind": kind}, "attempts": 1_000_000});
            saturated(changes, users, 7, [0, 500]).users[0].mean_snr_db
        };
        let alone = snr_of_first(1, "round-robin");
        assert!(alone.is_some_and(|snr_db| (snr_db - 6.0).abs() < 3.0), "{alone:?}");
        assert_eq!(snr_of_first(9, "round-robin"), alone);
        assert_eq!(snr_of_first(4, "max-rate"), alone);
    }
}

#[test]
fn shared_randomness_differs_between_cells() {
    let snrs = |seed: u64| -> Vec<Option<f64>> {
        let report = saturated(json!({"snr": {"kind": "shared"}}), 3, seed, [0, 200]);
        report.users.iter().map(|user| user.mean_snr_db).collect()
    };
    let (one, other) = (snrs(1), snrs(2));
    assert!(one[0].is_some() && one == [one[0]; 3], "{one:?}");
    assert_ne!(one, other);
}

/// Configurations of all schedulers, from their Python classes.
fn schedulers() -> Vec<Value> {
    let usual = |(kind, _): &(&str, &str)| samples("scheduler", kind, |_| true).swap_remove(0);
    AnyScheduler::BUILT_IN.iter().map(usual).collect()
}

/// Configurations of disciplines with and without timers, with drops at the tail, at the head, and
/// early drops.
fn disciplines() -> [Value; 4] {
    [
        droptail(6),
        json!({"kind": "droptail", "limit": {"bytes": 9000}}),
        json!({"kind": "codel", "target_ns": 5 * MS, "interval_ns": 50 * MS, "limit": 20,
               "ecn": false, "mtu_bytes": 1500}),
        json!({"kind": "gred", "min_th": 2, "max_th": 6, "max_p": 0.2}),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { user: u32, size: u32 },
    Pause { nanos: u64 },
    Rate { bps: u64 },
    StartMeasurement,
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![4 => Just(1500u32), 1 => Just(1), 1 => 1..=65_535u32];
    let nanos = prop_oneof![4 => 0..9 * MS, 1 => Just(0), 1 => Just(SLOT), 1 => 0..1000 * MS];
    let bps = prop_oneof![Just(0), Just(CAP), 100_000..1u64 << 30];
    prop_oneof![
        10 => (0..4u32, size).prop_map(|(user, size)| Step::Arrive { user, size }),
        5 => nanos.prop_map(|nanos| Step::Pause { nanos }),
        1 => bps.prop_map(|bps| Step::Rate { bps }),
        1 => Just(Step::StartMeasurement),
    ]
}

/// Independent packet counts of a cell with four users.
struct Ledger {
    cell: Cell,
    harness: TestHarness,
    now: Time,
    /// For each user: sizes of the arrived packets.
    sizes: Vec<Vec<u32>>,
    /// For each user: number of the last departed packet.
    last: [Option<u64>; 4],
    arrived: u64,
    left: u64,
    /// Counters since the start of measurement, by user.
    delivered_bytes: [u64; 4],
}

impl Ledger {
    fn new(cell: Cell) -> Ledger {
        let (sizes, delivered_bytes) = (vec![Vec::new(); 4], [0; 4]);
        let harness = TestHarness::default();
        let now = Time::ZERO;
        let mut ledger = Ledger {
            cell,
            harness,
            now,
            sizes,
            last: [None; 4],
            arrived: 0,
            left: 0,
            delivered_bytes,
        };
        ledger.cell.control(&Control::Begin, &mut ledger.harness.at(now));
        ledger
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Arrive { user, size } => {
                self.wake_until(self.now);
                let of_user = &mut self.sizes[user as usize];
                let (seq, size_bytes) = (of_user.len() as u64, Bytes(u64::from(size)));
                of_user.push(size);
                self.arrived += 1;
                let packet = Packet::datagram(FlowId(user), seq, size_bytes, self.now);
                self.cell.receive(Port(0), &packet, &mut self.harness.at(self.now));
            }
            Step::Pause { nanos } => {
                let until = self.now + Duration::from_nanos(nanos);
                self.wake_until(until);
                self.now = until;
            }
            Step::Rate { bps } => {
                let rate = Control::Rate(Rate(bps));
                self.cell.control(&rate, &mut self.harness.at(self.now));
            }
            Step::StartMeasurement => {
                self.cell.control(&Control::StartMeasurement, &mut self.harness.at(self.now));
                self.delivered_bytes = [0; 4];
            }
        }
        self.check();
    }

    fn wake_until(&mut self, until: Time) {
        while self.cell.next_wakeup() <= until {
            self.now = self.cell.next_wakeup();
            self.cell.wake(&mut self.harness.at(self.now));
            self.check();
        }
    }

    fn check(&mut self) {
        for (_, packet) in self.harness.sent() {
            let user = packet.flow.0 as usize;
            assert_eq!(u32::from(packet.size), self.sizes[user][packet.seq as usize]);
            assert!(self.last[user].is_none_or(|last| last < packet.seq), "out of order");
            assert_eq!(self.now.as_nanos() % SLOT, 0, "delivered at the end of a slot");
            self.last[user] = Some(packet.seq);
            self.left += 1;
            self.delivered_bytes[user] += u64::from(packet.size);
        }
        let (dropped, held) = (self.harness.counts().total(), self.cell.held() as u64);
        assert_eq!(self.arrived, self.left + dropped + held, "packets");
        assert!(held > 0 || self.cell.next_wakeup().is_never(), "an empty cell sleeps");
        let report = self.cell.reports(self.now).remove(0);
        let of_users: Vec<u64> = report.users.iter().map(|user| user.delivered_bytes).collect();
        assert_eq!(of_users, self.delivered_bytes);
        assert_eq!(report.link.delivered_bytes, of_users.iter().sum::<u64>());
        let lost: u64 = report.users.iter().map(|user| user.lost_packets).sum();
        assert_eq!(report.link.lost_packets, lost);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(32), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn cell_accounts_for_every_packet(
        steps in prop::collection::vec(step(), 1..150),
        attempts in 1..4u32,
        margin in prop_oneof![Just(json!(0)), Just(json!({"target_loss": 0.1})), Just(json!(0.9))],
    ) {
        let snr = json!({"kind": "rayleigh", "mean_db": 6.0, "doppler_hz": 60.0});
        for scheduler in schedulers() {
            for queue in disciplines() {
                let changes = json!({"scheduler": scheduler, "attempts": attempts,
                                     "margin": margin, "snr": snr});
                let cell = build(description(changes), queue, 4, 1);
                let mut ledger = Ledger::new(cell);
                for step in &steps {
                    ledger.take(*step);
                }
                ledger.take(Step::Rate { bps: CAP });
                ledger.wake_until(ledger.now + Duration::from_secs(600));
                assert_eq!(ledger.cell.held(), 0, "everything has left in time");
            }
        }
    }
}
