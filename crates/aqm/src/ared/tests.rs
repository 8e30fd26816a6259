//! Tests of ARED: adaptation steps, timer, and the target range of the average.

use super::*;
use airpath_conformance::Law;
use airpath_core::{Bytes, FlowId, LinkRate, Rate, Registry, Seed, testing::TestHarness};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Configuration in which all parameters are automatic, for packets of 1500 bytes.
const AUTOMATIC: AredConfig = AredConfig {
    limit: 1000,
    min_th: None,
    max_th: None,
    max_p: 0.1,
    weight: None,
    target_delay_ns: 5_000_000,
    mean_packet_bytes: 1500,
    interval_ns: 500_000_000,
    wait: true,
    ecn: false,
};
/// Configuration in which the average equals the queue length, and no packet is dropped below 40
/// packets.
const DIRECT: AredConfig =
    AredConfig { min_th: Some(10.0), max_th: Some(20.0), weight: Some(1.0), ..AUTOMATIC };

const ADAPTATION: Law = Law {
    area: "ARED",
    source: "Floyd, Gummadi & Shenker 2001 §4: the next max_p (min_th 10, max_th 20)",
    allows: "rounding of doubles",
};
const BAND: Law = Law {
    area: "ARED",
    source: "Floyd, Gummadi & Shenker 2001 §4: the average stays in its target",
    allows: "the bounds are the target's, 0.4 and 0.6 of the way from min_th to max_th",
};

fn ared(config: AredConfig) -> Ared {
    let registry = Registry::<dyn QueueDisc + Send>::default();
    let setup = Setup { seed: Seed::new(1, 0, "ared"), registry: &registry, extra: () };
    Ared::build(config, setup).expect("a valid configuration")
}

fn packet() -> Packet {
    Packet::data(FlowId(0), 0, 1460, 40, Time::ZERO)
}

#[test]
fn max_p_adaptation_matches_formula() {
    let curve = |max_p| RedCurve { min_th: 10.0, max_th: 20.0, max_p, gentle: true };
    assert_eq!(ared_target(&curve(0.1)), (14.0, 16.0));
    for (average, max_p, next) in [
        (14.0, 0.1, 0.1),
        (16.0, 0.1, 0.1),
        (16.1, 0.1, 0.11),
        (16.1, 0.02, 0.025), // a quarter of max_p
        (16.1, 0.5, 0.51),
        (16.1, 0.505, 0.505),
        (13.9, 0.1, 0.09),
        (13.9, 0.01, 0.009),
        (13.9, 0.0099, 0.0099),
    ] {
        let found = ared_next_max_p(average, &curve(max_p));
        let what = format!("at an average of {average}, max_p = {max_p}");
        ADAPTATION.close(what, "", found, next, 1e-15);
    }
}

#[test]
fn ared_adapts_while_packets_arrive_and_then_stops_timer() {
    let mut harness = TestHarness::default();
    let mut queue = ared(DIRECT);
    assert!(queue.next_wakeup().is_never(), "nothing has arrived yet");
    queue.enqueue(&packet(), &mut harness.at(Time::from_millis(100)));
    queue.enqueue(&packet(), &mut harness.at(Time::from_millis(400)));
    for (woken, max_p, next) in [
        (Time::from_millis(600), 0.09, Time::from_millis(1100)),
        (Time::from_millis(1100), 0.09, Time::NEVER), // no arrival since the last adaptation
    ] {
        assert_eq!(queue.next_wakeup(), woken);
        queue.on_wake(&mut harness.at(woken));
        assert!((queue.red.dropper().curve().max_p - max_p).abs() < 1e-15);
        assert_eq!(queue.next_wakeup(), next);
    }
    queue.enqueue(&packet(), &mut harness.at(Time::from_secs(9)));
    assert_eq!(queue.next_wakeup(), Time::from_millis(9500));
}

#[test]
fn early_wakeup_has_no_effect() {
    let mut harness = TestHarness::default();
    let mut queue = ared(DIRECT);
    queue.enqueue(&packet(), &mut harness.at(Time::ZERO));
    queue.on_wake(&mut harness.at(Time::from_millis(499)));
    assert_eq!(queue.next_wakeup(), Time::from_millis(500));
    assert_eq!(queue.red.dropper().curve().max_p, 0.1);
}

/// AIMD senders: each increases its window by one packet per round trip and halves it at a drop, at
/// most once per round trip. Departures are evenly spaced; losses are detected immediately.
struct Senders {
    windows: Vec<f64>,
    halved: Vec<f64>,
    /// Time of the next transmission of each sender, ns, and the sender number, which orders equal
    /// times.
    due: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Senders {
    fn add(&mut self, number: usize, now: u64) {
        for _ in 0..number {
            self.due.push(Reverse((now + 7919 * self.windows.len() as u64, self.windows.len())));
            self.windows.push(2.0);
            self.halved.push(0.0);
        }
    }
}

/// Link of 10 Mbit/s and 100 ms: 833 packets/s, so min_th = 5, max_th = 15 and the target range is
/// 9 to 11.
struct Loop {
    harness: TestHarness,
    queue: Ared,
    senders: Senders,
    sent_next: u64,
    arrived: u64,
}

const PACKET_NS: u64 = 1_200_000;
const BASE_RTT_S: f64 = 0.1;
const SECOND: u64 = 1_000_000_000;

impl Loop {
    fn new() -> Loop {
        let mut harness = TestHarness::default();
        let mut queue = ared(AUTOMATIC);
        queue.on_rate(LinkRate::of_packets(Rate::from_mbps(10)), &mut harness.at(Time::ZERO));
        let senders =
            Senders { windows: Vec::new(), halved: Vec::new(), due: BinaryHeap::default() };
        Loop { harness, queue, senders, sent_next: 0, arrived: 0 }
    }

    /// Runs from `from` to `until`, s. Returns the mean of the average queue and the loss rate,
    /// both over the second half of this time.
    fn run(&mut self, from: u64, until: u64) -> (f64, f64) {
        let (mut sum, mut samples, mut dropped) = (0.0, 0.0, 0);
        while let Some(Reverse((now, sender))) = self.senders.due.pop() {
            if now >= until * SECOND {
                self.senders.due.push(Reverse((now, sender)));
                break;
            }
            self.serve(now);
            let at = Time::from_nanos(now);
            if self.queue.next_wakeup() <= at {
                self.queue.on_wake(&mut self.harness.at(self.queue.next_wakeup()));
            }
            let before = self.harness.counts().total();
            self.queue.enqueue(&packet(), &mut self.harness.at(at));
            let lost = self.harness.counts().total() > before;
            let rtt = BASE_RTT_S + self.queue.packets() as f64 * PACKET_NS as f64 / 1e9;
            self.react(sender, lost, now as f64 / 1e9, rtt);
            let gap = rtt / self.senders.windows[sender] * 1e9;
            self.senders.due.push(Reverse((now + gap as u64, sender)));
            if now >= (from + until) / 2 * SECOND {
                sum += self.queue.red.dropper().average();
                samples += 1.0;
                dropped += u32::from(lost);
            }
            self.arrived += 1;
        }
        (sum / samples, f64::from(dropped) / samples)
    }

    fn react(&mut self, sender: usize, lost: bool, now: f64, rtt: f64) {
        let window = &mut self.senders.windows[sender];
        if !lost {
            *window += 1.0 / *window;
        } else if now - self.senders.halved[sender] > rtt {
            *window = (*window / 2.0).max(1.0);
            self.senders.halved[sender] = now;
        }
    }

    /// Sends the packets whose service ends by `now`.
    fn serve(&mut self, now: u64) {
        while self.sent_next <= now {
            let at = Time::from_nanos(self.sent_next);
            if self.queue.dequeue(&mut self.harness.at(at)).is_none() {
                self.sent_next = now;
                return;
            }
            self.sent_next += PACKET_NS;
        }
    }
}

/// Six times as many senders cause more than ten times the loss rate. The average stays in the
/// target range of 9 to 11 packets.
#[test]
fn average_stays_in_target_range_if_load_rises_tenfold() {
    let mut circuit = Loop::new();
    circuit.senders.add(5, 0);
    let (few, few_loss) = circuit.run(0, 120);
    circuit.senders.add(25, 120 * SECOND);
    let (many, many_loss) = circuit.run(120, 240);
    assert!(many_loss > 10.0 * few_loss, "{few_loss} to {many_loss}");
    BAND.between(format!("5 senders, loss rate {few_loss:.4}"), "packets", few, 9.0, 11.0);
    BAND.between(format!("30 senders, loss rate {many_loss:.4}"), "packets", many, 9.0, 11.0);
}

#[test]
fn check_names_invalid_key() {
    for (config, message) in [
        (
            AredConfig { interval_ns: 0, ..AUTOMATIC },
            "interval_ns = 0: below 1. Accepted: at least 1",
        ),
        (AredConfig { max_p: -1.0, ..AUTOMATIC }, "max_p = -1: below 0. Accepted: 0 to 1"),
    ] {
        assert_eq!(
            <Ared as Component<dyn QueueDisc + Send>>::check(&config)
                .expect_err("refused")
                .to_string(),
            message
        );
    }
}

/// An ACK that bypasses the queue finds 13 packets: the average includes this sample, and max_p is
/// adapted to it.
#[test]
fn bypassing_arrival_is_averaged_and_adapts_max_p() {
    let mut harness = TestHarness::default();
    let mut queue = ared(DIRECT);
    queue.on_held(13, Bytes(13 * 1500), &mut harness.at(Time::ZERO));
    let ack = Packet::ack(FlowId(0), 0, 1000, 40);
    assert!(queue.on_bypass(&ack, &mut harness.at(Time::ZERO)));
    assert_eq!(queue.red.dropper().average(), 13.0);
    assert_eq!(queue.next_wakeup(), Time::from_millis(500));
    queue.on_wake(&mut harness.at(Time::from_millis(500)));
    assert_eq!(queue.red.dropper().curve().max_p, 0.1 * 0.9);
    // The average of 25 exceeds max_th, but bypassing packets are admitted up to the limit.
    queue.on_held(999, Bytes(999 * 1500), &mut harness.at(Time::from_secs(1)));
    assert!(queue.on_bypass(&ack, &mut harness.at(Time::from_secs(1))));
    queue.on_held(1000, Bytes(1000 * 1500), &mut harness.at(Time::from_secs(1)));
    assert!(!queue.on_bypass(&ack, &mut harness.at(Time::from_secs(1))));
    assert_eq!(harness.counts().total(), 0);
}
