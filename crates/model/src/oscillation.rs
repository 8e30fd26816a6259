//! Correction to the fixed point: the sawtooth of the congestion windows makes the queue oscillate.
//!
//! A fixed point is at x*. A real queue moves, because every flow's window grows and is halved;
//! while it is beyond a threshold, the link has another rate and another error rate. Here the sum
//! of all windows varies around its mean, slowly enough that the queue settles for each value of
//! it, and rate, losses and T are averaged over those values. The loss rate is the one that the
//! average itself has (the windows follow from it).
//!
//! Source: own derivation; the sending rates are those of qawla-2015 §3 at a given loss rate,
//! scaled.
//! Left out: bursts shorter than a round-trip time, which move a queue as much as windows do;
//! synchronised flows (caused by drop-tail); errors of the PFTK formula.
//! `docs/explanation/fixed-point-validity.md` has the measurements behind it.

use crate::error::ModelError;
use crate::fixed_point::Problem;
use crate::operating_point::OperatingPoint;
use crate::pftk::RateTerms;
use crate::regimes::Regime;
use crate::root::{Bracket, Tolerance, find_root};
use crate::solution::{Change, Solution, Warning};

/// Standard deviation over mean of one flow's window. Halved each 1/p packets, a window has
/// 1/(3√3) = 0.19; halved by independent losses, 0.41 (from its mean 1.31/√p and mean square
/// 2/p at b = 1). This is the middle; it was not fitted.
const WINDOW_SPREAD: f64 = 0.3;
/// Differences of T and of an RTT from which on they are worth a warning.
const WORTH_A_WARNING: f64 = 0.03;
/// The same for the queue, as a share and in packets: both, for a short queue is never exact.
const QUEUE_WORTH_A_WARNING: (f64, f64) = (0.1, 1.0);
/// Windows are taken at 25 places, up to three standard deviations from the mean.
const STEPS: i32 = 12;
const REACH: f64 = 3.0;
/// The smallest sum of windows, as a share of its mean.
const SMALLEST_SCALE: f64 = 0.02;
/// The smallest loss rate looked for: at it a window is full.
const SMALLEST_LOSS: f64 = 1e-9;
const TOLERANCE: Tolerance = Tolerance { argument: 1e-7, value: 1e-9 };

/// Averages over the oscillation of the flows' windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowOscillation {
    /// T, bit/s of IP packets that reach the receivers.
    pub throughput_bps: f64,
    /// Packets waiting.
    pub queue_packets: f64,
    /// Queueing and transmission delay of a packet that is sent, s.
    pub delay_s: f64,
    /// Standard deviation of the sum of all windows over its mean. 0 where windows never change.
    pub spread: f64,
}

impl WindowOscillation {
    /// The warning for a solution from which the average differs: by more than 3 % in T or in the
    /// RTT of the flow with the shortest path, or by more than 10 % and a packet in the queue.
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
    /// Throughput and queue averaged over the oscillation of the flows' windows; an estimate, in
    /// about the time of a thousand solutions.
    ///
    /// # Errors
    /// Those of [`Problem::solve`].
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

/// The average over all windows, and the loss rate in it.
struct Average {
    oscillation: WindowOscillation,
    loss: f64,
}

/// The flows with their windows held: they send what a loss rate of `loss` makes them send,
/// wherever the queue is.
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

    /// Standard deviation over mean of the sum of all windows at a point: independent flows, each
    /// counted by what it sends. A window can exceed its mean only up to W_max.
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

    /// Where the queue settles when all flows send `scale` times as much: the same path from an
    /// empty queue upwards as that of [`Problem::solve`].
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

/// Where q jumps, the drop probability in between that balances the queue: 1 − G.
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
