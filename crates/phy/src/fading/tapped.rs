//! Samples tapped delay lines that are constant during a block, and computes their gain on every
//! subcarrier.
//!
//! H(f) = Σ g_l·exp(−j2πfτ_l) with independent complex Gaussian g_l. With a line of sight, a
//! constant is added to the first g_l; its phase is irrelevant because the phases of the g_l are
//! random. A sum of few sinusoids is not used, because it fades too rarely (phy-802.16-ctc §6).

use super::profiles::Profile;
use crate::gaussian::{Gaussian, LANES};
use crate::ofdm::{SPACING_HZ, USED};
use crate::vectorised::vectorised;
use std::f64::consts::TAU;

/// Number of subcarriers on each side of the middle one.
const SIDE: usize = USED / 2;

/// Number of subcarriers from the middle to one end, rounded up to complete vectors.
const HALF: usize = (SIDE + 1).next_multiple_of(LANES);

/// One value for each subcarrier from the middle to one end.
type Half = [f32; HALF];

/// Generator of tapped delay lines of one profile.
#[derive(Clone, Debug)]
pub struct Tapped {
    /// Standard deviation of the real and the imaginary part, by tap.
    deviations: Vec<f32>,
    /// Amplitude of the line of sight.
    line_of_sight: f32,
    /// Cosine and sine of 2πfτ for the subcarriers from the middle to the upper end, by tap.
    phases: Vec<[Half; 2]>,
    /// Gaussian numbers: real and imaginary part of every tap.
    taps: Vec<f32>,
}

impl Tapped {
    /// Creates lines of `profile` with a mean total power of 1.
    pub fn new(profile: &Profile) -> Tapped {
        let deviations: Vec<f32> =
            profile.powers().into_iter().map(|power| (power / 2.0).sqrt() as f32).collect();
        let phases = profile.taps.iter().map(|&(delay, _)| {
            let turn =
                |place: usize| TAU * place as f64 * SPACING_HZ * delay * profile.unit_ns * 1e-9;
            let cosine = std::array::from_fn(|place| libm::cos(turn(place)) as f32);
            let sine = std::array::from_fn(|place| libm::sin(turn(place)) as f32);
            [cosine, sine]
        });
        let phases = phases.collect();
        let taps = vec![0.0; 2 * deviations.len()];
        let line_of_sight = profile.line_of_sight_power().sqrt() as f32;
        Tapped { deviations, line_of_sight, phases, taps }
    }

    /// Samples a line: |H| on every used subcarrier, in order of frequency.
    pub fn draw(&mut self, gaussian: &mut Gaussian, gains: &mut [f32; USED]) {
        gaussian.fill(&mut self.taps);
        for (tap, deviation) in self.taps.chunks_exact_mut(2).zip(&self.deviations) {
            tap[0] *= deviation;
            tap[1] *= deviation;
        }
        self.taps[0] += self.line_of_sight;
        let Tapped { taps, phases, .. } = self;
        vectorised(
            #[inline(always)]
            || response(taps, phases, gains),
        );
    }
}

/// Computes |H| from the taps. Subcarriers above and below the middle share cosines and sines.
#[inline(always)]
fn response(taps: &[f32], phases: &[[Half; 2]], gains: &mut [f32; USED]) {
    let [mut re_cos, mut im_sin, mut im_cos, mut re_sin] = [[0f32; HALF]; 4];
    for (tap, [cosine, sine]) in taps.chunks_exact(2).zip(phases) {
        let (re, im) = (tap[0], tap[1]);
        for place in 0..HALF {
            re_cos[place] += re * cosine[place];
            im_sin[place] += im * sine[place];
            im_cos[place] += im * cosine[place];
            re_sin[place] += re * sine[place];
        }
    }
    let (below, above) = gains.split_at_mut(SIDE);
    for (place, gain) in above.iter_mut().enumerate() {
        let (re, im) = (re_cos[place] + im_sin[place], im_cos[place] - re_sin[place]);
        *gain = (re * re + im * im).sqrt();
    }
    for (gain, place) in below.iter_mut().rev().zip(1..HALF) {
        let (re, im) = (re_cos[place] - im_sin[place], im_cos[place] + re_sin[place]);
        *gain = (re * re + im * im).sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fading::profiles::{PROFILES, VEHICULAR_A};
    use airpath_conformance::Law;
    use airpath_core::rng::Stream;

    #[test]
    fn gain_is_absolute_value_of_transfer_function() {
        let mut tapped = Tapped::new(&VEHICULAR_A);
        let mut gains = [0.0; USED];
        tapped.draw(&mut Gaussian::new(&mut Stream::new(1, 0, "H")), &mut gains);
        for (subcarrier, &gain) in gains.iter().enumerate() {
            let frequency = (subcarrier as f64 - SIDE as f64) * SPACING_HZ;
            let (mut re, mut im) = (0.0, 0.0);
            for (tap, (delay_ns, _)) in tapped.taps.chunks(2).zip(VEHICULAR_A.taps) {
                let (sine, cosine) = libm::sincos(-TAU * frequency * delay_ns * 1e-9);
                let (x, y) = (f64::from(tap[0]), f64::from(tap[1]));
                re += x * cosine - y * sine;
                im += x * sine + y * cosine;
            }
            assert!((f64::from(gain) - libm::hypot(re, im)).abs() < 1e-5, "{subcarrier}");
        }
    }

    const TAPS: Law = Law {
        area: "Statistics",
        source: "Taps of a delay line: mean powers and K factor of the profile",
        allows: "five standard deviations of 2e5 draws; 0.1 dB of K",
    };

    const RAYLEIGH: Law = Law {
        area: "Statistics",
        source: "A Rayleigh fading subcarrier: power of mean 1, exponentially distributed",
        allows: "five standard deviations of 4e5 draws",
    };

    #[test]
    fn subcarrier_powers_match_distribution_and_correlation() {
        let draws = 400_000;
        let apart = 200;
        for profile in PROFILES {
            let mut gaussian = Gaussian::new(&mut Stream::new(2, 0, profile.name));
            let mut tapped = Tapped::new(&profile);
            let mut gains = [0.0; USED];
            let (mut mean, mut product, mut weak) = (0.0, 0.0, 0.0);
            for _ in 0..draws {
                tapped.draw(&mut gaussian, &mut gains);
                let power = f64::from(gains[10]).powi(2);
                mean += power / f64::from(draws);
                product += power * f64::from(gains[10 + apart]).powi(2) / f64::from(draws);
                weak += f64::from(power < 1e-3) / f64::from(draws);
            }
            let sigma = 1.0 / f64::from(draws).sqrt();
            let what = |text: &str| format!("{}, {text}", profile.name);
            RAYLEIGH.close(what("mean power"), "", mean, 1.0, 5.0 * sigma);
            let expected = -libm::expm1(-1e-3);
            let allowed = 5.0 * sigma * expected.sqrt();
            RAYLEIGH.close(what("share below −30 dB"), "", weak, expected, allowed);
            // E|H₁|²|H₂|² = 1 + |E H₁H₂*|²; its variance is below E|H|⁸ = 24.
            let expected = 1.0 + correlation(&profile, apart).powi(2);
            RAYLEIGH.close(what("product"), "", product, expected, 5.0 * sigma * 24f64.sqrt());
        }
    }

    #[test]
    fn taps_match_powers_and_k_factor_of_profile() {
        let draws = 200_000;
        for name in ["vehicular-a", "tdl-c-300", "tdl-d-30", "tdl-e-30"] {
            let profile = Profile::from_name(name).expect("a profile");
            let mut gaussian = Gaussian::new(&mut Stream::new(4, 0, name));
            let mut tapped = Tapped::new(&profile);
            let mut gains = [0.0; USED];
            let (mut mean, mut squares) = (vec![0.0; profile.taps.len()], 0.0);
            for _ in 0..draws {
                tapped.draw(&mut gaussian, &mut gains);
                let power = |tap: &[f32]| f64::from(tap[0]).powi(2) + f64::from(tap[1]).powi(2);
                for (mean, tap) in mean.iter_mut().zip(tapped.taps.chunks(2)) {
                    *mean += power(tap) / f64::from(draws);
                }
                squares += power(&tapped.taps[..2]).powi(2) / f64::from(draws);
            }
            let fixed = profile.line_of_sight_power();
            for (number, (mean, power)) in mean.iter().zip(profile.powers()).enumerate() {
                let still = if number == 0 { fixed } else { 0.0 };
                // The variance of |a + g|² is p² + 2·p·|a|².
                let allowed = 5.0 * (power * (power + 2.0 * still) / f64::from(draws)).sqrt();
                TAPS.close(format!("{name}, tap {number}"), "", *mean, power + still, allowed);
            }
            // E|a + g|⁴ = |a|⁴ + 4·|a|²·p + 2·p², so the constant share of power is √(2 −
            // E|h|⁴/(E|h|²)²), and K is this share divided by the rest of the power.
            if fixed > 0.0 {
                let still = (2.0 - squares / mean[0].powi(2)).sqrt();
                let k_db = 10.0 * (still / (1.0 - still)).log10();
                let expected = 10.0 * profile.k_factor().log10();
                TAPS.close(format!("{name}, K"), "dB", k_db, expected, 0.1);
            }
        }
    }

    /// Returns |Σ p_l·exp(−j2πfτ_l)| for two subcarriers at a distance of `apart` subcarriers.
    fn correlation(profile: &Profile, apart: usize) -> f64 {
        let (mut re, mut im) = (0.0, 0.0);
        for (power, (delay_ns, _)) in profile.powers().into_iter().zip(profile.taps) {
            let (sine, cosine) = libm::sincos(TAU * apart as f64 * SPACING_HZ * delay_ns * 1e-9);
            re += power * cosine;
            im += power * sine;
        }
        libm::hypot(re, im)
    }

    /// Error rates are determined by deep fades of the entire block, in which all taps are weak
    /// simultaneously.
    #[test]
    fn total_power_has_tail_of_exponential_sum() {
        let mut gaussian = Gaussian::new(&mut Stream::new(3, 0, "total"));
        let mut tapped = Tapped::new(&VEHICULAR_A);
        let mut gains = [0.0; USED];
        let (draws, edge) = (2_000_000, 0.05);
        let mut weak = 0;
        for _ in 0..draws {
            tapped.draw(&mut gaussian, &mut gains);
            weak += u32::from(tapped.taps.iter().map(|part| part * part).sum::<f32>() < edge);
        }
        // 1 − Σ_l exp(−x/p_l)·Π_{k≠l} p_l/(p_l − p_k).
        let powers = VEHICULAR_A.powers();
        let term = |l: usize| {
            let others = (0..powers.len()).filter(|&k| k != l);
            let product: f64 = others.map(|k| powers[l] / (powers[l] - powers[k])).product();
            product * libm::exp(-f64::from(edge) / powers[l])
        };
        let expected = f64::from(draws) * (1.0 - (0..powers.len()).map(term).sum::<f64>());
        RAYLEIGH.close("total below 0.05", "", f64::from(weak), expected, 5.0 * expected.sqrt());
    }
}
