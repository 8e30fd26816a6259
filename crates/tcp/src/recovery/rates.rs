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
    /// neither selectively acknowledged nor deemed lost, plus retransmissions.
    pub bytes: u64,
    /// Bytes deemed lost since the last ACK. A retransmission that is deemed lost counts again.
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
    /// C.lost, and its value at the last ACK.
    lost: u64,
    lost_before: u64,
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

    /// Records a new segment.
    pub(super) fn push(&mut self, is_first: bool, tx_in_flight: u64, now: Time) {
        let stamp = self.stamp(is_first, tx_in_flight, now);
        self.stamps.push_back(stamp);
    }

    /// Records a retransmission of the segment at `index`.
    pub(super) fn push_again(&mut self, index: usize, tx_in_flight: u64, now: Time) {
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

    /// Returns the state after the current ACK. Called once for each ACK, after
    /// [`take`](Self::take). `bytes` is the number of bytes in the network.
    pub(super) fn inflight(&mut self, bytes: u64) -> InflightSample {
        let newly_lost = self.lost - std::mem::replace(&mut self.lost_before, self.lost);
        InflightSample {
            bytes,
            newly_lost,
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
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn ms(at: u64) -> Time {
        Time::from_millis(at)
    }

    /// Acknowledges the segment at `index`, which was sent at `sent_ms`, and returns the sample.
    fn arrive(rates: &mut Rates, index: usize, sent_ms: u64, now_ms: u64) -> Option<RateSample> {
        let end = (sent_ms + 1) * MSS;
        rates.on_delivered(index, (ms(sent_ms), end), MSS, ms(now_ms));
        rates.drop_front();
        rates.take(Some(Duration::from_millis(now_ms - sent_ms)))
    }

    /// Four segments are sent in 30 ms and acknowledged in 60 ms. The sample uses the longer time.
    #[test]
    fn interval_is_the_longer_of_send_time_and_ack_time() {
        let mut rates = Rates::default();
        for i in 0..4 {
            rates.push(i == 0, MSS, ms(10 * i));
        }
        assert_eq!(
            arrive(&mut rates, 0, 0, 100).map(|s| s.interval),
            Some(Duration::from_millis(100))
        );
        rates.push(false, MSS, ms(100));
        for (i, now) in [(1, 120), (2, 140), (3, 160)] {
            arrive(&mut rates, 0, 10 * i, now);
        }
        // This segment was sent at 100 ms, when one segment had been delivered. At 220 ms, four
        // more segments have been delivered.
        let sample = arrive(&mut rates, 0, 100, 220).expect("a sample");
        assert_eq!(
            (sample.delivered, sample.prior_delivered, sample.total_delivered),
            (4000, 1000, 5000)
        );
        assert_eq!(sample.interval, Duration::from_millis(120));
        assert_eq!(sample.rate(), Rate(266_666));
        assert!(!sample.app_limited);
    }

    /// Two segments are retransmitted and seem to arrive immediately, because the original segments
    /// have arrived.
    #[test]
    fn delivery_in_less_than_the_minimum_rtt_gives_no_sample() {
        let mut rates = Rates::default();
        for i in 0..3 {
            rates.push(i == 0, MSS, ms(0));
        }
        assert!(arrive(&mut rates, 0, 0, 50).is_some());
        for (index, end, sent, now) in [(0, 2 * MSS, 60, 61), (1, 3 * MSS, 62, 63)] {
            rates.push_again(index, MSS, ms(sent));
            rates.on_delivered(index, (ms(sent), end), MSS, ms(now));
            let interval = rates.take(None).map(|sample| sample.interval);
            assert_eq!(interval, (index == 0).then_some(Duration::from_millis(60)));
        }
    }

    #[test]
    fn samples_are_app_limited_until_the_flight_at_the_pause_is_exceeded() {
        let mut rates = Rates::default();
        rates.push(true, MSS, ms(0));
        rates.limit_by_application(MSS);
        rates.push(false, MSS, ms(1));
        rates.push(false, MSS, ms(2));
        let marks = [(0, 50), (1, 51)].map(|(sent, now)| arrive(&mut rates, 0, sent, now));
        assert_eq!(marks.map(|sample| sample.map(|s| s.app_limited)), [Some(false), Some(true)]);
        rates.push(false, MSS, ms(52));
        assert_eq!(arrive(&mut rates, 0, 2, 53).map(|s| s.app_limited), Some(true));
        assert_eq!(arrive(&mut rates, 0, 52, 103).map(|s| s.app_limited), Some(false));
    }

    /// Two duplicate ACKs arrive, then an ACK of the hole and of the two segments beyond it.
    #[test]
    fn bytes_reported_by_dupacks_count_once() {
        let mut rates = Rates::default();
        for i in 0..3 {
            rates.push(i == 0, MSS, ms(0));
        }
        for now in [50, 51, 52] {
            // The third duplicate ACK reports data that cannot have arrived.
            rates.on_duplicate(MSS, 3 * MSS, ms(now));
        }
        assert_eq!((rates.delivered, rates.delivered_time), (2000, ms(51)));
        let newly_delivered =
            [true, false, false, false].map(|oldest| rates.newly_delivered(MSS, oldest));
        assert_eq!(newly_delivered, [MSS, 0, 0, MSS]);
    }

    /// `SendPacket`: if no data is in flight, the send interval and the ACK interval begin with the
    /// sent segment, and duplicate ACKs for earlier data do not count.
    #[test]
    fn pause_does_not_count_as_send_time_or_ack_time() {
        let mut rates = Rates::default();
        rates.push(true, MSS, ms(0));
        arrive(&mut rates, 0, 0, 50);
        rates.on_duplicate(MSS, 3 * MSS, ms(51));
        rates.push(true, MSS, ms(1000));
        assert_eq!(rates.newly_delivered(MSS, false), MSS);
        let sample = arrive(&mut rates, 0, 1000, 1060).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (MSS, Duration::from_millis(60)));
        assert_eq!(sample.rate(), Rate(133_333));
    }

    /// In the draft, samples are application-limited until C.delivered > C.app_limited.
    /// C.app_limited is set at the pause to C.delivered plus the flight.
    #[test]
    fn segments_are_app_limited_until_the_flight_at_a_pause_has_arrived() {
        let mut rates = Rates::default();
        rates.push(true, MSS, ms(0));
        rates.push(false, MSS, ms(1));
        rates.limit_by_application(2 * MSS);
        let mut marks = Vec::new();
        // The first segment, the last segment in flight at the pause, and the two segments sent
        // after it.
        for (sent, now) in [(0, 50), (1, 51), (50, 100), (51, 101)] {
            arrive(&mut rates, 0, sent, now);
            rates.push(false, MSS, ms(now));
            marks.push(rates.app_limited_until.is_some());
        }
        assert_eq!(marks, [true, true, false, false]);
        let samples = [100, 101].map(|sent| arrive(&mut rates, 0, sent, sent + 50));
        assert_eq!(samples.map(|sample| sample.map(|s| s.app_limited)), [Some(false); 2]);
    }

    /// `IsNewestPacket`: the sample is taken from the most recently sent segment that an ACK
    /// delivers, not from the highest offset. The oldest segment is retransmitted after the arrival
    /// of the second one.
    #[test]
    fn sample_is_taken_from_the_most_recently_sent_segment() {
        let sample_of = |order: [usize; 2]| {
            let mut rates = Rates::default();
            for i in 0..3 {
                rates.push(i == 0, MSS, ms(i));
            }
            rates.on_delivered(1, (ms(1), 2 * MSS), MSS, ms(51));
            assert_eq!(rates.take(None).map(|sample| sample.prior_delivered), Some(0));
            rates.push_again(0, MSS, ms(60));
            for index in order {
                let sent_at = if index == 0 { ms(60) } else { ms(2) };
                rates.on_delivered(index, (sent_at, (index as u64 + 1) * MSS), MSS, ms(110));
            }
            rates.take(None).expect("a sample")
        };
        for order in [[0, 2], [2, 0]] {
            let sample = sample_of(order);
            assert_eq!((sample.prior_delivered, sample.delivered), (MSS, 2 * MSS), "{order:?}");
            // The ACK interval is 51 to 110 ms, and the send interval is 1 to 60 ms.
            assert_eq!(sample.interval, Duration::from_millis(59), "{order:?}");
        }
    }

    /// Two segments are sent at the same time, one before and one after an ACK. The sample is taken
    /// from the later segment.
    #[test]
    fn segment_with_the_higher_end_is_newer_at_equal_send_times() {
        let mut rates = Rates::default();
        rates.push(true, MSS, ms(0));
        rates.push(false, MSS, ms(50));
        arrive(&mut rates, 0, 0, 50);
        rates.push(false, MSS, ms(50));
        for index in [0, 1] {
            rates.on_delivered(index, (ms(50), (index as u64 + 2) * MSS), MSS, ms(100));
        }
        let sample = rates.take(None).expect("a sample");
        assert_eq!((sample.prior_delivered, sample.delivered), (MSS, 2 * MSS));
    }

    #[test]
    fn rate_of_an_empty_interval_uses_one_nanosecond_and_does_not_overflow() {
        let over = |delivered, nanos| {
            let interval = Duration::from_nanos(nanos);
            let (prior_delivered, total_delivered, app_limited) = (0, delivered, false);
            let (tx_in_flight, lost) = (delivered, 0);
            let sample = RateSample {
                delivered,
                interval,
                prior_delivered,
                total_delivered,
                tx_in_flight,
                lost,
                app_limited,
            };
            sample.rate()
        };
        assert_eq!(over(1000, 0), Rate(8_000_000_000_000));
        assert_eq!(over(1000, 3), Rate(2_666_666_666_666));
        assert_eq!(over(u64::MAX, 0), Rate(u64::MAX));
    }
}
