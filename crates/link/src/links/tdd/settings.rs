//! Configuration of a TDD link.

use super::clock::Clock;
use super::radio::{RadioConfig, SETS};
use super::slots::{SlotSize, slot_of};
use crate::retransmission::arq::ArqConfig;
use crate::retransmission::harq::HarqConfig;
use airpath_core::{ConfigError, Duration};
use serde::Deserialize;
use serde_json::Value;

/// Configuration set by the user.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TddConfig {
    /// Length of a frame, ns. From a microsecond, at most an hour.
    pub frame_ns: u64,
    /// How many stations there are, 1 to 1000.
    pub stations: u32,
    /// Slots of the downlink in a frame, maps among them.
    pub downlink_slots: u64,
    /// Slots of the uplink in a frame.
    pub uplink_slots: u64,
    /// Data symbols of a slot.
    pub slot_symbols: u64,
    /// Overhead of maps in the downlink.
    pub map_overhead: MapOverhead,
    /// How many frames after that of its map an uplink burst is sent.
    pub map_relevance: u64,
    /// From a frame's start until its downlink bursts are decoded at the stations, ns.
    pub decoded_ns: u64,
    /// Until its uplink bursts close at the stations, ns.
    pub closed_ns: u64,
    /// Until its uplink bursts are received, ns.
    pub received_ns: u64,
    /// The scheme of the downlink, of the list of wimax-2009 §5.1.
    pub downlink_mcs: String,
    /// The scheme of the uplink.
    pub uplink_mcs: String,
    /// Schemes that follow the radio; absent: those that are set.
    #[serde(default)]
    pub radio: Option<RadioConfig>,
    /// Stations that differ. Entries of stations that do not exist are rejected.
    #[serde(default)]
    pub users: Vec<StationConfig>,
    /// Whether MPDUs end with a CRC of 4 octets.
    #[serde(default)]
    pub crc: bool,
    /// Whether packets are cut to fit.
    pub fragmentation: PerDirection,
    /// Whether several packets share an MPDU.
    pub packing: PerDirection,
    /// HARQ in both directions; absent: none.
    #[serde(default)]
    pub harq: Option<HarqConfig>,
    /// The second loop in both directions; absent: none.
    #[serde(default)]
    pub arq: Option<ArqConfig>,
    /// Whether packets are delivered in the order in which they were sent.
    pub in_order: PerDirection,
    /// Error process of MPDUs of the downlink: `{"kind": …}`. Absent: none.
    #[serde(default)]
    pub errors: Option<Value>,
    /// Error process of MPDUs of the uplink.
    #[serde(default)]
    pub reverse_errors: Option<Value>,
    /// When a piggyback request is read.
    #[serde(default)]
    pub piggyback_read: PiggybackRead,
    /// Request procedure: `{"kind": …}`.
    pub request: Value,
    /// Grant policy, which adds proactive grants: `{"kind": …}`.
    pub grant: Value,
    /// Scheduler, for both directions: `{"kind": …}`.
    pub scheduler: Value,
}

/// Values that differ for one station.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationConfig {
    /// Its number.
    pub user: u32,
    /// Its scheme in the downlink; absent: as everyone's.
    #[serde(default)]
    pub downlink_mcs: Option<String>,
    /// Its scheme in the uplink; absent: as everyone's.
    #[serde(default)]
    pub uplink_mcs: Option<String>,
    /// The SNR of its downlink; absent: as everyone's.
    #[serde(default)]
    pub snr: Option<Value>,
}

/// When the base station reads a piggyback request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PiggybackRead {
    /// When the burst that carries it is received, even if its MPDUs are lost.
    #[default]
    AtOnce,
    /// As the last MPDU of the burst is received, after its repetitions; it is lost with that.
    WithMpdu,
}

/// Slots that maps take of the downlink of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapOverhead {
    /// Slots in every frame.
    pub slots: u64,
    /// For each burst of the frame and of the uplink that it grants.
    #[serde(default)]
    pub per_burst: u64,
}

/// Something of both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerDirection {
    /// Whether it applies to the downlink.
    pub down: bool,
    /// Whether it applies to the uplink.
    pub up: bool,
}

impl PerDirection {
    /// Of the direction `side`: 0 is the downlink.
    pub(super) fn of(self, side: usize) -> bool {
        if side == 0 { self.down } else { self.up }
    }
}

impl TddConfig {
    pub(super) fn clock(&self) -> Clock {
        let [frame, decoded, closed, received] =
            [self.frame_ns, self.decoded_ns, self.closed_ns, self.received_ns]
                .map(Duration::from_nanos);
        Clock::new(frame, decoded, closed, received)
    }

    /// Header and trailer of an MPDU, bytes.
    pub(super) fn header(&self) -> u64 {
        if self.crc { 10 } else { 6 }
    }

    /// Capacity of the slots of `station`, downlink and uplink: the largest one if they follow the
    /// radio.
    pub(super) fn slot_sizes(&self, station: u32) -> Result<[SlotSize; 2], ConfigError> {
        let own = self.users.iter().enumerate().find(|(_, entry)| entry.user == station);
        let mut sizes = [None, None];
        for (side, size) in sizes.iter_mut().enumerate() {
            let field = ["downlink_mcs", "uplink_mcs"][side];
            if self.radio.is_some() {
                let fastest = SETS[side].schemes[SETS[side].schemes.len() - 1];
                *size = Some(SlotSize::new(fastest, self.slot_symbols));
                continue;
            }
            let everyones = [&self.downlink_mcs, &self.uplink_mcs][side];
            let named = own.and_then(|(place, entry)| {
                let mcs = [&entry.downlink_mcs, &entry.uplink_mcs][side].as_ref()?;
                Some((format!("users.{place}.{field}"), mcs))
            });
            let (field, mcs) = named.unwrap_or_else(|| (field.to_owned(), everyones));
            *size = Some(slot_of(&field, mcs, side, self.slot_symbols)?);
        }
        let [Some(down), Some(up)] = sizes else { unreachable!("both are set") };
        Ok([down, up])
    }
}
