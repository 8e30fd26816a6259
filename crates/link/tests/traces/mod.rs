//! Recorded traces, and a check of the bytes that a trace link delivers.

#![allow(dead_code)]

use airpath_trace::{OPPORTUNITY_BYTES, OpportunityTrace};
use std::io::Write;
use std::path::PathBuf;

/// Returns the directory in `AIRPATH_TRACES`, or `../shared/traces` next to the workspace.
fn directory() -> PathBuf {
    match std::env::var_os("AIRPATH_TRACES") {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces")),
    }
}

/// Returns every recorded trace by name. If there are none, prints a message that the test runner
/// does not capture.
pub(crate) fn recorded() -> Vec<(String, OpportunityTrace)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory())
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|end| end == "up" || end == "down"));
    files.sort();
    if files.is_empty() {
        let reason = "skipped: no recorded traces in AIRPATH_TRACES or ../shared/traces";
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let _ = writeln!(std::io::stderr(), "{test}: {reason}");
    }
    files
        .into_iter()
        .map(|file| {
            let name = file.file_name().expect("a file").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).expect("a text file");
            let trace = OpportunityTrace::parse(&name, &text).expect("a valid trace");
            (name, trace)
        })
        .collect()
}

/// Returns the bytes offered in each millisecond of `0 ..= end_ms`; opportunities at time 0 precede
/// all packets.
pub(crate) fn offered_by_ms(trace: &OpportunityTrace, end_ms: u64) -> Vec<u64> {
    let mut bytes = vec![0; end_ms as usize + 1];
    let rounds = end_ms / trace.period_ms();
    for round in 0..=rounds {
        for time in trace.times_ms() {
            if let Some(bytes) = bytes.get_mut((round * trace.period_ms() + time) as usize) {
                *bytes += OPPORTUNITY_BYTES;
            }
        }
    }
    bytes[0] = 0;
    bytes
}

/// Checks the bytes delivered in every time window. They are at most the offered bytes plus a part
/// of one packet that was sent before the window. In every window from the start, they are at least
/// the offered bytes minus a part of one packet.
pub(crate) fn check_windows(delivered: &[u64], offered: &[u64], largest: u64) {
    let (mut surplus, mut least) = (0_i64, 0_i64);
    for (ms, (out, on_offer)) in delivered.iter().zip(offered).enumerate() {
        surplus += *out as i64 - *on_offer as i64;
        // `surplus − least` is the largest excess over the offered bytes in any window that ends at
        // `ms`.
        assert!(
            surplus - least < largest as i64,
            "a window that ends at {ms} ms delivers too many bytes"
        );
        assert!(surplus <= 0 && surplus > -(largest as i64), "at {ms} ms: {surplus} bytes");
        least = least.min(surplus);
    }
}
