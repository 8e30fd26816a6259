//! Fast retransmit and fast recovery: what to do with duplicate and partial ACKs.
//!
//! Source: RFC 5681 §3.2 (Reno), RFC 6582 (NewReno, the careful variant), RFC 3042 (limited
//! transmit). Differs from RFC 5681 §2: an ACK counts as a duplicate whatever its window, for a
//! receive-window policy may change the window with every ACK.

use crate::options::{FastRetransmitGuard, FlightBound, PartialAckTimer, RecoveryKind, TcpOptions};

/// Duplicate ACKs that announce a loss (RFC 5681 §3.2).
const DUP_THRESH: u32 = 3;

/// What the sender has to do about an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing special; the window law takes the ACK.
    Grow,
    /// Nothing to be done, not even growth.
    Wait,
    /// Three duplicates: resend the head, tell the window law.
    FastRetransmit,
    /// NewReno: resend the next hole; restart the timer when told so.
    PartialAck {
        /// Whether the retransmission timer starts anew.
        restart_timer: bool,
    },
    /// Fast recovery is over.
    Recovered,
}

/// Loss detection and recovery of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    kind: RecoveryKind,
    guard: FastRetransmitGuard,
    limited_transmit: bool,
    partial_ack_timer: PartialAckTimer,
    mss: u64,
    duplicates: u32,
    /// RFC 6582's `recover`, as the offset behind the highest byte sent at the last loss.
    recover: Option<u64>,
    episode: Option<Episode>,
    /// Offset behind the highest byte sent when the first duplicate arrived; what was sent
    /// between it and the third is limited transmit's.
    sent_before_duplicates: u64,
    /// Whether cwnd bounds what ssthresh is taken from.
    bounds_flight: bool,
    /// What it was taken from at the last loss, bytes.
    lost_flight: u64,
}

/// One fast recovery.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// What duplicate ACKs added to the window and partial ACKs took from it, bytes.
    inflation: i64,
    had_partial_ack: bool,
}

impl Recovery {
    pub(crate) fn new(options: &TcpOptions) -> Recovery {
        Recovery {
            kind: options.recovery,
            guard: options.fast_retransmit_guard,
            limited_transmit: options.limited_transmit,
            partial_ack_timer: options.partial_ack_timer,
            mss: u64::from(options.mss),
            duplicates: 0,
            recover: None,
            episode: None,
            sent_before_duplicates: 0,
            bounds_flight: options.flight_bound == FlightBound::Cwnd
                && options.recovery == RecoveryKind::NewReno,
            lost_flight: u64::MAX,
        }
    }

    /// Whether a fast recovery is under way.
    pub(crate) fn is_recovering(&self) -> bool {
        self.episode.is_some()
    }

    /// The usable window when the law's is `cwnd`: inflated in fast recovery.
    #[inline]
    pub(crate) fn window(&self, cwnd: u64) -> u64 {
        match self.episode {
            Some(Episode { inflation, .. }) => cwnd.saturating_add_signed(inflation).max(self.mss),
            None => cwnd,
        }
    }

    /// RFC 3042: one new segment beyond cwnd for each of the first two duplicate ACKs.
    #[inline]
    pub(crate) fn limited_transmit_allowance(&self) -> u64 {
        if self.limited_transmit && self.duplicates > 0 && self.duplicates < DUP_THRESH {
            u64::from(self.duplicates) * self.mss
        } else {
            0
        }
    }

    /// Limited transmit's share of what is outstanding: not part of FlightSize (RFC 3042 §2).
    /// Meant for the third duplicate, with everything before `snd_max` sent.
    pub(crate) fn limited_transmit_sent(&self, snd_max: u64) -> u64 {
        if self.limited_transmit { snd_max - self.sent_before_duplicates } else { 0 }
    }

    /// What ssthresh is taken from at a fast retransmit, when the FlightSize is `flight`.
    pub(crate) fn flight_at_loss(&mut self, flight: u64, cwnd: u64) -> u64 {
        self.lost_flight = if self.bounds_flight { flight.min(cwnd) } else { flight };
        self.lost_flight
    }

    /// The same at a timeout with everything before `una` acknowledged. What was sent before the
    /// last loss is still under repair up to `recover`: in fast recovery every duplicate ACK has let
    /// new data out, and FlightSize has grown by what waits at the receiver behind the holes.
    pub(crate) fn flight_at_rto(&mut self, una: u64, flight: u64, cwnd: u64) -> u64 {
        let is_repairing = self.recover.is_some_and(|recover| una < recover);
        let bound = if is_repairing { self.lost_flight } else { cwnd };
        self.flight_at_loss(flight, bound)
    }

    /// A duplicate ACK for `una`, with everything before `snd_max` sent.
    pub(crate) fn on_duplicate(&mut self, una: u64, snd_max: u64) -> Verdict {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == 1 {
            self.sent_before_duplicates = snd_max;
        }
        if let Some(episode) = &mut self.episode {
            episode.inflation += self.mss as i64;
            return Verdict::Wait;
        }
        if self.duplicates != DUP_THRESH || self.is_guarded(una) {
            return Verdict::Wait;
        }
        self.recover = Some(snd_max);
        let inflation = (u64::from(DUP_THRESH) * self.mss) as i64;
        self.episode = Some(Episode { inflation, had_partial_ack: false });
        Verdict::FastRetransmit
    }

    /// Whether duplicate ACKs for `una` may be due to what was sent before the last loss.
    fn is_guarded(&self, una: u64) -> bool {
        let Some(recover) = self.recover.filter(|_| self.kind == RecoveryKind::NewReno) else {
            return false;
        };
        match self.guard {
            FastRetransmitGuard::Off => false,
            FastRetransmitGuard::Rfc => una <= recover,
            FastRetransmitGuard::Ns3 => una < recover,
        }
    }

    /// An ACK of `acked` new bytes up to `ack`; the law's window is `cwnd`.
    #[inline]
    pub(crate) fn on_new_ack(&mut self, ack: u64, acked: u64, cwnd: u64) -> Verdict {
        self.duplicates = 0;
        let Some(episode) = &mut self.episode else { return Verdict::Grow };
        if self.kind == RecoveryKind::NewReno && self.recover.is_some_and(|recover| ack < recover) {
            // RFC 6582 §3.2 step 3, partial ACK: deflate by what was acknowledged, add one SMSS;
            // a segment remains, and later duplicates inflate from there.
            let refill = if acked >= self.mss { self.mss } else { 0 };
            let deflated = episode.inflation + refill as i64 - acked as i64;
            episode.inflation = deflated.max(self.mss as i64 - cwnd as i64);
            let first = !std::mem::replace(&mut episode.had_partial_ack, true);
            let restart_timer = first || self.partial_ack_timer == PartialAckTimer::Each;
            return Verdict::PartialAck { restart_timer };
        }
        self.episode = None;
        Verdict::Recovered
    }

    /// The retransmission timer expired with everything before `snd_max` sent
    /// (RFC 6582 §3.2 step 4).
    pub(crate) fn on_rto(&mut self, snd_max: u64) {
        self.recover = Some(snd_max);
        self.episode = None;
        if self.guard != FastRetransmitGuard::Off {
            self.duplicates = 0;
        }
    }
}
