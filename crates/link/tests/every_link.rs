//! Tests of invariants of every link, at any rate.
//!
//! A new built-in link is tested as soon as it is registered, with configurations from its Python
//! class. [`descriptions`] can add configurations, and must do so if the link reads a file.

use airpath_aqm::{AnyQueue, Queue};
use airpath_conformance::samples;
use airpath_core::{
    Bytes, Control, FlowId, Packet, PayloadHandle, Port, QueueId, Rate, Registry, Seed, Setup,
    Stage, Time, testing::TestHarness,
};
use airpath_link::{AnyLink, DirectionContext, Files, Link, LinkContext, SideReport, Tables};
use airpath_phy::per_table::PerTable;
use airpath_trace::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const HUGE: u64 = u64::MAX;

/// Returns configurations of a built-in link: typical, slowest, fastest, lossy.
fn descriptions(kind: &str) -> Vec<Value> {
    match kind {
        "fixed" => vec![
            json!({"rate_bps": 10_000_000}),
            json!({"rate_bps": 1}),
            json!({"rate_bps": HUGE}),
            json!({"rate_bps": 1_000_000, "loss": 0.3, "framing": 65_535}),
            json!({"rate_bps": 1_000_000, "loss": 1}),
            json!({"rate_bps": 1_000_000, "loss": 0.1,
                   "errors": {"kind": "burst", "frame_error_rate": 0.3, "doppler": 0.01}}),
            json!({"rate_bps": 1_000_000, "loss": 0.2, "in_order": true, "harq": {
                   "attempts": 3, "error": 0.4, "round_trip_ns": 30_000_000, "processes": 2}}),
            json!({"rate_bps": HUGE, "loss": 0.2, "in_order": true,
                   "errors": {"kind": "burst", "frame_error_rate": 0.3, "doppler": 0.01},
                   "harq": {"attempts": 4, "round_trip_ns": 1}, "arq": {"delay_ns": 3_600_000_000_000_u64}}),
        ],
        "multi-regime" => vec![
            json!({"thresholds": [3], "regimes": [{"rate_bps": 1_000_000, "per": 0.01},
                                                  {"rate_bps": 2_000_000, "per": 0.5}]}),
            json!({"thresholds": [], "regimes": [{"rate_bps": 1, "per": 1}]}),
            json!({"thresholds": [1, 2, HUGE], "framing": 2,
                   "regimes": [{"rate_bps": HUGE, "per": 0}, {"rate_bps": 1, "per": 0},
                               {"rate_bps": 100_000_000, "per": 0.1},
                               {"rate_bps": 1, "per": 1}]}),
            json!({"thresholds": [3], "in_order": true, "arq": {"delay_ns": 100_000_000},
                   "regimes": [{"rate_bps": 1_000_000, "per": 0.1},
                               {"rate_bps": 2_000_000, "per": 0.5}]}),
        ],
        "adaptive" => vec![
            json!({"table": "two", "snr": 5, "policy": {"kind": "tagla", "th_per": 0.5}}),
            json!({"table": "two", "snr": -100, "framing": 65_535,
                   "policy": {"kind": "fixed", "mcs": "huge"}}),
            json!({"table": "two", "snr": 0, "snr_noise_db": 200.0, "estimate_interval_ns": 1,
                   "policy": {"kind": "qawla", "th_per": 1, "h": 1e9, "threshold": 3}}),
            json!({"table": "two", "snr": 5, "snr_noise_db": 5, "estimate_interval_ns": HUGE,
                   "policy": {"kind": "max-phy-throughput", "error_rate": "fer"},
                   "errors": {"kind": "independent", "loss": 0.3}}),
            json!({"table": "two", "snr": 0, "policy": {"kind": "fixed", "mcs": "one"},
                   "in_order": true, "arq": {"delay_ns": 100_000_000}, "harq": {
                   "attempts": 5, "round_trip_ns": 8_000_000, "processes": 8,
                   "error": {"table": "two", "mcs": 0, "snr_db": 0, "combining": "chase"}}}),
        ],
        "trace" => vec![
            json!({"trace": "steady", "framing": 4}),
            json!({"trace": "bursts", "loss": 0.3}),
            json!({"trace": "bursts", "errors": {"kind": "independent", "loss": 0.3}}),
            json!({"trace": "rare", "framing": 65_535}),
        ],
        "rate-trace" => vec![
            json!({"trace": "outages"}),
            json!({"trace": "crawl", "framing": 65_535}),
            json!({"trace": "fast", "loss": 0.3}),
            json!({"trace": "outages", "loss": 0.3, "in_order": true,
                   "harq": {"attempts": 2, "round_trip_ns": 700_000_000, "processes": 1}}),
        ],
        "cell" => vec![
            cell(json!({})),
            cell(json!({"margin": -5, "attempts": 1})),
            cell(json!({"margin": {"target_loss": 0.1}, "attempts": 2,
                        "errors": {"kind": "independent", "loss": 0.5}})),
            cell(json!({"rate": {"kind": "shannon", "bandwidth_hz": 1e12},
                        "scheduler": {"kind": "round-robin"}})),
            cell(json!({"rate": {"kind": "mcs", "table": "two"}, "harq": "chase"})),
            cell(json!({"rate": {"kind": "mcs", "table": "two", "bandwidth_hz": 1e5},
                        "harq": "incremental", "attempts": 2})),
        ],
        "mimo" => crate::mimo::descriptions(),
        "rlc-am" => vec![
            rlc(384_000, json!({})),
            rlc(HUGE, json!({"window": 8})),
            rlc(1, json!({"reverse_rate_bps": 64_000, "concatenation": false})),
            rlc(64_000, json!({"errors": {"kind": "independent", "loss": 0.3}, "max_dat": 3})),
            rlc(
                100_000,
                json!({"errors": {"kind": "independent", "loss": 0.3}, "max_dat": 3,
                                "on_max_dat": "reset"}),
            ),
        ],
        // The frames of this link end even if they are almost empty, so slots of one symbol are
        // excluded.
        "ofdma-tdd" => samples("link", kind, |description| {
            let can_create = build(description, queue(&queues()[0]), Port(0)).is_ok();
            can_create && description["slot_symbols"] == 48
        }),
        other => samples("link", other, |description| {
            build(description, queue(&queues()[0]), Port(0)).is_ok()
        }),
    }
}

/// A 3G bearer, modified by `changes`.
fn rlc(rate_bps: u64, changes: Value) -> Value {
    let mut description = json!({
        "rate_bps": rate_bps, "tti_ns": 10_000_000, "latency_ns": 25_000_000, "pdu_payload": 40,
        "window": 1024, "max_dat": 10, "poll_timer_ns": 60_000_000,
        "status_prohibit_ns": 60_000_000, "poll_window": 0.5, "last_pdu_poll": true,
        "last_retransmission_poll": true, "missing_pdu_indicator": true, "concatenation": true,
        "mrw_timer_ns": 200_000_000, "reset_timer_ns": 200_000_000,
    });
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    description
}

/// A cell whose slots are long, so that pauses of days contain few slots. The configuration is
/// modified by `changes`.
fn cell(changes: Value) -> Value {
    let hour_ns = 3_600_000_000_000u64;
    let mut description = json!({
        "slot_ns": hour_ns, "attempts": 5,
        "rate": {"kind": "shannon", "bandwidth_hz": 1e4, "cap_bps": 20_000},
        "scheduler": {"kind": "proportional-fair", "time_constant_ns": 3 * hour_ns},
        "snr": {"kind": "rayleigh", "mean_db": 6.0, "doppler_hz": 1e-4},
    });
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    description
}

/// Returns configurations of links that send each packet in a separate frame, with `bytes` of
/// overhead.
fn with_overhead(bytes: u64) -> impl Iterator<Item = Value> {
    let framed = all_descriptions().filter(|description| {
        !matches!(description["kind"].as_str(), Some("rlc-am" | "cell" | "ofdma-tdd" | "mimo"))
    });
    framed.map(move |mut description| {
        description.as_object_mut().expect("a table").remove("framing");
        description["framing"] = json!(bytes);
        description
    })
}

/// Returns true if the link has control traffic, which may continue when no packet is left.
fn has_control_traffic(description: &Value) -> bool {
    description["kind"] == "rlc-am"
}

/// Returns true if packets may leave the link after the end of their transmission.
fn repeats(description: &Value) -> bool {
    description.get("harq").or_else(|| description.get("arq")).is_some()
}

fn all_descriptions() -> impl Iterator<Item = Value> {
    AnyLink::BUILT_IN.iter().flat_map(|(kind, _)| {
        descriptions(kind).into_iter().map(move |mut description| {
            description["kind"] = json!(kind);
            description
        })
    })
}

fn files() -> Arc<Files> {
    let opportunities = |text: &str| Trace::parse_mahimahi("test", text).expect("a trace");
    let rates = |text: &str| Trace::parse_csv("test", text).expect("a trace");
    let traces = [
        ("steady", opportunities("1\n2\n3\n4\n")),
        ("bursts", opportunities("0\n0\n0\n7\n7\n30\n30\n30\n30\n")),
        ("rare", opportunities("1000000000\n")),
        ("outages", rates("time_s,rate_bps\n0,1e6\n0.5,0\n0.7,3e6\n1,0\n1.3,0\n")),
        ("crawl", rates("time_s,rate_bps\n0,0\n10,1\n20,1\n")),
        ("fast", rates("time_s,rate_bps\n0,1e15\n0.000000001,0\n0.000000002,0\n")),
    ];
    let traces = traces.map(|(name, trace)| (name.to_owned(), Arc::new(trace)));
    Arc::new(Files { traces: traces.into(), tables: tables(), ..Files::default() })
}

/// Error-rate table with two MCSs: one with typical values, one with the largest values.
fn tables() -> Tables {
    let curve = |name: &str, block_bytes: u64, rate_bps: f64| {
        json!({"mcs": {"name": name, "bits_per_symbol": 2, "code_rate": 0.5,
                       "block_bytes": block_bytes, "rate_bps": rate_bps},
               "points": [{"snr_db": 0, "errors": 50, "blocks": 100},
                          {"snr_db": 10, "errors": 0, "blocks": 1000}]})
    };
    let curves = [curve("one", 60, 5e6), curve("huge", 100_000, 1e18)];
    let text = json!({"channel": "any", "curves": curves}).to_string();
    [("two".to_owned(), Arc::new(PerTable::from_json(&text).expect("a table")))].into()
}

fn queue(description: &Value) -> Queue {
    let registry = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
    Queue::new(AnyQueue::build(description, setup).expect("a queue"), QueueId(0))
}

fn build(description: &Value, queue: Queue, output: Port) -> Result<AnyLink, String> {
    let registry = Registry::default();
    let context =
        LinkContext { files: files(), ..LinkContext::new(DirectionContext::of(queue, output)) };
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &registry, extra: context };
    AnyLink::build(description, setup).map_err(|error| error.to_string())
}

/// Configurations of the queue of a link. The tests combine each queue with each link.
fn queues() -> [Value; 3] {
    [
        json!({"kind": "droptail", "limit": {"packets": 10}}),
        json!({"kind": "droptail", "limit": {"bytes": 100_000}}),
        json!({"kind": "gred", "min_th": 2, "max_th": 6, "max_p": 0.2}),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { size: u32 },
    Pause { nanos: u64 },
    Rate { bps: u64 },
    StartMeasurement,
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![4 => Just(1500u32), 1 => Just(1), 1 => Just(65_535), 1 => 1..=65_535u32];
    let nanos = prop_oneof![
        4 => 0..3_000_000u64, 1 => Just(0), 1 => Just(1_000_000), 1 => 0..1u64 << 34, 1 => 0..1u64 << 50
    ];
    let bps = prop_oneof![Just(0), Just(1), Just(HUGE), 0..1u64 << 30];
    prop_oneof![
        8 => size.prop_map(|size| Step::Arrive { size }),
        6 => nanos.prop_map(|nanos| Step::Pause { nanos }),
        1 => bps.prop_map(|bps| Step::Rate { bps }),
        1 => Just(Step::StartMeasurement),
    ]
}

/// Drives one stage with `sides` directions in the same way as the driver of a run, and counts its
/// packets independently.
struct Ledger<S> {
    harness: TestHarness,
    link: S,
    sides: usize,
    /// True if the stage may have wake-ups when no packet is left.
    has_control_traffic: bool,
    now: Time,
    sizes: Vec<u32>,
    received: u64,
    delivered: u64,
    delivered_bytes: u64,
    dropped: u64,
    last: [Option<u64>; 2],
    measured_from: Time,
    events: u64,
}

impl<S: Link> Ledger<S> {
    fn new(link: S, sides: usize, has_control_traffic: bool) -> Ledger<S> {
        let mut ledger = Ledger {
            harness: TestHarness::default(),
            link,
            sides,
            has_control_traffic,
            now: Time::ZERO,
            sizes: Vec::new(),
            received: 0,
            delivered: 0,
            delivered_bytes: 0,
            dropped: 0,
            last: [None; 2],
            measured_from: Time::ZERO,
            events: 0,
        };
        ledger.control(&Control::Begin);
        ledger
    }

    fn control(&mut self, event: &Control) {
        self.link.control(event, &mut self.harness.at(self.now));
        self.check();
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Arrive { size } => self.arrive(size),
            Step::Pause { nanos } => {
                let until = Time::from_nanos(self.now.as_nanos() + nanos);
                self.wake_until(until, 10_000);
                self.now = until;
            }
            Step::Rate { bps } => self.control(&Control::Rate(Rate(bps))),
            Step::StartMeasurement => {
                self.measured_from = self.now;
                self.delivered_bytes = 0;
                self.control(&Control::StartMeasurement);
            }
        }
    }

    fn arrive(&mut self, size: u32) {
        // Events that are due are processed before the arrival.
        self.wake_until(self.now, 10_000);
        let seq = self.sizes.len() as u64;
        let side = self.sizes.len() % self.sides;
        let mut packet = Packet::datagram(FlowId(0), seq, Bytes(u64::from(size)), self.now);
        self.sizes.push(size);
        packet.set_payload(PayloadHandle(self.sizes.len() as u32));
        self.received += 1;
        self.link.receive(Port(side as u8), &packet, &mut self.harness.at(self.now));
        self.check();
    }

    fn wake_until(&mut self, until: Time, most: u64) {
        for _ in 0..most {
            let due = self.link.next_wakeup();
            if due > until || due.is_never() {
                return;
            }
            self.now = due;
            self.events += 1;
            self.link.wake(&mut self.harness.at(due));
            self.check();
        }
        panic!("{most} wake-ups and none of them the last");
    }

    fn check(&mut self) {
        for (port, packet) in self.harness.sent() {
            let side = usize::from(port.0);
            assert_eq!(packet.seq as usize % self.sides, side, "left by the wrong output");
            assert_eq!(u32::from(packet.size), self.sizes[packet.seq as usize]);
            assert!(self.last[side].is_none_or(|last| last < packet.seq), "out of order");
            self.last[side] = Some(packet.seq);
            self.delivered += 1;
            self.delivered_bytes += u64::from(packet.size);
        }
        self.dropped += std::mem::take(self.harness.bus().released()).len() as u64;
        assert_eq!(self.harness.counts().total(), self.dropped);
        let held = self.link.held() as u64;
        assert_eq!(self.received, self.delivered + self.dropped + held, "packets");
        let next = self.link.next_wakeup();
        assert!(next >= self.now, "a wake-up at {next:?}, when it is {:?}", self.now);
        let may_wake = held > 0 || self.has_control_traffic;
        assert!(may_wake || next.is_never(), "a link without a packet sleeps");
        if self.now > self.measured_from {
            self.check_reports();
        }
    }

    fn check_reports(&self) {
        let reports = self.link.reports(self.now);
        assert_eq!(reports.len(), self.sides);
        let bytes: u64 = reports.iter().map(|side| side.link.delivered_bytes).sum();
        assert_eq!(bytes, self.delivered_bytes);
        for SideReport { queues, link, .. } in reports {
            let [queue] = &queues[..] else { panic!("{queues:?}") };
            let utilisation = link.utilisation;
            assert!((0.0..=1.0).contains(&utilisation), "utilisation {utilisation}");
            let total: f64 = queue.distribution.iter().sum();
            assert!((total - 1.0).abs() < 1e-9, "the distribution adds up to {total}");
        }
    }
}

#[test]
fn every_built_in_link_has_descriptions() {
    for (kind, summary) in AnyLink::BUILT_IN {
        assert!(!descriptions(kind).is_empty(), "{kind}");
        assert!(summary.ends_with('.'), "{kind}: {summary}");
    }
}

#[test]
fn unknown_and_missing_keys_are_rejected() {
    for description in all_descriptions() {
        let mut surplus = description.clone();
        surplus["surplus"] = json!(1);
        for wrong in [surplus, json!({"kind": description["kind"]})] {
            assert!(build(&wrong, queue(&queues()[0]), Port(0)).is_err(), "{wrong}");
        }
    }
}

/// An overhead larger than any packet is rejected, because the frame size would overflow.
#[test]
fn check_rejects_excessive_overhead() {
    let expected = format!("framing.overhead_bytes = {HUGE}: above 65535. Accepted: 0 to 65535");
    for description in with_overhead(HUGE) {
        let error = build(&description, queue(&queues()[0]), Port(0)).err();
        assert_eq!(error.as_ref(), Some(&expected), "{description}");
    }
}

/// The transmission of a packet of 0 bytes (an ACK whose headers are not counted) takes no time and
/// does not stop the link.
#[test]
fn packet_of_zero_bytes_is_delivered_immediately_or_at_next_opportunity() {
    for description in with_overhead(0) {
        for at in [0, 1, 600_000_000, 1_300_000_000] {
            let link = build(&description, queue(&queues()[0]), Port(0)).expect("a link");
            let mut ledger = Ledger::new(link, 1, has_control_traffic(&description));
            ledger.take(Step::Pause { nanos: at });
            ledger.take(Step::Arrive { size: 0 });
            if description["kind"] != "trace" && !repeats(&description) {
                ledger.take(Step::Pause { nanos: 0 });
                assert_eq!(ledger.link.held(), 0, "{description} at {at}");
            }
        }
    }
}

/// While a link with a positive rate holds a packet, it has a next event. A link without outages is
/// not idle while packets wait: a burst of 100 packets leaves within the transmission time of its
/// bytes.
#[test]
fn links_are_work_conserving() {
    let unlimited = json!({"kind": "droptail", "limit": {"packets": 1000}});
    for description in all_descriptions() {
        let link = build(&description, queue(&unlimited), Port(0)).expect("a link");
        let mut ledger = Ledger::new(link, 1, has_control_traffic(&description));
        ledger.take(Step::Pause { nanos: 3_000_000 });
        for _ in 0..100 {
            ledger.take(Step::Arrive { size: 1500 });
        }
        while !ledger.link.next_wakeup().is_never() {
            assert!(ledger.link.held() > 0 || ledger.has_control_traffic);
            let due = ledger.link.next_wakeup();
            ledger.wake_until(due, 100);
        }
        assert_eq!((ledger.link.held(), ledger.delivered + ledger.dropped), (0, 100));
        let busy = ledger.now.saturating_since(Time::from_millis(3)).as_secs_lossy();
        if description["kind"] == "fixed" && !repeats(&description) {
            let overhead = description["framing"].as_u64().unwrap_or(0);
            let bits = 100.0 * 8.0 * (1500 + overhead) as f64;
            let rate =
                description["rate_bps"].as_u64().expect("the description has this field") as f64;
            assert!((busy - bits / rate).abs() < 1e-6, "{description} took {busy} s");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 8,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    // Two tests, so that two cores can run them in parallel: a bearer takes ten times as long as
    // any other link.

    #[test]
    fn every_link_accounts_for_every_packet(
        steps in prop::collection::vec(step(), 1..120),
        before in prop::sample::select(queues().to_vec()),
    ) {
        check_accounting(&steps, &before, |kind| kind != "rlc-am");
    }

    #[test]
    fn every_bearer_accounts_for_every_packet(
        steps in prop::collection::vec(step(), 1..120),
        before in prop::sample::select(queues().to_vec()),
    ) {
        check_accounting(&steps, &before, |kind| kind == "rlc-am");
    }
}

/// Checks the links of the kinds that `is_meant` accepts, each behind a queue of configuration
/// `before`.
fn check_accounting(steps: &[Step], before: &Value, is_meant: impl Fn(&str) -> bool) {
    let is_meant =
        |link: &Value| is_meant(link["kind"].as_str().expect("the description has this field"));
    for description in all_descriptions().filter(is_meant) {
        let link = build(&description, queue(before), Port(0)).expect("a link");
        let mut ledger = Ledger::new(link, 1, has_control_traffic(&description));
        for step in steps {
            ledger.take(*step);
        }
    }
}
