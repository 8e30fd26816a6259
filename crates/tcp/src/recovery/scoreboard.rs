//! Segments that have been sent and are not cumulatively acknowledged: one board for every loss
//! recovery.
//!
//! A segment is on it from when it was sent until it is cumulatively acknowledged. Each carries the
//! time at which it left last and its marks; the bytes with each mark are counted.

use super::rates::{RateSample, Rates};
use airpath_core::{Duration, Ring, Time};

/// State of a sent segment: a set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    /// Selectively acknowledged: the whole of it has arrived.
    pub(crate) const SACKED: Marks = Marks(1);
    /// Held for lost and not selectively acknowledged since.
    pub(crate) const LOST: Marks = Marks(2);
    /// Retransmitted since it was last deemed lost.
    pub(crate) const RESENT: Marks = Marks(4);
    /// Sent more than once, or not known when: it gives no RTT sample (Karn's rule).
    const AMBIGUOUS: Marks = Marks(8);
    /// Rate samples are taken of it.
    const WATCHED: Marks = Marks(16);
    /// Its bytes count as delivered.
    const COUNTED: Marks = Marks(32);

    #[inline]
    pub(crate) const fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    const fn with(self, mark: Marks) -> Marks {
        Marks(self.0 | mark.0)
    }

    const fn without(self, mark: Marks) -> Marks {
        Marks(self.0 & !mark.0)
    }

    #[inline]
    const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// One segment; it begins where the one before it ends, the first at `una`.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Stream offset behind its last byte, below 2⁵⁸, and in the lower bits the marks.
    end_and_marks: u64,
    /// When it left last.
    sent_at: Time,
}

impl Segment {
    /// How many marks there may be.
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

/// The segments in flight, oldest first, and the offsets of RFC 9293 §3.3.1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: Ring<Segment>,
    /// SND.UNA: everything before it is cumulatively acknowledged.
    una: u64,
    /// Next byte to send: before `max` when a timeout made the sender go back.
    nxt: u64,
    /// SND.NXT of the RFC: everything before it has been sent.
    max: u64,
    /// End of the data outstanding at the last timeout.
    loss_until: u64,
    /// Bytes with the marks SACKED, LOST and RESENT.
    sacked: u64,
    lost: u64,
    resent: u64,
    /// State of rate samples, for a congestion control that uses them.
    rates: Option<Box<Rates>>,
}

impl Scoreboard {
    /// A board that takes rate samples.
    pub(crate) fn with_rates(self) -> Scoreboard {
        Scoreboard { rates: Some(Box::default()), ..self }
    }

    /// Whether it takes rate samples.
    #[inline]
    pub(crate) const fn is_watched(&self) -> bool {
        self.rates.is_some()
    }

    /// SND.UNA, the oldest byte that is not cumulatively acknowledged.
    #[inline]
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// The next byte to send.
    #[inline]
    pub(crate) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// The byte behind the highest ever sent.
    #[inline]
    pub(crate) const fn max(&self) -> u64 {
        self.max
    }

    /// FlightSize (RFC 5681 §2): bytes sent and not cumulatively acknowledged.
    #[inline]
    pub(crate) const fn flight(&self) -> u64 {
        self.max - self.una
    }

    /// The retransmission timer expired.
    pub(crate) fn note_timeout(&mut self) {
        self.loss_until = self.max;
    }

    /// Whether something is outstanding that was so when the timer expired.
    #[inline]
    pub(crate) const fn is_after_timeout(&self) -> bool {
        self.una < self.loss_until
    }

    /// Bytes of it in selectively acknowledged segments.
    pub(crate) const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Bytes of it in segments held for lost.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Bytes of it in segments retransmitted since they were deemed lost.
    pub(crate) const fn resent(&self) -> u64 {
        self.resent
    }

    /// Notes a segment of new data that ends at `end`.
    #[inline]
    pub(crate) fn push(&mut self, end: u64, now: Time) {
        let marks = if self.is_watched() { self.watch(now) } else { Marks::default() };
        self.push_marked(end, now, marks);
    }

    /// The same on a board that takes no rate samples.
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

    /// A segment that rate samples are taken of leaves.
    #[cold]
    fn watch(&mut self, now: Time) -> Marks {
        let is_first = self.flight() == 0;
        if let Some(rates) = &mut self.rates {
            rates.push(is_first, now);
        }
        Marks::WATCHED
    }

    /// Records that the segment that holds the byte `seq` is retransmitted, to its end.
    #[inline(never)]
    pub(crate) fn push_again(&mut self, seq: u64, now: Time) {
        let index = self.index_of(seq);
        let start = self.start(index);
        let segment = &mut self.segments[index];
        if !segment.marks().has(Marks::RESENT) {
            self.resent += segment.end() - start;
        }
        segment.sent_at = now;
        segment.set_marks(segment.marks().with(Marks::AMBIGUOUS).with(Marks::RESENT));
        self.nxt = self.nxt.max(segment.end());
        if let Some(rates) = &mut self.rates {
            rates.push_again(index, now);
        }
    }

    /// When the segment that holds the byte `seq` left, if it did once and that is known.
    pub(crate) fn sent_at(&self, seq: u64) -> Option<Time> {
        let segment = &self.segments[self.index_of(seq)];
        (!segment.marks().has(Marks::AMBIGUOUS)).then_some(segment.sent_at)
    }

    /// When the segment that holds the byte `seq` was sent is not known.
    pub(crate) fn forget_time(&mut self, seq: u64) {
        let index = self.index_of(seq);
        let segment = &mut self.segments[index];
        segment.set_marks(segment.marks().with(Marks::AMBIGUOUS));
    }

    /// Sending continues with the oldest byte (go-back-N).
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// Where the segment that holds the byte `seq` ends.
    #[inline]
    pub(crate) fn end_of(&self, seq: u64) -> u64 {
        self.segments[self.index_of(seq)].end()
    }

    /// Where the segment that holds the byte `seq` begins.
    pub(crate) fn start_of(&self, seq: u64) -> u64 {
        self.start(self.index_of(seq))
    }

    /// Number of segments.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// Start of segment number `index`.
    pub(crate) fn start(&self, index: usize) -> u64 {
        match index {
            0 => self.una,
            _ => self.segments[index - 1].end(),
        }
    }

    /// End of segment number `index`.
    pub(crate) fn end(&self, index: usize) -> u64 {
        self.segments[index].end()
    }

    /// Time at which segment number `index` left last.
    pub(crate) fn left_at(&self, index: usize) -> Time {
        self.segments[index].sent_at
    }

    /// Whether it was sent more than once, or it is not known when.
    pub(crate) fn is_ambiguous(&self, index: usize) -> bool {
        self.marks(index).has(Marks::AMBIGUOUS)
    }

    /// The marks of segment number `index`.
    pub(crate) fn marks(&self, index: usize) -> Marks {
        self.segments[index].marks()
    }

    /// How many segments end at `at` or before.
    pub(crate) fn ended_by(&self, at: u64) -> usize {
        self.segments.partition_point(|segment| segment.end() <= at)
    }

    /// How many segments begin before `at`.
    pub(crate) fn begun_before(&self, at: u64) -> usize {
        if at <= self.una {
            return 0;
        }
        let ended = self.segments.partition_point(|segment| segment.end() < at);
        (ended + 1).min(self.segments.len())
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

    /// Puts one of the marks that are counted on a segment; returns whether it is new there.
    pub(crate) fn mark(&mut self, index: usize, mark: Marks) -> bool {
        let bytes = self.end(index) - self.start(index);
        let segment = &mut self.segments[index];
        let is_new = !segment.marks().has(mark);
        segment.set_marks(segment.marks().with(mark));
        *self.count(mark) += if is_new { bytes } else { 0 };
        is_new
    }

    /// Removes one of them; returns whether it was set.
    pub(crate) fn unmark(&mut self, index: usize, mark: Marks) -> bool {
        let bytes = self.end(index) - self.start(index);
        let segment = &mut self.segments[index];
        let was_there = segment.marks().has(mark);
        segment.set_marks(segment.marks().without(mark));
        *self.count(mark) -= if was_there { bytes } else { 0 };
        was_there
    }

    /// A block reports that the bytes from `start` to `end` have arrived, `news` of them for the
    /// first time, mostly in segments of `mss` bytes: marks the segments that are completely inside
    /// as arrived and not lost.
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

    /// Segment number `index` has arrived. Returns its bytes, when that is new.
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
            self.count_delivered(index, bytes, now);
        }
        bytes
    }

    /// All that is left of a watched segment has arrived, `bytes`.
    #[cold]
    fn count_delivered(&mut self, index: usize, bytes: u64, now: Time) {
        let segment = self.segments[index];
        if segment.marks().has(Marks::COUNTED) {
            return;
        }
        self.segments[index].set_marks(segment.marks().with(Marks::COUNTED));
        if let Some(rates) = &mut self.rates {
            rates.on_delivered(index, (segment.sent_at, segment.end()), bytes, now);
        }
    }

    /// A duplicate ACK came, on a connection without SACK, in segments of `mss` bytes. After a
    /// timeout it is caused by an unnecessary retransmission.
    pub(crate) fn on_duplicate(&mut self, mss: u64, now: Time) {
        let (flight, is_in_vain) = (self.flight(), self.is_after_timeout());
        if let Some(rates) = &mut self.rates
            && !is_in_vain
        {
            rates.on_duplicate(mss, flight, now);
        }
    }

    /// The rate sample of the current ACK, whose RTT is `rtt`.
    #[inline]
    pub(crate) fn take_rate(&mut self, rtt: Option<Duration>) -> Option<RateSample> {
        if self.is_watched() { self.make_rate(rtt) } else { None }
    }

    #[cold]
    fn make_rate(&mut self, rtt: Option<Duration>) -> Option<RateSample> {
        self.rates.as_mut()?.take(rtt)
    }

    /// There was nothing to send, with `in_flight` bytes in flight: segments sent before they have
    /// arrived measure the application's rate.
    pub(crate) fn limit_by_application(&mut self, in_flight: u64) {
        if let Some(rates) = &mut self.rates {
            rates.limit_by_application(in_flight);
        }
    }

    /// How many segments end at `at` or before: looked up first where it would be if all were of
    /// `mss` bytes.
    fn ended_by_about(&self, at: u64, mss: u64) -> usize {
        let whole = ((at - self.una).div_ceil(mss) as usize).min(self.segments.len());
        if whole > 0 && self.segments[whole - 1].end() == at { whole } else { self.ended_by(at) }
    }

    /// Discards the information of SACK blocks.
    pub(crate) fn forget_sacked(&mut self) {
        for index in 0..self.len() {
            self.unmark(index, Marks::SACKED);
        }
    }

    /// Removes what the cumulative `ack` covers. Returns an RTT sample when the oldest segment of
    /// it was sent only once; a segment that waited behind a hole thus gives none, for the hole was
    /// filled by a retransmission.
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

    /// The oldest segment, which begins at `start` and has marks, leaves the board as far as `ack`
    /// covers it.
    #[cold]
    fn remove_acknowledged(&mut self, start: u64, ack: u64, now: Time) {
        let head = self.segments[0];
        let bytes = head.end().min(ack) - start;
        for mark in [Marks::SACKED, Marks::LOST, Marks::RESENT] {
            *self.count(mark) -= if head.marks().has(mark) { bytes } else { 0 };
        }
        if !head.marks().has(Marks::WATCHED) {
            return;
        }
        let is_oldest = start == self.una;
        let newly_delivered =
            self.rates.as_mut().map_or(bytes, |rates| rates.newly_delivered(bytes, is_oldest));
        if head.end() <= ack {
            self.count_delivered(0, newly_delivered, now);
        }
        if let Some(rates) = &mut self.rates {
            if head.end() <= ack {
                rates.drop_front();
            } else if !head.marks().has(Marks::COUNTED) {
                rates.on_part_delivered(newly_delivered, now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
