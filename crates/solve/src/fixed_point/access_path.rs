//! Computes the round-trip time of each flow without queueing and transmission at the bottleneck.
//!
//! Covered: propagation delays anywhere; transmission on wires, on the backhaul and on the ACK
//! path, if these are so fast that no packet waits there.

use crate::dumbbell::DumbbellScenario;
use crate::preconditions::{delay_s, no_limit, no_limits};
use crate::reasons::{Reason, Reasons};
use airpath_core::Bytes;
use airpath_model::Regime;
use airpath_path::{FlowSpec, WireSpec};
use airpath_tcp::TcpConfig;
use serde_json::Value;

/// Minimum ratio of the rate of a hop to the rate of the ACKs. With a ratio of 2 or more, ACKs
/// rarely wait.
pub(crate) const SPARE_FOR_ACKS: f64 = 2.0;
/// Maximum ACK loss that the model ignores: a loss of 1 % costs at most 0.5 % of the rate.
pub(crate) const ACK_LOSSES: f64 = 0.01;
/// Minimum capacity of a drop-tail queue on the ACK path, packets: space for a burst of ACKs.
pub(crate) const ACK_QUEUE: u64 = 10;

/// Sizes and rates that are used to check whether a hop is fast enough.
pub(crate) struct AccessPath {
    packet: f64,
    ack: f64,
    /// Maximum rate of IP packets on the bottleneck's link, bit/s.
    fastest_bps: f64,
    /// Number of packets that one ACK acknowledges.
    delayed: f64,
}

impl AccessPath {
    pub(crate) fn new(options: &TcpConfig, regimes: &[Regime]) -> AccessPath {
        AccessPath {
            packet: f64::from(options.mss + options.whole_header()),
            ack: f64::from(options.whole_header()),
            fastest_bps: regimes.iter().map(|regime| regime.rate_bps).fold(0.0, f64::max),
            delayed: f64::from(options.delayed_ack_segments),
        }
    }

    /// Computes the round-trip propagation and transmission delay of each flow, without the
    /// transmission on the bottleneck's link, s. A delay that the model does not cover counts as 0,
    /// and its reason is stored.
    pub(crate) fn base_rtts_s(
        &self,
        scenario: &DumbbellScenario,
        ack_regime: impl Fn(&Value, Bytes) -> Result<Regime, Reason>,
        reasons: &mut Reasons,
    ) -> Vec<f64> {
        let acks_s = reasons.keep(self.ack_path_s(scenario, ack_regime)).unwrap_or_default();
        let backhaul_s = reasons.keep(self.backhaul_s(scenario)).unwrap_or_default();
        let shared_s = delay_s(scenario.forward_delay()) + acks_s + backhaul_s;
        let flows = scenario.flows.iter().enumerate();
        let rtts_s = flows.map(|(number, flow)| {
            let wires_s = reasons.keep_of_flow((number, flow.group), self.wires_s(flow));
            wires_s.unwrap_or_default() + shared_s
        });
        rtts_s.collect()
    }

    /// Returns the transmission time of a data packet on a hop, s.
    fn data_s(&self, wire: &WireSpec, field: &str, hop: &str) -> Result<f64, Reason> {
        let Some(rate_bps) = wire.rate_bps.map(|rate| rate as f64) else { return Ok(0.0) };
        if rate_bps <= self.fastest_bps {
            let covered = format!("{hop} that is faster than the bottleneck's link");
            return Err(Reason::not_covered(field, format!("{rate_bps} bit/s"), covered));
        }
        Ok(8.0 * self.packet / rate_bps)
    }

    /// Returns the transmission time of an ACK on a hop of the ACK path, s.
    fn acks_s(&self, rate_bps: f64, field: &str) -> Result<f64, Reason> {
        let ack_bps = self.fastest_bps / self.packet / self.delayed * self.ack;
        if rate_bps < SPARE_FOR_ACKS * ack_bps {
            let covered =
                format!("twice the rate of the ACKs, {:.0} bit/s", SPARE_FOR_ACKS * ack_bps);
            return Err(Reason::not_covered(field, format!("{rate_bps} bit/s"), covered));
        }
        Ok(8.0 * self.ack / rate_bps)
    }

    /// Returns the two-way propagation and transmission delay over the flow's own wires, s.
    fn wires_s(&self, flow: &FlowSpec) -> Result<f64, Reason> {
        no_limits(flow)?;
        let delays_s: f64 = flow.wires().iter().map(|(_, wire)| wire.delay_ns as f64 * 1e-9).sum();
        let forward_s = self.data_s(&flow.access, "access.rate", "a wire")?
            + self.data_s(&flow.egress, "egress.rate", "a wire")?;
        let back_s = |wire: &WireSpec, field| match wire.rate_bps {
            Some(rate_bps) => self.acks_s(rate_bps as f64, field),
            None => Ok(0.0),
        };
        let to_link_s = back_s(&flow.ack_access.unwrap_or_default(), "ack_access.rate")?;
        Ok(delays_s + forward_s + to_link_s + back_s(&flow.return_wire, "return_wire.rate")?)
    }

    /// Returns the delay of the backhaul in a round trip, s.
    fn backhaul_s(&self, scenario: &DumbbellScenario) -> Result<f64, Reason> {
        let Some(backhaul) = &scenario.backhaul else { return Ok(0.0) };
        no_limit(backhaul).map_err(|reason| reason.under("backhaul"))?;
        let forward_s = self.data_s(backhaul, "backhaul.rate", "a backhaul")?;
        let back_s = backhaul.rate_bps.map_or(0.0, |rate| 8.0 * self.ack / rate as f64);
        Ok(2.0 * backhaul.delay_ns as f64 * 1e-9 + forward_s + back_s)
    }

    /// Returns the delay of the shared ACK path in a round trip, s, for an empty queue.
    fn ack_path_s(
        &self,
        scenario: &DumbbellScenario,
        regime: impl Fn(&Value, Bytes) -> Result<Regime, Reason>,
    ) -> Result<f64, Reason> {
        let Some((link, queue, delay)) = scenario.ack_hop() else { return Ok(0.0) };
        let under = |reason: Reason| reason.under("link").under("ack_path");
        let empty = regime(link, Bytes(self.ack as u64)).map_err(under)?;
        if empty.per > ACK_LOSSES {
            let covered = format!("ACKs of which at most {:.0} % are lost", 100.0 * ACK_LOSSES);
            return Err(under(Reason::not_covered("loss", empty.per, covered)));
        }
        let limit =
            queue.get("limit").and_then(|limit| limit.get("packets")).and_then(Value::as_u64);
        if let Some(limit) = limit.filter(|limit| *limit < ACK_QUEUE) {
            let covered = format!("a queue for {ACK_QUEUE} ACKs and more");
            return Err(Reason::not_covered("ack_path.aqm.limit", limit, covered));
        }
        Ok(delay_s(delay) + self.acks_s(empty.rate_bps, "rate").map_err(under)?)
    }
}
