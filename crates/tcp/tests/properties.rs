//! Properties that hold for all options: a sender and a receiver over a channel that loses,
//! duplicates, delays and reorders packets.

use crate::random_channel::*;
use crate::script;
use crate::script::Peer;
use airpath_conformance::cases;
use airpath_core::testing::TestHarness;
use airpath_core::{Duration, Packet, Port, Stage, Time};
use airpath_tcp::congestion::{AnyCongestion, CongestionSetup, Reno};
use airpath_tcp::{EcnUse, RecoveryKind, Sender, SenderConfig, StackVariant, TcpConfig};
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1000), failure_persistence: None, ..Default::default() })]

    /// The invariants hold at every step (see `Connection::check`), and the transfer ends.
    #[test]
    fn every_byte_arrives_once_and_the_transfer_ends(
        options in options(), treatments in treatments(), tenths in 1u64..800, one_way in 0u64..120,
    ) {
        every_byte_arrives_once(&options, treatments, tenths, one_way)?;
    }

    /// Without losses, and with timers longer than the RTT, no segment is retransmitted.
    #[test]
    fn lossless_channel_causes_no_retransmission(
        options in options(), tenths in 1u64..3000, one_way in 0u64..120,
    ) {
        let options = TcpConfig {
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_secs(1),
            rto_granularity: Duration::ZERO,
            ..options
        };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let one_way = Duration::from_millis(one_way);
        let mut connection = Connection::new(&options, Some(transfer), one_way);
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        let report = connection.sender.report();
        prop_assert_eq!((report.retransmissions, report.timeouts), (0, 0));
        prop_assert_eq!(connection.receiver.report().duplicates, 0);
    }

    /// Marks are not losses: with any marks no segment is retransmitted, and there is at most one
    /// reduction per window of data.
    #[test]
    fn marks_cause_no_retransmission(
        options in options(), marks in prop::collection::vec(any::<bool>(), 0..400),
        tenths in 1u64..3000, one_way in 0u64..120,
    ) {
        let options = TcpConfig {
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_secs(1),
            rto_granularity: Duration::ZERO,
            ecn: if options.ecn == EcnUse::Off { EcnUse::On } else { options.ecn },
            ..options
        };
        let treatments = marks.iter().map(|mark| if *mark { PacketTreatment::Mark } else { PacketTreatment::Deliver });
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        let one_way = Duration::from_millis(one_way);
        let mut connection =
            Connection::new(&options, Some(transfer), one_way).with_treatments(treatments.collect());
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        let report = connection.sender.report();
        prop_assert_eq!((report.retransmissions, report.timeouts), (0, 0));
        prop_assert!(report.completed_at.is_some());
        if one_way > Duration::ZERO {
            let round_trips = connection.now.as_nanos() / (2 * one_way.as_nanos());
            prop_assert!(report.ecn_reductions <= round_trips);
        }
    }
}

/// Treatment of a packet on the path to or from a receiver that reneges.
#[derive(Clone, Copy, Debug)]
enum ChannelEvent {
    Deliver,
    Lose,
    Delay(u64),
    /// The packet arrives. Then the receiver discards all data beyond a hole.
    Renege,
}

/// Sends a transfer to a receiver that reneges. Returns true if the transfer ended. The overflow
/// checks of the build verify the invariants of the sender that depend on arithmetic (pipe,
/// HighRxt, the counts of PRR).
fn transfer_to_a_reneging_receiver(
    options: &TcpConfig,
    transfer: u64,
    events: &[ChannelEvent],
) -> bool {
    let setup = CongestionSetup { options: options.clone().into() };
    let mut sender = Sender::new(SenderConfig {
        flow: FLOW,
        options: options.clone().into(),
        congestion: AnyCongestion::Reno(Reno::new(&setup)),
        transfer: Some(transfer),
        start: Time::ZERO,
        stop: Time::NEVER,
    });
    let window = options.receive_window as u32;
    let (mut peer, mut harness) = (Peer::default(), TestHarness::default());
    let mut channel: BTreeMap<(Time, u64), (To, Packet, bool)> = BTreeMap::new();
    let mut number = 0;
    for _ in 0..200_000 {
        let arrival = channel.keys().next().map_or(Time::NEVER, |&(time, _)| time);
        let now = arrival.min(sender.next_wakeup());
        if now.is_never() {
            return peer.next == transfer && sender.report().completed_at.is_some();
        }
        let mut launched = Vec::new();
        if arrival == now {
            let (_, (to, packet, reneges)) = channel.pop_first().expect("a packet is due");
            match to {
                To::Sender => sender.receive(Port(0), &packet, &mut harness.at(now)),
                To::Receiver => {
                    peer.take(packet.seq, packet.end());
                    let mut ack = peer.ack(window);
                    ack.tsecr = packet.tsval;
                    launched.push((To::Sender, ack));
                    if reneges {
                        peer.renege();
                    }
                }
            }
        } else {
            sender.wake(&mut harness.at(now));
        }
        launched.extend(harness.sent().into_iter().map(|(_, segment)| (To::Receiver, segment)));
        for (to, packet) in launched {
            let event = events.get(number as usize).copied().unwrap_or(ChannelEvent::Deliver);
            number += 1;
            let due = now + Duration::from_millis(50);
            let (due, reneges) = match event {
                ChannelEvent::Deliver => (due, false),
                ChannelEvent::Lose => continue,
                ChannelEvent::Delay(millis) => (due + Duration::from_millis(millis), false),
                ChannelEvent::Renege => (due, true),
            };
            channel.insert((due, number), (to, packet, reneges));
        }
        assert!(sender.cwnd() >= u64::from(options.mss));
        let waits = sender.bytes_in_flight() > 0;
        assert!(!waits || !sender.next_wakeup().is_never(), "no timer for what is in flight");
    }
    false
}

fn events() -> impl Strategy<Value = Vec<ChannelEvent>> {
    let event = prop_oneof![
        6 => Just(ChannelEvent::Deliver),
        2 => Just(ChannelEvent::Lose),
        1 => (1u64..400).prop_map(ChannelEvent::Delay),
        2 => Just(ChannelEvent::Renege),
    ];
    prop::collection::vec(event, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1000), failure_persistence: None, ..Default::default() })]

    /// RFC 2018 §8: selectively acknowledged data may be discarded, and is then retransmitted.
    #[test]
    fn transfer_to_a_reneging_receiver_ends(
        options in options(), prr: bool, events in events(), tenths in 1u64..800,
    ) {
        let recovery = if prr { RecoveryKind::Prr } else { RecoveryKind::Sack };
        let options = TcpConfig { recovery, handshake: false, ..options };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        prop_assert!(transfer_to_a_reneging_receiver(&options, transfer, &events));
    }

    /// With ns-3's loss recovery, a transfer also ends despite losses, delays and reneging.
    #[test]
    fn transfer_with_ns3_procedures_ends(
        options in options(), prr: bool, treatments in treatments(), events in events(), tenths in 1u64..800,
    ) {
        let recovery = if prr { RecoveryKind::Prr } else { RecoveryKind::Sack };
        let (stack, ecn) = (StackVariant::Ns3, EcnUse::Off);
        let options = TcpConfig { recovery, handshake: false, stack, ecn, ..options };
        let transfer = (u64::from(options.mss) * tenths / 10).max(1);
        prop_assert!(transfer_to_a_reneging_receiver(&options, transfer, &events));
        let one_way = Duration::from_millis(20);
        let mut connection = Connection::new(&options, Some(transfer), one_way).with_treatments(treatments);
        prop_assert!(connection.run(Time::NEVER, 200_000), "the transfer does not end");
        prop_assert_eq!(connection.receiver.report().stream_bytes, transfer);
    }

    /// Losses in one window are recovered without the timer if at least three segments, and the
    /// segments that they release, arrive: RFC 6675 retransmits every hole as soon as `pipe`
    /// allows.
    #[test]
    fn losses_in_one_window_need_no_timeout(
        prr: bool, lost in prop::collection::btree_set(0u64..17, 1..14),
    ) {
        let recovery = if prr { RecoveryKind::Prr } else { RecoveryKind::Sack };
        let lost: Vec<u64> = lost.into_iter().collect();
        let course = script::sender(|given| {
            given.tcp.recovery = recovery;
            given.tcp.initial_window = 20_000;
        })
        .closed_loop(&lost, 20_000);
        prop_assert_eq!((course.timeouts, course.recoveries), (0, 1));
        prop_assert_eq!(course.retransmissions, lost.len() as u64);
        prop_assert!(course.done_at <= 300, "{} ms", course.done_at);
    }
}

/// 5 GiB in segments of nearly 64 KiB, with one of a thousand packets lost.
#[test]
fn stream_continues_beyond_4_gib() {
    for recovery in [RecoveryKind::NewReno, RecoveryKind::Sack, RecoveryKind::Prr] {
        check_long_stream(&TcpConfig {
            mss: 65_483,
            initial_window: 10 * 65_483,
            receive_window: 60_000_000,
            timestamps: recovery != RecoveryKind::NewReno,
            recovery,
            ..TcpConfig::rfc()
        });
    }
}

fn check_long_stream(options: &TcpConfig) {
    let transfer = 5 * (1 << 30) + 7;
    let treatments =
        (0..200_000u32)
            .map(|packet| {
                if packet % 1000 == 999 { PacketTreatment::Lose } else { PacketTreatment::Deliver }
            })
            .collect();
    let mut connection = Connection::new(options, Some(transfer), Duration::from_millis(10))
        .with_treatments(treatments);
    assert!(connection.run(Time::NEVER, 2_000_000));
    assert!(connection.sender.report().completed_at.is_some());
    assert!(connection.sender.report().fast_retransmits > 0);
}

/// Ten days without loss on a path with an RTT of 40 minutes.
#[test]
fn stream_without_loss_runs_for_ten_days() {
    // With timestamps, the 32-bit clock wraps 201 times.
    for timestamps in [false, true] {
        ten_days(timestamps);
    }
}

fn ten_days(timestamps: bool) {
    let options = TcpConfig {
        initial_rto: Duration::from_secs(3600),
        min_rto: Duration::from_secs(3600),
        max_rto: Duration::from_secs(7200),
        timestamps,
        ..TcpConfig::rfc()
    };
    let mut connection = Connection::new(&options, None, Duration::from_secs(1200));
    assert!(connection.run(Time::from_secs(10 * 86_400), 1_000_000));
    let report = connection.sender.report();
    assert_eq!((report.retransmissions, report.timeouts), (0, 0));
    let rtt = report.mean_rtt_s.expect("there were samples");
    assert!((2400.0..2401.0).contains(&rtt), "{rtt} s");
    // 360 round trips: the first for the handshake, the last ones with all 44 segments.
    let delivered = connection.receiver.report().stream_bytes;
    assert!(delivered > 300 * 44 * 1460 && delivered <= 359 * 65_535, "{delivered}");
}

/// On such a path, with a timer that expires 40 times per RTT, every segment is retransmitted and
/// there is no RTT sample (Karn's algorithm), but the stream still advances.
#[test]
fn stream_with_unnecessary_timeouts_runs_for_ten_days() {
    for recovery in [RecoveryKind::NewReno, RecoveryKind::Sack] {
        let options = TcpConfig { recovery, ..TcpConfig::rfc() };
        let mut connection = Connection::new(&options, None, Duration::from_secs(1200));
        assert!(connection.run(Time::from_secs(10 * 86_400), 1_000_000));
        assert!(connection.receiver.report().stream_bytes > 200 * 1460);
    }
}
