//! Tests of Slope Based Discard and RED at an RLC buffer with TCP. The link has a constant rate, or
//! the rate changes from 384 to 128 kbit/s as in §6 of Alcaraz & Cerdán 2006.

use crate::common::*;
use airpath_core::{DropReason, Duration, Series, Time};
use airpath_path::Components;
use serde_json::{Value, json};
use std::sync::Arc;

/// Time of the rate change, s.
const CHANGE: u64 = 50;

fn sbd(by_rate: &Value) -> Value {
    json!({"kind": "sbd", "limit": 40, "min_th": 20, "reaction_time_ns": 200 * MS, "alpha": 5,
           "tick_ns": 10 * MS, "by_rate": by_rate})
}

/// Returns the parameters of table 3, by rate.
fn sbd_rows() -> Value {
    json!([{"rate_bps": 128_000, "min_th": 15, "reaction_time_ns": 1300 * MS},
           {"rate_bps": 384_000, "min_th": 20, "reaction_time_ns": 200 * MS}])
}

fn rlc_red(by_rate: &Value) -> Value {
    json!({"kind": "rlc-red", "limit": 40, "min_th": 20, "max_p": 0.05, "by_rate": by_rate})
}

/// Returns the parameters of table 5, by rate.
fn red_rows() -> Value {
    json!([{"rate_bps": 128_000, "min_th": 10, "max_p": 0.2},
           {"rate_bps": 384_000, "min_th": 20, "max_p": 0.05}])
}

/// Results of a run with two Reno flows over wires of 1 Mbit/s and a base round trip of 250 ms.
struct Run {
    /// Time of each early drop, and number of packets left in the buffer.
    early: Vec<(Time, f64)>,
    /// Times of drops by overflow.
    overflow: Vec<Time>,
    /// Mean queue length over the last 10 s, packets.
    late_mean: f64,
}

fn run_over(queue: Value) -> Run {
    let source = || tcp(json!({"recovery": "reno", "delayed_ack_segments": 1}));
    let delays = || json!({"access": {"rate_bps": 1_000_000, "delay_ns": 0}, "egress": {"delay_ns": 125 * MS}, "return_wire": {"delay_ns": 125 * MS}});
    let flows = vec![flow(source(), delays()), flow(source(), delays())];
    let rate = json!({"at_ns": CHANGE * SECOND,
                      "action": {"kind": "rate", "rate_bps": 128_000}});
    let change = json!({"controls": [rate], "record": {"series": ["drop", "queue"]}});
    let scenario = scenario(100, flows, fixed(384_000), queue, change);
    let recorder = run_with(&scenario, &Components::default(), &Arc::default(), 1).into_recorder();
    let lengths = recorder.samples(Series::Queue);
    let after = |time: Time| lengths[lengths.partition_point(|s| s.time <= time) - 1].value;
    let drops = recorder.samples(Series::Drop);
    let of = |reason: DropReason| drops.iter().filter(move |d| d.value == f64::from(reason as u8));
    let late: Vec<f64> = (9000..10_000).map(|n| after(Time::from_millis(10 * n))).collect();
    Run {
        early: of(DropReason::Early).map(|drop| (drop.time, after(drop.time))).collect(),
        overflow: of(DropReason::Overflow).map(|drop| drop.time).collect(),
        late_mean: late.iter().sum::<f64>() / late.len() as f64,
    }
}

impl Run {
    /// Returns the early drops before the rate change and after it.
    fn early_drops(&self) -> [&[(Time, f64)]; 2] {
        let before = self.early.partition_point(|(time, _)| *time < Time::from_secs(CHANGE));
        let (before, after) = self.early.split_at(before);
        assert!(before.len() > 2 && after.len() > 2, "{:?}", self.early);
        [before, after]
    }
}

fn shortest_gap(drops: &[(Time, f64)]) -> Duration {
    drops.windows(2).map(|pair| pair[1].0 - pair[0].0).min().expect("two drops")
}

fn least_left(drops: &[(Time, f64)]) -> f64 {
    drops.iter().map(|(_, left)| *left).fold(f64::INFINITY, f64::min)
}

/// SBD drops a packet only if at least min_th packets are in the buffer.
#[test]
fn sbd_drops_at_most_once_in_t_r_and_not_below_min_th() {
    let run = run_over(sbd(&json!([])));
    for drops in run.early_drops() {
        assert!(shortest_gap(drops) >= Duration::from_millis(200), "{drops:?}");
        assert!(least_left(drops) >= 19.0, "{drops:?}");
    }
}

/// Drop-tail loses 39 packets at the end of slow start.
#[test]
fn sbd_avoids_most_of_the_overflow_of_slow_start() {
    let overflow = |queue| {
        let run = run_over(queue);
        run.overflow.iter().filter(|time| **time < Time::from_secs(10)).count()
    };
    let (plain, early) = (overflow(droptail(40)), overflow(sbd(&json!([]))));
    assert!(plain > 30 && early < plain / 2, "{plain} without, {early} with SBD");
}

#[test]
fn a_rate_change_switches_the_parameters_of_sbd() {
    let (fixed, switched) = (run_over(sbd(&json!([]))), run_over(sbd(&sbd_rows())));
    let ([before, after], [before_fixed, after_fixed]) =
        (switched.early_drops(), fixed.early_drops());
    assert_eq!(before, before_fixed, "the row of 384 kbit/s is the default");
    assert!(shortest_gap(before) >= Duration::from_millis(200), "{before:?}");
    // The reaction time T_r is that of the current rate.
    assert!(shortest_gap(after_fixed) < Duration::from_millis(1300), "{after_fixed:?}");
    assert!(shortest_gap(after) >= Duration::from_millis(1300), "{after:?}");
    assert!(least_left(after) >= 14.0, "{after:?}");
    // With the smaller r_c, the same increase of the queue is detected earlier.
    assert!(after[0].0 < after_fixed[0].0, "{:?}, {:?}", after[0], after_fixed[0]);
}

/// The packet at the head is dropped and the new packet is stored: the queue length does not
/// change.
#[test]
fn a_rate_change_switches_the_parameters_of_rlc_red() {
    let (fixed, switched) = (run_over(rlc_red(&json!([]))), run_over(rlc_red(&red_rows())));
    let ([before, after], [before_fixed, after_fixed]) =
        (switched.early_drops(), fixed.early_drops());
    assert_eq!(before, before_fixed, "the row of 384 kbit/s is the default");
    assert!(least_left(before) >= 20.0 && least_left(after_fixed) >= 20.0);
    // After the rate change, min_th is 10.
    assert!((10.0..20.0).contains(&least_left(after)), "{after:?}");
    assert!(switched.late_mean < fixed.late_mean, "{} {}", switched.late_mean, fixed.late_mean);
}
