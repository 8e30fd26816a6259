//! Description of a run: a JSON document that the Python package writes.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Description of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The resolved scenario, in the same form as for the simulator.
    pub scenario: Value,
    /// Maps keys in the resolved scenario to the files that the scenario refers to.
    #[serde(default)]
    pub files: BTreeMap<String, FileSpec>,
    /// Master seed.
    pub seed: u64,
    /// Index of the replication, from 0; selects the random streams.
    #[serde(default)]
    pub replication: u64,
    /// Traffic of the path.
    pub traffic: Traffic,
    /// Parameters of the kernel's TCP.
    #[serde(default)]
    pub kernel: KernelSettings,
    /// Comment for the sections of captures.
    #[serde(default)]
    pub comment: String,
    /// True if the server's side is the network namespace in which `airpath-emu` was started.
    #[serde(default)]
    pub host_network: bool,
    /// True if commands keep the privileges of the user that started `airpath-emu`. A nested run
    /// with `host_network` requires this.
    #[serde(default)]
    pub keep_privileges: bool,
    /// Nesting level, 0 … 30: number of emulations inside which this run is started. It selects the
    /// address range.
    #[serde(default)]
    pub level: u8,
    /// Interval of progress reports, ms; 0 for none.
    #[serde(default)]
    pub progress_ms: u64,
}

/// A file that a scenario refers to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Role of the file, which determines its format.
    pub role: FileRole,
    /// Contents of the file.
    pub text: String,
}

/// Role of a file.
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
    /// The flows of the scenario, from the start to the end of the scenario. TCP flows use kernel
    /// sockets.
    Flows {
        /// Socket settings of each TCP flow.
        sockets: Vec<SocketSpec>,
    },
    /// Traffic of commands. The run ends when the client's command ends.
    Commands {
        /// Program and arguments of the command on the client's side; at least the program.
        client: Vec<String>,
        /// Program and arguments of the command on the server's side; absent: no command.
        #[serde(default)]
        server: Option<Vec<String>>,
        /// Index of the scenario's flow from which the packets take user, hops and wires.
        #[serde(default)]
        like: u32,
        /// Maximum number of concurrent connections that have separate entries in queues and
        /// results, 1 … 65 535.
        #[serde(default = "slots")]
        slots: u32,
        /// Duration of the run, ns; absent: the run ends with the client's command.
        #[serde(default)]
        duration_ns: Option<u64>,
    },
}

fn slots() -> u32 {
    1024
}

/// Socket options of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// Flow number.
    pub flow: u32,
    /// Congestion control algorithm of the kernel: `TCP_CONGESTION`.
    pub congestion: String,
    /// Maximum segment size, bytes of payload and TCP options: `TCP_MAXSEG`; absent: derived from
    /// the MTU.
    #[serde(default)]
    pub mss: Option<u32>,
    /// Limit of the receive window, bytes: `TCP_WINDOW_CLAMP`; absent: no limit.
    #[serde(default)]
    pub window_clamp: Option<u32>,
    /// True if the kernel paces segments at the rate that it computes; set by `SO_MAX_PACING_RATE`.
    #[serde(default)]
    pub pacing: bool,
}

/// Parameters of the kernel's TCP, which apply in both namespaces.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSettings {
    /// Sysctl values by name, such as `net.ipv4.tcp_sack`.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Attributes of the routes to the other side.
    #[serde(default)]
    pub route: RouteSettings,
    /// Largest IP packet (MTU), bytes.
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

/// Attributes of a route; absent attributes are not set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteSettings {
    /// Congestion control algorithm of every connection, overriding the socket option: `congctl`.
    #[serde(default)]
    pub congestion: Option<String>,
    /// Initial window, segments: `initcwnd`.
    #[serde(default)]
    pub initcwnd: Option<u32>,
    /// Minimum variance term of the RTO, ms: `rto_min`.
    #[serde(default)]
    pub rto_min_ms: Option<u32>,
    /// True if every segment is acknowledged immediately: `quickack`.
    #[serde(default)]
    pub quickack: bool,
    /// Advertised maximum segment size, bytes: `advmss`.
    #[serde(default)]
    pub advmss: Option<u32>,
    /// True if connections use ECN, overriding the sysctl: `features ecn`.
    #[serde(default)]
    pub ecn: bool,
}
