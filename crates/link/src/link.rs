//! The contract of a link, and what it is made from.

use crate::trace_file::Trace;
use airpath_aqm::{Queue, QueueReport};
use airpath_core::{ConfigError, Port, Seed, Setup, Stage, Time};
use airpath_phy::adaptation::PolicyRegistry;
use airpath_phy::channel::{AnyChannel, ChannelRegistry};
use airpath_phy::per_table::PerTable;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Recorded traces by the key under which a description names them.
pub type Traces = BTreeMap<String, Arc<Trace>>;

/// Error-rate tables by the key under which a description names them.
pub type Tables = BTreeMap<String, Arc<PerTable>>;

/// What was read for a scenario beside its description.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Recorded traces.
    pub traces: Traces,
    /// Error-rate tables.
    pub tables: Tables,
}

impl From<Traces> for Files {
    fn from(traces: Traces) -> Files {
        Files { traces, tables: Tables::default() }
    }
}

/// What a link is given at its making, beside its own configuration.
pub struct LinkKit {
    /// Where packets wait for it.
    pub queue: Queue,
    /// Where packets wait for the reverse direction, for a link that serves both itself.
    pub reverse_queue: Option<Queue>,
    /// The output by which delivered packets leave (a simplex link's only one).
    pub output: Port,
    /// Number of this link in time series.
    pub id: u32,
    /// Traces and tables.
    pub files: Arc<Files>,
    /// Channels from outside.
    pub channels: Arc<ChannelRegistry>,
    /// Link-adaptation policies from outside.
    pub policies: Arc<PolicyRegistry>,
}

impl LinkKit {
    /// The channel that `description` asks for, with the randomness of the link of `seed`; `None`
    /// without a description.
    ///
    /// # Errors
    /// When the kind is unknown or a parameter is not accepted.
    pub fn channel(
        &self,
        description: Option<&Value>,
        seed: &Seed,
    ) -> Result<Option<AnyChannel>, ConfigError> {
        let build = |description| {
            let seed = seed.child("channel");
            AnyChannel::build(description, Setup { seed, registry: &self.channels, extra: () })
        };
        description.map(build).transpose().map_err(|error| error.under("channel"))
    }
}

/// A stage that transmits packets from a queue of its own.
pub trait Link: Stage {
    /// Whether both directions are served: input and output 1 are then the reverse.
    fn is_duplex(&self) -> bool {
        false
    }

    /// What was measured up to `now`, one entry per direction.
    fn reports(&self, now: Time) -> Vec<SideReport>;
}

/// What was measured at one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct SideReport {
    /// Its queue.
    pub queue: QueueReport,
    /// The link itself.
    pub link: LinkReport,
}

/// What was measured at a link, without its queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkReport {
    /// Share of time that it transmitted; for a trace, share of its bytes that were used.
    pub utilisation: f64,
    /// What the utilisation is a share of: seconds, bytes or PDUs.
    pub offered: f64,
    /// Bytes of IP packets delivered.
    pub delivered_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Packets that the channel destroyed.
    pub lost_packets: u64,
    /// Transmissions begun in each regime; one entry for a link without regimes.
    pub regime_packets: Vec<u64>,
    /// What only a link of this kind counts, by name; from the start of measurement.
    pub counters: Vec<(Cow<'static, str>, f64)>,
}
