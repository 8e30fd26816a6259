//! Data that the windows allow: RFC 5681 §3.1 (slow start, congestion avoidance), RFC 9293 §3.8.6
//! and RFC 1122 §4.2.3.4 (receive window, silly windows), transfers and stop times.

use crate::script;
use crate::script::{SenderScript, new, new_segments, part, retransmission, sender};
use airpath_conformance::Law;
use airpath_core::Time;
use airpath_tcp::WindowGrowth;

const PER_ACK: Law = Law {
    area: "Congestion avoidance",
    source: "RFC 5681 eq. 3: Σ SMSS²/cwnd over the ACKs, from ten segments of 1000 B",
    allows: "a window's growth is a little less than a segment, 850 B at least; for two: 2 B",
};

#[test]
fn initial_window_is_sent_immediately() {
    let mut tcp = sender(|given| given.tcp.initial_window = 3000);
    tcp.expect(new_segments(0, 3)).timer(1000);
}

#[test]
fn each_ack_of_a_segment_in_slow_start_releases_two_segments() {
    let mut tcp = sender(|given| given.tcp.initial_window = 1000);
    tcp.expect([new(0)]);
    tcp.at(100).ack(1000).expect(new_segments(1, 3)).cwnd(2000);
    tcp.at(200).ack(2000).expect(new_segments(3, 5)).cwnd(3000);
    tcp.at(200).ack(3000).expect(new_segments(5, 7)).cwnd(4000);
    tcp.at(300).ack(4000).expect(new_segments(7, 9)).cwnd(5000);
}

/// RFC 5681 eq. 2: min(N, SMSS), so an ACK of two segments counts as one.
#[test]
fn delayed_ack_in_slow_start_releases_three_segments() {
    let mut tcp = sender(|given| given.tcp.initial_window = 2000);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(2000).cwnd(3000).expect(new_segments(2, 5));
    tcp.at(200).ack(4000).cwnd(4000).expect(new_segments(5, 8));
}

/// RFC 5681 eq. 2: a receiver that divides its ACKs has no advantage.
#[test]
fn acks_of_parts_of_a_segment_grow_slow_start_by_their_bytes() {
    let mut tcp = sender(|given| given.tcp.initial_window = 2000);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(300).cwnd(2300).nothing();
    tcp.at(101).ack(700).cwnd(2700).expect([new(2)]);
    tcp.at(102).ack(1000).cwnd(3000).expect([new(3)]);
}

#[test]
fn slow_start_ends_at_ssthresh() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 2000;
        given.tcp.initial_ssthresh = Some(4000);
    });
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(1000).cwnd(3000).expect(new_segments(2, 4));
    tcp.at(100).ack(2000).cwnd(4000).expect(new_segments(4, 6));
    tcp.at(200).ack(3000).cwnd(4000).expect([new(6)]);
    // RFC 3465 §2.1: one segment per acknowledged window of bytes.
    tcp.at(200).ack(5000).cwnd(4000).expect(new_segments(7, 9));
    tcp.at(200).ack(6000).cwnd(5000).expect(new_segments(9, 11));
}

/// Creates a sender with ten segments in flight in congestion avoidance by eq. 3.
fn ten_by_eq3() -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.window_growth = WindowGrowth::Bytes;
        given.in_congestion_avoidance(10_000);
    });
    tcp.expect(new_segments(0, 10));
    tcp
}

#[test]
fn congestion_avoidance_adds_one_segment_per_round_trip() {
    let mut tcp = ten_by_eq3();
    let (mut acked, mut sent) = (0, 10);
    for round in 1..=5 {
        tcp.at(round * 100);
        let in_flight = acked + 1..=sent;
        for ack in in_flight {
            let window = tcp.ack(ack * 1000).cwnd_now() / 1000;
            tcp.expect(new_segments(sent, ack + window));
            (acked, sent) = (ack, ack + window);
        }
        // Σ SMSS²/cwnd over the segments of a window: slightly less than a segment.
        let window = tcp.cwnd_now();
        let grown = window - 10_000;
        let (least, most) = ((round * 850) as f64, (round * 1000) as f64);
        PER_ACK.between(format!("growth, windows: {round}"), "B", grown as f64, least, most);
    }
}

/// RFC 5681 eq. 3 is applied per ACK.
#[test]
fn congestion_avoidance_grows_half_as_fast_with_delayed_acks() {
    let mut tcp = ten_by_eq3();
    tcp.at(100);
    let mut window = 10_000.0;
    for (ack, sent) in [(2000, 12), (4000, 14), (6000, 16), (8000, 18), (10_000, 20)] {
        tcp.ack(ack).expect(new_segments(sent - 2, sent));
        window += 1e6 / window;
    }
    let what = "cwnd after a window of ACKs for two";
    PER_ACK.close(what, "B", tcp.cwnd_now() as f64, window, 2.0);
}

/// RFC 5681 §3.1: an increase of less than a byte must not be lost.
#[test]
fn congestion_avoidance_grows_beyond_the_square_of_a_segment() {
    let mut tcp = sender(|given| {
        given.tcp.mss = 1;
        given.tcp.window_growth = WindowGrowth::Bytes;
        given.in_congestion_avoidance(4);
    });
    tcp.expect((0..4).map(|seq| part(seq, 1)));
    for (ack, cwnd) in [(1, 4), (2, 4), (3, 4)] {
        tcp.at(100).ack(ack).cwnd(cwnd).expect([part(3 + ack, 1)]);
    }
    // Five quarters, reduced because the window grows.
    tcp.ack(4).anything().ack(5).cwnd(5).anything();
}

#[test]
fn receive_window_limits_the_flight() {
    let mut tcp = sender(|given| given.tcp.receive_window = 3000);
    tcp.expect(new_segments(0, 3));
    tcp.at(100).ack(1000).expect([new(3)]);
    tcp.at(110).ack(3000).expect(new_segments(4, 6));
}

#[test]
fn opening_receive_window_releases_segments() {
    let mut tcp = sender(|given| given.tcp.receive_window = 2000);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack_with_window(1000, 1000).nothing();
    tcp.at(150).ack_with_window(1000, 5000).expect(new_segments(2, 6));
}

/// RFC 9293 §3.8.6: a sender must tolerate a shrinking window; the data in flight does not change.
#[test]
fn shrinking_receive_window_releases_nothing() {
    let mut tcp = sender(|given| given.tcp.receive_window = 4000);
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack_with_window(1000, 1000).nothing();
    tcp.at(200).ack_with_window(4000, 2000).expect(new_segments(4, 6));
}

#[test]
fn closed_receive_window_releases_nothing_until_it_opens() {
    let mut tcp = sender(|given| given.tcp.receive_window = 2000);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack_with_window(2000, 0).nothing();
    tcp.at(500).ack_with_window(2000, 2000).expect(new_segments(2, 4));
}

/// RFC 1122 §4.2.3.4 (1): only full-sized segments while data is in flight.
#[test]
fn congestion_window_does_not_send_half_a_segment() {
    let mut tcp = sender(|given| given.tcp.initial_window = 2500);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(1000).cwnd(3500).expect(new_segments(2, 4));
}

#[test]
fn receive_window_of_half_a_segment_more_is_not_used() {
    let mut tcp = sender(|given| given.tcp.receive_window = 2500);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(1000).expect([new(2)]);
}

/// RFC 1122 §4.2.3.4 (3): with no data in flight, at least half of the largest window is used.
#[test]
fn receive_window_below_a_segment_is_filled_if_no_data_is_in_flight() {
    let mut tcp = sender(|given| given.tcp.receive_window = 600);
    tcp.expect([part(0, 600)]);
    tcp.at(100).ack(600).expect([part(600, 600)]);
    tcp.at(200).ack(1200).expect([part(1200, 600)]);
}

/// RFC 1122 §4.2.3.4 (4): a small window must not stop the transfer. The RFC allows an override
/// timeout of 0.1 to 1 s; this sender does not wait.
#[test]
fn window_far_below_a_segment_is_used_without_a_wait() {
    let mut tcp = sender(|given| given.tcp.receive_window = 2000);
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack_with_window(1000, 1200).nothing();
    tcp.at(100).ack_with_window(2000, 200).expect([part(2000, 200)]);
}

#[test]
fn segment_is_retransmitted_with_the_same_boundaries() {
    let mut tcp = sender(|given| given.tcp.receive_window = 600);
    tcp.expect([part(0, 600)]).timeout_at(1000);
    tcp.expect([script::Segment::Data(0, 600, true)]);
}

#[test]
fn last_segment_of_a_transfer_is_short() {
    let mut tcp = sender(|given| given.transfer = Some(2300));
    tcp.expect([new(0), new(1), part(2000, 300)]);
}

#[test]
fn transfer_is_complete_when_its_last_byte_is_acknowledged() {
    let mut tcp = sender(|given| given.transfer = Some(2300));
    tcp.expect([new(0), new(1), part(2000, 300)]);
    tcp.at(100).ack(2000).nothing().timer(1100);
    assert_eq!(tcp.completed_at(), None);
    tcp.at(120).ack(2300).nothing().no_timer();
    assert_eq!(tcp.completed_at(), Some(Time::from_millis(120)));
    tcp.at(130).ack(2300).nothing().no_timer();
    assert_eq!(tcp.completed_at(), Some(Time::from_millis(120)));
}

#[test]
fn short_last_segment_waits_until_it_fits() {
    let mut tcp = sender(|given| {
        given.transfer = Some(2300);
        given.tcp.initial_window = 2200;
    });
    tcp.expect(new_segments(0, 2));
    tcp.at(100).ack(1000).expect([part(2000, 300)]);
}

#[test]
fn sender_sends_no_new_data_after_the_stop() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 2000;
        given.stop = Some(150);
    });
    tcp.expect(new_segments(0, 2));
    tcp.at(149).ack(1000).expect(new_segments(2, 4));
    tcp.at(150).ack(2000).nothing();
    tcp.at(200).ack(4000).nothing().no_timer();
    assert_eq!(tcp.completed_at(), None);
}

#[test]
fn control_event_stops_the_source() {
    let mut tcp = sender(|given| given.tcp.initial_window = 2000);
    tcp.expect(new_segments(0, 2));
    tcp.at(50).stop().at(100).ack(2000).nothing().no_timer();
}

#[test]
fn lost_segments_are_retransmitted_after_the_stop() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 5000;
        given.stop = Some(50);
    });
    tcp.expect(new_segments(0, 5));
    tcp.at(100).quiet_duplicates(2);
    tcp.at(100).duplicate().expect([retransmission(0)]);
    tcp.at(200).ack(4000).expect([retransmission(4)]);
    tcp.timeout_at(1200).expect([retransmission(4)]);
    tcp.at(1300).ack(5000).nothing().no_timer();
}

#[test]
fn old_ack_is_ignored() {
    let mut tcp = sender(|given| given.tcp.initial_window = 4000);
    tcp.expect(new_segments(0, 4));
    tcp.at(100).ack(3000).expect(new_segments(4, 8)).timer(1100);
    for _ in 0..4 {
        tcp.at(110).ack(2000).nothing().cwnd(5000).timer(1100);
    }
}

#[test]
fn ack_of_unsent_data_is_ignored() {
    let mut tcp = sender(|given| given.tcp.initial_window = 4000);
    tcp.expect(new_segments(0, 4));
    tcp.at(100).stray_ack(4001).nothing().cwnd(4000).timer(1000);
    tcp.at(110).ack(4000).cwnd(5000).expect(new_segments(4, 9));
}
