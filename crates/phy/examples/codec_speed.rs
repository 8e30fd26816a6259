//! How fast the decoder is, on one core: by coding scheme at 10 iterations, and with the genie.
//!
//! `codec_speed [portable|avx2|avx512]`; the widest by default. The signal-to-noise ratios are
//! those of a frame error rate of 1e-3 on AWGN, max-log. Noise is made beforehand, not timed.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use airpath_core::rng::Stream;
use airpath_phy::code::Llr;
use airpath_phy::code::ctc::{Blocks, Code, Decoded, Decoder, DecoderConfig, Stopping, Width};
use airpath_phy::mcs::{MCSS, Mcs};
use std::f64::consts::TAU;
use std::time::{Duration, Instant};

/// Es/N0 of a frame error rate of 1e-3, dB, by scheme.
const SNR_DB: [f64; 8] = [2.04, 5.40, 7.57, 11.62, 12.47, 16.08, 17.05, 18.97];

/// Different blocks.
const BLOCKS: usize = 8192;

/// How often they are decoded; the fastest counts.
const REPETITIONS: usize = 7;

/// Received blocks, all in memory.
struct Recorded {
    coded_bits: usize,
    information_bits: usize,
    llrs: Vec<Llr>,
    sent: Vec<bool>,
    next: usize,
    iterations: u64,
    errors: usize,
}

impl Recorded {
    fn new(mcs: Mcs, code: &Code, snr_db: f64) -> Recorded {
        let mut stream = Stream::new(1, 0, &mcs.name());
        let snr = 10f64.powf(snr_db / 10.0);
        let deviation = (0.5 / snr).sqrt();
        let (coded_bits, information_bits) = (mcs.coded_bits(), mcs.information_bits());
        let mut llrs = vec![0; BLOCKS * coded_bits];
        let sent: Vec<bool> =
            (0..BLOCKS * information_bits).map(|_| stream.bernoulli(0.5)).collect();
        let mut coded = vec![false; coded_bits];
        let mut axes = vec![0.0; 2 * mcs.symbols()];
        let rows = llrs.chunks_exact_mut(coded_bits);
        for (information, row) in sent.chunks_exact(information_bits).zip(rows) {
            code.encode(information, &mut coded);
            mcs.modulation.map(&coded, &mut axes);
            for (&x, to) in axes.iter().zip(row.chunks_exact_mut(mcs.modulation.axis_bits())) {
                let radius = (-2.0 * (1.0 - stream.uniform()).ln()).sqrt();
                let noise = deviation * radius * (TAU * stream.uniform()).cos();
                mcs.modulation.demap(x + noise as f32, 1.0, snr as f32, to);
            }
        }
        let (next, iterations, errors) = (0, 0, 0);
        Recorded { coded_bits, information_bits, llrs, sent, next, iterations, errors }
    }
}

impl Blocks for Recorded {
    fn next(&mut self, llrs: &mut [Llr], sent: &mut [bool]) -> bool {
        if self.next == BLOCKS {
            return false;
        }
        llrs.copy_from_slice(&self.llrs[self.next * self.coded_bits..][..self.coded_bits]);
        let bits = &self.sent[self.next * self.information_bits..][..self.information_bits];
        sent.copy_from_slice(bits);
        self.next += 1;
        true
    }

    fn decoded(&mut self, block: Decoded<'_>) {
        self.iterations += u64::from(block.iterations);
        self.errors += usize::from(!block.is_stopped);
    }
}

/// The fastest decoding of all blocks.
fn time(decoder: &mut Decoder, blocks: &mut Recorded) -> Duration {
    let run = |_| {
        (blocks.next, blocks.iterations, blocks.errors) = (0, 0, 0);
        let start = Instant::now();
        decoder.decode(blocks);
        start.elapsed()
    };
    (0..REPETITIONS).map(run).min().expect("at least one repetition")
}

fn main() {
    let width = match std::env::args().nth(1).as_deref() {
        Some("portable") => Width::Portable,
        Some("avx2") => Width::Avx2,
        Some("avx512") => Width::Avx512,
        Some(other) => panic!("{other}: not portable, avx2 or avx512"),
        None => Width::widest(),
    };
    println!("{width:?}           10 iterations               genie stop at FER 1e-3");
    println!("scheme    Mbit/s  Mbit/s x iterations    Mbit/s  blocks/s  iterations      FER");
    for (mcs, snr_db) in MCSS.into_iter().zip(SNR_DB) {
        let code = Code::new(mcs.block_size());
        let mut blocks = Recorded::new(mcs, &code, snr_db);
        let mut measured = |stopping| {
            let config = DecoderConfig { stopping, ..DecoderConfig::default() };
            let mut decoder = Decoder::with_width(width, &code, mcs.coded_bits(), config);
            BLOCKS as f64 / time(&mut decoder, &mut blocks).as_secs_f64()
        };
        let (full, genie) = (measured(Stopping::None), measured(Stopping::Genie));
        let mbit = mcs.information_bits() as f64 / 1e6;
        println!(
            "{}   {:8.1}  {:19.0}  {:8.1}  {:8.0}  {:10.2}  {:.1e}",
            mcs.name(),
            full * mbit,
            10.0 * full * mbit,
            genie * mbit,
            genie,
            blocks.iterations as f64 / BLOCKS as f64,
            blocks.errors as f64 / BLOCKS as f64
        );
    }
}
