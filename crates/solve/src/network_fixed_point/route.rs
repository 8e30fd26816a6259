//! Delays of the hops and wires that a flow crosses, in both directions. Rejects wires where data
//! would wait, and hops where ACKs would wait.

use super::{Hop, fixed_link, packet_limit, under_hop};
use crate::fixed_point::access_path::{ACK_LOSSES, ACK_QUEUE, SPARE_FOR_ACKS};
use crate::preconditions::{delay_s, no_limit, no_limits, rate_of_packets_bps};
use crate::reasons::{Reason, Reasons};
use airpath_core::Bytes;
use airpath_path::{Direction, FlowSpec, Scenario, SourceSpec, WireSpec};
use airpath_tcp::TcpConfig;
use std::ops::RangeInclusive;

/// The hops of a scenario and the rates of data and ACKs on them.
pub(super) struct Routes<'a> {
    scenario: &'a Scenario,
    hops: &'a [Hop],
    /// Largest rate of data at each hop of the scenario, bit/s: the sum of the rates of the slowest
    /// links of the flows that cross it, each link once.
    data_bps: Vec<f64>,
    /// Largest rate of ACKs at each hop of the scenario, bit/s.
    ack_bps: Vec<f64>,
}

impl<'a> Routes<'a> {
    pub(super) fn new(scenario: &'a Scenario, hops: &'a [Hop]) -> Routes<'a> {
        let count = scenario.hops.len();
        let mut routes =
            Routes { scenario, hops, data_bps: vec![0.0; count], ack_bps: vec![0.0; count] };
        for position in 0..count {
            (routes.data_bps[position], routes.ack_bps[position]) = routes.bounds(position);
        }
        routes
    }

    /// Returns bounds of the rates of data and of ACKs at a hop of the scenario, bit/s.
    fn bounds(&self, position: usize) -> (f64, f64) {
        let mut slowest = vec![false; self.hops.len()];
        let mut acks_per_bit: f64 = 0.0;
        for flow in self.scenario.flows.entries() {
            let crossed = self.scenario.crossed(flow);
            if !crossed.contains(&position) {
                continue;
            }
            if let Some((index, _)) = self.slowest(&crossed) {
                slowest[index] = true;
            }
            if let SourceSpec::Tcp(spec) = &flow.source {
                acks_per_bit = acks_per_bit.max(acks_per_bit_of(&spec.options));
            }
        }
        let rates = self.hops.iter().zip(slowest).filter(|(_, is_slowest)| *is_slowest);
        let mut data_bps: f64 = rates.map(|(hop, _)| hop.link.rate_bps as f64).sum();
        if let Some(own) = self.hops.iter().find(|hop| hop.position == position) {
            data_bps = data_bps.min(own.link.rate_bps as f64);
        }
        (data_bps, data_bps * acks_per_bit)
    }

    /// Returns the slowest link of a route: index and rate in bit/s.
    fn slowest(&self, crossed: &RangeInclusive<usize>) -> Option<(usize, f64)> {
        let on_route =
            self.hops.iter().enumerate().filter(|(_, hop)| crossed.contains(&hop.position));
        let slowest = on_route.min_by_key(|(_, hop)| hop.link.rate_bps);
        slowest.map(|(index, hop)| (index, hop.link.rate_bps as f64))
    }

    /// Rejects hops where data wait on a wire, or ACKs wait or are lost.
    pub(super) fn check_hops(&self, reasons: &mut Reasons) {
        for (position, hop) in self.scenario.hops.iter().enumerate() {
            let side = if hop.is_mirrored() || hop.down.is_none() { "" } else { "up" };
            if let Some(wire) = &hop.wire {
                let checked = self.check_wire(position, wire);
                reasons
                    .keep(checked.map_err(|reason| under_hop(reason.under("wire"), &hop.name, "")));
            }
            if hop.up.is_some() && self.ack_bps[position] > 0.0 {
                let checked = self.check_acks(position);
                reasons.keep(checked.map_err(|reason| under_hop(reason, &hop.name, side)));
            }
        }
    }

    fn check_wire(&self, position: usize, wire: &WireSpec) -> Result<(), Reason> {
        no_limit(wire)?;
        let Some(rate_bps) = wire.rate_bps else { return Ok(()) };
        let least = self.data_bps[position].max(SPARE_FOR_ACKS * self.ack_bps[position]);
        faster(rate_bps, least, "rate")
    }

    /// Rejects an upward link that is slower than twice the rate of the ACKs, loses ACKs, or has a
    /// short queue.
    fn check_acks(&self, position: usize) -> Result<(), Reason> {
        let Some(up) = self.scenario.hops[position].up() else { return Ok(()) };
        let link = fixed_link(&up).map_err(|reason| reason.under("link"))?;
        let least = SPARE_FOR_ACKS * self.ack_bps[position];
        if (link.rate_bps as f64) < least {
            let covered = format!("twice the rate of the ACKs, {least:.0} bit/s");
            let value = format!("{} bit/s", link.rate_bps);
            return Err(Reason::not_covered("link.rate", value, covered));
        }
        if link.loss > ACK_LOSSES {
            let covered = format!("ACKs of which at most {:.0} % are lost", 100.0 * ACK_LOSSES);
            return Err(Reason::not_covered("link.loss", link.loss, covered));
        }
        match packet_limit(up.queues).filter(|limit| *limit < ACK_QUEUE) {
            None => Ok(()),
            Some(limit) => {
                let covered = format!("a queue for {ACK_QUEUE} ACKs and more");
                Err(Reason::not_covered("aqm.limit", limit, covered))
            }
        }
    }

    /// Returns the round-trip time of a TCP flow without queueing and transmission at the data
    /// hops, s.
    pub(super) fn base_rtt_s(&self, flow: &FlowSpec, options: &TcpConfig) -> Result<f64, Reason> {
        let packet_bits = 8.0 * f64::from(options.mss + options.whole_header());
        let ack = Bytes(u64::from(options.whole_header()));
        self.check_data_wires(flow)?;
        let ack_bps = self.slowest_bps(flow) * acks_per_bit_of(options);
        let ack_access = flow.ack_access.unwrap_or_default();
        for (wire, key) in [(ack_access, "ack_access.rate"), (flow.return_wire, "return_wire.rate")]
        {
            wire.rate_bps.map_or(Ok(()), |rate| faster(rate, SPARE_FOR_ACKS * ack_bps, key))?;
        }
        let sent_s =
            |wire: &WireSpec, bits: f64| wire.rate_bps.map_or(0.0, |rate| bits / rate as f64);
        let ack_bits = 8.0 * ack.0 as f64;
        let wires_s: f64 = flow.wires().iter().map(|(_, wire)| wire.delay_ns as f64 * 1e-9).sum();
        let own_s = sent_s(&flow.access, packet_bits)
            + sent_s(&flow.egress, packet_bits)
            + sent_s(&ack_access, ack_bits)
            + sent_s(&flow.return_wire, ack_bits);
        let mut hops_s = 0.0;
        for hop in &self.scenario.hops[self.scenario.crossed(flow)] {
            let delays = Direction::BOTH.map(|direction| delay_s(hop.delay(direction)));
            hops_s += delays.iter().sum::<f64>();
            if let Some(wire) = &hop.wire {
                hops_s += sent_s(wire, packet_bits) + sent_s(wire, ack_bits);
            }
            if let Some(up) = hop.up()
                && let Ok(link) = fixed_link(&up)
            {
                hops_s += ack_bits / rate_of_packets_bps(link.rate_bps, link.framing, ack)?;
            }
        }
        Ok(wires_s + own_s + hops_s)
    }

    /// Rejects a datagram flow whose wires are slower than the path.
    pub(super) fn check_datagrams(&self, flow: &FlowSpec) -> Result<(), Reason> {
        self.check_data_wires(flow)
    }

    fn slowest_bps(&self, flow: &FlowSpec) -> f64 {
        self.slowest(&self.scenario.crossed(flow)).map_or(0.0, |(_, rate_bps)| rate_bps)
    }

    fn check_data_wires(&self, flow: &FlowSpec) -> Result<(), Reason> {
        no_limits(flow)?;
        let Some((_, slowest_bps)) = self.slowest(&self.scenario.crossed(flow)) else {
            let value = flow.hops.as_ref().map(|hops| hops.join(" to ")).unwrap_or_default();
            return Err(Reason::not_covered(
                "hops",
                value,
                "routes with at least one link for data",
            ));
        };
        for (wire, key) in [(flow.access, "access.rate"), (flow.egress, "egress.rate")] {
            wire.rate_bps.map_or(Ok(()), |rate| faster(rate, slowest_bps, key))?;
        }
        Ok(())
    }
}

/// Returns the rate of ACKs as a share of the rate of data packets.
fn acks_per_bit_of(options: &TcpConfig) -> f64 {
    let packet = f64::from(options.mss + options.whole_header());
    f64::from(options.whole_header()) / packet / f64::from(options.delayed_ack_segments)
}

/// Rejects a wire with a rate of at most `least_bps`.
fn faster(rate_bps: u64, least_bps: f64, key: &str) -> Result<(), Reason> {
    if rate_bps as f64 > least_bps {
        return Ok(());
    }
    let covered = format!("a wire where no packets wait, faster than {least_bps:.0} bit/s");
    Err(Reason::not_covered(key, format!("{rate_bps} bit/s"), covered))
}
