//! Start times of frames, and the times of events relative to the frames.

use airpath_core::{Duration, Time};

/// Clock of the frames. Frames start at integer multiples of their length. Each frame has three
/// event times, which may be after the end of the frame:
/// - `decoded`: the stations decode the downlink bursts.
/// - `closed`: the uplink bursts close. They contain the data that are available at this time.
/// - `received`: the base station receives the uplink bursts.
///
/// With these times, FDD and slots of 1 ms or 0.5 ms can be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    frame: Duration,
    decoded: Duration,
    closed: Duration,
    received: Duration,
}

impl Clock {
    /// Creates a clock of frames of length `frame`, above 0, with the three event times relative to
    /// the start of the frame.
    pub fn new(frame: Duration, decoded: Duration, closed: Duration, received: Duration) -> Clock {
        Clock { frame, decoded, closed, received }
    }

    /// Length of a frame.
    #[inline]
    pub fn frame(&self) -> Duration {
        self.frame
    }

    /// Start of frame number `frame`.
    #[inline]
    pub fn start_of(&self, frame: u64) -> Time {
        Time::from_nanos(frame.saturating_mul(self.frame.as_nanos()))
    }

    /// Number of the first frame that starts at or after `time`.
    #[inline]
    pub fn frame_from(&self, time: Time) -> u64 {
        time.as_nanos().div_ceil(self.frame.as_nanos())
    }

    /// Time at which the stations decode the downlink bursts of `frame`.
    #[inline]
    pub fn decoded_at(&self, frame: u64) -> Time {
        self.start_of(frame) + self.decoded
    }

    /// Time at which the uplink bursts of `frame` close at the stations.
    #[inline]
    pub fn closed_at(&self, frame: u64) -> Time {
        self.start_of(frame) + self.closed
    }

    /// Time at which the uplink bursts of `frame` are received.
    #[inline]
    pub fn received_at(&self, frame: u64) -> Time {
        self.start_of(frame) + self.received
    }

    /// Number of the first frame whose uplink bursts close after `time`.
    #[inline]
    pub fn frame_to_close_after(&self, time: Time) -> u64 {
        let from = time.saturating_since(Time::ZERO + self.closed).as_nanos();
        if time.as_nanos() < self.closed.as_nanos() {
            return 0;
        }
        from / self.frame.as_nanos() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_times_may_be_after_end_of_frame() {
        let ms = Duration::from_millis;
        let at = Time::from_millis;
        let clock = Clock::new(ms(5), ms(3), ms(7), ms(9));
        assert_eq!((clock.start_of(2), clock.decoded_at(2)), (at(10), at(13)));
        assert_eq!((clock.closed_at(2), clock.received_at(2)), (at(17), at(19)));
        let from: Vec<u64> = [0, 1, 5, 6].map(|ms| clock.frame_from(at(ms))).into();
        assert_eq!(from, [0, 1, 1, 2]);
        let after: Vec<u64> =
            [0, 6, 7, 8, 11, 12].map(|ms| clock.frame_to_close_after(at(ms))).into();
        assert_eq!(after, [0, 0, 1, 1, 1, 2]);
    }
}
