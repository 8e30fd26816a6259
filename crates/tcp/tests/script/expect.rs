//! What a script expects of its sender.

use super::{Mark, Segment, SenderScript, ms};
use airpath_core::{Duration, Stage, Time};

impl SenderScript {
    /// Exactly these segments were sent since the last stimulus, in this order.
    #[track_caller]
    pub(crate) fn expect(&mut self, segments: impl IntoIterator<Item = Segment>) -> &mut Self {
        let expected: Vec<Segment> = segments.into_iter().collect();
        self.tally.segments(expected.len());
        let sent = std::mem::take(&mut self.unclaimed);
        assert_eq!(sent, expected, "sent (left) at {} ms", self.now);
        self.marks.clear();
        self
    }

    /// The same, and what each of them says about ECN.
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

    /// The window was reduced `count` times for echoed marks.
    #[track_caller]
    pub(crate) fn ecn_reductions(&mut self, count: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.report().ecn_reductions, count, "at {} ms", self.now);
        self
    }

    /// The retransmission timer expired `count` times.
    #[track_caller]
    pub(crate) fn timeouts(&mut self, count: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.report().timeouts, count, "at {} ms", self.now);
        self
    }

    /// Nothing was sent since the last stimulus.
    #[track_caller]
    pub(crate) fn nothing(&mut self) -> &mut Self {
        self.expect([])
    }

    /// What was sent since the last stimulus.
    pub(crate) fn take(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.unclaimed)
    }

    /// Ignores all segments sent since the last stimulus.
    pub(crate) fn anything(&mut self) -> &mut Self {
        self.unclaimed.clear();
        self.marks.clear();
        self
    }

    /// The retransmission timer runs and expires at `due`.
    #[track_caller]
    pub(crate) fn timer(&mut self, due: u64) -> &mut Self {
        self.tally.value();
        let wakeup = self.sender.next_wakeup();
        assert!(!wakeup.is_never(), "no timer runs at {} ms", self.now);
        // The estimator counts in doubles: the last nanosecond is not its promise.
        let off = wakeup.as_nanos().abs_diff(ms(due).as_nanos());
        assert!(off <= 1, "the timer expires at {wakeup:?}, not {due} ms");
        self
    }

    /// No timer runs.
    #[track_caller]
    pub(crate) fn no_timer(&mut self) -> &mut Self {
        self.tally.value();
        let wakeup = self.sender.next_wakeup();
        assert!(wakeup.is_never(), "a timer expires at {wakeup:?}");
        self
    }

    /// The congestion window without inflation.
    #[track_caller]
    pub(crate) fn cwnd(&mut self, bytes: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.cwnd(), bytes, "cwnd at {} ms", self.now);
        self
    }

    /// The congestion window without inflation, for comparisons with other than a number.
    pub(crate) fn cwnd_now(&self) -> u64 {
        self.sender.cwnd()
    }

    /// The slow-start threshold.
    #[track_caller]
    pub(crate) fn ssthresh(&mut self, bytes: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.ssthresh(), bytes, "ssthresh at {} ms", self.now);
        self
    }

    /// The congestion window was the limit for `millis` milliseconds.
    #[track_caller]
    pub(crate) fn cwnd_limited(&mut self, millis: u64) -> &mut Self {
        self.tally.value();
        let found = self.sender.congestion_window_limited(ms(self.now));
        assert_eq!(found, Duration::from_millis(millis), "at {} ms", self.now);
        self
    }

    /// Probes of a closed window so far.
    #[track_caller]
    pub(crate) fn probes(&mut self, count: u64) -> &mut Self {
        self.tally.value();
        assert_eq!(self.sender.report().window_probes, count, "at {} ms", self.now);
        self
    }

    /// When the transfer was complete, ms.
    pub(crate) fn completed_at(&self) -> Option<Time> {
        self.sender.report().completed_at
    }

    /// When the connection was aborted.
    pub(crate) fn aborted_at(&self) -> Option<Time> {
        self.sender.report().aborted_at
    }

    /// When the timer expires, ms.
    pub(crate) fn timer_ms(&self) -> u64 {
        self.sender.next_wakeup().as_nanos() / 1_000_000
    }
}
