//! Tests of REM: price equation (compared with values by hand and with a simple implementation with
//! a timer), marks, drops, and units.

use super::*;
use airpath_conformance::Law;
use airpath_core::{
    Ecn, FlowId, Framing, PacketKind, Rate, Recorder, Registry, Seed, testing::TestHarness,
};

const NS: RemConfig = RemConfig {
    limit: Limit::Packets(100),
    target: 20,
    gamma: 0.001,
    alpha: 0.1,
    phi: 1.001,
    update_ns: 2_000_000,
    mean_packet_bytes: 1040,
    mode: RemMode::Bytes,
    ecn: true,
};
const GAINS: RemGains = RemGains { gamma: 0.001, alpha: 0.1, target: 20.0 };
/// Link rate: 10 Mbit/s, which are 2500 B in 2 ms.
const RATE: Rate = Rate(10_000_000);
const CAPACITY: f64 = 2500.0 / 1040.0;

const LAW: Law = Law {
    area: "REM",
    source: "Athuraliya et al. 2001 with ns-2's constants: the price after an update, by hand",
    allows: "rounding of doubles",
};
const PROBABILITY: Law = Law {
    area: "REM",
    source: "Athuraliya et al. 2001: 1 - φ^(-p), φ = 1.001",
    allows: "half of the last printed digit",
};
const STEPPED: Law = Law {
    area: "REM",
    source: "The price over minutes of bursts and pauses, compared with one that is stepped every 2 ms",
    allows: "rounding of doubles, because one sum replaces many steps",
};
const DRAWS: Law = Law {
    area: "REM",
    source: "Marks and drops by chance: 1 - φ^(-p), in bytes in proportion to the size",
    allows: "five standard deviations of 100 000 random numbers",
};

fn build(config: RemConfig) -> Result<Rem, ConfigError> {
    <Rem as Component<dyn QueueDisc + Send>>::check(&config)?;
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "rem"), registry: &registry, extra: () };
    Rem::build(config, setup)
}

fn rem(config: RemConfig) -> Rem {
    let mut queue = build(config).expect("a valid configuration");
    queue.on_rate(LinkRate::of_packets(RATE), &mut TestHarness::default().at(Time::ZERO));
    queue
}

/// Creates a queue with a constant price: the next update is far in the future.
fn at_price(price: f64, config: RemConfig) -> Rem {
    let mut queue = rem(config);
    queue.price.value = price;
    queue.probability = rem_probability(price, config.phi);
    queue.per_byte = queue.probability / config.mean_packet_bytes as f64;
    queue.price.next = Time::NEVER;
    queue
}

fn packet(number: u64, size: u32, ecn: Ecn) -> Packet {
    let mut packet = Packet::data(FlowId(0), number, size - 40, 40, Time::ZERO);
    packet.ecn = ecn;
    packet
}

fn data(number: u64) -> Packet {
    packet(number, 1040, Ecn::Ect0)
}

fn micros(micros: u64) -> Time {
    Time::from_nanos(1000 * micros)
}

/// p ← [p + γ (x − c + α (b − b*))]⁺.
#[test]
fn next_price_matches_equation() {
    for (price, arrived, queue, expected) in [
        (0.0, 10.0, 30.0, 0.001 * (10.0 - CAPACITY + 1.0)),
        (1.0, 0.0, 0.0, 1.0 - 0.001 * (CAPACITY + 2.0)),
        (1.0, CAPACITY, 20.0, 1.0),
        (0.001, 0.0, 0.0, 0.0),
    ] {
        let next = rem_next_price(price, arrived, CAPACITY, queue, &GAINS);
        LAW.close(format!("p after {price}, x {arrived}, b {queue}"), "", next, expected, 1e-15);
    }
}

#[test]
fn probability_matches_price() {
    for (price, expected, digit) in [
        (0.0, 0.0, 0.0),
        (10.0, 0.0099, 5e-5),
        (50.0, 0.0487, 5e-5),
        (100.0, 0.0951, 5e-5),
        (500.0, 0.393, 5e-4),
        (1000.0, 0.632, 5e-4),
        (1e9, 1.0, 0.0),
    ] {
        PROBABILITY.close(
            format!("m({price})"),
            "",
            rem_probability(price, 1.001),
            expected,
            digit,
        );
    }
}

#[test]
fn idle_price_is_linear_down_to_zero() {
    for (price, queue, updates) in
        [(1.0, 0.0, 100), (1.0, 0.0, 1000), (0.5, 99.0, 5000), (0.0, 0.0, 7)]
    {
        let (mut stepped, mut sum) = (price, 0.0);
        for _ in 0..updates {
            stepped = rem_next_price(stepped, 0.0, CAPACITY, queue, &GAINS);
            sum += stepped;
        }
        let (at_once, sum_at_once) = rem_idle_price(price, updates, CAPACITY, queue, &GAINS);
        let what = format!("after {updates} updates from {price} with {queue} queued");
        LAW.close(format!("p {what}"), "", at_once, stepped, 1e-9);
        LAW.close(format!("Σ p {what}"), "", sum_at_once, sum, 1e-6);
    }
}

/// In the first 2 ms ten packets arrive and one of them is queued: the price includes ten arrivals
/// and a backlog of one.
#[test]
fn dropped_arrivals_count_in_price() {
    let mut harness = TestHarness::default();
    let mut queue = rem(RemConfig { limit: Limit::Packets(1), ..NS });
    for number in 0..10 {
        queue.enqueue(&data(number), &mut harness.at(micros(100 * number)));
    }
    assert_eq!(harness.counts().dropped[DropReason::Overflow as usize], 9);
    assert_eq!(queue.price(), 0.0);
    queue.dequeue(&mut harness.at(micros(2000))).expect("one packet waits");
    let expected = 0.001 * (10.0 - CAPACITY + 0.1 * (1.0 - 20.0));
    LAW.close("p after ten arrivals", "", queue.price(), expected, 1e-15);
}

/// An arrival at the time of an update is counted in the next update.
#[test]
fn update_precedes_arrival_at_equal_time() {
    let mut harness = TestHarness::default();
    let mut queue = rem(RemConfig { target: 0, alpha: 0.0, ..NS });
    for number in 0..5 {
        queue.enqueue(&data(number), &mut harness.at(micros(2000)));
    }
    assert_eq!((queue.price(), queue.price.arrived), (0.0, 5 * 1040));
}

#[test]
fn limit_of_100_admits_100_packets() {
    let mut harness = TestHarness::default();
    let mut queue = rem(NS);
    for number in 0..150 {
        queue.enqueue(&data(number), &mut harness.at(Time::ZERO));
    }
    assert_eq!((queue.packets(), harness.counts().total()), (100, 50));
}

/// As in ns-2 with a limit in bytes: 40 ACKs need only the space of their bytes.
#[test]
fn limit_in_bytes_admits_packets_that_fit() {
    let mut harness = TestHarness::default();
    let mut queue = rem(RemConfig { limit: Limit::Bytes(3 * 1040), ..NS });
    for number in 0..40 {
        queue.enqueue(&Packet::ack(FlowId(1), number, 1000, 40), &mut harness.at(Time::ZERO));
    }
    for number in 0..2 {
        queue.enqueue(&data(number), &mut harness.at(Time::ZERO));
    }
    assert_eq!((queue.packets(), queue.backlog(), harness.counts().total()), (41, Bytes(2640), 1));
    let ack = Packet::ack(FlowId(1), 0, 1000, 40);
    assert!(queue.on_bypass(&ack, &mut harness.at(Time::ZERO)));
    queue.on_held(12, Bytes(480), &mut harness.at(Time::ZERO));
    assert!(!queue.on_bypass(&ack, &mut harness.at(Time::ZERO)));
}

#[test]
fn rem_marks_only_capable_packets_at_departure() {
    let mut harness = TestHarness::default();
    let mut queue = at_price(1e9, NS);
    let fields = [Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::Ce];
    for (number, ecn) in fields.into_iter().enumerate() {
        queue.enqueue(&packet(number as u64, 1040, ecn), &mut harness.at(Time::ZERO));
    }
    assert_eq!((queue.packets(), harness.counts().marked), (4, 0));
    let left = fields.map(|_| queue.dequeue(&mut harness.at(Time::ZERO)).expect("four wait").ecn);
    assert_eq!(left, [Ecn::Ce, Ecn::NotEct, Ecn::Ce, Ecn::Ce]);
    assert_eq!((harness.counts().marked, harness.counts().total()), (3, 0));
}

#[test]
fn rem_drops_arrivals_without_ecn() {
    let mut harness = TestHarness::default();
    let mut queue = at_price(0.0, RemConfig { ecn: false, ..NS });
    queue.enqueue(&data(0), &mut harness.at(Time::ZERO));
    queue.per_byte = 1.0;
    queue.enqueue(&data(1), &mut harness.at(Time::ZERO));
    assert_eq!((queue.packets(), harness.counts().dropped[DropReason::Early as usize]), (1, 1));
    let left = queue.dequeue(&mut harness.at(Time::ZERO)).expect("one packet waits");
    assert_eq!((left.seq, left.ecn, harness.counts().marked), (0, Ecn::Ect0, 0));
}

/// Sends 100 000 packets of `size` at a price of 100. Returns the share of marked packets.
fn marked_share(size: u32, mode: RemMode) -> f64 {
    let mut harness = TestHarness::default();
    let mut queue = at_price(100.0, RemConfig { mode, ..NS });
    for number in 0..100_000 {
        queue.enqueue(&packet(number, size, Ecn::Ect0), &mut harness.at(Time::ZERO));
        queue.dequeue(&mut harness.at(Time::ZERO));
    }
    harness.counts().marked as f64 / 100_000.0
}

#[test]
fn probability_depends_on_size_only_in_byte_mode() {
    let whole = rem_probability(100.0, 1.001);
    for (size, mode, expected) in [
        (1040, RemMode::Bytes, whole),
        (520, RemMode::Bytes, whole / 2.0),
        (40, RemMode::Bytes, whole / 26.0),
        (40, RemMode::Packets, whole),
        (1040, RemMode::Packets, whole),
    ] {
        let five = 5.0 * (expected * (1.0 - expected) / 1e5).sqrt();
        DRAWS.close(format!("{size} B, {mode:?}"), "", marked_share(size, mode), expected, five);
    }
}

/// Nine ACKs of 40 B and a packet of 1040 B in 2 ms, all waiting.
#[test]
fn ack_counts_as_40_bytes_or_one_packet() {
    for (mode, count) in [(RemMode::Bytes, 1400.0 / 1040.0), (RemMode::Packets, 10.0)] {
        let mut harness = TestHarness::default();
        let mut queue = rem(RemConfig { mode, target: 0, gamma: 1.0, ..NS });
        queue.enqueue(&data(0), &mut harness.at(Time::ZERO));
        for _ in 0..9 {
            queue.enqueue(&Packet::ack(FlowId(1), 0, 1000, 40), &mut harness.at(Time::ZERO));
        }
        queue.dequeue(&mut harness.at(micros(2000)));
        let expected = (count - CAPACITY + 0.1 * count).max(0.0);
        LAW.close(format!("p, {mode:?}"), "", queue.price(), expected, 1e-12);
    }
}

/// With a code of rate 1/2 the size of a packet on the air is twice its size. This applies to
/// arrivals, to the backlog and to the mean packet, so the capacity in packets is halved.
#[test]
fn price_uses_bytes_on_the_air() {
    let mut harness = TestHarness::default();
    let mut queue = rem(RemConfig { gamma: 1.0, target: 0, ..NS });
    let framing = Framing::with_overhead(Bytes(10)).coded_at(0.5);
    queue.on_rate(LinkRate { nominal: RATE, framing }, &mut harness.at(Time::ZERO));
    for number in 0..4 {
        queue.enqueue(&packet(number, 510, Ecn::Ect0), &mut harness.at(Time::ZERO));
    }
    queue.dequeue(&mut harness.at(micros(2000)));
    let (mean, four) = (2.0 * 1050.0, 4.0 * 2.0 * 520.0);
    let expected = (four - 2500.0) / mean + 0.1 * four / mean;
    LAW.close("p with parity and overhead", "", queue.price(), expected, 1e-12);
}

/// Bypassing packets and packets held by the link are counted in the backlog. Bypassing packets are
/// also counted in the arrivals.
#[test]
fn price_counts_bypassing_and_held_packets() {
    let mut harness = TestHarness::default();
    let mut queue = rem(RemConfig { limit: Limit::Packets(3), gamma: 1.0, target: 0, ..NS });
    queue.on_rate(LinkRate::of_packets(Rate(1_000_000)), &mut harness.at(Time::ZERO));
    let ack = Packet::ack(FlowId(0), 0, 1000, 40);
    for number in 1..=3 {
        assert!(queue.on_bypass(&ack, &mut harness.at(Time::ZERO)));
        queue.on_held(number, Bytes(40 * number as u64), &mut harness.at(Time::ZERO));
    }
    assert!(!queue.on_bypass(&ack, &mut harness.at(Time::ZERO)));
    queue.enqueue(&data(0), &mut harness.at(Time::ZERO));
    assert_eq!(harness.counts().dropped[DropReason::Overflow as usize], 1);
    queue.on_held(0, Bytes::ZERO, &mut harness.at(micros(2000)));
    let expected = (4.0 * 40.0 + 1040.0 - 250.0 + 0.1 * 120.0) / 1040.0;
    LAW.close("p, four ACKs that pass by and three that wait", "", queue.price(), expected, 1e-12);
}

/// Simple implementation with a timer, which updates the price every 2 ms in all states.
struct Stepped {
    price: f64,
    next: Time,
    arrived: f64,
    queued: f64,
}

impl Stepped {
    fn until(&mut self, now: Time) {
        while self.next <= now {
            let excess = self.arrived / 1040.0 - CAPACITY;
            let step = 0.001 * (excess + 0.1 * (self.queued / 1040.0 - 20.0));
            self.price = (self.price + step).max(0.0);
            self.arrived = 0.0;
            self.next = self.next + Duration::from_millis(2);
        }
    }
}

#[test]
fn price_equals_price_of_timer_every_2_ms() {
    let mut harness = TestHarness::default();
    let mut queue = rem(NS);
    let mut port = Stepped { price: 0.0, next: Time::from_millis(2), arrived: 0.0, queued: 0.0 };
    let mut draws = Stream::new(1, 0, "bursts");
    let (mut now, mut worst, mut highest) = (Time::ZERO, 0.0_f64, 0.0_f64);
    for number in 0..200_000 {
        // Most steps are shorter than an update interval, some are seconds.
        let is_long = draws.bernoulli(0.001);
        let mean =
            if is_long { Duration::from_millis(3000) } else { Duration::from_nanos(350_000) };
        now = now + draws.exponential(mean);
        port.until(now);
        if draws.bernoulli(0.55) {
            port.arrived += 1040.0;
            port.queued += if queue.packets() < 100 { 1040.0 } else { 0.0 };
            queue.enqueue(&data(number), &mut harness.at(now));
        } else if queue.dequeue(&mut harness.at(now)).is_some() {
            port.queued -= 1040.0;
        } else {
            continue;
        }
        highest = highest.max(queue.price());
        worst = worst.max((queue.price() - port.price).abs() / port.price.max(1.0));
    }
    assert!(highest > 1.0, "the price moves: {highest}");
    STEPPED.close("greatest difference of the prices, relative", "", worst, 0.0, 1e-9);
}

/// After an hour the price has fallen to zero, without a wake-up.
#[test]
fn idle_hour_causes_no_wakeup() {
    let mut harness = TestHarness::default();
    let mut queue = rem(NS);
    queue.price.value = 5.0;
    assert_eq!(queue.next_wakeup(), Time::NEVER);
    let hour = Time::from_secs(3600);
    assert_eq!(queue.measured(hour)[0].0, "rem_price");
    queue.enqueue(&data(0), &mut harness.at(hour));
    assert_eq!((queue.price(), queue.probability), (0.0, 0.0));
    assert_eq!(queue.price.next, hour + Duration::from_millis(2));
}

/// From 1 the price decreases by γ (c + 2) per update, for 227 updates. The mean is computed over
/// 500 updates.
#[test]
fn mean_price_covers_updates_until_end() {
    let mut queue = rem(NS);
    queue.restart_measurement(Time::from_millis(1));
    queue.price.value = 1.0;
    let step = 0.001 * (CAPACITY + 2.0);
    let sum: f64 = (1..=227).map(|number| 1.0 - f64::from(number) * step).sum();
    let mean = queue.measured(Time::from_secs(1))[0].1.expect("500 updates");
    LAW.close("mean of p", "", mean, sum / 500.0, 1e-9);
    queue.restart_measurement(Time::from_secs(2));
    assert_eq!(queue.measured(Time::from_secs(2)), [("rem_price", None)]);
    assert_eq!(queue.measured(Time::from_secs(3)), [("rem_price", Some(0.0))]);
}

#[test]
fn price_is_recorded_after_change() {
    let mut harness = TestHarness::recording(Recorder::new(&[Series::Price], Duration::ZERO));
    let mut queue = rem(RemConfig { target: 0, alpha: 0.0, ..NS });
    for number in 0..6 {
        queue.enqueue(&data(number), &mut harness.at(micros(500 * number)));
    }
    let samples = harness.recorder().samples(Series::Price);
    assert_eq!(samples.len(), 1);
    assert_eq!((samples[0].time, samples[0].value), (micros(2000), queue.price()));
}

#[test]
fn single_queue_does_not_distinguish_data_and_acks() {
    let mut harness = TestHarness::default();
    let mut queue = rem(NS);
    queue.enqueue(&data(0), &mut harness.at(Time::ZERO));
    queue.enqueue(&Packet::ack(FlowId(1), 0, 1000, 40), &mut harness.at(Time::ZERO));
    let first = queue.dequeue(&mut harness.at(Time::ZERO)).expect("two packets wait");
    assert_eq!(first.kind, PacketKind::Data);
}

#[test]
fn invalid_config_is_rejected() {
    for (config, text) in [
        (
            RemConfig { limit: Limit::Bytes(0), ..NS },
            "limit.bytes = 0: below 1. Accepted: at least 1",
        ),
        (RemConfig { update_ns: 0, ..NS }, "update_ns = 0: below 1. Accepted: at least 1"),
        (
            RemConfig { mean_packet_bytes: 0, ..NS },
            "mean_packet_bytes = 0: below 1. Accepted: at least 1",
        ),
        (RemConfig { gamma: 0.0, ..NS }, "gamma = 0: not above 0. Accepted: more than 0"),
        (RemConfig { alpha: -1.0, ..NS }, "alpha = -1: below 0. Accepted: at least 0"),
        (RemConfig { phi: 1.0, ..NS }, "phi = 1: not above 1. Accepted: more than 1"),
        (RemConfig { phi: f64::NAN, ..NS }, "phi = NaN: not a number. Accepted: more than 1"),
    ] {
        assert_eq!(build(config).expect_err("refused").to_string(), text);
    }
}
