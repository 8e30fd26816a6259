//! Integrates functions of sin²θ over θ by Gauss–Legendre quadrature, in panels whose width is
//! repeatedly halved towards 0 and π/2.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// Number of halvings towards 0. Below 2^−48 of a right angle, the integrand changes only if the
/// SNR is around −290 dB.
const PANELS: i32 = 48;
/// Number of halvings towards π/2; a peak that is narrower than 2^−10 of the interval has a
/// negligible value, about exp(−10^5).
const PANELS_OF_PEAK: i32 = 10;

/// Nodes and weights of the 20-point formula, positive half (Abramowitz & Stegun, table 25.4).
const NODES: [(f64, f64); 10] = [
    (0.076_526_521_133_497_33, 0.152_753_387_130_725_85),
    (0.227_785_851_141_645_08, 0.149_172_986_472_603_75),
    (0.373_706_088_715_419_56, 0.142_096_109_318_382_05),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.636_053_680_726_515, 0.118_194_531_961_518_42),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_06),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_12),
];

/// Integrates from `from`, at most π/4, to π/2.
pub(super) fn to_right_angle(from: f64, of: &impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut lower) = (from_0_or(from, FRAC_PI_4, of), from.max(FRAC_PI_4));
    for halving in 1..=PANELS_OF_PEAK {
        let left = if halving == PANELS_OF_PEAK { 0.0 } else { power_of_half(halving) };
        let upper = FRAC_PI_2 - (FRAC_PI_2 - FRAC_PI_4) * left;
        if upper > lower {
            sum += panel(lower, upper, of);
            lower = upper;
        }
    }
    sum
}

/// Integrates from 0 to π/4.
pub(super) fn to_half_right_angle(of: &impl Fn(f64) -> f64) -> f64 {
    from_0_or(0.0, FRAC_PI_4, of)
}

fn from_0_or(from: f64, to: f64, of: &impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut upper) = (0.0, to);
    for halving in 1..=PANELS {
        let lower = if halving == PANELS { from } else { (to * power_of_half(halving)).max(from) };
        if lower >= upper {
            break;
        }
        sum += panel(lower, upper, of);
        upper = lower;
    }
    sum
}

fn power_of_half(exponent: i32) -> f64 {
    f64::from_bits(((1023 - i64::from(exponent)) as u64) << 52)
}

fn panel(from: f64, to: f64, of: &impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    let at = |angle: f64| {
        let sine = libm::sin(angle);
        of(sine * sine)
    };
    let of_pair = |(node, weight): (f64, f64)| {
        let offset = half * node;
        weight * (at(middle - offset) + at(middle + offset))
    };
    half * NODES.into_iter().map(of_pair).sum::<f64>()
}
