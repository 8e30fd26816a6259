//! Records of test results for the conformance page: comparisons with formulas, and packet scripts.
//!
//! A test compares values with the methods of a [`Law`], which assert the result. A packet script
//! counts its events in a [`Script`]. If the environment variable `AIRPATH_CONFORMANCE` contains a
//! file name (set by `make conformance`), each comparison and each script also appends a line of
//! JSON with its result to this file. Otherwise nothing is written. The file `tests/conformance.py`
//! does the same for Python tests, and `tests/docs/conformance_page.py` writes the page. This crate
//! is only a development dependency of the models.
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

/// Appends a line to the file of records, if the environment variable is set. Each line is one
/// write, so that the lines of parallel tests are not mixed.
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
