//! Slope Based Discard: a drop at the front when the buffer fills faster than it may.
//!
//! Source: Alcaraz & Cerdán 2006 §3 (`sbd-2006`), for the buffer of a radio bearer (RLC).
//! Left out: occupancy in bits; every packet counts one, regardless of its size.
//! Differs: the paper's pseudocode measures again within T_r after a drop, which its text excludes;
//! here C is started only while both timers are off, unless [`SbdAfterDrop::Rearm`] selects the
//! pseudocode. Where th_n would exceed maxth, eq. 1 has no value: there th_n is maxth and C is T_r.

use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState};
use crate::rate_table::{RateRow, RateTable};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, LinkRate, Packet, Setup,
    Time, at_least, at_most,
};
use serde::Deserialize;

/// Action when a timer expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SbdExpiry {
    /// The occupancy is examined at once (sbd-2006, the pseudocode's last part).
    #[default]
    Timer,
    /// It is examined at the next arrival.
    Arrival,
}

/// Action after a drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SbdAfterDrop {
    /// Nothing is measured and nothing dropped for T_r (sbd-2006 §3, the text).
    #[default]
    React,
    /// T_r is started, and so is C, at once (sbd-2006 §3, the pseudocode as printed).
    Rearm,
}

/// Configuration set by the user. The defaults of the scenario are those for 384 kbit/s (sbd-2006
/// Table 3).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SbdConfig {
    /// maxth, packets: most that may wait or be held by the link. At least 1.
    pub limit: usize,
    /// minth, packets: below it nothing is dropped. At most `limit`.
    pub min_th: usize,
    /// T_r, ns: how long a drop takes to be felt in the buffer. At least 1.
    pub reaction_time_ns: u64,
    /// α, packets: the rise over which the slope is measured. At least 1.
    pub alpha: usize,
    /// C and T_r are rounded up to multiples of this, ns. At least 1; sbd-2006 §3: a TTI.
    pub tick_ns: u64,
    /// Action when a timer expires.
    #[serde(default)]
    pub expiry: SbdExpiry,
    /// Action after a drop.
    #[serde(default)]
    pub after_drop: SbdAfterDrop,
    /// Mark an ECN-capable packet instead of dropping it, while the buffer is not full.
    #[serde(default)]
    pub ecn: bool,
    /// `min_th` and `reaction_time` by the link's rate; empty: they stay as they are.
    #[serde(default)]
    pub by_rate: Vec<SbdRow>,
}

/// Parameters for links of `rate_bps` and more, up to the next row's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SbdRow {
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// minth, packets. At most `limit`.
    pub min_th: usize,
    /// T_r, ns. At least 1.
    pub reaction_time_ns: u64,
}

impl RateRow for SbdRow {
    fn rate_bps(&self) -> u64 {
        self.rate_bps
    }
}

/// th_n, the occupancy that must not be reached before C_n expires: BO + α, at most maxth.
///
/// Source: sbd-2006 §3.
pub fn sbd_threshold(occupancy: usize, alpha: usize, limit: usize) -> usize {
    occupancy.saturating_add(alpha).min(limit)
}

/// r_c, the filling rate that, if sustained, fills the buffer from th_n within T_r, packets/s.
///
/// Source: sbd-2006 eq. 1.
pub fn sbd_critical_rate(threshold: usize, reaction_time: Duration, limit: usize) -> f64 {
    limit.saturating_sub(threshold) as f64 / reaction_time.as_secs_lossy()
}

/// C_n = α / r_c, rounded up to whole `tick`s; T_r when BO + α reaches maxth, where r_c is 0.
///
/// Source: sbd-2006 §3.
pub fn sbd_measuring_time(
    occupancy: usize,
    alpha: usize,
    limit: usize,
    reaction_time: Duration,
    tick: Duration,
) -> Duration {
    let left = limit.saturating_sub(occupancy).saturating_sub(alpha);
    if left == 0 {
        return in_whole_ticks(u128::from(reaction_time.as_nanos()), tick);
    }
    let nanos = u128::from(reaction_time.as_nanos()) * alpha as u128;
    in_whole_ticks(nanos.div_ceil(left as u128), tick)
}

/// At most what a u64 holds.
fn in_whole_ticks(nanos: u128, tick: Duration) -> Duration {
    let tick = u128::from(tick.as_nanos());
    let rounded = nanos.div_ceil(tick).saturating_mul(tick);
    Duration::from_nanos(u64::try_from(rounded).unwrap_or(u64::MAX))
}

/// Phase of the discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Neither timer runs: the occupancy was too small when it was examined last.
    Idle,
    /// C_n runs until `until`: a crossing of `threshold` before that is too fast.
    Measuring { threshold: usize, until: Time },
    /// T_r runs until `until`: the last drop has not taken effect yet.
    Reacting { until: Time },
}

/// A first-in-first-out queue under Slope Based Discard.
#[derive(Clone, Debug)]
pub struct Sbd {
    limit: usize,
    min_th: usize,
    reaction_time: Duration,
    alpha: usize,
    tick: Duration,
    expiry: SbdExpiry,
    after_drop: SbdAfterDrop,
    ecn: bool,
    by_rate: RateTable<SbdRow>,
    phase: Phase,
    /// Expiry of T_r, which runs in parallel with C ([`SbdAfterDrop::Rearm`]).
    reaction_ends: Time,
    fifo: Fifo,
}

impl<T: ?Sized> Component<T> for Sbd {
    type Config = SbdConfig;

    fn check(config: &SbdConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let is_positive = checks.within("limit", config.limit, at_least(1_u64));
        let limit = if is_positive { config.limit } else { usize::MAX };
        check_row(limit, config.min_th, config.reaction_time_ns, &mut checks);
        checks.within("alpha", config.alpha, at_least(1_u64));
        checks.within("tick_ns", config.tick_ns, at_least(1_u64));
        RateTable::check(&config.by_rate, &mut checks, |row, checks| {
            check_row(limit, row.min_th, row.reaction_time_ns, checks);
        });
        checks.finish()
    }

    fn build(config: SbdConfig, _setup: Setup<'_, T>) -> Result<Sbd, ConfigError> {
        let SbdConfig { limit, min_th, reaction_time_ns, alpha, tick_ns, .. } = config;
        Ok(Sbd {
            limit,
            min_th,
            reaction_time: Duration::from_nanos(reaction_time_ns),
            alpha,
            tick: Duration::from_nanos(tick_ns),
            expiry: config.expiry,
            after_drop: config.after_drop,
            ecn: config.ecn,
            by_rate: RateTable::new(config.by_rate),
            phase: Phase::Idle,
            reaction_ends: Time::NEVER,
            fifo: Fifo::default(),
        })
    }
}

fn check_row(limit: usize, min_th: usize, reaction_time_ns: u64, checks: &mut Checks) {
    checks.related("min_th", min_th, at_most(limit), "above limit");
    checks.within("reaction_time_ns", reaction_time_ns, at_least(1_u64));
}

impl Sbd {
    /// Starts C_n when the occupancy is minth − α or more; otherwise neither timer runs.
    fn examine(&mut self, now: Time) {
        let occupancy = self.fifo.occupancy();
        self.phase = if self.may_measure() {
            let Sbd { limit, alpha, reaction_time, tick, .. } = *self;
            let span = sbd_measuring_time(occupancy, alpha, limit, reaction_time, tick);
            Phase::Measuring {
                threshold: sbd_threshold(occupancy, alpha, limit),
                until: now + span,
            }
        } else {
            Phase::Idle
        };
    }

    /// When the next timer expires.
    #[inline]
    fn expires(&self) -> Time {
        let until = match self.phase {
            Phase::Idle => Time::NEVER,
            Phase::Measuring { until, .. } | Phase::Reacting { until } => until,
        };
        until.min(self.reaction_ends)
    }

    fn expire_if_due(&mut self, now: Time) {
        if now < self.expires() {
            return;
        }
        let is_reaction_over = now >= self.reaction_ends;
        if is_reaction_over {
            self.reaction_ends = Time::NEVER;
        }
        let is_phase_over = now >= self.expires();
        match self.expiry {
            SbdExpiry::Timer if is_phase_over || self.may_measure() => self.examine(now),
            SbdExpiry::Arrival if is_phase_over => self.phase = Phase::Idle,
            _ => {}
        }
    }

    /// Whether the occupancy is minth − α or more.
    fn may_measure(&self) -> bool {
        self.fifo.occupancy() >= self.min_th.saturating_sub(self.alpha)
    }

    /// The buffer fills faster than it may: the first packet whose transmission has not started is
    /// dropped, the arrival if there is no other. A full buffer drops instead of marking.
    fn signal(&mut self, arrival: &Packet, ctx: &mut Ctx<'_>) {
        let may_mark = self.ecn && self.fifo.occupancy() < self.limit;
        self.fifo.push(arrival, ctx.now);
        self.fifo.signal_at_front(may_mark, ctx);
        let reaction_time = u128::from(self.reaction_time.as_nanos());
        let until = ctx.now + in_whole_ticks(reaction_time, self.tick);
        match self.after_drop {
            SbdAfterDrop::React => self.phase = Phase::Reacting { until },
            SbdAfterDrop::Rearm => {
                self.reaction_ends = until;
                self.examine(ctx.now);
            }
        }
    }

    fn admit(&mut self, arrival: &Packet, ctx: &mut Ctx<'_>) {
        if self.fifo.occupancy() < self.limit {
            self.fifo.push(arrival, ctx.now);
        } else {
            ctx.drop(*arrival, DropReason::Overflow);
        }
    }
}

impl QueueDisc for Sbd {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.expire_if_due(ctx.now);
        match self.phase {
            Phase::Measuring { threshold, .. } if self.fifo.occupancy() + 1 >= threshold => {
                self.signal(packet, ctx);
            }
            Phase::Measuring { .. } | Phase::Reacting { .. } => self.admit(packet, ctx),
            Phase::Idle => {
                self.admit(packet, ctx);
                self.examine(ctx.now);
            }
        }
    }

    fn on_bypass(&mut self, _packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        self.expire_if_due(ctx.now);
        self.fifo.occupancy() < self.limit
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        self.expire_if_due(ctx.now);
    }

    /// Another row holds from now on: both timers stop, and the occupancy is examined (sbd-2006 §6).
    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        let Some(row) = self.by_rate.change(rate.nominal) else { return };
        self.min_th = row.min_th;
        self.reaction_time = Duration::from_nanos(row.reaction_time_ns);
        self.reaction_ends = Time::NEVER;
        self.examine(ctx.now);
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.fifo.pop_into(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        let next_wakeup = match self.expiry {
            SbdExpiry::Timer => self.expires(),
            SbdExpiry::Arrival => Time::NEVER,
        };
        QueueState { next_wakeup, ..self.fifo.state() }
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }
}

#[cfg(test)]
mod tests;
