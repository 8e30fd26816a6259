//! The event queue: every stage sits in it exactly once, with its next wake-up as key.
//!
//! An indexed 4-ary heap ordered by (time, stage number). Its size is the number of stages and
//! never changes, so nothing is allocated while a run goes on.

use crate::stage::StageId;
use crate::units::Time;

const ARITY: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: Time,
    stage: u32,
}

/// The wake-up times of a fixed set of stages.
#[derive(Clone, Debug)]
pub struct Wakeups {
    heap: Vec<Entry>,
    /// Where each stage sits in the heap.
    position: Vec<u32>,
}

impl Wakeups {
    /// `stages` stages, none of which waits for anything.
    pub fn new(stages: usize) -> Wakeups {
        let heap =
            (0..stages as u32).map(|stage| Entry { time: Time::NEVER, stage }).collect();
        Wakeups { heap, position: (0..stages as u32).collect() }
    }

    /// The earliest wake-up and its stage; `None` without stages.
    #[inline]
    pub fn first(&self) -> Option<(Time, StageId)> {
        self.heap.first().map(|entry| (entry.time, StageId(entry.stage)))
    }

    /// The wake-up time of `stage`.
    #[inline]
    pub fn get(&self, stage: StageId) -> Time {
        self.heap[self.position[stage.0 as usize] as usize].time
    }

    /// Sets the wake-up time of `stage`.
    #[inline]
    pub fn set(&mut self, stage: StageId, time: Time) {
        let at = self.position[stage.0 as usize] as usize;
        let entry = Entry { time, stage: stage.0 };
        if entry < self.heap[at] {
            self.sift_up(at, entry);
        } else {
            self.sift_down(at, entry);
        }
    }

    fn sift_up(&mut self, mut at: usize, entry: Entry) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, entry);
    }

    fn sift_down(&mut self, mut at: usize, entry: Entry) {
        loop {
            let first = at * ARITY + 1;
            let children = first..(first + ARITY).min(self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child]) else { break };
            if entry <= self.heap[least] {
                break;
            }
            self.place(at, self.heap[least]);
            at = least;
        }
        self.place(at, entry);
    }

    #[inline]
    fn place(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.position[entry.stage as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_go_by_stage_number() {
        let mut wakeups = Wakeups::new(5);
        for stage in [3, 1, 4, 0, 2] {
            wakeups.set(StageId(stage), Time::from_secs(1));
        }
        let mut order = Vec::new();
        while let Some((time, stage)) = wakeups.first()
            && !time.is_never()
        {
            order.push(stage.0);
            wakeups.set(stage, Time::NEVER);
        }
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    proptest! {
        #[test]
        fn the_first_is_always_the_least(
            stages in 1usize..40,
            moves in prop::collection::vec((0u32..40, 0u64..50), 0..300),
        ) {
            let mut wakeups = Wakeups::new(stages);
            let mut plain = vec![Time::NEVER; stages];
            for (stage, at) in moves {
                let stage = stage % stages as u32;
                wakeups.set(StageId(stage), Time::from_nanos(at));
                plain[stage as usize] = Time::from_nanos(at);
                let least = plain.iter().enumerate().map(|(i, t)| (*t, i as u32)).min();
                prop_assert_eq!(wakeups.first().map(|(t, s)| (t, s.0)), least);
                prop_assert_eq!(wakeups.get(StageId(stage)), Time::from_nanos(at));
            }
        }
    }
}
