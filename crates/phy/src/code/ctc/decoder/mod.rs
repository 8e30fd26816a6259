//! The decoder: two soft-in, soft-out decoders that exchange extrinsic information.
//!
//! Many blocks at once, one per lane of a vector of 16-bit numbers. Interleaving is then a copy of
//! whole vectors, and a lane whose block is done takes the next one.
//!
//! Source: the structure of CML's `TurboDuobinaryCRSCDecode` (phy-802.16-ctc §4): ratios of whole
//! symbols between the decoders, no extrinsic scaling.
//! Differs: integers instead of floating point, and a prologue round the wrap instead of up to four
//! rounds.

mod batch;
mod lanes;
mod siso;
mod stopping;

pub use stopping::Stopping;

use super::Code;
use crate::code::Llr;
use batch::Batch;
use lanes::{Portable, Simd};

/// How branch metrics are joined: max*(a, b).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The maximum. Does not depend on the scale of the ratios.
    #[default]
    MaxLog,
    /// CML's max + max(0, 0.24904·(2.50682 − |a − b|)), to an eighth of a natural unit.
    LinearLog,
}

/// The extrinsic scale of one.
pub const EXTRINSIC_ONE: u8 = 16;

/// How to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecoderConfig {
    /// How branch metrics are joined.
    pub algorithm: Algorithm,
    /// Iterations after which a block is discarded, at least 1. Default 10.
    pub max_iterations: u32,
    /// When a block is taken out before.
    pub stopping: Stopping,
    /// Factor of the extrinsic ratios, in sixteenths, 1 to [`EXTRINSIC_ONE`] (the default).
    pub extrinsic_scale: u8,
    /// Couples round the wrap before a recursion counts. Default 48; a block's size or more is
    /// the whole circle.
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

/// Where blocks come from and go to.
pub trait Blocks {
    /// Puts the next block's received ratios into `llrs`, one per coded bit sent, within
    /// ±[`LLR_LIMIT`](crate::code::LLR_LIMIT), and for the genie the sent information bits into
    /// `sent` (the other rules do not read them). False when there is no block left; not called
    /// again then.
    fn next(&mut self, llrs: &mut [Llr], sent: &mut [bool]) -> bool;

    /// Takes a decoded block. Their order is that of completion: it depends on the machine.
    fn decoded(&mut self, block: Decoded<'_>);
}

/// A block that the decoder is done with.
pub struct Decoded<'a> {
    /// Its number, in the order in which the blocks came; the first is 0.
    pub index: u64,
    /// Iterations it took.
    pub iterations: u32,
    /// Whether the stopping rule was met. With the genie: whether the block is right.
    pub is_stopped: bool,
    /// The decided information bits, A_0, B_0, A_1, B_1, …
    pub information: &'a mut dyn Iterator<Item = bool>,
}

/// The instructions that a decoder runs on. All give the same bits.
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
    /// Those of this machine, the widest last.
    pub fn available() -> Vec<Width> {
        let mut widths = vec![Width::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            widths.extend(pulp::x86::V3::is_available().then_some(Width::Avx2));
            widths.extend(pulp::x86::V4::is_available().then_some(Width::Avx512));
        }
        widths
    }

    /// The widest of this machine.
    pub fn widest() -> Width {
        *Width::available().last().expect("the portable arithmetic is everywhere")
    }
}

/// A decoder of blocks of one size and rate.
pub struct Decoder(Box<dyn Decode + Send>);

impl Decoder {
    /// A decoder of blocks of which the first `coded_bits` bits are sent, with the widest
    /// instructions of this machine.
    ///
    /// # Panics
    ///
    /// As [`Decoder::with_width`].
    pub fn new(code: &Code, coded_bits: usize, config: DecoderConfig) -> Decoder {
        Decoder::with_width(Width::widest(), code, coded_bits, config)
    }

    /// The same with instructions of one's choice.
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

/// Keeps the lanes filled.
struct Stream<S: Simd> {
    batch: Batch<S>,
    config: DecoderConfig,
    /// A row for the block that comes next into each lane.
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
    /// The next block into the rows of `lane`.
    fn take(&mut self, lane: usize, blocks: &mut dyn Blocks) -> bool {
        let llrs = &mut self.llrs[lane * self.coded_bits..][..self.coded_bits];
        let sent = &mut self.sent[lane * self.information_bits..][..self.information_bits];
        blocks.next(llrs, sent)
    }

    /// One iteration; blocks that are done leave their lanes.
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
