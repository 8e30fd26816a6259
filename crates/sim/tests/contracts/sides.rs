//! Tests that a link declares the directions that it serves before it is built, and that its queues
//! are built by name.
//!
//! Regression: the bottleneck's link was built to find out whether it serves both directions. If it
//! did not, the queue of the reverse direction was discarded and built again.

use crate::common::{datagrams, droptail, fixed, flow, run_with, scenario};
use airpath_aqm::AnyQueue;
use airpath_core::Seed;
use airpath_link::Sides;
use airpath_path::{Components, Scenario, build};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Seeds of the queues and links that were built.
type Made = Arc<Mutex<Vec<Seed>>>;

/// Returns components with a queue `counted` and links `one`, `one-or-both` and `both`, and the
/// list in which they record their seeds.
fn counted() -> (Components, Made) {
    let (mut components, made) = (Components::default(), Made::default());
    let note = Arc::clone(&made);
    components.queues.register("counted", move |_, setup| {
        note.lock().expect("one thread").push(setup.seed.clone());
        Ok(Box::new(AnyQueue::build(&droptail(10), setup)?))
    });
    let kinds = [("one", Sides::One), ("one-or-both", Sides::OneOrBoth), ("both", Sides::Both)];
    for (kind, sides) in kinds {
        let note = Arc::clone(&made);
        components.links.register_serving(sides, kind, move |_, setup| {
            note.lock().expect("one thread").push(setup.seed.clone());
            let rlc = if sides == Sides::One { fixed(1_000_000) } else { bearer() };
            Ok(Box::new(airpath_link::AnyLink::build(&rlc, setup)?))
        });
    }
    (components, made)
}

fn bearer() -> Value {
    airpath_conformance::samples("link", "rlc-am", |_| true).swap_remove(0)
}

fn over(link: &str, ack_path: Value) -> Scenario {
    let link = json!({"kind": link});
    let flows = vec![flow(datagrams("cbr", 120_000), json!({}))];
    scenario(1, flows, link, json!({"kind": "counted"}), json!({"ack_path": ack_path}))
}

#[test]
fn every_link_and_every_queue_is_built_once() {
    let queue = json!({"kind": "counted"});
    let ideal = json!({"kind": "ideal"});
    let link = json!({"kind": "link", "link": {"kind": "one"}, "queue": queue});
    let reverse = json!({"kind": "reverse", "queue": queue});
    let both = ["bottleneck/queue", "reverse/queue"];
    let cases = [
        ("one", &ideal, vec!["bottleneck/link", "bottleneck/queue"]),
        ("one-or-both", &ideal, vec!["bottleneck/link", "bottleneck/queue"]),
        (
            "one-or-both",
            &link,
            vec!["ack_path/link", "ack_path/queue", "bottleneck/link", "bottleneck/queue"],
        ),
        ("one", &reverse, [&both[..], &["bottleneck/link", "reverse/link"]].concat()),
        ("one-or-both", &reverse, [&both[..], &["bottleneck/link"]].concat()),
        ("both", &reverse, [&both[..], &["bottleneck/link"]].concat()),
    ];
    for (link, ack_path, mut expected) in cases {
        let (components, made) = counted();
        let scenario = over(link, ack_path.clone());
        let network = build(&scenario, &components, &Arc::default(), 1, 0).expect("a network");
        let made = made.lock().expect("one thread");
        let mut found: Vec<&str> =
            made.iter().map(|seed| seed.name.trim_start_matches('/')).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{link} with {ack_path}");
        let numbered = match ack_path["kind"].as_str() {
            Some("link") => &["bottleneck", "ack_path"][..],
            Some("reverse") => &["bottleneck", "reverse"],
            _ => &["bottleneck"],
        };
        assert_eq!(network.queues, numbered, "{link} with {ack_path}");
    }
}

#[test]
fn a_duplex_link_is_rejected_on_a_path_of_one_direction() {
    let queue = json!({"kind": "counted"});
    let of_acks = json!({"kind": "link", "link": {"kind": "both"}, "queue": queue});
    let of_reverse = json!({"kind": "reverse", "link": {"kind": "both"}, "queue": queue});
    for (link, ack_path, place) in [
        ("both", json!({"kind": "ideal"}), "bottleneck"),
        ("one", of_acks, "ack_path"),
        ("one", of_reverse, "reverse"),
    ] {
        let (components, _) = counted();
        let scenario = over(link, ack_path);
        let error = build(&scenario, &components, &Arc::default(), 1, 0).err().expect("an error");
        let text = format!("{place}.link.kind = both: duplex. Set ack_path = \"reverse\"");
        assert_eq!(error.to_string(), text);
    }
}

/// Errors of a queue have the path of the queue's description, not that of the link.
#[test]
fn an_invalid_queue_is_named_by_its_path_in_the_scenario() {
    let bad = json!({"kind": "droptail", "limit": {"packets": 0}});
    for kind in ["one", "one-or-both"] {
        let (components, _) = counted();
        let reverse = json!({"kind": "reverse", "queue": bad});
        let error = build(&over(kind, reverse), &components, &Arc::default(), 1, 0).err();
        let text = error.expect("an error").to_string();
        assert!(text.starts_with("reverse.queue.limit.packets = 0: "), "{kind}: {text}");
    }
}

/// In a link with many queues, a name identifies one queue with one seed.
#[test]
fn a_link_that_builds_a_queue_twice_is_rejected() {
    let (mut components, _) = counted();
    components.links.register("twice", |_, setup| {
        setup.extra.forward.queue("user 1")?;
        setup.extra.forward.queue("user 1")?;
        unreachable!("the second is refused");
    });
    let scenario = over("twice", json!({"kind": "ideal"}));
    let error = build(&scenario, &components, &Arc::default(), 1, 0).err().expect("an error");
    assert_eq!(error.to_string(), "bottleneck.queue = bottleneck/user 1: made twice by its link");
}

/// A plug-in link receives the user of each flow.
#[test]
fn a_link_receives_the_user_of_each_flow() {
    let (mut components, _) = counted();
    let received = Arc::new(Mutex::new(None));
    let shared = Arc::clone(&received);
    components.links.register("user-map", move |_, setup| {
        *shared.lock().expect("one thread") = Some(setup.extra.users.clone());
        Ok(Box::new(airpath_link::AnyLink::build(&fixed(1_000_000), setup)?))
    });
    let of = |user: Value| flow(datagrams("cbr", 120_000), json!({"user": user}));
    let flows = vec![of(json!(5)), of(json!(null)), of(json!(5)), of(json!(0))];
    let scenario = scenario(1, flows, json!({"kind": "user-map"}), droptail(10), json!({}));
    run_with(&scenario, &components, &Arc::default(), 1);
    let users = received.lock().expect("one thread").take().expect("a link was made");
    let found: Vec<u32> = (0..4).map(|flow| users.of(airpath_core::FlowId(flow)).0).collect();
    assert_eq!((found, users.count()), (vec![5, 1, 5, 0], 6));
}
