//! Solves scenarios with Poisson datagrams over a fixed link with a drop-tail queue, by the M/D/1/K
//! model of `airpath-model`.
//!
//! Outside the bottleneck, the model covers propagation delays anywhere, and wires after the
//! bottleneck that are faster than its link. A wire with a rate before the bottleneck is not
//! covered, because it would change the arrival process. The flows have no ACKs.

use crate::dumbbell::DumbbellScenario;
use crate::model::Model;
use crate::preconditions::{
    always_there, delay_s, no_changes, no_errors, no_limit, no_limits, no_repetitions, other_kind,
    rate_of_packets_bps,
};
use crate::reasons::{Reason, Reasons};
use airpath_aqm::{DropTailConfig, Limit};
use airpath_core::{Bytes, registry};
use airpath_link::{Files, FixedConfig};
use airpath_model::ModelError;
use airpath_model::md1k::{LARGEST_LOAD, LARGEST_QUEUE, Md1k};
use airpath_path::{FlowSpec, Scenario, SourceSpec};
use serde::Serialize;
use serde_json::Value;

/// Packet size that is used to check the link if the scenario has no Poisson source, bytes.
const ANY_PACKET: u64 = 1500;

/// The M/D/1/K model.
pub struct PoissonQueue;

/// A scenario in the model's terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    queue: Md1k,
    packet: Bytes,
    /// Rate of IP packets at the link, bit/s.
    link_bps: f64,
    /// Share of packets that the link corrupts, in [0, 1].
    link_loss: f64,
    /// Offered rate of each flow, bit/s, and its one-way delay without queueing and transmission at
    /// the link, s.
    flows: Vec<(f64, f64)>,
}

/// The steady state of the queue and of the flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// Rate of the IP packets that reach the receivers, bit/s.
    pub throughput_bps: f64,
    /// Rate of the IP packets that are sent, bit/s.
    pub offered_bps: f64,
    /// Share of time in which the link transmits, in [0, 1].
    pub utilisation: f64,
    /// Time average of the number of waiting packets.
    pub queue_packets: f64,
    /// Mean time from arrival to start of transmission, s.
    pub mean_sojourn_s: f64,
    /// Probability that an arrival finds the queue full, in [0, 1].
    pub drop_probability: f64,
    /// Results by flow.
    pub flows: Vec<Flow>,
    /// Warnings to check before trusting the result. Always empty at present.
    pub warnings: Vec<String>,
}

/// Results of one flow in the steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Flow number, from 0.
    pub id: u32,
    /// Rate of the IP packets that reach the receiver, bit/s.
    pub throughput_bps: f64,
    /// Mean one-way delay from sender to receiver, s.
    pub one_way_delay_s: f64,
    /// Probability that a packet is dropped or corrupted, in [0, 1].
    pub loss: f64,
}

impl Model for PoissonQueue {
    const NAME: &'static str = "md1k";
    const SUMMARY: &'static str =
        "Poisson datagrams of one size over a fixed link with drop-tail: M/D/1/K.";
    type Problem = Problem;
    type Solution = Solution;

    fn covers_dumbbell(scenario: &DumbbellScenario, _files: &Files) -> Result<Problem, Reasons> {
        let mut reasons = Reasons::default();
        reasons.keep(no_changes(scenario));
        let (link, queue) = (&scenario.bottleneck.link, &scenario.bottleneck.queue);
        let under_link = |reason: Reason| reason.under("link").under("bottleneck");
        reasons.keep(no_errors(link).map_err(under_link));
        reasons.keep(no_repetitions(link).map_err(under_link));
        let packet = packet(scenario, &mut reasons);
        let sized = packet.unwrap_or(Bytes(ANY_PACKET));
        let config = reasons.keep(fixed(link).map_err(under_link));
        let capacity =
            queue_limit(queue, sized).map_err(|reason| reason.under("aqm").under("bottleneck"));
        let capacity = reasons.keep(capacity);
        let (Some(packet), Some(config), Some(capacity)) = (packet, config, capacity) else {
            return reasons.or(None);
        };
        let link_bps = rate_of_packets_bps(config.rate_bps, config.framing, packet)
            .map_err(|error| under_link(error.into()))?;
        let shared_s = delay_s(scenario.forward_delay())
            + reasons.keep(backhaul_s(scenario)).unwrap_or_default();
        let flows = scenario.flows.iter().enumerate().map(|(number, flow)| {
            let wires_s = wires_s(flow, packet, link_bps);
            let wires_s = reasons.keep_of_flow((number, flow.group), wires_s);
            (offered_bps(flow), wires_s.unwrap_or_default() + shared_s)
        });
        let flows: Vec<(f64, f64)> = flows.collect();
        let load = flows.iter().map(|(offered_bps, _)| offered_bps).sum::<f64>() / link_bps;
        if load > LARGEST_LOAD {
            let covered = format!("what is sent, or at least 1/{LARGEST_LOAD} of it");
            let rate = format!("{} bit/s", config.rate_bps);
            let refused: Result<(), Reason> = Err(Reason::not_covered("rate", rate, covered));
            reasons.keep(refused.map_err(under_link));
        }
        let queue = Md1k { load, capacity };
        reasons.or(Some(Problem { queue, packet, link_bps, link_loss: config.loss, flows }))
    }

    fn solve(problem: &Problem) -> Result<Solution, ModelError> {
        let steady = problem.queue.steady()?;
        let service_s = 8.0 * problem.packet.0 as f64 / problem.link_bps;
        let mean_sojourn_s = steady.wait * service_s;
        let kept = (1.0 - steady.loss) * (1.0 - problem.link_loss);
        let flow = |(id, (offered_bps, way_s)): (u32, &(f64, f64))| Flow {
            id,
            throughput_bps: kept * offered_bps,
            one_way_delay_s: mean_sojourn_s + service_s + way_s,
            loss: 1.0 - kept,
        };
        let offered_bps = problem.flows.iter().map(|(offered_bps, _)| offered_bps).sum();
        Ok(Solution {
            throughput_bps: kept * offered_bps,
            offered_bps,
            utilisation: steady.busy,
            queue_packets: steady.waiting,
            mean_sojourn_s,
            drop_probability: steady.loss,
            flows: (0..).zip(&problem.flows).map(flow).collect(),
            warnings: Vec::new(),
        })
    }
}

/// Returns the packet size that all flows have. Rejects flows that are not Poisson sources, and
/// flows with different packet sizes.
fn packet(scenario: &Scenario, reasons: &mut Reasons) -> Option<Bytes> {
    let mut common: Option<u64> = None;
    for (number, flow) in scenario.flows.iter().enumerate() {
        let is_covered = match flow.source {
            SourceSpec::Poisson { packet_bytes, .. } => {
                let first = *common.get_or_insert(packet_bytes);
                let value = format!("{packet_bytes} B");
                let other = Reason::not_covered("packet", value, "the same for all flows");
                if first == packet_bytes { always_there(flow, scenario) } else { Err(other) }
            }
            SourceSpec::Tcp(_) => Err(Reason::other_traffic("tcp", "poisson")),
            SourceSpec::Cbr { .. } => Err(Reason::other_traffic("cbr", "poisson")),
            SourceSpec::Voice(_) => Err(Reason::other_traffic("voice", "poisson")),
        };
        reasons.keep_of_flow((number, flow.group), is_covered);
    }
    common.map(Bytes)
}

fn offered_bps(flow: &FlowSpec) -> f64 {
    match flow.source {
        SourceSpec::Poisson { rate_bps, .. } => rate_bps as f64,
        SourceSpec::Tcp(_) | SourceSpec::Cbr { .. } | SourceSpec::Voice(_) => 0.0,
    }
}

fn fixed(link: &Value) -> Result<FixedConfig, Reason> {
    let (kind, parameters) = registry::split_kind(link)?;
    if kind != "fixed" {
        return Err(other_kind(&kind, "fixed"));
    }
    Ok(registry::read_config(&parameters)?)
}

/// Returns the limit of a drop-tail queue, packets.
fn queue_limit(queue: &Value, packet: Bytes) -> Result<u64, Reason> {
    let (kind, parameters) = registry::split_kind(queue)?;
    if kind != "droptail" {
        return Err(Reason::not_covered("kind", kind, "droptail"));
    }
    let config: DropTailConfig = registry::read_config(&parameters)?;
    let packets = match config.limit {
        Limit::Packets(packets) => packets as u64,
        Limit::Bytes(bytes) => bytes / packet.0,
    };
    let covered = || format!("at most {LARGEST_QUEUE} packets");
    let large = || Reason::not_covered("limit", format!("{packets} packets"), covered());
    if packets <= LARGEST_QUEUE { Ok(packets) } else { Err(large()) }
}

/// Returns the one-way delay of a flow's own wires, s.
fn wires_s(flow: &FlowSpec, packet: Bytes, link_bps: f64) -> Result<f64, Reason> {
    no_limits(flow)?;
    unspaced(flow.access.rate_bps).map_err(|reason| reason.under("access"))?;
    let egress_s = match flow.egress.rate_bps {
        Some(rate_bps) if rate_bps as f64 <= link_bps => {
            let covered = "a wire that is faster than the bottleneck's link";
            return Err(Reason::not_covered("egress.rate", format!("{rate_bps} bit/s"), covered));
        }
        Some(rate_bps) => 8.0 * packet.0 as f64 / rate_bps as f64,
        None => 0.0,
    };
    let delays_ns = flow.access.delay_ns + flow.egress.delay_ns;
    Ok(delays_ns as f64 * 1e-9 + egress_s)
}

fn backhaul_s(scenario: &DumbbellScenario) -> Result<f64, Reason> {
    let Some(backhaul) = &scenario.backhaul else { return Ok(0.0) };
    no_limit(backhaul).map_err(|reason| reason.under("backhaul"))?;
    unspaced(backhaul.rate_bps).map_err(|reason| reason.under("backhaul"))?;
    Ok(backhaul.delay_ns as f64 * 1e-9)
}

/// Rejects a hop with a rate before the bottleneck, because it would space the packets out.
fn unspaced(rate_bps: Option<u64>) -> Result<(), Reason> {
    let covered = "no rate: one would space the packets out";
    match rate_bps {
        None => Ok(()),
        Some(rate_bps) => Err(Reason::not_covered("rate", format!("{rate_bps} bit/s"), covered)),
    }
}
