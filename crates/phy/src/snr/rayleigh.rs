//! Flat Rayleigh fading with Clarke's spectrum: SNR(t) = mean · |h(t)|², for a receiver that moves
//! among many scatterers.
//!
//! h is the sum of 64 waves of [`Rayleigh`]. The documentation of [`Rayleigh`] contains the source,
//! the statistics, and the effect of the finite number of waves (deep fades are 0.8 % too rare).
//! The power is exponentially distributed; the autocorrelation of h is E h(t)h*(t+τ) = J0(2π f_d
//! τ).

use super::motion::doppler_of;
use super::oscillators::{BySlots, Waves};
use super::{Sample, SnrContext, SnrProcess, check_level};
use crate::rayleigh::Rayleigh;
use crate::shannon::from_db;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time};
use serde::Deserialize;

/// Configuration: the Doppler shift, or the speed and the carrier frequency that determine the
/// Doppler shift.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RayleighConfig {
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
}

impl RayleighConfig {
    /// Returns f_d, Hz.
    ///
    /// # Errors
    /// If neither or both forms are set, or a value is outside its range.
    pub fn doppler_hz(&self) -> Result<f64, ConfigError> {
        doppler_of(self.doppler_hz, self.speed_mps, self.carrier_hz)
    }
}

/// One realisation of the fading.
#[derive(Clone, Debug, PartialEq)]
pub struct RayleighSnr {
    mean_db: f64,
    mean: f64,
    fading: Rayleigh,
    is_still: bool,
    by_slots: BySlots<Waves>,
}

impl Component<dyn SnrProcess + Send, SnrContext> for RayleighSnr {
    type Config = RayleighConfig;

    fn check(config: &RayleighConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_level("mean_db", config.mean_db, &mut checks);
        checks.nested("", config.doppler_hz());
        checks.finish()
    }

    fn build(
        config: RayleighConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<RayleighSnr, ConfigError> {
        let doppler_hz = config.doppler_hz()?;
        let mut waves = setup.seed.stream();
        let fading = Rayleigh::new(doppler_hz, || waves.uniform());
        let (mean_db, is_still) = (config.mean_db, doppler_hz == 0.0);
        let mean = from_db(mean_db);
        Ok(RayleighSnr { mean_db, mean, fading, is_still, by_slots: BySlots::default() })
    }
}

impl SnrProcess for RayleighSnr {
    fn sample(&mut self, at: Time) -> Sample {
        let snr_db = self.mean_db + 10.0 * libm::log10(self.fading.power_at(at));
        Sample { snr_db, until: if self.is_still { Time::NEVER } else { at } }
    }
    #[inline]
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        let RayleighSnr { mean, fading, by_slots, .. } = self;
        let power = |waves: &mut Waves, slot| {
            let (re, im) = waves.at(slot);
            re * re + im * im
        };
        let scale = *mean * fading.wave_power();
        scale * by_slots.at(slot, || Waves::new(&fading.oscillators(), length), power)
    }

    #[inline]
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        self.at_slot_start(slot.saturating_add(1), length)
    }
}
