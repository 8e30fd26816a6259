//! Tests of the contracts of a duplex link with ARQ, with the toy link of `arq_toy.rs`.

use super::arq_toy::*;
use crate::common::{MS, PlainDriver, SECOND, datagrams, droptail, flow, run_with, scenario, tcp};
use airpath_aqm::{AnyQueue, Queue, QueueDisc, QueueState, delegate_queue};
use airpath_conformance::Law;
use airpath_core::{
    Bytes, Ctx, FlowId, LinkRate, Packet, Port, QueueId, Registry, Seed, Series, Setup, Stage,
    StageError, Time, testing::TestHarness,
};
use airpath_link::{DirectionContext, LinkContext, Sides};
use airpath_path::{Components, build};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Queue that records the number of packets held by the link: latest and maximum.
struct HeldNote {
    inner: AnyQueue,
    last: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl airpath_aqm::QueueWrapper for HeldNote {
    delegate_queue!(inner: enqueue, dequeue_into, peek, state, on_bypass, on_wake, on_rate);
    delegate_queue!(inner: on_served, on_lost, measured, restart_measurement, take_error);

    fn on_held(&mut self, packets: usize, bytes: Bytes, ctx: &mut Ctx<'_>) {
        self.inner.on_held(packets, bytes, ctx);
        assert_eq!(packets == 0, bytes == Bytes::ZERO);
        self.last.store(packets, Ordering::Relaxed);
        self.most.fetch_max(packets, Ordering::Relaxed);
    }
}

/// Components with the toy link `arq` and the queue `held-note`, and their counters.
struct Toy {
    components: Components,
    awake: Arc<AtomicUsize>,
    held: [Arc<AtomicUsize>; 2],
}

/// Registers the toy link as `arq`. `awake` counts the slots in which it is awake.
pub(crate) fn register_arq(components: &mut Components, awake: Arc<AtomicUsize>) {
    components.links.register_serving(Sides::Both, "arq", move |parameters, setup| {
        Ok(Box::new(ArqLink::build(parameters, setup, Arc::clone(&awake))?))
    });
}

fn toy() -> Toy {
    let mut components = Components::default();
    let awake = Arc::new(AtomicUsize::new(0));
    register_arq(&mut components, Arc::clone(&awake));
    let held = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let [last, most] = held.clone();
    components.queues.register("held-note", move |_, setup| {
        let inner = AnyQueue::build(&droptail(1000), setup)?;
        Ok(Box::new(HeldNote { inner, last: Arc::clone(&last), most: Arc::clone(&most) }))
    });
    Toy { components, awake, held }
}

/// Returns a link with slots of 10 ms that loses 20 to 80 % of the frames.
pub(crate) fn lossy() -> Value {
    json!({"kind": "arq", "tti_ns": 10 * MS,
           "channel": {"to_bad": 0.1, "to_good": 0.2, "loss_good": 0.2, "loss_bad": 0.8}})
}

fn reverse() -> Value {
    json!({"ack_path": {"kind": "reverse", "queue": droptail(1000)}})
}

#[test]
fn tcp_over_a_lossy_arq_link_delivers_every_byte_once() {
    let toy = toy();
    let transfer = 300_000;
    let mut source = tcp(json!({"min_rto_ns": 60 * SECOND, "initial_rto_ns": 60 * SECOND}));
    source["transfer_bytes"] = json!(transfer);
    // No delay at the receiver: the ACK arrives at the link during the wake-up of the link.
    let instant = json!({"egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}});
    let queue = json!({"kind": "held-note"});
    let scenario = scenario(200, vec![flow(source, instant)], lossy(), queue, reverse());
    let driver = run_with(&scenario, &toy.components, &Arc::default(), 1);
    let report = driver.report(0);
    let flow = &report.flows[0];
    assert!(flow.completed_at_s.is_some(), "{flow:?}");
    assert_eq!((flow.delivered_bytes, flow.duplicate_packets), (transfer, Some(0)));
    assert_eq!((flow.retransmissions, flow.timeouts), (Some(0), Some(0)));
    let names: Vec<&str> = report.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "reverse"]);
    for (link, queue) in report.links.iter().zip(&report.queues) {
        assert_eq!(link.delivered_packets, queue.arrived, "{}", link.name);
        // Some frames were lost, so there were more frames than packets.
        assert!(link.utilisation * 20_000.0 > 1.5 * queue.arrived as f64, "{link:?}");
    }
    assert_eq!(driver.stages().iter().map(Stage::held).sum::<usize>(), 0);
    let [last, most] = toy.held.map(|count| count.load(Ordering::Relaxed));
    assert!((2..=WINDOW).contains(&most) && last == 0, "held at most {most}, at the end {last}");
}

#[test]
fn datagrams_cross_the_arq_link_once_and_in_order() {
    let toy = toy();
    let flows = vec![
        flow(datagrams("poisson", 200_000), json!({})),
        flow(tcp(json!({})), json!({"start": {"kind": "at", "time_ns": SECOND}})),
    ];
    let scenario = scenario(60, flows, lossy(), droptail(1000), reverse());
    let network = build(&scenario, &toy.components, &Arc::default(), 3, 0).expect("a network");
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
fn arq_link_has_no_wakeups_while_idle() {
    let toy = toy();
    // One packet each 100 s: in 10⁷ slots, the link needs only a few slots per packet.
    let source = json!({"kind": "cbr", "rate_bps": 120, "packet_bytes": 1500});
    let scenario =
        scenario(100_000, vec![flow(source, json!({}))], lossy(), droptail(10), reverse());
    let report = run_with(&scenario, &toy.components, &Arc::default(), 1).report(0);
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

/// The state after an idle time has the same distribution as after single steps.
#[test]
fn the_state_after_an_idle_time_has_the_distribution_of_single_steps() {
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
    // After 1000 slots the state does not depend on the previous state (0.7¹⁰⁰⁰): independent
    // samples, π = 1/3, five standard deviations.
    let sigma = (1.0 / 3.0 * 2.0 / 3.0 / rounds as f64).sqrt();
    let share = bad as f64 / rounds as f64;
    CHAIN.close("share of bad slots", "", share, 1.0 / 3.0, 5.0 * sigma);
}

/// A packet that arrives at the start of a slot is sent in the next slot, regardless of whether the
/// stage was awake.
#[test]
fn a_packet_is_sent_in_the_slot_after_its_arrival() {
    let registry = Registry::default();
    let queue = || {
        let setup = Setup { seed: Seed::new(1, 0, "q"), registry: &registry, extra: () };
        Queue::new(AnyQueue::build(&droptail(10), setup).expect("a queue"), QueueId(0))
    };
    let context = LinkContext {
        reverse: Some(DirectionContext::of(queue(), Port(1))),
        ..LinkContext::new(DirectionContext::of(queue(), Port(0)))
    };
    let links = Registry::default();
    let setup = Setup { seed: Seed::new(1, 0, "link"), registry: &links, extra: context };
    let clean = json!({"tti_ns": 10 * MS,
        "channel": {"to_bad": 0.0, "to_good": 1.0, "loss_good": 0.0, "loss_bad": 0.0}});
    let mut link = ArqLink::build(&clean, setup, Arc::default()).expect("a link");
    let mut harness = TestHarness::default();
    for (seq, at) in [(0, 10), (1, 20)] {
        let now = Time::from_millis(at);
        let packet = Packet::datagram(FlowId(0), seq, Bytes(100), now);
        let sent = harness.run(&mut link, now);
        assert!(sent.is_empty(), "{sent:?}");
        link.receive(Port(0), &packet, &mut harness.at(now));
    }
    let sent = harness.run(&mut link, Time::from_secs(1));
    let times: Vec<_> = sent.iter().map(|(at, _, p)| (at.as_nanos() / MS, p.seq)).collect();
    assert_eq!(times, [(30, 0), (40, 1)]);
    assert!(link.next_wakeup().is_never());
    assert_eq!(link.held(), 0);
}

#[test]
fn a_duplex_link_without_a_reverse_direction_is_rejected() {
    let toy = toy();
    let scenario =
        scenario(1, vec![flow(tcp(json!({})), json!({}))], lossy(), droptail(9), json!({}));
    let error = build(&scenario, &toy.components, &Arc::default(), 1, 0).err().expect("an error");
    let text = "bottleneck.link.kind = arq: duplex. Set ack_path = \"reverse\"";
    assert_eq!(error.to_string(), text);
}

/// The timer of the queue discipline runs while the link sleeps: the wake-up of a stage is the
/// earliest of all its timers.
#[test]
fn queue_timer_wakes_the_stage_of_a_plug_in_link() {
    let mut toy = toy();
    crate::contracts::aging_queue::register(&mut toy.components);
    let slow = json!({"kind": "arq", "tti_ns": SECOND,
        "channel": {"to_bad": 0.0, "to_good": 1.0, "loss_good": 0.0, "loss_bad": 0.0}});
    let queue = crate::contracts::aging_queue::description(300 * MS, droptail(100));
    let mut change = reverse();
    change["record"] = json!({"series": ["drop"]});
    let flows = vec![flow(datagrams("cbr", 120_000), json!({"stop_ns": SECOND}))];
    let scenario = scenario(10, flows, slow, queue, change);
    let driver = run_with(&scenario, &toy.components, &Arc::default(), 1);
    let report = driver.report(0);
    // Arrivals at 0, 100, … 900 ms, the first slot at 1 s. Until then only the timer wakes the
    // stage. At 1 s the timer precedes the slot and drops the packet of 700 ms, so the slot carries
    // the packet of 800 ms. The last packet reaches `max_age` at 1.2 s.
    let drops = driver.into_recorder().samples(Series::Drop).to_vec();
    let at: Vec<u64> = drops.iter().map(|drop| drop.time.as_nanos() / MS).collect();
    assert_eq!(at, [300, 400, 500, 600, 700, 800, 900, 1000, 1200]);
    assert_eq!(report.links[0].delivered_packets, 1);
    let delay = report.flows[0].mean_delay_s.expect("one packet arrived");
    assert!((delay - 1.21).abs() < 1e-9, "{delay}");
}
