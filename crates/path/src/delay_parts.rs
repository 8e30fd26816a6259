//! Parts of the delays of each flow in the report.

use crate::network::Network;
use crate::scenario::{Direction, Scenario};
use airpath_core::{DelayPart, DelaySums, FlowDelayParts, FlowId, Recorder};
use serde::Serialize;

/// A delay that consists of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayKind {
    /// One-way delay of data packets.
    Data,
    /// One-way delay of ACKs.
    Ack,
    /// Round trip: a data packet, the wait of the receiver, and the next ACK.
    RoundTrip,
}

/// Parts of the delays of one kind of one flow, in order of the path. All parts of all hops are
/// present, also those of zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelayPartsReport {
    /// Flow number.
    pub flow: u32,
    /// Group of the flow.
    pub group: u32,
    /// Kind of the delays.
    pub delay: DelayKind,
    /// Number of delays.
    pub count: u64,
    /// Sum of the delays, ns.
    pub total_ns: u128,
    /// Hop of each part: its name, or `access`, `egress`, `ack_access`, `return`, `receiver`.
    pub hop: Vec<String>,
    /// Direction of each part: `forward`, `reverse`, or empty for the
    /// receiver.
    pub direction: Vec<&'static str>,
    /// Name of each part.
    pub part: Vec<&'static str>,
    /// Sum of each part, ns.
    pub sum_ns: Vec<u128>,
}

/// Names of the places of the path, for the report.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlaceNames {
    /// Names of the hops, in order from the servers to the users.
    pub(crate) hops: Vec<String>,
    /// Direction of the data of each flow.
    pub(crate) directions: Vec<Direction>,
}

impl Scenario {
    /// Returns the names of the places; empty if the parts of delays are not recorded.
    pub(crate) fn place_names(&self) -> PlaceNames {
        if !self.record.delay_parts {
            return PlaceNames::default();
        }
        PlaceNames {
            hops: self.hops.iter().map(|hop| hop.name.clone()).collect(),
            directions: self.flows.iter().map(|flow| flow.direction).collect(),
        }
    }
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
    }
}

impl DelayPartsReport {
    fn new(flow: u32, group: u32, delay: DelayKind, sums: &DelaySums) -> DelayPartsReport {
        let (count, total_ns) = (sums.count, sums.nanos);
        let (hop, direction, part) = (Vec::new(), Vec::new(), Vec::new());
        DelayPartsReport {
            flow,
            group,
            delay,
            count,
            total_ns,
            hop,
            direction,
            part,
            sum_ns: Vec::new(),
        }
    }

    fn push(&mut self, hop: &str, direction: &'static str, part: &'static str, sum_ns: u128) {
        self.hop.push(hop.to_owned());
        self.direction.push(direction);
        self.part.push(part);
        self.sum_ns.push(sum_ns);
    }

    /// Adds the parts of packets in one direction, between the wires `first` and `last`.
    fn add(
        &mut self,
        names: &PlaceNames,
        direction: Direction,
        [first, last]: [&str; 2],
        sums: &[u128],
    ) {
        let places = names.hops.iter().map(String::as_str);
        let places = std::iter::once(first).chain(places).chain([last]);
        let mut places: Vec<(&str, &[u128])> =
            places.zip(sums.chunks(DelayPart::ALL.len())).collect();
        if direction == Direction::Reverse && places.len() > 2 {
            let end = places.len() - 1;
            places[1..end].reverse();
        }
        for (hop, sums) in places {
            for ((_, part), sum) in DelayPart::ALL.iter().zip(sums) {
                self.push(hop, direction_name(direction), part, *sum);
            }
        }
    }
}

/// Returns the parts of the delays of all flows; empty if they are not recorded.
pub(crate) fn delay_parts(network: &Network, recorder: &Recorder) -> Vec<DelayPartsReport> {
    let Some(parts) = recorder.delay_parts() else { return Vec::new() };
    let flows = (0..).zip(&network.flows).filter_map(|(flow, ends)| {
        let sums = parts.of(FlowId(flow))?;
        Some(flow_reports(&network.place_names, flow, ends.group, sums))
    });
    flows.flatten().collect()
}

fn flow_reports(
    names: &PlaceNames,
    flow: u32,
    group: u32,
    sums: &FlowDelayParts,
) -> Vec<DelayPartsReport> {
    let data = names.directions[flow as usize];
    let (data_wires, ack_wires) = (["access", "egress"], ["ack_access", "return"]);
    let report = |kind, sums| DelayPartsReport::new(flow, group, kind, sums);
    let mut one_way = report(DelayKind::Data, &sums.data);
    one_way.add(names, data, data_wires, &sums.data.parts);
    let mut acks = report(DelayKind::Ack, &sums.acks);
    acks.add(names, data.opposite(), ack_wires, &sums.acks.parts);
    let mut round_trips = report(DelayKind::RoundTrip, &sums.round_trips);
    round_trips.add(names, data, data_wires, &sums.round_trips.parts);
    round_trips.push("receiver", "", "ack_wait", sums.receiver_nanos);
    round_trips.add(names, data.opposite(), ack_wires, &sums.round_trip_acks);
    let all = [one_way, acks, round_trips];
    all.into_iter().filter(|report| report.count > 0).collect()
}
