//! Parts of the one-way delays of packets: where on the path each packet spent its time.
//!
//! The driver reports each step of each packet: the departure from its sender, the legs of a wire,
//! the arrival at a stage, the departure from the stage, and the arrival at its receiver. A link
//! reports instants between arrival and departure ([`PacketInstant`]). The time between two
//! consecutive steps is one part of the delay, so the parts of a packet add up to its delay
//! exactly.
//!
//! Packets carry no additional data: the state of a packet is found by the fields that no stage
//! changes. Packets that have all these fields in common are interchangeable.

use crate::packet::identity::PacketIdentity;
use crate::packet::{FlowId, Packet, PacketKind};
use crate::stage::StageId;
use crate::units::{Duration, Time};

/// Part of the delay of a packet at a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DelayPart {
    /// Propagation delay after a link or of a wire.
    Propagation = 0,
    /// Waiting in a queue, until the link takes the packet out.
    Queueing = 1,
    /// Transmission: from the queue to the end of the first transmission of the entire packet.
    Service = 2,
    /// Retransmission on the link: from the end of the first transmission to the reception of the
    /// entire packet.
    Retransmission = 3,
    /// Waiting, after the reception, for packets that must be delivered before.
    Resequencing = 4,
}

impl DelayPart {
    /// All parts with their names in results.
    pub const ALL: [(DelayPart, &'static str); 5] = [
        (DelayPart::Propagation, "propagation"),
        (DelayPart::Queueing, "queueing"),
        (DelayPart::Service, "service"),
        (DelayPart::Retransmission, "retransmission"),
        (DelayPart::Resequencing, "resequencing"),
    ];
}

/// An instant between the arrival of a packet at a link and its departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketInstant {
    /// The link takes the packet out of the queue: the queueing delay ends.
    Dequeued,
    /// The first transmission of the entire packet ends, whether it is received or not.
    Sent,
    /// The entire packet is received.
    Received,
}

impl PacketInstant {
    /// Returns the part of the delay that starts at this instant.
    const fn starts(self) -> DelayPart {
        match self {
            PacketInstant::Dequeued => DelayPart::Service,
            PacketInstant::Sent => DelayPart::Retransmission,
            PacketInstant::Received => DelayPart::Resequencing,
        }
    }
}

/// A leg of a wire: the place to which the time counts, the part, and the time.
pub type WireLeg = (usize, DelayPart, Duration);

/// Sums of the parts of several delays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelaySums {
    /// Number of delays.
    pub count: u64,
    /// Sum of the delays, ns.
    pub nanos: u128,
    /// Sum of each part at each place, ns. The index is the place times the number of parts, plus
    /// the part. Empty if there are no delays.
    pub parts: Vec<u128>,
}

impl DelaySums {
    fn add(&mut self, delay: Duration, parts: &[u64]) {
        self.count += 1;
        self.nanos += u128::from(delay.as_nanos());
        self.add_parts(parts);
    }

    fn add_parts(&mut self, parts: &[u64]) {
        self.parts.resize(parts.len(), 0);
        self.parts.iter_mut().zip(parts).for_each(|(sum, nanos)| *sum += u128::from(*nanos));
    }
}

/// Sums of the parts of the delays of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowDelayParts {
    /// One-way delays of data packets.
    pub data: DelaySums,
    /// One-way delays of ACKs.
    pub acks: DelaySums,
    /// Round trips: the sums, and the parts of the data packets. A round trip starts with the
    /// transmission of the first data packet that arrived after the previous ACK was sent, and
    /// ends with the arrival of the next ACK.
    pub round_trips: DelaySums,
    /// Sum of the times from the arrival of a data packet to the departure of the ACK, ns.
    pub receiver_nanos: u128,
    /// Parts of the ACKs of the round trips, ns.
    pub round_trip_acks: Vec<u128>,
}

const NONE: u32 = u32::MAX;

/// A packet between its sender and its receiver, or the data packet that an ACK will acknowledge.
#[derive(Clone, Copy, Debug)]
struct State {
    identity: PacketIdentity,
    /// Next state in the bucket of the hash table; for a free state, the next free state.
    next: u32,
    /// ACK: state of the data packet with which the round trip started, or [`NONE`].
    origin: u32,
    /// Stage in which the packet is, that it has just left, or that it will reach over a wire.
    stage: StageId,
    /// True if the packet is in the stage.
    is_inside: bool,
    place: usize,
    /// Part of the delay that is in progress.
    part: DelayPart,
    sent: Time,
    /// End of the last part that has ended.
    last: Time,
}

impl State {
    fn is_in(&self, stage: StageId) -> bool {
        self.stage == stage && self.is_inside
    }

    /// Returns true if the packet has left `stage`, or is on the wire to it.
    fn is_outside(&self, stage: StageId) -> bool {
        self.stage == stage && !self.is_inside
    }
}

/// Recorder of the parts of delays, for all packets of a network. Each packet has a row with the
/// time of each part at each place. A place is a hop or a wire of the flow.
#[derive(Clone, Debug)]
pub struct DelayParts {
    width: usize,
    /// First state of each bucket of a hash table, or [`NONE`]. States of one bucket are in the
    /// order in which the packets were sent. The number of buckets is a power of two.
    buckets: Vec<u32>,
    states: Vec<State>,
    /// Rows of the states, ns.
    rows: Vec<u64>,
    free: u32,
    /// State of the data packet that the receiver of each flow will acknowledge next, or [`NONE`].
    unacknowledged: Vec<u32>,
    sums: Vec<Option<Box<FlowDelayParts>>>,
}

impl DelayParts {
    /// Creates a recorder for `flows` flows with `places` places in each direction.
    pub fn new(flows: usize, places: usize) -> DelayParts {
        DelayParts {
            width: places * DelayPart::ALL.len(),
            buckets: vec![NONE; 64],
            states: Vec::new(),
            rows: Vec::new(),
            free: NONE,
            unacknowledged: vec![NONE; flows],
            sums: vec![None; flows],
        }
    }

    /// Returns the sums of a flow since the start of measurement; `None` without a packet.
    pub fn of(&self, flow: FlowId) -> Option<&FlowDelayParts> {
        self.sums.get(flow.0 as usize)?.as_deref()
    }

    /// Clears the sums.
    pub fn restart(&mut self) {
        self.sums.fill(None);
    }

    /// Records that the endpoint `from` sends `packet` at `now`.
    pub fn start(&mut self, packet: &Packet, from: StageId, now: Time) {
        let mut origin = NONE;
        if packet.kind == PacketKind::Ack
            && let Some(unacknowledged) = self.unacknowledged.get_mut(packet.flow.0 as usize)
        {
            origin = std::mem::replace(unacknowledged, NONE);
        }
        let identity = PacketIdentity::of(packet);
        let (place, part) = (0, DelayPart::Propagation);
        let state = State {
            identity,
            next: NONE,
            origin,
            stage: from,
            is_inside: false,
            place,
            part,
            sent: now,
            last: now,
        };
        let slot = self.allocate(state);
        if self.states.len() > self.buckets.len() {
            self.double_buckets();
        }
        self.append(slot);
    }

    /// Records that `packet` enters the wire to `to`, and the legs of this wire.
    pub fn cross(&mut self, packet: &Packet, from: StageId, to: StageId, legs: [WireLeg; 5]) {
        let Some(slot) = self.find(packet, |state| state.is_outside(from)) else { return };
        for (place, part, time) in legs {
            let end = self.states[slot].last + time;
            self.end_part(slot, place, part, end);
        }
        (self.states[slot].stage, self.states[slot].is_inside) = (to, false);
    }

    /// Records that `packet` goes from the stage `from` to the stage `to` without a wire.
    pub fn pass(&mut self, packet: &Packet, from: StageId, to: StageId) {
        if let Some(slot) = self.find(packet, |state| state.is_outside(from)) {
            (self.states[slot].stage, self.states[slot].is_inside) = (to, false);
        }
    }

    /// Records that `packet` arrives at `stage`, which belongs to `place`.
    pub fn enter(&mut self, packet: &Packet, stage: StageId, place: usize) {
        if let Some(slot) = self.find(packet, |state| state.is_outside(stage)) {
            let state = &mut self.states[slot];
            (state.is_inside, state.place, state.part) = (true, place, DelayPart::Queueing);
        }
    }

    /// Records that `packet`, which is in `stage`, passes `instant` at `at`. An instant that the
    /// packet has already passed has no effect.
    pub fn note(&mut self, packet: &Packet, stage: StageId, instant: PacketInstant, at: Time) {
        let passes = |state: &State| state.is_in(stage) && state.part < instant.starts();
        let Some(slot) = self.find(packet, passes) else { return };
        let State { place, part, .. } = self.states[slot];
        if part < instant.starts() {
            self.end_part(slot, place, part, at);
            self.states[slot].part = instant.starts();
        }
    }

    /// Records that `packet` leaves `stage` at `now`. Of several interchangeable packets, the one
    /// that has passed the latest instant leaves first.
    pub fn leave(&mut self, packet: &Packet, stage: StageId, now: Time) {
        let latest = DelayPart::ALL.iter().rev().find_map(|(part, _)| {
            self.find_exactly(packet, |state| state.is_in(stage) && state.part == *part)
        });
        if let Some(slot) = latest {
            let State { place, part, .. } = self.states[slot];
            self.end_part(slot, place, part, now);
            self.states[slot].is_inside = false;
        }
    }

    /// Records that `packet` has arrived at the endpoint `stage` at `now`. `is_measured` is true if
    /// the endpoint has measured the delay of the packet.
    pub fn finish(&mut self, packet: &Packet, stage: StageId, now: Time, is_measured: bool) {
        let Some(slot) = self.take(packet, stage) else { return };
        let flow = packet.flow.0 as usize;
        let is_data = packet.kind == PacketKind::Data;
        if is_measured {
            let (row, state) = (slot * self.width, self.states[slot]);
            let parts = &self.rows[row..row + self.width];
            let sums = self.sums[flow].get_or_insert_default();
            let delay = now.saturating_since(state.sent);
            if packet.kind != PacketKind::Ack {
                sums.data.add(delay, parts);
            } else {
                sums.acks.add(delay, parts);
                self.add_round_trip(slot, now);
            }
        }
        let unacknowledged = &mut self.unacknowledged[flow];
        if is_data && is_measured && *unacknowledged == NONE {
            (*unacknowledged, self.states[slot].last) = (slot as u32, now);
        } else {
            self.release(slot);
        }
    }

    /// Adds the round trip that the ACK with the state `ack` completes at `now`.
    fn add_round_trip(&mut self, ack: usize, now: Time) {
        let (width, State { origin, sent, .. }) = (self.width, self.states[ack]);
        if origin == NONE {
            return;
        }
        let data = origin as usize;
        let flow = self.states[data].identity.flow().0 as usize;
        let Some(sums) = self.sums[flow].as_deref_mut() else { return };
        let state = self.states[data];
        sums.round_trips.add(now.saturating_since(state.sent), &self.rows[data * width..][..width]);
        sums.receiver_nanos += u128::from(sent.saturating_since(state.last).as_nanos());
        let acks = &self.rows[ack * width..][..width];
        sums.round_trip_acks.resize(width, 0);
        sums.round_trip_acks
            .iter_mut()
            .zip(acks)
            .for_each(|(sum, nanos)| *sum += u128::from(*nanos));
    }

    /// Forgets `packet`, which `stage` has dropped.
    pub fn forget(&mut self, packet: &Packet, stage: StageId) {
        if let Some(slot) = self.take(packet, stage) {
            self.release(slot);
        }
    }

    fn end_part(&mut self, slot: usize, place: usize, part: DelayPart, at: Time) {
        let state = &mut self.states[slot];
        let span = at.saturating_since(state.last).as_nanos();
        state.last = state.last.max(at);
        self.rows[slot * self.width + place * DelayPart::ALL.len() + part as usize] += span;
    }

    fn allocate(&mut self, state: State) -> u32 {
        if self.free == NONE {
            self.states.push(state);
            self.rows.resize(self.states.len() * self.width, 0);
            return self.states.len() as u32 - 1;
        }
        let slot = self.free;
        self.free = self.states[slot as usize].next;
        self.states[slot as usize] = state;
        self.rows[slot as usize * self.width..][..self.width].fill(0);
        slot
    }

    /// Frees the state of a packet, and that of the origin of its round trip.
    fn release(&mut self, slot: usize) {
        let mut slot = slot as u32;
        while slot != NONE {
            let state = &mut self.states[slot as usize];
            let origin = std::mem::replace(&mut state.origin, NONE);
            state.next = std::mem::replace(&mut self.free, slot);
            slot = origin;
        }
    }

    fn bucket_of(&self, identity: PacketIdentity) -> usize {
        identity.hash() as usize & (self.buckets.len() - 1)
    }

    /// Appends a state to its bucket.
    fn append(&mut self, slot: u32) {
        let bucket = self.bucket_of(self.states[slot as usize].identity);
        self.states[slot as usize].next = NONE;
        let mut last = self.buckets[bucket];
        if last == NONE {
            self.buckets[bucket] = slot;
            return;
        }
        while self.states[last as usize].next != NONE {
            last = self.states[last as usize].next;
        }
        self.states[last as usize].next = slot;
    }

    #[cold]
    fn double_buckets(&mut self) {
        let doubled = vec![NONE; 2 * self.buckets.len()];
        for mut slot in std::mem::replace(&mut self.buckets, doubled) {
            while slot != NONE {
                let next = self.states[slot as usize].next;
                self.append(slot);
                slot = next;
            }
        }
    }

    /// Returns the state of the oldest of several interchangeable packets with this property, or of
    /// the oldest of all.
    fn find(&self, packet: &Packet, has_property: impl Fn(&State) -> bool) -> Option<usize> {
        self.find_exactly(packet, has_property).or_else(|| self.find_exactly(packet, |_| true))
    }

    /// Returns the state of the oldest of several interchangeable packets with this property.
    fn find_exactly(
        &self,
        packet: &Packet,
        has_property: impl Fn(&State) -> bool,
    ) -> Option<usize> {
        let identity = PacketIdentity::of(packet);
        let mut slot = self.buckets[self.bucket_of(identity)];
        while slot != NONE {
            let state = &self.states[slot as usize];
            if state.identity == identity && has_property(state) {
                return Some(slot as usize);
            }
            slot = state.next;
        }
        None
    }

    /// Same as `find`, and removes the state from the table.
    fn take(&mut self, packet: &Packet, stage: StageId) -> Option<usize> {
        let slot = self.find(packet, |state| state.is_in(stage))?;
        let State { identity, next, .. } = self.states[slot];
        let bucket = self.bucket_of(identity);
        if self.buckets[bucket] == slot as u32 {
            self.buckets[bucket] = next;
            return Some(slot);
        }
        let mut before = self.buckets[bucket] as usize;
        while self.states[before].next != slot as u32 {
            before = self.states[before].next as usize;
        }
        self.states[before].next = next;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: StageId = StageId(0);
    const LINK: StageId = StageId(1);
    const SINK: StageId = StageId(2);

    /// Two ACKs with equal content and send time pass a link, which takes 3 ms each, one after the
    /// other, and then a wire of 5 ms.
    #[test]
    fn interchangeable_packets_have_their_own_parts() {
        let (at, ms) = (Time::from_millis, Duration::from_millis);
        let mut parts = DelayParts::new(1, 3);
        let ack = Packet::ack(FlowId(0), 7, 1000, 40);
        for _ in 0..2 {
            parts.start(&ack, SOURCE, at(0));
            parts.pass(&ack, SOURCE, LINK);
            parts.enter(&ack, LINK, 1);
        }
        for (begins, ends) in [(0, 3), (3, 6)] {
            parts.note(&ack, LINK, PacketInstant::Dequeued, at(begins));
            parts.leave(&ack, LINK, at(ends));
            let none = (2, DelayPart::Queueing, Duration::ZERO);
            let wire = (1, DelayPart::Propagation, ms(5));
            parts.cross(&ack, LINK, SINK, [wire, none, none, none, none]);
        }
        for ends in [8, 11] {
            parts.enter(&ack, SINK, 2);
            parts.finish(&ack, SINK, at(ends), true);
        }
        let sums = &parts.of(FlowId(0)).expect("two ACKs").acks;
        let of = |part: DelayPart| sums.parts[DelayPart::ALL.len() + part as usize] / 1_000_000;
        assert_eq!((sums.count, sums.nanos), (2, 19_000_000));
        assert_eq!(of(DelayPart::Queueing), 3);
        assert_eq!(of(DelayPart::Service), 6);
        assert_eq!(of(DelayPart::Propagation), 10);
        assert_eq!(sums.parts.iter().sum::<u128>(), sums.nanos);
    }

    #[test]
    fn table_grows_and_forgets_dropped_packets() {
        let mut parts = DelayParts::new(1, 2);
        let packet = |seq| Packet::data(FlowId(0), seq, 100, 40, Time::ZERO);
        for seq in 0..1000 {
            parts.start(&packet(seq), SOURCE, Time::ZERO);
        }
        for seq in (0..1000).filter(|seq| seq % 3 > 0) {
            parts.forget(&packet(seq), SOURCE);
        }
        let states = parts.states.len();
        for seq in 1000..1600 {
            parts.start(&packet(seq), SOURCE, Time::ZERO);
        }
        assert_eq!(parts.states.len(), states, "the states of forgotten packets are used again");
        for seq in (0..1600).filter(|seq| *seq >= 1000 || seq % 3 == 0) {
            parts.finish(&packet(seq), SINK, Time::from_millis(2), true);
        }
        let sums = &parts.of(FlowId(0)).expect("packets").data;
        assert_eq!((sums.count, sums.nanos), (934, 934 * 2_000_000));
    }
}
