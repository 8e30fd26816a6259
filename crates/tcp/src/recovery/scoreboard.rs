//! Scoreboard of the segments that have been sent and are not cumulatively acknowledged. All loss
//! recovery algorithms share it.
//!
//! A segment is on the scoreboard from its transmission until it is cumulatively acknowledged. For
//! each segment, the scoreboard stores the time of the last transmission and a set of marks. For
//! some marks, it counts the bytes in marked segments.

mod watched;

use super::rates::Rates;
use airpath_core::{Duration, Ring, Time};

/// State of a sent segment: a set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    /// Selectively acknowledged: the complete segment has arrived.
    pub(crate) const SACKED: Marks = Marks(1);
    /// Deemed lost and not selectively acknowledged since.
    pub(crate) const LOST: Marks = Marks(2);
    /// Retransmitted since it was last deemed lost.
    pub(crate) const RESENT: Marks = Marks(4);
    /// Sent more than once, or send time unknown. Such a segment provides no RTT sample (Karn's
    /// algorithm).
    const AMBIGUOUS: Marks = Marks(8);
    /// Included in delivery rate samples.
    const WATCHED: Marks = Marks(16);
    /// Already counted as delivered.
    const COUNTED: Marks = Marks(32);

    /// Returns true if at least one of the marks in `mark` is set.
    #[inline]
    pub(crate) const fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    pub(crate) const fn with(self, mark: Marks) -> Marks {
        Marks(self.0 | mark.0)
    }

    const fn without(self, mark: Marks) -> Marks {
        Marks(self.0 & !mark.0)
    }

    /// Returns true if the last transmission of the segment has neither arrived nor is deemed lost.
    #[inline]
    pub(crate) const fn is_in_flight(self) -> bool {
        !self.has(Marks::SACKED) && (!self.has(Marks::LOST) || self.has(Marks::RESENT))
    }

    #[inline]
    const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// One segment. It begins where the previous segment ends; the first segment begins at `una`.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Stream offset after the last byte, below 2⁵⁸, in the upper bits; the marks in the lower
    /// bits.
    end_and_marks: u64,
    /// Time of the last transmission.
    sent_at: Time,
}

impl Segment {
    /// Number of bits for marks.
    const MARKS: u32 = 6;

    #[inline]
    fn new(end: u64, sent_at: Time, marks: Marks) -> Segment {
        debug_assert!(end < 1 << (u64::BITS - Segment::MARKS), "a stream of less than 2^58 bytes");
        Segment { end_and_marks: end << Segment::MARKS | u64::from(marks.0), sent_at }
    }

    #[inline]
    const fn end(self) -> u64 {
        self.end_and_marks >> Segment::MARKS
    }

    #[inline]
    const fn marks(self) -> Marks {
        Marks(self.end_and_marks as u8 & ((1 << Segment::MARKS) - 1))
    }

    fn set_marks(&mut self, marks: Marks) {
        *self = Segment::new(self.end(), self.sent_at, marks);
    }
}

/// Segments in flight, oldest first, and the offsets of RFC 9293 §3.3.1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: Ring<Segment>,
    /// SND.UNA: all data before this offset is cumulatively acknowledged.
    una: u64,
    /// Next byte to send. Less than `max` if the sender has gone back after a timeout (go-back-N).
    nxt: u64,
    /// SND.NXT of the RFC (SND.MAX): all data before this offset has been sent.
    max: u64,
    /// End of the data outstanding at the last timeout.
    loss_until: u64,
    /// Bytes with the mark SACKED. `lost` and `resent` are the bytes with the marks LOST and
    /// RESENT.
    sacked: u64,
    lost: u64,
    resent: u64,
    /// State of rate samples, for a congestion control that uses them.
    rates: Option<Box<Rates>>,
}

impl Scoreboard {
    /// Enables rate samples.
    pub(crate) fn with_rates(self) -> Scoreboard {
        Scoreboard { rates: Some(Box::default()), ..self }
    }

    /// Returns true if rate samples are enabled.
    #[inline]
    pub(crate) const fn is_watched(&self) -> bool {
        self.rates.is_some()
    }

    /// Returns SND.UNA, the oldest byte that is not cumulatively acknowledged.
    #[inline]
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// Returns the next byte to send.
    #[inline]
    pub(crate) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns SND.MAX, the offset after the highest byte ever sent.
    #[inline]
    pub(crate) const fn max(&self) -> u64 {
        self.max
    }

    /// Returns FlightSize (RFC 5681 §2): bytes sent and not cumulatively acknowledged.
    #[inline]
    pub(crate) const fn flight(&self) -> u64 {
        self.max - self.una
    }

    /// Records an expiry of the retransmission timer.
    pub(crate) fn note_timeout(&mut self) {
        self.loss_until = self.max;
    }

    /// Ends the state after a timeout that was spurious.
    pub(crate) fn forget_timeout(&mut self) {
        self.loss_until = self.una;
    }

    /// Returns true if data that was outstanding at the last timeout is still outstanding.
    #[inline]
    pub(crate) const fn is_after_timeout(&self) -> bool {
        self.una < self.loss_until
    }

    /// Returns the outstanding bytes that are selectively acknowledged.
    pub(crate) const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Returns the outstanding bytes in segments that are deemed lost.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the outstanding bytes in segments that were retransmitted after they were deemed
    /// lost.
    pub(crate) const fn resent(&self) -> u64 {
        self.resent
    }

    /// Adds a segment of new data that ends at `end`.
    #[inline]
    pub(crate) fn push(&mut self, end: u64, now: Time) {
        let marks = if self.is_watched() { self.watch(end, now) } else { Marks::default() };
        self.push_marked(end, now, marks);
    }

    /// Adds a segment of new data that ends at `end`, on a connection without rate samples.
    #[inline(always)]
    pub(crate) fn push_unwatched(&mut self, end: u64, now: Time) {
        self.push_marked(end, now, Marks::default());
    }

    #[inline(always)]
    fn push_marked(&mut self, end: u64, now: Time, marks: Marks) {
        self.segments.push_back(Segment::new(end, now, marks));
        self.nxt = end;
        self.max = end;
    }

    /// Records a retransmission of the segment that contains the byte `seq`.
    #[inline(never)]
    pub(crate) fn push_again(&mut self, seq: u64, now: Time) {
        let index = self.index_of(seq);
        let start = self.start(index);
        let segment = &mut self.segments[index];
        let is_in_flight = segment.marks().has(Marks::RESENT);
        let added = if is_in_flight { 0 } else { segment.end() - start };
        self.resent += added;
        segment.sent_at = now;
        segment.set_marks(segment.marks().with(Marks::AMBIGUOUS).with(Marks::RESENT));
        self.nxt = self.nxt.max(segment.end());
        if self.is_watched() {
            self.watch_again(index, added, now);
        }
    }

    /// Returns the send time of the segment that contains the byte `seq`. Returns `None` if the
    /// segment was sent more than once or its send time is unknown.
    pub(crate) fn sent_at(&self, seq: u64) -> Option<Time> {
        let segment = &self.segments[self.index_of(seq)];
        (!segment.marks().has(Marks::AMBIGUOUS)).then_some(segment.sent_at)
    }

    /// Marks the send time of the segment that contains the byte `seq` as unknown.
    pub(crate) fn forget_time(&mut self, seq: u64) {
        let index = self.index_of(seq);
        let segment = &mut self.segments[index];
        segment.set_marks(segment.marks().with(Marks::AMBIGUOUS));
    }

    /// Moves the next byte to send back to the oldest unacknowledged byte (go-back-N).
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// Returns the end of the segment that contains the byte `seq`.
    #[inline]
    pub(crate) fn end_of(&self, seq: u64) -> u64 {
        self.segments[self.index_of(seq)].end()
    }

    /// Returns the start of the segment that contains the byte `seq`.
    pub(crate) fn start_of(&self, seq: u64) -> u64 {
        self.start(self.index_of(seq))
    }

    /// Returns the number of segments.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// Returns the start of the segment at `index`.
    pub(crate) fn start(&self, index: usize) -> u64 {
        match index {
            0 => self.una,
            _ => self.segments[index - 1].end(),
        }
    }

    /// Returns the end of the segment at `index`.
    pub(crate) fn end(&self, index: usize) -> u64 {
        self.segments[index].end()
    }

    /// Returns the time of the last transmission of the segment at `index`.
    pub(crate) fn left_at(&self, index: usize) -> Time {
        self.segments[index].sent_at
    }

    /// Returns true if the segment was sent more than once or its send time is unknown.
    pub(crate) fn is_ambiguous(&self, index: usize) -> bool {
        self.marks(index).has(Marks::AMBIGUOUS)
    }

    /// Returns the marks of the segment at `index`.
    pub(crate) fn marks(&self, index: usize) -> Marks {
        self.segments[index].marks()
    }

    /// Returns the number of segments that end at or before `at`.
    pub(crate) fn ended_by(&self, at: u64) -> usize {
        self.segments.partition_point(|segment| segment.end() <= at)
    }

    /// Returns the number of segments that begin before `at`.
    pub(crate) fn begun_before(&self, at: u64) -> usize {
        if at <= self.una {
            return 0;
        }
        let ended = self.segments.partition_point(|segment| segment.end() < at);
        (ended + 1).min(self.segments.len())
    }

    /// Returns the same as [`begun_before`](Self::begun_before). First tries the result for the case
    /// that a segment begins at `at` and all segments have `mss` bytes.
    pub(crate) fn begun_before_about(&self, at: u64, mss: u64) -> usize {
        let ended = self.ended_by_about(at, mss);
        let is_boundary = ended > 0 && self.segments[ended - 1].end() == at;
        if is_boundary { ended } else { self.begun_before(at) }
    }

    #[inline]
    fn index_of(&self, seq: u64) -> usize {
        match self.segments.front() {
            Some(head) if seq < head.end() => 0,
            _ => self.ended_by(seq),
        }
    }

    fn count(&mut self, mark: Marks) -> &mut u64 {
        match mark {
            Marks::SACKED => &mut self.sacked,
            Marks::LOST => &mut self.lost,
            _ => &mut self.resent,
        }
    }

    /// Sets a counted mark on a segment. Returns true if the mark was not set before.
    pub(crate) fn mark(&mut self, index: usize, mark: Marks) -> bool {
        let bytes = self.end(index) - self.start(index);
        let segment = &mut self.segments[index];
        let is_new = !segment.marks().has(mark);
        segment.set_marks(segment.marks().with(mark));
        *self.count(mark) += if is_new { bytes } else { 0 };
        is_new
    }

    /// Removes a counted mark. Returns true if the mark was set.
    pub(crate) fn unmark(&mut self, index: usize, mark: Marks) -> bool {
        let bytes = self.end(index) - self.start(index);
        let segment = &mut self.segments[index];
        let was_there = segment.marks().has(mark);
        segment.set_marks(segment.marks().without(mark));
        *self.count(mark) -= if was_there { bytes } else { 0 };
        was_there
    }

    /// Handles a SACK block from `start` to `end` with `news` new bytes. Marks the segments that
    /// are completely inside the block as arrived and not lost. `mss` is the length of a full-sized
    /// segment.
    pub(crate) fn sack(&mut self, (start, end): (u64, u64), news: u64, mss: u64, now: Time) {
        let mut index = self.ended_by_about(end, mss);
        let mut left = news;
        while index > 0 && left > 0 {
            index -= 1;
            if self.start(index) < start {
                break;
            }
            left = left.saturating_sub(self.sack_one(index, now));
        }
    }

    /// Marks the segment at `index` as arrived. Returns the length of the segment, or 0 if the
    /// segment was already marked.
    #[inline]
    pub(crate) fn sack_one(&mut self, index: usize, now: Time) -> u64 {
        let start = self.start(index);
        let segment = &mut self.segments[index];
        let marks = segment.marks();
        if marks.has(Marks::SACKED) {
            return 0;
        }
        let bytes = segment.end() - start;
        let was_lost = marks.has(Marks::LOST);
        segment.set_marks(marks.with(Marks::SACKED).without(Marks::LOST));
        let is_watched = marks.has(Marks::WATCHED);
        self.sacked += bytes;
        self.lost -= if was_lost { bytes } else { 0 };
        if is_watched {
            if marks.has(Marks::RESENT) {
                self.unmark(index, Marks::RESENT);
            }
            self.count_delivered(index, bytes, now);
        }
        bytes
    }

    /// Returns the number of segments that end at or before `at`. First tries the result for the
    /// case that all segments have `mss` bytes.
    pub(crate) fn ended_by_about(&self, at: u64, mss: u64) -> usize {
        let whole = (at.saturating_sub(self.una).div_ceil(mss) as usize).min(self.segments.len());
        if whole > 0 && self.segments[whole - 1].end() == at { whole } else { self.ended_by(at) }
    }

    /// Discards the information from SACK blocks.
    pub(crate) fn forget_sacked(&mut self) {
        if let Some(rates) = &mut self.rates {
            rates.judged_until = 0;
        }
        for index in 0..self.len() {
            self.unmark(index, Marks::SACKED);
        }
    }

    /// Removes the segments that the cumulative `ack` covers. Returns an RTT sample if the oldest
    /// of these segments was sent only once. If it was retransmitted, the segments beyond it
    /// provide no sample either, because their ACK was delayed by the hole.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u64, now: Time) -> Option<Duration> {
        let oldest = *self.segments.front()?;
        let (mut head, mut start) = (oldest, self.una);
        loop {
            if !head.marks().is_none() {
                self.remove_acknowledged(start, ack, now);
            }
            if head.end() > ack {
                break;
            }
            self.segments.drop_front();
            start = head.end();
            match self.segments.front() {
                Some(next) => head = *next,
                None => break,
            }
        }
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        let is_sample = oldest.end() <= ack && !oldest.marks().has(Marks::AMBIGUOUS);
        is_sample.then(|| now.saturating_since(oldest.sent_at))
    }

    /// Updates the byte counts for the oldest segment, which begins at `start` and has marks. `ack`
    /// covers this segment partly or completely.
    #[cold]
    fn remove_acknowledged(&mut self, start: u64, ack: u64, now: Time) {
        let head = self.segments[0];
        let bytes = head.end().min(ack) - start;
        if head.marks().has(Marks::SACKED.with(Marks::LOST).with(Marks::RESENT)) {
            for mark in [Marks::SACKED, Marks::LOST, Marks::RESENT] {
                *self.count(mark) -= if head.marks().has(mark) { bytes } else { 0 };
            }
        }
        if head.marks().has(Marks::WATCHED) {
            self.watch_acknowledged(head, start, ack, now);
        }
    }
}

#[cfg(test)]
mod tests;
