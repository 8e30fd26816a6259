//! Soft-in, soft-out decoder: the BCJR algorithm on one constituent code, for many blocks in
//! parallel.
//!
//! Symbols are elements of GF(4). Inputs and outputs for the systematic part of a couple are three
//! log-likelihood ratios: of 01, 10 and 11 relative to 00. The trellis of a block is circular. The
//! recursions start with equal state metrics: the forward recursion one prologue before the first
//! couple, the backward recursion one prologue after the last couple.
//!
//! The trellis consists of two butterflies of four states each. If the states of a butterfly are
//! labelled by pairs of bits, symbol u leads from state x to state x ⊕ u: see [`SOURCES`].
//!
//! # No overflow
//!
//! Received ratios of A, B, Y and W are at most C = [`LLR_LIMIT`]. A systematic input is the sum of
//! the ratios of its bits and an extrinsic ratio of at most E = [`EXTRINSIC_LIMIT`]. The linear-log
//! algorithm adds at most c = [`CORRECTION`] each time it combines two branches. Therefore:
//!
//! * a branch metric is at most m = (2C + E) + 2C in magnitude, and two metrics of one couple
//!   differ by at most d = (2C + 2E) + 2C: the largest differences occur between 01 and 10, and in
//!   the parity;
//! * every state can be reached from every other state in two couples, and four branches lead to
//!   each state, so that metrics that began equal differ by at most r = 2·(d + 2c);
//! * after the metric of one state has been subtracted from all, metrics are at most r in
//!   magnitude, and grow by at most m + 2c per couple until the next subtraction, [`NORMALISATION`]
//!   couples later;
//! * a sum of a forward and a backward metric contains the growth over [`NORMALISATION`] − 1
//!   couples in total, plus the parity and three max* operations.

use super::lanes::Simd;
use crate::code::ctc::STATES;
use crate::code::{LLR_LIMIT, Llr};

/// Largest magnitude of an extrinsic ratio: 128 natural units minus one step.
pub(super) const EXTRINSIC_LIMIT: Llr = 1023;

/// Number of couples between two subtractions that keep the state metrics small. Block sizes are
/// multiples of this number.
pub(super) const NORMALISATION: usize = 4;

const _: () = {
    let (c, e, n) = (LLR_LIMIT as i32, EXTRINSIC_LIMIT as i32, NORMALISATION as i32);
    let correction = CORRECTION as i32;
    let growth = 4 * c + e + 2 * correction;
    let range = 2 * (4 * c + 2 * e + 2 * correction);
    assert!(range + n * growth <= i16::MAX as i32, "a recursion fits");
    let sum = 2 * range + (n - 1) * growth + 2 * c + 3 * correction;
    assert!(sum <= i16::MAX as i32, "a sum of both recursions fits");
};

/// SOURCES\[butterfly]\[x]: the state with label x on the left of a butterfly.
const SOURCES: [[usize; 4]; 2] = [[0, 6, 1, 7], [2, 4, 3, 5]];

/// TARGETS\[butterfly]\[x]: the state with label x on the right. Symbol u leads from x to x ⊕ u.
///
/// Y is 1 if A ⊕ B differs from the butterfly's index; W is 1 if A ⊕ B differs from x mod 2.
const TARGETS: [[usize; 4]; 2] = [[0, 7, 4, 3], [1, 6, 5, 2]];

/// Log-likelihood ratios of a couple: of 01, 10 and 11 relative to 00.
pub(super) type Symbols<V> = [V; 3];

/// Metrics of the eight states.
pub(super) type Metrics<V> = [V; STATES];

/// Branch metrics of one couple: for the parity only, and for parity and systematic part.
struct Branches<V> {
    /// Parity metrics by butterfly, x mod 2, and A ⊕ B.
    parity: [[[V; 2]; 2]; 2],
    /// Complete metrics by butterfly, x mod 2, and symbol.
    whole: [[[V; 4]; 2]; 2],
}

/// Inputs: systematic ratios, Y, and W if any bit of W is sent.
#[derive(Clone, Copy)]
pub(super) struct Received<'a, V> {
    pub(super) systematic: &'a [Symbols<V>],
    pub(super) y: &'a [V],
    pub(super) w: &'a [V],
}

/// The algorithm on vectors of `S`. max* is CML's linear approximation if `LINEAR`, else the
/// maximum. `W` is true if any bit of W is sent.
#[derive(Clone, Copy)]
pub(super) struct Siso<S, const LINEAR: bool, const W: bool> {
    pub(super) simd: S,
    /// Couples of the prologue: a multiple of [`NORMALISATION`], at most the block size.
    pub(super) prologue: usize,
}

impl<S: Simd, const LINEAR: bool, const W: bool> Siso<S, LINEAR, W> {
    /// Runs over the circle. Calls `put` with each couple and its extrinsic ratios, starting with
    /// the last couple. `alphas` is a buffer for the forward metrics of every couple.
    #[inline(always)]
    pub(super) fn run(
        self,
        received: Received<'_, S::Vector>,
        alphas: &mut [Metrics<S::Vector>],
        mut put: impl FnMut(usize, Symbols<S::Vector>),
    ) {
        let couples = alphas.len();
        let all_equal = [self.simd.splat(0); STATES];
        let mut alpha = all_equal;
        for start in (couples - self.prologue..couples).step_by(NORMALISATION) {
            for k in start..start + NORMALISATION {
                alpha = self.forward(&alpha, &self.branches(received, k));
            }
            alpha = self.normalised(alpha);
        }
        for start in (0..couples).step_by(NORMALISATION) {
            for (k, place) in (start..).zip(&mut alphas[start..start + NORMALISATION]) {
                *place = alpha;
                alpha = self.forward(&alpha, &self.branches(received, k));
            }
            alpha = self.normalised(alpha);
        }
        let mut beta = all_equal;
        for start in (0..self.prologue).step_by(NORMALISATION).rev() {
            for k in (start..start + NORMALISATION).rev() {
                beta = self.backward(&beta, &self.branches(received, k));
            }
            beta = self.normalised(beta);
        }
        for start in (0..couples).step_by(NORMALISATION).rev() {
            for k in (start..start + NORMALISATION).rev() {
                let branches = self.branches(received, k);
                put(k, self.extrinsic(&alphas[k], &beta, &branches));
                beta = self.backward(&beta, &branches);
            }
            beta = self.normalised(beta);
        }
    }

    #[inline(always)]
    fn branches(self, received: Received<'_, S::Vector>, k: usize) -> Branches<S::Vector> {
        let zero = self.simd.splat(0);
        let [s01, s10, s11] = received.systematic[k];
        let systematic = [zero, s01, s10, s11];
        let y = [zero, received.y[k]];
        let mut parity = [[[zero; 2]; 2]; 2];
        let mut whole = [[[zero; 4]; 2]; 2];
        for butterfly in 0..2 {
            for half in 0..2 {
                for odd in 0..2 {
                    parity[butterfly][half][odd] = y[butterfly ^ odd];
                    if W && half != odd {
                        parity[butterfly][half][odd] =
                            self.simd.plus(y[butterfly ^ odd], received.w[k]);
                    }
                }
                for symbol in 0..4 {
                    whole[butterfly][half][symbol] =
                        self.simd.plus(systematic[symbol], parity[butterfly][half][is_odd(symbol)]);
                }
            }
        }
        Branches { parity, whole }
    }

    /// Runs the forward recursion over one couple.
    #[inline(always)]
    fn forward(
        self,
        alpha: &Metrics<S::Vector>,
        branches: &Branches<S::Vector>,
    ) -> Metrics<S::Vector> {
        let mut next = *alpha;
        for butterfly in 0..2 {
            let [s0, s1, s2, s3] = SOURCES[butterfly];
            let [even, odd] = &branches.whole[butterfly];
            for target in 0..4 {
                next[TARGETS[butterfly][target]] = self.max_star_4(
                    self.simd.plus(alpha[s0], even[target]),
                    self.simd.plus(alpha[s1], odd[target ^ 1]),
                    self.simd.plus(alpha[s2], even[target ^ 2]),
                    self.simd.plus(alpha[s3], odd[target ^ 3]),
                );
            }
        }
        next
    }

    /// Runs the backward recursion over one couple.
    #[inline(always)]
    fn backward(
        self,
        beta: &Metrics<S::Vector>,
        branches: &Branches<S::Vector>,
    ) -> Metrics<S::Vector> {
        let mut before = *beta;
        for butterfly in 0..2 {
            let targets = TARGETS[butterfly];
            for source in 0..4 {
                let branch = &branches.whole[butterfly][source & 1];
                before[SOURCES[butterfly][source]] = self.max_star_4(
                    self.simd.plus(beta[targets[source]], branch[0]),
                    self.simd.plus(beta[targets[source ^ 1]], branch[1]),
                    self.simd.plus(beta[targets[source ^ 2]], branch[2]),
                    self.simd.plus(beta[targets[source ^ 3]], branch[3]),
                );
            }
        }
        before
    }

    /// Returns the extrinsic ratios of a couple, which contain all paths through a symbol without
    /// its systematic part.
    #[inline(always)]
    fn extrinsic(
        self,
        alpha: &Metrics<S::Vector>,
        beta: &Metrics<S::Vector>,
        branches: &Branches<S::Vector>,
    ) -> Symbols<S::Vector> {
        let none = self.through(0, alpha, beta, branches);
        [
            self.simd.minus(self.through(1, alpha, beta, branches), none),
            self.simd.minus(self.through(2, alpha, beta, branches), none),
            self.simd.minus(self.through(3, alpha, beta, branches), none),
        ]
    }

    /// Returns the combined metric of all paths through a symbol.
    #[inline(always)]
    fn through(
        self,
        symbol: usize,
        alpha: &Metrics<S::Vector>,
        beta: &Metrics<S::Vector>,
        branches: &Branches<S::Vector>,
    ) -> S::Vector {
        self.max_star(
            self.through_butterfly(0, symbol, alpha, beta, branches),
            self.through_butterfly(1, symbol, alpha, beta, branches),
        )
    }

    #[inline(always)]
    fn through_butterfly(
        self,
        butterfly: usize,
        symbol: usize,
        alpha: &Metrics<S::Vector>,
        beta: &Metrics<S::Vector>,
        branches: &Branches<S::Vector>,
    ) -> S::Vector {
        let ([s0, s1, s2, s3], targets) = (SOURCES[butterfly], TARGETS[butterfly]);
        let [even, odd] = &branches.parity[butterfly];
        let a = self.simd.plus(alpha[s0], beta[targets[symbol]]);
        let b = self.simd.plus(alpha[s1], beta[targets[symbol ^ 1]]);
        let c = self.simd.plus(alpha[s2], beta[targets[symbol ^ 2]]);
        let d = self.simd.plus(alpha[s3], beta[targets[symbol ^ 3]]);
        if W {
            self.max_star(
                self.simd.plus(self.max_star(a, c), even[is_odd(symbol)]),
                self.simd.plus(self.max_star(b, d), odd[is_odd(symbol)]),
            )
        } else {
            self.simd.plus(self.max_star_4(a, b, c, d), even[is_odd(symbol)])
        }
    }

    #[inline(always)]
    fn normalised(self, mut metrics: Metrics<S::Vector>) -> Metrics<S::Vector> {
        let first = metrics[0];
        for metric in &mut metrics {
            *metric = self.simd.minus(*metric, first);
        }
        metrics
    }

    #[inline(always)]
    fn max_star_4(self, a: S::Vector, b: S::Vector, c: S::Vector, d: S::Vector) -> S::Vector {
        self.max_star(self.max_star(a, b), self.max_star(c, d))
    }

    /// Returns max*(a, b), an approximation of log(exp a + exp b).
    #[inline(always)]
    pub(super) fn max_star(self, a: S::Vector, b: S::Vector) -> S::Vector {
        let larger = self.simd.max(a, b);
        if !LINEAR {
            return larger;
        }
        let difference = self.simd.minus(larger, self.simd.min(a, b));
        let below = self.simd.minus(self.simd.splat(LINEAR_END), difference);
        self.simd.plus(larger, self.simd.quarter(self.simd.max(below, self.simd.splat(0))))
    }
}

/// Zero of CML's line 0.24904·(2.50682 − x), in steps, plus two steps for rounding. The slope used
/// here is a quarter.
const LINEAR_END: i16 = 22;

/// The largest correction of the linear-log algorithm.
const CORRECTION: i16 = LINEAR_END / 4;

/// Returns A ⊕ B of a symbol.
const fn is_odd(symbol: usize) -> usize {
    (symbol ^ (symbol >> 1)) & 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::ctc::TRELLIS;

    #[test]
    fn butterflies_match_trellis() {
        for butterfly in 0..2 {
            for x in 0..4 {
                for symbol in 0..4 {
                    let branch = TRELLIS[SOURCES[butterfly][x]][symbol];
                    assert_eq!(usize::from(branch.next), TARGETS[butterfly][x ^ symbol]);
                    assert_eq!(branch.y, is_odd(symbol) != butterfly);
                    assert_eq!(branch.w, is_odd(symbol) != x % 2);
                }
            }
        }
    }
}
