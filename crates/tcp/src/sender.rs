//! TCP sender. Combines RTT estimator, scoreboard, loss recovery and congestion control.
//!
//! Source: RFC 9293, RFC 5681, RFC 6298 §5, RFC 7323 §4.1. The transmission of segments is in
//! `sender/transmit.rs`.

mod abort;
mod application;
mod burst;
mod ecn;
mod events;
mod fast_path;
mod idle;
mod info;
mod loss;
mod opening;
mod pacing;
mod persist;
mod rack_timers;
mod report;
mod rwnd;
mod transmit;

pub use info::{SenderInfo, SenderState};
pub use report::SenderReport;

use crate::application::Application;
use crate::config::{Push, TcpConfig};
use crate::congestion::{AnyCongestion, CongestionControl};
use crate::receiver::timestamp;
use crate::recovery::{AckOutcome, LossRecovery, Recovery, Scoreboard, Verdict};
use crate::rtt::RttEstimator;
use airpath_core::{
    Control, Ctx, Delays, DropReason, Duration, Flags, FlowId, Packet, PacketKind, Port, Series,
    Stage, Time,
};
use burst::Burst;
use ecn::EcnState;
use events::AckSample;
use fast_path::FastPath;
use pacing::Pacer;
use report::SenderCounters;
use rwnd::WindowLimit;
use std::sync::Arc;

/// Configuration of a sender.
pub struct SenderConfig {
    /// Flow ID.
    pub flow: FlowId,
    /// TCP parameters of the connection.
    pub options: Arc<TcpConfig>,
    /// Congestion control algorithm.
    pub congestion: AnyCongestion,
    /// Size of the transfer, bytes; `None`: unlimited.
    pub transfer: Option<u64>,
    /// Start of the connection.
    pub start: Time,
    /// Time after which the sender sends no new data.
    pub stop: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The connection has not started.
    Idle,
    /// The SYN has been sent and not yet answered.
    SynSent,
    /// Data may flow.
    Established,
    /// All data has been acknowledged.
    Done,
    /// The connection was aborted because too many retransmissions were not answered.
    Aborted,
}

/// State of the handshake, and the number of unanswered retransmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Handshake {
    sent_at: Time,
    retransmissions: u32,
    /// Number of retransmissions of data by the timer since data was last acknowledged.
    unanswered: u32,
}

/// Sender of one connection. Input 0 receives ACKs, output 0 sends segments.
///
/// The fields that the fast path uses come first, so that they share few cache lines. This matters
/// with many flows.
#[repr(C)]
pub struct Sender {
    flow: FlowId,
    mss: u32,
    header: u32,
    phase: Phase,
    fast_path: FastPath,
    timestamps: bool,
    /// True if the sender counts bursts or uses RACK.
    has_more_to_settle: bool,
    /// Stream offset after the last byte to send.
    end: u64,
    /// Right edge of the receive window.
    edge: u64,
    stop: Time,
    /// Expiry of the retransmission timer or, with no data outstanding, of the persist timer.
    rto_deadline: Time,
    /// Earliest of `turn`, the next release by the pacer, and the expiry of the RACK timer.
    alarm: Time,
    /// Time of the last transmission of data.
    last_sent: Time,
    board: Scoreboard,
    rtt: RttEstimator,
    congestion: AnyCongestion,
    pacer: Pacer,
    limit: WindowLimit,
    /// ACK delays. Allocated when the first ACK arrives.
    ack_delays: Option<Box<Delays>>,
    measured: SenderCounters,
    recovery: Recovery,
    ecn: EcnState,
    start: Time,
    /// Start of the connection; later the next action of the application.
    turn: Time,
    syn: Handshake,
    /// Number of window probes since the window closed.
    probes: u32,
    /// TS.Recent (RFC 7323 §4.3). Its echo is used only by captures.
    ts_recent: u32,
    /// Time at which all data was acknowledged or the connection was aborted; `NEVER` before.
    closed_at: Time,
    options: Arc<TcpConfig>,
    /// The current burst, whose last segment requests an ACK.
    burst: Option<Box<Burst>>,
    /// Application that alternates between a burst and a pause. `None`: all data is available at
    /// the start.
    application: Option<Box<Application>>,
}

impl Sender {
    /// Creates a sender from its configuration.
    pub fn new(config: SenderConfig) -> Sender {
        let options = &config.options;
        let board = match config.congestion.needs_rate_samples() {
            true => Scoreboard::default().with_rates(),
            false => Scoreboard::default(),
        };
        let (pacer, burst) = (Pacer::new(options.pacing, options.tso), Burst::new(options.push));
        let excludes_fast_path = board.is_watched() || pacer.has_options() || burst.is_some();
        Sender {
            flow: config.flow,
            mss: options.mss,
            header: options.whole_header(),
            fast_path: if excludes_fast_path { FastPath::Never } else { FastPath::Closed },
            has_more_to_settle: options.push != Push::Off || options.finds_losses_by_time(),
            phase: Phase::Idle,
            start: config.start,
            stop: config.stop,
            turn: config.start,
            alarm: config.start,
            pacer,
            end: config.transfer.unwrap_or(u64::MAX),
            edge: options.first_edge(),
            rto_deadline: Time::NEVER,
            probes: 0,
            syn: Handshake::default(),
            rtt: RttEstimator::new(options),
            recovery: Recovery::new(options, config.congestion.sets_window_in_recovery()),
            timestamps: options.timestamps,
            ts_recent: 0,
            board,
            congestion: config.congestion,
            ecn: EcnState::new(options),
            measured: SenderCounters::default(),
            ack_delays: None,
            limit: WindowLimit::default(),
            closed_at: Time::NEVER,
            last_sent: Time::ZERO,
            application: None,
            burst,
            options: config.options,
        }
    }

    /// Adds an application that writes the data.
    #[must_use]
    pub fn with_application(self, application: impl Into<Application>) -> Sender {
        let application = Box::new(application.into());
        let fast_path = if application.pushes() { FastPath::Never } else { self.fast_path };
        Sender { application: Some(application), fast_path, end: 0, ..self }
    }

    /// Returns the start time of the connection; `NEVER` if it has none yet.
    pub fn start(&self) -> Time {
        self.start
    }

    /// Returns the congestion window, bytes, without the inflation in fast recovery.
    pub fn cwnd(&self) -> u64 {
        self.congestion.cwnd()
    }

    /// Returns the slow-start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh()
    }

    /// Returns the bytes sent and not cumulatively acknowledged.
    pub fn bytes_in_flight(&self) -> u64 {
        self.board.nxt() - self.board.una()
    }

    #[inline(always)]
    fn sample(&mut self, rtt: Duration, ctx: &mut Ctx<'_>) {
        self.rtt.sample(rtt);
        self.measured.rtt.add(rtt);
        ctx.record(Series::Rtt, self.flow.0, rtt.as_secs_lossy());
    }

    /// Handles a packet that is not an ACK of the fast path.
    #[inline(never)]
    fn on_other_packet(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if packet.kind != PacketKind::Ack {
            return ctx.drop(*packet, DropReason::Stray);
        }
        self.note_timestamp(packet, ctx.now);
        if packet.flags.contains(Flags::SYN) {
            self.on_syn_ack(packet, ctx);
        } else {
            self.measure_ack(packet, ctx.now);
            if self.phase == Phase::Established {
                self.on_ack(packet, ctx);
            }
        }
        self.settle(ctx);
    }

    /// Sets TS.Recent to the younger of two timestamps: TS.Recent and the TSval of `ack`. Compares
    /// the ages, because timestamps can wrap during a long pause.
    #[inline]
    fn note_timestamp(&mut self, ack: &Packet, now: Time) {
        let age = |tsval: u32| timestamp(now).wrapping_sub(tsval);
        if self.timestamps && age(ack.tsval) <= age(self.ts_recent) {
            self.ts_recent = ack.tsval;
        }
    }

    fn on_ack(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        let una = self.board.una();
        if ack.seq < una {
            if !self.recovery.on_overtaken(ack, ctx.now, &mut self.board) {
                return;
            }
        } else if ack.seq > self.board.max() && !self.is_answer_to_probe(ack, ctx.now) {
            return;
        }
        self.edge = self.edge.max(ack.seq + u64::from(ack.window));
        if self.ecn.is_used {
            self.ecn.read_counter(ack);
        }
        if self.board.is_watched() {
            self.board.begin_ack();
        }
        let flight = self.board.flight();
        if flight > 0 {
            let heard = self.recovery.on_ack(ack, ctx.now, &mut self.board, &self.congestion);
            if ack.seq > una {
                self.on_new_ack(ack, una, &heard, ctx);
            } else {
                self.on_duplicate(ack, &heard, ctx);
            }
        } else {
            self.on_window_update(ctx.now);
            if self.congestion.needs_every_ack() {
                self.notify_nonadvancing_ack(ack, None, ctx.now);
            }
        }
        if self.ecn.is_used {
            self.on_echo(ack, una, flight, ctx);
        }
        self.transmit(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(ctx.now);
        }
        self.record_windows(ctx);
        if self.board.is_watched() {
            self.record_model(ctx);
        }
    }

    fn on_new_ack(&mut self, ack: &Packet, una: u64, heard: &AckOutcome, ctx: &mut Ctx<'_>) {
        let acked = ack.seq - una;
        self.syn.unanswered = 0;
        let rtt = self.rtt_sample(ack, heard.rtt, ctx.now);
        if let Some(rtt) = rtt {
            self.sample(rtt, ctx);
        }
        let used = self.bytes_in_flight() + acked;
        let app_limited = !self.recovery.is_cwnd_limited(used, self.congestion.cwnd());
        let restarts_timer = match heard.verdict {
            Verdict::Usual => true,
            verdict => self.act(verdict, ctx),
        };
        let known = AckSample { acked, rtt, app_limited };
        self.notify_new_ack(ack, heard, known, ctx.now);
        if self.board.flight() == 0 {
            self.rto_deadline = Time::NEVER;
            self.complete_if_all_sent(ctx);
        } else if restarts_timer {
            self.rto_deadline = ctx.now + self.rtt.rto();
        }
    }

    /// Applies the verdict of loss recovery. Returns true if the timer must be restarted.
    #[cold]
    fn act(&mut self, mut verdict: Verdict, ctx: &mut Ctx<'_>) -> bool {
        if verdict == Verdict::Begins {
            verdict = self.begin_recovery(ctx);
        }
        match verdict {
            Verdict::Repair { forces, restarts_timer } => {
                if forces && self.board.flight() > 0 {
                    self.send_forced(ctx);
                }
                restarts_timer
            }
            Verdict::Recovered => {
                self.end_recovery();
                true
            }
            Verdict::Repaired => {
                self.answer_repaired_loss(ctx.now);
                true
            }
            Verdict::Undone { begins } => {
                self.undo(begins, ctx);
                true
            }
            Verdict::Usual | Verdict::Begins => true,
        }
    }

    /// Returns the RTT sample of a new ACK, from its timestamp or from an acknowledged segment.
    #[inline]
    fn rtt_sample(
        &self,
        ack: &Packet,
        by_segment: Option<Duration>,
        now: Time,
    ) -> Option<Duration> {
        if !self.timestamps {
            return by_segment;
        }
        let micros = timestamp(now).wrapping_sub(ack.tsecr);
        Some(Duration::from_nanos(u64::from(micros) * 1000))
    }

    fn on_duplicate(&mut self, ack: &Packet, heard: &AckOutcome, ctx: &mut Ctx<'_>) {
        match heard.verdict {
            Verdict::Begins => {
                self.begin_recovery(ctx);
            }
            Verdict::Undone { begins } => self.undo(begins, ctx),
            _ => {}
        }
        if self.congestion.needs_every_ack() {
            self.notify_nonadvancing_ack(ack, Some(heard), ctx.now);
        }
    }

    /// Ends the run if the congestion control has failed.
    #[inline]
    fn pass_on_failure(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(error) = self.congestion.take_error() {
            ctx.fail(error);
        }
    }

    #[inline]
    fn record_windows(&self, ctx: &mut Ctx<'_>) {
        if ctx.records(Series::Cwnd) || ctx.records(Series::Ssthresh) {
            self.record_windows_now(ctx);
        }
    }

    #[cold]
    fn record_windows_now(&self, ctx: &mut Ctx<'_>) {
        if ctx.records(Series::Cwnd) {
            let window = self.recovery.inflated(self.congestion.cwnd());
            ctx.record(Series::Cwnd, self.flow.0, window as f64);
        }
        if ctx.records(Series::Ssthresh) {
            ctx.record(Series::Ssthresh, self.flow.0, self.congestion.ssthresh() as f64);
        }
    }
}

impl Stage for Sender {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.is_fast_path(packet) {
            self.on_fast_path_ack(packet, ctx);
        } else {
            self.on_other_packet(packet, ctx);
        }
        self.pass_on_failure(ctx);
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.alarm <= ctx.now {
            self.on_alarm(ctx);
        }
        if self.rto_deadline <= ctx.now {
            self.on_timeout(ctx);
        }
        self.settle(ctx);
        self.pass_on_failure(ctx);
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.rto_deadline.min(self.alarm)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::StartMeasurement => {
                self.measured = SenderCounters::default();
                self.ack_delays = None;
                self.limit.restart(ctx.now.min(self.stop));
                if let Some(application) = &mut self.application {
                    application.start_measurement(ctx.now);
                }
            }
            Control::Start => self.start_at(ctx.now),
            Control::Stop => self.stop = ctx.now,
            _ => {}
        }
    }

    fn held(&self) -> usize {
        0
    }
}
