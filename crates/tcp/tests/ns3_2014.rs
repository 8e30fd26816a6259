//! Deviations from the RFCs of the classic Reno of profile `ns3-2014`. The expected values come
//! from ns-3.21's `TcpReno`, not from an RFC.

use crate::script;
use crate::script::{Given, Segment, SenderScript, new, new_segments, ns3_sender, retransmission};
use airpath_core::Duration;

/// Sends ten segments at 0 in congestion avoidance, after applying `change`.
fn ten_in_flight(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = ns3_sender(|given| {
        given.in_congestion_avoidance(10_000);
        change(given);
    });
    tcp.expect(new_segments(0, 10)).timer(3000).at(100);
    tcp
}

/// Sets a minimum RTO of 1 ms, so that short RTOs are visible, and an initial window of one
/// segment.
fn small_rto(given: &mut Given) {
    given.tcp.min_rto = Duration::from_millis(1);
    given.tcp.initial_window = 1000;
}

#[test]
fn third_duplicate_ack_retransmits_the_oldest_segment() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.ssthresh(5000);
}

#[test]
fn each_further_duplicate_ack_adds_a_segment() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.quiet_duplicates(2);
    tcp.duplicate().expect([new(10)]);
    tcp.duplicate().expect([new(11)]);
}

/// cwnd = ssthresh, and MSS²/cwnd more for the same ACK.
#[test]
fn ack_that_ends_a_recovery_also_grows_the_window() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.at(200).ack(10_000).cwnd(5200).expect(new_segments(10, 15));
}

/// No partial ACKs: the first new ACK ends the recovery, and the next hole waits for three
/// duplicate ACKs.
#[test]
fn second_loss_in_the_window_halves_again() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]);
    tcp.quiet_duplicates(2);
    for index in 10..13 {
        tcp.duplicate().expect([new(index)]);
    }
    tcp.at(200).ack(1000).cwnd(5200).nothing();
    tcp.at(200).quiet_duplicates(2).duplicate().expect([retransmission(1)]);
    tcp.ssthresh(6000);
    tcp.at(300).ack(13_000).cwnd(6166).expect(new_segments(13, 19));
}

/// There is no `recover`, not even after a timeout.
#[test]
fn duplicate_acks_after_a_timeout_start_a_fast_retransmit() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(3000).expect([retransmission(0)]).ssthresh(5000).cwnd(1000);
    tcp.at(3100).ack(5000).cwnd(2000).expect([retransmission(5), retransmission(6)]);
    tcp.at(3110).quiet_duplicates(2).duplicate();
    // flight = highest sent − snd_una = 5 segments; cwnd = 2500 + 3000 from 5000.
    tcp.expect([retransmission(5), retransmission(7), retransmission(8), retransmission(9)])
        .ssthresh(2500);
}

#[test]
fn timeout_keeps_the_count_of_duplicate_acks() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2);
    tcp.timeout_at(3000).expect([retransmission(0)]).cwnd(1000);
    tcp.at(3010).duplicate().anything().ssthresh(5000).cwnd(5000);
}

#[test]
fn congestion_avoidance_adds_truncated_bytes() {
    let mut tcp = ns3_sender(|given| given.in_congestion_avoidance(3000));
    tcp.expect(new_segments(0, 3)).at(100);
    // 1 000 000 / 3000, / 3333, / 3633: truncated, without carry.
    for (ack, cwnd) in [(1000, 3333), (2000, 3633), (3000, 3908)] {
        tcp.ack(ack).cwnd(cwnd).anything();
    }
}

#[test]
fn congestion_avoidance_counts_acks_and_not_bytes() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.ack(2000).cwnd(10_100).anything();
    tcp.ack(2100).cwnd(10_199).anything();
}

#[test]
fn slow_start_adds_a_segment_for_any_ack() {
    let mut tcp = ns3_sender(|given| given.tcp.initial_window = 2000);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(300).cwnd(3000).expect([new(2)]);
    tcp.at(110).ack(2000).cwnd(4000).expect(new_segments(3, 6));
}

#[test]
fn only_full_segments_are_sent() {
    let mut tcp = ns3_sender(|given| given.in_congestion_avoidance(2900));
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(1000).cwnd(3244).expect(new_segments(2, 4));
}

/// Gains 0.1 for both, first RTTVAR = sample: 100 + 4·100; then SRTT 103.3, RTTVAR 93.3.
#[test]
fn rto_is_truncated_to_milliseconds() {
    let mut tcp = ns3_sender(small_rto);
    tcp.expect([new(0)]).timer(3000);
    tcp.at(100).ack(1000).expect(new_segments(1, 3)).timer(600);
    tcp.at(233).ack(2000).expect(new_segments(3, 5)).timer(233 + 476);
}

#[test]
fn rto_is_at_least_a_second() {
    let mut tcp = ns3_sender(|given| given.tcp.initial_window = 1000);
    tcp.expect([new(0)]);
    tcp.at(100).ack(1000).expect(new_segments(1, 3)).timer(1100);
}

#[test]
fn sender_goes_back_after_a_timeout_and_skips_acknowledged_data() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.timeout_at(3000).expect([retransmission(0)]);
    tcp.at(3100).ack(1000).cwnd(2000).expect([retransmission(1), retransmission(2)]);
    tcp.at(3200).ack(8000).cwnd(3000).expect([retransmission(8), retransmission(9), new(10)]);
}

#[test]
fn back_off_is_limited_to_64() {
    let mut tcp = ns3_sender(small_rto);
    tcp.expect([new(0)]);
    let mut due = 0;
    for factor in [1, 2, 4, 8, 16, 32, 64, 64] {
        due += 3000 * factor;
        tcp.timeout_at(due).expect([retransmission(0)]);
    }
}

#[test]
fn valid_sample_resets_the_back_off() {
    let mut tcp = ns3_sender(small_rto);
    tcp.expect([new(0)]).timeout_at(3000).expect([retransmission(0)]);
    tcp.at(3100).ack(1000).expect(new_segments(1, 3)).timer(9100);
    tcp.at(3200).ack(2000).anything().timer(3700);
}

#[test]
fn every_new_ack_restarts_the_timer_also_in_recovery() {
    let mut tcp = ten_in_flight(|_| ());
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]).timer(3000);
    tcp.at(200).ack(1000).nothing().timer(3200);
    // Segment 1 was sent once, at 0: an RTT sample of 300 ms, RTO = 300 + 4·300.
    tcp.at(300).ack(2000).nothing().timer(1800);
}

#[test]
fn connection_starts_with_one_segment_after_the_handshake() {
    let mut tcp = ns3_sender(|given| given.tcp = script::ns3_2014());
    tcp.expect([Segment::Syn]).timer(3000);
    tcp.at(40).syn_ack(65_535);
    tcp.expect([Segment::Data(0, 1460, false)]).timer(1040);
}
