//! Maps the stages of a network to their roles, and its flows to the connection data for packet
//! headers.

use airpath_capture::{Connection, TcpSettings};
use airpath_core::{FlowId, Port, StageId};
use airpath_path::{Direction, FlowSpec, Hop, Network, Scenario, SourceSpec};
use airpath_tcp::{EcnUse, WindowScaling};

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

/// Hops that a flow crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowRoute {
    first: usize,
    last: usize,
    /// Direction of the data.
    pub(crate) direction: Direction,
}

/// Roles of the stages, positions of the shared links, and connections of the flows.
#[derive(Clone, Debug)]
pub struct StageMap {
    roles: Vec<Role>,
    /// True for each stage with a wire in front of it, on which packets take time.
    is_behind_wire: Vec<bool>,
    /// Input, which is also the output, of each hop by position: forward and reverse.
    hops: Vec<[Option<(StageId, Port)>; 2]>,
    /// True for each hop with a link: forward and reverse.
    has_link: Vec<[bool; 2]>,
    /// Route of each flow.
    flows: Vec<FlowRoute>,
    /// Stage and port at which data enter and leave the bottleneck link; `None` if no link serves
    /// data.
    forward: Option<(StageId, Port)>,
    /// Stage and port at which ACKs enter and leave the link that they share; `None` on an ideal
    /// ACK path.
    ack_link: Option<(StageId, Port)>,
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
        let crossed = |spec: &FlowSpec| {
            let (first, last) = scenario.crossed(spec).into_inner();
            FlowRoute { first, last, direction: spec.direction }
        };
        let has_link = |hop: &Hop| {
            Direction::BOTH.map(|direction| hop.wire.is_none() && hop.serves(direction))
        };
        StageMap {
            roles,
            is_behind_wire: network.wires.iter().map(|wire| !wire.is_transparent()).collect(),
            hops: network.inputs.clone(),
            has_link: scenario.hops.iter().map(has_link).collect(),
            flows: scenario.flows.iter().map(crossed).collect(),
            forward: network.bottleneck(),
            ack_link: network.ack_link(),
            connections: connections(scenario),
        }
    }

    #[inline]
    pub(crate) fn role(&self, stage: StageId) -> Role {
        self.roles[stage.0 as usize]
    }

    /// Returns true if packets for `stage` arrive there after their departure from the previous
    /// stage, or if it is an endpoint.
    #[inline]
    pub(crate) fn arrives_later(&self, stage: StageId) -> bool {
        self.is_behind_wire[stage.0 as usize] || self.role(stage) != Role::Between
    }

    /// Returns the input, which is also the output, of a hop; `None` if no stage serves the
    /// direction.
    pub(crate) fn hop(&self, position: usize, direction: Direction) -> Option<(StageId, Port)> {
        self.hops[position][direction as usize]
    }

    /// Returns the position of the bottleneck, or of the link that ACKs share.
    pub(crate) fn position(&self, direction: Direction) -> Option<usize> {
        let input = match direction {
            Direction::Forward => self.forward,
            Direction::Reverse => self.ack_link,
        };
        let is_at = |hop: &[Option<(StageId, Port)>; 2]| hop[direction as usize] == input;
        input.and_then(|_| self.hops.iter().position(is_at))
    }

    /// Returns true if `input` is the input of a link.
    pub(crate) fn is_link(&self, input: (StageId, Port)) -> bool {
        let hops = self.hops.iter().zip(&self.has_link);
        let mut directions = hops.flat_map(|(inputs, has_link)| inputs.iter().zip(has_link));
        directions.any(|(place, has_link)| *has_link && *place == Some(input))
    }

    /// Returns the hops that `flow` crosses.
    pub(crate) fn route(&self, flow: FlowId) -> FlowRoute {
        self.flows[flow.0 as usize]
    }

    /// Returns the number of links on a route in a direction: of all hops, or up to a hop, with
    /// (true) or without (false) that hop.
    pub(crate) fn links_on(
        &self,
        route: &FlowRoute,
        direction: Direction,
        up_to: Option<(usize, bool)>,
    ) -> u8 {
        let counts = |position: &usize| {
            let is_before = |other: usize| match direction {
                Direction::Forward => *position < other,
                Direction::Reverse => *position > other,
            };
            let (other, with) = up_to.unwrap_or((*position, true));
            self.has_link[*position][direction as usize]
                && (is_before(other) || (*position == other && with))
        };
        let count = (route.first..=route.last).filter(counts).count();
        u8::try_from(count).unwrap_or(u8::MAX)
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
        accurate_ecn: options.ecn == EcnUse::Accurate,
        receive_window: match options.window_scaling {
            WindowScaling::Off => options.receive_window.min(u64::from(u16::MAX)),
            WindowScaling::Exact | WindowScaling::On => options.receive_window,
        },
    })
}
