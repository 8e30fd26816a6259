//! C2TCP: CUBIC with a limit of the RTT for cellular paths.
//!
//! Source: Abbasloo, Xu & Chao, "C2TCP: A Flexible Cellular TCP to Meet Stringent Delay
//! Requirements", 2019 (`c2tcp-2019`); the public kernel patch (`Soheil-ab/c2tcp`,
//! `c2tcp_pkts_acked`), with RTTs and setpoint in integer ms. The window is that of
//! [`CubicLinux`]; C2TCP adds a setpoint of the RTT, α times the minimum RTT.
//!
//! Differences from the patch:
//!
//! - 1/√n is exact; the patch has one Newton step per reduction, as CoDel in Linux.
//! - During a fast recovery, whose window the kernel replaces, C2TCP pauses.
//! - A window that the sender does not use does not grow.

use super::hystart::HystartKind;
use super::{
    AckEvent, BurstSize, CongestionControl, CongestionSetup, CubicLinux, CubicLinuxConfig,
    IdleEvent, LossEvent, LostSegment, PathModel, UndoEvent, delegate_congestion,
};
use crate::config::EcnUse;
use airpath_core::{
    Checks, Component, ConfigError, Duration, Ecn, Rate, Setup, StageError, Time, at_least,
};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct C2tcpConfig {
    /// α: setpoint of the RTT in minimum RTTs (`TCP_C2TCP_ALPHA_INIT`).
    pub alpha: f64,
    /// Pause C2TCP in the first second of each epoch of CUBIC, as the patch does.
    pub epoch_pause: bool,
}

/// CUBIC with the kernel's defaults.
const CUBIC: CubicLinuxConfig =
    CubicLinuxConfig { fast_convergence: true, reno_friendly: true, hystart: HystartKind::Classic };

/// State of the timer while the RTT exceeds the setpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Above {
    /// `next_time`: time after which the window is reduced.
    next: Time,
    /// `cnt_rtt`: number of intervals, from 1.
    count: u32,
}

/// C2TCP on CUBIC of Linux.
#[derive(Clone, Debug)]
pub struct C2tcp {
    config: C2tcpConfig,
    cubic: CubicLinux,
    /// `c2tcp_min_urtt`: minimum RTT of the connection.
    least: Option<Duration>,
    above: Option<Above>,
}

/// Computes the setpoint of the RTT: α times the minimum RTT in complete ms, truncated to ms.
pub fn c2tcp_setpoint(alpha: f64, least: Duration) -> u64 {
    let percent = (100.0 * alpha).round() as u64;
    millis(least) * percent / 100
}

/// Computes the time to the next reduction after `count` intervals above the setpoint:
/// setpoint/√count. `setpoint` is in ms.
pub fn c2tcp_interval(setpoint: u64, count: u32) -> Duration {
    Duration::from_nanos((setpoint as f64 * 1e6 / f64::from(count).sqrt()) as u64)
}

fn millis(time: Duration) -> u64 {
    time.as_nanos() / 1_000_000
}

impl C2tcp {
    /// Creates the state before the first segment.
    pub fn new(config: C2tcpConfig, setup: &CongestionSetup) -> C2tcp {
        C2tcp { config, cubic: CubicLinux::new(CUBIC, setup), least: None, above: None }
    }

    /// `c2tcp_pkts_acked`.
    fn follow_setpoint(&mut self, rtt: Duration, event: &AckEvent) {
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        let setpoint = c2tcp_setpoint(self.config.alpha, least);
        if millis(rtt) <= setpoint {
            self.above = None;
            if !event.app_limited {
                self.cubic.add_credit(setpoint / millis(rtt).max(1));
            }
            return;
        }
        match &mut self.above {
            None => {
                let next = event.now + c2tcp_interval(setpoint, 1);
                self.above = Some(Above { next, count: 1 });
            }
            Some(above) if event.now > above.next => {
                above.next = event.now + c2tcp_interval(setpoint, above.count);
                above.count = above.count.saturating_add(1);
                self.cubic.restart_from_one();
            }
            Some(_) => {}
        }
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for C2tcp {
    type Config = C2tcpConfig;

    fn check(config: &C2tcpConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("alpha", config.alpha, at_least(1.0).up_to(1000.0));
        checks.finish()
    }

    fn build(
        config: C2tcpConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<C2tcp, ConfigError> {
        Ok(C2tcp::new(config, &setup.extra))
    }
}

impl super::CongestionWrapper for C2tcp {
    /// `bictcp_acked` with C2TCP, then the growth of CUBIC.
    fn on_ack(&mut self, event: &AckEvent) {
        if event.growth.is_none() {
            return;
        }
        let pauses = self.config.epoch_pause && self.cubic.is_in_young_epoch(event.now);
        if let Some(rtt) = event.rtt.filter(|_| !pauses) {
            self.follow_setpoint(rtt, event);
        }
        self.cubic.on_ack(event);
    }

    delegate_congestion!(cubic: needs_every_ack, needs_rate_samples, sets_window_in_recovery);
    delegate_congestion!(cubic: on_loss, on_rto, on_ecn, on_recovered, on_undo, on_lost_syn, on_idle);
    delegate_congestion!(cubic: limits_itself, on_open, on_segment_lost, path_model, on_negotiated);
    delegate_congestion!(cubic: on_sent, cwnd, ssthresh, pacing_rate, burst_size, take_error);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TcpConfig;

    const MSS: u64 = 1000;

    fn c2tcp(segments: u64, epoch_pause: bool) -> C2tcp {
        let options = TcpConfig {
            mss: MSS as u32,
            initial_window: segments * MSS,
            initial_ssthresh: Some(segments * MSS),
            ..TcpConfig::rfc()
        };
        let config = C2tcpConfig { alpha: 2.0, epoch_pause };
        C2tcp::new(config, &CongestionSetup { options: options.into() })
    }

    /// An ACK of one segment at `now` ms with the RTT `rtt` ms. Returns the window, segments.
    fn ack(cc: &mut C2tcp, now: u64, rtt: u64) -> u64 {
        let event = AckEvent::of_new_data(Time::from_millis(now), MSS);
        cc.on_ack(&AckEvent { rtt: Some(Duration::from_millis(rtt)), ..event });
        cc.cwnd() / MSS
    }

    /// α = 2, minimum 40.9 ms: the setpoint is 80 ms. Gaps 80, 56.6, 46.2, 40 ms.
    #[test]
    fn c2tcp_2019_interval_is_the_setpoint_by_the_root_of_the_count() {
        assert_eq!(c2tcp_setpoint(2.0, Duration::from_nanos(40_900_000)), 80);
        let gaps = [1, 2, 3, 4].map(|count| c2tcp_interval(80, count).as_nanos() / 100_000);
        assert_eq!(gaps, [800, 565, 461, 400]);
    }

    /// Minimum 40 ms, setpoint 80 ms. The RTT exceeds it at 100 ms: the window is reduced after one
    /// interval, and again after 80/√1, 80/√2 and 80/√3 ms.
    #[test]
    fn c2tcp_2019_window_is_one_after_each_interval_above_the_setpoint() {
        let mut cc = c2tcp(50, false);
        ack(&mut cc, 0, 40);
        assert_eq!(ack(&mut cc, 100, 90), 50);
        assert_eq!(ack(&mut cc, 180, 90), 50);
        let mut reductions = Vec::new();
        for now in 181..500 {
            // One segment, and one more by the ACK in slow start.
            if ack(&mut cc, now, 90) == 2 {
                reductions.push(now);
            }
        }
        assert_eq!(reductions[..4], [181, 262, 319, 366]);
    }

    /// The ssthresh of a reduction is that of CUBIC: ⌊50 · 717/1024⌋ = 35. Slow start follows.
    #[test]
    fn reduction_sets_cubics_ssthresh_and_begins_slow_start() {
        let mut cc = c2tcp(50, false);
        ack(&mut cc, 0, 40);
        ack(&mut cc, 100, 90);
        // One segment, and one more by the ACK in slow start.
        assert_eq!((ack(&mut cc, 181, 90), cc.ssthresh()), (2, 35 * MSS));
        assert_eq!(ack(&mut cc, 182, 90), 3);
    }

    /// At the minimum RTT of 40 ms, ⌊80/40⌋ = 2 segments are added to the count of each ACK: a window
    /// of 10 grows by two segments per RTT in addition to CUBIC. At 80 ms it is one.
    #[test]
    fn c2tcp_2019_growth_below_the_setpoint_is_setpoint_per_rtt() {
        let mut cc = c2tcp(100, false);
        (0..101).for_each(|_| cc.follow_setpoint(Duration::from_millis(40), &event()));
        assert_eq!(cc.cwnd(), 102 * MSS);
        (0..102).for_each(|_| cc.follow_setpoint(Duration::from_millis(80), &event()));
        assert_eq!(cc.cwnd(), 103 * MSS);
        let unused = AckEvent { app_limited: true, ..event() };
        (0..200).for_each(|_| cc.follow_setpoint(Duration::from_millis(40), &unused));
        assert_eq!(cc.cwnd(), 103 * MSS);
    }

    fn event() -> AckEvent {
        AckEvent::of_new_data(Time::from_secs(1), MSS)
    }

    /// An RTT below the setpoint stops the timer.
    #[test]
    fn rtt_below_the_setpoint_resets_the_timer() {
        let mut cc = c2tcp(50, false);
        ack(&mut cc, 0, 40);
        ack(&mut cc, 100, 90);
        ack(&mut cc, 150, 80);
        assert_eq!(cc.above, None);
        assert!(ack(&mut cc, 190, 90) >= 50);
    }

    /// The first ACK in congestion avoidance begins an epoch of CUBIC: no reduction in its first second.
    #[test]
    fn epoch_pause_suspends_the_setpoint_for_a_second() {
        let mut cc = c2tcp(50, true);
        ack(&mut cc, 0, 40);
        let before = ack(&mut cc, 100, 90);
        for now in 101..999 {
            ack(&mut cc, now, 90);
        }
        assert!(cc.cwnd() / MSS >= before);
        let least = (1001..1200).map(|now| ack(&mut cc, now, 90)).min();
        assert_eq!(least, Some(2));
    }
}
