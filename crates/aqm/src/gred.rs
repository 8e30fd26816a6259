//! Gentle RED on the instantaneous queue length: the drop decisions of different packets are
//! independent.
//!
//! Source: qawla-2015 eq. 1 (the gentle curve of Floyd, "Recommendation on using the gentle_
//! variant of RED", 2000). Differences from RED: no averaging of the queue length and no count of
//! arrivals between drops, as in the model of the paper. The probability reaches one at twice
//! `max_th`, so the queue needs no other limit.

use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Packet, Setup, Stream, above, at_least,
};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GredConfig {
    /// Threshold th_min, packets: no drops below it. At least 0.
    pub min_th: f64,
    /// Threshold th_max, packets. The probability is `max_p` at th_max and 1 at twice th_max.
    pub max_th: f64,
    /// Probability p_max, in [0, 1].
    pub max_p: f64,
    /// Mark ECN-capable packets instead of dropping them, unless the queue length is at least twice
    /// `max_th`.
    #[serde(default)]
    pub ecn: bool,
}

/// Returns q(x), the probability that an arrival is dropped if it finds `x` waiting packets.
///
/// Source: qawla-2015 eq. 1.
pub fn gred_drop_probability(x: f64, config: &GredConfig) -> f64 {
    let GredConfig { min_th, max_th, max_p, .. } = *config;
    if x < min_th {
        0.0
    } else if x < max_th {
        (x - min_th) / (max_th - min_th) * max_p
    } else if x < 2.0 * max_th {
        max_p + (x - max_th) / max_th * (1.0 - max_p)
    } else {
        1.0
    }
}

/// A first-in-first-out queue under gentle RED.
#[derive(Clone, Debug)]
pub struct Gred {
    config: GredConfig,
    stream: Stream,
    fifo: Fifo,
}

impl<T: ?Sized> Component<T> for Gred {
    type Config = GredConfig;

    fn check(config: &GredConfig) -> Result<(), ConfigError> {
        let GredConfig { min_th, max_th, max_p, .. } = *config;
        let mut checks = Checks::default();
        checks.within("min_th", min_th, at_least(0.0));
        checks.related("max_th", max_th, above(min_th), "not above min_th");
        checks.within("max_p", max_p, 0.0..=1.0);
        checks.finish()
    }

    fn build(config: GredConfig, setup: Setup<'_, T>) -> Result<Gred, ConfigError> {
        Ok(Gred { config, stream: setup.seed.stream(), fifo: Fifo::default() })
    }
}

impl QueueDisc for Gred {
    fn on_bypass(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
        gred_drop_probability(self.fifo.occupancy() as f64, &self.config) < 1.0
    }

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let probability = gred_drop_probability(self.fifo.occupancy() as f64, &self.config);
        if self.stream.bernoulli(probability) {
            if probability >= 1.0 {
                return ctx.drop(*packet, DropReason::Overflow);
            }
            if !(self.config.ecn && packet.ecn.is_capable()) {
                return ctx.drop(*packet, DropReason::Early);
            }
            return ctx.mark(self.fifo.push(packet, ctx.now));
        }
        self.fifo.push(packet, ctx.now);
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

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;
    use airpath_core::{Ecn, FlowId, Registry, Seed, Time, testing::TestHarness};
    use serde_json::json;

    const PAPER: GredConfig = GredConfig { min_th: 30.0, max_th: 90.0, max_p: 0.1, ecn: false };

    const EQ1: Law = Law {
        area: "Gentle RED",
        source: "qawla-2015 eq. 1: the drop probability q(x)",
        allows: "rounding of doubles; five standard deviations for counted drops",
    };

    fn gred(config: GredConfig) -> Gred {
        let registry = Registry::<dyn QueueDisc + Send>::default();
        let setup = Setup { seed: Seed::new(1, 0, "gred"), registry: &registry, extra: () };
        Gred::build(config, setup).expect("a valid configuration")
    }

    #[test]
    fn drop_probability_equals_eq1_at_corners_of_curve() {
        for (x, q) in [
            (0.0, 0.0),
            (29.9, 0.0),
            (30.0, 0.0),
            (60.0, 0.05),
            (90.0, 0.1),
            (135.0, 0.55),
            (180.0, 1.0),
            (1e9, 1.0),
        ] {
            EQ1.close(format!("q({x})"), "", gred_drop_probability(x, &PAPER), q, 1e-12);
        }
    }

    #[test]
    fn gred_drops_nothing_below_min_th_and_all_at_twice_max_th() {
        let mut harness = TestHarness::default();
        let mut queue = gred(GredConfig { max_p: 0.0, max_th: 31.0, ..PAPER });
        let offer = |queue: &mut Gred, harness: &mut TestHarness, count| {
            for seq in 0..count {
                let packet = Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO);
                queue.enqueue(&packet, &mut harness.at(Time::ZERO));
            }
        };
        offer(&mut queue, &mut harness, 31);
        assert_eq!((queue.packets(), harness.counts().total()), (31, 0));
        offer(&mut queue, &mut harness, 10_000);
        assert!(queue.packets() <= 62, "{}", queue.packets());
    }

    /// With one packet in the queue, q is 0.05. The test counts the drops among 100 000 arrivals
    /// and accepts a deviation of five standard deviations.
    #[test]
    fn drop_share_matches_curve() {
        const ARRIVALS: u32 = 100_000;
        let mut harness = TestHarness::default();
        let mut queue = gred(GredConfig { min_th: 0.0, max_th: 20.0, max_p: 1.0, ecn: false });
        let packet = || Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
        queue.enqueue(&packet(), &mut harness.at(Time::ZERO));
        for _ in 0..ARRIVALS {
            queue.enqueue(&packet(), &mut harness.at(Time::ZERO));
            if queue.packets() == 2 {
                queue.dequeue(&mut harness.at(Time::ZERO));
            }
        }
        let arrivals = f64::from(ARRIVALS);
        let rate = harness.counts().total() as f64 / arrivals;
        let five_deviations = 5.0 * (0.05 * 0.95 / arrivals).sqrt();
        EQ1.close("share dropped of 100 000 at q = 0.05", "", rate, 0.05, five_deviations);
    }

    #[test]
    fn held_packets_count_in_queue_length() {
        let mut harness = TestHarness::default();
        let mut queue = gred(GredConfig { min_th: 5.0, max_th: 6.0, max_p: 1.0, ecn: false });
        queue.on_held(6, Bytes(6 * 1500), &mut harness.at(Time::ZERO));
        let packet = Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
        queue.enqueue(&packet, &mut harness.at(Time::ZERO));
        assert_eq!((queue.packets(), harness.counts().total()), (0, 1));
    }

    #[test]
    fn ecn_marks_capable_packets_instead_of_dropping() {
        let config = GredConfig { min_th: 0.0, max_th: 10.0, max_p: 1.0, ecn: true };
        for (ecn, waiting, marked) in [(Ecn::Ect0, 15, true), (Ecn::NotEct, 10, false)] {
            let mut harness = TestHarness::default();
            let mut queue = gred(config);
            for _ in 0..15 {
                let mut packet = Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
                packet.ecn = ecn;
                queue.enqueue(&packet, &mut harness.at(Time::ZERO));
            }
            assert!(queue.packets() <= waiting, "{ecn:?}: {}", queue.packets());
            assert_eq!(harness.counts().marked > 0, marked, "{ecn:?}");
        }
    }

    #[test]
    fn ecn_capable_packet_is_dropped_at_twice_max_th() {
        let mut harness = TestHarness::default();
        let mut queue = gred(GredConfig { min_th: 5.0, max_th: 6.0, max_p: 0.0, ecn: true });
        queue.on_held(12, Bytes(12 * 1500), &mut harness.at(Time::ZERO));
        let mut packet = Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
        packet.ecn = Ecn::Ect0;
        queue.enqueue(&packet, &mut harness.at(Time::ZERO));
        let counts = harness.counts();
        let overflows = counts.dropped[DropReason::Overflow as usize];
        assert_eq!((queue.packets(), overflows, counts.marked), (0, 1, 0));
    }

    #[test]
    fn check_names_invalid_key() {
        let config: GredConfig =
            serde_json::from_value(json!({"min_th": 30, "max_th": 20, "max_p": 0.1})).unwrap();
        let error = <Gred as Component<dyn QueueDisc + Send>>::check(&config)
            .expect_err("max_th below min_th");
        assert_eq!(error.to_string(), "max_th = 20: not above min_th. Accepted: more than 30");
    }
}
