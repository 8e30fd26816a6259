//! Computes the maximum price gain b for a stable equilibrium if the price uses an averaged queue.
//!
//! The protocol computes the price from the average queue length q̄ (§4.1 of the paper). The
//! paper's analysis leaves this average out. The protocol divides the window's increase by the
//! complete round-trip time (Eq. 16), whereas the model divides by d_i. The closed model with both
//! details is:
//!
//! ```text
//! dw_i/dt = (τ − p μ_i)/D_i     p = (b q̄ − a)/μ_c     dq̄/dt = (q − q̄)/T     D_i = σ (d_i + q/μ_c)
//! ```
//!
//! At the equilibrium τ − p μ_i is 0, so the derivative of D_i has no effect. With c_i = p*/R_i and
//! g_i = (1/R_i)/Σ (1/R_j), as without averaging, the characteristic equation is H = 0 with
//!
//! ```text
//! H = 1 + Σ g_i e^(−s d_i) (b/(1 + sT) − c_i)/(D_i s + c_i e^(−s d_i))
//! ```
//!
//! H approaches 1 for large s, and is analytic if all c_i d_i/D_i are below π/2. Nyquist's
//! criterion is applied as in `stability`. Source: derivation in
//! `docs/reference/models/clamp-fluid.md`.

use super::ClampFluid;
use super::stability::{Complex, is_stable, limit};
use crate::error::{ModelError, require};
use std::f64::consts::FRAC_PI_2;

/// Parameters of the protocol's queue averaging, which the basic model leaves out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueAverage {
    /// T: time constant of the queue's average, s. Above 0; 0.5 s in the protocol.
    pub time_constant_s: f64,
    /// σ: ratio of the receiver's delay estimate to the round-trip time. It is below 1, because the
    /// receiver divides a window in payload bytes by a rate of IP packets. Above 0, at most 1.
    pub delay_share: f64,
}

impl ClampFluid {
    /// Returns the largest b below which the closed model with `average` is stable, with all other
    /// parameters unchanged; `None` if it is stable up to 64.
    ///
    /// # Errors
    /// Fails if a parameter is outside its range.
    pub fn limit_with_average(&self, average: QueueAverage) -> Result<Option<f64>, ModelError> {
        self.require_ranges()?;
        let QueueAverage { time_constant_s, delay_share } = average;
        let positive = time_constant_s > 0.0 && time_constant_s.is_finite();
        require(positive, "time_constant_s", time_constant_s, "above 0 and finite")?;
        let share = delay_share > 0.0 && delay_share <= 1.0;
        require(share, "delay_share", delay_share, "above 0 and at most 1")?;
        Ok(limit(|b| self.averaged_is_stable(b, average)))
    }

    /// Returns true if the averaged model is stable with the given `b`.
    fn averaged_is_stable(&self, b: f64, average: QueueAverage) -> bool {
        let model = ClampFluid { b, ..self.clone() };
        let Ok(rest) = model.equilibrium() else { return false };
        let inverse: f64 = self.delays_s.iter().map(|d| 1.0 / rest.rtt_s(*d)).sum();
        let flow = |d: &f64| {
            let rtt_s = rest.rtt_s(*d);
            let gain_s = average.delay_share * rtt_s;
            (*d, gain_s, rest.price_s / rtt_s, 1.0 / (rtt_s * inverse))
        };
        let flows: Vec<(f64, f64, f64, f64)> = self.delays_s.iter().map(flow).collect();
        if flows.iter().any(|(d, gain_s, c, _)| c * d / gain_s >= FRAC_PI_2) {
            return false;
        }
        let h = |omega: f64| {
            let averaged =
                Complex::new(b, 0.0) / Complex::new(1.0, omega * average.time_constant_s);
            flows.iter().fold(Complex::new(1.0, 0.0), |sum, (d, gain_s, c, share)| {
                let late = Complex::turned(-omega * d);
                let answer = late * (averaged + Complex::new(-c, 0.0)) * *share;
                sum + answer / (Complex::new(0.0, omega * gain_s) + late * *c)
            })
        };
        let largest = flows.iter().map(|(_, gain_s, c, _)| c / gain_s).fold(0.0, f64::max);
        let gain = flows.iter().map(|(_, gain_s, _, share)| share * b / gain_s).sum::<f64>();
        is_stable(h, self.grid(gain + largest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: QueueAverage = QueueAverage { time_constant_s: 0.5, delay_share: 1460.0 / 1500.0 };

    fn model(a: f64, b: f64, delays_s: &[f64]) -> ClampFluid {
        ClampFluid { rate: 1.25e6, a, b, tau: 500.0, delays_s: delays_s.to_vec() }
    }

    fn found(a: f64, delays_s: &[f64], average: QueueAverage) -> f64 {
        let limit = model(a, 1.0, delays_s).limit_with_average(average).unwrap();
        limit.expect("the model has a limit")
    }

    #[test]
    fn equal_delays_have_the_limit_of_their_imaginary_root() {
        // The imaginary root s = jω of D s (1 + sT) + b e^(−sd) = 0 is at ωd tan ωd = d/T, with b =
        // D ω √(1 + ω²T²).
        for (flows, d, time_constant_s) in
            [(1, 0.05, 0.5), (2, 0.05, 0.5), (3, 0.01, 0.5), (1, 0.5, 0.1), (1, 0.05, 0.01)]
        {
            let average = QueueAverage { time_constant_s, ..PAPER };
            let (mut low, mut high) = (0.0, FRAC_PI_2);
            while high - low > 1e-13 {
                let x = 0.5 * (low + high);
                if x * f64::tan(x) < d / time_constant_s { low = x } else { high = x }
            }
            let omega = low / d;
            let gain = omega * (1.0 + (omega * time_constant_s).powi(2)).sqrt();
            let limit = found(20e3, &vec![d; flows], average);
            let rtt_s = model(20e3, limit, &vec![d; flows]).equilibrium().unwrap().rtt_s(d);
            let root = PAPER.delay_share * rtt_s * gain;
            assert!((limit / root - 1.0).abs() < 1e-5, "{flows}, {d}: {limit}, not {root}");
        }
        let known = found(20e3, &[0.05], PAPER);
        assert!((known / 1.25 - 1.0).abs() < 0.002, "{known}");
    }

    #[test]
    fn limit_without_averaging_equals_limit_of_closed_model() {
        // T approaches 0, and the queue is so small that the round trip equals the delay.
        let average = QueueAverage { time_constant_s: 1e-7, delay_share: 1.0 };
        for delays_s in [[0.05, 0.05], [0.05, 0.1], [0.05, 0.5]] {
            let model =
                ClampFluid { rate: 1.25e9, a: 0.0, b: 1.0, tau: 500.0, delays_s: delays_s.into() };
            let closed = model.limit().unwrap().closed.unwrap();
            let limit = model.limit_with_average(average).unwrap().unwrap();
            assert!((limit / closed - 1.0).abs() < 1e-4, "{delays_s:?}: {limit}, not {closed}");
        }
    }

    /// Returns the ratio of the queue's oscillation amplitude in the last quarter of `until_s` to
    /// the amplitude in the second quarter. The oscillation grows if the ratio is above 1.
    /// Integrates the nonlinear equations of this file by the trapezoidal rule. Delays must be
    /// multiples of the step, which is 1/16 of the first delay.
    fn growth(model: &ClampFluid, average: QueueAverage, until_s: f64) -> f64 {
        let rest = model.equilibrium().unwrap();
        let step_s = model.delays_s[0] / 16.0;
        let steps = |seconds: f64| (seconds / step_s).round() as usize;
        let behind: Vec<usize> = model.delays_s.iter().map(|d| steps(*d)).collect();
        let longest = behind.iter().copied().max().unwrap();
        let mut windows: Vec<Vec<f64>> = model
            .delays_s
            .iter()
            .map(|d| vec![rest.window(*d) * (1.0 + 1e-6); longest + 1])
            .collect();
        // q/μ_c at which Σ w_i/(d_i + q/μ_c) equals μ_c.
        let wait_s = |arrived: &[f64], guess: f64| {
            (0..40).fold(guess, |wait, _| {
                let each = || arrived.iter().zip(&model.delays_s);
                let sum: f64 = each().map(|(w, d)| w / (d + wait)).sum();
                let slope: f64 = each().map(|(w, d)| w / (d + wait).powi(2)).sum();
                wait + (sum - model.rate) / slope
            })
        };
        let slopes = |arrived: &[f64], wait: f64, averaged: f64| -> Vec<f64> {
            let price_s = model.b * averaged - model.a / model.rate;
            let of_flow = |(w, d): (&f64, &f64)| {
                let rtt_s = d + wait;
                (model.tau - price_s * w / rtt_s) / (average.delay_share * rtt_s)
            };
            arrived.iter().zip(&model.delays_s).map(of_flow).collect()
        };
        let arrived = |windows: &[Vec<f64>]| -> Vec<f64> {
            windows
                .iter()
                .zip(&behind)
                .map(|(past, behind)| past[past.len() - 1 - behind])
                .collect()
        };
        let mut here = arrived(&windows);
        let mut wait = wait_s(&here, rest.queue_delay_s);
        let mut averaged = rest.queue_delay_s;
        let mut before = slopes(&here, wait, averaged);
        let mut largest = [0.0f64; 4];
        let (all, half) = (steps(until_s), 0.5 * step_s / average.time_constant_s);
        for step in 0..all {
            // Windows are known up to the current step, and the shortest delay is longer than a
            // step.
            for past in &mut windows {
                past.push(*past.last().unwrap());
            }
            here = arrived(&windows);
            let next = wait_s(&here, wait);
            averaged = ((1.0 - half) * averaged + half * (wait + next)) / (1.0 + half);
            wait = next;
            let after = slopes(&here, wait, averaged);
            for (past, (one, two)) in windows.iter_mut().zip(before.iter().zip(&after)) {
                *past.last_mut().unwrap() += 0.5 * step_s * (one + two);
            }
            before = after;
            let quarter = 4 * step / all;
            let deviation = (averaged - rest.queue_delay_s).abs();
            largest[quarter] = largest[quarter].max(deviation);
        }
        largest[3] / largest[1]
    }

    #[test]
    fn oscillation_grows_only_above_the_limit() {
        for delays_s in [vec![0.05], vec![0.01, 0.01], vec![0.05, 0.1], vec![0.01, 0.1]] {
            let limit = found(5500.0, &delays_s, PAPER);
            for (b, grows) in [(0.99 * limit, false), (1.01 * limit, true)] {
                let found = growth(&model(5500.0, b, &delays_s), PAPER, 400.0);
                assert_eq!(found > 1.0, grows, "{delays_s:?} {b}: {found}");
            }
        }
    }

    #[test]
    fn values_outside_their_ranges_are_rejected() {
        let refused = |average: QueueAverage| {
            model(5500.0, 1.0, &[0.05]).limit_with_average(average).unwrap_err().to_string()
        };
        assert_eq!(
            refused(QueueAverage { time_constant_s: 0.0, ..PAPER }),
            "time_constant_s = 0: must be above 0 and finite"
        );
        assert_eq!(
            refused(QueueAverage { delay_share: 1.5, ..PAPER }),
            "delay_share = 1.5: must be above 0 and at most 1"
        );
    }
}
