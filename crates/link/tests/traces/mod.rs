//! The recorded traces, and what a link that follows a trace may deliver.

#![allow(dead_code)]

use airpath_trace::{OPPORTUNITY_BYTES, OpportunityTrace};
use std::io::Write;
use std::path::PathBuf;

/// The directory that `AIRPATH_TRACES` names, else `../shared/traces` next to the workspace.
fn directory() -> PathBuf {
    match std::env::var_os("AIRPATH_TRACES") {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces")),
    }
}

/// Every recorded trace by name. Without any it reports that where the test runner cannot hide it.
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

/// The bytes on offer in each millisecond of `0 ..= end_ms`; those at time 0 come before any
/// packet.
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

/// In every window, first to last, at most the bytes on offer and the part of one packet that had
/// been sent before; and from the start, all bytes on offer except the part of one packet.
pub(crate) fn check_windows(delivered: &[u64], offered: &[u64], largest: u64) {
    let (mut surplus, mut least) = (0_i64, 0_i64);
    for (ms, (out, on_offer)) in delivered.iter().zip(offered).enumerate() {
        surplus += *out as i64 - *on_offer as i64;
        // surplus − least: bytes beyond the offer in the worst window that ends here.
        assert!(surplus - least < largest as i64, "at {ms} ms a window gives too much");
        assert!(surplus <= 0 && surplus > -(largest as i64), "at {ms} ms: {surplus} bytes");
        least = least.min(surplus);
    }
}
