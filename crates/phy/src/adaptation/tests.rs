//! Tests of the policies against qawla-2015 §2 and §6, and of cases that the paper does not define.

use super::*;
use airpath_core::{Seed, Setup};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Efficiencies of qawla-2015 Table 1; those of mcs3 and mcs4 are equal.
const EFFICIENCIES: [f64; 8] = [1.0, 1.5, 2.0, 3.0, 3.0, 4.0, 4.5, 5.0];

fn names() -> SchemeNames {
    (0..8).map(|number| format!("mcs{number}")).collect()
}

fn build(description: &Value) -> Result<AnyPolicy, ConfigError> {
    let registry = PolicyRegistry::default();
    let setup = Setup { seed: Seed::new(1, 0, "policy"), registry: &registry, extra: names() };
    AnyPolicy::build(description, setup)
}

fn policy(description: Value) -> AnyPolicy {
    build(&description).unwrap_or_else(|error| panic!("{description}: {error}"))
}

/// Candidates with these packet error rates, and block error rates that are 100 times smaller.
fn candidates(pers: [f64; 8]) -> Vec<Candidate> {
    let rates = EFFICIENCIES.into_iter().zip(pers);
    rates.map(|(efficiency, per)| Candidate { efficiency, fer: per / 100.0, per }).collect()
}

/// Returns the choices of `policy` in all its regimes.
fn choices(policy: &AnyPolicy, candidates: &[Candidate]) -> Vec<usize> {
    (0..=policy.thresholds().len()).map(|regime| policy.choose(candidates, regime)).collect()
}

/// Packet error rates at 26 dB over the ITU-A channel: values of qawla-2015 Table 2; the value of
/// mcs7, which the table does not contain, is invented.
const AT_26_DB: [f64; 8] = [0.0, 8.4e-6, 1.0e-5, 4.62e-3, 2.04e-3, 0.1, 0.295, 0.9];

#[test]
fn tagla_chooses_fastest_mcs_below_threshold() {
    let at_26_db = candidates(AT_26_DB);
    let chosen =
        |th_per: f64| choices(&policy(json!({"kind": "tagla", "th_per": th_per})), &at_26_db);
    assert_eq!(chosen(1e-6), [0]);
    assert_eq!(chosen(9e-6), [1]);
    assert_eq!(chosen(1e-3), [2]);
    assert_eq!(chosen(3e-3), [4], "mcs3, as fast, has more errors than that");
    assert_eq!(chosen(0.05), [4], "mcs3 and mcs4 are as fast, and mcs4 has fewer errors");
    assert_eq!(chosen(0.2), [5]);
    assert_eq!(chosen(1.0), [7]);
}

#[test]
fn mcs_with_error_rate_at_threshold_is_not_chosen() {
    // The condition per < th_PER is strict.
    let exact = candidates(AT_26_DB);
    assert_eq!(choices(&policy(json!({"kind": "tagla", "th_per": 0.1})), &exact), [4]);
    assert_eq!(choices(&policy(json!({"kind": "tagla", "th_per": 0.100_000_1})), &exact), [5]);
}

#[test]
fn fewer_errors_decide_between_equal_efficiencies() {
    let mut two = candidates(AT_26_DB);
    let tagla = policy(json!({"kind": "tagla", "th_per": 0.05}));
    two[3].per = 1e-3;
    assert_eq!(choices(&tagla, &two), [3]);
    two[4].per = 1e-3;
    assert_eq!(choices(&tagla, &two), [3], "alike: the first");
    let mut swapped = two.clone();
    swapped.swap(3, 4);
    assert_eq!(choices(&tagla, &swapped), [3]);
}

#[test]
fn most_robust_mcs_is_chosen_if_all_exceed_threshold() {
    let poor = candidates([0.3, 0.4, 0.5, 0.9, 1.0, 1.0, 1.0, 1.0]);
    for kind in [json!({"kind": "tagla", "th_per": 0.1}), json!({"kind": "tfer", "th_fer": 1e-3})] {
        assert_eq!(choices(&policy(kind), &poor), [0]);
    }
    let hopeless = candidates([1.0; 8]);
    let qawla = policy(json!({"kind": "qawla", "th_per": 0.05, "h": 100, "threshold": 20}));
    assert_eq!(choices(&qawla, &hopeless), [0, 0]);
    let mut unsorted = hopeless;
    unsorted.reverse();
    assert_eq!(choices(&qawla, &unsorted), [7, 7], "the lowest efficiency, at any place");
}

#[test]
fn qawla_divides_error_threshold_by_h_for_short_queues() {
    let qawla = policy(json!({"kind": "qawla", "th_per": 0.2, "h": 100, "threshold": 20}));
    assert_eq!(qawla.thresholds(), [20]);
    // The threshold is 0.002 below 20 packets, and 0.2 at 20 or more packets.
    assert_eq!(choices(&qawla, &candidates(AT_26_DB)), [2, 5]);
}

#[test]
fn dual_regime_and_fixed_ignore_error_rates() {
    let pair = json!({"kind": "dual-regime", "mcs_below": "mcs5", "mcs_above": "mcs0",
                      "threshold": 7});
    let dual = policy(pair);
    assert_eq!(dual.thresholds(), [7]);
    assert_eq!(choices(&dual, &candidates(AT_26_DB)), [5, 0]);
    let fixed = policy(json!({"kind": "fixed", "mcs": "mcs6"}));
    assert_eq!(choices(&fixed, &candidates([1.0; 8])), [6]);
    let by_number = policy(json!({"kind": "fixed", "mcs": 6}));
    assert_eq!(choices(&by_number, &candidates([1.0; 8])), [6]);
}

/// qawla-2015 §4: 27 pairs with r₁ < r₂ and eight pairs of one MCS, 35 pairs in total.
#[test]
fn dual_regime_pairs_of_table_1_are_35() {
    let rates = EFFICIENCIES.into_iter().zip([0.0, 0.0, 1e-6, 1e-4, 1e-5, 1e-3, 1e-2, 0.1]);
    let pairs = dual_regime_pairs(&rates.collect::<Vec<_>>());
    assert_eq!(pairs.len(), 35);
    assert!(pairs.contains(&(0, 1)) && pairs.contains(&(3, 3)));
    assert!(!pairs.contains(&(3, 4)) && !pairs.contains(&(4, 3)) && !pairs.contains(&(1, 0)));
    // A faster MCS with fewer errors cannot be the upper regime.
    assert_eq!(dual_regime_pairs(&[(1.0, 0.1), (2.0, 0.01)]), [(0, 0), (1, 1)]);
    assert_eq!(dual_regime_pairs(&[(2.0, 0.1), (1.0, 0.1)]), [(0, 0), (1, 0), (1, 1)]);
}

#[test]
fn tfer_uses_block_error_rate() {
    let at_26_db = candidates(AT_26_DB);
    let chosen =
        |th_fer: f64| choices(&policy(json!({"kind": "tfer", "th_fer": th_fer})), &at_26_db);
    assert_eq!(chosen(1e-7), [1]);
    assert_eq!(chosen(2e-3), [5]);
}

#[test]
fn max_phy_throughput_maximises_efficiency_times_success() {
    let per = policy(json!({"kind": "max-phy-throughput", "error_rate": "per"}));
    let fer = policy(json!({"kind": "max-phy-throughput", "error_rate": "fer"}));
    let at_26_db = candidates(AT_26_DB);
    // Largest product by packets: 3.6 of mcs5; by blocks: 4.955 of mcs7.
    assert_eq!(choices(&per, &at_26_db), [5]);
    assert_eq!(choices(&fer, &at_26_db), [7]);
    // All products are 1.5; mcs1 has no errors.
    let even = candidates([1.0, 0.0, 0.25, 0.5, 0.5, 0.625, 1.0, 1.0]);
    assert_eq!(choices(&per, &even), [1]);
    assert_eq!(choices(&per, &candidates([1.0; 8])), [0], "nothing passes: the most robust");
}

#[test]
fn invalid_values_are_rejected() {
    let refused = |description: Value| match build(&description) {
        Ok(_) => panic!("{description} is accepted"),
        Err(error) => error.to_string(),
    };
    let range = "Accepted: more than 0, at most 1";
    for (th_per, problem) in [(0.0, "not above 0"), (-0.1, "not above 0"), (1.1, "above 1")] {
        assert_eq!(
            refused(json!({"kind": "tagla", "th_per": th_per})),
            format!("th_per = {th_per}: {problem}. {range}")
        );
    }
    assert_eq!(
        refused(json!({"kind": "tfer", "th_fer": 2})),
        format!("th_fer = 2: above 1. {range}")
    );
    let qawla = |th_per: f64, h: f64, threshold: u64| {
        refused(json!({"kind": "qawla", "th_per": th_per, "h": h, "threshold": threshold}))
    };
    assert_eq!(qawla(0.0, 1.0, 1), format!("th_per = 0: not above 0. {range}"));
    assert_eq!(qawla(0.1, 0.9, 1), "h = 0.9: below 1. Accepted: at least 1");
    assert_eq!(qawla(0.1, 1.0, 0), "threshold = 0: below 1. Accepted: at least 1");
    assert_eq!(
        refused(json!({"kind": "fixed", "mcs": "mcs8"})),
        "mcs = \"mcs8\": not in the error-rate table. \
         Accepted: mcs0, mcs1, mcs2, mcs3, mcs4, mcs5, mcs6, mcs7"
    );
    assert!(refused(json!({"kind": "fixed", "mcs": 8})).starts_with("mcs = 8: not in the error"));
    let built_in: Vec<&str> = AnyPolicy::BUILT_IN.iter().map(|(name, _)| *name).collect();
    let unknown = format!("kind = best: unknown. Accepted: {}", built_in.join(", "));
    assert_eq!(refused(json!({"kind": "best"})), unknown);
    assert!(refused(json!({"kind": "max-phy-throughput", "error_rate": "ber"})).contains("`per`"));
}

fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let rate = prop_oneof![Just(0.0), Just(1.0), (0.0..16.0f64).prop_map(|x| (-x).exp())];
    let efficiency = prop_oneof![Just(3.0), 0.5..6.0f64];
    let one = (efficiency, rate.clone(), rate);
    let one = one.prop_map(|(efficiency, fer, per)| Candidate { efficiency, fer, per });
    proptest::collection::vec(one, 1..12)
}

proptest! {
    /// qawla-2015 §2: "For the particular QAWLA mechanism with H = 1, MCS₁ = MCS₂", TAGLA.
    #[test]
    fn qawla_with_h_1_is_tagla(candidates in any_candidates(), th_per in 1e-6..1.0f64) {
        let tagla = policy(json!({"kind": "tagla", "th_per": th_per}));
        let qawla = policy(json!({"kind": "qawla", "th_per": th_per, "h": 1, "threshold": 20}));
        let one = tagla.choose(&candidates, 0);
        prop_assert_eq!(choices(&qawla, &candidates), [one, one]);
    }

    /// In each regime, QAWLA equals TAGLA with the regime's threshold, for any order of MCSs.
    #[test]
    fn qawla_is_tagla_in_each_regime(
        candidates in any_candidates(), th_per in 1e-4..1.0f64, h in 1.0..1e4f64,
    ) {
        let qawla = policy(json!({"kind": "qawla", "th_per": th_per, "h": h, "threshold": 20}));
        for (regime, th_per) in [(0, th_per / h), (1, th_per)] {
            let tagla = policy(json!({"kind": "tagla", "th_per": th_per}));
            let chosen = qawla.choose(&candidates, regime);
            prop_assert_eq!(chosen, tagla.choose(&candidates, 0));
            let best = candidates[chosen];
            for other in candidates.iter().filter(|other| other.per < th_per) {
                prop_assert!(best.per < th_per && best.efficiency >= other.efficiency);
                prop_assert!(best.efficiency > other.efficiency || best.per <= other.per);
            }
            prop_assert!(best.per < th_per || candidates.iter().all(|c| c.per >= best.per));
        }
    }

    /// No MCS has a larger product than the MCS chosen by MaxPHYThru.
    #[test]
    fn max_phy_throughput_is_the_maximum(candidates in any_candidates()) {
        let per = policy(json!({"kind": "max-phy-throughput", "error_rate": "per"}));
        let fer = policy(json!({"kind": "max-phy-throughput", "error_rate": "fer"}));
        let by_per = candidates[per.choose(&candidates, 0)];
        let by_fer = candidates[fer.choose(&candidates, 0)];
        for c in &candidates {
            prop_assert!((1.0 - by_per.per) * by_per.efficiency >= (1.0 - c.per) * c.efficiency);
            prop_assert!((1.0 - by_fer.fer) * by_fer.efficiency >= (1.0 - c.fer) * c.efficiency);
        }
    }
}
