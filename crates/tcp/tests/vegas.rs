//! Packet scripts for Vegas: its window over rounds, and the end of slow start.
//!
//! The base RTT is 100 ms. A round is evaluated with the first ACK of the next round.

use crate::script::{SenderScript, new, new_segments, sender};
use serde_json::json;

/// Creates a sender with α = 2, β = 4, γ = 1 that has sent four segments at 0.
fn four_segments(ssthresh: Option<u64>) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 4000;
        given.tcp.initial_ssthresh = ssthresh;
        given.cc = json!({"kind": "vegas", "alpha": 2, "beta": 4, "gamma": 1});
    });
    tcp.expect(new_segments(0, 4));
    tcp
}

/// Acknowledges segments `from` … `to` − 1 one by one. Each ACK releases one segment, from
/// `released` on.
fn one_for_one(tcp: &mut SenderScript, from: u64, to: u64, released: u64) {
    for index in from..to {
        tcp.ack((index + 1) * 1000).expect([new(released + index - from)]);
    }
}

/// Diff is 0 at 100 ms: the window grows. At 200 ms, Diff is ⌊6 · 100/100.001⌋ = 5 > β: it shrinks.
#[test]
fn vegas_1995_window_grows_without_a_queue_and_shrinks_above_beta() {
    let mut tcp = four_segments(Some(4000));
    one_for_one(tcp.at(100), 0, 4, 4);
    tcp.at(200).ack(5000).cwnd(5000).expect(new_segments(8, 10));
    one_for_one(&mut tcp, 5, 8, 10);
    tcp.at(400).ack(9000).cwnd(6000).expect(new_segments(13, 15));
    one_for_one(&mut tcp, 9, 13, 15);
    tcp.at(600).ack(14_000).cwnd(5000).nothing();
    one_for_one(&mut tcp, 14, 19, 19);
}

/// At 200 ms and 16 segments, Diff is 15 > γ: W = ⌊16 · 100.001/200.001⌋ + 1 = 9.
#[test]
fn vegas_1995_slow_start_ends_with_the_window_of_an_empty_queue() {
    let mut tcp = four_segments(None);
    tcp.at(100);
    for index in 0..4 {
        tcp.ack((index + 1) * 1000).expect(new_segments(4 + 2 * index, 6 + 2 * index));
    }
    tcp.at(300);
    for index in 4..12 {
        tcp.ack((index + 1) * 1000).expect(new_segments(4 + 2 * index, 6 + 2 * index));
    }
    tcp.cwnd(16_000);
    tcp.at(500).ack(13_000).cwnd(9000).ssthresh(9000).nothing();
}
