//! Step tests: delivery times of packets, and counters.

mod accounting;
mod causal;
mod piggyback;
mod radio;

use super::*;

use crate::files::Files;
use airpath_core::{Bytes, FlowId, Registry, testing::TestHarness};
use airpath_phy::snr::SnrSteps;
use serde_json::{Value, json};
use std::cell::Cell as Counter;

/// Returns a configuration with `changes`. Frames last 5 ms. Downlink bursts are decoded after 3
/// ms; uplink bursts close after 3 ms and are received after 5.6 ms.
pub(super) fn description(changes: Value) -> Value {
    let mut link = json!({
        "frame_ns": 5_000_000, "stations": 1, "downlink_slots": 420, "uplink_slots": 175,
        "slot_symbols": 48, "map_overhead": {"slots": 60}, "map_relevance": 1,
        "decoded_ns": 3_000_000, "closed_ns": 3_000_000, "received_ns": 5_600_000,
        "downlink_mcs": "qpsk-3/4", "uplink_mcs": "qpsk-1/2",
        "fragmentation": {"down": true, "up": true}, "packing": {"down": false, "up": false},
        "in_order": {"down": true, "up": false},
        "request": {"kind": "random-delay", "delay": {"low_ns": 30_000_000, "high_ns": 30_000_000},
            "collision": 0.0, "timer_ns": 100_000_000},
        "grant": {"kind": "uni"}, "scheduler": {"kind": "round-robin"},
    });
    for (key, value) in changes.as_object().expect("a table") {
        link[key] = value.clone();
    }
    link
}

fn ahead(kind: &str) -> Value {
    json!({"kind": kind, "size_bytes": 46, "fallback_ns": 100_000_000})
}

/// Creates a link with `flows` flows and unlimited queues.
pub(super) fn make(changes: Value, flows: u32, seed: u64) -> Result<Tdd, ConfigError> {
    let made = std::rc::Rc::new(Counter::new(0));
    let side = |port| {
        let made = std::rc::Rc::clone(&made);
        DirectionContext::new(Port(port), move |_| {
            made.set(made.get() + 1);
            let (seed, registry) = (Seed::new(1, 0, "queue"), &Registry::default());
            let droptail = json!({"kind": "droptail", "limit": {"packets": 10_000}});
            let disc = AnyQueue::build(&droptail, Setup { seed, registry, extra: () })?;
            Ok(Queue::new(disc, QueueId(made.get() - 1)))
        })
    };
    let mut context = LinkContext::new(side(0));
    context.reverse = Some(side(1));
    context.files = radio::files();
    context.users = Users::new((0..flows).map(|_| None));
    let config = serde_json::from_value(description(changes)).expect("a description");
    Tdd::check(&config)?;
    let (seed, registry) = (Seed::new(seed, 0, "link"), &Registry::default());
    Tdd::build(config, Setup { seed, registry, extra: context })
}

struct World {
    link: Tdd,
    harness: TestHarness,
    /// Delivered packets: time in microseconds, port, number.
    out: Vec<(u64, u8, u64)>,
}

impl World {
    fn new(changes: Value) -> World {
        World::of(changes, 1)
    }

    fn of(changes: Value, flows: u32) -> World {
        let mut link = make(changes, flows, 1).expect("a valid configuration");
        let mut harness = TestHarness::default();
        link.control(&Control::Begin, &mut harness.at(Time::ZERO));
        World { link, harness, out: Vec::new() }
    }

    fn run(&mut self, until_us: u64) -> &mut World {
        self.run_until(Time::from_nanos(until_us * 1000));
        self
    }

    fn run_until(&mut self, until: Time) {
        for (at, port, packet) in self.harness.run(&mut self.link, until) {
            self.out.push((at.as_nanos() / 1000, port.0, packet.seq));
        }
    }

    /// Passes packet number `seq` of `bytes` to the input `port`.
    fn put(&mut self, at_us: u64, port: u8, seq: u64, bytes: u64) -> &mut World {
        self.put_of(0, at_us, port, seq, bytes)
    }

    fn put_of(&mut self, flow: u32, at_us: u64, port: u8, seq: u64, bytes: u64) -> &mut World {
        // Several packets may arrive at the same time, before the events of this time.
        let now = Time::from_nanos(at_us * 1000);
        if let Some(before) = (at_us * 1000).checked_sub(1) {
            self.run_until(Time::from_nanos(before));
        }
        let packet = Packet::datagram(FlowId(flow), seq, Bytes(bytes), now);
        self.link.receive(Port(port), &packet, &mut self.harness.at(now));
        self
    }

    fn forward(&self, name: &str) -> f64 {
        self.count(0, name)
    }

    fn counter(&self, name: &str) -> f64 {
        self.count(1, name)
    }

    fn count(&self, side: usize, name: &str) -> f64 {
        let reports = self.link.reports(Time::from_secs(1));
        let found = reports[side].link.counters.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("{name}")).1
    }

    fn ended(&mut self) -> Vec<(u64, u8, u64)> {
        self.run(10_000_000);
        assert_eq!((self.link.held(), self.link.next_wakeup()), (0, Time::NEVER));
        std::mem::take(&mut self.out)
    }
}

#[test]
fn packet_waiting_at_frame_start_is_sent_in_the_frame() {
    let mut world = World::new(json!({}));
    world.put(0, 0, 0, 1000).put(1, 0, 1, 1000).put(5_001, 0, 2, 1000);
    assert_eq!(world.ended(), [(3_000, 0, 0), (8_000, 0, 1), (13_000, 0, 2)]);
}

/// wimax-mac §1: 360 slots of 9 B are 3240 B. Two packets of 1540 B and their headers leave 148 B.
/// They carry 140 B of the third packet with a header and a subheader of 2 B; the rest follows in
/// the next frame.
#[test]
fn frame_carries_its_slots_and_packets_are_fragmented() {
    let mut world = World::new(json!({}));
    (0..4).for_each(|seq| {
        world.put(0, 0, seq, 1540);
    });
    let out = world.ended();
    assert_eq!(out, [(3_000, 0, 0), (3_000, 0, 1), (8_000, 0, 2), (8_000, 0, 3)]);
    let whole = json!({"fragmentation": {"down": false, "up": true}});
    let mut world = World::new(whole);
    (0..4).for_each(|seq| {
        world.put(0, 0, seq, 1540);
    });
    assert_eq!(world.ended(), out, "two in each frame");
    let used = world.link.meters[0].used();
    assert_eq!(used, 2 * (2u64 * 1546).div_ceil(9));
}

/// wimax-2009 Fig. 1, steps 1 to 4: the request is received 30 ms after the arrival and granted in
/// the map of the frame of 35 ms. The ACK is sent in the frame of 40 ms and received 5.6 ms after
/// its start.
#[test]
fn fig1_ack_is_delivered_after_contention() {
    let mut world = World::new(json!({}));
    world.put(3_500, 1, 0, 40);
    assert_eq!(world.ended(), [(45_600, 1, 0)]);
    assert_eq!((world.counter("granted_bytes"), world.counter("used_bytes")), (52.0, 46.0));
    assert_eq!((world.counter("requests_contention"), world.counter("granted_slots")), (1.0, 8.0));
    assert!((world.counter("mac_delay_mean_s") - 0.0421).abs() < 1e-12);
}

#[test]
fn map_with_relevance_0_grants_in_its_own_frame() {
    let mut world = World::new(json!({"map_relevance": 0}));
    world.put(3_500, 1, 0, 40);
    assert_eq!(world.ended(), [(40_600, 1, 0)]);
}

/// wimax-2009 Fig. 1: bandwidth for the second ACK is requested by piggyback. The request is
/// received with the burst of the frame at 40 ms. If it is received at 45 ms, the grant is in the
/// map at 45 ms; if at 45.6 ms, the grant is in the map at 50 ms. The ACK is sent in the next
/// frame.
#[test]
fn fig1_second_ack_is_delivered_after_piggyback_request() {
    let mut world = World::new(json!({"received_ns": 5_000_000}));
    world.put(3_500, 1, 0, 40).put(4_000, 1, 1, 40);
    assert_eq!(world.ended(), [(45_000, 1, 0), (55_000, 1, 1)]);
    let mut world = World::new(json!({}));
    world.put(3_500, 1, 0, 40).put(4_000, 1, 1, 40);
    assert_eq!(world.ended(), [(45_600, 1, 0), (60_600, 1, 1)]);
    assert_eq!(
        (world.counter("requests_contention"), world.counter("requests_piggyback")),
        (1.0, 1.0)
    );
    assert_eq!((world.counter("granted_bytes"), world.counter("used_bytes")), (100.0, 92.0));
}

#[test]
fn requests_per_packet_disable_piggyback() {
    let request = json!({"kind": "random-delay", "delay": {"low_ns": 30_000_000, "high_ns": 30_000_000},
        "collision": 0.0, "timer_ns": 1, "per": "packet"});
    let mut world = World::new(json!({"request": request}));
    world.put(3_500, 1, 0, 40).put(6_000, 1, 1, 40);
    // Requests are received at 33.5 and 36 ms and granted in the maps of 35 and 40 ms.
    assert_eq!(world.ended(), [(45_600, 1, 0), (50_600, 1, 1)]);
    assert_eq!(
        (world.counter("requests_contention"), world.counter("requests_piggyback")),
        (2.0, 0.0)
    );
    assert_eq!(world.counter("granted_bytes"), 2.0 * 52.0);
}

/// wimax-2009 §4.1: the grant is issued when the data are served at 3 ms, is in the map of 5 ms,
/// and is used in the frame of 10 ms.
#[test]
fn blind_bi_grants_when_data_are_served() {
    let mut world = World::new(json!({"grant": ahead("blind-bi")}));
    world.put(0, 0, 0, 1540).put(0, 0, 1, 1540).put(3_000, 1, 7, 40);
    assert_eq!(world.ended(), [(3_000, 0, 0), (3_000, 0, 1), (15_600, 1, 7)]);
    assert_eq!((world.counter("grants_proactive"), world.counter("efficiency")), (2.0, 0.5));
}

/// wimax-2009 §4.2: one grant is issued for all data served in a frame. Bandwidth for the second
/// ACK is requested by piggyback.
#[test]
fn adapt_bi_grants_once_and_uses_piggyback() {
    let mut world = World::new(json!({"grant": ahead("adapt-bi")}));
    world.put(0, 0, 0, 1540).put(0, 0, 1, 1540).put(3_000, 1, 7, 40).put(3_000, 1, 8, 40);
    assert_eq!(world.ended()[2..], [(15_600, 1, 7), (30_600, 1, 8)]);
    let counts = ["grants_proactive", "requests_piggyback", "granted_bytes", "used_bytes"];
    assert_eq!(counts.map(|name| world.counter(name)), [1.0, 1.0, 94.0, 92.0]);
}

#[test]
fn station_without_grant_sends_request_after_fallback() {
    for kind in ["blind-bi", "adapt-bi"] {
        let mut world = World::new(json!({"grant": ahead(kind)}));
        // The request is sent at 101 ms, received at 131 ms and granted in the map of 135 ms; the
        // ACK is sent in the frame of 140 ms.
        world.put(1_000, 1, 0, 40);
        assert_eq!(world.ended(), [(145_600, 1, 0)], "{kind}");
    }
}

/// A grant of 46 B cannot carry an MPDU of 58 B with a complete ACK. First 38 B of the ACK are
/// sent, then 14 B, each with header and subheader.
#[test]
fn ack_larger_than_grant_is_fragmented() {
    let mut world = World::new(json!({"grant": ahead("adapt-bi")}));
    world.put(0, 0, 0, 1540).put(3_000, 1, 7, 52);
    assert_eq!(world.ended()[1..], [(30_600, 1, 7)]);
    let counts = ["requests_piggyback", "granted_bytes", "used_bytes"];
    assert_eq!(counts.map(|name| world.counter(name)), [1.0, 46.0 + 2.0 + 22.0, 46.0 + 22.0]);
}

/// A request contains the backlog minus the grants in flight.
#[test]
fn request_is_net_of_grants_in_flight() {
    let mut world = World::new(json!({"grant": ahead("blind-bi"), "map_relevance": 3}));
    world.put(0, 0, 0, 1540).put(5_000, 0, 1, 1540);
    // The first ACK arrives at 1 ms; data are served at 3 and 8 ms.
    world.put(1_000, 1, 7, 40);
    let out = world.ended();
    assert_eq!(out.last(), Some(&(25_600, 1, 7)));
    assert_eq!(
        (world.counter("requests_contention"), world.counter("grants_proactive")),
        (0.0, 2.0)
    );
}

/// wimax-2009 §5.1: attempts are 30 ms apart, and delivery is in order: a late packet blocks later
/// packets.
#[test]
fn harq_retransmits_and_keeps_order() {
    // Only the first attempt of the downlink is corrupted.
    let mut world = World::new(json!({
        "harq": {"attempts": 4, "round_trip_ns": 30_000_000},
        "errors": {"kind": "independent", "loss": 0.5},
    }));
    (0..40).for_each(|seq| {
        world.put(seq * 5_000, 0, seq, 1540);
    });
    let out = world.ended();
    assert_eq!(out.iter().map(|(_, _, seq)| *seq).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    assert!(out.iter().all(|(at, ..)| (at - 3_000) % 5_000 == 0), "{out:?}");
    let late = out.iter().filter(|(at, _, seq)| *at > 3_000 + seq * 5_000).count();
    assert!(late > 20, "{late}");
}

/// With `when = "served"` the grant is issued when the packet is delivered, even if late. With
/// `first-transmission` it is issued before the end of HARQ.
#[test]
fn grant_timing_follows_configuration() {
    for (when, expected) in [("served", 2.0), ("first-transmission", 2.0), ("delivered", 0.0)] {
        let mut grant = ahead("blind-bi");
        grant["when"] = json!(when);
        let mut world = World::new(json!({
            "grant": grant, "errors": {"kind": "independent", "loss": 1.0},
            "harq": {"attempts": 2, "round_trip_ns": 30_000_000},
        }));
        world.put(0, 0, 0, 1540).put(0, 0, 1, 1540);
        world.run(if when == "served" { 32_999 } else { 0 });
        assert_eq!(
            world.counter("grants_proactive"),
            if when == "served" { 0.0 } else { expected }
        );
        assert_eq!(world.ended(), [], "both are lost");
        assert_eq!(
            (world.counter("grants_proactive"), world.link.meters[0].report(0.0, 0.0).lost_packets),
            (expected, 2)
        );
    }
}

/// With packing, both packets are in one MPDU with subheaders: blind-BI issues one grant.
#[test]
fn packed_packets_share_header_and_grant() {
    let packing = json!({"down": true, "up": false});
    let mut world = World::new(json!({"grant": ahead("blind-bi"), "packing": packing}));
    world.put(0, 0, 0, 500).put(0, 0, 1, 600);
    assert_eq!(world.ended(), [(3_000, 0, 0), (3_000, 0, 1)]);
    assert_eq!(world.counter("grants_proactive"), 1.0);
    assert_eq!(world.link.meters[0].used(), (6u64 + 500 + 2 + 600 + 2).div_ceil(9));
}

/// A large packet does not block other stations: round robin gives each station one MPDU at a time.
#[test]
fn stations_alternate_within_frame() {
    let mut world = World::of(json!({"stations": 2, "downlink_mcs": "16qam-1/2"}), 2);
    // 360 slots of 12 B are 4320 B. They carry 1546 B of each station and a fragment of the first
    // station's second packet.
    (0..2).for_each(|seq| {
        world.put_of(0, 0, 0, seq, 1540);
    });
    world.put_of(1, 0, 0, 10, 1540);
    assert_eq!(world.ended(), [(3_000, 0, 0), (3_000, 0, 10), (8_000, 0, 1)]);
}

#[test]
fn maps_occupy_slots_per_burst() {
    let overhead = json!({"slots": 60, "per_burst": 17});
    let mut world = World::new(json!({"map_overhead": overhead}));
    // 343 slots of 9 B are 3087 B, five bytes less than two packets.
    (0..2).for_each(|seq| {
        world.put(0, 0, seq, 1540);
    });
    assert_eq!(world.ended(), [(3_000, 0, 0), (8_000, 0, 1)]);
}

#[test]
fn unfragmented_packet_larger_than_frame_is_dropped() {
    let never = json!({"down": false, "up": false});
    let changes =
        json!({"fragmentation": never, "downlink_mcs": "qpsk-1/12", "uplink_mcs": "qpsk-1/12"});
    let mut world = World::new(changes);
    world.put(0, 0, 0, 400).put(0, 0, 1, 300).put(0, 1, 2, 200).put(0, 1, 3, 100);
    let mut out = world.ended();
    out.sort_by_key(|(_, _, seq)| *seq);
    assert_eq!(out.iter().map(|(_, _, seq)| *seq).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn scheduling_requests_and_ranging_get_header_grant_first() {
    // The request is sent at 1 ms. The opportunity of frame 0 ends at 3 ms and is received at 5.6
    // ms. The header is granted in the map at 10 ms, sent in the frame at 15 ms, and received at
    // 20.6 ms. The data are granted in the map at 25 ms and sent in the frame at 30 ms.
    for request in [
        json!({"kind": "scheduling-request", "period_ns": 5_000_000}),
        json!({"kind": "ranging", "codes": 1, "timer_ns": 1, "backoff": [1, 1]}),
    ] {
        let mut world = World::new(json!({"request": request}));
        world.put(1_000, 1, 0, 40);
        assert_eq!(world.ended(), [(35_600, 1, 0)]);
        assert_eq!((world.counter("granted_bytes"), world.counter("granted_slots")), (52.0, 9.0));
    }
}

#[test]
fn periodic_grants_do_not_depend_on_data() {
    let grant = json!({"kind": "unsolicited", "period_ns": 20_000_000, "size_bytes": 46, "fallback_ns": 100_000_000});
    let mut world = World::new(json!({"grant": grant}));
    world.put(1_000, 1, 0, 40).run(100_000);
    // Grants are at 0, 20, … ms; the first burst closes at 8 ms.
    assert_eq!(world.out, [(10_600, 1, 0)]);
    assert_eq!(world.counter("grants_proactive"), 6.0);
}

/// The ratio of `rate` to the nominal rate scales all slots. Here each slot carries half of the
/// bytes.
#[test]
fn rate_change_scales_all_slots() {
    let mut world = World::new(json!({}));
    let nominal = world.link.nominal[0];
    assert_eq!(nominal, Rate(360 * 9 * 8 * 200));
    let half = Control::Rate(Rate(nominal.0 / 2));
    world.link.control(&half, &mut world.harness.at(Time::ZERO));
    (0..2).for_each(|seq| {
        world.put(0, 0, seq, 1540);
    });
    assert_eq!(world.ended(), [(3_000, 0, 0), (8_000, 0, 1)]);
    let mut world = World::new(json!({}));
    world.link.control(&Control::Rate(Rate(0)), &mut world.harness.at(Time::ZERO));
    world.put(0, 0, 0, 1540);
    assert_eq!(world.link.next_wakeup(), Time::NEVER);
    let now = Time::from_millis(12);
    world.link.control(&Control::Rate(nominal), &mut world.harness.at(now));
    assert_eq!(world.ended(), [(18_000, 0, 0)]);
}

#[test]
fn idle_link_has_no_wakeup() {
    let mut world = World::of(json!({"stations": 40}), 40);
    assert_eq!(world.link.next_wakeup(), Time::NEVER);
    world.put(7_000, 0, 0, 100);
    assert_eq!(world.ended(), [(13_000, 0, 0)]);
    assert_eq!(world.counter("frames"), 1.0);
}

#[test]
fn rejects_inconsistent_config() {
    for (changes, expected) in [
        (json!({"stations": 0}), "stations = 0: below 1. Accepted: 1 to 1000"),
        (json!({"stations": 1001}), "stations = 1001: above 1000. Accepted: 1 to 1000"),
        (json!({"frame_ns": 0}), "frame_ns = 0: below 1000. Accepted: 1000 to 3600000000000"),
        (
            json!({"uplink_mcs": "64qam-5/6"}),
            "uplink_mcs = 64qam-5/6: not in the list of this direction. Accepted: qpsk-1/12, ",
        ),
        (
            json!({"map_overhead": {"slots": 420}}),
            "map_overhead.slots = 420: leaves no slots for data in the downlink. Accepted: less than 420",
        ),
        (json!({"harq": {"attempts": 0, "round_trip_ns": 1}}), "harq.attempts = 0: below 1"),
        (
            json!({"harq": {"attempts": 1, "error": 1.0, "round_trip_ns": 1}}),
            "harq.error = 1: not below 1",
        ),
        (
            json!({"grant": {"kind": "blind-bi", "size_bytes": 1051, "fallback_ns": 1}}),
            "grant.size_bytes = 1051: more than a frame's uplink. Accepted: at most 1050",
        ),
        (
            json!({"harq": {"attempts": 4, "round_trip_ns": 1, "processes": 16}}),
            "harq.processes = 16",
        ),
        (
            json!({"request": {"kind": "none"}}),
            "request.kind = none: with this request and this grant",
        ),
        (
            json!({"users": [{"user": 1}]}),
            "users.0.user = 1: the link has no such station. Accepted: 0 to 0",
        ),
        (
            json!({"request": {"kind": "ranging", "codes": 0, "timer_ns": 1, "backoff": [2, 64]}}),
            "request.codes = 0: below 1. Accepted: 1 to 65535",
        ),
        (
            json!({"request": {"kind": "ranging", "codes": 8, "timer_ns": 1, "backoff": [64, 2]}}),
            "request.backoff.1 = 2: smaller than the first window. Accepted: 64 to 65536",
        ),
    ] {
        let error = make(changes, 1, 1).err().expect("it is refused").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = make(json!({"closed_ns": 3_600_000_000_001_u64}), 1, 1).err().expect("refused");
    let expected = "closed_ns = 3600000000001: above 3600000000000. Accepted: 0 to 3600000000000";
    assert_eq!(error.to_string(), expected);
}

/// wimax-mac §1: a map grants the bytes that the slots of a frame carry, rounded up for each
/// station.
#[test]
fn uplink_slots_are_shared_and_excess_waits() {
    let mut world = World::of(json!({"stations": 30, "uplink_mcs": "qpsk-1/2"}), 30);
    (0..30).for_each(|flow| {
        world.put_of(flow, 1_000, 1, u64::from(flow), 40);
    });
    let out = world.ended();
    // Each station needs 8 of 175 slots: 21 stations in one frame. The next station is granted 42
    // of the 46 B that it needs.
    let first = out.iter().filter(|(at, ..)| *at == 45_600).count();
    assert_eq!((first, out.len()), (21, 30));
}
