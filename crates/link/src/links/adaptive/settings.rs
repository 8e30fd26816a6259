//! Configuration of an adaptive link.

use crate::links::framing::FramingConfig;
use crate::retransmission::arq::ArqConfig;
use crate::retransmission::harq::HarqConfig;
use serde::Deserialize;
use serde_json::Value;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveConfig {
    /// Key of the error-rate table.
    pub table: String,
    /// Process of the true SNR, `{"kind": …}`; a number is a constant SNR, dB.
    pub snr: Value,
    /// Link-adaptation policy: `{"kind": …}`.
    pub policy: Value,
    /// Bias of the SNR estimate, dB. Finite.
    #[serde(default)]
    pub snr_bias_db: f64,
    /// Standard deviation of the noise of the SNR estimate, dB. At least 0, finite.
    #[serde(default)]
    pub snr_noise_db: f64,
    /// Time for which an estimate is used, ns. Above 0.
    #[serde(default = "frame_ns")]
    pub estimate_interval_ns: u64,
    /// Packet size for which the policy computes packet error rates, bytes, 1 to 65 535.
    #[serde(default = "packet_bytes")]
    pub packet_bytes: u64,
    /// Overhead of each packet, bytes. The block size is the block size of the MCS.
    #[serde(default)]
    pub framing: FramingConfig,
    /// Error process in addition to the errors of the table: `{"kind": …}`. `None`: no error
    /// process.
    #[serde(default)]
    pub errors: Option<Value>,
    /// HARQ parameters. `None`: no HARQ.
    #[serde(default)]
    pub harq: Option<HarqConfig>,
    /// ARQ parameters, for packets that HARQ discards or that are corrupted without HARQ. `None`:
    /// no ARQ.
    #[serde(default)]
    pub arq: Option<ArqConfig>,
    /// True if the link delivers packets in the order of their first transmissions.
    #[serde(default)]
    pub in_order: bool,
}

/// Frame length of the paper's radio link, ns: 5 ms.
fn frame_ns() -> u64 {
    5_000_000
}

/// Packet size of the paper, bytes.
pub(super) fn packet_bytes() -> u64 {
    1500
}
