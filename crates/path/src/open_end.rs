//! Open ends of a path, at which a driver injects packets and removes them.

use airpath_core::{Control, Ctx, FlowId, Packet, Port, Stage, Time};
use airpath_tcp::OnOff;

/// Selects the ends of a flow at which no endpoint is built. There the sender or receiver is
/// external, for example the TCP of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenEnds {
    /// True if the caller injects the data and receives the ACKs.
    pub source: bool,
    /// True if the caller receives the data and injects the ACKs.
    pub sink: bool,
}

impl OpenEnds {
    /// No open ends: both endpoints are built.
    pub const NONE: OpenEnds = OpenEnds { source: false, sink: false };
    /// Both ends are open.
    pub const BOTH: OpenEnds = OpenEnds { source: true, sink: true };
}

/// Traffic of a TCP sender that is replaced by an open end. The caller generates this traffic.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Flow number.
    pub flow: FlowId,
    /// Start time; [`Time::NEVER`] if the flow's arrival is after the stop time.
    pub start: Time,
    /// Time after which no new data are sent.
    pub stop: Time,
    /// Bytes to transfer; `None` for an unlimited transfer.
    pub transfer: Option<u64>,
    /// Application that writes the data, with the same random stream as in the complete network.
    pub on_off: Option<OnOff>,
}

/// Stage that replaces an endpoint. It passes every packet that arrives to the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenEnd;

impl OpenEnd {
    /// Output into the path, with the port of an endpoint's output.
    pub const INTO_THE_PATH: Port = Port(0);
    /// Output to the caller.
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
