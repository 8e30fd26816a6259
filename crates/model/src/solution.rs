//! The solution of the fixed point, and its warnings.

use std::fmt;

use crate::operating_point::{FlowPoint, OperatingPoint};
use crate::pftk::LOSSY;

/// Part of the range of queue lengths that contains the solution. Indices of regimes and boundaries
/// count from 0 here, and from 1 in `Display` and the labels, as in qawla-2015.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// x* = 0: the flows send less than the service rate of the first regime.
    Empty,
    /// Inside the regime with this index.
    Regime(usize),
    /// At the threshold between the regime with this index and the next one.
    Boundary(usize),
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("empty"),
            Self::Regime(index) => write!(f, "R{}", index + 1),
            Self::Boundary(index) => write!(f, "B{}", index + 1),
        }
    }
}

impl Domain {
    /// Returns the name of the domain: `empty`, `R1`, `B1`, `R2` …; a link with two regimes has
    /// only one boundary, named `B`.
    pub fn label(self, regimes: usize) -> String {
        match self {
            Self::Boundary(0) if regimes == 2 => "B".to_owned(),
            _ => self.to_string(),
        }
    }

    /// Returns the label used in Tables 3–5 of qawla-2015: the same as [`Domain::label`], except
    /// that an empty queue is labelled `R1` (with x* = 0.0000).
    pub fn paper_label(self, regimes: usize) -> String {
        match self {
            Self::Empty => Self::Regime(0).label(regimes),
            _ => self.label(regimes),
        }
    }
}

/// A fixed point (x*, α*), and the state of link and flows at this point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solution {
    /// Domain of the fixed point.
    pub domain: Domain,
    /// α*: share of time in the upper regime, in [0, 1]; `None` unless the solution is at a
    /// boundary.
    pub alpha: Option<f64>,
    /// Link and flows at the solution.
    pub point: OperatingPoint,
    /// Warnings to check before trusting the solution.
    pub warnings: Warnings,
}

impl Solution {
    /// Returns x*, packets.
    pub fn queue_packets(&self) -> f64 {
        self.point.queue_packets
    }

    /// Returns T: rate of the IP packets that reach the receivers, bit/s (qawla-2015 eq. 18).
    pub fn throughput_bps(&self) -> f64 {
        self.point.throughput_bps()
    }

    /// Returns the state of each flow at the solution, in the order of `base_rtts_s`, the base RTTs
    /// of the problem.
    pub fn flows<'a>(&'a self, base_rtts_s: &'a [f64]) -> impl Iterator<Item = FlowPoint> + 'a {
        base_rtts_s.iter().map(|&base_rtt_s| self.point.flow(base_rtt_s))
    }
}

/// A reason to check a solution before trusting it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A higher regime has a lower rate: the solution may not be unique (qawla-2015 Theorem 3.1
    /// does not apply). The solution with the shortest queue is returned.
    RateDecreases {
        /// Index of the boundary, between this regime and the next one, from 0.
        boundary: usize,
        /// Rate below the boundary, bit/s.
        below_bps: f64,
        /// Rate above the boundary, bit/s.
        above_bps: f64,
    },
    /// A higher regime has a lower packet error rate: the solution may not be unique, as for
    /// [`Warning::RateDecreases`].
    PerDecreases {
        /// Index of the boundary, between this regime and the next one, from 0.
        boundary: usize,
        /// Packet error rate below the boundary.
        below: f64,
        /// Packet error rate above the boundary.
        above: f64,
    },
    /// With b ≠ 2 the PFTK formula jumps where E\[W_u\] = W_max, and the solution is close to this
    /// jump. For b < 2 a second solution may exist on the other side of the jump. For b > 2 the
    /// solution may be at the jump itself, where κ and r differ by up to the size of the jump.
    WindowLimitJump {
        /// Loss rate p at the solution.
        loss: f64,
        /// Loss rate p at which the formula changes the branch.
        switch_loss: f64,
        /// Relative size of the jump, see [`crate::Tcp::window_switch_jump`].
        jump: f64,
    },
    /// A flow's RTT exceeds T₀. The model assumes a constant T₀, because RTTs are usually far below
    /// it (qawla-2015 eq. 2 and after eq. 6). A real sender would have a larger timeout.
    RttExceedsTimeout {
        /// The longest RTT at the solution, s.
        rtt_s: f64,
        /// Timeout T₀, s.
        timeout_s: f64,
    },
    /// The link itself loses more than the share [`crate::pftk::LOSSY`] of the packets. Above this
    /// share the error of PFTK increases strongly.
    LossyLink {
        /// Packet error rate of the link at the solution.
        per: f64,
    },
    /// The queue is empty, so that PFTK determines the throughput. By PFTK, the flows spend more
    /// than the share [`crate::pftk::WAITING`] of the time in timeouts. Real senders have fewer
    /// timeouts and a higher throughput.
    TimeoutsDominate {
        /// Share of time in timeouts, in (0, 1): mean over the flows, weighted by their sending
        /// rates.
        share: f64,
    },
    /// The expected oscillation of the queue length is so large that averages differ from the
    /// solution: the queue enters other regimes, becomes empty, or covers a nonlinear part of the
    /// drop curve. Not returned by [`crate::Problem::solve`]; see
    /// [`crate::Problem::window_oscillation`].
    QueueOscillation {
        /// Throughput T, bit/s.
        throughput_bps: Change,
        /// Number of waiting packets.
        queue_packets: Change,
        /// RTT of the flow with the shortest path, s.
        rtt_s: Change,
    },
}

/// Value of a quantity at the fixed point, and its average over the oscillation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Value at the fixed point.
    pub of: f64,
    /// Averaged value.
    pub to: f64,
}

impl Change {
    /// Returns the relative difference from the value at the fixed point. It is infinite if this
    /// value is zero.
    pub fn share(self) -> f64 {
        if self.to == self.of { 0.0 } else { self.to / self.of - 1.0 }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.share() {
            // Adding 0 removes the sign of a share that rounds to −0.
            share if share.is_finite() => write!(f, "{:+.0} %", (100.0 * share).round() + 0.0),
            _ => f.write_str("from 0"),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateDecreases { boundary, below_bps, above_bps } => write!(
                f,
                "the rate falls from {below_bps} to {above_bps} bit/s at threshold {}: the solution may not be the only one",
                boundary + 1
            ),
            Self::PerDecreases { boundary, below, above } => write!(
                f,
                "the packet error rate falls from {below} to {above} at threshold {}: the solution may not be the only one",
                boundary + 1
            ),
            Self::WindowLimitJump { loss, switch_loss, jump } => write!(
                f,
                "the loss rate {loss} is close to {switch_loss}, where the TCP formula jumps by {:.2} %: the solution may be off by that much",
                100.0 * jump.abs()
            ),
            Self::RttExceedsTimeout { rtt_s, timeout_s } => write!(
                f,
                "a round-trip time of {rtt_s:.3} s exceeds the timeout of {timeout_s} s: the TCP formula is outside its validity"
            ),
            Self::LossyLink { per } => write!(
                f,
                "the link loses {:.0} % of the packets: above {:.0} % neither the TCP formula nor the queue holds (profile rfc: half too much at 20 %, ten times as much at 50 %); simulate",
                100.0 * per,
                100.0 * LOSSY
            ),
            Self::TimeoutsDominate { share } => write!(
                f,
                "by the TCP formula the flows wait for timeouts {:.0} % of the time; what recovers from losses without them gets up to {:.1} times as much: simulate",
                100.0 * share,
                1.0 / (1.0 - share)
            ),
            Self::QueueOscillation { throughput_bps, queue_packets, rtt_s } => write!(
                f,
                "the queue oscillates with the windows: averaged over that the throughput is about {:.2} Mbit/s ({throughput_bps} from the fixed point), the queue {:.1} packets ({queue_packets}), the shortest RTT {:.1} ms ({rtt_s}); simulate before trusting either",
                throughput_bps.to / 1e6,
                queue_packets.to,
                rtt_s.to * 1e3
            ),
        }
    }
}

/// The warnings of one solution, at most one of each kind, stored without memory allocation. A
/// lossy link gets no second warning about timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Warnings(pub(crate) [Option<Warning>; 5]);

impl Warnings {
    /// Iterates over the warnings.
    pub fn iter(&self) -> impl Iterator<Item = Warning> + '_ {
        self.0.iter().flatten().copied()
    }

    /// Returns true if there are no warnings.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_count_from_one_and_paper_label_of_an_empty_queue_is_r1() {
        assert_eq!(Domain::Empty.label(2), "empty");
        assert_eq!(Domain::Empty.paper_label(2), "R1");
        assert_eq!(Domain::Regime(1).paper_label(2), "R2");
        assert_eq!(Domain::Boundary(0).label(2), "B");
        assert_eq!(Domain::Boundary(0).label(3), "B1");
        assert_eq!(Domain::Boundary(1).paper_label(3), "B2");
    }

    #[test]
    fn warnings_contain_position_and_values() {
        let rate = Warning::RateDecreases { boundary: 0, below_bps: 2e6, above_bps: 1e6 };
        assert_eq!(
            rate.to_string(),
            "the rate falls from 2000000 to 1000000 bit/s at threshold 1: the solution may not be the only one"
        );
        let warnings = Warnings([None, Some(rate), None, None, None]);
        assert!(!warnings.is_empty() && Warnings::default().is_empty());
        assert_eq!(warnings.iter().count(), 1);
    }
}
