//! CUBIC: the window as a cubic function of the time since the last loss.
//!
//! Source: RFC 9438. Windows are in segments here, as in the RFC.
//! HyStart is `hystart.rs`.
//! Left out: spurious-loss rollback (§4.9).
//! Where the RFC is silent: a second timeout without an ACK in between leaves W_max and cwnd_prior
//! as the first set them; an idle time does not count in t (Linux), and when it cuts the window,
//! the next congestion avoidance begins an epoch of its own towards the same W_max.

use super::cubic_ns3::CubicNs3;
use super::growth::Growth;
use super::hystart::{Advice, CSS_GROWTH_DIVISOR, Hystart, HystartKind};
use super::reno::check_beta_ecn;
use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent};
use airpath_core::{ConfigError, Duration, Part, Setup, Time};
use serde::Deserialize;

/// What the user sets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CubicConfig {
    /// C, segments/s³: how fast the window grows far from `W_max`. RFC 9438 §5: 0.4.
    #[serde(default = "c")]
    pub c: f64,
    /// β_cubic, in (0, 1): what a loss leaves of the window. RFC 9438 §4.6: 0.7.
    #[serde(default = "beta")]
    pub beta: f64,
    /// β_ecn, in (0, 1): what an echoed mark leaves of the window. Absent: β_cubic (RFC 9438 §4.6);
    /// RFC 8511 §3: 0.85.
    #[serde(default)]
    pub beta_ecn: Option<f64>,
    /// Release bandwidth for new flows (§4.7).
    #[serde(default = "yes")]
    pub fast_convergence: bool,
    /// Never send less than Reno would (§4.3).
    #[serde(default = "yes")]
    pub reno_friendly: bool,
    /// How slow start looks for its end.
    #[serde(default)]
    pub hystart: HystartKind,
}

const fn c() -> f64 {
    0.4
}

const fn beta() -> f64 {
    0.7
}

const fn yes() -> bool {
    true
}

/// W_cubic(t) = C (t − K)³ + W_max, segments; `t` and `k` in seconds (RFC 9438 §4.2, fig. 1).
pub fn w_cubic(t: f64, k: f64, w_max: f64, c: f64) -> f64 {
    let distance = t - k;
    c * distance * distance * distance + w_max
}

/// K = ∛((W_max − cwnd_epoch)/C), s: when the window is back at `W_max` (RFC 9438 §4.2, fig. 2).
pub fn time_to_w_max(w_max: f64, cwnd_epoch: f64, c: f64) -> f64 {
    libm::cbrt((w_max - cwnd_epoch).max(0.0) / c)
}

/// α_cubic = 3 (1 − β)/(1 + β): the additive increase by which Reno with β sends as much as Reno
/// with one half (RFC 9438 §4.3).
pub fn reno_friendly_increase(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// The window law of RFC 9438.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    mss: f64,
    growth: Growth,
    hystart: Option<Box<Hystart>>,
    /// Segments, like every window below.
    cwnd: f64,
    ssthresh: Option<f64>,
    srtt: Option<Duration>,
    /// W_max: the window before the last loss.
    w_max: f64,
    /// cwnd_prior, for the Reno-friendly region.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// The last reduction was a timeout's: the next epoch starts at its own `W_max`.
    after_timeout: bool,
    last_ack: Time,
    /// In the place of all that, for ns-3's procedures.
    ns3: Option<Box<CubicNs3>>,
}

/// One congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// K, s.
    k: f64,
    /// W_est: what Reno would have.
    w_est: f64,
}

impl Cubic {
    /// Before the first segment.
    pub fn new(config: CubicConfig, setup: &CongestionSetup) -> Cubic {
        let options = &setup.options;
        let mss = f64::from(options.mss);
        Cubic {
            config,
            mss,
            growth: Growth::new(options),
            hystart: Hystart::new(config.hystart),
            cwnd: options.initial_window as f64 / mss,
            ssthresh: options.initial_ssthresh.map(|bytes| bytes as f64 / mss),
            srtt: None,
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            after_timeout: false,
            last_ack: Time::ZERO,
            ns3: options.follows_ns3().then(|| {
                let ssthresh = options.initial_ssthresh.unwrap_or(u64::MAX);
                let mss = u64::from(options.mss);
                Box::new(CubicNs3::new(config, mss, options.initial_window, ssthresh))
            }),
        }
    }

    fn note_rtt(&mut self, rtt: Duration) {
        let smoothed =
            self.srtt.map_or(rtt.as_nanos(), |srtt| (srtt.as_nanos() / 8) * 7 + rtt.as_nanos() / 8);
        self.srtt = Some(Duration::from_nanos(smoothed));
    }

    /// RFC 9438 §4.2; after a timeout K is 0 and `W_max` the present window (§4.8).
    fn new_epoch(&mut self, now: Time) -> Epoch {
        if self.after_timeout || self.w_max < self.cwnd {
            self.w_max = self.cwnd;
            self.after_timeout = false;
        }
        Epoch {
            start: now,
            k: time_to_w_max(self.w_max, self.cwnd, self.config.c),
            w_est: self.cwnd,
        }
    }

    /// For an ACK of `bytes`, `acked` segments.
    fn slow_start(&mut self, event: &AckEvent, bytes: u64, acked: f64) {
        let whole = self.cwnd as u64;
        let advice = match &mut self.hystart {
            Some(hystart) => hystart.on_ack(bytes, event, whole),
            None => Advice::Grow,
        };
        let share = match advice {
            Advice::Grow => 1.0,
            Advice::GrowLess => 1.0 / CSS_GROWTH_DIVISOR as f64,
            Advice::Leave => {
                self.ssthresh = Some(self.cwnd);
                self.hystart.take_if(|hystart| !hystart.goes_on_after_slow_start());
                return self.congestion_avoidance(event.now, acked);
            }
        };
        if let Some(limit) = self.growth.slow_start_limit() {
            self.cwnd += acked.min(limit as f64) * share;
            return;
        }
        // What goes beyond ssthresh is left for congestion avoidance.
        let ssthresh = self.ssthresh.unwrap_or(f64::INFINITY);
        let beyond = (self.cwnd + acked * share - ssthresh).max(0.0);
        self.cwnd += acked * share - beyond;
        if beyond > 0.0 {
            self.congestion_avoidance(event.now, beyond);
        }
    }

    /// RFC 9438 §4.3–4.5, for `acked` segments.
    fn congestion_avoidance(&mut self, now: Time, acked: f64) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.new_epoch(now),
        };
        let CubicConfig { c, beta, .. } = self.config;
        let alpha = if epoch.w_est < self.cwnd_prior { reno_friendly_increase(beta) } else { 1.0 };
        epoch.w_est += alpha * acked / self.cwnd;
        self.epoch = Some(epoch);
        let t = now.saturating_since(epoch.start).as_secs_lossy();
        if self.config.reno_friendly && w_cubic(t, epoch.k, self.w_max, c) < epoch.w_est {
            self.cwnd = self.cwnd.max(epoch.w_est);
            return;
        }
        let rtt = self.srtt.map_or(0.0, Duration::as_secs_lossy);
        let target = w_cubic(t + rtt, epoch.k, self.w_max, c);
        let target = target.clamp(self.cwnd, 1.5 * self.cwnd);
        self.cwnd = (self.cwnd + (target - self.cwnd) / self.cwnd * acked).min(target);
    }

    /// RFC 9438 §4.6 and §4.7; gives the new threshold, the part `left` of the flight.
    fn reduce(&mut self, flight: u64, left: f64) -> f64 {
        let CubicConfig { beta, fast_convergence, .. } = self.config;
        self.cwnd_prior = self.cwnd;
        self.w_max = if fast_convergence && self.cwnd < self.w_max {
            self.cwnd * (1.0 + beta) / 2.0
        } else {
            self.cwnd
        };
        self.epoch = None;
        (flight as f64 / self.mss * left).max(2.0)
    }
}

impl<T: ?Sized> Part<T, CongestionSetup> for Cubic {
    type Config = CubicConfig;

    fn build(
        config: CubicConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Cubic, ConfigError> {
        if !(config.c > 0.0 && config.c.is_finite()) {
            return Err(ConfigError::new("c", config.c, "not above 0"));
        }
        if !(config.beta > 0.0 && config.beta < 1.0) {
            return Err(ConfigError::new("beta", config.beta, "not between 0 and 1"));
        }
        config.beta_ecn.map_or(Ok(()), check_beta_ecn)?;
        Ok(Cubic::new(config, &setup.extra))
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, event: &AckEvent) {
        if let Some(ns3) = &mut self.ns3 {
            return ns3.on_ack(event);
        }
        let Some(bytes) = event.growth else { return };
        if let Some(rtt) = event.rtt {
            self.note_rtt(rtt);
        }
        let since_last =
            event.now.saturating_since(std::mem::replace(&mut self.last_ack, event.now));
        if event.app_limited {
            // RFC 9438 §5.8: no growth while cwnd is not used, and t stands still.
            if let Some(epoch) = &mut self.epoch {
                epoch.start = epoch.start + since_last;
            }
            return;
        }
        let acked = self.growth.counted(bytes, event) as f64 / self.mss;
        if self.ssthresh.is_some_and(|ssthresh| self.cwnd >= ssthresh) {
            self.congestion_avoidance(event.now, acked);
        } else {
            self.slow_start(event, bytes, acked);
        }
    }

    #[inline]
    fn wants_every_ack(&self) -> bool {
        false
    }

    fn on_loss(&mut self, event: &LossEvent) {
        if let Some(ns3) = &mut self.ns3 {
            return ns3.on_loss(event.flight);
        }
        let ssthresh = self.reduce(event.flight, self.config.beta);
        self.ssthresh = Some(ssthresh);
        self.cwnd = ssthresh;
        self.growth.on_reduction(false);
        self.hystart.take_if(|hystart| !hystart.goes_on_after_slow_start());
        self.after_timeout = false;
    }

    /// RFC 9438 §4.8.
    fn on_rto(&mut self, event: &LossEvent) {
        if let Some(ns3) = &mut self.ns3 {
            return ns3.on_rto(event.now, event.flight);
        }
        self.hystart.take_if(|hystart| !hystart.goes_on_after_timeout());
        let is_repeated = self.after_timeout && self.cwnd <= 1.0;
        if is_repeated {
            return;
        }
        let ssthresh = self.reduce(event.flight, self.config.beta);
        self.ssthresh = Some(ssthresh);
        self.cwnd = 1.0;
        self.growth.on_reduction(true);
        self.after_timeout = true;
    }

    /// RFC 9438 §4.6, with β_ecn where one is given (RFC 8511 §3).
    fn on_ecn(&mut self, event: &LossEvent) {
        let CubicConfig { beta, beta_ecn, .. } = self.config;
        let ssthresh = self.reduce(event.flight, beta_ecn.unwrap_or(beta));
        self.ssthresh = Some(ssthresh);
        self.cwnd = self.cwnd.min(ssthresh);
        self.growth.on_reduction(false);
        self.hystart.take_if(|hystart| !hystart.goes_on_after_slow_start());
        self.after_timeout = false;
    }

    fn on_recovered(&mut self, cwnd: u64) {
        if let Some(ns3) = &mut self.ns3 {
            return ns3.set_cwnd(ns3.ssthresh().min(cwnd));
        }
        let ssthresh = self.ssthresh.unwrap_or(self.cwnd);
        self.cwnd = ssthresh.min(cwnd as f64 / self.mss);
    }

    fn on_lost_syn(&mut self) {
        if let Some(ns3) = &mut self.ns3 {
            return ns3.set_cwnd(ns3.cwnd().min(self.mss as u64));
        }
        self.cwnd = self.cwnd.min(1.0);
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        if let Some(ns3) = &mut self.ns3 {
            return ns3.on_idle(event.cwnd, event.ssthresh);
        }
        let since_last =
            event.now.saturating_since(std::mem::replace(&mut self.last_ack, event.now));
        let left = event.cwnd as f64 / self.mss;
        if left < self.cwnd {
            self.cwnd = left;
            self.epoch = None;
        } else if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start + since_last;
        }
        self.ssthresh =
            self.ssthresh.map(|ssthresh| ssthresh.max(event.ssthresh as f64 / self.mss));
    }

    fn cwnd(&self) -> u64 {
        if let Some(ns3) = &self.ns3 {
            return ns3.cwnd();
        }
        (self.cwnd * self.mss) as u64
    }

    fn ssthresh(&self) -> u64 {
        if let Some(ns3) = &self.ns3 {
            return ns3.ssthresh();
        }
        self.ssthresh.map_or(u64::MAX, |ssthresh| (ssthresh * self.mss) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::TcpOptions;
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
        source: "RFC 9438 §4.2: cwnd beside W_cubic(t) over 12 s after a loss",
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
        let options = TcpOptions {
            mss: 1000,
            initial_window: segments * 1000,
            initial_ssthresh: Some(ssthresh * 1000),
            ..TcpOptions::rfc()
        };
        Cubic::new(config, &CongestionSetup { options })
    }

    fn ack(now: Time, rtt: Duration) -> AckEvent {
        AckEvent { rtt: Some(rtt), ..AckEvent::of_new_data(now, 1000) }
    }

    /// A round trip: every segment of the window is acknowledged, evenly spaced.
    fn round(law: &mut Cubic, start: Time, rtt: Duration) -> u64 {
        let segments = law.cwnd() / 1000;
        for segment in 0..segments {
            let into = Duration::from_nanos(rtt.as_nanos() * segment / segments);
            law.on_ack(&ack(start + into, rtt));
        }
        segments
    }

    #[test]
    fn fig1_and_fig2_the_cubic_is_back_at_w_max_after_k() {
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
    fn s4_6_a_loss_leaves_seven_tenths_of_the_flight() {
        let mut law = cubic(DEFAULT, 100, 10);
        law.on_loss(&LossEvent { now: Time::ZERO, flight: 100_000 });
        assert_eq!((law.cwnd(), law.ssthresh()), (70_000, 70_000));
    }

    #[test]
    fn s4_6_an_echoed_mark_leaves_as_much_as_a_loss_and_with_rfc8511_more() {
        for (beta_ecn, left) in [(None, 70_000), (Some(0.85), 85_000)] {
            let mut law = cubic(CubicConfig { beta_ecn, ..DEFAULT }, 100, 10);
            law.on_ecn(&LossEvent { now: Time::ZERO, flight: 100_000 });
            assert_eq!((law.cwnd(), law.ssthresh(), law.w_max), (left, left, 100.0));
        }
    }

    #[test]
    fn s4_7_fast_convergence_remembers_less_than_the_window() {
        let mut law = cubic(DEFAULT, 100, 10);
        for flight in [100_000, 70_000] {
            law.on_loss(&LossEvent { now: Time::ZERO, flight });
        }
        let what = "W_max after 100 and 70 segments";
        EQUATIONS.close(what, "segments", law.w_max, 70.0 * 0.85, 1e-9);
    }

    #[test]
    fn the_window_follows_the_cubic_from_a_loss_back_to_w_max() {
        let rtt = Duration::from_millis(20);
        let mut law = cubic(CubicConfig { reno_friendly: false, ..DEFAULT }, 1000, 10);
        law.on_loss(&LossEvent { now: Time::ZERO, flight: 1_000_000 });
        let mut now = Time::ZERO;
        let expected_k = time_to_w_max(1000.0, 700.0, 0.4);
        let mut largest = 0.0_f64;
        while now < Time::from_secs(12) {
            round(&mut law, now, rtt);
            now = now + rtt;
            let ideal = w_cubic(now.as_secs_lossy(), expected_k, 1000.0, 0.4);
            largest = largest.max((law.cwnd / ideal - 1.0).abs());
        }
        GROWTH.close("largest relative difference, RTT 20 ms", "", largest, 0.0, 0.01);
    }

    #[test]
    fn s5_8_a_window_that_is_not_used_does_not_grow() {
        let mut law = cubic(DEFAULT, 20, 10);
        for second in 0..100 {
            let event = ack(Time::from_secs(second), Duration::from_millis(40));
            law.on_ack(&AckEvent { app_limited: true, ..event });
        }
        assert_eq!(law.cwnd(), 20_000);
    }

    /// The window before the first of them is what counts (RFC 9438 §4.6).
    #[test]
    fn repeated_timeouts_leave_w_max_and_cwnd_prior_alone() {
        let mut law = cubic(DEFAULT, 100, 10);
        for _ in 0..5 {
            law.on_rto(&LossEvent { now: Time::ZERO, flight: 100_000 });
        }
        assert_eq!((law.cwnd_prior, law.w_max), (100.0, 100.0));
        assert_eq!((law.cwnd(), law.ssthresh()), (1000, 70_000));
    }

    /// RFC 9438 §4.2: t has no time in it in which the application had nothing to send.
    #[test]
    fn s4_2_an_idle_time_moves_the_epoch() {
        let rtt = Duration::from_millis(40);
        let mut law = cubic(DEFAULT, 100, 10);
        law.on_loss(&LossEvent { now: Time::ZERO, flight: 100_000 });
        round(&mut law, Time::ZERO, rtt);
        let before = law.cwnd;
        let now = Time::from_secs(3600);
        law.on_idle(&IdleEvent { now, cwnd: law.cwnd(), ssthresh: 0 });
        law.on_ack(&ack(now + rtt, rtt));
        assert!(law.cwnd - before < 0.5, "{before} and {}", law.cwnd);
    }

    #[test]
    fn an_idle_time_that_cuts_the_window_begins_a_new_epoch_towards_w_max() {
        let rtt = Duration::from_millis(40);
        let mut law = cubic(DEFAULT, 100, 10);
        law.on_loss(&LossEvent { now: Time::ZERO, flight: 100_000 });
        round(&mut law, Time::ZERO, rtt);
        let now = Time::from_secs(60);
        law.on_idle(&IdleEvent { now, cwnd: 10_000, ssthresh: 75_000 });
        assert_eq!((law.cwnd(), law.ssthresh()), (10_000, 75_000));
        assert!(law.epoch.is_none() && law.w_max == 100.0);
    }

    #[test]
    fn a_loss_after_a_timeout_has_its_own_w_max() {
        let mut law = cubic(DEFAULT, 60, 10);
        law.on_rto(&LossEvent { now: Time::ZERO, flight: 60_000 });
        law.cwnd = 60.0;
        law.on_loss(&LossEvent { now: Time::ZERO, flight: 60_000 });
        law.on_ack(&ack(Time::from_millis(1), Duration::from_millis(40)));
        assert!(law.epoch.is_some_and(|epoch| epoch.k > 3.0));
        assert_eq!(law.w_max, 60.0);
    }

    #[test]
    fn s4_8_after_a_timeout_the_first_epoch_is_convex_from_its_start() {
        let mut law = cubic(DEFAULT, 100, 10);
        law.on_rto(&LossEvent { now: Time::ZERO, flight: 100_000 });
        assert_eq!((law.cwnd(), law.ssthresh()), (1000, 70_000));
        let (rtt, mut now) = (Duration::from_millis(100), Time::ZERO);
        while law.epoch.is_none() {
            round(&mut law, now, rtt);
            now = now + rtt;
        }
        assert_eq!(law.epoch.map(|epoch| epoch.k), Some(0.0));
        assert!((law.w_max - 70.0).abs() < 1.0, "{}", law.w_max);
    }

    /// Mean window of a law that loses one segment in every 1/p, over the last two thirds of
    /// `losses` losses.
    fn mean_window(law: &mut Cubic, p: f64, rtt: Duration, losses: u32) -> f64 {
        let (mut now, mut since_loss) = (Time::ZERO, 0.0);
        let (mut sum, mut rounds) = (0.0, 0.0);
        for number in 0..losses {
            while since_loss < 1.0 / p {
                if number >= losses / 3 {
                    sum += law.cwnd;
                    rounds += 1.0;
                }
                since_loss += round(law, now, rtt) as f64;
                now = now + rtt;
            }
            since_loss -= 1.0 / p;
            law.on_loss(&LossEvent { now, flight: law.cwnd() });
        }
        sum / rounds
    }

    /// RFC 9438 §5.1, fig. 5: mean window 1.054 (RTT/p)^0.75 with one loss every 1/p segments.
    /// The formula is for windows that come back to `W_max`, so without fast convergence. Around
    /// `W_max` the cubic is flat and forgets its start slowly, so it starts there.
    #[test]
    fn s5_1_the_response_function_within_five_percent() {
        let config = CubicConfig { fast_convergence: false, ..DEFAULT };
        for (p, expected) in [(1e-4, 187.4), (1e-5, 1053.8), (1e-6, 5926.0)] {
            let mut law = cubic(config, (expected / 0.925) as u64, 10);
            law.on_loss(&LossEvent { now: Time::ZERO, flight: law.cwnd() });
            let mean = mean_window(&mut law, p, Duration::from_millis(100), 24);
            let what = format!("mean window, RTT 100 ms, p = {p:?}");
            RESPONSE.close_relative(what, "segments", mean, expected, 0.05);
        }
    }

    /// In the Reno-friendly region the mean window is Reno's with one half: √(3/2p).
    #[test]
    fn s4_3_with_short_round_trips_it_sends_as_much_as_reno() {
        let mut law = cubic(DEFAULT, 30, 10);
        let mean = mean_window(&mut law, 1e-3, Duration::from_millis(5), 200);
        let what = "mean window, RTT 5 ms, p = 1e-3";
        FRIENDLY.close_relative(what, "segments", mean, 38.7, 0.05);
    }
}
