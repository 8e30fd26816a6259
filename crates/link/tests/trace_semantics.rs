//! Tests of the semantics of Mahimahi's delivery opportunities: step by step, and with an unlimited
//! backlog on recorded and random traces.

use crate::traces;
use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Control, FlowId, Packet, Port, QueueId, Registry, Seed, Setup, Stage, Time,
    testing::TestHarness,
};
use airpath_link::{AnyLink, DirectionContext, Link, LinkContext, Traces};
use airpath_trace::{OPPORTUNITY_BYTES, OpportunityTrace, Trace};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const OVERHEAD: u32 = 4;

/// A trace link that the test drives step by step. Times are in milliseconds unless stated
/// otherwise.
struct Hand {
    harness: TestHarness,
    link: AnyLink,
    next: u64,
    departures: Vec<(u64, u64)>,
}

impl Hand {
    fn new(trace: Trace) -> Hand {
        Hand::with(trace, json!({"kind": "at", "time_ns": 0}), 0)
    }

    /// Creates a link that starts at `offset` in the trace, in the replication with index
    /// `replication`.
    fn with(trace: Trace, offset: Value, replication: u64) -> Hand {
        let traces = Traces::from([("t".to_owned(), Arc::new(trace))]);
        let queues = Registry::default();
        let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &queues, extra: () };
        let droptail = json!({"kind": "droptail", "limit": {"packets": 1_000_000}});
        let queue = Queue::new(AnyQueue::build(&droptail, setup).expect("a queue"), QueueId(0));
        let context = LinkContext {
            files: Arc::new(traces.into()),
            ..LinkContext::new(DirectionContext::of(queue, Port(0)))
        };
        let links = Registry::default();
        let seed = Seed::new(1, replication, "link");
        let setup = Setup { seed, registry: &links, extra: context };
        let description = json!({
            "kind": "trace", "trace": "t", "framing": OVERHEAD, "offset": offset});
        let link = AnyLink::build(&description, setup).expect("a link");
        Hand { harness: TestHarness::default(), link, next: 0, departures: Vec::new() }
    }

    /// Creates a link with opportunities at these times.
    fn at_ms(times: &[u64]) -> Hand {
        Hand::new(Trace::Opportunities(OpportunityTrace::new(times.to_vec()).expect("a trace")))
    }

    /// Passes a packet of `size` bytes to the link at `nanos`. Events that are due at this time are
    /// processed first.
    fn arrive_ns(&mut self, nanos: u64, size: u32) {
        let now = Time::from_nanos(nanos);
        self.run(now);
        let packet = Packet::datagram(FlowId(0), self.next, Bytes(u64::from(size)), now);
        self.next += 1;
        self.link.receive(Port(0), &packet, &mut self.harness.at(now));
    }

    fn arrive(&mut self, ms: u64, size: u32) {
        self.arrive_ns(ms * 1_000_000, size);
    }

    fn run(&mut self, until: Time) {
        for (at, _, packet) in self.harness.run(&mut self.link, until) {
            assert_eq!(at.as_nanos() % 1_000_000, 0);
            self.departures.push((at.as_nanos() / 1_000_000, packet.seq));
        }
    }

    /// Runs to `ms`. Returns departure times and packet numbers.
    fn until(&mut self, ms: u64) -> Vec<(u64, u64)> {
        self.run(Time::from_millis(ms));
        std::mem::take(&mut self.departures)
    }
}

#[test]
fn arrival_at_time_of_opportunity_cannot_use_it() {
    let mut idle = Hand::at_ms(&[5, 10, 15]);
    idle.arrive(5, 1500);
    assert_eq!(idle.until(20), [(10, 0)]);
    let mut busy = Hand::at_ms(&[5, 10, 15]);
    busy.arrive(1, 1500);
    busy.arrive(5, 1500);
    assert_eq!(busy.until(20), [(5, 0), (10, 1)]);
    let mut in_time = Hand::at_ms(&[5, 10, 15]);
    in_time.arrive_ns(4_999_999, 1500);
    assert_eq!(in_time.until(20), [(5, 0)]);
    let mut at_the_start = Hand::at_ms(&[0, 5]);
    at_the_start.arrive(0, 1500);
    assert_eq!(at_the_start.until(20), [(5, 0)]);
}

#[test]
fn simultaneous_opportunities_carry_one_packet_each() {
    let mut link = Hand::at_ms(&[5, 5, 10]);
    for _ in 0..4 {
        link.arrive(1, 1500);
    }
    assert_eq!(link.until(14), [(5, 0), (5, 1), (10, 2)]);
    assert_eq!(link.until(20), [(15, 3)]);
}

#[test]
fn packet_that_does_not_fit_continues_at_the_next_opportunity() {
    // A packet of 1501 + 4 bytes leaves one byte for the second opportunity, which can carry
    // further packets.
    let mut link = Hand::at_ms(&[5, 10, 15]);
    link.arrive(1, 1501);
    link.arrive(1, 1499);
    link.arrive(1, 1500);
    assert_eq!(link.until(20), [(10, 0), (10, 1), (15, 2)]);
    let mut large = Hand::at_ms(&[5, 10, 15]);
    large.arrive(1, 65_535);
    // ⌈65 539 / 1504⌉ = 44 opportunities, three in each period of 15 ms.
    assert_eq!(large.until(1000), [(220, 0)]);
}

#[test]
fn partly_sent_packet_precedes_later_arrivals() {
    let mut link = Hand::at_ms(&[5, 10, 15]);
    link.arrive(1, 2000);
    link.arrive(6, 40);
    assert_eq!(link.until(20), [(10, 0), (10, 1)]);
}

#[test]
fn several_small_packets_share_an_opportunity() {
    // 34 × 44 = 1496 bytes fit. 8 bytes of the 35th packet are sent, and the next opportunity
    // completes it.
    let mut link = Hand::at_ms(&[5, 10]);
    for _ in 0..36 {
        link.arrive(1, 40);
    }
    let departures = link.until(12);
    assert_eq!(departures.iter().filter(|(at, _)| *at == 5).count(), 34);
    assert_eq!(departures[34..], [(10, 34), (10, 35)]);
}

#[test]
fn unused_opportunities_of_an_idle_link_are_lost() {
    let mut link = Hand::at_ms(&[1, 2, 3, 4, 100]);
    link.arrive(50, 1500);
    link.arrive(50, 1500);
    assert_eq!(link.until(100), [(100, 0)]);
    assert_eq!(link.until(200), [(101, 1)]);
    // The unused part of an opportunity is not available to the next packet.
    let mut half = Hand::at_ms(&[5, 10]);
    half.arrive(1, 752);
    half.arrive(6, 1500);
    assert_eq!(half.until(10), [(5, 0), (10, 1)]);
}

#[test]
fn trace_repeats_after_last_timestamp() {
    // Periods start at 0, 12, 24 … ms; the opportunity at 0 coincides with the last one of the
    // previous period.
    let mut link = Hand::at_ms(&[0, 5, 5, 12]);
    for _ in 0..10 {
        link.arrive(0, 1500);
    }
    let times: Vec<u64> = link.until(40).iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [5, 5, 12, 12, 17, 17, 24, 24, 29, 29]);
    // If the first opportunity is later than 0, there is a gap at the start of each period.
    let mut late = Hand::at_ms(&[7, 10]);
    late.arrive(0, 4000);
    late.arrive(0, 1500);
    assert_eq!(late.until(100), [(17, 0), (20, 1)]);
}

#[test]
fn idle_link_resumes_at_correct_opportunity() {
    let mut link = Hand::at_ms(&[3, 10]);
    link.arrive(1_000_000_002, 1500);
    link.arrive(1_000_000_003, 1500);
    assert_eq!(link.until(2_000_000_000), [(1_000_000_003, 0), (1_000_000_010, 1)]);
}

/// The period is 10 ms with opportunities at 2, 7 and 10 ms. With an offset of 5 ms the
/// opportunities are at 2, 5, 7, 12, 15 ms.
#[test]
fn link_with_offset_starts_within_trace() {
    let trace = || Trace::Opportunities(OpportunityTrace::new(vec![2, 7, 10]).expect("a trace"));
    for five_ms in [5_000_000, 5_000_000 + 7 * 10_000_000_u64] {
        let mut link = Hand::with(trace(), json!({"kind": "at", "time_ns": five_ms}), 0);
        for _ in 0..5 {
            link.arrive(0, 1500);
        }
        assert_eq!(link.until(15), [(2, 0), (5, 1), (7, 2), (12, 3), (15, 4)]);
    }
}

/// Regression test for an error in which all replications over one trace had the same rates at the
/// same times.
#[test]
fn random_offset_differs_between_replications() {
    let times: Vec<u64> = (1..=1000).collect();
    let drawn = |offset: &Value, replication| {
        let trace = Trace::Opportunities(OpportunityTrace::new(times.clone()).expect("a trace"));
        let link = Hand::with(trace, offset.clone(), replication);
        let report = link.link.reports(Time::from_millis(1)).swap_remove(0).link;
        let (name, seconds) = report.counters[0].clone();
        assert_eq!(name, "trace_offset_s");
        seconds
    };
    let within = json!({"kind": "uniform", "low_ns": 200_000_000, "high_ns": 300_000_000});
    let any = json!({"kind": "random"});
    for (offset, low, high) in [(within, 0.2, 0.3), (any, 0.0, 1.0)] {
        let offsets: Vec<f64> = (0..20).map(|number| drawn(&offset, number)).collect();
        assert!(offsets.iter().all(|offset| (low..high).contains(offset)), "{offsets:?}");
        assert_eq!(offsets[3], drawn(&offset, 3));
        let middle = (low + high) / 2.0;
        assert!(offsets.iter().any(|o| *o < middle) && offsets.iter().any(|o| *o > middle));
    }
}

#[test]
fn utilisation_is_ratio_of_used_to_offered_bytes() {
    let mut link = Hand::at_ms(&[1, 2, 3, 4]);
    link.arrive(0, 748);
    link.arrive(2, 1500);
    link.until(4);
    // 752 + 1504 bytes of four opportunities are used. The opportunity at 4 ms counts as missed
    // after 4 ms.
    let report = &link.link.reports(Time::from_nanos(4_000_001))[0].link;
    assert_eq!(report.utilisation, 0.375);
    assert_eq!((report.delivered_packets, report.delivered_bytes), (2, 2248));
}

/// Simulates an unlimited backlog for slightly more than one period: the queue is refilled before
/// it becomes empty. Returns the bytes sent in each millisecond, including overhead.
fn delivered_by_ms(
    trace: &OpportunityTrace,
    offset_ms: u64,
    sizes: &mut impl FnMut() -> u32,
    end_ms: u64,
) -> Vec<u64> {
    let offset = json!({"kind": "at", "time_ns": offset_ms * 1_000_000});
    let mut link = Hand::with(Trace::Opportunities(trace.clone()), offset, 0);
    let mut bytes = vec![0; end_ms as usize + 1];
    let mut size_of = Vec::new();
    // The queue is filled with more than one packet per opportunity of the busiest time, and with
    // more packets if they are small.
    let busiest = trace.times_ms().chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(1);
    let backlog = 4 * busiest as u64 * OPPORTUNITY_BYTES + 200_000;
    let mut waiting = 0;
    let mut now = Time::ZERO;
    while now <= Time::from_millis(end_ms) {
        while waiting < backlog {
            let size = sizes();
            size_of.push(size);
            waiting += u64::from(size);
            link.arrive_ns(now.as_nanos(), size);
        }
        if now == Time::ZERO {
            // Opportunities at time 0 precede all packets and are not counted.
            let after = Time::from_nanos(1);
            link.link.control(&Control::StartMeasurement, &mut link.harness.at(after));
        }
        link.run(now);
        for (at, seq) in std::mem::take(&mut link.departures) {
            let size = size_of[seq as usize];
            waiting -= u64::from(size);
            if let Some(bytes) = bytes.get_mut(at as usize) {
                *bytes += u64::from(size + OVERHEAD);
            }
        }
        now = link.link.next_wakeup();
    }
    let report = &link.link.reports(Time::from_nanos(end_ms * 1_000_000 + 1))[0].link;
    assert_eq!(report.utilisation, 1.0, "every byte on offer is used");
    bytes
}

fn check_backlogged(name: &str, trace: &OpportunityTrace, offset_ms: u64, end_ms: u64) {
    let mut offered =
        traces::offered_by_ms(trace, offset_ms + end_ms).split_off(offset_ms as usize);
    offered[0] = 0; // these opportunities precede all packets
    // A packet of 1500 bytes uses exactly one opportunity, so the sent bytes never exceed the
    // offered bytes in any window.
    let delivered = delivered_by_ms(trace, offset_ms, &mut || 1500, end_ms);
    assert_eq!(delivered, offered, "{name}");
    let mut number = 0_u64;
    let mut mixed = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        1 + (number >> 33) as u32 % 3000
    };
    let delivered = delivered_by_ms(trace, offset_ms, &mut mixed, end_ms);
    traces::check_windows(&delivered, &offered, 3000 + u64::from(OVERHEAD));
}

/// Every recorded trace, for one period and 20 s of the next.
#[test]
fn backlog_uses_all_opportunities_of_recorded_traces() {
    for (name, trace) in traces::recorded() {
        check_backlogged(&name, &trace, 0, trace.period_ms() + 20_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn backlog_uses_all_opportunities_of_random_traces(
        gaps in prop::collection::vec(prop_oneof![3 => Just(0u64), 2 => 0..4u64, 1 => 0..300u64], 1..200),
        offset_ms in 0u64..2000,
    ) {
        let mut times: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        let last = times.last_mut().expect("one at least");
        *last = (*last).max(1);
        let trace = OpportunityTrace::new(times).expect("a trace");
        check_backlogged("random", &trace, offset_ms % trace.period_ms(), 3 * trace.period_ms() + 1);
    }
}
