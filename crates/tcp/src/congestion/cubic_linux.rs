//! CUBIC in the arithmetic of Linux: integer segments and a clock tick of 1 ms.
//!
//! Source: Linux `net/ipv4/tcp_cubic.c` and `tcp_cong_avoid_ai`, 6.18. HyStart is in `hystart.rs`.
//! A clock tick is 1 ms (HZ = 1000).
//!
//! Differences from RFC 9438:
//!
//! - Windows, targets and ssthresh are truncated to segments.
//! - ssthresh is computed from cwnd, not from the FlightSize.
//! - While the window does not change, the cubic function is evaluated at most once in 31 ms.
//! - The estimated window of Reno always grows by 8/15 of a segment per window.
//! - A timeout resets W_max.

use super::cubic::yes;
use super::hystart::{Advice, CSS_GROWTH_DIVISOR, Hystart, HystartKind};
use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, UndoEvent};
use airpath_core::{Component, ConfigError, Duration, Setup, Time};
use serde::Deserialize;

/// `BICTCP_BETA_SCALE`.
const SCALE: u64 = 1024;
/// `beta`: factor of the window after a loss, in units of 1/`SCALE`: 0.7.
const BETA: u64 = 717;
/// `beta_scale`: acknowledged data per segment of Reno's growth, in eighths of a window. The value
/// is 8 (1 + β)/(3 (1 − β)).
const BETA_SCALE: u64 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);
/// `cube_rtt_scale`: C = 0.4 segments/s³ in units of 1/1024.
const CUBE_RTT_SCALE: u64 = 41 * 10;
/// `BICTCP_HZ`: the unit of time is 2⁻¹⁰ s.
const HZ_BITS: u32 = 10;
/// `cube_factor`.
const CUBE_FACTOR: u64 = (1 << (10 + 3 * HZ_BITS)) / CUBE_RTT_SCALE;
/// Interval between evaluations for an unchanged window (`HZ / 32`), ms.
const HOLD: u64 = 31;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CubicLinuxConfig {
    /// Use fast convergence, which releases bandwidth for new flows (module parameter
    /// `fast_convergence`).
    #[serde(default = "yes")]
    pub fast_convergence: bool,
    /// Let the window grow at least as fast as Reno's (module parameter `tcp_friendliness`).
    #[serde(default = "yes")]
    pub reno_friendly: bool,
    /// Algorithm that ends slow start before a loss (module parameter `hystart`).
    #[serde(default = "classic")]
    pub hystart: HystartKind,
}

const fn classic() -> HystartKind {
    HystartKind::Classic
}

/// The congestion control of Linux's module `tcp_cubic`.
#[derive(Clone, Debug)]
pub struct CubicLinux {
    config: CubicLinuxConfig,
    mss: u64,
    /// Congestion window. All windows in this struct are in segments.
    cwnd: u64,
    ssthresh: u64,
    hystart: Option<Box<Hystart>>,
    /// Delivered bytes that do not yet amount to a segment.
    remainder: u64,
    /// `snd_cwnd_cnt`: number of segments acknowledged since the last increase of the window.
    credit: u64,
    /// `cnt`: number of acknowledged segments per increase of the window by one segment.
    needed: u64,
    /// `last_max_cwnd`: W_max, segments; 0 if not yet known.
    last_max: u64,
    /// `last_cwnd` and `last_time`: window at the last evaluation of the cubic function, and the
    /// time of this evaluation, ms.
    last_look: Option<(u64, u64)>,
    epoch: Option<Epoch>,
    /// `delay_min`: minimum RTT, ms.
    delay_min: Option<u64>,
    /// Time of the last ACK on which the window could grow.
    last_ack: Time,
}

/// State of one congestion avoidance phase.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// `bic_K`: K, units of 1/1024 s.
    k: u64,
    /// `bic_origin_point`: window at the plateau of the cubic function.
    origin: u64,
    /// `tcp_cwnd`: estimated window of Reno. `acked` is `ack_cnt`: number of segments acknowledged
    /// since the last increase of this window.
    reno: u64,
    acked: u64,
}

fn millis(time: Duration) -> u64 {
    time.as_nanos() / 1_000_000
}

/// Computes ⌊∛a⌋.
fn cubic_root(a: u64) -> u64 {
    let mut root = libm::cbrt(a as f64) as u64;
    while root.pow(3) > a {
        root -= 1;
    }
    while (root + 1).pow(3) <= a {
        root += 1;
    }
    root
}

impl CubicLinux {
    /// Creates the state before the first segment.
    pub fn new(config: CubicLinuxConfig, setup: &CongestionSetup) -> CubicLinux {
        let options = &setup.options;
        let mss = u64::from(options.mss);
        CubicLinux {
            config,
            mss,
            cwnd: (options.initial_window / mss).max(1),
            ssthresh: options.initial_ssthresh.map_or(u64::MAX, |bytes| (bytes / mss).max(2)),
            hystart: Hystart::new(config.hystart),
            remainder: 0,
            credit: 0,
            needed: 0,
            last_max: 0,
            last_look: None,
            epoch: None,
            delay_min: None,
            last_ack: Time::ZERO,
        }
    }

    /// Returns true in the first second of an epoch.
    pub(super) fn is_in_young_epoch(&self, now: Time) -> bool {
        let is_young = |epoch: Epoch| now.saturating_since(epoch.start) < Duration::from_secs(1);
        self.epoch.is_some_and(is_young)
    }

    /// Adds `count` segments to `snd_cwnd_cnt`, of which a window of segments grows the window by one.
    pub(super) fn add_credit(&mut self, count: u64) {
        self.credit += count;
        let more = self.credit / self.cwnd;
        self.credit -= more * self.cwnd;
        self.cwnd += more;
    }

    /// Sets ssthresh as for a loss and the window to one segment.
    pub(super) fn restart_from_one(&mut self) {
        self.reduce(self.cwnd * self.mss);
        self.cwnd = 1;
    }

    /// `cubictcp_acked`: updates the minimum RTT, except in the first second of an epoch.
    fn note_delay(&mut self, rtt: Duration, now: Time) {
        if !self.is_in_young_epoch(now) {
            let rtt = millis(rtt);
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// `tcp_slow_start`: grows the window up to ssthresh. Returns the number of segments that
    /// remain for congestion avoidance.
    fn slow_start(&mut self, acked: u64, event: &AckEvent) -> u64 {
        let hystart = self.hystart.as_mut();
        let advice = hystart
            .map_or(Advice::Grow, |search| search.on_ack(acked * self.mss, event, self.cwnd));
        if advice == Advice::Leave {
            self.ssthresh = self.cwnd;
            self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
            return acked;
        }
        let share = if advice == Advice::GrowLess { CSS_GROWTH_DIVISOR } else { 1 };
        let grown = self.ssthresh.min(self.cwnd + acked / share);
        let left = acked.saturating_sub((grown - self.cwnd) * share);
        self.cwnd = grown;
        if grown < self.ssthresh { 0 } else { left }
    }

    /// `bictcp_update`: updates the number of acknowledged segments per increase.
    fn update(&mut self, acked: u64, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += acked;
        }
        let at = now.as_nanos() / 1_000_000;
        let is_known = |(window, time)| window == self.cwnd && at <= time + HOLD;
        if self.last_look.is_some_and(is_known) {
            return;
        }
        let mut epoch = self.epoch.unwrap_or_else(|| self.new_epoch(acked, now));
        let is_same_tick = self.epoch.is_some() && self.last_look.is_some_and(|(_, t)| t == at);
        if !is_same_tick {
            self.last_look = Some((self.cwnd, at));
            self.look(&epoch, now);
        }
        if self.config.reno_friendly {
            self.keep_up_with_reno(&mut epoch);
        }
        self.epoch = Some(epoch);
        self.needed = self.needed.max(2);
    }

    fn new_epoch(&self, acked: u64, start: Time) -> Epoch {
        let below = self.last_max.saturating_sub(self.cwnd);
        Epoch {
            start,
            k: cubic_root(CUBE_FACTOR * below),
            origin: self.last_max.max(self.cwnd),
            reno: self.cwnd,
            acked,
        }
    }

    /// Evaluates the cubic function, and sets the number of acknowledged segments per increase of
    /// the window.
    fn look(&mut self, epoch: &Epoch, now: Time) {
        let since = millis(now.saturating_since(epoch.start)) + self.delay_min.unwrap_or(0);
        let t = (since << HZ_BITS) / 1000;
        let distance = u128::from(t.abs_diff(epoch.k));
        let change = (u128::from(CUBE_RTT_SCALE) * distance.pow(3)) >> (10 + 3 * HZ_BITS);
        let change = u64::try_from(change).unwrap_or(u64::MAX);
        let target = match t < epoch.k {
            true => epoch.origin.saturating_sub(change),
            false => epoch.origin.saturating_add(change),
        };
        self.needed = match target.saturating_sub(self.cwnd) {
            0 => 100 * self.cwnd,
            more => self.cwnd / more,
        };
        if self.last_max == 0 {
            self.needed = self.needed.min(20);
        }
    }

    fn keep_up_with_reno(&mut self, epoch: &mut Epoch) {
        let per_segment = (self.cwnd * BETA_SCALE) >> 3;
        while epoch.acked > per_segment {
            epoch.acked -= per_segment;
            epoch.reno += 1;
        }
        if epoch.reno > self.cwnd {
            self.needed = self.needed.min(self.cwnd / (epoch.reno - self.cwnd));
        }
    }

    /// `tcp_cong_avoid_ai`: grows the window in congestion avoidance.
    fn avoid(&mut self, acked: u64) {
        if self.credit >= self.needed {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= self.needed {
            let more = self.credit / self.needed;
            self.credit -= more * self.needed;
            self.cwnd += more;
        }
    }

    /// `cubictcp_recalc_ssthresh`: reduces ssthresh and updates W_max. `bytes` is the window before
    /// the reduction.
    fn reduce(&mut self, bytes: u64) {
        let window = bytes / self.mss;
        self.last_max = if self.config.fast_convergence && window < self.last_max {
            window * (SCALE + BETA) / (2 * SCALE)
        } else {
            window
        };
        self.epoch = None;
        self.ssthresh = (window * BETA / SCALE).max(2);
        self.credit = 0;
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for CubicLinux {
    type Config = CubicLinuxConfig;

    fn build(
        config: CubicLinuxConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<CubicLinux, ConfigError> {
        Ok(CubicLinux::new(config, &setup.extra))
    }
}

impl CongestionControl for CubicLinux {
    /// `cubictcp_acked`, then `cubictcp_cong_avoid`.
    fn on_ack(&mut self, event: &AckEvent) {
        if event.growth.is_none() {
            return;
        }
        if let Some(rtt) = event.rtt {
            self.note_delay(rtt, event.now);
        }
        self.last_ack = event.now;
        let bytes = self.remainder + event.delivered;
        self.remainder = bytes % self.mss;
        let mut acked = bytes / self.mss;
        let in_slow_start = self.cwnd < self.ssthresh;
        // tcp_is_cwnd_limited: in slow start it is sufficient that half of the window is used.
        let used = (event.in_flight + event.acked) / self.mss;
        if event.app_limited && !(in_slow_start && self.cwnd < 2 * used) || acked == 0 {
            return;
        }
        if in_slow_start {
            acked = self.slow_start(acked, event);
            if acked == 0 {
                return;
            }
        }
        self.update(acked, event.now);
        self.avoid(acked);
    }

    #[inline]
    fn needs_every_ack(&self) -> bool {
        false
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.reduce(event.flight);
        self.cwnd = self.ssthresh;
        self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
    }

    /// Includes `bictcp_reset` and `bictcp_hystart_reset`.
    fn on_rto(&mut self, event: &LossEvent) {
        if event.keeps_ssthresh {
            (self.epoch, self.credit) = (None, 0);
        } else {
            self.reduce(event.flight);
        }
        self.cwnd = 1;
        (self.last_max, self.last_look, self.needed) = (0, None, 0);
        self.delay_min = None;
        self.hystart.take_if(|hystart| !hystart.continues_after_timeout());
    }

    fn on_ecn(&mut self, event: &LossEvent) {
        self.reduce(event.flight);
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.hystart.take_if(|hystart| !hystart.continues_after_slow_start());
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.cwnd = self.ssthresh.min(cwnd / self.mss);
    }

    /// `tcp_reno_undo_cwnd`: W_max and the epoch are not restored.
    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(event.cwnd / self.mss);
        self.ssthresh = self.ssthresh.max(event.ssthresh / self.mss);
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = 1;
    }

    /// `cubictcp_cwnd_event`: idle time does not count in t.
    fn on_idle(&mut self, event: &IdleEvent) {
        let since_last = event.now.saturating_since(self.last_ack);
        self.cwnd = self.cwnd.min((event.cwnd / self.mss).max(1));
        self.ssthresh = self.ssthresh.max(event.ssthresh / self.mss);
        self.last_ack = event.now;
        if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start + since_last;
        }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd * self.mss
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.ssthresh.saturating_mul(self.mss)
    }
}

#[cfg(test)]
mod tests;
