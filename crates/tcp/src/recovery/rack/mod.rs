//! Loss detection by time (RACK-TLP). Selected by `loss_detection = "rack"`.
//!
//! Source: RFC 8985 §6 and §7. Where the RFC leaves a choice, this module follows Linux
//! `tcp_recovery.c` and `tcp_input.c`. A segment or retransmission is deemed lost if a segment that
//! was sent later has arrived and the reordering window has passed. Only lost segments are
//! retransmitted. After two RTTs without an ACK, a tail loss probe is sent. A timeout does not
//! discard the SACK information, unless the receiver has reneged. As in Linux, if a segment was
//! retransmitted, the minimum RTT decides whether the original or the retransmission has arrived.

mod cwr;
mod detect;
mod probe;
mod search;
mod undo;

use super::reduction::Reduction;
use super::scoreboard::Marks;
use super::{
    AckOutcome, Allowance, DUP_THRESH, LossRecovery, Next, Scoreboard, SendLimits, Sent, Verdict,
};
use crate::config::TcpConfig;
use crate::congestion::{AnyCongestion, CongestionControl};
use crate::deviations::{Deviation, Deviations};
use airpath_core::{Duration, Packet, Time};
use cwr::Cwr;
use detect::{LossScan, Steps};
use probe::Probe;
use search::Search;
use undo::Undo;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Recovery,
    /// After a timeout, until all data sent before the timeout is acknowledged.
    Loss,
}

/// Action that a timer of the recovery requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// Send the data that is now allowed.
    Nothing,
    /// A loss is detected and a recovery begins.
    Begins,
    /// Send a tail loss probe.
    Probe,
}

/// RACK loss detection and recovery of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    mss: u64,
    proportional: bool,
    limited_transmit: bool,
    deviations: Deviations,
    /// RACK.xmit_ts and RACK.end_seq of the most recently sent segment that has arrived.
    newest: Option<(Time, u64)>,
    /// RACK.rtt: RTT of the most recently sent segment that has arrived.
    rtt: Duration,
    /// RACK.min_RTT: minimum RTT.
    min_rtt: Option<Duration>,
    /// RACK.fack: highest end of the segments that have arrived.
    fack: u64,
    /// RACK.reordering_seen: true if reordering was detected.
    reordering_seen: bool,
    /// Size of the reordering window. `srtt` is its upper bound.
    steps: Steps,
    srtt: Option<Duration>,
    state: State,
    /// State of the reaction to echoed marks.
    cwr: Cwr,
    /// State of the detection of spurious reductions.
    undo: Undo,
    /// No new recovery begins until all data before this offset is acknowledged.
    recovery_point: u64,
    reduction: Reduction,
    /// Window of proportional rate reduction: allowed bytes in flight.
    window: u64,
    /// FlightSize from which the last reduction was computed.
    lost_flight: u64,
    /// State of the search for lost segments.
    search: Search,
    /// Bytes delivered by the current ACK, and true if the ACK acknowledged data cumulatively.
    delivered: u64,
    is_safe: bool,
    /// Expiry of the reordering timer.
    reorder_at: Time,
    probe: Probe,
    /// True if the window was fully used in the current window of data, which ends at `usage_end`.
    is_limited: bool,
    usage_end: u64,
}

impl Rack {
    /// `proportional`: the window follows proportional rate reduction during a recovery.
    pub(super) fn new(options: &TcpConfig, proportional: bool) -> Rack {
        Rack {
            mss: u64::from(options.mss),
            proportional,
            limited_transmit: options.limited_transmit,
            deviations: Deviations::of(options),
            newest: None,
            rtt: Duration::ZERO,
            min_rtt: None,
            fack: 0,
            reordering_seen: false,
            steps: Steps::new(),
            srtt: None,
            state: State::Open,
            cwr: Cwr::new(options),
            undo: Undo::new(options),
            recovery_point: 0,
            reduction: Reduction::default(),
            window: 0,
            lost_flight: 0,
            search: Search::default(),
            delivered: 0,
            is_safe: false,
            reorder_at: Time::NEVER,
            probe: Probe::new(options),
            is_limited: true,
            usage_end: 0,
        }
    }

    fn begin(&mut self, board: &Scoreboard) {
        self.state = State::Recovery;
        self.recovery_point = board.max();
        self.probe.give_up();
    }

    /// Updates `window` during a recovery, with the bytes that the current ACK delivered.
    fn reduce(&mut self, board: &Scoreboard, ssthresh: u64) {
        if self.delivered > 0 {
            let flight = board.pipe();
            let may_send =
                self.reduction.segments(self.delivered, flight, ssthresh, self.mss, self.is_safe);
            self.window = flight + may_send;
        }
    }

    /// Returns the FlightSize from which a reduction is computed: the outstanding bytes, at most
    /// `bound`. With `stack = "linux"` returns `bound`, even if the window is not fully used.
    fn flight_at_loss(&mut self, board: &Scoreboard, bound: u64) -> u64 {
        let is_of_cwnd = self.deviations.has(Deviation::ReducesCwndByTime);
        self.lost_flight = if is_of_cwnd { bound } else { board.flight().min(bound) };
        self.lost_flight
    }

    /// Returns true if a segment may be sent now, with a congestion window of `cwnd`.
    fn may_send(&self, board: &Scoreboard, cwnd: u64) -> bool {
        let (flight, window) = match self.state {
            State::Open if self.is_in_cwr() && self.proportional => (board.pipe(), self.window),
            State::Open if !self.limited_transmit => (board.pipe() + board.sacked(), cwnd),
            State::Open => (board.pipe(), cwnd),
            State::Recovery if self.proportional => (board.pipe(), self.window),
            State::Recovery | State::Loss => (board.pipe(), cwnd),
        };
        flight == 0 || flight + self.mss <= window
    }

    /// Returns the oldest lost segment that has not been retransmitted.
    pub(super) fn next_lost(&mut self, board: &Scoreboard) -> Option<u64> {
        if board.lost() == 0 {
            return None;
        }
        self.search.next_lost(board, self.mss).map(|index| board.start(index))
    }

    /// Returns the next expiry of the reordering timer or the probe timer.
    pub(super) fn wakes_at(&self) -> Time {
        self.reorder_at.min(self.probe.at())
    }

    /// Sets the probe timer after an event at `now`.
    pub(crate) fn set_timer(
        &mut self,
        board: &Scoreboard,
        srtt: Option<Duration>,
        rto_at: Time,
        now: Time,
    ) {
        self.srtt = srtt;
        let is_quiet = self.state == State::Open && board.sacked() == 0 && board.lost() == 0;
        self.probe.set(board, is_quiet, srtt, rto_at, now);
    }

    /// Handles the expiry of a timer of the recovery.
    pub(crate) fn on_timer(&mut self, board: &mut Scoreboard, now: Time) -> Expired {
        if self.reorder_at <= now {
            let found = self.detect(now, board);
            if !found.lost || self.state == State::Recovery {
                return Expired::Nothing;
            }
            (self.delivered, self.is_safe) = (self.mss, false);
            self.begin(board);
            return Expired::Begins;
        }
        match self.probe.expires(now) {
            true => Expired::Probe,
            false => Expired::Nothing,
        }
    }

    /// Called after the transmission of a tail loss probe. `is_again` is true if the probe was a
    /// retransmission of the last segment, false if it was a new segment.
    pub(crate) fn on_probe(&mut self, board: &Scoreboard, is_again: bool) {
        self.probe.on_sent(board.max(), is_again);
    }
}

impl LossRecovery for Rack {
    fn on_overtaken(&mut self, ack: &Packet, _now: Time, _board: &mut Scoreboard) -> bool {
        !ack.sack().is_empty()
    }

    #[inline]
    fn allows_fast_path(&mut self, _ack: &Packet) -> bool {
        false
    }

    /// Returns false, because the recovery must be notified of every ACK and every segment.
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
        self.undo.note_echo(ack);
        let (before, sacked) = (board.una(), board.sacked());
        let mut has_arrived = self.absorb(ack, now, board);
        let mut rtt = None;
        if ack.seq > before {
            let (arrived, sample) = self.acknowledge(ack.seq, now, board);
            has_arrived |= arrived;
            rtt = sample;
        }
        let una = board.una();
        let acked = una - before;
        self.delivered = acked + board.sacked() - sacked;
        let mut verdict = Verdict::Usual;
        if self.probe.on_ack(una, acked > 0, self.delivered) {
            verdict = Verdict::Repaired;
        }
        self.cwr.until.take_if(|until| una > *until);
        let was_recovering = self.state == State::Recovery;
        let undoes = verdict != Verdict::Repaired && self.undoes(ack, before, board);
        if self.state != State::Open && una >= self.recovery_point {
            verdict = if was_recovering { Verdict::Recovered } else { verdict };
            self.steps.on_recovered();
            self.state = State::Open;
        }
        let scans = has_arrived || undoes;
        let found = if scans { self.detect(now, board) } else { LossScan::default() };
        self.is_safe = acked > 0 && !found.lost;
        let begins = match self.state {
            State::Open => board.lost() > 0,
            State::Recovery => false,
            State::Loss => found.lost_again,
        };
        if begins {
            self.begin(board);
            verdict = Verdict::Begins;
        } else if self.state == State::Recovery || self.is_in_cwr() {
            self.reduce(board, cc.ssthresh());
        }
        let may_grow = !was_recovering || self.deviations.has(Deviation::GrowsAtRecoveryExit);
        let is_reducing = self.state == State::Recovery || self.is_in_cwr();
        let grows = !is_reducing && may_grow && verdict != Verdict::Repaired;
        let growth = if grows { acked } else { 0 };
        self.note_open(board);
        let outcome = AckOutcome { verdict, growth, delivered: self.delivered, rtt };
        Rack::undone(outcome, undoes)
    }

    fn loss_base(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        if self.was_reduced_for_echo(board) {
            return self.lost_flight;
        }
        self.flight_at_loss(board, cwnd)
    }

    /// Begins the reduction of the window. If a reduction for an echo in the same window of data is
    /// in progress, it continues (Linux `tcp_enter_recovery`).
    fn on_reduced(&mut self, board: &Scoreboard, ssthresh: u64) {
        if !self.leave_cwr(board) {
            self.reduction = Reduction::new(self.lost_flight);
        }
        self.reduce(board, ssthresh);
    }

    fn after_loss(&mut self, _board: &Scoreboard, _ssthresh: u64) -> Verdict {
        Verdict::Usual
    }

    fn exit_window(&self, _board: &Scoreboard) -> u64 {
        u64::MAX
    }

    /// Handles a timeout: marks all data lost that has not arrived (RFC 6298 §5.4 to §5.6), also
    /// data of the last round trip (RFC 8985 §6.3 excludes it). During a recovery, the reduction is
    /// computed from at most the FlightSize at the beginning of the recovery.
    fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (u64, u64) {
        let is_first = self.state == State::Open && !self.leave_cwr(board);
        let bound = if is_first { cwnd } else { self.lost_flight };
        let flight = self.flight_at_loss(board, bound);
        if board.marks(0).has(Marks::SACKED) {
            board.forget_sacked();
            self.search.forget_blocks();
        }
        for index in 0..board.len() {
            if !board.marks(index).has(Marks::SACKED) {
                self.lose(index, board);
            }
        }
        self.state = State::Loss;
        self.recovery_point = board.max();
        self.reorder_at = Time::NEVER;
        self.probe.give_up();
        (flight, cwnd)
    }

    #[inline(never)]
    fn on_sent(&mut self, sent: Sent, start: u64, end: u64, board: &Scoreboard, _: &AnyCongestion) {
        if self.state == State::Recovery || self.is_in_cwr() {
            self.reduction.on_sent(end - start);
        }
        if sent == Sent::New {
            self.probe.on_progress();
        } else {
            let now = board.left_at(board.ended_by_about(end, self.mss) - 1);
            self.undo.on_retransmission(now);
            self.search.add(now, end);
        }
    }

    #[inline]
    fn allowance(&mut self, _board: &Scoreboard, _cwnd: u64) -> Allowance {
        Allowance::ByFlight
    }

    /// Returns the oldest lost segment that was not retransmitted; if there is none, new data.
    fn next(&mut self, board: &Scoreboard, offer: &SendLimits) -> Option<Next> {
        if !self.may_send(board, offer.cwnd) {
            return None;
        }
        if self.awaits_frto(board, offer.new_end.is_some()) {
            return offer.new_end.map(Next::New);
        }
        match self.next_lost(board) {
            Some(start) => Some(Next::Again(start)),
            None => offer.new_end.map(Next::New),
        }
    }

    fn forced(&self, board: &Scoreboard, _offer: &SendLimits) -> Next {
        Next::Again(board.una())
    }

    fn reach(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        let is_limited = !self.may_send(board, cwnd);
        if is_limited || board.una() >= self.usage_end {
            (self.is_limited, self.usage_end) = (is_limited, board.max());
        }
        if is_limited { 0 } else { u64::MAX }
    }

    /// Returns true if the last window of data was fully used (Linux `tcp_is_cwnd_limited`).
    #[inline]
    fn is_cwnd_limited(&self, _used: u64, _cwnd: u64) -> bool {
        self.is_limited
    }

    fn is_recovering(&self) -> bool {
        self.state == State::Recovery
    }

    fn inflated(&self, cwnd: u64) -> u64 {
        cwnd
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        board.pipe()
    }

    #[inline]
    fn sacked(&self, board: &Scoreboard) -> u64 {
        board.sacked()
    }
}
