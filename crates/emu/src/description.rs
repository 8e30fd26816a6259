//! The description of a run: one JSON document, which the Python side writes.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A whole run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The resolved scenario, as the simulator takes it.
    pub scenario: Value,
    /// Files that the scenario names, by the keys of its resolved form.
    #[serde(default)]
    pub files: BTreeMap<String, FileSpec>,
    /// Master seed.
    pub seed: u64,
    /// Number of the replication, for the random streams.
    #[serde(default)]
    pub replication: u64,
    /// Traffic of the path.
    pub traffic: Traffic,
    /// Settings of the kernel's TCP.
    #[serde(default)]
    pub kernel: KernelSettings,
    /// Comment for the sections of captures.
    #[serde(default)]
    pub comment: String,
    /// The server's side is the network namespace in which the program was started.
    #[serde(default)]
    pub host_network: bool,
    /// Commands keep the privileges of the user that started the program, as a nested run with `host_network`
    /// needs.
    #[serde(default)]
    pub keep_privileges: bool,
    /// Which of the address ranges is used: the number of runs that this one is nested in. 0 … 30.
    #[serde(default)]
    pub level: u8,
    /// Time between two reports of progress, ms; 0: none.
    #[serde(default)]
    pub progress_ms: u64,
}

/// A file that a scenario names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Role of the file.
    pub role: FileRole,
    /// Contents of the file.
    pub text: String,
}

/// Role of a file for the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileRole {
    /// Delivery opportunities in the Mahimahi format.
    Mahimahi,
    /// Rates over time as CSV.
    Csv,
    /// Packet error rates.
    Table,
    /// SNRs over time.
    Snr,
}

/// Traffic of the path.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Traffic {
    /// That of the scenario's flows, TCP ones through sockets of the kernel, from its start to its end.
    Flows {
        /// Socket settings of each TCP flow.
        sockets: Vec<SocketSpec>,
    },
    /// That of commands, until the client's has ended.
    Commands {
        /// Program and arguments on the client's side; at least the program.
        client: Vec<String>,
        /// The same on the server's side; absent: nothing is started there.
        #[serde(default)]
        server: Option<Vec<String>>,
        /// Number of the scenario's flow whose user, direction and wires the packets take.
        #[serde(default)]
        like: u32,
        /// Largest number of concurrent connections that queues and results distinguish. 1 … 65
        /// 535.
        #[serde(default = "slots")]
        slots: u32,
        /// The whole run ends after that long, ns; absent: with the client's command.
        #[serde(default)]
        duration_ns: Option<u64>,
    },
}

fn slots() -> u32 {
    1024
}

/// Settings of a flow's sockets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// Number of the flow.
    pub flow: u32,
    /// The kernel's congestion control: `TCP_CONGESTION`.
    pub congestion: String,
    /// Largest segment, bytes of payload and TCP options: `TCP_MAXSEG`; absent: by the MTU.
    #[serde(default)]
    pub mss: Option<u32>,
    /// Bound of the receive window, bytes: `TCP_WINDOW_CLAMP`; absent: none.
    #[serde(default)]
    pub window_clamp: Option<u32>,
    /// Segments leave one at a time, at the kernel's rate for it: any `SO_MAX_PACING_RATE` but the
    /// largest.
    #[serde(default)]
    pub pacing: bool,
}

/// Settings of the kernel's TCP, in both namespaces.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSettings {
    /// Values by name, as `net.ipv4.tcp_sack`.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Attributes of the routes to the other side.
    #[serde(default)]
    pub route: RouteSettings,
    /// Largest IP packet, bytes.
    #[serde(default = "mtu")]
    pub mtu: u32,
}

fn mtu() -> u32 {
    1500
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self { sysctls: BTreeMap::new(), route: RouteSettings::default(), mtu: mtu() }
    }
}

/// Attributes of a route; what is absent is not set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteSettings {
    /// Congestion control of every connection, overriding its own choice: `congctl`.
    #[serde(default)]
    pub congestion: Option<String>,
    /// Segments of the initial window: `initcwnd`.
    #[serde(default)]
    pub initcwnd: Option<u32>,
    /// Least variance term of the RTO, ms: `rto_min`.
    #[serde(default)]
    pub rto_min_ms: Option<u32>,
    /// Every segment is acknowledged at once: `quickack`.
    #[serde(default)]
    pub quickack: bool,
    /// Largest segment that is advertised, bytes: `advmss`.
    #[serde(default)]
    pub advmss: Option<u32>,
    /// ECN, overriding the sysctl: `features ecn`.
    #[serde(default)]
    pub ecn: bool,
}
