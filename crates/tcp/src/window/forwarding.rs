//! What a policy says about the calls of the contract that it leaves to another, or needs not.
//!
//! No call of [`ReceiveWindow`](super::ReceiveWindow) has a default that swallows it: a policy
//! around another that forgets one is not compiled.

/// Hands calls of [`ReceiveWindow`](crate::window::ReceiveWindow) to the policy in the field of this
/// name: all of them, or those named.
///
/// ```
/// # use airpath_tcp::window::{AnyWindow, ReceiveWindow};
/// /// Another policy, and no window above a limit.
/// struct Limited {
///     inner: AnyWindow,
///     most: u64,
/// }
///
/// impl ReceiveWindow for Limited {
///     airpath_tcp::window::forwards!(inner: on_arrival, on_ack_sent, right_edge);
///     airpath_tcp::window::forwards!(inner: next_update, is_bounded);
///
///     fn window(&self) -> u64 {
///         self.inner.window().min(self.most)
///     }
/// }
/// ```
///
/// A call that is neither named nor written is missed by the compiler:
///
/// ```compile_fail,E0046
/// # use airpath_tcp::window::{AnyWindow, ReceiveWindow};
/// struct Forgetful {
///     inner: AnyWindow,
/// }
///
/// impl ReceiveWindow for Forgetful {
///     airpath_tcp::window::forwards!(inner: on_arrival, on_ack_sent, window);
///     airpath_tcp::window::forwards!(inner: right_edge, next_update);
/// }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! window_forwards {
    ($inner:tt) => {
        $crate::window_forwards!(
            $inner: on_arrival, on_ack_sent, window, right_edge, next_update, is_bounded
        );
    };
    ($inner:tt: $($method:ident),+) => {
        $($crate::window_forwards!(@$method $inner);)+
    };
    (@on_arrival $inner:tt) => {
        #[inline]
        fn on_arrival(
            &mut self,
            arrival: &$crate::window::Arrival,
        ) -> Result<(), ::airpath_core::StageError> {
            $crate::window::ReceiveWindow::on_arrival(&mut self.$inner, arrival)
        }
    };
    (@on_ack_sent $inner:tt) => {
        #[inline]
        fn on_ack_sent(&mut self, sent: &$crate::window::AckSent) {
            $crate::window::ReceiveWindow::on_ack_sent(&mut self.$inner, sent);
        }
    };
    (@window $inner:tt) => {
        #[inline]
        fn window(&self) -> u64 {
            $crate::window::ReceiveWindow::window(&self.$inner)
        }
    };
    (@right_edge $inner:tt) => {
        fn right_edge(&self, state: &$crate::window::WindowState) -> u64 {
            $crate::window::ReceiveWindow::right_edge(&self.$inner, state)
        }
    };
    (@next_update $inner:tt) => {
        fn next_update(&self, state: &$crate::window::WindowState) -> ::airpath_core::Time {
            $crate::window::ReceiveWindow::next_update(&self.$inner, state)
        }
    };
    (@is_bounded $inner:tt) => {
        fn is_bounded(&self) -> bool {
            $crate::window::ReceiveWindow::is_bounded(&self.$inner)
        }
    };
}

/// Says of a policy what it does without: news of `arrivals` or of the `acks` that are sent, a
/// `buffer` of limited size (nothing is refused, and no ACK is sent because the window opens).
///
/// A policy around another hands these calls on, with [`forwards!`](crate::window::forwards).
#[macro_export]
#[doc(hidden)]
macro_rules! window_needs_no {
    ($($what:ident),+) => {
        $($crate::window_needs_no!(@$what);)+
    };
    (@arrivals) => {
        #[inline]
        fn on_arrival(
            &mut self,
            _arrival: &$crate::window::Arrival,
        ) -> Result<(), ::airpath_core::StageError> {
            Ok(())
        }
    };
    (@acks) => {
        #[inline]
        fn on_ack_sent(&mut self, _sent: &$crate::window::AckSent) {}
    };
    (@buffer) => {
        fn right_edge(&self, state: &$crate::window::WindowState) -> u64 {
            state.edge.max(state.next + $crate::window::ReceiveWindow::window(self))
        }
        fn next_update(&self, _state: &$crate::window::WindowState) -> ::airpath_core::Time {
            ::airpath_core::Time::NEVER
        }
        fn is_bounded(&self) -> bool {
            false
        }
    };
}
