//! Tests of SBD: dropped packets and their times, for each rule of sbd-2006.

mod properties;

use super::*;
use airpath_core::testing::TestHarness;
use airpath_core::{Ecn, FlowId, Rate, Recorder, Registry, Seed, Series};
use serde_json::json;

/// Parameters for 384 kbit/s, Table 3.
fn paper() -> SbdConfig {
    SbdConfig {
        limit: 40,
        min_th: 20,
        reaction_time_ns: 200_000_000,
        alpha: 5,
        tick_ns: 10_000_000,
        expiry: SbdExpiry::Timer,
        after_drop: SbdAfterDrop::React,
        ecn: false,
        by_rate: Vec::new(),
    }
}

fn build(config: SbdConfig) -> Result<Sbd, ConfigError> {
    <Sbd as Component<dyn QueueDisc + Send>>::check(&config)?;
    let registry = Registry::<dyn QueueDisc + Send>::default();
    Sbd::build(config, Setup { seed: Seed::new(1, 0, "sbd"), registry: &registry, extra: () })
}

/// A queue that the test drives step by step; packets are numbered from 0. Times in ms.
struct Line {
    harness: TestHarness,
    sbd: Sbd,
    put: u32,
    held: usize,
    ecn: Ecn,
}

impl Line {
    fn new(config: SbdConfig) -> Line {
        let harness =
            TestHarness::recording(Recorder::new(&[Series::Drop, Series::Mark], Duration::ZERO));
        Line {
            harness,
            sbd: build(config).expect("a valid configuration"),
            put: 0,
            held: 0,
            ecn: Ecn::NotEct,
        }
    }

    /// Performs every wake-up due by `ms`. Returns the context and the queue.
    fn at(&mut self, ms: u64) -> (Ctx<'_>, &mut Sbd) {
        let now = Time::from_millis(ms);
        while self.sbd.next_wakeup() <= now {
            let due = self.sbd.next_wakeup();
            self.sbd.on_wake(&mut self.harness.at(due));
        }
        (self.harness.at(now), &mut self.sbd)
    }

    /// Enqueues `count` packets.
    fn put(&mut self, count: u32, ms: u64) {
        for _ in 0..count {
            let mut packet = Packet::data(FlowId(self.put), 0, 1460, 40, Time::ZERO);
            packet.ecn = self.ecn;
            self.put += 1;
            let (mut ctx, sbd) = self.at(ms);
            sbd.enqueue(&packet, &mut ctx);
        }
    }

    /// Dequeues `count` packets; the link holds none of them.
    fn take(&mut self, count: u32, ms: u64) {
        for _ in 0..count {
            let (mut ctx, sbd) = self.at(ms);
            sbd.dequeue(&mut ctx).expect("one packet waits");
        }
    }

    /// Dequeues `count` packets that the link holds.
    fn hold(&mut self, count: usize, ms: u64) {
        self.take(count as u32, ms);
        self.held += count;
        let held = self.held;
        let (mut ctx, sbd) = self.at(ms);
        sbd.on_held(held, Bytes(held as u64 * 1500), &mut ctx);
    }

    fn set_rate(&mut self, kbps: u64, ms: u64) {
        let (mut ctx, sbd) = self.at(ms);
        sbd.on_rate(LinkRate::of_packets(Rate(kbps * 1000)), &mut ctx);
    }

    fn occupancy(&self) -> usize {
        self.sbd.fifo.occupancy()
    }

    /// Returns th_n and the expiry time of C_n, ms; `None` if C_n does not run.
    fn measuring(&mut self, ms: u64) -> Option<(usize, u64)> {
        self.at(ms);
        match self.sbd.phase {
            Phase::Measuring { threshold, until } => {
                Some((threshold, until.as_nanos() / 1_000_000))
            }
            _ => None,
        }
    }

    /// Returns the expiry time of T_r, ms; `None` if T_r does not run.
    fn reacting(&mut self, ms: u64) -> Option<u64> {
        self.at(ms);
        match self.sbd.phase {
            Phase::Reacting { until } => Some(until.as_nanos() / 1_000_000),
            _ => None,
        }
    }

    /// Returns the drops for `reason` as pairs of time in ms and packet number.
    fn dropped(&self, reason: DropReason) -> Vec<(u64, u32)> {
        let drops = self.harness.recorder().samples(Series::Drop).iter();
        drops
            .filter(|drop| drop.value == f64::from(reason as u8))
            .map(|drop| (drop.time.as_nanos() / 1_000_000, drop.id))
            .collect()
    }

    /// Returns the early drops. Fails if there are other drops.
    fn drops(&self) -> Vec<(u64, u32)> {
        assert_eq!(self.dropped(DropReason::Overflow), []);
        self.dropped(DropReason::Early)
    }

    fn marks(&self) -> Vec<u32> {
        self.harness.recorder().samples(Series::Mark).iter().map(|mark| mark.id).collect()
    }
}

#[test]
fn critical_rate_and_c_n_match_eq_1() {
    let (ms, tick) = (Duration::from_millis, Duration::from_millis(10));
    assert_eq!(sbd_threshold(15, 5, 40), 20);
    assert_eq!(sbd_critical_rate(20, ms(200), 40), 100.0);
    assert_eq!(sbd_measuring_time(15, 5, 40, ms(200), tick), ms(50));
    assert_eq!(sbd_threshold(5, 5, 40), 10);
    assert_eq!(sbd_critical_rate(10, ms(2500), 40), 12.0);
    let unrounded = sbd_measuring_time(5, 5, 40, ms(2500), Duration::from_nanos(1));
    assert_eq!(unrounded, Duration::from_nanos(416_666_667));
    assert_eq!(sbd_measuring_time(5, 5, 40, ms(2500), tick), ms(420));
}

#[test]
fn front_is_dropped_if_th_n_is_reached_before_c_n_expires() {
    let mut line = Line::new(paper());
    line.put(14, 0);
    assert_eq!(line.measuring(0), None);
    line.put(1, 0);
    assert_eq!(line.measuring(0), Some((20, 50)));
    line.put(4, 40);
    assert_eq!((line.drops(), line.occupancy()), (vec![], 19));
    line.put(1, 49);
    assert_eq!((line.drops(), line.occupancy()), (vec![(49, 0)], 19));
    assert_eq!(line.reacting(49), Some(249));
}

/// If a timer expires at the time of an arrival, the expiry is processed first.
#[test]
fn expiry_of_c_n_restarts_measurement_without_drop() {
    let mut line = Line::new(paper());
    line.put(15, 0);
    line.put(4, 40);
    line.put(1, 50);
    assert_eq!((line.drops(), line.occupancy()), (vec![], 20));
    // From BO = 19: r_c = 16 / 0.2 s, C = 62.5 ms.
    assert_eq!(line.measuring(50), Some((24, 120)));
}

#[test]
fn c_n_stays_stopped_below_min_th_minus_alpha() {
    let mut line = Line::new(paper());
    line.put(15, 0);
    line.take(2, 10);
    assert_eq!(line.measuring(49), Some((20, 50)));
    assert_eq!(line.measuring(50), None);
    assert_eq!(line.sbd.next_wakeup(), Time::NEVER);
    line.put(1, 60);
    assert_eq!(line.measuring(60), None);
    line.put(1, 70);
    assert_eq!(line.measuring(70), Some((20, 120)));
}

/// Fig. 4: in C0, C1 and C2 the occupancy stays below the critical line; in C3 it reaches the line.
#[test]
fn only_last_interval_of_fig_4_drops() {
    let mut line = Line::new(paper());
    line.put(15, 0);
    assert_eq!(line.measuring(0), Some((20, 50)));
    line.put(4, 30);
    line.take(2, 45);
    assert_eq!(line.measuring(50), Some((22, 110)));
    line.put(2, 100);
    assert_eq!(line.measuring(110), Some((24, 180)));
    line.put(4, 120);
    line.take(1, 170);
    assert_eq!((line.measuring(180), line.occupancy()), (Some((27, 260)), 22));
    line.put(4, 200);
    assert_eq!((line.drops(), line.occupancy()), (vec![], 26));
    line.put(1, 240);
    // Three packets have left, so packet 3 is at the front.
    assert_eq!((line.drops(), line.occupancy()), (vec![(240, 3)], 26));
    assert_eq!(line.reacting(240), Some(440));
}

#[test]
fn departures_do_not_change_th_n() {
    let mut line = Line::new(paper());
    line.put(15, 0);
    line.take(10, 10);
    line.put(14, 20);
    assert_eq!((line.drops(), line.occupancy()), (vec![], 19));
    line.put(1, 30);
    assert_eq!(line.drops(), [(30, 10)]);
}

/// The pseudocode of the paper would start C_n at the drop; the text of the paper excludes this.
#[test]
fn sbd_neither_measures_nor_drops_within_t_r() {
    let mut line = Line::new(paper());
    line.put(20, 0);
    assert_eq!(line.drops(), [(0, 0)]);
    line.put(21, 199);
    assert_eq!((line.drops(), line.occupancy()), (vec![(0, 0)], 40));
    assert_eq!(line.measuring(199), None);
    // T_r expires, and the occupancy is checked.
    assert_eq!(line.measuring(200), Some((40, 400)));
}

/// Rule of the pseudocode: C_n starts at the drop, despite T_r, and restarts after T_r.
#[test]
fn rearm_starts_c_n_at_drop_and_at_expiry_of_t_r() {
    let mut line = Line::new(SbdConfig { after_drop: SbdAfterDrop::Rearm, ..paper() });
    line.put(20, 0);
    // 19 packets remain: th_n = 24, and C = 62.5 ms is rounded up to 70 ms.
    assert_eq!((line.drops(), line.measuring(0)), (vec![(0, 0)], Some((24, 70))));
    line.put(5, 10);
    // 23 packets remain: th_n = 28, and C = 83.3 ms is rounded up to 90 ms.
    assert_eq!((line.drops(), line.measuring(10)), (vec![(0, 0), (10, 1)], Some((28, 100))));
    line.take(1, 20);
    // At 100 ms and at 180 ms there are 22 packets: th_n = 27, C = 76.9 ms. T_r of the second drop
    // expires at 210 ms.
    assert_eq!(line.measuring(100), Some((27, 180)));
    assert_eq!(line.measuring(180), Some((27, 260)));
    assert_eq!(line.measuring(210), Some((27, 290)));
    line.take(10, 220);
    assert_eq!(line.measuring(290), None);
}

#[test]
fn rearm_keeps_c_n_running_if_t_r_expires_at_low_occupancy() {
    let rearm =
        SbdConfig { after_drop: SbdAfterDrop::Rearm, reaction_time_ns: 50_000_000, ..paper() };
    let mut line = Line::new(rearm);
    line.put(20, 0);
    // 19 packets remain: th_n = 24, and C = 15.6 ms is rounded up to 20 ms. C restarts at 20 ms and
    // at 40 ms.
    assert_eq!(line.measuring(45), Some((24, 60)));
    line.take(10, 45);
    assert_eq!(line.measuring(50), Some((24, 60)));
    assert_eq!(line.measuring(60), None);
}

#[test]
fn expiry_of_t_r_at_low_occupancy_starts_no_timer() {
    let mut line = Line::new(paper());
    line.put(20, 0);
    line.take(5, 10);
    assert_eq!((line.measuring(200), line.reacting(200)), (None, None));
    assert_eq!(line.sbd.next_wakeup(), Time::NEVER);
}

#[test]
fn full_buffer_within_t_r_drops_arrival() {
    let mut line = Line::new(paper());
    line.put(41, 0);
    assert_eq!((line.dropped(DropReason::Overflow), line.occupancy()), (vec![], 40));
    line.put(2, 100);
    assert_eq!(line.dropped(DropReason::Overflow), [(100, 41), (100, 42)]);
    assert_eq!((line.dropped(DropReason::Early), line.occupancy()), (vec![(0, 0)], 40));
}

#[test]
fn th_n_is_max_th_and_c_n_is_t_r_if_eq_1_has_no_value() {
    for occupancy in [35, 36, 39, 40] {
        assert_eq!(sbd_threshold(occupancy, 5, 40), 40);
        let (t_r, tick) = (Duration::from_millis(205), Duration::from_millis(10));
        let c_n = sbd_measuring_time(occupancy, 5, 40, t_r, tick);
        assert_eq!(c_n, Duration::from_millis(210), "{occupancy}");
        assert_eq!(sbd_critical_rate(40, t_r, 40), 0.0);
    }
    // The largest occupancy at which eq. 1 has a value.
    let (t_r, tick) = (Duration::from_millis(200), Duration::from_millis(10));
    assert_eq!(sbd_measuring_time(34, 5, 40, t_r, tick), Duration::from_secs(1));
}

/// With 37 packets at the start, the third arrival within T_r reaches max_th.
#[test]
fn arrival_that_reaches_max_th_is_early_drop_not_overflow() {
    let mut line = Line::new(paper());
    line.put(38, 0);
    assert_eq!((line.drops(), line.occupancy()), (vec![(0, 0)], 37));
    assert_eq!(line.measuring(200), Some((40, 400)));
    line.put(2, 300);
    assert_eq!(line.occupancy(), 39);
    line.put(1, 399);
    assert_eq!((line.drops(), line.occupancy()), (vec![(0, 0), (399, 1)], 39));
}

#[test]
fn arrival_at_full_buffer_replaces_front_while_c_n_runs() {
    let mut line = Line::new(paper());
    line.put(41, 0);
    line.put(1, 300);
    assert_eq!((line.drops(), line.occupancy()), (vec![(0, 0), (300, 1)], 40));
    assert_eq!(line.reacting(300), Some(500));
}

#[test]
fn oldest_packet_not_in_transmission_is_dropped() {
    let mut line = Line::new(paper());
    line.put(15, 0);
    line.hold(12, 10);
    line.put(5, 20);
    assert_eq!((line.drops(), line.occupancy()), (vec![(20, 12)], 19));
}

#[test]
fn arrival_is_dropped_if_all_packets_are_in_transmission() {
    let mut line = Line::new(paper());
    line.put(15, 0);
    line.hold(15, 10);
    line.put(4, 20);
    line.hold(4, 30);
    line.put(1, 40);
    assert_eq!((line.drops(), line.occupancy()), (vec![(40, 19)], 19));
}

#[test]
fn c_and_t_r_are_rounded_up_to_ticks() {
    let mut line = Line::new(SbdConfig { reaction_time_ns: 201_000_000, ..paper() });
    line.put(15, 0);
    // 50.25 ms.
    assert_eq!(line.measuring(0), Some((20, 60)));
    line.put(5, 59);
    assert_eq!(line.reacting(59), Some(59 + 210));
}

#[test]
fn expiry_at_arrivals_starts_c_n_at_next_arrival() {
    let mut line = Line::new(SbdConfig { expiry: SbdExpiry::Arrival, ..paper() });
    line.put(15, 0);
    assert_eq!(line.sbd.next_wakeup(), Time::NEVER);
    line.put(3, 100);
    // The occupancy includes the arrival: C = 1 s / (40 − 21).
    assert_eq!((line.measuring(100), line.occupancy()), (Some((21, 160)), 18));
    line.put(3, 110);
    assert_eq!(line.drops(), [(110, 0)]);
    // T_r also expires without a wake-up.
    line.put(1, 309);
    assert_eq!(line.measuring(309), None);
    line.put(1, 310);
    assert_eq!((line.measuring(310), line.occupancy()), (Some((27, 390)), 22));
}

#[test]
fn min_th_below_alpha_always_measures() {
    let mut line = Line::new(SbdConfig { min_th: 3, ..paper() });
    line.put(1, 0);
    // C = 1 s / (40 − 6). With the empty buffer C = 1 s / 35.
    assert_eq!(line.measuring(0), Some((6, 30)));
    line.take(1, 10);
    assert_eq!(line.measuring(30), Some((5, 60)));
    assert_eq!(line.measuring(60), Some((5, 90)));
    line.put(5, 80);
    assert_eq!(line.drops(), [(80, 1)]);
}

fn with_rows() -> SbdConfig {
    let row = |kbps: u64, min_th, ms: u64| SbdRow {
        rate_bps: kbps * 1000,
        min_th,
        reaction_time_ns: ms * 1_000_000,
    };
    SbdConfig { by_rate: vec![row(384, 20, 200), row(128, 15, 1300)], ..paper() }
}

#[test]
fn row_change_stops_c_and_restarts_measurement() {
    let mut line = Line::new(with_rows());
    line.set_rate(384, 0);
    line.put(15, 0);
    line.put(2, 10);
    line.set_rate(128, 20);
    // 5 · 1.3 s / (40 − 22).
    assert_eq!(line.measuring(20), Some((22, 390)));
    line.put(4, 300);
    assert_eq!((line.drops(), line.occupancy()), (vec![], 21));
    line.put(1, 389);
    assert_eq!(line.drops(), [(389, 0)]);
    assert_eq!(line.reacting(389), Some(1689));
}

#[test]
fn row_change_stops_t_r() {
    let mut line = Line::new(with_rows());
    line.set_rate(384, 0);
    line.put(26, 0);
    assert_eq!((line.reacting(50), line.occupancy()), (Some(200), 25));
    line.set_rate(128, 50);
    assert_eq!(line.measuring(50), Some((30, 700)));
    line.put(5, 60);
    assert_eq!(line.drops(), [(0, 0), (60, 1)]);
}

#[test]
fn row_change_at_low_occupancy_starts_no_timer() {
    let mut line = Line::new(with_rows());
    line.set_rate(128, 0);
    line.put(10, 0);
    assert_eq!(line.measuring(0), Some((15, 260)));
    line.set_rate(384, 10);
    assert_eq!((line.measuring(10), line.reacting(10)), (None, None));
}

#[test]
fn rate_change_within_row_has_no_effect() {
    let mut line = Line::new(with_rows());
    line.set_rate(384, 0);
    line.put(15, 0);
    line.set_rate(400, 10);
    assert_eq!(line.measuring(10), Some((20, 50)));
    let mut without_rows = Line::new(paper());
    without_rows.put(15, 0);
    without_rows.set_rate(64, 10);
    assert_eq!(without_rows.measuring(10), Some((20, 50)));
}

#[test]
fn ecn_marks_capable_front_without_drops() {
    let mut line = Line::new(SbdConfig { ecn: true, ..paper() });
    line.ecn = Ecn::Ect0;
    line.put(20, 0);
    assert_eq!((line.marks(), line.drops(), line.occupancy()), (vec![0], vec![], 20));
    assert_eq!(line.reacting(0), Some(200));
    let (mut ctx, sbd) = line.at(10);
    assert_eq!(sbd.dequeue(&mut ctx).map(|packet| packet.ecn), Some(Ecn::Ce));
}

#[test]
fn front_without_ect_is_dropped_despite_ecn() {
    let mut line = Line::new(SbdConfig { ecn: true, ..paper() });
    line.put(1, 0);
    line.ecn = Ecn::Ect0;
    line.put(19, 0);
    assert_eq!((line.marks(), line.drops()), (vec![], vec![(0, 0)]));
}

#[test]
fn full_buffer_drops_front_despite_ecn() {
    let mut line = Line::new(SbdConfig { ecn: true, ..paper() });
    line.ecn = Ecn::Ect0;
    line.put(40, 0);
    line.put(1, 300);
    assert_eq!((line.marks(), line.drops()), (vec![0], vec![(300, 0)]));
    assert_eq!(line.occupancy(), 40);
}

#[test]
fn check_names_invalid_key() {
    let bad = |changes: serde_json::Value| {
        let mut description = json!({"limit": 40, "min_th": 20, "reaction_time_ns": 1, "alpha": 5,
                                     "tick_ns": 1});
        for (key, value) in changes.as_object().expect("a table") {
            description[key] = value.clone();
        }
        let config = serde_json::from_value(description).expect("of the right types");
        build(config).expect_err("a bad value").to_string()
    };
    let row = json!({"rate_bps": 1, "min_th": 41, "reaction_time_ns": 1});
    for (changes, text) in [
        (json!({"limit": 0}), "limit = 0: below 1. Accepted: at least 1"),
        (json!({"alpha": 0}), "alpha = 0: below 1. Accepted: at least 1"),
        (json!({"tick_ns": 0}), "tick_ns = 0: below 1. Accepted: at least 1"),
        (json!({"reaction_time_ns": 0}), "reaction_time_ns = 0: below 1. Accepted: at least 1"),
        (json!({"min_th": 41}), "min_th = 41: above limit. Accepted: at most 40"),
        (json!({"by_rate": [row]}), "by_rate.0.min_th = 41: above limit. Accepted: at most 40"),
    ] {
        assert_eq!(bad(changes), text);
    }
}
