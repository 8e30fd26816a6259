//! The fixed point of TCP flows, a queue discipline and a link with any number of regimes: the
//! queue length at which the flows send just what the link serves.
//!
//! Source: qawla-2015 §3, eqs. 12–22 and Algorithm 1, for any number of regimes instead of two:
//! the extension that its conclusions leave to the future.
//! Left out: duplicates and retransmissions (T counts what κ admits and the link does not lose);
//! ACK losses and delays; losses elsewhere; a timeout that follows the RTT.
//!
//! # How it solves
//! From an empty queue upwards the state follows one path: x through regime 1, then α from 0 to 1
//! at the first threshold, then x through regime 2, and so on to `x_max`. Along it
//! G − (1 − q) is continuous (for b = 2 and a continuous q), and increasing when rates and packet
//! error rates do not decrease; the solution is where it changes sign. Algorithm 1 evaluates the
//! ends of each piece of the path in order, and searches only the piece that has the sign change.
//!
//! # Where it is not continuous
//! * q jumps: x* is at the jump, and the drop probability there is the one between its two
//!   sides that balances the queue.
//! * b ≠ 2: PFTK jumps where E\[W_u\] = W_max (see [`crate::pftk`]). The sign change still
//!   brackets. For b < 2 G falls at the jump, so the point found is a true balance, but a second
//!   one may exist on the other side; for b > 2 the jump itself may be the sign change. Either
//!   is reported as [`Warning::WindowLimitJump`].

use crate::drop_curve::DropCurve;
use crate::error::{ModelError, require};
use crate::operating_point::OperatingPoint;
use crate::pftk::{LOSSY, Tcp, WAITING};
use crate::regimes::{MultiRegimeLink, Regime};
use crate::root::{Bracket, Tolerance, find_root};
use crate::solution::{Domain, Solution, Warning, Warnings};

/// x* to 1e-12 packets, or the balance to a few units in the last place of 1.
const QUEUE_TOLERANCE: Tolerance = Tolerance { argument: 1e-12, value: 1e-15 };
/// α*, and the drop probability at a jump of q: to 1e-12.
const FRACTION_TOLERANCE: Tolerance = Tolerance { argument: 1e-12, value: 1e-15 };
/// Largest G − (1 − q) at a solution without a jump.
const BALANCED: f64 = 1e-7;

/// Long-lived TCP flows through one queue into one link. Everything is borrowed: to sweep, change
/// a field and solve again.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a, Q> {
    /// Thresholds, and rate and packet error rate of each regime.
    pub link: MultiRegimeLink<'a>,
    /// RTT_0,i + 2 D_F of each flow, s: everything but queueing and transmission at this link.
    /// At least one flow; each 0 or more, finite.
    pub base_rtts_s: &'a [f64],
    /// q(x) of the queue discipline.
    pub drop: DropCurve<Q>,
    /// Parameters of all TCP senders and receivers.
    pub tcp: Tcp,
    /// L, size of a packet, bytes. Above 0, finite. (1500 in qawla-2015.)
    pub packet_bytes: f64,
}

/// A place on the path from an empty queue to `x_max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Position {
    /// In a regime, with this many packets waiting (its thresholds belong to it here, as limits).
    Inside {
        /// Which regime, from 0.
        regime: usize,
        /// x, packets.
        queue_packets: f64,
    },
    /// At a threshold.
    Boundary {
        /// Which threshold, from 0.
        boundary: usize,
        /// α, fraction of the time in the upper regime, in [0, 1].
        alpha: f64,
    },
}

impl<Q: Fn(f64) -> f64> Problem<'_, Q> {
    /// The fixed point (x*, α*): Algorithm 1 of qawla-2015 for any number of regimes.
    ///
    /// Exists and is unique when rates and packet error rates do not decrease from one regime to
    /// the next, q is continuous and b = 2 (Theorems 3.1 and 3.2) and no RTT exceeds T₀. It exists
    /// without those conditions too; those that fail are in [`Solution::warnings`].
    /// x* and α* are found to 1e-12, or to where rounding hides the balance of the queue.
    /// Allocates nothing.
    ///
    /// # Errors
    /// [`ModelError::QueueFull`] when the queue grows even at `x_max`, and the errors of
    /// parameters, base RTTs and drop curve out of range.
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

    /// Link and flows at a given place, whether or not it is a solution: κ, G, T as functions of
    /// x and α (qawla-2015 eqs. 12–18, 21).
    ///
    /// # Errors
    /// [`ModelError::DropProbability`] when the drop curve returns no probability there.
    ///
    /// # Panics
    /// When the link has no such regime or boundary.
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

    /// Everything but the link, which is valid since it was made, and the values of the curve.
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

    /// The upper end of a regime: its threshold from below, or `x_max`.
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

    /// The same queue length, all time in the regime above.
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

    /// At a jump of q: the drop probability between its two sides that balances the queue.
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

    /// Where PFTK itself was measured to be off by more than a quarter. Behind a queue that is not
    /// empty its timeouts do not matter: the queue is as long as it takes.
    fn losses_or_timeouts(&self, domain: Domain, point: &OperatingPoint) -> Option<Warning> {
        let per = point.service.per;
        if per > LOSSY {
            return Some(Warning::LossyLink { per });
        }
        let share = self.timeout_share(point);
        let matters = domain == Domain::Empty && share > WAITING;
        matters.then_some(Warning::TimeoutsDominate { share })
    }

    /// The part of the time in timeouts, the mean over the flows by what they send.
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

/// A bracket between two points whose coordinate on the path is given.
fn bracket(below: &OperatingPoint, above: &OperatingPoint, (low, high): (f64, f64)) -> Bracket {
    Bracket { low, high, value_low: below.balance(), value_high: above.balance() }
}
