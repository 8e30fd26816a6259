//! Parts of a simulation that are classes in Python.
//!
//! Parts are called on the thread that called [`simulate`](crate::simulate::simulate), which holds
//! the interpreter lock for the entire run. Each call passes a new, immutable event object. Parts
//! whose methods are compiled run on all threads, without the lock.

mod choices;
mod compiled;
mod congestion;
mod events;
mod failure;
mod numbers;
mod queue;
mod queue_events;
mod random;
mod setup;

pub(crate) use choices::{PolicySetup, SchedulerSetup, Scheme, User};
use compiled::CompiledPart;
pub(crate) use compiled::part_records;
pub(crate) use congestion::BuiltInCongestion;
pub(crate) use events::{Ack, Idle, Loss, LostSegmentEvent, Open, RateSampleView, Sent, Undo};
use failure::CallError;
pub(crate) use failure::PartError;
pub(crate) use queue_events::{Arrival, Departure, LinkRateView, QueueObservation};
pub(crate) use random::Random;
pub(crate) use setup::{CongestionSetupView, QueueSetup};

use airpath_core::{ConfigError, Seed};
use airpath_path::Components;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyModule;
use std::cell::Cell;
use std::sync::{Arc, Mutex};

/// A part as Python passes it: family, kind, and the factory of its objects.
///
/// `factory.create(parameters, setup)` returns a new object of the user's class, with the parameters
/// of the resolved scenario as JSON. `factory.methods` contains the names of the methods that the
/// class itself defines. `factory.table_address` is the address of the functions if the methods are
/// compiled; `create` then returns the initial state.
pub(crate) type PartEntry = (String, String, Py<PyAny>);

/// Registries with the parts of a run, and the first failure of their construction.
#[derive(Default)]
pub(crate) struct Parts {
    /// The registries.
    pub(crate) components: Components,
    /// True if the engine calls the interpreter for the methods of a part.
    pub(crate) needs_interpreter: bool,
    first_failure: FirstFailure,
}

/// The first failure of the construction of a part, which [`ConfigError`] cannot contain.
#[derive(Clone, Default)]
struct FirstFailure(Arc<Mutex<Option<PartError>>>);

impl FirstFailure {
    /// Stores `error`, and returns an error for the engine.
    fn keep(&self, kind: &str, error: PartError) -> ConfigError {
        let text = error.to_string();
        self.0.lock().expect("no thread panics with the lock").get_or_insert(error);
        ConfigError::new("kind", kind, text)
    }
}

impl Parts {
    /// Registers parts.
    ///
    /// # Errors
    /// Fails if the family has no parts in Python, or if a compiled part does not follow the
    /// contract.
    pub(crate) fn new(entries: Vec<PartEntry>) -> PyResult<Parts> {
        let mut parts = Parts::default();
        for (family, kind, factory) in entries {
            match family.as_str() {
                "aqm" => parts.add_queue(kind, factory),
                "congestion" => match CompiledPart::of(&factory)? {
                    Some(part) => {
                        parts.add_compiled(kind, part);
                        continue;
                    }
                    None => parts.add_congestion(kind, factory),
                },
                "policy" => parts.add_policy(kind, factory),
                "scheduler" => parts.add_scheduler(kind, factory),
                _ => return Err(PyValueError::new_err(format!("{family}: no parts in Python"))),
            }
            parts.needs_interpreter = true;
        }
        Ok(parts)
    }

    fn add_congestion(&mut self, kind: String, factory: Py<PyAny>) {
        let (name, first_failure) = (kind.clone(), self.first_failure.clone());
        self.components.congestion.register(kind, move |parameters, setup| {
            congestion::build(&factory, parameters, setup, &name)
                .map_err(|error| first_failure.keep(&name, error))
        });
    }

    fn add_compiled(&mut self, kind: String, part: CompiledPart) {
        let (name, first_failure) = (kind.clone(), self.first_failure.clone());
        self.components.congestion.declare_independent(kind.clone());
        self.components.congestion.register(kind, move |parameters, setup| {
            part.build(parameters, setup, &name).map_err(|error| first_failure.keep(&name, error))
        });
    }

    fn add_policy(&mut self, kind: String, factory: Py<PyAny>) {
        let (name, first_failure) = (kind.clone(), self.first_failure.clone());
        self.components.policies.register(kind, move |parameters, setup| {
            choices::build_policy(&factory, parameters, setup, &name)
                .map_err(|error| first_failure.keep(&name, error))
        });
    }

    fn add_scheduler(&mut self, kind: String, factory: Py<PyAny>) {
        let (name, first_failure) = (kind.clone(), self.first_failure.clone());
        self.components.schedulers.register(kind, move |parameters, setup| {
            choices::build_scheduler(&factory, parameters, setup, &name)
                .map_err(|error| first_failure.keep(&name, error))
        });
    }

    fn add_queue(&mut self, kind: String, factory: Py<PyAny>) {
        let (name, first_failure) = (kind.clone(), self.first_failure.clone());
        self.components.queues.register(kind, move |parameters, setup| {
            queue::build(&factory, parameters, setup, &name)
                .map_err(|error| first_failure.keep(&name, error))
        });
    }

    /// Returns the first failure of the construction of a part, if any.
    pub(crate) fn take_failure(&self) -> Option<PartError> {
        self.first_failure.0.lock().expect("no thread panics with the lock").take()
    }
}

/// Returns the place of a part in messages: its kind and the component's name in the network.
fn place(kind: &str, seed: &Seed) -> String {
    format!("part {kind:?}, {}", seed.name.trim_start_matches('/'))
}

thread_local! {
    /// True while this thread calls a method of a part.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as calling a part until it is dropped.
struct Call;

impl Call {
    fn enter() -> Call {
        IN_CALL.with(|flag| flag.set(true));
        Call
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        IN_CALL.with(|flag| flag.set(false));
    }
}

/// Returns an error if a part calls this function of Airpath from one of its methods.
pub(crate) fn reject_call_from_part(function: &str) -> PyResult<()> {
    if IN_CALL.with(Cell::get) {
        let problem =
            format!("{function} was called from a method of a part. Call it before the run");
        return Err(pyo3::exceptions::PyRuntimeError::new_err(problem));
    }
    Ok(())
}

/// Adds the classes that parts use.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Ack>()?;
    module.add_class::<Loss>()?;
    module.add_class::<Undo>()?;
    module.add_class::<Idle>()?;
    module.add_class::<Open>()?;
    module.add_class::<Sent>()?;
    module.add_class::<LostSegmentEvent>()?;
    module.add_class::<RateSampleView>()?;
    module.add_class::<User>()?;
    module.add_class::<Scheme>()?;
    module.add_class::<SchedulerSetup>()?;
    module.add_class::<PolicySetup>()?;
    module.add_class::<Arrival>()?;
    module.add_class::<Departure>()?;
    module.add_class::<QueueObservation>()?;
    module.add_class::<LinkRateView>()?;
    module.add_class::<QueueSetup>()?;
    module.add_class::<Random>()?;
    module.add_class::<CongestionSetupView>()?;
    module.add_class::<BuiltInCongestion>()
}
