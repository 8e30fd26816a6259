//! Measurements in the phases between the events of the timetable.
//!
//! No counter is reset at an event. The values of a phase are differences between two running
//! totals, so that the totals of the run are the same as without phases. A packet counts in the
//! phase in which it arrives, with its complete delay. The start and the end of an interruption are
//! events; the changes of a schedule of delays start no phase.

use crate::any_stage::AnyStage;
use crate::network::{FlowStages, Network};
use airpath_aqm::QueueReport;
use airpath_core::stats::Mean;
use airpath_core::{Bus, FlowId, StageId, Time};
use airpath_link::SideReport;
use serde::Serialize;

/// Measurements of one phase. A phase starts at the end of the warm-up or at an event, and ends at
/// the next event or at the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseReport {
    /// Start of the phase, s since the start of the run.
    pub from_s: f64,
    /// End of the phase, s since the start of the run.
    pub until_s: f64,
    /// Measurements by flow.
    pub flows: Vec<FlowPhase>,
    /// Measurements by queue, in the order of the report.
    pub queues: Vec<QueuePhase>,
    /// Measurements by link.
    pub links: Vec<LinkPhase>,
}

/// Measurements of one flow in a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowPhase {
    /// In-order payload delivered to the application, bit/s.
    pub goodput_bps: f64,
    /// In-order payload delivered to the application, bytes.
    pub delivered_bytes: u64,
    /// Number of packets that arrived, including duplicates. Datagrams count if they were sent
    /// after the warm-up.
    pub delivered_packets: u64,
    /// Number of packets retransmitted.
    pub retransmissions: u64,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// Mean one-way delay of packets that arrived, s.
    pub mean_delay_s: Option<f64>,
    /// Mean RTT sample, s.
    pub mean_rtt_s: Option<f64>,
}

/// Measurements of one queue in a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueuePhase {
    /// Time average of the number of packets that wait or are held by the link.
    pub mean_packets: f64,
    /// Number of packets whose sojourn times were measured.
    pub departed: u64,
    /// Mean sojourn time of these packets, s.
    pub mean_sojourn_s: Option<f64>,
    /// Number of packets offered to the queue.
    pub arrived: u64,
    /// Number of packets dropped by the queue.
    pub drops: u64,
    /// Number of packets marked.
    pub marks: u64,
}

/// Measurements of one link in a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkPhase {
    /// Utilisation in the phase, defined as in the report: used share of the offered time or bytes,
    /// 0 to 1.
    pub utilisation: f64,
    /// Number of packets delivered.
    pub delivered_packets: u64,
}

/// Counters of a network from the end of the warm-up to one instant.
#[derive(Clone, Debug)]
pub struct Totals {
    /// End of the phase.
    pub at: Time,
    flows: Vec<FlowTotals>,
    /// Totals by queue, in order of queue number.
    queues: Vec<QueueTotals>,
    links: Vec<LinkTotals>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlowTotals {
    bytes: u64,
    packets: u64,
    retransmissions: u64,
    timeouts: u64,
    delay: Mean,
    rtt: Mean,
}

#[derive(Clone, Copy, Debug, Default)]
struct QueueTotals {
    packet_seconds: f64,
    sojourn: Mean,
    arrived: u64,
    drops: u64,
    marks: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct LinkTotals {
    used: f64,
    offered: f64,
    delivered: u64,
}

impl Totals {
    /// Reads the totals of a network at `now`. `bus` holds the drop counters.
    pub fn of(network: &Network, now: Time, bus: &Bus) -> Totals {
        let measured_s = now.saturating_since(network.warmup).as_secs_lossy();
        let flows = (0..)
            .map(FlowId)
            .zip(&network.flows)
            .filter_map(|(flow, ends)| flow_totals(network, flow, *ends))
            .collect();
        let (mut queues, mut links) = (Vec::new(), Vec::new());
        for place in &network.links {
            let reports = network.stages[place.stage.0 as usize].link_reports(now);
            for SideReport { queues: of_side, link, .. } in reports {
                links.push(LinkTotals {
                    used: link.utilisation * link.offered,
                    offered: link.offered,
                    delivered: link.delivered_packets,
                });
                queues.extend(of_side);
            }
        }
        queues.sort_by_key(|queue| queue.id);
        let queues = queues.into_iter().map(|queue| queue_totals(queue, measured_s, bus)).collect();
        Totals { at: now, flows, queues, links }
    }

    /// Returns totals of zero at time `at`, with the sizes of `like`.
    fn none(at: Time, like: &Totals) -> Totals {
        let flows = vec![FlowTotals::default(); like.flows.len()];
        let queues = vec![QueueTotals::default(); like.queues.len()];
        Totals { at, flows, queues, links: vec![LinkTotals::default(); like.links.len()] }
    }
}

fn queue_totals(queue: QueueReport, measured_s: f64, bus: &Bus) -> QueueTotals {
    let counts = bus.queue_counts(queue.id);
    QueueTotals {
        packet_seconds: queue.mean_packets() * measured_s,
        sojourn: queue.sojourn,
        arrived: queue.arrived,
        drops: counts.by_queue(),
        marks: counts.marked,
    }
}

fn flow_totals(network: &Network, flow: FlowId, ends: FlowStages) -> Option<FlowTotals> {
    let stage = |stage: StageId| &network.stages[stage.0 as usize];
    Some(match (stage(ends.source), stage(ends.sink)) {
        (source, AnyStage::Receiver(receiver)) => {
            let sender = source.sender(flow)?;
            let (sent, received) = (sender.report(), receiver.report());
            FlowTotals {
                bytes: received.delivered_bytes,
                packets: received.packets,
                retransmissions: sent.retransmissions,
                timeouts: sent.timeouts,
                delay: receiver.delays().mean(),
                rtt: sender.rtt(),
            }
        }
        (AnyStage::Source(_), AnyStage::Sink(sink)) => {
            let (bytes, packets) = (sink.payload_bytes(), sink.packets());
            FlowTotals { bytes, packets, delay: sink.delays().mean(), ..FlowTotals::default() }
        }
        _ => return None,
    })
}

/// Computes the phases from the totals at each event in `events`. The first phase starts at
/// `warmup`, the last one ends at `end`. Returns no phases if there are no events.
pub fn phases(warmup: Time, events: &[Totals], end: Totals) -> Vec<PhaseReport> {
    if events.is_empty() {
        return Vec::new();
    }
    let mut before = Totals::none(warmup, &end);
    let mut found = Vec::new();
    for after in events.iter().cloned().chain([end]) {
        if after.at > before.at {
            found.push(between(&before, &after));
        }
        before = after;
    }
    found
}

fn between(before: &Totals, after: &Totals) -> PhaseReport {
    let seconds = after.at.saturating_since(before.at).as_secs_lossy();
    PhaseReport {
        from_s: before.at.as_secs_lossy(),
        until_s: after.at.as_secs_lossy(),
        flows: before
            .flows
            .iter()
            .zip(&after.flows)
            .map(|(was, is)| FlowPhase {
                goodput_bps: (is.bytes - was.bytes) as f64 * 8.0 / seconds,
                delivered_bytes: is.bytes - was.bytes,
                delivered_packets: is.packets - was.packets,
                retransmissions: is.retransmissions - was.retransmissions,
                timeouts: is.timeouts - was.timeouts,
                mean_delay_s: is.delay.since(&was.delay).secs(),
                mean_rtt_s: is.rtt.since(&was.rtt).secs(),
            })
            .collect(),
        queues: before
            .queues
            .iter()
            .zip(&after.queues)
            .map(|(was, is)| {
                let sojourn = is.sojourn.since(&was.sojourn);
                QueuePhase {
                    mean_packets: ((is.packet_seconds - was.packet_seconds) / seconds).max(0.0),
                    departed: sojourn.count(),
                    mean_sojourn_s: sojourn.secs(),
                    arrived: is.arrived - was.arrived,
                    drops: is.drops - was.drops,
                    marks: is.marks - was.marks,
                }
            })
            .collect(),
        links: before
            .links
            .iter()
            .zip(&after.links)
            .map(|(was, is)| LinkPhase {
                utilisation: share(is.used - was.used, is.offered - was.offered),
                delivered_packets: is.delivered - was.delivered,
            })
            .collect(),
    }
}

/// Returns `used / offered`, or 0 if `offered` is 0.
fn share(used: f64, offered: f64) -> f64 {
    if offered > 0.0 { (used / offered).clamp(0.0, 1.0) } else { 0.0 }
}
