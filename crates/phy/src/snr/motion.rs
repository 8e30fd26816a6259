//! The Doppler shift of a fading process: given, or from a speed and a carrier.

use crate::doppler::max_doppler_hz;
use airpath_core::ConfigError;

/// The largest Doppler shift, Hz: some 10⁴ phases of a wave are then told apart in a nanosecond.
const LARGEST_DOPPLER_HZ: f64 = 1e5;

/// The fastest receiver, m/s, and the highest carrier, Hz.
const FASTEST_MPS: f64 = 1e4;
const HIGHEST_CARRIER_HZ: f64 = 1e12;

/// f_d, Hz, of what a description has: the shift, or the speed and the carrier that make it.
///
/// # Errors
/// When neither or both ways to say it are taken, or a value is outside its range.
pub(super) fn doppler_of(
    doppler_hz: Option<f64>,
    speed_mps: Option<f64>,
    carrier_hz: Option<f64>,
) -> Result<f64, ConfigError> {
    let doppler_hz = match (doppler_hz, speed_mps, carrier_hz) {
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

fn within(field: &str, value: f64, largest: f64) -> Result<(), ConfigError> {
    if !(0.0..=largest).contains(&value) {
        return Err(ConfigError::new(field, value, format!("not from 0 to {largest}")));
    }
    Ok(())
}
