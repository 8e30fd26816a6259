//! Limited transmit: RFC 3042 §2 and RFC 5681 §3.2 step 1.

use crate::script::{Given, SenderScript, new, new_segments, part, retransmission, sender};

/// Sends ten segments at 0 after applying `change`.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.limited_transmit = true;
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

#[test]
fn first_two_duplicate_acks_release_a_new_segment_each() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(10)]).cwnd(10_000);
    tcp.duplicate().expect([new(11)]).cwnd(10_000);
    tcp.duplicate().expect([retransmission(0)]);
}

/// RFC 5681 §3.2 step 2: the two segments MUST NOT count in FlightSize.
#[test]
fn limited_transmit_segments_do_not_count_in_flight_size() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(10)]);
    tcp.duplicate().expect([new(11)]);
    tcp.duplicate().expect([retransmission(0)]).ssthresh(5000);
}

/// cwnd is not a multiple of a segment: only ten full segments are in flight.
#[test]
fn limited_transmit_segments_do_not_count_in_flight_size_with_a_fractional_cwnd() {
    let mut tcp = ten_in_flight(|given| given.tcp.initial_window = 10_900);
    tcp.duplicate().expect([new(10)]);
    tcp.duplicate().expect([new(11)]);
    tcp.duplicate().expect([retransmission(0)]).ssthresh(5000);
}

#[test]
fn limited_transmit_respects_the_receive_window() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]).ssthresh(5000);
}

#[test]
fn limited_transmit_sends_one_segment_if_the_receive_window_allows_one() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 11_000);
    tcp.duplicate().expect([new(10)]).duplicate().nothing();
    tcp.duplicate().expect([retransmission(0)]).ssthresh(5000);
}

#[test]
fn limited_transmit_sends_nothing_without_new_data() {
    let mut tcp = ten_in_flight(|given| given.transfer = Some(10_000));
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
}

#[test]
fn limited_transmit_sends_the_short_end_of_a_transfer() {
    let mut tcp = ten_in_flight(|given| given.transfer = Some(10_200));
    tcp.duplicate().expect([part(10_000, 200)]).duplicate().nothing();
}

#[test]
fn limited_transmit_sends_nothing_after_the_stop() {
    let mut tcp = ten_in_flight(|given| given.stop = Some(50));
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
}

/// RFC 3042 §2: "the congestion window MUST NOT be changed". Segment 0 was only reordered.
#[test]
fn limited_transmit_does_not_change_cwnd() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(10)]);
    tcp.duplicate().expect([new(11)]);
    // cwnd = 11 segments from 3000.
    tcp.at(110).ack(3000).cwnd(11_000).expect([new(12), new(13)]);
}

#[test]
fn limited_transmit_restarts_after_a_new_ack() {
    let mut tcp = ten_in_flight(|given| given.in_congestion_avoidance(10_000));
    tcp.duplicate().expect([new(10)]);
    tcp.at(110).ack(2000).cwnd(10_000).expect([new(11)]);
    tcp.duplicate().expect([new(12)]);
    tcp.duplicate().expect([new(13)]);
    tcp.duplicate().expect([retransmission(2)]).ssthresh(5000);
}

/// RFC 3042 §2: at most two segments beyond cwnd, regardless of the number of duplicate ACKs.
/// `recover` prevents a recovery in this test.
#[test]
fn limited_transmit_sends_at_most_two_segments() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).ack(10_000).cwnd(2000).expect(new_segments(10, 12));
    tcp.at(1110).duplicate().expect([new(12)]);
    tcp.duplicate().expect([new(13)]);
    tcp.quiet_duplicates(4).cwnd(2000);
}

/// RFC 3042 §2 sends previously unsent data. After a timeout no such data may be sent, because the
/// outstanding data exceeds cwnd by more than two segments.
#[test]
fn limited_transmit_does_not_send_retransmissions_after_a_timeout() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1050).quiet_duplicates(3).cwnd(1000);
    tcp.at(1100).ack(1000).cwnd(2000).expect([retransmission(1), retransmission(2)]);
    tcp.at(1110).quiet_duplicates(3).cwnd(2000);
}

/// Segments sent by limited transmit belong to the window that must be acknowledged before the
/// recovery ends.
#[test]
fn limited_transmit_segments_are_below_recover() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(10)]);
    tcp.duplicate().expect([new(11)]);
    tcp.duplicate().expect([retransmission(0)]);
    // Less than 12 000, so this is a partial ACK. cwnd = 8 − 11 + 1, at least a segment.
    tcp.at(200).ack(11_000).expect([retransmission(11)]).ssthresh(5000);
    tcp.at(300).ack(12_000).cwnd(2000).expect(new_segments(12, 14));
}
