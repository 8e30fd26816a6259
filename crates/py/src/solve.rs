//! The analytic model that matches a scenario.

use crate::adaptation::{self, TableTexts};
use crate::covered::{self, Load, no_model};
use crate::errors;
use airpath_aqm::{DropTailConfig, GredConfig, Limit, gred_drop_probability};
use airpath_core::{Bytes, ConfigError, registry};
use airpath_link::{AdaptiveConfig, Files, FixedConfig, MultiRegimeConfig, Traces};
use airpath_model::{Change, DropCurve, MultiRegimeLink, Problem, Regime, Solution, Tcp};
use airpath_path::Scenario;
use airpath_phy::adaptation::{PolicyRegistry, dual_regime_pairs};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Part of the throughput that the wait of delayed ACKs may take before it is warned of.
const WAIT_THAT_MATTERS: f64 = 0.05;

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
    let swinging = swings.warning(&solution, &matched.base_rtts_s);
    let warnings = solution.warnings.iter().chain(swinging);
    let warnings: Vec<String> = warnings
        .map(|w| w.to_string())
        .chain(matched.waiting_acks(&solution)?)
        .chain(matched.link.warnings.iter().cloned())
        .collect();
    Ok(json!({
        "model": "fixed-point",
        "domain": solution.domain.label(matched.link.regimes.len()).to_string(),
        "throughput_bps": solution.throughput_bps(),
        "queue_packets": solution.queue_packets(),
        "alpha": solution.alpha,
        "average_throughput_bps": swings.throughput_bps,
        "average_queue_packets": swings.queue_packets,
        "average_queueing_delay_s": swings.delay_s,
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
    delayed: DelayedAcks,
}

/// Packets that come over the link while an ACK waits for them, and how long it waits at most, s.
struct DelayedAcks {
    packets: f64,
    timeout_s: f64,
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
        covered::refuse_changes(scenario)?;
        let bottleneck = &scenario.bottleneck;
        let options = covered::common_options(scenario)?;
        let packet = options.mss + options.whole_header();
        let packet_bytes = f64::from(packet);
        let link = link(&bottleneck.link, files, Bytes(packet.into()))
            .map_err(|error| error.under("link").under("bottleneck"))?;
        let queue = queue(&bottleneck.queue, packet_bytes)
            .map_err(|error| error.under("aqm").under("bottleneck"))?;
        let of_acks = |description: &Value, ack: Bytes| {
            self::link(description, files, ack).map(|found| found.regimes[0])
        };
        let base_rtts_s = Load::new(options, &link.regimes).base_rtts_s(scenario, of_acks)?;
        let tcp = Tcp {
            max_window_packets: covered::window_packets(options),
            timeout_s: options.min_rto.as_secs_lossy(),
            packets_per_ack: covered::packets_per_ack(options),
        };
        let delayed = DelayedAcks {
            packets: covered::packets_waited_for(options),
            timeout_s: options.delayed_ack_timeout.as_secs_lossy(),
        };
        Ok(Matched { link, queue, base_rtts_s, tcp, packet_bytes, delayed })
    }

    fn problem(&self) -> PyResult<Problem<'_, impl Fn(f64) -> f64>> {
        self.problem_with(&self.base_rtts_s)
    }

    fn problem_with<'a>(
        &'a self,
        base_rtts_s: &'a [f64],
    ) -> PyResult<Problem<'a, impl Fn(f64) -> f64>> {
        let link = MultiRegimeLink::new(&self.link.thresholds, &self.link.regimes);
        Ok(Problem {
            link: link.map_err(errors::model)?,
            base_rtts_s,
            drop: DropCurve {
                probability: |x| self.queue.drop_probability(x),
                x_max: self.queue.full(),
            },
            tcp: self.tcp,
            packet_bytes: self.packet_bytes,
        })
    }
}

impl Matched {
    /// A warning where it matters that an ACK waits for the packets that follow in its burst: they
    /// come one after another over the link, which the model has no time for.
    fn waiting_acks(&self, solution: &Solution) -> PyResult<Option<String>> {
        let packet_s = 8.0 * self.packet_bytes / solution.point.service.rate_bps;
        let wait_s = (self.delayed.packets * packet_s).min(self.delayed.timeout_s);
        let rtts_s: Vec<f64> = self.base_rtts_s.iter().map(|rtt| rtt + wait_s).collect();
        let waited = self.problem_with(&rtts_s)?.solve().map_err(errors::model)?;
        let throughput = Change { of: solution.throughput_bps(), to: waited.throughput_bps() };
        let told = format!(
            "ACKs wait {:.3} ms for the next packets to come over the link: with that in each round \
             trip the throughput is about {:.3} Mbit/s ({throughput} from the fixed point); simulate",
            wait_s * 1e3,
            throughput.to / 1e6,
        );
        Ok((throughput.share() < -WAIT_THAT_MATTERS).then_some(told))
    }
}

/// A fixed or a multi-regime link for packets of one size; what framing takes is no part of T.
fn link(description: &Value, files: &Files, packet: Bytes) -> Result<MatchedLink, ConfigError> {
    let (kind, parameters) = registry::split_kind(description)?;
    match kind.as_str() {
        "fixed" => {
            let config: FixedConfig = registry::read_config(&parameters)?;
            let rate_bps = of_packets(config.rate_bps, config.frame_overhead, packet);
            let regimes = vec![Regime { rate_bps, per: config.loss }];
            Ok(MatchedLink { thresholds: Vec::new(), regimes, warnings: Vec::new() })
        }
        "multi-regime" => {
            let config: MultiRegimeConfig = registry::read_config(&parameters)?;
            let regimes = config.regimes.iter();
            let regimes = regimes.map(|r| Regime {
                rate_bps: of_packets(r.rate_bps, config.frame_overhead, packet),
                per: r.per,
            });
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

/// The rate of IP packets on a link that adds `overhead` bytes to each, bit/s.
fn of_packets(rate_bps: u64, overhead: u64, packet: Bytes) -> f64 {
    rate_bps as f64 * packet.0 as f64 / (packet.0 + overhead) as f64
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
