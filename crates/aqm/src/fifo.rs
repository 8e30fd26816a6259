//! First-in-first-out queue with a byte count. Most disciplines store their packets in it.
//!
//! The queue also counts the dequeued packets that the link still holds: the limit of a discipline
//! applies to waiting and held packets together.

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
    /// Appends a copy of a packet that arrives at `now` and stores the arrival time in the copy.
    /// Returns the copy, so that the caller can mark it. The caller must not change the packet
    /// size.
    #[inline]
    pub fn push(&mut self, packet: &Packet, now: Time) -> &mut Packet {
        self.backlog += packet.bytes();
        let place = self.packets.push_place();
        *place = *packet;
        place.set_queued_at(now);
        place
    }

    /// Removes and returns the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.backlog -= packet.bytes();
        Some(packet)
    }

    /// Moves the oldest packet to `packet`. Returns false if the queue is empty.
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

    /// Marks the oldest packet if `may_mark` is set and the packet is ECN-capable; otherwise drops
    /// it. Does nothing if the queue is empty.
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

    /// Returns true if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Bytes of all packets.
    #[inline]
    pub fn backlog(&self) -> Bytes {
        self.backlog
    }

    /// Packets and bytes in the queue, as the state of a discipline without a timer.
    #[inline]
    pub fn state(&self) -> QueueState {
        QueueState { packets: self.len(), backlog: self.backlog(), next_wakeup: Time::NEVER }
    }

    /// Occupancy: the number of packets that wait here or that the link still holds.
    #[inline]
    pub fn occupancy(&self) -> usize {
        self.packets.len() + self.held_packets
    }

    /// Bytes of the packets that wait here or that the link still holds.
    #[inline]
    pub fn occupied_bytes(&self) -> Bytes {
        self.backlog + self.held_bytes
    }

    /// Sets the number and the total bytes of the dequeued packets that the link still holds.
    pub fn set_held(&mut self, packets: usize, bytes: Bytes) {
        self.held_packets = packets;
        self.held_bytes = bytes;
    }
}
