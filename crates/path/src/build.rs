//! Builds the network of a scenario: stages, wires and routes.

use crate::any_stage::AnyStage;
use crate::components::Components;
use crate::delay_events::VariableDelays;
use crate::delay_watch::StagePlaces;
use crate::network::{
    Event, FlowStages, HopPlace, InputsByFlow, LinkPlace, Network, Route, Routes,
};
use crate::open_end::{OpenEnd, OpenEnds, Traffic};
use crate::passages::Passages;
use crate::queue_names::QueueNames;
use crate::relay::Relay;
use crate::scenario::{FlowSpec, Scenario, WireSpec};
use crate::wire::Wire;
use crate::wire_queue::WireQueue;
use airpath_core::{
    ConfigError, DelayParts, Duration, FlowId, Port, Rate, Recorder, Registries, Seed, StageId,
    Stream, Time, registry::dependent_components,
};
use airpath_link::{Files, Users};
use std::cell::RefCell;
use std::collections::BTreeMap;
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
        flow_count: scenario.flows.len(),
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
        hops: Vec::new(),
        queued_wires: Vec::new(),
        interrupts: false,
        users: Users::default(),
        variable_delays: VariableDelays::default(),
        stage_places: StagePlaces::new(scenario.record.delay_parts),
        queues: Rc::default(),
        arrivals: BTreeMap::new(),
        open_traffic: Vec::new(),
        client: None,
    }
    .build()
}

pub(crate) struct Builder<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Number of flows.
    flow_count: usize,
    pub(crate) components: &'a Components,
    pub(crate) files: &'a Arc<Files>,
    open: &'a dyn Fn(FlowId) -> OpenEnds,
    /// Copies of the registries in `components`, for components that contain components of other
    /// families.
    pub(crate) registries: Registries,
    pub(crate) seed: Seed,
    stages: Vec<AnyStage>,
    /// Wire in front of each stage.
    pub(crate) wires: Vec<Wire>,
    /// Stages that contain a plug-in.
    outside: Vec<StageId>,
    /// Value of [`dependent_components`] before the current stage was built.
    components_before: u64,
    routes: Routes,
    pub(crate) links: Vec<LinkPlace>,
    /// Hops with links, in the order of construction.
    pub(crate) hops: Vec<HopPlace>,
    /// Hops with wires that have queues.
    pub(crate) queued_wires: Vec<HopPlace>,
    /// True while a hop is built that the scenario interrupts.
    pub(crate) interrupts: bool,
    /// Users of the hop that is under construction.
    pub(crate) users: Users,
    pub(crate) variable_delays: VariableDelays,
    pub(crate) stage_places: StagePlaces,
    /// The queues that the links have created.
    pub(crate) queues: Rc<RefCell<QueueNames>>,
    /// Random stream of the arrivals of each group of flows, and time of the latest arrival.
    pub(crate) arrivals: BTreeMap<Option<u32>, (Stream, Time)>,
    /// Traffic of TCP senders that are replaced by open ends.
    pub(crate) open_traffic: Vec<Traffic>,
    /// The client whose connections are the next flows.
    client: Option<ClientPlace>,
}

/// A client with connections that are not built yet.
struct ClientPlace {
    /// Stage and input of the client; `None` if its sources are open ends.
    place: Option<(StageId, (StageId, Port))>,
    /// Number of connections that are not built yet.
    left: u32,
    /// If no link is between the client and its receivers: the stage whose output leads to them, and
    /// their inputs by flow.
    direct: Option<(StageId, InputsByFlow)>,
}

/// Source of a flow.
enum SourcePlace {
    /// A new stage, and the size of its transfer if the size is random.
    New(AnyStage, Option<u64>),
    /// The stage and the input of the client whose connection the flow is.
    Shared(StageId, (StageId, Port)),
}

impl Builder<'_> {
    fn build(mut self) -> Result<Network, ConfigError> {
        self.find_variable_delays();
        let mut passages = self.passages()?;
        let scenario = self.scenario;
        let count = scenario.flows.len();
        // Each flow has two endpoints, and further stages only with access wires.
        self.stages.reserve_exact(2 * count);
        self.wires.reserve_exact(2 * count);
        let mut flows = Vec::with_capacity(count);
        let mut crossed = Vec::with_capacity(count);
        for (number, spec) in scenario.flows.iter().enumerate() {
            crossed.push(scenario.crossed(spec));
            let ends = self
                .flow(number, spec, &mut passages)
                .map_err(|error| error.under(&format!("flows.{number}")))?;
            flows.push(ends);
        }
        let inputs = passages.inputs();
        for ((stage, output), route) in passages.routes(&crossed) {
            self.connect(stage, output, route);
        }
        self.routes.sort();
        let mut events = self.control_events()?;
        events.extend(self.delay_events());
        events.sort_by_key(Event::order);
        let recorder = self.recorder()?;
        self.stage_places.complete(self.stages.len());
        Ok(Network {
            stages: self.stages,
            wires: self.wires,
            outside: self.outside,
            routes: self.routes,
            flows,
            open_traffic: self.open_traffic,
            links: self.links,
            hops: self.hops,
            inputs,
            queues: std::mem::take(&mut self.queues.borrow_mut().names),
            events,
            place_names: scenario.place_names(),
            stage_places: self.stage_places,
            recorder,
            distributions: scenario.record.distributions.clone(),
            warmup: Time::from_nanos(scenario.warmup_ns),
            end: Time::from_nanos(scenario.duration_ns),
        })
    }

    fn recorder(&self) -> Result<Recorder, ConfigError> {
        let scenario = self.scenario;
        let interval = Duration::from_nanos(scenario.record.interval_ns);
        let mut recorder = Recorder::new(&scenario.series()?, interval);
        if scenario.record.delay_parts {
            // The hops, and the wires before and after them.
            recorder.record_delay_parts(DelayParts::new(self.flow_count, scenario.hops.len() + 2));
        }
        Ok(recorder)
    }

    pub(crate) fn add_behind(&mut self, wire: Wire, stage: AnyStage) -> StageId {
        self.stages.push(stage);
        self.wires.push(wire);
        let id = StageId(self.stages.len() as u32 - 1);
        if dependent_components() != self.components_before {
            self.outside.push(id);
        }
        id
    }

    /// Marks the components built so far as assigned to a stage.
    pub(crate) fn settle(&mut self) {
        self.components_before = dependent_components();
    }

    pub(crate) fn connect(&mut self, from: StageId, output: Port, route: Route) {
        self.routes.connect(from, output, route);
    }

    /// Adds the endpoints and wires of a flow. Data take one direction, ACKs the other.
    fn flow(
        &mut self,
        number: usize,
        spec: &FlowSpec,
        passages: &mut Passages,
    ) -> Result<FlowStages, ConfigError> {
        let flow = FlowId(number as u32);
        let crossed = self.scenario.crossed(spec);
        let [data, acks] = [spec.direction, spec.direction.opposite()].map(|direction| {
            let (first, last) = passages.first_and_last(direction, &crossed)?;
            let lead = passages.at(direction, last).delay;
            Some((passages.at(direction, first).entry, last, lead))
        });
        let lead = |way: Option<(_, _, Duration)>| way.map_or(Duration::ZERO, |(_, _, lead)| lead);
        let mut open = (self.open)(flow);
        let source = self.source_place(flow, spec, &mut open)?;
        let sink = self.sink_end(flow, spec, open)?;
        // The order of the stage numbers is the order of events at equal times: the access wire,
        // the sink, the ACKs' access wire, the source.
        let is_new = matches!(source, SourcePlace::New(..));
        let entry = data.filter(|_| is_new).map(|(entry, ..)| self.access(spec.access, entry));
        let (sink, at_sink) = self.behind(lead(data), spec.egress, sink);
        let ack_access = spec.ack_access.unwrap_or_default();
        let ack_entry = acks.map(|(entry, ..)| self.access(ack_access, entry));
        let (source, at_source, drawn_transfer, entry) = match source {
            SourcePlace::Shared(source, at_source) => (source, at_source, None, None),
            SourcePlace::New(stage, drawn) => {
                let (source, at_source) = self.behind(lead(acks), spec.return_wire, stage);
                let entry = entry.unwrap_or_else(|| self.access(spec.access, at_sink));
                let last = StageId(self.stages.len() as u32 - 1);
                if let Some(client) = self.client.as_mut().filter(|_| !open.source) {
                    client.place = Some((source, at_source));
                    // An access wire ends at the stage that was added last.
                    let exit = if entry == at_sink { source } else { last };
                    let inputs = || vec![None; self.flow_count].into();
                    client.direct = data.is_none().then(|| (exit, inputs()));
                }
                (source, at_source, drawn, Some(entry))
            }
        };
        self.settle();
        // Connections in ascending stage number are fast to sort.
        let ack_entry = ack_entry.unwrap_or(at_source);
        self.connect(sink, Port(0), Route::To(ack_entry.0, ack_entry.1));
        if let Some(entry) = entry {
            self.connect(source, Port(0), Route::To(entry.0, entry.1));
        }
        self.end_connection(number, at_sink);
        for (end, is_open) in [(source, open.source), (sink, open.sink)] {
            if is_open {
                self.connect(end, OpenEnd::OUT, Route::Exit);
            }
        }
        for (direction, way, end, is_new) in [
            (spec.direction, data, at_sink, true),
            (spec.direction.opposite(), acks, at_source, is_new),
        ] {
            if let Some((_, last, _)) = way {
                passages.end_flow(direction, last, (number, self.flow_count), end);
                if is_new {
                    self.add_last_delay(direction, last, passages, end.0);
                    let lead = passages.at(direction, last).delay;
                    self.stage_places.set_lead(end.0, last, lead);
                }
            }
        }
        let hops = self.scenario.hops.len();
        for (end, entry) in [(sink, at_sink), (source, at_source)] {
            self.stage_places.set_endpoint(end, hops);
            self.stage_places.set_last_queue(entry.0, hops);
        }
        Ok(FlowStages { source, sink, group: spec.group.unwrap_or(0), drawn_transfer })
    }

    /// Builds the source of a flow, or finds the client that contains it. The sources of all
    /// connections of a client are open if that of the first connection is.
    fn source_place(
        &mut self,
        flow: FlowId,
        spec: &FlowSpec,
        open: &mut OpenEnds,
    ) -> Result<SourcePlace, ConfigError> {
        if let Some(ClientPlace { place, .. }) = &self.client {
            open.source = place.is_none();
            if let Some((source, at_source)) = place {
                return Ok(SourcePlace::Shared(*source, *at_source));
            }
        } else if spec.connections() > 1 {
            self.client = Some(ClientPlace { place: None, left: spec.connections(), direct: None });
        }
        let (stage, drawn) = self.source_end(flow, spec, *open)?;
        Ok(SourcePlace::New(stage, drawn))
    }

    /// Completes a connection of a client, whose receiver has the input `at_sink`. After the last
    /// one, connects the client with its receivers if no link is between them.
    fn end_connection(&mut self, number: usize, at_sink: (StageId, Port)) {
        let Some(client) = &mut self.client else { return };
        client.left -= 1;
        if let Some((_, inputs)) = &mut client.direct {
            inputs[number] = Some(at_sink);
        }
        if client.left > 0 {
            return;
        }
        if let Some((exit, inputs)) = self.client.take().and_then(|client| client.direct) {
            self.connect(exit, Port(0), Route::ByFlow(inputs));
        }
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
}

pub(crate) fn wire(lead: Duration, spec: WireSpec) -> Wire {
    Wire::new(lead, spec.rate_bps.map(Rate), Duration::from_nanos(spec.delay_ns))
}
