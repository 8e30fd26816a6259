//! Measurements of the users and stations of a link, in the form of the results.

use airpath_core::Histogram;
use airpath_link::{StationReport, UserReport};
use serde::Serialize;

/// Report of one user of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UserSummary {
    /// Name of the cell's link in results.
    pub link: String,
    /// Rate of the delivered IP packets, bit/s.
    pub throughput_bps: f64,
    /// User number and measurements of the cell.
    #[serde(flatten)]
    pub report: UserReport,
}

impl UserSummary {
    pub(crate) fn new(link: &str, report: UserReport, measured_s: f64) -> UserSummary {
        let throughput_bps = report.delivered_bytes as f64 * 8.0 / measured_s;
        UserSummary { link: link.to_owned(), throughput_bps, report }
    }
}

/// Report of one station of a link with grants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationSummary {
    /// Name of the uplink in results.
    pub link: String,
    /// Station number and measurements of the link in both directions.
    #[serde(flatten)]
    pub report: StationReport,
}

/// Histogram of MAC delays: the times from the arrival of a packet at a link to its reception.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MacDelays {
    /// Name of the link's direction in results.
    pub link: String,
    /// Bucket values, ascending, s. The buckets are equal in all runs. A bucket contains delays
    /// that differ from its value by at most 0.8 %.
    pub delay_s: Vec<f64>,
    /// Number of packets in each bucket.
    pub count: Vec<u64>,
}

impl MacDelays {
    pub(crate) fn of(link: &str, delays: &Histogram) -> MacDelays {
        let (delay_s, count) = delays.lengths().unzip();
        MacDelays { link: link.to_owned(), delay_s, count }
    }
}
