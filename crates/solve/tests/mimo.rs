//! Tests of the MIMO model: failure probabilities of packets, and the scenario for the fixed point.

use crate::common::{changed, fields_and_values, refused_by};
use airpath_conformance::Law;
use airpath_link::Files;
use airpath_path::Scenario;
use airpath_solve::mimo::{MimoDirection, MimoPacket, MimoPackets, Solution};
use airpath_solve::{Model, solve};
use serde_json::{Value, json};

const THRESHOLDS: Law = Law {
    area: "Forward error correction",
    source: "SNRs of the model mimo at failures of 0.5, 0.1 and 0.01 (vcp-rem §6)",
    allows: "0.02 dB",
};

/// Returns two Reno flows with packets of 1040 B over 10 Mbit/s of BPSK with 2×2 antennas at 10 dB,
/// in both directions.
fn radio(fec: Value, changes: &[(&str, Value)]) -> Scenario {
    let link = json!({
        "kind": "mimo", "rate_bps": 10_000_000, "modulation": "bpsk", "tx": 2, "rx": 2,
        "snr_db": 10.0, "bad_snr_offset_db": -10.0, "p_good_to_bad": 0.00125,
        "p_bad_to_good": 0.125, "fec": fec,
    });
    let queue = json!({"kind": "droptail", "limit": {"packets": 100}});
    let mut all = vec![
        ("/bottleneck/link", link),
        ("/ack_path", json!({"kind": "reverse", "queue": queue})),
        ("/flows/0/source/options/mss", json!(1000)),
        ("/flows/1/source/options/mss", json!(1000)),
    ];
    all.extend(changes.iter().cloned());
    changed(&all)
}

fn rs(code_rate: f64) -> Value {
    json!({"kind": "reed-solomon", "code_rate": code_rate, "symbol_bits": 8})
}

fn solved(scenario: &Scenario) -> Solution {
    let problem = MimoPackets::covers(scenario, &Files::default()).expect("covered");
    MimoPackets::solve(&problem).expect("it is solved")
}

fn packet<'a>(law: &'a MimoDirection, kind: &str) -> &'a MimoPacket {
    law.packets.iter().find(|packet| packet.kind == kind).expect("it is there")
}

#[test]
fn snr_thresholds_match_the_packet_sizes_of_the_paper() {
    for (fec, segment, ack, on_air) in [
        (json!(null), [13.58, 16.72, 19.93], [6.40, 10.62, 15.30], [1040, 40]),
        (rs(0.93), [5.10, 5.58, 6.01], [4.86, 7.47, 11.20], [1118, 43]),
        (rs(0.7), [1.89, 2.10, 2.28], [1.87, 2.98, 4.07], [1486, 57]),
    ] {
        let solution = solved(&radio(fec.clone(), &[]));
        let forward = &solution.directions["forward"];
        assert!((forward.error_good / 1.134e-4 - 1.0).abs() < 5e-4);
        assert!((forward.error_bad / 4.026e-2 - 1.0).abs() < 5e-4);
        assert_eq!(forward.capacity_bps, 1e7 * 1040.0 / f64::from(on_air[0]));
        assert_eq!(solution.directions["reverse"], *forward);
        for (kind, snrs, on_air) in [("segment", segment, on_air[0]), ("ack", ack, on_air[1])] {
            let law = packet(forward, kind);
            assert_eq!(law.on_air_bytes, u64::try_from(on_air).expect("positive"));
            for (failure, wanted) in ["0.5", "0.1", "0.01"].into_iter().zip(snrs) {
                let found = law.snr_db[failure].expect("there is one");
                THRESHOLDS.close(format!("{kind} at {failure}, {fec}"), "dB", found, wanted, 0.02);
            }
        }
    }
}

/// Compares the best code rate with all codes of up to 300 parity symbols.
#[test]
fn best_code_rate_is_the_maximum_over_all_codes() {
    for (bytes, kind) in [(1040u64, "segment"), (40, "ack")] {
        let solution = solved(&radio(rs(0.93), &[]));
        let law = packet(&solution.directions["forward"], kind);
        let best = (0..=300u64)
            .map(|parity| {
                let rate = bytes as f64 / (bytes + parity) as f64;
                let other = solved_failure(bytes, rate);
                rate * (1.0 - other)
            })
            .fold(0.0, f64::max);
        let found = law.best_efficiency;
        assert!((found / best - 1.0).abs() < 2e-3, "{kind}: {found} of {best}");
        let rate = law.best_code_rate.expect("something arrives");
        let at_rate = solved_failure(bytes, rate);
        let symbols = (bytes as f64 / rate).round();
        assert!((bytes as f64 / symbols * (1.0 - at_rate) - found).abs() < 1e-12);
    }
}

fn solved_failure(bytes: u64, code_rate: f64) -> f64 {
    let config: airpath_link::MimoConfig = serde_json::from_value(json!({
        "rate_bps": 1, "modulation": "bpsk", "tx": 2, "rx": 2, "snr_db": 10.0,
        "bad_snr_offset_db": -10.0, "p_good_to_bad": 0.00125, "p_bad_to_good": 0.125,
        "fec": rs(code_rate),
    }))
    .expect("a description");
    config.channel().expect("accepted").failure(airpath_core::Bytes(bytes))
}

/// The TCP result equals the fixed point over a fixed link of rate r·C with the same loss and
/// without ACK loss.
#[test]
fn reno_throughput_is_the_fixed_point_at_the_rate_after_coding() {
    let scenario = radio(rs(0.9), &[("/bottleneck/link/snr_db", json!(4.9))]);
    let found = solved(&scenario);
    let failure = packet(&found.directions["forward"], "segment").failure;
    assert!((0.01..0.1).contains(&failure), "{failure}");
    let plain =
        |rate_bps: u64, loss: f64| json!({"kind": "fixed", "rate_bps": rate_bps, "loss": loss});
    let queue = json!({"kind": "droptail", "limit": {"packets": 100}});
    let same = radio(
        json!(null),
        &[
            ("/bottleneck/link", plain(10_000_000 * 1040 / 1156, failure)),
            (
                "/ack_path",
                json!({"kind": "reverse", "queue": queue, "delay_ns": 10_000_000,
                       "link": plain(10_000_000 * 40 / 44, 0.0)}),
            ),
        ],
    );
    let fixed = solve(&same, &Files::default(), None).expect("a fixed point");
    assert_eq!(fixed["model"], "fixed-point");
    assert_eq!(fixed["throughput_bps"], json!(found.throughput_bps));
    assert_eq!(fixed["flows"], json!(found.flows));
    let warning = found.warnings.last().expect("ACKs are lost");
    assert!(warning.contains("% of the ACKs of 40 B are lost"), "{warning}");
}

/// Bursts of 80 bits end within a packet; bursts of 8000 bits are as long as a packet.
#[test]
fn correlated_losses_give_a_warning() {
    for (burst, is_expected) in [(80.0, false), (8000.0, true)] {
        let changes = [
            ("/bottleneck/link/p_good_to_bad", json!(0.01 / burst)),
            ("/bottleneck/link/p_bad_to_good", json!(1.0 / burst)),
        ];
        let found = solved(&radio(rs(0.93), &changes));
        let is_found =
            found.warnings.iter().any(|warning| warning.starts_with("after a lost packet"));
        assert_eq!(is_found, is_expected, "{burst}: {:?}", found.warnings);
    }
}

#[test]
fn reasons_of_the_fixed_point_are_reported() {
    let vcp = radio(rs(0.93), &[("/flows/0/source/congestion", json!({"kind": "cubic"}))]);
    let found = solved(&vcp);
    assert_eq!((found.throughput_bps, found.flows.len()), (None, 0));
    assert_eq!(
        found.no_throughput,
        ["flows.0.cc = cubic: model fixed-point does not cover it. Covered: reno"]
    );
    let both = radio(rs(0.93), &[("/flows/1/direction", json!("reverse"))]);
    assert!(solved(&both).no_throughput[0].starts_with("flows.1.direction = reverse: "));
}

#[test]
fn datagrams_have_failure_probabilities() {
    let source = json!({"kind": "cbr", "rate_bps": 1_000_000, "packet_bytes": 500});
    let found = solved(&radio(
        json!(null),
        &[
            ("/flows/0/source", source.clone()),
            ("/flows/1/source", source),
            ("/ack_path", json!({"kind": "ideal"})),
        ],
    ));
    assert_eq!(found.directions.len(), 1);
    let [law] = &found.directions["forward"].packets[..] else { panic!("one size") };
    assert_eq!((law.kind, law.bytes, law.on_air_bytes), ("segment", 500, 500));
}

#[test]
fn snrs_and_code_rates_may_be_none() {
    let found = solved(&radio(
        rs(0.9),
        &[
            ("/bottleneck/link/p_good_to_bad", json!(1.0)),
            ("/bottleneck/link/p_bad_to_good", json!(0.0)),
            ("/bottleneck/link/snr_db", json!(-50.0)),
        ],
    ));
    let law = packet(&found.directions["forward"], "segment");
    assert!((law.failure - 1.0).abs() < 1e-12);
    assert_eq!(law.best_code_rate, None);
    assert_eq!(law.best_efficiency, 0.0);
}

#[test]
fn reasons_name_the_uncovered_keys() {
    let reasons = |changes: &[(&str, Value)]| {
        let refused = MimoPackets::covers(&radio(json!(null), changes), &Files::default());
        fields_and_values(&refused.expect_err("it is refused"))
    };
    let controls = json!([{"at_ns": 1, "action": {"kind": "rate", "rate_bps": 1}}]);
    assert_eq!(reasons(&[("/controls", controls)]), ["control = changes of the rate"]);
    let errors = json!({"kind": "independent", "loss": 0.1});
    assert_eq!(
        reasons(&[("/bottleneck/link/errors", errors)]),
        ["bottleneck.link.errors.kind = independent"]
    );
    assert_eq!(reasons(&[("/bottleneck/link/tx", json!(3))])[0], "bottleneck.link.tx = 3");
    let other = json!({"kind": "fixed", "rate_bps": 1});
    assert_eq!(reasons(&[("/bottleneck/link", other)]), ["bottleneck.link.kind = fixed"]);
}

/// The reasons of the MIMO model are reported for MIMO links, and those of other models for other
/// links.
#[test]
fn reasons_come_from_the_model_of_the_link() {
    let controls = json!([{"at_ns": 1, "action": {"kind": "rate", "rate_bps": 1}}]);
    let of_radio = refused_by(&radio(json!(null), &[("/controls", controls)]));
    assert_eq!(of_radio.len(), 1, "{of_radio:?}");
    let of_fixed = refused_by(&changed(&[("/bottleneck/queue", json!({"kind": "pie"}))]));
    assert_eq!(
        of_fixed,
        ["bottleneck.aqm.kind = pie: no analytic model covers it. Covered: gred, droptail"]
    );
}
