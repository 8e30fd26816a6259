//! Queue discipline with step marking: marks ECN-capable arrivals CE if the backlog exceeds
//! `threshold`.
//!
//! Source: RFC 8257 §3.1, applied to the instantaneous backlog. The threshold is K in the RFC.
//! Difference: RFC 3168 would drop a non-ECT packet above K; this queue discipline queues the
//! packet.
#![forbid(unsafe_code)]

use airpath::{
    Bytes, Checks, Component, Components, ConfigError, Ctx, DropReason, Fifo, Packet, QueueDisc,
    QueueState, Setup, above, read_component,
};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMarkConfig {
    /// Largest backlog, bytes of IP packets. Above `threshold_bytes`.
    pub limit_bytes: u64,
    /// Marking threshold K, bytes. RFC 8257 specifies no value.
    pub threshold_bytes: u64,
}

/// First-in-first-out queue that marks above a threshold.
#[derive(Clone, Debug)]
pub struct StepMark {
    config: StepMarkConfig,
    fifo: Fifo,
}

impl<T: ?Sized> Component<T> for StepMark {
    type Config = StepMarkConfig;

    fn check(config: &StepMarkConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let problem = format!("not above the threshold ({} B)", config.threshold_bytes);
        let limits = above(config.threshold_bytes);
        checks.related("limit_bytes", config.limit_bytes, limits, &problem);
        checks.finish()
    }

    fn build(config: StepMarkConfig, _setup: Setup<'_, T>) -> Result<StepMark, ConfigError> {
        Ok(StepMark { config, fifo: Fifo::default() })
    }
}

impl QueueDisc for StepMark {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let backlog = self.fifo.backlog();
        if backlog + packet.bytes() > Bytes(self.config.limit_bytes) {
            return ctx.drop(*packet, DropReason::Overflow);
        }
        let queued = self.fifo.push(packet, ctx.now);
        if backlog > Bytes(self.config.threshold_bytes) && queued.ecn.is_capable() {
            ctx.mark(queued);
        }
    }

    fn dequeue_into(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.fifo.pop_into(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    fn state(&self) -> QueueState {
        self.fifo.state()
    }
}

/// Registers the queue discipline as `step-mark`.
pub fn register(components: &mut Components) {
    components.queues.register("step-mark", |parameters, setup| {
        Ok(Box::new(read_component::<_, _, StepMark>(parameters, setup)?))
    });
    // The component shares no state with other components, so the driver may call components in any
    // order.
    components.queues.declare_independent("step-mark");
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath::{Ecn, FlowId, Registry, Seed, TestHarness, Time, simulate};
    use serde_json::json;

    fn made(limit_bytes: u64, threshold_bytes: u64) -> Result<StepMark, ConfigError> {
        let registry = Registry::<dyn QueueDisc + Send>::default();
        let setup = Setup { seed: Seed::new(1, 0, "test"), registry: &registry, extra: () };
        let parameters = json!({"limit_bytes": limit_bytes, "threshold_bytes": threshold_bytes});
        read_component(&parameters, setup)
    }

    #[test]
    fn first_ect_arrival_above_k_is_marked() {
        let mut queue = made(10_000, 3000).expect("a valid configuration");
        let mut harness = TestHarness::default();
        for seq in 0..4 {
            let mut packet = Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO);
            packet.ecn = Ecn::Ect0;
            queue.enqueue(&packet, &mut harness.at(Time::ZERO));
        }
        let left = std::iter::from_fn(|| queue.dequeue(&mut harness.at(Time::ZERO)));
        let left: Vec<Ecn> = left.map(|packet| packet.ecn).collect();
        assert_eq!(left, [Ecn::Ect0, Ecn::Ect0, Ecn::Ect0, Ecn::Ce]);
    }

    #[test]
    fn rejects_a_limit_that_is_not_above_the_threshold() {
        let error = made(3000, 3000).expect_err("an invalid configuration").to_string();
        assert!(error.contains("limit_bytes") && error.contains("3000 B"), "{error}");
    }

    /// Under overload the backlog reaches the limit of ten packets.
    #[test]
    fn overloaded_queue_fills_to_the_limit() {
        let mut components = Components::default();
        register(&mut components);
        let scenario = json!({
            "duration_ns": 10_000_000_000u64,
            "flows": [{
                "source": {"kind": "cbr", "rate_bps": 6_000_000, "packet_bytes": 1500},
                "start": {"kind": "at", "time_ns": 0},
                "access": {"delay_ns": 0}, "egress": {"delay_ns": 0},
                "return_wire": {"delay_ns": 0}}],
            "bottleneck": {
                "link": {"kind": "fixed", "rate_bps": 5_000_000},
                "queue": {"kind": "step-mark", "limit_bytes": 15_000, "threshold_bytes": 6000}},
            "ack_path": {"kind": "ideal"}});
        let report = simulate(&scenario.to_string(), &components, 1).expect("a run");
        assert_eq!(report.queues[0].max_packets, 10);
    }
}
