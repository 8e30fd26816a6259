//! The list of receive-window policies: one line each.

use super::{
    AckSent, Arrival, ClampWindow, DrainWindow, FixedWindow, ReceiveWindow, WindowSetup,
    WindowState,
};
use airpath_core::{Registry, StageError, Time, built_in_parts};

/// Receive-window policies that were registered at run time.
pub type WindowRegistry = Registry<dyn ReceiveWindow + Send, WindowSetup>;

built_in_parts! {
    /// Any receive-window policy.
    enum AnyWindow: dyn ReceiveWindow + Send, WindowSetup {
        "fixed" => Fixed(FixedWindow): "A window of fixed size.",
        "drain" => Drain(Box<DrainWindow>): "A buffer that the application reads at a limited rate.",
        "clamp" => Clamp(Box<ClampWindow>): "CLAMP: the window follows a price in the packets that arrive.",
    }
}

impl ReceiveWindow for AnyWindow {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError> {
        each_part!(self, window => window.on_arrival(arrival))
    }
    #[inline]
    fn on_ack_sent(&mut self, sent: &AckSent) {
        each_part!(self, window => window.on_ack_sent(sent));
    }
    #[inline]
    fn window(&self) -> u64 {
        each_part!(self, window => window.window())
    }
    fn right_edge(&self, state: &WindowState) -> u64 {
        each_part!(self, window => window.right_edge(state))
    }
    fn next_update(&self, state: &WindowState) -> Time {
        each_part!(self, window => window.next_update(state))
    }
    fn is_bounded(&self) -> bool {
        each_part!(self, window => window.is_bounded())
    }
}
