//! The constituent code: duo-binary, recursive, systematic, 8 states, circular.
//!
//! Feedback 1 + D + D³, parity Y 1 + D² + D³, parity W 1 + D³. A state is 4·s1 + 2·s2 + s3.
//!
//! Source: IEEE 802.16-2009 §8.4.9.2.3.1 (Figure 289), §8.4.9.2.3.3 (circulation states).

use std::ops::BitXor;

/// Number of states of the constituent code.
pub const STATES: usize = 8;

/// Transition of the encoder for one couple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// State after the couple.
    pub next: u8,
    /// Parity bit Y.
    pub y: bool,
    /// Parity bit W.
    pub w: bool,
}

/// Transitions: TRELLIS\[state]\[2·A + B].
pub const TRELLIS: [[Transition; 4]; STATES] = trellis();

const fn trellis() -> [[Transition; 4]; STATES] {
    let mut table = [[Transition { next: 0, y: false, w: false }; 4]; STATES];
    let mut state = 0;
    while state < STATES {
        let mut symbol = 0;
        while symbol < 4 {
            table[state][symbol] = transition(state as u8, symbol as u8);
            symbol += 1;
        }
        state += 1;
    }
    table
}

/// Evaluates the encoder's equations, modulo 2, for single bits.
const fn transition(state: u8, symbol: u8) -> Transition {
    let (s1, s2, s3) = (state >> 2 & 1, state >> 1 & 1, state & 1);
    let (a, b) = (symbol >> 1, symbol & 1);
    let d = a ^ b ^ s1 ^ s3;
    let next = d << 2 | (s1 ^ b) << 1 | (s2 ^ b);
    Transition { next, y: d ^ s2 ^ s3 == 1, w: d ^ s3 == 1 }
}

/// Bits with addition modulo 2: one bit of one block (`bool`), or one bit of each of 64 blocks
/// (`u64`).
pub trait Word: Copy + Default + BitXor<Output = Self> {}

impl Word for bool {}
impl Word for u64 {}

/// The three delay elements of a constituent encoder: s1, s2, s3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Registers<T>(pub(super) [T; 3]);

impl<T: Word> Registers<T> {
    /// Evaluates the encoder's equations: returns the registers after couple (a, b), Y and W.
    #[inline(always)]
    pub(super) fn step(self, a: T, b: T) -> (Registers<T>, T, T) {
        let Registers([s1, s2, s3]) = self;
        let d = a ^ b ^ (s1 ^ s3);
        (Registers([d, s1 ^ b, s2 ^ b]), d ^ s2 ^ s3, d ^ s3)
    }

    /// Returns the circulation state Sc of blocks of `couples` couples for which an encoder that
    /// starts in state 0 ends with these registers. Sc is linear in the final state, so that it is
    /// computed as a sum over the bits of the final state.
    pub(super) fn circulation(self, couples: usize) -> Registers<T> {
        let mut start = Registers::default();
        for (of_final, bit) in self.0.into_iter().zip([4, 2, 1]) {
            let share = circulation_state(couples, bit);
            for (to, bit) in start.0.iter_mut().zip([4, 2, 1]) {
                if share & bit != 0 {
                    *to = *to ^ of_final;
                }
            }
        }
        start
    }
}

/// Number of couples after which an encoder without input returns to its initial state.
const PERIOD: usize = 7;

/// Returns the circulation state Sc, for which the encoder ends a block in the state in which it
/// started. The block has `couples` couples, and an encoder that starts in state 0 ends it in
/// `final_state`. `couples` must not be a multiple of 7.
pub const fn circulation_state(couples: usize, final_state: u8) -> u8 {
    CIRCULATION[couples % PERIOD][final_state as usize]
}

/// Circulation states. Rows: N mod 7 (row 0 is not used); columns: the final state of an encoder
/// that starts in state 0.
const CIRCULATION: [[u8; STATES]; PERIOD] = [
    [0; STATES],
    [0, 6, 4, 2, 7, 1, 3, 5],
    [0, 3, 7, 4, 5, 6, 2, 1],
    [0, 5, 3, 6, 2, 7, 1, 4],
    [0, 4, 1, 5, 6, 2, 7, 3],
    [0, 2, 5, 7, 1, 3, 4, 6],
    [0, 7, 6, 1, 3, 4, 5, 2],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// phy-802.16-ctc §2.1: `next state/YW` by state, for AB = 00, 01, 10, 11.
    const PRINTED: [[&str; 4]; STATES] = [
        ["0/00", "7/11", "4/11", "3/00"],
        ["4/00", "3/11", "0/11", "7/00"],
        ["1/10", "6/01", "5/01", "2/10"],
        ["5/10", "2/01", "1/01", "6/10"],
        ["6/11", "1/00", "2/00", "5/11"],
        ["2/11", "5/00", "6/00", "1/11"],
        ["7/01", "0/10", "3/10", "4/01"],
        ["3/01", "4/10", "7/10", "0/01"],
    ];

    #[test]
    fn trellis_matches_table_of_section_8_4_9_2_3_1() {
        for (state, row) in TRELLIS.iter().enumerate() {
            for (symbol, to) in row.iter().enumerate() {
                let text = format!("{}/{}{}", to.next, u8::from(to.y), u8::from(to.w));
                assert_eq!(text, PRINTED[state][symbol], "state {state}, symbol {symbol}");
            }
        }
    }

    fn registers(state: u8) -> Registers<bool> {
        Registers([4, 2, 1].map(|bit| state & bit != 0))
    }

    #[test]
    fn registers_match_trellis() {
        for (state, row) in TRELLIS.iter().enumerate() {
            for (symbol, to) in row.iter().enumerate() {
                let found = registers(state as u8).step(symbol & 2 != 0, symbol & 1 != 0);
                assert_eq!(found, (registers(to.next), to.y, to.w));
            }
        }
    }

    #[test]
    fn circulation_states_are_linear_in_the_final_state() {
        for couples in (1..50).filter(|couples| couples % PERIOD != 0) {
            for state in 0..8 {
                let wanted = registers(circulation_state(couples, state));
                assert_eq!(registers(state).circulation(couples), wanted);
            }
        }
    }

    #[test]
    fn two_couples_reach_every_state() {
        for from in TRELLIS {
            let mut reached = [false; STATES];
            for first in from {
                for second in TRELLIS[usize::from(first.next)] {
                    reached[usize::from(second.next)] = true;
                }
            }
            assert_eq!(reached, [true; STATES]);
        }
    }

    #[test]
    fn circulation_states_solve_their_equation() {
        let zero_input = |state: u8, couples: usize| {
            (0..couples).fold(state, |state, _| TRELLIS[usize::from(state)][0].next)
        };
        for couples in (1..50).filter(|couples| couples % PERIOD != 0) {
            for final_state in 0..8 {
                let solutions: Vec<u8> = (0..8)
                    .filter(|&start| start == zero_input(start, couples) ^ final_state)
                    .collect();
                assert_eq!(solutions, [circulation_state(couples, final_state)], "N = {couples}");
            }
        }
    }

    #[test]
    fn zero_input_map_has_period_seven() {
        for state in 0..8 {
            let after = (0..PERIOD).fold(state, |state: u8, _| TRELLIS[usize::from(state)][0].next);
            assert_eq!(after, state);
        }
    }
}
