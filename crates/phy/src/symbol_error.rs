//! Computes symbol error rates over flat fading, with maximum-ratio combining of N branches.
//!
//! ```text
//! M-PSK   (1/π) ∫₀^((M−1)π/M) [F(g/sin²θ)]^N dθ,                        g = sin²(π/M)
//! M-QAM   (4q/π) { (1−q) ∫₀^(π/4) + ∫_(π/4)^(π/2) } [F(g/sin²θ)]^N dθ,  g = 3/(2(M−1)), q = 1 − 1/√M
//! F(s)    Rayleigh 1/(1 + sS)   Rician (1+K)/(1+K+sS) exp(−KsS/(1+K+sS))   Nakagami (1 + sS/m)^−m
//! ```
//!
//! M is the number of points of the constellation, S the mean SNR of a branch, and F the
//! moment-generating function of the branch's SNR at −s. All integrands are positive, so that there
//! is no cancellation. Integration panels become narrower towards θ = 0, where F changes if the SNR
//! is low. They also become narrower towards π/2, where F is a narrow peak if errors are rare and
//! the channel hardly fades.
//!
//! Source: vcp-2008 eq. 5 for PSK with Rayleigh fading; Simon & Alouini, *Digital Communication
//! over Fading Channels* (2nd ed., 2005), §8.2 and chapter 9, for the integrals.
//!
//! | file | content |
//! | --- | --- |
//! | `closed_form.rs` | vcp-2008 eq. 5, with corrected coefficients |
//! | `integral.rs` | the integrals |
//! | `threshold.rs` | error rates above and below a threshold of the combined SNR, and the mean durations |
//!
//! Left out: channel estimation; correlation between branches; codes for more than two transmitting
//! antennas, because no such code has full rate for complex symbols.

mod closed_form;
mod integral;
#[cfg(test)]
mod tests;
mod threshold;

pub use closed_form::eq5;
pub use threshold::Fades;

use crate::shannon::from_db;
use airpath_core::{Checks, ConfigError};
use std::f64::consts::PI;

/// Largest number of receiving antennas.
const MOST_RECEIVERS: u32 = 8;
/// Largest number of points of a constellation.
const MOST_POINTS: u32 = 64;

/// A constellation of equiprobable symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constellation {
    /// M-PSK with this number of phases: 2 to 64, a power of two.
    Psk(u32),
    /// Square QAM with this number of points, 16 or 64.
    Qam(u32),
}

impl Constellation {
    /// All names, in ascending order of bits per symbol.
    pub const NAMES: [&str; 8] =
        ["bpsk", "qpsk", "8psk", "16psk", "32psk", "64psk", "16qam", "64qam"];

    /// Returns the constellation called `name`.
    ///
    /// # Errors
    /// If the name is unknown; the error's field is `modulation`.
    pub fn from_name(name: &str) -> Result<Constellation, ConfigError> {
        let points = |text: &str| text.parse().ok().filter(|points| *points <= MOST_POINTS);
        let known = Constellation::NAMES.contains(&name);
        let found = match name {
            "bpsk" => Some(Constellation::Psk(2)),
            "qpsk" => Some(Constellation::Psk(4)),
            _ if name.ends_with("psk") => points(&name[..name.len() - 3]).map(Constellation::Psk),
            _ if name.ends_with("qam") => points(&name[..name.len() - 3]).map(Constellation::Qam),
            _ => None,
        };
        found.filter(|_| known).ok_or_else(|| {
            let problem = format!("not known. Use {}", Constellation::NAMES.join(", "));
            ConfigError::new("modulation", name, problem)
        })
    }

    /// Returns the number of points.
    pub fn points(self) -> u32 {
        match self {
            Constellation::Psk(points) | Constellation::Qam(points) => points,
        }
    }

    /// Returns the number of bits per symbol.
    pub fn bits(self) -> u32 {
        self.points().ilog2()
    }
}

/// Fading of a branch's amplitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fading {
    /// Fading without a line of sight.
    Rayleigh,
    /// Fading with a line of sight of relative power K, a power ratio, at least 0.
    Rician(f64),
    /// Nakagami fading with the parameter m, at least 1/2; m = 1 is Rayleigh fading.
    Nakagami(f64),
}

/// Largest magnitude of K of Rician fading, dB.
const MOST_K_FACTOR_DB: f64 = 100.0;
/// Range of m of Nakagami fading.
const M: std::ops::RangeInclusive<f64> = 0.5..=1000.0;

impl Fading {
    /// Names of all kinds.
    pub const NAMES: [&str; 3] = ["rayleigh", "rician", "nakagami"];

    /// Returns the fading called `name` with its parameter: K in dB, -100 to 100, for `rician`; m,
    /// 0.5 to 1000, for `nakagami`.
    ///
    /// # Errors
    /// If the name is unknown, or a parameter is missing, out of range, or belongs to another kind
    /// of fading; the error's field is `fading`, `k_factor_db` or `m`.
    pub fn from_name(
        name: &str,
        k_factor_db: Option<f64>,
        m: Option<f64>,
    ) -> Result<Fading, ConfigError> {
        let missing =
            |field: &str| ConfigError::new(field, "(missing)", format!("needed by {name}"));
        let fading = match name {
            "rayleigh" => Fading::Rayleigh,
            "rician" => Fading::Rician(from_db(k_factor_db.ok_or_else(|| missing("k_factor_db"))?)),
            "nakagami" => Fading::Nakagami(m.ok_or_else(|| missing("m"))?),
            _ => {
                let problem = format!("not known. Use {}", Fading::NAMES.join(", "));
                return Err(ConfigError::new("fading", name, problem));
            }
        };
        let of = |owner: &str| format!("of {owner} fading alone");
        if let Some(k_factor_db) = k_factor_db {
            if name != "rician" {
                return Err(ConfigError::new("k_factor_db", k_factor_db, of("rician")));
            }
            if !(-MOST_K_FACTOR_DB..=MOST_K_FACTOR_DB).contains(&k_factor_db) {
                return Err(ConfigError::new(
                    "k_factor_db",
                    k_factor_db,
                    "not from -100 to 100 dB",
                ));
            }
        }
        if let Some(m) = m {
            if name != "nakagami" {
                return Err(ConfigError::new("m", m, of("nakagami")));
            }
            if !M.contains(&m) {
                return Err(ConfigError::new("m", m, "not from 0.5 to 1000"));
            }
        }
        Ok(fading)
    }
}

/// Branches of a maximum-ratio combiner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branches {
    /// N, number of independent branches, at least 1.
    pub count: u32,
    /// S, mean SNR of each branch, a power ratio, at least 0.
    pub snr: f64,
}

impl Branches {
    /// Returns the branches of `tx` transmitting and `rx` receiving antennas at the SNR `snr`, a
    /// power ratio. An orthogonal space-time block code has N = tx · rx branches at snr/tx
    /// (vcp-2008 §II.B).
    ///
    /// # Errors
    /// If `tx` is not 1 or 2, or `rx` is not 1 to 8; the error's field is the argument's name.
    pub fn of_antennas(tx: u32, rx: u32, snr: f64) -> Result<Branches, ConfigError> {
        let mut checks = Checks::default();
        if tx > 2 {
            let problem =
                "beyond two transmitters no complex space-time block code has the full rate";
            checks.related("tx", tx, 1..=2_u32, problem);
        } else {
            checks.within("tx", tx, 1..=2_u32);
        }
        checks.within("rx", rx, 1..=MOST_RECEIVERS);
        checks.finish()?;
        Ok(Branches { count: tx * rx, snr: snr / f64::from(tx) })
    }
}

/// Returns the symbol error rate, to a relative accuracy of 1e-10.
///
/// BPSK with Rayleigh fading uses the sum of positive terms of vcp-rem §8.9; all other cases use
/// the integral.
pub fn symbol_error_rate(constellation: Constellation, branches: Branches, fading: Fading) -> f64 {
    match (constellation, fading) {
        (Constellation::Psk(2), Fading::Rayleigh) => bpsk_over_rayleigh(branches),
        _ => by_integral(constellation, branches, fading),
    }
}

/// Returns ((1−μ)/2)^N Σ_k C(N−1+k, k) ((1+μ)/2)^k, with μ = √(S/(1+S)), 1−μ = 1/((1+S)(1+μ)).
fn bpsk_over_rayleigh(branches: Branches) -> f64 {
    let Branches { count, snr } = branches;
    let mu = libm::sqrt(snr / (1.0 + snr));
    let (wrong, right) = (0.5 / ((1.0 + snr) * (1.0 + mu)), 0.5 * (1.0 + mu));
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 0..count {
        sum += term;
        term *= right * f64::from(count + k) / f64::from(k + 1);
    }
    libm::pow(wrong, f64::from(count)) * sum
}

/// Returns the symbol error rate, computed by the integral.
pub fn by_integral(constellation: Constellation, branches: Branches, fading: Fading) -> f64 {
    averaged(constellation, |s| laplace(s, branches, fading))
}

/// Returns the symbol error rate, averaged over the SNR Γ. `laplace(s)` returns E exp(−sΓ).
fn averaged(constellation: Constellation, laplace: impl Fn(f64) -> f64) -> f64 {
    let points = f64::from(constellation.points());
    match constellation {
        Constellation::Psk(_) => {
            let step = PI / points;
            let sine = libm::sin(step);
            let of = |square: f64| laplace(sine * sine / square);
            // θ and π − θ have the same sine. The integral is the sum from 0 to π/2 and from π/M to
            // π/2.
            let all = integral::to_right_angle(0.0, &of);
            let is_binary = constellation.points() == 2;
            let back = if is_binary { 0.0 } else { integral::to_right_angle(step, &of) };
            (all + back) / PI
        }
        Constellation::Qam(_) => {
            let g = 1.5 / (points - 1.0);
            let q = 1.0 - 1.0 / libm::sqrt(points);
            let of = |square: f64| laplace(g / square);
            let lower = integral::to_half_right_angle(&of);
            4.0 * q / PI * ((1.0 - q) * lower + integral::to_right_angle(PI / 4.0, &of))
        }
    }
}

/// Returns [F(s)]^N.
fn laplace(s: f64, branches: Branches, fading: Fading) -> f64 {
    let (count, x) = (f64::from(branches.count), s * branches.snr);
    match fading {
        Fading::Rayleigh => libm::pow(1.0 + x, -count),
        Fading::Rician(k) => {
            let along = k / (1.0 + (1.0 + k) / x);
            libm::pow(1.0 + x / (1.0 + k), -count) * libm::exp(-count * along)
        }
        Fading::Nakagami(m) => libm::exp(-m * count * libm::log1p(x / m)),
    }
}
