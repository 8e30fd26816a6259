//! Computes the fixed point of TCP flows, a queue discipline, and a link with any number of
//! regimes: the queue length at which the admitted rate of the flows equals the service rate of the
//! link.
//!
//! Source: qawla-2015 §3, eqs. 12–22 and Algorithm 1, extended from two to any number of regimes
//! (future work in its conclusions). Left out:
//!
//! * duplicates and retransmissions: T counts all admitted packets that the link does not lose
//! * losses and delays of ACKs
//! * losses outside this queue and link
//! * the dependence of the timeout on the RTT
//!
//! x is the queue length in packets, q its drop probability, and α the share of time in the upper
//! regime at a threshold. G is the ratio of the service rate to the sending rate of the flows. b is
//! the number of packets per ACK.
//!
//! # Algorithm
//! For increasing queue length, the state follows one path: x through regime 1, then α from 0 to 1
//! at the first threshold, then x through regime 2, and so on to `x_max`. Along this path, G − (1 −
//! q) is continuous (for b = 2 and a continuous q), and it increases if rates and packet error
//! rates do not decrease. The solution is the point at which G − (1 − q) changes sign. Algorithm 1
//! evaluates both ends of each segment of the path in order, and searches only in the segment with
//! the sign change.
//!
//! # Discontinuities
//! * If q jumps, x* is at the jump, and the drop probability is the value between the two sides of
//!   the jump at which G − (1 − q) is 0.
//! * If b ≠ 2, PFTK jumps where E\[W_u\] = W_max (see [`crate::pftk`]). The search still finds the
//!   sign change. For b < 2, G decreases at the jump: G − (1 − q) is 0 at the solution, but there
//!   may be a second solution on the other side of the jump. For b > 2 the sign change may be at
//!   the jump itself. Both cases are reported as [`Warning::WindowLimitJump`].

use crate::drop_curve::DropCurve;
use crate::error::{ModelError, require};
use crate::operating_point::OperatingPoint;
use crate::pftk::{LOSSY, Tcp, WAITING};
use crate::regimes::{MultiRegimeLink, Regime};
use crate::root::{Bracket, Tolerance, find_root};
use crate::solution::{Domain, Solution, Warning, Warnings};

/// Tolerance of x*: 1e-12 packets, or |G − (1 − q)| at most 1e-15.
const QUEUE_TOLERANCE: Tolerance = Tolerance { argument: 1e-12, value: 1e-15 };
/// Tolerance of α* and of the drop probability at a jump of q: 1e-12.
const FRACTION_TOLERANCE: Tolerance = Tolerance { argument: 1e-12, value: 1e-15 };
/// Largest G − (1 − q) at a solution without a jump.
const BALANCED: f64 = 1e-7;

/// Long-lived TCP flows through one queue and one link. All data are borrowed: for a sweep, change
/// a field and solve again.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a, Q> {
    /// Thresholds, and rate and packet error rate of each regime.
    pub link: MultiRegimeLink<'a>,
    /// Base RTT of each flow, RTT_0,i + 2 D_F, s: the RTT without queueing and transmission at this
    /// link (D_F is the one-way delay of the link). At least one flow; each value 0 or more,
    /// finite.
    pub base_rtts_s: &'a [f64],
    /// q(x) of the queue discipline.
    pub drop: DropCurve<Q>,
    /// Parameters of all TCP senders and receivers.
    pub tcp: Tcp,
    /// L, size of a packet, bytes. Above 0, finite. (1500 in qawla-2015.)
    pub packet_bytes: f64,
}

/// A point on the path from an empty queue to `x_max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Position {
    /// In a regime, with a given number of waiting packets. Both thresholds of the regime are
    /// included, as limits from inside the regime.
    Inside {
        /// Index of the regime, from 0.
        regime: usize,
        /// x: number of waiting packets.
        queue_packets: f64,
    },
    /// At a threshold.
    Boundary {
        /// Index of the threshold, from 0.
        boundary: usize,
        /// α: fraction of time in the upper regime, in [0, 1].
        alpha: f64,
    },
}

impl<Q: Fn(f64) -> f64> Problem<'_, Q> {
    /// Computes the fixed point (x*, α*) by Algorithm 1 of qawla-2015, for any number of regimes.
    ///
    /// The fixed point exists and is unique under four conditions (Theorems 3.1 and 3.2): rates and
    /// packet error rates do not decrease from one regime to the next, q is continuous, b = 2, and
    /// no RTT exceeds T₀. A fixed point also exists without these conditions;
    /// [`Solution::warnings`] lists the conditions that do not hold. The accuracy of x* and α* is
    /// 1e-12, or limited by rounding in the balance of the queue. This function allocates no
    /// memory.
    ///
    /// # Errors
    /// [`ModelError::QueueFull`] if the queue grows even at `x_max`; other errors for parameters,
    /// base RTTs and a drop curve out of range.
    pub fn solve(&self) -> Result<Solution, ModelError> {
        self.validate()?;
        let mut low = self.point(0.0, self.link.regimes()[0], self.drop.at(0.0)?);
        if low.balance() > 0.0 {
            return Ok(self.solution(Domain::Empty, None, low));
        }
        for (index, &regime) in self.link.regimes().iter().enumerate() {
            let high = self.regime_end(index, &low)?;
            if high.balance() > 0.0 {
                return self.solve_inside(index, regime, &low, &high);
            }
            let above = self.above_boundary(index, &high)?;
            if above.balance() > 0.0 {
                return Ok(self.solve_boundary(index, &high, &above));
            }
            low = above;
        }
        unreachable!("the last regime has no boundary above it: above_boundary returned an error")
    }

    /// Evaluates link and flows at a given point, which need not be a solution: κ, G, T as
    /// functions of x and α (qawla-2015 eqs. 12–18, 21).
    ///
    /// # Errors
    /// [`ModelError::DropProbability`] if the value of the drop curve is not a probability.
    ///
    /// # Panics
    /// Panics if the link has no such regime or boundary.
    pub fn at(&self, position: Position) -> Result<OperatingPoint, ModelError> {
        let regimes = self.link.regimes();
        let (queue_packets, service) = match position {
            Position::Inside { regime, queue_packets } => (queue_packets, regimes[regime]),
            Position::Boundary { boundary, alpha } => {
                let mixed = regimes[boundary].mix(regimes[boundary + 1], alpha);
                (self.link.thresholds()[boundary], mixed)
            }
        };
        Ok(self.point(queue_packets, service, self.drop.at(queue_packets)?))
    }

    /// Validates all parameters except the link, which its constructor validates, and the values of
    /// the drop curve.
    fn validate(&self) -> Result<(), ModelError> {
        let packet = self.packet_bytes;
        require(packet > 0.0 && packet.is_finite(), "packet_bytes", packet, "above 0 and finite")?;
        self.tcp.validate()?;
        self.drop.validate()?;
        if self.base_rtts_s.is_empty() {
            return Err(ModelError::NoFlows);
        }
        let bad = |rtt: &f64| !(*rtt >= 0.0 && rtt.is_finite());
        self.base_rtts_s.iter().position(bad).map_or(Ok(()), |index| {
            Err(ModelError::BaseRtt { index, base_rtt_s: self.base_rtts_s[index] })
        })
    }

    fn point(&self, queue_packets: f64, service: Regime, drop_probability: f64) -> OperatingPoint {
        let flows = (&self.tcp, 8.0 * self.packet_bytes, self.base_rtts_s);
        OperatingPoint::new(queue_packets, service, drop_probability, flows)
    }

    /// Evaluates the upper end of a regime: its upper threshold or `x_max`.
    fn regime_end(&self, index: usize, low: &OperatingPoint) -> Result<OperatingPoint, ModelError> {
        let threshold = self.link.thresholds().get(index).copied().unwrap_or(f64::INFINITY);
        let end = threshold.min(self.drop.x_max);
        let drop_probability = self.drop.at(end)?;
        if drop_probability < low.drop_probability {
            return Err(ModelError::DropDecreases {
                queue_packets: end,
                below: low.drop_probability,
                above: drop_probability,
            });
        }
        Ok(self.point(end, self.link.regimes()[index], drop_probability))
    }

    /// Evaluates the queue length of `low` with all time in the next higher regime.
    fn above_boundary(
        &self,
        index: usize,
        high: &OperatingPoint,
    ) -> Result<OperatingPoint, ModelError> {
        match self.link.thresholds().get(index) {
            Some(&threshold) if threshold <= self.drop.x_max => {
                Ok(self.point(threshold, self.link.regimes()[index + 1], high.drop_probability))
            }
            _ => Err(ModelError::QueueFull {
                queue_packets: high.queue_packets,
                arrival_bps: high.arrival_bps(),
                service_bps: high.service.rate_bps,
            }),
        }
    }

    fn solve_inside(
        &self,
        index: usize,
        regime: Regime,
        low: &OperatingPoint,
        high: &OperatingPoint,
    ) -> Result<Solution, ModelError> {
        let at = |x: f64| self.point(x, regime, (self.drop.probability)(x));
        let start = bracket(low, high, (low.queue_packets, high.queue_packets));
        let found = find_root(|x| at(x).balance(), start, QUEUE_TOLERANCE);
        let x = found.best();
        let (q_low, q_high) = (self.drop.at(found.low)?, self.drop.at(found.high)?);
        let point = if found.residual() > BALANCED && q_high > q_low {
            self.solve_drop_jump(x, regime, (q_low, q_high))
        } else {
            self.point(x, regime, self.drop.at(x)?)
        };
        Ok(self.solution(Domain::Regime(index), None, point))
    }

    /// Solves at a jump of q: finds the drop probability between the two sides of the jump that
    /// balances the queue.
    fn solve_drop_jump(&self, x: f64, regime: Regime, (low, high): (f64, f64)) -> OperatingPoint {
        let at = |q: f64| self.point(x, regime, q);
        let start = bracket(&at(low), &at(high), (low, high));
        at(find_root(|q| at(q).balance(), start, FRACTION_TOLERANCE).best())
    }

    fn solve_boundary(
        &self,
        index: usize,
        low: &OperatingPoint,
        high: &OperatingPoint,
    ) -> Solution {
        let at = |alpha: f64| {
            let service = low.service.mix(high.service, alpha);
            self.point(low.queue_packets, service, low.drop_probability)
        };
        let start = bracket(low, high, (0.0, 1.0));
        let alpha = find_root(|alpha| at(alpha).balance(), start, FRACTION_TOLERANCE).best();
        self.solution(Domain::Boundary(index), Some(alpha), at(alpha))
    }

    fn solution(&self, domain: Domain, alpha: Option<f64>, point: OperatingPoint) -> Solution {
        let warnings = Warnings([
            self.link.rate_decrease(),
            self.link.per_decrease(),
            self.window_limit_jump(point.loss),
            self.long_rtt(point.delay_s),
            self.losses_or_timeouts(domain, &point),
        ]);
        Solution { domain, alpha, point, warnings }
    }

    fn window_limit_jump(&self, loss: f64) -> Option<Warning> {
        let near = self.tcp.is_near_window_switch(loss);
        near.then(|| Warning::WindowLimitJump {
            loss,
            switch_loss: self.tcp.window_switch_loss(),
            jump: self.tcp.window_switch_jump(),
        })
    }

    /// Returns a warning if the solution is in a range in which measurements deviate from PFTK by
    /// more than 25 %. If the queue is not empty, the timeouts of PFTK do not affect the
    /// throughput, because the queue length adapts.
    fn losses_or_timeouts(&self, domain: Domain, point: &OperatingPoint) -> Option<Warning> {
        let per = point.service.per;
        if per > LOSSY {
            return Some(Warning::LossyLink { per });
        }
        let share = self.timeout_share(point);
        let matters = domain == Domain::Empty && share > WAITING;
        matters.then_some(Warning::TimeoutsDominate { share })
    }

    /// Returns the share of time in timeouts: mean over the flows, weighted by their sending rates.
    fn timeout_share(&self, point: &OperatingPoint) -> f64 {
        let rates =
            self.base_rtts_s.iter().map(|rtt| point.terms.sending_rate(rtt + point.delay_s));
        let waiting: f64 = rates.map(|rate| rate * rate * point.terms.timeout_s_per_packet).sum();
        waiting / point.sending_rate
    }

    fn long_rtt(&self, delay_s: f64) -> Option<Warning> {
        let longest = self.base_rtts_s.iter().copied().fold(0.0, f64::max);
        let (rtt_s, timeout_s) = (longest + delay_s, self.tcp.timeout_s);
        (rtt_s > timeout_s).then_some(Warning::RttExceedsTimeout { rtt_s, timeout_s })
    }
}

/// Returns the bracket between two points with given coordinates on the path.
fn bracket(below: &OperatingPoint, above: &OperatingPoint, (low, high): (f64, f64)) -> Bracket {
    Bracket { low, high, value_low: below.balance(), value_high: above.balance() }
}
