//! Reassembly of out-of-order data.

use crate::ranges::{Range, RangeSet};
use airpath_core::SackBlock;

/// Number of recent arrivals that determine the order of SACK blocks.
const REMEMBERED: usize = 3;

/// Received data of a byte stream.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// True if data has arrived beyond `next`.
    has_islands: bool,
    /// True if data has arrived beyond `next` or a duplicate is recorded.
    has_blocks: bool,
    /// True if duplicates are recorded for D-SACK.
    records_duplicates: bool,
    /// True if a duplicate is recorded that was not yet reported.
    has_duplicate: bool,
    /// Out-of-order data. Allocated when the first out-of-order segment arrives.
    beyond: Option<Box<Beyond>>,
}

/// Received data beyond the first hole.
#[derive(Clone, Debug, Default)]
struct Beyond {
    /// Received ranges beyond the next expected byte ("islands").
    islands: RangeSet,
    /// Offset of one byte in each of the most recently touched islands, latest island first. Unused
    /// entries are copies of other entries or stale.
    latest: [u64; REMEMBERED],
    /// Islands in the order of SACK blocks. Only the first `reports` entries are valid.
    reported: [Range; REMEMBERED],
    reports: usize,
    /// Last duplicate, for the next ACK (RFC 2883 §4).
    duplicate: Range,
}

/// Position of an arriving segment in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentOrder {
    /// The segment starts at the next expected byte, and no out-of-order data is stored.
    InOrder,
    /// The segment starts at the next expected byte, and out-of-order data is stored.
    FilledHole,
    /// The segment lies beyond a hole.
    OutOfOrder,
    /// The segment contains no new bytes.
    Duplicate,
}

impl Reassembly {
    /// Returns the stream offset of the next expected byte. All bytes before it have arrived.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Records duplicates for [`take_duplicate`](Self::take_duplicate).
    #[must_use]
    pub fn with_duplicates(self, records_duplicates: bool) -> Reassembly {
        Reassembly { records_duplicates, ..self }
    }

    /// Returns true if the next ACK contains SACK blocks: data has arrived beyond a hole, or a
    /// duplicate was recorded.
    #[inline]
    pub fn has_blocks(&self) -> bool {
        self.has_blocks
    }

    /// Returns the part of the last segment that had arrived before, as the first SACK block of the
    /// next ACK (D-SACK, RFC 2883 §4). The block may lie below the next expected byte; its offset is
    /// then negative, modulo 2³². If the rest of the segment overlaps data beyond a hole, only the
    /// part below the next expected byte is returned. Returns `None` if the segment was not a
    /// duplicate, or was already reported.
    #[inline]
    pub fn take_duplicate(&mut self) -> Option<SackBlock> {
        if self.has_duplicate { self.take_recorded_duplicate() } else { None }
    }

    #[cold]
    fn take_recorded_duplicate(&mut self) -> Option<SackBlock> {
        self.has_duplicate = false;
        self.has_blocks = self.has_islands;
        let duplicate = self.beyond.as_ref()?.duplicate;
        Some(SackBlock {
            offset: duplicate.start.wrapping_sub(self.next) as u32,
            length: u32::try_from(duplicate.len()).unwrap_or(u32::MAX),
        })
    }

    /// Records the part of the segment from `start` to `end` that had arrived before. `next` was the
    /// next expected byte.
    #[cold]
    fn record_duplicate(&mut self, (start, end): (u64, u64), next: u64, arrived: SegmentOrder) {
        let end = if arrived == SegmentOrder::Duplicate { end } else { end.min(next) };
        if start < end {
            self.beyond.get_or_insert_default().duplicate = Range { start, end };
            (self.has_duplicate, self.has_blocks) = (true, true);
        }
    }

    /// Returns true if `start` is the next expected byte and no out-of-order data is stored.
    #[inline]
    pub(crate) fn expects(&self, start: u64) -> bool {
        start == self.next && !self.has_islands
    }

    /// Adds the bytes up to `end` of an [expected](Self::expects) segment.
    #[inline]
    pub(crate) fn extend(&mut self, end: u64) {
        self.next = end;
    }

    /// Adds the bytes from `start` up to, but not including, `end`.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> SegmentOrder {
        if self.expects(start) {
            self.extend(end);
            return SegmentOrder::InOrder;
        }
        self.insert_with_holes(start, end)
    }

    fn insert_with_holes(&mut self, start: u64, end: u64) -> SegmentOrder {
        let next = self.next;
        let arrived = self.insert_beyond(start.max(next), end);
        if self.records_duplicates {
            self.record_duplicate((start, end), next, arrived);
        }
        arrived
    }

    fn insert_beyond(&mut self, start: u64, end: u64) -> SegmentOrder {
        if start >= end {
            return SegmentOrder::Duplicate;
        }
        let beyond = self.beyond.get_or_insert_default();
        let arrived = beyond.insert(start, end, &mut self.next);
        self.has_islands = !beyond.islands.is_empty();
        self.has_blocks = self.has_islands || self.has_duplicate;
        arrived
    }

    /// Returns the SACK blocks for the next ACK.
    #[inline]
    pub fn sack_blocks(&self) -> impl Iterator<Item = SackBlock> {
        let next = self.next;
        let beyond = self.beyond.as_deref();
        let reported = beyond.map_or(&[][..], |beyond| &beyond.reported[..beyond.reports]);
        reported.iter().map(move |island| SackBlock {
            offset: u32::try_from(island.start - next).unwrap_or(u32::MAX),
            length: u32::try_from(island.len()).unwrap_or(u32::MAX),
        })
    }
}

impl Beyond {
    /// Adds the bytes from `start` up to, but not including, `end`. The bytes may be duplicates.
    /// `next` is the next expected byte; it is updated.
    fn insert(&mut self, start: u64, end: u64, next: &mut u64) -> SegmentOrder {
        let had_islands = !self.islands.is_empty();
        if had_islands && start == self.reported[0].end && self.islands.extend_last(start, end) {
            // Fast path: the segment extends the island that was touched last, which is also the
            // last island.
            self.reported[0].end = end;
            return SegmentOrder::OutOfOrder;
        }
        let arrived = self.insert_among_islands(start, end, next);
        self.order_reports();
        arrived
    }

    fn insert_among_islands(&mut self, start: u64, end: u64, next: &mut u64) -> SegmentOrder {
        let had_islands = !self.islands.is_empty();
        if self.islands.insert(Range { start, end }) == 0 {
            self.remember(start);
            return SegmentOrder::Duplicate;
        }
        match self.islands.as_slice().first() {
            Some(first) if first.start == *next => {
                *next = first.end;
                self.islands.remove_before(*next);
                if had_islands { SegmentOrder::FilledHole } else { SegmentOrder::InOrder }
            }
            _ => {
                self.remember(start);
                SegmentOrder::OutOfOrder
            }
        }
    }

    /// Records the island that contains the byte `at` as the last touched island.
    fn remember(&mut self, at: u64) {
        let touched = self.islands.holding(at);
        let mut latest = [at; REMEMBERED];
        let others = self.latest.into_iter().filter(|other| {
            let island = self.islands.holding(*other);
            island.is_some() && island != touched
        });
        latest[1..].iter_mut().zip(others).for_each(|(place, other)| *place = other);
        self.latest = latest;
    }

    /// Orders the SACK blocks as RFC 2018 §4 requires: first the island of the latest segment, then
    /// the most recently reported islands, then other islands as far as space permits.
    fn order_reports(&mut self) {
        self.reports = 0;
        let known = self.latest.iter().filter_map(|at| self.islands.holding(*at));
        let others = self.islands.as_slice().iter().rev().copied();
        for island in known.chain(others) {
            if self.reports == REMEMBERED {
                break;
            }
            if !self.reported[..self.reports].contains(&island) {
                self.reported[self.reports] = island;
                self.reports += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hole_is_filled_from_both_sides() {
        let mut stream = Reassembly::default();
        assert_eq!(stream.insert(0, 10), SegmentOrder::InOrder);
        assert_eq!(stream.insert(30, 40), SegmentOrder::OutOfOrder);
        assert_eq!(stream.insert(30, 40), SegmentOrder::Duplicate);
        assert_eq!(stream.insert(10, 20), SegmentOrder::FilledHole);
        assert_eq!(stream.next(), 20);
        assert_eq!(stream.insert(20, 30), SegmentOrder::FilledHole);
        assert_eq!(stream.next(), 40);
        assert_eq!(stream.insert(5, 40), SegmentOrder::Duplicate);
        assert_eq!(stream.insert(35, 50), SegmentOrder::InOrder);
    }

    #[test]
    fn rfc2018_4_block_of_the_latest_arrival_comes_first() {
        let mut stream = Reassembly::default();
        for start in [20, 40, 60, 30] {
            stream.insert(start, start + 10);
        }
        let blocks: Vec<_> = stream.sack_blocks().map(|b| (b.offset, b.length)).collect();
        assert_eq!(blocks, [(20, 30), (60, 10)]);
        stream.insert(0, 10);
        let blocks: Vec<_> = stream.sack_blocks().map(|b| (b.offset, b.length)).collect();
        assert_eq!(blocks, [(10, 30), (50, 10)]);
    }

    /// RFC 2883 §4: the duplicate part of a segment, below the next expected byte or within data
    /// beyond a hole.
    #[test]
    fn rfc2883_4_duplicate_part_of_a_segment_is_reported_once() {
        let mut stream = Reassembly::default().with_duplicates(true);
        let mut report = |start, end| {
            stream.insert(start, end);
            let block = stream.take_duplicate();
            assert_eq!(stream.take_duplicate(), None);
            block.map(|block| (block.offset as i32, block.length))
        };
        assert_eq!(report(0, 10), None);
        assert_eq!(report(2, 8), Some((-8, 6)));
        assert_eq!(report(5, 20), Some((-15, 5)));
        assert_eq!(report(30, 40), None);
        assert_eq!(report(32, 36), Some((12, 4)));
        assert_eq!(report(15, 40), Some((-25, 5)));
        assert_eq!(report(40, 50), None);
    }

    proptest! {
        #[test]
        fn reassembly_agrees_with_bitmap(pieces in prop::collection::vec((0u64..60, 1u64..12), 1..60)) {
            let mut stream = Reassembly::default();
            let mut bitmap = [false; 80];
            for (start, length) in pieces {
                let new = (start..start + length).any(|i| !bitmap[i as usize]);
                let arrived = stream.insert(start, start + length);
                bitmap[start as usize..(start + length) as usize].fill(true);
                let next = bitmap.iter().position(|b| !b).unwrap() as u64;
                prop_assert_eq!(stream.next(), next);
                prop_assert_eq!(arrived == SegmentOrder::Duplicate, !new);
                prop_assert!(stream.beyond.iter().flat_map(|b| b.islands.as_slice()).all(|r| r.start > next));
            }
        }
    }
}
