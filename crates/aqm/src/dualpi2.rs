//! DualPI2: one queue for scalable congestion control algorithms and one for all others, coupled so
//! that flows of both queues have equal rates.
//!
//! Source: RFC 9332, Appendix A, with the overload rules of Appendix A.2. Three rules follow Linux
//! (`sch_dualpi2`) instead:
//! - A weighted round robin selects the queue that is served.
//! - The input of the controller is the larger of the delays of the two queues.
//! - The controller drops and marks only above a minimum backlog.
//!
//! Options select the other rules of Linux: a step in packets, `min_qlen_step`, random decisions,
//! drops on arrival, no drops on overload. An option selects the time-shifted FIFO instead of the
//! round robin.
//!
//! Not implemented: queue protection, GSO, the memory limit. Difference: the timer stops while an
//! update would change nothing.

use crate::queue_disc::{QueueDisc, QueueState};
use crate::timed_fifo::TimedFifo;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, Ecn, Packet, Ring, Setup,
    Stream, Time, above, at_least,
};

mod config;

pub use config::DualPi2Config;
use config::{Decisions, NativeMarks, Scheduler};

/// p_Lmax: coupled probability at and above which the L queue is overloaded (Appendix A.2).
const SATURATED: f64 = 1.0;
/// Sum of the weights of the two queues.
const WEIGHTS: i64 = 100;

/// One of the two queues of DualPI2.
#[derive(Clone, Debug)]
struct SubQueue {
    fifo: TimedFifo,
    /// Random numbers of the decisions. `None`: evenly spaced decisions.
    stream: Option<Stream>,
    /// Sum of the probabilities of the calls of `recurs` since the last mark or drop (RFC 9332
    /// Appendix A.1).
    count: f64,
}

impl SubQueue {
    fn new(stream: Option<Stream>) -> SubQueue {
        SubQueue { fifo: TimedFifo::default(), stream, count: 0.0 }
    }

    /// Returns true for the fraction `likelihood` of all calls: with random numbers, or for evenly
    /// spaced calls (`recur` of RFC 9332).
    fn recurs(&mut self, likelihood: f64) -> bool {
        if let Some(stream) = &mut self.stream {
            return stream.bernoulli(likelihood);
        }
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
    native_marks: NativeMarks,
    scheduler: Scheduler,
    low_latency: SubQueue,
    classic: SubQueue,
    /// For each packet of the L queue, true if the ramp or step applies. Empty if `min_qlen_step` is
    /// 0, so that it applies to all packets.
    steps: Ring<bool>,
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
        checks.nested("", config.native_marks());
        checks.nested("", config.scheduler());
        checks.finish()
    }

    fn build(config: DualPi2Config, setup: Setup<'_, T>) -> Result<DualPi2, ConfigError> {
        let is_random = config.decisions == Decisions::Random;
        let stream = |name| is_random.then(|| setup.seed.child(name).stream());
        let mut made = DualPi2 {
            native_marks: config.native_marks()?,
            scheduler: config.scheduler()?,
            config,
            low_latency: SubQueue::new(stream("low-latency")),
            classic: SubQueue::new(stream("classic")),
            steps: Ring::default(),
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
        self.config.drop_overload && self.coupled_probability() >= SATURATED
    }

    /// `laqm`, and `do_step_aqm` of Linux: native mark probability p'_L of a departing packet with
    /// sojourn time `sojourn`. Returns zero if fewer than Th_len packets remain in the L queue.
    fn native_probability(&self, sojourn: Duration) -> f64 {
        let left = self.low_latency.fifo.len() as u64;
        if left < self.config.th_len {
            return 0.0;
        }
        match self.native_marks {
            NativeMarks::Step(step) => f64::from(u8::from(left > step)),
            NativeMarks::Ramp { start_ns, width_ns } => {
                match sojourn.as_nanos().saturating_sub(start_ns) {
                    0 => 0.0,
                    above if above >= width_ns => 1.0,
                    above => above as f64 / width_ns as f64,
                }
            }
        }
    }

    /// Returns true if the backlog is at least the size of two large packets. Below this minimum
    /// the controller neither drops nor marks. In RFC 9332 only the native marks of the L queue
    /// have a minimum backlog (Th_len).
    fn has_standing_queue(&self) -> bool {
        self.backlog() >= Bytes(2 * self.config.mtu_bytes)
    }

    /// Returns true if the scheduler serves the L queue next: according to the credit of the weighted
    /// round robin, or unless the oldest classic packet arrived earlier than the oldest packet of the
    /// L queue by more than the time shift.
    fn low_latency_is_next(&self) -> bool {
        let (low_latency, classic) = (&self.low_latency.fifo, &self.classic.fifo);
        let (Some((since, _)), Some((classic_since, _))) = (low_latency.oldest(), classic.oldest())
        else {
            return !low_latency.is_empty();
        };
        match self.scheduler {
            Scheduler::TimeShift(shift) => {
                since.saturating_since(classic_since).as_nanos() <= shift
            }
            Scheduler::RoundRobin(_) => self.credit <= 0,
        }
    }

    /// Sets the initial credit of the round robin.
    fn restart_round(&mut self) {
        if let Scheduler::RoundRobin(classic) = self.scheduler {
            self.credit = self.config.mtu_bytes as i64 * (2 * classic - WEIGHTS);
        }
    }

    /// Adds a packet of the L queue to the credit of the round robin.
    fn credit_low_latency(&mut self, size: u16) {
        if let Scheduler::RoundRobin(classic) = self.scheduler {
            self.credit += classic * i64::from(size);
        }
    }

    /// Subtracts a packet of the classic queue from the credit of the round robin.
    fn credit_classic(&mut self, size: u16) {
        if let Scheduler::RoundRobin(classic) = self.scheduler {
            self.credit -= (WEIGHTS - classic) * i64::from(size);
        }
    }

    /// Dequeues a packet from the L queue. Returns true if the packet is sent.
    fn take_low_latency(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let Some((since, taken)) = self.low_latency.fifo.pop() else { return false };
        *packet = taken;
        if !self.classic.fifo.is_empty() {
            self.credit_low_latency(packet.size);
        }
        let applies = self.steps.pop_front().unwrap_or(true);
        let sojourn = ctx.now.saturating_since(since);
        let native = if applies { self.native_probability(sojourn) } else { 0.0 };
        if self.config.drop_early {
            self.mark_low_latency(packet, native, ctx);
            return true;
        }
        !self.drops_low_latency(packet, native, ctx)
    }

    /// Decides about a packet of the L queue with the native mark probability `native`: marks it, or
    /// drops it and returns true.
    fn drops_low_latency(&mut self, packet: &mut Packet, native: f64, ctx: &mut Ctx<'_>) -> bool {
        let is_standing = self.has_standing_queue();
        if is_standing && self.is_overloaded() {
            if self.low_latency.recurs(self.classic_probability()) {
                ctx.drop(*packet, DropReason::Early);
                return true;
            }
            ctx.mark(packet);
        } else {
            let coupled = if is_standing { self.coupled_probability() } else { 0.0 };
            self.mark_low_latency(packet, native.max(coupled), ctx);
        }
        false
    }

    fn mark_low_latency(&mut self, packet: &mut Packet, probability: f64, ctx: &mut Ctx<'_>) {
        if self.low_latency.recurs(probability) {
            ctx.mark(packet);
        }
    }

    /// Dequeues a packet from the classic queue. Returns true if the packet is sent.
    fn take_classic(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if !self.classic.fifo.pop_into(packet) {
            return false;
        }
        if !self.low_latency.fifo.is_empty() {
            self.credit_classic(packet.size);
        }
        self.config.drop_early || !self.drops_classic(packet, ctx)
    }

    /// Decides about a packet of the classic queue: marks it, or drops it and returns true.
    fn drops_classic(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if !self.has_standing_queue() || !self.classic.recurs(self.classic_probability()) {
            return false;
        }
        if self.is_overloaded() || !packet.ecn.is_capable() {
            ctx.drop(*packet, DropReason::Early);
            return true;
        }
        ctx.mark(packet);
        false
    }

    /// Returns true if a packet with this ECN field enters the L queue.
    fn is_low_latency(&self, ecn: Ecn) -> bool {
        match ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.config.any_ect,
            Ecn::NotEct => false,
        }
    }

    /// `dualpi2_update`: updates the base probability.
    fn update(&mut self, now: Time) {
        let DualPi2Config { target_ns, alpha, beta, .. } = self.config;
        let delay = self.low_latency.delay(now).max(self.classic.delay(now)).as_secs_lossy();
        let target = Duration::from_nanos(target_ns).as_secs_lossy();
        let step = alpha * (delay - target) + beta * (delay - self.delay_old);
        let most =
            if self.config.drop_overload { 1.0 } else { (1.0 / self.config.coupling).min(1.0) };
        self.base = (self.base + step).clamp(0.0, most);
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
        let is_scalable = self.is_low_latency(packet.ecn);
        let mut packet = *packet;
        if self.config.drop_early {
            let is_dropped = if is_scalable {
                self.drops_low_latency(&mut packet, 0.0, ctx)
            } else {
                self.drops_classic(&mut packet, ctx)
            };
            if is_dropped {
                return;
            }
        }
        if is_scalable && self.config.min_qlen_step > 0 {
            let waiting = self.low_latency.fifo.len() as u64;
            self.steps.push_back(waiting >= self.config.min_qlen_step);
        }
        let half = if is_scalable { &mut self.low_latency } else { &mut self.classic };
        half.fifo.push(&packet, ctx.now);
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
