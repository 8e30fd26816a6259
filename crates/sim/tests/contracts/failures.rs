//! Tests that the failure of a plug-in ends the run with the plug-in's message.

use crate::common::{
    MS, SECOND, datagrams, droptail, failure, fixed, flow, replications, run_with, scenario, tcp,
};
use airpath_aqm::{AnyQueue, Queue, QueueDisc, QueueState, delegate_queue};
use airpath_core::{
    Bytes, ConfigError, Control, Ctx, LinkRate, Packet, Port, Rate, Stage, StageError, Time,
};
use airpath_link::{Link, SideReport};
use airpath_path::{Components, Scenario, build};
use airpath_sim::RunError;
use airpath_tcp::congestion::{AckEvent, CongestionControl, LossEvent, UndoEvent};
use airpath_tcp::window::{Arrival, ReceiveWindow};
use serde_json::{Value, json};
use std::sync::Arc;

/// The error type of a plug-in.
#[derive(Debug)]
struct Broken(u64);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "broken after {} packets", self.0)
    }
}

impl std::error::Error for Broken {}

/// Counter that returns an error at the last packet.
struct Fuse {
    total: u64,
    left: u64,
}

impl Fuse {
    fn new(parameters: &Value) -> Fuse {
        let total = parameters["packets"].as_u64().expect("the test gives it");
        Fuse { total, left: total }
    }

    fn burn(&mut self) -> Result<(), StageError> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Err(Box::new(Broken(self.total))) } else { Ok(()) }
    }
}

struct FailingQueue(AnyQueue, Fuse);

impl airpath_aqm::QueueWrapper for FailingQueue {
    delegate_queue!(0: dequeue_into, peek, state, on_bypass, on_wake, on_rate, on_served);
    delegate_queue!(0: on_lost, on_held, measured, restart_measurement, take_error);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if let Err(error) = self.1.burn() {
            ctx.fail(error);
            ctx.fail("the second error is not the cause");
        }
        self.0.enqueue(packet, ctx);
    }
}

/// A link that sends all packets immediately, until it fails in a wake-up.
struct FailingLink(Queue, Fuse);

impl Stage for FailingLink {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.0.enqueue(packet, ctx);
    }
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(packet) = self.0.dequeue(ctx) {
            match self.1.burn() {
                Ok(()) => ctx.emit(Port(0), packet),
                Err(error) => ctx.fail(error),
            }
        }
    }
    fn next_wakeup(&self) -> Time {
        if self.0.is_empty() { Time::NEVER } else { Time::from_secs(2) }
    }
    fn control(&mut self, _event: &Control, _ctx: &mut Ctx<'_>) {}
    fn held(&self) -> usize {
        self.0.packets()
    }
}

impl Link for FailingLink {
    fn visit_queues(&mut self, _port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        visit(&mut self.0);
    }
    fn on_queues_changed(&mut self, _port: Port, _ctx: &mut Ctx<'_>) {}
    fn reports(&self, _now: Time) -> Vec<SideReport> {
        Vec::new()
    }
}

struct FailingWindow(Fuse);

impl ReceiveWindow for FailingWindow {
    fn on_arrival(&mut self, _arrival: &Arrival) -> Result<(), StageError> {
        self.0.burn()
    }
    fn window(&self) -> u64 {
        100_000
    }
}

struct FailingCongestion(Fuse, Option<StageError>);

impl CongestionControl for FailingCongestion {
    fn on_ack(&mut self, _event: &AckEvent) {
        self.1 = self.0.burn().err();
    }
    fn on_loss(&mut self, _event: &LossEvent) {}
    fn on_rto(&mut self, _event: &LossEvent) {
        self.1 = Some("no timeouts, please".into());
    }
    fn on_recovered(&mut self, _cwnd: u64) {}
    fn on_undo(&mut self, _event: &UndoEvent) {}
    fn cwnd(&self) -> u64 {
        10_000
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
    fn take_error(&mut self) -> Option<StageError> {
        self.1.take()
    }
}

fn components() -> Components {
    let mut components = Components::default();
    components.queues.register("failing", |parameters, setup| {
        if parameters["packets"] == 0 {
            return Err(ConfigError::new("packets", 0, "not positive"));
        }
        Ok(Box::new(FailingQueue(AnyQueue::build(&droptail(100), setup)?, Fuse::new(parameters))))
    });
    components.links.register("failing", |parameters, setup| {
        Ok(Box::new(FailingLink(setup.extra.forward.only_queue()?, Fuse::new(parameters))))
    });
    components
        .windows
        .register("failing", |parameters, _| Ok(Box::new(FailingWindow(Fuse::new(parameters)))));
    components.congestion.register("failing", |parameters, _| {
        Ok(Box::new(FailingCongestion(Fuse::new(parameters), None)))
    });
    components
}

fn failing(packets: u64) -> Value {
    json!({"kind": "failing", "packets": packets})
}

fn cbr(link: Value, queue: Value) -> Scenario {
    let flows = vec![flow(datagrams("cbr", 120_000), json!({}))];
    scenario(10, flows, link, queue, json!({}))
}

#[test]
fn failure_of_a_queue_has_its_message_and_time() {
    let error = failure(&cbr(fixed(1_000_000), failing(4)), &components());
    // The fourth packet arrives at 0.3 s. Only the first error counts.
    assert_eq!(error.to_string(), "broken after 4 packets (at 0.3 s)");
    let RunError::Stage { at_s, source } = error else { panic!("{error:?}") };
    assert_eq!(at_s, 0.3);
    assert_eq!(source.downcast_ref::<Broken>().map(|broken| broken.0), Some(4));
}

#[test]
fn a_link_fails_in_its_wakeup() {
    let error = failure(&cbr(failing(3), droptail(100)), &components());
    assert_eq!(error.to_string(), "broken after 3 packets (at 2 s)");
}

fn over_tcp(key: &str) -> Scenario {
    let mut source = tcp(json!({"handshake": false, "delayed_ack_segments": 1}));
    source[key] = failing(3);
    scenario(10, vec![flow(source, json!({}))], fixed(120_000_000), droptail(9), json!({}))
}

#[test]
fn a_window_policy_fails_at_an_arrival() {
    let error = failure(&over_tcp("window"), &components());
    assert_eq!(error.to_string(), "broken after 3 packets (at 0.0103 s)");
}

#[test]
fn a_congestion_control_fails_at_an_ack() {
    let error = failure(&over_tcp("congestion"), &components());
    assert_eq!(error.to_string(), "broken after 3 packets (at 0.0203 s)");
}

#[test]
fn a_congestion_control_fails_at_a_timeout() {
    let mut source = tcp(json!({"handshake": false}));
    source["congestion"] = failing(1000);
    let link = json!({"kind": "fixed", "rate_bps": 1_000_000, "loss": 1.0});
    let flows = vec![flow(source, json!({"start": {"kind": "at", "time_ns": 500 * MS}}))];
    let error = failure(&scenario(10, flows, link, droptail(9), json!({})), &components());
    assert_eq!(error.to_string(), "no timeouts, please (at 1.5 s)");
}

#[test]
fn a_component_that_cannot_be_built_is_a_configuration_error() {
    let scenario = cbr(fixed(1_000_000), failing(0));
    let error = build(&scenario, &components(), &Arc::default(), 1, 0).err().expect("an error");
    assert_eq!(error.to_string(), "bottleneck.queue.packets = 0: not positive");
}

/// A failure in one replication stops the other replications, and the outcome reports it.
#[test]
fn replications_end_with_the_first_failure() {
    for threads in [1, 2] {
        let flows = vec![flow(datagrams("poisson", 120_000), json!({}))];
        let scenario =
            scenario(1000, flows, fixed(1_000_000), failing(50), json!({"warmup_ns": SECOND}));
        let outcome = replications(&scenario, &components(), 1, 4, threads);
        assert!(outcome.finished.is_empty() && !outcome.interrupted);
        let (_, error) = outcome.failed.expect("it failed");
        assert!(error.to_string().starts_with("broken after 50 packets (at "), "{error}");
    }
}

/// A link that keeps all packets until a control event sets a rate. Then it sends all packets, or
/// fails if the rate is zero.
struct Gate(Queue);

impl Stage for Gate {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.0.enqueue(packet, ctx);
    }
    fn wake(&mut self, _ctx: &mut Ctx<'_>) {}
    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::Rate(Rate(0)) => ctx.fail("the gate is stuck"),
            Control::Rate(_) => {
                while let Some(packet) = self.0.dequeue(ctx) {
                    ctx.emit(Port(0), packet);
                }
            }
            _ => {}
        }
    }
    fn held(&self) -> usize {
        self.0.packets()
    }
}

impl Link for Gate {
    fn visit_queues(&mut self, _port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        visit(&mut self.0);
    }
    fn on_queues_changed(&mut self, _port: Port, _ctx: &mut Ctx<'_>) {}
    fn reports(&self, _now: Time) -> Vec<SideReport> {
        Vec::new()
    }
}

/// Returns a scenario with three packets in the first 300 ms and a rate event at 9 s.
fn gated(rate_bps: u64) -> (Scenario, Components) {
    let mut components = components();
    components
        .links
        .register("gate", |_, setup| Ok(Box::new(Gate(setup.extra.forward.only_queue()?))));
    let flows = vec![flow(datagrams("cbr", 120_000), json!({"stop_ns": 300 * MS}))];
    let change = json!({"at_ns": 9 * SECOND, "action": {"kind": "rate", "rate_bps": rate_bps}});
    let controls = json!({"controls": [change]});
    let gate = json!({"kind": "gate"});
    (scenario(10, flows, gate, droptail(9), controls), components)
}

#[test]
fn a_component_fails_at_a_control_event() {
    let (scenario, components) = gated(0);
    let error = failure(&scenario, &components);
    assert_eq!(error.to_string(), "the gate is stuck (at 9 s)");
}

#[test]
fn packets_sent_at_a_control_event_are_delivered() {
    let (scenario, components) = gated(1);
    let driver = run_with(&scenario, &components, &Arc::default(), 1);
    let flow = &driver.report(0).flows[0];
    // Packets are sent at 0, 100 and 200 ms and released at 9 s; the wire takes 10 ms.
    assert_eq!(flow.delivered_packets, 3);
    assert!((flow.mean_delay_s.expect("they arrived") - 8.91).abs() < 1e-9);
}

/// A link that requests a wake-up at 1 s when 20 packets have arrived, which is in the past.
struct WakeupInPast(Queue);

impl Stage for WakeupInPast {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.0.enqueue(packet, ctx);
    }
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(packet) = self.0.dequeue(ctx) {
            ctx.emit(Port(0), packet);
        }
    }
    fn next_wakeup(&self) -> Time {
        if self.0.packets() < 20 { Time::NEVER } else { Time::from_secs(1) }
    }
    fn control(&mut self, _event: &Control, _ctx: &mut Ctx<'_>) {}
    fn held(&self) -> usize {
        self.0.packets()
    }
}

impl Link for WakeupInPast {
    fn visit_queues(&mut self, _port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        visit(&mut self.0);
    }
    fn on_queues_changed(&mut self, _port: Port, _ctx: &mut Ctx<'_>) {}
    fn reports(&self, _now: Time) -> Vec<SideReport> {
        Vec::new()
    }
}

/// The twentieth packet arrives at 1.9 s. The result is the same for a link that may be called
/// late.
#[test]
fn a_wakeup_in_the_past_ends_the_run() {
    let mut dependent = components();
    dependent.links.register("backwards", |_, setup| {
        Ok(Box::new(WakeupInPast(setup.extra.forward.only_queue()?)))
    });
    let mut independent = components();
    independent.links.register("backwards", |_, setup| {
        Ok(Box::new(WakeupInPast(setup.extra.forward.only_queue()?)))
    });
    independent.links.declare_independent("backwards");
    for components in [&dependent, &independent] {
        let error = failure(&cbr(json!({"kind": "backwards"}), droptail(100)), components);
        let text = "wake-up at 1 s is before the current time 1.9 s. This is a bug in the stage";
        assert!(error.to_string().ends_with(text), "{error}");
    }
}

/// A link that requests `times` immediate wake-ups after an arrival, and then sends all packets.
struct Again {
    queue: Queue,
    times: u64,
    left: u64,
    at: Time,
}

impl Stage for Again {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.queue.enqueue(packet, ctx);
        self.left = self.times;
        self.at = ctx.now;
    }
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        self.left -= 1;
        while self.left == 0
            && let Some(packet) = self.queue.dequeue(ctx)
        {
            ctx.emit(Port(0), packet);
        }
    }
    fn next_wakeup(&self) -> Time {
        if self.queue.is_empty() { Time::NEVER } else { self.at }
    }
    fn control(&mut self, _event: &Control, _ctx: &mut Ctx<'_>) {}
    fn held(&self) -> usize {
        self.queue.packets()
    }
}

impl Link for Again {
    fn visit_queues(&mut self, _port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        visit(&mut self.queue);
    }
    fn on_queues_changed(&mut self, _port: Port, _ctx: &mut Ctx<'_>) {}
    fn reports(&self, _now: Time) -> Vec<SideReport> {
        Vec::new()
    }
}

/// Returns a scenario with the link `again`. The parameters select how the link is woken: in time
/// order, late, or ahead of time after an access wire; and at its own time or before the next
/// packet of a burst.
fn woken_again(
    times: u64,
    source: &Value,
    access_ns: u64,
    is_independent: bool,
) -> (Scenario, Components) {
    let mut components = components();
    components.links.register("again", move |_, setup| {
        let queue = setup.extra.forward.only_queue()?;
        Ok(Box::new(Again { queue, times, left: 0, at: Time::NEVER }))
    });
    if is_independent {
        components.links.declare_independent("again");
    }
    let start = json!({"kind": "at", "time_ns": 500 * MS});
    let ways = json!({"start": start, "access": {"delay_ns": access_ns}});
    let flows = vec![flow(source.clone(), ways)];
    (scenario(2, flows, json!({"kind": "again"}), droptail(100), json!({})), components)
}

#[test]
fn wakeups_at_one_instant_without_end_end_the_run() {
    let burst = tcp(json!({"handshake": false}));
    for source in [datagrams("cbr", 120_000), burst] {
        for (access_ns, at) in [(0, "0.5 s"), (5 * MS, "0.505 s")] {
            for is_independent in [false, true] {
                let (scenario, components) =
                    woken_again(u64::MAX, &source, access_ns, is_independent);
                let error = failure(&scenario, &components);
                assert!(matches!(error, RunError::Livelock(_)), "{error:?}");
                let text =
                    format!("requests wake-ups at {at} without end. This is a bug in the stage");
                assert!(error.to_string().ends_with(&text), "{error}");
            }
        }
    }
}

#[test]
fn many_wakeups_at_one_instant_do_not_fail() {
    let burst = tcp(json!({"handshake": false}));
    for source in [datagrams("cbr", 120_000), burst] {
        for access_ns in [0, 5 * MS] {
            for is_independent in [false, true] {
                let [once, often] = [1, 10_000].map(|times| {
                    let (scenario, components) =
                        woken_again(times, &source, access_ns, is_independent);
                    run_with(&scenario, &components, &Arc::default(), 1).report(0)
                });
                // 10 packets per second for 1.49 s, or the windows of slow start.
                assert!(once.flows[0].delivered_packets >= 15);
                assert_eq!(once.flows, often.flows);
                assert!(once.events < often.events);
            }
        }
    }
}
