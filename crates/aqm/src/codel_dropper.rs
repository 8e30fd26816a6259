//! CoDel's dropper: decides when the packet at the head of a queue is dropped or marked.
//!
//! Sources: RFC 8289 §5 for drops; RFC 8290 §4.2 for marks instead of drops; Linux
//! (`include/net/codel_impl.h`) for the CE threshold. Each signal drops or marks one packet. CoDel
//! has one dropper; FQ-CoDel has one dropper for each queue. Difference: INTERVAL / √count is
//! computed in double precision, not with the fixed-point Newton step of RFC 8289 §5.7.

use crate::timed_fifo::TimedFifo;
use airpath_core::{Bytes, Checks, Ctx, DropReason, Duration, Ecn, Packet, Time, at_least};

/// A new dropping state resumes at the previous drop rate if it starts within this number of
/// intervals after the previous one (§5.5).
const RESUME_WITHIN_INTERVALS: u64 = 16;

/// Parameters of the dropper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParameters {
    /// TARGET: the acceptable standing sojourn time.
    pub target: Duration,
    /// INTERVAL: time for which the sojourn time must stay at or above the target before the first
    /// drop.
    pub interval: Duration,
    /// MAXPACKET: no packet is dropped while the remaining backlog is at most this size.
    pub mtu: Bytes,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Marks above a fixed sojourn time, if any.
    pub threshold: Option<CeThreshold>,
}

/// CE threshold of Linux: a packet with a sojourn time above it is marked, independently of CoDel's
/// signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeThreshold {
    /// Sojourn time above which packets are marked.
    pub sojourn: Duration,
    /// If set, only packets with ECT(1) are marked.
    pub ect1_only: bool,
}

impl CeThreshold {
    /// Creates the threshold from a time in ns, if any.
    pub fn new(threshold_ns: Option<u64>, ect1_only: bool) -> Option<CeThreshold> {
        let sojourn = Duration::from_nanos(threshold_ns?);
        Some(CeThreshold { sojourn, ect1_only })
    }

    /// Marks the head of `store`, which departs next, if the threshold requires it.
    #[cold]
    fn mark_head(self, store: &mut TimedFifo, ctx: &mut Ctx<'_>) {
        let Some((arrived, _)) = store.oldest() else { return };
        let Some(packet) = store.front_mut() else { return };
        let applies =
            if self.ect1_only { packet.ecn == Ecn::Ect1 } else { packet.ecn.is_capable() };
        if applies && packet.ecn != Ecn::Ce && ctx.now.saturating_since(arrived) > self.sojourn {
            ctx.mark(packet);
        }
    }
}

impl CodelParameters {
    /// Creates the parameters from times in ns.
    pub fn new(
        target_ns: u64,
        interval_ns: u64,
        mtu_bytes: u64,
        ecn: bool,
        threshold: Option<CeThreshold>,
    ) -> CodelParameters {
        CodelParameters {
            target: Duration::from_nanos(target_ns),
            interval: Duration::from_nanos(interval_ns),
            mtu: Bytes(mtu_bytes),
            ecn,
            threshold,
        }
    }

    /// Rejects a target or an interval of 0.
    pub fn check(target_ns: u64, interval_ns: u64, checks: &mut Checks) {
        checks.within("target_ns", target_ns, at_least(1_u64));
        checks.within("interval_ns", interval_ns, at_least(1_u64));
    }
}

/// Returns the time between the signal with the number `count` and the next signal: INTERVAL /
/// √count (RFC 8289 §5.6). A signal is a drop or a mark.
pub fn codel_spacing(interval: Duration, count: u32) -> Duration {
    Duration::from_nanos((interval.as_nanos() as f64 / f64::from(count).sqrt()).round() as u64)
}

/// State of the dropper of one queue. The names of the fields are those of RFC 8289 §5.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodelDropper {
    /// Time at which the sojourn time will have been at or above the target for one interval.
    first_above_time: Option<Time>,
    /// Time of the next drop or mark in the dropping state.
    drop_next: Time,
    /// Number of signals since the dropping state was entered.
    count: u32,
    /// `count` when the dropping state was entered.
    lastcount: u32,
    /// True in the dropping state.
    dropping: bool,
}

impl CodelDropper {
    /// Returns true in the dropping state.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Returns true if the sojourn time was at or above the target when the last packet was
    /// dequeued.
    #[cfg(test)]
    pub fn is_watching(&self) -> bool {
        self.first_above_time.is_some()
    }

    /// Number of signals since the dropping state was entered. If the drop rate of a previous
    /// dropping state was resumed, the signals of that state are included.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Drops packets at the head of `store` as CoDel requires and moves the first remaining packet
    /// to `packet`. Returns false if no packet remains.
    #[inline(always)]
    pub fn dequeue_into(
        &mut self,
        parameters: &CodelParameters,
        store: &mut TimedFifo,
        packet: &mut Packet,
        ctx: &mut Ctx<'_>,
    ) -> bool {
        let Some(ok_to_drop) = self.check_head(parameters, store, ctx.now) else {
            return false;
        };
        let lets_through = if self.dropping || ok_to_drop {
            self.decide(ok_to_drop, parameters, store, ctx)
        } else {
            true
        };
        if let Some(threshold) = parameters.threshold {
            threshold.mark_head(store, ctx);
        }
        lets_through && store.pop_into(packet)
    }

    /// Drops or marks packets at the head. Called in the dropping state and when this state starts.
    /// Returns true if a packet remains at the head.
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
        let has_head = signal_at_head(store, parameters.ecn, ctx)
            || self.check_head(parameters, store, ctx.now).is_some();
        self.start_dropping(parameters.interval, ctx.now);
        has_head
    }

    /// `dodequeue`: returns true if the sojourn time of the head packet has been at or above the
    /// target for an interval. Returns `None` if the queue is empty. The remaining backlog is
    /// computed as if the head packet had been removed.
    #[inline]
    fn check_head(
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

    /// Sends the signals that are due. Several signals may be due at the same time; a mark ends the
    /// loop, because the marked packet is sent.
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
            let Some(ok_to_drop) = self.check_head(parameters, store, ctx.now) else {
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

/// Marks or drops the oldest packet. A marked packet stays in the queue. Returns true if the packet
/// was marked.
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
