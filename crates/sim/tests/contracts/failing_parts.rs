//! Tests that a plug-in discipline, scheduler or policy that fails at its n-th call ends the run with
//! its message, at the time of the call, and that an index out of range has the same effect.

use crate::common::links::{link_files, links, tdd};
use crate::common::{MS, datagrams, droptail, fixed, flow, merge, scenario, tcp};
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_core::{Bytes, Ctx, LinkRate, Packet, StageError, Time};
use airpath_link::Files;
use airpath_link::scheduler::{Candidate, Scheduler};
use airpath_path::{Components, Scenario, build};
use airpath_phy::adaptation::{self, Policy};
use airpath_phy::per_table::PerTable;
use airpath_sim::{Driver, RunError};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

const AWGN: &str = include_str!("../../../../python/airpath/phy/tables/802.16-ctc-awgn.json");

/// Failure at call number `at` of `method`, counted from 1.
struct Fault {
    method: String,
    at: u64,
    calls: Cell<u64>,
    error: RefCell<Option<StageError>>,
}

impl Fault {
    fn new(parameters: &Value) -> Fault {
        Fault {
            method: parameters["method"].as_str().expect("a method").to_owned(),
            at: parameters["at"].as_u64().expect("a number"),
            calls: Cell::new(0),
            error: RefCell::new(None),
        }
    }

    /// Counts a call. Stores the error if the call fails.
    fn call(&self, method: &str) {
        if method != self.method {
            return;
        }
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() == self.at {
            *self.error.borrow_mut() = Some(format!("{method} has failed").into());
        }
    }

    fn take(&mut self) -> Option<StageError> {
        self.error.get_mut().take()
    }
}

struct FailingQueue {
    inner: AnyQueue,
    fault: Fault,
}

impl airpath_aqm::QueueWrapper for FailingQueue {
    delegate_queue!(inner: measured, restart_measurement);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.fault.call("enqueue");
        self.inner.enqueue(packet, ctx);
    }
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        self.fault.call("dequeue_into");
        self.inner.dequeue_into(packet, ctx)
    }
    fn peek(&self) -> Option<&Packet> {
        self.fault.call("peek");
        self.inner.peek()
    }
    fn state(&self) -> QueueState {
        self.fault.call("state");
        self.inner.state()
    }
    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.fault.call("on_bypass");
        self.inner.on_bypass(packet, ctx)
    }
    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        self.fault.call("on_wake");
        self.inner.on_wake(ctx);
    }
    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        self.fault.call("on_rate");
        self.inner.on_rate(rate, ctx);
    }
    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.fault.call("on_served");
        self.inner.on_served(packet, ctx);
    }
    fn on_lost(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.fault.call("on_lost");
        self.inner.on_lost(packet, ctx);
    }
    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        self.fault.call("on_held");
        self.inner.on_held(packets, bytes, ctx);
    }
    fn take_error(&mut self) -> Option<StageError> {
        self.fault.take().or_else(|| self.inner.take_error())
    }
}

struct FailingScheduler(Fault);

impl Scheduler for FailingScheduler {
    fn choose(&mut self, _slot: u64, candidates: &[Candidate]) -> usize {
        self.0.call("choose");
        candidates.len() - 1
    }
    fn served(&mut self, _slot: u64, _candidates: &[Candidate], _place: usize, _rate: f64) {
        assert!(self.0.error.get_mut().is_none(), "a failed choice is not served");
        self.0.call("served");
    }
    fn take_error(&mut self) -> Option<StageError> {
        self.0.take()
    }
}

/// Policy that fails or, with `method = "index"`, returns an index out of range at that call.
struct FailingPolicy {
    thresholds: Vec<u64>,
    fault: Fault,
}

impl Policy for FailingPolicy {
    fn thresholds(&self) -> &[u64] {
        self.fault.call("thresholds");
        &self.thresholds
    }
    fn choose(&self, candidates: &[adaptation::Candidate], _regime: usize) -> usize {
        self.fault.call("choose");
        self.fault.call("index");
        let has_failed = self.fault.error.borrow().is_some();
        if has_failed && self.fault.method == "index" {
            self.fault.error.take();
            return candidates.len() + 2;
        }
        0
    }
    fn take_error(&mut self) -> Option<StageError> {
        self.fault.take()
    }
}

fn components() -> Components {
    let mut components = Components::default();
    components.queues.register("failing", |parameters, setup| {
        let inner = AnyQueue::build(&parameters["inner"], setup)?;
        Ok(Box::new(FailingQueue { inner, fault: Fault::new(parameters) }))
    });
    components.schedulers.register("failing", |parameters, _| {
        Ok(Box::new(FailingScheduler(Fault::new(parameters))))
    });
    components.policies.register("failing", |parameters, _| {
        let fault = Fault::new(parameters);
        Ok(Box::new(FailingPolicy { thresholds: Vec::new(), fault }))
    });
    components
}

/// Files of the tests of links, and a table for the TDD link.
fn files() -> Arc<Files> {
    let mut files = (*link_files()).clone();
    let table = PerTable::from_json(AWGN).expect("the shipped table");
    files.tables.insert("awgn".to_owned(), Arc::new(table));
    Arc::new(files)
}

/// Returns the message of a run that must fail. The error must be that of a stage.
fn failure(scenario: &Scenario) -> String {
    let network = build(scenario, &components(), &files(), 1, 0).expect("a network");
    let error = Driver::new(network).run(&()).expect_err("a run that fails");
    assert!(matches!(error, RunError::Stage { .. }), "{error:?}");
    error.to_string()
}

fn failing(method: &str, at: u64) -> Value {
    json!({"kind": "failing", "method": method, "at": at})
}

fn failing_queue(method: &str, at: u64, inner: Value) -> Value {
    json!({"kind": "failing", "method": method, "at": at, "inner": inner})
}

/// Ten packets of 1500 B per second, the first at 0 s, for 2 s.
fn cbr(link: &Value, queue: &Value) -> Scenario {
    let flows = vec![flow(datagrams("cbr", 120_000), json!({}))];
    with_reverse(flows, link, queue)
}

/// Returns a scenario of 2 s. A TDD link has a reverse direction.
fn with_reverse(flows: Vec<Value>, link: &Value, queue: &Value) -> Scenario {
    let acks = if link["kind"] == "ofdma-tdd" {
        json!({"ack_path": {"kind": "reverse", "link": null, "queue": droptail(100)}})
    } else {
        json!({})
    };
    scenario(2, flows, link.clone(), queue.clone(), acks)
}

/// A packet takes 12 ms at 1 Mbit/s. The link dequeues at the arrival and after the transmission;
/// the discipline is created with one call of `state`, and each call at an arrival, a dequeue and
/// `on_rate` reads it.
#[test]
fn a_discipline_fails_at_each_method_with_the_time_of_the_call() {
    for (method, at, time) in [
        ("enqueue", 4, "0.3 s"),
        ("dequeue_into", 4, "0.112 s"),
        ("on_served", 4, "0.312 s"),
        ("on_rate", 1, "0 s"),
        ("state", 2, "0 s"),
        ("state", 6, "0.1 s"),
    ] {
        let queue = failing_queue(method, at, droptail(100));
        let message = failure(&cbr(&fixed(1_000_000), &queue));
        assert_eq!(message, format!("{method} has failed (at {time})"));
    }
}

/// PIE's timer expires at multiples of 15 ms while packets wait or have just left: after the packets
/// at 0, 0.1 and 0.2 s at 0.015, 0.105 and 0.21 s.
#[test]
fn a_discipline_fails_at_its_timer() {
    let pie = airpath_conformance::samples("aqm", "pie", |_| true).swap_remove(0);
    let message = failure(&cbr(&fixed(1_000_000), &failing_queue("on_wake", 3, pie)));
    assert_eq!(message, "on_wake has failed (at 0.21 s)");
}

/// The errors of a discipline in another discipline are not lost.
#[test]
fn a_discipline_in_another_fails() {
    let mut clamp = airpath_conformance::samples("aqm", "clamp", |_| true).swap_remove(0);
    clamp["inner"] = failing_queue("enqueue", 4, droptail(100));
    let ack_priority = |method, at| json!({"kind": "ack-priority", "aqm": failing_queue(method, at, droptail(100))});
    let plug_in = failing_queue("never", 1, failing_queue("enqueue", 4, droptail(100)));
    for queue in [clamp, ack_priority("enqueue", 4), plug_in] {
        let message = failure(&cbr(&fixed(1_000_000), &queue));
        assert_eq!(message, "enqueue has failed (at 0.3 s)");
    }
    // The ACKs of a flow share the link with its data.
    let source = tcp(json!({"handshake": false, "delayed_ack_segments": 1}));
    for method in ["on_bypass", "on_held"] {
        let change = json!({"ack_path": {"kind": "reverse", "link": fixed(1_000_000),
                                         "queue": ack_priority(method, 2)}});
        let flows = vec![flow(source.clone(), json!({}))];
        let scenario = scenario(2, flows, fixed(1_000_000), droptail(100), change);
        let message = failure(&scenario);
        assert!(message.starts_with(&format!("{method} has failed (at 0.")), "{message}");
    }
}

#[test]
fn a_discipline_fails_over_every_link() {
    for link in links().into_iter().chain([tdd()]) {
        for method in ["enqueue", "dequeue_into", "on_served", "on_rate", "state"] {
            let at = if method == "on_rate" { 1 } else { 3 };
            let message = failure(&cbr(&link, &failing_queue(method, at, droptail(100))));
            let begin = format!("{method} has failed (at ");
            assert!(message.starts_with(&begin), "{}: {message}", link["kind"]);
        }
    }
}

fn cell(scheduler: &Value) -> Value {
    json!({
        "kind": "cell", "slot_ns": 5 * MS, "attempts": 1, "scheduler": scheduler,
        "rate": {"kind": "shannon", "bandwidth_hz": 2e6, "cap_bps": 2_000_000},
        "snr": {"kind": "constant", "mean_db": 20},
    })
}

/// Two flows of 1.5 and 0.9 Mbit/s, which start at 1 ms.
fn two_users(link: &Value) -> Scenario {
    let start = json!({"start": {"kind": "at", "time_ns": MS}});
    let flows = [1_500_000, 900_000].map(|rate| flow(datagrams("cbr", rate), start.clone()));
    with_reverse(flows.to_vec(), link, &droptail(1000))
}

/// Both users have data from 1 ms on, so that each slot from 5 ms on is allocated.
#[test]
fn a_scheduler_of_a_cell_fails_in_its_slot() {
    for method in ["choose", "served"] {
        for (at, time) in [(1, "0.005 s"), (3, "0.015 s")] {
            let message = failure(&two_users(&cell(&failing(method, at))));
            assert_eq!(message, format!("{method} has failed (at {time})"));
        }
    }
}

/// Frames last 5 ms. The two stations have packets from the first frame on.
#[test]
fn a_scheduler_of_a_tdd_link_fails_in_its_frame() {
    for method in ["choose", "served"] {
        let mut link = tdd();
        merge(&mut link, json!({"stations": 2, "scheduler": failing(method, 1)}));
        let message = failure(&two_users(&link));
        assert_eq!(message, format!("{method} has failed (at 0.005 s)"));
        link["scheduler"] = failing(method, 20);
        let message = failure(&two_users(&link));
        assert!(message.starts_with(&format!("{method} has failed (at 0.")), "{message}");
    }
}

/// An adaptive link whose SNR estimate changes every 5 ms.
fn adaptive(policy: &Value) -> Value {
    json!({"kind": "adaptive", "table": "t", "snr": 0, "snr_noise_db": 1, "policy": policy,
           "estimate_interval_ns": 5 * MS})
}

/// The first choice is made before the run, the second at the first packet, and the following ones
/// at the packets that start at 0.1 s, 0.2 s and so on.
#[test]
fn a_policy_fails_at_its_choice() {
    for (at, time) in [(1, "0 s"), (2, "0 s"), (3, "0.1 s"), (5, "0.3 s")] {
        let message = failure(&cbr(&adaptive(&failing("choose", at)), &droptail(100)));
        assert_eq!(message, format!("choose has failed (at {time})"));
        let message = failure(&cbr(&adaptive(&failing("index", at)), &droptail(100)));
        let text = "`choose` of the policy returned index 3. Accepted: 0 to 0";
        assert_eq!(message, format!("{text} (at {time})"));
    }
}

/// With a constant SNR, the only choice is made before the run.
#[test]
fn a_policy_of_a_constant_snr_fails_at_the_start() {
    let mut link = adaptive(&failing("choose", 1));
    link["snr_noise_db"] = json!(0);
    assert_eq!(failure(&cbr(&link, &droptail(100))), "choose has failed (at 0 s)");
}

#[test]
fn a_policy_that_fails_before_its_first_choice_is_a_configuration_error() {
    let scenario = cbr(&adaptive(&failing("thresholds", 1)), &droptail(100));
    let error = build(&scenario, &components(), &files(), 1, 0).err().expect("an error");
    let text = "bottleneck.link.policy.kind = failing: thresholds has failed";
    assert_eq!(error.to_string(), text);
}

/// Each direction has its own policy, which is called when the SNR of a station with data changes:
/// here once, for the first packet.
#[test]
fn a_policy_of_a_tdd_link_fails_in_its_frame() {
    for (method, text) in [
        ("choose", "choose has failed"),
        ("index", "`choose` of the policy returned index 11. Accepted: 0 to 8"),
    ] {
        let mut link = tdd();
        let radio = json!({"table": "awgn", "snr": {"kind": "constant", "mean_db": 20},
                           "policy": failing(method, 1)});
        link["radio"] = radio;
        assert_eq!(failure(&two_users(&link)), format!("{text} (at 0.005 s)"));
    }
}
