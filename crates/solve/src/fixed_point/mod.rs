//! Solves scenarios with TCP flows over a multi-regime link by the fixed point of qawla-2015 §3,
//! which is implemented in `airpath-model`.
//!
//! ```text
//!   flows        the TCP parameters that all flows have in common
//!   link         the bottleneck's regimes and its queue's drop curve
//!   access_path  the round-trip time of each flow; rejects hops where packets would wait
//!   (here)       the problem, its solution and its warnings
//! ```
//!
//! [`optimum`] selects the best regimes of a link; [`batch`] solves many problems.

pub(crate) mod access_path;
pub mod batch;
pub(crate) mod flows;
pub(crate) mod link;
pub mod optimum;

use crate::dumbbell::DumbbellScenario;
use crate::error::SolveError;
use crate::model::{Model, document, problem_of};
use crate::preconditions;
use crate::reasons::Reasons;
use access_path::AccessPath;
use airpath_aqm::{GredConfig, gred_drop_probability};
use airpath_core::Bytes;
use airpath_link::Files;
use airpath_model::{self as model, Change, DropCurve, ModelError, MultiRegimeLink, Regime, Tcp};
use airpath_path::{AckPath, Scenario};
use serde::Serialize;
use serde_json::Value;

/// Throughput loss by delayed ACKs, as a share, above which a warning is given.
const WAIT_THAT_MATTERS: f64 = 0.05;
/// Packet size that is used to check the link if the model does not cover the flows, bytes.
const ANY_PACKET: u32 = 1500;

/// The fixed-point model.
pub struct FixedPoint;

/// A scenario in the model's terms.
#[derive(Clone, Debug)]
pub struct Problem {
    link: RegimeLink,
    queue: QueueCurve,
    base_rtts_s: Vec<f64>,
    tcp: Tcp,
    packet_bytes: f64,
    delayed: DelayedAcks,
}

/// Solves a scenario with a maximum window W_max of `packets`, which need not be an integer,
/// because qawla-2015 §4 specifies the window in bytes.
///
/// # Errors
/// Fails if the model does not cover the scenario, its equations have no solution, or `packets` is
/// below 1 or infinite.
pub fn solve_with_window(
    scenario: &Scenario,
    files: &Files,
    packets: f64,
) -> Result<Value, SolveError> {
    let mut problem = problem_of::<FixedPoint>(scenario, files)?;
    problem.tcp.max_window_packets = packets;
    Ok(document::<FixedPoint>(&FixedPoint::solve(&problem)?))
}

/// The bottleneck's link in terms of the model.
#[derive(Clone, Debug)]
pub(crate) struct RegimeLink {
    /// Thresholds between the regimes, waiting packets.
    thresholds: Vec<f64>,
    pub(crate) regimes: Vec<Regime>,
    /// Warnings to check before trusting the result.
    warnings: Vec<String>,
}

/// Drop curve of a covered queue discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum QueueCurve {
    Gred(GredConfig),
    DropTail { packets: f64 },
}

/// Number of packets for which a delayed ACK waits, and maximum delay of an ACK, s.
#[derive(Clone, Copy, Debug)]
struct DelayedAcks {
    packets: f64,
    timeout_s: f64,
}

/// Solution of the fixed point: equilibrium of the queue and the flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// Domain of the solution: `empty`, `R1`, `B1`, `R2` …, from [`model::Domain::label`].
    pub domain: String,
    /// T: rate of the IP packets that reach the receivers, bit/s.
    pub throughput_bps: f64,
    /// x\*: number of waiting packets.
    pub queue_packets: f64,
    /// α\*: share of time in the upper regime, in [0, 1]; `None` unless the solution is at a
    /// threshold.
    pub alpha: Option<f64>,
    /// T averaged over the oscillation of the congestion windows, bit/s.
    pub average_throughput_bps: f64,
    /// Number of waiting packets, averaged over the oscillation.
    pub average_queue_packets: f64,
    /// Queueing and transmission delay in a round trip, averaged over the oscillation, s.
    pub average_queueing_delay_s: f64,
    /// W_max: maximum window, packets.
    pub max_window_packets: f64,
    /// Results by flow.
    pub flows: Vec<Flow>,
    /// Warnings to check before trusting the result.
    pub warnings: Vec<String>,
}

/// Results of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Flow number, from 0.
    pub id: u32,
    /// Rate of the IP packets that reach the receiver, bit/s.
    pub throughput_bps: f64,
    /// RTT with queueing and transmission, s.
    pub rtt_s: f64,
    /// Probability that a packet is dropped or corrupted, in [0, 1].
    pub loss: f64,
}

impl Model for FixedPoint {
    const NAME: &'static str = "fixed-point";
    const SUMMARY: &'static str = "Long-lived Reno flows over a fixed, multi-regime or adaptive \
                                   link, with drop-tail or gentle RED.";
    type Problem = Problem;
    type Solution = Solution;

    fn covers_dumbbell(scenario: &DumbbellScenario, files: &Files) -> Result<Problem, Reasons> {
        let mut reasons = Reasons::default();
        let bottleneck = &scenario.bottleneck;
        reasons.keep(preconditions::no_changes(scenario));
        for (hop, link) in
            [("bottleneck", Some(&bottleneck.link)), ("ack_path", ack_link(scenario))]
        {
            let free = link.map_or(Ok(()), preconditions::no_errors);
            let under = |reason: crate::Reason| reason.under("link").under(hop);
            reasons.keep(free.map_err(under));
            reasons.keep(link.map_or(Ok(()), preconditions::no_repetitions).map_err(under));
        }
        let options = flows::common_options(scenario, &mut reasons);
        let packet = options.map_or(ANY_PACKET, |options| options.mss + options.whole_header());
        let link = link::link(&bottleneck.link, files, Bytes(packet.into()));
        let link = reasons.keep(link.map_err(|reason| reason.under("link").under("bottleneck")));
        let queue = link::queue(&bottleneck.queue, f64::from(packet));
        let queue = reasons.keep(queue.map_err(|reason| reason.under("aqm").under("bottleneck")));
        let (Some(options), Some(link), Some(queue)) = (options, link, queue) else {
            return reasons.or(None);
        };
        let of_acks = |description: &Value, ack: Bytes| {
            link::link(description, files, ack).map(|found| found.regimes[0])
        };
        let access_path = AccessPath::new(options, &link.regimes);
        let base_rtts_s = access_path.base_rtts_s(scenario, of_acks, &mut reasons);
        reasons.or(Some(Problem {
            link,
            queue,
            base_rtts_s,
            tcp: Tcp {
                max_window_packets: flows::window_packets(options),
                timeout_s: options.min_rto.as_secs_lossy(),
                packets_per_ack: flows::packets_per_ack(options),
            },
            packet_bytes: f64::from(packet),
            delayed: DelayedAcks {
                packets: flows::packets_waited_for(options),
                timeout_s: options.delayed_ack_timeout.as_secs_lossy(),
            },
        }))
    }

    fn solve(problem: &Problem) -> Result<Solution, ModelError> {
        let equations = problem.equations()?;
        let solution = equations.solve()?;
        let oscillation = equations.window_oscillation()?;
        let oscillates = oscillation.warning(&solution, &problem.base_rtts_s);
        let warnings =
            solution.warnings.iter().chain(oscillates).map(|warning| warning.to_string());
        let flow = |(id, flow): (u32, model::FlowPoint)| Flow {
            id,
            throughput_bps: flow.throughput_bps,
            rtt_s: flow.rtt_s,
            loss: flow.loss,
        };
        Ok(Solution {
            domain: solution.domain.label(problem.link.regimes.len()),
            throughput_bps: solution.throughput_bps(),
            queue_packets: solution.queue_packets(),
            alpha: solution.alpha,
            average_throughput_bps: oscillation.throughput_bps,
            average_queue_packets: oscillation.queue_packets,
            average_queueing_delay_s: oscillation.delay_s,
            max_window_packets: problem.tcp.max_window_packets,
            flows: (0..).zip(solution.flows(&problem.base_rtts_s)).map(flow).collect(),
            warnings: warnings
                .chain(problem.waiting_acks(&solution)?)
                .chain(problem.link.warnings.iter().cloned())
                .collect(),
        })
    }
}

/// Returns the link of the ACK path, if the scenario describes one.
fn ack_link(scenario: &DumbbellScenario) -> Option<&Value> {
    match &scenario.ack_path {
        AckPath::Ideal {} => None,
        AckPath::Link { link, .. } => Some(link),
        AckPath::Reverse { link, .. } => link.as_ref(),
    }
}

impl QueueCurve {
    fn drop_probability(&self, x: f64) -> f64 {
        match self {
            QueueCurve::Gred(config) => gred_drop_probability(x, config),
            QueueCurve::DropTail { packets } => f64::from(u8::from(x >= *packets)),
        }
    }

    /// Returns the smallest queue length at which all packets are dropped.
    fn full(&self) -> f64 {
        match self {
            QueueCurve::Gred(config) => 2.0 * config.max_th,
            QueueCurve::DropTail { packets } => *packets,
        }
    }
}

impl Problem {
    fn equations(&self) -> Result<model::Problem<'_, impl Fn(f64) -> f64>, ModelError> {
        self.equations_with(&self.base_rtts_s)
    }

    fn equations_with<'a>(
        &'a self,
        base_rtts_s: &'a [f64],
    ) -> Result<model::Problem<'a, impl Fn(f64) -> f64>, ModelError> {
        Ok(model::Problem {
            link: MultiRegimeLink::new(&self.link.thresholds, &self.link.regimes)?,
            base_rtts_s,
            drop: DropCurve {
                probability: |x| self.queue.drop_probability(x),
                x_max: self.queue.full(),
            },
            tcp: self.tcp,
            packet_bytes: self.packet_bytes,
        })
    }

    /// Returns a warning if the delay of ACKs reduces the throughput significantly. A delayed ACK
    /// waits until further packets have been transmitted over the link. The model neglects this
    /// time.
    fn waiting_acks(&self, solution: &model::Solution) -> Result<Option<String>, ModelError> {
        let packet_s = 8.0 * self.packet_bytes / solution.point.service.rate_bps;
        let wait_s = (self.delayed.packets * packet_s).min(self.delayed.timeout_s);
        let rtts_s: Vec<f64> = self.base_rtts_s.iter().map(|rtt| rtt + wait_s).collect();
        let waited = self.equations_with(&rtts_s)?.solve()?;
        let throughput = Change { of: solution.throughput_bps(), to: waited.throughput_bps() };
        let text = format!(
            "ACKs wait {:.3} ms for the next packets to come over the link: with that in each round \
             trip the throughput is about {:.3} Mbit/s ({throughput} from the fixed point); simulate",
            wait_s * 1e3,
            throughput.to / 1e6,
        );
        Ok((throughput.share() < -WAIT_THAT_MATTERS).then_some(text))
    }
}
