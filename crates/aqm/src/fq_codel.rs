//! FQ-CoDel: each flow has a separate queue with a separate CoDel dropper. Deficit round robin
//! serves the queues; queues of new flows are served first.
//!
//! Source: RFC 8290; CoDel's dropper is in `codel_dropper.rs`. The CE threshold is that of Linux. Not
//! implemented: classification by criteria other than the flow. Difference: a queue is created when
//! its first packet arrives, so that the memory depends on the number of flows and not on the number
//! of hash values.

use crate::codel_dropper::{CeThreshold, CodelDropper, CodelParameters};
use crate::queue_disc::{QueueDisc, QueueState};
use crate::timed_fifo::TimedFifo;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Ctx, DropReason, Packet, PacketKind, Ring, Setup, Time,
    at_least,
};
use serde::Deserialize;

/// Largest number of packets dropped in one batch when the limit is exceeded (§4.1).
const DROP_BATCH: usize = 64;
/// Smallest quantum, bytes. With this quantum a packet waits at most 256 rounds for enough deficit.
const SMALLEST_QUANTUM: u64 = 256;
/// Largest quantum, bytes. No link sends this many bytes in one round.
const LARGEST_QUANTUM: u64 = 4_000_000_000;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqCodelConfig {
    /// Maximum number of packets, waiting in all queues or held by the link. At least 1; 10 240 in
    /// RFC 8290 §5.2.
    pub limit: usize,
    /// Number of queues, 1 to 65 535; 1024 in RFC 8290 §5.2.
    pub flows: u32,
    /// Quantum: bytes that a queue may send in one round. At least 256; 1514 in RFC 8290 §5.2.
    pub quantum_bytes: u64,
    /// CoDel's TARGET, ns. At least 1; 5 ms in RFC 8290 §5.2.
    pub target_ns: u64,
    /// CoDel's INTERVAL, ns. At least 1; 100 ms in RFC 8290 §5.2.
    pub interval_ns: u64,
    /// Backlog of a queue up to which CoDel drops no packet, bytes: one MTU.
    pub mtu_bytes: u64,
    /// Mark ECN-capable packets instead of dropping them.
    #[serde(default)]
    pub ecn: bool,
    /// CE threshold of Linux: sojourn time above which ECN-capable packets are marked, ns. `None` in
    /// RFC 8290.
    #[serde(default)]
    pub ce_threshold_ns: Option<u64>,
    /// Apply the CE threshold only to packets with ECT(1).
    #[serde(default)]
    pub ce_threshold_ect1: bool,
}

/// Index of a queue in order of creation, from 0.
type QueueNumber = u16;

/// Queue of one hash value. Its size is two cache lines.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct FlowQueue {
    fifo: TimedFifo,
    dropper: CodelDropper,
    /// Bytes that the queue may still send in this round. Negative if the last packet was larger
    /// than the remaining deficit.
    deficit: i64,
    /// True if the queue is in the list of new queues or in the list of old queues.
    is_listed: bool,
}

/// FQ-CoDel discipline: one queue per hash value of a flow.
#[derive(Clone, Debug)]
pub struct FqCodel {
    limit: usize,
    quantum: i64,
    parameters: CodelParameters,
    /// Random value that this instance mixes into the hash.
    perturbation: u64,
    /// Index of the queue for each hash value.
    slots: Box<[Option<QueueNumber>]>,
    queues: Vec<FlowQueue>,
    new: Ring<QueueNumber>,
    old: Ring<QueueNumber>,
    packets: usize,
    backlog: Bytes,
    /// Number of packets that the link still holds.
    held: usize,
}

impl<T: ?Sized> Component<T> for FqCodel {
    type Config = FqCodelConfig;

    fn check(config: &FqCodelConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("limit", config.limit, at_least(1_u64));
        checks.within("flows", config.flows, 1..=u32::from(u16::MAX));
        checks.within("quantum_bytes", config.quantum_bytes, SMALLEST_QUANTUM..=LARGEST_QUANTUM);
        CodelParameters::check(config.target_ns, config.interval_ns, &mut checks);
        checks.finish()
    }

    fn build(config: FqCodelConfig, setup: Setup<'_, T>) -> Result<FqCodel, ConfigError> {
        let FqCodelConfig { limit, flows, quantum_bytes, target_ns, interval_ns, ecn, .. } = config;
        let threshold = CeThreshold::new(config.ce_threshold_ns, config.ce_threshold_ect1);
        let mtu = config.mtu_bytes;
        Ok(FqCodel {
            limit,
            quantum: quantum_bytes as i64,
            parameters: CodelParameters::new(target_ns, interval_ns, mtu, ecn, threshold),
            perturbation: setup.seed.stream().next_u64(),
            slots: vec![None; flows as usize].into_boxed_slice(),
            queues: Vec::new(),
            new: Ring::default(),
            old: Ring::default(),
            packets: 0,
            backlog: Bytes::ZERO,
            held: 0,
        })
    }
}

/// Returns the hash value of a packet in 0..`buckets` (§4.1.1). The input of the hash is the flow
/// and the direction, which represent the 5-tuple. The mixing function is SplitMix64 (Steele, Lea &
/// Flood 2014).
pub fn fq_codel_hash(packet: &Packet, perturbation: u64, buckets: usize) -> usize {
    let direction = u64::from(packet.kind == PacketKind::Ack);
    let mut hash = perturbation ^ (u64::from(packet.flow.0) << 1 | direction);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    ((u128::from(hash) * buckets as u128) >> 64) as usize
}

impl FqCodel {
    /// Returns the queue of the packet. Creates the queue for the first packet with this hash
    /// value.
    #[inline]
    fn classify(&mut self, packet: &Packet) -> QueueNumber {
        let slot = fq_codel_hash(packet, self.perturbation, self.slots.len());
        *self.slots[slot].get_or_insert_with(|| {
            self.queues.push(FlowQueue::default());
            (self.queues.len() - 1) as QueueNumber
        })
    }

    /// Drops packets from the head of the queue with the largest backlog, until its backlog is
    /// halved or a batch has been dropped (§4.1).
    #[cold]
    #[inline(never)]
    fn drop_from_largest_queue(&mut self, ctx: &mut Ctx<'_>) {
        let Some(fattest) = self.queues.iter_mut().rev().max_by_key(|queue| queue.fifo.backlog())
        else {
            return;
        };
        let enough = fattest.fifo.backlog().0 / 2;
        let mut dropped = Bytes::ZERO;
        for _ in 0..DROP_BATCH {
            let Some((_, packet)) = fattest.fifo.pop() else { break };
            dropped += packet.bytes();
            self.packets -= 1;
            ctx.drop(packet, DropReason::Overflow);
            if dropped.0 >= enough {
                break;
            }
        }
        self.backlog -= dropped;
    }

    /// If no packet waits, resets lists and droppers, so that the flow of the next packet is a new
    /// flow (§4.2). This reset does not depend on a poll of the empty queue by the link. Packets
    /// held by the link have been dequeued and belong to no queue.
    #[inline]
    fn reset_if_empty(&mut self, ctx: &mut Ctx<'_>) {
        if self.packets == 0 {
            self.dequeue_into(&mut Packet::default(), ctx);
        }
    }

    /// Dequeues a packet from the queue `number` through its CoDel dropper, and updates the packet
    /// count and the deficit.
    #[inline]
    fn take_from(&mut self, number: QueueNumber, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        let FlowQueue { fifo, dropper, deficit, .. } = &mut self.queues[usize::from(number)];
        let (packets, backlog) = (fifo.len(), fifo.backlog());
        let is_found = dropper.dequeue_into(&self.parameters, fifo, packet, ctx);
        self.packets -= packets - fifo.len();
        self.backlog -= backlog - fifo.backlog();
        if is_found {
            *deficit -= i64::from(packet.size);
        }
        is_found
    }
}

impl QueueDisc for FqCodel {
    fn enqueue(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        let number = self.classify(packet);
        let queue = &mut self.queues[usize::from(number)];
        self.packets += 1;
        self.backlog += packet.bytes();
        queue.fifo.push(packet, ctx.now);
        if !queue.is_listed {
            queue.is_listed = true;
            queue.deficit = self.quantum;
            self.new.push_back(number);
        }
        if self.packets + self.held > self.limit {
            self.drop_from_largest_queue(ctx);
            self.reset_if_empty(ctx);
        }
    }

    fn dequeue_into(&mut self, packet: &mut Packet, ctx: &mut Ctx<'_>) -> bool {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &self.new } else { &self.old };
            let Some(number) = list.front().copied() else { return false };
            let has_credit = self.queues[usize::from(number)].deficit > 0;
            if has_credit && self.take_from(number, packet, ctx) {
                return true;
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.drop_front();
            let queue = &mut self.queues[usize::from(number)];
            if !has_credit {
                queue.deficit += self.quantum;
            }
            if has_credit && !is_new {
                queue.is_listed = false;
            } else {
                self.old.push_back(number);
            }
        }
    }

    /// At the limit, drops packets from the queue with the largest backlog. If no packet is queued,
    /// rejects the arrival.
    fn on_bypass(&mut self, _packet: &Packet, ctx: &mut Ctx<'_>) -> bool {
        if self.packets + self.held < self.limit {
            return true;
        }
        let drops = self.packets > 0;
        if drops {
            self.drop_from_largest_queue(ctx);
            self.reset_if_empty(ctx);
        }
        drops
    }

    fn peek(&self) -> Option<&Packet> {
        let listed = self.new.iter().chain(self.old.iter());
        listed.filter_map(|number| self.queues[usize::from(*number)].fifo.front()).next()
    }

    #[inline]
    fn state(&self) -> QueueState {
        let &FqCodel { packets, backlog, .. } = self;
        QueueState { packets, backlog, next_wakeup: Time::NEVER }
    }

    #[inline]
    fn on_served(&mut self, _packet: &mut Packet, ctx: &mut Ctx<'_>) {
        self.reset_if_empty(ctx);
    }

    fn on_lost(&mut self, _packet: &Packet, ctx: &mut Ctx<'_>) {
        self.reset_if_empty(ctx);
    }

    fn on_held(&mut self, packets: usize, _bytes: Bytes, ctx: &mut Ctx<'_>) {
        self.held = packets;
        self.reset_if_empty(ctx);
    }
}

#[cfg(test)]
mod tests;
