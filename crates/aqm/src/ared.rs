//! Adaptive RED: RED whose max_p keeps the average queue in the middle of its thresholds.
//!
//! Source: Floyd, Gummadi & Shenker 2001, "Adaptive RED: an algorithm for increasing the robustness
//! of RED's active queue management" (`ared-2001`) §4; RED itself is `red.rs`, gentle always.
//! Differs: the timer rests while nothing arrives. Without arrivals the average is not sampled, so
//! there is nothing to adapt to; ns-2 and ns-3 adapt at arrivals for the same reason.

use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::red::{Red, RedConfig};
use crate::red_dropper::RedCurve;
use crate::red_dropper::RedVariant;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, Duration, LinkRate, Packet, Setup, Time, at_least,
};
use serde::Deserialize;

/// The part of the way from min_th to max_th where the target begins and ends (§4).
const TARGET: (f64, f64) = (0.4, 0.6);
/// max_p is raised from at most this, and lowered from at least that (§4).
const HIGHEST_MAX_P: f64 = 0.5;
const LOWEST_MAX_P: f64 = 0.01;
/// α = min(0.01, max_p / 4), the step upwards (§4).
const LARGEST_STEP: f64 = 0.01;
const STEP_PART: f64 = 0.25;
/// β, the factor downwards (§4).
const DECREASE: f64 = 0.9;

/// Configuration set by the user. A key that is null is set from the link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AredConfig {
    /// Most packets that may wait or be held by the link. At least 1.
    pub limit: usize,
    /// min_th, packets. At least 0.
    pub min_th: Option<f64>,
    /// max_th, packets. Above `min_th`.
    pub max_th: Option<f64>,
    /// max_p at the start, in [0, 1].
    pub max_p: f64,
    /// w_q, in (0, 1].
    pub weight: Option<f64>,
    /// Queueing delay from which an automatic `min_th` is taken, ns.
    pub target_delay_ns: u64,
    /// Packet size by which the link's rate is turned into packets per second. At least 1.
    pub mean_packet_bytes: u64,
    /// Time between adaptations, ns. At least 1.
    pub interval_ns: u64,
    /// Never drop sooner than 1/p_b arrivals after the last drop.
    pub wait: bool,
    /// Mark ECN-capable packets instead of dropping them, where the drop is not forced.
    #[serde(default)]
    pub ecn: bool,
}

/// The averages between which max_p is left alone, packets, ared-2001 §4.
pub fn ared_target(curve: &RedCurve) -> (f64, f64) {
    let range = curve.max_th - curve.min_th;
    (curve.min_th + TARGET.0 * range, curve.min_th + TARGET.1 * range)
}

/// max_p after an adaptation at `average`, ared-2001 §4: up by a step, down by a factor.
pub fn ared_next_max_p(average: f64, curve: &RedCurve) -> f64 {
    let max_p = curve.max_p;
    let (low, high) = ared_target(curve);
    if average > high && max_p <= HIGHEST_MAX_P {
        max_p + LARGEST_STEP.min(STEP_PART * max_p)
    } else if average < low && max_p >= LOWEST_MAX_P {
        max_p * DECREASE
    } else {
        max_p
    }
}

/// A first-in-first-out queue under adaptive RED.
#[derive(Clone, Debug)]
pub struct Ared {
    red: Red,
    interval: Duration,
    /// When to adapt next; never while the timer rests.
    next: Time,
    /// Whether anything has arrived since the last adaptation.
    sampled: bool,
}

impl AredConfig {
    fn red(&self) -> RedConfig {
        RedConfig {
            limit: self.limit,
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: self.max_p,
            weight: self.weight,
            target_delay_ns: self.target_delay_ns,
            mean_packet_bytes: self.mean_packet_bytes,
            gentle: true,
            wait: self.wait,
            ecn: self.ecn,
            hard_drop: true,
            variant: RedVariant::Red1993,
        }
    }
}

impl<T: ?Sized> Component<T> for Ared {
    type Config = AredConfig;

    fn check(config: &AredConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.red().check(&mut checks);
        checks.within("interval_ns", config.interval_ns, at_least(1_u64));
        checks.finish()
    }

    fn build(config: AredConfig, setup: Setup<'_, T>) -> Result<Ared, ConfigError> {
        Ok(Ared {
            red: Red::new(config.red(), setup.seed.stream()),
            interval: Duration::from_nanos(config.interval_ns),
            next: Time::NEVER,
            sampled: false,
        })
    }
}

impl Ared {
    fn note_sample(&mut self, now: Time) {
        self.sampled = true;
        if self.next.is_never() {
            self.next = now + self.interval;
        }
    }
}

impl crate::QueueWrapper for Ared {
    delegate_queue!(red: dequeue_into, peek, on_rate, on_served, on_lost, on_held);
    delegate_queue!(red: measured, restart_measurement);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.red.enqueue(packet, ctx);
        self.note_sample(ctx.now);
    }

    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.note_sample(ctx.now);
        self.red.on_bypass(packet, ctx)
    }

    #[inline]
    fn state(&self) -> QueueState {
        QueueState { next_wakeup: self.next, ..self.red.state() }
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.next {
            return;
        }
        if !self.sampled {
            self.next = Time::NEVER;
            return;
        }
        let dropper = self.red.dropper_mut();
        dropper.set_max_p(ared_next_max_p(dropper.average(), dropper.curve()));
        self.sampled = false;
        self.next = ctx.now + self.interval;
    }
}

#[cfg(test)]
mod tests;
