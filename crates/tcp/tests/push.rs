//! Segments that request an immediate ACK: the last segment of each burst, as in Linux.

use crate::script::{MSS, Mark, SenderScript, new, new_segments, receiver, sender};
use airpath_core::{Ecn, Flags};
use airpath_tcp::Push;

/// Creates a sender whose initial window is five segments, sent at 0.
fn in_bursts() -> SenderScript {
    sender(|given| {
        given.tcp.push = Push::Bursts;
        given.in_congestion_avoidance(5 * MSS);
    })
}

/// Linux `tcp_tso_autosize`: at least two segments are sent together, and the last one carries PSH.
#[test]
fn every_second_segment_of_a_burst_requests_an_ack() {
    let marks = [Mark::Plain, Mark::Push, Mark::Plain, Mark::Push, Mark::Plain];
    let mut tcp = in_bursts();
    tcp.expect_marked(new_segments(0, 5), marks);
    // 120 % of five segments per 100 ms are less than two segments per millisecond.
    tcp.at(100).ack(MSS).expect_marked([new(5)], [Mark::Plain]);
    tcp.ack(3 * MSS).expect_marked(new_segments(6, 8), [Mark::Plain, Mark::Push]);
}

/// Linux `tcp_tso_autosize`: 1/1024 s at the pacing rate, 8·1.2 segments in 1.024 ms.
#[test]
fn bursts_are_longer_at_higher_rates() {
    let mut tcp = sender(|given| {
        given.tcp.push = Push::Bursts;
        given.in_congestion_avoidance(8 * MSS);
    });
    tcp.expect_marked(new_segments(0, 8), [Mark::Plain, Mark::Push].repeat(4));
    // An RTT of 3 ms: 3.125 segments.
    tcp.at(3).ack(8 * MSS);
    let mut marks = vec![Mark::Plain, Mark::Plain, Mark::Push];
    marks.extend(marks.clone());
    marks.extend([Mark::Plain, Mark::Plain, Mark::Push]);
    tcp.expect_marked(new_segments(8, 17), marks);
}

#[test]
fn segments_request_no_immediate_ack_without_the_option() {
    let mut tcp = sender(|given| given.in_congestion_avoidance(5 * MSS));
    tcp.expect_marked(new_segments(0, 5), [Mark::Plain].repeat(5));
}

/// Linux `tcp_cleanup_rbuf` with ICSK_ACK_PUSHED.
#[test]
fn receiver_acknowledges_requesting_segments_at_once() {
    let mut tcp = receiver(|_| ());
    tcp.segment(0).nothing().segment(1).ack(2000);
    tcp.segment(2).nothing();
    tcp.marked(3, Ecn::NotEct, Flags::PSH).ack(4000);
    tcp.marked(4, Ecn::NotEct, Flags::PSH).ack(5000).no_timer();
}
