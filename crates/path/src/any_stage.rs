//! The enum of all stage types, through which the driver calls a stage.

use crate::open_end::OpenEnd;
use crate::relay::Relay;
use crate::wire_queue::WireQueue;
use airpath_core::{Control, Ctx, Flags, FlowId, Packet, PacketKind, Port, Stage, Time};
use airpath_link::{AnyLink, Link, SideReport};
use airpath_tcp::{Client, DatagramSink, DatagramSource, Receiver, Sender};

/// Any stage of a network. Large stages are boxed, because the sizes of the stages differ strongly.
// `repr` gives the enum a separate tag, so that reading the variant takes one load instead of
// decoding a niche.
#[repr(u32)]
pub enum AnyStage {
    /// A TCP sender.
    Sender(Box<Sender>),
    /// A client with the TCP senders of its connections.
    Client(Box<Client>),
    /// A TCP receiver.
    Receiver(Box<Receiver>),
    /// A link with its queue.
    Link(Box<AnyLink>),
    /// A source of datagrams.
    Source(Box<DatagramSource>),
    /// A sink of datagrams.
    Sink(Box<DatagramSink>),
    /// The end of a wired hop.
    Relay(Relay),
    /// The drop-tail queue in front of a wire that has one.
    WireQueue(Box<WireQueue>),
    /// An open end, in place of an endpoint that is not built.
    Open(OpenEnd),
}

macro_rules! each_stage {
    ($value:expr, $stage:ident => $call:expr) => {
        match $value {
            AnyStage::Sender($stage) => $call,
            AnyStage::Client($stage) => $call,
            AnyStage::Receiver($stage) => $call,
            AnyStage::Link($stage) => $call,
            AnyStage::Source($stage) => $call,
            AnyStage::Sink($stage) => $call,
            AnyStage::Relay($stage) => $call,
            AnyStage::WireQueue($stage) => $call,
            AnyStage::Open($stage) => $call,
        }
    };
}

impl AnyStage {
    /// Returns the measurements of a link, one entry per direction; empty for other stages.
    pub fn link_reports(&self, now: Time) -> Vec<SideReport> {
        match self {
            AnyStage::Link(link) => link.reports(now),
            _ => Vec::new(),
        }
    }

    /// Returns the TCP sender of `flow`, if the stage contains it.
    pub fn sender(&self, flow: FlowId) -> Option<&Sender> {
        match self {
            AnyStage::Sender(sender) => Some(sender),
            AnyStage::Client(client) => client.sender(flow),
            _ => None,
        }
    }

    /// Returns true if the stage is an endpoint that measures the one-way delay of `packet`.
    pub(crate) fn measures_delay_of(&self, packet: &Packet) -> bool {
        let is_segment = !packet.flags.contains(Flags::SYN);
        match self {
            AnyStage::Sender(_) | AnyStage::Client(_) => {
                packet.kind == PacketKind::Ack && is_segment
            }
            AnyStage::Receiver(_) => packet.kind == PacketKind::Data && is_segment,
            AnyStage::Sink(_) => packet.kind == PacketKind::Datagram,
            _ => false,
        }
    }
}

impl Stage for AnyStage {
    #[inline]
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        each_stage!(self, stage => stage.receive(port, packet, ctx));
    }
    #[inline]
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        each_stage!(self, stage => stage.wake(ctx));
    }
    #[inline]
    fn next_wakeup(&self) -> Time {
        each_stage!(self, stage => stage.next_wakeup())
    }
    #[inline(always)]
    fn wake_then_next(&mut self, ctx: &mut Ctx<'_>) -> Time {
        each_stage!(self, stage => stage.wake_then_next(ctx))
    }
    #[inline(always)]
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        each_stage!(self, stage => stage.receive_then_next(port, packet, ctx))
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        each_stage!(self, stage => stage.control(event, ctx));
    }
    fn held(&self) -> usize {
        each_stage!(self, stage => stage.held())
    }
}
