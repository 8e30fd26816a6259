//! Generates standard normal random numbers with vector instructions.
//!
//! Sources: G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates",
//! 1958; uniform numbers from xoshiro256++ (Blackman & Vigna 2019), in parallel in [`LANES`] lanes.
//! Logarithm, sine and cosine are implemented here as series that use only additions, products,
//! quotients and roots. Therefore the numbers are the same on every machine and at every vector
//! width.
//!
//! The radius has 30 random bits. Therefore no number exceeds 6.56 in magnitude; the normal
//! distribution exceeds this value with a probability of 5e-11.

use crate::vectorised::vectorised;
use airpath_core::rng::Stream;
use std::f32::consts::{FRAC_PI_4, LN_2, SQRT_2};

/// Number of parallel generators.
pub const LANES: usize = 16;

/// Number of random words that are generated at a time, before their conversion to normal numbers.
const BUFFER: usize = 32 * LANES;

/// A source of normal numbers and of random words.
#[derive(Clone, Debug)]
pub struct Gaussian {
    state: [[u64; LANES]; 4],
    buffer: Box<[u64; BUFFER]>,
}

impl Gaussian {
    /// Creates generators with seeds from `stream`.
    pub fn new(stream: &mut Stream) -> Gaussian {
        let mut word = || stream.next_u64();
        let state = std::array::from_fn(|_| std::array::from_fn(|_| word()));
        Gaussian { state, buffer: Box::new([0; BUFFER]) }
    }

    /// Fills `numbers` with independent standard normal numbers.
    pub fn fill(&mut self, numbers: &mut [f32]) {
        let Gaussian { state, buffer } = self;
        vectorised(
            #[inline(always)]
            || {
                for chunk in numbers.chunks_mut(2 * BUFFER) {
                    let words = &mut buffer[..chunk.len().div_ceil(2)];
                    fill_words(state, words);
                    normal_pairs(words, chunk);
                }
            },
        );
    }

    /// Fills `words` with random bits.
    pub fn words(&mut self, words: &mut [u64]) {
        let state = &mut self.state;
        vectorised(
            #[inline(always)]
            || fill_words(state, words),
        );
    }
}

/// Fills `words`; the rest of an incomplete last step is discarded.
#[inline(always)]
fn fill_words(state: &mut [[u64; LANES]; 4], words: &mut [u64]) {
    for chunk in words.chunks_mut(LANES) {
        let next = next(state);
        match <&mut [u64; LANES]>::try_from(&mut *chunk) {
            Ok(chunk) => *chunk = next,
            Err(_) => chunk.copy_from_slice(&next[..chunk.len()]),
        }
    }
}

/// Returns the next word of every lane.
#[inline(always)]
fn next([s0, s1, s2, s3]: &mut [[u64; LANES]; 4]) -> [u64; LANES] {
    let mut words = [0; LANES];
    for lane in 0..LANES {
        words[lane] = s0[lane].wrapping_add(s3[lane]).rotate_left(23).wrapping_add(s0[lane]);
        let shifted = s1[lane] << 17;
        s2[lane] ^= s0[lane];
        s3[lane] ^= s1[lane];
        s1[lane] ^= s2[lane];
        s0[lane] ^= s3[lane];
        s2[lane] ^= shifted;
        s3[lane] = s3[lane].rotate_left(45);
    }
    words
}

/// Computes two normal numbers from every word, one for each half of `numbers`; the second half may
/// be shorter by one.
#[inline(always)]
fn normal_pairs(words: &[u64], numbers: &mut [f32]) {
    let (first, second) = numbers.split_at_mut(words.len());
    let whole = second.len();
    for ((&word, first), second) in words.iter().zip(first.iter_mut()).zip(second) {
        [*first, *second] = normal_pair(word);
    }
    if let (Some(&word), Some(first)) = (words.get(whole), first.get_mut(whole)) {
        [*first, _] = normal_pair(word);
    }
}

/// Computes two normal numbers: the upper half of the word determines the radius, the lower half
/// the angle.
#[inline(always)]
fn normal_pair(word: u64) -> [f32; 2] {
    let (upper, lower) = ((word >> 32) as u32, word as u32);
    // Odd multiples of 2⁻³¹: the midpoints of 2³⁰ equal parts of (0, 1).
    let uniform = ((upper >> 1) | 1) as i32 as f32 * (1.0 / (1u32 << 31) as f32);
    let radius = (-2.0 * ln(uniform)).sqrt();
    // An angle in ±π/4 around one of the four half axes; the two lowest bits select the half axis.
    let angle = (lower as i32 >> 2) as f32 * (FRAC_PI_4 / (1u32 << 29) as f32);
    let (sine, cosine) = sin_cos(angle);
    let along = f32::from_bits((radius * cosine).to_bits() ^ lower << 31);
    let across = radius * sine;
    if lower & 2 == 2 { [across, along] } else { [along, across] }
}

/// Returns the natural logarithm of a positive normal number, to a few parts in 10⁷ of the larger
/// of 1 and the result: ln m = 2·artanh((m − 1)/(m + 1)) for the mantissa m in [1/√2, √2).
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    // Adding the difference of the bit patterns of 1 and 1/√2 increments the exponent exactly if
    // the mantissa is at least √2.
    const BIAS: u32 = 1f32.to_bits() - (SQRT_2 / 2.0).to_bits();
    let bits = x.to_bits() + BIAS;
    let exponent = (bits >> 23) as i32 - 127;
    let mantissa = f32::from_bits((bits & 0x007f_ffff) + (SQRT_2 / 2.0).to_bits());
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    let series = ((z * (1.0 / 9.0) + 1.0 / 7.0) * z + 1.0 / 5.0) * z + 1.0 / 3.0;
    exponent as f32 * LN_2 + 2.0 * (s + s * z * series)
}

/// Returns sine and cosine of an angle in ±π/4 by Taylor series.
#[inline(always)]
fn sin_cos(x: f32) -> (f32, f32) {
    let z = x * x;
    let sine = ((z * (1.0 / 362_880.0) - 1.0 / 5_040.0) * z + 1.0 / 120.0) * z - 1.0 / 6.0;
    let cosine = ((z * (1.0 / 40_320.0) - 1.0 / 720.0) * z + 1.0 / 24.0) * z - 0.5;
    (x + x * z * sine, 1.0 + z * cosine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    #[test]
    fn logarithm_and_trigonometry_match_libm() {
        for step in 1..=100_000u32 {
            let x = step as f32 / 100_000.0;
            let exact = libm::log(f64::from(x));
            assert!((f64::from(ln(x)) - exact).abs() < 3e-7 * exact.abs().max(1.0), "ln {x}");
            let angle = (2.0 * x - 1.0) * FRAC_PI_4;
            let (sine, cosine) = sin_cos(angle);
            assert!((f64::from(sine) - libm::sin(f64::from(angle))).abs() < 2e-7, "sin {angle}");
            assert!((f64::from(cosine) - libm::cos(f64::from(angle))).abs() < 2e-7, "cos {angle}");
        }
        for exponent in 1..=31 {
            let x = 0.5f32.powi(exponent);
            assert!((ln(x) + exponent as f32 * LN_2).abs() < 1e-6 * exponent as f32);
        }
    }

    #[test]
    fn fill_accepts_any_length() {
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 100] {
            let mut numbers = vec![f32::NAN; length];
            Gaussian::new(&mut Stream::new(1, 0, "length")).fill(&mut numbers);
            assert!(numbers.iter().all(|number| number.is_finite()));
        }
    }

    const NORMAL: Law = Law {
        area: "Statistics",
        source: "The standard normal law: moments and tails",
        allows: "five standard deviations of 6.4e7 draws",
    };

    /// Tail probabilities P(|x| > edge), by edge.
    const TAILS: [(f32, f64); 6] = [
        (0.1, 0.920_344_325),
        (1.0, 0.317_310_508),
        (2.0, 4.550_026_39e-2),
        (3.0, 2.699_796_06e-3),
        (4.0, 6.334_248_37e-5),
        (5.0, 5.733_031_44e-7),
    ];

    #[test]
    fn moments_and_tails_are_normal() {
        let mut gaussian = Gaussian::new(&mut Stream::new(1, 0, "tails"));
        let mut numbers = vec![0f32; 64_000];
        let mut sums = [0f64; 5];
        let mut beyond = [0u64; TAILS.len()];
        let draws = 1000 * numbers.len();
        for _ in 0..1000 {
            gaussian.fill(&mut numbers);
            for &number in &numbers {
                let x = f64::from(number);
                let square = x * x;
                for (sum, power) in sums.iter_mut().zip([x, square, x * square, square * square]) {
                    *sum += power;
                }
            }
            let (first, second) = numbers[..2 * BUFFER].split_at(BUFFER);
            for (x, y) in first.iter().zip(second) {
                sums[4] += f64::from(x * y);
            }
            for (count, (edge, _)) in beyond.iter_mut().zip(TAILS) {
                *count += numbers.iter().filter(|number| number.abs() > edge).count() as u64;
            }
        }
        let count = draws as f64;
        let moments = [(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)];
        for (order, (sum, (mean, variance))) in sums.into_iter().zip(moments).enumerate() {
            let allowed = 5.0 * f64::sqrt(variance / count);
            NORMAL.close(format!("moment {}", order + 1), "", sum / count, mean, allowed);
        }
        let pairs = 1000.0 * BUFFER as f64;
        NORMAL.close("product of a pair", "", sums[4] / pairs, 0.0, 5.0 / pairs.sqrt());
        for (count, (edge, share)) in beyond.into_iter().zip(TAILS) {
            let expected = share * draws as f64;
            let allowed = 5.0 * f64::sqrt(expected * (1.0 - share));
            NORMAL.close(format!("beyond {edge}"), "draws", count as f64, expected, allowed);
        }
    }

    /// Error rates in fading are determined by events of probability 1e-7 in the squared amplitudes
    /// of a few taps.
    #[test]
    fn radius_has_exponential_tails_at_both_ends() {
        let mut gaussian = Gaussian::new(&mut Stream::new(2, 0, "radius"));
        let mut numbers = [0f32; 2 * LANES];
        let (mut low, mut high) = (0u64, 0u64);
        let pairs = 32_000_000u64;
        for _ in 0..pairs / LANES as u64 {
            gaussian.fill(&mut numbers);
            for lane in 0..LANES {
                let power = 0.5 * (numbers[lane].powi(2) + numbers[LANES + lane].powi(2));
                low += u64::from(power < 1e-6);
                high += u64::from(power > 6.0 * std::f32::consts::LN_10);
            }
        }
        for (what, count) in [("below 1e-6", low), ("beyond 6·ln 10", high)] {
            let expected = 1e-6 * pairs as f64;
            NORMAL.close(what, "draws", count as f64, expected, 5.0 * expected.sqrt());
        }
    }

    #[test]
    fn all_widths_give_the_same_numbers() {
        let mut gaussian = Gaussian::new(&mut Stream::new(3, 0, "width"));
        let (mut words, mut widest) = ([0; 160], [0f32; 320]);
        fill_words(&mut gaussian.state.clone(), &mut words);
        gaussian.fill(&mut widest);
        for (place, word) in words.into_iter().enumerate() {
            assert_eq!(normal_pair(word), [widest[place], widest[160 + place]]);
        }
    }
}
