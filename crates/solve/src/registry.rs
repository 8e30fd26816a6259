//! The list of models, and the selection of the model that covers a scenario.

use crate::clamp_fluid::ClampFlows;
use crate::error::SolveError;
use crate::fixed_point::FixedPoint;
use crate::md1k::PoissonQueue;
use crate::mimo::MimoPackets;
use crate::model::Entry;
use crate::network_fixed_point::NetworkFixedPoint;
use crate::rtt_stages::RttStages;
use airpath_link::Files;
use airpath_path::Scenario;
use serde_json::Value;

/// All models, in the order of `airpath list model`.
pub const MODELS: &[Entry] = &[
    Entry::of::<FixedPoint>(),
    Entry::of::<PoissonQueue>(),
    Entry::of::<ClampFlows>(),
    Entry::of::<RttStages>(),
    Entry::of::<MimoPackets>(),
    Entry::of::<NetworkFixedPoint>(),
];

/// Solves `scenario` with the model named `chosen`, or with the only model that covers the
/// scenario. Returns the model's [`Solution`](crate::Model::Solution) in JSON, with the model's
/// name under `model`.
///
/// # Errors
/// Fails if no model or more than one model covers the scenario, or if the equations have no
/// solution.
pub fn solve(
    scenario: &Scenario,
    files: &Files,
    chosen: Option<&str>,
) -> Result<Value, SolveError> {
    solve_with(MODELS, scenario, files, chosen)
}

/// Solves `scenario` as [`solve`] does, but uses only the models in `models`, which must not be
/// empty.
///
/// # Errors
/// Fails in the same cases as [`solve`]. If no model covers the scenario, the error contains the
/// reasons of the closest model. This is the model with the fewest reasons among the models for the
/// scenario's kinds of traffic and link.
pub fn solve_with(
    models: &[Entry],
    scenario: &Scenario,
    files: &Files,
    chosen: Option<&str>,
) -> Result<Value, SolveError> {
    let selected = |model: &&Entry| chosen.is_none_or(|name| name == model.name);
    let (mut covering, mut refusals) = (Vec::new(), Vec::new());
    for model in models.iter().filter(selected) {
        match (model.covers)(scenario, files) {
            Ok(problem) => covering.push((model.name, problem)),
            Err(reasons) => refusals.push((model.name, reasons)),
        }
    }
    if covering.len() > 1 {
        let models = covering.into_iter().map(|(name, _)| name).collect();
        return Err(SolveError::Several { models });
    }
    if let Some((_, problem)) = covering.pop() {
        return problem().map_err(SolveError::Model);
    }
    match refusals.into_iter().min_by_key(|(_, reasons)| reasons.distance()) {
        Some((model, reasons)) => {
            Err(SolveError::NotCovered { model, chosen: chosen.is_some(), reasons })
        }
        None => Err(SolveError::Unknown {
            name: chosen.unwrap_or_default().to_owned(),
            known: models.iter().map(|model| model.name).collect(),
        }),
    }
}
