//! A first-in-first-out store for what every packet passes: delay lines, queues, scoreboards.
//!
//! Places are a power of two and entries are plain values, so that putting and taking is one copy
//! and a mask. It holds no memory before the first entry and grows by doubling.

use std::ops::{Index, IndexMut};

/// A queue of plain values in a ring of places; at most 2³¹ of them.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Empty or a power of two many; those that hold no entry hold a stale one.
    places: Box<[T]>,
    /// How many were ever taken, modulo 2³²; the oldest entry is at this number modulo the places.
    taken: u32,
    /// How many were ever put, modulo 2³².
    put: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { places: Box::default(), taken: 0, put: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.put.wrapping_sub(self.taken) as usize
    }

    /// Whether there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.put == self.taken
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        number as usize & self.places.len().wrapping_sub(1)
    }

    /// The place of the entry that `index` others are ahead of.
    #[inline]
    fn place_of(&self, index: usize) -> usize {
        assert!(index < self.len(), "entry {index} of {}", self.len());
        self.place(self.taken.wrapping_add(index as u32))
    }

    /// Puts an entry behind the others.
    #[inline]
    pub fn push_back(&mut self, entry: T) {
        if self.len() == self.places.len() {
            self.grow(entry);
        }
        let place = self.place(self.put);
        self.places[place] = entry;
        self.put = self.put.wrapping_add(1);
    }

    /// Puts an entry behind the others and gives its place, for the caller to write it there without
    /// another copy; until then it is any former entry or the default.
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

    /// Doubles the places; the new ones hold copies of `filler`.
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

    /// The oldest entry.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.taken)) }
    }

    /// Removes the oldest entry, if there is one.
    #[inline]
    pub fn drop_front(&mut self) {
        self.taken = self.taken.wrapping_add(u32::from(!self.is_empty()));
    }

    /// Takes the oldest entry.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let oldest = *self.front()?;
        self.taken = self.taken.wrapping_add(1);
        Some(oldest)
    }

    /// The entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len()).map(|index| &self[index])
    }

    /// How many entries from the oldest on satisfy `is_before`, which must hold for these and for
    /// none behind them.
    pub fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(&self[middle]) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// The entry with `index` others ahead of it.
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
    fn an_empty_ring_holds_no_memory() {
        assert_eq!(Ring::<u64>::default().places.len(), 0);
    }

    proptest! {
        #[test]
        fn agrees_with_a_vec_deque(moves in prop::collection::vec(0u8..5, 0..400), edge in 0u32..400) {
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
