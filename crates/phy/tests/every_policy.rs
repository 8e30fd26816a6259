//! Invariants of every link-adaptation policy.
//!
//! A new built-in policy is tested as soon as it is registered, with the parameters in its class's
//! documentation; [`descriptions`] may add others.

use airpath_conformance::samples;
use airpath_core::{ConfigError, Seed, Setup};
use airpath_phy::adaptation::{AnyPolicy, Candidate, Policy, PolicyRegistry, SchemeNames};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Number of MCSs, as required by the samples of the classes.
const SCHEMES: usize = 8;

/// Returns configurations of a built-in policy: ordinary and extreme ones.
fn descriptions(kind: &str) -> Vec<Value> {
    samples("policy", kind, |description| try_build(description).is_ok())
}

fn try_build(description: &Value) -> Result<AnyPolicy, ConfigError> {
    let registry = PolicyRegistry::default();
    let extra: SchemeNames = (0..SCHEMES).map(|number| format!("mcs{number}")).collect();
    let setup = Setup { seed: Seed::new(1, 0, "policy"), registry: &registry, extra };
    AnyPolicy::build(description, setup)
}

fn all() -> impl Iterator<Item = (Value, AnyPolicy)> {
    let kinds = AnyPolicy::BUILT_IN.iter();
    kinds.flat_map(|(kind, _)| descriptions(kind)).map(|description| {
        let policy = try_build(&description).unwrap_or_else(|error| panic!("{error}"));
        (description, policy)
    })
}

/// Strategy of candidates in any order: error rates of blocks and of packets.
fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let rate = || prop_oneof![4 => 0.0..=1.0, 1 => Just(0.0), 1 => Just(1.0)];
    let candidate = (0.1..10.0, rate(), rate());
    prop::collection::vec(candidate, SCHEMES).prop_map(|all| {
        let candidate = |(efficiency, fer, per)| Candidate { efficiency, fer, per };
        all.into_iter().map(candidate).collect()
    })
}

/// Returns the choices of `policy` in all its regimes.
fn choices(policy: &AnyPolicy, candidates: &[Candidate]) -> Vec<usize> {
    let regimes = 0..=policy.thresholds().len();
    regimes.map(|regime| policy.choose(candidates, regime)).collect()
}

proptest! {
    #[test]
    fn choices_depend_only_on_candidates(
        asked in candidates(), between in candidates(),
    ) {
        for (description, policy) in all() {
            let first = choices(&policy, &asked);
            prop_assert!(first.iter().all(|choice| *choice < SCHEMES), "{description}: {first:?}");
            let other = choices(&policy, &between);
            prop_assert_eq!(&choices(&policy, &asked), &first, "{} remembers", description);
            if !policy.uses_estimate() {
                prop_assert_eq!(other, first, "{} uses the estimate", description);
            }
        }
    }
}

#[test]
fn queue_thresholds_ascend_from_one_packet() {
    for (description, policy) in all() {
        let thresholds = policy.thresholds();
        assert!(thresholds.is_sorted_by(|a, b| a < b), "{description}: {thresholds:?}");
        assert!(!thresholds.contains(&0), "{description}: an empty regime");
    }
}

#[test]
fn plug_in_policy_receives_each_of_its_calls() {
    struct Ladder;
    impl Policy for Ladder {
        fn thresholds(&self) -> &[u64] {
            &[3, 6]
        }
        fn uses_estimate(&self) -> bool {
            false
        }
        fn choose(&self, _candidates: &[Candidate], regime: usize) -> usize {
            regime
        }
    }
    let mut registry = PolicyRegistry::default();
    registry.register("ladder", |_, _| Ok(Box::new(Ladder)));
    let setup = Setup {
        seed: Seed::new(1, 0, "policy"),
        registry: &registry,
        extra: SchemeNames::default(),
    };
    let policy = AnyPolicy::build(&json!({"kind": "ladder"}), setup).expect("it is registered");
    assert_eq!((policy.thresholds(), policy.uses_estimate()), (&[3, 6][..], false));
    assert_eq!(choices(&policy, &[]), [0, 1, 2]);
}
