//! Records of tests for the conformance page: comparisons with laws, and packet scripts.
//!
//! A test compares through a [`Law`], which asserts; a script counts in a [`Script`] what it does.
//! Where `AIRPATH_CONFORMANCE` names a file (`make conformance` sets it) each of them also adds a
//! line of JSON there, with what was found in that run; otherwise nothing is written. The file
//! `tests/conformance.py` is the same for Python, and `tests/docs/conformance_page.py` makes the
//! page. A development dependency: no model is linked with it.
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

/// The variable that names the file of records.
const VARIABLE: &str = "AIRPATH_CONFORMANCE";

/// Number of random cases of a property: `usual`, or `PROPTEST_CASES` where that is more
/// (`make long-tests` sets it).
pub fn cases(usual: u32) -> u32 {
    let wanted = env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    wanted.map_or(usual, |wanted: u32| wanted.max(usual))
}

/// Adds a line to the file of records, if there is one. One write per line, so that tests that run
/// at the same time do not mix.
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

/// The test that runs: the runner names its threads so.
fn test_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}
