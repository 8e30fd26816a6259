//! Tests runs and skips over gaps against a chain that is stepped slot by slot.

use super::*;
use airpath_core::Seed;

const SLOT: u64 = 10;

fn chain(good_to_bad: f64, bad_to_good: f64) -> TwoStates {
    TwoStates { good_to_bad, bad_to_good }
}

fn run(chain: &Chain, seed: u64) -> Run {
    Run::first(chain, Seed::new(seed, 0, "run").stream())
}

#[test]
fn bad_after_matches_repeated_single_steps() {
    for states in [chain(0.008, 0.07), chain(0.3, 0.9), chain(1.0, 1.0), chain(0.5, 0.5)] {
        for start in [false, true] {
            let mut bad = f64::from(u8::from(start));
            for steps in 0..200 {
                let closed = states.bad_after(steps, start);
                assert!((closed - bad).abs() < 1e-12, "{states:?}, {steps} steps: {closed}, {bad}");
                bad = bad * (1.0 - states.bad_to_good) + (1.0 - bad) * states.good_to_bad;
            }
        }
    }
}

#[test]
fn bad_after_is_exact_for_tiny_probabilities() {
    let states = chain(1e-20, 1e-20);
    let after = states.bad_after(10_u64.pow(19), true);
    assert!((after - (0.5 + 0.5 * (-0.2f64).exp())).abs() < 1e-12, "{after}");
    assert_eq!(chain(1e-10, 1e-10).bad_after(u64::MAX, true), 0.5);
}

/// Returns the state before and after a gap of `slots` slots after the first run, and the rest of
/// the run, ns.
fn state_after(chain: &Chain, slots: u64, seed: u64) -> (bool, bool, u64) {
    let mut run = run(chain, seed);
    let (was_bad, ended) = (!run.is_bad, run.ends_ns);
    run.advance(chain, ended + slots * SLOT);
    assert!(run.starts_ns <= ended + slots * SLOT && run.ends_ns > ended + slots * SLOT);
    (was_bad, run.is_bad, run.ends_ns - (ended + slots * SLOT))
}

#[test]
fn jump_has_distribution_of_walk() {
    const SEEDS: u64 = 40_000;
    let states = chain(0.05, 0.2);
    let walks = Chain::new(states, SLOT);
    let jumps = Chain { walked_ns: 0, ..walks };
    for chain in [walks, jumps] {
        for slots in [1, 3, 10, 100] {
            let mut counts = [[0.0f64; 2]; 2];
            let mut rest = [0.0f64; 2];
            for seed in 0..SEEDS {
                let (was_bad, is_bad, left) = state_after(&chain, slots, seed);
                counts[usize::from(was_bad)][usize::from(is_bad)] += 1.0;
                rest[usize::from(is_bad)] += left as f64 / SLOT as f64;
            }
            for was_bad in [false, true] {
                let [good, bad] = counts[usize::from(was_bad)];
                let expected = states.bad_after(slots, was_bad);
                let bound = 5.0 * (expected * (1.0 - expected) / (good + bad)).sqrt();
                let found = bad / (good + bad);
                assert!((found - expected).abs() < bound, "{slots} slots: {found}, {expected}");
            }
            // The rest of a run has the same mean duration as a complete run.
            for (is_bad, leaving) in [(0, states.good_to_bad), (1, states.bad_to_good)] {
                let count = counts[0][is_bad] + counts[1][is_bad];
                let bound = 5.0 * (1.0 - leaving).sqrt() / leaving / count.sqrt();
                let mean = rest[is_bad] / count;
                assert!((mean - 1.0 / leaving).abs() < bound, "{slots} slots: {mean} left");
            }
        }
    }
}

#[test]
fn gaps_up_to_100_runs_are_advanced_run_by_run() {
    let chain = Chain::new(chain(0.05, 0.2), SLOT);
    // Changes per slot: 2 · 0.2 · 0.2.
    assert!((1249 * SLOT..=1250 * SLOT).contains(&chain.walked_ns), "{}", chain.walked_ns);
}

#[test]
fn run_is_endless_if_state_is_never_left() {
    let chain = Chain::new(chain(0.0, 0.3), SLOT);
    let mut run = run(&chain, 1);
    assert!(!run.is_bad && run.ends_ns == u64::MAX);
    run.advance(&chain, u64::MAX / 2);
    assert!(!run.is_bad);
}

#[test]
fn states_alternate_if_changes_are_certain() {
    let chain = Chain::new(chain(1.0, 1.0), SLOT);
    let mut run = run(&chain, 1);
    for slot in 1..100 {
        assert_eq!(run.ends_ns, slot * SLOT);
        let was_bad = run.is_bad;
        run.step(&chain);
        assert_ne!(run.is_bad, was_bad);
    }
}
