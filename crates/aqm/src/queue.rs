//! A queue discipline with its measurements: what links and schedulers hold.

use crate::queue_disc::QueueDisc;
use crate::registry::AnyQueue;
use airpath_core::stats::{Mean, TimeIntegral, TimeWeighted};
use airpath_core::{Bytes, Ctx, Packet, Rate, Series, Time};

/// A queue discipline whose length and sojourn times are measured.
pub struct Queue {
    disc: AnyQueue,
    id: u32,
    length: TimeWeighted,
    bytes: TimeIntegral,
    sojourn: Mean,
    arrived: u64,
    departed: u64,
}

/// What was measured at a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueReport {
    /// Share of time with 0, 1, 2, … packets waiting.
    pub distribution: Vec<f64>,
    /// Time average of the backlog, bytes.
    pub mean_bytes: f64,
    /// Mean time between arrival and departure of data packets and datagrams, s.
    pub mean_sojourn_s: Option<f64>,
    /// Most packets that ever waited.
    pub max_packets: usize,
    /// Packets offered.
    pub arrived: u64,
    /// Packets handed to the link.
    pub departed: u64,
}

impl QueueReport {
    /// Time average of the number of packets waiting.
    pub fn mean_packets(&self) -> f64 {
        self.distribution.iter().enumerate().map(|(level, share)| level as f64 * share).sum()
    }
}

impl Queue {
    /// A measured queue; `id` names it in time series.
    pub fn new(disc: AnyQueue, id: u32) -> Queue {
        Queue {
            disc,
            id,
            length: TimeWeighted::default(),
            bytes: TimeIntegral::default(),
            sojourn: Mean::default(),
            arrived: 0,
            departed: 0,
        }
    }

    /// Offers a packet to the discipline.
    #[inline]
    pub fn enqueue(&mut self, mut packet: Packet, ctx: &mut Ctx<'_>) {
        self.arrived += 1;
        packet.set_queued_at(ctx.now);
        self.disc.enqueue(packet, ctx);
        self.note_length(ctx);
    }

    /// Takes the next packet to send.
    #[inline]
    pub fn dequeue(&mut self, ctx: &mut Ctx<'_>) -> Option<Packet> {
        let packet = self.disc.dequeue(ctx);
        self.note_length(ctx);
        let packet = packet?;
        self.departed += 1;
        if let Some(queued_at) = packet.queued_at() {
            let sojourn = ctx.now.saturating_since(queued_at);
            self.sojourn.add(sojourn);
            ctx.record(Series::Sojourn, packet.flow.0, sojourn.as_secs_lossy());
        }
        Some(packet)
    }

    #[inline]
    fn note_length(&mut self, ctx: &mut Ctx<'_>) {
        let packets = self.disc.packets();
        self.length.set(packets, ctx.now);
        self.bytes.set(self.disc.backlog().0, ctx.now);
        ctx.record(Series::Queue, self.id, packets as f64);
    }

    /// Packets that wait.
    #[inline]
    pub fn packets(&self) -> usize {
        self.disc.packets()
    }

    /// Bytes that wait.
    pub fn backlog(&self) -> Bytes {
        self.disc.backlog()
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.disc.packets() == 0
    }

    /// When the discipline's own timer is due.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.disc.next_wakeup()
    }

    /// Lets the discipline act when its timer is due.
    #[inline]
    pub fn wake_if_due(&mut self, ctx: &mut Ctx<'_>) {
        if self.disc.next_wakeup() <= ctx.now {
            self.disc.on_wake(ctx);
            self.note_length(ctx);
        }
    }

    /// Tells the discipline the link's nominal rate.
    pub fn on_rate(&mut self, rate: Rate, ctx: &mut Ctx<'_>) {
        self.disc.on_rate(rate, ctx);
    }

    /// Tells the discipline that the link has sent `packet` completely.
    #[inline]
    pub fn on_served(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.disc.on_served(packet, ctx);
    }

    /// Tells the discipline what the link still holds.
    pub fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        self.disc.on_held(packets, bytes, ctx);
        self.note_length(ctx);
    }

    /// Starts the measurement anew at `now`.
    pub fn restart_measurement(&mut self, now: Time) {
        self.length.restart(now);
        self.bytes.restart(now);
        self.sojourn = Mean::default();
        self.arrived = 0;
        self.departed = 0;
    }

    /// What was measured up to `now`.
    pub fn report(&self, now: Time) -> QueueReport {
        QueueReport {
            distribution: self.length.distribution(now),
            mean_bytes: self.bytes.mean(now),
            mean_sojourn_s: self.sojourn.secs(),
            max_packets: self.length.highest(),
            arrived: self.arrived,
            departed: self.departed,
        }
    }
}
