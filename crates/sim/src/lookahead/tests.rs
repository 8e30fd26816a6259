//! Expected slack values, computed by hand. Stages are numbered in this order: the links, the ends
//! of the backhaul in the forward and reverse directions, then for each flow the end of its access
//! wire, its receiver and its sender. Wires without delay have no stage.

use super::*;
use airpath_aqm::AnyQueue;
use airpath_core::FlowId;
use airpath_path::{Components, OpenEnds, Scenario, build_cut};
use serde_json::{Value, json};
use std::sync::Arc;

const MS: u64 = 1_000_000;

/// Returns a TCP flow with these delays of its access, egress and return wires.
fn flow(access_ns: u64, egress_ns: u64, return_ns: u64) -> Value {
    let options = airpath_tcp::profile("rfc", json!({})).expect("a profile");
    json!({
        "source": {"kind": "tcp", "congestion": {"kind": "reno"}, "options": options},
        "start": {"kind": "at", "time_ns": 0}, "access": {"delay_ns": access_ns},
        "egress": {"delay_ns": egress_ns}, "return_wire": {"delay_ns": return_ns}})
}

fn droptail() -> Value {
    json!({"kind": "droptail", "limit": {"packets": 10}})
}

fn fixed() -> Value {
    json!({"kind": "fixed", "rate_bps": 1_000_000})
}

/// Returns a scenario document with these flows, a fixed link and an ideal ACK path, overridden by
/// the keys of `change`.
fn document(flows: &[Value], change: Value) -> Value {
    let mut document = json!({
        "duration_ns": 1000 * MS, "flows": flows, "ack_path": {"kind": "ideal"},
        "bottleneck": {"link": fixed(), "queue": droptail()}});
    for (key, value) in change.as_object().expect("a table") {
        document[key] = value.clone();
    }
    document
}

fn lateness_of(document: &Value, components: &Components, open: OpenEnds) -> Vec<u64> {
    let scenario = Scenario::from_json(&document.to_string()).expect("a scenario");
    let open = |_: FlowId| open;
    let network =
        build_cut(&scenario, components, &Arc::default(), 1, 0, &open).expect("a network");
    lateness(&network).into_iter().map(Duration::as_nanos).collect()
}

/// Checks the permitted lateness of each stage in a network of built-in components.
fn check(flows: &[Value], change: Value, expected: &[u64]) {
    let document = document(flows, change);
    let found = lateness_of(&document, &Components::default(), OpenEnds::NONE);
    assert_eq!(found, expected, "{document}");
}

#[test]
fn all_stages_except_senders_have_slack_on_an_ideal_ack_path() {
    let flows = [flow(0, 10 * MS, 20 * MS), flow(0, 7 * MS, 30 * MS)];
    check(&flows, json!({}), &[7 * MS - 1, 20 * MS - 1, 0, 30 * MS - 1, 0]);
}

#[test]
fn receivers_have_no_slack_in_front_of_a_shared_ack_link() {
    let flows = [flow(0, 10 * MS, 20 * MS), flow(0, 7 * MS, 30 * MS)];
    let acks = json!({"kind": "link", "link": fixed(), "queue": droptail(), "delay_ns": 5 * MS});
    check(&flows, json!({"ack_path": acks}), &[7 * MS - 1, 25 * MS - 1, 0, 0, 0, 0]);
}

#[test]
fn a_duplex_link_has_the_slack_of_its_shorter_direction() {
    let mut bearer: Value = airpath_conformance::samples("link", "rlc-am", |_| true).remove(0);
    bearer["kind"] = json!("rlc-am");
    let change = json!({
        "bottleneck": {"link": bearer, "queue": droptail()},
        "ack_path": {"kind": "reverse", "link": null, "queue": droptail()}});
    check(&[flow(0, 10 * MS, 20 * MS)], change.clone(), &[10 * MS - 1, 0, 0]);
    check(&[flow(0, 10 * MS, 3 * MS)], change, &[3 * MS - 1, 0, 0]);
}

#[test]
fn senders_in_front_of_dedicated_wires_have_slack() {
    check(&[flow(5 * MS, 10 * MS, 20 * MS)], json!({}), &[10 * MS - 1, 0, 20 * MS - 1, 5 * MS - 1]);
}

#[test]
fn a_stage_has_no_slack_in_front_of_a_wire_without_delay() {
    check(&[flow(0, 0, 20 * MS)], json!({}), &[0, 20 * MS - 1, 0]);
    check(&[flow(0, 10 * MS, 0)], json!({}), &[10 * MS - 1, 0, 0]);
    // One flow without delay is sufficient to remove the slack.
    let flows = [flow(0, 10 * MS, 20 * MS), flow(0, 0, 20 * MS)];
    check(&flows, json!({}), &[0, 20 * MS - 1, 0, 20 * MS - 1, 0]);
    // Serialization gives no slack, because its minimum duration is not known in advance.
    let mut serialized = flow(0, 0, 20 * MS);
    serialized["egress"] = json!({"rate_bps": 1_000_000, "delay_ns": 0});
    check(&[serialized], json!({}), &[0, 20 * MS - 1, 0]);
}

#[test]
fn slack_is_limited_to_2_ns_to_100_ms() {
    check(&[flow(0, 1, 2)], json!({}), &[0, 1, 0]);
    check(&[flow(0, 3000 * MS, 100 * MS)], json!({}), &[100 * MS - 1, 100 * MS - 1, 0]);
}

#[test]
fn senders_that_share_a_wire_have_no_slack() {
    let change = json!({"backhaul": {"delay_ns": 4 * MS}});
    let flows = [flow(0, 10 * MS, 20 * MS), flow(0, 7 * MS, 30 * MS)];
    // The bottleneck after that wire has slack, because it has only one predecessor.
    check(&flows, change.clone(), &[7 * MS - 1, 0, 20 * MS - 1, 0, 0, 0, 0]);
    // A single flow does not share the wire: the relay of its ACKs leads to the return wire.
    let alone = [10 * MS - 1, 0, 20 * MS - 1, 4 * MS - 1, 4 * MS - 1];
    check(&flows[..1], change, &alone);
}

#[test]
fn a_stage_with_a_dependent_plug_in_has_no_slack() {
    let flows = [flow(0, 10 * MS, 20 * MS)];
    let change = json!({"bottleneck": {"link": fixed(), "queue": {"kind": "plug-in"}}});
    let document = document(&flows, change);
    let mut components = Components::default();
    components
        .queues
        .register("plug-in", |_, setup| Ok(Box::new(AnyQueue::build(&droptail(), setup)?)));
    let in_order = lateness_of(&document, &components, OpenEnds::NONE);
    assert_eq!(in_order, [0, 20 * MS - 1, 0]);
    components.queues.declare_independent("plug-in");
    let independent = lateness_of(&document, &components, OpenEnds::NONE);
    assert_eq!(independent, [10 * MS - 1, 20 * MS - 1, 0]);
}

#[test]
fn a_stage_in_front_of_an_open_end_has_no_slack() {
    let document = document(&[flow(0, 10 * MS, 20 * MS)], json!({}));
    let open = OpenEnds { source: false, sink: true };
    assert_eq!(lateness_of(&document, &Components::default(), open), [10 * MS - 1, 0, 0]);
}

#[test]
fn no_stage_has_slack_with_a_recorded_series() {
    let record = json!({"record": {"series": ["cwnd"]}});
    check(&[flow(0, 10 * MS, 20 * MS)], record, &[0, 0, 0]);
}
