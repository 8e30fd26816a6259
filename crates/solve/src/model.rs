//! The contract of an analytic model.

use crate::error::SolveError;
use crate::reasons::Reasons;
use airpath_link::Files;
use airpath_model::ModelError;
use airpath_path::Scenario;
use serde::Serialize;
use serde_json::Value;

/// An analytic model: what of a scenario it covers, and the steady state of that.
pub trait Model {
    /// Value of `--model`, and of `model` in results.
    const NAME: &'static str;
    /// Description of the model, one line.
    const SUMMARY: &'static str;
    /// Kind of the link that the model is of, where that does not send packet by packet.
    const OWN_LINK: Option<&'static str> = None;
    /// A scenario in the model's terms.
    type Problem: 'static;
    /// Its kind of result. An object in JSON, with a list of texts `warnings`.
    type Solution: Serialize;

    /// The scenario in the model's terms.
    ///
    /// # Errors
    /// A reason for each key of the scenario that the model does not account for, and for each
    /// value that is not accepted.
    fn covers(scenario: &Scenario, files: &Files) -> Result<Self::Problem, Reasons>;

    /// The steady state.
    ///
    /// # Errors
    /// When the equations have no solution for this problem.
    fn solve(problem: &Self::Problem) -> Result<Self::Solution, ModelError>;
}

/// A problem that is solved when it is called: the solution in JSON, with the model's name.
pub(crate) type Matched = Box<dyn FnOnce() -> Result<Value, ModelError>>;

/// A model in a list of models.
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
    /// The entry of a model.
    pub const fn of<M: Model>() -> Entry {
        Entry { name: M::NAME, summary: M::SUMMARY, own_link: M::OWN_LINK, covers: matched::<M> }
    }
}

fn matched<M: Model>(scenario: &Scenario, files: &Files) -> Result<Matched, Reasons> {
    let problem = M::covers(scenario, files)?;
    Ok(Box::new(move || Ok(document::<M>(&M::solve(&problem)?))))
}

/// The problem of a scenario in the terms of the model that the caller chose.
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

/// A solution as JSON, with `model`, the name of its model.
pub(crate) fn document<M: Model>(solution: &M::Solution) -> Value {
    let mut json = serde_json::to_value(solution).expect("solutions are numbers and texts");
    json["model"] = Value::from(M::NAME);
    json
}
