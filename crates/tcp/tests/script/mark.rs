//! ECN bits of a segment, or its request for an ACK.

use airpath_core::{Ecn, Flags, Packet};

/// ECN bits of a segment, or its request for an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Not ECN-capable, no flags.
    Plain,
    /// Not ECN-capable, PSH.
    Push,
    /// ECT(0).
    Ect0,
    /// ECT(0) with CWR.
    Cwr,
    /// Not ECN-capable, ECE and CWR: an ECN-setup SYN.
    Setup,
    /// Not ECN-capable; AE, ECE and CWR: a SYN that requests accurate feedback.
    AccurateSetup,
    /// ECT(1), no flags: a scalable congestion control, or VCP's code for low load.
    Low,
}

impl Mark {
    pub(super) fn of(packet: &Packet) -> Mark {
        let (ece, cwr) = (packet.flags.contains(Flags::ECE), packet.flags.contains(Flags::CWR));
        match (packet.ecn, ece, cwr) {
            (Ecn::NotEct, true, true) if packet.flags.contains(Flags::AE) => Mark::AccurateSetup,
            (Ecn::NotEct, false, false) if packet.flags.contains(Flags::PSH) => Mark::Push,
            (Ecn::NotEct, false, false) => Mark::Plain,
            (Ecn::Ect0, false, false) => Mark::Ect0,
            (Ecn::Ect0, false, true) => Mark::Cwr,
            (Ecn::NotEct, true, true) => Mark::Setup,
            (Ecn::Ect1, false, false) => Mark::Low,
            other => panic!("{other:?}"),
        }
    }
}
