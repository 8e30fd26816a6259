//! Compiled Python module `airpath._airpath`: makes functions of the other crates available in
//! Python.
//!
//! Scenarios are passed as JSON in SI base units. Results are returned as JSON and as columns of
//! bytes, from which the package `airpath` builds its public objects.
#![forbid(unsafe_code)]

mod adaptation;
mod agent_vector;
mod bit_errors;
mod csv;
mod environment;
mod errors;
mod models;
mod parts;
mod phy;
mod simulate;
mod solve;
mod tables;
mod trace;

use pyo3::prelude::*;

/// Returns the version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the commit from which the module was built; `unknown` outside a repository.
#[pyfunction]
fn commit() -> &'static str {
    env!("AIRPATH_COMMIT")
}

/// Returns the built-in components as JSON: family -> list of (name, one-line description).
#[pyfunction]
fn registry() -> String {
    let mut kinds = serde_json::json!({
        "capture": airpath_sim::Point::OF_EVERY_PATH,
        "model": airpath_solve::MODELS.iter().map(|m| (m.name, m.summary)).collect::<Vec<_>>(),
    });
    for (family, components) in airpath_path::FAMILIES {
        kinds[*family] = serde_json::json!(components);
    }
    kinds.to_string()
}

/// Returns the mean and the Student-t interval of independent values: (mean, low, high).
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn mean_interval(values: Vec<f64>, confidence: f64) -> (f64, f64, f64) {
    let interval = airpath_core::stats::mean_interval(&values, confidence);
    (interval.mean, interval.low, interval.high)
}

/// Returns Jain's fairness index.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn jain_index(shares: Vec<f64>) -> f64 {
    airpath_core::stats::jain_index(&shares)
}

/// The compiled module of Airpath.
#[pymodule]
fn _airpath(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(commit, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(tables::vocabulary, module)?)?;
    module.add_function(wrap_pyfunction!(mean_interval, module)?)?;
    module.add_function(wrap_pyfunction!(jain_index, module)?)?;
    module.add_function(wrap_pyfunction!(csv::csv_rows, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::capture_points, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::check, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::component_problems, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::scenario_problems, module)?)?;
    module.add_function(wrap_pyfunction!(models::rtt_stages, module)?)?;
    module.add_function(wrap_pyfunction!(models::square_root, module)?)?;
    module.add_function(wrap_pyfunction!(solve::solve, module)?)?;
    module.add_function(wrap_pyfunction!(adaptation::policy_choices, module)?)?;
    module.add_function(wrap_pyfunction!(solve::optimum_pair, module)?)?;
    module.add_function(wrap_pyfunction!(solve::fixed_points, module)?)?;
    module.add_function(wrap_pyfunction!(trace::generate_trace, module)?)?;
    module.add_function(wrap_pyfunction!(phy::phy_components, module)?)?;
    module.add_function(wrap_pyfunction!(phy::phy_channel, module)?)?;
    module.add_function(wrap_pyfunction!(phy::phy_problems, module)?)?;
    module.add_function(wrap_pyfunction!(phy::phy_measure, module)?)?;
    module.add_function(wrap_pyfunction!(phy::wilson_interval, module)?)?;
    module.add_function(wrap_pyfunction!(phy::cost231_hata_db, module)?)?;
    module.add_function(wrap_pyfunction!(phy::link_budget_snr_db, module)?)?;
    module.add_function(wrap_pyfunction!(bit_errors::symbol_error_rates, module)?)?;
    module.add_function(wrap_pyfunction!(bit_errors::symbol_error_names, module)?)?;
    module.add_function(wrap_pyfunction!(bit_errors::shadowing_levels, module)?)?;
    module.add_function(wrap_pyfunction!(phy::sinr_db, module)?)?;
    module.add_function(wrap_pyfunction!(environment::agent_quantities, module)?)?;
    module.add_function(wrap_pyfunction!(parts::part_records, module)?)?;
    module.add_class::<environment::AgentExperiment>()?;
    module.add_class::<environment::AgentSimulation>()?;
    module.add_class::<agent_vector::AgentVector>()?;
    module.add_class::<bit_errors::ErrorChain>()?;
    module.add_class::<bit_errors::ReedSolomon>()?;
    module.add_class::<phy::PerTable>()?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<simulate::SimulationOutput>()?;
    parts::add_classes(module)
}
