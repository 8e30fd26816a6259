//! [`Link`]: the trait that each link implements, and the measurements of a link.

use airpath_aqm::{Queue, QueueReport};
use airpath_core::{Ctx, Histogram, Port, Stage, Time, UserId};
use serde::Serialize;
use std::borrow::Cow;

/// Directions that one link of a kind serves. The value is available before a link is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// One direction. If the bottleneck also serves the reverse direction of the path, a second
    /// link is created for the reverse direction.
    #[default]
    One,
    /// Both directions if the bottleneck also serves the reverse direction of the path; otherwise
    /// the forward direction.
    OneOrBoth,
    /// Both directions. The bottleneck must also serve the reverse direction of the path.
    Both,
}

/// A stage that transmits packets from its own queues. The constructor creates the queues of the
/// forward direction first. Queues are numbered and listed in results in the order of their
/// creation.
///
/// Input 0 and the output of the forward [`DirectionContext`](crate::DirectionContext) belong to
/// the forward direction, or to the only direction. Input 1 and the output of the reverse context
/// belong to the reverse direction.
pub trait Link: Stage {
    /// Directions that links of this kind serve. A plug-in declares its directions at its
    /// registration ([`LinkRegistry::register_serving`](crate::LinkRegistry::register_serving)).
    fn sides() -> Sides
    where
        Self: Sized,
    {
        Sides::One
    }

    /// Returns true if links of this kind have a loss probability, which
    /// [`Control::Loss`](airpath_core::Control::Loss) changes.
    fn has_loss() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Calls `visit` with each queue of the direction of input `port`.
    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue));

    /// Called when queues of the direction of input `port` were closed, opened or drained by the
    /// caller. The link updates what it has derived from the state of the queues, and starts to
    /// send packets that wait, as if they arrived now.
    fn on_queues_changed(&mut self, port: Port, ctx: &mut Ctx<'_>);

    /// Returns the measurements up to `now`: one report for each direction that the link serves.
    fn reports(&self, now: Time) -> Vec<SideReport>;
}

/// Measurements of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct SideReport {
    /// Reports of the queues, in ascending order of their IDs.
    pub queues: Vec<QueueReport>,
    /// Reports of the users, in ascending order of their IDs; empty if the link does not
    /// distinguish users.
    pub users: Vec<UserReport>,
    /// Reports of the stations, in ascending order of their IDs; empty except in the reverse
    /// direction of a link with grants.
    pub stations: Vec<StationReport>,
    /// Distribution of the delay from the arrival of a packet at the link to its reception; `None`
    /// if the link does not measure this delay.
    pub delays: Option<Histogram>,
    /// Report of the link.
    pub link: LinkReport,
}

impl SideReport {
    /// Creates the report of a link that distinguishes neither users nor stations.
    pub fn of(queues: Vec<QueueReport>, link: LinkReport) -> SideReport {
        SideReport { queues, users: Vec::new(), stations: Vec::new(), delays: None, link }
    }
}

/// Measurements of a link, without its queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkReport {
    /// Share of the measured time during which the link transmitted. For a trace: share of the
    /// bytes of its opportunities that were used.
    pub utilisation: f64,
    /// Denominator of the utilisation: seconds, bytes or PDUs, depending on the kind of link.
    pub offered: f64,
    /// Bytes of IP packets delivered.
    pub delivered_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Packets that were corrupted on the air.
    pub lost_packets: u64,
    /// Transmissions started in each regime; one entry for a link without regimes.
    pub regime_packets: Vec<u64>,
    /// Counters that are specific to the kind of link, as pairs of a name and the value since the
    /// start of measurement.
    pub counters: Vec<(Cow<'static, str>, f64)>,
}

/// Measurements of one user of a cell. Averages over the user's slots are `None` if the user had no
/// slots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UserReport {
    /// ID of the user.
    pub user: UserId,
    /// Bytes of IP packets delivered.
    pub delivered_bytes: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Packets that were discarded or corrupted.
    pub lost_packets: u64,
    /// Number of slots that were allocated to the user and started in the measured time.
    pub slots: u64,
    /// Allocated slots as a share of all slots that started in the measured time.
    pub slot_share: f64,
    /// Share of the allocated slots whose transmission failed.
    pub slot_error_rate: Option<f64>,
    /// Mean of the rates selected for the allocated slots, bit/s.
    pub mean_rate_bps: Option<f64>,
    /// Share of the allocated slots in which no other user with data had a higher rate.
    pub best_slot_share: Option<f64>,
    /// Mean SNR at the start of the slots in which the user had data, dB.
    pub mean_snr_db: Option<f64>,
    /// Mean of the SNR margin of link adaptation over the slots of the cell.
    pub margin: f64,
}

/// Measurements of one station, in both directions. Averages are `None` if there were no packets or
/// no grants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationReport {
    /// ID of the station.
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
    /// Granted bytes before rounding to slots, including 6 bytes for each request header and 2
    /// bytes for each piggyback request.
    pub granted_bytes: u64,
    /// Bytes of MPDUs sent by the station, headers included.
    pub used_bytes: u64,
    /// Ratio of used bytes to granted bytes.
    pub efficiency: Option<f64>,
    /// Mean time from the arrival of a packet at the station to its reception, s.
    pub mac_delay_mean_s: Option<f64>,
    /// Median of the time from arrival to reception, s.
    pub mac_delay_p50_s: Option<f64>,
    /// 90th percentile of the time from arrival to reception, s.
    pub mac_delay_p90_s: Option<f64>,
    /// Requests received by contention.
    pub requests_contention: u64,
    /// Requests received by piggyback.
    pub requests_piggyback: u64,
    /// Number of proactive grants: grants without a request of the station.
    pub grants_proactive: u64,
    /// Number of request attempts of the station. An attempt is a ranging code, a scheduling
    /// request or a random delay, depending on the request procedure.
    pub request_attempts: u64,
    /// Number of attempts that were lost to a collision.
    pub request_collisions: u64,
}
