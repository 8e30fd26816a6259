//! Any stage of a network; the driver's dispatch.

use airpath_core::{Control, Ctx, Packet, Port, Stage, Time};
use airpath_link::{AnyLink, Duplex, Link, SideReport, Wire};
use airpath_tcp::{DatagramSink, DatagramSource, Receiver, Sender};

/// A stage. What is large is boxed, so that a wire costs no more than a wire.
pub enum AnyStage {
    /// A wired hop.
    Wire(Wire),
    /// A TCP sender.
    Sender(Box<Sender>),
    /// A TCP receiver.
    Receiver(Box<Receiver>),
    /// A link with its queue.
    Link(Box<AnyLink>),
    /// Two links as the directions of one stage.
    Duplex(Box<Duplex>),
    /// A source of datagrams.
    Source(Box<DatagramSource>),
    /// A sink of datagrams.
    Sink(Box<DatagramSink>),
}

macro_rules! each_stage {
    ($value:expr, $stage:ident => $call:expr) => {
        match $value {
            AnyStage::Wire($stage) => $call,
            AnyStage::Sender($stage) => $call,
            AnyStage::Receiver($stage) => $call,
            AnyStage::Link($stage) => $call,
            AnyStage::Duplex($stage) => $call,
            AnyStage::Source($stage) => $call,
            AnyStage::Sink($stage) => $call,
        }
    };
}

impl AnyStage {
    /// What was measured at a link, one entry per direction; nothing at other stages.
    pub fn link_reports(&self, now: Time) -> Vec<SideReport> {
        match self {
            AnyStage::Link(link) => link.reports(now),
            AnyStage::Duplex(duplex) => duplex.reports(now),
            _ => Vec::new(),
        }
    }
}

impl Stage for AnyStage {
    #[inline]
    fn receive(&mut self, port: Port, packet: Packet, ctx: &mut Ctx<'_>) {
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
    #[inline]
    fn wake_if_due(&mut self, ctx: &mut Ctx<'_>) -> Time {
        each_stage!(self, stage => stage.wake_if_due(ctx))
    }
    #[inline]
    fn receive_then_next(&mut self, port: Port, packet: Packet, ctx: &mut Ctx<'_>) -> Time {
        each_stage!(self, stage => stage.receive_then_next(port, packet, ctx))
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        each_stage!(self, stage => stage.control(event, ctx));
    }
    fn held(&self) -> usize {
        each_stage!(self, stage => stage.held())
    }
}
