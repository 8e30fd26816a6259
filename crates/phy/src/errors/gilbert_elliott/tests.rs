//! Tests of frame corruption against the distributions of the chain.

use super::*;
use crate::errors::{AnyErrors, fading_chain};
use airpath_conformance::Law;
use airpath_core::{Bytes, Registry, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const RUNS: Law = Law {
    area: "Radio channel",
    source: "Bursts at ε = 0.1, f_d T = 0.01: geometric runs, P(run ≥ n) = P(B|B)^(n-1)",
    allows: "five standard deviations of four million slots",
};

const SLOT: u64 = 10_000_000;
const HARD: [f64; 2] = [0.0, 1.0];

fn channel(states: TwoStates, loss: [f64; 2], seed: u64) -> GilbertElliott {
    GilbertElliott::new(states, loss, SLOT, &Seed::new(seed, 0, "channel"))
}

/// Returns the paper's channel.
fn bursts(seed: u64) -> GilbertElliott {
    channel(fading_chain::two_states(0.1, 0.01), HARD, seed)
}

fn frame(channel: &mut impl ErrorProcess, began_ns: u64, ended_ns: u64) -> bool {
    channel.corrupts(&Frame {
        began: Time::from_nanos(began_ns),
        ended: Time::from_nanos(ended_ns),
        bytes: Bytes(1500),
        mcs: None,
    })
}

fn slot(channel: &mut impl ErrorProcess, number: u64) -> bool {
    frame(channel, number * SLOT, (number + 1) * SLOT)
}

/// Returns the lengths of the bad and the good runs, without the last run, which is incomplete.
fn runs(channel: &mut impl ErrorProcess, slots: u64) -> [Vec<u64>; 2] {
    let mut lengths = [Vec::new(), Vec::new()];
    let (mut is_bad, mut length) = (slot(channel, 0), 1);
    for number in 1..slots {
        if slot(channel, number) == is_bad {
            length += 1;
        } else {
            lengths[usize::from(is_bad)].push(length);
            (is_bad, length) = (!is_bad, 1);
        }
    }
    lengths
}

#[test]
fn bursts_match_chain_in_error_rate_and_runs() {
    const SLOTS: u64 = 4_000_000;
    let states = fading_chain::two_states(0.1, 0.01);
    let mut channel = bursts(1);
    let bad = (0..SLOTS).filter(|number| slot(&mut channel, *number)).count() as f64;
    // The slots are correlated: the variance of the mean is (1+λ)/(1-λ) times that of independent
    // slots.
    let lambda = 1.0 - states.good_to_bad - states.bad_to_good;
    let variance = 0.1 * 0.9 / SLOTS as f64 * (1.0 + lambda) / (1.0 - lambda);
    RUNS.close("share of bad slots", "", bad / SLOTS as f64, 0.1, 5.0 * variance.sqrt());
    let [good, bad] = runs(&mut bursts(1), SLOTS);
    let mean = |runs: &[u64]| runs.iter().sum::<u64>() as f64 / runs.len() as f64;
    let bound = |p: f64, count: usize| 5.0 * (1.0 - p).sqrt() / p / (count as f64).sqrt();
    let bad_bound = bound(states.bad_to_good, bad.len());
    RUNS.close("mean bad run", "slots", mean(&bad), 1.0 / states.bad_to_good, bad_bound);
    let good_bound = bound(states.good_to_bad, good.len());
    RUNS.close("mean good run", "slots", mean(&good), 1.0 / states.good_to_bad, good_bound);
    for (at_least, printed) in [(10, 0.505), (20, 0.236), (30, 0.110), (60, 0.0113)] {
        let expected = (1.0 - states.bad_to_good).powi(at_least - 1);
        assert!((expected / printed - 1.0).abs() < 5e-3, "{at_least}: {expected}");
        let longer = bad.iter().filter(|run| **run >= at_least as u64).count() as f64;
        let bound = 5.0 * (expected * (1.0 - expected) / bad.len() as f64).sqrt();
        let what = format!("P(bad run ≥ {at_least})");
        RUNS.close(what, "", longer / bad.len() as f64, expected, bound);
    }
}

#[test]
fn first_slot_has_stationary_distribution() {
    const SEEDS: u64 = 40_000;
    let bad = (0..SEEDS).filter(|seed| slot(&mut bursts(*seed), 0)).count() as f64;
    let bound = 5.0 * (0.09 / SEEDS as f64).sqrt();
    assert!((bad / SEEDS as f64 - 0.1).abs() < bound, "{bad} of {SEEDS}");
}

#[test]
fn share_of_bad_slots_is_stationary_after_long_gaps() {
    const FRAMES: u64 = 100_000;
    let hour = 3_600_000_000_000;
    let mut channel = bursts(2);
    let bad = (0..FRAMES).filter(|n| frame(&mut channel, n * hour, n * hour + 1)).count() as f64;
    let bound = 5.0 * (0.09 / FRAMES as f64).sqrt();
    assert!((bad / FRAMES as f64 - 0.1).abs() < bound, "{bad} of {FRAMES}");
}

#[test]
fn end_of_frame_is_exclusive() {
    let mut probe = bursts(8);
    let first_bad = (0..).find(|number| slot(&mut probe, *number)).expect("a bad slot");
    assert!(first_bad > 0, "the seed begins good");
    let begins = first_bad * SLOT;
    assert!(!frame(&mut bursts(8), 0, begins));
    assert!(frame(&mut bursts(8), 0, begins + 1));
    // A frame of zero duration is an instant in a slot.
    assert!(!frame(&mut bursts(8), begins - 1, begins - 1));
    assert!(frame(&mut bursts(8), begins, begins));
}

#[test]
fn frames_in_one_slot_have_equal_outcomes() {
    let (mut whole, mut parts) = (bursts(4), bursts(4));
    for number in 0..20_000 {
        let outcome = slot(&mut whole, number);
        for part in 0..4 {
            let began = number * SLOT + part * SLOT / 4;
            assert_eq!(frame(&mut parts, began, began + SLOT / 4), outcome, "slot {number}");
        }
    }
}

#[test]
fn frame_is_exposed_to_all_overlapped_slots() {
    // All slots are good, each with a loss probability of 0.1.
    let states = TwoStates { good_to_bad: 0.0, bad_to_good: 1.0 };
    for (length, slots) in [(SLOT, 1), (SLOT + 1, 2), (5 * SLOT / 2, 3), (10 * SLOT, 10)] {
        const FRAMES: u64 = 40_000;
        let mut channel = channel(states, [0.1, 1.0], 5);
        let began = |number: u64| number * 20 * SLOT;
        let lost = (0..FRAMES)
            .filter(|number| frame(&mut channel, began(*number), began(*number) + length))
            .count() as f64;
        let expected = 1.0 - 0.9f64.powi(slots);
        let bound = 5.0 * (expected * (1.0 - expected) / FRAMES as f64).sqrt();
        let found = lost / FRAMES as f64;
        assert!((found - expected).abs() < bound, "{slots} slots: {found}, {expected}");
    }
}

#[test]
fn mean_loss_is_weighted_by_state_shares() {
    const SLOTS: u64 = 1_000_000;
    let states = TwoStates { good_to_bad: 0.1, bad_to_good: 0.3 };
    let mut channel = channel(states, [0.05, 0.6], 6);
    let lost = (0..SLOTS).filter(|number| slot(&mut channel, *number)).count() as f64;
    let expected: f64 = 0.75 * 0.05 + 0.25 * 0.6;
    // The correlation between frames increases the variance at most as much as the correlation
    // between states.
    let variance = expected * (1.0 - expected) + 0.55f64.powi(2) * 0.1875 * 2.0 * 0.6 / 0.4;
    let found = lost / SLOTS as f64;
    assert!((found - expected).abs() < 5.0 * (variance / SLOTS as f64).sqrt(), "{found}");
}

#[test]
fn frames_do_not_change_the_states() {
    let (mut all, mut some) = (bursts(7), bursts(7));
    let fates: Vec<bool> = (0..50_000).map(|number| slot(&mut all, number)).collect();
    // Gaps are at most 40 s, well below the duration of 100 runs.
    let mut number = 0;
    while number < fates.len() {
        assert_eq!(slot(&mut some, number as u64), fates[number], "slot {number}");
        number += 1 + number * 7919 % 4001;
    }
}

/// The frame is longer than 750 slots, the longest gap here over which the chain is advanced run by
/// run.
#[test]
fn overlapping_frames_share_slot_states() {
    let states = TwoStates { good_to_bad: 0.1, bad_to_good: 0.2 };
    for seed in 0..40 {
        let mut by_slot = channel(states, HARD, seed);
        let fates: Vec<bool> = (0..5000).map(|number| slot(&mut by_slot, number)).collect();
        for later in [2500, 4999] {
            let mut harmless = channel(states, [0.0, 0.0], seed);
            assert!(!frame(&mut harmless, 0, 5000 * SLOT));
            assert!(!slot(&mut harmless, later));
            assert_eq!(harmless.run.is_bad, fates[later as usize], "slot {later}");
        }
    }
}

/// Frames in order of their start: gap after the previous start, and duration, ns.
fn frames() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let wait = prop_oneof![Just(0), 0..SLOT, 0..40 * SLOT];
    let length = prop_oneof![Just(0), Just(SLOT), 0..2 * SLOT, 0..300 * SLOT];
    prop::collection::vec((wait, length), 1..60)
}

proptest! {
    /// Frames may overlap and extend over many runs. A slot has the same state for all frames.
    #[test]
    fn frame_is_corrupted_when_it_overlaps_a_bad_slot(
        frames in frames(), seed in 0..50u64, to_bad in 0.01..1.0f64, to_good in 0.01..1.0f64,
    ) {
        let states = TwoStates { good_to_bad: to_bad, bad_to_good: to_good };
        let mut by_slot = channel(states, HARD, seed);
        let fates: Vec<bool> = (0..2800).map(|number| slot(&mut by_slot, number)).collect();
        let mut by_frame = channel(states, HARD, seed);
        let mut began = 0;
        for (wait, length) in frames {
            began += wait;
            let ended = began + length;
            let (first, last) = (began / SLOT, ended.max(began + 1).div_ceil(SLOT));
            let expected = fates[first as usize..last as usize].contains(&true);
            prop_assert_eq!(frame(&mut by_frame, began, ended), expected, "{}…{}", began, ended);
        }
    }
}

fn refused(description: &Value) -> String {
    let setup =
        Setup { seed: Seed::new(1, 0, "channel"), registry: &Registry::default(), extra: () };
    match AnyErrors::build(description, setup) {
        Ok(_) => panic!("{description} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn error_messages_name_field_value_and_range() {
    let built_in: Vec<&str> = AnyErrors::BUILT_IN.iter().map(|(name, _)| *name).collect();
    let unknown = format!("kind = gilbert: unknown. Accepted: {}", built_in.join(", "));
    let cases = [
        (json!({"kind": "gilbert", "loss": 0.1}), &*unknown),
        (json!({"kind": "independent", "loss": 1.5}), "loss = 1.5: above 1. Accepted: 0 to 1"),
        (
            json!({"kind": "gilbert-elliott", "p_good_to_bad": 0, "p_bad_to_good": 0,
                   "slot_ns": 1}),
            "p_bad_to_good = 0: 0 like p_good_to_bad: the state would never change. \
             Use a number above 0 for one of them",
        ),
        (
            json!({"kind": "gilbert-elliott", "p_good_to_bad": 0.1, "p_bad_to_good": 0.2,
                   "slot_ns": 0}),
            "slot_ns = 0: below 1. Accepted: at least 1",
        ),
        (
            json!({"kind": "burst", "frame_error_rate": 1.0, "doppler": 0.01}),
            "frame_error_rate = 1: not below 1. Accepted: 0 to below 1",
        ),
        (
            json!({"kind": "burst", "frame_error_rate": 0.1, "doppler": 0.0}),
            "doppler = 0: below 0.000000001. Accepted: 0.000000001 to 1000000000",
        ),
    ];
    for (description, expected) in cases {
        assert_eq!(refused(&description), expected);
    }
}
