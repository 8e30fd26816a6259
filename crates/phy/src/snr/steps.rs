//! Reads a recorded SNR from a CSV file with the columns `time_s,snr_db`.
//!
//! ```text
//! # measured on a tram              any number of comment lines, at the top only
//! time_s,snr_db
//! 0,18.5                             18.5 dB from 0 s ...
//! 0.5,-3                             ... -3 dB from 0.5 s ...
//! 2,-3                               ... to 2 s, where it starts again
//! ```
//!
//! The value of a row applies until the time of the next row. The last row marks the end of the
//! file's duration and must have the same value as the row above it, as in a `time_s,rate_bps`
//! trace. A file of samples without such a row is rejected.

use super::{RANGE_DB, check_level};
use airpath_core::{Checks, ConfigError};
use std::fmt;

const HEADER: &str = "time_s,snr_db";
/// Longest duration of a file, s; up to this duration, a double can represent every nanosecond
/// exactly.
const MAX_DURATION_S: f64 = 1e6;

/// Error in a file of recorded SNRs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnrFileError {
    /// File and, if known, line: `a.csv:3`.
    pub place: String,
    /// Problem and accepted values.
    pub problem: String,
}

impl fmt::Display for SnrFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for SnrFileError {}

/// A piecewise constant, periodic SNR. It has at least one step, the first step starts at 0, and
/// start times ascend strictly.
#[derive(Clone, Debug, PartialEq)]
pub struct SnrSteps {
    /// Start of each step, ns, and its SNR, dB.
    steps: Vec<(u64, f64)>,
    period_ns: u64,
}

impl SnrSteps {
    /// Creates steps of (start in ns, dB) with the period `period_ns`.
    ///
    /// # Errors
    /// If there is no step, the first step does not start at 0, start times do not ascend, the
    /// period does not exceed the last start, or an SNR is outside [`RANGE_DB`].
    pub fn new(steps: Vec<(u64, f64)>, period_ns: u64) -> Result<SnrSteps, ConfigError> {
        let starts = steps.iter().map(|(start_ns, _)| *start_ns);
        if steps.first().is_none_or(|(start_ns, _)| *start_ns != 0) {
            return Err(ConfigError::new("steps", steps.len(), "no step starts at 0"));
        }
        if !starts.chain([period_ns]).is_sorted_by(|a, b| a < b) {
            return Err(ConfigError::new("steps", steps.len(), "their start times do not ascend"));
        }
        let mut checks = Checks::default();
        steps.iter().for_each(|(_, snr_db)| check_level("steps", *snr_db, &mut checks));
        checks.finish()?;
        Ok(SnrSteps { steps, period_ns })
    }

    /// Reads a `time_s,snr_db` CSV; `file` is its name in errors.
    ///
    /// # Errors
    /// For the first line that violates the format in the module documentation.
    pub fn parse(file: &str, text: &str) -> Result<SnrSteps, SnrFileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().zip(1..).skip_while(|(line, _)| line.starts_with('#'));
        let at = |line: usize, problem: String| SnrFileError {
            place: format!("{file}:{line}"),
            problem,
        };
        let few = || SnrFileError {
            place: file.to_owned(),
            problem: "fewer than two rows of data. Use at least two, one for the start and one \
                      for the end."
                .to_owned(),
        };
        let (header, line) = lines.next().ok_or_else(few)?;
        if !header.split(',').map(str::trim).eq(HEADER.split(',')) {
            let problem = format!("{} is not the header. Use {HEADER}.", shown(header));
            return Err(at(line, problem));
        }
        let mut steps: Vec<(u64, f64)> = Vec::with_capacity(text.len() / 8);
        let mut last_line = line;
        for (row, line) in lines {
            let step = parse_row(row).map_err(|problem| at(line, problem))?;
            match steps.last() {
                None if step.0 != 0 => {
                    let problem = "the first time is not 0. A trace starts at 0.";
                    return Err(at(line, problem.to_owned()));
                }
                Some(before) if step.0 <= before.0 => {
                    let problem = format!("{} is not after the time above it.", shown(row));
                    return Err(at(line, problem));
                }
                _ => {}
            }
            steps.push(step);
            last_line = line;
        }
        let Some((period_ns, end_db)) = steps.pop().filter(|_| !steps.is_empty()) else {
            return Err(few());
        };
        let last_db = steps.last().map_or(end_db, |step| step.1);
        if end_db != last_db {
            let problem = format!(
                "the last row is the end and must repeat the SNR above it, {last_db}, not \
                 {end_db}. If that is to last, add a row for its end."
            );
            return Err(at(last_line, problem));
        }
        Ok(SnrSteps { steps, period_ns })
    }

    /// Returns the period, ns, at least 1.
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Returns the SNR at the time `in_round_ns` within a period, dB, and the end of its step
    /// within the period, ns.
    pub fn at(&self, in_round_ns: u64) -> (f64, u64) {
        let next = self.steps.partition_point(|(start_ns, _)| *start_ns <= in_round_ns);
        let ends_ns = self.steps.get(next).map_or(self.period_ns, |(start_ns, _)| *start_ns);
        (self.steps[next - 1].1, ends_ns)
    }

    /// Returns the SNR, dB, if it is equal in all steps.
    pub fn constant_db(&self) -> Option<f64> {
        let first = self.steps[0].1;
        self.steps.iter().all(|(_, snr_db)| *snr_db == first).then_some(first)
    }
}

fn parse_row(row: &str) -> Result<(u64, f64), String> {
    let fields: Vec<&str> = row.split(',').map(str::trim).collect();
    let [time, snr] = fields[..] else {
        let example = "Use a time in seconds, a comma and an SNR in dB, for example 0.1,18.5.";
        return Err(format!("{} is not a row. {example}", shown(row)));
    };
    let seconds: Option<f64> = time.parse().ok();
    let Some(seconds) = seconds.filter(|seconds| (0.0..=MAX_DURATION_S).contains(seconds)) else {
        return Err(format!(
            "{} is not a time. Use seconds from 0 to {MAX_DURATION_S:e}, for example 0.1.",
            shown(time)
        ));
    };
    let snr_db: Option<f64> = snr.parse().ok();
    let Some(snr_db) = snr_db.filter(|snr_db| RANGE_DB.contains(snr_db)) else {
        return Err(format!(
            "{} is not an SNR. Use dB from {} to {}, for example 18.5.",
            shown(snr),
            RANGE_DB.start(),
            RANGE_DB.end()
        ));
    };
    Ok(((seconds * 1e9).round() as u64, snr_db))
}

/// Formats a part of a user's file for an error: quoted, escaped to one line and truncated to 40
/// characters.
fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let cut: String = text.chars().take(LONGEST).collect();
    let more = if text.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("{:?}", cut + more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> SnrSteps {
        SnrSteps::parse("a.csv", text).expect("accepted")
    }

    #[test]
    fn values_apply_until_next_row_and_repeat() {
        let steps = parsed("# made up\ntime_s,snr_db\n0,18.5\n0.5,-3\n2,-3\n");
        assert_eq!(steps.period_ns(), 2_000_000_000);
        assert_eq!(steps.at(0), (18.5, 500_000_000));
        assert_eq!(steps.at(499_999_999), (18.5, 500_000_000));
        assert_eq!(steps.at(500_000_000), (-3.0, 2_000_000_000));
        assert_eq!(steps.constant_db(), None);
        assert_eq!(parsed("\u{feff}time_s, snr_db\r\n0, 4\r\n1,4").constant_db(), Some(4.0));
    }

    #[test]
    fn invalid_file_of_steps_is_rejected_by_line() {
        let rows = "Use at least two, one for the start and one for the end.";
        for (text, expected) in [
            ("", format!("a.csv: fewer than two rows of data. {rows}")),
            ("time_s,snr_db\n0,1\n", format!("a.csv: fewer than two rows of data. {rows}")),
            ("0,1\n1,1\n", "a.csv:1: \"0,1\" is not the header. Use time_s,snr_db.".into()),
            (
                "time_s,snr_db\n0,1\n1\n",
                "a.csv:3: \"1\" is not a row. Use a time in seconds, a comma and an SNR in dB, \
                 for example 0.1,18.5."
                    .into(),
            ),
            (
                "time_s,snr_db\n-1,1\n",
                "a.csv:2: \"-1\" is not a time. Use seconds from 0 to 1e6, for example 0.1.".into(),
            ),
            (
                "time_s,snr_db\n0,nan\n",
                "a.csv:2: \"nan\" is not an SNR. Use dB from -200 to 200, for example 18.5.".into(),
            ),
            (
                "time_s,snr_db\n1,1\n2,1\n",
                "a.csv:2: the first time is not 0. A trace starts at 0.".into(),
            ),
            (
                "time_s,snr_db\n0,1\n0,1\n",
                "a.csv:3: \"0,1\" is not after the time above it.".into(),
            ),
            (
                "time_s,snr_db\n0,1\n1,2\n",
                "a.csv:3: the last row is the end and must repeat the SNR above it, 1, not 2. If \
                 that is to last, add a row for its end."
                    .into(),
            ),
        ] {
            let error = SnrSteps::parse("a.csv", text).expect_err("it is refused");
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }
}
