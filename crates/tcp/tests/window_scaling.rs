//! Window field: RFC 9293 §3.1 (16 bits), RFC 7323 §2 (scaled by a power of two).

use crate::script::{ReceiverScript, Segment, new_segments, receiver_with, sender};
use airpath_tcp::WindowScaling;
use airpath_tcp::window::{AnyWindow, DrainConfig, DrainWindow, FixedWindow};

/// Creates a receiver whose buffer has `window` bytes.
fn receiver(window: u64, scaling: WindowScaling) -> ReceiverScript {
    receiver_with(
        |given| {
            given.tcp.receive_window = window;
            given.tcp.window_scaling = scaling;
            given.tcp.delayed_ack_segments = 1;
        },
        AnyWindow::Fixed(FixedWindow::new(window)),
    )
}

#[test]
fn window_without_scaling_is_at_most_65535_bytes() {
    let mut peer = receiver(1_000_000, WindowScaling::Off);
    peer.syn().syn_ack().window(65_535);
    peer.segment(0).ack(1000).window(65_535);
}

/// RFC 7323 §2.2: the window of the SYN-ACK is not scaled, so it is at most 65 535.
#[test]
fn rfc7323_2_2_scaling_begins_after_the_syn_ack() {
    let mut peer = receiver(1_000_000, WindowScaling::On);
    peer.syn().syn_ack().window(65_535);
    // 1 000 000 requires a shift of 4.
    peer.segment(0).ack(1000).window(1_000_000);
}

#[test]
fn rfc7323_2_3_window_is_rounded_down_to_its_step() {
    let mut peer = receiver(1_000_003, WindowScaling::On);
    peer.syn().syn_ack().segment(0).ack(1000).window(1_000_000);
}

#[test]
fn window_that_fits_into_sixteen_bits_is_not_scaled() {
    let mut peer = receiver(65_535, WindowScaling::On);
    peer.syn().syn_ack().window(65_535).segment(0).ack(1000).window(65_535);
}

/// RFC 7323 §2.4: because of rounding, the advertised right edge may be slightly to the left of an
/// earlier one. Data inside an earlier window is still accepted.
#[test]
fn rfc7323_2_4_data_inside_an_earlier_window_is_accepted() {
    // The reader has stopped: the edge remains at 200 000, with a step of 4.
    let drain = DrainWindow::new(200_000, DrainConfig { rate_bps: 0, start_ns: 0 });
    let mut peer = receiver_with(
        |given| {
            given.tcp.receive_window = 200_000;
            given.tcp.window_scaling = WindowScaling::On;
            given.tcp.delayed_ack_segments = 1;
        },
        AnyWindow::Drain(Box::new(drain)),
    );
    peer.bytes(0, 1001).ack(1001).window(198_996);
    for start in [1001, 61_001, 121_001] {
        peer.bytes(start, 60_000).ack(start + 60_000);
    }
    peer.bytes(181_001, 18_999).ack(200_000).window(0);
    assert_eq!(peer.delivered(), 200_000);
}

#[test]
fn sender_without_a_handshake_uses_the_window_field() {
    let first_flight = |scaling| {
        let mut tcp = sender(|given| {
            given.tcp.receive_window = 100_001;
            given.tcp.initial_window = 200_000;
            given.tcp.window_scaling = scaling;
        });
        tcp.take().len()
    };
    let flights = [WindowScaling::Off, WindowScaling::On, WindowScaling::Exact].map(first_flight);
    assert_eq!(flights, [65, 100, 100]);
}

/// Until the first ACK the sender knows only the window of the SYN-ACK.
#[test]
fn first_flight_respects_the_window_of_the_syn_ack() {
    let mut tcp = sender(|given| {
        given.tcp.handshake = true;
        given.tcp.initial_window = 200_000;
        given.tcp.receive_window = 1_000_000;
        given.tcp.window_scaling = WindowScaling::On;
    });
    tcp.expect([Segment::Syn]).at(100).syn_ack(65_535).expect(new_segments(0, 65));
    tcp.at(200).ack_with_window(1000, 1_000_000).expect(new_segments(65, 202));
}
