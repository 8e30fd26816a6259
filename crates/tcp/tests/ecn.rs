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

/// A sender with ECN in congestion avoidance at ten segments, which it has sent.
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
fn s6_1_1_a_setup_syn_and_a_setup_syn_ack_make_data_ecn_capable() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(100).syn_ack_with(WINDOW, Flags::ECE).expect_marked(new_segments(0, 2), [Ect0, Ect0]);
}

#[test]
fn s6_1_1_without_ece_in_the_syn_ack_ecn_is_not_used() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(100).syn_ack(WINDOW).expect_marked(new_segments(0, 2), [Plain, Plain]);
    tcp.at(200).echo_ack(1000).cwnd(3000).ecn_reductions(0).anything();
}

/// A peer that reflects the flags of the SYN without knowing them.
#[test]
fn s6_1_1_a_syn_ack_with_ece_and_cwr_is_no_agreement() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(100).syn_ack_with(WINDOW, SETUP).expect_marked(new_segments(0, 2), [Plain, Plain]);
}

#[test]
fn s6_1_1_a_sender_that_did_not_ask_does_not_use_ecn() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::Off));
    tcp.expect_marked([script::Segment::Syn], [Plain]);
    tcp.at(100).syn_ack_with(WINDOW, Flags::ECE).expect_marked(new_segments(0, 2), [Plain, Plain]);
}

#[test]
fn a_repeated_syn_asks_again() {
    let mut tcp = sender(|given| with_handshake(given, EcnUse::On));
    tcp.expect_marked([script::Segment::Syn], [Setup]);
    tcp.timeout_at(1000).expect_marked([script::Segment::Syn], [Setup]);
    tcp.at(1100).syn_ack_with(WINDOW, Flags::ECE).expect_marked([new(0)], [Ect0]);
}

#[test]
fn s6_1_1_the_receiver_agrees_to_a_setup_syn_and_to_no_other() {
    for (flags, answer) in
        [(SETUP, Flags::ECE), (Flags::NONE, Flags::NONE), (Flags::ECE, Flags::NONE)]
    {
        let mut tcp = receiver(|given| given.tcp.ecn = EcnUse::On);
        tcp.syn_with(flags).syn_ack_with(answer);
    }
}

#[test]
fn s6_1_1_a_receiver_without_ecn_does_not_agree() {
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
fn s6_1_2_echoes_from_the_same_window_of_data_change_nothing() {
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
    // The ACK of the segment with CWR, without echo: growth continues.
    tcp.at(200).ack(11_000).cwnd(5000).anything();
    tcp.ack(15_000).cwnd(6000).anything();
}

#[test]
fn s6_1_2_an_echo_of_the_next_window_of_data_reduces_again() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000);
    tcp.echo_ack(10_000).expect_marked(new_segments(10, 15), [Cwr, Ect0, Ect0, Ect0, Ect0]);
    tcp.at(200).echo_ack(11_000).cwnd(2500).ecn_reductions(2).nothing();
    tcp.echo_ack(15_000).expect_marked(new_segments(15, 17), [Cwr, Ect0]).cwnd(2500);
}

#[test]
fn s6_1_2_an_ack_with_an_echo_does_not_enlarge_the_window_and_one_without_does() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000).nothing();
    // With the echoed segment a window of bytes is acknowledged, without it the next completes it.
    tcp.ack(5000).cwnd(5000).nothing();
    tcp.echo_ack(6000).cwnd(5000).expect([new(10)]);
    tcp.ack(7000).cwnd(6000).expect(new_segments(11, 13));
}

#[test]
fn s6_1_2_an_echo_ends_slow_start() {
    let mut tcp = sender(|given| given.tcp.ecn = EcnUse::On);
    tcp.expect(new_segments(0, 10)).at(100).ack(2000).cwnd(11_000).expect(new_segments(10, 13));
    tcp.echo_ack(4000).cwnd(5500).ssthresh(5500).nothing();
}

#[test]
fn s6_1_2_a_duplicate_ack_with_an_echo_counts_like_any_other() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(0).nothing().cwnd(5000).ecn_reductions(1);
}

/// RFC 8511 §3 and RFC 5681 eq. 4 take what is in flight: a window that was not used is no guide.
#[test]
fn a_window_that_was_not_used_is_reduced_from_what_was_in_flight() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.in_congestion_avoidance(10_000);
        given.tcp.receive_window = 6000;
    });
    tcp.expect(new_segments(0, 6)).at(100).echo_ack(1000).cwnd(3000).nothing();
}

#[test]
fn rfc8511_3_beta_ecn_leaves_more_of_the_window() {
    for (cc, left) in [
        (json!({"kind": "reno", "beta_ecn": 0.8}), 8000),
        (json!({"kind": "cubic"}), 7000),
        (json!({"kind": "cubic", "beta_ecn": 0.85}), 8500),
    ] {
        let mut tcp = ten_segments(|given| given.cc = cc);
        tcp.at(100).echo_ack(1000).cwnd(left).ssthresh(left).nothing();
    }
}

/// With a factor for echoes, a loss still costs a half.
#[test]
fn rfc8511_3_beta_ecn_is_for_echoes_alone() {
    let mut tcp = ten_segments(|given| given.cc = json!({"kind": "reno", "beta_ecn": 0.8}));
    tcp.at(100).quiet_duplicates(2).duplicate().expect([retransmission(0)]).cwnd(5000);
}

// --- losses, §6.1.2 and §6.1.5 -----------------------------------------------------------------

#[test]
fn s6_1_5_a_retransmission_is_not_ecn_capable_and_new_data_after_it_says_cwr() {
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
fn s6_1_2_a_loss_in_the_window_of_an_echo_is_repaired_without_a_second_reduction() {
    for recovery in [RecoveryKind::Reno, RecoveryKind::NewReno] {
        let mut tcp = ten_segments(|given| given.tcp.recovery = recovery);
        tcp.at(100).echo_ack(1000).cwnd(5000).nothing();
        tcp.quiet_duplicates(2).duplicate().expect_marked([retransmission(1)], [Plain]);
        tcp.cwnd(5000).ssthresh(5000).ecn_reductions(1);
        tcp.at(200).echo_ack(10_000).cwnd(if recovery == RecoveryKind::Reno { 5000 } else { 2000 });
    }
}

#[test]
fn s6_1_2_the_same_with_sack_and_prr() {
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
fn s6_1_2_a_loss_behind_the_window_of_an_echo_reduces_again() {
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
fn s6_1_2_an_echo_in_the_window_of_a_loss_changes_nothing() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).quiet_duplicates(2).duplicate().expect([retransmission(0)]).cwnd(5000);
    tcp.at(200).echo_ack(5000).expect([retransmission(5)]).cwnd(5000);
    tcp.at(300).echo_ack(10_000).ecn_reductions(0).ssthresh(5000).anything();
}

/// The recovery of a loss that the echo's reduction covers may see echoes of later data: they are
/// answered when it is over, since the receiver echoes until CWR comes.
#[test]
fn an_echo_of_data_sent_since_the_reduction_is_answered_after_the_recovery() {
    let mut tcp = ten_segments(|_| ());
    tcp.at(100).echo_ack(1000).cwnd(5000);
    tcp.echo_ack(8000).expect_marked(new_segments(10, 13), [Cwr, Ect0, Ect0]);
    tcp.at(200).quiet_duplicates(2).duplicate();
    tcp.expect_marked([retransmission(8), new(13), new(14), new(15)], [Plain, Ect0, Ect0, Ect0]);
    tcp.cwnd(5000).at(300).echo_ack(13_000).ecn_reductions(1).anything();
    tcp.at(300).echo_ack(14_000).ecn_reductions(2).anything();
}

#[test]
fn s6_1_2_a_timeout_answers_the_echoes_of_what_was_sent_before_it() {
    let mut tcp = ten_segments(|_| ());
    tcp.timeout_at(1000).expect_marked([retransmission(0)], [Plain]).cwnd(1000);
    // Slow start continues, since only new data can carry CWR and end the echo.
    tcp.at(1100).echo_ack(1000).cwnd(2000).expect_marked(retransmissions(1, 3), [Plain, Plain]);
    tcp.at(1200).echo_ack(3000).cwnd(3000).expect(retransmissions(3, 6));
    tcp.at(1300).echo_ack(10_000).cwnd(4000).ecn_reductions(0);
    tcp.expect_marked(new_segments(10, 14), [Cwr, Ect0, Ect0, Ect0]);
    tcp.at(1400).echo_ack(11_000).cwnd(2000).ecn_reductions(1).nothing();
}

/// After a timeout the echo's reduction is history, even for segments of its window.
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
fn s6_1_2_with_a_window_of_one_segment_an_echo_waits_for_the_timer() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1000;
    });
    tcp.expect_marked([new(0)], [Ect0]);
    tcp.at(100).echo_ack(1000).nothing().cwnd(1000).timer(1100).ecn_reductions(1);
    tcp.timeout_at(1100).expect_marked([new(1)], [Cwr]).timeouts(0).cwnd(1000).timer(2100);
    tcp.at(1200).ack(2000).cwnd(2000).expect_marked(new_segments(2, 4), [Ect0, Ect0]);
}

/// The wait is no back-off: the timeout after it is the usual one.
#[test]
fn s6_1_2_the_segment_sent_after_the_wait_may_be_lost_like_any_other() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1000;
    });
    tcp.expect([new(0)]).at(100).echo_ack(1000).timeout_at(1100).expect([new(1)]);
    tcp.timeout_at(2100).expect_marked([retransmission(1)], [Plain]).timeouts(1).timer(4100);
}

/// RFC 5681 eq. 4: two segments are the least that a reduction leaves.
#[test]
fn a_window_of_two_segments_stays_and_says_cwr() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 2000;
    });
    tcp.expect(new_segments(0, 2)).at(100).echo_ack(2000).cwnd(2000).ssthresh(2000);
    tcp.expect_marked(new_segments(2, 4), [Cwr, Ect0]).ecn_reductions(1);
}

#[test]
fn a_finished_transfer_waits_for_no_timer() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1000;
        given.transfer = Some(1000);
    });
    tcp.expect([new(0)]).at(100).echo_ack(1000).nothing().no_timer();
}

#[test]
fn a_transfer_finished_after_an_echo_waits_for_no_timer() {
    let mut tcp = sender(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.initial_window = 1900;
        given.transfer = Some(1500);
    });
    tcp.expect([new(0), part(1000, 500)]).at(100).echo_ack(1000).nothing();
    tcp.at(200).ack(1500).nothing().no_timer();
}

// --- a closed receive window, §6.1.6 -----------------------------------------------------------

/// Ten segments that fill the receiver's window.
fn ten_that_fill_the_window() -> SenderScript {
    ten_segments(|given| given.tcp.receive_window = 10_000)
}

#[test]
fn s6_1_6_a_probe_is_not_ecn_capable_and_announces_nothing() {
    let mut tcp = ten_that_fill_the_window();
    tcp.at(100).echo_ack_with_window(10_000, 0).cwnd(5000).nothing();
    tcp.timeout_at(1100).expect_marked([part(10_000, 1)], [Plain]);
    tcp.at(1200).echo_ack_with_window(10_000, 2000);
    tcp.expect_marked(new_segments(10, 12), [Cwr, Ect0]).cwnd(5000).ecn_reductions(1);
}

/// The probe has not brought CWR, so its answer says nothing new.
#[test]
fn s6_1_2_the_answer_to_a_taken_probe_is_an_old_echo() {
    let mut tcp = ten_that_fill_the_window();
    tcp.at(100).echo_ack_with_window(10_000, 0).cwnd(5000).nothing();
    tcp.timeout_at(1100).expect([part(10_000, 1)]);
    tcp.at(1200).echo_ack_with_window(10_001, 2000).cwnd(5000).ecn_reductions(1);
    tcp.expect_marked([part(10_001, 1000), part(11_001, 1000)], [Cwr, Ect0]);
    tcp.at(1300).echo_ack_with_window(12_001, 0).ecn_reductions(2).nothing();
}

/// RFC 9293 §3.8.6.1: the persist timer indicates no loss.
#[test]
fn the_persist_timer_reduces_and_announces_nothing() {
    let mut tcp = ten_that_fill_the_window();
    tcp.at(100).ack_with_window(10_000, 0).cwnd(11_000).nothing();
    tcp.timeout_at(1100).expect_marked([part(10_000, 1)], [Plain]).timeouts(0);
    tcp.at(1200).ack_with_window(10_000, 1000).expect_marked([new(10)], [Ect0]).cwnd(11_000);
}

/// A sender whose window of one segment was echoed upon, with a closed receive window.
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
fn s6_1_2_a_window_that_opens_does_not_end_the_wait_for_the_timer() {
    let mut tcp = waiting();
    tcp.at(500).window_update(1000).nothing().timer(1100);
    tcp.timeout_at(1100).expect_marked([new(1)], [Cwr]).probes(0);
}

#[test]
fn a_window_that_is_closed_when_the_wait_ends_is_probed() {
    let mut tcp = waiting();
    tcp.timeout_at(1100).nothing().timer(2100);
    tcp.timeout_at(2100).expect_marked([part(1000, 1)], [Plain]).timeouts(0).probes(1);
}

// --- the receiver, §6.1.3 ----------------------------------------------------------------------

#[test]
fn s6_1_3_every_ack_echoes_from_a_mark_until_cwr() {
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
fn s6_1_3_a_marked_segment_with_cwr_is_news() {
    let mut tcp = receiver(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.delayed_ack_segments = 1;
    });
    tcp.marked(0, Ecn::Ce, Flags::NONE).echo_ack(1000);
    tcp.marked(1, Ecn::Ce, Flags::CWR).echo_ack(2000);
    tcp.marked(2, Ecn::Ect0, Flags::CWR).ack(3000);
}

/// An ACK at once is DCTCP's way.
#[test]
fn s6_1_3_a_mark_does_not_hurry_a_delayed_ack() {
    let mut tcp = receiver(|given| given.tcp.ecn = EcnUse::On);
    tcp.marked(0, Ecn::Ce, Flags::NONE).nothing();
    tcp.at(10).marked(1, Ecn::Ect0, Flags::NONE).echo_ack(2000);
    tcp.marked(2, Ecn::Ect0, Flags::CWR).nothing().timeout_at(210).ack(3000);
    tcp.marked(3, Ecn::Ce, Flags::NONE).nothing().timeout_at(410).echo_ack(4000);
}

#[test]
fn s6_1_5_a_mark_on_old_data_means_nothing() {
    let mut tcp = receiver(|given| {
        given.tcp.ecn = EcnUse::On;
        given.tcp.delayed_ack_segments = 1;
    });
    tcp.marked(0, Ecn::Ect0, Flags::NONE).ack(1000);
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000);
}

/// §6.1.5: the mark is on data from outside of the window.
#[test]
fn a_mark_on_a_refused_segment_means_nothing() {
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
fn a_setup_syn_ack_has_the_unscaled_window_of_any_other() {
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
fn a_receiver_without_ecn_echoes_nothing() {
    receiver(|given| given.tcp.delayed_ack_segments = 1).marked(0, Ecn::Ce, Flags::NONE).ack(1000);
}
