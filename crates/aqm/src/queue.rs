//! A queue discipline with its measurements: what links and schedulers hold.
//!
//! A link that keeps packets after it has begun to send them takes them with
//! [`Queue::dequeue_held_into`] and gives them back with [`Queue::release`]. Its occupancy, waiting
//! and held together, is what is measured here and what limits count; what may be dequeued is what
//! waits.

use crate::queue_disc::{QueueDisc, QueueState, delegate_queue};
use crate::registry::AnyQueue;
use airpath_core::stats::{Mean, Occupancy};
use airpath_core::{
    Bytes, Ctx, Delays, DropReason, Histogram, LinkRate, Packet, PacketKind, QueueId, Series, Time,
};

/// A queue discipline whose length and sojourn times are measured.
pub struct Queue {
    disc: AnyQueue,
    id: QueueId,
    occupancy: Occupancy,
    sojourns: Delays,
    arrived: u64,
    departed: u64,
    /// State of the discipline after the last call of it.
    state: QueueState,
    /// Packets that the link still holds.
    held_packets: usize,
    held_bytes: Bytes,
}

/// Stores arrival times in the packets that a plug-in receives: its own store may not.
struct ArrivalNoting {
    inner: AnyQueue,
}

impl crate::QueueWrapper for ArrivalNoting {
    delegate_queue!(inner: dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    delegate_queue!(inner: on_served, on_lost, on_held, measured, restart_measurement);

    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let mut packet = *packet;
        packet.set_queued_at(ctx.now);
        self.inner.enqueue(&packet, ctx);
    }
}

/// Measurements of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueReport {
    /// Its number in the network.
    pub id: QueueId,
    /// Share of time with 0, 1, 2, … packets waiting or held by the link.
    pub distribution: Vec<f64>,
    /// Time average of the bytes that wait or are held by the link.
    pub mean_bytes: f64,
    /// Mean time between arrival and departure of packets, s.
    pub mean_sojourn_s: Option<f64>,
    /// The same as a sum and a count.
    pub sojourn: Mean,
    /// Distribution of the same times.
    pub sojourns: Histogram,
    /// Most packets that ever waited or were held by the link.
    pub max_packets: usize,
    /// Packets offered.
    pub arrived: u64,
    /// Packets handed to the link.
    pub departed: u64,
    /// Measurements of one kind of discipline or link.
    pub measured: Vec<(&'static str, Option<f64>)>,
}

impl QueueReport {
    /// Time average of the number of packets waiting or held by the link.
    pub fn mean_packets(&self) -> f64 {
        self.distribution.iter().enumerate().map(|(level, share)| level as f64 * share).sum()
    }
}

impl Queue {
    /// A measured queue; `id` is its number in the network: drops, marks and series name it.
    pub fn new(disc: AnyQueue, id: QueueId) -> Queue {
        let disc = match disc {
            AnyQueue::Dyn(_) => AnyQueue::Dyn(Box::new(ArrivalNoting { inner: disc })),
            built_in => built_in,
        };
        Queue {
            state: disc.state(),
            disc,
            id,
            occupancy: Occupancy::default(),
            sojourns: Delays::default(),
            arrived: 0,
            departed: 0,
            held_packets: 0,
            held_bytes: Bytes::ZERO,
        }
    }

    /// Offers a packet to the discipline.
    #[inline]
    pub fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        self.arrived += 1;
        self.disc.enqueue_then_state(packet, &mut self.state, ctx);
        self.note_length(ctx);
        ctx.leave_queue();
    }

    /// Takes the next packet to send.
    pub fn dequeue(&mut self, ctx: &mut Ctx<'_>) -> Option<Packet> {
        let mut packet = Packet::default();
        self.dequeue_into(&mut packet, ctx).then_some(packet)
    }

    /// Moves the next packet to send to `packet`; returns whether there was one.
    #[inline]
    pub fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        ctx.enter_queue(self.id);
        let is_there = self.disc.dequeue_then_state(packet, &mut self.state, ctx);
        self.note_length(ctx);
        if is_there {
            self.note_departure(packet, ctx);
        }
        ctx.leave_queue();
        is_there
    }

    /// Moves the next packet to send to `packet` for a link that keeps it until [`Queue::release`];
    /// returns whether there was one. The occupancy stays as it is.
    pub fn dequeue_held_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        ctx.enter_queue(self.id);
        let is_there = self.disc.dequeue_into(packet, ctx);
        if is_there {
            self.held_packets += 1;
            self.held_bytes += packet.bytes();
            self.note_departure(packet, ctx);
        }
        self.report_held(ctx);
        ctx.leave_queue();
        is_there
    }

    /// The link has released `packets` held packets of `bytes` bytes in all.
    ///
    /// # Panics
    /// If it did not hold as much.
    pub fn release(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        assert!(
            packets <= self.held_packets && bytes <= self.held_bytes,
            "only what is held is released"
        );
        self.held_packets -= packets;
        self.held_bytes -= bytes;
        ctx.enter_queue(self.id);
        self.report_held(ctx);
        ctx.leave_queue();
    }

    fn report_held(&mut self, ctx: &mut Ctx<'_>) {
        self.disc.on_held(self.held_packets, self.held_bytes, ctx);
        self.state = self.disc.state();
        self.note_length(ctx);
    }

    #[inline]
    fn note_departure(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.departed += 1;
        let sojourn = packet.waited(ctx.now);
        self.sojourns.add(sojourn);
        if packet.kind != PacketKind::Ack {
            ctx.record(Series::Sojourn, packet.flow.0, sojourn.as_secs_lossy());
        }
    }

    #[inline]
    fn note_length(&mut self, ctx: &mut Ctx<'_>) {
        let packets = self.occupancy();
        let bytes = self.state.backlog + self.held_bytes;
        self.occupancy.set(packets, bytes.0, ctx.now);
        ctx.record(Series::Queue, self.id.0, packets as f64);
    }

    /// Its number in the network.
    pub fn id(&self) -> QueueId {
        self.id
    }

    /// Packets that wait or that the link still holds.
    #[inline]
    pub fn occupancy(&self) -> usize {
        self.state.packets + self.held_packets
    }

    /// Packets that wait, and may be dequeued.
    #[inline]
    pub fn packets(&self) -> usize {
        self.state.packets
    }

    /// Bytes that wait.
    pub fn backlog(&self) -> Bytes {
        self.state.backlog
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.state.packets == 0
    }

    /// The packet that would be dequeued next, as far as the discipline knows.
    #[inline]
    pub fn peek(&self) -> Option<&Packet> {
        self.disc.peek()
    }

    /// When the discipline's own timer is due.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.state.next_wakeup
    }

    /// Lets the discipline act when its timer is due.
    #[inline]
    pub fn wake_if_due(&mut self, ctx: &mut Ctx<'_>) {
        if self.state.next_wakeup <= ctx.now {
            ctx.enter_queue(self.id);
            self.disc.on_wake(ctx);
            self.state = self.disc.state();
            self.note_length(ctx);
            ctx.leave_queue();
        }
    }

    /// Passes the link's nominal rate and framing to the discipline.
    pub fn on_rate(&mut self, rate: LinkRate, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        self.disc.on_rate(rate, ctx);
        ctx.leave_queue();
        self.state = self.disc.state();
    }

    /// Notifies the discipline that the link has sent `packet` completely.
    #[inline]
    pub fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        self.disc.serve(packet, ctx);
        ctx.leave_queue();
    }

    /// A packet that the link took from here and has not sent completely is discarded.
    pub fn give_up(&mut self, packet: Packet, reason: DropReason, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        self.disc.on_lost(&packet, ctx);
        ctx.drop(packet, reason);
        ctx.leave_queue();
        self.state = self.disc.state();
    }

    /// A packet from here that the link has sent is lost: corrupted on the air.
    pub fn lose(&mut self, packet: Packet, reason: DropReason, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        ctx.drop(packet, reason);
        ctx.leave_queue();
    }

    /// Restarts the measurement at `now`.
    pub fn restart_measurement(&mut self, now: Time) {
        self.occupancy.restart(now);
        self.sojourns = Delays::default();
        self.arrived = 0;
        self.departed = 0;
        self.disc.restart_measurement(now);
    }

    /// Returns the measurements up to `now`.
    pub fn report(&self, now: Time) -> QueueReport {
        let (distribution, mean_bytes) = self.occupancy.distribution_and_mean_bytes(now);
        QueueReport {
            id: self.id,
            distribution,
            mean_bytes,
            mean_sojourn_s: self.sojourns.mean().secs(),
            sojourn: self.sojourns.mean(),
            sojourns: self.sojourns.histogram().clone(),
            max_packets: self.occupancy.most_packets(),
            arrived: self.arrived,
            departed: self.departed,
            measured: self.disc.measured(now),
        }
    }
}
