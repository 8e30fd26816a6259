//! Errors for scenarios that cannot be solved.

use crate::reasons::Reasons;
use airpath_model::ModelError;

/// Reason for which a scenario was not solved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// No model covers the scenario. Contains the reasons of the requested model, or of the model
    /// that is closest to the scenario.
    #[error("{}", lines(reasons, chosen.then_some(*model)))]
    NotCovered {
        /// Model to which the reasons belong.
        model: &'static str,
        /// True if the model was requested by name.
        chosen: bool,
        /// Reasons of the model.
        reasons: Reasons,
    },
    /// More than one model covers the scenario, and no model was requested.
    #[error("several models cover it: {}. Name one of them", models.join(", "))]
    Several {
        /// Names of these models.
        models: Vec<&'static str>,
    },
    /// No model has this name.
    #[error("model = {name}: unknown. Accepted: {}", known.join(", "))]
    Unknown {
        /// Requested name.
        name: String,
        /// Names of all models.
        known: Vec<&'static str>,
    },
    /// The model covers the scenario, but its equations have no solution.
    #[error(transparent)]
    Model(#[from] ModelError),
}

fn lines(reasons: &Reasons, chosen: Option<&str>) -> String {
    let lines: Vec<String> = reasons.iter().map(|reason| reason.line(chosen)).collect();
    lines.join("\n")
}
