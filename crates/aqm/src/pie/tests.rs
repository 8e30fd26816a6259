//! Tests of PIE: drop probability, safeguards, and a comparison with a plain port of RFC 8033.

use super::*;
use crate::pie_probability::pie_scale;
use airpath_conformance::Law;
use airpath_core::{Ecn, FlowId, LinkRate, Rate, Registry, Seed, testing::TestHarness};

const DEFAULT: PieConfig = PieConfig {
    limit: 1000,
    target_ns: 15_000_000,
    update_ns: 15_000_000,
    alpha: 0.125,
    beta: 1.25,
    max_burst_ns: 150_000_000,
    mean_packet_bytes: 1500,
    delay_estimate: PieDelay::Timestamps,
    derandomise: false,
    ecn: false,
    ecn_threshold: 0.1,
};
const GAINS: PieGains = PieGains { target: Duration::from_millis(15), alpha: 0.125, beta: 1.25 };

const SCALING: Law = Law {
    area: "PIE",
    source: "RFC 8033 §4.2: the table that scales a step of the probability",
    allows: "nothing; a step by the table: rounding of doubles",
};
const LAW: Law = Law {
    area: "PIE",
    source: "RFC 8033 §4.2, §5.5: the next probability at the corners of the update rule",
    allows: "rounding of doubles",
};
const DROPS: Law = Law {
    area: "PIE",
    source: "RFC 8033 §4.1, §5.4: share of random drops, without and with derandomisation",
    allows: "five standard deviations of 100 000 arrivals",
};
const COURSE: Law = Law {
    area: "PIE",
    source: "RFC 8033: 30 s of steps in the load, compared with a plain port of its text",
    allows: "Airpath's delays are integer nanoseconds, the port's are doubles",
};
const TARGET: Law = Law {
    area: "PIE",
    source: "RFC 8033 §4.2: 50 % overload, delay at the target, a third of the packets dropped",
    allows: "oscillation of the controller",
};

fn pie(config: PieConfig) -> Pie {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "pie"), registry: &registry, extra: () };
    Pie::build(config, setup).expect("a valid configuration")
}

/// Creates a PIE queue with a long delay and the given probability, after its burst allowance.
fn dropping(drop_prob: f64, config: PieConfig) -> Pie {
    let mut queue = pie(config);
    queue.burst_allowance = Duration::ZERO;
    queue.delay_old = Duration::from_millis(20);
    queue.drop_prob = drop_prob;
    queue
}

fn packet(ecn: Ecn) -> Packet {
    let mut packet = Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
    packet.ecn = ecn;
    packet
}

/// Enqueues `number` packets at a constant queue length of three packets. Returns, for each packet,
/// true if it was admitted.
fn offer(queue: &mut Pie, harness: &mut TestHarness, number: usize, ecn: Ecn) -> Vec<bool> {
    let mut offered = Vec::new();
    while queue.packets() < 3 {
        queue.fifo.push(&packet(ecn), Time::ZERO);
    }
    for _ in 0..number {
        queue.enqueue(&packet(ecn), &mut harness.at(Time::ZERO));
        offered.push(queue.packets() > 3);
        if queue.packets() > 3 {
            queue.dequeue(&mut harness.at(Time::ZERO));
        }
    }
    offered
}

#[test]
fn scale_matches_rfc_table() {
    for (from, divisor) in [
        (0.0, 2048.0),
        (1e-6, 512.0),
        (1e-5, 128.0),
        (1e-4, 32.0),
        (1e-3, 8.0),
        (1e-2, 2.0),
        (1e-1, 1.0),
        (1.0, 1.0),
    ] {
        SCALING.equal(format!("divisor from p = {from:?}"), "", pie_scale(from), divisor);
    }
    for (up_to, divisor) in
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)]
    {
        let found = pie_scale(up_to * (1.0 - 1e-12));
        SCALING.equal(format!("divisor up to p = {up_to:?}"), "", found, divisor);
    }
}

/// The delay is 25 ms now and was 20 ms before: 0.125 · 10 ms + 1.25 · 5 ms = 0.0075, divided by
/// the value of the table.
#[test]
fn step_is_divided_by_scale() {
    let (delay, old) = (Duration::from_millis(25), Duration::from_millis(20));
    for (p, divisor) in [
        (0.0, 2048.0),
        (5e-6, 512.0),
        (5e-5, 128.0),
        (5e-4, 32.0),
        (5e-3, 8.0),
        (0.05, 2.0),
        (0.5, 1.0),
    ] {
        let next = pie_next_drop_prob(p, delay, old, &GAINS);
        let what = format!("step of 0.0075 at p = {p:?}");
        SCALING.close(what, "", next - p, 0.0075 / divisor, 1e-15);
    }
}

#[test]
fn next_drop_prob_matches_rfc_at_limits() {
    let ms = Duration::from_millis;
    for (what, p, delay, old, next) in [
        ("capped from 10 % on", 0.1, ms(250), ms(15), 0.12),
        ("not capped below", 0.09, ms(250), ms(15), 0.09 + (0.235 * 1.375) / 2.0),
        ("2 % more above 250 ms", 0.1, ms(251), ms(15), 0.14),
        ("not capped downwards", 0.5, ms(15), ms(115), 0.5 - 0.125),
        ("decays without delay", 0.5, ms(0), ms(0), (0.5 - 0.125 * 0.015) * 0.98),
        ("does not decay at once", 0.5, ms(0), ms(10), 0.5 - 0.125 * 0.015 - 0.0125),
        ("at most 1", 0.995, ms(500), ms(500), 1.0),
        ("at least 0", 1e-9, ms(0), ms(0), 0.0),
    ] {
        let found = pie_next_drop_prob(p, delay, old, &GAINS);
        LAW.close(what, "", found, next, 1e-12);
    }
}

/// The tolerance is five standard deviations of 100 000 random decisions.
#[test]
fn pie_drops_share_equal_to_probability() {
    let (mut harness, mut queue) = (TestHarness::default(), dropping(0.3, DEFAULT));
    let kept = offer(&mut queue, &mut harness, 100_000, Ecn::NotEct);
    let rate = kept.iter().filter(|kept| !**kept).count() as f64 / 1e5;
    let five_deviations = 5.0 * (0.21_f64 / 1e5).sqrt();
    DROPS.close("share dropped at p = 0.3", "", rate, 0.3, five_deviations);
}

/// With p = 1/8 the first drop is the seventh arrival at the earliest and the 68th at the latest.
#[test]
fn derandomised_drop_gaps_are_bounded() {
    let config = PieConfig { derandomise: true, ..DEFAULT };
    let (mut harness, mut queue) = (TestHarness::default(), dropping(0.125, config));
    let kept = offer(&mut queue, &mut harness, 100_000, Ecn::NotEct);
    let drops: Vec<usize> = (0..kept.len()).filter(|index| !kept[*index]).collect();
    let gaps: Vec<usize> = drops.windows(2).map(|two| two[1] - two[0]).collect();
    let least = gaps.iter().min().expect("drops");
    DROPS.equal("shortest gap at p = 1/8, derandomised", "arrivals", *least as f64, 7.0);
    let most = *gaps.iter().max().expect("drops") as f64;
    DROPS.between("longest gap", "arrivals", most, 7.0, 68.0);
    // A gap has six exempt arrivals, then a geometrically distributed number of arrivals with mean
    // 8 and variance 56.
    let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
    let five_deviations = 5.0 * (56.0 / gaps.len() as f64).sqrt();
    DROPS.close("mean gap", "arrivals", mean, 14.0, five_deviations);
}

/// p is 2⁻¹⁰, and the random numbers never cause a drop. Arrival 8704 is dropped because of the
/// accumulated probability.
#[test]
fn accumulated_probability_forces_derandomised_drop() {
    let config = PieConfig { derandomise: true, ..DEFAULT };
    let mut queue = dropping(1.0 / 1024.0, config);
    let unlucky = (0..).map(|n| Seed::new(n, 0, "pie").stream()).find(|stream| {
        let mut copy = stream.clone();
        (0..7900).all(|_| copy.uniform() >= 1.0 / 1024.0)
    });
    queue.stream = unlucky.expect("one in 2300 is so");
    let kept = offer(&mut queue, &mut TestHarness::default(), 8704, Ecn::NotEct);
    assert_eq!(kept.iter().position(|kept| !kept), Some(8703));
}

#[test]
fn safeguards_prevent_drops() {
    type Arrange = fn(&mut Pie);
    let guarded: [(&str, Arrange); 2] = [
        ("a burst", |queue| queue.burst_allowance = Duration::from_nanos(1)),
        ("a short delay", |queue| {
            queue.delay_old = Duration::from_nanos(7_499_999);
            queue.drop_prob = 0.19;
        }),
    ];
    for (what, arrange) in guarded {
        let (mut harness, mut queue) = (TestHarness::default(), dropping(0.9, DEFAULT));
        arrange(&mut queue);
        assert!(
            offer(&mut queue, &mut harness, 1000, Ecn::NotEct).iter().all(|kept| *kept),
            "{what}"
        );
    }
    let (mut harness, mut queue) = (TestHarness::default(), dropping(1.0, DEFAULT));
    for waiting in 1..=3 {
        queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(Time::ZERO));
        assert_eq!(queue.packets(), waiting, "at most two mean packets waited");
    }
    queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(Time::ZERO));
    assert_eq!(queue.packets(), 3);
    let (mut harness, mut queue) = (TestHarness::default(), dropping(0.2, DEFAULT));
    queue.delay_old = Duration::ZERO;
    let kept = offer(&mut queue, &mut harness, 1000, Ecn::NotEct);
    assert!(kept.contains(&false), "a short delay does not help from 20 % on");
}

#[test]
fn pie_marks_instead_of_dropping_up_to_ten_per_cent() {
    for (drop_prob, ecn, marks) in
        [(0.1, Ecn::Ect0, true), (0.1, Ecn::NotEct, false), (0.11, Ecn::Ect0, false)]
    {
        let config = PieConfig { ecn: true, ..DEFAULT };
        let (mut harness, mut queue) = (TestHarness::default(), dropping(drop_prob, config));
        offer(&mut queue, &mut harness, 1000, ecn);
        let counts = harness.counts();
        assert_eq!((counts.marked > 0, counts.total() > 0), (marks, !marks), "{drop_prob}");
    }
}

#[test]
fn pie_drops_arrival_above_limit() {
    let (mut harness, mut queue) = (TestHarness::default(), pie(PieConfig { limit: 3, ..DEFAULT }));
    for _ in 0..5 {
        queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(Time::ZERO));
    }
    assert_eq!(harness.counts().dropped[DropReason::Overflow as usize], 2);
}

#[test]
fn burst_allowance_lasts_150_ms() {
    let (mut harness, mut queue) = (TestHarness::default(), pie(DEFAULT));
    for _ in 0..500 {
        queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(Time::ZERO));
    }
    for update in 1..=10 {
        assert!(queue.burst_allowance > Duration::ZERO, "{update}");
        let at = Time::from_millis(15 * update);
        assert_eq!(queue.next_wakeup(), at);
        queue.dequeue(&mut harness.at(at));
        queue.on_wake(&mut harness.at(at));
    }
    assert_eq!(queue.burst_allowance, Duration::ZERO);
}

/// PIE as in RFC 8033, Appendices A and B, with times in seconds as floating-point numbers and a
/// timer that never stops.
struct PlainPie {
    p: f64,
    qdelay_old: f64,
    burst: f64,
    sojourn: f64,
    avg_dq_time: f64,
    in_measurement: bool,
    start: f64,
    dq_count: f64,
}

impl PlainPie {
    fn dequeued(&mut self, now: f64, arrived: f64, size: f64, left: f64) {
        self.sojourn = now - arrived;
        if self.in_measurement {
            self.dq_count += size;
            if self.dq_count >= 16384.0 {
                let time = now - self.start;
                self.avg_dq_time = if self.avg_dq_time == 0.0 {
                    time
                } else {
                    0.25 * time + 0.75 * self.avg_dq_time
                };
                self.in_measurement = false;
            }
        }
        if left == 0.0 {
            self.in_measurement = false;
        } else if left >= 16384.0 && !self.in_measurement {
            (self.in_measurement, self.start, self.dq_count) = (true, now, 0.0);
        }
    }

    fn update(&mut self, backlog: f64, timestamps: bool) {
        let d = if backlog == 0.0 {
            0.0
        } else if timestamps {
            self.sojourn
        } else {
            backlog * self.avg_dq_time / 16384.0
        };
        let mut step = 0.125 * (d - 0.015) + 1.25 * (d - self.qdelay_old);
        if self.p < 0.000001 {
            step /= 2048.0;
        } else if self.p < 0.00001 {
            step /= 512.0;
        } else if self.p < 0.0001 {
            step /= 128.0;
        } else if self.p < 0.001 {
            step /= 32.0;
        } else if self.p < 0.01 {
            step /= 8.0;
        } else if self.p < 0.1 {
            step /= 2.0;
        }
        if self.p >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        if d > 0.25 {
            step += 0.02;
        }
        self.p += step;
        if d == 0.0 && self.qdelay_old == 0.0 {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst = (self.burst - 0.015).max(0.0);
        if self.p == 0.0 && d < 0.0075 && self.qdelay_old < 0.0075 {
            self.burst = 0.15;
        }
        self.qdelay_old = d;
    }
}

/// Returns the largest differences of probability and delay over 30 s of load steps on a 10 Mbit/s
/// link (1200 µs per packet): overload, underload, idle time, and an outage of the link.
fn differences_to_the_plain_port(delay: PieDelay) -> (f64, f64, f64) {
    const STEP_US: u64 = 100;
    let mut harness = TestHarness::default();
    let mut queue = pie(PieConfig { delay_estimate: delay, ..DEFAULT });
    let mut plain = PlainPie {
        p: 0.0,
        qdelay_old: 0.0,
        burst: 0.15,
        sojourn: 0.0,
        avg_dq_time: 0.0,
        in_measurement: false,
        start: 0.0,
        dq_count: 0.0,
    };
    let (mut arrivals, mut highest) = (std::collections::VecDeque::new(), 0.0_f64);
    let (mut p_differs, mut delay_differs) = (0.0_f64, 0.0_f64);
    for tick in 0..300_000u64 {
        let micros = tick * STEP_US;
        let (now, second) = (Time::from_nanos(micros * 1000), micros as f64 / 1e6);
        if queue.next_wakeup() <= now {
            queue.on_wake(&mut harness.at(now));
        }
        if micros.is_multiple_of(15_000) && tick > 0 {
            plain.update(queue.backlog().0 as f64, delay == PieDelay::Timestamps);
            p_differs = p_differs.max((plain.p - queue.drop_prob).abs());
            let ours = queue.delay_old.as_secs_lossy();
            delay_differs = delay_differs.max((plain.qdelay_old - ours).abs());
            assert!((plain.burst - queue.burst_allowance.as_secs_lossy()).abs() < 1e-9, "{second}");
            highest = highest.max(plain.p);
        }
        let every_us = match second {
            s if s < 8.0 => 800, // 1.5 times the rate of the link
            s if s < 12.0 => 2400,
            s if s < 16.0 => u64::MAX,
            s if s < 24.0 => 400,
            _ => 1300,
        };
        if micros.is_multiple_of(every_us) {
            let before = queue.packets();
            queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(now));
            if queue.packets() > before {
                arrivals.push_back(second);
            }
        }
        let has_link = !(18.0..18.4).contains(&second);
        if micros.is_multiple_of(1200) && has_link && queue.dequeue(&mut harness.at(now)).is_some()
        {
            let arrived = arrivals.pop_front().expect("one came for each that leaves");
            plain.dequeued(second, arrived, 1500.0, queue.backlog().0 as f64);
        }
    }
    (p_differs, delay_differs, highest)
}

#[test]
fn step_responses_match_plain_port() {
    for delay in [PieDelay::Timestamps, PieDelay::DepartureRate] {
        let (p_differs, delay_differs, highest) = differences_to_the_plain_port(delay);
        assert!(highest > 0.3, "{delay:?}: {highest}");
        let what = format!("largest difference of p, {delay:?}");
        COURSE.close(what, "", p_differs, 0.0, 1e-6);
        let what = format!("largest difference of the delay, {delay:?}");
        COURSE.close(what, "s", delay_differs, 0.0, 1e-8);
    }
}

/// Overload by 50 %: the delay converges to the target, and a third of the packets is dropped.
#[test]
fn constant_overload_converges_to_target() {
    let (mut harness, mut queue) = (TestHarness::default(), pie(DEFAULT));
    let (mut sum, mut updates) = (0.0, 0.0);
    for tick in 0..600_000u64 {
        let now = Time::from_nanos(tick * 100_000);
        if queue.next_wakeup() <= now {
            queue.on_wake(&mut harness.at(now));
            if tick > 300_000 {
                sum += queue.delay_old.as_secs_lossy();
                updates += 1.0;
            }
        }
        if tick.is_multiple_of(8) {
            queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(now));
        }
        if tick.is_multiple_of(12) {
            queue.dequeue(&mut harness.at(now));
        }
    }
    let (mean, rate) = (sum / updates, queue.drop_prob);
    TARGET.close("mean delay", "s", mean, 0.015, 0.001);
    TARGET.close("drop probability in the end", "", rate, 1.0 / 3.0, 0.1);
}

#[test]
fn timer_stops_when_update_would_change_nothing() {
    let (mut harness, mut queue) = (TestHarness::default(), pie(DEFAULT));
    assert!(queue.next_wakeup().is_never());
    queue.on_rate(LinkRate::of_packets(Rate(0)), &mut harness.at(Time::ZERO));
    queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(Time::from_millis(20)));
    queue.dequeue(&mut harness.at(Time::from_millis(21)));
    assert_eq!(queue.next_wakeup(), Time::from_millis(30), "a multiple of 15 ms");
    queue.on_wake(&mut harness.at(Time::from_millis(29)));
    assert_eq!(queue.next_wakeup(), Time::from_millis(30), "too early");
    queue.on_wake(&mut harness.at(Time::from_millis(30)));
    assert!(queue.next_wakeup().is_never());
    queue.drop_prob = 1.0;
    queue.enqueue(&packet(Ecn::NotEct), &mut harness.at(Time::from_secs(1)));
    queue.dequeue(&mut harness.at(Time::from_secs(1)));
    let mut updates = 0;
    while !queue.next_wakeup().is_never() {
        queue.on_wake(&mut harness.at(queue.next_wakeup()));
        updates += 1;
    }
    assert!(updates < 1000 && queue.drop_prob == 0.0, "{updates} updates from 1 to 0");
}

#[test]
fn check_names_invalid_key() {
    for (config, message) in [
        (PieConfig { limit: 0, ..DEFAULT }, "limit = 0: below 1. Accepted: at least 1"),
        (PieConfig { target_ns: 0, ..DEFAULT }, "target_ns = 0: below 1. Accepted: at least 1"),
        (PieConfig { update_ns: 0, ..DEFAULT }, "update_ns = 0: below 1. Accepted: at least 1"),
        (PieConfig { alpha: -1.0, ..DEFAULT }, "alpha = -1: below 0. Accepted: at least 0"),
        (
            PieConfig { ecn_threshold: 2.0, ..DEFAULT },
            "ecn_threshold = 2: above 1. Accepted: 0 to 1",
        ),
    ] {
        assert_eq!(
            <Pie as Component<dyn QueueDisc + Send>>::check(&config)
                .expect_err("refused")
                .to_string(),
            message
        );
    }
}

/// A bypassing ACK counts as an arrival: it starts the controller, and is admitted at any
/// probability.
#[test]
fn bypassing_arrival_starts_the_timer_and_is_admitted() {
    let mut harness = TestHarness::default();
    let mut queue = dropping(1.0, PieConfig { limit: 2, ..DEFAULT });
    let ack = Packet::ack(FlowId(0), 0, 1000, 40);
    assert!(queue.next_wakeup().is_never());
    assert!(queue.on_bypass(&ack, &mut harness.at(Time::ZERO)));
    assert_eq!(queue.next_wakeup(), Time::from_millis(15));
    queue.on_held(2, Bytes(80), &mut harness.at(Time::ZERO));
    assert!(!queue.on_bypass(&ack, &mut harness.at(Time::ZERO)));
    assert_eq!(harness.counts().total(), 0);
}
