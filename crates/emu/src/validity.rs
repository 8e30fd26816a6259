//! Whether a run in real time can be believed: how late it was, and what it lost by itself.

use airpath_core::{Duration, Histogram};
use airpath_path::{FlowSpec, Scenario, SourceSpec};
use serde::Serialize;

/// Validity of a run: lateness, drops and unknown packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ValidityReport {
    /// Whether the numbers can be believed.
    pub valid: bool,
    /// Why not: one sentence each.
    pub reasons: Vec<String>,
    /// Base RTT that the lateness is compared with, s; absent: none is known.
    pub base_rtt_s: Option<f64>,
    /// Packets whose lateness is known: those that left the path.
    pub packets: u64,
    /// Median of the time from when a packet should have left to when it was written, s.
    pub lateness_p50_s: Option<f64>,
    /// 99th percentile, s.
    pub lateness_p99_s: Option<f64>,
    /// Largest, s.
    pub lateness_max_s: Option<f64>,
    /// Packets that the devices dropped because they were not read in time.
    pub device_drops: u64,
    /// Packets that a device did not take from here.
    pub refused_packets: u64,
    /// Packets that were not IPv4, or malformed, and were left out.
    pub ignored_packets: u64,
    /// Packets of connections beyond those that can be distinguished.
    pub unknown_packets: u64,
    /// Packets that could not be captured in time.
    pub uncaptured_packets: u64,
    /// ACKs for each data packet, of TCP in the forward direction.
    pub ack_ratio: Option<f64>,
    /// The scheduling class that the data thread had: `fifo` or `other`.
    pub class: &'static str,
    /// Share of a core that the data thread used.
    pub cpu_share: f64,
    /// The same for each packet that it read, s.
    pub cpu_per_packet_s: Option<f64>,
    /// Longest time by which the sockets of the scenario's own flows were served too late, s; 0 with
    /// commands.
    pub sockets_late_s: f64,
    /// Longest time that the data thread was away: between waking from a wait and what it waited
    /// for, s.
    pub longest_absence_s: f64,
    /// Longest time for which a device was never found empty: packets waited there for up to that
    /// long before the path saw them, s.
    pub longest_backlog_s: f64,
}

/// Largest share of the base RTT that the 99th percentile of the lateness may be.
pub const LATENESS_SHARE: f64 = 0.05;
/// A path with a shorter base RTT is judged as one with this.
pub const SHORTEST_RTT: Duration = Duration::from_millis(10);

impl ValidityReport {
    /// The same with the verdict: `valid`, and the reasons why not.
    ///
    /// Invalid is a run whose lateness has a 99th percentile above 5 % of the base RTT, or was above a
    /// whole base RTT once; whose data thread was away for longer than that; which lost or left out
    /// packets outside of the path; or in which no packet left it.
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

/// The shortest round trip of any TCP flow of `scenario` without queueing and transmission: the delays
/// of its wires, of the hops and of the backhaul; `None` without TCP flows.
pub fn base_rtt(scenario: &Scenario) -> Option<Duration> {
    let nanos = Duration::from_nanos;
    let reverse = scenario.reverse_hop().map_or(Duration::ZERO, |hop| hop.delay);
    let backhaul = scenario.backhaul.map_or(0, |wire| 2 * wire.delay_ns);
    let shared = scenario.forward_hop().delay + reverse + nanos(backhaul);
    let of_tcp = |flow: &&FlowSpec| matches!(flow.source, SourceSpec::Tcp(_));
    let wires = |flow: &FlowSpec| nanos(flow.wires().map(|(_, wire)| wire.delay_ns).iter().sum());
    let own = scenario.flows.entries().iter().filter(of_tcp).map(wires);
    own.min().map(|own| shared + own)
}

/// How late packets were.
#[derive(Debug, Default)]
pub struct Lateness {
    histogram: Histogram,
    max: Duration,
}

impl Lateness {
    /// Notes that a packet was written `late` after it should have left.
    #[inline]
    pub fn add(&mut self, late: Duration) {
        self.histogram.add(late);
        self.max = self.max.max(late);
    }

    /// The largest.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// How they are distributed.
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
    fn a_run_that_kept_up_is_valid() {
        let judged = good().judged();
        assert!(judged.valid, "{:?}", judged.reasons);
    }

    #[test]
    fn every_fault_is_a_reason() {
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
    fn a_short_path_is_judged_as_one_of_ten_milliseconds() {
        let short = ValidityReport { base_rtt_s: Some(0.001), ..good() };
        assert!(short.clone().judged().valid);
        assert!(!ValidityReport { lateness_p99_s: Some(0.000_6), ..short }.judged().valid);
    }
}
