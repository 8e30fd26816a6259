//! VCP: the load code of every segment, its echo, and the window that follows it (Xia et al. 2005 and the
//! public ns-2 package).

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script;
use crate::script::Mark::Low;
use crate::script::{
    Given, ReceiverScript, Segment, SenderScript, new, new_segments, ns2, ns2_sender, receiver,
    retransmission, retransmissions, sender,
};
use airpath_core::{Ecn, Flags};
use airpath_tcp::{EcnUse, RecoveryKind, TcpConfig};
use serde_json::{Value, json};

const WINDOW: u32 = 1_000_000;

/// Echoes of the codes.
const LOW: f32 = 1.0;
const HIGH: f32 = 2.0;
const OVERLOAD: f32 = 3.0;

/// The public package's parameters, with an exact RTT.
fn law() -> Value {
    json!({
        "kind": "vcp", "kappa": 0.25, "alpha": 1.0, "beta": 0.875, "interval_ns": 200_000_000,
        "limiters": true, "granularity_ns": 0})
}

fn with_vcp(given: &mut Given) {
    given.cc = law();
    given.tcp.ecn = EcnUse::Vcp;
    given.tcp.receive_window = 1_000_000;
    given.tcp.initial_ssthresh = None;
}

/// A sender of profile `ns2` with ten segments sent at 0, at an RTT of 200 ms from the first ACK on.
fn ten_segments(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.initial_window = 10_000;
        change(given);
    });
    tcp.expect_marked(new_segments(0, 10), [Low; 10]).at(200);
    tcp
}

// --- what leaves -----------------------------------------------------------------------------------

#[test]
fn syn_and_data_leave_with_the_code_for_low_and_nothing_is_agreed_on() {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.handshake = true;
    });
    tcp.expect_marked([Segment::Syn], [Low]);
    tcp.at(100).syn_ack(WINDOW).expect_marked(new_segments(0, 2), [Low, Low]);
}

#[test]
fn retransmitted_syn_and_segments_leave_with_it_too() {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.handshake = true;
    });
    tcp.expect_marked([Segment::Syn], [Low]);
    tcp.timeout_at(3000).expect_marked([Segment::Syn], [Low]);
    tcp.at(3100).syn_ack(WINDOW).expect_marked(new_segments(0, 2), [Low, Low]);
    tcp.timeout_at(9100).expect_marked([retransmission(0)], [Low]);
}

#[test]
fn a_fast_retransmit_and_limited_transmit_leave_with_it_too() {
    let mut tcp = ten_segments(|_| ());
    tcp.duplicate().expect_marked([new(10)], [Low]);
    tcp.duplicate().expect_marked([new(11)], [Low]);
    tcp.duplicate().nothing();
}

#[test]
fn a_probe_of_a_closed_window_leaves_with_it_too() {
    let mut tcp = ten_segments(|given| given.tcp.receive_window = 10_000);
    tcp.ack_with_window(10_000, 0).nothing();
    let due = tcp.timer_ms();
    tcp.timeout_at(due).expect_marked([script::part(10_000, 1)], [Low]);
}

/// ECE means nothing: the code alone rules.
#[test]
fn an_ece_does_not_reduce_the_window() {
    let mut tcp = ten_segments(|_| ());
    tcp.echo_ack(1000).cwnd(10_062).ecn_reductions(0).expect([new(10)]);
}

// --- the echo -----------------------------------------------------------------------------------

fn receiver_of(acks: u32) -> ReceiverScript {
    receiver(|given| {
        given.tcp = TcpConfig { ecn: EcnUse::Vcp, delayed_ack_segments: acks, ..ns2() };
    })
}

#[test]
fn each_ack_echoes_the_field_of_the_segment_that_it_acknowledges() {
    let mut tcp = receiver_of(1);
    for (index, (ecn, code)) in
        [(Ecn::Ect1, 1.0), (Ecn::Ect0, 2.0), (Ecn::Ce, 3.0), (Ecn::NotEct, 0.0), (Ecn::Ect1, 1.0)]
            .into_iter()
            .enumerate()
    {
        let index = index as u64;
        tcp.marked(index, ecn, Flags::NONE).ack((index + 1) * 1000).feedback(code);
    }
}

#[test]
fn the_syn_ack_echoes_the_field_of_the_syn() {
    for (ecn, code) in [(Ecn::Ect1, 1.0), (Ecn::Ce, 3.0)] {
        receiver_of(1).marked_syn(ecn).syn_ack().feedback(code);
    }
}

/// It was answered with the code of the segment before it.
#[test]
fn the_answer_to_an_old_syn_echoes_its_own_field() {
    let mut tcp = receiver_of(1);
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000).feedback(OVERLOAD);
    tcp.marked_syn(Ecn::Ect1).ack(1000).feedback(LOW);
}

#[test]
fn with_delayed_acks_the_echo_is_the_highest_since_the_last() {
    let mut tcp = receiver_of(2);
    tcp.marked(0, Ecn::Ce, Flags::NONE).nothing();
    tcp.marked(1, Ecn::Ect1, Flags::NONE).ack(2000).feedback(OVERLOAD);
    tcp.marked(2, Ecn::Ect1, Flags::NONE).nothing();
    tcp.marked(3, Ecn::Ect0, Flags::NONE).ack(4000).feedback(HIGH);
    tcp.marked(4, Ecn::Ect0, Flags::NONE).nothing().timeout_at(100).ack(5000).feedback(HIGH);
    tcp.marked(5, Ecn::Ect1, Flags::NONE).nothing();
    tcp.marked(6, Ecn::Ect1, Flags::NONE).ack(7000).feedback(LOW);
}

/// A code is sent in one ACK only: a lost ACK loses its code.
#[test]
fn the_code_of_a_lost_ack_is_not_repeated() {
    let mut tcp = receiver_of(1);
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000).feedback(OVERLOAD);
    tcp.marked(1, Ecn::Ect1, Flags::NONE).ack(2000).feedback(LOW);
}

#[test]
fn a_segment_behind_a_hole_is_echoed_by_its_duplicate_ack_and_the_hole_by_its_own() {
    let mut tcp = receiver_of(1);
    tcp.marked(1, Ecn::Ce, Flags::NONE).ack(0).feedback(OVERLOAD);
    tcp.marked(0, Ecn::Ect1, Flags::RETRANSMITTED).ack(2000).feedback(LOW);
}

/// A price on the data, which CLAMP's queue writes, is not taken for a code.
#[test]
fn a_price_is_not_echoed() {
    let mut tcp = receiver_of(1);
    tcp.priced_bytes(0, 1000, 0.7).ack(1000).feedback(0.0);
}

#[test]
fn the_receiver_never_says_ece() {
    let mut tcp = receiver_of(1);
    tcp.marked_syn(Ecn::Ce).syn_ack();
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000);
}

// --- the window -----------------------------------------------------------------------------------

#[test]
fn low_multiplies_high_adds_and_overload_reduces_once() {
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    // α_s = (200 ms/100 ms)² = 4: by 4/w, of which the limiter leaves 0.06.
    tcp.code_ack(2000, HIGH).cwnd(10_122).expect([new(11)]);
    tcp.code_ack(3000, OVERLOAD).cwnd(8857).nothing();
    tcp.code_ack(4000, OVERLOAD).cwnd(8857).nothing();
    tcp.at(399).code_ack(5000, OVERLOAD).cwnd(8857).expect([new(12)]);
    // The freeze of 200 ms is over: AI, by 0.0616 packets.
    tcp.at(400).code_ack(6000, OVERLOAD).cwnd(8918).expect([new(13)]);
}

/// A mark that any other discipline sets is 11, which is overload.
#[test]
fn marks_of_other_disciplines_read_as_overload() {
    let mut far_end = receiver_of(1);
    far_end.marked(0, Ecn::Ce, Flags::NONE).ack(1000).feedback(OVERLOAD);
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, OVERLOAD).cwnd(8750).nothing();
}

/// The field of an ECN flow's data, ECT(0), is the code for high.
#[test]
fn ect0_reads_as_high() {
    receiver_of(1).marked(0, Ecn::Ect0, Flags::NONE).ack(1000).feedback(HIGH);
}

#[test]
fn codes_in_duplicate_acks_are_not_examined() {
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    tcp.code_ack(1000, OVERLOAD).cwnd(10_062).expect([new(11)]);
    tcp.code_ack(1000, OVERLOAD).cwnd(10_062).expect([new(12)]);
    // The third halves, regardless of its code, to the byte below 5.03125 packets.
    tcp.code_ack(1000, LOW).cwnd(5031).expect([retransmission(1)]);
}

#[test]
fn the_ack_that_ends_a_recovery_is_examined() {
    for (code, cwnd) in [(LOW, 5093), (OVERLOAD, 4402)] {
        let mut tcp = ten_segments(|_| ());
        tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
        tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
        tcp.duplicate().expect([retransmission(1)]).cwnd(5031);
        tcp.at(400).code_ack(13_000, code).cwnd(cwnd).anything();
    }
}

#[test]
fn after_a_timeout_growth_is_mi_and_no_slow_start() {
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, LOW).expect([new(10)]);
    let due = tcp.timer_ms();
    tcp.timeout_at(due).expect([retransmission(1)]).cwnd(1000).ssthresh(5031);
    tcp.at(due + 200).code_ack(2000, LOW).cwnd(1062).expect([retransmission(2)]);
}

#[test]
fn an_ignored_loss_is_repaired_and_leaves_the_window() {
    let mut tcp = ten_segments(|given| given.cc["on_loss"] = json!("ignore"));
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().cwnd(10_062).expect([retransmission(1), new(13)]);
}

#[test]
fn an_ignored_timeout_sends_a_window_again() {
    let mut tcp = ten_segments(|given| given.cc["on_loss"] = json!("ignore"));
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    let due = tcp.timer_ms();
    tcp.timeout_at(due).cwnd(10_062).expect(retransmissions(1, 11)).timeouts(1);
}

#[test]
fn a_loss_that_overload_announced_is_not_ignored() {
    let mut tcp = ten_segments(|given| given.cc["on_loss"] = json!("ignore"));
    tcp.code_ack(1000, OVERLOAD).cwnd(8750).nothing();
    tcp.duplicate().expect([]).duplicate().expect([new(10)]);
    tcp.duplicate().cwnd(4375).expect([retransmission(1)]);
}

/// The first window of two packets, and no delayed growth: the SYN-ACK is not examined.
#[test]
fn the_answer_to_the_syn_does_not_enlarge_the_window() {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.handshake = true;
    });
    tcp.expect([Segment::Syn]).at(100).syn_ack(WINDOW).cwnd(2000).anything();
}

#[test]
fn a_lost_syn_leaves_the_initial_window() {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.handshake = true;
    });
    tcp.expect([Segment::Syn]).timeout_at(3000).expect([Segment::Syn]);
    tcp.at(3100).syn_ack(WINDOW).cwnd(2000).expect(new_segments(0, 2));
}

// --- with other recoveries ----------------------------------------------------------------------------

/// Partial ACKs are not examined; the one that ends the recovery is.
#[test]
fn with_sack_codes_in_a_recovery_are_not_examined() {
    let mut tcp = sender(|given| {
        with_vcp(given);
        given.tcp.recovery = RecoveryKind::Sack;
    });
    tcp.expect(new_segments(0, 10)).at(200);
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    for block in [2000..3000, 2000..4000] {
        tcp.sack(1000, [block]).nothing();
    }
    tcp.sack(1000, [2000..5000]).cwnd(5031).anything();
    tcp.at(400).code_ack(5000, OVERLOAD).cwnd(5031).anything();
    tcp.code_ack(11_000, OVERLOAD).cwnd(4402).anything();
}
