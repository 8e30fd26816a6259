//! The stage after a wired hop: it forwards all packets to the next link.

use airpath_core::{Control, Ctx, Packet, Port, Stage, Time};

/// The end of a wire, where packets enter the next hop. Input 0, output 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relay;

impl Stage for Relay {
    #[inline]
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        ctx.emit(Port(0), *packet);
    }

    fn wake(&mut self, _ctx: &mut Ctx<'_>) {}

    #[inline]
    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }

    fn control(&mut self, _event: &Control, _ctx: &mut Ctx<'_>) {}

    fn held(&self) -> usize {
        0
    }
}
