//! CLAMP's client agent around any receive-window policy: the window follows a price.
//!
//! Source: Andrew, Hanly and Mukhtar 2008, §4.2, Eqs. 14–17, and §4.3 (slow start).
//! Chosen where the paper is silent: nothing changes while no time has passed, so that of a burst
//! the first packet counts; a packet out of order or a duplicate never lowers the window; the window
//! is a segment at least and the receive window at most; without a handshake the estimate of the
//! delay begins with the first value of what it averages.

use super::{AckSent, AnyWindow, Arrival, ReceiveWindow, WindowSetup, WindowState};
use airpath_core::{ConfigError, Flags, Part, Setup, StageError, Time};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Largest increase at once, bytes (§4.2).
const LARGEST_INCREASE: f64 = 10_000.0;

/// Duplicate ACKs in a row that tell of a loss (§4.3).
const DUPLICATES_OF_A_LOSS: u32 = 3;

/// What the user sets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampConfig {
    /// τ, bytes, above 0: what each flow adds to the queue. The paper: 500.
    pub tau_bytes: u64,
    /// α, the most packets over which the received rate is averaged, at least 1. The paper: 1000.
    pub average_packets: usize,
    /// β, the weight of a sample in the estimate of the delay, in (0, 1). The paper: 0.001.
    pub beta: f64,
    /// Window at which slow start ends without a sign of congestion, bytes; none where it is not
    /// given, as in the paper.
    #[serde(default)]
    pub ssthresh_bytes: Option<u64>,
    /// The policy inside: `{"kind": …}`. A window of fixed size where it is not given.
    #[serde(default)]
    pub inner: Option<Value>,
}

/// The change of the window of Eq. 14 before it is clipped, bytes: `rate` in bytes/s, `price`,
/// `delay` and the time `since` the packet before in s.
pub fn clamp_change(tau: f64, price: f64, rate: f64, delay: f64, since: f64) -> f64 {
    (tau - price * rate) / delay * since
}

/// The estimate of the delay after a sample (Eq. 16), s: `advertised` in bytes, `rate` in bytes/s.
pub fn clamp_delay(delay: f64, beta: f64, advertised: f64, rate: f64) -> f64 {
    (1.0 - beta) * delay + beta * advertised / rate
}

/// The packets over which the received rate is averaged (Eq. 15).
#[derive(Clone, Debug, Default)]
struct Arrivals {
    packets: VecDeque<(Time, u32)>,
    bytes: u64,
}

impl Arrivals {
    /// Notes a packet; the oldest of more than `most` is forgotten.
    fn note(&mut self, now: Time, bytes: u64, most: usize) {
        if self.packets.len() == most
            && let Some((_, oldest)) = self.packets.pop_front()
        {
            self.bytes -= u64::from(oldest);
        }
        self.packets.push_back((now, bytes as u32));
        self.bytes += bytes;
    }

    /// When the last packet came.
    fn last(&self) -> Option<Time> {
        self.packets.back().map(|(at, _)| *at)
    }

    /// The received rate, bytes/s: α + 1 packets over the α times between them, as printed. `None`
    /// until time has passed between two packets.
    fn rate(&self) -> Option<f64> {
        let (first, last) = (self.packets.front()?.0, self.packets.back()?.0);
        let span = last.saturating_since(first).as_secs_lossy();
        (span > 0.0).then(|| self.bytes as f64 / span)
    }
}

/// A window that follows the price in the packets that arrive.
pub struct ClampWindow {
    inner: AnyWindow,
    tau: f64,
    average_packets: usize,
    beta: f64,
    ssthresh: f64,
    mss: f64,
    most: f64,
    /// w, bytes.
    window: f64,
    is_in_slow_start: bool,
    arrivals: Arrivals,
    /// When the SYN-ACK was sent.
    opened: Option<Time>,
    /// d̂, s.
    delay: Option<f64>,
    /// AWND, as it was advertised last, bytes.
    advertised: u32,
    /// What was acknowledged last, and how often in a row since then.
    acknowledged: u64,
    duplicates: u32,
}

impl Part<dyn ReceiveWindow + Send, WindowSetup> for ClampWindow {
    type Config = ClampConfig;

    fn build(
        config: ClampConfig,
        setup: Setup<'_, dyn ReceiveWindow + Send, WindowSetup>,
    ) -> Result<ClampWindow, ConfigError> {
        let ClampConfig { tau_bytes, average_packets, beta, ssthresh_bytes, inner } = config;
        let WindowSetup { receive_window, mss } = setup.extra;
        for (field, is_zero) in
            [("tau_bytes", tau_bytes == 0), ("average_packets", average_packets == 0)]
        {
            if is_zero {
                return Err(ConfigError::new(field, 0, "not positive. Write at least 1"));
            }
        }
        if !(beta > 0.0 && beta < 1.0) {
            return Err(ConfigError::new("beta", beta, "not between 0 and 1. Write, say, 0.001"));
        }
        if ssthresh_bytes.is_some_and(|ssthresh| ssthresh < mss) {
            let problem = format!("below a segment of {mss} bytes");
            return Err(ConfigError::new("ssthresh_bytes", ssthresh_bytes.unwrap_or(0), problem));
        }
        if receive_window < 2 * mss {
            let problem = format!("below two segments of {mss} bytes, which a clamp window needs");
            return Err(ConfigError::new("receive_window", receive_window, problem));
        }
        let inner = inner.unwrap_or_else(|| json!({"kind": "fixed"}));
        if is_clamped(&inner) {
            let problem = "a clamp window inside a clamp window. Write one of them";
            return Err(ConfigError::new("kind", "clamp", problem).under("inner"));
        }
        let inner = AnyWindow::build(&inner, setup).map_err(|error| error.under("inner"))?;
        Ok(ClampWindow {
            inner,
            tau: tau_bytes as f64,
            average_packets,
            beta,
            ssthresh: ssthresh_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            mss: mss as f64,
            most: receive_window as f64,
            window: mss as f64,
            is_in_slow_start: true,
            arrivals: Arrivals::default(),
            opened: None,
            delay: None,
            advertised: 0,
            acknowledged: 0,
            duplicates: 0,
        })
    }
}

/// Whether a policy, or one that it says it is around, is CLAMP's.
fn is_clamped(description: &Value) -> bool {
    let Some(parameters) = description.as_object() else { return false };
    let is_clamp = parameters.get("kind").is_some_and(|kind| kind == "clamp");
    is_clamp || parameters.values().any(is_clamped)
}

impl ClampWindow {
    /// μ̂ after the arrival at `now` (Eq. 15), with d̂ brought up to date (Eq. 16).
    fn measure(&mut self, arrival: &Arrival) -> Option<f64> {
        let is_first = self.arrivals.last().is_none();
        self.arrivals.note(arrival.now, arrival.bytes, self.average_packets.saturating_add(1));
        if is_first {
            let round = self.opened.map(|opened| arrival.now.saturating_since(opened));
            self.delay = round.map(|round| round.as_secs_lossy()).filter(|round| *round > 0.0);
        }
        let rate = self.arrivals.rate()?;
        let advertised = f64::from(self.advertised);
        self.delay = Some(match self.delay {
            Some(delay) => clamp_delay(delay, self.beta, advertised, rate),
            None => advertised / rate,
        });
        Some(rate)
    }

    /// The change of Eq. 14, bytes, clipped (§4.2).
    fn change(&self, arrival: &Arrival, rate: f64, since: f64) -> f64 {
        let delay = self.delay.filter(|delay| *delay > 0.0);
        let change = delay.map_or(0.0, |delay| {
            clamp_change(self.tau, f64::from(arrival.feedback), rate, delay, since)
        });
        let largest_decrease = if arrival.in_order { arrival.bytes as f64 } else { 0.0 };
        change.clamp(-largest_decrease, LARGEST_INCREASE)
    }

    /// §4.3.
    fn grow_slowly(&mut self, arrival: &Arrival, rate: Option<f64>) {
        if rate.is_some_and(|rate| f64::from(arrival.feedback) * rate > self.tau) {
            self.leave_slow_start();
        } else {
            self.window += self.mss;
            self.is_in_slow_start = self.window < self.ssthresh;
        }
    }

    /// The right edge stays where it is until half the window has caught up.
    fn leave_slow_start(&mut self) {
        self.is_in_slow_start = false;
        self.window = (self.window / 2.0).max(self.mss);
    }

    /// w, bytes, of which no more is advertised than the policy inside allows (Eq. 17).
    fn clamped(&self) -> u64 {
        self.window as u64
    }
}

impl ReceiveWindow for ClampWindow {
    super::forwards!(inner: is_bounded);

    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError> {
        self.inner.on_arrival(arrival)?;
        let before = self.arrivals.last().unwrap_or(arrival.now);
        let rate = self.measure(arrival);
        if self.is_in_slow_start {
            self.grow_slowly(arrival, rate);
        } else if let Some(rate) = rate {
            let since = arrival.now.saturating_since(before).as_secs_lossy();
            self.window += self.change(arrival, rate, since);
        }
        self.window = self.window.clamp(self.mss, self.most);
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
            if self.is_in_slow_start && self.duplicates >= DUPLICATES_OF_A_LOSS {
                self.leave_slow_start();
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
        // What the clamp keeps back opens with arrivals alone.
        let opens = state.next + self.clamped() >= state.edge + state.step;
        if opens { self.inner.next_update(state) } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests;
