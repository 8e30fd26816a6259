//! Configuration of DualPI2.

use airpath_core::{Checks, ConfigError};
use serde::Deserialize;

/// Choice of the packets that a probability marks or drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decisions {
    /// Evenly spaced packets: `recur` of RFC 9332 Appendix A.1.
    #[default]
    Spaced,
    /// Independent random decisions: `dualpi2_roll` of Linux.
    Random,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Config {
    /// Maximum number of packets, waiting in both queues or held by the link. At least 1; 10 000 in
    /// Linux.
    pub limit: usize,
    /// Target delay of the classic queue, ns. At least 1; 15 ms in RFC 9332.
    pub target_ns: u64,
    /// Tupdate: time between updates of the base probability, ns. At least 1. In RFC 9332: the
    /// smaller of `target_ns` and one third of RTT_max.
    pub update_ns: u64,
    /// Gain alpha, 1/s. At least 0; 0.1 Tupdate / RTT_max² in RFC 9332.
    pub alpha: f64,
    /// Gain beta, 1/s. At least 0; 0.3 / RTT_max in RFC 9332.
    pub beta: f64,
    /// Coupling factor k, above 0; 2 in RFC 9332.
    pub coupling: f64,
    /// minTh: sojourn time at which the L queue starts to mark, ns; 800 µs in RFC 9332. Required
    /// without `step_packets`, rejected with it.
    #[serde(default)]
    pub ramp_start_ns: Option<u64>,
    /// Width of the ramp, ns: at a sojourn time of minTh plus this width the L queue marks all
    /// packets. 400 µs in RFC 9332; 0 for a step. Required without `step_packets`, rejected with it.
    #[serde(default)]
    pub ramp_ns: Option<u64>,
    /// Step in packets, which replaces the ramp: the L queue marks a departing packet if more than
    /// this number of packets remain in it. `None` in RFC 9332.
    #[serde(default)]
    pub step_packets: Option<u64>,
    /// The ramp or step applies to a packet if at least this number of packets waited in the L queue
    /// when the packet arrived. 0 in Linux.
    #[serde(default)]
    pub min_qlen_step: u64,
    /// Th_len: the ramp or step applies to a departing packet if at least this number of packets
    /// remain in the L queue. 1 in RFC 9332, 0 in Linux.
    #[serde(default = "th_len")]
    pub th_len: u64,
    /// Choice of the packets that a probability marks or drops.
    #[serde(default)]
    pub decisions: Decisions,
    /// If set, p' decides about a packet on arrival, otherwise on departure. The ramp or step always
    /// decides on departure.
    #[serde(default)]
    pub drop_early: bool,
    /// If set, both queues drop ECN-capable packets on overload. Otherwise p' is at most 1/k, and
    /// only the limit drops these packets.
    #[serde(default = "drop_overload")]
    pub drop_overload: bool,
    /// Scheduler: a time-shifted FIFO with this time shift, ns. `None`: weighted round robin.
    #[serde(default)]
    pub time_shift_ns: Option<u64>,
    /// Weighted round robin: share of the link for the classic queue while packets wait in both
    /// queues, 1 to 99 per cent; 10 in Linux. Required without `time_shift_ns`, rejected with it.
    #[serde(default)]
    pub classic_percent: Option<u32>,
    /// If set, every ECN-capable packet enters the L queue; otherwise only packets with ECT(1) or
    /// CE. Needed for scalable congestion control algorithms that send ECT(0), such as DCTCP.
    #[serde(default)]
    pub any_ect: bool,
    /// Size of a large packet, bytes: p' applies to a backlog of at least two large packets, and the
    /// initial credit of the round robin is proportional to this size. At least 1; the MTU in Linux.
    pub mtu_bytes: u64,
}

const fn th_len() -> u64 {
    1
}

const fn drop_overload() -> bool {
    true
}

/// Rule of the native mark probability p'_L.
#[derive(Clone, Copy, Debug)]
pub(super) enum NativeMarks {
    /// 0 up to the sojourn time `start_ns`, 1 at and above `start_ns + width_ns`.
    Ramp { start_ns: u64, width_ns: u64 },
    /// 1 if more than this number of packets remain in the L queue, otherwise 0.
    Step(u64),
}

/// Rule that selects the queue that is served next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scheduler {
    /// Time-shifted FIFO with this time shift, ns.
    TimeShift(u64),
    /// Weighted round robin with this weight of the classic queue, of 100.
    RoundRobin(i64),
}

impl DualPi2Config {
    /// Returns the rule of the native marks.
    ///
    /// # Errors
    /// If ramp fields are present with `step_packets`, or missing without it.
    pub(super) fn native_marks(&self) -> Result<NativeMarks, ConfigError> {
        let other = ("step_packets", self.step_packets);
        let advice = "Use ramp_start and ramp, or step_packets";
        let mut checks = Checks::default();
        let [start_ns, width_ns] =
            [("ramp_start_ns", self.ramp_start_ns), ("ramp_ns", self.ramp_ns)]
                .map(|field| either(field, other, advice, &mut checks));
        checks.finish()?;
        Ok(match self.step_packets {
            Some(step) => NativeMarks::Step(step),
            None => NativeMarks::Ramp { start_ns, width_ns },
        })
    }

    /// Returns the scheduler.
    ///
    /// # Errors
    /// If `classic_percent` is present with `time_shift_ns`, or missing or out of range without it.
    pub(super) fn scheduler(&self) -> Result<Scheduler, ConfigError> {
        let field = ("classic_percent", self.classic_percent.map(u64::from));
        let other = ("time_shift_ns", self.time_shift_ns);
        let mut checks = Checks::default();
        let percent = either(field, other, "Use classic_percent, or time_shift", &mut checks);
        if other.1.is_none() && checks.is_clean() {
            checks.within(field.0, percent, 1..=99_u64);
        }
        checks.finish()?;
        Ok(match self.time_shift_ns {
            Some(shift) => Scheduler::TimeShift(shift),
            None => Scheduler::RoundRobin(percent as i64),
        })
    }
}

/// Returns the value of a field that must be present without the field `other`, and absent with it.
/// Returns 0 for an absent field.
fn either(
    field: (&str, Option<u64>),
    other: (&str, Option<u64>),
    advice: &str,
    checks: &mut Checks,
) -> u64 {
    match (field.1, other.1) {
        (None, None) => checks.missing(field.0, advice),
        (Some(value), Some(_)) => {
            let problem = format!("has no effect with {}", other.0.trim_end_matches("_ns"));
            checks.reject_with(&[other.0], field.0, value, &problem, advice);
        }
        _ => {}
    }
    field.1.unwrap_or(0)
}
