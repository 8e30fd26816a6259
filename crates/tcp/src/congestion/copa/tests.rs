use super::*;
use crate::config::TcpConfig;
use crate::recovery::InflightSample;

const MSS: u64 = 1000;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A connection whose ACKs each acknowledge one segment.
struct Acks {
    cc: Copa,
    /// Time, ms.
    now: u64,
    ack: u64,
    lost: u64,
}

impl Acks {
    fn new(mode: CopaMode) -> Acks {
        let options = TcpConfig { mss: MSS as u32, initial_window: 10 * MSS, ..TcpConfig::rfc() };
        let setup = CongestionSetup { options: options.into() };
        let config = CopaConfig { delta: 0.5, mode };
        Acks { cc: Copa::new(config, &setup), now: 1000, ack: 0, lost: 0 }
    }

    fn ack(&mut self, rtt: u64) -> f64 {
        self.ack_with_losses(rtt, 0)
    }

    fn ack_with_losses(&mut self, rtt: u64, lost: u64) -> f64 {
        self.ack += MSS;
        self.lost += lost;
        let sent = self.ack + self.cc.cwnd();
        let net = InflightSample { total_lost: self.lost, ..InflightSample::default() };
        let event = AckEvent::of_new_data(Time::from_millis(self.now), MSS);
        self.cc.on_ack(&AckEvent {
            ack: self.ack,
            sent,
            rtt: Some(ms(rtt)),
            inflight: Some(net),
            ..event
        });
        self.cc.cwnd
    }

    /// Acknowledges one window within the RTT `rtt`, and returns the window, segments.
    fn round(&mut self, rtt: u64) -> f64 {
        let begin = self.now;
        let acks = self.cc.cwnd() / MSS;
        for number in 1..=acks {
            self.now = begin + rtt * number / acks;
            self.ack(rtt);
        }
        self.cc.cwnd
    }

    /// Ends the slow start with the window `cwnd` and the minimum RTT `least`.
    fn in_avoidance(&mut self, cwnd: f64, least: u64) {
        self.ack(least);
        self.cc.probes_left = 0.0;
        self.cc.cwnd = cwnd;
        self.cc.in_slow_start = false;
        self.cc.velocity.start(cwnd, self.ack);
    }
}

/// δ = 1/2, d_q = 5 ms: a rate of 400 packets/s, at an RTT of 55 ms a window of 22.
#[test]
fn copa_2018_target_rate_is_the_inverse_of_delta_times_the_queueing_delay() {
    let window = copa_target(0.5, ms(55), ms(50));
    assert!((window / 0.055 - 400.0).abs() < 1e-9 && (window - 22.0).abs() < 1e-9);
    assert_eq!(copa_target(0.5, ms(50), ms(50)), f64::INFINITY);
}

/// The window is constant for 2·10 − 1 segments, then doubles per RTT until it exceeds the target:
/// 60/(½·10) = 12 at 60 ms.
#[test]
fn copa_2018_slow_start_doubles_until_the_target_is_exceeded() {
    let mut acks = Acks::new(CopaMode::Default);
    assert_eq!([acks.round(50), acks.round(50)], [10.0, 12.0]);
    assert!((acks.round(50) - 24.0).abs() < 1e-9);
    assert!(acks.cc.in_slow_start);
    acks.now += 60;
    acks.round(60);
    assert!(!acks.cc.in_slow_start);
}

/// W = 20, δ = 1/2, v = 1: a step of 1/(½·20) = 0.1 per ACK, about two segments per RTT. Below the
/// target it is added, above it is subtracted.
#[test]
fn copa_2018_window_moves_by_v_over_delta_w_per_ack() {
    let mut acks = Acks::new(CopaMode::Default);
    acks.in_avoidance(20.0, 50);
    assert!((acks.ack(50) - 20.1).abs() < 1e-9);
    acks.now += 100;
    // d_q = 50 ms: the target is 4.
    assert!((acks.ack(100) - (20.1 - 2.0 / 20.1)).abs() < 1e-9);
}

/// Rounds without a queue: +2 in the first three rounds, then +4, +8, +16 segments.
#[test]
fn copa_2018_window_accelerates_in_one_direction() {
    let mut acks = Acks::new(CopaMode::Default);
    acks.in_avoidance(40.0, 50);
    let windows: Vec<f64> = (0..6).map(|_| acks.round(50)).collect();
    let steps: Vec<f64> = windows.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!((1.5..2.5).contains(&steps[0]), "{windows:?}");
    assert!(steps[4] > 3.0 * steps[1], "{windows:?}");
}

/// A queue that never drains: 1/δ rises by one per RTT from 2, and a loss halves it.
#[test]
fn copa_2018_competitive_mode_raises_and_halves_the_inverse_of_delta() {
    let mut acks = Acks::new(CopaMode::Auto);
    acks.in_avoidance(20.0, 50);
    let mut inverse = Vec::new();
    for round in 0..30_u64 {
        for _ in 0..10 {
            acks.now += 8;
            acks.ack(80 + round % 2);
        }
        inverse.push(1.0 / acks.cc.delta);
    }
    assert!(acks.cc.is_competitive, "{inverse:?}");
    assert!(inverse[29] - inverse[19] > 8.0 && inverse[29] < 32.0, "{inverse:?}");
    let before = acks.cc.delta;
    let flight = acks.cc.cwnd();
    let event = LossEvent::new(Time::from_millis(acks.now), flight, flight);
    acks.cc.on_loss(&event);
    acks.cc.on_loss(&event);
    assert_eq!(acks.cc.delta, 2.0 * before);
    // An empty queue restores the default.
    acks.now += 10;
    acks.ack(50);
    assert_eq!(acks.cc.delta, 0.5);
}

/// In default mode a loss has no effect, unless more than 30 % of the segments are lost.
#[test]
fn losses_reduce_the_window_only_above_thirty_per_cent() {
    for (lost, is_reduced) in [(200, false), (600, true)] {
        let mut acks = Acks::new(CopaMode::Default);
        acks.in_avoidance(40.0, 50);
        let mut least = f64::INFINITY;
        for _ in 0..60 {
            acks.now += 3;
            least = acks.ack_with_losses(50, lost).min(least);
        }
        assert_eq!(least < 35.0, is_reduced, "{lost}: {least}");
    }
}

/// W = 20 segments of 1000 bytes and headers, standing RTT 50 ms.
#[test]
fn copa_2018_pacing_rate_is_two_windows_per_standing_rtt() {
    let mut acks = Acks::new(CopaMode::Default);
    assert_eq!(acks.cc.pacing_rate(), None);
    acks.in_avoidance(20.0, 50);
    let expected = 2.0 * 20.0 * acks.cc.packet * 8.0 / 0.05;
    assert_eq!(acks.cc.pacing_rate(), Some(Rate(expected as u64)));
}

/// A timeout: one segment, and slow start.
#[test]
fn timeout_begins_slow_start_with_one_segment() {
    let mut acks = Acks::new(CopaMode::Default);
    acks.in_avoidance(20.0, 50);
    acks.cc.on_rto(&LossEvent::new(Time::from_secs(2), 20 * MSS, 20 * MSS));
    assert_eq!(acks.cc.cwnd(), MSS);
    acks.now += 100;
    assert_eq!([acks.ack(50), acks.ack(50)], [2.0, 3.0]);
}
