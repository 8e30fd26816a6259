//! [`Resequencer`]: releases entries in the order in which they were sent. A late entry blocks all
//! later entries.
//!
//! Entries are numbered in order of transmission. Each entry is settled once: its outcome is set to
//! received or lost. Entries may be settled in any order. With release in order, an entry is
//! released when it and all entries before it are settled. Without it, an entry is released when it
//! is settled.

use std::collections::VecDeque;

/// Entries that have been sent but not released.
#[derive(Clone, Debug)]
pub struct Resequencer<T> {
    in_order: bool,
    /// Entries, starting with number `first`; `None` for a released entry.
    entries: VecDeque<Option<Entry<T>>>,
    first: u64,
    held: usize,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    value: T,
    /// True if the entry was received, false if lost; `None` before it is settled.
    fate: Option<bool>,
}

impl<T> Resequencer<T> {
    /// Creates a resequencer. If `in_order` is true, entries are released in order; otherwise as
    /// soon as they are settled.
    pub fn new(in_order: bool) -> Resequencer<T> {
        Resequencer { in_order, entries: VecDeque::new(), first: 0, held: 0 }
    }

    /// Appends an entry. Returns its number.
    #[inline]
    pub fn push(&mut self, value: T) -> u64 {
        self.entries.push_back(Some(Entry { value, fate: None }));
        self.held += 1;
        self.first + self.entries.len() as u64 - 1
    }

    /// Removes the last appended entry, which has not been settled.
    #[inline]
    pub fn take_back(&mut self) {
        if let Some(Some(_)) = self.entries.pop_back() {
            self.held -= 1;
        }
    }

    /// Returns entry number `number`, unless it has been released.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.entry_mut(number).map(|entry| &mut entry.value)
    }

    /// Settles entry number `number` as received or lost. Calls `release` with each entry that is
    /// then released, and its outcome.
    #[inline]
    pub fn settle(&mut self, number: u64, is_received: bool, mut release: impl FnMut(T, bool)) {
        self.mark(number, is_received);
        while let Some((number, _, is_received)) = self.released_by(number) {
            if let Some(value) = self.take(number) {
                release(value, is_received);
            }
        }
    }

    /// Settles entry number `number` without removing it. [`Resequencer::released_by`] then returns
    /// the entries that the caller must remove.
    #[inline]
    pub fn mark(&mut self, number: u64, is_received: bool) {
        if let Some(entry) = self.entry_mut(number) {
            entry.fate = Some(is_received);
        }
    }

    /// Calls `judge` with the entry and settles the entry with the result. If the result is `None`,
    /// the entry is not settled. Returns true if the entry is now settled.
    #[inline]
    pub fn mark_with(&mut self, number: u64, judge: impl FnOnce(&mut T) -> Option<bool>) -> bool {
        let Some(entry) = self.entry_mut(number) else { return false };
        let fate = judge(&mut entry.value);
        if fate.is_some() {
            entry.fate = fate;
        }
        fate.is_some()
    }

    /// Returns the next entry that can be released after entry number `settled` was settled: its
    /// number, the entry and its outcome. The caller must remove the entry before the next call.
    #[inline]
    pub fn released_by(&mut self, settled: u64) -> Option<(u64, &mut T, bool)> {
        let number = if self.in_order { self.first } else { settled };
        let Entry { value, fate } = self.entry_mut(number)?;
        Some((number, value, (*fate)?))
    }

    /// Removes and returns entry number `number`, unless it has been removed.
    #[inline]
    pub fn take(&mut self, number: u64) -> Option<T> {
        let place = number.checked_sub(self.first)? as usize;
        let taken = self.entries.get_mut(place)?.take()?.value;
        self.held -= 1;
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.first += 1;
        }
        Some(taken)
    }

    #[inline]
    fn entry_mut(&mut self, number: u64) -> Option<&mut Entry<T>> {
        let place = number.checked_sub(self.first)? as usize;
        self.entries.get_mut(place)?.as_mut()
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.held
    }

    /// Returns true if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn released(in_order: bool) -> Vec<(char, bool)> {
        let mut out = Vec::new();
        let mut sequence = Resequencer::new(in_order);
        let numbers: Vec<u64> = "abcde".chars().map(|each| sequence.push(each)).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        for (number, is_received) in [(1, true), (3, false), (0, true), (2, true), (4, true)] {
            sequence.settle(number, is_received, |value, fate| out.push((value, fate)));
        }
        assert!(sequence.is_empty());
        assert_eq!((sequence.push('f'), sequence.get_mut(4)), (5, None));
        out
    }

    #[test]
    fn late_entry_blocks_later_ones_in_order() {
        let expected = [('a', true), ('b', true), ('c', true), ('d', false), ('e', true)];
        assert_eq!(released(true), expected);
    }

    #[test]
    fn entries_without_order_are_released_when_settled() {
        let expected = [('b', true), ('d', false), ('a', true), ('c', true), ('e', true)];
        assert_eq!(released(false), expected);
    }
}
