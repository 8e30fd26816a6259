//! The trait [`Stage`] of the components of a network, and the types that stages and their driver
//! exchange.

use crate::delay_parts::PacketInstant;
use crate::ecn::Ecn;
use crate::error::StageError;
use crate::packet::{Packet, PacketKind, PayloadHandle, UserId};
use crate::probe::{Recorder, Sample, Series};
use crate::units::{Duration, Rate, Time};

/// Stage ID: index of a stage in its network. Events at the same time are handled in ascending
/// order of stage IDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u32);

/// Queue ID: index of a queue in its network, in the order of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u32);

impl QueueId {
    /// No queue.
    pub const NONE: QueueId = QueueId(u32::MAX);
}

/// Index of an input or an output of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

/// A control event that the scenario or the driver sends to a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Start of the run. Every stage receives this event once, before any other event.
    Begin,
    /// End of the warm-up: statistics are reset, behaviour does not change.
    StartMeasurement,
    /// Change of the nominal rate of a link.
    Rate(Rate),
    /// Change of the probability that a link loses a packet, in [0, 1].
    Loss(f64),
    /// Start of an interruption of the direction of a link with this input.
    Interrupt(Port, Interruption),
    /// End of the interruption of the direction of a link with this input.
    Resume(Port),
    /// A source starts to send.
    Start,
    /// A source sends no more new data.
    Stop,
    /// Change of a property of one user of a link. A link that does not distinguish users ignores
    /// this event.
    User(UserId, UserChange),
    /// Any other event: its name and its value.
    Other(String, f64),
}

/// Treatment of the packets of a direction that is interrupted, for example by a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Packets wait until the end. Packets that the link finishes meanwhile leave at the end.
    Keep,
    /// Packets that wait at the start, and packets that arrive before the end, enter the queue
    /// later by the forwarding delay. Packets that arrive after the end wait for them. Packets in
    /// transmission are lost.
    Forward(Duration),
    /// Packets that wait or are in transmission at the start, and packets that arrive before the
    /// end, are lost.
    Lose,
}

/// Change of one user of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum UserChange {
    /// New modulation and coding scheme of a direction.
    Scheme {
        /// True for the reverse direction, the uplink.
        is_reverse: bool,
        /// Name of the scheme.
        name: String,
    },
    /// New offset of the mean SNR from the configured value, dB.
    SnrMoved(f64),
}

/// A component of a network that receives, holds and forwards packets.
///
/// A stage never reads a clock, never calls another stage and never blocks. Examples of stages with
/// several inputs and outputs are duplex links and stages with several queues. If several events
/// have the same time, the driver calls `wake` for due stages before `receive`, and calls the stage
/// with the lower [`StageId`] first.
///
/// No method has a default body that ignores the call. Therefore a wrapper that does not forward a
/// method, for example `control`, does not compile:
///
/// ```compile_fail,E0046
/// # use airpath_core::{Ctx, Packet, Port, Stage, Time};
/// struct Forgetful<S>(S);
///
/// impl<S: Stage> Stage for Forgetful<S> {
///     fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
///         self.0.receive(port, packet, ctx);
///     }
///     fn wake(&mut self, ctx: &mut Ctx<'_>) {
///         self.0.wake(ctx);
///     }
///     fn next_wakeup(&self) -> Time {
///         self.0.next_wakeup()
///     }
///     fn held(&self) -> usize {
///         self.0.held()
///     }
/// }
/// ```
pub trait Stage {
    /// Receives `packet`, which arrives now at input `port`.
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>);

    /// Handles the events that are due at `ctx.now`. Called at or after `next_wakeup`.
    fn wake(&mut self, ctx: &mut Ctx<'_>);

    /// Returns the expiry of the earliest internal timer, or [`Time::NEVER`] without timers. The
    /// run ends with an error if this time is in the past, or after a million consecutive wake-ups
    /// at the same time.
    fn next_wakeup(&self) -> Time;

    /// Calls `wake` and `next_wakeup` with a single dynamic dispatch.
    #[inline]
    fn wake_then_next(&mut self, ctx: &mut Ctx<'_>) -> Time {
        self.wake(ctx);
        self.next_wakeup()
    }

    /// Calls `receive` and `next_wakeup` with a single dynamic dispatch.
    #[inline]
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        self.receive(port, packet, ctx);
        self.next_wakeup()
    }

    /// Reacts to a control event. Ignores events that do not concern this stage.
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>);

    /// Returns the number of packets inside the stage, for conservation checks.
    fn held(&self) -> usize;
}

impl<S: Stage + ?Sized> Stage for Box<S> {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        (**self).receive(port, packet, ctx);
    }
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        (**self).wake(ctx);
    }
    fn next_wakeup(&self) -> Time {
        (**self).next_wakeup()
    }
    fn wake_then_next(&mut self, ctx: &mut Ctx<'_>) -> Time {
        (**self).wake_then_next(ctx)
    }
    fn receive_then_next(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) -> Time {
        (**self).receive_then_next(port, packet, ctx)
    }
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        (**self).control(event, ctx);
    }
    fn held(&self) -> usize {
        (**self).held()
    }
}

/// Reason of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    Overflow = 0,
    /// A queue discipline dropped the packet before the queue was full.
    Early = 1,
    /// The channel corrupted the packet.
    Channel = 2,
    /// A link discarded the packet after the last retransmission.
    Retries = 3,
    /// The connection of the packet does not exist or has been closed.
    Stray = 4,
    /// The link was interrupted.
    Interruption = 5,
}

impl DropReason {
    /// All reasons, in the order of their codes.
    pub const ALL: [DropReason; 6] = [
        DropReason::Overflow,
        DropReason::Early,
        DropReason::Channel,
        DropReason::Retries,
        DropReason::Stray,
        DropReason::Interruption,
    ];

    /// Returns the name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Overflow => "overflow",
            DropReason::Early => "early",
            DropReason::Channel => "channel",
            DropReason::Retries => "retries",
            DropReason::Stray => "stray",
            DropReason::Interruption => "interruption",
        }
    }
}

/// Drops and marks at one stage or queue since the start of measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCount {
    /// Number of dropped packets; the index is the [`DropReason`] code.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Number of packets marked CE.
    pub marked: u64,
}

impl DropCount {
    /// Returns the number of packets that the queue dropped. Packets that the channel corrupted are
    /// not included, because the link loses them.
    pub fn by_queue(&self) -> u64 {
        self.total() - self.dropped[DropReason::Channel as usize]
    }

    /// Returns the number of packets dropped for any reason.
    pub fn total(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// A sent packet that the driver has not yet delivered.
#[derive(Clone, Copy, Debug)]
pub struct Emission {
    /// Output of the sending stage.
    pub output: Output,
    /// The packet.
    pub packet: Packet,
}

/// Index of an output among the outputs of all stages. The order is output 0 of every stage, then
/// output 1 of every stage, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output(pub u32);

impl Output {
    /// Returns output `port` of `stage` in a network of `stages` stages.
    #[inline]
    pub const fn of(stage: StageId, port: Port, stages: u32) -> Output {
        Output(stage.0 + port.0 as u32 * stages)
    }

    /// Returns the stage and the port of this output in a network of `stages` stages.
    #[inline]
    pub const fn place(self, stages: u32) -> (StageId, Port) {
        (StageId(self.0 % stages), Port((self.0 / stages) as u8))
    }
}

/// Value in `counts_of` for a stage without drops and marks.
const NO_COUNTS: u32 = u32::MAX;

/// Resources of a driver that all stages share: drop counters, probes and the first error. Outboxes
/// are not included.
#[derive(Debug, Default)]
pub struct Bus {
    /// Number of stages.
    stages: u32,
    /// Counts of those stages that have at least one drop or mark.
    counts: Vec<DropCount>,
    /// For each stage: index in `counts`, or [`NO_COUNTS`].
    counts_of: Vec<u32>,
    /// Counts for each queue, up to the last queue that has a drop or mark.
    queue_counts: Vec<DropCount>,
    released: Vec<PayloadHandle>,
    /// First error of a stage and its time.
    error: Option<(Time, StageError)>,
    /// Recorder of the probes.
    pub recorder: Recorder,
}

impl Bus {
    /// Creates a bus for `stages` stages.
    pub fn new(stages: usize, recorder: Recorder) -> Bus {
        Bus {
            stages: stages as u32,
            counts_of: vec![NO_COUNTS; stages],
            recorder,
            ..Bus::default()
        }
    }

    /// Returns all drops and marks of `stage`, including those at its queues.
    pub fn counts(&self, stage: StageId) -> DropCount {
        let place = self.counts_of[stage.0 as usize] as usize;
        self.counts.get(place).copied().unwrap_or_default()
    }

    /// Returns the drops and marks at `queue`, including later losses of packets from that queue.
    pub fn queue_counts(&self, queue: QueueId) -> DropCount {
        self.queue_counts.get(queue.0 as usize).copied().unwrap_or_default()
    }

    /// Resets all drop and mark counters at `now`.
    pub fn reset_counts(&mut self, now: Time) {
        self.counts.fill(Default::default());
        self.queue_counts.fill(Default::default());
        self.recorder.restart_counts(now);
    }

    /// Returns the list of handles of real payloads whose packets were dropped. The owner of the
    /// payloads empties this list.
    pub fn released(&mut self) -> &mut Vec<PayloadHandle> {
        &mut self.released
    }

    /// Ends the run because of `error`, which occurred at `now`. Only the first error is kept.
    pub fn fail(&mut self, now: Time, error: StageError) {
        self.error.get_or_insert((now, error));
    }

    /// Returns true if a stage has failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Removes and returns the first error of a stage and its time.
    pub fn take_error(&mut self) -> Option<(Time, StageError)> {
        self.error.take()
    }
}

/// Context that the driver passes to a stage in each call.
#[derive(Debug)]
pub struct Ctx<'a> {
    /// Current time.
    pub now: Time,
    stage: StageId,
    queue: QueueId,
    bus: &'a mut Bus,
    outbox: &'a mut Vec<Emission>,
}

impl<'a> Ctx<'a> {
    /// Creates the context of `stage` at `now`. Sent packets are appended to `outbox`.
    #[inline]
    pub fn new(
        now: Time,
        stage: StageId,
        bus: &'a mut Bus,
        outbox: &'a mut Vec<Emission>,
    ) -> Ctx<'a> {
        Ctx { now, stage, queue: QueueId::NONE, bus, outbox }
    }

    /// Returns a context of the same stage whose sent packets are appended to `outbox`. A stage that
    /// contains another stage passes this context to it, to inspect the packets that it sends.
    pub fn with_outbox<'b>(&'b mut self, outbox: &'b mut Vec<Emission>) -> Ctx<'b> {
        Ctx { now: self.now, stage: self.stage, queue: self.queue, bus: self.bus, outbox }
    }

    /// Returns the port of an output of this stage.
    pub fn port_of(&self, output: Output) -> Port {
        output.place(self.bus.stages).1
    }

    /// Attributes the following drops, marks and recorded values to `queue`, one of the stage's
    /// queues, until [`Ctx::leave_queue`].
    #[inline]
    pub fn enter_queue(&mut self, queue: QueueId) {
        self.queue = queue;
    }

    /// Returns the current queue, or [`QueueId::NONE`].
    #[inline]
    pub fn queue(&self) -> QueueId {
        self.queue
    }

    /// Ends the attribution to a queue.
    #[inline]
    pub fn leave_queue(&mut self) {
        self.queue = QueueId::NONE;
    }

    /// Updates the counts of the stage and of the current queue.
    fn count(&mut self, add: impl Fn(&mut DropCount)) {
        let Bus { counts, counts_of, queue_counts, .. } = &mut *self.bus;
        let place = &mut counts_of[self.stage.0 as usize];
        if *place == NO_COUNTS {
            *place = counts.len() as u32;
            counts.push(DropCount::default());
        }
        add(&mut counts[*place as usize]);
        if self.queue != QueueId::NONE {
            let queue = self.queue.0 as usize;
            if queue_counts.len() <= queue {
                queue_counts.resize(queue + 1, DropCount::default());
            }
            add(&mut queue_counts[queue]);
        }
    }

    /// Sends `packet` from output `port`. The driver delivers the packet at the current time.
    #[inline]
    pub fn emit(&mut self, port: Port, packet: Packet) {
        let output = Output::of(self.stage, port, self.bus.stages);
        self.outbox.push(Emission { output, packet });
    }

    /// Drops `packet` and counts it under `reason`.
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.count(|count| count.dropped[reason as usize] += 1);
        self.record(Series::Drop, packet.flow.0, f64::from(reason as u8));
        if packet.kind == PacketKind::Data {
            self.record(Series::SeqDropped, packet.flow.0, packet.seq as f64);
        }
        self.bus.recorder.count_drop(&packet, self.stage, reason);
        if packet.payload() != PayloadHandle::default() {
            self.bus.released.push(packet.payload());
        }
    }

    /// Returns true if departures of packets from queues are recorded.
    #[inline]
    pub fn records_departures(&self) -> bool {
        self.bus.recorder.records_departures()
    }

    /// Returns true if the instants of packets are recorded. Call this method before an expensive
    /// search for packets.
    #[inline]
    pub fn records_instants(&self) -> bool {
        self.bus.recorder.records_delay_parts()
    }

    /// Records that `packet`, which is in this stage, passes `instant` at `at`, now or later. An
    /// instant that the packet has already passed has no effect. Without recorded parts of delays,
    /// the cost is one comparison.
    #[inline]
    pub fn note_instant(&mut self, packet: &Packet, instant: PacketInstant, at: Time) {
        if self.records_instants() {
            self.bus.recorder.note_instant(packet, self.stage, instant, at);
        }
    }

    /// Marks `packet` Congestion Experienced. The packet must be ECN-capable.
    pub fn mark(&mut self, packet: &mut Packet) {
        debug_assert!(packet.ecn.is_capable(), "only an ECN-capable packet is marked");
        packet.ecn = Ecn::Ce;
        self.count(|count| count.marked += 1);
        self.record(Series::Mark, packet.flow.0, 1.0);
    }

    /// Records a value of a series for the component `id`. If the series is not recorded, the cost
    /// is one comparison.
    #[inline]
    pub fn record(&mut self, series: Series, id: u32, value: f64) {
        if self.bus.recorder.is_recorded(series) {
            self.keep(series, id, value);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, series: Series, id: u32, value: f64) {
        let sample = Sample { time: self.now, id, queue: self.queue, value };
        self.bus.recorder.push(series, sample);
    }

    /// Returns true if a series is recorded. Call this method before an expensive computation of a
    /// value.
    #[inline]
    pub fn records(&self, series: Series) -> bool {
        self.bus.recorder.is_recorded(series)
    }

    /// Ends the run because of `error`. Only the first error is kept.
    pub fn fail(&mut self, error: impl Into<StageError>) {
        self.bus.fail(self.now, error.into());
    }
}
