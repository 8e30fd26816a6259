//! VCP's router: computes a load factor once per interval and signals it to senders in the two bits
//! of the ECN field.
//!
//! Source: Xia, Subramanian, Stoica & Kalyanaraman 2005, "One more bit is enough" (`vcp-2005`) §3,
//! with the rules of the authors' package for ns-2 (v0.1): the code is written at departure, only
//! into data packets, and never lowers the code in a packet. The load factor is in `load.rs`. Not
//! implemented: the variable target utilisation of v0.1, which later versions of the package do not
//! have.
//!
//! Differences from the package:
//! - The load is not rounded up to a full percentage before the comparison with the thresholds.
//! - A limit of n packets admits n packets (n - 1 in the package).
//! - Timers cause no events. The load is updated when a packet needs the load.
//! - ACKs are not sent ahead of data; `ack-priority` does so.

mod load;

use crate::air_fifo::AirFifo;
use crate::queue_disc::{QueueDisc, QueueState};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, Ecn, LinkRate, Packet,
    PacketKind, Series, Setup, Time, above, at_least,
};
use load::{LoadSettings, Meter};
pub use load::{VcpAverage, vcp_average_queue, vcp_code, vcp_load_factor};
use serde::Deserialize;

/// Source of the capacity C, which is the divisor of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcpCapacity {
    /// The link's nominal rate.
    Link,
    /// Measured rate of the link while it has packets to send: the sent bytes, divided by the time
    /// during which packets waited or were sent. Both values are decaying sums over the last
    /// intervals.
    Measured,
    /// Fixed rate in bit/s, at least 1, regardless of the link.
    Fixed(u64),
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VcpConfig {
    /// Maximum number of packets, waiting or held by the link. At least 1.
    pub limit: usize,
    /// Target utilisation γ, in (0, 1]; 0.98 in vcp-2005.
    pub target: f64,
    /// Time t_ρ between computations of the load factor, ns: a multiple of `sampling_ns`; 200 ms in
    /// vcp-2005.
    pub interval_ns: u64,
    /// Weight κ_q of the persistent queue, at least 0; 0.5 in vcp-2005.
    pub queue_weight: f64,
    /// Time t_q between samples of the queue length, ns. At least 1; 10 ms in vcp-2005.
    pub sampling_ns: u64,
    /// Load factor at which low load changes to high load, in (0, 1); 0.8 in vcp-2005.
    pub low: f64,
    /// Method for the average of the queue samples.
    pub average: VcpAverage,
    /// Source of the capacity C.
    pub capacity: VcpCapacity,
}

/// A first-in-first-out queue that writes the code of its load factor into departing packets.
#[derive(Clone, Debug)]
pub struct VcpQueue {
    limit: usize,
    capacity: VcpCapacity,
    fifo: AirFifo,
    meter: Meter,
    /// Number of packets that the link has dequeued but not yet sent or discarded, including
    /// bypassing packets. Counted only if the capacity is measured.
    taken: usize,
}

impl<T: ?Sized> Component<T> for VcpQueue {
    type Config = VcpConfig;

    fn check(config: &VcpConfig) -> Result<(), ConfigError> {
        let VcpConfig { interval_ns, sampling_ns, .. } = *config;
        let mut checks = Checks::default();
        checks.within("limit", config.limit, at_least(1_u64));
        checks.within("target", config.target, above(0.0).up_to(1.0));
        checks.within("queue_weight", config.queue_weight, at_least(0.0));
        checks.within("low", config.low, above(0.0).below(1.0));
        let is_sampled = checks.within("sampling_ns", sampling_ns, at_least(1_u64));
        let is_positive = checks.within("interval_ns", interval_ns, at_least(1_u64));
        if is_sampled && is_positive && interval_ns % sampling_ns != 0 {
            let nearest = interval_ns.saturating_add(sampling_ns / 2) / sampling_ns;
            let nearest = nearest.max(1).saturating_mul(sampling_ns);
            let problem = "not a multiple of sampling";
            checks.related("interval_ns", interval_ns, nearest..=nearest, problem);
        }
        if let VcpCapacity::Fixed(rate_bps) = config.capacity {
            checks.within("capacity.fixed", rate_bps, at_least(1_u64));
        }
        checks.finish()
    }

    fn build(config: VcpConfig, _setup: Setup<'_, T>) -> Result<VcpQueue, ConfigError> {
        let settings = LoadSettings {
            target: config.target,
            sampling: Duration::from_nanos(config.sampling_ns),
            samples: config.interval_ns / config.sampling_ns,
            queue_weight: config.queue_weight,
            low: config.low,
            average: config.average,
        };
        let is_measured = config.capacity == VcpCapacity::Measured;
        let capacity = match config.capacity {
            VcpCapacity::Fixed(rate) => rate as f64 / 8.0,
            VcpCapacity::Link | VcpCapacity::Measured => 0.0,
        };
        Ok(VcpQueue {
            limit: config.limit,
            capacity: config.capacity,
            fifo: AirFifo::default(),
            meter: Meter::new(settings, capacity, is_measured),
            taken: 0,
        })
    }
}

impl VcpQueue {
    /// Load factor ρ of the last interval; 0 before the end of the first interval.
    pub fn load_factor(&self) -> f64 {
        self.meter.load()
    }

    /// Code that is written into departing data packets. It signals low load before the end of the
    /// first interval.
    pub fn code(&self) -> Ecn {
        self.meter.code()
    }

    /// Updates the load to the current time. Must be called only before an input of the load
    /// changes, so that a poll of an empty queue has no effect.
    #[inline]
    fn advance(&mut self, ctx: &mut Ctx<'_>) {
        if self.meter.is_due(ctx.now) && self.meter.advance(self.fifo.occupied_on_air().0, ctx.now)
        {
            ctx.record(Series::LoadFactor, ctx.queue().0, self.meter.load());
        }
    }

    /// Counts an arrival before the drop decision. Returns its size on the air.
    #[inline]
    fn note_arrival(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> Bytes {
        self.advance(ctx);
        let cost = self.fifo.cost(packet);
        self.meter.note_arrival(cost.0);
        cost
    }

    /// Records the start or the end of a busy period.
    #[inline]
    fn note_work(&mut self, now: Time) {
        if self.meter.is_measuring() {
            self.meter.note_work(self.taken > 0 || !self.fifo.is_empty(), now);
        }
    }

    /// Writes the code into a departing data packet, if the packet is ECN-capable and its code is
    /// lower.
    #[inline]
    fn stamp(&self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        if packet.kind == PacketKind::Ack || !packet.ecn.is_capable() {
            return;
        }
        match (self.meter.code(), packet.ecn) {
            (Ecn::Ce, Ecn::Ect0 | Ecn::Ect1) => ctx.mark(packet),
            (Ecn::Ect0, Ecn::Ect1) => packet.ecn = Ecn::Ect0,
            _ => {}
        }
    }

    fn note_end(&mut self, now: Time) {
        self.taken = self.taken.saturating_sub(1);
        self.note_work(now);
    }
}

impl QueueDisc for VcpQueue {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let cost = self.note_arrival(packet, ctx);
        if self.fifo.occupancy() >= self.limit {
            return ctx.drop(*packet, DropReason::Overflow);
        }
        self.fifo.push(packet, cost, ctx.now);
        self.note_work(ctx.now);
    }

    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.note_arrival(packet, ctx);
        let is_let_in = self.fifo.occupancy() < self.limit;
        if is_let_in {
            self.taken += 1;
            self.note_work(ctx.now);
        }
        is_let_in
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if self.fifo.is_empty() {
            return false;
        }
        self.advance(ctx);
        self.fifo.pop_into(packet);
        self.taken += 1;
        self.stamp(packet, ctx);
        true
    }

    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        self.advance(ctx);
        self.fifo.set_framing(rate.framing);
        if !matches!(self.capacity, VcpCapacity::Fixed(_)) {
            self.meter.set_nominal(rate.nominal.0 as f64 / 8.0);
        }
    }

    #[inline]
    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        if self.meter.is_measuring() {
            self.advance(ctx);
            self.meter.note_served(self.fifo.cost(packet).0);
        }
        self.note_end(ctx.now);
    }

    fn on_lost(&mut self, _packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.meter.is_measuring() {
            self.advance(ctx);
        }
        self.note_end(ctx.now);
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        if !self.fifo.holds(packets, bytes) {
            self.advance(ctx);
            self.fifo.set_held(packets, bytes);
        }
    }

    /// Returns the mean and standard deviation of the load factor over the intervals, the share of
    /// intervals with each code, and the capacity if it is measured.
    fn measured(&self, now: Time) -> Vec<(&'static str, Option<f64>)> {
        let mut meter = self.meter.clone();
        meter.advance(self.fifo.occupied_on_air().0, now);
        meter.measured()
    }

    fn restart_measurement(&mut self, now: Time) {
        self.meter.advance(self.fifo.occupied_on_air().0, now);
        self.meter.restart_measurement();
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
