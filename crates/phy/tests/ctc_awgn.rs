//! Tests of the codec over additive white Gaussian noise against the error rates of other decoders.
//!
//! The short tests always run; the long ones run with `cargo test --profile quick -- --ignored`.

use crate::awgn::Awgn;
use airpath_conformance::Law;
use airpath_phy::code::ctc::{Algorithm, BlockSize, Code, DecoderConfig};
use airpath_phy::mcs::MCSS;
use airpath_phy::modulation::Modulation;

const POINTS: Law = Law {
    area: "802.16 convolutional turbo code",
    source: "Frame error rates of a floating-point decoder (phy-802.16-ctc §7.1)",
    allows: "0.05 dB",
};

const DVB_RCS: Law = Law {
    area: "802.16 convolutional turbo code",
    source: "DVB-RCS1, N = 752, rate 1/2: frame error rates published with AFF3CT",
    allows: "0.05 dB",
};

/// Measurements are made at the expected signal-to-noise ratio plus and minus this value, dB.
const BRACKET_DB: f64 = 0.05;

/// Returns the signal-to-noise ratio with the frame error rate `wanted`, dB, by log-linear
/// interpolation between two measurements near `about`. Each measurement uses half of the blocks.
fn snr_db_of(awgn: &mut Awgn, config: DecoderConfig, about: f64, wanted: f64, blocks: u64) -> f64 {
    let mut measured = |snr_db: f64| {
        awgn.snr = 10f64.powf(snr_db / 10.0) as f32;
        awgn.frame_error_rate(config, blocks / 2).log10()
    };
    let [low, high] = [about - BRACKET_DB, about + BRACKET_DB];
    let [worse, better] = [low, high].map(&mut measured);
    low + (high - low) * (wanted.log10() - worse) / (better - worse)
}

/// phy-802.16-ctc §7.1: Es/N0 (dB) at frame error rates of 1e-2 and 1e-3, max-log and linear-log.
const MAX_LOG: [[f64; 2]; 8] = [
    [1.75, 2.04],
    [5.04, 5.40],
    [7.21, 7.57],
    [11.17, 11.62],
    [11.93, 12.47],
    [15.54, 16.08],
    [16.60, 17.05],
    [18.37, 18.97],
];
const LINEAR_LOG: [[f64; 2]; 8] = [
    [1.52, 1.87],
    [4.90, 5.34],
    [6.97, 7.38],
    [11.01, 11.52],
    [11.67, 12.34],
    [15.34, 15.96],
    [16.43, 16.97],
    [18.31, 18.93],
];

/// Returns the tolerance of a point, dB. One published point is based on about sixty errors between
/// two ratios that differ by a quarter of a decibel. Its error rate is higher than that of
/// Airpath's decoder, both with integers and in floating point: at 12.3 dB, both have 26 errors in
/// 40 000 blocks, whereas the published rate corresponds to 46 errors.
fn allowed_db(number: usize, algorithm: Algorithm, column: usize) -> f64 {
    if (number, algorithm, column) == (4, Algorithm::LinearLog, 1) { 0.1 } else { 0.05 }
}

/// Checks the point `column` (1e-2 or 1e-3) of a scheme.
fn assert_point(number: usize, algorithm: Algorithm, column: usize, blocks: u64) {
    let mcs = MCSS[number];
    let wanted = [1e-2, 1e-3][column];
    let (table, exact) = match algorithm {
        Algorithm::MaxLog => (MAX_LOG, false),
        Algorithm::LinearLog => (LINEAR_LOG, true),
    };
    let mut awgn = Awgn {
        code: Code::new(mcs.block_size()),
        coded_bits: mcs.coded_bits(),
        modulation: mcs.modulation,
        snr: 1.0,
        exact,
    };
    let config = DecoderConfig { algorithm, ..DecoderConfig::default() };
    let published = table[number][column];
    let ours = snr_db_of(&mut awgn, config, published, wanted, blocks);
    let what = format!("{} at {wanted:e}, {algorithm:?}", mcs.name());
    POINTS.close(&what, "dB", ours, published, allowed_db(number, algorithm, column));
}

/// Returns DVB-RCS1's block of 752 couples at rate 1/2, which has the same code and form of
/// interleaver. The order of the transmitted bits is irrelevant here, so that any m and J are
/// suitable.
fn dvb_rcs() -> Awgn {
    let size = BlockSize { couples: 752, p: [19, 376, 224, 600], m: 8, j: 3 };
    Awgn {
        code: Code::new(size),
        coded_bits: 3008,
        modulation: Modulation::Qpsk,
        snr: 1.0,
        exact: false,
    }
}

/// Checks a published point of DVB-RCS1: 8 iterations, extrinsic ratios scaled by 0.75.
fn assert_dvb_rcs(snr_db: f64, published: f64, blocks: u64) {
    let config =
        DecoderConfig { max_iterations: 8, extrinsic_scale: 12, ..DecoderConfig::default() };
    let ours = snr_db_of(&mut dvb_rcs(), config, snr_db, published, blocks);
    DVB_RCS.close(format!("Es/N0 at {published:e}"), "dB", ours, snr_db, 0.05);
}

#[test]
fn awgn_point_of_qpsk_at_1e_2() {
    assert_point(1, Algorithm::MaxLog, 0, 24_000);
}

#[test]
#[ignore = "seconds"]
fn awgn_points_of_64qam_at_1e_2() {
    for number in [4, 7] {
        assert_point(number, Algorithm::MaxLog, 0, 24_000);
    }
}

#[test]
fn awgn_point_of_the_linear_log_algorithm_at_1e_2() {
    assert_point(0, Algorithm::LinearLog, 0, 20_000);
}

#[test]
#[ignore = "minutes"]
fn dvb_rcs1_curve_at_length() {
    assert_dvb_rcs(1.11, 6.36e-2, 20_000);
    assert_dvb_rcs(1.31, 9.21e-3, 80_000);
    assert_dvb_rcs(1.51, 9.31e-4, 400_000);
}

#[test]
#[ignore = "minutes"]
fn awgn_points_at_length_max_log() {
    for number in 0..8 {
        assert_point(number, Algorithm::MaxLog, 0, 100_000);
        assert_point(number, Algorithm::MaxLog, 1, 600_000);
    }
}

#[test]
#[ignore = "minutes"]
fn awgn_points_at_length_linear_log() {
    for number in 0..8 {
        assert_point(number, Algorithm::LinearLog, 0, 60_000);
        assert_point(number, Algorithm::LinearLog, 1, 300_000);
    }
}
