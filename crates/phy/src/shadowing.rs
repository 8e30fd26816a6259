//! Generates log-normal shadowing: the effect of hills and buildings on the mean received power of
//! a moving user. In dB, shadowing is a stationary Gaussian process whose correlation decreases
//! exponentially with the distance moved.
//!
//! E S(t) S(t+τ) = σ² exp(−v|τ|/d) = σ² exp(−|τ|/T)
//!
//! d is the distance at which the correlation is 1/e, v is the speed, and T = d/v.
//!
//! Source: Gudmundson, *Correlation model for shadow fading in mobile radio systems*, Electronics
//! Letters 27 (1991), eq. 1 and 2. Measured correlations are 0.82 at 100 m in a suburb (d = 504 m,
//! σ = 7.5 dB) and 0.3 at 10 m in a city (d = 8.3 m, σ = 4.3 dB). ITU-R M.1225 specifies a
//! correlation of one half at 20 m: d = 20 m / ln 2.
//!
//! The process is Markov (Ornstein–Uhlenbeck). It can be evaluated at any instant without
//! evaluating earlier instants. At multiples of T, its value is a sum of independent normal numbers
//! with weights e^(−k). Between two multiples, the interval is repeatedly halved: the value in the
//! middle is sampled from its conditional distribution given both ends. Each normal number belongs
//! to a fixed position. The distribution is exact at multiples of T/1024. Between them S is
//! constant; the steps have a standard deviation of 4.4 % of σ, and each corresponds to a few
//! centimetres of movement.
//!
//! Left out: correlation between base stations and between users; dependence on the position: a
//! user who returns to a position has different shadowing there.

use airpath_core::{Duration, Seed, Stream, Time};

/// Number of halvings of T.
const LEVELS: usize = 10;

/// Number of normal numbers in a value at a multiple of T; the first neglected number has the
/// weight e^(−37).
const MEMORY: u64 = 37;

/// Shadowing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Shadowing {
    deviation_db: f64,
    way: ShadowingState,
}

/// State of the process.
#[derive(Clone, Debug, PartialEq)]
enum ShadowingState {
    /// Without movement: one value, from a distribution with variance 1.
    Still(f64),
    Moving(Box<Bridge>),
}

impl Shadowing {
    /// Creates shadowing with the standard deviation `deviation_db` (σ, dB, at least 0), whose
    /// correlation decreases to 1/e in the time `coherence` (T, above 0). If `coherence` is `None`,
    /// the shadowing is constant.
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

    /// Returns S at `at`, dB, and the end (exclusive) of the interval in which S is constant.
    /// Instants may be in any order; ascending order is fastest.
    pub fn at(&mut self, at: Time) -> (f64, Time) {
        let (level, until) = match &mut self.way {
            ShadowingState::Still(level) => (*level, Time::NEVER),
            ShadowingState::Moving(_) if self.deviation_db == 0.0 => (0.0, Time::NEVER),
            ShadowingState::Moving(bridge) => bridge.at(at),
        };
        (self.deviation_db * level, until)
    }

    /// Returns S, dB, if it is constant: without movement, or if σ is 0.
    pub fn constant_db(&self) -> Option<f64> {
        match self.way {
            ShadowingState::Still(level) => Some(self.deviation_db * level),
            ShadowingState::Moving(_) => (self.deviation_db == 0.0).then_some(0.0),
        }
    }
}

/// Steps of the trapezoidal rule per standard deviation.
const STEPS: i32 = 16;
/// Half of the range of integration, in standard deviations.
const SPAN: i32 = 16;

/// Returns levels of shadowing with the standard deviation `deviation_db` (σ, dB, at least 0), and
/// their weights, whose sum is 1. The mean of a function of the SNR in dB over log-normal shadowing
/// is the sum of weights times values.
///
/// The levels are those of the trapezoidal rule in steps of σ/16 over ±16 σ; the density beyond is
/// 1e-57. For smooth functions, the error decreases exponentially with the step (Trefethen and
/// Weideman, *The exponentially convergent trapezoidal rule*, SIAM Review 56, 2014).
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

/// Returns the mean of `of`, a function of the SNR in dB, over log-normal shadowing around
/// `mean_db`; see [`levels`].
pub fn mean_over(mean_db: f64, deviation_db: f64, mut of: impl FnMut(f64) -> f64) -> f64 {
    let term = |(level_db, weight): (f64, f64)| weight * of(mean_db + level_db);
    levels(deviation_db).into_iter().map(term).sum()
}

/// Returns T for a correlation distance (correlation 1/e), m, and a speed in m/s; `None` at speed
/// 0.
pub fn coherence_of(correlation_m: f64, speed_mps: f64) -> Option<Duration> {
    let seconds = correlation_m / speed_mps;
    seconds.is_finite().then(|| Duration::from_secs_lossy(seconds).max(Duration::from_nanos(1)))
}

/// The process with variance 1, evaluated at multiples of T/1024.
#[derive(Clone, Debug, PartialEq)]
struct Bridge {
    /// T, ns.
    coherence_ns: u64,
    /// Keys of the random streams of each level; the first is for multiples of T.
    keys: [u64; LEVELS + 1],
    /// By level: the weight of each end in the mean of the middle, and the standard deviation of
    /// the middle.
    middles: [(f64, f64); LEVELS],
    /// The latest step: the multiple of T, and the number of the step after it.
    last: Option<(u64, u64)>,
    /// Both ends of the interval of each level that contains this step.
    ends: [(f64, f64); LEVELS + 1],
}

impl Bridge {
    fn new(coherence: Duration, stream: &mut Stream) -> Bridge {
        // For an interval of h T: E = (a + b)/(2 cosh(h/2)), variance tanh(h/2).
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

    /// Returns the value of a step.
    fn value(&mut self, whole: u64, step: u64) -> f64 {
        let known = match self.last {
            // The levels whose intervals are unchanged.
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

    /// Returns the value at `whole` times T: the sum Σ e^(−k) ε over the preceding normal numbers
    /// ε, scaled to variance 1.
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
