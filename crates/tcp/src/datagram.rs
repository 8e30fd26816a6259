//! Datagram sources for cross-traffic, voice and queueing tests, and their sink.

use crate::voice::Call;
use airpath_core::{
    Bytes, Control, Ctx, Delays, DropReason, Duration, FlowId, Packet, PacketKind, Port, Rate,
    Series, Stage, Stream, Time,
};

/// Distribution of the gaps between datagrams.
#[derive(Clone, Debug)]
pub enum Spacing {
    /// Constant gaps.
    Constant,
    /// Exponential gaps: Poisson arrivals.
    Poisson(Stream),
}

/// Source of datagrams of constant size. Output 0 sends the datagrams.
#[derive(Clone, Debug)]
pub struct DatagramSource {
    flow: FlowId,
    size: Bytes,
    gap: Duration,
    spacing: Spacing,
    stop: Time,
    next: Time,
    number: u64,
    sent: u64,
}

impl DatagramSource {
    /// Creates a source of datagrams of `size` bytes at mean rate `rate`, which sends in the
    /// interval [`start`, `stop`).
    pub fn new(
        flow: FlowId,
        size: Bytes,
        rate: Rate,
        spacing: Spacing,
        start: Time,
        stop: Time,
    ) -> DatagramSource {
        let mut source = DatagramSource::every(flow, size, size / rate, start, stop);
        source.spacing = spacing;
        if matches!(source.spacing, Spacing::Poisson(_)) {
            source.next = start + source.draw_gap();
        }
        source
    }

    /// Creates a source of one datagram of `size` bytes every `gap`, which sends in the interval
    /// [`start`, `stop`).
    pub fn every(
        flow: FlowId,
        size: Bytes,
        gap: Duration,
        start: Time,
        stop: Time,
    ) -> DatagramSource {
        let spacing = Spacing::Constant;
        DatagramSource { flow, size, gap, spacing, stop, next: start, number: 0, sent: 0 }
    }

    /// Returns the number of datagrams sent since the start of the run.
    pub fn sent_in_total(&self) -> u64 {
        self.number
    }

    /// Returns the number of datagrams sent since the start of measurement.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Starts sending now, unless the source is active. Clears a stop time that has passed.
    fn start(&mut self, now: Time) {
        let is_sending = self.number > 0 && now < self.stop;
        if is_sending {
            return;
        }
        self.next = now;
        if matches!(self.spacing, Spacing::Poisson(_)) {
            self.next = now + self.draw_gap();
        }
        if self.stop <= now {
            self.stop = Time::NEVER;
        }
    }

    fn draw_gap(&mut self) -> Duration {
        match &mut self.spacing {
            Spacing::Constant => self.gap,
            Spacing::Poisson(stream) => stream.exponential(self.gap),
        }
    }
}

impl Stage for DatagramSource {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        ctx.drop(*packet, DropReason::Stray);
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        while self.next_wakeup() <= ctx.now {
            ctx.emit(Port(0), Packet::datagram(self.flow, self.number, self.size, ctx.now));
            self.number += 1;
            self.sent += 1;
            self.next = self.next + self.draw_gap();
        }
    }

    fn next_wakeup(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::StartMeasurement => self.sent = 0,
            Control::Start => self.start(ctx.now),
            Control::Stop => self.stop = ctx.now,
            _ => {}
        }
    }

    fn held(&self) -> usize {
        0
    }
}

/// Sink that measures datagrams. Input 0 receives the datagrams.
#[derive(Clone, Debug, Default)]
pub struct DatagramSink {
    since: Time,
    payload_bytes: u64,
    packets: u64,
    ip_bytes: u64,
    delays: Delays,
    call: Option<Box<Call>>,
}

impl DatagramSink {
    /// Creates a sink that plays the datagrams of a voice call.
    pub fn of_call(call: Call) -> DatagramSink {
        DatagramSink { call: Some(Box::new(call)), ..DatagramSink::default() }
    }

    /// Returns the voice call; `None` for other datagrams.
    pub fn call(&self) -> Option<&Call> {
        self.call.as_deref()
    }

    /// Returns the number of datagrams that were both sent and received since the start of
    /// measurement.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the total size of the IP packets that were both sent and received since the start of
    /// measurement, bytes.
    pub fn ip_bytes(&self) -> u64 {
        self.ip_bytes
    }

    /// Returns the payload bytes received since the start of measurement.
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// Returns the one-way delays of the datagrams received since the start of measurement.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }
}

impl Stage for DatagramSink {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if packet.kind != PacketKind::Datagram {
            return ctx.drop(*packet, DropReason::Stray);
        }
        self.payload_bytes += packet.payload_bytes();
        if packet.sent_at() >= self.since {
            self.packets += 1;
            self.ip_bytes += u64::from(packet.size);
        }
        self.delays.add(ctx.now.saturating_since(packet.sent_at()));
        if let Some(call) = &mut self.call {
            call.playout.on_arrival(packet.seq, packet.sent_at(), ctx.now);
        }
        ctx.record(Series::Delivered, packet.flow.0, packet.payload_bytes() as f64);
    }

    fn wake(&mut self, _ctx: &mut Ctx<'_>) {}

    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        if *event == Control::StartMeasurement {
            let mut call = self.call.take();
            if let Some(call) = &mut call {
                call.playout.start_measurement(ctx.now);
            }
            *self = DatagramSink { since: ctx.now, call, ..DatagramSink::default() };
        }
    }

    fn held(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::testing::TestHarness;

    /// Creates a source of one datagram of 1000 bytes every millisecond, from `start` ms on.
    fn source(start: u64) -> DatagramSource {
        let (size, rate) = (Bytes(1000), Rate::from_mbps(8));
        let start = Time::from_millis(start);
        DatagramSource::new(FlowId(0), size, rate, Spacing::Constant, start, Time::NEVER)
    }

    /// Runs the source until `until` ms. Returns the send times, ms.
    fn sent(source: &mut DatagramSource, until: u64) -> Vec<u64> {
        let sent = TestHarness::default().run(source, Time::from_millis(until));
        sent.iter().map(|(at, _, _)| at.as_nanos() / 1_000_000).collect()
    }

    fn control(source: &mut DatagramSource, event: Control, now: u64) {
        source.control(&event, &mut TestHarness::default().at(Time::from_millis(now)));
    }

    #[test]
    fn start_event_starts_a_source_before_its_start_time() {
        let mut source = source(1000);
        control(&mut source, Control::Start, 5);
        assert_eq!(sent(&mut source, 7), [5, 6, 7]);
    }

    #[test]
    fn start_event_restarts_a_stopped_source() {
        let mut source = source(0);
        assert_eq!(sent(&mut source, 1), [0, 1]);
        control(&mut source, Control::Stop, 2);
        assert_eq!(sent(&mut source, 10), [0; 0]);
        control(&mut source, Control::Start, 20);
        assert_eq!(sent(&mut source, 21), [20, 21]);
    }

    #[test]
    fn rate_change_keeps_the_schedule_of_an_active_source() {
        let mut source = source(0);
        assert_eq!(sent(&mut source, 1), [0, 1]);
        control(&mut source, Control::Start, 1);
        assert_eq!(sent(&mut source, 3), [2, 3]);
    }
}
