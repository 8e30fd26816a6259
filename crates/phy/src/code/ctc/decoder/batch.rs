//! Holds the blocks that are decoded in parallel, and runs one decoding iteration over all of them.

use super::lanes::Simd;
use super::siso::{EXTRINSIC_LIMIT, Metrics, NORMALISATION, Received, Siso, Symbols};
use super::{Algorithm, DecoderConfig, EXTRINSIC_ONE, Stopping};
use crate::code::ctc::puncture::Subblock;
use crate::code::ctc::{Code, STATES};
use crate::code::{LLR_LIMIT, Llr};
use pulp::bytemuck::{Pod, cast_slice, cast_slice_mut};
use std::slice;

/// A batch with one block per lane.
pub(super) struct Batch<S: Simd> {
    simd: S,
    config: DecoderConfig,
    prologue: usize,
    /// π: for each couple of the second encoder, its index in the first encoder; then the inverse
    /// of π.
    interleaver: [Vec<u32>; 2],
    /// Indices of the transmitted subblock bits, in order of transmission.
    sending_order: Vec<u32>,
    /// Indices 0, 1, 2, …
    information_order: Vec<u32>,
    /// Received log-likelihood ratios, ordered by subblock; zero for punctured bits. The W
    /// subblocks are absent if none of their bits is sent.
    received: Vec<S::Vector>,
    /// Inputs of each constituent decoder: the received ratios plus the extrinsic ratios of the
    /// other decoder. In the order of the second decoder, A and B are swapped in couples at even
    /// indices.
    systematic: [Vec<Symbols<S::Vector>>; 2],
    alphas: Vec<Metrics<S::Vector>>,
    /// Decided bits A_0, B_0, A_1, …: negative means 1.
    decided: Vec<S::Vector>,
    /// The transmitted bits; all bits of an element are set if the transmitted bit is 1.
    sent: Vec<S::Vector>,
}

/// Returns the elements of a vector, one per lane.
fn lanes<V: Pod>(vector: &mut V) -> &mut [i16] {
    cast_slice_mut(slice::from_mut(vector))
}

impl<S: Simd> Batch<S> {
    pub(super) fn new(simd: S, code: &Code, coded_bits: usize, config: DecoderConfig) -> Batch<S> {
        let couples = code.size().couples;
        let zero = simd.splat(0);
        let interleaver: Vec<u32> = code.interleaver().iter().map(|&k| k as u32).collect();
        let mut inverse = vec![0; couples];
        for (j, &k) in interleaver.iter().enumerate() {
            inverse[k as usize] = j as u32;
        }
        let sending_order = code.sending_order()[..coded_bits].to_vec();
        let with_w =
            sending_order.iter().any(|&place| place as usize >= Subblock::W1 as usize * couples);
        Batch {
            simd,
            config,
            prologue: config.prologue.min(couples).next_multiple_of(NORMALISATION),
            interleaver: [interleaver, inverse],
            sending_order,
            information_order: (0..2 * couples as u32).collect(),
            received: vec![zero; couples * if with_w { 6 } else { 4 }],
            systematic: [vec![[zero; 3]; couples], vec![[zero; 3]; couples]],
            alphas: vec![[zero; STATES]; couples],
            decided: vec![zero; 2 * couples],
            sent: vec![zero; 2 * couples],
        }
    }

    fn couples(&self) -> usize {
        self.alphas.len()
    }

    /// Loads new blocks into the lanes `fresh`. `llrs` and `sent` contain a row for every lane.
    pub(super) fn load(&mut self, fresh: &[usize], llrs: &[Llr], sent: &[bool]) {
        scatter(&mut self.received, &self.sending_order, fresh, llrs, |llr| {
            debug_assert!(llr.abs() <= LLR_LIMIT, "the sums are proved for ratios within limits");
            llr
        });
        if self.config.stopping == Stopping::Genie {
            scatter(&mut self.sent, &self.information_order, fresh, sent, |bit| -i16::from(bit));
        }
        let mut mask = self.simd.splat(0);
        for &lane in fresh {
            lanes(&mut mask)[lane] = -1;
        }
        self.simd.run(
            #[inline(always)]
            || start(self.simd, mask, &self.received, &mut self.systematic[0]),
        );
    }

    /// Runs one iteration of all lanes. A lane of the result is negative if its decided bits differ
    /// from the reference. The reference is the bits of the previous iteration with stopping rule
    /// agreement, otherwise the transmitted bits.
    pub(super) fn iterate(&mut self) -> S::Vector {
        let with_w = self.received.len() > 4 * self.couples();
        match (self.config.algorithm, with_w) {
            (Algorithm::MaxLog, false) => self.iterate_as::<false, false>(),
            (Algorithm::MaxLog, true) => self.iterate_as::<false, true>(),
            (Algorithm::LinearLog, false) => self.iterate_as::<true, false>(),
            (Algorithm::LinearLog, true) => self.iterate_as::<true, true>(),
        }
    }

    fn iterate_as<const LINEAR: bool, const W: bool>(&mut self) -> S::Vector {
        let simd = self.simd;
        simd.run(
            #[inline(always)]
            || {
                let siso = Siso::<S, LINEAR, W> { simd, prologue: self.prologue };
                self.first(siso);
                self.second(siso)
            },
        )
    }

    #[inline(always)]
    fn first<const LINEAR: bool, const W: bool>(&mut self, siso: Siso<S, LINEAR, W>) {
        let (simd, couples) = (self.simd, self.couples());
        let scale = Scale::new(simd, self.config.extrinsic_scale);
        let [systematic, next] = &mut self.systematic;
        let received = inputs::<S, W>(&self.received, systematic, Subblock::Y1, Subblock::W1);
        let (a, b) = self.received[..2 * couples].split_at(couples);
        siso.run(
            received,
            &mut self.alphas,
            #[inline(always)]
            |k, extrinsic| {
                let to = &mut next[self.interleaver[1][k] as usize];
                let [e01, e10, e11] = scale.applied(scale.limited(extrinsic));
                let swapped = k & 1;
                to[swapped] = simd.plus(e01, b[k]);
                to[1 - swapped] = simd.plus(e10, a[k]);
                to[2] = simd.plus(e11, simd.plus(a[k], b[k]));
            },
        );
    }

    #[inline(always)]
    fn second<const LINEAR: bool, const W: bool>(&mut self, siso: Siso<S, LINEAR, W>) -> S::Vector {
        let (simd, couples) = (self.simd, self.couples());
        let scale = Scale::new(simd, self.config.extrinsic_scale);
        let [next, systematic] = &mut self.systematic;
        let received = inputs::<S, W>(&self.received, systematic, Subblock::Y2, Subblock::W2);
        let bits = &self.received[..2 * couples];
        let agreement = self.config.stopping == Stopping::Agreement;
        let zero = simd.splat(0);
        let mut differs = zero;
        siso.run(
            received,
            &mut self.alphas,
            #[inline(always)]
            |j, extrinsic| {
                let k = self.interleaver[0][j] as usize;
                let swapped = k & 1;
                let extrinsic = scale.limited(extrinsic);
                let [e01, e10, e11] = scale.applied(extrinsic);
                let to = &mut next[k];
                let (a, b) = (bits[k], bits[couples + k]);
                to[swapped] = simd.plus(e01, bits[(1 - swapped) * couples + k]);
                to[1 - swapped] = simd.plus(e10, bits[swapped * couples + k]);
                to[2] = simd.plus(e11, simd.plus(a, b));

                let [t01, t10, t11] = sum(simd, extrinsic, received.systematic[j]);
                let first = simd.minus(siso.max_star(zero, t01), siso.max_star(t10, t11));
                let second = simd.minus(siso.max_star(zero, t10), siso.max_star(t01, t11));
                for (bit, decision) in [(swapped, first), (1 - swapped, second)] {
                    let decided = &mut self.decided[2 * k + bit];
                    let reference = if agreement { *decided } else { self.sent[2 * k + bit] };
                    differs = simd.or(differs, simd.xor(decision, reference));
                    *decided = decision;
                }
            },
        );
        differs
    }

    /// Returns the bits of a lane after the latest iteration: A_0, B_0, A_1, B_1, …
    pub(super) fn decided(&self, lane: usize) -> impl Iterator<Item = bool> {
        let numbers: &[i16] = cast_slice(&self.decided);
        numbers.iter().skip(lane).step_by(S::LANES).map(|&number| number < 0)
    }
}

/// Number of columns of a tile. A tile with the rows of all lanes fits into the L1 cache.
const TILE: usize = 32;

/// Number of lanes and of columns that are transposed together if consecutive lanes receive new
/// blocks.
const SQUARE: usize = 4;

/// Writes column i of the rows of the `fresh` lanes into vector `order[i]`.
fn scatter<V: Pod, T: Copy>(
    vectors: &mut [V],
    order: &[u32],
    fresh: &[usize],
    rows: &[T],
    number: impl Fn(T) -> i16,
) {
    let lanes = size_of::<V>() / size_of::<i16>();
    let numbers: &mut [i16] = cast_slice_mut(vectors);
    for (tile, places) in order.chunks(TILE).enumerate() {
        let row = |lane: usize| &rows[lane * order.len() + tile * TILE..][..places.len()];
        let mut left = fresh;
        while let Some(&lane) = left.first() {
            let is_square = left.get(SQUARE - 1) == Some(&(lane + SQUARE - 1));
            if is_square {
                let rows: [&[T]; SQUARE] = std::array::from_fn(|next| row(lane + next));
                for (column, &place) in places.iter().enumerate() {
                    let to = &mut numbers[place as usize * lanes + lane..][..SQUARE];
                    to.copy_from_slice(&rows.map(|row| number(row[column])));
                }
                left = &left[SQUARE..];
            } else {
                for (&place, &value) in places.iter().zip(row(lane)) {
                    numbers[place as usize * lanes + lane] = number(value);
                }
                left = &left[1..];
            }
        }
    }
}

/// Resets the lanes of `mask` to the received ratios without extrinsic ratios.
#[inline(always)]
fn start<S: Simd>(
    simd: S,
    mask: S::Vector,
    received: &[S::Vector],
    systematic: &mut [Symbols<S::Vector>],
) {
    let couples = systematic.len();
    for (k, ratios) in systematic.iter_mut().enumerate() {
        let (a, b) = (received[k], received[couples + k]);
        let new = [b, a, simd.plus(a, b)];
        for symbol in 0..3 {
            ratios[symbol] = simd.select(mask, new[symbol], ratios[symbol]);
        }
    }
}

/// Returns the inputs of a constituent decoder.
#[inline(always)]
fn inputs<'a, S: Simd, const W: bool>(
    received: &'a [S::Vector],
    systematic: &'a [Symbols<S::Vector>],
    y: Subblock,
    w: Subblock,
) -> Received<'a, S::Vector> {
    let couples = systematic.len();
    let subblock = |which: Subblock| &received[which as usize * couples..][..couples];
    Received { systematic, y: subblock(y), w: if W { subblock(w) } else { &[] } }
}

#[inline(always)]
fn sum<S: Simd>(
    simd: S,
    [a01, a10, a11]: Symbols<S::Vector>,
    [b01, b10, b11]: Symbols<S::Vector>,
) -> Symbols<S::Vector> {
    [simd.plus(a01, b01), simd.plus(a10, b10), simd.plus(a11, b11)]
}

/// Limits and scales extrinsic ratios.
#[derive(Clone, Copy)]
struct Scale<S> {
    simd: S,
    /// Factor in units of 1/[`EXTRINSIC_ONE`]; `None` for a factor of 1.
    factor: Option<i16>,
}

impl<S: Simd> Scale<S> {
    #[inline(always)]
    fn new(simd: S, factor: u8) -> Scale<S> {
        Scale { simd, factor: (factor < EXTRINSIC_ONE).then_some(i16::from(factor)) }
    }

    #[inline(always)]
    fn limited(self, [e01, e10, e11]: Symbols<S::Vector>) -> Symbols<S::Vector> {
        [self.limited_one(e01), self.limited_one(e10), self.limited_one(e11)]
    }

    #[inline(always)]
    fn limited_one(self, ratio: S::Vector) -> S::Vector {
        let limit = self.simd.splat(EXTRINSIC_LIMIT);
        self.simd.max(self.simd.min(ratio, limit), self.simd.splat(-EXTRINSIC_LIMIT))
    }

    #[inline(always)]
    fn applied(self, ratios: Symbols<S::Vector>) -> Symbols<S::Vector> {
        let Some(factor) = self.factor else {
            return ratios;
        };
        let [e01, e10, e11] = ratios;
        [
            self.applied_one(e01, factor),
            self.applied_one(e10, factor),
            self.applied_one(e11, factor),
        ]
    }

    /// Scales a ratio and rounds to nearest. Dividing by 16 is dividing by 4 twice; products are
    /// below 2^15.
    #[inline(always)]
    fn applied_one(self, ratio: S::Vector, factor: i16) -> S::Vector {
        let product = self.simd.times(ratio, self.simd.splat(factor));
        let half = self.simd.splat(i16::from(EXTRINSIC_ONE) / 2);
        self.simd.quarter(self.simd.quarter(self.simd.plus(product, half)))
    }
}
