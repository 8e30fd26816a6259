//! Comparisons with a formula or a published number.

use serde_json::{Value, json};
use std::fmt::Display;
use std::panic::Location;

/// A formula or a published number, its source, and the reason for the tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Section of the conformance page, in the terms of the field.
    pub area: &'static str,
    /// Document, section or equation, and what it states.
    pub source: &'static str,
    /// Reason for the tolerance.
    pub allows: &'static str,
}

impl Law {
    /// Asserts that `measured` equals `expected` within `tolerance`.
    ///
    /// # Panics
    /// If the assertion fails.
    #[track_caller]
    pub fn close(
        &self,
        what: impl Display,
        unit: &str,
        measured: f64,
        expected: f64,
        tolerance: f64,
    ) {
        let holds = (measured - expected).abs() <= tolerance;
        let tolerance = json!({"absolute": tolerance});
        self.record(&what, unit, &json!(measured), &json!(expected), &tolerance, holds);
        assert!(holds, "{what}: {measured} {unit}, not {expected} ({tolerance})");
    }

    /// Asserts that `measured` equals `expected` within the relative `tolerance`.
    ///
    /// # Panics
    /// If the assertion fails.
    #[track_caller]
    pub fn close_relative(
        &self,
        what: impl Display,
        unit: &str,
        measured: f64,
        expected: f64,
        tolerance: f64,
    ) {
        let holds = (measured / expected - 1.0).abs() <= tolerance;
        let tolerance = json!({"relative": tolerance});
        self.record(&what, unit, &json!(measured), &json!(expected), &tolerance, holds);
        assert!(holds, "{what}: {measured} {unit}, not {expected} ({tolerance})");
    }

    /// Asserts that `measured` equals `expected`.
    ///
    /// # Panics
    /// If the assertion fails.
    #[track_caller]
    pub fn equal(&self, what: impl Display, unit: &str, measured: f64, expected: f64) {
        self.close(what, unit, measured, expected, 0.0);
    }

    /// Asserts that `measured` is at least `low` and at most `high`. An infinite bound disables
    /// that side.
    ///
    /// # Panics
    /// If the assertion fails.
    #[track_caller]
    pub fn between(&self, what: impl Display, unit: &str, measured: f64, low: f64, high: f64) {
        let holds = low <= measured && measured <= high;
        self.record(&what, unit, &json!(measured), &json!([low, high]), &Value::Null, holds);
        assert!(holds, "{what}: {measured} {unit}, not in {low} to {high}");
    }

    /// Records whether all measured values, which range from `least` to `greatest`, are between
    /// `low` and `high`. Returns true if they are; does not assert.
    #[track_caller]
    pub fn contains(
        &self,
        what: impl Display,
        unit: &str,
        [least, greatest]: [f64; 2],
        [low, high]: [f64; 2],
    ) -> bool {
        let holds = low <= least && greatest <= high;
        let (measured, expected) = (json!([least, greatest]), json!([low, high]));
        self.record(&what, unit, &measured, &expected, &Value::Null, holds);
        holds
    }

    #[track_caller]
    fn record(
        &self,
        what: &dyn Display,
        unit: &str,
        measured: &Value,
        expected: &Value,
        tolerance: &Value,
        holds: bool,
    ) {
        super::write(&json!({
            "kind": "law",
            "file": Location::caller().file(),
            "test": super::test_name(),
            "area": self.area,
            "source": self.source,
            "allows": self.allows,
            "what": what.to_string(),
            "unit": unit,
            "measured": measured,
            "expected": expected,
            "tolerance": tolerance,
            "holds": holds,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    const LAW: Law = Law { area: "none", source: "none", allows: "nothing" };

    fn passes(compare: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        catch_unwind(compare).is_ok()
    }

    #[test]
    fn comparison_asserts_its_tolerance() {
        assert!(passes(|| LAW.close("x", "s", 1.125, 1.0, 0.125)));
        assert!(!passes(|| LAW.close("x", "s", 1.125, 1.0, 0.12)));
        assert!(!passes(|| LAW.close("x", "s", 0.875, 1.0, 0.12)));
        assert!(passes(|| LAW.close_relative("x", "s", 90.0, 80.0, 0.125)));
        assert!(!passes(|| LAW.close_relative("x", "s", 90.0, 80.0, 0.12)));
        assert!(passes(|| LAW.equal("x", "s", 3.0, 3.0)));
        assert!(!passes(|| LAW.equal("x", "s", 3.0, 3.0 + 1e-15)));
    }

    #[test]
    fn between_and_contains_check_both_bounds() {
        assert!(passes(|| LAW.between("x", "s", 2.0, 1.0, 2.0)));
        assert!(passes(|| LAW.between("x", "s", 2.0, 1.0, f64::INFINITY)));
        assert!(!passes(|| LAW.between("x", "s", 2.0, 1.0, 1.9)));
        assert!(!passes(|| LAW.between("x", "s", 2.0, 2.1, 3.0)));
        assert!(LAW.contains("x", "s", [1.0, 2.0], [1.0, 2.0]));
        assert!(!LAW.contains("x", "s", [0.9, 2.0], [1.0, 2.0]));
        assert!(!LAW.contains("x", "s", [1.0, 2.1], [1.0, 2.0]));
    }

    #[test]
    fn nan_fails_every_comparison() {
        assert!(!passes(|| LAW.close("x", "s", f64::NAN, 1.0, 1.0)));
        assert!(!passes(|| LAW.close_relative("x", "s", 0.0, 0.0, 1.0)));
        assert!(!passes(|| LAW.between("x", "s", f64::NAN, 0.0, 1.0)));
    }
}
