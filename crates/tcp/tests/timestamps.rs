//! Timestamps option: RFC 7323 §3, §4.

use crate::script;
use crate::script::{
    Given, ReceiverScript, Segment, SenderScript, new, new_segments, receiver, retransmission,
};
use airpath_core::Duration;
use airpath_tcp::RecoveryKind;

/// Period of a 32-bit clock with ticks of 1 µs, ms.
const WRAP: u64 = (1 << 32) / 1000;

/// Sets a minimum RTO of 1 ms. Every segment is checked for its 12 bytes and its timestamp.
fn sender(change: impl FnOnce(&mut Given)) -> SenderScript {
    script::sender(|given| {
        given.tcp.timestamps = true;
        given.tcp.min_rto = Duration::from_millis(1);
        given.tcp.initial_window = 1000;
        change(given);
    })
}

fn stamping() -> ReceiverScript {
    receiver(|given| given.tcp.timestamps = true)
}

// --- 12 bytes ---------------------------------------------------------------------------------

/// RFC 7323 §3.2: after the negotiation every segment, including retransmissions, carries the
/// option.
#[test]
fn every_segment_has_a_timestamp_of_twelve_bytes() {
    let mut tcp = sender(|given| given.tcp.initial_window = 3000);
    tcp.expect(new_segments(0, 3)).timeout_at(1000).expect([retransmission(0)]);
}

#[test]
fn syn_has_a_timestamp() {
    let mut tcp = sender(|given| given.tcp.handshake = true);
    tcp.expect([Segment::Syn]).at(100).syn_ack(60_000).expect([new(0)]);
}

#[test]
fn acks_have_timestamps() {
    let mut tcp = stamping();
    tcp.syn().syn_ack().size(52);
    tcp.segment(0).segment(1).ack(2000).size(52);
    tcp.segment(5).ack(2000).size(52);
}

/// RFC 2018 §3: three blocks and timestamps fill the 40 bytes available for options.
#[test]
fn three_blocks_and_timestamps_take_forty_bytes() {
    let mut tcp = receiver(|given| {
        given.tcp.timestamps = true;
        given.tcp.recovery = RecoveryKind::Sack;
    });
    for (index, size) in [(1, 64), (3, 72), (5, 80), (7, 80)] {
        tcp.segment(index).ack(0).size(size);
    }
}

#[test]
fn segments_have_no_timestamp_without_the_option() {
    let mut tcp = receiver(|_| ());
    tcp.at(10).stamped(0, 10).stamped(1, 10).ack(2000).size(40);
}

// --- samples ----------------------------------------------------------------------------------

/// RFC 6298 §2.2 and §2.3: SRTT 100, RTTVAR 50; then RTTVAR ¾·50 + ¼·80 = 57.5, SRTT 110.
#[test]
fn every_ack_of_new_data_gives_an_rtt_sample() {
    let mut tcp = sender(|_| ());
    tcp.expect([new(0)]).timer(1000);
    tcp.at(100).echo(0).ack(1000).expect(new_segments(1, 3)).timer(400);
    tcp.at(280).echo(100).ack(2000).expect(new_segments(3, 5)).timer(620);
}

/// RFC 7323 §4.1: the echo identifies the copy that arrived, so Karn's rule is not needed, and a
/// sample resets the back-off.
#[test]
fn retransmitted_segment_gives_an_rtt_sample() {
    let mut tcp = sender(|_| ());
    tcp.expect([new(0)]).timeout_at(1000).expect([retransmission(0)]).timer(3000);
    // SRTT 50, RTTVAR 25.
    tcp.at(1050).echo(1000).ack(1000).expect(new_segments(1, 3)).timer(1200);
}

/// The first copy arrived, but late: SRTT 1050, RTTVAR 525.
#[test]
fn late_first_copy_gives_the_sample_of_its_transmission() {
    let mut tcp = sender(|_| ());
    tcp.expect([new(0)]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1050).echo(0).ack(1000).expect(new_segments(1, 3)).timer(4200);
}

#[test]
fn fast_retransmit_gives_an_rtt_sample() {
    let mut tcp = sender(|given| {
        given.tcp.receive_window = 4000;
        given.tcp.initial_window = 4000;
    });
    tcp.expect(new_segments(0, 4)).at(100).echo(0);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]).timer(1000);
    // SRTT 40, RTTVAR 20.
    tcp.at(140).echo(100).ack(4000).expect(new_segments(4, 6)).timer(260);
}

/// RFC 7323 §4.1: only if the left edge of the window moves.
#[test]
fn duplicate_acks_give_no_rtt_sample() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 2000;
        given.tcp.receive_window = 2000;
    });
    tcp.expect(new_segments(0, 2));
    tcp.at(100).echo(0).ack(1000).expect([new(2)]).timer(400);
    tcp.at(300).quiet_duplicates(2).timer(400);
    // Only this ACK gives a sample, 180: RTO 340 as above.
    tcp.at(300).echo(120).ack(2000).expect([new(3)]).timer(640);
}

/// The sample of a delayed ACK includes the delay, because the RTO must cover it (RFC 7323 §4.3).
#[test]
fn echo_gives_the_sample_and_not_the_oldest_segment() {
    let mut tcp = sender(|given| given.tcp.initial_window = 3000);
    tcp.expect(new_segments(0, 3));
    tcp.at(80).echo(40).ack(1000).expect(new_segments(3, 5)).timer(200);
}

/// RFC 7323 §5.4: the segment is sent before the clock wraps and acknowledged after it.
#[test]
fn clock_may_wrap_between_segment_and_ack() {
    let sent = WRAP - 67;
    let mut tcp = sender(|given| given.start = sent);
    tcp.expect([new(0)]).timer(sent + 1000);
    tcp.at(sent + 100).echo(sent).ack(1000).expect(new_segments(1, 3)).timer(sent + 400);
}

// --- which timestamp is echoed (RFC 7323 §4.3) ------------------------------------------------

#[test]
fn syn_ack_echoes_the_syn() {
    let mut tcp = stamping();
    tcp.at(30).syn().syn_ack().echoes(30);
}

/// (A): delayed ACKs echo the first of the acknowledged segments.
#[test]
fn delayed_ack_echoes_the_first_segment() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).at(25).stamped(1, 15).ack(2000).echoes(10);
    tcp.at(30).stamped(2, 20).timeout_at(230).ack(3000).echoes(20);
}

/// (B) and (C): segments beyond a hole do not change the echo; the segment that fills the hole
/// does.
#[test]
fn hole_keeps_the_echo_until_it_is_filled() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    tcp.at(40).stamped(3, 30).ack(2000).echoes(10);
    tcp.at(41).stamped(4, 31).ack(2000).echoes(10);
    tcp.at(60).stamped(2, 50).ack(5000).echoes(50);
    tcp.at(70).stamped(5, 60).at(71).stamped(6, 61).ack(7000).echoes(60);
}

/// A partly filled hole: the next ACK echoes the segment that filled the last part.
#[test]
fn each_part_that_fills_a_hole_updates_the_echo() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 10).ack(2000);
    tcp.at(30).stamped(4, 20).ack(2000).echoes(10);
    tcp.at(60).stamped(2, 50).ack(3000).echoes(50);
    tcp.at(61).stamped(3, 51).ack(5000).echoes(51);
}

/// RFC 7323 §4.3 (2): SEG.TSval ≥ TS.Recent. A copy of segment 0 was delayed.
#[test]
fn old_segment_does_not_update_the_echo() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    tcp.at(40).stamped(2, 30).nothing();
    tcp.at(41).stamped(0, 5).ack(3000).echoes(30);
}

/// A duplicate of an arrived segment that was sent later has a newer timestamp.
#[test]
fn unnecessary_retransmission_updates_the_echo() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    tcp.at(60).stamped(0, 50).ack(2000).echoes(50);
}

/// RFC 7323 §4.2: timestamps are compared modulo 2³².
#[test]
fn echo_follows_the_wrapping_clock() {
    let mut tcp = stamping();
    tcp.at(WRAP - 20).stamped(0, WRAP - 30).stamped(1, WRAP - 29).ack(2000).echoes(WRAP - 30);
    tcp.at(WRAP + 20).stamped(2, WRAP + 10).stamped(3, WRAP + 11).ack(4000).echoes(WRAP + 10);
    // A timestamp from before the wrap is old.
    tcp.at(WRAP + 30).stamped(1, WRAP - 29).ack(4000).echoes(WRAP + 10);
}

/// RFC 7323 §5.5: TS.Recent becomes invalid after half of the clock's range.
#[test]
fn long_pause_invalidates_the_echo() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    let after = 20 + WRAP * 2 / 3;
    tcp.at(after).stamped(2, after - 10).stamped(3, after - 9).ack(4000).echoes(after - 10);
}

/// Before the first segment no timestamp is echoed, regardless of the time.
#[test]
fn first_segment_may_arrive_late() {
    let late = WRAP * 2 / 3;
    let mut tcp = stamping();
    tcp.at(late).stamped(0, late - 10).stamped(1, late - 9).ack(2000).echoes(late - 10);
}
