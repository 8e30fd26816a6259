//! Named sets of modulation and coding schemes, some with repetition, and their capacity in bytes
//! per slot.
//!
//! A slot has a number of data symbols, 48 in 802.16e OFDMA, so that a scheme carries 48 · bits ·
//! rate / (8 · repetition) bytes per slot. This is not an integer for QPSK 1/8. Therefore functions
//! return the number of complete bytes in several slots, or the number of complete slots for
//! several bytes.
//!
//! Source: wimax-2009 §5.1 (the two lists); IEEE 802.16e-2005 §8.4.9.1 and Table 8.4.9.2-1
//! (repetition of 2, 4 or 6, for QPSK only). QPSK 1/12, 1/8 and 1/4 are QPSK 1/2 with a repetition
//! of 6, 4 and 2. Left out: 64QAM 1/2, which the paper does not list, and padding to blocks of the
//! code.

use crate::modulation::Modulation;

/// A modulation and coding scheme whose capacity is given in bytes per slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotMcs {
    /// Modulation, and code rate divided by repetition: `qpsk-1/12`, `64qam-5/6`.
    pub name: &'static str,
    /// Modulation of the symbols.
    pub modulation: Modulation,
    /// R of the code without repetition, as numerator and denominator: 1/2 for `qpsk-1/12`.
    pub code_rate: (u64, u64),
    /// Number of transmissions of every slot, at least 1.
    pub repetition: u64,
}

/// Schemes of one direction of a radio, from the most robust to the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McsSet {
    /// Name of the set, for messages.
    pub name: &'static str,
    /// Schemes in ascending order of rate, with unique names.
    pub schemes: &'static [SlotMcs],
}

const fn scheme(
    name: &'static str,
    modulation: Modulation,
    code_rate: (u64, u64),
    repetition: u64,
) -> SlotMcs {
    SlotMcs { name, modulation, code_rate, repetition }
}

const QPSK_1_12: SlotMcs = scheme("qpsk-1/12", Modulation::Qpsk, (1, 2), 6);
const QPSK_1_8: SlotMcs = scheme("qpsk-1/8", Modulation::Qpsk, (1, 2), 4);
const QPSK_1_4: SlotMcs = scheme("qpsk-1/4", Modulation::Qpsk, (1, 2), 2);
const QPSK_1_2: SlotMcs = scheme("qpsk-1/2", Modulation::Qpsk, (1, 2), 1);
const QPSK_3_4: SlotMcs = scheme("qpsk-3/4", Modulation::Qpsk, (3, 4), 1);
const QAM16_1_2: SlotMcs = scheme("16qam-1/2", Modulation::Qam16, (1, 2), 1);
const QAM16_3_4: SlotMcs = scheme("16qam-3/4", Modulation::Qam16, (3, 4), 1);
const QAM64_2_3: SlotMcs = scheme("64qam-2/3", Modulation::Qam64, (2, 3), 1);
const QAM64_3_4: SlotMcs = scheme("64qam-3/4", Modulation::Qam64, (3, 4), 1);
const QAM64_5_6: SlotMcs = scheme("64qam-5/6", Modulation::Qam64, (5, 6), 1);

impl McsSet {
    /// The nine schemes of the downlink of wimax-2009 §5.1.
    pub const DOWNLINK_802_16E: McsSet = McsSet {
        name: "802.16e downlink",
        schemes: &[
            QPSK_1_12, QPSK_1_8, QPSK_1_4, QPSK_1_2, QPSK_3_4, QAM16_1_2, QAM64_2_3, QAM64_3_4,
            QAM64_5_6,
        ],
    };

    /// The seven schemes of the uplink of wimax-2009 §5.1.
    pub const UPLINK_802_16E: McsSet = McsSet {
        name: "802.16e uplink",
        schemes: &[QPSK_1_12, QPSK_1_8, QPSK_1_4, QPSK_1_2, QPSK_3_4, QAM16_1_2, QAM16_3_4],
    };

    /// Returns the scheme called `name`.
    pub fn find(self, name: &str) -> Option<SlotMcs> {
        self.schemes.iter().copied().find(|scheme| scheme.name == name)
    }

    /// Returns the names, from the most robust scheme to the fastest.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.schemes.iter().map(|scheme| scheme.name)
    }

    /// Returns a list of all names for a message: `qpsk-1/12, qpsk-1/8, …`.
    pub fn listed(self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }
}

impl SlotMcs {
    /// Returns the information bits of a slot of `slot_symbols` data symbols, as numerator and
    /// denominator.
    fn slot_bits(self, slot_symbols: u64) -> (u128, u128) {
        let (bits, of) = self.code_rate;
        let sent = u128::from(slot_symbols) * self.modulation.bits() as u128;
        (sent * u128::from(bits), u128::from(of) * u128::from(self.repetition))
    }

    /// Returns the complete bytes that `slots` slots of `slot_symbols` data symbols carry in total.
    pub fn bytes_of_slots(self, slots: u64, slot_symbols: u64) -> u64 {
        let (bits, of) = self.slot_bits(slot_symbols);
        let bytes = u128::from(slots).saturating_mul(bits) / (8 * of);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Returns the smallest number of slots of `slot_symbols` data symbols, at least 1, for `bytes`
    /// bytes.
    pub fn slots_for(self, bytes: u64, slot_symbols: u64) -> u64 {
        let (bits, of) = self.slot_bits(slot_symbols);
        let slots = (u128::from(bytes) * 8 * of).div_ceil(bits);
        u64::try_from(slots).unwrap_or(u64::MAX)
    }

    /// Returns the gain of repetition in the signal-to-noise ratio of a bit, dB:
    /// 10·log10(repetition), because the receiver combines the repetitions.
    pub fn gain_db(self) -> f64 {
        10.0 * libm::log10(self.repetition as f64)
    }

    /// Returns R of the code without repetition, in (0, 1].
    pub fn rate(self) -> f64 {
        self.code_rate.0 as f64 / self.code_rate.1 as f64
    }

    /// Returns the information bits per data symbol: bits · R / repetition.
    pub fn efficiency(self) -> f64 {
        self.modulation.bits() as f64 * self.rate() / self.repetition as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const SYMBOLS: u64 = 48;
    const SLOTS: (u64, u64) = (420, 175);

    const SLOT_BYTES: Law = Law {
        area: "Modulation and coding",
        source: "IEEE 802.16e OFDMA: 48 · bits · rate / 8 bytes a slot, 420 + 175 slots in 5 ms",
        allows: "rounding of the printed digits",
    };

    /// wimax-mac §1: name of the scheme, twice its bytes per slot, and its peak rates in the
    /// downlink and the uplink in Mbit/s (`None` if the paper does not list the rate).
    const TABLE: [(&str, u64, Option<f64>, Option<f64>); 10] = [
        ("qpsk-1/12", 2, Some(0.67), Some(0.28)),
        ("qpsk-1/8", 3, Some(1.01), Some(0.42)),
        ("qpsk-1/4", 6, Some(2.02), Some(0.84)),
        ("qpsk-1/2", 12, Some(4.03), Some(1.68)),
        ("qpsk-3/4", 18, Some(6.05), Some(2.52)),
        ("16qam-1/2", 24, Some(8.06), Some(3.36)),
        ("16qam-3/4", 36, None, Some(5.04)),
        ("64qam-2/3", 48, Some(16.1), None),
        ("64qam-3/4", 54, Some(18.1), None),
        ("64qam-5/6", 60, Some(20.2), None),
    ];

    #[test]
    fn sets_match_lists_and_peak_rates_of_paper() {
        let directions = [(McsSet::DOWNLINK_802_16E, SLOTS.0), (McsSet::UPLINK_802_16E, SLOTS.1)];
        for (name, of_two_slots, down, up) in TABLE {
            for ((set, slots), peak) in directions.into_iter().zip([down, up]) {
                let found = set.find(name);
                assert_eq!(found.is_some(), peak.is_some(), "{name} of the {}", set.name);
                let (Some(scheme), Some(peak)) = (found, peak) else { continue };
                assert_eq!(scheme.bytes_of_slots(2, SYMBOLS), of_two_slots, "{name}");
                let bits = 8 * scheme.bytes_of_slots(slots, SYMBOLS);
                let allowed = if peak < 10.0 { 0.005 } else { 0.06 };
                let case = format!("{name}, {}", set.name);
                SLOT_BYTES.close(case, "Mbit/s", bits as f64 / 5e3, peak, allowed);
            }
        }
        assert_eq!(McsSet::DOWNLINK_802_16E.schemes.len(), 9);
        assert_eq!(McsSet::UPLINK_802_16E.schemes.len(), 7);
        assert_eq!(McsSet::UPLINK_802_16E.find("64qam-2/3"), None);
        assert!(McsSet::UPLINK_802_16E.listed().starts_with("qpsk-1/12, qpsk-1/8, "));
    }

    #[test]
    fn slots_for_matches_ack_of_46_bytes() {
        // wimax-mac §1: 46 bytes in the seven uplink schemes.
        let slots = McsSet::UPLINK_802_16E.schemes.iter().map(|mcs| mcs.slots_for(46, SYMBOLS));
        assert_eq!(slots.collect::<Vec<_>>(), [46, 31, 16, 8, 6, 4, 3]);
        // 360 slots of QPSK 3/4 carry 3240 bytes.
        let default = McsSet::DOWNLINK_802_16E.find("qpsk-3/4").expect("in the list");
        assert_eq!(default.bytes_of_slots(360, SYMBOLS), 3240);
    }

    #[test]
    fn slots_for_returns_smallest_sufficient_count() {
        for set in [McsSet::DOWNLINK_802_16E, McsSet::UPLINK_802_16E] {
            for scheme in set.schemes {
                assert_eq!(scheme.slots_for(0, SYMBOLS), 0);
                // 7 symbols: a slot of QPSK 1/12 carries 7/48 bytes.
                for symbols in [7, SYMBOLS] {
                    for bytes in 1..2000 {
                        let slots = scheme.slots_for(bytes, symbols);
                        assert!(scheme.bytes_of_slots(slots, symbols) >= bytes, "{}", scheme.name);
                        assert!(scheme.bytes_of_slots(slots - 1, symbols) < bytes);
                    }
                }
            }
        }
        let slowest = McsSet::UPLINK_802_16E.schemes[0];
        assert_eq!(slowest.slots_for(u64::MAX, 1), u64::MAX);
        assert_eq!(slowest.bytes_of_slots(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn names_contain_modulation_and_effective_rate() {
        for scheme in McsSet::DOWNLINK_802_16E.schemes.iter().chain(McsSet::UPLINK_802_16E.schemes)
        {
            let (modulation, fraction) = scheme.name.split_once('-').expect("two parts");
            let (bits, of) = fraction.split_once('/').expect("a fraction");
            let [bits, of] = [bits, of].map(|digits| digits.parse::<u64>().expect("digits"));
            assert_eq!(modulation, scheme.modulation.name());
            // bits/of is the code rate divided by repetition.
            assert_eq!(bits * scheme.code_rate.1 * scheme.repetition, of * scheme.code_rate.0);
            let is_repeatable = scheme.modulation == Modulation::Qpsk && scheme.rate() == 0.5;
            assert!(scheme.repetition == 1 || is_repeatable);
        }
    }

    #[test]
    fn rates_ascend_and_gain_matches_repetition() {
        for set in [McsSet::DOWNLINK_802_16E, McsSet::UPLINK_802_16E] {
            assert!(set.schemes.is_sorted_by(|a, b| a.efficiency() < b.efficiency()));
        }
        let gains = ["qpsk-1/12", "qpsk-1/8", "qpsk-1/4", "qpsk-1/2"]
            .map(|name| McsSet::UPLINK_802_16E.find(name).expect("in the list").gain_db());
        for (gain, expected) in gains.into_iter().zip([7.7815, 6.0206, 3.0103, 0.0]) {
            assert!((gain - expected).abs() < 1e-4, "{gain}");
        }
    }
}
