//! Tests of sender and receiver over a lossy channel: isolated and burst losses of frames, lost
//! skip orders, and reports that are lost, late or reordered. `world.rs` records all PDUs
//! independently and checks invariants after every TTI.

use super::settings::{Settings, one_of};
use super::world::World;
use airpath_core::Stream;
use proptest::prelude::*;

/// Number of TTIs with losses that are simulated with one set of parameters.
const TTIS_OF_A_SETTING: u64 = 5_000;

/// Runs a world with random parameters for `ttis` TTIs with losses. From time to time the channel
/// becomes error-free, and all SDUs must leave.
fn run(seed: u64, ttis: u64, windows: &[u64]) -> World {
    let mut stream = Stream::new(seed, 0, "hostile");
    let settings = Settings::draw(&mut stream, windows);
    let mut lengths = stream.clone();
    let mut world = World::new(settings, stream);
    let mut left = ttis;
    while left > 0 {
        let stretch = one_of(&mut lengths, &[1, 5, 40, 200, 1000]).min(left);
        (0..stretch).for_each(|_| world.step());
        left -= stretch;
        let enough = world.enough();
        world.drain(enough);
    }
    world.finish();
    world
}

/// Runs `settings` simulations with random parameters. Returns the number of wraps of the sequence
/// numbers and the number of discarded SDUs.
fn run_all(first_seed: u64, settings: u64, windows: &[u64]) -> (u64, usize) {
    let (mut wraps, mut discarded) = (0, 0);
    for seed in first_seed..first_seed + settings {
        let world = run(seed, TTIS_OF_A_SETTING, windows);
        assert!(world.tti >= TTIS_OF_A_SETTING, "clean TTIs come on top");
        wraps += world.wraps();
        discarded += world.discarded();
    }
    (wraps, discarded)
}

/// First seed, window sizes, required number of wraps of the sequence numbers, required number of
/// discarded SDUs. The required numbers are for a million TTIs.
const WINDOWS: [(u64, &[u64], u64, usize); 3] = [
    (0, &[1, 2, 8], 100, 1000),
    (10_000, &[9, 63, 64, 65, 300], 500, 1000),
    (20_000, &[1024, 2047], 1000, 1000),
];

#[test]
fn invariants_hold_with_losses_for_windows_from_1_to_2047() {
    for (first_seed, windows, least_wraps, least_discarded) in WINDOWS {
        let (wraps, discarded) = run_all(first_seed, 10, windows);
        // Half of the proportional number is required, because the results of a few parameter sets
        // vary more than those of many.
        let enough = wraps > least_wraps / 40 && discarded > least_discarded / 40;
        assert!(enough, "{windows:?}: {wraps} {discarded}");
    }
}

#[test]
#[ignore = "minutes"]
fn invariants_hold_for_a_million_ttis_with_losses() {
    for (first_seed, windows, least_wraps, least_discarded) in WINDOWS {
        let (wraps, discarded) = run_all(first_seed, 200, windows);
        assert!(wraps > least_wraps && discarded > least_discarded, "{wraps} {discarded}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The runs are short, so that a failing case is short.
    #[test]
    fn sdus_arrive_once_in_order_or_are_discarded(
        seed in any::<u64>(),
        window in 1u64..=2047,
        ttis in 1u64..400,
    ) {
        run(seed, ttis, &[window]);
    }
}
