//! Wake-ups that a stage may not ask for: they end the run.

use airpath_core::{Bus, StageId, Time};

/// How often a stage may ask, when it is woken, to be woken again at the same instant. Whoever sends
/// one packet at each wake-up can empty a queue of that size.
const MOST_AT_ONE_INSTANT: u32 = 1_000_000;

/// A stage wanted to be woken in the past.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("stage {} wants to be woken at {} s when it is {} s", .stage.0, .wanted.as_secs_lossy(), .now.as_secs_lossy())]
pub struct WakeupInPast {
    /// The stage.
    pub stage: StageId,
    /// What it asked for.
    pub wanted: Time,
    /// The time that it was.
    pub now: Time,
}

/// A stage wanted to be woken a million times at one instant: time would never go on.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("stage {} asks to be woken again and again at {} s", .stage.0, .at.as_secs_lossy())]
pub struct Livelock {
    /// The stage.
    pub stage: StageId,
    /// The instant.
    pub at: Time,
}

/// Counts how often a stage asks, when it is woken, to be woken again at once.
#[derive(Default)]
pub(crate) struct LivelockDetector {
    /// Who asked last, for when, and how often one after the other.
    last: Option<(StageId, Time)>,
    count: u32,
}

impl LivelockDetector {
    /// What becomes of the wake-up that `stage` asks for, `wanted`, when it has been woken at `now`
    /// and that is not later: mostly it is, and sometimes it ends the run.
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
        // What has failed ends soon, and asks nobody a million times for each packet until then.
        if bus.has_failed() { Time::NEVER } else { wanted }
    }
}

/// Ends the run because of a wake-up in the past; gives the one in its place.
#[cold]
pub(crate) fn backwards(stage: StageId, wanted: Time, now: Time, bus: &mut Bus) -> Time {
    bus.fail(now, Box::new(WakeupInPast { stage, wanted, now }));
    Time::NEVER
}
