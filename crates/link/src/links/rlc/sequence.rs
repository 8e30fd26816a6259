//! Sequence numbers: 12 bits on the air, 64-bit counters internally.
//!
//! Source: 3GPP TS 25.322 §9.2.2.3 (AMD PDUs are numbered modulo 4096).

/// A 12-bit sequence number on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sn(u16);

impl Sn {
    /// Number of sequence numbers.
    pub(super) const MODULUS: u64 = 1 << 12;

    /// Returns the sequence number of the PDU `number`.
    #[inline]
    pub(super) fn of(number: u64) -> Sn {
        Sn((number % Sn::MODULUS) as u16)
    }

    /// Returns the lowest PDU number of at least `from` that has this sequence number.
    #[inline]
    pub(super) fn at_or_after(self, from: u64) -> u64 {
        from + u64::from(self.0).wrapping_sub(from) % Sn::MODULUS
    }
}

/// PDUs with consecutive sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PduRun {
    /// Sequence number of the first PDU.
    pub(super) first: Sn,
    /// Number of PDUs; at least 1.
    pub(super) count: u16,
}

impl PduRun {
    /// Returns the PDUs from `first` to `end` (exclusive).
    #[inline]
    pub(super) fn between(first: u64, end: u64) -> PduRun {
        PduRun { first: Sn::of(first), count: (end - first) as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_recovered_across_wrap_at_4095() {
        for number in [0, 1, 4095, 4096, 4097, 3 * 4096 - 1] {
            for behind in [0, 1, 2047] {
                let from = u64::saturating_sub(number, behind);
                assert_eq!(Sn::of(number).at_or_after(from), number);
            }
        }
    }

    #[test]
    fn older_number_is_recovered_as_far_ahead() {
        assert_eq!(Sn::of(4999).at_or_after(5000), 4999 + 4096);
    }
}
