//! 3G radio bearer: RLC in acknowledged mode, with both directions in one stage.
//!
//! Sources: 3GPP TS 25.322; parameters and their values from Alcaraz & Cerdán 2006, Table 1. Each
//! packet is one SDU. A packet leaves the queue when its first PDU is sent. It counts as held by
//! the link until all its PDUs are acknowledged. It is delivered when all PDUs up to its last PDU
//! have arrived. All PDUs of a TTI are received or lost together. A TTI first carries control PDUs
//! (each occupies one PDU), then retransmissions of PDUs that were reported missing, then new PDUs.
//!
//! Not modelled: piggybacked status, local suspend, ciphering, the limits MaxRST and MaxMRW, and
//! the segmentation of a status report into several PDUs. During a reset neither peer sends data,
//! from the RESET PDU to the arrival of its acknowledgement.
//!
//! | file | contents |
//! | --- | --- |
//! | `settings.rs` | configuration |
//! | `clock.rs` | start times of TTIs, and the number of PDUs in each TTI |
//! | `sdus.rs` | SDUs: segmentation, concatenation, in-order delivery, buffer |
//! | `sender.rs` | sender: window, retransmissions, polls, discard |
//! | `receiver.rs` | receiver: missing PDUs, status reports |
//! | `direction.rs` | one direction: sender, radio channel, receiver |
//! | `sequence.rs`, `pdu_set.rs` | 12-bit sequence numbers; sets of PDUs in a window |

mod clock;
mod direction;
mod pdu_set;
mod receiver;
mod sdus;
mod sender;
mod sequence;
mod settings;
#[cfg(test)]
mod tests;

pub use settings::{OnMaxDat, PollStop, RlcConfig, WindowPoll};

use crate::context::{DirectionContext, LinkContext};
use crate::link::{Link, LinkReport, SideReport, Sides};
use airpath_aqm::Queue;
use airpath_core::{
    Component, ConfigError, Control, Ctx, Duration, Packet, Port, Rate, Setup, Stage, Time,
};
use clock::Clock;
use direction::{Direction, Frame};
use receiver::{Receiver, ReceiverRules, StatusReport};
use sdus::Sdus;
use sender::Sender;

/// A reset in progress.
#[derive(Clone, Copy, Debug)]
struct Reset {
    /// Direction whose sender started the reset.
    by: usize,
    /// Time of the next transmission of the RESET PDU.
    send_at: Time,
    /// True if the peer must send a RESET ACK PDU.
    is_ack_due: bool,
}

/// RLC link: two acknowledged-mode entities and the radio channel between them. Input and output 0
/// belong to the forward direction (downlink), input and output 1 to the reverse direction.
pub struct RlcAm {
    directions: [Direction; 2],
    /// Outputs of the directions; a single direction uses the configured output.
    outputs: [Port; 2],
    reverse_follows: bool,
    /// Time from the start of a TTI to the arrival of its PDUs, by direction.
    latency: [Duration; 2],
    reset_timer: Duration,
    reset: Option<Reset>,
    resets: u64,
    /// Store of the status reports on the air. `free_reports` contains the unused indices of the
    /// store.
    reports: Vec<StatusReport>,
    free_reports: Vec<u32>,
    /// Time of the earliest event of both directions.
    wakeup: Time,
}

impl Component<dyn Link + Send, LinkContext> for RlcAm {
    type Config = RlcConfig;

    fn check(config: &RlcConfig) -> Result<(), ConfigError> {
        config.check()
    }

    fn build(
        config: RlcConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let Setup { seed, extra: context, .. } = setup;
        let rules = config.rules();
        let receiver_rules = ReceiverRules {
            window: config.window,
            status_prohibit: Duration::from_nanos(config.status_prohibit_ns),
            missing_pdu_indicator: config.missing_pdu_indicator,
        };
        let reverse_errors = config.reverse_errors.as_ref().or(config.errors.as_ref());
        let errors = [
            context.errors(config.errors.as_ref(), &seed.child("forward"))?,
            context.errors(reverse_errors, &seed.child("reverse"))?,
        ];
        let rates = [config.rate_bps, config.reverse_rate_bps.unwrap_or(config.rate_bps)];
        let tti = Duration::from_nanos(config.tti_ns);
        let queue = context.forward.only_queue()?;
        let reverse_queue =
            context.reverse.as_ref().map(DirectionContext::only_queue).transpose()?;
        let mut queues = [Some(queue), reverse_queue].into_iter();
        let mut errors = errors.into_iter();
        let directions = rates.map(|rate_bps| {
            Direction::new(
                queues.next().flatten(),
                Sdus::new(config.pdu_payload, config.concatenation),
                Sender::new(rules),
                Receiver::new(receiver_rules),
                Clock::new(tti, Rate(rate_bps), config.pdu_payload),
                errors.next().flatten(),
            )
        });
        Ok(RlcAm {
            directions,
            outputs: [context.forward.output, Port(1 - context.forward.output.0)],
            reverse_follows: config.reverse_rate_bps.is_none(),
            latency: [config.latency_ns, config.reverse_latency()].map(Duration::from_nanos),
            reset_timer: Duration::from_nanos(config.reset_timer_ns),
            reset: None,
            resets: 0,
            reports: Vec::new(),
            free_reports: Vec::new(),
            wakeup: Time::NEVER,
        })
    }
}

/// Index of the other direction.
const fn opposite(side: usize) -> usize {
    1 - side
}

impl RlcAm {
    /// Returns the time from which the direction `side` has PDUs to send.
    #[inline]
    fn ready_at(&self, side: usize) -> Time {
        if let Some(reset) = &self.reset {
            return self.reset_ready_at(side, reset);
        }
        let direction = &self.directions[side];
        let status = self.directions[opposite(side)].receiver.status_at();
        direction.sender.ready_at(direction.has_data()).min(status)
    }

    #[cold]
    fn reset_ready_at(&self, side: usize, reset: &Reset) -> Time {
        match (side == reset.by, reset.is_ack_due) {
            (true, _) => reset.send_at,
            (false, true) => Time::ZERO,
            (false, false) => Time::NEVER,
        }
    }

    /// Computes the next TTI of the direction `side`, at or after `now`. A TTI that is due is not
    /// changed.
    #[inline]
    fn plan(&mut self, side: usize, now: Time) {
        if self.directions[side].next_tti > now {
            let ready_at = self.ready_at(side);
            self.directions[side].plan(ready_at, now);
        }
    }

    /// Computes the next event of both directions, at or after `now`.
    fn reschedule(&mut self, now: Time) {
        self.plan(0, now);
        self.plan(1, now);
        self.set_wakeup();
    }

    /// Sets the wake-up to the earliest event.
    #[inline]
    fn set_wakeup(&mut self) {
        let mut wakeup = Time::NEVER;
        for direction in &self.directions {
            let timer = direction.queue.as_ref().map_or(Time::NEVER, |queue| queue.next_wakeup());
            wakeup = wakeup.min(direction.next_tti).min(direction.next_arrival()).min(timer);
        }
        self.wakeup = wakeup;
    }

    /// Sends the PDUs of the TTI that is due.
    fn serve_tti(&mut self, side: usize, ctx: &mut Ctx<'_>) {
        let now = ctx.now;
        let direction = &mut self.directions[side];
        let start = std::mem::replace(&mut direction.next_tti, Time::NEVER);
        let slots = direction.clock.slots(start);
        if slots == 0 {
            // The rate has changed exactly at the start of the TTI.
            return;
        }
        direction.tti_ends = direction.clock.end_of(start);
        let mut frame = Frame { arrives: start + self.latency[side], ..Frame::default() };
        let control = self.take_control(side, slots, &mut frame, now);
        let mut filled = control;
        if self.reset.is_none() {
            let (data, poll) = self.directions[side].fill(slots - control, ctx);
            self.directions[side].note_sent(frame.arrives, ctx);
            frame.poll = poll;
            filled += data;
            if self.directions[side].sender.needs_reset() {
                self.begin_reset(side, now);
            }
        } else {
            self.directions[side].forget_payload();
        }
        if filled > 0 {
            self.transmit(side, [filled, control], frame, start);
        }
    }

    /// Adds control PDUs to `frame`, up to `slots`. Returns their number.
    #[inline]
    fn take_control(&mut self, side: usize, slots: u64, frame: &mut Frame, now: Time) -> u64 {
        let mut used = 0;
        if self.reset.is_some() {
            return self.take_reset(side, frame, now);
        }
        if let Some(until) = self.directions[side].sender.take_skip_order(now) {
            frame.skip_until = Some(until);
            used += 1;
        }
        let receiver = &mut self.directions[opposite(side)].receiver;
        if used < slots && receiver.status_at() <= now {
            let place = self.free_reports.pop().unwrap_or_else(|| {
                self.reports.push(StatusReport::default());
                (self.reports.len() - 1) as u32
            });
            receiver.write_status(now, &mut self.reports[place as usize]);
            self.directions[side].counts.status_reports += 1;
            frame.status = Some(place);
            used += 1;
        }
        used
    }

    #[cold]
    fn take_reset(&mut self, side: usize, frame: &mut Frame, now: Time) -> u64 {
        let Some(reset) = &mut self.reset else { return 0 };
        if side == reset.by {
            frame.reset = reset.send_at <= now;
            if frame.reset {
                reset.send_at = now + self.reset_timer;
            }
        } else {
            frame.reset_ack = std::mem::take(&mut reset.is_ack_due);
        }
        u64::from(frame.reset || frame.reset_ack)
    }

    /// Sends `frame` unless it is corrupted. `pdus` is the number of PDUs in the frame, `control`
    /// the number of control PDUs among them.
    #[inline]
    fn transmit(&mut self, side: usize, [pdus, control]: [u64; 2], frame: Frame, start: Time) {
        let direction = &mut self.directions[side];
        direction.meter.add_used(pdus);
        direction.counts.frames += 1;
        direction.counts.control_pdus += control;
        if direction.corrupts(start, pdus) {
            direction.counts.frames_lost += 1;
            self.free_reports.extend(frame.status);
        } else {
            direction.send(frame);
        }
    }

    /// Processes the arrived frames of the direction `side`.
    fn receive_frames(&mut self, side: usize, ctx: &mut Ctx<'_>) {
        while let Some(frame) = self.directions[side].take_frame(ctx.now) {
            if frame.reset || frame.reset_ack || self.reset.is_some() {
                self.receive_around_reset(side, frame, ctx);
                continue;
            }
            if let Some(place) = frame.status {
                self.receive_status(opposite(side), place, ctx);
            }
            if let Some(until) = frame.skip_until {
                self.directions[side].skip(until, ctx);
            }
            self.directions[side].receive_pdus(&frame);
            self.directions[side].note_received(ctx);
            self.deliver(side, ctx);
        }
    }

    /// Passes a status report to the sender of the direction `side`.
    #[inline]
    fn receive_status(&mut self, side: usize, place: u32, ctx: &mut Ctx<'_>) {
        let direction = &mut self.directions[side];
        let sdus_wait = direction.queue.as_ref().is_some_and(|queue| !queue.is_empty());
        direction.sender.on_status(&self.reports[place as usize], sdus_wait, ctx.now);
        direction.free_acknowledged(ctx);
        self.free_reports.push(place);
    }

    /// Delivers the packets that have arrived in order.
    #[inline]
    fn deliver(&mut self, side: usize, ctx: &mut Ctx<'_>) {
        let output = self.outputs[side];
        let Direction { sdus, receiver, queue, meter, .. } = &mut self.directions[side];
        sdus.deliver(receiver.next(), |packet| {
            if let Some(queue) = queue {
                queue.on_served(packet, ctx);
            }
            meter.deliver(packet);
            ctx.emit(output, *packet);
        });
    }

    #[cold]
    fn begin_reset(&mut self, by: usize, now: Time) {
        self.resets += 1;
        self.reset = Some(Reset { by, send_at: now, is_ack_due: false });
    }

    /// Processes a received frame during a reset. All PDUs except RESET and RESET ACK are ignored.
    #[cold]
    fn receive_around_reset(&mut self, side: usize, frame: Frame, ctx: &mut Ctx<'_>) {
        self.directions[side].ignore_pdus(&frame);
        self.free_reports.extend(frame.status);
        let Some(reset) = &mut self.reset else { return };
        if frame.reset {
            reset.is_ack_due = true;
        }
        if frame.reset_ack {
            self.reset = None;
            for side in 0..2 {
                self.clear_air(side);
                self.directions[side].reset(ctx);
            }
        }
    }

    /// Removes remaining frames of a reset: retransmitted RESET and RESET ACK PDUs. In the
    /// standard, these PDUs have a reset sequence number (RSN), so that the next reset ignores
    /// them.
    #[cold]
    fn clear_air(&mut self, side: usize) {
        while let Some(frame) = self.directions[side].take_frame(Time::NEVER) {
            self.directions[side].ignore_pdus(&frame);
            self.free_reports.extend(frame.status);
        }
    }

    fn report(&self, side: usize, now: Time) -> Option<SideReport> {
        let direction = &self.directions[side];
        let counts = &direction.counts;
        let span = now.saturating_since(direction.meter.since()).as_secs_lossy();
        let counters = [
            ("frames", counts.frames as f64),
            ("frames_lost", counts.frames_lost as f64),
            ("new_pdus", counts.new_pdus as f64),
            ("repeated_pdus", counts.repeated_pdus as f64),
            ("duplicate_pdus", direction.duplicates() as f64),
            ("status_reports", counts.status_reports as f64),
            ("window_stalled_share", direction.stalled(now).as_secs_lossy() / span),
            ("resets", self.resets as f64),
        ]
        .map(|(name, count)| (name.into(), count));
        // If the rate is not an integer number of PDUs per TTI, PDUs are sent slightly early.
        let sent = direction.meter.used() as f64;
        let offered = direction.offered(now).max(sent);
        let link = LinkReport {
            regime_packets: vec![direction.meter.delivered_packets()],
            // If no PDU was offered, the utilisation is 0.
            ..direction.meter.report(sent / offered.max(1.0), offered)
        };
        let link = link.with_counters(counters.into());
        let queues = vec![direction.queue.as_ref()?.report(now)];
        Some(SideReport::of(queues, link))
    }
}

impl Stage for RlcAm {
    fn receive(&mut self, port: Port, packet: &Packet, ctx: &mut Ctx<'_>) {
        let side = usize::from(port.0);
        let direction = &mut self.directions[side];
        if let Some(queue) = &mut direction.queue {
            queue.enqueue(packet, ctx);
        }
        // The other direction is not affected.
        self.plan(side, ctx.now);
        self.set_wakeup();
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>) {
        let mut has_changed = false;
        for side in 0..2 {
            if self.directions[side].next_arrival() <= ctx.now {
                self.receive_frames(side, ctx);
                has_changed = true;
            }
        }
        for direction in &mut self.directions {
            if let Some(queue) = &mut direction.queue
                && queue.next_wakeup() <= ctx.now
            {
                queue.wake_if_due(ctx);
                has_changed = true;
            }
        }
        // An arrival may have added PDUs to send in a TTI that starts now.
        if has_changed {
            self.plan(0, ctx.now);
            self.plan(1, ctx.now);
        }
        for side in 0..2 {
            if self.directions[side].next_tti <= ctx.now {
                self.serve_tti(side, ctx);
            }
        }
        self.reschedule(ctx.now);
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.wakeup
    }

    /// A rate change applies to both directions, unless the reverse direction has a separate rate.
    fn control(&mut self, event: &Control, ctx: &mut Ctx<'_>) {
        for (side, direction) in self.directions.iter_mut().enumerate() {
            match event {
                Control::Begin => direction.notify_rate(ctx),
                Control::StartMeasurement => direction.restart_measurement(ctx.now),
                Control::Rate(rate) if side == 0 || self.reverse_follows => {
                    direction.set_rate(*rate, ctx);
                }
                _ => {}
            }
        }
        if matches!(event, Control::StartMeasurement) {
            self.resets = 0;
        }
        self.reschedule(ctx.now);
    }

    fn held(&self) -> usize {
        self.directions.iter().map(Direction::held).sum()
    }
}

impl Link for RlcAm {
    fn sides() -> Sides {
        Sides::OneOrBoth
    }

    fn visit_queues(&mut self, port: Port, visit: &mut dyn FnMut(&mut Queue)) {
        self.directions[usize::from(port.0)].queue.iter_mut().for_each(visit);
    }

    fn on_queues_changed(&mut self, _port: Port, ctx: &mut Ctx<'_>) {
        self.reschedule(ctx.now);
    }

    fn reports(&self, now: Time) -> Vec<SideReport> {
        (0..2).filter_map(|side| self.report(side, now)).collect()
    }
}
