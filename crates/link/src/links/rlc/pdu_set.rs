//! [`PduSet`]: set of PDU numbers in a moving window.

use std::ops::Range;

/// Set of numbers in a moving window, stored as bits of a ring. Two numbers whose difference is a
/// multiple of the capacity share a bit. Therefore the caller must remove the numbers that leave
/// the window.
#[derive(Clone, Debug)]
pub(super) struct PduSet {
    words: Box<[u64]>,
    /// Number of nonzero words; 0 if the set is empty.
    used: u32,
}

impl PduSet {
    /// Creates an empty set for windows of up to `window` numbers.
    pub(super) fn new(window: u64) -> PduSet {
        let capacity = window.next_power_of_two().max(64) as usize;
        PduSet { words: vec![0; capacity / 64].into(), used: 0 }
    }

    /// Returns true if the set is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    fn word_of(&self, number: u64) -> usize {
        (number / 64) as usize & (self.words.len() - 1)
    }

    /// Returns true if `number` is in the set.
    #[inline]
    pub(super) fn contains(&self, number: u64) -> bool {
        self.words[self.word_of(number)] >> (number % 64) & 1 == 1
    }

    /// Adds the numbers of `range`.
    #[inline]
    pub(super) fn insert(&mut self, range: Range<u64>) {
        self.change(range, |word, mask| word | mask);
    }

    /// Removes the numbers of `range`.
    #[inline]
    pub(super) fn remove(&mut self, range: Range<u64>) {
        if !self.is_empty() {
            self.change(range, |word, mask| word & !mask);
        }
    }

    #[inline]
    fn change(&mut self, range: Range<u64>, operation: impl Fn(u64, u64) -> u64) {
        for (number, mask) in words_of(range) {
            let word = self.word_of(number);
            let changed = operation(self.words[word], mask);
            self.used += u32::from(changed != 0);
            self.used -= u32::from(self.words[word] != 0);
            self.words[word] = changed;
        }
    }

    /// Returns the lowest number of `range` in the set.
    #[inline]
    pub(super) fn first_in(&self, range: Range<u64>) -> Option<u64> {
        if self.is_empty() { None } else { self.first(range, 0) }
    }

    /// Removes and returns the lowest number of `range` in the set.
    #[inline]
    pub(super) fn take_first_in(&mut self, range: Range<u64>) -> Option<u64> {
        let number = self.first_in(range)?;
        let word = self.word_of(number);
        self.words[word] &= !(1 << (number % 64));
        self.used -= u32::from(self.words[word] == 0);
        Some(number)
    }

    /// Returns the lowest number of `range` that is not in the set.
    #[inline]
    pub(super) fn first_missing(&self, range: Range<u64>) -> Option<u64> {
        self.first(range, u64::MAX)
    }

    /// Returns the lowest number of `range` whose bit differs from the bit in `flip`.
    #[inline]
    fn first(&self, range: Range<u64>, flip: u64) -> Option<u64> {
        words_of(range).find_map(|(number, mask)| {
            let found = (self.words[self.word_of(number)] ^ flip) & mask;
            (found != 0).then(|| number / 64 * 64 + u64::from(found.trailing_zeros()))
        })
    }
}

/// Returns, for each 64-bit word that `range` covers, a number in the word and the mask of the bits
/// in the range.
#[inline]
fn words_of(range: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
    let Range { start, end } = range;
    let words = if start < end { start / 64..(end - 1) / 64 + 1 } else { 0..0 };
    words.map(move |word| {
        let (low, high) = (start.max(word * 64), end.min(word * 64 + 64));
        (low, (u64::MAX >> (64 - (high - low))) << (low % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn set_equals_sorted_set(
            window in 1u64..300,
            base in 0u64..10_000,
            moves in prop::collection::vec((any::<[bool; 2]>(), 0u64..300, 0u64..300), 0..40),
        ) {
            let (mut set, mut plain) = (PduSet::new(window), BTreeSet::new());
            for ([puts, takes], a, b) in moves {
                let range = base + a.min(b) % window..base + a.max(b) % (window + 1);
                if puts {
                    set.insert(range.clone());
                    plain.extend(range.clone());
                } else {
                    set.remove(range.clone());
                    plain.retain(|number| !range.contains(number));
                }
                prop_assert_eq!(set.is_empty(), plain.is_empty());
                let within = range.clone();
                prop_assert_eq!(
                    set.first_in(within.clone()),
                    within.clone().find(|number| plain.contains(number))
                );
                prop_assert_eq!(
                    set.first_missing(within.clone()),
                    within.clone().find(|number| !plain.contains(number))
                );
                for number in within.clone() {
                    prop_assert_eq!(set.contains(number), plain.contains(&number));
                }
                if takes {
                    let taken = set.take_first_in(within.clone());
                    prop_assert_eq!(taken, within.clone().find(|number| plain.contains(number)));
                    taken.map(|number| plain.remove(&number));
                    prop_assert_eq!(set.is_empty(), plain.is_empty());
                    prop_assert!(within.clone().all(|n| set.contains(n) == plain.contains(&n)));
                }
            }
        }
    }
}
