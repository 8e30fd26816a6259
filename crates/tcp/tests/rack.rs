//! Losses found by time: RFC 8985 §6 (RACK).
//!
//! Unless a test says otherwise ten segments leave at 0 and the round trip is 100 ms, limited transmit
//! is off, and the receiver acknowledges every segment at once and reports what it holds.

use crate::script::{Given, SenderScript, new, new_segments, retransmission, sender};
use airpath_tcp::{LossDetection, RecoveryKind, StackVariant};

/// Ten segments leave at 0; `change` is applied first.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.loss_detection = LossDetection::Rack;
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

/// The same, and segment 0 is lost; 1, 2 and 3 have arrived.
fn recovering(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ten_in_flight(change);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp
}

/// §6.2 step 4: with three segments beyond the hole and no reordering seen the window is 0.
#[test]
fn three_segments_beyond_a_hole_are_enough() {
    recovering(|_| ()).cwnd(5000).ssthresh(5000);
}

/// §6.2 steps 4 and 5: with fewer, a quarter of the smallest RTT passes beyond the time at which it
/// should have arrived; the timer has 2 ms more.
#[test]
fn one_segment_beyond_a_hole_and_a_quarter_of_the_rtt_are_enough() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrives(1).nothing().cwnd(10_000);
    tcp.released_at(127).expect([retransmission(0)]).cwnd(5000).ssthresh(5000).timeouts(0);
}

/// What is missing arrives before the timer expires.
#[test]
fn a_segment_that_is_late_within_the_window_is_not_lost() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrives(1).nothing().at(120);
    tcp.arrives(0).expect(new_segments(10, 12));
    // Only the RTO's timer is left: SRTT 100 and 120 ms, and its least.
    tcp.timer(1120);
}

/// §6.2 step 3: after reordering three segments are not enough, time is.
#[test]
fn after_reordering_the_window_holds_regardless_of_arrivals() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrives(1).nothing();
    tcp.arrives(0).expect(new_segments(10, 12));
    tcp.arrive_quietly([3, 4, 5, 6]);
    tcp.released_at(127).expect([retransmission(2)]).timeouts(0);
}

/// §6.2 step 5: every segment that left before one that has arrived is lost, not only the oldest.
/// The window is 5000 bytes, and 7, 8 and 9 and the retransmissions are in flight.
#[test]
fn all_that_left_before_is_lost_at_once() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([4, 5]).arrives(6).expect([retransmission(0), retransmission(1)]).cwnd(5000);
    tcp.arrives(7).expect([retransmission(2)]);
    tcp.arrives(8).expect([retransmission(3)]);
    tcp.arrives(9).expect([new(10)]);
}

/// §6.2 step 5: a retransmission is deemed lost when a segment that left after it has arrived. RFC
/// 6675 leaves it to the retransmission timer.
#[test]
fn lost_retransmission_is_retransmitted_without_a_timeout() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4]).arrives(5).nothing();
    tcp.arrives(6).expect([new(10)]);
    tcp.at(200).arrives(7).expect([new(11)]);
    tcp.arrives(8).expect([new(12)]);
    tcp.arrives(9).expect([new(13)]);
    // Left at 100 ms as segment 0 did, behind it.
    tcp.arrives(10).expect([retransmission(0), new(14)]).timeouts(0).cwnd(5000);
}

/// Linux `tcp_xmit_retransmit_queue`: the retransmission timer starts with the oldest segment.
#[test]
fn timer_restarts_with_each_retransmission_of_the_oldest() {
    let mut tcp = recovering(|_| ());
    tcp.timer(1100);
}

/// §6.3: a timeout holds all for lost that has not arrived, and forgets nothing.
#[test]
fn a_timeout_keeps_what_has_arrived() {
    let mut tcp = ten_in_flight(|given| given.tcp.timestamps = true);
    tcp.arrives(8).nothing();
    tcp.released_at(127)
        .expect([retransmission(0), retransmission(1), retransmission(2), retransmission(3)])
        .cwnd(5000);
    tcp.timeout_at(1127).expect([retransmission(0)]).cwnd(1000).timeouts(1);
}

/// RFC 9937 §6.2: while more than ssthresh is in flight a segment leaves for every two delivered,
/// rounded up; the first is forced.
#[test]
fn with_proportional_rate_reduction_the_window_falls_by_what_arrives() {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Prr;
        given.tcp.loss_detection = LossDetection::Rack;
        given.tcp.initial_window = 20_000;
    });
    tcp.expect(new_segments(0, 20)).at(100);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).cwnd(10_000);
    // ⌈prr_delivered/2⌉ − prr_out: 1 − 1, 2 − 1, 2 − 2, 3 − 2.
    tcp.arrives(4).nothing();
    tcp.arrives(5).expect([new(20)]);
    tcp.arrives(6).nothing();
    tcp.arrives(7).expect([new(21)]);
}

/// With Linux's procedures a loss takes half of cwnd in whole segments, used or not.
#[test]
fn linux_halves_the_window_in_whole_segments() {
    let mut tcp = ten_in_flight(|given| {
        given.tcp.stack = StackVariant::Linux;
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives(0).expect([new(10)]);
    tcp.arrive_quietly([2, 3]).arrives(4).expect([retransmission(1)]).ssthresh(5000);
}
