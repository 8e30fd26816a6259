//! Tests of DualPI2: classification, order of service, marks and drops.

use super::*;
use airpath_core::{FlowId, Registry, Seed, testing::TestHarness};

const DEFAULT: DualPi2Config = DualPi2Config {
    limit: 10_000,
    target_ns: 15_000_000,
    update_ns: 15_000_000,
    alpha: 0.15,
    beta: 3.0,
    coupling: 2.0,
    ramp_start_ns: Some(800_000),
    ramp_ns: Some(400_000),
    step_packets: None,
    min_qlen_step: 0,
    th_len: 1,
    decisions: Decisions::Spaced,
    drop_early: false,
    drop_overload: true,
    time_shift_ns: None,
    classic_percent: Some(10),
    any_ect: false,
    mtu_bytes: 1500,
};

fn queue(config: DualPi2Config) -> DualPi2 {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "dualpi2"), registry: &registry, extra: () };
    DualPi2::build(config, setup).expect("a valid configuration")
}

/// Packet `number` of 1500 bytes.
fn packet(number: u64, ecn: Ecn) -> Packet {
    let mut packet = Packet::data(FlowId(0), number, 1460, 40, Time::ZERO);
    packet.ecn = ecn;
    packet
}

fn early(harness: &TestHarness) -> u64 {
    harness.counts().dropped[DropReason::Early as usize]
}

fn fill(queue: &mut DualPi2, harness: &mut TestHarness, number: u64, ecn: Ecn) {
    for number in 0..number {
        queue.enqueue(&packet(number, ecn), &mut harness.at(Time::ZERO));
    }
}

#[test]
fn ecn_field_selects_queue() {
    let mut harness = TestHarness::default();
    for (any_ect, low_latency) in [(false, 2), (true, 3)] {
        let mut queue = queue(DualPi2Config { any_ect, ..DEFAULT });
        for (number, ecn) in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].into_iter().enumerate() {
            queue.enqueue(&packet(number as u64, ecn), &mut harness.at(Time::ZERO));
        }
        assert_eq!(queue.low_latency.fifo.len(), low_latency, "{any_ect}");
        assert_eq!((queue.packets(), queue.backlog()), (4, Bytes(6000)));
    }
}

/// Among the first ten packets, one classic packet follows nine packets of the L queue.
#[test]
fn classic_queue_gets_a_tenth_of_link() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DualPi2Config { ramp_start_ns: Some(u64::MAX), ..DEFAULT });
    fill(&mut queue, &mut harness, 1000, Ecn::NotEct);
    fill(&mut queue, &mut harness, 1000, Ecn::Ect1);
    let mut order = String::new();
    for _ in 0..500 {
        let next = *queue.peek().expect("2000 packets wait");
        let sent = queue.dequeue(&mut harness.at(Time::ZERO)).expect("2000 packets wait");
        assert_eq!(sent, next);
        order.push(if sent.ecn == Ecn::Ect1 { 'L' } else { 'C' });
    }
    // The initial credit is -80 × 1500: eight packets of the L queue raise it to 0, the ninth above
    // 0.
    assert!(order.starts_with("LLLLLLLLLCLLLLLLLLLC"), "{order}");
    assert_eq!(order.matches('C').count(), 50);
}

/// Time-shifted FIFO with 5 ms: classic packets that arrived at 0 and 4 ms, packets of the L queue
/// that arrived at 3, 5, 6 and 9 ms. A packet of the L queue counts as if it had arrived 5 ms earlier.
#[test]
fn time_shifted_fifo_serves_by_shifted_arrival() {
    let mut harness = TestHarness::default();
    let config = DualPi2Config {
        time_shift_ns: Some(5_000_000),
        ramp_start_ns: Some(u64::MAX),
        classic_percent: None,
        ..DEFAULT
    };
    let mut queue = queue(config);
    for (ms, ecn) in [
        (0, Ecn::NotEct),
        (3, Ecn::Ect1),
        (4, Ecn::NotEct),
        (5, Ecn::Ect1),
        (6, Ecn::Ect1),
        (9, Ecn::Ect1),
    ] {
        queue.enqueue(&packet(ms, ecn), &mut harness.at(Time::from_millis(ms)));
    }
    let mut order = Vec::new();
    while let Some(next) = queue.peek().copied() {
        let sent = queue.dequeue(&mut harness.at(Time::from_millis(10)));
        assert_eq!(sent, Some(next));
        order.push(next.seq);
    }
    assert_eq!(order, [3, 5, 0, 6, 9, 4]);
}

#[test]
fn credit_does_not_change_while_one_queue_is_empty() {
    for ecn in [Ecn::NotEct, Ecn::Ect1] {
        let mut harness = TestHarness::default();
        let mut queue = queue(DEFAULT);
        fill(&mut queue, &mut harness, 100, ecn);
        while queue.dequeue(&mut harness.at(Time::ZERO)).is_some() {}
        assert_eq!(queue.credit, -80 * 1500, "{ecn:?}");
    }
}

/// Three packets of the L queue precede five classic packets: 3 · 10 · 1500 more. The next packet
/// finds both queues empty.
#[test]
fn round_robin_restarts_with_the_first_packet_after_an_empty_queue() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DEFAULT);
    fill(&mut queue, &mut harness, 5, Ecn::NotEct);
    fill(&mut queue, &mut harness, 3, Ecn::Ect1);
    while queue.dequeue(&mut harness.at(Time::ZERO)).is_some() {}
    assert_eq!(queue.credit, -50 * 1500);
    fill(&mut queue, &mut harness, 1, Ecn::NotEct);
    assert_eq!(queue.credit, -80 * 1500);
}

/// `recur` marks or drops each time the sum of the probabilities exceeds 1.
#[test]
fn classic_drops_are_evenly_spaced_at_p_squared() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DEFAULT);
    queue.base = 0.3_f64.sqrt() / 2.0; // p_CL = 0.55, p_C = 0.075
    fill(&mut queue, &mut harness, 40, Ecn::NotEct);
    let mut sent = Vec::new();
    while let Some(packet) = queue.dequeue(&mut harness.at(Time::ZERO)) {
        sent.push(packet.seq);
    }
    // 14 × 0.075 = 1.05 is the first sum above 1. The next one is 27 × 0.075 - 1 = 1.025.
    let dropped: Vec<u64> = (0..40).filter(|number| !sent.contains(number)).collect();
    assert_eq!(dropped, [13, 26]);
    assert_eq!((early(&harness), harness.counts().total()), (2, 2));
}

#[test]
fn ecn_capable_classic_packet_is_marked_instead_of_dropped() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DEFAULT);
    queue.base = 0.4;
    fill(&mut queue, &mut harness, 99, Ecn::Ect0); // 99 × 0.16 = 15.84
    let mut marked = 0;
    while let Some(packet) = queue.dequeue(&mut harness.at(Time::ZERO)) {
        marked += u64::from(packet.ecn == Ecn::Ce);
    }
    assert_eq!((marked, harness.counts().total(), harness.counts().marked), (15, 0, 15));
}

/// The ramp of the L queue: no marks up to 800 µs, half of the packets at 1 ms, all packets from
/// 1.2 ms on.
#[test]
fn low_latency_queue_marks_on_ramp() {
    for (waited_us, marked) in [(800, 0), (1000, 50), (1200, 99), (5000, 99)] {
        let mut harness = TestHarness::default();
        let mut queue = queue(DEFAULT);
        fill(&mut queue, &mut harness, 100, Ecn::Ect1);
        let now = Time::from_nanos(waited_us * 1000);
        let mut found = 0;
        while let Some(packet) = queue.dequeue(&mut harness.at(now)) {
            found += usize::from(packet.ecn == Ecn::Ce);
        }
        // No packet waits behind the last packet. Sums of 1/2 exceed 1 from the third packet.
        let expected = if marked == 50 { 49 } else { marked };
        assert!((found as i64 - expected).abs() <= 1, "{waited_us} µs: {found}");
    }
}

/// The coupled probability is k p'. The L queue marks with the larger of the coupled and the native
/// probability: 0.2 and 0, 0.2 and 1/2.
#[test]
fn low_latency_queue_marks_with_k_times_p_or_the_ramp() {
    for (waited_us, expected) in [(0, 200), (1000, 500)] {
        let mut harness = TestHarness::default();
        let mut queue = queue(DEFAULT);
        queue.base = 0.1;
        fill(&mut queue, &mut harness, 1000, Ecn::Ect1);
        let mut marked = 0;
        while let Some(packet) = queue.dequeue(&mut harness.at(Time::from_nanos(waited_us * 1000)))
        {
            marked += i64::from(packet.ecn == Ecn::Ce);
        }
        assert!((marked - expected).abs() <= 1, "{waited_us} µs: {marked}");
    }
}

/// If p' is at least 1/k, the L queue drops packets with probability p_C and marks the remaining
/// packets.
#[test]
fn low_latency_queue_drops_on_overload() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DEFAULT);
    queue.base = 0.5;
    fill(&mut queue, &mut harness, 100, Ecn::Ect1);
    let mut sent = 0;
    while let Some(packet) = queue.dequeue(&mut harness.at(Time::ZERO)) {
        // A packet is neither marked nor dropped unless two large packets remain behind it.
        assert_eq!(packet.ecn == Ecn::Ce, queue.packets() >= 2);
        sent += 1;
    }
    assert_eq!((sent, early(&harness)), (76, 24));
}

/// If p' is at least 1/k, the classic queue drops ECN-capable packets instead of marking them, with
/// probability p_C = 1/4.
#[test]
fn classic_queue_drops_ecn_capable_packets_on_overload() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DEFAULT);
    queue.base = 0.5;
    fill(&mut queue, &mut harness, 100, Ecn::Ect0);
    while queue.dequeue(&mut harness.at(Time::ZERO)).is_some() {}
    assert_eq!((early(&harness), harness.counts().marked), (24, 0));
}

/// Regression test for an error in which every packet was dropped on a link where the transmission
/// of one packet takes longer than the target.
#[test]
fn controller_ignores_packets_without_standing_queue() {
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
        let mut harness = TestHarness::default();
        let mut queue = queue(DualPi2Config { ramp_start_ns: Some(u64::MAX), ..DEFAULT });
        queue.base = 1.0;
        for number in 0..10 {
            fill(&mut queue, &mut harness, 2, ecn);
            for _ in 0..2 {
                let sent = queue.dequeue(&mut harness.at(Time::from_millis(number)));
                assert_eq!(sent.map(|packet| packet.ecn), Some(ecn));
            }
        }
        // If two large packets remain, there is a standing queue.
        fill(&mut queue, &mut harness, 9, ecn);
        while queue.dequeue(&mut harness.at(Time::from_secs(1))).is_some() {}
        let counts = harness.counts();
        assert!((6..=7).contains(&(counts.total() + counts.marked)), "{ecn:?}: {counts:?}");
    }
}

/// The delay is 20 ms now and was 0 before: p' = 0.15 · 5 ms + 3 · 20 ms = 0.06075.
#[test]
fn controller_step_uses_larger_delay() {
    for ecn in [Ecn::NotEct, Ecn::Ect1] {
        let mut harness = TestHarness::default();
        let mut queue = queue(DualPi2Config { update_ns: 20_000_000, ..DEFAULT });
        queue.enqueue(&packet(0, ecn), &mut harness.at(Time::ZERO));
        assert_eq!(queue.next_wakeup(), Time::from_millis(20));
        queue.on_wake(&mut harness.at(Time::from_millis(20)));
        assert!((queue.base_probability() - 0.06075).abs() < 1e-12, "{:?}", queue.base);
    }
}

#[test]
fn timer_stops_when_update_would_change_nothing() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DEFAULT);
    assert!(queue.next_wakeup().is_never());
    queue.enqueue(&packet(0, Ecn::NotEct), &mut harness.at(Time::from_millis(20)));
    assert_eq!(queue.next_wakeup(), Time::from_millis(30));
    queue.dequeue(&mut harness.at(Time::from_millis(21)));
    queue.on_wake(&mut harness.at(Time::from_millis(30)));
    assert!(queue.next_wakeup().is_never());
}

/// Returns the numbers of the marked packets among `number` packets of the L queue that arrived at
/// time 0 and depart at `now`.
fn marked(config: DualPi2Config, number: u64, now: Time) -> Vec<u64> {
    let mut harness = TestHarness::default();
    let mut queue = queue(config);
    fill(&mut queue, &mut harness, number, Ecn::Ect1);
    let mut marked = Vec::new();
    while let Some(packet) = queue.dequeue(&mut harness.at(now)) {
        if packet.ecn == Ecn::Ce {
            marked.push(packet.seq);
        }
    }
    marked
}

/// A step of 1 ms with the rules of Linux.
const STEP: DualPi2Config =
    DualPi2Config { ramp_start_ns: Some(1_000_000), ramp_ns: Some(0), th_len: 0, ..DEFAULT };

/// Linux marks a packet whose sojourn time is above the step, also if no packet waits behind it.
/// With Th_len = n, the last n packets are not marked.
#[test]
fn step_in_time_marks_above_the_threshold() {
    let (at, above) = (Time::from_millis(1), Time::from_nanos(1_000_001));
    assert_eq!(marked(STEP, 4, at), [0; 0]);
    // Sums of the probability 1: the first decision does not pass 1.
    assert_eq!(marked(STEP, 4, above), [1, 2, 3]);
    assert_eq!(marked(DualPi2Config { th_len: 1, ..STEP }, 4, above), [1, 2]);
    assert_eq!(marked(DualPi2Config { th_len: 2, ..STEP }, 4, above), [1]);
}

/// A departing packet is marked if more than two packets remain in the L queue, after any time.
#[test]
fn step_in_packets_counts_the_packets_behind() {
    let config = DualPi2Config {
        ramp_start_ns: None,
        ramp_ns: None,
        step_packets: Some(2),
        decisions: Decisions::Random,
        th_len: 0,
        ..DEFAULT
    };
    assert_eq!(marked(config, 6, Time::ZERO), [0, 1, 2]);
    assert_eq!(marked(config, 3, Time::from_secs(1)), [0; 0]);
    assert_eq!(marked(DualPi2Config { step_packets: Some(0), ..config }, 3, Time::ZERO), [0, 1]);
}

/// `min_qlen_step`: the step does not apply to packets that found a shorter L queue.
#[test]
fn step_does_not_apply_to_packets_that_found_a_short_queue() {
    let config = DualPi2Config { decisions: Decisions::Random, min_qlen_step: 3, ..STEP };
    let now = Time::from_millis(5);
    assert_eq!(marked(config, 6, now), [3, 4, 5]);
    assert_eq!(marked(config, 3, now), [0; 0]);
    // The count is that of the L queue at arrival, not at departure.
    let mut harness = TestHarness::default();
    let mut queue = queue(config);
    fill(&mut queue, &mut harness, 4, Ecn::Ect1);
    let sent: Vec<Ecn> = (0..4)
        .filter_map(|_| queue.dequeue(&mut harness.at(now)).map(|packet| packet.ecn))
        .collect();
    assert_eq!(sent, [Ecn::Ect1, Ecn::Ect1, Ecn::Ect1, Ecn::Ce]);
    assert!(queue.steps.is_empty());
}

/// Without `drop_overload`, p' is at most 1/k; the L queue then marks all packets and drops none, and
/// the classic queue marks ECN-capable packets with 1/k².
#[test]
fn probability_is_capped_without_drops_on_overload() {
    let ramp_start_ns = Some(u64::MAX);
    let config = DualPi2Config { drop_overload: false, beta: 1000.0, ramp_start_ns, ..DEFAULT };
    let mut harness = TestHarness::default();
    let mut queue = queue(config);
    fill(&mut queue, &mut harness, 101, Ecn::Ect1);
    queue.on_wake(&mut harness.at(Time::from_millis(15)));
    assert!((queue.base_probability() - 0.5).abs() < 1e-12, "{}", queue.base);
    let mut marked = 0;
    for _ in 0..99 {
        let sent = queue.dequeue(&mut harness.at(Time::from_millis(15))).expect("101 packets");
        marked += u64::from(sent.ecn == Ecn::Ce);
    }
    assert_eq!((marked, harness.counts().total()), (98, 0));
    while queue.dequeue(&mut harness.at(Time::from_millis(15))).is_some() {}
    fill(&mut queue, &mut harness, 42, Ecn::Ect0);
    while queue.dequeue(&mut harness.at(Time::from_millis(15))).is_some() {}
    // 40 decisions with p = 1/4.
    assert_eq!((harness.counts().marked, harness.counts().total()), (98 + 9, 0));
}

/// With `drop_early`, p' decides when a packet arrives, with the backlog before it.
#[test]
fn drops_on_arrival_if_configured() {
    let config = DualPi2Config { drop_early: true, ramp_start_ns: Some(u64::MAX), ..DEFAULT };
    let mut harness = TestHarness::default();
    let mut queue = queue(config);
    queue.base = 0.4;
    // The first two arrivals find less than two large packets. The sum of 0.16 passes 1 at the
    // seventh and the thirteenth decision.
    fill(&mut queue, &mut harness, 20, Ecn::NotEct);
    assert_eq!((queue.packets(), early(&harness)), (18, 2));
    let mut sent = Vec::new();
    while let Some(packet) = queue.dequeue(&mut harness.at(Time::ZERO)) {
        sent.push(packet.seq);
    }
    let dropped: Vec<u64> = (0..20).filter(|number| !sent.contains(number)).collect();
    assert_eq!((dropped, early(&harness)), (vec![8, 14], 2));
    // The L queue: 11 decisions with 0.8 on arrival.
    fill(&mut queue, &mut harness, 13, Ecn::Ect1);
    assert_eq!(harness.counts().marked, 8);
}

/// The step decides on departure also with `drop_early`.
#[test]
fn step_marks_departing_packets_with_drop_early() {
    let config = DualPi2Config { drop_early: true, ..STEP };
    assert_eq!(marked(config, 4, Time::from_millis(2)), [1, 2, 3]);
}

/// Linux decides at random: the share of marks is the probability, and their distances vary.
#[test]
fn random_decisions_have_the_probability() {
    let config =
        DualPi2Config { decisions: Decisions::Random, ramp_start_ns: Some(u64::MAX), ..DEFAULT };
    let mut harness = TestHarness::default();
    let mut queue = queue(config);
    queue.base = 0.1;
    fill(&mut queue, &mut harness, 10_000, Ecn::Ect1);
    let mut gaps = Vec::new();
    let mut last = None;
    while let Some(packet) = queue.dequeue(&mut harness.at(Time::ZERO)) {
        if packet.ecn == Ecn::Ce {
            gaps.extend(last.map(|before| packet.seq - before));
            last = Some(packet.seq);
        }
    }
    // 2000 ± 4 standard deviations of 40.
    assert!((1840..2160).contains(&gaps.len()), "{}", gaps.len());
    // Geometric gaps: a fifth are 1.
    let ones = gaps.iter().filter(|gap| **gap == 1).count();
    assert!((ones as f64 / gaps.len() as f64 - 0.2).abs() < 0.04, "{ones}");
}

#[test]
fn limit_counts_both_queues_and_held_packets() {
    let mut harness = TestHarness::default();
    let mut queue = queue(DualPi2Config { limit: 3, ..DEFAULT });
    queue.on_held(1, Bytes(1500), &mut harness.at(Time::ZERO));
    fill(&mut queue, &mut harness, 1, Ecn::Ect1);
    fill(&mut queue, &mut harness, 5, Ecn::NotEct);
    assert_eq!((queue.packets(), harness.counts().dropped[DropReason::Overflow as usize]), (2, 4));
}

#[test]
fn check_rejects_parameters_out_of_range() {
    for (field, config) in [
        ("limit", DualPi2Config { limit: 0, ..DEFAULT }),
        ("target_ns", DualPi2Config { target_ns: 0, ..DEFAULT }),
        ("update_ns", DualPi2Config { update_ns: 0, ..DEFAULT }),
        ("mtu_bytes", DualPi2Config { mtu_bytes: 0, ..DEFAULT }),
        ("mtu_bytes", DualPi2Config { mtu_bytes: 1 << 16, ..DEFAULT }),
        ("alpha", DualPi2Config { alpha: -1.0, ..DEFAULT }),
        ("beta", DualPi2Config { beta: f64::NAN, ..DEFAULT }),
        ("coupling", DualPi2Config { coupling: 0.0, ..DEFAULT }),
        ("classic_percent", DualPi2Config { classic_percent: Some(100), ..DEFAULT }),
    ] {
        let error = <DualPi2 as Component<dyn QueueDisc + Send>>::check(&config)
            .expect_err("it is refused");
        assert!(error.to_string().starts_with(field), "{error}");
    }
}

#[test]
fn check_rejects_fields_without_effect_and_missing_fields() {
    let ramp = "Use ramp_start and ramp, or step_packets";
    let weight = "Use classic_percent, or time_shift";
    let step = DualPi2Config { step_packets: Some(3), ramp_ns: None, ..DEFAULT };
    let no_ramp = DualPi2Config { ramp_start_ns: None, ..DEFAULT };
    let shift = DualPi2Config { time_shift_ns: Some(1), ..DEFAULT };
    let no_weight = DualPi2Config { classic_percent: None, ..DEFAULT };
    for (config, text) in [
        (step, format!("ramp_start_ns = 800000: has no effect with step_packets. {ramp}")),
        (no_ramp, format!("ramp_start_ns = missing: missing. {ramp}")),
        (shift, format!("classic_percent = 10: has no effect with time_shift. {weight}")),
        (no_weight, format!("classic_percent = missing: missing. {weight}")),
    ] {
        let error = <DualPi2 as Component<dyn QueueDisc + Send>>::check(&config)
            .expect_err("it is rejected");
        assert_eq!(error.to_string(), text);
    }
}
