//! Packet scripts for LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus): slow start, slowdowns, loss.

use crate::script::{SenderScript, new, new_segments, retransmission, sender};
use serde_json::json;

/// Creates a sender with T = 60 ms and the slow-start threshold `ssthresh`, bytes. It has sent its
/// initial window of two segments at 0.
fn two_segments(ssthresh: Option<u64>) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.initial_ssthresh = ssthresh;
        given.cc = json!({
            "kind": "ledbat", "rules": "plus-plus", "target_ns": 60_000_000, "gain": 1.0
        });
    });
    tcp.expect([new(0), new(1)]);
    tcp
}

/// At an RTT of 120 ms = 2 T the gain is 1: the window doubles.
#[test]
fn slow_start_doubles_the_window_of_two_segments_at_an_rtt_of_two_targets() {
    let mut tcp = two_segments(None);
    tcp.at(120).ack(2000).cwnd(4000).expect(new_segments(2, 6));
    tcp.at(240).ack(6000).cwnd(8000).expect(new_segments(6, 14));
}

/// At an RTT of 60 ms the gain is 1/2.
#[test]
fn slow_start_grows_by_half_at_an_rtt_of_one_target() {
    let mut tcp = two_segments(None);
    tcp.at(60).ack(2000).cwnd(3000).expect(new_segments(2, 5));
}

/// The slow start ends at 240 ms; the slowdown begins two RTTs later, keeps two segments for two RTTs
/// and returns to the window before it. The next one follows after nine times 480 ms.
#[test]
fn slowdown_keeps_two_segments_for_two_rtts_and_returns_to_the_window() {
    let mut tcp = two_segments(Some(8000));
    tcp.at(120).ack(2000).expect(new_segments(2, 6));
    tcp.at(240).ack(6000).cwnd(8000).expect(new_segments(6, 14));
    tcp.at(360).ack(14_000).cwnd(9000).expect(new_segments(14, 23));
    tcp.at(480).ack(23_000).cwnd(2000).ssthresh(9000).expect(new_segments(23, 25));
    tcp.at(600).ack(25_000).cwnd(2000).expect(new_segments(25, 27));
    tcp.at(720).ack(27_000).cwnd(4000).expect(new_segments(27, 31));
    tcp.at(840).ack(31_000).cwnd(8000).expect(new_segments(31, 39));
    tcp.at(960).ack(39_000).cwnd(9000).expect(new_segments(39, 48));
    tcp.at(1080).ack(48_000).cwnd(10_000).expect(new_segments(48, 58));
}

#[test]
fn third_duplicate_halves_the_window() {
    let mut tcp = two_segments(Some(8000));
    tcp.at(120).ack(2000).expect(new_segments(2, 6));
    tcp.at(240).ack(6000).cwnd(8000).expect(new_segments(6, 14));
    tcp.at(360).quiet_duplicates(2).duplicate().expect([retransmission(6)]).ssthresh(4000);
}
