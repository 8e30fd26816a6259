//! Tests of the parts of delays: by hand, and exact sums over all links and disciplines.

use crate::common::*;
use crate::networks::{Case, all_links, all_queues, any_case, files, sides};
use airpath_conformance::cases;
use airpath_core::{FlowId, StageId};
use airpath_link::Sides;
use airpath_path::{
    AnyStage, Components, DelayKind, DelayPartsReport, ReplicationReport, Scenario, build,
};
use airpath_sim::{Driver, Plan, replicate};
use airpath_tcp::Sender;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sums in µs by hop, direction and part.
type Parts = BTreeMap<(String, &'static str, &'static str), u128>;

fn find(report: &ReplicationReport, flow: u32, delay: DelayKind) -> &DelayPartsReport {
    let mut reports = report.delay_parts.iter();
    reports.find(|of| of.flow == flow && of.delay == delay).expect("recorded parts")
}

fn parts_us(report: &ReplicationReport, delay: DelayKind) -> Parts {
    let DelayPartsReport { hop, direction, part, sum_ns, .. } = find(report, 0, delay);
    let keys = hop.iter().cloned().zip(direction.iter().copied()).zip(part.iter().copied());
    let keys = keys.map(|((hop, direction), part)| (hop, direction, part));
    keys.zip(sum_ns.iter().map(|sum| sum / 1000)).filter(|(_, sum)| *sum > 0).collect()
}

fn parts<const N: usize>(expected: [(&str, &'static str, &'static str, u128); N]) -> Parts {
    let key = |(hop, direction, part, us)| ((str::to_owned(hop), direction, part), us);
    expected.map(key).into()
}

/// Returns a scenario of one second that records the parts of delays.
fn recorded(path: Value, flows: &[Value]) -> Scenario {
    let mut document =
        json!({"duration_ns": SECOND, "flows": flows, "record": {"delay_parts": true}});
    merge(&mut document, path);
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

/// Returns a hop with links of `rate_bps` in both directions, each with a delay.
fn fixed_hop(name: &str, rate_bps: u64, delay_ns: u64) -> Value {
    let direction = json!({"link": fixed(rate_bps), "queue": droptail(100), "delay_ns": delay_ns});
    json!({"name": name, "down": direction, "up": direction})
}

/// Returns a flow of 1500-byte datagrams from 0 to `stop_us`.
fn cbr(rate_bps: u64, stop_us: u64) -> Value {
    flow(datagrams("cbr", rate_bps), json!({"stop_ns": stop_us * 1000}))
}

#[test]
fn two_fixed_hops_by_hand() {
    // Packets at 0 and 0.75 ms. Hop a transmits from 0 to 2 and from 2 to 4 ms, hop b from 5 to 9
    // and, after a wait from 7, from 9 to 13 ms.
    let hops =
        json!({"hops": [fixed_hop("a", 6_000_000, 3 * MS), fixed_hop("b", 3_000_000, 5 * MS)]});
    let mut source = cbr(16_000_000, 1000);
    source["access"] = json!({"rate_bps": 120_000_000, "delay_ns": MS});
    let report = run(&recorded(hops, &[source]), 1);
    let expected = parts([
        ("access", "forward", "propagation", 2000),
        ("access", "forward", "service", 200),
        ("a", "forward", "queueing", 1250),
        ("a", "forward", "service", 4000),
        ("a", "forward", "propagation", 6000),
        ("b", "forward", "queueing", 2000),
        ("b", "forward", "service", 8000),
        ("b", "forward", "propagation", 10_000),
        ("egress", "forward", "propagation", 20_000),
    ]);
    assert_eq!(parts_us(&report, DelayKind::Data), expected);
    let found = find(&report, 0, DelayKind::Data);
    assert_eq!((found.count, found.total_ns / 1000), (2, expected.values().sum()));
    assert_eq!(report.delay_parts.len(), 1, "datagrams have no ACKs");
}

/// Returns a link that corrupts the first attempt of each packet behind which another one waits.
/// ARQ delivers these packets 5 ms later.
fn reordering(is_in_order: bool) -> Value {
    let regime = |per: u64| json!({"rate_bps": 6_000_000, "per": per});
    json!({"kind": "multi-regime", "thresholds": [1], "regimes": [regime(0), regime(1)],
           "arq": {"delay_ns": 5 * MS}, "in_order": is_in_order})
}

#[test]
fn retransmission_and_resequencing_by_hand() {
    // Packets at 0, 0.75 and 1.5 ms, transmissions until 2, 4 and 6 ms. The second packet is
    // received at 9 ms; the third one, received at 6 ms, waits for it.
    for (is_in_order, wait) in [(true, Some(3000)), (false, None)] {
        let path = json!({"bottleneck": hop(reordering(is_in_order), droptail(100)),
                          "ack_path": {"kind": "ideal"}});
        let report = run(&recorded(path, &[cbr(16_000_000, 2000)]), 1);
        let mut expected = parts([
            ("bottleneck", "forward", "queueing", 3750),
            ("bottleneck", "forward", "service", 6000),
            ("bottleneck", "forward", "retransmission", 5000),
            ("egress", "forward", "propagation", 30_000),
        ]);
        let key = ("bottleneck".to_owned(), "forward", "resequencing");
        expected.extend(wait.map(|wait| (key, wait)));
        assert_eq!(parts_us(&report, DelayKind::Data), expected);
    }
}

#[test]
fn round_trip_of_one_segment_by_hand() {
    // One segment of 1000 B with headers of 40 B, acknowledged after 200 ms. The link transmits the
    // segment in 2 ms, and the ACK of 40 B in 80 µs.
    let options = json!({"handshake": false, "mss": 960, "delayed_ack_segments": 2,
                         "delayed_ack_timeout_ns": 200 * MS, "timestamps": false});
    let mut source = flow(tcp(options), json!({}));
    source["source"]["transfer_bytes"] = json!(960);
    let hops = json!({"hops": [fixed_hop("a", 4_000_000, 3 * MS)]});
    let report = run(&recorded(hops, &[source]), 1);
    let data = parts([
        ("a", "forward", "service", 2000),
        ("a", "forward", "propagation", 3000),
        ("egress", "forward", "propagation", 10_000),
    ]);
    let ack = parts([
        ("a", "reverse", "service", 80),
        ("a", "reverse", "propagation", 3000),
        ("return", "reverse", "propagation", 10_000),
    ]);
    assert_eq!(parts_us(&report, DelayKind::Data), data);
    assert_eq!(parts_us(&report, DelayKind::Ack), ack);
    let wait = parts([("receiver", "", "ack_wait", 200_000)]);
    let all: Parts = [data, wait, ack].into_iter().flatten().collect();
    assert_eq!(parts_us(&report, DelayKind::RoundTrip), all);
    let rtt_ns = report.flows[0].mean_rtt_s.expect("one sample") * 1e9;
    assert_eq!(find(&report, 0, DelayKind::RoundTrip).total_ns, rtt_ns.round() as u128);
}

#[test]
fn change_of_delay_counts_to_its_hop() {
    // The delay of hop a changes from 30 to 3 ms after the first packet has left its link at 2 ms.
    // The second packet, which leaves at 4 ms, waits for the first one until 32 ms.
    let mut path =
        json!({"hops": [fixed_hop("a", 6_000_000, 30 * MS), fixed_hop("b", 60_000_000, MS)]});
    path["controls"] = json!([{"at_ns": 3 * MS, "hop": "a",
                               "action": {"kind": "delay", "delay_ns": 3 * MS}}]);
    let report = run(&recorded(path, &[cbr(16_000_000, 1000)]), 1);
    let expected = parts([
        ("a", "forward", "queueing", 1250),
        ("a", "forward", "service", 4000),
        ("a", "forward", "propagation", 33_000),
        ("a", "forward", "resequencing", 25_000),
        ("b", "forward", "queueing", 200),
        ("b", "forward", "service", 400),
        ("b", "forward", "propagation", 2000),
        ("egress", "forward", "propagation", 20_000),
    ]);
    assert_eq!(parts_us(&report, DelayKind::Data), expected);
}

/// Sum and number of the one-way delays that an endpoint of `flow` measured.
fn measured(stage: &AnyStage, flow: u32) -> (u128, u64) {
    let delays = match stage {
        AnyStage::Receiver(receiver) => Some(receiver.delays()),
        AnyStage::Sink(sink) => Some(sink.delays()),
        stage => stage.sender(FlowId(flow)).and_then(Sender::ack_delays),
    };
    delays.map_or((0, 0), |delays| (delays.sum_nanos(), delays.count()))
}

/// Checks that the parts of each flow add up to the delays that its endpoints measured.
fn check_sums(driver: &Driver) {
    let report = driver.report(0);
    let found = |flow: u32, delay| {
        report.delay_parts.iter().find(|of| of.flow == flow && of.delay == delay)
    };
    for (flow, ends) in (0..).zip(driver.flows()) {
        let stage = |stage: StageId| &driver.stages()[stage.0 as usize];
        for (delay, end) in [(DelayKind::Data, ends.sink), (DelayKind::Ack, ends.source)] {
            let parts = found(flow, delay).map_or((0, 0), |of| (of.sum_ns.iter().sum(), of.count));
            assert_eq!(parts, measured(stage(end), flow), "flow {flow}, {delay:?}");
        }
        for of in report.delay_parts.iter().filter(|of| of.flow == flow) {
            assert_eq!(of.sum_ns.iter().sum::<u128>(), of.total_ns, "flow {flow}, {:?}", of.delay);
        }
    }
}

/// Returns the case with recorded parts of delays and without open ends.
fn recorded_case(case: &Case) -> Case {
    let mut document: Value = serde_json::from_str(&case.document).expect("JSON");
    document["record"] = json!({"delay_parts": true});
    Case { document: document.to_string(), open: vec![], ..case.clone() }
}

fn without_parts(report: ReplicationReport) -> String {
    let report = ReplicationReport { delay_parts: Vec::new(), ..report };
    serde_json::to_string(&report).expect("a report is JSON")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(200), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn parts_add_up_in_any_network_and_do_not_change_it(case in any_case()) {
        let case = Case { open: vec![], ..case };
        let mut plain = Driver::new(case.network());
        plain.run(&()).expect("a run");
        let mut driver = Driver::new(recorded_case(&case).network());
        driver.run(&()).expect("a run");
        check_sums(&driver);
        prop_assert_eq!(without_parts(driver.report(0)), without_parts(plain.report(0)));
        let mut ordered = Driver::new(recorded_case(&case).network());
        ordered.keep_order();
        ordered.run(&()).expect("a run");
        prop_assert_eq!(ordered.report(0).delay_parts, driver.report(0).delay_parts);
    }
}

/// Returns a path of up to three hops that starts with `link` and `queue`. The following hops have
/// the next links and disciplines of the lists.
fn path_of(links: &[Value], queues: &[Value], [link, queue]: [usize; 2], hops: usize) -> Value {
    let hops = (0..hops).map(|number| {
        let link = links[(link + number) % links.len()].clone();
        let down = hop(link.clone(), queues[(queue + number) % queues.len()].clone());
        let mut hop = json!({"name": format!("hop {number}"), "down": down});
        if sides(&link) == Sides::Both {
            hop["up"] = json!({"queue": droptail(50)});
        }
        hop["down"]["delay_ns"] = json!(number as u64 * 7 * MS);
        hop
    });
    json!({"hops": hops.collect::<Vec<_>>(), "warmup_ns": 200 * MS})
}

#[test]
fn parts_add_up_over_all_pairs_of_links_and_disciplines() {
    let links = [all_links(), vec![links::tdd()]].concat();
    let queues = all_queues();
    let flows = [flow(tcp(json!({"recovery": "sack"})), json!({})), cbr(300_000, 900_000)];
    let (files, components) = (files(), crate::networks::components(true));
    let mut kinds = BTreeMap::new();
    for link in 0..links.len() {
        for queue in 0..queues.len() {
            let path = path_of(&links, &queues, [link, queue], 1 + (link + queue) % 3);
            let driver = run_with(&recorded(path, &flows), &components, &files, 1);
            check_sums(&driver);
            for of in driver.report(0).delay_parts {
                for (part, sum) in of.part.iter().zip(&of.sum_ns) {
                    *kinds.entry(*part).or_insert(0) += sum;
                }
            }
        }
    }
    assert!(kinds.len() == 6 && kinds.values().all(|sum| *sum > 0), "each part occurs: {kinds:?}");
}

#[test]
fn packets_of_each_flow_are_conserved_over_all_pairs_of_links_and_disciplines() {
    let links = [all_links(), vec![links::tdd()]].concat();
    let queues = all_queues();
    let flows = [flow(tcp(json!({"recovery": "sack"})), json!({})), cbr(300_000, 900_000)];
    let (files, components) = (files(), crate::networks::components(true));
    for link in 0..links.len() {
        for queue in 0..queues.len() {
            let path = path_of(&links, &queues, [link, queue], 1 + (link + queue) % 3);
            let scenario = recorded(path, &flows);
            let network = build(&scenario, &components, &files, 1, 0).expect("a network");
            let mut plain = PlainDriver::new(network);
            plain.run();
            let (entered, accounted) = plain.balance();
            assert_eq!(entered, accounted, "link {link}, queue {queue}");
        }
    }
}

#[test]
fn threads_do_not_change_the_parts() {
    let path = json!({"hops": [fixed_hop("a", 6_000_000, 3 * MS)]});
    let scenario = recorded(path, &[flow(tcp(json!({})), json!({})), cbr(1_000_000, 900_000)]);
    let reports = |threads| {
        let files = Arc::default();
        let components = &Components::default();
        let plan = Plan {
            scenario: &scenario,
            components,
            files: &files,
            seed: 1,
            first: 0,
            count: 4,
            threads,
        };
        let finished = replicate(&plan, &Default::default()).expect("a network").finished;
        finished.into_iter().map(|one| one.report.delay_parts).collect::<Vec<_>>()
    };
    assert_eq!(reports(1), reports(2));
    assert!(reports(1).iter().all(|parts| parts.len() == 4));
}
