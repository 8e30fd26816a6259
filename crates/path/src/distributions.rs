//! Distributions of packet delays and sojourn times, by queue and by group of flows.

use airpath_core::{Histogram, Quantiles};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A per-packet time whose distribution a report can include.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketTime {
    /// Sojourn time, by queue.
    Sojourn,
    /// One-way delay of data packets, by group of flows.
    Delay,
    /// One-way delay of ACKs, by group of flows.
    AckDelay,
}

/// Histogram of a per-packet time of one queue or group of flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PacketDistribution {
    /// The measured time.
    pub quantity: PacketTime,
    /// Name of the queue, or number of the group.
    pub of: String,
    /// Indices of the non-empty buckets, ascending.
    pub bucket: Vec<u32>,
    /// Least time in each bucket, s.
    pub least_s: Vec<f64>,
    /// Greatest time in each bucket, s.
    pub greatest_s: Vec<f64>,
    /// Number of packets in each bucket.
    pub count: Vec<u64>,
}

impl PacketDistribution {
    pub(crate) fn new(quantity: PacketTime, of: String, times: &Histogram) -> PacketDistribution {
        let found = times.buckets();
        PacketDistribution {
            quantity,
            of,
            bucket: found.clone().map(|bucket| bucket.number).collect(),
            least_s: found.clone().map(|bucket| bucket.least.as_secs_lossy()).collect(),
            greatest_s: found.clone().map(|bucket| bucket.greatest.as_secs_lossy()).collect(),
            count: found.map(|bucket| bucket.count).collect(),
        }
    }
}

/// Quantiles of one-way delays: of data packets from sender to receiver, and of ACKs from receiver
/// to sender. Datagrams have no ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DelayQuantiles {
    /// Median of data packets, s.
    pub p50_delay_s: Option<f64>,
    /// 95th percentile of data packets, s.
    pub p95_delay_s: Option<f64>,
    /// 99th percentile of data packets, s.
    pub p99_delay_s: Option<f64>,
    /// Median of ACKs, s.
    pub p50_ack_delay_s: Option<f64>,
    /// 95th percentile of ACKs, s.
    pub p95_ack_delay_s: Option<f64>,
    /// 99th percentile of ACKs, s.
    pub p99_ack_delay_s: Option<f64>,
}

impl DelayQuantiles {
    /// Computes the quantiles of the delays of data packets and, if given, of ACKs.
    pub fn of(delays: &Histogram, ack_delays: Option<&Histogram>) -> DelayQuantiles {
        let [p50_delay_s, p95_delay_s, p99_delay_s] = in_seconds(delays.quantiles());
        let [p50_ack_delay_s, p95_ack_delay_s, p99_ack_delay_s] =
            in_seconds(ack_delays.and_then(Histogram::quantiles));
        DelayQuantiles {
            p50_delay_s,
            p95_delay_s,
            p99_delay_s,
            p50_ack_delay_s,
            p95_ack_delay_s,
            p99_ack_delay_s,
        }
    }
}

/// Returns the median, the 95th and the 99th percentile, s.
pub(crate) fn in_seconds(quantiles: Option<Quantiles>) -> [Option<f64>; 3] {
    quantiles.map_or([None; 3], |of| [of.p50_s, of.p95_s, of.p99_s].map(Some))
}

/// Delay quantiles over the packets of several flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AggregateReport {
    /// Quantiles of all flows.
    pub all: DelayQuantiles,
    /// Reports by group.
    pub groups: Vec<GroupReport>,
}

/// Delay quantiles of one group of flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupReport {
    /// Group number.
    pub group: u32,
    /// Delay quantiles over all packets of the group.
    #[serde(flatten)]
    pub delays: DelayQuantiles,
}

/// Histograms of the one-way delays of each group of flows.
#[derive(Debug, Default)]
pub struct GroupDelays {
    groups: BTreeMap<u32, AggregateDelays>,
}

/// Histograms of the one-way delays of several flows: data packets and ACKs.
#[derive(Debug, Default)]
struct AggregateDelays {
    data: Histogram,
    acks: Histogram,
}

impl AggregateDelays {
    fn merge(&mut self, data: &Histogram, acks: Option<&Histogram>) {
        self.data.merge(data);
        if let Some(acks) = acks {
            self.acks.merge(acks);
        }
    }

    fn quantiles(&self) -> DelayQuantiles {
        DelayQuantiles::of(&self.data, Some(&self.acks))
    }
}

impl GroupDelays {
    /// Adds a flow without packets to a group.
    pub fn add_flow(&mut self, group: u32) {
        self.groups.entry(group).or_default();
    }

    /// Adds the delays of a flow to its group.
    pub fn add(&mut self, group: u32, data: &Histogram, acks: Option<&Histogram>) {
        self.groups.entry(group).or_default().merge(data, acks);
    }

    /// Computes the quantiles of all flows and of each group.
    pub fn report(&self) -> AggregateReport {
        let mut all = AggregateDelays::default();
        self.groups.values().for_each(|group| all.merge(&group.data, Some(&group.acks)));
        let groups = self.groups.iter();
        AggregateReport {
            all: all.quantiles(),
            groups: groups
                .map(|(group, of)| GroupReport { group: *group, delays: of.quantiles() })
                .collect(),
        }
    }

    /// Returns the histograms of the requested times, by group.
    pub fn distributions(&self, requested: &[PacketTime]) -> Vec<PacketDistribution> {
        let found = requested.iter().flat_map(|quantity| {
            self.groups.iter().filter_map(|(group, of)| {
                let times = match quantity {
                    PacketTime::Sojourn => return None,
                    PacketTime::Delay => &of.data,
                    PacketTime::AckDelay => &of.acks,
                };
                Some(PacketDistribution::new(*quantity, group.to_string(), times))
            })
        });
        found.collect()
    }
}
