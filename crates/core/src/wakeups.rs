//! Event queue that holds the next wake-up of every stage; each stage has at most one entry.
//!
//! The structure is a calendar queue (Brown 1988). Time is divided into "days" of equal length.
//! Each day has a list of the stages that are due in this day. The days of one "year" form a ring.
//! One bit per day marks days with entries, so that the search skips empty days. Entries more than
//! a year ahead (most retransmission timers) are in a separate list, the far list, which is scanned
//! twice a year. The earliest entry is stored separately in `first`. The other entries of the
//! current day are in the sorted list `today`.
//!
//! A change of a wake-up time changes one list, regardless of the number of stages. A day is a
//! quarter of the mean time between two events, so that most lists have one entry and branches are
//! predictable. The length of a day is adapted if operations become expensive. It does not
//! influence the order of the entries. The queue allocates no memory during a run, except when
//! `today` grows.

use crate::stage::StageId;
use crate::units::Time;

/// Value that marks the end of a list.
const NO_STAGE: u32 = u32::MAX;

/// Initial length of a day, as a power of two of nanoseconds.
const FIRST_DAY_BITS: u32 = 13;

/// Longest day: 2⁴⁰ ns are 18 minutes.
const MAX_DAY_BITS: u32 = 40;

/// Target number of days between two events, as a power of two.
const DAYS_PER_GAP_BITS: u32 = 2;

/// Number of days in a year, per stage. It is large enough that few entries are more than a year
/// ahead.
const DAYS_PER_STAGE: usize = 8;

/// Number of days in a year, per stage, in a small network. In a small network, the lists of a
/// complete year fit into the processor caches.
const DAYS_PER_STAGE_IN_SMALL: usize = 32;

/// Largest number of days in a year of a small network.
const SMALL_YEAR: usize = 1 << 14;

/// Number of days in a word of `marks`.
const WORD: usize = u64::BITS as usize;

/// Next wake-up of a stage, and its neighbours in a list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    previous: u32,
    next: u32,
}

/// An entry of the current day. Ordered by time, then by stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    time: Time,
    stage: StageId,
}

impl Due {
    /// Placeholder for an unknown entry.
    const UNKNOWN: Due = Due { time: Time::NEVER, stage: StageId(NO_STAGE) };

    #[inline]
    fn is_known(&self) -> bool {
        self.stage.0 != NO_STAGE
    }
}

/// Wake-up times of a fixed set of stages.
#[derive(Clone, Debug)]
pub struct Wakeups {
    /// Entry of each stage.
    entries: Box<[Entry]>,
    /// First stage in the list of each day of a year, followed by the first stage in the far list.
    lists: Box<[u32]>,
    /// One bit per day: set if the day has entries.
    marks: Box<[u64]>,
    /// Length of a day, as a power of two of nanoseconds.
    day_bits: u32,
    /// Index of the first day that has not been reached. Entries of earlier days are in `today`.
    /// Entries within a year from this day are in the list of their day or in the far list. Later
    /// entries are in the far list.
    tomorrow: u64,
    /// Day on which the far list must be scanned next.
    look_far: u64,
    /// Earliest entry, if known. It is neither in a list nor in `today`.
    first: Due,
    /// Other entries of the days that have been reached, latest entry first.
    today: Vec<Due>,
    /// Number of entries in lists.
    listed: usize,
    /// Number of steps (passed days and inspected entries) since the length of a day was last set.
    work: usize,
    /// Number of entries that have become due since the length of a day was last set.
    came_due: u64,
    /// Time at which the length of a day was last set.
    chosen_at: Time,
}

impl Wakeups {
    /// Creates a queue for `stages` stages without wake-ups.
    pub fn new(stages: usize) -> Wakeups {
        let nowhere = Entry { time: Time::NEVER, previous: NO_STAGE, next: NO_STAGE };
        let small_year = (DAYS_PER_STAGE_IN_SMALL * stages).min(SMALL_YEAR);
        let year = (DAYS_PER_STAGE * stages).max(small_year);
        let year = year.next_power_of_two().max(2 * WORD);
        Wakeups {
            entries: vec![nowhere; stages].into_boxed_slice(),
            lists: vec![NO_STAGE; year + 1].into_boxed_slice(),
            marks: vec![0; year / WORD].into_boxed_slice(),
            day_bits: FIRST_DAY_BITS,
            tomorrow: 0,
            look_far: year as u64 / 2,
            first: Due::UNKNOWN,
            today: Vec::with_capacity(WORD),
            listed: 0,
            work: 0,
            came_due: 0,
            chosen_at: Time::ZERO,
        }
    }

    /// Returns the earliest wake-up and its stage. `None` if no stage has a wake-up.
    #[inline]
    pub fn first(&mut self) -> Option<(Time, StageId)> {
        if !self.first.is_known() {
            self.find_first();
        }
        self.first.is_known().then_some((self.first.time, self.first.stage))
    }

    /// Returns the wake-up time of `stage`.
    #[inline]
    pub fn get(&self, stage: StageId) -> Time {
        self.entries[stage.0 as usize].time
    }

    /// Sets the wake-up time of `stage` if `time` is earlier.
    #[inline]
    pub fn set_if_earlier(&mut self, stage: StageId, time: Time) {
        if time < self.get(stage) {
            self.set(stage, time);
        }
    }

    /// Sets the wake-up time of the stage that [`Wakeups::first`] returned.
    #[inline]
    pub fn set_first(&mut self, time: Time) {
        let stage = self.first.stage;
        self.first = Due::UNKNOWN;
        if stage.0 != NO_STAGE {
            self.insert(stage, time);
        }
    }

    /// Sets the wake-up time of `stage`.
    #[inline]
    pub fn set(&mut self, stage: StageId, time: Time) {
        let before = self.get(stage);
        if time != before {
            if !before.is_never() {
                self.remove(stage, before);
            }
            self.insert(stage, time);
        }
    }

    #[inline]
    fn insert(&mut self, stage: StageId, time: Time) {
        self.entries[stage.0 as usize].time = time;
        if self.day_of(time) < self.tomorrow {
            self.insert_today(Due { time, stage });
        } else if !time.is_never() {
            self.link(stage, time);
        }
    }

    /// Returns the number of days of a year.
    #[inline]
    fn year(&self) -> usize {
        self.lists.len() - 1
    }

    #[inline]
    fn day_of(&self, time: Time) -> u64 {
        time.as_nanos() >> self.day_bits
    }

    /// Inserts `stage` at the front of the list of its day, or of the far list.
    #[inline]
    fn link(&mut self, stage: StageId, time: Time) {
        let ahead = self.day_of(time) - self.tomorrow;
        let year = self.year();
        let list = if ahead < year as u64 { self.ring_place(ahead) } else { year };
        if let Some(word) = self.marks.get_mut(list / WORD) {
            *word |= 1 << (list % WORD);
        }
        let next = std::mem::replace(&mut self.lists[list], stage.0);
        self.entries[stage.0 as usize] = Entry { time, previous: NO_STAGE, next };
        if let Some(neighbour) = self.entries.get_mut(next as usize) {
            neighbour.previous = stage.0;
        }
        self.listed += 1;
    }

    /// Returns the index of the list of the day that is `ahead` days after `tomorrow`. `ahead` must
    /// be less than a year.
    #[inline]
    fn ring_place(&self, ahead: u64) -> usize {
        (self.tomorrow + ahead) as usize & (self.year() - 1)
    }

    /// Removes `stage` from its list.
    fn unlink(&mut self, stage: StageId) {
        let Entry { time, previous, next } = self.entries[stage.0 as usize];
        if let Some(neighbour) = self.entries.get_mut(previous as usize) {
            neighbour.next = next;
        } else {
            let of_day = self.day_of(time) as usize & (self.year() - 1);
            let is_far = self.lists[of_day] != stage.0;
            let list = if is_far { self.year() } else { of_day };
            self.lists[list] = next;
            if next == NO_STAGE && !is_far {
                self.marks[list / WORD] &= !(1 << (list % WORD));
            }
        }
        if let Some(neighbour) = self.entries.get_mut(next as usize) {
            neighbour.previous = previous;
        }
        self.listed -= 1;
    }

    fn remove(&mut self, stage: StageId, time: Time) {
        if self.first.stage == stage {
            self.first = Due::UNKNOWN;
            return;
        }
        if self.day_of(time) >= self.tomorrow {
            return self.unlink(stage);
        }
        let place = self.place_today(Due { time, stage });
        self.today.remove(place);
    }

    /// Returns the index in `today` at which the entry `due` is or must be inserted: the number of
    /// later entries.
    fn place_today(&mut self, due: Due) -> usize {
        self.work += self.today.len();
        self.today.partition_point(|other| *other > due)
    }

    #[cold]
    #[inline(never)]
    fn insert_today(&mut self, due: Due) {
        // An unknown entry compares as later than any other entry.
        let due = if due < self.first && self.first.is_known() {
            std::mem::replace(&mut self.first, due)
        } else {
            due
        };
        let place = self.place_today(due);
        self.today.insert(place, due);
        self.came_due += 1;
        if self.should_rebuild() {
            self.choose_day();
        }
    }

    /// Returns true if enough work was done that the amortised cost of a rebuild is negligible.
    #[inline]
    fn should_rebuild(&self) -> bool {
        self.work > 4 * self.lists.len()
    }

    /// Moves the earliest entry to `first`. Leaves `first` unknown if there is no entry.
    #[inline]
    fn find_first(&mut self) {
        if let Some(due) = self.today.pop() {
            self.first = due;
            return;
        }
        if self.should_rebuild() {
            self.choose_day();
        }
        self.work += 1;
        let marks = self.marks_ahead();
        if marks == 0 || self.tomorrow >= self.look_far {
            return self.reach_next_day();
        }
        self.tomorrow += u64::from(marks.trailing_zeros());
        self.open_tomorrow();
    }

    /// Returns the marks of the 64 days from `tomorrow` on.
    #[inline]
    fn marks_ahead(&self) -> u64 {
        let place = self.ring_place(0);
        let (word, bit) = (place / WORD, place % WORD);
        let behind = self.marks[(word + 1) & (self.marks.len() - 1)];
        self.marks[word] >> bit | (behind << 1) << (WORD - 1 - bit)
    }

    /// Slow path of `find_first`, if the next day with entries is more than 64 days ahead or the
    /// far list must be scanned.
    #[inline(never)]
    fn reach_next_day(&mut self) {
        let mut passed = 0;
        while self.listed > 0 && !self.first.is_known() {
            self.work += 1;
            if self.tomorrow >= self.look_far {
                self.look_through_far();
            }
            let marks = self.marks_ahead();
            if marks != 0 {
                self.tomorrow += u64::from(marks.trailing_zeros());
                self.open_tomorrow();
                continue;
            }
            self.tomorrow += WORD as u64;
            passed += WORD;
            if passed > self.year() {
                self.skip_to_earliest();
                passed = 0;
            }
        }
    }

    /// Moves to the next day: moves the entries of this day to `first` and `today`, which must be
    /// empty before.
    #[inline]
    fn open_tomorrow(&mut self) {
        let list = self.ring_place(0);
        self.tomorrow += 1;
        self.marks[list / WORD] &= !(1 << (list % WORD));
        let number = std::mem::replace(&mut self.lists[list], NO_STAGE);
        let Some(&Entry { time, next, .. }) = self.entries.get(number as usize) else { return };
        self.first = Due { time, stage: StageId(number) };
        self.listed -= 1;
        self.came_due += 1;
        if next != NO_STAGE {
            self.sort_today(next);
        }
    }

    /// Sorts a day with several entries into `today`: the entry in `first`, and the list that
    /// begins with the stage `number`.
    #[inline(never)]
    fn sort_today(&mut self, mut number: u32) {
        self.today.push(self.first);
        while let Some(&Entry { time, next, .. }) = self.entries.get(number as usize) {
            self.today.push(Due { time, stage: StageId(number) });
            self.listed -= 1;
            self.came_due += 1;
            number = next;
        }
        self.work += self.today.len();
        self.today.sort_unstable_by(|a, b| b.cmp(a));
        self.first = self.today.pop().unwrap_or(Due::UNKNOWN);
    }

    /// Moves those entries of the far list that are now within a year to the lists of their days.
    #[cold]
    fn look_through_far(&mut self) {
        self.look_far = self.tomorrow + self.year() as u64 / 2;
        let far = self.year();
        let mut number = std::mem::replace(&mut self.lists[far], NO_STAGE);
        while let Some(&Entry { time, next, .. }) = self.entries.get(number as usize) {
            self.listed -= 1;
            self.work += 1;
            self.link(StageId(number), time);
            number = next;
        }
    }

    /// Skips to the day of the earliest entry, because no entry is due within a year.
    #[cold]
    fn skip_to_earliest(&mut self) {
        self.work += self.entries.len();
        let earliest = self.entries.iter().map(|entry| entry.time).min();
        self.tomorrow = self.day_of(earliest.unwrap_or(Time::NEVER));
        self.look_far = self.tomorrow;
    }

    /// Sets the length of a day to a fraction of the recent mean time between two events, and
    /// rebuilds all lists.
    #[cold]
    fn choose_day(&mut self) {
        let tomorrow = Time::from_nanos(self.tomorrow << self.day_bits);
        let reached = if self.first.is_known() { Some(&self.first) } else { self.today.last() };
        let reached = reached.map_or(tomorrow, |due| due.time);
        let span = reached.saturating_since(self.chosen_at).as_nanos();
        let gap = span / self.came_due.max(1);
        let gap_bits = gap.checked_ilog2().unwrap_or(0);
        let day_bits = gap_bits.saturating_sub(DAYS_PER_GAP_BITS).min(MAX_DAY_BITS);
        (self.work, self.came_due, self.chosen_at) = (0, 0, reached);
        if day_bits.abs_diff(self.day_bits) < 2 {
            return;
        }
        self.day_bits = day_bits;
        self.tomorrow = self.day_of(reached);
        self.look_far = self.tomorrow + self.year() as u64 / 2;
        self.lists.fill(NO_STAGE);
        self.marks.fill(0);
        self.first = Due::UNKNOWN;
        self.today.clear();
        self.listed = 0;
        for number in 0..self.entries.len() {
            let time = self.entries[number].time;
            if !time.is_never() {
                self.link(StageId(number as u32), time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_are_ordered_by_stage_number() {
        let mut wakeups = Wakeups::new(5);
        for stage in [3, 1, 4, 0, 2] {
            wakeups.set(StageId(stage), Time::from_secs(1));
        }
        let mut order = Vec::new();
        while let Some((_, stage)) = wakeups.first() {
            order.push(stage.0);
            wakeups.set(stage, Time::NEVER);
        }
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn day_length_follows_the_time_between_two_events() {
        let mut wakeups = Wakeups::new(1000);
        for gap_nanos in [1_000_000u64, 100, 50_000] {
            for stage in 0..1000 {
                let (now, _) = wakeups.first().unwrap_or((Time::ZERO, StageId(0)));
                wakeups.set(
                    StageId(stage),
                    Time::from_nanos(now.as_nanos() + u64::from(stage) * gap_nanos),
                );
            }
            for _ in 0..500_000 {
                let (now, stage) = wakeups.first().expect("all wait for something");
                assert_eq!(wakeups.get(stage), now);
                wakeups.set_first(Time::from_nanos(now.as_nanos() + 1000 * gap_nanos));
            }
            let day = 1u64 << (wakeups.day_bits + DAYS_PER_GAP_BITS);
            assert!(day > gap_nanos / 8 && day < gap_nanos * 8, "{day} ns for {gap_nanos} ns");
        }
    }

    /// Strategy for the operations of a driver. Most operations set the wake-up of the first stage
    /// to a later time; the others set any stage to any time from now on. Time differences range
    /// over twelve orders of magnitude.
    fn moves() -> impl Strategy<Value = Vec<(bool, u32, u64, u32)>> {
        prop::collection::vec((prop::bool::weighted(0.7), 0u32..200, 0u64..50, 0u32..40), 0..600)
    }

    proptest! {
        #[test]
       fn first_is_always_the_earliest_entry(

            stages in 1usize..200, moves in moves(), never_from in 30u32..42,
        ) {
            let mut wakeups = Wakeups::new(stages);
            let mut plain = vec![Time::NEVER; stages];
            let mut now = Time::ZERO;
            for (is_first, stage, delta, exponent) in moves {
                let first = wakeups.first();
                let least = plain.iter().zip(0..).min().map(|(time, stage)| (*time, StageId(stage)));
                prop_assert_eq!(first, least.filter(|(time, _)| !time.is_never()));
                let stage = match first {
                    Some((time, stage)) if is_first => {
                        now = time;
                        stage
                    }
                    _ => StageId(stage % stages as u32),
                };
                let later = Time::from_nanos(now.as_nanos() + (delta << exponent));
                let time = if exponent < never_from { later } else { Time::NEVER };
                match first {
                    Some((_, first)) if is_first => {
                        prop_assert_eq!(stage, first);
                        wakeups.set_first(time);
                    }
                    _ => wakeups.set(stage, time),
                }
                plain[stage.0 as usize] = time;
                prop_assert_eq!(wakeups.get(stage), time);
            }
        }
    }
}
