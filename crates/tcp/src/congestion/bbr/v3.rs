//! BBRv3.
//!
//! Source: draft-ietf-ccwg-bbr-06, whose functions are named in the comments; `inflight_longterm`,
//! `inflight_shortterm` and `bw_shortterm` of the draft are fields of `bounds.rs`. Choices where the
//! draft leaves one: a mark (ECN) counts as a loss, once per window of data; the window of ACK
//! aggregation is that of Linux (`aggregation.rs`).
//!
//! The variant `linux` follows Google's kernel instead (github.com/google/bbr, branch v3,
//! `net/ipv4/tcp_bbr.c`). Left out there: reaction to a loss that a tail loss probe repaired, and
//! `is_ack_delayed`.

mod bounds;
mod config;
mod ecn;
mod loss;
mod probe_bw;
mod probe_rtt;
mod startup;
mod window;

use super::aggregation::Aggregation;
use super::pacing::Pacing;
use super::recovery::PriorWindow;
use super::rounds::Rounds;
use super::units::{Units, extra_burst};
use crate::config::EcnUse;
use crate::congestion::{
    AckEvent, BurstSize, CongestionControl, CongestionSetup, IdleEvent, InflightSample, LossEvent,
    LostSegment, PathModel, RecoveryPhase, UndoEvent,
};
use airpath_core::{Component, ConfigError, Duration, Ecn, Rate, Setup, Stream, Time};
use bounds::Bounds;
pub use config::{BbrConfig, BbrVariant};
use ecn::Marks;
use loss::{LossRound, Saved};
use probe_bw::Probe;
use probe_rtt::MinRtt;
use startup::FullPipe;
use window::Target;

/// `BBR.MinPipeCwnd`: smallest window, segments.
const MIN_SEGMENTS: u64 = 4;

/// State of BBRv3, in the order of [`PathModel::state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// `IsInAProbeBWState`.
    const fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// `IsProbingBW`: the flow accelerates.
    const fn is_accelerating(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }
}

/// BBRv3.
#[derive(Clone, Debug)]
pub struct Bbr {
    config: BbrConfig,
    units: Units,
    stream: Stream,
    mode: Mode,
    rounds: Rounds,
    full: FullPipe,
    bounds: Bounds,
    losses: LossRound,
    marks: Marks,
    saved: Saved,
    probe: Probe,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    /// `BBR.max_bw_filter`: maximum of the previous and of the current cycle, bit/s.
    max_bw: [u64; 2],
    drain_start_round: u64,
    is_idle_restart: bool,
    cwnd: u64,
    /// `BBR.prior_cwnd`, and the phase at the last ACK.
    prior: PriorWindow,
    pacing: Pacing,
    target: Target,
}

impl Bbr {
    /// Creates the state before the first segment. `stream` selects the times of bandwidth probes.
    pub fn new(config: BbrConfig, setup: &CongestionSetup, stream: Stream) -> Bbr {
        let units = Units::new(&setup.options);
        Bbr {
            config,
            units,
            stream,
            mode: Mode::Startup,
            rounds: Rounds::default(),
            full: FullPipe::default(),
            bounds: Bounds::default(),
            losses: LossRound::default(),
            marks: Marks::default(),
            saved: Saved::default(),
            probe: Probe::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::new(units.mss),
            max_bw: [0; 2],
            drain_start_round: 0,
            is_idle_restart: false,
            cwnd: units.initial_window,
            prior: PriorWindow::new(),
            pacing: Pacing::new(units, config.startup_gain),
            target: Target::default(),
        }
    }

    /// Returns the gains of pacing rate and window.
    fn gains(&self) -> (f64, f64) {
        let gains = &self.config;
        match self.mode {
            Mode::Startup => (gains.startup_gain, gains.cwnd_gain),
            Mode::Drain => (gains.drain_gain(), gains.cwnd_gain),
            Mode::Down => (gains.down_gain(), gains.cwnd_gain),
            Mode::Cruise | Mode::Refill => (1.0, gains.cwnd_gain),
            Mode::Up => (gains.up_gain, gains.up_cwnd_gain),
            Mode::ProbeRtt => (1.0, gains.probe_rtt_gain),
        }
    }

    /// Returns `BBR.max_bw`, bit/s.
    fn max_bw(&self) -> u64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// Returns `BBR.bw` = min(`max_bw`, `bw_shortterm`), bit/s.
    fn bw(&self) -> u64 {
        self.max_bw().min(self.bounds.bw_shortterm)
    }

    /// `UpdateMaxBw`. A sample that is limited by the application counts if it is not below the
    /// maximum.
    fn update_max_bw(&mut self, event: &AckEvent) {
        self.rounds.on_ack(event.rate.as_ref());
        if self.rounds.starts {
            self.probe.rounds_since_up += 1;
        }
        if let Some(sample) = &event.rate {
            let rate = self.losses.rate;
            if !sample.app_limited || rate >= self.max_bw() {
                self.max_bw[1] = self.max_bw[1].max(rate);
            }
        }
    }

    /// `AdvanceMaxBwFilter`, except over a cycle without samples.
    fn advance_max_bw_filter(&mut self) {
        if self.max_bw[1] > 0 {
            self.max_bw = [self.max_bw[1], 0];
        }
    }

    /// `UpdateACKAggregation`.
    fn update_aggregation(&mut self, event: &AckEvent) {
        if event.delivered > 0 {
            let acked = (event.now, event.delivered, self.bw());
            self.aggregation.on_ack(acked, self.cwnd, (self.rounds.starts, !self.full.is_reached));
        }
    }

    /// `UpdateModelAndState`.
    fn update_model(&mut self, event: &AckEvent, net: &InflightSample) {
        self.update_latest_signals(event);
        self.update_congestion_signals(event);
        self.update_aggregation(event);
        self.check_full_pipe(event);
        self.check_startup_done(event, net);
        self.check_drain_done(event.now, net);
        self.update_probe_bw(event, net);
        self.update_min_rtt(event.now, net.rtt);
        self.check_probe_rtt(event, net);
        self.advance_latest_signals(event);
    }

    /// `SetPacingRateWithGain`: until the pipe is full, the rate is only raised.
    fn set_pacing_rate(&mut self, gain: f64, rtt: Option<Duration>) {
        self.pacing.update(self.units, (self.bw(), gain), rtt, self.full.is_reached);
    }

    /// Begins a round trip (`StartRound`).
    fn start_round(&mut self) {
        self.rounds.restart(self.losses.delivered);
    }
}

impl<T: ?Sized> Component<T, CongestionSetup> for Bbr {
    type Config = BbrConfig;

    fn check(config: &BbrConfig) -> Result<(), ConfigError> {
        config.check()
    }

    fn build(config: BbrConfig, setup: Setup<'_, T, CongestionSetup>) -> Result<Bbr, ConfigError> {
        Ok(Bbr::new(config, &setup.extra, setup.seed.stream()))
    }
}

impl CongestionControl for Bbr {
    /// `UpdateOnACK`.
    fn on_ack(&mut self, event: &AckEvent) {
        let net = event.inflight.unwrap_or_default();
        self.losses.delivered = net.total_delivered;
        self.restore_after_recovery(event.phase);
        if self.probe.ends_up {
            self.start_down(event.now);
        }
        if std::mem::take(&mut self.probe.restarts_round) {
            self.start_round();
        }
        self.update_model(event, &net);
        self.set_pacing_rate(self.gains().0, event.rtt);
        self.set_cwnd(event, &net);
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

    /// `OnInit`.
    fn on_open(&mut self, now: Time, rtt: Option<Duration>) {
        self.min_rtt.begin(now, rtt);
        self.aggregation.restart(now);
        self.pacing.begin(self.units, rtt);
    }

    fn on_segment_lost(&mut self, segment: &LostSegment) {
        self.handle_lost_packet(segment);
    }

    /// `OnEnterFastRecovery`.
    fn on_loss(&mut self, _event: &LossEvent) {
        self.save_state();
    }

    /// `OnEnterRTO`: no data is left in the network.
    fn on_rto(&mut self, event: &LossEvent) {
        // In the draft, the losses of the timeout have saved the state already.
        if self.losses.is_loss_in_round && !self.config.is_linux() {
            self.save_cwnd();
        } else if !event.keeps_ssthresh {
            self.save_state();
        }
        if self.config.is_linux() {
            self.reset_on_timeout();
        }
        self.prior.enter(RecoveryPhase::Loss);
        self.cwnd = self.units.mss;
    }

    /// The window of a recovery ends with the next `on_ack`.
    fn on_recovered(&mut self, _cwnd: u64) {}

    /// The variant `linux` handles each reported mark, with accurate feedback only.
    fn on_ecn(&mut self, _event: &LossEvent) {
        if !self.config.is_linux() {
            self.handle_mark();
        }
    }

    fn on_negotiated(&mut self, feedback: EcnUse) -> Ecn {
        self.negotiate(feedback)
    }

    /// `HandleSpuriousLossDetection`.
    fn on_undo(&mut self, event: &UndoEvent) {
        self.handle_spurious_loss(event.now);
    }

    fn on_lost_syn(&mut self) {
        self.cwnd = self.units.mss;
    }

    /// `HandleRestartFromIdle`: the window is kept.
    fn on_idle(&mut self, event: &IdleEvent) {
        self.is_idle_restart = true;
        self.aggregation.restart(event.now);
        if self.mode.is_probe_bw() {
            self.set_pacing_rate(1.0, None);
        } else if self.mode == Mode::ProbeRtt && self.min_rtt.hold.has_lasted(event.now) {
            self.end_probe_rtt(event.now);
        }
    }

    /// `tcp_update_skb_after_send`. The draft does not use the time of departure.
    fn on_sent(&mut self, now: Time, bytes: u64) {
        if self.config.is_linux() {
            self.pacing.on_sent(now, bytes);
        }
    }

    fn burst_size(&self) -> BurstSize {
        let extra = if self.config.is_linux() { extra_burst(self.min_rtt.value) } else { 0 };
        BurstSize { extra, ..BurstSize::default() }
    }

    fn path_model(&self) -> Option<PathModel> {
        let bound = self.bounds.inflight_longterm;
        Some(PathModel {
            state: self.mode as u8,
            bandwidth: self.bw(),
            min_rtt: self.min_rtt.value,
            inflight_bound: (bound < u64::MAX).then_some(bound),
        })
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
