//! The tail loss probe: RFC 8985 §7.
//!
//! Ten segments leave at 0, the round trip is 100 ms, and the receiver acknowledges every segment.

use crate::script::{Given, SenderScript, new, new_segments, retransmission, sender};
use airpath_tcp::{LossDetection, RecoveryKind};

/// Ten segments that end the transfer leave at 0; the first `arrived` are acknowledged at 100 ms.
fn tail_after(arrived: u64, change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.recovery = RecoveryKind::Sack;
        given.tcp.loss_detection = LossDetection::Rack;
        given.tcp.tail_loss_probe = true;
        given.transfer = Some(10_000);
        change(given);
    });
    tcp.expect(new_segments(0, 10)).at(100);
    tcp.arrive_quietly(0..arrived);
    tcp
}

/// §7.2: two smoothed RTTs, and in Linux 2 ms. §7.3: the last segment when nothing is new.
#[test]
fn last_segment_is_retransmitted_after_two_round_trips() {
    let mut tcp = tail_after(8, |_| ());
    tcp.released_at(302).expect([retransmission(9)]).timeouts(0).cwnd(18_000);
    // RFC 8985 §7.3: the retransmission timer restarts.
    tcp.timer(1302);
    // The probe arrives: what left before it is lost.
    tcp.at(402).arrives(9).expect([retransmission(8)]).timeouts(0).cwnd(2000);
}

/// Without the option the timer does it.
#[test]
fn without_a_probe_the_tail_waits_for_the_timer() {
    let mut tcp = tail_after(8, |given| given.tcp.tail_loss_probe = false);
    tcp.timeout_at(1100).expect([retransmission(8)]).cwnd(1000).timeouts(1);
}

/// §7.2: the ACK of a single segment may be delayed; in Linux the probe waits for the smallest
/// timeout more, and at the latest takes the timer's place.
#[test]
fn a_single_segment_is_probed_when_the_timer_would_have_expired() {
    let mut tcp = tail_after(9, |_| ());
    tcp.released_at(1100).expect([retransmission(9)]).timeouts(0).timer(2100);
    // It is lost as well.
    tcp.timeout_at(2100).expect([retransmission(9)]).timeouts(1);
}

/// §7.3: new data is sent if there is any, regardless of the window.
#[test]
fn a_probe_is_new_data_where_there_is_some() {
    let mut tcp = tail_after(0, |given| {
        given.transfer = None;
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives(0).expect([new(10)]);
    tcp.released_at(302).expect([new(11)]).timeouts(0).cwnd(10_000);
}

/// §7.2: not while something is missing that was sent before what has arrived.
#[test]
fn nothing_is_probed_beyond_a_hole() {
    let mut tcp = tail_after(7, |_| ());
    tcp.arrives(8).nothing();
    // The reordering timer finds 7; the probe's is off.
    tcp.released_at(127).expect([retransmission(7)]).timer(1127);
}

/// §7.4.2: the probe repaired the only loss, which is answered when more than it is acknowledged.
/// The receive window blocks new data until then.
#[test]
fn a_loss_that_the_probe_repaired_halves_the_window() {
    let mut tcp = tail_after(0, |given| {
        given.transfer = None;
        given.tcp.receive_window = 10_000;
        given.in_congestion_avoidance(10_000);
    });
    tcp.ack_with_window(9000, 1000).nothing();
    tcp.released_at(1100).expect([retransmission(9)]).cwnd(10_000);
    tcp.at(1200).ack_with_window(10_000, 5000).expect(new_segments(10, 15)).cwnd(11_000);
    tcp.at(1300).ack_with_window(11_000, 4000).nothing().cwnd(2000).timeouts(0);
}
