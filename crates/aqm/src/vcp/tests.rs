//! Tests of VCP's router: load factor (compared with values by hand and with a simple
//! implementation with a timer), codes, codes in packets, measured capacity.

use super::*;
use airpath_conformance::Law;
use airpath_core::{FlowId, Framing, Rate, Recorder, Registry, Seed, Stream, testing::TestHarness};

const VCP05: VcpConfig = VcpConfig {
    limit: 100,
    target: 0.98,
    interval_ns: 200_000_000,
    queue_weight: 0.5,
    sampling_ns: 10_000_000,
    low: 0.8,
    average: VcpAverage::Ewma,
    capacity: VcpCapacity::Link,
};
/// Link rate: 10 Mbit/s, which are 250 000 B in 200 ms.
const RATE: Rate = Rate(10_000_000);

const LOAD: Law = Law {
    area: "VCP queue",
    source: "vcp-2005 §3.2: ρ = (λ + κ_q q̃) / (γ C t_ρ), by hand",
    allows: "rounding of doubles",
};
const STEPPED: Law = Law {
    area: "VCP queue",
    source: "The load over minutes of bursts and pauses, compared with one with a timer every 10 ms",
    allows: "nothing",
};
const MEASURED: Law = Law {
    area: "VCP queue",
    source: "Capacity measured from completed services of a link that sends one after another",
    allows: "a nanosecond of rounding for each service",
};

fn build(config: VcpConfig) -> Result<VcpQueue, ConfigError> {
    <VcpQueue as Component<dyn QueueDisc + Send>>::check(&config)?;
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "vcp"), registry: &registry, extra: () };
    VcpQueue::build(config, setup)
}

fn vcp(config: VcpConfig) -> VcpQueue {
    let mut queue = build(config).expect("a valid configuration");
    queue.on_rate(LinkRate::of_packets(RATE), &mut TestHarness::default().at(Time::ZERO));
    queue
}

fn packet(number: u64, size: u32, ecn: Ecn) -> Packet {
    let mut packet = Packet::data(FlowId(0), number, size - 40, 40, Time::ZERO);
    packet.ecn = ecn;
    packet
}

fn data(number: u64) -> Packet {
    packet(number, 1000, Ecn::Ect1)
}

fn millis(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Enqueues and dequeues `count` packets of 1000 B at the time `now`.
fn pass(queue: &mut VcpQueue, count: u64, now: Time, harness: &mut TestHarness) {
    for number in 0..count {
        queue.enqueue(&data(number), &mut harness.at(now));
        queue.dequeue(&mut harness.at(now)).expect("one packet waits");
    }
}

#[test]
fn load_factor_matches_equation() {
    for (arrived, queue, capacity, target, interval_s, expected) in [
        (245_000.0, 0.0, 1_250_000.0, 0.98, 0.2, 1.0),
        (100_000.0, 10_000.0, 1_250_000.0, 0.98, 0.2, 110.0 / 245.0),
        (0.0, 24_500.0, 1_250_000.0, 0.98, 0.2, 0.1),
        (1.0, 0.0, 0.0, 1.0, 1.0, 1.0),
    ] {
        let found = vcp_load_factor(arrived, queue, capacity, target, interval_s);
        LOAD.close(format!("ρ of {arrived} B and {queue} B"), "", found, expected, 1e-15);
    }
}

#[test]
fn average_queue_matches_equation() {
    for (average, mean, kind, expected) in [
        (0.0, 8000.0, VcpAverage::Ewma, 2000.0),
        (2000.0, 8000.0, VcpAverage::Ewma, 3500.0),
        (4000.0, 0.0, VcpAverage::Ewma, 3000.0),
        (4000.0, 8000.0, VcpAverage::PublicCode, 500.0),
        (1e-7, 0.0, VcpAverage::Ewma, 0.0),
    ] {
        let found = vcp_average_queue(average, mean, kind);
        LOAD.close(format!("q̃ of {average} and {mean}, {kind:?}"), "B", found, expected, 1e-12);
    }
}

/// The code is high load at 0.8 and above, and overload at 1 and above, without rounding.
#[test]
fn code_matches_load() {
    for (load, code) in [
        (0.0, Ecn::Ect1),
        (0.799_999, Ecn::Ect1),
        (0.8, Ecn::Ect0),
        (0.999_999, Ecn::Ect0),
        (1.0, Ecn::Ce),
        (1e300, Ecn::Ce),
    ] {
        assert_eq!(vcp_code(load, 0.8), code, "{load}");
    }
}

/// In the first interval 100 packets arrive (λ) and the queue is empty. In the second interval 30
/// packets wait during the complete interval.
#[test]
fn load_counts_arrivals_and_persistent_queue() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VCP05);
    pass(&mut queue, 100, millis(50), &mut harness);
    assert_eq!((queue.load_factor(), queue.code()), (0.0, Ecn::Ect1));
    for number in 0..30 {
        queue.enqueue(&data(number), &mut harness.at(millis(200)));
    }
    LOAD.close("ρ after 100 packets", "", queue.load_factor(), 100.0 / 245.0, 1e-15);
    queue.dequeue(&mut harness.at(millis(400)));
    // 30 packets arrive; the mean of 20 samples of 30 packets has the weight 1/4.
    let expected = (30.0 + 0.5 * 30.0 / 4.0) / 245.0;
    LOAD.close("ρ with 30 waiting", "", queue.load_factor(), expected, 1e-15);
}

/// One packet waits from 95 to 125 ms: the samples at 100, 110 and 120 ms count it.
#[test]
fn queue_is_sampled_every_10_ms() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VCP05);
    queue.enqueue(&data(0), &mut harness.at(millis(95)));
    queue.dequeue(&mut harness.at(millis(125)));
    queue.enqueue(&data(1), &mut harness.at(millis(201)));
    let expected = (1000.0 + 0.5 * 0.25 * 1000.0 * 3.0 / 20.0) / 245_000.0;
    LOAD.close("ρ", "", queue.load_factor(), expected, 1e-15);
}

#[test]
fn code_is_constant_within_interval() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VCP05);
    pass(&mut queue, 230, millis(150), &mut harness);
    pass(&mut queue, 1, millis(199), &mut harness);
    assert_eq!(queue.code(), Ecn::Ect1);
    pass(&mut queue, 1, millis(200), &mut harness);
    assert_eq!(queue.code(), Ecn::Ect0);
    pass(&mut queue, 1, millis(399), &mut harness);
    assert_eq!(queue.code(), Ecn::Ect0);
    pass(&mut queue, 1, millis(400), &mut harness);
    assert_eq!(queue.code(), Ecn::Ect1);
}

/// Expected ECN fields at departure for each field at arrival, by load. Only a change to CE counts
/// as a mark.
#[test]
fn code_is_written_to_capable_data_and_never_lowered() {
    const FIELDS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    for (packets, expected, marks) in [
        (10, FIELDS, 0),
        (220, [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ce], 0),
        (300, [Ecn::NotEct, Ecn::Ce, Ecn::Ce, Ecn::Ce], 2),
    ] {
        let mut harness = TestHarness::default();
        let mut queue = vcp(VCP05);
        pass(&mut queue, packets, millis(1), &mut harness);
        for (number, field) in FIELDS.into_iter().enumerate() {
            queue.enqueue(&packet(number as u64, 1000, field), &mut harness.at(millis(300)));
        }
        let left = FIELDS.map(|_| queue.dequeue(&mut harness.at(millis(300))).expect("four").ecn);
        assert_eq!((left, harness.counts().marked), (expected, marks), "{packets} packets");
        // An ACK is unchanged, for every value of its field.
        let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
        ack.ecn = Ecn::Ect1;
        queue.enqueue(&ack, &mut harness.at(millis(300)));
        assert_eq!(queue.dequeue(&mut harness.at(millis(300))).expect("it").ecn, Ecn::Ect1);
    }
}

/// The code is the current code at the time of departure.
#[test]
fn packet_gets_code_at_departure() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VCP05);
    pass(&mut queue, 300, millis(1), &mut harness);
    queue.enqueue(&data(0), &mut harness.at(millis(199)));
    assert_eq!(queue.dequeue(&mut harness.at(millis(200))).expect("it waits").ecn, Ecn::Ce);
}

#[test]
fn dropped_packets_and_acks_count_as_arrivals() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VcpConfig { limit: 2, queue_weight: 0.0, ..VCP05 });
    for number in 0..5 {
        queue.enqueue(&data(number), &mut harness.at(millis(1)));
    }
    let ack = Packet::ack(FlowId(0), 0, 1000, 40);
    queue.enqueue(&ack, &mut harness.at(millis(1)));
    assert!(!queue.on_bypass(&ack, &mut harness.at(millis(1))));
    assert_eq!((queue.packets(), harness.counts().total()), (2, 4));
    queue.dequeue(&mut harness.at(millis(200)));
    LOAD.close("ρ", "", queue.load_factor(), 5080.0 / 245_000.0, 1e-15);
}

/// The framing has a code of rate 1/2 and 10 B of overhead.
#[test]
fn load_uses_bytes_on_the_air() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VCP05);
    let framing = Framing::with_overhead(Bytes(10)).coded_at(0.5);
    queue.on_rate(LinkRate { nominal: RATE, framing }, &mut harness.at(Time::ZERO));
    queue.enqueue(&data(0), &mut harness.at(Time::ZERO));
    queue.on_held(2, Bytes(80), &mut harness.at(Time::ZERO));
    queue.dequeue(&mut harness.at(millis(200)));
    let expected = (2020.0 + 0.125 * (2020.0 + 2.0 * 100.0)) / 245_000.0;
    LOAD.close("ρ", "", queue.load_factor(), expected, 1e-15);
}

/// The rate doubles; a router with a fixed capacity of 5 Mbit/s ignores the change.
#[test]
fn capacity_is_link_rate_or_fixed_value() {
    for (capacity, expected) in
        [(VcpCapacity::Link, 50.0 / 245.0), (VcpCapacity::Fixed(5_000_000), 200.0 / 245.0)]
    {
        let mut harness = TestHarness::default();
        let mut queue = vcp(VcpConfig { capacity, ..VCP05 });
        let twice = LinkRate::of_packets(Rate(20_000_000));
        queue.on_rate(twice, &mut harness.at(millis(10)));
        pass(&mut queue, 100, millis(50), &mut harness);
        queue.enqueue(&data(0), &mut harness.at(millis(200)));
        LOAD.close(format!("ρ, {capacity:?}"), "", queue.load_factor(), expected, 1e-15);
    }
}

/// A link with a nominal rate of 10 Mbit/s sends packets at 4 Mbit/s, during half of the time.
#[test]
fn measured_capacity_is_rate_while_busy() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VcpConfig { capacity: VcpCapacity::Measured, ..VCP05 });
    LOAD.equal("C before the first service", "B/s", queue.meter.capacity(), 1_250_000.0);
    for round in 0..100 {
        let begin = millis(20 * round);
        (0..5).for_each(|number| queue.enqueue(&data(number), &mut harness.at(begin)));
        for number in 1..=5 {
            let mut sent = queue.dequeue(&mut harness.at(millis(20 * round + 2 * number - 2)));
            let sent = sent.as_mut().expect("it waits");
            queue.on_served(sent, &mut harness.at(millis(20 * round + 2 * number)));
        }
    }
    MEASURED.close_relative("C", "B/s", queue.meter.capacity(), 500_000.0, 1e-9);
    LOAD.close_relative("ρ", "", queue.load_factor(), 50_000.0 / 98_000.0, 1e-9);
    let measured = queue.measured(millis(2000));
    let (name, capacity) = measured.last().expect("there is one");
    assert_eq!(*name, "vcp_capacity_bps");
    MEASURED.close_relative("mean of C", "bit/s", capacity.expect("ten intervals"), 4e6, 1e-9);
}

/// Packets discarded by the link count in the busy time but not in the sent bytes; bypassing
/// packets count in both.
#[test]
fn lost_and_bypassing_packets_count_as_busy() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VcpConfig { capacity: VcpCapacity::Measured, ..VCP05 });
    let mut ack = Packet::ack(FlowId(0), 0, 1000, 40);
    assert!(queue.on_bypass(&ack, &mut harness.at(millis(0))));
    queue.on_served(&mut ack, &mut harness.at(millis(1)));
    queue.enqueue(&data(0), &mut harness.at(millis(100)));
    let taken = queue.dequeue(&mut harness.at(millis(101))).expect("it waits");
    queue.on_lost(&taken, &mut harness.at(millis(109)));
    pass(&mut queue, 1, millis(200), &mut harness);
    LOAD.close_relative("C", "B/s", queue.meter.capacity(), 40.0 / 0.010, 1e-12);
}

/// While the link is stopped the capacity decays to zero; two intervals after the restart it has
/// recovered.
#[test]
fn measured_capacity_recovers_after_outage() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VcpConfig { capacity: VcpCapacity::Measured, ..VCP05 });
    queue.enqueue(&data(0), &mut harness.at(millis(0)));
    queue.enqueue(&data(1), &mut harness.at(millis(0)));
    let mut sent = queue.dequeue(&mut harness.at(millis(0))).expect("two packets wait");
    queue.on_served(&mut sent, &mut harness.at(millis(1)));
    let hour = Time::from_secs(3600);
    let mut sent = queue.dequeue(&mut harness.at(hour)).expect("one packet waits");
    assert_eq!((queue.code(), queue.meter.capacity()), (Ecn::Ce, 0.0));
    queue.on_served(&mut sent, &mut harness.at(hour));
    assert!(queue.measured(hour).iter().all(|(_, value)| value.is_some_and(f64::is_finite)));
}

/// Simple implementation with a timer that expires every 10 ms.
struct Stepped {
    next: Time,
    samples: Vec<f64>,
    arrived: f64,
    queued: f64,
    average: f64,
    loads: Vec<f64>,
}

impl Stepped {
    fn until(&mut self, now: Time, kind: VcpAverage) {
        while self.next <= now {
            self.samples.push(self.queued);
            self.next = self.next + Duration::from_millis(10);
            if self.samples.len() == 20 {
                let mean = self.samples.iter().sum::<f64>() / 20.0;
                self.average = vcp_average_queue(self.average, mean, kind);
                self.loads.push((self.arrived + 0.5 * self.average) / (0.98 * 1_250_000.0 * 0.2));
                (self.arrived, self.samples) = (0.0, Vec::new());
            }
        }
    }
}

#[test]
fn load_equals_load_of_timer_every_10_ms() {
    for kind in [VcpAverage::Ewma, VcpAverage::PublicCode] {
        let mut harness = TestHarness::default();
        let mut queue = vcp(VcpConfig { average: kind, ..VCP05 });
        let mut port = Stepped {
            next: millis(10),
            samples: Vec::new(),
            arrived: 0.0,
            queued: 0.0,
            average: 0.0,
            loads: Vec::new(),
        };
        let mut draws = Stream::new(1, 0, "bursts");
        let (mut now, mut worst) = (Time::ZERO, 0.0_f64);
        for number in 0..100_000 {
            let mean = if draws.bernoulli(0.001) { 10_000_000 } else { 400 };
            now = now + draws.exponential(Duration::from_nanos(1000 * mean));
            port.until(now, kind);
            if draws.bernoulli(0.52) {
                port.arrived += 1000.0;
                port.queued += if queue.packets() < 100 { 1000.0 } else { 0.0 };
                queue.enqueue(&data(number), &mut harness.at(now));
            } else if queue.dequeue(&mut harness.at(now)).is_some() {
                port.queued -= 1000.0;
            } else {
                continue;
            }
            let load = port.loads.last().copied().unwrap_or(0.0);
            worst = worst.max((queue.load_factor() - load).abs());
        }
        STEPPED.close(format!("greatest difference of ρ, {kind:?}"), "", worst, 0.0, 1e-15);
        compare_measured(&queue.measured(now), &port.loads);
    }
}

/// Compares the mean, the deviation and the shares over all intervals, including intervals without
/// packets.
fn compare_measured(measured: &[(&'static str, Option<f64>)], loads: &[f64]) {
    let count = loads.len() as f64;
    let mean = loads.iter().sum::<f64>() / count;
    let variance = loads.iter().map(|load| (load - mean) * (load - mean)).sum::<f64>() / count;
    let share = |code| loads.iter().filter(|load| vcp_code(**load, 0.8) == code).count() as f64;
    let expected = [
        ("vcp_load_factor", mean),
        ("vcp_load_deviation", variance.sqrt()),
        ("vcp_low_share", share(Ecn::Ect1) / count),
        ("vcp_high_share", share(Ecn::Ect0) / count),
        ("vcp_overload_share", share(Ecn::Ce) / count),
    ];
    assert_eq!(measured.len(), expected.len());
    for ((name, found), (expected_name, value)) in measured.iter().zip(expected) {
        assert_eq!(*name, expected_name);
        STEPPED.close(*name, "", found.expect("minutes passed"), value, 1e-9);
    }
}

/// The average of a queue that was full is zero after an hour, without a wake-up.
#[test]
fn idle_hour_causes_no_wakeup() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VCP05);
    queue.meter.average = 100_000.0;
    assert_eq!(queue.next_wakeup(), Time::NEVER);
    let hour = Time::from_secs(3600);
    queue.enqueue(&data(0), &mut harness.at(hour));
    assert_eq!((queue.load_factor(), queue.meter.average, queue.code()), (0.0, 0.0, Ecn::Ect1));
    // The values are 3/4, 9/16, … of the average. Their sum over 18 000 intervals is three times
    // the average.
    let mean = queue.measured(hour)[0].1.expect("one hour was measured");
    LOAD.close_relative("mean of ρ", "", mean, 0.5 * 300_000.0 / 245_000.0 / 18_000.0, 1e-9);
}

#[test]
fn measurement_starts_with_current_interval() {
    let mut harness = TestHarness::default();
    let mut queue = vcp(VCP05);
    pass(&mut queue, 300, millis(50), &mut harness);
    queue.restart_measurement(millis(250));
    assert!(queue.measured(millis(399)).iter().all(|(_, value)| value.is_none()));
    assert_eq!(queue.measured(millis(600))[0], ("vcp_load_factor", Some(0.0)));
}

#[test]
fn load_factor_is_recorded_at_end_of_interval() {
    let mut harness = TestHarness::recording(Recorder::new(&[Series::LoadFactor], Duration::ZERO));
    let mut queue = vcp(VCP05);
    pass(&mut queue, 100, millis(50), &mut harness);
    pass(&mut queue, 2, millis(203), &mut harness);
    let samples = harness.recorder().samples(Series::LoadFactor);
    assert_eq!(samples.len(), 1);
    assert_eq!((samples[0].time, samples[0].value), (millis(203), 100.0 / 245.0));
}

#[test]
fn invalid_config_is_rejected() {
    for (config, text) in [
        (VcpConfig { limit: 0, ..VCP05 }, "limit = 0: below 1. Accepted: at least 1"),
        (VcpConfig { sampling_ns: 0, ..VCP05 }, "sampling_ns = 0: below 1. Accepted: at least 1"),
        (VcpConfig { interval_ns: 0, ..VCP05 }, "interval_ns = 0: below 1. Accepted: at least 1"),
        (
            VcpConfig { interval_ns: 205_000_000, ..VCP05 },
            "interval_ns = 205000000: not a multiple of sampling. Accepted: 210000000 to 210000000",
        ),
        (
            VcpConfig { target: 0.0, ..VCP05 },
            "target = 0: not above 0. Accepted: more than 0, at most 1",
        ),
        (
            VcpConfig { low: 1.0, ..VCP05 },
            "low = 1: not below 1. Accepted: more than 0, less than 1",
        ),
        (
            VcpConfig { queue_weight: -0.5, ..VCP05 },
            "queue_weight = -0.5: below 0. Accepted: at least 0",
        ),
        (
            VcpConfig { capacity: VcpCapacity::Fixed(0), ..VCP05 },
            "capacity.fixed = 0: below 1. Accepted: at least 1",
        ),
    ] {
        assert_eq!(build(config).expect_err("refused").to_string(), text);
    }
}
