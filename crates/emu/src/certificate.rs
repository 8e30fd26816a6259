//! Whether a run in real time can be believed: how late it was, and what it lost by itself.

use airpath_core::{Duration, Histogram};
use serde::Serialize;

/// What a run says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Certificate {
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
    /// Packets that the devices dropped because nobody read them in time.
    pub device_drops: u64,
    /// Packets that a device did not take from here.
    pub refused_packets: u64,
    /// Packets that were not IPv4, or malformed, and were left out.
    pub ignored_packets: u64,
    /// Packets that came for connections beyond those that can be told apart.
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
    /// Longest time that the data thread was away: between waking from a wait and what it waited
    /// for, s.
    pub longest_absence_s: f64,
}

/// Largest share of the base RTT that the 99th percentile of the lateness may be.
pub const LATENESS_SHARE: f64 = 0.05;

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
