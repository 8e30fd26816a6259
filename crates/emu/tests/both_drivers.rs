//! Tests that both drivers give the same results for the same packets: the virtual-time driver, and
//! the real-time driver with a fake clock that is late at every timer. Departures, drops and marks
//! are equal to the nanosecond, for every link and every queue discipline.

use crate::common::links::{link_files, links, tdd};
use crate::common::{MS, SECOND, datagrams, droptail, flow, merge, scenario, tcp};
use airpath_aqm::AnyQueue;
use airpath_conformance::samples;
use airpath_core::{Duration, FlowId, Seed, Stream, Time};
use airpath_emu::addresses::{client_address, server_address};
use airpath_emu::classify::ParsedPacket;
use airpath_emu::events::Progress;
use airpath_emu::flow_table::{FlowTable, port_of};
use airpath_emu::packet_io::{Ending, PacketIo, Ready, Side, Supervisor};
use airpath_link::AnyLink;
use airpath_path::{
    Components, Network, OpenEnds, ReplicationReport, Scenario, SourceSpec, build_cut,
};
use serde_json::{Value, json};
use std::io;

/// A packet that a kernel sends: time, side, bytes.
type Sent = (Time, Side, Vec<u8>);

/// A departure: due time, side, ECN field, identification in its header.
type Left = (Time, Side, u8, u16);

/// Duration of a run, s. It is longer than the sending time, so that queued packets can leave.
const SECONDS: u64 = 8;
const SENDING: Duration = Duration::from_millis(2200);
const FLOWS: u32 = 3;
/// Maximum time between the arrival of a packet and its reading, so that timers expire in between.
const READING: Duration = Duration::from_millis(4);

/// Returns a TCP segment of `flow` with `payload` bytes of payload, from `side`.
fn segment(flow: u32, side: Side, number: u16, payload: usize, service: u8) -> Vec<u8> {
    let (server, client) = (server_address(0), client_address(0, flow as u16));
    let ends = if side == Side::Server { [server, client] } else { [client, server] };
    let size = (40 + payload) as u16;
    let mut bytes = vec![0x45, service];
    bytes.extend(size.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend([0x40, 0, 64, 6, 0, 0]);
    ends.iter().for_each(|address| bytes.extend(address.octets()));
    for _ in ends {
        bytes.extend(port_of(flow).to_be_bytes());
    }
    bytes.extend(u32::from(number).to_be_bytes());
    bytes.extend(u32::from(number).to_be_bytes());
    bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    bytes.resize(usize::from(size), 0);
    bytes
}

/// Returns data at twice the rate of 2 Mbit/s, in bursts, and ACKs in the reverse direction, at
/// times without other events.
fn traffic() -> Vec<Sent> {
    let mut stream = Seed::new(17, 0, "traffic").stream();
    let mut sent = Vec::new();
    let mut at = Duration::from_millis(3);
    let mut number = 0;
    while at < SENDING {
        let flow = number % FLOWS;
        let burst = 1 + (stream.uniform() * 8.0) as u16;
        for place in 0..burst {
            let micros = u64::from(place) * 7;
            let at = Time::ZERO + at + Duration::from_nanos(micros * 1000 + 137);
            // One flow with ECT(0), one without ECN, and one with ECT(1).
            let service = [0b10, 0b00, 0b01][flow as usize];
            sent.push((
                at,
                Side::Server,
                segment(flow, Side::Server, number as u16, 1210, service),
            ));
            let later = at + Duration::from_nanos(3_000_411);
            sent.push((later, Side::Client, segment(flow, Side::Client, number as u16, 0, 0)));
            number += 1;
        }
        at += Duration::from_secs_lossy(
            stream.exponential(Duration::from_millis(12)).as_secs_lossy(),
        );
    }
    sent.sort_by_key(|(at, _, _)| *at);
    sent
}

/// A fake kernel with predefined packets and late timers.
struct Fake {
    now: Time,
    sent: std::vec::IntoIter<Sent>,
    lateness: Stream,
    left: Vec<(Side, Vec<u8>)>,
    /// Sum of the lateness of all timers.
    was_late: Duration,
}

impl Fake {
    fn next(&self) -> Time {
        self.sent.as_slice().first().map_or(Time::NEVER, |(at, _, _)| *at)
    }
}

impl PacketIo for Fake {
    fn now(&mut self) -> Time {
        self.now
    }

    fn read(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.sent.as_slice().first() {
            Some((at, from, _)) if *at <= self.now + READING && *from == side => {}
            _ => return Ok(None),
        }
        let (at, _, bytes) = self.sent.next().expect("it is the first");
        self.now = self.now.max(at);
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(Some(bytes.len()))
    }

    fn write(&mut self, side: Side, packet: &[u8]) -> io::Result<bool> {
        self.left.push((side, packet.to_vec()));
        Ok(true)
    }

    /// Returns when a packet arrives, or up to 3 ms after `until`.
    fn wait(&mut self, until: Time) -> io::Result<Ready> {
        let late = Duration::from_nanos((self.lateness.uniform() * 3e6) as u64);
        let next = Time::ZERO + self.next().saturating_since(Time::ZERO + READING);
        let woken = (until + late).min(next.max(self.now));
        self.was_late += woken.saturating_since(until);
        self.now = self.now.max(woken);
        Ok(Ready { packets: [self.next() <= self.now + READING; 2], attention: false })
    }
}

/// A supervisor that never ends the run.
struct NoSupervisor;

impl Supervisor for NoSupervisor {
    fn attend(&mut self, _now: Time) -> Option<Ending> {
        None
    }
    fn passes(&mut self, _: Time, _: Side, _: bool, _: &[u8]) {}
    fn measurement_starts(&mut self, _now: Time) {}
    fn next_progress(&self) -> Time {
        Time::NEVER
    }
    fn progress(&mut self, _progress: Progress) {}
}

/// Builds the path of a scenario with open ends for its TCP flows.
fn network(scenario: &Scenario) -> Network {
    let flows: Vec<_> = scenario.flows.iter().collect();
    let open = |flow: FlowId| match flows[flow.0 as usize].source {
        SourceSpec::Tcp(_) => OpenEnds::BOTH,
        _ => OpenEnds::NONE,
    };
    build_cut(scenario, &Components::default(), &link_files(), 7, 0, &open).expect("a network")
}

/// Returns the departures in virtual time, and the report.
fn in_virtual_time(scenario: &Scenario, sent: &[Sent]) -> (Vec<Left>, ReplicationReport) {
    let network = network(scenario);
    let ends: Vec<_> = network.flows.iter().map(|flow| (flow.source, flow.sink)).collect();
    let mut driver = airpath_sim::Driver::new(network);
    let (mut exits, mut left) = (Vec::new(), Vec::new());
    let mut collect = |driver: &mut airpath_sim::Driver| {
        driver.take_exits(&mut exits);
        for exit in &exits {
            let is_sink = ends.iter().any(|(_, sink)| *sink == exit.end);
            let side = if is_sink { Side::Client } else { Side::Server };
            left.push((exit.at, side, exit.packet.ecn.bits(), exit.packet.seq as u16));
        }
    };
    let (warmup, end) = (driver.warmup(), driver.end());
    let reach = |driver: &mut airpath_sim::Driver, at: Time| {
        if at >= warmup {
            driver.run_until(warmup, &()).expect("no component fails");
            driver.start_measurement().expect("no component fails");
        }
        driver.run_until(at, &()).expect("no component fails");
    };
    for (at, side, bytes) in sent.iter().filter(|(at, _, _)| *at < end) {
        reach(&mut driver, *at);
        let seen = ParsedPacket::of(bytes).expect("a packet");
        let flow = u32::from(seen.ends.source_port - port_of(0));
        let (source, sink) = ends[flow as usize];
        let entry = if *side == Side::Server { source } else { sink };
        driver.put_in(entry, seen.packet(FlowId(flow), *at)).expect("no component fails");
        collect(&mut driver);
    }
    reach(&mut driver, end);
    collect(&mut driver);
    left.sort();
    (left, driver.report(0))
}

/// Returns the departures in real time, the report, and the written packets.
fn in_real_time(
    what: &str,
    scenario: &Scenario,
    sent: &[Sent],
) -> (Vec<(Side, Vec<u8>)>, ReplicationReport) {
    let lateness = Seed::new(3, 0, "lateness").stream();
    let fake = Fake {
        now: Time::ZERO,
        sent: Vec::from(sent).into_iter(),
        lateness,
        left: Vec::new(),
        was_late: Duration::ZERO,
    };
    let flows = scenario.flows.len() as u32;
    let table = FlowTable::Ports { flows };
    let mut driver = airpath_emu::Driver::new(fake, network(scenario), scenario, table);
    let ending = driver.run(&mut NoSupervisor).expect("nothing fails");
    assert_eq!(ending, Ending::Scenario);
    let report = driver.report(0);
    let held = driver.network().stages.iter().map(airpath_core::Stage::held).sum::<usize>();
    let kept = driver.in_flight();
    assert!(kept <= held, "{what}: bytes of {kept} packets, and the stages hold {held}");
    let (_, fake) = driver.into_parts();
    assert!(fake.was_late > Duration::from_millis(20), "timers were hardly late");
    (fake.left, report)
}

/// Converts written packets to departures without time.
fn as_left(written: &[(Side, Vec<u8>)]) -> Vec<(Side, u8, u16)> {
    let seen = |(side, bytes): &(Side, Vec<u8>)| {
        (*side, bytes[1] & 0b11, u16::from_be_bytes([bytes[4], bytes[5]]))
    };
    written.iter().map(seen).collect()
}

fn check(what: &str, scenario: &Scenario, sent: &[Sent]) -> [u64; 2] {
    let (expected, virtual_report) = in_virtual_time(scenario, sent);
    let (written, real_report) = in_real_time(what, scenario, sent);
    let mut found = as_left(&written);
    let mut wanted: Vec<_> = expected.iter().map(|(_, side, ecn, n)| (*side, *ecn, *n)).collect();
    // Packets that leave at the same instant have no order between the two sides.
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted, "{what}");
    // Reports of queues, links, users and stations: all drops, marks, delays and time averages.
    let comparable = |report: &ReplicationReport| {
        let mut report = report.clone();
        report.events = 0;
        report
    };
    assert_eq!(comparable(&real_report), comparable(&virtual_report), "{what}");
    let drops = real_report.queues.iter().map(|queue| queue.drops.values().sum::<u64>()).sum();
    let marks = real_report.queues.iter().map(|queue| queue.marks).sum();
    [drops, marks]
}

/// Returns a scenario of `link` and `queue` with TCP flows and simulated datagrams. If the link has
/// a rate, it changes in the middle of the run.
fn path(link: Value, queue: &Value, ack_path: Value) -> Scenario {
    let flows = (0..FLOWS).map(|_| flow(tcp(json!({})), json!({}))).collect::<Vec<_>>();
    let with_datagrams = [flows, vec![flow(datagrams("poisson", 200_000), json!({}))]].concat();
    let has_rate = link.get("rate_bps").is_some();
    let slower = json!([{"at_ns": 1700 * MS, "action": {"kind": "rate", "rate_bps": 1_000_000}}]);
    let change = json!({
        "warmup_ns": SECOND, "controls": if has_rate { slower } else { json!([]) },
        "ack_path": ack_path});
    scenario(SECONDS, with_datagrams, link, queue.clone(), change)
}

fn disciplines() -> Vec<Value> {
    let sample = |kind: &str| {
        let mut queue = samples("aqm", kind, |_| true).swap_remove(0);
        queue["kind"] = json!(kind);
        if queue.get("ecn").is_some_and(Value::is_boolean) {
            merge(&mut queue, json!({"ecn": true}));
        }
        queue
    };
    AnyQueue::BUILT_IN.iter().map(|(kind, _)| sample(kind)).collect()
}

#[test]
fn both_drivers_agree_on_every_link_and_every_queue_discipline() {
    let sent = traffic();
    let (mut pairs, mut with_drops, mut with_marks) = (0, 0, 0);
    for link in links() {
        for queue in disciplines() {
            let what = format!("{} over {}", queue["kind"], link["kind"]);
            let ideal = json!({"kind": "ideal"});
            let [drops, marks] = check(&what, &path(link.clone(), &queue, ideal), &sent);
            (pairs, with_drops) = (pairs + 1, with_drops + usize::from(drops > 0));
            with_marks += usize::from(marks > 0);
        }
    }
    let kinds = AnyLink::BUILT_IN.len() - 1;
    assert_eq!(pairs, kinds * AnyQueue::BUILT_IN.len());
    assert!(with_drops > pairs / 2, "{with_drops} of {pairs} have dropped anything");
    assert!(with_marks > pairs / 8, "{with_marks} of {pairs} have marked anything");
}

#[test]
fn both_drivers_agree_if_acks_take_the_reverse_direction_of_the_link() {
    let sent = traffic();
    for link in links().into_iter().chain([tdd()]) {
        for ack_path in [
            json!({"kind": "reverse", "queue": droptail(30)}),
            json!({"kind": "link", "link": {"kind": "fixed", "rate_bps": 100_003},
                   "queue": droptail(20), "delay_ns": 5 * MS}),
        ] {
            if link["kind"] == "ofdma-tdd" && ack_path["kind"] == "link" {
                continue;
            }
            let what = format!("{}, ACKs {}", link["kind"], ack_path["kind"]);
            check(&what, &path(link.clone(), &droptail(30), ack_path), &sent);
        }
    }
}

/// Returns a path of a wire, a fixed link and `last`. One TCP flow crosses only the fixed link, one
/// crosses only the last hop, and datagrams cross the first two hops. The delay of the fixed link
/// becomes shorter, then longer, and the link is interrupted twice.
fn several_hops(last: Value) -> Scenario {
    let wire = json!({"rate_bps": 30_000_000, "delay_ns": 2 * MS, "limit": {"packets": 40}});
    let fixed = json!({"kind": "fixed", "rate_bps": 2_500_000});
    let fixed = json!({"link": fixed, "queue": droptail(25), "delay_ns": 4 * MS});
    let hops = [
        json!({"name": "wire", "wire": wire}),
        json!({"name": "fixed", "down": fixed, "up": fixed}),
        last,
    ];
    let route = |first: &str, last: &str| json!({"hops": [first, last]});
    let routes = [json!({}), route("fixed", "fixed"), route("last", "last")];
    let mut flows = routes.map(|route| flow(tcp(json!({})), route)).to_vec();
    flows.push(flow(datagrams("poisson", 200_000), route("wire", "fixed")));
    let delay = |at_ms: u64, delay_ms: u64| {
        let action = json!({"kind": "delay", "delay_ns": delay_ms * MS});
        json!({"at_ns": at_ms * MS, "hop": "fixed", "action": action})
    };
    let interruption = |at_ms: u64, packets: &str| {
        let action = json!({"kind": "interruption", "duration_ns": 70 * MS, "packets": packets});
        json!({"at_ns": at_ms * MS, "hop": "fixed", "action": action})
    };
    let document = json!({
        "duration_ns": SECONDS * SECOND, "warmup_ns": SECOND, "flows": flows, "hops": hops,
        "controls": [delay(1400, 1), interruption(1500, "lose"), delay(1900, 30),
                     interruption(2000, "keep")]});
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

#[test]
fn both_drivers_agree_over_several_hops() {
    let sent = traffic();
    let direction = |link: &Value| json!({"link": link, "queue": droptail(25), "delay_ns": 3 * MS});
    let all = links();
    let next = all.iter().cycle().skip(1);
    let mut hops: Vec<(String, Value)> = all
        .iter()
        .zip(next)
        .map(|(down, up)| {
            let hop = json!({"name": "last", "down": direction(down), "up": direction(up)});
            (format!("{} down, {} up", down["kind"], up["kind"]), hop)
        })
        .collect();
    let up = json!({"queue": droptail(25)});
    let shared = json!({"name": "last", "down": direction(&tdd()), "up": up});
    hops.push(("ofdma-tdd".to_owned(), shared));
    let (mut with_drops, count) = (0, hops.len());
    for (what, hop) in hops {
        let [drops, _] = check(&what, &several_hops(hop), &sent);
        with_drops += usize::from(drops > 0);
    }
    assert!(with_drops > count / 2, "{with_drops} of {count} have dropped anything");
}
