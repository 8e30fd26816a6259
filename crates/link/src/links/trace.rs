//! Link that sends bytes at the recorded delivery opportunities of a trace.
//!
//! Source: Mahimahi's LinkQueue. Each opportunity carries up to 1504 bytes of one or several
//! packets. A packet that does not fit continues at the next opportunity; unused bytes of an
//! opportunity are lost. A packet that arrives at the time of an opportunity cannot use it. The
//! trace is repeated; its period is its last timestamp. The overhead of `framing` is 4 bytes in
//! Mahimahi (the TUN header), so that a 1500-byte packet takes a complete opportunity.
//!
//! The nominal rate is the mean of the trace. If the scenario sets another rate, every opportunity
//! carries proportionally more or fewer bytes at the same time. `offset` is the position in the
//! trace at which the run starts.

use crate::context::{LinkContext, check_errors};
use crate::link::{Link, SideReport};
use crate::links::frame_errors::FrameErrors;
use crate::links::framing::FramingConfig;
use crate::links::meter::Meter;
use crate::links::offset::{Offset, OffsetSpec};
use crate::links::opportunity::OpportunitySize;
use airpath_aqm::Queue;
use airpath_core::{
    Checks, Component, ConfigError, Control, Ctx, DropReason, Duration, Framing, LinkRate, Packet,
    Port, Rate, Setup, Stage, Time,
};
use airpath_phy::errors::Frame;
use airpath_trace::{OPPORTUNITY_BYTES, OpportunityTrace, Trace};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Key of the trace among the files of the scenario.
    pub trace: String,
    /// Probability that a packet is lost, in [0, 1].
    #[serde(default)]
    pub loss: f64,
    /// Framing: determines the size of a packet on the air. A number in the configuration sets only
    /// the overhead, bytes.
    #[serde(default)]
    pub framing: FramingConfig,
    /// Error process in addition to `loss`: `{"kind": …}`. `None`: no error process.
    #[serde(default)]
    pub errors: Option<Value>,
    /// Position in the trace at which the run starts. `None`: the start of the trace.
    #[serde(default)]
    pub offset: Option<OffsetSpec>,
}

/// Link that sends packets of its queue at the opportunities of a trace. Packets enter at input 0.
pub struct TraceLink {
    schedule: Schedule,
    size: OpportunitySize,
    nominal: Rate,
    queue: Queue,
    output: Port,
    framing: Framing,
    loss: f64,
    air: FrameErrors,
    in_transit: Option<InTransit>,
    /// Number of the next opportunity, counted from the start of the run over all repetitions of
    /// the trace.
    next: u64,
    offered: OfferedBytes,
    /// Meter of the used capacity, in bytes of opportunities.
    meter: Meter,
}

/// Packet whose transmission has started but is not complete.
#[derive(Clone, Copy, Debug)]
struct InTransit {
    packet: Packet,
    /// Remaining bytes of the packet.
    to_go: u64,
    /// Time of the opportunity that carried the first byte of the packet.
    began: Time,
}

/// Bytes offered since the start of measurement.
#[derive(Clone, Copy, Debug, Default)]
struct OfferedBytes {
    /// Number of the first opportunity with the current size since the start of measurement.
    first: u64,
    /// Bytes offered from the start of measurement to the opportunity `first`.
    bytes: u128,
}

/// Infinite sequence of the opportunities of the repeated trace, starting at the offset.
struct Schedule {
    trace: Arc<Trace>,
    offset: Offset,
    /// Number of opportunities in the first period before the offset.
    skipped: u64,
}

impl Schedule {
    fn new(trace: Arc<Trace>, offset: Offset) -> Schedule {
        let mut schedule = Schedule { trace, offset: Offset::default(), skipped: 0 };
        schedule.skipped = schedule.count_before(Time::from_nanos(offset.nanos));
        Schedule { offset, ..schedule }
    }

    fn opportunities(&self) -> &OpportunityTrace {
        match &*self.trace {
            Trace::Opportunities(trace) => trace,
            Trace::Rate(_) => unreachable!("build accepts opportunity traces only"),
        }
    }

    /// Returns the time of opportunity number `number`.
    #[inline]
    fn time_of(&self, number: u64) -> Time {
        let trace = self.opportunities();
        let count = trace.times_ms().len() as u64;
        let number = number + self.skipped;
        let (cycle, index) = (number / count, number % count);
        let in_trace =
            Time::from_millis(cycle * trace.period_ms() + trace.times_ms()[index as usize]);
        Time::from_nanos(in_trace.as_nanos() - self.offset.nanos)
    }

    /// Mean rate of the trace.
    fn mean_rate(&self) -> Rate {
        let trace = self.opportunities();
        Rate((trace.bits() / trace.period_ns() as f64 * 1e9) as u64)
    }

    /// Number of opportunities before `now`.
    fn count_before(&self, now: Time) -> u64 {
        match now.as_nanos() {
            0 => 0,
            nanos => self.count_until(Time::from_nanos(nanos - 1)),
        }
    }

    /// Number of opportunities up to and including `now`.
    fn count_until(&self, now: Time) -> u64 {
        let trace = self.opportunities();
        let period = trace.period_ns();
        let in_trace = now.as_nanos() + self.offset.nanos;
        let (cycles, rest) = (in_trace / period, in_trace % period);
        let rest_ms = rest / Time::from_millis(1).as_nanos();
        let in_cycle = trace.times_ms().partition_point(|time_ms| *time_ms <= rest_ms);
        cycles * trace.times_ms().len() as u64 + in_cycle as u64 - self.skipped
    }
}

impl TraceLink {
    fn is_idle(&self) -> bool {
        self.in_transit.is_none() && self.queue.is_empty()
    }

    /// Returns the number of the next opportunity that requires a wake-up. Without a packet in
    /// transit, this is the first opportunity that carries at least one byte. With a packet in
    /// transit, it is the opportunity that completes the packet; if more bytes remain than one
    /// recorded opportunity carries, it is the opportunity that completes this number of bytes.
    #[inline]
    fn due(&self) -> Option<u64> {
        if self.is_idle() {
            return None;
        }
        let wanted =
            self.in_transit.as_ref().map_or(1, |sending| sending.to_go.min(OPPORTUNITY_BYTES));
        self.size.reaching(self.next, wanted)
    }

    /// Sends `bytes` bytes of packets (LinkQueue::rationalize). `bytes` is the capacity of one
    /// opportunity, or of several opportunities for a packet in transit.
    fn use_bytes(&mut self, bytes: u64, ctx: &mut Ctx<'_>) {
        let mut left = bytes;
        while left > 0 {
            let Some(sending) = self.in_transit.take().or_else(|| self.take_next(ctx)) else {
                break;
            };
            let sent = sending.to_go.min(left);
            left -= sent;
            if sent < sending.to_go {
                self.in_transit = Some(InTransit { to_go: sending.to_go - sent, ..sending });
            } else {
                self.deliver(sending.packet, sending.began, ctx);
            }
        }
        self.meter.add_used(bytes - left);
    }

    /// Returns the number of bytes of the packet in transit that the opportunities before number
    /// `until` have carried without a wake-up of the link.
    fn given_meanwhile(&self, until: u64) -> u64 {
        // The value is less than the remaining bytes, so the conversion cannot overflow.
        self.in_transit.map_or(0, |_| self.size.between(self.next, until) as u64)
    }

    /// Updates the packet in transit to the current time.
    fn settle(&mut self, now: Time) {
        let until = self.next_unused(now);
        let given = self.given_meanwhile(until);
        if let Some(sending) = &mut self.in_transit {
            sending.to_go -= given;
        }
        self.meter.add_used(given);
        self.next = until;
    }

    /// Scales the next and all later opportunities so that the mean rate is `rate`. If `rate`
    /// equals the mean rate of the trace, rounded to integer bit/s, the recorded sizes are used.
    fn change_rate(&mut self, rate: Rate, ctx: &mut Ctx<'_>) {
        self.settle(ctx.now);
        self.offered.bytes += self.size.between(self.offered.first, self.next);
        self.offered.first = self.next;
        self.size = if rate.0 > 0 && rate == self.schedule.mean_rate() {
            OpportunitySize::recorded()
        } else {
            OpportunitySize::at(rate, self.schedule.opportunities())
        };
        self.nominal = rate;
        self.notify_rate(ctx);
    }

    /// Notifies the queue discipline of the nominal rate.
    fn notify_rate(&mut self, ctx: &mut Ctx<'_>) {
        self.queue.on_rate(LinkRate { nominal: self.nominal, framing: self.framing }, ctx);
    }

    fn take_next(&mut self, ctx: &mut Ctx<'_>) -> Option<InTransit> {
        let packet = self.queue.dequeue(ctx)?;
        let to_go = self.framing.on_air(packet.bytes()).0;
        Some(InTransit { packet, to_go, began: ctx.now })
    }

    /// Delivers or loses a packet whose transmission started at the opportunity at `began` and ends
    /// at the current opportunity.
    fn deliver(&mut self, mut packet: Packet, began: Time, ctx: &mut Ctx<'_>) {
        self.queue.on_served(&mut packet, ctx);
        let ended = ctx.now + Duration::from_nanos(1);
        let bytes = self.framing.on_air(packet.bytes());
        if self.air.corrupts(self.loss, || Frame { began, ended, bytes, mcs: None }) {
            self.meter.lose();
            return self.queue.lose(packet, DropReason::Channel, ctx);
        }
        self.meter.deliver(&packet);
        ctx.emit(self.output, packet);
    }

    /// Returns the number of the first opportunity that has been neither used nor missed at `now`.
    /// An opportunity at `now` is skipped only if it has been used.
    fn next_unused(&self, now: Time) -> u64 {
        self.next.max(self.schedule.count_before(now))
    }
}

impl Component<dyn Link + Send, LinkContext> for TraceLink {
    type Config = TraceConfig;

    fn check(config: &TraceConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("loss", config.loss, 0.0..=1.0);
        config.framing.check(&mut checks);
        check_errors("errors", config.errors.as_ref(), &mut checks);
        if let Some(offset) = config.offset {
            offset.check_grid(&mut checks);
        }
        checks.finish()
    }

    fn build(
        config: TraceConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let framing = config.framing.framing()?;
        let errors = setup.extra.errors(config.errors.as_ref(), &setup.seed)?;
        let Some(trace) = setup.extra.files.traces.get(&config.trace) else {
            return Err(ConfigError::new("trace", config.trace, "not among the given traces"));
        };
        let Trace::Opportunities(opportunities) = &**trace else {
            let problem = "a rate trace. Use a link of kind rate-trace, or convert the trace";
            return Err(ConfigError::new("trace", config.trace, problem));
        };
        let period = Duration::from_nanos(opportunities.period_ns());
        let offset = Offset::of(config.offset, period, &setup.seed);
        let schedule = Schedule::new(Arc::clone(trace), offset);
        Ok(TraceLink {
            size: OpportunitySize::recorded(),
            nominal: schedule.mean_rate(),
            schedule,
            queue: setup.extra.forward.only_queue()?,
            output: setup.extra.forward.output,
            framing,
            loss: config.loss,
            air: FrameErrors::new(errors, &setup.seed),
            in_transit: None,
            next: 0,
            offered: OfferedBytes::default(),
            meter: Meter::default(),
        })
    }
}

impl Stage for TraceLink {
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        if self.is_idle() {
            self.next = self.schedule.count_until(ctx.now);
        }
        self.queue.enqueue(packet, ctx);
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        self.queue.wake_if_due(ctx);
        while let Some(due) = self.due()
            && self.schedule.time_of(due) <= ctx.now
        {
            let bytes = self.size.between(self.next, due + 1);
            self.next = due + 1;
            self.use_bytes(u64::try_from(bytes).unwrap_or(u64::MAX), ctx);
        }
    }

    fn next_wakeup(&self) -> Time {
        let service = self.due().map_or(Time::NEVER, |number| self.schedule.time_of(number));
        service.min(self.queue.next_wakeup())
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::Begin => self.notify_rate(ctx),
            Control::StartMeasurement => {
                self.settle(ctx.now);
                self.offered = OfferedBytes { first: self.next, bytes: 0 };
                self.meter.restart(ctx.now);
                self.queue.restart_measurement(ctx.now);
            }
            Control::Rate(rate) => self.change_rate(*rate, ctx),
            Control::Loss(loss) => self.loss = *loss,
            _ => {}
        }
    }

    fn held(&self) -> usize {
        self.queue.waiting() + usize::from(self.in_transit.is_some())
    }
}

impl Link for TraceLink {
    fn has_loss() -> bool {
        true
    }

    fn visit_queues(&mut self, _port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        visit(&mut self.queue);
    }

    fn on_queues_changed(&mut self, _port: Port, ctx: &mut Ctx<'_>) {
        if self.in_transit.is_none() {
            self.next = self.schedule.count_until(ctx.now);
        }
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        let unused = self.next_unused(now);
        let offered = self.offered.bytes + self.size.between(self.offered.first, unused);
        let used = self.meter.used() + self.given_meanwhile(unused);
        let link = self
            .meter
            .report(used as f64 / offered.max(1) as f64, offered as f64)
            .with_counters(self.schedule.offset.counters());
        vec![SideReport::of(vec![self.queue.report(now)], link)]
    }
}
