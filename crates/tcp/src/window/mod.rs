//! Receive-window policies: the window that the receiver advertises.
//!
//! To add a policy, add one file and one line in `registry.rs`.

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

/// Parameters of the connection that every policy receives at construction, in addition to its
/// configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSetup {
    /// Largest window that the receiver advertises, bytes: the configured value, rounded to the
    /// window field.
    pub receive_window: u64,
    /// Payload of a full-sized segment, bytes.
    pub mss: u64,
}

/// Event: a data segment has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of the event.
    pub now: Time,
    /// Size of the IP packet, bytes.
    pub bytes: u64,
    /// Explicit feedback in the packet (CLAMP's price).
    pub feedback: f32,
    /// True if the segment starts at the next expected byte.
    pub in_order: bool,
    /// True if all data of the segment had arrived before.
    pub duplicate: bool,
    /// In-order payload that this segment made available to the application, bytes.
    pub delivered: u64,
}

/// Event: the receiver has sent an ACK.
#[derive(Clone, Copy, Debug)]
pub struct AckSent {
    /// Time of the event.
    pub now: Time,
    /// Next expected byte (acknowledgement number).
    pub next: u64,
    /// Advertised window, bytes.
    pub window: u32,
    /// [`Flags::SYN`] in a SYN-ACK, [`Flags::WINDOW_UPDATE`] in an ACK that only announces an
    /// opening window.
    pub flags: Flags,
}

/// State of the receiver at the time at which it computes its window.
#[derive(Clone, Copy, Debug)]
pub struct WindowState {
    /// Current time.
    pub now: Time,
    /// Next expected byte.
    pub next: u64,
    /// Last advertised right edge.
    pub edge: u64,
    /// Payload of a full-sized segment, bytes.
    pub mss: u64,
    /// Step of the advertised window: 2^shift with window scaling, otherwise 1.
    pub step: u64,
}

airpath_core::contract! { $
    /// A receive-window policy: determines the advertised window.
    ///
    /// Only [`window`](Self::window) is required. The default methods describe an application that
    /// reads all data immediately: no reaction to arrivals and ACKs, no rejected segment, no window
    /// update. A policy that wraps another policy implements [`WindowWrapper`] instead.
    pub trait ReceiveWindow {
        /// Returns the number of bytes that the receiver allows beyond the next expected byte. The
        /// receiver ensures that the right edge never moves back (RFC 9293 §3.8.6).
        fn window(&self) -> u64;

        /// Handles the arrival of a data segment.
        ///
        /// # Errors
        /// A plug-in may return an error, which ends the run.
        fn on_arrival(&mut self, _arrival: &Arrival) -> Result<(), StageError> {
            Ok(())
        }

        /// Handles the transmission of an ACK that advertises the window of this policy.
        fn on_ack_sent(&mut self, _sent: &AckSent) {}

        /// Returns the right edge that an ACK sent now advertises. Called only if the policy is
        /// [`bounded`](Self::is_bounded).
        fn right_edge(&self, state: &WindowState) -> u64 {
            state.edge.max(state.next + self.window())
        }

        /// Returns the time at which the receiver must send a window update if no segment arrives
        /// before this time. Called only if the policy is [`bounded`](Self::is_bounded).
        fn next_update(&self, _state: &WindowState) -> Time {
            Time::NEVER
        }

        /// Returns true if the window describes a buffer of limited size. Then the receiver rejects
        /// segments beyond the right edge (RFC 9293 §3.10.7.4), and the window may close.
        fn is_bounded(&self) -> bool {
            false
        }
    }

    /// A receive-window policy that wraps another policy. It implements or delegates each method of
    /// [`ReceiveWindow`], and thereby also implements [`ReceiveWindow`].
    ///
    /// ```
    /// use airpath_core::{StageError, Time};
    /// use airpath_tcp::delegate_window;
    /// use airpath_tcp::window::{
    ///     AckSent, AnyWindow, Arrival, ReceiveWindow, WindowState, WindowWrapper,
    /// };
    ///
    /// /// A wrapped policy whose window is limited.
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
    /// A wrapper that neither implements nor delegates a method does not compile:
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

    /// Delegates methods of [`WindowWrapper`](window::WindowWrapper) to the receive-window policy
    /// in a field. `delegate_window!(field: method, …)` delegates the named methods,
    /// `delegate_window!(field)` all methods.
    #[macro_export]
    macro delegate_window;
}
