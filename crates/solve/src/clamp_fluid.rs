//! Solves scenarios with CLAMP flows over a fixed link by the fluid model of `airpath-model`.
//!
//! The model makes the same requirements on the path outside the bottleneck as the fixed point.
//! Windows in this module are payload bytes, like advertised windows. Windows in `airpath-model`
//! are bytes of IP packets.

use crate::dumbbell::DumbbellScenario;
use crate::error::SolveError;
use crate::fixed_point::{access_path::AccessPath, link};
use crate::model::{Model, document, problem_of};
use crate::preconditions::{
    no_changes, no_errors, no_repetitions, other_kind, rate_of_packets_bps,
};
use crate::reasons::{Problem as Wrong, Reason, Reasons};
use airpath_aqm::{ClampConfig, DropTailConfig, Limit};
use airpath_core::{Bytes, ConfigError, registry};
use airpath_link::{Files, FixedConfig};
use airpath_model::clamp_fluid::{Life, QueueAverage, Trajectory, shares_are_stable_above};
use airpath_model::{ClampFluid, ModelError, Regime};
use airpath_path::{AckPath, Direction, FlowSpec, Scenario, SourceSpec, StartSpec};
use airpath_tcp::TcpConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Packet size that is used to check the link if the model does not cover the flows, bytes.
const ANY_PACKET: u32 = 1500;
/// Maximum number of points of a trajectory.
const MOST_POINTS: f64 = 2000.0;

/// The CLAMP fluid model.
pub struct ClampFlows;

/// A scenario in the model's terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    fluid: ClampFluid,
    /// Size of an IP packet, bytes.
    packet: f64,
    mss: f64,
    /// α of Eq. 15: number of packets over which a receiver averages its rate.
    average_packets: f64,
    /// Start and stop time of each flow, s.
    lives: Vec<(f64, f64)>,
    duration_s: f64,
    /// Time constant of the queue's average, s.
    time_constant_s: f64,
    /// Limit of the queue, bytes.
    limit: f64,
}

/// The steady state of the queue and of the flows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// Rate of the IP packets that reach the receivers, bit/s.
    pub throughput_bps: f64,
    /// q*: bytes of the IP packets that wait or are in service.
    pub queue_bytes: f64,
    /// Queueing delay q*/μ_c, s.
    pub queue_delay_s: f64,
    /// Price p, s.
    pub price_s: f64,
    /// Stability of the equilibrium.
    pub stability: Stability,
    /// Results by flow.
    pub flows: Vec<Flow>,
    /// Warnings to check before trusting the result.
    pub warnings: Vec<String>,
}

/// Conditions of stability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// Parameter b of the price.
    pub b: f64,
    /// Value of b below which the closed model is stable; `None` if it is stable up to 64.
    pub limit: Option<f64>,
    /// Value of b below which the model with constant rate shares is stable.
    pub limit_constant_shares: Option<f64>,
    /// Value of b below which the closed model is stable with two details of the protocol: the
    /// price is computed from the averaged queue, and the gain uses the complete round-trip time.
    pub limit_average: Option<f64>,
    /// Advertised window above which the rate shares are stable, bytes.
    pub smallest_window_bytes: f64,
}

/// Results of one flow in the steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Flow number, from 0.
    pub id: u32,
    /// Rate of the IP packets that reach the receiver, bit/s.
    pub throughput_bps: f64,
    /// RTT with queueing and transmission, s.
    pub rtt_s: f64,
    /// Window that the receiver advertises, bytes of payload.
    pub window_bytes: f64,
}

/// Trajectory of the queue and the flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Course {
    /// Sample times, s.
    pub time_s: Vec<f64>,
    /// Bytes of the IP packets that wait or are in service.
    pub queue_bytes: Vec<f64>,
    /// Price p, s.
    pub price_s: Vec<f64>,
    /// Results by flow.
    pub flows: Vec<FlowCourse>,
}

/// Trajectory of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowCourse {
    /// Flow number, from 0.
    pub id: u32,
    /// Rate of the IP packets that leave the queue, bit/s.
    pub throughput_bps: Vec<f64>,
    /// Window that the receiver advertises, bytes of payload; 0 while the flow is inactive.
    pub window_bytes: Vec<f64>,
}

/// Parameters of the receive-window policy or the congestion control algorithm that the model uses.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Law {
    tau_bytes: u64,
    average_packets: u64,
}

/// A connection in the model's terms.
struct Connection<'a> {
    options: &'a TcpConfig,
    law: Law,
    life: (f64, f64),
}

impl Model for ClampFlows {
    const NAME: &'static str = "clamp-fluid";
    const SUMMARY: &'static str = "Long-lived flows whose windows obey CLAMP's price, over a fixed \
                                   link: fluid model and stability.";
    type Problem = Problem;
    type Solution = Solution;

    fn covers_dumbbell(scenario: &DumbbellScenario, files: &Files) -> Result<Problem, Reasons> {
        let mut reasons = Reasons::default();
        reasons.keep(no_changes(scenario));
        let under = |hop: &'static str| move |reason: Reason| reason.under("link").under(hop);
        let bottleneck = &scenario.bottleneck;
        reasons.keep(no_errors(&bottleneck.link).map_err(under("bottleneck")));
        reasons.keep(no_repetitions(&bottleneck.link).map_err(under("bottleneck")));
        if let AckPath::Link { link, .. } | AckPath::Reverse { link: Some(link), .. } =
            &scenario.ack_path
        {
            reasons.keep(no_errors(link).map_err(under("ack_path")));
            reasons.keep(no_repetitions(link).map_err(under("ack_path")));
        }
        let flows = connections(scenario, &mut reasons);
        let first = flows.first();
        let packet =
            first.map_or(ANY_PACKET, |flow| flow.options.mss + flow.options.whole_header());
        let rate_bps =
            rate_bps(&bottleneck.link, Bytes(packet.into())).map_err(under("bottleneck"));
        let rate_bps = reasons.keep(rate_bps);
        let queue = queue(&bottleneck.queue, f64::from(packet));
        let queue = reasons.keep(queue.map_err(|reason| reason.under("aqm").under("bottleneck")));
        let (Some(first), Some(rate_bps), Some(queue)) = (first, rate_bps, queue) else {
            return reasons.or(None);
        };
        let of_acks = |description: &Value, ack: Bytes| {
            link::link(description, files, ack).map(|found| found.regimes[0])
        };
        let way = AccessPath::new(first.options, &[Regime { rate_bps, per: 0.0 }]);
        let problem = Problem {
            fluid: ClampFluid {
                rate: rate_bps / 8.0,
                a: queue.a,
                b: queue.b,
                tau: first.law.tau_bytes as f64,
                delays_s: way.base_rtts_s(scenario, of_acks, &mut reasons),
            },
            packet: f64::from(packet),
            mss: f64::from(first.options.mss),
            average_packets: first.law.average_packets as f64,
            lives: flows.iter().map(|flow| flow.life).collect(),
            duration_s: scenario.duration_ns as f64 * 1e-9,
            time_constant_s: queue.time_constant_s,
            limit: queue.limit,
        };
        problem.fit(scenario, &flows, &mut reasons);
        reasons.or(Some(problem))
    }

    fn solve(problem: &Problem) -> Result<Solution, ModelError> {
        let Problem { fluid, packet, average_packets, .. } = problem;
        let rest = fluid.equilibrium()?;
        let limit = fluid.limit()?;
        let average = QueueAverage {
            time_constant_s: problem.time_constant_s,
            delay_share: problem.mss / packet,
        };
        let stability = Stability {
            b: fluid.b,
            limit: limit.closed,
            limit_constant_shares: limit.constant_shares,
            limit_average: fluid.limit_with_average(average)?,
            smallest_window_bytes: shares_are_stable_above(fluid.tau, *average_packets, *packet),
        };
        let flow = |(id, delay_s): (u32, &f64)| Flow {
            id,
            throughput_bps: 8.0 * rest.flow_rate,
            rtt_s: rest.rtt_s(*delay_s),
            window_bytes: problem.payload(rest.window(*delay_s)),
        };
        let flows: Vec<Flow> = (0..).zip(&fluid.delays_s).map(flow).collect();
        Ok(Solution {
            throughput_bps: 8.0 * fluid.rate,
            queue_bytes: rest.queue,
            queue_delay_s: rest.queue_delay_s,
            price_s: rest.price_s,
            stability,
            warnings: problem.warnings(&stability, &flows, rest.queue),
            flows,
        })
    }
}

/// Solves the scenario as [`crate::solve`] does, and adds a [`Course`] up to `until_s` under
/// `trajectory`. In the trajectory, the flows start and stop as in the scenario. Each starts with a
/// window of one segment.
///
/// # Errors
/// Fails if the model does not cover the scenario, or if the trajectory has too many steps.
pub fn solve_with_trajectory(
    scenario: &Scenario,
    files: &Files,
    until_s: f64,
) -> Result<Value, SolveError> {
    let problem = problem_of::<ClampFlows>(scenario, files)?;
    let mut json = document::<ClampFlows>(&ClampFlows::solve(&problem)?);
    let course = problem.course(until_s)?;
    json["trajectory"] = serde_json::to_value(&course).expect("trajectories are numbers");
    Ok(json)
}

impl Problem {
    /// Converts bytes of IP packets to bytes of payload.
    fn payload(&self, bytes: f64) -> f64 {
        bytes * self.mss / self.packet
    }

    /// Rejects receive windows that are smaller than the equilibrium windows.
    fn fit(&self, scenario: &Scenario, flows: &[Connection<'_>], reasons: &mut Reasons) {
        let Ok(rest) = self.fluid.equilibrium() else { return };
        let each = scenario.flows.iter().zip(flows).zip(&self.fluid.delays_s);
        for (number, ((spec, flow), delay_s)) in each.enumerate() {
            let window = self.payload(rest.window(*delay_s));
            let largest = flow.options.largest_window();
            if (largest as f64) < window {
                let covered = format!("at least {window:.0} B, the window in equilibrium");
                let value = format!("{largest} B");
                let refused = Reason::not_covered("tcp.receive_window", value, covered);
                reasons.keep_of_flow::<()>((number, spec.group), Err(refused));
            }
        }
    }

    fn warnings(&self, stability: &Stability, flows: &[Flow], queue: f64) -> Vec<String> {
        let mut found = Vec::new();
        let b = stability.b;
        if let Some(limit) = stability.limit.filter(|limit| *limit <= b) {
            found.push(format!(
                "not stable: b = {b} is not below {limit:.3}; queue and windows oscillate"
            ));
        } else if let Some(limit) = stability.limit_average.filter(|limit| *limit <= b) {
            found.push(format!(
                "not stable with an average of the queue over {} s: b = {b} is not below \
                 {limit:.3}; a larger a damps it",
                self.time_constant_s
            ));
        }
        let smallest = stability.smallest_window_bytes;
        let small = flows.iter().filter(|flow| flow.window_bytes <= smallest).count();
        if small > 0 {
            let rate = self.fluid.rate / flows.len() as f64;
            let period_s = 2.0 * self.average_packets * self.packet / rate;
            found.push(format!(
                "the shares of {small} flows are not stable: windows of at most {smallest:.0} B \
                 oscillate with a period of {period_s:.3} s, twice what the received rate is averaged \
                 over"
            ));
        }
        if queue > self.limit {
            found.push(format!(
                "the queue of {queue:.0} B does not fit into {:.0} B: packets are dropped",
                self.limit
            ));
        }
        if self.lives.iter().any(|(start_s, stop_s)| *start_s > 0.0 || *stop_s < self.duration_s) {
            found.push(
                "flows come and go: this is the steady state with all of them; see the trajectory"
                    .to_owned(),
            );
        }
        found
    }

    fn course(&self, until_s: f64) -> Result<Course, ModelError> {
        let life = |(start_s, stop_s): &(f64, f64)| Life {
            start_s: *start_s,
            stop_s: *stop_s,
            window: self.packet,
        };
        let lives: Vec<Life> = self.lives.iter().map(life).collect();
        let mut now = Trajectory::new(&self.fluid, &lives, until_s)?;
        let flow = |id| FlowCourse { id, ..FlowCourse::default() };
        let flows = (0..lives.len() as u32).map(flow).collect();
        let mut course = Course { flows, ..Course::default() };
        let gap = (until_s / now.step_s() / MOST_POINTS).ceil().max(1.0) as usize;
        let steps = (until_s / now.step_s()).floor() as usize;
        for step in 0..=steps {
            if step % gap == 0 {
                self.note(&now, &mut course);
            }
            now.advance();
        }
        Ok(course)
    }

    fn note(&self, now: &Trajectory<'_>, course: &mut Course) {
        course.time_s.push(now.now_s());
        course.queue_bytes.push(now.queue());
        course.price_s.push(now.price_s());
        for (number, flow) in course.flows.iter_mut().enumerate() {
            flow.throughput_bps.push(8.0 * now.flow_rate(number));
            flow.window_bytes.push(self.payload(now.window(number)));
        }
    }
}

/// Returns the flows that the model covers. Adds a reason for each other flow.
fn connections<'a>(scenario: &'a Scenario, reasons: &mut Reasons) -> Vec<Connection<'a>> {
    let mut found: Vec<Connection<'a>> = Vec::new();
    for (number, flow) in scenario.flows.iter().enumerate() {
        let covered = connection(flow).and_then(|connection| {
            let differs = found.first().and_then(|first| difference(first, &connection));
            match differs {
                Some((field, value)) => {
                    Err(Reason::not_covered(field, value, "the same for all flows"))
                }
                None => Ok(connection),
            }
        });
        found.extend(reasons.keep_of_flow((number, flow.group), covered));
    }
    found
}

/// Returns the first parameter of the model in which a flow differs from the first flow, with its
/// value.
fn difference(first: &Connection<'_>, other: &Connection<'_>) -> Option<(&'static str, String)> {
    let seen = |flow: &Connection<'_>| {
        [
            ("tcp.mss", u64::from(flow.options.mss), " B"),
            ("tcp.header", u64::from(flow.options.whole_header()), " B"),
            ("window.tau", flow.law.tau_bytes, " B"),
            ("window.average_packets", flow.law.average_packets, ""),
        ]
    };
    let mut pairs = seen(first).into_iter().zip(seen(other));
    let (_, (field, value, unit)) = pairs.find(|(one, two)| one.1 != two.1)?;
    Some((field, format!("{value}{unit}")))
}

/// Reads a connection with unlimited data and a CLAMP window.
fn connection(flow: &FlowSpec) -> Result<Connection<'_>, Reason> {
    let no =
        |field: &str, value: &str, covered: &str| Err(Reason::not_covered(field, value, covered));
    let spec = match &flow.source {
        SourceSpec::Tcp(spec) => &**spec,
        SourceSpec::Cbr { .. } => return Err(Reason::other_traffic("cbr", "tcp")),
        SourceSpec::Poisson { .. } => return Err(Reason::other_traffic("poisson", "tcp")),
        SourceSpec::Voice(_) => return Err(Reason::other_traffic("voice", "tcp")),
    };
    let law = law(spec.window.as_ref(), &spec.congestion, &spec.options)?;
    if spec.transfer_bytes.is_some() || spec.transfer.is_some() {
        return no("size", "a transfer", "flows of unlimited data");
    }
    if spec.application.is_some() {
        return no("on_off", "bursts and pauses", "flows of unlimited data");
    }
    if spec.video.is_some() {
        return no("video", "a video client", "flows of unlimited data");
    }
    if spec.requests.is_some() {
        return no("requests", "a client", "flows of unlimited data");
    }
    if flow.direction == Direction::Reverse {
        let covered = "flows whose data takes the bottleneck, direction = forward";
        return no("direction", "reverse", covered);
    }
    let start_ns = match flow.start {
        StartSpec::At { time_ns } => time_ns,
        StartSpec::Uniform { .. } => return no("start", "a drawn time", "a given time"),
        StartSpec::Poisson { .. } => return no("arrivals", "poisson", "flows that are there"),
    };
    let stop_s = flow.stop_ns.map_or(f64::INFINITY, |stop_ns| stop_ns as f64 * 1e-9);
    Ok(Connection { options: &spec.options, law, life: (start_ns as f64 * 1e-9, stop_s) })
}

/// Reads τ and α of CLAMP from the receive-window policy or from the congestion control algorithm.
/// The sender's α counts ACKs, and each ACK covers several packets.
fn law(window: Option<&Value>, congestion: &Value, options: &TcpConfig) -> Result<Law, Reason> {
    for description in window.into_iter().chain([congestion]) {
        let (kind, parameters) = registry::split_kind(description)?;
        if kind == "clamp" {
            let read = Law::deserialize(parameters);
            let error = |error: serde_json::Error| {
                Reason::from(ConfigError::new("window", "clamp", error.to_string()))
            };
            let mut law = read.map_err(error)?;
            if std::ptr::eq(description, congestion) {
                law.average_packets *= u64::from(options.delayed_ack_segments);
            }
            return Ok(law);
        }
    }
    let kind = window.map_or(Ok("fixed".to_owned()), |window| {
        registry::split_kind(window).map(|(kind, _)| kind)
    })?;
    let problem = Wrong::OtherTraffic("clamp".to_owned());
    Err(Reason { field: "window".to_owned(), value: kind, problem })
}

/// Returns μ_c of a fixed link without loss, bit/s of IP packets.
fn rate_bps(link: &Value, packet: Bytes) -> Result<f64, Reason> {
    let (kind, parameters) = registry::split_kind(link)?;
    if kind != "fixed" {
        return Err(other_kind(&kind, "fixed"));
    }
    let config: FixedConfig = registry::read_config(&parameters)?;
    if config.loss > 0.0 {
        return Err(Reason::not_covered("loss", config.loss, "a link that loses nothing"));
    }
    Ok(rate_of_packets_bps(config.rate_bps, config.framing, packet)?)
}

/// Parameters of the queue that the model uses.
struct Queue {
    a: f64,
    b: f64,
    time_constant_s: f64,
    limit: f64,
}

/// Reads a, b, the time constant and the limit of the inner queue.
fn queue(queue: &Value, packet: f64) -> Result<Queue, Reason> {
    let (kind, parameters) = registry::split_kind(queue)?;
    if kind != "clamp" {
        return Err(Reason::not_covered("kind", kind, "clamp"));
    }
    let config: ClampConfig = registry::read_config(&parameters)?;
    let Some(a) = config.a_bytes else {
        let covered = "a, which stays as it is";
        return Err(Reason::not_covered("target_delay", "a time", covered));
    };
    let (inner, parameters) = registry::split_kind(&config.inner)?;
    if inner != "droptail" {
        return Err(Reason::not_covered("inner.kind", inner, "droptail"));
    }
    let inner: DropTailConfig = registry::read_config(&parameters)?;
    let limit = match inner.limit {
        Limit::Packets(packets) => packets as f64 * packet,
        Limit::Bytes(bytes) => bytes as f64,
    };
    let time_constant_s = config.time_constant_ns as f64 * 1e-9;
    Ok(Queue { a: a as f64, b: config.b, time_constant_s, limit })
}
