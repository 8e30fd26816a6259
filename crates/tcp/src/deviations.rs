//! Deviations of TCP implementations (ns-2, ns-3, Linux) from the RFCs. The parameter `stack`
//! selects them.
//!
//! Source: ns-2 `tcp.cc`, `tcp-reno.cc`; ns-3.48 `TcpSocketBase`, `TcpTxBuffer`, `TcpNewReno`,
//! `TcpLinuxReno`; Linux `tcp_cong_control`, `tcp_reno_ssthresh`, `tcp_enter_loss`.
//! `docs/reference/tcp-profiles.md` compares each deviation with the RFCs. The CUBIC variants of
//! ns-3 and Linux are not deviations but separate congestion control algorithms.

use crate::config::{EcnUse, StackVariant, TcpConfig};
use airpath_core::{Checks, at_least};

/// One deviation from the RFCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deviation {
    /// After a loss or an ECN echo, ssthresh is computed from min(cwnd, receive window) instead of
    /// FlightSize (ns-2; differs from RFC 5681 eq. 4).
    ReducesOfferedWindow,
    /// After a loss or an ECN echo, the lower bound of cwnd is one segment, not two (ns-2; differs
    /// from RFC 5681 eq. 4).
    LeavesOneSegment,
    /// The guard of RFC 6582 §3.2 step 1 applies also to Reno's recovery and to the first flight
    /// (ns-2).
    GuardsEveryRecovery,
    /// The RTT is measured with one segment at a time. A retransmission cancels the measurement
    /// (ns-2).
    TimesOneSegment,
    /// A lost SYN changes neither the initial window nor the RTO (ns-2; differs from RFC 5681 §3.1
    /// and RFC 6298 §5.7).
    IgnoresLostSyn,
    /// Retransmissions are ECN-capable (ns-2; differs from RFC 3168 §6.1.5).
    RetransmitsEcnCapable,
    /// If cwnd is one segment, an ECN echo does not stop transmission until the retransmission
    /// timer expires (ns-2; differs from RFC 3168 §6.1.2).
    SendsOneSegmentAfterEcho,
    /// If the ACK that ends a recovery carries an ECN echo, cwnd does not grow with this ACK
    /// (ns-2).
    EchoPreventsGrowthAtExit,
    /// cwnd grows with the ACK that ends a recovery (ns-2; Linux with RACK).
    GrowsAtRecoveryExit,
    /// Recovery with SACK uses the module `recovery/ns3` (ns-3; differs from RFC 6675 and RFC
    /// 6937).
    Ns3Recovery,
    /// During recovery, the recovery algorithm computes the growth of cwnd from the delivered
    /// bytes; the congestion control does not count them (ns-3).
    CountsInRecovery,
    /// A reduction of cwnd does not reset the count of acknowledged segments towards the next
    /// increase (ns-3 TcpLinuxReno).
    KeepsGrowthCredit,
    /// With `window_growth = "segments"`, the reduced window is computed from cwnd, even if cwnd is
    /// not fully used (ns-3 TcpLinuxReno).
    ReducesCwndOfSegments,
    /// In slow start cwnd grows even if it is not fully used (ns-3).
    GrowsUnusedInSlowStart,
    /// After a loss detected by RACK, the reduced window is computed from cwnd, even if cwnd is not
    /// fully used (Linux).
    ReducesCwndByTime,
    /// After a reduction, cwnd is rounded down to full-sized segments (Linux).
    RoundsToSegments,
}

/// Set of the deviations of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deviations(u16);

const NS2: &[Deviation] = &[
    Deviation::ReducesOfferedWindow,
    Deviation::LeavesOneSegment,
    Deviation::GuardsEveryRecovery,
    Deviation::TimesOneSegment,
    Deviation::IgnoresLostSyn,
    Deviation::RetransmitsEcnCapable,
    Deviation::SendsOneSegmentAfterEcho,
    Deviation::EchoPreventsGrowthAtExit,
    Deviation::GrowsAtRecoveryExit,
];
/// Deviations of ns-3. They apply only with SACK.
const NS3: &[Deviation] = &[
    Deviation::Ns3Recovery,
    Deviation::CountsInRecovery,
    Deviation::KeepsGrowthCredit,
    Deviation::ReducesCwndOfSegments,
    Deviation::GrowsUnusedInSlowStart,
];
const LINUX: &[Deviation] =
    &[Deviation::ReducesCwndByTime, Deviation::GrowsAtRecoveryExit, Deviation::RoundsToSegments];
/// Deviations of Linux without RACK.
const LINUX_BY_DUPLICATES: &[Deviation] = &[Deviation::RoundsToSegments];

impl Deviations {
    /// Returns the deviations of the implementation that `config` follows.
    pub(crate) fn of(config: &TcpConfig) -> Deviations {
        let list = match config.stack {
            StackVariant::Ns2 => NS2,
            StackVariant::Ns3 if config.recovery.uses_sack() => NS3,
            StackVariant::Linux if config.finds_losses_by_time() => LINUX,
            StackVariant::Linux => LINUX_BY_DUPLICATES,
            StackVariant::Rfc | StackVariant::Ns3 => &[],
        };
        Deviations(list.iter().fold(0, |set, &one| set | Deviations::bit(one)))
    }

    const fn bit(one: Deviation) -> u16 {
        1 << one as u16
    }

    /// Returns true if the set contains `one`.
    #[inline]
    pub(crate) const fn has(self, one: Deviation) -> bool {
        self.0 & Deviations::bit(one) != 0
    }
}

/// Rejects features that do not exist in the implementation that `config` follows.
pub(crate) fn check(config: &TcpConfig, checks: &mut Checks) {
    const ADVICE: &str = "Set stack = \"rfc\"";
    if config.stack == StackVariant::Ns2 && config.recovery.uses_sack() {
        let recovery = if config.recovery.is_proportional() { "prr" } else { "sack" };
        let problem = "stack = \"ns2\" has no SACK";
        checks.reject_with(&["stack"], "recovery", recovery, problem, ADVICE);
    }
    let missing = match config.ecn {
        EcnUse::Dctcp => Some("stack = \"ns3\" has no cc = \"dctcp\""),
        EcnUse::Accurate => Some("stack = \"ns3\" has no ecn = \"accurate\""),
        EcnUse::Off | EcnUse::On | EcnUse::Vcp => None,
    };
    if let (StackVariant::Ns3, Some(problem)) = (config.stack, missing) {
        checks.reject_with(&["ecn"], "stack", "ns3", problem, ADVICE);
    }
    if Deviations::of(config).has(Deviation::Ns3Recovery) {
        let problem = "below mss, and stack = \"ns3\" never sends a part of a segment";
        let least = at_least(u64::from(config.mss));
        let others = ["mss", "stack", "recovery"];
        checks.related_to(&others, "initial_window", config.initial_window, least, problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LossDetection, RecoveryKind};

    fn of(profile: &str) -> TcpConfig {
        TcpConfig::of_profile(profile).expect("a profile")
    }

    #[test]
    fn profiles_that_follow_the_rfcs_have_no_deviation() {
        for profile in ["rfc", "ns3-2014"] {
            assert_eq!(Deviations::of(&of(profile)), Deviations::default());
        }
    }

    #[test]
    fn ns3_deviates_with_sack_only() {
        let ns3 = of("ns3");
        assert!(NS3.iter().all(|&one| Deviations::of(&ns3).has(one)));
        let newreno = TcpConfig { recovery: RecoveryKind::NewReno, ..ns3 };
        assert_eq!(Deviations::of(&newreno), Deviations::default());
    }

    #[test]
    fn linux_without_rack_only_rounds_to_segments() {
        let linux = of("linux");
        assert!(LINUX.iter().all(|&one| Deviations::of(&linux).has(one)));
        let by_duplicates = TcpConfig { loss_detection: LossDetection::Sack, ..linux };
        let deviations = Deviations::of(&by_duplicates);
        assert!(deviations.has(Deviation::RoundsToSegments));
        assert!(!deviations.has(Deviation::GrowsAtRecoveryExit));
        assert!(!deviations.has(Deviation::ReducesCwndByTime));
    }
}
