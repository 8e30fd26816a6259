//! Report of one replication, with the keys and units of the results.

use crate::any_stage::AnyStage;
use crate::applications::ApplicationReports;
use crate::delay_parts::{DelayPartsReport, delay_parts};
use crate::distributions::{
    AggregateReport, DelayQuantiles, GroupDelays, PacketDistribution, PacketTime, in_seconds,
};
use crate::network::{FlowStages, Network};
use crate::phases::PhaseReport;
use crate::stations::{MacDelays, StationSummary, UserSummary};
use airpath_aqm::QueueReport;
use airpath_core::{Bus, Delays, DropReason, Duration, FlowId, Histogram, StageId, Time};
use airpath_link::LinkReport;
use airpath_tcp::{DatagramSink, DatagramSource, Receiver, Sender};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Report of one replication. Counts and averages start at the end of the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicationReport {
    /// Index of the replication, from 0.
    pub replication: u64,
    /// Number of expired timers plus number of packets that arrived over wires, over the complete
    /// run.
    pub events: u64,
    /// Number of packets that arrived at their receivers in the measured time.
    pub packets: u64,
    /// Measured time, s.
    pub measured_s: f64,
    /// Simulated time, s.
    pub simulated_s: f64,
    /// Reports by flow, without flows that have an open end.
    pub flows: Vec<FlowReport>,
    /// Delay quantiles over all flows and by group of flows.
    pub together: AggregateReport,
    /// Summaries by queue.
    pub queues: Vec<QueueSummary>,
    /// Summaries by link.
    pub links: Vec<LinkSummary>,
    /// Summaries by link and user, for links that distinguish users.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<UserSummary>,
    /// Summaries by link and station, for links with grants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<StationSummary>,
    /// MAC delay histograms by link, for links that measure MAC delays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mac_delays: Vec<MacDelays>,
    /// Requested histograms of per-packet times, by queue or group of flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<PacketDistribution>,
    /// Measurements of the applications of flows.
    #[serde(flatten)]
    pub applications: ApplicationReports,
    /// Parts of the delays of each flow; empty if they are not recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delay_parts: Vec<DelayPartsReport>,
    /// Measurements between events; empty if no event is after the warm-up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseReport>,
}

/// Report of one flow. Counts of a kernel's sender or receiver are `None` if the kernel does not
/// report them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowReport {
    /// Flow number.
    pub id: u32,
    /// `tcp` or `datagram`.
    pub kind: &'static str,
    /// In-order payload delivered to the application, bit/s. For datagrams: all payload that
    /// arrived.
    pub goodput_bps: f64,
    /// Rate of the IP packets that were both sent and received in the measured time, including
    /// duplicates, bit/s.
    pub ip_throughput_bps: f64,
    /// Payload bytes counted in `goodput_bps`.
    pub delivered_bytes: u64,
    /// Number of packets that arrived, including duplicates. Datagrams count if they were sent
    /// after the warm-up.
    pub delivered_packets: u64,
    /// Number of packets sent, including retransmissions.
    pub sent_packets: u64,
    /// Number of datagrams sent after the warm-up that were dropped or lost. `None` for TCP.
    pub lost_datagrams: Option<u64>,
    /// `lost_datagrams` divided by the number of datagrams that were delivered or lost (RFC 7680
    /// §4.1). `None` for TCP.
    pub loss_ratio: Option<f64>,
    /// Packets retransmitted.
    pub retransmissions: Option<u64>,
    /// Expiries of the retransmission timer.
    pub timeouts: Option<u64>,
    /// Number of loss recoveries started by duplicate ACKs.
    pub fast_retransmits: Option<u64>,
    /// Number of congestion window reductions after echoed congestion marks.
    pub ecn_reductions: Option<u64>,
    /// Number of received packets without new data.
    pub duplicate_packets: Option<u64>,
    /// Mean RTT sample, s.
    pub mean_rtt_s: Option<f64>,
    /// Mean one-way delay of packets that arrived, s.
    pub mean_delay_s: Option<f64>,
    /// Quantiles of the one-way delays of packets that arrived, and of ACKs.
    #[serde(flatten)]
    pub delays: DelayQuantiles,
    /// Share of the connection's open time in which the receive window limited sending and the
    /// congestion window did not. `None` for datagrams and for connections that were never open.
    pub rwnd_limited_share: Option<f64>,
    /// Share of the connection's open time in which the congestion window limited sending.
    pub cwnd_limited_share: Option<f64>,
    /// Start time of the flow, s.
    pub start_s: Option<f64>,
    /// Time at which the last byte of a finite transfer was acknowledged, s.
    pub completed_at_s: Option<f64>,
    /// Time at which the connection was aborted, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted_at_s: Option<f64>,
    /// Payload bytes of the transfer, if the size is random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_bytes: Option<u64>,
}

/// Report of one queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueSummary {
    /// Name in results.
    pub name: String,
    /// Time average of the number of packets that wait or are held by the link.
    pub mean_packets: f64,
    /// Time average of the number of bytes that wait or are held by the link.
    pub mean_bytes: f64,
    /// Mean sojourn time of packets, s.
    pub mean_sojourn_s: Option<f64>,
    /// Median sojourn time, s.
    pub p50_sojourn_s: Option<f64>,
    /// 95th percentile of sojourn times, s.
    pub p95_sojourn_s: Option<f64>,
    /// 99th percentile of sojourn times, s.
    pub p99_sojourn_s: Option<f64>,
    /// Maximum number of packets that waited or were held by the link.
    pub max_packets: usize,
    /// Share of time in which 0, 1, 2, … packets wait or are held by the link.
    pub pmf: Vec<f64>,
    /// Number of packets offered to the queue.
    pub arrived: u64,
    /// Number of packets passed to the link.
    pub departed: u64,
    /// Number of packets dropped by the queue, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets marked.
    pub marks: u64,
    /// Measurements that are specific to the queue discipline.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<&'static str, Option<f64>>,
}

/// Report of one link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSummary {
    /// Name in results.
    pub name: String,
    /// Share of time in which the link transmitted. For a trace: share of the trace's bytes that
    /// were used.
    pub utilisation: f64,
    /// Bytes of IP packets delivered.
    pub delivered_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Number of packets that the channel corrupted.
    pub lost_packets: u64,
    /// Number of transmissions started in each regime.
    pub regime_packets: Vec<u64>,
    /// Counters that are specific to the kind of link.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<Cow<'static, str>, f64>,
}

impl ReplicationReport {
    pub(crate) fn collect(
        network: &Network,
        replication: u64,
        now: Time,
        bus: &Bus,
    ) -> ReplicationReport {
        let measured_s = now.saturating_since(network.warmup).as_secs_lossy();
        // The vector is allocated in one step, because growth by doubling would require up to twice
        // the memory.
        let mut flows = Vec::with_capacity(network.flows.len());
        let ends = (0..).zip(&network.flows);
        flows.extend(ends.filter_map(|(id, ends)| flow_report(network, id, *ends, now, bus)));
        let (mut queues, mut links, mut users) = (Vec::new(), Vec::new(), Vec::new());
        let (mut stations, mut mac_delays) = (Vec::new(), Vec::new());
        for place in &network.links {
            let reports = network.stages[place.stage.0 as usize].link_reports(now);
            for (name, report) in place.sides.iter().zip(reports) {
                let user = |report| UserSummary::new(name, report, measured_s);
                users.extend(report.users.into_iter().map(user));
                let station = |report| StationSummary { link: name.clone(), report };
                stations.extend(report.stations.into_iter().map(station));
                mac_delays.extend(report.delays.iter().map(|of| MacDelays::of(name, of)));
                links.push(link_summary(name, &report.link));
                queues.extend(report.queues);
            }
        }
        queues.sort_by_key(|queue| queue.id);
        let delays = group_delays(network);
        let mut distributions = delays.distributions(&network.distributions);
        if network.distributions.contains(&PacketTime::Sojourn) {
            distributions.extend(queues.iter().map(|queue| {
                let name = network.queues[queue.id.0 as usize].clone();
                PacketDistribution::new(PacketTime::Sojourn, name, &queue.sojourns)
            }));
        }
        let queues = queues.into_iter().map(|queue| queue_summary(network, queue, bus)).collect();
        ReplicationReport {
            replication,
            events: 0,
            packets: flows.iter().map(|flow: &FlowReport| flow.delivered_packets).sum(),
            measured_s,
            simulated_s: now.as_secs_lossy(),
            flows,
            together: delays.report(),
            queues,
            links,
            users,
            stations,
            mac_delays,
            distributions,
            applications: ApplicationReports::collect(network, now),
            delay_parts: delay_parts(network, &bus.recorder),
            phases: Vec::new(),
        }
    }
}

fn queue_summary(network: &Network, queue: QueueReport, bus: &Bus) -> QueueSummary {
    let counts = bus.queue_counts(queue.id);
    let [p50_sojourn_s, p95_sojourn_s, p99_sojourn_s] = in_seconds(queue.sojourns.quantiles());
    let drops = DropReason::ALL
        .into_iter()
        .filter(|reason| *reason != DropReason::Channel)
        .map(|reason| (reason.name(), counts.dropped[reason as usize]))
        .filter(|(_, count)| *count > 0)
        .collect();
    QueueSummary {
        name: network.queues[queue.id.0 as usize].clone(),
        mean_packets: queue.mean_packets(),
        mean_bytes: queue.mean_bytes,
        mean_sojourn_s: queue.mean_sojourn_s,
        p50_sojourn_s,
        p95_sojourn_s,
        p99_sojourn_s,
        max_packets: queue.max_packets,
        pmf: queue.distribution,
        arrived: queue.arrived,
        departed: queue.departed,
        drops,
        marks: counts.marked,
        measured: queue.measured.into_iter().collect(),
    }
}

fn link_summary(name: &str, link: &LinkReport) -> LinkSummary {
    LinkSummary {
        name: name.to_owned(),
        utilisation: link.utilisation,
        delivered_bytes: link.delivered_bytes,
        delivered_packets: link.delivered_packets,
        lost_packets: link.lost_packets,
        regime_packets: link.regime_packets.clone(),
        counters: link.counters.iter().cloned().collect(),
    }
}

/// Collects the one-way delays of each group of flows.
fn group_delays(network: &Network) -> GroupDelays {
    let mut delays = GroupDelays::default();
    for (flow, ends) in (0..).map(FlowId).zip(&network.flows) {
        match delays_at(network, ends.sink) {
            Some(data) => {
                delays.add(ends.group, data.histogram(), ack_delays_of(network, flow));
            }
            None => delays.add_flow(ends.group),
        }
    }
    delays
}

/// Returns the one-way delays of the packets that arrived at a sink; `None` for an open end.
fn delays_at(network: &Network, sink: StageId) -> Option<&Delays> {
    match &network.stages[sink.0 as usize] {
        AnyStage::Receiver(receiver) => Some(receiver.delays()),
        AnyStage::Sink(sink) => Some(sink.delays()),
        _ => None,
    }
}

/// Returns the one-way delays of the ACKs that arrived at the TCP sender of a flow, if any arrived.
fn ack_delays_of(network: &Network, flow: FlowId) -> Option<&Histogram> {
    network.sender(flow)?.ack_delays().map(Delays::histogram)
}

/// Returns the report of a flow; `None` if an end of the flow is open.
fn flow_report(
    network: &Network,
    id: u32,
    ends: FlowStages,
    now: Time,
    bus: &Bus,
) -> Option<FlowReport> {
    let there = delays_at(network, ends.sink)?.histogram();
    let delays = DelayQuantiles::of(there, ack_delays_of(network, FlowId(id)));
    let stage = |stage: StageId| &network.stages[stage.0 as usize];
    match (stage(ends.source), stage(ends.sink)) {
        (source, AnyStage::Receiver(receiver)) => {
            let sender = source.sender(FlowId(id))?;
            Some(FlowReport {
                id,
                delays,
                transfer_bytes: ends.drawn_transfer,
                ..connection_report(sender, receiver, network.warmup, now)
            })
        }
        (AnyStage::Source(source), AnyStage::Sink(sink)) => {
            let [drops, _] = bus.recorder.drops_of(id);
            let lost = drops.packets.iter().sum();
            let measured = now.saturating_since(network.warmup);
            Some(FlowReport { id, delays, ..datagram_report(source, sink, lost, measured) })
        }
        _ => None,
    }
}

/// Returns the report of a TCP connection, except for the fields of the flow.
fn connection_report(sender: &Sender, receiver: &Receiver, warmup: Time, now: Time) -> FlowReport {
    let (sent, received) = (sender.report(), receiver.report());
    let measured = now.saturating_since(warmup);
    let opened = sent.started_at.max(warmup);
    let closed = sent.completed_at.or(sent.aborted_at).unwrap_or(now).min(sent.stops_at);
    let open = closed.saturating_since(opened);
    let share = |limited: Duration| {
        (open > Duration::ZERO).then(|| limited.as_secs_lossy() / open.as_secs_lossy())
    };
    FlowReport {
        kind: "tcp",
        goodput_bps: rate_bps(received.delivered_bytes, measured),
        ip_throughput_bps: rate_bps(received.ip_bytes, measured),
        delivered_bytes: received.delivered_bytes,
        delivered_packets: received.packets,
        sent_packets: sent.sent,
        retransmissions: Some(sent.retransmissions),
        timeouts: Some(sent.timeouts),
        fast_retransmits: Some(sent.fast_retransmits),
        ecn_reductions: Some(sent.ecn_reductions),
        duplicate_packets: Some(received.duplicates),
        mean_rtt_s: sent.mean_rtt_s,
        mean_delay_s: received.mean_delay_s,
        rwnd_limited_share: share(sender.receive_window_limited(now)),
        cwnd_limited_share: share(sender.congestion_window_limited(now)),
        start_s: (!sent.started_at.is_never()).then(|| sent.started_at.as_secs_lossy()),
        completed_at_s: sent.completed_at.map(Time::as_secs_lossy),
        aborted_at_s: sent.aborted_at.map(Time::as_secs_lossy),
        ..FlowReport::default()
    }
}

/// Returns the report of a datagram flow, except for the fields of the flow. `lost` is the number of
/// datagrams that were dropped or lost.
fn datagram_report(
    source: &DatagramSource,
    sink: &DatagramSink,
    lost: u64,
    measured: Duration,
) -> FlowReport {
    let decided = sink.packets() + lost;
    FlowReport {
        kind: "datagram",
        goodput_bps: rate_bps(sink.payload_bytes(), measured),
        ip_throughput_bps: rate_bps(sink.ip_bytes(), measured),
        delivered_bytes: sink.payload_bytes(),
        delivered_packets: sink.packets(),
        sent_packets: source.sent(),
        lost_datagrams: Some(lost),
        loss_ratio: (decided > 0).then(|| lost as f64 / decided as f64),
        retransmissions: Some(0),
        timeouts: Some(0),
        fast_retransmits: Some(0),
        ecn_reductions: Some(0),
        duplicate_packets: Some(0),
        mean_delay_s: sink.delays().mean().secs(),
        ..FlowReport::default()
    }
}

fn rate_bps(bytes: u64, measured: Duration) -> f64 {
    bytes as f64 * 8.0 / measured.as_secs_lossy()
}
