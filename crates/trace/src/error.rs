//! Errors in traces. Each message is one line.

use super::{MAX_BINS, MAX_DURATION_S, MAX_OPPORTUNITIES, MAX_RATE_BPS, OPPORTUNITY_BYTES};
use std::fmt;
use thiserror::Error;

/// Location of a line in a file, displayed as `file:line`.
///
/// For a trace that was built from values, `file` is `trace`, and `line` is the line at which the
/// value would be in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// File name, as passed to the parser.
    pub file: String,
    /// Line number, counted from 1.
    pub line: usize,
}

impl SourceLocation {
    pub(crate) fn new(file: &str, line: usize) -> SourceLocation {
        SourceLocation { file: file.to_owned(), line }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Excerpt of a user's file in an error message: quoted, escaped to one line and cut to 40
/// characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    pub(crate) fn new(text: &str) -> Excerpt {
        const LONGEST: usize = 40;
        let mut shown: String = text.chars().take(LONGEST).collect();
        if text.chars().nth(LONGEST).is_some() {
            shown.push('…');
        }
        Excerpt(shown)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Reason why a text is not a trace, or why a trace cannot be converted or generated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TraceError {
    /// The file has no lines.
    #[error(
        "{file}: empty. A Mahimahi trace has one delivery time per line, in whole milliseconds."
    )]
    NoOpportunities {
        /// File name.
        file: String,
    },
    /// A line is empty.
    #[error("{place}: empty line. Remove it.")]
    EmptyLine {
        /// Location in the file.
        place: SourceLocation,
    },
    /// A line of a Mahimahi file is not an unsigned integer.
    #[error("{place}: {text} is not a delivery time. Use whole milliseconds, for example 1204.")]
    NotMilliseconds {
        /// Location in the file.
        place: SourceLocation,
        /// Text at that location.
        text: Excerpt,
    },
    /// A time is beyond [`super::MAX_DURATION_S`].
    #[error(
        "{place}: {text} is too late. Times count from the start of the trace, \
         which lasts {MAX_DURATION_S} s at most."
    )]
    TooLate {
        /// Location in the file.
        place: SourceLocation,
        /// Time as written, with its unit.
        text: String,
    },
    /// A delivery time is smaller than the previous delivery time, ms.
    #[error(
        "{place}: {time_ms} is before the previous {previous_ms}. \
         Delivery times must not decrease."
    )]
    Decreasing {
        /// Location in the file.
        place: SourceLocation,
        /// Delivery time, ms.
        time_ms: u64,
        /// Previous delivery time, ms.
        previous_ms: u64,
    },
    /// All delivery times are 0, so that the trace would have no duration.
    #[error("{place}: the last delivery time is 0. A trace must last at least 1 ms.")]
    NoDuration {
        /// Last line.
        place: SourceLocation,
    },
    /// The CSV file does not start with the header.
    #[error("{place}: {text} is not the header. Use time_s,rate_bps.")]
    Header {
        /// Location in the file.
        place: SourceLocation,
        /// Text at that location.
        text: Excerpt,
    },
    /// The CSV file has fewer than two rows, the minimum for one segment.
    #[error(
        "{file}: {rows} row(s) of data. Use at least two, one for the start of the trace \
         and one for its end."
    )]
    TooFewRows {
        /// File name.
        file: String,
        /// Number of rows, 0 or 1.
        rows: usize,
    },
    /// A CSV line does not have exactly one comma.
    #[error(
        "{place}: {text} is not a row. Use a time in seconds, a comma and a rate in bit/s, \
         for example 0.1,5000000."
    )]
    NotARow {
        /// Location in the file.
        place: SourceLocation,
        /// Text at that location.
        text: Excerpt,
    },
    /// A CSV time is not a number.
    #[error("{place}: {text} is not a time. Use seconds, 0 or more, for example 0.1.")]
    NotSeconds {
        /// Location in the file.
        place: SourceLocation,
        /// Text at that location.
        text: Excerpt,
    },
    /// A CSV rate is negative, not a number or above [`super::MAX_RATE_BPS`].
    #[error(
        "{place}: {text} is not a rate. Use bit/s from 0 to {MAX_RATE_BPS:e}, \
         for example 5000000."
    )]
    NotARate {
        /// Location in the file.
        place: SourceLocation,
        /// Text at that location.
        text: Excerpt,
    },
    /// The first CSV row is not at time 0.
    #[error("{place}: the first time is {time_s} s. A trace starts at 0.")]
    FirstTime {
        /// Location in the file.
        place: SourceLocation,
        /// Time, s.
        time_s: String,
    },
    /// A CSV time is not larger than the previous time.
    #[error(
        "{place}: {time_s} s is not after the previous {previous_s} s. \
         Times must increase by at least 1 ns."
    )]
    NotIncreasing {
        /// Location in the file.
        place: SourceLocation,
        /// Time, s.
        time_s: String,
        /// Previous time, s.
        previous_s: String,
    },
    /// The last CSV row, which only defines the end of the trace, has a different rate.
    #[error(
        "{place}: the last row is the end of the trace and must repeat the rate above it, \
         {previous_bps}, not {rate_bps}. If that rate is to last, add a row for its end."
    )]
    LastRate {
        /// Location in the file.
        place: SourceLocation,
        /// Rate of the last row, bit/s.
        rate_bps: f64,
        /// Rate of the previous row, bit/s.
        previous_bps: f64,
    },
    /// All rates are 0.
    #[error("{file}: every rate is 0. A trace must deliver something.")]
    AllZero {
        /// File name.
        file: String,
    },
    /// The requested bin has zero length.
    #[error("the bin is 0 ns. Use at least 1 ns, for example 100 ms.")]
    ZeroBin,
    /// The number of bins exceeds [`MAX_BINS`].
    #[error(
        "bins of {bin_ns} ns make {bins} of this trace. At most {MAX_BINS} are possible; \
         take a longer bin."
    )]
    TooManyBins {
        /// Requested bin, ns.
        bin_ns: u64,
        /// Resulting number of bins.
        bins: u64,
    },
    /// The number of opportunities exceeds [`MAX_OPPORTUNITIES`].
    #[error(
        "the trace holds {opportunities:.3e} opportunities of {OPPORTUNITY_BYTES} bytes. \
         At most {MAX_OPPORTUNITIES} are possible; take a shorter trace or a lower rate."
    )]
    TooManyOpportunities {
        /// Resulting number of opportunities.
        opportunities: f64,
    },
    /// A parameter of a generated trace is outside its range.
    #[error("{field} = {value}: not accepted. Use {accepted}.")]
    OutOfRange {
        /// Parameter name.
        field: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Accepted values, with the unit and an example.
        accepted: &'static str,
    },
    /// The generated link delivers less than one opportunity.
    #[error(
        "the generated link carries {bits:.0} bit in all, less than one opportunity of \
         {OPPORTUNITY_BYTES} bytes. Raise mean_snr_db, bandwidth_hz, cap_bps or the duration."
    )]
    NothingDelivered {
        /// Capacity of the link over its duration, bit.
        bits: f64,
    },
}
