//! Reasons for which a model does not cover a scenario.

use airpath_core::ConfigError;

/// A key of a scenario that a model does not cover, or that has an invalid value.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Path of the key, separated by dots; flows are numbered from 0.
    pub field: String,
    /// Value of the key.
    pub value: String,
    /// Problem with the value.
    pub problem: Problem,
}

/// Problem with a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The model does not cover the value. Contains a description of the covered values.
    NotCovered(String),
    /// The model is for other traffic. Contains a description of the covered traffic.
    OtherTraffic(String),
    /// The model is for another kind or number of links. Contains a description of the covered
    /// links.
    OtherLink(String),
    /// The value is invalid. Contains a description of the problem and of the accepted values.
    NotAccepted(String),
}

impl Reason {
    /// Returns the reason for a `value` that the model does not cover; `covered` lists the covered
    /// values.
    pub fn not_covered(
        field: impl Into<String>,
        value: impl ToString,
        covered: impl Into<String>,
    ) -> Reason {
        let problem = Problem::NotCovered(covered.into());
        Reason { field: field.into(), value: value.to_string(), problem }
    }

    /// Returns the reason for a flow of kind `source`, for a model of flows of kind `covered`.
    pub fn other_traffic(source: &str, covered: &str) -> Reason {
        let problem = Problem::OtherTraffic(covered.to_owned());
        Reason { field: "source".to_owned(), value: source.to_owned(), problem }
    }

    /// Returns the reason for a link of kind `kind`, for a model of links of the kinds `covered`.
    pub fn other_link(kind: &str, covered: &str) -> Reason {
        let problem = Problem::OtherLink(covered.to_owned());
        Reason { field: "kind".to_owned(), value: kind.to_owned(), problem }
    }

    /// Returns the reason for a path with these hops, for a model of paths of `covered`.
    pub fn other_path(hops: impl ToString, covered: &str) -> Reason {
        let problem = Problem::OtherLink(covered.to_owned());
        Reason { field: "hops".to_owned(), value: hops.to_string(), problem }
    }

    /// Returns the reason with `parent` added before the key.
    #[must_use]
    pub fn under(mut self, parent: &str) -> Reason {
        let dot = if self.field.is_empty() { "" } else { "." };
        self.field = format!("{parent}{dot}{}", self.field);
        self
    }

    /// Formats the reason as one line. `chosen` is the model's name if it was requested by name.
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

/// All reasons of a model. As an error it contains at least one reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    found: Vec<Reason>,
    /// Group of the last flow that has a reason, and this reason without the flow number.
    last: Option<Box<(Option<u32>, Reason)>>,
}

impl Reasons {
    /// Returns the value of `result`, or stores the reason if `result` is an error.
    pub fn keep<T>(&mut self, result: Result<T, Reason>) -> Option<T> {
        result.map_err(|reason| self.found.push(reason)).ok()
    }

    /// Handles a result for flow `number` as [`Reasons::keep`] does. If consecutive flows of a
    /// group have equal reasons, the reason is stored once.
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

    /// Returns `problem` if it exists and no reason was stored.
    ///
    /// # Errors
    /// Returns the stored reasons.
    pub fn or<T>(self, problem: Option<T>) -> Result<T, Reasons> {
        match problem {
            Some(problem) if self.found.is_empty() => Ok(problem),
            _ => Err(self),
        }
    }

    /// Returns the distance of the model from the scenario as a pair: the number of groups of flows
    /// and of links that are of another kind, and the number of all reasons.
    pub(crate) fn distance(&self) -> (usize, usize) {
        let is_other = |reason: &&Reason| {
            matches!(reason.problem, Problem::OtherTraffic(_) | Problem::OtherLink(_))
        };
        (self.found.iter().filter(is_other).count(), self.found.len())
    }

    /// Iterates over the reasons in the order in which they were found.
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
    fn line_lists_covered_values_and_the_requested_model() {
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
    fn equal_reasons_of_a_group_are_stored_once() {
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
