//! The drop-tail queue in front of a flow's wire with a rate and a limit.
//!
//! A wire knows when a packet will be sent as soon as it enters: this stage keeps the same account,
//! forwards admitted packets at once, and drops the rest. It therefore holds nothing itself.

use airpath_aqm::Limit;
use airpath_core::{Bytes, Control, Ctx, DropReason, Packet, Port, Rate, Ring, Stage, Time};

/// Admits packets to a wire of that rate. Input 0, output 0: the wire, without an additional delay
/// in front of the rate.
#[derive(Debug)]
pub struct WireQueue {
    limit: Limit,
    rate: Rate,
    /// When the wire has sent everything that it was given.
    busy_until: Time,
    /// Of the packets that may still wait: when they begin to be sent, and how large they are.
    waiting: Ring<(Time, Bytes)>,
    waiting_bytes: Bytes,
}

impl WireQueue {
    /// In front of a wire at which nothing is.
    pub fn new(limit: Limit, rate: Rate) -> WireQueue {
        let (busy_until, waiting_bytes) = (Time::ZERO, Bytes(0));
        WireQueue { limit, rate, busy_until, waiting: Ring::default(), waiting_bytes }
    }

    /// Whether a packet of `size` may wait at `now`, or need not.
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

    /// Which of packets of 1500 B, each 10 ms on the wire, get on it.
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
        // Sent from 0, 10 and 20 ms on; at 10 ms one no longer waits.
        let found = admitted(Limit::Packets(2), &[0, 0, 0, 0, 9, 10, 10, 50]);
        assert_eq!(found, [true, true, true, false, false, true, false, true]);
    }

    #[test]
    fn a_limit_in_bytes_counts_what_waits() {
        let found = admitted(Limit::Bytes(4499), &[0, 0, 0, 0, 10, 19, 20]);
        assert_eq!(found, [true, true, true, false, true, false, true]);
        // An idle wire sends what could not wait.
        let found = admitted(Limit::Bytes(100), &[0, 0, 10]);
        assert_eq!(found, [true, false, true]);
    }

    #[test]
    fn account_equals_that_of_the_wire() {
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
