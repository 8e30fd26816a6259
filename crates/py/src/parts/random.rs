//! Random numbers of parts.

use airpath_core::Stream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Mutex;

/// Random numbers of one part: the stream that the seed, the replication and the name of the
/// component determine.
#[pyclass(frozen, module = "airpath.parts")]
pub(crate) struct Random(Mutex<Stream>);

impl Random {
    pub(super) fn new(stream: Stream) -> Random {
        Random(Mutex::new(stream))
    }

    fn with<T>(&self, sample: impl FnOnce(&mut Stream) -> T) -> T {
        sample(&mut self.0.lock().expect("no thread panics with the lock"))
    }
}

#[pymethods]
impl Random {
    /// Sample the uniform distribution on [0, 1).
    fn random(&self) -> f64 {
        self.with(Stream::uniform)
    }

    /// Sample the uniform distribution on [low, high).
    fn uniform(&self, low: f64, high: f64) -> PyResult<f64> {
        if !(low.is_finite() && high.is_finite() && low <= high) {
            let problem = format!("uniform({low}, {high}): use finite bounds with low <= high");
            return Err(PyValueError::new_err(problem));
        }
        Ok(low + (high - low) * self.random())
    }

    /// Return True with probability `p`. Uses no random number if `p` is at most 0 or at least 1.
    fn bernoulli(&self, p: f64) -> PyResult<bool> {
        if p.is_nan() {
            return Err(PyValueError::new_err("bernoulli(nan): use a probability"));
        }
        Ok(self.with(|stream| stream.bernoulli(p)))
    }

    /// Sample the exponential distribution with the given mean.
    fn exponential(&self, mean: f64) -> f64 {
        self.with(Stream::unit_exponential) * mean
    }

    /// Sample the normal distribution.
    #[pyo3(signature = (mean=0.0, deviation=1.0))]
    fn normal(&self, mean: f64, deviation: f64) -> f64 {
        mean + deviation * self.with(Stream::normal)
    }

    /// Return 64 random bits.
    fn bits(&self) -> u64 {
        self.with(Stream::next_u64)
    }
}
