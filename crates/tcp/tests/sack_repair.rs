//! What is sent while losses are under repair, with selective acknowledgements: RFC 6675 §4, §5.
//!
//! As in `sack.rs`, ten segments are in flight unless a test says otherwise.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::sack::{recovering, ten_in_flight, the_last_ten};
use crate::script::{Given, Segment, new, new_segments, part, retransmission, retransmissions};

// --- during recovery --------------------------------------------------------------------------

/// RFC 6675 §5: nothing inflates and nothing deflates cwnd until the recovery point.
#[test]
fn the_window_stays_as_it_is_until_the_end() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]).cwnd(5000);
    tcp.arrives(6).expect([new(10)]).cwnd(5000);
    // Partial ACKs, up to the last segment but one.
    tcp.at(200).sack(5000, [6000..7000]).cwnd(5000).expect([new(11)]);
    tcp.at(200).sack(9000, []).cwnd(5000).anything();
    tcp.at(210).sack(10_000, []).cwnd(5000).anything();
    tcp.at(220).sack(15_000, []).cwnd(6000).anything();
}

/// RFC 6298 §5.3 holds in recovery too: RFC 6675 §6.
#[test]
fn each_partial_ack_restarts_the_timer() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrive_quietly([3, 4]).arrives(5).expect([retransmission(0)]).timer(1000);
    tcp.arrives(6).expect([retransmission(1)]).timer(1000);
    tcp.arrives(7).expect([retransmission(2)]).timer(1000);
    tcp.at(200).arrives(0).expect([new(10)]).timer(1200);
    tcp.at(250).arrives(1).expect([new(11)]).timer(1250);
}

/// The receiver's window limits new data, not retransmissions.
#[test]
fn the_receive_window_forbids_new_data_only() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrive_quietly([2, 3]).arrives(4).expect([retransmission(0)]);
    tcp.arrive_quietly([5]).arrives(6).expect([retransmission(1)]);
    tcp.arrive_quietly([7, 8, 9]);
    // The window moves on by a segment.
    tcp.at(200).arrives(0).expect([new(10)]);
}

#[test]
fn the_stop_forbids_new_data_only() {
    let mut tcp = ten_in_flight(|given| given.stop = Some(50));
    tcp.arrive_quietly([2, 3]).arrives(4).expect([retransmission(0)]);
    tcp.arrive_quietly([5]).arrives(6).expect([retransmission(1)]);
    tcp.arrive_quietly([7, 8, 9]);
}

/// RFC 6675 §4, `NextSeg` rule 1 before rule 2.
#[test]
fn lost_segments_go_before_new_ones() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([4, 5]).arrives(6).expect([retransmission(0), retransmission(1)]);
    tcp.arrives(7).expect([retransmission(2)]).arrives(8).expect([retransmission(3)]);
    tcp.arrives(9).expect([new(10)]);
}

/// RFC 6675 §4, `NextSeg` rule 2 before rule 3: segment 8 is not lost yet.
#[test]
fn new_segments_go_before_holes_that_may_still_arrive() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    tcp.arrives(6).expect([new(10)]).arrives(7).expect([new(11)]);
    tcp.arrives(9).expect([new(12)]);
}

/// RFC 6675 §4, `NextSeg` rule 3: there is nothing new, so segment 8 is retransmitted although not
/// deemed lost.
#[test]
fn without_new_data_a_hole_is_resent_before_it_is_lost() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6, 7]);
    tcp.arrives(9).expect([retransmission(8)]);
    // Rule 4 does not depend on whether it was resent before.
    tcp.at(200).arrives(0).expect([retransmission(8)]).arrives(8).nothing().no_timer();
    assert!(tcp.completed_at().is_some());
}

/// RFC 6675 §4, `NextSeg` rule 4: segments 0, 8 and 9 are lost, nothing arrives beyond 8.
#[test]
fn the_rescue_resends_the_last_segment() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6, 7]);
    tcp.at(200).arrives(0).expect([retransmission(9)]).cwnd(5000);
    // HighRxt is where it was: rule 3 finds 8.
    tcp.at(300).arrives(9).expect([retransmission(8)]);
    tcp.at(400).arrives(8).no_timer();
    assert!(tcp.completed_at().is_some());
}

/// RFC 6675 §5 step 4.3: not before the first retransmission is acknowledged.
#[test]
fn the_rescue_waits_for_the_first_retransmission() {
    let mut tcp = recovering(the_last_ten);
    // Nothing is below the highest SACKed octet, two segments could be sent.
    tcp.arrive_quietly([4, 5, 6, 7]);
    // Exactly what was resent is acknowledged, and no more.
    tcp.at(200).sack(1000, []).nothing();
    tcp.at(210).sack(2000, []).expect([retransmission(9)]);
}

/// RFC 6675 §4, `NextSeg` rule 4: a single one per entry into recovery.
#[test]
fn there_is_one_rescue_in_a_recovery() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6]);
    // pipe: 7, 8, 9.
    tcp.at(200).arrives(0).expect([retransmission(9)]);
    tcp.at(210).arrives(7).nothing();
    tcp.timeout_at(1210).expect([retransmission(8)]);
}

/// RFC 6675 §4, `NextSeg` rule 4: the highest that is not acknowledged, resent before or not.
/// Segments 0, 7 and 8 are lost.
#[test]
fn the_rescue_skips_what_was_acknowledged() {
    let mut tcp = recovering(the_last_ten);
    tcp.arrive_quietly([4, 5, 6]);
    tcp.arrives(9).expect(retransmissions(7, 9));
    tcp.at(200).arrives(0).expect([retransmission(8)]);
}

/// RFC 6675 §4, `SetPipe`: a segment retransmitted before it is deemed lost counts twice.
#[test]
fn a_hole_resent_on_suspicion_counts_twice() {
    let mut tcp = recovering(the_last_ten);
    // Holes 4, 6 and 8 with one, one and no segment beyond: pipe is 6 with 0 again.
    tcp.sack(0, [5000..6000, 1000..4000]).nothing();
    // pipe: 0 again, 4, 6, 8, 9.
    tcp.sack(0, [7000..8000, 5000..6000, 1000..4000]).nothing();
    // pipe: 0 again, 6, 8, then 4 which three segments made lost, again; then 6, twice.
    tcp.sack(0, [9000..10_000, 7000..8000, 5000..6000])
        .expect([retransmission(4), retransmission(6)]);
    tcp.sack(0, [9000..10_000]).nothing();
}

/// RFC 6675 §4: a hole in the middle of a segment is retransmitted from its first octet.
#[test]
fn a_part_of_a_segment_is_resent_from_the_hole_on() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.sack(400, [1000..4000]).expect([Segment::Data(400, 600, true)]);
}

/// Two segments of ten are lost; the receiver had acknowledged a part of the second.
#[test]
fn a_part_of_a_segment_can_be_acknowledged_selectively() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    // pipe: 0 again, 7, 8, 9.
    tcp.sack(0, [1000..1300, 2000..7000])
        .expect([retransmission(0), Segment::Data(1300, 700, true)]);
}

/// A retransmission that is lost too is not sent a third time before the timer expires.
#[test]
fn a_lost_retransmission_is_found_by_the_timeout() {
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
    // 22 segments were outstanding, 10 when the recovery began.
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect([retransmission(18), retransmission(19)]);
}

// --- end --------------------------------------------------------------------------------------

#[test]
fn recovery_lasts_up_to_the_recovery_point() {
    let mut tcp = recovering(|given| given.tcp.receive_window = 10_000);
    // One octet below: still a partial ACK.
    tcp.at(200).sack(9999, []).cwnd(5000).anything();
    tcp.at(210).sack(10_000, []).cwnd(5000).anything();
    tcp.at(220).sack(15_000, []).cwnd(6000).anything();
}

/// RFC 6675 §5 (A) and (C): the window is what it is; a burst is possible.
#[test]
fn the_end_may_release_a_burst() {
    let mut tcp = recovering(|given| given.tcp.receive_window = 10_000);
    tcp.arrive_quietly([4, 5, 6, 7, 8, 9]);
    tcp.at(200).arrives(0).cwnd(5000).expect(new_segments(10, 15));
}

/// RFC 6675 §5 (A): what was selectively acknowledged beyond the recovery point is kept.
/// Segment 10 is lost, 11, 12 and 13 are not; the retransmission of 0 comes after them.
#[test]
fn sacked_data_beyond_the_recovery_point_are_kept() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.at(200).arrives(11).expect([new(14)]).arrives(12).expect([new(15)]);
    // 10 is lost. pipe: 0 again, 14, 15; then 10 again, 16.
    tcp.arrives(13).expect([retransmission(10), new(16)]);
    tcp.arrives(0).cwnd(5000).ssthresh(5000).nothing();
    // One duplicate beyond the recovery point is enough. 10 … 16 are outstanding, beyond cwnd.
    tcp.arrives(14).expect([retransmission(10)]).ssthresh(2500).cwnd(2500);
}

/// RFC 6675 §5 step 4.3: HighRxt is reset. Segments 10 and 12 are lost, and so are their
/// retransmissions, which belonged to the first recovery.
#[test]
fn each_recovery_resends_the_holes_that_it_finds() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.at(200).arrives(11).expect([new(14)]).arrives(13).expect([new(15)]);
    tcp.arrives(14).expect([retransmission(10), new(16)]);
    tcp.arrives(15).expect([retransmission(12), new(17)]);
    tcp.arrives(0).cwnd(5000).nothing();
    // 10 … 17 are outstanding, beyond cwnd. pipe: 17, 10 again.
    tcp.arrives(16).expect([retransmission(10)]).ssthresh(2500);
    tcp.arrives(17).expect([retransmission(12)]);
}

#[test]
fn a_loss_in_the_next_window_halves_again() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.at(200).arrives(0).expect([new(14)]);
    tcp.at(200).arrive_quietly([11, 12]).arrives(13).expect([retransmission(10)]);
    // 10 … 14 were in flight.
    tcp.ssthresh(2500).cwnd(2500);
}

// --- limited transmit -------------------------------------------------------------------------

fn limited_transmit(given: &mut Given) {
    given.tcp.limited_transmit = true;
}

/// RFC 6675 §5 step 3, and step 4.2: its segments do not count in FlightSize.
#[test]
fn the_first_two_duplicates_release_a_new_segment_each() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.arrives(1).expect([new(10)]).arrives(2).expect([new(11)]).cwnd(10_000);
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(5000).cwnd(5000);
}

/// RFC 6675 §5 step 3.3: `pipe` rules, not the number of duplicates. The ACK of 1 was lost.
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
fn a_duplicate_without_news_releases_none() {
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

/// An ACK of new data that is a duplicate as well: what the window allows by itself counts in
/// FlightSize, what the duplicate adds does not.
#[test]
fn an_ack_of_new_data_can_release_a_segment_beyond_the_window() {
    let mut tcp = ten_in_flight(|given| {
        limited_transmit(given);
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives_with_ack_lost(0).arrives_with_ack_lost(1);
    // cwnd = 10 from 2000: 10 and 11; 3 has left the network: 12.
    tcp.arrives(3).expect(new_segments(10, 13)).cwnd(10_000);
    tcp.arrives(4).expect([new(13)]);
    tcp.arrives(5).expect([retransmission(2)]).ssthresh(5000);
}

/// Segment 0 was only late: cwnd is as it was (RFC 3042 §2).
#[test]
fn late_segments_leave_the_window_as_it_was() {
    let mut tcp = ten_in_flight(|given| {
        limited_transmit(given);
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives(1).expect([new(10)]).arrives(2).expect([new(11)]);
    tcp.at(110).arrives(0).cwnd(10_000).expect([new(12)]);
}

#[test]
fn the_short_end_of_a_transfer_is_sent() {
    let mut tcp = ten_in_flight(|given| {
        limited_transmit(given);
        given.transfer = Some(10_200);
    });
    tcp.arrives(1).expect([part(10_000, 200)]).arrives(2).nothing();
}

// --- what cannot be meant ---------------------------------------------------------------------

#[test]
fn blocks_beyond_what_was_sent_are_ignored() {
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

/// A receiver that has the next octet acknowledges it.
#[test]
fn blocks_at_the_cumulative_acknowledgement_are_ignored() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.sack(0, [0..5000]).nothing().cwnd(10_000);
    tcp.arrives(1).expect([new(10)]);
}

#[test]
fn acks_beyond_what_was_sent_are_ignored_with_their_blocks() {
    let mut tcp = ten_in_flight(limited_transmit);
    tcp.stray_ack(11_000).nothing().timer(1000);
}
