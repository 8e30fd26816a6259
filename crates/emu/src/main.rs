//! `airpath-emu`: runs a scenario in real time, or reports the capabilities of this machine.
//!
//! The Python package starts it as `airpath-emu run --document FD --results FD [OPTION FD]` or
//! `airpath-emu check`. A run reads and writes only file descriptors that the Python package has
//! opened, so that no file remains if a process is killed.

use airpath_emu::Channels;
use airpath_emu::description::Description;
use airpath_emu::events::{Event, Events};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitCode;

const USAGE: &str = "usage: airpath-emu run --document FD --results FD [--events FD] [--input FD] \
                     [--server-capture FD --client-capture FD] | airpath-emu check";

/// The file descriptors of a run.
#[derive(Default)]
struct Arguments {
    document: Option<OwnedFd>,
    results: Option<OwnedFd>,
    server_capture: Option<OwnedFd>,
    client_capture: Option<OwnedFd>,
    events: Option<OwnedFd>,
    input: Option<OwnedFd>,
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    while let Some(option) = words.next() {
        let place = match option.as_str() {
            "--document" => &mut arguments.document,
            "--results" => &mut arguments.results,
            "--server-capture" => &mut arguments.server_capture,
            "--client-capture" => &mut arguments.client_capture,
            "--events" => &mut arguments.events,
            "--input" => &mut arguments.input,
            _ => return Err(USAGE.to_owned()),
        };
        let number = words.next().and_then(|word| word.parse().ok());
        let number = number.ok_or_else(|| format!("{option}: not a file descriptor"))?;
        let taken = airpath_emu::sys::inherited(number);
        *place = Some(taken.map_err(|error| format!("{option} {number}: {error}"))?);
    }
    Ok(arguments)
}

fn run(words: impl Iterator<Item = String>) -> u8 {
    let arguments = match arguments(words) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("airpath-emu: {problem}");
            return 2;
        }
    };
    let Arguments { document: Some(document), results: Some(results), events, .. } = arguments
    else {
        eprintln!("airpath-emu: {USAGE}");
        return 2;
    };
    let captures = arguments.server_capture.zip(arguments.client_capture);
    let channels = Channels {
        results: results.into(),
        captures: captures.map(|(server, client)| [server.into(), client.into()]),
        input: arguments.input,
    };
    let is_told = events.is_some();
    let mut events = Events::to(events);
    let mut fail = |what, message: String| {
        if !is_told {
            eprintln!("airpath-emu: {message}");
        }
        events.emit(&Event::Failed { what, message });
    };
    let read = io::read_to_string(File::from(document)).map_err(|error| error.to_string());
    let parsed = read.and_then(|text| {
        serde_json::from_str::<Description>(&text).map_err(|error| error.to_string())
    });
    let description = match parsed {
        Ok(description) => description,
        Err(problem) => {
            fail("document", format!("document: {problem}"));
            return 2;
        }
    };
    match airpath_emu::run(
        &description,
        &airpath_path::Components::default(),
        &mut events,
        channels,
    ) {
        Ok(()) => 0,
        Err((what, message)) => {
            if !is_told {
                eprintln!("airpath-emu: {message}");
            }
            events.emit(&Event::Failed { what, message });
            if what == "scenario" { 2 } else { 1 }
        }
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let status = match words.next().as_deref() {
        Some("run") => run(words),
        Some("check") => {
            let probes = airpath_emu::check::check();
            let text = serde_json::to_string(&probes).expect("probes hold only texts");
            #[expect(clippy::print_stdout, reason = "the caller reads the report from stdout")]
            {
                println!("{text}");
            }
            0
        }
        _ => {
            eprintln!("{USAGE}");
            2
        }
    };
    ExitCode::from(status)
}
