//! Finds the pair of MCSs with which a dual-regime link has the largest throughput in the fixed
//! point.

use super::{FixedPoint, Problem};
use crate::dumbbell::DumbbellScenario;
use crate::error::SolveError;
use crate::model::Model;
use crate::reasons::{Reason, Reasons};
use airpath_core::{Bytes, ConfigError, registry};
use airpath_link::{AdaptiveConfig, Files};
use airpath_model::Regime;
use airpath_path::Scenario;
use airpath_phy::adaptation::dual_regime_pairs;
use serde_json::json;

/// A pair of MCSs and its throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// MCS while fewer packets wait than the threshold.
    pub below: String,
    /// MCS while the number of waiting packets is at or above the threshold.
    pub above: String,
    /// Throughput T, bit/s.
    pub throughput_bps: f64,
}

/// Finds the best pair for a scenario whose bottleneck has the policy `{"kind": "optimum",
/// "threshold": …}`.
///
/// # Errors
/// Fails if the fixed point does not cover the scenario, or has no solution for a pair.
pub fn optimum_pair(scenario: &Scenario, files: &Files) -> Result<Pair, SolveError> {
    let (mut problem, config, threshold) = covered(scenario, files).map_err(|reasons| {
        SolveError::NotCovered { model: FixedPoint::NAME, chosen: false, reasons }
    })?;
    let schemes = config
        .schemes(files, Bytes(problem.packet_bytes as u64))
        .expect("the table is accepted: the problem was made with it");
    let rates: Vec<(f64, f64)> = schemes.iter().map(|s| (s.rate_bps, s.per)).collect();
    problem.link.thresholds = vec![threshold];
    let mut best: Option<(usize, usize, f64)> = None;
    for (below, above) in dual_regime_pairs(&rates) {
        let regime = |scheme: usize| Regime { rate_bps: rates[scheme].0, per: rates[scheme].1 };
        problem.link.regimes = vec![regime(below), regime(above)];
        let throughput_bps = problem.equations()?.solve()?.throughput_bps();
        if best.is_none_or(|(.., most)| throughput_bps > most) {
            best = Some((below, above, throughput_bps));
        }
    }
    let (below, above, throughput_bps) = best.expect("each MCS makes a pair with itself");
    let name = |scheme: usize| schemes[scheme].mcs.clone();
    Ok(Pair { below: name(below), above: name(above), throughput_bps })
}

/// Returns the problem for a link that always uses the fastest MCS, the configuration of the link,
/// and the threshold of its policy.
fn covered(scenario: &Scenario, files: &Files) -> Result<(Problem, AdaptiveConfig, f64), Reasons> {
    let refused = |error: ConfigError| Reasons::from(Reason::from(error));
    let mut scenario = DumbbellScenario::of(scenario)?;
    let link = &mut scenario.bottleneck.link;
    let threshold = link["policy"]["threshold"].as_f64().unwrap_or(0.0);
    let (_, parameters) = registry::split_kind(link).map_err(refused)?;
    let config: AdaptiveConfig = registry::read_config(&parameters).map_err(refused)?;
    // The order of the rates is the same for all packet sizes that are large compared with a block.
    // The fastest MCS is used to check whether the backhaul is fast enough for all MCSs.
    let of_table = config.schemes(files, Bytes(config.packet_bytes)).map_err(refused)?;
    let fastest = of_table.iter().max_by(|a, b| a.rate_bps.total_cmp(&b.rate_bps));
    link["policy"] = json!({"kind": "fixed", "mcs": fastest.map(|scheme| &scheme.mcs)});
    Ok((FixedPoint::covers_dumbbell(&scenario, files)?, config, threshold))
}
