//! Retransmission timer: RFC 6298, and the reaction to its expiry (RFC 5681 §3.1).

use crate::script;
use crate::script::{Given, new, new_segments, part, retransmission, sender};
use airpath_core::{Duration, Time};
use airpath_tcp::FlightBound;

/// Sets a minimum RTO of 1 ms, so that short RTOs are visible, and an initial window of one
/// segment.
fn small_rto(given: &mut Given) {
    given.tcp.min_rto = Duration::from_millis(1);
    given.tcp.initial_window = 1000;
}

#[test]
fn timeout_retransmits_one_segment_and_halves_the_flight() {
    let mut tcp = sender(|_| ());
    tcp.expect(new_segments(0, 10)).timeout_at(1000);
    tcp.expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
}

/// RFC 5681 §3.1: slow start up to ssthresh, then congestion avoidance. All segments were lost.
#[test]
fn slow_start_after_a_timeout_retransmits_the_entire_window() {
    let mut tcp = sender(|_| ());
    tcp.expect(new_segments(0, 10)).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).ack(1000).cwnd(2000).expect([retransmission(1), retransmission(2)]);
    tcp.at(1200).ack(2000).cwnd(3000).expect([retransmission(3), retransmission(4)]);
    tcp.at(1200).ack(3000).cwnd(4000).expect([retransmission(5), retransmission(6)]);
    tcp.at(1300).ack(4000).cwnd(5000).expect([retransmission(7), retransmission(8)]);
    tcp.at(1300).ack(5000).cwnd(5000).expect([retransmission(9)]);
    tcp.at(1300).ack(6000).cwnd(5000).expect([new(10)]);
    // A window of bytes has been acknowledged since the end of slow start.
    tcp.at(1400).ack(9000).cwnd(6000).expect(new_segments(11, 15));
}

#[test]
fn slow_start_after_a_timeout_skips_arrived_data() {
    let mut tcp = sender(|_| ());
    tcp.expect(new_segments(0, 10)).timeout_at(1000).expect([retransmission(0)]);
    // Segments 1 … 6 had arrived.
    tcp.at(1100).ack(7000).cwnd(2000).expect([retransmission(7), retransmission(8)]);
    tcp.at(1200).ack(10_000).cwnd(3000).expect(new_segments(10, 13));
}

/// RFC 6298 §5.5 and §2.5.
#[test]
fn timeouts_double_up_to_the_maximum() {
    let mut tcp = sender(|_| ());
    tcp.expect(new_segments(0, 10));
    for due in [1, 3, 7, 15, 31, 63, 123, 183, 243] {
        tcp.timeout_at(due * 1000).expect([retransmission(0)]).cwnd(1000);
    }
}

#[test]
fn back_off_factor_can_be_limited() {
    let mut tcp = sender(|given| given.tcp.max_backoff = 4);
    tcp.expect(new_segments(0, 10));
    for due in [1, 3, 7, 11, 15] {
        tcp.timeout_at(due * 1000).expect([retransmission(0)]);
    }
}

/// RFC 5681 §3.1: ssthresh is held constant when the same segment times out again.
#[test]
fn second_timeout_of_the_same_segment_keeps_ssthresh() {
    let mut tcp = sender(|_| ());
    tcp.expect(new_segments(0, 10)).timeout_at(1000).expect([retransmission(0)]).ssthresh(5000);
    tcp.timeout_at(3000).expect([retransmission(0)]).ssthresh(5000).cwnd(1000);
}

/// RFC 6298 §5.3.
#[test]
fn each_ack_of_new_data_restarts_the_timer() {
    let mut tcp = sender(|given| given.tcp.receive_window = 4000);
    tcp.expect(new_segments(0, 4)).timer(1000);
    tcp.at(100).ack(1000).expect([new(4)]).timer(1100);
    tcp.at(110).duplicate().nothing().timer(1100);
    tcp.at(200).ack(2000).expect([new(5)]).timer(1200);
}

/// RFC 6298 §5.1.
#[test]
fn sending_does_not_restart_a_running_timer() {
    let mut tcp = sender(|given| given.tcp.receive_window = 2000);
    tcp.expect(new_segments(0, 2)).timer(1000);
    tcp.at(400).ack_with_window(0, 4000).expect(new_segments(2, 4)).timer(1000);
}

/// RFC 6298 §5.2.
#[test]
fn timer_stops_when_everything_is_acknowledged() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 2000;
        given.stop = Some(50);
    });
    tcp.expect(new_segments(0, 2)).timer(1000);
    tcp.at(100).ack(2000).nothing().no_timer();
}

/// RFC 6298 §2.2 and §2.3: SRTT 100, RTTVAR 50; then RTTVAR ¾·50 + ¼·80 = 57.5, SRTT 110.
#[test]
fn rto_follows_the_rtt_samples() {
    let mut tcp = sender(small_rto);
    tcp.expect([new(0)]).timer(1000);
    tcp.at(100).ack(1000).expect(new_segments(1, 3)).timer(400);
    tcp.at(280).ack(2000).expect(new_segments(3, 5)).timer(620);
}

#[test]
fn rto_has_a_minimum() {
    let mut tcp = sender(|given| given.tcp.initial_window = 1000);
    tcp.expect([new(0)]);
    tcp.at(10).ack(1000).expect(new_segments(1, 3)).timer(1010);
}

/// RFC 6298 §3 with delayed ACKs: the sample comes from the segment whose ACK was delayed.
#[test]
fn oldest_acknowledged_segment_gives_the_rtt_sample() {
    let mut tcp = sender(|given| {
        small_rto(given);
        given.tcp.initial_window = 2000;
        given.tcp.receive_window = 1000;
    });
    tcp.expect([new(0)]);
    tcp.at(40).ack_with_window(0, 2000).expect([new(1)]);
    tcp.at(100).ack(2000).expect(new_segments(2, 4)).timer(400);
}

/// Karn's rule (RFC 6298 §3): the back-off is kept until a segment sent once is acknowledged.
#[test]
fn retransmitted_segment_gives_no_sample_and_keeps_the_back_off() {
    let mut tcp = sender(small_rto);
    tcp.expect([new(0)]).timeout_at(1000).expect([retransmission(0)]).timer(3000);
    tcp.at(1050).ack(1000).expect(new_segments(1, 3)).timer(3050);
    // 100 ms after its transmission: RTO = 300 ms.
    tcp.at(1150).ack(2000).expect([new(3)]).timer(1450);
}

/// An ACK that covers a retransmitted segment and a segment sent once gives no sample.
#[test]
fn segments_after_a_retransmitted_one_give_no_sample() {
    let mut tcp = sender(|given| {
        small_rto(given);
        given.tcp.initial_window = 3000;
    });
    tcp.expect(new_segments(0, 3)).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1050).ack(3000).expect(new_segments(3, 5)).timer(3050);
}

#[test]
fn fast_retransmit_gives_no_sample() {
    let mut tcp = sender(|given| {
        small_rto(given);
        given.tcp.receive_window = 4000;
        given.tcp.initial_window = 4000;
    });
    tcp.expect(new_segments(0, 4)).at(100);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.at(110).ack(4000).expect(new_segments(4, 6)).timer(1110);
}

/// RFC 5681 §3.2 counts the duplicate ACKs after the last new ACK; a timeout restarts the count.
#[test]
fn timeout_resets_the_count_of_duplicate_acks() {
    let mut tcp = sender(|given| given.tcp.recovery = airpath_tcp::RecoveryKind::Reno);
    tcp.expect(new_segments(0, 10)).at(100).quiet_duplicates(2);
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1010).quiet_duplicates(1).cwnd(1000);
}

#[test]
fn timeout_below_two_segments_leaves_ssthresh_at_two() {
    let mut tcp = sender(|given| given.tcp.initial_window = 1000);
    tcp.expect([new(0)]).timeout_at(1000).expect([retransmission(0)]);
    tcp.ssthresh(2000).cwnd(1000);
    // Slow start up to 2 segments, then congestion avoidance.
    tcp.at(1100).ack(1000).cwnd(2000).expect(new_segments(1, 3));
    tcp.at(1200).ack(2000).cwnd(2000).expect([new(3)]);
    tcp.at(1200).ack(3000).cwnd(3000).expect(new_segments(4, 6));
}

/// The RTO is a multiple of the tick of a coarse clock (RFC 6298 §2.3, G).
#[test]
fn coarse_clock_rounds_the_rto_to_ticks() {
    let mut tcp = sender(|given| {
        small_rto(given);
        given.tcp.rto_granularity = Duration::from_millis(100);
    });
    tcp.expect([new(0)]);
    // SRTT 40, 4·RTTVAR = 80 < G: 140 ms, rounded to 100 ms or 200 ms.
    tcp.at(40).ack(1000).expect(new_segments(1, 3));
    let rto = tcp.timer_ms() - 40;
    assert!(rto == 100 || rto == 200, "{rto} ms");
}

#[test]
fn last_segment_is_retransmitted_until_it_is_acknowledged() {
    let mut tcp = sender(|given| given.transfer = Some(1300));
    tcp.expect([new(0), part(1000, 300)]);
    tcp.at(100).ack(1000).nothing().timer(1100);
    for due in [1100, 3100, 7100] {
        tcp.timeout_at(due).expect([script::Segment::Data(1000, 300, true)]);
    }
    tcp.at(7200).ack(1300).nothing().no_timer();
}

/// Linux: RTO = SRTT + max(200 ms, 4·RTTVAR). Measured with Linux: 1.02 s at an RTT of 17 ms with a
/// floor of 1 s.
#[test]
fn variance_floor_is_added_to_the_rtt() {
    for (floor, rtt, rto) in [(200, 17, 217), (200, 100, 300), (1000, 17, 1017), (200, 120, 360)] {
        let mut tcp = sender(|given| {
            given.tcp.initial_window = 1000;
            given.tcp.rto_floor = airpath_tcp::RtoFloor::Variance;
            given.tcp.min_rto = Duration::from_millis(floor);
        });
        tcp.expect([new(0)]).at(rtt).ack(1000).expect(new_segments(1, 3)).timer(rtt + rto);
    }
}

/// The maximum RTO of Linux is 120 s. The back-off has no separate limit.
#[test]
fn linux_backs_off_up_to_120_seconds() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 1000;
        given.tcp.max_rto = Duration::from_secs(120);
        given.tcp.max_backoff = 32_768;
    });
    tcp.expect([new(0)]);
    let mut due = 0;
    for timeout in [1, 2, 4, 8, 16, 32, 64, 120, 120, 120] {
        due += timeout * 1000;
        tcp.timeout_at(due).expect([retransmission(0)]);
    }
}

/// The receive window of six segments limits the flight, although cwnd allows ten: FlightSize is 6.
/// RFC 5681 §3.1 warns against using cwnd instead.
#[test]
fn ssthresh_is_half_of_cwnd_if_cwnd_replaces_flight_size() {
    for (bound, ssthresh) in
        [(FlightBound::None, 3000), (FlightBound::Cwnd, 3000), (FlightBound::Replaced, 5000)]
    {
        let mut tcp = sender(|given| {
            given.tcp.flight_bound = bound;
            given.tcp.receive_window = 6000;
        });
        tcp.expect(new_segments(0, 6)).timer(1000).cwnd(10_000);
        tcp.timeout_at(1000).expect([retransmission(0)]).ssthresh(ssthresh);
    }
}

/// RFC 9293 §3.8.3 (R2): after two retransmissions the next expiry aborts the connection.
#[test]
fn connection_is_aborted_after_unanswered_retransmissions() {
    let mut tcp = sender(|given| given.tcp.max_retries = Some(2));
    tcp.expect(new_segments(0, 10));
    tcp.timeout_at(1000).expect([retransmission(0)]).timeout_at(3000).expect([retransmission(0)]);
    assert_eq!(tcp.aborted_at(), None);
    tcp.timeout_at(7000).nothing().no_timer();
    assert_eq!(tcp.aborted_at(), Some(Time::from_millis(7000)));
    // This ACK arrives too late.
    tcp.at(7100).ack(5000).nothing().no_timer();
    assert_eq!((tcp.completed_at(), tcp.aborted_at()), (None, Some(Time::from_millis(7000))));
}

/// Each ACK of new data restarts the count.
#[test]
fn ack_of_new_data_resets_the_count_of_retransmissions() {
    let mut tcp = sender(|given| given.tcp.max_retries = Some(1));
    tcp.expect(new_segments(0, 10)).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).ack(1000).expect([retransmission(1), retransmission(2)]);
    tcp.timeout_at(3100).expect([retransmission(1)]);
    assert_eq!(tcp.aborted_at(), None);
    tcp.timeout_at(7100).nothing().no_timer();
}

/// After the ACK that completes a transfer, no window is a limit. The clock of the congestion
/// window must stop, also after a timeout.
#[test]
fn limited_time_ends_with_the_transfer_after_a_timeout() {
    let mut tcp = sender(|given| given.transfer = Some(10_000));
    tcp.expect(new_segments(0, 10)).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).ack(10_000).no_timer().cwnd_limited(100);
    tcp.at(5000).cwnd_limited(100);
}
