//! Variants of window growth with delayed and stretch ACKs: RFC 3465 §2, Linux, ns-3.

use crate::script::{Given, SenderScript, new, new_segments, retransmission, sender};
use airpath_tcp::{RecoveryKind, WindowGrowth};

fn in_slow_start(given: &mut Given, growth: WindowGrowth) {
    given.tcp.window_growth = growth;
    given.tcp.initial_window = 4000;
}

fn in_congestion_avoidance(given: &mut Given, growth: WindowGrowth) {
    given.tcp.window_growth = growth;
    given.in_congestion_avoidance(4000);
}

#[test]
fn rfc3465_2_2_delayed_ack_in_slow_start_releases_four_segments_with_l_2() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Abc2));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(2000).cwnd(6000).expect(new_segments(4, 8));
    tcp.at(100).ack(4000).cwnd(8000).expect(new_segments(8, 12));
}

#[test]
fn rfc3465_2_2_delayed_ack_in_slow_start_releases_three_segments_with_l_1() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Abc1));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(2000).cwnd(5000).expect(new_segments(4, 7));
}

#[test]
fn rfc3465_2_2_stretch_ack_in_slow_start_counts_at_most_two_segments() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Abc2));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(4000).cwnd(6000).expect(new_segments(4, 10));
}

#[test]
fn rfc3465_2_1_window_grows_by_a_segment_per_round_trip_with_delayed_acks() {
    for growth in [WindowGrowth::Abc1, WindowGrowth::Abc2] {
        let mut tcp = sender(|given| in_congestion_avoidance(given, growth));
        tcp.expect(new_segments(0, 4));
        tcp.at(100).ack(2000).cwnd(4000).expect(new_segments(4, 6));
        tcp.at(100).ack(4000).cwnd(5000).expect(new_segments(6, 9));
        tcp.at(200).ack(6000).cwnd(5000).expect(new_segments(9, 11));
        tcp.at(200).ack(9000).cwnd(6000).expect(new_segments(11, 15));
    }
}

/// The ACK of the retransmission covers data that left the network before the timeout.
#[test]
fn rfc3465_2_3_stretch_ack_counts_one_segment_after_a_timeout() {
    let mut tcp = sender(|given| {
        in_slow_start(given, WindowGrowth::Abc2);
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.initial_window = 6000;
    });
    tcp.expect(new_segments(0, 6)).timeout_at(1000).expect([retransmission(0)]).cwnd(1000);
    tcp.at(1100).ack(2000).cwnd(2000).expect([retransmission(2), retransmission(3)]);
}

#[test]
fn segments_stretch_ack_in_slow_start_counts_completely() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Segments));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(4000).cwnd(8000).expect(new_segments(4, 12));
}

#[test]
fn segments_stretch_ack_in_congestion_avoidance_counts_completely() {
    let mut tcp = sender(|given| in_congestion_avoidance(given, WindowGrowth::Segments));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(3000).cwnd(4000).expect(new_segments(4, 7));
    tcp.at(100).ack(4000).cwnd(5000).expect(new_segments(7, 9));
    tcp.at(200).ack(9000).cwnd(6000).expect(new_segments(9, 15));
}

#[test]
fn per_ack_delayed_ack_counts_like_any_other_ack() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::PerAck));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(2000).cwnd(5000).expect(new_segments(4, 7));
    let mut tcp = sender(|given| in_congestion_avoidance(given, WindowGrowth::PerAck));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(2000).cwnd(4250).expect(new_segments(4, 6));
    tcp.at(100).ack(4000).cwnd(4485).expect(new_segments(6, 8));
}

// --- abc-1, the growth of profile `rfc` ------------------------------------------------------------

/// RFC 5681 §3.1 eq. 2 is RFC 3465 with L = 1. From ssthresh on, the bytes of a window are counted.
#[test]
fn abc_1_delayed_acks_add_a_segment_up_to_ssthresh_and_then_one_per_window() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 4000;
        given.tcp.initial_ssthresh = Some(6000);
    });
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(2000).cwnd(5000).expect(new_segments(4, 7));
    tcp.at(100).ack(4000).cwnd(6000).expect(new_segments(7, 10));
    tcp.at(200).ack(6000).cwnd(6000).expect(new_segments(10, 12));
    tcp.at(200).ack(8000).cwnd(6000).expect(new_segments(12, 14));
    tcp.at(200).ack(10_000).cwnd(7000).expect(new_segments(14, 17));
}

/// RFC 3465 §2.1: bytes are counted, not ACKs. Bytes beyond a window count for the next window.
#[test]
fn abc_1_partial_segments_and_stretch_acks_count_their_bytes() {
    let mut tcp = sender(|given| in_congestion_avoidance(given, WindowGrowth::Abc1));
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(500).cwnd(4000).nothing();
    tcp.at(100).ack(4000).cwnd(5000).expect(new_segments(4, 9));
    tcp.at(200).ack(6000).cwnd(5000).expect(new_segments(9, 11));
    tcp.at(200).ack(10_000).cwnd(6000).expect(new_segments(11, 16));
    // 1000 of the 6000 bytes are carried over: 5000 more complete a window.
    tcp.at(300).ack(15_000).cwnd(7000).expect(new_segments(16, 22));
}

/// Ten segments are in flight and the first is lost. Nine duplicate ACKs arrive: the third begins
/// the recovery, and each one from the sixth on releases a segment.
fn a_loss_of_the_first_of_ten(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(change);
    tcp.expect(new_segments(0, 10)).at(100);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]).ssthresh(5000).cwnd(5000);
    tcp.quiet_duplicates(2);
    for index in 10..14 {
        tcp.duplicate().expect([new(index)]).cwnd(5000);
    }
    tcp
}

/// Checks that acknowledging five segments, counted from `una`, enlarges the window by one segment.
fn one_more_after_a_window_of_five(tcp: &mut SenderScript, una: u64, sent: u64) {
    for index in 1..5 {
        tcp.ack((una + index) * 1000).cwnd(5000).expect([new(sent + index - 1)]);
    }
    tcp.ack((una + 5) * 1000).cwnd(6000).expect(new_segments(sent + 4, sent + 6));
}

/// The ACK that ends the recovery covers ten segments and does not count.
#[test]
fn abc_1_counting_starts_after_a_recovery_from_slow_start() {
    let mut tcp = a_loss_of_the_first_of_ten(|_| ());
    tcp.at(200).ack(10_000).cwnd(5000).expect([new(14)]);
    one_more_after_a_window_of_five(&mut tcp, 10, 15);
}

/// Nine of ten segments were counted before the loss. RFC 3465 §2.1 discards this count after the
/// loss.
#[test]
fn abc_1_loss_in_congestion_avoidance_resets_the_counted_bytes() {
    let mut tcp = sender(|given| given.in_congestion_avoidance(10_000));
    tcp.expect(new_segments(0, 10)).at(100);
    tcp.ack(9000).cwnd(10_000).expect(new_segments(10, 19));
    tcp.at(200).quiet_duplicates(2).duplicate().expect([retransmission(9)]).ssthresh(5000);
    tcp.quiet_duplicates(2);
    for index in 19..23 {
        tcp.duplicate().expect([new(index)]);
    }
    tcp.at(300).ack(19_000).cwnd(5000).expect([new(23)]);
    one_more_after_a_window_of_five(&mut tcp, 19, 24);
}

/// Segments 0 and 4 are lost. The partial ACK covers four segments, the last ACK the others.
#[test]
fn abc_1_partial_acks_do_not_count() {
    let mut tcp = sender(|given| given.in_congestion_avoidance(10_000));
    tcp.expect(new_segments(0, 10)).at(100);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.quiet_duplicates(2);
    for index in 10..13 {
        tcp.duplicate().expect([new(index)]);
    }
    tcp.at(200).ack(4000).cwnd(5000).expect([retransmission(4), new(13)]);
    for index in 14..17 {
        tcp.duplicate().expect([new(index)]).cwnd(5000);
    }
    tcp.at(300).ack(13_000).cwnd(5000).expect([new(17)]);
    one_more_after_a_window_of_five(&mut tcp, 13, 18);
}

/// RFC 3465 §2.3: L = 1 in the slow start after a timeout. The count before the timeout is
/// discarded.
#[test]
fn abc_1_timeout_resets_the_count_and_slow_start_adds_a_segment_per_ack() {
    let mut tcp = sender(|given| given.in_congestion_avoidance(10_000));
    tcp.expect(new_segments(0, 10));
    tcp.at(100).ack(4000).cwnd(10_000).expect(new_segments(10, 14));
    // Ten segments are outstanding.
    tcp.timeout_at(1100).expect([retransmission(4)]).cwnd(1000).ssthresh(5000);
    tcp.at(1200).ack(6000).cwnd(2000).expect([retransmission(6), retransmission(7)]);
    tcp.at(1300).ack(8000).cwnd(3000).expect([
        retransmission(8),
        retransmission(9),
        retransmission(10),
    ]);
    tcp.at(1400).ack(11_000).cwnd(4000).expect([
        retransmission(11),
        retransmission(12),
        retransmission(13),
        new(14),
    ]);
    tcp.at(1500).ack(14_000).cwnd(5000).expect(new_segments(15, 19));
    tcp.at(1600).ack(15_000).cwnd(5000).expect([new(19)]);
    tcp.at(1700).ack(19_000).cwnd(6000).expect(new_segments(20, 25));
}
