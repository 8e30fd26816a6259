//! FUSC mapping (full usage of subchannels): each subchannel is distributed over the entire band.
//!
//! Source: IEEE 802.16-2009 §8.4.6.1.2.2 at an FFT of 1024 (phy-802.16-ctc §5), PermBase 0.
//! Differs: the 82 pilots are evenly spaced.

use super::{BAND, MIDDLE};

/// Number of data subcarriers.
const DATA: usize = 768;

/// Subcarriers per subchannel.
const SUBCHANNEL: usize = 48;
const SUBCHANNELS: usize = 16;

/// Permutation of the subchannels.
const PERMUTATION: [usize; SUBCHANNELS] = [6, 14, 2, 3, 10, 8, 11, 15, 9, 1, 13, 12, 5, 7, 4, 0];

/// Returns the subcarriers of the subchannels of one symbol, subchannel by subchannel.
pub(super) fn subchannels() -> Vec<u16> {
    let data = data_subcarriers();
    let mut subcarriers = Vec::with_capacity(DATA);
    for subchannel in 0..SUBCHANNELS {
        for k in 0..SUBCHANNEL {
            let n = (k + 13 * subchannel) % SUBCHANNEL;
            let place = PERMUTATION[(n + subchannel) % SUBCHANNELS];
            subcarriers.push(data[SUBCHANNELS * n + place]);
        }
    }
    subcarriers
}

/// Returns the used subcarriers without the middle one and the pilots.
fn data_subcarriers() -> Vec<u16> {
    let others: Vec<u16> = BAND.filter(|&subcarrier| subcarrier != MIDDLE).collect();
    let pilots = others.len() - DATA;
    // A subcarrier is a pilot if the rounded number of pilots up to this subcarrier increases.
    let pilots_to = |place: usize| (place * pilots + others.len() / 2) / others.len();
    let is_data = |&place: &usize| pilots_to(place) == pilots_to(place + 1);
    (0..others.len()).filter(is_data).map(|place| others[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subchannels_use_each_data_subcarrier_once() {
        let data = data_subcarriers();
        assert_eq!(data.len(), DATA);
        assert!(!data.contains(&MIDDLE));
        let mut all = subchannels();
        for subchannel in all.chunks(SUBCHANNEL) {
            let group = |subcarrier| data.binary_search(subcarrier).expect("data") / SUBCHANNELS;
            let mut groups: Vec<usize> = subchannel.iter().map(group).collect();
            groups.sort_unstable();
            assert_eq!(groups, (0..SUBCHANNEL).collect::<Vec<_>>());
        }
        all.sort_unstable();
        assert_eq!(all, data);
    }

    /// phy-802.16-ctc §5, computed by hand: k = 0 and 1 of subchannels 0 and 1.
    #[test]
    fn subcarriers_match_formula() {
        let (all, data) = (subchannels(), data_subcarriers());
        assert_eq!(all[..2], [data[6], data[16 + 14]]);
        // n_0 = 13, and the sequence is rotated by one: p[(13 + 1) mod 16] = 4.
        assert_eq!(all[SUBCHANNEL], data[16 * 13 + 4]);
    }
}
