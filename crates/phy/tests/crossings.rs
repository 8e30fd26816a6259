//! Level crossings and fade durations of the fading SNR processes, compared with Rice's formulas.

use airpath_conformance::Law;
use airpath_core::{Duration, Registry, Seed, Setup};
use airpath_phy::snr::{AnySnr, SlottedSnr, SnrContext};
use serde_json::json;
use std::f64::consts::TAU;

const RICE: Law = Law {
    area: "Radio channel",
    source: "Rice 1948 and Jakes 1974 §1.3: crossings of a level in a fading channel, and times below",
    allows: "5 %",
};

const CYCLES: u64 = 500;
/// Samples per period of the largest Doppler shift.
const SAMPLES: u64 = 100;

/// Returns for each level ρ (amplitude relative to its root mean square) the number of upward
/// crossings per cycle of f_d, and the mean time below the level per fade, cycles.
fn fades<const N: usize>(kind: &str, levels: [f64; N], channels: u64) -> [(f64, f64); N] {
    let mut counts = [(0u64, 0u64); N];
    for seed in 0..channels {
        let description = json!({"kind": kind, "mean_db": 0, "doppler_hz": 10});
        let seed = Seed::new(seed, 0, "crossings");
        let setup = Setup { seed, registry: &Registry::default(), extra: SnrContext::default() };
        let process = AnySnr::build(&description, setup).expect("a process");
        let slot = Duration::from_nanos(100_000_000 / SAMPLES);
        let mut process = SlottedSnr::new(process, slot);
        let mut was_below = [false; N];
        for number in 0..CYCLES * SAMPLES {
            let power = process.at(number);
            for (place, level) in levels.iter().enumerate() {
                let is_below = power < level * level;
                counts[place].0 += u64::from(was_below[place] && !is_below);
                counts[place].1 += u64::from(is_below);
                was_below[place] = is_below;
            }
        }
    }
    counts.map(|(crossings, below)| {
        let rate = crossings as f64 / (channels * CYCLES) as f64;
        (rate, below as f64 / SAMPLES as f64 / crossings as f64)
    })
}

fn assert_rice(channels: u64) {
    let levels = [0.3, 0.5, 1.0];
    for kind in ["rayleigh", "jakes"] {
        for (level, (rate, duration)) in levels.into_iter().zip(fades(kind, levels, channels)) {
            let square: f64 = level * level;
            let rice = TAU.sqrt() * level * (-square).exp();
            RICE.close_relative(format!("{kind}: crossings of {level}"), "", rate, rice, 0.05);
            let rice = square.exp_m1() / (level * TAU.sqrt());
            let what = format!("{kind}: mean time below {level}");
            RICE.close_relative(what, "cycles", duration, rice, 0.05);
        }
    }
}

/// Uses about 12 000 fades below each level.
#[test]
fn crossing_rates_and_fade_durations_match_rice() {
    assert_rice(40);
}

/// Uses about 30 000 fades below each level.
#[test]
#[ignore = "minutes"]
fn crossing_rates_and_fade_durations_of_many_channels_match_rice() {
    assert_rice(100);
}
