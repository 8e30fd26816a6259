//! Correction to the fixed point: the sawtooth of the congestion windows makes the queue oscillate.
//!
//! The fixed point has the constant queue length x*. A real queue length varies, because the window
//! of every flow repeatedly grows and is halved. While the queue is above a threshold, the link has
//! a different rate and error rate. This module assumes that the sum of all windows varies so
//! slowly around its mean that the queue reaches its equilibrium for each value of the sum. Rate,
//! losses and T are averaged over these values. The windows follow from the averaged loss rate, so
//! that the loss rate is itself a fixed point.
//!
//! Source: derived here; the sending rates are those of qawla-2015 §3 at a given loss rate,
//! multiplied by a scale factor. Left out: bursts shorter than a round-trip time, although they
//! change the queue length as much as windows do; synchronised flows (caused by drop-tail); errors
//! of the PFTK formula. The measurements are in `docs/explanation/fixed-point-validity.md`.

use crate::error::ModelError;
use crate::fixed_point::Problem;
use crate::operating_point::OperatingPoint;
use crate::pftk::RateTerms;
use crate::regimes::Regime;
use crate::root::{Bracket, Tolerance, find_root};
use crate::solution::{Change, Solution, Warning};

/// Coefficient of variation of one flow's window (standard deviation over mean). It is 1/(3√3) =
/// 0.19 if the window is halved every 1/p packets, and 0.41 with independent losses (mean 1.31/√p
/// and mean square 2/p at b = 1). The value is the middle of both and was not fitted.
pub const WINDOW_SPREAD: f64 = 0.3;
/// Relative difference of T or of an RTT above which a warning is given.
const WORTH_A_WARNING: f64 = 0.03;
/// Minimum differences of the queue length for a warning: relative, and in packets. Both must be
/// exceeded, because the relative error of a short queue is always large.
const QUEUE_WORTH_A_WARNING: (f64, f64) = (0.1, 1.0);
/// The sum of windows is evaluated at 25 points, up to three standard deviations from the mean.
const STEPS: i32 = 12;
const REACH: f64 = 3.0;
/// The smallest sum of windows, as a share of its mean.
const SMALLEST_SCALE: f64 = 0.02;
/// Lower bound of the search for the loss rate: at this loss rate all windows are at W_max.
const SMALLEST_LOSS: f64 = 1e-9;
const TOLERANCE: Tolerance = Tolerance { argument: 1e-7, value: 1e-9 };

/// Averages over the oscillation of the flows' windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowOscillation {
    /// T: rate of the IP packets that reach the receivers, bit/s.
    pub throughput_bps: f64,
    /// Number of waiting packets.
    pub queue_packets: f64,
    /// Queueing and transmission delay of a sent packet, s.
    pub delay_s: f64,
    /// Coefficient of variation of the sum of all windows; 0 if the windows never change.
    pub spread: f64,
}

impl WindowOscillation {
    /// Returns a warning if the average differs significantly from the solution: by more than 3 %
    /// in T or in the RTT of the flow with the shortest path, or by more than 10 % and one packet
    /// in the queue length.
    pub fn warning(&self, solution: &Solution, base_rtts_s: &[f64]) -> Option<Warning> {
        let shortest_s = base_rtts_s.iter().copied().fold(f64::INFINITY, f64::min);
        let throughput_bps = Change { of: solution.throughput_bps(), to: self.throughput_bps };
        let queue_packets = Change { of: solution.queue_packets(), to: self.queue_packets };
        let rtt_s =
            Change { of: shortest_s + solution.point.delay_s, to: shortest_s + self.delay_s };
        let (share, packets) = QUEUE_WORTH_A_WARNING;
        let queue_differs = queue_packets.share().abs() > share
            && (queue_packets.to - queue_packets.of).abs() > packets;
        let differs = |change: Change| change.share().abs() > WORTH_A_WARNING;
        (queue_differs || differs(throughput_bps) || differs(rtt_s))
            .then_some(Warning::QueueOscillation { throughput_bps, queue_packets, rtt_s })
    }
}

impl<Q: Fn(f64) -> f64> Problem<'_, Q> {
    /// Estimates throughput and queue length averaged over the oscillation of the flows' windows.
    /// Takes about as long as a thousand calls of [`Problem::solve`].
    ///
    /// # Errors
    /// Fails in the same cases as [`Problem::solve`].
    pub fn window_oscillation(&self) -> Result<WindowOscillation, ModelError> {
        self.solve()?;
        let at = |log_loss: f64| FrozenWindows::new(self, log_loss.exp()).average();
        let excess = |log_loss: f64| log_loss.exp() - at(log_loss).loss;
        let (low, high) = (SMALLEST_LOSS.ln(), 0.0);
        let (value_low, value_high) = (excess(low), excess(high));
        let log_loss = if value_low >= 0.0 {
            low
        } else {
            let start = Bracket { low, high, value_low, value_high };
            find_root(excess, start, TOLERANCE).best()
        };
        Ok(at(log_loss).oscillation)
    }
}

/// Average over all values of the sum of windows, and the averaged loss rate.
struct Average {
    oscillation: WindowOscillation,
    loss: f64,
}

/// Flows with fixed windows, which send at the rate for a given loss rate, regardless of the queue
/// length.
struct FrozenWindows<'a, 'p, Q> {
    problem: &'a Problem<'p, Q>,
    terms: RateTerms,
}

impl<'a, 'p, Q: Fn(f64) -> f64> FrozenWindows<'a, 'p, Q> {
    fn new(problem: &'a Problem<'p, Q>, loss: f64) -> Self {
        let terms = problem.tcp.rate_terms(loss);
        Self { problem, terms }
    }

    fn average(&self) -> Average {
        let spread = self.spread(&self.settle(1.0));
        let (mut weights, mut queue, mut sent, mut delivered) = (0.0, 0.0, 0.0, 0.0);
        let mut delay = 0.0;
        for step in -STEPS..=STEPS {
            let deviation = REACH * f64::from(step) / f64::from(STEPS);
            let weight = (-0.5 * deviation * deviation).exp();
            let point = self.settle((1.0 + spread * deviation).max(SMALLEST_SCALE));
            weights += weight;
            queue += weight * point.queue_packets;
            sent += weight * point.packet_bits * point.sending_rate;
            delay += weight * point.packet_bits * point.sending_rate * point.delay_s;
            delivered += weight * point.throughput_bps();
        }
        Average {
            oscillation: WindowOscillation {
                throughput_bps: delivered / weights,
                queue_packets: queue / weights,
                delay_s: delay / sent,
                spread,
            },
            loss: 1.0 - delivered / sent,
        }
    }

    /// Returns the coefficient of variation of the sum of all windows at a point, for independent
    /// flows weighted by their sending rates. A window can exceed its mean only up to W_max.
    fn spread(&self, point: &OperatingPoint) -> f64 {
        let deviation = |base_rtt: &f64| {
            let flow = point.flow(*base_rtt);
            let window = flow.sending_rate * flow.rtt_s;
            let growth = (self.problem.tcp.max_window_packets / window - 1.0).max(0.0);
            flow.sending_rate * WINDOW_SPREAD.min(growth)
        };
        let squares = self.problem.base_rtts_s.iter().map(|rtt| deviation(rtt).powi(2));
        squares.sum::<f64>().sqrt() / point.sending_rate
    }

    /// Returns the equilibrium of the queue if all flows send at `scale` times their rate. The
    /// search follows the same path as [`Problem::solve`], from an empty queue upwards.
    fn settle(&self, scale: f64) -> OperatingPoint {
        let (regimes, x_max) = (self.problem.link.regimes(), self.problem.drop.x_max);
        let mut low = self.point(0.0, regimes[0], scale);
        if low.balance() > 0.0 {
            return low;
        }
        for (index, &regime) in regimes.iter().enumerate() {
            let threshold = self.problem.link.thresholds().get(index).copied();
            let end = threshold.unwrap_or(f64::INFINITY).min(x_max);
            let high = self.point(end, regime, scale);
            let inside = |x: f64| self.point(x, regime, scale);
            if high.balance() > 0.0 {
                let ends = (low.queue_packets, high.queue_packets);
                return balanced(search(inside, &low, &high, ends));
            }
            match (threshold, regimes.get(index + 1)) {
                (Some(threshold), Some(&above)) if threshold <= x_max => {
                    low = self.point(end, above, scale);
                    if low.balance() > 0.0 {
                        let mixed = |alpha| self.point(end, regime.mix(above, alpha), scale);
                        return search(mixed, &high, &low, (0.0, 1.0));
                    }
                }
                _ => return balanced(high),
            }
        }
        low
    }

    fn point(&self, queue_packets: f64, service: Regime, scale: f64) -> OperatingPoint {
        let drop_probability = (self.problem.drop.probability)(queue_packets);
        let flows = (8.0 * self.problem.packet_bytes, self.problem.base_rtts_s);
        OperatingPoint::held(queue_packets, service, drop_probability, self.terms, scale, flows)
    }
}

/// Sets the drop probability to 1 − G, which balances the queue. This value may be inside a jump of
/// q.
fn balanced(mut point: OperatingPoint) -> OperatingPoint {
    point.drop_probability = (1.0 - point.g()).clamp(0.0, 1.0);
    point
}

fn search(
    at: impl Fn(f64) -> OperatingPoint,
    below: &OperatingPoint,
    above: &OperatingPoint,
    (low, high): (f64, f64),
) -> OperatingPoint {
    let start = Bracket { low, high, value_low: below.balance(), value_high: above.balance() };
    at(find_root(|place| at(place).balance(), start, TOLERANCE).best())
}
