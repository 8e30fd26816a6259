//! Tests of the driver with the kernel. Each test is a separate process with one thread, because
//! user and PID namespaces require it. If the machine lacks a capability, the test is skipped with
//! the reason.
#![expect(clippy::print_stdout, reason = "it is its own harness")]

mod checks;
mod commands;
mod endpoints;
mod sides;
mod support;

use std::process::{Command, ExitCode};
use support::{SKIPPED, Test};

/// Timeout of a test, s: far above its duration on a busy machine.
const HANG_S: &str = "1000";

fn main() -> ExitCode {
    let tests: Vec<Test> =
        [sides::TESTS, commands::TESTS, checks::TESTS, endpoints::TESTS].concat();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, wanted] = &arguments[..]
        && flag == "--one"
    {
        let test = tests.iter().find(|(name, _)| name == wanted).expect("a test of that name");
        (test.1)();
        return ExitCode::SUCCESS;
    }
    if let [flag, changes, command] = &arguments[..]
        && flag == "--inner"
    {
        commands::inner(changes, command);
    }
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let filter: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let mut failed = Vec::new();
    for (name, _) in &tests {
        if filter.is_empty() || filter.iter().any(|part| name.contains(part.as_str())) {
            println!("test {name} ... {}", run(name, &mut failed));
        }
    }
    println!("\ntest result: {} failed", failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(name: &'static str, failed: &mut Vec<&'static str>) -> String {
    let mine = std::env::current_exe().expect("the path of this program");
    let output = Command::new("timeout")
        .args(["--kill-after=1", HANG_S])
        .arg(mine)
        .args(["--one", name])
        .output()
        .expect("coreutils are installed");
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.code() {
        Some(0) => "ok".to_owned(),
        Some(SKIPPED) => format!("skipped: {words}"),
        status => {
            failed.push(name);
            format!("FAILED with {status:?}\n{words}")
        }
    }
}
