//! Converts the bottleneck into terms of the fixed point: the regimes of the link and the drop
//! curve of the queue.

use super::{QueueCurve, RegimeLink};
use crate::preconditions::{other_kind, rate_of_packets_bps};
use crate::reasons::Reason;
use airpath_aqm::{DropTailConfig, Limit};
use airpath_core::{Bytes, registry};
use airpath_link::{AdaptiveConfig, Files, FixedConfig, MultiRegimeConfig};
use airpath_model::Regime;
use airpath_phy::adaptation::PolicyRegistry;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A link configuration that can be converted into terms of the fixed point.
trait Regimes: Sized {
    /// Returns the regimes for packets of one size. The rates exclude framing overhead, which is
    /// not part of T.
    fn regime_link(&self, files: &Files, packet: Bytes) -> Result<RegimeLink, Reason>;
}

type Reader = fn(&Value, &Files, Bytes) -> Result<RegimeLink, Reason>;

/// Covered kinds of links.
const LINKS: [(&str, Reader); 3] = [
    ("fixed", read::<FixedConfig>),
    ("multi-regime", read::<MultiRegimeConfig>),
    ("adaptive", read::<AdaptiveConfig>),
];

fn read<C: Regimes + DeserializeOwned>(
    parameters: &Value,
    files: &Files,
    packet: Bytes,
) -> Result<RegimeLink, Reason> {
    let config: C = registry::read_config(parameters)?;
    config.regime_link(files, packet)
}

/// Reads a link of a covered kind, for packets of one size.
pub(crate) fn link(
    description: &Value,
    files: &Files,
    packet: Bytes,
) -> Result<RegimeLink, Reason> {
    let (kind, parameters) = registry::split_kind(description)?;
    match LINKS.iter().find(|(covered, _)| *covered == kind) {
        Some((_, read)) => read(&parameters, files, packet),
        None => Err(other_kind(&kind, &LINKS.map(|(covered, _)| covered).join(", "))),
    }
}

impl Regimes for FixedConfig {
    fn regime_link(&self, _files: &Files, packet: Bytes) -> Result<RegimeLink, Reason> {
        let rate_bps = rate_of_packets_bps(self.rate_bps, self.framing, packet)?;
        let regimes = vec![Regime { rate_bps, per: self.loss }];
        Ok(RegimeLink { thresholds: Vec::new(), regimes, warnings: Vec::new() })
    }
}

impl Regimes for MultiRegimeConfig {
    fn regime_link(&self, _files: &Files, packet: Bytes) -> Result<RegimeLink, Reason> {
        let regimes = self.regimes.iter().map(|regime| {
            let rate_bps = rate_of_packets_bps(regime.rate_bps, self.framing, packet)?;
            Ok(Regime { rate_bps, per: regime.per })
        });
        let regimes: Result<Vec<Regime>, Reason> = regimes.collect();
        Ok(RegimeLink {
            thresholds: self.thresholds.iter().map(|b| *b as f64).collect(),
            regimes: regimes?,
            warnings: Vec::new(),
        })
    }
}

/// An adaptive link that always chooses the same MCS in a regime is a multi-regime link for packets
/// of one size.
impl Regimes for AdaptiveConfig {
    fn regime_link(&self, files: &Files, packet: Bytes) -> Result<RegimeLink, Reason> {
        let policies = PolicyRegistry::default();
        let adapted = self.regimes(files, &policies, packet).map_err(|error| {
            let problem = error.first();
            let noise = problem.field == "snr_noise_db" && self.snr_noise_db > 0.0;
            let covered = match problem.field.as_str() {
                "snr_noise_db" if noise => {
                    "an estimate of the SNR without noise, policies that do not use it"
                }
                "snr.kind" => "an SNR that is constant",
                _ => return Reason::from(error),
            };
            Reason::not_covered(problem.field.clone(), problem.value.clone(), covered)
        })?;
        let snr_db = self.constant_snr_db()?;
        let outside = || {
            let estimate_db = snr_db + self.snr_bias_db;
            format!(
                "{snr_db} dB or its estimate, {estimate_db} dB, is outside the table {}, which then \
             says what it has at its end",
                self.table
            )
        };
        let regimes = adapted.regimes.iter();
        Ok(RegimeLink {
            thresholds: adapted.thresholds.iter().map(|b| *b as f64).collect(),
            regimes: regimes.map(|r| Regime { rate_bps: r.rate_bps, per: r.per }).collect(),
            warnings: (!adapted.is_covered).then(outside).into_iter().collect(),
        })
    }
}

/// Reads the drop curve of a queue for packets of `packet_bytes` bytes.
pub(crate) fn queue(description: &Value, packet_bytes: f64) -> Result<QueueCurve, Reason> {
    let (kind, parameters) = registry::split_kind(description)?;
    match kind.as_str() {
        "gred" => Ok(QueueCurve::Gred(registry::read_config(&parameters)?)),
        "droptail" => {
            let config: DropTailConfig = registry::read_config(&parameters)?;
            let packets = match config.limit {
                Limit::Packets(packets) => packets as f64,
                Limit::Bytes(bytes) => bytes as f64 / packet_bytes,
            };
            Ok(QueueCurve::DropTail { packets })
        }
        other => Err(Reason::not_covered("kind", other, "gred, droptail")),
    }
}
