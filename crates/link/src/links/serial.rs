//! [`SerialLink`]: link that sends the packets of its queue one after another.
//!
//! Each kind of serial link has its own [`Transmitter`], which defines the end and the loss
//! probability of a transmission. A rate change does not affect a transmission that is in progress.
//! HARQ and ARQ are in `serial/retransmission.rs`.

mod retransmission;

use crate::context::LinkContext;
use crate::link::{Link, SideReport};
use crate::links::frame_errors::FrameErrors;
use crate::links::meter::Meter;
use crate::retransmission::stage::RetransmissionStage;
use airpath_aqm::Queue;
use airpath_core::{
    Bytes, ConfigError, Control, Ctx, DropReason, Framing, LinkRate, Packet, Port, Rate, Seed,
    Series, Stage, StageError, Time,
};
use airpath_phy::errors::{AnyErrors, Frame};
use std::borrow::Cow;

/// One transmission. All its values are determined at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission {
    /// Time at which the last bit has been sent; [`Time::NEVER`] at rate zero.
    pub ends: Time,
    /// Used link capacity: the size of the frame including the padding of its last block.
    pub bytes: Bytes,
    /// Probability that the packet is corrupted. It is 0 or 1 if the transmitter itself has
    /// determined the outcome because its next state depends on it.
    pub loss: f64,
    /// Regime of the transmission, from 0.
    pub regime: usize,
    /// Index of the modulation and coding scheme in the link's table. `None` for a link without a
    /// table.
    pub mcs: Option<usize>,
}

/// Rate and loss model of a serial link.
pub trait Transmitter {
    /// True if the transmitter has a loss probability that [`set_loss`](Transmitter::set_loss)
    /// changes.
    const HAS_LOSS: bool = false;

    /// Starts a transmission of `frame` bytes at `now`. `waiting` is the number of packets that
    /// remain in the queue.
    fn begin(&mut self, frame: Bytes, waiting: usize, now: Time) -> Transmission;

    /// Returns an error that has occurred since the last call. The error ends the run. Called at the
    /// start of the run and after each call of `begin`.
    fn take_error(&mut self) -> Option<StageError> {
        None
    }

    /// Returns the nominal rate of the link.
    fn nominal_rate(&self) -> Rate;

    /// Sets the nominal rate for all transmissions that start later. A varying rate is scaled in
    /// proportion ([`Scale`](crate::Scale)).
    fn set_rate(&mut self, rate: Rate);

    /// Sets the loss probability of all transmissions that start later. Called only if `HAS_LOSS`
    /// is true.
    fn set_loss(&mut self, _loss: f64) {}

    /// Returns the framing at the nominal rate: the configured framing `given`, which the
    /// transmitter may modify.
    fn framing(&self, given: Framing) -> Framing {
        given
    }

    /// Returns the number of regimes.
    fn regimes(&self) -> usize {
        1
    }

    /// Resets the counters of the transmitter.
    fn restart_measurement(&mut self) {}

    /// Returns the counters that are specific to this kind of transmitter, as pairs of name and
    /// value.
    fn counters(&self) -> Vec<(Cow<'static, str>, f64)> {
        Vec::new()
    }
}

/// Transmission that is in progress or waits for a rate above zero.
#[derive(Clone, Copy, Debug)]
struct Service {
    /// True if a transmission is in progress or waits for a rate above zero.
    is_busy: bool,
    began: Time,
    /// Transmission; undefined if `is_busy` is false.
    transmission: Transmission,
}

impl Service {
    const NONE: Service = Service {
        is_busy: false,
        began: Time::ZERO,
        transmission: Transmission {
            ends: Time::NEVER,
            bytes: Bytes::ZERO,
            loss: 0.0,
            regime: 0,
            mcs: None,
        },
    };

    /// Returns true if a transmission is in progress at a rate above zero.
    fn is_sending(&self) -> bool {
        self.is_busy && !self.transmission.ends.is_never()
    }
}

/// A queue and a transmitter. Packets enter at input 0 and leave through the configured output.
pub struct SerialLink<T> {
    transmitter: T,
    queue: Queue,
    output: Port,
    id: u32,
    /// Framing at the nominal rate.
    framing: Framing,
    air: FrameErrors,
    service: Service,
    /// Packet in transmission. Valid only if `service.is_busy` is true.
    packet: Packet,
    regime: usize,
    mcs: Option<usize>,
    meter: Meter,
    /// HARQ and ARQ; `None` if both are disabled.
    retransmission: Option<Box<RetransmissionStage>>,
    /// Time of the next event: the end of the transmission, or an event of HARQ or ARQ if that is
    /// earlier.
    due: Time,
}

impl<T: Transmitter> SerialLink<T> {
    /// Creates a link that sends with `transmitter` and frames packets with `framing`. `errors`
    /// corrupts packets in addition to the loss of the transmitter.
    ///
    /// # Errors
    /// If the queue cannot be created.
    pub fn new(
        transmitter: T,
        framing: Framing,
        errors: Option<AnyErrors>,
        context: LinkContext,
        seed: &Seed,
    ) -> Result<SerialLink<T>, ConfigError> {
        let meter = Meter::new(transmitter.regimes());
        Ok(SerialLink {
            transmitter,
            queue: context.forward.only_queue()?,
            output: context.forward.output,
            id: context.id,
            framing,
            air: FrameErrors::new(errors, seed),
            service: Service::NONE,
            packet: Packet::default(),
            regime: 0,
            mcs: None,
            meter,
            retransmission: None,
            due: Time::NEVER,
        })
    }

    /// Adds HARQ and ARQ to the link.
    pub(crate) fn with_retransmission(
        self,
        retransmission: Option<Box<RetransmissionStage>>,
    ) -> SerialLink<T> {
        SerialLink { retransmission, ..self }
    }

    #[inline(always)]
    fn start_next(&mut self, ctx: &mut Ctx<'_>) {
        if !self.queue.dequeue_into(&mut self.packet, ctx) {
            return;
        }
        let frame = self.framing.on_air(self.packet.bytes());
        // A queue with a packet to dequeue is open.
        let transmission = self.transmitter.begin(frame, self.queue.waiting(), ctx.now);
        self.pass_on_failure(ctx);
        self.note_regime(transmission.regime, ctx);
        self.note_mcs(transmission.mcs, ctx);
        self.service = Service { is_busy: true, began: ctx.now, transmission };
        self.due = transmission.ends;
    }

    /// Ends the run if the transmitter has failed.
    #[inline]
    fn pass_on_failure(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(error) = self.transmitter.take_error() {
            ctx.fail(error);
        }
    }

    /// Starts a transmission after an idle time. Not inlined, because a busy link does not call it.
    #[inline(never)]
    fn start_again(&mut self, ctx: &mut Ctx<'_>) {
        if self.retransmission.is_some() {
            return self.start_with_retransmission(ctx);
        }
        self.start_next(ctx);
    }

    #[inline]
    fn note_regime(&mut self, regime: usize, ctx: &mut Ctx<'_>) {
        self.meter.begin(regime);
        if regime != self.regime {
            self.regime = regime;
            ctx.record(Series::Regime, self.id, regime as f64);
        }
    }

    #[inline]
    fn note_mcs(&mut self, mcs: Option<usize>, ctx: &mut Ctx<'_>) {
        if mcs != self.mcs {
            self.mcs = mcs;
            if let Some(number) = mcs {
                ctx.record(Series::Mcs, self.id, number as f64);
            }
        }
    }

    /// Ends the transmission and notifies the queue discipline.
    #[inline]
    fn end_transmission(&mut self, ctx: &mut Ctx<'_>) -> Frame {
        let Service { began, transmission, .. } = self.service;
        let Transmission { ends: ended, bytes, mcs, .. } = transmission;
        self.service.is_busy = false;
        self.due = Time::NEVER;
        self.meter.add_busy(began, ctx.now);
        self.queue.on_served(&mut self.packet, ctx);
        Frame { began, ended, bytes, mcs }
    }

    #[inline]
    fn finish(&mut self, ctx: &mut Ctx<'_>) {
        let loss = self.service.transmission.loss;
        let frame = self.end_transmission(ctx);
        if self.air.corrupts(loss, || frame) {
            self.meter.lose();
            self.queue.lose(self.packet, DropReason::Channel, ctx);
        } else {
            self.meter.deliver(&self.packet);
            ctx.emit(self.output, self.packet);
        }
    }

    /// Notifies the queue discipline of the nominal rate and of the framing at this rate.
    fn notify_rate(&mut self, ctx: &mut Ctx<'_>) {
        let nominal = self.transmitter.nominal_rate();
        let framing = self.transmitter.framing(self.framing);
        self.queue.on_rate(LinkRate { nominal, framing }, ctx);
    }

    fn change_rate(&mut self, rate: Rate, ctx: &mut Ctx<'_>) {
        self.transmitter.set_rate(rate);
        self.notify_rate(ctx);
        let waiting = self.queue.packets();
        if self.service.is_busy && self.service.transmission.ends.is_never() {
            let frame = self.framing.on_air(self.packet.bytes());
            let transmission = self.transmitter.begin(frame, waiting, ctx.now);
            self.pass_on_failure(ctx);
            self.service = Service { is_busy: true, began: ctx.now, transmission };
            self.due = self.due.min(transmission.ends);
        }
    }
}

impl<T: Transmitter> Stage for SerialLink<T> {
    #[inline]
    fn receive(&mut self, _port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        self.queue.enqueue(packet, ctx);
        if !self.service.is_busy {
            self.start_again(ctx);
        }
    }

    #[inline]
    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        if self.retransmission.is_some() {
            return self.wake_with_retransmission(ctx);
        }
        self.queue.wake_if_due(ctx);
        if self.due <= ctx.now {
            self.finish(ctx);
        }
        if !self.service.is_busy {
            self.start_next(ctx);
        }
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.due.min(self.queue.next_wakeup())
    }

    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        match event {
            Control::Begin => {
                self.pass_on_failure(ctx);
                self.notify_rate(ctx);
            }
            Control::StartMeasurement => {
                self.meter.restart(ctx.now);
                self.transmitter.restart_measurement();
                if let Some(retransmission) = &mut self.retransmission {
                    retransmission.restart_measurement();
                }
                self.queue.restart_measurement(ctx.now);
            }
            Control::Rate(rate) => self.change_rate(*rate, ctx),
            Control::Loss(loss) => self.transmitter.set_loss(*loss),
            _ => {}
        }
    }

    fn held(&self) -> usize {
        let in_loops =
            self.retransmission.as_ref().map_or(0, |retransmission| retransmission.held());
        self.queue.waiting() + usize::from(self.service.is_busy) + in_loops
    }
}

impl<T: Transmitter> Link for SerialLink<T> {
    fn has_loss() -> bool {
        T::HAS_LOSS
    }

    fn visit_queues(&mut self, _port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        visit(&mut self.queue);
    }

    fn on_queues_changed(&mut self, _port: Port, ctx: &mut Ctx<'_>) {
        if !self.service.is_busy {
            self.start_again(ctx);
        }
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        let is_sending = self.service.is_sending();
        let mut counters = self.transmitter.counters();
        counters.extend(
            self.retransmission.iter().flat_map(|retransmission| retransmission.counters()),
        );
        let link = self
            .meter
            .report_of_time(now, is_sending.then_some(self.service.began))
            .with_counters(counters);
        vec![SideReport::of(vec![self.queue.report(now)], link)]
    }
}
