//! A discipline that numbers what was served, for those who listen to feedback.

use crate::common::droptail;
use airpath_aqm::{AnyQueue, QueueDisc};
use airpath_core::{Bytes, Ctx, Packet};
use airpath_path::Parts;

/// Writes 1, 2, 3, … into the packets that were served.
pub(crate) struct Counting {
    inner: AnyQueue,
    served: f32,
}

impl QueueDisc for Counting {
    fn enqueue(&mut self, packet: Packet, ctx: &mut Ctx<'_>) {
        self.inner.enqueue(packet, ctx);
    }
    fn dequeue(&mut self, ctx: &mut Ctx<'_>) -> Option<Packet> {
        self.inner.dequeue(ctx)
    }
    fn peek(&self) -> Option<&Packet> {
        self.inner.peek()
    }
    fn packets(&self) -> usize {
        self.inner.packets()
    }
    fn backlog(&self) -> Bytes {
        self.inner.backlog()
    }
    fn on_served(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) {
        self.served += 1.0;
        packet.feedback = self.served;
    }
}

impl Counting {
    /// Makes it known as `counting`, in front of room for 100 packets.
    pub(crate) fn register(parts: &mut Parts) {
        parts.queues.register("counting", |_, setup| {
            Ok(Box::new(Counting { inner: AnyQueue::build(&droptail(100), setup)?, served: 0.0 }))
        });
    }
}
