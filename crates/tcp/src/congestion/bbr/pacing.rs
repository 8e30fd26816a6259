//! Pacing rate of BBR, and the departure time of the next segment.
//!
//! Source: Linux `bbr_init_pacing_rate_from_rtt`, `bbr_set_pacing_rate`,
//! `tcp_update_skb_after_send`, `bbr_packets_in_net_at_edt`; draft-ietf-ccwg-bbr `InitPacingRate`, `SetPacingRateWithGain`.

use super::units::{Units, bytes_in};
use airpath_core::{Duration, Rate, Time};

/// State of the pacing of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    /// Pacing rate of IP packets.
    rate: Rate,
    /// Payload rate at the pacing rate, byte/s.
    payload_rate: f64,
    /// Bandwidth and gain of the last update, and the rate that they give.
    last: (u64, f64),
    last_rate: Rate,
    /// True if the initial pacing rate was computed from an RTT sample.
    has_seen_rtt: bool,
    /// Earliest departure of the next segment (Linux `tcp_wstamp_ns`).
    departs_at: Time,
    /// Payload of the last segment, bytes, and its transmission time at the current rate.
    last_sent: (u64, Duration),
    startup_gain: f64,
}

impl Pacing {
    /// Creates the state before the first segment.
    pub(super) fn new(units: Units, startup_gain: f64) -> Pacing {
        let rate = units.initial_pacing_rate(None, startup_gain);
        Pacing {
            rate,
            payload_rate: units.payload_rate(rate),
            last: (0, 0.0),
            last_rate: units.pacing_rate(0, 0.0),
            has_seen_rtt: false,
            departs_at: Time::ZERO,
            last_sent: (0, Duration::ZERO),
            startup_gain,
        }
    }

    /// Returns the pacing rate of IP packets.
    #[inline]
    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the payload rate at the pacing rate, byte/s.
    #[inline]
    pub(super) fn payload_rate(&self) -> f64 {
        self.payload_rate
    }

    /// Sets the pacing rate of IP packets.
    pub(super) fn set(&mut self, units: Units, rate: Rate) {
        (self.rate, self.payload_rate) = (rate, units.payload_rate(rate));
        self.last_sent = (0, Duration::ZERO);
    }

    /// Sets the rate at the start of transmission, with the RTT of the handshake, if known.
    pub(super) fn begin(&mut self, units: Units, rtt: Option<Duration>) {
        self.has_seen_rtt = rtt.is_some();
        self.set(units, units.initial_pacing_rate(rtt, self.startup_gain));
    }

    /// Sets the rate to `gain` times the `bandwidth`, in bit/s. Until the pipe is full (`is_full`),
    /// the rate is only raised. The first RTT sample `rtt` sets the initial rate.
    pub(super) fn update(
        &mut self,
        units: Units,
        (bandwidth, gain): (u64, f64),
        rtt: Option<Duration>,
        is_full: bool,
    ) {
        if !self.has_seen_rtt && rtt.is_some() {
            self.begin(units, rtt);
        }
        if self.last != (bandwidth, gain) {
            self.last = (bandwidth, gain);
            self.last_rate = units.pacing_rate(bandwidth, gain);
        }
        if self.last_rate > self.rate || is_full && self.last_rate < self.rate {
            self.set(units, self.last_rate);
        }
    }

    /// Handles the transmission of `bytes` of payload at `now`.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64) {
        if self.last_sent.0 != bytes {
            let nanos = bytes as f64 * 1e9 / self.payload_rate;
            self.last_sent = (bytes, Duration::from_nanos(nanos as u64));
        }
        self.departs_at = self.departs_at.max(now) + self.last_sent.1;
    }

    /// Returns the time from `now` until the next segment departs.
    fn wait(&self, now: Time) -> Duration {
        self.departs_at.saturating_since(now)
    }

    /// `bbr_packets_in_net_at_edt`: bytes in the network when the next segment departs, if `bytes`
    /// are in the network now. `bandwidth` is in bit/s. A flow that increases the data in the network
    /// counts the next `burst`.
    pub(super) fn in_network_at_departure(
        &self,
        now: Time,
        bytes: u64,
        bandwidth: u64,
        burst: Option<u64>,
    ) -> u64 {
        let delivered = bytes_in(bandwidth, self.wait(now)) as u64;
        (bytes + burst.unwrap_or_default()).saturating_sub(delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TcpConfig;

    fn units() -> Units {
        Units::new(&TcpConfig { mss: 1000, initial_window: 10_000, ..TcpConfig::rfc() })
    }

    /// `bbr_set_pacing_rate`: the first RTT sample replaces the initial rate. A lower rate counts
    /// only after the pipe was full.
    #[test]
    fn rate_is_only_raised_until_the_pipe_is_full() {
        let (units, rtt) = (units(), Some(Duration::from_millis(20)));
        let mut pacing = Pacing::new(units, 2.0);
        assert_eq!(pacing.rate(), units.initial_pacing_rate(None, 2.0));
        pacing.update(units, (1_000_000, 1.0), rtt, false);
        assert_eq!(pacing.rate(), units.initial_pacing_rate(rtt, 2.0));
        pacing.update(units, (1_000_000, 1.0), rtt, true);
        assert_eq!(pacing.rate(), units.pacing_rate(1_000_000, 1.0));
    }

    /// `tcp_update_skb_after_send`: each segment departs after the transmission time of those before
    /// it.
    #[test]
    fn departures_are_a_transmission_time_apart() {
        let units = units();
        let mut pacing = Pacing::new(units, 2.0);
        pacing.update(units, (1_000_000, 1.0), Some(Duration::from_millis(20)), true);
        let gap = Duration::from_nanos((1e12 / pacing.payload_rate()) as u64);
        let now = Time::from_millis(5);
        for sent in 1..4 {
            pacing.on_sent(now, 1000);
            assert_eq!(pacing.wait(now), gap.saturating_mul(sent));
        }
    }

    /// The transmission time is that of the bytes sent, at the current rate.
    #[test]
    fn gap_follows_the_size_and_the_rate() {
        let (units, rtt, now) = (units(), Some(Duration::from_millis(20)), Time::from_millis(5));
        let mut pacing = Pacing::new(units, 2.0);
        let mut waited = Duration::ZERO;
        for (bandwidth, bytes) in [(1_000_000, 1000), (1_000_000, 250), (2_000_000, 250)] {
            pacing.update(units, (bandwidth, 1.0), rtt, true);
            pacing.on_sent(now, bytes);
            let gap = Duration::from_nanos((bytes as f64 * 1e9 / pacing.payload_rate()) as u64);
            waited += gap;
            assert_eq!(pacing.wait(now), waited);
        }
    }
}
