//! Generates flat Rayleigh fading with the classic Doppler spectrum of Clarke and Jakes.
//!
//! h(t) = N^(-1/2) Σ exp(j(2π f_d cos(α_n) t + φ_n)): N waves of equal power from directions α_n
//! with phases φ_n, all independent and uniformly distributed. The sampled channel is a function of
//! time that can be evaluated in any order.
//!
//! Source: Clarke, *A statistical theory of mobile-radio reception*, Bell System Technical Journal
//! 47 (1968). Over the realisations, E|h|² = 1 and E h(t)h*(t+τ) = J0(2π f_d τ) are exact for every
//! N. Over time, each realisation has |h|² = 1 on average.
//!
//! Differs: with a finite number of waves, deep fades are too rare. The density of |h|² at zero is
//! 1 − 1/(2N) times the exponential density, and E|h|⁴ = 2 − 1/N. A dozen waves thus underestimate
//! error rates by many per cent; with the default [`SINUSOIDS`] the difference is 0.8 %. Jakes'
//! fixed, symmetric directions are not used, because the two quadratures would have different
//! powers, and all channels would have the same spectrum.
//!
//! Left out: a line-of-sight component, delay spread, and correlation between channels
//! (realisations are independent).

use crate::snr::oscillators::Oscillator;
use airpath_core::Time;
use std::f64::consts::TAU;
use std::num::NonZeroUsize;

/// Default number of waves of a channel.
pub const SINUSOIDS: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// One wave: its Doppler shift, and its phase at time zero.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wave {
    shift_hz: f64,
    phase_turns: f64,
}

/// One realisation of a Rayleigh-fading channel with mean power 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Rayleigh {
    waves: Vec<Wave>,
    amplitude: f64,
}

impl Rayleigh {
    /// Creates a channel of [`SINUSOIDS`] waves with the maximum Doppler shift `doppler_hz` (f_d,
    /// Hz, at least 0; with 0, the channel is constant).
    ///
    /// `uniform` returns independent variates in [0, 1); each wave uses two. Equal variates give
    /// equal channels.
    pub fn new(doppler_hz: f64, uniform: impl FnMut() -> f64) -> Rayleigh {
        Rayleigh::with_sinusoids(SINUSOIDS, doppler_hz, uniform)
    }

    /// Creates a channel of `sinusoids` waves (N). With fewer than about 50 waves, deep fades are
    /// much too rare, see the module documentation.
    pub fn with_sinusoids(
        sinusoids: NonZeroUsize,
        doppler_hz: f64,
        mut uniform: impl FnMut() -> f64,
    ) -> Rayleigh {
        let mut wave =
            || Wave { shift_hz: doppler_hz * libm::cos(TAU * uniform()), phase_turns: uniform() };
        Rayleigh {
            waves: (0..sinusoids.get()).map(|_| wave()).collect(),
            amplitude: (sinusoids.get() as f64).sqrt().recip(),
        }
    }

    /// Returns h at time `at`: the in-phase and the quadrature part.
    pub fn gain_at(&self, at: Time) -> (f64, f64) {
        let seconds = at.as_secs_lossy();
        let (re, im) = self.waves.iter().fold((0.0, 0.0), |(re, im), wave| {
            // Complete turns are removed first, so that the phase is exact to 1e-7 turns over days.
            let turns = wave.shift_hz * seconds + wave.phase_turns;
            let (sin, cos) = libm::sincos(TAU * (turns - libm::floor(turns)));
            (re + cos, im + sin)
        });
        (self.amplitude * re, self.amplitude * im)
    }

    /// Returns the waves, for callers that compute their sum with another algorithm.
    pub(crate) fn oscillators(&self) -> Vec<Oscillator> {
        let oscillator =
            |wave: &Wave| Oscillator { frequency_hz: wave.shift_hz, phase_turns: wave.phase_turns };
        self.waves.iter().map(oscillator).collect()
    }

    /// Returns the power of each wave: 1/N.
    pub(crate) fn wave_power(&self) -> f64 {
        self.amplitude * self.amplitude
    }

    /// Returns |h|² at time `at`: the power gain, at least 0, with mean 1.
    pub fn power_at(&self, at: Time) -> f64 {
        let (re, im) = self.gain_at(at);
        re * re + im * im
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;
    use airpath_core::rng::Stream;
    use std::f64::consts::PI;

    const N: f64 = SINUSOIDS.get() as f64;
    const DOPPLER: f64 = 10.0;

    fn channel(seed: u64) -> Rayleigh {
        let mut stream = Stream::new(seed, 0, "rayleigh test");
        Rayleigh::new(DOPPLER, || stream.uniform())
    }

    const POWER: Law = Law {
        area: "Radio channel",
        source: "Rayleigh fading: the power is exponential with mean 1 (first order in 1/N, N waves)",
        allows: "five standard deviations of the mean over 40 000 seeds",
    };
    const FINITE: Law = Law {
        area: "Radio channel",
        source: "Rayleigh fading: what the finite number of waves changes of the exponential law",
        allows: "1 and 2 % of the probability",
    };
    const OVER_TIME: Law = Law {
        area: "Radio channel",
        source: "Rayleigh fading: the mean power over time, 14 800 cycles of one channel",
        allows: "5 %: one channel's waves are finite in number",
    };
    const JAKES: Law = Law {
        area: "Radio channel",
        source: "Clarke's and Jakes's autocorrelation of the gain: J0(2π f_d τ)",
        allows: "five standard deviations of the mean over 5000 seeds",
    };
    const RICE: Law = Law {
        area: "Radio channel",
        source: "Rice 1948; Jakes 1974 eqs. 1.3-35 and 1.3-41: crossings of a level and fades",
        allows: "8 %: some 5000 fades, of which sampling misses 1 or 2 %",
    };

    /// Returns the time of `cycles` periods of the largest shift.
    fn cycles(cycles: f64) -> Time {
        Time::from_nanos((cycles / DOPPLER * 1e9).round() as u64)
    }

    /// Returns P(|h|² < x) for N waves: the exponential distribution and the first term of its
    /// Laguerre series.
    fn power_cdf(x: f64) -> f64 {
        1.0 - (-x).exp() - (-x).exp() * (x - x * x / 2.0) / (2.0 * N)
    }

    /// Returns J0 from its power series, exact to 1e-9 for |x| < 10.
    fn j0(x: f64) -> f64 {
        let quarter = -x * x / 4.0;
        let mut term = 1.0;
        let mut sum = 1.0;
        for k in 1..60 {
            term *= quarter / f64::from(k * k);
            sum += term;
        }
        sum
    }

    /// Fails if a sample mean differs from `expected` by more than five of its standard deviations;
    /// the probability for a correct generator is below one in a million.
    #[track_caller]
    fn assert_mean(law: &Law, what: impl std::fmt::Display, samples: &[f64], expected: f64) {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let bound = 5.0 * (variance / count).sqrt();
        law.close(what, "", mean, expected, bound);
    }

    #[test]
    fn equal_variates_give_equal_channels() {
        assert_eq!(channel(1), channel(1));
        assert_ne!(channel(1).power_at(Time::ZERO), channel(2).power_at(Time::ZERO));
    }

    #[test]
    fn channel_is_constant_without_doppler() {
        let mut stream = Stream::new(3, 0, "rayleigh test");
        let frozen = Rayleigh::new(0.0, || stream.uniform());
        assert_eq!(frozen.gain_at(Time::ZERO), frozen.gain_at(Time::from_secs(1000)));
    }

    #[test]
    fn power_is_exponential_over_seeds() {
        let power: Vec<f64> = (0..40_000).map(|seed| channel(seed).power_at(cycles(1.7))).collect();
        let share = |test: &dyn Fn(f64) -> bool| -> Vec<f64> {
            power.iter().map(|&x| f64::from(u8::from(test(x)))).collect()
        };
        let squares: Vec<f64> = power.iter().map(|x| x * x).collect();
        assert_mean(&POWER, "mean of |h|²", &power, 1.0);
        assert_mean(&POWER, "mean of |h|⁴", &squares, 2.0 - 1.0 / N);
        assert_mean(&POWER, "P(|h|² < 0.1)", &share(&|x| x < 0.1), power_cdf(0.1));
        assert_mean(&POWER, "P(|h|² > 3)", &share(&|x| x > 3.0), 1.0 - power_cdf(3.0));
        // The finite number of waves changes the exponential distribution by at most 1 or 2 %.
        let exponential = 1.0 - (-0.1f64).exp();
        FINITE.close_relative("P(|h|² < 0.1)", "", power_cdf(0.1), exponential, 0.01);
        let exponential = (-3.0f64).exp();
        FINITE.close_relative("P(|h|² > 3)", "", 1.0 - power_cdf(3.0), exponential, 0.02);
    }

    #[test]
    fn power_has_mean_one_over_time() {
        for seed in 0..3 {
            let channel = channel(seed);
            let power = |step: u32| channel.power_at(cycles(f64::from(step) * 0.37));
            let mean = (0..40_000).map(power).sum::<f64>() / 40_000.0;
            OVER_TIME.close(format!("mean of |h|², seed {seed}"), "", mean, 1.0, 0.05);
        }
    }

    #[test]
    fn autocorrelation_is_the_bessel_function() {
        for lag in [0.05, 0.1, 0.2, 0.3827, 0.5, 0.75, 1.0, 1.3] {
            let product = |seed| {
                let channel = channel(seed);
                let (a, b) = channel.gain_at(Time::ZERO);
                let (c, d) = channel.gain_at(cycles(lag));
                (a * c + b * d, b * c - a * d)
            };
            let (real, imaginary): (Vec<f64>, Vec<f64>) = (0..5000).map(product).unzip();
            let expected = j0(2.0 * PI * lag);
            assert_mean(&JAKES, format!("real, f_d τ = {lag}"), &real, expected);
            assert_mean(&JAKES, format!("imaginary, f_d τ = {lag}"), &imaginary, 0.0);
        }
    }

    /// Returns two means over many channels: the number of upward crossings of the level ρ
    /// (amplitude relative to its root mean square) per cycle of f_d, and the time below the level
    /// per fade, cycles.
    fn fades(level: f64) -> (f64, f64) {
        const STEPS: u32 = 2500;
        const STEP: f64 = 0.02;
        let (mut crossings, mut below) = (0u32, 0u32);
        for seed in 0..120 {
            let channel = channel(seed);
            let mut was_below = false;
            for step in 0..STEPS {
                let power = channel.power_at(cycles(f64::from(step) * STEP));
                let is_below = power < level * level;
                below += u32::from(is_below);
                crossings += u32::from(was_below && !is_below);
                was_below = is_below;
            }
        }
        let observed = 120.0 * f64::from(STEPS) * STEP;
        let rate = f64::from(crossings) / observed;
        (rate, f64::from(below) * STEP / f64::from(crossings))
    }

    #[test]
    fn crossing_rate_and_fade_duration_follow_rice() {
        // Rice (1948), as in Jakes (1974) eqs. 1.3-35 and 1.3-41. Some 5000 fades per level;
        // sampling at f_d/50 misses 1 or 2 % of them.
        for level in [0.3f64, 0.5, 1.0] {
            let (rate, duration) = fades(level);
            let square = level * level;
            let rice_rate = (2.0 * PI).sqrt() * level * (-square).exp();
            let rice_duration = (square.exp() - 1.0) / (level * (2.0 * PI).sqrt());
            let what = format!("crossings of {level} per cycle");
            RICE.close_relative(what, "", rate, rice_rate, 0.08);
            let what = format!("mean time below {level}");
            RICE.close_relative(what, "cycles", duration, rice_duration, 0.08);
        }
    }
}
