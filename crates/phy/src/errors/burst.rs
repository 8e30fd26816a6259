//! Error bursts of a moving receiver: the two-state chain of Chockalingam and Zorzi.
//!
//! Source and equations: `fading_chain.rs`. The chain makes one step per slot, even in slots
//! without a frame. All frames in a slot have the outcome of this slot. Left out: fading within a
//! slot, and the memory of a real fade beyond one slot.

use super::{ErrorProcess, Frame, GilbertElliott, fading_chain};
use airpath_core::{Checks, Component, ConfigError, Setup, at_least};
use serde::Deserialize;

/// Range of normalised Doppler shifts for which the chain is computed.
const DOPPLERS: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Configuration of the error process.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstConfig {
    /// ε, the share of bad slots, in [0, 1).
    pub frame_error_rate: f64,
    /// f_d·T: Doppler shift times slot duration.
    pub doppler: f64,
    /// T, slot duration, ns. Default: the radio frame of UMTS.
    #[serde(default = "radio_frame_ns")]
    pub slot_ns: u64,
}

/// Returns 10 ms.
fn radio_frame_ns() -> u64 {
    10_000_000
}

/// Error process with good slots, which corrupt no frame, and bad slots, which corrupt every frame.
#[derive(Clone, Debug)]
pub struct Burst(GilbertElliott);

impl Component<dyn ErrorProcess + Send> for Burst {
    type Config = BurstConfig;

    fn check(config: &BurstConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("frame_error_rate", config.frame_error_rate, at_least(0.0).below(1.0));
        checks.within("doppler", config.doppler, DOPPLERS);
        checks.within("slot_ns", config.slot_ns, at_least(1_u64));
        checks.finish()
    }

    fn build(
        config: BurstConfig,
        setup: Setup<'_, dyn ErrorProcess + Send>,
    ) -> Result<Self, ConfigError> {
        let BurstConfig { frame_error_rate, doppler, slot_ns } = config;
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
