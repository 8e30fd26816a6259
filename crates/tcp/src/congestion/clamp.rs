//! CLAMP at the sender: the congestion window depends on the price that the receiver echoes.
//!
//! Source: Andrew, Hanly and Mukhtar 2008, §6, which mentions this variant without details. The
//! price rules are the rules of CLAMP's receiver (§4.2, §4.3), in `price_rules.rs`. The congestion
//! window is the smaller of Reno's window (RFC 5681) and the window of the price rules.
//!
//! The paper does not specify the following:
//!
//! - The bytes that an ACK reports as delivered, plus a header for each segment, count as one
//!   packet.
//! - The delay estimate begins with the first RTT sample.
//! - In slow start, the window of the price rules begins with the initial window and grows by the
//!   acknowledged bytes. A loss also ends slow start.
//! - A loss halves Reno's window, but not the window of the price rules.
//!
//! `headroom` is an addition of Airpath. While Reno's window is the smaller window, the price has
//! no effect. Without `headroom`, the window of the price rules would then grow without limit. When
//! the price rises later, this window would be too large for a long time.

use super::{AckEvent, CongestionControl, CongestionSetup, IdleEvent, LossEvent, Reno, UndoEvent};
use crate::price_rules::{PriceParameters, PriceRules, PricedPacket};
use airpath_core::{Checks, Component, ConfigError, Setup};
use serde::Deserialize;

/// Largest allowed value of [`ClampConfig::headroom`].
const MOST_HEADROOM: f64 = 1e6;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampConfig {
    /// Target backlog τ of each flow, bytes, above 0. The paper uses 500.
    pub tau_bytes: u64,
    /// Maximum number α of ACKs over which the rate is averaged, at least 1. The paper uses 1000.
    pub average_packets: usize,
    /// Weight β of a sample in the delay estimate, in (0, 1). The paper uses 0.001.
    pub beta: f64,
    /// Upper bound of the window of the price rules, as a multiple of Reno's window, 1 to 10⁶.
    /// `None`: no bound, as in the paper.
    #[serde(default)]
    pub headroom: Option<f64>,
}

/// CLAMP as a congestion control algorithm.
#[derive(Clone, Debug)]
pub struct Clamp {
    reno: Reno,
    rules: PriceRules,
    mss: u64,
    header: u64,
    /// Value of [`ClampConfig::headroom`]; infinite if there is no bound.
    headroom: f64,
}

impl Clamp {
    /// Returns the total size of the IP packets that carry `payload` bytes, bytes.
    fn with_headers(&self, payload: u64) -> u64 {
        payload + payload.div_ceil(self.mss) * self.header
    }

    /// Returns the window of the price rules, bytes.
    fn clamped(&self) -> u64 {
        self.rules.window as u64
    }
}

impl ClampConfig {
    fn parameters(&self) -> PriceParameters {
        let ClampConfig { tau_bytes, average_packets, beta, .. } = *self;
        PriceParameters { tau_bytes, average_packets, beta, ssthresh_bytes: None }
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Clamp {
    type Config = ClampConfig;

    fn check(config: &ClampConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.parameters().check(&mut checks);
        if let Some(headroom) = config.headroom {
            checks.within("headroom", headroom, 1.0..=MOST_HEADROOM);
        }
        checks.finish()
    }

    fn build(
        config: ClampConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Clamp, ConfigError> {
        let parameters = config.parameters();
        let options = &setup.extra.options;
        let mss = u64::from(options.mss);
        let headroom = config.headroom.unwrap_or(f64::INFINITY);
        let most = options.largest_window().max(mss);
        Ok(Clamp {
            reno: Reno::new(&setup.extra),
            rules: PriceRules::new(parameters, options.initial_window, mss, most),
            mss,
            header: u64::from(options.whole_header()),
            headroom,
        })
    }
}

impl CongestionControl for Clamp {
    fn on_ack(&mut self, event: &AckEvent) {
        self.reno.on_ack(event);
        if event.delivered == 0 {
            return;
        }
        if self.rules.is_new()
            && let Some(rtt) = event.rtt
        {
            self.rules.begin(rtt);
        }
        self.rules.on_packet(&PricedPacket {
            now: event.now,
            bytes: self.with_headers(event.delivered),
            price: f64::from(event.feedback),
            in_force: self.cwnd() as f64,
            growth: event.delivered as f64,
            may_fall: !event.duplicate,
        });
        self.rules.window = self.rules.window.min(self.headroom * self.reno.cwnd() as f64);
    }

    fn on_loss(&mut self, event: &LossEvent) {
        self.reno.on_loss(event);
        self.rules.leave_slow_start();
    }

    fn on_rto(&mut self, event: &LossEvent) {
        self.reno.on_rto(event);
        self.rules.leave_slow_start();
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

    fn on_ecn(&mut self, event: &LossEvent) {
        self.reno.on_ecn(event);
    }

    fn on_idle(&mut self, event: &IdleEvent) {
        self.reno.on_idle(event);
    }

    fn cwnd(&self) -> u64 {
        self.reno.cwnd().min(self.clamped())
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }
}

#[cfg(test)]
mod tests;
