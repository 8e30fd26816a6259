//! CLAMP's router agent. It wraps any other discipline and writes a price into each departing
//! packet.
//!
//! Source: Andrew, Hanly and Mukhtar 2008, §4.1 and Eq. 13. The queue length includes the waiting
//! packets, the packets that the link has dequeued but not yet sent or discarded, and the arriving
//! packet. Each packet counts with its full size.
//!
//! The paper does not define the estimator of the output rate and the price at the start. Here the
//! output rate is an exponentially decaying count of departed bytes, corrected for the time before
//! the first departure. The price is 0 before the first departure.
//!
//! `target_delay_ns` is an extension by Airpath: the parameter a is adapted until the mean delay of
//! the packets equals the target. §3.2 calls this adaptation an open question ([`clamp_next_a`]).

use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::registry::AnyQueue;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, Duration, LinkRate, Packet, PacketKind, Series,
    Setup, StageError, Time, above, at_least,
};
use serde::Deserialize;
use serde_json::Value;

/// Default time constant of the adaptation of the parameter a: several times the averaging time of
/// CLAMP, which is about one second.
const ADAPTATION_TIME_NS: u64 = 5_000_000_000;

/// Time constant with which the recorded largest output rate decays, s. A queue is starved if its
/// rate is below the fraction `STARVED` of the recorded largest rate.
const PEAK_S: f64 = 60.0;
const STARVED: f64 = 0.1;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampConfig {
    /// Parameter a, bytes, at least 0: the price is 0 while b times the average queue is at most a.
    /// Set either this field or `target_delay_ns`.
    #[serde(default)]
    pub a_bytes: Option<u64>,
    /// Target of the mean time from arrival to the end of service, ns, at least 1. The parameter a
    /// is adapted to reach this target.
    #[serde(default)]
    pub target_delay_ns: Option<u64>,
    /// Time constant of the adaptation of a, ns, at least 1.
    #[serde(default)]
    pub adaptation_time_ns: Option<u64>,
    /// Slope b of the price as a function of the average queue, above 0. Value in the paper: 1.
    pub b: f64,
    /// Time constant of the average queue, ns, at least 1. Value in the paper: 0.5 s.
    pub time_constant_ns: u64,
    /// Time constant of the output rate, ns, at least 1. The paper gives no value.
    pub rate_time_constant_ns: u64,
    /// The wrapped discipline: `{"kind": …}`.
    pub inner: Value,
}

/// Returns the average queue q(n), bytes, after an arrival (§4.1). `queue` is the queue length at
/// the arrival, bytes; `since` is the time since the previous arrival.
pub fn clamp_average_queue(
    average: f64,
    queue: f64,
    since: Duration,
    time_constant: Duration,
) -> f64 {
    let kept = libm::exp(-(since.as_secs_lossy() / time_constant.as_secs_lossy()));
    kept * average + (1.0 - kept) * queue
}

/// Returns the price (b · average − a) / rate, s (Eq. 13). `average` and `a` are in bytes, `rate`
/// is in bytes/s.
pub fn clamp_price(average: f64, a: f64, b: f64, rate: f64) -> f64 {
    if rate > 0.0 { ((b * average - a) / rate).max(0.0) } else { 0.0 }
}

/// Parameters of the adaptation of a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampTarget {
    /// Target of the mean delay, s, above 0.
    pub delay_s: f64,
    /// Time constant, s, above 0.
    pub time_constant_s: f64,
}

/// Returns the parameter a, bytes, after the departure of a packet of size `bytes`. `delay_s` is
/// the time from arrival to the end of service, `rate` is the output rate in bytes/s, and `priced`
/// is b times the average queue in bytes.
///
/// For k flows with the parameter τ, the mean queue is a + kτ. Therefore a step of s (D - d) / T
/// for each packet of size s is an integral controller with the time constant T. In equilibrium the
/// mean delay d of the packets equals the target D, regardless of the number of flows and of the
/// rate. The upper bound of a is twice the backlog at the target delay, or `priced` if that is
/// larger. Without a bound, a would grow while the flows are limited elsewhere. A bound that
/// depends only on the rate could keep the price high: the price slows the flows down, the slow
/// flows reduce the rate, and the lower rate reduces the bound.
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

/// Largest recent output rate, and the time of the last departure.
#[derive(Clone, Copy, Debug)]
struct Peak {
    /// Largest recent rate, bytes/s.
    rate: f64,
    left: Time,
}

impl Peak {
    /// Returns the weight, in bytes, of a departure of `bytes` at `now` in the adaptation of a. The
    /// weight is `bytes`, except for a starved queue whose packet is not late: then the weight is
    /// the number of bytes that could have been sent since the previous packet. Without this
    /// exception a would adapt too slowly at a small rate, and the price that causes the small rate
    /// would persist.
    fn counted(&mut self, bytes: f64, is_late: bool, rate: f64, now: Time) -> f64 {
        let since = now.saturating_since(self.left).as_secs_lossy();
        self.left = now;
        self.rate = rate.max(self.rate * (1.0 - since / PEAK_S).max(0.0));
        let is_starved = rate < STARVED * self.rate && !is_late;
        if is_starved { bytes.max(self.rate * since) } else { bytes }
    }
}

/// Rate estimator: an exponentially decaying count of bytes.
#[derive(Clone, Copy, Debug)]
pub struct DecayingRate {
    /// Inverse of the time constant, 1/s.
    decay: f64,
    /// Decayed count of bytes at the time `last`.
    bytes: f64,
    last: Time,
    /// Time of the first count; [`Time::NEVER`] if there is none yet.
    began: Time,
}

impl DecayingRate {
    /// Creates an estimator without counts. The time constant must be above zero.
    pub fn new(time_constant: Duration) -> DecayingRate {
        let decay = 1.0 / time_constant.as_secs_lossy();
        DecayingRate { decay, bytes: 0.0, last: Time::ZERO, began: Time::NEVER }
    }

    /// Counts `bytes` at `now`.
    pub fn count(&mut self, bytes: Bytes, now: Time) {
        if self.began.is_never() {
            // The rate is averaged from the first departure on, so bytes before it do not count.
            (self.began, self.last) = (now, now);
            return;
        }
        let kept = libm::exp(-self.decay * now.saturating_since(self.last).as_secs_lossy());
        self.bytes = self.bytes * kept + bytes.0 as f64;
        self.last = now;
    }

    /// Returns the rate at the last count, bytes/s. Returns 0 until bytes have been counted at two
    /// different times.
    pub fn per_second(&self) -> f64 {
        let past = self.decay * self.last.saturating_since(self.began).as_secs_lossy();
        let covered = -libm::expm1(-past);
        if covered > 0.0 { self.bytes * self.decay / covered } else { 0.0 }
    }
}

/// Sums of the measured quantities.
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

/// Discipline that writes the price of CLAMP into departing packets.
pub struct Clamp {
    inner: AnyQueue,
    a: f64,
    b: f64,
    target: Option<ClampTarget>,
    peak: Peak,
    time_constant: Duration,
    /// Bytes of the packets that the link has dequeued but not yet sent or discarded.
    taken: Bytes,
    /// Average queue q, bytes.
    average: f64,
    /// Time of the last arrival; [`Time::NEVER`] before the first arrival.
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
        if contains_clamp(&config.inner) {
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
            // An adapted a is infinite until the first late packet, which sets it to its upper
            // bound; the price is 0 until then. If a started at 0, the first flow would send very
            // few packets, and a, which is adapted only at departures, would grow slowly.
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

    /// Rejects a configuration that does not set exactly one of `a_bytes` and `target_delay_ns`.
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

/// Returns true if the configuration `description` is a `clamp` discipline or contains a `clamp`
/// discipline.
fn contains_clamp(description: &Value) -> bool {
    let Some(parameters) = description.as_object() else { return false };
    let is_clamp = parameters.get("kind").is_some_and(|kind| kind == "clamp");
    is_clamp || parameters.values().any(contains_clamp)
}

impl Clamp {
    /// Average queue q, bytes.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Price of a packet that departs now, s (Eq. 13).
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

    fn take(&mut self, is_found: bool, packet: &Packet) -> bool {
        if is_found {
            self.taken += packet.bytes();
        }
        is_found
    }
}

impl crate::QueueWrapper for Clamp {
    delegate_queue!(inner: peek, state, on_wake, on_rate, on_held, take_error);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.note_arrival(packet, ctx);
        self.inner.enqueue(packet, ctx);
    }

    /// Counts the packet as dequeued by the link from its arrival, because the inner discipline
    /// does not queue it.
    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.note_arrival(packet, ctx);
        let is_let_in = self.inner.on_bypass(packet, ctx);
        self.take(is_let_in, packet)
    }

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let is_found = self.inner.dequeue_into(packet, ctx);
        self.take(is_found, packet)
    }

    /// Adds the price of this queue to the sum of the prices in the packet. The price in an ACK is
    /// an echo and does not change.
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
