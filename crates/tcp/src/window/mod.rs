//! Receive-window policies: what the receiver advertises.
//!
//! To add one: its file and one line in `registry.rs`.

mod drain;
mod fixed;
mod forwarding;
mod registry;

pub use drain::{DrainConfig, DrainWindow};
pub use fixed::FixedWindow;
pub use registry::{AnyWindow, WindowRegistry};

#[doc(inline)]
pub use crate::{window_forwards as forwards, window_needs_no as needs_no};

use airpath_core::{StageError, Time};

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
    /// Payload that it made available to the application in order, bytes.
    pub delivered: u64,
}

/// What the receiver has got and advertised, when it asks for its window.
#[derive(Clone, Copy, Debug)]
pub struct WindowState {
    /// The present instant.
    pub now: Time,
    /// The next byte expected.
    pub next: u64,
    /// The right edge that was advertised last.
    pub edge: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Step of the advertised window: 2^shift with window scaling, else 1.
    pub step: u64,
}

/// Decides the advertised window.
///
/// No call has a default: [`needs_no!`] says what a policy does without, [`forwards!`] hands calls to
/// another policy, and the compiler names what is missing.
pub trait ReceiveWindow {
    /// A data segment has arrived.
    ///
    /// # Errors
    /// A policy from outside may fail; its message ends the run.
    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError>;

    /// Bytes that the receiver allows beyond the next byte expected. The receiver itself never
    /// lets the right edge move back (RFC 9293 §3.8.6).
    fn window(&self) -> u64;

    /// The right edge that an ACK sent now advertises; asked for only when the policy is
    /// [`bounded`](Self::is_bounded).
    fn right_edge(&self, state: &WindowState) -> u64;

    /// When the sender is to be told that the window has opened, if nothing arrives before. Asked
    /// for only when the policy is [`bounded`](Self::is_bounded).
    fn next_update(&self, state: &WindowState) -> Time;

    /// Whether there is a buffer of this size and no more: a segment beyond the right edge is
    /// refused (RFC 9293 §3.10.7.4), and the window may close.
    fn is_bounded(&self) -> bool;
}
