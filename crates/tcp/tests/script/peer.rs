//! Peer of a sender script.

use super::{FLOW, HEADER, block};
use airpath_core::Packet;
use std::ops::Range;

/// Receiving peer as described in RFC 2018 §4, which acknowledges every segment immediately.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    /// Next expected byte: everything before it has arrived.
    pub(crate) next: u64,
    /// Ranges beyond holes, the most recently touched range first.
    islands: Vec<Range<u64>>,
}

impl Peer {
    /// Receives the bytes from `start` up to, but not including, `end`.
    pub(crate) fn take(&mut self, start: u64, end: u64) {
        let mut whole = start.max(self.next)..end.max(self.next);
        let (joined, apart) = std::mem::take(&mut self.islands)
            .into_iter()
            .partition::<Vec<_>, _>(|r| r.start <= whole.end && whole.start <= r.end);
        for range in joined {
            whole = whole.start.min(range.start)..whole.end.max(range.end);
        }
        self.islands = apart;
        if whole.start == self.next {
            self.next = whole.end;
        } else {
            self.islands.insert(0, whole);
        }
    }

    /// Discards the data beyond holes (RFC 2018 §8).
    pub(crate) fn renege(&mut self) {
        self.islands.clear();
    }

    /// Returns the current ACK.
    pub(crate) fn ack(&self, window: u32) -> Packet {
        let mut ack = Packet::ack(FLOW, self.next, window, HEADER);
        self.islands.iter().take(3).for_each(|range| ack.push_sack(block(self.next, range)));
        ack
    }
}
