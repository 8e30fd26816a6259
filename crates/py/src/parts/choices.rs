//! Schedulers and link-adaptation policies that are classes in Python. Both choose a candidate.

use super::{Call, CallError, PartError, Random, numbers, place};
use airpath_core::{Duration, Setup, StageError};
use airpath_link::scheduler::{self, Population, Scheduler};
use airpath_phy::adaptation::{self, Policy, SchemeNames};
use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A user with data in a slot.
#[pyclass(frozen, freelist = 64, module = "airpath.parts")]
pub(crate) struct User(scheduler::Candidate);

#[pymethods]
impl User {
    /// Create a user, for tests of a scheduler.
    #[new]
    #[pyo3(signature = (user, rate, *, backlog=1500, head_wait_ns=0))]
    fn new(user: u32, rate: f64, backlog: u64, head_wait_ns: u64) -> User {
        User(scheduler::Candidate {
            user: airpath_core::UserId(user),
            rate,
            backlog: airpath_core::Bytes(backlog),
            head_wait: Duration::from_nanos(head_wait_ns),
        })
    }

    /// ID of the user.
    #[getter]
    fn user(&self) -> u32 {
        self.0.user.0
    }

    /// Rate of the user in this slot, bit/s.
    #[getter]
    fn rate(&self) -> f64 {
        self.0.rate
    }

    /// Bytes of the packets that wait or are not completely delivered.
    #[getter]
    fn backlog(&self) -> u64 {
        self.0.backlog.0
    }

    /// Waiting time of the first of these packets, s.
    #[getter]
    fn head_wait(&self) -> f64 {
        self.0.head_wait.as_secs_lossy()
    }

    /// Waiting time of the first of these packets, ns.
    #[getter]
    fn head_wait_ns(&self) -> u64 {
        self.0.head_wait.as_nanos()
    }

    fn __repr__(&self) -> String {
        format!("User(user={}, rate={}, backlog={})", self.0.user.0, self.0.rate, self.0.backlog.0)
    }
}

/// A modulation and coding scheme with its error rates at the estimated SNR.
#[pyclass(frozen, freelist = 64, module = "airpath.parts")]
pub(crate) struct Scheme(adaptation::Candidate);

#[pymethods]
impl Scheme {
    /// Create a scheme, for tests of a policy.
    #[new]
    fn new(efficiency: f64, fer: f64, per: f64) -> Scheme {
        Scheme(adaptation::Candidate { efficiency, fer, per })
    }

    /// Information bits per symbol.
    #[getter]
    fn efficiency(&self) -> f64 {
        self.0.efficiency
    }

    /// Block error rate.
    #[getter]
    fn fer(&self) -> f64 {
        self.0.fer
    }

    /// Error rate of a packet of the reference size.
    #[getter]
    fn per(&self) -> f64 {
        self.0.per
    }

    fn __repr__(&self) -> String {
        let adaptation::Candidate { efficiency, fer, per } = self.0;
        format!("Scheme(efficiency={efficiency}, fer={fer}, per={per})")
    }
}

/// The users of a cell, for a scheduler.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct SchedulerSetup {
    population: Population,
    random: Py<Random>,
}

#[pymethods]
impl SchedulerSetup {
    /// Weight of each user, by user ID.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.population.weights.iter())
    }

    /// Length of a slot, s.
    #[getter]
    fn slot(&self) -> f64 {
        self.population.slot.as_secs_lossy()
    }

    /// Length of a slot, ns.
    #[getter]
    fn slot_ns(&self) -> u64 {
        self.population.slot.as_nanos()
    }

    /// Nominal rate of the cell, bit/s.
    #[getter]
    fn rate(&self) -> u64 {
        self.population.rate.0
    }

    /// Random numbers of this scheduler.
    #[getter]
    fn rng(&self, py: Python<'_>) -> Py<Random> {
        self.random.clone_ref(py)
    }
}

/// The modulation and coding schemes of a link, for a policy.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct PolicySetup(SchemeNames);

#[pymethods]
impl PolicySetup {
    /// Names of the schemes, in the order of the error-rate table.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.iter())
    }
}

/// The method `choose` of an object in Python.
struct Chooser {
    place: String,
    choose: Py<PyAny>,
}

impl Chooser {
    /// Returns the chooser of a started object, and the object.
    fn new<'py>(
        place: &str,
        factory: &Bound<'py, PyAny>,
        arguments: (String, Bound<'py, PyAny>),
    ) -> PyResult<(Chooser, Bound<'py, PyAny>)> {
        let object = factory.call_method1("create", arguments)?;
        let choose = object.getattr("choose")?.unbind();
        Ok((Chooser { place: place.to_owned(), choose }, object))
    }

    /// Returns the index that `choose` returns for a list of `count` candidates.
    fn choose<'py, A>(
        &self,
        py: Python<'py>,
        arguments: A,
        count: usize,
    ) -> Result<usize, PartError>
    where
        A: PyCallArgs<'py>,
    {
        let _call = Call::enter();
        let chosen = self.choose.bind(py).call1(arguments).map_err(CallError::Raised);
        chosen
            .and_then(|value| numbers::index(&value, count).map_err(CallError::Value))
            .map_err(|error| error.of(&self.place, "choose"))
    }
}

/// A scheduler whose methods are those of an object in Python.
struct PyScheduler {
    chooser: Chooser,
    served: Option<Py<PyAny>>,
    failure: Option<PartError>,
}

/// Creates the scheduler of a cell.
///
/// # Errors
/// Fails if the constructor or `start` of the class raises an exception.
pub(super) fn build_scheduler(
    factory: &Py<PyAny>,
    parameters: &Value,
    setup: Setup<'_, dyn Scheduler + Send, Population>,
    kind: &str,
) -> Result<Box<dyn Scheduler + Send>, PartError> {
    let place = place(kind, &setup.seed);
    Python::attach(|py| {
        let _call = Call::enter();
        let random = Py::new(py, Random::new(setup.seed.child("part").stream()));
        let built = random.and_then(|random| {
            let view = Bound::new(py, SchedulerSetup { population: setup.extra, random })?;
            let arguments = (parameters.to_string(), view.into_any());
            let (chooser, object) = Chooser::new(&place, factory.bind(py), arguments)?;
            let methods: BTreeSet<String> = factory.bind(py).getattr("methods")?.extract()?;
            let served =
                methods.contains("served").then(|| object.getattr("served")).transpose()?;
            Ok(PyScheduler { chooser, served: served.map(Bound::unbind), failure: None })
        });
        match built {
            Ok(scheduler) => Ok(Box::new(scheduler) as Box<dyn Scheduler + Send>),
            Err(error) => Err(CallError::Raised(error).of(&place, "start")),
        }
    })
}

/// Returns a list of new objects for the users.
fn users<'py>(
    py: Python<'py>,
    candidates: &[scheduler::Candidate],
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, candidates.iter().map(|candidate| User(*candidate)))
}

impl Scheduler for PyScheduler {
    fn choose(&mut self, slot: u64, candidates: &[scheduler::Candidate]) -> usize {
        let chosen = Python::attach(|py| match users(py, candidates) {
            Ok(list) => self.chooser.choose(py, (slot, list), candidates.len()),
            Err(error) => Err(CallError::Raised(error).of(&self.chooser.place, "choose")),
        });
        chosen.unwrap_or_else(|failure| {
            self.failure.get_or_insert(failure);
            0
        })
    }

    fn served(&mut self, slot: u64, candidates: &[scheduler::Candidate], place: usize, rate: f64) {
        let Some(served) = &self.served else { return };
        let called = Python::attach(|py| {
            let _call = Call::enter();
            served.call1(py, (slot, users(py, candidates)?, place, rate)).map(drop)
        });
        if let Err(error) = called {
            let failure = CallError::Raised(error).of(&self.chooser.place, "served");
            self.failure.get_or_insert(failure);
        }
    }

    fn take_error(&mut self) -> Option<StageError> {
        self.failure.take().map(Into::into)
    }
}

/// A link-adaptation policy whose methods are those of an object in Python.
struct PyPolicy {
    chooser: Chooser,
    thresholds: Vec<u64>,
    uses_estimate: bool,
    failure: RefCell<Option<PartError>>,
}

/// Creates the policy of a link.
///
/// # Errors
/// Fails if the constructor or `start` of the class raises an exception, or if its `thresholds` are
/// not ascending integers from 1.
pub(super) fn build_policy(
    factory: &Py<PyAny>,
    parameters: &Value,
    setup: Setup<'_, dyn Policy + Send, SchemeNames>,
    kind: &str,
) -> Result<Box<dyn Policy + Send>, PartError> {
    let place = place(kind, &setup.seed);
    Python::attach(|py| {
        let _call = Call::enter();
        let started = Bound::new(py, PolicySetup(setup.extra)).and_then(|view| {
            let arguments = (parameters.to_string(), view.into_any());
            Chooser::new(&place, factory.bind(py), arguments)
        });
        let built = started.map_err(CallError::Raised).and_then(|(chooser, object)| {
            Ok(PyPolicy {
                chooser,
                thresholds: thresholds(&object)?,
                uses_estimate: object.getattr("uses_estimate")?.extract()?,
                failure: RefCell::default(),
            })
        });
        match built {
            Ok(policy) => Ok(Box::new(policy) as Box<dyn Policy + Send>),
            Err(error) => Err(error.of(&place, "start")),
        }
    })
}

/// Returns the attribute `thresholds` of a policy.
fn thresholds(object: &Bound<'_, PyAny>) -> Result<Vec<u64>, CallError> {
    let given = object.getattr(intern!(object.py(), "thresholds"))?;
    let found: Vec<u64> = given.extract().unwrap_or_default();
    let is_ascending = found.windows(2).all(|pair| pair[0] < pair[1]);
    let is_empty = given.len().is_ok_and(|count| count == 0);
    if is_empty || !found.is_empty() && found[0] > 0 && is_ascending {
        return Ok(found);
    }
    let shown = given.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    let accepted = "ascending numbers of packets from 1";
    Err(CallError::Value(format!("thresholds = {shown}: not accepted. Use {accepted}")))
}

impl Policy for PyPolicy {
    fn thresholds(&self) -> &[u64] {
        &self.thresholds
    }

    fn uses_estimate(&self) -> bool {
        self.uses_estimate
    }

    fn choose(&self, candidates: &[adaptation::Candidate], regime: usize) -> usize {
        let chosen = Python::attach(|py| {
            let list = PyList::new(py, candidates.iter().map(|candidate| Scheme(*candidate)));
            match list {
                Ok(list) => self.chooser.choose(py, (list, regime), candidates.len()),
                Err(error) => Err(CallError::Raised(error).of(&self.chooser.place, "choose")),
            }
        });
        chosen.unwrap_or_else(|failure| {
            self.failure.borrow_mut().get_or_insert(failure);
            0
        })
    }

    fn take_error(&mut self) -> Option<StageError> {
        self.failure.borrow_mut().take().map(Into::into)
    }
}
