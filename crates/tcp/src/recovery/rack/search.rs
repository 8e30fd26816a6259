//! Search for lost segments (RFC 8985 §6.2 step 5) without a scan of all segments in flight.
//!
//! A segment is visited in the order of the stream when a segment beyond it has arrived. If it is
//! then in flight, it is added to a queue in the order of send times, to which retransmissions are
//! also added (Linux `tsorted_sent_queue`). The search for lost segments takes segments from the
//! front of this queue, because those behind were sent later. The search within a SACK block skips
//! the blocks of the previous ACK (Linux `recv_sack_cache`).

use super::detect::LossScan;
use super::{Marks, Rack, Scoreboard};
use airpath_core::{Duration, Time};
use std::collections::VecDeque;

/// State of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Each segment before this offset has arrived, is deemed lost, or is in `in_flight`.
    visited_until: u64,
    /// Send time and end of segments, in ascending order. Entries remain if the segment arrives or
    /// is retransmitted; then they are stale.
    in_flight: VecDeque<(Time, u64)>,
    /// Indices of the lost segments that the current search has found.
    found: Vec<usize>,
    /// Ends of the segments that were deemed lost, in ascending order. Entries remain if the segment
    /// arrives or is retransmitted.
    lost: VecDeque<u64>,
    /// SACK blocks of the last ACK with blocks. The segments in them are marked.
    pub(super) blocks: [(u64, u64); 3],
}

/// Rule by which a segment is deemed lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Send time and end of the most recently sent segment that has arrived.
    pub(super) newest: (Time, u64),
    /// RTT plus reordering window.
    pub(super) patience: Duration,
    pub(super) now: Time,
}

impl Rule {
    /// Returns the time until a segment that was sent at `left_at`, before the newest one, is deemed
    /// lost; 0 if it is lost.
    fn wait(&self, left_at: Time) -> Duration {
        (left_at + self.patience).saturating_since(self.now)
    }
}

/// Returns the index of the segment that ends at `end`; `None` if it is acknowledged.
fn index_of(end: u64, board: &Scoreboard, mss: u64) -> Option<usize> {
    if end <= board.una() { None } else { board.ended_by_about(end, mss).checked_sub(1) }
}

impl Search {
    /// Adds the segment that ends at `end` and was sent at `left_at`.
    pub(super) fn add(&mut self, left_at: Time, end: u64) {
        let entry = (left_at, end);
        if self.in_flight.back().is_none_or(|last| *last < entry) {
            self.in_flight.push_back(entry);
        } else {
            let place = self.in_flight.partition_point(|other| *other < entry);
            self.in_flight.insert(place, entry);
        }
    }

    /// Visits the segments up to the first one that was not sent before the `newest`.
    fn visit(&mut self, newest: (Time, u64), board: &Scoreboard, mss: u64) {
        let first = if self.visited_until <= board.una() {
            0
        } else {
            board.ended_by_about(self.visited_until, mss)
        };
        for index in first..board.len() {
            let (left_at, end) = (board.left_at(index), board.end(index));
            if (left_at, end) >= newest && !board.is_ambiguous(index) {
                break; // All further segments were sent later than this segment.
            }
            let marks = board.marks(index);
            if marks.is_in_flight() && !marks.has(Marks::RESENT) {
                self.add(left_at, end);
            }
            self.visited_until = end;
        }
    }

    /// Returns the index of the segment of an entry, unless the entry is stale.
    fn current(&self, place: usize, board: &Scoreboard, mss: u64) -> Option<usize> {
        let (left_at, end) = self.in_flight[place];
        let index = index_of(end, board, mss)?;
        (board.marks(index).is_in_flight() && board.left_at(index) == left_at).then_some(index)
    }

    /// Removes the lost segments from the queue and adds their indices to `found`. Returns the
    /// longest time until another segment that was sent before the newest one is deemed lost; 0 if
    /// there is none.
    fn take_lost(&mut self, rule: Rule, board: &Scoreboard, mss: u64) -> Duration {
        while let Some(entry) = self.in_flight.front()
            && *entry < rule.newest
        {
            if let Some(index) = self.current(0, board, mss) {
                if rule.wait(entry.0) > Duration::ZERO {
                    return self.longest_wait(rule, board, mss);
                }
                self.found.push(index);
            }
            self.in_flight.pop_front();
        }
        Duration::ZERO
    }

    fn longest_wait(&self, rule: Rule, board: &Scoreboard, mss: u64) -> Duration {
        let before = self.in_flight.partition_point(|entry| *entry < rule.newest);
        let last = (0..before).rev().find(|place| self.current(*place, board, mss).is_some());
        last.map_or(Duration::ZERO, |place| rule.wait(self.in_flight[place].0))
    }

    /// Records that the segment that ends at `end` is deemed lost.
    pub(super) fn note_lost(&mut self, end: u64) {
        if self.lost.back().is_none_or(|last| *last < end) {
            return self.lost.push_back(end);
        }
        if let Err(place) = self.lost.binary_search(&end) {
            self.lost.insert(place, end);
        }
    }

    /// Returns the index of the oldest segment that is deemed lost and was not retransmitted.
    pub(super) fn next_lost(&mut self, board: &Scoreboard, mss: u64) -> Option<usize> {
        while let Some(end) = self.lost.front() {
            let index = index_of(*end, board, mss).filter(|index| {
                let marks = board.marks(*index);
                marks.has(Marks::LOST) && !marks.has(Marks::RESENT)
            });
            if index.is_some() {
                return index;
            }
            self.lost.pop_front();
        }
        None
    }

    /// Begins again at the oldest segment, because no segment is deemed lost any longer.
    pub(super) fn restart(&mut self, board: &Scoreboard) {
        self.visited_until = 0;
        self.lost.clear();
        self.in_flight.clear();
        for index in 0..board.len() {
            let marks = board.marks(index);
            if marks.is_in_flight() && marks.has(Marks::RESENT) {
                self.add(board.left_at(index), board.end(index));
            }
        }
    }

    /// Forgets the blocks of the last ACK, because the scoreboard has forgotten them.
    pub(super) fn forget_blocks(&mut self) {
        self.blocks = Default::default();
    }
}

impl Rack {
    /// Marks the lost segments, in the order of the stream.
    pub(super) fn search(&mut self, rule: Rule, board: &mut Scoreboard) -> LossScan {
        self.search.visit(rule.newest, board, self.mss);
        let wait = self.search.take_lost(rule, board, self.mss);
        let mut found = LossScan { wait, ..LossScan::default() };
        if !self.search.found.is_empty() {
            let mut indices = std::mem::take(&mut self.search.found);
            indices.sort_unstable();
            for index in indices.drain(..) {
                found.lost = true;
                found.lost_again |= board.marks(index).has(Marks::RESENT);
                self.lose(index, board);
            }
            self.search.found = indices;
        }
        found
    }
}

#[cfg(test)]
mod tests;
