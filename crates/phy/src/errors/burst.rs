//! Bursts of errors as a moving receiver sees them: the two-state chain of Chockalingam and Zorzi.
//!
//! Source and equations: `fading_chain.rs`. One step of the chain per slot, in idle slots too; all
//! that is sent in a slot shares its fate. Left out: the fading inside a slot, and the memory of
//! a real fade beyond one slot.

use super::{ErrorProcess, Frame, GilbertElliott, fading_chain, positive_slot};
use airpath_core::{ConfigError, Part, Setup};
use serde::Deserialize;

/// The normalised Doppler shifts for which the chain is computed.
const DOPPLERS: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// What the user sets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstConfig {
    /// ε, the share of bad slots, in [0, 1).
    pub frame_error_rate: f64,
    /// f_d·T: the Doppler shift times the slot.
    pub doppler: f64,
    /// T, ns: the radio frame of UMTS unless told otherwise.
    #[serde(default = "radio_frame_ns")]
    pub slot_ns: u64,
}

/// 10 ms.
fn radio_frame_ns() -> u64 {
    10_000_000
}

/// An error process of good slots, which destroy nothing, and bad ones, which destroy everything.
#[derive(Clone, Debug)]
pub struct Burst(GilbertElliott);

impl Part<dyn ErrorProcess + Send> for Burst {
    type Config = BurstConfig;

    fn build(
        config: BurstConfig,
        setup: Setup<'_, dyn ErrorProcess + Send>,
    ) -> Result<Self, ConfigError> {
        let BurstConfig { frame_error_rate, doppler, slot_ns } = config;
        if !(0.0..1.0).contains(&frame_error_rate) {
            let problem = "not a frame error rate. Write a number from 0 to below 1";
            return Err(ConfigError::new("frame_error_rate", frame_error_rate, problem));
        }
        if !DOPPLERS.contains(&doppler) {
            let problem = "outside the accepted 1e-9 … 1e9. Write Doppler shift times slot";
            return Err(ConfigError::new("doppler", doppler, problem));
        }
        positive_slot(slot_ns)?;
        let states = fading_chain::two_states(frame_error_rate, doppler);
        Ok(Burst(GilbertElliott::new(states, [0.0, 1.0], slot_ns, &setup.seed)))
    }
}

impl ErrorProcess for Burst {
    #[inline]
    fn corrupts(&mut self, frame: &Frame) -> bool {
        self.0.corrupts(frame)
    }
}
