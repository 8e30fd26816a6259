//! The analytic model that matches a scenario.

use crate::errors;
use airpath_aqm::{DropTailConfig, GredConfig, Limit, gred_drop_probability};
use airpath_core::{ConfigError, registry};
use airpath_link::{FixedConfig, MultiRegimeConfig};
use airpath_model::{DropCurve, MultiRegimeLink, Problem, Regime, Tcp};
use airpath_path::{AckPath, FlowSpec, Scenario, SourceSpec, StartSpec, TcpSpec};
use airpath_tcp::{EcnUse, RtoFloor, TcpOptions};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The steady state of a resolved scenario as JSON; raises `ValueError` when no model matches.
#[pyfunction]
pub(crate) fn solve(scenario_json: &str) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
    let matched = Matched::from_scenario(&scenario).map_err(errors::config)?;
    let link =
        MultiRegimeLink::new(&matched.thresholds, &matched.regimes).map_err(errors::model)?;
    let problem = Problem {
        link,
        base_rtts_s: &matched.base_rtts_s,
        drop: DropCurve {
            probability: |x| matched.queue.drop_probability(x),
            x_max: matched.queue.full(),
        },
        tcp: matched.tcp,
        packet_bytes: matched.packet_bytes,
    };
    let solution = problem.solve().map_err(errors::model)?;
    let flows: Vec<Value> = (0..)
        .zip(solution.flows(&matched.base_rtts_s))
        .map(|(id, flow): (u32, _)| {
            json!({
                "id": id,
                "throughput_bps": flow.throughput_bps,
                "rtt_s": flow.rtt_s,
                "loss": flow.loss,
            })
        })
        .collect();
    let swings = problem.swings().map_err(errors::model)?;
    let warnings = solution.warnings.iter().chain(swings.warning(&solution));
    let warnings: Vec<String> = warnings.map(|w| w.to_string()).collect();
    Ok(json!({
        "model": "fixed-point",
        "domain": solution.domain.label(matched.regimes.len()).to_string(),
        "throughput_bps": solution.throughput_bps(),
        "queue_packets": solution.queue_packets(),
        "alpha": solution.alpha,
        "average_throughput_bps": swings.throughput_bps,
        "flows": flows,
        "warnings": warnings,
    })
    .to_string())
}

/// A scenario in the terms of the fixed-point model.
struct Matched {
    thresholds: Vec<f64>,
    regimes: Vec<Regime>,
    queue: QueueCurve,
    base_rtts_s: Vec<f64>,
    tcp: Tcp,
    packet_bytes: f64,
}

/// Drop probability of the queues that have one.
enum QueueCurve {
    Gred(GredConfig),
    DropTail { packets: f64 },
}

impl QueueCurve {
    fn drop_probability(&self, x: f64) -> f64 {
        match self {
            QueueCurve::Gred(config) => gred_drop_probability(x, config),
            QueueCurve::DropTail { packets } => f64::from(u8::from(x >= *packets)),
        }
    }

    fn full(&self) -> f64 {
        match self {
            QueueCurve::Gred(config) => 2.0 * config.max_th,
            QueueCurve::DropTail { packets } => *packets,
        }
    }
}

impl Matched {
    fn from_scenario(scenario: &Scenario) -> Result<Matched, ConfigError> {
        if !scenario.controls.is_empty() {
            return Err(no_model("control", "changes", "a link that does not change"));
        }
        refuse_channels(scenario)?;
        let bottleneck = &scenario.bottleneck;
        let (thresholds, regimes) =
            link(&bottleneck.link).map_err(|error| error.under("link").under("bottleneck"))?;
        let options = common_options(&scenario.flows)?;
        let packet_bytes = f64::from(options.mss + options.whole_header());
        let queue = queue(&bottleneck.queue, packet_bytes)
            .map_err(|error| error.under("aqm").under("bottleneck"))?;
        let shared_s = shared_delay_s(scenario) + backhaul_s(scenario, options, &regimes)?;
        let base_rtts_s = scenario.flows.iter().map(|flow| wired_s(flow) + shared_s).collect();
        let tcp = Tcp {
            max_window_packets: window_bytes(options) / packet_bytes,
            timeout_s: options.min_rto.as_secs_lossy(),
            packets_per_ack: f64::from(options.delayed_ack_segments),
        };
        Ok(Matched { thresholds, regimes, queue, base_rtts_s, tcp, packet_bytes })
    }
}

/// W, bytes, as the model counts it: a power of two where the field of 65 535 stands for one.
fn window_bytes(options: &TcpOptions) -> f64 {
    match options.receive_window {
        65_535 => 65_536.0,
        other => other as f64,
    }
}

fn no_model(field: &str, kind: &str, accepted: &str) -> ConfigError {
    let problem = format!("no analytic model covers it. Covered: {accepted}");
    ConfigError::new(field, kind, problem)
}

/// The model knows independent losses of the bottleneck alone.
fn refuse_channels(scenario: &Scenario) -> Result<(), ConfigError> {
    let acks = match &scenario.ack_path {
        AckPath::Ideal {} => None,
        AckPath::Link { link, .. } => Some(link),
        AckPath::Reverse { link, .. } => link.as_ref(),
    };
    let links = [("bottleneck", Some(&scenario.bottleneck.link)), ("ack_path", acks)];
    for (name, link) in links {
        if let Some(channel) = link.and_then(|link| link.get("channel")).filter(|c| !c.is_null()) {
            let (kind, _) = registry::split_kind(channel)?;
            let field = format!("{name}.link.channel.kind");
            return Err(no_model(&field, &kind, "links without a channel, with loss or per"));
        }
    }
    Ok(())
}

fn link(description: &Value) -> Result<(Vec<f64>, Vec<Regime>), ConfigError> {
    let (kind, parameters) = registry::split_kind(description)?;
    match kind.as_str() {
        "fixed" => {
            let config: FixedConfig = registry::read_config(&parameters)?;
            Ok((Vec::new(), vec![Regime { rate_bps: config.rate_bps as f64, per: config.loss }]))
        }
        "multi-regime" => {
            let config: MultiRegimeConfig = registry::read_config(&parameters)?;
            let regimes = config.regimes.iter();
            let regimes = regimes.map(|r| Regime { rate_bps: r.rate_bps as f64, per: r.per });
            Ok((config.thresholds.iter().map(|b| *b as f64).collect(), regimes.collect()))
        }
        other => Err(no_model("kind", other, "fixed, multi-regime")),
    }
}

fn queue(description: &Value, packet_bytes: f64) -> Result<QueueCurve, ConfigError> {
    let (kind, parameters) = registry::split_kind(description)?;
    match kind.as_str() {
        "gred" => registry::read_config(&parameters).map(QueueCurve::Gred),
        "droptail" => {
            let config: DropTailConfig = registry::read_config(&parameters)?;
            let packets = match config.limit {
                Limit::Packets(packets) => packets as f64,
                Limit::Bytes(bytes) => bytes as f64 / packet_bytes,
            };
            Ok(QueueCurve::DropTail { packets })
        }
        other => Err(no_model("kind", other, "gred, droptail")),
    }
}

/// The options that all flows share.
fn common_options(flows: &[FlowSpec]) -> Result<&TcpOptions, ConfigError> {
    let mut common: Option<&TcpOptions> = None;
    for (number, flow) in flows.iter().enumerate() {
        let field = format!("flows.{number}");
        let SourceSpec::Tcp(spec) = &flow.source else {
            return Err(no_model(&field, "datagrams", "unlimited TCP flows"));
        };
        let TcpSpec { congestion, options, window, .. } = &**spec;
        let (law, _) = registry::split_kind(congestion)?;
        if law != "reno" {
            return Err(no_model(&format!("{field}.cc"), &law, "reno"));
        }
        if options.ecn != EcnUse::Off {
            return Err(no_model(&format!("{field}.tcp.ecn"), "on", "flows without ECN"));
        }
        if matches!(flow.start, StartSpec::Poisson { .. }) {
            return Err(no_model(&format!("{field}.arrivals"), "poisson", "flows that are there"));
        }
        if flow.stop_ns.is_some() {
            return Err(no_model(&format!("{field}.stop"), "a time", "flows without an end"));
        }
        let TcpSpec { transfer_bytes, transfer, application, .. } = &**spec;
        if transfer_bytes.is_some() || transfer.is_some() || application.is_some() {
            return Err(no_model(&field, "finite transfer", "unlimited TCP flows"));
        }
        if let Some(window) = window
            && registry::split_kind(window)?.0 != "fixed"
        {
            let kind = registry::split_kind(window)?.0;
            return Err(no_model(&format!("{field}.window"), &kind, "fixed"));
        }
        if options.rto_floor == RtoFloor::Variance {
            let field = format!("{field}.tcp.rto_floor");
            return Err(no_model(&field, "variance", "total"));
        }
        match common {
            Some(first) if first != options => {
                return Err(no_model(
                    &field,
                    "other TCP options",
                    "the same options for all flows",
                ));
            }
            _ => common = Some(options),
        }
    }
    common.ok_or_else(|| no_model("flows", "none", "at least one TCP flow"))
}

/// Two-way propagation over the shared links, s.
fn shared_delay_s(scenario: &Scenario) -> f64 {
    let delay = |link: &Value| link.get("delay_ns").and_then(Value::as_u64).unwrap_or(0);
    let forward = delay(&scenario.bottleneck.link);
    let back = match &scenario.ack_path {
        AckPath::Ideal {} => 0,
        AckPath::Link { link, .. } => delay(link),
        AckPath::Reverse { link, .. } => link.as_ref().map_or(forward, delay),
    };
    (forward + back) as f64 * 1e-9
}

/// What the backhaul adds to a round trip, s: its delay both ways, and the transmission of a
/// packet and of its ACK. The model knows one queue, so the hop must be faster than the link.
fn backhaul_s(
    scenario: &Scenario,
    options: &TcpOptions,
    regimes: &[Regime],
) -> Result<f64, ConfigError> {
    let Some(backhaul) = &scenario.backhaul else { return Ok(0.0) };
    let delays_s = 2.0 * backhaul.delay_ns as f64 * 1e-9;
    let Some(rate_bps) = backhaul.rate_bps else { return Ok(delays_s) };
    let rate_bps = rate_bps as f64;
    if regimes.iter().any(|regime| regime.rate_bps >= rate_bps) {
        let accepted = "a backhaul that is faster than the bottleneck's link";
        return Err(no_model("backhaul.rate", &format!("{rate_bps} bit/s"), accepted));
    }
    let (packet, ack) = (options.mss + options.whole_header(), options.whole_header());
    Ok(delays_s + 8.0 * f64::from(packet + ack) / rate_bps)
}

/// Two-way propagation over the flow's own wires, s.
fn wired_s(flow: &FlowSpec) -> f64 {
    [flow.access, flow.egress, flow.return_wire].iter().map(|w| w.delay_ns as f64 * 1e-9).sum()
}
