//! REM: marks or drops packets by a price that rises with the backlog and with the excess of the
//! arrival rate over the capacity.
//!
//! Source: Athuraliya, Li, Low & Yin 2001, "REM: active queue management", with the parameters and
//! the rules of ns-2.35 (`queue/rem.cc`): marks at departure, drops at arrival. Not implemented:
//! the low-pass filter of the arrival rate (`inw_` in ns-2; its value 1 disables the filter).
//!
//! Differences:
//! - A limit of n packets admits n packets; in ns-2 it admits n - 1 packets.
//! - A limit in bytes is given in bytes; in ns-2 it is given as a number of mean packets.
//! - The timer causes no events. The price is updated in closed form when a packet needs the price,
//!   so that an empty queue needs no computation.

use crate::air_fifo::AirFifo;
use crate::droptail::Limit;
use crate::queue_disc::{QueueDisc, QueueState};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, LinkRate, Packet, Series,
    Setup, Stream, Time, above, at_least,
};
use serde::Deserialize;

/// Unit of the backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemMode {
    /// Bytes on the air, divided by the mean packet size on the air. The probability of a mark or
    /// drop is proportional to the packet size.
    Bytes,
    /// Packets, regardless of their size.
    Packets,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemConfig {
    /// Maximum number of packets or bytes, waiting or held by the link. At least 1.
    pub limit: Limit,
    /// Target backlog b*, in packets of mean size; 20 in ns-2.
    pub target: u64,
    /// Gain γ, above 0; 0.001 in ns-2.
    pub gamma: f64,
    /// Weight α of the backlog, at least 0; 0.1 in ns-2.
    pub alpha: f64,
    /// Base φ of the probability, above 1; 1.001 in ns-2.
    pub phi: f64,
    /// Time T between updates of the price, ns. At least 1; 2 ms in ns-2.
    pub update_ns: u64,
    /// Mean size of an IP packet, bytes. At least 1.
    pub mean_packet_bytes: u64,
    /// Unit of the backlog.
    pub mode: RemMode,
    /// If set, ECN-capable packets are marked at departure, and packets are dropped only if the
    /// queue is full.
    #[serde(default)]
    pub ecn: bool,
}

/// Constants of the price update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemGains {
    /// Gain γ: step size of the price.
    pub gamma: f64,
    /// Weight α of the backlog, relative to the excess of arrivals over the capacity.
    pub alpha: f64,
    /// Target backlog b*, packets.
    pub target: f64,
}

impl RemGains {
    /// Returns the change of the price in an update: γ (x − c + α (b − b*)). `arrived` x and
    /// `capacity` c are in packets per update interval; `queue` b is in packets.
    fn step(&self, arrived: f64, capacity: f64, queue: f64) -> f64 {
        self.gamma * (arrived - capacity + self.alpha * (queue - self.target))
    }
}

/// Returns the price after an update: p ← [p + γ (x − c + α (b − b*))]⁺. `arrived` x and `capacity`
/// c are in packets per update interval; `queue` b is in packets.
pub fn rem_next_price(
    price: f64,
    arrived: f64,
    capacity: f64,
    queue: f64,
    gains: &RemGains,
) -> f64 {
    (price + gains.step(arrived, capacity, queue)).max(0.0)
}

/// Returns the price after `updates` updates without arrivals at a constant backlog, and the sum of
/// the prices after each of these updates. Each update changes the price by the same step; the
/// price is at least 0.
pub fn rem_idle_price(
    price: f64,
    updates: u64,
    capacity: f64,
    queue: f64,
    gains: &RemGains,
) -> (f64, f64) {
    let step = gains.step(0.0, capacity, queue);
    let count = updates as f64;
    let above_zero = if step < 0.0 { libm::floor(price / -step).min(count) } else { count };
    let sum = above_zero * price + step * above_zero * (above_zero + 1.0) / 2.0;
    ((price + count * step).max(0.0), sum.max(0.0))
}

/// Returns 1 − φ^(−p), the probability that a packet of mean size is marked or dropped.
pub fn rem_probability(price: f64, phi: f64) -> f64 {
    -libm::expm1(-price * libm::log(phi))
}

/// Price and its update timer. The timer is checked only when a packet changes the state.
#[derive(Clone, Copy, Debug)]
struct Price {
    gains: RemGains,
    update: Duration,
    /// Capacity c T, packets per update interval.
    capacity: f64,
    /// Mean packet size in the unit of `arrived` and of the queue length.
    unit: f64,
    value: f64,
    /// Time of the next update.
    next: Time,
    /// Arrivals since the last update, packets or bytes on the air.
    arrived: u64,
    /// Sum of the prices after the updates since the start of measurement.
    sum: f64,
    updates: u64,
}

impl Price {
    /// Performs all updates that are due by `now`, at least one. `queue` is the queue length since
    /// the last update. If an update and an arrival have the same time, the update is performed
    /// first.
    fn make_updates(&mut self, queue: u64, now: Time) {
        let queue = queue as f64 / self.unit;
        let arrived = self.arrived as f64 / self.unit;
        self.value = rem_next_price(self.value, arrived, self.capacity, queue, &self.gains);
        self.arrived = 0;
        self.sum += self.value;
        let period = self.update.as_nanos();
        let further = now.saturating_since(self.next).as_nanos() / period;
        if further > 0 {
            let (price, sum) =
                rem_idle_price(self.value, further, self.capacity, queue, &self.gains);
            self.value = price;
            self.sum += sum;
        }
        self.updates += 1 + further;
        let passed = (further + 1).saturating_mul(period);
        self.next = Time::from_nanos(self.next.as_nanos().saturating_add(passed));
    }

    fn restart_measurement(&mut self) {
        (self.sum, self.updates) = (0.0, 0);
    }
}

/// A first-in-first-out queue under REM.
#[derive(Clone, Debug)]
pub struct Rem {
    config: RemConfig,
    stream: Stream,
    fifo: AirFifo,
    price: Price,
    /// Probability of a mark or drop at the current price: `probability` for a packet of mean size,
    /// `per_byte` for each byte of a packet.
    probability: f64,
    per_byte: f64,
}

impl<T: ?Sized> Component<T> for Rem {
    type Config = RemConfig;

    fn check(config: &RemConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.limit.check(&mut checks);
        checks.within("update_ns", config.update_ns, at_least(1_u64));
        checks.within("mean_packet_bytes", config.mean_packet_bytes, at_least(1_u64));
        checks.within("gamma", config.gamma, above(0.0));
        checks.within("alpha", config.alpha, at_least(0.0));
        checks.within("phi", config.phi, above(1.0));
        checks.finish()
    }

    fn build(config: RemConfig, setup: Setup<'_, T>) -> Result<Rem, ConfigError> {
        let RemConfig { target, gamma, alpha, update_ns, .. } = config;
        let update = Duration::from_nanos(update_ns);
        let price = Price {
            gains: RemGains { gamma, alpha, target: target as f64 },
            update,
            capacity: 0.0,
            unit: 1.0,
            value: 0.0,
            next: Time::ZERO + update,
            arrived: 0,
            sum: 0.0,
            updates: 0,
        };
        let stream = setup.seed.stream();
        Ok(Rem { config, stream, fifo: AirFifo::default(), price, probability: 0.0, per_byte: 0.0 })
    }
}

impl Rem {
    /// Price p at the last update.
    pub fn price(&self) -> f64 {
        self.price.value
    }

    /// Backlog b, in bytes on the air or in packets.
    #[inline]
    fn queue(&self) -> u64 {
        match self.config.mode {
            RemMode::Bytes => self.fifo.occupied_on_air().0,
            RemMode::Packets => self.fifo.occupancy() as u64,
        }
    }

    /// Performs the updates that are due. Must be called only before an input of the price changes,
    /// so that a poll of an empty queue has no effect.
    #[inline]
    fn advance(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now >= self.price.next {
            self.update(ctx.now);
            ctx.record(Series::Price, ctx.queue().0, self.price.value);
        }
    }

    #[inline(never)]
    fn update(&mut self, now: Time) {
        self.price.make_updates(self.queue(), now);
        self.probability = rem_probability(self.price.value, self.config.phi);
        self.per_byte = self.probability / self.config.mean_packet_bytes as f64;
    }

    /// Counts an arrival before the drop decision. Returns its size on the air.
    #[inline]
    fn note_arrival(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> Bytes {
        self.advance(ctx);
        let cost = self.fifo.cost(packet);
        self.price.arrived += match self.config.mode {
            RemMode::Bytes => cost.0,
            RemMode::Packets => 1,
        };
        cost
    }

    /// Returns true if this packet must be marked or dropped; the decision is random.
    #[inline]
    fn is_selected(&mut self, packet: &Packet) -> bool {
        let probability = match self.config.mode {
            RemMode::Packets => self.probability,
            RemMode::Bytes => self.per_byte * f64::from(packet.size),
        };
        self.stream.bernoulli(probability)
    }

    fn has_space_for(&self, packet: &Packet) -> bool {
        let (occupancy, occupied) = (self.fifo.occupancy(), self.fifo.occupied_bytes());
        self.config.limit.admits(packet, occupancy, occupied)
    }
}

impl QueueDisc for Rem {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let cost = self.note_arrival(packet, ctx);
        if !self.has_space_for(packet) {
            return ctx.drop(*packet, DropReason::Overflow);
        }
        if !self.config.ecn && self.is_selected(packet) {
            return ctx.drop(*packet, DropReason::Early);
        }
        self.fifo.push(packet, cost, ctx.now);
    }

    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.note_arrival(packet, ctx);
        self.has_space_for(packet)
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if self.fifo.is_empty() {
            return false;
        }
        self.advance(ctx);
        self.fifo.pop_into(packet);
        if self.config.ecn && packet.ecn.is_capable() && self.is_selected(packet) {
            ctx.mark(packet);
        }
        true
    }

    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        self.advance(ctx);
        self.fifo.set_framing(rate.framing);
        let mean = Bytes(self.config.mean_packet_bytes);
        self.price.capacity = rate.packets_per_second(mean) * self.price.update.as_secs_lossy();
        self.price.unit = match self.config.mode {
            RemMode::Bytes => rate.framing.on_air(mean).0 as f64,
            RemMode::Packets => 1.0,
        };
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        if !self.fifo.holds(packets, bytes) {
            self.advance(ctx);
            self.fifo.set_held(packets, bytes);
        }
    }

    /// Returns the mean price over the updates.
    fn measured(&self, now: Time) -> Vec<(&'static str, Option<f64>)> {
        let mut price = self.price;
        if now >= price.next {
            price.make_updates(self.queue(), now);
        }
        let mean = (price.updates > 0).then(|| price.sum / price.updates as f64);
        vec![("rem_price", mean)]
    }

    fn restart_measurement(&mut self, now: Time) {
        if now >= self.price.next {
            self.update(now);
        }
        self.price.restart_measurement();
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
