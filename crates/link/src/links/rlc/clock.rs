//! The TTIs of one direction: when they begin and how many PDUs they carry.

use airpath_core::{Bytes, Duration, Rate, Time};

/// The grid of TTIs, and the PDUs that the nominal rate gives to each.
///
/// A rate that is not an integer number of PDUs per TTI gives the odd PDU to some of them, so that
/// the rate is kept in the long run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tti: u64,
    rate: Rate,
    /// Bits of a PDU's payload.
    pdu_bits: u64,
    /// PDUs that every TTI carries.
    whole: u64,
    /// Remainder of a TTI's bits, in `unit`ths of a PDU.
    rest: u64,
    unit: u64,
}

impl Clock {
    /// TTIs of length `tti` at `rate`, for PDUs of `payload` bytes.
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

    /// The rate is another from now on.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        let bits = u128::from(rate.0) * u128::from(self.tti);
        let unit = u128::from(self.unit);
        // A PDU has 16 bits at least, so that no rate of 64 bits overflows at a TTI of an hour.
        (self.whole, self.rest) = ((bits / unit) as u64, (bits % unit) as u64);
        self.rate = rate;
    }

    /// The nominal rate.
    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// PDUs that a second of TTIs carries.
    pub(super) fn pdus_per_second(&self) -> f64 {
        self.rate.0 as f64 / self.pdu_bits as f64
    }

    /// Payload of this many PDUs: what the nominal rate counts.
    pub(super) fn bytes_of(&self, pdus: u64) -> Bytes {
        Bytes(pdus.saturating_mul(self.pdu_bits / 8))
    }

    /// The start of the first TTI at or after `time` that carries a PDU; [`Time::NEVER`] at rate
    /// zero. `near`, on the grid, spares a division when `time` is there or in the TTI behind.
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

    /// The first TTI from number `tti` on that carries one of the odd PDUs.
    #[cold]
    fn tti_with_an_odd_pdu(&self, tti: u64) -> u64 {
        let (rest, unit) = (u128::from(self.rest), u128::from(self.unit));
        let odd_before = u128::from(tti) * rest / unit;
        u64::try_from(((odd_before + 1) * unit).div_ceil(rest) - 1).unwrap_or(u64::MAX)
    }

    /// The end of the TTI that begins at `start`.
    #[inline]
    pub(super) fn end_of(&self, start: Time) -> Time {
        start + Duration::from_nanos(self.tti)
    }

    /// PDUs of the TTI that begins at `start`.
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

    /// rlc-am §1: rate × TTI / 320 bit, an integer for all four bearers.
    #[test]
    fn the_four_bearers_carry_12_8_4_and_2_pdus_per_tti() {
        for (kbps, pdus) in [(384, 12), (256, 8), (128, 4), (64, 2)] {
            let clock = clock(kbps * 1000);
            assert!((0..100).all(|tti| clock.slots(Time::from_millis(10 * tti)) == pdus));
        }
    }

    #[test]
    fn another_rate_is_kept_in_the_long_run() {
        for rate in [1_000, 10_000, 100_000, 383_999] {
            let clock = clock(rate);
            let pdus: u64 = (0..32_000).map(|tti| clock.slots(Time::from_millis(10 * tti))).sum();
            assert_eq!(pdus, rate);
        }
    }

    #[test]
    fn a_tti_begins_on_the_grid() {
        let clock = clock(64_000);
        for near in [0, 10, 20, 1000].map(Time::from_millis) {
            let at = |ns| clock.tti_at_or_after(Time::from_nanos(ns), near).as_nanos();
            let all = [0, 1, 10_000_000, 10_000_001, 20_000_000, 20_000_001].map(at);
            assert_eq!(all.map(|ns| ns / 10_000_000), [0, 1, 1, 2, 2, 3]);
            assert!(all.iter().all(|ns| ns % 10_000_000 == 0));
        }
        // 10 kbit/s: a PDU every 32 ms.
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
