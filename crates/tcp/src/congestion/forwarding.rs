//! What a congestion control says about the calls of the contract that it leaves to another, or
//! needs not.
//!
//! No call of [`CongestionControl`](super::CongestionControl) has a default that swallows it: a
//! congestion control around another that forgets one is not compiled.

/// Hands calls of [`CongestionControl`](crate::congestion::CongestionControl) to the congestion
/// control in the field of this name: all of them, or those named.
///
/// ```
/// # use airpath_tcp::congestion::{AnyCongestion, CongestionControl, LossEvent};
/// /// Another congestion control, and a count of its timeouts.
/// struct Counted {
///     inner: AnyCongestion,
///     timeouts: usize,
/// }
///
/// impl CongestionControl for Counted {
///     airpath_tcp::forwards!(inner: on_ack, wants_every_ack, on_loss, on_recovered, on_lost_syn);
///     airpath_tcp::forwards!(inner: on_ecn, on_idle, on_sent, cwnd, ssthresh, pacing_rate);
///     airpath_tcp::forwards!(inner: wants_rate_samples, take_error);
///
///     fn on_rto(&mut self, event: &LossEvent) {
///         self.timeouts += 1;
///         self.inner.on_rto(event);
///     }
/// }
/// ```
///
/// A call that is neither named nor written is missed by the compiler:
///
/// ```compile_fail,E0046
/// # use airpath_tcp::congestion::{AnyCongestion, CongestionControl};
/// struct Forgetful {
///     inner: AnyCongestion,
/// }
///
/// impl CongestionControl for Forgetful {
///     airpath_tcp::forwards!(inner: on_ack, on_loss, on_rto, on_recovered, on_lost_syn, on_ecn);
///     airpath_tcp::forwards!(inner: on_idle, on_sent, cwnd, ssthresh, pacing_rate);
/// }
/// ```
#[macro_export]
macro_rules! forwards {
    ($inner:tt) => {
        $crate::forwards!($inner: on_ack, wants_every_ack, wants_rate_samples, on_loss, on_rto);
        $crate::forwards!($inner: on_recovered, on_lost_syn, on_ecn, on_idle, on_sent, cwnd, ssthresh);
        $crate::forwards!($inner: pacing_rate, take_error);
    };
    ($inner:tt: $($method:ident),+) => {
        $($crate::forwards!(@$method $inner);)+
    };
    (@on_ack $inner:tt) => {
        #[inline]
        fn on_ack(&mut self, event: &$crate::congestion::AckEvent) {
            $crate::congestion::CongestionControl::on_ack(&mut self.$inner, event);
        }
    };
    (@wants_every_ack $inner:tt) => {
        #[inline]
        fn wants_every_ack(&self) -> bool {
            $crate::congestion::CongestionControl::wants_every_ack(&self.$inner)
        }
    };
    (@wants_rate_samples $inner:tt) => {
        fn wants_rate_samples(&self) -> bool {
            $crate::congestion::CongestionControl::wants_rate_samples(&self.$inner)
        }
    };
    (@on_loss $inner:tt) => {
        fn on_loss(&mut self, event: &$crate::congestion::LossEvent) {
            $crate::congestion::CongestionControl::on_loss(&mut self.$inner, event);
        }
    };
    (@on_rto $inner:tt) => {
        fn on_rto(&mut self, event: &$crate::congestion::LossEvent) {
            $crate::congestion::CongestionControl::on_rto(&mut self.$inner, event);
        }
    };
    (@on_recovered $inner:tt) => {
        fn on_recovered(&mut self, cwnd: u64) {
            $crate::congestion::CongestionControl::on_recovered(&mut self.$inner, cwnd);
        }
    };
    (@on_lost_syn $inner:tt) => {
        fn on_lost_syn(&mut self) {
            $crate::congestion::CongestionControl::on_lost_syn(&mut self.$inner);
        }
    };
    (@on_ecn $inner:tt) => {
        fn on_ecn(&mut self, event: &$crate::congestion::LossEvent) {
            $crate::congestion::CongestionControl::on_ecn(&mut self.$inner, event);
        }
    };
    (@on_idle $inner:tt) => {
        fn on_idle(&mut self, event: &$crate::congestion::IdleEvent) {
            $crate::congestion::CongestionControl::on_idle(&mut self.$inner, event);
        }
    };
    (@on_sent $inner:tt) => {
        #[inline]
        fn on_sent(&mut self, now: ::airpath_core::Time, bytes: u64) {
            $crate::congestion::CongestionControl::on_sent(&mut self.$inner, now, bytes);
        }
    };
    (@cwnd $inner:tt) => {
        #[inline]
        fn cwnd(&self) -> u64 {
            $crate::congestion::CongestionControl::cwnd(&self.$inner)
        }
    };
    (@ssthresh $inner:tt) => {
        #[inline]
        fn ssthresh(&self) -> u64 {
            $crate::congestion::CongestionControl::ssthresh(&self.$inner)
        }
    };
    (@pacing_rate $inner:tt) => {
        #[inline]
        fn pacing_rate(&self) -> Option<::airpath_core::Rate> {
            $crate::congestion::CongestionControl::pacing_rate(&self.$inner)
        }
    };
    (@take_error $inner:tt) => {
        #[inline]
        fn take_error(&mut self) -> Option<::airpath_core::StageError> {
            $crate::congestion::CongestionControl::take_error(&mut self.$inner)
        }
    };
}

/// Says of a congestion control what it does without: anything of its own on a `lost_syn`
/// (`on_lost_syn`), after an `idle` time (`on_idle`), for a packet `sent` (`on_sent`), for echoed
/// marks (`ecn`: they are answered as a loss), samples of delivery `rates`, a `pacing` rate, an
/// `error` that ends the run.
///
/// A congestion control around another hands these calls on, with [`forwards!`](crate::forwards).
#[macro_export]
macro_rules! needs_no {
    ($($what:ident),+) => {
        $($crate::needs_no!(@$what);)+
    };
    (@lost_syn) => {
        fn on_lost_syn(&mut self) {}
    };
    (@idle) => {
        fn on_idle(&mut self, _event: &$crate::congestion::IdleEvent) {}
    };
    (@sent) => {
        #[inline]
        fn on_sent(&mut self, _now: ::airpath_core::Time, _bytes: u64) {}
    };
    (@ecn) => {
        fn on_ecn(&mut self, event: &$crate::congestion::LossEvent) {
            $crate::congestion::CongestionControl::on_loss(self, event);
        }
    };
    (@rates) => {
        fn wants_rate_samples(&self) -> bool {
            false
        }
    };
    (@pacing) => {
        #[inline]
        fn pacing_rate(&self) -> Option<::airpath_core::Rate> {
            None
        }
    };
    (@error) => {
        #[inline]
        fn take_error(&mut self) -> Option<::airpath_core::StageError> {
            None
        }
    };
}
