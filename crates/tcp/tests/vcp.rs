//! VCP: load code of every segment, its echo, and the resulting window (Xia et al. 2005 and the
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

/// Echoed load codes.
const LOW: f32 = 1.0;
const HIGH: f32 = 2.0;
const OVERLOAD: f32 = 3.0;

/// Returns the parameters of the public package, with an exact RTT.
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

/// Creates a sender of profile `ns2` with ten segments sent at 0, and an RTT of 200 ms from the
/// first ACK on.
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
fn syn_and_data_have_the_code_for_low_without_negotiation() {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.handshake = true;
    });
    tcp.expect_marked([Segment::Syn], [Low]);
    tcp.at(100).syn_ack(WINDOW).expect_marked(new_segments(0, 2), [Low, Low]);
}

#[test]
fn retransmitted_syn_and_segments_have_the_code_for_low() {
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
fn fast_retransmit_and_limited_transmit_have_the_code_for_low() {
    let mut tcp = ten_segments(|_| ());
    tcp.duplicate().expect_marked([new(10)], [Low]);
    tcp.duplicate().expect_marked([new(11)], [Low]);
    tcp.duplicate().nothing();
}

#[test]
fn probe_of_a_closed_window_has_the_code_for_low() {
    let mut tcp = ten_segments(|given| given.tcp.receive_window = 10_000);
    tcp.ack_with_window(10_000, 0).nothing();
    let due = tcp.timer_ms();
    tcp.timeout_at(due).expect_marked([script::part(10_000, 1)], [Low]);
}

/// ECE is ignored: only the load code counts.
#[test]
fn ece_does_not_reduce_the_window() {
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
fn each_ack_echoes_the_code_of_its_segment() {
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
fn syn_ack_echoes_the_code_of_the_syn() {
    for (ecn, code) in [(Ecn::Ect1, 1.0), (Ecn::Ce, 3.0)] {
        receiver_of(1).marked_syn(ecn).syn_ack().feedback(code);
    }
}

/// The answer must not echo the code of the previous segment.
#[test]
fn answer_to_an_old_syn_echoes_the_code_of_the_syn() {
    let mut tcp = receiver_of(1);
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000).feedback(OVERLOAD);
    tcp.marked_syn(Ecn::Ect1).ack(1000).feedback(LOW);
}

#[test]
fn delayed_ack_echoes_the_highest_code_since_the_last_ack() {
    let mut tcp = receiver_of(2);
    tcp.marked(0, Ecn::Ce, Flags::NONE).nothing();
    tcp.marked(1, Ecn::Ect1, Flags::NONE).ack(2000).feedback(OVERLOAD);
    tcp.marked(2, Ecn::Ect1, Flags::NONE).nothing();
    tcp.marked(3, Ecn::Ect0, Flags::NONE).ack(4000).feedback(HIGH);
    tcp.marked(4, Ecn::Ect0, Flags::NONE).nothing().timeout_at(100).ack(5000).feedback(HIGH);
    tcp.marked(5, Ecn::Ect1, Flags::NONE).nothing();
    tcp.marked(6, Ecn::Ect1, Flags::NONE).ack(7000).feedback(LOW);
}

/// A code is echoed in one ACK only: a lost ACK loses its code.
#[test]
fn code_of_a_lost_ack_is_not_repeated() {
    let mut tcp = receiver_of(1);
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000).feedback(OVERLOAD);
    tcp.marked(1, Ecn::Ect1, Flags::NONE).ack(2000).feedback(LOW);
}

#[test]
fn duplicate_ack_echoes_the_code_of_the_segment_beyond_the_hole() {
    let mut tcp = receiver_of(1);
    tcp.marked(1, Ecn::Ce, Flags::NONE).ack(0).feedback(OVERLOAD);
    tcp.marked(0, Ecn::Ect1, Flags::RETRANSMITTED).ack(2000).feedback(LOW);
}

/// A price in the data, written by a queue of CLAMP, does not count as a code.
#[test]
fn price_is_not_echoed() {
    let mut tcp = receiver_of(1);
    tcp.priced_bytes(0, 1000, 0.7).ack(1000).feedback(0.0);
}

#[test]
fn receiver_never_sends_ece() {
    let mut tcp = receiver_of(1);
    tcp.marked_syn(Ecn::Ce).syn_ack();
    tcp.marked(0, Ecn::Ce, Flags::NONE).ack(1000);
}

// --- the window -----------------------------------------------------------------------------------

#[test]
fn low_multiplies_high_adds_and_overload_reduces_once() {
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    // α_s = (200 ms/100 ms)² = 4: growth by 4/w, limited to 0.06.
    tcp.code_ack(2000, HIGH).cwnd(10_122).expect([new(11)]);
    tcp.code_ack(3000, OVERLOAD).cwnd(8857).nothing();
    tcp.code_ack(4000, OVERLOAD).cwnd(8857).nothing();
    tcp.at(399).code_ack(5000, OVERLOAD).cwnd(8857).expect([new(12)]);
    // The freeze of 200 ms has ended: AI, by 0.0616 packets.
    tcp.at(400).code_ack(6000, OVERLOAD).cwnd(8918).expect([new(13)]);
}

/// A mark of any other queue discipline is the codepoint 11, which is the code for overload.
#[test]
fn marks_of_other_disciplines_count_as_overload() {
    let mut far_end = receiver_of(1);
    far_end.marked(0, Ecn::Ce, Flags::NONE).ack(1000).feedback(OVERLOAD);
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, OVERLOAD).cwnd(8750).nothing();
}

/// ECT(0), the codepoint in data of an ECN flow, is the code for high.
#[test]
fn ect0_counts_as_high() {
    receiver_of(1).marked(0, Ecn::Ect0, Flags::NONE).ack(1000).feedback(HIGH);
}

#[test]
fn codes_in_duplicate_acks_are_ignored() {
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    tcp.code_ack(1000, OVERLOAD).cwnd(10_062).expect([new(11)]);
    tcp.code_ack(1000, OVERLOAD).cwnd(10_062).expect([new(12)]);
    // The third duplicate ACK halves the window, regardless of its code: 5.03125 packets, truncated
    // to bytes.
    tcp.code_ack(1000, LOW).cwnd(5031).expect([retransmission(1)]);
}

#[test]
fn code_in_the_ack_that_ends_a_recovery_is_applied() {
    for (code, cwnd) in [(LOW, 5093), (OVERLOAD, 4402)] {
        let mut tcp = ten_segments(|_| ());
        tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
        tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
        tcp.duplicate().expect([retransmission(1)]).cwnd(5031);
        tcp.at(400).code_ack(13_000, code).cwnd(cwnd).anything();
    }
}

#[test]
fn window_grows_by_mi_after_a_timeout() {
    let mut tcp = ten_segments(|_| ());
    tcp.code_ack(1000, LOW).expect([new(10)]);
    let due = tcp.timer_ms();
    tcp.timeout_at(due).expect([retransmission(1)]).cwnd(1000).ssthresh(5031);
    tcp.at(due + 200).code_ack(2000, LOW).cwnd(1062).expect([retransmission(2)]);
}

#[test]
fn ignored_loss_is_retransmitted_without_a_reduction() {
    let mut tcp = ten_segments(|given| given.cc["on_loss"] = json!("ignore"));
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().cwnd(10_062).expect([retransmission(1), new(13)]);
}

#[test]
fn ignored_timeout_retransmits_a_window() {
    let mut tcp = ten_segments(|given| given.cc["on_loss"] = json!("ignore"));
    tcp.code_ack(1000, LOW).cwnd(10_062).expect([new(10)]);
    let due = tcp.timer_ms();
    tcp.timeout_at(due).cwnd(10_062).expect(retransmissions(1, 11)).timeouts(1);
}

#[test]
fn loss_after_overload_is_not_ignored() {
    let mut tcp = ten_segments(|given| given.cc["on_loss"] = json!("ignore"));
    tcp.code_ack(1000, OVERLOAD).cwnd(8750).nothing();
    tcp.duplicate().expect([]).duplicate().expect([new(10)]);
    tcp.duplicate().cwnd(4375).expect([retransmission(1)]);
}

/// The first window has two packets and does not grow: the code in the SYN-ACK is ignored.
#[test]
fn syn_ack_does_not_enlarge_the_window() {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.handshake = true;
    });
    tcp.expect([Segment::Syn]).at(100).syn_ack(WINDOW).cwnd(2000).anything();
}

#[test]
fn lost_syn_keeps_the_initial_window() {
    let mut tcp = ns2_sender(|given| {
        with_vcp(given);
        given.tcp.handshake = true;
    });
    tcp.expect([Segment::Syn]).timeout_at(3000).expect([Segment::Syn]);
    tcp.at(3100).syn_ack(WINDOW).cwnd(2000).expect(new_segments(0, 2));
}

// --- with other recoveries ----------------------------------------------------------------------------

/// Codes in partial ACKs are ignored; the code in the ACK that ends the recovery is applied.
#[test]
fn codes_in_a_recovery_with_sack_are_ignored() {
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
