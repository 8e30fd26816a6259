//! Tests of interruptions, losses and schedules of delays, by hand.

use crate::common::*;
use airpath_core::FlowId;
use airpath_path::{Components, Network, ReplicationReport, Scenario, build};
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns hop `a` (12 Mbit/s, 1 ms for a packet, a queue of `limit` packets), 1 ms of delay, and
/// hop `b`, which never has a queue.
fn hops(limit: usize) -> Value {
    json!([
        {"name": "a", "down": {"link": fixed(12_000_000), "queue": droptail(limit), "delay_ns": MS}},
        {"name": "b", "down": {"link": fixed(1_200_000_000), "queue": droptail(9)}}])
}

/// Returns a scenario of 100 ms over `hops` with one packet every 2 ms from `start_ms` on.
fn scenario_of(hops: Value, start_ms: u64, packets: u64, actions: &[(u64, Value)]) -> Scenario {
    let times = json!({
        "start": {"kind": "at", "time_ns": start_ms * MS}, "egress": {"delay_ns": 0},
        "return_wire": {"delay_ns": 0}, "stop_ns": start_ms * MS + packets * 2 * MS - MS});
    let flow = flow(datagrams("cbr", 6_000_000), times);
    let control =
        |(at, action): &(u64, Value)| json!({"at_ns": at * MS, "hop": "a", "action": action});
    let controls: Vec<Value> = actions.iter().map(control).collect();
    let document = json!({
        "duration_ns": 100 * MS, "flows": [flow], "hops": hops, "controls": controls});
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

fn interruption(duration_ms: u64, packets: &str, forward_delay_ms: u64) -> Value {
    json!({"kind": "interruption", "duration_ns": duration_ms * MS, "packets": packets,
           "forward_delay_ns": forward_delay_ms * MS})
}

/// Packets that left the link of hop `a` towards hop `b`: sequence number and time, µs; and the
/// report.
fn run_by_hand(scenario: &Scenario) -> (Vec<(u64, u64)>, ReplicationReport) {
    let network =
        build(scenario, &Components::default(), &Arc::default(), 1, 0).expect("a network");
    let mut driver = PlainDriver::new(network);
    driver.run();
    let left = left_of(&driver.network, &driver.log, "a");
    (left, run(scenario, 1))
}

fn left_of(network: &Network, log: &[Departure], link: &str) -> Vec<(u64, u64)> {
    let place = network.links.iter().find(|place| place.sides[0] == link).expect("a link");
    let of_link = log.iter().filter(|d| d.from == place.stage && d.flow == FlowId(0));
    of_link.map(|departure| (departure.seq, departure.at.as_nanos() / 1000)).collect()
}

fn interrupted_drops(report: &ReplicationReport) -> u64 {
    let queue = report.queues.iter().find(|queue| queue.name == "a").expect("a queue");
    queue.drops.iter().filter(|(name, _)| **name == "interruption").map(|(_, count)| count).sum()
}

#[test]
fn kept_packets_wait_and_the_packet_in_transmission_leaves_first() {
    // Packets arrive at 0, 2, 4, … ms. The interruption lasts from 2.5 ms to 7.5 ms: packet 1 is in
    // transmission, and packets 2 and 3 wait.
    let action = interruption(5, "keep", 0);
    let mut scenario = scenario_of(hops(9), 0, 6, &[]);
    scenario.controls = scenario_of(hops(9), 0, 6, &[(3, action)]).controls;
    scenario.controls[0].at_ns = 2_500_000;
    let (left, report) = run_by_hand(&scenario);
    let expected = [(0, 1000), (1, 7500), (2, 8500), (3, 9500), (4, 10_500), (5, 11_500)];
    assert_eq!(left, expected);
    assert_eq!((interrupted_drops(&report), report.flows[0].delivered_packets), (0, 6));
}

#[test]
fn kept_packets_above_the_limit_of_the_queue_are_dropped() {
    // A queue of one packet. Packet 1, which would leave at 3 ms, the instant of the start, leaves at
    // the end, 9 ms. Packets 3 and 4 arrive while packet 2 waits.
    let (left, report) =
        run_by_hand(&scenario_of(hops(1), 0, 6, &[(3, interruption(6, "keep", 0))]));
    assert_eq!(left, [(0, 1000), (1, 9000), (2, 10_000), (5, 11_000)]);
    assert_eq!(interrupted_drops(&report), 0);
}

#[test]
fn an_interruption_precedes_other_events_of_its_instant() {
    // At 4 ms packet 2 arrives and the interruption starts; at 8 ms packet 4 arrives and it ends.
    let (left, report) =
        run_by_hand(&scenario_of(hops(9), 0, 6, &[(4, interruption(4, "lose", 0))]));
    assert_eq!(left, [(0, 1000), (1, 3000), (4, 9000), (5, 11_000)]);
    assert_eq!(interrupted_drops(&report), 2);
    // Packet 1 leaves at 3 ms, the instant of the start: it was in transmission.
    let (left, _) = run_by_hand(&scenario_of(hops(9), 0, 3, &[(3, interruption(2, "lose", 0))]));
    assert_eq!(left, [(0, 1000)]);
}

#[test]
fn lost_packets_are_those_that_arrived_before_the_end() {
    // The link sends a packet in 4 ms. At 9 ms packet 2 is in transmission, packets 3 and 4 wait,
    // and packet 5 arrives at 10 ms. The transmission of packet 2 would end at 12 ms, after the
    // end: it is lost, and the link is busy until then.
    let mut hops = hops(9);
    hops[0]["down"]["link"] = fixed(3_000_000);
    let (left, report) = run_by_hand(&scenario_of(hops, 0, 7, &[(9, interruption(2, "lose", 0))]));
    assert_eq!(left, [(0, 4000), (1, 8000), (6, 16_000)]);
    assert_eq!(interrupted_drops(&report), 4);
    let link = report.links.iter().find(|link| link.name == "a").expect("a link");
    assert_eq!((link.delivered_packets, link.lost_packets), (3, 1));
}

#[test]
fn forwarded_packets_arrive_in_order_after_the_forwarding_delay() {
    // The link sends a packet in 4 ms. At 9 ms packet 2 is in transmission and lost; packets 3 and 4
    // wait, and enter the queue at 12 ms; packet 5 arrives at 10 ms and enters at 13 ms. Packet 6
    // arrives at 12 ms, after the end at 11 ms, and waits for packet 5.
    let mut hops = hops(9);
    hops[0]["down"]["link"] = fixed(3_000_000);
    let (left, report) =
        run_by_hand(&scenario_of(hops, 0, 7, &[(9, interruption(2, "forward", 3))]));
    // The link is busy with packet 2 until 12 ms.
    assert_eq!(left, [(0, 4000), (1, 8000), (3, 16_000), (4, 20_000), (5, 24_000), (6, 28_000)]);
    assert_eq!(interrupted_drops(&report), 1);
}

#[test]
fn parameters_at_the_end_apply_to_the_first_packet_after_it() {
    let actions = [
        (3, interruption(5, "keep", 0)),
        (8, json!({"kind": "rate", "rate_bps": 6_000_000})),
        (8, json!({"kind": "delay", "delay_ns": 5 * MS})),
    ];
    let (left, report) = run_by_hand(&scenario_of(hops(9), 0, 4, &actions));
    assert_eq!(left, [(0, 1000), (1, 8000), (2, 10_000), (3, 12_000)]);
    // Delays: 1 + 1, 6 + 5, 6 + 5, 6 + 5 ms, and 10 µs on link b.
    let mean = report.flows[0].mean_delay_s.expect("packets");
    assert!((mean - (0.002 + 3.0 * 0.011) / 4.0 - 1e-5).abs() < 1e-9, "{mean}");
}

#[test]
fn loss_applies_to_transmissions_that_start_later() {
    let actions =
        [(3, json!({"kind": "loss", "loss": 1.0})), (7, json!({"kind": "loss", "loss": 0.0}))];
    let (left, report) = run_by_hand(&scenario_of(hops(9), 0, 6, &actions));
    assert_eq!(left, [(0, 1000), (1, 3000), (4, 9000), (5, 11_000)]);
    assert_eq!(report.links.iter().map(|link| link.lost_packets).sum::<u64>(), 2);
}

#[test]
fn a_wire_with_a_limit_is_interrupted() {
    let wire = json!([{"name": "a", "wire": {
        "rate_bps": 12_000_000, "delay_ns": MS, "limit": {"packets": 9}}}]);
    let scenario = scenario_of(wire, 0, 4, &[(3, interruption(5, "lose", 0))]);
    let report = run(&scenario, 1);
    assert_eq!(report.flows[0].delivered_packets, 1);
    assert_eq!(interrupted_drops(&report), 3);
}

#[test]
fn a_schedule_keeps_order_and_starts_no_phase() {
    // Delays from 3 ms on: 10 ms; from 5 ms on: 2 ms.
    let schedule = json!({"kind": "schedule", "points": [[0, 10 * MS], [2 * MS, 2 * MS]]});
    let report = run(&scenario_of(hops(9), 0, 4, &[(3, schedule)]), 1);
    // Packet 1 leaves at 3 ms and arrives at 13 ms. Packets 2 and 3 leave at 5 and 7 ms and arrive
    // after it, not at 7 and 9 ms: 2, 11, 9 and 7 ms, and 10, 10, 20 and 30 µs on link b.
    let flow = &report.flows[0];
    let mean = flow.mean_delay_s.expect("packets");
    assert!((mean - 0.029 / 4.0 - 17.5e-6).abs() < 1e-9, "{mean}");
    assert!(report.phases.is_empty());
}

#[test]
fn controls_that_do_not_fit_are_rejected() {
    let problems = |hops: Value, controls: Value| {
        let flow = flow(datagrams("cbr", 6_000_000), json!({}));
        let document = json!({
            "duration_ns": SECOND, "flows": [flow], "hops": hops, "controls": controls});
        let error = Scenario::from_json(&document.to_string()).expect_err("a problem");
        error.problems().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let at = |at_ns: u64, hop: &str, action: Value| json!({"at_ns": at_ns, "hop": hop, "action": action});
    let mut cases = Vec::new();
    let loss = json!({"kind": "loss", "loss": 0.5});
    cases
        .push((at(0, "c", loss.clone()), "controls.0.hop = c: unknown hop. Expected one of: a, b"));
    let up = json!({"kind": "delay", "delay_ns": 0, "direction": "reverse"});
    cases.push((
        at(0, "a", up),
        "controls.0.action.direction = reverse: the hop does not serve this direction. Use the \
         other direction",
    ));
    cases.push((
        at(0, "a", json!({"kind": "loss", "loss": 1.5})),
        "controls.0.action.loss = 1.5: above 1. Accepted: 0 to 1",
    ));
    cases.push((
        at(0, "a", json!({"kind": "schedule", "points": [[5, 1], [5, 2]]})),
        "controls.0.action.points.1 = 5: not after the time before. Accepted: more than 5",
    ));
    cases.push((
        at(0, "a", interruption(0, "keep", 0)),
        "controls.0.action.duration_ns = 0: below 1. Accepted: at least 1",
    ));
    cases.push((
        at(0, "a", interruption(1, "lose", 1)),
        "controls.0.action.forward_delay_ns = 1000000: packets are not forwarded. Remove it",
    ));
    for (control, problem) in cases {
        assert_eq!(problems(hops(9), json!([control])), [problem]);
    }
    let twice = json!([
        at(0, "a", interruption(10, "keep", 0)),
        at(5 * MS, "a", interruption(1, "keep", 0))
    ]);
    assert_eq!(
        problems(hops(9), twice),
        ["controls.1.at = 5000000: before the end of the interruption before it. Accepted: at \
          least 10000000"]
    );
    let mut with_wire = hops(9);
    with_wire[0] = json!({"name": "a", "wire": {"delay_ns": MS}});
    assert_eq!(
        problems(with_wire.clone(), json!([at(0, "a", interruption(1, "keep", 0))])),
        [
            "controls.0.hop = a: a wire without a limit has no queue. Set a limit, or use a hop with a \
          link"
        ]
    );
    with_wire[0]["wire"] = json!({"rate_bps": 1, "delay_ns": MS, "limit": {"packets": 1}});
    assert_eq!(
        problems(with_wire, json!([at(0, "a", loss)])),
        [
            "controls.0.action.loss = 0.5: the link has no loss probability. Use a link of kind fixed, \
          trace or rate-trace"
        ]
    );
}
