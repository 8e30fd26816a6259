//! Why a scenario was not solved.

use crate::reasons::Reasons;
use airpath_model::ModelError;

/// Why a scenario was not solved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// No model covers it: what the nearest one lacks, or the requested one.
    #[error("{}", lines(reasons, chosen.then_some(*model)))]
    NotCovered {
        /// The model whose reasons these are.
        model: &'static str,
        /// Whether it was requested by name.
        chosen: bool,
        /// A line for each.
        reasons: Reasons,
    },
    /// More than one model covers it, and none was requested.
    #[error("several models cover it: {}. Name one of them", models.join(", "))]
    Several {
        /// Their names.
        models: Vec<&'static str>,
    },
    /// There is no model of that name.
    #[error("model = {name}: unknown. Accepted: {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// All models.
        known: Vec<&'static str>,
    },
    /// The model covers it, but its equations have no solution.
    #[error(transparent)]
    Model(#[from] ModelError),
}

fn lines(reasons: &Reasons, chosen: Option<&str>) -> String {
    let lines: Vec<String> = reasons.iter().map(|reason| reason.line(chosen)).collect();
    lines.join("\n")
}
