//! Loss recovery: the sender passes events and receives what to do.
//!
//! | recovery | file |
//! | --- | --- |
//! | without SACK: Reno, NewReno | `classic.rs`; the RTT in ns-2 `timing.rs` |
//! | with SACK (RFC 6675), with proportional rate reduction | `selective.rs`, `reduction.rs` |
//! | with SACK, losses found by time (RFC 8985) | `rack/` |
//! | with SACK as ns-3 has it | `ns3/` |
//!
//! All share one scoreboard (`scoreboard.rs`), from which samples of the delivery rate are taken
//! too (`rates.rs`). One ACK goes this way: `on_ack` returns a verdict; when a recovery begins, the
//! sender notifies the congestion control of a loss in a flight of `loss_base`, passes its new
//! window to `on_reduced`, and retransmits the oldest segment; `allowance`, and in recovery `next`,
//! return the data that may leave; `on_sent` is called for every segment that leaves.

mod classic;
mod ns3;
mod rack;
mod rates;
mod reduction;
mod scoreboard;
mod selective;
mod timing;

pub(crate) use rack::Expired;
pub use rates::RateSample;
pub(crate) use scoreboard::Scoreboard;

use crate::config::TcpConfig;
use crate::congestion::AnyCongestion;
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Duration, Packet, Time};
use classic::Classic;
use ns3::Ns3;
use rack::Rack;
use selective::Selective;

/// Duplicate ACKs, or selectively acknowledged segments beyond a hole, that announce a loss
/// (RFC 5681 §3.2, RFC 6675 §2; ns-3's attribute `ReTxThreshold`).
const DUP_THRESH: u32 = 3;

/// The result of an ACK: new information, and the action that it requires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckOutcome {
    pub(crate) verdict: Verdict,
    /// Bytes by which the congestion window may grow.
    pub(crate) growth: u64,
    /// Bytes that the ACK is the first to acknowledge, cumulatively or selectively; without those
    /// that blocks may report again after a timeout.
    pub(crate) delivered: u64,
    /// The RTT by the oldest segment that it covers; in ns-2 by the one that is timed.
    pub(crate) rtt: Option<Duration>,
}

/// Action that an ACK requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing special: an ACK of new data restarts the retransmission timer.
    Usual,
    /// A loss is found and a recovery begins: the congestion control is notified, its new window is
    /// passed to [`LossRecovery::on_reduced`], the oldest segment is retransmitted, and
    /// [`LossRecovery::after_loss`] returns the verdict on the rest of the ACK.
    Begins,
    /// Losses are under repair.
    Repair {
        /// [`LossRecovery::forced`] is sent, regardless of the window.
        forces: bool,
        /// Restarts the retransmission timer.
        restarts_timer: bool,
    },
    /// A recovery is over: the congestion control is notified, with [`LossRecovery::exit_window`].
    Recovered,
    /// The only loss is repaired already: the congestion control is notified of a loss and of its
    /// end.
    Repaired,
}

/// Data that may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// Data, in order, in a window of this many bytes from the oldest unacknowledged one.
    Window(u64),
    /// As [`LossRecovery::next`] returns, segment by segment.
    ByFlight,
}

/// Limits for the choice of the next segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendLimits {
    /// The congestion control's window.
    pub(crate) cwnd: u64,
    /// Right edge of the receiver's window.
    pub(crate) edge: u64,
    /// Where the stream ends, and where what may still be sent of it does.
    pub(crate) stream_end: u64,
    pub(crate) data_end: u64,
    /// Where a new segment would end that the receiver's window takes.
    pub(crate) new_end: Option<u64>,
}

/// The next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// New data up to here.
    New(u64),
    /// The segment that begins here, again.
    Again(u64),
    /// The segment that holds this byte, again, to keep the ACKs coming (RFC 6675 §4, rule 4).
    Rescue(u64),
}

/// Reason for sending a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// New data.
    New,
    /// It is the oldest, at the beginning of a recovery.
    Head,
    /// A retransmission.
    Again,
    /// Rescue retransmission, which keeps ACKs coming.
    Rescue,
}

/// Loss detection and recovery of one sender.
pub(crate) trait LossRecovery {
    /// An ACK came that another had overtaken; returns whether it counts as a duplicate.
    fn on_overtaken(&mut self, ack: &Packet, now: Time, board: &mut Scoreboard) -> bool;

    /// Whether nothing is under repair and nothing known that an ACK of new data, which is this one,
    /// may change but the oldest segment: then `on_ack` is not called. Duplicates are forgotten.
    fn allows_fast_path(&mut self, ack: &Packet) -> bool;

    /// Whether nothing is under repair or suspected: as long as ACKs are of new data and carry no
    /// other information, the recovery need not be notified of them or of new segments in the
    /// congestion window.
    fn is_open(&self) -> bool;

    /// An ACK came, with data outstanding: takes off the board what it covers.
    fn on_ack(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
        cc: &AnyCongestion,
    ) -> AckOutcome;

    /// The flight from which the reduction is computed when a recovery begins with the window
    /// `cwnd`.
    fn loss_base(&mut self, board: &Scoreboard, cwnd: u64) -> u64;

    /// The congestion control has answered that loss with `ssthresh`.
    fn on_reduced(&mut self, board: &Scoreboard, ssthresh: u64);

    /// The oldest segment was retransmitted after that: returns the verdict on the ACK that
    /// revealed the loss, when it is one of new data.
    fn after_loss(&mut self, board: &Scoreboard, ssthresh: u64) -> Verdict;

    /// The window that the end of a recovery allows at most.
    fn exit_window(&self, board: &Scoreboard) -> u64;

    /// The retransmission timer expired. Returns the flight from which the reduction is computed,
    /// and the window, which is the congestion control's `cwnd` except in ns-3's proportional
    /// reduction.
    fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (u64, u64);

    /// The bytes from `start` to `end` were sent, and are on the board.
    fn on_sent(&mut self, sent: Sent, start: u64, end: u64, board: &Scoreboard, cc: &AnyCongestion);

    /// Data that may leave, when the congestion control's window is `cwnd`.
    fn allowance(&mut self, board: &Scoreboard, cwnd: u64) -> Allowance;

    /// The next segment; called where the bytes in flight limit sending.
    fn next(&mut self, board: &Scoreboard, offer: &SendLimits) -> Option<Next>;

    /// The segment that a partial ACK sends.
    fn forced(&self, board: &Scoreboard, offer: &SendLimits) -> Next;

    /// With all sent that [`LossRecovery::next`] allows: the congestion window does not limit new
    /// data below this offset.
    fn reach(&mut self, board: &Scoreboard, cwnd: u64) -> u64;

    /// Whether `cwnd` limited the sender when `used` bytes of it were in use.
    fn is_cwnd_limited(&self, used: u64, cwnd: u64) -> bool;

    /// Whether a fast recovery is in progress.
    fn is_recovering(&self) -> bool;

    /// The congestion control's window as it is recorded: with fast recovery's inflation.
    fn inflated(&self, cwnd: u64) -> u64;

    /// Bytes that are believed to be in the network.
    fn in_flight(&self, board: &Scoreboard) -> u64;

    /// Bytes acknowledged selectively.
    fn sacked(&self, board: &Scoreboard) -> u64;
}

/// The recovery that a connection's options select.
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

    /// The recovery that finds losses by time, if it is that.
    #[inline]
    pub(crate) fn rack_timers(&mut self) -> Option<&mut Rack> {
        match self {
            Recovery::Rack(rack) => Some(rack),
            _ => None,
        }
    }

    /// Start of the segment that a recovery retransmits first.
    pub(crate) fn first_again(&self, board: &Scoreboard) -> u64 {
        match self {
            Recovery::Rack(rack) => rack.next_lost(board).unwrap_or(board.una()),
            _ => board.una(),
        }
    }

    /// Whether the echo in an ACK that arrived with `flight` bytes outstanding is answered; `is_new`
    /// if the ACK is one of new data.
    pub(crate) fn answers_echo(&self, is_new: bool, flight: u64) -> bool {
        match self {
            Recovery::Rack(rack) => rack.answers_echo(flight),
            Recovery::Ns3(ns3) => ns3.answers_echo(is_new),
            Recovery::Classic(_) | Recovery::Selective(_) => true,
        }
    }

    /// Whether the timeout that [`LossRecovery::on_timeout`] has taken leaves ssthresh as it is.
    pub(crate) fn keeps_ssthresh(&self) -> bool {
        matches!(self, Recovery::Rack(rack) if rack.keeps_ssthresh())
    }

    /// FlightSize from which ssthresh is computed for an ECN echo, bytes, when the window is `cwnd`
    /// and the answer is the state CWR, which [`Recovery::begin_cwr`] begins; else `None`.
    pub(crate) fn echo_base(&mut self, board: &Scoreboard, cwnd: u64) -> Option<u64> {
        match self {
            Recovery::Rack(rack) => rack.echo_base(board, cwnd),
            Recovery::Ns3(ns3) => ns3.echo_base(board),
            Recovery::Classic(_) | Recovery::Selective(_) => None,
        }
    }

    /// The congestion control has answered that echo with `ssthresh`.
    pub(crate) fn begin_cwr(&mut self, board: &Scoreboard, ssthresh: u64) {
        match self {
            Recovery::Rack(rack) => rack.begin_cwr(board, ssthresh),
            Recovery::Ns3(ns3) => ns3.begin_cwr(board, ssthresh),
            Recovery::Classic(_) | Recovery::Selective(_) => {}
        }
    }

    /// Expiry of the recovery's own timer.
    pub(crate) fn wakes_at(&self) -> Time {
        match self {
            Recovery::Rack(rack) => rack.wakes_at(),
            _ => Time::NEVER,
        }
    }

    pub(crate) fn new(options: &TcpConfig) -> Recovery {
        if Deviations::of(options).has(Deviation::Ns3Recovery) {
            Recovery::Ns3(Box::new(Ns3::new(options)))
        } else if options.finds_losses_by_time() {
            Recovery::Rack(Box::new(Rack::new(options)))
        } else if options.recovery.uses_sack() {
            Recovery::Selective(Box::new(Selective::new(options)))
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
