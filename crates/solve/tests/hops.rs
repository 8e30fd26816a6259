//! Tests of scenarios whose path is a list of hops.

use crate::common::{poisson_document, refused_by};
use airpath_link::Files;
use airpath_path::Scenario;
use airpath_solve::solve;
use serde_json::{Value, json};

/// Returns the Poisson scenario of the tests with its bottleneck as a hop called `name`, after the
/// hops `before`.
fn with_hops(name: &str, before: &[Value]) -> Value {
    let mut document = poisson_document(&[]);
    let table = document.as_object_mut().expect("a table");
    let bottleneck = table.remove("bottleneck").expect("a bottleneck");
    assert_eq!(table.remove("ack_path"), Some(json!({"kind": "ideal"})));
    let last = json!({"name": name, "down": bottleneck});
    let hops: Vec<Value> = before.iter().cloned().chain([last]).collect();
    table.insert("hops".to_owned(), json!(hops));
    document
}

fn scenario(document: &Value) -> Scenario {
    Scenario::from_json(&document.to_string()).expect("a scenario")
}

fn solution(document: &Value) -> Value {
    solve(&scenario(document), &Files::default(), None).expect("it is covered")
}

#[test]
fn one_hop_has_the_solution_of_its_short_form() {
    let short = solution(&poisson_document(&[]));
    assert_eq!(solution(&with_hops("bottleneck", &[])), short);
    assert_eq!(solution(&with_hops("cell", &[])), short);
    let wire = json!({"delay_ns": 7_000_000});
    let backhaul = solution(&poisson_document(&[("/backhaul", wire.clone())]));
    assert_eq!(solution(&with_hops("cell", &[json!({"name": "core", "wire": wire})])), backhaul);
    assert_ne!(backhaul, short);
}

#[test]
fn two_hops_and_partial_routes_are_not_covered() {
    let second = poisson_document(&[])["bottleneck"].clone();
    let two = with_hops("cell", &[json!({"name": "dsl", "down": second})]);
    let line =
        "hops = dsl, cell: no analytic model covers it. Covered: one hop with a link for data";
    assert_eq!(refused_by(&scenario(&two)), [line]);
    let mut partial = with_hops("cell", &[json!({"name": "core", "wire": {"delay_ns": 1}})]);
    partial["flows"][1]["hops"] = json!(["cell", "cell"]);
    let line = "flows.1.hops = cell to cell: no analytic model covers it. Covered: flows that cross \
                all hops";
    assert_eq!(refused_by(&scenario(&partial)), [line]);
}
