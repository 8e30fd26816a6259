//! Corruption of the frames of a link: its own random loss and its error process.

use airpath_core::{Seed, Stream};
use airpath_phy::errors::{AnyErrors, ErrorProcess, Frame};

/// Decides which frames are corrupted.
pub(crate) struct FrameErrors {
    /// Random stream of the link's own loss.
    losses: Stream,
    /// Error process in addition to the random loss.
    errors: Option<Box<AnyErrors>>,
}

impl FrameErrors {
    /// Creates the frame errors of the link with the seed `seed`.
    pub(crate) fn new(errors: Option<AnyErrors>, seed: &Seed) -> FrameErrors {
        FrameErrors { losses: seed.stream(), errors: errors.map(Box::new) }
    }

    /// Returns true if a frame is corrupted. The link's own loss has the probability `loss`; the
    /// error process is not called for frames that are lost by it.
    #[inline]
    pub(crate) fn corrupts(&mut self, loss: f64, frame: impl FnOnce() -> Frame) -> bool {
        self.losses.bernoulli(loss)
            || self.errors.as_mut().is_some_and(|errors| errors.corrupts(&frame()))
    }
}
