//! Measures the speed of the decoder and of the complete chain on one core, by coding scheme.
//!
//! `codec_speed [portable|avx2|avx512] [mcs0 ...] [--json]`; the default is all schemes and the
//! widest decoder. The chain always uses the widest decoder. Without stopping, a block has 10
//! iterations. With the genie, the signal-to-noise ratios are those for a frame error rate of 1e-3
//! with max-log: on AWGN, and for the chain also on Vehicular A. The decoder's noise is generated
//! beforehand and not timed.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use airpath_core::rng::{Seed, Stream};
use airpath_phy::code::Llr;
use airpath_phy::code::ctc::{Blocks, Code, Decoded, Decoder, DecoderConfig, Stopping, Width};
use airpath_phy::fading::Fading;
use airpath_phy::mcs::{MCSS, Mcs};
use airpath_phy::modulation::Demapper;
use airpath_phy::monte_carlo::{Chain, Point, Settings};
use serde_json::json;
use std::f64::consts::TAU;
use std::num::NonZero;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Es/N0 for a frame error rate of 1e-3, dB, by scheme.
const AWGN_DB: [f64; 8] = [2.04, 5.40, 7.57, 11.62, 12.47, 16.08, 17.05, 18.97];
const VEHICULAR_A_DB: [f64; 8] = [13.22, 18.30, 18.77, 24.06, 23.38, 27.45, 29.20, 31.95];

/// Number of different blocks.
const BLOCKS: usize = 8192;

/// Number of times that the blocks are decoded in a measurement. Systems report the CPU time of a
/// thread with a resolution of milliseconds.
const RUNS: usize = 8;

/// Number of measurements, of which the fastest counts.
const REPETITIONS: usize = 3;

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

/// Returns the CPU time of this thread, or the elapsed time if the system does not report CPU time.
fn time() -> Duration {
    let on_core = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = on_core.and_then(|text| text.split(' ').next()?.parse().ok());
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Returns the blocks per second of the fastest of several measurements; `run` processes [`BLOCKS`]
/// blocks.
fn fastest(mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let start = time();
        for _ in 0..RUNS {
            run();
        }
        time() - start
    };
    let fastest = (0..REPETITIONS).map(time).min().expect("at least one repetition");
    (RUNS * BLOCKS) as f64 / fastest.as_secs_f64()
}

/// Returns the blocks per second of the complete chain.
fn chain(mcs: Mcs, channel: &str, snr_db: f64) -> f64 {
    let settings = Settings {
        seed: Seed::new(1, 0, "speed"),
        errors: u64::MAX,
        blocks: BLOCKS as u64,
        threads: NonZero::<usize>::MIN,
        decoder: DecoderConfig::default(),
        demapper: Demapper::default(),
        skips: false,
    };
    let fading = Fading::from_name(channel).expect("a channel");
    let mut chain = Chain::new(&Point { mcs, fading, snr_db }, &settings);
    let mut stream = settings.seed.stream();
    fastest(|| {
        chain.run(&mut stream, BLOCKS as u64);
    })
}

/// Results for one scheme. Speeds are in blocks per second.
struct Speeds {
    mcs: Mcs,
    full: f64,
    genie: f64,
    iterations: f64,
    frame_error_rate: f64,
    chain_awgn: f64,
    chain_vehicular_a: f64,
}

impl Speeds {
    fn measure(mcs: Mcs, width: Width) -> Speeds {
        let code = Code::new(mcs.block_size());
        let mut blocks = Recorded::new(mcs, &code, AWGN_DB[mcs.number]);
        let mut decoding = |stopping| {
            let config = DecoderConfig { stopping, ..DecoderConfig::default() };
            let mut decoder = Decoder::with_width(width, &code, mcs.coded_bits(), config);
            fastest(|| {
                (blocks.next, blocks.iterations, blocks.errors) = (0, 0, 0);
                decoder.decode(&mut blocks);
            })
        };
        let (full, genie) = (decoding(Stopping::None), decoding(Stopping::Genie));
        Speeds {
            mcs,
            full,
            genie,
            iterations: blocks.iterations as f64 / BLOCKS as f64,
            frame_error_rate: blocks.errors as f64 / BLOCKS as f64,
            chain_awgn: chain(mcs, "awgn", AWGN_DB[mcs.number]),
            chain_vehicular_a: chain(mcs, "vehicular-a", VEHICULAR_A_DB[mcs.number]),
        }
    }

    /// Returns the information bits per second for `blocks` blocks per second.
    fn bps(&self, blocks: f64) -> f64 {
        blocks * self.mcs.information_bits() as f64
    }

    fn json(&self, width: Width) -> serde_json::Value {
        json!({
            "scheme": self.mcs.name(),
            "width": format!("{width:?}").to_lowercase(),
            "decoded_bps_x_iterations": 10.0 * self.bps(self.full),
            "decoded_bps": self.bps(self.full),
            "genie_decoded_bps": self.bps(self.genie),
            "genie_blocks_per_s": self.genie,
            "genie_iterations": self.iterations,
            "genie_frame_error_rate": self.frame_error_rate,
            "chain_awgn_blocks_per_s": self.chain_awgn,
            "chain_vehicular_a_blocks_per_s": self.chain_vehicular_a,
        })
    }

    fn row(&self) -> String {
        format!(
            "{:6}  {:8.1}  {:19.0}  {:8.1}  {:10.2}  {:.1e}  {:8.0}  {:8.0}  {:11.0}",
            self.mcs.name(),
            self.bps(self.full) / 1e6,
            10.0 * self.bps(self.full) / 1e6,
            self.bps(self.genie) / 1e6,
            self.iterations,
            self.frame_error_rate,
            self.genie,
            self.chain_awgn,
            self.chain_vehicular_a,
        )
    }
}

fn main() {
    let (mut width, mut schemes, mut is_json) = (Width::widest(), vec![], false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "portable" => width = Width::Portable,
            "avx2" => width = Width::Avx2,
            "avx512" => width = Width::Avx512,
            "--json" => is_json = true,
            name => schemes.push(Mcs::from_name(name).expect("portable, avx2, avx512 or a scheme")),
        }
    }
    if schemes.is_empty() {
        schemes = MCSS.to_vec();
    }
    if !is_json {
        println!("{:8}{:^29}  genie stop at FER 1e-3", format!("{width:?}"), "10 iterations");
        println!(
            "scheme    Mbit/s  Mbit/s x iterations    Mbit/s  iterations      FER  blocks/s  \
             and chain on awgn, vehicular-a"
        );
    }
    for mcs in schemes {
        let speeds = Speeds::measure(mcs, width);
        if is_json {
            println!("{}", speeds.json(width));
        } else {
            println!("{}", speeds.row());
        }
    }
}
