//! Receive-window policies: what the receiver advertises.
//!
//! To add one: its file and one line in `registry.rs`.

mod fixed;
mod registry;

pub use fixed::FixedWindow;
pub use registry::{AnyWindow, WindowRegistry};

use airpath_core::Time;

/// A data segment has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// Bytes of its IP packet.
    pub bytes: u64,
    /// The explicit-feedback value in the packet (CLAMP's price).
    pub feedback: f32,
    /// Whether it was the next one expected.
    pub in_order: bool,
    /// Whether all of it had arrived before.
    pub duplicate: bool,
}

/// Decides the advertised window.
pub trait ReceiveWindow {
    /// A data segment has arrived.
    ///
    /// # Errors
    /// A policy from outside may fail; its message ends the run.
    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), airpath_core::StageError> {
        let _ = arrival;
        Ok(())
    }

    /// Bytes that the receiver allows beyond the next byte expected. The receiver itself never
    /// lets the right edge move back (RFC 9293 §3.8.6).
    fn window(&self) -> u64;
}
