//! Which stage of a network is what, and the headers of its flows' packets.

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

/// Where the components of a network are.
#[derive(Clone, Debug)]
pub struct StageMap {
    roles: Vec<Role>,
    /// The bottleneck's link, as an input and as an output.
    forward: (StageId, Port),
    /// The link that ACKs share, with its input and output; `None` on an ideal path.
    pub(crate) ack_link: Option<(StageId, Port)>,
    /// Connection of each flow.
    connections: Vec<Connection>,
}

impl StageMap {
    /// The places of `network`, which `scenario` was wired into.
    pub fn new(network: &Network, scenario: &Scenario) -> StageMap {
        let mut roles = vec![Role::Between; network.stages.len()];
        for ends in &network.flows {
            roles[ends.source.0 as usize] = Role::Source;
            roles[ends.sink.0 as usize] = Role::Sink;
        }
        StageMap {
            roles,
            forward: network.forward,
            ack_link: network.reverse,
            connections: connections(scenario),
        }
    }

    /// The bottleneck's forward direction, as an input and as an output.
    #[inline]
    pub(crate) fn forward(&self) -> (StageId, Port) {
        self.forward
    }

    #[inline]
    pub(crate) fn role(&self, stage: StageId) -> Role {
        self.roles[stage.0 as usize]
    }

    /// The addresses and settings of `flow`.
    pub fn connection(&self, flow: FlowId) -> &Connection {
        &self.connections[flow.0 as usize]
    }
}

/// The addresses and settings of each flow of `scenario`.
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
