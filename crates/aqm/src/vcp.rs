//! VCP's router: a load factor once per interval, signalled to senders in the two bits of the ECN
//! field.
//!
//! Source: Xia, Subramanian, Stoica & Kalyanaraman 2005, "One more bit is enough" (`vcp-2005`) §3,
//! with the rules of the authors' package for ns-2 (v0.1): the code is stamped when a packet
//! leaves, on data only, and never lowers the code in the packet. The load factor is in `load.rs`.
//! Left out: the package's moving target utilisation, which its later copies have not.
//! Differs: thresholds without rounding the load up to a whole percentage; a limit of n packets holds
//! n (the package: n - 1). Timers cost no events: the load is brought up to date by the packets that
//! need it. The package sends ACKs ahead of data: here that is `ack-priority`.

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

/// C, what the load is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcpCapacity {
    /// The link's nominal rate.
    Link,
    /// Rate of the link while it has packets to send: bytes of completed services over the time in
    /// which anything waited or was served, of the last intervals.
    Measured,
    /// This many bit/s, at least 1, regardless of the link.
    Fixed(u64),
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VcpConfig {
    /// Most packets that may wait or be held by the link. At least 1.
    pub limit: usize,
    /// γ, target utilisation, in (0, 1]. vcp-2005: 0.98.
    pub target: f64,
    /// t_ρ, time between load factors, ns: a multiple of `sampling_ns`. vcp-2005: 200 ms.
    pub interval_ns: u64,
    /// κ_q, what of the persistent queue counts, at least 0. vcp-2005: 0.5.
    pub queue_weight: f64,
    /// t_q, time between samples of the queue, ns. At least 1; vcp-2005: 10 ms.
    pub sampling_ns: u64,
    /// Load from which on it is high, in (0, 1). vcp-2005: 0.8.
    pub low: f64,
    /// How the queue is averaged.
    pub average: VcpAverage,
    /// C.
    pub capacity: VcpCapacity,
}

/// A first-in-first-out queue that writes its load into what leaves.
#[derive(Clone, Debug)]
pub struct VcpQueue {
    limit: usize,
    capacity: VcpCapacity,
    fifo: AirFifo,
    meter: Meter,
    /// Packets that the link has taken and has neither sent nor discarded, or that passed by; kept
    /// when the capacity is measured.
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
    /// ρ of the last interval; 0 before the first has ended.
    pub fn load_factor(&self) -> f64 {
        self.meter.load()
    }

    /// The code that data leave with: low before the first interval has ended.
    pub fn code(&self) -> Ecn {
        self.meter.code()
    }

    /// Brings the load up to now. It is called before what it rests on changes, and at no other
    /// time: a link that calls an empty queue changes nothing.
    #[inline]
    fn advance(&mut self, ctx: &mut Ctx<'_>) {
        if self.meter.is_due(ctx.now) && self.meter.advance(self.fifo.occupied_on_air().0, ctx.now)
        {
            ctx.record(Series::LoadFactor, ctx.queue().0, self.meter.load());
        }
    }

    /// Counts an arrival before it is decided whether it is dropped; returns its cost on the air.
    #[inline]
    fn note_arrival(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> Bytes {
        self.advance(ctx);
        let cost = self.fifo.cost(packet);
        self.meter.note_arrival(cost.0);
        cost
    }

    /// Records the start or the end of work.
    #[inline]
    fn note_work(&mut self, now: Time) {
        if self.meter.is_measuring() {
            self.meter.note_work(self.taken > 0 || !self.fifo.is_empty(), now);
        }
    }

    /// Writes the code into a packet that leaves: on capable data that say less.
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

    /// Mean and standard deviation of the load factor over the intervals, the share of those with each
    /// code, and the capacity, where it is measured.
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
