//! A sender and a receiver with a slow reader, connected by a path with a one-way delay of 50 ms.

use airpath_core::testing::TestHarness;
use airpath_core::{Duration, Flags, FlowId, Packet, Port, Stage, Time};
use airpath_tcp::congestion::{AnyCongestion, CongestionSetup, Reno};
use airpath_tcp::window::{AnyWindow, DrainConfig, DrainWindow};
use airpath_tcp::{
    Receiver, ReceiverReport, RecoveryKind, Sender, SenderConfig, SenderReport, TcpConfig,
    WindowScaling,
};
use std::collections::VecDeque;

const ONE_WAY: Duration = Duration::from_millis(50);

/// Reports of both ends, and the payload of every new segment.
struct Outcome {
    sent: SenderReport,
    received: ReceiverReport,
    segments: Vec<u64>,
    updates: u64,
}

/// Runs until `end`. `is_lost` selects the lost ACKs.
fn run(
    options: &TcpConfig,
    drain: DrainConfig,
    end: Time,
    mut is_lost: impl FnMut(&Packet) -> bool,
) -> Outcome {
    let congestion =
        AnyCongestion::Reno(Reno::new(&CongestionSetup { options: options.clone().into() }));
    let (start, stop) = (Time::ZERO, Time::NEVER);
    let config = SenderConfig {
        flow: FlowId(0),
        options: options.clone().into(),
        congestion,
        transfer: None,
        start,
        stop,
    };
    let mut sender = Sender::new(config);
    let drain = DrainWindow::new(options.largest_window(), drain);
    let mut receiver = Receiver::new(FlowId(0), options, AnyWindow::Drain(Box::new(drain)));
    let mut harness = TestHarness::default();
    let mut ways: [VecDeque<(Time, Packet)>; 2] = Default::default();
    let (mut segments, mut updates) = (Vec::new(), 0);
    loop {
        let arrival = |way: &VecDeque<(Time, Packet)>| way.front().map_or(Time::NEVER, |p| p.0);
        let due =
            [sender.next_wakeup(), receiver.next_wakeup(), arrival(&ways[0]), arrival(&ways[1])];
        let (event, now) = due.into_iter().enumerate().min_by_key(|(_, at)| *at).expect("four");
        if now >= end {
            let (sent, received) = (sender.report(), receiver.report());
            return Outcome { sent, received, segments, updates };
        }
        let mut next = |way: usize| ways[way].pop_front().expect("it was due").1;
        match event {
            0 => sender.wake(&mut harness.at(now)),
            1 => receiver.wake(&mut harness.at(now)),
            2 => receiver.receive(Port(0), &next(0), &mut harness.at(now)),
            _ => sender.receive(Port(0), &next(1), &mut harness.at(now)),
        }
        let way = usize::from(event == 1 || event == 2);
        for (_, packet) in harness.sent() {
            if way == 0 && !packet.flags.contains(Flags::RETRANSMITTED) {
                segments.push(packet.payload_bytes());
            }
            updates += u64::from(packet.flags.contains(Flags::WINDOW_UPDATE));
            if way == 0 || !is_lost(&packet) {
                ways[way].push_back((now + ONE_WAY, packet));
            }
        }
    }
}

fn options() -> TcpConfig {
    TcpConfig { mss: 1000, receive_window: 20_000, ..TcpConfig::rfc() }
}

fn reads(rate_bps: u64, start_s: u64) -> DrainConfig {
    DrainConfig { rate_bps, start_ns: start_s * 1_000_000_000 }
}

/// 100 kbit/s are 12 500 bytes per second; the buffer contains at most 20 000 unread bytes.
#[test]
fn transfer_rate_equals_the_reading_rate() {
    let outcome = run(&options(), reads(100_000, 0), Time::from_secs(1000), |_| false);
    let read = 12_500 * 1000;
    let stream = outcome.received.stream_bytes;
    assert!((read - 20_000..=read + 20_000).contains(&stream), "{stream}");
    assert_eq!(outcome.sent.timeouts + outcome.sent.retransmissions, 0);
    assert_eq!(outcome.sent.window_probes, 0);
}

/// RFC 1122 §4.2.3.3 and §4.2.3.4: silly-window avoidance, so only full-sized segments.
#[test]
fn slow_transfer_uses_full_segments() {
    let outcome = run(&options(), reads(100_000, 0), Time::from_secs(1000), |_| false);
    assert_eq!(outcome.segments[0], 0, "the SYN");
    assert!(outcome.segments[1..].iter().all(|payload| *payload == 1000));
}

/// A flight of 20 segments arrives at one time, so at most one update per flight is due, every 100
/// ms.
#[test]
fn fast_reader_causes_at_most_one_update_per_flight() {
    let outcome = run(&options(), reads(100_000_000, 0), Time::from_secs(100), |_| false);
    assert!(outcome.updates <= 1000, "{}", outcome.updates);
    assert!(outcome.received.stream_bytes > 190_000 * 100, "{}", outcome.received.stream_bytes);
}

/// RFC 9293 §3.8.6.1: probes keep a connection alive if its window updates are lost. The buffer is
/// full after 350 ms. The probes after 1, 3 and 7 s are rejected, and the probe after 15 s is
/// accepted.
#[test]
fn lost_window_updates_do_not_stop_a_transfer() {
    let mut lost = 0;
    let outcome = run(&options(), reads(100_000, 10), Time::from_secs(1000), |ack| {
        let is_update = ack.flags.contains(Flags::WINDOW_UPDATE);
        lost += u64::from(is_update);
        is_update
    });
    // One update per quarter of the buffer, until the buffer was empty.
    assert_eq!((outcome.updates, lost), (4, 4));
    assert_eq!(outcome.sent.window_probes, 4);
    let stream = outcome.received.stream_bytes;
    assert!(stream > 12_500 * (1000 - 17), "{stream}");
}

#[test]
fn probing_ends_with_a_window_update() {
    let outcome = run(&options(), reads(100_000, 10), Time::from_secs(1000), |_| false);
    assert_eq!(outcome.sent.window_probes, 3);
    let stream = outcome.received.stream_bytes;
    assert!(stream > 12_500 * (1000 - 11), "{stream}");
}

/// A reader that sleeps: the back-off of the probes reaches one minute.
#[test]
fn window_closed_for_ten_minutes_is_probed_every_minute() {
    let outcome = run(&options(), reads(0, 0), Time::from_secs(660), |_| false);
    assert_eq!(outcome.received.stream_bytes, 20_000);
    // After 1, 2, 4, … 32 s, in total 63 s, and then every minute.
    assert_eq!(outcome.sent.window_probes, 6 + 9);
    assert_eq!((outcome.sent.timeouts, outcome.updates), (0, 0));
}

/// The same with every option that changes the contents of an ACK.
#[test]
fn transfer_resumes_after_a_long_sleep_with_sack_timestamps_and_scaling() {
    let options = TcpConfig {
        mss: 1000,
        receive_window: 300_000,
        recovery: RecoveryKind::Prr,
        timestamps: true,
        window_scaling: WindowScaling::On,
        ..TcpConfig::rfc()
    };
    // Longer than half of the range of the timestamp clock, 36 minutes.
    let outcome = run(&options, reads(100_000, 4000), Time::from_secs(5000), |_| false);
    let stream = outcome.received.stream_bytes;
    assert!(stream > 12_500 * (1000 - 60), "{stream}");
    assert_eq!(outcome.sent.timeouts, 0);
    assert!(outcome.sent.mean_rtt_s.is_some_and(|rtt| rtt < 0.4), "{:?}", outcome.sent.mean_rtt_s);
}
