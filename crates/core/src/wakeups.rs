//! The event queue: every stage sits in it exactly once, with its next wake-up as key.
//!
//! A tournament tree: the leaves are the stages in order of number, every inner node is the
//! earlier of its two children, the left one when they are level. A stage's leaf never moves;
//! setting its time replays the matches between the leaf and the root. Which nodes are read does not depend on the times, a match has no branch, and
//! nothing is allocated while a run goes on. An indexed 4-ary heap took twice the instructions.

use crate::stage::StageId;
use crate::units::Time;

/// A stage and the time that it plays with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Player {
    time: Time,
    stage: StageId,
}

/// The wake-up times of a fixed set of stages.
#[derive(Clone, Debug)]
pub struct Wakeups {
    /// The root is node 1; the children of node n are 2n and 2n + 1; the leaves fill the second
    /// half.
    nodes: Vec<Player>,
    /// How many stages there are.
    stages: usize,
}

impl Wakeups {
    /// `stages` stages, none of which waits for anything.
    pub fn new(stages: usize) -> Wakeups {
        let leaves = stages.next_power_of_two().max(2);
        let nobody = Player { time: Time::NEVER, stage: StageId(0) };
        let mut nodes = vec![nobody; 2 * leaves];
        for (leaf, stage) in nodes[leaves..].iter_mut().zip(0..stages as u32) {
            leaf.stage = StageId(stage);
        }
        Wakeups { nodes, stages }
    }

    /// The earliest wake-up and its stage; `None` without stages.
    #[inline]
    pub fn first(&self) -> Option<(Time, StageId)> {
        let Player { time, stage } = self.nodes[1];
        (self.stages > 0).then_some((time, stage))
    }

    #[inline]
    fn leaf(&self, stage: StageId) -> usize {
        self.nodes.len() / 2 + stage.0 as usize
    }

    /// The wake-up time of `stage`.
    #[inline]
    pub fn get(&self, stage: StageId) -> Time {
        self.nodes[self.leaf(stage)].time
    }

    /// Sets the wake-up time of `stage`.
    #[inline]
    pub fn set(&mut self, stage: StageId, time: Time) {
        let nodes = self.nodes.as_mut_slice();
        let mut node = nodes.len() / 2 + stage.0 as usize;
        let mut winner = Player { time, stage };
        nodes[node] = winner;
        while node > 1 {
            let rival = nodes[node ^ 1];
            // The left child wins when they are level: the bound of a right child is one later.
            let bound = winner.time.as_nanos() + (node as u64 & 1);
            winner = if rival.time.as_nanos() < bound { rival } else { winner };
            node /= 2;
            nodes[node] = winner;
        }
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
            never_from in 20u64..60,
        ) {
            let mut wakeups = Wakeups::new(stages);
            let mut plain = vec![Time::NEVER; stages];
            for (stage, at) in moves {
                let stage = stage % stages as u32;
                let time = if at < never_from { Time::from_nanos(at) } else { Time::NEVER };
                wakeups.set(StageId(stage), time);
                plain[stage as usize] = time;
                let least = plain.iter().enumerate().map(|(i, t)| (*t, i as u32)).min();
                let first = wakeups.first().map(|(t, s)| (t, s.0));
                prop_assert_eq!(first.map(|(t, _)| t), least.map(|(t, _)| t));
                if first.is_some_and(|(t, _)| !t.is_never()) {
                    prop_assert_eq!(first, least);
                }
                prop_assert_eq!(wakeups.get(StageId(stage)), time);
            }
        }
    }
}
