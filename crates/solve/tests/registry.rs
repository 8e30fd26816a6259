//! Tests of the selection of a model, and of the reported reasons.

use crate::common::changed;
use airpath_link::Files;
use airpath_model::ModelError;
use airpath_solve::{
    DumbbellScenario, Entry, MODELS, Model, Reason, Reasons, SolveError, solve, solve_with,
};
use serde::Serialize;
use serde_json::json;

/// A model that covers every scenario that has a name.
struct Named;

#[derive(Serialize)]
struct Length {
    letters: usize,
    warnings: Vec<String>,
}

impl Model for Named {
    const NAME: &'static str = "named";
    const SUMMARY: &'static str = "The letters of a scenario's name.";
    type Problem = String;
    type Solution = Length;

    fn covers_dumbbell(scenario: &DumbbellScenario, _files: &Files) -> Result<String, Reasons> {
        let mut reasons = Reasons::default();
        let is_there = || Reason::not_covered("name", "nothing", "a text");
        let name = (!scenario.name.is_empty()).then(|| scenario.name.clone());
        let name = reasons.keep(name.ok_or_else(is_there));
        reasons.or(name)
    }

    fn solve(problem: &String) -> Result<Length, ModelError> {
        if problem == "none" {
            return Err(ModelError::NoFlows);
        }
        Ok(Length { letters: problem.len(), warnings: Vec::new() })
    }
}

fn both() -> Vec<Entry> {
    MODELS.iter().copied().chain([Entry::of::<Named>()]).collect()
}

#[test]
fn solve_uses_the_only_covering_model_and_returns_its_name() {
    let found = solve(&changed(&[]), &Files::default(), None).expect("a fixed point");
    assert_eq!(found["model"], "fixed-point");
    let blank = changed(&[("/bottleneck/queue", json!({"kind": "pie"})), ("/name", json!("abc"))]);
    let found = solve_with(&both(), &blank, &Files::default(), None).expect("it has a name");
    assert_eq!(found, json!({"model": "named", "letters": 3, "warnings": []}));
}

#[test]
fn solve_requires_a_name_if_several_models_cover_the_scenario() {
    let scenario = changed(&[("/name", json!("abc"))]);
    let several = solve_with(&both(), &scenario, &Files::default(), None).unwrap_err();
    assert_eq!(
        several.to_string(),
        "several models cover it: fixed-point, named. Name one of them"
    );
    let found = solve_with(&both(), &scenario, &Files::default(), Some("named"));
    assert_eq!(found.expect("it was named")["letters"], 3);
}

#[test]
fn reasons_are_those_of_the_nearest_or_the_requested_model() {
    let changes = [("/bottleneck/queue", json!({"kind": "pie"})), ("/flows/0/stop_ns", json!(1))];
    let scenario = changed(&changes);
    let of = |name| solve_with(&both(), &scenario, &Files::default(), name).unwrap_err();
    assert_eq!(
        of(None).to_string(),
        "name = nothing: no analytic model covers it. Covered: a text"
    );
    assert_eq!(
        of(Some("fixed-point")).to_string(),
        "flows.0.stop = a time: model fixed-point does not cover it. Covered: flows without an end\n\
         bottleneck.aqm.kind = pie: model fixed-point does not cover it. Covered: gred, droptail"
    );
    // If two models have the same number of reasons, the first model in the list is reported.
    let one = changed(&changes[..1]);
    let refused = solve_with(&both(), &one, &Files::default(), None).unwrap_err();
    assert!(matches!(refused, SolveError::NotCovered { model: "fixed-point", .. }));
}

#[test]
fn unknown_names_and_unsolvable_equations_are_reported() {
    let unknown = solve(&changed(&[]), &Files::default(), Some("fluid")).unwrap_err();
    let known: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
    let line = format!("model = fluid: unknown. Accepted: {}", known.join(", "));
    assert_eq!(unknown.to_string(), line);
    let scenario = changed(&[("/name", json!("none"))]);
    let failed = solve_with(&[Entry::of::<Named>()], &scenario, &Files::default(), None);
    assert_eq!(failed.unwrap_err().to_string(), ModelError::NoFlows.to_string());
}
