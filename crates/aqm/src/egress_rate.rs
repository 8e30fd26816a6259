//! [`EgressRate`]: rate at which a link takes packets from a queue, measured in reports.
//!
//! Source: L4Span (CoNEXT 2025), `lib/mark/mark_entity_impl.h`: a report of the radio gives the
//! bytes transmitted in the time since the previous report. This rate belongs to each packet of the
//! report. The prediction is the mean of the rates of the latest packets, the error is their
//! standard deviation.

use airpath_core::{Bytes, Duration, Time};

/// Measured egress rate of a queue.
#[derive(Clone, Debug)]
pub(crate) struct EgressRate {
    interval: Duration,
    /// Rates of the latest packets, bytes/s, as a circular buffer.
    rates: Box<[f64]>,
    /// Number of packets of all reports that have ended.
    reported: usize,
    /// Start of the current report; `None` before the first departure.
    since: Option<Time>,
    /// Packets and bytes that have left since the start of the current report.
    packets: usize,
    bytes: u64,
    prediction: Option<Prediction>,
}

/// Predicted egress rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    /// Mean of the rates of the latest packets, bytes/s.
    pub(crate) rate: f64,
    /// Standard deviation of these rates, bytes/s.
    pub(crate) error: f64,
}

impl EgressRate {
    /// Creates a measurement without reports. A report lasts at least `interval`; the prediction
    /// uses the latest `packets` packets.
    pub(crate) fn new(interval: Duration, packets: usize) -> EgressRate {
        EgressRate {
            interval,
            rates: vec![0.0; packets].into_boxed_slice(),
            reported: 0,
            since: None,
            packets: 0,
            bytes: 0,
            prediction: None,
        }
    }

    /// Counts a packet that leaves at `now`. Returns true if a report ends at `now`; the report
    /// excludes this packet. Packets that leave at the same time belong to the same report.
    #[inline]
    pub(crate) fn on_departure(&mut self, size: Bytes, now: Time) -> bool {
        let elapsed = now.saturating_since(*self.since.get_or_insert(now));
        let has_ended = elapsed >= self.interval;
        if has_ended {
            self.end_report(self.bytes as f64 / elapsed.as_secs_lossy());
            (self.since, self.packets, self.bytes) = (Some(now), 0, 0);
        }
        self.packets += 1;
        self.bytes += size.0;
        has_ended
    }

    /// Prediction from the reports; `None` before the first report.
    #[inline]
    pub(crate) fn prediction(&self) -> Option<Prediction> {
        self.prediction
    }

    fn end_report(&mut self, rate: f64) {
        let window = self.rates.len();
        for _ in 0..self.packets.min(window) {
            self.rates[self.reported % window] = rate;
            self.reported += 1;
        }
        let latest = &self.rates[..self.reported.min(window)];
        let count = latest.len() as f64;
        let mean = latest.iter().sum::<f64>() / count;
        let squares: f64 = latest.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
        self.prediction = Some(Prediction { rate: mean, error: libm::sqrt(squares / count) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(interval_ms: u64, packets: usize) -> EgressRate {
        EgressRate::new(Duration::from_millis(interval_ms), packets)
    }

    /// Packets of 1500 bytes at the given times, ms. Returns the reports' times.
    fn leave(rate: &mut EgressRate, times: &[u64]) -> Vec<u64> {
        let ends = |at: &&u64| rate.on_departure(Bytes(1500), Time::from_millis(**at));
        times.iter().filter(ends).copied().collect()
    }

    fn check(rate: &EgressRate, expected_rate: f64, expected_error: f64) {
        let Prediction { rate, error } = rate.prediction().expect("a report has ended");
        assert!((rate - expected_rate).abs() < 1e-6, "{rate}");
        assert!((error - expected_error).abs() < 1e-6, "{error}");
    }

    #[test]
    fn packets_of_one_instant_belong_to_one_report() {
        let mut rate = measure(1, 50);
        // Three packets in 5 ms are 900 kB/s, then one packet in 5 ms is 300 kB/s.
        assert_eq!(leave(&mut rate, &[10, 10, 10, 15, 20, 20]), [15, 20]);
        check(&rate, (3.0 * 900_000.0 + 300_000.0) / 4.0, 600_000.0 * f64::sqrt(3.0) / 4.0);
    }

    #[test]
    fn report_lasts_at_least_interval() {
        let mut rate = measure(4, 50);
        assert!(leave(&mut rate, &[0, 1, 3]).is_empty());
        assert_eq!(rate.prediction(), None);
        assert_eq!(leave(&mut rate, &[5]), [5]);
        check(&rate, 900_000.0, 0.0);
    }

    #[test]
    fn prediction_uses_latest_packets() {
        let mut rate = measure(1, 2);
        // The packet of 15 kB/s is no longer included: 500 and 750 kB/s.
        leave(&mut rate, &[0, 100, 103, 105]);
        check(&rate, 625_000.0, 125_000.0);
        // A report with more packets than the window: 3 packets in 2 ms.
        leave(&mut rate, &[105, 105, 107]);
        check(&rate, 2_250_000.0, 0.0);
    }
}
