//! A check, in debug builds, that every stage sees time go forward.

use airpath_core::{StageId, Time};

/// When each stage was called last. In release builds there is nothing in it.
#[derive(Default)]
pub(crate) struct Clocks {
    /// Latest time of each stage.
    #[cfg(debug_assertions)]
    last: Vec<Time>,
}

impl Clocks {
    /// Notes that `stage` is called at `now`.
    ///
    /// # Panics
    /// In debug builds, when that is before its last call.
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
    fn a_call_before_the_last_one_is_an_error_in_debug_builds() {
        let mut clocks = Clocks::default();
        clocks.advance(StageId(3), Time::from_nanos(5));
        clocks.advance(StageId(3), Time::from_nanos(5));
        clocks.advance(StageId(1), Time::from_nanos(1));
        clocks.advance(StageId(3), Time::from_nanos(4));
    }
}
