//! Tests of long runs, large streams, small and large segments, stopped links, and waiting flows.

use crate::common::*;
use airpath_conformance::Law;
use airpath_link::{Files, Traces};
use airpath_path::{Components, ReplicationReport, Scenario};
use airpath_trace::Trace;
use serde_json::{Value, json};
use std::sync::Arc;

const DAY: u64 = 86_400;

const LONG: Law = Law {
    area: "TCP throughput",
    source: "Ten days of one flow: the bytes that the link, the application or the reader allow",
    allows: "nothing; the slow reader's buffer may lack three segments of 1000 B",
};
const LOSSY: Law = Law {
    area: "TCP throughput",
    source: "Ten days at a loss of 2 %: the share of the link that is used",
    allows: "0.98 is what losses leave; from 0.6 on for a timeout each at worst",
};

/// Returns the TCP parameters of each loss recovery variant and of profile `linux`.
fn variants() -> Vec<(&'static str, Value)> {
    let recovery = |name: &str| json!({"recovery": name});
    vec![
        ("reno", recovery("reno")),
        ("newreno", recovery("newreno")),
        ("sack", recovery("sack")),
        ("linux", linux()),
    ]
}

/// Returns parameters of profile `linux` with segments of 1000 bytes.
fn linux() -> Value {
    json!({
        "mss": 1000, "initial_window": 10_000, "receive_window": 3 << 20, "recovery": "prr",
        "window_growth": "segments", "delayed_ack_timeout_ns": 40 * MS, "min_rto_ns": 200 * MS,
        "max_rto_ns": 120 * SECOND, "max_backoff": 32_768, "timestamps": true, "sack_after_timeout": "keep",
        "window_scaling": "on", "idle_restart": "decay", "grow_unused": false,
        "rto_floor": "variance", "quick_acks": 16})
}

fn cubic(options: Value) -> Value {
    let mut source = tcp(options);
    source["congestion"] = json!({"kind": "cubic", "c": 0.4, "beta": 0.7});
    source
}

// --- ten days ---------------------------------------------------------------------------------

/// One segment per second for ten days with eight segments in flight: 864 000 segments, and 201
/// wrap-arounds of the timestamp clock.
#[test]
fn ten_days_of_one_flow_keep_a_slow_link_busy() {
    for (name, mut options) in variants() {
        let header = if name == "linux" { 1052 } else { 1040 };
        merge(&mut options, json!({"mss": 1000, "receive_window": 8000}));
        let flows = vec![flow(tcp(options), json!({}))];
        let change = json!({"warmup_ns": 1000 * SECOND});
        let report = run(&scenario(10 * DAY, flows, fixed(8 * header), droptail(10), change), 1);
        let flow = &report.flows[0];
        let (found, expected) = (flow.delivered_bytes, 1000 * (10 * DAY - 1000));
        LONG.equal(format!("a slow link, {name}"), "B", found as f64, expected as f64);
        assert_eq!((flow.timeouts, flow.retransmissions), (Some(0), Some(0)), "{name}");
        let rtt = flow.mean_rtt_s.expect("samples");
        assert!((7.0..8.1).contains(&rtt), "{name}: {rtt}");
    }
}

/// Runs the flow of the previous test with a loss of 2 %. The sender recovers from about 17 000
/// losses.
#[test]
fn sender_recovers_from_ten_days_of_losses() {
    for (name, mut options) in variants() {
        merge(&mut options, json!({"mss": 1000, "receive_window": 16_000}));
        let link = json!({"kind": "fixed", "rate_bps": 8320, "loss": 0.02});
        let flows = vec![flow(tcp(options), json!({}))];
        let report = run(&scenario(10 * DAY, flows, link, droptail(20), json!({})), 1);
        let (flow, link) = (&report.flows[0], &report.links[0]);
        assert!(link.lost_packets > 10_000, "{name}: {}", link.lost_packets);
        assert!(flow.retransmissions.unwrap() >= link.lost_packets * 99 / 100, "{name}: {flow:?}");
        // A window of 8 segments keeps the link busy. In the worst case each loss causes a timeout.
        let share = flow.delivered_bytes as f64 / (1000 * 10 * DAY) as f64;
        LOSSY.between(name, "", share, 0.6, 0.981);
    }
}

/// Bursts of 20 segments every 83 minutes. The interval is longer than a wrap-around of the
/// timestamp clock (71.6 minutes), and longer than half of it, after which echoed timestamps are no
/// longer valid.
#[test]
fn ten_days_of_bursts_survive_timestamp_wrap_around() {
    for (name, cc) in [("reno", tcp(linux())), ("cubic", cubic(linux()))] {
        let mut source = cc;
        source["application"] = json!({
            "on": {"size": {"kind": "fixed", "bytes": 20_000}},
            "off": {"kind": "fixed", "time_ns": 5000 * SECOND}});
        let flows = vec![flow(source, json!({}))];
        let report = run(&scenario(10 * DAY, flows, fixed(8_000_000), droptail(50), json!({})), 1);
        let flow = &report.flows[0];
        let (found, expected) = (flow.delivered_bytes, 20_000 * (10 * DAY).div_ceil(5000));
        LONG.equal(format!("bursts, {name}"), "B", found as f64, expected as f64);
        assert_eq!((flow.timeouts, flow.retransmissions), (Some(0), Some(0)), "{name}");
        let rtt = flow.mean_rtt_s.expect("samples");
        assert!((0.02..0.07).contains(&rtt), "{name}: {rtt}");
    }
}

/// The receiving application reads one byte per second: ten days of window probes, window updates
/// and zero windows.
#[test]
fn ten_days_with_a_reader_of_one_byte_per_second() {
    let mut source = tcp(json!({"mss": 1000, "receive_window": 10_000}));
    source["window"] = json!({"kind": "drain", "rate_bps": 8});
    let flows = vec![flow(source, json!({}))];
    let report = run(&scenario(10 * DAY, flows, fixed(1_000_000), droptail(50), json!({})), 1);
    let flow = &report.flows[0];
    // Bytes read, plus the bytes in the receive buffer, which may have space for one more segment.
    let most = 10 * DAY + 10_000;
    let (found, least) = (flow.delivered_bytes as f64, (most - 3000) as f64);
    LONG.between("a reader of a byte per second", "B", found, least, most as f64);
    assert_eq!((flow.timeouts, flow.retransmissions), (Some(0), Some(0)));
}

// --- large streams, small and large segments --------------------------------------------------

/// A transfer of more than 2³² bytes, in segments that fill the largest IP packet.
#[test]
fn stream_continues_beyond_four_gibibytes() {
    for (name, change) in variants() {
        let mut options = change;
        merge(&mut options, json!({"mss": 65_400, "receive_window": 2_000_000}));
        merge(&mut options, json!({"initial_window": 654_000}));
        let mut source = tcp(options);
        let bytes = (1u64 << 32) + 123_456_789;
        source["transfer_bytes"] = json!(bytes);
        let link = json!({"kind": "fixed", "rate_bps": 10_000_000_000u64, "loss": 1e-4});
        let flows = vec![flow(
            source,
            json!({"return_wire": {"delay_ns": MS},
            "egress": {"delay_ns": MS}}),
        )];
        let report = run(&scenario(600, flows, link, droptail(100), json!({})), 1);
        let flow = &report.flows[0];
        assert_eq!(flow.delivered_bytes, bytes, "{name}");
        assert!(
            flow.completed_at_s.is_some() && flow.retransmissions.unwrap() > 0,
            "{name}: {flow:?}"
        );
    }
}

#[test]
fn segments_of_one_byte_and_of_an_ip_packet_arrive() {
    for (name, change) in variants() {
        for (mss, bytes) in [(1u64, 20_000u64), (65_483, 20_000_000)] {
            let mut options = change.clone();
            merge(
                &mut options,
                json!({"mss": mss, "initial_window": 3 * mss,
                "receive_window": (100 * mss).max(2000)}),
            );
            let mut source = tcp(options);
            source["transfer_bytes"] = json!(bytes);
            let link = json!({"kind": "fixed", "rate_bps": 100_000_000, "loss": 0.002});
            let flows = vec![flow(source, json!({}))];
            let report = run(&scenario(2000, flows, link, droptail(50), json!({})), 1);
            let flow = &report.flows[0];
            assert_eq!(flow.delivered_bytes, bytes, "{name} {mss}");
            assert!(flow.completed_at_s.is_some(), "{name} {mss}");
        }
    }
}

// --- links that stop --------------------------------------------------------------------------

fn stopped(change: Value, from_s: u64, to_s: u64, seconds: u64) -> Scenario {
    let controls = json!([
        {"at_ns": from_s * SECOND, "action": {"kind": "rate", "rate_bps": 0}},
        {"at_ns": to_s * SECOND, "action": {"kind": "rate", "rate_bps": 1_000_000}}]);
    let flows = vec![flow(tcp(change), json!({}))];
    scenario(seconds, flows, fixed(1_000_000), droptail(30), json!({"controls": controls}))
}

/// The retransmission timer backs off while the link is stopped. When the link resumes, the queued
/// packets cause ACKs immediately. A retransmitted segment that is lost again waits for the timer,
/// which keeps its back-off (Karn's algorithm). Then the link is fully used again.
#[test]
fn flow_resumes_after_a_link_stop_of_ten_minutes() {
    for (name, options) in variants() {
        let until = |end| run(&stopped(options.clone(), 20, 620, end), 1);
        let timeouts = until(620).flows[0].timeouts.unwrap();
        // Timeouts after 1 + 2 + … + 32 = 63 s, then every minute. Linux: after 0.2 + 0.4 + … s, up
        // to 120 s.
        let expected = if name == "linux" { 10..=14 } else { 13..=16 };
        assert!(expected.contains(&timeouts), "{name}: {timeouts} timeouts");
        let gained = until(800).flows[0].delivered_bytes - until(760).flows[0].delivered_bytes;
        assert!(gained > 40 * 125_000 * 90 / 100, "{name}: {gained} bytes in 40 s");
    }
}

/// The link stops and all packets in flight are lost: the flow resumes within its maximum RTO.
#[test]
fn flow_resumes_within_the_maximum_rto_after_loss_of_its_flight() {
    for (name, mut options) in variants() {
        merge(&mut options, json!({"max_rto_ns": 30 * SECOND}));
        // A queue of one packet drops arrivals while the link is stopped.
        let mut scenario = stopped(options, 20, 620, 720);
        scenario.hops[0].down.as_mut().expect("a bottleneck").queue = droptail(1);
        let report = run(&scenario, 1);
        let link = &report.links[0];
        // The link is busy for 20 s and for at least 60 of the last 100 s, not counting the start.
        assert!(link.delivered_bytes > 125_000 * 40, "{name}: {}", link.delivered_bytes);
    }
}

/// A rate trace with a gap of three minutes in each five minutes. In the worst case the flow
/// resumes one maximum RTO after the gap, which is half of the two minutes until the next gap.
#[test]
fn flow_survives_gaps_of_minutes_in_a_trace() {
    let rates = "time_s,rate_bps\n0,2e6\n120,0\n300,0\n";
    let gaps = Trace::parse_csv("gaps", rates).expect("a trace");
    let traces = Traces::from([("gaps".to_owned(), Arc::new(gaps))]);
    let files = Arc::new(Files::from(traces));
    for (name, mut options) in variants() {
        merge(&mut options, json!({"max_rto_ns": 60 * SECOND}));
        let flows = vec![flow(tcp(options), json!({}))];
        let link = json!({"kind": "rate-trace", "trace": "gaps"});
        let scenario = scenario(3000, flows, link, droptail(30), json!({}));
        let report = run_with(&scenario, &Components::default(), &files, 1).report(0);
        let goodput = report.flows[0].goodput_bps;
        assert!((0.38e6..0.8e6).contains(&goodput), "{name}: {goodput}");
        assert!(
            report.flows[0].timeouts.unwrap() >= 10 * 6,
            "{name}: {}",
            report.flows[0].timeouts.unwrap()
        );
    }
}

// --- flows that wait --------------------------------------------------------------------------

/// Runs one bulk flow, and `count` transfers of one segment that start every 100 ms from `start_s`
/// on.
fn reference_and_competing(count: usize, start_s: u64, seconds: u64) -> ReplicationReport {
    let mut flows = vec![flow(tcp(json!({})), json!({}))];
    let mut small = tcp(json!({}));
    small["transfer_bytes"] = json!(1000);
    for number in 0..count as u64 {
        let start = start_s * SECOND + number * 100 * MS;
        flows.push(flow(small.clone(), json!({"start": {"kind": "at", "time_ns": start}})));
    }
    run(&scenario(seconds, flows, fixed(2_000_000), droptail(50), json!({})), 1)
}

#[test]
fn flows_that_have_not_started_cost_no_events() {
    let (alone, competing) =
        (reference_and_competing(0, 0, 60), reference_and_competing(1000, 100, 60));
    assert_eq!(alone.flows[0], competing.flows[0]);
    assert_eq!(alone.events, competing.events);
}

/// All transfers are complete at 90 s.
#[test]
fn completed_flows_cost_no_events() {
    let events = |count| {
        reference_and_competing(count, 1, 180).events as f64
            - reference_and_competing(count, 1, 90).events as f64
    };
    let done = reference_and_competing(200, 1, 90);
    assert!(done.flows[1..].iter().all(|flow| flow.completed_at_s.is_some()));
    let ratio = events(200) / events(0);
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
}
