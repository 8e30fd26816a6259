//! Tests of configurations of the adaptive link: rejected values, and plug-in policies.

use crate::adaptive::*;
use airpath_core::{Bytes, testing::TestHarness};
use airpath_link::{AdaptiveConfig, FramingConfig};
use airpath_phy::adaptation::{Candidate, Policy, PolicyRegistry};
use serde_json::{Value, json};

#[test]
fn check_rejects_invalid_values() {
    let droptail = json!({"kind": "droptail", "limit": {"packets": 10}});
    let refused = |description: Value| {
        let built = build(&description, &droptail, PolicyRegistry::default());
        built.err().unwrap_or_else(|| panic!("{description} is accepted"))
    };
    let good = json!({"kind": "tagla", "th_per": 0.05});
    let with = |changes: Value| refused(adaptive(20.0, good.clone(), changes));
    assert_eq!(with(json!({"table": "u"})), "table = u: not given. Given: t");
    assert_eq!(
        with(json!({"snr_noise_db": -1.0})),
        "snr_noise_db = -1: below 0. Accepted: 0 to 200"
    );
    assert_eq!(
        with(json!({"estimate_interval_ns": 0})),
        "estimate_interval_ns = 0: below 1. Accepted: at least 1"
    );
    assert_eq!(with(json!({"packet_bytes": 0})), "packet_bytes = 0: below 1. Accepted: 1 to 65535");
    assert_eq!(
        with(json!({"framing": 65_536})),
        "framing.overhead_bytes = 65536: above 65535. Accepted: 0 to 65535"
    );
    assert_eq!(
        with(json!({"framing": {"block_bytes": 48}})),
        "framing.block_bytes = 48: the table contains this value for each MCS. Remove it"
    );
    assert_eq!(
        with(json!({"policy": {"kind": "tagla", "th_per": 2}})),
        "policy.th_per = 2: above 1. Accepted: more than 0, at most 1"
    );
}

#[test]
fn regimes_require_constant_choices() {
    let config = |noise_db: f64| AdaptiveConfig {
        table: "t".into(),
        snr: json!(20.0),
        policy: json!({"kind": "qawla", "th_per": 0.1, "h": 20, "threshold": 8}),
        snr_bias_db: 0.0,
        snr_noise_db: noise_db,
        estimate_interval_ns: 5 * MS,
        packet_bytes: 1500,
        framing: FramingConfig::default(),
        errors: None,
        harq: None,
        arq: None,
        in_order: false,
    };
    let policies = PolicyRegistry::default();
    let adapted = config(0.0).regimes(&files(), &policies, Bytes(1500)).expect("valid regimes");
    assert_eq!(adapted.thresholds, [8]);
    let found: Vec<(&str, f64)> =
        adapted.regimes.iter().map(|regime| (regime.mcs.as_str(), regime.rate_bps)).collect();
    assert_eq!(found, [("mcs5", 21e6), ("mcs6", 24e6)]);
    let error =
        config(0.5).regimes(&files(), &policies, Bytes(1500)).expect_err("the estimate has noise");
    assert_eq!(
        error.to_string(),
        "snr_noise_db = 0.5: the estimate of the SNR varies. Use 0 for constant regimes"
    );
    let constant = AdaptiveConfig { policy: fixed(2), ..config(0.5) };
    let adapted = constant.regimes(&files(), &policies, Bytes(1500)).expect("valid regimes");
    assert_eq!(adapted.regimes[0].mcs, "mcs2");
}

/// Policy that selects the slowest MCS below 3 waiting packets, the second slowest from 3 packets,
/// and the third slowest from 6 packets.
struct Ladder;

impl Policy for Ladder {
    fn thresholds(&self) -> &[u64] {
        &[3, 6]
    }
    fn choose(&self, candidates: &[Candidate], regime: usize) -> usize {
        assert_eq!(candidates.len(), 8);
        regime
    }
}

#[test]
fn plug_in_policy_may_have_more_regimes() {
    let mut policies = PolicyRegistry::default();
    policies.register("ladder", |parameters, setup| {
        assert_eq!((parameters, setup.extra.len()), (&json!({"steps": 3}), 8));
        Ok(Box::new(Ladder))
    });
    let description = adaptive(40.0, json!({"kind": "ladder", "steps": 3}), json!({}));
    let droptail = json!({"kind": "droptail", "limit": {"packets": 100}});
    let link = build(&description, &droptail, policies).expect("a link");
    let mut hand = Hand { harness: TestHarness::default(), link, next: 0 };
    for _ in 0..10 {
        hand.arrive(0, 1500);
    }
    hand.until(1000 * MS);
    // No packet waits behind the first packet. Behind the other packets 8 to 6, 5 to 3, and 2 to 0
    // packets wait.
    assert_eq!(hand.report(1000 * MS).link.regime_packets, [4, 3, 3]);
}
