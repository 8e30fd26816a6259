//! Lookup tables for the destination of each output, read once per packet and hop.

use crate::network::{Route, Routes};
use crate::wire::Wire;
use airpath_core::{Emission, Output, Port, StageId};

/// The way in which a packet reaches its next input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum RouteKind {
    /// Delivered without a wire.
    Direct,
    /// Delivered without a wire, to a stage that may be called late.
    DirectLate,
    /// Delivered over the wire in front of the stage.
    Wire,
    /// Delivered over the wire in front of a stage that may be called ahead of time.
    WireAhead,
    /// Same as `WireAhead`, for packets from an endpoint. If the endpoint itself is called ahead of
    /// time, the stage is not called ahead: otherwise a packet could return to the stage that is
    /// being called.
    WireAheadOfEndpoint,
    /// The destination depends on the flow and is in a second table.
    ByFlow,
    /// The packet leaves the network at an open end.
    Exit,
    /// The packet has no destination.
    Nowhere,
}

/// An input of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The stage.
    pub stage: StageId,
    /// Input of the stage.
    pub port: Port,
    /// The way in which packets reach the input.
    pub way: RouteKind,
}

impl Input {
    /// Input value for a packet that leaves the network at an open end.
    pub const EXIT: Input = Input::none(RouteKind::Exit);

    /// Input value for a packet without a destination.
    pub const NOWHERE: Input = Input::none(RouteKind::Nowhere);

    const fn none(way: RouteKind) -> Input {
        Input { stage: StageId(u32::MAX), port: Port(0), way }
    }
}

/// The routes of a network, in two flat tables.
#[derive(Debug)]
pub(crate) struct Routing {
    stages: u32,
    /// Destinations by [`Output`]. If the destination depends on the flow, `way` is
    /// [`RouteKind::ByFlow`], and the stage number is the index of flow 0 in `by_flow`.
    outputs: Box<[Input]>,
    by_flow: Box<[Input]>,
}

impl Routing {
    /// Builds the tables for a network with these wires in front of its stages.
    pub(crate) fn new(wires: &[Wire], routes: &Routes) -> Routing {
        let stages = wires.len();
        let most_outputs = routes.iter().map(|(_, output, _)| usize::from(output.0) + 1).max();
        let mut outputs = vec![Input::NOWHERE; most_outputs.unwrap_or(0) * stages];
        let stages = stages as u32;
        let mut by_flow = Vec::new();
        let input = |(stage, port): (StageId, Port)| {
            let is_direct = wires[stage.0 as usize].is_transparent();
            Input { stage, port, way: if is_direct { RouteKind::Direct } else { RouteKind::Wire } }
        };
        for (stage, output, route) in routes.iter() {
            outputs[Output::of(stage, output, stages).0 as usize] = match route {
                Route::Nowhere => continue,
                Route::Exit => Input::EXIT,
                Route::To(stage, port) => input((*stage, *port)),
                Route::ByFlow(inputs) => {
                    let first = StageId(by_flow.len() as u32);
                    by_flow.extend(inputs.iter().map(|to| to.map_or(Input::NOWHERE, input)));
                    Input { stage: first, port: Port(0), way: RouteKind::ByFlow }
                }
            };
        }
        Routing { stages, outputs: outputs.into(), by_flow: by_flow.into() }
    }

    /// Updates the route kinds: only stages with `is_free` true may be called late or ahead of
    /// time. `endpoints` are the stages at the ends of flows.
    pub(crate) fn set_free(&mut self, endpoints: &[StageId], is_free: impl Fn(StageId) -> bool) {
        for Input { stage, way, .. } in self.outputs.iter_mut().chain(&mut self.by_flow) {
            let is_free = *way < RouteKind::ByFlow && is_free(*stage);
            *way = match way {
                RouteKind::Direct | RouteKind::DirectLate if is_free => RouteKind::DirectLate,
                RouteKind::Direct | RouteKind::DirectLate => RouteKind::Direct,
                RouteKind::Wire | RouteKind::WireAhead | RouteKind::WireAheadOfEndpoint => {
                    if is_free {
                        RouteKind::WireAhead
                    } else {
                        RouteKind::Wire
                    }
                }
                RouteKind::ByFlow | RouteKind::Exit | RouteKind::Nowhere => *way,
            };
        }
        for output in self.outputs.chunks_mut(self.stages as usize) {
            for endpoint in endpoints {
                let way = &mut output[endpoint.0 as usize].way;
                if *way == RouteKind::WireAhead {
                    *way = RouteKind::WireAheadOfEndpoint;
                }
            }
        }
    }

    /// Returns the stage and output that sent `emission`.
    pub(crate) fn origin(&self, emission: &Emission) -> (StageId, Port) {
        emission.output.place(self.stages)
    }

    /// Returns the destination of `emission`.
    #[inline]
    pub(crate) fn of(&self, emission: &Emission) -> Input {
        let input = self.outputs[emission.output.0 as usize];
        if input.way != RouteKind::ByFlow {
            return input;
        }
        self.by_flow[(input.stage.0 + emission.packet.flow.0) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{Bytes, Duration, FlowId, Packet, Time};

    #[test]
    fn lookup_returns_the_connected_input() {
        let to = |stage, port| (StageId(stage), Port(port));
        let by_flow = Route::ByFlow([Some(to(2, 0)), Some(to(0, 1))].into());
        let connections = [
            (StageId(2), Port(2), Route::To(StageId(0), Port(7))),
            (StageId(0), Port(0), Route::To(StageId(1), Port(1))),
            (StageId(2), Port(0), Route::To(StageId(1), Port(9))),
            (StageId(2), Port(0), by_flow),
            (StageId(1), Port(0), Route::Exit),
        ];
        let routes: Routes = connections.into_iter().collect();
        let slow = Wire::new(Duration::from_millis(1), None, Duration::ZERO);
        let wires = [Wire::default(), slow, Wire::default()];
        let routing = Routing::new(&wires, &routes);
        let input = |from, port, flow| {
            let packet = Packet::datagram(FlowId(flow), 0, Bytes(100), Time::ZERO);
            let output = Output::of(StageId(from), Port(port), 3);
            let emission = Emission { output, packet };
            assert_eq!(routing.origin(&emission), (StageId(from), Port(port)));
            routing.of(&emission)
        };
        for (from, port) in [(0, 0), (0, 1), (1, 2), (2, 0), (2, 1), (2, 2)] {
            for flow in [0, 1] {
                let route = routes.of(StageId(from), Port(port));
                let expected = route.of(FlowId(flow));
                let expected = expected.map_or(Input::NOWHERE, |(stage, port)| {
                    let way = if stage == StageId(1) { RouteKind::Wire } else { RouteKind::Direct };
                    Input { stage, port, way }
                });
                assert_eq!(input(from, port, flow), expected);
            }
        }
        assert_eq!(input(1, 0, 7), Input::EXIT);
    }
}
