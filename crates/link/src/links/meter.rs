//! Measurements of one direction of a link: used capacity, delivered packets, lost packets.
//!
//! The unit of capacity depends on the link: nanoseconds on the air (if a packet occupies the link
//! exclusively), bytes of opportunities, or PDUs. The link itself computes its total capacity.

use crate::link::LinkReport;
use airpath_core::{Duration, Packet, Time};
use std::borrow::Cow;

/// Counters since the start of measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meter {
    since: Time,
    used: u64,
    delivered_bytes: u64,
    delivered_packets: u64,
    lost_packets: u64,
    /// Transmissions started in each regime; empty on a link without regimes.
    regime_packets: Vec<u64>,
}

impl Meter {
    /// Creates a meter for a link with `regimes` regimes; 0 for a link without regimes. The
    /// measurement starts at time zero.
    pub fn new(regimes: usize) -> Meter {
        Meter { regime_packets: vec![0; regimes], ..Meter::default() }
    }

    /// Restarts the measurement at `now`.
    pub fn restart(&mut self, now: Time) {
        *self = Meter { since: now, ..Meter::new(self.regime_packets.len()) };
    }

    /// Start of measurement.
    #[inline]
    pub fn since(&self) -> Time {
        self.since
    }

    /// Counts a transmission that starts in regime number `regime`.
    #[inline]
    pub fn begin(&mut self, regime: usize) {
        self.regime_packets[regime] += 1;
    }

    /// Adds used capacity, in units of the link.
    #[inline]
    pub fn add_used(&mut self, amount: u64) {
        self.used += amount;
    }

    /// Adds the air time from `began` to `ended`, for a link whose unit of capacity is the
    /// nanosecond.
    #[inline]
    pub fn add_busy(&mut self, began: Time, ended: Time) {
        self.used += self.busy_between(began, ended).as_nanos();
    }

    /// Returns the part of the time from `began` to `ended` that lies after the start of
    /// measurement.
    #[inline]
    fn busy_between(&self, began: Time, ended: Time) -> Duration {
        ended.saturating_since(began.max(self.since))
    }

    /// Counts `packet` as delivered.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet) {
        self.delivered_packets += 1;
        self.delivered_bytes += u64::from(packet.size);
    }

    /// Counts a corrupted or discarded packet.
    #[inline]
    pub fn lose(&mut self) {
        self.lost_packets += 1;
    }

    /// Used capacity, in units of the link.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Number of delivered packets.
    pub fn delivered_packets(&self) -> u64 {
        self.delivered_packets
    }

    /// Returns the report up to `now` of a link whose unit of capacity is the nanosecond.
    /// `in_progress_since` is the start of the current transmission.
    pub fn report_of_time(&self, now: Time, in_progress_since: Option<Time>) -> LinkReport {
        let sending =
            in_progress_since.map_or(Duration::ZERO, |began| self.busy_between(began, now));
        let busy = Duration::from_nanos(self.used) + sending;
        let span = now.saturating_since(self.since).as_secs_lossy();
        self.report(busy.as_secs_lossy() / span, span)
    }

    /// Returns the report of a link that has used the share `utilisation` of the capacity
    /// `offered`.
    pub fn report(&self, utilisation: f64, offered: f64) -> LinkReport {
        let regime_packets = if self.regime_packets.is_empty() {
            vec![self.delivered_packets + self.lost_packets]
        } else {
            self.regime_packets.clone()
        };
        LinkReport {
            utilisation,
            offered,
            delivered_bytes: self.delivered_bytes,
            delivered_packets: self.delivered_packets,
            lost_packets: self.lost_packets,
            regime_packets,
            counters: Vec::new(),
        }
    }
}

/// Link-specific counters of a report.
impl LinkReport {
    /// Returns the report with these counters.
    pub fn with_counters(self, counters: Vec<(Cow<'static, str>, f64)>) -> LinkReport {
        LinkReport { counters, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{Bytes, FlowId};

    fn packet(bytes: u64) -> Packet {
        Packet::datagram(FlowId(0), 0, Bytes(bytes), Time::ZERO)
    }

    #[test]
    fn transmission_counts_from_start_of_measurement() {
        let ms = Time::from_millis;
        let mut meter = Meter::new(2);
        meter.begin(0);
        meter.restart(ms(100));
        // This transmission started before the measurement. Its packet counts as delivered, its air
        // time counts only in part, and its start does not count.
        meter.add_busy(ms(50), ms(120));
        meter.deliver(&packet(1500));
        meter.begin(1);
        meter.add_busy(ms(120), ms(150));
        meter.lose();
        let report = meter.report_of_time(ms(200), Some(ms(190)));
        assert!((report.utilisation - 0.6).abs() < 1e-12, "{report:?}");
        assert!((report.offered - 0.1).abs() < 1e-12, "{report:?}");
        assert_eq!((report.delivered_packets, report.delivered_bytes), (1, 1500));
        assert_eq!((report.lost_packets, report.regime_packets), (1, vec![0, 1]));
    }

    #[test]
    fn meter_without_regimes_reports_one_regime() {
        let mut meter = Meter::new(0);
        meter.add_used(300);
        meter.deliver(&packet(40));
        meter.lose();
        let report = meter.report(meter.used() as f64 / 1000.0, 1000.0);
        assert_eq!((report.utilisation, report.regime_packets), (0.3, vec![2]));
    }
}
