//! Converts between the scenario's time and the clocks of the kernel.

use airpath_core::Time;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds per second.
const SECOND: i64 = 1_000_000_000;

fn nanos(time: TimeSpec) -> i64 {
    time.tv_sec() * SECOND + time.tv_nsec()
}

fn read(clock: ClockId) -> i64 {
    nanos(clock_gettime(clock).expect("every Linux kernel has this clock"))
}

/// Conversion that is defined by the scenario's time zero on `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    zero_ns: i64,
}

impl Clock {
    pub(super) fn new(zero_ns: u64) -> Clock {
        Clock { zero_ns: zero_ns as i64 }
    }

    /// Returns the current time; `None` before time zero.
    pub(super) fn now(self) -> Option<Time> {
        u64::try_from(read(ClockId::CLOCK_MONOTONIC) - self.zero_ns).ok().map(Time::from_nanos)
    }

    /// Converts a time to `CLOCK_MONOTONIC`.
    pub(super) fn monotonic(self, at: Time) -> TimeSpec {
        let nanos = self.zero_ns.saturating_add_unsigned(at.as_nanos());
        TimeSpec::new(nanos / SECOND, nanos % SECOND)
    }

    /// Converts a recent time of `CLOCK_REALTIME`.
    pub(super) fn of_realtime(self, at: TimeSpec) -> Time {
        let elapsed = nanos(at) - realtime_ahead() - self.zero_ns;
        Time::from_nanos(u64::try_from(elapsed).unwrap_or(0))
    }
}

/// Returns the current offset of `CLOCK_REALTIME` from `CLOCK_MONOTONIC`, ns. The clocks are read
/// several times, and the reading that took the shortest time is used.
fn realtime_ahead() -> i64 {
    let readings = (0..4).map(|_| {
        let before = read(ClockId::CLOCK_MONOTONIC);
        let realtime = read(ClockId::CLOCK_REALTIME);
        let after = read(ClockId::CLOCK_MONOTONIC);
        (after - before, realtime - before - (after - before) / 2)
    });
    readings.min().map_or(0, |(_, ahead)| ahead)
}

#[test]
fn both_clocks_return_the_same_time() {
    let clock = Clock::new(read(ClockId::CLOCK_MONOTONIC) as u64);
    let before = clock.now().expect("not before zero");
    let stamp = clock_gettime(ClockId::CLOCK_REALTIME).expect("clock");
    let after = clock.now().expect("not before zero");
    let converted = clock.of_realtime(stamp);
    // Clock adjustments are smaller than this in such a short time.
    let slack = airpath_core::Duration::from_millis(1);
    assert!(
        converted + slack >= before && converted <= after + slack,
        "{before:?} {converted:?} {after:?}"
    );
    assert_eq!(Clock::new(u64::MAX / 4).now(), None, "before zero");
    assert_eq!(Clock::new(5).monotonic(Time::from_secs(2)), TimeSpec::new(2, 5));
}
