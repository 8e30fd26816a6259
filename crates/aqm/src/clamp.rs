//! CLAMP's router agent around any discipline: it writes a price into each packet that leaves.
//!
//! Source: Andrew, Hanly and Mukhtar 2008, §4.1 and Eq. 13. The queue counts whole packets: those
//! that wait, those that the link has taken and has not served or discarded, and the one that
//! arrives.
//! Chosen where the paper is silent: the output rate is a decaying count of bytes that left, with the
//! same time constant as the queue's average and corrected for the short past; there is no price before
//! the first departure.
//!
//! `target_delay_ns` is Airpath's addition: a moves by itself until the mean delay of the packets
//! is the target, which §3.2 calls an open question ([`clamp_next_a`]).

use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::registry::AnyQueue;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, Duration, LinkRate, Packet, PacketKind, Series,
    Setup, Time, above, at_least,
};
use serde::Deserialize;
use serde_json::Value;

/// Time constant with which a moves where none is given: several of CLAMP's own averages of about a
/// second.
const ADAPTATION_TIME_NS: u64 = 5_000_000_000;

/// How long the largest output rate is remembered, s, and below which part of it a queue is starved.
const PEAK_S: f64 = 60.0;
const STARVED: f64 = 0.1;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampConfig {
    /// a, bytes, from 0: what of the averaged queue costs nothing. In its place: `target_delay_ns`.
    #[serde(default)]
    pub a_bytes: Option<u64>,
    /// Mean time from arrival to the completion of service that a is moved to, ns, at least 1.
    #[serde(default)]
    pub target_delay_ns: Option<u64>,
    /// Time constant with which a moves, ns, at least 1.
    #[serde(default)]
    pub adaptation_time_ns: Option<u64>,
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

/// Parameters of the adaptation of a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampTarget {
    /// The mean delay to hold, s, above 0.
    pub delay_s: f64,
    /// Time constant, s, above 0.
    pub time_constant_s: f64,
}

/// a after a packet of `bytes` that took `delay_s` from its arrival to the completion of its service,
/// at an output rate of `rate` bytes/s, where b times the averaged queue are `priced` bytes; in bytes.
///
/// As the mean queue is a + kτ, a step of s (D - d) / T for each packet is an integral controller
/// with the time constant T, and at rest leaves the packets' mean delay d at the target D, for any
/// number of them, rate and fluctuations. a is at most twice what would wait at the target, or
/// `priced` where that is more: it does not run away while flows are limited elsewhere, and what
/// bounds it is never what keeps up a price. A bound by the rate alone would: flows that the price
/// has slowed down lower the rate, the bound with it, and stay slow.
pub fn clamp_next_a(
    a: f64,
    bytes: f64,
    delay_s: f64,
    rate: f64,
    priced: f64,
    target: &ClampTarget,
) -> f64 {
    let next = a + bytes * (target.delay_s - delay_s) / target.time_constant_s;
    next.min((2.0 * target.delay_s * rate).max(priced))
}

/// The largest output rate of late.
#[derive(Clone, Copy, Debug)]
struct Peak {
    /// bytes/s.
    rate: f64,
    left: Time,
}

impl Peak {
    /// Weight of a departure of `bytes` at `now` in the adaptation of a: these; of a queue that
    /// sends little, and not late, what it could have sent since the packet before. Else the price
    /// that makes it send little would stay, for little moves a.
    fn counted(&mut self, bytes: f64, is_late: bool, rate: f64, now: Time) -> f64 {
        let since = now.saturating_since(self.left).as_secs_lossy();
        self.left = now;
        self.rate = rate.max(self.rate * (1.0 - since / PEAK_S).max(0.0));
        let is_starved = rate < STARVED * self.rate && !is_late;
        if is_starved { bytes.max(self.rate * since) } else { bytes }
    }
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
struct ClampSums {
    queue: Sum,
    price: Sum,
    rate: Sum,
    a: Sum,
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
    target: Option<ClampTarget>,
    peak: Peak,
    time_constant: Duration,
    /// Bytes that the link has taken and has neither served nor discarded.
    taken: Bytes,
    /// q, bytes.
    average: f64,
    /// When the last packet arrived; [`Time::NEVER`] before the first.
    last_arrival: Time,
    rate: DecayingRate,
    measured: ClampSums,
}

type QueueSetup<'a> = Setup<'a, dyn QueueDisc + Send>;

impl Component<dyn QueueDisc + Send> for Clamp {
    type Config = ClampConfig;

    fn check(config: &ClampConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.check_target(&mut checks);
        checks.within("b", config.b, above(0.0));
        checks.within("time_constant_ns", config.time_constant_ns, at_least(1_u64));
        checks.within("rate_time_constant_ns", config.rate_time_constant_ns, at_least(1_u64));
        if prices(&config.inner) {
            let problem = "a clamp queue inside a clamp queue";
            checks.reject("inner.kind", "clamp", problem, "Use another discipline inside");
        }
        checks.nested("inner", AnyQueue::check(&config.inner));
        checks.finish()
    }

    fn build(config: ClampConfig, setup: QueueSetup<'_>) -> Result<Clamp, ConfigError> {
        let target = config.target();
        let ClampConfig { a_bytes, b, time_constant_ns, rate_time_constant_ns, inner, .. } = config;
        let inner = AnyQueue::build(&inner, setup).map_err(|error| error.under("inner"))?;
        Ok(Clamp {
            inner,
            // One that moves begins at its bound with the first late packet; no price before. From 0 the
            // first flow would hardly send, and a moves with what is sent.
            a: a_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            b,
            target,
            peak: Peak { rate: 0.0, left: Time::ZERO },
            time_constant: Duration::from_nanos(time_constant_ns),
            taken: Bytes::ZERO,
            average: 0.0,
            last_arrival: Time::NEVER,
            rate: DecayingRate::new(Duration::from_nanos(rate_time_constant_ns)),
            measured: ClampSums::default(),
        })
    }
}

impl ClampConfig {
    fn target(&self) -> Option<ClampTarget> {
        let seconds = |nanos| Duration::from_nanos(nanos).as_secs_lossy();
        let time_ns = self.adaptation_time_ns.unwrap_or(ADAPTATION_TIME_NS);
        Some(ClampTarget {
            delay_s: seconds(self.target_delay_ns?),
            time_constant_s: seconds(time_ns),
        })
    }

    /// Rejects both, or none, of a fixed a and a delay that moves it.
    fn check_target(&self, checks: &mut Checks) {
        const ADVICE: &str = "Use a, or target_delay";
        let ClampConfig { a_bytes, target_delay_ns, adaptation_time_ns, .. } = *self;
        for (field, time) in
            [("target_delay_ns", target_delay_ns), ("adaptation_time_ns", adaptation_time_ns)]
        {
            let Some(time) = time else { continue };
            if a_bytes.is_some() {
                checks.reject_with(&["a_bytes"], field, time, "a is given too", ADVICE);
            } else {
                checks.within(field, time, at_least(1_u64));
            }
        }
        if a_bytes.is_none() && target_delay_ns.is_none() {
            checks.missing("a_bytes", ADVICE);
        }
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

impl crate::QueueWrapper for Clamp {
    delegate_queue!(inner: peek, state, on_wake, on_rate, on_held);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.note_arrival(packet, ctx);
        self.inner.enqueue(packet, ctx);
    }

    /// It is among what the link has taken from the start: the inner discipline does not keep it.
    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.note_arrival(packet, ctx);
        let is_let_in = self.inner.on_bypass(packet, ctx);
        self.take(is_let_in, packet)
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
        if let Some(target) = &self.target {
            let delay_s = packet.waited(ctx.now).as_secs_lossy();
            let bytes = packet.bytes().0 as f64;
            let rate = self.rate.per_second();
            let is_late = delay_s > target.delay_s;
            let bytes = self.peak.counted(bytes, is_late, rate, ctx.now);
            if self.a.is_finite() || is_late {
                self.a = clamp_next_a(self.a, bytes, delay_s, rate, self.b * self.average, target);
            }
        }
        let price = self.price();
        if packet.kind != PacketKind::Ack {
            packet.feedback += price as f32;
        }
        self.measured.price.add(price);
        self.measured.rate.add(self.rate.per_second());
        if self.a.is_finite() {
            self.measured.a.add(self.a);
        }
        ctx.record(Series::Price, ctx.queue().0, price);
    }

    fn on_lost(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_lost(packet, ctx);
        self.taken -= packet.bytes();
    }

    fn measured(&self, now: Time) -> Vec<(&'static str, Option<f64>)> {
        let ClampSums { queue, price, rate, a } = self.measured;
        let mut all = self.inner.measured(now);
        all.push(("clamp_queue_bytes", queue.mean()));
        all.push(("clamp_price_s", price.mean()));
        all.push(("clamp_rate_bps", rate.mean().map(|bytes| 8.0 * bytes)));
        if self.target.is_some() {
            all.push(("clamp_a_bytes", a.mean()));
        }
        all
    }

    fn restart_measurement(&mut self, now: Time) {
        self.inner.restart_measurement(now);
        self.measured = ClampSums::default();
    }
}

#[cfg(test)]
mod tests;
