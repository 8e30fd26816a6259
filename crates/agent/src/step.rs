//! Length of the intervals between two decisions.

use airpath_core::Duration;

/// Rule for the length of an interval. Every interval also ends with the scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A constant duration, above 0.
    Time(Duration),
    /// A multiple of the mean RTT of agent 0 in its previous interval.
    Rtt {
        /// Factor of the mean RTT, above 0.
        factor: f64,
        /// Duration before the first RTT sample, above 0.
        first: Duration,
    },
    /// A number of ACKs that agent 0 receives.
    Acks {
        /// Number of ACKs, at least 1.
        count: u64,
        /// Longest duration, above 0.
        longest: Duration,
    },
}

impl Step {
    /// Returns true if an ACK may end an interval.
    pub(crate) fn pauses(&self) -> bool {
        matches!(self, Step::Acks { .. })
    }

    /// Returns the longest duration of the next interval. `mean_rtt` is the mean RTT in the last
    /// interval with samples, s; 0 before the first sample.
    pub(crate) fn duration(&self, mean_rtt: f64) -> Duration {
        match *self {
            Step::Time(duration) | Step::Acks { longest: duration, .. } => duration,
            Step::Rtt { first, .. } if mean_rtt <= 0.0 => first,
            Step::Rtt { factor, .. } => {
                Duration::from_nanos(((factor * mean_rtt * 1e9).round() as u64).max(1))
            }
        }
    }
}
