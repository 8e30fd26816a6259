//! Segments sent during a recovery with selective acknowledgements: RFC 6675 §4, §5.
//!
//! Unless stated otherwise, ten segments are in flight, as in `sack.rs`.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::sack::{recovering, ten_in_flight, the_last_ten};
use crate::script::{Given, Segment, new, new_segments, part, retransmission, retransmissions};

// --- during recovery --------------------------------------------------------------------------

/// RFC 6675 §5: cwnd is neither inflated nor deflated until the recovery point.
#[test]
fn cwnd_does_not_change_during_a_recovery() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]).cwnd(5000);
    tcp.arrives(6).expect([new(10)]).cwnd(5000);
    // Partial ACKs, up to the second-last segment.
    tcp.at(200).sack(5000, [6000..7000]).cwnd(5000).expect([new(11)]);
    tcp.at(200).sack(9000, []).cwnd(5000).anything();
    tcp.at(210).sack(10_000, []).cwnd(5000).anything();
    tcp.at(220).sack(15_000, []).cwnd(6000).anything();
}

/// RFC 6298 §5.3 also applies in recovery: RFC 6675 §6.
#[test]
fn each_partial_ack_restarts_the_timer() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrive_quietly([3, 4]).arrives(5).expect([retransmission(0)]).timer(1000);
    tcp.arrives(6).expect([retransmission(1)]).timer(1000);
    tcp.arrives(7).expect([retransmission(2)]).timer(1000);
    tcp.at(200).arrives(0).expect([new(10)]).timer(1200);
    tcp.at(250).arrives(1).expect([new(11)]).timer(1250);
}

/// The receive window limits new data, not retransmissions.
#[test]
fn receive_window_limits_only_new_data() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrive_quietly([2, 3]).arrives(4).expect([retransmission(0)]);
    tcp.arrive_quietly([5]).arrives(6).expect([retransmission(1)]);
    tcp.arrive_quietly([7, 8, 9]);
    // The window moves by a segment.
    tcp.at(200).arrives(0).expect([new(10)]);
}

#[test]
fn stop_prevents_only_new_data() {
    let mut tcp = ten_in_flight(|given| given.stop = Some(50));
    tcp.arrive_quietly([2, 3]).arrives(4).expect([retransmission(0)]);
    tcp.arrive_quietly([5]).arrives(6).expect([retransmission(1)]);
    tcp.arrive_quietly([7, 8, 9]);
}

/// RFC 6675 §4, `NextSeg` rule 1 before rule 2.
#[test]
fn lost_segments_are_sent_before_new_ones() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([4, 5]).arrives(6).expect([retransmission(0), retransmission(1)]);
    tcp.arrives(7).expect([retransmission(2)]).arrives(8).expect([retransmission(3)]);
    tcp.arrives(9).expect([new(10)]);
}

/// RFC 6675 §4, `NextSeg` rule 2 before rule 3: segment 8 is not yet lost.
#[test]
fn new_segments_are_sent_before_holes_that_may_still_arrive() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    tcp.arrives(6).expect([new(10)]).arrives(7).expect([new(11)]);
    tcp.arrives(9).expect([new(12)]);
}

/// RFC 6675 §4, `NextSeg` rule 3: there is no new data, so segment 8 is retransmitted although it
/// is not deemed lost.
#[test]
fn hole_is_retransmitted_before_it_is_lost_without_new_data() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6, 7]);
    tcp.arrives(9).expect([retransmission(8)]);
    // Rule 4 applies regardless of earlier retransmissions.
    tcp.at(200).arrives(0).expect([retransmission(8)]).arrives(8).nothing().no_timer();
    assert!(tcp.completed_at().is_some());
}

/// RFC 6675 §4, `NextSeg` rule 4: segments 0, 8 and 9 are lost, nothing arrives beyond 8.
#[test]
fn rescue_retransmits_the_last_segment() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6, 7]);
    tcp.at(200).arrives(0).expect([retransmission(9)]).cwnd(5000);
    // HighRxt has not changed: rule 3 finds segment 8.
    tcp.at(300).arrives(9).expect([retransmission(8)]);
    tcp.at(400).arrives(8).no_timer();
    assert!(tcp.completed_at().is_some());
}

/// RFC 6675 §5 step 4.3: not before the first retransmission is acknowledged.
#[test]
fn rescue_waits_for_the_first_retransmission() {
    let mut tcp = recovering(the_last_ten);
    // No hole is below the highest SACKed octet; two segments could be sent.
    tcp.arrive_quietly([4, 5, 6, 7]);
    // Exactly the retransmitted data is acknowledged.
    tcp.at(200).sack(1000, []).nothing();
    tcp.at(210).sack(2000, []).expect([retransmission(9)]);
}

/// RFC 6675 §4, `NextSeg` rule 4: one rescue retransmission per recovery.
#[test]
fn recovery_has_one_rescue_retransmission() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6]);
    // pipe: 7, 8, 9.
    tcp.at(200).arrives(0).expect([retransmission(9)]);
    tcp.at(210).arrives(7).nothing();
    tcp.timeout_at(1210).expect([retransmission(8)]);
}

/// RFC 6675 §4, `NextSeg` rule 4: retransmits the highest unacknowledged segment, even if it was
/// retransmitted before. Segments 0, 7 and 8 are lost.
#[test]
fn rescue_skips_acknowledged_segments() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6]);
    tcp.arrives(9).expect(retransmissions(7, 9));
    tcp.at(200).arrives(0).expect([retransmission(8)]);
}

/// RFC 6675 §4, `SetPipe`: a segment retransmitted before it is deemed lost counts twice.
#[test]
fn hole_retransmitted_before_it_is_lost_counts_twice() {
    let mut tcp = recovering(the_last_ten);
    // Holes 4, 6 and 8 have one, one and no segment beyond them: pipe is 6 with segment 0
    // (retransmitted).
    tcp.sack(0, [5000..6000, 1000..4000]).nothing();
    // pipe: 0 (retransmitted), 4, 6, 8, 9.
    tcp.sack(0, [7000..8000, 5000..6000, 1000..4000]).nothing();
    // pipe: 0 (retransmitted), 6, 8; then 4, lost by three segments beyond it, retransmitted; then
    // 6 twice.
    tcp.sack(0, [9000..10_000, 7000..8000, 5000..6000])
        .expect([retransmission(4), retransmission(6)]);
    tcp.sack(0, [9000..10_000]).nothing();
}

/// RFC 6675 §4: a hole in the middle of a segment is retransmitted from its first octet.
#[test]
fn partial_segment_is_retransmitted_from_the_hole() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.sack(400, [1000..4000]).expect([Segment::Data(400, 600, true)]);
}

/// Two segments of ten are lost. The receiver has selectively acknowledged a part of the second
/// one.
#[test]
fn part_of_a_segment_can_be_selectively_acknowledged() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    // pipe: 0 (retransmitted), 7, 8, 9.
    tcp.sack(0, [1000..1300, 2000..7000])
        .expect([retransmission(0), Segment::Data(1300, 700, true)]);
}

/// A lost retransmission is not retransmitted before the timer expires.
#[test]
fn lost_retransmission_is_detected_by_the_timeout() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    for index in 10..14 {
        tcp.at(200).arrives(index).expect([new(index + 4)]);
    }
    for index in 14..18 {
        tcp.at(300).arrives(index).expect([new(index + 4)]);
    }
    // 22 segments are outstanding; 10 were outstanding when the recovery began.
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect([retransmission(18), retransmission(19)]);
}

// --- end --------------------------------------------------------------------------------------

#[test]
fn recovery_lasts_up_to_the_recovery_point() {
    let mut tcp = recovering(|given| given.tcp.receive_window = 10_000);
    // One octet less: still a partial ACK.
    tcp.at(200).sack(9999, []).cwnd(5000).anything();
    tcp.at(210).sack(10_000, []).cwnd(5000).anything();
    tcp.at(220).sack(15_000, []).cwnd(6000).anything();
}

/// RFC 6675 §5 (A) and (C): the window is not bounded by the flight, so a burst is possible.
#[test]
fn end_of_recovery_may_release_a_burst() {
    let mut tcp = recovering(|given| given.tcp.receive_window = 10_000);
    tcp.arrive_quietly([4, 5, 6, 7, 8, 9]);
    tcp.at(200).arrives(0).cwnd(5000).expect(new_segments(10, 15));
}

/// RFC 6675 §5 (A): selectively acknowledged data beyond the recovery point is kept. Segment 10 is
/// lost and 11, 12 and 13 arrive; the retransmission of 0 arrives after them.
#[test]
fn sacked_data_beyond_the_recovery_point_is_kept() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.at(200).arrives(11).expect([new(14)]).arrives(12).expect([new(15)]);
    // Segment 10 is lost. pipe: 0 (retransmitted), 14, 15; then 10 (retransmitted), 16.
    tcp.arrives(13).expect([retransmission(10), new(16)]);
    tcp.arrives(0).cwnd(5000).ssthresh(5000).nothing();
    // One duplicate ACK beyond the recovery point suffices. 10 … 16 are outstanding, more than
    // cwnd.
    tcp.arrives(14).expect([retransmission(10)]).ssthresh(2500).cwnd(2500);
}

/// RFC 6675 §5 step 4.3: HighRxt is reset. Segments 10 and 12 are lost, and so are their
/// retransmissions, which belonged to the first recovery.
#[test]
fn each_recovery_retransmits_its_holes() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.at(200).arrives(11).expect([new(14)]).arrives(13).expect([new(15)]);
    tcp.arrives(14).expect([retransmission(10), new(16)]);
    tcp.arrives(15).expect([retransmission(12), new(17)]);
    tcp.arrives(0).cwnd(5000).nothing();
    // 10 … 17 are outstanding, more than cwnd. pipe: 17, 10 (retransmitted).
    tcp.arrives(16).expect([retransmission(10)]).ssthresh(2500);
    tcp.arrives(17).expect([retransmission(12)]);
}

#[test]
fn loss_in_the_next_window_halves_again() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.at(200).arrives(0).expect([new(14)]);
    tcp.at(200).arrive_quietly([11, 12]).arrives(13).expect([retransmission(10)]);
    // Segments 10 … 14 were in flight.
    tcp.ssthresh(2500).cwnd(2500);
}

// --- limited transmit -------------------------------------------------------------------------

fn limited_transmit(given: &mut Given) {
    given.tcp.limited_transmit = true;
}

/// RFC 6675 §5 step 3, and step 4.2: segments of limited transmit do not count in FlightSize.
#[test]
fn first_two_duplicate_acks_release_a_new_segment_each() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.arrives(1).expect([new(10)]).arrives(2).expect([new(11)]).cwnd(10_000);
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(5000).cwnd(5000);
}

/// RFC 6675 §5 step 3.3: `pipe` counts, not the number of duplicate ACKs. The ACK of 1 was lost.
#[test]
fn duplicate_of_two_segments_releases_two() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.arrives_with_ack_lost(1).arrives(2).expect(new_segments(10, 12));
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(5000);
}

/// RFC 6675 §5 step 3.3: cwnd − pipe below one SMSS.
#[test]
fn duplicate_of_half_a_segment_releases_none() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.sack(0, [1000..1500]).nothing();
    tcp.sack(0, [1000..2000]).expect([new(10)]);
}

#[test]
fn duplicate_ack_without_new_information_releases_no_segment() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.quiet_duplicates(2);
    tcp.arrives(1).expect([new(10)]);
    tcp.sack(0, [1000..2000]).nothing();
}

/// cwnd is not a multiple of a segment: ten segments are in flight, not 10.9.
#[test]
fn limited_transmit_does_not_count_in_flight_size() {
    let mut tcp = ten_in_flight(|given| {
        limited_transmit(given);
        given.tcp.initial_window = 10_900;
    });
    tcp.arrives(1).expect([new(10)]).arrives(2).expect([new(11)]);
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(5000);
}

/// An ACK of new data that is also a duplicate ACK: data that the window allows counts in
/// FlightSize, the segment released by the duplicate ACK does not.
#[test]
fn ack_of_new_data_can_release_a_segment_beyond_the_window() {
    let mut tcp = ten_in_flight(|given| {
        limited_transmit(given);
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives_with_ack_lost(0).arrives_with_ack_lost(1);
    // cwnd = 10 segments from 2000 releases 10 and 11; segment 3 has left the network, which
    // releases 12.
    tcp.arrives(3).expect(new_segments(10, 13)).cwnd(10_000);
    tcp.arrives(4).expect([new(13)]);
    tcp.arrives(5).expect([retransmission(2)]).ssthresh(5000);
}

/// Segment 0 was only reordered: cwnd does not change (RFC 3042 §2).
#[test]
fn limited_transmit_does_not_change_cwnd() {
    let mut tcp = ten_in_flight(|given| {
        limited_transmit(given);
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives(1).expect([new(10)]).arrives(2).expect([new(11)]);
    tcp.at(110).arrives(0).cwnd(10_000).expect([new(12)]);
}

#[test]
fn limited_transmit_sends_the_short_end_of_a_transfer() {
    let mut tcp = ten_in_flight(|given| {
        limited_transmit(given);
        given.transfer = Some(10_200);
    });
    tcp.arrives(1).expect([part(10_000, 200)]).arrives(2).nothing();
}

// --- what cannot be meant ---------------------------------------------------------------------

#[test]
fn blocks_beyond_the_sent_data_are_ignored() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.sack(0, [9000..11_000]).nothing().sack(0, [20_000..40_000]).nothing();
    tcp.cwnd(10_000);
}

#[test]
fn empty_blocks_are_ignored() {
    let mut tcp = ten_in_flight(limited_transmit);
    for at in [1000, 3000, 5000, 7000] {
        tcp.sack(0, [at..at]).nothing();
    }
}

/// A receiver with the next octet would acknowledge it cumulatively.
#[test]
fn blocks_at_the_cumulative_acknowledgement_are_ignored() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.sack(0, [0..5000]).nothing().cwnd(10_000);
    tcp.arrives(1).expect([new(10)]);
}

#[test]
fn acks_beyond_the_sent_data_are_ignored_with_their_blocks() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.stray_ack(11_000).nothing().timer(1000);
}
