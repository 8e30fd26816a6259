//! Tests of paths with open ends, without a driver: injected packets leave the path as in the
//! complete network.

use crate::common::{MS, SECOND, datagrams, droptail, flow, scenario, tcp};
use airpath_core::{Control, FlowId, Packet, Port, StageId, Time};
use airpath_path::{
    Components, Input, Network, Observer, OpenEnds, RunningNetwork, Scenario, build, build_cut,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// A packet at an end of a flow: time, end, packet.
type Event = (Time, StageId, Packet);

/// Packets sent by endpoints and packets that arrived at endpoints.
#[derive(Default)]
struct Log {
    is_end: Vec<bool>,
    sent: Vec<Event>,
    arrived: Vec<Event>,
}

impl Observer for Log {
    fn see_departure(&mut self, now: Time, from: (StageId, Port), packet: &Packet, _to: Input) {
        if self.is_end[from.0.0 as usize] {
            self.sent.push((now, from.0, *packet));
        }
    }
    fn see_arrival(&mut self, now: Time, stage: StageId, packet: &Packet) {
        if self.is_end[stage.0 as usize] {
            self.arrived.push((now, stage, *packet));
        }
    }
}

fn ends(network: &Network) -> Vec<bool> {
    let mut is_end = vec![false; network.stages.len()];
    for end in network.flows.iter().flat_map(|flow| [flow.source, flow.sink]) {
        is_end[end.0 as usize] = true;
    }
    is_end
}

/// Runs `scenario` with all endpoints.
fn whole(scenario: &Scenario) -> Box<Log> {
    let network =
        build(scenario, &Components::default(), &Arc::default(), 7, 0).expect("a network");
    let (is_end, end) = (ends(&network), network.end);
    let mut running = RunningNetwork::new(network);
    running.observe(Log { is_end, ..Log::default() });
    running.broadcast_control(&Control::Begin, Time::ZERO).expect("no component fails");
    while let Some((due, _)) = running.first()
        && due < end
    {
        running.wake_first(due).expect("no component fails");
    }
    running.take_observer().expect("it was there")
}

/// Runs the path of `scenario` with the open ends that `open` returns, and injects `sent` there.
/// Returns the packets that left at open ends, and the report.
fn cut(
    scenario: &Scenario,
    open: &dyn Fn(FlowId) -> OpenEnds,
    sent: &[Event],
) -> (Vec<Event>, airpath_path::ReplicationReport) {
    let components = Components::default();
    let network = build_cut(scenario, &components, &Arc::default(), 7, 0, open).expect("a network");
    let end = network.end;
    let mut running: RunningNetwork = RunningNetwork::new(network);
    running.broadcast_control(&Control::Begin, Time::ZERO).expect("no component fails");
    let mut sent = sent.iter().peekable();
    let (mut out, mut exits) = (Vec::new(), Vec::new());
    loop {
        let wakeup = running.first().map_or(Time::NEVER, |(due, _)| due);
        let now = match sent.peek() {
            Some((at, from, packet)) if *at <= wakeup => {
                sent.next();
                running.put_in(*from, *packet, *at).expect("no component fails");
                *at
            }
            _ if wakeup < end => {
                running.wake_first(wakeup).expect("no component fails");
                wakeup
            }
            _ => break,
        };
        running.take_exits(&mut exits);
        out.extend(exits.iter().map(|exit| (now, exit.end, exit.packet)));
    }
    (out, running.report(0, end))
}

/// Sorts events so that the order of events at equal times does not matter.
fn sorted(events: impl IntoIterator<Item = Event>) -> Vec<String> {
    let mut found: Vec<_> = events.into_iter().collect();
    found.sort_by_key(|(at, end, packet)| (*at, *end, packet.seq, packet.size));
    found.iter().map(|event| format!("{event:?}")).collect()
}

/// Returns wires with delays that differ between flows, so that no two events happen at one
/// instant.
fn wires(number: u64) -> Value {
    let wire = |nanos: u64| json!({"delay_ns": nanos, "rate_bps": 100_000_007 + number});
    json!({"access": wire(3 * MS + 1_003 * number), "egress": wire(7 * MS + 70_001 * number),
           "return_wire": wire(9 * MS + 500_009 * number),
           "start": {"kind": "at", "time_ns": 1_234_567 * number}})
}

/// Returns scenarios with two TCP flows, one of them in the reverse direction, and datagrams over a
/// lossy link with a delay.
fn paths() -> Vec<Scenario> {
    let queue = json!({"kind": "droptail", "limit": {"packets": 20}});
    let link = json!({"kind": "fixed", "rate_bps": 3_000_017, "loss": 0.01, "delay_ns": 2 * MS});
    let slow = json!({"kind": "fixed", "rate_bps": 1_000_003});
    let ideal = json!({"kind": "ideal"});
    let own = json!({"kind": "link", "link": slow, "queue": queue, "delay_ns": 5 * MS});
    let reverse = json!({"kind": "reverse", "queue": queue});
    let backhaul = json!({"delay_ns": 4_000_037, "rate_bps": 50_000_021});
    let paths = [(&ideal, None), (&own, None), (&reverse, None), (&own, Some(&backhaul))];
    let made = paths.into_iter().map(|(ack_path, backhaul)| {
        let (mut first, mut upward) = (wires(0), wires(1));
        if ack_path != &ideal {
            upward["direction"] = json!("reverse");
            first["ack_access"] = json!({"delay_ns": 5_003_001, "rate_bps": 100_000_019});
        }
        let flows = vec![
            flow(tcp(json!({"receive_window": 400_000})), first),
            flow(tcp(json!({"receive_window": 400_000})), upward),
            flow(datagrams("poisson", 400_000), wires(2)),
        ];
        let change = json!({"ack_path": ack_path, "backhaul": backhaul});
        scenario(10, flows, link.clone(), droptail(30), change)
    });
    made.collect()
}

#[test]
fn packets_injected_at_open_ends_leave_as_in_the_complete_path() {
    for scenario in paths() {
        let whole = whole(&scenario);
        assert!(whole.sent.len() > 2000, "{}", whole.sent.len());
        let (out, report) = cut(&scenario, &|_| OpenEnds::BOTH, &whole.sent);
        assert_eq!(sorted(out), sorted(whole.arrived.iter().copied()));
        assert!(report.flows.is_empty() && report.queues[0].arrived > 1000);
    }
}

/// One open end: the endpoint at the other end responds to the injected packets.
#[test]
fn an_endpoint_responds_to_packets_injected_at_the_other_end() {
    let source = OpenEnds { source: true, sink: false };
    let sink = OpenEnds { source: false, sink: true };
    for scenario in paths() {
        let whole = whole(&scenario);
        for open in [source, sink] {
            // Only the first flow has an open end.
            let open = |flow| if flow == FlowId(0) { open } else { OpenEnds::NONE };
            let is_source = open(FlowId(0)).source;
            let network = build(&scenario, &Components::default(), &Arc::default(), 7, 0);
            let of_flow = network.expect("a network").flows[0];
            let end = if is_source { of_flow.source } else { of_flow.sink };
            let at_end = |events: &[Event]| -> Vec<Event> {
                events.iter().filter(|(_, at, _)| *at == end).copied().collect()
            };
            let (out, report) = cut(&scenario, &open, &at_end(&whole.sent));
            assert!(out.len() > 500, "{}", out.len());
            assert_eq!(sorted(out), sorted(at_end(&whole.arrived)));
            let ids: Vec<u32> = report.flows.iter().map(|flow| flow.id).collect();
            assert_eq!(ids, [1, 2], "flows with an open end are not reported");
        }
    }
}

/// An injected packet is forwarded immediately: it does not wait for a wake-up.
#[test]
fn a_packet_crosses_a_path_with_open_ends_without_extra_delay() {
    let still = json!({"egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}});
    let source = datagrams("cbr", 1);
    let link = json!({"kind": "fixed", "rate_bps": 12_000_000, "delay_ns": 2 * MS});
    let scenario = scenario(2, vec![flow(source, still)], link, droptail(2), json!({}));
    let network =
        build(&scenario, &Components::default(), &Arc::default(), 1, 0).expect("a network");
    let ends = network.flows[0];
    let packet = |seq| Packet::data(FlowId(0), seq, 1460, 40, Time::ZERO);
    // Four packets at one instant: one is transmitted, two wait, one is dropped. Each transmission
    // takes 1 ms, and the delay is 2 ms.
    let burst: Vec<Event> =
        (0..4).map(|seq| (Time::from_nanos(SECOND), ends.source, packet(seq))).collect();
    // A response takes no time on an ideal ACK path.
    let answer = (Time::from_nanos(SECOND + 1), ends.sink, packet(9));
    let sent: Vec<Event> = burst.into_iter().chain([answer]).collect();
    let (out, report) = cut(&scenario, &|_| OpenEnds::BOTH, &sent);
    let found: Vec<_> =
        out.iter().map(|(at, end, p)| (at.as_nanos() - SECOND, *end, p.seq)).collect();
    let there = |ms: u64, seq| (ms * MS, ends.sink, seq);
    assert_eq!(found, [(1, ends.source, 9), there(3, 0), there(4, 1), there(5, 2)]);
    assert_eq!(report.queues[0].drops["overflow"], 1);
}
