//! The list of links: one line each.

use crate::adaptive::Adaptive;
use crate::fixed::Fixed;
use crate::link::{Link, LinkKit, SideReport};
use crate::multi_regime::MultiRegime;
use crate::rate_trace::RateTraceTransmitter;
use crate::rlc::RlcAm;
use crate::serial::SerialLink;
use crate::trace::TraceLink;
use airpath_core::{Control, Ctx, Packet, Port, Registry, Stage, Time, built_in_parts};

/// Links that were registered at run time.
pub type LinkRegistry = Registry<dyn Link + Send, LinkKit>;

built_in_parts! {
    /// Any link.
    enum AnyLink: dyn Link + Send, LinkKit {
        "fixed" => Fixed(SerialLink<Fixed>): "Constant rate and delay, Bernoulli loss.",
        "multi-regime" => MultiRegime(SerialLink<MultiRegime>):
            "Queue-aware link adaptation: rate and error rate chosen by the queue length.",
        "adaptive" => Adaptive(SerialLink<Adaptive>):
            "Link adaptation by policy: the coding scheme from SNR, error-rate table and queue.",
        "trace" => Trace(TraceLink): "Delivery opportunities of a recorded trace (Mahimahi).",
        "rate-trace" => RateTrace(SerialLink<RateTraceTransmitter>):
            "Piecewise-constant rate from a time,rate file.",
        "rlc-am" => RlcAm(RlcAm): "3G radio bearer: RLC acknowledged mode, both directions.",
    }
}

impl Stage for AnyLink {
    #[inline]
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        each_part!(self, link => link.receive(port, packet, ctx));
    }
    #[inline]
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        each_part!(self, link => link.wake(ctx));
    }
    #[inline]
    fn next_wakeup(&self) -> Time {
        each_part!(self, link => link.next_wakeup())
    }
    #[inline]
    fn wake_if_due(&mut self, ctx: &mut Ctx<'_>) -> Time {
        each_part!(self, link => link.wake_if_due(ctx))
    }
    #[inline]
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        each_part!(self, link => link.receive_then_next(port, packet, ctx))
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        each_part!(self, link => link.control(event, ctx));
    }
    fn held(&self) -> usize {
        each_part!(self, link => link.held())
    }
}

impl Link for AnyLink {
    fn is_duplex(&self) -> bool {
        each_part!(self, link => link.is_duplex())
    }
    fn reports(&self, now: Time) -> Vec<SideReport> {
        each_part!(self, link => link.reports(now))
    }
}
