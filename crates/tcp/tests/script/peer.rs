//! The far end of a sender's script.

use super::{FLOW, HEADER, block};
use airpath_core::Packet;
use std::ops::Range;

/// The far end as RFC 2018 §4 describes it, which acknowledges every segment at once.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    /// Everything before it has arrived.
    pub(crate) next: u64,
    /// What arrived beyond a hole, the range that was touched last first.
    islands: Vec<Range<u64>>,
}

impl Peer {
    /// The bytes `start` … `end` − 1 arrive.
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

    /// It drops what it holds beyond a hole (RFC 2018 §8).
    pub(crate) fn renege(&mut self) {
        self.islands.clear();
    }

    /// The ACK that it sends now.
    pub(crate) fn ack(&self, window: u32) -> Packet {
        let mut ack = Packet::ack(FLOW, self.next, window, HEADER);
        self.islands.iter().take(3).for_each(|range| ack.push_sack(block(self.next, range)));
        ack
    }
}
