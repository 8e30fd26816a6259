//! Tests of REM's price and VCP's load factor with sources of known rate, over links with and
//! without overhead. Also tests that their timers cause no events while no packets arrive.

use crate::common::*;
use airpath_conformance::Law;
use airpath_core::Series;
use airpath_path::{Components, ReplicationReport};
use serde_json::{Value, json};
use std::sync::Arc;

const LOAD: Law = Law {
    area: "VCP queue",
    source: "vcp-2005 §3.2: ρ of a constant rate is its share of γ C, overhead in both",
    allows: "a packet at each end of an interval; none in their mean",
};
const PRICE: Law = Law {
    area: "REM",
    source: "Athuraliya et al. 2001: the price of a constant rate above capacity rises in a line",
    allows: "a packet of backlog, a hundredth of the time until the queue is full",
};

fn rem() -> Value {
    json!({"kind": "rem", "limit": {"packets": 100}, "target": 20, "gamma": 0.001, "alpha": 0.1,
        "phi": 1.001, "update_ns": 2 * MS, "mean_packet_bytes": 1040, "mode": "bytes",
        "ecn": true})
}

fn vcp(capacity: Value) -> Value {
    json!({"kind": "vcp", "limit": 100, "target": 0.98, "interval_ns": 200 * MS,
        "queue_weight": 0.5, "sampling_ns": 10 * MS, "low": 0.8, "average": "ewma",
        "capacity": capacity})
}

fn value(report: &ReplicationReport, name: &str) -> f64 {
    let measured = &report.queues[0].measured;
    measured.iter().find(|(key, _)| **key == name).and_then(|(_, value)| *value).expect(name)
}

#[test]
fn load_factor_is_the_used_share_of_the_target_capacity() {
    for (overhead, capacity, share) in [
        (0, json!("link"), 4.0 / 9.8),
        (100, json!("link"), 4.0 * 16.0 / 15.0 / 9.8),
        (0, json!({"fixed": 5_000_000}), 4.0 / 4.9),
        (0, json!("measured"), 4.0 / 9.8),
        (100, json!("measured"), 4.0 * 16.0 / 15.0 / 9.8),
    ] {
        let mut link = fixed(10_000_000);
        link["framing"] = json!(overhead);
        let source = flow(datagrams("cbr", 4_000_000), json!({}));
        let what = format!("{overhead} B of overhead, capacity {capacity}");
        let change = json!({"warmup_ns": 10 * SECOND});
        let report = run(&scenario(70, vec![source], link, vcp(capacity), change), 1);
        let found = value(&report, "vcp_load_factor");
        LOAD.close_relative(format!("mean ρ, {what}"), "", found, share, 1e-3);
        let packet = 1.0 / (4e6 * 0.2 / 12_000.0);
        let deviation = value(&report, "vcp_load_deviation");
        LOAD.between(format!("its deviation, {what}"), "", deviation, 0.0, packet * share);
    }
}

/// Datagrams of 15 Mbit/s that cannot be marked, over 10 Mbit/s: when 100 packets wait, an update
/// adds γ (x - c + α (b - b*)).
#[test]
fn price_of_an_overload_rises_linearly() {
    let source = flow(datagrams("cbr", 15_000_000), json!({}));
    let record = json!({"record": {"series": ["price"]}});
    let scenario = scenario(60, vec![source], fixed(10_000_000), rem(), record);
    let recorder = run_with(&scenario, &Components::default(), &Arc::default(), 1).into_recorder();
    let prices = recorder.samples(Series::Price);
    let at = |second: u64| {
        let number = prices.partition_point(|sample| sample.time.as_nanos() < second * SECOND);
        prices[number].value
    };
    let excess = 5e6 * 0.002 / 8.0 / 1040.0;
    let backlog = 99.5 * 1500.0 / 1040.0;
    let slope = 500.0 * 0.001 * (excess + 0.1 * (backlog - 20.0));
    PRICE.close_relative("rise of p", "1/s", (at(50) - at(10)) / 40.0, slope, 0.01);
}

/// Two transfers with an hour between them cause the same number of events as with a drop-tail
/// queue.
#[test]
fn an_hour_without_packets_causes_no_events() {
    let events = |queue: &Value| {
        let mut source = tcp(json!({}));
        source["transfer_bytes"] = json!(100_000);
        let late = json!({"start": {"kind": "at", "time_ns": 3600 * SECOND}});
        let flows = vec![flow(source.clone(), json!({})), flow(source, late)];
        let report = run(&scenario(3610, flows, fixed(10_000_000), queue.clone(), json!({})), 1);
        assert!(report.flows.iter().all(|flow| flow.completed_at_s.is_some()));
        report.events
    };
    let expected = events(&droptail(100));
    let around = json!({"kind": "ack-priority", "aqm": vcp(json!("link"))});
    for queue in [rem(), vcp(json!("link")), vcp(json!("measured")), around] {
        assert_eq!(events(&queue), expected, "{queue}");
    }
}
