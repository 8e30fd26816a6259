//! Tests of the delivery rate samples.

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
        rates.push(i == 0, MSS, MSS, ms(10 * i));
    }
    assert_eq!(arrive(&mut rates, 0, 0, 100).map(|s| s.interval), Some(Duration::from_millis(100)));
    rates.push(false, MSS, MSS, ms(100));
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
        rates.push(i == 0, MSS, MSS, ms(0));
    }
    assert!(arrive(&mut rates, 0, 0, 50).is_some());
    for (index, end, sent, now) in [(0, 2 * MSS, 60, 61), (1, 3 * MSS, 62, 63)] {
        rates.push_again(index, MSS, MSS, ms(sent));
        rates.on_delivered(index, (ms(sent), end), MSS, ms(now));
        let interval = rates.take(None).map(|sample| sample.interval);
        assert_eq!(interval, (index == 0).then_some(Duration::from_millis(60)));
    }
}

#[test]
fn samples_are_app_limited_until_the_flight_at_the_pause_is_exceeded() {
    let mut rates = Rates::default();
    rates.push(true, MSS, MSS, ms(0));
    rates.limit_by_application(MSS);
    rates.push(false, MSS, MSS, ms(1));
    rates.push(false, MSS, MSS, ms(2));
    let marks = [(0, 50), (1, 51)].map(|(sent, now)| arrive(&mut rates, 0, sent, now));
    assert_eq!(marks.map(|sample| sample.map(|s| s.app_limited)), [Some(false), Some(true)]);
    rates.push(false, MSS, MSS, ms(52));
    assert_eq!(arrive(&mut rates, 0, 2, 53).map(|s| s.app_limited), Some(true));
    assert_eq!(arrive(&mut rates, 0, 52, 103).map(|s| s.app_limited), Some(false));
}

/// Two duplicate ACKs arrive, then an ACK of the hole and of the two segments beyond it.
#[test]
fn bytes_reported_by_dupacks_count_once() {
    let mut rates = Rates::default();
    for i in 0..3 {
        rates.push(i == 0, MSS, MSS, ms(0));
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
    rates.push(true, MSS, MSS, ms(0));
    arrive(&mut rates, 0, 0, 50);
    rates.on_duplicate(MSS, 3 * MSS, ms(51));
    rates.push(true, MSS, MSS, ms(1000));
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
    rates.push(true, MSS, MSS, ms(0));
    rates.push(false, MSS, MSS, ms(1));
    rates.limit_by_application(2 * MSS);
    let mut marks = Vec::new();
    // The first segment, the last segment in flight at the pause, and the two segments sent
    // after it.
    for (sent, now) in [(0, 50), (1, 51), (50, 100), (51, 101)] {
        arrive(&mut rates, 0, sent, now);
        rates.push(false, MSS, MSS, ms(now));
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
            rates.push(i == 0, MSS, MSS, ms(i));
        }
        rates.on_delivered(1, (ms(1), 2 * MSS), MSS, ms(51));
        assert_eq!(rates.take(None).map(|sample| sample.prior_delivered), Some(0));
        rates.push_again(0, MSS, MSS, ms(60));
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
    rates.push(true, MSS, MSS, ms(0));
    rates.push(false, MSS, MSS, ms(50));
    arrive(&mut rates, 0, 0, 50);
    rates.push(false, MSS, MSS, ms(50));
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
