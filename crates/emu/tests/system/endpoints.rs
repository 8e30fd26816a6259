//! Tests of flows over kernel sockets, with both sides in one namespace with a loopback device.

use crate::support::{Test, become_unprivileged, carry_until, judged};
use crate::support::{needs_root, now, pause, sides, skip};
use airpath_core::{Duration, Stream, Time};
use airpath_emu::description::RouteSettings;
use airpath_emu::endpoints::{EndpointFlow, Endpoints, EndpointsReport, Plan, SocketReport};
use airpath_emu::namespaces::Sides;
use airpath_emu::netlink::Netlink;
use airpath_emu::packet_io::Side;
use airpath_emu::privileges;
use airpath_path::{Components, OpenEnds, Scenario, build_cut};
use airpath_sim::replicate;
use airpath_tcp::{
    Application, Burst, OnOff, OnOffConfig, SS_COLUMNS, SenderState, SsSample, TimeDistribution,
};
use nix::sched::{CloneFlags, unshare};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

pub(crate) const TESTS: &[Test] = &[
    ("a_transfer_delivers_its_bytes_and_completes", a_transfer_delivers_its_bytes_and_completes),
    ("sixty_four_concurrent_flows_complete", sixty_four_concurrent_flows_complete),
    ("bulk_ends_at_its_stop", bulk_ends_at_its_stop),
    ("bursts_equal_those_of_the_simulator", bursts_equal_those_of_the_simulator),
    ("a_timed_burst_has_the_configured_duration", a_timed_burst_has_the_configured_duration),
    ("counts_start_at_the_end_of_the_warm_up", counts_start_at_the_end_of_the_warm_up),
    ("state_is_sampled_at_interval_multiples", state_is_sampled_at_interval_multiples),
    ("options_of_the_flow_reach_its_sockets", options_of_the_flow_reach_its_sockets),
    ("an_unknown_congestion_control_is_rejected", an_unknown_congestion_control_is_rejected),
    ("missing_address_is_rejected", missing_address_is_rejected),
    ("failed_connection_is_reported", failed_connection_is_reported),
    ("a_run_that_is_stopped_keeps_its_counts", a_run_that_is_stopped_keeps_its_counts),
    ("threads_end_with_their_owner", threads_end_with_their_owner),
    ("transfers_cross_namespaces", transfers_cross_namespaces),
    ("unprivileged_transfers_cross_namespaces", unprivileged_transfers_cross_namespaces),
];

const SERVER: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 1);
const CLIENT: Ipv4Addr = Ipv4Addr::new(100, 65, 0, 0);
const LOOPBACK: u32 = 1;
/// Maximum lateness of a run whose times are compared with multiples of 10 ms, s.
const IN_TIME_S: f64 = 0.02;
/// A duration that is longer than any test.
const AN_HOUR_MS: u64 = 3_600_000;

/// Moves this process into a separate network namespace with both addresses.
fn namespace() -> OwnedFd {
    if !privileges::is_privileged() {
        skip("it takes CAP_NET_ADMIN and CAP_SYS_ADMIN");
    }
    unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
    let mut netlink = Netlink::open().expect("netlink");
    netlink.up(LOOPBACK).expect("up");
    for address in [SERVER, CLIENT] {
        netlink.add_address(LOOPBACK, address).expect("an address");
    }
    here()
}

fn here() -> OwnedFd {
    File::open("/proc/thread-self/ns/net").expect("the namespace").into()
}

fn flow(number: u32) -> EndpointFlow {
    EndpointFlow {
        flow: number,
        sender: Side::Server,
        server: SERVER,
        client: CLIENT,
        port: 20_000 + number as u16,
        congestion: "reno".to_owned(),
        mss: Some(1460),
        window_clamp: None,
        pacing: false,
        start: Time::ZERO,
        stop: Time::NEVER,
        transfer: None,
        on_off: None,
    }
}

fn transfer(number: u32, bytes: u64) -> EndpointFlow {
    EndpointFlow { transfer: Some(bytes), ..flow(number) }
}

/// Returns a plan of `millis` milliseconds without a warm-up.
fn plan(flows: Vec<EndpointFlow>, millis: u64) -> Plan {
    Plan { flows, warmup: Time::ZERO, end: Time::from_millis(millis), ss_interval: None }
}

fn monotonic_ns() -> u64 {
    now().as_nanos() as u64
}

fn start(plan: Plan, netns: &OwnedFd) -> Endpoints {
    let mut endpoints = Endpoints::start(plan, [netns.as_fd(), netns.as_fd()]).expect("start");
    endpoints.begin(monotonic_ns() + 10_000_000);
    endpoints
}

/// Runs a plan to its end, with low lateness.
fn run(plan: Plan, netns: &OwnedFd) -> EndpointsReport {
    run_between(&plan, [netns, netns])
}

/// Runs a plan between two namespaces, with low lateness.
fn run_between(plan: &Plan, netns: [&OwnedFd; 2]) -> EndpointsReport {
    judged(IN_TIME_S, || {
        let mut endpoints = Endpoints::start(plan.clone(), netns.map(AsFd::as_fd)).expect("start");
        endpoints.begin(monotonic_ns() + 10_000_000);
        lateness_of(endpoints.finish(plan.end))
    })
}

/// Returns a report and its lateness; infinite for a run without events.
fn lateness_of(report: EndpointsReport) -> (EndpointsReport, f64) {
    let late_s = if report.lateness_max_s > 0.0 { report.lateness_max_s } else { f64::INFINITY };
    (report, late_s)
}

fn no_problem(report: &EndpointsReport) {
    assert_eq!(report.problems, Vec::<String>::new());
}

fn completed(flow: &SocketReport) -> f64 {
    flow.completed_at_s.unwrap_or_else(|| panic!("{flow:?} is not complete"))
}

fn a_transfer_delivers_its_bytes_and_completes() {
    let netns = namespace();
    let flows = vec![
        transfer(0, 1),
        transfer(1, 1_234_567),
        EndpointFlow { sender: Side::Client, start: Time::from_millis(100), ..transfer(2, 50_001) },
        // Flows that never start, or not within the run.
        EndpointFlow { start: Time::NEVER, ..transfer(3, 1) },
        EndpointFlow { start: Time::from_secs(9), ..transfer(4, 1) },
    ];
    let report = run(plan(flows, 700), &netns);
    no_problem(&report);
    let delivered: Vec<u64> = report.flows.iter().map(|flow| flow.delivered_bytes).collect();
    assert_eq!(delivered, [1, 1_234_567, 50_001, 0, 0]);
    let starts: Vec<_> = report.flows.iter().map(|flow| flow.start_s).collect();
    assert_eq!(starts, [Some(0.0), Some(0.0), Some(0.1), None, Some(9.0)]);
    for flow in &report.flows[..3] {
        let (start, end) = (flow.start_s.expect("has one"), completed(flow));
        let established = flow.established_at_s.expect("established");
        assert!(flow.established && start < established && established < end && end < 0.7);
        assert_eq!(flow.congestion, "reno");
        assert_eq!((flow.retransmissions, flow.timeouts), (Some(0), Some(0)));
        assert!(flow.mean_rtt_s.is_none_or(|rtt| rtt > 0.0 && rtt < 0.1), "{flow:?}");
        assert_eq!(flow.cwnd_limited_share, None);
    }
    assert_eq!(report.flows[1].bytes_sent, Some(1_234_567));
    assert!(report.flows[1].segs_out.expect("reported by the kernel") >= 1_234_567 / 1460);
    assert!(report.lateness_max_s > 0.0 && report.lateness_max_s < 0.7);
    for flow in &report.flows[3..] {
        assert!(!flow.established && flow.completed_at_s.is_none() && flow.congestion.is_empty());
    }
    let rate = report.flows[1].goodput_bps * report.measured_s / 8.0;
    assert!((rate - 1_234_567.0).abs() < 1.0 && report.measured_s > 0.6 && report.measured_s < 2.0);
}

fn sixty_four_concurrent_flows_complete() {
    let netns = namespace();
    let bytes = |number: u32| 10_000 + 7_919 * u64::from(number);
    let flows = (0..64).map(|number| EndpointFlow {
        sender: Side::BOTH[number as usize % 2],
        ..transfer(number, bytes(number))
    });
    let report = run(plan(flows.collect(), 1500), &netns);
    no_problem(&report);
    assert_eq!(report.flows.len(), 64);
    for (number, flow) in (0..).zip(&report.flows) {
        assert_eq!((flow.flow, flow.delivered_bytes), (number, bytes(number)));
        assert!(completed(flow) < 1.5);
    }
}

/// Returns the acknowledged bytes at each sample of one flow.
fn acknowledged(samples: &[SsSample]) -> Vec<(Time, u64)> {
    samples.iter().map(|sample| (sample.time, sample.info.acked)).collect()
}

/// Returns the acknowledged bytes at the first sample at or after `millis`.
fn acknowledged_by(samples: &[(Time, u64)], millis: u64) -> u64 {
    samples.iter().find(|(time, _)| *time >= Time::from_millis(millis)).expect("a sample").1
}

fn bulk_ends_at_its_stop() {
    let netns = namespace();
    let stop = Time::from_millis(200);
    let flows = vec![EndpointFlow { stop, window_clamp: Some(20_000), ..flow(0) }];
    let sampled = Plan { ss_interval: Some(Duration::from_millis(10)), ..plan(flows, 600) };
    let report = run(sampled, &netns);
    no_problem(&report);
    let samples = acknowledged(&report.ss);
    let at = |millis| acknowledged_by(&samples, millis);
    assert!(at(100) > 0 && at(180) > at(100), "it continues until then: {samples:?}");
    assert_eq!(at(400), at(590), "nothing new is written");
    let flow = &report.flows[0];
    assert_eq!(flow.delivered_bytes, at(590), "what was sent has arrived");
    assert!(flow.cwnd_limited_share.is_some() && flow.completed_at_s.is_none());
}

/// Returns the cumulative bytes after 0, 1, 2, … bursts.
fn sums(on_off: &OnOff) -> BTreeSet<u64> {
    let mut application = Application::new(on_off.clone());
    let mut sum = 0;
    let bursts = (0..1000).map(|_| {
        sum += application.write(Time::ZERO).0;
        application.pause(Time::ZERO);
        sum
    });
    [0].into_iter().chain(bursts).collect()
}

/// Returns the number of samples at which only complete bursts are acknowledged, and of bursts.
fn whole_bursts(samples: &[SsSample], sums: &BTreeSet<u64>) -> (usize, usize) {
    let acked = acknowledged(samples);
    let last = acked.last().map_or(0, |(_, acked)| *acked);
    let whole = acked.iter().filter(|(_, acked)| sums.contains(acked)).count();
    (whole, sums.range(1..=last).count())
}

/// In the simulator and over sockets, the application writes the same bursts.
fn bursts_equal_those_of_the_simulator() {
    let netns = namespace();
    let options = airpath_tcp::profile("rfc", json!({})).expect("a profile");
    let scenario = json!({
        "duration_ns": 2_000_000_000_u64,
        "flows": [{
            "source": {
                "kind": "tcp", "congestion": {"kind": "reno"}, "options": options,
                "application": {
                    "on": {"size": {"kind": "exponential", "mean_bytes": 20_000}},
                    "off": {"kind": "exponential", "mean_ns": 40_000_000},
                },
            },
            "start": {"kind": "at", "time_ns": 0},
            "access": {"delay_ns": 0}, "egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0},
        }],
        "bottleneck": {
            "link": {"kind": "fixed", "rate_bps": 1_000_000_000},
            "queue": {"kind": "droptail", "limit": {"packets": 1000}}, "delay_ns": 0,
        },
        "ack_path": {"kind": "ideal"},
        "record": {"ss": true, "ss_interval_ns": 5_000_000},
    });
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a scenario");
    let (components, files) = (Components::default(), Arc::default());
    let network =
        build_cut(&scenario, &components, &files, 5, 0, &|_| OpenEnds::BOTH).expect("a path");
    let on_off = network.open_traffic[0].on_off.clone().expect("an application");
    let sums = sums(&on_off);
    let plan_of_five = airpath_sim::Plan {
        scenario: &scenario,
        components: &components,
        files: &files,
        seed: 5,
        first: 0,
        count: 1,
        threads: 1,
    };
    let outcome = replicate(&plan_of_five, &airpath_sim::Monitor::default()).expect("a network");
    let (whole, bursts) = whole_bursts(&outcome.finished[0].ss, &sums);
    assert!(whole >= 100 && bursts >= 8, "simulated: {whole} samples, {bursts} bursts");
    let flows = vec![EndpointFlow { on_off: Some(on_off), ..flow(0) }];
    let sampled = Plan { ss_interval: Some(Duration::from_millis(5)), ..plan(flows, 2000) };
    let report = run(sampled, &netns);
    no_problem(&report);
    // Nearly all samples are in pauses, even on a busy machine.
    let (whole, bursts) = whole_bursts(&report.ss, &sums);
    assert!(whole >= 200 && bursts >= 8, "{whole} samples, {bursts} bursts");
}

fn a_timed_burst_has_the_configured_duration() {
    let netns = namespace();
    let fixed = |millis: u64| TimeDistribution::Fixed { time_ns: millis * 1_000_000 };
    let config = OnOffConfig { on: Burst::Time(fixed(100)), off: fixed(200) };
    let on_off = Some(OnOff { config, stream: Stream::new(1, 0, "flow 0/application") });
    let flows = vec![EndpointFlow { on_off, window_clamp: Some(20_000), ..flow(0) }];
    let sampled = Plan { ss_interval: Some(Duration::from_millis(10)), ..plan(flows, 600) };
    let report = run(sampled, &netns);
    no_problem(&report);
    let samples = acknowledged(&report.ss);
    let at = |millis| acknowledged_by(&samples, millis);
    assert!(at(30) > 0 && at(90) > at(30), "0 … 100 ms: {samples:?}");
    assert_eq!(at(200), at(290), "100 … 300 ms");
    assert!(at(390) > at(290), "300 … 400 ms");
    assert_eq!(at(500), at(590), "400 … 600 ms");
}

fn counts_start_at_the_end_of_the_warm_up() {
    let netns = namespace();
    let flows = vec![
        transfer(0, 300_000),
        EndpointFlow { start: Time::from_millis(300), ..transfer(1, 70_000) },
        EndpointFlow { window_clamp: Some(20_000), ..flow(2) },
    ];
    let report = run(Plan { warmup: Time::from_millis(250), ..plan(flows, 500) }, &netns);
    no_problem(&report);
    let [before, after, through] = &report.flows[..] else { panic!("three flows") };
    assert_eq!((before.delivered_bytes, before.bytes_sent), (0, Some(0)));
    assert!(completed(before) < 0.25);
    assert_eq!((after.delivered_bytes, after.bytes_sent), (70_000, Some(70_000)));
    let (got, sent) =
        (through.delivered_bytes, through.bytes_sent.expect("reported by the kernel"));
    assert!(got > 0 && got.abs_diff(sent) <= 40_000, "one window apart: {got} {sent}");
    assert!(report.measured_s >= 0.2 && report.measured_s < 0.5, "{}", report.measured_s);
    assert!(through.rwnd_limited_share.is_some_and(|share| (0.0..=1.0).contains(&share)));
}

fn state_is_sampled_at_interval_multiples() {
    let netns = namespace();
    let flows = vec![
        EndpointFlow { window_clamp: Some(30_000), ..flow(7) },
        EndpointFlow { start: Time::from_millis(145), ..transfer(8, 5_000) },
    ];
    let sampled = Plan { ss_interval: Some(Duration::from_millis(20)), ..plan(flows, 300) };
    let report = run(sampled, &netns);
    no_problem(&report);
    let of = |number| report.ss.iter().filter(move |sample| sample.flow == number);
    assert!(report.ss.iter().all(|sample| sample.time.as_nanos() % 20_000_000 == 0));
    assert!(report.ss.is_sorted_by_key(|sample| (sample.time, sample.flow)));
    // Samples that are late by a complete interval are skipped.
    assert!((8..=15).contains(&of(7).count()), "{} samples", of(7).count());
    for info in of(7).map(|sample| &sample.info) {
        assert_eq!(info.mss, 1448, "timestamps take 12 bytes of 1460");
        assert!(info.cwnd >= 10 * 1448 && info.in_flight <= info.unacked);
        assert!(matches!(info.state, SenderState::SlowStart | SenderState::Avoidance), "{info:?}");
        assert_eq!((info.backoff, info.pacing_rate), (0, None));
    }
    assert!(of(7).is_sorted_by_key(|sample| sample.info.acked));
    assert!(of(7).skip(1).any(|sample| sample.delivery_rate_bps > 0.0), "more and more");
    assert!(of(8).all(|sample| sample.time >= Time::from_millis(145)), "from its start on");
    let done = of(8).next_back().expect("a sample");
    assert_eq!((done.info.state, done.info.acked), (SenderState::Done, 5_000));
    assert_eq!((done.info.unacked, done.delivery_rate_bps), (0, 0.0));
    for column in &SS_COLUMNS {
        let mut bytes = Vec::new();
        column.write(&report.ss, &mut bytes).expect("a vector");
        let width = bytes.len() / report.ss.len();
        let expected = if column.name == "flow" {
            4
        } else if column.name == "state" {
            1
        } else {
            8
        };
        assert_eq!(width, expected, "{}", column.name);
    }
}

fn options_of_the_flow_reach_its_sockets() {
    let netns = namespace();
    let flows = vec![
        EndpointFlow { mss: Some(600), window_clamp: Some(12_000), ..flow(0) },
        EndpointFlow { pacing: true, congestion: "cubic".to_owned(), ..flow(1) },
    ];
    let sampled = Plan { ss_interval: Some(Duration::from_millis(10)), ..plan(flows, 300) };
    let report = run(sampled, &netns);
    no_problem(&report);
    assert_eq!(report.flows[0].mss, Some(588));
    assert_eq!(report.flows[1].congestion, "cubic");
    let of = |number| report.ss.iter().filter(move |sample| sample.flow == number);
    let most = of(0).map(|sample| sample.info.unacked).max().expect("samples");
    assert!((588..=12_000 + 588).contains(&most), "the window is 12 000 B: {most}");
    assert!(report.flows[0].delivered_bytes > 12_000);
    assert!(of(1).filter(|sample| sample.info.acked > 0).all(|of| of.info.pacing_rate.is_some()));
}

fn an_unknown_congestion_control_is_rejected() {
    let netns = namespace();
    let flows = vec![
        flow(0),
        EndpointFlow { congestion: "nosuch".to_owned(), ..flow(3) },
        EndpointFlow { congestion: "nosuch".to_owned(), ..flow(4) },
    ];
    let refused = Endpoints::start(plan(flows, 100), [netns.as_fd(), netns.as_fd()]);
    let message = refused.err().expect("refused").to_string();
    let expected = "congestion control \"nosuch\" of flow 3: the kernel does not have it. \
                    This kernel has: ";
    assert!(message.starts_with(expected) && message.contains("reno"), "{message}");
}

fn missing_address_is_rejected() {
    let netns = namespace();
    let flows = vec![EndpointFlow { client: Ipv4Addr::new(100, 65, 9, 9), ..flow(2) }];
    let refused = Endpoints::start(plan(flows, 100), [netns.as_fd(), netns.as_fd()]);
    let message = refused.err().expect("refused").to_string();
    let expected = "flow 2: cannot listen at 100.65.9.9 port 20002 (client's side): ";
    assert!(message.starts_with(expected), "{message}");
}

/// The receivers are in another namespace without a path. Without a route, the kernel reports an
/// error immediately. Packets to an unknown address on the loopback device are never answered.
fn failed_connection_is_reported() {
    let at_server = namespace();
    unshare(CloneFlags::CLONE_NEWNET).expect("another namespace");
    let at_client = here();
    let mut netlink = Netlink::open().expect("netlink");
    netlink.up(LOOPBACK).expect("up");
    for address in [CLIENT, Ipv4Addr::new(100, 65, 0, 1), Ipv4Addr::new(100, 65, 0, 2)] {
        netlink.add_address(LOOPBACK, address).expect("an address");
    }
    nix::sched::setns(&at_server, CloneFlags::CLONE_NEWNET).expect("back");
    let silent = Ipv4Addr::new(100, 65, 0, 2);
    let mut netlink = Netlink::open().expect("netlink");
    let settings = RouteSettings::default();
    netlink.add_route(LOOPBACK, Some((silent, 32)), SERVER, &settings).expect("a route");
    let flows = vec![
        // The server's side has this address, and no socket listens.
        flow(0),
        EndpointFlow { client: Ipv4Addr::new(100, 65, 0, 1), ..flow(1) },
        EndpointFlow { client: silent, ..flow(2) },
        EndpointFlow { client: silent, start: Time::from_millis(900), ..flow(3) },
    ];
    let report = run_between(&plan(flows, 1300), [&at_server, &at_client]);
    assert_eq!(report.problems.len(), 3, "{:?}", report.problems);
    let has = |what: &str| {
        assert!(report.problems.iter().any(|problem| problem.starts_with(what)), "{what}");
    };
    has("flow 0: Connection refused");
    has("flow 1: Network is unreachable");
    // Flow 3 has not waited long enough for a problem.
    has("flow 2: its SYN was not answered until the end of the run");
    assert!(report.flows.iter().all(|flow| !flow.established && flow.delivered_bytes == 0));
    assert!(report.flows[2].timeouts.is_none_or(|timeouts| timeouts >= 1), "of its SYN");
}

fn a_run_that_is_stopped_keeps_its_counts() {
    let netns = namespace();
    let flows = vec![transfer(0, 10_000), EndpointFlow { window_clamp: Some(20_000), ..flow(1) }];
    let report = judged(IN_TIME_S, || {
        let endpoints = start(plan(flows.clone(), AN_HOUR_MS), &netns);
        pause(300);
        lateness_of(endpoints.finish(Time::from_millis(300)))
    });
    no_problem(&report);
    assert_eq!(report.flows[0].delivered_bytes, 10_000);
    assert!(report.flows[1].delivered_bytes > 0 && report.flows[1].completed_at_s.is_none());
    assert!(report.measured_s > 0.2 && report.measured_s < 3600.0);
    // A run that is stopped within the warm-up has no measurements.
    let long = Plan { warmup: Time::from_secs(30), ..plan(vec![transfer(0, 10_000)], AN_HOUR_MS) };
    let report = start(long, &netns).finish(Time::ZERO);
    assert_eq!((report.measured_s, report.flows[0].goodput_bps), (0.0, 0.0));
}

fn threads_end_with_their_owner() {
    let netns = namespace();
    drop(start(plan(vec![flow(0)], AN_HOUR_MS), &netns));
    // A thread that never began also ends.
    let waiting = Endpoints::start(plan(vec![flow(0)], 100), [netns.as_fd(), netns.as_fd()]);
    let report = waiting.expect("start").finish(Time::from_secs(1));
    assert!(report.flows.is_empty());
    // The port is free.
    let report = run(plan(vec![transfer(0, 1000)], 200), &netns);
    assert_eq!(report.flows[0].delivered_bytes, 1000);
}

/// Runs a transfer in each direction between two namespaces; the test itself forwards the packets.
fn across(sides: &Sides) {
    let (server, client) = (sides.server_address(), sides.client_address(0));
    let flows = vec![
        EndpointFlow { server, client, ..transfer(0, 100_000) },
        EndpointFlow { server, client, sender: Side::Client, ..transfer(1, 54_321) },
    ];
    let end = Time::from_millis(1500);
    // About ten round trips, each of which may wait for both threads.
    let (report, carried) = judged(0.1, || {
        let both = Side::BOTH.map(|side| sides.netns(side));
        let mut endpoints = Endpoints::start(plan(flows.clone(), 1500), both).expect("start");
        endpoints.begin(monotonic_ns());
        let (carried, late_s) = carry_until(sides, now() + std::time::Duration::from_millis(1500));
        let (report, served_late_s) = lateness_of(endpoints.finish(end));
        ((report, carried), late_s.max(served_late_s))
    });
    no_problem(&report);
    let delivered: Vec<u64> = report.flows.iter().map(|flow| flow.delivered_bytes).collect();
    assert_eq!(delivered, [100_000, 54_321]);
    assert!(report.flows.iter().all(|flow| completed(flow) < 1.5 && flow.mss == Some(1448)));
    assert!(carried > 100_000 / 1448 + 54_321 / 1448, "{carried} packets over the devices");
}

fn transfers_cross_namespaces() {
    needs_root();
    across(&sides(json!({})));
}

fn unprivileged_transfers_cross_namespaces() {
    needs_root();
    become_unprivileged();
    across(&sides(json!({})));
}
