//! The complete simulation chain (encoder, channel, decoder) for batches of random blocks.
//!
//! ```text
//! random bits ─▶ encoder ─▶ map ─▶ × |h| ─▶ + noise ─▶ demap ─▶ decoder ─▶ right or wrong
//! └────── words of 64 blocks ──┘ └───────── block by block ───┘ └─ as many as lanes ─┘
//! ```

use super::front_end::FrontEnd;
use super::skip::Skip;
use super::{Count, Point, Settings};
use crate::code::Llr;
use crate::code::ctc::{Blocks, Code, Decoded, Decoder, Stopping};
use crate::fading::Gains;
use crate::gaussian::Gaussian;
use crate::vectorised::vectorised;
use airpath_core::rng::Stream;

/// Number of blocks that are encoded together, one per bit of a word.
const WORD: usize = u64::BITS as usize;

/// The simulation chain at one point.
pub struct Chain {
    decoder: Decoder,
    transmission: Transmission,
}

impl Chain {
    /// Creates the chain of `point` with the receiver of `settings`.
    ///
    /// # Panics
    ///
    /// If the signal-to-noise ratio is not finite, or if the stopping rule is not the genie, which
    /// is the only rule that detects all errors.
    pub fn new(point: &Point, settings: &Settings) -> Chain {
        let config = settings.decoder;
        assert_eq!(config.stopping, Stopping::Genie, "errors are counted by the genie");
        assert!(point.snr_db.is_finite(), "a finite signal-to-noise ratio");
        let mcs = point.mcs;
        let code = Code::new(mcs.block_size());
        let snr = libm::pow(10.0, point.snr_db / 10.0) as f32;
        let transmission = Transmission {
            gaussian: Gaussian::new(&mut Stream::new(0, 0, "before the first batch")),
            front_end: FrontEnd::new(mcs, snr, settings.demapper, config.algorithm),
            gains: Gains::new(&point.fading),
            skip: settings
                .skips
                .then(|| Skip::of(mcs, &point.fading, snr, config.max_iterations))
                .flatten(),
            information: vec![0; mcs.information_bits()],
            coded: vec![0; mcs.coded_bits()],
            gains_drawn: vec![0.0; mcs.symbols()],
            noise: vec![0.0; 2 * mcs.symbols()],
            left: 0,
            word_left: 0,
            count: Count::default(),
            code,
        };
        let decoder = Decoder::new(&transmission.code, mcs.coded_bits(), config);
        Chain { decoder, transmission }
    }

    /// Sends and decodes `blocks` blocks; all randomness comes from `stream`.
    pub fn run(&mut self, stream: &mut Stream, blocks: u64) -> Count {
        self.run_unless(stream, blocks, &|| false).expect("not cancelled")
    }

    /// Sends and decodes blocks as [`run`](Chain::run) does. Returns `None` if `is_cancelled`,
    /// which is called before every 64 blocks, returns true.
    pub fn run_unless(
        &mut self,
        stream: &mut Stream,
        blocks: u64,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Count> {
        let transmission = &mut self.transmission;
        transmission.begin(stream, blocks);
        let mut cancellable = Cancellable { transmission, is_cancelled, was_cancelled: false };
        self.decoder.decode(&mut cancellable);
        (!cancellable.was_cancelled).then_some(self.transmission.count)
    }
}

/// A transmission that can be cancelled.
struct Cancellable<'a> {
    transmission: &'a mut Transmission,
    is_cancelled: &'a dyn Fn() -> bool,
    was_cancelled: bool,
}

impl Blocks for Cancellable<'_> {
    fn next(&mut self, llrs: &mut [Llr], sent: &mut [bool]) -> bool {
        if self.transmission.word_left == 0 && self.transmission.left > 0 {
            self.was_cancelled = (self.is_cancelled)();
        }
        !self.was_cancelled && self.transmission.next(llrs, sent)
    }

    fn decoded(&mut self, block: Decoded<'_>) {
        self.transmission.decoded(block);
    }
}

/// Generates the received blocks when the decoder requests them.
struct Transmission {
    code: Code,
    gaussian: Gaussian,
    gains: Gains,
    front_end: FrontEnd,
    skip: Option<Skip>,
    /// Information bits, in words of 64 blocks.
    information: Vec<u64>,
    coded: Vec<u64>,
    gains_drawn: Vec<f32>,
    noise: Vec<f32>,
    /// Number of blocks that have not been sent.
    left: u64,
    /// Number of blocks that remain in the current words.
    word_left: usize,
    count: Count,
}

impl Transmission {
    /// Prepares the first block of a batch.
    fn begin(&mut self, stream: &mut Stream, blocks: u64) {
        self.gaussian = Gaussian::new(stream);
        self.gains.restart();
        (self.left, self.word_left, self.count) = (blocks, 0, Count::default());
    }

    /// Encodes the next 64 blocks.
    fn encode(&mut self) {
        self.gaussian.words(&mut self.information);
        self.code.encode(&self.information, &mut self.coded);
        self.front_end.load(&self.coded);
        self.word_left = WORD;
    }

    /// Samples the gains of the next block that is not skipped. Returns false if no block is left.
    fn draw_gains(&mut self) -> bool {
        while self.left > 0 {
            self.left -= 1;
            self.gains.draw(&mut self.gaussian, &mut self.gains_drawn);
            if self.skip.is_none_or(|skip| !skip.is_met(&self.gains_drawn)) {
                return true;
            }
            self.count.blocks += 1;
            self.count.skipped += 1;
        }
        false
    }
}

impl Blocks for Transmission {
    fn next(&mut self, llrs: &mut [Llr], sent: &mut [bool]) -> bool {
        if self.left > 0 && self.word_left == 0 {
            self.encode();
        }
        if !self.draw_gains() {
            return false;
        }
        self.word_left -= 1;
        let block = self.word_left;
        self.gaussian.fill(&mut self.noise);
        self.front_end.receive(block, &self.gains_drawn, &self.noise, llrs);
        let information = &self.information;
        vectorised(
            #[inline(always)]
            || {
                for (bit, word) in sent.iter_mut().zip(information) {
                    *bit = word >> block & 1 == 1;
                }
            },
        );
        true
    }

    fn decoded(&mut self, block: Decoded<'_>) {
        self.count.blocks += 1;
        self.count.errors += u64::from(!block.is_stopped);
        self.count.iterations += u64::from(block.iterations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::ctc::{Algorithm, DecoderConfig};
    use crate::mcs::{MCSS, Mcs};
    use crate::modulation::Demapper;

    /// Blocks in which every fifth symbol is almost erased and the other symbols have no noise.
    struct Notched {
        code: Code,
        coded: Vec<u64>,
        information: Vec<u64>,
        gains: Vec<f32>,
        noise: Vec<f32>,
        gaussian: Gaussian,
        front_end: FrontEnd,
        left: usize,
        errors: usize,
    }

    impl Notched {
        fn new(mcs: Mcs) -> Notched {
            let code = Code::new(mcs.block_size());
            let gain = |symbol| if symbol % 5 == 0 { 1e-3 } else { 1.0 };
            Notched {
                code,
                coded: vec![0; mcs.coded_bits()],
                information: vec![0; mcs.information_bits()],
                gains: (0..mcs.symbols()).map(gain).collect(),
                noise: vec![0.0; 2 * mcs.symbols()],
                gaussian: Gaussian::new(&mut Stream::new(1, 0, "notched")),
                front_end: FrontEnd::new(mcs, 1e5, Demapper::MaxLog, Algorithm::MaxLog),
                left: 1000,
                errors: 0,
            }
        }
    }

    impl Blocks for Notched {
        fn next(&mut self, llrs: &mut [Llr], sent: &mut [bool]) -> bool {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            self.gaussian.words(&mut self.information);
            self.gaussian.fill(&mut self.noise);
            self.code.encode(&self.information, &mut self.coded);
            self.front_end.load(&self.coded);
            self.front_end.receive(0, &self.gains, &self.noise, llrs);
            for (bit, word) in sent.iter_mut().zip(&self.information) {
                *bit = word & 1 == 1;
            }
            true
        }

        fn decoded(&mut self, block: Decoded<'_>) {
            self.errors += usize::from(!block.is_stopped);
        }
    }

    /// If strong blocks were not scaled down, ratios would be clipped and could no longer correct a
    /// lost bit. Without scaling, 29 of these 1000 blocks of mcs0 were wrong.
    #[test]
    fn strong_symbols_compensate_lost_symbols() {
        for number in [0, 2, 4] {
            let mut notched = Notched::new(MCSS[number]);
            let coded_bits = notched.coded.len();
            let mut decoder = Decoder::new(&notched.code, coded_bits, DecoderConfig::default());
            decoder.decode(&mut notched);
            assert_eq!((notched.left, notched.errors), (0, 0), "mcs{number}");
        }
    }
}
