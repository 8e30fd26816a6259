//! Frames and the instants in them.

use airpath_core::{Duration, Time};

/// Frames begin at whole multiples of their length. Three instants follow each, which may lie behind its
/// end: its downlink bursts are decoded at the stations; its uplink bursts close, so that what a station
/// has by then is in them; its uplink bursts are received at the base station. With them FDD, slots of
/// 1 ms and of 0.5 ms are settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    frame: Duration,
    decoded: Duration,
    closed: Duration,
    received: Duration,
}

impl Clock {
    /// Frames of the length `frame`, above 0, with the three instants from their starts.
    pub fn new(frame: Duration, decoded: Duration, closed: Duration, received: Duration) -> Clock {
        Clock { frame, decoded, closed, received }
    }

    /// Length of a frame.
    #[inline]
    pub fn frame(&self) -> Duration {
        self.frame
    }

    /// When frame number `frame` begins.
    #[inline]
    pub fn start_of(&self, frame: u64) -> Time {
        Time::from_nanos(frame.saturating_mul(self.frame.as_nanos()))
    }

    /// The first frame that begins at `time` or later.
    #[inline]
    pub fn frame_from(&self, time: Time) -> u64 {
        time.as_nanos().div_ceil(self.frame.as_nanos())
    }

    /// When the downlink bursts of `frame` are decoded at the stations.
    #[inline]
    pub fn decoded_at(&self, frame: u64) -> Time {
        self.start_of(frame) + self.decoded
    }

    /// When the uplink bursts of `frame` close at the stations.
    #[inline]
    pub fn closed_at(&self, frame: u64) -> Time {
        self.start_of(frame) + self.closed
    }

    /// When the uplink bursts of `frame` are received.
    #[inline]
    pub fn received_at(&self, frame: u64) -> Time {
        self.start_of(frame) + self.received
    }

    /// The first frame whose uplink bursts close after `time`.
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
    fn instants_may_lie_behind_the_end_of_their_frame() {
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
