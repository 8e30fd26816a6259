//! Packet scripts for DCTCP: RFC 8257 §3.2 (receiver), §3.3 and §3.4 (sender).

use crate::script::Mark::{Cwr, Ect0, Plain};
use crate::script::{
    ReceiverScript, SenderScript, new, new_segments, receiver, retransmission, sender,
};
use airpath_core::{Ecn, Flags};
use airpath_tcp::EcnUse;
use serde_json::{Value, json};

/// Creates a DCTCP sender in congestion avoidance that has sent a window of ten segments.
fn ten_segments(cc: Value) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::Dctcp;
        given.cc = cc;
        given.in_congestion_avoidance(10_000);
    });
    tcp.expect_marked(new_segments(0, 10), [Ect0; 10]);
    tcp
}

fn dctcp_receiver() -> ReceiverScript {
    receiver(|given| given.tcp.ecn = EcnUse::Dctcp)
}

const NONE: Flags = Flags::NONE;

#[test]
fn s3_3_first_echo_halves_the_window_because_alpha_starts_at_1() {
    let mut tcp = ten_segments(json!({"kind": "dctcp"}));
    tcp.at(100).echo_ack(1000).cwnd(5000).ssthresh(5000).ecn_reductions(1).nothing();
    tcp.echo_ack(6000).expect_marked([new(10)], [Cwr]).ecn_reductions(1);
}

/// After one window without marks α is 15/16, so the window becomes 10 000 · (1 − 15/32).
#[test]
fn s3_3_alpha_decays_by_g_in_a_window_without_marks() {
    let mut tcp = ten_segments(json!({"kind": "dctcp"}));
    tcp.at(100).ack(1000).cwnd(10_000).expect([new(10)]);
    tcp.echo_ack(2000).cwnd(5312).nothing();
}

/// With g = 1, α is the marked share of the last complete window: 5000 of 6000 bytes.
#[test]
fn s3_3_alpha_is_the_share_of_marked_bytes() {
    let mut tcp = ten_segments(json!({"kind": "dctcp", "g": 1.0, "initial_alpha": 0.0}));
    tcp.at(100).ack(5000).cwnd(10_000).expect_marked(new_segments(10, 15), [Ect0; 5]);
    // α is still 0: the echo does not reduce the window.
    tcp.echo_ack(10_000).cwnd(10_000).ecn_reductions(1);
    tcp.expect_marked(new_segments(15, 20), [Cwr, Ect0, Ect0, Ect0, Ect0]);
    tcp.at(200).ack(11_000).cwnd(10_000).expect([new(20)]);
    // 10 000 · (1 − 5/12)
    tcp.echo_ack(16_000).cwnd(5833).ecn_reductions(2).nothing();
}

#[test]
fn s3_4_loss_halves_cwnd_for_every_alpha() {
    let mut tcp = ten_segments(json!({"kind": "dctcp", "initial_alpha": 0.0}));
    tcp.at(100)
        .quiet_duplicates(2)
        .duplicate()
        .expect_marked([retransmission(0)], [Plain])
        .cwnd(5000);
}

/// RFC 8257 §3.4: one reduction per window of data, for losses and echoes together.
#[test]
fn s3_4_loss_in_the_window_of_an_echo_does_not_reduce_again() {
    let mut tcp = ten_segments(json!({"kind": "dctcp", "g": 0.5, "initial_alpha": 0.0}));
    tcp.at(100).echo_ack(1000).cwnd(7500).nothing();
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(1), new(10)]).cwnd(7500);
}

#[test]
fn s3_4_timeout_leaves_one_segment() {
    let mut tcp = ten_segments(json!({"kind": "dctcp", "initial_alpha": 0.0}));
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
}

#[test]
fn s3_2_first_mark_and_earlier_segments_are_acknowledged_immediately() {
    let mut tcp = dctcp_receiver();
    tcp.marked(0, Ecn::Ect0, NONE).nothing();
    tcp.marked(1, Ecn::Ce, NONE).acks([(1000, false), (2000, true)]).no_timer();
}

#[test]
fn s3_2_change_of_marks_gives_one_ack_if_no_segment_is_unacknowledged() {
    let mut tcp = dctcp_receiver();
    tcp.marked(0, Ecn::Ce, NONE).echo_ack(1000);
    tcp.marked(1, Ecn::Ect0, NONE).ack(2000);
}

#[test]
fn s3_2_acks_are_delayed_and_report_the_marks_if_the_marks_do_not_change() {
    let mut tcp = dctcp_receiver();
    tcp.marked(0, Ecn::Ce, NONE).echo_ack(1000);
    tcp.marked(1, Ecn::Ce, NONE).nothing();
    tcp.marked(2, Ecn::Ce, NONE).echo_ack(3000);
    tcp.marked(3, Ecn::Ce, NONE).nothing();
    tcp.marked(4, Ecn::Ect0, NONE).acks([(4000, true), (5000, false)]);
    tcp.marked(5, Ecn::Ect0, NONE).nothing().timeout_at(200).ack(6000);
}

/// RFC 8257 §3.2: the echo depends on the marks and not on CWR.
#[test]
fn s3_2_cwr_does_not_end_the_echo() {
    let mut tcp = dctcp_receiver();
    tcp.marked(0, Ecn::Ce, NONE).echo_ack(1000);
    tcp.marked(1, Ecn::Ce, Flags::CWR).nothing();
    tcp.marked(2, Ecn::Ce, NONE).echo_ack(3000);
}

#[test]
fn s3_2_mark_beyond_a_hole_is_echoed_in_the_duplicate_ack() {
    let mut tcp = dctcp_receiver();
    tcp.marked(0, Ecn::Ect0, NONE).nothing();
    tcp.marked(2, Ecn::Ce, NONE).acks([(1000, false), (1000, true)]);
    tcp.marked(3, Ecn::Ce, NONE).echo_ack(1000);
}
