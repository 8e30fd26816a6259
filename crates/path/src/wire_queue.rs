//! The drop-tail queue in front of a flow's wire, for a wire with a rate and a queue limit.
//!
//! A wire computes the transmission time of a packet when the packet enters. This stage computes
//! the same times. It forwards admitted packets immediately and drops all other packets, so that it
//! holds no packets.

use airpath_aqm::Limit;
use airpath_core::{Bytes, Control, Ctx, DropReason, Packet, Port, Rate, Ring, Stage, Time};

/// Admission control in front of a wire with the same rate. Input 0; output 0 leads to the wire,
/// which must have no delay before its serializer.
#[derive(Debug)]
pub struct WireQueue {
    limit: Limit,
    rate: Rate,
    /// Time at which the wire has transmitted all admitted packets.
    busy_until: Time,
    /// Transmission start and size of the packets that may still wait.
    waiting: Ring<(Time, Bytes)>,
    waiting_bytes: Bytes,
}

impl WireQueue {
    /// Creates the queue of an idle wire.
    pub fn new(limit: Limit, rate: Rate) -> WireQueue {
        let (busy_until, waiting_bytes) = (Time::ZERO, Bytes(0));
        WireQueue { limit, rate, busy_until, waiting: Ring::default(), waiting_bytes }
    }

    /// Returns true if a packet of `size` is admitted at `now`: the wire is free, or the packet is
    /// within the limit.
    fn has_space_for(&mut self, size: Bytes, now: Time) -> bool {
        while let Some((_, bytes)) = self.waiting.front().copied().filter(|(from, _)| *from <= now)
        {
            self.waiting_bytes -= bytes;
            self.waiting.drop_front();
        }
        let is_free = self.busy_until <= now;
        is_free
            || match self.limit {
                Limit::Packets(limit) => self.waiting.len() < limit,
                Limit::Bytes(limit) => self.waiting_bytes + size <= Bytes(limit),
            }
    }

    fn admit(&mut self, size: Bytes, now: Time) {
        let from = self.busy_until.max(now);
        self.busy_until = from + size / self.rate;
        if from > now {
            self.waiting.push_back((from, size));
            self.waiting_bytes += size;
        }
    }
}

impl Stage for WireQueue {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if !self.has_space_for(packet.bytes(), ctx.now) {
            return ctx.drop(*packet, DropReason::Overflow);
        }
        self.admit(packet.bytes(), ctx.now);
        ctx.emit(Port(0), *packet);
    }

    fn wake(&mut self, _ctx: &mut Ctx<'_>) {}

    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }

    fn control(&mut self, _event: &Control, _ctx: &mut Ctx<'_>) {}

    fn held(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{Duration, FlowId, testing::TestHarness};

    /// Returns whether each of several 1500 B packets is admitted. The wire transmits one in 10 ms.
    fn admitted(limit: Limit, arrivals_ms: &[u64]) -> Vec<bool> {
        let mut queue = WireQueue::new(limit, Rate(1_200_000));
        let mut harness = TestHarness::default();
        let offer = |at: &u64| {
            let packet = Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
            queue.receive(Port(0), &packet, &mut harness.at(Time::from_millis(*at)));
            !harness.sent().is_empty()
        };
        arrivals_ms.iter().map(offer).collect()
    }

    #[test]
    fn two_packets_wait_in_addition_to_the_one_in_transmission() {
        // Transmissions start at 0, 10 and 20 ms; at 10 ms one packet no longer waits.
        let found = admitted(Limit::Packets(2), &[0, 0, 0, 0, 9, 10, 10, 50]);
        assert_eq!(found, [true, true, true, false, false, true, false, true]);
    }

    #[test]
    fn byte_limit_counts_waiting_bytes() {
        let found = admitted(Limit::Bytes(4499), &[0, 0, 0, 0, 10, 19, 20]);
        assert_eq!(found, [true, true, true, false, true, false, true]);
        // An idle wire transmits a packet that is larger than the limit.
        let found = admitted(Limit::Bytes(100), &[0, 0, 10]);
        assert_eq!(found, [true, false, true]);
    }

    #[test]
    fn transmission_times_equal_those_of_the_wire() {
        let mut queue = WireQueue::new(Limit::Packets(1000), Rate(1_000_003));
        let mut wire =
            crate::wire::Wire::new(Duration::ZERO, Some(Rate(1_000_003)), Duration::ZERO);
        for number in 0..200u64 {
            let now = Time::from_nanos(number * number * 100_000);
            let packet = Packet::data(FlowId(0), 0, 100 + 7 * number as u32, 40, Time::ZERO);
            assert!(queue.has_space_for(packet.bytes(), now));
            queue.admit(packet.bytes(), now);
            assert_eq!(wire.enter(&packet, now), queue.busy_until);
        }
    }
}
