//! Helper functions that build scenarios, and a simple, slow driver that checks every call.

pub(crate) mod links;

use airpath_core::{Bus, Control, Ctx, Emission, FlowId, Port, Stage, StageId, Time};
use airpath_link::Files;
use airpath_path::{
    AnyStage, Change, Components, Event, Network, ReplicationReport, Route, Scenario, build,
};
use airpath_sim::{Driver, Outcome, Plan, RunError, replicate};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Nanoseconds per second.
pub(crate) const SECOND: u64 = 1_000_000_000;
/// Nanoseconds per millisecond.
pub(crate) const MS: u64 = 1_000_000;

/// Returns the TCP parameters of profile `rfc` with window growth by RFC 5681, overridden by
/// `change`.
pub(crate) fn tcp_options(change: Value) -> Value {
    let plain = json!({"window_growth": "bytes"});
    let mut options = airpath_tcp::profile("rfc", plain).expect("a profile");
    merge(&mut options, change);
    options
}

/// Returns a flow of `source` that starts at 0 with 10 ms of delay in each direction, overridden by
/// `change`.
pub(crate) fn flow(source: Value, change: Value) -> Value {
    let mut flow = json!({
        "source": source, "start": {"kind": "at", "time_ns": 0}, "access": {"delay_ns": 0},
        "egress": {"delay_ns": 10 * MS}, "return_wire": {"delay_ns": 10 * MS}});
    merge(&mut flow, change);
    flow
}

/// Returns a bulk TCP source with profile `rfc`, overridden by `options`.
pub(crate) fn tcp(options: Value) -> Value {
    json!({"kind": "tcp", "congestion": {"kind": "reno"}, "options": tcp_options(options)})
}

/// Returns a source of 1500-byte datagrams; `kind` is `cbr` or `poisson`.
pub(crate) fn datagrams(kind: &str, rate_bps: u64) -> Value {
    json!({"kind": kind, "rate_bps": rate_bps, "packet_bytes": 1500})
}

/// Returns a drop-tail queue of `packets` packets.
pub(crate) fn droptail(packets: usize) -> Value {
    json!({"kind": "droptail", "limit": {"packets": packets}})
}

/// Returns a link with constant rate.
pub(crate) fn fixed(rate_bps: u64) -> Value {
    json!({"kind": "fixed", "rate_bps": rate_bps})
}

/// Returns the hop of `link` and `queue`. A key `delay_ns` in `link` becomes the delay of the hop.
pub(crate) fn hop(mut link: Value, queue: Value) -> Value {
    let delay = link.as_object_mut().and_then(|link| link.remove("delay_ns"));
    json!({"link": link, "queue": queue, "delay_ns": delay.unwrap_or(json!(0))})
}

/// Returns a scenario of `seconds` seconds over `link` and `queue` with an ideal ACK path,
/// overridden by `change`. See [`hop`] for a `delay_ns` in `link`.
pub(crate) fn scenario(
    seconds: u64,
    flows: Vec<Value>,
    link: Value,
    queue: Value,
    change: Value,
) -> Scenario {
    let mut scenario = json!({
        "duration_ns": seconds * SECOND, "flows": flows,
        "bottleneck": hop(link, queue), "ack_path": {"kind": "ideal"}});
    merge(&mut scenario, change);
    Scenario::from_json(&scenario.to_string()).expect("a scenario")
}

/// Replaces the keys of `into` by those of `change`. An array replaces an array.
pub(crate) fn merge(into: &mut Value, change: Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (key, value) in change {
                into.insert(key, value);
            }
        }
        (into, change) if !change.is_null() => *into = change,
        _ => {}
    }
}

/// Runs replication 0 with `seed`. Returns the driver at the end of the scenario.
pub(crate) fn run_with(
    scenario: &Scenario,
    components: &Components,
    files: &Arc<Files>,
    seed: u64,
) -> Driver {
    let network = build(scenario, components, files, seed, 0).expect("a network");
    let mut driver = Driver::new(network);
    driver.run(&()).expect("a run");
    driver
}

/// Runs replication 0 of a scenario with built-in components. Returns the report.
pub(crate) fn run(scenario: &Scenario, seed: u64) -> ReplicationReport {
    run_with(scenario, &Components::default(), &Arc::default(), seed).report(0)
}

/// Runs replications 0 … `count` − 1.
pub(crate) fn replications(
    scenario: &Scenario,
    components: &Components,
    seed: u64,
    count: usize,
    threads: usize,
) -> Outcome {
    let files = Arc::default();
    let plan = Plan { scenario, components, files: &files, seed, first: 0, count, threads };
    replicate(&plan, &Default::default()).expect("a network")
}

/// Runs a scenario that must fail. Returns the error.
pub(crate) fn failure(scenario: &Scenario, components: &Components) -> RunError {
    let network = build(scenario, components, &Arc::default(), 1, 0).expect("a network");
    Driver::new(network).run(&()).expect_err("a run that fails")
}

/// An in-memory file.
#[derive(Clone, Default)]
pub(crate) struct Memory(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no thread panics with the lock").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Event that a packet left a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Departure {
    pub(crate) at: Time,
    pub(crate) from: StageId,
    pub(crate) port: Port,
    pub(crate) flow: FlowId,
    pub(crate) seq: u64,
    pub(crate) size: u32,
}

/// A driver without an event queue, which checks every stage to find the next event. After each
/// call it checks the contract of the stage: wake-ups are not in the past, and each packet that
/// arrived was sent, dropped or is held.
pub(crate) struct PlainDriver {
    pub(crate) network: Network,
    pub(crate) bus: Bus,
    outbox: Vec<Emission>,
    now: Time,
    is_endpoint: Vec<bool>,
    received: Vec<u64>,
    sent: Vec<u64>,
    /// Number of packets of each flow that entered a stage at a port and have not left it there.
    inside: BTreeMap<(usize, FlowId, Port), u64>,
    /// Expired timers and packets that arrived over wires.
    events: u64,
    /// Drops before the reset of the counters.
    dropped_before: Vec<u64>,
    /// All packets that any stage sent.
    pub(crate) log: Vec<Departure>,
}

impl PlainDriver {
    pub(crate) fn new(mut network: Network) -> PlainDriver {
        let stages = network.stages.len();
        let bus = Bus::new(stages, std::mem::take(&mut network.recorder));
        let mut is_endpoint = vec![false; stages];
        for end in network.flows.iter().flat_map(|flow| [flow.source, flow.sink]) {
            is_endpoint[end.0 as usize] = true;
        }
        let mut driver = PlainDriver {
            network,
            bus,
            outbox: Vec::new(),
            now: Time::ZERO,
            is_endpoint,
            received: vec![0; stages],
            sent: vec![0; stages],
            inside: BTreeMap::new(),
            events: 0,
            dropped_before: vec![0; stages],
            log: Vec::new(),
        };
        driver.broadcast_control(&Control::Begin);
        driver
    }

    /// Runs to the end of the scenario. Returns the report.
    pub(crate) fn run(&mut self) -> ReplicationReport {
        let events = std::mem::take(&mut self.network.events);
        let (warmup, end) = (self.network.warmup, self.network.end);
        let mut measuring = false;
        for Event { at, change, .. } in events.into_iter().filter(|event| event.at < end) {
            if at >= warmup && !measuring {
                self.start_measurement(warmup);
                measuring = true;
            }
            self.run_before(at);
            match change {
                Change::Stage(stage, control) => self.send_control(stage, &control),
                Change::Wires(changes) => changes.iter().for_each(|(stage, change)| {
                    self.network.wires[stage.0 as usize].change_delay(*change);
                }),
            }
        }
        if !measuring {
            self.start_measurement(warmup);
        }
        self.run_before(end);
        let report = self.network.report(0, self.now, &self.bus);
        ReplicationReport { events: self.events, ..report }
    }

    fn start_measurement(&mut self, warmup: Time) {
        self.run_before(warmup);
        for stage in 0..self.network.stages.len() {
            self.dropped_before[stage] = self.dropped(stage);
        }
        self.bus.reset_counts(self.now);
        self.broadcast_control(&Control::StartMeasurement);
    }

    fn run_before(&mut self, until: Time) {
        loop {
            let wakeups = (0..self.network.stages.len()).map(|stage| (self.next(stage), stage));
            let Some((at, stage)) = wakeups.min() else {
                break;
            };
            if at >= until {
                break;
            }
            assert!(at >= self.now, "stage {stage}: wake-up at {at:?} is before {:?}", self.now);
            self.now = at;
            self.wake(stage);
        }
        self.now = until;
    }

    /// Returns the time of the next event at `stage`: timer or arrival.
    fn next(&self, stage: usize) -> Time {
        let arrival = self.network.wires[stage].next_arrival();
        self.network.stages[stage].next_wakeup().min(arrival)
    }

    fn wake(&mut self, stage: usize) {
        self.run_due(stage);
        self.deliver_all();
        for stage in 0..self.network.stages.len() {
            self.check_conservation(stage);
        }
    }

    /// Processes the due events of `stage`: its timers, then the packets that arrived over its
    /// wire.
    fn run_due(&mut self, stage: usize) {
        self.wake_if_due(stage);
        while self.network.wires[stage].next_arrival() <= self.now
            && let Some(packet) = self.network.wires[stage].take()
        {
            self.call(stage, |component, ctx| component.receive(Port(0), &packet, ctx));
            self.events += 1;
            self.wake_if_due(stage);
        }
    }

    fn wake_if_due(&mut self, stage: usize) {
        if self.network.stages[stage].next_wakeup() <= self.now {
            self.call(stage, |component, ctx| component.wake(ctx));
            self.events += 1;
        }
    }

    fn call(&mut self, stage: usize, act: impl FnOnce(&mut AnyStage, &mut Ctx<'_>)) {
        let id = StageId(stage as u32);
        let component = &mut self.network.stages[stage];
        act(component, &mut Ctx::new(self.now, id, &mut self.bus, &mut self.outbox));
        assert!(component.next_wakeup() >= self.now, "{id:?} requests a wake-up in the past");
    }

    fn deliver_all(&mut self) {
        while !self.outbox.is_empty() {
            for emission in std::mem::take(&mut self.outbox) {
                self.deliver(&emission);
            }
        }
        assert!(!self.bus.has_failed(), "{:?}", self.bus.take_error());
    }

    fn deliver(&mut self, &Emission { output, packet }: &Emission) {
        let (from, port) = output.place(self.network.stages.len() as u32);
        let (flow, seq, size) = (packet.flow, packet.seq, packet.size);
        let route = self.network.routes.of(from, port);
        if let Route::Exit = route {
            return;
        }
        self.sent[from.0 as usize] += 1;
        self.log.push(Departure { at: self.now, from, port, flow, seq, size: u32::from(size) });
        let Some((to, input)) = route.of(flow) else { panic!("{from:?} sends to nowhere") };
        let to = to.0 as usize;
        self.received[to] += 1;
        self.check_flow((from.0 as usize, flow, port), (to, flow, input));
        if self.network.wires[to].is_transparent() {
            self.wake_if_due(to);
            self.call(to, |component, ctx| component.receive(input, &packet, ctx));
        } else {
            self.network.wires[to].put(&packet, self.now);
        }
    }

    /// Counts a packet that leaves one stage for another. No flow leaves a stage more often than it
    /// entered; with the totals of each stage, packets are therefore conserved for each flow.
    fn check_flow(&mut self, from: (usize, FlowId, Port), to: (usize, FlowId, Port)) {
        if !self.is_endpoint[from.0] {
            let inside = self.inside.get_mut(&from).expect("the flow entered the stage");
            *inside = inside.checked_sub(1).expect("a packet of the flow is in the stage");
        }
        *self.inside.entry(to).or_default() += 1;
    }

    fn dropped(&self, stage: usize) -> u64 {
        self.dropped_before[stage] + self.bus.counts(StageId(stage as u32)).total()
    }

    fn check_conservation(&self, stage: usize) {
        if self.is_endpoint[stage] {
            return;
        }
        let held = self.held(stage);
        assert_eq!(
            self.received[stage],
            self.sent[stage] + self.dropped(stage) + held,
            "packets at stage {stage}: received = sent + dropped + held ({held})"
        );
    }

    /// Returns the number of packets at a stage and on the wire to the stage.
    fn held(&self, stage: usize) -> u64 {
        (self.network.stages[stage].held() + self.network.wires[stage].held()) as u64
    }

    /// Returns two numbers that must be equal. The first counts packets that entered the network at
    /// endpoints. The second counts packets that left at endpoints, were dropped, or are held by
    /// other stages.
    pub(crate) fn balance(&self) -> (u64, u64) {
        let stages = 0..self.network.stages.len();
        let (ends, between): (Vec<_>, Vec<_>) = stages.partition(|stage| self.is_endpoint[*stage]);
        let sum = |stages: &[usize], count: &dyn Fn(usize) -> u64| -> u64 {
            stages.iter().map(|stage| count(*stage)).sum()
        };
        let entered = sum(&ends, &|stage| self.sent[stage]);
        let left = sum(&ends, &|stage| self.received[stage]);
        (entered, left + sum(&between, &|stage| self.dropped(stage) + self.held(stage)))
    }

    fn send_control(&mut self, stage: StageId, control: &Control) {
        let component = &mut self.network.stages[stage.0 as usize];
        component.control(control, &mut Ctx::new(self.now, stage, &mut self.bus, &mut self.outbox));
        self.deliver_all();
    }

    fn broadcast_control(&mut self, control: &Control) {
        for stage in 0..self.network.stages.len() as u32 {
            self.send_control(StageId(stage), control);
        }
    }
}
