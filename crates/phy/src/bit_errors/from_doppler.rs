//! Derives a two-state chain from a fading channel. The state is bad if the SNR after combining is
//! below a threshold.
//!
//! The mean duration of a state is the mean time that the SNR stays on its side of the threshold.
//! The error rate of a state is the mean error rate over the SNRs on its side. The average of both
//! error rates, weighted by the shares of the states, is the error rate over all SNRs.
//!
//! Left out:
//!
//! * Real fade durations vary less than the geometric distribution of the chain.
//! * Within a state, the error rate depends on the distance of the SNR from the threshold.
//! * The SNR changes within a symbol.

use super::ErrorChain;
use crate::shannon::from_db;
use crate::symbol_error::{Branches, Constellation, Fades};
use airpath_core::ConfigError;

/// A fading channel, and the constellation and rate of the symbols sent over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingChannel {
    /// Constellation of the symbols.
    pub constellation: Constellation,
    /// Combined branches of Rayleigh fading.
    pub branches: Branches,
    /// Combined SNR below which the state is bad, dB.
    pub threshold_db: f64,
    /// f_D, the largest Doppler shift, Hz, above 0.
    pub doppler_hz: f64,
    /// Modulation symbols per second, above 0.
    pub symbol_rate_hz: f64,
}

impl ErrorChain {
    /// Creates the chain of a fading channel, with one step per modulation symbol.
    ///
    /// # Errors
    /// If a value is outside its range, if the SNR is always on one side of the threshold, or if it
    /// stays on a side for less than a symbol on average. The error's field is `doppler_hz`,
    /// `symbol_rate_hz` or `threshold_db`.
    pub fn from_doppler(channel: &FadingChannel) -> Result<ErrorChain, ConfigError> {
        let FadingChannel { threshold_db, doppler_hz, symbol_rate_hz, .. } = *channel;
        for (field, value) in [("doppler_hz", doppler_hz), ("symbol_rate_hz", symbol_rate_hz)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ConfigError::new(field, value, "not a finite number above 0"));
            }
        }
        let fades = Fades::new(channel.branches, from_db(threshold_db));
        for (share, side) in fades.shares().into_iter().zip(["above", "below"]) {
            if share.is_nan() || share < f64::MIN_POSITIVE {
                let problem = format!("the combined SNR is never {side} it");
                return Err(ConfigError::new("threshold_db", threshold_db, problem));
            }
        }
        let symbols = fades.mean_durations_s(doppler_hz).map(|seconds| seconds * symbol_rate_hz);
        for (symbols, what) in symbols.into_iter().zip(["times between fades", "fades"]) {
            if symbols.is_nan() || symbols < 1.0 {
                let problem =
                    format!("{what} last {symbols:.2e} symbols on average, less than one");
                return Err(ConfigError::new("doppler_hz", doppler_hz, problem));
            }
        }
        let [good, bad] = symbols;
        // Rounding may raise a mean of error rates above 1.
        let [error_good, error_bad] =
            fades.error_rates(channel.constellation).map(|rate| rate.min(1.0));
        ErrorChain::new(1.0 / good, 1.0 / bad, error_good, error_bad)
    }
}

#[cfg(test)]
mod tests;
