//! Measurements of the users and stations of a link, in the form of the results.

use airpath_core::Histogram;
use airpath_link::{StationReport, UserReport};
use serde::Serialize;

/// One user of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UserSummary {
    /// Place of the cell.
    pub link: String,
    /// IP packets delivered, bit/s.
    pub throughput_bps: f64,
    /// Its number, and what the cell measured.
    #[serde(flatten)]
    pub report: UserReport,
}

impl UserSummary {
    pub(crate) fn new(link: &str, report: UserReport, measured_s: f64) -> UserSummary {
        let throughput_bps = report.delivered_bytes as f64 * 8.0 / measured_s;
        UserSummary { link: link.to_owned(), throughput_bps, report }
    }
}

/// One station of a link with grants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationSummary {
    /// Place of the link's uplink.
    pub link: String,
    /// Its number, and what the link measured in both directions.
    #[serde(flatten)]
    pub report: StationReport,
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
