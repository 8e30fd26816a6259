//! Tests that no discipline depends on whether a link polls an empty queue.
//!
//! A link that sends one packet after another calls `dequeue` after each packet. A link with
//! transmission opportunities (`trace`) or with its own buffer (`rlc-am`) calls `dequeue` only if
//! packets wait. The `rlc-am` link also holds dequeued packets until the far end has acknowledged
//! them.

use crate::descriptions::{make, with_kind};
use airpath_aqm::{AnyQueue, Queue};
use airpath_core::{
    Bytes, Duration, Ecn, FlowId, LinkRate, Packet, QueueId, Rate, Time, testing::TestHarness,
};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::VecDeque;

/// Time at which a link releases sent packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    /// The link releases packets immediately.
    Nothing,
    /// The link holds each packet until a report acknowledges it. A packet arrives
    /// [`Server::LATENCY`] after its transmission. A report about all arrived packets is sent every
    /// [`Server::REPORTS`].
    UntilReported,
}

/// A link at 1 Mbit/s that sends one packet after another.
struct Server {
    queue: Queue,
    harness: TestHarness,
    now: Time,
    /// The packet on the air, and the end of its transmission.
    sending: Option<(Packet, Time)>,
    /// True if `dequeue` is also called for an empty queue.
    polls_empty_queue: bool,
    keeping: Keeping,
    /// Sent packets that have not arrived, and their arrival times.
    in_flight: VecDeque<(Packet, Time)>,
    /// Sizes of arrived packets, and the times of their reports.
    unreported: VecDeque<(Bytes, Time)>,
    /// Departures: time, sequence number and ECN field.
    left: Vec<(Time, u64, Ecn)>,
}

impl Server {
    const RATE: Rate = Rate(1_000_000);
    const LATENCY: Duration = Duration::from_millis(25);
    const REPORTS: Duration = Duration::from_millis(60);

    fn new(description: &Value, keeping: Keeping, polls_empty_queue: bool) -> Server {
        let mut queue = Queue::new(make(description), QueueId(0));
        let mut harness = TestHarness::default();
        queue.on_rate(LinkRate::of_packets(Server::RATE), &mut harness.at(Time::ZERO));
        Server {
            queue,
            harness,
            now: Time::ZERO,
            sending: None,
            polls_empty_queue,
            keeping,
            in_flight: VecDeque::new(),
            unreported: VecDeque::new(),
            left: Vec::new(),
        }
    }

    fn start_next(&mut self) {
        if self.sending.is_some() || (self.queue.is_empty() && !self.polls_empty_queue) {
            return;
        }
        let mut packet = Packet::default();
        let ctx = &mut self.harness.at(self.now);
        let is_found = match self.keeping {
            Keeping::Nothing => self.queue.dequeue_into(&mut packet, ctx),
            Keeping::UntilReported => self.queue.dequeue_held_into(&mut packet, ctx),
        };
        self.sending = is_found.then(|| (packet, self.now + packet.bytes() / Server::RATE));
    }

    /// Time of the next event.
    fn due(&self) -> Time {
        let sent = self.sending.map_or(Time::NEVER, |(_, ends)| ends);
        let arrived = self.in_flight.front().map_or(Time::NEVER, |(_, arrives)| *arrives);
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
                        self.in_flight.push_back((packet, self.now + Server::LATENCY));
                    }
                }
            }
            while let Some(packet) = take_due(&mut self.in_flight, self.now) {
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

    /// Releases all packets that the current report acknowledges.
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

/// Removes and returns the first element of `waiting` if it is due by `now`.
fn take_due<T>(waiting: &mut VecDeque<(T, Time)>, now: Time) -> Option<T> {
    if waiting.front()?.1 > now {
        return None;
    }
    waiting.pop_front().map(|(first, _)| first)
}

/// A burst, and the time until the next burst: usually long enough to empty the queue, sometimes
/// minutes.
fn burst() -> impl Strategy<Value = (Vec<(u32, Ecn)>, u64)> {
    let ecn = prop_oneof![3 => Just(Ecn::NotEct), 1 => Just(Ecn::Ect0)];
    let packets = prop::collection::vec((0..3u32, ecn), 1..12);
    let pause = prop_oneof![3 => 0..200_000_000u64, 1 => 0..100_000_000_000u64];
    (packets, pause)
}

/// Checks that every discipline makes equal decisions on two links. One of the links polls an empty
/// queue, the other one does not.
fn check_equal_decisions(
    keeping: Keeping,
    bursts: &[(Vec<(u32, Ecn)>, u64)],
) -> Result<(), TestCaseError> {
    // Configurations with a timer below 1 ms are slow and add nothing to this test.
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

    /// Regression test for links that do not poll an empty queue (`trace`, `rlc-am`): RED and ARED
    /// dropped every packet, and FQ-CoDel treated a new flow as an old flow.
    #[test]
    fn discipline_does_not_depend_on_polls_of_empty_queue(
        bursts in prop::collection::vec(burst(), 1..30),
    ) {
        check_equal_decisions(Keeping::Nothing, &bursts)?;
    }

    /// Regression test for an error in which FQ-CoDel treated a flow as old until the link held no
    /// packets.
    #[test]
    fn discipline_does_not_depend_on_polls_over_link_that_holds_packets(
        bursts in prop::collection::vec(burst(), 1..30),
    ) {
        check_equal_decisions(Keeping::UntilReported, &bursts)?;
    }
}
