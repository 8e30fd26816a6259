//! Computes the values of oscillators at the starts of slots, with one multiplication and one
//! subtraction per oscillator and slot.
//!
//! cos θ(k+1) = 2 cos δ · cos θ(k) − cos θ(k−1), where δ is the angle per slot (Chebyshev's
//! recurrence). Every [`ANCHORED`] slots, the recurrence restarts from the exact cosine of the
//! angle. Therefore the cosine in a slot depends only on the index of the slot, not on earlier
//! samples. Rounding errors grow with the square of the number of slots since the restart, to at
//! most about 10⁻¹².
//!
//! The order of all operations is fixed, and operations are not fused, so that results are equal on
//! every machine.

use airpath_core::Duration;
use std::f64::consts::TAU;

/// Number of slots between two restarts of the recurrence.
const ANCHORED: u64 = 64;

/// Number of oscillators that are processed together.
const LANES: usize = 4;
pub(super) type Lanes = [f64; LANES];

/// An oscillator: its frequency, Hz, and its phase at time zero, turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Oscillator {
    pub(crate) frequency_hz: f64,
    pub(crate) phase_turns: f64,
}

/// State of [`LANES`] oscillators.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    /// 2 cos δ by lane.
    factor: Lanes,
    now: Lanes,
    /// Cosines in the preceding slot.
    before: Lanes,
}

/// Values for a restart of the recurrence.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Anchor {
    frequency_hz: f64,
    phase_turns: f64,
    /// cos δ and sin δ.
    slot: (f64, f64),
}

/// The cosines of oscillators.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cosines {
    states: Box<[State]>,
    anchors: Box<[Anchor]>,
    slot: Duration,
    /// Index of the current slot; `None` before the first sample.
    number: Option<u64>,
}

impl Cosines {
    /// Creates the cosines of `oscillators` at slots of duration `slot`.
    pub(super) fn new(oscillators: &[Oscillator], slot: Duration) -> Cosines {
        let anchor = |oscillator: &Oscillator| {
            let (sin, cos) = sincos_turns(oscillator.frequency_hz * slot.as_secs_lossy());
            let Oscillator { frequency_hz, phase_turns } = *oscillator;
            Anchor { frequency_hz, phase_turns, slot: (cos, sin) }
        };
        let anchors: Box<[Anchor]> = oscillators.iter().map(anchor).collect();
        let state = |some: &[Anchor]| {
            let factor = |lane: usize| some.get(lane).map_or(0.0, |anchor| 2.0 * anchor.slot.0);
            State { factor: std::array::from_fn(factor), now: [0.0; LANES], before: [0.0; LANES] }
        };
        let states = anchors.chunks(LANES).map(state).collect();
        Cosines { states, anchors, slot, number: None }
    }

    /// Returns the cosines at the start of slot number `number`, in groups of [`LANES`], padded
    /// with zeros.
    #[inline]
    pub(super) fn at(&mut self, number: u64) -> impl Iterator<Item = &Lanes> {
        let anchored = number - number % ANCHORED;
        let mut reached = match self.number {
            Some(reached) if (anchored..=number).contains(&reached) => reached,
            _ => {
                self.start(anchored);
                anchored
            }
        };
        while reached < number {
            self.step();
            reached += 1;
        }
        self.number = Some(number);
        self.states.iter().map(|state| &state.now)
    }

    #[inline]
    fn step(&mut self) {
        for State { factor, now, before } in &mut self.states {
            for lane in 0..LANES {
                let next = factor[lane] * now[lane] - before[lane];
                before[lane] = now[lane];
                now[lane] = next;
            }
        }
    }

    #[inline(never)]
    fn start(&mut self, number: u64) {
        let seconds = self.slot.saturating_mul(number).as_secs_lossy();
        for (state, anchors) in self.states.iter_mut().zip(self.anchors.chunks(LANES)) {
            for (lane, anchor) in anchors.iter().enumerate() {
                let (sin, cos) = sincos_turns(anchor.frequency_hz * seconds + anchor.phase_turns);
                state.now[lane] = cos;
                state.before[lane] = cos * anchor.slot.0 + sin * anchor.slot.1;
            }
        }
    }
}

/// Returns sine and cosine of an angle in turns. Complete turns are removed first.
fn sincos_turns(turns: f64) -> (f64, f64) {
    libm::sincos(TAU * (turns - libm::floor(turns)))
}

/// A sum of complex waves with amplitude 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Waves {
    cosines: Cosines,
    sines: Cosines,
}

impl Waves {
    /// Creates the sum of `waves` at slots of duration `slot`.
    pub(super) fn new(waves: &[Oscillator], slot: Duration) -> Waves {
        let behind =
            |wave: &Oscillator| Oscillator { phase_turns: wave.phase_turns - 0.25, ..*wave };
        let sines: Vec<Oscillator> = waves.iter().map(behind).collect();
        Waves { cosines: Cosines::new(waves, slot), sines: Cosines::new(&sines, slot) }
    }

    /// Returns the sum at the start of slot number `number`: the real and the imaginary part.
    #[inline]
    pub(super) fn at(&mut self, number: u64) -> (f64, f64) {
        (sum(self.cosines.at(number)), sum(self.sines.at(number)))
    }
}

fn sum<'a>(lanes: impl Iterator<Item = &'a Lanes>) -> f64 {
    let mut sums = [0.0; LANES];
    for some in lanes {
        for lane in 0..LANES {
            sums[lane] += some[lane];
        }
    }
    total(sums)
}

/// Returns the sum of the lanes.
#[inline]
pub(super) fn total(sums: Lanes) -> f64 {
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// State of a process that is a sum of oscillators and is sampled by slots.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BySlots<T> {
    sum: Option<Box<T>>,
    /// Index of the latest slot, and its power.
    last: Option<(u64, f64)>,
}

impl<T> Default for BySlots<T> {
    fn default() -> BySlots<T> {
        BySlots { sum: None, last: None }
    }
}

impl<T> BySlots<T> {
    /// Returns `power` in the slot at index `number`. `make` creates the sum of oscillators at the
    /// first call.
    #[inline]
    pub(super) fn at(
        &mut self,
        number: u64,
        make: impl FnOnce() -> T,
        power: impl FnOnce(&mut T, u64) -> f64,
    ) -> f64 {
        match self.last {
            Some((slot, power)) if slot == number => power,
            _ => {
                let sum = self.sum.get_or_insert_with(|| Box::new(make()));
                let power = power(sum, number);
                self.last = Some((number, power));
                power
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recurrence_equals_cosine_within_rounding() {
        let oscillators: Vec<Oscillator> = [0.0, 0.004, 0.6, 59.9, 166.6, 333.3, 1e5]
            .map(|frequency_hz| Oscillator { frequency_hz, phase_turns: 0.3 })
            .to_vec();
        let mut cosines = Cosines::new(&oscillators, Duration::from_millis(3));
        for number in (0..2000).chain([1_000_063, 1_000_064, 1_000_127]) {
            let found: Vec<f64> = cosines.at(number).flatten().copied().collect();
            assert_eq!(found.len(), 8);
            for (found, oscillator) in found.iter().zip(&oscillators) {
                let turns = oscillator.frequency_hz * 0.003 * number as f64 + 0.3;
                let expected = (TAU * turns.fract()).cos();
                assert!((found - expected).abs() < 1e-11 * (1.0 + turns), "{number}, {turns}");
            }
        }
    }

    #[test]
    fn waves_have_both_quadratures() {
        let waves = [0.1, 0.7].map(|phase_turns| Oscillator { frequency_hz: 5.0, phase_turns });
        let mut sum = Waves::new(&waves, Duration::from_millis(10));
        let (re, im) = sum.at(7);
        let angle = |turns: f64| TAU * (0.35 + turns);
        assert!((re - angle(0.1).cos() - angle(0.7).cos()).abs() < 1e-13);
        assert!((im - angle(0.1).sin() - angle(0.7).sin()).abs() < 1e-13);
    }
}
