//! Tests of the priority for ACKs: order, shared limit, and calls of the inner discipline.

use super::*;
use crate::queue::Queue;
use airpath_core::{
    Ecn, FlowId, LinkRate, QueueId, Rate, Registry, Seed, Time, testing::TestHarness,
};
use serde_json::json;

fn try_build(description: &Value) -> Result<AnyQueue, ConfigError> {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
    AnyQueue::build(description, setup)
}

fn around(aqm: Value) -> AnyQueue {
    let description = json!({"kind": "ack-priority", "aqm": aqm});
    let mut queue = try_build(&description).expect("an accepted description");
    let rate = LinkRate::of_packets(Rate(10_000_000));
    queue.on_rate(rate, &mut TestHarness::default().at(Time::ZERO));
    queue
}

fn droptail(limit: usize) -> Value {
    json!({"kind": "droptail", "limit": {"packets": limit}})
}

fn rem(limit: usize) -> Value {
    json!({"kind": "rem", "limit": {"packets": limit}, "target": 0, "gamma": 0.001, "alpha": 0.1, "phi": 1e9,
        "update_ns": 2_000_000, "mean_packet_bytes": 1040, "mode": "bytes", "ecn": false})
}

fn data(number: u64) -> Packet {
    let mut packet = Packet::data(FlowId(0), number, 960, 40, Time::ZERO);
    packet.ecn = Ecn::Ect1;
    packet
}

fn ack(number: u64) -> Packet {
    Packet::ack(FlowId(1), number, 1000, 40)
}

fn millis(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Enqueues one packet for each character of `kinds`: data (`d`) or an ACK (`a`). Packets are
/// numbered from 0.
fn offer(queue: &mut AnyQueue, kinds: &str, harness: &mut TestHarness, now: Time) {
    for (number, kind) in kinds.chars().enumerate() {
        let packet = if kind == 'a' { ack(number as u64) } else { data(number as u64) };
        queue.enqueue(&packet, &mut harness.at(now));
    }
}

/// Dequeues all packets and returns their numbers.
fn left(queue: &mut AnyQueue, harness: &mut TestHarness, now: Time) -> Vec<u64> {
    std::iter::from_fn(|| queue.dequeue(&mut harness.at(now))).map(|packet| packet.seq).collect()
}

#[test]
fn ack_priority_sends_acks_first_and_keeps_order() {
    let mut harness = TestHarness::default();
    let mut queue = around(droptail(10));
    offer(&mut queue, "ddada", &mut harness, millis(0));
    assert_eq!((queue.packets(), queue.backlog()), (5, Bytes(3080)));
    assert_eq!(queue.peek().map(|packet| packet.seq), Some(2));
    assert_eq!(left(&mut queue, &mut harness, millis(0)), [2, 4, 0, 1, 3]);
    assert_eq!((queue.packets(), queue.backlog()), (0, Bytes::ZERO));
}

/// Both queues share the limit: any five packets reach the limit.
#[test]
fn ack_priority_shares_packet_limit() {
    for (kinds, expected) in [
        ("dddddda", vec![0, 1, 2, 3, 4]),
        ("aaaddda", vec![0, 1, 2, 3, 4]),
        ("adadada", vec![0, 2, 4, 1, 3]),
    ] {
        let mut harness = TestHarness::default();
        let mut queue = around(droptail(5));
        offer(&mut queue, kinds, &mut harness, millis(0));
        assert_eq!(harness.counts().dropped[DropReason::Overflow as usize], 2, "{kinds}");
        assert_eq!(left(&mut queue, &mut harness, millis(0)), expected, "{kinds}");
    }
}

#[test]
fn ack_priority_shares_byte_limit() {
    let mut harness = TestHarness::default();
    let mut queue = around(json!({"kind": "droptail", "limit": {"bytes": 2070}}));
    offer(&mut queue, "dadaaa", &mut harness, millis(0));
    // The backlog is 1040 B before the second data packet and 2040 B before the next ACK.
    assert_eq!(left(&mut queue, &mut harness, millis(0)), [1, 0, 2]);
    assert_eq!(harness.counts().total(), 3);
}

/// Dequeues an ACK, which releases its space.
#[test]
fn ack_counts_in_limit_while_it_waits() {
    let mut harness = TestHarness::default();
    let mut queue = around(droptail(2));
    offer(&mut queue, "aa", &mut harness, millis(0));
    queue.dequeue(&mut harness.at(millis(0)));
    offer(&mut queue, "dd", &mut harness, millis(0));
    assert_eq!((queue.packets(), harness.counts().total()), (2, 1));
}

/// Packets held by the link and waiting ACKs are reported as one sum.
#[test]
fn held_packets_count_in_limit() {
    let mut harness = TestHarness::default();
    let mut queue = Queue::new(around(droptail(4)), QueueId(0));
    let mut taken = Packet::default();
    for number in 0..2 {
        queue.enqueue(&data(number), &mut harness.at(millis(0)));
        assert!(queue.dequeue_held_into(&mut taken, &mut harness.at(millis(0))));
    }
    for number in 0..4 {
        queue.enqueue(&ack(number), &mut harness.at(millis(0)));
    }
    assert_eq!((queue.packets(), queue.occupancy(), harness.counts().total()), (2, 4, 2));
    queue.release(1, Bytes(1000), &mut harness.at(millis(0)));
    queue.enqueue(&data(9), &mut harness.at(millis(0)));
    assert_eq!((queue.occupancy(), harness.counts().total()), (4, 2));
}

/// The inner discipline drops every arriving data packet. It counts arriving ACKs, but drops none
/// of them.
#[test]
fn early_drops_do_not_apply_to_acks() {
    let mut harness = TestHarness::default();
    let mut queue = around(rem(100));
    // 30 packets per update exceed the capacity: at φ = 1e9 the drop probability is almost 1.
    for update in 0..50 {
        offer(&mut queue, &"d".repeat(30), &mut harness, millis(2 * update));
        left(&mut queue, &mut harness, millis(2 * update));
    }
    let before = harness.counts().dropped[DropReason::Early as usize];
    offer(&mut queue, &"d".repeat(10), &mut harness, millis(100));
    assert_eq!(harness.counts().dropped[DropReason::Early as usize], before + 10);
    offer(&mut queue, &"a".repeat(10), &mut harness, millis(100));
    assert_eq!(queue.packets(), 10);
}

/// The price of REM and the load of VCP are equal to the values of a single queue with the same
/// packets.
#[test]
fn inner_discipline_counts_acks_in_arrivals_and_backlog() {
    let vcp = json!({"kind": "vcp", "limit": 100, "target": 0.98, "interval_ns": 200_000_000,
        "queue_weight": 0.5, "sampling_ns": 10_000_000, "low": 0.8, "average": "ewma",
        "capacity": "measured"});
    let mut marking = rem(100);
    (marking["mode"], marking["ecn"]) = (json!("packets"), json!(true));
    for aqm in [marking, vcp] {
        let bare = try_build(&aqm).expect("an accepted description");
        let found = [bare, around(aqm)].map(|mut queue| {
            let mut harness = TestHarness::default();
            queue.on_rate(LinkRate::of_packets(Rate(10_000_000)), &mut harness.at(millis(0)));
            // Only ACKs are offered, so that both queues send the same packets at the same times.
            for number in 0..4000 {
                queue.enqueue(&ack(number), &mut harness.at(millis(number / 10)));
                if number % 3 == 0 {
                    let now = millis(number / 10);
                    let mut sent = queue.dequeue(&mut harness.at(now)).expect("it waits");
                    queue.on_served(&mut sent, &mut harness.at(now));
                }
            }
            (queue.measured(millis(400)), harness.counts().total())
        });
        assert_eq!(found[0], found[1]);
        assert!(found[0].0.iter().any(|(_, value)| value.is_some_and(|value| value > 0.0)));
    }
}

/// The average queue, rate and price of CLAMP include ACKs: they equal the values without ACK
/// priority.
#[test]
fn clamp_as_inner_discipline_counts_acks() {
    let clamp = json!({"kind": "clamp", "a_bytes": 0, "b": 1.0, "time_constant_ns": 500_000_000,
        "rate_time_constant_ns": 500_000_000, "inner": droptail(100)});
    let bare = try_build(&clamp).expect("an accepted description");
    let found = [bare, around(clamp)].map(|mut queue| {
        let mut harness = TestHarness::default();
        for number in 0..100 {
            offer(&mut queue, "aa", &mut harness, millis(number));
            let mut sent = queue.dequeue(&mut harness.at(millis(number))).expect("it waits");
            queue.on_served(&mut sent, &mut harness.at(millis(number)));
        }
        let mut given_up = queue.dequeue(&mut harness.at(millis(100))).expect("99 wait");
        queue.on_lost(&given_up, &mut harness.at(millis(100)));
        while queue.dequeue_into(&mut given_up, &mut harness.at(millis(101))) {
            queue.on_served(&mut given_up, &mut harness.at(millis(101)));
        }
        queue.measured(millis(101))
    });
    assert_eq!(found[0], found[1]);
}

/// No packet is lost with any other inner discipline; ACKs leave first and in order.
#[test]
fn ack_priority_wraps_every_discipline() {
    for limit in [3, 1000] {
        let inside = |kind: &str| match kind {
            "droptail" => droptail(limit),
            "clamp" => json!({"kind": "clamp", "a_bytes": 0, "b": 1.0, "inner": droptail(limit),
                "time_constant_ns": 500_000_000, "rate_time_constant_ns": 500_000_000}),
            _ => airpath_conformance::samples("aqm", kind, |given| try_build(given).is_ok())
                .swap_remove(0),
        };
        let others = AnyQueue::BUILT_IN.iter().filter(|(kind, _)| *kind != "ack-priority");
        for (kind, _) in others {
            let mut harness = TestHarness::default();
            let mut queue = around(inside(kind));
            let mut acks = Vec::new();
            for round in 0..200 {
                offer(&mut queue, "dadaad", &mut harness, millis(round));
                if round % 4 > 0 {
                    let mut sent =
                        queue.dequeue(&mut harness.at(millis(round))).expect("some wait");
                    assert!(sent.kind == PacketKind::Ack || acks.is_empty(), "{kind}");
                    queue.on_served(&mut sent, &mut harness.at(millis(round)));
                    while let Some(sent) = queue.dequeue(&mut harness.at(millis(round))) {
                        acks.extend((sent.kind == PacketKind::Ack).then_some(sent.seq));
                        queue.on_served(&mut { sent }, &mut harness.at(millis(round)));
                    }
                    assert!(acks.is_sorted() || round % 4 == 1, "{kind}");
                    acks.clear();
                }
                queue.on_wake(&mut harness.at(millis(round)));
            }
            while queue.dequeue(&mut harness.at(millis(300))).is_some() {}
            assert_eq!((queue.packets(), queue.backlog()), (0, Bytes::ZERO), "{kind}");
        }
    }
}

#[test]
fn nested_ack_priority_is_rejected_at_any_depth() {
    let again = json!({"kind": "ack-priority", "aqm": droptail(1)});
    let deep = json!({"kind": "clamp", "a_bytes": 0, "b": 1.0, "time_constant_ns": 1,
        "rate_time_constant_ns": 1, "inner": again});
    let text = "aqm.kind = ack-priority: an ack-priority queue inside an ack-priority queue. \
                Use another discipline inside";
    for aqm in [again, deep] {
        let error = try_build(&json!({"kind": "ack-priority", "aqm": aqm})).err().expect("twice");
        assert_eq!(error.to_string(), text);
    }
    let error = try_build(&json!({"kind": "ack-priority", "aqm": droptail(0)}));
    let text = "aqm.limit.packets = 0: below 1. Accepted: at least 1";
    assert_eq!(error.err().expect("rejected").to_string(), text);
}
