//! The interface of an analytic model.

use crate::dumbbell::DumbbellScenario;
use crate::error::SolveError;
use crate::reasons::Reasons;
use airpath_link::Files;
use airpath_model::ModelError;
use airpath_path::Scenario;
use serde::Serialize;
use serde_json::Value;

/// An analytic model: checks whether it covers a scenario, and computes its steady state.
pub trait Model {
    /// Value of `--model`, and of `model` in results.
    const NAME: &'static str;
    /// Description of the model, one line.
    const SUMMARY: &'static str;
    /// Link kind for which this model was made, if it is a link kind that does not send packet by
    /// packet.
    const OWN_LINK: Option<&'static str> = None;
    /// A scenario in the model's terms.
    type Problem: 'static;
    /// Result of the model. In JSON it is an object that contains `warnings`, a list of strings.
    type Solution: Serialize;

    /// Converts a scenario with one bottleneck into the model's terms.
    ///
    /// # Errors
    /// Returns a reason for each key of the scenario that the model does not cover, and for each
    /// invalid value.
    fn covers_dumbbell(
        scenario: &DumbbellScenario,
        files: &Files,
    ) -> Result<Self::Problem, Reasons>;

    /// Converts a scenario into the model's terms.
    ///
    /// # Errors
    /// Fails in the same cases as `covers_dumbbell`, and if the path has several bottlenecks.
    fn covers(scenario: &Scenario, files: &Files) -> Result<Self::Problem, Reasons> {
        Self::covers_dumbbell(&DumbbellScenario::of(scenario)?, files)
    }

    /// Computes the steady state.
    ///
    /// # Errors
    /// Fails if the equations have no solution for this problem.
    fn solve(problem: &Self::Problem) -> Result<Self::Solution, ModelError>;
}

/// Function that solves a problem and returns the solution in JSON with the model's name.
pub(crate) type Matched = Box<dyn FnOnce() -> Result<Value, ModelError>>;

/// Entry of a model in the list of models.
#[derive(Clone, Copy)]
pub struct Entry {
    /// [`Model::NAME`].
    pub name: &'static str,
    /// [`Model::SUMMARY`].
    pub summary: &'static str,
    /// [`Model::OWN_LINK`].
    pub own_link: Option<&'static str>,
    pub(crate) covers: fn(&Scenario, &Files) -> Result<Matched, Reasons>,
}

impl Entry {
    /// Returns the entry of a model.
    pub const fn of<M: Model>() -> Entry {
        Entry { name: M::NAME, summary: M::SUMMARY, own_link: M::OWN_LINK, covers: matched::<M> }
    }
}

fn matched<M: Model>(scenario: &Scenario, files: &Files) -> Result<Matched, Reasons> {
    let problem = M::covers(scenario, files)?;
    Ok(Box::new(move || Ok(document::<M>(&M::solve(&problem)?))))
}

/// Converts a scenario into a problem of model `M`.
pub(crate) fn problem_of<M: Model>(
    scenario: &Scenario,
    files: &Files,
) -> Result<M::Problem, SolveError> {
    M::covers(scenario, files).map_err(|reasons| SolveError::NotCovered {
        model: M::NAME,
        chosen: true,
        reasons,
    })
}

/// Returns a solution as JSON, with the name of its model under `model`.
pub(crate) fn document<M: Model>(solution: &M::Solution) -> Value {
    let mut json = serde_json::to_value(solution).expect("solutions are numbers and texts");
    json["model"] = Value::from(M::NAME);
    json
}
