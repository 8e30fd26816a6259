//! Python classes for simulations that an agent controls step by step.

use crate::adaptation::TableTexts;
use crate::errors;
use crate::simulate::files;
use crate::trace::Trace;
use airpath_agent::{Action, AgentError, Experiment, Simulation, Statistics, Step};
use airpath_core::{Duration, FlowId, Rate, Time};
use airpath_path::{Components, Scenario};
use airpath_sim::RunMonitor;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Returns name, unit and definition of each statistic of an interval, in the order of a row.
#[pyfunction]
pub(crate) fn agent_quantities() -> Vec<(&'static str, &'static str, &'static str)> {
    Statistics::QUANTITIES.iter().map(|each| (each.name, each.unit, each.about)).collect()
}

/// A resolved scenario with flows of agents.
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct AgentExperiment {
    inner: Experiment,
}

#[pymethods]
impl AgentExperiment {
    /// Reads a resolved scenario in which the flow `flows[k]` has the congestion control
    /// `{"kind": "agent", "agent": k}`. The length of the intervals is ("time", s, 0), ("rtt",
    /// factor, first s) or ("acks", number, longest s). Raises `ValueError`.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)]
    fn read(
        scenario_json: &str,
        traces: BTreeMap<String, Py<Trace>>,
        tables: Option<TableTexts>,
        snr: Option<BTreeMap<String, String>>,
        flows: Vec<u32>,
        step: (String, f64, f64),
    ) -> PyResult<AgentExperiment> {
        let scenario = Scenario::from_json(scenario_json).map_err(errors::config)?;
        let inner = Experiment {
            scenario: Arc::new(scenario),
            files: Arc::new(files(&traces, tables, snr)?),
            flows: flows.into_iter().map(FlowId).collect(),
            step: read_step(&step)?,
        };
        Ok(AgentExperiment { inner })
    }
}

fn read_step((kind, value, other): &(String, f64, f64)) -> PyResult<Step> {
    let duration = |seconds: f64| Duration::from_nanos((seconds * 1e9).round() as u64);
    match kind.as_str() {
        "time" => Ok(Step::Time(duration(*value))),
        "rtt" => Ok(Step::Rtt { factor: *value, first: duration(*other) }),
        "acks" => Ok(Step::Acks { count: *value as u64, longest: duration(*other) }),
        _ => Err(errors::value("step", kind, "unknown")),
    }
}

/// Reads a decision: a window in bytes and a rate in bit/s; infinity for no limit and no pacing.
pub(crate) fn read_action((window, rate): (f64, f64)) -> PyResult<Action> {
    let limit = |name: &str, value: f64| match value {
        value if value == f64::INFINITY => Ok(None),
        // Larger numbers are not exact as floating-point numbers.
        value if (1.0..=9_007_199_254_740_992.0).contains(&value) => Ok(Some(value as u64)),
        value => Err(errors::value(name, value, "not a number from 1 to 2^53, or infinity")),
    };
    Ok(Action { window: limit("window", window)?, rate: limit("rate", rate)?.map(Rate) })
}

/// Monitor that ends a run after a signal, for example Ctrl-C.
#[derive(Default)]
struct Signals {
    raised: RefCell<Option<PyErr>>,
}

impl RunMonitor for Signals {
    fn reached(&self, _now: Time) -> bool {
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => true,
            Err(error) => {
                *self.raised.borrow_mut() = Some(error);
                false
            }
        }
    }

    #[inline(always)]
    fn must_pause(&self) -> bool {
        false
    }
}

impl Signals {
    fn error(self, error: &AgentError) -> PyErr {
        self.raised.into_inner().unwrap_or_else(|| agent_error(error))
    }
}

/// Converts an error of a simulation: `RuntimeError` if the run failed, otherwise `ValueError`.
pub(crate) fn agent_error(error: &AgentError) -> PyErr {
    match error {
        AgentError::Run(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// One episode.
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct AgentSimulation {
    inner: Arc<Mutex<Episode>>,
}

/// A simulation with the memory for its results.
pub(crate) struct Episode {
    pub(crate) simulation: Simulation,
    pub(crate) statistics: Vec<Statistics>,
    row: Vec<f64>,
}

/// Statistics of all agents as bytes, true at the end of the scenario, and for each agent true if
/// its flow has finished.
type Outcome<'py> = (Bound<'py, PyBytes>, bool, Vec<bool>);

#[pymethods]
impl AgentSimulation {
    /// Builds a replication and runs it to the start of the first agent's flow. `decisions` has a
    /// window (bytes) and a rate (bit/s) for each agent. Raises `ValueError` or `RuntimeError`.
    #[staticmethod]
    fn start(
        py: Python<'_>,
        experiment: &AgentExperiment,
        seed: u64,
        replication: u64,
        decisions: Vec<(f64, f64)>,
    ) -> PyResult<AgentSimulation> {
        let actions = decisions.into_iter().map(read_action).collect::<PyResult<Vec<_>>>()?;
        let experiment = &experiment.inner;
        let simulation = py.detach(|| {
            let (signals, run) = (Signals::default(), (seed, replication));
            let made = Simulation::new(experiment, &Components::default(), run, &actions, &signals);
            made.map_err(|error| signals.error(&error))
        })?;
        let episode = Episode { simulation, statistics: Vec::new(), row: Vec::new() };
        Ok(AgentSimulation { inner: Arc::new(Mutex::new(episode)) })
    }

    /// Returns the statistics before the first interval.
    fn first<'py>(&self, py: Python<'py>) -> PyResult<Outcome<'py>> {
        let mut episode = self.episode()?;
        let Episode { simulation, statistics, .. } = &mut *episode;
        simulation.close(statistics);
        episode.outcome(py)
    }

    /// Applies a decision for each agent and runs one interval. Raises `ValueError` or
    /// `RuntimeError`.
    fn step<'py>(&self, py: Python<'py>, decisions: Vec<(f64, f64)>) -> PyResult<Outcome<'py>> {
        let actions = decisions.into_iter().map(read_action).collect::<PyResult<Vec<_>>>()?;
        self.advance(py, &actions)
    }

    /// Does the same as `step` for a single agent.
    fn step_one<'py>(&self, py: Python<'py>, window: f64, rate: f64) -> PyResult<Outcome<'py>> {
        self.advance(py, &[read_action((window, rate))?])
    }

    /// Returns the simulated time, ns.
    fn now_ns(&self) -> PyResult<u64> {
        Ok(self.episode()?.simulation.now().as_nanos())
    }
}

impl AgentSimulation {
    /// Returns the shared episode.
    pub(crate) fn shared(&self) -> Arc<Mutex<Episode>> {
        Arc::clone(&self.inner)
    }

    fn episode(&self) -> PyResult<MutexGuard<'_, Episode>> {
        self.inner.try_lock().map_err(|_| {
            PyRuntimeError::new_err(
                "the simulation is in use: another call has not returned, or it failed",
            )
        })
    }

    fn advance<'py>(&self, py: Python<'py>, actions: &[Action]) -> PyResult<Outcome<'py>> {
        let mut guard = self.episode()?;
        let episode = &mut *guard;
        py.detach(|| {
            let signals = Signals::default();
            let Episode { simulation, statistics, .. } = episode;
            let stepped = simulation.step(actions, &signals, statistics);
            stepped.map_err(|error| signals.error(&error))
        })?;
        guard.outcome(py)
    }
}

impl Episode {
    fn outcome<'py>(&mut self, py: Python<'py>) -> PyResult<Outcome<'py>> {
        self.row.clear();
        self.statistics.iter().for_each(|each| each.values(&mut self.row));
        let finished =
            (0..self.statistics.len()).map(|agent| self.simulation.is_finished(agent)).collect();
        let row = crate::trace::doubles(py, self.row.iter().copied())?;
        Ok((row, self.simulation.has_ended(), finished))
    }
}
