//! Losses detected by time: RFC 8985 §6 (RACK).
//!
//! Unless stated otherwise, ten segments are sent at 0, the RTT is 100 ms, limited transmit is off,
//! and the receiver acknowledges every segment immediately and reports out-of-order data.

use crate::script::{Given, SenderScript, new, new_segments, retransmission, sender};
use airpath_tcp::{LossDetection, RecoveryKind, StackVariant};

/// Sends ten segments at 0 after applying `change`.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.loss_detection = LossDetection::Rack;
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

/// Sends ten segments at 0 after applying `change`. Segment 0 is lost, and segments 1, 2 and 3 have
/// arrived.
fn recovering(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ten_in_flight(change);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp
}

/// §6.2 step 4: with three segments beyond the hole, and without reordering, the window is 0.
#[test]
fn three_segments_beyond_a_hole_start_a_recovery() {
    recovering(|_| ()).cwnd(5000).ssthresh(5000);
}

/// §6.2 steps 4 and 5: with fewer segments, a quarter of the minimum RTT must pass after the
/// expected arrival. The timer adds 2 ms.
#[test]
fn one_segment_beyond_a_hole_starts_a_recovery_after_a_quarter_of_the_rtt() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrives(1).nothing().cwnd(10_000);
    tcp.released_at(127).expect([retransmission(0)]).cwnd(5000).ssthresh(5000).timeouts(0);
}

/// The missing segment arrives before the timer expires.
#[test]
fn segment_delayed_within_the_window_is_not_lost() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrives(1).nothing().at(120);
    tcp.arrives(0).expect(new_segments(10, 12));
    // Only the RTO timer remains: samples of 100 and 120 ms, minimum RTO.
    tcp.timer(1120);
}

/// §6.2 step 3: after reordering, three segments do not suffice; only time counts.
#[test]
fn reordering_window_applies_after_reordering() {
    let mut tcp = ten_in_flight(|given| given.tcp.receive_window = 10_000);
    tcp.arrives(1).nothing();
    tcp.arrives(0).expect(new_segments(10, 12));
    tcp.arrive_quietly([3, 4, 5, 6]);
    tcp.released_at(127).expect([retransmission(2)]).timeouts(0);
}

/// §6.2 step 5: every segment sent before a segment that has arrived is lost, not only the oldest
/// one. The window is 5000 bytes; segments 7, 8 and 9 and the retransmissions are in flight.
#[test]
fn all_segments_sent_before_an_arrived_one_are_lost_together() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([4, 5]).arrives(6).expect([retransmission(0), retransmission(1)]).cwnd(5000);
    tcp.arrives(7).expect([retransmission(2)]);
    tcp.arrives(8).expect([retransmission(3)]);
    tcp.arrives(9).expect([new(10)]);
}

/// §6.2 step 5: a retransmission is deemed lost if a segment sent after it has arrived. With RFC
/// 6675 only the retransmission timer would detect this loss.
#[test]
fn lost_retransmission_is_retransmitted_without_a_timeout() {
    let mut tcp = recovering(|_| ());
    tcp.arrive_quietly([4]).arrives(5).nothing();
    tcp.arrives(6).expect([new(10)]);
    tcp.at(200).arrives(7).expect([new(11)]);
    tcp.arrives(8).expect([new(12)]);
    tcp.arrives(9).expect([new(13)]);
    // Sent at 100 ms like segment 0, but after it.
    tcp.arrives(10).expect([retransmission(0), new(14)]).timeouts(0).cwnd(5000);
}

/// Linux `tcp_xmit_retransmit_queue`: a retransmission of the oldest segment restarts the
/// retransmission timer.
#[test]
fn timer_restarts_with_each_retransmission_of_the_oldest() {
    let mut tcp = recovering(|_| ());
    tcp.timer(1100);
}

/// §6.3: a timeout deems all data lost that has not arrived, and keeps the SACK information.
#[test]
fn timeout_keeps_the_sack_information() {
    let mut tcp = ten_in_flight(|given| given.tcp.timestamps = true);
    tcp.arrives(8).nothing();
    tcp.released_at(127)
        .expect([retransmission(0), retransmission(1), retransmission(2), retransmission(3)])
        .cwnd(5000);
    tcp.timeout_at(1127).expect([retransmission(0)]).cwnd(1000).timeouts(1);
}

/// RFC 9937 §6.2: while the flight exceeds ssthresh, one segment is sent per two delivered, rounded
/// up. The fast retransmit is always sent.
#[test]
fn proportional_rate_reduction_reduces_the_window_with_arrivals() {
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

/// With Linux's procedures a loss halves cwnd, truncated to full segments, even if cwnd is not
/// fully used.
#[test]
fn linux_halves_the_window_in_full_segments() {
    let mut tcp = ten_in_flight(|given| {
        given.tcp.stack = StackVariant::Linux;
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives(0).expect([new(10)]);
    tcp.arrive_quietly([2, 3]).arrives(4).expect([retransmission(1)]).ssthresh(5000);
}
