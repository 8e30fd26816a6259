//! Channel codes: encoding and decoding of information bits.
//!
//! | family | here |
//! | --- | --- |
//! | [`ctc`] | the convolutional turbo code of IEEE 802.16, duo-binary, 8 states |
//! | [`reed_solomon`] | Reed–Solomon codes of packets, modelled by their number of correctable errors |
//!
//! A decoder receives each coded bit as an [`Llr`], an integer that is positive if the bit is more
//! likely 1.

pub mod ctc;
pub mod reed_solomon;

/// log(P(bit is 1) / P(bit is 0)) in steps of 1 / [`LLR_STEPS_PER_NAT`], within ±[`LLR_LIMIT`].
pub type Llr = i16;

/// Steps of an [`Llr`] per natural unit.
pub const LLR_STEPS_PER_NAT: f32 = 8.0;

/// Largest magnitude of an [`Llr`]: 64 natural units minus one step.
pub const LLR_LIMIT: Llr = 511;

/// Converts a log-likelihood ratio in natural units to an [`Llr`]: rounded to the nearest step
/// (ties to even) and limited.
#[inline]
pub fn quantised(nats: f32) -> Llr {
    // Added to a small number, 1.5·2²³ leaves it rounded in the lowest bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let limit = f32::from(LLR_LIMIT);
    ((nats * LLR_STEPS_PER_NAT).clamp(-limit, limit) + ROUND).to_bits() as Llr
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantised_rounds_to_eighths_and_limits() {
        let found = [0.0, 0.06, 0.07, -0.07, -1.0, 63.9, 1e9, -1e9].map(quantised);
        assert_eq!(found, [0, 0, 1, -1, -8, 511, 511, -511]);
    }

    #[test]
    fn rounding_matches_standard_library() {
        for steps_32nds in -20_000i16..=20_000 {
            let nats = f32::from(steps_32nds) / 32.0 / LLR_STEPS_PER_NAT;
            let wanted = (nats * LLR_STEPS_PER_NAT).round_ties_even().clamp(-511.0, 511.0);
            assert_eq!(f32::from(quantised(nats)), wanted, "{nats}");
        }
    }
}
