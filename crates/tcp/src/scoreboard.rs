//! What has been sent and not yet cumulatively acknowledged, segment by segment.

use airpath_core::{Duration, Ring, Time};

/// One segment in flight; it begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// Stream offset behind its last byte.
    end: u64,
    /// When it was sent first.
    sent_at: Time,
    /// Whether it was sent again: then it gives no RTT sample (Karn's rule).
    retransmitted: bool,
}

/// The segments in flight, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: Ring<Outstanding>,
}

impl Scoreboard {
    /// Notes a segment sent for the first time, behind all others.
    #[inline]
    pub(crate) fn push(&mut self, end: u64, now: Time) {
        self.segments.push_back(Outstanding { end, sent_at: now, retransmitted: false });
    }

    /// Where the segment that holds the byte `seq` ends.
    #[inline]
    pub(crate) fn end_of(&self, seq: u64) -> u64 {
        self.segments[self.index_of(seq)].end
    }

    /// Where the segment that holds the byte `seq` begins, when the first begins at `una`.
    pub(crate) fn start_of(&self, seq: u64, una: u64) -> u64 {
        match self.index_of(seq) {
            0 => una,
            index => self.segments[index - 1].end,
        }
    }

    /// Notes that the segment that holds the byte `seq` is sent again.
    pub(crate) fn mark_resent(&mut self, seq: u64) {
        let index = self.index_of(seq);
        self.segments[index].retransmitted = true;
    }

    #[inline]
    fn index_of(&self, seq: u64) -> usize {
        match self.segments.front() {
            Some(head) if seq < head.end => 0,
            _ => self.segments.partition_point(|segment| segment.end <= seq),
        }
    }

    /// Removes the segments that `ack` covers. Gives an RTT sample when the oldest of them was
    /// sent only once; a segment that waited behind a hole thus gives none, for the hole was
    /// filled by a retransmission.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64, now: Time) -> Option<Duration> {
        let oldest = *self.segments.front()?;
        while self.segments.front().is_some_and(|segment| segment.end <= ack) {
            self.segments.pop_front();
        }
        (oldest.end <= ack && !oldest.retransmitted).then(|| now.saturating_since(oldest.sent_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_segments() -> Scoreboard {
        let mut board = Scoreboard::default();
        for (i, end) in [100, 200, 250].into_iter().enumerate() {
            board.push(end, Time::from_millis(i as u64));
        }
        board
    }

    #[test]
    fn the_oldest_covered_segment_is_the_sample() {
        let mut board = three_segments();
        assert_eq!(board.acknowledge(200, Time::from_millis(10)), Some(Duration::from_millis(10)));
        assert_eq!(board.acknowledge(250, Time::from_millis(10)), Some(Duration::from_millis(8)));
    }

    #[test]
    fn a_resent_segment_gives_no_sample_and_keeps_its_end() {
        let mut board = three_segments();
        board.mark_resent(0);
        assert_eq!(board.end_of(0), 100);
        assert_eq!(board.acknowledge(200, Time::from_millis(10)), None);
        assert_eq!(board.end_of(200), 250);
    }

    #[test]
    fn half_a_segment_acknowledged_is_no_segment() {
        let mut board = three_segments();
        assert_eq!(board.acknowledge(50, Time::from_millis(10)), None);
        assert_eq!(board.end_of(50), 100);
    }
}
