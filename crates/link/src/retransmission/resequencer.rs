//! Release in order: a late entry blocks those that were sent after it.
//!
//! Entries are numbered as they are sent. Each is settled once, in any order: received, or lost. In
//! order, it is released when all before it are; else as it is settled.

use std::collections::VecDeque;

/// Entries between being sent and being released.
#[derive(Clone, Debug)]
pub struct Resequencer<T> {
    in_order: bool,
    /// From number `first` on; released ones in between are gone.
    entries: VecDeque<Option<Entry<T>>>,
    first: u64,
    held: usize,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    value: T,
    /// Whether it was received; `None` before it is settled.
    fate: Option<bool>,
}

impl<T> Resequencer<T> {
    /// Releases `in_order`, or at once.
    pub fn new(in_order: bool) -> Resequencer<T> {
        Resequencer { in_order, entries: VecDeque::new(), first: 0, held: 0 }
    }

    /// Takes the next entry; returns its number.
    #[inline]
    pub fn push(&mut self, value: T) -> u64 {
        self.entries.push_back(Some(Entry { value, fate: None }));
        self.held += 1;
        self.first + self.entries.len() as u64 - 1
    }

    /// Takes the entry that was pushed last back; it has not been settled.
    #[inline]
    pub fn take_back(&mut self) {
        if let Some(Some(_)) = self.entries.pop_back() {
            self.held -= 1;
        }
    }

    /// Entry number `number`, unless it was released.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.entry_mut(number).map(|entry| &mut entry.value)
    }

    /// Entry number `number` is settled: received, or lost. `release` receives the entries that it
    /// releases, with their outcome.
    #[inline]
    pub fn settle(&mut self, number: u64, is_received: bool, mut release: impl FnMut(T, bool)) {
        self.mark(number, is_received);
        while let Some((number, _, is_received)) = self.released_by(number) {
            if let Some(value) = self.take(number) {
                release(value, is_received);
            }
        }
    }

    /// Entry number `number` is settled, and stays inside: [`Resequencer::released_by`] says which
    /// are to be taken.
    #[inline]
    pub fn mark(&mut self, number: u64, is_received: bool) {
        if let Some(entry) = self.entry_mut(number) {
            entry.fate = Some(is_received);
        }
    }

    /// The same, with what `judge` makes of the entry; it stays open when that is `None`. Gives
    /// whether it is settled now.
    #[inline]
    pub fn mark_with(&mut self, number: u64, judge: impl FnOnce(&mut T) -> Option<bool>) -> bool {
        let Some(entry) = self.entry_mut(number) else { return false };
        let fate = judge(&mut entry.value);
        if fate.is_some() {
            entry.fate = fate;
        }
        fate.is_some()
    }

    /// The next entry that is released as number `settled` is, with its number and its outcome. The
    /// caller takes it before it queries the next one.
    #[inline]
    pub fn released_by(&mut self, settled: u64) -> Option<(u64, &mut T, bool)> {
        let number = if self.in_order { self.first } else { settled };
        let Entry { value, fate } = self.entry_mut(number)?;
        Some((number, value, (*fate)?))
    }

    /// Takes entry number `number` out, unless that was done.
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

    /// Entries inside.
    #[inline]
    pub fn len(&self) -> usize {
        self.held
    }

    /// Whether nothing is inside.
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
    fn without_order_each_is_released_as_it_is_settled() {
        let expected = [('b', true), ('d', false), ('a', true), ('c', true), ('e', true)];
        assert_eq!(released(false), expected);
    }
}
