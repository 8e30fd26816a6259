//! The contract of a link, and what it measures.

use airpath_aqm::QueueReport;
use airpath_core::{Histogram, Stage, Time, UserId};
use serde::Serialize;
use std::borrow::Cow;

/// The directions that a link of a kind serves as one stage; known before the link is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// One. A path whose reverse side is the bottleneck's own gets a second link for it.
    #[default]
    One,
    /// Both when the path has a reverse side, else one.
    OneOrBoth,
    /// Both: it cannot do without a reverse side.
    Both,
}

/// A stage that transmits packets from its own queues, which its constructor makes: first those of
/// the forward direction. Queues are numbered in that order, and results have them in it.
///
/// Input 0 and [`DirectionContext::output`](crate::DirectionContext) belong to its only or its
/// forward direction, input 1 and the reverse side's output to the reverse.
pub trait Link: Stage {
    /// The directions that links of this kind serve. A plug-in declares them when it is registered
    /// ([`LinkRegistry::register_serving`](crate::LinkRegistry::register_serving)).
    fn sides() -> Sides
    where
        Self: Sized,
    {
        Sides::One
    }

    /// Returns the measurements up to `now`, one entry per direction that it serves, with every
    /// queue that it had made.
    fn reports(&self, now: Time) -> Vec<SideReport>;
}

/// Measurements of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct SideReport {
    /// Its queues, in order of their numbers.
    pub queues: Vec<QueueReport>,
    /// Its users, in order of their numbers; empty for a link that does not distinguish users.
    pub users: Vec<UserReport>,
    /// Its stations, in order of their numbers: of a link with grants, at its reverse side.
    pub stations: Vec<StationReport>,
    /// Delays from the arrival of packets at the link to their reception, for a link that measures
    /// them.
    pub delays: Option<Histogram>,
    /// The link itself.
    pub link: LinkReport,
}

impl SideReport {
    /// Report of a link that distinguishes neither users nor stations.
    pub fn of(queues: Vec<QueueReport>, link: LinkReport) -> SideReport {
        SideReport { queues, users: Vec::new(), stations: Vec::new(), delays: None, link }
    }
}

/// Measurements of a link, without its queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkReport {
    /// Share of time that it transmitted; for a trace, share of its bytes that were used.
    pub utilisation: f64,
    /// Total of which the utilisation is a share: seconds, bytes or PDUs.
    pub offered: f64,
    /// Bytes of IP packets delivered.
    pub delivered_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Packets that were corrupted on the air.
    pub lost_packets: u64,
    /// Transmissions begun in each regime; one entry for a link without regimes.
    pub regime_packets: Vec<u64>,
    /// Counters that only a link of this kind has, by name; from the start of measurement.
    pub counters: Vec<(Cow<'static, str>, f64)>,
}

/// Measurements of one user of a cell. Averages over its slots are `None` for a user without slots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UserReport {
    /// Its number.
    pub user: UserId,
    /// Bytes of IP packets delivered.
    pub delivered_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Packets that were discarded or corrupted.
    pub lost_packets: u64,
    /// Slots that it was given, of those that began in the measured time.
    pub slots: u64,
    /// The same as a share of all slots that began in the measured time.
    pub slot_share: f64,
    /// Share of its slots that failed.
    pub slot_error_rate: Option<f64>,
    /// Mean of the rates that were selected for its slots, bit/s.
    pub mean_rate_bps: Option<f64>,
    /// Share of its slots in which no user with data had a higher rate.
    pub best_slot_share: Option<f64>,
    /// Mean SNR at the start of the slots in which it had data, dB.
    pub mean_snr_db: Option<f64>,
    /// Mean of the margin over the slots of the cell.
    pub margin: f64,
}

/// Measurements of one station, in both directions. Averages over packets or grants are `None`
/// without any.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationReport {
    /// Its number.
    pub station: UserId,
    /// Bytes of IP packets delivered in the downlink.
    pub down_bytes: u64,
    /// Packets delivered in the downlink.
    pub down_packets: u64,
    /// Packets lost in the downlink.
    pub down_lost: u64,
    /// Bytes of IP packets received in the uplink.
    pub up_bytes: u64,
    /// Packets received in the uplink.
    pub up_packets: u64,
    /// Packets lost in the uplink.
    pub up_lost: u64,
    /// Bytes that it was granted, before they were rounded to slots, with 6 for each request header
    /// and 2 for each piggyback request.
    pub granted_bytes: u64,
    /// Bytes of its MPDUs, headers included.
    pub used_bytes: u64,
    /// Used of granted.
    pub efficiency: Option<f64>,
    /// Mean time from the arrival of a packet at the station to its reception, s.
    pub mac_delay_mean_s: Option<f64>,
    /// Median of the same, s.
    pub mac_delay_p50_s: Option<f64>,
    /// 90th percentile of the same, s.
    pub mac_delay_p90_s: Option<f64>,
    /// Requests received by contention.
    pub requests_contention: u64,
    /// Requests received by piggyback.
    pub requests_piggyback: u64,
    /// Proactive grants, which no station requested.
    pub grants_proactive: u64,
    /// Codes or scheduling requests that it sent, or draws.
    pub request_attempts: u64,
    /// Those of them that were lost to a collision.
    pub request_collisions: u64,
}
