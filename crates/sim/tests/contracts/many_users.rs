//! Tests of a cell with a thousand users and one queue per user in one stage, and of 50 users with
//! every queue discipline.

use super::cell::with_cell;
use crate::common::{MS, PlainDriver, SECOND, datagrams, droptail, fixed, flow, merge, run};
use crate::common::{run_with, scenario, tcp};
use airpath_aqm::AnyQueue;
use airpath_conformance::samples;
use airpath_core::{FlowId, QueueId, Series};
use airpath_path::{FlowReport, QueueSummary, ReplicationReport, build};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const USERS: u64 = 1000;
/// Number of users in the test of all queue disciplines.
const CROWD: u64 = 50;

fn cell(scheduler: &str, rate_bps: u64) -> Value {
    json!({"kind": "toy-cell", "scheduler": scheduler, "rate_bps": rate_bps})
}

/// Returns the number of packets that the queue dropped.
fn dropped(queue: &QueueSummary) -> u64 {
    queue.drops.values().sum()
}

fn names(report: &ReplicationReport) -> Vec<&str> {
    report.queues.iter().map(|queue| queue.name.as_str()).collect()
}

/// Each user sends twice its share of 12 Mbit/s, a packet each 500 ms. A cell that sends one packet
/// at a time serves 1000 packets per second, so each user gets one packet per second.
#[test]
fn round_robin_gives_each_of_a_thousand_users_a_thousandth() {
    let each = |user: u64| {
        let start = json!({"kind": "at", "time_ns": user * 499_979 % (500 * MS)});
        flow(datagrams("cbr", 24_000), json!({"start": start}))
    };
    let change = json!({
        "record": {"series": ["drop"]},
        "controls": [{"at_ns": 30 * SECOND, "action": {"kind": "rate", "rate_bps": 12_000_000}}]});
    let flows = (0..USERS).map(each).collect();
    let scenario = scenario(40, flows, cell("round-robin", 12_000_000), droptail(5), change);
    let driver = run_with(&scenario, &with_cell(), &Arc::default(), 1);
    let report = driver.report(0);
    assert_eq!(driver.stages().len(), 2 * USERS as usize + 1, "one stage for all queues");
    let expected: Vec<String> = (0..USERS).map(|user| format!("bottleneck/user {user}")).collect();
    assert_eq!(names(&report), expected);
    let mut drops = BTreeMap::<QueueId, u64>::new();
    let recorder = driver.into_recorder();
    for drop in recorder.samples(Series::Drop) {
        *drops.entry(drop.queue).or_default() += 1;
        assert_eq!(drop.queue.0, drop.id, "the queue of the flow's user");
    }
    let served: Vec<u64> = report.queues.iter().map(|queue| queue.departed).collect();
    let (least, most) = (served.iter().min(), served.iter().max());
    assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{least:?} {most:?}");
    // The first packet arrives at 0. From then on the cell sends 1000 packets per second; the last
    // one is still in transmission.
    assert_eq!(report.links[0].delivered_packets, 40_000 - 1);
    for ((queue, flow), number) in report.queues.iter().zip(&report.flows).zip(0..) {
        assert_eq!(queue.arrived, flow.sent_packets, "{}", queue.name);
        let waiting = queue.arrived - queue.departed - dropped(queue);
        assert!(waiting <= 5, "{}: {waiting} wait", queue.name);
        assert_eq!(drops.get(&QueueId(number)).copied().unwrap_or(0), dropped(queue));
        assert!(dropped(queue) > 30 && queue.max_packets == 5, "{queue:?}");
        // The last packet of a full queue waits for five rounds over all users, one second each.
        let wait_s = queue.p95_sojourn_s.expect("packets left");
        assert!((wait_s - 5.0).abs() < 0.6, "{}: {wait_s} s", queue.name);
    }
    let phases: Vec<usize> = report.phases.iter().map(|phase| phase.queues.len()).collect();
    assert_eq!(phases, [USERS as usize; 2]);
    let of_phases =
        |user: usize| report.phases.iter().map(|phase| phase.queues[user].drops).sum::<u64>();
    assert!((0..report.queues.len()).all(|u| dropped(&report.queues[u]) == of_phases(u)));
}

/// Returns the flow of user `number`. The rates range from below the channel's 500 kbit/s to three
/// times this rate.
fn user_apart(number: u64) -> Value {
    let start = json!({"kind": "at", "time_ns": number * 7919 % (20 * MS)});
    let source = datagrams("cbr", 300_000 + 24_000 * number);
    flow(source, json!({"start": start, "user": number}))
}

/// Returns the report of a flow with flow number 0.
fn unnumbered(flow: &FlowReport) -> FlowReport {
    FlowReport { id: 0, ..flow.clone() }
}

/// With a separate channel per user, other users have no effect: with every discipline, the results
/// of a user's queue and flow are those of a cell without other users.
#[test]
fn other_users_on_separate_channels_have_no_effect_under_every_discipline() {
    let components = with_cell();
    let mut with_drops = 0;
    for (kind, _) in AnyQueue::BUILT_IN {
        let queue = samples("aqm", kind, |_| true).swap_remove(0);
        let run = |flows| {
            let scenario = scenario(2, flows, cell("apart", 500_000), queue.clone(), json!({}));
            run_with(&scenario, &components, &Arc::default(), 5).report(0)
        };
        let all = run((0..CROWD).map(user_apart).collect());
        let sent: u64 = all.queues.iter().map(|queue| queue.arrived).sum();
        let departed: u64 = all.queues.iter().map(|queue| queue.departed).sum();
        assert!(sent > 5000 && departed > 3000, "{kind}: {sent} {departed}");
        let drops = all.queues.iter().map(dropped).sum::<u64>();
        assert!(drops == 0 || drops > 50, "{kind}: {drops}");
        with_drops += u64::from(drops > 0);
        for number in [0, 1, 24, 48, 49] {
            let alone = run(vec![user_apart(number)]);
            let place = number as usize;
            assert_eq!(all.queues[place], alone.queues[place], "{kind}");
            let (among, by_itself) = (&all.flows[place], &alone.flows[0]);
            assert_eq!(unnumbered(among), unnumbered(by_itself), "{kind}");
        }
    }
    assert!(with_drops > 5, "{with_drops} disciplines drop");
}

/// With one user, the cell gives the same results as a link with constant rate, for both
/// schedulers.
#[test]
fn a_cell_of_one_user_is_a_link_of_constant_rate() {
    let flows = || vec![flow(datagrams("poisson", 8_400_000), json!({}))];
    let change = || json!({"warmup_ns": SECOND});
    let link = run(&scenario(30, flows(), fixed(12_000_000), droptail(50), change()), 3);
    for scheduler in ["round-robin", "apart"] {
        let link_cell = cell(scheduler, 12_000_000);
        let scenario = scenario(30, flows(), link_cell, droptail(50), change());
        let found = run_with(&scenario, &with_cell(), &Arc::default(), 3).report(0);
        let name = "bottleneck".to_owned();
        let queues: Vec<_> =
            found.queues.into_iter().map(|q| QueueSummary { name: name.clone(), ..q }).collect();
        assert_eq!((queues, found.flows), (link.queues.clone(), link.flows.clone()));
    }
}

/// Flows of one user share one queue: their packets leave in the order of arrival, although packets
/// of different users overtake one another.
#[test]
fn flows_of_a_user_leave_in_the_order_of_their_arrival() {
    let flows = (0..30).map(|number| {
        let source = json!({"kind": "poisson", "rate_bps": 40_000 + 2000 * number,
                            "packet_bytes": 400 + 40 * number});
        flow(source, json!({"user": number % 10}))
    });
    let link = cell("round-robin", 1_000_000);
    let scenario = scenario(10, flows.collect(), link, droptail(1000), json!({}));
    let network = build(&scenario, &with_cell(), &Arc::default(), 1, 0).expect("a network");
    assert_eq!(network.queues.len(), 10);
    let stage = network.links[0].stage;
    let mut driver = PlainDriver::new(network);
    driver.run();
    let (entered, accounted) = driver.balance();
    assert_eq!(entered, accounted);
    let packets = |left: bool| {
        let mut of_user = vec![Vec::new(); 10];
        for departure in driver.log.iter().filter(|d| (d.from == stage) == left) {
            of_user[departure.flow.0 as usize % 10].push((departure.flow, departure.seq));
        }
        of_user
    };
    let (came, went) = (packets(false), packets(true));
    for (user, (came, went)) in came.iter().zip(&went).enumerate() {
        assert!(went.len() > 100 && came.starts_with(went), "user {user}");
    }
    let order = |from| -> Vec<FlowId> {
        driver.log.iter().filter(|d| (d.from == stage) == from).map(|d| d.flow).collect()
    };
    assert_ne!(order(false)[..1000], order(true)[..1000], "users take turns");
}

/// Both directions have one queue per user, as the stations of an 802.16 cell. Data flow in both
/// directions, ACKs use the queue of their user, and only the queue of the user with an ECN flow
/// marks packets.
#[test]
fn both_directions_have_a_queue_for_each_user() {
    let mut marked = tcp(json!({"ecn": "on", "receive_window": 1_000_000}));
    marked["transfer_bytes"] = json!(null);
    let plain = || tcp(json!({"receive_window": 1_000_000}));
    let flows = vec![
        flow(plain(), json!({})),
        flow(marked, json!({"user": 3})),
        flow(plain(), json!({"user": 3, "direction": "reverse"})),
        flow(datagrams("cbr", 100_000), json!({"user": 1, "direction": "reverse"})),
    ];
    let mut codel = samples("aqm", "codel", |_| true).swap_remove(0);
    merge(&mut codel, json!({"ecn": true}));
    let change = json!({"ack_path": {"kind": "reverse", "queue": droptail(40)}});
    let scenario = scenario(20, flows, cell("round-robin", 4_000_000), codel, change);
    let report = run_with(&scenario, &with_cell(), &Arc::default(), 1).report(0);
    let sides = ["bottleneck", "reverse"];
    let expected: Vec<String> = sides
        .iter()
        .flat_map(|side| (0..4).map(move |user| format!("{side}/user {user}")))
        .collect();
    assert_eq!(names(&report), expected);
    let links: Vec<&str> = report.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(links, sides);
    let marks: Vec<bool> = report.queues.iter().map(|queue| queue.marks > 0).collect();
    assert_eq!(marks, [false, false, false, true, false, false, false, false]);
    let arrived: Vec<bool> = report.queues.iter().map(|queue| queue.arrived > 0).collect();
    // Users 0 and 3 have data and ACKs, user 1 sends datagrams in the reverse direction, and user 2
    // has no flow.
    assert_eq!(arrived, [true, false, false, true, true, true, false, true]);
    assert!(report.flows.iter().all(|flow| flow.delivered_packets > 100));
}
