//! Ways of growth, by delayed and stretch ACKs: RFC 3465 §2, Linux, ns-3.

use crate::script::{Given, again, news, sender};
use airpath_tcp::{RecoveryKind, WindowGrowth};

fn in_slow_start(given: &mut Given, growth: WindowGrowth) {
    given.tcp.window_growth = growth;
    given.tcp.initial_window = 4000;
}

fn in_congestion_avoidance(given: &mut Given, growth: WindowGrowth) {
    given.tcp.window_growth = growth;
    given.in_congestion_avoidance(4000);
}

#[test]
fn rfc3465_2_2_a_delayed_ack_in_slow_start_releases_four_with_l_2() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Abc2));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(2000).cwnd(6000).expect(news(4, 8));
    tcp.at(100).ack(4000).cwnd(8000).expect(news(8, 12));
}

#[test]
fn rfc3465_2_2_a_delayed_ack_in_slow_start_releases_three_with_l_1() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Abc1));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(2000).cwnd(5000).expect(news(4, 7));
}

#[test]
fn rfc3465_2_2_a_stretch_ack_in_slow_start_counts_two_segments_at_most() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Abc2));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(4000).cwnd(6000).expect(news(4, 10));
}

#[test]
fn rfc3465_2_1_with_delayed_acks_the_window_still_grows_by_a_segment_per_round_trip() {
    let mut tcp = sender(|given| in_congestion_avoidance(given, WindowGrowth::Abc2));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(2000).cwnd(4000).expect(news(4, 6));
    tcp.at(100).ack(4000).cwnd(5000).expect(news(6, 9));
    tcp.at(200).ack(6000).cwnd(5000).expect(news(9, 11));
    tcp.at(200).ack(9000).cwnd(6000).expect(news(11, 15));
}

/// The ACK of the retransmission covers what had left the network long before.
#[test]
fn rfc3465_2_3_after_a_timeout_a_stretch_ack_counts_one_segment() {
    let mut tcp = sender(|given| {
        in_slow_start(given, WindowGrowth::Abc2);
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.initial_window = 6000;
    });
    tcp.expect(news(0, 6)).timeout_at(1000).expect([again(0)]).cwnd(1000);
    tcp.at(1100).ack(2000).cwnd(2000).expect([again(2), again(3)]);
}

#[test]
fn segments_a_stretch_ack_in_slow_start_counts_whole() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::Segments));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(4000).cwnd(8000).expect(news(4, 12));
}

#[test]
fn segments_a_stretch_ack_in_congestion_avoidance_counts_whole() {
    let mut tcp = sender(|given| in_congestion_avoidance(given, WindowGrowth::Segments));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(3000).cwnd(4000).expect(news(4, 7));
    tcp.at(100).ack(4000).cwnd(5000).expect(news(7, 9));
    tcp.at(200).ack(9000).cwnd(6000).expect(news(9, 15));
}

#[test]
fn per_ack_a_delayed_ack_counts_like_any_other() {
    let mut tcp = sender(|given| in_slow_start(given, WindowGrowth::PerAck));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(2000).cwnd(5000).expect(news(4, 7));
    let mut tcp = sender(|given| in_congestion_avoidance(given, WindowGrowth::PerAck));
    tcp.expect(news(0, 4));
    tcp.at(100).ack(2000).cwnd(4250).expect(news(4, 6));
    tcp.at(100).ack(4000).cwnd(4485).expect(news(6, 8));
}
