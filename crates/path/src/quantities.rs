//! Defines the quantities of the results: name, unit, and a function that reads the value from a
//! report.
//!
//! Quantities are defined only here. Tables, files and figures use these names and units.

use crate::report::{FlowReport, LinkSummary, QueueSummary};
use crate::stations::{StationSummary, UserSummary};

/// One quantity of a report `R`.
pub struct Quantity<R> {
    /// Name in results.
    pub name: &'static str,
    /// Unit; `1` for dimensionless quantities.
    pub unit: &'static str,
    /// Function that reads the value.
    pub of: Value<R>,
}

/// Function that reads the value of a quantity from a report.
pub enum Value<R> {
    /// A count.
    Count(fn(&R) -> u64),
    /// A count that may be missing.
    Maybe(fn(&R) -> Option<u64>),
    /// A number; `None` if it was not measured.
    Number(fn(&R) -> Option<f64>),
}

const fn count<R>(name: &'static str, unit: &'static str, of: fn(&R) -> u64) -> Quantity<R> {
    Quantity { name, unit, of: Value::Count(of) }
}

const fn maybe<R>(
    name: &'static str,
    unit: &'static str,
    of: fn(&R) -> Option<u64>,
) -> Quantity<R> {
    Quantity { name, unit, of: Value::Maybe(of) }
}

const fn number<R>(
    name: &'static str,
    unit: &'static str,
    of: fn(&R) -> Option<f64>,
) -> Quantity<R> {
    Quantity { name, unit, of: Value::Number(of) }
}

/// Quantities of every flow, in the order of the tables.
pub static OF_FLOWS: [Quantity<FlowReport>; 23] = [
    number("goodput_bps", "bit/s", |flow| Some(flow.goodput_bps)),
    number("ip_throughput_bps", "bit/s", |flow| Some(flow.ip_throughput_bps)),
    number("mean_delay_s", "s", |flow| flow.mean_delay_s),
    number("p50_delay_s", "s", |flow| flow.delays.p50_delay_s),
    number("p95_delay_s", "s", |flow| flow.delays.p95_delay_s),
    number("p99_delay_s", "s", |flow| flow.delays.p99_delay_s),
    number("p50_ack_delay_s", "s", |flow| flow.delays.p50_ack_delay_s),
    number("p95_ack_delay_s", "s", |flow| flow.delays.p95_ack_delay_s),
    number("p99_ack_delay_s", "s", |flow| flow.delays.p99_ack_delay_s),
    number("mean_rtt_s", "s", |flow| flow.mean_rtt_s),
    number("rwnd_limited_share", "1", |flow| flow.rwnd_limited_share),
    number("cwnd_limited_share", "1", |flow| flow.cwnd_limited_share),
    count("delivered_bytes", "bytes", |flow| flow.delivered_bytes),
    count("delivered_packets", "packets", |flow| flow.delivered_packets),
    count("sent_packets", "packets", |flow| flow.sent_packets),
    maybe("lost_datagrams", "packets", |flow| flow.lost_datagrams),
    number("loss_ratio", "1", |flow| flow.loss_ratio),
    count("retransmissions", "packets", |flow| flow.retransmissions.unwrap_or(0)),
    count("timeouts", "1", |flow| flow.timeouts.unwrap_or(0)),
    count("fast_retransmits", "1", |flow| flow.fast_retransmits.unwrap_or(0)),
    count("ecn_reductions", "1", |flow| flow.ecn_reductions.unwrap_or(0)),
    count("duplicate_packets", "packets", |flow| flow.duplicate_packets.unwrap_or(0)),
    number("completed_at_s", "s", |flow| flow.completed_at_s),
];

/// Further quantities of flows: the start time, and if applicable the random transfer size and the
/// abort time.
pub static GIVEN_OF_FLOWS: [Quantity<FlowReport>; 3] = [
    number("start_s", "s", |flow| flow.start_s),
    maybe("transfer_bytes", "bytes", |flow| flow.transfer_bytes),
    number("aborted_at_s", "s", |flow| flow.aborted_at_s),
];

/// Quantities of every queue.
pub static OF_QUEUES: [Quantity<QueueSummary>; 10] = [
    number("mean_packets", "packets", |queue| Some(queue.mean_packets)),
    number("mean_bytes", "bytes", |queue| Some(queue.mean_bytes)),
    number("mean_sojourn_s", "s", |queue| queue.mean_sojourn_s),
    number("p50_sojourn_s", "s", |queue| queue.p50_sojourn_s),
    number("p95_sojourn_s", "s", |queue| queue.p95_sojourn_s),
    number("p99_sojourn_s", "s", |queue| queue.p99_sojourn_s),
    count("max_packets", "packets", |queue| queue.max_packets as u64),
    count("arrived", "packets", |queue| queue.arrived),
    count("departed", "packets", |queue| queue.departed),
    count("marks", "packets", |queue| queue.marks),
];

/// Quantities of every user of a cell.
pub static OF_USERS: [Quantity<UserSummary>; 11] = [
    number("throughput_bps", "bit/s", |user| Some(user.throughput_bps)),
    count("delivered_bytes", "bytes", |user| user.report.delivered_bytes),
    count("delivered_packets", "packets", |user| user.report.delivered_packets),
    count("lost_packets", "packets", |user| user.report.lost_packets),
    count("slots", "1", |user| user.report.slots),
    number("slot_share", "1", |user| Some(user.report.slot_share)),
    number("slot_error_rate", "1", |user| user.report.slot_error_rate),
    number("mean_rate_bps", "bit/s", |user| user.report.mean_rate_bps),
    number("best_slot_share", "1", |user| user.report.best_slot_share),
    number("mean_snr_db", "dB", |user| user.report.mean_snr_db),
    number("margin", "1", |user| Some(user.report.margin)),
];

/// Quantities of every station of a link with grants.
pub static OF_STATIONS: [Quantity<StationSummary>; 17] = [
    count("down_bytes", "bytes", |station| station.report.down_bytes),
    count("down_packets", "packets", |station| station.report.down_packets),
    count("down_lost", "packets", |station| station.report.down_lost),
    count("up_bytes", "bytes", |station| station.report.up_bytes),
    count("up_packets", "packets", |station| station.report.up_packets),
    count("up_lost", "packets", |station| station.report.up_lost),
    count("granted_bytes", "bytes", |station| station.report.granted_bytes),
    count("used_bytes", "bytes", |station| station.report.used_bytes),
    number("efficiency", "1", |station| station.report.efficiency),
    number("mac_delay_mean_s", "s", |station| station.report.mac_delay_mean_s),
    number("mac_delay_p50_s", "s", |station| station.report.mac_delay_p50_s),
    number("mac_delay_p90_s", "s", |station| station.report.mac_delay_p90_s),
    count("requests_contention", "1", |station| station.report.requests_contention),
    count("requests_piggyback", "1", |station| station.report.requests_piggyback),
    count("grants_proactive", "1", |station| station.report.grants_proactive),
    count("request_attempts", "1", |station| station.report.request_attempts),
    count("request_collisions", "1", |station| station.report.request_collisions),
];

/// Quantities of every link.
pub static OF_LINKS: [Quantity<LinkSummary>; 4] = [
    number("utilisation", "1", |link| Some(link.utilisation)),
    count("delivered_bytes", "bytes", |link| link.delivered_bytes),
    count("delivered_packets", "packets", |link| link.delivered_packets),
    count("lost_packets", "packets", |link| link.lost_packets),
];
