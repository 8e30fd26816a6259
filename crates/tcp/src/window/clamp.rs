//! CLAMP's client agent: a wrapper around any receive-window policy that limits the window
//! according to a price.
//!
//! Source: Andrew, Hanly and Mukhtar 2008, §4.2, Eq. 17; the update of the window is in
//! `price_rules.rs`. The paper does not specify the following: an out-of-order or duplicate packet
//! never reduces the window; the right edge never moves back, even if the end of slow start halves
//! the window.

use super::{
    AckSent, AnyWindow, Arrival, ReceiveWindow, WindowSetup, WindowState, delegate_window,
};
use crate::price_rules::{PriceParameters, PriceRules, PricedPacket};
use airpath_core::{Checks, Component, ConfigError, Flags, Setup, StageError, Time, at_least};
use serde::Deserialize;
use serde_json::{Value, json};

/// Number of consecutive duplicate ACKs that indicate a loss (§4.3).
const DUPLICATES_OF_A_LOSS: u32 = 3;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampConfig {
    /// Target backlog τ of each flow, bytes, above 0. The paper uses 500.
    pub tau_bytes: u64,
    /// Maximum number α of packets over which the received rate is averaged, at least 1. The paper
    /// uses 1000.
    pub average_packets: usize,
    /// Weight β of a sample in the delay estimate, in (0, 1). The paper uses 0.001.
    pub beta: f64,
    /// Window at which slow start ends even without congestion, bytes. `None`: no such limit, as in
    /// the paper.
    #[serde(default)]
    pub ssthresh_bytes: Option<u64>,
    /// Configuration of the inner policy: `{"kind": …}`. `None`: a window of fixed size.
    #[serde(default)]
    pub inner: Option<Value>,
}

/// Receive window that depends on the price in received packets.
pub struct ClampWindow {
    inner: AnyWindow,
    rules: PriceRules,
    mss: f64,
    /// Time at which the SYN-ACK was sent.
    opened: Option<Time>,
    /// Last advertised window, bytes.
    advertised: u32,
    /// Acknowledgement number of the last ACK.
    acknowledged: u64,
    duplicates: u32,
}

impl ClampConfig {
    fn parameters(&self) -> PriceParameters {
        let ClampConfig { tau_bytes, average_packets, beta, ssthresh_bytes, .. } = *self;
        PriceParameters { tau_bytes, average_packets, beta, ssthresh_bytes }
    }
}

impl Component<dyn ReceiveWindow + Send, WindowSetup> for ClampWindow {
    type Config = ClampConfig;

    fn check(config: &ClampConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.parameters().check(&mut checks);
        if let Some(inner) = &config.inner {
            if is_clamped(inner) {
                let problem = "a clamp window inside a clamp window";
                checks.reject("inner.kind", "clamp", problem, "Use another policy inside");
            }
            checks.nested("inner", AnyWindow::check(inner));
        }
        checks.finish()
    }

    fn build(
        config: ClampConfig,
        setup: Setup<'_, dyn ReceiveWindow + Send, WindowSetup>,
    ) -> Result<ClampWindow, ConfigError> {
        let parameters = config.parameters();
        let WindowSetup { receive_window, mss } = setup.extra;
        let mut checks = Checks::default();
        if let Some(ssthresh) = parameters.ssthresh_bytes {
            checks.related("ssthresh_bytes", ssthresh, at_least(mss), "below a segment");
        }
        let problem = "below two segments, which a clamp window needs";
        checks.related("receive_window", receive_window, at_least(2 * mss), problem);
        checks.finish()?;
        let inner = config.inner.unwrap_or_else(|| json!({"kind": "fixed"}));
        let inner = AnyWindow::build(&inner, setup).map_err(|error| error.under("inner"))?;
        Ok(ClampWindow {
            inner,
            rules: PriceRules::new(parameters, mss, mss, receive_window),
            mss: mss as f64,
            opened: None,
            advertised: 0,
            acknowledged: 0,
            duplicates: 0,
        })
    }
}

/// Returns true if the described policy, or a policy inside it, is CLAMP.
fn is_clamped(description: &Value) -> bool {
    let Some(parameters) = description.as_object() else { return false };
    let is_clamp = parameters.get("kind").is_some_and(|kind| kind == "clamp");
    is_clamp || parameters.values().any(is_clamped)
}

impl ClampWindow {
    /// Returns the window w of the price rules, bytes. The inner policy may allow less (Eq. 17).
    fn clamped(&self) -> u64 {
        self.rules.window as u64
    }
}

impl super::WindowWrapper for ClampWindow {
    delegate_window!(inner: is_bounded);

    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError> {
        self.inner.on_arrival(arrival)?;
        if self.rules.is_new()
            && let Some(opened) = self.opened
        {
            self.rules.begin(arrival.now.saturating_since(opened));
        }
        self.rules.on_packet(&PricedPacket {
            now: arrival.now,
            bytes: arrival.bytes,
            price: f64::from(arrival.feedback),
            in_force: f64::from(self.advertised),
            growth: self.mss,
            may_fall: arrival.in_order,
        });
        Ok(())
    }

    fn on_ack_sent(&mut self, sent: &AckSent) {
        self.inner.on_ack_sent(sent);
        self.advertised = sent.window;
        if sent.flags.contains(Flags::SYN) {
            (self.opened, self.acknowledged) = (Some(sent.now), sent.next);
        } else if sent.next > self.acknowledged {
            (self.acknowledged, self.duplicates) = (sent.next, 0);
        } else if !sent.flags.contains(Flags::WINDOW_UPDATE) {
            self.duplicates += 1;
            if self.duplicates >= DUPLICATES_OF_A_LOSS {
                // The right edge stays until the next expected byte plus the halved window reaches
                // it.
                self.rules.leave_slow_start();
            }
        }
    }

    fn window(&self) -> u64 {
        self.clamped().min(self.inner.window())
    }

    fn right_edge(&self, state: &WindowState) -> u64 {
        self.inner.right_edge(state).min(state.next + self.clamped()).max(state.edge)
    }

    fn next_update(&self, state: &WindowState) -> Time {
        // The window of the price rules grows only when a packet arrives.
        let opens = state.next + self.clamped() >= state.edge + state.step;
        if opens { self.inner.next_update(state) } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests;
