//! Tracks the remaining data of a flow and the next event of its application, as a simulated sender
//! does.

use airpath_core::Time;
use airpath_tcp::{Application, OnOff};

/// Write state of a flow.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Bytes that the socket has accepted.
    written: u64,
    /// Total number of bytes that the application has made available so far; `u64::MAX` for no
    /// limit.
    end: u64,
    /// Time after which no new data are written.
    stop: Time,
    application: Option<Application>,
    /// Time of the next event of the application.
    turn: Time,
    completed_at: Option<Time>,
}

impl Work {
    pub(super) fn new(transfer: Option<u64>, on_off: Option<OnOff>, stop: Time) -> Work {
        let application = on_off.map(Application::new);
        let end = if application.is_some() { 0 } else { transfer.unwrap_or(u64::MAX) };
        let (written, turn, completed_at) = (0, Time::NEVER, None);
        Work { written, end, stop, application, turn, completed_at }
    }

    /// Starts the flow.
    pub(super) fn start(&mut self, at: Time) {
        self.turn = at;
        self.take_turn();
    }

    /// Returns the time of the next event of the application.
    pub(super) fn turn(&self) -> Time {
        self.turn
    }

    /// Processes an event of the application: the end or the start of a burst.
    pub(super) fn take_turn(&mut self) {
        let at = std::mem::replace(&mut self.turn, Time::NEVER);
        let Some(application) = &mut self.application else { return };
        if application.is_writing() {
            self.end = self.written;
            self.turn = application.pause(at);
        } else if at < self.stop {
            let (bytes, until) = application.write(at);
            self.end = self.end.saturating_add(bytes);
            self.turn = until;
        }
    }

    /// Returns the number of bytes that may be written now.
    pub(super) fn to_write(&self, now: Time) -> u64 {
        if now < self.stop { self.end - self.written } else { 0 }
    }

    /// Records that the socket has accepted `bytes` bytes.
    pub(super) fn wrote(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Returns the number of bytes that the socket has accepted.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Returns true if the last byte has been written.
    pub(super) fn is_written(&self) -> bool {
        self.application.is_none() && self.written == self.end
    }

    /// Returns true if the flow waits for the acknowledgement of all written data.
    pub(super) fn awaits_ack(&self) -> bool {
        let is_in_burst = self.application.as_ref().is_none_or(Application::is_writing);
        self.completed_at.is_none() && is_in_burst && self.written == self.end
    }

    /// Records that `bytes` bytes were acknowledged at `at`.
    pub(super) fn acknowledged(&mut self, bytes: u64, at: Time) {
        if !self.awaits_ack() || bytes < self.end {
            return;
        }
        match &mut self.application {
            Some(application) => self.turn = application.pause(at),
            None => self.completed_at = Some(at),
        }
    }

    /// Returns the time at which the last byte of a transfer was acknowledged.
    pub(super) fn completed_at(&self) -> Option<Time> {
        self.completed_at
    }

    /// Returns true if the flow always has data to write.
    pub(super) fn is_bulk(&self) -> bool {
        self.application.is_none() && self.end == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{Duration, Stream};
    use airpath_tcp::{Burst, OnOffConfig, SizeDistribution, TimeDistribution};

    fn stream() -> Stream {
        Stream::new(3, 1, "flow 0/application")
    }

    fn on_off(on: Burst) -> Option<OnOff> {
        let off = TimeDistribution::Exponential { mean_ns: 500_000_000 };
        Some(OnOff { config: OnOffConfig { on, off }, stream: stream() })
    }

    const SIZE: SizeDistribution = SizeDistribution::Exponential { mean_bytes: 20_000 };

    #[test]
    fn sizes_and_pauses_alternate_on_one_random_stream() {
        let mut work = Work::new(None, on_off(Burst::Size(SIZE)), Time::NEVER);
        let mut same = stream();
        let mut now = Time::from_secs(1);
        work.start(now);
        for _ in 0..20 {
            let bytes = SIZE.draw(&mut same);
            assert_eq!((work.to_write(now), work.turn()), (bytes, Time::NEVER));
            work.wrote(bytes - 1);
            assert!(!work.awaits_ack());
            work.wrote(1);
            work.acknowledged(work.written() - 1, now);
            assert_eq!(work.turn(), Time::NEVER, "the burst is not completely acknowledged");
            now = now + Duration::from_millis(40);
            work.acknowledged(work.written(), now);
            now = now + same.exponential(Duration::from_millis(500));
            assert_eq!((work.turn(), work.to_write(now)), (now, 0));
            work.take_turn();
        }
    }

    #[test]
    fn a_timed_burst_ends_with_the_bytes_accepted_by_the_socket() {
        let time = TimeDistribution::Fixed { time_ns: 2_000_000_000 };
        let mut work = Work::new(None, on_off(Burst::Time(time)), Time::NEVER);
        work.start(Time::from_secs(1));
        assert_eq!(work.turn(), Time::from_secs(3));
        work.wrote(77_000);
        work.acknowledged(77_000, Time::from_secs(2));
        assert!(work.to_write(Time::from_secs(2)) > 1 << 60, "there is always more");
        work.take_turn();
        assert_eq!(work.to_write(Time::from_secs(3)), 0);
        let mut same = stream();
        let pause = same.exponential(Duration::from_millis(500));
        assert_eq!(work.turn(), Time::from_secs(3) + pause);
    }

    #[test]
    fn no_data_are_written_after_the_stop() {
        let stop = Time::from_secs(2);
        let bulk = Work::new(None, None, stop);
        assert!(bulk.is_bulk() && bulk.to_write(Time::from_millis(1999)) > 1 << 60);
        assert_eq!(bulk.to_write(stop), 0);
        let mut paused = Work::new(None, on_off(Burst::Size(SIZE)), stop);
        paused.start(Time::from_secs(1));
        let bytes = paused.to_write(Time::from_secs(1));
        paused.wrote(bytes);
        paused.acknowledged(bytes, Time::from_millis(1999));
        paused.turn = stop;
        paused.take_turn();
        assert_eq!((paused.to_write(Time::ZERO), paused.turn()), (0, Time::NEVER));
    }

    #[test]
    fn a_transfer_is_complete_with_its_last_acknowledgement() {
        let mut work = Work::new(Some(10_000), None, Time::NEVER);
        work.start(Time::ZERO);
        work.wrote(10_000);
        assert!(work.is_written() && !work.is_bulk());
        work.acknowledged(9_999, Time::from_secs(1));
        assert_eq!(work.completed_at(), None);
        work.acknowledged(10_000, Time::from_secs(2));
        work.acknowledged(10_000, Time::from_secs(3));
        assert_eq!(work.completed_at(), Some(Time::from_secs(2)));
    }
}
