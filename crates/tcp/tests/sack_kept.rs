//! SACK information that is kept after a timeout (`sack_after_timeout = "keep"`), and slow start by
//! delivered data: Linux `tcp_timeout_mark_lost`, `tcp_newly_delivered`, `tcp_slow_start`.
//!
//! Ten segments are in flight. The receiver acknowledges every segment immediately and reports
//! out-of-order data.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::{
    Given, SenderScript, new, new_segments, retransmission, retransmissions, sender,
};
use airpath_tcp::{RecoveryKind, SackAfterTimeout, WindowGrowth};
use serde_json::json;

/// Sends ten segments at 0 after applying `change`.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.sack_after_timeout = SackAfterTimeout::Keep;
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(1000).at(100);
    tcp
}

fn segments(given: &mut Given) {
    given.tcp.window_growth = WindowGrowth::Segments;
}

/// Segments 3 and 6 arrived before the timeout; the ACKs after it do not report them.
#[test]
fn kept_marks_prevent_retransmission_without_new_reports() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 6]).timeout_at(1000);
    tcp.expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).sack(1000, []).cwnd(2000).expect(retransmissions(1, 3));
    tcp.at(1200).sack(2000, []).cwnd(3000).expect([retransmission(4), retransmission(5)]);
    tcp.sack(4000, []).cwnd(4000).expect([retransmission(7), retransmission(8)]);
    // End of slow start: new data follows the last old segment.
    tcp.at(1300).sack(5000, []).cwnd(5000).expect([retransmission(9), new(10)]);
}

/// `pipe` includes retransmissions, but neither lost segments nor those known to have arrived.
#[test]
fn segments_arriving_after_the_timeout_leave_the_pipe() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 6]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).arrives(0).cwnd(2000).expect(retransmissions(1, 3));
    tcp.at(1200).arrives(2).cwnd(2000).expect([retransmission(4)]);
    tcp.arrives(4).cwnd(2000).expect([retransmission(5)]);
    tcp.at(1300).arrives(1).cwnd(3000).expect([retransmission(7), retransmission(8)]);
}

#[test]
fn second_timeout_keeps_earlier_and_later_marks() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([3, 6]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).arrives(0).expect(retransmissions(1, 3));
    tcp.at(1200).arrives(2).expect([retransmission(4)]);
    // The retransmissions of 1 and 4 are lost.
    tcp.timeout_at(3100).expect([retransmission(1)]).cwnd(1000);
    tcp.at(3200).sack(4000, []).cwnd(2000).expect([retransmission(4), retransmission(5)]);
    tcp.at(3300).sack(5000, []).cwnd(3000).expect([retransmission(7), retransmission(8)]);
}

/// A timeout in recovery: 1, 2 and 3 had arrived, and 4 arrives after the fast retransmit.
#[test]
fn timeout_in_recovery_keeps_the_marks() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.arrives(4).nothing();
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect([retransmission(5), retransmission(6)]);
}

/// The receiver discards 1, 2 and 3 and then receives 0: the oldest segment has the mark SACKED.
#[test]
fn rfc2018_8_marked_oldest_segment_proves_reneging_and_clears_all_marks() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).renege();
    tcp.at(200).arrives(0).nothing().timer(1200);
    tcp.timeout_at(1200).expect([retransmission(1)]).cwnd(1000);
    tcp.at(1300).sack(2000, []).cwnd(2000).expect(retransmissions(2, 4));
    tcp.at(1400).sack(3000, []).cwnd(3000).expect(retransmissions(4, 6));
}

/// The receiver discards 5 and 6 after the timeout that kept their marks. The next timeout detects
/// the reneging.
#[test]
fn next_timeout_recovers_from_reneging_on_kept_marks() {
    let mut tcp = ten_in_flight(|given| given.transfer = Some(10_000));
    tcp.arrive_quietly([5, 6]).timeout_at(1000).expect([retransmission(0)]).renege();
    tcp.at(1100).arrives(0).expect(retransmissions(1, 3));
    tcp.at(1200).arrives(1).expect([retransmission(3), retransmission(4)]);
    tcp.arrives(2).expect([retransmission(7), retransmission(8)]);
    tcp.at(1300).arrives(3).expect([retransmission(9)]).arrives(4).nothing();
    for index in 7..10 {
        tcp.at(1310).arrives(index).nothing();
    }
    tcp.timeout_at(3300).expect([retransmission(5)]);
    tcp.at(3400).arrives(5).expect([retransmission(6)]);
    tcp.at(3500).arrives(6).no_timer();
    assert!(tcp.completed_at().is_some());
}

// --- slow start by what was delivered -------------------------------------------------------------

/// The ACK of the retransmission covers ten segments; nine of them arrived long before.
#[test]
fn slow_start_after_a_timeout_counts_only_delivered_data() {
    let mut tcp = ten_in_flight(segments);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).arrives(0).cwnd(2000).expect([retransmission(10), retransmission(11)]);
}

/// One ACK covers both holes, and the marked segments between and beyond them.
#[test]
fn stretch_ack_counts_the_holes_that_it_fills() {
    for cc in ["reno", "cubic"] {
        let mut tcp = ten_in_flight(|given| {
            segments(given);
            given.cc = json!({"kind": cc});
        });
        tcp.arrive_quietly([3, 6]).timeout_at(1000).expect([retransmission(0)]);
        tcp.at(1100).sack(1000, []).cwnd(2000).expect(retransmissions(1, 3));
        tcp.at(1200).sack(4000, []).cwnd(4000).expect([
            retransmission(4),
            retransmission(5),
            retransmission(7),
            retransmission(8),
        ]);
    }
}

/// The ACK covers segment 0 and reports 8 and 9 for the first time: three segments.
#[test]
fn data_beyond_a_hole_counts_with_the_ack_that_reports_it() {
    let mut tcp = ten_in_flight(segments);
    tcp.arrive_quietly([3]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).sack(1000, [8000..10_000, 3000..4000]).cwnd(4000);
    tcp.expect([retransmission(1), retransmission(2), retransmission(4), retransmission(5)]);
}

/// A duplicate ACK never enlarges the window, and the data that it reports does not count again
/// later.
#[test]
fn bytes_reported_by_a_duplicate_ack_do_not_count_again() {
    let mut tcp = ten_in_flight(segments);
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1010).arrive_quietly(1..9).cwnd(1000);
    tcp.at(1020).arrives(0).cwnd(2000).expect([retransmission(9), new(10)]);
}

/// Without a timeout: two segments are reordered.
#[test]
fn reordered_segment_counts_once() {
    let mut tcp = ten_in_flight(segments);
    tcp.arrives(1).nothing().arrives(0).cwnd(11_000).expect(new_segments(10, 13));
    tcp.arrives(2).cwnd(12_000).expect(new_segments(13, 15));
}

/// Data whose SACK information was discarded was delivered before the timeout, although it is
/// reported again.
#[test]
fn data_reported_again_after_discarded_marks_does_not_count() {
    let mut tcp = ten_in_flight(|given| {
        segments(given);
        given.tcp.sack_after_timeout = SackAfterTimeout::Forget;
    });
    tcp.arrive_quietly([3, 6]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1100).arrives(0).cwnd(2000).expect(retransmissions(1, 3));
    tcp.at(1200).arrives(1).cwnd(3000).expect([retransmission(4), retransmission(5)]);
    tcp.arrives(2).cwnd(4000).expect([retransmission(7), retransmission(8)]);
}

/// The other variants of growth count the cumulative acknowledgement.
#[test]
fn byte_counting_uses_the_cumulative_acknowledgement() {
    let mut tcp = ten_in_flight(|given| given.tcp.window_growth = WindowGrowth::Abc2);
    tcp.arrives(1).nothing().arrives(0).cwnd(12_000).expect(new_segments(10, 14));
}
