//! Receive-window policies: what the receiver advertises.
//!
//! To add one: its file and one line in `registry.rs`.

mod clamp;
mod drain;
mod fixed;
mod forwarding;
mod registry;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/window.rs.in"]
pub mod skeleton;

pub use clamp::{ClampConfig, ClampWindow};
pub use drain::{DrainConfig, DrainWindow};
pub use fixed::FixedWindow;
pub use registry::{AnyWindow, WindowRegistry};

#[doc(inline)]
pub use crate::{window_forwards as forwards, window_needs_no as needs_no};

use airpath_core::{Flags, StageError, Time};

/// What every policy is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSetup {
    /// The largest window that the receiver advertises, bytes: its option, as the field can tell it.
    pub receive_window: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
}

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

/// The receiver has sent an ACK.
#[derive(Clone, Copy, Debug)]
pub struct AckSent {
    /// When.
    pub now: Time,
    /// The byte that it expects next: the same again in a duplicate ACK.
    pub next: u64,
    /// The window that it advertises, bytes.
    pub window: u32,
    /// [`Flags::SYN`] in a SYN-ACK, [`Flags::WINDOW_UPDATE`] where nothing but an opening window is
    /// told.
    pub flags: Flags,
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

    /// The receiver has sent an ACK, with the window that the policy allowed.
    fn on_ack_sent(&mut self, sent: &AckSent);

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
