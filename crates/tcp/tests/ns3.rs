//! Deviations of ns-3.48 with SACK from the RFCs (`stack = "ns3"`), from its classes TcpSocketBase,
//! TcpTxBuffer, TcpClassicRecovery and TcpPrrRecovery.
//!
//! Unless stated otherwise, twenty segments are in flight, and the receiver acknowledges every
//! segment immediately. `tests/validation/ns3` compares complete runs.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::{
    Given, SenderScript, new, new_segments, part, retransmission, retransmissions, sender,
};
use airpath_tcp::{RecoveryKind, StackVariant, WindowGrowth};

/// Sends `segments` segments at 0 with ns-3's procedures, after applying `change`.
fn in_flight(segments: u64, change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.stack = StackVariant::Ns3;
        given.tcp.window_growth = WindowGrowth::PerAck;
        given.tcp.initial_window = segments * 1000;
        change(given);
    });
    tcp.expect(new_segments(0, segments)).timer(1000).at(100);
    tcp
}

/// TcpNewReno: of 22 sent segments three are selectively acknowledged and one is lost, so pipe is
/// 18. RFC 5681 eq. 4 would use 20.
#[test]
fn tcp_new_reno_computes_ssthresh_from_pipe() {
    let mut tcp = in_flight(20, |_| ());
    tcp.arrives(1).expect([new(20)]).arrives(2).expect([new(21)]);
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(9000).cwnd(9000);
}

#[test]
fn tcp_linux_reno_computes_ssthresh_from_cwnd() {
    let mut tcp = in_flight(20, |given| given.tcp.window_growth = WindowGrowth::Segments);
    tcp.arrives(1).expect([new(20)]).arrives(2).expect([new(21)]);
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(10_000).cwnd(10_000);
}

/// A window that is not fully used is also halved: ssthresh is half of 20 segments, although only
/// ten segments were in flight.
#[test]
fn tcp_linux_reno_halves_an_unused_window() {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.stack = StackVariant::Ns3;
        given.tcp.window_growth = WindowGrowth::Segments;
        given.tcp.initial_window = 20_000;
        given.tcp.receive_window = 10_000;
    });
    tcp.expect(new_segments(0, 10)).at(100);
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).ssthresh(10_000);
}

/// Segments 0 and 1 are lost. At the first partial ACK pipe is 17 and cwnd 8½: RFC 6675 would send
/// nothing. The second partial ACK finds no lost segment and sends new data, also beyond cwnd. Only
/// the first partial ACK restarts the timer.
#[test]
fn partial_ack_sends_a_segment_regardless_of_pipe() {
    let mut tcp = in_flight(20, |_| ());
    tcp.arrives(2).expect([new(20)]).arrives(3).expect([new(21)]);
    tcp.arrives(4).expect([retransmission(0)]).cwnd(8500);
    tcp.at(200).arrives(0).expect([retransmission(1)]).timer(1200);
    tcp.at(300).arrives(1).expect([new(22)]).timer(1200).cwnd(8500);
}

/// Segment 0 of ten is lost, and the receive window prevents new data. The last ACK covers two
/// windows of five segments: cwnd becomes ssthresh plus two segments.
#[test]
fn ack_that_ends_a_recovery_enlarges_the_window() {
    let mut tcp = in_flight(10, |given| {
        given.in_congestion_avoidance(10_000);
        given.tcp.window_growth = WindowGrowth::Segments;
        given.tcp.receive_window = 10_000;
    });
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).cwnd(5000);
    tcp.arrive_quietly(4..10);
    tcp.at(200).arrives(0).cwnd(7000).expect(new_segments(10, 17));
}

/// TcpNewReno: adds MSS²/cwnd once.
#[test]
fn tcp_new_reno_grows_by_one_ack_at_the_end_of_a_recovery() {
    let mut tcp = in_flight(10, |given| given.tcp.receive_window = 10_000);
    // pipe is 6 at the third duplicate ACK.
    tcp.arrive_quietly([1, 2]).arrives(3).expect([retransmission(0)]).cwnd(3000);
    tcp.arrive_quietly(4..10);
    tcp.at(200).arrives(0).cwnd(3333).expect(new_segments(10, 13));
}

/// Errata 1610 to RFC 6675 §5.1. Segments 3 and 6 arrived, and the receiver need not report them
/// again.
#[test]
fn timeout_keeps_sack_information() {
    let mut tcp = in_flight(10, |_| ());
    tcp.arrives(3).expect([new(10)]).arrives(6).expect([new(11)]);
    tcp.timeout_at(1000).expect([retransmission(0)]).cwnd(1000).ssthresh(5000);
    tcp.at(1100).sack(1000, []).cwnd(2000).expect(retransmissions(1, 3));
    tcp.at(1200).sack(2000, []).cwnd(3000).expect(retransmissions(4, 6));
    // Lost segments beyond the highest selectively acknowledged segment are sent after new data.
    tcp.at(1300).sack(4000, []).cwnd(4000).expect([new(12), new(13)]);
}

/// Five duplicate ACKs after a timeout: no recovery and no second reduction.
#[test]
fn duplicates_after_a_timeout_are_not_counted() {
    let mut tcp = in_flight(10, |given| given.tcp.receive_window = 10_000);
    tcp.timeout_at(1000).expect([retransmission(0)]);
    tcp.arrive_quietly(5..10).cwnd(1000).ssthresh(5000);
}

/// Each duplicate ACK counts twice until the count reaches the initial flight, 18 segments. So one
/// segment is sent per ACK; with RFC 6937, one per two ACKs.
#[test]
fn proportional_reduction_counts_duplicates_twice() {
    let mut tcp = in_flight(20, |given| given.tcp.recovery = RecoveryKind::Prr);
    tcp.arrives(1).expect([new(20)]).arrives(2).expect([new(21)]);
    tcp.arrives(3).expect([retransmission(0)]).ssthresh(9000);
    for index in 4..12 {
        tcp.arrives(index).expect([new(index + 18)]);
    }
    tcp.arrive_quietly([12]).arrives(13).expect([new(30)]).arrive_quietly([14]);
}

/// The first eleven of twenty segments are lost; pipe is 11 of 22, ssthresh 3. The conservative
/// bound allows the delivered bytes, twice for a duplicate ACK.
#[test]
fn delivered_bytes_may_be_sent_below_ssthresh() {
    let mut tcp = in_flight(20, |given| {
        given.tcp.recovery = RecoveryKind::Prr;
        given.tcp.receive_window = 20_000;
    });
    tcp.arrive_quietly([11, 12]).arrives(13);
    // pipe = 20 − 3 − 11 = 6, so ssthresh = 3. 2·3/6 = 1 segment is allowed: the fast retransmit.
    tcp.expect([retransmission(0)]).ssthresh(3000);
    // pipe 6: 4·3/6 − 1; pipe 5: still above 3. The bound applies below 3.
    tcp.arrives(14).expect([retransmission(1)]).arrives(15).expect([retransmission(2)]);
}

/// The receive window allows 500 bytes, and a segment has left the network.
#[test]
fn rest_of_the_receive_window_is_sent() {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.stack = StackVariant::Ns3;
        given.tcp.initial_window = 10_000;
        given.tcp.receive_window = 10_500;
    });
    tcp.expect(new_segments(0, 10)).at(100).arrives(1).expect([part(10_000, 500)]);
}

/// Every ninth of the first hundred segments is lost. A partial ACK retransmits the oldest segment
/// if nothing else may be sent, so a few segments are sent twice.
#[test]
fn transfer_with_losses_completes() {
    let lost: Vec<u64> = (0..100).filter(|index| index % 9 == 4).collect();
    for recovery in [RecoveryKind::Sack, RecoveryKind::Prr] {
        let mut tcp = sender(|given| {
            given.tcp.recovery = recovery;
            given.tcp.stack = StackVariant::Ns3;
            given.transfer = Some(1_000_000);
        });
        let course = tcp.closed_loop(&lost, 1_000_000);
        let needed = lost.len() as u64;
        assert_eq!(course.timeouts, 0, "{recovery:?}: {course:?}");
        let sent_again = needed..=needed + course.recoveries;
        assert!(sent_again.contains(&course.retransmissions), "{recovery:?}: {course:?}");
    }
}

// --- a closed window, as under the RFCs' procedures -----------------------------------------------

/// Creates a sender whose two segments fill the window, which is closed when they are acknowledged.
fn closed() -> SenderScript {
    let mut tcp = in_flight(2, |given| given.tcp.receive_window = 2000);
    tcp.ack_with_window(2000, 0).timeout_at(1100).expect([part(2000, 1)]).probes(1);
    tcp
}

#[test]
fn rfc9293_3_8_6_1_closed_window_is_probed() {
    let mut tcp = closed();
    tcp.at(1200).ack_with_window(2000, 1000).expect([new(2)]).timeouts(0);
}

#[test]
fn window_update_ends_the_probing() {
    let mut tcp = closed();
    tcp.at(1200).window_update(2000).expect([new(2), new(3)]).timer(2200).probes(1);
}

#[test]
fn accepted_probe_counts_as_sent() {
    let mut tcp = closed();
    tcp.at(1200).ack_with_window(2001, 2000).expect([part(2001, 1000), part(3001, 1000)]);
    tcp.at(1300).ack_with_window(4001, 1000).expect([part(4001, 1000)]).timeouts(0);
}
