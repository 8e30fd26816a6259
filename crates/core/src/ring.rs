//! First-in-first-out ring buffer for delay lines, queues and scoreboards. Every packet passes
//! through such buffers, so operations must be fast.
//!
//! The capacity is a power of two and entries are plain values, so that each operation is one copy
//! and one mask. The ring allocates no memory before the first entry and grows by doubling.

use std::ops::{Index, IndexMut};

/// Ring buffer of plain values, at most 2³¹ entries.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Storage, whose length is zero or a power of two. Unused slots contain stale entries.
    places: Box<[T]>,
    /// Number of removed entries, modulo 2³². This number modulo the capacity is the slot of the
    /// oldest entry.
    taken: u32,
    /// Number of added entries, modulo 2³².
    put: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { places: Box::default(), taken: 0, put: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// Returns the number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.put.wrapping_sub(self.taken) as usize
    }

    /// Returns true if the ring has no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.put == self.taken
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & self.places.len().wrapping_sub(1)
    }

    /// Returns the slot of the entry at `index`, counted from the oldest entry.
    #[inline]
    fn place_of(&self, index: usize) -> usize {
        assert!(index < self.len(), "entry {index} of {}", self.len());
        self.place(self.taken.wrapping_add(index as u32))
    }

    /// Appends an entry.
    #[inline]
    pub fn push_back(&mut self, entry: T) {
        if self.len() == self.places.len() {
            self.grow(entry);
        }
        let place = self.place(self.put);
        self.places[place] = entry;
        self.put = self.put.wrapping_add(1);
    }

    /// Appends an entry and returns a reference to its slot, so that the caller can write the entry
    /// without another copy. Before the write, the slot contains a stale entry or the default
    /// value.
    #[inline]
    pub fn push_place(&mut self) -> &mut T
    where
        T: Default,
    {
        if self.len() == self.places.len() {
            self.grow(T::default());
        }
        let place = self.place(self.put);
        self.put = self.put.wrapping_add(1);
        &mut self.places[place]
    }

    /// Doubles the capacity and fills the new slots with copies of `filler`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let length = self.len();
        let mut places = Vec::with_capacity((2 * length).max(2));
        places.extend(self.iter().copied());
        places.resize((2 * length).max(2), filler);
        self.places = places.into_boxed_slice();
        (self.taken, self.put) = (0, length as u32);
    }

    /// Returns the oldest entry.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.taken)) }
    }

    /// Removes the oldest entry, if any.
    #[inline]
    pub fn drop_front(&mut self) {
        self.taken = self.taken.wrapping_add(u32::from(!self.is_empty()));
    }

    /// Removes and returns the oldest entry.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let oldest = *self.front()?;
        self.taken = self.taken.wrapping_add(1);
        Some(oldest)
    }

    /// Returns the entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len()).map(|index| &self[index])
    }

    /// Returns the number of leading entries that satisfy `is_before`. No entry after these may
    /// satisfy `is_before`.
    pub fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(&self[middle]) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Access by index, counted from the oldest entry.
impl<T: Copy> Index<usize> for Ring<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.places[self.place_of(index)]
    }
}

impl<T: Copy> IndexMut<usize> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let place = self.place_of(index);
        &mut self.places[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn empty_ring_allocates_no_memory() {
        assert_eq!(Ring::<u64>::default().places.len(), 0);
    }

    proptest! {
        #[test]
       fn ring_agrees_with_vec_deque(moves in prop::collection::vec(0u8..5, 0..400), edge in 0u32..400) {
            let (mut ring, mut plain) = (Ring::default(), VecDeque::new());
            for (number, step) in (0u32..).zip(moves) {
                if step < 3 {
                    if step == 0 {
                        *ring.push_place() = number;
                    } else {
                        ring.push_back(number);
                    }
                    plain.push_back(number);
                } else {
                    prop_assert_eq!(ring.pop_front(), plain.pop_front());
                }
                prop_assert_eq!(ring.len(), plain.len());
                prop_assert_eq!(ring.is_empty(), plain.is_empty());
                prop_assert_eq!(ring.front(), plain.front());
                if let Some(last) = plain.len().checked_sub(1) {
                    ring[last] += 1;
                    plain[last] += 1;
                    prop_assert_eq!(ring[last], plain[last]);
                }
            }
            prop_assert!(ring.iter().eq(plain.iter()));
            let before = plain.partition_point(|number| *number < edge);
            prop_assert_eq!(ring.partition_point(|number| *number < edge), before);
        }
    }
}
