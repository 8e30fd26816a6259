//! A wire: serialization at a rate, then a constant delay; nothing is ever lost.
//!
//! A FIFO delay line: packets sit in a ring and only the head's departure is a wake-up. When a
//! packet leaves is known when it arrives, so serialization costs no event of its own.

use airpath_core::{Ctx, Duration, Packet, Port, Rate, Stage, Time};
use std::collections::VecDeque;

/// A wired hop without queue limit. Input 0, output 0.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Delay in front of the serialization: the propagation of the hop before.
    lead: Duration,
    rate: Option<Rate>,
    delay: Duration,
    busy_until: Time,
    in_flight: VecDeque<(Time, Packet)>,
}

impl Wire {
    /// A wire that delays by `lead`, sends at `rate` (at once when `None`), and delays by
    /// `delay`.
    pub fn new(lead: Duration, rate: Option<Rate>, delay: Duration) -> Wire {
        Wire { lead, rate, delay, busy_until: Time::ZERO, in_flight: VecDeque::new() }
    }

    /// Whether packets pass it in no time, so that it need not exist.
    pub fn is_transparent(&self) -> bool {
        self.rate.is_none() && self.lead + self.delay == Duration::ZERO
    }
}

impl Stage for Wire {
    #[inline]
    fn receive(&mut self, _port: Port, packet: Packet, ctx: &mut Ctx<'_>) {
        let mut sent = ctx.now + self.lead;
        if let Some(rate) = self.rate {
            sent = sent.max(self.busy_until) + packet.bytes() / rate;
            self.busy_until = sent;
        }
        self.in_flight.push_back((sent + self.delay, packet));
    }

    #[inline]
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        while self.next_wakeup() <= ctx.now {
            let Some((_, packet)) = self.in_flight.pop_front() else { return };
            ctx.emit(Port(0), packet);
        }
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.in_flight.front().map_or(Time::NEVER, |(departure, _)| *departure)
    }

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
            wire.receive(Port(0), packet, &mut bench.at(now));
        }
        let departures: Vec<_> = bench
            .run(&mut wire, Time::from_secs(1))
            .into_iter()
            .map(|(at, _, packet)| (at.as_nanos() / 1_000_000, packet.seq))
            .collect();
        assert_eq!(departures, [(16, 0), (26, 1), (116, 2)]);
    }
}
