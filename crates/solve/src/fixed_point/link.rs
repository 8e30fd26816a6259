//! The bottleneck in the terms of the fixed point: regimes of a link, a drop curve of a queue.

use super::{QueueCurve, RegimeLink};
use crate::covered::{other_kind, rate_of_packets_bps};
use crate::reasons::Reason;
use airpath_aqm::{DropTailConfig, Limit};
use airpath_core::{Bytes, registry};
use airpath_link::{AdaptiveConfig, Files, FixedConfig, MultiRegimeConfig};
use airpath_model::Regime;
use airpath_phy::adaptation::PolicyRegistry;
use serde_json::Value;

/// A fixed, a multi-regime or an adaptive link for packets of one size; what framing takes is no
/// part of T.
pub(crate) fn link(
    description: &Value,
    files: &Files,
    packet: Bytes,
) -> Result<RegimeLink, Reason> {
    let (kind, parameters) = registry::split_kind(description)?;
    match kind.as_str() {
        "fixed" => {
            let config: FixedConfig = registry::read_config(&parameters)?;
            let rate_bps = rate_of_packets_bps(config.rate_bps, config.framing, packet)?;
            let regimes = vec![Regime { rate_bps, per: config.loss }];
            Ok(RegimeLink { thresholds: Vec::new(), regimes, warnings: Vec::new() })
        }
        "multi-regime" => {
            let config: MultiRegimeConfig = registry::read_config(&parameters)?;
            let regimes = config.regimes.iter().map(|regime| {
                let rate_bps = rate_of_packets_bps(regime.rate_bps, config.framing, packet)?;
                Ok(Regime { rate_bps, per: regime.per })
            });
            let regimes: Result<Vec<Regime>, Reason> = regimes.collect();
            Ok(RegimeLink {
                thresholds: config.thresholds.iter().map(|b| *b as f64).collect(),
                regimes: regimes?,
                warnings: Vec::new(),
            })
        }
        "adaptive" => adaptive_link(&registry::read_config(&parameters)?, files, packet),
        other => Err(other_kind(other, "fixed, multi-regime, adaptive")),
    }
}

/// An adaptive link whose choices do not change is a multi-regime link for packets of one size.
fn adaptive_link(
    config: &AdaptiveConfig,
    files: &Files,
    packet: Bytes,
) -> Result<RegimeLink, Reason> {
    let policies = PolicyRegistry::default();
    let adapted = config.regimes(files, &policies, packet).map_err(|error| {
        let noise = error.field == "snr_noise_db" && config.snr_noise_db > 0.0;
        let covered = match error.field.as_str() {
            "snr_noise_db" if noise => {
                "an estimate of the SNR without noise, policies that do not use it"
            }
            "snr.kind" => "an SNR that is constant",
            _ => return Reason::from(error),
        };
        Reason::not_covered(error.field, error.value, covered)
    })?;
    let snr_db = config.constant_snr_db()?;
    let outside = || {
        let estimate_db = snr_db + config.snr_bias_db;
        format!(
            "{snr_db} dB or its estimate, {estimate_db} dB, is outside the table {}, which then \
             says what it has at its end",
            config.table
        )
    };
    let regimes = adapted.regimes.iter();
    Ok(RegimeLink {
        thresholds: adapted.thresholds.iter().map(|b| *b as f64).collect(),
        regimes: regimes.map(|r| Regime { rate_bps: r.rate_bps, per: r.per }).collect(),
        warnings: (!adapted.is_covered).then(outside).into_iter().collect(),
    })
}

/// The drop curve of a queue of packets of one size, bytes.
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
