//! AMC 2×3 mapping: the subcarriers of a slot are adjacent; a slot has two bins over three symbols.
//!
//! Source: IEEE 802.16-2009 §8.4.6.3 at an FFT of 1024 (phy-802.16-ctc §5). A bin has 9
//! subcarriers, including the pilot at position 1, 4 or 7, depending on the symbol.

use super::{MIDDLE, USED};
use crate::mcs::SLOT_SYMBOLS;

/// Subcarriers of a bin.
const BIN: usize = 9;

/// Bins and symbols of a slot.
const BINS: usize = 2;
const SYMBOLS: usize = 3;

/// Returns the subcarriers of the slots of three symbols, slot by slot, symbol by symbol.
pub(super) fn subchannels() -> Vec<u16> {
    let used: Vec<u16> = (0..USED as u16).filter(|&subcarrier| subcarrier != MIDDLE).collect();
    let mut subcarriers = Vec::with_capacity(used.len() / (BINS * BIN) * SLOT_SYMBOLS);
    for bins in used.chunks_exact(BINS * BIN) {
        for symbol in 0..SYMBOLS {
            let is_data = |place: &usize| place % BIN != 3 * symbol + 1;
            subcarriers.extend((0..BINS * BIN).filter(is_data).map(|place| bins[place]));
        }
    }
    subcarriers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_has_sixteen_neighbours_per_symbol() {
        let all = subchannels();
        assert_eq!(all.len(), 48 * SLOT_SYMBOLS);
        assert!(!all.contains(&MIDDLE));
        for (number, slot) in all.chunks(SLOT_SYMBOLS).enumerate() {
            let symbols: Vec<&[u16]> = slot.chunks(16).collect();
            assert!(symbols.iter().all(|symbol| symbol.is_sorted_by(|a, b| a < b)));
            let first = (BINS * BIN * number) as u16;
            assert!(slot.iter().all(|subcarrier| (first..=first + 18).contains(subcarrier)));
        }
    }

    #[test]
    fn pilots_are_at_positions_1_4_and_7() {
        let all = subchannels();
        assert_eq!(all[..3], [0, 2, 3]);
        assert_eq!(all[16..21], [0, 1, 2, 3, 5]);
        assert_eq!(all[40..48], [9, 10, 11, 12, 13, 14, 15, 17]);
    }
}
