//! DualPI2: one queue for scalable congestion control algorithms and one for all others, coupled so
//! that flows of both queues have equal rates.
//!
//! Source: RFC 9332, Appendix A, with the overload rules of Appendix A.2. Three rules follow Linux
//! (`sch_dualpi2`) instead:
//! - A weighted round robin selects the queue that is served.
//! - The input of the controller is the larger of the delays of the two queues.
//! - The controller drops and marks only above a minimum backlog.
//!
//! Not implemented: queue protection, GSO, step thresholds in packets, drops on arrival.
//! Difference: the timer stops while an update would change nothing.

use crate::queue_disc::{QueueDisc, QueueState};
use crate::timed_fifo::TimedFifo;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, Ecn, Packet, Setup, Time,
    above, at_least,
};
use serde::Deserialize;

/// p_Lmax: coupled probability at and above which the L queue is overloaded (Appendix A.2).
const SATURATED: f64 = 1.0;
/// Sum of the weights of the two queues.
const WEIGHTS: i64 = 100;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Config {
    /// Maximum number of packets, waiting in both queues or held by the link. At least 1; 10 000 in
    /// Linux.
    pub limit: usize,
    /// Target delay of the classic queue, ns. At least 1; 15 ms in RFC 9332.
    pub target_ns: u64,
    /// Tupdate: time between updates of the base probability, ns. At least 1. In RFC 9332: the
    /// smaller of `target_ns` and one third of RTT_max.
    pub update_ns: u64,
    /// Gain alpha, 1/s. At least 0; 0.1 Tupdate / RTT_max² in RFC 9332.
    pub alpha: f64,
    /// Gain beta, 1/s. At least 0; 0.3 / RTT_max in RFC 9332.
    pub beta: f64,
    /// Coupling factor k, above 0; 2 in RFC 9332.
    pub coupling: f64,
    /// minTh: sojourn time at which the L queue starts to mark, ns; 800 µs in RFC 9332.
    pub ramp_start_ns: u64,
    /// Width of the ramp, ns: at a sojourn time of minTh plus this width the L queue marks all
    /// packets. 400 µs in RFC 9332; 0 for a step.
    pub ramp_ns: u64,
    /// Share of the link for the classic queue while packets wait in both queues, 1 to 99 per cent;
    /// 10 in Linux.
    pub classic_percent: u32,
    /// If set, every ECN-capable packet enters the L queue; otherwise only packets with ECT(1) or
    /// CE. Needed for scalable congestion control algorithms that send ECT(0), such as DCTCP.
    #[serde(default)]
    pub any_ect: bool,
    /// Size of a large packet, bytes: the initial credit of the round robin. At least 1; the MTU in
    /// Linux.
    pub mtu_bytes: u64,
}

/// One of the two queues of DualPI2.
#[derive(Clone, Debug, Default)]
struct SubQueue {
    fifo: TimedFifo,
    /// Sum of the probabilities of the calls of `recurs` since the last mark or drop (RFC 9332
    /// Appendix A.1).
    count: f64,
}

impl SubQueue {
    /// `recur` of RFC 9332: returns true for the fraction `likelihood` of all calls. These calls
    /// are evenly spaced.
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let is_due = self.count > 1.0;
        if is_due {
            self.count -= 1.0;
        }
        is_due
    }

    /// Returns the time for which the oldest packet has waited; zero for an empty queue.
    fn delay(&self, now: Time) -> Duration {
        self.fifo.oldest().map_or(Duration::ZERO, |(since, _)| now.saturating_since(since))
    }
}

/// DualPI2: the L queue, the classic queue, and the controller that couples them.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: DualPi2Config,
    low_latency: SubQueue,
    classic: SubQueue,
    /// Base probability p'.
    base: f64,
    /// Delay at the previous update (prevq), s.
    delay_old: f64,
    /// Credit of the round robin, in units of 1/100 byte. If positive, the classic queue is served
    /// next.
    credit: i64,
    held: usize,
    /// Time of the next update; `Time::NEVER` while an update would change nothing.
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
    /// Base probability p'. The drop probability of the classic queue is p'²; the coupled mark
    /// probability of the L queue is k p'.
    pub fn base_probability(&self) -> f64 {
        self.base
    }

    /// Drop probability p_C of the classic queue.
    fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// Coupled probability p_CL of the L queue.
    fn coupled_probability(&self) -> f64 {
        self.config.coupling * self.base
    }

    fn is_overloaded(&self) -> bool {
        self.coupled_probability() >= SATURATED
    }

    /// `laqm`: native mark probability p'_L of a packet with sojourn time `sojourn`. Returns zero
    /// if no other packet waits in the L queue (Th_len).
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

    /// Returns true if the backlog is at least the size of two large packets. Below this minimum
    /// the controller neither drops nor marks. In RFC 9332 only the native marks of the L queue
    /// have a minimum backlog (Th_len).
    fn has_standing_queue(&self) -> bool {
        self.backlog() >= Bytes(2 * self.config.mtu_bytes)
    }

    /// Returns true if the weighted round robin serves the L queue next.
    fn low_latency_is_next(&self) -> bool {
        let (low_latency, classic) = (&self.low_latency.fifo, &self.classic.fifo);
        !low_latency.is_empty() && (classic.is_empty() || self.credit <= 0)
    }

    fn restart_round(&mut self) {
        let classic = i64::from(self.config.classic_percent);
        self.credit = self.config.mtu_bytes as i64 * (2 * classic - WEIGHTS);
    }

    /// Dequeues a packet from the L queue. Returns true if the packet is sent.
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

    /// Dequeues a packet from the classic queue. Returns true if the packet is sent.
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

    /// `dualpi2_update`: updates the base probability.
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

    /// Returns the next update time. Updates occur at multiples of Tupdate, so that a stop of the
    /// timer does not shift later updates.
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
