//! Wired-up stages, without a driver.

use crate::any_stage::AnyStage;
use crate::report::ReplicationReport;
use airpath_core::{Bus, Control, FlowId, Port, Recorder, StageId, Time};

/// Where an output leads.
#[derive(Clone, Debug, Default)]
pub enum Route {
    /// Nowhere: the stage does not use this output.
    #[default]
    Nowhere,
    /// To one input.
    To(StageId, Port),
    /// To an input that depends on the packet's flow.
    ByFlow(Box<[(StageId, Port)]>),
}

impl Route {
    /// The input for a packet of `flow`.
    #[inline]
    pub fn of(&self, flow: FlowId) -> Option<(StageId, Port)> {
        match self {
            Route::Nowhere => None,
            Route::To(stage, port) => Some((*stage, *port)),
            Route::ByFlow(inputs) => inputs.get(flow.0 as usize).copied(),
        }
    }
}

/// The endpoints of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowStages {
    /// What sends.
    pub source: StageId,
    /// What receives.
    pub sink: StageId,
    /// The group of flows that it belongs to.
    pub group: u32,
    /// Payload bytes of its transfer, when they were drawn.
    pub drawn_transfer: Option<u64>,
}

/// A link that is reported on.
#[derive(Clone, Debug)]
pub struct LinkPlace {
    /// Its stage.
    pub stage: StageId,
    /// Names of its directions.
    pub sides: Vec<String>,
}

/// A scenario as stages, routes and a timetable.
pub struct Network {
    /// The stages, numbered by position.
    pub stages: Vec<AnyStage>,
    /// By stage and output; an output beyond the end leads nowhere, and is not used.
    pub routes: Vec<Vec<Route>>,
    /// Endpoints by flow.
    pub flows: Vec<FlowStages>,
    /// Links in order of report.
    pub links: Vec<LinkPlace>,
    /// What the scenario tells stages when, in order of time.
    pub controls: Vec<(Time, StageId, Control)>,
    /// The probes.
    pub recorder: Recorder,
    /// Start of measurement.
    pub warmup: Time,
    /// End of the run.
    pub end: Time,
}

impl Network {
    /// What was measured when the run stood at `now`; `bus` holds the drop counters.
    pub fn report(&self, replication: u64, now: Time, bus: &Bus) -> ReplicationReport {
        ReplicationReport::collect(self, replication, now, bus)
    }
}
