//! [`DelayQueue`]: queue whose items leave at their due time. Items with equal due times leave in
//! order of insertion.

use airpath_core::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Items ordered by their due time.
#[derive(Clone, Debug)]
pub struct DelayQueue<T> {
    /// Heap of due time, insertion number, and index in `places`.
    due: BinaryHeap<Reverse<(Time, u64, u32)>>,
    /// Items, stored outside the heap so that the heap moves only small entries.
    places: Vec<Option<T>>,
    free: Vec<u32>,
    came: u64,
}

impl<T> Default for DelayQueue<T> {
    fn default() -> DelayQueue<T> {
        DelayQueue { due: BinaryHeap::new(), places: Vec::new(), free: Vec::new(), came: 0 }
    }
}

impl<T> DelayQueue<T> {
    /// Inserts `value` with the due time `at`.
    pub fn push(&mut self, at: Time, value: T) {
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(value);
                place
            }
            None => {
                self.places.push(Some(value));
                self.places.len() as u32 - 1
            }
        };
        self.due.push(Reverse((at, self.came, place)));
        self.came += 1;
    }

    /// Earliest due time; [`Time::NEVER`] if the queue is empty.
    #[inline]
    pub fn next(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |Reverse((at, _, _))| *at)
    }

    /// Removes and returns the first item, if it is due by `now`.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> Option<T> {
        if self.next() > now {
            return None;
        }
        let Reverse((_, _, place)) = self.due.pop()?;
        self.free.push(place);
        self.places[place as usize].take()
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.due.len()
    }

    /// Returns true if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_leave_by_due_time_then_insertion_order() {
        let at = Time::from_millis;
        let mut late = DelayQueue::default();
        for (when, value) in [(5, 'a'), (3, 'b'), (5, 'c'), (4, 'd')] {
            late.push(at(when), value);
        }
        assert_eq!((late.next(), late.take_due(at(2))), (at(3), None));
        let mut out = String::new();
        while let Some(value) = late.take_due(at(5)) {
            out.push(value);
        }
        assert_eq!((out.as_str(), late.len(), late.next()), ("bdac", 0, Time::NEVER));
        late.push(at(9), 'e');
        assert_eq!(late.take_due(at(9)), Some('e'), "a free slot is reused");
    }
}
