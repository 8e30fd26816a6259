//! The block sizes of the code and the parameters of their interleavers.

/// A block size: couples of information bits, and the parameters of both interleavers.
///
/// Source: IEEE 802.16-2009 §8.4.9.2.3, Tables 502 (P0…P3) and 505 (m, J).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSize {
    /// N, number of couples of information bits; a multiple of 4, and not a multiple of 7.
    pub couples: usize,
    /// P0, P1, P2, P3 of the interleaver between the two constituent encoders.
    pub p: [usize; 4],
    /// m of the subblock interleaver.
    pub m: u32,
    /// J of the subblock interleaver.
    pub j: usize,
}

/// All seventeen sizes in ascending order. Sizes above 240 couples are for HARQ only.
pub const BLOCK_SIZES: [BlockSize; 17] = [
    size(24, [5, 0, 0, 0], 3, 3),
    size(36, [11, 18, 0, 18], 4, 3),
    size(48, [13, 24, 0, 24], 4, 3),
    size(72, [11, 6, 0, 6], 5, 3),
    size(96, [7, 48, 24, 72], 5, 3),
    size(108, [11, 54, 56, 2], 5, 4),
    size(120, [13, 60, 0, 60], 6, 2),
    size(144, [17, 74, 72, 2], 6, 3),
    size(180, [11, 90, 0, 90], 6, 3),
    size(192, [11, 96, 48, 144], 6, 3),
    size(216, [13, 108, 0, 108], 6, 4),
    size(240, [13, 120, 60, 180], 7, 2),
    size(480, [53, 62, 12, 2], 8, 2),
    size(960, [43, 64, 300, 824], 9, 2),
    size(1440, [43, 720, 360, 540], 9, 3),
    size(1920, [31, 8, 24, 16], 10, 2),
    size(2400, [53, 66, 24, 2], 10, 3),
];

const fn size(couples: usize, p: [usize; 4], m: u32, j: usize) -> BlockSize {
    BlockSize { couples, p, m, j }
}

impl BlockSize {
    /// Returns the size with `couples` couples, or `None` if the standard does not define it.
    pub fn of_couples(couples: usize) -> Option<BlockSize> {
        BLOCK_SIZES.into_iter().find(|size| size.couples == couples)
    }

    /// Returns the number of information bits of a block: 2N.
    pub const fn information_bits(self) -> usize {
        2 * self.couples
    }

    /// Returns the number of coded bits of a block without puncturing (code rate 1/3): 6N.
    pub const fn coded_bits(self) -> usize {
        6 * self.couples
    }
}
