//! Registry of SNR processes, one line each.

use super::{
    Beamforming, Block, Constant, Jakes, RayleighSnr, RicianSnr, Sample, Shadowed, SnrContext,
    SnrProcess, TappedDelayLineSnr, Trace,
};
use airpath_core::{Duration, Registry, Time, built_in_components};

/// SNR processes that were registered at run time.
pub type SnrRegistry = Registry<dyn SnrProcess + Send, SnrContext>;

built_in_components! {
    /// Any SNR process.
    enum AnySnr: dyn SnrProcess + Send, SnrContext {
        "constant" => Constant(Constant): "One value.",
        "block" => Block(Block): "Independent from block to block, exponential.",
        "jakes" => Jakes(Jakes): "Flat Rayleigh fading, Jakes' sum of 20 oscillators.",
        "rayleigh" => Rayleigh(RayleighSnr): "Flat Rayleigh fading with Clarke's spectrum.",
        "rician" => Rician(RicianSnr): "Flat Rician fading: a line of sight and reflections.",
        "tapped-delay-line" => TappedDelayLine(TappedDelayLineSnr): "The taps of a power delay profile, combined by energy.",
        "beamforming" => Beamforming(Beamforming): "Two antennas with varying powers and phases, equal for all users.",
        "shadowed" => Shadowed(Shadowed): "Log-normal shadowing over another process.",
        "trace" => Trace(Trace): "The steps of a time_s,snr_db file.",
    }
}

impl SnrProcess for AnySnr {
    #[inline]
    fn sample(&mut self, at: Time) -> Sample {
        each_component!(self, process => process.sample(at))
    }

    fn constant_db(&self) -> Option<f64> {
        each_component!(self, process => process.constant_db())
    }

    #[inline]
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        each_component!(self, process => process.at_slot_start(slot, length))
    }

    #[inline]
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        each_component!(self, process => process.at_slot_end(slot, length))
    }
}
