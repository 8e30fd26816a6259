//! Errors of the problems given to a model.

/// Why a model cannot be solved. Indices in the messages count from 1, as in the source.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A scalar parameter is outside its range.
    #[error("{name} = {value}: must be {accepted}")]
    Parameter {
        /// Name of the parameter, with its unit where it has one.
        name: &'static str,
        /// The value given.
        value: f64,
        /// The accepted range, in words.
        accepted: &'static str,
    },
    /// k regimes need k − 1 thresholds, and at least one regime.
    #[error("{regimes} regimes with {thresholds} thresholds: give one regime more than thresholds")]
    RegimeCount {
        /// Number of regimes given.
        regimes: usize,
        /// Number of thresholds given.
        thresholds: usize,
    },
    /// A threshold is not finite, not positive, or not above the one before it.
    #[error("threshold {} = {value} packets after {previous}: thresholds must ascend from above 0", .index + 1)]
    Threshold {
        /// Which threshold, from 0.
        index: usize,
        /// The value given, packets.
        value: f64,
        /// The threshold before it, packets; 0 for the first.
        previous: f64,
    },
    /// The rate of a regime is not a positive finite number.
    #[error("rate of regime {} = {rate_bps} bit/s: must be above 0 and finite", .index + 1)]
    RegimeRate {
        /// Which regime, from 0.
        index: usize,
        /// The value given, bit/s.
        rate_bps: f64,
    },
    /// The packet error rate of a regime is not a probability.
    #[error("packet error rate of regime {} = {per}: must be between 0 and 1", .index + 1)]
    RegimePer {
        /// Which regime, from 0.
        index: usize,
        /// The value given.
        per: f64,
    },
    /// There is nothing to solve without flows.
    #[error("no flows: give the base RTT of at least one flow")]
    NoFlows,
    /// A base RTT is negative or not finite.
    #[error("base RTT of flow {index} = {base_rtt_s} s: must be 0 or more and finite")]
    BaseRtt {
        /// Which flow, from 0 (the numbering of the source).
        index: usize,
        /// The value given, s.
        base_rtt_s: f64,
    },
    /// The drop curve returned something that is not a probability.
    #[error("drop probability at {queue_packets} packets = {probability}: must be between 0 and 1")]
    DropProbability {
        /// Queue length at which the curve was evaluated, packets.
        queue_packets: f64,
        /// Value that it returned.
        probability: f64,
    },
    /// The drop curve falls between two queue lengths.
    #[error(
        "drop probability falls from {below} to {above} up to {queue_packets} packets: it must not decrease"
    )]
    DropDecreases {
        /// The longer of the two queue lengths, packets.
        queue_packets: f64,
        /// Probability at the shorter one.
        below: f64,
        /// Probability at the longer one.
        above: f64,
    },
    /// Even at `x_max` more is admitted than served: the existence condition
    /// κ(x_max) < r_k of qawla-2015 Theorem 3.1 does not hold.
    #[error(
        "the queue overflows: at its limit of {queue_packets} packets {arrival_bps} bit/s are admitted and {service_bps} bit/s served; the drop probability must be high enough there"
    )]
    QueueFull {
        /// `x_max`, packets.
        queue_packets: f64,
        /// κ(x_max), bit/s.
        arrival_bps: f64,
        /// Rate of the regime at `x_max`, bit/s.
        service_bps: f64,
    },
}

/// Passes a parameter on when it is accepted.
pub(crate) fn require(
    ok: bool,
    name: &'static str,
    value: f64,
    accepted: &'static str,
) -> Result<(), ModelError> {
    if ok { Ok(()) } else { Err(ModelError::Parameter { name, value, accepted }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_field_the_value_and_what_is_accepted() {
        let threshold = ModelError::Threshold { index: 1, value: 5.0, previous: 20.0 };
        assert_eq!(
            threshold.to_string(),
            "threshold 2 = 5 packets after 20: thresholds must ascend from above 0"
        );
        let timeout = require(false, "timeout_s", -1.0, "above 0 and finite").unwrap_err();
        assert_eq!(timeout.to_string(), "timeout_s = -1: must be above 0 and finite");
    }
}
