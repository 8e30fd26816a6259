//! Opportunistic beamforming: two antennas send the same signal with slowly varying power shares
//! and a slowly varying phase. A slow channel thus fades faster, and a scheduler can exploit the
//! peaks.
//!
//! SNR(t) = mean · |√α(t) h_1(t) + √(1 − α(t)) e^(jθ(t)) h_2(t)|²
//!
//! h_1 and h_2 are independent channels of each user with Clarke's spectrum, each a [`Rayleigh`]
//! channel of 64 waves. α and θ belong to the transmitter: they are equal for all users of a link.
//!
//! Source: Viswanath, Tse and Laroia, *Opportunistic beamforming using dumb antennas*, IEEE Trans.
//! Inf. Theory 48 (2002). The paper does not specify the variation of α and θ, but requires the
//! distribution of the beamforming configuration of a Rayleigh channel: α uniform on [0, 1], θ
//! uniform and independent. Here α is a triangular wave with the period T, and θ rotates with the
//! period T(1 + √5)/2. Both start at a random phase. The ratio of the periods is irrational, so
//! that the pairs (α, θ) cover their range evenly.
//!
//! Distributions: over the realisations, the SNR is exponential with the configured mean, and
//! E|h|⁴ = 2 − 2/(3N). Over time, in a constant channel, the mean of |h|² is (|h_1|² + |h_2|²)/2,
//! and its peaks are |h_1|² + |h_2|².

use super::motion::doppler_of;
use super::oscillators::{BySlots, Waves};
use super::slotted::start_of;
use super::{Sample, SnrContext, SnrProcess, check_level};
use crate::rayleigh::Rayleigh;
use crate::shannon::from_db;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Stream, Time, at_least};
use serde::Deserialize;
use std::f64::consts::TAU;

/// (1 + √5)/2, ratio of the period of θ to the period of α.
const GOLDEN_RATIO: f64 = 1.618_033_988_749_895;

/// Configuration: the period of the beam, and either the Doppler shift, or the speed and the
/// carrier frequency that determine the Doppler shift.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeamformingConfig {
    /// Mean SNR, dB, -200 to 200.
    pub mean_db: f64,
    /// T, period of the power share α, ns, above 0: the power moves from one antenna to the other
    /// and back.
    pub period_ns: u64,
    /// f_d, largest Doppler shift of both channels, Hz, 0 to 100 000. With 0, the channels are
    /// constant.
    #[serde(default)]
    pub doppler_hz: Option<f64>,
    /// Speed of the receiver, m/s, 0 to 10 000.
    #[serde(default)]
    pub speed_mps: Option<f64>,
    /// Carrier frequency, Hz, above 0, to 10¹².
    #[serde(default)]
    pub carrier_hz: Option<f64>,
}

/// α and θ as functions of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Beam {
    power: Rotation,
    phase: Rotation,
}

/// A quantity that rotates at constant speed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rotation {
    period_ns: u64,
    start_turns: f64,
}

impl Rotation {
    /// Returns the fraction of a turn at `at`, in [0, 1).
    fn at(self, at: Time) -> f64 {
        let turns = (at.as_nanos() % self.period_ns) as f64 / self.period_ns as f64;
        let turns = turns + self.start_turns;
        turns - libm::floor(turns)
    }
}

impl Beam {
    /// Creates a beam with a random start from `stream`.
    fn new(period_ns: u64, stream: &mut Stream) -> Beam {
        let slower = libm::round(period_ns as f64 * GOLDEN_RATIO) as u64;
        Beam {
            power: Rotation { period_ns, start_turns: stream.uniform() },
            phase: Rotation { period_ns: slower, start_turns: stream.uniform() },
        }
    }

    /// Returns α at `at`, in [0, 1], and θ, turns in [0, 1).
    fn at(self, at: Time) -> (f64, f64) {
        ((2.0 * self.power.at(at) - 1.0).abs(), self.phase.at(at))
    }

    /// Returns |√α h_1 + √(1 − α) e^(jθ) h_2|² at `at`.
    fn power_of(self, [(re_1, im_1), (re_2, im_2)]: [(f64, f64); 2], at: Time) -> f64 {
        let (share, turns) = self.at(at);
        let (sin, cos) = libm::sincos(TAU * turns);
        let (first, second) = (libm::sqrt(share), libm::sqrt(1.0 - share));
        let re = first * re_1 + second * (cos * re_2 - sin * im_2);
        let im = first * im_1 + second * (cos * im_2 + sin * re_2);
        re * re + im * im
    }
}

/// One realisation of the fading.
#[derive(Clone, Debug, PartialEq)]
pub struct Beamforming {
    mean_db: f64,
    mean: f64,
    beam: Beam,
    /// Channels h_1 and h_2.
    antennas: [Rayleigh; 2],
    by_slots: BySlots<[Waves; 2]>,
}

impl Beamforming {
    fn new(mean_db: f64, beam: Beam, doppler_hz: f64, stream: &mut Stream) -> Beamforming {
        let mut antenna = || Rayleigh::new(doppler_hz, || stream.uniform());
        let antennas = [antenna(), antenna()];
        let mean = from_db(mean_db);
        Beamforming { mean_db, mean, beam, antennas, by_slots: BySlots::default() }
    }

    /// Returns the power at `at`, relative to its mean.
    fn power_at(&self, at: Time) -> f64 {
        let [first, second] = &self.antennas;
        self.beam.power_of([first.gain_at(at), second.gain_at(at)], at)
    }
}

impl Component<dyn SnrProcess + Send, SnrContext> for Beamforming {
    type Config = BeamformingConfig;

    fn check(config: &BeamformingConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_level("mean_db", config.mean_db, &mut checks);
        checks.within("period_ns", config.period_ns, at_least(1_u64));
        let doppler_hz = doppler_of(config.doppler_hz, config.speed_mps, config.carrier_hz);
        checks.nested("", doppler_hz);
        checks.finish()
    }

    fn build(
        config: BeamformingConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<Beamforming, ConfigError> {
        let BeamformingConfig { mean_db, period_ns, doppler_hz, speed_mps, carrier_hz } = config;
        let doppler_hz = doppler_of(doppler_hz, speed_mps, carrier_hz)?;
        let Setup { seed, extra, .. } = setup;
        let beam = extra.shared.as_ref().unwrap_or(&seed).child("beam");
        let beam = Beam::new(period_ns, &mut beam.stream());
        Ok(Beamforming::new(mean_db, beam, doppler_hz, &mut seed.stream()))
    }
}

impl SnrProcess for Beamforming {
    fn sample(&mut self, at: Time) -> Sample {
        Sample { snr_db: self.mean_db + 10.0 * libm::log10(self.power_at(at)), until: at }
    }

    #[inline]
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        let Beamforming { mean, beam, antennas, by_slots, .. } = self;
        let make = || {
            let waves = |antenna: &Rayleigh| Waves::new(&antenna.oscillators(), length);
            antennas.each_ref().map(waves)
        };
        let power = |both: &mut [Waves; 2], slot| {
            let gains = both.each_mut().map(|waves| waves.at(slot));
            beam.power_of(gains, start_of(slot, length))
        };
        *mean * antennas[0].wave_power() * by_slots.at(slot, make, power)
    }

    #[inline]
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        self.at_slot_start(slot.saturating_add(1), length)
    }
}

#[cfg(test)]
mod tests;
