//! Stage that combines two independent links as its two directions.

use crate::link::{Link, SideReport, Sides};
use crate::links::registry::AnyLink;
use airpath_core::{Control, Ctx, Packet, Port, Stage, Time};

/// Stage with two links: the forward direction uses input 0, the reverse direction uses input 1.
pub struct Duplex {
    forward: AnyLink,
    reverse: AnyLink,
    /// True if a rate change also applies to the reverse direction.
    reverse_follows: bool,
}

impl Duplex {
    /// Creates the stage from two links; `reverse` must use output 1. A rate change applies to the
    /// forward direction. If `reverse_follows` is set, it also applies to the reverse direction.
    pub fn new(forward: AnyLink, reverse: AnyLink, reverse_follows: bool) -> Duplex {
        Duplex { forward, reverse, reverse_follows }
    }
}

impl Stage for Duplex {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        match port {
            Port(0) => self.forward.receive(Port(0), packet, ctx),
            _ => self.reverse.receive(Port(0), packet, ctx),
        }
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        for side in [&mut self.forward, &mut self.reverse] {
            if side.next_wakeup() <= ctx.now {
                side.wake(ctx);
            }
        }
    }

    fn next_wakeup(&self) -> Time {
        self.forward.next_wakeup().min(self.reverse.next_wakeup())
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        self.forward.control(event, ctx);
        if self.reverse_follows || !matches!(event, Control::Rate(_)) {
            self.reverse.control(event, ctx);
        }
    }

    fn held(&self) -> usize {
        self.forward.held() + self.reverse.held()
    }
}

impl Link for Duplex {
    fn sides() -> Sides {
        Sides::Both
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        [&self.forward, &self.reverse].into_iter().flat_map(|side| side.reports(now)).collect()
    }
}
