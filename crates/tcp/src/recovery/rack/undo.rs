//! Detection of spurious retransmissions: F-RTO, Eifel and D-SACK. Selected by `frto`, `undo` and
//! `dsack`.
//!
//! Source: RFC 5682 §3.1 (F-RTO), RFC 3522 and RFC 4015 (Eifel), RFC 2883 and RFC 3708 (D-SACK).
//! Where the RFCs leave a choice, this module follows Linux `tcp_process_loss`,
//! `tcp_try_undo_loss`, `tcp_try_undo_partial`, `tcp_try_undo_dsack`, `tcp_check_dsack`. An episode
//! of reductions is spurious in these cases:
//!
//! - After a timeout, data that was sent before the timeout and never retransmitted has arrived.
//!   Before, at most the oldest segment was retransmitted (F-RTO).
//! - An ACK echoes a timestamp from before the first retransmission (Eifel).
//! - The receiver has reported every retransmission as a duplicate (D-SACK).
//!
//! Differences from Linux: a recovery that began in the state CWR is never undone, and a new
//! timeout after progress does not reduce ssthresh again.

use super::{AckOutcome, Marks, Rack, Scoreboard, State, Verdict};
use crate::config::TcpConfig;
use crate::congestion::{AnyCongestion, CongestionControl, UndoEvent};
use crate::receiver::timestamp;
use airpath_core::{Flags, Packet, SackBlock, Time};

/// Number of retransmissions that are not yet reported as duplicates, before the first one.
const NONE_SENT: i64 = -1;

/// State of the detection.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    uses_frto: bool,
    uses_timestamps: bool,
    uses_duplicates: bool,
    /// True if the receiver reports duplicates.
    pub(super) has_dsack: bool,
    /// `undo_marker`: SND.UNA at the beginning of the episode; `None` if no reduction can be undone.
    marker: Option<u64>,
    /// `undo_retrans`: number of retransmissions of the episode that were not reported as
    /// duplicates; [`NONE_SENT`] before the first one.
    unreported: i64,
    /// `retrans_stamp`: time of the first retransmission of the episode.
    first_retransmission: Option<Time>,
    /// `prior_cwnd` and `prior_ssthresh`, bytes.
    prior: (u64, u64),
    /// SND.UNA at the last timeout.
    una_at_timeout: u64,
    /// TSecr of the current ACK; 0 without timestamps.
    echo: u32,
    /// `frto`: true if the last timeout may still turn out to be spurious.
    in_frto: bool,
    /// Step 2b of F-RTO: only new data may be sent until the next ACK.
    pub(super) sends_new: bool,
    /// True if the current ACK reports the arrival of data that was sent before the timeout and was
    /// never retransmitted (`FLAG_ORIG_SACK_ACKED`).
    pub(super) has_original: bool,
    /// True if the current ACK newly reports selectively acknowledged data (`FLAG_DATA_SACKED`).
    pub(super) has_sacked: bool,
    /// `total_retrans` and `dsack_dups`: numbers of retransmissions and of reported duplicates.
    retransmissions: u64,
    duplicates: u64,
}

impl Undo {
    pub(super) fn new(options: &TcpConfig) -> Undo {
        Undo {
            uses_frto: options.frto,
            uses_timestamps: options.undo && options.timestamps,
            uses_duplicates: options.undo && options.dsack,
            has_dsack: options.dsack,
            marker: None,
            unreported: NONE_SENT,
            first_retransmission: None,
            prior: (0, 0),
            una_at_timeout: 0,
            echo: 0,
            in_frto: false,
            sends_new: false,
            has_original: false,
            has_sacked: false,
            retransmissions: 0,
            duplicates: 0,
        }
    }

    /// `tcp_init_undo`: begins an episode with `resent` retransmissions in flight.
    fn begin(&mut self, una: u64, resent: u64, cc: &AnyCongestion) {
        let (cwnd, ssthresh) = (cc.cwnd(), cc.ssthresh());
        self.marker = Some(una);
        self.unreported = if resent > 0 { resent as i64 } else { NONE_SENT };
        self.prior = (cwnd, ssthresh.max(cwnd / 2 + cwnd / 4));
    }

    /// Ends the episode. Its reductions are not undone.
    pub(super) fn clear(&mut self) {
        self.marker = None;
    }

    /// Handles a retransmission that leaves at `now`.
    pub(super) fn on_retransmission(&mut self, now: Time) {
        self.retransmissions += 1;
        self.unreported = self.unreported.max(0) + 1;
        self.first_retransmission.get_or_insert(now);
    }

    /// Saves the timestamp that `ack` echoes.
    pub(super) fn note_echo(&mut self, ack: &Packet) {
        self.echo = if self.uses_timestamps { ack.tsecr } else { 0 };
    }

    /// Returns true if the current ACK echoes a timestamp from before `sent`.
    pub(super) fn echoes_before(&self, sent: Time) -> bool {
        self.echo != 0 && self.echo.wrapping_sub(timestamp(sent)) > u32::MAX / 2
    }

    /// `tcp_packet_delayed`: returns true if the current ACK echoes a timestamp from before the
    /// first retransmission.
    fn is_delayed(&self) -> bool {
        self.first_retransmission.is_some_and(|sent| self.echoes_before(sent))
    }

    /// Returns true if the receiver has reported all retransmissions of the episode as duplicates.
    fn is_duplicated(&self) -> bool {
        self.uses_duplicates && self.marker.is_some() && self.unreported == 0
    }
}

/// Returns the stream offsets of a SACK block. The block of a duplicate may be below `next`, the
/// acknowledgement number.
pub(super) fn range_of(block: &SackBlock, next: u64, may_be_below: bool) -> (u64, u64) {
    let start = match may_be_below {
        true => next.saturating_add_signed(i64::from(block.offset as i32)),
        false => next + u64::from(block.offset),
    };
    (start, start + u64::from(block.length))
}

impl Rack {
    /// Saves the window before a timeout. If a fast recovery or an earlier timeout without progress
    /// precedes, the episode continues.
    pub(in crate::recovery) fn save_before_timeout(
        &mut self,
        board: &Scoreboard,
        cc: &AnyCongestion,
    ) {
        let una = board.una();
        let is_repeated = self.state == State::Loss && una == self.undo.una_at_timeout;
        let has_progress = self.state == State::Loss && !is_repeated;
        if self.is_in_cwr() {
            self.undo.clear();
        } else if self.state == State::Open || has_progress || una >= self.recovery_point {
            self.undo.begin(una, 0, cc);
        }
        let may_be_spurious = self.state == State::Open || is_repeated;
        self.undo.in_frto = self.undo.uses_frto && may_be_spurious;
        (self.undo.una_at_timeout, self.undo.sends_new) = (una, false);
    }

    /// Saves the window before the reduction of a fast recovery.
    pub(in crate::recovery) fn save_before_recovery(
        &mut self,
        board: &Scoreboard,
        cc: &AnyCongestion,
    ) {
        (self.undo.in_frto, self.undo.sends_new) = (false, false);
        if self.was_reduced_for_echo(board) {
            self.undo.clear();
        } else {
            self.undo.begin(board.una(), board.resent() / self.mss, cc);
        }
    }

    /// Returns the window to restore after [`Verdict::Undone`].
    pub(in crate::recovery) fn undo_event(&self, now: Time) -> UndoEvent {
        let (cwnd, ssthresh) = self.undo.prior;
        UndoEvent { now, cwnd, ssthresh }
    }

    /// Handles the first block of `ack`, if it reports a duplicate (RFC 2883 §4). Returns true if
    /// the block has no other meaning. The reordering window grows for duplicates (RFC 8985 §6.2
    /// step 4), except for those of tail loss probes.
    pub(super) fn on_duplicate_block(&mut self, ack: &Packet, board: &Scoreboard) -> bool {
        let Some(first) = ack.sack().first().filter(|_| self.undo.has_dsack) else { return false };
        let (start, end) = range_of(first, ack.seq, true);
        let is_below = start < ack.seq;
        let is_within = ack.sack().get(1).is_some_and(|second| {
            let (from, to) = range_of(second, ack.seq, false);
            from <= start && end <= to
        });
        if !(is_below || is_within) || start >= end || end > board.max() {
            return is_below;
        }
        let segments = (end - start).div_ceil(self.mss);
        self.undo.duplicates += segments;
        if self.undo.duplicates > self.undo.retransmissions {
            return is_below; // `tcp_dsack_seen`: the network has duplicated a segment.
        }
        if self.reordering_seen && !self.probe.ends_at(end) {
            self.steps.on_duplicate(board.una(), board.max());
        }
        if self.undo.marker.is_some_and(|marker| end > marker) && self.undo.unreported > 0 {
            self.undo.unreported = (self.undo.unreported - segments as i64).max(0);
        }
        is_below
    }

    /// Checks whether `ack`, which acknowledges data from `before` on, reveals that the reductions
    /// of the episode were spurious. If so, ends the recovery. The caller detects losses
    /// afterwards.
    pub(super) fn undoes(&mut self, ack: &Packet, before: u64, board: &mut Scoreboard) -> bool {
        let (advanced, ended) = (board.una() > before, board.una() >= self.recovery_point);
        self.undo.sends_new = false;
        let has_original = std::mem::take(&mut self.undo.has_original);
        let has_sacked = std::mem::take(&mut self.undo.has_sacked);
        let is_delayed = self.undo.marker.is_some() && self.undo.is_delayed();
        let is_duplicated = self.undo.is_duplicated();
        let undoes = match self.state {
            State::Loss => {
                let is_spurious = self.undo.in_frto && has_original && self.undo.marker.is_some();
                is_spurious || advanced && (is_delayed || is_duplicated)
            }
            State::Recovery if ended => is_delayed || is_duplicated,
            State::Recovery => is_duplicated || advanced && is_delayed && self.undoes_partly(board),
            State::Open => is_duplicated,
        };
        if undoes {
            let is_partial = self.state == State::Recovery && !ended && advanced && is_delayed;
            self.end_episode(board, self.state == State::Loss || is_partial);
        } else if self.state == State::Loss && !ended && self.undo.in_frto {
            let is_update = ack.flags.contains(Flags::WINDOW_UPDATE);
            self.continue_frto(advanced, has_sacked || !advanced && !is_update, board);
        }
        undoes
    }

    /// `tcp_try_undo_partial`: a partial ACK was triggered by original data, so the network has
    /// reordered segments. The recovery ends when no retransmission is in flight.
    fn undoes_partly(&mut self, board: &Scoreboard) -> bool {
        self.reordering_seen = true;
        board.resent() == 0
    }

    /// `tcp_undo_cwnd_reduction`: returns to normal operation. `unmarks`: no segment is deemed lost
    /// any longer.
    fn end_episode(&mut self, board: &mut Scoreboard, unmarks: bool) {
        if unmarks {
            for index in 0..board.len() {
                board.unmark(index, Marks::LOST);
            }
            self.search.restart(board);
        }
        board.forget_timeout();
        self.state = State::Open;
        self.undo.clear();
        (self.undo.in_frto, self.undo.sends_new) = (false, false);
    }

    /// Steps 2b and 3a of F-RTO (RFC 5682 §3.1). The first ACK after the timeout that advances
    /// SND.UNA releases new data instead of retransmissions. If a later ACK is a duplicate or
    /// reports further data beyond a hole, the loss was real.
    fn continue_frto(&mut self, advanced: bool, reports_hole: bool, board: &Scoreboard) {
        if board.max() > self.recovery_point {
            self.undo.in_frto = !reports_hole;
        } else {
            self.undo.sends_new = advanced;
        }
    }

    /// Returns true if F-RTO forbids the retransmission of lost segments until the next ACK. If no
    /// new data can be sent, F-RTO ends.
    pub(super) fn awaits_frto(&mut self, board: &Scoreboard, can_send_new: bool) -> bool {
        if !self.undo.sends_new || can_send_new || board.max() > self.recovery_point {
            return self.undo.sends_new;
        }
        (self.undo.in_frto, self.undo.sends_new) = (false, false);
        false
    }

    /// Forgets the time of the first retransmission after all retransmissions were acknowledged.
    pub(super) fn note_open(&mut self, board: &Scoreboard) {
        let is_outstanding = board.len() > 0 && board.is_ambiguous(0);
        if self.state == State::Open && board.resent() == 0 && !is_outstanding {
            self.undo.first_retransmission = None;
        }
    }

    /// Returns `outcome`, or for an undone episode the verdict [`Verdict::Undone`].
    pub(super) fn undone(outcome: AckOutcome, undoes: bool) -> AckOutcome {
        match outcome.verdict {
            _ if !undoes => outcome,
            verdict => AckOutcome {
                verdict: Verdict::Undone { begins: verdict == Verdict::Begins },
                ..outcome
            },
        }
    }
}
