//! Delivery-rate samples: how fast what was sent has arrived.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation-02 §3, the same in draft-ietf-ccwg-bbr §4.1;
//! the names are those of the drafts. Kept only for a congestion control that uses samples. Without
//! SACK each duplicate ACK counts as a segment that has arrived, and an ACK of new data for what
//! duplicates have not reported before (Linux `tcp_add_reno_sack`, `tcp_remove_reno_sacks`): else
//! all that had waited behind a hole would seem to arrive when it is filled. A delayed ACK that an
//! overtaking segment calls forth is no duplicate and hides it: under reordering a sample without
//! SACK may count a segment more than arrived in its interval.

use airpath_core::{Duration, Rate, Ring, Time};

/// A sample of the delivery rate, from the segment that left last of those that an ACK acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Payload bytes delivered in `interval`, above 0.
    pub delivered: u64,
    /// The longer one of the times in which they were sent and in which they were acknowledged, at
    /// least the smallest RTT.
    pub interval: Duration,
    /// Payload bytes delivered on the connection before that segment left; a round trip is over when
    /// this reaches what was delivered at its beginning.
    pub prior_delivered: u64,
    /// Payload bytes delivered on the connection.
    pub total_delivered: u64,
    /// Whether that segment left after a time in which there was nothing to send: the rate may then
    /// be the application's.
    pub app_limited: bool,
}

impl RateSample {
    /// The delivery rate, payload bits per second, rounded down.
    pub fn rate(&self) -> Rate {
        let bits_ns = u128::from(self.delivered) * 8 * 1_000_000_000;
        let rate = bits_ns / u128::from(self.interval.as_nanos().max(1));
        Rate(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

/// Record of a segment when it leaves.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    /// P.delivered, P.delivered_time, P.first_sent_time, P.is_app_limited.
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    app_limited: bool,
}

/// The newest segment that the ACK in hand delivered.
#[derive(Clone, Copy, Debug)]
struct Newest {
    stamp: Stamp,
    sent_at: Time,
    end: u64,
}

/// The state of the estimation on one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// One entry for each segment of the scoreboard.
    stamps: Ring<Stamp>,
    /// C.delivered, C.delivered_time, C.first_sent_time.
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    /// C.app_limited: samples are marked until more than this is delivered.
    app_limited_until: Option<u64>,
    /// Bytes that duplicate ACKs have reported, and no cumulative one since.
    reported_by_duplicates: u64,
    min_rtt: Option<Duration>,
    newest: Option<Newest>,
}

impl Rates {
    /// `SendPacket`; `is_first` with nothing in flight.
    fn stamp(&mut self, is_first: bool, now: Time) -> Stamp {
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
        }
    }

    /// A new segment leaves.
    pub(super) fn push(&mut self, is_first: bool, now: Time) {
        let stamp = self.stamp(is_first, now);
        self.stamps.push_back(stamp);
    }

    /// Segment number `index` leaves again.
    pub(super) fn push_again(&mut self, index: usize, now: Time) {
        self.stamps[index] = self.stamp(false, now);
    }

    /// A duplicate ACK came without SACK: another segment of `bytes` has arrived, of `flight` bytes
    /// outstanding. The oldest has not.
    pub(super) fn on_duplicate(&mut self, bytes: u64, flight: u64, now: Time) {
        if self.reported_by_duplicates + 2 * bytes <= flight {
            self.reported_by_duplicates += bytes;
            self.on_part_delivered(bytes, now);
        }
    }

    /// Of `bytes` that are cumulatively acknowledged, those that no duplicate has reported;
    /// duplicates report none of the oldest segment.
    pub(super) fn newly_delivered(&mut self, bytes: u64, is_oldest: bool) -> u64 {
        let told = if is_oldest { 0 } else { bytes.min(self.reported_by_duplicates) };
        self.reported_by_duplicates -= told;
        bytes - told
    }

    /// `UpdateRateSample`: segment number `index`, which left last at `sent_at` and ends at `end`,
    /// has arrived, `bytes` of it for the first time.
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

    /// A part of a segment has arrived.
    pub(super) fn on_part_delivered(&mut self, bytes: u64, now: Time) {
        self.delivered += bytes;
        self.delivered_time = now;
    }

    /// The oldest segment is cumulatively acknowledged.
    pub(super) fn drop_front(&mut self) {
        self.stamps.drop_front();
    }

    /// There was nothing to send, with `in_flight` bytes in flight.
    pub(super) fn limit_by_application(&mut self, in_flight: u64) {
        self.app_limited_until = Some(self.delivered + in_flight);
    }

    /// `GenerateRateSample`: the sample of the current ACK, whose RTT is `rtt`; `None` when it
    /// delivered no full segment, or in less than the smallest RTT, for that cannot be.
    pub(super) fn take(&mut self, rtt: Option<Duration>) -> Option<RateSample> {
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.app_limited_until = self.app_limited_until.filter(|until| self.delivered <= *until);
        let Newest { stamp, sent_at, .. } = self.newest.take()?;
        self.first_sent_time = sent_at;
        let send_elapsed = sent_at.saturating_since(stamp.first_sent_time);
        let ack_elapsed = self.delivered_time.saturating_since(stamp.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        (interval >= self.min_rtt.unwrap_or_default()).then(|| RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            total_delivered: self.delivered,
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

    /// Segment number `index`, which left at `sent_ms`, is acknowledged with the RTT.
    fn arrive(rates: &mut Rates, index: usize, sent_ms: u64, now_ms: u64) -> Option<RateSample> {
        let end = (sent_ms + 1) * MSS;
        rates.on_delivered(index, (ms(sent_ms), end), MSS, ms(now_ms));
        rates.drop_front();
        rates.take(Some(Duration::from_millis(now_ms - sent_ms)))
    }

    /// Four segments in 30 ms come back in 60: the slower of the two is the rate.
    #[test]
    fn the_interval_is_the_longer_of_sending_and_acknowledging() {
        let mut rates = Rates::default();
        for i in 0..4 {
            rates.push(i == 0, ms(10 * i));
        }
        assert_eq!(
            arrive(&mut rates, 0, 0, 100).map(|s| s.interval),
            Some(Duration::from_millis(100))
        );
        rates.push(false, ms(100));
        for (i, now) in [(1, 120), (2, 140), (3, 160)] {
            arrive(&mut rates, 0, 10 * i, now);
        }
        // It left when one was delivered, at 100 ms; four more are at 220 ms.
        let sample = arrive(&mut rates, 0, 100, 220).expect("a sample");
        assert_eq!(
            (sample.delivered, sample.prior_delivered, sample.total_delivered),
            (4000, 1000, 5000)
        );
        assert_eq!(sample.interval, Duration::from_millis(120));
        assert_eq!(sample.rate(), Rate(266_666));
        assert!(!sample.app_limited);
    }

    /// Two segments are retransmitted and seem to arrive at once, since their first copies did.
    #[test]
    fn delivery_in_less_than_the_smallest_rtt_gives_no_sample() {
        let mut rates = Rates::default();
        for i in 0..3 {
            rates.push(i == 0, ms(0));
        }
        assert!(arrive(&mut rates, 0, 0, 50).is_some());
        for (index, end, sent, now) in [(0, 2 * MSS, 60, 61), (1, 3 * MSS, 62, 63)] {
            rates.push_again(index, ms(sent));
            rates.on_delivered(index, (ms(sent), end), MSS, ms(now));
            let interval = rates.take(None).map(|sample| sample.interval);
            assert_eq!(interval, (index == 0).then_some(Duration::from_millis(60)));
        }
    }

    #[test]
    fn samples_are_marked_until_more_has_arrived_than_was_in_flight_at_the_pause() {
        let mut rates = Rates::default();
        rates.push(true, ms(0));
        rates.limit_by_application(MSS);
        rates.push(false, ms(1));
        rates.push(false, ms(2));
        let marks = [(0, 50), (1, 51)].map(|(sent, now)| arrive(&mut rates, 0, sent, now));
        assert_eq!(marks.map(|sample| sample.map(|s| s.app_limited)), [Some(false), Some(true)]);
        rates.push(false, ms(52));
        assert_eq!(arrive(&mut rates, 0, 2, 53).map(|s| s.app_limited), Some(true));
        assert_eq!(arrive(&mut rates, 0, 52, 103).map(|s| s.app_limited), Some(false));
    }

    /// Two duplicates, then an ACK of the hole and both segments behind it.
    #[test]
    fn bytes_reported_by_dupacks_count_once() {
        let mut rates = Rates::default();
        for i in 0..3 {
            rates.push(i == 0, ms(0));
        }
        for now in [50, 51, 52] {
            // The third reports nothing that could have arrived.
            rates.on_duplicate(MSS, 3 * MSS, ms(now));
        }
        assert_eq!((rates.delivered, rates.delivered_time), (2000, ms(51)));
        let newly_delivered =
            [true, false, false, false].map(|oldest| rates.newly_delivered(MSS, oldest));
        assert_eq!(newly_delivered, [MSS, 0, 0, MSS]);
    }

    /// `SendPacket`: with nothing in flight, both clocks begin with the segment that leaves, and
    /// reports of duplicates about the flight before do not count.
    #[test]
    fn a_pause_does_not_count_as_time_of_sending_or_acknowledging() {
        let mut rates = Rates::default();
        rates.push(true, ms(0));
        arrive(&mut rates, 0, 0, 50);
        rates.on_duplicate(MSS, 3 * MSS, ms(51));
        rates.push(true, ms(1000));
        assert_eq!(rates.newly_delivered(MSS, false), MSS);
        let sample = arrive(&mut rates, 0, 1000, 1060).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (MSS, Duration::from_millis(60)));
        assert_eq!(sample.rate(), Rate(133_333));
    }

    /// The draft: until C.delivered > C.app_limited, which is what was in flight at the pause.
    #[test]
    fn segments_sent_before_the_flight_at_a_pause_has_arrived_are_app_limited() {
        let mut rates = Rates::default();
        rates.push(true, ms(0));
        rates.push(false, ms(1));
        rates.limit_by_application(2 * MSS);
        let mut marks = Vec::new();
        // The first, the last of those in flight, and the one that left at 50 ms.
        for (sent, now) in [(0, 50), (1, 51), (50, 100), (51, 101)] {
            arrive(&mut rates, 0, sent, now);
            rates.push(false, ms(now));
            marks.push(rates.app_limited_until.is_some());
        }
        assert_eq!(marks, [true, true, false, false]);
        let samples = [100, 101].map(|sent| arrive(&mut rates, 0, sent, sent + 50));
        assert_eq!(samples.map(|sample| sample.map(|s| s.app_limited)), [Some(false); 2]);
    }

    /// `IsNewestPacket`: of what an ACK delivers, the sample is of what left last, not of the highest
    /// offset: the oldest segment, which left again when one had arrived, and the third.
    #[test]
    fn a_sample_is_of_the_segment_that_left_last() {
        let sample_of = |order: [usize; 2]| {
            let mut rates = Rates::default();
            for i in 0..3 {
                rates.push(i == 0, ms(i));
            }
            rates.on_delivered(1, (ms(1), 2 * MSS), MSS, ms(51));
            assert_eq!(rates.take(None).map(|sample| sample.prior_delivered), Some(0));
            rates.push_again(0, ms(60));
            for index in order {
                let sent_at = if index == 0 { ms(60) } else { ms(2) };
                rates.on_delivered(index, (sent_at, (index as u64 + 1) * MSS), MSS, ms(110));
            }
            rates.take(None).expect("a sample")
        };
        for order in [[0, 2], [2, 0]] {
            let sample = sample_of(order);
            assert_eq!((sample.prior_delivered, sample.delivered), (MSS, 2 * MSS), "{order:?}");
            // From 51 to 110 ms, and from 1 to 60 ms.
            assert_eq!(sample.interval, Duration::from_millis(59), "{order:?}");
        }
    }

    /// Of two that left at the same instant, one before and one after an ACK, the later one counts.
    #[test]
    fn of_two_that_left_at_one_instant_the_one_that_ends_last_is_newer() {
        let mut rates = Rates::default();
        rates.push(true, ms(0));
        rates.push(false, ms(50));
        arrive(&mut rates, 0, 0, 50);
        rates.push(false, ms(50));
        for index in [0, 1] {
            rates.on_delivered(index, (ms(50), (index as u64 + 2) * MSS), MSS, ms(100));
        }
        let sample = rates.take(None).expect("a sample");
        assert_eq!((sample.prior_delivered, sample.delivered), (MSS, 2 * MSS));
    }

    #[test]
    fn a_rate_over_no_time_is_that_over_a_nanosecond_and_none_overflows() {
        let over = |delivered, nanos| {
            let interval = Duration::from_nanos(nanos);
            let (prior_delivered, total_delivered, app_limited) = (0, delivered, false);
            let sample =
                RateSample { delivered, interval, prior_delivered, total_delivered, app_limited };
            sample.rate()
        };
        assert_eq!(over(1000, 0), Rate(8_000_000_000_000));
        assert_eq!(over(1000, 3), Rate(2_666_666_666_666));
        assert_eq!(over(u64::MAX, 0), Rate(u64::MAX));
    }
}
