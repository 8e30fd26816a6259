//! Tests of the functions of ns-3's `tcp-cubic.cc` with numeric values.

use super::*;
use crate::config::TcpConfig;
use airpath_conformance::Law;

const MSS: u64 = 1000;

const ARITHMETIC: Law = Law {
    area: "CUBIC",
    source: "ns-3's TcpCubic: whole segments, and K = ∛((20 − 14)/0.4) = 2.466 s",
    allows: "nothing",
};

fn cubic(segments: u64, ssthresh: u64) -> CubicNs3 {
    let config = CubicNs3Config { c: 0.4, beta: 0.7, fast_convergence: true, reno_friendly: true };
    let options = TcpConfig {
        mss: MSS as u32,
        initial_window: segments * MSS,
        initial_ssthresh: Some(ssthresh),
        ..TcpConfig::rfc()
    };
    CubicNs3::new(config, &CongestionSetup { options: options.into() })
}

/// Returns a loss at a window of `segments` segments, half of which are in flight.
fn loss(segments: u64) -> LossEvent {
    LossEvent::new(Time::ZERO, segments * MSS / 2, segments * MSS)
}

fn ack(at_ms: u64, segments: u64, rtt_ms: u64) -> AckEvent {
    AckEvent {
        in_flight: 20 * MSS,
        rtt: Some(Duration::from_millis(rtt_ms)),
        ..AckEvent::of_new_data(Time::from_millis(at_ms), segments * MSS)
    }
}

#[test]
fn thresholds_are_truncated_to_segments_and_at_least_two() {
    for (window, ssthresh) in [(20, 14), (9, 6), (5, 3), (3, 2), (1, 2)] {
        let mut cubic = cubic(window, u64::MAX);
        cubic.on_loss(&loss(window));
        let (what, found) = (format!("ssthresh after a loss at {window}"), cubic.ssthresh());
        ARITHMETIC.equal(what, "B", found as f64, (ssthresh * MSS) as f64);
    }
}

/// Fast convergence: W_max is 9·1.7/2 = 7.65, truncated to 7.
#[test]
fn second_loss_below_w_max_reduces_w_max() {
    let mut cubic = cubic(10, u64::MAX);
    cubic.on_loss(&loss(10));
    cubic.on_loss(&loss(9));
    assert_eq!(cubic.last_max, 7);
    cubic.on_rto(&loss(8));
    assert_eq!((cubic.last_max, cubic.cwnd()), (8, MSS));
}

#[test]
fn slow_start_adds_all_acknowledged_segments() {
    let mut cubic = cubic(4, 6 * MSS);
    cubic.on_ack(&ack(0, 3, 100));
    assert_eq!(cubic.cwnd(), 7 * MSS);
}

/// HyStart ends slow start if the smoothed delay has more than doubled and the window has at
/// least 16 segments.
#[test]
fn slow_start_ends_when_the_delay_has_doubled() {
    let mut short = cubic(16, u64::MAX);
    short.on_ack(&ack(0, 1, 50));
    for i in 1..=60 {
        short.on_ack(&ack(10 * i, 1, 400));
    }
    assert!(short.hystart.found && short.ssthresh() < u64::MAX);
    let mut low = cubic(2, u64::MAX);
    low.on_ack(&ack(0, 1, 50));
    for i in 1..=8 {
        low.on_ack(&ack(10 * i, 1, 400));
    }
    assert!(!low.hystart.found);
}

/// Before the first loss, an increase by one segment requires at most 20 acknowledged segments.
/// Without this limit, a window of 100 segments would require 10 000 at the plateau of the
/// cubic function.
#[test]
fn window_grows_per_twenty_acks_before_first_loss() {
    let mut cubic = cubic(100, MSS);
    for i in 0..20 {
        cubic.on_ack(&ack(i, 1, 50));
    }
    assert_eq!(cubic.cwnd(), 101 * MSS);
}

/// K = ∛((20 − 14)/0.4) = 2.47 s: the window reaches its old maximum at about this time and
/// does not exceed it.
#[test]
fn window_returns_to_w_max_after_k() {
    let mut cubic = cubic(20, u64::MAX);
    cubic.config.reno_friendly = false;
    cubic.on_loss(&loss(20));
    assert_eq!(cubic.cwnd(), 14 * MSS);
    let mut at = 0;
    while at < 2466 {
        at += 5;
        cubic.on_ack(&ack(at, 1, 50));
    }
    ARITHMETIC.equal("cwnd after K, W_max 20", "B", cubic.cwnd() as f64, 20_000.0);
}

/// The ACK covers ten segments, four of which were selectively acknowledged before.
#[test]
fn ack_counts_for_its_delivered_segments_except_under_ns3_recovery() {
    let event = AckEvent { delivered: 6 * MSS, ..ack(0, 10, 50) };
    let grown = |recovery_counts| {
        let mut cubic = CubicNs3 { recovery_counts, forgets_arrivals: false, ..cubic(4, u64::MAX) };
        cubic.on_rto(&loss(40));
        cubic.on_ack(&event);
        cubic.cwnd() / MSS
    };
    assert_eq!((grown(false), grown(true)), (7, 11));
}

/// Rule of RFC 3465 §2.3.
#[test]
fn ack_counts_for_one_segment_in_slow_start_after_timeout() {
    let mut cubic = cubic(40, u64::MAX);
    cubic.on_rto(&loss(5));
    for (segments, window) in [(10, 2), (2, 3), (2, 3), (2, 4)] {
        cubic.on_ack(&ack(0, segments, 50));
        assert_eq!(cubic.cwnd(), window * MSS);
    }
    cubic.on_loss(&loss(20));
    cubic.ssthresh = u64::MAX;
    cubic.on_ack(&ack(0, 2, 50));
    assert_eq!(cubic.cwnd(), 16 * MSS);
}

#[test]
fn unused_window_does_not_grow() {
    let mut cubic = cubic(4, u64::MAX);
    cubic.on_ack(&AckEvent { app_limited: true, ..ack(0, 2, 50) });
    assert_eq!(cubic.cwnd(), 4 * MSS);
}
