//! Tests that shares and ratios are in [0, 1] in the reports of random networks.

use crate::networks::any_case;
use airpath_conformance::cases;
use airpath_sim::Driver;
use proptest::prelude::*;
use serde_json::Value;

/// Report keys that are shares but do not end in `_share`.
const SHARES: [&str; 5] = ["utilisation", "slot_error_rate", "efficiency", "pmf", "loss_ratio"];

/// Collects the paths of shares outside [0, 1] below `value`.
fn find_no_shares(place: &str, value: &Value, is_share: bool, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_share = SHARES.contains(&key.as_str()) || key.ends_with("_share");
                find_no_shares(&format!("{place}.{key}"), value, is_share, found);
            }
        }
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                find_no_shares(&format!("{place}.{number}"), value, is_share, found);
            }
        }
        Value::Number(number) if is_share => {
            // A sum of time intervals may exceed the total by rounding.
            let is_within =
                number.as_f64().is_some_and(|share| (0.0..=1.0 + 1e-12).contains(&share));
            if !is_within {
                found.push(format!("{place} = {number}"));
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(200), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_share_is_between_zero_and_one(case in any_case()) {
        let mut driver = Driver::new(case.network());
        driver.run(&()).expect("a run");
        let report = serde_json::to_value(driver.report(0)).expect("JSON");
        let mut found = Vec::new();
        find_no_shares("", &report, false, &mut found);
        prop_assert!(found.is_empty(), "{found:?}");
    }
}
