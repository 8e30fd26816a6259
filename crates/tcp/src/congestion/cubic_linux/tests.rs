//! Tests of the functions of Linux's `tcp_cubic.c` with numeric values.

use super::*;
use crate::config::TcpConfig;

const MSS: u64 = 1000;

/// Returns an instance of the algorithm in congestion avoidance, with a window of `window`
/// segments and a minimum RTT of 40 ms.
fn avoiding(window: u64) -> CubicLinux {
    let options = TcpConfig {
        mss: MSS as u32,
        initial_window: window * MSS,
        initial_ssthresh: Some(window * MSS),
        ..TcpConfig::rfc()
    };
    let config =
        CubicLinuxConfig { fast_convergence: true, reno_friendly: true, hystart: HystartKind::Off };
    let mut cubic = CubicLinux::new(config, &CongestionSetup { options: options.into() });
    cubic.delay_min = Some(40);
    cubic
}

fn lose(cubic: &mut CubicLinux) {
    let cwnd = CongestionControl::cwnd(cubic);
    cubic.on_loss(&LossEvent::new(Time::ZERO, cwnd, cwnd));
}

/// Acknowledges one segment at `at` milliseconds.
fn acknowledge(cubic: &mut CubicLinux, at: u64) {
    cubic.on_ack(&AckEvent::of_new_data(Time::from_millis(at), MSS));
}

/// `beta_scale` of the module: 15.1 truncated to 15, in eighths of a window per segment.
#[test]
fn scale_constants_match_linux() {
    assert_eq!((BETA_SCALE, CUBE_RTT_SCALE), (15, 410));
}

#[test]
fn cubic_root_truncates() {
    assert_eq!([0, 7, 8, 26, 27, 1_000_000].map(cubic_root), [0, 1, 2, 2, 3, 100]);
    let largest = CUBE_FACTOR * 1_000_000;
    let root = cubic_root(largest);
    assert!(root.pow(3) <= largest && (root + 1).pow(3) > largest);
}

/// ⌊10 · 717/1024⌋ = 7, ⌊7 · 717/1024⌋ = 4; fast convergence sets W_max to ⌊7 · 1741/2048⌋ = 5.
#[test]
fn loss_truncates_windows_to_segments() {
    let mut cubic = avoiding(10);
    lose(&mut cubic);
    assert_eq!((cubic.cwnd, cubic.ssthresh, cubic.last_max), (7, 7, 10));
    lose(&mut cubic);
    assert_eq!((cubic.cwnd, cubic.ssthresh, cubic.last_max), (4, 4, 5));
    for _ in 0..3 {
        lose(&mut cubic);
    }
    assert_eq!(cubic.cwnd, 2);
}

/// The window grows from 7 towards 10: K = ∛(3/0.4) = 1.957 s, which is 2003/1024 s. After 40
/// ms the function is 2.8 below 10. This difference is truncated to 2, so that the target is 8
/// and one increase requires 7 acknowledged segments.
#[test]
fn truncation_of_the_cubic_function_favours_growth() {
    let mut cubic = avoiding(10);
    lose(&mut cubic);
    acknowledge(&mut cubic, 1000);
    let epoch = cubic.epoch.expect("an epoch");
    assert_eq!((epoch.k, epoch.origin, epoch.reno, cubic.needed), (2003, 10, 7, 7));
    for at in 1001..1006 {
        acknowledge(&mut cubic, at);
    }
    assert_eq!(cubic.cwnd, 7);
    acknowledge(&mut cubic, 1006);
    assert_eq!((cubic.cwnd, cubic.credit), (8, 0));
    // The window has changed, so the function is evaluated again. The target equals the window,
    // so that one increase requires 100 windows of acknowledged segments.
    acknowledge(&mut cubic, 1007);
    assert_eq!(cubic.needed, 800);
}

/// `tcp_friendliness`: at a window of 8 segments, Reno's estimated window grows by one segment
/// after more than 15 acknowledged segments. Then the congestion window grows too, because
/// enough segments have been acknowledged, although the cubic function stays at 8 for a second.
#[test]
fn window_grows_like_reno_where_the_cubic_function_is_flat() {
    let mut cubic = avoiding(8);
    cubic.last_max = 8;
    // One segment every 40 ms, so that each ACK evaluates the function.
    for count in 0..15 {
        acknowledge(&mut cubic, 1000 + 40 * count);
    }
    let reno = |cubic: &CubicLinux| cubic.epoch.map(|epoch| epoch.reno);
    assert_eq!((reno(&cubic), cubic.needed, cubic.cwnd), (Some(8), 800, 8));
    acknowledge(&mut cubic, 1600);
    assert_eq!((reno(&cubic), cubic.needed, cubic.cwnd), (Some(9), 8, 9));
}

/// Far beyond K the cubic function would require a growth of more than half a segment per
/// acknowledged segment.
#[test]
fn window_grows_by_at_most_half_a_segment_per_acknowledged_segment() {
    let mut cubic = avoiding(10);
    acknowledge(&mut cubic, 1000);
    acknowledge(&mut cubic, 60_000);
    assert_eq!(cubic.needed, 2);
}

/// `cubictcp_state`: a timeout resets W_max and the minimum RTT.
#[test]
fn timeout_resets_w_max_and_delay() {
    let mut cubic = avoiding(10);
    lose(&mut cubic);
    cubic.on_rto(&LossEvent::new(Time::ZERO, 10 * MSS, 7 * MSS));
    assert_eq!((cubic.cwnd, cubic.ssthresh, cubic.last_max), (1, 7, 0));
    assert_eq!(cubic.delay_min, None);
}

/// `tcp_is_cwnd_limited`: a window that is not fully used does not grow. In slow start it is
/// sufficient that half of the window is used.
#[test]
fn unused_window_does_not_grow() {
    let mut cubic = avoiding(10);
    let unused = AckEvent {
        app_limited: true,
        in_flight: 6 * MSS,
        ..AckEvent::of_new_data(Time::from_millis(1), MSS)
    };
    cubic.on_ack(&unused);
    assert_eq!((cubic.cwnd, cubic.credit), (10, 0));
    cubic.ssthresh = 20;
    cubic.on_ack(&unused);
    assert_eq!(cubic.cwnd, 11);
    cubic.on_ack(&AckEvent { in_flight: 2 * MSS, ..unused });
    assert_eq!(cubic.cwnd, 11);
}
