//! L4Span: marks by the predicted time in which the backlog of a radio link drains.
//!
//! Source: Wan and Jamieson, "L4Span: Spanning Congestion Signaling over NextG Networks for
//! Interactive Applications", CoNEXT 2025 (arXiv 2510.02682), and its prototype
//! (`PrincetonUniversity/L4Span`, `lib/mark/mark_entity_impl.h`).
//! Not implemented: marks in ACKs of the uplink (short circuit), the division of the classic
//! threshold by the number of UEs. Difference: a departing packet is marked, not an arriving one.

use crate::egress_rate::EgressRate;
use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Duration, Ecn, Packet, Setup, Stream,
    Time, above, at_least,
};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L4SpanConfig {
    /// Maximum number of packets, waiting or held by the link. At least 1.
    pub limit: usize,
    /// Time in which the backlog must drain, ns. At least 1; 10 ms in the prototype.
    pub target_ns: u64,
    /// Shortest time between two reports of the egress rate, ns. At least 1; 1 ms in the prototype.
    pub report_ns: u64,
    /// Number of packets in the predicted rate, 1 to 1000; 50 in the prototype.
    pub packets: usize,
    /// Backlog above which packets with ECT(0) are marked, bytes. 150 · 1500 bytes in the prototype
    /// with one UE.
    pub classic_threshold_bytes: u64,
    /// K, constant of the mark probability of packets with ECT(0). Above 0; 7 in the prototype,
    /// which divides 8 · 1.75/2 segments, in bits, by a backlog in bytes.
    pub classic_constant: f64,
    /// Segment size in that probability, bytes. At least 1; 1460 in the prototype.
    pub mss_bytes: u64,
}

/// Returns the mark probability of a packet with ECT(1). `required` is the rate that drains the
/// backlog in time, `rate` the predicted rate and `error` its error, all in the same unit.
pub fn l4span_l4s_probability(required: f64, rate: f64, error: f64) -> f64 {
    if required > rate + error {
        1.0
    } else if required <= rate - error {
        0.0
    } else {
        (required - rate + error) / (2.0 * error)
    }
}

/// Returns the mark probability of a packet with ECT(0), (K MSS / (rate · sojourn))². The product
/// of the predicted rate and the predicted sojourn time is `backlog`, in the unit of `mss`.
pub fn l4span_classic_probability(backlog: f64, mss: f64, constant: f64) -> f64 {
    let share = constant * mss / backlog;
    (share * share).min(1.0)
}

/// Sum of the predicted sojourn times since the start of measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Predicted {
    sum_s: f64,
    count: u64,
}

/// A first-in-first-out queue with the marks of L4Span.
#[derive(Clone, Debug)]
pub struct L4Span {
    config: L4SpanConfig,
    stream: Stream,
    fifo: Fifo,
    egress: EgressRate,
    /// Backlog after the latest departure.
    left: Bytes,
    /// Mark probability of packets with ECT(1).
    l4s: f64,
    /// Mark probability of packets with ECT(0).
    classic: f64,
    predicted: Predicted,
}

impl<T: ?Sized> Component<T> for L4Span {
    type Config = L4SpanConfig;

    fn check(config: &L4SpanConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("limit", config.limit, at_least(1_u64));
        checks.within("target_ns", config.target_ns, at_least(1_u64));
        checks.within("report_ns", config.report_ns, at_least(1_u64));
        checks.within("packets", config.packets, 1..=1000_u64);
        checks.within("classic_constant", config.classic_constant, above(0.0));
        checks.within("mss_bytes", config.mss_bytes, at_least(1_u64));
        checks.finish()
    }

    fn build(config: L4SpanConfig, setup: Setup<'_, T>) -> Result<L4Span, ConfigError> {
        let egress = EgressRate::new(Duration::from_nanos(config.report_ns), config.packets);
        Ok(L4Span {
            config,
            stream: setup.seed.stream(),
            fifo: Fifo::default(),
            egress,
            left: Bytes::ZERO,
            l4s: 0.0,
            classic: 0.0,
            predicted: Predicted::default(),
        })
    }
}

impl L4Span {
    /// Mark probabilities of packets with ECT(1) and of packets with ECT(0).
    pub fn probabilities(&self) -> (f64, f64) {
        (self.l4s, self.classic)
    }

    /// Updates the mark probabilities at the end of a report. The standing backlog excludes the
    /// packets that arrived after the latest departure.
    fn update(&mut self) {
        let Some(prediction) = self.egress.prediction() else { return };
        let L4SpanConfig {
            target_ns, classic_threshold_bytes, classic_constant, mss_bytes, ..
        } = self.config;
        let standing = self.left.0 as f64;
        let required = standing / Duration::from_nanos(target_ns).as_secs_lossy();
        self.l4s = l4span_l4s_probability(required, prediction.rate, prediction.error);
        self.classic = if self.left.0 > classic_threshold_bytes {
            l4span_classic_probability(standing, mss_bytes as f64, classic_constant)
        } else {
            0.0
        };
        if prediction.rate > 0.0 {
            self.predicted.sum_s += standing / prediction.rate;
            self.predicted.count += 1;
        }
    }
}

impl QueueDisc for L4Span {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.fifo.occupancy() < self.config.limit {
            self.fifo.push(packet, ctx.now);
        } else {
            ctx.drop(*packet, DropReason::Overflow);
        }
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if !self.fifo.pop_into(packet) {
            return false;
        }
        if self.egress.on_departure(packet.bytes(), ctx.now) {
            self.update();
        }
        self.left = self.fifo.backlog();
        let probability = match packet.ecn {
            Ecn::Ect1 => self.l4s,
            Ecn::Ect0 => self.classic,
            Ecn::NotEct | Ecn::Ce => 0.0,
        };
        if self.stream.bernoulli(probability) {
            ctx.mark(packet);
        }
        true
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        self.fifo.state()
    }

    fn on_bypass(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.fifo.occupancy() < self.config.limit
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }

    /// Returns the mean of the predicted sojourn times over the reports.
    fn measured(&self, _now: Time) -> Vec<(&'static str, Option<f64>)> {
        let Predicted { sum_s, count } = self.predicted;
        vec![("predicted_sojourn_s", (count > 0).then(|| sum_s / count as f64))]
    }

    fn restart_measurement(&mut self, _now: Time) {
        self.predicted = Predicted::default();
    }
}

#[cfg(test)]
mod tests;
