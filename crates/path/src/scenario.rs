//! The resolved scenario: all values are present, in SI base units.

use crate::controls::ControlSpec;
use crate::distributions::PacketTime;
use crate::dumbbell::{AckPath, Bottleneck, Dumbbell};
use crate::flows::Flows;
use crate::hops::Hop;
use airpath_aqm::Limit;
use airpath_core::{Checks, ConfigError, Series};
use airpath_tcp::{
    OnOffConfig, RequestsConfig, SizeDistribution, TcpConfig, VideoConfig, VoiceConfig,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::sync::Arc;

/// A complete scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Document")]
pub struct Scenario {
    /// A name for outputs.
    pub name: String,
    /// Simulated time, ns.
    pub duration_ns: u64,
    /// Warm-up time before measurement starts, ns; less than the duration.
    pub warmup_ns: u64,
    /// The flows, numbered in this order.
    pub flows: Flows,
    /// The hops, in order from the servers to the users.
    pub hops: Vec<Hop>,
    /// Time series to record.
    pub record: Record,
    /// Changes at given times (events).
    pub controls: Vec<ControlSpec>,
}

/// The form of a scenario as JSON. The path is either `hops`, or the short form with `bottleneck`
/// and `ack_path`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    name: String,
    duration_ns: u64,
    #[serde(default)]
    warmup_ns: u64,
    flows: Flows,
    #[serde(default)]
    hops: Option<Vec<Hop>>,
    #[serde(default)]
    bottleneck: Option<Bottleneck>,
    #[serde(default)]
    ack_path: Option<AckPath>,
    #[serde(default)]
    backhaul: Option<WireSpec>,
    #[serde(default)]
    record: Record,
    #[serde(default)]
    controls: Vec<ControlSpec>,
    /// Default captures. Ignored here: the caller of each run selects the captures.
    #[serde(default, rename = "capture")]
    _capture: IgnoredAny,
}

impl TryFrom<Document> for Scenario {
    type Error = &'static str;

    fn try_from(document: Document) -> Result<Scenario, &'static str> {
        let Document { name, duration_ns, warmup_ns, flows, record, controls, .. } = document;
        let (bottleneck, ack_path) = (document.bottleneck, document.ack_path);
        let hops = match (document.hops, bottleneck, ack_path, document.backhaul) {
            (Some(hops), None, None, None) => hops,
            (Some(_), ..) => return Err("`hops` excludes `bottleneck`, `ack_path` and `backhaul`"),
            (None, None, ..) => return Err("missing field `bottleneck`"),
            (None, _, None, _) => return Err("missing field `ack_path`"),
            (None, Some(bottleneck), Some(ack_path), backhaul) => {
                Dumbbell { bottleneck, ack_path, backhaul }.into_hops()
            }
        };
        Ok(Scenario { name, duration_ns, warmup_ns, flows, hops, record, controls })
    }
}

/// One flow, or several equal consecutive flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Number of flows that the entry describes, at least 1.
    #[serde(default = "one")]
    pub count: u32,
    /// Direction of the data packets.
    #[serde(default)]
    pub direction: Direction,
    /// Group of the flow, for grouped results and for Poisson arrivals.
    #[serde(default)]
    pub group: Option<u32>,
    /// Name of the group; used only in results.
    #[serde(default)]
    pub name: IgnoredAny,
    /// User of a shared link, 0 to 65 535. Default: the flow number. Flows of one user share a
    /// queue if the link has one queue per user.
    #[serde(default)]
    pub user: Option<u32>,
    /// Names of the first and the last hop that the flow crosses, in the order of the path. Default:
    /// all hops.
    #[serde(default)]
    pub hops: Option<[String; 2]>,
    /// Source of the flow.
    pub source: SourceSpec,
    /// Start of the flow.
    pub start: StartSpec,
    /// Time after which the source offers no new data, ns.
    #[serde(default)]
    pub stop_ns: Option<u64>,
    /// Wire from the sender to the link of the data packets.
    pub access: WireSpec,
    /// Wire from the link of the data packets to the receiver.
    pub egress: WireSpec,
    /// Wire from the receiver to the link of the ACKs. Only if ACKs pass a link.
    #[serde(default)]
    pub ack_access: Option<WireSpec>,
    /// Wire from the link of the ACKs to the sender, or from the receiver to the sender if ACKs
    /// pass no link.
    pub return_wire: WireSpec,
}

/// Direction of a flow's data; its ACKs take the opposite direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the servers to the users (download).
    #[default]
    Forward,
    /// From the users to the servers (upload).
    Reverse,
}

impl Direction {
    /// Returns the name of the direction in descriptions.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        }
    }

    /// Both directions.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// Returns the opposite direction.
    #[must_use]
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }
}

fn one() -> u32 {
    1
}

/// A TCP connection.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// The congestion control algorithm: `{"kind": …}`.
    pub congestion: Value,
    /// TCP parameters.
    #[serde(deserialize_with = "shared")]
    pub options: Arc<TcpConfig>,
    /// Receive-window policy: `{"kind": …}`.
    #[serde(default)]
    pub window: Option<Value>,
    /// Bytes to transfer; default: unlimited.
    #[serde(default)]
    pub transfer_bytes: Option<u64>,
    /// Distribution of a random transfer size, sampled in each replication; replaces
    /// `transfer_bytes`.
    #[serde(default)]
    pub transfer: Option<SizeDistribution>,
    /// Application that writes the data. Default: all data are available at the start.
    #[serde(default)]
    pub application: Option<OnOffConfig>,
    /// Video client that requests the data, instead of an application.
    #[serde(default)]
    pub video: Option<VideoConfig>,
    /// Client that requests objects, instead of an application.
    #[serde(default)]
    pub requests: Option<RequestsConfig>,
}

fn shared<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<T>, D::Error> {
    T::deserialize(deserializer).map(Arc::new)
}

/// Source of a flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum SourceSpec {
    /// A TCP connection. Consecutive flows with equal parameters share one copy.
    Tcp(#[serde(deserialize_with = "shared")] Arc<TcpSpec>),
    /// Datagrams at a constant rate.
    Cbr {
        /// Rate, bit/s.
        rate_bps: u64,
        /// Size of a datagram, bytes.
        packet_bytes: u64,
    },
    /// Datagrams with exponentially distributed gaps.
    Poisson {
        /// Mean rate, bit/s.
        rate_bps: u64,
        /// Size of a datagram, bytes.
        packet_bytes: u64,
    },
    /// Datagrams of a voice call.
    Voice(VoiceConfig),
}

/// Start time of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum StartSpec {
    /// Starts at a given time.
    At {
        /// Start time, ns.
        time_ns: u64,
    },
    /// Starts at a uniformly distributed time, sampled in each replication.
    Uniform {
        /// Earliest start time, ns.
        low_ns: u64,
        /// Latest start time (exclusive), ns.
        high_ns: u64,
    },
    /// The flows of a group start one after the other, at the times of a Poisson process that is
    /// sampled in each replication.
    Poisson {
        /// Start of the process, ns.
        from_ns: u64,
        /// Mean time between two starts, ns.
        gap_ns: u64,
        /// End of the process, ns: flows with an arrival at or after this time never start.
        /// Default: all flows start.
        #[serde(default)]
        until_ns: Option<u64>,
    },
}

/// A wired hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireSpec {
    /// Rate, bit/s; default: infinite.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// One-way delay, ns.
    pub delay_ns: u64,
    /// Limit of the queue in front of the wire, excluding the packet in transmission. Packets above
    /// the limit are dropped. Default: no limit. Requires a rate.
    #[serde(default)]
    pub limit: Option<Limit>,
}

/// Time series to record.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Names of the [`Series`] to record.
    #[serde(default)]
    pub series: Vec<String>,
    /// Minimum time between two values of a level, ns; 0 records every change.
    #[serde(default)]
    pub interval_ns: u64,
    /// Per-packet times whose distributions are recorded.
    #[serde(default)]
    pub distributions: Vec<PacketTime>,
    /// True to sample the state of every sender.
    #[serde(default)]
    pub ss: bool,
    /// Time between two samples, ns.
    #[serde(default = "ss_interval")]
    pub ss_interval_ns: u64,
    /// True to record the statistics of a flow monitor.
    #[serde(default)]
    pub flow_monitor: bool,
    /// True to record the parts of the delays of packets.
    #[serde(default)]
    pub delay_parts: bool,
}

impl Default for Record {
    fn default() -> Record {
        Record {
            series: Vec::new(),
            interval_ns: 0,
            distributions: Vec::new(),
            ss: false,
            ss_interval_ns: ss_interval(),
            flow_monitor: false,
            delay_parts: false,
        }
    }
}

/// Returns the default sampling interval, 100 ms in ns.
fn ss_interval() -> u64 {
    100_000_000
}

impl Scenario {
    /// Reads a scenario from JSON and checks its values.
    ///
    /// # Errors
    /// Fails if the text is not a valid scenario document or a value is outside its range. The
    /// descriptions of links, queues and congestion control algorithms are checked when the network
    /// is built.
    pub fn from_json(text: &str) -> Result<Scenario, ConfigError> {
        let scenario: Scenario = serde_json::from_str(text)
            .map_err(|error| ConfigError::new("scenario", "JSON", error.to_string()))?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// Returns the series to record.
    ///
    /// # Errors
    /// Fails on an unknown name.
    pub fn series(&self) -> Result<Vec<Series>, ConfigError> {
        let known: Vec<&str> = Series::ALL.iter().map(|(_, name)| *name).collect();
        let advice = format!("Accepted: {}", known.join(", "));
        let mut checks = Checks::default();
        let series = self.record.series.iter().enumerate().filter_map(|(index, name)| {
            let found = Series::from_name(name);
            if found.is_none() {
                checks.reject(&format!("record.series.{index}"), name, "unknown", &advice);
            }
            found
        });
        let series = series.collect();
        checks.finish().map(|()| series)
    }
}

impl FlowSpec {
    /// Returns the number of connections of a client; 1 for other sources.
    pub(crate) fn connections(&self) -> u32 {
        match &self.source {
            SourceSpec::Tcp(spec) => spec.requests.map_or(1, |requests| requests.connections),
            _ => 1,
        }
    }

    /// Returns the wires of the flow with their keys, in the order of a round trip.
    pub fn wires(&self) -> [(&'static str, WireSpec); 4] {
        [
            ("access", self.access),
            ("egress", self.egress),
            ("ack_access", self.ack_access.unwrap_or_default()),
            ("return_wire", self.return_wire),
        ]
    }
}
