//! Slot rates from the modulation and coding schemes (MCS) of an error-rate table.
//!
//! ```text
//! c_m = W b_m R_m, or as the table has it       B_m = ⌊τ c_m⌋ bits, in ⌈B_m/8k_m⌉ FEC blocks
//! P_m(N) = 1 − (1 − fer_m(N))^⌈B_m/8k_m⌉         (qawla-2015 eq. 23)
//! selected: the m with the largest c_m (1 − P_m((1 − margin) N)), N the SNR at the slot's start
//! fails with P_m(N′), N′ the SNR at its end
//! ```
//!
//! c_m is the rate of MCS m, b_m its number of bits per symbol, and R_m its code rate. A FEC block
//! has k_m bytes and the error rate fer_m. τ is the slot length and W the bandwidth. The rate of a
//! user is zero if no MCS has an expected goodput of at least one bit per slot.
//!
//! A block fails if P_m exceeds a uniform variate that depends only on the slot number. A
//! retransmitted block keeps its variate. P_m decreases as the combined SNR increases, so the
//! fraction of blocks for which attempt n fails equals P_m at the combined SNR of n attempts.
//!
//! The choice of the MCS is a piecewise constant function of the SNR. The breakpoints of this
//! function are computed to a millionth of a dB when the cell is created and when its nominal rate
//! changes. In each slot only a search among the breakpoints is necessary.

use airpath_core::{Bytes, Duration, Rate, Stream};
use airpath_phy::per_table::{PerCurve, PerTable};
use airpath_phy::shannon::from_db;
use std::sync::Arc;

use super::whole_bits;

/// Step of the search for breakpoints, dB.
const STEP_DB: f64 = 0.05;
/// Number of bisections of a step that contains a breakpoint.
const HALVINGS: u32 = 16;

/// Range of the SNR in which an MCS is chosen. It ends at the next entry.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Choice {
    /// Lower end of the range, as an SNR (power ratio).
    from: f64,
    /// Index of the MCS and its rate, bit/s; `None` if no MCS is usable.
    scheme: Option<(usize, f64)>,
}

/// The MCSs at the current nominal rate.
pub(in crate::links::cell) struct Mcs {
    table: Arc<PerTable>,
    slot: Duration,
    /// Key from which the random stream of each slot is derived.
    key: u64,
    /// Configured rates c_m. `original` is the largest of these rates.
    given: Box<[f64]>,
    original: Rate,
    nominal: Rate,
    /// Choices of the MCS, in ascending order of the SNR.
    choices: Vec<Choice>,
}

impl Mcs {
    pub(super) fn new(
        table: Arc<PerTable>,
        bandwidth_hz: Option<f64>,
        slot: Duration,
        key: u64,
    ) -> Mcs {
        let rate = |curve: &PerCurve| match bandwidth_hz {
            Some(bandwidth_hz) => {
                bandwidth_hz * curve.mcs.bits_per_symbol as f64 * curve.mcs.code_rate
            }
            None => curve.mcs.rate_bps,
        };
        let given: Box<[f64]> = table.curves.iter().map(rate).collect();
        let largest = given.iter().copied().fold(0.0, f64::max);
        let original = Rate((largest.round() as u64).max(1));
        let nominal = original;
        let mut mcs = Mcs { table, slot, key, given, original, nominal, choices: Vec::new() };
        mcs.find_choices();
        mcs
    }

    /// Rate of the fastest MCS.
    pub(super) fn nominal(&self) -> Rate {
        self.nominal
    }

    pub(super) fn set_nominal(&mut self, rate: Rate) {
        self.nominal = rate;
        self.find_choices();
    }

    /// Returns the rates c_m of all MCSs at the current nominal rate.
    fn rates(&self) -> Vec<f64> {
        let factor = self.nominal.0 as f64 / self.original.0 as f64;
        self.given.iter().map(|rate| rate * factor).collect()
    }

    /// Returns the MCS with the largest expected goodput at `snr_db`, and its rate; the first one
    /// on a tie.
    fn best(&self, rates: &[f64], snr_db: f64) -> Option<(usize, f64)> {
        let mut best = None;
        // One bit per slot.
        let mut largest = 1.0 / self.slot.as_secs_lossy();
        for (number, rate) in rates.iter().enumerate() {
            let bits = whole_bits(*rate, self.slot);
            let goodput = rate * (1.0 - self.error_rate_at_db(number, bits, snr_db));
            if goodput > largest {
                (best, largest) = (Some((number, *rate)), goodput);
            }
        }
        best
    }

    fn find_choices(&mut self) {
        let rates = self.rates();
        let points = || self.table.curves.iter().flat_map(|curve| &curve.points);
        let lowest = points().map(|point| point.snr_db).fold(f64::INFINITY, f64::min);
        let highest = points().map(|point| point.snr_db).fold(f64::NEG_INFINITY, f64::max);
        let mut choices = vec![Choice { from: 0.0, scheme: self.best(&rates, lowest) }];
        // The search continues for one step beyond the last point, because a curve may jump to zero
        // at this point.
        let steps = ((highest - lowest) / STEP_DB).ceil() as u64 + 1;
        let mut before = lowest;
        for step in 1..=steps {
            let at = lowest + step as f64 * STEP_DB;
            let last = choices[choices.len() - 1].scheme;
            if self.best(&rates, at) != last {
                let (mut same, mut other) = (before, at);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (same + other);
                    let half =
                        if self.best(&rates, middle) == last { &mut same } else { &mut other };
                    *half = middle;
                }
                choices.push(Choice { from: from_db(other), scheme: self.best(&rates, other) });
            }
            before = at;
        }
        self.choices = choices;
    }

    /// Returns the MCS and the rate, bit/s, of a slot that starts with the SNR `snr` (power ratio),
    /// for the margin m. Returns `None` if the expected goodput is below one bit per slot.
    #[inline]
    pub(super) fn select(&self, snr: f64, margin: f64) -> Option<(usize, f64)> {
        let snr = (1.0 - margin) * snr;
        let place = self.choices.partition_point(|choice| choice.from <= snr);
        self.choices[place.saturating_sub(1)].scheme
    }

    /// Returns the uniform variate in [0, 1) of the block of slot number `slot`.
    pub(super) fn variate(&self, slot: u64) -> f64 {
        Stream::new(self.key, slot, "slot").uniform()
    }

    /// Returns P_m of a block of `bits` with MCS number `mcs` at the SNR `snr` (power ratio).
    pub(super) fn error_rate(&self, mcs: usize, bits: u64, snr: f64) -> f64 {
        self.error_rate_at_db(mcs, bits, 10.0 * libm::log10(snr))
    }

    fn error_rate_at_db(&self, mcs: usize, bits: u64, snr_db: f64) -> f64 {
        self.table.curves[mcs].per(snr_db, Bytes(bits.div_ceil(8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Duration = Duration::from_millis(1);

    /// Two MCSs of 1 and 2 Mbit/s, with 10 and 20 FEC blocks of 100 bits in a slot.
    fn table() -> Arc<PerTable> {
        let point = |snr_db: f64, errors: u64| {
            format!(r#"{{"snr_db": {snr_db}, "errors": {errors}, "blocks": 1000}}"#)
        };
        let curve = |name: &str, bits: u64, rate: f64, points: [String; 3]| {
            let mcs = format!(
                r#"{{"name": "{name}", "label": "{name}", "bits_per_symbol": {bits},
                "code_rate": 0.5, "block_bytes": 12, "rate_bps": {rate}}}"#
            );
            format!(r#"{{"mcs": {mcs}, "points": [{}]}}"#, points.join(","))
        };
        let slow = curve("slow", 2, 0.96e6, [point(0.0, 1000), point(2.0, 10), point(4.0, 0)]);
        let fast = curve("fast", 4, 1.92e6, [point(6.0, 1000), point(8.0, 10), point(10.0, 0)]);
        let text = format!(
            r#"{{"format": "airpath-per-table", "version": 1, "channel": "awgn",
            "snr_range_db": [0, 10], "curves": [{slow}, {fast}]}}"#
        );
        Arc::new(PerTable::from_json(&text).expect("a table"))
    }

    fn mcs(bandwidth_hz: Option<f64>) -> Mcs {
        Mcs::new(table(), bandwidth_hz, SLOT, 1)
    }

    fn selected(mcs: &Mcs, snr_db: f64, margin: f64) -> Option<usize> {
        mcs.select(from_db(snr_db), margin).map(|(number, _)| number)
    }

    /// A slot carries 960 or 1920 bits, which are 10 or 20 FEC blocks of 96 bits.
    #[test]
    fn slot_fails_if_any_fec_block_fails() {
        let mcs = mcs(None);
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
        };
        close(mcs.error_rate(0, 960, from_db(2.0)), 1.0 - 0.99f64.powi(10));
        close(mcs.error_rate(1, 1920, from_db(8.0)), 1.0 - 0.99f64.powi(20));
        close(mcs.error_rate(0, 960, from_db(1.0)), 1.0 - 0.9f64.powi(10));
        close(mcs.error_rate(0, 961, from_db(2.0)), 1.0 - 0.99f64.powi(11));
        close(mcs.error_rate(0, 960, from_db(4.0)), 0.0);
        close(mcs.error_rate(0, 960, 0.0), 1.0);
    }

    #[test]
    fn mcs_with_largest_expected_goodput_is_selected() {
        let mcs = mcs(None);
        let rates = mcs.rates();
        for step in -100..200 {
            let snr_db = f64::from(step) * 0.1 + 0.013;
            let goodput = |number: usize, bits: u64| {
                rates[number] * (1.0 - mcs.error_rate(number, bits, from_db(snr_db)))
            };
            let (slow, fast) = (goodput(0, 960), goodput(1, 1920));
            let expected = match (slow, fast) {
                _ if slow.max(fast) < 1000.0 => None,
                _ if fast > slow => Some(1),
                _ => Some(0),
            };
            assert_eq!(selected(&mcs, snr_db, 0.0), expected, "{snr_db}");
            let rate = expected.map(|number| rates[number]);
            assert_eq!(mcs.select(from_db(snr_db), 0.0).map(|(_, rate)| rate), rate);
        }
        assert_eq!(mcs.select(0.0, 0.0), None, "no SNR");
        assert_eq!(selected(&mcs, 200.0, 0.0), Some(1));
        // The margin is a fraction of the SNR: 0.5 reduces the SNR by 3.01 dB, and −1 increases it
        // by 3.01 dB.
        assert_eq!(selected(&mcs, 10.0, 0.5), selected(&mcs, 6.99, 0.0));
        assert_eq!((selected(&mcs, 10.0, 0.5), selected(&mcs, 10.0, 0.0)), (Some(0), Some(1)));
        assert_eq!(selected(&mcs, 6.0, -1.0), Some(1));
    }

    #[test]
    fn bandwidth_gives_one_symbol_per_second_and_hertz() {
        let mcs = mcs(Some(3e6));
        assert_eq!(mcs.nominal(), Rate(6_000_000));
        assert_eq!(mcs.rates(), [3e6, 6e6]);
    }

    #[test]
    fn nominal_rate_change_scales_all_mcs() {
        let mut mcs = mcs(None);
        assert_eq!(mcs.nominal(), Rate(1_920_000));
        mcs.set_nominal(Rate(960_000));
        assert_eq!(mcs.select(from_db(20.0), 0.0), Some((1, 0.96e6)));
        assert_eq!(mcs.select(from_db(5.0), 0.0), Some((0, 0.48e6)));
        mcs.set_nominal(Rate(0));
        assert_eq!(mcs.select(from_db(20.0), 0.0), None);
        mcs.set_nominal(Rate(1_920_000));
        assert_eq!(mcs.select(from_db(20.0), 0.0), Some((1, 1.92e6)));
    }

    #[test]
    fn variate_depends_only_on_slot_number() {
        let (one, other) = (mcs(None), Mcs::new(table(), None, SLOT, 2));
        assert_eq!(one.variate(7), one.variate(7));
        assert_ne!(one.variate(7), one.variate(8));
        assert_ne!(one.variate(7), other.variate(7));
    }
}
