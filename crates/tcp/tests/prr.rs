//! Proportional rate reduction: RFC 6937 with the slow-start reduction bound, over the loss
//! detection of RFC 6675.
//!
//! Unless stated otherwise, twenty segments are in flight, limited transmit is off, and the
//! receiver acknowledges every segment immediately.

use crate::script::{
    Given, SenderScript, new, new_segments, retransmission, retransmissions, sender,
};
use airpath_tcp::RecoveryKind;

/// Sends twenty segments at 0 after applying `change`.
fn twenty_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Prr;
        given.tcp.initial_window = 20_000;
        change(given);
    });
    tcp.expect(new_segments(0, 20)).timer(1000).at(100);
    tcp
}

/// RFC 6937 §3: with ssthresh = RecoverFS/2, one segment is sent per two arrivals. The ACK that
/// begins the recovery counts as the first arrival and triggers the fast retransmit.
#[test]
fn proportional_part_sends_a_segment_per_two_arrivals() {
    let mut tcp = twenty_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).cwnd(10_000).ssthresh(10_000);
    // prr_delivered·½ − prr_out: 1 − 1, 1½ − 1, 2 − 1.
    tcp.arrive_quietly([4, 5]).arrives(6).expect([new(20)]);
    for (quiet, loud, sent) in [(7, 8, 21), (9, 10, 22), (11, 12, 23)] {
        tcp.arrive_quietly([quiet]).arrives(loud).expect([new(sent)]).cwnd(10_000);
    }
    // pipe is 11, then 10: no segment is due.
    tcp.arrive_quietly([13, 14]);
    // From here on pipe is kept at ssthresh.
    for index in 15..20 {
        tcp.arrives(index).expect([new(index + 9)]);
    }
    tcp.at(200).arrives(0).cwnd(10_000).ssthresh(10_000).expect([new(29)]).timer(1200);
    tcp.at(200).arrives(20).cwnd(10_000).expect([new(30)]);
}

/// RFC 6675 without PRR sends nothing until half of the window has arrived.
#[test]
fn rfc6675_without_prr_waits_for_half_of_the_window() {
    let mut tcp = twenty_in_flight(|given| given.tcp.recovery = RecoveryKind::Sack);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.arrive_quietly(4..11).arrives(11).expect([new(20)]);
}

/// RFC 6937 §3, PRR-SSRB: the first eleven segments are lost. Below ssthresh two segments are sent
/// per arrival, as in slow start, and not all that cwnd − pipe would allow.
#[test]
fn slow_start_reduction_bound_sends_two_segments_per_arrival() {
    let mut tcp = twenty_in_flight(|_| ());
    // pipe = 6; min(10 − 6, max(1, 1) + 1) = 2.
    tcp.arrive_quietly([11, 12]).arrives(13).expect(retransmissions(0, 2));
    // pipe 7 → min(3, max(2 − 2, 1) + 1) = 2; pipe 8 → 2; pipe 9 → 1.
    tcp.arrives(14).expect(retransmissions(2, 4)).arrives(15).expect(retransmissions(4, 6));
    tcp.arrives(16).expect([retransmission(6)]).arrives(17).expect([retransmission(7)]);
    tcp.arrives(18).expect([retransmission(8)]).arrives(19).expect([retransmission(9)]);
    tcp.at(200).arrives(0).expect([retransmission(10)]);
    for index in 1..10 {
        tcp.arrives(index).expect([new(index + 19)]).cwnd(10_000);
    }
    tcp.arrives(10).cwnd(10_000).expect([new(29)]);
}

/// RFC 6937 §3: min(ssthresh − pipe, limit). The first seven segments are lost.
#[test]
fn slow_start_reduction_bound_respects_ssthresh() {
    let mut tcp = twenty_in_flight(|_| ());
    // pipe = 10 … 19: only the fast retransmit, which is always sent.
    tcp.arrive_quietly([7, 8]).arrives(9).expect([retransmission(0)]).cwnd(10_000);
    // pipe = segment 0 (retransmitted) and 11 … 19; then pipe is one less than ssthresh.
    tcp.arrives(10).nothing();
    tcp.arrives(11).expect([retransmission(1)]);
}

/// End of the recovery (RFC 6937 §3): cwnd = ssthresh, regardless of pipe.
#[test]
fn cwnd_is_ssthresh_after_the_recovery() {
    let mut tcp = twenty_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    // All other ACKs are lost.
    for index in 4..20 {
        tcp.arrives_with_ack_lost(index);
    }
    tcp.at(200).arrives(0).cwnd(10_000).ssthresh(10_000).expect(new_segments(20, 30));
}

/// DeliveredData counts only new data: the cumulative ACK of selectively acknowledged data delivers
/// nothing. Segments 0 and 10 are lost.
#[test]
fn sacked_bytes_count_as_delivered_once() {
    let mut tcp = twenty_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.arrive_quietly([4, 5]).arrives(6).expect([new(20)]);
    tcp.arrive_quietly([7]).arrives(8).expect([new(21)]);
    // prr_delivered = 7 with segment 9, prr_out = 3. The retransmission overtook 11 … 19: one more
    // segment is delivered, 4 − 3 = 1, although the ACK advances by ten segments.
    tcp.arrive_quietly([9]);
    tcp.arrives(0).expect([new(22)]).cwnd(10_000);
}

/// An ACK of two segments delivers two segments.
#[test]
fn delayed_ack_counts_all_bytes_it_acknowledges() {
    let mut tcp = twenty_in_flight(|_| ());
    tcp.arrives_with_ack_lost(1).arrives(2).nothing();
    // prr_delivered = 2, prr_out = 1 including the fast retransmit.
    tcp.arrives_with_ack_lost(3).arrives(4).expect([retransmission(0)]);
    for index in [5, 7, 9] {
        tcp.arrives_with_ack_lost(index).arrives(index + 1).expect([new(20 + (index - 5) / 2)]);
    }
}

/// RFC 6937 §3: an ACK of many segments releases as many segments as the proportion allows.
#[test]
fn next_ack_compensates_for_lost_acks() {
    let mut tcp = twenty_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    for index in 4..9 {
        tcp.arrives_with_ack_lost(index);
    }
    // prr_delivered = 7, prr_out = 1: 3½ − 1 gives two full segments.
    tcp.arrives(9).expect(new_segments(20, 22));
}

/// RFC 6937 §3: RecoverFS is snd.nxt − snd.una, including segments sent by limited transmit.
#[test]
fn limited_transmit_counts_in_recover_fs_but_not_in_ssthresh() {
    let mut tcp = twenty_in_flight(|given| given.tcp.limited_transmit = true);
    tcp.arrives(1).expect([new(20)]).arrives(2).expect([new(21)]);
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(10_000);
    // 10/22 of each segment: 5·10/22 − 1 is the first value of at least one segment.
    tcp.arrive_quietly([4, 5, 6]).arrives(7).expect([new(22)]);
}

/// Without new data, holes are retransmitted at the same rate (RFC 6675 §4, rules 1 to 4).
#[test]
fn last_segments_are_retransmitted_by_rescue() {
    let mut tcp = twenty_in_flight(|given| given.transfer = Some(20_000));
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.arrive_quietly(4..18);
    // Segments 18 and 19 are lost too.
    tcp.at(200).arrives(0).expect([retransmission(19)]);
    tcp.at(300).arrives(19).expect([retransmission(18)]);
    tcp.at(400).arrives(18).no_timer();
    assert!(tcp.completed_at().is_some());
}

/// A timeout ends the reduction: slow start, limited by cwnd − pipe.
#[test]
fn timeout_ends_the_reduction() {
    let mut tcp = twenty_in_flight(|_| ());
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(10_000);
    tcp.at(1100).arrives(0).cwnd(2000).expect(retransmissions(4, 6));
    tcp.at(1200).arrives(4).cwnd(3000).expect(retransmissions(6, 8));
}

/// The second recovery resets its counts.
#[test]
fn each_recovery_has_separate_counts() {
    let mut tcp = sender(|given| given.tcp.recovery = RecoveryKind::Prr);
    tcp.expect(new_segments(0, 10)).at(100);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).ssthresh(5000);
    // pipe 6: 2·½ − 1 = 0. pipe 5: at most ssthresh.
    tcp.arrive_quietly([4, 5]);
    for index in 6..10 {
        tcp.arrives(index).expect([new(index + 4)]);
    }
    tcp.at(200).arrives(0).expect([new(14)]).cwnd(5000);
    // Segment 10 is lost. Segments 10 … 14 are in flight; pipe is segment 14.
    tcp.arrive_quietly([11, 12]).arrives(13).expect([retransmission(10)]).ssthresh(2500);
    // pipe is segment 10 (retransmitted): min(2.5 − 1, max(2 − 1, 1) + 1) gives one full segment.
    tcp.arrives(14).expect([new(15)]);
}
