use super::*;
use airpath_conformance::Law;

const SEEDS: u64 = 20_000;
const SECOND: u64 = 1_000_000_000;

const NORMAL: Law = Law {
    area: "Radio channel",
    source: "Shadowing: normal in dB with mean 0 and the deviation that is set",
    allows: "five standard deviations of 20 000 seeds",
};
const GUDMUNDSON: Law = Law {
    area: "Radio channel",
    source: "Shadowing: correlation exp(−v τ/d) (Gudmundson 1991)",
    allows: "five standard deviations of the mean over 20 000 seeds",
};
const OVER_TIME: Law = Law {
    area: "Radio channel",
    source: "Shadowing: one realisation over 40 000 correlation times has the same law",
    allows: "five standard deviations by Bartlett's formula",
};

fn shadowing(seed: u64) -> Shadowing {
    Shadowing::new(8.0, Some(Duration::from_secs(1)), &Seed::new(seed, 0, "shadowing"))
}

/// Returns S at `at_ns`, divided by its standard deviation.
fn level(process: &mut Shadowing, at_ns: u64) -> f64 {
    process.at(Time::from_nanos(at_ns)).0 / 8.0
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, (variance / count).sqrt())
}

#[test]
fn levels_are_normal_at_all_times() {
    // At a multiple of T, in the middle, and at a step that requires all halvings.
    for (at_ns, where_to) in [(7 * SECOND, "7 T"), (SECOND / 2, "T/2"), (3_123_456_789, "3.12 T")] {
        let levels: Vec<f64> = (0..SEEDS).map(|seed| level(&mut shadowing(seed), at_ns)).collect();
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            let powers: Vec<f64> = levels.iter().map(|level| level.powi(power)).collect();
            let (mean, error) = mean_and_error(&powers);
            NORMAL.close(format!("moment {power} at {where_to}"), "", mean, expected, 5.0 * error);
        }
        for (edge, below) in [(-1.959_964, 0.025), (-1.0, 0.158_655), (0.5, 0.691_462)] {
            let share = levels.iter().filter(|level| **level < edge).count() as f64 / SEEDS as f64;
            let bound = 5.0 * (below * (1.0 - below) / SEEDS as f64).sqrt();
            NORMAL.close(format!("share below {edge} σ at {where_to}"), "", share, below, bound);
        }
    }
}

#[test]
fn correlation_decreases_exponentially() {
    // Lags within one T, across its end, and over several T; steps are multiples of T/1024.
    for (from, lag) in
        [(0, 1), (511, 2), (300, 64), (900, 512), (100, 1024), (1000, 1500), (5, 4096)]
    {
        let at = |step: u64| (step * SECOND).div_ceil(1024);
        let products: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let mut process = shadowing(seed);
                level(&mut process, at(from)) * level(&mut process, at(from + lag))
            })
            .collect();
        let (mean, error) = mean_and_error(&products);
        let seconds = lag as f64 / 1024.0;
        let case = format!("after {seconds:.4} T, from {from}/1024 T on");
        GUDMUNDSON.close(case, "", mean, f64::exp(-seconds), 5.0 * error);
        // The change in one step has the standard deviation √(2(1 − e^(−h))) σ.
        if lag == 1 {
            let squares: Vec<f64> = (0..SEEDS)
                .map(|seed| {
                    let mut process = shadowing(seed);
                    (level(&mut process, at(from)) - level(&mut process, at(from + lag))).powi(2)
                })
                .collect();
            let (mean, error) = mean_and_error(&squares);
            let expected = 2.0 * (1.0 - f64::exp(-seconds));
            GUDMUNDSON.close("square of a step", "", mean, expected, 5.0 * error);
        }
    }
}

#[test]
fn one_realisation_has_the_distribution_over_time() {
    const TIMES: usize = 40_000;
    let mut process = shadowing(1);
    // Four samples per T.
    let levels: Vec<f64> =
        (0..4 * TIMES as u64).map(|number| level(&mut process, number * SECOND / 4)).collect();
    let count = levels.len() as f64;
    let decay = f64::exp(-0.25);
    let sum = |ratio: f64| (1.0 + ratio) / (1.0 - ratio);
    let mean = levels.iter().sum::<f64>() / count;
    OVER_TIME.close("mean over σ", "", mean, 0.0, 5.0 * (sum(decay) / count).sqrt());
    for lag in [0usize, 1, 4, 12] {
        let products = levels.iter().zip(&levels[lag..]).map(|(one, other)| one * other);
        let found = products.sum::<f64>() / (levels.len() - lag) as f64;
        let expected = decay.powi(lag as i32);
        // Σ (ρ_k² + ρ_{k+l} ρ_{k−l}) ≤ 2 Σ ρ_k².
        let bound = 5.0 * (2.0 * sum(decay * decay) / count).sqrt();
        OVER_TIME.close(format!("correlation after {lag}/4 T"), "", found, expected, bound);
    }
}

#[test]
fn level_is_constant_until_returned_time() {
    let mut process = shadowing(3);
    let mut at = Time::from_nanos(5);
    for _ in 0..3000 {
        let (level, until) = process.at(at);
        assert!(until > at);
        let last = Time::from_nanos(until.as_nanos() - 1);
        assert_eq!(process.at(last), (level, until));
        assert_ne!(process.at(until).0, level);
        at = until;
    }
    // 1024 steps per second.
    assert_eq!(at.as_nanos(), 3000 * SECOND / 1024);
}

#[test]
fn values_do_not_depend_on_order_of_instants() {
    let instants: Vec<u64> =
        (0..500).map(|number| (number * 7_919_337_131) % (40 * SECOND)).collect();
    let mut sorted = instants.clone();
    sorted.sort_unstable();
    let mut process = shadowing(4);
    let in_order: Vec<f64> = sorted.iter().map(|at_ns| level(&mut process, *at_ns)).collect();
    for at_ns in instants {
        let place = sorted.binary_search(&at_ns).expect("the same instants");
        assert_eq!(level(&mut process, at_ns).to_bits(), in_order[place].to_bits());
        assert_eq!(level(&mut shadowing(4), at_ns).to_bits(), in_order[place].to_bits());
    }
}

#[test]
fn extreme_coherence_times_are_accepted() {
    for coherence in [Duration::from_nanos(1), Duration::from_nanos(u64::MAX)] {
        let mut process = Shadowing::new(8.0, Some(coherence), &Seed::new(1, 0, "shadowing"));
        for at_ns in [0, 1, 2, 1 << 40, 1 << 62] {
            let (level, until) = process.at(Time::from_nanos(at_ns));
            assert!(
                level.abs() < 80.0 && until.as_nanos() > at_ns,
                "{coherence:?}, {at_ns}: {level} until {until:?}"
            );
        }
    }
}

#[test]
fn static_user_has_constant_shadowing() {
    let mut still = Shadowing::new(8.0, None, &Seed::new(1, 0, "shadowing"));
    let first = still.at(Time::ZERO);
    assert_eq!(still.at(Time::from_secs(1 << 20)), first);
    assert_eq!(first.1, Time::NEVER);
    assert_eq!(still.constant_db(), Some(first.0));
    assert_eq!(shadowing(1).constant_db(), None);
    let levels: Vec<f64> = (0..SEEDS)
        .map(|seed| Shadowing::new(1.0, None, &Seed::new(seed, 0, "x")).at(Time::ZERO).0.powi(2))
        .collect();
    let (mean, error) = mean_and_error(&levels);
    NORMAL.close("variance without movement", "", mean, 1.0, 5.0 * error);
}

#[test]
fn coherence_of_divides_distance_by_speed() {
    // Gudmundson: 0.82 after 100 m, which takes 7.2 s at 50 km/h.
    let distance_m = -100.0 / f64::ln(0.82);
    let coherence = coherence_of(distance_m, 50.0 / 3.6).expect("it moves");
    let found = f64::exp(-7.2 / coherence.as_secs_lossy());
    GUDMUNDSON.close("100 m of a suburb", "", found, 0.82, 1e-9);
    assert_eq!(coherence_of(50.0, 0.0), None);
    assert_eq!(coherence_of(1e-9, 1e9), Some(Duration::from_nanos(1)));
}

// --- means over shadowing ------------------------------------------------------------------------

const MEANS: Law = Law {
    area: "Radio channel",
    source: "Means over log-normal shadowing of powers of the SNR, exp((aσ ln 10/10)²/2)",
    allows: "relative 1e-12",
};

#[test]
fn mean_over_matches_moments_of_snr() {
    for deviation_db in [0.0, 0.5, 4.0, 8.0, 12.0] {
        for power in [-2.0, -1.0, 1.0, 2.0] {
            let exponent = power * deviation_db * std::f64::consts::LN_10 / 10.0;
            let found =
                mean_over(7.0, deviation_db, |db| libm::pow(10.0, power * (db - 7.0) / 10.0));
            let expected = libm::exp(0.5 * exponent * exponent);
            MEANS.close(
                format!("σ {deviation_db} dB, a {power}"),
                "1",
                found / expected,
                1.0,
                1e-12,
            );
        }
    }
    let weights: f64 = levels(6.0).iter().map(|(_, weight)| weight).sum();
    assert!((weights - 1.0).abs() < 1e-15);
    // The mean of a step function equals the normal distribution function at the position of the
    // step.
    let below = mean_over(0.0, 8.0, |db| {
        if db < -8.0 {
            1.0
        } else if db == -8.0 {
            0.5
        } else {
            0.0
        }
    });
    assert!((below - 0.158_655).abs() < 1e-4, "{below}");
}
