//! Bookkeeping of the segments in flight as in ns-3's `TcpTxBuffer`.
//!
//! Difference from RFC 6675 §4: a segment marked lost remains lost until it is acknowledged
//! cumulatively or selectively. Only the cumulative acknowledgement removes retransmissions from
//! `pipe`.

use super::super::scoreboard::{Marks, Scoreboard};
use super::super::{DUP_THRESH, Next};
use airpath_core::{Duration, Packet, Time};

/// Functions of `TcpTxBuffer`. They work on the scoreboard that all recoveries share.
#[derive(Clone, Copy, Debug)]
pub(super) struct TxBuffer {
    mss: u64,
    /// Start of the highest selectively acknowledged segment.
    highest_sacked: Option<u64>,
}

/// `BytesInFlight`: returns the estimated number of bytes in the network.
pub(super) fn pipe(board: &Scoreboard) -> u64 {
    board.flight() - board.sacked() - board.lost() + board.resent()
}

impl TxBuffer {
    pub(super) fn new(mss: u64) -> TxBuffer {
        TxBuffer { mss, highest_sacked: None }
    }

    /// `Update`: marks the segments that SACK blocks cover completely. Returns the number of newly
    /// marked bytes.
    pub(super) fn update(&mut self, ack: &Packet, now: Time, board: &mut Scoreboard) -> u64 {
        let before = board.sacked();
        for block in ack.sack() {
            let start = ack.seq + u64::from(block.offset);
            let end = start + u64::from(block.length);
            if start <= ack.seq.max(board.una()) || end > board.max() {
                continue;
            }
            for index in board.begun_before(start)..board.ended_by(end) {
                self.mark_sacked(index, now, board);
            }
        }
        if board.sacked() > before {
            self.mark_lost(board);
        }
        board.sacked() - before
    }

    fn mark_sacked(&mut self, index: usize, now: Time, board: &mut Scoreboard) {
        let is_new = board.sack_one(index, now) > 0;
        if is_new && self.highest_sacked.is_none_or(|highest| highest <= board.end(index)) {
            self.highest_sacked = Some(board.start(index));
        }
    }

    /// `UpdateLostCount`: marks each segment lost beyond which three segments have arrived.
    fn mark_lost(&mut self, board: &mut Scoreboard) {
        let Some(highest) = self.highest_sacked else { return };
        let mut arrived = 0;
        for index in (0..board.begun_before(highest + 1)).rev() {
            if board.marks(index).has(Marks::SACKED) {
                arrived += 1;
            } else if arrived >= DUP_THRESH {
                board.mark(index, Marks::LOST);
            }
        }
    }

    /// Returns true if the segment that contains `at` is marked lost and is below the highest
    /// selectively acknowledged segment.
    pub(super) fn is_lost(&self, at: u64, board: &Scoreboard) -> bool {
        let index = board.ended_by(at);
        self.highest_sacked.is_some_and(|highest| at < highest)
            && index < board.len()
            && board.marks(index).has(Marks::LOST)
    }

    /// `DiscardUpTo`: removes the cumulatively acknowledged segments. Returns the number of newly
    /// delivered bytes and an RTT sample.
    pub(super) fn acknowledge(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
    ) -> (u64, Option<Duration>) {
        let (una, sacked) = (board.una(), board.sacked());
        let rtt = board.acknowledge(ack.seq, now);
        let delivered = board.una() - una - (sacked - board.sacked());
        self.highest_sacked = self.highest_sacked.filter(|highest| *highest > board.una());
        // If the oldest segment is selectively acknowledged, the receiver has reneged.
        if board.len() > 0 && board.unmark(0, Marks::SACKED) {
            mark_head_lost(board);
        }
        (delivered, rtt)
    }

    /// Returns true if, among the segments between `una` and `ack` whose end is a multiple of MSS
    /// before `ack`, one was retransmitted and is not selectively acknowledged.
    pub(super) fn holds_resent(&self, ack: u64, board: &Scoreboard) -> bool {
        let segments = (ack - board.una()) / self.mss;
        (0..segments).any(|i| is_resent_up_to(ack - i * self.mss, board))
    }

    /// `NextSeg`: returns the next segment to send. `unsent` is the number of bytes of new data
    /// that fit into the receive window. Rule 3 applies only in recovery and only if there is no
    /// new data.
    pub(super) fn next(
        &self,
        unsent: Option<u64>,
        in_recovery: bool,
        board: &Scoreboard,
    ) -> Option<Next> {
        let highest = self.highest_sacked.unwrap_or(u64::MAX);
        let mut holes = (0..board.begun_before(highest)).filter(|index| {
            let marks = board.marks(*index);
            !marks.has(Marks::RESENT) && !marks.has(Marks::SACKED)
        });
        if board.lost() > 0
            && let Some(lost) = holes.clone().find(|index| board.marks(*index).has(Marks::LOST))
        {
            return Some(Next::Again(board.start(lost)));
        }
        match unsent {
            Some(0) => None,
            Some(bytes) => Some(Next::New(board.max() + bytes.min(self.mss))),
            None => holes.next().filter(|_| in_recovery).map(|hole| Next::Again(board.start(hole))),
        }
    }
}

/// Handles the third duplicate ACK: marks the oldest segment as lost and not yet retransmitted.
pub(super) fn mark_head_lost(board: &mut Scoreboard) {
    if board.len() > 0 {
        board.lose(0);
    }
}

/// `SetSentListLost`: handles a timeout.
pub(super) fn lose_all(board: &mut Scoreboard) {
    for index in 0..board.len() {
        if board.marks(index).has(Marks::SACKED) {
            board.unmark(index, Marks::RESENT);
        } else {
            board.lose(index);
        }
    }
}

/// `IsRetransmittedDataAcked`: returns true if the segment that ends at `end` was retransmitted.
pub(super) fn is_resent_up_to(end: u64, board: &Scoreboard) -> bool {
    let index = board.ended_by(end.saturating_sub(1));
    index < board.len() && board.end(index) == end && {
        let marks = board.marks(index);
        marks.has(Marks::RESENT) && !marks.has(Marks::SACKED)
    }
}
