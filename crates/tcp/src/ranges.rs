//! Set of byte ranges. The receiver stores the data beyond a hole in a set, and the sender the data
//! reported by SACK.

/// Half-open byte range [`start`, `end`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Range {
    pub(crate) const fn len(self) -> u64 {
        self.end - self.start
    }
}

/// Set of ranges, stored in ascending order. The ranges neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    ranges: Vec<Range>,
    bytes: u64,
}

impl RangeSet {
    /// Returns the ranges in ascending order.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Range] {
        &self.ranges
    }

    /// Extends the last range to `end` if the range ends at `at`. Returns true if it was extended.
    #[inline]
    pub(crate) fn extend_last(&mut self, at: u64, end: u64) -> bool {
        match self.ranges.last_mut() {
            Some(last) if last.end == at => {
                self.bytes += end - at;
                last.end = end;
                true
            }
            _ => false,
        }
    }

    /// Returns true if the set is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the number of bytes in all ranges.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a range and merges it with the ranges that it touches. Returns the number of new bytes.
    pub(crate) fn insert(&mut self, new: Range) -> u64 {
        match self.ranges.last_mut() {
            Some(last) if new.start < last.start => self.insert_among(new),
            // Fast path: the new range touches only the last range.
            Some(last) if new.start <= last.end => {
                let grown = new.end.saturating_sub(last.end);
                last.end += grown;
                self.bytes += grown;
                grown
            }
            _ => {
                self.ranges.push(new);
                self.bytes += new.len();
                new.len()
            }
        }
    }

    fn insert_among(&mut self, new: Range) -> u64 {
        let from = self.ranges.partition_point(|r| r.end < new.start);
        if let Some(holder) = self.ranges.get(from)
            && holder.start <= new.start
            && new.end <= holder.end
        {
            return 0;
        }
        let to = from + self.ranges[from..].partition_point(|r| r.start <= new.end);
        let touched = &self.ranges[from..to];
        let known: u64 = touched.iter().map(|r| r.len()).sum();
        let united = touched
            .iter()
            .fold(new, |all, r| Range { start: all.start.min(r.start), end: all.end.max(r.end) });
        self.ranges.splice(from..to, [united]);
        self.bytes += united.len() - known;
        united.len() - known
    }

    /// Removes everything before `edge`. Returns the number of removed bytes.
    pub(crate) fn remove_before(&mut self, edge: u64) -> u64 {
        let whole = self.ranges.partition_point(|r| r.end <= edge);
        let mut removed: u64 = self.ranges.drain(..whole).map(Range::len).sum();
        if let Some(first) = self.ranges.first_mut()
            && first.start < edge
        {
            removed += edge - first.start;
            first.start = edge;
        }
        self.bytes -= removed;
        removed
    }

    /// Removes all ranges.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.bytes = 0;
    }

    /// Returns the range that contains the byte `at`.
    pub(crate) fn holding(&self, at: u64) -> Option<Range> {
        let index = self.ranges.partition_point(|r| r.end <= at);
        self.ranges.get(index).copied().filter(|r| r.start <= at)
    }

    /// Returns the number of bytes in the set from `edge` on.
    pub(crate) fn bytes_from(&self, edge: u64) -> u64 {
        let behind = self.ranges.iter().rev().take_while(|r| edge < r.end);
        behind.map(|r| r.end - r.start.max(edge)).sum()
    }

    /// Returns the number of bytes in the set before `edge`.
    pub(crate) fn bytes_before(&self, edge: u64) -> u64 {
        self.ranges.iter().take_while(|r| r.start < edge).map(|r| r.end.min(edge) - r.start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn range_set_agrees_with_bitmap(
            pieces in prop::collection::vec((0u64..60, 1u64..12), 1..60),
            edge in 0u64..80,
        ) {
            let mut set = RangeSet::default();
            let mut bitmap = [false; 80];
            for (start, length) in pieces {
                let span = start as usize..(start + length) as usize;
                let new = span.clone().filter(|i| !bitmap[*i]).count() as u64;
                prop_assert_eq!(set.insert(Range { start, end: start + length }), new);
                bitmap[span].fill(true);
                prop_assert_eq!(set.bytes(), bitmap.iter().filter(|b| **b).count() as u64);
                prop_assert!(set.as_slice().windows(2).all(|w| w[0].end < w[1].start));
                prop_assert_eq!(set.holding(edge).is_some(), edge < 80 && bitmap[edge as usize]);
            }
            let before = bitmap[..edge as usize].iter().filter(|b| **b).count() as u64;
            prop_assert_eq!(set.bytes_before(edge), before);
            prop_assert_eq!(set.bytes_from(edge), set.bytes() - before);
            let all = set.bytes();
            prop_assert_eq!(set.remove_before(edge), before);
            prop_assert_eq!(set.bytes(), all - before);
        }
    }
}
