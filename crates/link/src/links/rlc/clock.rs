//! Start times of the TTIs of one direction, and the number of PDUs in each TTI.

use airpath_core::{Bytes, Duration, Rate, Time};

/// Start times of the TTIs on a regular grid, and the number of PDUs per TTI at the nominal rate.
///
/// If the rate is not an integer number of PDUs per TTI, some TTIs carry one additional PDU, so
/// that the mean rate is exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tti: u64,
    rate: Rate,
    /// Bits of a PDU's payload.
    pdu_bits: u64,
    /// Number of PDUs in every TTI, without additional PDUs.
    whole: u64,
    /// Remaining fraction of a PDU per TTI, in units of 1/`unit` PDU.
    rest: u64,
    unit: u64,
}

impl Clock {
    /// Creates the clock of TTIs of length `tti` at `rate`, for PDUs of `payload` bytes.
    pub(super) fn new(tti: Duration, rate: Rate, payload: u64) -> Clock {
        let mut clock = Clock {
            tti: tti.as_nanos(),
            rate,
            pdu_bits: 8 * payload,
            whole: 0,
            rest: 0,
            unit: 8 * payload * 1_000_000_000,
        };
        clock.set_rate(rate);
        clock
    }

    /// Sets the rate.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        let bits = u128::from(rate.0) * u128::from(self.tti);
        let unit = u128::from(self.unit);
        // A PDU has at least 16 bits, so that a 64-bit rate and a TTI of an hour do not overflow.
        (self.whole, self.rest) = ((bits / unit) as u64, (bits % unit) as u64);
        self.rate = rate;
    }

    /// The nominal rate.
    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// Number of PDUs per second.
    pub(super) fn pdus_per_second(&self) -> f64 {
        self.rate.0 as f64 / self.pdu_bits as f64
    }

    /// Payload of `pdus` PDUs. The nominal rate refers to the payload only.
    pub(super) fn bytes_of(&self, pdus: u64) -> Bytes {
        Bytes(pdus.saturating_mul(self.pdu_bits / 8))
    }

    /// Returns the start of the first TTI at or after `time` that carries a PDU; [`Time::NEVER`] at
    /// rate zero. `near` is the start of a TTI. If `time` equals `near` or lies in this TTI, no
    /// division is necessary.
    #[inline]
    pub(super) fn tti_at_or_after(&self, time: Time, near: Time) -> Time {
        if time.is_never() || self.rate.0 == 0 {
            return Time::NEVER;
        }
        if self.whole > 0 && near <= time && time <= self.end_of(near) {
            return if time == near { near } else { self.end_of(near) };
        }
        let tti = time.as_nanos().div_ceil(self.tti);
        let tti = if self.whole > 0 { tti } else { self.tti_with_an_odd_pdu(tti) };
        Time::from_nanos(tti.saturating_mul(self.tti))
    }

    /// Returns the number of the first TTI, from number `tti`, that carries an additional PDU.
    #[cold]
    fn tti_with_an_odd_pdu(&self, tti: u64) -> u64 {
        let (rest, unit) = (u128::from(self.rest), u128::from(self.unit));
        let odd_before = u128::from(tti) * rest / unit;
        u64::try_from(((odd_before + 1) * unit).div_ceil(rest) - 1).unwrap_or(u64::MAX)
    }

    /// Returns the end of the TTI that starts at `start`.
    #[inline]
    pub(super) fn end_of(&self, start: Time) -> Time {
        start + Duration::from_nanos(self.tti)
    }

    /// Returns the number of PDUs of the TTI that starts at `start`.
    #[inline]
    pub(super) fn slots(&self, start: Time) -> u64 {
        if self.rest == 0 {
            return self.whole;
        }
        let before = u128::from(start.as_nanos() / self.tti);
        let odd = |ttis: u128| ttis * u128::from(self.rest) / u128::from(self.unit);
        self.whole + (odd(before + 1) - odd(before)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(rate: u64) -> Clock {
        Clock::new(Duration::from_millis(10), Rate(rate), 40)
    }

    /// rlc-am §1: rate × TTI / 320 bit is an integer for all four bearers.
    #[test]
    fn the_four_bearers_carry_12_8_4_and_2_pdus_per_tti() {
        for (kbps, pdus) in [(384, 12), (256, 8), (128, 4), (64, 2)] {
            let clock = clock(kbps * 1000);
            assert!((0..100).all(|tti| clock.slots(Time::from_millis(10 * tti)) == pdus));
        }
    }

    #[test]
    fn fractional_rate_is_exact_in_the_mean() {
        for rate in [1_000, 10_000, 100_000, 383_999] {
            let clock = clock(rate);
            let pdus: u64 = (0..32_000).map(|tti| clock.slots(Time::from_millis(10 * tti))).sum();
            assert_eq!(pdus, rate);
        }
    }

    #[test]
    fn ttis_start_on_grid() {
        let clock = clock(64_000);
        for near in [0, 10, 20, 1000].map(Time::from_millis) {
            let at = |ns| clock.tti_at_or_after(Time::from_nanos(ns), near).as_nanos();
            let all = [0, 1, 10_000_000, 10_000_001, 20_000_000, 20_000_001].map(at);
            assert_eq!(all.map(|ns| ns / 10_000_000), [0, 1, 1, 2, 2, 3]);
            assert!(all.iter().all(|ns| ns % 10_000_000 == 0));
        }
        // At 10 kbit/s there is one PDU every 32 ms.
        let slow = self::clock(10_000);
        let ttis: Vec<u64> =
            (0..1000).filter(|tti| slow.slots(Time::from_millis(10 * tti)) > 0).collect();
        for (pair, from) in ttis.windows(2).zip(&ttis) {
            let next = slow
                .tti_at_or_after(Time::from_millis(10 * from + 1), Time::from_millis(10 * from));
            assert_eq!(next, Time::from_millis(10 * pair[1]));
        }
        assert!(self::clock(0).tti_at_or_after(Time::ZERO, Time::ZERO).is_never());
    }
}
