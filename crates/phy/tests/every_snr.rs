//! Invariants of every SNR process, and the distributions of fading over time.
//!
//! A new built-in process is tested as soon as it is registered, with the parameters in its class's
//! documentation; [`descriptions`] may add others. A process that reads a file requires an entry
//! there.

use airpath_conformance::{Law, samples};
use airpath_core::{ConfigError, Duration, Registry, Seed, Setup, Time};
use airpath_phy::snr::{
    AnySnr, Sample, SlottedSnr, SnrContext, SnrProcess, SnrRegistry, SnrSteps, SnrTraces,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Returns configurations of a built-in process: ordinary and extreme ones.
fn descriptions(kind: &str) -> Vec<Value> {
    match kind {
        "constant" => vec![json!({"mean_db": 15}), json!({"mean_db": -200})],
        "block" => vec![
            json!({"mean_db": 6.0206, "coherence_ns": 3_000_000}),
            json!({"mean_db": -200, "coherence_ns": 1}),
        ],
        "jakes" => vec![
            json!({"mean_db": 6.0206, "doppler_hz": 60}),
            json!({"mean_db": 6.0206, "doppler_hz": 0.6, "index": "printed"}),
            json!({"mean_db": 0, "doppler_hz": 0}),
            json!({"mean_db": -200, "doppler_hz": 1e5}),
            json!({"mean_db": 200, "speed_mps": 1.0, "carrier_hz": 2.1e9}),
        ],
        "rayleigh" => vec![
            json!({"mean_db": 15, "doppler_hz": 10}),
            json!({"mean_db": 0, "doppler_hz": 0}),
            json!({"mean_db": -200, "doppler_hz": 1e5}),
            json!({"mean_db": 200, "speed_mps": 1.0, "carrier_hz": 2.1e9}),
        ],
        "rician" => vec![
            json!({"mean_db": 15, "k_db": 6, "doppler_hz": 10}),
            json!({"mean_db": 0, "k_db": -200, "doppler_hz": 0}),
            json!({"mean_db": -200, "k_db": 200, "doppler_hz": 1e5, "angle_deg": 0}),
            json!({"mean_db": 200, "k_db": 0, "speed_mps": 1.0, "carrier_hz": 2.1e9, "angle_deg": 180}),
        ],
        "tapped-delay-line" => vec![
            json!({"mean_db": 15, "profile": "etu", "doppler_hz": 10}),
            json!({"mean_db": 0, "profile": "pedestrian-a", "doppler_hz": 0}),
            json!({"mean_db": -200, "profile": "vehicular-a", "doppler_hz": 1e5}),
            json!({"mean_db": 200, "profile": "epa", "speed_mps": 1.0, "carrier_hz": 2.1e9}),
        ],
        "beamforming" => vec![
            json!({"mean_db": 15, "period_ns": 300_000_000, "doppler_hz": 0.6}),
            json!({"mean_db": 0, "period_ns": 1_000, "doppler_hz": 0}),
            json!({"mean_db": -200, "period_ns": 1, "doppler_hz": 1e5}),
            json!({"mean_db": 200, "period_ns": u64::MAX, "speed_mps": 1.0, "carrier_hz": 2.1e9}),
        ],
        // The tolerances below assume a mean of at most 0 dB; shadowing requires a margin.
        "shadowed" => vec![
            json!({"deviation_db": 8, "correlation_m": 50, "speed_mps": 1.5,
                   "inner": {"kind": "rayleigh", "mean_db": -60, "doppler_hz": 10}}),
            json!({"deviation_db": 4, "correlation_m": 50, "speed_mps": 0,
                   "inner": {"kind": "jakes", "mean_db": -60, "doppler_hz": 10}}),
            json!({"deviation_db": 10, "correlation_ns": 1, "inner": {"kind": "constant", "mean_db": -60}}),
            json!({"deviation_db": 2, "correlation_ns": u64::MAX / 2,
                   "inner": {"kind": "trace", "trace": "steps"}}),
            json!({"deviation_db": 0, "correlation_ns": 5_000_000_000u64,
                   "inner": {"kind": "block", "mean_db": -60, "coherence_ns": 3_000_000}}),
        ],
        "trace" => ["steps", "short", "still"].map(|key| json!({"trace": key})).to_vec(),
        other => samples("snr", other, |description| try_build(description, 1).is_ok()),
    }
}

fn traces() -> SnrTraces {
    let steps = |steps: &[(u64, f64)], period_ns: u64| {
        Arc::new(SnrSteps::new(steps.to_vec(), period_ns).expect("steps"))
    };
    [
        ("steps", steps(&[(0, 3.0), (7_000_000, -5.0), (9_000_000, 20.0)], 30_000_000)),
        ("short", steps(&[(0, 3.0), (1, 4.0)], 2)),
        ("still", steps(&[(0, 3.0), (5, 3.0)], 1_000_000_000)),
    ]
    .map(|(key, steps)| (key.to_owned(), steps))
    .into()
}

fn context() -> SnrContext {
    SnrContext { traces: traces(), ..SnrContext::default() }
}

fn build(description: &Value, seed: u64) -> AnySnr {
    try_build(description, seed).unwrap_or_else(|error| panic!("{description}: {error}"))
}

fn try_build(description: &Value, seed: u64) -> Result<AnySnr, ConfigError> {
    let registry = SnrRegistry::default();
    let seed = Seed::new(seed, 0, "snr");
    AnySnr::build(description, Setup { seed, registry: &registry, extra: context() })
}

fn all_descriptions() -> impl Iterator<Item = Value> {
    AnySnr::BUILT_IN.iter().flat_map(|(kind, _)| {
        descriptions(kind).into_iter().map(move |mut description| {
            description["kind"] = json!(kind);
            description
        })
    })
}

fn rayleigh(doppler_hz: f64, seed: u64) -> AnySnr {
    build(&json!({"kind": "rayleigh", "mean_db": 10, "doppler_hz": doppler_hz}), seed)
}

/// Returns the power, relative to its mean of 10 dB.
fn power(process: &mut AnySnr, seconds: f64) -> f64 {
    let at = Time::from_nanos((seconds * 1e9).round() as u64);
    10f64.powf(process.sample(at).snr_db / 10.0 - 1.0)
}

proptest! {
    /// The SNR is a function of time: it does not depend on other samples.
    #[test]
    fn snr_depends_only_on_instant(
        steps in prop::collection::vec(
            (prop_oneof![3 => 0..20_000_000u64, 1 => Just(0), 1 => 0..1u64 << 50], any::<bool>()),
            1..40,
        ),
        seed in 0..1000u64,
    ) {
        for description in all_descriptions() {
            let (mut all, mut some) = (build(&description, seed), build(&description, seed));
            let (mut at_ns, mut last) = (0, Sample { snr_db: 0.0, until: Time::ZERO });
            for (wait, is_asked) in &steps {
                at_ns += wait;
                let at = Time::from_nanos(at_ns);
                let sample = all.sample(at);
                prop_assert!(sample.snr_db < 300.0 && sample.until >= at, "{description}");
                if at < last.until {
                    prop_assert_eq!(sample, last, "{} holds", description);
                }
                if *is_asked {
                    prop_assert_eq!(some.sample(at), sample, "{}", description);
                }
                if let Some(constant_db) = all.constant_db() {
                    prop_assert_eq!(sample.snr_db, constant_db);
                }
                last = sample;
            }
        }
    }
}

#[test]
fn snr_differs_between_seeds() {
    assert_ne!(power(&mut rayleigh(10.0, 1), 1.0), power(&mut rayleigh(10.0, 2), 1.0));
}

#[test]
fn speed_and_carrier_give_doppler_shift() {
    // 100 m/s at 2.99792458 GHz: 1000 Hz.
    let given = json!({"kind": "rayleigh", "mean_db": 10, "speed_mps": 100.0,
                       "carrier_hz": 2.997_924_58e9});
    assert_eq!(power(&mut build(&given, 3), 0.7), power(&mut rayleigh(1000.0, 3), 0.7));
}

#[test]
fn error_names_rejected_value() {
    let error = |description: Value| try_build(&description, 1).err().expect("refused").to_string();
    let rayleigh = |changes: Value| {
        let mut description = json!({"kind": "rayleigh", "mean_db": 10});
        for (key, value) in changes.as_object().expect("a table") {
            description[key] = value.clone();
        }
        error(description)
    };
    let one = "doppler_hz = missing or ambiguous: exactly one form is required. Set doppler, or speed and carrier";
    assert_eq!(rayleigh(json!({})), one);
    assert_eq!(rayleigh(json!({"doppler_hz": 1, "speed_mps": 1})), one);
    assert_eq!(
        rayleigh(json!({"doppler_hz": -1})),
        "doppler_hz = -1: below 0. Accepted: 0 to 100000"
    );
    assert_eq!(
        error(json!({"kind": "constant", "mean_db": 201})),
        "mean_db = 201: above 200. Accepted: -200 to 200"
    );
    assert_eq!(
        error(json!({"kind": "rician", "mean_db": 0, "k_db": 201, "doppler_hz": 1})),
        "k_db = 201: above 200. Accepted: -200 to 200"
    );
    assert_eq!(
        error(
            json!({"kind": "rician", "mean_db": 0, "k_db": 1, "doppler_hz": 1, "angle_deg": 181})
        ),
        "angle_deg = 181: above 180. Accepted: 0 to 180"
    );
    assert_eq!(
        error(
            json!({"kind": "tapped-delay-line", "mean_db": 0, "profile": "tdl-a-300", "doppler_hz": 1})
        ),
        "profile = tdl-a-300: not a profile. Known are pedestrian-a, pedestrian-b, vehicular-a, \
         vehicular-b, epa, eva, etu"
    );
    assert_eq!(
        error(json!({"kind": "beamforming", "mean_db": 0, "period_ns": 0, "doppler_hz": 1})),
        "period_ns = 0: below 1. Accepted: at least 1"
    );
    assert_eq!(
        error(json!({"kind": "trace", "trace": "none"})),
        "trace = none: not among the SNR traces given"
    );
}

#[test]
fn plug_in_process_is_found_by_its_name() {
    struct Ramp;
    impl SnrProcess for Ramp {
        fn sample(&mut self, at: Time) -> Sample {
            Sample { snr_db: at.as_secs_lossy(), until: at }
        }
    }
    let mut registry: SnrRegistry = Registry::default();
    registry.register("ramp", |_, _| Ok(Box::new(Ramp)));
    let setup =
        Setup { seed: Seed::new(1, 0, "snr"), registry: &registry, extra: SnrContext::default() };
    let mut process = AnySnr::build(&json!({"kind": "ramp"}), setup).expect("it is registered");
    assert_eq!(process.sample(Time::from_secs(3)).snr_db, 3.0);
    assert_eq!(process.constant_db(), None);
}

// --- distributions of fading
// ----------------------------------------------------------------------

const POWER: Law = Law {
    area: "Radio channel",
    source: "SNR process rayleigh: the SNR is exponential with the mean that is set",
    allows: "five standard deviations of 20 000 seeds, and 1 % for the 64 waves",
};
const CLARKE: Law = Law {
    area: "Radio channel",
    source: "SNR process rayleigh: covariance of the power (1 − 1/64) J0²(2π f_d τ), of Clarke's spectrum",
    allows: "five standard deviations of the mean over 20 000 seeds",
};
const RICE: Law = Law {
    area: "Radio channel",
    source: "SNR process rayleigh: crossings of a level, √(2π) f_d ρ e^(−ρ²) (Rice 1948)",
    allows: "8 %: some 4000 fades, of which sampling misses 1 or 2 %",
};

const SEEDS: u64 = 20_000;

#[test]
fn snr_is_exponential_with_configured_mean() {
    let powers: Vec<f64> = (0..SEEDS).map(|seed| power(&mut rayleigh(10.0, seed), 0.17)).collect();
    let mean = powers.iter().sum::<f64>() / SEEDS as f64;
    POWER.close("mean", "", mean, 1.0, 5.0 / (SEEDS as f64).sqrt());
    for level in [0.1, 0.5, 1.0, 2.0, 3.0] {
        let share = powers.iter().filter(|power| **power < level).count() as f64 / SEEDS as f64;
        let expected = 1.0 - f64::exp(-level);
        let bound = 5.0 * (expected * (1.0 - expected) / SEEDS as f64).sqrt() + 0.01 * expected;
        POWER.close(format!("P(SNR < {level} of its mean)"), "", share, expected, bound);
    }
}

#[test]
fn power_has_covariance_of_clarke_spectrum() {
    for lag in [0.1, 0.2, 0.3827, 0.5, 0.75] {
        let products: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let mut process = rayleigh(10.0, seed);
                (power(&mut process, 0.3) - 1.0) * (power(&mut process, 0.3 + lag / 10.0) - 1.0)
            })
            .collect();
        let mean = products.iter().sum::<f64>() / SEEDS as f64;
        let variance = products.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / SEEDS as f64;
        // For N waves, the covariance is (1 − 1/N) J0².
        let expected = (63.0 / 64.0) * j0(TAU * lag).powi(2);
        let bound = 5.0 * (variance / SEEDS as f64).sqrt();
        CLARKE.close(format!("covariance at f_d τ = {lag}"), "", mean, expected, bound);
    }
}

#[test]
fn level_crossing_rate_matches_rice() {
    const STEP: f64 = 0.02;
    for level in [0.3f64, 1.0] {
        let mut crossings = 0u32;
        for seed in 0..100 {
            let mut process = rayleigh(10.0, seed);
            let mut was_below = false;
            for step in 0..2500 {
                let is_below = power(&mut process, f64::from(step) * STEP / 10.0) < level * level;
                crossings += u32::from(was_below && !is_below);
                was_below = is_below;
            }
        }
        let rate = f64::from(crossings) / (100.0 * 2500.0 * STEP);
        let expected = TAU.sqrt() * level * f64::exp(-level * level);
        RICE.close_relative(format!("crossings of {level} per cycle"), "", rate, expected, 0.08);
    }
}

/// Returns J0 from its power series, exact to 1e-9 for |x| < 10.
fn j0(x: f64) -> f64 {
    let quarter = -x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..60 {
        term *= quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

// --- by slots -------------------------------------------------------------------------------------

/// Returns the power ratio that a process has at `at_ns`.
fn ratio(process: &mut AnySnr, at_ns: u64) -> f64 {
    10f64.powf(process.sample(Time::from_nanos(at_ns)).snr_db / 10.0)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default()
    })]

    /// The result for a slot depends only on the slot's number, is bit-identical for all sampling
    /// orders, and equals the SNR at that time. At a jump at the end of a slot, the process decides
    /// whether the value before or after the jump applies.
    #[test]
    fn slot_snr_depends_only_on_slot_number(
        steps in prop::collection::vec(
            (prop_oneof![6 => 0..3u64, 3 => 0..200u64, 1 => 0..1u64 << 22], any::<bool>()),
            1..60,
        ),
        length_ns in prop_oneof![Just(3_000_000u64), Just(1), 1..100_000_000u64],
        seed in 0..1000u64,
    ) {
        let length = Duration::from_nanos(length_ns);
        for description in all_descriptions() {
            let slotted = || SlottedSnr::new(build(&description, seed), length);
            let (mut all, mut some, mut plain) = (slotted(), slotted(), build(&description, seed));
            let scale = 10f64.powf(description["mean_db"].as_f64().unwrap_or(0.0) / 10.0);
            let mut slot = 0;
            for (wait, is_asked) in &steps {
                slot += wait;
                let (start, end) = (all.at(slot), all.at_end_of(slot));
                if *is_asked {
                    prop_assert_eq!(some.at(slot).to_bits(), start.to_bits(), "{}", description);
                    prop_assert_eq!(some.at_end_of(slot).to_bits(), end.to_bits());
                }
                let (starts_ns, ends_ns) = (slot * length_ns, (slot + 1) * length_ns);
                // Rounding of an angle of this many turns in a double; 100 kHz is the largest
                // shift.
                let rounding = 1e-14 * (1e6 + 1e-4 * ends_ns as f64);
                let near = |a: f64, b: f64| (a - b).abs() <= (1e-9 + 5.0 * rounding) * scale;
                let expected = ratio(&mut plain, starts_ns);
                prop_assert!(near(start, expected), "{description}: {start}, {expected}");
                let (before, after) = (ratio(&mut plain, ends_ns - 1), ratio(&mut plain, ends_ns));
                prop_assert!(near(end, before) || near(end, after), "{description}: {end}");
            }
        }
    }
}
