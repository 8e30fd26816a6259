//! Every congestion control algorithm through every queue discipline and over every link: no flow
//! stops, no timeouts in series, and the same results with any number of threads.
//!
//! The algorithms, disciplines and links are those of the registries. The short test has every pair
//! of an algorithm and a discipline, and every pair of an algorithm and a link.

use crate::common::links::{link_files, links, tdd};
use crate::common::{MS, SECOND, droptail, flow, merge, run_with, scenario, tcp};
use crate::descriptions::with_kind;
use airpath_aqm::AnyQueue;
use airpath_conformance::samples;
use airpath_core::{Registry, Seed, Setup};
use airpath_path::{Components, Scenario};
use airpath_sim::{Plan, replicate};
use airpath_tcp::TcpConfig;
use airpath_tcp::congestion::{AnyCongestion, CongestionControl, CongestionSetup};
use serde_json::{Value, json};

/// Duration, and start of the last quarter, seconds.
const DURATION: u64 = 20;
const LAST_QUARTER: u64 = 15;
/// Smallest goodput of both flows in the last quarter as a share of the rate. A share of a half is
/// usual; the queues have 20 packets, and losses of RED are above 1 %.
const LEAST_SHARE: f64 = 0.1;
/// Largest number of timeouts of a flow: one in two seconds.
const MOST_TIMEOUTS: u64 = DURATION / 2;

/// Rate of the links. A multi-regime link with a short queue has its lower rate.
fn rate_bps(link: &Value) -> f64 {
    if link["kind"] == "multi-regime" { 0.5e6 } else { 2e6 }
}

/// Returns every built-in algorithm with the defaults of its Python class.
fn controls() -> Vec<Value> {
    let usual = |kind: &str| {
        let mut control = samples("congestion", kind, |_| true).swap_remove(0);
        control["kind"] = json!(kind);
        control
    };
    AnyCongestion::BUILT_IN.iter().map(|(kind, _)| usual(kind)).collect()
}

/// Returns the first description of every built-in discipline. It marks if it can.
fn disciplines() -> Vec<Value> {
    let first = |kind: &str| {
        let mut queue = with_kind(kind).next().expect("a description");
        if queue.get("ecn").is_some() {
            queue["ecn"] = json!(true);
        }
        queue
    };
    AnyQueue::BUILT_IN.iter().map(|(kind, _)| first(kind)).collect()
}

/// Returns the TCP options that the Python class of the algorithm selects.
fn options(control: &Value) -> Value {
    let setup = CongestionSetup { options: TcpConfig::rfc().into() };
    let registry = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "congestion"), registry: &registry, extra: setup };
    let built: AnyCongestion = AnyCongestion::build(control, setup).expect("a control");
    let recovery = if built.sets_window_in_recovery() { "sack" } else { "newreno" };
    let ecn = match control["kind"].as_str() {
        Some("dctcp") => "dctcp",
        Some("prague") => "accurate",
        Some("vcp") => "vcp",
        _ => "off",
    };
    json!({"recovery": recovery, "ecn": ecn, "timestamps": true})
}

/// Returns two flows of an algorithm. Measured is the last quarter of the run.
fn two_flows(control: &Value, queue: &Value, link: &Value) -> Scenario {
    let wire = json!({"delay_ns": 25 * MS});
    let starts = [0, 300].map(|millis| {
        let mut source = tcp(options(control));
        source["congestion"] = control.clone();
        let start = json!({"kind": "at", "time_ns": millis * MS});
        flow(source, json!({"start": start, "egress": wire, "return_wire": wire}))
    });
    let mut change = json!({"warmup_ns": LAST_QUARTER * SECOND});
    if link["kind"] == "ofdma-tdd" {
        merge(
            &mut change,
            json!({
                "bottleneck": {"link": link, "queue": queue},
                "ack_path": {"kind": "reverse", "link": null, "queue": droptail(100)}
            }),
        );
        return scenario(DURATION, starts.to_vec(), Value::Null, Value::Null, change);
    }
    scenario(DURATION, starts.to_vec(), link.clone(), queue.clone(), change)
}

/// Returns the smallest accepted share of the rate in the last quarter. Through a discipline that does
/// not write its load codes, VCP only has to continue.
fn least_share(control: &Value, queue: &Value) -> f64 {
    if control["kind"] == "vcp" && queue["kind"] != "vcp" { 0.0 } else { LEAST_SHARE }
}

/// Runs two flows. Returns the reason if they do not continue until the end with few timeouts.
fn failure(control: &Value, queue: &Value, link: &Value) -> Option<String> {
    let what = format!("{} through {} over {}", control["kind"], queue["kind"], link["kind"]);
    let scenario = two_flows(control, queue, link);
    let report = run_with(&scenario, &Components::default(), &link_files(), 1).report(0);
    let delivered: u64 = report.flows.iter().map(|flow| flow.delivered_bytes).sum();
    let share = delivered as f64 * 8.0 / (rate_bps(link) * (DURATION - LAST_QUARTER) as f64);
    let timeouts = report.flows.iter().filter_map(|flow| flow.timeouts).max();
    let continues = share > least_share(control, queue);
    let is_calm = timeouts.is_some_and(|most| most <= MOST_TIMEOUTS);
    (!continues || !is_calm).then(|| format!("{what}: share {share:.2}, {timeouts:?} timeouts"))
}

/// Returns every link: those with one direction, and the TDD link.
fn all_links() -> Vec<Value> {
    let mut all = links();
    all.push(tdd());
    all
}

#[test]
fn every_control_continues_through_every_discipline_and_over_every_link() {
    let (queues, links) = (disciplines(), all_links());
    let mut failures = Vec::new();
    for (number, control) in controls().iter().enumerate() {
        for (place, queue) in queues.iter().enumerate() {
            failures.extend(failure(control, queue, &links[(number + place) % links.len()]));
        }
        for (place, link) in links.iter().enumerate() {
            failures.extend(failure(control, &queues[(2 * number + place) % queues.len()], link));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
#[ignore = "a minute"]
fn every_control_continues_in_every_combination() {
    let (queues, links) = (disciplines(), all_links());
    let mut failures = Vec::new();
    for control in &controls() {
        for queue in &queues {
            failures.extend(links.iter().filter_map(|link| failure(control, queue, link)));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The results of four replications are the same, with one thread and with three.
#[test]
fn every_control_is_deterministic_with_any_number_of_threads() {
    let (queues, links, files) = (disciplines(), all_links(), link_files());
    for (number, control) in controls().iter().enumerate() {
        let (queue, link) = (&queues[number % queues.len()], &links[number % links.len()]);
        let mut scenario = two_flows(control, queue, link);
        (scenario.duration_ns, scenario.warmup_ns) = (6 * SECOND, SECOND);
        let run = |threads| {
            let components = Components::default();
            let (scenario, components, files) = (&scenario, &components, &files);
            let plan = Plan { scenario, components, files, seed: 3, first: 0, count: 4, threads };
            let outcome = replicate(&plan, &Default::default()).expect("a network");
            let finished = outcome.finished.iter();
            let reports: Vec<String> = finished.map(|each| format!("{:?}", each.report)).collect();
            assert_eq!(reports.len(), 4, "{control}");
            reports
        };
        assert_eq!(run(1), run(3), "{control}");
    }
}
