//! Packet scripts for Prague: draft-briscoe-iccrg-prague-congestion-control-04 and Linux
//! `tcp_prague.c`.
#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::Mark::{AccurateSetup, Ect0, Low, Plain};
use crate::script::{Given, Segment, SenderScript, new, new_segments, retransmission, sender};
use airpath_core::Flags;
use airpath_tcp::{EcnUse, LossDetection, RecoveryKind, StackVariant};
use serde_json::json;

/// Creates a Prague sender in congestion avoidance that has sent a window of ten segments. There is
/// no RTT sample before the first ACK, so the first window is not paced.
fn ten_segments(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::Accurate;
        given.cc = json!({"kind": "prague", "g": 0.5, "start": "alpha"});
        given.in_congestion_avoidance(10_000);
        change(given);
    });
    tcp.expect_marked(new_segments(0, 10), [Low; 10]);
    tcp
}

/// The ACK also ends a round of marked bytes only, so α becomes 1/16: 10 000/2 · (1 − 1/32).
#[test]
fn first_mark_halves_the_window() {
    let mut tcp = ten_segments(|given| given.cc = json!({"kind": "prague"}));
    tcp.at(100).code_ack(1000, 1000.0).cwnd(5000).ssthresh(4843).ecn_reductions(1).nothing();
}

/// α = 1 and g = 1/2: the first ACK ends a round with a share of 1, the second reduction uses the
/// share of the second round.
#[test]
fn reduction_is_half_of_alpha_once_per_round() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).code_ack(1000, 1000.0).cwnd(5000).ecn_reductions(1).nothing();
    // Further marks in the same window of data do not reduce the window.
    tcp.code_ack(2000, 2000.0).cwnd(5000).ecn_reductions(1).nothing();
    // Three unmarked segments: 5000 + 1000·3/5 B, rounded up to segments.
    tcp.code_ack(5000, 2000.0).cwnd(6000);
}

#[test]
fn ack_without_a_mark_increases_the_window_after_a_reduction() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).code_ack(1000, 1000.0).cwnd(5000).ecn_reductions(1);
    tcp.code_ack(2000, 1000.0).cwnd(6000);
}

/// Five segments per RTT of 100 ms: one each 20 ms.
#[test]
fn segments_after_the_first_rtt_sample_are_paced() {
    let cc = json!({"kind": "prague", "start": "alpha", "pacing_variation": 0.0});
    let mut tcp = ten_segments(|given| given.cc = cc);
    tcp.at(100).code_ack(1000, 1000.0).cwnd(5000).nothing();
    tcp.code_ack(7000, 7000.0).expect_marked([new(10)], [Low]).cwnd(5000);
    tcp.released_at(120).expect_marked([new(11)], [Low]);
}

#[test]
fn loss_halves_the_window_also_after_a_mark_and_retransmissions_carry_ect_1() {
    let mut tcp = ten_segments(|given| given.tcp.recovery = RecoveryKind::Sack);
    tcp.at(100).code_sack(0, 1000.0, [1000..2000]).cwnd(5000).ecn_reductions(1).nothing();
    tcp.code_sack(0, 1000.0, [1000..3000]).nothing();
    tcp.code_sack(0, 1000.0, [1000..4000]).expect_marked([retransmission(0)], [Low]);
    tcp.cwnd(3000);
}

/// With RACK, PRR and the procedures of Linux, as in the profile `linux`: ECT(1) on every segment,
/// half of the window after a mark, half of the rest after a loss.
#[test]
fn marks_and_losses_reduce_the_window_with_rack() {
    let mut tcp = ten_segments(|given| {
        given.tcp.recovery = RecoveryKind::Prr;
        given.tcp.loss_detection = LossDetection::Rack;
        given.tcp.stack = StackVariant::Linux;
    });
    tcp.at(100).code_sack(0, 1000.0, [1000..2000]).ssthresh(5000).ecn_reductions(1).nothing();
    tcp.code_sack(0, 1000.0, [1000..3000]).nothing();
    tcp.code_sack(0, 1000.0, [1000..4000]).expect_marked([retransmission(0)], [Low]);
    tcp.ssthresh(2500);
}

/// Ten marks in lost ACKs exceed the range of the ACE field, not that of the byte counter: the share
/// is 1, α becomes 1/16, and the window 10 000/2 · (1 − 1/32). With two marks it would be 4968.
#[test]
fn marks_of_lost_acks_count_beyond_the_range_of_the_ace_field() {
    let mut tcp = ten_segments(|given| given.cc = json!({"kind": "prague"}));
    tcp.at(100).code_ack(10_000, 10_000.0).ssthresh(4843).anything();
}

#[test]
fn peer_without_accurate_feedback_makes_it_reno_on_ect_0() {
    for (answer, mark) in [(Flags::ECE, Ect0), (Flags::NONE, Plain)] {
        let mut tcp = sender(|given| {
            given.tcp.ecn = EcnUse::Accurate;
            given.cc = json!({"kind": "prague"});
            given.tcp.handshake = true;
            given.in_congestion_avoidance(4000);
        });
        tcp.expect_marked([Segment::Syn], [AccurateSetup]);
        tcp.at(100).syn_ack_with(1_000_000, answer).expect_marked(new_segments(0, 4), [mark; 4]);
        let cwnd = if mark == Ect0 { 2000 } else { 5000 };
        tcp.at(200).echo_ack(4000).cwnd(cwnd).anything();
    }
}
