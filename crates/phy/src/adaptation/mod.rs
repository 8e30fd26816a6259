//! Link adaptation: the modulation and coding scheme (MCS) that a packet is sent with.
//!
//! A policy sees, for each MCS, its spectral efficiency and its error rates at the SNR that the
//! transmitter believes in, and it may distinguish regimes of the queue. It is a function of these:
//! a link calls it again only when the estimate of the SNR changes. To add one: its file and one
//! line in `registry.rs`.
//!
//! | file | policy |
//! | --- | --- |
//! | `fixed.rs` | one MCS |
//! | `dual_regime.rs` | one MCS below a threshold of the queue, another from it on |
//! | `tagla.rs` | the fastest with a packet error rate below a threshold |
//! | `qawla.rs` | the same with two thresholds, by the queue |
//! | `tfer.rs` | the fastest with a block error rate below a threshold |
//! | `max_phy_throughput.rs` | the largest product of efficiency and success |
//! | `target.rs` | what those with a threshold share |
//! | `chooser.rs` | a policy over an error-rate table |
//!
//! Source of all of them: qawla-2015 §2 and §6.

mod chooser;
mod dual_regime;
mod fixed;
mod max_phy_throughput;
mod qawla;
mod registry;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/policy.rs.in"]
pub mod skeleton;
mod tagla;
mod target;
mod tfer;

pub use chooser::Chooser;
pub use dual_regime::{DualRegime, DualRegimeConfig, dual_regime_pairs};
pub use fixed::{Fixed, FixedConfig};
pub use max_phy_throughput::{ErrorRate, MaxPhyThroughput, MaxPhyThroughputConfig};
pub use qawla::{Qawla, QawlaConfig};
pub use registry::{AnyPolicy, PolicyRegistry};
pub use tagla::{Tagla, TaglaConfig};
pub use tfer::{Tfer, TferConfig};

use airpath_core::ConfigError;
use serde::Deserialize;

/// Names of the schemes that a policy chooses from, in the order of the candidates.
pub type SchemeNames = Vec<String>;

/// Inputs of a policy for one MCS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// log₂(V) R, information bits per symbol.
    pub efficiency: f64,
    /// Error rate of a block at the estimated SNR.
    pub fer: f64,
    /// Error rate of a packet of the reference size at the estimated SNR.
    pub per: f64,
}

/// Chooses the MCS.
pub trait Policy {
    /// Packets waiting from which the next regime holds, ascending; none for one regime.
    fn thresholds(&self) -> &[u64] {
        &[]
    }

    /// Whether the choice depends on the estimate of the SNR at all.
    fn uses_estimate(&self) -> bool {
        true
    }

    /// Which of `candidates`, at least one, to use in `regime`, counted from 0.
    fn choose(&self, candidates: &[Candidate], regime: usize) -> usize;
}

/// An MCS as the user names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum NamedScheme {
    /// Its place in the error-rate table, from 0.
    Number(usize),
    /// Its name in the error-rate table.
    Name(String),
}

impl NamedScheme {
    /// Its place among `names`.
    ///
    /// # Errors
    /// When it is not among them; `field` is what the user gave it as.
    pub fn place(&self, field: &str, names: &[String]) -> Result<usize, ConfigError> {
        let (place, shown) = match self {
            NamedScheme::Number(number) => {
                (Some(*number).filter(|place| *place < names.len()), number.to_string())
            }
            NamedScheme::Name(name) => {
                (names.iter().position(|known| known == name), format!("{name:?}"))
            }
        };
        place.ok_or_else(|| {
            let problem = format!("not in the error-rate table. Accepted: {}", names.join(", "));
            ConfigError::new(field, shown, problem)
        })
    }
}

#[cfg(test)]
mod tests;
