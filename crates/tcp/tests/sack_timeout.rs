//! The retransmission timer with SACK (RFC 6675 §5.1), and receivers that renege (RFC 2018 §8).
//!
//! Ten segments are in flight. The receiver acknowledges every segment immediately and reports
//! out-of-order data.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::{
    Given, SenderScript, new, new_segments, retransmission, retransmissions, sender,
};
use airpath_tcp::RecoveryKind;

/// Sends ten segments at 0 after applying `change`.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

/// Does the same; segments 1, 2 and 3 arrive and segment 0 does not: a recovery begins.
fn recovering(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ten_in_flight(change);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp
}

/// Ends the transfer after ten segments.
fn the_last_ten(given: &mut Given) {
    given.transfer = Some(10_000);
}

/// RFC 6675 §5.1 and RFC 2018 §8. Segments 3 and 6 arrived; the receiver reports them again.
#[test]
fn timeout_retransmits_all_data_except_data_reported_again() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 6]).timeout_at(1000);
    tcp.expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect(retransmissions(1, 3));
    tcp.at(1200).arrives(1).cwnd(3000).expect(retransmissions(4, 6));
    tcp.arrives(2).cwnd(4000).expect(retransmissions(7, 9));
    // End of slow start: new data follows the last old segment.
    tcp.at(1300).arrives(4).cwnd(5000).expect([retransmission(9), new(10)]);
    tcp.arrives(5).cwnd(5000).expect([new(11)]);
}

/// RFC 2018 §8: the sender turns off all of the SACKed bits. The receiver does not report the data
/// again.
#[test]
fn timeout_discards_the_sack_information() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 6]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).sack(1000, []).expect(retransmissions(1, 3));
    tcp.at(1200).sack(2000, []).expect(retransmissions(3, 5));
    tcp.at(1200).sack(3000, []).expect(retransmissions(5, 7));
}

/// RFC 6675 §5.1: no recovery before everything sent before the timeout is acknowledged.
#[test]
fn duplicate_acks_after_a_timeout_do_not_begin_a_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    // The segments were only delayed: the flight is the retransmitted segment.
    tcp.at(1010).arrive_quietly(1..9).cwnd(1000).ssthresh(5000);
    // 0 … 8 have arrived; 9 is retransmitted and the window releases one more segment.
    tcp.at(1020).arrives(0).cwnd(2000).expect([retransmission(9), new(10)]);
    tcp.at(1030).arrives(9).cwnd(3000).ssthresh(5000).expect(new_segments(11, 13));
}

#[test]
fn recovery_can_begin_again_after_the_recovery_point() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    for index in 1..10 {
        tcp.arrives_with_ack_lost(index);
    }
    tcp.at(1100).arrives(0).cwnd(2000).expect(new_segments(10, 12));
    tcp.at(1200).arrives(10).cwnd(3000).expect(new_segments(12, 14));
    tcp.arrives(11).cwnd(4000).expect(new_segments(14, 16));
    tcp.at(1300).arrive_quietly([13, 14]);
    // 12 … 15 were in flight. pipe: 12 (retransmitted), 16.
    tcp.arrives(15).expect([retransmission(12), new(16)]).ssthresh(2000).cwnd(2000);
}

/// HighACK *equal* to the recovery point suffices (RFC 6675 §5.1).
#[test]
fn recovery_can_begin_again_at_the_recovery_point() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).sack(10_000, []).cwnd(2000).expect(new_segments(10, 12));
    tcp.sack(10_000, [11_000..11_100]).nothing().sack(10_000, [11_000..11_200]).nothing();
    tcp.sack(10_000, [11_000..11_300]).expect([retransmission(10)]).ssthresh(2000).cwnd(2000);
}

/// RFC 6675 §5.1: the timeout ends the recovery, and a later ACK does not restore its window.
#[test]
fn timeout_ends_recovery() {
    let mut tcp = recovering(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect([retransmission(4), retransmission(5)]);
    tcp.at(1200).arrives(4).cwnd(3000).expect([retransmission(6), retransmission(7)]);
}

/// RFC 6298 §5.4 to §5.7: the same segment is retransmitted with back-off until it arrives.
#[test]
fn timeouts_continue_until_the_segment_arrives() {
    let mut tcp = recovering(|_| ());
    for due in [1, 3, 7, 15] {
        tcp.timeout_at(due * 1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    }
}

/// RFC 2018 §8: the receiver may discard selectively acknowledged data. It discards 1, 2 and 3.
#[test]
fn timeout_recovers_from_reneging_in_recovery() {
    let mut tcp = recovering(|_| ());
    tcp.renege();
    // Segment 0 arrives and the next segments are missing. The sender assumes that 1 … 9 have
    // arrived.
    tcp.at(200).arrives(0).nothing().timer(1200);
    tcp.timeout_at(1200).expect([retransmission(1)]).cwnd(1000);
    tcp.at(1300).arrives(1).cwnd(2000).expect(retransmissions(2, 4));
    tcp.at(1400).arrives(2).cwnd(3000).expect(retransmissions(4, 6));
}

/// RFC 2018 §8: "MUST retransmit the segment at the left edge […] whether or not the SACKed bit
/// is on".
#[test]
fn transfer_survives_reneging_before_a_timeout() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).renege();
    tcp.arrives(0).cwnd(11_000).anything();
    tcp.timeout_at(1100).expect([retransmission(1)]).cwnd(1000);
    tcp.at(1200).arrives(1).cwnd(2000).expect(retransmissions(2, 4));
}

/// The receiver may also discard data that it reports after the timeout.
#[test]
fn transfer_survives_reneging_after_a_timeout() {
    let mut tcp = ten_in_flight(the_last_ten);
    tcp.arrive_quietly([5, 6]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).arrives(0).expect(retransmissions(1, 3)).renege();
    tcp.at(1200).arrives(1).expect(retransmissions(3, 5));
    tcp.arrives(2).expect(retransmissions(7, 9));
    tcp.at(1300).arrives(3).expect([retransmission(9)]).arrives(4).nothing();
    // Segments 5 and 6 are discarded, which the sender does not know.
    for index in 7..10 {
        tcp.at(1310).arrives(index).nothing();
    }
    tcp.timeout_at(3300).expect([retransmission(5)]);
    tcp.at(3400).arrives(5).expect([retransmission(6)]);
    tcp.at(3500).arrives(6).no_timer();
    assert!(tcp.completed_at().is_some());
}
