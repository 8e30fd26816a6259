//! Runs a resolved scenario. Used with a profiler, and to measure the speed gain by lookahead.
//!
//! `scenario RESOLVED.json [--in-order] [--seconds S] [KEY=FILE ...]`: `--in-order` disables
//! lookahead. `--seconds` replaces the duration of the scenario; 0 only builds the network.
//! `KEY=FILE` provides a trace or table that the scenario refers to by this key: `.json` is a
//! table, `.csv` are rates, any other file is in the Mahimahi format.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use airpath_link::Files;
use airpath_path::{Components, Scenario, build};
use airpath_phy::per_table::PerTable;
use airpath_sim::Driver;
use airpath_trace::Trace;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a resolved scenario");
    let text = std::fs::read_to_string(&path).expect("a file");
    let (mut files, mut keeps_order, mut seconds) = (Files::default(), false, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--in-order" => keeps_order = true,
            "--seconds" => {
                let given = arguments.next().expect("simulated seconds");
                seconds = Some(given.parse::<f64>().expect("a number"));
            }
            _ => {
                let (key, file) = argument.split_once('=').expect("KEY=FILE");
                add(&mut files, key, file);
            }
        }
    }
    let began = Instant::now();
    let mut scenario = Scenario::from_json(&text).expect("a scenario");
    let read_s = began.elapsed().as_secs_f64();
    if let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) {
        scenario.duration_ns = (seconds * 1e9) as u64;
        scenario.warmup_ns = 0;
    }
    let network =
        build(&scenario, &Components::default(), &Arc::new(files), 1, 0).expect("a network");
    let mut driver = Driver::new(network);
    let built_s = began.elapsed().as_secs_f64();
    if keeps_order {
        driver.keep_order();
    }
    if seconds != Some(0.0) {
        driver.run(&()).expect("a run");
    }
    let report = driver.report(0);
    println!(
        "{} packets, {} events, {} wake-ups; read in {read_s:.4} s, built in {:.4} s, ran {:.4} s",
        report.packets,
        report.events,
        driver.wakeups(),
        built_s - read_s,
        began.elapsed().as_secs_f64() - built_s,
    );
}

/// Reads a trace or a table.
fn add(files: &mut Files, key: &str, file: &str) {
    let text = std::fs::read_to_string(file).expect("a file");
    let extension = file.rsplit('.').next().unwrap_or_default();
    let trace = match extension {
        "json" => {
            let table = PerTable::from_json(&text).expect("a table");
            files.tables.insert(key.to_owned(), Arc::new(table));
            return;
        }
        "csv" => Trace::parse_csv(key, &text),
        _ => Trace::parse_mahimahi(key, &text),
    };
    files.traces.insert(key.to_owned(), Arc::new(trace.expect("a trace")));
}
