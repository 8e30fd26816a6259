//! DCTCP: the window is reduced in proportion to the share of marked bytes.
//!
//! Source: RFC 8257 §3.3 and §3.4. Growth and the reactions to loss and timeout are the same as in
//! Reno. Difference from the RFC: the reduced window is at least two segments, as after a loss (RFC
//! 5681 eq. 4).

use super::hystart::HystartKind;
use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, Reno, UndoEvent};
use airpath_core::{Checks, Component, ConfigError, Setup, above};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DctcpConfig {
    /// g, in (0, 1]: weight in α of the marked share in the last window. RFC 8257 §4.2: 1/16.
    #[serde(default = "g")]
    pub g: f64,
    /// Initial α, in [0, 1]. RFC 8257 §3.3: 1.
    #[serde(default = "one")]
    pub initial_alpha: f64,
    /// Algorithm that ends slow start before a loss.
    #[serde(default)]
    pub hystart: HystartKind,
}

const fn g() -> f64 {
    0.0625
}

const fn one() -> f64 {
    1.0
}

/// Computes α = (1 − g) α + g M (RFC 8257 §3.3 step 5).
pub fn dctcp_alpha(alpha: f64, g: f64, marked_share: f64) -> f64 {
    alpha * (1.0 - g) + g * marked_share
}

/// The congestion control of RFC 8257.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    g: f64,
    /// DCTCP.Alpha: the estimated share of marked bytes.
    alpha: f64,
    /// DCTCP.WindowEnd, a stream offset: end of the observation window.
    window_end: u64,
    /// DCTCP.BytesAcked in this window. `marked` is DCTCP.BytesMarked.
    acked: u64,
    marked: u64,
}

impl Dctcp {
    /// Creates the state before the first segment.
    pub fn new(config: DctcpConfig, setup: &CongestionSetup) -> Dctcp {
        Dctcp {
            reno: Reno::new(setup).with_hystart(config.hystart),
            g: config.g,
            alpha: config.initial_alpha,
            window_end: 0,
            acked: 0,
            marked: 0,
        }
    }

    /// Returns α, the estimated share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Dctcp {
    type Config = DctcpConfig;

    fn check(config: &DctcpConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("g", config.g, above(0.0).up_to(1.0));
        checks.within("initial_alpha", config.initial_alpha, 0.0..=1.0);
        checks.finish()
    }

    fn build(
        config: DctcpConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Dctcp, ConfigError> {
        Ok(Dctcp::new(config, &setup.extra))
    }
}

impl Dctcp {
    /// Updates α (RFC 8257 §3.3 steps 1 to 9).
    fn observe(&mut self, event: &AckEvent) {
        self.acked += event.acked;
        // With accurate feedback, segments beyond a hole are reported before they are acknowledged.
        self.marked += if event.echo { event.acked } else { event.marked };
        if event.ack <= self.window_end {
            return;
        }
        self.alpha =
            dctcp_alpha(self.alpha, self.g, self.marked.min(self.acked) as f64 / self.acked as f64);
        self.window_end = event.sent;
        (self.acked, self.marked) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, event: &AckEvent) {
        self.observe(event);
        self.reno.on_ack(event);
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.reno.on_loss(event);
    }

    fn on_rto(&mut self, event: &LossEvent) {
        self.reno.on_rto(event);
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.reno.on_recovered(cwnd);
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.reno.on_undo(event);
    }

    fn on_lost_syn(&mut self) {
        self.reno.on_lost_syn();
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        self.reno.on_idle(event);
    }

    /// Sets cwnd = cwnd · (1 − α/2), once per window (RFC 8257 §3.3).
    fn on_ecn(&mut self, _event: &LossEvent) {
        let cwnd = self.reno.cwnd() as f64 * (1.0 - self.alpha / 2.0);
        self.reno.reduce_to(cwnd as u64);
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.reno.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TcpConfig;
    use airpath_conformance::Law;
    use airpath_core::Time;

    const ALPHA: Law = Law {
        area: "DCTCP",
        source: "RFC 8257 §3.3: α moves by g towards the marked share, cwnd falls by α/2",
        allows: "α: floating-point rounding; cwnd: no deviation",
    };

    fn dctcp(g: f64, initial_alpha: f64, segments: u64) -> Dctcp {
        let window = segments * 1000;
        let options = TcpConfig {
            mss: 1000,
            initial_window: window,
            initial_ssthresh: Some(window),
            ..TcpConfig::rfc()
        };
        Dctcp::new(
            DctcpConfig { g, initial_alpha, hystart: HystartKind::Off },
            &CongestionSetup { options: options.into() },
        )
    }

    fn echo(cc: &mut Dctcp, echo: bool, acked: u64, ack: u64, sent: u64) -> f64 {
        let event = AckEvent::of_new_data(Time::ZERO, acked);
        cc.on_ack(&AckEvent { growth: None, ack, sent, echo, ..event });
        cc.alpha
    }

    fn ecn(cc: &mut Dctcp) -> u64 {
        cc.on_ecn(&LossEvent::new(Time::ZERO, cc.cwnd(), cc.cwnd()));
        cc.cwnd()
    }

    #[test]
    fn s3_3_alpha_moves_once_per_window_by_g_towards_the_share_of_marked_bytes() {
        let mut cc = dctcp(0.0625, 1.0, 10);
        // Initially, WindowEnd is SND.UNA, so that the first observation window contains only the
        // first ACK.
        assert_eq!(echo(&mut cc, false, 1000, 1000, 10_000), 0.9375);
        assert_eq!(echo(&mut cc, true, 3000, 4000, 12_000), 0.9375);
        assert_eq!(echo(&mut cc, false, 6000, 10_000, 20_000), 0.9375);
        // This ACK is beyond WindowEnd. In the window, 3000 of 12 000 bytes were marked.
        assert_eq!(echo(&mut cc, false, 3000, 13_000, 22_000), 0.9375 * 0.9375 + 0.25 / 16.0);
        assert_eq!(cc.window_end, 22_000);
    }

    #[test]
    fn s3_3_echo_reduces_cwnd_by_half_of_alpha() {
        for (alpha, cwnd) in [(1.0, 50_000), (0.5, 75_000), (0.1, 95_000), (0.0, 100_000)] {
            let mut cc = dctcp(0.0625, alpha, 100);
            let found = ecn(&mut cc);
            ALPHA.equal(format!("cwnd of 100 kB, α = {alpha}"), "B", found as f64, cwnd as f64);
            assert_eq!(cc.ssthresh(), cwnd);
        }
    }

    #[test]
    fn reduced_window_is_at_least_two_segments() {
        assert_eq!(ecn(&mut dctcp(0.0625, 1.0, 3)), 2000);
    }

    #[test]
    fn s3_4_losses_and_timeouts_are_handled_as_in_reno() {
        let mut cc = dctcp(0.0625, 0.0, 100);
        cc.on_loss(&LossEvent::new(Time::ZERO, 100_000, 100_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (50_000, 50_000));
        cc.on_rto(&LossEvent::new(Time::ZERO, 50_000, 50_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 25_000));
    }

    #[test]
    fn idle_restart_equals_that_of_reno() {
        let mut cc = dctcp(0.0625, 0.0, 100);
        cc.on_idle(&IdleEvent { now: Time::ZERO, cwnd: 10_000, ssthresh: 0 });
        assert_eq!((cc.cwnd(), cc.ssthresh(), cc.alpha()), (10_000, 100_000, 0.0));
    }

    /// Without marks α decays by the factor 1 − g per window; with all bytes marked it returns to
    /// 1.
    #[test]
    fn s3_3_alpha_decays_and_recovers_at_the_rate_g() {
        let mut cc = dctcp(0.25, 1.0, 10);
        for round in 1..=8u64 {
            echo(&mut cc, false, 10_000, round * 10_000, round * 10_000 + 5000);
        }
        // The first ACK beyond WindowEnd ends an observation window. Here each of the eight ACKs
        // ends one.
        let decayed = libm::pow(0.75, 8.0);
        ALPHA.close("α, eight windows without marks, g = 1/4", "", cc.alpha, decayed, 1e-12);
        let unmarked = 1.0 - cc.alpha;
        for round in 9..=12u64 {
            echo(&mut cc, true, 10_000, round * 10_000, round * 10_000 + 5000);
        }
        let left = unmarked * libm::pow(0.75, 4.0);
        ALPHA.close("1 − α, four windows of marks later", "", 1.0 - cc.alpha, left, 1e-12);
    }
}
