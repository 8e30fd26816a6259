//! The retransmission timer with SACK (RFC 6675 §5.1), and receivers that renege (RFC 2018 §8).
//!
//! Ten segments are in flight; the receiver acknowledges every segment at once and reports what
//! it holds.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::{
    Given, SenderScript, new, new_segments, retransmission, retransmissions, sender,
};
use airpath_tcp::RecoveryKind;

/// Ten segments leave at 0; `change` is applied first.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

/// The same, and segments 1, 2 and 3 arrive, but segment 0 does not: recovery begins.
fn recovering(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ten_in_flight(change);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp
}

/// Ten segments that end the transfer.
fn the_last_ten(given: &mut Given) {
    given.transfer = Some(10_000);
}

/// RFC 6675 §5.1 and RFC 2018 §8. Segments 3 and 6 arrived; the receiver reports them again.
#[test]
fn after_a_timeout_all_is_resent_except_data_reported_again() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 6]).timeout_at(1000);
    tcp.expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect(retransmissions(1, 3));
    tcp.at(1200).arrives(1).cwnd(3000).expect(retransmissions(4, 6));
    tcp.arrives(2).cwnd(4000).expect(retransmissions(7, 9));
    // The end of slow start; new data follows the last of the old.
    tcp.at(1300).arrives(4).cwnd(5000).expect([retransmission(9), new(10)]);
    tcp.arrives(5).cwnd(5000).expect([new(11)]);
}

/// RFC 2018 §8: the sender turns off all of the SACKed bits. The receiver is silent about them.
#[test]
fn after_a_timeout_what_was_known_is_forgotten() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 6]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).sack(1000, []).expect(retransmissions(1, 3));
    tcp.at(1200).sack(2000, []).expect(retransmissions(3, 5));
    tcp.at(1200).sack(3000, []).expect(retransmissions(5, 7));
}

/// RFC 6675 §5.1: no recovery before everything sent before the timeout is acknowledged.
#[test]
fn after_a_timeout_duplicates_do_not_begin_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    // Only late: what is in flight is the one resent segment.
    tcp.at(1010).arrive_quietly(1..9).cwnd(1000).ssthresh(5000);
    // 0 … 8 have arrived; 9 is resent and the window admits one more.
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
    // 12 … 15 were in flight. pipe: 12 again, 16.
    tcp.arrives(15).expect([retransmission(12), new(16)]).ssthresh(2000).cwnd(2000);
}

/// HighACK *equal* to the recovery point is enough (RFC 6675 §5.1).
#[test]
fn recovery_can_begin_again_at_the_recovery_point() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).sack(10_000, []).cwnd(2000).expect(new_segments(10, 12));
    tcp.sack(10_000, [11_000..11_100]).nothing().sack(10_000, [11_000..11_200]).nothing();
    tcp.sack(10_000, [11_000..11_300]).expect([retransmission(10)]).ssthresh(2000).cwnd(2000);
}

/// RFC 6675 §5.1: the recovery is over, its window is not restored by the ACK of its end.
#[test]
fn a_timeout_ends_recovery() {
    let mut tcp = recovering(|_| ());
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect([retransmission(4), retransmission(5)]);
    tcp.at(1200).arrives(4).cwnd(3000).expect([retransmission(6), retransmission(7)]);
}

/// RFC 6298 §5.4 to §5.7: the same segment until it arrives, with back-off.
#[test]
fn timeouts_continue_until_the_segment_arrives() {
    let mut tcp = recovering(|_| ());
    for due in [1, 3, 7, 15] {
        tcp.timeout_at(due * 1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    }
}

/// RFC 2018 §8: the receiver may drop what it has acknowledged selectively. It drops 1, 2 and 3.
#[test]
fn reneging_in_recovery_is_overcome_by_the_timeout() {
    let mut tcp = recovering(|_| ());
    tcp.renege();
    // 0 arrives, nothing follows it: the sender believes in 1, 2 and 3, and in 4 … 9.
    tcp.at(200).arrives(0).nothing().timer(1200);
    tcp.timeout_at(1200).expect([retransmission(1)]).cwnd(1000);
    tcp.at(1300).arrives(1).cwnd(2000).expect(retransmissions(2, 4));
    tcp.at(1400).arrives(2).cwnd(3000).expect(retransmissions(4, 6));
}

/// RFC 2018 §8: "MUST retransmit the segment at the left edge […] whether or not the SACKed bit
/// is on".
#[test]
fn reneging_before_a_timeout_does_no_harm() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).renege();
    tcp.arrives(0).cwnd(11_000).anything();
    tcp.timeout_at(1100).expect([retransmission(1)]).cwnd(1000);
    tcp.at(1200).arrives(1).cwnd(2000).expect(retransmissions(2, 4));
}

/// What the receiver reports after the timeout it may drop as well.
#[test]
fn reneging_after_a_timeout_does_no_harm() {
    let mut tcp = ten_in_flight(the_last_ten);
    tcp.arrive_quietly([5, 6]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).arrives(0).expect(retransmissions(1, 3)).renege();
    tcp.at(1200).arrives(1).expect(retransmissions(3, 5));
    tcp.arrives(2).expect(retransmissions(7, 9));
    tcp.at(1300).arrives(3).expect([retransmission(9)]).arrives(4).nothing();
    // 5 and 6 are gone, and the sender did not know.
    for index in 7..10 {
        tcp.at(1310).arrives(index).nothing();
    }
    tcp.timeout_at(3300).expect([retransmission(5)]);
    tcp.at(3400).arrives(5).expect([retransmission(6)]);
    tcp.at(3500).arrives(6).no_timer();
    assert!(tcp.completed_at().is_some());
}
