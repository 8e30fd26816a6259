//! The order of the coded bits; sending the first L of them is the whole puncturing rule.
//!
//! Source: IEEE 802.16-2009 §8.4.9.2.3.4.3–.4, subpacket 0. Left out: later HARQ subpackets.

use super::{BlockSize, interleaver::subblock_order};

/// The six subblocks of N bits in which encoder and decoder keep a block: bit k of one is at
/// `subblock as usize * N + k`. 1 and 2 are the constituent encoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subblock {
    A,
    B,
    Y1,
    Y2,
    W1,
    W2,
}

/// Where the bits are that are sent first, second, … sixth-N-th: A, B, then Y1 and Y2 in turns,
/// then W1 and W2 in turns, each subblock in its interleaved order.
pub(super) fn sending_order(size: BlockSize) -> Vec<u32> {
    use Subblock::{A, B, W1, W2, Y1, Y2};
    let order = subblock_order(size);
    let place = |subblock: Subblock, k: usize| (subblock as usize * size.couples + k) as u32;
    let one = |subblock| order.iter().map(move |&k| place(subblock, k));
    let pair = |first, second| order.iter().flat_map(move |&k| [place(first, k), place(second, k)]);
    one(A).chain(one(B)).chain(pair(Y1, Y2)).chain(pair(W1, W2)).collect()
}
