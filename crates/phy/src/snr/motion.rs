//! Determines the Doppler shift of a fading process: configured, or computed from a speed and a
//! carrier frequency.

use crate::doppler::max_doppler_hz;
use airpath_core::{Checks, ConfigError};

/// Largest Doppler shift, Hz, at which the phase of a wave changes by 10⁻⁴ turns per nanosecond.
const LARGEST_DOPPLER_HZ: f64 = 1e5;

/// Largest speed of a receiver, m/s.
const FASTEST_MPS: f64 = 1e4;
const HIGHEST_CARRIER_HZ: f64 = 1e12;

/// Returns f_d, Hz: the configured Doppler shift, or the Doppler shift computed from speed and
/// carrier frequency.
///
/// # Errors
/// If neither or both forms are set, or a value is outside its range.
pub(super) fn doppler_of(
    doppler_hz: Option<f64>,
    speed_mps: Option<f64>,
    carrier_hz: Option<f64>,
) -> Result<f64, ConfigError> {
    let mut checks = Checks::default();
    let doppler_hz = match (doppler_hz, speed_mps, carrier_hz) {
        (Some(doppler_hz), None, None) => doppler_hz,
        (None, Some(speed_mps), Some(carrier_hz)) => {
            checks.within("speed_mps", speed_mps, 0.0..=FASTEST_MPS);
            checks.within("carrier_hz", carrier_hz, 0.0..=HIGHEST_CARRIER_HZ);
            let doppler_hz = max_doppler_hz(speed_mps, carrier_hz);
            if checks.is_clean() {
                check_speed(&mut checks, "carrier_hz", speed_mps, carrier_hz);
            }
            checks.finish()?;
            return Ok(doppler_hz);
        }
        _ => {
            let advice = "Set doppler, or speed and carrier";
            checks.reject(
                "doppler_hz",
                "missing or ambiguous",
                "exactly one form is required",
                advice,
            );
            0.0
        }
    };
    checks.within("doppler_hz", doppler_hz, 0.0..=LARGEST_DOPPLER_HZ);
    checks.finish()?;
    Ok(doppler_hz)
}

/// Rejects a speed that causes too large a Doppler shift at `carrier_hz`, the value of the key
/// `carrier`.
pub(crate) fn check_speed(checks: &mut Checks, carrier: &str, speed_mps: f64, carrier_hz: f64) {
    if max_doppler_hz(speed_mps, carrier_hz) > LARGEST_DOPPLER_HZ {
        let problem = "a Doppler shift of more than 100 kHz";
        checks.reject_with(&[carrier], "speed_mps", speed_mps, problem, "Use a lower speed");
    }
}
