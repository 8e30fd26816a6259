//! Registry of the congestion control algorithms, one line per algorithm.

use super::{
    AckEvent, Bbr, Bbr1, BurstSize, Clamp, CongestionControl, CongestionSetup, Cubic, CubicLinux,
    CubicNs3, Dctcp, IdleEvent, LossEvent, LostSegment, PathModel, Prague, Reno, UndoEvent, Vcp,
    delegate_congestion,
};
use crate::config::EcnUse;
use airpath_core::{Duration, Ecn, Rate, Registry, StageError, Time, built_in_components};

/// Congestion control algorithms registered at run time.
pub type CongestionRegistry = Registry<dyn CongestionControl + Send, CongestionSetup>;

built_in_components! {
    /// Any congestion control algorithm.
    enum AnyCongestion: dyn CongestionControl + Send, CongestionSetup {
        "reno" => Reno(Reno): "Slow start, congestion avoidance, one halving per loss (RFC 5681).",
        "cubic" => Cubic(Box<Cubic>): "The window as a cubic function of time since a loss (RFC 9438).",
        "cubic-ns3" => CubicNs3(Box<CubicNs3>): "CUBIC in the arithmetic of ns-3: whole segments, ACKs counted.",
        "cubic-linux" => CubicLinux(Box<CubicLinux>): "CUBIC in the arithmetic of Linux: whole segments, a clock of a millisecond.",
        "westwood" => Westwood(Box<super::Westwood>): "Reduction to bandwidth times minimum RTT (Westwood+).",
        "hybla" => Hybla(Box<super::Hybla>): "Growth as at a reference RTT, for long paths (Hybla).",
        "scalable" => Scalable(Box<super::Scalable>): "Growth and reduction by constant factors (Scalable TCP).",
        "htcp" => Htcp(Box<super::Htcp>): "Growth by the time since a loss (H-TCP).",
        "bic" => Bic(Box<super::Bic>): "Binary search of the last maximum of the window (BIC).",
        "vegas" => Vegas(Box<super::Vegas>): "A few queued segments per flow, by the RTT (Vegas).",
        "veno" => Veno(Box<super::Veno>): "Smaller reductions for losses without a queue (Veno).",
        "illinois" => Illinois(Box<super::Illinois>): "Growth and reduction by the queueing delay (Illinois).",
        "yeah" => Yeah(Box<super::Yeah>): "Scalable TCP or Reno by the number of queued segments (YeAH).",
        "ledbat" => Ledbat(Box<super::Ledbat>): "Background traffic with a target of the queueing delay (LEDBAT++, RFC 6817).",
        "copa" => Copa(Box<super::Copa>): "A rate of one packet per δ queueing delays (Copa).",
        "c2tcp" => C2tcp(Box<super::C2tcp>): "CUBIC with a limit of the RTT, for cellular paths (C2TCP).",
        "dctcp" => Dctcp(Box<Dctcp>): "Reductions by the share of marked bytes (RFC 8257).",
        "prague" => Prague(Prague): "Reductions by the share of marked bytes on ECT(1), independent of short RTTs (L4S).",
        "bbr" => Bbr(Box<Bbr>): "BBRv3: rate and window from bandwidth and minimum RTT, bounded by loss.",
        "bbr1" => Bbr1(Box<Bbr1>): "BBRv1 of Linux: rate and window from bandwidth and minimum RTT.",
        "clamp" => Clamp(Box<Clamp>): "CLAMP at the sender: Reno's window or that of a price, the smaller.",
        "vcp" => Vcp(Box<Vcp>): "Growth and reduction by a load code of two bits (VCP).",
    }
}

impl AnyCongestion {
    /// Handles an ACK of `acked` new bytes outside loss recovery, with the same effect as `on_ack`,
    /// if the algorithm needs no other input. Returns true if the ACK was handled.
    #[inline(always)]
    pub(crate) fn grow_on_fast_path(&mut self, acked: u64, app_limited: bool) -> bool {
        match self {
            AnyCongestion::Reno(reno) => reno.grow_on_fast_path(acked, app_limited),
            _ => false,
        }
    }
}

/// Evaluates an expression inline for CUBIC and Reno, and in a separate function for the others.
macro_rules! cubic_and_reno_first {
    ($value:expr, $inner:ident => $call:expr) => {
        match $value {
            AnyCongestion::Cubic($inner) => $call,
            any => usual_component_first!(any, $inner => $call),
        }
    };
}

impl CongestionControl for AnyCongestion {
    // Methods that are called for every packet, and differ between algorithms.
    delegate_congestion!(match usual_component_first: on_ack, ssthresh, pacing_rate);
    delegate_congestion!(match cubic_and_reno_first: cwnd);
    delegate_congestion!(match each_component: on_loss, on_rto, on_recovered, on_undo, on_ecn);
    delegate_congestion!(match each_component: needs_every_ack, needs_rate_samples, on_idle);
    delegate_congestion!(match each_component: sets_window_in_recovery, limits_itself, on_open);
    delegate_congestion!(match each_component: on_segment_lost, path_model, on_lost_syn, on_sent);
    delegate_congestion!(match each_component: on_negotiated, burst_size, take_error);
}
