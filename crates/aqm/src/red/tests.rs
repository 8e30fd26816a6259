//! Tests of RED: each step of the algorithm in red-1993, and the spacing of drops.

use super::*;
use crate::red_dropper::{
    RedCurve, red_automatic_min_th, red_automatic_weight, red_average, red_final_probability,
    red_idle_average, red_initial_probability,
};
use airpath_conformance::Law;
use airpath_core::{Ecn, FlowId, Rate, Seed, Time, testing::TestHarness};

/// The parameters of red-1993, with an average equal to the queue length.
const PLAIN: RedConfig = RedConfig {
    limit: 100,
    min_th: Some(5.0),
    max_th: Some(15.0),
    max_p: 0.25,
    weight: Some(1.0),
    target_delay_ns: 5_000_000,
    mean_packet_bytes: 500,
    gentle: false,
    wait: false,
    ecn: false,
    hard_drop: true,
    variant: RedVariant::Red1993,
};

/// The same parameters with the variant of ns-2 and ns-3.
const NS: RedConfig = RedConfig { variant: RedVariant::Ns, ..PLAIN };

const SPACING: Law = Law {
    area: "RED",
    source: "red-1993 §7: drops at a constant average are spaced uniformly",
    allows: "chi-square of 80 000 spacings in 8 bins: one in a million is above 40.5; shares: five \
             standard deviations",
};
const NS_SPACING: Law = Law {
    area: "RED",
    source: "red-1993 fig. 2, ns-2, ns-3: the arrival itself is counted, spacings to 1/p_b − 1",
    allows: "chi-square of 80 000 spacings in 7 or 8 bins: one in a million is above 38.3 or 40.5",
};
const CURVE: Law = Law {
    area: "RED",
    source: "red-1993 §4: p_b over the average (min_th 5, max_th 15, max_p 0.1), without and with \
             gentle",
    allows: "rounding of doubles",
};
const AVERAGE: Law = Law {
    area: "RED",
    source: "red-1993 §4: the average over arrivals and idle times",
    allows: "rounding of doubles, over up to 2000 arrivals",
};
const AUTOMATIC: Law = Law {
    area: "RED",
    source: "Floyd, Gummadi & Shenker 2001 §5: automatic thresholds and weight, C = 25 000 \
             packets/s",
    allows: "rounding of doubles; 1 − 1/e is given with ten digits",
};

struct Line {
    harness: TestHarness,
    red: Red,
    now: Time,
    ecn: Ecn,
}

impl Line {
    fn new(config: RedConfig) -> Line {
        let red = Red::new(config, Seed::new(1, 0, "red").stream());
        Line { harness: TestHarness::default(), red, now: Time::ZERO, ecn: Ecn::NotEct }
    }

    /// Enqueues a packet. Returns true if the packet was admitted.
    fn put(&mut self) -> bool {
        let before = self.red.packets();
        let mut packet = Packet::data(FlowId(0), 0, 1460, 40, self.now);
        packet.ecn = self.ecn;
        self.red.enqueue(&packet, &mut self.harness.at(self.now));
        self.red.packets() > before
    }

    fn take(&mut self) -> Option<Packet> {
        self.red.dequeue(&mut self.harness.at(self.now))
    }

    fn fill_to(&mut self, packets: usize) {
        for _ in 0..100_000 {
            if self.red.packets() == packets {
                return;
            }
            self.put();
        }
        panic!("the limit is below {packets} packets");
    }

    /// Returns, for each pair of consecutive drops or marks, the number of arrivals after the first
    /// one, including the second one. The queue length is constant.
    fn spacings(&mut self, number: usize) -> Vec<u64> {
        let (mut spacings, mut arrivals) = (Vec::new(), 0);
        let signals = |line: &Line| line.harness.counts().total() + line.harness.counts().marked;
        let mut before = None;
        while spacings.len() < number {
            arrivals += 1;
            let signalled = signals(self);
            if self.put() {
                self.take();
            }
            if signals(self) > signalled {
                if before.replace(()).is_some() {
                    spacings.push(arrivals);
                }
                arrivals = 0;
            }
        }
        spacings
    }
}

/// Returns chi-square of spacings against the uniform distribution on `low..=high`.
fn chi_square(spacings: &[u64], low: u64, high: u64) -> f64 {
    let mut bins = vec![0u32; (high - low + 1) as usize];
    for spacing in spacings {
        assert!((low..=high).contains(spacing), "{spacing} outside {low} to {high}");
        bins[(spacing - low) as usize] += 1;
    }
    let expected = spacings.len() as f64 / bins.len() as f64;
    bins.iter().map(|seen| (f64::from(*seen) - expected).powi(2) / expected).sum()
}

/// P(chi-square with 7 degrees of freedom > 40.5) = 10⁻⁶.
const ONE_IN_A_MILLION: f64 = 40.5;

/// p_b = 0.25 (10 − 5)/(15 − 5) = 1/8.
#[test]
fn drop_spacing_is_uniform_on_1_to_1_over_pb() {
    let mut line = Line::new(PLAIN);
    line.fill_to(10);
    let chi = chi_square(&line.spacings(80_000), 1, 8);
    SPACING.between("1 to 8, drops", "χ²", chi, 0.0, ONE_IN_A_MILLION);
}

/// Figure 2 of red-1993, ns-2, ns-3: the count includes the arrival itself, so p_a is 1/7 at the
/// first arrival and 1 at the seventh. With 6 degrees of freedom, chi-square exceeds 38.3 with
/// probability 10⁻⁶.
#[test]
fn variant_ns_spacing_is_uniform_on_1_to_1_over_pb_minus_1() {
    let mut line = Line::new(NS);
    line.fill_to(10);
    let chi = chi_square(&line.spacings(80_000), 1, 7);
    NS_SPACING.between("1 to 7, drops", "χ²", chi, 0.0, 38.3);
}

#[test]
fn variant_ns_with_wait_spacing_starts_at_1_over_pb() {
    let mut line = Line::new(RedConfig { wait: true, ..NS });
    line.fill_to(10);
    let chi = chi_square(&line.spacings(80_000), 8, 15);
    NS_SPACING.between("8 to 15, drops with wait", "χ²", chi, 0.0, ONE_IN_A_MILLION);
}

/// An average of 1 forces every drop, but the second packet is admitted.
#[test]
fn variant_ns_admits_arrival_that_finds_fewer_than_two() {
    let curve = RedConfig { min_th: Some(0.5), max_th: Some(1.0), ..PLAIN };
    for (variant, admitted) in [(RedVariant::Red1993, 1), (RedVariant::Ns, 2)] {
        let mut line = Line::new(RedConfig { variant, ..curve });
        for _ in 0..10 {
            line.put();
        }
        assert_eq!(line.red.packets(), admitted, "{variant:?}");
    }
}

/// p_b is 1/4 for each arrival that finds four packets; the first is never dropped.
#[test]
fn variant_ns_admits_first_arrival_above_min_th() {
    let curve = RedConfig { min_th: Some(3.5), max_th: Some(5.5), max_p: 1.0, ..PLAIN };
    let dropped = |variant| {
        let mut line = Line::new(RedConfig { variant, ..curve });
        (0..200)
            .filter(|_| {
                while line.red.packets() > 3 {
                    line.take();
                }
                line.fill_to(4);
                !line.put()
            })
            .count()
    };
    assert_eq!(dropped(RedVariant::Ns), 0);
    assert!(dropped(RedVariant::Red1993) > 0);
}

#[test]
fn drop_spacing_with_wait_starts_after_1_over_pb() {
    let mut line = Line::new(RedConfig { wait: true, ..PLAIN });
    line.fill_to(10);
    let chi = chi_square(&line.spacings(80_000), 9, 16);
    SPACING.between("9 to 16, drops with wait", "χ²", chi, 0.0, ONE_IN_A_MILLION);
}

/// At 18 packets, p_b = 0.25 + 0.75 · 3/15 = 0.4: spacings 1, 2 and 3 with 0.4, 0.4 and 0.2.
#[test]
fn gentle_drop_spacing_matches_probability() {
    const DROPS: usize = 30_000;
    let mut line = Line::new(RedConfig { gentle: true, ..PLAIN });
    line.fill_to(18);
    let spacings = line.spacings(DROPS);
    for (spacing, share) in [(1, 0.4), (2, 0.4), (3, 0.2), (4, 0.0)] {
        let found = spacings.iter().filter(|s| **s == spacing).count() as f64 / DROPS as f64;
        let five_deviations = 5.0 * (0.24 / DROPS as f64).sqrt();
        let what = format!("share of spacing {spacing}, gentle, p_b = 0.4");
        SPACING.close(what, "", found, share, five_deviations);
    }
}

#[test]
fn mark_spacing_equals_drop_spacing_without_loss() {
    let mut line = Line::new(RedConfig { ecn: true, ..PLAIN });
    line.ecn = Ecn::Ect0;
    line.fill_to(10);
    let chi = chi_square(&line.spacings(80_000), 1, 8);
    SPACING.between("1 to 8, marks", "χ²", chi, 0.0, ONE_IN_A_MILLION);
    assert_eq!(line.harness.counts().total(), 0);
    line.ecn = Ecn::NotEct;
    line.spacings(10);
    assert!(line.harness.counts().total() > 0, "a packet that is not capable is dropped");
}

#[test]
fn final_probability_matches_formula_at_limits() {
    for (p_b, count, wait, p_a) in [
        (0.125, 0, false, 0.125),
        (0.125, 4, false, 0.25),
        (0.125, 7, false, 1.0),
        (0.125, 100, false, 1.0),
        (0.125, 7, true, 0.0),
        (0.125, 8, true, 0.125),
        (0.125, 12, true, 0.25),
        (0.125, 15, true, 1.0),
        (0.125, 100, true, 1.0),
        (0.0, u64::MAX, false, 0.0),
        (0.0, u64::MAX, true, 0.0),
    ] {
        assert_eq!(red_final_probability(p_b, count, wait), p_a, "{p_b} {count} {wait}");
    }
}

#[test]
fn initial_probability_matches_formula_at_limits() {
    let curve = RedCurve { min_th: 5.0, max_th: 15.0, max_p: 0.1, gentle: false };
    let gentle = RedCurve { gentle: true, ..curve };
    for (average, plain, gently) in [
        (0.0, 0.0, 0.0),
        (5.0, 0.0, 0.0),
        (10.0, 0.05, 0.05),
        (15.0, 1.0, 0.1),
        (22.5, 1.0, 0.55),
        (30.0, 1.0, 1.0),
        (1e9, 1.0, 1.0),
    ] {
        let found = [&curve, &gentle].map(|curve| red_initial_probability(average, curve));
        CURVE.close(format!("average {average}"), "", found[0], plain, 1e-12);
        CURVE.close(format!("average {average}, gentle"), "", found[1], gently, 1e-12);
    }
}

/// With a constant queue length q, the average after n arrivals is q (1 − (1 − w)ⁿ).
#[test]
fn average_matches_closed_form() {
    let mut line = Line::new(RedConfig { weight: Some(0.002), max_p: 0.0, ..PLAIN });
    line.fill_to(10);
    let start = line.red.dropper().average();
    let mut largest = 0.0_f64;
    for n in 1..=2000 {
        line.put();
        line.take();
        let expected = 10.0 + (start - 10.0) * 0.998_f64.powi(n);
        largest = largest.max((line.red.dropper().average() - expected).abs());
    }
    let what = "largest difference from q (1 − (1 − w)ⁿ), n to 2000";
    AVERAGE.close(what, "packets", largest, 0.0, 1e-9);
    assert!((red_average(4.0, 0.25, 8.0) - 5.0).abs() < 1e-15);
}

/// 8 Mbit/s is 2000 packets of 500 bytes per second: 10 ms idle are 20 slots.
#[test]
fn average_decays_only_while_idle() {
    for by_service in [false, true] {
        let mut line = Line::new(RedConfig { weight: Some(0.1), max_p: 0.0, ..PLAIN });
        line.red.on_rate(LinkRate::of_packets(Rate(8_000_000)), &mut line.harness.at(Time::ZERO));
        line.fill_to(10);
        let mut last = None;
        while line.red.packets() > 0 {
            last = line.take();
        }
        let busy = line.red.dropper().average();
        line.now = Time::from_millis(1);
        if by_service {
            let mut sent = last.expect("ten waited");
            line.red.on_served(&mut sent, &mut line.harness.at(line.now));
        } else {
            assert!(line.take().is_none());
        }
        line.now = Time::from_millis(5);
        assert!(line.take().is_none(), "still idle: the beginning counts");
        line.now = Time::from_millis(11);
        line.put();
        let idle = busy * 0.9_f64.powi(21); // decay of 20 slots, and a sample of zero
        let from = if by_service { "the end of service" } else { "a failed dequeue" };
        let what = format!("average after 20 idle slots from {from}");
        AVERAGE.close(what, "packets", line.red.dropper().average(), idle, 1e-12);
        line.now = Time::from_millis(12);
        line.take();
        line.put();
        let average = line.red.dropper().average();
        assert!((average - idle * 0.9).abs() < 1e-12, "the link was busy: one sample of zero");
    }
    assert!((red_idle_average(8.0, 0.5, 3.0) - 1.0).abs() < 1e-12);
}

/// Regression test for an error in which a dropped arrival ended the idle time. If the link did not
/// poll the empty queue again (`trace`, `rlc-am`), the average never decreased and every later
/// arrival was dropped.
#[test]
fn dropped_arrival_does_not_end_idle_time() {
    let forced = RedConfig { weight: Some(0.1), gentle: false, ..PLAIN };
    let early = RedConfig { min_th: Some(0.0), max_th: Some(1e-9), max_p: 1.0, ..forced };
    for config in [forced, RedConfig { gentle: true, ..early }, RedConfig { ecn: true, ..forced }] {
        let mut line = Line::new(config);
        line.red.on_rate(LinkRate::of_packets(Rate(8_000_000)), &mut line.harness.at(Time::ZERO));
        for held in [1000, 0] {
            line.red.on_held(held, Bytes(1500 * held as u64), &mut line.harness.at(Time::ZERO));
            assert!(held == 0 || !line.put(), "full");
        }
        let busy = line.red.dropper().average();
        for millis in [1, 2, 3] {
            line.now = Time::from_millis(millis);
            assert!(!line.put(), "{config:?}: the average is far above");
        }
        let slots_and_samples = busy * 0.9_f64.powi(3 * 2 + 3);
        let average = line.red.dropper().average();
        assert!((average - slots_and_samples).abs() < 1e-9, "{average}: no slot counts twice");
        line.now = Time::from_secs(60);
        assert!(line.put(), "{config:?}: after a minute without traffic");
    }
}

#[test]
fn count_restarts_below_min_th() {
    let mut line = Line::new(PLAIN);
    line.fill_to(5);
    assert_eq!(line.harness.counts().total(), 0);
    line.fill_to(10);
    line.spacings(1);
    for _ in 0..7 {
        line.take();
    }
    line.put(); // avg = 3
    line.take();
    for _ in 0..20 {
        assert!(line.put(), "at 3 packets and a count of any size");
        line.take();
    }
}

#[test]
fn red_drops_every_arrival_from_max_th_with_or_without_ecn() {
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        let mut line = Line::new(RedConfig { max_p: 0.0, ecn: true, ..PLAIN });
        line.ecn = ecn;
        line.fill_to(15);
        assert!((0..100).all(|_| !line.put()), "{ecn:?}");
        let counts = line.harness.counts();
        assert_eq!((counts.dropped[DropReason::Early as usize], counts.marked), (100, 0));
    }
}

/// RFC 8257 §3.1: marking starts at the instantaneous queue length K. Here K = 15.
#[test]
fn red_marks_every_arrival_above_step_without_hard_drop() {
    let step = RedConfig {
        min_th: Some(15.0),
        max_th: Some(16.0),
        max_p: 1.0,
        ecn: true,
        hard_drop: false,
        ..PLAIN
    };
    let mut line = Line::new(step);
    line.ecn = Ecn::Ect0;
    for (queue, marked) in [(15, 0), (16, 0), (17, 1), (50, 34), (100, 84)] {
        line.fill_to(queue);
        assert_eq!(line.harness.counts().marked, marked, "at {queue} packets");
    }
    assert!(!line.put());
    let overflow = line.harness.counts().dropped[DropReason::Overflow as usize];
    assert_eq!((overflow, line.harness.counts().total()), (1, 1));
    line.take();
    line.ecn = Ecn::NotEct;
    assert!(!line.put(), "a packet that is not capable is dropped beyond the step");
}

#[test]
fn gentle_red_drops_every_arrival_from_twice_max_th() {
    let mut line = Line::new(RedConfig { gentle: true, ..PLAIN });
    line.fill_to(30);
    assert!((0..100).all(|_| !line.put()));
}

#[test]
fn full_buffer_drops_at_any_average() {
    let mut line = Line::new(RedConfig { weight: Some(1e-9), limit: 4, ..PLAIN });
    assert_eq!((0..6).filter(|_| line.put()).count(), 4);
    assert_eq!(line.harness.counts().dropped[DropReason::Overflow as usize], 2);
}

/// 100 Mbit/s in packets of 500 bytes: C = 25 000 packets/s.
#[test]
fn automatic_settings_follow_link_rate() {
    let config = RedConfig { min_th: None, max_th: None, weight: None, ..PLAIN };
    let mut line = Line::new(config);
    let curve = *line.red.dropper().curve();
    assert_eq!((curve.min_th, curve.max_th, line.red.dropper().weight()), (5.0, 15.0, 0.002));
    line.red.on_rate(LinkRate::of_packets(Rate::from_mbps(100)), &mut line.harness.at(Time::ZERO));
    let curve = *line.red.dropper().curve();
    AUTOMATIC.close("min_th at 5 ms", "packets", curve.min_th, 62.5, 1e-9);
    AUTOMATIC.close("max_th at 5 ms", "packets", curve.max_th, 187.5, 1e-9);
    let weight = 1.0 - (-1.0_f64 / 25_000.0).exp();
    AUTOMATIC.close("weight", "", line.red.dropper().weight(), weight, 1e-12);
    line.red.on_rate(LinkRate::of_packets(Rate(0)), &mut line.harness.at(Time::ZERO));
    assert_eq!(*line.red.dropper().curve(), curve, "an outage changes nothing");
    assert_eq!(red_automatic_min_th(Duration::from_millis(5), 2000.0), 5.0);
    let weight = red_automatic_weight(1.0);
    AUTOMATIC.close("weight at 1 packet/s", "", weight, 0.632_120_558_8, 1e-9);
}

#[test]
fn check_names_invalid_key() {
    for (config, message) in [
        (RedConfig { limit: 0, ..PLAIN }, "limit = 0: below 1. Accepted: at least 1"),
        (RedConfig { min_th: Some(-1.0), ..PLAIN }, "min_th = -1: below 0. Accepted: at least 0"),
        (
            RedConfig { min_th: None, ..PLAIN },
            "max_th = 15: given with an automatic min_th. Set both thresholds or none",
        ),
        (
            RedConfig { max_th: Some(5.0), ..PLAIN },
            "max_th = 5: not above min_th. Accepted: more than 5",
        ),
        (
            RedConfig { min_th: Some(0.0), max_th: None, ..PLAIN },
            "max_th = automatic: three times min_th = 0. Set max_th above min_th",
        ),
        (RedConfig { max_p: 1.5, ..PLAIN }, "max_p = 1.5: above 1. Accepted: 0 to 1"),
        (
            RedConfig { weight: Some(0.0), ..PLAIN },
            "weight = 0: not above 0. Accepted: more than 0, at most 1",
        ),
        (
            RedConfig { mean_packet_bytes: 0, ..PLAIN },
            "mean_packet_bytes = 0: below 1. Accepted: at least 1",
        ),
    ] {
        assert_eq!(
            <Red as Component<dyn QueueDisc + Send>>::check(&config)
                .expect_err("refused")
                .to_string(),
            message
        );
    }
}

#[test]
fn average_counts_waiting_and_held_packets() {
    let mut line = Line::new(PLAIN);
    line.red.on_held(9, Bytes(9 * 1500), &mut line.harness.at(Time::ZERO));
    line.put();
    assert_eq!(line.red.dropper().average(), 9.0);
}

/// A link that holds packets between two transmissions is not idle.
#[test]
fn average_decays_only_while_link_holds_no_packet() {
    let average_after_a_second = |held: usize| {
        let mut line = Line::new(RedConfig { weight: Some(0.5), ..PLAIN });
        line.red.on_rate(LinkRate::of_packets(Rate(40_000)), &mut line.harness.at(Time::ZERO));
        line.red.on_held(8, Bytes(8 * 1500), &mut line.harness.at(Time::ZERO));
        line.put();
        line.red.dequeue(&mut line.harness.at(Time::ZERO));
        assert!(line.red.dequeue(&mut line.harness.at(Time::ZERO)).is_none());
        line.red.on_held(held, Bytes(held as u64 * 1500), &mut line.harness.at(Time::ZERO));
        line.now = Time::from_secs(1);
        line.put();
        line.red.dropper().average()
    };
    // The link sends ten packets of 500 bytes per second. If it was idle: an average of 4 / 2¹⁰ and
    // a sample of 0. If it held a packet: an average of 4 and a sample of 1.
    assert_eq!(average_after_a_second(0), 4.0 / 1024.0 / 2.0);
    assert_eq!(average_after_a_second(1), 2.5);
}
