//! The segments in flight and what is known of each, as ns-3's `TcpTxBuffer` keeps them.
//!
//! Differs from RFC 6675 §4: a segment once marked lost stays so until it is acknowledged in either
//! way, and what was sent again is taken out of `pipe` only by the cumulative acknowledgement.

use airpath_core::SackBlock;
use std::collections::VecDeque;

/// Selectively acknowledged segments beyond a hole that make it lost.
const DUP_THRESH: u32 = 3;

/// The next segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The segment that begins here, again.
    Resend(u64),
    /// New data, at most so many bytes.
    New(u64),
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    end: u64,
    sacked: bool,
    lost: bool,
    resent: bool,
}

impl Segment {
    const fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// What was sent and is not cumulatively acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    mss: u64,
    una: u64,
    /// Offset behind the last segment.
    end: u64,
    segments: VecDeque<Segment>,
    /// Bytes with each mark.
    sacked: u64,
    lost: u64,
    resent: u64,
    /// Where the highest selectively acknowledged segment begins.
    highest_sacked: Option<u64>,
}

impl Scoreboard {
    pub(super) fn new(mss: u64) -> Scoreboard {
        Scoreboard {
            mss,
            una: 0,
            end: 0,
            segments: VecDeque::new(),
            sacked: 0,
            lost: 0,
            resent: 0,
            highest_sacked: None,
        }
    }

    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// `BytesInFlight`.
    pub(super) fn pipe(&self) -> u64 {
        self.end - self.una - self.sacked - self.lost + self.resent
    }

    pub(super) fn sacked_bytes(&self) -> u64 {
        self.sacked
    }

    /// Notes new data up to `end`; gives its bytes.
    pub(super) fn push(&mut self, end: u64) -> u64 {
        let start = std::mem::replace(&mut self.end, end);
        self.segments.push_back(Segment { start, end, sacked: false, lost: false, resent: false });
        end - start
    }

    /// Notes that the segment from `start` is sent again; gives its bytes.
    pub(super) fn mark_resent(&mut self, start: u64) -> u64 {
        let index = self.segments.partition_point(|segment| segment.end <= start);
        let Some(segment) = self.segments.get_mut(index) else { return 0 };
        if !segment.resent {
            segment.resent = true;
            self.resent += segment.len();
        }
        segment.len()
    }

    /// `Update`: marks what the blocks cover whole; gives how many bytes that were.
    pub(super) fn update(&mut self, ack: u64, blocks: &[SackBlock], snd_max: u64) -> u64 {
        let before = self.sacked;
        for block in blocks {
            let start = ack + u64::from(block.offset);
            let end = start + u64::from(block.length);
            if start <= ack.max(self.una) || end > snd_max {
                continue;
            }
            let first = self.segments.partition_point(|segment| segment.start < start);
            let last = self.segments.partition_point(|segment| segment.end <= end);
            for index in first..last {
                self.mark_sacked(index);
            }
        }
        if self.sacked > before {
            self.mark_lost();
        }
        self.sacked - before
    }

    fn mark_sacked(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        if segment.sacked {
            return;
        }
        segment.sacked = true;
        self.sacked += segment.len();
        if std::mem::take(&mut segment.lost) {
            self.lost -= segment.len();
        }
        if self.highest_sacked.is_none_or(|highest| highest <= segment.end) {
            self.highest_sacked = Some(segment.start);
        }
    }

    /// `UpdateLostCount`: a segment is lost when three beyond it arrived.
    fn mark_lost(&mut self) {
        let Some(highest) = self.highest_sacked else { return };
        let last = self.segments.partition_point(|segment| segment.start <= highest);
        let mut arrived = 0;
        for segment in self.segments.range_mut(..last).rev() {
            if segment.sacked {
                arrived += 1;
            } else if arrived >= DUP_THRESH && !segment.lost {
                segment.lost = true;
                self.lost += segment.len();
            }
        }
    }

    /// Whether the segment that holds `at` is marked lost, below the highest acknowledged.
    pub(super) fn is_lost(&self, at: u64) -> bool {
        let index = self.segments.partition_point(|segment| segment.end <= at);
        self.highest_sacked.is_some_and(|highest| at < highest)
            && self.segments.get(index).is_some_and(|segment| segment.lost)
    }

    /// Three duplicate ACKs: the oldest is lost, and not on its way again.
    pub(super) fn mark_head_lost(&mut self) {
        let Some(head) = self.segments.front_mut() else { return };
        if std::mem::take(&mut head.resent) {
            self.resent -= head.len();
        }
        if !std::mem::replace(&mut head.lost, true) {
            self.lost += head.len();
        }
    }

    /// `SetSentListLost`: a timeout.
    pub(super) fn lose_all(&mut self) {
        for segment in &mut self.segments {
            segment.resent = false;
            segment.lost = !segment.sacked;
        }
        self.resent = 0;
        self.lost = self.end - self.una - self.sacked;
    }

    /// `DiscardUpTo`: gives how many bytes the cumulative `ack` delivered first.
    pub(super) fn acknowledge(&mut self, ack: u64) -> u64 {
        let mut delivered = 0;
        while let Some(&segment) = self.segments.front()
            && segment.start < ack
        {
            let bytes = segment.end.min(ack) - segment.start;
            self.sacked -= if segment.sacked { bytes } else { 0 };
            self.lost -= if segment.lost { bytes } else { 0 };
            self.resent -= if segment.resent { bytes } else { 0 };
            delivered += if segment.sacked { 0 } else { bytes };
            if segment.end > ack {
                self.segments[0].start = ack;
                break;
            }
            self.segments.pop_front();
        }
        self.una = self.una.max(ack);
        self.end = self.end.max(ack);
        self.highest_sacked = self.highest_sacked.filter(|highest| *highest > self.una);
        self.take_back_head();
        delivered
    }

    /// The oldest cannot have been acknowledged selectively: the receiver has reneged.
    fn take_back_head(&mut self) {
        if let Some(head) = self.segments.front_mut()
            && std::mem::take(&mut head.sacked)
        {
            self.sacked -= head.len();
            self.mark_head_lost();
        }
    }

    /// Whether a segment that ends a whole number of segments before `ack`, after `una`, was sent
    /// again and is not selectively acknowledged.
    pub(super) fn holds_resent(&self, una: u64, ack: u64) -> bool {
        (0..(ack - una) / self.mss).any(|i| self.is_resent_up_to(ack - i * self.mss))
    }

    /// `IsRetransmittedDataAcked`.
    pub(super) fn is_resent_up_to(&self, end: u64) -> bool {
        let index = self.segments.partition_point(|segment| segment.end < end);
        let segment = self.segments.get(index).filter(|segment| segment.end == end);
        segment.is_some_and(|segment| segment.resent && !segment.sacked)
    }

    /// `NextSeg`, when the receive window takes `unsent` bytes of new data; rule 3, in recovery,
    /// comes into play only where there are none.
    pub(super) fn next(&self, unsent: Option<u64>, in_recovery: bool) -> Option<Next> {
        let highest = self.highest_sacked.unwrap_or(u64::MAX);
        let mut holes = self
            .segments
            .iter()
            .take_while(|segment| segment.start < highest)
            .filter(|segment| !segment.resent && !segment.sacked);
        if self.lost > 0
            && let Some(lost) = holes.clone().find(|segment| segment.lost)
        {
            return Some(Next::Resend(lost.start));
        }
        match unsent {
            Some(0) => None,
            Some(bytes) => Some(Next::New(bytes.min(self.mss))),
            None => holes.next().filter(|_| in_recovery).map(|hole| Next::Resend(hole.start)),
        }
    }
}
