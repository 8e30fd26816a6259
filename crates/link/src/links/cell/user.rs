//! One user of a cell: its queue, what the cell holds of it, its channel and what is measured.

use super::harq::HarqBlock;
use crate::link::UserReport;
use airpath_aqm::{Queue, QueueReport};
use airpath_core::{Bytes, Ctx, Delays, DropReason, Duration, Packet, Ring, Time, UserId};
use airpath_phy::snr::SlottedSnr;

/// Counters since the start of measurement.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    delivered_bytes: u64,
    delivered_packets: u64,
    lost_packets: u64,
    /// Slots that it was given and that began in the measured time, and of these those that failed
    /// and those in which no user with data had a higher rate.
    slots: u64,
    failed_slots: u64,
    best_slots: u64,
    /// Sum of the rates that were selected for them, bit/s.
    rates: f64,
}

/// State that is read in every slot in which a user has data: apart from the rest, so that the
/// users of a large cell lie close together.
pub(super) struct Radio {
    pub(super) channel: SlottedSnr,
    /// Bytes of IP packets that wait or of which a part has yet to be delivered.
    pub(super) backlog: Bytes,
    /// Since when the first of them has waited.
    pub(super) head_since: Time,
    /// Sum of the SNRs of the slots in which it had data since measurement started, power ratios,
    /// and how many these were.
    snr: f64,
    snr_slots: u64,
}

impl Radio {
    pub(super) fn new(channel: SlottedSnr) -> Radio {
        let (backlog, head_since) = (Bytes::ZERO, Time::ZERO);
        Radio { channel, backlog, head_since, snr: 0.0, snr_slots: 0 }
    }

    /// The SNR at the start of slot number `slot`, in which it has data; a power ratio.
    #[inline]
    pub(super) fn at(&mut self, slot: u64) -> f64 {
        let snr = self.channel.at(slot);
        self.snr += snr;
        self.snr_slots += 1;
        snr
    }

    /// Restarts the measurement.
    pub(super) fn restart_measurement(&mut self) {
        (self.snr, self.snr_slots) = (0.0, 0);
    }

    /// Mean SNR of the slots in which it had data, dB.
    fn mean_snr_db(&self) -> Option<f64> {
        let mean = self.snr / self.snr_slots as f64;
        (self.snr_slots > 0 && mean > 0.0).then(|| 10.0 * libm::log10(mean))
    }
}

/// One user.
pub(super) struct User {
    pub(super) queue: Queue,
    /// Packets of which blocks are made, in order of their delivery.
    held: Ring<Packet>,
    held_bytes: Bytes,
    /// Bits of the first of them that have been received.
    received_bits: u64,
    /// Slots that have failed in a row.
    failures: u32,
    /// The block that is retransmitted unchanged.
    pub(super) repeated: Option<HarqBlock>,
    /// From arrival to the end of the slot that completes a packet.
    delays: Delays,
    counts: Counts,
}

impl User {
    pub(super) fn new(queue: Queue) -> User {
        User {
            queue,
            held: Ring::default(),
            held_bytes: Bytes::ZERO,
            received_bits: 0,
            failures: 0,
            repeated: None,
            delays: Delays::default(),
            counts: Counts::default(),
        }
    }

    /// Whether anything waits or has yet to be delivered.
    #[inline]
    pub(super) fn has_data(&self) -> bool {
        !self.held.is_empty() || !self.queue.is_empty()
    }

    /// Whether its last slot has failed, and nothing was discarded for it.
    #[inline]
    pub(super) fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// Packets of which blocks are made.
    #[inline]
    pub(super) fn packets_held(&self) -> usize {
        self.held.len()
    }

    /// Packets inside.
    pub(super) fn packets(&self) -> usize {
        self.queue.packets() + self.held.len()
    }

    /// Bytes of IP packets that wait or of which a part has yet to be delivered.
    #[inline]
    pub(super) fn backlog(&self) -> Bytes {
        self.queue.backlog() + self.held_bytes
    }

    /// Since when the packet that is delivered next has waited.
    #[inline]
    pub(super) fn head_since(&self, now: Time) -> Time {
        let head = self.held.front().or_else(|| self.queue.peek());
        let waited = head.map_or(Duration::ZERO, |packet| packet.waited(now));
        Time::from_nanos(now.as_nanos().saturating_sub(waited.as_nanos()))
    }

    /// Dequeues what a block of `bits` carries in addition to the packets already held.
    pub(super) fn fill(&mut self, bits: u64, ctx: &mut Ctx<'_>) {
        let mut packet = Packet::default();
        while self.held_bytes.0 * 8 < self.received_bits.saturating_add(bits)
            && self.queue.dequeue_held_into(&mut packet, ctx)
        {
            self.held_bytes += packet.bytes();
            self.held.push_back(packet);
        }
    }

    /// Takes the next packet that a block completes of which `left` bits are not used up, and uses
    /// them.
    fn complete(&mut self, left: &mut u64) -> Option<Packet> {
        let missing = u64::from(self.held.front()?.size) * 8 - self.received_bits;
        *left = left.checked_sub(missing)?;
        self.received_bits = 0;
        let packet = self.held.pop_front()?;
        self.held_bytes -= packet.bytes();
        Some(packet)
    }

    /// A block of `bits` has been received: `deliver` is given the packets that it completes, and
    /// the next one keeps the rest.
    pub(super) fn succeed(
        &mut self,
        mut bits: u64,
        mut deliver: impl FnMut(&Packet, &mut Ctx<'_>),
        ctx: &mut Ctx<'_>,
    ) {
        let (mut packets, mut bytes) = (0, Bytes::ZERO);
        while let Some(mut packet) = self.complete(&mut bits) {
            packets += 1;
            bytes += packet.bytes();
            self.delays.add(packet.waited(ctx.now));
            self.queue.on_served(&mut packet, ctx);
            deliver(&packet, ctx);
        }
        if !self.held.is_empty() {
            self.received_bits += bits;
        }
        self.failures = 0;
        self.counts.delivered_bytes += bytes.0;
        self.counts.delivered_packets += packets;
        self.release(packets, bytes, ctx);
    }

    /// A slot has failed that began in the measured time.
    #[inline]
    pub(super) fn note_failed_slot(&mut self) {
        self.counts.failed_slots += 1;
    }

    /// A block of `bits` has failed. At the n-th failure in a row the packets that it would have
    /// completed are discarded; returns how many.
    pub(super) fn fail(&mut self, mut bits: u64, attempts: u32, ctx: &mut Ctx<'_>) -> u64 {
        self.failures = self.failures.saturating_add(1);
        if self.failures < attempts {
            return 0;
        }
        let (mut packets, mut bytes) = (0, Bytes::ZERO);
        while let Some(packet) = self.complete(&mut bits) {
            packets += 1;
            bytes += packet.bytes();
            self.queue.give_up(packet, DropReason::Retries, ctx);
        }
        if packets > 0 {
            self.failures = 0;
            self.counts.lost_packets += packets;
            self.release(packets, bytes, ctx);
        }
        packets
    }

    fn release(&mut self, packets: u64, bytes: Bytes, ctx: &mut Ctx<'_>) {
        if packets > 0 {
            self.queue.release(packets as usize, bytes, ctx);
        }
    }

    /// It was given a slot at `rate`, bit/s, and no user with data had a higher one if it
    /// `was_best`.
    #[inline]
    pub(super) fn note_slot(&mut self, rate: f64, was_best: bool) {
        self.counts.slots += 1;
        self.counts.rates += rate;
        self.counts.best_slots += u64::from(was_best);
    }

    /// Restarts the measurement at `now`.
    pub(super) fn restart_measurement(&mut self, now: Time) {
        self.queue.restart_measurement(now);
        self.delays = Delays::default();
        self.counts = Counts::default();
    }

    /// Measurements of its queue up to `now`.
    pub(super) fn queue_report(&self, now: Time) -> QueueReport {
        let mut report = self.queue.report(now);
        let empty_share = report.distribution.first().copied();
        let of_cell = [("mean_delay_s", self.delays.mean().secs()), ("empty_share", empty_share)];
        report.measured.extend(of_cell);
        report
    }

    /// Its measurements; `slots` began in the measured time.
    pub(super) fn report(
        &self,
        user: UserId,
        radio: &Radio,
        slots: u64,
        margin: f64,
    ) -> UserReport {
        let counts = &self.counts;
        let of_slots = |sum: f64| (counts.slots > 0).then(|| sum / counts.slots as f64);
        UserReport {
            user,
            delivered_bytes: counts.delivered_bytes,
            delivered_packets: counts.delivered_packets,
            lost_packets: counts.lost_packets,
            slots: counts.slots,
            slot_share: counts.slots as f64 / slots.max(1) as f64,
            slot_error_rate: of_slots(counts.failed_slots as f64),
            mean_rate_bps: of_slots(counts.rates),
            best_slot_share: of_slots(counts.best_slots as f64),
            mean_snr_db: radio.mean_snr_db(),
            margin,
        }
    }
}
