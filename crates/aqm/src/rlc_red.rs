//! RED for the RLC buffer of a radio bearer. It uses the instantaneous occupancy and drops packets
//! at the front.
//!
//! Source: Alcaraz & Cerdán 2006 §2 and §5 (`sbd-2006`): RED (Floyd & Jacobson 1993, `red-1993`) on
//! the instantaneous occupancy of an RLC buffer, with max_th equal to the buffer size. Not
//! implemented: the gentle curve, because max_th is the buffer size.
//!
//! The paper gives only the thresholds and max_p. Assumptions: arrivals between drops are counted
//! as in red-1993 Fig. 2, and the dropped packet is the packet that Slope Based Discard would drop.
//! Options select other rules.

use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState};
use crate::rate_table::{RateRow, RateTable};
use crate::red_dropper::red_final_probability;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, LinkRate, Packet, Setup, Stream,
    at_least, below,
};
use serde::Deserialize;

/// Packet that is dropped if RED decides to drop a packet at an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RlcRedDrop {
    /// The oldest packet whose transmission has not started, or the arriving packet if there is no
    /// such packet.
    #[default]
    Front,
    /// The arriving packet.
    Arrival,
}

/// Configuration set by the user. The default values in a scenario are those for 384 kbit/s
/// (sbd-2006 Table 5).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RlcRedConfig {
    /// Threshold max_th, packets: maximum number of packets, waiting or held by the link. At least
    /// 1.
    pub limit: usize,
    /// Threshold min_th, packets: no drops below it. Below `limit`.
    pub min_th: usize,
    /// Probability max_p at `limit`, in [0, 1].
    pub max_p: f64,
    /// If set, the drop probability depends on the number of arrivals since the last drop, so that
    /// drops are evenly spaced.
    #[serde(default = "yes")]
    pub count: bool,
    /// Packet that is dropped.
    #[serde(default)]
    pub drop: RlcRedDrop,
    /// Mark ECN-capable packets instead of dropping them.
    #[serde(default)]
    pub ecn: bool,
    /// Values of `min_th` and `max_p` for ranges of the link rate. If the list is empty, these
    /// values do not depend on the rate.
    #[serde(default)]
    pub by_rate: Vec<RlcRedRow>,
}

const fn yes() -> bool {
    true
}

/// Parameters for links with a rate of at least `rate_bps`, up to the rate of the next row.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RlcRedRow {
    /// Lowest link rate of the row, bit/s.
    pub rate_bps: u64,
    /// Threshold min_th, packets. Below `limit`.
    pub min_th: usize,
    /// Probability max_p, in [0, 1].
    pub max_p: f64,
}

impl RateRow for RlcRedRow {
    fn rate_bps(&self) -> u64 {
        self.rate_bps
    }
}

/// Returns p_b, the drop probability of an arrival that finds `occupancy` packets. The probability
/// rises linearly from 0 at `min_th` to `max_p` at `limit`; `occupancy` must be below `limit`.
///
/// Source: red-1993 §4, with the occupancy instead of the average.
pub fn rlc_red_drop_probability(occupancy: usize, min_th: usize, limit: usize, max_p: f64) -> f64 {
    occupancy.saturating_sub(min_th) as f64 / (limit - min_th) as f64 * max_p
}

/// A first-in-first-out queue under RED with the instantaneous occupancy as input.
#[derive(Clone, Debug)]
pub struct RlcRed {
    limit: usize,
    min_th: usize,
    max_p: f64,
    counts: bool,
    drop: RlcRedDrop,
    ecn: bool,
    by_rate: RateTable<RlcRedRow>,
    stream: Stream,
    /// `count` of red-1993 Fig. 2. `None` represents the value −1.
    count: Option<u64>,
    fifo: Fifo,
}

impl<T: ?Sized> Component<T> for RlcRed {
    type Config = RlcRedConfig;

    fn check(config: &RlcRedConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let is_positive = checks.within("limit", config.limit, at_least(1_u64));
        let limit = if is_positive { config.limit } else { usize::MAX };
        check_row(limit, config.min_th, config.max_p, &mut checks);
        RateTable::check(&config.by_rate, &mut checks, |row, checks| {
            check_row(limit, row.min_th, row.max_p, checks);
        });
        checks.finish()
    }

    fn build(config: RlcRedConfig, setup: Setup<'_, T>) -> Result<RlcRed, ConfigError> {
        let RlcRedConfig { limit, min_th, max_p, count, drop, ecn, .. } = config;
        Ok(RlcRed {
            limit,
            min_th,
            max_p,
            counts: count,
            drop,
            ecn,
            by_rate: RateTable::new(config.by_rate),
            stream: setup.seed.stream(),
            count: None,
            fifo: Fifo::default(),
        })
    }
}

fn check_row(limit: usize, min_th: usize, max_p: f64, checks: &mut Checks) {
    checks.related("min_th", min_th, below(limit), "not below limit");
    checks.within("max_p", max_p, 0.0..=1.0);
}

impl RlcRed {
    /// Returns true if the arrival that finds `occupancy` packets is selected for a drop (red-1993
    /// Fig. 2).
    fn is_selected(&mut self, occupancy: usize) -> bool {
        if occupancy < self.min_th {
            self.count = None;
            return false;
        }
        let count = self.count.map_or(0, |count| count + 1);
        let p_b = rlc_red_drop_probability(occupancy, self.min_th, self.limit, self.max_p);
        let p_a = red_final_probability(p_b, if self.counts { count } else { 0 }, false);
        let is_selected = self.stream.bernoulli(p_a);
        self.count = Some(if is_selected { 0 } else { count });
        is_selected
    }

    /// Marks or drops the packet that `drop` selects.
    fn signal(&mut self, arrival: &Packet, ctx: &mut Ctx<'_>) {
        match self.drop {
            RlcRedDrop::Front => {
                self.fifo.push(arrival, ctx.now);
                self.fifo.signal_at_front(self.ecn, ctx);
            }
            RlcRedDrop::Arrival if self.ecn && arrival.ecn.is_capable() => {
                ctx.mark(self.fifo.push(arrival, ctx.now));
            }
            RlcRedDrop::Arrival => ctx.drop(*arrival, DropReason::Early),
        }
    }
}

impl QueueDisc for RlcRed {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let occupancy = self.fifo.occupancy();
        if occupancy >= self.limit {
            self.count = Some(0);
            ctx.drop(*packet, DropReason::Overflow);
        } else if self.is_selected(occupancy) {
            self.signal(packet, ctx);
        } else {
            self.fifo.push(packet, ctx.now);
        }
    }

    /// If the new rate selects another row, applies the parameters of the row and restarts `count`.
    fn on_rate(&mut self, rate: LinkRate, _ctx: &mut Ctx<'_>) {
        let Some(row) = self.by_rate.change(rate.nominal) else { return };
        self.min_th = row.min_th;
        self.max_p = row.max_p;
        self.count = None;
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
        self.fifo.state()
    }

    fn on_bypass(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.fifo.occupancy() < self.limit
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }
}

#[cfg(test)]
mod tests;
