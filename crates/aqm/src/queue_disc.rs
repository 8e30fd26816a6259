//! The contract of a queue discipline.

use airpath_core::{Bytes, Ctx, LinkRate, Packet, Time};

/// State of a queue discipline: backlog and expiry of its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// Number of waiting packets.
    pub packets: usize,
    /// Bytes of waiting IP packets.
    pub backlog: Bytes,
    /// When the timer is due; [`Time::NEVER`] without one.
    pub next_wakeup: Time,
}

airpath_core::contract! { $
    /// A queue discipline: packets that wait for a link, and the rule by which they are admitted, marked
    /// and dropped.
    ///
    /// Counts exclude the packet in service. What the link still holds after taking it (RLC: until its
    /// last PDU is acknowledged) does not wait, but limits and instantaneous queue lengths count it:
    /// occupancy is what waits and what is held.
    ///
    /// Four methods are required. The others have defaults: no timer, every bypass admitted, and nothing
    /// done with the link's rate, completed and lost packets, and what the link holds; limits then count
    /// what waits only. A discipline around another implements [`QueueWrapper`].
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
        /// Takes the packet: queues a copy, marked or not, or drops it (each drop and mark goes through
        /// `ctx`). [`Fifo::push`](crate::Fifo::push) copies the packet into the queue and stores its
        /// arrival time in the copy.
        fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>);

        /// Moves the next packet to send to `packet`; returns whether there was one. May drop packets
        /// before it.
        ///
        /// Not every link polls an empty queue: that the link has nothing left to send shows in
        /// `on_served` and `on_held`, and nothing may depend on a call that finds no packet.
        fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool;

        /// The packet that is next in line now; a discipline that drops at dequeue may send another.
        fn peek(&self) -> Option<&Packet>;

        /// Returns the backlog and the expiry of the discipline's timer.
        fn state(&self) -> QueueState;

        /// A packet arrives that goes ahead of all that waits here and is kept elsewhere (an ACK under
        /// `ack-priority`); returns whether it is admitted. It counts as an arrival and is dropped where
        /// the limit is reached; early drops and marks spare it. While it waits it is part of what
        /// [`on_held`](Self::on_held) reports, and `on_served` or `on_lost` report its end.
        fn on_bypass(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
            true
        }

        /// The discipline's own timer is due.
        fn on_wake(&mut self, _ctx: &mut Ctx<'_>) {}

        /// The link's nominal rate and its framing, at the start and whenever the rate changes. The
        /// rate is that of what is on the air; a packet takes [`LinkRate::time_of`] its size.
        fn on_rate(&mut self, _rate: LinkRate, _ctx: &mut Ctx<'_>) {}

        /// The link has sent `packet` completely; the discipline may write into it. What waits and the
        /// timer stay as they are.
        fn on_served(&mut self, _packet: &mut Packet, _ctx: &mut Ctx<'_>) {}

        /// The link has discarded `packet`, which it had taken: it was not sent completely. A link calls
        /// this or `on_served` once for every packet that it has taken; a packet that the channel
        /// corrupts has been sent.
        fn on_lost(&mut self, _packet: &Packet, _ctx: &mut Ctx<'_>) {}

        /// From now on the link holds this much that it has dequeued but not yet completed, together with
        /// what waits ahead of all that is here. Only links that keep packets, and `ack-priority`, call
        /// this.
        fn on_held(&mut self, _packets: usize, _bytes: Bytes, _ctx: &mut Ctx<'_>) {}

        /// Measurements that only disciplines of this kind make, up to `now`: name with its unit, and
        /// value; `None` for what has no value yet. Counts and means are since
        /// [`restart_measurement`](Self::restart_measurement).
        fn measured(&self, _now: Time) -> Vec<(&'static str, Option<f64>)> {
            Vec::new()
        }

        /// Resets all measurements at `now`.
        fn restart_measurement(&mut self, _now: Time) {}
    }
    provided {
        /// Takes the next packet to send, or `None` when there is none.
        fn dequeue(&mut self, ctx: &mut Ctx<'_>) -> Option<Packet> {
            let mut packet = Packet::default();
            self.dequeue_into(&mut packet, ctx).then_some(packet)
        }

        /// Number of waiting packets, of [`state`](Self::state). Do not override it, nor the two below:
        /// who holds a discipline reads `state`.
        fn packets(&self) -> usize {
            self.state().packets
        }

        /// Bytes of waiting IP packets.
        fn backlog(&self) -> Bytes {
            self.state().backlog
        }

        /// When the discipline's own timer is due; [`Time::NEVER`] without one.
        fn next_wakeup(&self) -> Time {
            self.state().next_wakeup
        }
    }

    /// A queue discipline around another: writes or delegates each method of [`QueueDisc`], which it has
    /// by this.
    ///
    /// ```
    /// use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
    /// use airpath_core::{Bytes, Ctx, LinkRate, Packet, Time};
    ///
    /// /// Another discipline, and how much the link holds.
    /// struct Watched {
    ///     inner: AnyQueue,
    ///     held: usize,
    /// }
    ///
    /// impl airpath_aqm::QueueWrapper for Watched {
    ///     delegate_queue!(inner: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    ///     delegate_queue!(inner: on_served, on_lost, measured, restart_measurement);
    ///
    ///     fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
    ///         self.held = packets;
    ///         self.inner.on_held(packets, bytes, ctx);
    ///     }
    /// }
    /// ```
    ///
    /// A wrapper that neither writes nor delegates a method does not compile:
    ///
    /// ```compile_fail,E0046
    /// # use airpath_aqm::{AnyQueue, QueueDisc, QueueState, delegate_queue};
    /// # use airpath_core::{Bytes, Ctx, LinkRate, Packet, Time};
    /// struct Forgetful {
    ///     inner: AnyQueue,
    /// }
    ///
    /// impl airpath_aqm::QueueWrapper for Forgetful {
    ///     delegate_queue!(inner: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    ///     delegate_queue!(inner: on_served, on_lost, measured, restart_measurement);
    /// }
    /// ```
    pub trait QueueWrapper;

    /// Delegates methods of [`QueueWrapper`] to the discipline in a field:
    /// `delegate_queue!(field: method, …)`, or all of them: `delegate_queue!(field)`.
    #[macro_export]
    macro delegate_queue;
}
