//! Computes vcp-2008 eq. 5. Its absolute accuracy is a few 1e-16, because of cancellation.
//!
//! ```text
//! (M−1)/M − (1/π) √(ϑ/(1+ϑ)) { (π/2 + α) Σ_j C(2j, j)/[4(1+ϑ)]^j
//!                              + sin α Σ_{j≥1} Σ_{i=1}^j σ_ij/(1+ϑ)^j (cos α)^(2(j−i)+1) }
//! ϑ = S sin²(π/M)    α = atan(√(ϑ/(1+ϑ)) cot(π/M))
//! σ_ij = C(2j, j) / { C(2(j−i), j−i) 4^i [2(j−i)+1] }
//! ```
//!
//! C(n, k) is the binomial coefficient. The paper prints σ_ij with C(2j, i) and C(2(j−i), i), which
//! is undefined for i = j. This implementation uses the standard form (Simon & Alouini 2005, eq.
//! 5A.17), which agrees with the integral.

use super::Branches;
use std::f64::consts::{FRAC_PI_2, PI};

/// Returns the symbol error rate of M-PSK with `points` phases, at least 2, over Rayleigh fading
/// (vcp-2008 eq. 5).
pub fn eq5(points: u32, branches: Branches) -> f64 {
    let Branches { count, snr } = branches;
    let m = f64::from(points);
    let step = PI / m;
    let sine = libm::sin(step);
    let theta = snr * sine * sine;
    let root = libm::sqrt(theta / (1.0 + theta));
    // The cotangent of a right angle is 0, not 6e-17.
    let cotangent = if points == 2 { 0.0 } else { 1.0 / libm::tan(step) };
    let alpha = libm::atan(root * cotangent);
    let of = |j: u32, base: f64| libm::pow(base, f64::from(j));
    let first: f64 = (0..count).map(|j| central(j) / of(j, 4.0 * (1.0 + theta))).sum();
    let sigma =
        |i: u32, j: u32| central(j) / (central(j - i) * of(i, 4.0) * f64::from(2 * (j - i) + 1));
    let term =
        |i: u32, j: u32| sigma(i, j) / of(j, 1.0 + theta) * of(2 * (j - i) + 1, libm::cos(alpha));
    let second: f64 =
        (1..count).flat_map(|j| (1..=j).map(move |i| (i, j))).map(|(i, j)| term(i, j)).sum();
    (m - 1.0) / m - root / PI * ((FRAC_PI_2 + alpha) * first + libm::sin(alpha) * second)
}

/// Returns C(2n, n).
fn central(n: u32) -> f64 {
    (1..=n).fold(1.0, |product, k| product * f64::from(2 * (2 * k - 1)) / f64::from(k))
}
