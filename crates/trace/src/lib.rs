//! Trace files: recorded or synthetic link capacity over time.
//!
//! Two formats, both looped for as long as a run lasts:
//!
//! * [`mahimahi`], an [`OpportunityTrace`]: one line per chance to deliver
//!   [`OPPORTUNITY_BYTES`] bytes, in whole milliseconds;
//! * [`rate_csv`], a [`RateTrace`]: `time_s,rate_bps` rows, a rate that is constant in between.
//!
//! [`convert`] turns one into the other, [`stats`] describes both, [`mod@generate`] makes a synthetic
//! one. Everything here works on text and values; reading and writing files is the caller's.
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

/// The bytes that one delivery opportunity can carry: an IP packet of 1500 bytes and the 4 bytes
/// of packet information that a TUN device puts before it (Mahimahi, `LinkQueue::PACKET_SIZE`).
pub const OPPORTUNITY_BYTES: u64 = 1504;
/// The longest trace, seconds (11.5 days); it keeps a nanosecond exact in decimal and in `f64`.
pub const MAX_DURATION_S: u64 = 1_000_000;
/// The highest rate of a [`RateTrace`], bit/s.
pub const MAX_RATE_BPS: f64 = 1e15;
/// The largest number of bins that a trace is cut into.
pub const MAX_BINS: u64 = 10_000_000;
/// The largest number of opportunities that a conversion makes.
pub const MAX_OPPORTUNITIES: u64 = 50_000_000;

const OPPORTUNITY_BITS: f64 = (OPPORTUNITY_BYTES * 8) as f64;
const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// The file name in errors about a trace that was made from values.
const MADE: &str = "trace";

/// A trace of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Trace {
    /// Delivery opportunities, as Mahimahi records them.
    Opportunities(OpportunityTrace),
    /// A piecewise constant rate.
    Rate(RateTrace),
}

impl Trace {
    /// Reads a Mahimahi trace; `file` names it in errors.
    ///
    /// # Errors
    /// As [`OpportunityTrace::parse`].
    pub fn parse_mahimahi(file: &str, text: &str) -> Result<Trace, TraceError> {
        OpportunityTrace::parse(file, text).map(Trace::Opportunities)
    }

    /// Reads a `time_s,rate_bps` CSV; `file` names it in errors.
    ///
    /// # Errors
    /// As [`RateTrace::parse`].
    pub fn parse_csv(file: &str, text: &str) -> Result<Trace, TraceError> {
        RateTrace::parse(file, text).map(Trace::Rate)
    }

    /// The time after which the trace starts again, ns.
    pub fn period_ns(&self) -> u64 {
        match self {
            Trace::Opportunities(trace) => trace.period_ns(),
            Trace::Rate(trace) => trace.period_ns(),
        }
    }

    /// The trace as a Mahimahi file, converted if need be.
    ///
    /// # Errors
    /// As [`RateTrace::to_opportunities`].
    pub fn to_mahimahi(&self) -> Result<String, TraceError> {
        match self {
            Trace::Opportunities(trace) => Ok(trace.to_mahimahi()),
            Trace::Rate(trace) => Ok(trace.to_opportunities()?.to_mahimahi()),
        }
    }

    /// The trace as CSV, with `provenance` as `#` lines above. Opportunities are averaged over
    /// bins of `bin_ns`; a rate trace keeps its own segments.
    ///
    /// # Errors
    /// As [`OpportunityTrace::to_rate`].
    pub fn to_csv(&self, bin_ns: u64, provenance: &str) -> Result<String, TraceError> {
        match self {
            Trace::Opportunities(trace) => Ok(trace.to_rate(bin_ns)?.to_csv(provenance)),
            Trace::Rate(trace) => Ok(trace.to_csv(provenance)),
        }
    }
}

/// The lines of a file: a byte order mark and the line ends (`\n` or `\r\n`) are removed, a
/// missing end of the last line is forgiven.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.strip_prefix('\u{feff}').unwrap_or(text).lines()
}

/// Seconds in full decimal notation: 100 ms gives `0.1`.
fn seconds_text(nanos: u64) -> String {
    let whole = nanos / NANOS_PER_SECOND;
    match nanos % NANOS_PER_SECOND {
        0 => whole.to_string(),
        rest => format!("{whole}.{rest:09}").trim_end_matches('0').to_owned(),
    }
}
