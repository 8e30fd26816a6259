//! Drop probability of a queue discipline as a function of its queue length.

use crate::error::{ModelError, require};

/// q(x): probability that an arriving packet is dropped if x packets wait in the queue (qawla-2015
/// §2).
///
/// The queue discipline provides the curve: any function of the queue length in packets that
/// returns a probability in [0, 1] and never decreases. The curve need not be continuous. If it
/// jumps at the solution, the solver places the queue length at the jump and uses the drop
/// probability between both sides of the jump at which the admitted rate equals the service rate. A
/// drop-tail queue is a step from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub struct DropCurve<Q> {
    /// q(x) for 0 ≤ x ≤ `x_max`, x in packets.
    pub probability: Q,
    /// Queue length at which q reaches 1, packets; 2 th_max for gentle RED. Above 0, finite.
    pub x_max: f64,
}

impl<Q: Fn(f64) -> f64> DropCurve<Q> {
    /// Evaluates q(x) at `queue_packets`.
    ///
    /// # Errors
    /// [`ModelError::DropProbability`] if the value of the curve is not a probability.
    pub fn at(&self, queue_packets: f64) -> Result<f64, ModelError> {
        let probability = (self.probability)(queue_packets);
        if (0.0..=1.0).contains(&probability) {
            Ok(probability)
        } else {
            Err(ModelError::DropProbability { queue_packets, probability })
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ModelError> {
        let ok = self.x_max > 0.0 && self.x_max.is_finite();
        require(ok, "x_max (packets)", self.x_max, "above 0 and finite")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_outside_0_to_1_is_an_error_with_its_queue_length() {
        let curve = DropCurve { probability: |x| x, x_max: 2.0 };
        assert_eq!(curve.at(0.5), Ok(0.5));
        assert_eq!(
            curve.at(1.5),
            Err(ModelError::DropProbability { queue_packets: 1.5, probability: 1.5 })
        );
    }
}
