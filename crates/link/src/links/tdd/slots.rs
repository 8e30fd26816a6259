//! [`SlotSize`]: capacity of a slot.

use airpath_core::ConfigError;
use airpath_phy::mcs::{McsSet, SlotMcs};

/// Number of bits of a slot, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotSize {
    bits: u64,
    of: u64,
}

impl SlotSize {
    /// Returns the size of a slot of `symbols` data symbols with the MCS `mcs`.
    pub(super) fn new(mcs: SlotMcs, symbols: u64) -> SlotSize {
        let (bits, of) = mcs.code_rate;
        let bits = symbols * mcs.modulation.bits() as u64 * bits;
        SlotSize { bits, of: of * mcs.repetition }
    }

    /// Returns the size scaled by `rate` / `nominal`.
    pub(super) fn scaled(self, rate: u64, nominal: u64) -> SlotSize {
        // The resolution is 1/1000 bit, so that products do not overflow.
        let bits = u128::from(self.bits) * 1000 * u128::from(rate)
            / (u128::from(self.of) * u128::from(nominal.max(1)));
        SlotSize { bits: u64::try_from(bits).unwrap_or(u64::MAX / 1000), of: 1000 }
    }

    /// Bytes of `slots` slots, rounded down.
    #[inline]
    pub(super) fn bytes_of(self, slots: u64) -> u64 {
        slots.saturating_mul(self.bits) / (8 * self.of)
    }

    /// Number of slots for `bytes` bytes; 0 for 0 bytes.
    #[inline]
    pub(super) fn slots_for(self, bytes: u64) -> u64 {
        if bytes == 0 { 0 } else { (bytes * 8 * self.of).div_ceil(self.bits.max(1)) }
    }

    /// Rate of `slots` slots in a frame of `frame_s` seconds, bit/s.
    pub(super) fn rate(self, slots: u64, frame_s: f64) -> f64 {
        slots as f64 * self.bits as f64 / self.of as f64 / frame_s
    }
}

/// Returns the size of a slot with the MCS `name` from the list of the direction `side` in
/// wimax-2009 §5.1. Direction 0 is the downlink.
pub(super) fn slot_of(
    field: &str,
    name: &str,
    side: usize,
    symbols: u64,
) -> Result<SlotSize, ConfigError> {
    let set = [McsSet::DOWNLINK_802_16E, McsSet::UPLINK_802_16E][side];
    set.find(name).map(|mcs| SlotSize::new(mcs, symbols)).ok_or_else(|| {
        let problem = format!("not in the list of this direction. Accepted: {}", set.listed());
        ConfigError::new(field, name, problem)
    })
}
