//! Events of a run in progress: one JSON document a line, on a separate file descriptor.

use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

/// An event of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// Both sides are up; commands start now.
    Ready {
        /// Address of the server.
        server: String,
        /// Addresses of the clients, by user as far as flows name them.
        clients: Vec<String>,
        /// The scheduling class that the data thread has: `fifo` or `other`.
        class: &'static str,
    },
    /// How far it is.
    Progress(Progress),
    /// The end: the results are written.
    Finished {
        /// `end` (of the scenario), `command` (it has ended), `duration`, `signal` or `input` (the
        /// parent process has exited).
        reason: &'static str,
        /// Exit status of the client's command, that of a shell: 128 and more for signals.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<i32>,
    },
    /// It failed; there may be no results.
    Failed {
        /// Name of the failed operation, such as `tun`, `namespace`, `command`, `congestion`,
        /// `scenario`, `device`, `model`.
        what: &'static str,
        /// One sentence.
        message: String,
    },
}

/// How far a run is, and what has happened since the report before.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Progress {
    /// Time since the start of the scenario, s.
    pub at_s: f64,
    /// When it ends, s; absent: not known.
    pub until_s: Option<f64>,
    /// IP bytes delivered in the forward direction, bit/s.
    pub rate_bps: f64,
    /// Rate in the reverse direction, bit/s.
    pub reverse_rate_bps: f64,
    /// Packets now waiting in the queues of the forward direction.
    pub queue_packets: usize,
    /// The regime of the last transmission, of links that have several.
    pub regime: Option<usize>,
    /// Packets dropped so far, for any reason.
    pub drops: u64,
    /// Packets marked so far.
    pub marks: u64,
    /// 99th percentile of the lateness so far, s.
    pub lateness_p99_s: Option<f64>,
    /// Largest lateness so far, s.
    pub lateness_max_s: f64,
}

/// Writes events to a file, or discards them.
#[derive(Debug, Default)]
pub struct Events(Option<File>);

impl Events {
    /// Writes events to `descriptor`, if there is one.
    pub fn to(descriptor: Option<OwnedFd>) -> Events {
        Events(descriptor.map(File::from))
    }

    /// Writes `event`. Discards it without a reader.
    pub fn emit(&mut self, event: &Event) {
        let Some(file) = &mut self.0 else { return };
        let mut line = serde_json::to_string(event).expect("events hold only numbers and texts");
        line.push('\n');
        let _ = file.write_all(line.as_bytes());
    }
}
