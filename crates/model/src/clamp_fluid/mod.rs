//! CLAMP's fluid model: a price, computed from the queue length, controls the windows of the flows
//! after a delay.
//!
//! ```text
//!   (here)       the equilibrium: q* = (kτ + a)/b, equal rates, window of each flow
//!   average      stability if the price uses an averaged queue, as in the protocol
//!   stability    maximum b for stability; smallest window with stable shares
//!   trajectory   integration of the equations, with flows that start and stop
//! ```
//!
//! Source: Andrew, Hanly and Mukhtar 2008, "Active Queue Management for Fair Resource Allocation in
//! Wireless Networks", §3.2, Eqs. 1 to 12. Units are those of the paper: bytes, bytes/s, seconds.
//! Byte counts are sizes of IP packets. d_i is the round-trip time without queueing and
//! transmission at the queue.

mod average;
mod stability;
mod trajectory;

pub use average::QueueAverage;
pub use stability::{Limit, shares_are_stable_above};
pub use trajectory::{ConstantShares, Life, Trajectory};

use crate::error::{ModelError, require};

/// A queue with a price, and the flows that share the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct ClampFluid {
    /// μ_c: service rate of the queue, bytes/s. Above 0.
    pub rate: f64,
    /// a: queue length at which the price is 0, bytes. 0 or more.
    pub a: f64,
    /// b: gain of the price with respect to the queue. Above 0; 1 in the protocol.
    pub b: f64,
    /// τ: increase of each flow's window per round trip, bytes. Above 0.
    pub tau: f64,
    /// d_i: delay of each flow, s. Above 0; at least one flow.
    pub delays_s: Vec<f64>,
}

/// Equilibrium of the windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equilibrium {
    /// Queue length q*, bytes (Eq. 11).
    pub queue: f64,
    /// Price p(q*), s (Eq. 7).
    pub price_s: f64,
    /// μ_i: rate of each flow, bytes/s. All flows have this rate.
    pub flow_rate: f64,
    /// Queueing delay q*/μ_c, s.
    pub queue_delay_s: f64,
}

impl Equilibrium {
    /// Returns the round-trip time d_i + q*/μ_c, s.
    pub fn rtt_s(&self, delay_s: f64) -> f64 {
        delay_s + self.queue_delay_s
    }

    /// Returns the window w_i*, bytes: IP packets in flight and in the queue.
    pub fn window(&self, delay_s: f64) -> f64 {
        self.flow_rate * self.rtt_s(delay_s)
    }
}

impl ClampFluid {
    /// Computes the equilibrium, in which all flows have equal rates and the queue length is that
    /// of Eq. 11.
    ///
    /// # Errors
    /// Fails if a parameter is outside its range.
    pub fn equilibrium(&self) -> Result<Equilibrium, ModelError> {
        self.require_ranges()?;
        let flows = self.delays_s.len() as f64;
        let queue = (flows * self.tau + self.a) / self.b;
        Ok(Equilibrium {
            queue,
            price_s: (self.b * queue - self.a) / self.rate,
            flow_rate: self.rate / flows,
            queue_delay_s: queue / self.rate,
        })
    }

    pub(crate) fn require_ranges(&self) -> Result<(), ModelError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let accepted = "above 0 and finite";
        require(positive(self.rate), "rate", self.rate, accepted)?;
        require(positive(self.b), "b", self.b, accepted)?;
        require(positive(self.tau), "tau", self.tau, accepted)?;
        require(self.a >= 0.0 && self.a.is_finite(), "a", self.a, "0 or more and finite")?;
        if self.delays_s.is_empty() {
            return Err(ModelError::NoFlows);
        }
        let wrong = self.delays_s.iter().find(|delay_s| !positive(**delay_s));
        wrong.map_or(Ok(()), |delay_s| require(false, "delay_s", *delay_s, accepted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(delays_s: &[f64]) -> ClampFluid {
        let delays_s = delays_s.to_vec();
        ClampFluid { rate: 1.25e6, a: 5500.0, b: 1.0, tau: 500.0, delays_s }
    }

    #[test]
    fn equation_11_and_the_windows_of_figure_2() {
        for (flows, queue) in [(1, 6000.0), (2, 6500.0), (3, 7000.0)] {
            let found = paper(&vec![0.05; flows]).equilibrium().unwrap();
            assert_eq!(found.queue, queue);
            let window = (62_500.0 + queue) / flows as f64;
            assert!((found.window(0.05) / window - 1.0).abs() < 1e-12);
            assert!((found.price_s * found.flow_rate / 500.0 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn values_outside_their_ranges_are_rejected() {
        let refused = |change: fn(&mut ClampFluid), line: &str| {
            let mut model = paper(&[0.05]);
            change(&mut model);
            assert_eq!(model.equilibrium().unwrap_err().to_string(), line);
        };
        refused(|model| model.b = 0.0, "b = 0: must be above 0 and finite");
        refused(|model| model.a = -1.0, "a = -1: must be 0 or more and finite");
        refused(|model| model.tau = f64::NAN, "tau = NaN: must be above 0 and finite");
        refused(|model| model.rate = f64::INFINITY, "rate = inf: must be above 0 and finite");
        refused(|model| model.delays_s[0] = 0.0, "delay_s = 0: must be above 0 and finite");
        let none = paper(&[]).equilibrium().unwrap_err();
        assert_eq!(none, ModelError::NoFlows);
    }
}
