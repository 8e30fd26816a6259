//! What was measured of the stations of a link with grants, as the results show it.

use airpath_core::Histogram;
use airpath_link::{StationReport, Traffic};
use serde::Serialize;

/// One station, both directions. What is an average over packets or grants is `None` without any.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationSummary {
    /// Place of the link's uplink.
    pub link: String,
    /// Its number.
    pub station: u32,
    /// Bytes of IP packets handed up in the downlink.
    pub down_bytes: u64,
    /// Packets handed up in the downlink.
    pub down_packets: u64,
    /// Packets lost in the downlink.
    pub down_lost: u64,
    /// Bytes of IP packets received in the uplink.
    pub up_bytes: u64,
    /// Packets received in the uplink.
    pub up_packets: u64,
    /// Packets lost in the uplink.
    pub up_lost: u64,
    /// Bytes that it was granted, requests among them.
    pub granted_bytes: u64,
    /// Bytes of its MPDUs.
    pub used_bytes: u64,
    /// Used of granted.
    pub efficiency: Option<f64>,
    /// Mean time from the arrival of a packet at the station to its reception, s.
    pub mac_delay_mean_s: Option<f64>,
    /// Median of the same, s.
    pub mac_delay_p50_s: Option<f64>,
    /// 90th percentile of the same, s.
    pub mac_delay_p90_s: Option<f64>,
    /// Requests heard by contention.
    pub requests_contention: u64,
    /// Requests heard by piggyback.
    pub requests_piggyback: u64,
    /// Grants that nobody asked for.
    pub grants_proactive: u64,
    /// Codes or scheduling requests that it sent, or draws.
    pub request_attempts: u64,
    /// Those of them that were lost to a collision.
    pub request_collisions: u64,
}

impl StationSummary {
    pub(crate) fn of(link: &str, station: &StationReport) -> StationSummary {
        let Traffic { bytes: down_bytes, packets: down_packets, lost: down_lost } = station.down;
        let Traffic { bytes: up_bytes, packets: up_packets, lost: up_lost } = station.up;
        StationSummary {
            link: link.to_owned(),
            station: station.station.0,
            down_bytes,
            down_packets,
            down_lost,
            up_bytes,
            up_packets,
            up_lost,
            granted_bytes: station.granted_bytes,
            used_bytes: station.used_bytes,
            efficiency: station.efficiency,
            mac_delay_mean_s: station.mac_delay_mean_s,
            mac_delay_p50_s: station.mac_delay_p50_s,
            mac_delay_p90_s: station.mac_delay_p90_s,
            requests_contention: station.requests_contention,
            requests_piggyback: station.requests_piggyback,
            grants_proactive: station.grants_proactive,
            request_attempts: station.request_attempts,
            request_collisions: station.request_collisions,
        }
    }
}

/// How the times from the arrivals of packets at a link to their reception are distributed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MacDelays {
    /// Place of the direction.
    pub link: String,
    /// Rising, s, the same in every run; each stands for what is within 0.8 % of it.
    pub delay_s: Vec<f64>,
    /// How many packets had each.
    pub count: Vec<u64>,
}

impl MacDelays {
    pub(crate) fn of(link: &str, delays: &Histogram) -> MacDelays {
        let (delay_s, count) = delays.lengths().unzip();
        MacDelays { link: link.to_owned(), delay_s, count }
    }
}
