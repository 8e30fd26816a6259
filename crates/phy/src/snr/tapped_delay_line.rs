//! Fading over resolved paths: SNR(t) = mean · Σ p_l |h_l(t)|², with the taps l of a power delay
//! profile.
//!
//! Each h_l is an independent channel with Clarke's spectrum, the 64 waves of [`Rayleigh`]; the p_l
//! are the powers of the taps, with a sum of 1. The receiver collects the energy of all taps, as a
//! RAKE receiver or maximum-ratio combining does. The result is also the mean of |H(f)|² over a
//! band that is much wider than the coherence bandwidth (Parseval). In a narrow band, the power is
//! |Σ √p_l h_l|², whose distribution is that of Rayleigh fading for every profile.
//!
//! Source: Recommendation ITU-R M.1225, annex 2; 3GPP TS 36.104 table B.2-2 to B.2-4 (see
//! [`profiles`](crate::fading::profiles)); Proakis, *Digital Communications* (4th ed., 2001), chapter 14,
//! for the sum and its distribution.
//!
//! Distribution over the realisations with N = 64 waves: the mean is the configured mean, the
//! variance divided by the squared mean is (1 − 1/N) Σ p_l², and the distribution is
//! hypoexponential with the means p_l, to first order in 1/N.

use super::motion::doppler_of;
use super::oscillators::{BySlots, Waves};
use super::{Sample, SnrContext, SnrProcess, check_level};
use crate::fading::profiles::{LTE_PROFILES, PROFILES, Profile};
use crate::rayleigh::Rayleigh;
use crate::shannon::from_db;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Stream, Time};
use serde::Deserialize;

/// Configuration: a delay profile, and either the Doppler shift, or the speed and the carrier
/// frequency that determine the Doppler shift.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TappedDelayLineConfig {
    /// Mean SNR, dB, -200 to 200.
    pub mean_db: f64,
    /// Name of a profile of ITU-R M.1225 or 3GPP TS 36.104: `vehicular-a`, `epa`.
    pub profile: String,
    /// f_d, largest Doppler shift of each tap, Hz, 0 to 100 000. With 0, the SNR is constant.
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
pub struct TappedDelayLineSnr {
    mean_db: f64,
    mean: f64,
    taps: Vec<Tap>,
    is_still: bool,
    by_slots: BySlots<Box<[Waves]>>,
}

/// A tap.
#[derive(Clone, Debug, PartialEq)]
struct Tap {
    /// p_l, power of the tap.
    power: f64,
    /// h_l, fading of the tap.
    fading: Rayleigh,
}

impl TappedDelayLineSnr {
    fn new(
        mean_db: f64,
        profile: &Profile,
        doppler_hz: f64,
        stream: &mut Stream,
    ) -> TappedDelayLineSnr {
        let mut tap = |power| Tap { power, fading: Rayleigh::new(doppler_hz, || stream.uniform()) };
        TappedDelayLineSnr {
            mean_db,
            mean: from_db(mean_db),
            taps: profile.powers().into_iter().map(&mut tap).collect(),
            is_still: doppler_hz == 0.0,
            by_slots: BySlots::default(),
        }
    }

    /// Returns Σ p_l |h_l|² at time `at`.
    fn power_at(&self, at: Time) -> f64 {
        self.taps.iter().map(|tap| tap.power * tap.fading.power_at(at)).sum()
    }
}

impl Component<dyn SnrProcess + Send, SnrContext> for TappedDelayLineSnr {
    type Config = TappedDelayLineConfig;

    fn check(config: &TappedDelayLineConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_level("mean_db", config.mean_db, &mut checks);
        let doppler_hz = doppler_of(config.doppler_hz, config.speed_mps, config.carrier_hz);
        checks.nested("", doppler_hz);
        checks.finish()
    }

    fn build(
        config: TappedDelayLineConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<TappedDelayLineSnr, ConfigError> {
        let TappedDelayLineConfig { mean_db, profile, doppler_hz, speed_mps, carrier_hz } = config;
        let doppler_hz = doppler_of(doppler_hz, speed_mps, carrier_hz)?;
        let mut all = PROFILES.iter().chain(&LTE_PROFILES);
        let Some(found) = all.clone().find(|known| known.name == profile) else {
            let names: Vec<&str> = all.by_ref().map(|known| known.name).collect();
            let problem = format!("not a profile. Known are {}", names.join(", "));
            return Err(ConfigError::new("profile", profile, problem));
        };
        Ok(TappedDelayLineSnr::new(mean_db, found, doppler_hz, &mut setup.seed.stream()))
    }
}

impl SnrProcess for TappedDelayLineSnr {
    fn sample(&mut self, at: Time) -> Sample {
        let snr_db = self.mean_db + 10.0 * libm::log10(self.power_at(at));
        Sample { snr_db, until: if self.is_still { Time::NEVER } else { at } }
    }

    #[inline]
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        let TappedDelayLineSnr { mean, taps, by_slots, .. } = self;
        let waves = |tap: &Tap| Waves::new(&tap.fading.oscillators(), length);
        let power = |all: &mut Box<[Waves]>, slot| {
            let of_tap = |(tap, waves): (&Tap, &mut Waves)| {
                let (re, im) = waves.at(slot);
                tap.power * tap.fading.wave_power() * (re * re + im * im)
            };
            taps.iter().zip(all.iter_mut()).map(of_tap).sum()
        };
        *mean * by_slots.at(slot, || taps.iter().map(waves).collect(), power)
    }

    #[inline]
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        self.at_slot_start(slot.saturating_add(1), length)
    }
}

#[cfg(test)]
mod tests;
