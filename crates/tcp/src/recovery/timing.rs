//! RTT measurement with one segment at a time.
//!
//! Source: ns-2, `tcp.cc`. When a new segment is sent and no measurement is in progress, this
//! segment is timed. Any retransmission cancels the measurement.

use super::Scoreboard;
use airpath_core::{Duration, Time};

/// State of the RTT measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timing {
    /// End of the timed segment; `None` if no segment is timed.
    end: Option<u64>,
}

impl Timing {
    /// Handles a sent segment that ends at `end`.
    pub(super) fn on_sent(&mut self, end: u64, is_new: bool) {
        match is_new {
            true => self.end = self.end.or(Some(end)),
            false => self.give_up(),
        }
    }

    /// Cancels the measurement.
    pub(super) fn give_up(&mut self) {
        self.end = None;
    }

    /// Returns an RTT sample if the acknowledgement number `ack` covers the timed segment. The
    /// segment must still be on the board.
    pub(super) fn sample(&mut self, ack: u64, board: &Scoreboard, now: Time) -> Option<Duration> {
        let end = self.end.take_if(|end| *end <= ack)?;
        board.sent_at(end - 1).map(|sent_at| now.saturating_since(sent_at))
    }
}
