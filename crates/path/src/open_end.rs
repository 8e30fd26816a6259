//! Ends of a path that are left open: where a driver puts packets in and takes them out.

use airpath_core::{Control, Ctx, FlowId, Packet, Port, Stage, Time};
use airpath_tcp::OnOff;

/// The ends of a flow that are not built: what sends or receives there is outside, such as a
/// kernel's TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenEnds {
    /// Whether the caller injects the data and takes the ACKs.
    pub source: bool,
    /// Whether the data goes outside, and ACKs come from there.
    pub sink: bool,
}

impl OpenEnds {
    /// None: both ends are built.
    pub const NONE: OpenEnds = OpenEnds { source: false, sink: false };
    /// Both ends.
    pub const BOTH: OpenEnds = OpenEnds { source: true, sink: true };
}

/// Configuration of a TCP sender whose end is open, for the caller.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Flow of the packet.
    pub flow: FlowId,
    /// When it would start; [`Time::NEVER`] for an arrival that comes too late.
    pub start: Time,
    /// Time after which it would send no new data.
    pub stop: Time,
    /// Bytes that it would transfer; `None` never ends.
    pub transfer: Option<u64>,
    /// The application that would write them, as the sender of the whole path has it.
    pub on_off: Option<OnOff>,
}

/// Replaces an endpoint: passes every packet that arrives to the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenEnd;

impl OpenEnd {
    /// The output into the path, as that of an endpoint.
    pub const INTO_THE_PATH: Port = Port(0);
    /// The output to the outside.
    pub const OUT: Port = Port(1);
}

impl Stage for OpenEnd {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        ctx.emit(OpenEnd::OUT, *packet);
    }

    fn wake(&mut self, _ctx: &mut Ctx<'_>) {}

    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }

    /// The caller receives no control events here.
    fn control(&mut self, _event: &Control, _ctx: &mut Ctx<'_>) {}

    fn held(&self) -> usize {
        0
    }
}
