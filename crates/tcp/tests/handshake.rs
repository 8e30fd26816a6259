//! Opening a connection: RFC 9293 §3.5, RFC 6298 §5.7, RFC 5681 §3.1.

use crate::script::Segment::Syn;
use crate::script::{Given, new, new_segments, receiver, sender};
use airpath_core::{Duration, Time};

fn with_handshake(given: &mut Given) {
    given.tcp.handshake = true;
    given.tcp.initial_window = 3000;
}

/// Sets a minimum RTO of 1 ms, so that short RTOs are visible.
fn with_small_rto(given: &mut Given) {
    with_handshake(given);
    given.tcp.min_rto = Duration::from_millis(1);
}

#[test]
fn syn_ack_releases_the_initial_window() {
    let mut tcp = sender(with_handshake);
    tcp.expect([Syn]).timer(1000);
    tcp.at(50).syn_ack(65_535).expect(new_segments(0, 3)).timer(1050);
}

#[test]
fn sender_sends_no_data_before_the_syn_ack() {
    let mut tcp = sender(with_handshake);
    tcp.expect([Syn]);
    tcp.at(50).ack(0).nothing();
    tcp.at(60).ack(1000).nothing().timer(1000);
}

#[test]
fn unanswered_syn_is_retransmitted_with_doubling_timeouts() {
    let mut tcp = sender(with_handshake);
    tcp.expect([Syn]);
    for due in [1, 3, 7, 15, 31, 63, 123, 183] {
        tcp.timeout_at(due * 1000).expect([Syn]);
    }
}

/// RFC 6298 §5.7, last paragraph.
#[test]
fn data_after_a_lost_syn_starts_with_an_rto_of_three_seconds() {
    let mut tcp = sender(with_handshake);
    tcp.expect([Syn]).timeout_at(1000).expect([Syn]);
    tcp.at(1100).syn_ack(65_535);
    tcp.timer(4100).expect([new(0)]);
}

/// RFC 5681 §3.1: "if the SYN or SYN/ACK is lost, the initial window […] MUST be one segment".
#[test]
fn initial_window_after_a_lost_syn_is_one_segment() {
    let mut tcp = sender(with_handshake);
    tcp.expect([Syn]).timeout_at(1000).expect([Syn]);
    tcp.at(1100).syn_ack(65_535).expect([new(0)]).cwnd(1000);
    tcp.at(1200).ack(1000).expect(new_segments(1, 3));
}

/// The rule of three seconds applies only to implementations with a shorter initial RTO.
#[test]
fn long_initial_rto_is_not_reduced_by_a_lost_syn() {
    let mut tcp = sender(|given| {
        with_handshake(given);
        given.tcp.initial_rto = Duration::from_secs(5);
    });
    tcp.expect([Syn]).timeout_at(5000).expect([Syn]);
    tcp.at(5100).syn_ack(65_535).expect([new(0)]);
    let rto = tcp.timer_ms() - 5100;
    assert!(rto >= 5000, "{rto} ms");
}

/// RFC 6298 §2.2: RTO = R + 4·R/2.
#[test]
fn syn_ack_gives_the_first_rtt_sample() {
    let mut tcp = sender(with_small_rto);
    tcp.expect([Syn]);
    tcp.at(100).syn_ack(65_535).expect(new_segments(0, 3)).timer(400);
}

/// Karn's rule: it is unknown which of the two SYNs was answered.
#[test]
fn syn_ack_of_a_retransmitted_syn_gives_no_rtt_sample() {
    let mut tcp = sender(with_small_rto);
    tcp.expect([Syn]).timeout_at(1000).expect([Syn]);
    tcp.at(1010).syn_ack(65_535).expect([new(0)]).timer(4010);
    // The first RTT sample comes from the data: 30 ms, RTO = 90 ms.
    tcp.at(1040).ack(1000).expect(new_segments(1, 3)).timer(1130);
}

#[test]
fn window_of_the_syn_ack_limits_the_first_flight() {
    let mut tcp = sender(with_handshake);
    tcp.expect([Syn]);
    tcp.at(50).syn_ack(2000).expect(new_segments(0, 2));
}

#[test]
fn second_syn_ack_changes_nothing() {
    let mut tcp = sender(with_handshake);
    tcp.expect([Syn]);
    tcp.at(50).syn_ack(65_535).expect(new_segments(0, 3)).timer(1050);
    tcp.at(60).syn_ack(65_535).nothing().timer(1050).cwnd(3000);
}

#[test]
fn every_syn_before_the_first_data_is_answered() {
    let mut peer = receiver(|_| ());
    peer.at(10).syn().syn_ack().window(10_000).no_timer();
    peer.at(1010).syn().syn_ack().window(10_000);
}

/// RFC 9293 §3.10.7.4: in the synchronized states an old SYN is answered with an ACK of the next
/// expected byte. The sender would ignore a SYN-ACK, and lose the delayed ACK.
#[test]
fn old_syn_after_data_is_answered_with_a_plain_ack() {
    let mut peer = receiver(|_| ());
    peer.syn().syn_ack();
    peer.at(10).segment(0).nothing();
    peer.at(20).syn().ack(1000).no_timer();
}

/// Linux `tcp_syn_retries`. Retransmissions of data are counted separately.
#[test]
fn connection_is_aborted_after_unanswered_syns() {
    let mut tcp = sender(|given| {
        with_handshake(given);
        given.tcp.max_syn_retries = Some(1);
        given.tcp.max_retries = Some(0);
    });
    tcp.expect([Syn]).timeout_at(1000).expect([Syn]);
    tcp.timeout_at(3000).nothing().no_timer();
    assert_eq!(tcp.aborted_at(), Some(Time::from_millis(3000)));
    tcp.at(3100).syn_ack(65_535).nothing().no_timer();
}
