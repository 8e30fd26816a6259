//! First-in-first-out queue that also counts bytes on the air: packet sizes with the framing of the
//! link. For disciplines that compare the arrival rate with the rate of the link.

use crate::fifo::Fifo;
use crate::queue_disc::QueueState;
use airpath_core::{Bytes, Framing, Packet, Time};

/// Packets in order of arrival, and the sum of their sizes on the air.
#[derive(Clone, Debug, Default)]
pub(crate) struct AirFifo {
    fifo: Fifo,
    framing: Framing,
    /// Bytes of waiting packets on the air.
    waiting: Bytes,
    held_packets: usize,
    held_bytes: Bytes,
    /// Bytes of held packets on the air.
    held: Bytes,
}

impl AirFifo {
    /// Size of `packet` on the air.
    #[inline]
    pub(crate) fn cost(&self, packet: &Packet) -> Bytes {
        self.framing.on_air(packet.bytes())
    }

    /// Appends a copy of a packet that arrives at `now` and stores the arrival time in the copy.
    #[inline]
    pub(crate) fn push(&mut self, packet: &Packet, cost: Bytes, now: Time) -> &mut Packet {
        self.waiting += cost;
        self.fifo.push(packet, now)
    }

    /// Moves the oldest packet to `packet`. Returns false if the queue is empty.
    #[inline]
    pub(crate) fn pop_into(&mut self, packet: &mut Packet) -> bool {
        let is_found = self.fifo.pop_into(packet);
        if is_found {
            self.waiting -= self.cost(packet);
        }
        is_found
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

    /// Returns true if the queue is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// Bytes of all packets.
    #[inline]
    pub(crate) fn backlog(&self) -> Bytes {
        self.fifo.backlog()
    }

    /// Packets and bytes in the queue, as the state of a discipline without a timer.
    #[inline]
    pub(crate) fn state(&self) -> QueueState {
        QueueState { packets: self.len(), backlog: self.backlog(), next_wakeup: Time::NEVER }
    }

    /// Occupancy: the number of packets that wait here or that the link still holds.
    #[inline]
    pub(crate) fn occupancy(&self) -> usize {
        self.fifo.occupancy()
    }

    /// Bytes of the IP packets that wait here or that the link still holds, without framing.
    #[inline]
    pub(crate) fn occupied_bytes(&self) -> Bytes {
        self.fifo.occupied_bytes()
    }

    /// Bytes of waiting and held packets on the air. For held packets, computed from their mean
    /// size.
    #[inline]
    pub(crate) fn occupied_on_air(&self) -> Bytes {
        self.waiting + self.held
    }

    /// Returns true if the number and the bytes of the held packets already have these values.
    #[inline]
    pub(crate) fn holds(&self, packets: usize, bytes: Bytes) -> bool {
        (self.held_packets, self.held_bytes) == (packets, bytes)
    }

    /// Sets the number and the total bytes of the dequeued packets that the link still holds.
    pub(crate) fn set_held(&mut self, packets: usize, bytes: Bytes) {
        self.fifo.set_held(packets, bytes);
        (self.held_packets, self.held_bytes) = (packets, bytes);
        let mean = bytes.0.checked_div(packets as u64).unwrap_or(0);
        self.held = Bytes(packets as u64 * self.framing.on_air(Bytes(mean)).0);
        if packets == 0 {
            self.held = Bytes::ZERO;
        }
    }

    /// Sets the link's framing.
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
