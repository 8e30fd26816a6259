//! A queue discipline that numbers the served packets, for tests of the feedback field.

use crate::common::droptail;
use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
use airpath_core::{Bytes, Ctx, LinkRate, Packet, StageError, Time};
use airpath_path::Components;

/// Queue that writes 1, 2, 3, … into the served packets.
pub(crate) struct Counting {
    inner: AnyQueue,
    served: f32,
}

impl airpath_aqm::QueueWrapper for Counting {
    delegate_queue!(inner: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    delegate_queue!(inner: on_lost, on_held, measured, restart_measurement, take_error);

    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.inner.on_served(packet, ctx);
        self.served += 1.0;
        packet.feedback = self.served;
    }
}

impl Counting {
    /// Registers the discipline as `counting`, with a queue of 100 packets.
    pub(crate) fn register(components: &mut Components) {
        components.queues.register("counting", |_, setup| {
            Ok(Box::new(Counting { inner: AnyQueue::build(&droptail(100), setup)?, served: 0.0 }))
        });
    }
}
