//! Receive-window policies: what the receiver advertises.
//!
//! To add one: its file and one line in `registry.rs`.

mod clamp;
mod drain;
mod fixed;
mod registry;
#[cfg(test)]
#[path = "../../../../scripts/skeletons/window.rs.in"]
pub mod skeleton;

pub use clamp::{ClampConfig, ClampWindow};
pub use drain::{DrainConfig, DrainWindow};
pub use fixed::FixedWindow;
pub use registry::{AnyWindow, WindowRegistry};

use airpath_core::{Flags, StageError, Time};

/// Inputs of the construction of every policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSetup {
    /// The largest window that the receiver advertises, bytes: its option, rounded to the window
    /// field.
    pub receive_window: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
}

/// A data segment has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of the event.
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
    /// Time of the event.
    pub now: Time,
    /// The byte that it expects next: the same again in a duplicate ACK.
    pub next: u64,
    /// The window that it advertises, bytes.
    pub window: u32,
    /// [`Flags::SYN`] in a SYN-ACK, [`Flags::WINDOW_UPDATE`] where only an opening window is
    /// announced.
    pub flags: Flags,
}

/// Received and advertised data, when the receiver computes its window.
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

airpath_core::contract! { $
    /// A receive-window policy: decides the advertised window.
    ///
    /// One method is required. The defaults are those of an application that reads at once: nothing done
    /// for arrivals and ACKs, no segment rejected, no ACK because the window opens. A policy around another
    /// implements [`WindowWrapper`].
    pub trait ReceiveWindow {
        /// Bytes that the receiver allows beyond the next byte expected. The receiver itself never
        /// lets the right edge move back (RFC 9293 §3.8.6).
        fn window(&self) -> u64;

        /// A data segment has arrived.
        ///
        /// # Errors
        /// A plug-in may fail; its message ends the run.
        fn on_arrival(&mut self, _arrival: &Arrival) -> Result<(), StageError> {
            Ok(())
        }

        /// The receiver has sent an ACK, with the window that the policy allowed.
        fn on_ack_sent(&mut self, _sent: &AckSent) {}

        /// The right edge that an ACK sent now advertises; called only when the policy is
        /// [`bounded`](Self::is_bounded).
        fn right_edge(&self, state: &WindowState) -> u64 {
            state.edge.max(state.next + self.window())
        }

        /// When an ACK has to report that the window has opened, if nothing arrives before. Called only
        /// when the policy is [`bounded`](Self::is_bounded).
        fn next_update(&self, _state: &WindowState) -> Time {
            Time::NEVER
        }

        /// Whether there is a buffer of this size and no more: a segment beyond the right edge is
        /// rejected (RFC 9293 §3.10.7.4), and the window may close.
        fn is_bounded(&self) -> bool {
            false
        }
    }

    /// A receive-window policy around another: writes or delegates each method of [`ReceiveWindow`], which
    /// it has by this.
    ///
    /// ```
    /// use airpath_core::{StageError, Time};
    /// use airpath_tcp::delegate_window;
    /// use airpath_tcp::window::{
    ///     AckSent, AnyWindow, Arrival, ReceiveWindow, WindowState, WindowWrapper,
    /// };
    ///
    /// /// Another policy, and no window above a limit.
    /// struct Limited {
    ///     inner: AnyWindow,
    ///     most: u64,
    /// }
    ///
    /// impl WindowWrapper for Limited {
    ///     delegate_window!(inner: on_arrival, on_ack_sent, right_edge, next_update, is_bounded);
    ///
    ///     fn window(&self) -> u64 {
    ///         self.inner.window().min(self.most)
    ///     }
    /// }
    /// ```
    ///
    /// A wrapper that neither writes nor delegates a method does not compile:
    ///
    /// ```compile_fail,E0046
    /// # use airpath_core::{StageError, Time};
    /// # use airpath_tcp::delegate_window;
    /// # use airpath_tcp::window::{
    /// #     AckSent, AnyWindow, Arrival, ReceiveWindow, WindowState, WindowWrapper,
    /// # };
    /// struct Forgetful {
    ///     inner: AnyWindow,
    /// }
    ///
    /// impl WindowWrapper for Forgetful {
    ///     delegate_window!(inner: on_arrival, on_ack_sent, right_edge, next_update, is_bounded);
    /// }
    /// ```
    pub trait WindowWrapper;

    /// Delegates methods of [`WindowWrapper`](window::WindowWrapper) to the receive-window policy in a
    /// field: `delegate_window!(field: method, …)`, or all of them: `delegate_window!(field)`.
    #[macro_export]
    macro delegate_window;
}
