//! A toy radio: one duplex stage, clocked by slots, with an ARQ of its own in each direction.
//!
//! In each slot either side may send one frame: a packet of its direction, the number that its
//! receiving end expects next, or both. A frame sent in slot k has arrived when slot k + 1 begins,
//! unless the channel destroyed it: a chain of two states that takes a step per slot. A packet is
//! kept until the other side's frames acknowledge it; it leaves the stage in order, once.
//!
//! Idle, the stage has no wake-up. When it is needed again, the channel's state after n slots is
//! drawn from its n-step transition probabilities.

use crate::common::{MS, PlainDriver, SECOND, datagrams, droptail, flow, run_with, scenario, tcp};
use airpath_aqm::{AnyQueue, Queue, QueueDisc};
use airpath_conformance::Law;
use airpath_core::{
    Bytes, ConfigError, Control, Ctx, FlowId, LinkRate, Packet, Port, QueueId, Rate, Registry,
    Seed, Series, Setup, Stage, Stream, Time, test_kit::Bench,
};
use airpath_link::{Link, LinkKit, LinkReport, SideKit, SideReport, Sides};
use airpath_path::{Parts, build};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Packets that a side sends before it waits for an acknowledgement.
const WINDOW: usize = 16;
/// Slots from a frame's start until its acknowledgement can have come back.
const ROUND: u64 = 2;

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArqConfig {
    /// Length of a slot, ns.
    tti_ns: u64,
    channel: ChannelConfig,
}

/// The two-state channel; probabilities per slot.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChannelConfig {
    to_bad: f64,
    to_good: f64,
    loss_good: f64,
    loss_bad: f64,
}

struct Channel {
    config: ChannelConfig,
    stream: Stream,
    bad: bool,
    slot: u64,
}

impl Channel {
    /// P(bad after `slots` slots): π + (now − π) λⁿ with λ = 1 − to_bad − to_good.
    fn bad_after(config: &ChannelConfig, bad: bool, slots: u64) -> f64 {
        let stationary = config.to_bad / (config.to_bad + config.to_good);
        let memory = (1.0 - config.to_bad - config.to_good).powf(slots as f64);
        stationary + (f64::from(u8::from(bad)) - stationary) * memory
    }

    /// The state in `slot`, however many slots were slept through.
    fn advance(&mut self, slot: u64) {
        let p = Channel::bad_after(&self.config, self.bad, slot - self.slot);
        self.bad = self.stream.bernoulli(p);
        self.slot = slot;
    }

    fn destroys(&mut self) -> bool {
        let config = &self.config;
        self.stream.bernoulli(if self.bad { config.loss_bad } else { config.loss_good })
    }
}

/// What a side sends in one slot.
struct Frame {
    data: Option<(u64, Packet)>,
    /// What the receiving end of the other direction expects next.
    expects: u64,
}

/// One direction: its sending end here, its receiving end over there.
struct Direction {
    queue: Queue,
    output: Port,
    next_seq: u64,
    /// Sent and not acknowledged: number, packet, slot from which it may be sent again.
    unacknowledged: VecDeque<(u64, Packet, u64)>,
    on_air: Option<Frame>,
    expected: u64,
    early: BTreeMap<u64, Packet>,
    /// The receiving end has something to acknowledge.
    status_due: bool,
    report: LinkReport,
    frames: u64,
}

impl Direction {
    fn new(queue: Queue, output: Port) -> Direction {
        Direction {
            queue,
            output,
            next_seq: 0,
            unacknowledged: VecDeque::new(),
            on_air: None,
            expected: 0,
            early: BTreeMap::new(),
            status_due: false,
            report: LinkReport { regime_packets: vec![0], ..LinkReport::default() },
            frames: 0,
        }
    }

    /// The packet to send in `slot`: the oldest that is due again, else a new one.
    fn data_for(&mut self, slot: u64, ctx: &mut Ctx<'_>) -> Option<(u64, Packet)> {
        if let Some((seq, packet, again)) =
            self.unacknowledged.iter_mut().find(|(_, _, again)| *again <= slot)
        {
            *again = slot + ROUND;
            return Some((*seq, *packet));
        }
        if self.unacknowledged.len() >= WINDOW {
            return None;
        }
        let mut packet = Packet::default();
        if !self.queue.dequeue_held_into(&mut packet, ctx) {
            return None;
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        self.unacknowledged.push_back((seq, packet, slot + ROUND));
        Some((seq, packet))
    }

    fn acknowledge(&mut self, expects: u64, ctx: &mut Ctx<'_>) {
        while self.unacknowledged.front().is_some_and(|(seq, _, _)| *seq < expects)
            && let Some((_, packet, _)) = self.unacknowledged.pop_front()
        {
            self.queue.release(1, packet.bytes(), ctx);
        }
    }

    /// A packet has arrived at the receiving end.
    fn accept(&mut self, seq: u64, packet: Packet, ctx: &mut Ctx<'_>) {
        self.status_due = true;
        if seq >= self.expected {
            self.early.insert(seq, packet);
        }
        while let Some(mut packet) = self.early.remove(&self.expected) {
            self.expected += 1;
            self.queue.on_served(&mut packet, ctx);
            self.report.delivered_packets += 1;
            self.report.delivered_bytes += u64::from(packet.size);
            ctx.emit(self.output, packet);
        }
    }

    /// Packets that were taken from the queue and have not left the stage.
    fn inside(&self) -> usize {
        (self.next_seq - self.expected) as usize
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty()
            && self.unacknowledged.is_empty()
            && self.on_air.is_none()
            && !self.status_due
    }
}

/// The link; direction 0 is forward.
struct ArqLink {
    tti: u64,
    channel: Channel,
    directions: [Direction; 2],
    next_slot: u64,
    /// Slots in which it was awake, for the tests.
    awake: Arc<AtomicUsize>,
}

impl ArqLink {
    fn build(
        parameters: &Value,
        setup: Setup<'_, dyn Link + Send, LinkKit>,
        awake: Arc<AtomicUsize>,
    ) -> Result<ArqLink, ConfigError> {
        let config: ArqConfig = airpath_core::registry::read_config(parameters)?;
        let reverse = setup.extra.reverse.as_ref().expect("it was registered for both directions");
        let stream = setup.seed.child("channel").stream();
        let channel = Channel { config: config.channel, stream, bad: false, slot: 0 };
        let direction = |side: &SideKit| Ok(Direction::new(side.only_queue()?, side.output));
        let directions = [direction(&setup.extra.forward)?, direction(reverse)?];
        Ok(ArqLink { tti: config.tti_ns, channel, directions, next_slot: 0, awake })
    }

    fn is_idle(&self) -> bool {
        self.directions.iter().all(Direction::is_idle)
    }

    /// Frames of the slot before have arrived.
    fn arrive(&mut self, ctx: &mut Ctx<'_>) {
        for side in [0, 1] {
            let Some(frame) = self.directions[side].on_air.take() else {
                continue;
            };
            if self.channel.destroys() {
                continue;
            }
            self.directions[1 - side].acknowledge(frame.expects, ctx);
            if let Some((seq, packet)) = frame.data {
                self.directions[side].accept(seq, packet, ctx);
            }
        }
    }

    fn send(&mut self, slot: u64, ctx: &mut Ctx<'_>) {
        for side in [0, 1] {
            let data = self.directions[side].data_for(slot, ctx);
            let other = &mut self.directions[1 - side];
            let status = std::mem::take(&mut other.status_due);
            let expects = other.expected;
            if data.is_some() || status {
                self.directions[side].frames += 1;
                self.directions[side].on_air = Some(Frame { data, expects });
            }
        }
    }
}

impl Stage for ArqLink {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.is_idle() {
            self.next_slot = ctx.now.as_nanos() / self.tti + 1;
        }
        self.directions[usize::from(port.0)].queue.enqueue(*packet, ctx);
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        for direction in &mut self.directions {
            direction.queue.wake_if_due(ctx);
        }
        let slot = ctx.now.as_nanos() / self.tti;
        if !self.is_idle() && self.next_slot <= slot {
            self.awake.fetch_add(1, Ordering::Relaxed);
            self.next_slot = slot + 1;
            self.channel.advance(slot);
            self.arrive(ctx);
            self.send(slot, ctx);
        }
    }

    fn next_wakeup(&self) -> Time {
        let slot = match self.is_idle() {
            true => Time::NEVER,
            false => Time::from_nanos(self.next_slot * self.tti),
        };
        self.directions.iter().map(|direction| direction.queue.next_wakeup()).fold(slot, Time::min)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        for direction in &mut self.directions {
            match event {
                Control::Begin => {
                    let rate = LinkRate::of_packets(Rate(12_000 * SECOND / self.tti));
                    direction.queue.on_rate(rate, ctx);
                }
                Control::StartMeasurement => direction.queue.restart_measurement(ctx.now),
                _ => {}
            }
        }
    }

    fn held(&self) -> usize {
        self.directions.iter().map(|side| side.queue.packets() + side.inside()).sum()
    }
}

impl Link for ArqLink {
    fn reports(&self, now: Time) -> Vec<SideReport> {
        let slots = (now.as_nanos() / self.tti).max(1);
        let report = |side: &Direction| SideReport {
            queues: vec![side.queue.report(now)],
            link: LinkReport {
                utilisation: side.frames as f64 / slots as f64,
                ..side.report.clone()
            },
        };
        self.directions.iter().map(report).collect()
    }
}

/// A queue that notes how much the link says to hold: last and most.
struct HeldNote {
    inner: AnyQueue,
    last: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl QueueDisc for HeldNote {
    airpath_aqm::forwards!(inner: enqueue, dequeue, peek, packets, backlog, next_wakeup, on_wake);
    airpath_aqm::forwards!(inner: on_rate, on_served);

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        self.inner.on_held(packets, bytes, ctx);
        assert_eq!(packets == 0, bytes == Bytes::ZERO);
        self.last.store(packets, Ordering::Relaxed);
        self.most.fetch_max(packets, Ordering::Relaxed);
    }
}

/// The toy registered as link `arq`, its counter of slots awake, and a queue `held-note`.
struct Toy {
    parts: Parts,
    awake: Arc<AtomicUsize>,
    held: [Arc<AtomicUsize>; 2],
}

fn toy() -> Toy {
    let mut parts = Parts::default();
    let awake = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&awake);
    parts.links.register_serving(Sides::Both, "arq", move |parameters, setup| {
        Ok(Box::new(ArqLink::build(parameters, setup, Arc::clone(&counter))?))
    });
    let held = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let [last, most] = held.clone();
    parts.queues.register("held-note", move |_, setup| {
        let inner = AnyQueue::build(&droptail(1000), setup)?;
        Ok(Box::new(HeldNote { inner, last: Arc::clone(&last), most: Arc::clone(&most) }))
    });
    Toy { parts, awake, held }
}

/// Slots of 10 ms, a fifth to four fifths of the frames lost.
fn lossy() -> Value {
    json!({"kind": "arq", "tti_ns": 10 * MS,
           "channel": {"to_bad": 0.1, "to_good": 0.2, "loss_good": 0.2, "loss_bad": 0.8}})
}

fn reverse() -> Value {
    json!({"ack_path": {"kind": "reverse", "queue": droptail(1000)}})
}

#[test]
fn tcp_over_the_lossy_toy_gets_every_byte_once() {
    let toy = toy();
    let transfer = 300_000;
    let mut source = tcp(json!({"min_rto_ns": 60 * SECOND, "initial_rto_ns": 60 * SECOND}));
    source["transfer_bytes"] = json!(transfer);
    // No delay at the receiver: the ACK re-enters the stage while its wake-up is under way.
    let instant = json!({"egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}});
    let queue = json!({"kind": "held-note"});
    let scenario = scenario(200, vec![flow(source, instant)], lossy(), queue, reverse());
    let driver = run_with(&scenario, &toy.parts, &Arc::default(), 1);
    let report = driver.report(0);
    let flow = &report.flows[0];
    assert!(flow.completed_at_s.is_some(), "{flow:?}");
    assert_eq!((flow.delivered_bytes, flow.duplicate_packets), (transfer, 0));
    assert_eq!((flow.retransmissions, flow.timeouts), (0, 0));
    let names: Vec<&str> = report.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "reverse"]);
    for (link, queue) in report.links.iter().zip(&report.queues) {
        assert_eq!(link.delivered_packets, queue.arrived, "{}", link.name);
        // Some frames were lost, so there were more than packets.
        assert!(link.utilisation * 20_000.0 > 1.5 * queue.arrived as f64, "{link:?}");
    }
    assert_eq!(driver.stages().iter().map(Stage::held).sum::<usize>(), 0);
    let [last, most] = toy.held.map(|count| count.load(Ordering::Relaxed));
    assert!((2..=WINDOW).contains(&most) && last == 0, "held at most {most}, at the end {last}");
}

#[test]
fn datagrams_cross_the_toy_once_and_in_order() {
    let toy = toy();
    let flows = vec![
        flow(datagrams("poisson", 200_000), json!({})),
        flow(tcp(json!({})), json!({"start": {"kind": "at", "time_ns": SECOND}})),
    ];
    let scenario = scenario(60, flows, lossy(), droptail(1000), reverse());
    let network = build(&scenario, &toy.parts, &Arc::default(), 3, 0).expect("a network");
    let link = network.links[0].stage;
    let mut driver = PlainDriver::new(network);
    driver.run();
    let crossed = driver.log.iter().filter(|d| d.from == link && d.flow == FlowId(0));
    let numbers: Vec<u64> = crossed.map(|departure| departure.seq).collect();
    assert!(numbers.len() > 500, "{}", numbers.len());
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
    let (entered, accounted) = driver.balance();
    assert_eq!(entered, accounted);
}

#[test]
fn the_toy_sleeps_while_it_is_idle() {
    let toy = toy();
    // A packet each 100 s: 10⁷ slots pass, of which a handful per packet matter.
    let source = json!({"kind": "cbr", "rate_bps": 120, "packet_bytes": 1500});
    let scenario =
        scenario(100_000, vec![flow(source, json!({}))], lossy(), droptail(10), reverse());
    let report = run_with(&scenario, &toy.parts, &Arc::default(), 1).report(0);
    assert_eq!((report.packets, report.links[0].delivered_packets), (1000, 1000));
    let awake = toy.awake.load(Ordering::Relaxed);
    assert!(awake < 40_000, "awake in {awake} slots");
    assert!(report.events < 50_000, "{}", report.events);
}

const CHAIN: Law = Law {
    area: "Links and traces",
    source: "Gilbert 1960: a channel of two states, 0.1 to bad and 0.2 to good per slot",
    allows: "rounding of doubles; five standard deviations of 100 000 draws",
};

/// The state found after sleep has the distribution that single steps would have given.
#[test]
fn the_toys_channel_catches_up_in_closed_form() {
    let config = ChannelConfig { to_bad: 0.1, to_good: 0.2, loss_good: 0.0, loss_bad: 1.0 };
    let (mut stepped, mut largest) = (0.0, 0.0_f64);
    for slots in 1..40 {
        stepped = stepped * (1.0 - config.to_good) + (1.0 - stepped) * config.to_bad;
        let closed = Channel::bad_after(&config, false, slots);
        largest = largest.max((closed - stepped).abs());
    }
    CHAIN.close("P(bad) after 1 to 39 slots: largest difference", "", largest, 0.0, 1e-12);
    let stream = Seed::new(1, 0, "channel").stream();
    let mut channel = Channel { config, stream, bad: false, slot: 0 };
    let rounds = 100_000;
    let mut bad = 0;
    for round in 1..=rounds {
        channel.advance(1000 * round);
        bad += u64::from(channel.bad);
    }
    // 1000 slots forget everything (0.7¹⁰⁰⁰): independent draws, π = 1/3, five standard deviations.
    let sigma = (1.0 / 3.0 * 2.0 / 3.0 / rounds as f64).sqrt();
    let share = bad as f64 / rounds as f64;
    CHAIN.close("share of bad slots", "", share, 1.0 / 3.0, 5.0 * sigma);
}

/// A packet that arrives at the instant of a slot is too late for it, whether the stage was awake
/// or asleep.
#[test]
fn the_toy_by_hand() {
    let registry = Registry::default();
    let queue = || {
        let setup = Setup { seed: Seed::new(1, 0, "q"), registry: &registry, extra: () };
        Queue::new(AnyQueue::build(&droptail(10), setup).expect("a queue"), QueueId(0))
    };
    let kit = LinkKit {
        reverse: Some(SideKit::of(queue(), Port(1))),
        ..LinkKit::new(SideKit::of(queue(), Port(0)))
    };
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: kit };
    let clean = json!({"tti_ns": 10 * MS,
        "channel": {"to_bad": 0.0, "to_good": 1.0, "loss_good": 0.0, "loss_bad": 0.0}});
    let mut link = ArqLink::build(&clean, setup, Arc::default()).expect("a link");
    let mut bench = Bench::default();
    for (seq, at) in [(0, 10), (1, 20)] {
        let now = Time::from_millis(at);
        let packet = Packet::datagram(FlowId(0), seq, Bytes(100), now);
        let sent = bench.run(&mut link, now);
        assert!(sent.is_empty(), "{sent:?}");
        link.receive(Port(0), &packet, &mut bench.at(now));
    }
    let sent = bench.run(&mut link, Time::from_secs(1));
    let times: Vec<_> = sent.iter().map(|(at, _, p)| (at.as_nanos() / MS, p.seq)).collect();
    assert_eq!(times, [(30, 0), (40, 1)]);
    assert!(link.next_wakeup().is_never());
    assert_eq!(link.held(), 0);
}

#[test]
fn a_duplex_link_without_a_reverse_side_is_refused() {
    let toy = toy();
    let scenario =
        scenario(1, vec![flow(tcp(json!({})), json!({}))], lossy(), droptail(9), json!({}));
    let error = build(&scenario, &toy.parts, &Arc::default(), 1, 0).err().expect("an error");
    let text = "bottleneck.link.kind = arq: duplex. Write ack_path = \"reverse\"";
    assert_eq!(error.to_string(), text);
}

/// The queue discipline's timer runs while the link sleeps: a stage has one wake-up, the earliest.
#[test]
fn a_queues_timer_wakes_the_stage_of_a_link_from_outside() {
    let mut toy = toy();
    crate::contracts::aging_queue::register(&mut toy.parts);
    let slow = json!({"kind": "arq", "tti_ns": SECOND,
        "channel": {"to_bad": 0.0, "to_good": 1.0, "loss_good": 0.0, "loss_bad": 0.0}});
    let queue = crate::contracts::aging_queue::description(300 * MS, droptail(100));
    let mut change = reverse();
    change["record"] = json!({"series": ["drop"]});
    let flows = vec![flow(datagrams("cbr", 120_000), json!({"stop_ns": SECOND}))];
    let scenario = scenario(10, flows, slow, queue, change);
    let driver = run_with(&scenario, &toy.parts, &Arc::default(), 1);
    let report = driver.report(0);
    // Arrivals at 0, 100, … 900 ms, the first slot at 1 s. Until then the timer alone wakes the
    // stage. At 1 s it goes before the slot and drops the packet of 700 ms, so that the slot takes
    // the one of 800 ms; the last one comes of age at 1.2 s.
    let drops = driver.into_recorder().samples(Series::Drop).to_vec();
    let at: Vec<u64> = drops.iter().map(|drop| drop.time.as_nanos() / MS).collect();
    assert_eq!(at, [300, 400, 500, 600, 700, 800, 900, 1000, 1200]);
    assert_eq!(report.links[0].delivered_packets, 1);
    let delay = report.flows[0].mean_delay_s.expect("one packet arrived");
    assert!((delay - 1.21).abs() < 1e-9, "{delay}");
}
