//! Wraps an SNR process that is sampled at the starts and the ends of slots.

use super::{AnySnr, SnrProcess};
use airpath_core::{Duration, Time};

/// SNR process for a link with slots. It maps the index of a slot to the SNR, as a power ratio.
///
/// The result depends only on the index, not on earlier samples or on the machine.
pub struct SlottedSnr {
    process: AnySnr,
    slot: Duration,
    start: Option<(u64, f64)>,
    end: Option<(u64, f64)>,
}

impl SlottedSnr {
    /// Creates a process with slots of duration `slot`, above 0. Slot 0 starts at time 0.
    pub fn new(process: AnySnr, slot: Duration) -> SlottedSnr {
        SlottedSnr { process, slot, start: None, end: None }
    }

    /// Returns the SNR at the start of slot number `slot`, as a power ratio, at least 0. Slot
    /// numbers must not descend; slots may be skipped or sampled repeatedly.
    #[inline]
    pub fn at(&mut self, slot: u64) -> f64 {
        match self.start {
            Some((number, snr)) if number == slot => snr,
            _ => {
                let snr = self.process.at_slot_start(slot, self.slot);
                self.start = Some((slot, snr));
                snr
            }
        }
    }

    /// Returns the SNR at the end of slot number `slot`, as a power ratio. If the SNR jumps at the
    /// start of the next slot, this is the SNR before the jump. Must be called after
    /// [`at`](SlottedSnr::at) for this slot and before `at` for a later slot.
    #[inline]
    pub fn at_end_of(&mut self, slot: u64) -> f64 {
        match self.end {
            Some((number, snr)) if number == slot => snr,
            _ => {
                let snr = self.process.at_slot_end(slot, self.slot);
                self.end = Some((slot, snr));
                snr
            }
        }
    }

    /// Returns the duration of a slot.
    pub fn slot(&self) -> Duration {
        self.slot
    }
}

/// Returns the start of slot number `slot`.
pub(super) fn start_of(slot: u64, length: Duration) -> Time {
    Time::from_nanos(length.saturating_mul(slot).as_nanos())
}

/// Returns the last nanosecond of slot number `slot`.
pub(super) fn last_of(slot: u64, length: Duration) -> Time {
    let end = length.saturating_mul(slot.saturating_add(1));
    Time::from_nanos(end.as_nanos().saturating_sub(1))
}
