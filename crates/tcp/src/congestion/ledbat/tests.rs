use super::*;
use crate::config::TcpConfig;

const MSS: u64 = 1000;
const PLUS_PLUS: LedbatConfig =
    LedbatConfig { rules: LedbatRules::PlusPlus, target_ns: 60_000_000, gain: 1.0 };
const RFC6817: LedbatConfig =
    LedbatConfig { rules: LedbatRules::Rfc6817, target_ns: 100_000_000, gain: 1.0 };

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A connection whose ACKs each acknowledge one segment.
struct Acks {
    cc: Ledbat,
    /// Time, ms.
    now: u64,
}

impl Acks {
    fn new(config: LedbatConfig, ssthresh: Option<u64>) -> Acks {
        let options = TcpConfig {
            mss: MSS as u32,
            initial_ssthresh: ssthresh.map(|segments| segments * MSS),
            ..TcpConfig::rfc()
        };
        let setup = CongestionSetup { options: options.into() };
        Acks { cc: Ledbat::new(config, &setup), now: 1000 }
    }

    fn ack(&mut self, rtt: u64) {
        let event = AckEvent::of_new_data(Time::from_millis(self.now), MSS);
        let in_flight = self.cc.cwnd() - MSS.min(self.cc.cwnd());
        self.cc.on_ack(&AckEvent { rtt: Some(ms(rtt)), in_flight, ..event });
    }

    /// Acknowledges one window within the RTT `rtt`, and returns the window, segments.
    fn round(&mut self, rtt: u64) -> f64 {
        for _ in 0..self.cc.cwnd() / MSS {
            self.ack(rtt);
        }
        self.now += rtt;
        self.cc.cwnd / MSS as f64
    }

    /// Sets the window and begins congestion avoidance without slowdowns.
    fn in_avoidance(&mut self, segments: u64) {
        self.cc.cwnd = (segments * MSS) as f64;
        self.cc.phase = Phase::Avoidance { slowdown_at: None };
    }

    fn lose(&mut self) {
        let flight = self.cc.cwnd();
        self.cc.on_loss(&LossEvent::new(Time::from_millis(self.now), flight, flight));
    }
}

/// T = 60 ms. Base 1 ms: ⌈120⌉ is limited to 16; 20 ms: 6; 50 ms: ⌈2.4⌉ = 3; 120 ms and above: 1.
#[test]
fn ledbat_pp_gain_is_the_inverse_of_two_targets_per_base_delay() {
    let gains = [1, 20, 50, 120, 400].map(|base| 1.0 / ledbat_gain(ms(60), ms(base)));
    assert_eq!(gains, [16.0, 6.0, 3.0, 1.0, 1.0]);
}

/// W = 40, gain 1/3: +1/3 up to T; at 1.1 T 1/3 − 4; at 2 T and above at most half of the window.
#[test]
fn ledbat_pp_change_is_the_gain_or_a_multiplicative_decrease_of_at_most_half() {
    let gain = 1.0 / 3.0;
    let change = |load| ledbat_change(gain, 1.0, 40.0, load);
    assert_eq!([change(0.0), change(1.0)], [gain, gain]);
    assert!((change(1.1) - (gain - 4.0)).abs() < 1e-9);
    assert_eq!([change(2.0), change(9.0)], [-20.0, -20.0]);
    assert!((ledbat_change(gain, 0.5, 40.0, 1.1) - (gain - 2.0)).abs() < 1e-9);
}

/// Base 120 ms: gain 1, the window of 2 doubles per RTT. 44 ms of queueing are below 3/4 T, 46 ms end
/// the slow start at the window of 16.
#[test]
fn ledbat_pp_slow_start_begins_with_two_segments_and_ends_at_three_quarters_of_the_target() {
    let mut acks = Acks::new(PLUS_PLUS, None);
    assert_eq!(acks.cc.cwnd(), 2 * MSS);
    assert_eq!([120, 120, 164].map(|rtt| acks.round(rtt)), [4.0, 8.0, 16.0]);
    // Four samples of 166 ms are needed: the delay is a minimum of four.
    for _ in 0..4 {
        acks.ack(166);
    }
    assert_eq!(acks.cc.cwnd(), 19 * MSS);
    assert!(matches!(acks.cc.phase, Phase::Avoidance { slowdown_at: Some(_) }));
    assert_eq!(acks.cc.ssthresh(), 19 * MSS);
}

/// Base 20 ms: gain 1/6, 12 segments grow to 14 in a slow-start RTT.
#[test]
fn ledbat_pp_slow_start_has_the_dynamic_gain() {
    let mut acks = Acks::new(PLUS_PLUS, None);
    acks.cc.cwnd = 12e3;
    assert!((acks.round(20) - 14.0).abs() < 1e-9);
}

/// Base 120 ms: +1 segment per RTT up to T. A delay of 1.5 T removes half a segment per acknowledged
/// segment, and the gain adds ∑ 1/W: between 1 and 2 segments.
#[test]
fn ledbat_pp_avoidance_adds_the_gain_per_rtt_and_decreases_above_the_target() {
    let mut acks = Acks::new(PLUS_PLUS, None);
    acks.in_avoidance(100);
    assert!((acks.round(120) - 101.0).abs() < 0.01);
    (0..4).for_each(|_| acks.ack(210));
    acks.cc.cwnd = 100e3;
    let window = acks.round(210);
    assert!((51.0..52.0).contains(&window), "{window}");
}

/// First slowdown two RTTs after slow start: two segments for two RTTs, slow start to the old window,
/// and the next slowdown after nine times its duration. Therefore slowdowns take a tenth of the time;
/// the resolution here is an RTT.
#[test]
fn ledbat_pp_slowdowns_have_two_segments_for_two_rtts_and_take_a_tenth_of_the_time() {
    let mut acks = Acks::new(PLUS_PLUS, Some(16));
    let windows: Vec<f64> = (0..8).map(|_| acks.round(120)).collect();
    // The last ACK of the third RTT ends the slow start. The slowdown begins with the first ACK that
    // is two RTTs later.
    assert_eq!(windows[..3], [4.0, 8.0, 16.0]);
    assert!(windows[3] > 16.0, "{windows:?}");
    let slow = windows.iter().filter(|window| **window <= 2.0).count();
    assert_eq!(slow, 2, "{windows:?}");
    let (mut slow_rounds, rounds) = (0, 2000);
    for _ in 0..rounds {
        acks.round(120);
        slow_rounds += u32::from(!matches!(acks.cc.phase, Phase::Avoidance { .. }));
    }
    let share = f64::from(slow_rounds) / f64::from(rounds);
    assert!((0.09..=0.11).contains(&share), "{share}");
}

/// After a slowdown the window returns to its value before it.
#[test]
fn ledbat_pp_window_returns_to_ssthresh_after_a_slowdown() {
    let mut acks = Acks::new(PLUS_PLUS, None);
    acks.round(120);
    acks.cc.cwnd = 32e3;
    acks.cc.phase = Phase::Avoidance { slowdown_at: Some(Time::ZERO) };
    acks.ack(120);
    assert_eq!((acks.cc.cwnd(), acks.cc.ssthresh()), (2 * MSS, 32 * MSS));
    let windows: Vec<f64> = (0..8).map(|_| acks.round(120)).collect();
    assert_eq!(windows[..6], [2.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
}

/// A loss halves the window, and a timeout begins the slow start again.
#[test]
fn loss_halves_the_window_and_timeout_restarts_slow_start() {
    let mut acks = Acks::new(PLUS_PLUS, None);
    acks.in_avoidance(40);
    acks.lose();
    acks.cc.on_recovered(100 * MSS);
    assert_eq!((acks.cc.cwnd(), acks.cc.ssthresh()), (20 * MSS, 20 * MSS));
    acks.cc.on_rto(&LossEvent::new(Time::from_secs(2), 20 * MSS, 20 * MSS));
    assert_eq!((acks.cc.cwnd(), acks.cc.ssthresh()), (MSS, 10 * MSS));
    assert_eq!(acks.cc.phase, Phase::SlowStart);
}

/// A loss during a slowdown ends it.
#[test]
fn loss_ends_a_slowdown() {
    let mut acks = Acks::new(PLUS_PLUS, None);
    acks.cc.phase = Phase::RampUp { begin: Time::from_millis(900) };
    acks.lose();
    let next = Time::from_millis(1000 + 9 * 100);
    assert_eq!(acks.cc.phase, Phase::Avoidance { slowdown_at: Some(next) });
}

/// T = 100 ms: without a queue one segment per RTT, at the target none, at 150 ms −1/2.
#[test]
fn rfc6817_window_follows_the_distance_from_the_target() {
    let mut acks = Acks::new(RFC6817, None);
    acks.ack(50);
    for (rtt, change) in [(50, 1.0), (150, 0.0), (200, -0.5)] {
        for _ in 0..4 {
            acks.ack(rtt);
        }
        acks.cc.cwnd = 40e3;
        let window = acks.round(rtt);
        assert!((window - 40.0 - change).abs() < 0.02, "{rtt} ms: {window}");
    }
}

/// RFC 6817 §2.4.2: the window is at most one segment larger than the data that was in flight.
#[test]
fn rfc6817_allowed_increase_limits_an_unused_window() {
    let mut acks = Acks::new(RFC6817, None);
    acks.cc.cwnd = 40e3;
    let event = AckEvent::of_new_data(Time::from_secs(1), MSS);
    acks.cc.on_ack(&AckEvent { rtt: Some(ms(50)), in_flight: 4 * MSS, ..event });
    assert_eq!(acks.cc.cwnd(), 6 * MSS);
}
