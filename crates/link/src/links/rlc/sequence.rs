//! Sequence numbers: 12 bits on the air, numbers that count on inside.
//!
//! Source: 3GPP TS 25.322 §9.2.2.3 (AMD PDUs are numbered modulo 4096).

/// A sequence number as it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sn(u16);

impl Sn {
    /// How many there are.
    pub(super) const MODULUS: u64 = 1 << 12;

    /// As which the PDU `number` is sent.
    #[inline]
    pub(super) fn of(number: u64) -> Sn {
        Sn((number % Sn::MODULUS) as u16)
    }

    /// The first number from `from` on that is sent as this.
    #[inline]
    pub(super) fn at_or_after(self, from: u64) -> u64 {
        from + u64::from(self.0).wrapping_sub(from) % Sn::MODULUS
    }
}

/// PDUs with consecutive sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PduRun {
    /// The first of them.
    pub(super) first: Sn,
    /// How many; at least 1.
    pub(super) count: u16,
}

impl PduRun {
    /// The PDUs from `first` up to, not including, `end`.
    #[inline]
    pub(super) fn between(first: u64, end: u64) -> PduRun {
        PduRun { first: Sn::of(first), count: (end - first) as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_again_across_the_wrap_at_4095() {
        for number in [0, 1, 4095, 4096, 4097, 3 * 4096 - 1] {
            for behind in [0, 1, 2047] {
                let from = u64::saturating_sub(number, behind);
                assert_eq!(Sn::of(number).at_or_after(from), number);
            }
        }
    }

    #[test]
    fn an_older_number_looks_far_ahead() {
        assert_eq!(Sn::of(4999).at_or_after(5000), 4999 + 4096);
    }
}
