//! A wire: serialization at a rate, then a constant delay; nothing is ever lost.
//!
//! A FIFO delay line: packets sit in a ring and only the head's departure is a wake-up. When a
//! packet leaves is known when it arrives, so serialization costs no event of its own.

use airpath_core::{Bytes, Control, Ctx, Duration, Packet, Port, Rate, Ring, Stage, Time};

/// A packet and when it departs.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    departure: Time,
    packet: Packet,
}

/// A wired hop without queue limit. Input 0, output 0.
#[derive(Clone, Debug)]
pub struct Wire {
    /// When the oldest packet in flight departs.
    next: Time,
    in_flight: Ring<InFlight>,
    /// All delay, in front of the serialization and behind it.
    delay: Duration,
    /// `None` when packets are sent at once.
    serializer: Option<Box<Serializer>>,
}

/// What sends one packet after another.
#[derive(Clone, Debug)]
struct Serializer {
    /// Delay in front of it: the propagation of the hop before.
    lead: Duration,
    rate: Rate,
    busy_until: Time,
}

impl Serializer {
    /// What serialization adds to the delay of a packet of `size` that enters the wire at `now`.
    fn send(&mut self, size: Bytes, now: Time) -> Duration {
        let arrives = now + self.lead;
        self.busy_until = arrives.max(self.busy_until) + size / self.rate;
        self.busy_until - arrives
    }
}

impl Wire {
    /// A wire that delays by `lead`, sends at `rate` (at once when `None`), and delays by
    /// `delay`.
    pub fn new(lead: Duration, rate: Option<Rate>, delay: Duration) -> Wire {
        let serializer =
            rate.map(|rate| Box::new(Serializer { lead, rate, busy_until: Time::ZERO }));
        Wire { next: Time::NEVER, in_flight: Ring::default(), delay: lead + delay, serializer }
    }

    /// Whether packets pass it in no time, so that it need not exist.
    #[inline]
    pub fn is_transparent(&self) -> bool {
        self.delay == Duration::ZERO && self.serializer.is_none()
    }

    /// The oldest packet, when it has come to the end by `now`.
    #[inline]
    pub fn arrived(&self, now: Time) -> Option<&Packet> {
        if self.next <= now { self.in_flight.front().map(|oldest| &oldest.packet) } else { None }
    }

    /// Lets go of the oldest packet.
    #[inline]
    pub fn drop_arrived(&mut self) {
        self.in_flight.drop_front();
        self.next = self.in_flight.front().map_or(Time::NEVER, |oldest| oldest.departure);
    }
}

impl Stage for Wire {
    #[inline]
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        let mut departure = ctx.now + self.delay;
        if let Some(serializer) = &mut self.serializer {
            departure = departure + serializer.send(packet.bytes(), ctx.now);
        }
        if self.in_flight.is_empty() {
            self.next = departure;
        }
        self.in_flight.push_back(InFlight { departure, packet: *packet });
    }

    #[inline]
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(packet) = self.arrived(ctx.now) {
            ctx.emit(Port(0), *packet);
            self.drop_arrived();
        }
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.next
    }

    /// Its delay and rate never change.
    fn control(&mut self, _event: &Control, _ctx: &mut Ctx<'_>) {}

    fn held(&self) -> usize {
        self.in_flight.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::{FlowId, test_kit::Bench};

    #[test]
    fn packets_are_serialized_one_after_another_and_then_delayed() {
        let mut bench = Bench::default();
        let ms = Duration::from_millis;
        let mut wire = Wire::new(ms(1), Some(Rate(1_200_000)), ms(5));
        for (seq, at) in [(0, 0), (1, 0), (2, 100)] {
            let packet = Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO);
            let now = Time::from_millis(at);
            wire.receive(Port(0), &packet, &mut bench.at(now));
        }
        let departures: Vec<_> = bench
            .run(&mut wire, Time::from_secs(1))
            .into_iter()
            .map(|(at, _, packet)| (at.as_nanos() / 1_000_000, packet.seq))
            .collect();
        assert_eq!(departures, [(16, 0), (26, 1), (116, 2)]);
    }
}
