//! Units of BBR: conversion between bandwidth, time and bytes, and the pacing rate.

use crate::config::TcpConfig;
use airpath_core::{Duration, Rate};

/// Factor of the pacing rate, so that the queue drains on average: 1 % below the bandwidth (Linux
/// `bbr_pacing_margin_percent`; draft-ietf-ccwg-bbr `BBR.PacingMarginPercent`).
const PACING_MARGIN: f64 = 0.99;
/// RTT from which the initial pacing rate is computed before the first RTT sample.
const UNKNOWN_RTT: Duration = Duration::from_millis(1);

/// Sizes of the segments of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Payload of a full-sized segment, bytes.
    pub(super) mss: u64,
    /// IP packet of a full-sized segment, bytes.
    packet: u64,
    /// Initial window, bytes.
    pub(super) initial_window: u64,
}

/// Returns the bytes that `bandwidth`, in bit/s, delivers in `time`.
pub(super) fn bytes_in(bandwidth: u64, time: Duration) -> f64 {
    bandwidth as f64 * time.as_nanos() as f64 / 8e9
}

/// Returns the bytes that a burst may contain in addition to those of its duration: 64 KiB, halved
/// for each 512 µs of the minimum RTT (Linux `tcp_tso_autosize`, `bbr_tso_segs_generic`).
pub(super) fn extra_burst(min_rtt: Option<Duration>) -> u64 {
    let halvings = min_rtt.map_or(u64::MAX, |rtt| rtt.as_nanos() / 512_000);
    if halvings < 64 { 65_536 >> halvings } else { 0 }
}

impl Units {
    pub(super) fn new(options: &TcpConfig) -> Units {
        let mss = u64::from(options.mss);
        let packet = mss + u64::from(options.whole_header());
        Units { mss, packet, initial_window: options.initial_window }
    }

    /// Returns the pacing rate of IP packets for the `bandwidth` of payload, in bit/s.
    pub(super) fn pacing_rate(self, bandwidth: u64, gain: f64) -> Rate {
        let payload = bandwidth as f64 * gain * PACING_MARGIN;
        Rate(((payload * self.packet as f64 / self.mss as f64) as u64).max(1))
    }

    /// Returns the pacing rate at the start of the connection: `gain` times the initial window per
    /// RTT, without a sample of the handshake per millisecond (Linux
    /// `bbr_init_pacing_rate_from_rtt`).
    pub(super) fn initial_pacing_rate(self, rtt: Option<Duration>, gain: f64) -> Rate {
        let nanos = rtt.unwrap_or(UNKNOWN_RTT).as_nanos().max(1);
        let bandwidth = self.initial_window as f64 * 8e9 / nanos as f64;
        self.pacing_rate(bandwidth as u64, gain)
    }

    /// Returns the payload rate in byte/s of a pacing `rate` of IP packets.
    pub(super) fn payload_rate(self, rate: Rate) -> f64 {
        rate.0 as f64 / 8.0 * self.mss as f64 / self.packet as f64
    }

    /// Rounds `bytes` up to full-sized segments.
    pub(super) fn round_up(self, bytes: f64) -> u64 {
        let segments = bytes / self.mss as f64;
        let whole = segments as u64;
        (whole + u64::from((whole as f64) < segments)) * self.mss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units() -> Units {
        Units::new(&TcpConfig { mss: 1000, initial_window: 10_000, ..TcpConfig::rfc() })
    }

    #[test]
    fn bytes_in_is_bandwidth_times_time() {
        assert_eq!(bytes_in(8_000_000, Duration::from_millis(40)), 40_000.0);
    }

    /// The payload is 1000 bytes of each packet, and the margin is 1 %.
    #[test]
    fn pacing_rate_counts_headers_and_the_margin() {
        let units = units();
        let expected = 2e6 * 0.99 * units.packet as f64 / 1000.0;
        assert_eq!(units.pacing_rate(1_000_000, 2.0), Rate(expected as u64));
        assert!((units.payload_rate(Rate(expected as u64)) - 2e6 * 0.99 / 8.0).abs() < 1.0);
    }

    /// `bbr_init_pacing_rate_from_rtt`: 10 000 bytes per 20 ms are 4 Mbit/s, per 1 ms 80 Mbit/s.
    #[test]
    fn initial_pacing_rate_uses_the_handshake_or_a_millisecond() {
        let units = units();
        let rtt = Some(Duration::from_millis(20));
        assert_eq!(units.initial_pacing_rate(rtt, 2.0), units.pacing_rate(4_000_000, 2.0));
        assert_eq!(units.initial_pacing_rate(None, 2.0), units.pacing_rate(80_000_000, 2.0));
    }

    /// 64 KiB at 0 µs, 16 KiB at 1024 µs, 0 from 17 · 512 µs on.
    #[test]
    fn extra_burst_halves_with_the_minimum_rtt() {
        let extra = [0, 1024, 8703, 8704, 100_000]
            .map(|micros| extra_burst(Some(Duration::from_nanos(1000 * micros))));
        assert_eq!(extra, [65_536, 16_384, 1, 0, 0]);
        assert_eq!(extra_burst(None), 0);
    }

    #[test]
    fn round_up_counts_full_segments() {
        assert_eq!([0.0, 1.0, 1000.0, 1001.0].map(|b| units().round_up(b)), [0, 1000, 1000, 2000]);
    }
}
