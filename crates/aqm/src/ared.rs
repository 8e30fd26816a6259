//! Adaptive RED: RED that adapts max_p so that the average queue stays in the middle between the
//! two thresholds.
//!
//! Source: Floyd, Gummadi & Shenker 2001, "Adaptive RED: an algorithm for increasing the robustness
//! of RED's active queue management" (`ared-2001`) §4; RED is in `red.rs`; Adaptive RED always uses
//! the gentle variant of RED. Difference: the timer stops while no packets arrive, because the
//! average changes only at arrivals. ns-2 and ns-3 adapt at arrivals for the same reason.

use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::red::{Red, RedConfig};
use crate::red_dropper::RedCurve;
use crate::red_dropper::RedVariant;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, Duration, LinkRate, Packet, Setup, StageError,
    Time, at_least,
};
use serde::Deserialize;

/// Lower and upper end of the target range, as fractions of the distance from min_th to max_th
/// (§4).
const TARGET: (f64, f64) = (0.4, 0.6);
/// max_p is increased only if it is at most `HIGHEST_MAX_P`, and decreased only if it is at least
/// `LOWEST_MAX_P` (§4).
const HIGHEST_MAX_P: f64 = 0.5;
const LOWEST_MAX_P: f64 = 0.01;
/// Increment of max_p: α = min(0.01, max_p / 4) (§4).
const LARGEST_STEP: f64 = 0.01;
const STEP_PART: f64 = 0.25;
/// Factor β of a decrease of max_p (§4).
const DECREASE: f64 = 0.9;

/// Configuration set by the user. The value of a null parameter is derived from the link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AredConfig {
    /// Maximum number of packets, waiting or held by the link. At least 1.
    pub limit: usize,
    /// Threshold min_th, packets. At least 0.
    pub min_th: Option<f64>,
    /// Threshold max_th, packets. Above `min_th`.
    pub max_th: Option<f64>,
    /// Initial max_p, in [0, 1].
    pub max_p: f64,
    /// Weight w_q of the average, in (0, 1].
    pub weight: Option<f64>,
    /// Queueing delay from which `min_th` is computed if it is null, ns.
    pub target_delay_ns: u64,
    /// Mean packet size, for the conversion of the link's rate to packets per second. At least 1.
    pub mean_packet_bytes: u64,
    /// Time between adaptations, ns. At least 1.
    pub interval_ns: u64,
    /// If set, at least 1/p_b arrivals lie between two drops (p_b: drop probability of the RED
    /// curve).
    pub wait: bool,
    /// Mark ECN-capable packets instead of dropping them, unless the drop is forced.
    #[serde(default)]
    pub ecn: bool,
}

/// Returns the target range of the average queue, packets. Within this range max_p does not change
/// (ared-2001 §4).
pub fn ared_target(curve: &RedCurve) -> (f64, f64) {
    let range = curve.max_th - curve.min_th;
    (curve.min_th + TARGET.0 * range, curve.min_th + TARGET.1 * range)
}

/// Returns max_p after an adaptation at the average queue `average`, packets (ared-2001 §4). An
/// increase adds a step; a decrease multiplies by a factor.
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
    /// Time of the next adaptation; `Time::NEVER` while the timer is stopped.
    next: Time,
    /// True if a packet has arrived since the last adaptation.
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
    delegate_queue!(red: measured, restart_measurement, take_error);

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
