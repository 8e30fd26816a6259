//! The timestamps option: RFC 7323 §3, §4.

use crate::script;
use crate::script::{
    Given, ReceiverScript, Segment, SenderScript, new, new_segments, receiver, retransmission,
};
use airpath_core::Duration;
use airpath_tcp::RecoveryKind;

/// Milliseconds after which a clock of 32 bits and microseconds begins again.
const WRAP: u64 = (1 << 32) / 1000;

/// RTOs are visible from 1 ms on; every segment is checked for its 12 bytes and its clock.
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

/// RFC 7323 §3.2: once agreed upon, in every segment, retransmissions included.
#[test]
fn every_segment_is_twelve_bytes_longer_and_has_a_timestamp() {
    let mut tcp = sender(|given| given.tcp.initial_window = 3000);
    tcp.expect(new_segments(0, 3)).timeout_at(1000).expect([retransmission(0)]);
}

#[test]
fn the_syn_is_longer_too() {
    let mut tcp = sender(|given| given.tcp.handshake = true);
    tcp.expect([Segment::Syn]).at(100).syn_ack(60_000).expect([new(0)]);
}

#[test]
fn acks_are_longer_too() {
    let mut tcp = stamping();
    tcp.syn().syn_ack().size(52);
    tcp.segment(0).segment(1).ack(2000).size(52);
    tcp.segment(5).ack(2000).size(52);
}

/// RFC 2018 §3: three blocks and timestamps fill the 40 bytes that options may take.
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
fn without_the_option_there_is_no_clock() {
    let mut tcp = receiver(|_| ());
    tcp.at(10).stamped(0, 10).stamped(1, 10).ack(2000).size(40);
}

// --- samples ----------------------------------------------------------------------------------

/// RFC 6298 §2.2 and §2.3: SRTT 100, RTTVAR 50; then RTTVAR ¾·50 + ¼·80 = 57.5, SRTT 110.
#[test]
fn every_ack_of_new_data_gives_a_sample() {
    let mut tcp = sender(|_| ());
    tcp.expect([new(0)]).timer(1000);
    tcp.at(100).echo(0).ack(1000).expect(new_segments(1, 3)).timer(400);
    tcp.at(280).echo(100).ack(2000).expect(new_segments(3, 5)).timer(620);
}

/// RFC 7323 §4.1: the echo identifies the copy that arrived, so Karn's rule is not needed, and a
/// sample ends the back-off.
#[test]
fn a_resent_segment_gives_a_sample() {
    let mut tcp = sender(|_| ());
    tcp.expect([new(0)]).timeout_at(1000).expect([retransmission(0)]).timer(3000);
    // SRTT 50, RTTVAR 25.
    tcp.at(1050).echo(1000).ack(1000).expect(new_segments(1, 3)).timer(1200);
}

/// It was the first copy that arrived, late: SRTT 1050, RTTVAR 525.
#[test]
fn a_late_first_copy_gives_its_own_time() {
    let mut tcp = sender(|_| ());
    tcp.expect([new(0)]).timeout_at(1000).expect([retransmission(0)]);
    tcp.at(1050).echo(0).ack(1000).expect(new_segments(1, 3)).timer(4200);
}

#[test]
fn a_fast_retransmit_gives_a_sample() {
    let mut tcp = sender(|given| {
        given.tcp.receive_window = 4000;
        given.tcp.initial_window = 4000;
    });
    tcp.expect(new_segments(0, 4)).at(100).echo(0);
    tcp.quiet_duplicates(2).duplicate().expect([retransmission(0)]).timer(1000);
    // SRTT 40, RTTVAR 20.
    tcp.at(140).echo(100).ack(4000).expect(new_segments(4, 6)).timer(260);
}

/// RFC 7323 §4.1: only when the left edge of the window moves.
#[test]
fn duplicates_give_no_sample() {
    let mut tcp = sender(|given| {
        given.tcp.initial_window = 2000;
        given.tcp.receive_window = 2000;
    });
    tcp.expect(new_segments(0, 2));
    tcp.at(100).echo(0).ack(1000).expect([new(2)]).timer(400);
    tcp.at(300).quiet_duplicates(2).timer(400);
    // The sample of this ACK alone, 180: RTO 340 as above.
    tcp.at(300).echo(120).ack(2000).expect([new(3)]).timer(640);
}

/// The sample of a delayed ACK contains the delay, for the RTO has to cover it (RFC 7323 §4.3).
#[test]
fn the_echo_and_not_the_oldest_segment_is_the_sample() {
    let mut tcp = sender(|given| given.tcp.initial_window = 3000);
    tcp.expect(new_segments(0, 3));
    tcp.at(80).echo(40).ack(1000).expect(new_segments(3, 5)).timer(200);
}

/// RFC 7323 §5.4: sent at the end of one round of the clock, acknowledged in the next.
#[test]
fn the_clock_may_wrap_between_segment_and_ack() {
    let sent = WRAP - 67;
    let mut tcp = sender(|given| given.start = sent);
    tcp.expect([new(0)]).timer(sent + 1000);
    tcp.at(sent + 100).echo(sent).ack(1000).expect(new_segments(1, 3)).timer(sent + 400);
}

// --- which timestamp is echoed (RFC 7323 §4.3) ------------------------------------------------

#[test]
fn the_syn_ack_echoes_the_syn() {
    let mut tcp = stamping();
    tcp.at(30).syn().syn_ack().echoes(30);
}

/// (A): delayed ACKs echo the first of the segments that they cover.
#[test]
fn a_delayed_ack_echoes_the_first_segment() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).at(25).stamped(1, 15).ack(2000).echoes(10);
    tcp.at(30).stamped(2, 20).timeout_at(230).ack(3000).echoes(20);
}

/// (B) and (C): beyond a hole the last segment before it is echoed; what fills it gives its own.
#[test]
fn a_hole_keeps_the_echo_until_it_is_filled() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    tcp.at(40).stamped(3, 30).ack(2000).echoes(10);
    tcp.at(41).stamped(4, 31).ack(2000).echoes(10);
    tcp.at(60).stamped(2, 50).ack(5000).echoes(50);
    tcp.at(70).stamped(5, 60).at(71).stamped(6, 61).ack(7000).echoes(60);
}

/// A hole that is filled in part: the next ACK still echoes the segment that filled it last.
#[test]
fn each_part_that_fills_a_hole_gives_its_time() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 10).ack(2000);
    tcp.at(30).stamped(4, 20).ack(2000).echoes(10);
    tcp.at(60).stamped(2, 50).ack(3000).echoes(50);
    tcp.at(61).stamped(3, 51).ack(5000).echoes(51);
}

/// RFC 7323 §4.3 (2): SEG.TSval ≥ TS.Recent. A copy of segment 0 was on a long way.
#[test]
fn an_old_segment_does_not_turn_the_echo_back() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    tcp.at(40).stamped(2, 30).nothing();
    tcp.at(41).stamped(0, 5).ack(3000).echoes(30);
}

/// A segment that came before but was sent later is no older than what is echoed.
#[test]
fn a_needless_retransmission_moves_the_echo() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    tcp.at(60).stamped(0, 50).ack(2000).echoes(50);
}

/// RFC 7323 §4.2: later is a matter of 2³¹ ticks, not of the larger number.
#[test]
fn the_echo_follows_the_clock_around() {
    let mut tcp = stamping();
    tcp.at(WRAP - 20).stamped(0, WRAP - 30).stamped(1, WRAP - 29).ack(2000).echoes(WRAP - 30);
    tcp.at(WRAP + 20).stamped(2, WRAP + 10).stamped(3, WRAP + 11).ack(4000).echoes(WRAP + 10);
    // Before the wrap is old.
    tcp.at(WRAP + 30).stamped(1, WRAP - 29).ack(4000).echoes(WRAP + 10);
}

/// RFC 7323 §5.5: what is echoed loses its validity when half a round of the clock has passed.
#[test]
fn a_long_pause_does_not_freeze_the_echo() {
    let mut tcp = stamping();
    tcp.at(20).stamped(0, 10).stamped(1, 11).ack(2000).echoes(10);
    let after = 20 + WRAP * 2 / 3;
    tcp.at(after).stamped(2, after - 10).stamped(3, after - 9).ack(4000).echoes(after - 10);
}

/// Nothing is echoed before the first segment, however late it comes.
#[test]
fn the_first_segment_may_come_late() {
    let late = WRAP * 2 / 3;
    let mut tcp = stamping();
    tcp.at(late).stamped(0, late - 10).stamped(1, late - 9).ack(2000).echoes(late - 10);
}
