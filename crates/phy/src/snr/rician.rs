//! Flat Rician fading: SNR(t) = mean · |h(t)|², where h is the sum of a line-of-sight path and a
//! scattered part.
//!
//! h(t) = √(K/(K+1)) e^(j(2π f_d cos(θ) t + φ)) + √(1/(K+1)) g(t)
//!
//! K is the ratio of the powers, θ is the angle between the motion and the line of sight, φ is a
//! uniformly distributed phase, and g is a channel with Clarke's spectrum (the 64 waves of
//! [`Rayleigh`]).
//!
//! Source: Rice, *Statistical properties of a sine wave plus random noise*, Bell System Technical
//! Journal 27 (1948); the Doppler shift of the line of sight as in Stüber, *Principles of Mobile
//! Communication* (4th ed., 2017).
//!
//! Distribution over the realisations with N = 64 waves: E|h|² = 1, E|h|⁴ = (K² + 4K + 2 −
//! 1/N)/(K+1)², E h*(t)h(t+τ) = (K e^(j2π f_d cos(θ) τ) + J0(2π f_d τ))/(K+1). The power has the
//! noncentral χ² distribution with two degrees of freedom, to first order in 1/N.

use super::motion::doppler_of;
use super::oscillators::{BySlots, Oscillator, Waves};
use super::{Sample, SnrContext, SnrProcess, check_level};
use crate::rayleigh::Rayleigh;
use crate::shannon::from_db;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Stream, Time};
use serde::Deserialize;
use std::f64::consts::TAU;

/// Default of θ, degrees.
const ANGLE_DEG: f64 = 45.0;

/// Configuration: K, the direction of motion, and either the Doppler shift, or the speed and the
/// carrier frequency that determine the Doppler shift.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RicianConfig {
    /// Mean SNR, dB, -200 to 200.
    pub mean_db: f64,
    /// K, line-of-sight power relative to the scattered power, dB, -200 to 200.
    pub k_db: f64,
    /// θ, the angle between the motion and the line of sight, degrees, 0 to 180. Default 45.
    #[serde(default)]
    pub angle_deg: Option<f64>,
    /// f_d, largest Doppler shift, Hz, 0 to 100 000. With 0, the SNR is constant.
    #[serde(default)]
    pub doppler_hz: Option<f64>,
    /// Speed of the receiver, m/s, 0 to 10 000.
    #[serde(default)]
    pub speed_mps: Option<f64>,
    /// Carrier frequency, Hz, above 0, to 10¹².
    #[serde(default)]
    pub carrier_hz: Option<f64>,
}

/// One realisation of the fading.
#[derive(Clone, Debug, PartialEq)]
pub struct RicianSnr {
    mean_db: f64,
    mean: f64,
    /// Oscillator of the line of sight.
    sight: Oscillator,
    sight_amplitude: f64,
    /// g, the scattered part.
    scattered: Rayleigh,
    scattered_amplitude: f64,
    is_still: bool,
    by_slots: BySlots<Sum>,
}

impl RicianSnr {
    fn new(mean_db: f64, k: f64, angle_deg: f64, doppler_hz: f64, stream: &mut Stream) -> Self {
        let scattered = Rayleigh::new(doppler_hz, || stream.uniform());
        let shift = libm::cos(angle_deg.to_radians());
        let sight = Oscillator { frequency_hz: doppler_hz * shift, phase_turns: stream.uniform() };
        RicianSnr {
            mean_db,
            mean: from_db(mean_db),
            sight,
            sight_amplitude: libm::sqrt(k / (k + 1.0)),
            scattered,
            scattered_amplitude: libm::sqrt(1.0 / (k + 1.0)),
            is_still: doppler_hz == 0.0,
            by_slots: BySlots::default(),
        }
    }

    /// Returns h at time `at`: the in-phase and the quadrature part.
    fn gain_at(&self, at: Time) -> (f64, f64) {
        let turns = self.sight.frequency_hz * at.as_secs_lossy() + self.sight.phase_turns;
        let (sin, cos) = libm::sincos(TAU * (turns - libm::floor(turns)));
        let (re, im) = self.scattered.gain_at(at);
        let (sight, scattered) = (self.sight_amplitude, self.scattered_amplitude);
        (sight * cos + scattered * re, sight * sin + scattered * im)
    }
}

/// Line-of-sight part and scattered part of h, evaluated at the starts of slots.
#[derive(Clone, Debug, PartialEq)]
struct Sum {
    sight: Waves,
    scattered: Waves,
}

impl Component<dyn SnrProcess + Send, SnrContext> for RicianSnr {
    type Config = RicianConfig;

    fn check(config: &RicianConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_level("mean_db", config.mean_db, &mut checks);
        check_level("k_db", config.k_db, &mut checks);
        checks.within("angle_deg", config.angle_deg.unwrap_or(ANGLE_DEG), 0.0..=180.0);
        let doppler_hz = doppler_of(config.doppler_hz, config.speed_mps, config.carrier_hz);
        checks.nested("", doppler_hz);
        checks.finish()
    }

    fn build(
        config: RicianConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<RicianSnr, ConfigError> {
        let RicianConfig { mean_db, k_db, angle_deg, doppler_hz, speed_mps, carrier_hz } = config;
        let angle_deg = angle_deg.unwrap_or(ANGLE_DEG);
        let doppler_hz = doppler_of(doppler_hz, speed_mps, carrier_hz)?;
        let stream = &mut setup.seed.stream();
        Ok(RicianSnr::new(mean_db, from_db(k_db), angle_deg, doppler_hz, stream))
    }
}

impl SnrProcess for RicianSnr {
    fn sample(&mut self, at: Time) -> Sample {
        let (re, im) = self.gain_at(at);
        let snr_db = self.mean_db + 10.0 * libm::log10(re * re + im * im);
        Sample { snr_db, until: if self.is_still { Time::NEVER } else { at } }
    }

    #[inline]
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        let RicianSnr { mean, sight, scattered, by_slots, .. } = self;
        let wave = self.scattered_amplitude * libm::sqrt(scattered.wave_power());
        let make = || Sum {
            sight: Waves::new(&[*sight], length),
            scattered: Waves::new(&scattered.oscillators(), length),
        };
        let power = |sum: &mut Sum, slot| {
            let (sight_re, sight_im) = sum.sight.at(slot);
            let (re, im) = sum.scattered.at(slot);
            let re = self.sight_amplitude * sight_re + wave * re;
            let im = self.sight_amplitude * sight_im + wave * im;
            re * re + im * im
        };
        *mean * by_slots.at(slot, make, power)
    }

    #[inline]
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        self.at_slot_start(slot.saturating_add(1), length)
    }
}

#[cfg(test)]
mod tests;
