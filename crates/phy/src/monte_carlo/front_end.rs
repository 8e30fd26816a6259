//! Computes the received log-likelihood ratios of a block from the coded bits of 64 blocks: maps,
//! applies fading, adds noise, demaps.

use crate::code::ctc::Algorithm;
use crate::code::{Llr, quantised};
use crate::gaussian::LANES;
use crate::mcs::{Mcs, SLOT_SYMBOLS};
use crate::modulation::{Demapper, Modulation, QAM16, QAM64, linear_log, qam16, qam64, qpsk};
use crate::vectorised::vectorised;

/// Strength to which stronger blocks are scaled down. Without scaling, most received and extrinsic
/// ratios of a strong block would be clipped at their limits, and could no longer correct its weak
/// symbols. The ratios of a scaled block are well below the limits, but still many quantisation
/// steps.
const STRONGEST: f32 = 8.0;

/// Modulated symbols of 64 blocks.
#[derive(Clone, Debug)]
pub(super) struct FrontEnd {
    modulation: Modulation,
    demapper: Demapper,
    symbols: usize,
    snr: f32,
    /// Strength to which stronger blocks are scaled down.
    strongest: f32,
    /// Coded bits of the first and of the last 32 blocks, indexed by bit of an axis, axis and
    /// symbol.
    planes: [Vec<u32>; 2],
}

/// A received block: its index among the 64 blocks, and the gains and noise of the channel.
#[derive(Clone, Copy)]
struct Received<'a> {
    block: usize,
    gains: &'a [f32],
    noise: &'a [f32],
}

impl FrontEnd {
    /// Creates the front end for blocks of `mcs` at the Es/N0 `snr` (linear), decoded by
    /// `algorithm`. Strong blocks may be scaled down for max-log decoding, which does not depend on
    /// the scale of the ratios.
    pub(super) fn new(mcs: Mcs, snr: f32, demapper: Demapper, algorithm: Algorithm) -> FrontEnd {
        let strongest = match algorithm {
            Algorithm::MaxLog => STRONGEST,
            Algorithm::LinearLog => f32::INFINITY,
        };
        let planes = [vec![0; mcs.coded_bits()], vec![0; mcs.coded_bits()]];
        let (modulation, symbols) = (mcs.modulation, mcs.symbols());
        FrontEnd { modulation, demapper, symbols, snr, strongest, planes }
    }

    /// Loads the coded bits of 64 blocks.
    pub(super) fn load(&mut self, coded: &[u64]) {
        let bits = self.modulation.axis_bits();
        for (place, &word) in coded.iter().enumerate() {
            let (axis, bit) = (place / bits, place % bits);
            let to = (2 * bit + axis % 2) * self.symbols + axis / 2;
            self.planes[0][to] = word as u32;
            self.planes[1][to] = (word >> 32) as u32;
        }
    }

    /// Computes the ratios of the block at index `block` of the 64 blocks. `gains` contains one
    /// gain per symbol. `noise` contains standard normal numbers, first those of all in-phase axes,
    /// then those of all quadrature axes.
    pub(super) fn receive(&self, block: usize, gains: &[f32], noise: &[f32], llrs: &mut [Llr]) {
        use Demapper::{LinearLog, MaxLog};
        use Modulation::{Qam16, Qam64, Qpsk};
        vectorised(
            #[inline(always)]
            || {
                let factor = (self.strongest / self.strength(gains)).min(1.0);
                let whole = 4.0 * self.snr;
                let weight = whole * factor;
                let received = Received { block, gains, noise };
                match (self.modulation, self.demapper) {
                    (Qpsk, _) => self.receive_as(received, llrs, qpsk_point, |y, unit| {
                        qpsk(y, unit, weight * unit)
                    }),
                    (Qam16, MaxLog) => self.receive_as(received, llrs, qam16_point, |y, unit| {
                        qam16(y, unit, weight * unit)
                    }),
                    (Qam64, MaxLog) => self.receive_as(received, llrs, qam64_point, |y, unit| {
                        qam64(y, unit, weight * unit)
                    }),
                    (Qam16, LinearLog) => {
                        self.receive_as(received, llrs, qam16_point, |y, unit| {
                            linear_log(y, unit, whole * unit, &QAM16).map(|ratio| factor * ratio)
                        });
                    }
                    (Qam64, LinearLog) => {
                        self.receive_as(received, llrs, qam64_point, |y, unit| {
                            linear_log(y, unit, whole * unit, &QAM64).map(|ratio| factor * ratio)
                        });
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn receive_as<const BITS: usize>(
        &self,
        Received { block, gains, noise }: Received<'_>,
        llrs: &mut [Llr],
        point: impl Fn([u32; BITS]) -> f32,
        ratios: impl Fn(f32, f32) -> [f32; BITS],
    ) {
        let (planes, shift) = (&self.planes[block / 32], block as u32 % 32);
        let (scale, deviation) = (self.modulation.scale(), (0.5 / self.snr).sqrt());
        for first in (0..self.symbols).step_by(SLOT_SYMBOLS) {
            let gains: &[f32; SLOT_SYMBOLS] = slot(gains, first);
            let mut found = [[[0; SLOT_SYMBOLS]; BITS]; 2];
            for (axis, found) in found.iter_mut().enumerate() {
                let noise: &[f32; SLOT_SYMBOLS] = slot(noise, axis * self.symbols + first);
                let planes: [&[u32; SLOT_SYMBOLS]; BITS] = std::array::from_fn(|bit| {
                    slot(planes, (2 * bit + axis) * self.symbols + first)
                });
                for symbol in 0..SLOT_SYMBOLS {
                    let bits = planes.map(|plane| plane[symbol] >> shift & 1);
                    let unit = gains[symbol] * scale;
                    let received = unit * point(bits) + deviation * noise[symbol];
                    let ratios = ratios(received, unit);
                    for bit in 0..BITS {
                        found[bit][symbol] = quantised(ratios[bit]);
                    }
                }
            }
            let rows =
                llrs[2 * BITS * first..][..2 * BITS * SLOT_SYMBOLS].chunks_exact_mut(2 * BITS);
            for (symbol, row) in rows.enumerate() {
                for axis in 0..2 {
                    for bit in 0..BITS {
                        row[axis * BITS + bit] = found[axis][bit][symbol];
                    }
                }
            }
        }
    }

    /// Returns the strength of a block: the mean over its symbols of the ratio at half the distance
    /// between neighbouring points, in natural units. The sums are computed in lanes, so that they
    /// are equal on every machine.
    #[inline(always)]
    fn strength(&self, gains: &[f32]) -> f32 {
        let mut sums = [0.0; LANES];
        for gains in gains.chunks_exact(LANES) {
            for (sum, gain) in sums.iter_mut().zip(gains) {
                *sum += gain * gain;
            }
        }
        let mean = sums.iter().sum::<f32>() / self.symbols as f32;
        4.0 * self.snr * self.modulation.scale().powi(2) * mean
    }
}

/// Returns the values of the symbols of one slot, starting at index `first`.
#[inline(always)]
fn slot<T>(numbers: &[T], first: usize) -> &[T; SLOT_SYMBOLS] {
    numbers[first..][..SLOT_SYMBOLS].try_into().expect("a slot")
}

/// Returns `magnitude`, negated if the bit is 1.
#[inline(always)]
fn signed(magnitude: i32, sign: u32) -> f32 {
    f32::from_bits((magnitude as f32).to_bits() ^ sign << 31)
}

/// Returns an amplitude of `Modulation::map` before scaling.
#[inline(always)]
fn qpsk_point([sign]: [u32; 1]) -> f32 {
    signed(1, sign)
}

#[inline(always)]
fn qam16_point([sign, inner]: [u32; 2]) -> f32 {
    signed(1 + 2 * inner as i32, sign)
}

#[inline(always)]
fn qam64_point([sign, outer, inner]: [u32; 3]) -> f32 {
    signed(4 + (2 * outer as i32 - 1) * (1 + 2 * inner as i32), sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::LLR_LIMIT;
    use crate::gaussian::Gaussian;
    use crate::mcs::MCSS;
    use airpath_core::rng::Stream;

    /// Compares all blocks with the modulation's own map and demapper, symbol by symbol.
    #[test]
    fn receive_matches_map_and_demap_per_symbol() {
        let snr = 20.0;
        for mcs in [MCSS[1], MCSS[3], MCSS[6]] {
            let mut gaussian = Gaussian::new(&mut Stream::new(1, 0, &mcs.name()));
            let mut front_end = FrontEnd::new(mcs, snr, Demapper::MaxLog, Algorithm::LinearLog);
            let mut coded = vec![0; mcs.coded_bits()];
            gaussian.words(&mut coded);
            front_end.load(&coded);
            let symbols = mcs.symbols();
            let (mut gains, mut noise) = (vec![0.0; symbols], vec![0.0; 2 * symbols]);
            let mut llrs = vec![0; mcs.coded_bits()];
            for block in 0..64 {
                gaussian.fill(&mut gains);
                gains.iter_mut().for_each(|gain| *gain = gain.abs());
                gaussian.fill(&mut noise);
                front_end.receive(block, &gains, &noise, &mut llrs);
                let bits: Vec<bool> = coded.iter().map(|word| word >> block & 1 == 1).collect();
                let mut axes = vec![0.0; 2 * symbols];
                mcs.modulation.map(&bits, &mut axes);
                let found = llrs.chunks(mcs.modulation.axis_bits());
                for ((axis, sent), found) in axes.into_iter().enumerate().zip(found) {
                    let (symbol, half) = (axis / 2, axis % 2);
                    let received =
                        gains[symbol] * sent + (0.5 / snr).sqrt() * noise[half * symbols + symbol];
                    let mut wanted = [0; 3];
                    let wanted = &mut wanted[..found.len()];
                    mcs.modulation.demap(received, gains[symbol], snr, wanted);
                    for (found, wanted) in found.iter().zip(wanted) {
                        // The products are rounded in a different order.
                        assert!((found - *wanted).abs() <= 1, "{}: {found} {wanted}", mcs.name());
                    }
                }
            }
        }
    }

    /// Returns the ratios of a block of random bits for both algorithms, with independent Rayleigh
    /// fading of its symbols, and its strength.
    fn received(
        mcs: Mcs,
        snr: f32,
        demapper: Demapper,
        gaussian: &mut Gaussian,
    ) -> ([Vec<Llr>; 2], f32) {
        let symbols = mcs.symbols();
        let mut coded = vec![0; mcs.coded_bits()];
        let (mut parts, mut noise) = (vec![0.0; 2 * symbols], vec![0.0; 2 * symbols]);
        gaussian.words(&mut coded);
        gaussian.fill(&mut parts);
        gaussian.fill(&mut noise);
        let (re, im) = parts.split_at(symbols);
        let gains: Vec<f32> =
            re.iter().zip(im).map(|(re, im)| (0.5 * (re * re + im * im)).sqrt()).collect();
        let llrs = [Algorithm::LinearLog, Algorithm::MaxLog].map(|algorithm| {
            let mut front_end = FrontEnd::new(mcs, snr, demapper, algorithm);
            front_end.load(&coded);
            let mut llrs = vec![0; mcs.coded_bits()];
            front_end.receive(0, &gains, &noise, &mut llrs);
            llrs
        });
        let power: f32 = gains.iter().map(|gain| gain * gain).sum();
        (llrs, 4.0 * snr * mcs.modulation.scale().powi(2) * power / symbols as f32)
    }

    #[test]
    fn strong_blocks_are_scaled_uniformly() {
        for mcs in MCSS {
            let mut gaussian = Gaussian::new(&mut Stream::new(2, 0, &mcs.name()));
            let demappers = [Demapper::MaxLog, Demapper::LinearLog];
            let snrs_db = [0.0, 10.0, 20.0, 30.0];
            for (snr_db, demapper) in
                snrs_db.into_iter().flat_map(|snr_db| demappers.map(|demapper| (snr_db, demapper)))
            {
                let snr = 10f32.powf(snr_db / 10.0);
                let ([whole, weakened], strength) = received(mcs, snr, demapper, &mut gaussian);
                let factor = (STRONGEST / strength).min(1.0);
                for (whole, weakened) in whole.iter().zip(&weakened) {
                    let (whole, weakened) = (f32::from(*whole), f32::from(*weakened));
                    let is_limited = whole.abs() == f32::from(LLR_LIMIT);
                    let expected = factor * whole;
                    let difference = weakened - expected;
                    let further = if is_limited { difference * whole.signum() } else { 0.0 };
                    assert!(
                        difference.abs() <= 0.51 * (1.0 + factor) || further > 0.0,
                        "{}, {snr_db} dB: {whole} {weakened} {expected}",
                        mcs.name()
                    );
                }
                if factor == 1.0 {
                    assert_eq!(whole, weakened);
                }
            }
        }
    }

    /// Without scaling, the ratios of all except the weakest subcarriers are clipped.
    #[test]
    fn scaling_prevents_clipping_of_smallest_ratios() {
        for mcs in MCSS {
            let mut gaussian = Gaussian::new(&mut Stream::new(3, 0, &mcs.name()));
            for _ in 0..100 {
                let ([whole, weakened], _) = received(mcs, 1e4, Demapper::MaxLog, &mut gaussian);
                let limited = |llrs: &[Llr]| {
                    let last = llrs.iter().skip(mcs.modulation.axis_bits() - 1);
                    last.step_by(mcs.modulation.axis_bits())
                        .filter(|llr| llr.abs() == LLR_LIMIT)
                        .count() as f64
                        / (2 * mcs.symbols()) as f64
                };
                assert!(limited(&whole) > 0.5 && limited(&weakened) < 0.05);
            }
        }
    }
}
