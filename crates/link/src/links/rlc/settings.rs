//! Configuration of an RLC AM link.

use crate::context::check_errors;
use airpath_core::{Checks, ConfigError, Duration, above, at_least};
use serde::Deserialize;
use serde_json::Value;

/// Largest window: half of the 4096 sequence numbers. With a larger window an old duplicate could
/// be mistaken for a new PDU.
const MAX_WINDOW: u64 = 2047;
/// Longest timer, latency and TTI, ns.
const MAX_TIME_NS: u64 = 3_600_000_000_000;

/// Action for a PDU that was transmitted too often (TS 25.322 §9.7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnMaxDat {
    /// The SDUs of the PDU are discarded, and the receiver is ordered to move its window (§11.6).
    #[default]
    Discard,
    /// Both peers are reset; everything in flight is lost (§11.4).
    Reset,
}

/// PDUs that poll while the outstanding PDUs exceed the poll window (TS 25.322 §9.7.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowPoll {
    /// Every PDU.
    #[default]
    Every,
    /// PDUs that are sent while Timer_Poll does not run.
    Timed,
}

/// Status reports that stop Timer_Poll (TS 25.322 §9.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollStop {
    /// Reports with information about the PDU that polled: reports that acknowledge this PDU and
    /// all PDUs before it, or that report this PDU missing.
    #[default]
    Answer,
    /// Every report, if SDUs wait: the last PDU of these SDUs will poll.
    Report,
}

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RlcConfig {
    /// Nominal rate: bits of PDU payload per second, bit/s. Above 0.
    pub rate_bps: u64,
    /// Nominal rate of the reverse direction, bit/s. If null, it always equals the forward rate,
    /// also after rate changes.
    #[serde(default)]
    pub reverse_rate_bps: Option<u64>,
    /// Transmission time interval, ns. Above 0.
    pub tti_ns: u64,
    /// Time from the start of a TTI to the delivery of its PDUs at the peer, ns. At least a TTI.
    pub latency_ns: u64,
    /// Latency of the reverse direction, ns. If null, it equals the forward latency.
    #[serde(default)]
    pub reverse_latency_ns: Option<u64>,
    /// Payload of a PDU, bytes. 2 to 1500.
    pub pdu_payload: u64,
    /// Transmission and reception window, PDUs. 1 to 2047.
    pub window: u64,
    /// MaxDAT: a PDU is transmitted at most `max_dat` − 1 times; then `on_max_dat` applies. 2 to
    /// 255.
    pub max_dat: u32,
    /// Action when a PDU reaches MaxDAT.
    #[serde(default)]
    pub on_max_dat: OnMaxDat,
    /// Timer_Poll, ns. Above 0.
    pub poll_timer_ns: u64,
    /// Reports that stop Timer_Poll.
    #[serde(default)]
    pub poll_stop: PollStop,
    /// Timer_Status_Prohibit, ns; 0 disables this timer.
    pub status_prohibit_ns: u64,
    /// Poll_Window: fraction of the window, in (0, 1], above which PDUs poll.
    pub poll_window: f64,
    /// PDUs that poll above this fraction of the window.
    #[serde(default)]
    pub window_poll: WindowPoll,
    /// True if the last PDU in the buffer polls.
    pub last_pdu_poll: bool,
    /// True if the last PDU to be retransmitted polls.
    pub last_retransmission_poll: bool,
    /// True if a gap in the sequence numbers triggers a status report.
    pub missing_pdu_indicator: bool,
    /// If true, a report is ignored for PDUs that were sent less than a round trip of the radio
    /// link ago. TS 25.322 has no such guard.
    #[serde(default = "yes")]
    pub nack_guard: bool,
    /// True if the end of one SDU and the start of the next may share a PDU.
    pub concatenation: bool,
    /// Timer_MRW, ns. Above 0.
    pub mrw_timer_ns: u64,
    /// Timer_RST, ns. Above 0.
    pub reset_timer_ns: u64,
    /// Error process of the frames of the forward direction: `{"kind": …}`. If null, there is no
    /// error process.
    #[serde(default)]
    pub errors: Option<Value>,
    /// Error process of the reverse direction. If null, an independent process with the
    /// configuration of the forward direction.
    #[serde(default)]
    pub reverse_errors: Option<Value>,
}

const fn yes() -> bool {
    true
}

impl RlcConfig {
    /// Rejects values outside their ranges.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("rate_bps", self.rate_bps, at_least(1_u64));
        if let Some(rate_bps) = self.reverse_rate_bps {
            checks.within("reverse_rate_bps", rate_bps, at_least(1_u64));
        }
        for (field, value, least) in [
            ("tti_ns", self.tti_ns, 1),
            ("poll_timer_ns", self.poll_timer_ns, 1),
            ("status_prohibit_ns", self.status_prohibit_ns, 0),
            ("mrw_timer_ns", self.mrw_timer_ns, 1),
            ("reset_timer_ns", self.reset_timer_ns, 1),
        ] {
            checks.within(field, value, least..=MAX_TIME_NS);
        }
        let reverse = self.reverse_latency_ns.map(|latency| ("reverse_latency_ns", latency));
        for (field, latency) in
            [Some(("latency_ns", self.latency_ns)), reverse].into_iter().flatten()
        {
            if checks.within(field, latency, 0..=MAX_TIME_NS) {
                let tti = at_least(self.tti_ns).up_to(MAX_TIME_NS);
                checks.related(field, latency, tti, "shorter than a TTI");
            }
        }
        checks.within("pdu_payload", self.pdu_payload, 2..=1500_u64);
        checks.within("window", self.window, 1..=MAX_WINDOW);
        checks.within("max_dat", self.max_dat, 2..=255_u32);
        checks.within("poll_window", self.poll_window, above(0.0).up_to(1.0));
        check_errors("errors", self.errors.as_ref(), &mut checks);
        check_errors("reverse_errors", self.reverse_errors.as_ref(), &mut checks);
        checks.finish()
    }

    /// One-way latency of the reverse direction, ns.
    pub(super) fn reverse_latency(&self) -> u64 {
        self.reverse_latency_ns.unwrap_or(self.latency_ns)
    }

    pub(super) fn rules(&self) -> Rules {
        let round_trip = self.latency_ns + self.reverse_latency();
        Rules {
            window: self.window,
            payload: self.pdu_payload,
            concatenation: self.concatenation,
            max_dat: self.max_dat as u8,
            on_max_dat: self.on_max_dat,
            poll_timer: Duration::from_nanos(self.poll_timer_ns),
            poll_stop: self.poll_stop,
            poll_from: (self.poll_window * self.window as f64).ceil() as u64,
            window_poll: self.window_poll,
            last_pdu_poll: self.last_pdu_poll,
            last_retransmission_poll: self.last_retransmission_poll,
            mrw_timer: Duration::from_nanos(self.mrw_timer_ns),
            nacks_from: if self.nack_guard {
                Duration::from_nanos(round_trip)
            } else {
                Duration::ZERO
            },
        }
    }
}

/// Parameters of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rules {
    /// Largest number of outstanding PDUs.
    pub(super) window: u64,
    /// Payload of a PDU, bytes.
    pub(super) payload: u64,
    pub(super) concatenation: bool,
    pub(super) max_dat: u8,
    pub(super) on_max_dat: OnMaxDat,
    pub(super) poll_timer: Duration,
    pub(super) poll_stop: PollStop,
    /// Number of outstanding PDUs at which PDUs start to poll.
    pub(super) poll_from: u64,
    pub(super) window_poll: WindowPoll,
    pub(super) last_pdu_poll: bool,
    pub(super) last_retransmission_poll: bool,
    pub(super) mrw_timer: Duration,
    /// Minimum time between the transmission of a PDU and a report of its loss. Earlier reports of
    /// its loss are ignored.
    pub(super) nacks_from: Duration,
}
