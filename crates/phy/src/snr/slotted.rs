//! An SNR process that is sampled at the starts and the ends of slots.

use super::{AnySnr, SnrProcess};
use airpath_core::{Duration, Time};

/// SNR process for a link with slots: the SNR as a power ratio, by the number of a slot.
///
/// The result depends on the number only, neither on earlier samples nor on the machine.
pub struct SlottedSnr {
    process: AnySnr,
    slot: Duration,
    start: Option<(u64, f64)>,
    end: Option<(u64, f64)>,
}

impl SlottedSnr {
    /// `process` at slots of the length `slot`, above 0. Slot 0 starts at time 0.
    pub fn new(process: AnySnr, slot: Duration) -> SlottedSnr {
        SlottedSnr { process, slot, start: None, end: None }
    }

    /// The SNR at the start of slot number `slot`, a power ratio, at least 0. Numbers do not fall;
    /// the same may be sampled again, any may be left out.
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

    /// The SNR at the end of slot number `slot`, a power ratio: where the SNR jumps with the start
    /// of the next one, that before the jump. Asked after [`at`](SlottedSnr::at) of this slot and
    /// before that of a later one.
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

    /// The length of a slot.
    pub fn slot(&self) -> Duration {
        self.slot
    }
}

/// When slot number `slot` starts.
pub(super) fn start_of(slot: u64, length: Duration) -> Time {
    Time::from_nanos(length.saturating_mul(slot).as_nanos())
}

/// The last nanosecond of slot number `slot`.
pub(super) fn last_of(slot: u64, length: Duration) -> Time {
    let end = length.saturating_mul(slot.saturating_add(1));
    Time::from_nanos(end.as_nanos().saturating_sub(1))
}
