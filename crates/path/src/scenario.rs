//! The resolved scenario: every value present, SI base units.

use crate::distributions::PacketTime;
use crate::flows::Flows;
use crate::hops::{AckPath, Bottleneck};
use airpath_aqm::Limit;
use airpath_core::{Checks, ConfigError, Control, Rate, Series, UserChange, UserId};
use airpath_tcp::{OnOffConfig, SizeDistribution, TcpConfig};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::sync::Arc;

/// A whole scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for outputs.
    #[serde(default)]
    pub name: String,
    /// Simulated time, ns.
    pub duration_ns: u64,
    /// Time before measurement starts, ns; less than the duration.
    #[serde(default)]
    pub warmup_ns: u64,
    /// The flows, numbered in this order.
    pub flows: Flows,
    /// The hop that data takes.
    pub bottleneck: Bottleneck,
    /// How ACKs come back.
    pub ack_path: AckPath,
    /// The wired hop that all flows share, and the same one back; absent: none.
    #[serde(default)]
    pub backhaul: Option<WireSpec>,
    /// Time series to record.
    #[serde(default)]
    pub record: Record,
    /// Changes at given times.
    #[serde(default)]
    pub controls: Vec<ControlSpec>,
    /// Default captures: part of the description; the caller of each run decides.
    #[serde(default)]
    pub capture: IgnoredAny,
}

/// One flow, or several equal ones in a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// How many flows this describes, from 1.
    #[serde(default = "one")]
    pub count: u32,
    /// Direction of its data.
    #[serde(default)]
    pub direction: Direction,
    /// The group that it belongs to; for the record, and for arrivals.
    #[serde(default)]
    pub group: Option<u32>,
    /// Name of the group, which only results need.
    #[serde(default)]
    pub name: IgnoredAny,
    /// The user of a shared link that it belongs to, from 0 to 65 535; absent: the one of the flow's
    /// own number. Flows of one user share its queue where a link has a queue for each user.
    #[serde(default)]
    pub user: Option<u32>,
    /// Source of the flow.
    pub source: SourceSpec,
    /// When it starts.
    pub start: StartSpec,
    /// Time after which the source offers no new data, ns.
    #[serde(default)]
    pub stop_ns: Option<u64>,
    /// From the sender to the link that its data takes.
    pub access: WireSpec,
    /// Wire from that link to the receiver.
    pub egress: WireSpec,
    /// From the receiver to the link that its ACKs take; only where there is one.
    #[serde(default)]
    pub ack_access: Option<WireSpec>,
    /// From there, or from the receiver where ACKs take no link, to the sender.
    pub return_wire: WireSpec,
}

/// Direction of the data of a flow; its ACKs go in the other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Through the bottleneck, as a download does.
    #[default]
    Forward,
    /// The direction of the other flows' ACKs, as an upload does.
    Reverse,
}

fn one() -> u32 {
    1
}

/// A TCP connection.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// The congestion control: `{"kind": …}`.
    pub congestion: Value,
    /// Every option.
    #[serde(deserialize_with = "shared")]
    pub options: Arc<TcpConfig>,
    /// Receive-window policy: `{"kind": …}`.
    #[serde(default)]
    pub window: Option<Value>,
    /// Bytes to transfer; absent: unlimited.
    #[serde(default)]
    pub transfer_bytes: Option<u64>,
    /// Instead of `transfer_bytes`: a random size, drawn in each replication.
    #[serde(default)]
    pub transfer: Option<SizeDistribution>,
    /// Application that writes the data; absent: all data are available at the start.
    #[serde(default)]
    pub application: Option<OnOffConfig>,
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
    /// A TCP connection; what flows that follow one another have in common is kept once.
    Tcp(#[serde(deserialize_with = "shared")] Arc<TcpSpec>),
    /// Datagrams at a constant rate.
    Cbr {
        /// Rate, bit/s.
        rate_bps: u64,
        /// Size of a datagram, bytes.
        packet_bytes: u64,
    },
    /// Datagrams with exponential gaps.
    Poisson {
        /// Mean rate, bit/s.
        rate_bps: u64,
        /// Size of a datagram, bytes.
        packet_bytes: u64,
    },
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum StartSpec {
    /// Starts at a given time.
    At {
        /// The time, ns.
        time_ns: u64,
    },
    /// At a random time, drawn in each replication.
    Uniform {
        /// Earliest, ns.
        low_ns: u64,
        /// Latest (exclusive), ns.
        high_ns: u64,
    },
    /// The flows of a group start one after the other as a Poisson process, drawn in each
    /// replication.
    Poisson {
        /// When the process begins, ns.
        from_ns: u64,
        /// Mean time between two starts, ns.
        gap_ns: u64,
        /// Flows whose turn would come then or later never start, ns; absent: all do.
        #[serde(default)]
        until_ns: Option<u64>,
    },
}

/// A wired hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireSpec {
    /// Rate, bit/s; absent: infinite.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// One-way delay, ns.
    pub delay_ns: u64,
    /// Most that may wait in front of it, not counting the packet that is being sent; what comes
    /// then is dropped. Absent: no limit. Only with a rate.
    #[serde(default)]
    pub limit: Option<Limit>,
}

/// Time series to record.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Names of [`Series`].
    #[serde(default)]
    pub series: Vec<String>,
    /// Least time between two values of a level, ns; 0 keeps every change.
    #[serde(default)]
    pub interval_ns: u64,
    /// Times of packets whose distribution is kept.
    #[serde(default)]
    pub distributions: Vec<PacketTime>,
    /// Whether the state of every sender is sampled.
    #[serde(default)]
    pub ss: bool,
    /// Time between two samples, ns.
    #[serde(default = "ss_interval")]
    pub ss_interval_ns: u64,
    /// Whether the statistics of a flow monitor are kept.
    #[serde(default)]
    pub flow_monitor: bool,
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
        }
    }
}

/// 100 ms.
fn ss_interval() -> u64 {
    100_000_000
}

/// A change at a given time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlSpec {
    /// When, ns.
    pub at_ns: u64,
    /// Action of the event.
    pub action: Action,
}

/// Change of an event.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Action {
    /// The bottleneck's rate.
    Rate {
        /// New rate, bit/s; 0 stops it.
        rate_bps: u64,
    },
    /// The scheme of one user of the bottleneck's link.
    Mcs {
        /// Number of the user.
        user: u32,
        /// New scheme of its downlink; absent: as before.
        #[serde(default)]
        downlink: Option<String>,
        /// New scheme of its uplink; absent: as before.
        #[serde(default)]
        uplink: Option<String>,
    },
    /// The mean SNR of one user of the bottleneck's link.
    Snr {
        /// Number of the user.
        user: u32,
        /// Offset from that of its description, dB.
        moved_db: f64,
    },
}

impl Action {
    /// Control events of the link.
    pub fn controls(&self) -> Vec<Control> {
        match self {
            Action::Rate { rate_bps } => vec![Control::Rate(Rate(*rate_bps))],
            Action::Mcs { user, downlink, uplink } => {
                let scheme = |(is_reverse, name): (bool, &Option<String>)| {
                    let name = name.clone()?;
                    Some(Control::User(UserId(*user), UserChange::Scheme { is_reverse, name }))
                };
                [(false, downlink), (true, uplink)].into_iter().filter_map(scheme).collect()
            }
            Action::Snr { user, moved_db } => {
                vec![Control::User(UserId(*user), UserChange::SnrMoved(*moved_db))]
            }
        }
    }
}

impl Scenario {
    /// Reads and checks the JSON form.
    ///
    /// # Errors
    /// When the text is not such a document, or a value is outside its range. The descriptions of
    /// links, queues and congestion controls are checked when the network is built.
    pub fn from_json(text: &str) -> Result<Scenario, ConfigError> {
        let scenario: Scenario = serde_json::from_str(text)
            .map_err(|error| ConfigError::new("scenario", "JSON", error.to_string()))?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// The series to record.
    ///
    /// # Errors
    /// On an unknown name.
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
    /// Its wires by their names in the document, in the order of a round trip.
    pub fn wires(&self) -> [(&'static str, WireSpec); 4] {
        [
            ("access", self.access),
            ("egress", self.egress),
            ("ack_access", self.ack_access.unwrap_or_default()),
            ("return_wire", self.return_wire),
        ]
    }
}
