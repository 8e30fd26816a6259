//! Numbers that methods of parts set, with checks of their ranges.

use airpath_core::{Duration, Rate, Time};
use airpath_parts::numbers::{self, LARGEST_EXACT, Number, problem};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// Returns a number, which may be infinite.
///
/// # Errors
/// Fails with the problem, for the message, if the value is not a number.
fn number(value: &Bound<'_, PyAny>) -> Number {
    const NO_NUMBER: &str = "not a number";
    if let Ok(float) = value.cast::<PyFloat>() {
        let number = float.value();
        return if number.is_nan() { Err(NO_NUMBER) } else { Ok(number) };
    }
    let is_integer = value.is_instance_of::<PyInt>();
    if value.is_instance_of::<PyBool>() || !is_integer && !has_index(value) {
        return Err(NO_NUMBER);
    }
    value.extract::<i64>().map(|integer| integer as f64).map_err(|_| "too large")
}

/// Returns true for an integer type that is not Python's, such as those of NumPy.
fn has_index(value: &Bound<'_, PyAny>) -> bool {
    value.hasattr(pyo3::intern!(value.py(), "__index__")).unwrap_or(false)
}

/// Returns the text of a value in messages.
fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string())
}

/// Returns a congestion window, bytes; fractions of a byte are discarded.
///
/// # Errors
/// Fails unless the window is a number from `mss` to 2^53.
pub(super) fn window(value: &Bound<'_, PyAny>, mss: u64) -> Result<u64, String> {
    numbers::window(number(value), mss, || shown(value))
}

/// Returns a slow-start threshold, bytes; `u64::MAX` for `None` and infinity.
///
/// # Errors
/// Fails if the threshold is negative or not a number.
pub(super) fn ssthresh(value: &Bound<'_, PyAny>) -> Result<u64, String> {
    if value.is_none() {
        return Ok(u64::MAX);
    }
    numbers::ssthresh(number(value), "None", || shown(value))
}

/// Returns a pacing rate, rounded down to bit/s; `None` without pacing.
///
/// # Errors
/// Fails if the rate is below 1 bit/s, infinite or not a number.
pub(super) fn pacing_rate(value: &Bound<'_, PyAny>) -> Result<Option<Rate>, String> {
    if value.is_none() {
        return Ok(None);
    }
    numbers::pacing_rate(number(value), "None", || shown(value)).map(Some)
}

/// Returns the index that a method has returned.
///
/// # Errors
/// Fails unless the value is an integer from 0 to `count` − 1.
pub(super) fn index(value: &Bound<'_, PyAny>, count: usize) -> Result<usize, String> {
    let accepted = || format!("an index from 0 to {}", count - 1);
    if value.is_instance_of::<PyBool>() || value.is_instance_of::<PyFloat>() {
        return Err(problem("the returned value", &shown(value), "not an integer", &accepted()));
    }
    match value.extract::<usize>() {
        Ok(place) if place < count => Ok(place),
        Ok(_) => Err(problem("the returned value", &shown(value), "out of range", &accepted())),
        Err(_) if value.extract::<i64>().is_ok() => {
            Err(problem("the returned value", &shown(value), "out of range", &accepted()))
        }
        Err(_) => Err(problem("the returned value", &shown(value), "not an integer", &accepted())),
    }
}

/// Returns the time of a wake-up. `last` is the previous one, which may be due.
///
/// # Errors
/// Fails unless the value is `None` or a number above `now`, in ns; fractions are discarded.
pub(super) fn wakeup(value: &Bound<'_, PyAny>, last: Time, now: Time) -> Result<Time, String> {
    const ACCEPTED: &str = "a time in ns after the current time, or None for no wake-up";
    if value.is_none() {
        return Ok(Time::NEVER);
    }
    let failed = |what: &str| problem("next_wakeup_ns", &shown(value), what, ACCEPTED);
    match number(value) {
        Ok(nanos) if nanos > LARGEST_EXACT => Err(failed("too large")),
        Ok(nanos) => {
            let time = Time::from_nanos(nanos.max(0.0) as u64);
            if time == last || time > now {
                Ok(time)
            } else {
                Err(failed(&format!("not after the current time ({} ns)", now.as_nanos())))
            }
        }
        Err(what) => Err(failed(what)),
    }
}

/// Returns the time between two calls of a method, from the attribute `interval_ns`.
///
/// # Errors
/// Fails unless the value is a number from 1; fractions are discarded.
pub(super) fn interval(value: &Bound<'_, PyAny>) -> Result<Duration, String> {
    const ACCEPTED: &str = "a number of ns from 1";
    match number(value) {
        Ok(nanos) if nanos < 1.0 => Err(problem("interval_ns", &shown(value), "below 1", ACCEPTED)),
        Ok(nanos) if nanos > LARGEST_EXACT => {
            Err(problem("interval_ns", &shown(value), "too large", ACCEPTED))
        }
        Ok(nanos) => Ok(Duration::from_nanos(nanos as u64)),
        Err(what) => Err(problem("interval_ns", &shown(value), what, ACCEPTED)),
    }
}

/// Returns the probability that a method has returned.
///
/// # Errors
/// Fails unless the value is a number from 0 to 1.
pub(super) fn probability(value: &Bound<'_, PyAny>) -> Result<f64, String> {
    const NAME: &str = "the returned value";
    const ACCEPTED: &str = "a number from 0 to 1";
    match number(value) {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        Ok(_) => Err(problem(NAME, &shown(value), "out of range", ACCEPTED)),
        Err(what) => Err(problem(NAME, &shown(value), what, ACCEPTED)),
    }
}

/// Returns the problem of a returned value that is not one of the accepted ones.
#[cold]
pub(super) fn unknown_value(value: &Bound<'_, PyAny>, accepted: &str) -> String {
    problem("the returned value", &shown(value), "unknown", accepted)
}
