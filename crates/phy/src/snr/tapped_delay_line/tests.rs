//! Tests of the distributions of fading over resolved paths.

use super::*;
use crate::fading::profiles::VEHICULAR_A;
use airpath_conformance::Law;

const DOPPLER: f64 = 10.0;
const SEEDS: u64 = 20_000;
/// Number of waves of a tap.
const N: f64 = crate::rayleigh::SINUSOIDS.get() as f64;

const MOMENTS: Law = Law {
    area: "Radio channel",
    source: "SNR process profile: mean 1, E P² = 1 + (1 − 1/N) Σ p_l², N = 64 waves, p_l the taps' powers",
    allows: "five standard deviations of the mean over 20 000 seeds",
};
const DISTRIBUTION: Law = Law {
    area: "Radio channel",
    source: "SNR process profile: hypoexponential, 1 − Σ A_l e^(−x/p_l) (Proakis 2001, chapter 14)",
    allows: "five standard deviations of 20 000 seeds, and 1 % for the 64 waves",
};
const OVER_TIME: Law = Law {
    area: "Radio channel",
    source: "SNR process profile: mean power over time",
    allows: "0.5 % (the issue), 10 channels of 4000 cycles",
};

fn channel(profile: &Profile, seed: u64) -> TappedDelayLineSnr {
    TappedDelayLineSnr::new(0.0, profile, DOPPLER, &mut Stream::new(seed, 0, "profile test"))
}

fn powers(profile: &Profile) -> Vec<f64> {
    let at = Time::from_millis(170);
    (0..SEEDS).map(|seed| channel(profile, seed).power_at(at)).collect()
}

#[track_caller]
fn assert_mean(what: impl std::fmt::Display, samples: &[f64], expected: f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    MOMENTS.close(what, "", mean, expected, 5.0 * (variance / count).sqrt());
}

#[test]
fn profiles_match_mean_and_variance() {
    for profile in PROFILES.iter().chain(&LTE_PROFILES) {
        let powers = powers(profile);
        assert_mean(format!("mean, {}", profile.name), &powers, 1.0);
        let squares: Vec<f64> = powers.iter().map(|power| power * power).collect();
        let spread: f64 = profile.powers().iter().map(|power| power * power).sum();
        let expected = 1.0 + (1.0 - 1.0 / N) * spread;
        assert_mean(format!("second moment, {}", profile.name), &squares, expected);
    }
}

/// Returns the hypoexponential distribution for unequal powers: A_l = Π p_l/(p_l − p_k) over the
/// others.
fn hypoexponential(powers: &[f64], x: f64) -> f64 {
    let factor = |power: f64| -> f64 {
        let others = powers.iter().filter(|other| **other != power);
        others.map(|other| power / (power - other)).product()
    };
    1.0 - powers.iter().map(|&power| factor(power) * (-x / power).exp()).sum::<f64>()
}

#[test]
fn vehicular_a_has_hypoexponential_power() {
    let (taps, powers) = (VEHICULAR_A.powers(), powers(&VEHICULAR_A));
    for level in [0.1, 0.3, 0.5, 1.0, 2.0, 3.0] {
        let below = powers.iter().filter(|power| **power < level).count();
        let (share, expected) = (below as f64 / SEEDS as f64, hypoexponential(&taps, level));
        let deviation = (expected * (1.0 - expected) / SEEDS as f64).sqrt();
        let bound = 5.0 * deviation + 0.01 * expected;
        DISTRIBUTION.close(format!("P(SNR < {level} of its mean)"), "", share, expected, bound);
    }
    // A Rayleigh channel is below a tenth of its mean about fifty times as often.
    let ratio = -f64::exp_m1(-0.1) / hypoexponential(&taps, 0.1);
    assert!((ratio - 51.4).abs() < 0.1, "{ratio}");
}

#[test]
fn mean_power_over_time_is_one() {
    const CHANNELS: u64 = 10;
    const SAMPLES: u64 = 40_000;
    let slot = Duration::from_millis(10);
    let sum_of = |seed| {
        let mut channel = channel(&VEHICULAR_A, seed);
        (0..SAMPLES).map(|number| channel.at_slot_start(number, slot)).sum::<f64>()
    };
    let mean = (0..CHANNELS).map(sum_of).sum::<f64>() / (CHANNELS * SAMPLES) as f64;
    OVER_TIME.close("vehicular-a", "", mean, 1.0, 0.005);
}
