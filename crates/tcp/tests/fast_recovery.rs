//! Fast retransmit and fast recovery: RFC 5681 §3.2 (Reno), RFC 6582 (NewReno).
//!
//! Unless a test says otherwise ten segments are in flight, limited transmit is off and
//! the receiver keeps what arrives behind a hole.

use crate::script::{Given, Segment, SenderScript, sender};
use crate::script::{new, new_segments, retransmission, retransmissions};
use airpath_tcp::{FastRetransmitGuard, FlightBound, PartialAckTimer, RecoveryExit, RecoveryKind};

fn reno(given: &mut Given) {
    given.tcp.recovery = RecoveryKind::Reno;
}

/// Ten segments leave at 0; `change` is applied first.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(change);
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

/// The first segment is lost and `duplicates` duplicate ACKs arrive. The third resends it and sets
/// a window of ssthresh + 3 = 8 segments, the next ones add a segment each: from the sixth on the
/// window admits new segments.
fn recovering(change: impl FnOnce(&mut Given), duplicates: u64) -> SenderScript {
    let mut tcp = ten_in_flight(change);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    for duplicate in 4..=duplicates {
        tcp.duplicate();
        tcp.expect((duplicate >= 6).then(|| new(duplicate + 4)));
    }
    tcp
}

#[test]
fn two_duplicates_change_nothing() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).cwnd(10_000).timer(1000);
    // The segment was only late.
    tcp.at(110).ack(3000).cwnd(11_000).expect(new_segments(10, 14));
}

#[test]
fn the_third_duplicate_resends_the_first_unacknowledged_segment() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.ssthresh(5000);
}

#[test]
fn duplicate_count_restarts_after_each_new_ack() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.quiet_duplicates(2).ack(1000).expect([new(10)]);
    tcp.quiet_duplicates(2).ack(2000).expect([new(11)]);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(2)]);
}

/// RFC 5681 §2: an ACK is a duplicate only while data is outstanding.
#[test]
fn duplicates_with_nothing_outstanding_are_ignored() {
    let mut tcp = ten_in_flight(|given| given.stop = Some(50));
    tcp.ack(10_000).nothing().cwnd(11_000);
    tcp.quiet_duplicates(5).cwnd(11_000).no_timer();
}

/// RFC 5681 eq. 4.
#[test]
fn ssthresh_is_half_of_what_is_in_flight_not_of_cwnd() {
    let mut tcp = sender(|given| given.tcp.receive_window = 6000);
    tcp.expect(new_segments(0, 6)).cwnd(10_000);
    tcp.at(100).quiet_duplicates(2).duplicate();
    tcp.expect([retransmission(0)]).ssthresh(3000);
}

#[test]
fn ssthresh_is_at_least_two_segments() {
    let mut tcp = sender(|given| given.tcp.receive_window = 3000);
    tcp.expect(new_segments(0, 3)).at(100);
    tcp.quiet_duplicates(2).duplicate();
    tcp.expect([retransmission(0)]).ssthresh(2000);
}

/// RFC 5681 §3.2 step 3 and 4: cwnd = ssthresh + 3·SMSS, then one SMSS per duplicate.
#[test]
fn each_further_duplicate_inflates_the_window_by_a_segment() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.quiet_duplicates(2); // to the ten segments that are in flight
    for index in 10..14 {
        tcp.duplicate().expect([new(index)]);
    }
    tcp.cwnd(5000); // what is left without the inflation
}

#[test]
fn the_inflated_window_respects_the_receiver() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 11_000);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.quiet_duplicates(2);
    tcp.duplicate().expect([new(10)]);
    tcp.quiet_duplicates(3);
}

/// RFC 6298 §5: the timer restarts only when new data is acknowledged.
#[test]
fn neither_duplicates_nor_the_fast_retransmit_restart_the_timer() {
    recovering(|_| (), 9).timer(1000);
}

#[test]
fn one_loss_costs_one_halving_and_one_retransmission() {
    for kind in [RecoveryKind::Reno, RecoveryKind::NewReno] {
        // Nine duplicates inflate the window to 14 segments: 10, 11, 12 and 13 go out.
        let mut tcp = recovering(|given| given.tcp.recovery = kind, 9);
        tcp.at(200).ack(10_000).cwnd(5000).ssthresh(5000);
        tcp.expect([new(14)]).timer(1200);
        // Congestion avoidance counts a window of bytes from there: the ACK that ended recovery is
        // no part of it.
        for index in 11..15 {
            tcp.ack(index * 1000).cwnd(5000).expect([new(index + 4)]);
        }
        tcp.ack(15_000).cwnd(6000).expect(new_segments(19, 21));
    }
}

/// RFC 5681 §3.2 step 6: the first ACK of new data ends it, even if more was lost.
#[test]
fn reno_leaves_recovery_at_a_partial_ack() {
    let mut tcp = recovering(reno, 8);
    tcp.at(200).ack(1000).cwnd(5000).nothing();
}

/// Segments 0 and 1 are lost: the three sent during recovery give the duplicates of the second.
#[test]
fn reno_halves_twice_for_two_losses_in_a_window() {
    let mut tcp = recovering(reno, 8);
    tcp.at(200).ack(1000).nothing().ssthresh(5000);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(1)]);
    // Twelve segments were in flight, 1 … 12.
    tcp.ssthresh(6000).cwnd(6000);
    tcp.at(300).ack(13_000).cwnd(6000).expect(new_segments(13, 19));
}

/// Segments 0, 1 and 2 are lost: only 10 and 11 are there to give duplicates.
#[test]
fn reno_waits_for_the_timeout_after_three_losses_in_a_window() {
    let mut tcp = recovering(reno, 7);
    tcp.at(200).ack(1000).nothing().timer(1200);
    tcp.at(210).quiet_duplicates(2);
    tcp.timeout_at(1200).expect([retransmission(1)]).cwnd(1000);
}

/// Segments 0 to 3 are lost: only 10 is there to give a duplicate.
#[test]
fn reno_waits_for_the_timeout_after_four_losses_in_a_window() {
    let mut tcp = recovering(reno, 6);
    tcp.at(200).ack(1000).nothing().timer(1200);
    tcp.at(210).quiet_duplicates(1);
    tcp.timeout_at(1200).expect([retransmission(1)]).cwnd(1000);
}

/// RFC 6582 §3.2 step 3. Segments 0 and 4 are lost.
#[test]
fn newreno_resends_the_second_hole_at_the_partial_ack() {
    let mut tcp = recovering(|_| (), 8);
    // cwnd = 13 − 4 + 1 = 10 segments from 4000.
    tcp.at(200).ack(4000).expect([retransmission(4), new(13)]).ssthresh(5000);
    // 10, 11 and 12 arrive.
    for index in 14..17 {
        tcp.at(200).duplicate().expect([new(index)]);
    }
    // min(ssthresh, FlightSize + SMSS) = min(5000, 4000 + 1000).
    tcp.at(300).ack(13_000).cwnd(5000).ssthresh(5000);
    tcp.expect([new(17)]);
}

/// Segments 0, 1 and 2 are lost.
#[test]
fn newreno_fills_three_holes_in_three_round_trips_with_one_halving() {
    let mut tcp = recovering(|_| (), 7);
    // cwnd = 12 − 1 + 1 = 12 from 1000.
    tcp.at(200).ack(1000).expect([retransmission(1), new(12)]).ssthresh(5000);
    for index in [13, 14] {
        tcp.at(200).duplicate().expect([new(index)]); // 10 and 11 arrive
    }
    // cwnd = 14 − 1 + 1 = 14 from 2000.
    tcp.at(300).ack(2000).expect([retransmission(2), new(15)]).ssthresh(5000);
    for index in [16, 17, 18] {
        tcp.at(300).duplicate().expect([new(index)]); // 12, 13 and 14 arrive
    }
    // recover is 10 000: this ACK is full. 15 … 18 are in flight.
    tcp.at(400).ack(15_000).cwnd(5000).ssthresh(5000).expect([new(19)]);
}

/// Segments 0, 2, 4 and 6 are lost, and the receiver's window keeps new data out.
#[test]
fn newreno_fills_four_holes_with_one_halving() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.quiet_duplicates(3);
    // The right edge moves on by two segments with each hole; those two give duplicates.
    for (round, hole) in [(2, 2), (3, 4), (4, 6)] {
        tcp.at(round * 100).ack(hole * 1000).ssthresh(5000);
        tcp.expect([retransmission(hole), new(hole + 8), new(hole + 9)]);
        tcp.quiet_duplicates(2);
    }
    tcp.at(500).ack(16_000).ssthresh(5000).cwnd(2000);
    tcp.expect(new_segments(16, 18));
}

/// RFC 6582 §3.2 step 3: less than one SMSS acknowledged, no SMSS added back.
#[test]
fn a_partial_ack_of_less_than_a_segment_only_deflates() {
    let mut tcp = recovering(|_| (), 5);
    // cwnd = 10 000 − 300 from 300: nothing fits; with an SMSS added back segment 10 would.
    tcp.at(200).ack(300).expect([Segment::Data(300, 700, true)]);
    tcp.at(200).duplicate().expect([new(10)]);
}

/// RFC 6582 §3.2 step 3: the window that a partial ACK deflates is still at least one segment, and
/// inflates from there. Here most of the duplicates were lost.
#[test]
fn a_deep_deflation_leaves_a_window_of_one_segment() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    // 8000 − 9000 + 1000 = 0, so one segment from 9000, and that is in flight.
    tcp.at(200).ack(9000).expect([retransmission(9)]);
    tcp.at(210).duplicate().expect([new(10)]);
    tcp.at(220).duplicate().expect([new(11)]);
}

#[test]
fn an_impatient_sender_restarts_the_timer_at_the_first_partial_ack_only() {
    let mut tcp = recovering(|given| given.tcp.partial_ack_timer = PartialAckTimer::First, 3);
    tcp.timer(1000);
    tcp.at(200).ack(1000).expect([retransmission(1)]).timer(1200);
    tcp.at(400).ack(2000).expect([retransmission(2)]).timer(1200);
    tcp.at(600).ack(3000).expect([retransmission(3), new(10)]).timer(1200);
    tcp.timeout_at(1200).expect([retransmission(3)]).cwnd(1000);
}

#[test]
fn a_slow_but_steady_sender_restarts_the_timer_at_each_partial_ack() {
    let mut tcp = recovering(|given| given.tcp.partial_ack_timer = PartialAckTimer::Each, 3);
    tcp.timer(1000);
    for (round, hole) in [(2, 1), (4, 2), (6, 3), (8, 4), (10, 5)] {
        tcp.at(round * 100).ack(hole * 1000);
        tcp.expect([retransmission(hole)].into_iter().chain((hole >= 3).then(|| new(hole + 7))));
        tcp.timer(round * 100 + 1000);
    }
}

/// RFC 6582 §3.2 step 3, option 1: nothing is in flight, so two segments, not a burst of five.
#[test]
fn the_burst_safe_exit_sends_two_segments() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.at(200).ack(10_000).cwnd(2000).ssthresh(5000);
    tcp.expect(new_segments(10, 12));
    // Slow start back to ssthresh.
    tcp.at(300).ack(12_000).cwnd(3000).expect(new_segments(12, 15));
}

/// RFC 6582 §3.2 step 3, option 2.
#[test]
fn the_other_exit_sends_a_window_of_ssthresh() {
    let mut tcp = ten_in_flight(|given| {
        given.tcp.receive_window = 10_000;
        given.tcp.exit_window = RecoveryExit::Ssthresh;
    });
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.at(200).ack(10_000).cwnd(5000).expect(new_segments(10, 15));
}

/// RFC 6582 §3.2 step 1: an ACK of `recover` itself does not cover more than `recover`.
#[test]
fn duplicates_of_a_full_ack_do_not_halve_again() {
    let mut tcp = recovering(|_| (), 9);
    tcp.at(200).ack(10_000).expect([new(14)]).ssthresh(5000);
    tcp.at(210).quiet_duplicates(4).ssthresh(5000).cwnd(5000);
}

#[test]
fn a_loss_in_the_next_window_halves_again() {
    let mut tcp = recovering(|_| (), 9);
    tcp.at(200).ack(10_000).expect([new(14)]);
    tcp.at(200).ack(11_000).expect([new(15)]).cwnd(5000);
    tcp.at(210).quiet_duplicates(2).duplicate().expect([retransmission(11)]);
    tcp.ssthresh(2500);
}

/// Reno has no such guard: RFC 5681 does not know `recover`.
#[test]
fn reno_halves_again_at_duplicates_of_the_ack_that_ended_recovery() {
    let mut tcp = recovering(reno, 9);
    tcp.at(200).ack(10_000).expect([new(14)]).ssthresh(5000);
    tcp.at(210).quiet_duplicates(2).duplicate().expect([retransmission(10)]);
    tcp.ssthresh(2500);
}

/// RFC 6582 takes the initial sequence number as the first `recover`, which taken to the letter
/// leaves the loss of the very first segment to the timer. Nothing was lost before it, though:
/// RFC 5681 applies.
#[test]
fn the_loss_of_the_very_first_segment_is_recovered_fast() {
    let mut tcp = sender(|given| given.tcp.initial_window = 4000);
    tcp.expect(new_segments(0, 4)).at(100);
    // cwnd = 2 + 3 segments.
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0), new(4)]);
}

/// The timer expires in a recovery that has let eight segments out: of the 18 outstanding 17 wait at
/// the receiver.
fn a_lost_retransmission(bound: FlightBound) -> SenderScript {
    let mut tcp = recovering(|given| given.tcp.flight_bound = bound, 9);
    // The four sent during recovery arrive.
    for index in 14..18 {
        tcp.at(200).duplicate().expect([new(index)]);
    }
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000);
    tcp
}

/// FlightSize used to be taken as it was, by which the loss of a retransmission raised ssthresh:
/// RFC 5681 §4.3 takes it for a further indication of congestion, and eq. 4 is an upper bound.
#[test]
fn a_lost_retransmission_is_found_by_the_timeout_and_does_not_raise_ssthresh() {
    let mut tcp = a_lost_retransmission(FlightBound::Cwnd);
    tcp.ssthresh(5000);
    tcp.at(1100).ack(18_000).cwnd(2000).expect(new_segments(18, 20));
}

/// RFC 5681 eq. 4 by the definition of FlightSize in §2.
#[test]
fn without_a_bound_ssthresh_is_half_of_all_that_is_outstanding() {
    let mut tcp = a_lost_retransmission(FlightBound::None);
    tcp.ssthresh(9000);
    tcp.at(1100).ack(18_000).cwnd(2000).expect(new_segments(18, 20));
}

/// Until everything sent before it is acknowledged, one window of data has been lost.
#[test]
fn further_timeouts_of_the_window_keep_ssthresh() {
    let mut tcp = a_lost_retransmission(FlightBound::Cwnd);
    tcp.timeout_at(3000).expect([retransmission(0)]).ssthresh(5000);
    tcp.at(3100).ack(5000).cwnd(2000).expect(retransmissions(5, 7));
    tcp.timeout_at(7100).expect([retransmission(5)]).cwnd(1000).ssthresh(5000);
}

/// What is lost after it counts afresh, from no more than cwnd.
#[test]
fn timeout_in_the_next_window_reduces_from_that_window() {
    let mut tcp = a_lost_retransmission(FlightBound::Cwnd);
    tcp.at(1100).ack(18_000).cwnd(2000).expect(new_segments(18, 20));
    tcp.at(1200).ack(20_000).cwnd(3000).expect(new_segments(20, 23));
    tcp.at(1300).ack(23_000).cwnd(4000).expect(new_segments(23, 27));
    tcp.at(1400).ack(27_000).cwnd(5000).expect(new_segments(27, 32));
    tcp.timeout_at(2400).expect([retransmission(27)]).ssthresh(2500);
}

/// A recovery that ends at a hole beyond `recover` leaves more outstanding than cwnd: segments 0
/// and 11 are lost.
#[test]
fn fast_retransmit_reduces_from_no_more_than_cwnd() {
    for (bound, ssthresh) in [(FlightBound::Cwnd, 2500), (FlightBound::None, 3000)] {
        let mut tcp = recovering(|given| given.tcp.flight_bound = bound, 9);
        // 10, 12 and 13 arrive.
        for index in 14..17 {
            tcp.at(190).duplicate().expect([new(index)]);
        }
        tcp.at(200).ack(11_000).cwnd(5000).nothing();
        tcp.at(290).quiet_duplicates(2).duplicate().ssthresh(ssthresh).anything();
    }
}

#[test]
fn a_timeout_ends_recovery_and_its_inflation() {
    let mut tcp = recovering(|_| (), 5);
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000);
    tcp.at(1050).quiet_duplicates(3).cwnd(1000);
    tcp.at(1100).ack(1000).cwnd(2000).expect([retransmission(1), retransmission(2)]);
}

/// RFC 6582 §3.2 step 4 and §4: what go-back-N sends needlessly gives duplicates, not losses.
#[test]
fn duplicates_after_a_timeout_do_not_start_recovery_up_to_recover() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]).ssthresh(5000);
    // 1 … 4 had arrived.
    tcp.at(1100).ack(5000).cwnd(2000).expect([retransmission(5), retransmission(6)]);
    tcp.at(1110).quiet_duplicates(4).cwnd(2000).ssthresh(5000);
    // An ACK of `recover`, the last byte sent before the timeout, does not cover more than it.
    tcp.at(1200).ack(10_000).cwnd(3000).expect(new_segments(10, 13));
    tcp.at(1210).quiet_duplicates(3).ssthresh(5000);
}

/// ns-3 requires only that everything sent before has been acknowledged. Profile `ns3` had the
/// RFC's guard: with a loss of 10 % and without SACK its goodput was 21 % too low.
#[test]
fn ns3_admits_duplicates_of_the_first_byte_after_recover() {
    let mut tcp = ten_in_flight(|given| given.tcp.fast_retransmit_guard = FastRetransmitGuard::Ns3);
    tcp.timeout_at(1000).expect([retransmission(0)]).ssthresh(5000);
    tcp.at(1100).ack(5000).cwnd(2000).expect([retransmission(5), retransmission(6)]);
    tcp.at(1110).quiet_duplicates(4).cwnd(2000).ssthresh(5000);
    tcp.at(1200).ack(10_000).cwnd(3000).expect(new_segments(10, 13));
    tcp.at(1210).quiet_duplicates(2).duplicate().expect([retransmission(10), new(13), new(14)]);
    tcp.ssthresh(2000);
}

#[test]
fn duplicates_beyond_recover_start_recovery_after_a_timeout() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).ack(10_000).cwnd(2000).expect(new_segments(10, 12));
    tcp.at(1200).ack(11_000).cwnd(3000).expect(new_segments(12, 14));
    tcp.at(1200).quiet_duplicates(2).duplicate();
    // cwnd = 2 + 3 segments from 11 000.
    tcp.expect([retransmission(11), new(14), new(15)]).ssthresh(2000);
}

#[test]
fn without_the_guard_duplicates_after_a_timeout_start_recovery() {
    let mut tcp = ten_in_flight(|given| given.tcp.fast_retransmit_guard = FastRetransmitGuard::Off);
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).ack(5000).expect([retransmission(5), retransmission(6)]);
    tcp.at(1110).quiet_duplicates(2).duplicate();
    // cwnd = 2000 + 3000 from 5000: go-back-N continues, up to the data sent before.
    tcp.expect([retransmission(5)].into_iter().chain(retransmissions(7, 10))).ssthresh(2000);
}

// --- the guard of ns-3 -----------------------------------------------------------------------------

fn as_ns3(given: &mut Given) {
    given.tcp.fast_retransmit_guard = FastRetransmitGuard::Ns3;
}

/// The same after a recovery: RFC 6582 keeps these duplicates out
/// (`duplicates_of_a_full_ack_do_not_halve_again`).
#[test]
fn ns3_admits_duplicates_of_a_full_ack() {
    let mut tcp = recovering(as_ns3, 9);
    tcp.at(200).ack(10_000).expect([new(14)]).ssthresh(5000);
    tcp.at(210).quiet_duplicates(2).duplicate().expect([retransmission(10)]).ssthresh(2500);
}

/// One segment below `recover` is not enough, after a timeout.
#[test]
fn ns3_ignores_duplicates_below_recover() {
    let mut tcp = ten_in_flight(as_ns3);
    tcp.timeout_at(1000).expect([retransmission(0)]).ssthresh(5000);
    tcp.at(1100).ack(9000).cwnd(2000).expect([retransmission(9), new(10)]);
    tcp.at(1110).quiet_duplicates(4).cwnd(2000).ssthresh(5000);
    // One byte below it is not either.
    tcp.at(1200).ack(9999).cwnd(2999).expect([new(11)]);
    tcp.at(1210).quiet_duplicates(4).ssthresh(5000);
}

#[test]
fn ns3_admits_duplicates_beyond_recover() {
    let mut tcp = ten_in_flight(as_ns3);
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).ack(10_000).cwnd(2000).expect(new_segments(10, 12));
    tcp.at(1200).ack(11_000).cwnd(3000).expect(new_segments(12, 14));
    tcp.at(1200).quiet_duplicates(2).duplicate();
    tcp.expect([retransmission(11), new(14), new(15)]).ssthresh(2000);
}

/// A recovery that they began has a new `recover`.
#[test]
fn ns3_guard_restarts_from_the_admitted_recovery() {
    let mut tcp = recovering(as_ns3, 9);
    tcp.at(200).ack(10_000).expect([new(14)]);
    tcp.at(210).quiet_duplicates(2).duplicate().expect([retransmission(10)]).ssthresh(2500);
    // `recover` is 15 000: up to there partial ACKs, and no second reduction.
    tcp.at(300).ack(11_000).expect([retransmission(11), new(15)]).ssthresh(2500);
    tcp.at(310).ack(12_000).expect([retransmission(12), new(16)]).ssthresh(2500);
}

/// The first eleven segments are lost, and with them, after the timeout, the first one beyond
/// `recover`. Without SACK ns-3's guard lets three duplicates repair it and the RFC's does not;
/// with SACK no guard applies (RFC 6675 has its recovery point).
#[test]
fn with_sack_the_guard_means_nothing() {
    let course = |recovery, guard| {
        let mut tcp = sender(|given| {
            given.tcp.recovery = recovery;
            given.tcp.fast_retransmit_guard = guard;
            given.transfer = Some(40_000);
        });
        tcp.closed_loop(&(0..11).collect::<Vec<_>>(), 40_000)
    };
    use FastRetransmitGuard::{Ns3, Off, Rfc};
    for recovery in [RecoveryKind::Sack, RecoveryKind::Prr] {
        let [off, rfc, ns3] = [Off, Rfc, Ns3].map(|guard| course(recovery, guard));
        assert!(rfc.timeouts >= 1, "{rfc:?}");
        assert_eq!((&off, &ns3), (&rfc, &rfc), "{recovery:?}");
    }
    let [rfc, ns3] = [Rfc, Ns3].map(|guard| course(RecoveryKind::NewReno, guard));
    assert_eq!((rfc.timeouts, rfc.recoveries), (2, 0), "{rfc:?}");
    assert_eq!((ns3.timeouts, ns3.recoveries), (1, 1), "{ns3:?}");
}
