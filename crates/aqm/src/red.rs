//! RED: random drops with a probability that depends on the average queue length.
//!
//! Source: Floyd & Jacobson 1993; the drop probability is in `red_dropper.rs`. Not implemented:
//! queue lengths in bytes, and the variants Feng RED and nonlinear RED.

use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState};
use crate::red_dropper::{RedDropper, RedSettings, RedVariant, RedVerdict};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, LinkRate, Packet, Setup,
    Stream, Time, at_least,
};
use serde::Deserialize;

/// Configuration set by the user. The value of a null parameter is derived from the link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedConfig {
    /// Maximum number of packets, waiting or held by the link. At least 1.
    pub limit: usize,
    /// Threshold min_th, packets. At least 0.
    pub min_th: Option<f64>,
    /// Threshold max_th, packets. Above `min_th`.
    pub max_th: Option<f64>,
    /// Probability max_p, in [0, 1].
    pub max_p: f64,
    /// Weight w_q of the average, in (0, 1].
    pub weight: Option<f64>,
    /// Queueing delay from which `min_th` is computed if it is null, ns.
    pub target_delay_ns: u64,
    /// Mean packet size, for the conversion of the link's rate to packets per second. At least 1.
    pub mean_packet_bytes: u64,
    /// If set, the drop probability rises linearly from max_p at max_th to 1 at twice max_th.
    /// Otherwise it is 1 from max_th.
    pub gentle: bool,
    /// If set, at least 1/p_b arrivals lie between two drops (p_b: drop probability of the RED
    /// curve).
    pub wait: bool,
    /// Mark ECN-capable packets instead of dropping them, unless the drop is forced.
    #[serde(default)]
    pub ecn: bool,
    /// If set, ECN-capable packets are dropped if p_b is 1. If not set, they are always marked.
    #[serde(default = "yes")]
    pub hard_drop: bool,
    /// Variant of RED: determines which arrivals are exempt from random drops, and how arrivals are
    /// counted.
    #[serde(default)]
    pub variant: RedVariant,
}

const fn yes() -> bool {
    true
}

/// A first-in-first-out queue under RED.
#[derive(Clone, Debug)]
pub struct Red {
    limit: usize,
    ecn: bool,
    hard_drop: bool,
    dropper: RedDropper,
    fifo: Fifo,
}

impl RedConfig {
    fn settings(&self) -> RedSettings {
        RedSettings {
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: self.max_p,
            weight: self.weight,
            target_delay: Duration::from_nanos(self.target_delay_ns),
            mean_packet: Bytes(self.mean_packet_bytes),
            gentle: self.gentle,
            wait: self.wait,
            variant: self.variant,
        }
    }

    /// Rejects values outside their ranges, and thresholds that contradict each other.
    pub(crate) fn check(&self, checks: &mut Checks) {
        checks.within("limit", self.limit, at_least(1_u64));
        self.settings().check(checks);
    }
}

impl Red {
    /// Creates an empty queue from a valid `config`. `stream` is the source of the random drops.
    pub fn new(config: RedConfig, stream: Stream) -> Red {
        let dropper = RedDropper::new(config.settings(), stream);
        let RedConfig { limit, ecn, hard_drop, .. } = config;
        Red { limit, ecn, hard_drop, dropper, fifo: Fifo::default() }
    }

    /// Dropper of this queue.
    pub fn dropper(&self) -> &RedDropper {
        &self.dropper
    }

    /// Dropper of this queue, writable. ARED adapts its max_p.
    pub fn dropper_mut(&mut self) -> &mut RedDropper {
        &mut self.dropper
    }

    /// Notifies the dropper that the queue is idle, if no packet waits and the link holds no
    /// packet.
    #[inline]
    fn note_idle(&mut self, now: Time) {
        if self.fifo.occupancy() == 0 {
            self.dropper.on_idle(now);
        }
    }
}

impl<T: ?Sized> Component<T> for Red {
    type Config = RedConfig;

    fn check(config: &RedConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.check(&mut checks);
        checks.finish()
    }

    fn build(config: RedConfig, setup: Setup<'_, T>) -> Result<Red, ConfigError> {
        Ok(Red::new(config, setup.seed.stream()))
    }
}

impl QueueDisc for Red {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let occupancy = self.fifo.occupancy();
        let verdict = self.dropper.on_arrival(occupancy, ctx.now);
        if occupancy >= self.limit {
            self.dropper.on_overflow();
            return ctx.drop(*packet, DropReason::Overflow);
        }
        let is_marked = match verdict {
            RedVerdict::Admit => false,
            RedVerdict::Forced if self.hard_drop => return ctx.drop(*packet, DropReason::Early),
            _ if self.ecn && packet.ecn.is_capable() => true,
            RedVerdict::Early | RedVerdict::Forced => return ctx.drop(*packet, DropReason::Early),
        };
        self.dropper.on_queued();
        let place = self.fifo.push(packet, ctx.now);
        if is_marked {
            ctx.mark(place);
        }
    }

    fn on_bypass(&mut self, _packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        let occupancy = self.fifo.occupancy();
        self.dropper.average_in(occupancy, ctx.now);
        let is_let_in = occupancy < self.limit;
        if is_let_in {
            self.dropper.on_queued();
        }
        is_let_in
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let has_packet = self.fifo.pop_into(packet);
        if !has_packet {
            self.note_idle(ctx.now);
        }
        has_packet
    }

    fn on_rate(&mut self, rate: LinkRate, _ctx: &mut Ctx<'_>) {
        self.dropper.on_rate(rate.nominal);
    }

    #[inline]
    fn on_served(&mut self, _packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.note_idle(ctx.now);
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
        self.note_idle(ctx.now);
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        self.fifo.state()
    }
}

#[cfg(test)]
mod tests;
