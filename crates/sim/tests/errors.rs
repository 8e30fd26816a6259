//! Tests of error processes in complete networks: losses and bursts follow the models.

use crate::common::*;
use airpath_conformance::Law;
use airpath_core::Series;
use airpath_path::Components;
use serde_json::{Value, json};
use std::sync::Arc;

const BURSTS: Law = Law {
    area: "Radio channel",
    source: "Chockalingam and Zorzi 1999: datagrams, one per slot, over a fixed link (ε = 0.1, f_d T = 0.01)",
    allows: "five standard deviations of 10⁶ slots",
};

/// P(good | bad) and P(bad | good) at ε = 0.1, f_d T = 0.01.
const TO_GOOD: f64 = 0.073149;
const TO_BAD: f64 = 0.008128;

/// Returns a link on which a datagram of 1500 bytes takes a slot of 10 ms, with the changes
/// `change`.
fn slotted(change: Value) -> Value {
    let mut link = fixed(1_200_000);
    merge(&mut link, change);
    link
}

fn burst() -> Value {
    json!({"errors": {"kind": "burst", "frame_error_rate": 0.1, "doppler": 0.01}})
}

/// Returns the lengths of all runs of `wanted` except the last run, which may be incomplete.
fn runs(fates: &[bool], wanted: bool) -> Vec<f64> {
    let mut runs: Vec<f64> = fates
        .chunk_by(|a, b| a == b)
        .filter(|run| run[0] == wanted)
        .map(|run| run.len() as f64)
        .collect();
    runs.pop();
    runs
}

#[test]
fn loss_runs_have_the_lengths_of_the_markov_chain() {
    const SLOTS: usize = 1_000_000;
    let source = flow(datagrams("cbr", 1_200_000), json!({}));
    let record = json!({"record": {"series": ["drop"]}});
    let seconds = SLOTS as u64 / 100;
    let scenario = scenario(seconds, vec![source], slotted(burst()), droptail(10), record);
    let driver = run_with(&scenario, &Components::default(), &Arc::default(), 1);
    let lost_packets = driver.report(0).links[0].lost_packets;
    // The datagram of slot n is lost at the end of the slot.
    let mut fates = vec![false; SLOTS];
    for drop in driver.into_recorder().samples(Series::Drop) {
        assert_eq!(drop.value, 2.0, "nothing but the radio drops");
        assert!(drop.time.as_nanos().is_multiple_of(10 * MS));
        fates[(drop.time.as_nanos() / (10 * MS)) as usize - 1] = true;
    }
    let lost = fates.iter().filter(|lost| **lost).count() as f64;
    assert_eq!(lost, lost_packets as f64);
    let lambda = 1.0 - TO_BAD - TO_GOOD;
    let sigma = (0.09 / SLOTS as f64 * (1.0 + lambda) / (1.0 - lambda)).sqrt();
    BURSTS.close("share of datagrams lost", "", lost / SLOTS as f64, 0.1, 5.0 * sigma);
    for (what, wanted, leaving) in [("lost", true, TO_GOOD), ("delivered", false, TO_BAD)] {
        let runs = runs(&fates, wanted);
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        let bound = 5.0 * (1.0f64 - leaving).sqrt() / leaving / (runs.len() as f64).sqrt();
        BURSTS.close(format!("mean run {what}"), "datagrams", mean, 1.0 / leaving, bound);
        let long = runs.iter().filter(|run| **run >= 20.0).count() as f64 / runs.len() as f64;
        let expected = (1.0 - leaving).powi(19);
        let bound = 5.0 * (expected * (1.0 - expected) / runs.len() as f64).sqrt();
        BURSTS.close(format!("P(run {what} ≥ 20)"), "", long, expected, bound);
    }
}

/// Each direction of a link has its own error process.
#[test]
fn the_directions_of_a_link_fade_independently() {
    let source = flow(tcp(json!({})), json!({}));
    let reverse = json!({"ack_path": {"kind": "reverse", "queue": droptail(100)}});
    let scenario = scenario(60, vec![source], slotted(burst()), droptail(20), reverse);
    let links = run(&scenario, 1).links;
    assert_eq!(links.len(), 2);
    let lost: Vec<u64> = links.iter().map(|link| link.lost_packets).collect();
    assert!(lost[0] > 0 && lost[1] > 0 && lost[0] != lost[1], "{lost:?}");
}

/// An error process that corrupts no frame does not change any result.
#[test]
fn error_process_that_corrupts_nothing_changes_nothing() {
    let report = |change| {
        let flows =
            vec![flow(tcp(json!({})), json!({})), flow(datagrams("poisson", 300_000), json!({}))];
        let scenario = scenario(30, flows, slotted(change), droptail(20), json!({}));
        serde_json::to_value(run(&scenario, 1)).expect("numbers and texts")
    };
    let without = report(json!({"loss": 0.01}));
    for errors in [
        json!({"kind": "independent", "loss": 0}),
        json!({"kind": "burst", "frame_error_rate": 0, "doppler": 0.01}),
    ] {
        assert_eq!(report(json!({"loss": 0.01, "errors": errors})), without, "{errors}");
    }
    assert_ne!(
        report(json!({"loss": 0.01, "errors": {"kind": "independent", "loss": 0.5}})),
        without
    );
}
