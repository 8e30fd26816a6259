//! Errors for problems that a model cannot solve.

/// Reason for which a model cannot be solved. Indices of regimes and thresholds in messages count
/// from 1, as in qawla-2015.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A scalar parameter is outside its range.
    #[error("{name} = {value}: must be {accepted}")]
    Parameter {
        /// Name of the parameter, with its unit if applicable.
        name: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Description of the accepted range.
        accepted: &'static str,
    },
    /// The number of thresholds is not one less than the number of regimes, or there is no regime.
    #[error("{regimes} regimes with {thresholds} thresholds: give one regime more than thresholds")]
    RegimeCount {
        /// Number of regimes.
        regimes: usize,
        /// Number of thresholds.
        thresholds: usize,
    },
    /// A threshold is not finite, not positive, or not above the previous threshold.
    #[error("threshold {} = {value} packets after {previous}: thresholds must ascend from above 0", .index + 1)]
    Threshold {
        /// Index of the threshold, from 0.
        index: usize,
        /// Value of the threshold, packets.
        value: f64,
        /// Previous threshold, packets; 0 for the first one.
        previous: f64,
    },
    /// The rate of a regime is not a positive finite number.
    #[error("rate of regime {} = {rate_bps} bit/s: must be above 0 and finite", .index + 1)]
    RegimeRate {
        /// Index of the regime, from 0.
        index: usize,
        /// Rate of the regime, bit/s.
        rate_bps: f64,
    },
    /// The packet error rate of a regime is not a probability.
    #[error("packet error rate of regime {} = {per}: must be between 0 and 1", .index + 1)]
    RegimePer {
        /// Index of the regime, from 0.
        index: usize,
        /// Packet error rate of the regime.
        per: f64,
    },
    /// The problem has no flows.
    #[error("no flows: give the base RTT of at least one flow")]
    NoFlows,
    /// A base RTT is negative or not finite.
    #[error("base RTT of flow {index} = {base_rtt_s} s: must be 0 or more and finite")]
    BaseRtt {
        /// Index of the flow, from 0 as in qawla-2015.
        index: usize,
        /// Base RTT of the flow, s.
        base_rtt_s: f64,
    },
    /// The drop curve returned a value that is not a probability.
    #[error("drop probability at {queue_packets} packets = {probability}: must be between 0 and 1")]
    DropProbability {
        /// Queue length, packets.
        queue_packets: f64,
        /// Returned value.
        probability: f64,
    },
    /// The drop curve decreases between two queue lengths.
    #[error(
        "drop probability falls from {below} to {above} up to {queue_packets} packets: it must not decrease"
    )]
    DropDecreases {
        /// The longer of the two queue lengths, packets.
        queue_packets: f64,
        /// Probability at the shorter queue length.
        below: f64,
        /// Probability at the longer queue length.
        above: f64,
    },
    /// Even at `x_max` the admitted rate is above the service rate: the existence condition
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
    /// The route of a class of flows has no hop, a hop that does not exist, or hops that are not in
    /// the order of the network.
    #[error("route of class {class}: must be existing hops in their order")]
    Route {
        /// Index of the class, from 0.
        class: usize,
    },
    /// The iteration over the hops of a network does not converge.
    #[error(
        "the fixed point does not converge: after {sweeps} sweeps over the hops a queue or a loss still changes by {change:.1e} of its value"
    )]
    NoConvergence {
        /// Number of sweeps.
        sweeps: u32,
        /// Largest relative change in the last sweep.
        change: f64,
    },
}

/// Returns an error unless `ok` is true.
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
    fn messages_contain_field_value_and_accepted_range() {
        let threshold = ModelError::Threshold { index: 1, value: 5.0, previous: 20.0 };
        assert_eq!(
            threshold.to_string(),
            "threshold 2 = 5 packets after 20: thresholds must ascend from above 0"
        );
        let timeout = require(false, "timeout_s", -1.0, "above 0 and finite").unwrap_err();
        assert_eq!(timeout.to_string(), "timeout_s = -1: must be above 0 and finite");
    }
}
