//! Modulation and coding schemes: the eight of the paper on IEEE 802.16 WirelessMAN-OFDMA, and
//! named sets of others, with repetition, counted in slots.
//!
//! Source: qawla-2015 Table 1. Every block is the largest that its modulation and rate allow
//! (IEEE 802.16-2009 Table 504).

mod curves;
mod set;

pub use set::{McsSet, SlotMcs};

use crate::code::ctc::BlockSize;
use crate::modulation::Modulation;

/// Data subcarriers a second: 768 subcarriers, 35 downlink symbols in a frame of 5 ms.
pub const SUBCARRIERS_PER_SECOND: u64 = 768 * 35 * 200;

/// Data symbols in a slot.
pub const SLOT_SYMBOLS: usize = 48;

/// Bytes of the packet in Table 1.
pub const PACKET_BYTES: usize = 1500;

/// A modulation and coding scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcs {
    /// m.
    pub number: usize,
    /// The modulation.
    pub modulation: Modulation,
    /// R, as numerator and denominator.
    pub code_rate: (usize, usize),
    /// k, information bytes of a block.
    pub block_bytes: usize,
}

/// mcs0 to mcs7 of qawla-2015 Table 1.
pub const MCSS: [Mcs; 8] = [
    mcs(0, Modulation::Qpsk, (1, 2), 60),
    mcs(1, Modulation::Qpsk, (3, 4), 54),
    mcs(2, Modulation::Qam16, (1, 2), 60),
    mcs(3, Modulation::Qam16, (3, 4), 54),
    mcs(4, Modulation::Qam64, (1, 2), 54),
    mcs(5, Modulation::Qam64, (2, 3), 48),
    mcs(6, Modulation::Qam64, (3, 4), 54),
    mcs(7, Modulation::Qam64, (5, 6), 60),
];

const fn mcs(
    number: usize,
    modulation: Modulation,
    code_rate: (usize, usize),
    block_bytes: usize,
) -> Mcs {
    Mcs { number, modulation, code_rate, block_bytes }
}

impl Mcs {
    /// The scheme called `name`: `mcs0` to `mcs7`.
    pub fn from_name(name: &str) -> Option<Mcs> {
        MCSS.into_iter().find(|mcs| mcs.name() == name)
    }

    /// `mcs0` to `mcs7`.
    pub fn name(self) -> String {
        format!("mcs{}", self.number)
    }

    /// Modulation and code rate: `qpsk-1/2`, `64qam-5/6`.
    pub fn label(self) -> String {
        let (bits, of) = self.code_rate;
        format!("{}-{bits}/{of}", self.modulation.name())
    }

    /// 2N, information bits of a block.
    pub fn information_bits(self) -> usize {
        8 * self.block_bytes
    }

    /// The block of the code.
    pub fn block_size(self) -> BlockSize {
        BlockSize::of_couples(self.information_bits() / 2).expect("the standard has the block")
    }

    /// L, coded bits sent of a block.
    pub fn coded_bits(self) -> usize {
        self.information_bits() * self.code_rate.1 / self.code_rate.0
    }

    /// Data symbols of a block.
    pub fn symbols(self) -> usize {
        self.coded_bits() / self.modulation.bits()
    }

    /// Slots of a block.
    pub fn slots(self) -> usize {
        self.symbols() / SLOT_SYMBOLS
    }

    /// Blocks of a packet of `bytes` bytes.
    pub fn blocks(self, bytes: usize) -> usize {
        bytes.div_ceil(self.block_bytes)
    }

    /// c_m, bit/s: information bits that the whole downlink carries.
    pub fn rate_bps(self) -> f64 {
        let (bits, of) = self.code_rate;
        (SUBCARRIERS_PER_SECOND * (self.modulation.bits() * bits) as u64) as f64 / of as f64
    }

    /// g_m, bit/s: what is left of c_m for packets of `bytes` bytes, their last block being full.
    pub fn packet_rate_bps(self, bytes: usize) -> f64 {
        self.rate_bps() * bytes as f64 / (self.block_bytes * self.blocks(bytes)) as f64
    }

    /// The share of packets of `bytes` bytes with a block in error.
    pub fn packet_error_rate(self, frame_error_rate: f64, bytes: usize) -> f64 {
        packet_error_rate(frame_error_rate, self.blocks(bytes) as u64)
    }
}

/// 1 − (1 − FER)^blocks (qawla-2015 eq. 23).
pub fn packet_error_rate(frame_error_rate: f64, blocks: u64) -> f64 {
    if blocks == 0 {
        return 0.0;
    }
    -libm::expm1(blocks as f64 * libm::log1p(-frame_error_rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// phy-802.16-ctc §1: m, bits per symbol, 2N, N, L, symbols, slots, Y bits sent and all,
    /// blocks per packet, c_m and g_m in kbit/s.
    const TABLE_1: [[usize; 12]; 8] = [
        [0, 2, 480, 240, 960, 480, 10, 480, 480, 25, 5_376, 5_376],
        [1, 2, 432, 216, 576, 288, 6, 144, 432, 28, 8_064, 8_000],
        [2, 4, 480, 240, 960, 240, 5, 480, 480, 25, 10_752, 10_752],
        [3, 4, 432, 216, 576, 144, 3, 144, 432, 28, 16_128, 16_000],
        [4, 6, 432, 216, 864, 144, 3, 432, 432, 28, 16_128, 16_000],
        [5, 6, 384, 192, 576, 96, 2, 192, 384, 32, 21_504, 21_000],
        [6, 6, 432, 216, 576, 96, 2, 144, 432, 28, 24_192, 24_000],
        [7, 6, 480, 240, 576, 96, 2, 96, 480, 25, 26_880, 26_880],
    ];

    #[test]
    fn table_1_every_column() {
        for (mcs, row) in MCSS.into_iter().zip(TABLE_1) {
            let couples = mcs.block_size().couples;
            let kbps = |bps: f64| (bps / 1e3).round() as usize;
            let ours = [
                mcs.number,
                mcs.modulation.bits(),
                mcs.information_bits(),
                couples,
                mcs.coded_bits(),
                mcs.symbols(),
                mcs.slots(),
                mcs.coded_bits() - 2 * couples,
                2 * couples,
                mcs.blocks(PACKET_BYTES),
                kbps(mcs.rate_bps()),
                kbps(mcs.packet_rate_bps(PACKET_BYTES)),
            ];
            assert_eq!(ours, row);
            assert_eq!(mcs.slots() * SLOT_SYMBOLS * mcs.modulation.bits(), mcs.coded_bits());
        }
    }

    #[test]
    fn no_scheme_sends_a_bit_of_w() {
        assert!(MCSS.iter().all(|mcs| mcs.coded_bits() <= 4 * mcs.block_size().couples));
    }

    #[test]
    fn schemes_have_names() {
        assert_eq!(Mcs::from_name("mcs7"), Some(MCSS[7]));
        assert_eq!(Mcs::from_name("mcs8"), None);
        assert_eq!((MCSS[0].label(), MCSS[7].label()), ("qpsk-1/2".into(), "64qam-5/6".into()));
    }

    #[test]
    fn equation_23_gives_the_papers_smallest_and_largest_error_rates() {
        // mcs2 at 26 dB: 4 blocks of 1e7 in error; mcs6 at 26 dB: FER 1.24e-2 and PER 0.295.
        let small = MCSS[2].packet_error_rate(4e-7, PACKET_BYTES);
        assert!((small - 1.0e-5).abs() < 1e-9, "{small}");
        let large = MCSS[6].packet_error_rate(1.24e-2, PACKET_BYTES);
        assert!((large - 0.295).abs() < 1e-3, "{large}");
    }
}
