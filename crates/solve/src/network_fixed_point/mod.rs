//! Solves scenarios with TCP flows and datagrams over several hops by the network fixed point of
//! `airpath-model`.
//!
//! ```text
//!   queue   the drop curve of each hop's queue
//!   route   delays of the hops and wires; rejects those where packets would wait
//!   (here)  the hops, the classes of flows, the solution and its warnings
//! ```

mod queue;
mod route;

use crate::dumbbell::DumbbellScenario;
use crate::fixed_point::flows;
use crate::model::Model;
use crate::preconditions::{self, always_there, no_errors, no_repetitions, other_kind};
use crate::reasons::{Reason, Reasons};
use airpath_core::{Bytes, registry};
use airpath_link::{Files, FixedConfig};
use airpath_model::network::{ClassPoint, NetworkSolution, WINDOW_SPREAD};
use airpath_model::pftk::{LOSSY, WAITING};
use airpath_model::{ClassSource, Crossing, FlowClass, ModelError, Network, NetworkHop, Tcp};
use airpath_path::{FlowSpec, HopSpec, Scenario, SourceSpec};
use queue::HopQueue;
use route::Routes;
use serde::Serialize;
use serde_json::Value;

/// The fixed point over several hops.
pub struct NetworkFixedPoint;

/// A scenario in the model's terms.
#[derive(Clone, Debug)]
pub struct Problem {
    hops: Vec<Hop>,
    classes: Vec<FlowClass>,
    /// Class of each flow.
    class_of: Vec<usize>,
}

/// A hop with a link for data.
#[derive(Clone, Debug)]
struct Hop {
    name: String,
    /// Index of the hop in the scenario.
    position: usize,
    link: FixedConfig,
    queue: HopQueue,
}

/// Solution of the network fixed point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// Rate of the IP packets of all flows that reach their receivers, bit/s.
    pub throughput_bps: f64,
    /// Results by hop, in the order of the path.
    pub hops: Vec<HopResult>,
    /// Results by flow.
    pub flows: Vec<Flow>,
    /// Warnings to check before trusting the result.
    pub warnings: Vec<String>,
}

/// Results of one hop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopResult {
    /// Name of the hop.
    pub name: String,
    /// Mean number of waiting packets.
    pub queue_packets: f64,
    /// Mean time from arrival to start of transmission of an admitted packet, s.
    pub mean_sojourn_s: f64,
    /// Share of arrivals that the queue drops, in [0, 1].
    pub drop_probability: f64,
    /// Share of time in which the link transmits, in [0, 1].
    pub utilisation: f64,
}

/// Results of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Flow number, from 0.
    pub id: u32,
    /// Rate of the IP packets that reach the receiver, bit/s.
    pub throughput_bps: f64,
    /// RTT with queueing and transmission, s; `None` for datagrams.
    pub rtt_s: Option<f64>,
    /// Probability that a packet is dropped or corrupted, in [0, 1].
    pub loss: f64,
}

impl Model for NetworkFixedPoint {
    const NAME: &'static str = "network-fixed-point";
    const SUMMARY: &'static str = "Long-lived Reno flows and datagrams over several fixed links, with drop-tail, RED or \
         gentle RED.";
    type Problem = Problem;
    type Solution = Solution;

    fn covers_dumbbell(
        scenario: &DumbbellScenario,
        _files: &Files,
    ) -> Result<Self::Problem, Reasons> {
        let names: Vec<&str> = scenario.hops.iter().map(|hop| hop.name.as_str()).collect();
        Err(Reason::other_path(names.join(", "), "two or more hops with a link for data").into())
    }

    fn covers(scenario: &Scenario, files: &Files) -> Result<Problem, Reasons> {
        if let Ok(dumbbell) = DumbbellScenario::of(scenario) {
            return Self::covers_dumbbell(&dumbbell, files);
        }
        let mut reasons = Reasons::default();
        reasons.keep(preconditions::no_changes(scenario));
        let packet = Bytes(largest_packet(scenario));
        let hops = data_hops(scenario, packet, &mut reasons);
        let Some(hops) = hops else { return reasons.or(None) };
        let routes = Routes::new(scenario, &hops);
        routes.check_hops(&mut reasons);
        let (mut classes, mut class_of) = (Vec::<FlowClass>::new(), Vec::new());
        for (number, flow) in scenario.flows.iter().enumerate() {
            let class = flow_class(scenario, flow, &hops, &routes);
            let Some(class) = reasons.keep_of_flow((number, flow.group), class) else { continue };
            let alone = |other: &FlowClass| FlowClass { count: 1, ..other.clone() };
            let index = classes.iter().position(|other| alone(other) == class);
            let index = index.unwrap_or(classes.len());
            if index == classes.len() {
                classes.push(FlowClass { count: 0, ..class });
            }
            classes[index].count += 1;
            class_of.push(index);
        }
        if class_of.len() == scenario.flows.len() {
            reasons.keep(some_tcp(&classes));
        }
        reasons.or(Some(Problem { hops, classes, class_of }))
    }

    fn solve(problem: &Problem) -> Result<Solution, ModelError> {
        let curves: Vec<_> = problem.hops.iter().map(|hop| hop.queue.curve()).collect();
        let hops = problem.hops.iter().zip(&curves).map(|(hop, curve)| NetworkHop {
            limit: hop.queue.limit(),
            early: curve.as_ref().map(|curve| curve as &dyn Fn(f64) -> f64),
            per: hop.link.loss,
        });
        let network = Network {
            hops: hops.collect(),
            classes: problem.classes.clone(),
            spread: WINDOW_SPREAD,
        };
        let found = network.solve()?;
        let flow = |(id, class): (u32, &usize)| {
            let point = found.classes[*class];
            let is_tcp = matches!(problem.classes[*class].source, ClassSource::Tcp { .. });
            let rtt_s = is_tcp.then_some(point.rtt_s);
            Flow { id, throughput_bps: point.throughput_bps, rtt_s, loss: point.loss }
        };
        let flows: Vec<Flow> = (0..).zip(&problem.class_of).map(flow).collect();
        Ok(Solution {
            throughput_bps: flows.iter().map(|flow| flow.throughput_bps).sum(),
            hops: problem.hop_results(&found),
            flows,
            warnings: problem.warnings(&found),
        })
    }
}

/// Returns the size of the largest data packet, bytes. Byte limits of queues are checked with it.
fn largest_packet(scenario: &Scenario) -> u64 {
    let sizes = scenario.flows.entries().iter().map(|flow| match &flow.source {
        SourceSpec::Tcp(spec) => u64::from(spec.options.mss + spec.options.whole_header()),
        SourceSpec::Cbr { packet_bytes, .. } | SourceSpec::Poisson { packet_bytes, .. } => {
            *packet_bytes
        }
        SourceSpec::Voice(voice) => voice.packet_bytes,
    });
    sizes.max().unwrap_or(1)
}

/// Returns the hops with a link for data, in the order in which data cross them.
fn data_hops(scenario: &Scenario, packet: Bytes, reasons: &mut Reasons) -> Option<Vec<Hop>> {
    let mut found = Vec::new();
    let mut all = true;
    for (position, hop) in scenario.hops.iter().enumerate() {
        let Some(down) = hop.down() else { continue };
        let side = if hop.is_mirrored() { "" } else { "down" };
        let under =
            |key: &'static str| move |reason: Reason| under_hop(reason.under(key), &hop.name, side);
        let link = reasons.keep(fixed_link(&down).map_err(under("link")));
        let rate_bps = link.as_ref().map_or(1, |link| link.rate_bps);
        let queue = HopQueue::new(down.queues, rate_bps, packet).map_err(under("aqm"));
        let queue = reasons.keep(queue);
        match (link, queue) {
            (Some(link), Some(queue)) => {
                found.push(Hop { name: hop.name.clone(), position, link, queue });
            }
            _ => all = false,
        }
    }
    all.then_some(found)
}

/// Returns the reason with the hop and, if the directions have separate keys, the direction before
/// the key.
fn under_hop(reason: Reason, hop: &str, side: &str) -> Reason {
    let reason = if side.is_empty() { reason } else { reason.under(side) };
    reason.under(hop).under("hops")
}

/// Reads a fixed link without errors in bursts and without retransmissions.
fn fixed_link(hop: &HopSpec<'_>) -> Result<FixedConfig, Reason> {
    let (kind, parameters) = registry::split_kind(hop.link)?;
    if kind != "fixed" {
        return Err(other_kind(&kind, "fixed"));
    }
    no_errors(hop.link)?;
    no_repetitions(hop.link)?;
    Ok(registry::read_config(&parameters)?)
}

/// Rejects scenarios with datagrams only.
fn some_tcp(classes: &[FlowClass]) -> Result<(), Reason> {
    let is_tcp = |class: &FlowClass| matches!(class.source, ClassSource::Tcp { .. });
    let none =
        || Reason::other_traffic("datagrams", "at least one flow of kind tcp").under("flows.0");
    if classes.iter().any(is_tcp) { Ok(()) } else { Err(none()) }
}

/// Converts a flow into a class of one flow.
fn flow_class(
    scenario: &Scenario,
    flow: &FlowSpec,
    hops: &[Hop],
    routes: &Routes<'_>,
) -> Result<FlowClass, Reason> {
    let (packet_bytes, source) = match &flow.source {
        SourceSpec::Tcp(_) => {
            let options = &flows::of_flow(flow, scenario)?.options;
            let tcp = Tcp {
                max_window_packets: flows::window_packets(options),
                timeout_s: options.min_rto.as_secs_lossy(),
                packets_per_ack: flows::packets_per_ack(options),
            };
            let packet = u64::from(options.mss + options.whole_header());
            let base_rtt_s = routes.base_rtt_s(flow, options)?;
            (packet, ClassSource::Tcp { tcp, base_rtt_s })
        }
        SourceSpec::Cbr { rate_bps, packet_bytes }
        | SourceSpec::Poisson { rate_bps, packet_bytes } => {
            always_there(flow, scenario)?;
            routes.check_datagrams(flow)?;
            let packets_per_s = *rate_bps as f64 / (8.0 * *packet_bytes as f64);
            (*packet_bytes, ClassSource::Datagrams { packets_per_s })
        }
        SourceSpec::Voice(voice) => {
            always_there(flow, scenario)?;
            routes.check_datagrams(flow)?;
            let packets_per_s = 1.0 / voice.interval().as_secs_lossy();
            (voice.packet_bytes, ClassSource::Datagrams { packets_per_s })
        }
    };
    let crossed = scenario.crossed(flow);
    let route = hops.iter().enumerate().filter(|(_, hop)| crossed.contains(&hop.position));
    let route = route.map(|(index, hop)| {
        let service_s = 8.0 * packet_bytes as f64 / hop.rate_bps(Bytes(packet_bytes))?;
        Ok(Crossing { hop: index, service_s })
    });
    let route: Result<Vec<Crossing>, Reason> = route.collect();
    Ok(FlowClass { count: 1, packet_bits: 8.0 * packet_bytes as f64, route: route?, source })
}

impl Hop {
    /// Returns the rate of IP packets of one size, bit/s.
    fn rate_bps(&self, packet: Bytes) -> Result<f64, Reason> {
        Ok(preconditions::rate_of_packets_bps(self.link.rate_bps, self.link.framing, packet)?)
    }
}

impl Problem {
    fn hop_results(&self, found: &NetworkSolution) -> Vec<HopResult> {
        let result = |(hop, point): (&Hop, &airpath_model::network::HopPoint)| HopResult {
            name: hop.name.clone(),
            queue_packets: point.queue_packets,
            // Little's law: the rate of admitted packets is the utilisation over the service time.
            mean_sojourn_s: point.queueing_delay_s / point.utilisation.max(f64::MIN_POSITIVE),
            drop_probability: point.drop_probability,
            utilisation: point.utilisation,
        };
        self.hops.iter().zip(&found.hops).map(result).collect()
    }

    /// Returns true if a TCP class crosses several hops, one of them with drop-tail and drops.
    fn crosses_drop_tail(&self, class: usize, found: &NetworkSolution) -> bool {
        let FlowClass { route, source, .. } = &self.classes[class];
        let drops = |at: &Crossing| {
            let is_drop_tail = matches!(self.hops[at.hop].queue, HopQueue::DropTail(_));
            is_drop_tail && found.hops[at.hop].drop_probability > 0.0
        };
        let is_tcp = matches!(source, ClassSource::Tcp { .. });
        is_tcp && route.len() > 1 && route.iter().any(drops)
    }

    /// Returns at most one warning of each kind, for the flow that it concerns most.
    fn warnings(&self, found: &NetworkSolution) -> Vec<String> {
        let worst = |value: fn(&FlowClass, &ClassPoint) -> f64| {
            let flows = self.class_of.iter().enumerate();
            let values = flows
                .map(|(flow, &class)| (flow, value(&self.classes[class], &found.classes[class])));
            values.max_by(|one, two| one.1.total_cmp(&two.1)).unwrap_or_default()
        };
        let (flow, ratio) = worst(rtt_per_timeout);
        let long = format!(
            "flow {flow}: the round-trip time exceeds the timeout by a factor of {ratio:.2}: the TCP formula is outside its validity"
        );
        let (flow, loss) = worst(|_, point| point.loss);
        let lossy = format!(
            "flow {flow} loses {:.0} % of its packets: above {:.0} % the TCP formula does not hold; simulate",
            100.0 * loss,
            100.0 * LOSSY
        );
        let (flow, share) = worst(|_, point| point.timeout_share);
        let waits = format!(
            "flow {flow}: by the TCP formula it waits for timeouts {:.0} % of the time; a sender that recovers from losses without them gets a larger share: simulate",
            100.0 * share
        );
        let through = self.class_of.iter().position(|class| self.crosses_drop_tail(*class, found));
        let through_line = format!(
            "flow {}: it crosses several hops, and drop-tail drops packets at one of them: the real rate of such flows is lower, in one of ten by more than a third; simulate",
            through.unwrap_or_default()
        );
        let given = [
            (ratio > 1.0, long),
            (loss > LOSSY, lossy),
            (share > WAITING, waits),
            (through.is_some(), through_line),
        ];
        given.into_iter().filter(|(is_given, _)| *is_given).map(|(_, line)| line).collect()
    }
}

/// Returns RTT over T₀ of a TCP flow; 0 for datagrams.
fn rtt_per_timeout(class: &FlowClass, point: &ClassPoint) -> f64 {
    match class.source {
        ClassSource::Tcp { tcp, .. } => point.rtt_s / tcp.timeout_s,
        ClassSource::Datagrams { .. } => 0.0,
    }
}

/// Returns the capacity of a queue in packets, if its description has one.
fn packet_limit(queue: &Value) -> Option<u64> {
    queue.get("limit").and_then(|limit| limit.get("packets")).and_then(Value::as_u64)
}
