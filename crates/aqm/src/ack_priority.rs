//! Strict priority for ACKs: ACKs have a separate queue, which is served before the packets of
//! another discipline. The limit of that discipline applies to both queues together.
//!
//! Source: the queue of the authors' VCP package for ns-2 (v0.1): two first-in-first-out queues,
//! strict priority for ACKs, one limit for both queues. Difference: the discipline of the other
//! packets (inner discipline) is configurable. The inner discipline counts an ACK as an arrival
//! and, while the ACK waits, as backlog. An ACK is dropped if the limit is reached. Early drops and
//! marks do not apply to ACKs.

use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::registry::AnyQueue;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, LinkRate, Packet, PacketKind, Setup,
    StageError, Time,
};
use serde::Deserialize;
use serde_json::Value;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AckPriorityConfig {
    /// Discipline of the packets that are not ACKs: `{"kind": …}`.
    pub aqm: Value,
}

/// Discipline that sends ACKs before the packets of the inner discipline.
pub struct AckPriority {
    inner: AnyQueue,
    acks: Fifo,
    /// Number of packets that the link still holds.
    held_packets: usize,
    held_bytes: Bytes,
}

impl Component<dyn QueueDisc + Send> for AckPriority {
    type Config = AckPriorityConfig;

    fn check(config: &AckPriorityConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        if contains_ack_priority(&config.aqm) {
            let problem = "an ack-priority queue inside an ack-priority queue";
            checks.reject("aqm.kind", "ack-priority", problem, "Use another discipline inside");
        }
        checks.nested("aqm", AnyQueue::check(&config.aqm));
        checks.finish()
    }

    fn build(
        config: AckPriorityConfig,
        setup: Setup<'_, dyn QueueDisc + Send>,
    ) -> Result<AckPriority, ConfigError> {
        let inner = AnyQueue::build(&config.aqm, setup).map_err(|error| error.under("aqm"))?;
        Ok(AckPriority { inner, acks: Fifo::default(), held_packets: 0, held_bytes: Bytes::ZERO })
    }
}

/// Returns true if the configuration `description` is an `ack-priority` discipline or contains an
/// `ack-priority` discipline.
fn contains_ack_priority(description: &Value) -> bool {
    let Some(parameters) = description.as_object() else { return false };
    parameters.get("kind").is_some_and(|kind| kind == "ack-priority")
        || parameters.values().any(contains_ack_priority)
}

impl AckPriority {
    /// Reports the waiting ACKs and the packets held by the link to the inner discipline: their
    /// number and bytes.
    fn report_held(&mut self, ctx: &mut Ctx<'_>) {
        let packets = self.held_packets + self.acks.len();
        self.inner.on_held(packets, self.held_bytes + self.acks.backlog(), ctx);
    }
}

impl crate::QueueWrapper for AckPriority {
    delegate_queue!(inner: on_bypass, on_wake, on_rate, on_served, on_lost);
    delegate_queue!(inner: measured, restart_measurement, take_error);

    #[inline]
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if packet.kind != PacketKind::Ack {
            return self.inner.enqueue(packet, ctx);
        }
        if !self.inner.on_bypass(packet, ctx) {
            return ctx.drop(*packet, DropReason::Overflow);
        }
        self.acks.push(packet, ctx.now);
        self.report_held(ctx);
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        if self.acks.pop_into(packet) {
            self.report_held(ctx);
            return true;
        }
        self.inner.dequeue_into(packet, ctx)
    }

    fn peek(&self) -> Option<&Packet> {
        self.acks.front().or_else(|| self.inner.peek())
    }

    #[inline]
    fn state(&self) -> QueueState {
        let inner = self.inner.state();
        QueueState {
            packets: self.acks.len() + inner.packets,
            backlog: self.acks.backlog() + inner.backlog,
            ..inner
        }
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        (self.held_packets, self.held_bytes) = (packets, bytes);
        self.report_held(ctx);
    }
}

#[cfg(test)]
mod tests;
