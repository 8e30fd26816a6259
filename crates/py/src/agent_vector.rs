//! Python class that steps several simulations with agents on several threads.

use crate::environment::{AgentSimulation, Episode, agent_error, read_action};
use airpath_agent::{Action, AgentError, Pool, Statistics};
use airpath_core::Time;
use airpath_sim::RunMonitor;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::ThreadId;

/// Simulations with one agent each, and the threads that step them.
#[pyclass(frozen, module = "airpath._airpath")]
pub(crate) struct AgentVector {
    inner: Mutex<Vector>,
}

struct Vector {
    episodes: Vec<Option<Arc<Mutex<Episode>>>>,
    threads: usize,
    pool: Option<Pool>,
}

/// Result of one step of one simulation.
#[derive(Default)]
struct Stepped {
    values: Vec<f64>,
    has_ended: bool,
    is_finished: bool,
    error: Option<AgentError>,
}

/// Statistics (quantity by quantity, each with one double per simulation), and one byte per
/// simulation: 1 at the end of the scenario, plus 2 if the flow has finished.
type Outcome<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Monitor of all threads of a step. The calling thread checks signals; a signal stops all threads.
struct Signals {
    caller: ThreadId,
    stop: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    fn check(&self) {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.stop.store(true, Ordering::Relaxed);
            *self.raised.lock().expect("no thread panics with the lock") = Some(error);
        }
    }
}

impl RunMonitor for Signals {
    fn reached(&self, _now: Time) -> bool {
        if std::thread::current().id() == self.caller {
            self.check();
        }
        !self.stop.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn must_pause(&self) -> bool {
        false
    }
}

#[pymethods]
impl AgentVector {
    /// Creates `count` empty places and `threads` threads.
    #[staticmethod]
    fn create(count: usize, threads: usize) -> AgentVector {
        let episodes = (0..count).map(|_| None).collect();
        AgentVector { inner: Mutex::new(Vector { episodes, threads, pool: None }) }
    }

    /// Places a simulation. Raises `ValueError`.
    fn put(&self, index: usize, simulation: &AgentSimulation) -> PyResult<()> {
        let mut vector = self.vector()?;
        let Some(place) = vector.episodes.get_mut(index) else {
            return Err(PyValueError::new_err(format!("index = {index}: no such place")));
        };
        *place = Some(simulation.shared());
        Ok(())
    }

    /// Runs one interval of each simulation with a byte other than 0 in `mask`. `decisions` has two
    /// doubles for each place: window (bytes) and rate (bit/s). The statistics of the other places
    /// are 0. Raises `ValueError` or `RuntimeError`.
    fn step<'py>(&self, py: Python<'py>, decisions: &[u8], mask: &[u8]) -> PyResult<Outcome<'py>> {
        let mut vector = self.vector()?;
        let jobs = vector.jobs(&read_actions(decisions)?, mask)?;
        let vector = &mut *vector;
        let stepped = py.detach(|| vector.run(jobs))?;
        outcome(py, &stepped)
    }
}

impl AgentVector {
    fn vector(&self) -> PyResult<MutexGuard<'_, Vector>> {
        self.inner.try_lock().map_err(|_| {
            PyRuntimeError::new_err("the simulations are in use by another call, or have failed")
        })
    }
}

/// A simulation to step, and its action.
type Job = Option<(Arc<Mutex<Episode>>, Action)>;

impl Vector {
    fn jobs(&self, actions: &[Action], mask: &[u8]) -> PyResult<Vec<Job>> {
        if actions.len() != self.episodes.len() || mask.len() != self.episodes.len() {
            let message = format!("{} decisions, {} bytes", actions.len(), mask.len());
            return Err(PyValueError::new_err(format!(
                "{message} for {} places",
                self.episodes.len()
            )));
        }
        let jobs = self.episodes.iter().zip(actions).zip(mask).map(|((episode, action), mask)| {
            match (episode, *mask) {
                (_, 0) => Ok(None),
                (Some(episode), _) => Ok(Some((Arc::clone(episode), *action))),
                (None, _) => Err(PyRuntimeError::new_err("a place has no simulation")),
            }
        });
        jobs.collect()
    }

    fn run(&mut self, jobs: Vec<Job>) -> PyResult<Vec<Stepped>> {
        let pool = match self.pool.take().filter(Pool::is_alive) {
            Some(pool) => pool,
            None => {
                Pool::new(self.threads).map_err(|error| PyOSError::new_err(error.to_string()))?
            }
        };
        let count = jobs.len();
        let caller = std::thread::current().id();
        let signals =
            Arc::new(Signals { caller, stop: AtomicBool::new(false), raised: Mutex::default() });
        let results: Arc<Vec<Mutex<Option<Stepped>>>> =
            Arc::new((0..count).map(|_| Mutex::default()).collect());
        let work = {
            let (signals, results) = (Arc::clone(&signals), Arc::clone(&results));
            move |index: usize| {
                let stepped = match &jobs[index] {
                    Some((episode, action)) => step(episode, *action, &signals),
                    None => Stepped::default(),
                };
                *results[index].lock().expect("no thread panics with the lock") = Some(stepped);
            }
        };
        pool.run(count, Arc::new(work), || signals.check());
        self.pool = Some(pool);
        if let Some(error) = signals.raised.lock().expect("no thread panics with the lock").take() {
            return Err(error);
        }
        let take = |(index, result): (usize, &Mutex<Option<Stepped>>)| {
            let found = result.lock().expect("no thread panics with the lock").take();
            let stepped = found.ok_or_else(|| {
                PyRuntimeError::new_err(format!("environment {index}: a thread panicked"))
            })?;
            match &stepped.error {
                None => Ok(stepped),
                Some(error) => Err(agent_error(error)),
            }
        };
        results.iter().enumerate().map(take).collect()
    }
}

fn step(episode: &Mutex<Episode>, action: Action, signals: &Signals) -> Stepped {
    let mut episode = episode.lock().expect("no thread panics with the lock");
    let Episode { simulation, statistics, .. } = &mut *episode;
    let error = simulation.step(&[action], signals, statistics).err();
    let mut values = Vec::with_capacity(Statistics::QUANTITIES.len());
    if let Some(found) = statistics.first().filter(|_| error.is_none()) {
        found.values(&mut values);
    }
    let (has_ended, is_finished) = (simulation.has_ended(), simulation.is_finished(0));
    Stepped { values, has_ended, is_finished, error }
}

fn read_actions(decisions: &[u8]) -> PyResult<Vec<Action>> {
    let (pairs, rest) = decisions.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(PyValueError::new_err("decisions: not two doubles for each place"));
    }
    let read = |pair: &[u8; 16]| {
        let [window, rate] =
            [0, 8].map(|at| f64::from_le_bytes(std::array::from_fn(|byte| pair[at + byte])));
        read_action((window, rate))
    };
    pairs.iter().map(read).collect()
}

fn outcome<'py>(py: Python<'py>, stepped: &[Stepped]) -> PyResult<Outcome<'py>> {
    let (count, width) = (stepped.len(), Statistics::QUANTITIES.len());
    let values = PyBytes::new_with(py, count * width * 8, |bytes| {
        for (place, cell) in bytes.chunks_exact_mut(8).enumerate() {
            let value = stepped[place % count].values.get(place / count).copied().unwrap_or(0.0);
            cell.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    })?;
    let flags: Vec<u8> = stepped
        .iter()
        .map(|each| u8::from(each.has_ended) + 2 * u8::from(each.is_finished))
        .collect();
    Ok((values, PyBytes::new(py, &flags)))
}
