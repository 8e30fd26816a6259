//! Jakes' fading: SNR(t) = mean · |h(t)|², where h is the sum of G = 20 oscillators with fixed
//! frequencies.
//!
//! h(t) = √(2/G) Σ cos(ω_n t + φ_n) e^(jπn/G), ω_n = 2π f_d cos(π(n − ½)/(2G)), n = 1 … G
//!
//! Source: clamp-2008 §5.2, after Jakes, *Microwave Mobile Communications* (1974), §1.7. The phases
//! φ_n are uniform and independent for each user and oscillator. The paper's formula has no phases,
//! so that all users would have the same fading, which starts at 16 times the mean.
//!
//! Differs: the paper prints n + ½ instead of n − ½. Then ω_19 = −ω_20, and the mean power is 1 +
//! (2/G) cos(π/G) = 1.0988. `index = "printed"` selects the printed sum. Its cosines have no
//! phases; instead, each user has a separate time offset.
//!
//! Distribution over the random phases:
//!
//! * E|h|² = 1 and E|h|⁴ = 2 − 3/(2G).
//! * R(τ) = E h(t)h*(t+τ) = (1/G) Σ cos ω_n τ. For f_d τ up to 2 it equals J0(2π f_d τ) to 10⁻⁶.
//! * P(|h|² < x) = 1 − e^(−x)(1 + 3(x − x²/2)/(4G)), to first order.
//! * The process is not circular: P(τ) = E h(t)h(t+τ) reaches 0.5 in magnitude at f_d τ = 1.
//!   Therefore the covariance of the power is R² + |P|² − …, not J0². For a circular process, use
//!   `rayleigh`.

use super::motion::doppler_of;
use super::oscillators::{BySlots, Cosines, Lanes, Oscillator, total};
use super::{Sample, SnrContext, SnrProcess, check_level};
use crate::shannon::from_db;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Stream, Time};
use serde::Deserialize;
use std::f64::consts::{PI, TAU};

/// G, number of oscillators.
const G: usize = 20;

/// Range of the users' time offsets with the printed index, in periods of the maximum Doppler
/// shift. The slowest oscillator, at 0.039 times this frequency, also makes many turns in this
/// range.
const SPREAD_TURNS: f64 = 1e6;

/// Index that is used in the cosines of the oscillators' frequencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Index {
    /// Uses n − ½; the mean power is 1.
    #[default]
    Centred,
    /// Uses n + ½, as printed in the paper; the mean power is 1.0988.
    Printed,
}

/// Configuration: the Doppler shift, or the speed and the carrier frequency that determine the
/// Doppler shift.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JakesConfig {
    /// Mean SNR, dB, -200 to 200.
    pub mean_db: f64,
    /// f_d, largest Doppler shift, Hz, 0 to 100 000. With 0, the SNR is constant.
    #[serde(default)]
    pub doppler_hz: Option<f64>,
    /// Speed of the receiver, m/s, 0 to 10 000.
    #[serde(default)]
    pub speed_mps: Option<f64>,
    /// Carrier frequency, Hz, above 0, to 10¹².
    #[serde(default)]
    pub carrier_hz: Option<f64>,
    /// Index in the cosines of the frequencies. Default `centred`.
    #[serde(default)]
    pub index: Index,
}

/// Returns cos(π(n ∓ ½)/(2G)) for n from 1 to G: the frequencies of the oscillators relative to
/// f_d.
fn shifts(index: Index) -> [f64; G] {
    let half = match index {
        Index::Centred => -0.5,
        Index::Printed => 0.5,
    };
    std::array::from_fn(|place| libm::cos(PI * ((place + 1) as f64 + half) / (2.0 * G as f64)))
}

/// One realisation of the fading.
#[derive(Clone, Debug, PartialEq)]
pub struct Jakes {
    mean_db: f64,
    oscillators: [Oscillator; G],
    is_still: bool,
    by_slots: BySlots<Sum>,
}

impl Jakes {
    fn new(mean_db: f64, doppler_hz: f64, index: Index, stream: &mut Stream) -> Jakes {
        let own_turns = SPREAD_TURNS * stream.uniform();
        let oscillators = shifts(index).map(|shift| {
            let phase_turns = match index {
                Index::Centred => stream.uniform(),
                Index::Printed => own_turns * shift,
            };
            Oscillator { frequency_hz: doppler_hz * shift, phase_turns }
        });
        let is_still = doppler_hz == 0.0;
        Jakes { mean_db, oscillators, is_still, by_slots: BySlots::default() }
    }

    /// Returns h at time `at`: the in-phase and the quadrature part.
    fn gain_at(&self, at: Time) -> (f64, f64) {
        let seconds = at.as_secs_lossy();
        let (mut re, mut im) = (0.0, 0.0);
        for (place, oscillator) in self.oscillators.iter().enumerate() {
            let turns = oscillator.frequency_hz * seconds + oscillator.phase_turns;
            let cosine = libm::cos(TAU * (turns - libm::floor(turns)));
            let (of_im, of_re) = weight(place);
            re += of_re * cosine;
            im += of_im * cosine;
        }
        (re, im)
    }

    fn ratio_in_slots(&mut self, slot: u64, length: Duration) -> f64 {
        let Jakes { mean_db, oscillators, by_slots, .. } = self;
        by_slots.at(slot, || Sum::new(oscillators, *mean_db, length), Sum::power_at)
    }
}

/// Returns sine and cosine part of √(2/G) e^(jπn/G) for n = `place` + 1.
fn weight(place: usize) -> (f64, f64) {
    let (sin, cos) = libm::sincos(PI * (place + 1) as f64 / G as f64);
    let amplitude = libm::sqrt(2.0 / G as f64);
    (amplitude * sin, amplitude * cos)
}

/// The sum of the oscillators at the starts of slots.
#[derive(Clone, Debug, PartialEq)]
struct Sum {
    cosines: Cosines,
    /// Real and imaginary parts of the oscillators' amplitudes, scaled by the mean SNR.
    weights: Box<[[Lanes; 2]]>,
}

impl Sum {
    fn new(oscillators: &[Oscillator; G], mean_db: f64, length: Duration) -> Sum {
        let amplitude = libm::sqrt(from_db(mean_db));
        let weights: [(f64, f64); G] = std::array::from_fn(weight);
        let lanes = |some: &[(f64, f64)]| {
            let of = |part: fn(&(f64, f64)) -> f64| {
                std::array::from_fn(|lane| some.get(lane).map_or(0.0, part) * amplitude)
            };
            [of(|(_, re)| *re), of(|(im, _)| *im)]
        };
        let weights = weights.chunks(Lanes::default().len()).map(lanes).collect();
        Sum { cosines: Cosines::new(oscillators, length), weights }
    }

    #[inline]
    fn power_at(&mut self, slot: u64) -> f64 {
        let (mut re, mut im) = (Lanes::default(), Lanes::default());
        for (cosines, [of_re, of_im]) in self.cosines.at(slot).zip(&self.weights) {
            for lane in 0..cosines.len() {
                re[lane] += of_re[lane] * cosines[lane];
                im[lane] += of_im[lane] * cosines[lane];
            }
        }
        let (re, im) = (total(re), total(im));
        re * re + im * im
    }
}

impl Component<dyn SnrProcess + Send, SnrContext> for Jakes {
    type Config = JakesConfig;

    fn check(config: &JakesConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_level("mean_db", config.mean_db, &mut checks);
        let doppler_hz = doppler_of(config.doppler_hz, config.speed_mps, config.carrier_hz);
        checks.nested("", doppler_hz);
        checks.finish()
    }

    fn build(
        config: JakesConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<Jakes, ConfigError> {
        let JakesConfig { mean_db, doppler_hz, speed_mps, carrier_hz, index } = config;
        let doppler_hz = doppler_of(doppler_hz, speed_mps, carrier_hz)?;
        Ok(Jakes::new(mean_db, doppler_hz, index, &mut setup.seed.stream()))
    }
}

impl SnrProcess for Jakes {
    fn sample(&mut self, at: Time) -> Sample {
        let (re, im) = self.gain_at(at);
        let snr_db = self.mean_db + 10.0 * libm::log10(re * re + im * im);
        Sample { snr_db, until: if self.is_still { Time::NEVER } else { at } }
    }

    #[inline]
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        self.ratio_in_slots(slot, length)
    }

    #[inline]
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        self.ratio_in_slots(slot.saturating_add(1), length)
    }
}

#[cfg(test)]
mod tests;
