//! The turbo encoder: runs both constituent encoders, each from its circulation state.

use super::trellis::{Registers, Word};
use super::{BlockSize, interleaver::interleaver, puncture::sending_order};

/// The code for one block size, with the tables that encoder and decoder share.
#[derive(Clone, Debug)]
pub struct Code {
    size: BlockSize,
    interleaver: Vec<usize>,
    sending_order: Vec<u32>,
}

/// Six subblocks of a block, and the circulation states of both constituent encoders.
struct Encoded<T> {
    subblocks: Vec<T>,
    circulation: [Registers<T>; 2],
}

impl Code {
    /// Creates the code for blocks of `size`: a size of the standard, or another size with an
    /// interleaver of the same form.
    ///
    /// # Panics
    ///
    /// If the number of couples is not a multiple of 4, or is a multiple of 7.
    pub fn new(size: BlockSize) -> Code {
        assert!(size.couples.is_multiple_of(4), "the interleaver's rule has period 4");
        assert!(!size.couples.is_multiple_of(7), "multiples of 7 have no circulation state");
        Code { size, interleaver: interleaver(size), sending_order: sending_order(size) }
    }

    /// Returns the block size.
    pub fn size(&self) -> BlockSize {
        self.size
    }

    /// Returns π, see [`interleaver`].
    pub(super) fn interleaver(&self) -> &[usize] {
        &self.interleaver
    }

    /// Returns the transmission order, see [`sending_order`].
    pub(super) fn sending_order(&self) -> &[u32] {
        &self.sending_order
    }

    /// Writes the first bits of the coded block into `coded`, at most 6N.
    ///
    /// `information` contains A_0, B_0, A_1, B_1, … of one block, or of 64 blocks as the bits of
    /// words.
    ///
    /// # Panics
    ///
    /// If `information` does not have 2N bits, or `coded` has more than 6N.
    pub fn encode<T: Word>(&self, information: &[T], coded: &mut [T]) {
        assert!(coded.len() <= self.size.coded_bits(), "no more than 6N coded bits");
        let subblocks = self.encoded(information).subblocks;
        for (bit, &place) in coded.iter_mut().zip(&self.sending_order) {
            *bit = subblocks[place as usize];
        }
    }

    /// Returns the circulation state Sc of both constituent encoders for a block.
    ///
    /// # Panics
    ///
    /// If `information` does not have 2N bits.
    pub fn circulation_states(&self, information: &[bool]) -> [u8; 2] {
        self.encoded(information)
            .circulation
            .map(|Registers([s1, s2, s3])| u8::from(s1) << 2 | u8::from(s2) << 1 | u8::from(s3))
    }

    fn encoded<T: Word>(&self, information: &[T]) -> Encoded<T> {
        assert_eq!(information.len(), self.size.information_bits(), "2N information bits");
        let couples = self.size.couples;
        let mut subblocks = vec![T::default(); self.size.coded_bits()];
        let (systematic, parity) = subblocks.split_at_mut(2 * couples);
        let (a, b) = systematic.split_at_mut(couples);
        for (couple, (a, b)) in information.chunks_exact(2).zip(a.iter_mut().zip(b.iter_mut())) {
            (*a, *b) = (couple[0], couple[1]);
        }
        let (y, w) = parity.split_at_mut(2 * couples);
        let ((y1, y2), (w1, w2)) = (y.split_at_mut(couples), w.split_at_mut(couples));
        let natural = (0..couples).map(|k| (a[k], b[k]));
        let interleaved =
            self.interleaver.iter().map(|&k| if k % 2 == 1 { (b[k], a[k]) } else { (a[k], b[k]) });
        let circulation = [constituent(natural, y1, w1), constituent(interleaved, y2, w2)];
        Encoded { subblocks, circulation }
    }
}

/// Encodes the couples in order, starting from the circulation state, and returns this state.
///
/// The code is linear: the parity is the sum of the parity from state 0 and the parity of the
/// circulation state without input.
fn constituent<T: Word>(
    symbols: impl Iterator<Item = (T, T)>,
    y: &mut [T],
    w: &mut [T],
) -> Registers<T> {
    let mut registers = Registers::default();
    for ((a, b), (y, w)) in symbols.zip(y.iter_mut().zip(w.iter_mut())) {
        (registers, *y, *w) = registers.step(a, b);
    }
    let start = registers.circulation(y.len());
    let mut registers = start;
    for (y, w) in y.iter_mut().zip(w.iter_mut()) {
        let (next, free_y, free_w) = registers.step(T::default(), T::default());
        (*y, *w) = (*y ^ free_y, *w ^ free_w);
        registers = next;
    }
    start
}

#[cfg(test)]
mod tests;
