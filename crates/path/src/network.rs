//! Wired-up stages, without a driver.

use crate::any_stage::AnyStage;
use crate::distributions::PacketTime;
use crate::open_end::Traffic;
use crate::report::ReplicationReport;
use crate::wire::Wire;
use airpath_core::{Bus, Control, FlowId, Port, Recorder, StageId, Time};

/// Destination of an output.
#[derive(Clone, Debug, Default)]
pub enum Route {
    /// Nowhere: the stage does not use this output.
    #[default]
    Nowhere,
    /// To one input of a stage.
    To(StageId, Port),
    /// Out of the network, at an open end.
    Exit,
    /// To an input that depends on the packet's flow.
    ByFlow(Box<[(StageId, Port)]>),
}

impl Route {
    /// The input for a packet of `flow`.
    #[inline]
    pub fn of(&self, flow: FlowId) -> Option<(StageId, Port)> {
        match self {
            Route::Nowhere | Route::Exit => None,
            Route::To(stage, port) => Some((*stage, *port)),
            Route::ByFlow(inputs) => inputs.get(flow.0 as usize).copied(),
        }
    }
}

/// Where the outputs of all stages lead, in as little memory as they take.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// In order of stage and output, once `sort` was called.
    connections: Vec<(StageId, Port, Route)>,
}

impl Routes {
    /// Leads an output to an input; the last word counts.
    pub(crate) fn connect(&mut self, stage: StageId, output: Port, route: Route) {
        self.connections.push((stage, output, route));
    }

    /// Puts the connections in order; of two of one output the later one stays.
    pub(crate) fn sort(&mut self) {
        self.connections.reverse();
        self.connections.sort_by_key(|(stage, output, _)| (*stage, *output));
        self.connections.dedup_by_key(|(stage, output, _)| (*stage, *output));
    }

    /// Where an output leads; nowhere when nothing was connected to it.
    pub fn of(&self, stage: StageId, output: Port) -> &Route {
        let wanted = (stage, output);
        let found = self.connections.binary_search_by_key(&wanted, |(s, o, _)| (*s, *o));
        found.map_or(&Route::Nowhere, |place| &self.connections[place].2)
    }

    /// Every output that leads somewhere, in order of stage and output.
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

/// The endpoints of a flow; a stage stands for an end that is open, too.
#[derive(Clone, Copy, Debug)]
pub struct FlowStages {
    /// Stage that sends the data.
    pub source: StageId,
    /// Stage that receives the data.
    pub sink: StageId,
    /// The group of flows that it belongs to.
    pub group: u32,
    /// Payload bytes of its transfer, when they were drawn.
    pub drawn_transfer: Option<u64>,
}

/// A link that is reported on.
#[derive(Clone, Debug)]
pub struct LinkPlace {
    /// Stage of the link.
    pub stage: StageId,
    /// Names of its directions.
    pub sides: Vec<String>,
}

/// A scenario as stages, routes and a timetable.
pub struct Network {
    /// The stages, numbered by position.
    pub stages: Vec<AnyStage>,
    /// The wire in front of each stage: what is sent to it enters there, and comes out into its
    /// input 0. Where there is no way to go, packets enter the stage itself.
    pub wires: Vec<Wire>,
    /// Destinations of the stages' outputs.
    pub routes: Routes,
    /// Endpoints by flow.
    pub flows: Vec<FlowStages>,
    /// Traffic of TCP senders with open ends, in order of flow.
    pub open_traffic: Vec<Traffic>,
    /// Links in order of report.
    pub links: Vec<LinkPlace>,
    /// The bottleneck's link, as an input and as an output.
    pub forward: (StageId, Port),
    /// The link of the other direction, the same way; `None` on an ideal path.
    pub reverse: Option<(StageId, Port)>,
    /// Names of the queues, by number.
    pub queues: Vec<String>,
    /// Stages with a plug-in, which may share state with others behind our back.
    pub outside: Vec<StageId>,
    /// Control events of the scenario, in order of time.
    pub controls: Vec<(Time, StageId, Control)>,
    /// The probes.
    pub recorder: Recorder,
    /// Times of packets whose distribution the report includes.
    pub distributions: Vec<PacketTime>,
    /// Start of measurement.
    pub warmup: Time,
    /// End of the run.
    pub end: Time,
}

impl Network {
    /// Returns the measurements at `now`; `bus` holds the drop counters.
    pub fn report(&self, replication: u64, now: Time, bus: &Bus) -> ReplicationReport {
        ReplicationReport::collect(self, replication, now, bus)
    }
}
