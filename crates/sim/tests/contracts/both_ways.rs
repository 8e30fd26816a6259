//! Tests of data in both directions: the data of one direction share a queue with the ACKs of the
//! other direction.

use crate::common::links::{link_files, links, tdd};
use crate::common::*;
use airpath_path::{Components, FlowReport, Scenario, build};
use airpath_tcp::{profile, profile_names};
use serde_json::{Value, json};

/// Returns a bulk flow with TCP profile `profile_name` and data in `direction`. Its wires have
/// different delays.
fn bulk(profile_name: &str, direction: &str) -> Value {
    let options = profile(profile_name, json!({"receive_window": 1_000_000})).expect("a profile");
    let source = json!({"kind": "tcp", "congestion": {"kind": "reno"}, "options": options});
    flow(
        source,
        json!({
            "direction": direction,
            "access": {"rate_bps": 1_000_000_000, "delay_ns": MS},
            "egress": {"delay_ns": 12 * MS}, "return_wire": {"delay_ns": 7 * MS},
        }),
    )
}

fn reported(scenario: &Scenario) -> Vec<FlowReport> {
    run_with(scenario, &Components::default(), &link_files(), 1).report(0).flows
}

/// Returns a bottleneck and an ACK path over `link`, in both directions.
fn both_ways_over(link: &Value) -> Value {
    json!({"ack_path": {"kind": "reverse", "link": null, "queue": droptail(30)},
           "bottleneck": {"link": link, "queue": droptail(30)}})
}

#[test]
fn bulk_flows_in_both_directions_conserve_packets_on_every_link() {
    for link in links() {
        let flows = ["forward", "reverse", "reverse", "forward"].map(|way| bulk("rfc", way));
        let change = both_ways_over(&link);
        let scenario = scenario(12, flows.to_vec(), json!({}), json!({}), change);
        let network =
            build(&scenario, &Components::default(), &link_files(), 1, 0).expect("a network");
        // This driver checks after each call that the stage neither lost nor created a packet.
        let mut driver = PlainDriver::new(network);
        let report = driver.run();
        let (entered, left) = driver.balance();
        assert_eq!(entered, left, "{link}");
        // Both drivers agree, and each direction carries data and the ACKs of the other.
        assert_eq!(report.flows, reported(&scenario), "{link}");
        for pair in [[0, 3], [1, 2]] {
            let bps: f64 = pair.map(|flow| report.flows[flow].goodput_bps).iter().sum();
            assert!((1.0e6..2.0e6).contains(&bps), "{link}: {bps} bit/s by {pair:?}");
        }
        for (way, [data, acked]) in
            [("bottleneck", [[0, 3], [1, 2]]), ("reverse", [[1, 2], [0, 3]])]
        {
            // A cell has one queue per user.
            let of_way = report.queues.iter().filter(|queue| queue.name.starts_with(way));
            let arrived: u64 = of_way.map(|queue| queue.arrived).sum();
            let sum = |flows: [usize; 2], count: fn(&FlowReport) -> u64| -> u64 {
                flows.iter().map(|flow| count(&report.flows[*flow])).sum()
            };
            let sent = sum(data, |flow| flow.sent_packets);
            // Every second packet is acknowledged, and every packet out of order.
            let acks = sum(acked, |flow| flow.delivered_packets) / 2;
            assert!(arrived >= sent + acks * 9 / 10, "{link}, {way}: {sent}, {acks}");
        }
    }
}

/// Runs bulk flows over a TDD link with bandwidth requests or proactive grants, with HARQ and
/// losses.
#[test]
fn bulk_flows_in_both_directions_conserve_packets_on_a_tdd_link() {
    let ahead = |kind| json!({"kind": kind, "size_bytes": 46, "fallback_ns": 100 * MS});
    let grants = [json!({"kind": "uni"}), ahead("blind-bi"), ahead("adapt-bi")];
    let harqs = [
        Value::Null,
        json!({"attempts": 3, "error": 0.3, "round_trip_ns": 30 * MS, "processes": null}),
    ];
    for (grant, harq) in grants.iter().flat_map(|grant| harqs.each_ref().map(|harq| (grant, harq)))
    {
        let mut link = tdd();
        (link["grant"], link["harq"]) = (grant.clone(), harq.clone());
        link["stations"] = json!(3);
        let flows = ["forward", "reverse", "reverse", "forward"].map(|way| bulk("rfc", way));
        let change = both_ways_over(&link);
        let scenario = scenario(12, flows.to_vec(), json!({}), json!({}), change);
        let network =
            build(&scenario, &Components::default(), &link_files(), 1, 0).expect("a network");
        let mut driver = PlainDriver::new(network);
        let report = driver.run();
        let (entered, left) = driver.balance();
        assert_eq!(entered, left, "{link}");
        assert_eq!(report.flows, reported(&scenario), "{link}");
        for flow in &report.flows {
            assert!(flow.goodput_bps > 5e4, "{link}: {} bit/s by {}", flow.goodput_bps, flow.id);
        }
    }
}

/// A reverse flow over a link in the ACK path gives the same results as a forward flow over this
/// link as the bottleneck.
#[test]
fn a_reverse_flow_equals_a_forward_flow_over_swapped_links() {
    for link in links().into_iter().filter(|link| link["kind"] != "rlc-am") {
        let other = json!({"kind": "fixed", "rate_bps": 300_000, "delay_ns": 4 * MS});
        // Data pass the backhaul before one link and after the other. If the backhaul has only a
        // delay, the results are equal, unless the link changes with time.
        let changes = link.get("trace").is_some() || link["kind"] == "cell";
        let backhaul =
            if changes { Value::Null } else { json!({"rate_bps": null, "delay_ns": 3 * MS}) };
        let flows = |way: &str| vec![bulk("rfc", way), bulk("linux", way)];
        let ack_path = |link: &Value, packets| {
            let mut path = hop(link.clone(), droptail(packets));
            path["kind"] = json!("link");
            path
        };
        let there = scenario(
            10,
            flows("forward"),
            link.clone(),
            droptail(20),
            json!({"ack_path": ack_path(&other, 9), "backhaul": backhaul}),
        );
        let back = scenario(
            10,
            flows("reverse"),
            other.clone(),
            droptail(9),
            json!({"ack_path": ack_path(&link, 20), "backhaul": backhaul}),
        );
        let (there, back) = (reported(&there), reported(&back));
        assert!(there.iter().all(|flow| flow.delivered_packets > 100), "{link}: {there:?}");
        assert_eq!(there, back, "{link}");
    }
}

/// ACKs wait behind the data of a fast flow, are dropped with these data, and arrive in bursts.
#[test]
fn fast_reverse_flow_starves_no_flow_under_any_profile() {
    let names = profile_names();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let flows = vec![bulk(&name, "forward"), bulk(&name, "reverse"), bulk(&name, "reverse")];
        let change = json!({"ack_path": {"kind": "reverse", "link": fixed(20_000_000), "queue": droptail(40)}});
        let both = scenario(60, flows, fixed(2_000_000), droptail(40), change.clone());
        let report = run(&both, 1);
        let alone = run(
            &scenario(60, vec![bulk(&name, "forward")], fixed(2_000_000), droptail(40), change),
            1,
        );
        let [forward, first, second] = &report.flows[..] else { panic!("three flows") };
        let uploads = first.goodput_bps + second.goodput_bps;
        assert!(uploads > 0.25 * 20e6, "{name}: {uploads} bit/s");
        let kept = forward.goodput_bps / alone.flows[0].goodput_bps;
        assert!((0.5..=1.0).contains(&kept), "{name}: {kept} of what the flow gets alone");
        let dropped: u64 = report.queues[1].drops.values().sum();
        assert!(dropped > 0, "{name}: the queue of data and ACKs was never full");
    }
}

#[test]
fn a_reverse_flow_over_an_ideal_ack_path_is_rejected() {
    let flows = [bulk("rfc", "forward"), bulk("rfc", "reverse")];
    let document = json!({
        "duration_ns": SECOND, "flows": flows, "ack_path": {"kind": "ideal"},
        "bottleneck": {"link": fixed(1_000_000), "queue": droptail(10)}});
    let refused = Scenario::from_json(&document.to_string()).expect_err("no link for data");
    assert_eq!(
        refused.to_string(),
        "flows.1.direction = reverse: an ideal ACK path has no link that data could take. Set \
         ack_path of kind \"link\" or \"reverse\""
    );
}
