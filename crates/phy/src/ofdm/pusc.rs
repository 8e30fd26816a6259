//! PUSC mapping of the downlink: clusters of 14 subcarriers and 2 symbols, distributed to
//! subchannels.
//!
//! Source: IEEE 802.16-2009 §8.4.6.1.2.1 at an FFT of 1024 (phy-802.16-ctc §5), PermBase 0, first
//! zone.

use super::MIDDLE;
use crate::mcs::SLOT_SYMBOLS;

/// Number of clusters.
const CLUSTERS: usize = 60;
/// Number of subcarriers per cluster.
const CLUSTER: usize = 14;

/// Logical index of each physical cluster.
const RENUMBERING: [usize; CLUSTERS] = [
    6, 48, 37, 21, 31, 40, 42, 56, 32, 47, 30, 33, 54, 18, 10, 15, 50, 51, 58, 46, 23, 45, 16, 57,
    39, 35, 7, 55, 25, 59, 53, 11, 22, 38, 28, 19, 17, 3, 27, 12, 29, 26, 5, 41, 49, 44, 9, 8, 1,
    13, 36, 14, 43, 2, 20, 24, 52, 4, 34, 0,
];

/// Number of logical clusters in each major group: twice the number of its subchannels.
const GROUPS: [usize; 6] = [12, 8, 12, 8, 12, 8];

/// Positions of the pilots in a cluster, by symbol.
const PILOTS: [[usize; 2]; 2] = [[4, 8], [0, 12]];

/// Subcarriers of a subchannel per symbol.
const SUBCHANNEL: usize = 24;

/// Returns the permutation of a group's subchannels.
fn permutation(subchannels: usize) -> &'static [usize] {
    if subchannels == 6 { &[3, 2, 0, 4, 5, 1] } else { &[3, 0, 2, 1] }
}

/// Returns the subcarriers of the slots of two symbols, slot by slot, first symbol first.
pub(super) fn subchannels() -> Vec<u16> {
    let mut subcarriers = Vec::with_capacity(CLUSTERS / 2 * SLOT_SYMBOLS);
    let mut first = 0;
    for clusters in GROUPS {
        let count = clusters / 2;
        let data = [0, 1].map(|symbol| data_subcarriers(first..first + clusters, symbol));
        for subchannel in 0..count {
            for data in &data {
                for k in 0..SUBCHANNEL {
                    let n = (k + 13 * subchannel) % SUBCHANNEL;
                    let place = permutation(count)[(n + subchannel) % count];
                    subcarriers.push(data[count * n + place]);
                }
            }
        }
        first += clusters;
    }
    subcarriers
}

/// Returns the subcarriers of some logical clusters without their pilots.
fn data_subcarriers(logical: std::ops::Range<usize>, symbol: usize) -> Vec<u16> {
    let of_cluster = |logical| {
        let physical = RENUMBERING.iter().position(|&number| number == logical);
        let first = CLUSTER * physical.expect("a permutation");
        let is_data = move |place: &usize| !PILOTS[symbol].contains(place);
        (0..CLUSTER).filter(is_data).map(move |place| used(first + place))
    };
    logical.flat_map(of_cluster).collect()
}

/// Returns the subcarrier at position `place` among the 840 used ones, which exclude the middle
/// subcarrier.
fn used(place: usize) -> u16 {
    let half = CLUSTERS * CLUSTER / 2;
    MIDDLE - half as u16 + place as u16 + u16::from(place >= half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn slots_use_each_data_subcarrier_once_per_symbol() {
        let all = subchannels();
        assert_eq!(all.len(), 30 * SLOT_SYMBOLS);
        for symbol in 0..2 {
            let slots = all.chunks(SLOT_SYMBOLS);
            let used: BTreeSet<u16> = slots
                .flat_map(|slot| &slot[SUBCHANNEL * symbol..][..SUBCHANNEL])
                .copied()
                .collect();
            assert_eq!(used, data_subcarriers(0..CLUSTERS, symbol).into_iter().collect());
            assert_eq!(used.len(), 720);
            assert!(!used.contains(&MIDDLE));
        }
    }

    #[test]
    fn subchannel_has_two_subcarriers_per_cluster_of_group() {
        let first: Vec<u16> = subchannels()[..SUBCHANNEL].to_vec();
        for logical in 0..12 {
            let cluster = data_subcarriers(logical..logical + 1, 0);
            let of_cluster = first.iter().filter(|subcarrier| cluster.contains(subcarrier));
            assert_eq!(of_cluster.count(), 2, "cluster {logical}");
        }
    }

    /// phy-802.16-ctc §5, computed by hand. Logical cluster 0 is the last of the band, logical
    /// cluster 1 is physical cluster 48; both are above the middle.
    #[test]
    fn subcarriers_match_formula() {
        let all = subchannels();
        // Subchannel 0: n_0 = 0 and p[0] = 3; n_1 = 1 and p[1] = 2: the eighth data subcarrier of
        // cluster 0, which is at position 9 because of the pilots at 4 and 8.
        let last = 432 + 1 + (420 - 14);
        assert_eq!(all[..2], [last + 3, last + 10]);
        // In the odd symbol the pilots are at 0 and 12.
        assert_eq!(all[SUBCHANNEL], last + 4);
        // Subchannel 1: n_0 = 13, p[(13 + 1) mod 6] = 0: data subcarrier 78, the seventh of logical
        // cluster 6, which is physical cluster 0: position 7.
        assert_eq!(all[SLOT_SYMBOLS], 12 + 7);
    }
}
