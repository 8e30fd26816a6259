//! The turbo decoder: two soft-in, soft-out decoders that exchange extrinsic information.
//!
//! It decodes many blocks in parallel, one per lane of a vector of 16-bit numbers. Interleaving
//! thus copies complete vectors. A lane whose block is finished receives the next block.
//!
//! Source: the structure of CML's `TurboDuobinaryCRSCDecode` (phy-802.16-ctc §4): the decoders
//! exchange ratios of complete symbols, without extrinsic scaling. Differs: uses integers instead
//! of floating point, and a prologue beyond the wrap-around instead of up to four passes over the
//! block.

mod batch;
mod lanes;
mod siso;
mod stopping;

pub use stopping::Stopping;

use super::Code;
use crate::code::Llr;
use batch::Batch;
use lanes::{Portable, Simd};

/// Operation max*(a, b) that combines branch metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The maximum. The result does not depend on the scale of the ratios.
    #[default]
    MaxLog,
    /// The formula of CML (Coded Modulation Library), max(a, b) + max(0, 0.24904·(2.50682 − |a −
    /// b|)), rounded to an eighth of a natural unit.
    LinearLog,
}

/// Value of `extrinsic_scale` for a factor of 1.
pub const EXTRINSIC_ONE: u8 = 16;

/// Configuration of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecoderConfig {
    /// Operation that combines branch metrics.
    pub algorithm: Algorithm,
    /// Maximum number of iterations per block, at least 1. Default 10.
    pub max_iterations: u32,
    /// Rule for stopping before the last iteration.
    pub stopping: Stopping,
    /// Factor of the extrinsic ratios, in sixteenths, 1 to [`EXTRINSIC_ONE`] (the default).
    pub extrinsic_scale: u8,
    /// Number of couples beyond the wrap-around that a recursion processes before its metrics are
    /// used. Default 48. With a value of at least the block size, the prologue covers the entire
    /// block.
    pub prologue: usize,
}

impl Default for DecoderConfig {
    fn default() -> Self {
        DecoderConfig {
            algorithm: Algorithm::MaxLog,
            max_iterations: 10,
            stopping: Stopping::Genie,
            extrinsic_scale: EXTRINSIC_ONE,
            prologue: 48,
        }
    }
}

/// Source of received blocks and receiver of decoded blocks.
pub trait Blocks {
    /// Writes the received ratios of the next block into `llrs`, one per transmitted coded bit,
    /// within ±[`LLR_LIMIT`](crate::code::LLR_LIMIT). For stopping rule genie, also writes the
    /// transmitted information bits into `sent`; the other rules do not read them. Returns false if
    /// no block is left, and is then not called again.
    fn next(&mut self, llrs: &mut [Llr], sent: &mut [bool]) -> bool;

    /// Receives a decoded block. Blocks are passed in order of completion, which depends on the
    /// machine.
    fn decoded(&mut self, block: Decoded<'_>);
}

/// A block whose decoding is complete.
pub struct Decoded<'a> {
    /// Index of the block in order of loading, from 0.
    pub index: u64,
    /// Number of iterations used.
    pub iterations: u32,
    /// True if the stopping rule was met. With rule genie: true if the block is correct.
    pub is_stopped: bool,
    /// The decided information bits, A_0, B_0, A_1, B_1, …
    pub information: &'a mut dyn Iterator<Item = bool>,
}

/// Instruction set of a decoder. The decoded bits do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Plain Rust, 8 lanes.
    Portable,
    /// AVX2, 16 lanes.
    Avx2,
    /// AVX-512, 32 lanes.
    Avx512,
}

impl Width {
    /// Returns the instruction sets of this machine, the widest last.
    pub fn available() -> Vec<Width> {
        let mut widths = vec![Width::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            widths.extend(pulp::x86::V3::is_available().then_some(Width::Avx2));
            widths.extend(pulp::x86::V4::is_available().then_some(Width::Avx512));
        }
        widths
    }

    /// Returns the widest instruction set of this machine.
    pub fn widest() -> Width {
        *Width::available().last().expect("the portable arithmetic is everywhere")
    }
}

/// A decoder of blocks of one size and rate.
pub struct Decoder(Box<dyn Decode + Send>);

impl Decoder {
    /// Creates a decoder of blocks of which the first `coded_bits` bits are transmitted, with the
    /// widest instruction set of this machine.
    ///
    /// # Panics
    ///
    /// As [`Decoder::with_width`].
    pub fn new(code: &Code, coded_bits: usize, config: DecoderConfig) -> Decoder {
        Decoder::with_width(Width::widest(), code, coded_bits, config)
    }

    /// Creates a decoder as [`Decoder::new`] does, with a given instruction set.
    ///
    /// # Panics
    ///
    /// If `coded_bits` is above 6N, `max_iterations` is 0, `extrinsic_scale` is not in
    /// 1 ..= [`EXTRINSIC_ONE`], or the machine lacks the instructions.
    pub fn with_width(
        width: Width,
        code: &Code,
        coded_bits: usize,
        config: DecoderConfig,
    ) -> Decoder {
        assert!(coded_bits <= code.size().coded_bits(), "no more than 6N coded bits");
        assert!(config.max_iterations > 0, "at least one iteration");
        assert!((1..=EXTRINSIC_ONE).contains(&config.extrinsic_scale), "a scale of 1 to 16");
        const HERE: &str = "the machine has the instructions";
        Decoder(match width {
            Width::Portable => stream(Portable, code, coded_bits, config),
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => stream(pulp::x86::V3::try_new().expect(HERE), code, coded_bits, config),
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => {
                stream(pulp::x86::V4::try_new().expect(HERE), code, coded_bits, config)
            }
            #[cfg(not(target_arch = "x86_64"))]
            Width::Avx2 | Width::Avx512 => panic!("{HERE}"),
        })
    }

    /// Decodes all blocks.
    pub fn decode(&mut self, blocks: &mut dyn Blocks) {
        self.0.decode(blocks);
    }
}

trait Decode {
    fn decode(&mut self, blocks: &mut dyn Blocks);
}

fn stream<S: Simd>(
    simd: S,
    code: &Code,
    coded_bits: usize,
    config: DecoderConfig,
) -> Box<dyn Decode + Send> {
    let information_bits = code.size().information_bits();
    Box::new(Stream {
        batch: Batch::new(simd, code, coded_bits, config),
        config,
        llrs: vec![0; S::LANES * coded_bits],
        sent: vec![false; S::LANES * information_bits],
        coded_bits,
        information_bits,
    })
}

/// Decoder that keeps all lanes filled with blocks.
struct Stream<S: Simd> {
    batch: Batch<S>,
    config: DecoderConfig,
    /// A row for the next block of each lane.
    llrs: Vec<Llr>,
    sent: Vec<bool>,
    coded_bits: usize,
    information_bits: usize,
}

/// A block in a lane.
#[derive(Clone, Copy)]
struct Occupant {
    index: u64,
    iterations: u32,
}

impl<S: Simd> Decode for Stream<S> {
    fn decode(&mut self, blocks: &mut dyn Blocks) {
        let mut occupants = vec![None; S::LANES];
        let mut fresh = Vec::with_capacity(S::LANES);
        let mut taken = 0;
        let mut is_more = true;
        loop {
            fresh.clear();
            for (lane, occupant) in occupants.iter_mut().enumerate() {
                if occupant.is_none() && is_more {
                    is_more = self.take(lane, blocks);
                    if is_more {
                        *occupant = Some(Occupant { index: taken, iterations: 0 });
                        fresh.push(lane);
                        taken += 1;
                    }
                }
            }
            if !fresh.is_empty() {
                self.batch.load(&fresh, &self.llrs, &self.sent);
            }
            if occupants.iter().all(Option::is_none) {
                return;
            }
            self.iterate(&mut occupants, blocks);
        }
    }
}

impl<S: Simd> Stream<S> {
    /// Loads the next block into the rows of `lane`; returns false if no block is left.
    fn take(&mut self, lane: usize, blocks: &mut dyn Blocks) -> bool {
        let llrs = &mut self.llrs[lane * self.coded_bits..][..self.coded_bits];
        let sent = &mut self.sent[lane * self.information_bits..][..self.information_bits];
        blocks.next(llrs, sent)
    }

    /// Runs one iteration and removes finished blocks from their lanes.
    fn iterate(&mut self, occupants: &mut [Option<Occupant>], blocks: &mut dyn Blocks) {
        let differs = self.batch.iterate();
        let differs: &[i16] = pulp::bytemuck::cast_slice(std::slice::from_ref(&differs));
        for (lane, place) in occupants.iter_mut().enumerate() {
            let Some(occupant) = place else {
                continue;
            };
            occupant.iterations += 1;
            let Occupant { index, iterations } = *occupant;
            let is_stopped = self.config.stopping.is_met(differs[lane] >= 0, iterations);
            if is_stopped || iterations == self.config.max_iterations {
                let information = &mut self.batch.decided(lane);
                blocks.decoded(Decoded { index, iterations, is_stopped, information });
                *place = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
