//! Sender and receiver under a hostile air: frames lost one by one and in bursts, orders to move on
//! lost, reports lost, late and in the wrong order. `world.rs` keeps the account and checks it
//! after every TTI.

use super::settings::{Settings, one_of};
use super::world::World;
use airpath_core::Stream;
use proptest::prelude::*;

/// TTIs under hostile air with one choice of settings.
const TTIS_OF_A_SETTING: u64 = 5_000;

/// Runs a world of random settings for `ttis` TTIs of hostile air; now and then the air becomes
/// clean, and everything has to come out.
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

/// Runs `settings` random settings; returns how often the numbers wrapped and how many SDUs were
/// discarded.
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

/// Windows, with their first seed and what has to happen at least in a million TTIs: numbers that
/// wrap around, SDUs that are discarded.
const WINDOWS: [(u64, &[u64], u64, usize); 3] = [
    (0, &[1, 2, 8], 100, 1000),
    (10_000, &[9, 63, 64, 65, 300], 500, 1000),
    (20_000, &[1024, 2047], 1000, 1000),
];

#[test]
fn hostile_air_with_windows_from_1_to_2047() {
    for (first_seed, windows, least_wraps, least_discarded) in WINDOWS {
        let (wraps, discarded) = run_all(first_seed, 10, windows);
        // Half of the share of the time: few settings differ more than many.
        let enough = wraps > least_wraps / 40 && discarded > least_discarded / 40;
        assert!(enough, "{windows:?}: {wraps} {discarded}");
    }
}

#[test]
#[ignore = "minutes"]
fn a_million_ttis_of_hostile_air_with_windows_from_1_to_2047() {
    for (first_seed, windows, least_wraps, least_discarded) in WINDOWS {
        let (wraps, discarded) = run_all(first_seed, 200, windows);
        assert!(wraps > least_wraps && discarded > least_discarded, "{wraps} {discarded}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The same in small, for a failure that is short.
    #[test]
    fn every_sdu_arrives_once_and_in_order_or_is_reported_as_discarded(
        seed in any::<u64>(),
        window in 1u64..=2047,
        ttis in 1u64..400,
    ) {
        run(seed, ttis, &[window]);
    }
}
