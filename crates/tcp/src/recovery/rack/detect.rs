//! Arrival of segments and detection of losses by time.
//!
//! Source: RFC 8985 §6.2, Linux `tcp_rack_detect_loss`, `tcp_sacktag_write_queue`.

use super::search::Rule;
use super::undo::range_of;
use super::{DUP_THRESH, Marks, Rack, Scoreboard, State};
use airpath_core::{Duration, Packet, Time};

/// Delay of the reordering timer beyond its deadline (Linux `TCP_TIMEOUT_MIN_US`).
const TIMER_SLACK: Duration = Duration::from_millis(2);

/// Result of the search for lost segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossScan {
    /// True if a segment was newly deemed lost.
    pub(super) lost: bool,
    /// True if a retransmission is among the newly lost segments.
    pub(super) lost_again: bool,
    /// Longest time until a segment that was sent before an arrived one is deemed lost; 0 if there
    /// is no such segment.
    pub(super) wait: Duration,
}

/// Size of the reordering window in steps of min_RTT/4 (RFC 8985 §6.2 step 4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// RACK.reo_wnd_mult.
    count: u8,
    /// RACK.reo_wnd_persist: number of recoveries after which the window is reset.
    persists: u8,
    /// RACK.dsack_round: SND.MAX at the last growth. The window grows once per round trip.
    round_end: Option<u64>,
}

/// Number of recoveries for which a larger reordering window is kept (RFC 8985 §6.2 step 4).
const PERSISTENCE: u8 = 16;

impl Steps {
    pub(super) const fn new() -> Steps {
        Steps { count: 1, persists: 0, round_end: None }
    }

    /// Handles the report of a duplicate while the data from `una` to `max` is outstanding.
    pub(super) fn on_duplicate(&mut self, una: u64, max: u64) {
        if self.round_end.is_none_or(|end| una >= end) {
            *self = Steps {
                count: self.count.saturating_add(1),
                persists: PERSISTENCE,
                round_end: Some(max),
            };
        }
    }

    /// Handles the end of a recovery that was not spurious.
    pub(super) fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.count = 1;
        }
    }
}

impl Rack {
    /// Marks segments that SACK blocks cover completely. Ignores blocks outside the sent data.
    /// Returns true if a segment was newly marked.
    pub(super) fn absorb(&mut self, ack: &Packet, now: Time, board: &mut Scoreboard) -> bool {
        let (fack, mut has_arrived) = (self.fack, false);
        let skipped = usize::from(self.on_duplicate_block(ack, board));
        let known = self.search.blocks;
        for (place, block) in ack.sack().iter().enumerate().skip(skipped) {
            let (start, end) = range_of(block, ack.seq, false);
            if start <= ack.seq.max(board.una()) || start >= end || end > board.max() {
                continue;
            }
            self.search.blocks[place] = (start, end);
            if !known.contains(&(start, end)) {
                has_arrived |= self.absorb_block((start, end), &known, (fack, now), board);
            }
        }
        has_arrived
    }

    /// Marks the segments that the SACK block from `start` to `end` covers completely. The segments
    /// in the blocks `known` are already marked. Returns true if a segment was newly marked.
    fn absorb_block(
        &mut self,
        (start, end): (u64, u64),
        known: &[(u64, u64)],
        (fack, now): (u64, Time),
        board: &mut Scoreboard,
    ) -> bool {
        let (mut index, mut has_arrived) = (board.begun_before_about(start, self.mss), false);
        let stop = board.ended_by_about(end, self.mss);
        while index < stop {
            if board.marks(index).has(Marks::SACKED) {
                let at = board.start(index);
                let block = known.iter().find(|block| block.0 == at && block.1 <= end);
                let next = block.map_or(0, |block| board.ended_by_about(block.1, self.mss));
                index = next.max(index + 1);
                continue;
            }
            has_arrived |= self.on_arrived(index, fack, now, board);
            board.sack_one(index, now);
            self.undo.has_sacked = true;
            if board.marks(index).has(Marks::RESENT) {
                board.unmark(index, Marks::RESENT);
            }
            index += 1;
        }
        has_arrived
    }

    /// Marks and removes the segments that the cumulative acknowledgement `ack` covers.
    pub(super) fn acknowledge(
        &mut self,
        ack: u64,
        now: Time,
        board: &mut Scoreboard,
    ) -> (bool, Option<Duration>) {
        let (fack, mut has_arrived, mut index) = (self.fack, false, 0);
        while index < board.len() && board.end(index) <= ack {
            if !board.marks(index).has(Marks::SACKED) {
                has_arrived |= self.on_arrived(index, fack, now, board);
            }
            index += 1;
        }
        (has_arrived, board.acknowledge(ack, now))
    }

    /// Handles the arrival of the segment at `index` (RFC 8985 §6.2 steps 1 to 3). `fack` is the
    /// highest end of the segments that arrived before. Returns false if the echoed timestamp is
    /// older than the retransmission (RFC 8985 §6.2 step 2), if a retransmission seems to
    /// arrive in less than the minimum RTT, or if no RTT is known: then the original may have
    /// arrived.
    fn on_arrived(&mut self, index: usize, fack: u64, now: Time, board: &Scoreboard) -> bool {
        let (left_at, end) = (board.left_at(index), board.end(index));
        let rtt = now.saturating_since(left_at);
        if board.is_ambiguous(index) {
            let least = self.min_rtt.or(self.srtt);
            if least.is_none_or(|least| rtt < least) || self.undo.echoes_before(left_at) {
                return false;
            }
        } else {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.reordering_seen |= end < fack;
            self.undo.has_original |= end <= self.recovery_point;
        }
        self.fack = self.fack.max(end);
        self.rtt = rtt;
        self.newest = self.newest.max(Some((left_at, end)));
        true
    }

    /// Returns the reordering window (RFC 8985 §6.2 step 4): a multiple of min_RTT/4, at most SRTT;
    /// 0 if no reordering was detected and a recovery is in progress or three segments beyond a hole
    /// have arrived.
    fn reordering_window(&self, board: &Scoreboard) -> Duration {
        let is_enough = board.sacked() > u64::from(DUP_THRESH - 1) * self.mss;
        if !self.reordering_seen && (self.state != State::Open || is_enough) {
            return Duration::ZERO;
        }
        let quarter = Duration::from_nanos(self.min_rtt.map_or(0, |least| least.as_nanos() / 4));
        let window = quarter.saturating_mul(u64::from(self.steps.count));
        self.srtt.map_or(quarter, |srtt| window.min(srtt.max(quarter)))
    }

    /// Marks lost segments and sets the reordering timer (RFC 8985 §6.2 step 5).
    pub(super) fn detect(&mut self, now: Time, board: &mut Scoreboard) -> LossScan {
        self.reorder_at = Time::NEVER;
        let Some(newest) = self.newest else { return LossScan::default() };
        let patience = self.rtt + self.reordering_window(board);
        let found = self.search(Rule { newest, patience, now }, board);
        if found.wait > Duration::ZERO {
            self.reorder_at = now + found.wait + TIMER_SLACK;
        }
        found
    }

    pub(super) fn lose(&mut self, index: usize, board: &mut Scoreboard) {
        board.lose(index);
        self.search.note_lost(board.end(index));
    }
}
