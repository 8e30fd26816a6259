//! From coded words of 64 blocks to one block's received ratios: map, fade, add noise, demap.

use crate::code::{Llr, quantised};
use crate::mcs::{Mcs, SLOT_SYMBOLS};
use crate::modulation::{Modulation, qam16, qam64, qpsk};
use crate::vectorised::vectorised;

/// Symbols of one modulation for 64 blocks.
#[derive(Clone, Debug)]
pub(super) struct FrontEnd {
    modulation: Modulation,
    symbols: usize,
    snr: f32,
    /// Coded bits of the first and of the last 32 blocks: by place in an axis, axis and symbol.
    planes: [Vec<u32>; 2],
}

impl FrontEnd {
    /// For blocks of `mcs` at the Es/N0 `snr` (linear).
    pub(super) fn new(mcs: Mcs, snr: f32) -> FrontEnd {
        let planes = [vec![0; mcs.coded_bits()], vec![0; mcs.coded_bits()]];
        let (modulation, symbols) = (mcs.modulation, mcs.symbols());
        FrontEnd { modulation, symbols, snr, planes }
    }

    /// Takes the coded bits of 64 blocks.
    pub(super) fn load(&mut self, coded: &[u64]) {
        let bits = self.modulation.axis_bits();
        for (place, &word) in coded.iter().enumerate() {
            let (axis, bit) = (place / bits, place % bits);
            let to = (2 * bit + axis % 2) * self.symbols + axis / 2;
            self.planes[0][to] = word as u32;
            self.planes[1][to] = (word >> 32) as u32;
        }
    }

    /// The ratios of block `block` of the 64 after a channel with `gains`, one per symbol, and
    /// standard normal `noise`, one per symbol for the in-phase, then for the quadrature axes.
    pub(super) fn receive(&self, block: usize, gains: &[f32], noise: &[f32], llrs: &mut [Llr]) {
        vectorised(
            #[inline(always)]
            || match self.modulation {
                Modulation::Qpsk => self.receive_as(block, gains, noise, llrs, qpsk_point, qpsk),
                Modulation::Qam16 => self.receive_as(block, gains, noise, llrs, qam16_point, qam16),
                Modulation::Qam64 => self.receive_as(block, gains, noise, llrs, qam64_point, qam64),
            },
        );
    }

    #[inline(always)]
    fn receive_as<const BITS: usize>(
        &self,
        block: usize,
        gains: &[f32],
        noise: &[f32],
        llrs: &mut [Llr],
        point: impl Fn([u32; BITS]) -> f32,
        ratios: impl Fn(f32, f32, f32) -> [f32; BITS],
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
                    let ratios = ratios(received, unit, 4.0 * self.snr * unit);
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
}

/// The numbers of a slot's symbols from `first` on.
#[inline(always)]
fn slot<T>(numbers: &[T], first: usize) -> &[T; SLOT_SYMBOLS] {
    numbers[first..][..SLOT_SYMBOLS].try_into().expect("a slot")
}

/// `magnitude`, negative if the bit is 1.
#[inline(always)]
fn signed(magnitude: i32, sign: u32) -> f32 {
    f32::from_bits((magnitude as f32).to_bits() ^ sign << 31)
}

/// The amplitudes of `Modulation::map` before scaling.
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
    use crate::gaussian::Gaussian;
    use crate::mcs::MCSS;
    use airpath_core::rng::Stream;

    /// Every block, against the modulation's own map and demapper symbol by symbol.
    #[test]
    fn blocks_are_mapped_and_demapped_as_one_by_one() {
        let snr = 20.0;
        for mcs in [MCSS[1], MCSS[3], MCSS[6]] {
            let mut gaussian = Gaussian::new(&mut Stream::new(1, 0, &mcs.name()));
            let mut front_end = FrontEnd::new(mcs, snr);
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
                        // The products are rounded in another order.
                        assert!((found - *wanted).abs() <= 1, "{}: {found} {wanted}", mcs.name());
                    }
                }
            }
        }
    }
}
