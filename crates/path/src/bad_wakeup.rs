//! Detects invalid wake-ups of a stage, which end the run.

use airpath_core::{Bus, StageId, Time};

/// Maximum number of consecutive wake-ups of a stage at one instant. The limit is so high that a
/// stage that sends one packet at each wake-up can empty a queue of that many packets.
const MOST_AT_ONE_INSTANT: u32 = 1_000_000;

/// A stage requested a wake-up in the past.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("stage {}: wake-up at {} s is before the current time {} s. This is a bug in the stage", .stage.0, .wanted.as_secs_lossy(), .now.as_secs_lossy())]
pub struct WakeupInPast {
    /// The stage.
    pub stage: StageId,
    /// The requested time.
    pub wanted: Time,
    /// The current time.
    pub now: Time,
}

/// A stage requested a million wake-ups at one instant, so that the time would not advance.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("stage {}: requests wake-ups at {} s without end. This is a bug in the stage", .stage.0, .at.as_secs_lossy())]
pub struct Livelock {
    /// The stage.
    pub stage: StageId,
    /// The instant.
    pub at: Time,
}

/// Counts the consecutive wake-ups that a stage requests at the current time.
#[derive(Default)]
pub(crate) struct LivelockDetector {
    /// The latest request: stage and time.
    last: Option<(StageId, Time)>,
    count: u32,
}

impl LivelockDetector {
    /// Checks the wake-up time `wanted` of a `stage` that was called at `now`. Called only if
    /// `wanted` is not after `now`. Returns the wake-up time to schedule. An invalid wake-up ends
    /// the run.
    #[cold]
    pub(crate) fn judge(&mut self, stage: StageId, wanted: Time, now: Time, bus: &mut Bus) -> Time {
        if wanted < now {
            return backwards(stage, wanted, now, bus);
        }
        if self.last.replace((stage, now)) != Some((stage, now)) {
            self.count = 0;
        }
        self.count += 1;
        if self.count >= MOST_AT_ONE_INSTANT {
            bus.fail(now, Box::new(Livelock { stage, at: now }));
        }
        // After a failure no wake-up is scheduled: otherwise each packet until the end of the run
        // could cause a million wake-ups.
        if bus.has_failed() { Time::NEVER } else { wanted }
    }
}

/// Ends the run because of a wake-up in the past. Returns the wake-up time to schedule instead,
/// [`Time::NEVER`].
#[cold]
pub(crate) fn backwards(stage: StageId, wanted: Time, now: Time, bus: &mut Bus) -> Time {
    bus.fail(now, Box::new(WakeupInPast { stage, wanted, now }));
    Time::NEVER
}
