//! The analytic model that matches a scenario.

use crate::adaptation::{self, TableTexts};
use crate::errors;
use airpath_aqm::{DropTailConfig, GredConfig, Limit, gred_drop_probability};
use airpath_core::{Bytes, ConfigError, registry};
use airpath_link::{AdaptiveConfig, Files, FixedConfig, MultiRegimeConfig, Traces};
use airpath_model::{DropCurve, MultiRegimeLink, Problem, Regime, Tcp};
use airpath_path::{AckPath, FlowSpec, Scenario, SourceSpec, StartSpec, TcpSpec};
use airpath_phy::adaptation::{PolicyRegistry, dual_regime_pairs};
use airpath_tcp::{EcnUse, RtoFloor, TcpOptions};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The steady state of a resolved scenario as JSON; raises `ValueError` when no model matches.
#[pyfunction]
#[pyo3(signature = (scenario_json, tables=None))]
pub(crate) fn solve(scenario_json: &str, tables: Option<TableTexts>) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
    let matched = Matched::from_scenario(&scenario, &files(tables)?).map_err(errors::config)?;
    let problem = matched.problem()?;
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
    let warnings: Vec<String> =
        warnings.map(|w| w.to_string()).chain(matched.link.warnings.iter().cloned()).collect();
    Ok(json!({
        "model": "fixed-point",
        "domain": solution.domain.label(matched.link.regimes.len()).to_string(),
        "throughput_bps": solution.throughput_bps(),
        "queue_packets": solution.queue_packets(),
        "alpha": solution.alpha,
        "average_throughput_bps": swings.throughput_bps,
        "flows": flows,
        "warnings": warnings,
    })
    .to_string())
}

/// The MCSs of the dual-regime link with the most throughput by the fixed point, for a resolved
/// scenario whose bottleneck has the policy `{"kind": "optimum", "threshold": …}`: their names, and
/// the throughput in bit/s. Raises `ValueError` when no model matches.
#[pyfunction]
#[pyo3(signature = (scenario_json, tables=None))]
pub(crate) fn optimum_pair(
    scenario_json: &str,
    tables: Option<TableTexts>,
) -> PyResult<(String, String, f64)> {
    let mut scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
    let files = files(tables)?;
    let link = &mut scenario.bottleneck.link;
    let threshold = link["policy"]["threshold"].as_f64().unwrap_or(0.0);
    let (_, parameters) = registry::split_kind(link).map_err(errors::config)?;
    let config: AdaptiveConfig = registry::read_config(&parameters).map_err(errors::config)?;
    // Rates compare alike for packets of any size that are long beside a block; which MCS is the
    // fastest decides here whether a backhaul is fast enough for all.
    let of_table = config.schemes(&files, Bytes(config.packet_bytes)).map_err(errors::config)?;
    let fastest = of_table.iter().max_by(|a, b| a.rate_bps.total_cmp(&b.rate_bps));
    link["policy"] = json!({"kind": "fixed", "mcs": fastest.map(|scheme| &scheme.mcs)});
    let mut matched = Matched::from_scenario(&scenario, &files).map_err(errors::config)?;
    let schemes =
        config.schemes(&files, Bytes(matched.packet_bytes as u64)).map_err(errors::config)?;
    let rates: Vec<(f64, f64)> = schemes.iter().map(|s| (s.rate_bps, s.per)).collect();
    matched.link.thresholds = vec![threshold];
    let mut best: Option<(usize, usize, f64)> = None;
    for (below, above) in dual_regime_pairs(&rates) {
        let regime = |scheme: usize| Regime { rate_bps: rates[scheme].0, per: rates[scheme].1 };
        matched.link.regimes = vec![regime(below), regime(above)];
        let throughput_bps = matched.problem()?.solve().map_err(errors::model)?.throughput_bps();
        if best.is_none_or(|(.., most)| throughput_bps > most) {
            best = Some((below, above, throughput_bps));
        }
    }
    let (below, above, throughput_bps) = best.expect("each MCS makes a pair with itself");
    Ok((schemes[below].mcs.clone(), schemes[above].mcs.clone(), throughput_bps))
}

fn files(tables: Option<TableTexts>) -> PyResult<Files> {
    Ok(Files { traces: Traces::default(), tables: adaptation::tables(tables)? })
}

/// A scenario in the terms of the fixed-point model.
struct Matched {
    link: MatchedLink,
    queue: QueueCurve,
    base_rtts_s: Vec<f64>,
    tcp: Tcp,
    packet_bytes: f64,
}

/// The bottleneck's link.
struct MatchedLink {
    thresholds: Vec<f64>,
    regimes: Vec<Regime>,
    /// What to check before trusting the result.
    warnings: Vec<String>,
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
    fn from_scenario(scenario: &Scenario, files: &Files) -> Result<Matched, ConfigError> {
        if !scenario.controls.is_empty() {
            return Err(no_model("control", "changes", "a link that does not change"));
        }
        refuse_channels(scenario)?;
        let bottleneck = &scenario.bottleneck;
        let options = common_options(&scenario.flows)?;
        let packet = options.mss + options.whole_header();
        let packet_bytes = f64::from(packet);
        let link = link(&bottleneck.link, files, Bytes(packet.into()))
            .map_err(|error| error.under("link").under("bottleneck"))?;
        let queue = queue(&bottleneck.queue, packet_bytes)
            .map_err(|error| error.under("aqm").under("bottleneck"))?;
        let shared_s = shared_delay_s(scenario) + backhaul_s(scenario, options, &link.regimes)?;
        let base_rtts_s = scenario.flows.iter().map(|flow| wired_s(flow) + shared_s).collect();
        let tcp = Tcp {
            max_window_packets: window_bytes(options) / packet_bytes,
            timeout_s: options.min_rto.as_secs_lossy(),
            packets_per_ack: f64::from(options.delayed_ack_segments),
        };
        Ok(Matched { link, queue, base_rtts_s, tcp, packet_bytes })
    }

    fn problem(&self) -> PyResult<Problem<'_, impl Fn(f64) -> f64>> {
        let link = MultiRegimeLink::new(&self.link.thresholds, &self.link.regimes);
        Ok(Problem {
            link: link.map_err(errors::model)?,
            base_rtts_s: &self.base_rtts_s,
            drop: DropCurve {
                probability: |x| self.queue.drop_probability(x),
                x_max: self.queue.full(),
            },
            tcp: self.tcp,
            packet_bytes: self.packet_bytes,
        })
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

fn link(description: &Value, files: &Files, packet: Bytes) -> Result<MatchedLink, ConfigError> {
    let (kind, parameters) = registry::split_kind(description)?;
    match kind.as_str() {
        "fixed" => {
            let config: FixedConfig = registry::read_config(&parameters)?;
            let regimes = vec![Regime { rate_bps: config.rate_bps as f64, per: config.loss }];
            Ok(MatchedLink { thresholds: Vec::new(), regimes, warnings: Vec::new() })
        }
        "multi-regime" => {
            let config: MultiRegimeConfig = registry::read_config(&parameters)?;
            let regimes = config.regimes.iter();
            let regimes = regimes.map(|r| Regime { rate_bps: r.rate_bps as f64, per: r.per });
            Ok(MatchedLink {
                thresholds: config.thresholds.iter().map(|b| *b as f64).collect(),
                regimes: regimes.collect(),
                warnings: Vec::new(),
            })
        }
        "adaptive" => adaptive_link(&registry::read_config(&parameters)?, files, packet),
        other => Err(no_model("kind", other, "fixed, multi-regime, adaptive")),
    }
}

/// An adaptive link whose choices do not change is a multi-regime link for packets of one size.
fn adaptive_link(
    config: &AdaptiveConfig,
    files: &Files,
    packet: Bytes,
) -> Result<MatchedLink, ConfigError> {
    let policies = PolicyRegistry::default();
    let adapted = config.regimes(files, &policies, packet).map_err(|error| {
        let noise = error.field == "snr_noise_db" && config.snr_noise_db > 0.0;
        let accepted = "an estimate of the SNR without noise, policies that do not use it";
        if noise { no_model(&error.field, &error.value, accepted) } else { error }
    })?;
    let outside = || {
        let estimate_db = config.snr_db + config.snr_bias_db;
        format!(
            "{} dB or its estimate, {estimate_db} dB, is outside the table {}, which then says \
             what it has at its end",
            config.snr_db, config.table
        )
    };
    let regimes = adapted.regimes.iter();
    Ok(MatchedLink {
        thresholds: adapted.thresholds.iter().map(|b| *b as f64).collect(),
        regimes: regimes.map(|r| Regime { rate_bps: r.rate_bps, per: r.per }).collect(),
        warnings: (!adapted.is_covered).then(outside).into_iter().collect(),
    })
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
