//! Invariants of every error process.
//!
//! A new built-in process is tested as soon as it is registered, with the parameters in its class's
//! documentation; [`descriptions`] may add others.

use airpath_conformance::samples;
use airpath_core::{Bytes, ConfigError, Registry, Seed, Setup, Time};
use airpath_phy::errors::{AnyErrors, ErrorProcess, ErrorsRegistry, Frame};
use proptest::prelude::*;
use serde_json::{Value, json};

const HUGE: u64 = u64::MAX;

/// Returns configurations of a built-in process: ordinary and extreme ones.
fn descriptions(kind: &str) -> Vec<Value> {
    match kind {
        "independent" => [0.0, 0.3, 1.0].map(|loss| json!({"loss": loss})).to_vec(),
        "gilbert-elliott" => vec![
            json!({"p_good_to_bad": 0.01, "p_bad_to_good": 0.2, "slot_ns": 10_000_000}),
            json!({"p_good_to_bad": 1, "p_bad_to_good": 1, "slot_ns": HUGE}),
            json!({"p_good_to_bad": 0, "p_bad_to_good": 1, "slot_ns": 1}),
            json!({"p_good_to_bad": 1, "p_bad_to_good": 0, "slot_ns": 1, "loss_bad": 0.5}),
            json!({"p_good_to_bad": 1e-300, "p_bad_to_good": 1e-17, "slot_ns": 1}),
            json!({"p_good_to_bad": 0.5, "p_bad_to_good": 0.5, "slot_ns": 1,
                   "loss_good": 0.1, "loss_bad": 0.9}),
        ],
        "burst" => vec![
            json!({"frame_error_rate": 0.1, "doppler": 0.01}),
            json!({"frame_error_rate": 0, "doppler": 1e-9, "slot_ns": 1}),
            json!({"frame_error_rate": 0.999_999, "doppler": 1e9, "slot_ns": 1}),
            json!({"frame_error_rate": 1e-9, "doppler": 1e-9, "slot_ns": HUGE}),
        ],
        other => samples("errors", other, |description| try_build(description, 1).is_ok()),
    }
}

fn build(description: &Value, seed: u64) -> AnyErrors {
    try_build(description, seed).unwrap_or_else(|error| panic!("{description}: {error}"))
}

fn try_build(description: &Value, seed: u64) -> Result<AnyErrors, ConfigError> {
    let registry = ErrorsRegistry::default();
    let setup = Setup { seed: Seed::new(seed, 0, "channel"), registry: &registry, extra: () };
    AnyErrors::build(description, setup)
}

fn all_descriptions() -> impl Iterator<Item = Value> {
    AnyErrors::BUILT_IN.iter().flat_map(|(kind, _)| {
        descriptions(kind).into_iter().map(move |mut description| {
            description["kind"] = json!(kind);
            description
        })
    })
}

/// Frames in order of their start: gap after the previous start, and duration, ns.
fn frames() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let span =
        || prop_oneof![3 => 0..20_000_000u64, 1 => Just(0), 1 => 0..1u64 << 40, 1 => 0..1u64 << 57];
    prop::collection::vec((span(), span()), 1..40)
}

fn outcomes(process: &mut impl ErrorProcess, frames: &[(u64, u64)]) -> Vec<bool> {
    let mut began = 0;
    let outcome = |&(wait, length): &(u64, u64)| {
        began += wait;
        let [began, ended] = [began, began + length].map(Time::from_nanos);
        process.corrupts(&Frame { began, ended, bytes: Bytes(1500), mcs: None })
    };
    frames.iter().map(outcome).collect()
}

proptest! {
    #[test]
    fn outcomes_are_equal_for_equal_seeds(
        frames in frames(), seed in 0..1000u64,
    ) {
        for description in all_descriptions() {
            let once = outcomes(&mut build(&description, seed), &frames);
            let again = outcomes(&mut build(&description, seed), &frames);
            prop_assert_eq!(once, again, "{}", description);
        }
    }
}

#[test]
fn outcomes_differ_between_seeds() {
    let frames = [(10_000_000, 1000); 2000];
    for description in [
        json!({"kind": "independent", "loss": 0.5}),
        json!({"kind": "burst", "frame_error_rate": 0.5, "doppler": 0.05}),
    ] {
        let [one, two] = [1, 2].map(|seed| outcomes(&mut build(&description, seed), &frames));
        assert_ne!(one, two, "{description}");
    }
}

#[test]
fn independent_errors_have_the_configured_frequency() {
    const FRAMES: usize = 200_000;
    let mut process = build(&json!({"kind": "independent", "loss": 0.03}), 1);
    let outcomes = outcomes(&mut process, &[(1000, 500); FRAMES]);
    let lost = |outcomes: &[bool]| outcomes.iter().filter(|lost| **lost).count() as f64;
    let bound = |count: f64, p: f64| 5.0 * (p * (1.0 - p) / count).sqrt();
    let share = lost(&outcomes) / FRAMES as f64;
    assert!((share - 0.03).abs() < bound(FRAMES as f64, 0.03), "{share}");
    // Losses are independent: a loss does not change the probability of the next one.
    let after: Vec<bool> = outcomes.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
    let share = lost(&after) / after.len() as f64;
    assert!((share - 0.03).abs() < bound(after.len() as f64, 0.03), "{share} after a loss");
}

#[test]
fn plug_in_process_is_found_by_its_name() {
    struct Every(u64);
    impl ErrorProcess for Every {
        fn corrupts(&mut self, _frame: &Frame) -> bool {
            self.0 += 1;
            self.0.is_multiple_of(2)
        }
    }
    let mut registry: ErrorsRegistry = Registry::default();
    registry.register("every-other", |_, _| Ok(Box::new(Every(0))));
    let setup = Setup { seed: Seed::new(1, 0, "channel"), registry: &registry, extra: () };
    let mut process =
        AnyErrors::build(&json!({"kind": "every-other"}), setup).expect("it is registered");
    assert_eq!(outcomes(&mut process, &[(1, 1); 4]), [false, true, false, true]);
}
