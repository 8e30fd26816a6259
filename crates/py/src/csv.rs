//! Formats rows of CSV files with the same number format as Python.
//!
//! Reason for this module: a recorded run has millions of rows, and Python would create an object
//! for each number.

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::Write;

/// One column: its type (`f8`, `i8` or `text`), its numbers as little-endian bytes, and its texts.
///
/// In a text column, the numbers are indices into the texts; a negative index means an empty field.
/// Texts are written unchanged, so the caller must quote texts that require CSV quotes.
type Given<'py> = (String, Bound<'py, PyBytes>, Vec<Vec<u8>>);

#[derive(Clone, Copy)]
enum Column<'a> {
    Doubles(&'a [[u8; 8]]),
    Integers(&'a [[u8; 8]]),
    Texts(&'a [[u8; 8]], &'a [Vec<u8>]),
}

const BYTES_OF_A_NUMBER: usize = 12;

/// Formats columns of equal length as rows. Each row ends with a line feed.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn csv_rows<'py>(
    py: Python<'py>,
    columns: Vec<Given<'py>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns: Vec<Column<'_>> = columns.iter().map(column).collect::<PyResult<_>>()?;
    let rows = columns.first().map_or(0, |column| column.len());
    if columns.iter().any(|column| column.len() != rows) {
        return Err(PyValueError::new_err("columns are not equally long"));
    }
    let mut text = Vec::new();
    let expected = rows * columns.len() * BYTES_OF_A_NUMBER;
    text.try_reserve(expected).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    for row in 0..rows {
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                text.push(b',');
            }
            column.write(row, &mut text);
        }
        text.push(b'\n');
    }
    Ok(PyBytes::new(py, &text))
}

fn column<'a>((kind, bytes, texts): &'a Given<'_>) -> PyResult<Column<'a>> {
    let (numbers, rest) = bytes.as_bytes().as_chunks();
    match kind.as_str() {
        _ if !rest.is_empty() => Err(PyValueError::new_err("part of a number is missing")),
        "f8" => Ok(Column::Doubles(numbers)),
        "i8" => Ok(Column::Integers(numbers)),
        "text" => Ok(Column::Texts(numbers, texts)),
        _ => Err(PyValueError::new_err(format!("{kind}: not a kind of column"))),
    }
}

impl Column<'_> {
    fn len(self) -> usize {
        match self {
            Column::Doubles(numbers) | Column::Integers(numbers) | Column::Texts(numbers, _) => {
                numbers.len()
            }
        }
    }

    fn write(self, row: usize, text: &mut Vec<u8>) {
        match self {
            Column::Doubles(numbers) => double(f64::from_le_bytes(numbers[row]), text),
            Column::Integers(numbers) => integer(i64::from_le_bytes(numbers[row]), text),
            Column::Texts(numbers, texts) => {
                let found = usize::try_from(i64::from_le_bytes(numbers[row])).ok();
                text.extend_from_slice(found.and_then(|n| texts.get(n)).map_or(&[], Vec::as_slice));
            }
        }
    }
}

fn integer(value: i64, text: &mut Vec<u8>) {
    write!(text, "{value}").expect("memory takes every byte");
}

/// Writes a double like Python's `repr`; NaN is an empty field.
fn double(value: f64, text: &mut Vec<u8>) {
    const NANO: f64 = 1e9;
    if value.is_nan() {
        return;
    }
    if value.is_infinite() {
        text.extend_from_slice(if value > 0.0 { b"inf" } else { b"-inf" });
        return;
    }
    if value.abs() < 1e15 && value.fract() == 0.0 {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        write!(text, "{sign}{}.0", value.abs() as u64).expect("memory takes every byte");
        return;
    }
    // Times are integer nanoseconds. If a decimal number of at most 15 digits parses as this
    // double, it is the shortest representation, because no two such decimal numbers parse as the
    // same double.
    let nanos = (value * NANO).round();
    if (1e5..1e15).contains(&nanos) && nanos / NANO == value {
        return fixed(nanos as u64, text);
    }
    shortest(value, text);
}

/// Writes nanoseconds as seconds, without trailing zeros.
fn fixed(nanos: u64, text: &mut Vec<u8>) {
    let (whole, mut rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let mut digits = 9;
    while rest % 10 == 0 && digits > 1 {
        rest /= 10;
        digits -= 1;
    }
    write!(text, "{whole}.{rest:0digits$}").expect("memory takes every byte");
}

/// Writes the shortest digits that identify a double, with an exponent below 1e-4 and from 1e16 on.
fn shortest(value: f64, text: &mut Vec<u8>) {
    let mut found = format!("{value:?}");
    round_ties_to_even(value, &mut found);
    let Some((digits, power)) = found.split_once('e') else {
        return text.extend_from_slice(found.as_bytes());
    };
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    write!(text, "{digits}e{sign}{power:0>2}").expect("memory takes every byte");
}

/// Makes the last digit even if the double is half-way between two shortest decimal
/// representations.
///
/// Rust writes the larger of the two, and Python the one with the even last digit:
/// 562949953421312.25 is `….3` in Rust and `….2` in Python. Both parse as the same double. With 15
/// digits or fewer there is only one shortest decimal.
fn round_ties_to_even(value: f64, found: &mut String) {
    let end = found.find('e').unwrap_or(found.len());
    let written = found[..end].bytes().filter(u8::is_ascii_digit);
    let digits = written.skip_while(|digit| *digit == b'0').count();
    if digits <= 15 || found.ends_with(".0") {
        return;
    }
    let nearest = format!("{value:.*e}", digits - 1);
    let last = nearest.find('e').map_or("", |at| &nearest[at - 1..at]);
    // Just below a power of two, the decimal with the even digit may parse as another double.
    if found[end - 1..end] != *last && nearest.parse() == Ok(value) {
        found.replace_range(end - 1..end, last);
    }
}
