//! Tests of RED at an RLC buffer: drop probability as a function of the occupancy, spacing of
//! drops, choice of the dropped packet.

use super::*;
use airpath_core::{
    Ctx, Duration, Ecn, FlowId, Rate, Recorder, Registry, Seed, Series, Time, testing::TestHarness,
};
use proptest::prelude::*;
use serde_json::json;

/// Parameters for 384 kbit/s, Table 5.
fn paper() -> RlcRedConfig {
    RlcRedConfig {
        limit: 40,
        min_th: 20,
        max_p: 0.05,
        count: true,
        drop: RlcRedDrop::Front,
        ecn: false,
        by_rate: Vec::new(),
    }
}

fn build(config: RlcRedConfig) -> Result<RlcRed, ConfigError> {
    <RlcRed as Component<dyn QueueDisc + Send>>::check(&config)?;
    let registry = Registry::<dyn QueueDisc + Send>::default();
    RlcRed::build(config, Setup { seed: Seed::new(1, 0, "red"), registry: &registry, extra: () })
}

/// A queue that the test drives step by step; packets are numbered from 0.
struct Line {
    harness: TestHarness,
    red: RlcRed,
    put: u32,
    ecn: Ecn,
}

impl Line {
    fn new(config: RlcRedConfig) -> Line {
        let harness =
            TestHarness::recording(Recorder::new(&[Series::Drop, Series::Mark], Duration::ZERO));
        Line {
            harness,
            red: build(config).expect("a valid configuration"),
            put: 0,
            ecn: Ecn::NotEct,
        }
    }

    /// Creates a queue without a record of its events, for tests with many drops.
    fn unrecorded(config: RlcRedConfig) -> Line {
        Line { harness: TestHarness::recording(Recorder::default()), ..Line::new(config) }
    }

    fn ctx(&mut self) -> (Ctx<'_>, &mut RlcRed) {
        (self.harness.at(Time::ZERO), &mut self.red)
    }

    /// Enqueues a packet. Returns true if a packet was dropped or marked.
    fn put(&mut self) -> bool {
        let counts = self.harness.counts();
        let mut packet = Packet::data(FlowId(self.put), 0, 1460, 40, Time::ZERO);
        packet.ecn = self.ecn;
        self.put += 1;
        let (mut ctx, red) = self.ctx();
        red.enqueue(&packet, &mut ctx);
        self.harness.counts() != counts
    }

    fn fill_to(&mut self, occupancy: usize) {
        while self.red.fifo.occupancy() < occupancy {
            self.put();
        }
    }

    fn take_to(&mut self, occupancy: usize) {
        while self.red.fifo.occupancy() > occupancy {
            let (mut ctx, red) = self.ctx();
            red.dequeue(&mut ctx).expect("one packet waits");
        }
    }

    fn hold(&mut self, packets: usize) {
        let (mut ctx, red) = self.ctx();
        red.on_held(packets, Bytes(packets as u64 * 1500), &mut ctx);
    }

    fn set_rate(&mut self, kbps: u64) {
        let (mut ctx, red) = self.ctx();
        red.on_rate(LinkRate::of_packets(Rate(kbps * 1000)), &mut ctx);
    }

    /// Returns the number of arrivals until the next drop or mark, including the arrival that
    /// causes it, at a constant occupancy.
    fn gap(&mut self, occupancy: usize) -> u64 {
        for arrivals in 1..1_000_000 {
            let is_signalled = self.put();
            self.take_to(occupancy);
            if is_signalled {
                return arrivals;
            }
        }
        panic!("no drop in a million arrivals");
    }

    fn dropped(&self, reason: DropReason) -> Vec<u32> {
        let drops = self.harness.recorder().samples(Series::Drop).iter();
        drops.filter(|d| d.value == f64::from(reason as u8)).map(|d| d.id).collect()
    }

    fn marks(&self) -> Vec<u32> {
        self.harness.recorder().samples(Series::Mark).iter().map(|mark| mark.id).collect()
    }
}

/// Parameters with which an arrival that finds 39 packets (limit 40) always causes a drop.
fn certain() -> RlcRedConfig {
    RlcRedConfig { min_th: 38, max_p: 1.0, ..paper() }
}

/// Returns chi-square of gaps against the uniform distribution on `1..=high`. No gap may lie
/// outside this range.
fn chi_square(gaps: &[u64], high: u64) -> f64 {
    let mut bins = vec![0u32; high as usize];
    for gap in gaps {
        assert!((1..=high).contains(gap), "{gap} outside 1 to {high}");
        bins[(gap - 1) as usize] += 1;
    }
    let expected = gaps.len() as f64 / bins.len() as f64;
    bins.iter().map(|seen| (f64::from(*seen) - expected).powi(2) / expected).sum()
}

#[test]
fn p_b_rises_linearly_from_min_th_to_limit() {
    for (occupancy, p_b) in [(0, 0.0), (19, 0.0), (20, 0.0), (30, 0.025), (36, 0.04), (39, 0.0475)]
    {
        let found = rlc_red_drop_probability(occupancy, 20, 40, 0.05);
        assert!((found - p_b).abs() < 1e-15, "{occupancy}: {found}");
    }
}

/// The tolerance is five standard deviations of 100 000 arrivals.
#[test]
fn drop_share_without_count_is_p_b() {
    const ARRIVALS: u32 = 100_000;
    for (occupancy, p_b) in [(21, 0.025), (25, 0.125), (30, 0.25), (39, 0.475)] {
        let mut line = Line::unrecorded(RlcRedConfig { max_p: 0.5, count: false, ..paper() });
        line.fill_to(occupancy);
        let drops = (0..ARRIVALS)
            .filter(|_| {
                let is_dropped = line.put();
                line.take_to(occupancy);
                is_dropped
            })
            .count();
        let share = drops as f64 / f64::from(ARRIVALS);
        let tolerance = 5.0 * (p_b * (1.0 - p_b) / f64::from(ARRIVALS)).sqrt();
        assert!((share - p_b).abs() < tolerance, "{occupancy}: {share}, not {p_b}");
    }
}

/// p_b = 1/8. From the first arrival that finds at least min_th packets, count is 0, 1, … (red-1993
/// Fig. 2). With 7 degrees of freedom, chi-square exceeds 40.5 with probability 10⁻⁶.
#[test]
fn first_drop_with_count_is_uniform_on_1_to_1_over_p_b() {
    let mut line = Line::unrecorded(RlcRedConfig { max_p: 0.25, ..paper() });
    let gaps: Vec<u64> = (0..20_000)
        .map(|_| {
            line.take_to(10);
            line.put();
            // Held packets raise the occupancy without an arrival.
            line.hold(30 - line.red.packets());
            let gap = line.gap(30);
            line.hold(0);
            gap
        })
        .collect();
    assert!(chi_square(&gaps, 8) < 40.5, "{}", chi_square(&gaps, 8));
}

/// After a drop, count is 1 at the next arrival. p_a is 1/7 at this arrival and 1 at the seventh
/// arrival. With 6 degrees of freedom, chi-square exceeds 38.3 with probability 10⁻⁶.
#[test]
fn later_drop_gaps_with_count_are_uniform_on_1_to_1_over_p_b_minus_1() {
    let mut line = Line::unrecorded(RlcRedConfig { max_p: 0.25, ..paper() });
    line.fill_to(30);
    line.gap(30);
    let gaps: Vec<u64> = (0..80_000).map(|_| line.gap(30)).collect();
    assert!(chi_square(&gaps, 7) < 38.3, "{}", chi_square(&gaps, 7));
}

/// p_b = 1/80 at 25 packets and max_p = 0.05, near the operating point of Table 5.
#[test]
fn mean_gap_with_count_at_p_b_1_over_80_is_40() {
    const DROPS: u32 = 20_000;
    let mut line = Line::unrecorded(paper());
    line.fill_to(25);
    line.gap(25);
    let sum: u64 = (0..DROPS).map(|_| line.gap(25)).sum();
    let mean = sum as f64 / f64::from(DROPS);
    // Gaps are uniform on 1 to 79: mean 40, variance (79² − 1)/12. The tolerance is five standard
    // deviations.
    let tolerance = 5.0 * ((79.0_f64.powi(2) - 1.0) / 12.0 / f64::from(DROPS)).sqrt();
    assert!((mean - 40.0).abs() < tolerance, "{mean}");
}

#[test]
fn count_restarts_below_min_th() {
    let mut line = Line::new(RlcRedConfig { max_p: 1.0, ..paper() });
    line.fill_to(20);
    for _ in 0..1000 {
        line.take_to(19);
        assert!(!line.put());
    }
    assert_eq!(line.red.count, None);
    line.put();
    assert_eq!(line.red.count, Some(0));
    line.put();
    assert!(line.red.count.is_some());
    line.take_to(19);
    line.put();
    assert_eq!(line.red.count, None);
}

/// The first arrival that finds 39 packets causes a drop with probability 1/2, because the
/// probability depends on the instantaneous occupancy and not on an average.
#[test]
fn probability_follows_instantaneous_occupancy() {
    let first_is_dropped = |replication| {
        let registry = Registry::<dyn QueueDisc + Send>::default();
        let seed = Seed::new(1, replication, "red");
        let setup = Setup { seed, registry: &registry, extra: () };
        let mut line = Line::unrecorded(certain());
        line.red = RlcRed::build(certain(), setup).expect("a valid configuration");
        line.fill_to(1);
        line.hold(38);
        line.put()
    };
    let dropped = (0..10_000).filter(|replication| first_is_dropped(*replication)).count();
    // Five standard deviations.
    assert!((4750..=5250).contains(&dropped), "{dropped} of 10 000");
}

#[test]
fn full_buffer_drops_arrival_and_restarts_count() {
    let mut line = Line::new(RlcRedConfig { max_p: 0.0, ..paper() });
    line.fill_to(40);
    assert_eq!(line.red.count, Some(19));
    line.put();
    assert_eq!((line.dropped(DropReason::Overflow), line.red.count), (vec![40], Some(0)));
    assert_eq!((line.dropped(DropReason::Early), line.red.packets()), (vec![], 40));
}

/// Enqueues packets at an occupancy of 39 until a packet is dropped or marked.
fn put_until_signal(line: &mut Line) {
    line.fill_to(38);
    line.put();
    while line.red.fifo.occupancy() >= 39 && !line.put() {
        line.take_to(39);
    }
}

#[test]
fn oldest_packet_not_in_transmission_is_dropped() {
    let mut line = Line::new(certain());
    line.fill_to(38);
    line.take_to(30);
    line.hold(9);
    // p_b = 1/2 for arrivals that find 39 packets: the second arrival causes a drop at the latest.
    let first = line.put();
    if !first {
        line.take_to(39);
        assert!(line.put());
    }
    let front = if first { 8 } else { 9 };
    assert_eq!(line.dropped(DropReason::Early), [front]);
    assert_eq!(line.red.fifo.occupancy(), 39);
}

#[test]
fn arrival_is_dropped_if_all_packets_are_in_transmission() {
    let mut line = Line::new(certain());
    line.hold(39);
    if !line.put() {
        line.take_to(39);
        assert!(line.put());
    }
    assert_eq!(line.dropped(DropReason::Early), [line.put - 1]);
    assert_eq!((line.red.packets(), line.red.fifo.occupancy()), (0, 39));
}

#[test]
fn option_drop_arrival_drops_arriving_packet() {
    let mut line = Line::new(RlcRedConfig { drop: RlcRedDrop::Arrival, ..certain() });
    put_until_signal(&mut line);
    assert_eq!(line.dropped(DropReason::Early), [line.put - 1]);
    assert_eq!(line.red.packets(), 39);
}

#[test]
fn ecn_marks_front_or_arrival_without_drops() {
    for drop in [RlcRedDrop::Front, RlcRedDrop::Arrival] {
        let mut line = Line::new(RlcRedConfig { drop, ecn: true, ..certain() });
        line.ecn = Ecn::Ect0;
        line.fill_to(39);
        let before = line.red.fifo.front().expect("39 wait").flow.0;
        let mut marked = line.put();
        let mut front = before;
        while !marked {
            line.take_to(39);
            front = line.red.fifo.front().expect("39 wait").flow.0;
            marked = line.put();
        }
        let expected = if drop == RlcRedDrop::Front { front } else { line.put - 1 };
        assert_eq!((line.marks(), line.red.packets()), (vec![expected], 40), "{drop:?}");
        assert_eq!(line.harness.counts().total(), 0);
    }
}

#[test]
fn packet_without_ect_is_dropped_despite_ecn() {
    for drop in [RlcRedDrop::Front, RlcRedDrop::Arrival] {
        let mut line = Line::new(RlcRedConfig { drop, ecn: true, ..certain() });
        put_until_signal(&mut line);
        let drops = line.dropped(DropReason::Early).len();
        assert_eq!((line.marks(), drops), (vec![], 1), "{drop:?}");
    }
}

#[test]
fn rate_change_selects_row_and_restarts_count() {
    let row = |kbps: u64, min_th, max_p| RlcRedRow { rate_bps: kbps * 1000, min_th, max_p };
    let by_rate = vec![row(384, 20, 0.05), row(128, 10, 1.0)];
    let mut line = Line::new(RlcRedConfig { by_rate, ..paper() });
    line.set_rate(384);
    line.fill_to(20);
    line.put();
    assert_eq!((line.red.min_th, line.red.max_p, line.red.count), (20, 0.05, Some(0)));
    line.set_rate(128);
    assert_eq!((line.red.min_th, line.red.max_p, line.red.count), (10, 1.0, None));
    // p_b = 11/30, then 12/30: one of three arrivals causes a drop.
    let dropped = (0..3).filter(|_| line.put()).count();
    assert!(dropped > 0);
    line.set_rate(200);
    assert!(line.red.count.is_some(), "the same row");
}

#[test]
fn check_names_invalid_key() {
    let bad = |changes: serde_json::Value| {
        let mut description = json!({"limit": 40, "min_th": 20, "max_p": 0.05});
        for (key, value) in changes.as_object().expect("a table") {
            description[key] = value.clone();
        }
        let config = serde_json::from_value(description).expect("of the right types");
        build(config).expect_err("a bad value").to_string()
    };
    let row = json!({"rate_bps": 1, "min_th": 20, "max_p": 2});
    for (changes, text) in [
        (json!({"limit": 0}), "limit = 0: below 1. Accepted: at least 1"),
        (json!({"min_th": 40}), "min_th = 40: not below limit. Accepted: less than 40"),
        (json!({"max_p": 1.5}), "max_p = 1.5: above 1. Accepted: 0 to 1"),
        (json!({"by_rate": [row]}), "by_rate.0.max_p = 2: above 1. Accepted: 0 to 1"),
    ] {
        assert_eq!(bad(changes), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For any sequence of arrivals (true) and departures: the packet accounting is balanced, the
    /// limit holds, no early drop occurs below min_th, and a second run gives the same result.
    #[test]
    fn limits_and_accounting_hold(
        limit in 1..50usize,
        min_th in 0..50usize,
        max_p in 0.0..=1.0f64,
        count in any::<bool>(),
        at_front in any::<bool>(),
        steps in prop::collection::vec(any::<bool>(), 1..500),
    ) {
        let drop = if at_front { RlcRedDrop::Front } else { RlcRedDrop::Arrival };
        let min_th = min_th.min(limit - 1);
        let config = RlcRedConfig { limit, min_th, max_p, count, drop, ..paper() };
        let runs = [0, 1].map(|_| {
            let (mut line, mut taken) = (Line::new(config.clone()), 0);
            for is_arrival in &steps {
                let found = line.red.fifo.occupancy();
                if *is_arrival {
                    let is_dropped = line.put();
                    assert!(!is_dropped || found >= min_th);
                } else if found > 0 {
                    line.take_to(found - 1);
                    taken += 1;
                }
                assert!(line.red.fifo.occupancy() <= limit);
            }
            let dropped = line.harness.counts().total();
            assert_eq!(u64::from(line.put), taken + dropped + line.red.packets() as u64);
            (line.dropped(DropReason::Early), line.dropped(DropReason::Overflow))
        });
        prop_assert_eq!(&runs[0], &runs[1]);
    }
}
