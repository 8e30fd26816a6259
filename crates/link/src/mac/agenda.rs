//! Bookkeeping of users with pending work: the set of users with data, and the timers of the users'
//! queues.

use airpath_core::{Time, UserId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A set of users, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserSet {
    words: Vec<u64>,
    count: usize,
}

impl UserSet {
    /// Creates an empty set for `users` users.
    pub(crate) fn new(users: usize) -> UserSet {
        UserSet { words: vec![0; users.div_ceil(64)], count: 0 }
    }

    /// Adds the user to the set if `is_in` is true; otherwise removes the user.
    #[inline]
    pub(crate) fn set(&mut self, user: usize, is_in: bool) {
        let (word, bit) = (&mut self.words[user / 64], 1 << (user % 64));
        let was_in = *word & bit != 0;
        if was_in != is_in {
            *word ^= bit;
            self.count = if is_in { self.count + 1 } else { self.count - 1 };
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls `take` with each user, in ascending order.
    #[inline]
    pub(crate) fn for_each(&self, mut take: impl FnMut(usize)) {
        for (place, word) in self.words.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                take(place * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    /// The users, in ascending order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    place * 64 + bit
                })
            })
        })
    }
}

/// Timers of the users' queues.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// Timers in ascending order of expiry. Entries that differ from `noted` are obsolete.
    due: BinaryHeap<Reverse<(Time, UserId)>>,
    /// Current expiry time of each user's timer.
    noted: Vec<Time>,
}

impl Timers {
    pub(crate) fn new(users: usize) -> Timers {
        Timers { due: BinaryHeap::new(), noted: vec![Time::NEVER; users] }
    }

    /// Sets the timer of `user` to `at`.
    #[inline]
    pub(crate) fn note(&mut self, user: usize, at: Time) {
        // If the heap is empty, no user has a timer.
        if at.is_never() && self.due.is_empty() {
            return;
        }
        if self.noted[user] != at {
            self.noted[user] = at;
            if !at.is_never() {
                self.due.push(Reverse((at, UserId(user as u32))));
            }
        }
    }

    /// Returns the earliest expiry time in the heap.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    /// Removes and returns a user whose timer is due by `now`.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<usize> {
        while let Some(Reverse((at, user))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            let noted = &mut self.noted[user.0 as usize];
            if *noted == at {
                *noted = Time::NEVER;
                return Some(user.0 as usize);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_iterates_users_in_ascending_order() {
        let mut set = UserSet::new(130);
        for user in [129, 3, 64, 0, 63, 3] {
            set.set(user, true);
        }
        set.set(63, false);
        set.set(62, false);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3, 64, 129]);
        let mut given = Vec::new();
        set.for_each(|user| given.push(user));
        assert_eq!(given, [0, 3, 64, 129]);
        for user in [0, 3, 64] {
            set.set(user, false);
            assert!(!set.is_empty());
        }
        set.set(129, false);
        assert!(set.is_empty() && set.iter().next().is_none());
    }

    #[test]
    fn latest_timer_of_each_user_applies() {
        let at = Time::from_millis;
        let mut timers = Timers::new(3);
        timers.note(0, at(5));
        timers.note(1, at(4));
        timers.note(0, at(7));
        timers.note(2, Time::NEVER);
        assert_eq!((timers.next(), timers.take_due(at(3))), (at(4), None));
        assert_eq!(timers.take_due(at(6)), Some(1));
        assert_eq!(timers.take_due(at(6)), None);
        assert_eq!((timers.next(), timers.take_due(at(7))), (at(7), Some(0)));
        assert_eq!(timers.next(), Time::NEVER);
    }
}
