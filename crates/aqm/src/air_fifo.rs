//! First in, first out, with a count of what its packets cost on the air: for disciplines that
//! compare what arrives with what the link carries.

use crate::fifo::Fifo;
use crate::queue_disc::QueueState;
use airpath_core::{Bytes, Framing, Packet, Time};

/// Packets in order of arrival, and their bytes on the air.
#[derive(Clone, Debug, Default)]
pub(crate) struct AirFifo {
    fifo: Fifo,
    framing: Framing,
    /// Bytes on the air of waiting packets.
    waiting: Bytes,
    held_packets: usize,
    held_bytes: Bytes,
    /// Bytes on the air of held packets.
    held: Bytes,
}

impl AirFifo {
    /// Cost of a packet on the air.
    #[inline]
    pub(crate) fn cost(&self, packet: &Packet) -> Bytes {
        self.framing.on_air(packet.bytes())
    }

    /// Puts a copy of a packet that arrives at `now` behind the others, and notes the instant in it.
    #[inline]
    pub(crate) fn push(&mut self, packet: &Packet, cost: Bytes, now: Time) -> &mut Packet {
        self.waiting += cost;
        self.fifo.push(packet, now)
    }

    /// Moves the oldest packet to `packet`; returns whether there was one.
    #[inline]
    pub(crate) fn pop_into(&mut self, packet: &mut Packet) -> bool {
        let is_there = self.fifo.pop_into(packet);
        if is_there {
            self.waiting -= self.cost(packet);
        }
        is_there
    }

    /// The oldest packet.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    /// Number of packets.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.fifo.len()
    }

    /// Whether there is no packet.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// Bytes of all packets.
    #[inline]
    pub(crate) fn backlog(&self) -> Bytes {
        self.fifo.backlog()
    }

    /// State of the queue, for a discipline without a timer.
    #[inline]
    pub(crate) fn state(&self) -> QueueState {
        QueueState { packets: self.len(), backlog: self.backlog(), next_wakeup: Time::NEVER }
    }

    /// Packets that wait here or that the link still holds.
    #[inline]
    pub(crate) fn occupancy(&self) -> usize {
        self.fifo.occupancy()
    }

    /// The same in bytes of IP packets.
    #[inline]
    pub(crate) fn occupied_bytes(&self) -> Bytes {
        self.fifo.occupied_bytes()
    }

    /// The same in bytes on the air. What is held counts at its mean size.
    #[inline]
    pub(crate) fn occupied_on_air(&self) -> Bytes {
        self.waiting + self.held
    }

    /// Whether this much is already known to be held.
    #[inline]
    pub(crate) fn holds(&self, packets: usize, bytes: Bytes) -> bool {
        (self.held_packets, self.held_bytes) == (packets, bytes)
    }

    /// The link still holds this much of what was taken from here.
    pub(crate) fn set_held(&mut self, packets: usize, bytes: Bytes) {
        self.fifo.set_held(packets, bytes);
        (self.held_packets, self.held_bytes) = (packets, bytes);
        let mean = bytes.0.checked_div(packets as u64).unwrap_or(0);
        self.held = Bytes(packets as u64 * self.framing.on_air(Bytes(mean)).0);
        if packets == 0 {
            self.held = Bytes::ZERO;
        }
    }

    /// The link's framing is this from now on.
    pub(crate) fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
        self.waiting = Bytes(self.fifo.iter().map(|packet| framing.on_air(packet.bytes()).0).sum());
        self.set_held(self.held_packets, self.held_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::FlowId;

    fn packet(bytes: u64) -> Packet {
        Packet::datagram(FlowId(0), 0, Bytes(bytes), Time::ZERO)
    }

    #[test]
    fn waiting_and_held_packets_cost_the_bytes_of_the_framing() {
        let mut fifo = AirFifo::default();
        fifo.set_framing(Framing::with_overhead(Bytes(10)));
        for bytes in [40, 1000] {
            let packet = packet(bytes);
            let cost = fifo.cost(&packet);
            fifo.push(&packet, cost, Time::ZERO);
        }
        assert_eq!((fifo.backlog(), fifo.occupied_on_air()), (Bytes(1040), Bytes(1060)));
        fifo.set_held(3, Bytes(120));
        assert_eq!((fifo.occupancy(), fifo.occupied_on_air()), (5, Bytes(1210)));
        assert!(fifo.holds(3, Bytes(120)) && !fifo.holds(3, Bytes(121)));
        fifo.set_framing(Framing::with_overhead(Bytes(100)));
        assert_eq!(fifo.occupied_on_air(), Bytes(1240 + 420));
        let mut taken = Packet::default();
        assert!(fifo.pop_into(&mut taken) && fifo.pop_into(&mut taken));
        assert!(fifo.is_empty() && !fifo.pop_into(&mut taken));
        fifo.set_held(0, Bytes::ZERO);
        assert_eq!(fifo.occupied_on_air(), Bytes::ZERO);
    }
}
