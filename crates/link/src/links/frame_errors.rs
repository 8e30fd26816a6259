//! What destroys the frames of a link: its own loss, and the error process that it was given.

use airpath_core::{Seed, Stream};
use airpath_phy::errors::{AnyErrors, ErrorProcess, Frame};

/// The fate of frames.
pub(crate) struct FrameErrors {
    /// Draws of the link's own loss.
    losses: Stream,
    /// What destroys frames beside it.
    errors: Option<Box<AnyErrors>>,
}

impl FrameErrors {
    /// The air of the link of `seed`.
    pub(crate) fn new(errors: Option<AnyErrors>, seed: &Seed) -> FrameErrors {
        FrameErrors { losses: seed.stream(), errors: errors.map(Box::new) }
    }

    /// Whether a frame is destroyed that the link itself loses with the probability `loss`. The
    /// error process is not asked about what that has taken.
    #[inline]
    pub(crate) fn corrupts(&mut self, loss: f64, frame: impl FnOnce() -> Frame) -> bool {
        self.losses.bernoulli(loss)
            || self.errors.as_mut().is_some_and(|errors| errors.corrupts(&frame()))
    }
}
