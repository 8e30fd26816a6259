//! A discipline that numbers what was served, for those who listen to feedback.

use crate::common::droptail;
use airpath_aqm::{AnyQueue, QueueDisc};
use airpath_core::{Ctx, Packet};
use airpath_path::Parts;

/// Writes 1, 2, 3, … into the packets that were served.
pub(crate) struct Counting {
    inner: AnyQueue,
    served: f32,
}

impl QueueDisc for Counting {
    airpath_aqm::forwards!(inner: enqueue, dequeue, peek, packets, backlog, next_wakeup, on_wake);
    airpath_aqm::forwards!(inner: on_rate, on_held);
    airpath_aqm::forwards!(inner: on_bypass, on_lost, measures);

    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_served(packet, ctx);
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
