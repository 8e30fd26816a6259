//! CoDel's dropper: when the packet at the head of a queue is dropped or marked.
//!
//! Source: RFC 8289 §5; marking in place of a drop, one packet per signal: RFC 8290 §4.2.
//! CoDel has one dropper for its queue, FQ-CoDel one for each of its queues.
//! Differs: the interval over the square root of the count is computed in double precision, not by
//! the fixed-point Newton step of RFC 8289 §5.7.

use crate::timed_fifo::TimedFifo;
use airpath_core::{Bytes, Checks, Ctx, DropReason, Duration, Packet, Time, at_least};

/// Dropping that begins again within this number of intervals resumes at its former rate (§5.5).
const RESUME_WITHIN_INTERVALS: u64 = 16;

/// Parameters of the dropper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParameters {
    /// TARGET: the acceptable standing sojourn time.
    pub target: Duration,
    /// INTERVAL: how long the sojourn time must stay at or above the target before the first drop.
    pub interval: Duration,
    /// MAXPACKET: nothing is dropped while no more than this is left in the queue.
    pub mtu: Bytes,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

impl CodelParameters {
    /// The parameters, spans in ns.
    pub fn new(target_ns: u64, interval_ns: u64, mtu_bytes: u64, ecn: bool) -> CodelParameters {
        CodelParameters {
            target: Duration::from_nanos(target_ns),
            interval: Duration::from_nanos(interval_ns),
            mtu: Bytes(mtu_bytes),
            ecn,
        }
    }

    /// Rejects a target or an interval of 0.
    pub fn check(target_ns: u64, interval_ns: u64, checks: &mut Checks) {
        checks.within("target_ns", target_ns, at_least(1_u64));
        checks.within("interval_ns", interval_ns, at_least(1_u64));
    }
}

/// The span between signal number `count` and the next: INTERVAL / √count, RFC 8289 §5.6.
pub fn codel_spacing(interval: Duration, count: u32) -> Duration {
    Duration::from_nanos((interval.as_nanos() as f64 / f64::from(count).sqrt()).round() as u64)
}

/// The state of one queue (RFC 8289 §5.2; names as there).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodelDropper {
    /// When the sojourn time, if it stays at or above the target, will have done so for an interval.
    first_above_time: Option<Time>,
    /// When to signal next, in the dropping state.
    drop_next: Time,
    /// Signals since the dropping state was entered.
    count: u32,
    /// `count` when the dropping state was entered.
    lastcount: u32,
    /// Whether the dropper is in the dropping state.
    dropping: bool,
}

impl CodelDropper {
    /// Whether the dropper is in the dropping state.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Whether the sojourn time was at or above the target when a packet left last.
    #[cfg(test)]
    pub fn is_watching(&self) -> bool {
        self.first_above_time.is_some()
    }

    /// Signals since the dropping state was entered, those of the state before it that it resumed
    /// included.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Moves the next packet of `store` that the dropper lets through to `packet`, and drops those
    /// before it; returns whether there was one.
    #[inline]
    pub fn dequeue_into(
        &mut self,
        parameters: &CodelParameters,
        store: &mut TimedFifo,
        packet: &mut Packet,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        let Some(ok_to_drop) = self.look_at_head(parameters, store, ctx.now) else {
            return false;
        };
        let lets_through = if self.dropping || ok_to_drop {
            self.decide(ok_to_drop, parameters, store, ctx)
        } else {
            true
        };
        lets_through && store.pop_into(packet)
    }

    /// In the dropping state, or about to enter it: drops or marks at the head; returns whether a
    /// packet is left there to let through.
    #[inline(never)]
    fn decide(
        &mut self,
        ok_to_drop: bool,
        parameters: &CodelParameters,
        store: &mut TimedFifo,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        if self.dropping {
            return self.continue_dropping(ok_to_drop, parameters, store, ctx);
        }
        let is_there = signal_at_head(store, parameters.ecn, ctx)
            || self.look_at_head(parameters, store, ctx.now).is_some();
        self.start_dropping(parameters.interval, ctx.now);
        is_there
    }

    /// `dodequeue`: whether the head has been bad for long enough, `None` without a head. It is
    /// judged as if it were taken, by what is left behind it.
    #[inline]
    fn look_at_head(
        &mut self,
        parameters: &CodelParameters,
        store: &TimedFifo,
        now: Time,
    ) -> Option<bool> {
        let Some((arrived, packet)) = store.oldest() else {
            self.first_above_time = None;
            self.dropping = false;
            return None;
        };
        let sojourn_time = now.saturating_since(arrived);
        if sojourn_time < parameters.target || store.backlog() <= parameters.mtu + packet.bytes() {
            self.first_above_time = None;
            return Some(false);
        }
        Some(match self.first_above_time {
            Some(first_above_time) => now >= first_above_time,
            None => {
                self.first_above_time = Some(now + parameters.interval);
                false
            }
        })
    }

    /// Several signals may be due at once; a mark ends the round, for its packet goes out.
    fn continue_dropping(
        &mut self,
        ok_to_drop: bool,
        parameters: &CodelParameters,
        store: &mut TimedFifo,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        self.dropping = ok_to_drop;
        while self.dropping && ctx.now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            if signal_at_head(store, parameters.ecn, ctx) {
                self.drop_next = self.drop_next + codel_spacing(parameters.interval, self.count);
                return true;
            }
            let Some(ok_to_drop) = self.look_at_head(parameters, store, ctx.now) else {
                return false;
            };
            self.dropping = ok_to_drop;
            if self.dropping {
                self.drop_next = self.drop_next + codel_spacing(parameters.interval, self.count);
            }
        }
        true
    }

    fn start_dropping(&mut self, interval: Duration, now: Time) {
        let delta = self.count - self.lastcount;
        let was_dropping_recently =
            now.saturating_since(self.drop_next) < interval.saturating_mul(RESUME_WITHIN_INTERVALS);
        self.count = if delta > 1 && was_dropping_recently { delta } else { 1 };
        self.lastcount = self.count;
        self.drop_next = now + codel_spacing(interval, self.count);
        self.dropping = true;
    }
}

/// Marks the oldest packet, which stays, or drops it; returns whether it was marked.
fn signal_at_head(store: &mut TimedFifo, ecn: bool, ctx: &mut Ctx<'_>) -> bool {
    let Some(head) = store.front_mut() else { return false };
    if ecn && head.ecn.is_capable() {
        ctx.mark(head);
        return true;
    }
    if let Some((_, packet)) = store.pop() {
        ctx.drop(packet, DropReason::Early);
    }
    false
}
