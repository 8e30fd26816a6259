//! BBRv1: congestion control of Linux's module tcp_bbr.
//!
//! Source: Linux `net/ipv4/tcp_bbr.c`, whose functions are named in the comments. Windows and BDPs
//! are rounded to segments as in Linux; times and rates are exact.

mod cycle;
mod policer;
mod window;

use super::aggregation::Aggregation;
use super::filters::WindowedMax;
use super::hold::{Hold, HoldStep};
use super::pacing::Pacing;
use super::recovery::PriorWindow;
use super::rounds::Rounds;
use super::units::{Units, extra_burst};
use crate::congestion::{
    AckEvent, BurstSize, CongestionControl, CongestionSetup, IdleEvent, InflightSample, LossEvent,
    LostSegment, PathModel, RecoveryPhase, UndoEvent,
};
use airpath_core::{Component, ConfigError, Duration, Rate, Setup, Stream, Time};
use cycle::Cycle;
use policer::Policer;
use serde::Deserialize;
use window::Target;

/// `bbr_high_gain`: gain of Startup, 2/ln 2.
const HIGH_GAIN: f64 = 2885.0 / 1000.0 + 1.0 / 256.0;
/// `bbr_drain_gain`: pacing gain of Drain.
const DRAIN_GAIN: f64 = 1000.0 / 2885.0;
/// `bbr_cwnd_gain`: gain of the window in ProbeBW.
const CWND_GAIN: f64 = 2.0;
/// `bbr_bw_rtts`: window of the bandwidth filter, round trips.
const BANDWIDTH_ROUNDS: u64 = 10;
/// `bbr_full_bw_thresh`: growth of the bandwidth that continues Startup.
const FULL_GROWTH: f64 = 1.25;
/// `bbr_full_bw_cnt`: round trips without this growth that end Startup.
const FULL_ROUNDS: u32 = 3;
/// `bbr_min_rtt_win_sec`: window of the minimum RTT, and interval of ProbeRTT.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// `bbr_probe_rtt_mode_ms`: shortest duration of ProbeRTT.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// `bbr_cwnd_min_target`: smallest window, and that of ProbeRTT, segments.
const MIN_SEGMENTS: u64 = 4;

/// Configuration set by the user: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bbr1Config {}

/// State of BBRv1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBRv1.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    units: Units,
    stream: Stream,
    mode: Mode,
    rounds: Rounds,
    /// Maximum delivery rate of the last ten round trips, bit/s of payload.
    bandwidth: WindowedMax,
    min_rtt: Option<Duration>,
    min_rtt_at: Time,
    aggregation: Aggregation,
    cycle: Cycle,
    policer: Policer,
    /// `full_bw`, `full_bw_cnt` and `full_bw_reached`.
    full_bandwidth: u64,
    full_count: u32,
    is_full: bool,
    probe_rtt: Hold,
    is_idle_restart: bool,
    cwnd: u64,
    /// `prior_cwnd` and `prev_ca_state`.
    prior: PriorWindow,
    is_conserving: bool,
    pacing: Pacing,
    target: Target,
}

impl Bbr1 {
    /// Creates the state before the first segment. `stream` selects the first phases of ProbeBW.
    pub fn new(setup: &CongestionSetup, stream: Stream) -> Bbr1 {
        let units = Units::new(&setup.options);
        Bbr1 {
            units,
            stream,
            mode: Mode::Startup,
            rounds: Rounds::default(),
            bandwidth: WindowedMax::default(),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            aggregation: Aggregation::new(units.mss),
            cycle: Cycle::default(),
            policer: Policer::default(),
            full_bandwidth: 0,
            full_count: 0,
            is_full: false,
            probe_rtt: Hold::default(),
            is_idle_restart: false,
            cwnd: units.initial_window,
            prior: PriorWindow::new(),
            is_conserving: false,
            pacing: Pacing::new(units, HIGH_GAIN),
            target: Target::default(),
        }
    }

    /// `bbr_bw`: bandwidth of the model, bit/s.
    fn bw(&self) -> u64 {
        self.policer.bandwidth().unwrap_or(self.bandwidth.get())
    }

    /// `bbr_update_gains`: the gains of pacing rate and window.
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.bandwidth().is_some() => (1.0, CWND_GAIN),
            Mode::ProbeBw => (self.cycle.gain(), CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    /// `bbr_update_bw`.
    fn update_bandwidth(&mut self, event: &AckEvent, net: &InflightSample) {
        self.rounds.on_ack(event.rate.as_ref());
        let Some(sample) = &event.rate else { return };
        if self.rounds.starts {
            self.is_conserving = false;
        }
        self.sample_policer(event.now, net, sample.app_limited);
        let rate = sample.rate().0;
        if !sample.app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(BANDWIDTH_ROUNDS, self.rounds.count, rate);
        }
    }

    /// `bbr_update_ack_aggregation`.
    fn update_aggregation(&mut self, event: &AckEvent) {
        if event.rate.is_some() && event.delivered > 0 {
            let acked = (event.now, event.delivered, self.bw());
            self.aggregation.on_ack(acked, self.cwnd, (self.rounds.starts, false));
        }
    }

    /// `bbr_check_full_bw_reached`: Startup ends after three round trips in which the bandwidth has
    /// not grown by a quarter.
    fn check_full_bandwidth(&mut self, event: &AckEvent) {
        let is_limited = event.rate.is_none_or(|sample| sample.app_limited);
        if self.is_full || !self.rounds.starts || is_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth as f64 >= self.full_bandwidth as f64 * FULL_GROWTH {
            (self.full_bandwidth, self.full_count) = (bandwidth, 0);
            return;
        }
        self.full_count += 1;
        self.is_full = self.full_count >= FULL_ROUNDS;
    }

    /// `bbr_check_drain`: from Startup to Drain, and to ProbeBW when the queue is drained.
    fn check_drain(&mut self, now: Time, net: &InflightSample) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain {
            let is_drained =
                self.in_network_at_departure(now, net.bytes) <= self.inflight_for_max(1.0);
            if is_drained {
                self.begin_probe_bw(now);
            }
        }
    }

    /// `bbr_reset_probe_bw_mode`: enters ProbeBW in a random phase other than that of gain 0.75.
    fn begin_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        let phase = (self.stream.uniform() * f64::from(cycle::RANDOM_PHASES)) as u32;
        self.cycle.begin(phase, now);
    }

    /// `bbr_update_min_rtt`: updates the minimum RTT and handles ProbeRTT.
    fn update_min_rtt(&mut self, event: &AckEvent, net: &InflightSample) {
        let now = event.now;
        let has_expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = net.rtt
            && (has_expired || self.min_rtt.is_none_or(|least| rtt < least))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), now);
        }
        if has_expired && !self.is_idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt = Hold::default();
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(now, net);
        }
        if event.rate.is_some() {
            self.is_idle_restart = false;
        }
    }

    /// Keeps at most four segments in the network for 200 ms and a round trip.
    fn handle_probe_rtt(&mut self, now: Time, net: &InflightSample) {
        let is_low = net.bytes <= MIN_SEGMENTS * self.units.mss;
        match self.probe_rtt.on_ack(now, (is_low, self.rounds.starts), PROBE_RTT_TIME) {
            HoldStep::Waiting => {}
            HoldStep::Begun => self.rounds.restart(net.total_delivered),
            HoldStep::Over => self.end_probe_rtt(now),
        }
    }

    /// `bbr_exit_probe_rtt`.
    fn end_probe_rtt(&mut self, now: Time) {
        self.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior.bytes);
        match self.is_full {
            true => self.begin_probe_bw(now),
            false => self.mode = Mode::Startup,
        }
    }

    /// `bbr_save_cwnd`.
    fn save_cwnd(&mut self) {
        self.prior.save(self.cwnd, self.mode == Mode::ProbeRtt);
    }

    /// `bbr_set_pacing_rate`: until the pipe is full, the rate is only raised.
    fn set_pacing_rate(&mut self, gain: f64, rtt: Option<Duration>) {
        self.pacing.update(self.units, (self.bw(), gain), rtt, self.is_full);
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Bbr1 {
    type Config = Bbr1Config;

    fn build(
        _config: Bbr1Config,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Bbr1, ConfigError> {
        Ok(Bbr1::new(&setup.extra, setup.seed.stream()))
    }
}

impl CongestionControl for Bbr1 {
    /// `bbr_main`.
    fn on_ack(&mut self, event: &AckEvent) {
        let net = event.inflight.unwrap_or_default();
        self.update_bandwidth(event, &net);
        self.update_aggregation(event);
        self.update_cycle(event, &net);
        self.check_full_bandwidth(event);
        self.check_drain(event.now, &net);
        self.update_min_rtt(event, &net);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_pacing_rate(pacing_gain, event.rtt);
        self.set_cwnd(event, &net, cwnd_gain);
    }

    fn needs_rate_samples(&self) -> bool {
        true
    }

    fn sets_window_in_recovery(&self) -> bool {
        true
    }

    fn limits_itself(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    /// `bbr_init`.
    fn on_open(&mut self, now: Time, rtt: Option<Duration>) {
        (self.min_rtt, self.min_rtt_at) = (rtt, now);
        self.aggregation.restart(now);
        self.policer.begin(now);
        self.pacing.begin(self.units, rtt);
    }

    fn on_segment_lost(&mut self, segment: &LostSegment) {
        self.policer.lost += segment.bytes;
    }

    /// `bbr_ssthresh`: saves the window. The window is set with the next ACK.
    fn on_loss(&mut self, _event: &LossEvent) {
        self.save_cwnd();
    }

    /// `bbr_set_state`, and the window of `tcp_enter_loss`: one segment beyond those in the
    /// network, of which none is left.
    fn on_rto(&mut self, event: &LossEvent) {
        if !event.keeps_ssthresh {
            self.save_cwnd();
        }
        self.prior.enter(RecoveryPhase::Loss);
        self.full_bandwidth = 0;
        self.sample_policer_at_timeout();
        self.is_conserving = false;
        self.cwnd = self.units.mss;
    }

    /// The window of a recovery ends with the next `on_ack`.
    fn on_recovered(&mut self, _cwnd: u64) {}

    /// BBRv1 does not react to marks.
    fn on_ecn(&mut self, _event: &LossEvent) {}

    /// `bbr_undo_cwnd`: restarts the estimate of the full pipe; the window does not change.
    fn on_undo(&mut self, _event: &UndoEvent) {
        (self.full_bandwidth, self.full_count) = (0, 0);
        self.policer.reset(self.policer.delivered_at);
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = self.units.mss;
    }

    /// `bbr_cwnd_event`, `CA_EVENT_TX_START`: the window is kept.
    fn on_idle(&mut self, event: &IdleEvent) {
        self.is_idle_restart = true;
        self.aggregation.restart(event.now);
        self.policer.delivered_at = event.now;
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(1.0, None),
            Mode::ProbeRtt if self.probe_rtt.has_lasted(event.now) => self.end_probe_rtt(event.now),
            Mode::ProbeRtt | Mode::Startup | Mode::Drain => {}
        }
    }

    /// `tcp_update_skb_after_send`.
    fn on_sent(&mut self, now: Time, bytes: u64) {
        self.pacing.on_sent(now, bytes);
    }

    fn burst_size(&self) -> BurstSize {
        let least = self.least_burst();
        BurstSize { least, extra: extra_burst(self.min_rtt), ..BurstSize::default() }
    }

    fn path_model(&self) -> Option<PathModel> {
        let state = match self.mode {
            Mode::Startup => 0,
            Mode::Drain => 1,
            Mode::ProbeBw if self.gains().0 < 1.0 => 2,
            Mode::ProbeBw if self.gains().0 > 1.0 => 5,
            Mode::ProbeBw => 3,
            Mode::ProbeRtt => 6,
        };
        let (bandwidth, min_rtt) = (self.bw(), self.min_rtt);
        Some(PathModel { state, bandwidth, min_rtt, inflight_bound: None })
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing.rate())
    }
}

#[cfg(test)]
mod tests;
