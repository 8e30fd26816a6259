//! Computes the outcome of a block of code symbols, which fails if it has more wrong symbols than
//! its code can correct.
//!
//! The distribution of the number of wrong symbols is computed for half of the block, and both
//! halves are combined without negative terms. Counts of wrong symbols whose probability is below
//! [`FLOOR`] are left out.

use super::{Matrix, Outcome, Vector, times};
use crate::code::reed_solomon::Block;
use crate::vectorised::vectorised;

/// Smallest probability that is kept. It is close to the smallest normal number, because arithmetic
/// with subnormal numbers is slow.
const FLOOR: f64 = 1e-290;

/// Returns the outcome of a block whose symbols have the outcome `symbol`.
pub(super) fn of_block(block: &Block, symbol: &Outcome) -> Outcome {
    let most = block.correctable.min(block.symbols) as usize;
    let half = block.symbols as usize / 2;
    let mut first = [0, 1].map(|state| Counts::new(state, block.symbols as usize - half, most));
    for _ in 0..half {
        first.iter_mut().for_each(|counts| counts.step(symbol));
    }
    let second = Sums::new(&first, most);
    if block.symbols % 2 == 1 {
        first.iter_mut().for_each(|counts| counts.step(symbol));
    }
    let [good, bad] = first.map(|counts| second.after(&counts, most));
    Outcome { delivered: [good.0, bad.0], failed: [good.1, bad.1] }.normalised()
}

/// Distribution of the number of wrong symbols so far, for one initial state: P(c wrong symbols,
/// last state), and the probability of more wrong symbols than the code can correct.
struct Counts {
    /// P(c wrong symbols) at index c + 1, for each last state; zeros outside the window.
    now: [Vec<f64>; 2],
    next: [Vec<f64>; 2],
    /// Smallest and largest c with a nonzero probability.
    window: (usize, usize),
    /// Largest c that is counted.
    most: usize,
    failed: Vector,
}

impl Counts {
    /// Creates the distribution before the first of at most `symbols` symbols.
    fn new(state: usize, symbols: usize, correctable: usize) -> Counts {
        let most = symbols.min(correctable);
        let zeros = [vec![0.0; most + 2], vec![0.0; most + 2]];
        let mut now = zeros.clone();
        now[state][1] = 1.0;
        Counts { now, next: zeros, window: (0, 0), most, failed: [0.0; 2] }
    }

    /// Adds one symbol.
    fn step(&mut self, symbol: &Outcome) {
        let (low, mut high) = self.window;
        let last = times([self.now[0][self.most + 1], self.now[1][self.most + 1]], &symbol.failed);
        let [good, bad] = times(self.failed, &symbol.any());
        self.failed = if high == self.most { [good + last[0], bad + last[1]] } else { [good, bad] };
        if high < self.most {
            high += 1;
            self.now.iter_mut().for_each(|row| row[high + 1] = 0.0);
        }
        let Counts { now: [good, bad], next, .. } = self;
        let (right, wrong) = (&symbol.delivered, &symbol.failed);
        for (to, next) in next.iter_mut().enumerate() {
            row(
                &mut next[low + 1..=high + 1],
                [&good[low + 1..=high + 1], &bad[low + 1..=high + 1]],
                [&good[low..=high], &bad[low..=high]],
                [right[0][to], right[1][to], wrong[0][to], wrong[1][to]],
            );
        }
        std::mem::swap(&mut self.now, &mut self.next);
        self.window = (low, high);
        self.narrow();
    }

    /// Removes counts with a probability below the floor at both ends of the window.
    fn narrow(&mut self) {
        let (mut low, mut high) = self.window;
        let is_rare = |count: usize| self.now[0][count + 1] + self.now[1][count + 1] < FLOOR;
        while low < high && is_rare(low) {
            low += 1;
        }
        while high > low && is_rare(high) {
            high -= 1;
        }
        for row in &mut self.now {
            row[self.window.0..=low].fill(0.0);
            row[high + 2..=self.window.1 + 1].fill(0.0);
        }
        self.window = (low, high);
    }

    /// Returns P(`count` wrong symbols, last state).
    fn at(&self, count: usize) -> Vector {
        [self.now[0][count + 1], self.now[1][count + 1]]
    }
}

/// Computes `next` = `same` · right + `less` · wrong by the number of wrong symbols; `same` and
/// `less` contain the good and the bad state.
fn row(next: &mut [f64], same: [&[f64]; 2], less: [&[f64]; 2], factors: [f64; 4]) {
    vectorised(
        #[inline(always)]
        || {
            let length = next.len();
            let [good, bad] = same.map(|row| &row[..length]);
            let [good_less, bad_less] = less.map(|row| &row[..length]);
            for place in 0..length {
                next[place] = good[place] * factors[0]
                    + bad[place] * factors[1]
                    + (good_less[place] * factors[2] + bad_less[place] * factors[3]);
            }
        },
    );
}

/// Probabilities for the second half, by c and by the initial state of this half: at most c wrong
/// symbols, more than c wrong symbols.
struct Sums {
    least: Vec<Matrix>,
    beyond: Vec<Matrix>,
}

impl Sums {
    fn new(half: &[Counts; 2], most: usize) -> Sums {
        let rows = |count: usize| {
            [0, 1].map(|from| {
                let is_counted = count <= half[from].most;
                if is_counted { half[from].at(count) } else { [0.0; 2] }
            })
        };
        let mut least = vec![[[0.0; 2]; 2]; most + 1];
        let mut beyond = least.clone();
        let (mut below, mut above) = ([[0.0; 2]; 2], [half[0].failed, half[1].failed]);
        for count in 0..=most {
            below = super::add(&below, &rows(count));
            least[count] = below;
            beyond[most - count] = above;
            above = super::add(&above, &rows(most - count));
        }
        Sums { least, beyond }
    }

    /// Returns the probabilities of reception and of failure of the block, by the last state, if
    /// its first half has the distribution `first`.
    fn after(&self, first: &Counts, most: usize) -> (Vector, Vector) {
        let any = super::add(&self.least[most], &self.beyond[most]);
        let (mut delivered, mut failed) = ([0.0; 2], times(first.failed, &any));
        for count in first.window.0..=first.window.1 {
            let (row, left) = (first.at(count), most - count);
            for (sum, matrix) in
                [(&mut delivered, &self.least[left]), (&mut failed, &self.beyond[left])]
            {
                let [good, bad] = times(row, matrix);
                *sum = [sum[0] + good, sum[1] + bad];
            }
        }
        (delivered, failed)
    }
}
