//! Echoed congestion marks answered in the state CWR (`ecn_reaction = "cwr"`), as Linux
//! `tcp_cwnd_reduction` and ns-3's TcpSocketBase and TcpPrrRecovery have it.
//!
//! Unless a test says otherwise twenty segments of 1000 bytes leave at 0, the round trip is 100 ms and
//! the receiver acknowledges every segment at once.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::random_channel::{Connection, fates, options};
use crate::script::{Given, SenderScript, again, new, news, sender};
use airpath_core::{Duration, Time};
use airpath_tcp::{
    EcnReaction, EcnUse, LossDetection, Procedures, RecoveryKind, TcpOptions, WindowGrowth,
};
use proptest::prelude::*;

fn twenty_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Prr;
        given.tcp.ecn = EcnUse::On;
        given.tcp.ecn_reaction = EcnReaction::Cwr;
        given.tcp.initial_window = 20_000;
        change(given);
    });
    tcp.expect(news(0, 20)).at(100);
    tcp
}

fn linux(given: &mut Given) {
    given.tcp.loss_detection = LossDetection::Rack;
    given.tcp.procedures = Procedures::Linux;
    given.tcp.window_growth = WindowGrowth::Segments;
}

fn ns3(given: &mut Given) {
    given.tcp.procedures = Procedures::Ns3;
    given.tcp.window_growth = WindowGrowth::PerAck;
}

/// Segment 0 was marked.
fn echoed(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = twenty_in_flight(change);
    tcp.arrives_unheard(0).echo_ack(1000);
    tcp
}

// --- Linux ------------------------------------------------------------------------------------

/// sndcnt = ⌈prr_delivered · 10/20⌉ − prr_out: a segment for every second ACK, down to ssthresh. RFC
/// 3168 would send nothing for ten ACKs and a segment for each after them.
#[test]
fn linux_sends_a_segment_for_two_acks_until_the_window_is_ssthresh() {
    let mut tcp = echoed(linux);
    tcp.ssthresh(10_000).ecn_reductions(1).expect([new(20)]);
    let mut sent = 21;
    for acked in 2..=20 {
        tcp.ack(acked * 1000).cwnd(10_000);
        // The nineteenth leaves ten segments in flight, the twentieth nine.
        if acked % 2 == 1 && acked < 19 || acked == 20 {
            tcp.expect([new(sent)]);
            sent += 1;
        } else {
            tcp.nothing();
        }
    }
    // Beyond what was sent before the echo: a segment of the next window counts.
    tcp.at(200).ack(21_000).expect([new(30)]).cwnd(10_000);
    tcp.ack(30_000).cwnd(11_000).anything();
}

#[test]
fn without_the_option_the_window_is_reduced_at_once() {
    let mut tcp = echoed(|given| {
        linux(given);
        given.tcp.ecn_reaction = EcnReaction::Rfc;
    });
    tcp.cwnd(10_000).ssthresh(10_000).nothing();
}

/// Three segments beyond segment 1 have arrived. The reduction goes on, from where it is.
#[test]
fn linux_does_not_reduce_again_for_a_loss_in_the_same_window() {
    let mut tcp = echoed(linux);
    tcp.expect([new(20)]);
    tcp.arrives(2).nothing().arrives(3).expect([new(21)]);
    // prr_delivered 4 allows two segments, which have left; the first is sent again in any case.
    tcp.arrives(4).expect([again(1)]).ssthresh(10_000);
    tcp.arrives(5).nothing().arrives(6).nothing().arrives(7).expect([new(22)]);
}

/// Linux `tcp_enter_loss`: ssthresh was reduced in this window already.
#[test]
fn linux_does_not_reduce_ssthresh_again_for_a_timeout_in_the_same_window() {
    let mut tcp = echoed(linux);
    tcp.expect([new(20)]).timeout_at(1100);
    tcp.expect([again(1)]).ssthresh(10_000).cwnd(1000);
}

/// An echo beyond the window of the first begins the next reduction, from the reduced window.
#[test]
fn linux_reduces_once_for_a_window_of_data() {
    let mut tcp = echoed(linux);
    tcp.anything();
    for acked in 2..=20 {
        tcp.echo_ack(acked * 1000).anything();
    }
    tcp.ssthresh(10_000).ecn_reductions(1);
    tcp.at(200).echo_ack(21_000).anything().ssthresh(5000).ecn_reductions(2);
}

// --- ns-3 ---------------------------------------------------------------------------------------

/// pipe after the ACK is 19, ssthresh 9½, RecoverFS 19. The ACK counts as a duplicate for two
/// segments, then for one more: cwnd = pipe + ⌈3 · 9½/19⌉ = 20½, of which a whole segment leaves.
/// From there prr_delivered/2 − prr_out.
#[test]
fn ns3_counts_the_ack_that_echoes_three_times() {
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
    // MSS²/cwnd for the ACK beyond the window.
    tcp.at(200).ack(21_000).cwnd(9605).anything();
}

/// TcpClassicRecovery: at once, and no growth before the window is acknowledged.
#[test]
fn ns3_without_proportional_reduction_reduces_at_once() {
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

/// A duplicate ACK in CWR begins no recovery. cwnd stays 20½: what `pipe` leaves of it is sent, the
/// lost segment first.
#[test]
fn ns3_repairs_a_loss_in_the_same_window_without_a_recovery() {
    let mut tcp = echoed(ns3);
    tcp.expect([new(20)]);
    tcp.arrives(2).expect([new(21)]).arrives(3).expect([new(22)]);
    tcp.arrives(4).expect([again(1), new(23)]).ssthresh(9500);
}

// --- both ---------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_transfer_with_marks_and_losses_ends(
        options in options(), fates in fates(), tenths in 1u64..800, by_time: bool, prr: bool,
    ) {
        let options = TcpOptions {
            recovery: if prr { RecoveryKind::Prr } else { RecoveryKind::Sack },
            loss_detection: if by_time { LossDetection::Rack } else { LossDetection::Sack },
            procedures: if by_time { Procedures::Linux } else { Procedures::Ns3 },
            ecn: EcnUse::On,
            ecn_reaction: EcnReaction::Cwr,
            ..options
        };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let mut connection =
            Connection::new(&options, Some(transfer), Duration::from_millis(20)).with_fates(fates);
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        prop_assert_eq!(connection.receiver.report().stream_bytes, transfer);
    }
}
