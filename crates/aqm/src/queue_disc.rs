//! [`QueueDisc`]: the trait that each queue discipline implements.

use airpath_core::{Bytes, Ctx, LinkRate, Packet, StageError, Time};

/// State of a queue discipline: its backlog and the expiry time of its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// Number of waiting packets.
    pub packets: usize,
    /// Bytes of waiting IP packets.
    pub backlog: Bytes,
    /// Expiry time of the timer; [`Time::NEVER`] without a timer.
    pub next_wakeup: Time,
}

airpath_core::contract! { $
    /// A queue discipline: packets that wait for a link, and the rules by which packets are
    /// admitted, marked and dropped.
    ///
    /// The packet in service is not counted. A link may hold packets after it has dequeued them;
    /// RLC holds a packet until its last PDU is acknowledged. Held packets do not wait, but limits
    /// and instantaneous queue lengths count them. The occupancy is the sum of waiting and held
    /// packets.
    ///
    /// Four methods are required. The defaults of the other methods admit every bypassing packet
    /// and do nothing else. With these defaults a limit counts only waiting packets. A discipline
    /// that wraps another discipline implements [`QueueWrapper`].
    ///
    /// ```
    /// use airpath_aqm::{Fifo, QueueDisc, QueueState};
    /// use airpath_core::{Ctx, DropReason, Packet};
    ///
    /// /// First in, first out, ten packets.
    /// #[derive(Default)]
    /// struct Ten(Fifo);
    ///
    /// impl QueueDisc for Ten {
    ///     fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
    ///         if self.0.len() < 10 {
    ///             self.0.push(packet, ctx.now);
    ///         } else {
    ///             ctx.drop(*packet, DropReason::Overflow);
    ///         }
    ///     }
    ///
    ///     fn dequeue_into(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) -> bool {
    ///         self.0.pop_into(packet)
    ///     }
    ///
    ///     fn peek(&self) -> Option<&Packet> {
    ///         self.0.front()
    ///     }
    ///
    ///     fn state(&self) -> QueueState {
    ///         self.0.state()
    ///     }
    /// }
    /// ```
    pub trait QueueDisc {
        /// Queues a copy of the arriving packet, marked or unmarked, or drops the packet. The
        /// discipline reports each drop and mark to `ctx`. [`Fifo::push`](crate::Fifo::push) copies
        /// the packet into the queue and stores its arrival time in the copy.
        fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>);

        /// Moves the next packet to send to `packet`. Returns false if there is no packet. May drop
        /// packets ahead of the returned packet.
        ///
        /// Some links do not poll an empty queue. A discipline must not depend on a call of this
        /// method that finds no packet. The methods `on_served` and `on_held` notify the discipline
        /// that the link has nothing left to send.
        fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool;

        /// Returns the packet at the head of the queue. If the discipline drops packets at dequeue,
        /// the next packet sent may be a different one.
        fn peek(&self) -> Option<&Packet>;

        /// Returns the backlog and the expiry time of the discipline's timer.
        fn state(&self) -> QueueState;

        /// Called when a bypassing packet arrives: a packet that is stored elsewhere and sent
        /// before all packets of this queue (an ACK under `ack-priority`). Returns true if the
        /// packet is admitted, and false if the limit is reached. The packet counts as an arrival;
        /// early drops and marks do not apply. While the packet waits, [`on_held`](Self::on_held)
        /// counts it as held. `on_served` or `on_lost` is called when the packet has been sent or
        /// discarded.
        fn on_bypass(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
            true
        }

        /// Called when the discipline's timer expires.
        fn on_wake(&mut self, _ctx: &mut Ctx<'_>) {}

        /// Called with the link's nominal rate and framing, at the start and at each change of the
        /// rate. The rate refers to bytes on the air: [`LinkRate::time_of`] returns the
        /// transmission time of a packet size.
        fn on_rate(&mut self, _rate: LinkRate, _ctx: &mut Ctx<'_>) {}

        /// Called when the link has sent `packet` completely; the discipline may write into the
        /// packet. This call changes neither the queue nor the timer.
        fn on_served(&mut self, _packet: &mut Packet, _ctx: &mut Ctx<'_>) {}

        /// Called when the link has discarded a dequeued packet before it was sent completely. For
        /// every dequeued packet, a link calls either this method or `on_served` exactly once. A
        /// packet that the channel corrupts counts as sent.
        fn on_lost(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) {}

        /// Called when the number of held packets changes. Held packets are the packets that the
        /// link has dequeued but not yet completed, and the bypassing packets that wait elsewhere.
        /// Only `ack-priority` and links that hold packets call this method.
        fn on_held(&mut self, _packets: usize, _bytes: Bytes, _ctx: &mut Ctx<'_>) {}

        /// Returns the measurements up to `now` that are specific to this kind of discipline, as
        /// pairs of a name with unit and a value. The value is `None` if it is not defined yet.
        /// Counts and means start at [`restart_measurement`](Self::restart_measurement).
        fn measured(&self, _now: Time) -> Vec<(&'static str, Option<f64>)> {
            Vec::new()
        }

        /// Resets all measurements at `now`.
        fn restart_measurement(&mut self, _now: Time) {}

        /// Returns an error that has occurred since the last call. The error ends the run. Called
        /// for plug-ins, after each method with a [`Ctx`] and after the call of `state` that follows
        /// such a method. An error of another method is returned at the next of these calls.
        /// [`Ctx::fail`] has the same effect in a method with a [`Ctx`].
        fn take_error(&mut self) -> Option<StageError> {
            None
        }
    }
    provided {
        /// Dequeues and returns the next packet to send; `None` if there is no packet.
        fn dequeue(&mut self, ctx: &mut Ctx<'_>) -> Option<Packet> {
            let mut packet = Packet::default();
            self.dequeue_into(&mut packet, ctx).then_some(packet)
        }

        /// Returns the number of waiting packets from [`state`](Self::state). Do not override this
        /// method, `backlog` or `next_wakeup`: callers may read `state` directly.
        fn packets(&self) -> usize {
            self.state().packets
        }

        /// Returns the bytes of waiting IP packets.
        fn backlog(&self) -> Bytes {
            self.state().backlog
        }

        /// Returns the expiry time of the discipline's timer; [`Time::NEVER`] without a timer.
        fn next_wakeup(&self) -> Time {
            self.state().next_wakeup
        }
    }

    /// A queue discipline that wraps another discipline. An implementation must define or delegate
    /// every method of [`QueueDisc`]. The type then also implements [`QueueDisc`].
    ///
    /// ```
    /// use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
    /// use airpath_core::{Bytes, Ctx, LinkRate, Packet, StageError, Time};
    ///
    /// /// Wrapper that records the number of held packets.
    /// struct Watched {
    ///     inner: AnyQueue,
    ///     held: usize,
    /// }
    ///
    /// impl airpath_aqm::QueueWrapper for Watched {
    ///     delegate_queue!(inner: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    ///     delegate_queue!(inner: on_served, on_lost, measured, restart_measurement, take_error);
    ///
    ///     fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
    ///         self.held = packets;
    ///         self.inner.on_held(packets, bytes, ctx);
    ///     }
    /// }
    /// ```
    ///
    /// A wrapper that neither implements nor delegates a method does not compile:
    ///
    /// ```compile_fail,E0046
    /// # use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
    /// # use airpath_core::{Bytes, Ctx, LinkRate, Packet, StageError, Time};
    /// struct Forgetful {
    ///     inner: AnyQueue,
    /// }
    ///
    /// impl airpath_aqm::QueueWrapper for Forgetful {
    ///     delegate_queue!(inner: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    ///     delegate_queue!(inner: on_served, on_lost, measured, restart_measurement, take_error);
    /// }
    /// ```
    pub trait QueueWrapper;

    /// Delegates methods of [`QueueWrapper`] to the discipline in a field. `delegate_queue!(field:
    /// method, …)` delegates the named methods; `delegate_queue!(field)` delegates all methods.
    #[macro_export]
    macro delegate_queue;
}
