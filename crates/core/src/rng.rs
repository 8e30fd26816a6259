//! Random number streams, identified by names.
//!
//! Every stochastic component has its own stream, derived from the master seed, the replication and
//! the name of the component. Therefore an additional component does not change the random numbers
//! of other components, and runs that compare algorithms use the same random numbers.

use crate::units::Duration;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A stream of random numbers (xoshiro256++, Blackman & Vigna 2019).
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Creates the stream of the component called `name`, for a replication of a run with
    /// `master_seed`.
    pub fn new(master_seed: u64, replication: u64, name: &str) -> Stream {
        let mut state = fnv1a(name);
        for word in [master_seed, replication] {
            state = SplitMix64::seed_from_u64(state ^ word).next_u64();
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Samples the uniform distribution on [0, 1). The result is a multiple of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns true with probability `p`. Uses no random number if `p` ≤ 0 or `p` ≥ 1.
    #[inline]
    pub fn bernoulli(&mut self, p: f64) -> bool {
        p > 0.0 && (p >= 1.0 || self.uniform() < p)
    }

    /// Samples the exponential distribution with mean 1.
    pub fn unit_exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// Samples the exponential distribution with the given mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        let unit = self.unit_exponential();
        Duration::from_secs_lossy(mean.as_secs_lossy() * unit)
    }

    /// Samples the normal distribution with mean 0 and variance 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Samples the uniform distribution on [`low`, `high`). Returns `low` if the interval is empty.
    pub fn uniform_duration(&mut self, low: Duration, high: Duration) -> Duration {
        let width = high.as_nanos().saturating_sub(low.as_nanos());
        Duration::from_nanos(low.as_nanos() + (self.uniform() * width as f64) as u64)
    }
}

/// Seed of a component: master seed, replication and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Master seed of the run.
    pub master: u64,
    /// Index of the replication.
    pub replication: u64,
    /// Component name, unique in its network: `bottleneck/queue`.
    pub name: String,
}

impl Seed {
    /// Creates the seed of the component called `name`.
    pub fn new(master: u64, replication: u64, name: impl Into<String>) -> Seed {
        Seed { master, replication, name: name.into() }
    }

    /// Returns the seed of a component inside this component.
    #[must_use]
    pub fn child(&self, name: &str) -> Seed {
        Seed::new(self.master, self.replication, [&self.name, "/", name].concat())
    }

    /// Returns the random stream of the component.
    pub fn stream(&self) -> Stream {
        Stream::new(self.master, self.replication, &self.name)
    }
}

/// Computes the 64-bit FNV-1a hash.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    #[test]
    fn stream_depends_only_on_seed_replication_and_name() {
        let first = |seed, replication, name| Stream::new(seed, replication, name).next_u64();
        let reference = first(1, 2, "flow 3");
        assert_eq!(reference, first(1, 2, "flow 3"));
        for other in [first(2, 2, "flow 3"), first(1, 3, "flow 3"), first(1, 2, "flow 4")] {
            assert_ne!(reference, other);
        }
        assert_ne!(first(2, 1, "flow 3"), first(1, 2, "flow 3"));
    }

    #[test]
    fn generator_returns_the_same_numbers_on_every_machine() {
        let mut stream = Stream::new(1, 0, "golden");
        let drawn: Vec<u64> = (0..3).map(|_| stream.next_u64()).collect();
        assert_eq!(drawn, GOLDEN);
    }

    const GOLDEN: [u64; 3] =
        [6_888_912_006_452_125_717, 4_076_659_472_944_024_116, 7_210_441_295_433_530_263];

    #[test]
    fn bernoulli_uses_no_random_number_for_certain_events() {
        let mut stream = Stream::new(1, 0, "x");
        let mut twin = stream.clone();
        assert!(!stream.bernoulli(0.0) && stream.bernoulli(1.0));
        assert_eq!(stream.next_u64(), twin.next_u64());
    }

    const NORMAL: Law = Law {
        area: "Statistics",
        source: "The normal law: mean 0, variance 1, fourth moment 3, and its tail beyond 2",
        allows: "five standard deviations of 200 000 draws",
    };

    #[test]
    fn normal_samples_have_the_expected_moments_and_tail() {
        let mut stream = Stream::new(7, 0, "normal");
        let count = 200_000.0;
        let draws: Vec<f64> = (0..200_000).map(|_| stream.normal()).collect();
        let mean_of = |f: &dyn Fn(f64) -> f64| draws.iter().map(|x| f(*x)).sum::<f64>() / count;
        let five = |variance: f64| 5.0 * (variance / count).sqrt();
        NORMAL.close("mean", "1", mean_of(&|x| x), 0.0, five(1.0));
        NORMAL.close("mean square", "1", mean_of(&|x| x * x), 1.0, five(2.0));
        NORMAL.close("mean fourth power", "1", mean_of(&|x| x.powi(4)), 3.0, five(96.0));
        let tail = 0.022_750_131_948;
        let beyond = mean_of(&|x| f64::from(u8::from(x > 2.0)));
        NORMAL.close("share above 2", "1", beyond, tail, five(tail * (1.0 - tail)));
    }

    const EXPONENTIAL: Law = Law {
        area: "Statistics",
        source: "The exponential law: mean 1 s, mean square 2 s²",
        allows: "five standard deviations of 200 000 draws",
    };

    #[test]
    fn exponential_samples_have_the_expected_mean_and_variance() {
        let mut stream = Stream::new(7, 0, "exp");
        let draws: Vec<f64> = (0..200_000)
            .map(|_| stream.exponential(Duration::from_secs(1)).as_secs_lossy())
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let square = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
        let count = draws.len() as f64;
        EXPONENTIAL.close("mean", "s", mean, 1.0, 5.0 / count.sqrt());
        EXPONENTIAL.close("mean square", "s²", square, 2.0, 5.0 * (20.0 / count).sqrt());
    }
}
