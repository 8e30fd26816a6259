//! Tests of the equations of RFC 9438 with numeric values, and of the resulting windows.

use super::*;
use crate::config::TcpConfig;
use airpath_conformance::Law;

const DEFAULT: CubicConfig = CubicConfig {
    c: 0.4,
    beta: 0.7,
    beta_ecn: None,
    fast_convergence: true,
    reno_friendly: true,
    hystart: HystartKind::Off,
};

const EQUATIONS: Law = Law {
    area: "CUBIC",
    source: "RFC 9438 §4.2, §4.3, §4.7: the cubic, K, α and fast convergence",
    allows: "rounding of doubles; α is given with ten digits",
};
const GROWTH: Law = Law {
    area: "CUBIC",
    source: "RFC 9438 §4.2: cwnd compared with W_cubic(t) over 12 s after a loss",
    allows: "1 %: the target is a round trip ahead and grows by ACKs",
};
const RESPONSE: Law = Law {
    area: "CUBIC",
    source: "RFC 9438 §5.1, fig. 5: the mean window, one loss in every 1/p segments",
    allows: "5 %: the formula is a fluid's",
};
const FRIENDLY: Law = Law {
    area: "CUBIC",
    source: "RFC 9438 §4.3: in the Reno-friendly region the mean window is Reno's, √(3/2p)",
    allows: "5 %: the formula is a fluid's",
};

fn cubic(config: CubicConfig, segments: u64, ssthresh: u64) -> Cubic {
    let options = TcpConfig {
        mss: 1000,
        initial_window: segments * 1000,
        initial_ssthresh: Some(ssthresh * 1000),
        ..TcpConfig::rfc()
    };
    Cubic::new(config, &CongestionSetup { options: options.into() })
}

fn ack(now: Time, rtt: Duration) -> AckEvent {
    AckEvent { rtt: Some(rtt), ..AckEvent::of_new_data(now, 1000) }
}

/// Simulates one round trip: acknowledges all segments of the window at equal intervals. Returns
/// cwnd.
fn round(cc: &mut Cubic, start: Time, rtt: Duration) -> u64 {
    let segments = cc.cwnd() / 1000;
    for segment in 0..segments {
        let into = Duration::from_nanos(rtt.as_nanos() * segment / segments);
        cc.on_ack(&ack(start + into, rtt));
    }
    segments
}

#[test]
fn fig1_and_fig2_cubic_reaches_w_max_after_k() {
    let k = time_to_w_max(100.0, 70.0, 0.4);
    EQUATIONS.close("K from 70 to 100 segments", "s", k, 4.217_163_326_508_746, 1e-12);
    EQUATIONS.close("W_cubic(0)", "segments", w_cubic(0.0, k, 100.0, 0.4), 70.0, 1e-9);
    EQUATIONS.close("W_cubic(K)", "segments", w_cubic(k, k, 100.0, 0.4), 100.0, 1e-12);
}

#[test]
fn s4_3_alpha_is_0_529_for_beta_0_7() {
    let found = reno_friendly_increase(0.7);
    EQUATIONS.close("α for β = 0.7", "", found, 0.529_411_764_7, 1e-9);
}

#[test]
fn s4_6_loss_reduces_cwnd_to_seven_tenths_of_the_flight() {
    let mut cc = cubic(DEFAULT, 100, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (70_000, 70_000));
}

#[test]
fn s4_6_echoed_mark_reduces_like_a_loss_and_less_with_rfc8511() {
    for (beta_ecn, left) in [(None, 70_000), (Some(0.85), 85_000)] {
        let mut cc = cubic(CubicConfig { beta_ecn, ..DEFAULT }, 100, 10);
        cc.on_ecn(&LossEvent::new(Time::ZERO, 100_000, 100_000));
        assert_eq!((cc.cwnd(), cc.ssthresh(), cc.w_max), (left, left, 100.0));
    }
}

#[test]
fn s4_7_fast_convergence_sets_w_max_below_the_window() {
    let mut cc = cubic(DEFAULT, 100, 10);
    for flight in [100_000, 70_000] {
        cc.on_loss(&LossEvent::new(Time::ZERO, flight, flight));
    }
    let what = "W_max after 100 and 70 segments";
    EQUATIONS.close(what, "segments", cc.w_max, 70.0 * 0.85, 1e-9);
}

#[test]
fn window_follows_the_cubic_from_a_loss_to_w_max() {
    let rtt = Duration::from_millis(20);
    let mut cc = cubic(CubicConfig { reno_friendly: false, ..DEFAULT }, 1000, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 1_000_000, 1_000_000));
    let mut now = Time::ZERO;
    let expected_k = time_to_w_max(1000.0, 700.0, 0.4);
    let mut largest = 0.0_f64;
    while now < Time::from_secs(12) {
        round(&mut cc, now, rtt);
        now = now + rtt;
        let ideal = w_cubic(now.as_secs_lossy(), expected_k, 1000.0, 0.4);
        largest = largest.max((cc.cwnd / ideal - 1.0).abs());
    }
    GROWTH.close("largest relative difference, RTT 20 ms", "", largest, 0.0, 0.01);
}

#[test]
fn s4_2_target_is_the_cubic_function_one_rtt_ahead() {
    let config = CubicConfig { reno_friendly: false, ..DEFAULT };
    let mut cc = cubic(config, 100, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    cc.on_ack(&ack(Time::ZERO, Duration::from_secs(1)));
    // W_cubic(1 s) = 100 − 0.4 (4.2172 − 1)³ = 86.68; one of 70 segments is acknowledged.
    let grown = 70.0 + (86.68 - 70.0) / 70.0;
    assert_eq!(cc.cwnd(), (grown * 1000.0) as u64);
}

#[test]
fn s4_2_target_is_at_most_one_and_a_half_windows() {
    let config = CubicConfig { c: 1000.0, ..DEFAULT };
    let mut cc = cubic(config, 100, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    cc.on_ack(&ack(Time::ZERO, Duration::from_nanos(1)));
    let before = cc.cwnd();
    cc.on_ack(&ack(Time::ZERO + Duration::from_secs(60), Duration::from_nanos(1)));
    assert_eq!(cc.cwnd(), before + 500);
}

#[test]
fn s4_3_alpha_is_one_above_the_window_before_the_loss() {
    let rtt = Duration::from_millis(10);
    let mut cc = cubic(DEFAULT, 20, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 20_000, 20_000));
    let mut now = Time::ZERO;
    let mut rounds_to = |cc: &mut Cubic, bytes: u64| {
        let rounds = std::iter::repeat_with(|| {
            round(cc, now, rtt);
            now = now + rtt;
            cc.cwnd()
        });
        rounds.take_while(|cwnd| *cwnd < bytes).count() + 1
    };
    // The window grows from 14 to 20 segments by 0.53 per RTT, then to 25 segments by 1 per RTT.
    assert_eq!([rounds_to(&mut cc, 20_000), rounds_to(&mut cc, 25_000)], [12, 5]);
}

#[test]
fn s5_8_unused_window_does_not_grow() {
    let mut cc = cubic(DEFAULT, 20, 10);
    for second in 0..100 {
        let event = ack(Time::from_secs(second), Duration::from_millis(40));
        cc.on_ack(&AckEvent { app_limited: true, ..event });
    }
    assert_eq!(cc.cwnd(), 20_000);
}

/// Only the window before the first of these timeouts counts (RFC 9438 §4.6).
#[test]
fn repeated_timeouts_keep_w_max_and_cwnd_prior() {
    let mut cc = cubic(DEFAULT, 100, 10);
    for _ in 0..5 {
        cc.on_rto(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    }
    assert_eq!((cc.cwnd_prior, cc.w_max), (100.0, 100.0));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 70_000));
}

/// RFC 9438 §4.2: t does not include the time in which the application had no data to send.
#[test]
fn s4_2_idle_time_delays_the_epoch() {
    let rtt = Duration::from_millis(40);
    let mut cc = cubic(DEFAULT, 100, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    round(&mut cc, Time::ZERO, rtt);
    let before = cc.cwnd;
    let now = Time::from_secs(3600);
    cc.on_idle(&IdleEvent { now, cwnd: cc.cwnd(), ssthresh: 0 });
    cc.on_ack(&ack(now + rtt, rtt));
    assert!(cc.cwnd - before < 0.5, "{before} and {}", cc.cwnd);
}

#[test]
fn idle_time_that_reduces_the_window_begins_an_epoch_with_the_same_w_max() {
    let rtt = Duration::from_millis(40);
    let mut cc = cubic(DEFAULT, 100, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    round(&mut cc, Time::ZERO, rtt);
    let now = Time::from_secs(60);
    cc.on_idle(&IdleEvent { now, cwnd: 10_000, ssthresh: 75_000 });
    assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000, 75_000));
    assert!(cc.epoch.is_none() && cc.w_max == 100.0);
}

#[test]
fn loss_after_a_timeout_sets_a_new_w_max() {
    let mut cc = cubic(DEFAULT, 60, 10);
    cc.on_rto(&LossEvent::new(Time::ZERO, 60_000, 60_000));
    cc.cwnd = 60.0;
    cc.on_loss(&LossEvent::new(Time::ZERO, 60_000, 60_000));
    cc.on_ack(&ack(Time::from_millis(1), Duration::from_millis(40)));
    assert!(cc.epoch.is_some_and(|epoch| epoch.k > 3.0));
    assert_eq!(cc.w_max, 60.0);
}

#[test]
fn s4_8_first_epoch_after_a_timeout_is_convex() {
    let mut cc = cubic(DEFAULT, 100, 10);
    cc.on_rto(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 70_000));
    let (rtt, mut now) = (Duration::from_millis(100), Time::ZERO);
    while cc.epoch.is_none() {
        round(&mut cc, now, rtt);
        now = now + rtt;
    }
    assert_eq!(cc.epoch.map(|epoch| epoch.k), Some(0.0));
    assert!((cc.w_max - 70.0).abs() < 1.0, "{}", cc.w_max);
}

/// Returns the mean window of a congestion control if one of every 1/p segments is lost. The mean
/// covers the last two thirds of `losses` loss periods.
fn mean_window(cc: &mut Cubic, p: f64, rtt: Duration, losses: u32) -> f64 {
    let (mut now, mut since_loss) = (Time::ZERO, 0.0);
    let (mut sum, mut rounds) = (0.0, 0.0);
    for number in 0..losses {
        while since_loss < 1.0 / p {
            if number >= losses / 3 {
                sum += cc.cwnd;
                rounds += 1.0;
            }
            since_loss += round(cc, now, rtt) as f64;
            now = now + rtt;
        }
        since_loss -= 1.0 / p;
        cc.on_loss(&LossEvent::new(now, cc.cwnd(), cc.cwnd()));
    }
    sum / rounds
}

/// RFC 9438 §5.1, fig. 5: the mean window is 1.054 (RTT/p)^0.75 if one of every 1/p segments is
/// lost. The formula assumes that the window returns to `W_max`, so fast convergence is off. The
/// cubic function is flat around `W_max`, so the initial window decays slowly; the test therefore
/// starts close to the mean.
#[test]
fn s5_1_response_function_is_within_five_percent() {
    let config = CubicConfig { fast_convergence: false, ..DEFAULT };
    for (p, expected) in [(1e-4, 187.4), (1e-5, 1053.8), (1e-6, 5926.0)] {
        let mut cc = cubic(config, (expected / 0.925) as u64, 10);
        cc.on_loss(&LossEvent::new(Time::ZERO, cc.cwnd(), cc.cwnd()));
        let mean = mean_window(&mut cc, p, Duration::from_millis(100), 24);
        let what = format!("mean window, RTT 100 ms, p = {p:?}");
        RESPONSE.close_relative(what, "segments", mean, expected, 0.05);
    }
}

/// In the Reno-friendly region the mean window equals that of Reno (factor 1/2): √(3/(2p)).
#[test]
fn s4_3_mean_window_equals_renos_at_short_rtts() {
    let mut cc = cubic(DEFAULT, 30, 10);
    let mean = mean_window(&mut cc, 1e-3, Duration::from_millis(5), 200);
    let what = "mean window, RTT 5 ms, p = 1e-3";
    FRIENDLY.close_relative(what, "segments", mean, 38.7, 0.05);
}

/// The undo restores W_max, K and the start of the epoch, so that the window continues on the same
/// curve.
#[test]
fn s4_9_1_undo_of_a_spurious_loss_restores_the_epoch() {
    let mut cc = cubic(DEFAULT, 100, 10);
    cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    for at in 0..10 {
        round(&mut cc, Time::from_millis(100 * at), Duration::from_millis(100));
    }
    let (before, cwnd, ssthresh) = (cc.clone(), cc.cwnd(), cc.ssthresh());
    cc.on_rto(&LossEvent::new(Time::from_millis(1000), cwnd, cwnd));
    assert_eq!((cc.cwnd(), cc.epoch.is_some()), (1000, false));
    cc.on_undo(&UndoEvent { now: Time::from_millis(1100), cwnd, ssthresh });
    assert_eq!((cc.cwnd, cc.ssthresh, cc.w_max), (before.cwnd, before.ssthresh, before.w_max));
    let k = |cubic: &Cubic| cubic.epoch.map(|epoch| (epoch.start, epoch.k, epoch.w_est));
    assert_eq!(k(&cc), k(&before));
}

/// A loss and a timeout in the same episode: the restored window becomes W_max of a new epoch.
#[test]
fn undo_of_two_reductions_begins_an_epoch_at_the_restored_window() {
    let mut cc = cubic(DEFAULT, 100, 100);
    cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
    cc.on_rto(&LossEvent::new(Time::from_millis(500), 100_000, 70_000));
    cc.on_undo(&UndoEvent { now: Time::from_secs(1), cwnd: 100_000, ssthresh: 100_000 });
    assert_eq!((cc.cwnd(), cc.ssthresh(), cc.w_max), (100_000, 100_000, 100.0));
    assert!(cc.epoch.is_none());
}
