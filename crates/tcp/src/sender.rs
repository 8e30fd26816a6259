//! The sending endpoint: ties estimator, scoreboard, recovery and congestion control together.
//!
//! Source: RFC 9293, RFC 5681, RFC 6298 §5, RFC 7323 §4.1. After a timeout a sender without SACK
//! goes back to the oldest unacknowledged byte and sends on from there (go-back-N).

mod application;
mod ecn;
mod events;
mod idle;
mod info;
mod ns3;
mod pacing;
mod persist;
mod report;
mod rwnd;

pub use info::{SenderInfo, SenderState};
pub use report::SenderReport;

use crate::application::{Application, OnOff};
use crate::congestion::{AckEvent, AnyCongestion, CongestionControl, LossEvent};
use crate::ns3::Ns3Recovery;
use crate::options::{IdleRestart, RecoveryExit, RecoveryKind, TcpOptions, WindowGrowth};
use crate::receiver::timestamp;
use crate::recovery::{Recovery, Verdict};
use crate::rtt::RttEstimator;
use crate::sack::{Acknowledged, NextSegment, SackRecovery};
use crate::scoreboard::Scoreboard;
use airpath_core::{
    Control, Ctx, DropReason, Duration, Flags, FlowId, Packet, PacketKind, Port, Series, Stage,
    Time,
};
use ecn::EcnState;
use pacing::Pacer;
use report::Measured;
use rwnd::WindowLimit;

/// What a sender is made from.
pub struct SenderConfig {
    /// Its flow.
    pub flow: FlowId,
    /// The connection's options.
    pub options: TcpOptions,
    /// The window law.
    pub congestion: AnyCongestion,
    /// Bytes to transfer; `None` never ends.
    pub transfer: Option<u64>,
    /// When it starts.
    pub start: Time,
    /// When it sends nothing new any more.
    pub stop: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before the start.
    Idle,
    /// SYN sent.
    SynSent,
    /// Data may flow.
    Established,
    /// Everything acknowledged.
    Done,
}

/// The SYN's part in the RTT estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Handshake {
    sent_at: Time,
    retransmissions: u32,
}

/// The sender of one connection. Input 0 takes ACKs, output 0 gives segments.
pub struct Sender {
    flow: FlowId,
    mss: u32,
    header: u32,
    exit_window: RecoveryExit,
    growth: WindowGrowth,
    newreno: bool,
    handshake: bool,
    phase: Phase,
    start: Time,
    stop: Time,
    /// When the connection begins, and then when the application does something next.
    turn: Time,
    /// The earlier one of `turn` and the time at which the pacer lets something go.
    alarm: Time,
    pacer: Pacer,
    /// Stream offset behind the last byte to send.
    end: u64,
    snd_una: u64,
    snd_nxt: u64,
    /// Offset behind the highest byte ever sent.
    snd_max: u64,
    /// Right edge of the receiver's window.
    edge: u64,
    /// When the retransmission timer expires or, with nothing outstanding, the persist timer.
    rto_deadline: Time,
    /// What was outstanding at the last timeout ends here.
    loss_until: u64,
    /// Probes sent since the window closed.
    probes: u32,
    syn: Handshake,
    rtt: RttEstimator,
    recovery: Recovery,
    /// In the place of `recovery`, when SACK is used.
    sack: Option<Box<SackRecovery>>,
    /// In the place of both, for ns-3's procedures.
    ns3: Option<Box<Ns3Recovery>>,
    timestamps: bool,
    /// TS.Recent (RFC 7323 §4.3); nothing but a capture reads its echo.
    ts_recent: u32,
    board: Scoreboard,
    congestion: AnyCongestion,
    ecn: EcnState,
    measured: Measured,
    rwnd: WindowLimit,
    completed_at: Option<Time>,
    idle_restart: IdleRestart,
    initial_window: u64,
    /// When data was sent last.
    last_sent: Time,
    /// Writes now and then; without it, the data is all there at the start.
    application: Option<Box<Application>>,
}

impl Sender {
    /// The sender that `config` describes.
    pub fn new(config: SenderConfig) -> Sender {
        let options = &config.options;
        Sender {
            flow: config.flow,
            mss: options.mss,
            header: options.whole_header(),
            exit_window: options.exit_window,
            growth: options.window_growth,
            newreno: options.recovery == RecoveryKind::NewReno,
            handshake: options.handshake,
            phase: Phase::Idle,
            start: config.start,
            stop: config.stop,
            turn: config.start,
            alarm: config.start,
            pacer: Pacer::new(options.pacing),
            end: config.transfer.unwrap_or(u64::MAX),
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            edge: options.first_edge(),
            rto_deadline: Time::NEVER,
            loss_until: 0,
            probes: 0,
            syn: Handshake::default(),
            rtt: RttEstimator::new(options),
            recovery: Recovery::new(options),
            sack: SackRecovery::new(options).map(Box::new),
            ns3: Ns3Recovery::new(options).map(Box::new),
            timestamps: options.timestamps,
            ts_recent: 0,
            board: Scoreboard::default(),
            congestion: config.congestion,
            ecn: EcnState::new(options.ecn),
            measured: Measured::default(),
            rwnd: WindowLimit::default(),
            completed_at: None,
            idle_restart: options.idle_restart,
            initial_window: options.initial_window,
            last_sent: Time::ZERO,
            application: None,
        }
    }

    /// The same, fed by an application that writes and pauses, without end.
    #[must_use]
    pub fn with_application(self, on_off: OnOff) -> Sender {
        let application = Some(Box::new(Application::new(on_off)));
        Sender { application, end: 0, ..self }
    }

    /// Congestion window, bytes, without fast recovery's inflation.
    pub fn cwnd(&self) -> u64 {
        self.congestion.cwnd()
    }

    /// Slow-start threshold, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh()
    }

    /// Bytes sent and not cumulatively acknowledged.
    pub fn bytes_in_flight(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    fn open(&mut self, ctx: &mut Ctx<'_>) {
        if self.handshake {
            self.phase = Phase::SynSent;
            self.send_syn(ctx);
        } else {
            self.phase = Phase::Established;
            self.ecn.is_used = self.ecn.is_wanted;
            self.transmit(ctx);
        }
    }

    fn send_syn(&mut self, ctx: &mut Ctx<'_>) {
        self.syn.sent_at = ctx.now;
        let mut syn = Packet::data(self.flow, 0, 0, self.header, ctx.now);
        syn.flags = if self.ecn.is_wanted { Flags::SYN.with(ecn::SETUP) } else { Flags::SYN };
        if self.timestamps {
            syn.tsval = timestamp(ctx.now);
        }
        self.rto_deadline = ctx.now + self.rtt.rto();
        ctx.emit(Port(0), syn);
    }

    fn on_syn_ack(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        if self.phase != Phase::SynSent {
            return;
        }
        self.phase = Phase::Established;
        self.negotiate_ecn(ack.flags);
        self.rto_deadline = Time::NEVER;
        self.edge = u64::from(ack.window);
        if self.syn.retransmissions == 0 {
            self.sample(ctx.now.saturating_since(self.syn.sent_at), ctx);
        } else {
            self.rtt.restart_after_lost_syn();
            self.congestion.on_lost_syn();
        }
        self.transmit(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(ctx.now);
        }
    }

    fn sample(&mut self, rtt: Duration, ctx: &mut Ctx<'_>) {
        self.rtt.sample(rtt);
        self.measured.rtt.add(rtt);
        ctx.record(Series::Rtt, self.flow.0, rtt.as_secs_lossy());
    }

    #[inline]
    fn on_ack(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        if self.ns3.is_some() {
            return self.on_ack_as_ns3(ack, ctx);
        }
        let is_overtaken = ack.seq < self.snd_una;
        let tells_nothing = is_overtaken && (self.sack.is_none() || ack.sack().is_empty());
        if (tells_nothing || ack.seq > self.snd_max) && !self.is_answer_to_probe(ack, ctx.now) {
            return;
        }
        self.edge = self.edge.max(ack.seq + u64::from(ack.window));
        let flight = self.flight_size();
        if ack.seq > self.snd_una {
            self.on_new_ack(ack, ctx);
        } else if self.snd_max > self.snd_una {
            self.on_duplicate(ack, ctx);
        } else {
            self.on_window_update(ctx.now);
            if self.congestion.wants_every_ack() {
                self.tell_of_ack_without_data(ack, ctx.now);
            }
        }
        if self.ecn.is_used {
            self.on_echo(ack, flight, ctx);
        }
        self.transmit(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(ctx.now);
        }
        self.record_windows(ctx);
    }

    #[inline]
    fn on_new_ack(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        let acked = ack.seq - self.snd_una;
        let verdict = match &mut self.sack {
            Some(_) => self.selective_verdict(ack),
            None => self.recovery.on_new_ack(ack.seq, acked, self.congestion.cwnd()),
        };
        let rtt = self.rtt_sample(ack, ctx.now);
        self.snd_una = ack.seq;
        self.snd_nxt = self.snd_nxt.max(ack.seq);
        if let Some(rtt) = rtt {
            self.sample(rtt, ctx);
        }
        let used = self.bytes_in_flight() + acked + u64::from(self.mss);
        let app_limited = used < self.congestion.cwnd();
        let (mut may_grow, mut restart_timer) = (false, true);
        match verdict {
            // RFC 3168 §6.1.2: an echoed mark does not enlarge the window.
            Verdict::Grow => {
                let is_echo = ack.flags.contains(Flags::ECE);
                may_grow = !is_echo || self.ecn.may_grow_despite_echo(ack.seq);
            }
            Verdict::Recovered => {
                self.on_recovered();
                may_grow = self.growth == WindowGrowth::PerAckTruncated;
            }
            Verdict::PartialAck { restart_timer: restart } => {
                restart_timer = restart;
                self.resend_head(ctx);
            }
            Verdict::FastRetransmit => self.fast_retransmit(ctx),
            Verdict::Wait => {}
        }
        if may_grow {
            let growth = Some(acked);
            self.congestion.on_ack(&AckEvent {
                growth,
                rtt,
                app_limited,
                ..self.ack_event(ack, acked, ctx.now)
            });
        } else if self.congestion.wants_every_ack() {
            self.tell_of_ack_without_growth(ack, acked, rtt, app_limited, ctx.now);
        }
        if self.snd_una == self.snd_max {
            self.rto_deadline = Time::NEVER;
            self.complete_if_all_sent(ctx);
        } else if restart_timer {
            self.rto_deadline = ctx.now + self.rtt.rto();
        }
    }

    /// What SACK makes of an ACK.
    fn selective_verdict(&mut self, ack: &Packet) -> Verdict {
        let acknowledged = Acknowledged {
            una: self.snd_una,
            ack: ack.seq,
            blocks: ack.sack(),
            snd_max: self.snd_max,
        };
        let ssthresh = self.congestion.ssthresh();
        self.sack.as_mut().map_or(Verdict::Wait, |sack| sack.on_ack(&acknowledged, ssthresh))
    }

    /// The RTT that an ACK of new data tells: by its timestamp, or by the oldest segment that it
    /// covers.
    #[inline]
    fn rtt_sample(&mut self, ack: &Packet, now: Time) -> Option<Duration> {
        let by_segment = self.board.acknowledge(ack.seq, now);
        if !self.timestamps {
            return by_segment;
        }
        let micros = timestamp(now).wrapping_sub(ack.tsecr);
        Some(Duration::from_nanos(u64::from(micros) * 1000))
    }

    fn on_recovered(&mut self) {
        let mss = u64::from(self.mss);
        let limit = match self.exit_window {
            RecoveryExit::BurstSafe if self.newreno => self.bytes_in_flight().max(mss) + mss,
            _ => u64::MAX,
        };
        self.congestion.on_recovered(limit);
    }

    fn on_duplicate(&mut self, ack: &Packet, ctx: &mut Ctx<'_>) {
        let verdict = match &self.sack {
            Some(_) => self.selective_verdict(ack),
            None if ack.flags.contains(Flags::WINDOW_UPDATE) => Verdict::Wait,
            None => self.recovery.on_duplicate(self.snd_una, self.snd_max),
        };
        if verdict == Verdict::FastRetransmit {
            self.fast_retransmit(ctx);
        }
        if self.congestion.wants_every_ack() {
            self.tell_of_ack_without_data(ack, ctx.now);
        }
    }

    fn fast_retransmit(&mut self, ctx: &mut Ctx<'_>) {
        self.measured.fast_retransmits += 1;
        let limited_transmit = match &self.sack {
            Some(sack) => sack.limited_transmit_sent(),
            None => self.recovery.limited_transmit_sent(self.snd_max),
        };
        let flight = self.flight_size() - limited_transmit;
        let cwnd = self.congestion.cwnd();
        let flight = match &mut self.sack {
            Some(sack) => sack.flight_at_loss(flight, cwnd),
            None => self.recovery.flight_at_loss(flight, cwnd),
        };
        let event = LossEvent { now: ctx.now, flight, cwnd };
        if self.ecn.is_used {
            self.reduce_for_loss_with_ecn(&event);
        } else {
            self.congestion.on_loss(&event);
        }
        if let Some(sack) = &mut self.sack {
            sack.reduce(self.snd_una, self.snd_max, self.congestion.ssthresh());
        }
        self.resend_head(ctx);
    }

    /// FlightSize (RFC 5681 §2).
    fn flight_size(&self) -> u64 {
        self.snd_max - self.snd_una
    }

    fn on_timeout(&mut self, ctx: &mut Ctx<'_>) {
        self.rto_deadline = Time::NEVER;
        if self.phase == Phase::Established && self.snd_una == self.snd_max {
            return self.on_idle_timeout(ctx);
        }
        if self.ecn.is_used {
            self.timeout_with_ecn();
        }
        self.measured.timeouts += 1;
        self.rtt.back_off();
        if self.phase == Phase::SynSent {
            self.syn.retransmissions += 1;
            return self.send_syn(ctx);
        }
        self.loss_until = self.snd_max;
        if self.ns3.is_some() {
            return self.on_timeout_as_ns3(ctx);
        }
        let (flight, cwnd) = (self.flight_size(), self.congestion.cwnd());
        let flight = match &mut self.sack {
            Some(sack) => sack.flight_at_rto(flight, cwnd),
            None => self.recovery.flight_at_rto(self.snd_una, flight, cwnd),
        };
        self.congestion.on_rto(&LossEvent { now: ctx.now, flight, cwnd });
        match &mut self.sack {
            Some(sack) => sack.on_rto(self.snd_una, self.snd_max),
            None => {
                self.recovery.on_rto(self.snd_max);
                self.snd_nxt = self.snd_una;
            }
        }
        self.transmit(ctx);
        self.record_windows(ctx);
    }

    fn resend_head(&mut self, ctx: &mut Ctx<'_>) {
        let end = self.board.end_of(self.snd_una);
        self.send(self.snd_una, end, ctx);
        self.snd_nxt = self.snd_nxt.max(end);
        if let Some(sack) = &mut self.sack {
            sack.on_fast_retransmit(self.snd_una, end);
        }
    }

    /// Sends what the windows allow.
    #[inline]
    fn transmit(&mut self, ctx: &mut Ctx<'_>) {
        if self.phase != Phase::Established || self.ecn.waits_for_timer {
            return;
        }
        let cwnd = self.congestion.cwnd();
        let window = match &self.sack {
            Some(_) if self.ns3.is_some() => return self.transmit_as_ns3(ctx),
            Some(sack) if sack.counts_pipe() => return self.transmit_by_pipe(ctx),
            Some(_) => cwnd,
            None if self.snd_nxt == self.snd_max => {
                self.recovery.window(cwnd) + self.recovery.limited_transmit_allowance()
            }
            None => self.recovery.window(cwnd),
        };
        self.transmit_up_to(window, ctx);
        let beyond = self.sack.as_ref().map_or(0, |sack| sack.limited_transmit_allowance());
        if beyond > 0 {
            let before = self.snd_max;
            self.transmit_up_to(window.saturating_add(beyond), ctx);
            let sent = self.snd_max - before;
            self.sack.iter_mut().for_each(|sack| sack.on_limited_transmit(sent));
        }
    }

    /// Sends in order what a window of `window` bytes from the oldest unacknowledged one allows.
    #[inline]
    fn transmit_up_to(&mut self, window: u64, ctx: &mut Ctx<'_>) {
        let allowed = self.snd_una.saturating_add(window);
        let limit = self.edge.min(allowed);
        while self.pacer.is_free(ctx.now)
            && let Some(end) = self.next_end(limit, ctx.now)
        {
            self.send(self.snd_nxt, end, ctx);
            self.snd_nxt = end;
        }
        if self.edge < allowed || self.rwnd.is_running() {
            self.note_receive_window(allowed, ctx.now);
        }
    }

    /// Sends what `pipe` leaves of the window, first what is lost (RFC 6675 §5 (C)).
    fn transmit_by_pipe(&mut self, ctx: &mut Ctx<'_>) {
        let Some(mut sack) = self.sack.take() else { return };
        while self.pacer.is_free(ctx.now)
            && sack.may_send(self.congestion.cwnd(), self.snd_una, self.snd_max)
        {
            let new_end = self.next_end(self.edge, ctx.now);
            match sack.next_segment(self.snd_una, self.snd_max, new_end.is_some()) {
                Some(NextSegment::New) => {
                    let end = new_end.expect("new data is chosen only when there is some");
                    sack.on_sent(end - self.snd_max);
                    self.send(self.snd_max, end, ctx);
                    self.snd_nxt = end;
                }
                Some(NextSegment::Resend(start)) => {
                    let end = self.board.end_of(start);
                    sack.on_resent(start, end);
                    self.send(start, end, ctx);
                }
                Some(NextSegment::Rescue(last_byte)) => {
                    let start = self.board.start_of(last_byte, self.snd_una);
                    let end = self.board.end_of(last_byte);
                    sack.on_rescue(end - start);
                    self.send(start, end, ctx);
                }
                None => break,
            }
        }
        let allowed = sack.may_send(self.congestion.cwnd(), self.snd_una, self.snd_max);
        self.sack = Some(sack);
        self.note_receive_window(if allowed { u64::MAX } else { 0 }, ctx.now);
    }

    /// Where the next segment ends, if it may be sent below `limit`: a whole one, or the last of
    /// the transfer, or as much as the window takes when nothing is in flight (the sender's side
    /// of the silly-window rule, RFC 1122 §4.2.3.4).
    #[inline]
    fn next_end(&self, limit: u64, now: Time) -> Option<u64> {
        let room = limit.checked_sub(self.snd_nxt)?;
        let is_idle = self.snd_nxt == self.snd_una;
        if self.snd_nxt < self.snd_max {
            let end = self.board.end_of(self.snd_nxt);
            return (room >= end - self.snd_nxt || is_idle).then_some(end);
        }
        let whole = (self.end - self.snd_nxt).min(u64::from(self.mss));
        let size = if room >= whole || !is_idle { whole } else { room };
        (size > 0 && room >= size && now < self.stop).then(|| self.snd_nxt + size)
    }

    /// Sends the segment from `seq` to `end`, which is a new one or one of the scoreboard's.
    #[inline]
    fn send(&mut self, seq: u64, end: u64, ctx: &mut Ctx<'_>) {
        let mut segment = Packet::data(self.flow, seq, (end - seq) as u32, self.header, ctx.now);
        if seq == self.snd_max {
            self.board.push(end, ctx.now);
            self.snd_max = end;
            if self.ecn.is_used {
                self.ecn.stamp(&mut segment);
            }
        } else {
            self.board.mark_resent(seq);
            self.measured.retransmissions += 1;
            segment.flags = Flags::RETRANSMITTED;
        }
        if self.timestamps {
            segment.tsval = timestamp(ctx.now);
            segment.tsecr = self.ts_recent;
        }
        self.measured.sent += 1;
        self.last_sent = ctx.now;
        self.congestion.on_sent(ctx.now, end - seq);
        if let Some(rate) = self.pacing_rate() {
            self.pace(segment.size, rate, ctx);
        }
        if self.rto_deadline.is_never() {
            self.rto_deadline = ctx.now + self.rtt.rto();
        }
        ctx.record(Series::SeqSent, self.flow.0, seq as f64);
        ctx.emit(Port(0), segment);
    }

    /// Ends the run when the window law has failed.
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
            let window = match self.sack {
                Some(_) => self.congestion.cwnd(),
                None => self.recovery.window(self.congestion.cwnd()),
            };
            ctx.record(Series::Cwnd, self.flow.0, window as f64);
        }
        if ctx.records(Series::Ssthresh) {
            ctx.record(Series::Ssthresh, self.flow.0, self.congestion.ssthresh() as f64);
        }
    }
}

impl Stage for Sender {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if packet.kind != PacketKind::Ack {
            return ctx.drop(*packet, DropReason::Stray);
        }
        // The younger of the two: it is ages that are compared, for pauses may be long.
        let age = |tsval: u32| timestamp(ctx.now).wrapping_sub(tsval);
        if self.timestamps && age(packet.tsval) <= age(self.ts_recent) {
            self.ts_recent = packet.tsval;
        }
        if packet.flags.contains(Flags::SYN) {
            self.on_syn_ack(packet, ctx);
        } else if self.phase == Phase::Established {
            self.on_ack(packet, ctx);
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
        self.pass_on_failure(ctx);
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.rto_deadline.min(self.alarm)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::StartMeasurement => {
                self.measured = Measured::default();
                self.rwnd.restart(ctx.now);
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
