//! A queue that knows when each packet came: for disciplines that act on sojourn times.
//!
//! The instant is kept here, not in the packet: an acknowledgement has room for a part of it only.

use crate::fifo::Fifo;
use airpath_core::{Bytes, Packet, Ring, Time};

/// Packets in order of arrival, with their times of arrival.
#[derive(Clone, Debug, Default)]
pub struct TimedFifo {
    packets: Fifo,
    arrivals: Ring<Time>,
}

impl TimedFifo {
    /// Puts a packet that arrives at `now` behind the others.
    #[inline]
    pub fn push(&mut self, packet: Packet, now: Time) {
        self.packets.push(packet);
        self.arrivals.push_back(now);
    }

    /// Takes the oldest packet; gives when it arrived, too.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Packet)> {
        let packet = self.packets.pop()?;
        let arrived = self.arrivals.pop_front().expect("as many times as packets");
        Some((arrived, packet))
    }

    /// The oldest packet.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Number of packets.
    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether there is no packet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Bytes of all packets.
    #[inline]
    pub fn backlog(&self) -> Bytes {
        self.packets.backlog()
    }

    /// Packets that wait here or that the link still holds.
    #[inline]
    pub fn occupancy(&self) -> usize {
        self.packets.occupancy()
    }

    /// The link still holds this much of what was taken from here.
    pub fn set_held(&mut self, packets: usize, bytes: Bytes) {
        self.packets.set_held(packets, bytes);
    }
}
