//! [`PlugIn`]: guard of a plug-in discipline.

use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use airpath_core::{Bytes, Ctx, LinkRate, Packet, StageError, Time};

/// A plug-in discipline. Ends the run when the plug-in has failed. Stores the arrival time in each
/// packet, because the queue of a plug-in might not store it. Built-in disciplines have no guard.
pub(crate) struct PlugIn {
    inner: Box<dyn QueueDisc + Send>,
    /// State after the last call, read before `take_error`, so that the call can fail.
    state: QueueState,
}

impl PlugIn {
    pub(crate) fn new(inner: Box<dyn QueueDisc + Send>) -> PlugIn {
        PlugIn { state: inner.state(), inner }
    }

    fn read_state(&mut self, ctx: &mut Ctx<'_>) {
        self.state = self.inner.state();
        self.pass_on_failure(ctx);
    }

    fn pass_on_failure(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(error) = self.inner.take_error() {
            ctx.fail(error);
        }
    }
}

impl crate::QueueWrapper for PlugIn {
    delegate_queue!(inner: peek, measured, restart_measurement, take_error);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let mut packet = *packet;
        packet.set_queued_at(ctx.now);
        self.inner.enqueue(&packet, ctx);
        self.read_state(ctx);
    }

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let is_found = self.inner.dequeue_into(packet, ctx);
        self.read_state(ctx);
        is_found
    }

    fn state(&self) -> QueueState {
        self.state
    }

    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        let is_admitted = self.inner.on_bypass(packet, ctx);
        self.read_state(ctx);
        is_admitted
    }

    fn on_wake(&mut self, ctx: &mut Ctx<'_>) {
        self.inner.on_wake(ctx);
        self.read_state(ctx);
    }

    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        self.inner.on_rate(rate, ctx);
        self.read_state(ctx);
    }

    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_served(packet, ctx);
        self.pass_on_failure(ctx);
    }

    fn on_lost(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_lost(packet, ctx);
        self.read_state(ctx);
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        self.inner.on_held(packets, bytes, ctx);
        self.read_state(ctx);
    }
}
