//! Measures the frame and packet error rate of one point:
//! `per mcs channel snr_db [errors] [blocks] [threads] [skip]`.
//!
//! The default is 400 errors or 1e7 blocks on one thread, without the skip rule. Prints the Wilson
//! interval of 95 %, the mean iterations, and the decoded blocks per second.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use airpath_core::rng::Seed;
use airpath_phy::code::ctc::DecoderConfig;
use airpath_phy::fading::Fading;
use airpath_phy::mcs::{Mcs, PACKET_BYTES};
use airpath_phy::modulation::Demapper;
use airpath_phy::monte_carlo::{Point, Settings, measure};
use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mcs, channel, snr_db, limits @ ..] = arguments.as_slice() else {
        panic!("per mcs channel snr_db [errors] [blocks] [threads] [skip]");
    };
    let limit = |place: usize, default: f64| {
        limits.get(place).map_or(default, |text| text.parse().expect("a number")) as u64
    };
    let point = Point {
        mcs: Mcs::from_name(mcs).expect("mcs0 to mcs7"),
        fading: Fading::from_name(channel).expect("a channel"),
        snr_db: snr_db.parse().expect("a signal-to-noise ratio in dB"),
    };
    let settings = Settings {
        seed: Seed::new(1, 0, "phy"),
        errors: limit(0, 400.0),
        blocks: limit(1, 1e7),
        threads: NonZero::new(limit(2, 1.0) as usize).expect("a thread"),
        decoder: DecoderConfig::default(),
        demapper: Demapper::default(),
        skips: limits.get(3).is_some_and(|text| text == "skip"),
    };
    let start = Instant::now();
    let count = measure(&point, &settings, &AtomicBool::new(false), &mut |_| {}).count;
    let seconds = start.elapsed().as_secs_f64();
    let frame_error_rate = count.frame_error_rate();
    let (low, high) = count.interval(1.96);
    println!(
        "{point}: {} / {}  FER {frame_error_rate:.3e} ({low:.2e} to {high:.2e})  PER {:.3e}  \
         {:.2} iterations  {:.3} skipped  {:.0} blocks/s",
        count.errors,
        count.blocks,
        point.mcs.packet_error_rate(frame_error_rate, PACKET_BYTES),
        count.iterations as f64 / count.blocks as f64,
        count.skipped as f64 / count.blocks as f64,
        count.blocks as f64 / seconds
    );
}
