//! Maps bits to Gray-mapped QPSK, 16QAM and 64QAM symbols, and computes the log-likelihood ratios
//! of the bits at the receiver.
//!
//! The first half of a symbol's bits selects the in-phase amplitude, the second half the quadrature
//! amplitude, both by the same map. The mean energy of a symbol is 1.
//!
//! Source: IEEE 802.16-2009 §8.4.9.4 (constellations); phy-802.16-ctc §3. Max-log ratios are
//! differences of squared distances to the nearest points; exact ratios use sums over all points.

use crate::code::{Llr, quantised};

/// A modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modulation {
    /// 2 bits per symbol.
    Qpsk,
    /// 4 bits per symbol.
    Qam16,
    /// 6 bits per symbol.
    Qam64,
}

/// Algorithm by which a receiver computes the log-likelihood ratios of the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demapper {
    /// Uses the nearest point with the bit and the nearest point without the bit.
    #[default]
    MaxLog,
    /// Uses all points, combined pairwise by the formula of CML (Coded Modulation Library): max(a,
    /// b) + max(0, 0.24904·(2.50682 − |a − b|)).
    LinearLog,
}

/// Amplitudes of an axis before scaling, indexed by the bits of the axis; the first bit is the most
/// significant.
const QPSK: [f32; 2] = [1.0, -1.0];
pub(crate) const QAM16: [f32; 4] = [1.0, 3.0, -1.0, -3.0];
pub(crate) const QAM64: [f32; 8] = [3.0, 1.0, 5.0, 7.0, -3.0, -1.0, -5.0, -7.0];

impl Modulation {
    /// Returns the name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Modulation::Qpsk => "qpsk",
            Modulation::Qam16 => "16qam",
            Modulation::Qam64 => "64qam",
        }
    }

    /// Returns the number of bits per symbol.
    pub const fn bits(self) -> usize {
        2 * self.axis_bits()
    }

    /// Returns the number of bits per axis.
    pub const fn axis_bits(self) -> usize {
        match self {
            Modulation::Qpsk => 1,
            Modulation::Qam16 => 2,
            Modulation::Qam64 => 3,
        }
    }

    /// Returns the amplitudes of an axis before scaling.
    const fn amplitudes(self) -> &'static [f32] {
        match self {
            Modulation::Qpsk => &QPSK,
            Modulation::Qam16 => &QAM16,
            Modulation::Qam64 => &QAM64,
        }
    }

    /// Returns the factor that normalises the mean energy of a symbol to 1.
    pub fn scale(self) -> f32 {
        let energy = match self {
            Modulation::Qpsk => 2.0f32,
            Modulation::Qam16 => 10.0,
            Modulation::Qam64 => 42.0,
        };
        energy.sqrt().recip()
    }

    /// Writes the amplitudes of the axes, in-phase and quadrature alternating: one per
    /// [`axis_bits`](Modulation::axis_bits) of `bits`.
    ///
    /// # Panics
    ///
    /// If `bits` is not a multiple of the bits per axis, or `axes` has another length than the
    /// number of axes.
    pub fn map(self, bits: &[bool], axes: &mut [f32]) {
        assert_eq!(bits.len(), axes.len() * self.axis_bits(), "bits fill the axes");
        let scale = self.scale();
        for (bits, axis) in bits.chunks_exact(self.axis_bits()).zip(axes) {
            let index = bits.iter().fold(0, |index, &bit| index << 1 | usize::from(bit));
            *axis = scale * self.amplitudes()[index];
        }
    }

    /// Computes the max-log ratios of the bits of one axis.
    ///
    /// `received` is |h|·x + w, `gain` is |h|, and `snr` is Es/N0 (linear); the noise w has the
    /// variance 1/(2·snr). The ratio is a piecewise linear function of received/|h|, whose slope
    /// changes where another point becomes the nearest.
    pub fn demap(self, received: f32, gain: f32, snr: f32, llrs: &mut [Llr]) {
        // Half the distance between neighbouring points.
        let unit = gain * self.scale();
        let weight = 4.0 * snr * unit;
        let quantise = |(llr, ratio): (&mut Llr, f32)| *llr = quantised(ratio);
        match self {
            Modulation::Qpsk => {
                llrs.iter_mut().zip(qpsk(received, unit, weight)).for_each(quantise)
            }
            Modulation::Qam16 => {
                llrs.iter_mut().zip(qam16(received, unit, weight)).for_each(quantise);
            }
            Modulation::Qam64 => {
                llrs.iter_mut().zip(qam64(received, unit, weight)).for_each(quantise);
            }
        }
    }

    /// Computes the exact ratios of the bits of one axis, with sums over all points. Arguments as
    /// for [`demap`](Modulation::demap).
    pub fn demap_exact(self, received: f32, gain: f32, snr: f32, llrs: &mut [Llr]) {
        let bits = self.axis_bits();
        for (bit, llr) in llrs.iter_mut().enumerate() {
            let total = |wanted: bool| {
                let is_wanted = |index: &usize| (index >> (bits - 1 - bit) & 1 == 1) == wanted;
                (0..1 << bits)
                    .filter(is_wanted)
                    .map(|index| self.metric(index, received, gain, snr))
                    .reduce(log_of_sum)
                    .expect("half of the points have the bit")
            };
            *llr = quantised(total(true) - total(false));
        }
    }

    /// Returns −(Es/N0)·(y − |h|·x)² for the point of `index`.
    fn metric(self, index: usize, received: f32, gain: f32, snr: f32) -> f32 {
        let distance = received - gain * self.scale() * self.amplitudes()[index];
        -snr * distance * distance
    }
}

/// Returns the max-log ratios of a QPSK axis, in natural units. `unit` is half the distance between
/// neighbouring points, `weight` is 4·(Es/N0)·`unit`.
#[inline(always)]
pub(crate) fn qpsk(y: f32, _unit: f32, weight: f32) -> [f32; 1] {
    [-weight * y]
}

/// Returns the max-log ratios of a 16QAM axis; arguments as for [`qpsk`]. The points are 1, 3 | −1,
/// −3; the second bit is 1 outside ±2.
#[inline(always)]
pub(crate) fn qam16(y: f32, unit: f32, weight: f32) -> [f32; 2] {
    let outside = y.abs() - 2.0 * unit;
    let sign_sum = y.abs() + outside.max(0.0);
    [-weight * sign_sum.copysign(y), weight * outside]
}

/// Returns the max-log ratios of a 64QAM axis; arguments as for [`qpsk`]. The points are 3, 1, 5, 7
/// and their mirror images. The second bit is 1 outside ±4; the third bit is 1 between 0 and 2 and
/// above 6.
#[inline(always)]
pub(crate) fn qam64(y: f32, unit: f32, weight: f32) -> [f32; 3] {
    let y_abs = y.abs();
    let beyond = |edge: f32| (y_abs - edge * unit).max(0.0);
    let sign_sum = y_abs + beyond(2.0) + beyond(4.0) + beyond(6.0);
    let from_four = y_abs - 4.0 * unit;
    let bend = (from_four.abs() - 2.0 * unit).max(0.0);
    [
        -weight * sign_sum.copysign(y),
        weight * (from_four + bend.copysign(from_four)),
        weight * (from_four.abs() - 2.0 * unit),
    ]
}

/// Returns the linear-log ratios of an axis with points at `amplitudes`, in natural units; `unit`
/// and `weight` as for [`qam16`].
#[inline(always)]
pub(crate) fn linear_log<const BITS: usize>(
    y: f32,
    unit: f32,
    weight: f32,
    amplitudes: &[f32],
) -> [f32; BITS] {
    // −(Es/N0)·(y − unit·x)² without the term in y², which is equal for all points.
    let metric = |index: usize| {
        let x = amplitudes[index];
        weight * x * (0.5 * y - 0.25 * unit * x)
    };
    std::array::from_fn(|bit| {
        let mask = 1 << (BITS - 1 - bit);
        let (mut with, mut without) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        for index in 0..1 << BITS {
            if index & mask == 0 {
                without = max_star(metric(index), without);
            } else {
                with = max_star(metric(index), with);
            }
        }
        with - without
    })
}

/// Returns max*(a, b), an approximation of log(exp a + exp b); `b` may be −∞.
#[inline(always)]
fn max_star(a: f32, b: f32) -> f32 {
    a.max(b) + (0.249_04 * (2.506_82 - (a - b).abs())).max(0.0)
}

/// Returns log(exp a + exp b).
fn log_of_sum(a: f32, b: f32) -> f32 {
    a.max(b) + libm::log1pf(libm::expf(-(a - b).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::LLR_LIMIT;
    use proptest::prelude::*;

    const ALL: [Modulation; 3] = [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64];

    /// Checks the map against `amplitudes` in the order of the bits' values.
    fn assert_map(modulation: Modulation, amplitudes: &[f32], energy: f32) {
        let count = modulation.axis_bits();
        for (value, amplitude) in amplitudes.iter().enumerate() {
            let bits: Vec<bool> = (0..count).rev().map(|bit| value >> bit & 1 == 1).collect();
            let mut axis = [0.0];
            modulation.map(&bits, &mut axis);
            assert!((axis[0] - amplitude / energy.sqrt()).abs() < 1e-6, "{modulation:?} {value}");
        }
    }

    #[test]
    fn maps_match_section_8_4_9_4() {
        assert_map(Modulation::Qpsk, &[1.0, -1.0], 2.0);
        assert_map(Modulation::Qam16, &[1.0, 3.0, -1.0, -3.0], 10.0);
        assert_map(Modulation::Qam64, &[3.0, 1.0, 5.0, 7.0, -3.0, -1.0, -5.0, -7.0], 42.0);
    }

    #[test]
    fn neighbours_differ_in_one_bit_and_the_mean_energy_is_one() {
        for modulation in ALL {
            let mut points: Vec<(f32, usize)> = modulation
                .amplitudes()
                .iter()
                .enumerate()
                .map(|(index, &amplitude)| (amplitude * modulation.scale(), index))
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(points.windows(2).all(|pair| (pair[0].1 ^ pair[1].1).is_power_of_two()));
            let energy: f32 = points.iter().map(|point| point.0 * point.0).sum();
            assert!((2.0 * energy / points.len() as f32 - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn map_writes_in_phase_axis_first() {
        let mut axes = [0.0; 2];
        Modulation::Qam16.map(&[false, true, true, false], &mut axes);
        assert_eq!(axes.map(|axis| (axis * 10f32.sqrt()).round()), [3.0, -1.0]);
    }

    /// Returns the ratio by definition: the best point with the bit minus the best point without.
    fn max_log(modulation: Modulation, received: f32, gain: f32, snr: f32, bit: usize) -> f32 {
        let bits = modulation.axis_bits();
        let best = |wanted: usize| {
            (0..1usize << bits)
                .filter(|index| index >> (bits - 1 - bit) & 1 == wanted)
                .map(|index| modulation.metric(index, received, gain, snr))
                .fold(f32::NEG_INFINITY, f32::max)
        };
        best(1) - best(0)
    }

    proptest! {
        #[test]
        fn max_log_ratios_match_definition(
            received in -3f32..3.0,
            gain in 0.01f32..2.0,
            snr_db in -5f32..30.0,
        ) {
            let snr = 10f32.powf(snr_db / 10.0);
            for modulation in ALL {
                let mut llrs = [0; 3];
                let llrs = &mut llrs[..modulation.axis_bits()];
                modulation.demap(received, gain, snr, llrs);
                for (bit, &llr) in llrs.iter().enumerate() {
                    let exact = max_log(modulation, received, gain, snr, bit);
                    // Near ties, the two formulas may round in different directions.
                    prop_assert!((i32::from(llr) - i32::from(quantised(exact))).abs() <= 1,
                        "{modulation:?} bit {bit}: {llr}, {exact}");
                }
            }
        }

        #[test]
        fn exact_ratios_approach_max_log_for_strong_signals(
            received in -1.5f32..1.5,
        ) {
            for modulation in ALL {
                let (mut near, mut exact) = ([0; 3], [0; 3]);
                let bits = modulation.axis_bits();
                modulation.demap(received, 1.0, 1000.0, &mut near[..bits]);
                modulation.demap_exact(received, 1.0, 1000.0, &mut exact[..bits]);
                for bit in 0..bits {
                    prop_assert!((near[bit] - exact[bit]).abs() <= 12, "{near:?} {exact:?}");
                }
            }
        }
    }

    /// Each max* operation of the linear approximation is within 0.07 of log(exp a + exp b). A
    /// ratio uses up to six such operations.
    #[test]
    fn linear_log_ratios_approximate_exact_ratios() {
        for (modulation, snr) in [(Modulation::Qam16, 4.0), (Modulation::Qam64, 20.0)] {
            let unit = modulation.scale();
            for step in -200..=200 {
                let y = 0.01 * step as f32;
                let (mut exact, mut found) = ([0; 3], [0.0; 3]);
                modulation.demap_exact(y, 1.0, snr, &mut exact[..modulation.axis_bits()]);
                if modulation == Modulation::Qam16 {
                    let ratios = linear_log::<2>(y, unit, 4.0 * snr * unit, &QAM16);
                    found[..2].copy_from_slice(&ratios);
                } else {
                    found = linear_log(y, unit, 4.0 * snr * unit, &QAM64);
                }
                for (exact, found) in exact.into_iter().zip(found) {
                    let limit = f32::from(LLR_LIMIT) / 8.0;
                    let difference = f32::from(exact) / 8.0 - found.clamp(-limit, limit);
                    assert!(difference.abs() < 0.3, "{modulation:?} {y}: {exact} {found}");
                }
            }
        }
    }

    #[test]
    fn exact_ratio_of_qpsk_is_linear() {
        // −4·(Es/N0)·y/√2 is −2.83 at 0 dB and y = 1; in eighths −22.6.
        let mut llr = [0];
        Modulation::Qpsk.demap_exact(1.0, 1.0, 1.0, &mut llr);
        assert_eq!(llr, [-23]);
    }
}
