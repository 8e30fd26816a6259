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
    /// Frame length, ns. From a microsecond to an hour.
    pub frame_ns: u64,
    /// Number of stations, 1 to 1000.
    pub stations: u32,
    /// Number of downlink slots of a frame, including the slots of maps.
    pub downlink_slots: u64,
    /// Number of uplink slots of a frame.
    pub uplink_slots: u64,
    /// Number of data symbols of a slot.
    pub slot_symbols: u64,
    /// Overhead of maps in the downlink.
    pub map_overhead: MapOverhead,
    /// Number of frames between a map and its uplink burst.
    pub map_relevance: u64,
    /// Time from the start of a frame until the stations decode its downlink bursts, ns.
    pub decoded_ns: u64,
    /// Time from the start of a frame until its uplink bursts close at the stations, ns.
    pub closed_ns: u64,
    /// Time from the start of a frame until its uplink bursts are received, ns.
    pub received_ns: u64,
    /// Name of the downlink MCS in the list of wimax-2009 §5.1.
    pub downlink_mcs: String,
    /// Name of the uplink MCS in the list of wimax-2009 §5.1.
    pub uplink_mcs: String,
    /// Adaptive modulation and coding. `None`: the MCSs are constant.
    #[serde(default)]
    pub radio: Option<RadioConfig>,
    /// Configuration of individual stations. Entries of stations that do not exist are rejected.
    #[serde(default)]
    pub users: Vec<StationConfig>,
    /// True if MPDUs end with a CRC of 4 octets.
    #[serde(default)]
    pub crc: bool,
    /// True if packets are fragmented to fill frames.
    pub fragmentation: PerDirection,
    /// True if several packets share an MPDU.
    pub packing: PerDirection,
    /// HARQ parameters of both directions. `None`: no HARQ.
    #[serde(default)]
    pub harq: Option<HarqConfig>,
    /// ARQ parameters of both directions. `None`: no ARQ.
    #[serde(default)]
    pub arq: Option<ArqConfig>,
    /// True if packets are delivered in the order of their transmission.
    pub in_order: PerDirection,
    /// Error process of MPDUs of the downlink: `{"kind": …}`. `None`: no error process.
    #[serde(default)]
    pub errors: Option<Value>,
    /// Error process of MPDUs of the uplink. `None`: no error process.
    #[serde(default)]
    pub reverse_errors: Option<Value>,
    /// Time at which a piggyback request is read.
    #[serde(default)]
    pub piggyback_read: PiggybackRead,
    /// Request procedure: `{"kind": …}`.
    pub request: Value,
    /// Grant policy, which adds proactive grants: `{"kind": …}`.
    pub grant: Value,
    /// Scheduler, for both directions: `{"kind": …}`.
    pub scheduler: Value,
}

/// Configuration of one station.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationConfig {
    /// ID of the station.
    pub user: u32,
    /// MCS of the station in the downlink. `None`: the MCS of the link.
    #[serde(default)]
    pub downlink_mcs: Option<String>,
    /// MCS of the station in the uplink. `None`: the MCS of the link.
    #[serde(default)]
    pub uplink_mcs: Option<String>,
    /// SNR process of the station's downlink. `None`: the SNR process of the link.
    #[serde(default)]
    pub snr: Option<Value>,
}

/// Time at which the base station reads a piggyback request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PiggybackRead {
    /// At the reception of the burst that carries the request, even if its MPDUs are lost.
    #[default]
    AtOnce,
    /// At the reception of the last MPDU of the burst, after its retransmissions; the request is
    /// lost with this MPDU.
    WithMpdu,
}

/// Number of downlink slots of a frame that maps occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapOverhead {
    /// Slots in every frame.
    pub slots: u64,
    /// Additional slots for each downlink burst of the frame and for each uplink burst that it
    /// grants.
    #[serde(default)]
    pub per_burst: u64,
}

/// An option that can be enabled separately for each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerDirection {
    /// True if the option is enabled in the downlink.
    pub down: bool,
    /// True if the option is enabled in the uplink.
    pub up: bool,
}

impl PerDirection {
    /// Value for the direction `side`; 0 is the downlink.
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

    /// Returns the capacity of a slot of `station`, in the downlink and in the uplink. If the MCS
    /// is adaptive: the largest capacity.
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
