//! Problems of a trace, one line each.

use super::{MAX_BINS, MAX_DURATION_S, MAX_OPPORTUNITIES, MAX_RATE_BPS, OPPORTUNITY_BYTES};
use std::fmt;
use thiserror::Error;

/// A line of a file, shown as `file:line`.
///
/// For a trace made from values, `file` is `trace` and `line` is where the value would stand in
/// the written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The name of the file, as given to the parser.
    pub file: String,
    /// The line, counted from 1.
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

/// A piece of a user's file in an error: quoted, escaped to one line and cut to 40 characters.
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

/// Why a text is not a trace, or a trace cannot be converted or generated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TraceError {
    /// The file holds no line at all.
    #[error(
        "{file}: empty. A Mahimahi trace has one delivery time per line, in whole milliseconds."
    )]
    NoOpportunities {
        /// The file.
        file: String,
    },
    /// A line with nothing on it.
    #[error("{place}: empty line. Remove it.")]
    EmptyLine {
        /// Location in the file.
        place: SourceLocation,
    },
    /// A line of a Mahimahi file that is not a whole, unsigned number.
    #[error("{place}: {text} is not a delivery time. Use whole milliseconds, for example 1204.")]
    NotMilliseconds {
        /// Location in the file.
        place: SourceLocation,
        /// The text found there.
        text: Excerpt,
    },
    /// A time beyond [`super::MAX_DURATION_S`].
    #[error(
        "{place}: {text} is too late. Times count from the start of the trace, \
         which lasts {MAX_DURATION_S} s at most."
    )]
    TooLate {
        /// Location in the file.
        place: SourceLocation,
        /// The time as written, with its unit.
        text: String,
    },
    /// A delivery time that is before the one above it, ms.
    #[error(
        "{place}: {time_ms} is before the previous {previous_ms}. \
         Delivery times must not decrease."
    )]
    Decreasing {
        /// Location in the file.
        place: SourceLocation,
        /// The delivery time, ms.
        time_ms: u64,
        /// The delivery time above it, ms.
        previous_ms: u64,
    },
    /// All delivery times are 0, so that looping would never advance.
    #[error("{place}: the last delivery time is 0. A trace must last at least 1 ms.")]
    NoDuration {
        /// The last line.
        place: SourceLocation,
    },
    /// The CSV does not start with its header.
    #[error("{place}: {text} is not the header. Use time_s,rate_bps.")]
    Header {
        /// Location in the file.
        place: SourceLocation,
        /// The text found there.
        text: Excerpt,
    },
    /// The CSV has fewer than the two rows that make one segment.
    #[error(
        "{file}: {rows} row(s) of data. Use at least two, one for the start of the trace \
         and one for its end."
    )]
    TooFewRows {
        /// The file.
        file: String,
        /// Rows found, 0 or 1.
        rows: usize,
    },
    /// A CSV line without exactly one comma.
    #[error(
        "{place}: {text} is not a row. Use a time in seconds, a comma and a rate in bit/s, \
         for example 0.1,5000000."
    )]
    NotARow {
        /// Location in the file.
        place: SourceLocation,
        /// The text found there.
        text: Excerpt,
    },
    /// A CSV time that is not a number.
    #[error("{place}: {text} is not a time. Use seconds, 0 or more, for example 0.1.")]
    NotSeconds {
        /// Location in the file.
        place: SourceLocation,
        /// The text found there.
        text: Excerpt,
    },
    /// A CSV rate that is negative, not a number or above [`super::MAX_RATE_BPS`].
    #[error(
        "{place}: {text} is not a rate. Use bit/s from 0 to {MAX_RATE_BPS:e}, \
         for example 5000000."
    )]
    NotARate {
        /// Location in the file.
        place: SourceLocation,
        /// The text found there.
        text: Excerpt,
    },
    /// The first CSV row is not at time 0.
    #[error("{place}: the first time is {time_s} s. A trace starts at 0.")]
    FirstTime {
        /// Location in the file.
        place: SourceLocation,
        /// The time, s.
        time_s: String,
    },
    /// A CSV time that is not after the one above it.
    #[error(
        "{place}: {time_s} s is not after the previous {previous_s} s. \
         Times must increase by at least 1 ns."
    )]
    NotIncreasing {
        /// Location in the file.
        place: SourceLocation,
        /// The time, s.
        time_s: String,
        /// The time above it, s.
        previous_s: String,
    },
    /// The last CSV row, which only says where the trace ends, brings a new rate.
    #[error(
        "{place}: the last row is the end of the trace and must repeat the rate above it, \
         {previous_bps}, not {rate_bps}. If that rate is to last, add a row for its end."
    )]
    LastRate {
        /// Location in the file.
        place: SourceLocation,
        /// The rate of the last row, bit/s.
        rate_bps: f64,
        /// The rate of the row above it, bit/s.
        previous_bps: f64,
    },
    /// No segment has a rate above 0.
    #[error("{file}: every rate is 0. A trace must deliver something.")]
    AllZero {
        /// The file.
        file: String,
    },
    /// A bin of no length.
    #[error("the bin is 0 ns. Use at least 1 ns, for example 100 ms.")]
    ZeroBin,
    /// More bins than [`MAX_BINS`].
    #[error(
        "bins of {bin_ns} ns make {bins} of this trace. At most {MAX_BINS} are possible; \
         take a longer bin."
    )]
    TooManyBins {
        /// The requested bin, ns.
        bin_ns: u64,
        /// How many bins that would be.
        bins: u64,
    },
    /// More opportunities than [`MAX_OPPORTUNITIES`].
    #[error(
        "the trace holds {opportunities:.3e} opportunities of {OPPORTUNITY_BYTES} bytes. \
         At most {MAX_OPPORTUNITIES} are possible; take a shorter trace or a lower rate."
    )]
    TooManyOpportunities {
        /// How many there would be.
        opportunities: f64,
    },
    /// A setting of a generated trace outside its range.
    #[error("{field} = {value}: not accepted. Use {accepted}.")]
    OutOfRange {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Accepted values, with the unit and an example.
        accepted: &'static str,
    },
    /// A generated link so poor that it delivers not even one packet.
    #[error(
        "the generated link carries {bits:.0} bit in all, less than one opportunity of \
         {OPPORTUNITY_BYTES} bytes. Raise mean_snr_db, bandwidth_hz, cap_bps or the duration."
    )]
    NothingDelivered {
        /// Capacity of the link over its whole duration, bit.
        bits: f64,
    },
}
