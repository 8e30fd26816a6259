//! Runs batches of blocks on several threads until there are enough errors or blocks.
//!
//! The name of a batch's random stream contains the point and the index of the batch. The results
//! of batches are added in the order of their indices. Therefore the result does not depend on the
//! number of threads. Results of batches after the last required batch are discarded.

use super::{Chain, Count, Point};
use crate::code::ctc::DecoderConfig;
use crate::modulation::Demapper;
use airpath_core::rng::Seed;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;

/// Number of blocks in a batch. It is so large that decoder lanes without work at the end of a
/// batch hardly reduce the speed.
pub const BATCH: u64 = 8192;

/// Settings of a measurement.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seed of the streams of all points.
    pub seed: Seed,
    /// Number of errors after which a point ends. The batch in which it is reached is the last
    /// batch.
    pub errors: u64,
    /// Number of blocks after which a point ends even with fewer errors.
    pub blocks: u64,
    /// Maximum number of decoding threads. The number of threads never exceeds the number of
    /// batches.
    pub threads: NonZero<usize>,
    /// Decoder configuration, with the genie as stopping rule.
    pub decoder: DecoderConfig,
    /// Algorithm that computes the log-likelihood ratios of the bits.
    pub demapper: Demapper,
    /// If true, blocks whose channel has excess capacity count as correct without being decoded.
    /// This rule is an approximation. It is applied only to the configuration for which it was
    /// validated: Vehicular A with the reference mapping and at least ten iterations.
    pub skips: bool,
}

/// Result of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Sum over all counted batches.
    pub count: Count,
    /// False if cancelled before there were enough errors or blocks.
    pub is_complete: bool,
}

/// Measures a point. `progress` receives the sum after every batch. `cancel` ends the measurement
/// immediately; unfinished batches are discarded.
///
/// # Panics
///
/// As [`Chain::new`].
pub fn measure(
    point: &Point,
    settings: &Settings,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(Count),
) -> Outcome {
    let batches = settings.blocks.div_ceil(BATCH);
    let next = AtomicU64::new(0);
    let enough = AtomicBool::new(false);
    let (sender, results) = mpsc::channel();
    let work = |sender: mpsc::Sender<(u64, Count)>| {
        let mut chain = Chain::new(point, settings);
        let is_over = || enough.load(Relaxed) || cancel.load(Relaxed);
        while !is_over() {
            let batch = next.fetch_add(1, Relaxed);
            if batch >= batches {
                return;
            }
            let blocks = BATCH.min(settings.blocks - batch * BATCH);
            let mut stream = settings.seed.child(&format!("{point}/{batch}")).stream();
            let Some(count) = chain.run_unless(&mut stream, blocks, &is_over) else {
                return;
            };
            if sender.send((batch, count)).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..batches.min(settings.threads.get() as u64) {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || work(sender));
        }
        drop(sender);
        let outcome = collect(&results, settings, progress);
        enough.store(true, Relaxed);
        outcome
    })
}

/// Adds up the results of batches in the order of their indices until the sum is complete or no
/// more results arrive.
fn collect(
    results: &mpsc::Receiver<(u64, Count)>,
    settings: &Settings,
    progress: &mut dyn FnMut(Count),
) -> Outcome {
    let is_complete =
        |count: &Count| count.errors >= settings.errors || count.blocks >= settings.blocks;
    let (mut count, mut wanted, mut waiting) = (Count::default(), 0, BTreeMap::new());
    while !is_complete(&count) {
        let Ok((batch, result)) = results.recv() else {
            break;
        };
        waiting.insert(batch, result);
        while let Some(result) = waiting.remove(&wanted)
            && !is_complete(&count)
        {
            count += result;
            wanted += 1;
            progress(count);
        }
    }
    Outcome { count, is_complete: is_complete(&count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fading::Fading;
    use crate::mcs::MCSS;

    fn settings(errors: u64, blocks: u64, threads: usize) -> Settings {
        Settings {
            seed: Seed::new(1, 0, "driver"),
            errors,
            blocks,
            threads: NonZero::new(threads).expect("a thread"),
            decoder: DecoderConfig::default(),
            demapper: Demapper::default(),
            skips: false,
        }
    }

    fn point() -> Point {
        let fading = Fading::from_name("vehicular-a").expect("a channel");
        Point { mcs: MCSS[7], fading, snr_db: 28.0 }
    }

    fn run(settings: &Settings) -> (Outcome, Vec<Count>) {
        let mut heard = vec![];
        let outcome =
            measure(&point(), settings, &AtomicBool::new(false), &mut |count| heard.push(count));
        (outcome, heard)
    }

    #[test]
    fn counts_do_not_depend_on_number_of_threads() {
        let one = run(&settings(600, 1_000_000, 1));
        assert!(one.0.is_complete && one.0.count.errors >= 600, "{one:?}");
        assert!(one.1.len() > 2, "several batches");
        for threads in [2, 5] {
            assert_eq!(run(&settings(600, 1_000_000, threads)), one);
        }
    }

    /// The variance of errors per batch would be larger or smaller if blocks were not independent.
    #[test]
    fn batch_errors_have_variance_of_independent_blocks() {
        let (outcome, heard) = run(&settings(u64::MAX, 30 * BATCH, 2));
        let rate = outcome.count.frame_error_rate();
        let (mean, variance) = (rate * BATCH as f64, rate * (1.0 - rate) * BATCH as f64);
        let mut before = 0;
        let mut chi_square = 0.0;
        for count in &heard {
            chi_square += ((count.errors - before) as f64 - mean).powi(2) / variance;
            before = count.errors;
        }
        let freedom = heard.len() as f64 - 1.0;
        assert!((chi_square - freedom).abs() < 4.0 * (2.0 * freedom).sqrt(), "{chi_square}");
    }

    #[test]
    fn last_batch_is_shortened_to_requested_blocks() {
        let (outcome, heard) = run(&settings(u64::MAX, BATCH + 100, 2));
        assert!(outcome.is_complete);
        assert_eq!(outcome.count.blocks, BATCH + 100);
        assert_eq!(
            heard.iter().map(|count| count.blocks).collect::<Vec<_>>(),
            [BATCH, BATCH + 100]
        );
    }

    /// The test requests more threads than any machine can start.
    #[test]
    fn threads_do_not_exceed_batches() {
        let (outcome, _) = run(&settings(u64::MAX, BATCH + 100, usize::MAX));
        assert_eq!(outcome, run(&settings(u64::MAX, BATCH + 100, 1)).0);
    }

    #[test]
    fn cancelled_measurement_keeps_complete_batches() {
        let cancel = AtomicBool::new(false);
        let outcome = measure(&point(), &settings(u64::MAX, u64::MAX, 2), &cancel, &mut |count| {
            cancel.store(count.blocks >= 2 * BATCH, Relaxed);
        });
        assert!(!outcome.is_complete);
        assert!(outcome.count.blocks >= 2 * BATCH && outcome.count.blocks.is_multiple_of(BATCH));
        let (expected, _) = run(&settings(u64::MAX, outcome.count.blocks, 1));
        assert_eq!(outcome.count, expected.count);
    }

    #[test]
    fn measurement_cancelled_in_first_batch_is_empty() {
        let (cancel, settings) = (AtomicBool::new(true), settings(u64::MAX, u64::MAX, 2));
        let outcome = measure(&point(), &settings, &cancel, &mut |_| panic!("no batch"));
        assert_eq!(outcome, Outcome { count: Count::default(), is_complete: false });
    }

    #[test]
    fn cancelled_batch_does_not_affect_next_batch() {
        let stream = || Seed::new(1, 0, "batch").stream();
        let mut chain = Chain::new(&point(), &settings(1, 1, 1));
        let expected = chain.run(&mut stream(), 1000);
        let asked = AtomicU64::new(0);
        let at_the_third = || asked.fetch_add(1, Relaxed) == 2;
        assert_eq!(chain.run_unless(&mut stream(), 1000, &at_the_third), None);
        assert_eq!(asked.into_inner(), 3, "a word of 64 blocks after the other");
        assert_eq!(chain.run(&mut stream(), 1000), expected);
    }

    #[test]
    fn measurement_of_zero_errors_is_complete_immediately() {
        let (outcome, heard) = run(&settings(0, 100, 1));
        assert_eq!(outcome, Outcome { count: Count::default(), is_complete: true });
        assert!(heard.is_empty());
    }
}
