//! Link traces: recorded or synthetic link capacity over time.
//!
//! There are two formats. A run that is longer than the trace repeats the trace:
//!
//! * [`mahimahi`], an [`OpportunityTrace`]: one line per opportunity to deliver
//!   [`OPPORTUNITY_BYTES`] bytes, in integer milliseconds;
//! * [`rate_csv`], a [`RateTrace`]: `time_s,rate_bps` rows with a piecewise constant rate.
//!
//! [`convert`] converts between the formats, [`stats`] describes both, and [`mod@generate`] makes
//! synthetic traces. This crate works on text and values; the caller reads and writes files.
//!
//! # Example
//!
//! ```
//! use airpath_trace::{OpportunityTrace, Trace, TraceError};
//!
//! let trace = Trace::parse_mahimahi("tiny.down", "5\n5\n10\n")?;
//! assert_eq!(trace.period_ns(), 10_000_000);
//! assert_eq!(trace.stats().mean_bps, 3.0 * 1504.0 * 8.0 / 0.010);
//!
//! let wrong = OpportunityTrace::parse("tiny.down", "5\n4\n").unwrap_err();
//! assert_eq!(
//!     wrong.to_string(),
//!     "tiny.down:2: 4 is before the previous 5. Delivery times must not decrease."
//! );
//! # Ok::<(), TraceError>(())
//! ```
#![forbid(unsafe_code)]

pub mod convert;
mod error;
pub mod generate;
pub mod mahimahi;
pub mod rate_csv;
pub mod stats;
#[cfg(test)]
mod tests;

pub use error::{Excerpt, SourceLocation, TraceError};
pub use generate::{FadedLinkConfig, generate};
pub use mahimahi::OpportunityTrace;
pub use rate_csv::{RateTrace, Segment};
pub use stats::{Outage, PERCENTILES, STATS_BIN_NS, Stats};

/// Size of a delivery opportunity, bytes: an IP packet of 1500 bytes and the 4 bytes of packet
/// information that a TUN device prepends (Mahimahi, `LinkQueue::PACKET_SIZE`).
pub const OPPORTUNITY_BYTES: u64 = 1504;
/// Longest trace, s (11.5 days). Up to this limit, times in s with nine decimals are exact to the
/// nanosecond in `f64`.
pub const MAX_DURATION_S: u64 = 1_000_000;
/// Highest rate of a [`RateTrace`], bit/s.
pub const MAX_RATE_BPS: f64 = 1e15;
/// Largest number of bins of a trace.
pub const MAX_BINS: u64 = 10_000_000;
/// Largest number of opportunities created by a conversion.
pub const MAX_OPPORTUNITIES: u64 = 50_000_000;

const OPPORTUNITY_BITS: f64 = (OPPORTUNITY_BYTES * 8) as f64;
const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// File name in error messages for a trace that was built from values.
const MADE: &str = "trace";

/// A trace in either format.
#[derive(Clone, Debug, PartialEq)]
pub enum Trace {
    /// Delivery opportunities, as recorded by Mahimahi.
    Opportunities(OpportunityTrace),
    /// Piecewise constant rate.
    Rate(RateTrace),
}

impl Trace {
    /// Parses a Mahimahi trace. `file` is the file name for error messages.
    ///
    /// # Errors
    /// Same as [`OpportunityTrace::parse`].
    pub fn parse_mahimahi(file: &str, text: &str) -> Result<Trace, TraceError> {
        OpportunityTrace::parse(file, text).map(Trace::Opportunities)
    }

    /// Parses a `time_s,rate_bps` CSV. `file` is the file name for error messages.
    ///
    /// # Errors
    /// Same as [`RateTrace::parse`].
    pub fn parse_csv(file: &str, text: &str) -> Result<Trace, TraceError> {
        RateTrace::parse(file, text).map(Trace::Rate)
    }

    /// Returns the period with which the trace repeats, ns.
    pub fn period_ns(&self) -> u64 {
        match self {
            Trace::Opportunities(trace) => trace.period_ns(),
            Trace::Rate(trace) => trace.period_ns(),
        }
    }

    /// Returns the trace in the Mahimahi format, converted if necessary.
    ///
    /// # Errors
    /// Same as [`RateTrace::to_opportunities`].
    pub fn to_mahimahi(&self) -> Result<String, TraceError> {
        match self {
            Trace::Opportunities(trace) => Ok(trace.to_mahimahi()),
            Trace::Rate(trace) => Ok(trace.to_opportunities()?.to_mahimahi()),
        }
    }

    /// Returns the trace as CSV, with `provenance` as `#` lines at the top. Opportunities are
    /// averaged over bins of `bin_ns`; a rate trace keeps its segments.
    ///
    /// # Errors
    /// Same as [`OpportunityTrace::to_rate`].
    pub fn to_csv(&self, bin_ns: u64, provenance: &str) -> Result<String, TraceError> {
        match self {
            Trace::Opportunities(trace) => Ok(trace.to_rate(bin_ns)?.to_csv(provenance)),
            Trace::Rate(trace) => Ok(trace.to_csv(provenance)),
        }
    }
}

/// Returns the lines of a file without byte order mark and line ends (`
/// ` or `\r
/// `). The last line need not have a line end.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.strip_prefix('\u{feff}').unwrap_or(text).lines()
}

/// Formats a time as seconds in full decimal notation: 100 ms gives `0.1`.
fn seconds_text(nanos: u64) -> String {
    let whole = nanos / NANOS_PER_SECOND;
    match nanos % NANOS_PER_SECOND {
        0 => whole.to_string(),
        rest => format!("{whole}.{rest:09}").trim_end_matches('0').to_owned(),
    }
}
