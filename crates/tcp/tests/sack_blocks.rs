//! SACK blocks that a receiver reports: RFC 2018 §3 and §4.

#![allow(clippy::single_range_in_vec_init)] // SACK blocks

use crate::script::{ReceiverScript, receiver};
use airpath_tcp::RecoveryKind;

fn reporter() -> ReceiverScript {
    receiver(|given| given.tcp.recovery = RecoveryKind::Sack)
}

/// RFC 2018 §3: the option takes 2 + 8·n bytes, plus two bytes of padding.
#[test]
fn each_block_makes_the_ack_longer() {
    let mut tcp = reporter();
    tcp.segment(1).ack(0).blocks([1000..2000]).size(52);
    tcp.segment(3).ack(0).blocks([3000..4000, 1000..2000]).size(60);
    tcp.segment(5).ack(0).blocks([5000..6000, 3000..4000, 1000..2000]).size(68);
}

#[test]
fn ack_without_a_hole_has_no_block() {
    let mut tcp = reporter();
    tcp.segment(0).segment(1).ack(2000).blocks([]).size(40);
}

#[test]
fn ack_without_sack_has_no_block() {
    for kind in [RecoveryKind::Reno, RecoveryKind::NewReno] {
        let mut tcp = receiver(|given| given.tcp.recovery = kind);
        tcp.segment(1).ack(0).blocks([]).size(40);
    }
}

/// RFC 2018 §4: first the block of the latest segment, then the most recently reported blocks.
#[test]
fn latest_block_comes_first() {
    let mut tcp = reporter();
    tcp.segment(5).ack(0).segment(1).ack(0).segment(3).ack(0);
    tcp.blocks([3000..4000, 1000..2000, 5000..6000]);
    // Segment 6 makes the oldest block the latest one.
    tcp.segment(6).ack(0).blocks([5000..7000, 3000..4000, 1000..2000]);
}

#[test]
fn at_most_three_blocks_are_reported() {
    let mut tcp = reporter();
    for index in [1, 3, 5, 7] {
        tcp.segment(index).ack(0);
    }
    tcp.blocks([7000..8000, 5000..6000, 3000..4000]).size(68);
}

/// RFC 2018 §4: "as many distinct SACK blocks as possible". The other blocks are repeated even if
/// the latest one grows, so a lost ACK loses no information.
#[test]
fn growing_block_does_not_displace_the_others() {
    let mut tcp = reporter();
    for index in [3, 1, 5, 6, 7, 8, 9] {
        tcp.segment(index).ack(0);
    }
    tcp.blocks([5000..10_000, 1000..2000, 3000..4000]);
}

#[test]
fn segment_between_two_blocks_merges_them() {
    let mut tcp = reporter();
    for index in [1, 3, 7] {
        tcp.segment(index).ack(0);
    }
    tcp.segment(2).ack(0).blocks([1000..4000, 7000..8000]);
}

/// RFC 2018 §4: the first block contains the segment "which triggered this ACK", even if it is a
/// duplicate.
#[test]
fn duplicate_segment_beyond_a_hole_is_reported_first() {
    let mut tcp = reporter();
    for index in [1, 3, 5] {
        tcp.segment(index).ack(0);
    }
    tcp.segment(1).ack(0).blocks([1000..2000, 5000..6000, 3000..4000]);
}

/// RFC 2883 is left out: acknowledged data is not reported a second time.
#[test]
fn duplicate_data_is_not_reported() {
    let mut tcp = reporter();
    tcp.segment(0).segment(1).ack(2000);
    tcp.segment(0).ack(2000).blocks([]).size(40);
    tcp.segment(4).ack(2000).blocks([4000..5000]);
    tcp.segment(1).ack(2000).blocks([4000..5000]);
}

/// RFC 2018 §4: the segment advanced the acknowledgement; the other blocks keep their order.
#[test]
fn filling_a_hole_keeps_the_order_of_the_other_blocks() {
    let mut tcp = reporter();
    for index in [1, 3, 5, 7] {
        tcp.segment(index).ack(0);
    }
    tcp.segment(3).ack(0).blocks([3000..4000, 7000..8000, 5000..6000]);
    tcp.segment(0).ack(2000).blocks([3000..4000, 7000..8000, 5000..6000]);
    tcp.segment(2).ack(4000).blocks([7000..8000, 5000..6000]).size(60);
    tcp.segment(4).ack(6000).blocks([7000..8000]);
    tcp.segment(6).ack(8000).blocks([]).size(40);
}

#[test]
fn omitted_block_is_reported_when_it_fits_again() {
    let mut tcp = reporter();
    for index in [1, 3, 5, 7] {
        tcp.segment(index).ack(0);
    }
    // The blocks of 5 and 7 are merged, so the omitted block of 1 fits.
    tcp.segment(6).ack(0).blocks([5000..8000, 3000..4000, 1000..2000]);
}
