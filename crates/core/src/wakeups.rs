//! The event queue: every stage sits in it exactly once, with its next wake-up as key.
//!
//! A tournament tree with four players to a match, ordered by (time, stage number). A stage's
//! leaf never moves; setting its time replays the matches between the leaf and the root, at most
//! until one has the same winner as before. The matches are branch-free, a match is one cache
//! line, and nothing is allocated while a run goes on. An indexed 4-ary heap, which moves its
//! entries about, took half as long again.

use crate::stage::StageId;
use crate::units::Time;

const PLAYERS: usize = 4;

/// The times of four stages, or of the winners of four matches, in order of stage number: of
/// equal times the first wins.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Match {
    times: [Time; PLAYERS],
    stages: [u32; PLAYERS],
}

impl Match {
    const EMPTY: Match = Match { times: [Time::NEVER; PLAYERS], stages: [u32::MAX; PLAYERS] };

    #[inline]
    fn winner(&self) -> (Time, u32) {
        let first_of = |a: usize, b: usize| if self.times[b] < self.times[a] { b } else { a };
        let (left, right) = (first_of(0, 1), first_of(2, 3));
        let place = first_of(left & 1, 2 | right & 1);
        (self.times[place & 3], self.stages[place & 3])
    }
}

/// The wake-up times of a fixed set of stages.
#[derive(Clone, Debug)]
pub struct Wakeups {
    /// All rounds, the leaves first, the final match last.
    matches: Vec<Match>,
    /// Where each round begins in `matches`.
    rounds: Vec<usize>,
    first: (Time, u32),
}

impl Wakeups {
    /// `stages` stages, none of which waits for anything.
    pub fn new(stages: usize) -> Wakeups {
        let (mut matches, mut rounds) = (Vec::new(), Vec::new());
        let mut players = stages.max(1);
        while rounds.is_empty() || players > 1 {
            rounds.push(matches.len());
            players = players.div_ceil(PLAYERS);
            matches.resize(matches.len() + players, Match::EMPTY);
        }
        let mut wakeups = Wakeups { matches, rounds, first: (Time::NEVER, u32::MAX) };
        for stage in 0..stages as u32 {
            wakeups.replay(StageId(stage), Time::NEVER);
        }
        wakeups
    }

    /// The earliest wake-up and its stage; `None` without stages.
    #[inline]
    pub fn first(&self) -> Option<(Time, StageId)> {
        let (time, stage) = self.first;
        (stage != u32::MAX).then_some((time, StageId(stage)))
    }

    /// The wake-up time of `stage`.
    #[inline]
    pub fn get(&self, stage: StageId) -> Time {
        let leaf = stage.0 as usize;
        self.matches[leaf / PLAYERS].times[leaf % PLAYERS]
    }

    /// Sets the wake-up time of `stage`.
    #[inline]
    pub fn set(&mut self, stage: StageId, time: Time) {
        if self.get(stage) != time {
            self.replay(stage, time);
        }
    }

    /// Plays the matches of `stage` again, until one keeps its winner.
    #[inline]
    fn replay(&mut self, stage: StageId, time: Time) {
        let mut player = stage.0 as usize;
        let mut winner = (time, stage.0);
        for round in &self.rounds {
            let game = &mut self.matches[round + player / PLAYERS];
            let place = player % PLAYERS;
            if player != stage.0 as usize && (game.times[place], game.stages[place]) == winner {
                return;
            }
            game.times[place] = winner.0;
            game.stages[place] = winner.1;
            winner = game.winner();
            player /= PLAYERS;
        }
        self.first = winner;
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
