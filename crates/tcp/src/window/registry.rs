//! Registry of the receive-window policies, one line per policy.

use super::{
    AckSent, Arrival, ClampWindow, DrainWindow, FixedWindow, ReceiveWindow, WindowSetup,
    WindowState, delegate_window,
};
use airpath_core::{Registry, StageError, Time, built_in_components};

/// Receive-window policies registered at run time.
pub type WindowRegistry = Registry<dyn ReceiveWindow + Send, WindowSetup>;

built_in_components! {
    /// Any receive-window policy.
    enum AnyWindow: dyn ReceiveWindow + Send, WindowSetup {
        "fixed" => Fixed(FixedWindow): "A window of fixed size.",
        "drain" => Drain(Box<DrainWindow>): "A buffer that the application reads at a limited rate.",
        "clamp" => Clamp(Box<ClampWindow>): "CLAMP: the window follows a price in the packets that arrive.",
    }
}

impl ReceiveWindow for AnyWindow {
    delegate_window!(match each_component);
}
