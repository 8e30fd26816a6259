//! CoDel: drops packets at the head of the queue if the sojourn time has stayed above a target for
//! an interval.
//!
//! Source: RFC 8289. The drop decision is in `codel_dropper.rs`. The RFC does not define the buffer
//! limit; here the limit is a number of packets.

use crate::codel_dropper::{CeThreshold, CodelDropper, CodelParameters};
use crate::queue_disc::{QueueDisc, QueueState};
use crate::timed_fifo::TimedFifo;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Packet, Setup, at_least,
};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelConfig {
    /// Maximum number of packets, waiting or held by the link. At least 1.
    pub limit: usize,
    /// TARGET, ns: the acceptable standing sojourn time. At least 1; 5 ms in RFC 8289 §4.4.
    pub target_ns: u64,
    /// INTERVAL, ns: about the largest RTT of the flows. At least 1; 100 ms in RFC 8289 §4.3.
    pub interval_ns: u64,
    /// Backlog up to which no packet is dropped, bytes: one MTU.
    pub mtu_bytes: u64,
    /// Mark ECN-capable packets instead of dropping them.
    #[serde(default)]
    pub ecn: bool,
    /// CE threshold of Linux: sojourn time above which ECN-capable packets are marked, ns. `None` in
    /// RFC 8289.
    #[serde(default)]
    pub ce_threshold_ns: Option<u64>,
    /// Apply the CE threshold only to packets with ECT(1).
    #[serde(default)]
    pub ce_threshold_ect1: bool,
}

/// A first-in-first-out queue under CoDel.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: usize,
    parameters: CodelParameters,
    dropper: CodelDropper,
    fifo: TimedFifo,
}

impl<T: ?Sized> Component<T> for Codel {
    type Config = CodelConfig;

    fn check(config: &CodelConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("limit", config.limit, at_least(1_u64));
        CodelParameters::check(config.target_ns, config.interval_ns, &mut checks);
        checks.finish()
    }

    fn build(config: CodelConfig, _setup: Setup<'_, T>) -> Result<Codel, ConfigError> {
        let CodelConfig { limit, target_ns, interval_ns, mtu_bytes, ecn, .. } = config;
        let threshold = CeThreshold::new(config.ce_threshold_ns, config.ce_threshold_ect1);
        let parameters = CodelParameters::new(target_ns, interval_ns, mtu_bytes, ecn, threshold);
        let (dropper, fifo) = (CodelDropper::default(), TimedFifo::default());
        Ok(Codel { limit, parameters, dropper, fifo })
    }
}

impl QueueDisc for Codel {
    #[inline]
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.fifo.occupancy() < self.limit {
            self.fifo.push(packet, ctx.now);
        } else {
            ctx.drop(*packet, DropReason::Overflow);
        }
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        self.dropper.dequeue_into(&self.parameters, &mut self.fifo, packet, ctx)
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        self.fifo.state()
    }

    fn on_bypass(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.fifo.occupancy() < self.limit
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }
}

#[cfg(test)]
mod tests;
