//! Why a model does not cover a scenario.

use airpath_core::ConfigError;

/// A key of a scenario that a model does not cover, or whose value nothing accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The key as a dotted path; flows count from 0.
    pub field: String,
    /// The value found there.
    pub value: String,
    /// The problem.
    pub problem: Problem,
}

/// Problem of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The model does not know it. What it knows in its place.
    NotCovered(String),
    /// The model is one of other traffic. Of what.
    OtherTraffic(String),
    /// The model is one of another sort of link. Of what.
    OtherLink(String),
    /// No part accepts it. What is wrong and what is accepted.
    NotAccepted(String),
}

impl Reason {
    /// `field` is `value`, which the model does not know; `covered` is what it knows.
    pub fn not_covered(
        field: impl Into<String>,
        value: impl ToString,
        covered: impl Into<String>,
    ) -> Reason {
        let problem = Problem::NotCovered(covered.into());
        Reason { field: field.into(), value: value.to_string(), problem }
    }

    /// A flow of which `source` sends; the model is of flows of which `covered` does.
    pub fn other_traffic(source: &str, covered: &str) -> Reason {
        let problem = Problem::OtherTraffic(covered.to_owned());
        Reason { field: "source".to_owned(), value: source.to_owned(), problem }
    }

    /// A link of the kind `kind`; the model is of a sort of link of which `covered` are.
    pub fn other_link(kind: &str, covered: &str) -> Reason {
        let problem = Problem::OtherLink(covered.to_owned());
        Reason { field: "kind".to_owned(), value: kind.to_owned(), problem }
    }

    /// The same reason with `parent` put before the key.
    #[must_use]
    pub fn under(mut self, parent: &str) -> Reason {
        let dot = if self.field.is_empty() { "" } else { "." };
        self.field = format!("{parent}{dot}{}", self.field);
        self
    }

    /// One line; `chosen` is the model's name if it was requested by name.
    pub fn line(&self, chosen: Option<&str>) -> String {
        let Reason { field, value, problem } = self;
        match (problem, chosen) {
            (Problem::NotAccepted(problem), _) => format!("{field} = {value}: {problem}"),
            (
                Problem::NotCovered(covered)
                | Problem::OtherTraffic(covered)
                | Problem::OtherLink(covered),
                None,
            ) => {
                format!("{field} = {value}: no analytic model covers it. Covered: {covered}")
            }
            (
                Problem::NotCovered(covered)
                | Problem::OtherTraffic(covered)
                | Problem::OtherLink(covered),
                Some(model),
            ) => {
                format!("{field} = {value}: model {model} does not cover it. Covered: {covered}")
            }
        }
    }
}

impl From<ConfigError> for Reason {
    fn from(error: ConfigError) -> Reason {
        let first = error.first();
        let (field, value) = (first.field.clone(), first.value.clone());
        Reason { field, value, problem: Problem::NotAccepted(first.explanation()) }
    }
}

/// All reasons of a model: at least one where it is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    found: Vec<Reason>,
    /// The group of the last flow with a reason, and its reason without the flow's number.
    last: Option<Box<(Option<u32>, Reason)>>,
}

impl Reasons {
    /// Returns the value if it is covered; keeps the reason otherwise.
    pub fn keep<T>(&mut self, result: Result<T, Reason>) -> Option<T> {
        result.map_err(|reason| self.found.push(reason)).ok()
    }

    /// The same for the flow of that number; flows of a group have a reason once.
    pub fn keep_of_flow<T>(
        &mut self,
        (number, group): (usize, Option<u32>),
        result: Result<T, Reason>,
    ) -> Option<T> {
        let keep = |reason: Reason| {
            let this = Some(Box::new((group, reason.clone())));
            if group.is_none() || self.last != this {
                self.found.push(reason.under(&format!("flows.{number}")));
                self.last = this;
            }
        };
        result.map_err(keep).ok()
    }

    /// `problem` if there is one and no reason was kept.
    ///
    /// # Errors
    /// These reasons.
    pub fn or<T>(self, problem: Option<T>) -> Result<T, Reasons> {
        match problem {
            Some(problem) if self.found.is_empty() => Ok(problem),
            _ => Err(self),
        }
    }

    /// How far the model is from the scenario: how many groups of flows and links are of another sort,
    /// and how many reasons there are.
    pub(crate) fn distance(&self) -> (usize, usize) {
        let is_other = |reason: &&Reason| {
            matches!(reason.problem, Problem::OtherTraffic(_) | Problem::OtherLink(_))
        };
        (self.found.iter().filter(is_other).count(), self.found.len())
    }

    /// One by one, in the order in which they were found.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Reason> {
        self.found.iter()
    }
}

impl From<Reason> for Reasons {
    fn from(reason: Reason) -> Reasons {
        Reasons { found: vec![reason], last: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_covered_and_by_what() {
        let reason = Reason::not_covered("kind", "codel", "gred").under("bottleneck.aqm");
        assert_eq!(
            reason.line(None),
            "bottleneck.aqm.kind = codel: no analytic model covers it. Covered: gred"
        );
        assert_eq!(
            reason.line(Some("fixed-point")),
            "bottleneck.aqm.kind = codel: model fixed-point does not cover it. Covered: gred"
        );
        let refused = Reason::from(ConfigError::new("", -1, "not positive")).under("rate");
        assert_eq!(refused.line(Some("fixed-point")), "rate = -1: not positive");
    }

    #[test]
    fn equal_flows_of_a_group_have_one_reason() {
        let mut reasons = Reasons::default();
        let refused =
            |cc: &str| -> Result<(), Reason> { Err(Reason::not_covered("cc", cc, "reno")) };
        for number in 0..3 {
            reasons.keep_of_flow((number, Some(0)), refused("cubic"));
        }
        reasons.keep_of_flow((3, Some(1)), refused("cubic"));
        reasons.keep_of_flow((4, Some(1)), refused("dctcp"));
        let fields: Vec<&str> = reasons.iter().map(|reason| reason.field.as_str()).collect();
        assert_eq!(fields, ["flows.0.cc", "flows.3.cc", "flows.4.cc"]);
        assert_eq!(reasons.clone().or(Some(())), Err(reasons));
        assert_eq!(Reasons::default().or(Some(1)), Ok(1));
    }
}
