//! Tests of a change of the nominal rate for each kind of link, packet by packet.

use airpath_aqm::{AnyQueue, Queue, QueueDisc, QueueState, delegate_queue};
use airpath_conformance::samples;
use airpath_core::{
    Bytes, Control, Ctx, FlowId, LinkRate, Packet, Port, QueueId, Rate, Registry, Seed, Setup,
    Stage, StageError, Time, testing::TestHarness,
};
use airpath_link::{AnyLink, DirectionContext, Files, Link, LinkContext};
use airpath_phy::per_table::PerTable;
use airpath_trace::Trace;
use serde_json::{Value, json};
use std::sync::{Arc, mpsc};

const MS: u64 = 1_000_000;

/// Returns the configuration of a link of each kind, with its nominal rate in bit/s. A link that is
/// not listed here has the configuration of its Python class, at 2 Mbit/s.
fn links() -> Vec<(Value, u64)> {
    let mut found = known_links().to_vec();
    for (kind, _) in AnyLink::BUILT_IN {
        if !found.iter().any(|(description, _)| description["kind"] == *kind) {
            let mut link = samples("link", kind, |_| true).swap_remove(0);
            assert!(link["rate_bps"].is_u64(), "say here how to set up a link of kind {kind}");
            link["rate_bps"] = json!(2_000_000);
            found.push((link, 2_000_000));
        }
    }
    found
}

fn known_links() -> [(Value, u64); 9] {
    let regimes = json!([{"rate_bps": 1_000_000, "per": 0}, {"rate_bps": 2_000_000, "per": 0}]);
    [
        (json!({"kind": "fixed", "rate_bps": 2_000_000}), 2_000_000),
        (json!({"kind": "multi-regime", "thresholds": [1], "regimes": regimes}), 2_000_000),
        (json!({"kind": "rate-trace", "trace": "steps"}), 2_000_000),
        (cell(json!({"kind": "shannon", "bandwidth_hz": 2e6, "cap_bps": 2_000_000})), 2_000_000),
        (cell(json!({"kind": "mcs", "table": "t"})), 2_000_000),
        (samples("link", "ofdma-tdd", |_| true).swap_remove(0), 5_184_000),
        (
            json!({"kind": "adaptive", "table": "t", "snr": 0,
                   "policy": {"kind": "fixed", "mcs": "one"}}),
            2_000_000,
        ),
        (json!({"kind": "trace", "trace": "steady", "framing": 4}), 2_406_400),
        (rlc(), 2_000_000),
    ]
}

/// A cell that sends one packet of 1250 bytes in each slot.
fn cell(rate: Value) -> Value {
    json!({
        "kind": "cell", "slot_ns": 5 * MS, "attempts": 1, "scheduler": {"kind": "round-robin"},
        "rate": rate,
        "snr": {"kind": "constant", "mean_db": 20},
    })
}

fn rlc() -> Value {
    json!({
        "kind": "rlc-am", "rate_bps": 2_000_000, "tti_ns": 10 * MS, "latency_ns": 25 * MS,
        "pdu_payload": 40, "window": 1024, "max_dat": 10, "poll_timer_ns": 60 * MS,
        "status_prohibit_ns": 60 * MS, "poll_window": 0.5, "last_pdu_poll": true,
        "last_retransmission_poll": true, "missing_pdu_indicator": true, "concatenation": true,
        "mrw_timer_ns": 200 * MS, "reset_timer_ns": 200 * MS,
    })
}

/// Files: a rate trace with 1 and 3 Mbit/s for 10 ms each, a trace with one opportunity of 1504
/// bytes every 5 ms, and an error-rate table with 2 Mbit/s and no errors.
fn files() -> Arc<Files> {
    let steps = Trace::parse_csv("steps", "time_s,rate_bps\n0,1e6\n0.01,3e6\n0.02,3e6\n");
    let steady = Trace::parse_mahimahi("steady", "5\n10\n15\n20\n");
    let traces = [("steps", steps), ("steady", steady)];
    let traces = traces.map(|(name, trace)| (name.to_owned(), Arc::new(trace.expect(name))));
    let table = json!({"channel": "none", "curves": [{
        "mcs": {"name": "one", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 50,
                "rate_bps": 2e6},
        "points": [{"snr_db": 0, "errors": 0, "blocks": 1}]}]});
    let table = PerTable::from_json(&table.to_string()).expect("a table");
    let tables = [("t".to_owned(), Arc::new(table))].into();
    Arc::new(Files { traces: traces.into(), tables, ..Files::default() })
}

/// A link that the test drives step by step, with times in milliseconds.
struct Hand {
    harness: TestHarness,
    link: AnyLink,
    next: u64,
    /// Departures: time in ns and packet number.
    departures: Vec<(u64, u64)>,
}

impl Hand {
    fn with_queue(description: &Value, queue: AnyQueue) -> Hand {
        let context = LinkContext {
            files: files(),
            ..LinkContext::new(DirectionContext::of(Queue::new(queue, QueueId(0)), Port(0)))
        };
        let links = Registry::default();
        let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: context };
        let mut link = AnyLink::build(description, setup).expect("a link");
        let mut harness = TestHarness::default();
        link.control(&Control::Begin, &mut harness.at(Time::ZERO));
        Hand { harness, link, next: 0, departures: Vec::new() }
    }

    fn new(description: &Value) -> Hand {
        let queues = Registry::default();
        let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &queues, extra: () };
        let droptail = json!({"kind": "droptail", "limit": {"packets": 100}});
        Hand::with_queue(description, AnyQueue::build(&droptail, setup).expect("a queue"))
    }

    /// Runs to `at` and passes `event` to the link before the events that are due at this time.
    fn control(&mut self, at: u64, event: &Control) {
        self.run(at * MS - u64::from(at > 0));
        self.link.control(event, &mut self.harness.at(Time::from_millis(at)));
    }

    fn set_rate(&mut self, at: u64, rate: u64) {
        self.control(at, &Control::Rate(Rate(rate)));
    }

    fn arrive(&mut self, at: u64, size: u64) {
        self.run(at * MS);
        let now = Time::from_millis(at);
        let packet = Packet::datagram(FlowId(0), self.next, Bytes(size), now);
        self.next += 1;
        self.link.receive(Port(0), &packet, &mut self.harness.at(now));
    }

    fn run(&mut self, until_ns: u64) {
        for (at, _, packet) in self.harness.run(&mut self.link, Time::from_nanos(until_ns)) {
            self.departures.push((at.as_nanos(), packet.seq));
        }
    }

    /// Runs to `at`. Returns departure times (ns) and packet numbers.
    fn until(&mut self, at: u64) -> Vec<(u64, u64)> {
        self.run(at * MS);
        std::mem::take(&mut self.departures)
    }

    fn utilisation(&self, ns: u64) -> f64 {
        self.link.reports(Time::from_nanos(ns))[0].link.utilisation
    }
}

/// Queue discipline that sends the nominal rates that it receives to a channel.
struct Listening(AnyQueue, mpsc::Sender<u64>);

impl airpath_aqm::QueueWrapper for Listening {
    delegate_queue!(0: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_served);
    delegate_queue!(0: on_lost, on_held, measured, restart_measurement, take_error);

    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        self.1.send(rate.nominal.0).expect("the test listens");
        self.0.on_rate(rate, ctx);
    }
}

#[test]
fn every_link_passes_the_nominal_rate_to_its_queue() {
    for (description, nominal) in links() {
        let (tell, told) = mpsc::channel();
        let mut queues = Registry::default();
        queues.register("listening", move |parameters, setup| {
            let inner = AnyQueue::build(&parameters["inner"], setup)?;
            Ok(Box::new(Listening(inner, tell.clone())))
        });
        let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &queues, extra: () };
        let inner = json!({"kind": "droptail", "limit": {"packets": 100}});
        let queue = AnyQueue::build(&json!({"kind": "listening", "inner": inner}), setup);
        let mut link = Hand::with_queue(&description, queue.expect("a queue"));
        for (at, rate) in [(1, 1_000_000), (2, 0), (3, nominal)] {
            link.set_rate(at, rate);
        }
        let rates: Vec<u64> = told.try_iter().collect();
        assert_eq!(rates, [nominal, 1_000_000, 0, nominal], "{description}");
    }
}

/// The rate is set to 0 and later to the initial rate. A waiting packet is then sent as if it had
/// arrived at the time of the second change.
#[test]
fn stopped_link_resumes_like_new_link() {
    for (description, nominal) in links() {
        let mut stopped = Hand::new(&description);
        stopped.set_rate(0, 0);
        stopped.arrive(1, 1250);
        stopped.arrive(1, 1250);
        assert_eq!(stopped.until(399), [], "{description}");
        stopped.set_rate(400, nominal);
        let mut ordinary = Hand::new(&description);
        // The run ends one nanosecond earlier, because a packet that arrives exactly at an
        // opportunity cannot use this opportunity.
        ordinary.run(400 * MS - 1);
        for seq in 0..2 {
            let now = Time::from_nanos(400 * MS - u64::from(description["kind"] == "trace"));
            let packet = Packet::datagram(FlowId(0), seq, Bytes(1250), now);
            ordinary.link.receive(Port(0), &packet, &mut ordinary.harness.at(now));
        }
        let expected = ordinary.until(1000);
        // The first of the two packets had no packet behind it when it arrived.
        if description["kind"] == "multi-regime" {
            assert_eq!(expected, [(410 * MS, 0), (420 * MS, 1)]);
            assert_eq!(stopped.until(1000), [(405 * MS, 0), (415 * MS, 1)]);
        } else {
            assert_eq!(expected.len(), 2);
            assert_eq!(stopped.until(1000), expected, "{description}");
        }
    }
}

#[test]
fn rate_change_scales_all_regimes_after_current_transmission() {
    let [_, (description, _), ..] = known_links();
    let mut link = Hand::new(&description);
    for _ in 0..3 {
        link.arrive(0, 1250);
    }
    link.set_rate(3, 1_000_000);
    // The current transmission takes 10 ms at 1 Mbit/s. Then one packet waits, and the rate is
    // 1 Mbit/s instead of 2 Mbit/s. Then no packet waits, and the rate is 500 kbit/s.
    assert_eq!(link.until(100), [(10 * MS, 0), (20 * MS, 1), (40 * MS, 2)]);
}

#[test]
fn rate_change_scales_all_rates_of_trace() {
    let [_, _, (description, _), ..] = known_links();
    let mut link = Hand::new(&description);
    for _ in 0..3 {
        link.arrive(0, 1250);
    }
    link.set_rate(5, 1_000_000);
    // The first packet is sent at its initial rate of 1 Mbit/s. Then the rate is 1.5 Mbit/s from 10
    // to 20 ms and 500 kbit/s from 20 to 30 ms. The second packet ends at 16.6 ms and the third one
    // at 30 ms, rounded up to nanoseconds.
    assert_eq!(link.until(100), [(10 * MS, 0), (16_666_667, 1), (30_000_001, 2)]);
}

#[test]
fn rate_change_scales_all_opportunities() {
    let [.., (description, nominal), _] = known_links();
    let mut link = Hand::new(&description);
    for _ in 0..3 {
        link.arrive(1, 1500);
    }
    // Opportunities carry 752 bytes from 10 ms: the change precedes the opportunity at the same
    // time.
    link.set_rate(10, nominal / 2);
    assert_eq!(link.until(24), [(5 * MS, 0), (15 * MS, 1)]);
    // 752 of the 1504 bytes of the third packet are sent at 20 ms. An opportunity of 3008 bytes is
    // sufficient for two more packets.
    for _ in 0..3 {
        link.arrive(24, 1500);
    }
    link.set_rate(24, 2 * nominal);
    assert_eq!(link.until(40), [(25 * MS, 2), (25 * MS, 3), (30 * MS, 4), (30 * MS, 5)]);
    let (offered, used) = (1504.0 + 3.0 * 752.0 + 2.0 * 3008.0, 6.0 * 1504.0);
    assert_eq!(link.utilisation(30 * MS + 1), used / offered);
}

#[test]
fn packet_in_transit_waits_at_rate_zero() {
    let [.., (description, nominal), _] = known_links();
    let mut link = Hand::new(&description);
    link.set_rate(0, nominal / 2);
    link.arrive(1, 1500);
    // The opportunity at 5 ms carries 752 bytes, later ones carry no bytes, and the opportunity at
    // 30 ms carries the rest.
    link.set_rate(6, 0);
    assert_eq!(link.until(29), []);
    link.set_rate(30, nominal);
    assert_eq!(link.until(100), [(30 * MS, 0)]);
    // The link is stopped and restarted after the opportunity at 40 ms was used; this opportunity
    // does not occur twice.
    link.arrive(101, 1500);
    link.arrive(101, 1500);
    assert_eq!(link.until(105), [(105 * MS, 1)]);
    for rate in [0, nominal] {
        let now = Time::from_millis(105);
        link.link.control(&Control::Rate(Rate(rate)), &mut link.harness.at(now));
    }
    assert_eq!(link.until(200), [(110 * MS, 2)]);
}

/// At 8 bit/s with 200 opportunities per second, one of 200 opportunities carries a byte.
#[test]
fn fraction_of_byte_is_carried_over_to_next_opportunity() {
    let [.., (description, nominal), _] = known_links();
    let mut link = Hand::new(&description);
    link.set_rate(0, 8);
    link.arrive(0, 96);
    link.arrive(0, 96);
    assert_eq!(link.until(100_001), [(100_000 * MS, 0)]);
    // One byte per second: 49 bytes have been sent at the start of measurement, and then ten more.
    link.control(150_001, &Control::StartMeasurement);
    assert_eq!(link.utilisation(150_001 * MS + 1), 0.0);
    assert_eq!(link.utilisation(160_000 * MS + 1), 1.0);
    link.set_rate(160_001, nominal);
    assert_eq!(link.until(200_000), [(160_005 * MS, 1)]);
    assert_eq!(link.utilisation(160_005 * MS + 1), (10.0 + 40.0) / (10.0 + 1504.0));
}
