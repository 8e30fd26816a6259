//! Loss recovery algorithms. The sender passes events to them and receives the required actions.
//!
//! | recovery | file |
//! | --- | --- |
//! | without SACK: Reno, NewReno | `classic.rs`; RTT measurement of ns-2 `timing.rs` |
//! | with SACK (RFC 6675), with proportional rate reduction | `selective.rs`, `reduction.rs` |
//! | with SACK, losses detected by time (RFC 8985) | `rack/` |
//! | with SACK, as in ns-3 | `ns3/` |
//!
//! All variants share one scoreboard (`scoreboard.rs`), which also provides samples of the delivery
//! rate (`rates.rs`). The sequence for one ACK:
//!
//! 1. `on_ack` returns a verdict.
//! 2. If a recovery begins, the sender notifies the congestion control of the loss, with
//!    `loss_base` as FlightSize. Then it passes the new ssthresh to `on_reduced` and retransmits
//!    the oldest segment.
//! 3. `allowance`, and in recovery `next`, return the data that may be sent.
//! 4. `on_sent` is called for every sent segment.

mod classic;
mod ns3;
mod rack;
mod rates;
mod reduction;
mod scoreboard;
mod selective;
mod timing;

pub(crate) use rack::Expired;
pub use rates::{InflightSample, LostSegment, RateSample};
pub(crate) use scoreboard::Scoreboard;

use crate::config::TcpConfig;
use crate::congestion::{AnyCongestion, UndoEvent};
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Duration, Packet, Time};
use classic::Classic;
use ns3::Ns3;
use rack::Rack;
use selective::Selective;

/// Number of duplicate ACKs, or of selectively acknowledged segments beyond a hole, that signal a
/// loss (RFC 5681 §3.2, RFC 6675 §2; ns-3's attribute `ReTxThreshold`).
const DUP_THRESH: u32 = 3;

/// Result of the handling of an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckOutcome {
    pub(crate) verdict: Verdict,
    /// Acknowledged bytes that count for the growth of the congestion window.
    pub(crate) growth: u64,
    /// Bytes newly acknowledged by this ACK, cumulatively or selectively. Bytes that SACK blocks
    /// report again after a timeout do not count.
    pub(crate) delivered: u64,
    /// RTT sample from the oldest newly acknowledged segment; in ns-2 from the timed segment.
    pub(crate) rtt: Option<Duration>,
}

/// Action that an ACK requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No special action: an ACK of new data restarts the retransmission timer.
    Usual,
    /// A loss is detected and a recovery begins. The sender notifies the congestion control, passes
    /// the new ssthresh to [`LossRecovery::on_reduced`] and retransmits the oldest segment. Then
    /// [`LossRecovery::after_loss`] returns the verdict on the new data that the ACK acknowledges.
    Begins,
    /// A recovery is in progress.
    Repair {
        /// True if the sender must send the segment returned by [`LossRecovery::forced`],
        /// regardless of the window.
        forces: bool,
        /// True if the sender must restart the retransmission timer.
        restarts_timer: bool,
    },
    /// A recovery has ended. The sender passes [`LossRecovery::exit_window`] to the congestion
    /// control.
    Recovered,
    /// All reductions of the episode were spurious, and the recovery has ended. The sender notifies
    /// the congestion control. If `begins` is true, then a recovery [begins](Verdict::Begins).
    Undone {
        /// True if a loss is detected.
        begins: bool,
    },
    /// A tail loss probe has already repaired the only loss. The sender notifies the congestion
    /// control of a loss and of the end of the recovery.
    Repaired,
}

/// Data that may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// In-order data within a window of this many bytes from the oldest unacknowledged byte.
    Window(u64),
    /// The segments that [`LossRecovery::next`] returns, one by one.
    ByFlight,
}

/// Limits for the selection of the next segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendLimits {
    /// Congestion window, bytes.
    pub(crate) cwnd: u64,
    /// Right edge of the receive window.
    pub(crate) edge: u64,
    /// End of the stream. `data_end` is the end of the data that may still be sent.
    pub(crate) stream_end: u64,
    pub(crate) data_end: u64,
    /// End of the next new segment; `None` if no new segment fits into the receive window.
    pub(crate) new_end: Option<u64>,
}

/// The next segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// New data up to this offset.
    New(u64),
    /// Retransmission of the segment that begins at this offset.
    Again(u64),
    /// Retransmission of the segment that contains this byte, to keep the ACK clock running (RFC
    /// 6675 §4, rule 4).
    Rescue(u64),
}

/// Reason for sending a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// New data.
    New,
    /// Retransmission of the oldest segment, at the beginning of a recovery.
    Head,
    /// A retransmission.
    Again,
    /// Rescue retransmission, which keeps the ACK clock running.
    Rescue,
}

/// Loss detection and recovery of one sender.
pub(crate) trait LossRecovery {
    /// Handles an old ACK, which a later ACK has overtaken in the network. Returns true if the old
    /// ACK counts as a duplicate ACK.
    fn on_overtaken(&mut self, ack: &Packet, now: Time, board: &mut Scoreboard) -> bool;

    /// Returns true if `on_ack` need not be called for `ack`, an ACK of new data, because no
    /// recovery is in progress and `ack` only removes segments from the board. Resets the count of
    /// duplicate ACKs.
    fn allows_fast_path(&mut self, ack: &Packet) -> bool;

    /// Returns true if no recovery is in progress and no loss is suspected. Then the recovery need
    /// not be notified of ACKs that only acknowledge new data, nor of new segments within the
    /// congestion window.
    fn is_open(&self) -> bool;

    /// Handles an ACK while data is outstanding: removes the acknowledged segments from the board.
    fn on_ack(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
        cc: &AnyCongestion,
    ) -> AckOutcome;

    /// Returns the FlightSize from which the reduction at the beginning of a recovery is computed.
    /// `cwnd` is the congestion window before the reduction.
    fn loss_base(&mut self, board: &Scoreboard, cwnd: u64) -> u64;

    /// Called after the congestion control has reduced its window for the loss and set `ssthresh`.
    fn on_reduced(&mut self, board: &Scoreboard, ssthresh: u64);

    /// Called after `on_reduced` and the retransmission of the oldest segment. If the ACK that
    /// revealed the loss acknowledges new data, returns the verdict on this data.
    fn after_loss(&mut self, board: &Scoreboard, ssthresh: u64) -> Verdict;

    /// Returns the largest window that the recovery allows at its end.
    fn exit_window(&self, board: &Scoreboard) -> u64;

    /// Handles an expiry of the retransmission timer. Returns the FlightSize from which the
    /// reduction is computed, and the window before the reduction. This window is the congestion
    /// control's `cwnd`, except in ns-3's proportional rate reduction.
    fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (u64, u64);

    /// Called after the transmission of the bytes from `start` to `end`, which are already on the
    /// board.
    fn on_sent(&mut self, sent: Sent, start: u64, end: u64, board: &Scoreboard, cc: &AnyCongestion);

    /// Returns the data that may be sent with a congestion window of `cwnd`.
    fn allowance(&mut self, board: &Scoreboard, cwnd: u64) -> Allowance;

    /// Returns the next segment to send. Called if `allowance` has returned
    /// [`Allowance::ByFlight`].
    fn next(&mut self, board: &Scoreboard, offer: &SendLimits) -> Option<Next>;

    /// Returns the segment to send because of a partial ACK.
    fn forced(&self, board: &Scoreboard, offer: &SendLimits) -> Next;

    /// Returns the stream offset up to which the congestion window allows new data. Called after
    /// all data that [`LossRecovery::next`] allows has been sent.
    fn reach(&mut self, board: &Scoreboard, cwnd: u64) -> u64;

    /// Returns true if `cwnd` limited the sender when `used` bytes of it were in use.
    fn is_cwnd_limited(&self, used: u64, cwnd: u64) -> bool;

    /// Returns true if a fast recovery is in progress.
    fn is_recovering(&self) -> bool;

    /// Returns the recorded congestion window: `cwnd` plus the inflation in fast recovery.
    fn inflated(&self, cwnd: u64) -> u64;

    /// Returns the estimated number of bytes in the network.
    fn in_flight(&self, board: &Scoreboard) -> u64;

    /// Returns the number of selectively acknowledged bytes.
    fn sacked(&self, board: &Scoreboard) -> u64;
}

/// Loss recovery selected by the parameters of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    Classic(Box<Classic>),
    Selective(Box<Selective>),
    Rack(Box<Rack>),
    Ns3(Box<Ns3>),
}

macro_rules! each {
    ($value:expr, $inner:ident => $call:expr) => {
        match $value {
            Recovery::Classic($inner) => $call,
            Recovery::Selective($inner) => $call,
            Recovery::Rack($inner) => $call,
            Recovery::Ns3($inner) => $call,
        }
    };
}

impl Recovery {
    #[inline(never)]
    fn on_other_ack(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
        cc: &AnyCongestion,
    ) -> AckOutcome {
        each!(self, recovery => recovery.on_ack(ack, now, board, cc))
    }

    /// Returns the RACK recovery; `None` if another recovery is selected.
    #[inline]
    pub(crate) fn rack_timers(&mut self) -> Option<&mut Rack> {
        match self {
            Recovery::Rack(rack) => Some(rack),
            _ => None,
        }
    }

    /// Saves the window before a reduction, for a recovery that undoes spurious reductions.
    /// `by_timeout`: true if the retransmission timer has expired.
    pub(crate) fn save_window(&mut self, by_timeout: bool, board: &Scoreboard, cc: &AnyCongestion) {
        match self {
            Recovery::Rack(rack) if by_timeout => rack.save_before_timeout(board, cc),
            Recovery::Rack(rack) => rack.save_before_recovery(board, cc),
            _ => {}
        }
    }

    /// Returns the window to restore after [`Verdict::Undone`].
    pub(crate) fn undo_event(&self, now: Time) -> Option<UndoEvent> {
        match self {
            Recovery::Rack(rack) => Some(rack.undo_event(now)),
            _ => None,
        }
    }

    /// Returns the start of the segment that a recovery retransmits first.
    pub(crate) fn first_again(&mut self, board: &Scoreboard) -> u64 {
        match self {
            Recovery::Rack(rack) => rack.next_lost(board).unwrap_or(board.una()),
            _ => board.una(),
        }
    }

    /// Returns true if the sender reacts to the ECN echo in an ACK. `flight` is the number of bytes
    /// outstanding before the ACK; `is_new` is true for an ACK of new data.
    pub(crate) fn answers_echo(&self, is_new: bool, flight: u64) -> bool {
        match self {
            Recovery::Rack(rack) => rack.answers_echo(flight),
            Recovery::Ns3(ns3) => ns3.answers_echo(is_new),
            Recovery::Classic(_) | Recovery::Selective(_) => true,
        }
    }

    /// Returns true if the timeout handled by [`LossRecovery::on_timeout`] does not change
    /// ssthresh.
    pub(crate) fn keeps_ssthresh(&self) -> bool {
        matches!(self, Recovery::Rack(rack) if rack.keeps_ssthresh())
    }

    /// If the reaction to an ECN echo is the state CWR (see [`Recovery::begin_cwr`]), returns the
    /// FlightSize from which ssthresh is computed, bytes. Otherwise returns `None`.
    pub(crate) fn echo_base(&mut self, board: &Scoreboard, cwnd: u64) -> Option<u64> {
        match self {
            Recovery::Rack(rack) => rack.echo_base(board, cwnd),
            Recovery::Ns3(ns3) => ns3.echo_base(board),
            Recovery::Classic(_) | Recovery::Selective(_) => None,
        }
    }

    /// Begins the state CWR, after the congestion control has set `ssthresh` because of an echo.
    pub(crate) fn begin_cwr(&mut self, board: &Scoreboard, ssthresh: u64) {
        match self {
            Recovery::Rack(rack) => rack.begin_cwr(board, ssthresh),
            Recovery::Ns3(ns3) => ns3.begin_cwr(board, ssthresh),
            Recovery::Classic(_) | Recovery::Selective(_) => {}
        }
    }

    /// Returns the expiry time of the recovery's timers (reordering timer, probe timer); `NEVER` if
    /// there is none.
    pub(crate) fn wakes_at(&self) -> Time {
        match self {
            Recovery::Rack(rack) => rack.wakes_at(),
            _ => Time::NEVER,
        }
    }

    /// Creates the recovery of a connection with these `options`. If `by_congestion` is true, the
    /// congestion control sets the window also during a recovery, without proportional rate
    /// reduction.
    pub(crate) fn new(options: &TcpConfig, by_congestion: bool) -> Recovery {
        let proportional = options.recovery.is_proportional() && !by_congestion;
        if Deviations::of(options).has(Deviation::Ns3Recovery) {
            Recovery::Ns3(Box::new(Ns3::new(options)))
        } else if options.finds_losses_by_time() {
            Recovery::Rack(Box::new(Rack::new(options, proportional)))
        } else if options.recovery.uses_sack() {
            Recovery::Selective(Box::new(Selective::new(options, proportional)))
        } else {
            Recovery::Classic(Box::new(Classic::new(options)))
        }
    }
}

impl LossRecovery for Recovery {
    fn on_overtaken(&mut self, ack: &Packet, now: Time, board: &mut Scoreboard) -> bool {
        each!(self, recovery => recovery.on_overtaken(ack, now, board))
    }

    #[inline]
    fn allows_fast_path(&mut self, ack: &Packet) -> bool {
        each!(self, recovery => recovery.allows_fast_path(ack))
    }

    fn is_open(&self) -> bool {
        each!(self, recovery => recovery.is_open())
    }

    fn on_ack(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
        cc: &AnyCongestion,
    ) -> AckOutcome {
        let una = board.una();
        if ack.seq > una && self.allows_fast_path(ack) {
            let rtt = board.acknowledge(ack.seq, now);
            let acked = ack.seq - una;
            return AckOutcome { verdict: Verdict::Usual, growth: acked, delivered: acked, rtt };
        }
        self.on_other_ack(ack, now, board, cc)
    }

    fn loss_base(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        each!(self, recovery => recovery.loss_base(board, cwnd))
    }

    fn on_reduced(&mut self, board: &Scoreboard, ssthresh: u64) {
        each!(self, recovery => recovery.on_reduced(board, ssthresh));
    }

    fn after_loss(&mut self, board: &Scoreboard, ssthresh: u64) -> Verdict {
        each!(self, recovery => recovery.after_loss(board, ssthresh))
    }

    fn exit_window(&self, board: &Scoreboard) -> u64 {
        each!(self, recovery => recovery.exit_window(board))
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (u64, u64) {
        each!(self, recovery => recovery.on_timeout(board, cwnd))
    }

    #[inline]
    fn on_sent(
        &mut self,
        sent: Sent,
        start: u64,
        end: u64,
        board: &Scoreboard,
        cc: &AnyCongestion,
    ) {
        each!(self, recovery => recovery.on_sent(sent, start, end, board, cc));
    }

    #[inline]
    fn allowance(&mut self, board: &Scoreboard, cwnd: u64) -> Allowance {
        each!(self, recovery => recovery.allowance(board, cwnd))
    }

    fn next(&mut self, board: &Scoreboard, offer: &SendLimits) -> Option<Next> {
        each!(self, recovery => recovery.next(board, offer))
    }

    fn forced(&self, board: &Scoreboard, offer: &SendLimits) -> Next {
        each!(self, recovery => recovery.forced(board, offer))
    }

    fn reach(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        each!(self, recovery => recovery.reach(board, cwnd))
    }

    #[inline]
    fn is_cwnd_limited(&self, used: u64, cwnd: u64) -> bool {
        each!(self, recovery => recovery.is_cwnd_limited(used, cwnd))
    }

    fn is_recovering(&self) -> bool {
        each!(self, recovery => recovery.is_recovering())
    }

    fn inflated(&self, cwnd: u64) -> u64 {
        each!(self, recovery => recovery.inflated(cwnd))
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        each!(self, recovery => recovery.in_flight(board))
    }

    #[inline]
    fn sacked(&self, board: &Scoreboard) -> u64 {
        each!(self, recovery => recovery.sacked(board))
    }
}
