//! Errors in configurations, and errors of components during a run.

use crate::bounds::{Bounds, Number};
use std::error::Error;
use std::fmt;

/// Accepted values of a field whose value was rejected.
#[derive(Clone, Debug, PartialEq)]
pub enum Accepted {
    /// No separate text. [`Problem::problem`] may state the accepted values.
    Unstated,
    /// Instruction to fix the problem: one sentence without the full stop.
    Advice(String),
    /// Constant range of accepted numbers, in the base unit of the field.
    Within(Bounds),
    /// Range of accepted numbers that depends on other values of the configuration.
    Related(Bounds),
}

/// A configuration value that a component rejects.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Field, as a dotted path: `bottleneck.queue.max_p`.
    pub field: String,
    /// Rejected value.
    pub value: String,
    /// Reason for the rejection.
    pub problem: String,
    /// Accepted values.
    pub accepted: Accepted,
    /// Dotted paths of the other fields on which the violated rule depends; empty if unknown.
    pub others: Vec<String>,
}

impl Problem {
    /// Returns the reason and the accepted values as one text.
    pub fn explanation(&self) -> String {
        let problem = &self.problem;
        match &self.accepted {
            Accepted::Unstated => problem.clone(),
            Accepted::Advice(advice) => format!("{problem}. {advice}"),
            Accepted::Within(bounds) | Accepted::Related(bounds) => {
                format!("{problem}. Accepted: {bounds}")
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.field, self.value, self.explanation())
    }
}

/// Rejected values of a configuration: at least one [`Problem`].
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

impl ConfigError {
    /// Creates an error with one problem. The text `problem` states the reason and the accepted
    /// values.
    pub fn new(
        field: impl Into<String>,
        value: impl ToString,
        problem: impl Into<String>,
    ) -> ConfigError {
        let mut checks = Checks::default();
        checks.push(field, value, problem, Accepted::Unstated);
        ConfigError { problems: checks.problems }
    }

    /// Returns all problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the first problem.
    pub fn first(&self) -> &Problem {
        &self.problems[0]
    }

    /// Puts `parent` before each field name.
    #[must_use]
    pub fn under(mut self, parent: &str) -> ConfigError {
        let within = |field: &mut String| {
            *field = if field.is_empty() { parent.to_owned() } else { format!("{parent}.{field}") };
        };
        for problem in &mut self.problems {
            within(&mut problem.field);
            problem.others.iter_mut().for_each(within);
        }
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl Error for ConfigError {}

/// Text for the value and for the reason of a missing field.
const MISSING: &str = "missing";

/// Collects the problems of a configuration, so that one error reports all of them.
///
/// ```
/// use airpath_core::{Checks, at_least};
/// let mut checks = Checks::default();
/// checks.within("max_p", 1.5, 0.0..=1.0);
/// checks.related("max_th", 20_u32, at_least(30_u32), "below min_th");
/// let error = checks.finish().expect_err("two problems");
/// assert_eq!(error.problems().len(), 2);
/// assert_eq!(error.first().to_string(), "max_p = 1.5: above 1. Accepted: 0 to 1");
/// ```
#[derive(Debug, Default)]
pub struct Checks {
    problems: Vec<Problem>,
}

impl Checks {
    /// Rejects a number outside a constant range. Returns true if the number is inside the range.
    pub fn within(
        &mut self,
        field: &str,
        value: impl Into<Number>,
        bounds: impl Into<Bounds>,
    ) -> bool {
        let (number, bounds) = (value.into(), bounds.into());
        let objection = bounds.objection(number);
        let is_inside = objection.is_none();
        if let Some(objection) = objection {
            self.push(field, number, objection, Accepted::Within(bounds));
        }
        is_inside
    }

    /// Rejects a number outside a range that depends on other values of the configuration.
    /// `problem` is the reason for the rejection. Returns true if the number is inside the range.
    pub fn related(
        &mut self,
        field: &str,
        value: impl Into<Number>,
        bounds: impl Into<Bounds>,
        problem: &str,
    ) -> bool {
        let (number, bounds) = (value.into(), bounds.into());
        if bounds.objection(number).is_none() {
            return true;
        }
        self.push(field, number, problem, Accepted::Related(bounds));
        false
    }

    /// Checks a number like [`related`](Checks::related). `others` are the fields of the same
    /// configuration on which the range depends. The error report shows only those of these fields
    /// that the user has set.
    pub fn related_to(
        &mut self,
        others: &[&str],
        field: &str,
        value: impl Into<Number>,
        bounds: impl Into<Bounds>,
        problem: &str,
    ) -> bool {
        let is_inside = self.related(field, value, bounds, problem);
        self.rule_reads(others, is_inside);
        is_inside
    }

    /// Rejects a value because of `others`, fields of the same configuration. See
    /// [`related_to`](Checks::related_to).
    pub fn reject_with(
        &mut self,
        others: &[&str],
        field: &str,
        value: impl ToString,
        problem: &str,
        advice: &str,
    ) {
        self.reject(field, value, problem, advice);
        self.rule_reads(others, false);
    }

    fn rule_reads(&mut self, others: &[&str], is_inside: bool) {
        if let Some(problem) = self.problems.last_mut().filter(|_| !is_inside) {
            problem.others = others.iter().map(ToString::to_string).collect();
        }
    }

    /// Rejects a value. `advice` is the instruction to fix the problem: one sentence without the
    /// full stop.
    pub fn reject(&mut self, field: &str, value: impl ToString, problem: &str, advice: &str) {
        self.push(field, value, problem, Accepted::Advice(advice.to_owned()));
    }

    /// Reports a missing field. `advice` is the instruction to fix the problem: one sentence
    /// without the full stop.
    pub fn missing(&mut self, field: &str, advice: &str) {
        self.push(field, MISSING, MISSING, Accepted::Advice(advice.to_owned()));
    }

    /// Adds the problems of a nested component, with `parent` before each field name. If `parent`
    /// is empty, field names are unchanged. Returns the checked value if there is no problem.
    pub fn nested<T>(&mut self, parent: &str, checked: Result<T, ConfigError>) -> Option<T> {
        let error = match checked {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let error = if parent.is_empty() { error } else { error.under(parent) };
        self.problems.extend(error.problems);
        None
    }

    /// Returns true if no value has been rejected.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns all collected problems as one error.
    ///
    /// # Errors
    /// Returns an error if at least one value was rejected.
    pub fn finish(self) -> Result<(), ConfigError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(ConfigError { problems: self.problems })
    }

    fn push(
        &mut self,
        field: impl Into<String>,
        value: impl ToString,
        problem: impl Into<String>,
        accepted: Accepted,
    ) {
        let (field, value, problem) = (field.into(), value.to_string(), problem.into());
        self.problems.push(Problem { field, value, problem, accepted, others: Vec::new() });
    }
}

/// Error of a component that cannot continue. Its message ends the run.
pub type StageError = Box<dyn Error + Send + Sync>;

/// Returns `index` if it is below `count`.
///
/// # Errors
/// Otherwise an error that names the `method` of a component that returned the index.
#[inline]
pub fn check_index(method: &str, index: usize, count: usize) -> Result<usize, StageError> {
    if index < count { Ok(index) } else { Err(out_of_range(method, index, count)) }
}

#[cold]
fn out_of_range(method: &str, index: usize, count: usize) -> StageError {
    let last = count.saturating_sub(1);
    format!("{method} returned index {index}. Accepted: 0 to {last}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{above, at_least, at_most};

    #[test]
    fn checks_collect_every_problem_in_order() {
        let mut inner = Checks::default();
        assert!(inner.within("weight", 0.5, above(0.0).up_to(1.0)));
        assert!(!inner.within("weight", 0.0, above(0.0).up_to(1.0)));
        let mut checks = Checks::default();
        assert!(!checks.related("max_th", 3_u64, above(5_u64), "not above min_th"));
        checks.reject("kind", "clamp", "a clamp queue inside a clamp queue", "Use another");
        assert_eq!(checks.nested("inner", inner.finish()), None);
        assert_eq!(checks.nested("", Ok::<u8, ConfigError>(7)), Some(7));
        assert!(!checks.is_clean());
        let error = checks.finish().expect_err("three problems").under("bottleneck.queue");
        assert_eq!(
            error.to_string().lines().collect::<Vec<_>>(),
            [
                "bottleneck.queue.max_th = 3: not above min_th. Accepted: more than 5",
                "bottleneck.queue.kind = clamp: a clamp queue inside a clamp queue. Use another",
                "bottleneck.queue.inner.weight = 0: not above 0. Accepted: more than 0, at most 1",
            ]
        );
    }

    #[test]
    fn problem_names_other_fields_of_the_violated_rule() {
        let mut checks = Checks::default();
        assert!(checks.related_to(&["max"], "min", 1_u8, at_most(2_u8), "above max"));
        assert!(!checks.related_to(&["max"], "min", 3_u8, at_most(2_u8), "above max"));
        checks.reject_with(&["stack", "mss"], "recovery", "sack", "unknown", "Remove it");
        checks.within("share", 2.0, 0.0..=1.0);
        let error = checks.finish().expect_err("three problems").under("tcp");
        let others: Vec<String> =
            error.problems().iter().map(|problem| problem.others.join(" ")).collect();
        assert_eq!(others, ["tcp.max", "tcp.stack tcp.mss", ""]);
    }

    #[test]
    fn checks_without_problems_return_no_error() {
        let mut checks = Checks::default();
        checks.within("limit", 1_usize, at_least(1_usize));
        assert_eq!(checks.finish(), Ok(()));
    }
}
