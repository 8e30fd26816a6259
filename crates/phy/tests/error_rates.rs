//! Error rates of the complete chain, compared with the reference points of phy-802.16-ctc §6 and
//! §7.1.
//!
//! The short tests always run; the long ones run with `cargo test --profile quick -- --ignored`.

use airpath_conformance::Law;
use airpath_core::rng::Seed;
use airpath_phy::code::ctc::{Algorithm, DecoderConfig};
use airpath_phy::fading::Fading;
use airpath_phy::mcs::MCSS;
use airpath_phy::modulation::Demapper;
use airpath_phy::monte_carlo::{Count, Point, Settings, measure};
use std::num::NonZero;
use std::sync::atomic::AtomicBool;

const VEHICULAR_A: Law = Law {
    area: "802.16 packet error rates",
    source: "Frame error rates on ITU-R Vehicular A of another implementation \
             (phy-802.16-ctc §6, reference model)",
    allows: "3.3 standard deviations of both counts",
};

const AWGN: Law = Law {
    area: "802.16 packet error rates",
    source: "Frame error rates on AWGN of another implementation (phy-802.16-ctc §7.1)",
    allows: "3.3 standard deviations of both counts",
};

/// Settings for a point with enough errors or blocks, on two threads.
fn settings(errors: u64, blocks: u64) -> Settings {
    Settings {
        seed: Seed::new(1, 0, "error rates"),
        errors,
        blocks,
        threads: NonZero::new(2).expect("two threads"),
        decoder: DecoderConfig::default(),
        demapper: Demapper::default(),
        skips: false,
    }
}

/// Measures a point of `channel`.
fn counted_with(number: usize, channel: &str, snr_db: f64, settings: &Settings) -> Count {
    let fading = Fading::from_name(channel).expect("a channel");
    let point = Point { mcs: MCSS[number], fading, snr_db };
    measure(&point, settings, &AtomicBool::new(false), &mut |_| {}).count
}

fn counted(number: usize, channel: &str, snr_db: f64, errors: u64, blocks: u64) -> Count {
    counted_with(number, channel, snr_db, &settings(errors, blocks))
}

/// Checks that the frame error rate of a point equals the published rate, which is based on
/// `published_errors` errors.
fn assert_rate(law: Law, count: Count, what: String, published: f64, published_errors: f64) {
    let ours = count.frame_error_rate();
    let allowed = 3.3 * published * f64::sqrt(1.0 / count.errors as f64 + 1.0 / published_errors);
    law.close(what, "", ours, published, allowed);
}

/// §6, reference model: scheme, Es/N0 (dB), frame error rate, counted errors.
const POINTS: [(usize, f64, f64, f64); 9] = [
    (5, 26.0, 3.30e-3, 8000.0),
    (7, 30.0, 4.74e-3, 8000.0),
    (3, 22.0, 5.83e-3, 8000.0),
    (4, 22.0, 3.26e-3, 8000.0),
    (6, 26.0, 1.22e-2, 8000.0),
    (0, 12.0, 3.04e-3, 600.0),
    (1, 16.0, 6.74e-3, 600.0),
    (2, 16.0, 9.92e-3, 600.0),
    (6, 30.0, 4.91e-4, 4000.0),
];

fn assert_vehicular_a(points: &[(usize, f64, f64, f64)], errors: u64) {
    for &(number, snr_db, published, published_errors) in points {
        let count = counted(number, "vehicular-a", snr_db, errors, 100_000_000);
        assert_rate(
            VEHICULAR_A,
            count,
            format!("mcs{number}, {snr_db} dB"),
            published,
            published_errors,
        );
    }
}

#[test]
fn vehicular_a_points_of_the_reference_model() {
    assert_vehicular_a(&POINTS[4..6], 400);
}

#[test]
#[ignore = "minutes"]
fn vehicular_a_points_of_the_reference_model_at_length() {
    assert_vehicular_a(&POINTS, 4000);
}

/// §7.1: scheme, Es/N0 (dB), errors in 60 000 blocks, max-log.
const AWGN_POINTS: [(usize, f64, f64); 8] = [
    (0, 2.00, 82.0),
    (1, 5.50, 31.0),
    (2, 7.50, 111.0),
    (3, 11.50, 109.0),
    (4, 12.25, 146.0),
    (5, 16.00, 80.0),
    (6, 17.00, 75.0),
    (7, 19.00, 55.0),
];

fn assert_awgn(points: &[(usize, f64, f64)]) {
    for &(number, snr_db, errors) in points {
        let count = counted(number, "awgn", snr_db, u64::MAX, 100_000);
        let what = format!("mcs{number}, {snr_db} dB");
        assert_rate(AWGN, count, what, errors / 60_000.0, errors);
    }
}

/// One point per modulation: QPSK, 16QAM, 64QAM.
#[test]
fn awgn_points_through_the_chain() {
    assert_awgn(&[AWGN_POINTS[0], AWGN_POINTS[2], AWGN_POINTS[4]]);
}

#[test]
#[ignore = "minutes"]
fn all_awgn_points_through_the_chain() {
    assert_awgn(&AWGN_POINTS);
}

/// §6, variants: 1500 to 2500 errors each. Adjacent subcarriers reduce the diversity of the band, a
/// flat channel removes it completely.
#[test]
#[ignore = "minutes"]
fn error_rates_match_variants_of_channel_model() {
    let variants = [
        ("vehicular-a/fusc", 4, 22.0, 2.94e-3),
        ("vehicular-a/fusc", 7, 30.0, 3.98e-3),
        ("vehicular-a/pusc", 4, 22.0, 4.79e-3),
        ("vehicular-a/pusc", 3, 22.0, 1.08e-2),
        ("vehicular-a/comb", 4, 22.0, 3.03e-3),
        ("vehicular-a/comb", 3, 22.0, 5.32e-3),
        ("vehicular-a/adjacent", 4, 22.0, 1.3e-2),
        ("rayleigh", 4, 22.0, 7.3e-2),
        ("rayleigh", 7, 30.0, 4.8e-2),
    ];
    for (channel, number, snr_db, published) in variants {
        let count = counted(number, channel, snr_db, 500, 1_000_000);
        // The last three rates are published with two digits.
        let what = format!("{channel}, mcs{number}, {snr_db} dB");
        assert_rate(VEHICULAR_A, count, what, published, 1500.0);
    }
}

/// §6, variants: a linear-log demapper before the max-log decoder, with at least 1500 errors, and
/// the linear-log algorithm in both, with at least 100 errors. The number of simulated errors is
/// limited by the number of published errors, because more would not increase the significance.
#[test]
#[ignore = "minutes"]
fn error_rates_match_variants_of_receiver() {
    let both = [
        (Algorithm::MaxLog, 1500.0, [(4, 22.0, 3.01e-3), (3, 22.0, 5.83e-3), (7, 30.0, 4.59e-3)]),
        (Algorithm::LinearLog, 100.0, [(4, 22.0, 1.9e-3), (3, 22.0, 5.2e-3), (7, 30.0, 4.1e-3)]),
    ];
    for (algorithm, published_errors, points) in both {
        let decoder = DecoderConfig { algorithm, ..DecoderConfig::default() };
        let demapper = Demapper::LinearLog;
        let errors = f64::min(500.0, 2.0 * published_errors) as u64;
        let settings = Settings { decoder, demapper, ..settings(errors, 1_000_000) };
        for (number, snr_db, published) in points {
            let count = counted_with(number, "vehicular-a", snr_db, &settings);
            let what = format!("LinearLog, {algorithm:?}, mcs{number}, {snr_db} dB");
            assert_rate(VEHICULAR_A, count, what, published, published_errors);
        }
    }
}

const SKIP_RULE: Law = Law {
    area: "802.16 packet error rates",
    source: "Frame error rates with the skip rule against those without (phy-802.16-ctc §8)",
    allows: "3.3 standard deviations of both counts",
};

/// Checks points with the skip rule against a control without it. At the point with the fewest
/// skipped blocks, half of the blocks are skipped.
fn assert_skip_rule(points: &[(usize, f64)], errors: u64) {
    for &(number, snr_db) in points {
        let [with, without] = [true, false].map(|skips| {
            let settings = Settings { skips, ..settings(errors, 100_000_000) };
            counted_with(number, "vehicular-a", snr_db, &settings)
        });
        assert_eq!(without.skipped, 0);
        let share = with.skipped as f64 / with.blocks as f64;
        assert!(share > 0.49, "mcs{number}: {share} skipped");
        let what = format!("mcs{number}, {snr_db} dB");
        let control = without.frame_error_rate();
        assert_rate(SKIP_RULE, with, what, control, without.errors as f64);
    }
}

#[test]
fn skip_rule_preserves_error_rate() {
    assert_skip_rule(&[(3, 22.0)], 400);
}

#[test]
#[ignore = "minutes"]
fn skipped_blocks_decode_correctly_at_length() {
    assert_skip_rule(
        &[(0, 12.0), (1, 16.0), (2, 18.0), (4, 22.0), (5, 26.0), (6, 28.0), (7, 30.0)],
        4000,
    );
}

#[test]
fn skip_rule_is_off_without_thresholds() {
    let settings = Settings { skips: true, ..settings(1, 8192) };
    assert_eq!(counted_with(0, "rayleigh", 20.0, &settings).skipped, 0);
}
