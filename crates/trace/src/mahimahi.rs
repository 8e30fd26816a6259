//! The Mahimahi format: one delivery opportunity per line.
//!
//! Each line is a time in integer milliseconds from the start of the trace, at which up to
//! [`OPPORTUNITY_BYTES`](super::OPPORTUNITY_BYTES) bytes can be delivered. Several equal times mean
//! several opportunities at that time. The last time is also the period: the trace restarts at this
//! time. Therefore an opportunity at time 0 of the second period coincides with the last
//! opportunity of the first period.
//!
//! Source: Mahimahi's `mm-link` (Netravali et al., USENIX ATC 2015), class `LinkQueue`. Differences
//! from Mahimahi: `\r
//! ` and a byte order mark are accepted; times beyond 11.5 days are rejected.

use super::{
    Excerpt, MADE, MAX_DURATION_S, NANOS_PER_MILLI, OPPORTUNITY_BITS, SourceLocation, TraceError,
    lines,
};

const MAX_TIME_MS: u64 = MAX_DURATION_S * 1000;

/// Periodic trace of delivery opportunities of [`OPPORTUNITY_BYTES`](super::OPPORTUNITY_BYTES)
/// bytes at integer milliseconds. There is at least one opportunity, the times never decrease, and
/// the last time is above 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpportunityTrace {
    times_ms: Vec<u64>,
}

impl OpportunityTrace {
    /// Creates a trace of the given delivery times, ms.
    ///
    /// # Errors
    /// [`TraceError`] if there are no times, if a time is smaller than the previous time or beyond
    /// [`MAX_DURATION_S`], or if the last time is 0.
    pub fn new(times_ms: Vec<u64>) -> Result<OpportunityTrace, TraceError> {
        for (index, &time_ms) in times_ms.iter().enumerate() {
            if time_ms > MAX_TIME_MS {
                return Err(too_late(SourceLocation::new(MADE, index + 1), &time_ms.to_string()));
            }
        }
        if let Some(index) = times_ms.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(TraceError::Decreasing {
                place: SourceLocation::new(MADE, index + 2),
                time_ms: times_ms[index + 1],
                previous_ms: times_ms[index],
            });
        }
        OpportunityTrace::checked_end(MADE, times_ms)
    }

    /// Parses a Mahimahi file. `file` is the file name for error messages.
    ///
    /// # Errors
    /// [`TraceError`] for the first line that is empty, is not an integer number of milliseconds
    /// from 0 to [`MAX_DURATION_S`], or is smaller than the previous line; also if there is no line
    /// or the last time is 0.
    pub fn parse(file: &str, text: &str) -> Result<OpportunityTrace, TraceError> {
        let mut times_ms = Vec::with_capacity(text.len() / 6);
        let mut previous_ms = 0;
        for (index, line) in lines(text).enumerate() {
            let time_ms = parse_time(line).map_err(|wrong| wrong.at(file, index + 1, line))?;
            if time_ms < previous_ms {
                let place = SourceLocation::new(file, index + 1);
                return Err(TraceError::Decreasing { place, time_ms, previous_ms });
            }
            times_ms.push(time_ms);
            previous_ms = time_ms;
        }
        OpportunityTrace::checked_end(file, times_ms)
    }

    fn checked_end(file: &str, times_ms: Vec<u64>) -> Result<OpportunityTrace, TraceError> {
        match times_ms.last() {
            None => Err(TraceError::NoOpportunities { file: file.to_owned() }),
            Some(0) => {
                Err(TraceError::NoDuration { place: SourceLocation::new(file, times_ms.len()) })
            }
            Some(_) => Ok(OpportunityTrace { times_ms }),
        }
    }

    /// Returns the delivery times of one period, ms, never decreasing.
    pub fn times_ms(&self) -> &[u64] {
        &self.times_ms
    }

    /// Returns the period, ms: the last delivery time, at least 1.
    pub fn period_ms(&self) -> u64 {
        *self.times_ms.last().expect("a trace has an opportunity: checked when made")
    }

    /// Returns the period, ns.
    pub fn period_ns(&self) -> u64 {
        self.period_ms() * NANOS_PER_MILLI
    }

    /// Returns the capacity of one period, bit.
    pub fn bits(&self) -> f64 {
        self.times_ms.len() as f64 * OPPORTUNITY_BITS
    }

    /// Returns the trace in the Mahimahi format. The format has no comments, so the provenance of a
    /// trace is in a separate file.
    pub fn to_mahimahi(&self) -> String {
        let mut text = String::with_capacity(self.times_ms.len() * 7);
        for time_ms in &self.times_ms {
            text.push_str(&time_ms.to_string());
            text.push('\n');
        }
        text
    }
}

/// Error of one line.
enum BadLine {
    Empty,
    NotANumber,
    TooLarge,
}

impl BadLine {
    fn at(self, file: &str, line: usize, text: &str) -> TraceError {
        let place = SourceLocation::new(file, line);
        match self {
            BadLine::Empty => TraceError::EmptyLine { place },
            BadLine::NotANumber => TraceError::NotMilliseconds { place, text: Excerpt::new(text) },
            BadLine::TooLarge => too_late(place, text),
        }
    }
}

fn too_late(place: SourceLocation, digits: &str) -> TraceError {
    // The text contains only digits, so cutting at a byte is safe.
    let text = match digits.get(..20) {
        Some(start) if digits.len() > 20 => format!("{start}… ms"),
        _ => format!("{digits} ms"),
    };
    TraceError::TooLate { place, text }
}

fn parse_time(line: &str) -> Result<u64, BadLine> {
    if line.is_empty() {
        return Err(BadLine::Empty);
    }
    if !line.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadLine::NotANumber);
    }
    // The conversion saturates, so that a number of any length is above the limit.
    let time_ms = line
        .bytes()
        .fold(0u64, |time, byte| time.saturating_mul(10).saturating_add(u64::from(byte - b'0')));
    if time_ms > MAX_TIME_MS { Err(BadLine::TooLarge) } else { Ok(time_ms) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<u64> {
        OpportunityTrace::parse("trace.down", text).expect("accepted").times_ms
    }

    fn error(text: &str) -> String {
        OpportunityTrace::parse("trace.down", text).expect_err("refused").to_string()
    }

    #[test]
    fn reads_one_time_per_line() {
        assert_eq!(parsed("0\n0\n5\n"), [0, 0, 5]);
        assert_eq!(parsed("7"), [7]);
        assert_eq!(parsed("007\n"), [7]);
        assert_eq!(parsed("1000000000\n"), [1_000_000_000]);
    }

    #[test]
    fn windows_line_ends_and_byte_order_mark_are_accepted() {
        assert_eq!(parsed("\u{feff}1\r\n2\r\n"), [1, 2]);
    }

    #[test]
    fn decreasing_times_are_reported_with_both_values() {
        let text = "88124\n".repeat(1203) + "88121\n";
        assert_eq!(
            error(&text),
            "trace.down:1204: 88121 is before the previous 88124. \
             Delivery times must not decrease."
        );
    }

    #[test]
    fn invalid_text_is_quoted_with_its_line() {
        for (line, shown) in [
            ("abc", "\"abc\""),
            ("-5", "\"-5\""),
            ("+5", "\"+5\""),
            ("1.5", "\"1.5\""),
            ("1e3", "\"1e3\""),
            ("NaN", "\"NaN\""),
            (" 3", "\" 3\""),
            ("3 ", "\"3 \""),
            ("# comment", "\"# comment\""),
            ("٣", "\"٣\""),
            ("1\u{0}", "\"1\\0\""),
            ("4\r5", "\"4\\r5\""),
            ("\u{feff}4", "\"\\u{feff}4\""),
        ] {
            assert_eq!(
                error(&format!("3\n{line}\n9\n")),
                format!(
                    "trace.down:2: {shown} is not a delivery time. \
                     Use whole milliseconds, for example 1204."
                )
            );
        }
    }

    #[test]
    fn long_line_is_cut_in_the_message() {
        let message = error(&"é".repeat(100_000));
        assert_eq!(
            message,
            format!(
                "trace.down:1: \"{}…\" is not a delivery time. \
                 Use whole milliseconds, for example 1204.",
                "é".repeat(40)
            )
        );
    }

    #[test]
    fn times_beyond_the_longest_trace_are_rejected() {
        let limit = "is too late. Times count from the start of the trace, \
                     which lasts 1000000 s at most.";
        assert_eq!(error("1\n1000000001\n"), format!("trace.down:2: 1000000001 ms {limit}"));
        assert_eq!(
            error("18446744073709551616\n"),
            format!("trace.down:1: 18446744073709551616 ms {limit}")
        );
        assert_eq!(
            error(&"9".repeat(500)),
            format!("trace.down:1: 99999999999999999999… ms {limit}")
        );
    }

    #[test]
    fn empty_lines_and_empty_files_are_rejected() {
        assert_eq!(error("1\n\n2\n"), "trace.down:2: empty line. Remove it.");
        assert_eq!(error("1\n\n"), "trace.down:2: empty line. Remove it.");
        assert_eq!(error("\r\n"), "trace.down:1: empty line. Remove it.");
        for nothing in ["", "\u{feff}"] {
            assert_eq!(
                error(nothing),
                "trace.down: empty. A Mahimahi trace has one delivery time per line, \
                 in whole milliseconds."
            );
        }
    }

    #[test]
    fn trace_of_zero_length_is_rejected() {
        assert_eq!(
            error("0\n0\n"),
            "trace.down:2: the last delivery time is 0. A trace must last at least 1 ms."
        );
    }

    #[test]
    fn values_are_checked_like_a_file() {
        let error = |times: &[u64]| OpportunityTrace::new(times.to_vec()).unwrap_err().to_string();
        assert_eq!(
            error(&[1, 5, 4]),
            "trace:3: 4 is before the previous 5. Delivery times must not decrease."
        );
        assert!(error(&[]).starts_with("trace: empty."));
        assert!(error(&[0]).starts_with("trace:1: the last delivery time is 0."));
        assert!(error(&[u64::MAX]).starts_with("trace:1: 18446744073709551615 ms is too late."));
    }

    #[test]
    fn written_trace_equals_the_parsed_file() {
        let text = "0\n0\n17\n120002\n";
        let trace = OpportunityTrace::parse("trace.down", text).unwrap();
        assert_eq!(trace.to_mahimahi(), text);
        assert_eq!(trace.period_ms(), 120_002);
        assert_eq!(trace.bits(), 4.0 * 12_032.0);
    }
}
