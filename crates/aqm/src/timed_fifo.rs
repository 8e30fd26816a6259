//! First-in-first-out queue that stores arrival times, for disciplines that use sojourn times.
//!
//! The arrival time is stored next to the packet, because the field of an ACK packet is too small
//! for the complete time.

use crate::queue_disc::QueueState;
use airpath_core::{Bytes, Packet, Ring, Time};

/// A packet and its time of arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    arrived: Time,
    packet: Packet,
}

/// Packets in order of arrival, with their times of arrival.
#[derive(Clone, Debug, Default)]
pub struct TimedFifo {
    packets: Ring<Timed>,
    backlog: Bytes,
    held_packets: usize,
}

impl TimedFifo {
    /// Appends a copy of a packet that arrives at `now` and stores the arrival time in the copy.
    /// Returns the copy, so that the caller can mark it. The caller must not change the packet
    /// size.
    #[inline]
    pub fn push(&mut self, packet: &Packet, now: Time) -> &mut Packet {
        self.backlog += packet.bytes();
        let place = self.packets.push_place();
        place.arrived = now;
        place.packet = *packet;
        place.packet.set_queued_at(now);
        &mut place.packet
    }

    /// Removes the oldest packet. Returns its arrival time and the packet.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Packet)> {
        let Timed { arrived, packet } = self.packets.pop_front()?;
        self.backlog -= packet.bytes();
        Some((arrived, packet))
    }

    /// Moves the oldest packet to `packet`. Returns false if the queue is empty.
    #[inline]
    pub fn pop_into(&mut self, packet: &mut Packet) -> bool {
        let Some(oldest) = self.packets.front() else { return false };
        *packet = oldest.packet;
        self.backlog -= packet.bytes();
        self.packets.drop_front();
        true
    }

    /// The oldest packet.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front().map(|oldest| &oldest.packet)
    }

    /// Returns a mutable reference to the oldest packet. The caller must not change the packet
    /// size.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut Packet> {
        if self.is_empty() { None } else { Some(&mut self.packets[0].packet) }
    }

    /// Returns the arrival time of the oldest packet, and the packet.
    #[inline]
    pub fn oldest(&self) -> Option<(Time, &Packet)> {
        self.packets.front().map(|oldest| (oldest.arrived, &oldest.packet))
    }

    /// Number of packets.
    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns true if the queue is empty.
    #[inline]
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

    /// Sets the number of dequeued packets that the link still holds.
    pub fn set_held(&mut self, packets: usize, _bytes: Bytes) {
        self.held_packets = packets;
    }
}
