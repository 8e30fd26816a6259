//! Tests of the distributions of Jakes' fading generator.

use super::*;
use airpath_conformance::Law;

const DOPPLER: f64 = 10.0;
const SEEDS: u64 = 40_000;

fn channel(seed: u64) -> Jakes {
    Jakes::new(0.0, DOPPLER, Index::Centred, &mut Stream::new(seed, 0, "jakes test"))
}

const GENERATOR: Law = Law {
    area: "Radio channel",
    source: "clamp-2008 §5.2: autocorrelation of Jakes' sum with centred indices, J0(2π f_d τ)",
    allows: "10⁻⁴ up to f_d τ = 2 (the issue)",
};
const MOMENTS: Law = Law {
    area: "Radio channel",
    source: "Jakes' sum of G = 20: E|h|² = 1, E|h|⁴ = 2 − 3/(2G), P(|h|² < x) to first order in 1/G",
    allows: "five standard deviations of the mean over 40 000 seeds",
};
const OVER_TIME: Law = Law {
    area: "Radio channel",
    source: "clamp-2008 §5.2: mean power over time, centred 1, as printed 1 + (2/G) cos(π/G) = 1.0988",
    allows: "0.5 % (the issue)",
};
const NOT_CIRCULAR: Law = Law {
    area: "Radio channel",
    source: "Jakes' sum: |E h(t)h(t+τ)| = |Σ cos(ω_n τ) e^(j2πn/G)|/G is 0.122, 0.213, 0.433, 0.499",
    allows: "the digits given",
};

/// Returns (1/G) Σ cos(ω_n τ), with τ in cycles of f_d.
fn autocorrelation(channel: &Jakes, lag: f64) -> f64 {
    let cosine = |oscillator: &Oscillator| (TAU * oscillator.frequency_hz / DOPPLER * lag).cos();
    channel.oscillators.iter().map(cosine).sum::<f64>() / G as f64
}

/// Returns J0 from its power series, exact to 1e-9 for |x| < 13.
fn j0(x: f64) -> f64 {
    let quarter = -x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..80 {
        term *= quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

#[test]
fn autocorrelation_matches_j0() {
    let channel = channel(1);
    let lags = (0..=200).map(|step| f64::from(step) * 0.01);
    let off = |lag: f64| (autocorrelation(&channel, lag) - j0(TAU * lag)).abs();
    let worst = lags.map(off).fold(0.0, f64::max);
    GENERATOR.close("largest difference up to f_d τ = 2", "", worst, 0.0, 1e-4);
}

/// Compares the product of the gains at two instants, averaged over the seeds.
#[test]
fn autocorrelation_over_seeds_matches_j0() {
    let bound = 5.0 / (SEEDS as f64).sqrt();
    for lag in [0.1, 0.3827, 0.5, 1.0, 2.0] {
        let later = Time::from_nanos((lag / DOPPLER * 1e9) as u64);
        let product = |seed| {
            let channel = channel(seed);
            let (a, b) = channel.gain_at(Time::ZERO);
            let (c, d) = channel.gain_at(later);
            a * c + b * d
        };
        let mean = (0..SEEDS).map(product).sum::<f64>() / SEEDS as f64;
        GENERATOR.close(format!("over seeds, f_d τ = {lag}"), "", mean, j0(TAU * lag), bound);
    }
}

/// Returns P(|h|² < x) to first order in 1/G.
fn power_cdf(x: f64) -> f64 {
    1.0 - (-x).exp() - 3.0 / (4.0 * G as f64) * (-x).exp() * (x - x * x / 2.0)
}

#[test]
fn power_matches_distribution_of_g_oscillators() {
    let power = |seed| {
        let (re, im) = channel(seed).gain_at(Time::from_millis(170));
        re * re + im * im
    };
    let powers: Vec<f64> = (0..SEEDS).map(power).collect();
    let count = SEEDS as f64;
    let check = |what: &str, of: &dyn Fn(f64) -> f64, expected: f64| {
        let mean = powers.iter().map(|power| of(*power)).sum::<f64>() / count;
        let variance = powers.iter().map(|power| (of(*power) - mean).powi(2)).sum::<f64>() / count;
        MOMENTS.close(what, "", mean, expected, 5.0 * (variance / count).sqrt());
    };
    check("E|h|²", &|power| power, 1.0);
    check("E|h|⁴", &|power| power * power, 2.0 - 1.5 / G as f64);
    for level in [0.1, 0.5, 1.0, 3.0] {
        let below = |power: f64| f64::from(u8::from(power < level));
        check(&format!("P(|h|² < {level})"), &below, power_cdf(level));
    }
}

/// Tests the mean power over time. With the printed index, two oscillators have the same frequency,
/// which changes the mean.
#[test]
fn mean_power_over_time_depends_on_index() {
    const CYCLES: u64 = 4000;
    for (index, expected) in
        [(Index::Centred, 1.0), (Index::Printed, 1.0 + 0.1 * (PI / G as f64).cos())]
    {
        for seed in 0..3 {
            let mut stream = Stream::new(seed, 0, "jakes test");
            let mut channel = Jakes::new(0.0, DOPPLER, index, &mut stream);
            // Ten samples per cycle.
            let slot = Duration::from_millis(10);
            let power = |number| channel.at_slot_start(number, slot);
            let mean = (0..10 * CYCLES).map(power).sum::<f64>() / (10 * CYCLES) as f64;
            OVER_TIME.close_relative(format!("{index:?}, user {seed}"), "", mean, expected, 0.005);
        }
    }
}

#[test]
fn gain_is_not_circular() {
    let channel = channel(1);
    for (lag, expected) in [(0.18, 0.122), (0.25, 0.213), (0.5, 0.433), (1.0, 0.499)] {
        let (mut re, mut im) = (0.0, 0.0);
        for (place, oscillator) in channel.oscillators.iter().enumerate() {
            let cosine = (TAU * oscillator.frequency_hz / DOPPLER * lag).cos();
            let angle = TAU * (place + 1) as f64 / G as f64;
            re += cosine * angle.cos() / G as f64;
            im += cosine * angle.sin() / G as f64;
        }
        let found = libm::hypot(re, im);
        NOT_CIRCULAR.close(format!("f_d τ = {lag}"), "", found, expected, 6e-4);
    }
}
