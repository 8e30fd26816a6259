//! Slope Based Discard: drops a packet at the front if the buffer fills too fast.
//!
//! Source: Alcaraz & Cerdán 2006 §3 (`sbd-2006`), for the buffer of a radio bearer (RLC). The
//! discipline has two timers: C measures how fast the buffer fills, and T_r is the reaction time
//! after a drop. Not implemented: occupancy in bits; here the occupancy is a number of packets.
//!
//! Differences: the paper's pseudocode starts a new measurement within T_r after a drop, but the
//! paper's text excludes this. Here C is started only while both timers are off, unless
//! [`SbdAfterDrop::Rearm`] selects the rule of the pseudocode. Eq. 1 has no value if the threshold
//! th_n would exceed maxth; here th_n is then maxth and C is T_r.

use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState};
use crate::rate_table::{RateRow, RateTable};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, LinkRate, Packet, Setup,
    Time, at_least, at_most,
};
use serde::Deserialize;

/// Time of the check of the occupancy after a timer has expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SbdExpiry {
    /// When the timer expires (sbd-2006, last part of the pseudocode).
    #[default]
    Timer,
    /// At the next arrival.
    Arrival,
}

/// Action after a drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SbdAfterDrop {
    /// Neither measure nor drop for T_r (sbd-2006 §3, the text).
    #[default]
    React,
    /// Start T_r and C immediately (sbd-2006 §3, the pseudocode as printed).
    Rearm,
}

/// Configuration set by the user. The default values in a scenario are those for 384 kbit/s
/// (sbd-2006 Table 3).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SbdConfig {
    /// Threshold maxth, packets: maximum number of packets, waiting or held by the link. At least
    /// 1.
    pub limit: usize,
    /// Threshold minth, packets: no drops below it. At most `limit`.
    pub min_th: usize,
    /// Reaction time T_r, ns: the time after which a drop reduces the arrival rate. At least 1.
    pub reaction_time_ns: u64,
    /// Increase α of the occupancy over which the slope is measured, packets. At least 1.
    pub alpha: usize,
    /// C and T_r are rounded up to multiples of this time, ns. At least 1; a TTI in sbd-2006 §3.
    pub tick_ns: u64,
    /// Time of the check of the occupancy after a timer has expired.
    #[serde(default)]
    pub expiry: SbdExpiry,
    /// Action after a drop.
    #[serde(default)]
    pub after_drop: SbdAfterDrop,
    /// Mark ECN-capable packets instead of dropping them, while the buffer is not full.
    #[serde(default)]
    pub ecn: bool,
    /// Values of `min_th` and `reaction_time_ns` for ranges of the link rate. If the list is empty,
    /// these values do not depend on the rate.
    #[serde(default)]
    pub by_rate: Vec<SbdRow>,
}

/// Parameters for links with a rate of at least `rate_bps`, up to the rate of the next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SbdRow {
    /// Lowest link rate of the row, bit/s.
    pub rate_bps: u64,
    /// Threshold minth, packets. At most `limit`.
    pub min_th: usize,
    /// Reaction time T_r, ns. At least 1.
    pub reaction_time_ns: u64,
}

impl RateRow for SbdRow {
    fn rate_bps(&self) -> u64 {
        self.rate_bps
    }
}

/// Returns the threshold th_n = BO + α, at most maxth. BO is `occupancy`. If the occupancy exceeds
/// th_n before C_n expires, the buffer fills too fast.
///
/// Source: sbd-2006 §3.
pub fn sbd_threshold(occupancy: usize, alpha: usize, limit: usize) -> usize {
    occupancy.saturating_add(alpha).min(limit)
}

/// Returns the critical rate r_c, packets/s: at this rate of increase the occupancy rises from th_n
/// to maxth within T_r.
///
/// Source: sbd-2006 eq. 1.
pub fn sbd_critical_rate(threshold: usize, reaction_time: Duration, limit: usize) -> f64 {
    limit.saturating_sub(threshold) as f64 / reaction_time.as_secs_lossy()
}

/// Returns the measuring time C_n = α / r_c, rounded up to a multiple of `tick`. If BO + α is at
/// least maxth, r_c is 0; C_n is then T_r.
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

/// Rounds `nanos` up to a multiple of `tick`. The result is at most the largest u64.
fn in_whole_ticks(nanos: u128, tick: Duration) -> Duration {
    let tick = u128::from(tick.as_nanos());
    let rounded = nanos.div_ceil(tick).saturating_mul(tick);
    Duration::from_nanos(u64::try_from(rounded).unwrap_or(u64::MAX))
}

/// Phase of the discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Neither timer runs: the occupancy was too small at the last check.
    Idle,
    /// C_n runs until `until`. If the occupancy exceeds `threshold` earlier, the buffer fills too
    /// fast.
    Measuring { threshold: usize, until: Time },
    /// T_r runs until `until`: the last drop has not yet reduced the arrival rate.
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
    /// Expiry time of T_r if T_r runs in parallel with C ([`SbdAfterDrop::Rearm`]).
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
    /// Starts C_n if the occupancy is at least minth − α; otherwise neither timer runs.
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

    /// Time at which the next timer expires.
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

    /// Returns true if the occupancy is at least minth − α.
    fn may_measure(&self) -> bool {
        self.fifo.occupancy() >= self.min_th.saturating_sub(self.alpha)
    }

    /// Drops the oldest packet whose transmission has not started, or the arriving packet if there
    /// is no such packet. If `ecn` is set and the buffer is not full, an ECN-capable packet is
    /// marked instead.
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

    /// If the new rate selects another row, applies the parameters of the row, stops both timers,
    /// and checks the occupancy (sbd-2006 §6).
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
