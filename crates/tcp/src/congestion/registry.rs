//! The list of congestion controls: one line each.

use super::{
    AckEvent, Clamp, CongestionControl, CongestionSetup, Cubic, CubicLinux, CubicNs3, Dctcp,
    IdleEvent, LossEvent, Reno, Vcp,
};
use airpath_core::{Rate, Registry, StageError, Time, built_in_parts};

/// Congestion controls that were registered at run time.
pub type CongestionRegistry = Registry<dyn CongestionControl + Send, CongestionSetup>;

built_in_parts! {
    /// Any congestion control.
    enum AnyCongestion: dyn CongestionControl + Send, CongestionSetup {
        "reno" => Reno(Reno): "Slow start, congestion avoidance, one halving per loss (RFC 5681).",
        "cubic" => Cubic(Box<Cubic>): "The window as a cubic function of time since a loss (RFC 9438).",
        "cubic-ns3" => CubicNs3(Box<CubicNs3>): "CUBIC in the arithmetic of ns-3: whole segments, ACKs counted.",
        "cubic-linux" => CubicLinux(Box<CubicLinux>): "CUBIC in the arithmetic of Linux: whole segments, a clock of a millisecond.",
        "dctcp" => Dctcp(Box<Dctcp>): "Reductions by the share of marked bytes (RFC 8257).",
        "clamp" => Clamp(Box<Clamp>): "CLAMP at the sender: Reno's window or that of a price, the smaller.",
        "vcp" => Vcp(Box<Vcp>): "Growth and reduction by a load code of two bits (VCP).",
    }
}

impl AnyCongestion {
    /// An ACK of `acked` new bytes came, with nothing under repair: does what `on_ack` would, where
    /// that takes nothing more to know. Says whether it has.
    #[inline(always)]
    pub(crate) fn grow_plainly(&mut self, acked: u64, app_limited: bool) -> bool {
        match self {
            AnyCongestion::Reno(reno) => reno.grow_plainly(acked, app_limited),
            _ => false,
        }
    }
}

impl CongestionControl for AnyCongestion {
    #[inline]
    fn on_ack(&mut self, event: &AckEvent) {
        each_part!(self, cc => cc.on_ack(event));
    }
    #[inline]
    fn wants_every_ack(&self) -> bool {
        each_part!(self, cc => cc.wants_every_ack())
    }
    fn wants_rate_samples(&self) -> bool {
        each_part!(self, cc => cc.wants_rate_samples())
    }
    fn on_loss(&mut self, event: &LossEvent) {
        each_part!(self, cc => cc.on_loss(event));
    }
    fn on_rto(&mut self, event: &LossEvent) {
        each_part!(self, cc => cc.on_rto(event));
    }
    fn on_recovered(&mut self, cwnd: u64) {
        each_part!(self, cc => cc.on_recovered(cwnd));
    }
    fn on_lost_syn(&mut self) {
        each_part!(self, cc => cc.on_lost_syn());
    }
    fn on_ecn(&mut self, event: &LossEvent) {
        each_part!(self, cc => cc.on_ecn(event));
    }
    fn on_idle(&mut self, event: &IdleEvent) {
        each_part!(self, cc => cc.on_idle(event));
    }
    #[inline]
    fn on_sent(&mut self, now: Time, bytes: u64) {
        each_part!(self, cc => cc.on_sent(now, bytes));
    }
    #[inline]
    fn cwnd(&self) -> u64 {
        each_part!(self, cc => cc.cwnd())
    }
    #[inline]
    fn ssthresh(&self) -> u64 {
        each_part!(self, cc => cc.ssthresh())
    }
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        each_part!(self, cc => cc.pacing_rate())
    }
    #[inline]
    fn take_error(&mut self) -> Option<StageError> {
        each_part!(self, cc => cc.take_error())
    }
}
