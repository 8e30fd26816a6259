//! Maps the stages of a network to their roles, and its flows to the connection data for packet
//! headers.

use airpath_capture::{Connection, TcpSettings};
use airpath_core::{FlowId, Port, StageId};
use airpath_path::{Network, Scenario, SourceSpec};
use airpath_tcp::WindowScaling;

/// Role of a stage for its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The stage sends the data.
    Source,
    /// The stage receives the data.
    Sink,
    /// The stage is between the endpoints.
    Between,
}

/// Roles of the stages, positions of the shared links, and connections of the flows.
#[derive(Clone, Debug)]
pub struct StageMap {
    roles: Vec<Role>,
    /// Stage and port at which data enter and leave the bottleneck link; `None` if no link serves
    /// data.
    forward: Option<(StageId, Port)>,
    /// Stage and port at which ACKs enter and leave the link that they share; `None` on an ideal
    /// ACK path.
    pub(crate) ack_link: Option<(StageId, Port)>,
    /// Connection of each flow.
    connections: Vec<Connection>,
}

impl StageMap {
    /// Builds the map of `network`, which was built from `scenario`.
    pub fn new(network: &Network, scenario: &Scenario) -> StageMap {
        let mut roles = vec![Role::Between; network.stages.len()];
        for ends in &network.flows {
            roles[ends.source.0 as usize] = Role::Source;
            roles[ends.sink.0 as usize] = Role::Sink;
        }
        StageMap {
            roles,
            forward: network.bottleneck(),
            ack_link: network.ack_link(),
            connections: connections(scenario),
        }
    }

    /// Returns the stage and port at which data enter and leave the bottleneck in forward
    /// direction. `None` if no link serves data.
    #[inline]
    pub(crate) fn forward(&self) -> Option<(StageId, Port)> {
        self.forward
    }

    #[inline]
    pub(crate) fn role(&self, stage: StageId) -> Role {
        self.roles[stage.0 as usize]
    }

    /// Returns the addresses and TCP settings of `flow`.
    pub fn connection(&self, flow: FlowId) -> &Connection {
        &self.connections[flow.0 as usize]
    }
}

/// Returns the addresses and TCP settings of each flow of `scenario`.
pub fn connections(scenario: &Scenario) -> Vec<Connection> {
    let flows = (0..).map(FlowId).zip(scenario.flows.iter());
    flows.map(|(flow, spec)| Connection::new(flow, tcp_settings(&spec.source))).collect()
}

fn tcp_settings(source: &SourceSpec) -> Option<TcpSettings> {
    let SourceSpec::Tcp(spec) = source else { return None };
    let options = &spec.options;
    Some(TcpSettings {
        mss: options.mss,
        sack: options.recovery.uses_sack(),
        timestamps: options.timestamps,
        receive_window: match options.window_scaling {
            WindowScaling::Off => options.receive_window.min(u64::from(u16::MAX)),
            WindowScaling::Exact | WindowScaling::On => options.receive_window,
        },
    })
}
