//! The two-state chain of a fading channel, computed from its frame error rate and its Doppler
//! shift.
//!
//! Source: Zorzi, Rao and Milstein, *ARQ error control for fading mobile radio channels*, IEEE
//! Transactions on Vehicular Technology 46 (1997); Chockalingam and Zorzi, *Wireless TCP
//! performance with link layer FEC/ARQ*, IEEE ICC (1999). The fading is flat Rayleigh fading. A
//! frame fails if the power is below the mean divided by the fading margin F. The complex Gaussian
//! gains of two consecutive frames have the correlation ρ = J0(2π f_d T), and
//!
//! ```text
//! ε = 1 - exp(-1/F)
//! P(good next | bad now) = (Q1(θ, ρθ) - Q1(ρθ, θ)) / (exp(1/F) - 1),  θ² = (2/F) / (1 - ρ²)
//! ```
//!
//! with Marcum's Q. Differs: the difference of two Q functions loses its significant digits for
//! slow fading. Here the difference is computed as one integral of a positive function, see
//! [`good_to_bad`]. (In Simon's form, Q1 is an integral over a finite range. The terms of the two Q
//! functions combine to the Poisson kernel.)

use super::TwoStates;
use std::f64::consts::{PI, TAU};

/// Returns the chain for the frame error rate `frame_error_rate` (ε, in [0, 1)) and the normalised
/// Doppler shift `doppler` (f_d·T: Doppler shift times frame duration, above 0).
pub fn two_states(frame_error_rate: f64, doppler: f64) -> TwoStates {
    if frame_error_rate == 0.0 {
        return TwoStates { good_to_bad: 0.0, bad_to_good: 1.0 };
    }
    let inverse_margin = -libm::log1p(-frame_error_rate);
    let good_to_bad = good_to_bad(inverse_margin, decorrelation(doppler));
    let bad_to_good = good_to_bad * (1.0 - frame_error_rate) / frame_error_rate;
    TwoStates { good_to_bad, bad_to_good: bad_to_good.min(1.0) }
}

/// Returns 1 - |ρ| for ρ = J0(2π·`doppler`), with full precision also if ρ is close to 1.
pub fn decorrelation(doppler: f64) -> f64 {
    let x = TAU * doppler;
    if x > 1.0 { 1.0 - libm::fabs(libm::j0(x)) } else { one_minus_j0(x) }
}

/// Returns 1 - J0(x) by its power series, for |x| at most 1.
fn one_minus_j0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 1..12 {
        term *= -quarter / f64::from(k * k);
        sum -= term;
    }
    sum
}

/// Returns P(bad next | good now) for 1/F and d = 1 - |ρ|:
///
/// ```text
/// (1/π) ∫ 1 - exp(-(1/F) (1-ρ²) / (d² + 4ρ sin²(v/2))) dv,  v from 0 to π
/// ```
///
/// The integrand decreases around v ~ √(d/F). Therefore it is integrated over x with v = d·sinh(x).
pub fn good_to_bad(inverse_margin: f64, decorrelation: f64) -> f64 {
    let d = decorrelation;
    let height = inverse_margin * d * (2.0 - d);
    let integrand = |x: f64| {
        let sine = libm::sin(d * libm::sinh(x) / 2.0);
        let fails = -libm::expm1(-height / (d * d + 4.0 * (1.0 - d) * sine * sine));
        fails * d * libm::cosh(x)
    };
    integral(integrand, libm::asinh(PI / d)) / PI
}

/// Positive nodes and weights of the Gauss–Legendre rule of 16 points on [-1, 1].
const GAUSS_LEGENDRE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];

/// Integrates `f` from 0 to `end`, in panels of length at most 1.
fn integral(f: impl Fn(f64) -> f64, end: f64) -> f64 {
    let panels = libm::ceil(end) as u32;
    let half = end / f64::from(panels) / 2.0;
    let panel = |number: u32| {
        let middle = f64::from(2 * number + 1) * half;
        let pair = |(node, weight)| weight * (f(middle - half * node) + f(middle + half * node));
        GAUSS_LEGENDRE.into_iter().map(pair).sum::<f64>() * half
    };
    (0..panels).map(panel).sum()
}

#[cfg(test)]
mod tests;
