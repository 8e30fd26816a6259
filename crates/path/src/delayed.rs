//! An endpoint behind the wire that leads to it, as one stage.
//!
//! A packet that arrives at an endpoint has come over a wire of its flow's own; joined, the two
//! cost one place in the event queue and one call per packet instead of two of each.

use airpath_core::{Control, Ctx, Packet, Port, Stage, Time};
use airpath_link::Wire;

/// `stage` behind `wire`. Every packet that arrives comes out of the wire into input 0.
pub struct Delayed<S> {
    wire: Wire,
    stage: S,
}

impl<S> Delayed<S> {
    /// Puts `wire` in front of `stage`.
    pub fn new(wire: Wire, stage: S) -> Delayed<S> {
        Delayed { wire, stage }
    }

    /// The stage behind the wire.
    pub fn stage(&self) -> &S {
        &self.stage
    }
}

impl<S: Stage> Delayed<S> {
    #[inline]
    fn wake_stage_if_due(&mut self, ctx: &mut Ctx<'_>) {
        if self.stage.next_wakeup() <= ctx.now {
            self.stage.wake(ctx);
        }
    }
}

impl<S: Stage> Stage for Delayed<S> {
    #[inline]
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.wire.is_transparent() {
            ctx.note_arrival(packet);
            self.stage.receive(Port(0), packet, ctx);
        } else {
            self.wire.receive(port, packet, ctx);
        }
    }

    #[inline]
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        self.wake_stage_if_due(ctx);
        while let Some(packet) = self.wire.arrived(ctx.now) {
            ctx.note_arrival(packet);
            self.stage.receive(Port(0), packet, ctx);
            self.wire.drop_arrived();
            self.wake_stage_if_due(ctx);
        }
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.wire.next_wakeup().min(self.stage.next_wakeup())
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        self.stage.control(event, ctx);
    }

    fn held(&self) -> usize {
        self.wire.held() + self.stage.held()
    }
}
