//! Mean queue, drop probability and utilisation of a hop with early drops, averaged over the
//! oscillation of the flows' windows.
//!
//! Random drops hit one flow at a time, so that the sum of N windows varies like that of
//! independent windows: with a coefficient of variation of 0.3/√N ([`super::WINDOW_SPREAD`], the
//! value of [`crate::oscillation`]). With the shares v_i of the windows in the sum, and the share φ of the
//! losses of the flows that occur at this hop,
//!
//! ```text
//! σ² = 0.3² φ Σ (v_i min(1, W_max/E[W_u]))²,   φ = Σ v_i q_h / p_i                      (E1)
//! n_h = E[X],  q_h = E[q(X)],  u_h = E[min(1, W/P)],  X = (W − P)⁺,  W = (P + y)(1 + σ Z) (E2)
//! ```
//!
//! P is the number of packets that fill the path of the hop (its rate times the mean RTT without its
//! queue), y the position along the curve, and Z standard normal. A window that W_max limits varies
//! less. Without losses at this hop σ is 0, and (E2) is the curve itself.

use super::state::HopState;

/// The sum of windows is evaluated at 25 points, up to three standard deviations from the mean.
const STEPS: i32 = 12;
const REACH: f64 = 3.0;

/// Variation of the sum of windows at a hop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Variation {
    /// P: packets that fill the path of the hop.
    pub(super) pipe: f64,
    /// σ of (E1).
    pub(super) sigma: f64,
    /// Share of the capacity that datagrams leave, in [0, 1].
    pub(super) left: f64,
}

impl Variation {
    /// Returns the averages (E2) at position `y`, packets: the state of the hop and u_h. `probability`
    /// is the drop curve, `limit` the longest queue.
    pub(super) fn means(
        self,
        y: f64,
        limit: f64,
        probability: impl Fn(f64) -> f64,
    ) -> (HopState, f64) {
        let (mut weights, mut queue, mut drop, mut sent) = (0.0, 0.0, 0.0, 0.0);
        for step in -STEPS..=STEPS {
            let z = REACH * f64::from(step) / f64::from(STEPS);
            let weight = (-0.5 * z * z).exp();
            let sum = (self.pipe + y) * (1.0 + self.sigma * z).max(0.0);
            let waiting = (sum - self.pipe).clamp(0.0, limit);
            weights += weight;
            queue += weight * waiting;
            drop += weight * probability(waiting);
            sent += weight * (sum / self.pipe).min(1.0);
        }
        let mean = |sum: f64| sum / weights;
        (HopState { queue: mean(queue), drop: mean(drop) }, 1.0 - self.left * (1.0 - mean(sent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_variation_the_means_are_those_of_the_curve() {
        let still = Variation { pipe: 50.0, sigma: 0.0, left: 1.0 };
        let (state, busy) = still.means(20.0, 100.0, |x| x / 100.0);
        assert!((state.queue - 20.0).abs() < 1e-12 && (state.drop - 0.2).abs() < 1e-12);
        assert_eq!(busy, 1.0);
        let (state, busy) = still.means(-10.0, 100.0, |x| x / 100.0);
        assert_eq!((state.queue, state.drop), (0.0, 0.0));
        assert!((busy - 0.8).abs() < 1e-12);
    }

    #[test]
    fn a_sum_around_the_pipe_has_the_means_of_a_half_normal_variable() {
        // σ P = 10 packets: E[(10 Z)⁺] = 10/√(2π) = 3.989; u = 1 − 3.989/50.
        let (state, busy) =
            Variation { pipe: 50.0, sigma: 0.2, left: 1.0 }.means(0.0, 100.0, |x| x / 100.0);
        assert!((state.queue - 3.989).abs() < 0.08, "{state:?}");
        assert!((busy - (1.0 - 3.989 / 50.0)).abs() < 2e-3, "{busy}");
        assert!((state.drop - state.queue / 100.0).abs() < 1e-12);
    }
}
