//! Fast retransmit and fast recovery without SACK: handling of duplicate and partial ACKs.
//!
//! Source: RFC 5681 §3.2 (Reno), RFC 6582 (NewReno), RFC 3042 (limited transmit). Difference from
//! RFC 5681 §2: an ACK can be a duplicate even if its window differs from the last window, because
//! a receive-window policy may change the window with every ACK. After a timeout the sender resumes
//! at the oldest unacknowledged byte (go-back-N).

use super::timing::Timing;
use super::{
    AckOutcome, Allowance, DUP_THRESH, LossRecovery, Next, Scoreboard, SendLimits, Sent, Verdict,
};
use crate::config::{
    FastRetransmitGuard, FlightBound, PartialAckTimer, RecoveryExit, RecoveryKind, TcpConfig,
    WindowGrowth,
};
use crate::congestion::{AnyCongestion, CongestionControl};
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Flags, Packet, Time};

/// Loss detection and recovery of one sender without SACK.
#[derive(Clone, Debug)]
pub(crate) struct Classic {
    /// True for RFC 6582. False for RFC 5681, whose recovery ends with the first ACK of new data.
    is_newreno: bool,
    /// True if the FlightSize bounds the window at the end of a recovery
    /// (`RecoveryExit::BurstSafe`).
    exits_safely: bool,
    /// True if the window grows with the ACK that ends a recovery.
    grows_at_exit: bool,
    guard: FastRetransmitGuard,
    /// True if the guard applies: with NewReno, in ns-2 also with Reno.
    is_guarded: bool,
    limited_transmit: bool,
    partial_ack_timer: PartialAckTimer,
    mss: u64,
    duplicates: u32,
    /// RFC 6582's `recover`: SND.MAX at the last loss.
    recover: Option<u64>,
    fast_recovery: Option<FastRecovery>,
    /// SND.MAX at the first duplicate ACK. Data sent between the first and the third duplicate ACK
    /// was sent by limited transmit.
    sent_before_duplicates: u64,
    /// Upper bound of the FlightSize from which ssthresh is computed.
    flight_bound: FlightBound,
    /// FlightSize from which ssthresh was computed at the last loss, bytes.
    lost_flight: u64,
    /// Set only in ns-2: receive window, bytes. ns-2 halves min(cwnd, receive window) regardless of
    /// the outstanding data.
    halves_window_within: Option<u64>,
    /// RTT measurement of ns-2, with one segment at a time.
    timing: Option<Timing>,
}

/// State of one fast recovery.
#[derive(Clone, Copy, Debug)]
struct FastRecovery {
    /// Inflation of the window by duplicate ACKs minus deflation by partial ACKs, bytes.
    inflation: i64,
    had_partial_ack: bool,
}

impl Classic {
    pub(super) fn new(options: &TcpConfig) -> Classic {
        let is_newreno = options.recovery == RecoveryKind::NewReno;
        let deviations = Deviations::of(options);
        let guards_every_recovery = deviations.has(Deviation::GuardsEveryRecovery);
        Classic {
            is_newreno,
            exits_safely: is_newreno && options.exit_window == RecoveryExit::BurstSafe,
            grows_at_exit: options.window_growth == WindowGrowth::PerAckTruncated
                || deviations.has(Deviation::GrowsAtRecoveryExit),
            guard: options.fast_retransmit_guard,
            is_guarded: is_newreno || guards_every_recovery,
            limited_transmit: options.limited_transmit,
            partial_ack_timer: options.partial_ack_timer,
            mss: u64::from(options.mss),
            duplicates: 0,
            // The initial value of ns-2's `recover_` is packet 0, the SYN.
            recover: guards_every_recovery.then_some(0),
            fast_recovery: None,
            sent_before_duplicates: 0,
            flight_bound: if is_newreno { options.flight_bound } else { FlightBound::None },
            lost_flight: u64::MAX,
            halves_window_within: deviations
                .has(Deviation::ReducesOfferedWindow)
                .then_some(options.receive_window),
            timing: deviations.has(Deviation::TimesOneSegment).then(Timing::default),
        }
    }

    /// Returns the usable window: `cwnd`, in fast recovery plus the inflation.
    #[inline]
    fn window(&self, cwnd: u64) -> u64 {
        match self.fast_recovery {
            Some(FastRecovery { inflation, .. }) => {
                cwnd.saturating_add_signed(inflation).max(self.mss)
            }
            None => cwnd,
        }
    }

    /// Returns the bytes that limited transmit allows beyond cwnd: one segment for each of the
    /// first two duplicate ACKs (RFC 3042).
    #[inline]
    fn limited_transmit_allowance(&self) -> u64 {
        if self.limited_transmit && self.duplicates > 0 && self.duplicates < DUP_THRESH {
            u64::from(self.duplicates) * self.mss
        } else {
            0
        }
    }

    /// Returns the outstanding bytes that limited transmit has sent. These bytes are not part of
    /// FlightSize (RFC 3042 §2). Called on the third duplicate ACK; all data before `snd_max` has
    /// been sent.
    fn limited_transmit_sent(&self, snd_max: u64) -> u64 {
        if self.limited_transmit { snd_max - self.sent_before_duplicates } else { 0 }
    }

    /// Returns the value from which ssthresh is computed at a loss; `flight` is the FlightSize.
    fn flight_at_loss(&mut self, flight: u64, cwnd: u64) -> u64 {
        if let Some(receive_window) = self.halves_window_within {
            return cwnd.min(receive_window);
        }
        self.lost_flight = match self.flight_bound {
            FlightBound::None => flight,
            FlightBound::Cwnd => flight.min(cwnd),
            FlightBound::Replaced => cwnd,
        };
        self.lost_flight
    }

    /// Handles a duplicate ACK for `una`; all data before `snd_max` has been sent. Returns true if
    /// this ACK signals a loss.
    fn on_duplicate(&mut self, una: u64, snd_max: u64) -> bool {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == 1 {
            self.sent_before_duplicates = snd_max;
        }
        if let Some(fast_recovery) = &mut self.fast_recovery {
            fast_recovery.inflation += self.mss as i64;
            return false;
        }
        if self.duplicates != DUP_THRESH || self.is_guarded(una) {
            return false;
        }
        self.recover = Some(snd_max);
        let inflation = (u64::from(DUP_THRESH) * self.mss) as i64;
        self.fast_recovery = Some(FastRecovery { inflation, had_partial_ack: false });
        true
    }

    /// Returns true if duplicate ACKs for `una` may be caused by data sent before the last loss.
    fn is_guarded(&self, una: u64) -> bool {
        let Some(recover) = self.recover.filter(|_| self.is_guarded) else { return false };
        match self.guard {
            FastRetransmitGuard::Off => false,
            FastRetransmitGuard::Rfc => una <= recover,
            FastRetransmitGuard::Ns3 => una < recover,
        }
    }

    /// Handles an ACK of `acked` new bytes in fast recovery. Returns the required action, and the
    /// acknowledged bytes that count for the growth of the window.
    fn on_ack_in_recovery(&mut self, acked: u64, una: u64, cwnd: u64) -> (Verdict, u64) {
        let Some(fast_recovery) = &mut self.fast_recovery else { return (Verdict::Usual, acked) };
        if self.is_newreno && self.recover.is_some_and(|recover| una < recover) {
            // RFC 6582 §3.2 step 3, partial ACK: deflate by the acknowledged bytes, then add one
            // SMSS. At least one segment of window remains. Later duplicate ACKs inflate this
            // value.
            let refill = if acked >= self.mss { self.mss } else { 0 };
            let deflated = fast_recovery.inflation + refill as i64 - acked as i64;
            fast_recovery.inflation = deflated.max(self.mss as i64 - cwnd as i64);
            let first = !std::mem::replace(&mut fast_recovery.had_partial_ack, true);
            let restarts_timer = first || self.partial_ack_timer == PartialAckTimer::Each;
            return (Verdict::Repair { forces: true, restarts_timer }, 0);
        }
        self.fast_recovery = None;
        (Verdict::Recovered, if self.grows_at_exit { acked } else { 0 })
    }
}

impl LossRecovery for Classic {
    fn on_overtaken(&mut self, _ack: &Packet, _now: Time, _board: &mut Scoreboard) -> bool {
        false
    }

    #[inline]
    fn allows_fast_path(&mut self, _ack: &Packet) -> bool {
        self.duplicates = 0;
        self.fast_recovery.is_none() && self.timing.is_none()
    }

    fn is_open(&self) -> bool {
        self.duplicates == 0 && self.fast_recovery.is_none() && self.timing.is_none()
    }

    fn on_ack(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
        cc: &AnyCongestion,
    ) -> AckOutcome {
        let una = board.una();
        if ack.seq <= una {
            let is_update = ack.flags.contains(Flags::WINDOW_UPDATE);
            if !is_update {
                board.on_duplicate(self.mss, now);
            }
            let begins = !is_update && self.on_duplicate(una, board.max());
            let verdict = if begins { Verdict::Begins } else { Verdict::Usual };
            return AckOutcome { verdict, growth: 0, delivered: 0, rtt: None };
        }
        let timed = self.timing.as_mut().map(|timing| timing.sample(ack.seq, board, now));
        let by_oldest = board.acknowledge(ack.seq, now);
        let rtt = timed.unwrap_or(by_oldest);
        let acked = ack.seq - una;
        let (verdict, growth) = self.on_ack_in_recovery(acked, ack.seq, cc.cwnd());
        AckOutcome { verdict, growth, delivered: acked, rtt }
    }

    fn loss_base(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        let limited_transmit = self.limited_transmit_sent(board.max());
        self.flight_at_loss(board.flight() - limited_transmit, cwnd)
    }

    fn on_reduced(&mut self, _board: &Scoreboard, _ssthresh: u64) {}

    /// Without SACK the ACK that reveals the loss is a duplicate ACK, which requires no further
    /// action.
    fn after_loss(&mut self, _board: &Scoreboard, _ssthresh: u64) -> Verdict {
        Verdict::Usual
    }

    fn exit_window(&self, board: &Scoreboard) -> u64 {
        let safe = self.in_flight(board).max(self.mss) + self.mss;
        if self.exits_safely { safe } else { u64::MAX }
    }

    /// Handles a timeout (RFC 6582 §3.2 step 4). In fast recovery, every duplicate ACK has allowed
    /// new data, and FlightSize includes the data that the receiver holds beyond the holes.
    /// Therefore, until all data before `recover` is acknowledged, ssthresh is computed from at
    /// most the FlightSize at the last loss.
    fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (u64, u64) {
        let is_repairing = self.recover.is_some_and(|recover| board.una() < recover);
        let is_bounded = is_repairing && self.halves_window_within.is_none();
        let bound = if is_bounded { self.lost_flight } else { cwnd };
        let flight = self.flight_at_loss(board.flight(), bound);
        self.recover = Some(board.max());
        self.fast_recovery = None;
        if self.guard != FastRetransmitGuard::Off {
            self.duplicates = 0;
        }
        if let Some(timing) = &mut self.timing {
            timing.give_up();
        }
        board.go_back();
        (flight, cwnd)
    }

    #[inline]
    fn on_sent(
        &mut self,
        sent: Sent,
        _start: u64,
        end: u64,
        _board: &Scoreboard,
        _cc: &AnyCongestion,
    ) {
        if let Some(timing) = &mut self.timing {
            timing.on_sent(end, sent == Sent::New);
        }
    }

    #[inline]
    fn allowance(&mut self, board: &Scoreboard, cwnd: u64) -> Allowance {
        let window = self.window(cwnd);
        let goes_on = board.nxt() == board.max();
        Allowance::Window(window + if goes_on { self.limited_transmit_allowance() } else { 0 })
    }

    fn next(&mut self, _board: &Scoreboard, _offer: &SendLimits) -> Option<Next> {
        None
    }

    fn forced(&self, board: &Scoreboard, _offer: &SendLimits) -> Next {
        Next::Again(board.una())
    }

    fn reach(&mut self, _board: &Scoreboard, _cwnd: u64) -> u64 {
        0
    }

    #[inline]
    fn is_cwnd_limited(&self, used: u64, cwnd: u64) -> bool {
        used + self.mss >= cwnd
    }

    fn is_recovering(&self) -> bool {
        self.fast_recovery.is_some()
    }

    fn inflated(&self, cwnd: u64) -> u64 {
        self.window(cwnd)
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        board.nxt() - board.una()
    }

    #[inline]
    fn sacked(&self, _board: &Scoreboard) -> u64 {
        0
    }
}
