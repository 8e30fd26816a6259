//! Expectations of a sender script.

use super::{Mark, Segment, SenderScript, ms};
use airpath_core::{Duration, Stage, Time};

impl SenderScript {
    /// Expects exactly these segments since the last stimulus, in this order.
    #[track_caller]
    pub(crate) fn expect(&mut self, segments: impl IntoIterator<Item = Segment>) -> &mut Self {
        let expected: Vec<Segment> = segments.into_iter().collect();
        self.tally.segments(expected.len());
        let sent = std::mem::take(&mut self.unclaimed);
        assert_eq!(sent, expected, "sent (left) at {} ms", self.now);
        self.marks.clear();
        self
    }

    /// Does the same, and checks the ECN bits and flags of each segment.
    #[track_caller]
    pub(crate) fn expect_marked(
        &mut self,
        segments: impl IntoIterator<Item = Segment>,
        marks: impl IntoIterator<Item = Mark>,
    ) -> &mut Self {
        self.tally.value();
        let (sent, expected) = (self.marks.clone(), marks.into_iter().collect::<Vec<_>>());
        self.expect(segments);
        assert_eq!(sent, expected, "sent (left) at {} ms", self.now);
        self
    }

    /// Expects `count` reductions of the window for echoed marks.
    #[track_caller]
    pub(crate) fn ecn_reductions(&mut self, count: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.report().ecn_reductions, count, "at {} ms", self.now);
        self
    }

    /// Expects `count` expiries of the retransmission timer.
    #[track_caller]
    pub(crate) fn timeouts(&mut self, count: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.report().timeouts, count, "at {} ms", self.now);
        self
    }

    /// Expects `count` undone episodes of reductions.
    #[track_caller]
    pub(crate) fn undone(&mut self, count: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.report().undone, count, "at {} ms", self.now);
        self
    }

    /// Expects no segments since the last stimulus.
    #[track_caller]
    pub(crate) fn nothing(&mut self) -> &mut Self {
        self.expect([])
    }

    /// Returns the segments sent since the last stimulus.
    pub(crate) fn take(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.unclaimed)
    }

    /// Ignores all segments sent since the last stimulus.
    pub(crate) fn anything(&mut self) -> &mut Self {
        self.unclaimed.clear();
        self.marks.clear();
        self
    }

    /// Expects the timer to run and to expire at `due`.
    #[track_caller]
    pub(crate) fn timer(&mut self, due: u64) -> &mut Self {
        self.tally.value();
        let wakeup = self.sender.next_wakeup();
        assert!(!wakeup.is_never(), "no timer runs at {} ms", self.now);
        // The estimator uses doubles, so the last nanosecond may differ.
        let off = wakeup.as_nanos().abs_diff(ms(due).as_nanos());
        assert!(off <= 1, "the timer expires at {wakeup:?}, not {due} ms");
        self
    }

    /// Expects no running timer.
    #[track_caller]
    pub(crate) fn no_timer(&mut self) -> &mut Self {
        self.tally.value();
        let wakeup = self.sender.next_wakeup();
        assert!(wakeup.is_never(), "a timer expires at {wakeup:?}");
        self
    }

    /// Expects this congestion window, without inflation.
    #[track_caller]
    pub(crate) fn cwnd(&mut self, bytes: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.cwnd(), bytes, "cwnd at {} ms", self.now);
        self
    }

    /// Returns the congestion window, without inflation.
    pub(crate) fn cwnd_now(&self) -> u64 {
        self.sender.cwnd()
    }

    /// Expects this slow-start threshold.
    #[track_caller]
    pub(crate) fn ssthresh(&mut self, bytes: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.ssthresh(), bytes, "ssthresh at {} ms", self.now);
        self
    }

    /// Expects the congestion window to have been the limit for `millis` milliseconds.
    #[track_caller]
    pub(crate) fn cwnd_limited(&mut self, millis: u64) -> &mut Self {
        self.tally.value();
        let found = self.sender.congestion_window_limited(ms(self.now));
        assert_eq!(found, Duration::from_millis(millis), "at {} ms", self.now);
        self
    }

    /// Expects `count` probes of a closed window.
    #[track_caller]
    pub(crate) fn probes(&mut self, count: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.report().window_probes, count, "at {} ms", self.now);
        self
    }

    /// Returns the completion time of the transfer.
    pub(crate) fn completed_at(&self) -> Option<Time> {
        self.sender.report().completed_at
    }

    /// Returns the time at which the connection was aborted.
    pub(crate) fn aborted_at(&self) -> Option<Time> {
        self.sender.report().aborted_at
    }

    /// Returns the expiry of the timer, ms.
    pub(crate) fn timer_ms(&self) -> u64 {
        self.sender.next_wakeup().as_nanos() / 1_000_000
    }
}
