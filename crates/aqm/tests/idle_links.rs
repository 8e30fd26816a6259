//! What a discipline does may not hang on whether a link asks its empty queue for a packet.
//!
//! A link that sends one packet after another asks after each; one with opportunities of its own
//! (`trace`) or with a buffer of its own (`rlc-am`) asks when something waits.

mod descriptions;

use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{Bytes, Ecn, FlowId, Packet, Rate, Time, test_kit::Bench};
use descriptions::{make, with_kind};
use proptest::prelude::*;
use serde_json::Value;

/// A link at 1 Mbit/s that sends one packet after another.
struct Server {
    queue: Queue,
    bench: Bench,
    now: Time,
    /// The packet on the air, and when it has been sent.
    sending: Option<(Packet, Time)>,
    /// Whether an empty queue is asked, too.
    asks_always: bool,
    /// What left: when, which, and how it is marked.
    left: Vec<(Time, u64, Ecn)>,
}

impl Server {
    const RATE: Rate = Rate(1_000_000);

    fn new(description: &Value, asks_always: bool) -> Server {
        let mut queue = Queue::new(make(description), 0);
        let mut bench = Bench::default();
        queue.on_rate(Server::RATE, &mut bench.at(Time::ZERO));
        Server { queue, bench, now: Time::ZERO, sending: None, asks_always, left: Vec::new() }
    }

    fn start_next(&mut self) {
        if self.sending.is_none() && (self.asks_always || !self.queue.is_empty()) {
            let next = self.queue.dequeue(&mut self.bench.at(self.now));
            self.sending = next.map(|packet| (packet, self.now + packet.bytes() / Server::RATE));
        }
    }

    fn run_until(&mut self, until: Time) {
        loop {
            let sent = self.sending.map_or(Time::NEVER, |(_, ends)| ends);
            let due = sent.min(self.queue.next_wakeup().max(self.now));
            if due > until {
                break;
            }
            self.now = due;
            self.queue.wake_if_due(&mut self.bench.at(due));
            if let Some((mut packet, _)) = self.sending.take_if(|(_, ends)| *ends <= due) {
                self.queue.on_served(&mut packet, &mut self.bench.at(due));
                self.left.push((due, packet.seq, packet.ecn));
            }
            self.start_next();
        }
        self.now = until;
    }

    fn offer(&mut self, packet: Packet) {
        self.queue.enqueue(packet, &mut self.bench.at(self.now));
        self.start_next();
    }
}

/// A burst and the time until the next: time to empty the queue mostly, and now and then minutes.
fn burst() -> impl Strategy<Value = (Vec<(u32, Ecn)>, u64)> {
    let ecn = prop_oneof![3 => Just(Ecn::NotEct), 1 => Just(Ecn::Ect0)];
    let packets = prop::collection::vec((0..3u32, ecn), 1..12);
    let pause = prop_oneof![3 => 0..200_000_000u64, 1 => 0..100_000_000_000u64];
    (packets, pause)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// RED and ARED used to drop every packet for ever over a link that does not ask an empty
    /// queue (`trace`, `rlc-am`), and FQ-CoDel to take a flow for an old one there.
    #[test]
    fn a_discipline_decides_alike_whether_or_not_an_empty_queue_is_asked(
        bursts in prop::collection::vec(burst(), 1..30),
    ) {
        // A timer that is due each nanosecond says nothing here, and takes its time.
        let is_slow = |timer: &Value| timer.as_u64().is_some_and(|nanos| nanos < 1_000_000);
        for description in AnyQueue::BUILT_IN.iter().flat_map(|(kind, _)| with_kind(kind)) {
            if ["interval_ns", "update_ns", "tick_ns"].iter().any(|key| is_slow(&description[key])) {
                continue;
            }
            let mut servers = [true, false].map(|asks| Server::new(&description, asks));
            for server in &mut servers {
                let mut seq = 0;
                for (packets, pause) in &bursts {
                    for (flow, ecn) in packets {
                        let flow = FlowId(*flow);
                        let mut packet = Packet::datagram(flow, seq, Bytes(1500), server.now);
                        packet.ecn = *ecn;
                        seq += 1;
                        server.offer(packet);
                    }
                    server.run_until(Time::from_nanos(server.now.as_nanos() + pause));
                }
            }
            let [asking, silent] = servers;
            prop_assert_eq!(&asking.left, &silent.left, "{}", description);
            prop_assert_eq!(asking.bench.counts(), silent.bench.counts(), "{}", description);
        }
    }
}
