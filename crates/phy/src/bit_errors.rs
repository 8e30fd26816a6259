//! Computes symbol errors under a two-state Markov chain, and the resulting packet losses.
//!
//! ```text
//! φ(t, r, G) = ε_G [γ φ(t−1, r, G) + (1−β) φ(t−1, r, B)] + (1−ε_G) [γ φ(t−1, r−1, G) + (1−β) φ(t−1, r−1, B)]
//! φ(t, r, B) = ε_B [(1−γ) φ(t−1, r, G) + β φ(t−1, r, B)] + (1−ε_B) [(1−γ) φ(t−1, r−1, G) + β φ(t−1, r−1, B)]
//! φ(0, 0, ·) stationary        φ(t, r) = φ(t, r, G) + φ(t, r, B)
//! ```
//!
//! φ(t, r) is the probability that r of t units are received, φ(t, r, G) and φ(t, r, B) the
//! probabilities that the last state is also good or bad. A unit is a modulation symbol. The chain
//! moves before each unit. γ and β are the probabilities of staying in the good and in the bad
//! state; ε_G and ε_B are the error probabilities in these states.
//!
//! Source: vcp-2008 eqs. 1 to 4; the "+" between the brackets is missing in print (vcp-rem §5.2).
//!
//! Failure probabilities are sums of positive terms, not differences. Therefore even a probability
//! of 1e-40 has full precision.

mod block;
mod from_doppler;
#[cfg(test)]
mod tests;

use crate::code::reed_solomon::Block;
use airpath_core::ConfigError;
use block::of_block;
pub use from_doppler::FadingChannel;

/// Probabilities of the good and the bad state.
type Vector = [f64; 2];
/// Probabilities by first state (row) and next state (column).
type Matrix = [Vector; 2];

/// A two-state chain with an error probability per state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorChain {
    /// 1 − γ, P(bad next | good now).
    p_good_to_bad: f64,
    /// 1 − β, P(good next | bad now).
    p_bad_to_good: f64,
    /// ε_G and ε_B, error probabilities of a unit.
    error: Vector,
}

/// Outcome of a packet, by the state before its first unit (row) and the state at its last unit
/// (column).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Probabilities that the packet is received and ends in this state.
    pub delivered: Matrix,
    /// Probabilities that the packet fails and ends in this state.
    pub failed: Matrix,
}

impl Outcome {
    /// Outcome of an empty packet: received, with the state unchanged.
    pub const NOTHING: Outcome =
        Outcome { delivered: [[1.0, 0.0], [0.0, 1.0]], failed: [[0.0; 2]; 2] };
}

impl ErrorChain {
    /// Creates a chain with these probabilities, each in [0, 1].
    ///
    /// # Errors
    /// If a probability is outside [0, 1], or the chain can leave neither state. The error's field
    /// is the argument's name.
    pub fn new(
        p_good_to_bad: f64,
        p_bad_to_good: f64,
        error_good: f64,
        error_bad: f64,
    ) -> Result<ErrorChain, ConfigError> {
        for (field, value) in [
            ("p_good_to_bad", p_good_to_bad),
            ("p_bad_to_good", p_bad_to_good),
            ("error_good", error_good),
            ("error_bad", error_bad),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(ConfigError::new(field, value, "not in [0, 1]"));
            }
        }
        if p_good_to_bad == 0.0 && p_bad_to_good == 0.0 {
            let problem = "neither state is ever left";
            return Err(ConfigError::new("p_good_to_bad", p_good_to_bad, problem));
        }
        Ok(ErrorChain { p_good_to_bad, p_bad_to_good, error: [error_good, error_bad] })
    }

    /// Returns 1 − γ, 1 − β, ε_G and ε_B.
    pub fn probabilities(&self) -> [f64; 4] {
        [self.p_good_to_bad, self.p_bad_to_good, self.error[0], self.error[1]]
    }

    /// Returns the stationary probabilities of the good and the bad state.
    pub fn shares(&self) -> [f64; 2] {
        let sum = self.p_good_to_bad + self.p_bad_to_good;
        [self.p_bad_to_good / sum, self.p_good_to_bad / sum]
    }

    /// Returns the mean lengths of runs in each state, units; infinite for a state that is never
    /// left.
    pub fn mean_runs(&self) -> [f64; 2] {
        [1.0 / self.p_good_to_bad, 1.0 / self.p_bad_to_good]
    }

    /// Returns the share of units in error.
    pub fn error_rate(&self) -> f64 {
        let shares = self.shares();
        shares[0] * self.error[0] + shares[1] * self.error[1]
    }

    /// Returns P(bad) after `units` moves, given the initial state.
    pub fn bad_after(&self, is_bad: bool, units: u64) -> f64 {
        let [good, bad] = self.shares();
        // (γ + β − 1)^units; the base may be negative.
        let remembered = libm::pow(1.0 - self.p_good_to_bad - self.p_bad_to_good, units as f64);
        if is_bad { bad + good * remembered } else { bad * (1.0 - remembered) }
    }

    /// Returns the transition probabilities over one unit, without and with an error in the unit.
    fn step(&self) -> [Matrix; 2] {
        let moves = [
            [1.0 - self.p_good_to_bad, self.p_good_to_bad],
            [self.p_bad_to_good, 1.0 - self.p_bad_to_good],
        ];
        let of = |error: [f64; 2]| moves.map(|row| [row[0] * error[0], row[1] * error[1]]);
        [of(self.error.map(|error| 1.0 - error)), of(self.error)]
    }

    /// Returns the outcome of `units` units without a code, by repeated squaring.
    fn run(&self, units: u64) -> Outcome {
        let [right, wrong] = self.step();
        let mut power = Outcome { delivered: right, failed: wrong };
        let (mut result, mut left) = (Outcome::NOTHING, units);
        while left > 0 {
            if left & 1 == 1 {
                result = result.then(&power);
            }
            power = power.then(&power);
            left >>= 1;
        }
        result
    }

    /// Returns φ(t, r) for r from 0 to t (eq. 1).
    pub fn received(&self, units: usize) -> Vec<f64> {
        self.received_by_state(units).into_iter().map(|[good, bad]| good + bad).collect()
    }

    /// Returns φ(t, r, G) and φ(t, r, B) for r from 0 to t (eqs. 2 to 4).
    pub fn received_by_state(&self, units: usize) -> Vec<[f64; 2]> {
        let [right, wrong] = self.step();
        let mut phi = vec![[0.0; 2]; units + 1];
        phi[0] = self.shares();
        for sent in 1..=units {
            for received in (0..=sent).rev() {
                let lost = if received < sent { times(phi[received], &wrong) } else { [0.0; 2] };
                let got = if received > 0 { times(phi[received - 1], &right) } else { [0.0; 2] };
                phi[received] = [lost[0] + got[0], lost[1] + got[1]];
            }
        }
        phi
    }

    /// Returns the outcome of a packet of `units` units without a code.
    pub fn outcome(&self, units: u64) -> Outcome {
        self.run(units)
    }

    /// Returns the outcome of a packet that consists of consecutive blocks. Each code symbol has
    /// `symbol_units` units. The packet fails if any block fails.
    pub fn coded_outcome(&self, blocks: &[Block], symbol_units: u64) -> Outcome {
        let symbol = self.run(symbol_units);
        let mut known: Option<(Block, Outcome)> = None;
        let mut all = Outcome::NOTHING;
        for block in blocks {
            let found = match known {
                Some((same, outcome)) if same == *block => outcome,
                _ => of_block(block, &symbol),
            };
            known = Some((*block, found));
            all = all.then(&found);
        }
        all
    }

    /// Returns the failure probability of a packet of `units` units without a code.
    pub fn packet_failure(&self, units: u64) -> f64 {
        self.failure(&self.outcome(units))
    }

    /// Returns the failure probability of a block of `symbols` symbols of `symbol_units` units
    /// each, if a code corrects up to `correctable` symbols.
    pub fn block_failure(&self, symbols: u64, correctable: u64, symbol_units: u64) -> f64 {
        let block = Block { data: symbols, symbols, correctable };
        self.failure(&self.coded_outcome(&[block], symbol_units))
    }

    /// Returns the failure probability of a packet with this outcome that begins at a random time.
    pub fn failure(&self, outcome: &Outcome) -> f64 {
        let [good, bad] = times(self.shares(), &outcome.failed);
        (good + bad).min(1.0)
    }
}

impl Outcome {
    /// Returns the sum of `delivered` and `failed`.
    fn any(&self) -> Matrix {
        add(&self.delivered, &self.failed)
    }

    /// Returns the outcome of two consecutive packets, which counts as received if both packets are
    /// received.
    fn then(&self, next: &Outcome) -> Outcome {
        Outcome {
            delivered: product(&self.delivered, &next.delivered),
            failed: add(
                &product(&self.failed, &next.any()),
                &product(&self.delivered, &next.failed),
            ),
        }
        .normalised()
    }

    /// Normalises the rows to a sum of 1, to prevent the accumulation of rounding errors.
    fn normalised(mut self) -> Outcome {
        for from in 0..2 {
            let sum: f64 = self.any()[from].iter().sum();
            for matrix in [&mut self.delivered, &mut self.failed] {
                matrix[from] = matrix[from].map(|probability| probability / sum);
            }
        }
        self
    }
}

fn times(row: Vector, matrix: &Matrix) -> Vector {
    [0, 1].map(|to| row[0] * matrix[0][to] + row[1] * matrix[1][to])
}

fn product(first: &Matrix, second: &Matrix) -> Matrix {
    first.map(|row| times(row, second))
}

fn add(first: &Matrix, second: &Matrix) -> Matrix {
    [0, 1].map(|from| [0, 1].map(|to| first[from][to] + second[from][to]))
}
