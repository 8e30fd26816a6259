//! Agents with constant decisions against theory, and pauses that change nothing.

use super::*;
use airpath_core::{Duration, FlowId, Rate};
use airpath_path::{Components, Scenario};
use serde_json::{Value, json};
use std::sync::Arc;

/// Payload of a segment; with 40 bytes of headers, 1500 bytes.
const MSS: u64 = 1460;
/// Rate of the link, packets of 1500 bytes per second.
const CAPACITY: f64 = 1000.0;
const RTT: f64 = 0.1;

/// A flow of an agent over a link of 1000 packets/s with a buffer of `buffer` packets, RTT 100 ms.
fn document(buffer: u64) -> Value {
    let changes = json!({"recovery": "sack", "loss_detection": "rack", "handshake": false, "delayed_ack_segments": 1,
                         "receive_window": 1_000_000_000, "timestamps": false});
    let options = airpath_tcp::profile("rfc", changes).expect("a profile");
    let flow = json!({
        "source": {"kind": "tcp", "congestion": {"kind": "agent", "agent": 0}, "options": options},
        "start": {"kind": "at", "time_ns": 1_000_000_000}, "access": {"delay_ns": 0},
        "egress": {"delay_ns": 50_000_000}, "return_wire": {"delay_ns": 50_000_000}});
    json!({"duration_ns": 60_000_000_000_u64, "flows": [flow], "ack_path": {"kind": "ideal"},
           "bottleneck": {"link": {"kind": "fixed", "rate_bps": 12_000_000},
                          "queue": {"kind": "droptail", "limit": {"packets": buffer}}}})
}

fn experiment(document: &Value, step: Step) -> Experiment {
    let scenario = Scenario::from_json(&document.to_string()).expect("a scenario");
    Experiment { scenario: Arc::new(scenario), files: Arc::default(), flows: vec![FlowId(0)], step }
}

fn seconds(seconds: f64) -> Step {
    Step::Time(Duration::from_nanos((seconds * 1e9) as u64))
}

fn window(packets: u64) -> Action {
    Action { window: Some(packets * MSS), rate: None }
}

fn rate(packets_per_second: f64) -> Action {
    Action { window: None, rate: Some(Rate((packets_per_second * 12_000.0) as u64)) }
}

fn start(experiment: &Experiment, action: Action) -> Simulation {
    Simulation::new(experiment, &Components::default(), (1, 0), &[action], &()).expect("a network")
}

fn step(simulation: &mut Simulation, action: Action) -> Statistics {
    let mut statistics = Vec::new();
    simulation.step(&[action], &(), &mut statistics).expect("a run");
    statistics[0]
}

/// The interval from 5 s to 15 s of a flow with a constant action.
fn steady(buffer: u64, action: Action) -> Statistics {
    let mut simulation = start(&experiment(&document(buffer), seconds(5.0)), action);
    step(&mut simulation, action);
    step(&mut simulation, action)
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value}, not {expected}");
}

/// Below the bandwidth-delay product of 101 packets, the rate is W/RTT and no packet waits once the
/// ACKs pace the window. The RTT contains the transmission time of 1 ms. The counted packets differ
/// from the mean by one window at most.
#[test]
fn small_window_has_the_rate_window_per_rtt_and_no_queue() {
    let found = steady(1000, window(50));
    let rtt = RTT + 1.0 / CAPACITY;
    close(found.delivered_bytes / MSS as f64, 5.0 * 50.0 / rtt, 50.0);
    close(found.mean_rtt, rtt, 1e-9);
    assert_eq!((found.in_flight_bytes, found.unacked_bytes), (73_000.0, 73_000.0));
    assert_eq!(found.lost_packets, 0.0);
}

/// Above the bandwidth-delay product, the link is full and the RTT is W/C: W - D packets wait.
#[test]
fn large_window_fills_the_link_and_the_rest_waits() {
    let found = steady(1000, window(300));
    close(found.throughput / 8.0 / MSS as f64, CAPACITY, 0.5);
    close(found.mean_rtt, 300.0 / CAPACITY, 1e-6);
    close(found.rtt_slope, 0.0, 1e-9);
    assert_eq!(found.lost_packets, 0.0);
}

/// A window below one segment counts as one segment, at the start and later: one packet per RTT.
#[test]
fn window_below_one_segment_counts_as_one() {
    let tiny = Action { window: Some(1), rate: None };
    let mut simulation = start(&experiment(&document(9), seconds(5.0)), tiny);
    let first = step(&mut simulation, tiny);
    let second = step(&mut simulation, tiny);
    assert_eq!((first.window_bytes, second.window_bytes), (1460.0, 1460.0));
    close(first.sent_packets, 5.0 / (RTT + 1.0 / CAPACITY), 1.0);
    close(second.sent_packets, 5.0 / (RTT + 1.0 / CAPACITY), 1.0);
}

/// A rate r above the capacity C fills the buffer: loss 1 - C/r, RTT with a full buffer.
#[test]
fn rate_above_capacity_loses_the_excess() {
    let found = steady(50, rate(1250.0));
    close(found.loss_share, 1.0 - CAPACITY / 1250.0, 0.005);
    close(found.sent_packets, 5.0 * 1250.0, 1.0);
    close(found.mean_rtt, RTT + 51.0 / CAPACITY, 0.002);
    assert_eq!(found.timeouts, 0.0);
}

/// A rate below the capacity is the throughput: one packet in each gap, no queue.
#[test]
fn rate_below_capacity_is_the_throughput() {
    let found = steady(50, rate(500.0));
    close(found.throughput / 8.0 / MSS as f64, 500.0, 0.5);
    close(found.mean_rtt, RTT + 1.0 / CAPACITY, 1e-9);
    close(found.send_ratio, 1.0, 0.001);
}

/// The sums of fifty intervals are those of one, and so is the report of the network.
#[test]
fn short_intervals_change_nothing() {
    for action in [window(120), rate(1100.0)] {
        let mut short = start(&experiment(&document(40), seconds(0.1)), action);
        let mut long = start(&experiment(&document(40), seconds(5.0)), action);
        let parts: Vec<_> = (0..50).map(|_| step(&mut short, action)).collect();
        let whole = step(&mut long, action);
        let sum = |of: fn(&Statistics) -> f64| parts.iter().map(of).sum::<f64>();
        let sums: [fn(&Statistics) -> f64; 6] = [
            |s| s.sent_bytes,
            |s| s.delivered_bytes,
            |s| s.lost_packets,
            |s| s.acks,
            |s| s.rtt_samples,
            |s| s.timeouts,
        ];
        for of in sums {
            assert_eq!(sum(of), of(&whole));
        }
        close(sum(|s| s.mean_rtt * s.rtt_samples), whole.mean_rtt * whole.rtt_samples, 1e-6);
        let [short, long] = [short, long]
            .map(|simulation| serde_json::to_value(simulation.report()).expect("a report"));
        assert_eq!(short, long);
    }
}

/// An interval of 10 ACKs has 10 ACKs, and a pause at an ACK does not change the run.
#[test]
fn intervals_of_acks_have_this_number_and_change_nothing() {
    let action = window(120);
    let step_by_acks = Step::Acks { count: 10, longest: Duration::from_secs(1) };
    let mut simulation = start(&experiment(&document(40), step_by_acks), action);
    let found: Vec<_> = (0..200).map(|_| step(&mut simulation, action)).collect();
    assert!(found.iter().all(|each| each.acks == 10.0));
    let spent = (found[199].time - 1.0) * 1e9;
    let by_time = Step::Time(Duration::from_nanos(spent.round() as u64 + 1));
    let mut whole = start(&experiment(&document(40), by_time), action);
    let expected = step(&mut whole, action);
    let sum = |of: fn(&Statistics) -> f64| found.iter().map(of).sum::<f64>();
    assert_eq!(expected.acks, 2000.0);
    assert_eq!(sum(|s| s.sent_bytes), expected.sent_bytes);
    assert_eq!(sum(|s| s.lost_bytes), expected.lost_bytes);
}

/// The first interval has the given duration, each later one half the mean RTT of the previous one.
#[test]
fn intervals_of_rtts_follow_the_mean_rtt() {
    let first = Duration::from_millis(250);
    let by_rtt = Step::Rtt { factor: 0.5, first };
    let mut simulation = start(&experiment(&document(1000), by_rtt), window(300));
    let mut before = step(&mut simulation, window(300));
    assert_eq!(before.duration, 0.25);
    for _ in 0..20 {
        let next = step(&mut simulation, window(300));
        close(next.duration, 0.5 * before.mean_rtt, 1e-9);
        before = next;
    }
}

/// The reward of Aurora's simulator at a held rate of 100 of 200 packets/s, RTT 100 ms, is 0.9 per
/// interval: 0.001·(10·100 - 1000·0.1). `network_sim.py` of PCC-RL.
#[test]
fn reward_of_a_held_rate_is_that_of_auroras_formula() {
    let mut document = document(100);
    document["bottleneck"]["link"]["rate_bps"] = json!(2_400_000);
    // With 5 ms of transmission time the RTT is 100 ms.
    document["flows"][0]["return_wire"]["delay_ns"] = json!(45_000_000);
    let mut simulation = start(&experiment(&document, seconds(1.0)), rate(100.0));
    step(&mut simulation, rate(100.0));
    let found = step(&mut simulation, rate(100.0));
    let packets = found.throughput / 8.0 / MSS as f64;
    let reward = 0.001 * (10.0 * packets - 1000.0 * found.mean_rtt - 2000.0 * found.loss_share);
    close(reward, 0.9, 1e-9);
}

/// A transfer of 100 segments ends the episode of the agent; the scenario ends at 60 s.
#[test]
fn finished_transfers_and_the_end_of_the_scenario_are_reported() {
    let mut document = document(1000);
    document["flows"][0]["source"]["transfer_bytes"] = json!(100 * MSS);
    let mut simulation = start(&experiment(&document, seconds(30.0)), window(10));
    assert_eq!(simulation.now().as_secs_lossy(), 1.0);
    assert!(!simulation.is_finished(0));
    let found = step(&mut simulation, window(10));
    assert_eq!((found.acked_bytes, found.sent_packets), (146_000.0, 100.0));
    assert!(simulation.is_finished(0) && !simulation.has_ended());
    let last = step(&mut simulation, window(10));
    assert_eq!((last.duration, last.sent_packets), (29.0, 0.0));
    assert!(simulation.has_ended());
    let failed = simulation.step(&[window(10)], &(), &mut Vec::new());
    assert!(matches!(failed, Err(AgentError::Ended)));
}

#[test]
fn flows_that_do_not_belong_to_their_agents_are_rejected() {
    let new = |document: &Value, flows: Vec<FlowId>| {
        let experiment = Experiment { flows, ..experiment(document, seconds(1.0)) };
        let actions = vec![window(1); experiment.flows.len()];
        let made = Simulation::new(&experiment, &Components::default(), (1, 0), &actions, &());
        made.err().expect("an error").to_string()
    };
    let both = vec![FlowId(0), FlowId(1)];
    assert_eq!(new(&document(9), both), "flow 1 has another congestion control than agent 1");
    let mut other = document(9);
    other["flows"][0]["source"] = json!({"kind": "cbr", "rate_bps": 1000, "packet_bytes": 100});
    let expected = "flow 0 has another congestion control than agent 0";
    assert_eq!(new(&other, vec![FlowId(0)]), expected);
    let mut outside = document(9);
    outside["flows"][0]["source"]["congestion"]["agent"] = json!(3);
    assert!(new(&outside, vec![FlowId(0)]).contains("no such agent"));
    let experiment = experiment(&document(9), seconds(1.0));
    let made = Simulation::new(&experiment, &Components::default(), (1, 0), &[], &());
    assert!(matches!(made, Err(AgentError::Actions { actions: 0, agents: 1 })));
}

/// Two agents share a link; each has its own statistics.
#[test]
fn several_agents_have_their_own_actions_and_statistics() {
    let mut document = document(1000);
    let mut second = document["flows"][0].clone();
    second["source"]["congestion"]["agent"] = json!(1);
    document["flows"].as_array_mut().expect("a list").push(second);
    let flows = vec![FlowId(0), FlowId(1)];
    let experiment = Experiment { flows, ..experiment(&document, seconds(5.0)) };
    let actions = [rate(100.0), rate(300.0)];
    let made = Simulation::new(&experiment, &Components::default(), (1, 0), &actions, &());
    let mut simulation = made.expect("a network");
    let mut found = Vec::new();
    simulation.step(&actions, &(), &mut found).expect("a run");
    close(found[0].sent_packets, 500.0, 1.0);
    close(found[1].sent_packets, 1500.0, 1.0);
}
