//! Tests of CLAMP's router agent: average queue, rate, price, and the set of packets in service.

use super::*;
use crate::queue::Queue;
use airpath_core::{DropReason, FlowId, QueueId, Registry, Seed, testing::TestHarness};
use serde_json::json;

fn description(a: u64) -> Value {
    json!({"kind": "clamp", "a_bytes": a, "b": 1.0, "time_constant_ns": 500_000_000,
        "rate_time_constant_ns": 500_000_000,
        "inner": {"kind": "droptail", "limit": {"packets": 1000}}})
}

fn build(description: &Value) -> Result<AnyQueue, ConfigError> {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "clamp"), registry: &registry, extra: () };
    AnyQueue::build(description, setup)
}

fn clamp(a: u64) -> Box<Clamp> {
    match build(&description(a)).expect("a valid configuration") {
        AnyQueue::Clamp(clamp) => clamp,
        _ => unreachable!("its kind is clamp"),
    }
}

fn packet(number: u64) -> Packet {
    Packet::data(FlowId(0), number, 1460, 40, Time::ZERO)
}

fn millis(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// §4.1: q(n) = e^(-2I) q(n-1) + (1 - e^(-2I)) Q(n). Q counts the waiting packets and the arriving
/// packet.
#[test]
fn average_queue_is_updated_at_arrivals() {
    let mut harness = TestHarness::default();
    let mut queue = clamp(0);
    queue.enqueue(&packet(0), &mut harness.at(millis(0)));
    assert_eq!(queue.average(), 1500.0);
    queue.enqueue(&packet(1), &mut harness.at(millis(100)));
    let kept = (-0.2_f64).exp();
    let expected = kept * 1500.0 + (1.0 - kept) * 3000.0;
    assert!((queue.average() - expected).abs() < 1e-9);
    // A second arrival at the same time does not change the average.
    queue.enqueue(&packet(2), &mut harness.at(millis(100)));
    assert!((queue.average() - expected).abs() < 1e-9);
}

/// Packets dequeued by the link count until they are served or discarded.
#[test]
fn packet_in_service_counts_until_served_or_discarded() {
    let mut harness = TestHarness::default();
    let mut queue = clamp(0);
    for number in 0..3 {
        queue.enqueue(&packet(number), &mut harness.at(millis(0)));
    }
    let mut first = queue.dequeue(&mut harness.at(millis(0))).expect("three packets wait");
    let second = queue.dequeue(&mut harness.at(millis(0))).expect("two packets wait");
    assert_eq!((queue.taken, queue.backlog()), (Bytes(3000), Bytes(1500)));
    queue.on_served(&mut first, &mut harness.at(millis(1)));
    queue.on_lost(&second, &mut harness.at(millis(2)));
    assert_eq!((queue.taken, queue.backlog()), (Bytes(0), Bytes(1500)));
}

/// Departures of 1500 bytes every 10 ms give a rate of 150 000 bytes/s from the second departure,
/// even after a short time.
#[test]
fn rate_of_even_departures_is_correct_from_second_departure() {
    let mut rate = DecayingRate::new(Duration::from_millis(500));
    rate.count(Bytes(1500), millis(1000));
    assert_eq!(rate.per_second(), 0.0);
    for number in 1..300 {
        rate.count(Bytes(1500), millis(1000 + 10 * number));
        // The estimator assumes continuous departures, so the decay of half an interval is missing:
        // an error of at most 1 %.
        assert!((rate.per_second() / 150_000.0 - 1.0).abs() < 0.011, "{number}");
    }
}

#[test]
fn rate_converges_with_time_constant() {
    let mut rate = DecayingRate::new(Duration::from_millis(500));
    for number in 0..1000 {
        rate.count(Bytes(1500), millis(10 * number));
    }
    for number in 1000..1100 {
        rate.count(Bytes(3000), millis(10 * number));
    }
    // After 0.99 s at twice the rate, the estimate is approximately 2 - e^(-1.98) times the initial
    // rate.
    let expected = 150_000.0 * (2.0 - (-2.0_f64).exp());
    assert!((rate.per_second() / expected - 1.0).abs() < 0.02, "{}", rate.per_second());
}

/// Eq. 13: p = max((q - a) / μ_c, 0).
#[test]
fn price_matches_equation_13() {
    assert_eq!(clamp_price(6000.0, 5500.0, 1.0, 1_250_000.0), 0.0004);
    assert_eq!(clamp_price(5000.0, 5500.0, 1.0, 1_250_000.0), 0.0);
    assert_eq!(clamp_price(6000.0, 5500.0, 2.0, 1_250_000.0), 0.0052);
    assert_eq!(clamp_price(6000.0, 0.0, 1.0, 0.0), 0.0);
}

/// The price at departure, not at arrival, is added to the value in the packet.
#[test]
fn prices_of_path_are_summed() {
    let mut harness = TestHarness::default();
    let mut queue = clamp(0);
    for number in 0..4 {
        queue.enqueue(&packet(number), &mut harness.at(millis(0)));
    }
    for (number, at) in [(0, 10), (1, 20), (2, 30)] {
        let mut sent = queue.dequeue(&mut harness.at(millis(at))).expect("four wait");
        sent.feedback = 0.5;
        queue.on_served(&mut sent, &mut harness.at(millis(at)));
        let expected = if number == 0 { 0.0 } else { queue.average() / queue.rate.per_second() };
        assert!((f64::from(sent.feedback) - 0.5 - expected).abs() < 1e-6, "{number}");
    }
    let mut ack = Packet::ack(FlowId(0), 1, 1000, 40);
    ack.feedback = 0.25;
    queue.enqueue(&ack, &mut harness.at(millis(40)));
    while let Some(mut sent) = queue.dequeue(&mut harness.at(millis(40))) {
        queue.on_served(&mut sent, &mut harness.at(millis(40)));
        if sent.kind == PacketKind::Ack {
            assert_eq!(sent.feedback, 0.25);
        }
    }
}

#[test]
fn restart_measurement_resets_means() {
    let mut harness = TestHarness::default();
    let disc = build(&description(1000)).expect("a valid configuration");
    let mut queue = Queue::new(disc, QueueId(0));
    for at in 0..10 {
        queue.enqueue(&packet(at), &mut harness.at(millis(10 * at)));
        let mut sent =
            queue.dequeue(&mut harness.at(millis(10 * at + 5))).expect("one packet waits");
        queue.on_served(&mut sent, &mut harness.at(millis(10 * at + 5)));
    }
    let measured = queue.report(millis(100)).measured;
    // Every arrival finds an empty queue, so the average is 1500 bytes. The rate is 150 000
    // bytes/s.
    assert_eq!(measured[0], ("clamp_queue_bytes", Some(1500.0)));
    let rate = measured[2].1.expect("there were departures");
    assert_eq!(measured[2].0, "clamp_rate_bps");
    assert!((rate / (0.9 * 1_200_000.0) - 1.0).abs() < 0.02, "{rate}");
    queue.restart_measurement(millis(100));
    let measured = queue.report(millis(100)).measured;
    let names = ["clamp_queue_bytes", "clamp_price_s", "clamp_rate_bps"];
    assert_eq!(measured, names.map(|name| (name, None)));
}

#[test]
fn check_rejects_parameters_out_of_range() {
    let with = |field: &str, value: Value| {
        let mut changed = description(0);
        changed[field] = value;
        build(&changed).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(with("b", json!(0.0)).starts_with("b"), "{}", with("b", json!(0.0)));
    assert!(with("time_constant_ns", json!(0)).starts_with("time_constant_ns"));
    assert!(with("rate_time_constant_ns", json!(0)).starts_with("rate_time_constant_ns"));
    let nested = with("inner", description(0));
    assert!(nested.contains("a clamp queue inside a clamp queue"), "{nested}");
    assert!(with("inner", json!({"kind": "x"})).starts_with("inner.kind"));
    assert!(with("a_bytes", json!(null)).starts_with("a_bytes"));
    assert!(with("target_delay_ns", json!(5)).contains("a is given too"));
    for time_ns in [0, 5] {
        let line =
            format!("adaptation_time_ns = {time_ns}: a is given too. Use a, or target_delay");
        assert_eq!(with("adaptation_time_ns", json!(time_ns)), line);
    }
    assert_eq!(with("a_bytes", json!(7)), "");
}

/// Extension by Airpath: each packet changes a by s (D - d) / T. The upper bound is twice the
/// backlog at the target delay, or higher while the price is positive.
#[test]
fn adaptation_of_a_reaches_target_delay() {
    let target = ClampTarget { delay_s: 0.05, time_constant_s: 5.0 };
    let next = clamp_next_a(1000.0, 1500.0, 0.07, 1e6, 0.0, &target);
    assert!((next - (1000.0 - 1500.0 * 0.02 / 5.0)).abs() < 1e-9, "{next}");
    assert_eq!(clamp_next_a(99_999.0, 1500.0, 0.0, 1e6, 9e4, &target), 100_000.0);
    assert_eq!(clamp_next_a(99_999.0, 1500.0, 0.0, 1e6, 1e6, &target), 100_014.0);
    // With a queue of a + 500 bytes and a rate of 1 Mbyte/s the delay converges to 50 ms with the
    // time constant T.
    let (mut a, rate) = (0.0, 1e6);
    for _ in 0..(5.0 * rate / 1500.0) as usize {
        a = clamp_next_a(a, 1500.0, (a + 500.0) / rate, rate, a + 500.0, &target);
    }
    let expected = 49_500.0 * (1.0 - (-1.0_f64).exp());
    assert!((a / expected - 1.0).abs() < 0.002, "{a}");
}

#[test]
fn adaptation_uses_delay_until_end_of_service() {
    let mut harness = TestHarness::default();
    let mut changed = description(0);
    let fields = changed.as_object_mut().expect("an object");
    fields.remove("a_bytes");
    fields.insert("target_delay_ns".into(), json!(50_000_000));
    let mut queue = Queue::new(build(&changed).expect("a valid configuration"), QueueId(0));
    for (came, served) in [(0, 10), (20, 100), (100, 200)] {
        queue.enqueue(&packet(0), &mut harness.at(millis(came)));
        let mut sent = queue.dequeue(&mut harness.at(millis(came))).expect("one packet waits");
        queue.on_served(&mut sent, &mut harness.at(millis(served)));
    }
    // The first packet is not late, so a is still infinite. The second packet sets a to its
    // bound, twice the backlog at the target delay. The third packet takes 0.1 s, which changes
    // a by 1500 (0.05 - 0.1) / 5. The bound decreases by more.
    let found = queue.report(millis(200)).measured[3];
    let mut rate = DecayingRate::new(Duration::from_millis(500));
    let mut bound_at = |at: u64| {
        rate.count(Bytes(1500), millis(at));
        2.0 * 0.05 * rate.per_second()
    };
    let bounds = [bound_at(10), bound_at(100), bound_at(200)];
    let steps = [bounds[1], bounds[2].min(bounds[1] - 15.0)];
    assert_eq!(found.0, "clamp_a_bytes");
    let mean = found.1.expect("there were departures");
    assert!((mean - steps.iter().sum::<f64>() / 2.0).abs() < 1e-9, "{mean}");
}

#[test]
fn packet_dropped_by_inner_discipline_is_not_in_service() {
    let mut harness = TestHarness::default();
    let mut changed = description(0);
    changed["inner"] = json!({"kind": "droptail", "limit": {"packets": 1}});
    let mut queue = build(&changed).expect("a valid configuration");
    for number in 0..3 {
        queue.enqueue(&packet(number), &mut harness.at(millis(0)));
    }
    assert_eq!(harness.counts().dropped[DropReason::Overflow as usize], 2);
    assert_eq!((queue.packets(), queue.backlog()), (1, Bytes(1500)));
}

/// Extension by Airpath: in a starved queue the weight of a departure is proportional to the
/// elapsed time, so that a recovers. If packets are late, or if the rate is at least a tenth of the
/// largest rate, the weight is the number of bytes.
#[test]
fn starved_queue_weights_departure_by_elapsed_time() {
    let mut peak = Peak { rate: 0.0, left: Time::ZERO };
    assert_eq!(peak.counted(1500.0, false, 1e6, millis(10)), 1500.0);
    assert_eq!(peak.counted(1500.0, true, 5e4, millis(110)), 1500.0);
    let largest = 1e6 * (1.0 - 0.1 / PEAK_S);
    assert_eq!(peak.rate, largest);
    let counted = peak.counted(1500.0, false, 5e4, millis(160));
    assert!((counted - largest * (1.0 - 0.05 / PEAK_S) * 0.05).abs() < 1e-6, "{counted}");
    assert_eq!(peak.counted(1500.0, false, 0.11e6, millis(210)), 1500.0);
    // After one minute the recorded largest rate has decayed to 0.
    assert_eq!(peak.counted(1500.0, false, 5e4, millis(60_210)), 1500.0);
}
