//! Maps the modulation symbols of a block to the subcarriers of OFDM symbols.
//!
//! Sources: the numerology of 802.16 OFDMA at 10 MHz and the mappings of phy-802.16-ctc §5 and §6.
//! The reference mapping distributes a block randomly over all used subcarriers of FUSC.

mod amc;
mod fusc;
mod pusc;

use crate::gaussian::Gaussian;
use crate::mcs::SLOT_SYMBOLS;
use crate::vectorised::vectorised;
use std::ops::Range;

/// Subcarrier spacing: 11.2 MHz / 1024.
pub const SPACING_HZ: f64 = 10_937.5;

/// Number of subcarriers from the lowest to the highest subcarrier that any mapping uses. AMC has
/// the widest range.
pub const USED: usize = 865;

/// Index of the middle subcarrier.
const MIDDLE: u16 = (USED / 2) as u16;

/// Used subcarriers of FUSC, including the middle one.
const BAND: Range<u16> = MIDDLE - 425..MIDDLE + 426;

/// Number of used subcarriers of FUSC.
const WIDTH: usize = (BAND.end - BAND.start) as usize;

/// Method that selects the subcarriers of a block's symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Distinct subcarriers, uniformly distributed over all used subcarriers: the reference
    /// mapping.
    Random,
    /// Evenly spaced subcarriers over the band, with a random offset.
    Comb,
    /// Neighbouring subcarriers, starting at a random subcarrier.
    Adjacent,
    /// Consecutive FUSC subchannels of one OFDM symbol, starting at a random subchannel.
    Fusc,
    /// Consecutive PUSC subchannels of two OFDM symbols, starting at a random subchannel.
    Pusc,
    /// Consecutive AMC 2×3 subchannels of three OFDM symbols, starting at a random subchannel.
    Amc,
}

impl Mapping {
    /// All mappings.
    pub const ALL: [Mapping; 6] = [
        Mapping::Random,
        Mapping::Comb,
        Mapping::Adjacent,
        Mapping::Fusc,
        Mapping::Pusc,
        Mapping::Amc,
    ];

    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            Mapping::Random => "random",
            Mapping::Comb => "comb",
            Mapping::Adjacent => "adjacent",
            Mapping::Fusc => "fusc",
            Mapping::Pusc => "pusc",
            Mapping::Amc => "amc",
        }
    }

    /// Returns the mapping called `name`.
    pub fn from_name(name: &str) -> Option<Mapping> {
        Mapping::ALL.into_iter().find(|mapping| mapping.name() == name)
    }
}

/// Selects the subcarriers of consecutive blocks.
#[derive(Clone, Debug)]
pub struct Mapper {
    mapping: Mapping,
    /// Subcarriers. The content depends on the mapping. Random: all subcarriers, in an order that
    /// is shuffled further for each block. Comb: the selected subcarriers. Adjacent: all
    /// subcarriers in order of frequency. Other mappings: the subcarriers of all subchannels,
    /// twice.
    subcarriers: Vec<u16>,
    /// Random bits for a shuffle.
    words: Vec<u64>,
    partners: Vec<u16>,
}

impl Mapper {
    /// Creates a mapper in the state before its first block.
    pub fn new(mapping: Mapping) -> Mapper {
        let subcarriers = match mapping {
            Mapping::Random | Mapping::Comb | Mapping::Adjacent => BAND.collect(),
            Mapping::Fusc => fusc::subchannels().repeat(2),
            Mapping::Pusc => pusc::subchannels().repeat(2),
            Mapping::Amc => amc::subchannels().repeat(2),
        };
        let (words, partners) = (vec![0; WIDTH.div_ceil(2)], vec![0; WIDTH + 1]);
        Mapper { mapping, subcarriers, words, partners }
    }

    /// Resets the state, so that the next subcarriers depend only on the random numbers and not on
    /// earlier blocks.
    pub fn restart(&mut self) {
        if self.mapping == Mapping::Random {
            for (place, subcarrier) in self.subcarriers.iter_mut().zip(BAND) {
                *place = subcarrier;
            }
        }
    }

    /// Selects the subcarriers of the `count` symbols of the next block.
    ///
    /// # Panics
    ///
    /// If the mapping has fewer subcarriers.
    pub fn draw(&mut self, gaussian: &mut Gaussian, count: usize) -> &[u16] {
        let first = match self.mapping {
            Mapping::Random => {
                self.shuffle(gaussian, count);
                0
            }
            Mapping::Comb => {
                self.space(gaussian, count);
                0
            }
            Mapping::Adjacent => self.below(gaussian, WIDTH + 1 - count),
            Mapping::Fusc | Mapping::Pusc | Mapping::Amc => {
                SLOT_SYMBOLS * self.below(gaussian, self.subcarriers.len() / 2 / SLOT_SYMBOLS)
            }
        };
        &self.subcarriers[first..][..count]
    }

    /// Shuffles the first `count` positions by the algorithm of Fisher and Yates.
    fn shuffle(&mut self, gaussian: &mut Gaussian, count: usize) {
        let words = &mut self.words[..count.div_ceil(2)];
        gaussian.words(words);
        let partners = &mut self.partners[..2 * words.len()];
        vectorised(
            #[inline(always)]
            || {
                for (pair, (&word, partners)) in
                    words.iter().zip(partners.as_chunks_mut::<2>().0).enumerate()
                {
                    let left = WIDTH - 2 * pair;
                    let places = [2 * pair, 2 * pair + 1];
                    let further = [scaled(word >> 32, left), scaled(word & 0xffff_ffff, left - 1)];
                    *partners = std::array::from_fn(|half| (places[half] + further[half]) as u16);
                }
            },
        );
        for (place, &partner) in partners[..count].iter().enumerate() {
            self.subcarriers.swap(place, usize::from(partner));
        }
    }

    /// Selects `count` subcarriers with equal distances except for rounding.
    fn space(&mut self, gaussian: &mut Gaussian, count: usize) {
        let offset = self.below(gaussian, WIDTH);
        for (place, subcarrier) in self.subcarriers[..count].iter_mut().enumerate() {
            *subcarrier = BAND.start + ((place * WIDTH + offset) / count) as u16;
        }
    }

    /// Returns a random integer below `bound`.
    fn below(&mut self, gaussian: &mut Gaussian, bound: usize) -> usize {
        gaussian.words(&mut self.words[..1]);
        scaled(self.words[0] >> 32, bound)
    }
}

/// Converts 32 random bits to an integer below `bound`. The bias is below `bound`/2³².
#[inline]
fn scaled(bits: u64, bound: usize) -> usize {
    ((bits * bound as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::rng::Stream;

    fn gaussian() -> Gaussian {
        Gaussian::new(&mut Stream::new(1, 0, "mapping"))
    }

    #[test]
    fn mapping_name_and_from_name_are_inverse() {
        for mapping in Mapping::ALL {
            assert_eq!(Mapping::from_name(mapping.name()), Some(mapping));
        }
    }

    #[test]
    fn subcarriers_repeat_only_across_ofdm_symbols() {
        for mapping in Mapping::ALL {
            let ofdm_symbols = match mapping {
                Mapping::Pusc => 2,
                Mapping::Amc => 3,
                _ => 1,
            };
            let (mut gaussian, mut mapper) = (gaussian(), Mapper::new(mapping));
            for count in [48, 96, 480, 480, 96] {
                let mut times = [0; USED];
                let subcarriers = mapper.draw(&mut gaussian, count);
                assert_eq!(subcarriers.len(), count);
                for &subcarrier in subcarriers {
                    times[usize::from(subcarrier)] += 1;
                }
                assert!(times.iter().all(|&times| times <= ofdm_symbols), "{mapping:?}");
            }
        }
    }

    #[test]
    fn comb_is_evenly_spaced_and_reaches_all_subcarriers() {
        let (mut gaussian, mut mapper) = (gaussian(), Mapper::new(Mapping::Comb));
        let mut first = [0u32; 9];
        let draws = 9000;
        for _ in 0..draws {
            let subcarriers = mapper.draw(&mut gaussian, 96);
            // 851 / 96 = 8.86.
            assert!(subcarriers.windows(2).all(|pair| (8..=9).contains(&(pair[1] - pair[0]))));
            assert!(subcarriers[95] < BAND.end);
            first[usize::from(subcarriers[0] - BAND.start)] += 1;
        }
        for (place, &count) in first.iter().enumerate() {
            let offsets = if place == 8 { 851 - 8 * 96 } else { 96 };
            let expected = f64::from(draws) * f64::from(offsets) / 851.0;
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{first:?}");
        }
    }

    #[test]
    fn random_subcarriers_are_uniform_at_all_positions() {
        let (mut gaussian, mut mapper) = (gaussian(), Mapper::new(Mapping::Random));
        let (draws, places) = (60_000, [0, 1, 47, 95]);
        let mut counts = vec![[0u32; WIDTH]; places.len()];
        for _ in 0..draws {
            let subcarriers = mapper.draw(&mut gaussian, 96);
            for (counts, &place) in counts.iter_mut().zip(&places) {
                counts[usize::from(subcarriers[place] - BAND.start)] += 1;
            }
        }
        let expected = f64::from(draws) / WIDTH as f64;
        for counts in counts {
            let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
            let chi_square: f64 = counts.iter().map(square).sum();
            // 850 degrees of freedom: standard deviation 41.
            assert!((chi_square - 850.0).abs() < 5.0 * 41.3, "{chi_square}");
        }
    }
}
