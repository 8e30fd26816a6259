//! Registry of policies, one line each.

use super::{
    Candidate, DualRegime, Fixed, MaxPhyThroughput, Policy, Qawla, SchemeNames, Tagla, Tfer,
    delegate_policy,
};
use airpath_core::{Registry, StageError, built_in_components};

/// Policies that were registered at run time.
pub type PolicyRegistry = Registry<dyn Policy + Send, SchemeNames>;

built_in_components! {
    /// Any policy.
    enum AnyPolicy: dyn Policy + Send, SchemeNames {
        "fixed" => Fixed(Fixed): "One MCS for every SNR.",
        "dual-regime" => DualRegime(DualRegime):
            "One MCS below a threshold of the queue length, another MCS at or above it.",
        "tagla" => Tagla(Tagla): "The fastest MCS with a packet error rate below a threshold.",
        "qawla" => Qawla(Qawla):
            "Queue-aware: two thresholds of the packet error rate, by the queue (Ozturk, Akar).",
        "tfer" => Tfer(Tfer): "The fastest MCS with a block error rate below a threshold.",
        "max-phy-throughput" => MaxPhyThroughput(MaxPhyThroughput):
            "The MCS with the most correctly received bits per symbol.",
    }
}

impl Policy for AnyPolicy {
    delegate_policy!(match each_component);
}
