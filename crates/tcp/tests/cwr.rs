//! Reaction to echoed congestion marks in the state CWR (`ecn_reaction = "cwr"`), as in Linux
//! `tcp_cwnd_reduction` and in ns-3's TcpSocketBase and TcpPrrRecovery.
//!
//! Unless stated otherwise, twenty segments of 1000 bytes are sent at 0, the RTT is 100 ms, and the
//! receiver acknowledges every segment immediately.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::random_channel::{Connection, options, treatments};
use crate::script::{Given, SenderScript, new, new_segments, retransmission, sender};
use airpath_conformance::cases;
use airpath_core::{Duration, Time};
use airpath_tcp::{
    EcnReaction, EcnUse, LossDetection, RecoveryKind, StackVariant, TcpConfig, WindowGrowth,
};
use proptest::prelude::*;
use serde_json::json;

fn twenty(given: &mut Given) {
    given.tcp.recovery = RecoveryKind::Prr;
    given.tcp.ecn = EcnUse::On;
    given.tcp.ecn_reaction = EcnReaction::Cwr;
    given.tcp.initial_window = 20_000;
}

fn twenty_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        twenty(given);
        change(given);
    });
    tcp.expect(new_segments(0, 20)).at(100);
    tcp
}

fn linux(given: &mut Given) {
    given.tcp.loss_detection = LossDetection::Rack;
    given.tcp.stack = StackVariant::Linux;
    given.tcp.window_growth = WindowGrowth::Segments;
}

fn ns3(given: &mut Given) {
    given.tcp.stack = StackVariant::Ns3;
    given.tcp.window_growth = WindowGrowth::PerAck;
}

/// Returns a sender that has received an echo: segment 0 was marked.
fn echoed(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = twenty_in_flight(change);
    tcp.arrives_with_ack_lost(0).echo_ack(1000);
    tcp
}

// --- Linux ------------------------------------------------------------------------------------

/// sndcnt = ⌈prr_delivered · 10/20⌉ − prr_out: one segment per two ACKs, down to ssthresh. RFC 3168
/// would send no segment for ten ACKs, and then one segment per ACK.
#[test]
fn linux_sends_a_segment_per_two_acks_until_ssthresh() {
    let mut tcp = echoed(linux);
    tcp.ssthresh(10_000).ecn_reductions(1).expect([new(20)]);
    let mut sent = 21;
    for acked in 2..=20 {
        tcp.ack(acked * 1000).cwnd(10_000);
        // After the nineteenth ACK ten segments are in flight, after the twentieth nine.
        if acked % 2 == 1 && acked < 19 || acked == 20 {
            tcp.expect([new(sent)]);
            sent += 1;
        } else {
            tcp.nothing();
        }
    }
    // The ACK of a segment that was sent after the echo lets the window grow again.
    tcp.at(200).ack(21_000).expect([new(30)]).cwnd(10_000);
    tcp.ack(30_000).cwnd(11_000).anything();
}

#[test]
fn window_is_reduced_immediately_without_the_option() {
    let mut tcp = echoed(|given| {
        linux(given);
        given.tcp.ecn_reaction = EcnReaction::Rfc;
    });
    tcp.cwnd(10_000).ssthresh(10_000).nothing();
}

/// Three segments beyond segment 1 have arrived. The reduction for the echo continues.
#[test]
fn linux_does_not_reduce_again_for_a_loss_in_the_same_window() {
    let mut tcp = echoed(linux);
    tcp.expect([new(20)]);
    tcp.arrives(2).nothing().arrives(3).expect([new(21)]);
    // prr_delivered = 4 allows two segments, which have been sent. The first lost segment is
    // retransmitted in any case.
    tcp.arrives(4).expect([retransmission(1)]).ssthresh(10_000);
    tcp.arrives(5).nothing().arrives(6).nothing().arrives(7).expect([new(22)]);
}

/// Linux `tcp_enter_loss`: ssthresh has already been reduced in this window.
#[test]
fn linux_does_not_reduce_ssthresh_again_for_a_timeout_in_the_same_window() {
    let mut tcp = echoed(linux);
    tcp.expect([new(20)]).timeout_at(1100);
    tcp.expect([retransmission(1)]).ssthresh(10_000).cwnd(1000);
}

/// Linux `tcp_enter_loss`: neither the first nor the second timeout changes ssthresh, regardless of
/// the factor by which the echo reduced cwnd.
#[test]
fn linux_timeouts_keep_the_ssthresh_of_an_echo_in_the_same_window() {
    for (cc, left) in [
        (json!({"kind": "reno", "beta_ecn": 0.3}), 6000),
        (json!({"kind": "reno", "beta_ecn": 0.7}), 14_000),
        (json!({"kind": "cubic", "beta_ecn": 0.85}), 17_000),
        (json!({"kind": "cubic-linux"}), 14_000),
        (json!({"kind": "cubic-ns3"}), 14_000),
    ] {
        let mut tcp = echoed(|given| {
            linux(given);
            given.cc = cc;
        });
        tcp.ssthresh(left).anything().timeout_at(1100);
        tcp.expect([retransmission(1)]).ssthresh(left).cwnd(1000);
        tcp.timeout_at(3100).expect([retransmission(1)]).ssthresh(left).cwnd(1000);
    }
}

/// α is 0.04 · 15/16 + 1/16 = 0.1.
#[test]
fn linux_timeout_keeps_the_ssthresh_of_dctcp() {
    let mut tcp = echoed(|given| {
        linux(given);
        given.tcp.ecn = EcnUse::Dctcp;
        given.cc = json!({"kind": "dctcp", "initial_alpha": 0.04});
    });
    tcp.ssthresh(19_000).anything().timeout_at(1100);
    tcp.expect([retransmission(1)]).ssthresh(19_000).cwnd(1000);
}

/// The recovery begins without a reduction, because the echo has already reduced the window.
#[test]
fn linux_timeout_in_a_recovery_keeps_the_ssthresh_of_an_echo() {
    let mut tcp = echoed(|given| {
        linux(given);
        given.cc = json!({"kind": "reno", "beta_ecn": 0.7});
    });
    tcp.anything().arrives(2).anything().arrives(3).anything().arrives(4).anything();
    tcp.ssthresh(14_000).timeout_at(1100).anything().ssthresh(14_000).cwnd(1000);
}

/// The window of data before the echo is acknowledged. All ten segments after it are lost.
#[test]
fn linux_timeout_after_the_window_of_the_echo_halves_ssthresh() {
    let mut tcp = echoed(linux);
    tcp.anything();
    for acked in 2..=20 {
        tcp.ack(acked * 1000).anything();
    }
    tcp.ssthresh(10_000).timeout_at(1100);
    tcp.expect([retransmission(20)]).ssthresh(5000).cwnd(1000);
}

/// Linux `tcp_cwnd_reduction` does not change cwnd until an ACK delivers data: the ten segments
/// that a larger receive window allows are sent immediately.
#[test]
fn linux_keeps_cwnd_until_an_ack_delivers_data() {
    let mut tcp = sender(|given| {
        twenty(given);
        linux(given);
        given.tcp.receive_window = 10_000;
    });
    tcp.expect(new_segments(0, 10)).at(100);
    tcp.echo_ack_with_window(0, 30_000).ssthresh(10_000).expect(new_segments(10, 20));
    // prr_out is ten. No segment is sent until nine segments are in flight.
    for acked in 1..=10 {
        tcp.ack(acked * 1000).nothing();
    }
    tcp.ack(11_000).expect([new(20)]);
}

/// The recovery ends with a window of ten segments. After a timeout cwnd is six segments.
#[test]
fn linux_discards_the_window_of_an_earlier_recovery() {
    let mut tcp = twenty_in_flight(linux);
    for index in 1..=19 {
        tcp.arrives(index).anything();
    }
    tcp.ack(29_000).expect(new_segments(29, 40)).cwnd(11_000);
    tcp.timeout_at(1100).expect([retransmission(29)]).ssthresh(5000);
    tcp.at(1200).ack(40_000).expect(new_segments(40, 46)).cwnd(6000);
    tcp.at(1300).ack(41_000).expect([new(46)]).cwnd(6000);
    tcp.echo_ack(41_000).ecn_reductions(1).nothing();
}

/// Linux `tcp_ack` ignores an echo if no data is outstanding.
#[test]
fn linux_ignores_an_echo_with_no_data_outstanding() {
    let mut tcp = sender(|given| {
        twenty(given);
        linux(given);
        given.transfer = Some(20_000);
        given.tcp.receive_window = 10_000;
    });
    tcp.expect(new_segments(0, 10)).at(100).ack_with_window(10_000, 0).nothing();
    tcp.echo_ack_with_window(10_000, 10_000).ecn_reductions(0).expect(new_segments(10, 20));
    tcp.at(200).echo_ack(11_000).ecn_reductions(1);
}

/// An echo beyond the window of the first echo begins the next reduction, from the reduced window.
#[test]
fn linux_reduces_once_per_window_of_data() {
    let mut tcp = echoed(linux);
    tcp.anything();
    for acked in 2..=20 {
        tcp.echo_ack(acked * 1000).anything();
    }
    tcp.ssthresh(10_000).ecn_reductions(1);
    tcp.at(200).echo_ack(21_000).anything().ssthresh(5000).ecn_reductions(2);
}

/// Linux `tcp_end_cwnd_reduction`. The recovery of segment 0 is undone after an echo has reduced the
/// window again, so that ssthresh is unset. The loss of segment 25 is in the window of this echo and
/// reduces nothing. The end of its recovery keeps the window.
#[test]
fn linux_end_cwnd_reduction_keeps_the_window_without_ssthresh() {
    let mut tcp = twenty_in_flight(|given| {
        linux(given);
        (given.tcp.undo, given.tcp.dsack) = (true, true);
    });
    tcp.arrive_quietly([1, 2]);
    tcp.arrives(3).anything().ssthresh(10_000);
    tcp.at(101).ack(20_000).anything().undone(0);
    tcp.at(200).echo_ack(25_000).anything().ecn_reductions(1).ssthresh(5000);
    tcp.at(201).sack(25_000, [0..1000]).anything().undone(1).ssthresh(u64::MAX);
    tcp.cwnd(20_000);
    let released = [vec![retransmission(25)], new_segments(34, 38)].concat();
    tcp.at(202).sack(25_000, [26_000..29_000]).expect(released).ssthresh(u64::MAX);
    // Slow start: the ACK delivers ten segments; three were delivered before.
    tcp.at(302).ack(38_000).expect(new_segments(38, 68)).cwnd(30_000).ssthresh(u64::MAX);
}

// --- ns-3 ---------------------------------------------------------------------------------------

/// After the ACK, pipe is 19, ssthresh 9½ and RecoverFS 19. The ACK counts two segments as a
/// duplicate, and then one more: cwnd = pipe + ⌈3 · 9½/19⌉ = 20½, which releases one full segment.
/// After that: prr_delivered/2 − prr_out.
#[test]
fn ns3_counts_the_ack_with_the_echo_three_times() {
    let mut tcp = echoed(ns3);
    tcp.ssthresh(9500).expect([new(20)]);
    tcp.ack(2000).expect([new(21)]);
    let mut sent = 22;
    for acked in 3..=20 {
        tcp.ack(acked * 1000);
        if acked % 2 == 0 {
            tcp.expect([new(sent)]);
            sent += 1;
        } else {
            tcp.nothing();
        }
        tcp.cwnd(9500);
    }
    // The ACK of data beyond the window of the echo adds MSS²/cwnd.
    tcp.at(200).ack(21_000).cwnd(9605).anything();
}

/// With TcpClassicRecovery the reduction is immediate, and cwnd does not grow until the window of
/// data is acknowledged.
#[test]
fn ns3_without_proportional_reduction_reduces_immediately() {
    let mut tcp = echoed(|given| {
        ns3(given);
        given.tcp.recovery = RecoveryKind::Sack;
    });
    tcp.ssthresh(9500).cwnd(9500).nothing();
    for acked in 2..=20 {
        tcp.ack(acked * 1000).cwnd(9500).anything();
    }
    tcp.at(200).ack(21_000).cwnd(9605).anything();
}

/// A duplicate ACK in CWR begins no recovery. cwnd remains 20½: the difference to `pipe` is sent,
/// the lost segment first.
#[test]
fn ns3_repairs_a_loss_in_the_same_window_without_a_recovery() {
    let mut tcp = echoed(ns3);
    tcp.expect([new(20)]);
    tcp.arrives(2).expect([new(21)]).arrives(3).expect([new(22)]);
    tcp.arrives(4).expect([retransmission(1), new(23)]).ssthresh(9500);
}

/// ns-3.44 `ReceivedAck` evaluates the echo only in ACKs of new data. The receiver sets the echo
/// again in later ACKs.
#[test]
fn ns3_ignores_an_echo_in_a_duplicate_ack() {
    let mut tcp = twenty_in_flight(ns3);
    tcp.echo_sack(0, [1000..2000]).ecn_reductions(0).expect([new(20)]);
    tcp.sack(0, [1000..3000]).expect([new(21)]);
    tcp.sack(0, [1000..4000]).expect([retransmission(0)]).ssthresh(9000);
}

#[test]
fn ns3_answers_the_echo_in_the_next_ack_of_new_data() {
    let mut tcp = twenty_in_flight(ns3);
    tcp.echo_sack(0, [1000..2000]).ecn_reductions(0).anything();
    tcp.echo_ack(2000).ecn_reductions(1).anything();
}

/// `ReTxTimeout` computes ssthresh from `pipe`, even in the window of an echo.
#[test]
fn ns3_timeout_reduces_ssthresh_again() {
    let mut tcp = echoed(ns3);
    tcp.ssthresh(9500).expect([new(20)]).timeout_at(1100);
    tcp.anything().ssthresh(10_000).cwnd(1000);
}

// --- both ---------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1000), failure_persistence: None, ..Default::default() })]

    #[test]
    fn transfer_with_marks_and_losses_ends(
        options in options(), treatments in treatments(), tenths in 1u64..800, rack_timers: bool, prr: bool,
    ) {
        let options = TcpConfig {
            recovery: if prr { RecoveryKind::Prr } else { RecoveryKind::Sack },
            loss_detection: if rack_timers { LossDetection::Rack } else { LossDetection::Sack },
            stack: if rack_timers { StackVariant::Linux } else { StackVariant::Ns3 },
            ecn: EcnUse::On,
            ecn_reaction: EcnReaction::Cwr,
            ..options
        };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let mut connection =
            Connection::new(&options, Some(transfer), Duration::from_millis(20)).with_treatments(treatments);
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        prop_assert_eq!(connection.receiver.report().stream_bytes, transfer);
    }
}
