//! [`Queue`]: a queue discipline with its measurements. Links and schedulers use this type.
//!
//! A link may hold packets after it has dequeued them, for example for retransmissions. Such a link
//! dequeues packets with [`Queue::dequeue_held_into`] and releases them with [`Queue::release`].
//! Measurements and limits refer to the occupancy: the sum of waiting and held packets. Only
//! waiting packets can be dequeued.

use crate::gate::{Gate, GatedQueue};
use crate::queue_disc::{QueueDisc, QueueState};
use crate::registry::AnyQueue;
use airpath_core::stats::{Mean, Occupancy};
use airpath_core::{
    Bytes, Ctx, Delays, DropReason, Duration, Histogram, LinkRate, Packet, PacketInstant,
    PacketKind, QueueId, Series, Time,
};

/// A queue discipline with measurements of its length and of sojourn times.
pub struct Queue {
    disc: AnyQueue,
    id: QueueId,
    occupancy: Occupancy,
    sojourns: Delays,
    arrived: u64,
    departed: u64,
    /// State of the discipline after its last call.
    state: QueueState,
    /// Number of packets that the link still holds.
    held_packets: usize,
    held_bytes: Bytes,
    /// Gate of a queue that can be closed.
    gate: Option<Gate>,
}

/// Measurements of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueReport {
    /// ID of the queue in the network.
    pub id: QueueId,
    /// Shares of time with an occupancy of 0, 1, 2, … packets.
    pub distribution: Vec<f64>,
    /// Time average of the bytes of waiting and held packets.
    pub mean_bytes: f64,
    /// Mean time between arrival and departure of packets, s.
    pub mean_sojourn_s: Option<f64>,
    /// Mean of the sojourn times, s, as a sum and a count.
    pub sojourn: Mean,
    /// Distribution of the sojourn times.
    pub sojourns: Histogram,
    /// Largest occupancy, packets.
    pub max_packets: usize,
    /// Number of packets that have arrived, including dropped packets.
    pub arrived: u64,
    /// Number of packets that the link has dequeued.
    pub departed: u64,
    /// Measurements that are specific to the kind of discipline or link.
    pub measured: Vec<(&'static str, Option<f64>)>,
}

impl QueueReport {
    /// Returns the time average of the occupancy, packets.
    pub fn mean_packets(&self) -> f64 {
        self.distribution.iter().enumerate().map(|(level, share)| level as f64 * share).sum()
    }
}

impl Queue {
    /// Creates a queue with measurements from a discipline. `id` is the ID of the queue in the
    /// network; it labels drops, marks and time series.
    pub fn new(disc: AnyQueue, id: QueueId) -> Queue {
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
            gate: None,
        }
    }

    /// Creates a queue that can be closed, for a link that can be interrupted.
    pub fn interruptible(disc: AnyQueue, id: QueueId) -> Queue {
        let queue = Queue::new(disc, id);
        let gate = Gate::default();
        let disc = AnyQueue::Dyn(Box::new(GatedQueue::new(queue.disc, gate.clone())));
        Queue { disc, gate: Some(gate), ..queue }
    }

    /// Closes the queue: to the link it appears empty. Arriving packets wait, or are dropped if
    /// `loses_arrivals` is true. The discipline and its timers continue.
    ///
    /// # Panics
    /// If the queue cannot be closed ([`Queue::interruptible`]).
    pub fn close(&mut self, loses_arrivals: bool) {
        self.gate.as_ref().expect("an interruptible queue").close(loses_arrivals);
    }

    /// Opens the queue again.
    pub fn open(&mut self) {
        self.gate.iter().for_each(Gate::open);
    }

    fn is_closed(&self) -> bool {
        self.gate.as_ref().is_some_and(Gate::is_closed)
    }

    /// Removes all waiting packets. Calls `leave` with each of them; drops made by `leave` count as
    /// drops of this queue. Call this method on an open queue.
    pub fn drain(&mut self, mut leave: impl FnMut(Packet, &mut Ctx<'_>), ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        while let Some(packet) = self.disc.dequeue(ctx) {
            self.disc.on_lost(&packet, ctx);
            leave(packet, ctx);
        }
        self.state = self.disc.state();
        self.note_length(ctx);
        ctx.leave_queue();
    }

    /// Passes an arriving packet to the discipline.
    #[inline]
    pub fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        self.arrived += 1;
        self.disc.enqueue_then_state(packet, &mut self.state, ctx);
        self.note_length(ctx);
        ctx.leave_queue();
    }

    /// Dequeues and returns the next packet to send; `None` if there is no packet.
    pub fn dequeue(&mut self, ctx: &mut Ctx<'_>) -> Option<Packet> {
        let mut packet = Packet::default();
        self.dequeue_into(&mut packet, ctx).then_some(packet)
    }

    /// Moves the next packet to send to `packet`. Returns false if there is no packet.
    #[inline(always)]
    pub fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        ctx.enter_queue(self.id);
        let is_found = self.disc.dequeue_then_state(packet, &mut self.state, ctx);
        self.note_length(ctx);
        if is_found {
            self.note_departure(packet, ctx);
        }
        ctx.leave_queue();
        is_found
    }

    /// Moves the next packet to send to `packet` for a link that holds the packet until
    /// [`Queue::release`]. Returns false if there is no packet. The occupancy does not change.
    pub fn dequeue_held_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        ctx.enter_queue(self.id);
        let is_found = self.disc.dequeue_into(packet, ctx);
        if is_found {
            self.held_packets += 1;
            self.held_bytes += packet.bytes();
            self.note_departure(packet, ctx);
        }
        self.report_held(ctx);
        ctx.leave_queue();
        is_found
    }

    /// Releases `packets` held packets with a total size of `bytes`.
    ///
    /// # Panics
    /// If the link holds fewer packets or bytes.
    pub fn release(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        assert!(
            packets <= self.held_packets && bytes <= self.held_bytes,
            "released packets and bytes must be held"
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
        if ctx.records_departures() {
            record_departure(packet, sojourn, ctx);
        }
    }

    #[inline]
    fn note_length(&mut self, ctx: &mut Ctx<'_>) {
        let packets = self.occupancy();
        let bytes = self.state.backlog + self.held_bytes;
        self.occupancy.set(packets, bytes.0, ctx.now);
        ctx.record(Series::Queue, self.id.0, packets as f64);
    }

    /// ID of the queue in the network.
    pub fn id(&self) -> QueueId {
        self.id
    }

    /// Number of packets that wait or that the link still holds.
    #[inline]
    pub fn occupancy(&self) -> usize {
        self.state.packets + self.held_packets
    }

    /// Number of waiting packets, including those of a closed queue.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.state.packets
    }

    /// Number of waiting packets that can be dequeued; 0 if the queue is closed.
    #[inline]
    pub fn packets(&self) -> usize {
        if self.is_closed() { 0 } else { self.state.packets }
    }

    /// Bytes of waiting packets that can be dequeued; 0 if the queue is closed.
    pub fn backlog(&self) -> Bytes {
        if self.is_closed() { Bytes::ZERO } else { self.state.backlog }
    }

    /// Returns true if no packet can be dequeued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets() == 0
    }

    /// Returns the packet that the discipline would dequeue next.
    #[inline]
    pub fn peek(&self) -> Option<&Packet> {
        self.disc.peek()
    }

    /// Expiry time of the discipline's timer.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.state.next_wakeup
    }

    /// Calls the discipline if its timer has expired.
    #[inline(always)]
    pub fn wake_if_due(&mut self, ctx: &mut Ctx<'_>) {
        if self.state.next_wakeup <= ctx.now {
            self.wake_now(ctx);
        }
    }

    #[inline(never)]
    fn wake_now(&mut self, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        self.disc.on_wake(ctx);
        self.state = self.disc.state();
        self.note_length(ctx);
        ctx.leave_queue();
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

    /// Counts a packet as dropped that the link has dequeued and then discarded before it was sent
    /// completely.
    pub fn give_up(&mut self, packet: Packet, reason: DropReason, ctx: &mut Ctx<'_>) {
        ctx.enter_queue(self.id);
        self.disc.on_lost(&packet, ctx);
        ctx.drop(packet, reason);
        ctx.leave_queue();
        self.state = self.disc.state();
    }

    /// Counts a sent packet as dropped because the channel has corrupted it.
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

#[cold]
#[inline(never)]
fn record_departure(packet: &Packet, sojourn: Duration, ctx: &mut Ctx<'_>) {
    if packet.kind != PacketKind::Ack {
        ctx.record(Series::Sojourn, packet.flow.0, sojourn.as_secs_lossy());
    }
    ctx.note_instant(packet, PacketInstant::Dequeued, ctx.now);
}
