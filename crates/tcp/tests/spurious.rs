//! Spurious timeouts and retransmissions: RFC 5682 (F-RTO), RFC 3522 and RFC 4015 (Eifel), RFC 2883
//! and RFC 3708 (D-SACK), RFC 8985 §6.2 step 4 (reordering window).
//!
//! Unless stated otherwise, ten segments are sent at 5 ms in congestion avoidance, the RTT is 100 ms,
//! and the receiver acknowledges every segment immediately.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::random_channel::{Connection, every_byte_arrives_once, options, treatments};
use crate::script::{Given, SenderScript, new, new_segments, retransmission, sender};
use airpath_conformance::cases;
use airpath_core::{Duration, Time};
use airpath_tcp::{LossDetection, RecoveryKind, StackVariant, TcpConfig, WindowGrowth};
use proptest::prelude::*;

/// Sends ten segments at 5 ms after applying `change`.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.start = 5;
        given.tcp.recovery = RecoveryKind::Prr;
        given.tcp.loss_detection = LossDetection::Rack;
        given.tcp.stack = StackVariant::Linux;
        given.tcp.window_growth = WindowGrowth::Segments;
        given.in_congestion_avoidance(10_000);
        change(given);
    });
    tcp.expect(new_segments(0, 10));
    tcp
}

fn with_frto(given: &mut Given) {
    given.tcp.frto = true;
}

fn with_timestamps(given: &mut Given) {
    (given.tcp.undo, given.tcp.timestamps) = (true, true);
}

fn with_dsack(given: &mut Given) {
    (given.tcp.undo, given.tcp.dsack) = (true, true);
}

/// Lets the timer expire at 1005 ms, which retransmits segment 0.
fn timed_out(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ten_in_flight(change);
    tcp.timeout_at(1005).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp
}

// --- F-RTO ------------------------------------------------------------------------------------

/// RFC 5682 §3.1 steps 2b and 3b: the first ACK releases two new segments instead of
/// retransmissions. The second ACK acknowledges segment 1, which was not retransmitted.
#[test]
fn rfc5682_3_1_step_3b_second_ack_of_original_data_undoes_the_timeout() {
    let mut tcp = timed_out(with_frto);
    tcp.at(1015).ack(1000).expect([new(10), new(11)]).cwnd(2000).undone(0);
    tcp.at(1016).ack(2000).nothing().cwnd(10_000).ssthresh(10_000).undone(1);
    tcp.at(1017).ack(3000).expect([new(12)]).timeouts(1);
}

/// RFC 5682 §3.1 step 3a: the second ACK reports only the new data. The timeout was necessary.
#[test]
fn rfc5682_3_1_step_3a_second_ack_of_new_data_only_confirms_the_loss() {
    let mut tcp = timed_out(with_frto);
    tcp.at(1105).ack(1000).expect([new(10), new(11)]);
    tcp.at(1205).sack(1000, [10_000..11_000]).expect([retransmission(1)]);
    tcp.cwnd(2000).ssthresh(5000).undone(0);
}

/// RFC 5682 §3.1 step 2b: without new data, lost segments are retransmitted.
#[test]
fn rfc5682_3_1_step_2b_without_new_data_the_conventional_recovery_continues() {
    let mut tcp = timed_out(|given| {
        with_frto(given);
        given.transfer = Some(10_000);
    });
    tcp.at(1015).ack(1000).expect([retransmission(1), retransmission(2)]);
}

/// The same if the receive window is full.
#[test]
fn rfc5682_3_1_step_2b_with_a_full_receive_window_the_conventional_recovery_continues() {
    let mut tcp = timed_out(|given| {
        with_frto(given);
        given.tcp.receive_window = 10_000;
    });
    tcp.at(1015).ack_with_window(1000, 9000).expect([retransmission(1), retransmission(2)]);
}

/// Linux `tcp_process_loss`, `FLAG_ORIG_SACK_ACKED`: selectively acknowledged original data
/// suffices.
#[test]
fn linux_process_loss_sack_of_original_data_undoes_the_timeout() {
    let mut tcp = timed_out(with_frto);
    tcp.at(1015).sack(0, [5000..6000]).nothing().cwnd(10_000).ssthresh(10_000).undone(1);
}

/// Linux `tcp_enter_loss`: F-RTO also applies after repeated timeouts for the same segment. The
/// window before the first timeout is restored.
#[test]
fn rfc5682_3_2_repeated_timeout_of_the_same_segment_is_undone() {
    let mut tcp = timed_out(with_frto);
    tcp.timeout_at(3005).expect([retransmission(0)]).ssthresh(5000);
    tcp.at(3015).ack(2000).cwnd(10_000).ssthresh(10_000).undone(1).anything();
}

/// RFC 5682 §3.1 step 1: F-RTO does not apply if a fast recovery precedes the timeout.
#[test]
fn rfc5682_3_1_step_1_timeout_in_a_recovery_is_not_undone() {
    let mut tcp = ten_in_flight(with_frto);
    tcp.at(105).arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.timeout_at(1105).expect([retransmission(0)]);
    tcp.at(1115).ack(5000).undone(0).ssthresh(5000).anything();
}

/// Without the option, the first ACK releases retransmissions.
#[test]
fn timeout_without_frto_retransmits_the_flight() {
    let mut tcp = timed_out(|_| ());
    tcp.at(1015).ack(1000).expect([retransmission(1), retransmission(2)]).undone(0);
}

// --- timestamps -------------------------------------------------------------------------------

/// RFC 3522 §3.2 steps 5 and 6, Linux `tcp_try_undo_loss`: the ACK echoes the timestamp of the
/// original.
#[test]
fn rfc3522_ack_of_the_original_undoes_the_timeout() {
    let mut tcp = timed_out(with_timestamps);
    tcp.at(1015).echo(5).ack(1000).expect([new(10)]).cwnd(10_000).ssthresh(10_000).undone(1);
    tcp.at(1016).ack(2000).expect([new(11)]);
}

/// The ACK echoes the timestamp of the retransmission: the original was lost.
#[test]
fn rfc3522_ack_of_the_retransmission_confirms_the_loss() {
    let mut tcp = timed_out(with_timestamps);
    tcp.at(1105).echo(1005).ack(1000).expect([retransmission(1), retransmission(2)]);
    tcp.cwnd(2000).ssthresh(5000).undone(0);
}

/// RFC 4015 §4, Linux `tcp_current_ssthresh`: ssthresh becomes at least 3/4 of the window.
#[test]
fn linux_current_ssthresh_is_restored_to_three_quarters_of_the_window_or_more() {
    let mut tcp = timed_out(|given| {
        with_timestamps(given);
        given.tcp.initial_ssthresh = Some(4000);
    });
    tcp.at(1015).echo(5).ack(1000).anything().cwnd(10_000).ssthresh(7500);
}

/// Linux `tcp_try_undo_partial`: segment 0 was late, not lost. The ACK of segments 0 to 3 ends the
/// recovery, and the window is restored.
#[test]
fn linux_try_undo_partial_late_original_ends_the_recovery() {
    let mut tcp = ten_in_flight(with_timestamps);
    tcp.at(105).echo(5);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).cwnd(5000);
    tcp.at(106).arrives(0).expect(new_segments(10, 14)).cwnd(10_000).ssthresh(10_000).undone(1);
}

/// Linux `tcp_try_undo_recovery`: the ACK that ends the recovery reveals that it was spurious.
#[test]
fn linux_try_undo_recovery_restores_the_window_at_the_end() {
    let mut tcp = ten_in_flight(|given| {
        with_timestamps(given);
        given.transfer = Some(10_000);
    });
    tcp.at(105).echo(5);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.arrive_quietly([4, 5, 6, 7, 8, 9]);
    tcp.at(106).arrives(0).nothing().cwnd(10_000).ssthresh(10_000).undone(1);
}

// --- D-SACK -----------------------------------------------------------------------------------

/// Linux `tcp_try_undo_dsack`: without timestamps, the duplicate of the only retransmission reveals
/// that it was unnecessary.
#[test]
fn rfc3708_duplicate_of_every_retransmission_undoes_the_reduction() {
    let mut tcp = ten_in_flight(with_dsack);
    tcp.at(105).arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    tcp.at(106).arrives(0).anything().undone(0).cwnd(5000);
    tcp.at(205).sack(4000, [0..1000]).anything().cwnd(10_000).ssthresh(10_000).undone(1);
}

/// The duplicate is reported after the recovery.
#[test]
fn linux_try_undo_dsack_after_the_recovery_restores_the_window() {
    let mut tcp = ten_in_flight(|given| {
        with_dsack(given);
        given.transfer = Some(20_000);
    });
    tcp.at(105).arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]);
    // The ACK that ends the recovery delivers seven segments, more than a window of five.
    tcp.at(106).ack(10_000).anything().undone(0).cwnd(6000);
    tcp.at(206).sack(10_000, [0..1000]).anything().cwnd(10_000).ssthresh(10_000).undone(1);
}

/// Linux `tcp_dsack_seen`: a duplicate without a retransmission comes from the network.
#[test]
fn linux_dsack_seen_duplicate_from_the_network_has_no_effect() {
    let mut tcp = ten_in_flight(with_dsack);
    tcp.at(105).ack(4000).expect(new_segments(10, 14));
    tcp.at(106).sack(4000, [0..1000]).nothing().undone(0);
    tcp.arrives_with_ack_lost(4).nothing();
}

/// RFC 8985 §6.2 step 4: after reordering (segment 1 before segment 0), the reordering window is
/// min_RTT/4, and segment 2 is retransmitted too early. After the report of the duplicate, the
/// window is min_RTT/2. The timer adds 2 ms.
#[test]
fn rfc8985_6_2_step_4_duplicate_doubles_the_reordering_window() {
    let mut tcp = ten_in_flight(|given| {
        with_dsack(given);
        given.tcp.receive_window = 10_000;
    });
    tcp.at(105).arrives(1).nothing();
    tcp.arrives(0).expect(new_segments(10, 12));
    tcp.arrives(3).nothing();
    tcp.released_at(132).expect([retransmission(2)]);
    tcp.at(133).ack_with_window(4000, 8000).nothing();
    tcp.at(232).sack(4000, [2000..3000]).nothing().undone(1);
    tcp.at(233).ack_with_window(12_000, 10_000).expect(new_segments(12, 22));
    tcp.at(333).sack(12_000, [13_000..14_000]).nothing();
    tcp.released_at(385).expect([retransmission(12)]);
}

// --- properties -------------------------------------------------------------------------------

prop_compose! {
    /// Options with loss detection by time and any detection of spurious retransmissions.
    fn spurious_options()(
        options in options(), prr: bool, linux: bool, frto: bool, undo: bool, dsack: bool, probe: bool,
    ) -> TcpConfig {
        TcpConfig {
            recovery: if prr { RecoveryKind::Prr } else { RecoveryKind::Sack },
            stack: if linux { StackVariant::Linux } else { StackVariant::Rfc },
            loss_detection: LossDetection::Rack,
            tail_loss_probe: probe,
            frto,
            undo,
            dsack,
            ..options
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2000), failure_persistence: None, ..Default::default() })]

    /// With any losses, duplicates and delays, every byte arrives once and the transfer ends.
    #[test]
    fn every_byte_arrives_once_with_any_detection_of_spurious_retransmissions(
        options in spurious_options(), treatments in treatments(), tenths in 1u64..800, one_way in 0u64..120,
    ) {
        every_byte_arrives_once(&options, treatments, tenths, one_way)?;
    }

    /// Without losses, delays and early timers nothing is retransmitted, so nothing is undone.
    #[test]
    fn lossless_channel_undoes_nothing(
        options in spurious_options(), tenths in 1u64..800, one_way in 0u64..120,
    ) {
        let options = TcpConfig {
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_secs(1),
            rto_granularity: Duration::ZERO,
            tail_loss_probe: false,
            ..options
        };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let mut connection = Connection::new(&options, Some(transfer), Duration::from_millis(one_way));
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        let report = connection.sender.report();
        prop_assert_eq!((report.retransmissions, report.timeouts, report.undone), (0, 0, 0));
    }
}
