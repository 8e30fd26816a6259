//! Computes the maximum price gain b for a stable equilibrium by Nyquist's criterion.
//!
//! Two models are linearised at the equilibrium: constant shares, and the closed model. Each has a
//! characteristic equation H(s) = 0. H is analytic for Re s ≥ 0 and approaches 1 for large s. The
//! number of zeros to the right of the imaginary axis equals the number of clockwise half turns of
//! H(jω) around 0 for ω from 0 to infinity. The limit is the smallest b for which H has a zero to
//! the right of the imaginary axis.
//!
//! Constant shares (Eq. 9 with μ_i = μ_c/k):
//!
//! ```text
//! H = [s + (b/k) Σ e^(−s d_i)/d_i] / (s + λ)            any λ above 0
//! ```
//!
//! The closed model, dw_i/dt = (τ − p μ_i)/d_i with μ_i = w_i(t − d_i)/R_i and Σ μ_i = μ_c, where
//! R_i = d_i + q/μ_c, p = (bq − a)/μ_c, and at the equilibrium c_i = p*/R_i:
//!
//! ```text
//! H = 1 + Σ g_i e^(−s d_i) (b − c_i)/(d_i s + c_i e^(−s d_i))        g_i = (1/R_i)/Σ (1/R_j)
//! ```
//!
//! H is analytic if all c_i are below π/2. c_i is the ratio of τ times the number of flows to the
//! flow's window. If a c_i is larger, the model counts as unstable. The windows of flows with equal
//! delay can also oscillate against each other. H does not include these oscillations; they obey
//! d_i s + c_i e^(−s d_i) = 0 and decay if c_i is below π/2.

use super::ClampFluid;
use crate::error::ModelError;
use std::f64::consts::{FRAC_PI_2, PI};

/// Search range of b: first value, factor between two values, last value.
const SCAN: (f64, f64, f64) = (0.25, 1.03, 64.0);
/// Relative accuracy of the limit.
const RESOLUTION: f64 = 1e-7;
/// Largest change of the argument of H in a step, rad.
const LARGEST_TURN: f64 = 0.3;

/// Values of b up to which the equilibrium is stable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Limit of the closed model, in which the windows determine the rates; `None` if the
    /// equilibrium is stable up to b = 64.
    pub closed: Option<f64>,
    /// Limit of the model with constant shares of the rate; `None` if the equilibrium is stable up
    /// to b = 64.
    pub constant_shares: Option<f64>,
}

/// Returns the window above which the rate shares of flows with equal round-trip times are stable
/// (Eq. 15), bytes. Each flow measures its rate over its last `packets` packets of `packet` bytes.
///
/// With T = α s/μ_i the shares obey s² + (g/T)(1 − e^(−sT)) = 0, g = τ/(μ_i RTT²). A root is
/// imaginary for ωT = π and g T = π²/2; hence w_i > √(2 α τ s)/π. Smaller windows oscillate with a
/// period of 2T. Source: derivation in `docs/reference/models/clamp-fluid.md`.
pub fn shares_are_stable_above(tau: f64, packets: f64, packet: f64) -> f64 {
    (2.0 * packets * tau * packet).sqrt() / PI
}

impl ClampFluid {
    /// Returns the largest b below which the equilibrium is stable, with all other parameters
    /// unchanged.
    ///
    /// # Errors
    /// Fails if a parameter is outside its range.
    pub fn limit(&self) -> Result<Limit, ModelError> {
        self.require_ranges()?;
        Ok(Limit {
            closed: limit(|b| self.closed_is_stable(b)),
            constant_shares: limit(|b| self.constant_shares_are_stable(b)),
        })
    }

    /// Returns true if the model with constant shares is stable with the given `b`.
    fn constant_shares_are_stable(&self, b: f64) -> bool {
        let share = 1.0 / self.delays_s.len() as f64;
        let lambda = self.delays_s.iter().map(|d| share / d).sum::<f64>();
        let h = |omega: f64| {
            let mut sum = Complex::new(0.0, omega);
            for d in &self.delays_s {
                sum = sum + Complex::turned(-omega * d) * (b * share / d);
            }
            sum / Complex::new(lambda, omega)
        };
        is_stable(h, self.grid(b * lambda))
    }

    /// Returns true if the closed model is stable with the given `b`.
    fn closed_is_stable(&self, b: f64) -> bool {
        let model = ClampFluid { b, ..self.clone() };
        let Ok(rest) = model.equilibrium() else { return false };
        let inverse: f64 = self.delays_s.iter().map(|d| 1.0 / rest.rtt_s(*d)).sum();
        let flow = |d: &f64| {
            let rtt_s = rest.rtt_s(*d);
            (*d, rest.price_s / rtt_s, 1.0 / (rtt_s * inverse))
        };
        let flows: Vec<(f64, f64, f64)> = self.delays_s.iter().map(flow).collect();
        if flows.iter().any(|(_, c, _)| *c >= FRAC_PI_2) {
            return false;
        }
        let h = |omega: f64| {
            flows.iter().fold(Complex::new(1.0, 0.0), |sum, (d, c, share)| {
                let late = Complex::turned(-omega * d);
                sum + late * (share * (b - c)) / (Complex::new(0.0, omega * d) + late * *c)
            })
        };
        let largest = flows.iter().map(|(d, c, _)| c / d).fold(0.0, f64::max);
        let gain = flows.iter().map(|(d, _, share)| share * b / d).sum::<f64>();
        is_stable(h, self.grid(gain + largest))
    }

    /// Returns the first step of ω, the largest step of ω, and the ω above which H is close to 1.
    /// The unit of `gain` is 1/s.
    pub(super) fn grid(&self, gain: f64) -> (f64, f64, f64) {
        let longest = self.delays_s.iter().copied().fold(0.0, f64::max);
        (1e-6 * gain.min(1.0 / longest), 0.2 / longest, 4.0 * gain)
    }
}

/// Finds the smallest b in the search range at which `is_stable` becomes false.
pub(super) fn limit(is_stable: impl Fn(f64) -> bool) -> Option<f64> {
    let (first, factor, last) = SCAN;
    let (mut low, mut high) = (0.0, first);
    while is_stable(high) {
        (low, high) = (high, high * factor);
        if high > last {
            return None;
        }
    }
    while high - low > RESOLUTION * high {
        let middle = 0.5 * (low + high);
        if is_stable(middle) { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}

/// Returns true if H(jω) does not turn around 0 up to the ω at which H is close to 1.
pub(super) fn is_stable(
    h: impl Fn(f64) -> Complex,
    (first, largest, end): (f64, f64, f64),
) -> bool {
    let (mut omega, mut step, mut turned) = (0.0, first, 0.0);
    let mut here = h(0.0);
    while omega < end {
        let there = h(omega + step);
        let turn = (there / here).argument();
        if turn.abs() > LARGEST_TURN && step > 1e-12 * (omega + first) {
            step *= 0.5;
            continue;
        }
        (omega, here, turned) = (omega + step, there, turned + turn);
        if turn.abs() < 0.3 * LARGEST_TURN {
            step = (2.0 * step).min(largest);
        }
    }
    // A zero in the right half plane turns H by −2π while ω goes from −∞ to ∞, and by −π while ω
    // goes from 0 to ∞.
    turned > -FRAC_PI_2
}

/// A minimal complex number type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    pub(super) fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    /// Returns e^(j angle).
    pub(super) fn turned(angle: f64) -> Complex {
        Complex { re: angle.cos(), im: angle.sin() }
    }

    fn argument(self) -> f64 {
        self.im.atan2(self.re)
    }
}

impl std::ops::Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl std::ops::Mul<f64> for Complex {
    type Output = Complex;
    fn mul(self, by: f64) -> Complex {
        Complex::new(self.re * by, self.im * by)
    }
}

impl std::ops::Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        let re = self.re * other.re - self.im * other.im;
        Complex::new(re, self.re * other.im + self.im * other.re)
    }
}

impl std::ops::Div for Complex {
    type Output = Complex;
    fn div(self, other: Complex) -> Complex {
        let square = other.re * other.re + other.im * other.im;
        Complex::new(
            (self.re * other.re + self.im * other.im) / square,
            (self.im * other.re - self.re * other.im) / square,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(delays_s: &[f64]) -> ClampFluid {
        let delays_s = delays_s.to_vec();
        ClampFluid { rate: 1.25e6, a: 5500.0, b: 1.0, tau: 500.0, delays_s }
    }

    /// Returns the smallest b with an imaginary root of s + (b/k) Σ e^(−s d_i)/d_i: at the ω where
    /// the real part Σ cos(ω d_i)/d_i is 0, b is kω/Σ sin(ω d_i)/d_i.
    fn crossing(delays_s: &[f64]) -> f64 {
        let sum = |f: fn(f64) -> f64, omega: f64| -> f64 {
            delays_s.iter().map(|d| f(omega * d) / d).sum()
        };
        let longest = delays_s.iter().copied().fold(0.0, f64::max);
        let (mut least, step) = (f64::INFINITY, 1e-3 / longest);
        let mut omega = step;
        let inverse: f64 = delays_s.iter().map(|d| 1.0 / d).sum();
        while omega * delays_s.len() as f64 / inverse < least.min(64.0) {
            let (mut low, mut high) = (omega, omega + step);
            if sum(f64::cos, low).signum() != sum(f64::cos, high).signum() {
                let rising = sum(f64::cos, high) > 0.0;
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if (sum(f64::cos, middle) > 0.0) == rising {
                        high = middle
                    } else {
                        low = middle
                    }
                }
                let b = low * delays_s.len() as f64 / sum(f64::sin, low);
                if b > 0.0 {
                    least = least.min(b);
                }
            }
            omega += step;
        }
        least
    }

    #[test]
    fn theorem_1_equal_delays_are_stable_below_half_pi() {
        for flows in [1, 2, 8] {
            for delay_s in [0.001, 0.05, 3.0] {
                let limit = model(&vec![delay_s; flows]).limit().unwrap();
                let constant = limit.constant_shares.unwrap();
                assert!((constant / FRAC_PI_2 - 1.0).abs() < 1e-6, "{constant}");
                let closed = limit.closed;
                // With a delay of 1 ms and 8 flows, a window is only half of τ times the number of
                // flows.
                if delay_s > 0.01 {
                    let closed = closed.expect("the model has a limit");
                    assert!((closed / FRAC_PI_2 - 1.0).abs() < 1e-5, "{flows} {delay_s}: {closed}");
                }
            }
        }
    }

    #[test]
    fn unequal_delays_with_constant_shares_have_the_limits_of_their_imaginary_roots() {
        let known = [(1.0, 1.571), (1.5, 1.658), (2.0, 1.882), (3.0, 4.712), (4.0, 3.050)];
        for (ratio, limit) in known.into_iter().chain([(6.0, 2.620), (10.0, 2.812)]) {
            let delays_s = [0.05, 0.05 * ratio];
            let found = model(&delays_s).limit().unwrap().constant_shares.unwrap();
            assert!((found / limit - 1.0).abs() < 5e-4, "{ratio}: {found}, not {limit}");
            let root = crossing(&delays_s);
            assert!((found / root - 1.0).abs() < 1e-5, "{ratio}: {found}, not {root}");
        }
        for delays_s in [vec![0.012, 0.032, 0.132, 0.182], vec![0.03, 0.05, 0.09]] {
            let (found, root) = (model(&delays_s).limit().unwrap(), crossing(&delays_s));
            let found = found.constant_shares.unwrap();
            assert!((found / root - 1.0).abs() < 1e-5, "{delays_s:?}: {found}, not {root}");
        }
    }

    #[test]
    fn closed_model_matches_limits_of_independent_prototype() {
        let known = [
            ([0.050, 0.100], 1.866),
            ([0.050, 0.150], 2.372),
            ([0.050, 0.500], 1.722),
            ([0.012, 0.182], 1.704),
            ([0.032, 0.132], 1.992),
        ];
        for (delays_s, limit) in known {
            let found = model(&delays_s).limit().unwrap().closed.unwrap();
            assert!((found / limit - 1.0).abs() < 1e-3, "{delays_s:?}: {found}, not {limit}");
        }
    }

    #[test]
    fn limit_is_at_least_half_pi_for_all_delays() {
        for step in 0..=20 {
            let ratio = 100f64.powf(f64::from(step) / 20.0);
            let limit = model(&[0.02, 0.02 * ratio]).limit().unwrap();
            for found in [limit.constant_shares, limit.closed].into_iter().flatten() {
                assert!(found > FRAC_PI_2 * (1.0 - 1e-5), "{ratio}: {found}");
            }
        }
    }

    #[test]
    fn equation_15_requires_windows_of_12_kilobytes() {
        let found = shares_are_stable_above(500.0, 1000.0, 1500.0);
        assert!((found / 12_328.0 - 1.0).abs() < 1e-3, "{found}");
    }
}
