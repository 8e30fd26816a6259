//! Explicit congestion notification: RFC 3168 §6.1, RFC 8511 §3, and CUBIC's RFC 9438 §4.6.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script;
use crate::script::Mark::{Cwr, Ect0, Plain, Setup};
use crate::script::{
    Given, SenderScript, new, new_segments, part, receiver, receiver_with, retransmission,
    retransmissions, sender,
};
use airpath_core::{Ecn, Flags};
use airpath_tcp::window::{AnyWindow, DrainConfig, DrainWindow, FixedWindow};
use airpath_tcp::{EcnUse, RecoveryKind, WindowScaling};
use serde_json::json;

const WINDOW: u32 = 1_000_000;
const SETUP: Flags = Flags::ECE.with(Flags::CWR);

/// Creates a sender with ECN in congestion avoidance that has sent a window of ten segments.
fn ten_segments(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.in_congestion_avoidance(10_000);
        change(given);
    });
    tcp.expect_marked(new_segments(0, 10), [Ect0; 10]);
    tcp
}

fn with_handshake(given: &mut Given, ecn: EcnUse) {
    given.tcp.ecn = ecn;
    given.tcp.handshake = true;
    given.tcp.initial_window = 2000;
}

// --- negotiation, §6.1.1 -----------------------------------------------------------------------

#[test]
fn s6_1_1_ecn_setup_syn_and_syn_ack_make_data_ecn_capable() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(100).syn_ack_with(WINDOW, Flags::ECE).expect_marked(new_segments(0, 2), [Ect0, Ect0]);
}

#[test]
fn s6_1_1_ecn_is_not_used_without_ece_in_the_syn_ack() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(100).syn_ack(WINDOW).expect_marked(new_segments(0, 2), [Plain, Plain]);
    tcp.at(200).echo_ack(1000).cwnd(3000).ecn_reductions(0).anything();
}

/// Such a SYN-ACK comes from a peer without ECN that copies the flags of the SYN.
#[test]
fn s6_1_1_syn_ack_with_ece_and_cwr_does_not_enable_ecn() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(100).syn_ack_with(WINDOW, SETUP).expect_marked(new_segments(0, 2), [Plain, Plain]);
}

#[test]
fn s6_1_1_sender_without_ecn_ignores_ece_in_the_syn_ack() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::Off));
    tcp.expect_marked([script::Segment::Syn], [Plain]);
    tcp.at(100).syn_ack_with(WINDOW, Flags::ECE).expect_marked(new_segments(0, 2), [Plain, Plain]);
}

#[test]
fn retransmitted_syn_requests_ecn() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.timeout_at(1000).expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(1100).syn_ack_with(WINDOW, Flags::ECE).expect_marked([new(0)], [Ect0]);
}

#[test]
fn s6_1_1_receiver_agrees_only_to_an_ecn_setup_syn() {
    for (flags, answer) in
        [(SETUP, Flags::ECE), (Flags::NONE, Flags::NONE), (Flags::ECE, Flags::NONE)]
    {
        let mut tcp = receiver(|given| given.tcp.ecn = EcnUse::On);
        tcp.syn_with(flags).syn_ack_with(answer);
    }
}

#[test]
fn s6_1_1_receiver_without_ecn_does_not_agree() {
    receiver(|_| ()).syn_with(SETUP).syn_ack();
}

// --- the sender's reaction, §6.1.2 -------------------------------------------------------------

#[test]
fn s6_1_2_echo_halves_the_window_and_the_next_new_segment_has_cwr_once() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000).ssthresh(5000).ecn_reductions(1).nothing();
    tcp.ack(5000).cwnd(5000).nothing();
    tcp.ack(6000).cwnd(6000).expect_marked([new(10), new(11)], [Cwr, Ect0]);
    tcp.ack(7000).expect_marked([new(12)], [Ect0]);
}

#[test]
fn s6_1_2_echoes_in_the_same_window_of_data_change_nothing() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000);
    for ack in 2..=5 {
        tcp.echo_ack(ack * 1000).nothing().cwnd(5000);
    }
    tcp.echo_ack(6000).expect_marked([new(10)], [Cwr]);
    for ack in 7..=10 {
        tcp.echo_ack(ack * 1000).expect_marked([new(ack + 4)], [Ect0]).cwnd(5000);
    }
    tcp.ecn_reductions(1);
    // ACK of the segment with CWR, without echo: growth continues.
    tcp.at(200).ack(11_000).cwnd(5000).anything();
    tcp.ack(15_000).cwnd(6000).anything();
}

#[test]
fn s6_1_2_echo_in_the_next_window_of_data_reduces_again() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000);
    tcp.echo_ack(10_000).expect_marked(new_segments(10, 15), [Cwr, Ect0, Ect0, Ect0, Ect0]);
    tcp.at(200).echo_ack(11_000).cwnd(2500).ecn_reductions(2).nothing();
    tcp.echo_ack(15_000).expect_marked(new_segments(15, 17), [Cwr, Ect0]).cwnd(2500);
}

#[test]
fn s6_1_2_ack_with_an_echo_does_not_enlarge_the_window() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000).nothing();
    // The ACK with the echo does not count towards growth. If it did, it would complete a window of
    // bytes; so the next ACK completes the window.
    tcp.ack(5000).cwnd(5000).nothing();
    tcp.echo_ack(6000).cwnd(5000).expect([new(10)]);
    tcp.ack(7000).cwnd(6000).expect(new_segments(11, 13));
}

#[test]
fn s6_1_2_echo_ends_slow_start() {
    let mut tcp = sender(|given| given.tcp.ecn = EcnUse::On);
    tcp.expect(new_segments(0, 10)).at(100).ack(2000).cwnd(11_000).expect(new_segments(10, 13));
    tcp.echo_ack(4000).cwnd(5500).ssthresh(5500).nothing();
}

#[test]
fn s6_1_2_duplicate_ack_with_an_echo_counts_like_any_other_ack() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(0).nothing().cwnd(5000).ecn_reductions(1);
}

/// RFC 8511 §3 and RFC 5681 eq. 4 reduce the FlightSize, because a part of cwnd may be unused.
#[test]
fn unused_window_is_reduced_from_the_flight() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.in_congestion_avoidance(10_000);
        given.tcp.receive_window = 6000;
    });
    tcp.expect(new_segments(0, 6)).at(100).echo_ack(1000).cwnd(3000).nothing();
}

#[test]
fn rfc8511_3_beta_ecn_reduces_the_window_less() {
    for (cc, left) in [
        (json!({"kind": "reno", "beta_ecn": 0.8}), 8000),
        (json!({"kind": "cubic"}), 7000),
        (json!({"kind": "cubic", "beta_ecn": 0.85}), 8500),
    ] {
        let mut tcp = ten_segments(|given| given.cc = cc);
        tcp.at(100).echo_ack(1000).cwnd(left).ssthresh(left).nothing();
    }
}

/// With beta_ecn for echoes, a loss still halves the window.
#[test]
fn rfc8511_3_beta_ecn_applies_only_to_echoes() {
    let mut tcp = ten_segments(|given| given.cc = json!({"kind": "reno", "beta_ecn": 0.8}));
    tcp.at(100).quiet_duplicates(2).duplicate().expect([retransmission(0)]).cwnd(5000);
}

// --- losses, §6.1.2 and §6.1.5 -----------------------------------------------------------------

#[test]
fn s6_1_5_retransmission_is_not_ecn_capable_and_next_new_data_has_cwr() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100)
        .quiet_duplicates(2)
        .duplicate()
        .expect_marked([retransmission(0)], [Plain])
        .cwnd(5000);
    tcp.quiet_duplicates(2).duplicate().expect_marked([new(10)], [Cwr]);
    tcp.duplicate().expect_marked([new(11)], [Ect0]);
}

#[test]
fn s6_1_2_loss_in_the_window_of_an_echo_does_not_reduce_again() {
    for recovery in [RecoveryKind::Reno, RecoveryKind::NewReno] {
        let mut tcp = ten_segments(|given| given.tcp.recovery = recovery);
        tcp.at(100).echo_ack(1000).cwnd(5000).nothing();
        tcp.quiet_duplicates(2).duplicate().expect_marked([retransmission(1)], [Plain]);
        tcp.cwnd(5000).ssthresh(5000).ecn_reductions(1);
        tcp.at(200).echo_ack(10_000).cwnd(if recovery == RecoveryKind::Reno { 5000 } else { 2000 });
    }
}

#[test]
fn s6_1_2_loss_in_the_window_of_an_echo_does_not_reduce_again_with_sack() {
    for recovery in [RecoveryKind::Sack, RecoveryKind::Prr] {
        let mut tcp = ten_segments(|given| given.tcp.recovery = recovery);
        tcp.at(100).echo_ack(1000).cwnd(5000).nothing();
        tcp.echo_sack(1000, [2000..3000]).nothing();
        tcp.echo_sack(1000, [2000..4000]).nothing();
        tcp.echo_sack(1000, [2000..5000]).expect_marked([retransmission(1)], [Plain]);
        tcp.cwnd(5000).ssthresh(5000).ecn_reductions(1);
        tcp.at(200).echo_ack(10_000).cwnd(5000);
        tcp.expect_marked(new_segments(10, 15), [Cwr, Ect0, Ect0, Ect0, Ect0]);
    }
}

#[test]
fn s6_1_2_loss_after_the_window_of_an_echo_reduces_again() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000);
    tcp.echo_ack(10_000).expect_marked(new_segments(10, 15), [Cwr, Ect0, Ect0, Ect0, Ect0]);
    tcp.at(200)
        .quiet_duplicates(2)
        .duplicate()
        .expect_marked([retransmission(10)], [Plain])
        .cwnd(2500);
}

#[test]
fn s6_1_2_echo_in_the_window_of_a_loss_changes_nothing() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).quiet_duplicates(2).duplicate().expect([retransmission(0)]).cwnd(5000);
    tcp.at(200).echo_ack(5000).expect([retransmission(5)]).cwnd(5000);
    tcp.at(300).echo_ack(10_000).ecn_reductions(0).ssthresh(5000).anything();
}

/// A recovery whose loss is covered by the echo's reduction may receive echoes for later data.
/// These echoes are handled after the recovery, since the receiver sends echoes until CWR arrives.
#[test]
fn echo_for_data_sent_after_the_reduction_is_handled_after_the_recovery() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000);
    tcp.echo_ack(8000).expect_marked(new_segments(10, 13), [Cwr, Ect0, Ect0]);
    tcp.at(200).quiet_duplicates(2).duplicate();
    tcp.expect_marked([retransmission(8), new(13), new(14), new(15)], [Plain, Ect0, Ect0, Ect0]);
    tcp.cwnd(5000).at(300).echo_ack(13_000).ecn_reductions(1).anything();
    tcp.at(300).echo_ack(14_000).ecn_reductions(2).anything();
}

#[test]
fn s6_1_2_timeout_covers_echoes_for_data_sent_before_it() {
    let mut tcp = ten_segments(|_| ());
    tcp.timeout_at(1000).expect_marked([retransmission(0)], [Plain]).cwnd(1000);
    // Slow start continues, since only new data can carry CWR and end the echo.
    tcp.at(1100).echo_ack(1000).cwnd(2000).expect_marked(retransmissions(1, 3), [Plain, Plain]);
    tcp.at(1200).echo_ack(3000).cwnd(3000).expect(retransmissions(3, 6));
    tcp.at(1300).echo_ack(10_000).cwnd(4000).ecn_reductions(0);
    tcp.expect_marked(new_segments(10, 14), [Cwr, Ect0, Ect0, Ect0]);
    tcp.at(1400).echo_ack(11_000).cwnd(2000).ecn_reductions(1).nothing();
}

/// After a timeout, the earlier reduction for an echo no longer prevents a reduction, even for
/// losses in the window of data of this echo.
#[test]
fn loss_after_a_timeout_reduces_despite_earlier_echoes() {
    let mut tcp = ten_segments(|given| given.tcp.recovery = RecoveryKind::Reno);
    tcp.at(100).echo_ack(1000).cwnd(5000).nothing();
    tcp.timeout_at(1100).expect([retransmission(1)]).cwnd(1000).ssthresh(4500);
    tcp.at(1200).ack(2000).cwnd(2000).expect(retransmissions(2, 4));
    tcp.quiet_duplicates(2).duplicate().cwnd(4000).ssthresh(4000).anything();
}

// --- the smallest window, §6.1.2 ---------------------------------------------------------------

#[test]
fn s6_1_2_echo_with_a_window_of_one_segment_waits_for_the_timer() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1000;
    });
    tcp.expect_marked([new(0)], [Ect0]);
    tcp.at(100).echo_ack(1000).nothing().cwnd(1000).timer(1100).ecn_reductions(1);
    tcp.timeout_at(1100).expect_marked([new(1)], [Cwr]).timeouts(0).cwnd(1000).timer(2100);
    tcp.at(1200).ack(2000).cwnd(2000).expect_marked(new_segments(2, 4), [Ect0, Ect0]);
}

/// The wait for the timer does not back off the RTO: the next timeout has the normal value.
#[test]
fn s6_1_2_segment_sent_after_the_wait_is_retransmitted_if_lost() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1000;
    });
    tcp.expect([new(0)]).at(100).echo_ack(1000).timeout_at(1100).expect([new(1)]);
    tcp.timeout_at(2100).expect_marked([retransmission(1)], [Plain]).timeouts(1).timer(4100);
}

/// RFC 5681 eq. 4: a reduction leaves at least two segments.
#[test]
fn window_of_two_segments_is_not_reduced_but_announces_cwr() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 2000;
    });
    tcp.expect(new_segments(0, 2)).at(100).echo_ack(2000).cwnd(2000).ssthresh(2000);
    tcp.expect_marked(new_segments(2, 4), [Cwr, Ect0]).ecn_reductions(1);
}

#[test]
fn finished_transfer_has_no_timer() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1000;
        given.transfer = Some(1000);
    });
    tcp.expect([new(0)]).at(100).echo_ack(1000).nothing().no_timer();
}

#[test]
fn finished_transfer_after_an_echo_has_no_timer() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1900;
        given.transfer = Some(1500);
    });
    tcp.expect([new(0), part(1000, 500)]).at(100).echo_ack(1000).nothing();
    tcp.at(200).ack(1500).nothing().no_timer();
}

// --- a closed receive window, §6.1.6 -----------------------------------------------------------

/// Creates a sender whose ten segments fill the receive window.
fn ten_that_fill_the_window() -> SenderScript {
    ten_segments(|given| given.tcp.receive_window = 10_000)
}

#[test]
fn s6_1_6_probe_is_not_ecn_capable_and_has_no_cwr() {
    let mut tcp = ten_that_fill_the_window();
    tcp.at(100).echo_ack_with_window(10_000, 0).cwnd(5000).nothing();
    tcp.timeout_at(1100).expect_marked([part(10_000, 1)], [Plain]);
    tcp.at(1200).echo_ack_with_window(10_000, 2000);
    tcp.expect_marked(new_segments(10, 12), [Cwr, Ect0]).cwnd(5000).ecn_reductions(1);
}

/// The probe did not carry CWR, so the echo in its answer belongs to the earlier mark.
#[test]
fn s6_1_2_answer_to_an_accepted_probe_is_an_old_echo() {
    let mut tcp = ten_that_fill_the_window();
    tcp.at(100).echo_ack_with_window(10_000, 0).cwnd(5000).nothing();
    tcp.timeout_at(1100).expect([part(10_000, 1)]);
    tcp.at(1200).echo_ack_with_window(10_001, 2000).cwnd(5000).ecn_reductions(1);
    tcp.expect_marked([part(10_001, 1000), part(11_001, 1000)], [Cwr, Ect0]);
    tcp.at(1300).echo_ack_with_window(12_001, 0).ecn_reductions(2).nothing();
}

/// RFC 9293 §3.8.6.1: an expiry of the persist timer does not indicate a loss.
#[test]
fn persist_timer_does_not_reduce_the_window() {
    let mut tcp = ten_that_fill_the_window();
    tcp.at(100).ack_with_window(10_000, 0).cwnd(11_000).nothing();
    tcp.timeout_at(1100).expect_marked([part(10_000, 1)], [Plain]).timeouts(0);
    tcp.at(1200).ack_with_window(10_000, 1000).expect_marked([new(10)], [Ect0]).cwnd(11_000);
}

/// Creates a sender with a window of one segment that received an echo, and a closed receive
/// window.
fn waiting() -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1000;
        given.tcp.receive_window = 1000;
    });
    tcp.expect_marked([new(0)], [Ect0]).at(100).echo_ack_with_window(1000, 0).timer(1100);
    tcp
}

#[test]
fn s6_1_2_opening_window_does_not_end_the_wait_for_the_timer() {
    let mut tcp = waiting();
    tcp.at(500).window_update(1000).nothing().timer(1100);
    tcp.timeout_at(1100).expect_marked([new(1)], [Cwr]).probes(0);
}

#[test]
fn closed_window_is_probed_after_the_wait() {
    let mut tcp = waiting();
    tcp.timeout_at(1100).nothing().timer(2100);
    tcp.timeout_at(2100).expect_marked([part(1000, 1)], [Plain]).timeouts(0).probes(1);
}

// --- the receiver, §6.1.3 ----------------------------------------------------------------------

#[test]
fn s6_1_3_receiver_echoes_in_every_ack_from_a_mark_until_cwr() {
    let mut tcp = receiver(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.delayed_ack_segments = 1;
    });
    tcp.marked(0, Ecn::Ect0, Flags::NONE).ack(1000);
    tcp.marked(1, Ecn::Ce, Flags::NONE).echo_ack(2000);
    tcp.marked(2, Ecn::Ect0, Flags::NONE).echo_ack(3000);
    tcp.marked(4, Ecn::Ect0, Flags::NONE).echo_ack(3000);
    tcp.marked(3, Ecn::NotEct, Flags::RETRANSMITTED).echo_ack(5000);
    tcp.marked(5, Ecn::Ect0, Flags::CWR).ack(6000);
    tcp.marked(6, Ecn::Ect0, Flags::NONE).ack(7000);
}

#[test]
fn s6_1_3_marked_segment_with_cwr_starts_a_new_echo() {
    let mut tcp = receiver(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.delayed_ack_segments = 1;
    });
    tcp.marked(0, Ecn::Ce, Flags::NONE).echo_ack(1000);
    tcp.marked(1, Ecn::Ce, Flags::CWR).echo_ack(2000);
    tcp.marked(2, Ecn::Ect0, Flags::CWR).ack(3000);
}

/// Only a receiver with DCTCP's echo sends an immediate ACK for a mark.
#[test]
fn s6_1_3_mark_does_not_trigger_a_delayed_ack() {
    let mut tcp = receiver(|given| given.tcp.ecn = EcnUse::On);
    tcp.marked(0, Ecn::Ce, Flags::NONE).nothing();
    tcp.at(10).marked(1, Ecn::Ect0, Flags::NONE).echo_ack(2000);
    tcp.marked(2, Ecn::Ect0, Flags::CWR).nothing().timeout_at(210).ack(3000);
    tcp.marked(3, Ecn::Ce, Flags::NONE).nothing().timeout_at(410).echo_ack(4000);
}

#[test]
fn s6_1_5_mark_on_old_data_is_ignored() {
    let mut tcp = receiver(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.delayed_ack_segments = 1;
    });
    tcp.marked(0, Ecn::Ect0, Flags::NONE).ack(1000);
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000);
}

/// §6.1.5: the marked data is outside of the window.
#[test]
fn mark_on_a_rejected_segment_is_ignored() {
    let drain = DrainWindow::new(1000, DrainConfig { rate_bps: 0, start_ns: 0 });
    let mut tcp = receiver_with(
        |given| {
            given.tcp.ecn = EcnUse::On;
            given.tcp.receive_window = 1000;
            given.tcp.delayed_ack_segments = 1;
        },
        AnyWindow::Drain(Box::new(drain)),
    );
    tcp.marked(0, Ecn::Ect0, Flags::NONE).ack(1000).window(0);
    tcp.marked(1, Ecn::Ce, Flags::NONE).ack(1000).window(0);
}

#[test]
fn ecn_setup_syn_ack_has_an_unscaled_window() {
    let mut tcp = receiver_with(
        |given| {
            given.tcp.ecn = EcnUse::On;
            given.tcp.receive_window = 1_000_000;
            given.tcp.window_scaling = WindowScaling::On;
        },
        AnyWindow::Fixed(FixedWindow::new(1_000_000)),
    );
    tcp.syn_with(SETUP).syn_ack_with(Flags::ECE).window(65_535);
}

#[test]
fn receiver_without_ecn_does_not_echo() {
    receiver(|given| given.tcp.delayed_ack_segments = 1).marked(0, Ecn::Ce, Flags::NONE).ack(1000);
}
