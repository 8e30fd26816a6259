//! What a discipline says about the calls of the contract that it leaves to another, or needs not.
//!
//! No call of [`QueueDisc`](crate::QueueDisc) has a default that swallows it: a discipline around
//! another that forgets one is not compiled.

/// Hands calls of [`QueueDisc`](crate::QueueDisc) to the discipline in the field of this name: all
/// of them, or those named. `dequeue` stands for `dequeue_into` too, `measures` for `measured` and
/// `restart_measurement`.
///
/// ```
/// # use airpath_aqm::{AnyQueue, QueueDisc};
/// # use airpath_core::{Bytes, Ctx, Packet};
/// /// Another discipline, and how much the link holds.
/// struct Watched {
///     inner: AnyQueue,
///     held: usize,
/// }
///
/// impl QueueDisc for Watched {
///     airpath_aqm::forwards!(inner: enqueue, dequeue, peek, packets, backlog);
///     airpath_aqm::forwards!(inner: next_wakeup, on_wake, on_rate, on_bypass, on_served, on_lost);
///     airpath_aqm::forwards!(inner: measures);
///
///     fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
///         self.held = packets;
///         self.inner.on_held(packets, bytes, ctx);
///     }
/// }
/// ```
///
/// A call that is neither named nor written is missed by the compiler:
///
/// ```compile_fail,E0046
/// # use airpath_aqm::{AnyQueue, QueueDisc};
/// struct Forgetful {
///     inner: AnyQueue,
/// }
///
/// impl QueueDisc for Forgetful {
///     airpath_aqm::forwards!(inner: enqueue, dequeue, peek, packets, backlog);
///     airpath_aqm::forwards!(inner: next_wakeup, on_wake, on_rate, on_bypass, on_served, on_lost);
///     airpath_aqm::forwards!(inner: measures);
/// }
/// ```
#[macro_export]
macro_rules! forwards {
    ($inner:tt) => {
        $crate::forwards!($inner: enqueue, dequeue, peek, packets, backlog);
        $crate::forwards!($inner: next_wakeup, on_wake, on_rate, on_served, on_held);
        $crate::forwards!($inner: on_bypass, on_lost, measures);
    };
    ($inner:tt: $($method:ident),+) => {
        $($crate::forwards!(@$method $inner);)+
    };
    (@enqueue $inner:tt) => {
        #[inline]
        fn enqueue(&mut self, packet: &::airpath_core::Packet, ctx: &mut ::airpath_core::Ctx<'_>) {
            $crate::QueueDisc::enqueue(&mut self.$inner, packet, ctx);
        }
    };
    (@on_bypass $inner:tt) => {
        fn on_bypass(
            &mut self,
            packet: &::airpath_core::Packet,
            ctx: &mut ::airpath_core::Ctx<'_>,
        ) -> bool {
            $crate::QueueDisc::on_bypass(&mut self.$inner, packet, ctx)
        }
    };
    (@dequeue $inner:tt) => {
        #[inline]
        fn dequeue(
            &mut self,
            ctx: &mut ::airpath_core::Ctx<'_>,
        ) -> Option<::airpath_core::Packet> {
            $crate::QueueDisc::dequeue(&mut self.$inner, ctx)
        }

        #[inline]
        fn dequeue_into(
            &mut self,
            packet: &mut ::airpath_core::Packet,
            ctx: &mut ::airpath_core::Ctx<'_>,
        ) -> bool {
            $crate::QueueDisc::dequeue_into(&mut self.$inner, packet, ctx)
        }
    };
    (@peek $inner:tt) => {
        fn peek(&self) -> Option<&::airpath_core::Packet> {
            $crate::QueueDisc::peek(&self.$inner)
        }
    };
    (@packets $inner:tt) => {
        #[inline]
        fn packets(&self) -> usize {
            $crate::QueueDisc::packets(&self.$inner)
        }
    };
    (@backlog $inner:tt) => {
        #[inline]
        fn backlog(&self) -> ::airpath_core::Bytes {
            $crate::QueueDisc::backlog(&self.$inner)
        }
    };
    (@next_wakeup $inner:tt) => {
        #[inline]
        fn next_wakeup(&self) -> ::airpath_core::Time {
            $crate::QueueDisc::next_wakeup(&self.$inner)
        }
    };
    (@on_wake $inner:tt) => {
        fn on_wake(&mut self, ctx: &mut ::airpath_core::Ctx<'_>) {
            $crate::QueueDisc::on_wake(&mut self.$inner, ctx);
        }
    };
    (@on_rate $inner:tt) => {
        fn on_rate(&mut self, rate: ::airpath_core::LinkRate, ctx: &mut ::airpath_core::Ctx<'_>) {
            $crate::QueueDisc::on_rate(&mut self.$inner, rate, ctx);
        }
    };
    (@on_served $inner:tt) => {
        #[inline]
        fn on_served(
            &mut self,
            packet: &mut ::airpath_core::Packet,
            ctx: &mut ::airpath_core::Ctx<'_>,
        ) {
            $crate::QueueDisc::on_served(&mut self.$inner, packet, ctx);
        }
    };
    (@on_lost $inner:tt) => {
        fn on_lost(
            &mut self,
            packet: &::airpath_core::Packet,
            ctx: &mut ::airpath_core::Ctx<'_>,
        ) {
            $crate::QueueDisc::on_lost(&mut self.$inner, packet, ctx);
        }
    };
    (@measures $inner:tt) => {
        fn measured(&self, now: ::airpath_core::Time) -> Vec<(&'static str, Option<f64>)> {
            $crate::QueueDisc::measured(&self.$inner, now)
        }

        fn restart_measurement(&mut self, now: ::airpath_core::Time) {
            $crate::QueueDisc::restart_measurement(&mut self.$inner, now);
        }
    };
    (@on_held $inner:tt) => {
        fn on_held(
            &mut self,
            packets: usize,
            bytes: ::airpath_core::Bytes,
            ctx: &mut ::airpath_core::Ctx<'_>,
        ) {
            $crate::QueueDisc::on_held(&mut self.$inner, packets, bytes, ctx);
        }
    };
}

/// Says of a discipline what it does without: a `timer` of its own (`next_wakeup`, `on_wake`), the
/// link's nominal `rate` (`on_rate`), completions of service (`served`: `on_served`), what the link
/// `held` after taking it (`on_held`; its limits then count what waits alone), what goes ahead of all
/// that waits (`bypass`: `on_bypass`; all of it is let in), what the link gives up (`lost`: `on_lost`),
/// `measures` of its own.
///
/// It is for disciplines that hold packets themselves. One around another hands these calls on, with
/// [`forwards!`](crate::forwards).
#[macro_export]
macro_rules! needs_no {
    ($($what:ident),+) => {
        $($crate::needs_no!(@$what);)+
    };
    (@timer) => {
        #[inline]
        fn next_wakeup(&self) -> ::airpath_core::Time {
            ::airpath_core::Time::NEVER
        }

        fn on_wake(&mut self, _ctx: &mut ::airpath_core::Ctx<'_>) {}
    };
    (@rate) => {
        fn on_rate(&mut self, _rate: ::airpath_core::LinkRate, _ctx: &mut ::airpath_core::Ctx<'_>) {}
    };
    (@served) => {
        #[inline]
        fn on_served(
            &mut self,
            _packet: &mut ::airpath_core::Packet,
            _ctx: &mut ::airpath_core::Ctx<'_>,
        ) {
        }
    };
    (@bypass) => {
        fn on_bypass(
            &mut self,
            _packet: &::airpath_core::Packet,
            _ctx: &mut ::airpath_core::Ctx<'_>,
        ) -> bool {
            true
        }
    };
    (@lost) => {
        fn on_lost(
            &mut self,
            _packet: &::airpath_core::Packet,
            _ctx: &mut ::airpath_core::Ctx<'_>,
        ) {
        }
    };
    (@measures) => {
        fn measured(&self, _now: ::airpath_core::Time) -> Vec<(&'static str, Option<f64>)> {
            Vec::new()
        }

        fn restart_measurement(&mut self, _now: ::airpath_core::Time) {}
    };
    (@held) => {
        fn on_held(
            &mut self,
            _packets: usize,
            _bytes: ::airpath_core::Bytes,
            _ctx: &mut ::airpath_core::Ctx<'_>,
        ) {
        }
    };
}
