//! First in, first out, with a count of its bytes: the store inside most disciplines.
//!
//! It also keeps what the link still holds of what was taken from here: the limits of a discipline
//! count both.

use crate::queue_disc::QueueState;
use airpath_core::{Bytes, Ctx, DropReason, Packet, Ring, Time};

/// Packets in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    packets: Ring<Packet>,
    backlog: Bytes,
    held_packets: usize,
    held_bytes: Bytes,
}

impl Fifo {
    /// Puts a copy of a packet that arrives at `now` behind the others, and notes the instant in it;
    /// gives its place, to mark it there. Its size stays.
    #[inline]
    pub fn push(&mut self, packet: &Packet, now: Time) -> &mut Packet {
        self.backlog += packet.bytes();
        let place = self.packets.push_place();
        *place = *packet;
        place.set_queued_at(now);
        place
    }

    /// Takes the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.backlog -= packet.bytes();
        Some(packet)
    }

    /// Moves the oldest packet to `packet`; returns whether there was one.
    #[inline]
    pub fn pop_into(&mut self, packet: &mut Packet) -> bool {
        let Some(oldest) = self.packets.front() else { return false };
        *packet = *oldest;
        self.backlog -= packet.bytes();
        self.packets.drop_front();
        true
    }

    /// The oldest packet.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// The packets, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter()
    }

    /// Signals congestion with the oldest packet: marks it when `may_mark` and it is ECN-capable,
    /// drops it otherwise. On an empty queue nothing happens.
    pub fn signal_at_front(&mut self, may_mark: bool, ctx: &mut Ctx<'_>) {
        if self.is_empty() {
            return;
        }
        if may_mark && self.packets[0].ecn.is_capable() {
            ctx.mark(&mut self.packets[0]);
        } else if let Some(oldest) = self.pop() {
            ctx.drop(oldest, DropReason::Early);
        }
    }

    /// Number of packets.
    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether there is no packet.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Bytes of all packets.
    #[inline]
    pub fn backlog(&self) -> Bytes {
        self.backlog
    }

    /// State of the queue, for a discipline without a timer.
    #[inline]
    pub fn state(&self) -> QueueState {
        QueueState { packets: self.len(), backlog: self.backlog(), next_wakeup: Time::NEVER }
    }

    /// Packets that wait here or that the link still holds.
    #[inline]
    pub fn occupancy(&self) -> usize {
        self.packets.len() + self.held_packets
    }

    /// Bytes that wait here or that the link still holds.
    #[inline]
    pub fn occupied_bytes(&self) -> Bytes {
        self.backlog + self.held_bytes
    }

    /// The link still holds this much of what was taken from here.
    pub fn set_held(&mut self, packets: usize, bytes: Bytes) {
        self.held_packets = packets;
        self.held_bytes = bytes;
    }
}
