//! Reference decoder in floating point, written only from phy-802.16-ctc §4 and the trellis. It
//! decodes one block, without vectors, butterflies and normalisation.

use super::super::{Algorithm, Code};
use crate::code::ctc::{STATES, TRELLIS, interleaver};

/// Ratios of the symbols 00, 01, 10 and 11; the first ratio is 0.
type Symbols = [f64; 4];

pub(super) struct Reference {
    couples: usize,
    interleaver: Vec<usize>,
    sending_order: Vec<u32>,
    coded_bits: usize,
    prologue: usize,
    /// Largest magnitude of an extrinsic ratio.
    limit: f64,
    algorithm: Algorithm,
}

impl Reference {
    /// Creates a decoder in natural units, without a limit on extrinsic ratios, with the entire
    /// circle as prologue.
    pub(super) fn in_nats(code: &Code, coded_bits: usize, algorithm: Algorithm) -> Reference {
        let couples = code.size().couples;
        Reference {
            couples,
            interleaver: interleaver(code.size()),
            sending_order: code.sending_order().to_vec(),
            coded_bits,
            prologue: couples,
            limit: f64::INFINITY,
            algorithm,
        }
    }

    /// Creates a max-log decoder on integers, with the decoder's limit and prologue.
    pub(super) fn in_steps(code: &Code, coded_bits: usize) -> Reference {
        let prologue = code.size().couples.min(48);
        let nats = Reference::in_nats(code, coded_bits, Algorithm::MaxLog);
        Reference { prologue, limit: 1023.0, ..nats }
    }

    /// Returns the decided bits after one, two, three … iterations.
    pub(super) fn decisions(&self, llrs: &[f64]) -> impl Iterator<Item = Vec<bool>> {
        let n = self.couples;
        let mut received = vec![0.0; 6 * n];
        for (&place, &llr) in self.sending_order[..self.coded_bits].iter().zip(llrs) {
            received[place as usize] = llr;
        }
        let channel: Vec<Symbols> = (0..n)
            .map(|k| [0.0, received[n + k], received[k], received[k] + received[n + k]])
            .collect();
        let mut second_extrinsic = vec![[0.0; 4]; n];
        std::iter::repeat_with(move || {
            let first_input = added(&channel, &second_extrinsic);
            let first_extrinsic =
                self.extrinsic(&first_input, &received[2 * n..], &received[4 * n..]);
            let second_input = self.interleaved(&added(&channel, &first_extrinsic));
            let extrinsic = self.extrinsic(&second_input, &received[3 * n..], &received[5 * n..]);
            second_extrinsic = self.deinterleaved(&extrinsic);
            let output = self.deinterleaved(&added(&second_input, &extrinsic));
            output
                .iter()
                .flat_map(|&[none, b, a, both]| {
                    [
                        self.join(a, both) > self.join(none, b),
                        self.join(b, both) > self.join(none, a),
                    ]
                })
                .collect()
        })
    }

    fn interleaved(&self, natural: &[Symbols]) -> Vec<Symbols> {
        self.interleaver.iter().map(|&k| exchanged_if_odd(k, natural[k])).collect()
    }

    fn deinterleaved(&self, interleaved: &[Symbols]) -> Vec<Symbols> {
        let mut natural = vec![[0.0; 4]; self.couples];
        for (&k, &symbols) in self.interleaver.iter().zip(interleaved) {
            natural[k] = exchanged_if_odd(k, symbols);
        }
        natural
    }

    /// Runs the BCJR algorithm; returns the information about each couple from its parity and its
    /// neighbours.
    fn extrinsic(&self, input: &[Symbols], y: &[f64], w: &[f64]) -> Vec<Symbols> {
        let n = self.couples;
        let parity = |k: usize, state: usize, symbol: usize| {
            let branch = TRELLIS[state][symbol];
            f64::from(u8::from(branch.y)) * y[k] + f64::from(u8::from(branch.w)) * w[k]
        };
        let branch =
            |k: usize, state: usize, symbol: usize| input[k][symbol] + parity(k, state, symbol);
        let next = |state: usize, symbol: usize| usize::from(TRELLIS[state][symbol].next);

        let mut alphas = vec![[0.0; STATES]; n];
        let mut alpha = [0.0; STATES];
        for k in (n - self.prologue..n).chain(0..n) {
            alphas[k] = alpha;
            alpha = [f64::NEG_INFINITY; STATES];
            for state in 0..STATES {
                for symbol in 0..4 {
                    let to = &mut alpha[next(state, symbol)];
                    *to = self.join(*to, alphas[k][state] + branch(k, state, symbol));
                }
            }
        }
        let mut beta = [0.0; STATES];
        let mut output = vec![[0.0; 4]; n];
        for k in (0..n).chain(0..self.prologue).rev() {
            let mut totals = [f64::NEG_INFINITY; 4];
            let mut before = [f64::NEG_INFINITY; STATES];
            for state in 0..STATES {
                for symbol in 0..4 {
                    let behind = beta[next(state, symbol)];
                    let path = alphas[k][state] + parity(k, state, symbol) + behind;
                    totals[symbol] = self.join(totals[symbol], path);
                    let through = branch(k, state, symbol) + behind;
                    before[state] = self.join(before[state], through);
                }
            }
            beta = before;
            output[k] = totals.map(|total| (total - totals[0]).clamp(-self.limit, self.limit));
        }
        output
    }

    /// Returns max*(a, b).
    fn join(&self, a: f64, b: f64) -> f64 {
        if a == f64::NEG_INFINITY || b == f64::NEG_INFINITY {
            return a.max(b);
        }
        match self.algorithm {
            Algorithm::MaxLog => a.max(b),
            Algorithm::LinearLog => a.max(b) + (0.24904 * (2.50682 - (a - b).abs())).max(0.0),
        }
    }
}

fn added(a: &[Symbols], b: &[Symbols]) -> Vec<Symbols> {
    a.iter().zip(b).map(|(a, b)| std::array::from_fn(|symbol| a[symbol] + b[symbol])).collect()
}

/// Swaps A and B in couples with an odd index.
fn exchanged_if_odd(k: usize, [none, b, a, both]: Symbols) -> Symbols {
    if k % 2 == 1 { [none, a, b, both] } else { [none, b, a, both] }
}
