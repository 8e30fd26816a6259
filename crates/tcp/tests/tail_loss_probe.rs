//! Tail loss probe: RFC 8985 §7.
//!
//! Ten segments are sent at 0, the RTT is 100 ms, and the receiver acknowledges every segment.

use crate::script::{Given, SenderScript, new, new_segments, retransmission, sender};
use airpath_tcp::{LossDetection, RecoveryKind};

/// Sends the last ten segments of a transfer at 0; the first `arrived` are acknowledged at 100 ms.
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

/// §7.2: two smoothed RTTs, plus 2 ms in Linux. §7.3: the last segment if there is no new data.
#[test]
fn last_segment_is_retransmitted_after_two_round_trips() {
    let mut tcp = tail_after(8, |_| ());
    tcp.released_at(302).expect([retransmission(9)]).timeouts(0).cwnd(18_000);
    // RFC 8985 §7.3: the retransmission timer restarts.
    tcp.timer(1302);
    // The probe arrives: segments sent before it are lost.
    tcp.at(402).arrives(9).expect([retransmission(8)]).timeouts(0).cwnd(2000);
}

/// Without the option the retransmission timer retransmits the tail.
#[test]
fn tail_without_a_probe_waits_for_the_retransmission_timer() {
    let mut tcp = tail_after(8, |given| given.tcp.tail_loss_probe = false);
    tcp.timeout_at(1100).expect([retransmission(8)]).cwnd(1000).timeouts(1);
}

/// §7.2: the ACK of a single segment may be delayed. Linux adds the minimum RTO to the probe timer,
/// which at the latest expires instead of the retransmission timer.
#[test]
fn single_segment_is_probed_at_the_expiry_of_the_retransmission_timer() {
    let mut tcp = tail_after(9, |_| ());
    tcp.released_at(1100).expect([retransmission(9)]).timeouts(0).timer(2100);
    // The probe is lost too.
    tcp.timeout_at(2100).expect([retransmission(9)]).timeouts(1);
}

/// §7.3: new data is sent if available, regardless of the window.
#[test]
fn probe_is_new_data_if_available() {
    let mut tcp = tail_after(0, |given| {
        given.transfer = None;
        given.in_congestion_avoidance(10_000);
    });
    tcp.arrives(0).expect([new(10)]);
    tcp.released_at(302).expect([new(11)]).timeouts(0).cwnd(10_000);
}

/// §7.2: no probe while a segment is missing that was sent before an arrived segment.
#[test]
fn tail_beyond_a_hole_is_not_probed() {
    let mut tcp = tail_after(7, |_| ());
    tcp.arrives(8).nothing();
    // The reordering timer detects the loss of 7. The probe timer is off.
    tcp.released_at(127).expect([retransmission(7)]).timer(1127);
}

/// §7.4.2: the probe repaired the only loss. The reduction takes place when data beyond the probe
/// is acknowledged. The receive window blocks new data until then.
#[test]
fn loss_repaired_by_the_probe_halves_the_window() {
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
