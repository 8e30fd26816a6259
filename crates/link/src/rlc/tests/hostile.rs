//! Sender and receiver under a hostile air: frames lost one by one and in bursts, orders to move on
//! lost, reports lost, late and in the wrong order. `world.rs` keeps the account and checks it after
//! every TTI.

use super::settings::{Settings, one_of};
use super::world::World;
use airpath_core::Stream;
use proptest::prelude::*;

/// TTIs under hostile air of one run of a property.
const TTIS: u64 = 1_000_000;
/// Those between one choice of settings and the next.
const TTIS_OF_A_SETTING: u64 = 5_000;

/// Runs a world of drawn settings for so many TTIs of hostile air; now and then the air becomes
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

/// A million TTIs; gives how often the numbers wrapped and how many SDUs were discarded.
fn run_all(first_seed: u64, windows: &[u64]) -> (u64, usize) {
    let settings = TTIS / TTIS_OF_A_SETTING;
    let (mut wraps, mut discarded) = (0, 0);
    for seed in first_seed..first_seed + settings {
        let world = run(seed, TTIS_OF_A_SETTING, windows);
        assert!(world.tti >= TTIS_OF_A_SETTING, "clean TTIs come on top");
        wraps += world.wraps();
        discarded += world.discarded();
    }
    (wraps, discarded)
}

#[test]
fn a_million_ttis_with_windows_of_1_2_and_8() {
    let (wraps, discarded) = run_all(0, &[1, 2, 8]);
    assert!(wraps > 100 && discarded > 1000, "{wraps} {discarded}");
}

#[test]
fn a_million_ttis_with_windows_around_a_word_of_the_sets() {
    let (wraps, discarded) = run_all(10_000, &[9, 63, 64, 65, 300]);
    assert!(wraps > 500 && discarded > 1000, "{wraps} {discarded}");
}

#[test]
fn a_million_ttis_with_windows_of_1024_and_2047() {
    let (wraps, discarded) = run_all(20_000, &[1024, 2047]);
    assert!(wraps > 1000 && discarded > 1000, "{wraps} {discarded}");
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
