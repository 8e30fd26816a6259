//! Builds the network of a scenario: stages, wires and routes.

use crate::any_stage::AnyStage;
use crate::components::Components;
use crate::hops::{AckPath, HopSpec};
use crate::network::{FlowStages, LinkPlace, Network, Route, Routes};
use crate::open_end::{OpenEnd, OpenEnds, Traffic};
use crate::relay::Relay;
use crate::scenario::{Direction, FlowSpec, Scenario, WireSpec};
use crate::wire::Wire;
use crate::wire_queue::WireQueue;
use airpath_aqm::{AnyQueue, Limit, Queue};
use airpath_core::{
    ConfigError, Control, Duration, FlowId, Port, QueueId, Rate, Recorder, Registries, Seed, Setup,
    StageId, Stream, Time, UserId, registry::dependent_components,
};
use airpath_link::{AnyLink, DirectionContext, Duplex, Files, LinkContext, Sides, Users};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Builds the network of `scenario` for one replication.
///
/// # Errors
/// Fails if a description names an unknown component or has a value outside its range.
pub fn build(
    scenario: &Scenario,
    components: &Components,
    files: &Arc<Files>,
    master_seed: u64,
    replication: u64,
) -> Result<Network, ConfigError> {
    build_cut(scenario, components, files, master_seed, replication, &|_| OpenEnds::NONE)
}

/// Builds the network with open ends; `open` returns the open ends of each flow. Stages have the
/// same numbers as in the complete network: an open end has the number of the endpoint that it
/// replaces. A packet injected at an open end takes the same route as a packet of the endpoint. The
/// caller decides when a flow whose source is open starts and stops.
///
/// # Errors
/// Fails in the same cases as [`build`].
pub fn build_cut(
    scenario: &Scenario,
    components: &Components,
    files: &Arc<Files>,
    master_seed: u64,
    replication: u64,
    open: &dyn Fn(FlowId) -> OpenEnds,
) -> Result<Network, ConfigError> {
    Builder {
        scenario,
        components,
        files,
        open,
        registries: components.registries(),
        seed: Seed::new(master_seed, replication, ""),
        stages: Vec::new(),
        wires: Vec::new(),
        outside: Vec::new(),
        components_before: dependent_components(),
        routes: Routes::default(),
        links: Vec::new(),
        users: Users::new(scenario.flows.iter().map(|flow| flow.user.map(UserId))),
        queues: Rc::default(),
        arrivals: BTreeMap::new(),
        open_traffic: Vec::new(),
    }
    .build()
}

/// The hop that all flows share in one direction: its entry, its exit, and the delay after it.
#[derive(Clone, Copy)]
struct Hop {
    entry: (StageId, Port),
    exit: (StageId, Port),
    delay: Duration,
}

impl Hop {
    /// Returns the hop for one direction of a link.
    fn through(stage: StageId, port: Port, delay: Duration) -> Hop {
        let place = (stage, port);
        Hop { entry: place, exit: place, delay }
    }
}

pub(crate) struct Builder<'a> {
    scenario: &'a Scenario,
    pub(crate) components: &'a Components,
    files: &'a Arc<Files>,
    open: &'a dyn Fn(FlowId) -> OpenEnds,
    /// Copies of the registries in `components`, for components that contain components of other
    /// families.
    registries: Registries,
    pub(crate) seed: Seed,
    stages: Vec<AnyStage>,
    /// Wire in front of each stage.
    wires: Vec<Wire>,
    /// Stages that contain a plug-in.
    outside: Vec<StageId>,
    /// Value of [`dependent_components`] before the current stage was built.
    components_before: u64,
    routes: Routes,
    links: Vec<LinkPlace>,
    users: Users,
    /// The queues that the links have created.
    queues: Rc<RefCell<QueueNames>>,
    /// Random stream of the arrivals of each group of flows, and time of the latest arrival.
    pub(crate) arrivals: BTreeMap<Option<u32>, (Stream, Time)>,
    /// Traffic of TCP senders that are replaced by open ends.
    pub(crate) open_traffic: Vec<Traffic>,
}

impl Builder<'_> {
    fn build(mut self) -> Result<Network, ConfigError> {
        let (link, ack_link) = self.shared_links()?;
        let (forward, acks) = self.with_backhaul(link, ack_link)?;
        let count = self.scenario.flows.len();
        // Each flow has two endpoints, and further stages only with access wires.
        self.stages.reserve_exact(2 * count);
        self.wires.reserve_exact(2 * count);
        let mut flows = Vec::with_capacity(count);
        let mut after_forward = Vec::with_capacity(count);
        let mut after_reverse = Vec::with_capacity(count);
        for (number, spec) in self.scenario.flows.iter().enumerate() {
            let flow = FlowId(number as u32);
            let placed = self
                .flow(flow, spec, forward, acks)
                .map_err(|error| error.under(&format!("flows.{number}")))?;
            flows.push(placed.ends);
            after_forward.push(placed.after_forward);
            after_reverse.push(placed.after_reverse);
        }
        self.connect(forward.exit.0, forward.exit.1, Route::ByFlow(after_forward.into()));
        if let Some(acks) = acks {
            self.connect(acks.exit.0, acks.exit.1, Route::ByFlow(after_reverse.into()));
        }
        self.routes.sort();
        let controls = self.controls(link.entry.0);
        let scenario = self.scenario;
        let interval = Duration::from_nanos(scenario.record.interval_ns);
        Ok(Network {
            stages: self.stages,
            wires: self.wires,
            outside: self.outside,
            routes: self.routes,
            flows,
            open_traffic: self.open_traffic,
            links: self.links,
            forward: link.entry,
            reverse: ack_link.map(|hop| hop.entry),
            queues: std::mem::take(&mut self.queues.borrow_mut().names),
            controls,
            recorder: Recorder::new(&scenario.series()?, interval),
            distributions: scenario.record.distributions.clone(),
            warmup: Time::from_nanos(scenario.warmup_ns),
            end: Time::from_nanos(scenario.duration_ns),
        })
    }

    fn add(&mut self, stage: AnyStage) -> StageId {
        self.add_behind(Wire::default(), stage)
    }

    fn add_behind(&mut self, wire: Wire, stage: AnyStage) -> StageId {
        self.stages.push(stage);
        self.wires.push(wire);
        let id = StageId(self.stages.len() as u32 - 1);
        if dependent_components() != self.components_before {
            self.outside.push(id);
        }
        id
    }

    /// Marks the components built so far as assigned to a stage.
    fn settle(&mut self) {
        self.components_before = dependent_components();
    }

    fn connect(&mut self, from: StageId, output: Port, route: Route) {
        self.routes.connect(from, output, route);
    }

    /// Adds the links that all flows share. Returns the hop of the bottleneck and, if it exists,
    /// the hop of the ACKs.
    fn shared_links(&mut self) -> Result<(Hop, Option<Hop>), ConfigError> {
        let (forward, reverse) = (self.scenario.forward_hop(), self.scenario.reverse_hop());
        let Some(reverse) = reverse else { return Ok((self.simplex(0, forward)?, None)) };
        if let AckPath::Reverse { link: own, .. } = &self.scenario.ack_path {
            let [there, back] = self.duplex([forward, reverse], own.is_none())?;
            return Ok((there, Some(back)));
        }
        Ok((self.simplex(0, forward)?, Some(self.simplex(1, reverse)?)))
    }

    /// Returns the context of one direction of the link of `hop`. Its queue factory builds the
    /// queues.
    fn side(&self, hop: HopSpec<'_>, output: Port) -> DirectionContext {
        let name = hop.name;
        let (description, seed) = (hop.queues.clone(), self.seed.child(name));
        let (registry, made) = (self.components.queues.clone(), Rc::clone(&self.queues));
        DirectionContext::new(output, move |queue| {
            let (full_name, seed) = match queue {
                None => (name.to_owned(), seed.clone()),
                Some(queue) => (format!("{name}/{queue}"), seed.child(queue)),
            };
            let mut made = made.borrow_mut();
            let setup = Setup { seed: seed.child("queue"), registry: &registry, extra: () };
            made.add(full_name)
                .and_then(|id| Ok(Queue::new(AnyQueue::build(&description, setup)?, id)))
                .map_err(|error| made.note(error.under("queue").under(name)))
        })
    }

    fn link(&self, hop: HopSpec<'_>, context: LinkContext) -> Result<AnyLink, ConfigError> {
        let seed = self.seed.child(hop.name).child("link");
        let setup = Setup { seed, registry: self.components.links.links(), extra: context };
        let link = AnyLink::build(hop.link, setup);
        // In the scenario, a queue is a sibling of the link, not a child: its error has its own
        // path.
        let of_a_queue = self.queues.borrow_mut().failure.take();
        of_a_queue.map_or(link.map_err(|error| error.under("link").under(hop.name)), Err)
    }

    /// Returns the number of directions that a link serves. Fails if the link serves both
    /// directions and `has_reverse` is false.
    fn sides(&self, hop: HopSpec<'_>, has_reverse: bool) -> Result<Sides, ConfigError> {
        let under = |error: ConfigError| error.under("link").under(hop.name);
        let sides = self.components.links.sides(hop.link).map_err(under)?;
        if sides == Sides::Both && !has_reverse {
            let kind = hop.link["kind"].as_str().unwrap_or_default();
            let problem = "duplex. Set ack_path = \"reverse\"";
            return Err(under(ConfigError::new("kind", kind, problem)));
        }
        Ok(sides)
    }

    fn context(
        &self,
        id: u32,
        forward: DirectionContext,
        reverse: Option<DirectionContext>,
    ) -> LinkContext {
        LinkContext {
            forward,
            reverse,
            id,
            users: self.users.clone(),
            files: Arc::clone(self.files),
            registries: self.registries.clone(),
        }
    }

    /// Builds a link for one direction, whose packets leave through `output`.
    fn one_way(&self, id: u32, hop: HopSpec<'_>, output: Port) -> Result<AnyLink, ConfigError> {
        self.sides(hop, false)?;
        self.link(hop, self.context(id, self.side(hop, output), None))
    }

    fn simplex(&mut self, id: u32, hop: HopSpec<'_>) -> Result<Hop, ConfigError> {
        let link = self.one_way(id, hop, Port(0))?;
        let stage = self.add(AnyStage::Link(Box::new(link)));
        self.settle();
        self.links.push(LinkPlace { stage, sides: vec![hop.name.to_owned()] });
        Ok(Hop::through(stage, Port(0), hop.delay))
    }

    /// Adds both directions of the bottleneck as one stage: one link if the link serves both
    /// directions, otherwise two links in a [`Duplex`]. If the reverse link copies the forward
    /// link, it also follows the rate changes of the forward link.
    fn duplex(
        &mut self,
        hops: [HopSpec<'_>; 2],
        is_as_forward: bool,
    ) -> Result<[Hop; 2], ConfigError> {
        let [forward, reverse] = hops;
        let stage = if self.sides(forward, true)? == Sides::One {
            let there = self.one_way(0, forward, Port(0))?;
            let back = self.one_way(1, reverse, Port(1))?;
            AnyStage::Duplex(Box::new(Duplex::new(there, back, is_as_forward)))
        } else {
            let (there, back) = (self.side(forward, Port(0)), self.side(reverse, Port(1)));
            let link = self.link(forward, self.context(0, there, Some(back)))?;
            AnyStage::Link(Box::new(link))
        };
        let stage = self.add(stage);
        self.settle();
        self.links.push(LinkPlace { stage, sides: hops.map(|hop| hop.name.to_owned()).to_vec() });
        let through = |port: u8| Hop::through(stage, Port(port), hops[usize::from(port)].delay);
        Ok([through(0), through(1)])
    }

    /// Adds the backhaul before the bottleneck and after the ACK path.
    fn with_backhaul(
        &mut self,
        forward: Hop,
        acks: Option<Hop>,
    ) -> Result<(Hop, Option<Hop>), ConfigError> {
        let Some(spec) = self.scenario.backhaul else { return Ok((forward, acks)) };
        let lead = acks.map_or(Duration::ZERO, |hop| hop.delay);
        let (there, back) = match backhaul_queue(spec) {
            Some(queue) => {
                let there = self.queued_backhaul(2, "backhaul", Duration::ZERO, spec, &queue)?;
                self.connect(there.0, Port(0), Route::To(forward.entry.0, forward.entry.1));
                (there.1, self.queued_backhaul(3, "backhaul_reverse", lead, spec, &queue)?)
            }
            None => {
                let there = self.access(spec, forward.entry);
                (there, self.behind(lead, spec, AnyStage::Relay(Relay)))
            }
        };
        if let Some(acks) = acks {
            let (stage, port) = back.1;
            self.connect(acks.exit.0, acks.exit.1, Route::To(stage, port));
        }
        let entry = acks.map_or(back.1, |hop| hop.entry);
        let exit = (back.0, Port(0));
        Ok((Hop { entry: there, ..forward }, Some(Hop { entry, exit, delay: Duration::ZERO })))
    }

    /// Adds one direction of a backhaul with a queue limit: a delay of `lead`, then a fixed-rate
    /// link with a queue, reported under `name`. Returns the last stage and the entry.
    fn queued_backhaul(
        &mut self,
        id: u32,
        name: &'static str,
        lead: Duration,
        spec: WireSpec,
        queues: &Value,
    ) -> Result<(StageId, (StageId, Port)), ConfigError> {
        let delay = Duration::from_nanos(spec.delay_ns);
        let link = json!({"kind": "fixed", "rate_bps": spec.rate_bps});
        let link = self.one_way(id, HopSpec { name, link: &link, queues, delay }, Port(0))?;
        let lead = Wire::new(lead, None, Duration::ZERO);
        let link = self.add_behind(lead, AnyStage::Link(Box::new(link)));
        self.settle();
        self.links.push(LinkPlace { stage: link, sides: vec![name.to_owned()] });
        let end = Wire::new(delay, None, Duration::ZERO);
        let end = self.add_behind(end, AnyStage::Relay(Relay));
        self.connect(link, Port(0), Route::To(end, Port(0)));
        Ok((end, (link, Port(0))))
    }

    /// Adds the endpoints and wires of a flow. Data take one direction, ACKs the other.
    fn flow(
        &mut self,
        flow: FlowId,
        spec: &FlowSpec,
        forward: Hop,
        reverse: Option<Hop>,
    ) -> Result<PlacedFlow, ConfigError> {
        let (data, acks) = match (spec.direction, reverse) {
            (Direction::Reverse, Some(reverse)) => (reverse, Some(forward)),
            _ => (forward, reverse),
        };
        let lead = acks.map_or(Duration::ZERO, |hop| hop.delay);
        let open = (self.open)(flow);
        let ends = self.endpoints(flow, spec, open)?;
        // The order of the stage numbers is the order of events at equal times: the access wire,
        // the sink, the ACKs' access wire, the source.
        let entry = self.access(spec.access, data.entry);
        let (sink, at_sink) = self.behind(data.delay, spec.egress, ends.sink);
        let ack_entry = acks.map(|hop| self.access(spec.ack_access.unwrap_or_default(), hop.entry));
        let (source, at_source) = self.behind(lead, spec.return_wire, ends.source);
        self.settle();
        let ack_entry = ack_entry.unwrap_or(at_source);
        // Connections in ascending stage number are fast to sort.
        self.connect(sink, Port(0), Route::To(ack_entry.0, ack_entry.1));
        self.connect(source, Port(0), Route::To(entry.0, entry.1));
        for (end, is_open) in [(source, open.source), (sink, open.sink)] {
            if is_open {
                self.connect(end, OpenEnd::OUT, Route::Exit);
            }
        }
        let (group, drawn_transfer) = (spec.group.unwrap_or(0), ends.drawn_transfer);
        let ends = FlowStages { source, sink, group, drawn_transfer };
        let [after_forward, after_reverse] = match spec.direction {
            Direction::Forward => [at_sink, at_source],
            Direction::Reverse => [at_source, at_sink],
        };
        Ok(PlacedFlow { ends, after_forward, after_reverse })
    }

    /// Adds a wire before `next`, unless the wire has neither delay nor rate. Returns the entry.
    fn access(&mut self, spec: WireSpec, next: (StageId, Port)) -> (StageId, Port) {
        if wire(Duration::ZERO, spec).is_transparent() {
            return next;
        }
        let (stage, entry) = self.behind(Duration::ZERO, spec, AnyStage::Relay(Relay));
        self.connect(stage, Port(0), Route::To(next.0, next.1));
        entry
    }

    /// Adds `stage` after a delay of `lead` and a wire. A wire with a limit gets a queue before it.
    /// Returns the stage and the entry.
    fn behind(
        &mut self,
        lead: Duration,
        spec: WireSpec,
        stage: AnyStage,
    ) -> (StageId, (StageId, Port)) {
        let Some((limit, rate)) = spec.limit.zip(spec.rate_bps.map(Rate)) else {
            let stage = self.add_behind(wire(lead, spec), stage);
            return (stage, (stage, Port(0)));
        };
        let queue = AnyStage::WireQueue(Box::new(WireQueue::new(limit, rate)));
        let queue = self.add_behind(Wire::new(lead, None, Duration::ZERO), queue);
        let stage = self.add_behind(wire(Duration::ZERO, spec), stage);
        self.connect(queue, Port(0), Route::To(stage, Port(0)));
        (stage, (queue, Port(0)))
    }

    fn controls(&self, bottleneck: StageId) -> Vec<(Time, StageId, Control)> {
        let mut controls: Vec<_> = self
            .scenario
            .controls
            .iter()
            .flat_map(|control| {
                let at = Time::from_nanos(control.at_ns);
                let send_control = move |change| (at, bottleneck, change);
                control.action.controls().into_iter().map(send_control)
            })
            .collect();
        controls.sort_by_key(|(at, _, _)| *at);
        controls
    }
}

/// Names of the queues of a network, in the order of creation.
#[derive(Default)]
struct QueueNames {
    names: Vec<String>,
    taken: BTreeSet<String>,
    /// First error of a queue that could not be built.
    failure: Option<ConfigError>,
}

impl QueueNames {
    fn add(&mut self, name: String) -> Result<QueueId, ConfigError> {
        if !self.taken.insert(name.clone()) {
            return Err(ConfigError::new("", name, "made twice by its link"));
        }
        self.names.push(name);
        Ok(QueueId(self.names.len() as u32 - 1))
    }

    fn note(&mut self, error: ConfigError) -> ConfigError {
        self.failure.get_or_insert(error).clone()
    }
}

struct PlacedFlow {
    ends: FlowStages,
    after_forward: (StageId, Port),
    after_reverse: (StageId, Port),
}

/// Returns the queue description of a backhaul, if it has a limit.
fn backhaul_queue(spec: WireSpec) -> Option<Value> {
    let limit = match spec.limit? {
        Limit::Packets(packets) => json!({"packets": packets}),
        Limit::Bytes(bytes) => json!({"bytes": bytes}),
    };
    Some(json!({"kind": "droptail", "limit": limit}))
}

fn wire(lead: Duration, spec: WireSpec) -> Wire {
    Wire::new(lead, spec.rate_bps.map(Rate), Duration::from_nanos(spec.delay_ns))
}
