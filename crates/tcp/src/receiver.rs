//! TCP receiver. Sends ACKs, delays ACKs, advertises the receive window, and measures throughput
//! and delay.
//!
//! Source: RFC 9293 §3.10, RFC 1122 §4.2.3.2 and RFC 5681 §4.2 (delayed ACK), RFC 2018 §3 (size of
//! the SACK option), RFC 7323 §4.3 (echoed timestamp). The echo of congestion marks is in `ecn.rs`.

mod ecn;

use crate::config::{EcnUse, TcpConfig};
use crate::reassembly::{Reassembly, SegmentOrder};
use crate::window::{AckSent, AnyWindow, Arrival, ReceiveWindow, WindowState};
use crate::window_field::WindowField;
use airpath_core::{
    Control, Ctx, Delays, DropReason, Duration, Flags, FlowId, Packet, PacketKind, Port, Series,
    Stage, Time,
};
pub(crate) use ecn::BYTE_COUNTER_RANGE;
use ecn::Echo;

/// Returns the size of a SACK option with `blocks` blocks, including padding, bytes (RFC 2018 §3).
const fn sack_option_bytes(blocks: u16) -> u16 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks }
}

/// Returns the value of the timestamp clock at `now`, µs modulo 2³².
pub(crate) fn timestamp(now: Time) -> u32 {
    (now.as_nanos() / 1000) as u32
}

/// Receiver of one connection. Input 0 receives segments, output 0 sends ACKs.
pub struct Receiver {
    flow: FlowId,
    ack_size: u32,
    /// Current number of in-order segments per ACK; 1 while `quick_acks` is not 0.
    delay_segments: u32,
    /// Number of in-order segments per ACK when `quick_acks` is 0.
    later_delay_segments: u32,
    /// Remaining number of in-order segments that the receiver acknowledges one by one.
    quick_acks: u32,
    delay_timeout: Duration,
    stream: Reassembly,
    window: AnyWindow,
    /// Right edge of the window; never decreases.
    edge: u64,
    unacknowledged: u32,
    ack_deadline: Time,
    /// Time of the next window update.
    update_at: Time,
    mss: u32,
    field: WindowField,
    /// True if data beyond the right edge is rejected.
    is_bounded: bool,
    /// True if the window is constant and no marks are echoed.
    allows_fast_path: bool,
    /// Feedback of the next ACK (`note_feedback`).
    feedback: f32,
    uses_sack: bool,
    timestamps: Option<Timestamps>,
    echo: Echo,
    measured: ReceiverCounters,
}

/// Timestamp echo of the receiver (RFC 7323 §4.3).
#[derive(Clone, Copy, Debug, Default)]
struct Timestamps {
    /// TS.Recent and its update time.
    recent: Option<(u32, Time)>,
    /// Last.ACK.sent: acknowledgement number of the last ACK.
    last_ack_sent: u64,
}

/// Half of the timestamp clock's range. A TS.Recent that is older than this cannot be compared with
/// a new timestamp.
const HALF_A_ROUND: Duration = Duration::from_nanos(1000 << 31);

impl Timestamps {
    /// Handles a segment that starts at `seq` and has TSval `tsval`.
    #[inline]
    fn on_segment(&mut self, seq: u64, tsval: u32, now: Time) {
        let is_old = self.recent.is_some_and(|(recent, since)| {
            let is_valid = now.saturating_since(since) < HALF_A_ROUND; // RFC 7323 §5.5
            is_valid && tsval.wrapping_sub(recent) > u32::MAX / 2
        });
        if seq <= self.last_ack_sent && !is_old {
            self.recent = Some((tsval, now));
        }
    }

    /// Returns TSecr; 0 before the first segment.
    fn echo(&self) -> u32 {
        self.recent.map_or(0, |(recent, _)| recent)
    }
}

/// Counters since the start of measurement.
#[derive(Clone, Debug, Default)]
struct ReceiverCounters {
    since: Time,
    delivered_bytes: u64,
    ip_bytes: u64,
    duplicates: u64,
    delays: Delays,
}

/// Measurements of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReceiverReport {
    /// In-order payload delivered to the application, bytes.
    pub delivered_bytes: u64,
    /// Received data packets, including duplicates.
    pub packets: u64,
    /// Total size of the IP packets that were both sent and received since the start of
    /// measurement, including duplicates, bytes. This is rxBytes of ns-3's FlowMonitor.
    pub ip_bytes: u64,
    /// Packets without new data.
    pub duplicates: u64,
    /// Mean time between sending and arrival of a packet, s.
    pub mean_delay_s: Option<f64>,
    /// In-order payload since the start of the connection, bytes.
    pub stream_bytes: u64,
}

impl Receiver {
    /// Creates the receiver of `flow`.
    pub fn new(flow: FlowId, options: &TcpConfig, window: AnyWindow) -> Receiver {
        let is_bounded = window.is_bounded();
        let is_fixed = matches!(window, AnyWindow::Fixed(_));
        Receiver {
            flow,
            ack_size: options.whole_header(),
            delay_segments: if options.quick_acks > 0 { 1 } else { options.delayed_ack_segments },
            later_delay_segments: options.delayed_ack_segments,
            quick_acks: options.quick_acks,
            delay_timeout: options.delayed_ack_timeout,
            stream: Reassembly::default().with_duplicates(options.dsack),
            // Without a handshake, the sender assumes this right edge.
            edge: if is_bounded && !options.handshake { options.first_edge() } else { 0 },
            window,
            unacknowledged: 0,
            ack_deadline: Time::NEVER,
            update_at: Time::NEVER,
            mss: options.mss,
            field: WindowField::new(options),
            is_bounded,
            allows_fast_path: is_fixed && options.ecn == EcnUse::Off,
            feedback: 0.0,
            uses_sack: options.recovery.uses_sack(),
            timestamps: options.timestamps.then(Timestamps::default),
            echo: Echo::new(options.ecn),
            measured: ReceiverCounters::default(),
        }
    }

    /// Returns the one-way delays of packets.
    pub fn delays(&self) -> &Delays {
        &self.measured.delays
    }

    /// Returns the measurements.
    pub fn report(&self) -> ReceiverReport {
        ReceiverReport {
            delivered_bytes: self.measured.delivered_bytes,
            packets: self.measured.delays.count(),
            ip_bytes: self.measured.ip_bytes,
            duplicates: self.measured.duplicates,
            mean_delay_s: self.measured.delays.mean().secs(),
            stream_bytes: self.stream.next(),
        }
    }

    #[inline(never)]
    fn send_ack(&mut self, flags: Flags, ctx: &mut Ctx<'_>) {
        self.send_ack_inlined(flags, ctx);
    }

    #[inline(always)]
    fn send_ack_inlined(&mut self, flags: Flags, ctx: &mut Ctx<'_>) {
        self.unacknowledged = 0;
        self.ack_deadline = Time::NEVER;
        let next = self.stream.next();
        let right_edge = if self.is_bounded {
            self.window.right_edge(&self.window_state(ctx.now))
        } else {
            self.edge.max(next + self.window.window())
        };
        let window = self.field.advertise(right_edge - next);
        self.edge = self.edge.max(next + u64::from(window));
        let mut ack = Packet::ack(self.flow, next, window, self.ack_size);
        ack.flags = flags.with(self.echo.flags);
        ack.feedback = self.feedback;
        if self.uses_sack && self.stream.has_blocks() {
            if let Some(duplicate) = self.stream.take_duplicate() {
                ack.push_sack(duplicate);
            }
            self.stream.sack_blocks().for_each(|block| ack.push_sack(block));
            ack.size += sack_option_bytes(ack.sack().len() as u16);
        }
        match &mut self.timestamps {
            Some(timestamps) => {
                timestamps.last_ack_sent = next;
                ack.set_ack_sent_at(ctx.now, Some(timestamps.echo()));
            }
            None => ack.set_ack_sent_at(ctx.now, None),
        }
        ctx.record(Series::Awnd, self.flow.0, f64::from(window));
        self.window.on_ack_sent(&AckSent { now: ctx.now, next, window, flags });
        ctx.emit(Port(0), ack);
        if self.is_bounded {
            self.await_opening(ctx.now);
        }
    }

    #[cold]
    fn send_syn_ack(&mut self, syn: &Packet, ctx: &mut Ctx<'_>) {
        let field = self.field;
        self.field = field.of_syn();
        let answer = self.echo.answer(syn);
        self.send_ack(Flags::SYN.with(answer), ctx);
        self.echo.begin();
        self.field = field;
    }

    fn window_state(&self, now: Time) -> WindowState {
        let (next, edge) = (self.stream.next(), self.edge);
        WindowState { now, next, edge, mss: u64::from(self.mss), step: self.field.step() }
    }

    /// Sets `update_at` to the time at which the window will have opened enough for a window
    /// update.
    #[cold]
    fn await_opening(&mut self, now: Time) {
        let due = self.window.next_update(&self.window_state(now));
        self.update_at = if due > now { due } else { Time::NEVER };
    }

    /// Rejects a segment beyond the right edge and sends an ACK (RFC 9293 §3.10.7.4). Such a
    /// segment is larger than the free buffer, or is a probe of a closed window.
    #[cold]
    fn refuse(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.measure(packet, SegmentOrder::Duplicate, 0, ctx);
        self.send_ack(Flags::NONE, ctx);
    }

    /// Updates counters and recorded series for a received packet. Always inlined: without
    /// inlining, the run time grows by 1 %.
    #[inline(always)]
    fn measure(
        &mut self,
        packet: &Packet,
        arrived: SegmentOrder,
        new_bytes: u64,
        ctx: &mut Ctx<'_>,
    ) {
        let measured = &mut self.measured;
        if packet.sent_at() >= measured.since {
            measured.ip_bytes += u64::from(packet.size);
        }
        measured.delays.add(ctx.now.saturating_since(packet.sent_at()));
        measured.duplicates += u64::from(arrived == SegmentOrder::Duplicate);
        ctx.record(Series::SeqReceived, self.flow.0, packet.seq as f64);
        if new_bytes > 0 {
            measured.delivered_bytes += new_bytes;
            ctx.record(Series::Delivered, self.flow.0, new_bytes as f64);
        }
    }

    #[cold]
    fn count_quick_ack(&mut self) {
        self.quick_acks -= 1;
        if self.quick_acks == 0 {
            self.delay_segments = self.later_delay_segments;
        }
    }

    /// Sends an ACK immediately for an out-of-order segment or a filled hole, otherwise after
    /// `delay_segments` segments or the delayed-ACK timeout (RFC 5681 §4.2).
    fn acknowledge(&mut self, arrived: SegmentOrder, ctx: &mut Ctx<'_>) {
        if arrived == SegmentOrder::InOrder {
            self.acknowledge_in_order(ctx);
        } else {
            self.send_ack(Flags::NONE, ctx);
        }
    }

    #[inline(always)]
    fn acknowledge_in_order(&mut self, ctx: &mut Ctx<'_>) {
        self.unacknowledged += 1;
        if self.unacknowledged >= self.delay_segments {
            if self.quick_acks > 0 {
                self.count_quick_ack();
            }
            self.send_ack_inlined(Flags::NONE, ctx);
        } else if self.ack_deadline.is_never() {
            self.ack_deadline = ctx.now + self.delay_timeout;
        }
    }
}

impl Receiver {
    /// Returns true if `packet` is the next expected segment and requires only delivery and an ACK:
    /// header prediction at the receiver (`sender/fast_path.rs`).
    #[inline(always)]
    fn is_fast_path(&self, packet: &Packet) -> bool {
        let is_special = packet.flags.intersects(Flags::SYN.with(Flags::PSH));
        let is_segment = packet.kind == PacketKind::Data && !is_special;
        self.allows_fast_path && is_segment && self.stream.expects(packet.seq)
    }

    #[inline(always)]
    fn on_fast_path_segment(&mut self, segment: &Packet, ctx: &mut Ctx<'_>) {
        if let Some(timestamps) = &mut self.timestamps {
            timestamps.on_segment(segment.seq, segment.tsval, ctx.now);
        }
        self.stream.extend(segment.end());
        self.measure(segment, SegmentOrder::InOrder, segment.payload_bytes(), ctx);
        self.feedback = segment.feedback;
        self.acknowledge_in_order(ctx);
    }

    #[inline(never)]
    fn on_other_packet(&mut self, packet: &Packet, ctx: &mut Ctx<'_>) {
        if packet.kind != PacketKind::Data {
            return ctx.drop(*packet, DropReason::Stray);
        }
        if let Some(timestamps) = &mut self.timestamps {
            timestamps.on_segment(packet.seq, packet.tsval, ctx.now);
        }
        if packet.flags.contains(Flags::SYN) {
            self.note_load(packet);
            // After the first data, a SYN is an old duplicate (RFC 9293 §3.10.7.4).
            let is_old = self.stream.next() > 0;
            return if is_old {
                self.send_ack(Flags::NONE, ctx)
            } else {
                self.send_syn_ack(packet, ctx)
            };
        }
        if packet.end() > self.edge && self.is_bounded {
            return self.refuse(packet, ctx);
        }
        if self.echo.kind.is_negotiated() {
            self.note_mark(packet, ctx);
        }
        let before = self.stream.next();
        let arrived = self.stream.insert(packet.seq, packet.end());
        self.measure(packet, arrived, self.stream.next() - before, ctx);
        self.note_feedback(packet);
        let outcome = self.window.on_arrival(&Arrival {
            now: ctx.now,
            bytes: u64::from(packet.size),
            feedback: packet.feedback,
            in_order: matches!(arrived, SegmentOrder::InOrder | SegmentOrder::FilledHole),
            duplicate: arrived == SegmentOrder::Duplicate,
            delivered: self.stream.next() - before,
        });
        match outcome {
            Ok(()) => {
                self.acknowledge(arrived, ctx);
                if packet.flags.contains(Flags::PSH) && self.unacknowledged > 0 {
                    self.send_ack(Flags::NONE, ctx);
                }
            }
            Err(error) => ctx.fail(error),
        }
    }
}

impl Stage for Receiver {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.is_fast_path(packet) {
            self.on_fast_path_segment(packet, ctx);
        } else {
            self.on_other_packet(packet, ctx);
        }
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.ack_deadline <= ctx.now || self.unacknowledged > 0 && self.update_at <= ctx.now {
            self.send_ack(Flags::NONE, ctx);
        } else if self.update_at <= ctx.now {
            self.send_ack(Flags::WINDOW_UPDATE, ctx);
        }
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.ack_deadline.min(self.update_at)
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        if *event == Control::StartMeasurement {
            self.measured = ReceiverCounters { since: ctx.now, ..ReceiverCounters::default() };
        }
    }

    fn held(&self) -> usize {
        0
    }
}
