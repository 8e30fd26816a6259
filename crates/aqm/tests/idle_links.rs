//! A discipline must not depend on whether a link calls its empty queue for a packet.
//!
//! A link that sends one packet after another calls `dequeue` after each; one with separate
//! opportunities (`trace`) or with a separate buffer (`rlc-am`) calls it when packets wait. The
//! latter holds dequeued packets until the far end has acknowledged them.

use crate::descriptions::{make, with_kind};
use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Duration, Ecn, FlowId, LinkRate, Packet, QueueId, Rate, Time, testing::TestHarness,
};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::VecDeque;

/// How a link gets rid of what it has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    /// It releases packets at once.
    Nothing,
    /// It holds each packet until a report acknowledges it: it arrives [`Server::LATENCY`] after
    /// it was sent, and the report about all that have arrived leaves every [`Server::REPORTS`].
    UntilReported,
}

/// A link at 1 Mbit/s that sends one packet after another.
struct Server {
    queue: Queue,
    harness: TestHarness,
    now: Time,
    /// The packet on the air, and when it has been sent.
    sending: Option<(Packet, Time)>,
    /// Whether `dequeue` is also called for an empty queue.
    asks_always: bool,
    keeping: Keeping,
    /// Packets sent that have not arrived, and when they do.
    under_way: VecDeque<(Packet, Time)>,
    /// Bytes of packets that have arrived, and when this is reported.
    unreported: VecDeque<(Bytes, Time)>,
    /// What left: when, which, and how it is marked.
    left: Vec<(Time, u64, Ecn)>,
}

impl Server {
    const RATE: Rate = Rate(1_000_000);
    const LATENCY: Duration = Duration::from_millis(25);
    const REPORTS: Duration = Duration::from_millis(60);

    fn new(description: &Value, keeping: Keeping, asks_always: bool) -> Server {
        let mut queue = Queue::new(make(description), QueueId(0));
        let mut harness = TestHarness::default();
        queue.on_rate(LinkRate::of_packets(Server::RATE), &mut harness.at(Time::ZERO));
        Server {
            queue,
            harness,
            now: Time::ZERO,
            sending: None,
            asks_always,
            keeping,
            under_way: VecDeque::new(),
            unreported: VecDeque::new(),
            left: Vec::new(),
        }
    }

    fn start_next(&mut self) {
        if self.sending.is_some() || (self.queue.is_empty() && !self.asks_always) {
            return;
        }
        let mut packet = Packet::default();
        let ctx = &mut self.harness.at(self.now);
        let is_there = match self.keeping {
            Keeping::Nothing => self.queue.dequeue_into(&mut packet, ctx),
            Keeping::UntilReported => self.queue.dequeue_held_into(&mut packet, ctx),
        };
        self.sending = is_there.then(|| (packet, self.now + packet.bytes() / Server::RATE));
    }

    /// When something happens next.
    fn due(&self) -> Time {
        let sent = self.sending.map_or(Time::NEVER, |(_, ends)| ends);
        let arrived = self.under_way.front().map_or(Time::NEVER, |(_, arrives)| *arrives);
        let reported = self.unreported.front().map_or(Time::NEVER, |(_, report)| *report);
        let timer = self.queue.next_wakeup().max(self.now);
        sent.min(arrived).min(reported).min(timer)
    }

    fn run_until(&mut self, until: Time) {
        while self.due() <= until {
            self.now = self.due();
            self.queue.wake_if_due(&mut self.harness.at(self.now));
            self.report();
            if let Some((packet, _)) = self.sending.take_if(|(_, ends)| *ends <= self.now) {
                match self.keeping {
                    Keeping::Nothing => self.arrive(packet),
                    Keeping::UntilReported => {
                        self.under_way.push_back((packet, self.now + Server::LATENCY));
                    }
                }
            }
            while let Some(packet) = take_due(&mut self.under_way, self.now) {
                self.arrive(packet);
                let span = Server::REPORTS.as_nanos();
                let report = Time::from_nanos(self.now.as_nanos().next_multiple_of(span));
                self.unreported.push_back((packet.bytes(), report + Server::LATENCY));
            }
            self.start_next();
        }
        self.now = until;
    }

    fn arrive(&mut self, mut packet: Packet) {
        self.queue.on_served(&mut packet, &mut self.harness.at(self.now));
        self.left.push((self.now, packet.seq, packet.ecn));
    }

    /// Gets rid of all that a report acknowledges which has come now.
    fn report(&mut self) {
        let (mut packets, mut all) = (0, Bytes::ZERO);
        while let Some(bytes) = take_due(&mut self.unreported, self.now) {
            packets += 1;
            all += bytes;
        }
        if packets > 0 {
            self.queue.release(packets, all, &mut self.harness.at(self.now));
        }
    }

    fn offer(&mut self, packet: Packet) {
        self.queue.enqueue(&packet, &mut self.harness.at(self.now));
        self.start_next();
    }
}

/// The first of `waiting`, when it is due by `now`.
fn take_due<T>(waiting: &mut VecDeque<(T, Time)>, now: Time) -> Option<T> {
    if waiting.front()?.1 > now {
        return None;
    }
    waiting.pop_front().map(|(first, _)| first)
}

/// A burst and the time until the next: time to empty the queue mostly, and now and then minutes.
fn burst() -> impl Strategy<Value = (Vec<(u32, Ecn)>, u64)> {
    let ecn = prop_oneof![3 => Just(Ecn::NotEct), 1 => Just(Ecn::Ect0)];
    let packets = prop::collection::vec((0..3u32, ecn), 1..12);
    let pause = prop_oneof![3 => 0..200_000_000u64, 1 => 0..100_000_000_000u64];
    (packets, pause)
}

/// Every discipline sends, drops and marks alike over two such links, one of which calls an empty
/// queue.
fn decides_alike(keeping: Keeping, bursts: &[(Vec<(u32, Ecn)>, u64)]) -> Result<(), TestCaseError> {
    // A timer that is due each nanosecond says nothing here, and takes its time.
    let is_slow = |timer: &Value| timer.as_u64().is_some_and(|nanos| nanos < 1_000_000);
    for description in AnyQueue::BUILT_IN.iter().flat_map(|(kind, _)| with_kind(kind)) {
        if ["interval_ns", "update_ns", "tick_ns"].iter().any(|key| is_slow(&description[key])) {
            continue;
        }
        let mut servers = [true, false].map(|asks| Server::new(&description, keeping, asks));
        for server in &mut servers {
            let mut seq = 0;
            for (packets, pause) in bursts {
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
        prop_assert_eq!(asking.harness.counts(), silent.harness.counts(), "{}", description);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// RED and ARED used to drop every packet for ever over a link that does not call an empty
    /// queue (`trace`, `rlc-am`), and FQ-CoDel to take a flow for an old one there.
    #[test]
    fn discipline_decides_alike_with_and_without_calls_for_an_empty_queue(
        bursts in prop::collection::vec(burst(), 1..30),
    ) {
        decides_alike(Keeping::Nothing, &bursts)?;
    }

    /// FQ-CoDel used to wait until the link held nothing.
    #[test]
    fn a_discipline_decides_alike_over_a_link_that_holds_what_it_took(
        bursts in prop::collection::vec(burst(), 1..30),
    ) {
        decides_alike(Keeping::UntilReported, &bursts)?;
    }
}
