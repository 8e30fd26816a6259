//! Drop-tail: an arriving packet that would exceed the limit is dropped.
//!
//! Source: RFC 7567 §2.

use crate::fifo::Fifo;
use crate::queue_disc::{QueueDisc, QueueState};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Packet, Setup, at_least,
};
use serde::Deserialize;

/// Limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Limit in packets.
    Packets(usize),
    /// Limit in bytes of IP packets.
    Bytes(u64),
}

impl Limit {
    /// Returns true if `packet` may enter a queue that contains `occupancy` packets with a total of
    /// `occupied` bytes.
    #[inline]
    pub fn admits(self, packet: &Packet, occupancy: usize, occupied: Bytes) -> bool {
        match self {
            Limit::Packets(limit) => occupancy < limit,
            Limit::Bytes(limit) => occupied + packet.bytes() <= Bytes(limit),
        }
    }

    /// Rejects a limit of 0.
    pub fn check(self, checks: &mut Checks) {
        match self {
            Limit::Packets(limit) => checks.within("limit.packets", limit, at_least(1_u64)),
            Limit::Bytes(limit) => checks.within("limit.bytes", limit, at_least(1_u64)),
        };
    }
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropTailConfig {
    /// Maximum number of packets or bytes, waiting or held by the link, without the packet in
    /// service. At least 1.
    pub limit: Limit,
}

/// A first-in-first-out queue of limited size.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
    fifo: Fifo,
}

impl DropTail {
    /// Creates an empty queue.
    pub fn new(config: DropTailConfig) -> DropTail {
        DropTail { limit: config.limit, fifo: Fifo::default() }
    }

    #[inline]
    fn has_space_for(&self, packet: &Packet) -> bool {
        self.limit.admits(packet, self.fifo.occupancy(), self.fifo.occupied_bytes())
    }
}

impl<T: ?Sized> Component<T> for DropTail {
    type Config = DropTailConfig;

    fn check(config: &DropTailConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.limit.check(&mut checks);
        checks.finish()
    }

    fn build(config: DropTailConfig, _setup: Setup<'_, T>) -> Result<DropTail, ConfigError> {
        Ok(DropTail::new(config))
    }
}

impl QueueDisc for DropTail {
    fn on_bypass(&mut self, packet: &Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.has_space_for(packet)
    }

    #[inline]
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.has_space_for(packet) {
            self.fifo.push(packet, ctx.now);
        } else {
            ctx.drop(*packet, DropReason::Overflow);
        }
    }

    #[inline]
    fn dequeue_into(&mut self, packet: &mut Packet, _ctx: &mut Ctx<'_>) -> bool {
        self.fifo.pop_into(packet)
    }

    fn peek(&self) -> Option<&Packet> {
        self.fifo.front()
    }

    #[inline]
    fn state(&self) -> QueueState {
        self.fifo.state()
    }

    fn on_held(&mut self, packets: usize, bytes: Bytes, _ctx: &mut Ctx<'_>) {
        self.fifo.set_held(packets, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{FlowId, Time, testing::TestHarness};

    /// Enqueues packets of the given sizes. Returns the sequence numbers of the admitted packets.
    fn admitted(limit: Limit, sizes: &[u32]) -> Vec<u64> {
        let mut harness = TestHarness::default();
        let mut queue = DropTail::new(DropTailConfig { limit });
        for (number, size) in sizes.iter().enumerate() {
            let packet = Packet::data(FlowId(0), number as u64, size - 40, 40, Time::ZERO);
            queue.enqueue(&packet, &mut harness.at(Time::ZERO));
        }
        std::iter::from_fn(|| queue.dequeue(&mut harness.at(Time::ZERO))).map(|p| p.seq).collect()
    }

    #[test]
    fn droptail_drops_packet_above_limit() {
        assert_eq!(admitted(Limit::Packets(2), &[1500; 4]), [0, 1]);
    }

    #[test]
    fn byte_limit_admits_smaller_packet_after_drop() {
        assert_eq!(admitted(Limit::Bytes(3100), &[1500, 1500, 200, 100]), [0, 1, 3]);
    }
}
