//! HARQ and ARQ of a serial link. Links without retransmissions do not execute this code.

use super::{SerialLink, Transmitter};
use crate::links::frame_errors::FrameErrors;
use crate::retransmission::stage::{Progress, RetransmissionStage};
use airpath_core::{Ctx, PacketInstant, Time};

impl<T: Transmitter> SerialLink<T> {
    /// Handles a wake-up of the link.
    #[inline(never)]
    pub(super) fn wake_with_retransmission(&mut self, ctx: &mut Ctx<'_>) {
        self.queue.wake_if_due(ctx);
        let now = ctx.now;
        self.release(ctx, |retransmission, air, leave| retransmission.take_due(now, air, leave));
        if self.service.is_busy && self.service.transmission.ends <= now {
            let loss = self.service.transmission.loss;
            let frame = self.end_transmission(ctx);
            let packet = self.packet;
            ctx.note_instant(&packet, PacketInstant::Sent, now);
            self.release(ctx, |retransmission, air, leave| {
                retransmission.end_first(packet, (loss, frame), air, leave);
            });
        }
        if self.service.is_busy {
            self.note_due(Time::NEVER);
        } else {
            self.start_with_retransmission(ctx);
        }
    }

    /// Starts the next transmission if a HARQ process is free; otherwise waits for a free process.
    #[inline(never)]
    pub(super) fn start_with_retransmission(&mut self, ctx: &mut Ctx<'_>) {
        let mut waits_until = Time::NEVER;
        if self.queue.packets() > 0 {
            let free_from = self
                .retransmission
                .as_mut()
                .map_or(ctx.now, |retransmission| retransmission.free_from(ctx.now));
            if free_from > ctx.now {
                waits_until = free_from;
            } else {
                self.start_next(ctx);
            }
        }
        self.note_due(waits_until);
    }

    /// Sets the time of the next event: the earliest of `waits_until`, the next event of HARQ and
    /// ARQ, and the end of the current transmission.
    fn note_due(&mut self, waits_until: Time) {
        let in_loops = self
            .retransmission
            .as_ref()
            .map_or(Time::NEVER, |retransmission| retransmission.next_wakeup());
        let ends = if self.service.is_busy { self.service.transmission.ends } else { Time::NEVER };
        self.due = waits_until.min(in_loops).min(ends);
    }

    /// Calls `work` with the retransmission stage. Forwards each packet that the stage releases as
    /// received, and counts the other released packets as lost.
    fn release(
        &mut self,
        ctx: &mut Ctx<'_>,
        work: impl FnOnce(&mut RetransmissionStage, &mut FrameErrors, &mut dyn FnMut(Progress<'_>)),
    ) {
        let SerialLink { retransmission, air, meter, queue, output, .. } = self;
        let Some(retransmission) = retransmission else { return };
        let reason = retransmission.reason();
        let mut leave = |progress: Progress<'_>| match progress {
            Progress::Received(packet) => {
                ctx.note_instant(packet, PacketInstant::Received, ctx.now);
            }
            Progress::Released(packet, true) => {
                meter.deliver(&packet);
                ctx.emit(*output, packet);
            }
            Progress::Released(packet, false) => {
                meter.lose();
                queue.lose(packet, reason, ctx);
            }
        };
        work(retransmission, air, &mut leave);
    }
}
