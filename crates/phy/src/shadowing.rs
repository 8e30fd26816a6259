//! Log-normal shadowing: the effect of hills and houses on the mean power along the path, in dB a
//! stationary Gaussian process whose correlation falls exponentially with the distance.
//!
//! E S(t) S(t+τ) = σ² exp(−v|τ|/d) = σ² exp(−|τ|/T)
//!
//! d is the way over which the correlation falls to 1/e, v the speed, T = d/v.
//!
//! Source: Gudmundson, *Correlation model for shadow fading in mobile radio systems*, Electronics
//! Letters 27 (1991), eq. 1 and 2. He measures 0.82 at 100 m in a suburb (d = 504 m, σ = 7.5 dB) and
//! 0.3 at 10 m in a city (d = 8.3 m, σ = 4.3 dB). ITU-R M.1225 says 20 m after which half of the
//! correlation is left: d = 20 m / ln 2.
//!
//! The process is Markov (Ornstein–Uhlenbeck) and is drawn so that any instant can be sampled
//! without those before it: at whole T it is a sum over independent normal numbers, weights e^(−k);
//! between two such instants it is halved again and again, the middle from its conditional
//! distribution given both ends; each number belongs to its place. At multiples of T/1024 that is
//! the exact distribution, and S holds from each to the next: in steps of 4.4 % of σ, some
//! centimetres of movement.
//!
//! Left out: correlation between base stations and between users; dependence on the place, so that
//! who comes back meets other shadows.

use airpath_core::{Duration, Seed, Stream, Time};

/// Halvings of T.
const LEVELS: usize = 10;

/// Normal numbers of which a value at whole T is made: what is left out has weight e^(−37).
const MEMORY: u64 = 37;

/// Shadowing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Shadowing {
    deviation_db: f64,
    way: ShadowingState,
}

/// How it changes.
#[derive(Clone, Debug, PartialEq)]
enum ShadowingState {
    /// No movement: one value, of variance 1.
    Still(f64),
    Moving(Box<Bridge>),
}

impl Shadowing {
    /// Shadowing with the standard deviation `deviation_db` (σ, dB, at least 0), which forgets in
    /// `coherence` (T, above 0): after that time 1/e of the correlation is left. `None`: it stays.
    pub fn new(deviation_db: f64, coherence: Option<Duration>, seed: &Seed) -> Shadowing {
        let mut stream = seed.stream();
        let way = match coherence {
            Some(coherence) => {
                ShadowingState::Moving(Box::new(Bridge::new(coherence, &mut stream)))
            }
            None => ShadowingState::Still(stream.normal()),
        };
        Shadowing { deviation_db, way }
    }

    /// S at `at`, dB, and until when (exclusive) it stays. Any order of instants is possible, that
    /// of time is fastest.
    pub fn at(&mut self, at: Time) -> (f64, Time) {
        let (level, until) = match &mut self.way {
            ShadowingState::Still(level) => (*level, Time::NEVER),
            ShadowingState::Moving(_) if self.deviation_db == 0.0 => (0.0, Time::NEVER),
            ShadowingState::Moving(bridge) => bridge.at(at),
        };
        (self.deviation_db * level, until)
    }

    /// S, dB, where it never changes: without movement, or if σ is 0.
    pub fn constant_db(&self) -> Option<f64> {
        match self.way {
            ShadowingState::Still(level) => Some(self.deviation_db * level),
            ShadowingState::Moving(_) => (self.deviation_db == 0.0).then_some(0.0),
        }
    }
}

/// Steps of the trapezoidal rule in a standard deviation, and how many deviations it spans.
const STEPS: i32 = 16;
const SPAN: i32 = 16;

/// Levels of shadowing with the standard deviation `deviation_db` (σ, dB, at least 0), and their weights, whose sum
/// is 1: the mean over log-normal shadowing of a function of the SNR in dB is the sum of weights times values.
///
/// By the trapezoidal rule in steps of σ/16 over ±16 σ, beyond which 1e-57 of the density is: for smooth functions
/// its error falls exponentially with the step (Trefethen and Weideman, *The exponentially convergent trapezoidal
/// rule*, SIAM Review 56, 2014).
pub fn levels(deviation_db: f64) -> Vec<(f64, f64)> {
    if deviation_db == 0.0 {
        return vec![(0.0, 1.0)];
    }
    let density = |step: i32| {
        let x = f64::from(step) / f64::from(STEPS);
        (x * deviation_db, libm::exp(-0.5 * x * x))
    };
    let mut all: Vec<(f64, f64)> = (-STEPS * SPAN..=STEPS * SPAN).map(density).collect();
    let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
    all.iter_mut().for_each(|(_, weight)| *weight /= sum);
    all
}

/// The mean of `of`, a function of the SNR in dB, over log-normal shadowing about `mean_db`; see [`levels`].
pub fn mean_over(mean_db: f64, deviation_db: f64, mut of: impl FnMut(f64) -> f64) -> f64 {
    let term = |(level_db, weight): (f64, f64)| weight * of(mean_db + level_db);
    levels(deviation_db).into_iter().map(term).sum()
}

/// T, after the way over which the correlation falls to 1/e, m, at a speed in m/s; `None` at 0.
pub fn coherence_of(correlation_m: f64, speed_mps: f64) -> Option<Duration> {
    let seconds = correlation_m / speed_mps;
    seconds.is_finite().then(|| Duration::from_secs_lossy(seconds).max(Duration::from_nanos(1)))
}

/// The process with variance 1, at multiples of T/1024.
#[derive(Clone, Debug, PartialEq)]
struct Bridge {
    /// T.
    coherence_ns: u64,
    /// Keys of the random streams of each level, first those of whole T.
    keys: [u64; LEVELS + 1],
    /// By level: what an end counts in the mean of the middle, and the deviation from it.
    middles: [(f64, f64); LEVELS],
    /// The latest step: whole T, and its number within.
    last: Option<(u64, u64)>,
    /// Both ends of the interval of each level that this step is in.
    ends: [(f64, f64); LEVELS + 1],
}

impl Bridge {
    fn new(coherence: Duration, stream: &mut Stream) -> Bridge {
        // Of an interval of h T: E = (a + b)/(2 cosh(h/2)), variance tanh(h/2).
        let middle = |level: usize| {
            let half = 0.5 / (1u64 << level) as f64;
            (0.5 / libm::cosh(half), libm::sqrt(libm::tanh(half)))
        };
        Bridge {
            coherence_ns: coherence.as_nanos(),
            keys: std::array::from_fn(|_| stream.next_u64()),
            middles: std::array::from_fn(middle),
            last: None,
            ends: [(0.0, 0.0); LEVELS + 1],
        }
    }

    fn at(&mut self, at: Time) -> (f64, Time) {
        let whole = at.as_nanos() / self.coherence_ns;
        let offset = u128::from(at.as_nanos() % self.coherence_ns) << LEVELS;
        let step = (offset / u128::from(self.coherence_ns)) as u64;
        let ends = (u128::from(step + 1) * u128::from(self.coherence_ns)).div_ceil(1 << LEVELS);
        let until = (whole * self.coherence_ns).saturating_add(ends as u64);
        (self.value(whole, step), Time::from_nanos(until))
    }

    /// The value of a step.
    fn value(&mut self, whole: u64, step: u64) -> f64 {
        let known = match self.last {
            // The levels whose interval is the same.
            Some((other, before)) if other == whole => {
                LEVELS - (u64::BITS - (before ^ step).leading_zeros()) as usize
            }
            Some((other, _)) if other.wrapping_add(1) == whole => {
                self.ends[0] = (self.ends[0].1, self.at_whole(whole.wrapping_add(1)));
                0
            }
            _ => {
                self.ends[0] = (self.at_whole(whole), self.at_whole(whole.wrapping_add(1)));
                0
            }
        };
        for level in known..LEVELS {
            let (left, right) = self.ends[level];
            let interval = (whole << level).wrapping_add(step >> (LEVELS - level));
            let (weight, deviation) = self.middles[level];
            let middle = weight * (left + right) + deviation * self.normal(level + 1, interval);
            let is_right = (step >> (LEVELS - 1 - level)) & 1 == 1;
            self.ends[level + 1] = if is_right { (middle, right) } else { (left, middle) };
        }
        self.last = Some((whole, step));
        self.ends[LEVELS].0
    }

    /// The value after `whole` times T: Σ e^(−k) ε of the numbers before, scaled to variance 1.
    fn at_whole(&self, whole: u64) -> f64 {
        let decay = libm::exp(-1.0);
        let sum = (0..MEMORY)
            .fold(0.0, |sum, place| decay * sum + self.normal(0, whole.wrapping_add(place)));
        sum * libm::sqrt(1.0 - decay * decay)
    }

    fn normal(&self, level: usize, place: u64) -> f64 {
        Stream::new(self.keys[level], place, "shadowing").normal()
    }
}

#[cfg(test)]
mod tests;
