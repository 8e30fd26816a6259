//! The encoder: both constituent encoders, each from its circulation state.

use super::puncture::Subblock;
use super::trellis::{STATES, TRELLIS, circulation_state};
use super::{BlockSize, interleaver::interleaver, puncture::sending_order};

/// The code at one block size, with the tables that encoder and decoder share.
#[derive(Clone, Debug)]
pub struct Code {
    size: BlockSize,
    interleaver: Vec<usize>,
    sending_order: Vec<u32>,
}

/// A block's six subblocks, and the circulation states of both constituent encoders.
struct Encoded {
    subblocks: Vec<bool>,
    circulation: [u8; 2],
}

impl Code {
    /// The code for blocks of `size`.
    pub fn new(size: BlockSize) -> Code {
        Code { size, interleaver: interleaver(size), sending_order: sending_order(size) }
    }

    /// The block size.
    pub fn size(&self) -> BlockSize {
        self.size
    }

    /// π, see [`interleaver`].
    pub(super) fn interleaver(&self) -> &[usize] {
        &self.interleaver
    }

    /// See [`sending_order`].
    pub(super) fn sending_order(&self) -> &[u32] {
        &self.sending_order
    }

    /// The first bits of the coded block, as many as `coded` takes (at most 6N).
    ///
    /// `information` holds A_0, B_0, A_1, B_1, …
    ///
    /// # Panics
    ///
    /// If `information` is not 2N bits, or `coded` more than 6N.
    pub fn encode(&self, information: &[bool], coded: &mut [bool]) {
        assert_eq!(information.len(), self.size.information_bits(), "2N information bits");
        assert!(coded.len() <= self.size.coded_bits(), "no more than 6N coded bits");
        let subblocks = self.subblocks(information).subblocks;
        for (bit, &place) in coded.iter_mut().zip(&self.sending_order) {
            *bit = subblocks[place as usize];
        }
    }

    /// Sc of both constituent encoders for a block.
    ///
    /// # Panics
    ///
    /// If `information` is not 2N bits.
    pub fn circulation_states(&self, information: &[bool]) -> [u8; 2] {
        assert_eq!(information.len(), self.size.information_bits(), "2N information bits");
        self.subblocks(information).circulation
    }

    fn subblocks(&self, information: &[bool]) -> Encoded {
        let couples = self.size.couples;
        let mut subblocks = vec![false; self.size.coded_bits()];
        for (k, couple) in information.chunks_exact(2).enumerate() {
            subblocks[Subblock::A as usize * couples + k] = couple[0];
            subblocks[Subblock::B as usize * couples + k] = couple[1];
        }
        let symbol =
            |k: usize| usize::from(information[2 * k]) << 1 | usize::from(information[2 * k + 1]);
        let natural = |k| symbol(k);
        let interleaved = |j| {
            let k = self.interleaver[j];
            if k % 2 == 1 { SWAPPED[symbol(k)] } else { symbol(k) }
        };
        let [y1, y2, w1, w2] = [Subblock::Y1, Subblock::Y2, Subblock::W1, Subblock::W2]
            .map(|subblock| subblock as usize * couples);
        let mut put = |k: usize, y: usize, w: usize, parity: Parity| {
            subblocks[y + k] = parity.y;
            subblocks[w + k] = parity.w;
        };
        let first = constituent(couples, natural, |k, parity| put(k, y1, w1, parity));
        let second = constituent(couples, interleaved, |k, parity| put(k, y2, w2, parity));
        Encoded { subblocks, circulation: [first, second] }
    }
}

/// A symbol 2·A + B with A and B in each other's place.
const SWAPPED: [usize; 4] = [0, 2, 1, 3];

struct Parity {
    y: bool,
    w: bool,
}

/// Encodes the symbols in order from the circulation state, which it returns.
fn constituent(
    couples: usize,
    symbol: impl Fn(usize) -> usize,
    mut put: impl FnMut(usize, Parity),
) -> u8 {
    let mut state = 0;
    for k in 0..couples {
        state = TRELLIS[usize::from(state)][symbol(k)].next;
    }
    let start = circulation_state(couples, state);
    let mut state = start;
    for k in 0..couples {
        let step = TRELLIS[usize::from(state)][symbol(k)];
        put(k, Parity { y: step.y, w: step.w });
        state = step.next;
    }
    debug_assert!(state == start && usize::from(start) < STATES, "the block is circular");
    start
}

#[cfg(test)]
mod tests;
