//! Receiver: RFC 5681 §4.2 and RFC 1122 §4.2.3.2 (delayed ACKs), RFC 9293 §3.8.6 (window), RFC 9293
//! §3.10.7.4 (old and early segments).

use crate::script;
use crate::script::{Given, MSS, receiver, receiver_with_policy};
use airpath_core::{Duration, StageError};
use airpath_tcp::window::{Arrival, ReceiveWindow};
use std::sync::{Arc, Mutex};

fn every_segment(given: &mut Given) {
    given.tcp.delayed_ack_segments = 1;
}

#[test]
fn every_second_segment_is_acknowledged_immediately() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(0).nothing();
    peer.at(11).segment(1).ack(2000).no_timer();
    peer.at(12).segment(2).nothing();
    peer.at(13).segment(3).ack(4000).no_timer();
}

#[test]
fn single_segment_is_acknowledged_after_the_delay() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(0).nothing();
    peer.timeout_at(210).ack(1000).no_timer();
}

#[test]
fn ack_delay_is_configurable() {
    let mut peer = receiver(|given| given.tcp.delayed_ack_timeout = Duration::from_millis(40));
    peer.at(10).segment(0).nothing();
    peer.timeout_at(50).ack(1000);
}

/// The delay starts with the first unacknowledged segment: RFC 1122 §4.2.3.2 limits its time.
#[test]
fn later_segment_does_not_extend_the_delay() {
    let mut peer = receiver(|given| given.tcp.delayed_ack_segments = 4);
    peer.at(10).segment(0).nothing();
    peer.at(110).segment(1).nothing();
    peer.at(209).segment(2).nothing();
    peer.timeout_at(210).ack(3000).no_timer();
}

#[test]
fn count_restarts_after_the_delay() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(0).timeout_at(210).ack(1000);
    peer.at(220).segment(1).nothing();
    peer.at(230).segment(2).ack(3000).no_timer();
}

#[test]
fn each_segment_is_acknowledged_without_delayed_acks() {
    let mut peer = receiver(every_segment);
    for index in 0..3 {
        peer.at(10 * (index + 1)).segment(index);
        peer.ack((index + 1) * 1000).no_timer();
    }
}

#[test]
fn short_segment_counts_like_any_other() {
    let mut peer = receiver(|_| ());
    peer.at(10).bytes(0, 10).nothing();
    peer.at(11).bytes(10, 10).ack(20);
}

/// RFC 5681 §4.2: a duplicate ACK SHOULD be sent immediately for an out-of-order segment.
#[test]
fn each_segment_beyond_a_hole_gives_an_immediate_duplicate_ack() {
    let mut peer = receiver(every_segment);
    peer.at(10).segment(0).ack(1000);
    for index in 2..6 {
        peer.at(10 + index).segment(index).ack(1000).no_timer();
    }
}

#[test]
fn segment_beyond_a_hole_replaces_the_delayed_ack() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(0).nothing();
    peer.at(20).segment(2).ack(1000).no_timer();
    // The count restarts: the filled hole is acknowledged immediately, then every second segment.
    peer.at(30).segment(1).ack(3000);
    peer.at(40).segment(3).nothing();
    peer.at(50).segment(4).ack(5000);
}

/// RFC 5681 §4.2: an ACK SHOULD be sent immediately when a segment fills all of a gap.
#[test]
fn filled_hole_is_acknowledged_immediately() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(1).ack(0).at(11).segment(2).ack(0);
    peer.at(20).segment(0).ack(3000).no_timer();
    assert_eq!(peer.delivered(), 3000);
}

/// RFC 5681 §4.2: an ACK SHOULD also be sent immediately when a segment fills a part of a gap.
#[test]
fn partly_filled_hole_is_acknowledged_immediately() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(3).ack(0);
    peer.at(20).segment(0).ack(1000);
    peer.at(30).segment(2).ack(1000);
    peer.at(40).segment(1).ack(4000).no_timer();
}

/// RFC 9293 §3.10.7.4: an unacceptable segment is answered with an ACK.
#[test]
fn duplicate_segment_is_acknowledged_immediately() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(0).at(11).segment(1).ack(2000);
    peer.at(20).segment(0).ack(2000);
    peer.at(30).segment(1).ack(2000).no_timer();
    assert_eq!(peer.delivered(), 2000);
}

#[test]
fn duplicate_beyond_a_hole_is_acknowledged_immediately() {
    let mut peer = receiver(|_| ());
    peer.at(10).segment(2).ack(0).at(20).segment(2).ack(0);
    assert_eq!(peer.delivered(), 0);
}

#[test]
fn new_bytes_of_an_overlapping_segment_are_delivered_once() {
    let mut peer = receiver(every_segment);
    peer.at(10).segment(0).ack(1000);
    peer.at(20).bytes(500, 1000).ack(1500);
    peer.at(30).bytes(2000, 500).ack(1500);
    peer.at(40).bytes(1200, 2000).ack(3200);
    assert_eq!(peer.delivered(), 3200);
}

#[test]
fn window_field_counts_from_the_acknowledgement() {
    let mut peer = receiver(every_segment);
    peer.at(10).segment(0).ack(1000).window(10_000);
    peer.at(20).segment(2).ack(1000).window(10_000);
    peer.at(30).segment(1).ack(3000).window(10_000);
}

/// A policy with a list of windows, one per arrival.
struct Steps(Vec<u64>);

impl ReceiveWindow for Steps {
    fn on_arrival(&mut self, _arrival: &Arrival) -> Result<(), StageError> {
        self.0.remove(0);
        Ok(())
    }

    fn window(&self) -> u64 {
        self.0[0]
    }
}

/// RFC 9293 §3.8.6: a receiver SHOULD NOT shrink the window, that is move its right edge left.
#[test]
fn right_edge_never_moves_back() {
    let mut peer = receiver_with_policy(Steps(vec![10_000, 10_000, 4000, 4000, 4000, 9000]));
    peer.syn().syn_ack().window(10_000);
    peer.at(10).segment(0).nothing();
    // The right edge is 10 000. A window of 4000 from 2000 would end at 6000.
    peer.at(20).segment(1).ack(2000).window(8000);
    peer.at(30).segment(3).ack(2000).window(8000);
    peer.at(40).segment(2).ack(4000).window(6000);
    peer.at(50).segment(4).nothing();
    peer.timeout_at(250).ack(5000).window(9000);
}

#[test]
fn shrinking_window_takes_effect_when_the_data_has_caught_up() {
    let mut peer = receiver_with_policy(Steps(vec![3000, 1000, 1000, 1000, 1000]));
    peer.syn().syn_ack().window(3000);
    peer.at(10).segment(0).at(11).segment(1).ack(2000).window(1000);
    peer.at(12).segment(2).nothing().at(13).segment(3).ack(4000).window(1000);
}

/// A policy that records its calls.
struct Notes(Arc<Mutex<Vec<(bool, bool, f32)>>>);

impl ReceiveWindow for Notes {
    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError> {
        let note = (arrival.in_order, arrival.duplicate, arrival.feedback);
        self.0.lock().expect("no other thread").push(note);
        Ok(())
    }

    fn window(&self) -> u64 {
        10 * MSS
    }
}

#[test]
fn policy_receives_the_order_and_the_price_of_every_arrival() {
    let notes = Arc::default();
    let mut peer = receiver_with_policy(Notes(Arc::clone(&notes)));
    peer.at(10).priced_bytes(1000, 1000, 1.0).ack(0);
    peer.at(20).priced_bytes(0, 1000, 2.0).ack(2000);
    peer.at(30).priced_bytes(0, 1000, 3.0).ack(2000);
    let notes = notes.lock().expect("no other thread");
    let expected = [(false, false, 1.0), (true, false, 2.0), (false, true, 3.0)];
    assert_eq!(*notes, expected);
}

#[test]
fn ack_echoes_the_feedback_of_the_last_segment() {
    let mut peer = receiver(|_| ());
    peer.at(10).priced_bytes(0, 1000, 0.25).nothing();
    peer.at(20).priced_bytes(1000, 1000, 0.5).ack(2000).feedback(0.5);
    peer.at(30).priced_bytes(2000, 1000, 0.75).nothing();
    peer.timeout_at(230).ack(3000).feedback(0.75);
}

// --- quick ACKs (Linux) -----------------------------------------------------------------------

fn quick(count: u32) -> script::ReceiverScript {
    receiver(|given| given.tcp.quick_acks = count)
}

#[test]
fn first_segments_are_acknowledged_one_by_one() {
    let mut peer = quick(3);
    for index in 0..3 {
        peer.at(10 + index).segment(index).ack((index + 1) * 1000).no_timer();
    }
    peer.at(20).segment(3).nothing().at(21).segment(4).ack(5000);
    peer.at(22).segment(5).nothing().timeout_at(222).ack(6000);
}

#[test]
fn only_in_order_segments_count_as_quick_acks() {
    let mut peer = quick(2);
    peer.at(10).segment(0).ack(1000);
    peer.at(11).segment(2).ack(1000).at(12).segment(2).ack(1000).at(13).segment(1).ack(3000);
    peer.at(14).segment(3).ack(4000);
    peer.at(15).segment(4).nothing().at(16).segment(5).ack(6000);
}

#[test]
fn first_segment_is_delayed_without_quick_acks() {
    quick(0).at(10).segment(0).nothing();
}
