//! Part of the scoreboard that serves delivery rate samples, for a congestion control that uses
//! them.

use super::super::rates::{InflightSample, LostSegment, RateSample};
use super::{Marks, Scoreboard, Segment};
use airpath_core::{Duration, Time};

impl Scoreboard {
    /// Records a new segment that ends at `end` for the rate samples.
    #[cold]
    pub(super) fn watch(&mut self, end: u64, now: Time) -> Marks {
        let (is_first, bytes) = (self.flight() == 0, end - self.max);
        let tx_in_flight = self.pipe() + bytes;
        if let Some(rates) = &mut self.rates {
            rates.push(is_first, bytes, tx_in_flight, now);
        }
        Marks::WATCHED
    }

    /// Records a retransmission of the segment at `index`, which has added `bytes` to the network, for
    /// the rate samples.
    #[cold]
    pub(super) fn watch_again(&mut self, index: usize, bytes: u64, now: Time) {
        let tx_in_flight = self.pipe();
        if let Some(rates) = &mut self.rates {
            rates.push_again(index, bytes, tx_in_flight, now);
        }
    }

    /// Returns the estimated bytes in the network (pipe, RFC 6675), for a recovery that marks lost
    /// segments, or on a connection with rate samples: neither selectively acknowledged, nor reported
    /// by a duplicate ACK, nor lost, plus retransmissions.
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        let reported = self.rates.as_ref().map_or(0, |rates| rates.reported_by_duplicates());
        (self.flight() + self.resent).saturating_sub(self.sacked + self.lost + reported)
    }

    /// Deems the segment at `index` lost, or its last retransmission.
    pub(crate) fn lose(&mut self, index: usize) {
        let was_resent = self.marks(index).has(Marks::RESENT) && self.unmark(index, Marks::RESENT);
        let is_new = self.mark(index, Marks::LOST);
        if self.is_watched() && (is_new || was_resent) {
            self.watch_loss(index);
        }
    }

    #[cold]
    pub(super) fn watch_loss(&mut self, index: usize) {
        let start = self.start(index);
        let bytes = self.end(index) - start;
        if let Some(rates) = &mut self.rates {
            rates.on_lost(index, start, bytes);
        }
    }

    /// Deems the segment that contains the byte `seq` lost, for the rate samples of a recovery that
    /// does not mark segments.
    pub(crate) fn lose_at(&mut self, seq: u64) {
        self.lose(self.index_of(seq));
    }

    /// Deems the segments before `edge` lost that have neither arrived nor been deemed lost.
    pub(crate) fn lose_before(&mut self, edge: u64) {
        let Some(rates) = &mut self.rates else { return };
        let judged_until = rates.judged_until.max(self.una);
        if edge <= judged_until {
            return;
        }
        rates.judged_until = edge;
        for index in self.ended_by(judged_until)..self.ended_by(edge) {
            let marks = self.marks(index);
            if !marks.has(Marks::SACKED) && !marks.has(Marks::LOST) {
                self.lose(index);
            }
        }
    }

    /// Deems all segments lost that have not arrived, also retransmissions.
    pub(crate) fn lose_all(&mut self) {
        for index in 0..self.len() {
            if !self.marks(index).has(Marks::SACKED) {
                self.lose(index);
            }
        }
    }

    /// Counts the cumulative acknowledgement `ack` of the oldest segment `head`, which begins at
    /// `start`, for the rate samples.
    pub(super) fn watch_acknowledged(&mut self, head: Segment, start: u64, ack: u64, now: Time) {
        let (end, is_oldest) = (head.end(), start == self.una);
        let Some(rates) = &mut self.rates else { return };
        let newly_delivered = rates.newly_delivered(end.min(ack) - start, is_oldest);
        let is_counted = head.marks().has(Marks::COUNTED);
        if end > ack {
            if !is_counted {
                rates.on_part_delivered(newly_delivered, now);
            }
            return;
        }
        if !is_counted {
            rates.on_delivered(0, (head.sent_at, end), newly_delivered, now);
        }
        rates.drop_front();
    }

    /// Counts the remaining `bytes` of an arrived segment for the rate samples.
    #[cold]
    pub(super) fn count_delivered(&mut self, index: usize, bytes: u64, now: Time) {
        let segment = self.segments[index];
        if segment.marks().has(Marks::COUNTED) {
            return;
        }
        self.segments[index].set_marks(segment.marks().with(Marks::COUNTED));
        if let Some(rates) = &mut self.rates {
            rates.on_delivered(index, (segment.sent_at, segment.end()), bytes, now);
        }
    }

    /// Updates the rate samples for a duplicate ACK on a connection without SACK, with segments of
    /// `mss` bytes. After a timeout, the cause of a duplicate ACK is an unnecessary retransmission.
    pub(crate) fn on_duplicate(&mut self, mss: u64, now: Time) {
        let (flight, is_in_vain) = (self.flight(), self.is_after_timeout());
        if let Some(rates) = &mut self.rates
            && !is_in_vain
        {
            rates.on_duplicate(mss, flight, now);
        }
    }

    /// Handles the arrival of an ACK, before [`acknowledge`](Self::acknowledge), for the rate samples.
    #[cold]
    pub(crate) fn begin_ack(&mut self) {
        let pipe = self.pipe();
        if let Some(rates) = &mut self.rates {
            rates.begin_ack(pipe);
        }
    }

    /// Returns the rate sample of the current ACK, whose RTT is `rtt`, and the state of the network
    /// after this ACK; `None` without rate samples. Called once for each ACK.
    #[inline]
    pub(crate) fn take_samples(
        &mut self,
        rtt: Option<Duration>,
    ) -> (Option<RateSample>, Option<InflightSample>) {
        let pipe = self.pipe();
        match &mut self.rates {
            Some(rates) => (rates.take(rtt), Some(rates.inflight(pipe))),
            None => (None, None),
        }
    }

    /// Removes and returns the oldest lost segment of which the congestion control is not notified.
    pub(crate) fn pop_lost(&mut self) -> Option<LostSegment> {
        self.rates.as_mut()?.pop_lost()
    }

    /// Records that the sender has no data to send while `in_flight` bytes are in flight. Rate
    /// samples from segments that are sent before these bytes have arrived are application-limited.
    pub(crate) fn limit_by_application(&mut self, in_flight: u64) {
        if let Some(rates) = &mut self.rates {
            rates.limit_by_application(in_flight);
        }
    }
}
