//! Loss recovery with selective acknowledgements: RFC 6675 §4, §5.
//!
//! Unless stated otherwise, ten segments are in flight, limited transmit is off, and the receiver
//! acknowledges every segment immediately and reports out-of-order data.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::{
    Course, Given, SenderScript, new, new_segments, retransmission, retransmissions, sender,
};
use airpath_tcp::RecoveryKind;

/// Sends ten segments at 0 after applying `change`.
pub(crate) fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

/// Sends ten segments at 0 after applying `change`. Segments 1, 2 and 3 arrive and segment 0 does
/// not, so that a recovery begins.
pub(crate) fn recovering(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ten_in_flight(change);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp
}

/// Ends the transfer after ten segments.
pub(crate) fn the_last_ten(given: &mut Given) {
    given.transfer = Some(10_000);
}

// --- entry ------------------------------------------------------------------------------------

/// RFC 6675 §5 step 4.2: ssthresh = cwnd = FlightSize/2.
#[test]
fn third_duplicate_ack_retransmits_the_first_hole_and_halves_the_window() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).cwnd(10_000);
    tcp.arrives(3).expect([retransmission(0)]).cwnd(5000).ssthresh(5000).timer(1000);
}

/// RFC 6675 §5 step 2: the ACKs of 1, 2 and 3 were lost; the first duplicate ACK reports four
/// segments.
#[test]
fn one_ack_of_more_than_two_segments_starts_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrives_with_ack_lost(1).arrives_with_ack_lost(2).arrives_with_ack_lost(3);
    tcp.arrives(4).expect([retransmission(0)]).ssthresh(5000);
}

/// RFC 6675 §4, `IsLost`: *more* than (DupThresh − 1)·SMSS.
#[test]
fn one_ack_of_two_segments_does_not_start_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrives_with_ack_lost(1).arrives(2).nothing().cwnd(10_000);
    // One byte of the next segment exceeds the limit.
    tcp.sack(0, [1000..3001]).expect([retransmission(0)]);
}

/// RFC 6675 §4, `IsLost`: DupThresh discontiguous sequences, regardless of their lengths.
#[test]
fn one_ack_with_three_separate_blocks_starts_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.sack(0, [4000..4001, 6000..6001, 8000..8001]).expect([retransmission(0)]);
}

#[test]
fn one_ack_with_two_short_blocks_does_not_start_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.sack(0, [4000..4001, 6000..6001]).nothing().cwnd(10_000);
}

/// RFC 6675 §5 step 1: three duplicate ACKs suffice even if they report less than a segment.
#[test]
fn three_duplicate_acks_of_short_segments_start_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.sack(0, [1000..1100]).nothing().sack(0, [1000..1200]).nothing();
    tcp.sack(0, [1000..1300]).expect([retransmission(0)]);
}

/// RFC 6675 §2: a duplicate ACK reports octets that were not known to have arrived.
#[test]
fn acks_without_new_information_are_no_duplicates() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(5);
    tcp.arrives(1).nothing();
    for _ in 0..5 {
        tcp.sack(0, [1000..2000]).nothing();
    }
    tcp.cwnd(10_000);
}

/// RFC 6675 §2: an ACK that reports new data beyond a hole is a duplicate even if it advances the
/// cumulative acknowledgement. Segment 2 is lost, and so are the ACKs of 0, 1, 3 and 4.
#[test]
fn ack_of_new_data_can_begin_a_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    for index in [0, 1, 3, 4] {
        tcp.arrives_with_ack_lost(index);
    }
    // Segments 2 … 9 are in flight.
    tcp.arrives(5).expect([retransmission(2)]).ssthresh(4000).cwnd(4000).timer(1100);
}

/// An ACK with the same acknowledgement number but fewer blocks counts as the first duplicate ACK.
#[test]
fn ack_of_new_data_can_be_the_first_duplicate() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    for index in [0, 1] {
        tcp.arrives_with_ack_lost(index);
    }
    tcp.sack(2000, [3000..3100]).expect(new_segments(10, 12)).cwnd(11_000);
    tcp.sack(2000, [3000..3200]).nothing();
    tcp.sack(2000, [3000..3300]).expect([retransmission(2)]);
}

/// RFC 6675 §5: a cumulative ACK resets DupAcks.
#[test]
fn duplicate_count_restarts_after_each_new_ack() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.sack(0, [5000..5100]).nothing().sack(0, [5000..5200]).nothing();
    tcp.sack(1000, []).expect([new(10)]);
    tcp.sack(1000, [5000..5300]).nothing().sack(1000, [5000..5400]).nothing();
    tcp.sack(1000, [5000..5500]).expect([retransmission(1)]);
}

/// RFC 6675 §5: *any* ACK with SACK information updates the scoreboard, even if it was overtaken.
#[test]
fn overtaken_ack_still_reports_arrivals() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.sack(2000, []).expect(new_segments(10, 12));
    tcp.sack(1000, [3000..6000]).expect([retransmission(2)]).ssthresh(5000);
}

#[test]
fn overtaken_ack_does_not_report_data_acknowledged_since() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.sack(6000, []).expect(new_segments(10, 16));
    tcp.sack(1000, [3000..6000]).nothing().cwnd(11_000);
}

// --- 1 to 4 losses in a window ----------------------------------------------------------------

/// The window is not inflated: `pipe` decreases with every duplicate ACK until a segment fits.
#[test]
fn one_loss_is_recovered_without_a_timeout() {
    let mut tcp = recovering(|_| ());
    // pipe: 0 (retransmitted), 6 … 9.
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]).cwnd(5000);
    }
    tcp.at(200).arrives(0).cwnd(5000).ssthresh(5000).expect([new(14)]).timer(1200);
    // Congestion avoidance counts a window of bytes from here on.
    for index in 10..14 {
        tcp.arrives(index).cwnd(5000).expect([new(index + 5)]);
    }
    tcp.arrives(14).cwnd(6000).expect(new_segments(19, 21));
}

/// Segments 0 and 4 are lost.
#[test]
fn two_losses_are_recovered_without_a_timeout() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([5, 6]);
    // Three segments beyond 4 make it lost. pipe: 0 (retransmitted), 8, 9; then also 4
    // (retransmitted).
    tcp.arrives(7).expect([retransmission(4), new(10)]);
    tcp.arrives(8).expect([new(11)]).arrives(9).expect([new(12)]);
    // pipe: 4 (retransmitted), 10, 11, 12.
    tcp.at(200).arrives(0).expect([new(13)]).cwnd(5000);
    tcp.arrives(4).cwnd(5000).ssthresh(5000).expect([new(14)]);
}

/// Segments 0, 1 and 2 are lost.
#[test]
fn three_losses_are_recovered_without_a_timeout() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 4]);
    // pipe: 0 (retransmitted), 6 … 9.
    tcp.arrives(5).expect([retransmission(0)]);
    tcp.arrives(6).expect([retransmission(1)]).arrives(7).expect([retransmission(2)]);
    tcp.arrives(8).expect([new(10)]).arrives(9).expect([new(11)]);
    tcp.at(200).arrives(0).expect([new(12)]).arrives(1).expect([new(13)]);
    tcp.arrives(2).cwnd(5000).ssthresh(5000).expect([new(14)]);
}

/// Segments 0, 2, 4 and 6 are lost.
#[test]
fn four_losses_are_recovered_without_a_timeout() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([1, 3]);
    // Only segment 0 has three blocks beyond it. pipe: 0 (retransmitted), 2, 4, 6 … 9.
    tcp.arrives(5).expect([retransmission(0)]);
    // Now segment 2 has three blocks too. pipe: 0 (retransmitted), 4, 6, 8, 9.
    tcp.arrives(7).nothing();
    // Segment 4 has three segments beyond it. pipe: 0 (retransmitted), 6, 9.
    tcp.arrives(8).expect([retransmission(2), retransmission(4)]);
    tcp.arrives(9).expect([retransmission(6), new(10)]);
    for (round, hole) in [0, 2, 4].into_iter().enumerate() {
        tcp.at(200).arrives(hole).expect([new(11 + round as u64)]).cwnd(5000);
    }
    tcp.arrives(6).cwnd(5000).ssthresh(5000).expect([new(14)]);
}

/// "1to4drops": the first k of ten segments are lost and the RTT is 100 ms. The loss is detected at
/// 100 ms. Reno waits for the timer with three or more losses, NewReno retransmits one segment per
/// RTT, and SACK retransmits all segments in the first RTT.
#[test]
fn one_to_four_losses_take_one_round_trip() {
    use RecoveryKind::{NewReno, Prr, Reno, Sack};
    let course = |kind, losses| {
        let lost: Vec<u64> = (0..losses).collect();
        sender(|given| given.tcp.recovery = kind).closed_loop(&lost, 10_000)
    };
    for losses in 1..=4 {
        let expected = Course { done_at: 200, timeouts: 0, recoveries: 1, retransmissions: losses };
        assert_eq!(course(Sack, losses), expected);
        assert_eq!(course(Prr, losses), expected);
        let expected = Course { done_at: 100 + 100 * losses, ..expected };
        assert_eq!(course(NewReno, losses), expected);
    }
    assert_eq!((course(Reno, 1).done_at, course(Reno, 1).recoveries), (200, 1));
    assert_eq!((course(Reno, 2).done_at, course(Reno, 2).recoveries), (300, 2));
    for losses in [3, 4] {
        assert_eq!(course(Reno, losses).timeouts, 1);
        assert!(course(Reno, losses).done_at > 1000);
    }
}

/// The first nine of ten segments are lost: one duplicate ACK does not indicate a loss.
#[test]
fn loss_of_almost_a_window_waits_for_the_timer() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([9]).timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
}

/// cwnd − pipe limits the number of retransmissions.
#[test]
fn many_losses_are_retransmitted_as_the_window_allows() {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.initial_window = 20_000;
    });
    tcp.expect(new_segments(0, 20)).at(100);
    tcp.arrive_quietly([11, 12]);
    // cwnd = 10, pipe: 14 … 19.
    tcp.arrives(13).expect(retransmissions(0, 4)).cwnd(10_000);
    for index in 14..20 {
        tcp.arrives(index).expect([retransmission(index - 10)]);
    }
    tcp.at(200).arrives(0).expect([retransmission(10)]);
    for index in 1..10 {
        tcp.arrives(index).expect([new(index + 19)]);
    }
    tcp.arrives(10).cwnd(10_000).expect([new(29)]);
}
