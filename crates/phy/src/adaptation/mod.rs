//! Link adaptation: selects the modulation and coding scheme (MCS) of a packet.
//!
//! For each MCS, a policy receives the spectral efficiency and the error rates at the SNR that the
//! transmitter has estimated. It may choose a different MCS in each regime (range) of the queue
//! length. A policy is a function of these inputs: a link calls it again only when the SNR estimate
//! changes. A new policy requires its file and one line in `registry.rs`.
//!
//! | file | policy |
//! | --- | --- |
//! | `fixed.rs` | one MCS |
//! | `dual_regime.rs` | one MCS below a threshold of the queue length, another from the threshold on |
//! | `tagla.rs` | the fastest MCS with a packet error rate below a threshold |
//! | `qawla.rs` | as `tagla.rs`, with two thresholds selected by the queue length |
//! | `tfer.rs` | the fastest MCS with a block error rate below a threshold |
//! | `max_phy_throughput.rs` | the largest product of efficiency and success probability |
//! | `target.rs` | the selection by an error-rate threshold, shared by three policies |
//! | `chooser.rs` | a policy over an error-rate table |
//!
//! Source of all policies: qawla-2015 §2 and §6.

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

use airpath_core::{ConfigError, StageError};
use serde::Deserialize;

/// Names of the MCSs that a policy chooses from, in the order of the candidates.
pub type SchemeNames = Vec<String>;

/// Inputs of a policy for one MCS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// log₂(V) R, information bits per symbol.
    pub efficiency: f64,
    /// Block error rate at the estimated SNR.
    pub fer: f64,
    /// Error rate of a packet of the reference size at the estimated SNR.
    pub per: f64,
}

airpath_core::contract! { $
    /// Policy that chooses the MCS. A policy that wraps another policy implements
    /// [`PolicyWrapper`].
    pub trait Policy {
        /// Returns the queue lengths, packets, at which the next regime begins, ascending; empty
        /// for one regime. Called once, when the link is built.
        fn thresholds(&self) -> &[u64] {
            &[]
        }

        /// Returns true if the choice depends on the SNR estimate. Called once, when the link is
        /// built.
        fn uses_estimate(&self) -> bool {
            true
        }

        /// Returns the index in `candidates` of the chosen MCS. `candidates` is not empty; `regime`
        /// is an index from 0. An index out of range ends the run with an error.
        fn choose(&self, candidates: &[Candidate], regime: usize) -> usize;

        /// Returns an error that has occurred since the last call. Called after each of the other
        /// methods. An error of `choose` ends the run, and the returned index is not used; an error
        /// of the other methods is an error of the configuration. Only plug-ins return errors.
        fn take_error(&mut self) -> Option<StageError> {
            None
        }
    }

    /// A policy that wraps another policy. It implements or delegates each method of [`Policy`], and
    /// thereby also implements [`Policy`].
    ///
    /// ```
    /// use airpath_core::StageError;
    /// use airpath_phy::adaptation::{AnyPolicy, Candidate, Policy};
    /// use airpath_phy::delegate_policy;
    ///
    /// /// Policy that chooses the MCS below that of another policy.
    /// struct Cautious {
    ///     inner: AnyPolicy,
    /// }
    ///
    /// impl airpath_phy::adaptation::PolicyWrapper for Cautious {
    ///     delegate_policy!(inner: thresholds, uses_estimate, take_error);
    ///
    ///     fn choose(&self, candidates: &[Candidate], regime: usize) -> usize {
    ///         self.inner.choose(candidates, regime).saturating_sub(1)
    ///     }
    /// }
    /// ```
    ///
    /// A wrapper that neither implements nor delegates a method does not compile:
    ///
    /// ```compile_fail,E0046
    /// # use airpath_core::StageError;
    /// # use airpath_phy::adaptation::{AnyPolicy, Candidate, Policy};
    /// # use airpath_phy::delegate_policy;
    /// struct Forgetful {
    ///     inner: AnyPolicy,
    /// }
    ///
    /// impl airpath_phy::adaptation::PolicyWrapper for Forgetful {
    ///     delegate_policy!(inner: thresholds, uses_estimate, choose);
    /// }
    /// ```
    pub trait PolicyWrapper;

    /// Delegates methods of [`PolicyWrapper`](adaptation::PolicyWrapper) to the policy in a field.
    /// `delegate_policy!(field: method, …)` delegates the named methods, `delegate_policy!(field)`
    /// all methods.
    #[macro_export]
    macro delegate_policy;
}

/// An MCS as given by the user: by index or by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum NamedScheme {
    /// Index in the error-rate table, from 0.
    Number(usize),
    /// Name in the error-rate table.
    Name(String),
}

impl NamedScheme {
    /// Returns the index of the MCS in `names`.
    ///
    /// # Errors
    /// If the MCS does not exist; the error's field is `field`, the key path of the value in the
    /// configuration.
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
