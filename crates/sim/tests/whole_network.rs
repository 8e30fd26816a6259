//! Tests of properties of complete networks: conservation, determinism, named random streams,
//! control events, and the order of events at equal times.

use crate::common::*;
use airpath_conformance::cases;
use airpath_core::{FlowId, Port, Series, Stage, Time};
use airpath_link::{Files, Traces};
use airpath_path::{Components, Network, ReplicationReport, Route, Scenario, build};
use airpath_sim::{Driver, Plan, replicate};
use airpath_trace::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

fn files() -> Arc<Files> {
    let bursts = Trace::parse_mahimahi("bursts", "3\n3\n4\n9\n9\n9\n40\n").expect("a trace");
    let rates = "time_s,rate_bps\n0,8e6\n0.3,0\n0.4,2e6\n0.6,2e6\n";
    let steps = Trace::parse_csv("steps", rates).expect("a trace");
    let named = [("bursts", bursts), ("steps", steps)];
    let traces = named.map(|(name, trace)| (name.to_owned(), Arc::new(trace)));
    Arc::new(Traces::from(traces).into())
}

fn any_link() -> impl Strategy<Value = Value> {
    prop_oneof![
        (100_000..20_000_000u64, 0.0..0.1, 0..30 * MS).prop_map(
            |(rate_bps, loss, delay_ns)| json!(
                {"kind": "fixed", "rate_bps": rate_bps, "loss": loss, "delay_ns": delay_ns}
            )
        ),
        (1..10u64, 0.0..0.3).prop_map(|(threshold, per)| json!(
            {"kind": "multi-regime", "thresholds": [threshold], "delay_ns": MS,
             "regimes": [{"rate_bps": 2_000_000, "per": 0.01},
                         {"rate_bps": 5_000_000, "per": per}]}
        )),
        Just(json!({"kind": "trace", "trace": "bursts", "framing": 4, "loss": 0.01})),
        Just(json!({"kind": "rate-trace", "trace": "steps", "delay_ns": 5 * MS})),
    ]
}

fn any_queue() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1..60usize).prop_map(droptail),
        (1500..90_000u64).prop_map(|bytes| json!({"kind": "droptail", "limit": {"bytes": bytes}})),
        (0..8u32, 1..20u32, 0.0..1.0).prop_map(|(min_th, above, max_p)| json!(
            {"kind": "gred", "min_th": min_th, "max_th": min_th + above, "max_p": max_p}
        )),
    ]
}

fn any_source() -> impl Strategy<Value = Value> {
    let recovery = prop_oneof![Just("reno"), Just("newreno")];
    let size = prop_oneof![Just(1500u64), Just(1), Just(65_535), 1..=65_535u64];
    prop_oneof![
        3 => (recovery, any::<bool>(), prop::option::of(1..400_000u64)).prop_map(
            |(recovery, handshake, bytes)| {
                let mut source = tcp(json!({"recovery": recovery, "handshake": handshake}));
                if let Some(bytes) = bytes {
                    source["transfer_bytes"] = json!(bytes);
                }
                source
            }
        ),
        1 => (any::<bool>(), 1..600u64, size).prop_map(|(poisson, per_second, size)| json!(
            {"kind": if poisson { "poisson" } else { "cbr" },
             "rate_bps": 8 * size * per_second, "packet_bytes": size}
        )),
    ]
}

fn any_wire() -> impl Strategy<Value = Value> {
    let rate = prop::option::of(500_000..100_000_000u64);
    (rate, 0..40 * MS).prop_map(|(rate_bps, delay_ns)| match rate_bps {
        Some(rate_bps) => json!({"rate_bps": rate_bps, "delay_ns": delay_ns}),
        None => json!({"delay_ns": delay_ns}),
    })
}

fn any_flow() -> impl Strategy<Value = Value> {
    let start = prop_oneof![
        (0..SECOND).prop_map(|time_ns| json!({"kind": "at", "time_ns": time_ns})),
        (1..SECOND).prop_map(|high| json!({"kind": "uniform", "low_ns": 0, "high_ns": high})),
    ];
    let stop = prop_oneof![3 => Just(Value::Null), 1 => (SECOND..3 * SECOND).prop_map(Value::from)];
    (any_source(), start, stop, any_wire(), any_wire(), any_wire()).prop_map(
        |(source, start, stop_ns, access, egress, return_wire)| {
            json!({"source": source, "start": start, "stop_ns": stop_ns, "access": access,
                   "egress": egress, "return_wire": return_wire})
        },
    )
}

fn of_kind(kind: &str, mut hop: Value) -> Value {
    hop["kind"] = json!(kind);
    hop
}

fn any_ack_path() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"kind": "ideal"})),
        (any_link(), any_queue()).prop_map(|(link, queue)| of_kind("link", hop(link, queue))),
        any_queue().prop_map(|queue| json!({"kind": "reverse", "queue": queue})),
        (any_link(), any_queue()).prop_map(|(link, queue)| of_kind("reverse", hop(link, queue))),
    ]
}

fn any_control() -> impl Strategy<Value = Value> {
    let rate = prop_oneof![Just(0u64), 50_000..20_000_000u64];
    (0..4 * SECOND, rate).prop_map(|(at_ns, rate_bps)| {
        json!({"at_ns": at_ns, "action": {"kind": "rate", "rate_bps": rate_bps}})
    })
}

fn any_scenario() -> impl Strategy<Value = Scenario> {
    (
        prop::collection::vec(any_flow(), 1..5),
        any_link(),
        any_queue(),
        (any_ack_path(), prop::option::of(any_wire())),
        prop::collection::vec(any_control(), 0..4),
        0..3 * SECOND,
    )
        .prop_map(|(flows, link, queue, (ack_path, backhaul), controls, warmup_ns)| {
            let change = json!({"ack_path": ack_path, "backhaul": backhaul,
                                "controls": controls, "warmup_ns": warmup_ns});
            scenario(4, flows, link, queue, change)
        })
}

fn report_text(report: &ReplicationReport) -> String {
    serde_json::to_string(report).expect("a report is JSON")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(256), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// After every event, packets sent = delivered + dropped + held, at every stage and over the
    /// complete network. A simple driver that checks every stage to find the next event gives the
    /// same results as the event queue.
    #[test]
    fn packets_are_conserved_and_a_plain_driver_agrees(scenario in any_scenario(), seed: u64) {
        let network = || build(&scenario, &Components::default(), &files(), seed, 0).expect("a network");
        let mut plain = PlainDriver::new(network());
        let checked = plain.run();
        let (entered, accounted) = plain.balance();
        prop_assert_eq!(entered, accounted);
        let mut driver = Driver::new(network());
        driver.run(&()).expect("a run");
        // The simple driver records no phases.
        let report = ReplicationReport { phases: Vec::new(), ..driver.report(0) };
        prop_assert_eq!(report_text(&report), report_text(&checked));
        for queue in &report.queues {
            let total: f64 = queue.pmf.iter().sum();
            prop_assert!((total - 1.0).abs() < 1e-9);
        }
        for link in &report.links {
            prop_assert!((0.0..=1.0).contains(&link.utilisation), "{link:?}");
        }
    }
}

/// Returns a scenario with random start times, arrivals, losses and early drops.
fn random_in_every_component() -> Scenario {
    let uniform = json!({"start": {"kind": "uniform", "low_ns": 0, "high_ns": SECOND}});
    let flows = vec![
        flow(tcp(json!({})), uniform.clone()),
        flow(tcp(json!({"recovery": "reno"})), uniform.clone()),
        flow(datagrams("poisson", 1_000_000), uniform),
    ];
    let link = json!({"kind": "fixed", "rate_bps": 10_000_000, "loss": 0.005});
    let queue = json!({"kind": "gred", "min_th": 5, "max_th": 20, "max_p": 0.1});
    let names: Vec<&str> = Series::ALL.iter().map(|(_, name)| *name).collect();
    let change = json!({"warmup_ns": SECOND, "record": {"series": names},
                        "ack_path": {"kind": "reverse", "queue": droptail(50)}});
    scenario(10, flows, link, queue, change)
}

/// Returns the reports and all recorded values of replications 3 … 7 as text.
fn everything(threads: usize) -> Vec<String> {
    let scenario = random_in_every_component();
    let (components, files) = (Components::default(), Arc::default());
    let plan = Plan {
        scenario: &scenario,
        components: &components,
        files: &files,
        seed: 42,
        first: 3,
        count: 5,
        threads,
    };
    let outcome = replicate(&plan, &Default::default()).expect("a network");
    assert!(outcome.failed.is_none() && !outcome.interrupted);
    let text = |replication: &airpath_sim::Replication| {
        let samples = Series::ALL.map(|(series, _)| replication.recorder.samples(series));
        format!("{} {samples:?}", report_text(&replication.report))
    };
    outcome.finished.iter().map(text).collect()
}

#[test]
fn results_are_identical_with_one_and_two_threads_and_in_two_runs() {
    let one = everything(1);
    assert!(one.iter().all(|text| text.len() > 100_000), "something was recorded");
    assert!(one.windows(2).all(|pair| pair[0] != pair[1]), "replications differ");
    assert!(everything(2) == one, "two threads give something else");
    assert!(everything(1) == one, "the second run gives something else");
}

#[test]
fn a_replication_does_not_depend_on_other_replications() {
    let scenario = random_in_every_component();
    let network =
        build(&scenario, &Components::default(), &Arc::default(), 42, 5).expect("a network");
    let mut driver = Driver::new(network);
    driver.run(&()).expect("a run");
    let alone = report_text(&driver.report(5));
    assert!(everything(2)[2].starts_with(&alone));
}

#[test]
fn an_added_flow_does_not_change_the_random_streams_of_others() {
    let uniform = json!({"start": {"kind": "uniform", "low_ns": 0, "high_ns": SECOND}});
    let flows = vec![
        flow(datagrams("poisson", 1_000_000), uniform.clone()),
        flow(tcp(json!({})), uniform.clone()),
        flow(datagrams("poisson", 3_000_000), json!({})),
    ];
    // Compares the times at which packets left their sources. For the TCP flow only the first
    // packet is compared, because later packets depend on the other flows.
    let departures = |flows: Vec<Value>, seed| {
        let scenario = scenario(5, flows, fixed(100_000_000), droptail(100), json!({}));
        let network =
            build(&scenario, &Components::default(), &Arc::default(), seed, 0).expect("a network");
        let sources: Vec<_> = network.flows.iter().map(|flow| flow.source).collect();
        let mut driver = PlainDriver::new(network);
        driver.run();
        [(0, usize::MAX), (1, 1), (2, usize::MAX)].map(|(flow, most)| {
            let own = driver.log.iter().filter(|departure| departure.from == sources[flow]);
            own.map(|departure| (departure.at, departure.seq)).take(most).collect::<Vec<_>>()
        })
    };
    let without = departures(flows.clone(), 1);
    assert!(without[0].len() > 200 && without[2].len() > 1000 && without[1].len() == 1);
    let mut more = flows.clone();
    more.push(flow(tcp(json!({})), uniform.clone()));
    more.push(flow(datagrams("poisson", 500_000), uniform));
    assert_eq!(departures(more, 1), without);
    assert_ne!(departures(flows, 2), without);
}

/// The link's losses have a separate random stream: the loss of the n-th packet does not depend on
/// the rest of the scenario. A queue discipline uses a different stream.
#[test]
fn a_random_queue_does_not_change_the_losses_of_the_link() {
    let lost = |queue: Value| {
        let link = json!({"kind": "fixed", "rate_bps": 10_000_000, "loss": 0.1});
        let flows = vec![flow(datagrams("poisson", 1_000_000), json!({}))];
        let record = json!({"record": {"series": ["drop"]}});
        let scenario = scenario(20, flows, link, queue, record);
        let driver = run_with(&scenario, &Components::default(), &Arc::default(), 1);
        let samples = driver.into_recorder().samples(Series::Drop).to_vec();
        samples.iter().map(|sample| sample.time).collect::<Vec<_>>()
    };
    // This queue uses its random stream whenever a packet waits, and drops an arrival with a
    // probability of 10⁻¹⁸ per waiting packet.
    let drawing = json!({"kind": "gred", "min_th": 0, "max_th": 1e9, "max_p": 1e-9});
    assert!(lost(droptail(100)).len() > 100);
    assert_eq!(lost(droptail(100)), lost(drawing));
}

fn rate_at(at_ms: u64, rate_bps: u64) -> Value {
    json!({"at_ns": at_ms * MS, "action": {"kind": "rate", "rate_bps": rate_bps}})
}

/// Returns a scenario with a link of 10 Mbit/s that stops from 1 s to 3 s and then has 5 Mbit/s.
fn stalled(source: Value) -> Scenario {
    let controls = json!({"controls": [rate_at(1000, 0), rate_at(3000, 5_000_000)],
                          "record": {"series": ["delivered"]}});
    let flows = vec![flow(
        source,
        json!({"egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 20 * MS}}),
    )];
    scenario(10, flows, fixed(10_000_000), droptail(10_000), controls)
}

#[test]
fn stopped_link_resumes_with_the_packet_in_service() {
    let driver =
        run_with(&stalled(datagrams("cbr", 8_000_000)), &Components::default(), &Arc::default(), 1);
    let report = driver.report(0);
    let recorder = driver.into_recorder();
    let times: Vec<u64> =
        recorder.samples(Series::Delivered).iter().map(|s| s.time.as_nanos()).collect();
    // Packet n leaves its source at 1.5 n ms. Packet 666 leaves at 999 ms and is transmitted at its
    // initial rate until 1000.2 ms. Packet 667 leaves at 1000.5 ms, starts at rate 0, and starts
    // again at 3 s, with 2.4 ms per packet.
    let before = (0..667).map(|n| n * 1_500_000 + 1_200_000);
    let after = (1..).map(|n| 3000 * MS + n * 2_400_000).take_while(|at| *at < 10 * SECOND);
    let expected: Vec<u64> = before.chain(after).collect();
    assert_eq!(times, expected);
    assert_eq!(report.queues[0].drops.len(), 0);
}

#[test]
fn tcp_recovers_after_a_stopped_link() {
    let driver = run_with(&stalled(tcp(json!({}))), &Components::default(), &Arc::default(), 1);
    let report = driver.report(0);
    let recorder = driver.into_recorder();
    let late = recorder.samples(Series::Delivered).iter();
    let bytes: f64 = late.filter(|s| s.time >= Time::from_secs(4)).map(|s| s.value).sum();
    // The window of 64 kB is much larger than the bandwidth-delay product: the link is fully used
    // again after 3 s.
    assert!(bytes * 8.0 / 6.0 > 4_500_000.0 * 1460.0 / 1500.0, "{bytes} bytes after 4 s");
    assert!(report.flows[0].timeouts.unwrap() >= 1);
}

#[test]
fn a_rate_change_affects_only_the_forward_direction() {
    let flows = vec![flow(tcp(json!({})), json!({}))];
    let reverse = json!({"kind": "reverse", "queue": droptail(100), "link": fixed(1_000_000)});
    let change = json!({"ack_path": reverse, "controls": [rate_at(0, 400_000_000)]});
    let scenario = scenario(5, flows, fixed(10_000_000), droptail(100), change);
    let report = run(&scenario, 1);
    // 40 bytes at 1 Mbit/s.
    let acks = &report.links[1];
    let expected = acks.delivered_packets as f64 * 320e-6 / 5.0;
    assert!((acks.utilisation - expected).abs() < 1e-4, "{acks:?}");
}

/// Returns the backhaul of the tests: 12 ms of serialization for a packet of 1500 bytes, then 100
/// ms of delay.
fn backhaul() -> Value {
    json!({"rate_bps": 1_000_000, "delay_ns": 100 * MS})
}

/// Runs a scenario of one second. Returns the network and all packets that its stages sent.
fn departures(scenario: &Scenario) -> (Network, Vec<Departure>) {
    let network =
        build(scenario, &Components::default(), &Arc::default(), 1, 0).expect("a network");
    let mut driver = PlainDriver::new(network);
    driver.run();
    (driver.network, driver.log)
}

#[test]
fn packets_of_all_flows_wait_for_one_another_in_the_backhaul() {
    // Each flow sends one packet at 0 and one at 600 ms. The first packet of flow 1 arrives 1 ms
    // after that of flow 0.
    let source = json!({"kind": "cbr", "rate_bps": 20_000, "packet_bytes": 1500});
    let wires = |delay_ns| json!({"access": {"delay_ns": delay_ns}, "egress": {"delay_ns": 0}});
    let flows = vec![flow(source.clone(), wires(0)), flow(source, wires(MS))];
    let change = json!({"backhaul": backhaul()});
    let scenario = scenario(1, flows, fixed(12_000_000_000), droptail(10), change);
    let (network, log) = departures(&scenario);
    let link = network.links[0].stage;
    let from_link = log.iter().filter(|d| d.from == link);
    let sent: Vec<_> = from_link.map(|d| (d.flow.0, d.at.as_nanos())).collect();
    // The transmission over the bottleneck takes 1 µs.
    let us = 1000;
    let (first, second) = (712 * MS + us, 724 * MS + us);
    assert_eq!(sent, [(0, 112 * MS + us), (1, 124 * MS + us), (0, first), (1, second)]);
}

#[test]
fn acks_of_all_flows_wait_for_one_another_in_the_backhaul() {
    // Each SYN causes a SYN-ACK of 40 bytes: 0.32 ms at 1 Mbit/s.
    let still = json!({"egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}});
    let flows = vec![flow(tcp(json!({})), still.clone()), flow(tcp(json!({})), still)];
    let ideal = json!({"backhaul": backhaul()});
    let link = json!({"kind": "fixed", "rate_bps": 320_000_000});
    let shared = json!({"backhaul": backhaul(),
                        "ack_path": {"kind": "link", "link": link, "queue": droptail(10),
                                     "delay_ns": 7 * MS}});
    // Forward: 0.32 ms, 100 ms, and 1 µs over the bottleneck. Reverse: 1 µs over the ACK link and
    // its delay of 7 ms.
    for (change, ack_path_ns) in [(ideal, 0), (shared, 7 * MS + 1000)] {
        let scenario = scenario(1, flows.clone(), fixed(320_000_000), droptail(10), change);
        let (network, log) = departures(&scenario);
        let Route::To(first, _) = *network.routes.of(network.flows[0].sink, Port(0)) else {
            panic!("ACKs of one flow lead to one place")
        };
        let back = match network.routes.of(first, Port(0)) {
            Route::To(back, _) => *back,
            _ => first,
        };
        let syn_ack = |flow| {
            let mut of_flow = log.iter().filter(|d| d.from == back && d.flow == FlowId(flow));
            of_flow.next().map(|departure| departure.at.as_nanos())
        };
        let there = 320_000 + 100 * MS + 1000;
        let expected = there + ack_path_ns + 320_000 + 100 * MS;
        assert_eq!([syn_ack(0), syn_ack(1)], [Some(expected), Some(expected + 320_000)]);
    }
}

#[test]
fn without_a_backhaul_no_stage_is_added() {
    let flows = || vec![flow(tcp(json!({})), json!({}))];
    let stages = |change| {
        let scenario = scenario(1, flows(), fixed(1_000_000), droptail(10), change);
        let network = build(&scenario, &Components::default(), &Arc::default(), 1, 0);
        network.expect("a network").stages.len()
    };
    assert_eq!(stages(json!({})), 3);
    assert_eq!(stages(json!({"backhaul": backhaul()})), 5);
}

/// At one instant a link first completes the packet in service and dequeues the next packet. Then
/// it receives arrivals, so a queue of one packet has space again.
#[test]
fn timer_of_a_stage_precedes_an_arrival_at_the_same_time() {
    // Two sources send a packet of exactly 1 ms each 1 ms.
    let source = json!({"kind": "cbr", "rate_bps": 12_000_000, "packet_bytes": 1500});
    let later = json!({"stop_ns": 2 * MS});
    let flows = vec![flow(source.clone(), json!({})), flow(source, later)];
    let scenario = scenario(1, flows, fixed(12_000_000), droptail(1), json!({}));
    let report = run(&scenario, 1);
    // At 0 ms flow 0 is served and flow 1 waits. At 1 ms the waiting packet of flow 1 is dequeued
    // first, then the packet of flow 0 is admitted and the second packet of flow 1 is dropped. From
    // then on flow 0 has one packet in service and one waiting.
    assert_eq!(report.queues[0].drops["overflow"], 1);
    assert_eq!(report.flows[1].delivered_packets, 1);
    assert!(report.flows[0].delivered_packets >= 987, "{:?}", report.flows[0]);
}

/// Events of different stages at equal times are processed in the order of stage numbers. For
/// sources this is the order of their flows.
#[test]
fn events_at_equal_times_are_in_the_order_of_the_flows() {
    let source = || json!({"kind": "cbr", "rate_bps": 1_200_000, "packet_bytes": 1500});
    let flows = (0..5).map(|_| flow(source(), json!({}))).collect();
    let scenario = scenario(1, flows, fixed(100_000_000), droptail(100), json!({}));
    let network =
        build(&scenario, &Components::default(), &Arc::default(), 1, 0).expect("a network");
    let link = network.links[0].stage;
    let mut driver = PlainDriver::new(network);
    driver.run();
    let from_link = driver.log.iter().filter(|d| d.from == link && d.port == Port(0));
    let flows: Vec<FlowId> = from_link.map(|departure| departure.flow).collect();
    assert_eq!(flows.len(), 500);
    assert!(flows.chunks(5).all(|round| round == [0, 1, 2, 3, 4].map(FlowId)));
}

/// A control event precedes the events of the stages at the same time.
#[test]
fn a_control_event_precedes_stage_events_at_the_same_time() {
    // Packets at 0, 100, 200 ms …; the rate changes exactly at 200 ms.
    let controls = json!({"controls": [rate_at(200, 12_000)], "record": {"series": ["delivered"]}});
    let flows = vec![flow(datagrams("cbr", 120_000), json!({"egress": {"delay_ns": 0}}))];
    let scenario = scenario(2, flows, fixed(1_200_000), droptail(100), controls);
    let driver = run_with(&scenario, &Components::default(), &Arc::default(), 1);
    assert_eq!(driver.stages().iter().map(Stage::held).sum::<usize>(), 17);
    let recorder = driver.into_recorder();
    let times: Vec<u64> =
        recorder.samples(Series::Delivered).iter().map(|s| s.time.as_nanos() / MS).collect();
    assert_eq!(times, [10, 110, 1200]);
}
