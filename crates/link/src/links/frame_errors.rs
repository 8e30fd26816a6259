//! Corruption of the frames of a link by random loss and by an error process.

use airpath_core::{Seed, Stream};
use airpath_phy::errors::{AnyErrors, ErrorProcess, Frame};

/// Decides which frames are corrupted.
pub(crate) struct FrameErrors {
    /// Random stream of the random loss.
    losses: Stream,
    /// Error process in addition to the random loss.
    errors: Option<Box<AnyErrors>>,
}

impl FrameErrors {
    /// Creates the frame errors of a link. `seed` is the seed of the link.
    pub(crate) fn new(errors: Option<AnyErrors>, seed: &Seed) -> FrameErrors {
        FrameErrors { losses: seed.stream(), errors: errors.map(Box::new) }
    }

    /// Returns true if a frame is corrupted. `loss` is the probability of a random loss. For
    /// randomly lost frames the error process is not called.
    #[inline]
    pub(crate) fn corrupts(&mut self, loss: f64, frame: impl FnOnce() -> Frame) -> bool {
        self.losses.bernoulli(loss)
            || self.errors.as_mut().is_some_and(|errors| errors.corrupts(&frame()))
    }
}
