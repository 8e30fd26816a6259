//! Loss recovery with SACK as in ns-3, which deviates from RFC 6675 and RFC 6937. Selected by
//! `stack = "ns3"`.
//!
//! Source: independent implementation, based on `TcpSocketBase`, `TcpTxBuffer`,
//! `TcpClassicRecovery` and `TcpPrrRecovery` of ns-3.48 (unchanged since ns-3.44). Its purpose is
//! the comparison with ns-3. Not implemented: behaviour without SACK, FACK, pacing, the abort after
//! six timeouts, and the merging of short segments in retransmissions. An echoed mark during a
//! recovery, or in the window of data after a loss, is handled as in RFC 3168.
//!
//! Deviations from the RFCs (see also the comments in the code):
//!
//! - ssthresh is computed from `pipe` or cwnd.
//! - A retransmitted segment still counts in `pipe` after it is selectively acknowledged.
//! - Every partial ACK triggers a segment, and only the first partial ACK restarts the timer.
//! - The window grows with the ACK that ends a recovery.
//! - A timeout does not discard the SACK information.
//! - PRR has a different reduction bound.
//! - There is no rescue retransmission.

mod prr;
mod tx_buffer;

use super::{
    AckOutcome, Allowance, DUP_THRESH, LossRecovery, Next, Scoreboard, SendLimits, Sent, Verdict,
};
use crate::config::TcpConfig;
use crate::congestion::{AnyCongestion, CongestionControl};
use airpath_core::{Packet, Time};
use prr::Prr;
use tx_buffer::{TxBuffer, is_resent_up_to, lose_all, mark_head_lost, pipe};

/// `TcpCongState_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
}

/// Loss detection and recovery of one sender, as in ns-3 with SACK.
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    mss: u64,
    state: State,
    buffer: TxBuffer,
    /// `TcpPrrRecovery`; `None` is `TcpClassicRecovery`.
    prr: Option<Prr>,
    duplicates: u32,
    /// SND.MAX at the last loss. While `guards` is true, no recovery begins for data before this
    /// offset.
    recover: u64,
    guards: bool,
    /// True if the reaction to echoed marks is the state CWR. `echoed` is SND.MAX at the last echo.
    reacts_in_cwr: bool,
    echoed: u64,
    awaits_first_partial_ack: bool,
    /// Delivered bytes that do not yet amount to a segment.
    remainder: u64,
    /// True if less than one segment of cwnd was unused when the last segment was sent.
    is_cwnd_limited: bool,
    /// Bytes that the current ACK acknowledged cumulatively.
    newly_acked: u64,
    /// Number of full segments delivered by the current ACK, including the remainder of earlier
    /// ACKs.
    segments: u64,
    /// Bytes delivered by the current ACK. `is_safe` is true if the current ACK acknowledged a
    /// retransmission.
    delivered: u64,
    is_safe: bool,
    /// True if the current ACK reported data beyond a hole.
    is_duplicate: bool,
}

impl Ns3 {
    pub(super) fn new(options: &TcpConfig) -> Ns3 {
        let mss = u64::from(options.mss);
        Ns3 {
            mss,
            state: State::Open,
            buffer: TxBuffer::new(mss),
            prr: options.recovery.is_proportional().then(|| Prr::new(mss)),
            duplicates: 0,
            recover: 0,
            guards: false,
            reacts_in_cwr: options.reacts_in_cwr(),
            echoed: 0,
            awaits_first_partial_ack: true,
            remainder: 0,
            is_cwnd_limited: false,
            newly_acked: 0,
            segments: 0,
            delivered: 0,
            is_safe: false,
            is_duplicate: false,
        }
    }

    /// Handles a duplicate ACK, which is an ACK that reported data beyond a hole. Returns true if a
    /// recovery begins.
    fn on_duplicate(&mut self, board: &Scoreboard, ssthresh: u64) -> bool {
        match self.state {
            State::Loss => false,
            // The window is already reduced, so lost segments are retransmitted as soon as `pipe`
            // allows.
            State::Cwr => {
                self.duplicates += 1;
                false
            }
            State::Recovery => {
                self.reduce(true, board, ssthresh);
                false
            }
            State::Open | State::Disorder => {
                self.state = State::Disorder;
                self.duplicates += 1;
                let una = board.una();
                let may_begin = una >= self.recover || !self.guards;
                (self.duplicates == DUP_THRESH && may_begin) || self.buffer.is_lost(una, board)
            }
        }
    }

    fn begin(&mut self, board: &mut Scoreboard) {
        if !self.buffer.is_lost(board.una(), board) {
            mark_head_lost(board);
        }
        self.recover = board.max();
        self.guards = true;
        self.state = State::Recovery;
    }

    /// Updates PRR with the bytes delivered by the current ACK.
    fn reduce(&mut self, is_duplicate: bool, board: &Scoreboard, ssthresh: u64) {
        if let Some(prr) = &mut self.prr {
            prr.on_ack(self.delivered, is_duplicate, pipe(board), ssthresh, self.is_safe);
        }
    }

    /// Returns the verdict on the new data that the current ACK acknowledges, and the bytes that
    /// count for the growth of the window.
    fn on_progress(&mut self, board: &Scoreboard, ssthresh: u64) -> (Verdict, u64) {
        if self.newly_acked == 0 {
            return (Verdict::Usual, 0);
        }
        let ack = board.una();
        let mut segments = self.whole_segments();
        self.segments = segments;
        if !self.is_duplicate {
            self.duplicates = 0;
        }
        if ack < self.recover && self.state == State::Recovery {
            return (self.on_partial_ack(segments, board, ssthresh), 0);
        }
        if ack < self.recover && self.state == State::Loss {
            return (Verdict::Usual, segments * self.mss);
        }
        if self.state == State::Cwr {
            self.reduce_in_cwr(board, ssthresh);
            return (Verdict::Usual, 0);
        }
        let is_over = self.state == State::Recovery;
        match self.state {
            State::Recovery => segments = self.newly_acked / self.mss,
            State::Loss => segments = (ack - self.recover) / self.mss,
            State::Open | State::Disorder | State::Cwr => {}
        }
        if is_over || self.state == State::Loss {
            self.awaits_first_partial_ack = true;
        }
        if is_over {
            self.duplicates = 0;
        }
        self.guards &= ack < self.recover;
        if self.state == State::Disorder && self.is_duplicate {
            return (Verdict::Repair { forces: false, restarts_timer: false }, 0);
        }
        self.state = State::Open;
        (if is_over { Verdict::Recovered } else { Verdict::Usual }, segments * self.mss)
    }

    fn on_partial_ack(&mut self, segments: u64, board: &Scoreboard, ssthresh: u64) -> Verdict {
        if segments >= 1 {
            self.reduce(false, board, ssthresh);
        }
        Verdict::Repair {
            forces: !is_resent_up_to(board.una() + self.mss, board),
            restarts_timer: std::mem::take(&mut self.awaits_first_partial_ack),
        }
    }

    /// `ReceivedAck`: returns false if the echo is ignored, because the ACK is a duplicate.
    pub(super) fn answers_echo(&self, is_new: bool) -> bool {
        is_new || !self.reacts_in_cwr
    }

    /// If the reaction to an ECN echo is the state CWR, returns the FlightSize from which ssthresh
    /// is computed, bytes.
    pub(super) fn echo_base(&self, board: &Scoreboard) -> Option<u64> {
        self.reacts_in_cwr.then(|| pipe(board))
    }

    /// `EnterCwr`, then `ProcessAck`: PRR counts the current ACK twice, the first time as a
    /// duplicate ACK. RecoverFS is `pipe` after this ACK.
    pub(super) fn begin_cwr(&mut self, board: &Scoreboard, ssthresh: u64) {
        self.state = State::Cwr;
        self.echoed = board.max();
        if let Some(prr) = &mut self.prr {
            prr.begin(pipe(board));
        }
        self.reduce(true, board, ssthresh);
        self.reduce_in_cwr(board, ssthresh);
    }

    fn reduce_in_cwr(&mut self, board: &Scoreboard, ssthresh: u64) {
        if self.segments >= 1 {
            self.reduce(false, board, ssthresh);
        }
    }

    /// Returns the number of full segments in the sum of the delivered bytes and the remainder of
    /// earlier ACKs.
    fn whole_segments(&mut self) -> u64 {
        let bytes = self.remainder + self.delivered;
        self.remainder = bytes % self.mss;
        bytes / self.mss
    }

    /// Returns cwnd: PRR's window in a proportional rate reduction, otherwise the `cwnd` of the
    /// congestion control.
    fn cwnd(&self, cwnd: u64) -> u64 {
        match &self.prr {
            Some(prr) if matches!(self.state, State::Cwr | State::Recovery) => prr.cwnd(),
            _ => cwnd,
        }
    }
}

/// Returns the number of bytes of new data that fit into the receive window; `None` if there is no
/// new data.
fn unsent(board: &Scoreboard, offer: &SendLimits) -> Option<u64> {
    let left = offer.data_end - board.max();
    (left > 0).then(|| left.min(offer.edge.saturating_sub(board.max())))
}

impl LossRecovery for Ns3 {
    /// Evaluates only the SACK blocks of the ACK.
    fn on_overtaken(&mut self, ack: &Packet, now: Time, board: &mut Scoreboard) -> bool {
        self.buffer.update(ack, now, board);
        false
    }

    #[inline]
    fn allows_fast_path(&mut self, _ack: &Packet) -> bool {
        false
    }

    /// Returns false, because the recovery must be notified of every segment.
    fn is_open(&self) -> bool {
        false
    }

    fn on_ack(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
        cc: &AnyCongestion,
    ) -> AckOutcome {
        let una = board.una();
        let sacked = self.buffer.update(ack, now, board);
        self.is_safe = self.state == State::Recovery
            && ack.seq < self.recover
            && self.buffer.holds_resent(ack.seq, board);
        let (acknowledged, rtt) = self.buffer.acknowledge(ack, now, board);
        self.delivered = sacked + acknowledged;
        self.is_duplicate = sacked > 0;
        self.newly_acked = ack.seq - una;
        if self.state == State::Cwr && ack.seq > self.echoed {
            self.state = State::Open;
        }
        let begins = self.is_duplicate && self.on_duplicate(board, cc.ssthresh());
        let (verdict, growth) = if begins {
            self.begin(board);
            (Verdict::Begins, 0)
        } else {
            self.on_progress(board, cc.ssthresh())
        };
        AckOutcome { verdict, growth, delivered: self.delivered, rtt }
    }

    fn loss_base(&mut self, board: &Scoreboard, _cwnd: u64) -> u64 {
        pipe(board)
    }

    /// Completes the entry into recovery.
    fn on_reduced(&mut self, board: &Scoreboard, ssthresh: u64) {
        if let Some(prr) = &mut self.prr {
            prr.begin(pipe(board));
        }
        self.reduce(true, board, ssthresh);
    }

    fn after_loss(&mut self, board: &Scoreboard, ssthresh: u64) -> Verdict {
        self.on_progress(board, ssthresh).0
    }

    fn exit_window(&self, _board: &Scoreboard) -> u64 {
        u64::MAX
    }

    /// Handles a timeout: marks all data lost that is not selectively acknowledged.
    fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (u64, u64) {
        let base = (pipe(board), self.cwnd(cwnd));
        self.duplicates = 0;
        lose_all(board);
        self.recover = board.max();
        self.guards = true;
        self.state = State::Loss;
        base
    }

    #[inline(never)]
    fn on_sent(&mut self, _: Sent, start: u64, end: u64, board: &Scoreboard, cc: &AnyCongestion) {
        self.is_cwnd_limited = self.cwnd(cc.cwnd()) < pipe(board) + self.mss;
        if let Some(prr) = &mut self.prr
            && matches!(self.state, State::Cwr | State::Recovery)
        {
            prr.on_sent(end - start);
        }
    }

    fn allowance(&mut self, _board: &Scoreboard, _cwnd: u64) -> Allowance {
        Allowance::ByFlight
    }

    /// `SendPendingData`: returns the next segment to send.
    fn next(&mut self, board: &Scoreboard, offer: &SendLimits) -> Option<Next> {
        let window = (offer.edge - board.una()).min(self.cwnd(offer.cwnd));
        let available = window.saturating_sub(pipe(board));
        let in_recovery = self.state == State::Recovery;
        let unsent = unsent(board, offer);
        let next = self.buffer.next(unsent, in_recovery, board).filter(|_| available > 0)?;
        let start = match next {
            Next::Again(start) => start,
            _ => board.max(),
        };
        let is_too_little = available < self.mss && offer.stream_end - start > available;
        (!is_too_little).then_some(next)
    }

    /// Returns the next segment to send, or the oldest segment if there is no next segment.
    fn forced(&self, board: &Scoreboard, offer: &SendLimits) -> Next {
        let next = self.buffer.next(unsent(board, offer), false, board);
        next.unwrap_or(Next::Again(board.una()))
    }

    fn reach(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        board.max() + self.cwnd(cwnd).saturating_sub(pipe(board))
    }

    fn is_cwnd_limited(&self, _used: u64, _cwnd: u64) -> bool {
        self.is_cwnd_limited
    }

    fn is_recovering(&self) -> bool {
        self.state == State::Recovery
    }

    fn inflated(&self, cwnd: u64) -> u64 {
        cwnd
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        pipe(board)
    }

    fn sacked(&self, board: &Scoreboard) -> u64 {
        board.sacked()
    }
}
