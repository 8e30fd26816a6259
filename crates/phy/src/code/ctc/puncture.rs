//! The transmission order of the coded bits. Puncturing sends only the first L of them.
//!
//! Source: IEEE 802.16-2009 §8.4.9.2.3.4.3–.4, subpacket 0. Left out: later HARQ subpackets.

use super::{BlockSize, interleaver::subblock_order};

/// The six subblocks of N bits in which encoder and decoder store a block. Bit k of a subblock has
/// the index `subblock as usize * N + k`. The digits 1 and 2 denote the constituent encoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subblock {
    A,
    B,
    Y1,
    Y2,
    W1,
    W2,
}

/// Returns the indices of the transmitted bits in order: A, B, then Y1 and Y2 alternating, then W1
/// and W2 alternating, each subblock in its interleaved order.
pub(super) fn sending_order(size: BlockSize) -> Vec<u32> {
    use Subblock::{A, B, W1, W2, Y1, Y2};
    let order = subblock_order(size);
    let place = |subblock: Subblock, k: usize| (subblock as usize * size.couples + k) as u32;
    let one = |subblock| order.iter().map(move |&k| place(subblock, k));
    let pair = |first, second| order.iter().flat_map(move |&k| [place(first, k), place(second, k)]);
    one(A).chain(one(B)).chain(pair(Y1, Y2)).chain(pair(W1, W2)).collect()
}
