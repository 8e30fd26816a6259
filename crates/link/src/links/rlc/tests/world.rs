//! A sender and a receiver with a lossy channel between them, and an independent record of their
//! expected state: the bytes in each PDU, the arrived PDUs, and the reports that the sender has
//! received.

use super::settings::{ChannelParams, Settings, TTI};
use crate::links::rlc::receiver::{Receiver, StatusReport};
use crate::links::rlc::sdus::Sdus;
use crate::links::rlc::sender::{Payload, Sender};
use crate::links::rlc::sequence::{PduRun, Sn};
use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, FlowId, Packet, QueueId, Registry, Seed, Setup, Stream, Time, testing::TestHarness,
};
use serde_json::json;
use std::collections::VecDeque;
use std::ops::Range;

/// PDUs of one TTI on the air.
struct Frame {
    arrives: u64,
    pdus: Vec<u64>,
    runs: Vec<PduRun>,
    poll: bool,
    skip_until: Option<u32>,
}

/// A report on the air, with PDU numbers that do not wrap.
struct Report {
    arrives: u64,
    report: StatusReport,
    last: u64,
    missing: Vec<u64>,
}

/// A PDU in the independent record.
#[derive(Clone, Copy, Debug, Default)]
struct Pdu {
    transmissions: u32,
    /// True if the PDU has arrived or the receiver was ordered to skip it.
    received: bool,
    arrived: bool,
    /// True if the sender has received a report of the PDU.
    known: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sdu {
    packet: Packet,
    first: u64,
    last: u64,
    complete: bool,
    freed: bool,
    abandoned: bool,
    delivered: bool,
    discarded: bool,
}

/// The components under test, the channel, and the independent record.
pub(super) struct World {
    settings: Settings,
    stream: Stream,
    harness: TestHarness,
    queue: Queue,
    sender: Sender,
    sdus: Sdus,
    receiver: Receiver,
    payload: Payload,
    air: ChannelParams,
    is_bad: bool,
    pub(super) tti: u64,
    frames: VecDeque<Frame>,
    reports: Vec<Report>,
    // The independent record.
    pdus: Vec<Pdu>,
    /// VT(A), VR(R) and VR(H).
    acknowledged: u64,
    next_received: u64,
    highest: u64,
    all: Vec<Sdu>,
    waiting: VecDeque<Packet>,
    /// Number of bytes of the last SDU that no PDU carries yet.
    unsent: u64,
    /// Number of the first SDU that is still needed: not freed by the sender, or neither delivered
    /// nor discarded by the receiver.
    oldest: usize,
    next_delivery: usize,
    skips: u32,
    offered: u64,
}

impl World {
    pub(super) fn new(settings: Settings, stream: Stream) -> World {
        let registry = Registry::default();
        let setup = Setup { seed: Seed::new(1, 0, "queue"), registry: &registry, extra: () };
        let limit = json!({"kind": "droptail", "limit": {"packets": 1_000_000}});
        World {
            harness: TestHarness::default(),
            queue: Queue::new(AnyQueue::build(&limit, setup).expect("a queue"), QueueId(0)),
            sender: Sender::new(settings.rules),
            sdus: Sdus::new(settings.rules.payload, settings.rules.concatenation),
            receiver: Receiver::new(settings.receiver),
            payload: Payload::default(),
            air: settings.air,
            is_bad: false,
            tti: 0,
            frames: VecDeque::new(),
            reports: Vec::new(),
            pdus: Vec::new(),
            acknowledged: 0,
            next_received: 0,
            highest: 0,
            all: Vec::new(),
            waiting: VecDeque::new(),
            unsent: 0,
            oldest: 0,
            next_delivery: 0,
            skips: 0,
            offered: 0,
            settings,
            stream,
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.tti * TTI.as_nanos())
    }

    /// Simulates one TTI under load.
    pub(super) fn step(&mut self) {
        let mean = f64::from(self.settings.sizes[0] + self.settings.sizes[1]) / 2.0;
        let capacity = (self.settings.slots * self.settings.rules.payload) as f64;
        let mut left = self.settings.load * capacity / mean;
        while self.queue.packets() < 50 && self.stream.bernoulli(left) {
            left -= 1.0;
            self.offer();
        }
        self.run_tti();
    }

    fn offer(&mut self) {
        let [low, high] = self.settings.sizes;
        let size = low + (self.stream.uniform() * f64::from(high - low + 1)) as u32;
        let packet = Packet::datagram(FlowId(0), self.offered, Bytes(u64::from(size)), self.now());
        self.offered += 1;
        self.waiting.push_back(packet);
        let now = self.now();
        self.queue.enqueue(&packet, &mut self.harness.at(now));
    }

    /// Switches to an error-free channel without arrivals: all SDUs must leave within `most` TTIs.
    pub(super) fn drain(&mut self, most: u64) {
        self.air = ChannelParams::CLEAN;
        self.is_bad = false;
        let from = self.tti;
        while !self.is_drained() {
            assert!(
                self.tti - from < most,
                "{} outstanding, {} TTIs of clean air and still {} held, {} undelivered, {} waiting; {:?}",
                self.sender.outstanding(),
                most,
                self.held(),
                self.sdus.undelivered(),
                self.queue.packets(),
                self.settings,
            );
            self.run_tti();
        }
        self.air = self.settings.air;
    }

    /// Checks that no SDU is left and that each SDU was either delivered or reported as discarded.
    pub(super) fn finish(&self) {
        assert_eq!(self.offered, self.all.len() as u64);
        for sdu in &self.all {
            assert!(sdu.delivered != sdu.discarded, "delivered or discarded: {sdu:?}");
        }
    }

    /// Number of wraps of the sequence numbers.
    pub(super) fn wraps(&self) -> u64 {
        self.pdus.len() as u64 / Sn::MODULUS
    }

    /// Number of discarded SDUs.
    pub(super) fn discarded(&self) -> usize {
        self.all.iter().filter(|sdu| sdu.discarded).count()
    }

    /// Upper bound of the number of TTIs that the remaining SDUs need over an error-free channel,
    /// including polls and retransmissions.
    pub(super) fn enough(&self) -> u64 {
        let rules = &self.settings.rules;
        let waiting: u64 = self.waiting.iter().map(|packet| u64::from(packet.size) + 1).sum();
        let least = u64::from(!rules.concatenation) * self.waiting.len() as u64;
        let pdus = (waiting + self.unsent).div_ceil(rules.payload)
            + least
            + 2 * self.settings.rules.window;
        let timers = rules.poll_timer.as_nanos()
            + rules.mrw_timer.as_nanos()
            + self.settings.receiver.status_prohibit.as_nanos();
        // One round: poll, wait for the report, wait for the retransmission.
        let round = 4 * self.settings.latency + 4 + timers / TTI.as_nanos();
        pdus.div_ceil(self.settings.slots.min(rules.window)) * 2
            + (pdus.div_ceil(rules.window) + 16) * round
    }

    fn is_drained(&self) -> bool {
        self.queue.is_empty()
            && self.held() == 0
            && self.sdus.undelivered() == 0
            && self.sender.outstanding() == 0
            && self.next_delivery == self.all.len()
    }

    fn held(&self) -> usize {
        self.queue.occupancy() - self.queue.packets()
    }

    fn run_tti(&mut self) {
        let [to_bad, to_good] = self.air.turns;
        let turns = self.stream.bernoulli(if self.is_bad { to_good } else { to_bad });
        self.is_bad ^= turns;
        while self.frames.front().is_some_and(|frame| frame.arrives <= self.tti) {
            let frame = self.frames.pop_front().expect("it is there");
            self.receive(frame);
        }
        for place in (0..self.reports.len()).rev() {
            if self.reports[place].arrives <= self.tti {
                let report = self.reports.remove(place);
                self.receive_report(report);
            }
        }
        self.report();
        self.transmit();
        self.check();
        self.tti += 1;
    }

    // --- the sender ---------------------------------------------------------------------------

    fn transmit(&mut self) {
        let now = self.now();
        let has_data = self.sdus.has_partial() || !self.queue.is_empty();
        if self.sender.ready_at(has_data) > now {
            return;
        }
        let skip_until = self.sender.take_skip_order(now);
        let slots = self.settings.slots - u64::from(skip_until.is_some());
        let next = self.pdus.len() as u64;
        self.sender.fill(
            slots,
            &mut self.sdus,
            Some(&mut self.queue),
            &mut self.payload,
            &mut self.harness.at(now),
        );
        self.note_skips(next);
        self.note_new(self.payload.new);
        assert!(self.payload.new + self.payload.again <= slots, "more PDUs than slots");
        let pdus = self.numbers();
        assert_eq!(pdus.len() as u64, self.payload.new + self.payload.again);
        for number in &pdus {
            let pdu = &mut self.pdus[*number as usize];
            pdu.transmissions += 1;
            let most = u32::from(self.settings.rules.max_dat) - 1;
            assert!(pdu.transmissions <= most, "PDU {number} is sent for the {most} + 1st time");
        }
        if pdus.is_empty() && skip_until.is_none() {
            return;
        }
        if !self.stream.bernoulli(self.air.loss[usize::from(self.is_bad)]) {
            let runs = self.payload.runs.clone();
            let arrives = self.tti + self.settings.latency;
            let poll = self.payload.poll;
            self.frames.push_back(Frame { arrives, pdus, runs, poll, skip_until });
        }
    }

    /// Numbers of the PDUs of the last call of `fill`.
    fn numbers(&self) -> Vec<u64> {
        let runs = self.payload.runs.iter();
        runs.flat_map(|run| {
            let first = run.first.at_or_after(self.acknowledged);
            first..first + u64::from(run.count)
        })
        .collect()
    }

    /// Records discarded SDUs, before new PDUs are numbered from `next` on.
    fn note_skips(&mut self, next: u64) {
        let new: Vec<_> = self.sender.skips().filter(|(number, _)| *number >= self.skips).collect();
        for (number, skip) in new {
            assert_eq!(number, self.skips);
            self.skips += 1;
            let pdus = skip.pdus();
            let most = u32::from(self.settings.rules.max_dat) - 1;
            let exhausted =
                pdus.clone().any(|number| self.pdus[number as usize].transmissions == most);
            assert!(exhausted, "given up, but not sent {most} times: {pdus:?}");
            for sdu in &mut self.all[self.oldest..] {
                if sdu.first < pdus.end && pdus.start <= sdu.last {
                    sdu.abandoned = true;
                    sdu.freed = true;
                }
            }
            if pdus.end == next {
                self.unsent = 0;
            }
        }
    }

    /// Records `count` new PDUs: segments the SDUs byte by byte by the rules of
    /// docs/reference/models/rlc-am.md.
    fn note_new(&mut self, count: u64) {
        for _ in 0..count {
            let number = self.pdus.len() as u64;
            self.pdus.push(Pdu::default());
            let mut space = self.settings.rules.payload;
            while space > 0 {
                if self.unsent == 0 {
                    let Some(packet) = self.waiting.pop_front() else { break };
                    self.unsent = u64::from(packet.size);
                    self.all.push(Sdu {
                        packet,
                        first: number,
                        last: number,
                        complete: false,
                        freed: false,
                        abandoned: false,
                        delivered: false,
                        discarded: false,
                    });
                }
                let taken = space.min(self.unsent);
                self.unsent -= taken;
                space -= taken;
                let sdu = self.all.last_mut().expect("it has begun");
                (sdu.last, sdu.complete) = (number, self.unsent == 0);
                if sdu.complete && space > 0 {
                    space = if self.settings.rules.concatenation { space - 1 } else { 0 };
                }
            }
        }
    }

    fn receive_report(&mut self, received: Report) {
        let now = self.now();
        // Half of the sequence number space limits the age of a report.
        if received.last + 2048 <= self.acknowledged {
            return;
        }
        self.sender.on_status(&received.report, !self.queue.is_empty(), now);
        let Self { sender, sdus, .. } = self;
        let (count, bytes) = sdus.free(sender.known_end(), |pdus| sender.has_arrived(pdus));
        self.queue.release(count, bytes, &mut self.harness.at(now));
        for number in self.acknowledged..received.last {
            if received.missing.binary_search(&number).is_err() {
                self.pdus[number as usize].known = true;
            }
        }
        while self.pdus.get(self.acknowledged as usize).is_some_and(|pdu| pdu.known) {
            self.acknowledged += 1;
        }
        let pdus = &self.pdus;
        for sdu in &mut self.all[self.oldest..] {
            let mut carriers = sdu.first..sdu.last + 1;
            sdu.freed |= sdu.complete && carriers.all(|number| pdus[number as usize].known);
        }
        self.forget();
    }

    fn forget(&mut self) {
        while self
            .all
            .get(self.oldest)
            .is_some_and(|sdu| sdu.freed && (sdu.delivered || sdu.discarded))
        {
            self.oldest += 1;
        }
    }

    // --- the receiver -------------------------------------------------------------------------

    fn receive(&mut self, frame: Frame) {
        if let Some(until) = frame.skip_until {
            self.skip(until);
        }
        for run in &frame.runs {
            self.receiver.on_pdus(*run);
        }
        if frame.poll {
            self.receiver.want_status();
        }
        for number in frame.pdus {
            let pdu = &mut self.pdus[number as usize];
            (pdu.arrived, pdu.received) = (true, true);
            self.highest = self.highest.max(number + 1);
        }
        self.advance();
        let mut delivered = Vec::new();
        self.sdus.deliver(self.receiver.next(), |packet| delivered.push(*packet));
        for packet in delivered {
            self.note_delivery(packet);
        }
        self.forget();
    }

    fn advance(&mut self) {
        while self.next_received < self.highest && self.pdus[self.next_received as usize].received {
            self.next_received += 1;
        }
        assert_eq!(self.receiver.next(), self.next_received, "VR(R)");
    }

    fn note_delivery(&mut self, packet: Packet) {
        let sdu = &mut self.all[self.next_delivery];
        assert_eq!(packet.seq, sdu.packet.seq, "out of order, twice or never");
        assert!(sdu.complete && packet.size == sdu.packet.size, "cut short: {sdu:?}");
        let mut carriers = self.pdus[sdu.first as usize..=sdu.last as usize].iter();
        assert!(carriers.all(|pdu| pdu.arrived), "a part of it has not arrived: {sdu:?}");
        sdu.delivered = true;
        self.pass_over();
    }

    /// Advances to the next SDU that is to be delivered.
    fn pass_over(&mut self) {
        let is_done = |sdu: &Sdu| sdu.delivered || sdu.discarded;
        while self.all.get(self.next_delivery).is_some_and(is_done) {
            self.next_delivery += 1;
        }
    }

    fn skip(&mut self, until: u32) {
        let skips: Vec<_> = self.sender.skips().filter(|(number, _)| *number < until).collect();
        for (number, skip) in skips {
            let mut lost = Vec::new();
            self.sdus.skip(skip, |packet| lost.push(packet));
            for packet in lost {
                let mut open = self.all[self.oldest..].iter_mut();
                let sdu = open.find(|sdu| sdu.packet.seq == packet.seq).expect("it is inside");
                assert!(sdu.abandoned && !sdu.delivered && !sdu.discarded, "lost: {sdu:?}");
                sdu.discarded = true;
            }
            let Range { start, end } = skip.pdus();
            self.receiver.skip(number, start..end);
            for pdu in &mut self.pdus[start as usize..end as usize] {
                pdu.received = true;
            }
            self.highest = self.highest.max(end);
        }
        self.advance();
        self.receiver.want_status();
        self.pass_over();
    }

    fn report(&mut self) {
        let now = self.now();
        if self.receiver.status_at() > now {
            return;
        }
        let mut report = StatusReport::default();
        self.receiver.write_status(now, &mut report);
        let missing: Vec<u64> = (self.next_received..self.highest)
            .filter(|number| !self.pdus[*number as usize].received)
            .collect();
        let named: Vec<u64> = report
            .missing
            .iter()
            .flat_map(|run| {
                let first = run.first.at_or_after(self.next_received);
                first..first + u64::from(run.count)
            })
            .collect();
        assert_eq!(named, missing, "what is missing");
        assert_eq!(report.last, Sn::of(self.highest), "LSN");
        if self.stream.bernoulli(self.air.report_loss) {
            return;
        }
        let delay = (self.stream.uniform() * (self.air.report_delay + 1) as f64) as u64;
        let arrives = self.tti + self.settings.latency + delay;
        self.reports.push(Report { arrives, report, last: self.highest, missing });
    }

    // --- invariants ---------------------------------------------------------------------------

    fn check(&self) {
        let rules = &self.settings.rules;
        let outstanding = self.pdus.len() as u64 - self.acknowledged;
        assert_eq!(self.sender.outstanding(), outstanding, "VT(S) - VT(A)");
        assert!(outstanding <= rules.window, "{outstanding} PDUs outstanding");
        let held = self.all[self.oldest..].iter().filter(|sdu| !sdu.freed).count();
        assert_eq!(self.held(), held, "held as reported to the queue: {:?}", self.settings);
        assert_eq!(self.waiting.len(), self.queue.packets());
        assert_eq!(self.sdus.has_partial(), self.unsent > 0);
        let inside = self.all[self.oldest..].iter();
        let undelivered = inside.filter(|sdu| !sdu.delivered && !sdu.discarded).count();
        assert_eq!(self.sdus.undelivered(), undelivered);
    }
}
