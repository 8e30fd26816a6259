//! On which subcarriers of an OFDM symbol a block's modulation symbols go.
//!
//! Sources: the numerology of 802.16 OFDMA at 10 MHz and the mappings of phy-802.16-ctc §5 and
//! §6. The reference spreads a block at random over all used subcarriers.

use crate::gaussian::Gaussian;

/// Distance of neighbouring subcarriers: 11.2 MHz / 1024.
pub const SPACING_HZ: f64 = 10_937.5;

/// Used subcarriers of FUSC, the middle one included.
pub const USED: usize = 851;

/// Data subcarriers of FUSC.
const DATA: usize = 768;

/// Subcarriers of a FUSC subchannel, and subchannels.
const SUBCHANNEL: usize = 48;
const SUBCHANNELS: usize = 16;

/// FUSC's permutation of the subchannels at an FFT of 1024.
const PERMUTATION: [usize; SUBCHANNELS] = [6, 14, 2, 3, 10, 8, 11, 15, 9, 1, 13, 12, 5, 7, 4, 0];

/// Where a block's symbols go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Distinct subcarriers, uniformly at random from all used ones: the reference.
    Random,
    /// FUSC subchannels of one OFDM symbol from a random one on, PermBase 0, pilots evenly spaced.
    Fusc,
    /// Neighbouring subcarriers from a random one on.
    Adjacent,
}

impl Mapping {
    /// All mappings.
    pub const ALL: [Mapping; 3] = [Mapping::Random, Mapping::Fusc, Mapping::Adjacent];

    /// The name that users give.
    pub fn name(self) -> &'static str {
        match self {
            Mapping::Random => "random",
            Mapping::Fusc => "fusc",
            Mapping::Adjacent => "adjacent",
        }
    }

    /// The mapping called `name`.
    pub fn of_name(name: &str) -> Option<Mapping> {
        Mapping::ALL.into_iter().find(|mapping| mapping.name() == name)
    }
}

/// Chooses subcarriers, block by block.
#[derive(Clone, Debug)]
pub struct Mapper {
    mapping: Mapping,
    /// Random: the subcarriers in an order that every draw shuffles on. FUSC: those of the
    /// subchannels, twice round. Adjacent: in order.
    subcarriers: Vec<u16>,
    /// Random bits.
    words: Vec<u64>,
}

impl Mapper {
    /// A mapper before its first block.
    pub fn new(mapping: Mapping) -> Mapper {
        let subcarriers = match mapping {
            Mapping::Random | Mapping::Adjacent => (0..USED as u16).collect(),
            Mapping::Fusc => [fusc(), fusc()].concat(),
        };
        Mapper { mapping, subcarriers, words: vec![0; USED] }
    }

    /// Forgets all blocks drawn: what follows depends on the random numbers alone.
    pub fn restart(&mut self) {
        if self.mapping == Mapping::Random {
            for (place, subcarrier) in self.subcarriers.iter_mut().enumerate() {
                *subcarrier = place as u16;
            }
        }
    }

    /// The subcarriers of the next block's `count` symbols.
    ///
    /// # Panics
    ///
    /// If the mapping has fewer.
    pub fn draw(&mut self, gaussian: &mut Gaussian, count: usize) -> &[u16] {
        let first = match self.mapping {
            Mapping::Random => {
                self.shuffle(gaussian, count);
                0
            }
            Mapping::Fusc => SUBCHANNEL * self.below(gaussian, SUBCHANNELS),
            Mapping::Adjacent => self.below(gaussian, USED + 1 - count),
        };
        &self.subcarriers[first..][..count]
    }

    /// Fisher and Yates's shuffle of the first `count` places.
    fn shuffle(&mut self, gaussian: &mut Gaussian, count: usize) {
        let words = &mut self.words[..count.div_ceil(2)];
        gaussian.words(words);
        let halves = words.iter().flat_map(|&word| [word >> 32, word & 0xffff_ffff]);
        for (place, half) in (0..count).zip(halves) {
            let other = place + scaled(half, USED - place);
            self.subcarriers.swap(place, other);
        }
    }

    /// A whole number below `bound`.
    fn below(&mut self, gaussian: &mut Gaussian, bound: usize) -> usize {
        gaussian.words(&mut self.words[..1]);
        scaled(self.words[0] >> 32, bound)
    }
}

/// 32 random bits as a whole number below `bound`. Biased by less than `bound`/2³².
#[inline]
fn scaled(bits: u64, bound: usize) -> usize {
    ((bits * bound as u64) >> 32) as usize
}

/// The used subcarriers of FUSC's subchannels, one after the other.
fn fusc() -> Vec<u16> {
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

/// The used subcarriers without the middle one and 82 pilots, evenly spaced.
fn data_subcarriers() -> Vec<u16> {
    let others: Vec<u16> = (0..USED as u16).filter(|&subcarrier| subcarrier != 425).collect();
    let pilots = others.len() - DATA;
    // A pilot wherever the count of pilots up to here rises.
    let pilots_to = |place: usize| (place * pilots + others.len() / 2) / others.len();
    let is_data = |&place: &usize| pilots_to(place) == pilots_to(place + 1);
    (0..others.len()).filter(is_data).map(|place| others[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::rng::Stream;

    fn gaussian() -> Gaussian {
        Gaussian::new(&mut Stream::new(1, 0, "mapping"))
    }

    #[test]
    fn a_block_has_distinct_subcarriers() {
        for mapping in Mapping::ALL {
            let (mut gaussian, mut mapper) = (gaussian(), Mapper::new(mapping));
            for count in [1, 96, 480, 480, 96] {
                let mut subcarriers = mapper.draw(&mut gaussian, count).to_vec();
                subcarriers.sort_unstable();
                subcarriers.dedup();
                assert_eq!(subcarriers.len(), count);
                assert!(subcarriers.iter().all(|&subcarrier| usize::from(subcarrier) < USED));
            }
        }
    }

    #[test]
    fn random_subcarriers_are_uniform_at_every_place() {
        let (mut gaussian, mut mapper) = (gaussian(), Mapper::new(Mapping::Random));
        let (draws, places) = (60_000, [0, 1, 47, 95]);
        let mut counts = vec![[0u32; USED]; places.len()];
        for _ in 0..draws {
            let subcarriers = mapper.draw(&mut gaussian, 96);
            for (counts, &place) in counts.iter_mut().zip(&places) {
                counts[usize::from(subcarriers[place])] += 1;
            }
        }
        let expected = f64::from(draws) / USED as f64;
        for counts in counts {
            let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
            let chi_square: f64 = counts.iter().map(square).sum();
            // 850 degrees of freedom: standard deviation 41.
            assert!((chi_square - 850.0).abs() < 5.0 * 41.3, "{chi_square}");
        }
    }

    #[test]
    fn fusc_uses_every_data_subcarrier_once_and_one_of_every_group_per_subchannel() {
        let data = data_subcarriers();
        assert_eq!(data.len(), DATA);
        assert!(!data.contains(&425));
        let all = fusc();
        for subchannel in all.chunks(SUBCHANNEL) {
            let group = |subcarrier| data.binary_search(subcarrier).expect("data") / SUBCHANNELS;
            let mut groups: Vec<usize> = subchannel.iter().map(group).collect();
            groups.sort_unstable();
            assert_eq!(groups, (0..SUBCHANNEL).collect::<Vec<_>>());
        }
        let mut all = all;
        all.sort_unstable();
        assert_eq!(all, data);
    }

    /// phy-802.16-ctc §5, by hand: k = 0 and 1 of subchannels 0 and 1.
    #[test]
    fn fusc_places_of_its_formula() {
        let (all, data) = (fusc(), data_subcarriers());
        assert_eq!(all[..2], [data[6], data[16 + 14]]);
        // n_0 = 13, the sequence turned by one: p[(13 + 1) mod 16] = 4.
        assert_eq!(all[SUBCHANNEL], data[16 * 13 + 4]);
    }
}
