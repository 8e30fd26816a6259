//! Delivery rate samples, for congestion control algorithms that use them.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation-02 §3, the same in draft-ietf-ccwg-bbr §4.1.
//! Names are those of the drafts.
//!
//! Without SACK, each duplicate ACK counts as one arrived segment. An ACK of new data then counts
//! only the bytes that duplicate ACKs have not reported (Linux `tcp_add_reno_sack`,
//! `tcp_remove_reno_sacks`). Otherwise all data beyond a hole would seem to arrive when the hole is
//! filled. If a reordered segment triggers a delayed ACK, this ACK is not a duplicate, and the
//! segment's arrival is not counted at this time. Therefore, with reordering, a sample without SACK
//! may count one segment more than arrived in its interval.

use airpath_core::{Duration, Rate, Ring, Time};

/// Sample of the delivery rate, taken from the most recently sent segment that an ACK acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Payload bytes delivered in `interval`, above 0.
    pub delivered: u64,
    /// The longer of two durations: that of the transmission of these bytes, and that of their
    /// acknowledgement. At least the minimum RTT.
    pub interval: Duration,
    /// Payload bytes delivered on the connection before that segment was sent. A round trip ends
    /// when this value reaches the `total_delivered` at the beginning of the round trip.
    pub prior_delivered: u64,
    /// Payload bytes delivered on the connection until now.
    pub total_delivered: u64,
    /// Bytes in the network (pipe, RFC 6675) after that segment was sent, including the segment:
    /// RS.tx_in_flight of draft-ietf-ccwg-bbr.
    pub tx_in_flight: u64,
    /// Bytes deemed lost between the transmission of that segment and now: RS.lost.
    pub lost: u64,
    /// True if that segment was sent after the sender had run out of data. The sample may then
    /// measure the rate of the application.
    pub app_limited: bool,
}

/// A segment that is deemed lost, with the state of the sender when the segment was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostSegment {
    /// Stream offset of the segment.
    pub start: u64,
    /// Payload bytes of the segment.
    pub bytes: u64,
    /// Payload bytes delivered on the connection until now: C.delivered.
    pub total_delivered: u64,
    /// Bytes in the network after the segment was sent, including the segment.
    pub tx_in_flight: u64,
    /// Bytes deemed lost between the transmission of the segment and now, including the segment.
    pub lost: u64,
    /// True if the segment was sent after the sender had run out of data.
    pub app_limited: bool,
}

/// State of the network after an ACK, for congestion control algorithms that use rate samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InflightSample {
    /// Estimated bytes in the network after this ACK (pipe, RFC 6675): outstanding bytes that are
    /// neither selectively acknowledged nor deemed lost, plus retransmissions. Segments that are
    /// sent because of this ACK do not count (Linux `tcp_packets_in_flight` in `cong_control`).
    pub bytes: u64,
    /// The same before this ACK (Linux `rs->prior_in_flight`).
    pub prior_bytes: u64,
    /// Bytes that this ACK has revealed as lost: RS.newly_lost of draft-ietf-ccwg-bbr, Linux
    /// `rs->losses`. Segments that a timer has deemed lost do not count. A retransmission that is
    /// deemed lost counts again.
    pub newly_lost: u64,
    /// Payload bytes delivered on the connection until now: C.delivered.
    pub total_delivered: u64,
    /// Bytes deemed lost on the connection until now: C.lost.
    pub total_lost: u64,
    /// RTT of the most recently sent segment that this ACK acknowledges, if that segment was sent
    /// only once.
    pub rtt: Option<Duration>,
}

impl RateSample {
    /// Returns the delivery rate, payload bits per second, rounded down.
    #[inline]
    pub fn rate(&self) -> Rate {
        let nanos = self.interval.as_nanos().max(1);
        match self.delivered.checked_mul(8 * 1_000_000_000) {
            Some(bits_ns) => Rate(bits_ns / nanos),
            None => self.rate_of_many_bytes(nanos),
        }
    }

    /// Returns the rate of more than 2.3 GB in `nanos` ns.
    #[cold]
    fn rate_of_many_bytes(&self, nanos: u64) -> Rate {
        let bits_ns = u128::from(self.delivered) * 8 * 1_000_000_000;
        Rate(u64::try_from(bits_ns / u128::from(nanos)).unwrap_or(u64::MAX))
    }
}

/// State of the estimator at the transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    /// The four fields are P.delivered, P.delivered_time, P.first_sent_time and P.is_app_limited of
    /// the draft.
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    app_limited: bool,
    /// P.tx_in_flight and P.lost.
    tx_in_flight: u64,
    lost: u64,
    is_retransmission: bool,
}

/// The most recently sent segment that the current ACK delivered.
#[derive(Clone, Copy, Debug)]
struct Newest {
    stamp: Stamp,
    sent_at: Time,
    end: u64,
}

/// State before an ACK.
#[derive(Clone, Copy, Debug, Default)]
struct BeforeAck {
    /// Bytes in the network.
    bytes: u64,
    /// C.lost.
    lost: u64,
}

/// State of the estimator of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// One entry for each segment of the scoreboard.
    stamps: Ring<Stamp>,
    /// The three fields are C.delivered, C.delivered_time and C.first_sent_time of the draft.
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    /// C.app_limited: samples are marked as application-limited until more than this number of
    /// bytes is delivered.
    app_limited_until: Option<u64>,
    /// Bytes reported by duplicate ACKs since the last cumulative acknowledgement.
    reported_by_duplicates: u64,
    min_rtt: Option<Duration>,
    newest: Option<Newest>,
    /// C.lost.
    lost: u64,
    /// State before the current ACK.
    before: BeforeAck,
    /// Bytes added to the network since the current ACK arrived.
    sent_since_ack: u64,
    /// Lost segments of which the congestion control is not yet notified, oldest first.
    lost_segments: Ring<LostSegment>,
    /// RTT of the newest segment of the current ACK.
    rtt: Option<Duration>,
    /// All segments before this offset have arrived or are deemed lost (`Scoreboard::lose_before`).
    pub(super) judged_until: u64,
}

impl Rates {
    /// `SendPacket`. `is_first`: no data is in flight. `tx_in_flight`: bytes in the network,
    /// including the sent segment.
    fn stamp(&mut self, is_first: bool, tx_in_flight: u64, now: Time) -> Stamp {
        if is_first {
            self.reported_by_duplicates = 0;
            self.first_sent_time = now;
            self.delivered_time = now;
        }
        Stamp {
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            app_limited: self.app_limited_until.is_some(),
            tx_in_flight,
            lost: self.lost,
            is_retransmission: false,
        }
    }

    /// Records a new segment of `bytes` bytes.
    pub(super) fn push(&mut self, is_first: bool, bytes: u64, tx_in_flight: u64, now: Time) {
        self.sent_since_ack += bytes;
        let stamp = self.stamp(is_first, tx_in_flight, now);
        self.stamps.push_back(stamp);
    }

    /// Records a retransmission of the segment at `index`, which has added `bytes` to the network.
    pub(super) fn push_again(&mut self, index: usize, bytes: u64, tx_in_flight: u64, now: Time) {
        self.sent_since_ack += bytes;
        let stamp = self.stamp(false, tx_in_flight, now);
        self.stamps[index] = Stamp { is_retransmission: true, ..stamp };
    }

    /// Records that the segment at `index`, from `start` and with `bytes` bytes, is deemed lost.
    pub(super) fn on_lost(&mut self, index: usize, start: u64, bytes: u64) {
        self.lost += bytes;
        let Stamp { tx_in_flight, lost, app_limited, .. } = self.stamps[index];
        let lost = self.lost - lost;
        self.lost_segments.push_back(LostSegment {
            start,
            bytes,
            total_delivered: self.delivered,
            tx_in_flight,
            lost,
            app_limited,
        });
    }

    /// Removes and returns the oldest lost segment of which the congestion control is not notified.
    pub(super) fn pop_lost(&mut self) -> Option<LostSegment> {
        self.lost_segments.pop_front()
    }

    /// Bytes that duplicate ACKs have reported as arrived.
    pub(super) const fn reported_by_duplicates(&self) -> u64 {
        self.reported_by_duplicates
    }

    /// Handles the arrival of an ACK, before the segments that it acknowledges are removed. `bytes`
    /// is the number of bytes in the network.
    pub(super) fn begin_ack(&mut self, bytes: u64) {
        self.before = BeforeAck { bytes, lost: self.lost };
        self.sent_since_ack = 0;
    }

    /// Returns the state after the current ACK. Called once for each ACK, after
    /// [`take`](Self::take). `bytes` is the number of bytes in the network.
    pub(super) fn inflight(&mut self, bytes: u64) -> InflightSample {
        InflightSample {
            bytes: bytes.saturating_sub(self.sent_since_ack),
            prior_bytes: self.before.bytes,
            newly_lost: self.lost - self.before.lost,
            total_delivered: self.delivered,
            total_lost: self.lost,
            rtt: self.rtt.take(),
        }
    }

    /// Handles a duplicate ACK without SACK while `flight` bytes are outstanding: a further segment
    /// of `bytes` bytes has arrived, which is not the oldest segment.
    pub(super) fn on_duplicate(&mut self, bytes: u64, flight: u64, now: Time) {
        if self.reported_by_duplicates + 2 * bytes <= flight {
            self.reported_by_duplicates += bytes;
            self.on_part_delivered(bytes, now);
        }
    }

    /// Returns the part of `bytes` cumulatively acknowledged bytes that no duplicate ACK has
    /// reported. Duplicate ACKs never report the oldest segment.
    pub(super) fn newly_delivered(&mut self, bytes: u64, is_oldest: bool) -> u64 {
        let told = if is_oldest { 0 } else { bytes.min(self.reported_by_duplicates) };
        self.reported_by_duplicates -= told;
        bytes - told
    }

    /// `UpdateRateSample`: handles the arrival of the segment at `index`, which was last sent at
    /// `sent_at` and ends at `end`. `bytes` is the number of newly delivered bytes.
    pub(super) fn on_delivered(
        &mut self,
        index: usize,
        (sent_at, end): (Time, u64),
        bytes: u64,
        now: Time,
    ) {
        self.on_part_delivered(bytes, now);
        let is_newest = self.newest.is_none_or(|n| (sent_at, end) > (n.sent_at, n.end));
        if is_newest {
            self.newest = Some(Newest { stamp: self.stamps[index], sent_at, end });
        }
    }

    /// Counts the bytes of a partly arrived segment.
    pub(super) fn on_part_delivered(&mut self, bytes: u64, now: Time) {
        self.delivered += bytes;
        self.delivered_time = now;
    }

    /// Removes the oldest segment, which is cumulatively acknowledged.
    pub(super) fn drop_front(&mut self) {
        self.stamps.drop_front();
    }

    /// Records that the sender has no data to send while `in_flight` bytes are in flight.
    pub(super) fn limit_by_application(&mut self, in_flight: u64) {
        self.app_limited_until = Some(self.delivered + in_flight);
    }

    /// Updates the minimum RTT. The RTT of the newest segment counts as in Linux
    /// (`tcp_update_rtt_min`), because that of the oldest one includes the delay of the ACK.
    fn note_rtt(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// `GenerateRateSample`: returns the sample of the current ACK, whose RTT is `rtt`. `None` if
    /// the ACK delivered no complete segment, or if the interval is shorter than the minimum RTT
    /// and therefore not plausible.
    pub(super) fn take(&mut self, rtt: Option<Duration>) -> Option<RateSample> {
        self.note_rtt(rtt);
        self.app_limited_until = self.app_limited_until.filter(|until| self.delivered <= *until);
        let Newest { stamp, sent_at, .. } = self.newest?;
        self.newest = None;
        let rtt = self.delivered_time.saturating_since(sent_at);
        self.rtt = (!stamp.is_retransmission).then_some(rtt);
        self.note_rtt(self.rtt);
        self.first_sent_time = sent_at;
        let send_elapsed = sent_at.saturating_since(stamp.first_sent_time);
        let ack_elapsed = self.delivered_time.saturating_since(stamp.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        (interval >= self.min_rtt.unwrap_or_default()).then(|| RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            total_delivered: self.delivered,
            tx_in_flight: stamp.tx_in_flight,
            lost: self.lost - stamp.lost,
            app_limited: stamp.app_limited,
        })
    }
}

#[cfg(test)]
mod tests;
