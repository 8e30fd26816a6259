//! The report of a run, a JSON document in addition to the recorded series.

use crate::flow_table::Connection;
use crate::meters::FlowMeter;
use crate::netlink::Route;
use crate::validity::ValidityReport;
use airpath_core::{Histogram, Quantiles};
use airpath_path::{DelayQuantiles, FlowReport, GroupDelays, ReplicationReport};
use serde::Serialize;
use std::collections::BTreeMap;

/// Report of a run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Measurements of the path, without its flows.
    pub replication: ReplicationReport,
    /// One report for each flow of the scenario.
    pub flows: Vec<FlowReport>,
    /// One row for each connection of the commands.
    pub connections: Vec<ConnectionRow>,
    /// Validity of the run.
    pub validity: ValidityReport,
    /// Settings and counters of the kernel.
    pub kernel: KernelReport,
    /// Reason for which the run has ended.
    pub ending: &'static str,
    /// Warnings, one sentence each.
    pub problems: Vec<String>,
}

/// Settings and counters of the kernel, by side.
#[derive(Debug, Default, Serialize)]
pub struct KernelReport {
    /// Release of the kernel.
    pub release: String,
    /// Sysctl values by name, read back from the kernel.
    pub sysctls: BTreeMap<&'static str, BTreeMap<String, String>>,
    /// The routes through the devices, as the kernel reports them.
    pub routes: BTreeMap<&'static str, Vec<Route>>,
    /// TCP counters since the start of measurement.
    pub counters: BTreeMap<&'static str, BTreeMap<String, i64>>,
    /// Congestion control algorithm of each flow's socket, read back from the kernel.
    pub congestion: BTreeMap<u32, String>,
}

/// Returns the report of flow `id` from its meter, over the measured time `measured_s`. The caller
/// adds the counters of the sockets.
pub fn of_meter(id: u32, meter: &FlowMeter, measured_s: f64) -> FlowReport {
    FlowReport {
        id,
        kind: "tcp",
        goodput_bps: 0.0,
        ip_throughput_bps: meter.measured_bytes as f64 * 8.0 / measured_s,
        delivered_bytes: 0,
        delivered_packets: meter.delivered_packets,
        sent_packets: meter.sent_packets,
        lost_datagrams: None,
        loss_ratio: None,
        retransmissions: None,
        timeouts: None,
        fast_retransmits: None,
        ecn_reductions: None,
        duplicate_packets: None,
        mean_rtt_s: None,
        mean_delay_s: meter.delays.mean().secs(),
        delays: quantiles(meter),
        rwnd_limited_share: None,
        cwnd_limited_share: None,
        start_s: None,
        completed_at_s: None,
        aborted_at_s: None,
        transfer_bytes: None,
    }
}

fn quantiles(meter: &FlowMeter) -> DelayQuantiles {
    DelayQuantiles::of(meter.delays.histogram(), Some(&meter.ack_delays))
}

/// Collects the packet delays of each group of flows.
pub fn group_delays<'a>(meters: impl Iterator<Item = (u32, &'a FlowMeter)>) -> GroupDelays {
    let mut delays = GroupDelays::default();
    for (group, meter) in meters {
        delays.add(group, meter.delays.histogram(), Some(&meter.ack_delays));
    }
    delays
}

/// Counters of one connection of a command since the start of measurement.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionRow {
    /// IP protocol number.
    pub protocol: u8,
    /// Address of the client.
    pub client: String,
    /// Port of the client; 0 if the protocol has no ports.
    pub client_port: u16,
    /// Address of the server.
    pub server: String,
    /// Port of the server; 0 if the protocol has no ports.
    pub server_port: u16,
    /// Number of packets that the client received.
    pub packets: u64,
    /// IP bytes of these packets.
    pub bytes: u64,
    /// Number of packets that the server received.
    pub returned_packets: u64,
    /// IP bytes of these packets.
    pub returned_bytes: u64,
    /// Mean one-way delay to the client, s.
    pub mean_delay_s: Option<f64>,
    /// Quantiles of the one-way delays.
    #[serde(flatten)]
    pub delays: DelayQuantiles,
}

impl ConnectionRow {
    /// Creates a row from the meter of a connection.
    pub fn of(connection: &Connection, meter: &FlowMeter) -> ConnectionRow {
        ConnectionRow {
            protocol: connection.protocol,
            client: connection.client.to_string(),
            client_port: connection.client_port,
            server: connection.server.to_string(),
            server_port: connection.server_port,
            packets: meter.delivered_packets,
            bytes: meter.delivered_bytes,
            returned_packets: meter.returned_packets,
            returned_bytes: meter.returned_bytes,
            mean_delay_s: meter.delays.mean().secs(),
            delays: quantiles(meter),
        }
    }
}

/// Returns the median and the 99th percentile of a histogram, s.
pub fn median_and_p99(histogram: &Histogram) -> [Option<f64>; 2] {
    let of = |quantiles: Quantiles| [Some(quantiles.p50_s), Some(quantiles.p99_s)];
    histogram.quantiles().map_or([None; 2], of)
}
