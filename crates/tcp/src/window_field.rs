//! Window field of the TCP header: 16 bits, scaled or unscaled.
//!
//! Source: RFC 9293 §3.1, RFC 7323 §2. Sequence numbers are stream offsets and never wrap, so only
//! this field limits the data in flight. Not modelled: the negotiation (both ends use the
//! configured value), and the size of the window scale option in the SYN.

use crate::config::{TcpConfig, WindowScaling};

/// Largest value of the window field.
const LARGEST: u32 = 65_535;

/// Largest shift count of the window scale option (RFC 7323 §2.3).
const MAX_SHIFT: u32 = 14;

/// Encoding of the window in an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowField {
    /// Largest window that can be advertised, bytes.
    most: u32,
    shift: u8,
    scaling: WindowScaling,
}

impl WindowField {
    /// Creates the encoding for a connection with `options`. Uses the smallest shift with which the
    /// receive window fits into the field.
    pub(crate) fn new(options: &TcpConfig) -> WindowField {
        let scaling = options.window_scaling;
        let (most, shift) = match scaling {
            WindowScaling::Exact => (u32::MAX, 0),
            WindowScaling::Off => (LARGEST, 0),
            WindowScaling::On => {
                let shift = (0..MAX_SHIFT)
                    .find(|shift| options.receive_window >> shift <= u64::from(LARGEST))
                    .unwrap_or(MAX_SHIFT);
                (LARGEST << shift, shift)
            }
        };
        WindowField { most, shift: shift as u8, scaling }
    }

    /// Returns the encoding of the window in a SYN-ACK, which is never scaled (RFC 7323 §2.2).
    pub(crate) fn of_syn(self) -> WindowField {
        match self.scaling {
            WindowScaling::On => WindowField { most: LARGEST, shift: 0, ..self },
            _ => self,
        }
    }

    /// Returns the advertised window for a window of `window` bytes, rounded down to a value that
    /// the field can represent (RFC 7323 §2.3), bytes.
    #[inline]
    pub(crate) fn advertise(self, window: u64) -> u32 {
        let fits = window.min(u64::from(self.most)) as u32;
        fits >> self.shift << self.shift
    }

    /// Returns the largest window that the field can represent, bytes.
    pub(crate) fn most(self) -> u64 {
        u64::from(self.most)
    }

    /// Returns the step between two values that the field can represent, bytes.
    #[inline]
    pub(crate) fn step(self) -> u64 {
        1 << self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(window_scaling: WindowScaling, receive_window: u64) -> WindowField {
        WindowField::new(&TcpConfig { window_scaling, receive_window, ..TcpConfig::rfc() })
    }

    #[test]
    fn rfc9293_3_1_unscaled_window_has_sixteen_bits() {
        let field = field(WindowScaling::Off, 1_000_000);
        assert_eq!([65_534, 65_535, 65_536].map(|w| field.advertise(w)), [65_534, 65_535, 65_535]);
    }

    #[test]
    fn rfc7323_2_3_shift_is_the_smallest_sufficient_one() {
        let shift = |window| field(WindowScaling::On, window).shift;
        assert_eq!([1, 65_535, 65_536, 131_071, 131_072].map(shift), [0, 0, 1, 1, 2]);
        assert_eq!([3 << 20, 1 << 30, u64::from(u32::MAX)].map(shift), [6, 14, 14]);
    }

    #[test]
    fn rfc7323_2_3_window_is_rounded_down_to_its_step() {
        let field = field(WindowScaling::On, 3 << 20);
        assert_eq!(
            [63, 64, 127, 3_000_000].map(|w| field.advertise(w)),
            [0, 64, 64, 3_000_000 / 64 * 64]
        );
    }

    #[test]
    fn rfc7323_2_3_window_is_below_one_gibibyte() {
        let field = field(WindowScaling::On, u64::from(u32::MAX));
        assert_eq!(field.advertise(u64::from(u32::MAX)), 65_535 << 14);
    }

    #[test]
    fn rfc7323_2_2_window_of_a_syn_is_not_scaled() {
        let field = field(WindowScaling::On, 3 << 20).of_syn();
        assert_eq!([65_535, 3 << 20].map(|w| field.advertise(w)), [65_535, 65_535]);
    }

    #[test]
    fn exact_window_is_not_rounded() {
        let field = field(WindowScaling::Exact, 1_000_001);
        assert_eq!(field.advertise(1_000_001), 1_000_001);
        assert_eq!(field.of_syn().advertise(1_000_001), 1_000_001);
    }
}
