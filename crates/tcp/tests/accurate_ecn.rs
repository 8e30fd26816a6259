//! Packet scripts for accurate ECN feedback: RFC 9768.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::Mark::{AccurateSetup, Ect0, Plain};
use crate::script::{
    ReceiverScript, Segment, SenderScript, new, new_segments, receiver, retransmission, sender,
};
use airpath_core::{Ecn, Flags};
use airpath_tcp::{EcnReaction, EcnUse, LossDetection, RecoveryKind, StackVariant, WindowGrowth};

const NONE: Flags = Flags::NONE;
const AE: Flags = Flags::AE;
const CWR: Flags = Flags::CWR;
const ECE: Flags = Flags::ECE;
const WINDOW: u32 = 1_000_000;

fn accurate_receiver() -> ReceiverScript {
    receiver(|given| given.tcp.ecn = EcnUse::Accurate)
}

/// Creates a Reno sender in congestion avoidance that has sent a window of ten segments.
fn ten_segments() -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::Accurate;
        given.in_congestion_avoidance(10_000);
    });
    tcp.expect_marked(new_segments(0, 10), [Ect0; 10]);
    tcp
}

// --- negotiation, §3.1 -------------------------------------------------------------------------

#[test]
fn s3_1_2_syn_ack_reports_the_codepoint_of_the_syn() {
    let setup = AE.with(CWR).with(ECE);
    accurate_receiver().syn_with(setup).syn_ack_with(CWR);
    // A SYN without AE comes from a peer of RFC 3168.
    accurate_receiver().syn_with(CWR.with(ECE)).syn_ack_with(ECE);
    accurate_receiver().syn().syn_ack();
    receiver(|given| given.tcp.ecn = EcnUse::On).syn_with(setup).syn_ack_with(ECE);
}

#[test]
fn s3_1_2_peer_of_rfc_3168_receives_an_echo_until_cwr() {
    let mut tcp = accurate_receiver();
    tcp.syn_with(CWR.with(ECE)).syn_ack_with(ECE);
    tcp.marked(0, Ecn::Ce, NONE).nothing();
    tcp.marked(1, Ecn::Ect0, NONE).echo_ack(2000);
    tcp.marked(2, Ecn::Ect0, CWR).nothing();
    tcp.marked(3, Ecn::Ect0, NONE).ack(4000);
}

/// RFC 9768 table 2: meaning of the flags AE, CWR and ECE of the SYN-ACK.
#[test]
fn s3_1_2_syn_ack_selects_the_feedback_mode() {
    let (accurate, classic, none) = (2, 1, 0);
    for (answer, mode) in [
        (CWR, accurate),
        (CWR.with(ECE), accurate),
        (AE, accurate),
        (AE.with(CWR), accurate),
        (ECE, classic),
        (AE.with(ECE), classic),
        (NONE, none),
        (AE.with(CWR).with(ECE), none),
    ] {
        let mut tcp = sender(|given| {
            given.tcp.ecn = EcnUse::Accurate;
            given.tcp.handshake = true;
            given.in_congestion_avoidance(4000);
        });
        tcp.expect_marked([Segment::Syn], [AccurateSetup]);
        let field = if mode == none { Plain } else { Ect0 };
        tcp.at(100).syn_ack_with(WINDOW, answer).expect_marked(new_segments(0, 4), [field; 4]);
        // An ACK with ECE and a counter of 0 is an echo only in the classic mode.
        let reductions = u64::from(mode == classic);
        tcp.at(200).echo_ack(1000).ecn_reductions(reductions).anything();
        let reductions = reductions + u64::from(mode == accurate);
        tcp.code_ack(2000, 1000.0).ecn_reductions(reductions).anything();
    }
}

// --- feedback of the receiver, §3.2.2 and §3.2.3 -----------------------------------------------

#[test]
fn s3_2_acks_carry_counters_of_marked_packets_and_bytes() {
    let mut tcp = accurate_receiver();
    tcp.marked(0, Ecn::Ect1, NONE).nothing();
    tcp.marked(1, Ecn::Ect1, NONE).accurate_ack(2000, 0, 0);
    tcp.marked(2, Ecn::Ce, NONE).accurate_ack(3000, 1, 1000);
    tcp.marked(3, Ecn::Ect1, NONE).nothing();
    tcp.marked(4, Ecn::Ect1, NONE).accurate_ack(5000, 1, 1000);
}

/// §3.2.2.5.1: the first marked packet after an unmarked one is acknowledged immediately, later
/// ones when two marks have arrived since the last ACK.
#[test]
fn s3_2_2_5_1_first_mark_and_every_second_mark_trigger_an_ack() {
    let mut tcp = receiver(|given| {
        given.tcp.ecn = EcnUse::Accurate;
        given.tcp.delayed_ack_segments = 8;
    });
    tcp.marked(0, Ecn::Ect1, NONE).nothing();
    tcp.marked(1, Ecn::Ce, NONE).accurate_ack(2000, 1, 1000);
    tcp.marked(2, Ecn::Ce, NONE).nothing();
    tcp.marked(3, Ecn::Ce, NONE).accurate_ack(4000, 3, 3000);
    tcp.marked(4, Ecn::Ce, NONE).nothing();
    tcp.marked(5, Ecn::Ect1, NONE).nothing();
    tcp.marked(6, Ecn::Ce, NONE).accurate_ack(7000, 5, 5000);
}

#[test]
fn s3_2_2_duplicate_segments_count() {
    let mut tcp = accurate_receiver();
    tcp.marked(0, Ecn::Ce, NONE).accurate_ack(1000, 1, 1000);
    tcp.marked(0, Ecn::Ce, NONE).accurate_ack(1000, 2, 2000);
}

#[test]
fn s3_2_2_mark_beyond_a_hole_is_reported_in_the_duplicate_ack() {
    let mut tcp = accurate_receiver();
    tcp.marked(1, Ecn::Ce, NONE).accurate_ack(0, 1, 1000);
    tcp.marked(2, Ecn::Ect1, NONE).accurate_ack(0, 1, 1000);
    tcp.marked(0, Ecn::Ce, NONE).accurate_ack(3000, 2, 2000);
}

/// The ACE field has three bits: eight marks later it is the same.
#[test]
fn s3_2_2_ace_field_wraps() {
    let mut tcp = accurate_receiver();
    tcp.marked(0, Ecn::Ce, NONE).accurate_ack(1000, 1, 1000);
    for pair in 1..=4u8 {
        let index = 2 * u64::from(pair) - 1;
        tcp.marked(index, Ecn::Ce, NONE).nothing();
        let (next, packets) = ((index + 2) * 1000, 2 * pair + 1);
        tcp.marked(index + 1, Ecn::Ce, NONE).accurate_ack(next, packets, next);
    }
    assert_eq!(Flags::with_ace(5 + 9), Flags::with_ace(5 + 1));
}

// --- reaction of the sender --------------------------------------------------------------------

/// RFC 9768 §3.3: the reaction is that to an echo of RFC 3168, at most once per window of data, but
/// without CWR.
#[test]
fn counter_halves_the_window_once_per_window_of_data_without_cwr() {
    let mut tcp = ten_segments();
    tcp.at(100).code_ack(1000, 1000.0).cwnd(5000).ssthresh(5000).ecn_reductions(1).nothing();
    tcp.code_ack(2000, 2000.0).cwnd(5000).ecn_reductions(1).nothing();
    tcp.code_ack(6000, 2000.0).expect_marked([new(10)], [Ect0]);
    tcp.code_ack(10_000, 3000.0).ecn_reductions(1).anything();
    tcp.at(200).code_ack(11_000, 4000.0).ecn_reductions(2).anything();
}

#[test]
fn unchanged_counter_is_no_mark() {
    let mut tcp = ten_segments();
    tcp.at(100).code_ack(1000, 1000.0).ecn_reductions(1).cwnd(5000);
    tcp.code_ack(10_000, 1000.0).anything();
    tcp.at(200).code_ack(11_000, 1000.0).ecn_reductions(1).anything();
}

/// The counters are cumulative: the loss of an ACK loses no mark.
#[test]
fn mark_of_a_lost_ack_is_reported_by_the_next() {
    let mut tcp = ten_segments();
    tcp.at(100).code_ack(4000, 1000.0).cwnd(5000).ecn_reductions(1).anything();
}

#[test]
fn counter_wraps_at_2_to_the_24() {
    let mut tcp = ten_segments();
    let last = ((1 << 24) - 500) as f32;
    // As many marked bytes as this are impossible here; the ACK counts as reordered.
    tcp.at(100).code_ack(1000, last).ecn_reductions(0).anything();
    tcp.code_ack(2000, 500.0).ecn_reductions(1).anything();
}

#[test]
fn marks_beyond_a_hole_count_with_sack_and_retransmissions_are_ecn_capable() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::Accurate;
        given.tcp.recovery = RecoveryKind::Sack;
        given.in_congestion_avoidance(10_000);
    });
    tcp.expect_marked(new_segments(0, 10), [Ect0; 10]);
    tcp.at(100).code_sack(0, 1000.0, [1000..2000]).cwnd(5000).ecn_reductions(1).nothing();
    tcp.code_sack(0, 1000.0, [1000..3000]).nothing();
    // The loss is in the window of the mark, so it does not reduce the window again.
    tcp.code_sack(0, 1000.0, [1000..4000]).expect_marked([retransmission(0)], [Ect0]);
    tcp.cwnd(5000).ecn_reductions(1);
}

// --- with RACK and in the state CWR ------------------------------------------------------------

/// RFC 8985 finds the loss by time; the mark has already reduced the window in this window of data.
#[test]
fn marks_beyond_a_hole_count_with_rack() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::Accurate;
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.loss_detection = LossDetection::Rack;
        given.in_congestion_avoidance(10_000);
    });
    tcp.expect_marked(new_segments(0, 10), [Ect0; 10]).at(100);
    tcp.code_sack(0, 1000.0, [1000..2000]).cwnd(5000).ecn_reductions(1).nothing();
    tcp.code_sack(0, 1000.0, [1000..3000]).nothing();
    tcp.code_sack(0, 2000.0, [1000..4000]).expect_marked([retransmission(0)], [Ect0]);
    tcp.cwnd(5000).ecn_reductions(1);
}

/// Linux `tcp_cwnd_reduction`: a segment per two ACKs. Unlike after an echo of RFC 3168, no segment
/// carries CWR, and a mark after the window of data starts the next reduction.
#[test]
fn counter_starts_the_state_cwr_without_the_flag() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::Accurate;
        given.tcp.ecn_reaction = EcnReaction::Cwr;
        given.tcp.recovery = RecoveryKind::Prr;
        given.tcp.loss_detection = LossDetection::Rack;
        given.tcp.stack = StackVariant::Linux;
        given.tcp.window_growth = WindowGrowth::Segments;
        given.tcp.initial_window = 20_000;
    });
    tcp.expect_marked(new_segments(0, 20), [Ect0; 20]).at(100);
    tcp.code_ack(1000, 1000.0).ssthresh(10_000).expect_marked([new(20)], [Ect0]);
    tcp.code_ack(2000, 2000.0).nothing();
    tcp.code_ack(3000, 2000.0).expect_marked([new(21)], [Ect0]).ecn_reductions(1);
    tcp.code_ack(20_000, 2000.0).anything();
    tcp.at(200).code_ack(21_000, 3000.0).ecn_reductions(2).anything();
}
