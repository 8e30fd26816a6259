//! Solves scenarios with a download over a TDD link whose station requests uplink bandwidth for its
//! ACKs, by the stage model of wimax-2009 §3.
//!
//! ```text
//!   connection     the flow: size, windows, ACKs
//!   terms          the link: R, RTT_min, T_ct, T_pb, p_e
//!   request_delay  the delay of requests, by procedure
//!   delays         mean waits in frames
//!   (here)         the preconditions, both methods and Eq. 9, warnings
//! ```

mod connection;
mod delays;
mod request_delay;
mod terms;

pub use terms::{BaseRtt, Terms};

use crate::dumbbell::DumbbellScenario;
use crate::fixed_point::access_path::AccessPath;
use crate::model::Model;
use crate::preconditions::no_changes;
use crate::reasons::{Reason, Reasons};
use airpath_aqm::{DropTailConfig, Limit};
use airpath_core::{ConfigError, registry};
use airpath_link::Files;
use airpath_model::rtt_stages::{self as stages, Outcome, Queue, Ssthresh};
use airpath_model::{ModelError, Regime, square_root_bps};
use airpath_path::AckPath;
use connection::{Download, download};
use serde::Serialize;
use serde_json::Value;
use terms::{Link, egress_s};

/// Step of the grid, packets.
const STEP: f64 = 0.5;
/// Maximum number of simulated downloads, maximum number of packets that they send in total, and
/// minimum number of downloads. The number is reduced for large downloads.
const SAMPLES: f64 = 10_000.0;
const DRAWN_PACKETS: f64 = 5e7;
const FEWEST_SAMPLES: f64 = 10.0;
/// Loss probability above which a warning is given. Above it, the model overestimates the
/// throughput by 10 % or more, because it has no loss recovery and no timeouts.
const LARGEST_LOSS: f64 = 0.0075;
/// A warning is given if a neglected part of the connection's start takes more than this share of
/// the completion time.
const LARGEST_START: f64 = 0.05;

/// The model of round-trip stages.
pub struct RttStages;

/// A scenario in the model's terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    download: stages::Problem,
    terms: Terms,
    /// Ratio of IP packet size to payload.
    packet_share: f64,
    start: Start,
    warnings: Vec<String>,
}

/// Properties of the connection's start, which the model neglects.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    /// True if there is a handshake.
    handshake: bool,
    /// Initial window, packets; the model starts with one packet.
    window: f64,
}

/// Performance of the download.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// Size in bytes of IP packets divided by completion time, bit/s. Result of the grid method, or
    /// of the Monte Carlo method if the grid method does not apply.
    pub throughput_bps: f64,
    /// Throughput in payload, bit/s.
    pub goodput_bps: f64,
    /// Terms R, RTT_min, T_ct, T_pb and p_e.
    #[serde(flatten)]
    pub terms: Terms,
    /// The flow in terms of the model.
    pub download: DownloadTerms,
    /// Result of the grid method; `None` if it does not apply.
    pub grid: Option<Method>,
    /// Result of the Monte Carlo method.
    pub monte_carlo: Method,
    /// Results of Eq. 9.
    pub square_root: SquareRoot,
    /// Results of the only flow.
    pub flows: Vec<Flow>,
    /// Warnings to check before trusting the result.
    pub warnings: Vec<String>,
}

/// The flow in terms of the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DownloadTerms {
    /// L: size of the transfer, bytes.
    pub size_bytes: f64,
    /// Maximum segment size, bytes.
    pub mss_bytes: f64,
    /// b: packets per ACK.
    pub packets_per_ack: f64,
    /// Initial W_th (slow start threshold), packets.
    pub initial_ssthresh_packets: f64,
    /// W_max: maximum window, packets.
    pub max_window_packets: f64,
}

/// Result of a method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Method {
    /// Mean over the downloads of the throughput by Eq. 8, bit/s of payload including
    /// retransmissions.
    pub throughput_bps: f64,
    /// Throughput by Eq. 8 with numerator and denominator summed over all downloads, bit/s.
    pub ratio_of_sums_bps: f64,
    /// Size divided by completion time, bit/s of payload.
    pub goodput_bps: f64,
    /// Mean number of stages.
    pub stages: f64,
    /// Share of stages that start with a contention.
    pub contention_share: f64,
    /// Error of `throughput_bps`, bit/s: discretization error of the grid, or standard error.
    pub error_bps: f64,
}

/// Results of Eq. 9, bit/s of payload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SquareRoot {
    /// Throughput with RTT_min and T_ct (TCP model1), bit/s.
    pub contention_bps: f64,
    /// Throughput with RTT_min and T_pb (TCP model2), bit/s.
    pub piggyback_bps: f64,
}

/// Results of the download.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Flow number, 0.
    pub id: u32,
    /// Size over completion time in IP packets, bit/s.
    pub throughput_bps: f64,
    /// Throughput in payload, bit/s.
    pub goodput_bps: f64,
    /// Completion time: size divided by goodput, s.
    pub completion_s: f64,
    /// Probability that a packet is lost, in [0, 1].
    pub loss: f64,
}

const LINK: &str = "ofdma-tdd";

impl Model for RttStages {
    const NAME: &'static str = "rtt-stages";
    const SUMMARY: &'static str = "A download over a TDD link whose station requests uplink bandwidth for its \
                                   ACKs: stages of a round trip.";
    const OWN_LINK: Option<&'static str> = Some(LINK);
    type Problem = Problem;
    type Solution = Solution;

    fn covers_dumbbell(scenario: &DumbbellScenario, files: &Files) -> Result<Problem, Reasons> {
        let description = &scenario.bottleneck.link;
        let under_link = |reason: Reason| reason.under("link").under("bottleneck");
        let kind = registry::kind_of(description).map_err(|error| under_link(error.into()))?;
        if kind != LINK {
            return Err(under_link(Reason::other_link(kind, LINK)).into());
        }
        let mut reasons = Reasons::default();
        reasons.keep(no_changes(scenario));
        let flows = scenario.flows.len();
        if flows != 1 {
            reasons.keep::<()>(Err(Reason::not_covered("flows", flows, "one flow")));
        }
        let first = scenario.flows.iter().next();
        let flow = first.and_then(|first| reasons.keep_of_flow((0, first.group), download(first)));
        let link = Link::read(description, files, &mut reasons);
        let alone = match (&link, &flow) {
            (Some(link), Some(flow)) => reasons.keep(link.alone(flow).map_err(under_link)),
            _ => None,
        };
        let (Some(flow), Some(link), Some(alone)) = (flow, link, alone) else {
            return reasons.or(None);
        };
        queues(scenario, &flow, &mut reasons);
        let packet = f64::from(flow.options.mss + flow.options.whole_header());
        let ack = f64::from(flow.options.whole_header());
        let frame_s = alone.clock.frame().as_secs_lossy();
        let rate_bps = 8.0 * packet * alone.packets_per_frame[0] / frame_s;
        let way = AccessPath::new(flow.options, &[Regime { rate_bps, per: 0.0 }]);
        let no_uplink = |_: &Value, _| Ok(Regime { rate_bps: f64::INFINITY, per: 0.0 });
        let wires_s = way.base_rtts_s(scenario, no_uplink, &mut reasons);
        let wires = (wires_s.first().copied().unwrap_or_default(), egress_s(scenario, packet, ack));
        let terms = reasons.keep(link.terms(&flow, &alone, wires).map_err(under_link));
        let problem = terms.map(|terms| Problem {
            download: of_stages(&flow, &terms),
            packet_share: packet / f64::from(flow.options.mss),
            start: Start {
                handshake: flow.options.handshake,
                window: flow.options.initial_window as f64 / f64::from(flow.options.mss),
            },
            warnings: warnings(&link, &terms),
            terms,
        });
        reasons.or(problem)
    }

    fn solve(problem: &Problem) -> Result<Solution, ModelError> {
        let Problem { download, terms, .. } = problem;
        let mut warnings = problem.warnings.clone();
        let grid = match download.grid(STEP) {
            Ok(found) => Some(Method::from(found)),
            Err(refused) => {
                warnings.push(format!("by Monte-Carlo alone, for the grid refuses {refused}"));
                None
            }
        };
        let packets = download.size_bytes / download.mss_bytes;
        let samples = (DRAWN_PACKETS / packets).clamp(FEWEST_SAMPLES, SAMPLES);
        let samples = if download.loss > 0.0 { samples } else { 1.0 };
        let monte_carlo = Method::from(download.monte_carlo(samples as u64, 1)?);
        let of_eq9 = |request_s: f64| {
            square_root_bps(
                download.mss_bytes,
                terms.base_rtt_s + request_s,
                terms.loss,
                download.max_window_packets,
                download.packets_per_ack,
            )
        };
        let square_root = SquareRoot {
            contention_bps: of_eq9(terms.contention_s)?,
            piggyback_bps: of_eq9(terms.piggyback_s)?,
        };
        let goodput_bps = grid.unwrap_or(monte_carlo).goodput_bps;
        let throughput_bps = problem.packet_share * goodput_bps;
        let completion_s = 8.0 * download.size_bytes / goodput_bps;
        warnings.extend(problem.start_matters(completion_s));
        let flow = Flow { id: 0, throughput_bps, goodput_bps, completion_s, loss: terms.loss };
        Ok(Solution {
            throughput_bps,
            goodput_bps,
            terms: *terms,
            download: DownloadTerms {
                size_bytes: download.size_bytes,
                mss_bytes: download.mss_bytes,
                packets_per_ack: download.packets_per_ack,
                initial_ssthresh_packets: download.initial_ssthresh_packets,
                max_window_packets: download.max_window_packets,
            },
            grid,
            monte_carlo,
            square_root,
            flows: vec![flow],
            warnings,
        })
    }
}

impl Problem {
    /// Returns the terms of the link in the model.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns a warning for each neglected part of the start that takes a large share of the
    /// completion time.
    fn start_matters(&self, completion_s: f64) -> Vec<String> {
        let rtt_s = self.terms.base_rtt_s + self.terms.contention_s;
        let is_much = |time_s: f64| time_s > LARGEST_START * completion_s;
        let mut found = Vec::new();
        if self.start.handshake && is_much(rtt_s) {
            found.push(format!("the handshake, some {rtt_s:.3} s, is no part of the time"));
        }
        // A real sender sends its initial window immediately. In the model, the window reaches this
        // size by doubling.
        let window = self.start.window.min(self.download.initial_ssthresh_packets);
        let spared = self.download.packets_per_ack * window.max(1.0).log2();
        if is_much(spared * rtt_s) {
            found.push(format!(
                "the first window of {:.0} packets: the model begins with one, up to {:.3} s later",
                self.start.window,
                spared * rtt_s
            ));
        }
        found
    }
}

impl From<Outcome> for Method {
    fn from(found: Outcome) -> Method {
        Method {
            throughput_bps: found.throughput_bps,
            ratio_of_sums_bps: found.ratio_of_sums_bps,
            goodput_bps: found.goodput_bps,
            stages: found.stages,
            contention_share: found.contention_share,
            error_bps: found.error_bps,
        }
    }
}

/// Builds the problem of `airpath-model`. W_th is updated as in TCP, and the queue drains.
fn of_stages(flow: &Download<'_>, terms: &Terms) -> stages::Problem {
    stages::Problem {
        size_bytes: flow.size as f64,
        mss_bytes: f64::from(flow.options.mss),
        rate_bps: terms.rate_bps,
        base_rtt_s: terms.base_rtt_s,
        contention_s: terms.contention_s,
        piggyback_s: terms.piggyback_s,
        loss: terms.loss,
        packets_per_ack: flow.packets_per_ack,
        initial_ssthresh_packets: flow.ssthresh,
        max_window_packets: flow.window,
        ssthresh: Ssthresh::Updated,
        queue: Queue::Draining,
    }
}

fn warnings(link: &Link, terms: &Terms) -> Vec<String> {
    let mut found = link.warnings(terms);
    if terms.loss > LARGEST_LOSS {
        found.push(format!(
            "a loss of {:.3}: the model has no time-outs and no recovery, and is too large by a \
             tenth and more",
            terms.loss
        ));
    }
    found
}

/// Checks that the queues never drop packets, and that ACKs use the reverse direction of the
/// bottleneck.
fn queues(scenario: &DumbbellScenario, flow: &Download<'_>, reasons: &mut Reasons) {
    let packet = f64::from(flow.options.mss + flow.options.whole_header());
    let down = check_limit(&scenario.bottleneck.queue, flow.window, packet);
    reasons.keep(down.map_err(|reason| reason.under("aqm").under("bottleneck")));
    let under = |reason: Reason| reason.under("ack_path");
    match &scenario.ack_path {
        AckPath::Reverse { link: None, queue, .. } => {
            let acks = (flow.window / f64::from(flow.options.delayed_ack_segments)).ceil();
            let up = check_limit(queue, acks, f64::from(flow.options.whole_header()));
            reasons.keep(up.map_err(|reason| under(reason.under("aqm"))));
        }
        AckPath::Reverse { link: Some(link), .. } => {
            let kind = registry::kind_of(link).unwrap_or("separate").to_owned();
            let other = Reason::not_covered("link", kind, "the other direction of the bottleneck");
            reasons.keep::<()>(Err(under(other)));
        }
        AckPath::Ideal {} => {
            reasons.keep::<()>(Err(under(Reason::not_covered("kind", "ideal", "reverse"))));
        }
        AckPath::Link { .. } => {
            reasons.keep::<()>(Err(under(Reason::not_covered("kind", "link", "reverse"))));
        }
    }
}

/// Checks that a drop-tail queue can hold a window of `packets` packets of `bytes` bytes.
fn check_limit(queue: &Value, packets: f64, bytes: f64) -> Result<(), Reason> {
    let (kind, parameters) = registry::split_kind(queue)?;
    if kind != "droptail" {
        return Err(Reason::not_covered("kind", kind, "droptail"));
    }
    let read: Result<DropTailConfig, ConfigError> = registry::read_config(&parameters);
    let (found, unit, wanted) = match read?.limit {
        Limit::Packets(limit) => (limit as f64, "packets", packets),
        Limit::Bytes(limit) => (limit as f64, "B", packets * bytes),
    };
    if found >= wanted {
        return Ok(());
    }
    let covered = format!("at least {wanted:.0} {unit}, the largest window");
    Err(Reason::not_covered("limit", format!("{found:.0} {unit}"), covered))
}
