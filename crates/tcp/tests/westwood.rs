//! Packet scripts for Westwood+: the window after a loss and after a timeout.
//!
//! The RTT is 100 ms. Bandwidth samples: 10 000 B in 200 ms, then 23 000 B in 200 ms. Their filtered
//! bandwidth is ⌊(7 · 50 + ⌊(7 · 50 + 115)/8⌋)/8⌋ = 51 B/ms, and its product with the RTT is 5
//! segments. Reno would halve the window of 13 segments to 6.

use crate::script::{SenderScript, new, new_segments, retransmission, sender};
use serde_json::json;

/// Acknowledges segments `from` … `to` − 1 at `millis` one by one. Each ACK releases one segment, from
/// `to` on, and the last one a second, because the window has grown by one.
fn round(tcp: &mut SenderScript, millis: u64, from: u64, to: u64) {
    tcp.at(millis);
    for index in from..to - 1 {
        tcp.ack((index + 1) * 1000).expect([new(to + index - from)]);
    }
    let last = to + to - 1 - from;
    tcp.ack(to * 1000).expect(new_segments(last, last + 2));
}

/// Creates a sender with 13 segments outstanding, 34 … 46, at 400 ms.
fn thirteen_segments() -> SenderScript {
    let mut tcp = sender(|given| {
        given.in_congestion_avoidance(10_000);
        given.cc = json!({"kind": "westwood"});
    });
    tcp.expect(new_segments(0, 10));
    round(&mut tcp, 100, 0, 10);
    round(&mut tcp, 200, 10, 21);
    round(&mut tcp, 300, 21, 33);
    tcp.at(400).ack(34_000).cwnd(13_000).expect([new(46)]);
    tcp
}

/// Nothing is outstanding when the recovery ends: RFC 6582 §3.2 (3) allows two segments, and slow start
/// continues up to the product.
#[test]
fn westwood_2001_ssthresh_after_a_recovery_is_bandwidth_times_minimum_rtt() {
    let mut tcp = thirteen_segments();
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(34)]).ssthresh(6000);
    tcp.at(500).ack(47_000).cwnd(2000).ssthresh(5000).expect(new_segments(47, 49));
}

#[test]
fn westwood_2001_ssthresh_after_a_timeout_is_bandwidth_times_minimum_rtt() {
    let mut tcp = thirteen_segments();
    tcp.timeout_at(1400).expect([retransmission(34)]).cwnd(1000).ssthresh(5000);
}
