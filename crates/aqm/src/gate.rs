//! Gate of a queue that a link cannot use while it is interrupted.

use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::registry::AnyQueue;
use airpath_core::{Bytes, Ctx, DropReason, LinkRate, Packet, StageError, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const KEEPS_ARRIVALS: u8 = 1;
const LOSES_ARRIVALS: u8 = 2;

/// State of a gate. Copies share the state. Only one stage uses a gate, so that relaxed access is
/// sufficient.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<AtomicU8>);

impl Gate {
    pub(crate) fn close(&self, loses_arrivals: bool) {
        let state = if loses_arrivals { LOSES_ARRIVALS } else { KEEPS_ARRIVALS };
        self.0.store(state, Ordering::Relaxed);
    }

    pub(crate) fn open(&self) {
        self.0.store(OPEN, Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.load(Ordering::Relaxed) != OPEN
    }

    fn loses_arrivals(&self) -> bool {
        self.0.load(Ordering::Relaxed) == LOSES_ARRIVALS
    }
}

/// A discipline behind a gate. While the gate is closed, no packet can be dequeued.
pub(crate) struct GatedQueue {
    inner: AnyQueue,
    gate: Gate,
}

impl GatedQueue {
    pub(crate) fn new(inner: AnyQueue, gate: Gate) -> GatedQueue {
        GatedQueue { inner, gate }
    }
}

impl crate::QueueWrapper for GatedQueue {
    delegate_queue!(inner: state, on_bypass, on_wake, on_rate, take_error);
    delegate_queue!(inner: on_served, on_lost, on_held, measured, restart_measurement);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.gate.loses_arrivals() {
            return ctx.drop(*packet, DropReason::Interruption);
        }
        self.inner.enqueue(packet, ctx);
    }

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        !self.gate.is_closed() && self.inner.dequeue_into(packet, ctx)
    }

    fn peek(&self) -> Option<&Packet> {
        if self.gate.is_closed() { None } else { self.inner.peek() }
    }
}
