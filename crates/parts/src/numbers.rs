//! Ranges of the values that parts set. The rules are the same for all languages.
//!
//! Each function receives the number, or the problem for which the value is not a number, and a
//! function that formats the value for the message.

use airpath_core::Rate;

/// Largest integer below which all integers are exact in double precision.
pub const LARGEST_EXACT: f64 = (1u64 << 53) as f64;

/// A number, which may be infinite but is not NaN, or the problem of the value.
pub type Number = Result<f64, &'static str>;

/// Returns the number of a value in double precision.
pub fn number(value: f64) -> Number {
    if value.is_nan() { Err("not a number") } else { Ok(value) }
}

/// Returns name, value, problem and accepted values, for a message.
pub fn problem(name: &str, shown: &str, what: &str, accepted: &str) -> String {
    let shown: String = shown.chars().take(60).collect();
    format!("{name} = {shown}: {what}. Use {accepted}")
}

/// Returns a congestion window, bytes; fractions of a byte are discarded.
///
/// # Errors
/// Fails unless the window is a number from `mss` to 2^53.
#[inline]
pub fn window(number: Number, mss: u64, shown: impl FnOnce() -> String) -> Result<u64, String> {
    let what = match number {
        Ok(bytes) if bytes < mss as f64 => "below one segment",
        Ok(bytes) if bytes > LARGEST_EXACT => "too large",
        Ok(bytes) => return Ok(bytes as u64),
        Err(what) => what,
    };
    let accepted = format!("a number of bytes from one segment ({mss}) to 2^53");
    Err(problem("cwnd", &shown(), what, &accepted))
}

/// Returns a slow-start threshold, bytes; `u64::MAX` if it is above 2^53.
///
/// # Errors
/// Fails if the threshold is negative or not a number.
#[inline]
pub fn ssthresh(number: Number, none: &str, shown: impl FnOnce() -> String) -> Result<u64, String> {
    let what = match number {
        Ok(bytes) if bytes < 0.0 => "below 0",
        Ok(bytes) if bytes > LARGEST_EXACT => return Ok(u64::MAX),
        Ok(bytes) => return Ok(bytes as u64),
        Err(what) => what,
    };
    let accepted = format!("a number of bytes from 0, or {none} for no threshold");
    Err(problem("ssthresh", &shown(), what, &accepted))
}

/// Returns a pacing rate, rounded down to bit/s.
///
/// # Errors
/// Fails unless the rate is a number from 1 bit/s to 2^53 bit/s.
#[inline]
pub fn pacing_rate(
    number: Number,
    none: &str,
    shown: impl FnOnce() -> String,
) -> Result<Rate, String> {
    let what = match number {
        Ok(rate) if rate < 1.0 => "below 1",
        Ok(rate) if rate > LARGEST_EXACT => "too large",
        Ok(rate) => return Ok(Rate(rate as u64)),
        Err(what) => what,
    };
    let accepted = format!("a finite number of bit/s from 1, or {none} for no pacing");
    Err(problem("pacing_rate", &shown(), what, &accepted))
}
