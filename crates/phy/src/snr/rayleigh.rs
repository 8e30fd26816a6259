//! Flat Rayleigh fading with Clarke's spectrum: SNR(t) = mean · |h(t)|², as of a receiver that
//! moves among many reflections.
//!
//! h is the sum of 64 waves of [`Rayleigh`]: its source, its statistics, and what the finite
//! number of waves changes of them (deep fades are 0.8 % too rare). The power is exponential, its
//! autocorrelation that of E h(t)h*(t+τ) = J0(2π f_d τ).

use super::{Sample, SnrKit, SnrProcess, level};
use crate::doppler::max_doppler_hz;
use crate::rayleigh::Rayleigh;
use airpath_core::{ConfigError, Part, Setup, Time};
use serde::Deserialize;

/// The largest Doppler shift, Hz: some 10⁴ phases of a wave are then told apart in a nanosecond.
const LARGEST_DOPPLER_HZ: f64 = 1e5;

/// The fastest receiver, m/s, and the highest carrier, Hz.
const FASTEST_MPS: f64 = 1e4;
const HIGHEST_CARRIER_HZ: f64 = 1e12;

/// What the user sets: the Doppler shift, or the speed and the carrier that make it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RayleighConfig {
    /// Mean SNR, dB, -200 to 200.
    pub mean_db: f64,
    /// f_d, the largest Doppler shift, Hz, 0 to 100 000. 0: the first value stays.
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
    /// f_d, Hz.
    ///
    /// # Errors
    /// When neither or both ways to say it are taken, or a value is outside its range.
    pub fn doppler_hz(&self) -> Result<f64, ConfigError> {
        let doppler_hz = match (self.doppler_hz, self.speed_mps, self.carrier_hz) {
            (Some(doppler_hz), None, None) => doppler_hz,
            (None, Some(speed_mps), Some(carrier_hz)) => {
                within("speed_mps", speed_mps, FASTEST_MPS)?;
                within("carrier_hz", carrier_hz, HIGHEST_CARRIER_HZ)?;
                max_doppler_hz(speed_mps, carrier_hz)
            }
            _ => {
                let problem = "Write doppler_hz, or speed_mps and carrier_hz";
                return Err(ConfigError::new("doppler_hz", "not one", problem));
            }
        };
        within("doppler_hz", doppler_hz, LARGEST_DOPPLER_HZ)?;
        Ok(doppler_hz)
    }
}

fn within(field: &str, value: f64, largest: f64) -> Result<(), ConfigError> {
    if !(0.0..=largest).contains(&value) {
        return Err(ConfigError::new(field, value, format!("not from 0 to {largest}")));
    }
    Ok(())
}

/// One realisation of the fading.
#[derive(Clone, Debug, PartialEq)]
pub struct RayleighSnr {
    mean_db: f64,
    fading: Rayleigh,
    is_still: bool,
}

impl Part<dyn SnrProcess + Send, SnrKit> for RayleighSnr {
    type Config = RayleighConfig;

    fn build(
        config: RayleighConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrKit>,
    ) -> Result<RayleighSnr, ConfigError> {
        level("mean_db", config.mean_db)?;
        let doppler_hz = config.doppler_hz()?;
        let mut waves = setup.seed.stream();
        let fading = Rayleigh::new(doppler_hz, || waves.uniform());
        Ok(RayleighSnr { mean_db: config.mean_db, fading, is_still: doppler_hz == 0.0 })
    }
}

impl SnrProcess for RayleighSnr {
    fn sample(&mut self, at: Time) -> Sample {
        let snr_db = self.mean_db + 10.0 * libm::log10(self.fading.power_at(at));
        Sample { snr_db, until: if self.is_still { Time::NEVER } else { at } }
    }
}
