//! Records of tests for the conformance page: comparisons with formulas, and packet scripts.
//!
//! A test compares through a [`Law`], which asserts. A packet script counts its events in a
//! [`Script`]. If `AIRPATH_CONFORMANCE` names a file (set by `make conformance`), each of them also
//! appends a line of JSON with the results of this run. Otherwise nothing is written. The file
//! `tests/conformance.py` does the same for Python, and `tests/docs/conformance_page.py` writes the
//! page. This crate is a development dependency: no model is linked with it.
//!
//! ```
//! use airpath_conformance::Law;
//!
//! const SQUARE: Law = Law {
//!     area: "Arithmetic",
//!     source: "Euclid, Elements, I.47",
//!     allows: "rounding of doubles",
//! };
//! SQUARE.close("the long side", "cm", 3.0_f64.hypot(4.0), 5.0, 1e-12);
//! ```
#![forbid(unsafe_code)]

mod law;
mod samples;
mod script;

pub use law::Law;
pub use samples::samples;
pub use script::Script;

use serde_json::Value;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Environment variable with the name of the file of records.
const VARIABLE: &str = "AIRPATH_CONFORMANCE";

/// Returns the number of random cases of a property test: `usual`, or `PROPTEST_CASES` if that is
/// larger (set by `make long-tests`).
pub fn cases(usual: u32) -> u32 {
    let wanted = env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    wanted.map_or(usual, |wanted: u32| wanted.max(usual))
}

/// Appends a line to the file of records, if any. One write per line, so that the lines of parallel
/// tests do not mix.
fn write(record: &Value) {
    let Some(path) = env::var_os(VARIABLE) else {
        return;
    };
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .expect("the file of records can be written");
    file.write_all(format!("{record}\n").as_bytes()).expect("the file of records can be written");
}

/// Returns the name of the running test, which is the name of its thread.
fn test_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}
