//! Congestion controls in Python whose methods are compiled.

use super::{Call, CongestionSetupView, PartError, place};
use airpath_core::{Setup, StageError};
use airpath_parts::contract::{CongestionTable, RECORDS};
use airpath_parts::{CompiledCongestion, Failure};
use airpath_tcp::congestion::{CongestionControl, CongestionSetup};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// A part whose methods are compiled: the functions, and the factory in Python.
pub(super) struct CompiledPart {
    table: CongestionTable,
    factory: Arc<Py<PyAny>>,
}

impl CompiledPart {
    /// Reads the table of functions of a factory. Returns `None` if its methods are not compiled.
    ///
    /// # Errors
    /// Fails if the table does not follow the contract.
    pub(super) fn of(factory: &Py<PyAny>) -> PyResult<Option<CompiledPart>> {
        Python::attach(|py| {
            let address: Option<usize> = factory.getattr(py, "table_address")?.extract(py)?;
            let Some(address) = address else { return Ok(None) };
            let table = CongestionTable::at(address)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            Ok(Some(CompiledPart { table, factory: Arc::new(factory.clone_ref(py)) }))
        })
    }

    /// Creates the congestion control of a connection. `start` runs in the interpreter.
    ///
    /// # Errors
    /// Fails if the constructor or `start` of the class raises an exception, or if the object has
    /// no valid window after `start`.
    pub(super) fn build(
        &self,
        parameters: &Value,
        setup: Setup<'_, dyn CongestionControl + Send, CongestionSetup>,
        kind: &str,
    ) -> Result<Box<dyn CongestionControl + Send>, PartError> {
        let place = place(kind, &setup.seed);
        let extra = setup.extra.clone();
        let initial = Python::attach(|py| {
            let _call = Call::enter();
            let view = CongestionSetupView::new(py, setup.extra, setup.seed)?;
            let state = self.factory.call_method1(py, "create", (parameters.to_string(), view))?;
            state.extract::<Vec<u8>>(py)
        })
        .map_err(|error| PartError::Raised {
            place: place.clone(),
            method: "start",
            error,
        })?;
        let factory = Arc::clone(&self.factory);
        let failure = move |place: &str, method| raised(&factory, place, method);
        CompiledCongestion::new(self.table, &extra, &initial, place, Arc::new(failure))
            .map(|control| Box::new(control) as Box<dyn CongestionControl + Send>)
            .map_err(part_error)
    }
}

/// Returns the exception that a compiled method has just raised on this thread.
fn raised(factory: &Py<PyAny>, place: &str, method: &'static str) -> StageError {
    let error = Python::attach(|py| {
        let taken = factory.call_method0(py, "take_exception")?;
        let is_missing = taken.is_none(py);
        let missing = || PyRuntimeError::new_err("the method has failed without an exception");
        Ok(if is_missing { missing() } else { PyErr::from_value(taken.into_bound(py)) })
    })
    .unwrap_or_else(|error: PyErr| error);
    PartError::Raised { place: place.to_owned(), method, error }.into()
}

/// Returns the failure of a construction.
fn part_error(error: StageError) -> PartError {
    match error.downcast::<PartError>() {
        Ok(error) => *error,
        Err(error) => {
            let Failure { place, method, problem } =
                *error.downcast::<Failure>().expect("a compiled part has no other errors");
            PartError::Value { place, method, problem }
        }
    }
}

/// Name, size, and fields (name, type, offset) of a record.
type RecordLayout = (&'static str, u32, Vec<(&'static str, &'static str, usize)>);

/// Returns the records of the contract of compiled parts: name, size in bytes, and the name, type
/// and offset of each field.
#[pyfunction]
pub(crate) fn part_records() -> Vec<RecordLayout> {
    RECORDS.iter().map(|(name, size, fields)| (*name, *size, fields.to_vec())).collect()
}
