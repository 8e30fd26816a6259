//! State of one user of a cell: queue, packets of its blocks, radio channel and measurements.

use super::harq::HarqBlock;
use crate::link::UserReport;
use airpath_aqm::{Queue, QueueReport};
use airpath_core::{
    Bytes, Ctx, Delays, DropReason, Duration, Packet, PacketInstant, Ring, Time, UserId,
};
use airpath_phy::snr::SlottedSnr;

/// Counters since the start of measurement.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    delivered_bytes: u64,
    delivered_packets: u64,
    lost_packets: u64,
    /// Number of slots that were allocated to the user and started in the measured time. The next
    /// two fields count the failed slots among them, and the slots in which no user with data had a
    /// higher rate.
    slots: u64,
    failed_slots: u64,
    best_slots: u64,
    /// Sum of the rates selected for these slots, bit/s.
    rates: f64,
}

/// State of a user that is read in every slot in which the user has data. It is stored separately
/// from [`User`], so that these states of all users are close together in memory.
pub(super) struct Radio {
    pub(super) channel: SlottedSnr,
    /// Bytes of the IP packets that wait or are not completely delivered.
    pub(super) backlog: Bytes,
    /// Arrival time of the first of these packets.
    pub(super) head_since: Time,
    /// Sum of the SNRs (power ratios) of the slots since the start of measurement in which the user
    /// had data.
    snr: f64,
    /// Number of these slots.
    snr_slots: u64,
}

impl Radio {
    pub(super) fn new(channel: SlottedSnr) -> Radio {
        let (backlog, head_since) = (Bytes::ZERO, Time::ZERO);
        Radio { channel, backlog, head_since, snr: 0.0, snr_slots: 0 }
    }

    /// Returns the SNR (power ratio) at the start of slot number `slot`, in which the user has
    /// data.
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

    /// Mean SNR of the slots in which the user had data, dB.
    fn mean_snr_db(&self) -> Option<f64> {
        let mean = self.snr / self.snr_slots as f64;
        (self.snr_slots > 0 && mean > 0.0).then(|| 10.0 * libm::log10(mean))
    }
}

/// One user of a cell.
pub(super) struct User {
    pub(super) queue: Queue,
    /// Packets that were dequeued for blocks and are not delivered yet, in order of delivery.
    held: Ring<Packet>,
    held_bytes: Bytes,
    /// Received bits of the first of these packets.
    received_bits: u64,
    /// Number of consecutive failed slots.
    failures: u32,
    /// Block that is retransmitted unchanged (HARQ).
    pub(super) repeated: Option<HarqBlock>,
    /// Delays from the arrival of a packet to the end of the slot that completes the packet.
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

    /// Returns true if a packet waits or is not completely delivered.
    #[inline]
    pub(super) fn has_data(&self) -> bool {
        !self.held.is_empty() || !self.queue.is_empty()
    }

    /// Returns true if the last slot of the user has failed and no packet was discarded.
    #[inline]
    pub(super) fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// Number of packets that were dequeued for blocks and are not delivered yet.
    #[inline]
    pub(super) fn packets_held(&self) -> usize {
        self.held.len()
    }

    /// Number of waiting and dequeued packets.
    pub(super) fn packets(&self) -> usize {
        self.queue.waiting() + self.held.len()
    }

    /// Bytes of the IP packets that wait or are not completely delivered.
    #[inline]
    pub(super) fn backlog(&self) -> Bytes {
        self.queue.backlog() + self.held_bytes
    }

    /// Arrival time of the packet that is delivered next.
    #[inline]
    pub(super) fn head_since(&self, now: Time) -> Time {
        let head = self.held.front().or_else(|| self.queue.peek());
        let waited = head.map_or(Duration::ZERO, |packet| packet.waited(now));
        Time::from_nanos(now.as_nanos().saturating_sub(waited.as_nanos()))
    }

    /// Dequeues packets until the held packets fill a block of `bits`, or until the queue is empty.
    pub(super) fn fill(&mut self, bits: u64, ctx: &mut Ctx<'_>) {
        let mut packet = Packet::default();
        while self.held_bytes.0 * 8 < self.received_bits.saturating_add(bits)
            && self.queue.dequeue_held_into(&mut packet, ctx)
        {
            self.held_bytes += packet.bytes();
            self.held.push_back(packet);
        }
    }

    /// Removes and returns the next packet if the block completes it. `left` is the number of
    /// unused bits of the block; the bits for the packet are subtracted from it.
    fn complete(&mut self, left: &mut u64) -> Option<Packet> {
        let missing = u64::from(self.held.front()?.size) * 8 - self.received_bits;
        *left = left.checked_sub(missing)?;
        self.received_bits = 0;
        let packet = self.held.pop_front()?;
        self.held_bytes -= packet.bytes();
        Some(packet)
    }

    /// Processes a received block of `bits`. Calls `deliver` with each completed packet. The
    /// remaining bits belong to the next packet.
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

    /// Counts a failed slot that started in the measured time.
    #[inline]
    pub(super) fn note_failed_slot(&mut self) {
        self.counts.failed_slots += 1;
    }

    /// Processes a failed block of `bits`. At the n-th consecutive failure the packets that the
    /// block would have completed are discarded. Returns the number of discarded packets.
    pub(super) fn fail(&mut self, mut bits: u64, attempts: u32, ctx: &mut Ctx<'_>) -> u64 {
        self.failures = self.failures.saturating_add(1);
        if ctx.records_instants() {
            self.note_sent(bits, ctx);
        }
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

    /// Records the end of the first transmission of the packets that a failed block of `bits` would
    /// have completed.
    #[cold]
    fn note_sent(&self, bits: u64, ctx: &mut Ctx<'_>) {
        let mut left = bits.saturating_add(self.received_bits);
        for packet in self.held.iter() {
            let Some(rest) = left.checked_sub(u64::from(packet.size) * 8) else { return };
            ctx.note_instant(packet, PacketInstant::Sent, ctx.now);
            left = rest;
        }
    }

    fn release(&mut self, packets: u64, bytes: Bytes, ctx: &mut Ctx<'_>) {
        if packets > 0 {
            self.queue.release(packets as usize, bytes, ctx);
        }
    }

    /// Counts an allocated slot with the rate `rate`, bit/s. `was_best` is true if no user with
    /// data had a higher rate.
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

    /// Measurements of the queue up to `now`.
    pub(super) fn queue_report(&self, now: Time) -> QueueReport {
        let mut report = self.queue.report(now);
        let empty_share = report.distribution.first().copied();
        let of_cell = [("mean_delay_s", self.delays.mean().secs()), ("empty_share", empty_share)];
        report.measured.extend(of_cell);
        report
    }

    /// Measurements of the user; `slots` is the number of slots that started in the measured time.
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
