//! Closed receive window: RFC 9293 §3.8.6.1 and RFC 1122 §4.2.2.17 (probes), §3.8.6.2.2 and RFC
//! 1122 §4.2.3.3 (silly-window avoidance at the receiver).

use crate::script;
use crate::script::{
    Given, MSS, ReceiverScript, SenderScript, new, part, part_retransmission, sender,
};
use airpath_core::Duration;
use airpath_tcp::window::{AnyWindow, DrainConfig, DrainWindow};
use airpath_tcp::{Burst, OnOffConfig, RecoveryKind, TimeDistribution};

/// Two segments were sent and acknowledged at 100 ms with a window of zero: the RTO is 300 ms.
fn closed(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.receive_window = 2000;
        given.tcp.min_rto = Duration::from_millis(1);
        change(given);
    });
    tcp.expect([new(0), new(1)]).at(100).ack_with_window(2000, 0).nothing();
    tcp
}

// --- the sender's probes ----------------------------------------------------------------------

/// RFC 9293 §3.8.6.1: the first probe is sent when the window has been zero for an RTO, the next
/// ones at exponentially increasing intervals, at most the maximum RTO.
#[test]
fn closed_window_is_probed_after_an_rto_and_then_with_back_off() {
    let mut tcp = closed(|given| given.tcp.max_rto = Duration::from_secs(2));
    tcp.timeout_at(400).expect([part(2000, 1)]);
    for due in [1000, 2200, 4200, 6200, 8200] {
        tcp.timeout_at(due).expect([part_retransmission(2000, 1)]);
    }
    tcp.probes(6).cwnd(11_000);
}

/// RFC 9293 §3.8.6.1: a connection stays open while its probes are answered. This sender also keeps
/// it open without answers.
#[test]
fn answer_with_a_closed_window_changes_nothing() {
    let mut tcp = closed(|_| ());
    tcp.timeout_at(400).expect([part(2000, 1)]);
    tcp.at(500).ack_with_window(2000, 0).nothing().timer(1000);
    tcp.timeout_at(1000).expect([part_retransmission(2000, 1)]);
    for _ in 0..5 {
        tcp.at(1100).ack_with_window(2000, 0).nothing().timer(2200).cwnd(11_000);
    }
}

#[test]
fn answer_that_opens_the_window_releases_the_probed_byte_with_its_segment() {
    let mut tcp = closed(|_| ());
    tcp.timeout_at(400).expect([part(2000, 1)]);
    tcp.at(500).ack_with_window(2000, 1500).expect([new(2)]).timer(800);
}

/// The byte of the probe was written before the end of the burst; later bytes were not.
#[test]
fn probe_accepted_after_the_end_of_its_burst_releases_no_data() {
    let mut tcp = closed(|given| {
        let on = Burst::Time(TimeDistribution::Fixed { time_ns: 450_000_000 });
        let off = TimeDistribution::Fixed { time_ns: 1_000_000_000_000 };
        given.application = Some(OnOffConfig { on, off });
    });
    tcp.timeout_at(400).expect([part(2000, 1)]);
    tcp.application_at(450).nothing();
    tcp.at(500).ack_with_window(2001, 5000).nothing();
}

/// The window update was lost: the receiver has buffer space and accepts the byte.
#[test]
fn accepted_probe_counts_as_sent() {
    let mut tcp = closed(|_| ());
    tcp.timeout_at(400).expect([part(2000, 1)]);
    // No RTT sample (Karn's rule): the RTO is still 300 ms, without back-off.
    tcp.at(500).ack_with_window(2001, 2000).expect([part(2001, 1000), part(3001, 1000)]);
    tcp.timer(800);
}

/// An ACK that crossed the second probe acknowledges the first probe.
#[test]
fn answer_to_an_earlier_probe_is_accepted() {
    let mut tcp = closed(|_| ());
    tcp.timeout_at(400)
        .expect([part(2000, 1)])
        .timeout_at(1000)
        .expect([part_retransmission(2000, 1)]);
    tcp.at(1010).ack_with_window(2001, 1000).expect([part(2001, 1000)]);
    tcp.at(1110).ack_with_window(2001, 1000).nothing().timer(1310);
}

/// The answer to a probe may arrive after another ACK has opened the window.
#[test]
fn late_answer_finds_the_byte_in_flight() {
    let mut tcp = closed(|_| ());
    tcp.timeout_at(400).expect([part(2000, 1)]);
    tcp.at(450).window_update(1000).expect([new(2)]).timer(750);
    tcp.at(500).ack_with_window(2001, 999).nothing().timer(800);
    tcp.at(550).ack_with_window(3000, 1000).expect([new(3)]);
}

#[test]
fn update_that_opens_the_window_stops_the_probes() {
    let mut tcp = closed(|_| ());
    tcp.at(350).window_update(2000).expect([new(2), new(3)]).timer(650).probes(0);
}

#[test]
fn window_that_closes_again_is_probed_after_an_rto() {
    let mut tcp = closed(|_| ());
    tcp.timeout_at(400)
        .expect([part(2000, 1)])
        .timeout_at(1000)
        .expect([part_retransmission(2000, 1)]);
    tcp.at(1100).window_update(1000).expect([new(2)]).timer(1400);
    // The second sample is also 100 ms: RTTVAR 37.5, RTO 250 ms.
    tcp.at(1200).ack_with_window(3000, 0).nothing().timeout_at(1450).expect([part(3000, 1)]);
}

/// An ACK beyond the probed byte is not an answer to the probe.
#[test]
fn ack_beyond_the_probe_is_ignored() {
    let mut tcp = closed(|_| ());
    tcp.at(200).stray_ack(2001).nothing().timer(400);
    tcp.timeout_at(400).expect([part(2000, 1)]);
    tcp.at(500).stray_ack(2002).nothing().timer(1000);
}

#[test]
fn window_closed_since_the_syn_ack_is_probed() {
    let mut tcp = sender(|given| given.tcp.handshake = true);
    tcp.anything().at(100).syn_ack(0).nothing();
    tcp.timeout_at(1100).expect([part(0, 1)]);
    tcp.at(1200).ack_with_window(1, 3000).expect([
        part(1, 1000),
        part(1001, 1000),
        part(2001, 1000),
    ]);
}

/// With data in flight the retransmission timer keeps the connection alive.
#[test]
fn window_is_not_probed_while_data_is_in_flight() {
    let mut tcp = sender(|given| given.tcp.receive_window = 2000);
    tcp.expect([new(0), new(1)]);
    tcp.at(100).ack_with_window(1000, 1000).nothing().timer(1100);
    tcp.timeout_at(1100).expect([script::retransmission(1)]).probes(0);
}

#[test]
fn window_is_not_probed_without_data_to_send() {
    let mut tcp = closed(|given| given.transfer = Some(2000));
    tcp.no_timer();
    let mut tcp = closed(|given| given.stop = Some(50));
    tcp.no_timer();
}

#[test]
fn probing_ends_with_the_source() {
    let mut tcp = closed(|given| given.stop = Some(500));
    tcp.timeout_at(400).expect([part(2000, 1)]).timeout_at(1000).nothing().no_timer();
}

/// RFC 5681 §2: an ACK with a different window is not a duplicate.
#[test]
fn window_updates_are_no_duplicates() {
    let mut tcp = sender(|given| given.tcp.receive_window = 3000);
    tcp.expect(script::new_segments(0, 3));
    for window in [3200, 3400, 3600, 3800] {
        tcp.at(50).window_update(window).nothing();
    }
    tcp.cwnd(10_000).timer(1000);
}

#[test]
fn closed_window_is_probed_with_sack() {
    let mut tcp = closed(|given| given.tcp.recovery = RecoveryKind::Sack);
    tcp.timeout_at(400)
        .expect([part(2000, 1)])
        .timeout_at(1000)
        .expect([part_retransmission(2000, 1)]);
    tcp.at(1100).ack_with_window(2001, 2000).expect([part(2001, 1000), part(3001, 1000)]);
}

// --- the receiver -----------------------------------------------------------------------------

/// Creates a receiver with a buffer of four segments whose application reads 1000 bytes per second.
fn slow(change: impl FnOnce(&mut Given)) -> ReceiverScript {
    let drain = DrainWindow::new(4 * MSS, DrainConfig { rate_bps: 8000, start_ns: 0 });
    let mut peer = script::receiver_with(
        |given| {
            given.tcp.handshake = true;
            change(given);
        },
        AnyWindow::Drain(Box::new(drain)),
    );
    peer.syn().syn_ack().window(4000).no_timer();
    peer
}

/// Creates such a receiver; four segments have filled the buffer at 0 ms.
fn full() -> ReceiverScript {
    let mut peer = slow(|_| ());
    peer.segment(0).nothing().segment(1).ack(2000).window(2000);
    peer.segment(2).nothing().segment(3).ack(4000).window(0);
    peer
}

/// RFC 9293 §3.8.6: the right edge does not move, so the window closes as data arrives.
#[test]
fn full_buffer_closes_the_window() {
    full();
}

/// Half of the buffer equals two segments here.
#[test]
fn receiver_sends_an_update_when_two_segments_are_free() {
    full()
        .timeout_at(2000)
        .update(4000)
        .window(2000)
        .timeout_at(4000)
        .update(4000)
        .window(4000)
        .no_timer();
}

/// RFC 9293 §3.10.7.4: data that cannot be accepted is answered with an ACK.
#[test]
fn probe_of_a_full_buffer_is_rejected() {
    let mut peer = full();
    peer.at(300).bytes(4000, 1).ack(4000).window(0);
    peer.at(900).bytes(4000, 1).ack(4000).window(0);
    assert_eq!(peer.delivered(), 4000);
}

/// RFC 9293 §3.8.6.2.2: less than a segment is not advertised, and therefore not accepted.
#[test]
fn probe_before_a_segment_is_free_finds_the_window_closed() {
    full().at(999).bytes(4000, 1).ack(4000).window(0);
}

/// RFC 9293 §3.8.6.2.2: a free segment is advertised.
#[test]
fn probe_reply_advertises_one_free_mss() {
    full().at(1000).bytes(4000, 1).ack(4000).window(1000);
}

/// The window update was sent and lost.
#[test]
fn probe_of_an_open_window_is_accepted() {
    let mut peer = full();
    peer.timeout_at(2000).update(4000).window(2000);
    peer.at(2500).bytes(4000, 1).nothing().timeout_at(2700).ack(4001).window(1999);
    assert_eq!(peer.delivered(), 4001);
}

#[test]
fn segment_beyond_the_edge_is_rejected_completely() {
    let mut peer = full();
    peer.timeout_at(2000).update(4000).window(2000);
    peer.at(2100).bytes(5500, 1000).ack(4000).window(2000);
    assert_eq!(peer.delivered(), 4000);
}

/// RFC 1122 §4.2.3.3: the window in the ACKs before the update moves by at least a segment.
#[test]
fn ack_opens_the_window_by_at_least_a_segment() {
    let mut peer = slow(|given| given.tcp.delayed_ack_segments = 1);
    peer.segment(0).ack(1000).window(3000);
    peer.at(900).segment(1).ack(2000).window(2000);
    peer.at(1500).segment(2).ack(3000).window(2500);
}
