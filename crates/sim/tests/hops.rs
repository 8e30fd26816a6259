//! Tests of paths with several hops, by hand and against queueing theory.

use crate::common::*;
use airpath_conformance::Law;
use airpath_core::stats::mean_interval;
use airpath_core::{Bytes, Duration, Framing, Rate, Stream, Time};
use airpath_link::{SerialLink, Transmission, Transmitter};
use airpath_path::{Components, Network, ReplicationReport, Scenario, build};
use serde_json::{Value, json};
use std::sync::Arc;

const TANDEM: Law = Law {
    area: "Queueing theory",
    source: "Burke 1956, Jackson 1957: hops of a tandem of M/M/1 queues are independent",
    allows: "1 %",
};
const SECOND_HOP: Law = Law {
    area: "Queueing theory",
    source: "Pollaczek–Khinchine at the first hop; no queue at an equal second hop",
    allows: "1 %; the second queue is exactly empty",
};

/// Returns a hop with a link of `rate_bps` and `delay_ns` in both directions.
pub(crate) fn fixed_hop(name: &str, rate_bps: u64, delay_ns: u64) -> Value {
    let direction =
        json!({"link": fixed(rate_bps), "queue": droptail(1_000_000), "delay_ns": delay_ns});
    json!({"name": name, "down": direction, "up": direction})
}

/// Returns a scenario of `seconds` seconds over `hops`, with a warm-up of 5 % of the duration.
fn over(hops: &[Value], flows: &[Value], seconds: u64) -> Scenario {
    let document = json!({
        "duration_ns": seconds * SECOND, "warmup_ns": seconds * SECOND / 20,
        "flows": flows, "hops": hops});
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

/// Returns the problems of a scenario over `hops` as lines.
fn problems(hops: &[Value], flows: &[Value]) -> Vec<String> {
    let document = json!({"duration_ns": SECOND, "flows": flows, "hops": hops});
    let error = Scenario::from_json(&document.to_string()).expect_err("a scenario with problems");
    error.problems().iter().map(ToString::to_string).collect()
}

/// Runs one second. Returns the network and all packets that its stages sent.
pub(crate) fn departures(scenario: &Scenario) -> (Network, Vec<Departure>) {
    let network =
        build(scenario, &Components::default(), &Arc::default(), 1, 0).expect("a network");
    let mut driver = PlainDriver::new(network);
    driver.run();
    (driver.network, driver.log)
}

/// Returns a flow of 1500-byte datagrams at a constant rate without delays of its wires.
fn cbr(rate_bps: u64, change: Value) -> Value {
    let mut flow = flow(datagrams("cbr", rate_bps), json!({"egress": {"delay_ns": 0}}));
    merge(&mut flow, change);
    flow
}

/// Returns the departure times, ns, of the packets of a flow from the link of a hop.
pub(crate) fn sent(network: &Network, log: &[Departure], link: &str, flow: u32) -> Vec<u64> {
    let place = network.links.iter().find(|place| place.sides[0] == link).expect("a link");
    let of_flow = log.iter().filter(|d| d.from == place.stage && d.flow.0 == flow);
    of_flow.map(|departure| departure.at.as_nanos()).collect()
}

#[test]
fn packets_traverse_the_hops_in_order_with_the_delay_of_each_hop() {
    // 1 ms, 2 ms and 4 ms of transmission; 10 ms and 20 ms between the hops; one packet.
    let hops = [
        fixed_hop("a", 12_000_000, 10 * MS),
        fixed_hop("b", 6_000_000, 20 * MS),
        fixed_hop("c", 3_000_000, 40 * MS),
    ];
    let times = |direction: &str| {
        let flow = cbr(12_000, json!({"direction": direction}));
        let (network, log) = departures(&over(&hops, &[flow], 1));
        let suffix = if direction == "forward" { "" } else { "_reverse" };
        ["a", "b", "c"].map(|hop| sent(&network, &log, &format!("{hop}{suffix}"), 0))
    };
    assert_eq!(times("forward"), [[MS], [13 * MS], [37 * MS]]);
    // The last hop comes first: 4 ms, 40 ms, 2 ms, 20 ms, 1 ms.
    assert_eq!(times("reverse"), [[67 * MS], [46 * MS], [4 * MS]]);
}

#[test]
fn a_flow_crosses_only_the_hops_of_its_route() {
    let hops = [
        fixed_hop("a", 12_000_000, 0),
        fixed_hop("b", 12_000_000, 0),
        fixed_hop("c", 12_000_000, 0),
    ];
    let route = |first: &str, last: &str| cbr(12_000, json!({"hops": [first, last]}));
    let flows = [route("a", "c"), route("b", "b"), route("b", "c"), route("a", "a")];
    let (network, log) = departures(&over(&hops, &flows, 1));
    let crossed = |flow| ["a", "b", "c"].map(|hop| sent(&network, &log, hop, flow).len());
    let found = [0, 1, 2, 3].map(crossed);
    assert_eq!(found, [[1, 1, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]]);
    // At hop b the packets that enter there precede the packet from hop a, which needs 1 ms.
    let at_b = [1, 2, 0].map(|flow| sent(&network, &log, "b", flow)[0]);
    assert_eq!(at_b, [MS, 2 * MS, 3 * MS]);
}

#[test]
fn a_delay_between_hops_does_not_delay_packets_that_enter_at_the_second_hop() {
    let hops = [fixed_hop("a", 12_000_000, 30 * MS), fixed_hop("b", 12_000_000, 0)];
    for up in [true, false] {
        let mut hops = hops.clone();
        if !up {
            hops.iter_mut().for_each(|hop| hop["up"] = Value::Null);
        }
        let flows = [cbr(12_000, json!({})), cbr(12_000, json!({"hops": ["b", "b"]}))];
        let (network, log) = departures(&over(&hops, &flows, 1));
        let at_b = [0, 1].map(|flow| sent(&network, &log, "b", flow)[0]);
        assert_eq!(at_b, [32 * MS, MS], "{up}");
        // Without the second flow, the wire in front of the link of hop b has the delay.
        let (network, log) = departures(&over(&hops, &flows[..1], 1));
        assert_eq!(sent(&network, &log, "b", 0)[0], 32 * MS);
        let stages = network.stages.len();
        assert_eq!(stages, if up { 6 } else { 4 });
    }
}

#[test]
fn acks_of_an_upload_wait_in_the_downward_queues_of_all_hops() {
    // Datagrams in the downward direction fill 90 % of hop b; the ACKs of the upload wait there.
    let hops = [fixed_hop("a", 100_000_000, 0), fixed_hop("b", 12_000_000, 0)];
    let upload = flow(tcp(json!({})), json!({"direction": "reverse"}));
    let mean_rtt_s = |cross_bps: u64| {
        let cross = flow(datagrams("poisson", cross_bps), json!({}));
        let report = run(&over(&hops, &[upload.clone(), cross], 30), 1);
        let [down, up] = ["b", "b_reverse"].map(|name| {
            let queue = report.queues.iter().find(|queue| queue.name == name).expect("a queue");
            queue.mean_sojourn_s.expect("packets waited")
        });
        (report.flows[0].mean_rtt_s.expect("samples"), down, up)
    };
    let (idle_s, _, idle_up_s) = mean_rtt_s(12_000);
    let (busy_s, down_s, up_s) = mean_rtt_s(10_800_000);
    assert!(down_s > 1e-3, "{down_s}");
    assert!(busy_s - up_s > idle_s - idle_up_s + 0.5 * down_s, "{busy_s} {idle_s} {down_s}");
}

#[test]
fn a_control_changes_the_link_of_the_named_hop() {
    let hops = [fixed_hop("a", 12_000_000, 0), fixed_hop("b", 12_000_000, 0)];
    let document = |hop: Value| {
        json!({
            "duration_ns": SECOND, "flows": [cbr(6_000_000, json!({}))], "hops": hops,
            "controls": [{"at_ns": SECOND / 2, "hop": hop,
                          "action": {"kind": "rate", "rate_bps": 0}}]})
    };
    let delivered = |hop: &str| {
        let scenario = Scenario::from_json(&document(json!(hop)).to_string()).expect("a scenario");
        let report = run(&scenario, 1);
        let packets = |name| {
            let link = report.links.iter().find(|link| link.name == name).expect("a link");
            link.delivered_packets
        };
        [packets("a"), packets("b")]
    };
    assert_eq!(delivered("a"), [250, 250]);
    let [a, b] = delivered("b");
    assert!(a >= 499 && b <= 250, "{a} {b}");
    let error = Scenario::from_json(&document(json!("c")).to_string()).expect_err("no hop c");
    let line = "controls.0.hop = c: unknown hop. Expected one of: a, b";
    assert_eq!(error.to_string(), line);
}

/// Returns a control that sets the delay of a hop.
fn delay_at(at_ms: u64, hop: &str, delay_ms: u64) -> Value {
    json!({"at_ns": at_ms * MS, "hop": hop,
           "action": {"kind": "delay", "delay_ns": delay_ms * MS}})
}

#[test]
fn packets_take_the_delay_at_their_departure_and_do_not_overtake_each_other() {
    // Packets leave hop a at 1, 11, 21 ms, …; hop b adds 1 µs.
    let a = |wire: bool| {
        let link = fixed_hop("a", 12_000_000, if wire { 0 } else { 10 * MS });
        let wire = wire.then(|| json!({"name": "w", "wire": {"delay_ns": 10 * MS}}));
        [link].into_iter().chain(wire)
    };
    for (is_wire, changed) in [(false, "a"), (true, "w")] {
        let hops: Vec<Value> = a(is_wire).chain([fixed_hop("b", 12_000_000_000, 0)]).collect();
        let document = json!({
            "duration_ns": 80 * MS, "flows": [cbr(1_200_000, json!({}))], "hops": hops,
            "controls": [delay_at(22, changed, 1), delay_at(35, changed, 20), delay_at(45, changed, 0)]});
        let scenario = Scenario::from_json(&document.to_string()).expect("a scenario");
        let (network, log) = departures(&scenario);
        let arrivals_us: Vec<u64> =
            sent(&network, &log, "b", 0).into_iter().map(|at| at / 1000).collect();
        // 21 + 10, 31 + 1, 41 + 20; the packet of 51 ms waits for the packet before it.
        let expected = [11_001, 21_001, 31_001, 32_001, 61_001, 61_002, 61_003, 71_001];
        assert_eq!(arrivals_us, expected, "{changed}");
    }
}

#[test]
fn a_delay_that_starts_at_zero_can_grow() {
    let document = json!({
        "duration_ns": SECOND, "flows": [flow(tcp(json!({})), json!({}))],
        "hops": [fixed_hop("a", 12_000_000, 0)], "controls": [delay_at(500, "a", 100)]});
    let scenario = Scenario::from_json(&document.to_string()).expect("a scenario");
    let report = run(&scenario, 1);
    let rtts_s: Vec<f64> =
        report.phases.iter().map(|phase| phase.flows[0].mean_rtt_s.expect("samples")).collect();
    // Both directions become 100 ms longer.
    assert!((rtts_s[1] - rtts_s[0] - 0.2).abs() < 0.1, "{rtts_s:?}");
}

#[test]
fn paths_and_routes_that_cannot_exist_are_rejected() {
    let (a, b) = (fixed_hop("a", 1, 0), fixed_hop("b", 1, 0));
    let down = json!({"name": "d", "down": {"link": fixed(1), "queue": droptail(1)}});
    let up = json!({"name": "u", "up": {"link": fixed(1), "queue": droptail(1)}});
    let wire = |wire: Value| json!({"name": "w", "wire": wire});
    let at = |first: &str, last: &str| cbr(1, json!({"hops": [first, last]}));
    let all = || cbr(1, json!({}));
    let cases: Vec<(Vec<Value>, Value, &str)> = vec![
        (vec![], all(), "hops = []: no hops. Use at least one hop"),
        (vec![a.clone(), a.clone()], all(), "hops = a: two hops of one name. Use another name"),
        (
            vec![a.clone(), b.clone()],
            at("a", "x"),
            "flows.0.hops = x: unknown hop. Expected one of: a, b",
        ),
        (
            vec![a.clone(), b.clone()],
            at("b", "a"),
            "flows.0.hops = b: after a on the path. Use the hop that is nearer to the servers",
        ),
        (
            vec![a.clone(), up.clone()],
            at("u", "u"),
            "flows.0.hops = u: no hop for the data. Use hops that serve the direction of the data",
        ),
        (
            vec![a.clone(), down.clone()],
            cbr(1, json!({"hops": ["d", "d"], "direction": "reverse"})),
            "flows.0.direction = reverse: an ideal ACK path has no link that data could take. Set \\
             ack_path of kind \"link\" or \"reverse\"",
        ),
        (
            vec![json!({"name": "e"})],
            all(),
            "e.down = null: no link in any direction. Set down, up or wire",
        ),
        (
            vec![wire(json!({"delay_ns": 1, "rate_bps": 0}))],
            all(),
            "w.rate_bps = 0: below 1. Accepted: at least 1",
        ),
    ];
    for (hops, flow, line) in cases {
        let found = problems(&hops, &[flow]);
        let line = line.replace("\\\n             ", "");
        assert!(found.contains(&line), "{found:?} lacks {line}");
    }
    let mixed = json!({
        "duration_ns": 1, "flows": [all()], "hops": [a],
        "bottleneck": {"link": fixed(1), "queue": droptail(1)}, "ack_path": {"kind": "ideal"}});
    let error = Scenario::from_json(&mixed.to_string()).expect_err("two forms of a path");
    assert!(error.to_string().contains("`hops` excludes"), "{error}");
}

/// A link whose service times are exponentially distributed and independent of packet sizes.
struct ExponentialService {
    mean: Duration,
    stream: Stream,
}

impl Transmitter for ExponentialService {
    fn begin(&mut self, frame: Bytes, _waiting: usize, now: Time) -> Transmission {
        let ends = now + self.stream.exponential(self.mean);
        Transmission { ends, bytes: frame, loss: 0.0, regime: 0, mcs: None }
    }

    fn nominal_rate(&self) -> Rate {
        Rate(12_000_000)
    }

    fn set_rate(&mut self, _rate: Rate) {}
}

/// Returns components with the link `exponential`, which has the key `mean_ns`.
fn with_exponential_links() -> Components {
    let mut components = Components::default();
    components.links.register("exponential", |parameters, setup| {
        let mean = Duration::from_nanos(parameters["mean_ns"].as_u64().expect("a mean"));
        let stream = setup.seed.child("service").stream();
        let transmitter = ExponentialService { mean, stream };
        let seed = setup.seed.clone();
        Ok(Box::new(SerialLink::new(transmitter, Framing::default(), None, setup.extra, &seed)?))
    });
    components.links.declare_independent("exponential");
    components
}

/// Checks that the mean of `value` over 32 replications is within 1 % of `expected`, and that its
/// confidence interval at 99.9 % is narrower than that.
fn check_within_1_percent(
    law: &Law,
    what: &str,
    reports: &[ReplicationReport],
    expected: f64,
    value: impl Fn(&ReplicationReport) -> f64,
) {
    let values: Vec<f64> = reports.iter().map(value).collect();
    let interval = mean_interval(&values, 0.999);
    law.close(what, "s", interval.mean, expected, 0.01 * expected);
    assert!(interval.high - interval.mean <= 0.01 * expected, "{what}: {interval:?}");
}

fn reports(scenario: &Scenario, components: &Components) -> Vec<ReplicationReport> {
    let outcome = replications(scenario, components, 1, 32, 2);
    outcome.finished.into_iter().map(|replication| replication.report).collect()
}

#[test]
#[ignore = "takes ten seconds: `make long-tests`"]
fn sojourn_times_of_a_tandem_are_those_of_two_m_m_1_queues() {
    // Service times of 1 ms and 0.5 ms; loads 0.6 and 0.3.
    let hop = |name: &str, mean_ns: u64| {
        let link = json!({"kind": "exponential", "mean_ns": mean_ns});
        json!({"name": name, "down": {"link": link, "queue": droptail(1_000_000)}})
    };
    let flows = [flow(datagrams("poisson", 7_200_000), json!({"egress": {"delay_ns": 0}}))];
    let scenario = over(&[hop("a", MS), hop("b", MS / 2)], &flows, 1000);
    let reports = reports(&scenario, &with_exponential_links());
    let of_queue = |name: &'static str| {
        move |report: &ReplicationReport| {
            let queue = report.queues.iter().find(|queue| queue.name == name).expect("a queue");
            queue.mean_sojourn_s.expect("packets waited")
        }
    };
    // W = ρ / (μ − λ) in each queue; total 1/(μ₁ − λ) + 1/(μ₂ − λ).
    let (first, second) = (0.6 / 400.0, 0.3 / 1400.0);
    check_within_1_percent(&TANDEM, "wait at hop 1", &reports, first, of_queue("a"));
    check_within_1_percent(&TANDEM, "wait at hop 2", &reports, second, of_queue("b"));
    let total = 1.0 / 400.0 + 1.0 / 1400.0;
    check_within_1_percent(&TANDEM, "delay", &reports, total, |report| {
        report.flows[0].mean_delay_s.expect("packets arrived")
    });
}

#[test]
#[ignore = "takes ten seconds: `make long-tests`"]
fn delay_over_two_equal_fixed_hops_is_that_of_m_d_1_and_one_service() {
    let hops = [fixed_hop("a", 12_000_000, 0), fixed_hop("b", 12_000_000, 0)];
    let flows = [flow(datagrams("poisson", 7_200_000), json!({"egress": {"delay_ns": 0}}))];
    let reports = reports(&over(&hops, &flows, 600), &Components::default());
    let wait = 0.6 * 1e-3 / (2.0 * 0.4);
    check_within_1_percent(&SECOND_HOP, "delay", &reports, wait + 2e-3, |report| {
        report.flows[0].mean_delay_s.expect("packets arrived")
    });
    check_within_1_percent(&SECOND_HOP, "wait at hop 1", &reports, wait, |report| {
        let queue = report.queues.iter().find(|queue| queue.name == "a").expect("a queue");
        queue.mean_sojourn_s.expect("packets waited")
    });
}

#[test]
fn a_second_hop_of_equal_rate_never_has_a_queue() {
    let hops = [fixed_hop("a", 12_000_000, 3 * MS), fixed_hop("b", 12_000_000, 0)];
    let reno = flow(tcp(json!({})), json!({}));
    let poisson = flow(datagrams("poisson", 7_200_000), json!({}));
    for flow in [reno, poisson] {
        let report = run(&over(&hops, &[flow], 60), 1);
        let queue = report.queues.iter().find(|queue| queue.name == "b").expect("a queue");
        assert!(queue.departed > 10_000);
        // A packet is in the queue for 0 ns.
        assert_eq!((queue.mean_packets, queue.mean_sojourn_s), (0.0, Some(0.0)));
        assert_eq!(queue.p99_sojourn_s, Some(0.0));
        let first = report.queues.iter().find(|queue| queue.name == "a").expect("a queue");
        assert!(first.max_packets > 5);
    }
}
