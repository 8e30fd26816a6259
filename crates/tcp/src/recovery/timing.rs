//! The RTT from one segment at a time.
//!
//! Source: ns-2, `tcp.cc`: a new segment is timed when none is, and a retransmission cancels the
//! current one, which is Karn's rule for all of the flight.

use super::Scoreboard;
use airpath_core::{Duration, Time};

/// The segment that is timed, if one is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timing {
    /// End of the timed segment.
    end: Option<u64>,
}

impl Timing {
    /// A segment that ends at `end` has left.
    pub(super) fn on_sent(&mut self, end: u64, is_new: bool) {
        match is_new {
            true => self.end = self.end.or(Some(end)),
            false => self.give_up(),
        }
    }

    /// Cancels the timed segment: it gives no sample.
    pub(super) fn give_up(&mut self) {
        self.end = None;
    }

    /// The RTT, if an ACK of everything before `ack` covers what is timed, which is still on the board.
    pub(super) fn sample(&mut self, ack: u64, board: &Scoreboard, now: Time) -> Option<Duration> {
        let end = self.end.take_if(|end| *end <= ack)?;
        board.sent_at(end - 1).map(|sent_at| now.saturating_since(sent_at))
    }
}
