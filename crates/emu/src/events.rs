//! Reports events during a run, as one JSON document per line on a separate file descriptor.

use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

/// An event of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// Both sides are set up; commands start now.
    Ready {
        /// Address of the server.
        server: String,
        /// Addresses of the clients, in the order of the users of the flows.
        clients: Vec<String>,
        /// Scheduling class of the data thread: `fifo` or `other`.
        class: &'static str,
    },
    /// Progress report.
    Progress(Progress),
    /// The run has ended and the results are written.
    Finished {
        /// Reason: `end` (of the scenario), `command` (the command has ended), `duration`, `signal`
        /// or `input` (the parent process has exited).
        reason: &'static str,
        /// Exit status of the client's command, as in a shell: 128 plus the signal number if a
        /// signal ended the command.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<i32>,
    },
    /// The run failed; results may be missing.
    Failed {
        /// Name of the failed operation, such as `tun`, `namespace`, `command`, `congestion`,
        /// `scenario`, `device`, `model`.
        what: &'static str,
        /// Description of the error, one sentence.
        message: String,
    },
}

/// Progress of a run, and rates since the previous report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Progress {
    /// Time since the start of the scenario, s.
    pub at_s: f64,
    /// End of the run, s; absent if unknown.
    pub until_s: Option<f64>,
    /// Rate of the IP packets delivered in the forward direction, bit/s.
    pub rate_bps: f64,
    /// Rate in the reverse direction, bit/s.
    pub reverse_rate_bps: f64,
    /// Number of packets that wait in the queues of the forward direction.
    pub queue_packets: usize,
    /// Regime of the last transmission, for links with several regimes.
    pub regime: Option<usize>,
    /// Number of packets dropped so far, for any reason.
    pub drops: u64,
    /// Number of packets marked so far.
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
    /// Creates a writer to `descriptor`. With `None`, all events are discarded.
    pub fn to(descriptor: Option<OwnedFd>) -> Events {
        Events(descriptor.map(File::from))
    }

    /// Writes `event`. If the reader has closed its end, the event is discarded.
    pub fn emit(&mut self, event: &Event) {
        let Some(file) = &mut self.0 else { return };
        let mut line = serde_json::to_string(event).expect("events hold only numbers and texts");
        line.push('\n');
        let _ = file.write_all(line.as_bytes());
    }
}
