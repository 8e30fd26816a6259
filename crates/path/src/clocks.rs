//! Checks, in debug builds, that the time of each stage never decreases.

use airpath_core::{StageId, Time};

/// Time of the latest call of each stage. Empty in release builds.
#[derive(Default)]
pub(crate) struct Clocks {
    /// Time of the latest call, by stage.
    #[cfg(debug_assertions)]
    last: Vec<Time>,
}

impl Clocks {
    /// Records a call of `stage` at `now`.
    ///
    /// # Panics
    /// Panics in debug builds if `now` is before the previous call of the stage.
    #[cfg(debug_assertions)]
    pub(crate) fn advance(&mut self, stage: StageId, now: Time) {
        let number = stage.0 as usize;
        if self.last.len() <= number {
            self.last.resize(number + 1, Time::ZERO);
        }
        let last = std::mem::replace(&mut self.last[number], now);
        assert!(last <= now, "stage {number} is called at {now:?}, and was at {last:?} before");
    }

    /// No check in release builds.
    #[cfg(not(debug_assertions))]
    #[inline(always)]
    pub(crate) fn advance(&mut self, _stage: StageId, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "stage 3 is called at"))]
    fn advance_panics_on_decreasing_time_in_debug_builds() {
        let mut clocks = Clocks::default();
        clocks.advance(StageId(3), Time::from_nanos(5));
        clocks.advance(StageId(3), Time::from_nanos(5));
        clocks.advance(StageId(1), Time::from_nanos(1));
        clocks.advance(StageId(3), Time::from_nanos(4));
    }
}
