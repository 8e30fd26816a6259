//! Tests of an adaptive link with a varying SNR: selected MCS and losses, compared with the
//! distribution of the SNR.

use crate::adaptive::{Hand, build, files};
use airpath_conformance::Law;
use airpath_core::Bytes;
use airpath_link::AdaptiveConfig;
use airpath_phy::adaptation::PolicyRegistry;
use airpath_phy::snr::AnySnr;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

/// An adaptive link with TAGLA and the SNR process `snr`, modified by `changes`.
fn link(snr: Value, changes: Value) -> Value {
    let mut description = json!({"kind": "adaptive", "table": "t", "snr": snr,
                                 "policy": {"kind": "tagla", "th_per": 0.05}});
    for (key, value) in changes.as_object().expect("a table") {
        description[key] = value.clone();
    }
    description
}

/// Returns the MCS selected at a constant SNR, and its error rate for packets of `bytes`.
fn at(snr_db: f64, bytes: u64) -> (String, f64) {
    let mut description = link(json!(snr_db), json!({}));
    description.as_object_mut().expect("a table").remove("kind");
    let config: AdaptiveConfig = serde_json::from_value(description).expect("a description");
    let adapted = config.regimes(&files(), &PolicyRegistry::default(), Bytes(bytes));
    let regime = adapted.expect("valid regimes").regimes.remove(0);
    (regime.mcs, regime.per)
}

const EXPONENTIAL: Law = Law {
    area: "Radio channel",
    source: "An adaptive link in Rayleigh fading: time in each MCS and losses, of an exponential SNR",
    allows: "five standard deviations of 40 000 packets, and 1 % of the time for 64 waves",
};

/// Packets start at the starts of the estimate intervals, so that the estimate equals the true SNR.
#[test]
fn time_in_each_mcs_is_that_of_an_exponential_snr() {
    const PACKETS: u64 = 40_000;
    let mean_db = 14.0;
    let snr = json!({"kind": "rayleigh", "mean_db": mean_db, "doppler_hz": 1037.0});
    let mut hand = Hand::new(&link(snr, json!({})));
    for number in 0..PACKETS {
        hand.arrive(number * 5 * MS, 100);
    }
    let end = PACKETS * 5 * MS;
    hand.until(end);
    let below = |snr_db: f64| -f64::exp_m1(-10f64.powf((snr_db - mean_db) / 10.0));
    let (mut shares, mut lost, step) = (BTreeMap::<String, f64>::new(), 0.0, 0.05);
    for place in 0..1400 {
        let low = -40.0 + step * f64::from(place);
        let weight = below(low + step) - below(low);
        let (mcs, _) = at(low + step / 2.0, 1500);
        let (_, per) = at(low + step / 2.0, 100);
        *shares.entry(mcs).or_default() += weight;
        lost += weight * per;
    }
    let counters = hand.counters(end);
    assert_eq!(shares.len(), 7, "mcs3 never is better than mcs4");
    let close = |what: &str, found: f64, expected: f64| {
        let deviation = (expected * (1.0 - expected) / PACKETS as f64).sqrt();
        EXPONENTIAL.close(what, "", found / PACKETS as f64, expected, 5.0 * deviation + 0.01);
    };
    for (mcs, share) in &shares {
        close(&format!("time in {mcs}"), counters[&format!("{mcs}_packets")], *share);
    }
    close("packets lost", hand.report(end).link.lost_packets as f64, lost);
    // The shares are those of a varying SNR, not of a constant mean SNR.
    assert!(shares.values().all(|share| *share < 0.5), "{shares:?}");
}

/// Passes 1500 bytes to the link every 5 ms for 20 s.
fn loaded(description: &Value) -> Hand {
    let mut hand = Hand::new(description);
    for number in 0..4000 {
        hand.arrive(number * 5 * MS, 1500);
    }
    hand.until(20_000 * MS);
    hand
}

/// If the SNR is 6 dB for half of the time and 18 dB for the other half, the result is the mean of
/// two links with constant SNRs.
#[test]
fn two_level_snr_is_mixture_of_two_constant_snrs() {
    let end = 20_000 * MS;
    let mixed = loaded(&link(json!({"kind": "trace", "trace": "two"}), json!({})));
    let constant = [6.0, 18.0].map(|snr_db| loaded(&link(json!(snr_db), json!({}))));
    let utilisation: f64 = constant.iter().map(|hand| hand.report(end).link.utilisation).sum();
    let found = mixed.report(end).link;
    assert!((found.utilisation - utilisation / 2.0).abs() < 1e-9, "{}", found.utilisation);
    let (mut expected, mut variance) = (0.0, 0.0);
    for snr_db in [6.0, 18.0] {
        let (mcs, per) = at(snr_db, 1500);
        assert_eq!(mixed.counters(end)[&format!("{mcs}_packets")], 2000.0, "{mcs}");
        expected += 2000.0 * per;
        variance += 2000.0 * per * (1.0 - per);
    }
    let lost = found.lost_packets as f64;
    assert!((lost - expected).abs() < 5.0 * variance.sqrt(), "{lost} lost, of {expected}");
}

/// An estimate is the SNR at the start of its interval; the loss of a packet depends on the SNR at
/// the start of the packet.
#[test]
fn mcs_follows_the_old_estimate_and_loss_the_current_snr() {
    let end = 20_000 * MS;
    let old = json!({"estimate_interval_ns": 2000 * MS});
    let hand = loaded(&link(json!({"kind": "trace", "trace": "two"}), old));
    let (slow, per) = at(6.0, 1500);
    assert_eq!(hand.counters(end)[&format!("{slow}_packets")], 4000.0, "{slow} all the time");
    // At 18 dB almost no packet is lost, so the losses belong to the first of two seconds.
    let lost = hand.report(end).link.lost_packets as f64;
    assert!((lost - 2000.0 * per).abs() < 5.0 * (2000.0 * per).sqrt() + 1.0, "{lost} at {per}");
    // The estimate is too high: the MCS is selected for 18 dB, the SNR is 6 dB, and all packets are
    // lost.
    let late = json!({"snr_bias_db": 12.0});
    let biased = loaded(&link(json!(6.0), late));
    assert!(biased.report(end).link.lost_packets > 3900);
}

#[test]
fn number_and_constant_process_are_equivalent() {
    let number = loaded(&link(json!(12.5), json!({"snr_noise_db": 2.0})));
    let constant = json!({"kind": "constant", "mean_db": 12.5});
    let process = loaded(&link(constant, json!({"snr_noise_db": 2.0})));
    assert_eq!(number.report(20_000 * MS), process.report(20_000 * MS));
}

#[test]
fn error_messages_name_key_of_snr() {
    let droptail = json!({"kind": "droptail", "limit": {"packets": 10}});
    let error = |snr: Value| {
        build(&link(snr, json!({})), &droptail, PolicyRegistry::default()).err().expect("refused")
    };
    let built_in: Vec<&str> = AnySnr::BUILT_IN.iter().map(|(name, _)| *name).collect();
    let unknown = format!("snr.kind = rain: unknown. Accepted: {}", built_in.join(", "));
    assert_eq!(error(json!({"kind": "rain"})), unknown);
    assert_eq!(error(json!(300)), "snr.mean_db = 300: above 200. Accepted: -200 to 200");
    assert_eq!(
        error(json!({"kind": "trace", "trace": "x"})),
        "snr.trace = x: not among the SNR traces given"
    );
    assert_eq!(error(json!("20 dB")), "snr = \"20 dB\": not a table. Set kind = \"…\"");
}

#[test]
fn varying_snr_has_no_regimes() {
    let mut description =
        link(json!({"kind": "rayleigh", "mean_db": 9, "doppler_hz": 1}), json!({}));
    description.as_object_mut().expect("a table").remove("kind");
    let config: AdaptiveConfig = serde_json::from_value(description).expect("a description");
    let error = config.regimes(&files(), &PolicyRegistry::default(), Bytes(1500));
    assert_eq!(
        error.expect_err("refused").to_string(),
        "snr.kind = rayleigh: the SNR varies. Use an SNR of kind constant for constant regimes"
    );
}
