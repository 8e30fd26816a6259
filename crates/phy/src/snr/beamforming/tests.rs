//! Tests of the distributions of opportunistic beamforming.

use super::*;
use crate::snr::SnrRegistry;
use airpath_conformance::Law;
use airpath_core::Seed;

const SEEDS: u64 = 40_000;
const PERIOD_NS: u64 = 300_000_000;
/// Number of waves of a channel.
const N: f64 = crate::rayleigh::SINUSOIDS.get() as f64;

const POWER: Law = Law {
    area: "Radio channel",
    source: "SNR process beamforming: E|h|² = 1, E|h|⁴ = 2 − 2/(3N), N = 64 waves of each antenna",
    allows: "five standard deviations of the mean over 40 000 seeds",
};
const DISTRIBUTION: Law = Law {
    area: "Radio channel",
    source: "SNR process beamforming: the SNR is exponential (Viswanath, Tse and Laroia 2002)",
    allows: "five standard deviations of 40 000 seeds, and 1 % for the 64 waves",
};
const STILL: Law = Law {
    area: "Radio channel",
    source: "SNR process beamforming, a still channel: mean (|h_1|² + |h_2|²)/2, peaks |h_1|² + |h_2|²",
    allows: "0.1 % of the peak, and 1 %",
};
const CONFIGURATION: Law = Law {
    area: "Radio channel",
    source: "SNR process beamforming: α and θ are uniform and independent over time",
    allows: "0.002: 1 000 000 instants of 10 000 periods",
};

fn stream(seed: u64, name: &str) -> Stream {
    Stream::new(seed, 0, name)
}

fn channel(seed: u64, doppler_hz: f64) -> Beamforming {
    let beam = Beam::new(PERIOD_NS, &mut stream(seed, "beam"));
    Beamforming::new(0.0, beam, doppler_hz, &mut stream(seed, "user"))
}

#[test]
fn snr_is_exponential_over_realisations() {
    let at = Time::from_millis(1170);
    let powers: Vec<f64> = (0..SEEDS).map(|seed| channel(seed, 2.0).power_at(at)).collect();
    let count = SEEDS as f64;
    let check = |what: &str, of: &dyn Fn(f64) -> f64, expected: f64| {
        let mean = powers.iter().map(|power| of(*power)).sum::<f64>() / count;
        let variance = powers.iter().map(|power| (of(*power) - mean).powi(2)).sum::<f64>() / count;
        POWER.close(what, "", mean, expected, 5.0 * (variance / count).sqrt());
    };
    check("E|h|²", &|power| power, 1.0);
    check("E|h|⁴", &|power| power * power, 2.0 - 2.0 / (3.0 * N));
    for level in [0.1, 0.5, 1.0, 3.0] {
        let share = powers.iter().filter(|power| **power < level).count() as f64 / count;
        let expected = -f64::exp_m1(-level);
        let bound = 5.0 * (expected * (1.0 - expected) / count).sqrt() + 0.01 * expected;
        DISTRIBUTION.close(format!("P(SNR < {level} of its mean)"), "", share, expected, bound);
    }
}

#[test]
fn power_and_phase_are_uniform_and_independent() {
    let beam = Beam::new(PERIOD_NS, &mut stream(3, "beam"));
    let at = |step: u64| beam.at(Time::from_nanos(step * 3_000_000));
    let all: Vec<(f64, f64)> = (0..1_000_000).map(at).collect();
    let share = |inside: &dyn Fn(f64, f64) -> bool| {
        all.iter().filter(|(share, turns)| inside(*share, *turns)).count() as f64 / 1e6
    };
    let close = |what: &str, found: f64, expected: f64| {
        CONFIGURATION.close(what, "", found, expected, 0.002);
    };
    close("P(α < 0.2)", share(&|share, _| share < 0.2), 0.2);
    close("P(α < 0.7)", share(&|share, _| share < 0.7), 0.7);
    close("P(θ < 0.3 turns)", share(&|_, turns| turns < 0.3), 0.3);
    close("P(α < 0.2, θ < 0.3 turns)", share(&|share, turns| share < 0.2 && turns < 0.3), 0.06);
    close("P(α > 0.9, θ > 0.5 turns)", share(&|share, turns| share > 0.9 && turns > 0.5), 0.05);
}

#[test]
fn constant_channel_varies_and_reaches_best_beam() {
    for seed in 0..10 {
        let mut channel = channel(seed, 0.0);
        let [first, second] = channel.antennas.each_ref().map(|h| h.power_at(Time::ZERO));
        let slot = Duration::from_millis(3);
        let powers: Vec<f64> = (0..1_000_000).map(|n| channel.at_slot_start(n, slot)).collect();
        let (mean, peak) =
            (powers.iter().sum::<f64>() / 1e6, powers.iter().copied().fold(0.0, f64::max));
        let best = first + second;
        STILL.close(format!("mean of user {seed}"), "", mean / best, 0.5, 1e-3);
        STILL.close(format!("peak of user {seed}"), "", peak / best, 1.0, 0.01);
        assert!(powers.iter().all(|power| *power <= best * (1.0 + 1e-9)));
    }
}

/// Users of a link share one beam and have separate channels. A process on a separate link has a
/// separate beam.
#[test]
fn users_of_a_link_share_a_beam_but_not_channels() {
    let user = |link: &str, user: &str, shared: bool| {
        let link = Seed::new(7, 2, link);
        let registry = SnrRegistry::default();
        let shared = shared.then(|| link.child("snr"));
        let extra = SnrContext { shared, ..SnrContext::default() };
        let setup = Setup { seed: link.child(user), registry: &registry, extra };
        let config = BeamformingConfig {
            mean_db: 0.0,
            period_ns: PERIOD_NS,
            doppler_hz: Some(1.0),
            speed_mps: None,
            carrier_hz: None,
        };
        Beamforming::build(config, setup).expect("accepted")
    };
    let (first, second) = (user("link", "user 0", true), user("link", "user 1", true));
    assert_eq!(first.beam, second.beam);
    assert_ne!(first.antennas, second.antennas);
    assert_ne!(first.antennas[0], first.antennas[1]);
    assert_ne!(first.beam, user("other link", "user 0", true).beam);
    assert_ne!(user("link", "user 0", false).beam, user("link", "user 1", false).beam);
}
