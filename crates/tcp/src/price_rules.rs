//! Price rules of CLAMP, for a receive window and for a congestion window.
//!
//! Source: Andrew, Hanly and Mukhtar 2008, §4.2, Eqs. 14–16, and §4.3 (slow start). The paper does
//! not specify the following:
//!
//! - The window changes only if time has passed since the last packet, so that only the first
//!   packet of a burst changes it.
//! - The window is at least one segment and at most the receive window.
//! - If the time until the first data is unknown, the delay estimate starts with the first value of
//!   its average.

use airpath_core::{Checks, Duration, Time, above, at_least};
use std::collections::VecDeque;

/// Largest increase per packet, bytes (§4.2).
const LARGEST_INCREASE: f64 = 10_000.0;

/// Computes the change of the window before clipping (Eq. 14), bytes. `rate` is in bytes/s.
/// `price`, `delay` and the time `since` the previous packet are in s.
pub fn clamp_change(tau: f64, price: f64, rate: f64, delay: f64, since: f64) -> f64 {
    (tau - price * rate) / delay * since
}

/// Computes the delay estimate after a sample (Eq. 16), s. `advertised` is in bytes, `rate` in
/// bytes/s.
pub fn clamp_delay(delay: f64, beta: f64, advertised: f64, rate: f64) -> f64 {
    (1.0 - beta) * delay + beta * advertised / rate
}

/// The last packets, over which the received rate is averaged (Eq. 15).
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    pub(crate) packets: VecDeque<(Time, u32)>,
    bytes: u64,
}

impl Arrivals {
    /// Adds a packet. Removes the oldest packet if there are more than `most`.
    pub(crate) fn note(&mut self, now: Time, bytes: u64, most: usize) {
        if self.packets.len() == most
            && let Some((_, oldest)) = self.packets.pop_front()
        {
            self.bytes -= u64::from(oldest);
        }
        self.packets.push_back((now, bytes as u32));
        self.bytes += bytes;
    }

    /// Returns the arrival time of the last packet.
    fn last(&self) -> Option<Time> {
        self.packets.back().map(|(at, _)| *at)
    }

    /// Returns the received rate, bytes/s: the size of α + 1 packets divided by the sum of the α
    /// times between them, as printed in the paper. Returns `None` if all packets arrived at the
    /// same time.
    pub(crate) fn rate(&self) -> Option<f64> {
        let (first, last) = (self.packets.front()?.0, self.packets.back()?.0);
        let span = last.saturating_since(first).as_secs_lossy();
        (span > 0.0).then(|| self.bytes as f64 / span)
    }
}

/// A packet that has arrived, or that an ACK reports as arrived: input of the price rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PricedPacket {
    pub(crate) now: Time,
    /// Packet size including headers, bytes.
    pub(crate) bytes: u64,
    /// Price, s.
    pub(crate) price: f64,
    /// Current window (AWND of Eq. 16), bytes.
    pub(crate) in_force: f64,
    /// Growth of the window if it is in slow start, bytes.
    pub(crate) growth: f64,
    /// True if the window may shrink.
    pub(crate) may_fall: bool,
}

/// Parameters of the rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PriceParameters {
    pub(crate) tau_bytes: u64,
    pub(crate) average_packets: usize,
    pub(crate) beta: f64,
    pub(crate) ssthresh_bytes: Option<u64>,
}

impl PriceParameters {
    /// Rejects values outside their ranges.
    pub(crate) fn check(&self, checks: &mut Checks) {
        checks.within("tau_bytes", self.tau_bytes, at_least(1_u64));
        checks.within("average_packets", self.average_packets, at_least(1_u64));
        checks.within("beta", self.beta, above(0.0).below(1.0));
        if let Some(ssthresh) = self.ssthresh_bytes {
            checks.within("ssthresh_bytes", ssthresh, at_least(1_u64));
        }
    }
}

/// A window controlled by the price rules.
#[derive(Clone, Debug)]
pub(crate) struct PriceRules {
    tau: f64,
    average_packets: usize,
    beta: f64,
    ssthresh: f64,
    mss: f64,
    most: f64,
    /// Window w, bytes.
    pub(crate) window: f64,
    pub(crate) is_in_slow_start: bool,
    pub(crate) arrivals: Arrivals,
    /// Delay estimate d̂, s.
    pub(crate) delay: Option<f64>,
}

impl PriceRules {
    /// Creates the rules in slow start, with a window of `first` bytes, segments of `mss` bytes and
    /// a window of at most `most` bytes.
    pub(crate) fn new(parameters: PriceParameters, first: u64, mss: u64, most: u64) -> PriceRules {
        let PriceParameters { tau_bytes, average_packets, beta, ssthresh_bytes } = parameters;
        PriceRules {
            tau: tau_bytes as f64,
            average_packets,
            beta,
            ssthresh: ssthresh_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            mss: mss as f64,
            most: most as f64,
            window: first as f64,
            is_in_slow_start: true,
            arrivals: Arrivals::default(),
            delay: None,
        }
    }

    /// Returns true if no packet has arrived yet.
    pub(crate) fn is_new(&self) -> bool {
        self.arrivals.last().is_none()
    }

    /// Initialises d̂ with the duration of a round trip.
    pub(crate) fn begin(&mut self, round: Duration) {
        self.delay = Some(round.as_secs_lossy()).filter(|round| *round > 0.0);
    }

    /// Handles an arrived packet.
    pub(crate) fn on_packet(&mut self, packet: &PricedPacket) {
        let before = self.arrivals.last().unwrap_or(packet.now);
        let rate = self.measure(packet);
        if self.is_in_slow_start {
            self.grow_slowly(packet, rate);
        } else if let Some(rate) = rate {
            let since = packet.now.saturating_since(before).as_secs_lossy();
            self.window += self.change(packet, rate, since);
        }
        self.window = self.window.clamp(self.mss, self.most);
    }

    /// Returns the rate μ̂ (Eq. 15) and updates d̂ (Eq. 16).
    fn measure(&mut self, packet: &PricedPacket) -> Option<f64> {
        let most = self.average_packets.saturating_add(1);
        self.arrivals.note(packet.now, packet.bytes, most);
        let rate = self.arrivals.rate()?;
        self.delay = Some(match self.delay {
            Some(delay) => clamp_delay(delay, self.beta, packet.in_force, rate),
            None => packet.in_force / rate,
        });
        Some(rate)
    }

    /// Returns the clipped change of Eq. 14, bytes (§4.2).
    fn change(&self, packet: &PricedPacket, rate: f64, since: f64) -> f64 {
        let delay = self.delay.filter(|delay| *delay > 0.0);
        let change =
            delay.map_or(0.0, |delay| clamp_change(self.tau, packet.price, rate, delay, since));
        let largest_decrease = if packet.may_fall { packet.bytes as f64 } else { 0.0 };
        change.clamp(-largest_decrease, LARGEST_INCREASE)
    }

    /// Applies slow start (§4.3).
    fn grow_slowly(&mut self, packet: &PricedPacket, rate: Option<f64>) {
        if rate.is_some_and(|rate| packet.price * rate > self.tau) {
            self.leave_slow_start();
        } else {
            self.window += packet.growth;
            self.is_in_slow_start = self.window < self.ssthresh;
        }
    }

    /// Ends slow start and halves the window. No effect outside slow start.
    pub(crate) fn leave_slow_start(&mut self) {
        if self.is_in_slow_start {
            self.is_in_slow_start = false;
            self.window = (self.window / 2.0).max(self.mss);
        }
    }
}
