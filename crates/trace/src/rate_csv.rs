//! CSV format of a piecewise constant rate, with the columns `time_s,rate_bps`.
//!
//! ```text
//! # airpath trace convert ...      any number of comment lines, at the top only
//! time_s,rate_bps
//! 0,12000000                       12 Mbit/s from 0 s ...
//! 0.5,0                            ... nothing from 0.5 s ...
//! 0.6,8000000                      ... 8 Mbit/s from 0.6 s ...
//! 2,8000000                        ... to 2 s, where the trace starts again
//! ```
//!
//! The rate of a row is valid until the next row. The last row has no duration. It only defines the
//! end of the trace and must contain the same rate as the row before. Therefore a file of samples
//! without such a row is rejected, instead of being shortened by one sample.
//!
//! The format is specific to this project. Rates are not interpolated between rows.

use super::{
    Excerpt, MADE, MAX_DURATION_S, MAX_RATE_BPS, NANOS_PER_SECOND, SourceLocation, TraceError,
    lines, seconds_text,
};
use std::fmt::Write;

const HEADER: &str = "time_s,rate_bps";
const MAX_TIME_NS: u64 = MAX_DURATION_S * NANOS_PER_SECOND;

/// A segment of constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Start of the segment, ns from the start of the trace.
    pub start_ns: u64,
    /// Rate until the next segment, bit/s: 0 to [`MAX_RATE_BPS`].
    pub rate_bps: f64,
}

/// Periodic trace of a piecewise constant rate. There is at least one segment, the first segment
/// starts at 0, start times increase strictly, and at least one rate is above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTrace {
    segments: Vec<Segment>,
    period_ns: u64,
}

impl RateTrace {
    /// Creates a trace of the given segments with the period `period_ns`.
    ///
    /// # Errors
    /// [`TraceError`] if there is no segment, if the first segment does not start at 0, if a
    /// segment does not start after the previous segment, if the period is not after the last start
    /// or is beyond [`MAX_DURATION_S`], if a rate is outside 0 to [`MAX_RATE_BPS`], or if all rates
    /// are 0. The line number in the error refers to the trace written as CSV without comments.
    pub fn new(segments: Vec<Segment>, period_ns: u64) -> Result<RateTrace, TraceError> {
        let mut rows = Rows::new(MADE, segments.len() + 1);
        let end_bps = segments.last().map_or(0.0, |segment| segment.rate_bps);
        let end = Segment { start_ns: period_ns, rate_bps: end_bps };
        for (index, &row) in segments.iter().chain([&end]).enumerate() {
            let place = || SourceLocation::new(MADE, index + 2);
            if row.start_ns > MAX_TIME_NS {
                let text = format!("{} s", seconds_text(row.start_ns));
                return Err(TraceError::TooLate { place: place(), text });
            }
            let Some(rate_bps) = valid_rate(row.rate_bps) else {
                let text = Excerpt::new(&row.rate_bps.to_string());
                return Err(TraceError::NotARate { place: place(), text });
            };
            rows.push(Segment { rate_bps, ..row }, index + 2)?;
        }
        rows.finish()
    }

    /// Parses a `time_s,rate_bps` CSV. `file` is the file name for error messages.
    ///
    /// Times are rounded to the nearest nanosecond. Spaces around numbers and lines starting with
    /// `#` above the header are accepted.
    ///
    /// # Errors
    /// [`TraceError`] for the first line that violates the format described in the module
    /// documentation; also if there are fewer than two rows or all rates are 0.
    pub fn parse(file: &str, text: &str) -> Result<RateTrace, TraceError> {
        let mut lines = lines(text).zip(1..).skip_while(|(line, _)| line.starts_with('#'));
        let Some((header, line)) = lines.next() else {
            return Err(TraceError::TooFewRows { file: file.to_owned(), rows: 0 });
        };
        if !header.split(',').map(str::trim).eq(HEADER.split(',')) {
            let place = SourceLocation::new(file, line);
            return Err(TraceError::Header { place, text: Excerpt::new(header) });
        }
        let mut rows = Rows::new(file, text.len() / 12);
        for (row, line) in lines {
            let segment = parse_row(row, || SourceLocation::new(file, line))?;
            rows.push(segment, line)?;
        }
        rows.finish()
    }

    /// Returns the segments of one period, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the period, ns, at least 1.
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Returns start, end (both ns) and rate (bit/s) of each segment of one period.
    pub fn spans(&self) -> impl Iterator<Item = (u64, u64, f64)> + Clone {
        let starts = self.segments.iter().map(|segment| segment.start_ns);
        let ends = starts.skip(1).chain([self.period_ns]);
        self.segments
            .iter()
            .zip(ends)
            .map(|(segment, end)| (segment.start_ns, end, segment.rate_bps))
    }

    /// Returns the capacity of one period, bit.
    pub fn bits(&self) -> f64 {
        let span_bits = |(start, end, rate_bps): (u64, u64, f64)| (end - start) as f64 * rate_bps;
        self.spans().map(span_bits).sum::<f64>() / NANOS_PER_SECOND as f64
    }

    /// Returns the trace as CSV, with each line of `provenance` as a `#` line at the top.
    ///
    /// If the result is parsed, the trace is equal to this trace.
    pub fn to_csv(&self, provenance: &str) -> String {
        let mut text = String::with_capacity(24 * self.segments.len());
        for line in provenance.lines() {
            // Some programs interpret a single carriage return as a line end.
            text.push_str(format!("# {}", line.replace('\r', " ")).trim_end());
            text.push('\n');
        }
        text.push_str(HEADER);
        text.push('\n');
        let mut row = |time_ns, rate_bps| {
            writeln!(text, "{},{rate_bps}", seconds_text(time_ns))
                .expect("writing to a String succeeds");
        };
        let mut end_bps = 0.0;
        for segment in &self.segments {
            row(segment.start_ns, segment.rate_bps);
            end_bps = segment.rate_bps;
        }
        row(self.period_ns, end_bps);
        text
    }
}

/// Rows that have been parsed and checked. The last row defines the end of the trace.
struct Rows<'a> {
    file: &'a str,
    rows: Vec<Segment>,
    line: usize,
}

impl Rows<'_> {
    fn new(file: &str, capacity: usize) -> Rows<'_> {
        Rows { file, rows: Vec::with_capacity(capacity), line: 0 }
    }

    fn push(&mut self, row: Segment, line: usize) -> Result<(), TraceError> {
        let place = || SourceLocation::new(self.file, line);
        let time_s = || seconds_text(row.start_ns);
        match self.rows.last() {
            None if row.start_ns != 0 => {
                return Err(TraceError::FirstTime { place: place(), time_s: time_s() });
            }
            Some(previous) if row.start_ns <= previous.start_ns => {
                let previous_s = seconds_text(previous.start_ns);
                return Err(TraceError::NotIncreasing {
                    place: place(),
                    time_s: time_s(),
                    previous_s,
                });
            }
            _ => {}
        }
        self.rows.push(row);
        self.line = line;
        Ok(())
    }

    fn finish(mut self) -> Result<RateTrace, TraceError> {
        let file = || self.file.to_owned();
        let (end, last) = match (self.rows.pop(), self.rows.last()) {
            (Some(end), Some(&last)) => (end, last),
            (end, _) => {
                let rows = usize::from(end.is_some());
                return Err(TraceError::TooFewRows { file: file(), rows });
            }
        };
        if end.rate_bps != last.rate_bps {
            return Err(TraceError::LastRate {
                place: SourceLocation::new(self.file, self.line),
                rate_bps: end.rate_bps,
                previous_bps: last.rate_bps,
            });
        }
        if self.rows.iter().all(|row| row.rate_bps == 0.0) {
            return Err(TraceError::AllZero { file: file() });
        }
        Ok(RateTrace { segments: self.rows, period_ns: end.start_ns })
    }
}

fn parse_row(row: &str, place: impl Fn() -> SourceLocation) -> Result<Segment, TraceError> {
    if row.is_empty() {
        return Err(TraceError::EmptyLine { place: place() });
    }
    let Some((time, rate)) = row.split_once(',').filter(|(_, rate)| !rate.contains(',')) else {
        return Err(TraceError::NotARow { place: place(), text: Excerpt::new(row) });
    };
    let (time, rate) = (time.trim(), rate.trim());
    let Some(seconds) = parse_number(time).filter(|&seconds| seconds >= 0.0) else {
        return Err(TraceError::NotSeconds { place: place(), text: Excerpt::new(time) });
    };
    if seconds > MAX_DURATION_S as f64 {
        return Err(TraceError::TooLate { place: place(), text: format!("{seconds:e} s") });
    }
    let Some(rate_bps) = parse_number(rate).and_then(valid_rate) else {
        return Err(TraceError::NotARate { place: place(), text: Excerpt::new(rate) });
    };
    let start_ns = (seconds * NANOS_PER_SECOND as f64).round() as u64;
    Ok(Segment { start_ns, rate_bps })
}

fn parse_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns the rate without the sign of a negative zero, or `None` outside 0 to [`MAX_RATE_BPS`].
fn valid_rate(rate_bps: f64) -> Option<f64> {
    (0.0..=MAX_RATE_BPS).contains(&rate_bps).then_some(rate_bps.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> RateTrace {
        RateTrace::parse("trace.csv", text).expect("accepted")
    }

    /// Returns the error message for a file that contains `rows` below the header.
    fn error(rows: &str) -> String {
        let text = format!("# made by hand\n{HEADER}\n{rows}");
        RateTrace::parse("trace.csv", &text).expect_err("refused").to_string()
    }

    fn segment(start_ns: u64, rate_bps: f64) -> Segment {
        Segment { start_ns, rate_bps }
    }

    #[test]
    fn rate_is_valid_until_the_next_row() {
        let trace = parsed("time_s,rate_bps\n0,12e6\n0.5,0\n0.6,8000000.5\n2,8000000.5\n");
        assert_eq!(
            trace.segments(),
            [segment(0, 12e6), segment(500_000_000, 0.0), segment(600_000_000, 8_000_000.5)]
        );
        assert_eq!(trace.period_ns(), 2_000_000_000);
        assert_eq!(trace.bits(), 6e6 + 1.4 * 8_000_000.5);
        assert_eq!(
            trace.spans().map(|span| (span.0, span.1)).collect::<Vec<_>>(),
            [(0, 500_000_000), (500_000_000, 600_000_000), (600_000_000, 2_000_000_000)]
        );
    }

    #[test]
    fn comments_spaces_windows_line_ends_and_byte_order_mark_are_accepted() {
        let plain = parsed("time_s,rate_bps\n0,1\n1,1\n");
        assert_eq!(parsed("\u{feff}# a\r\n#b\r\ntime_s, rate_bps\r\n0, 1\r\n 1 ,1\r\n"), plain);
        assert_eq!(parsed("time_s,rate_bps\n-0,1e0\n1.0000000001,1."), plain);
    }

    #[test]
    fn negative_zero_rate_is_zero() {
        let trace = parsed("time_s,rate_bps\n0,-0\n1,5\n2,5\n");
        assert!(trace.segments()[0].rate_bps.is_sign_positive());
    }

    #[test]
    fn header_is_required() {
        let refused = |text| RateTrace::parse("trace.csv", text).unwrap_err().to_string();
        assert_eq!(
            refused("# x\n0,5\n1,5\n"),
            "trace.csv:2: \"0,5\" is not the header. Use time_s,rate_bps."
        );
        assert_eq!(refused("\n"), "trace.csv:1: \"\" is not the header. Use time_s,rate_bps.");
        let few = "Use at least two, one for the start of the trace and one for its end.";
        assert_eq!(refused(""), format!("trace.csv: 0 row(s) of data. {few}"));
        assert_eq!(refused("# x\n"), format!("trace.csv: 0 row(s) of data. {few}"));
        assert_eq!(error(""), format!("trace.csv: 0 row(s) of data. {few}"));
        assert_eq!(error("0,5\n"), format!("trace.csv: 1 row(s) of data. {few}"));
    }

    #[test]
    fn rows_require_two_numbers() {
        assert_eq!(error("0,5\n\n1,5\n"), "trace.csv:4: empty line. Remove it.");
        for row in ["5", "1,2,3", "# late comment", "1;2"] {
            assert_eq!(
                error(&format!("0,5\n{row}\n")),
                format!(
                    "trace.csv:4: \"{row}\" is not a row. Use a time in seconds, a comma and \
                     a rate in bit/s, for example 0.1,5000000."
                )
            );
        }
    }

    #[test]
    fn invalid_times_are_quoted() {
        for time in ["x", "", "nan", "inf", "-1", "1e999", "0x1", "١"] {
            assert_eq!(
                error(&format!("0,5\n{time},5\n")),
                format!(
                    "trace.csv:4: \"{time}\" is not a time. \
                     Use seconds, 0 or more, for example 0.1."
                )
            );
        }
        assert_eq!(
            error("0,5\n1e7,5\n"),
            "trace.csv:4: 1e7 s is too late. Times count from the start of the trace, \
             which lasts 1000000 s at most."
        );
    }

    #[test]
    fn invalid_rates_are_quoted() {
        for rate in ["x", "", "NaN", "inf", "-1", "1e16", "5 Mbit/s"] {
            assert_eq!(
                error(&format!("0,{rate}\n1,5\n")),
                format!(
                    "trace.csv:3: \"{rate}\" is not a rate. \
                     Use bit/s from 0 to 1e15, for example 5000000."
                )
            );
        }
    }

    #[test]
    fn times_start_at_zero_and_increase() {
        assert_eq!(
            error("0.25,5\n1,5\n"),
            "trace.csv:3: the first time is 0.25 s. A trace starts at 0."
        );
        assert_eq!(
            error("0,5\n0.5,6\n0.4,6\n"),
            "trace.csv:5: 0.4 s is not after the previous 0.5 s. \
             Times must increase by at least 1 ns."
        );
        assert_eq!(
            error("0,5\n1e-10,5\n"),
            "trace.csv:4: 0 s is not after the previous 0 s. \
             Times must increase by at least 1 ns."
        );
    }

    #[test]
    fn last_row_must_repeat_the_rate() {
        assert_eq!(
            error("0,5\n0.1,7.5\n"),
            "trace.csv:4: the last row is the end of the trace and must repeat the rate above it, \
             5, not 7.5. If that rate is to last, add a row for its end."
        );
    }

    #[test]
    fn link_that_never_delivers_is_rejected() {
        assert_eq!(
            error("0,0\n1,-0\n"),
            "trace.csv: every rate is 0. A trace must deliver something."
        );
    }

    #[test]
    fn values_are_checked_like_a_file() {
        let error = |segments: &[Segment], period_ns| {
            RateTrace::new(segments.to_vec(), period_ns).unwrap_err().to_string()
        };
        assert!(error(&[], 0).starts_with("trace: 1 row(s) of data."));
        assert!(error(&[], 5).starts_with("trace:2: the first time is 0.000000005 s."));
        assert!(error(&[segment(0, 1.0)], 0).starts_with("trace:3: 0 s is not after"));
        assert!(error(&[segment(0, f64::NAN)], 9).starts_with("trace:2: \"NaN\" is not a rate."));
        assert!(
            error(&[segment(0, 1.0)], u64::MAX).starts_with("trace:3: 18446744073.709551615 s")
        );
    }

    #[test]
    fn written_trace_equals_the_parsed_file() {
        let text = "# airpath trace generate\n#\n# seed 1\ntime_s,rate_bps\n\
                    0,12000000\n0.000000001,0\n0.6,8000000.5\n2,8000000.5\n";
        let trace = parsed(text);
        assert_eq!(trace.to_csv("airpath trace generate\n\nseed 1"), text);
        assert_eq!(parsed(&trace.to_csv("")), trace);
    }
}
