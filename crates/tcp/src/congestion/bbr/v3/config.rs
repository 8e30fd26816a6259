//! Parameters of BBRv3.

use airpath_core::{Checks, ConfigError, Duration, above, at_least};
use serde::Deserialize;

/// Rules of BBRv3 where the draft and Google's kernel differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BbrVariant {
    /// draft-ietf-ccwg-bbr-06.
    #[default]
    Draft,
    /// Google's Linux kernel, branch v3.
    Linux,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BbrConfig {
    /// Rules, and defaults of `drain_gain` and `down_gain`.
    pub variant: BbrVariant,
    /// Gain of the pacing rate in Startup, at least 1.
    pub startup_gain: f64,
    /// Gain of the pacing rate in Drain, in (0, 1]. `None`: 0.5, in Linux 1000/2885.
    pub drain_gain: Option<f64>,
    /// Gain of the pacing rate in ProbeBW_DOWN, in (0, 1]. `None`: 0.9, in Linux 0.91.
    pub down_gain: Option<f64>,
    /// Gain of the pacing rate in ProbeBW_UP, at least 1.
    pub up_gain: f64,
    /// Gain of the window, at least 1.
    pub cwnd_gain: f64,
    /// Gain of the window in ProbeBW_UP, at least 1.
    pub up_cwnd_gain: f64,
    /// Gain of the window in ProbeRTT, in (0, 1].
    pub probe_rtt_gain: f64,
    /// Tolerated share of lost bytes, in (0, 1).
    pub loss_threshold: f64,
    /// Factor of the bounds at a loss, in (0, 1].
    pub beta: f64,
    /// Share of `inflight_longterm` that is left free for other flows, in [0, 1).
    pub headroom: f64,
    /// Shortest time between two bandwidth probes, ns.
    pub probe_wait_ns: u64,
    /// Largest random time in addition to `probe_wait_ns`, ns.
    pub probe_wait_spread_ns: u64,
    /// Largest number of round trips between two bandwidth probes, at least 1.
    pub probe_rounds: u32,
    /// Window of the minimum RTT, ns, above 0.
    pub min_rtt_window_ns: u64,
    /// Time without a lower RTT after which ProbeRTT begins, ns, above 0.
    pub probe_rtt_interval_ns: u64,
    /// Shortest time in ProbeRTT, ns.
    pub probe_rtt_time_ns: u64,
}

impl Default for BbrConfig {
    /// Returns the constants of draft-ietf-ccwg-bbr-06.
    fn default() -> BbrConfig {
        BbrConfig {
            variant: BbrVariant::Draft,
            startup_gain: 2.77,
            drain_gain: None,
            down_gain: None,
            up_gain: 1.25,
            cwnd_gain: 2.0,
            up_cwnd_gain: 2.25,
            probe_rtt_gain: 0.5,
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            probe_wait_ns: 2_000_000_000,
            probe_wait_spread_ns: 1_000_000_000,
            probe_rounds: 63,
            min_rtt_window_ns: 10_000_000_000,
            probe_rtt_interval_ns: 5_000_000_000,
            probe_rtt_time_ns: 200_000_000,
        }
    }
}

impl BbrConfig {
    /// Returns an error if a value is outside its range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        for (field, value) in [
            ("startup_gain", self.startup_gain),
            ("up_gain", self.up_gain),
            ("cwnd_gain", self.cwnd_gain),
            ("up_cwnd_gain", self.up_cwnd_gain),
        ] {
            checks.within(field, value, at_least(1.0));
        }
        for (field, value) in [
            ("drain_gain", self.drain_gain()),
            ("down_gain", self.down_gain()),
            ("probe_rtt_gain", self.probe_rtt_gain),
            ("beta", self.beta),
        ] {
            checks.within(field, value, above(0.0).up_to(1.0));
        }
        checks.within("loss_threshold", self.loss_threshold, above(0.0).below(1.0));
        checks.within("headroom", self.headroom, at_least(0.0).below(1.0));
        for (field, value) in [
            ("min_rtt_window_ns", self.min_rtt_window_ns),
            ("probe_rtt_interval_ns", self.probe_rtt_interval_ns),
            ("probe_rounds", u64::from(self.probe_rounds)),
        ] {
            checks.within(field, value, above(0_u32));
        }
        checks.finish()
    }

    /// Returns true if the rules are those of Google's kernel.
    pub(super) fn is_linux(&self) -> bool {
        self.variant == BbrVariant::Linux
    }

    /// `BBR.DrainPacingGain`, `bbr_drain_gain`.
    pub(super) fn drain_gain(&self) -> f64 {
        self.drain_gain.unwrap_or(if self.is_linux() { 1000.0 / 2885.0 } else { 0.5 })
    }

    /// Pacing gain of ProbeBW_DOWN.
    pub(super) fn down_gain(&self) -> f64 {
        self.down_gain.unwrap_or(if self.is_linux() { 0.91 } else { 0.9 })
    }

    /// Tolerated share of lost segments; in Linux in units of 1/256 (`bbr_loss_thresh`).
    pub(super) fn loss_threshold(&self) -> f64 {
        match self.is_linux() {
            true => libm::floor(256.0 * self.loss_threshold) / 256.0,
            false => self.loss_threshold,
        }
    }

    /// Bounds of the time between two bandwidth probes.
    pub(super) fn probe_wait(&self) -> [Duration; 2] {
        let least = Duration::from_nanos(self.probe_wait_ns);
        [least, least + Duration::from_nanos(self.probe_wait_spread_ns)]
    }
}
