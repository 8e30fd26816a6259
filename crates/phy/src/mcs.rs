//! Modulation and coding schemes (MCSs): the eight MCSs of IEEE 802.16 WirelessMAN-OFDMA in
//! qawla-2015, and named sets of MCSs with repetition, whose capacity is given in bytes per slot.
//!
//! Source: qawla-2015 Table 1. Each block has the largest size for its modulation and rate (IEEE
//! 802.16-2009 Table 504).

mod curves;
mod set;

pub use set::{McsSet, SlotMcs};

use crate::code::ctc::BlockSize;
use crate::modulation::Modulation;

/// Data subcarriers per second: 768 subcarriers, 35 downlink symbols per frame of 5 ms.
pub const SUBCARRIERS_PER_SECOND: u64 = 768 * 35 * 200;

/// Data symbols per slot.
pub const SLOT_SYMBOLS: usize = 48;

/// Packet size in Table 1, bytes.
pub const PACKET_BYTES: usize = 1500;

/// A modulation and coding scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcs {
    /// m, index of the scheme, from 0.
    pub number: usize,
    /// Modulation of the symbols.
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
    /// Returns the scheme called `name`: `mcs0` to `mcs7`.
    pub fn from_name(name: &str) -> Option<Mcs> {
        MCSS.into_iter().find(|mcs| mcs.name() == name)
    }

    /// Returns the name, `mcs0` to `mcs7`.
    pub fn name(self) -> String {
        format!("mcs{}", self.number)
    }

    /// Returns modulation and code rate, such as `qpsk-1/2` and `64qam-5/6`.
    pub fn label(self) -> String {
        let (bits, of) = self.code_rate;
        format!("{}-{bits}/{of}", self.modulation.name())
    }

    /// Returns 2N, the information bits of a block.
    pub fn information_bits(self) -> usize {
        8 * self.block_bytes
    }

    /// Returns the block size of the code.
    pub fn block_size(self) -> BlockSize {
        BlockSize::of_couples(self.information_bits() / 2).expect("the standard has the block")
    }

    /// Returns L, the transmitted coded bits of a block.
    pub fn coded_bits(self) -> usize {
        self.information_bits() * self.code_rate.1 / self.code_rate.0
    }

    /// Returns the data symbols of a block.
    pub fn symbols(self) -> usize {
        self.coded_bits() / self.modulation.bits()
    }

    /// Returns the slots of a block.
    pub fn slots(self) -> usize {
        self.symbols() / SLOT_SYMBOLS
    }

    /// Returns the number of blocks of a packet of `bytes` bytes.
    pub fn blocks(self, bytes: usize) -> usize {
        bytes.div_ceil(self.block_bytes)
    }

    /// Returns c_m, bit/s: the information bits that the entire downlink carries.
    pub fn rate_bps(self) -> f64 {
        let (bits, of) = self.code_rate;
        (SUBCARRIERS_PER_SECOND * (self.modulation.bits() * bits) as u64) as f64 / of as f64
    }

    /// Returns g_m, bit/s: the part of c_m that is available for packets of `bytes` bytes. The rest
    /// is padding of the last block of each packet.
    pub fn packet_rate_bps(self, bytes: usize) -> f64 {
        self.rate_bps() * bytes as f64 / (self.block_bytes * self.blocks(bytes)) as f64
    }

    /// Returns the share of packets of `bytes` bytes that have at least one block in error.
    pub fn packet_error_rate(self, frame_error_rate: f64, bytes: usize) -> f64 {
        packet_error_rate(frame_error_rate, self.blocks(bytes) as u64)
    }
}

/// Returns the packet error rate 1 − (1 − FER)^blocks (qawla-2015 eq. 23).
pub fn packet_error_rate(frame_error_rate: f64, blocks: u64) -> f64 {
    if blocks == 0 {
        return 0.0;
    }
    -libm::expm1(blocks as f64 * libm::log1p(-frame_error_rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// phy-802.16-ctc §1: m, bits per symbol, 2N, N, L, symbols, slots, transmitted and total Y
    /// bits, blocks per packet, c_m and g_m in kbit/s.
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
    fn mcss_match_all_columns_of_table_1() {
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
    fn schemes_send_no_w_bits() {
        assert!(MCSS.iter().all(|mcs| mcs.coded_bits() <= 4 * mcs.block_size().couples));
    }

    #[test]
    fn names_and_labels_identify_schemes() {
        assert_eq!(Mcs::from_name("mcs7"), Some(MCSS[7]));
        assert_eq!(Mcs::from_name("mcs8"), None);
        assert_eq!((MCSS[0].label(), MCSS[7].label()), ("qpsk-1/2".into(), "64qam-5/6".into()));
    }

    #[test]
    fn packet_error_rates_match_the_paper() {
        // mcs2 at 26 dB: 4 of 1e7 blocks in error; mcs6 at 26 dB: FER 1.24e-2 and PER 0.295.
        let small = MCSS[2].packet_error_rate(4e-7, PACKET_BYTES);
        assert!((small - 1.0e-5).abs() < 1e-9, "{small}");
        let large = MCSS[6].packet_error_rate(1.24e-2, PACKET_BYTES);
        assert!((large - 0.295).abs() < 1e-3, "{large}");
    }
}
