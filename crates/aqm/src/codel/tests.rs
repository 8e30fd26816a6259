//! Step tests of CoDel: the time at which each packet is sent, marked or dropped.

use super::*;
use airpath_conformance::Law;
use airpath_core::{Duration, Ecn, FlowId, Registry, Seed, Time, testing::TestHarness};

/// Time step: one packet arrives and one is dequeued per step.
const STEP: Duration = Duration::from_nanos(10_000);
const DEFAULT: CodelConfig = CodelConfig {
    limit: 1_000_000,
    target_ns: 5_000_000,
    interval_ns: 100_000_000,
    mtu_bytes: 1500,
    ecn: false,
    ce_threshold_ns: None,
    ce_threshold_ect1: false,
};

const CONTROL_LAW: Law = Law {
    area: "CoDel",
    source: "RFC 8289 §5.5, §5.6: the nth gap between drops is the interval over √n",
    allows: "one step of the test's clock, 10 µs, on either side; the printed gaps have three digits",
};

fn codel(config: CodelConfig) -> Codel {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "codel"), registry: &registry, extra: () };
    Codel::build(config, setup).expect("a valid configuration")
}

/// A queue with its clock, and the numbers of the packets at its input and output.
struct Line {
    harness: TestHarness,
    queue: Codel,
    now: Time,
    next_seq: u64,
    next_out: u64,
    /// Time and number of each dropped packet.
    dropped: Vec<(Time, u64)>,
    marked: Vec<(Time, u64)>,
    ecn: Ecn,
}

impl Line {
    fn new(config: CodelConfig, ecn: Ecn) -> Line {
        Line {
            harness: TestHarness::default(),
            queue: codel(config),
            now: Time::ZERO,
            next_seq: 0,
            next_out: 0,
            dropped: Vec::new(),
            marked: Vec::new(),
            ecn,
        }
    }

    fn put(&mut self, count: u64) {
        for _ in 0..count {
            let mut packet = Packet::data(FlowId(0), self.next_seq, 1460, 40, self.now);
            packet.ecn = self.ecn;
            self.next_seq += 1;
            self.queue.enqueue(&packet, &mut self.harness.at(self.now));
        }
    }

    /// Dequeues one packet. Numbers that are missing before this packet count as drops at the
    /// current time.
    fn take(&mut self) -> bool {
        let packet = self.queue.dequeue(&mut self.harness.at(self.now));
        let until = packet.as_ref().map_or(self.next_seq, |packet| packet.seq);
        self.dropped.extend((self.next_out..until).map(|seq| (self.now, seq)));
        self.next_out = until + u64::from(packet.is_some());
        if let Some(packet) = packet.as_ref().filter(|packet| packet.ecn == Ecn::Ce) {
            self.marked.push((self.now, packet.seq));
        }
        packet.is_some()
    }

    fn wait(&mut self, span: Duration) {
        self.now = self.now + span;
    }

    /// Enqueues and dequeues one packet per step for the time `span`. Only drops reduce the
    /// backlog.
    fn run(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.wait(STEP);
            self.put(1);
            self.take();
        }
    }

    fn take_all(&mut self) {
        while self.take() {}
    }
}

/// Creates a queue with a constant sojourn time of 1 s.
fn persistently_bad(ecn: Ecn, config: CodelConfig) -> Line {
    let mut line = Line::new(config, ecn);
    line.put(100_000);
    line.wait(Duration::from_secs(1));
    line
}

fn gaps_ms(times: &[(Time, u64)]) -> Vec<f64> {
    times.windows(2).map(|two| (two[1].0 - two[0].0).as_secs_lossy() * 1e3).collect()
}

fn assert_schedule(times: &[(Time, u64)]) {
    let off = |(index, gap): (usize, &f64)| (gap - 100.0 / ((index + 1) as f64).sqrt()).abs();
    let gaps = gaps_ms(times);
    let largest = gaps.iter().enumerate().map(off).fold(0.0, f64::max);
    // The tolerance is one step on either side: 0.13 % at n = 40.
    let what = format!("largest difference, {} gaps", gaps.len());
    CONTROL_LAW.close(what, "ms", largest, 0.0, 0.010_001);
}

#[test]
fn first_drop_is_one_interval_after_target_is_reached() {
    let mut line = persistently_bad(Ecn::NotEct, DEFAULT);
    line.run(Duration::from_millis(150));
    let first_taken = Time::from_secs(1) + STEP;
    assert_eq!(line.dropped.len(), 1);
    // The head packet at that time is number 10 000, because 10 000 packets were dequeued before.
    assert_eq!(line.dropped[0], (first_taken + Duration::from_millis(100), 10_000));
}

#[test]
fn drops_follow_the_control_law() {
    let mut line = persistently_bad(Ecn::NotEct, DEFAULT);
    line.run(Duration::from_millis(1300));
    let gaps = gaps_ms(&line.dropped);
    for (index, published) in [100.0, 70.7, 57.7, 50.0, 44.7, 40.8].into_iter().enumerate() {
        let what = format!("gap {} between drops", index + 1);
        CONTROL_LAW.close_relative(what, "ms", gaps[index], published, 0.001);
    }
    assert!(line.dropped.len() > 35, "{}", line.dropped.len());
    assert_schedule(&line.dropped);
}

/// The sum of 1/√k up to n lies between 2√(n + 1) − 2 and 2√n − 1.
#[test]
fn nth_drop_time_is_bounded_by_two_intervals_root_n() {
    let mut line = persistently_bad(Ecn::NotEct, DEFAULT);
    line.run(Duration::from_millis(3000));
    let first = line.dropped[0].0;
    for (n, (time, _)) in line.dropped.iter().enumerate().skip(1) {
        let n = n as f64;
        let intervals = (*time - first).as_secs_lossy() / 0.1;
        assert!(intervals > 2.0 * (n + 1.0).sqrt() - 2.0 - 1e-3, "{n}: {intervals}");
        assert!(intervals < 2.0 * n.sqrt() - 1.0 + 1e-3, "{n}: {intervals}");
    }
    assert!(line.dropped.len() > 200, "{}", line.dropped.len());
}

#[test]
fn ecn_marks_on_same_schedule_without_drops() {
    let mut line = persistently_bad(Ecn::Ect0, CodelConfig { ecn: true, ..DEFAULT });
    line.run(Duration::from_millis(1300));
    assert!(line.marked.len() > 35 && line.dropped.is_empty(), "{:?}", line.harness.counts());
    assert_eq!(line.marked[0].1, 10_000);
    assert_schedule(&line.marked);
    let mut line = persistently_bad(Ecn::NotEct, CodelConfig { ecn: true, ..DEFAULT });
    line.run(Duration::from_millis(200));
    assert!(line.marked.is_empty() && !line.dropped.is_empty(), "not capable: dropped");
    let mut line = persistently_bad(Ecn::Ect0, DEFAULT);
    line.run(Duration::from_millis(200));
    assert!(line.marked.is_empty() && !line.dropped.is_empty(), "without ecn: dropped");
}

/// The CE threshold marks packets whose sojourn time is above it, and drops none. With
/// `ce_threshold_ect1` it marks only packets with ECT(1).
#[test]
fn ce_threshold_marks_packets_above_it() {
    let fields = [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ce];
    for (ect1, waited_us, marked) in
        [(false, 1000, vec![]), (false, 1001, vec![0, 1]), (true, 1001, vec![0])]
    {
        let config =
            CodelConfig { ce_threshold_ns: Some(1_000_000), ce_threshold_ect1: ect1, ..DEFAULT };
        let (mut queue, mut harness) = (codel(config), TestHarness::default());
        for (seq, ecn) in fields.into_iter().enumerate() {
            let mut packet = Packet::data(FlowId(0), seq as u64, 1460, 40, Time::ZERO);
            packet.ecn = ecn;
            queue.enqueue(&packet, &mut harness.at(Time::ZERO));
        }
        let now = Time::from_nanos(1000 * waited_us);
        let mut found = Vec::new();
        for ecn in fields {
            let sent = queue.dequeue(&mut harness.at(now)).expect("four packets wait");
            if sent.ecn != ecn {
                found.push(sent.seq);
            }
        }
        let counts = harness.counts();
        assert_eq!((&found, counts.total()), (&marked, 0), "{waited_us} µs");
        assert_eq!(counts.marked, marked.len() as u64);
    }
}

#[test]
fn marked_packet_is_sent_even_if_several_signals_are_due() {
    let mut line = persistently_bad(Ecn::Ect0, CodelConfig { ecn: true, ..DEFAULT });
    line.run(Duration::from_millis(101));
    line.wait(Duration::from_millis(300));
    for _ in 0..5 {
        line.take();
    }
    // The signals at 100, 170.7, 228.4 and 278.4 ms after the first mark were due.
    assert_eq!(line.marked.len(), 1 + 4);
    assert!(line.dropped.is_empty());
}

#[test]
fn overdue_drops_happen_in_one_dequeue() {
    let mut line = persistently_bad(Ecn::NotEct, DEFAULT);
    line.run(Duration::from_millis(101));
    line.wait(Duration::from_millis(300));
    line.take();
    assert_eq!(line.dropped.len(), 1 + 4);
    let last: Vec<u64> = line.dropped[1..].iter().map(|(_, seq)| *seq).collect();
    let from = line.next_out - 5;
    assert_eq!(last, [from, from + 1, from + 2, from + 3], "the four at the head");
}

#[test]
fn codel_drops_nothing_below_target() {
    let mut line = Line::new(DEFAULT, Ecn::NotEct);
    line.put(499); // 4.99 ms
    line.run(Duration::from_secs(5));
    assert!(line.dropped.is_empty());
}

#[test]
fn sojourn_time_equal_to_target_counts_as_above() {
    let mut line = Line::new(DEFAULT, Ecn::NotEct);
    line.put(500); // 5 ms
    line.run(Duration::from_secs(1));
    // The first drop ends the state above the target.
    assert_eq!(line.dropped.len(), 1);
}

#[test]
fn codel_drops_nothing_if_at_most_one_mtu_remains() {
    for (extra, drops) in [(1, false), (2, true)] {
        let mut line = Line::new(DEFAULT, Ecn::NotEct);
        line.put(extra);
        for _ in 0..100 {
            // One packet every 10 ms: each packet waits for at least 10 ms, and one or two packets
            // remain after its departure.
            line.wait(Duration::from_millis(10));
            line.put(1);
            line.wait(Duration::from_millis(10));
            line.take();
        }
        assert_eq!(!line.dropped.is_empty(), drops, "{extra} left behind");
    }
}

#[test]
fn packet_below_target_ends_dropping_and_restarts_interval() {
    let mut line = persistently_bad(Ecn::NotEct, DEFAULT);
    line.run(Duration::from_millis(120));
    assert!(line.queue.dropper.is_dropping());
    line.take_all();
    assert!(!line.queue.dropper.is_dropping());
    let before = line.dropped.len();
    line.put(1000);
    line.wait(Duration::from_millis(20));
    line.run(Duration::from_millis(99));
    assert_eq!(line.dropped.len(), before, "less than an interval");
    line.run(Duration::from_millis(2));
    assert_eq!(line.dropped.len(), before + 1);
}

/// Keeps the queue in the dropping state for 1 s, empties the queue, waits for `pause`, and exceeds
/// the target again. Returns `count` before the pause, and the gaps between drops after the pause.
fn gaps_after(pause: Duration) -> (u32, Vec<f64>) {
    let mut line = persistently_bad(Ecn::NotEct, DEFAULT);
    line.run(Duration::from_secs(1));
    let count = line.queue.dropper.count();
    // The backlog is dequeued without time steps, so that no further packets are dropped at the
    // head.
    line.take_all();
    line.wait(pause);
    let before = line.dropped.len();
    line.put(20_000);
    line.wait(Duration::from_millis(200));
    line.run(Duration::from_millis(500));
    (count, gaps_ms(&line.dropped[before..]))
}

#[test]
fn dropping_resumes_rate_only_within_16_intervals() {
    let (count, gaps) = gaps_after(Duration::from_millis(100));
    assert!(count > 20, "{count}");
    // `count` started at 1, so the dropper resumes at count - 1.
    let resumed = 100.0 / f64::from(count - 1).sqrt();
    let what = format!("first gap, 100 ms after drop {count}");
    CONTROL_LAW.close(what, "ms", gaps[0], resumed, 0.011);
    let (_, gaps) = gaps_after(Duration::from_millis(1600));
    CONTROL_LAW.close("first gap, 1.6 s after the last drop", "ms", gaps[0], 100.0, 0.011);
}

#[test]
fn sojourn_times_of_acks_are_measured() {
    let mut harness = TestHarness::default();
    let mut queue = codel(DEFAULT);
    for number in 0..200 {
        let ack = Packet::ack(FlowId(0), number, 65_535, 40);
        queue.enqueue(&ack, &mut harness.at(Time::ZERO));
    }
    for millis in [50, 100, 149] {
        assert!(queue.dequeue(&mut harness.at(Time::from_millis(millis))).is_some());
    }
    assert_eq!(harness.counts().total(), 0);
    let passed = queue.dequeue(&mut harness.at(Time::from_millis(150))).expect("200 came");
    assert_eq!((passed.seq, harness.counts().total()), (4, 1));
}

#[test]
fn codel_drops_arrival_above_limit() {
    let mut line = Line::new(CodelConfig { limit: 3, ..DEFAULT }, Ecn::NotEct);
    line.put(5);
    assert_eq!(line.harness.counts().dropped[DropReason::Overflow as usize], 2);
    line.take_all();
    assert_eq!(line.dropped.iter().map(|(_, seq)| *seq).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn check_names_invalid_key() {
    for (config, message) in [
        (CodelConfig { limit: 0, ..DEFAULT }, "limit = 0: below 1. Accepted: at least 1"),
        (CodelConfig { target_ns: 0, ..DEFAULT }, "target_ns = 0: below 1. Accepted: at least 1"),
        (
            CodelConfig { interval_ns: 0, ..DEFAULT },
            "interval_ns = 0: below 1. Accepted: at least 1",
        ),
    ] {
        let error =
            <Codel as Component<dyn QueueDisc + Send>>::check(&config).expect_err("refused");
        assert_eq!(error.to_string(), message);
    }
}
