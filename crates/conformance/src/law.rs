//! Comparisons with a law or a published number.

use serde_json::{Value, json};
use std::fmt::Display;
use std::panic::Location;

/// A law, where it is from, and why a measurement may differ from it.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The section of the page, as the field names the subject.
    pub area: &'static str,
    /// Document and section or equation, and what it says.
    pub source: &'static str,
    /// Reason for the tolerance.
    pub allows: &'static str,
}

impl Law {
    /// `measured` is `expected`, give or take `tolerance`.
    ///
    /// # Panics
    /// If it is not.
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

    /// `measured` is `expected`, give or take the share `tolerance` of it.
    ///
    /// # Panics
    /// If it is not.
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

    /// `measured` is `expected`.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn equal(&self, what: impl Display, unit: &str, measured: f64, expected: f64) {
        self.close(what, unit, measured, expected, 0.0);
    }

    /// `measured` is at least `low` and at most `high`; an infinite bound is none.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn between(&self, what: impl Display, unit: &str, measured: f64, low: f64, high: f64) {
        let holds = low <= measured && measured <= high;
        self.record(&what, unit, &json!(measured), &json!([low, high]), &Value::Null, holds);
        assert!(holds, "{what}: {measured} {unit}, not in {low} to {high}");
    }

    /// All that was measured, from its least to its greatest, lies from `low` to `high`: says
    /// whether it does, and leaves it to the test what follows.
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
    fn a_comparison_asserts_its_tolerance() {
        assert!(passes(|| LAW.close("x", "s", 1.125, 1.0, 0.125)));
        assert!(!passes(|| LAW.close("x", "s", 1.125, 1.0, 0.12)));
        assert!(!passes(|| LAW.close("x", "s", 0.875, 1.0, 0.12)));
        assert!(passes(|| LAW.close_relative("x", "s", 90.0, 80.0, 0.125)));
        assert!(!passes(|| LAW.close_relative("x", "s", 90.0, 80.0, 0.12)));
        assert!(passes(|| LAW.equal("x", "s", 3.0, 3.0)));
        assert!(!passes(|| LAW.equal("x", "s", 3.0, 3.0 + 1e-15)));
    }

    #[test]
    fn a_measurement_is_held_to_both_bounds() {
        assert!(passes(|| LAW.between("x", "s", 2.0, 1.0, 2.0)));
        assert!(passes(|| LAW.between("x", "s", 2.0, 1.0, f64::INFINITY)));
        assert!(!passes(|| LAW.between("x", "s", 2.0, 1.0, 1.9)));
        assert!(!passes(|| LAW.between("x", "s", 2.0, 2.1, 3.0)));
        assert!(LAW.contains("x", "s", [1.0, 2.0], [1.0, 2.0]));
        assert!(!LAW.contains("x", "s", [0.9, 2.0], [1.0, 2.0]));
        assert!(!LAW.contains("x", "s", [1.0, 2.1], [1.0, 2.0]));
    }

    #[test]
    fn nan_agrees_with_nothing() {
        assert!(!passes(|| LAW.close("x", "s", f64::NAN, 1.0, 1.0)));
        assert!(!passes(|| LAW.close_relative("x", "s", 0.0, 0.0, 1.0)));
        assert!(!passes(|| LAW.between("x", "s", f64::NAN, 0.0, 1.0)));
    }
}
