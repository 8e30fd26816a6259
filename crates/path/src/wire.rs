//! A wire, which serializes packets at a rate and then delays them by a constant time, without
//! loss.
//!
//! A wire is a FIFO delay line: packets are stored in a ring buffer, and only the arrival of the
//! oldest packet needs a wake-up. The arrival time of a packet is computed when the packet enters,
//! so serialization needs no separate event. The network has one wire in front of each stage. The
//! running network puts a sent packet on the wire of the destination stage and takes it out at its
//! arrival time.

use airpath_core::{Bytes, Duration, Packet, PacketHead, PacketTail, Rate, Ring, Time};

/// A packet in flight and its arrival time. The 48 bytes can hold an entire ACK without SACK
/// blocks; other packets have a tail.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    arrival: Time,
    head: PacketHead,
}

/// A wired hop without a queue limit, in front of a stage.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Arrival time of the oldest packet in flight.
    next: Time,
    in_flight: Ring<InFlight>,
    /// Sum of the constant delays before and after the serialization.
    delay: Duration,
    /// Data that only some wires require.
    rest: Option<Box<Rest>>,
}

#[derive(Clone, Debug, Default)]
struct Rest {
    /// Serializer; `None` for an infinite rate.
    serializer: Option<Serializer>,
    /// Tails of the packets in flight that have a tail.
    tails: Ring<PacketTail>,
    /// Present if the delay changes during the run.
    variable: Option<Variable>,
}

/// Data of a wire whose delay changes.
#[derive(Clone, Copy, Debug)]
struct Variable {
    /// Least delay over the run.
    least: Duration,
    /// Arrival time of the latest packet: packets do not overtake each other.
    last_arrival: Time,
}

/// A change of the delay of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayChange {
    /// Difference from the delay before the change, ns.
    pub nanos: i64,
    /// True for the delay before the serializer.
    pub is_before_serializer: bool,
}

/// Parts of the delay of a packet on a wire. Their sum is the time until the arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireDelay {
    /// Time until the serializer is free.
    pub wait: Duration,
    /// Serialization delay.
    pub transmission: Duration,
    /// Constant delays before and after the serializer.
    pub propagation: Duration,
    /// Time until earlier packets have arrived, whose delay was longer.
    pub order: Duration,
}

/// Serializer that transmits one packet after another at a rate.
#[derive(Clone, Debug)]
struct Serializer {
    /// Delay before the serializer: propagation delay of the previous hop.
    lead: Duration,
    rate: Rate,
    busy_until: Time,
}

impl Rest {
    /// Returns the serialization delay, including waiting, of a packet of `size` that enters at
    /// `now`.
    fn serialize(&mut self, size: Bytes, now: Time) -> Duration {
        self.serializer.as_mut().map_or(Duration::ZERO, |serializer| serializer.send(size, now))
    }

    /// Returns the arrival time of a packet of `size` that enters at `now` and would arrive at
    /// `arrival` without serialization.
    fn delay(&mut self, size: Bytes, now: Time, arrival: Time) -> Time {
        let arrival = arrival + self.serialize(size, now);
        let Some(variable) = &mut self.variable else { return arrival };
        variable.last_arrival = variable.last_arrival.max(arrival);
        variable.last_arrival
    }

    #[inline(never)]
    fn take_tail(&mut self) -> PacketTail {
        self.tails.pop_front().unwrap_or_default()
    }
}

impl Serializer {
    /// Returns the waiting time and serialization delay of a packet of `size` that enters the wire
    /// at `now`.
    fn send(&mut self, size: Bytes, now: Time) -> Duration {
        let arrives = now + self.lead;
        self.busy_until = arrives.max(self.busy_until) + size / self.rate;
        self.busy_until - arrives
    }
}

impl Default for Wire {
    /// Returns a transparent wire: packets pass without delay.
    fn default() -> Wire {
        Wire::new(Duration::ZERO, None, Duration::ZERO)
    }
}

impl Wire {
    /// Creates a wire with a delay of `lead`, serialization at `rate` (`None`: infinite), and a
    /// delay of `delay`.
    pub fn new(lead: Duration, rate: Option<Rate>, delay: Duration) -> Wire {
        let serializer = rate.map(|rate| Serializer { lead, rate, busy_until: Time::ZERO });
        let rest = serializer.is_some().then(|| Box::new(Rest { serializer, ..Rest::default() }));
        Wire { next: Time::NEVER, in_flight: Ring::default(), delay: lead + delay, rest }
    }

    /// Returns true if packets pass the wire without delay.
    #[inline]
    pub fn is_transparent(&self) -> bool {
        self.delay == Duration::ZERO && !self.is_special()
    }

    /// Returns true if the wire has a serializer or a variable delay.
    fn is_special(&self) -> bool {
        let is_special = |rest: &Rest| rest.serializer.is_some() || rest.variable.is_some();
        self.rest.as_deref().is_some_and(is_special)
    }

    /// Returns the least delay of any packet, without serialization.
    pub fn least_delay(&self) -> Duration {
        let variable = self.rest.as_ref().and_then(|rest| rest.variable);
        variable.map_or(self.delay, |variable| variable.least)
    }

    /// Prepares the wire for delays that are shorter than now by up to `most`. If packets would
    /// overtake each other, they arrive together.
    pub(crate) fn make_variable(&mut self, most: Duration) {
        let rest = self.rest.get_or_insert_default();
        let least = rest.variable.map_or(self.delay, |variable| variable.least);
        let least = Duration::from_nanos(least.as_nanos().saturating_sub(most.as_nanos()));
        rest.variable = Some(Variable { least, last_arrival: Time::ZERO });
    }

    /// Changes the delay for packets that enter from now on. The wire must have been prepared by
    /// `make_variable`.
    pub fn change_delay(&mut self, change: DelayChange) {
        let add = |delay: Duration| {
            Duration::from_nanos(delay.as_nanos().saturating_add_signed(change.nanos))
        };
        self.delay = add(self.delay);
        let serializer = self.rest.as_mut().and_then(|rest| rest.serializer.as_mut());
        if let Some(serializer) = serializer.filter(|_| change.is_before_serializer) {
            serializer.lead = add(serializer.lead);
        }
    }

    /// Returns the arrival time of a packet that enters at `now`, and updates the serializer. Does
    /// not store the packet; pass it to [`Wire::keep`].
    #[inline]
    pub fn enter(&mut self, packet: &Packet, now: Time) -> Time {
        let arrival = now + self.delay;
        match &mut self.rest {
            Some(rest) => rest.delay(packet.bytes(), now, arrival),
            None => arrival,
        }
    }

    /// Returns the parts of the delay of a packet that enters at `now`. Does not change the wire.
    pub fn delay_of(&self, packet: &Packet, now: Time) -> WireDelay {
        let mut delay = WireDelay { propagation: self.delay, ..WireDelay::default() };
        let Some(rest) = &self.rest else { return delay };
        if let Some(Serializer { lead, rate, busy_until }) = &rest.serializer {
            delay.wait = busy_until.saturating_since(now + *lead);
            delay.transmission = packet.bytes() / *rate;
        }
        let arrival = now + delay.propagation + delay.wait + delay.transmission;
        let last = rest.variable.map_or(arrival, |variable| variable.last_arrival);
        delay.order = last.saturating_since(arrival);
        delay
    }

    /// Stores `packet` until its arrival. Returns true if it is the next packet to arrive.
    #[inline]
    pub fn keep(&mut self, packet: &Packet, arrival: Time) -> bool {
        let is_first = self.in_flight.is_empty();
        if is_first {
            self.next = arrival;
        }
        let (head, tail) = packet.parts();
        if head.has_tail() {
            self.keep_tail(tail);
        }
        self.in_flight.push_back(InFlight { arrival, head: *head });
        is_first
    }

    #[inline(never)]
    fn keep_tail(&mut self, tail: &PacketTail) {
        self.rest.get_or_insert_default().tails.push_back(*tail);
    }

    /// Puts a packet on the wire at `now`. Returns true if it is the next packet to arrive.
    #[inline]
    pub fn put(&mut self, packet: &Packet, now: Time) -> bool {
        let arrival = self.enter(packet, now);
        self.keep(packet, arrival)
    }

    /// Returns the arrival time of the oldest packet; [`Time::NEVER`] if the wire is empty.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.next
    }

    /// Removes and returns the oldest packet, if any.
    pub fn take(&mut self) -> Option<Packet> {
        let mut packet = Packet::default();
        self.take_into(&mut packet).then_some(packet)
    }

    /// Moves the oldest packet to `packet`. Returns false if the wire is empty.
    #[inline]
    pub fn take_into(&mut self, packet: &mut Packet) -> bool {
        let Some(InFlight { head, .. }) = self.in_flight.front() else { return false };
        let has_tail = head.has_tail();
        packet.set_head(head);
        if has_tail {
            packet.set_tail(
                self.rest.as_mut().map_or_else(PacketTail::default, |rest| rest.take_tail()),
            );
        }
        self.in_flight.drop_front();
        self.next = self.in_flight.front().map_or(Time::NEVER, |oldest| oldest.arrival);
        true
    }

    /// Returns the number of packets in flight.
    pub fn held(&self) -> usize {
        self.in_flight.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{FlowId, SackBlock};

    #[test]
    fn ack_takes_48_bytes_and_passes_unchanged() {
        assert_eq!((size_of::<InFlight>(), size_of::<Wire>()), (48, 48));
        let mut wire = Wire::new(Duration::ZERO, None, Duration::from_millis(1));
        let packets: Vec<Packet> = (0..9)
            .map(|number| {
                let mut ack = Packet::ack(FlowId(0), number, 1000, 40);
                for block in 0..number % 4 {
                    ack.push_sack(SackBlock { offset: block as u32, length: number as u32 });
                }
                ack
            })
            .collect();
        packets.iter().for_each(|packet| {
            wire.put(packet, Time::ZERO);
        });
        assert!(packets.iter().all(|packet| wire.take() == Some(*packet)));
        assert_eq!(wire.take(), None);
    }

    #[test]
    fn a_change_of_delay_keeps_order_and_packets_in_flight() {
        let ms = Duration::from_millis;
        let change =
            |millis: i64| DelayChange { nanos: millis * 1_000_000, is_before_serializer: true };
        let packet = |seq| Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO);
        for rate in [None, Some(Rate(12_000_000_000))] {
            let mut wire = Wire::new(ms(10), rate, ms(0));
            wire.make_variable(ms(7));
            assert_eq!((wire.least_delay(), wire.is_transparent()), (ms(3), false));
            wire.put(&packet(0), Time::from_millis(0));
            wire.change_delay(change(-7));
            wire.put(&packet(1), Time::from_millis(1));
            wire.put(&packet(2), Time::from_millis(20));
            wire.change_delay(change(7));
            wire.put(&packet(3), Time::from_millis(21));
            for (at, seq) in [(10, 0), (10, 1), (23, 2), (31, 3)] {
                let arrival = wire.next_arrival().as_nanos() / 1_000_000;
                assert_eq!((arrival, wire.take()), (at, Some(packet(seq))));
            }
        }
    }

    #[test]
    fn parts_of_a_delay_add_up_to_the_time_until_arrival() {
        let ms = Duration::from_millis;
        let mut wire = Wire::new(ms(1), Some(Rate(1_200_000)), ms(5));
        wire.make_variable(ms(1));
        let packet = Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO);
        for (at, parts, change) in
            [(0, [0, 10, 6, 0], -1), (1, [10, 10, 5, 0], 0), (25, [0, 10, 5, 0], 1)]
        {
            let now = Time::from_millis(at);
            let found = wire.delay_of(&packet, now);
            let WireDelay { wait, transmission, propagation, order } = found;
            assert_eq!([wait, transmission, propagation, order], parts.map(ms), "{at}");
            let sum = wait + transmission + propagation + order;
            assert_eq!(wire.enter(&packet, now), now + sum);
            wire.change_delay(DelayChange {
                nanos: change * 1_000_000,
                is_before_serializer: true,
            });
        }
        let mut wire = Wire::new(ms(9), None, ms(0));
        wire.make_variable(ms(9));
        wire.enter(&packet, Time::ZERO);
        wire.change_delay(DelayChange { nanos: -9_000_000, is_before_serializer: true });
        let found = wire.delay_of(&packet, Time::from_millis(2));
        assert_eq!(found, WireDelay { order: ms(7), ..WireDelay::default() });
    }

    #[test]
    fn packets_are_serialized_one_after_another_and_then_delayed() {
        let ms = Duration::from_millis;
        let mut wire = Wire::new(ms(1), Some(Rate(1_200_000)), ms(5));
        let entered = [(0, 0), (1, 0), (2, 100)];
        let is_next = entered.map(|(seq, at)| {
            let packet = Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO);
            wire.put(&packet, Time::from_millis(at))
        });
        assert_eq!(is_next, [true, false, false]);
        for (at, seq) in [(16, 0), (26, 1), (116, 2)] {
            assert_eq!(wire.next_arrival(), Time::from_millis(at));
            let packet = Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO);
            assert_eq!(wire.take(), Some(packet));
        }
        assert_eq!((wire.next_arrival(), wire.held()), (Time::NEVER, 0));
    }
}
