//! Pacing: one segment at a time, the ratios of Linux, and segments that are not paced.
//!
//! Packets have 1040 bytes. With a window of 10 400 bytes and an RTT of 120 ms, 120 % of the window
//! per RTT is one packet every 10 ms.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::*;
use airpath_tcp::{Pacing, RecoveryKind};

/// Creates a sender that has sent ten segments in a burst, because there is no RTT sample yet. cwnd
/// is ssthresh.
fn paced(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = sender(|given| {
        given.tcp.pacing = Pacing::On;
        given.in_congestion_avoidance(10_400);
        change(given);
    });
    tcp.expect(new_segments(0, 10));
    tcp
}

#[test]
fn segments_are_paced_at_120_percent_of_the_window_per_rtt() {
    let mut tcp = paced(|_| ());
    tcp.at(120).ack(3 * MSS).expect([new(10)]);
    tcp.released_at(130).expect([new(11)]);
    // The window is then full, so only the RTO timer runs.
    tcp.released_at(140).expect([new(12)]).timer(1120);
    // A segment waits again.
    tcp.at(145).ack(4 * MSS).nothing();
    tcp.released_at(150).expect([new(13)]);
}

/// Linux `tcp_tso_autosize`: a burst has at least two segments, which leave together. The next burst
/// waits for the transmission time of both, so that the mean rate is the same.
#[test]
fn linux_tso_autosize_segments_leave_in_pairs_at_the_same_mean_rate() {
    let mut tcp = paced(|given| given.tcp.tso = true);
    tcp.at(120).ack(5 * MSS).expect(new_segments(10, 12));
    tcp.released_at(140).expect(new_segments(12, 14));
    tcp.released_at(160).expect([new(14)]).timer(1120);
}

/// A burst that the window ends early does not continue with the next ACK.
#[test]
fn burst_ends_when_the_window_is_full() {
    let mut tcp = paced(|given| given.tcp.tso = true);
    tcp.at(120).ack(MSS).expect([new(10)]);
    tcp.at(121).ack(2 * MSS).nothing();
    tcp.released_at(130).expect([new(11)]);
}

#[test]
fn segments_leave_together_without_the_option() {
    let mut tcp = paced(|given| given.tcp.pacing = Pacing::Off);
    tcp.at(120).ack(3 * MSS).expect(new_segments(10, 13)).timer(1120);
}

#[test]
fn early_ack_releases_no_segment() {
    let mut tcp = paced(|_| ());
    tcp.at(120).ack(2 * MSS).expect([new(10)]);
    tcp.at(124).ack_with_window(2 * MSS, 999_000).nothing();
    tcp.released_at(130).expect([new(11)]);
}

/// Below half of ssthresh the ratio is 200 %: 10 400 bytes in 260 ms, one packet every 13 ms.
#[test]
fn slow_start_is_paced_at_200_percent() {
    let mut tcp = sender(|given| {
        given.tcp.pacing = Pacing::On;
        given.tcp.initial_window = 9400;
    });
    tcp.expect(new_segments(0, 9));
    // This ACK enlarges the window to 10 400 bytes.
    tcp.at(260).ack(MSS).expect([new(9)]);
    tcp.released_at(273).expect([new(10)]).timer(1260);
}

/// The segment of a fast retransmit is sent immediately. The next segment waits for both.
#[test]
fn fast_retransmit_is_sent_immediately_but_counts_for_pacing() {
    for recovery in [RecoveryKind::NewReno, RecoveryKind::Sack] {
        let mut tcp = paced(|given| given.tcp.recovery = recovery);
        tcp.at(120).ack(MSS).expect([new(10)]);
        for (at, held) in [(121, 2), (122, 3)] {
            tcp.at(at).sack(MSS, [2 * MSS..(held + 1) * MSS]).nothing();
        }
        tcp.at(123).sack(MSS, [2 * MSS..5 * MSS]).expect([retransmission(1)]);
        // The next segment may be sent at 130 ms plus the time of one more packet, with 10 000
        // bytes outstanding. It waits after the end of the recovery.
        tcp.at(124).ack(11 * MSS).nothing();
        assert_eq!(tcp.timer_ms(), 140);
    }
}
