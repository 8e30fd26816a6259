//! Step tests of FQ-CoDel: the time at which each packet is sent, marked or dropped.

use super::*;
use airpath_conformance::Law;
use airpath_core::{Duration, Ecn, FlowId, Registry, Seed, Time, testing::TestHarness};

const DEFAULT: FqCodelConfig = FqCodelConfig {
    limit: 10_240,
    flows: 1024,
    quantum_bytes: 1514,
    target_ns: 5_000_000,
    interval_ns: 100_000_000,
    mtu_bytes: 1500,
    ecn: true,
    ce_threshold_ns: None,
    ce_threshold_ect1: false,
};

const SHARING: Law = Law {
    area: "FQ-CoDel",
    source: "RFC 8290 §4.2: flows that always wait share within a quantum (1514 B; six sizes of \
             packets, 20 rounds)",
    allows: "less than one packet of the flow's own beyond its quanta; within a round a quantum \
             and a packet of 1500 B",
};
const HASH: Law = Law {
    area: "FQ-CoDel",
    source: "RFC 8290 §4.1: 100 000 flows are spread evenly over 1024 buckets",
    allows: "five standard deviations of chi-square with 1023 degrees of freedom",
};

fn fq_codel(config: FqCodelConfig, seed: u64) -> FqCodel {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(seed, 0, "fq-codel"), registry: &registry, extra: () };
    FqCodel::build(config, setup).expect("a valid configuration")
}

struct Line {
    harness: TestHarness,
    queue: FqCodel,
    now: Time,
    next_seq: u64,
}

impl Line {
    fn new(config: FqCodelConfig) -> Line {
        let queue = fq_codel(config, 1);
        Line { harness: TestHarness::default(), queue, now: Time::ZERO, next_seq: 0 }
    }

    fn put(&mut self, flow: u32, size: u64) {
        let packet = Packet::datagram(FlowId(flow), self.next_seq, Bytes(size), self.now);
        self.next_seq += 1;
        self.queue.enqueue(&packet, &mut self.harness.at(self.now));
    }

    fn take(&mut self) -> Option<Packet> {
        self.queue.dequeue(&mut self.harness.at(self.now))
    }

    /// Dequeues up to `number` packets and returns their flows.
    fn flows(&mut self, number: usize) -> Vec<u32> {
        (0..number).map_while(|_| self.take()).map(|packet| packet.flow.0).collect()
    }

    fn dropped(&self, reason: DropReason) -> u64 {
        self.harness.counts().dropped[reason as usize]
    }

    fn waiting(&self, flow: u32) -> usize {
        let probe = Packet::datagram(FlowId(flow), 0, Bytes(1), Time::ZERO);
        let slot = fq_codel_hash(&probe, self.queue.perturbation, self.queue.slots.len());
        self.queue.slots[slot].map_or(0, |n| self.queue.queues[usize::from(n)].fifo.len())
    }
}

/// After n rounds a flow has sent at least n quanta and less than n quanta plus one packet.
#[test]
fn backlogged_flows_share_link_within_one_quantum() {
    const QUANTUM: u64 = 1514;
    let sizes = [1500, 1500, 700, 40, 1499, 300];
    let mut line = Line::new(DEFAULT);
    for (flow, size) in sizes.iter().enumerate() {
        for _ in 0..800 {
            line.put(flow as u32, *size);
        }
    }
    let (mut sent, mut rounds, mut last) = ([0u64; 6], 0, 0);
    let (mut beyond, mut apart) = ([0u64; 6], 0);
    while rounds < 20 {
        let packet = line.take().expect("all packets wait");
        let flow = packet.flow.0 as usize;
        if flow < last {
            rounds += 1;
            for (flow, sent) in sent.iter().enumerate() {
                let extra =
                    sent.checked_sub(rounds * QUANTUM).expect("the flow has used its quanta");
                beyond[flow] = extra.max(beyond[flow]);
            }
        }
        last = flow;
        sent[flow] += u64::from(packet.size);
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        apart = apart.max(most - least);
    }
    for (beyond, size) in beyond.into_iter().zip(sizes) {
        let what = format!("most beyond n quanta, packets of {size} B");
        SHARING.between(what, "B", beyond as f64, 0.0, (size - 1) as f64);
    }
    let most = (QUANTUM + 1500 - 1) as f64;
    SHARING.between("largest difference within a round", "B", apart as f64, 0.0, most);
}

#[test]
fn flows_with_equal_packets_are_served_round_robin() {
    let mut line = Line::new(DEFAULT);
    for flow in [0, 1, 2] {
        for _ in 0..5 {
            line.put(flow, 1514);
        }
    }
    assert_eq!(line.flows(9), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn flow_sends_small_packets_until_quantum_is_spent() {
    let mut line = Line::new(DEFAULT);
    for _ in 0..10 {
        line.put(0, 757);
    }
    for _ in 0..5 {
        line.put(1, 1514);
    }
    assert_eq!(line.flows(9), [0, 0, 1, 0, 0, 1, 0, 0, 1]);
}

#[test]
fn sparse_flow_is_served_before_backlogged_flows() {
    let mut line = Line::new(DEFAULT);
    for flow in [0, 1] {
        for _ in 0..20 {
            line.put(flow, 1514);
        }
    }
    assert_eq!(line.flows(4), [0, 1, 0, 1]);
    line.put(7, 100);
    assert_eq!(line.flows(3), [7, 0, 1], "its only packet is next");
    // The queue of flow 7 was empty at the next call, and moved to the end of the old queues.
    line.put(7, 100);
    assert_eq!(line.flows(2), [7, 0], "by then it had left the lists");
}

/// RFC 8290 §4.2: without the move to the old queues, a flow that sends a packet whenever its queue
/// is empty would always be new and starve the other flows.
#[test]
fn emptied_new_queue_moves_to_end_of_old_queues() {
    let mut line = Line::new(DEFAULT);
    for _ in 0..20 {
        line.put(0, 500);
    }
    assert_eq!(line.flows(5), [0; 5], "four for the first quantum, one of the second");
    line.put(7, 100);
    assert_eq!(line.flows(2), [7, 0], "found empty before flow 0");
    line.put(7, 100);
    assert!(line.queue.new.is_empty(), "it is among the old");
    assert_eq!(line.flows(2), [0, 7], "so it waits for its turn");
    for _ in 0..10 {
        line.put(7, 1514);
    }
    assert_eq!(line.flows(8), [7, 0, 0, 0, 7, 0, 0, 0], "and shares like the other");
}

/// Regression test for links that do not poll an empty queue (`trace`, `rlc-am`): a flow that
/// resumed after an idle time kept its old deficit, so that its first quantum was too small.
#[test]
fn every_flow_is_new_after_idle_time() {
    for by_service in [true, false] {
        let mut line = Line::new(DEFAULT);
        line.put(0, 1514);
        let mut sent = line.take().expect("one packet waits");
        if by_service {
            line.queue.on_served(&mut sent, &mut line.harness.at(line.now));
        } else {
            line.queue.on_held(0, Bytes::ZERO, &mut line.harness.at(line.now));
        }
        line.put(0, 1514);
        line.put(1, 1514);
        assert_eq!(line.flows(2), [0, 1], "in the order of arrival, for both are new");
    }
}

/// Regression test for an error in which a flow stayed in a list and kept its deficit until the
/// link held no packets. A queue without waiting packets is empty, even if the link still holds
/// packets (`rlc-am` holds a packet until its last PDU is acknowledged).
#[test]
fn flow_is_new_if_all_its_packets_are_held() {
    let mut line = Line::new(DEFAULT);
    for held in 1..=2 {
        line.put(0, 1514);
        assert_eq!(line.flows(1), [0]);
        line.queue.on_held(held, Bytes(1514 * held as u64), &mut line.harness.at(line.now));
        assert!(line.queue.new.is_empty() && line.queue.old.is_empty(), "{held} held");
    }
    line.put(0, 1514);
    line.put(1, 1514);
    assert_eq!(line.flows(2), [0, 1], "in the order of arrival, for both are new");
}

/// Packets held by the link count in the limit. An overflow that empties the queue removes the flow
/// from its list and resets CoDel, as a dequeue from an empty queue does (RFC 8289 §5.6).
#[test]
fn overflow_that_empties_queue_resets_it() {
    let mut line = Line::new(FqCodelConfig { limit: 3, ..DEFAULT });
    for _ in 0..3 {
        line.put(0, 1000);
    }
    line.now = line.now + Duration::from_millis(6);
    assert_eq!(line.flows(1), [0]);
    line.queue.on_held(1, Bytes(1000), &mut line.harness.at(line.now));
    assert!(
        line.queue.queues[0].dropper.is_watching(),
        "beyond the target, more than an MTU is left"
    );
    line.queue.on_held(3, Bytes(3000), &mut line.harness.at(line.now));
    line.put(0, 2100);
    assert_eq!((line.dropped(DropReason::Overflow), line.queue.packets()), (3, 0));
    assert!(!line.queue.queues[0].dropper.is_watching());
    assert!(line.queue.new.is_empty() && line.queue.old.is_empty());
}

#[test]
fn sparse_flow_waits_for_at_most_one_packet_per_flow() {
    let mut line = Line::new(DEFAULT);
    for round in 0..200 {
        for flow in 0..8 {
            for _ in 0..(if round == 0 { 50 } else { 1 }) {
                line.put(flow, 1514);
            }
        }
        line.put(99, 200);
        let flows = line.flows(9);
        assert!(flows.contains(&99), "{round}: {flows:?}");
    }
}

#[test]
fn overflow_drops_half_of_longest_queue_at_head() {
    let mut line = Line::new(DEFAULT);
    for _ in 0..100 {
        line.put(0, 100);
    }
    for _ in 0..40 {
        line.put(1, 1500); // fewer packets, more bytes: numbers 100 to 139
    }
    line.queue.limit = 140;
    line.put(2, 1500);
    assert_eq!(line.dropped(DropReason::Overflow), 20);
    assert_eq!([0, 1, 2].map(|flow| line.waiting(flow)), [100, 20, 1]);
    let first = std::iter::from_fn(|| line.take()).find(|packet| packet.flow.0 == 1);
    assert_eq!(first.map(|packet| packet.seq), Some(120), "100 to 119 were dropped");
}

#[test]
fn overflow_drops_at_most_64_packets_per_batch() {
    let mut line = Line::new(FqCodelConfig { limit: 1000, ..DEFAULT });
    for _ in 0..1000 {
        line.put(0, 1500);
    }
    line.put(1, 40);
    assert_eq!((line.dropped(DropReason::Overflow), line.queue.packets()), (64, 937));
}

#[test]
fn overflow_may_drop_the_arrival() {
    let mut line = Line::new(FqCodelConfig { limit: 1, ..DEFAULT });
    line.put(0, 40);
    line.put(1, 1500);
    assert_eq!(line.flows(3), [0]);
}

#[test]
fn flows_with_equal_hash_share_queue() {
    let mut line = Line::new(FqCodelConfig { flows: 1, ..DEFAULT });
    for flow in [0, 0, 0, 1, 2] {
        line.put(flow, 1514);
    }
    assert_eq!(line.flows(5), [0, 0, 0, 1, 2], "first in, first out");
    assert_eq!(line.queue.queues.len(), 1);
    let mut line = Line::new(FqCodelConfig { flows: 2, ..DEFAULT });
    (0..64).for_each(|flow| line.put(flow, 100));
    assert_eq!(line.queue.queues.len(), 2);
}

/// With 100 000 flows in 1024 buckets, chi-square with 1023 degrees of freedom has mean 1023 and
/// standard deviation 45; the bound is five standard deviations.
#[test]
fn hash_is_uniform_and_depends_on_seed() {
    let bucket = |flow, ack, perturbation| {
        let packet = if ack {
            Packet::ack(FlowId(flow), 0, 0, 40)
        } else {
            Packet::data(FlowId(flow), 0, 1460, 40, Time::ZERO)
        };
        fq_codel_hash(&packet, perturbation, 1024)
    };
    let mut seen = vec![0u32; 1024];
    (0..100_000).for_each(|flow| seen[bucket(flow, false, 42)] += 1);
    let expected = 100_000.0 / 1024.0;
    let chi: f64 = seen.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
    HASH.close("spread of flows", "χ²", chi, 1023.0, 5.0 * 45.2);
    // About 10 of 10 000 pairs have equal hash values (1 of 1024). The test accepts five standard
    // deviations.
    let same = |twin: &dyn Fn(u32) -> usize| {
        (0..10_000).filter(|flow| bucket(*flow, false, 42) == twin(*flow)).count()
    };
    assert!(same(&|flow| bucket(flow, true, 42)) < 26, "an acknowledgement is another flow");
    assert!(same(&|flow| bucket(flow, false, 43)) < 26, "another perturbation");
    assert_eq!(fq_codel(DEFAULT, 1).perturbation, fq_codel(DEFAULT, 1).perturbation);
    assert_ne!(fq_codel(DEFAULT, 1).perturbation, fq_codel(DEFAULT, 2).perturbation);
}

/// Ten packets arrive and depart every millisecond: one flow has a standing queue, the other has
/// none.
#[test]
fn codel_drops_only_from_standing_queue() {
    for (ecn, marks) in [(Ecn::Ect0, true), (Ecn::NotEct, false)] {
        let mut line = Line::new(DEFAULT);
        let packet = |flow, now| {
            let mut packet = Packet::data(FlowId(flow), 0, 1460, 40, now);
            packet.ecn = ecn;
            packet
        };
        for _ in 0..500 {
            line.queue.enqueue(&packet(0, line.now), &mut line.harness.at(line.now));
        }
        let (mut sparse, mut marked_flows) = (0, Vec::new());
        for _ in 0..1000 {
            line.now = line.now + Duration::from_millis(1);
            for flow in [0, 1] {
                line.queue.enqueue(&packet(flow, line.now), &mut line.harness.at(line.now));
            }
            for _ in 0..2 {
                let taken = line.take().expect("a standing queue");
                sparse += u32::from(taken.flow.0 == 1);
                marked_flows.extend((taken.ecn == Ecn::Ce).then_some(taken.flow.0));
            }
        }
        let counts = line.harness.counts();
        assert_eq!(sparse, 1000, "every packet of the sparse flow");
        assert_eq!((counts.marked > 20, counts.total() > 20), (marks, !marks), "{counts:?}");
        assert!(marked_flows.iter().all(|flow| *flow == 0));
    }
}

#[test]
fn queues_are_created_when_flows_arrive() {
    let mut line = Line::new(DEFAULT);
    assert_eq!(line.queue.queues.capacity(), 0);
    for _ in 0..3 {
        (0..3).for_each(|flow| line.put(flow, 1500));
        line.flows(9);
    }
    assert_eq!(line.queue.queues.len(), 3);
    assert!(line.queue.new.is_empty() && line.queue.old.len() <= 3);
}

#[test]
fn check_names_invalid_key() {
    for (config, message) in [
        (FqCodelConfig { limit: 0, ..DEFAULT }, "limit = 0: below 1. Accepted: at least 1"),
        (FqCodelConfig { flows: 0, ..DEFAULT }, "flows = 0: below 1. Accepted: 1 to 65535"),
        (
            FqCodelConfig { quantum_bytes: 255, ..DEFAULT },
            "quantum_bytes = 255: below 256. Accepted: 256 to 4000000000",
        ),
        (FqCodelConfig { target_ns: 0, ..DEFAULT }, "target_ns = 0: below 1. Accepted: at least 1"),
    ] {
        assert_eq!(
            <FqCodel as Component<dyn QueueDisc + Send>>::check(&config)
                .expect_err("refused")
                .to_string(),
            message
        );
    }
}

/// With the CE threshold of Linux for ECT(1), a packet of an L4S flow is marked after 1 ms, and a
/// packet with ECT(0) is not.
#[test]
fn ce_threshold_marks_only_its_flow() {
    let config =
        FqCodelConfig { ce_threshold_ns: Some(1_000_000), ce_threshold_ect1: true, ..DEFAULT };
    let (mut queue, mut harness) = (fq_codel(config, 1), TestHarness::default());
    for (flow, ecn) in [(0, Ecn::Ect1), (1, Ecn::Ect0)] {
        let mut packet = Packet::data(FlowId(flow), 0, 1460, 40, Time::ZERO);
        packet.ecn = ecn;
        queue.enqueue(&packet, &mut harness.at(Time::ZERO));
    }
    let now = Time::from_nanos(1_000_001);
    let sent = [0, 1].map(|_| queue.dequeue(&mut harness.at(now)).expect("two packets").ecn);
    assert_eq!(sent, [Ecn::Ce, Ecn::Ect0]);
}
