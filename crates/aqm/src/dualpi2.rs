//! DualPI2: a queue for scalable congestion controls and one for all others, coupled so that flows
//! of both get the same rates.
//!
//! Source: RFC 9332, Appendix A, with the overload rules of Appendix A.2; the weighted round robin
//! between the queues, the larger of both delays as the controller's input and the least backlog for
//! its drops and marks are Linux's (`sch_dualpi2`). Left out: queue protection, GSO, step thresholds
//! in packets, drops on arrival.
//! Differs: the timer rests while an update would change nothing.

use crate::queue_disc::{QueueDisc, QueueState};
use crate::timed_fifo::TimedFifo;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, Ecn, Packet, Setup, Time,
    above, at_least,
};
use serde::Deserialize;

/// p_Lmax: from this coupled probability on, the L queue is overloaded (Appendix A.2).
const SATURATED: f64 = 1.0;
/// Whole of the weights of the two queues.
const WEIGHTS: i64 = 100;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Config {
    /// Most packets that may wait in both queues together or be held by the link. At least 1;
    /// Linux: 10 000.
    pub limit: usize,
    /// target, the delay of the classic queue to hold, ns. At least 1; RFC 9332: 15 ms.
    pub target_ns: u64,
    /// Tupdate, ns. At least 1; RFC 9332: the smaller of `target_ns` and a third of RTT_max.
    pub update_ns: u64,
    /// alpha, 1/s. At least 0; RFC 9332: 0.1 Tupdate / RTT_max².
    pub alpha: f64,
    /// beta, 1/s. At least 0; RFC 9332: 0.3 / RTT_max.
    pub beta: f64,
    /// k, the coupling factor, above 0; RFC 9332: 2.
    pub coupling: f64,
    /// minTh, sojourn time from which the L queue marks, ns; RFC 9332: 800 µs.
    pub ramp_start_ns: u64,
    /// range, further sojourn time up to which it marks all, ns; RFC 9332: 400 µs. 0: a step.
    pub ramp_ns: u64,
    /// Share of the link, per cent, 1 to 99, that the classic queue is left when both are
    /// backlogged; Linux: 10.
    pub classic_percent: u32,
    /// Every ECN-capable packet goes into the L queue, not only those with ECT(1) or CE: for
    /// scalable congestion controls that send ECT(0), as DCTCP's.
    #[serde(default)]
    pub any_ect: bool,
    /// Bytes of a large packet: the round robin's first credit. At least 1; Linux: the MTU.
    pub mtu_bytes: u64,
}

/// One of the two queues.
#[derive(Clone, Debug, Default)]
struct SubQueue {
    fifo: TimedFifo,
    /// Probabilities since the last mark or drop: `recur` of Appendix A.1.
    count: f64,
}

impl SubQueue {
    /// `recur`: whether this packet is among the share `likelihood`, spaced evenly.
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let is_due = self.count > 1.0;
        if is_due {
            self.count -= 1.0;
        }
        is_due
    }

    /// How long its oldest packet has waited.
    fn delay(&self, now: Time) -> Duration {
        self.fifo.oldest().map_or(Duration::ZERO, |(since, _)| now.saturating_since(since))
    }
}

/// The L queue and the classic queue, coupled.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: DualPi2Config,
    low_latency: SubQueue,
    classic: SubQueue,
    /// p', the base probability.
    base: f64,
    /// prevq, s.
    delay_old: f64,
    /// Above 0 the classic queue is served next, in hundredths of bytes.
    credit: i64,
    held: usize,
    /// When to update next; never while an update would change nothing.
    next_update: Time,
}

impl<T: ?Sized> Component<T> for DualPi2 {
    type Config = DualPi2Config;

    fn check(config: &DualPi2Config) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("limit", config.limit, at_least(1_u64));
        checks.within("target_ns", config.target_ns, at_least(1_u64));
        checks.within("update_ns", config.update_ns, at_least(1_u64));
        checks.within("mtu_bytes", config.mtu_bytes, 1..=u64::from(u16::MAX));
        checks.within("alpha", config.alpha, at_least(0.0));
        checks.within("beta", config.beta, at_least(0.0));
        checks.within("coupling", config.coupling, above(0.0));
        checks.within("classic_percent", config.classic_percent, 1..=99_u32);
        checks.finish()
    }

    fn build(config: DualPi2Config, _setup: Setup<'_, T>) -> Result<DualPi2, ConfigError> {
        let mut made = DualPi2 {
            config,
            low_latency: SubQueue::default(),
            classic: SubQueue::default(),
            base: 0.0,
            delay_old: 0.0,
            credit: 0,
            held: 0,
            next_update: Time::NEVER,
        };
        made.restart_round();
        Ok(made)
    }
}

impl DualPi2 {
    /// p', the base probability: the classic queue's is its square, the L queue's its multiple.
    pub fn base_probability(&self) -> f64 {
        self.base
    }

    /// p_C.
    fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// p_CL.
    fn coupled_probability(&self) -> f64 {
        self.config.coupling * self.base
    }

    fn is_overloaded(&self) -> bool {
        self.coupled_probability() >= SATURATED
    }

    /// `laqm`: p'_L of a packet that has waited for `sojourn`. With nothing behind it none is
    /// marked (Th_len).
    fn native_probability(&self, sojourn: Duration) -> f64 {
        let DualPi2Config { ramp_start_ns, ramp_ns, .. } = self.config;
        let above = sojourn.as_nanos().saturating_sub(ramp_start_ns);
        if above == 0 || self.low_latency.fifo.is_empty() {
            0.0
        } else if above >= ramp_ns {
            1.0
        } else {
            above as f64 / ramp_ns as f64
        }
    }

    /// Whether the packet taken last leaves a standing queue behind it, of two large packets at least;
    /// without one the controller drops and marks nothing. RFC 9332 has such a minimum (Th_len) only
    /// for the native marks of the L queue.
    fn has_standing_queue(&self) -> bool {
        self.backlog() >= Bytes(2 * self.config.mtu_bytes)
    }

    /// Whether the L queue is next in the weighted round robin.
    fn low_latency_is_next(&self) -> bool {
        let (low_latency, classic) = (&self.low_latency.fifo, &self.classic.fifo);
        !low_latency.is_empty() && (classic.is_empty() || self.credit <= 0)
    }

    fn restart_round(&mut self) {
        let classic = i64::from(self.config.classic_percent);
        self.credit = self.config.mtu_bytes as i64 * (2 * classic - WEIGHTS);
    }

    /// Takes a packet of the L queue; returns whether it is sent.
    fn take_low_latency(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let Some((since, taken)) = self.low_latency.fifo.pop() else { return false };
        *packet = taken;
        if !self.classic.fifo.is_empty() {
            self.credit += i64::from(self.config.classic_percent) * i64::from(packet.size);
        }
        let is_standing = self.has_standing_queue();
        if is_standing && self.is_overloaded() {
            if self.low_latency.recurs(self.classic_probability()) {
                ctx.drop(*packet, DropReason::Early);
                return false;
            }
            ctx.mark(packet);
        } else {
            let native = self.native_probability(ctx.now.saturating_since(since));
            let coupled = if is_standing { self.coupled_probability() } else { 0.0 };
            if self.low_latency.recurs(native.max(coupled)) {
                ctx.mark(packet);
            }
        }
        true
    }

    /// Dequeues from the classic queue.
    fn take_classic(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if !self.classic.fifo.pop_into(packet) {
            return false;
        }
        if !self.low_latency.fifo.is_empty() {
            let low_latency = WEIGHTS - i64::from(self.config.classic_percent);
            self.credit -= low_latency * i64::from(packet.size);
        }
        if self.has_standing_queue() && self.classic.recurs(self.classic_probability()) {
            if self.is_overloaded() || !packet.ecn.is_capable() {
                ctx.drop(*packet, DropReason::Early);
                return false;
            }
            ctx.mark(packet);
        }
        true
    }

    /// `dualpi2_update`.
    fn update(&mut self, now: Time) {
        let DualPi2Config { target_ns, alpha, beta, .. } = self.config;
        let delay = self.low_latency.delay(now).max(self.classic.delay(now)).as_secs_lossy();
        let target = Duration::from_nanos(target_ns).as_secs_lossy();
        let step = alpha * (delay - target) + beta * (delay - self.delay_old);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.delay_old = delay;
    }

    fn is_at_rest(&self) -> bool {
        self.packets() == 0 && self.base == 0.0 && self.delay_old == 0.0
    }

    #[inline]
    fn start_timer(&mut self, now: Time) {
        if self.next_update.is_never() {
            self.next_update = self.update_after(now);
        }
    }

    /// Updates are at multiples of Tupdate, so that resting leaves no trace.
    fn update_after(&self, now: Time) -> Time {
        let update = self.config.update_ns;
        Time::from_nanos((now.as_nanos() / update + 1).saturating_mul(update))
    }
}

impl QueueDisc for DualPi2 {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.start_timer(ctx.now);
        if self.packets() == 0 {
            self.restart_round();
        }
        if self.packets() + self.held >= self.config.limit {
            return ctx.drop(*packet, DropReason::Overflow);
        }
        let is_scalable = match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.config.any_ect,
            Ecn::NotEct => false,
        };
        let half = if is_scalable { &mut self.low_latency } else { &mut self.classic };
        half.fifo.push(packet, ctx.now);
    }

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        while self.packets() > 0 {
            let is_sent = if self.low_latency_is_next() {
                self.take_low_latency(packet, ctx)
            } else {
                self.take_classic(packet, ctx)
            };
            if is_sent {
                return true;
            }
        }
        false
    }

    fn on_bypass(&mut self, _packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.start_timer(ctx.now);
        self.packets() + self.held < self.config.limit
    }

    fn peek(&self) -> Option<&Packet> {
        let next = if self.low_latency_is_next() { &self.low_latency } else { &self.classic };
        next.fifo.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        let (low_latency, classic) = (&self.low_latency.fifo, &self.classic.fifo);
        QueueState {
            packets: low_latency.len() + classic.len(),
            backlog: low_latency.backlog() + classic.backlog(),
            next_wakeup: self.next_update,
        }
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        if ctx.now < self.next_update {
            return;
        }
        self.update(ctx.now);
        self.next_update = if self.is_at_rest() { Time::NEVER } else { self.update_after(ctx.now) };
    }

    fn on_held(&mut self, packets: usize, _bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.held = packets;
    }
}

#[cfg(test)]
mod tests;
