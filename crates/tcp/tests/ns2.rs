//! Deviations from the RFCs of the one-way Reno agent of profile `ns2`. The expected values come
//! from ns-2's `tcp.cc` and `tcp-reno.cc`, not from an RFC.

use crate::script::Mark::{Cwr, Ect0};
use crate::script::{
    Given, Segment, SenderScript, new, new_segments, ns2, ns2_sender, receiver, retransmission,
};
use airpath_core::{Duration, Ecn, Flags};
use airpath_tcp::{EcnUse, RecoveryKind, TcpConfig};
use serde_json::json;

const WINDOW: u32 = 20_000;

/// Sends ten segments at 0 in congestion avoidance; the first one is acknowledged at 100 ms.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ns2_sender(|given| {
        given.in_congestion_avoidance(10_000);
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(3000);
    tcp.at(100).ack(1000).cwnd(10_100).expect([new(10)]);
    tcp
}

// --- opening -----------------------------------------------------------------------------------------

#[test]
fn connection_begins_with_two_segments_and_ssthresh_at_the_window() {
    let mut tcp = ns2_sender(|given| given.tcp.handshake = true);
    tcp.expect([Segment::Syn]).timer(3000);
    tcp.at(100).syn_ack(WINDOW).ssthresh(20_000).expect(new_segments(0, 2));
}

/// The timeout remains backed off until there is an RTT sample. The retransmitted SYN gives none.
#[test]
fn lost_syn_keeps_the_initial_window_and_the_backed_off_timer() {
    let mut tcp = ns2_sender(|given| given.tcp.handshake = true);
    tcp.expect([Segment::Syn]).timeout_at(3000).expect([Segment::Syn]).timer(9000);
    tcp.at(3100).syn_ack(WINDOW).cwnd(2000).expect(new_segments(0, 2)).timer(9100);
    // 100 ms are 10 ticks, RTO 300 ms.
    tcp.at(3200).ack(1000).expect(new_segments(2, 4)).timer(3500);
}

#[test]
fn syns_are_sent_at_0_3_9_and_21_s() {
    let mut tcp = ns2_sender(|given| given.tcp.handshake = true);
    tcp.expect([Segment::Syn]);
    for at in [3000, 9000, 21_000, 45_000] {
        tcp.timeout_at(at).expect([Segment::Syn]);
    }
    // The timeout is at most 60 s.
    tcp.timer(45_000 + 48_000).timeout_at(93_000).expect([Segment::Syn]).timer(153_000);
}

#[test]
fn syns_with_an_initial_rto_of_6_s_are_sent_at_0_6_and_18_s() {
    let mut tcp = ns2_sender(|given| {
        given.tcp.handshake = true;
        given.tcp.initial_rto = Duration::from_secs(6);
    });
    tcp.expect([Segment::Syn]).timeout_at(6000).expect([Segment::Syn]);
    tcp.timeout_at(18_000).expect([Segment::Syn]);
}

#[test]
fn receiver_acknowledges_each_segment_immediately() {
    let mut tcp = receiver(|given| given.tcp = ns2());
    tcp.segment(0).ack(1000).segment(1).ack(2000).segment(3).ack(2000);
}

// --- growth --------------------------------------------------------------------------------------------

#[test]
fn slow_start_adds_a_segment_per_ack_up_to_ssthresh_and_then_a_share() {
    let mut tcp = ns2_sender(|given| given.tcp.initial_ssthresh = Some(4000));
    tcp.expect(new_segments(0, 2)).at(100).ack(1000).cwnd(3000).anything();
    tcp.ack(2000).cwnd(4000).anything();
    tcp.ack(3000).cwnd(4250).anything();
    // An ACK of two segments does not add more.
    tcp.ack(5000).cwnd(4250 + 235).anything();
}

/// `window_` limits the flight, not the growth of the window.
#[test]
fn receive_window_limits_the_flight() {
    let mut tcp = ns2_sender(|given| given.in_congestion_avoidance(20_000));
    tcp.expect(new_segments(0, 20)).at(100).ack_with_window(20_000, WINDOW).cwnd(20_050);
    tcp.expect(new_segments(20, 40));
}

// --- losses ----------------------------------------------------------------------------------------------

#[test]
fn loss_releases_limited_transmit_and_halves_the_window() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().cwnd(5050).ssthresh(5050).expect([retransmission(1)]);
}

#[test]
fn ack_that_ends_a_recovery_enlarges_the_window() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().expect([retransmission(1)]);
    tcp.at(200).ack(13_000).cwnd(5050 + 198).expect(new_segments(13, 18));
}

/// cwnd exceeds the receive window: the smaller value is halved.
#[test]
fn loss_halves_at_most_the_receive_window() {
    let mut tcp = ns2_sender(|given| {
        given.in_congestion_avoidance(30_000);
        given.tcp.receive_window = 8000;
    });
    tcp.expect(new_segments(0, 8)).at(100).ack_with_window(1000, 8000).expect([new(8)]);
    tcp.duplicate().nothing().duplicate().nothing();
    tcp.duplicate().cwnd(4000).ssthresh(4000).expect([retransmission(1)]);
}

/// ssthresh does not depend on the outstanding data: at the second timeout the window is one
/// segment.
#[test]
fn second_timeout_computes_ssthresh_from_the_window() {
    let mut tcp = ten_in_flight(|_| ());
    let due = tcp.timer_ms();
    tcp.timeout_at(due).expect([retransmission(1)]).cwnd(1000).ssthresh(5050);
    let due = tcp.timer_ms();
    tcp.timeout_at(due).expect([retransmission(1)]).cwnd(1000).ssthresh(2000);
}

#[test]
fn halving_leaves_one_segment_and_an_ssthresh_of_two() {
    let mut tcp = ns2_sender(|given| given.in_congestion_avoidance(2000));
    tcp.expect(new_segments(0, 2)).at(100).ack(2000).cwnd(2500).expect(new_segments(2, 4));
    tcp.duplicate().expect([new(4)]).duplicate().expect([new(5)]);
    tcp.duplicate().cwnd(1250).ssthresh(2000).expect([retransmission(2)]);
    // The ACK that ends the recovery grows the window by slow start, because cwnd is below
    // ssthresh.
    tcp.at(200).ack(6000).cwnd(2250).expect(new_segments(6, 8));
}

/// `bugFix_`: three duplicate ACKs for data sent before the last loss do not start a recovery.
#[test]
fn reno_retransmits_fast_once_per_window() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().expect([retransmission(1)]);
    // The hole at 1 is filled. The hole at 3 belongs to the same window.
    tcp.at(200).ack(3000).cwnd(5050 + 198).nothing();
    for _ in 0..8 {
        tcp.duplicate().anything().cwnd(5050 + 198);
    }
    let due = tcp.timer_ms();
    tcp.timeout_at(due).expect([retransmission(3)]).timeouts(1);
}

#[test]
fn loss_of_later_data_begins_another_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().expect([retransmission(1)]);
    tcp.at(200).ack(13_000).expect(new_segments(13, 18));
    tcp.at(300).ack(14_000).expect([new(18)]);
    tcp.duplicate().expect([new(19)]).duplicate().expect([new(20)]);
    tcp.duplicate().expect([retransmission(14)]);
}

/// `recover_` starts with the number of the SYN.
#[test]
fn loss_of_the_first_segment_waits_for_the_timer() {
    let mut tcp = ns2_sender(|given| given.in_congestion_avoidance(4000));
    tcp.expect(new_segments(0, 4))
        .at(100)
        .duplicate()
        .expect([new(4)])
        .duplicate()
        .expect([new(5)]);
    tcp.quiet_duplicates(3).timeout_at(3000).expect([retransmission(0)]);
}

/// NewReno in the same profile has the guard of RFC 6582, as in other profiles.
#[test]
fn newreno_retransmits_one_hole_per_partial_ack() {
    let mut tcp = ten_in_flight(|given| given.tcp.recovery = RecoveryKind::NewReno);
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().expect([retransmission(1)]);
    tcp.at(200).ack(3000).expect([retransmission(3)]);
}

// --- the retransmission timer ---------------------------------------------------------------------------

/// Segments 0 to 9 are sent at 0 and segment 10 at 100 ms: segment 0 is timed first, then segment
/// 10.
#[test]
fn rtt_is_measured_with_one_segment_at_a_time() {
    let mut tcp = ten_in_flight(|_| ());
    // SRTT 100 ms, RTTVAR 50 ms.
    tcp.timer(400);
    // No sample of 300 ms from segments 1 to 9, which are not timed.
    tcp.at(300).ack(10_000).anything().timer(600);
    // Segment 10: 250 ms. RTTVAR 75, SRTT 118.75, RTO 418 ms rounded to ticks.
    tcp.at(350).ack(11_000).anything().timer(350 + 410);
}

#[test]
fn retransmission_cancels_the_rtt_measurement() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().expect([retransmission(1)]);
    // Segment 10 was timed since 100 ms; segment 13 is timed from now on.
    tcp.at(250).ack(13_000).expect(new_segments(13, 18)).timer(550);
    tcp.at(350).ack(14_000).anything().timer(350 + 250);
}

#[test]
fn timeout_cancels_the_rtt_measurement() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(400).expect([retransmission(1)]).timer(1000);
    // The back-off remains until there is a sample. The segment timed before the timeout gives
    // none.
    tcp.at(500).ack(11_000).expect(new_segments(11, 13)).timer(1100);
    tcp.at(600).ack(12_000).anything().timer(600 + 250);
}

#[test]
fn rto_is_a_multiple_of_ten_ms_and_at_least_200() {
    let mut tcp = ns2_sender(|given| given.in_congestion_avoidance(1000));
    tcp.expect([new(0)]).at(83).ack(1000).expect(new_segments(1, 3)).timer(83 + 240);
    let mut tcp = ns2_sender(|given| given.in_congestion_avoidance(1000));
    tcp.expect([new(0)]).at(7).ack(1000).expect(new_segments(1, 3)).timer(207);
}

#[test]
fn rto_backs_off_to_64_times_and_60_s() {
    let mut tcp = ns2_sender(|given| given.in_congestion_avoidance(1000));
    tcp.expect([new(0)]).at(10).ack(1000).expect(new_segments(1, 3));
    let mut now = 10;
    for rto in [200, 400, 800, 1600, 3200, 6400, 12_800, 12_800] {
        now += rto;
        tcp.timeout_at(now).expect([retransmission(1)]);
    }
}

// --- marks -----------------------------------------------------------------------------------------------

fn with_ecn(given: &mut Given) {
    given.tcp.ecn = EcnUse::On;
}

#[test]
fn retransmissions_are_ecn_capable() {
    let mut tcp = ns2_sender(|given| {
        with_ecn(given);
        given.in_congestion_avoidance(10_000);
    });
    tcp.expect_marked(new_segments(0, 10), [Ect0; 10]).at(100).ack(1000).expect([new(10)]);
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().expect_marked([retransmission(1)], [Ect0]);
    // The next new segment announces the reduction.
    tcp.duplicate().nothing().duplicate().nothing().duplicate().nothing();
    tcp.at(200).ack(13_000).expect_marked(new_segments(13, 18), [Cwr, Ect0, Ect0, Ect0, Ect0]);
}

#[test]
fn echoes_and_losses_halve_the_window_once_per_window_of_data() {
    let mut tcp = ten_in_flight(with_ecn);
    tcp.echo_ack(2000).cwnd(5050).ssthresh(5050).nothing();
    tcp.echo_ack(3000).cwnd(5050).nothing();
    tcp.duplicate().expect([]).duplicate().nothing();
    tcp.duplicate().cwnd(5050).expect([retransmission(3)]).ecn_reductions(1);
}

#[test]
fn echoes_reduce_the_window_to_one_segment_without_a_wait() {
    let mut tcp = ns2_sender(|given| {
        with_ecn(given);
        given.in_congestion_avoidance(3000);
    });
    tcp.expect(new_segments(0, 3))
        .at(100)
        .echo_ack(3000)
        .cwnd(1500)
        .ssthresh(2000)
        .expect([new(3)]);
    tcp.at(200).echo_ack(4000).cwnd(1000).expect([new(4)]);
    tcp.at(300).echo_ack(5000).cwnd(1000).ecn_reductions(3).expect([new(5)]);
}

#[test]
fn echo_in_the_ack_that_ends_a_recovery_prevents_growth() {
    let mut tcp = ten_in_flight(with_ecn);
    tcp.duplicate().expect([new(11)]).duplicate().expect([new(12)]);
    tcp.duplicate().expect([retransmission(1)]).cwnd(5050);
    tcp.at(200).echo_ack(13_000).cwnd(5050).anything();
}

#[test]
fn receiver_echoes_marks_as_in_rfc_3168() {
    let mut tcp = receiver(|given| given.tcp = TcpConfig { ecn: EcnUse::On, ..ns2() });
    tcp.marked(0, Ecn::Ce, Flags::NONE).echo_ack(1000);
    tcp.marked(1, Ecn::Ect0, Flags::NONE).echo_ack(2000);
    tcp.marked(2, Ecn::Ect0, Flags::CWR).ack(3000);
}

// --- what is refused -------------------------------------------------------------------------------------

/// CUBIC in the same profile: the window growth is CUBIC's, the recovery is ns-2's.
#[test]
fn cubic_uses_the_recovery_of_ns2() {
    let mut tcp = ten_in_flight(|given| {
        given.cc = json!({"kind": "cubic", "c": 0.4, "beta": 0.7, "fast_convergence": true,
            "reno_friendly": true});
    });
    tcp.duplicate().anything().duplicate().anything();
    tcp.duplicate().expect([retransmission(1)]);
}
