//! A network of connected stages, independent of the driver.

use crate::any_stage::AnyStage;
use crate::delay_parts::PlaceNames;
use crate::delay_watch::StagePlaces;
use crate::distributions::PacketTime;
use crate::open_end::Traffic;
use crate::report::ReplicationReport;
use crate::wire::{DelayChange, Wire};
use airpath_core::{Bus, Control, FlowId, Port, Recorder, StageId, Time};
use airpath_tcp::Sender;
use std::sync::Arc;

/// Input of a stage for each flow, by flow number; `None` for a flow without one.
pub(crate) type InputsByFlow = Box<[Option<(StageId, Port)>]>;

/// Destination of an output.
#[derive(Clone, Debug, Default)]
pub enum Route {
    /// No destination: the stage does not use this output.
    #[default]
    Nowhere,
    /// One input of a stage.
    To(StageId, Port),
    /// The caller: the packet leaves the network at an open end.
    Exit,
    /// An input that depends on the packet's flow, by flow number; `None` for a flow whose packets
    /// do not use the output.
    ByFlow(InputsByFlow),
}

impl Route {
    /// Returns the input for a packet of `flow`.
    #[inline]
    pub fn of(&self, flow: FlowId) -> Option<(StageId, Port)> {
        match self {
            Route::Nowhere | Route::Exit => None,
            Route::To(stage, port) => Some((*stage, *port)),
            Route::ByFlow(inputs) => inputs.get(flow.0 as usize).copied().flatten(),
        }
    }
}

/// Destinations of the outputs of all stages.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// Sorted by stage and output after a call of `sort`.
    connections: Vec<(StageId, Port, Route)>,
}

impl Routes {
    /// Connects an output to an input. A later connection of the same output replaces an earlier
    /// one.
    pub(crate) fn connect(&mut self, stage: StageId, output: Port, route: Route) {
        self.connections.push((stage, output, route));
    }

    /// Sorts the connections. Of two connections of one output, the later one remains.
    pub(crate) fn sort(&mut self) {
        self.connections.reverse();
        self.connections.sort_by_key(|(stage, output, _)| (*stage, *output));
        self.connections.dedup_by_key(|(stage, output, _)| (*stage, *output));
    }

    /// Returns the destination of an output; [`Route::Nowhere`] if the output is not connected.
    pub fn of(&self, stage: StageId, output: Port) -> &Route {
        let wanted = (stage, output);
        let found = self.connections.binary_search_by_key(&wanted, |(s, o, _)| (*s, *o));
        found.map_or(&Route::Nowhere, |place| &self.connections[place].2)
    }

    /// Returns all connected outputs with their routes, in order of stage and output.
    pub fn iter(&self) -> impl Iterator<Item = (StageId, Port, &Route)> {
        self.connections.iter().map(|(stage, output, route)| (*stage, *output, route))
    }
}

impl FromIterator<(StageId, Port, Route)> for Routes {
    fn from_iter<I: IntoIterator<Item = (StageId, Port, Route)>>(connections: I) -> Routes {
        let mut routes = Routes { connections: connections.into_iter().collect() };
        routes.sort();
        routes
    }
}

/// The endpoint stages of a flow. An open end is also a stage.
#[derive(Clone, Copy, Debug)]
pub struct FlowStages {
    /// Stage that sends the data.
    pub source: StageId,
    /// Stage that receives the data.
    pub sink: StageId,
    /// Group of the flow.
    pub group: u32,
    /// Payload bytes of the transfer, if the size is random.
    pub drawn_transfer: Option<u64>,
}

/// A link in the report.
#[derive(Clone, Debug)]
pub struct LinkPlace {
    /// Stage of the link.
    pub stage: StageId,
    /// Names of the link's directions.
    pub sides: Vec<String>,
}

/// Inputs of a hop with a link. The input of a link is also its output.
#[derive(Clone, Debug)]
pub struct HopPlace {
    /// Name of the hop.
    pub name: String,
    /// Input of the direction from the servers to the users, if it has a link.
    pub forward: Option<(StageId, Port)>,
    /// Input of the direction from the users to the servers, if it has a link.
    pub reverse: Option<(StageId, Port)>,
    /// True if the reverse link is a copy of the forward link, whose rate changes it follows.
    pub is_mirrored: bool,
}

/// A change at a given time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Time of the event.
    pub at: Time,
    /// Change that the event makes.
    pub change: Change,
    /// True if the event starts a phase of the statistics.
    pub starts_phase: bool,
}

/// A change of a stage or of wires.
#[derive(Clone, Debug)]
pub enum Change {
    /// A control event for a stage.
    Stage(StageId, Control),
    /// A change of the delay of the wires in front of these stages.
    Wires(Arc<[(StageId, DelayChange)]>),
}

/// A scenario as stages, routes and a timetable.
pub struct Network {
    /// The stages, numbered by position.
    pub stages: Vec<AnyStage>,
    /// The wire in front of each stage. A packet for a stage enters the wire, and leaves it into
    /// input 0 of the stage. If the wire is transparent, packets go directly to the stage.
    pub wires: Vec<Wire>,
    /// Destinations of the stages' outputs.
    pub routes: Routes,
    /// Endpoints by flow.
    pub flows: Vec<FlowStages>,
    /// Traffic of TCP senders with open ends, in order of flow.
    pub open_traffic: Vec<Traffic>,
    /// Links, in the order of the report.
    pub links: Vec<LinkPlace>,
    /// Hops with links, in order from the users to the servers.
    pub hops: Vec<HopPlace>,
    /// Input, which is also the output, of each hop by position on the path: forward and reverse.
    /// `None` if no stage serves the direction.
    pub inputs: Vec<[Option<(StageId, Port)>; 2]>,
    /// Names of the queues, by number.
    pub queues: Vec<String>,
    /// Stages that contain a plug-in. A plug-in may share state with other stages outside the
    /// network's routes.
    pub outside: Vec<StageId>,
    /// Events of the scenario, in order of time.
    pub events: Vec<Event>,
    /// Places of the stages, for the parts of delays.
    pub(crate) stage_places: StagePlaces,
    /// Names of these places; empty if the parts of delays are not recorded.
    pub(crate) place_names: PlaceNames,
    /// The probes.
    pub recorder: Recorder,
    /// Per-packet times whose distributions the report includes.
    pub distributions: Vec<PacketTime>,
    /// Start of measurement.
    pub warmup: Time,
    /// End of the run.
    pub end: Time,
}

impl Network {
    /// Returns the input of the bottleneck's link, which is also its output: the hop called
    /// `bottleneck`, or else the forward direction nearest to the users.
    pub fn bottleneck(&self) -> Option<(StageId, Port)> {
        let named = self.hops.iter().find(|hop| hop.name == "bottleneck");
        named.or_else(|| self.hops.iter().find(|hop| hop.forward.is_some()))?.forward
    }

    /// Returns the input and output of the link in the reverse direction nearest to the users;
    /// `None` on an ideal ACK path.
    pub fn ack_link(&self) -> Option<(StageId, Port)> {
        self.hops.iter().find_map(|hop| hop.reverse)
    }

    /// Returns the TCP sender of a flow; `None` for datagrams and open ends.
    pub fn sender(&self, flow: FlowId) -> Option<&Sender> {
        self.stages[self.flows[flow.0 as usize].source.0 as usize].sender(flow)
    }

    /// Returns the measurements at `now`; `bus` holds the drop counters.
    pub fn report(&self, replication: u64, now: Time, bus: &Bus) -> ReplicationReport {
        ReplicationReport::collect(self, replication, now, bus)
    }
}
