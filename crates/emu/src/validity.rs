//! Checks the validity of a real-time run by its lateness and by the packets that were lost outside
//! of the path.

use airpath_core::{Duration, Histogram};
use airpath_path::{FlowSpec, Scenario, SourceSpec};
use serde::Serialize;

/// Validity of a run: lateness, drops and unknown packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ValidityReport {
    /// True if the results are valid.
    pub valid: bool,
    /// Reasons for an invalid run, one sentence each.
    pub reasons: Vec<String>,
    /// Base RTT with which the lateness is compared, s; absent if unknown.
    pub base_rtt_s: Option<f64>,
    /// Number of packets that left the path, whose lateness is known.
    pub packets: u64,
    /// Median lateness, s: the time from the due departure of a packet until it was written.
    pub lateness_p50_s: Option<f64>,
    /// 99th percentile of the lateness, s.
    pub lateness_p99_s: Option<f64>,
    /// Largest lateness, s.
    pub lateness_max_s: Option<f64>,
    /// Number of packets that the devices dropped because they were not read in time.
    pub device_drops: u64,
    /// Number of packets that a device did not accept.
    pub refused_packets: u64,
    /// Number of ignored packets, which were not IPv4 or were malformed.
    pub ignored_packets: u64,
    /// Number of packets that belong to no flow, or to connections beyond the maximum number of
    /// distinguished connections.
    pub unknown_packets: u64,
    /// Number of packets that could not be captured in time.
    pub uncaptured_packets: u64,
    /// ACKs per data packet of TCP flows in the forward direction.
    pub ack_ratio: Option<f64>,
    /// Scheduling class of the data thread: `fifo` or `other`.
    pub class: &'static str,
    /// Share of a core that the data thread used.
    pub cpu_share: f64,
    /// CPU time of the data thread per packet that it read, s.
    pub cpu_per_packet_s: Option<f64>,
    /// Largest lateness of the thread that serves the sockets of the scenario's own flows, s; 0
    /// with commands.
    pub sockets_late_s: f64,
    /// Longest time for which the data thread did not run although it should have, s: from the due
    /// end of a wait to its actual end.
    pub longest_absence_s: f64,
    /// Longest time for which a device continuously had packets to read, s. It is an upper bound of
    /// the time that packets waited in the device before they entered the path.
    pub longest_backlog_s: f64,
}

/// Maximum 99th percentile of the lateness, as a share of the base RTT.
pub const LATENESS_SHARE: f64 = 0.05;
/// Minimum value of the base RTT with which the lateness is compared.
pub const SHORTEST_RTT: Duration = Duration::from_millis(10);

impl ValidityReport {
    /// Returns the report with `valid` and `reasons` set.
    ///
    /// A run is invalid in any of these cases:
    ///
    /// * The 99th percentile of the lateness is above 5 % of the base RTT.
    /// * The largest lateness, or the longest absence of the data thread, is above the base RTT.
    /// * Packets were lost or ignored outside of the path.
    /// * No packet left the path.
    #[must_use]
    pub fn judged(mut self) -> ValidityReport {
        let rtt_s = self.base_rtt_s.unwrap_or(0.0).max(SHORTEST_RTT.as_secs_lossy());
        let ms = |seconds: f64| format!("{:.3} ms", seconds * 1e3);
        let mut reasons = Vec::new();
        if self.packets == 0 {
            reasons.push("no packet left the path in the measured time".to_owned());
        }
        let p99_s = self.lateness_p99_s.unwrap_or(0.0);
        if p99_s > LATENESS_SHARE * rtt_s {
            let limit = ms(LATENESS_SHARE * rtt_s);
            reasons.push(format!(
                "1 % of the packets were written {} late or more (limit {limit}, 5 % of the base RTT)",
                ms(p99_s)
            ));
        }
        let max_s = self.lateness_max_s.unwrap_or(0.0);
        if max_s > rtt_s {
            let limit = ms(rtt_s);
            reasons.push(format!(
                "a packet was written {} late (limit {limit}, a base RTT)",
                ms(max_s)
            ));
        }
        if self.longest_absence_s > rtt_s {
            reasons.push(format!(
                "the data thread did not run for {} (limit {}, a base RTT)",
                ms(self.longest_absence_s),
                ms(rtt_s)
            ));
        }
        if self.sockets_late_s > rtt_s {
            reasons.push(format!(
                "the flows' sockets were served {} late (limit {}, a base RTT)",
                ms(self.sockets_late_s),
                ms(rtt_s)
            ));
        }
        if self.longest_backlog_s > rtt_s {
            reasons.push(format!(
                "packets waited to be read for up to {} (limit {}, a base RTT)",
                ms(self.longest_backlog_s),
                ms(rtt_s)
            ));
        }
        let lost = [
            (self.device_drops, "dropped by a device, whose queue was full"),
            (self.refused_packets, "not taken by a device"),
            (
                self.unknown_packets,
                "of no flow, or of connections beyond those that are distinguished",
            ),
        ];
        for (packets, what) in lost.into_iter().filter(|(packets, _)| *packets > 0) {
            reasons.push(format!("packets {what}: {packets}"));
        }
        self.valid = reasons.is_empty();
        self.reasons = reasons;
        self
    }
}

/// Returns the shortest round-trip time of all TCP flows of `scenario` without queueing and
/// transmission: the sum of the delays of its wires and hops, at the least delays over the run.
/// `None` if the scenario has no TCP flows.
pub fn base_rtt(scenario: &Scenario) -> Option<Duration> {
    let nanos = Duration::from_nanos;
    let of_tcp = |flow: &&FlowSpec| matches!(flow.source, SourceSpec::Tcp(_));
    let wires = |flow: &FlowSpec| nanos(flow.wires().map(|(_, wire)| wire.delay_ns).iter().sum());
    let flows = scenario.flows.entries().iter().filter(of_tcp);
    flows.map(|flow| scenario.shared_delay(flow) + wires(flow)).min()
}

/// Statistics of the lateness of packets.
#[derive(Debug, Default)]
pub struct Lateness {
    histogram: Histogram,
    max: Duration,
}

impl Lateness {
    /// Records that a packet was written `late` after its due departure.
    #[inline]
    pub fn add(&mut self, late: Duration) {
        self.histogram.add(late);
        self.max = self.max.max(late);
    }

    /// Returns the largest lateness.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// Returns the histogram of the lateness.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> ValidityReport {
        ValidityReport {
            base_rtt_s: Some(0.04),
            packets: 1000,
            lateness_p50_s: Some(40e-6),
            lateness_p99_s: Some(90e-6),
            lateness_max_s: Some(0.003),
            ignored_packets: 7,
            class: "fifo",
            longest_absence_s: 0.003,
            ..ValidityReport::default()
        }
    }

    #[test]
    fn a_run_without_faults_is_valid() {
        let judged = good().judged();
        assert!(judged.valid, "{:?}", judged.reasons);
    }

    #[test]
    fn every_fault_gives_a_reason() {
        type Fault = fn(&mut ValidityReport);
        let faults: [(Fault, &str); 9] = [
            (|c| c.packets = 0, "no packet"),
            (|c| c.lateness_p99_s = Some(0.0021), "2.100 ms late or more (limit 2.000 ms"),
            (|c| c.lateness_max_s = Some(0.041), "41.000 ms late"),
            (|c| c.longest_absence_s = 0.041, "did not run for 41.000 ms"),
            (|c| c.sockets_late_s = 0.041, "sockets were served 41.000 ms late"),
            (|c| c.longest_backlog_s = 0.041, "to be read for up to 41.000 ms"),
            (|c| c.device_drops = 3, "whose queue was full: 3"),
            (|c| c.refused_packets = 4, "not taken by a device: 4"),
            (|c| c.unknown_packets = 5, "distinguished: 5"),
        ];
        for (fault, words) in faults {
            let mut validity = good();
            fault(&mut validity);
            let judged = validity.judged();
            assert!(!judged.valid && judged.reasons.len() == 1, "{:?}", judged.reasons);
            assert!(judged.reasons[0].contains(words), "{}", judged.reasons[0]);
        }
    }

    #[test]
    fn path_with_base_rtt_below_10_ms_has_limits_of_10_ms() {
        let short = ValidityReport { base_rtt_s: Some(0.001), ..good() };
        assert!(short.clone().judged().valid);
        assert!(!ValidityReport { lateness_p99_s: Some(0.000_6), ..short }.judged().valid);
    }
}
