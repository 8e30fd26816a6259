//! Registry of error processes, one line each.

use super::{Burst, ErrorProcess, Frame, GilbertElliott, Independent};
use airpath_core::{Registry, built_in_components};

/// Error processes that were registered at run time.
pub type ErrorsRegistry = Registry<dyn ErrorProcess + Send>;

built_in_components! {
    /// Any error process.
    enum AnyErrors: dyn ErrorProcess + Send, () {
        "independent" => Independent(Independent): "Each frame is corrupted with the same probability.",
        "gilbert-elliott" => GilbertElliott(GilbertElliott):
            "A good and a bad state that alternate, each with its loss probability.",
        "burst" => Burst(Burst):
            "Bursts of errors as long as the fades of a moving receiver (Chockalingam, Zorzi).",
    }
}

impl ErrorProcess for AnyErrors {
    #[inline]
    fn corrupts(&mut self, frame: &Frame) -> bool {
        each_component!(self, process => process.corrupts(frame))
    }
}
