//! Runs one TCP flow over kernel sockets, from its start to its last byte.

use super::clock::Clock;
use super::sockets::{self, ReadResult};
use super::tcp_info_map::{ESTABLISHED, acknowledged, sender_info};
use super::work::Work;
use super::{EndpointFlow, SocketReport};
use crate::sys::{self, TcpInfo};
use airpath_core::{Duration, Time};
use airpath_tcp::{Burst, SsSample};
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};

/// Time in which the unsent data in the socket of a flow that stops before the end of the run can
/// be sent. The amount is limited, because a socket sends accepted data even after its application
/// has stopped.
const UNSENT: Duration = Duration::from_millis(10);
/// Limits of the unsent data, bytes.
const LEAST_UNSENT: u32 = 8 * 1024;
const MOST_UNSENT: u32 = 4 * 1024 * 1024;

/// Phase of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The start time of the flow is in the future.
    Waiting,
    /// The SYN is not answered yet.
    Connecting,
    /// The connection is established.
    Open,
    /// All data are acknowledged.
    Done,
    /// The connection could not be established, or was aborted.
    Failed,
}

/// Weighted mean of the smoothed RTT.
#[derive(Clone, Copy, Debug, Default)]
struct MeanRtt {
    sum_s: f64,
    weight: f64,
}

/// State of one flow while the thread runs.
pub(super) struct Flow {
    pub(super) spec: EndpointFlow,
    pub(super) work: Work,
    pub(super) listener: Option<TcpListener>,
    pub(super) receiver: Option<TcpStream>,
    pub(super) sender: Option<TcpStream>,
    phase: Phase,
    /// Maximum unsent bytes in the socket, for a flow that stops before the end of the run.
    unsent: Option<u32>,
    established_at: Option<Time>,
    congestion: String,
    /// Latest `tcp_info` of the sender.
    info: TcpInfo,
    before: TcpInfo,
    /// Number of segments that the receiver received out of order: latest value, and value at the
    /// end of the warm-up.
    out_of_order: [Option<u64>; 2],
    /// Number of bytes that the receiver has read: latest value, and value at the end of the
    /// warm-up.
    delivered: [u64; 2],
    rtt: MeanRtt,
    /// Time of the latest sample, and number of bytes acknowledged at this time.
    sampled: (Time, u64),
}

/// Indices of the latest value and of the value at the end of the warm-up.
const LAST: usize = 0;
const BEFORE: usize = 1;

impl Flow {
    /// Creates a flow that has not started; the run ends at `end`.
    pub(super) fn new(spec: EndpointFlow, end: Time) -> Flow {
        let by_time = |burst| matches!(burst, Burst::Time(_));
        let stops =
            spec.stop < end || spec.on_off.as_ref().is_some_and(|on_off| by_time(on_off.config.on));
        Flow {
            work: Work::new(spec.transfer, spec.on_off.clone(), spec.stop),
            spec,
            listener: None,
            receiver: None,
            sender: None,
            phase: Phase::Waiting,
            unsent: stops.then_some(LEAST_UNSENT),
            established_at: None,
            congestion: String::new(),
            info: TcpInfo::default(),
            before: TcpInfo::default(),
            out_of_order: [None; 2],
            delivered: [0; 2],
            rtt: MeanRtt::default(),
            sampled: (Time::ZERO, 0),
        }
    }

    /// Starts the flow: its sender connects. The calling thread must be in the sender's namespace.
    pub(super) fn start(&mut self, at: Time) -> io::Result<()> {
        self.phase = Phase::Connecting;
        self.sampled = (at, 0);
        self.work.start(at);
        let wants_acks = !self.work.is_bulk();
        let sender = sockets::sender(&self.spec, wants_acks)?;
        self.info = sys::tcp_info(&sender)?;
        self.congestion = sockets::congestion(&sender)?;
        if let Some(bytes) = self.unsent {
            sys::set_unsent_limit(&sender, bytes)?;
        }
        self.sender = Some(sender);
        Ok(())
    }

    /// Handles an event of the sender's socket. Returns the result of [`Flow::write`].
    pub(super) fn advance(&mut self, clock: Clock) -> io::Result<bool> {
        let Some(sender) = &self.sender else { return Ok(false) };
        let stamp = sockets::acknowledged_at(sender);
        if let Some(error) = sender.take_error()? {
            return Err(error);
        }
        let now = clock.now().unwrap_or(Time::ZERO);
        if self.phase == Phase::Connecting {
            self.info = sys::tcp_info(sender)?;
            if self.info.state != ESTABLISHED {
                return Ok(false);
            }
            self.phase = Phase::Open;
            self.established_at = Some(now);
            // A route may override the congestion control algorithm.
            self.congestion = sockets::congestion(sender)?;
        }
        if stamp.is_some() || self.work.awaits_ack() {
            self.look()?;
            self.on_tcp_info(stamp.map_or(now, |stamp| clock.of_realtime(stamp)));
        }
        self.write(now)
    }

    /// Passes the latest `tcp_info`, which was read at `at`, to the application. It may show that
    /// all data are acknowledged.
    fn on_tcp_info(&mut self, at: Time) {
        self.work.acknowledged(self.acknowledged(), at);
        if self.work.completed_at().is_some() {
            self.phase = Phase::Done;
            self.info.unacked = 0;
            // The receiver closes the connection when it has read all data.
            self.sender = None;
        }
    }

    fn acknowledged(&self) -> u64 {
        acknowledged(&self.info, self.work.written())
    }

    /// Writes the available data, as far as the socket has space. Returns true if the socket would
    /// have accepted more data. In this case the socket signals no event when it has sent the data.
    pub(super) fn write(&mut self, now: Time) -> io::Result<bool> {
        let Some(sender) = self.sender.as_ref().filter(|_| self.phase == Phase::Open) else {
            return Ok(false);
        };
        let mut bytes = self.work.to_write(now);
        if bytes == 0 {
            return Ok(false);
        }
        if let Some(limit) = &mut self.unsent {
            let info = sys::tcp_info(sender)?;
            let lasts = info.delivery_rate as f64 * UNSENT.as_secs_lossy();
            let wanted = (lasts as u32).clamp(LEAST_UNSENT, MOST_UNSENT);
            if wanted != *limit {
                sys::set_unsent_limit(sender, wanted)?;
                *limit = wanted;
            }
            bytes = bytes.min(limit.saturating_sub(info.notsent_bytes).into());
        }
        self.work.wrote(sockets::write(sender, bytes)?);
        if self.work.is_written() {
            sender.shutdown(Shutdown::Write)?;
        }
        Ok(self.unsent.is_some() && self.work.to_write(now) > 0)
    }

    /// Reads received data. Returns true if more data may be available.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let Some(receiver) = &self.receiver else { return Ok(false) };
        let got = sockets::read(receiver, buffer)?;
        if let Some(bytes) = self.spec.window_clamp {
            // The kernel recomputes the limit if packets need a different buffer space than
            // estimated.
            sys::set_window_clamp(receiver, bytes)?;
        }
        match got {
            ReadResult::Bytes(bytes) => {
                self.delivered[LAST] += bytes;
                Ok(bytes == buffer.len() as u64)
            }
            ReadResult::Nothing => Ok(false),
            ReadResult::End => {
                self.ask_receiver();
                self.receiver = None;
                Ok(false)
            }
        }
    }

    /// Reads `tcp_info` of the sender, and adds its RTT to the mean, weighted by the data delivered
    /// since the previous reading.
    fn look(&mut self) -> io::Result<()> {
        let Some(sender) = &self.sender else { return Ok(()) };
        let info = sys::tcp_info(sender)?;
        let delivered = info.delivered.saturating_sub(self.info.delivered);
        if delivered > 0 && info.rtt > 0 {
            self.rtt.sum_s += f64::from(delivered) * f64::from(info.rtt) * 1e-6;
            self.rtt.weight += f64::from(delivered);
        }
        self.info = info;
        Ok(())
    }

    /// Polls the state of the flow periodically.
    pub(super) fn watch(&mut self, clock: Clock) -> io::Result<()> {
        if self.phase != Phase::Open {
            return Ok(());
        }
        self.look()?;
        if self.work.awaits_ack() {
            // Usually the kernel reports the acknowledgement immediately.
            self.on_tcp_info(clock.now().unwrap_or(Time::ZERO));
        }
        Ok(())
    }

    /// Returns a sample of the flow's state with the time stamp `time`; `None` before the start of
    /// the flow or after a failure.
    pub(super) fn sample(&mut self, time: Time, now: Time) -> Option<SsSample> {
        if matches!(self.phase, Phase::Waiting | Phase::Failed) {
            return None;
        }
        // A broken connection is reported by an event.
        self.look().ok();
        let is_done = self.phase == Phase::Done;
        let paces = self.spec.pacing || self.congestion.starts_with("bbr");
        let info = sender_info(&self.info, self.work.written(), is_done, paces);
        let (before, acked_before) = std::mem::replace(&mut self.sampled, (now, info.acked));
        let elapsed = now.saturating_since(before).as_secs_lossy();
        let acked = info.acked.saturating_sub(acked_before) as f64;
        let delivery_rate_bps = if elapsed > 0.0 { acked * 8.0 / elapsed } else { 0.0 };
        Some(SsSample { time, flow: self.spec.flow, info, delivery_rate_bps })
    }

    /// Reads all received data, and `tcp_info` of both ends.
    fn drain_sockets(&mut self, buffer: &mut [u8]) {
        // A broken connection is reported by an event.
        while self.read(buffer).unwrap_or(false) {}
        self.look().ok();
        self.ask_receiver();
    }

    fn ask_receiver(&mut self) {
        let info = self.receiver.as_ref().and_then(|receiver| sys::tcp_info(receiver).ok());
        if let Some(info) = info.filter(|info| info.reports("rcv_ooopack")) {
            self.out_of_order[LAST] = Some(u64::from(info.rcv_ooopack));
        }
    }

    /// Resets the counters at the end of the warm-up.
    pub(super) fn start_measurement(&mut self, buffer: &mut [u8]) {
        self.drain_sockets(buffer);
        self.before = self.info;
        self.out_of_order[BEFORE] = self.out_of_order[LAST];
        self.delivered[BEFORE] = self.delivered[LAST];
        self.rtt = MeanRtt::default();
    }

    /// Reads the final counters at the end of the run. Open connections remain open.
    pub(super) fn count(&mut self, buffer: &mut [u8]) {
        self.drain_sockets(buffer);
    }

    /// Aborts open connections immediately.
    pub(super) fn abort(&mut self) {
        self.listener = None;
        let open = [self.sender.take(), self.receiver.take()];
        open.into_iter().flatten().for_each(sockets::abort);
    }

    /// Marks a flow as failed: it could not connect or was aborted. Returns false if the flow had
    /// already failed or finished.
    pub(super) fn fail(&mut self) -> bool {
        let is_news = !matches!(self.phase, Phase::Done | Phase::Failed);
        if is_news {
            self.phase = Phase::Failed;
        }
        (self.listener, self.sender, self.receiver) = (None, None, None);
        is_news
    }

    /// Returns true if at `now` the flow has waited for a SYN-ACK for at least `long`.
    pub(super) fn waits_since(&self, long: Duration, now: Time) -> bool {
        self.phase == Phase::Connecting && now.saturating_since(self.spec.start) >= long
    }

    /// Returns true if the connection is open.
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Returns the measurements from `from` to `until`.
    pub(super) fn report(&self, [from, until]: [Time; 2]) -> SocketReport {
        let measured_s = until.saturating_since(from).as_secs_lossy();
        let (info, before) = (&self.info, &self.before);
        let is_unknown = |name| info.length > 0 && !info.reports(name);
        let count = |name, of: fn(&TcpInfo) -> u64| {
            (!is_unknown(name)).then(|| of(info).saturating_sub(of(before)))
        };
        let closed = self.work.completed_at().unwrap_or(until).min(self.spec.stop).min(until);
        let open_s = closed.saturating_since(self.spec.start.max(from)).as_secs_lossy();
        let share = |name, of: fn(&TcpInfo) -> u64| {
            let micros = count(name, of).filter(|_| info.length > 0 && open_s > 0.0)?;
            Some((micros as f64 * 1e-6 / open_s).min(1.0))
        };
        let rwnd_limited_share = share("rwnd_limited", |info| info.rwnd_limited);
        let sndbuf_limited_share = share("sndbuf_limited", |info| info.sndbuf_limited);
        let busy_share = share("busy_time", |info| info.busy_time);
        let others = rwnd_limited_share.zip(sndbuf_limited_share).map(|(one, other)| one + other);
        let delivered_bytes = self.delivered[LAST] - self.delivered[BEFORE];
        let seconds = |time: Time| time.as_secs_lossy();
        let is_measured = |micros: &u32| (1..u32::MAX).contains(micros);
        SocketReport {
            flow: self.spec.flow,
            established: self.established_at.is_some(),
            established_at_s: self.established_at.map(seconds),
            congestion: self.congestion.clone(),
            delivered_bytes,
            goodput_bps: match measured_s > 0.0 {
                true => delivered_bytes as f64 * 8.0 / measured_s,
                false => 0.0,
            },
            retransmissions: count("total_retrans", |info| info.total_retrans.into()),
            timeouts: count("total_rto", |info| info.total_rto.into()),
            start_s: (!self.spec.start.is_never()).then(|| seconds(self.spec.start)),
            completed_at_s: self.work.completed_at().map(seconds),
            mean_rtt_s: (self.rtt.weight > 0.0).then(|| self.rtt.sum_s / self.rtt.weight),
            min_rtt_s: Some(info.min_rtt).filter(is_measured).map(|rtt| f64::from(rtt) * 1e-6),
            rwnd_limited_share,
            cwnd_limited_share: busy_share
                .zip(others)
                .filter(|_| self.work.is_bulk())
                .map(|(busy, others)| (busy - others).max(0.0)),
            sndbuf_limited_share,
            bytes_sent: count("bytes_sent", |info| info.bytes_sent),
            segs_out: count("segs_out", |info| info.segs_out.into()),
            delivered_ce: count("delivered_ce", |info| info.delivered_ce.into()),
            reord_seen: count("reord_seen", |info| info.reord_seen.into()),
            dsack_dups: count("dsack_dups", |info| info.dsack_dups.into()),
            rcv_ooopack: self.out_of_order[LAST]
                .map(|count| count - self.out_of_order[BEFORE].unwrap_or(0)),
            mss: Some(info.snd_mss).filter(|_| self.established_at.is_some()),
        }
    }
}
