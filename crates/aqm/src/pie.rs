//! PIE: random drops on arrival, with a probability that a controller adapts to the queueing delay.
//!
//! Source: RFC 8033; the drop probability is in `pie_probability.rs`. The delay is the sojourn time
//! of the last departure (Appendix A) or an estimate from the departure rate (§5.2, Appendix B).
//! Not implemented: activation of PIE by queue length (§5.3), drop probabilities that depend on the
//! packet size. Differences:
//! - The delay of an empty queue is zero, regardless of the last departure (as in Linux).
//! - A measurement of the departure rate ends when the queue becomes empty, so that the measurement
//!   contains no idle time.
//! - The timer stops while an update would change nothing.

use crate::pie_probability::{PieGains, pie_next_drop_prob};
use crate::queue_disc::{QueueDisc, QueueState};
use crate::timed_fifo::TimedFifo;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, Packet, Setup, Stream, Time,
    at_least,
};
use serde::Deserialize;

/// DQ_THRESHOLD: number of departed bytes after which a measurement of the departure rate ends
/// (§5.2).
const DQ_THRESHOLD: u64 = 1 << 14;
/// Weight of one measurement in the average departure time: DQ_THRESHOLD / 2¹⁶ (Appendix B).
const DQ_WEIGHT: f64 = DQ_THRESHOLD as f64 / 65_536.0;
/// Below this drop probability no packet is dropped while the delay is less than half the target
/// (§4.1).
const SAFE_PROBABILITY: f64 = 0.2;
/// Bounds of the accumulated drop probability: no drop below the first value, a certain drop from
/// the second value (§5.4).
const DERANDOMISED: (f64, f64) = (0.85, 8.5);

/// Estimator of the queueing delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PieDelay {
    /// Sojourn time of the last departure.
    Timestamps,
    /// Backlog divided by the average departure rate.
    DepartureRate,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieConfig {
    /// Maximum number of packets, waiting or held by the link. At least 1.
    pub limit: usize,
    /// Target delay QDELAY_REF, ns. At least 1; 15 ms in RFC 8033.
    pub target_ns: u64,
    /// Update interval T_UPDATE, ns. At least 1; 15 ms in RFC 8033.
    pub update_ns: u64,
    /// Gain alpha, 1/s. At least 0; 0.125 in RFC 8033.
    pub alpha: f64,
    /// Gain beta, 1/s. At least 0; 1.25 in RFC 8033.
    pub beta: f64,
    /// Burst allowance MAX_BURST, ns; 150 ms in RFC 8033.
    pub max_burst_ns: u64,
    /// MEAN_PKTSIZE, bytes: no drops while the backlog is at most twice this size.
    pub mean_packet_bytes: u64,
    /// Estimator of the queueing delay.
    pub delay_estimate: PieDelay,
    /// If set, drops are spaced more evenly (derandomisation, §5.4).
    pub derandomise: bool,
    /// Mark ECN-capable packets instead of dropping them, up to `ecn_threshold`.
    #[serde(default)]
    pub ecn: bool,
    /// mark_ecnth, in [0, 1]: above this drop probability ECN-capable packets are dropped instead
    /// of marked.
    pub ecn_threshold: f64,
}

/// Estimator of the departure rate. It measures the time in which DQ_THRESHOLD bytes leave the
/// queue (Appendix B).
#[derive(Clone, Copy, Debug, Default)]
struct DepartureRate {
    /// Average departure time avg_dq_time_, s.
    average: Option<f64>,
    /// Start of the current measurement, and the bytes that have left since the start.
    measurement: Option<(Time, u64)>,
}

impl DepartureRate {
    fn on_departure(&mut self, size: u64, backlog: Bytes, now: Time) {
        if let Some((start, count)) = &mut self.measurement {
            *count += size;
            if *count >= DQ_THRESHOLD {
                let time = now.saturating_since(*start).as_secs_lossy();
                self.average = Some(
                    self.average
                        .map_or(time, |average| time * DQ_WEIGHT + average * (1.0 - DQ_WEIGHT)),
                );
                self.measurement = None;
            }
        }
        if backlog == Bytes::ZERO {
            self.measurement = None;
        } else if self.measurement.is_none() && backlog.0 >= DQ_THRESHOLD {
            self.measurement = Some((now, 0));
        }
    }

    fn delay(&self, backlog: Bytes) -> Duration {
        let per_threshold = self.average.unwrap_or(0.0);
        Duration::from_secs_lossy(backlog.0 as f64 * per_threshold / DQ_THRESHOLD as f64)
    }
}

/// A first-in-first-out queue under PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    gains: PieGains,
    update: Duration,
    max_burst: Duration,
    stream: Stream,
    fifo: TimedFifo,
    drop_prob: f64,
    /// Sojourn time of the last departure.
    last_sojourn: Duration,
    rate: DepartureRate,
    delay_old: Duration,
    burst_allowance: Duration,
    /// accu_prob_: sum of the drop probabilities of the arrivals since the last drop.
    accumulated: f64,
    /// Time of the next update; `Time::NEVER` while an update would change nothing.
    next_update: Time,
}

impl<T: ?Sized> Component<T> for Pie {
    type Config = PieConfig;

    fn check(config: &PieConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("limit", config.limit, at_least(1_u64));
        checks.within("target_ns", config.target_ns, at_least(1_u64));
        checks.within("update_ns", config.update_ns, at_least(1_u64));
        checks.within("alpha", config.alpha, at_least(0.0));
        checks.within("beta", config.beta, at_least(0.0));
        checks.within("ecn_threshold", config.ecn_threshold, 0.0..=1.0);
        checks.finish()
    }

    fn build(config: PieConfig, setup: Setup<'_, T>) -> Result<Pie, ConfigError> {
        let PieConfig { target_ns, alpha, beta, update_ns, max_burst_ns, .. } = config;
        let max_burst = Duration::from_nanos(max_burst_ns);
        Ok(Pie {
            config,
            gains: PieGains { target: Duration::from_nanos(target_ns), alpha, beta },
            update: Duration::from_nanos(update_ns),
            max_burst,
            stream: setup.seed.stream(),
            fifo: TimedFifo::default(),
            drop_prob: 0.0,
            last_sojourn: Duration::ZERO,
            rate: DepartureRate::default(),
            delay_old: Duration::ZERO,
            burst_allowance: max_burst,
            accumulated: 0.0,
            next_update: Time::NEVER,
        })
    }
}

impl Pie {
    /// Probability with which an arrival is dropped.
    pub fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    /// `drop_early` of RFC 8033: returns true if the arriving packet must be dropped (§4.1, §5.4).
    fn drops_early(&mut self) -> bool {
        let is_short = self.delay_old < self.half_target() && self.drop_prob < SAFE_PROBABILITY;
        let backlog = self.fifo.backlog().0;
        let is_small = backlog <= self.config.mean_packet_bytes.saturating_mul(2);
        if self.burst_allowance > Duration::ZERO || is_short || is_small {
            return false;
        }
        let drawn = if self.config.derandomise {
            self.drops_derandomised()
        } else {
            self.stream.bernoulli(self.drop_prob)
        };
        if drawn {
            self.accumulated = 0.0;
        }
        drawn
    }

    fn drops_derandomised(&mut self) -> bool {
        if self.drop_prob == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.drop_prob;
        let (earliest, latest) = DERANDOMISED;
        self.accumulated >= earliest
            && (self.accumulated >= latest || self.stream.bernoulli(self.drop_prob))
    }

    /// Updates the drop probability (`calculate_drop_prob`) and the burst allowance (§4.2, §4.4).
    fn update(&mut self) {
        let delay = self.current_delay();
        let (old, half) = (self.delay_old, self.half_target());
        self.drop_prob = pie_next_drop_prob(self.drop_prob, delay, old, &self.gains);
        let spent = self.burst_allowance.as_nanos().saturating_sub(self.update.as_nanos());
        self.burst_allowance = Duration::from_nanos(spent);
        if self.drop_prob == 0.0 && delay < half && old < half {
            self.burst_allowance = self.max_burst;
        }
        self.delay_old = delay;
    }

    fn current_delay(&self) -> Duration {
        match self.config.delay_estimate {
            _ if self.fifo.is_empty() => Duration::ZERO,
            PieDelay::Timestamps => self.last_sojourn,
            PieDelay::DepartureRate => self.rate.delay(self.fifo.backlog()),
        }
    }

    fn half_target(&self) -> Duration {
        Duration::from_nanos(self.gains.target.as_nanos().div_ceil(2))
    }

    /// Returns true if an update would change nothing.
    fn is_at_rest(&self) -> bool {
        self.fifo.is_empty()
            && self.drop_prob == 0.0
            && self.delay_old == Duration::ZERO
            && self.burst_allowance == self.max_burst
    }

    #[inline]
    fn start_timer(&mut self, now: Time) {
        if self.next_update.is_never() {
            self.next_update = self.update_after(now);
        }
    }

    /// Returns the next update time. Updates occur at multiples of T_UPDATE, so that a stop of the
    /// timer does not shift later updates.
    fn update_after(&self, now: Time) -> Time {
        let update = self.update.as_nanos();
        Time::from_nanos((now.as_nanos() / update + 1).saturating_mul(update))
    }
}

impl QueueDisc for Pie {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.start_timer(ctx.now);
        if self.fifo.occupancy() >= self.config.limit {
            self.accumulated = 0.0;
            return ctx.drop(*packet, DropReason::Overflow);
        }
        let is_selected = self.drops_early();
        let may_mark = self.config.ecn
            && packet.ecn.is_capable()
            && self.drop_prob <= self.config.ecn_threshold;
        if is_selected && !may_mark {
            return ctx.drop(*packet, DropReason::Early);
        }
        let place = self.fifo.push(packet, ctx.now);
        if is_selected {
            ctx.mark(place);
        }
    }

    fn on_bypass(&mut self, _packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.start_timer(ctx.now);
        self.fifo.occupancy() < self.config.limit
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let Some((arrived, _)) = self.fifo.oldest() else { return false };
        self.last_sojourn = ctx.now.saturating_since(arrived);
        self.fifo.pop_into(packet);
        if self.config.delay_estimate == PieDelay::DepartureRate {
            self.rate.on_departure(u64::from(packet.size), self.fifo.backlog(), ctx.now);
        }
        true
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.next_update {
            return;
        }
        self.update();
        self.next_update = if self.is_at_rest() { Time::NEVER } else { self.update_after(ctx.now) };
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        QueueState { next_wakeup: self.next_update, ..self.fifo.state() }
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }
}

#[cfg(test)]
mod tests;
