//! The chain of a fading channel: its bad state is a combined SNR below a threshold.
//!
//! A state lasts as long as the SNR stays on its side of the threshold on average, and has the error rate of the
//! SNRs there. The share-weighted mean of the two is the error rate over all SNRs.
//!
//! Left out: that fades are less irregular than geometric runs; that errors within a state are denser next to the
//! threshold or far from it; the symbol over which the SNR changes.

use super::ErrorChain;
use crate::shannon::from_db;
use crate::symbol_error::{Branches, Constellation, Fades};
use airpath_core::ConfigError;

/// A fading channel and what is sent over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingChannel {
    /// Constellation of the symbols.
    pub constellation: Constellation,
    /// Branches of Rayleigh fading that are combined.
    pub branches: Branches,
    /// The combined SNR below which the state is bad, dB.
    pub threshold_db: f64,
    /// f_D, the largest Doppler shift, Hz, above 0.
    pub doppler_hz: f64,
    /// Modulation symbols in a second, above 0.
    pub symbol_rate_hz: f64,
}

impl ErrorChain {
    /// The chain of a fading channel, stepped by symbol.
    ///
    /// # Errors
    /// When a value is outside its range, the SNR is always on one side of the threshold, or stays there for less
    /// than a symbol on average. The field is `doppler_hz`, `symbol_rate_hz` or `threshold_db`.
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
        // A mean of positive terms is within its range except for rounding.
        let [error_good, error_bad] =
            fades.error_rates(channel.constellation).map(|rate| rate.min(1.0));
        ErrorChain::new(1.0 / good, 1.0 / bad, error_good, error_bad)
    }
}

#[cfg(test)]
mod tests;
