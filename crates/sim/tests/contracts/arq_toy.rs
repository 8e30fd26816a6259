//! A toy radio link: one duplex stage, clocked by slots, with a separate ARQ in each direction.
//!
//! In each slot either side may send one frame. A frame carries a packet, the sequence number that
//! the side expects next, or both. A frame sent in slot k arrives at the start of slot k + 1,
//! unless the channel corrupts it. The channel is a two-state Markov chain with one step per slot.
//! A packet is kept until a frame of the other side acknowledges it. It leaves the stage in order
//! and exactly once.
//!
//! An idle stage has no wake-up. After n idle slots, the channel state is sampled from the n-step
//! transition probabilities.

use crate::common::SECOND;
use airpath_aqm::Queue;
use airpath_core::{
    ConfigError, Control, Ctx, LinkRate, Packet, Port, Rate, Setup, Stage, Stream, Time,
};
use airpath_link::{DirectionContext, Link, LinkContext, LinkReport, SideReport};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Packets that a side sends before it waits for an acknowledgement.
pub(super) const WINDOW: usize = 16;
/// Slots from the start of a frame until its acknowledgement can arrive.
pub(super) const ROUND: u64 = 2;

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArqConfig {
    /// Length of a slot, ns.
    pub(super) tti_ns: u64,
    pub(super) channel: ChannelConfig,
}

/// The two-state channel; probabilities per slot.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelConfig {
    pub(super) to_bad: f64,
    pub(super) to_good: f64,
    pub(super) loss_good: f64,
    pub(super) loss_bad: f64,
}

pub(super) struct Channel {
    pub(super) config: ChannelConfig,
    pub(super) stream: Stream,
    pub(super) bad: bool,
    pub(super) slot: u64,
}

impl Channel {
    /// Returns P(bad after `slots` slots) = π + (now − π) λⁿ with λ = 1 − to_bad − to_good.
    pub(super) fn bad_after(config: &ChannelConfig, bad: bool, slots: u64) -> f64 {
        let stationary = config.to_bad / (config.to_bad + config.to_good);
        let memory = (1.0 - config.to_bad - config.to_good).powf(slots as f64);
        stationary + (f64::from(u8::from(bad)) - stationary) * memory
    }

    /// Samples the state in `slot`, regardless of the number of idle slots before.
    pub(super) fn advance(&mut self, slot: u64) {
        let p = Channel::bad_after(&self.config, self.bad, slot - self.slot);
        self.bad = self.stream.bernoulli(p);
        self.slot = slot;
    }

    pub(super) fn corrupts(&mut self) -> bool {
        let config = &self.config;
        self.stream.bernoulli(if self.bad { config.loss_bad } else { config.loss_good })
    }
}

/// Frame that a side sends in one slot.
pub(super) struct Frame {
    pub(super) data: Option<(u64, Packet)>,
    /// Sequence number that the receiving end of the other direction expects next.
    pub(super) expects: u64,
}

/// One direction: its sending end and its receiving end.
pub(super) struct Direction {
    pub(super) queue: Queue,
    pub(super) output: Port,
    pub(super) next_seq: u64,
    /// Sent and unacknowledged packets: sequence number, packet, and slot from which it may be
    /// retransmitted.
    pub(super) unacknowledged: VecDeque<(u64, Packet, u64)>,
    pub(super) on_air: Option<Frame>,
    pub(super) expected: u64,
    pub(super) early: BTreeMap<u64, Packet>,
    /// True if the receiving end must send an acknowledgement.
    pub(super) status_due: bool,
    pub(super) report: LinkReport,
    pub(super) frames: u64,
}

impl Direction {
    pub(super) fn new(queue: Queue, output: Port) -> Direction {
        Direction {
            queue,
            output,
            next_seq: 0,
            unacknowledged: VecDeque::new(),
            on_air: None,
            expected: 0,
            early: BTreeMap::new(),
            status_due: false,
            report: LinkReport { regime_packets: vec![0], ..LinkReport::default() },
            frames: 0,
        }
    }

    /// Returns the packet to send in `slot`: the oldest packet that is due for retransmission,
    /// otherwise a new packet.
    pub(super) fn data_for(&mut self, slot: u64, ctx: &mut Ctx<'_>) -> Option<(u64, Packet)> {
        if let Some((seq, packet, again)) =
            self.unacknowledged.iter_mut().find(|(_, _, again)| *again <= slot)
        {
            *again = slot + ROUND;
            return Some((*seq, *packet));
        }
        if self.unacknowledged.len() >= WINDOW {
            return None;
        }
        let mut packet = Packet::default();
        if !self.queue.dequeue_held_into(&mut packet, ctx) {
            return None;
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        self.unacknowledged.push_back((seq, packet, slot + ROUND));
        Some((seq, packet))
    }

    pub(super) fn acknowledge(&mut self, expects: u64, ctx: &mut Ctx<'_>) {
        while self.unacknowledged.front().is_some_and(|(seq, _, _)| *seq < expects)
            && let Some((_, packet, _)) = self.unacknowledged.pop_front()
        {
            self.queue.release(1, packet.bytes(), ctx);
        }
    }

    /// Processes a packet that has arrived at the receiving end.
    pub(super) fn accept(&mut self, seq: u64, packet: Packet, ctx: &mut Ctx<'_>) {
        self.status_due = true;
        if seq >= self.expected {
            self.early.insert(seq, packet);
        }
        while let Some(mut packet) = self.early.remove(&self.expected) {
            self.expected += 1;
            self.queue.on_served(&mut packet, ctx);
            self.report.delivered_packets += 1;
            self.report.delivered_bytes += u64::from(packet.size);
            ctx.emit(self.output, packet);
        }
    }

    /// Returns the number of packets that were dequeued and have not left the stage.
    pub(super) fn inside(&self) -> usize {
        (self.next_seq - self.expected) as usize
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
            && self.unacknowledged.is_empty()
            && self.on_air.is_none()
            && !self.status_due
    }
}

/// The link; direction 0 is forward.
pub(super) struct ArqLink {
    pub(super) tti: u64,
    pub(super) channel: Channel,
    pub(super) directions: [Direction; 2],
    pub(super) next_slot: u64,
    /// Number of slots in which the link was awake, for the tests.
    pub(super) awake: Arc<AtomicUsize>,
}

impl ArqLink {
    pub(super) fn build(
        parameters: &Value,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
        awake: Arc<AtomicUsize>,
    ) -> Result<ArqLink, ConfigError> {
        let config: ArqConfig = airpath_core::registry::read_config(parameters)?;
        let reverse = setup.extra.reverse.as_ref().expect("it was registered for both directions");
        let stream = setup.seed.child("channel").stream();
        let channel = Channel { config: config.channel, stream, bad: false, slot: 0 };
        let direction =
            |side: &DirectionContext| Ok(Direction::new(side.only_queue()?, side.output));
        let directions = [direction(&setup.extra.forward)?, direction(reverse)?];
        Ok(ArqLink { tti: config.tti_ns, channel, directions, next_slot: 0, awake })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.directions.iter().all(Direction::is_idle)
    }

    /// Processes the frames of the previous slot.
    pub(super) fn arrive(&mut self, ctx: &mut Ctx<'_>) {
        for side in [0, 1] {
            let Some(frame) = self.directions[side].on_air.take() else {
                continue;
            };
            if self.channel.corrupts() {
                continue;
            }
            self.directions[1 - side].acknowledge(frame.expects, ctx);
            if let Some((seq, packet)) = frame.data {
                self.directions[side].accept(seq, packet, ctx);
            }
        }
    }

    pub(super) fn send(&mut self, slot: u64, ctx: &mut Ctx<'_>) {
        for side in [0, 1] {
            let data = self.directions[side].data_for(slot, ctx);
            let other = &mut self.directions[1 - side];
            let status = std::mem::take(&mut other.status_due);
            let expects = other.expected;
            if data.is_some() || status {
                self.directions[side].frames += 1;
                self.directions[side].on_air = Some(Frame { data, expects });
            }
        }
    }
}

impl Stage for ArqLink {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.is_idle() {
            self.next_slot = ctx.now.as_nanos() / self.tti + 1;
        }
        self.directions[usize::from(port.0)].queue.enqueue(packet, ctx);
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        for direction in &mut self.directions {
            direction.queue.wake_if_due(ctx);
        }
        let slot = ctx.now.as_nanos() / self.tti;
        if !self.is_idle() && self.next_slot <= slot {
            self.awake.fetch_add(1, Ordering::Relaxed);
            self.next_slot = slot + 1;
            self.channel.advance(slot);
            self.arrive(ctx);
            self.send(slot, ctx);
        }
    }

    fn next_wakeup(&self) -> Time {
        let slot = match self.is_idle() {
            true => Time::NEVER,
            false => Time::from_nanos(self.next_slot * self.tti),
        };
        self.directions.iter().map(|direction| direction.queue.next_wakeup()).fold(slot, Time::min)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        for direction in &mut self.directions {
            match event {
                Control::Begin => {
                    let rate = LinkRate::of_packets(Rate(12_000 * SECOND / self.tti));
                    direction.queue.on_rate(rate, ctx);
                }
                Control::StartMeasurement => direction.queue.restart_measurement(ctx.now),
                _ => {}
            }
        }
    }

    fn held(&self) -> usize {
        self.directions.iter().map(|side| side.queue.waiting() + side.inside()).sum()
    }
}

impl Link for ArqLink {
    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        visit(&mut self.directions[usize::from(port.0)].queue);
    }

    fn on_queues_changed(&mut self, _port: Port, ctx: &mut Ctx<'_>) {
        self.next_slot = self.next_slot.max(ctx.now.as_nanos() / self.tti + 1);
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        let slots = (now.as_nanos() / self.tti).max(1);
        let report = |side: &Direction| {
            let utilisation = side.frames as f64 / slots as f64;
            let link = LinkReport { utilisation, ..side.report.clone() };
            SideReport::of(vec![side.queue.report(now)], link)
        };
        self.directions.iter().map(report).collect()
    }
}
