//! Computes shares of time, mean durations and error rates of the two states of a combined SNR:
//! above and below a threshold.
//!
//! ```text
//! P(Γ < T) = P(N, ρ)          ρ = T/S                     P and Q: the incomplete gamma functions over Γ(N)
//! crossings downwards         √(2π) f_D ρ^(N−1/2) e^(−ρ) / Γ(N), per second
//! E exp(−sΓ), Γ above T       (1 + sS)^−N Q(N, ρ(1 + sS))     below: P instead of Q
//! ```
//!
//! Γ is the sum of N independent branches of Rayleigh fading with mean SNR S and Clarke's spectrum.
//!
//! Source: for the crossings of one branch, Rice 1948 and Jakes 1974 §1.3; for those of N branches
//! with maximum-ratio combining, Yacoub, da Silva and Bautista, *Second-order statistics for
//! diversity-combining techniques in Nakagami-fading channels*, IEEE Transactions on Vehicular
//! Technology 50 (2001). Error rates are computed by the integrals of symbol error rates, averaged
//! only over the SNRs of the state.

use super::{Branches, Constellation, averaged};
use std::f64::consts::TAU;

/// Largest argument; beyond it, exp(−x) is negligible.
const LARGEST: f64 = 700.0;

/// A combined SNR and a threshold. Returned pairs contain the value above the threshold (good
/// state) and the value below it (bad state).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fades {
    branches: Branches,
    /// ρ, threshold relative to the mean SNR of a branch.
    ratio: f64,
}

impl Fades {
    /// Creates a value for `branches` and `threshold`, a combined SNR as a power ratio, above 0.
    pub fn new(branches: Branches, threshold: f64) -> Fades {
        Fades { branches, ratio: threshold / branches.snr }
    }

    /// Returns the shares of time.
    pub fn shares(&self) -> [f64; 2] {
        let (below, above) = incomplete_gamma(self.branches.count, self.ratio);
        [above, below]
    }

    /// Returns the downward crossings per second, for the Doppler shift `doppler_hz` (f_D, Hz).
    pub fn crossing_rate_hz(&self, doppler_hz: f64) -> f64 {
        let count = self.branches.count;
        // ρ^(N−1) e^(−ρ)/Γ(N), factor by factor.
        let density = (1..count)
            .fold(libm::exp(-self.ratio), |product, k| product * self.ratio / f64::from(k));
        libm::sqrt(TAU * self.ratio) * doppler_hz * density
    }

    /// Returns the mean durations of both states, s; infinite for a state that never ends.
    pub fn mean_durations_s(&self, doppler_hz: f64) -> [f64; 2] {
        self.shares().map(|share| share / self.crossing_rate_hz(doppler_hz))
    }

    /// Returns the symbol error rates in both states.
    pub fn error_rates(&self, constellation: Constellation) -> [f64; 2] {
        let Branches { count, snr } = self.branches;
        let [above, below] = self.shares();
        let part = |is_above: bool| {
            averaged(constellation, |s| {
                let factor = 1.0 + s * snr;
                let (below, above) = incomplete_gamma(count, self.ratio * factor);
                libm::pow(factor, -f64::from(count)) * if is_above { above } else { below }
            })
        };
        [part(true) / above, part(false) / below]
    }
}

/// Returns P(N, x) and Q(N, x) for integer N; small values are not computed as differences.
fn incomplete_gamma(count: u32, x: f64) -> (f64, f64) {
    if x > LARGEST {
        return (1.0, 0.0);
    }
    let mut term = libm::exp(-x);
    let mut above = 0.0;
    for k in 0..count {
        above += term;
        term *= x / f64::from(k + 1);
    }
    if x > f64::from(count) {
        return (1.0 - above, above);
    }
    let (mut below, mut k) = (0.0, count);
    while term > below * f64::EPSILON {
        below += term;
        k += 1;
        term *= x / f64::from(k);
    }
    (below, above)
}
