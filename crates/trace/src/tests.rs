//! Properties of the crate as a whole, and tests with recorded traces.

use super::*;
use proptest::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};

const MS: u64 = NANOS_PER_MILLI;

fn opportunity_trace() -> impl Strategy<Value = OpportunityTrace> {
    let gaps = prop_oneof![4 => 0..5u64, 1 => 0..3000u64];
    prop::collection::vec(gaps, 1..300).prop_map(|gaps| {
        let mut time = 0;
        let mut times: Vec<u64> = gaps
            .into_iter()
            .map(|gap| {
                time += gap;
                time
            })
            .collect();
        times.push(time + 1);
        OpportunityTrace::new(times).expect("ascending")
    })
}

fn rate_trace() -> impl Strategy<Value = RateTrace> {
    let length = prop_oneof![1..10_000_000u64, (1..300u64).prop_map(|ms| ms * MS)];
    let rate = prop_oneof![Just(0.0), 0.0..1e8f64, (0..100u32).prop_map(|m| f64::from(m) * 1e6)];
    prop::collection::vec((length, rate), 1..100).prop_map(|pieces| {
        let mut start_ns = 0;
        let mut segments = Vec::new();
        for (length, rate_bps) in pieces {
            segments.push(Segment { start_ns, rate_bps });
            start_ns += length;
        }
        segments.push(Segment { start_ns, rate_bps: 1e6 });
        RateTrace::new(segments, start_ns + MS).expect("ascending")
    })
}

/// Strategy for texts in which some bytes are replaced, removed or doubled, or the end is cut off.
fn mutated(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let byte =
        prop_oneof![prop::sample::select(b"0123456789.,-+eE \r\n#naif\0".to_vec()), any::<u8>()];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, byte), 0..6);
    (text, edits).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        for (index, edit, byte) in edits {
            let at = index.index(bytes.len() + 1).min(bytes.len().saturating_sub(1));
            match edit {
                0 if !bytes.is_empty() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if !bytes.is_empty() => {
                    bytes.remove(at);
                }
                _ => bytes.truncate(at + 1),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Checks that an error message is one line that starts with the file name.
fn check_message(error: &TraceError) {
    let message = error.to_string();
    assert!(message.starts_with("some.file:"), "{message}");
    assert!(message.lines().count() == 1 && message.len() < 400, "{message}");
}

proptest! {
    #[test]
    fn written_opportunities_read_back_equal(trace in opportunity_trace()) {
        let text = trace.to_mahimahi();
        prop_assert_eq!(OpportunityTrace::parse("some.file", &text), Ok(trace));
    }

    #[test]
    fn written_rates_read_back_equal(trace in rate_trace()) {
        let text = trace.to_csv("made by\na test");
        prop_assert_eq!(RateTrace::parse("some.file", &text), Ok(trace));
    }

    #[test]
    fn mutated_mahimahi_file_gives_a_trace_or_a_one_line_error(
        text in mutated(opportunity_trace().prop_map(|trace| trace.to_mahimahi()))
    ) {
        match Trace::parse_mahimahi("some.file", &text) {
            Ok(trace) => {
                let written = trace.to_mahimahi().expect("no conversion");
                // Except for line ends and leading zeros, the written text equals the accepted
                // text.
                let digits = |text: &str| -> Vec<String> {
                    let number = |line: &str| match line.trim_start_matches('0') {
                        "" => "0".to_owned(),
                        number => number.to_owned(),
                    };
                    text.lines().map(number).collect()
                };
                prop_assert_eq!(digits(&written), digits(&text));
                check_use(&trace);
            }
            Err(error) => check_message(&error),
        }
    }

    #[test]
    fn mutated_csv_gives_a_trace_or_a_one_line_error(
        text in mutated(rate_trace().prop_map(|trace| trace.to_csv("made by a test")))
    ) {
        match Trace::parse_csv("some.file", &text) {
            Ok(trace) => {
                let written = trace.to_csv(1, "").expect("no conversion");
                prop_assert_eq!(Trace::parse_csv("some.file", &written), Ok(trace.clone()));
                check_use(&trace);
            }
            Err(error) => check_message(&error),
        }
    }

    #[test]
    fn any_text_gives_a_trace_or_a_one_line_error(text in any::<String>()) {
        for result in [
            Trace::parse_mahimahi("some.file", &text),
            Trace::parse_csv("some.file", &text),
            Trace::parse_csv("some.file", &format!("time_s,rate_bps\n{text}")),
        ] {
            if let Err(error) = result {
                check_message(&error);
            }
        }
    }

    #[test]
    fn averaging_opportunities_preserves_every_bit(trace in opportunity_trace(), bin_ms in 1..500u64) {
        let rate = trace.to_rate(bin_ms * MS).expect("few bins");
        prop_assert_eq!(rate.period_ns(), trace.period_ns());
        prop_assert!((rate.bits() - trace.bits()).abs() < 1e-9 * trace.bits());
    }

    #[test]
    fn conversion_to_opportunities_preserves_the_capacity_within_one_opportunity(trace in rate_trace()) {
        let cut = trace.to_opportunities().expect("low rates");
        prop_assert!((cut.bits() - trace.bits()).abs() <= OPPORTUNITY_BITS * (1.0 + 1e-6));
        prop_assert_eq!(cut.period_ms(), trace.period_ns().div_ceil(MS));
        // Except for the last opportunity, never more bits are delivered than have been
        // accumulated.
        let (mut delivered, mut ended, mut spans) = (0.0, 0.0, trace.spans().peekable());
        let (_, before_end) = cut.times_ms().split_last().expect("not empty");
        for time_ms in before_end {
            delivered += OPPORTUNITY_BITS;
            let now = time_ms * MS;
            while let Some((start, end, rate)) = spans.next_if(|&(_, end, _)| end <= now) {
                ended += rate * (end - start) as f64 / 1e9;
            }
            let begun = spans.peek().map_or(0.0, |&(start, _, rate)| {
                rate * now.saturating_sub(start) as f64 / 1e9
            });
            let together = ended + begun;
            prop_assert!(delivered <= together + 1.0, "{} of {} at {}", delivered, together, time_ms);
        }
    }

    #[test]
    fn millisecond_bins_restore_the_opportunities(trace in opportunity_trace()) {
        let back = trace.to_rate(MS).expect("few bins").to_opportunities().expect("as many");
        // Time 0 has no bits before it: its opportunities move to 1 ms.
        let expected: Vec<u64> = trace.times_ms().iter().map(|&time| time.max(1)).collect();
        prop_assert_eq!(back.times_ms(), expected);
    }

    #[test]
    fn stats_are_consistent(trace in rate_trace()) {
        check_use(&Trace::Opportunities(trace.to_opportunities().expect("low rates")));
        check_use(&Trace::Rate(trace));
    }
}

/// Exercises all functions of a valid trace and checks relations that always hold.
fn check_use(trace: &Trace) {
    let stats = trace.stats();
    assert_eq!(stats.duration_ns, trace.period_ns());
    assert!(stats.percentiles_bps.is_sorted(), "{stats:?}");
    assert!((0.0..=1.0).contains(&stats.empty_bins_fraction), "{stats:?}");
    assert!(stats.longest_outage.start_ns < stats.duration_ns, "{stats:?}");
    assert!(stats.longest_outage.length_ns <= stats.duration_ns, "{stats:?}");
    let whole = trace.rates(u64::MAX).expect("one bin")[0];
    assert!((whole - stats.mean_bps).abs() <= 1e-9 * whole, "{stats:?}");
}

/// Returns the directory of recorded traces, or prints the reason for its absence and returns
/// `None`.
fn recorded_traces() -> Option<PathBuf> {
    let directory = match std::env::var_os("AIRPATH_TRACES") {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
    };
    if directory.is_dir() {
        return Some(directory);
    }
    // `eprintln!` is captured by the test harness, and a skipped test must be visible.
    let reason = "skipped: no recorded traces in AIRPATH_TRACES or ../shared/traces";
    writeln!(std::io::stderr(), "{reason}").expect("stderr is open");
    None
}

#[test]
fn recorded_traces_are_read_and_plausible() {
    let Some(directory) = recorded_traces() else {
        return;
    };
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .expect("the directory is readable")
        .map(|entry| entry.expect("the directory is readable").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "down" || kind == "up"))
        .collect();
    names.sort();
    for path in names {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("a text file");
        let trace = Trace::parse_mahimahi(&name, &text).expect("valid");
        let stats = trace.stats();
        assert_eq!(trace.to_mahimahi().as_deref(), Ok(text.as_str()), "{name}");
        check_use(&trace);
        // Cellular links of the 2010s: 0.1 to 100 Mbit/s, at least one minute.
        assert!((1e5..1e8).contains(&stats.mean_bps), "{name}: {stats:?}");
        assert!(stats.duration_ns > 60 * NANOS_PER_SECOND, "{name}: {stats:?}");
        assert!(stats.percentiles_bps[4] > stats.mean_bps, "{name}: {stats:?}");
        assert!(stats.percentiles_bps[4] < 40.0 * stats.mean_bps, "{name}: {stats:?}");
        let csv = trace.to_csv(100 * MS, &name).expect("few bins");
        let again = Trace::parse_csv("again.csv", &csv).expect("valid");
        assert!((again.stats().mean_bps / stats.mean_bps - 1.0).abs() < 1e-9, "{name}");
    }
}
