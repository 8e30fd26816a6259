//! Tests of the distributions of Rician fading.

use super::*;
use airpath_conformance::Law;

const DOPPLER: f64 = 10.0;
const SEEDS: u64 = 40_000;
/// Number of waves in addition to the line of sight.
const N: f64 = crate::rayleigh::SINUSOIDS.get() as f64;

const MOMENTS: Law = Law {
    area: "Radio channel",
    source: "SNR process rician: E|h|² = 1, E|h|⁴ = (K² + 4K + 2 − 1/N)/(K+1)², N = 64 waves",
    allows: "five standard deviations of the mean over 40 000 seeds",
};
const DISTRIBUTION: Law = Law {
    area: "Radio channel",
    source: "SNR process rician: the power is noncentral χ², 1 − Q₁(√(2K), √(2(K+1)x)) (Rice 1948)",
    allows: "five standard deviations of 40 000 seeds, and 1 % for the 64 waves",
};
const MEMORY: Law = Law {
    area: "Radio channel",
    source: "SNR process rician: E h*(t)h(t+τ) = (K e^(j2π f_d cos(θ) τ) + J0(2π f_d τ))/(K+1)",
    allows: "five standard deviations of the mean over 40 000 seeds",
};
const OVER_TIME: Law = Law {
    area: "Radio channel",
    source: "SNR process rician: mean power over time",
    allows: "0.5 % (the issue), 20 channels of 4000 cycles",
};
const LIMITS: Law = Law {
    area: "Radio channel",
    source: "SNR process rician: without a line of sight Rayleigh's law, with that alone a constant",
    allows: "10⁻⁹",
};

fn channel(k: f64, angle_deg: f64, seed: u64) -> RicianSnr {
    let mut stream = Stream::new(seed, 0, "rician test");
    RicianSnr::new(0.0, k, angle_deg, DOPPLER, &mut stream)
}

fn power(channel: &RicianSnr, at: Time) -> f64 {
    let (re, im) = channel.gain_at(at);
    re * re + im * im
}

fn cycles(cycles: f64) -> Time {
    Time::from_nanos((cycles / DOPPLER * 1e9).round() as u64)
}

#[track_caller]
fn assert_mean(law: &Law, what: impl std::fmt::Display, samples: &[f64], expected: f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    law.close(what, "", mean, expected, 5.0 * (variance / count).sqrt());
}

/// Returns a power series in x²/4 with the factors 1/(k!)²: J0 with alternating signs, else I0.
fn bessel(x: f64, sign: f64) -> f64 {
    let quarter = sign * x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..100 {
        term *= quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

/// Returns P(|h|² < x): the density (K+1) e^(−K−(K+1)x) I0(2√(K(K+1)x)), integrated by Simpson's
/// rule.
fn power_cdf(k: f64, x: f64) -> f64 {
    const STEPS: u32 = 2000;
    let density = |x: f64| {
        let argument = 2.0 * (k * (k + 1.0) * x).sqrt();
        (k + 1.0) * (-k - (k + 1.0) * x).exp() * bessel(argument, 1.0)
    };
    let step = x / f64::from(STEPS);
    let weight = |place: u32| match place {
        0 | STEPS => 1.0,
        odd if odd % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|at| weight(at) * density(f64::from(at) * step)).sum();
    sum * step / 3.0
}

/// Checks the integration itself: exponential without a line of sight, and 1 for all powers.
#[test]
fn reference_distribution_is_normalised() {
    assert!((power_cdf(0.0, 1.0) - (1.0 - (-1f64).exp())).abs() < 1e-10);
    assert!((power_cdf(4.0, 8.0) - 1.0).abs() < 1e-8);
}

#[test]
fn power_matches_moments_and_distribution_of_rice() {
    for k in [0.0, 1.0, 4.0] {
        let powers: Vec<f64> =
            (0..SEEDS).map(|seed| power(&channel(k, 45.0, seed), cycles(1.7))).collect();
        let squares: Vec<f64> = powers.iter().map(|power| power * power).collect();
        assert_mean(&MOMENTS, format!("E|h|², K = {k}"), &powers, 1.0);
        let fourth = (k * k + 4.0 * k + 2.0 - 1.0 / N) / (k + 1.0).powi(2);
        assert_mean(&MOMENTS, format!("E|h|⁴, K = {k}"), &squares, fourth);
        for level in [0.1, 0.5, 1.0, 2.0] {
            let below = powers.iter().filter(|power| **power < level).count();
            let (share, expected) = (below as f64 / SEEDS as f64, power_cdf(k, level));
            let deviation = (expected * (1.0 - expected) / SEEDS as f64).sqrt();
            let what = format!("P(|h|² < {level}), K = {k}");
            DISTRIBUTION.close(what, "", share, expected, 5.0 * deviation + 0.01 * expected);
        }
    }
}

#[test]
fn line_of_sight_has_a_separate_doppler_shift() {
    let k = 2.0;
    for (angle_deg, shift) in [(0.0, 1.0), (60.0, 0.5), (135.0, -(0.5f64.sqrt()))] {
        for lag in [0.1, 0.3827, 1.2] {
            let product = |seed| {
                let channel = channel(k, angle_deg, seed);
                let (a, b) = channel.gain_at(Time::ZERO);
                let (c, d) = channel.gain_at(cycles(lag));
                (a * c + b * d, a * d - b * c)
            };
            let (real, imaginary): (Vec<f64>, Vec<f64>) = (0..SEEDS).map(product).unzip();
            let angle = TAU * shift * lag;
            let expected = (k * angle.cos() + bessel(TAU * lag, -1.0)) / (k + 1.0);
            let what = format!("θ = {angle_deg}°, f_d τ = {lag}");
            assert_mean(&MEMORY, format!("real, {what}"), &real, expected);
            let expected = k * angle.sin() / (k + 1.0);
            assert_mean(&MEMORY, format!("imaginary, {what}"), &imaginary, expected);
        }
    }
}

#[test]
fn mean_power_over_time_is_one() {
    const CHANNELS: u64 = 20;
    const SAMPLES: u64 = 40_000;
    for k in [0.5, 4.0] {
        let slot = Duration::from_millis(10);
        let mean_of = |seed| {
            let mut channel = channel(k, 45.0, seed);
            (0..SAMPLES).map(|slot_of| channel.at_slot_start(slot_of, slot)).sum::<f64>()
        };
        let mean = (0..CHANNELS).map(mean_of).sum::<f64>() / (CHANNELS * SAMPLES) as f64;
        OVER_TIME.close(format!("K = {k}"), "", mean, 1.0, 0.005);
    }
}

#[test]
fn extreme_k_factors_give_rayleigh_and_constant() {
    for seed in 0..50 {
        let none = channel(from_db(-200.0), 45.0, seed);
        let only = channel(from_db(200.0), 45.0, seed);
        for at in [0.0, 0.3, 17.0].map(cycles) {
            let rayleigh = none.scattered.power_at(at);
            LIMITS.close("K → 0 compared with Rayleigh's", "", power(&none, at), rayleigh, 1e-9);
            LIMITS.close("K → ∞ compared with the mean", "", power(&only, at), 1.0, 1e-9);
        }
    }
}
