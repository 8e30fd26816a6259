//! Tests of captures at the hops of a path: capture times by hand, and counts against the report.

use crate::common::{MS, Memory, SECOND, datagrams, droptail, fixed, flow, merge, tcp};
use airpath_path::{Components, Scenario};
use airpath_sim::{
    CapturePlan, CaptureRequest, Monitor, Plan, Point, Replication, Sink, replicate_and_capture,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A captured packet: time, ns, and time to live.
type Frame = (u64, u8);

/// Returns the packets of a pcapng file with one interface.
fn frames(file: &[u8]) -> Vec<Frame> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let (mut found, mut at) = (Vec::new(), 0);
    while at < file.len() {
        // Enhanced packet block: type, length, interface, time (high, low), two lengths, packet.
        if word(at) == 6 {
            let time = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            found.push((time, file[at + 28 + 8]));
        }
        at += word(at + 4) as usize;
    }
    found
}

/// Captures at all points of a scenario. Returns the packets of each point, and the report.
fn captured(scenario: &Scenario) -> (BTreeMap<String, Vec<Frame>>, Replication) {
    let (components, files) = (Components::default(), Arc::default());
    let plan = Plan {
        scenario,
        components: &components,
        files: &files,
        seed: 4,
        first: 0,
        count: 1,
        threads: 1,
    };
    let mut memories = BTreeMap::new();
    let request = |point: Point| {
        let memory = Memory::default();
        memories.insert(point.name().to_owned(), memory.clone());
        let sink: Sink = Box::new(memory);
        CaptureRequest { point, application: String::new(), comments: Default::default(), sink }
    };
    let requests = Point::all(scenario).into_iter().map(request).collect();
    let captures = CapturePlan { replication: 0, requests };
    let outcome = replicate_and_capture(&plan, Some(captures), &Monitor::default());
    let mut outcome = outcome.expect("a network");
    assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
    let read = |memory: Memory| frames(&memory.0.lock().expect("no thread panics with the lock"));
    let found = memories.into_iter().map(|(name, memory)| (name, read(memory))).collect();
    (found, outcome.finished.remove(0))
}

fn over(hops: &[Value], flows: &[Value]) -> Scenario {
    let document = json!({
        "duration_ns": SECOND, "flows": flows, "hops": hops, "record": {"flow_monitor": true}});
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

/// Returns a hop with a link and a delay in both directions.
fn fixed_hop(name: &str, rate_bps: u64, delay_ns: u64) -> Value {
    let direction = json!({"link": fixed(rate_bps), "queue": droptail(1000), "delay_ns": delay_ns});
    json!({"name": name, "down": direction, "up": direction})
}

/// Returns a flow with one packet of 1500 bytes per second, without delays of its wires.
fn one_packet(change: Value) -> Value {
    let mut flow = flow(datagrams("cbr", 12_000), json!({"egress": {"delay_ns": 0}}));
    merge(&mut flow, change);
    flow
}

/// Returns the capture times in ms and the times to live at these points.
fn at(found: &BTreeMap<String, Vec<Frame>>, points: &[&str]) -> Vec<Vec<(u64, u8)>> {
    let frames = |point: &&str| found[*point].iter().map(|(time, ttl)| (time / MS, *ttl)).collect();
    points.iter().map(frames).collect()
}

/// A wire, a wire with a queue, and two links: 1 ms, 1 ms, 1 ms and 2 ms of transmission, and 5, 3,
/// 10 and 20 ms of propagation.
fn four_hops() -> [Value; 4] {
    [
        json!({"name": "w", "wire": {"rate_bps": 12_000_000, "delay_ns": 5 * MS}}),
        json!({"name": "q", "wire": {
            "rate_bps": 12_000_000, "delay_ns": 3 * MS, "limit": {"packets": 9}}}),
        fixed_hop("a", 12_000_000, 10 * MS),
        fixed_hop("b", 6_000_000, 20 * MS),
    ]
}

#[test]
fn a_packet_is_captured_at_each_hop_at_its_arrival_and_at_the_end_of_its_transmission() {
    let (found, _) = captured(&over(&four_hops(), &[one_packet(json!({}))]));
    let points = ["sender", "w", "q.in", "q", "a.in", "a", "b.in", "b", "receiver"];
    // The queue in front of a wire is not the queue of a router with a link.
    let expected =
        [(0, 64), (6, 64), (6, 64), (7, 64), (10, 64), (11, 63), (21, 63), (23, 62), (43, 62)];
    assert_eq!(at(&found, &points), expected.map(|frame| vec![frame]));
    // The bottleneck is the last link towards the users.
    assert_eq!(at(&found, &["ingress", "bottleneck"]), [[(21, 63)], [(23, 62)]]);
    let is_empty = |point: &str| found[point].is_empty();
    assert!(
        ["w_reverse", "q_reverse", "a_reverse.in", "b_reverse", "acks"].into_iter().all(is_empty)
    );
}

#[test]
fn an_upload_is_captured_at_the_hops_in_opposite_order() {
    let upload = one_packet(json!({"direction": "reverse"}));
    let (found, _) = captured(&over(&four_hops(), &[upload]));
    let points = [
        "sender",
        "b_reverse.in",
        "b_reverse",
        "a_reverse.in",
        "a_reverse",
        "q_reverse.in",
        "q_reverse",
        "w_reverse",
        "receiver",
    ];
    let expected =
        [(0, 64), (0, 64), (2, 63), (22, 63), (23, 62), (33, 62), (34, 62), (43, 62), (43, 62)];
    assert_eq!(at(&found, &points), expected.map(|frame| vec![frame]));
    assert_eq!(at(&found, &["acks"]), [[(2, 63)]]);
}

#[test]
fn a_flow_is_captured_only_at_the_hops_of_its_route() {
    let hops = [
        fixed_hop("a", 12_000_000, 10 * MS),
        fixed_hop("b", 12_000_000, 10 * MS),
        fixed_hop("c", 12_000_000, 10 * MS),
    ];
    let flows = [one_packet(json!({})), one_packet(json!({"hops": ["b", "b"]}))];
    let (found, _) = captured(&over(&hops, &flows));
    let both = [(0, 64), (11, 63)];
    assert_eq!(at(&found, &["a", "b.in", "c.in"]), [vec![(1, 63)], both.to_vec(), vec![(22, 62)]]);
    assert_eq!(at(&found, &["receiver"]), [[(11, 63), (33, 61)]]);
}

#[test]
fn captures_of_tcp_agree_with_the_counters_of_each_queue_and_link() {
    let hops = [fixed_hop("a", 4_000_000, 5 * MS), fixed_hop("bottleneck", 3_000_000, 5 * MS)];
    let flows = ["forward", "reverse"].map(|way| flow(tcp(json!({})), json!({"direction": way})));
    let (found, replication) = captured(&over(&hops, &flows));
    let report = &replication.report;
    for (queue, link) in report.queues.iter().zip(&report.links) {
        assert_eq!(queue.name, link.name);
        assert_eq!(found[&format!("{}.in", queue.name)].len() as u64, queue.arrived);
        assert_eq!(found[&queue.name].len() as u64, link.delivered_packets);
        assert!(link.delivered_packets > 100, "{}", link.name);
    }
    let names: Vec<&str> = report.queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(names, ["bottleneck", "reverse", "a", "a_reverse"]);
    let arrived: u64 = report.queues.iter().map(|queue| queue.arrived).sum();
    let stats = replication.flow_monitor.as_ref().expect("recorded").iter().flatten();
    assert_eq!(stats.map(|stats| stats.times_forwarded).sum::<u64>(), arrived);
    assert_eq!(found["ingress"], found["bottleneck.in"]);
    assert_eq!(found["acks"], found["reverse"]);
    // Data and ACKs arrive at the hosts behind two links.
    let ttls = |point: &str| found[point].iter().map(|(_, ttl)| *ttl).collect::<Vec<_>>();
    for host in ["sender", "receiver"] {
        assert!(ttls(host).iter().all(|ttl| [62, 64].contains(ttl)), "{host}");
    }
    assert!(
        ttls("a").iter().all(|ttl| *ttl == 63) && ttls("bottleneck").iter().all(|ttl| *ttl == 62)
    );
}

#[test]
fn points_are_those_of_every_path_and_two_of_each_direction_of_a_hop() {
    let hops = [
        json!({"name": "ideal", "wire": {"delay_ns": 0}}),
        json!({"name": "up", "up": {"link": fixed(1), "queue": droptail(1)}}),
        fixed_hop("bottleneck", 1, 0),
    ];
    let scenario = over(&hops, &[one_packet(json!({}))]);
    let points = Point::all(&scenario);
    let names: Vec<&str> = points.iter().map(Point::name).collect();
    let of_every_path = Point::OF_EVERY_PATH.map(|(name, _)| name);
    assert_eq!(names[..5], of_every_path);
    assert_eq!(names[5..], ["up.in", "up", "bottleneck.in", "reverse.in", "reverse"]);
    let error = Point::named("ideal", &scenario).expect_err("a wire without delay");
    let accepted = names.join(", ");
    assert_eq!(error.to_string(), format!("capture.points = ideal: unknown. Accepted: {accepted}"));
}
