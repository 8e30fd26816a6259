//! The contract of a queue discipline.

use airpath_core::{Bytes, Ctx, LinkRate, Packet, Time};

/// What a discipline holds, and when its own timer is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Packets that wait.
    pub packets: usize,
    /// Bytes of IP packets that wait.
    pub backlog: Bytes,
    /// When the timer is due; [`Time::NEVER`] without one.
    pub next_wakeup: Time,
}

/// Packets that wait for a link, and the rule by which they are admitted, marked and dropped.
///
/// Counts exclude the packet in service. What the link still holds after taking it (RLC: until its
/// last PDU is acknowledged) is not among what waits, but limits and instantaneous queue lengths
/// count it: occupancy is what waits and what is held.
///
/// Not every discipline needs all of it: a timer of its own (PIE, ARED, REM, SBD), the link's rate,
/// completed services (CLAMP), what the link still holds after taking it (RLC), what it gives up, what
/// goes ahead of all that waits.
/// [`needs_no!`](crate::needs_no) says what one does without. A discipline around another hands on
/// what it does not change ([`forwards!`](crate::forwards)); the compiler tells what it forgets.
/// The two methods with a default are made of the others.
pub trait QueueDisc {
    /// Takes the packet: queues a copy, marked or not, or drops it (each drop and mark goes through
    /// `ctx`). [`Fifo::push`](crate::Fifo::push) copies it to where it waits and notes there when
    /// that was.
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>);

    /// A packet arrives that goes ahead of all that waits here and is kept elsewhere (an ACK under
    /// `ack-priority`); gives whether it is let in. It counts as an arrival and is refused where the
    /// limit is reached; early drops and marks spare it. While it waits it is among what
    /// [`on_held`](Self::on_held) tells, and `on_served` or `on_lost` tell of it as of any other.
    fn on_bypass(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) -> bool;

    /// The next packet to send, or `None` when there is none. May drop on the way.
    ///
    /// Not every link asks an empty queue: that the link has nothing left to send shows in
    /// `on_served` and `on_held`, and nothing may hang on a `dequeue` that gives `None`.
    fn dequeue(&mut self, ctx: &mut Ctx<'_>) -> Option<Packet>;

    /// `dequeue` for a caller that has a place for the packet, without a detour; gives whether
    /// there was one.
    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        match self.dequeue(ctx) {
            Some(next) => {
                *packet = next;
                true
            }
            None => false,
        }
    }

    /// The packet that is next in line now; a discipline that drops at dequeue may give another.
    fn peek(&self) -> Option<&Packet>;

    /// Packets that wait.
    fn packets(&self) -> usize;

    /// Bytes of IP packets that wait.
    fn backlog(&self) -> Bytes;

    /// When the discipline's own timer is due; [`Time::NEVER`] without one.
    fn next_wakeup(&self) -> Time;

    /// `packets`, `backlog` and `next_wakeup` behind a single dispatch.
    #[inline]
    fn standing(&self) -> Standing {
        Standing {
            packets: self.packets(),
            backlog: self.backlog(),
            next_wakeup: self.next_wakeup(),
        }
    }

    /// The discipline's own timer is due.
    fn on_wake(&mut self, ctx: &mut Ctx<'_>);

    /// The link's nominal rate and its framing, at the start and whenever the rate changes. The
    /// rate is that of what is on the air; a packet takes [`LinkRate::time_of`] its size.
    fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>);

    /// The link has sent `packet` completely; the discipline may write into it. What waits and the
    /// timer stay as they are.
    fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>);

    /// The link has given up `packet`, which it had taken: it was not sent completely. Of every packet
    /// that a link has taken it tells once, by this or by `on_served`; what the channel destroys has
    /// been sent.
    fn on_lost(&mut self, packet: &Packet, ctx: &mut Ctx<'_>);

    /// What only a discipline of this kind measures, by name with its unit, up to `now`; `None` for
    /// what has no value yet. Counts and means are since
    /// [`restart_measurement`](Self::restart_measurement).
    fn measured(&self, now: Time) -> Vec<(&'static str, Option<f64>)>;

    /// What is measured begins anew at `now`.
    fn restart_measurement(&mut self, now: Time);

    /// From now on the link holds this much that it has dequeued but not yet got rid of, with what
    /// waits ahead of all that is here. Only links that keep packets, and `ack-priority`, call this.
    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>);
}
