//! Puts out-of-order data back in order.

/// What the receiver has of the stream.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// Ranges beyond `next`, ascending, apart from each other.
    islands: Vec<Range>,
}

/// Bytes `start` … `end` − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: u64,
    end: u64,
}

/// What an arriving segment was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// The next bytes expected, nothing beyond them was waiting.
    InOrder,
    /// The next bytes expected, and there is or was a hole beyond them.
    FilledHole,
    /// Bytes beyond a hole.
    OutOfOrder,
    /// Nothing new.
    Duplicate,
}

impl Reassembly {
    /// The next byte expected: everything before it has arrived.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Takes the bytes `start` … `end` − 1.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> Arrived {
        if start == self.next && self.islands.is_empty() {
            self.next = end;
            return Arrived::InOrder;
        }
        self.insert_with_holes(start, end)
    }

    fn insert_with_holes(&mut self, start: u64, end: u64) -> Arrived {
        let start = start.max(self.next);
        if start >= end || self.islands.iter().any(|r| r.start <= start && end <= r.end) {
            return Arrived::Duplicate;
        }
        let had_islands = !self.islands.is_empty();
        self.merge(Range { start, end });
        match self.islands.first() {
            Some(first) if first.start == self.next => {
                self.next = first.end;
                self.islands.remove(0);
                if had_islands { Arrived::FilledHole } else { Arrived::InOrder }
            }
            _ => Arrived::OutOfOrder,
        }
    }

    /// Adds a range, united with those that it touches.
    fn merge(&mut self, new: Range) {
        let from = self.islands.partition_point(|r| r.end < new.start);
        let to = self.islands.partition_point(|r| r.start <= new.end);
        let united = self.islands[from..to]
            .iter()
            .fold(new, |all, r| Range { start: all.start.min(r.start), end: all.end.max(r.end) });
        self.islands.splice(from..to, [united]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hole_is_filled_from_both_sides() {
        let mut stream = Reassembly::default();
        assert_eq!(stream.insert(0, 10), Arrived::InOrder);
        assert_eq!(stream.insert(30, 40), Arrived::OutOfOrder);
        assert_eq!(stream.insert(30, 40), Arrived::Duplicate);
        assert_eq!(stream.insert(10, 20), Arrived::FilledHole);
        assert_eq!(stream.next(), 20);
        assert_eq!(stream.insert(20, 30), Arrived::FilledHole);
        assert_eq!(stream.next(), 40);
        assert_eq!(stream.insert(5, 40), Arrived::Duplicate);
        assert_eq!(stream.insert(35, 50), Arrived::InOrder);
    }

    proptest! {
        #[test]
        fn agrees_with_a_bitmap(pieces in prop::collection::vec((0u64..60, 1u64..12), 1..60)) {
            let mut stream = Reassembly::default();
            let mut bitmap = [false; 80];
            for (start, length) in pieces {
                let new = (start..start + length).any(|i| !bitmap[i as usize]);
                let arrived = stream.insert(start, start + length);
                bitmap[start as usize..(start + length) as usize].fill(true);
                let next = bitmap.iter().position(|b| !b).unwrap() as u64;
                prop_assert_eq!(stream.next(), next);
                prop_assert_eq!(arrived == Arrived::Duplicate, !new);
                prop_assert!(stream.islands.windows(2).all(|w| w[0].end < w[1].start));
                prop_assert!(stream.islands.iter().all(|r| r.start > next && r.start < r.end));
            }
        }
    }
}
