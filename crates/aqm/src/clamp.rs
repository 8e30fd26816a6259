//! CLAMP's router agent around any discipline: it writes a price into each packet that leaves.
//!
//! Source: Andrew, Hanly and Mukhtar 2008, §4.1 and Eq. 13. The queue counts whole packets: those that
//! wait, those that the link has taken and has not served or given up, and the one that arrives.
//! Chosen where the paper is silent: the output rate is a decaying count of bytes that left, with the
//! same time constant as the queue's average and corrected for the short past; there is no price before
//! the first departure.

use crate::fifo::dequeues_in_place;
use crate::queue_disc::QueueDisc;
use crate::registry::AnyQueue;
use airpath_core::{
    Bytes, ConfigError, Ctx, Duration, Packet, PacketKind, Part, Series, Setup, Time,
};
use serde::Deserialize;
use serde_json::Value;

/// What the user sets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampConfig {
    /// a, bytes, from 0: what of the averaged queue costs nothing.
    pub a_bytes: u64,
    /// b, above 0: how steeply the price rises. The paper: 1.
    pub b: f64,
    /// Time constant of the averages, ns, at least 1. The paper: 0.5 s.
    pub time_constant_ns: u64,
    /// Time constant of the output rate, ns, at least 1; the paper does not say.
    pub rate_time_constant_ns: u64,
    /// The discipline inside: `{"kind": …}`.
    pub inner: Value,
}

/// q(n) after an arrival that finds the queue at `queue` bytes, `since` after the one before (§4.1).
pub fn clamp_average_queue(
    average: f64,
    queue: f64,
    since: Duration,
    time_constant: Duration,
) -> f64 {
    let kept = libm::exp(-(since.as_secs_lossy() / time_constant.as_secs_lossy()));
    kept * average + (1.0 - kept) * queue
}

/// The price of Eq. 13 with b, s: `average` and `a` in bytes, `rate` in bytes/s.
pub fn clamp_price(average: f64, a: f64, b: f64, rate: f64) -> f64 {
    if rate > 0.0 { ((b * average - a) / rate).max(0.0) } else { 0.0 }
}

/// A rate as a count of bytes that decays with time.
#[derive(Clone, Copy, Debug)]
pub struct DecayingRate {
    /// 1/s.
    decay: f64,
    /// Decayed bytes at `last`.
    bytes: f64,
    last: Time,
    /// When the first bytes came; [`Time::NEVER`] before.
    began: Time,
}

impl DecayingRate {
    /// A rate that nothing has been counted for, with this time constant, above zero.
    pub fn new(time_constant: Duration) -> DecayingRate {
        let decay = 1.0 / time_constant.as_secs_lossy();
        DecayingRate { decay, bytes: 0.0, last: Time::ZERO, began: Time::NEVER }
    }

    /// Counts `bytes` at `now`.
    pub fn count(&mut self, bytes: Bytes, now: Time) {
        if self.began.is_never() {
            // What came before the first departure is no part of the past that is averaged.
            (self.began, self.last) = (now, now);
            return;
        }
        let kept = libm::exp(-self.decay * now.saturating_since(self.last).as_secs_lossy());
        self.bytes = self.bytes * kept + bytes.0 as f64;
        self.last = now;
    }

    /// The rate at the last count, bytes/s; 0 before the second count at a later time.
    pub fn per_second(&self) -> f64 {
        let past = self.decay * self.last.saturating_since(self.began).as_secs_lossy();
        let covered = -libm::expm1(-past);
        if covered > 0.0 { self.bytes * self.decay / covered } else { 0.0 }
    }
}

/// Sums of what is measured.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    queue: Sum,
    price: Sum,
    rate: Sum,
}

/// A sum and a count.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    total: f64,
    count: u64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.total += value;
        self.count += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.total / self.count as f64)
    }
}

/// A discipline whose packets leave with a price.
pub struct Clamp {
    inner: AnyQueue,
    a: f64,
    b: f64,
    time_constant: Duration,
    /// Bytes that the link has taken and has neither served nor given up.
    taken: Bytes,
    /// q, bytes.
    average: f64,
    /// When the last packet arrived; [`Time::NEVER`] before the first.
    last_arrival: Time,
    rate: DecayingRate,
    measured: Measured,
}

type QueueSetup<'a> = Setup<'a, dyn QueueDisc + Send>;

impl Part<dyn QueueDisc + Send> for Clamp {
    type Config = ClampConfig;

    fn build(config: ClampConfig, setup: QueueSetup<'_>) -> Result<Clamp, ConfigError> {
        let ClampConfig { a_bytes, b, time_constant_ns, rate_time_constant_ns, inner } = config;
        if !(b > 0.0 && b.is_finite()) {
            return Err(ConfigError::new("b", b, "not positive. Write, say, 1"));
        }
        for (field, value) in [
            ("time_constant_ns", time_constant_ns),
            ("rate_time_constant_ns", rate_time_constant_ns),
        ] {
            if value == 0 {
                return Err(ConfigError::new(field, 0, "not positive. Write at least 1"));
            }
        }
        if prices(&inner) {
            let problem = "a clamp queue inside a clamp queue. Write one of them";
            return Err(ConfigError::new("kind", "clamp", problem).under("inner"));
        }
        let inner = AnyQueue::build(&inner, setup).map_err(|error| error.under("inner"))?;
        Ok(Clamp {
            inner,
            a: a_bytes as f64,
            b,
            time_constant: Duration::from_nanos(time_constant_ns),
            taken: Bytes::ZERO,
            average: 0.0,
            last_arrival: Time::NEVER,
            rate: DecayingRate::new(Duration::from_nanos(rate_time_constant_ns)),
            measured: Measured::default(),
        })
    }
}

/// Whether a discipline, or one that it says it is around, is CLAMP's.
fn prices(description: &Value) -> bool {
    let Some(parameters) = description.as_object() else { return false };
    let is_clamp = parameters.get("kind").is_some_and(|kind| kind == "clamp");
    is_clamp || parameters.values().any(prices)
}

impl Clamp {
    /// q, the averaged queue, bytes.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// The price of a packet that leaves now, s (Eq. 13).
    pub fn price(&self) -> f64 {
        clamp_price(self.average, self.a, self.b, self.rate.per_second())
    }

    fn note_arrival(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let queue = (self.inner.backlog() + self.taken + packet.bytes()).0 as f64;
        self.average = if self.last_arrival.is_never() {
            queue
        } else {
            let since = ctx.now.saturating_since(self.last_arrival);
            clamp_average_queue(self.average, queue, since, self.time_constant)
        };
        self.last_arrival = ctx.now;
        self.measured.queue.add(self.average);
        ctx.record(Series::AverageQueue, ctx.queue().0, self.average);
    }

    fn take(&mut self, is_there: bool, packet: &Packet) -> bool {
        if is_there {
            self.taken += packet.bytes();
        }
        is_there
    }
}

impl QueueDisc for Clamp {
    dequeues_in_place!();
    crate::forwards!(inner: peek, packets, backlog, next_wakeup, on_wake, on_rate, on_held);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.note_arrival(packet, ctx);
        self.inner.enqueue(packet, ctx);
    }

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let is_there = self.inner.dequeue_into(packet, ctx);
        self.take(is_there, packet)
    }

    /// Adds to what queues before have written: prices of a path add up. An ACK keeps what it
    /// echoes.
    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_served(packet, ctx);
        self.taken -= packet.bytes();
        self.rate.count(packet.bytes(), ctx.now);
        let price = self.price();
        if packet.kind != PacketKind::Ack {
            packet.feedback += price as f32;
        }
        self.measured.price.add(price);
        self.measured.rate.add(self.rate.per_second());
        ctx.record(Series::Price, ctx.queue().0, price);
    }

    fn on_lost(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_lost(packet, ctx);
        self.taken -= packet.bytes();
    }

    fn measured(&self) -> Vec<(&'static str, Option<f64>)> {
        let Measured { queue, price, rate } = self.measured;
        let mut all = self.inner.measured();
        all.push(("clamp_queue_bytes", queue.mean()));
        all.push(("clamp_price_s", price.mean()));
        all.push(("clamp_rate_bps", rate.mean().map(|bytes| 8.0 * bytes)));
        all
    }

    fn restart_measurement(&mut self) {
        self.inner.restart_measurement();
        self.measured = Measured::default();
    }
}

#[cfg(test)]
mod tests;
