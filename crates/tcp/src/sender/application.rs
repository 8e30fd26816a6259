//! Sender side of applications that write and pause.

use super::{Phase, Sender};
use crate::application::{Application, VideoReport};
use crate::congestion::CongestionControl;
use crate::recovery::LossRecovery;
use airpath_core::{Ctx, Time};

impl Sender {
    /// Handles the expiry of the alarm. Possible causes: start of the connection, start or end of a
    /// burst of the application, release of a segment by the pacer, expiry of a recovery timer.
    #[cold]
    pub(super) fn on_alarm(&mut self, ctx: &mut Ctx<'_>) {
        self.pacer.on_wake(ctx.now);
        if self.turn <= ctx.now {
            self.turn = Time::NEVER;
            let is_new = self.phase == Phase::Idle;
            if self.application.is_some() {
                self.take_turn(ctx.now);
            }
            if is_new {
                self.set_alarm();
                return self.open(ctx);
            }
        }
        self.send_due(ctx);
    }

    /// Handles an expired recovery timer and sends the data that the windows allow.
    fn send_due(&mut self, ctx: &mut Ctx<'_>) {
        self.on_recovery_timer(ctx);
        self.set_alarm();
        self.transmit(ctx);
        if self.rto_deadline.is_never() {
            self.persist_if_closed(ctx.now);
        }
        self.record_windows(ctx);
    }

    /// Returns the sender with an application whose data [`Sender::respond`] writes.
    #[must_use]
    pub(crate) fn with_responses(self) -> Sender {
        self.with_application(Application::responses())
    }

    /// Writes `bytes` in response to a request of the client. Opens the connection with the first
    /// request.
    #[cold]
    pub(crate) fn respond(&mut self, bytes: u64, ctx: &mut Ctx<'_>) {
        self.pacer.on_wake(ctx.now);
        self.note_application_limit();
        self.end = self.end.saturating_add(bytes);
        if self.phase == Phase::Idle {
            (self.start, self.turn) = (ctx.now, Time::NEVER);
            self.set_alarm();
            self.open(ctx);
        } else {
            if self.phase == Phase::Established && self.board.flight() == 0 {
                self.end_idle(ctx.now);
            }
            self.send_due(ctx);
        }
        self.settle(ctx);
        self.pass_on_failure(ctx);
    }

    /// Returns the stream offset up to which all data is acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.board.una()
    }

    /// Returns the time after which the sender sends no new data.
    pub(crate) fn stops_at(&self) -> Time {
        self.stop
    }

    /// Returns true if the last segment of each write carries PSH.
    pub(super) fn pushes(&self) -> bool {
        self.application.as_ref().is_some_and(|application| application.pushes())
    }

    /// Returns the measurements of the video client at `now`, if the sender's application is one.
    pub fn video_report(&self, now: Time) -> Option<VideoReport> {
        let video = self.application.as_ref()?.video()?;
        Some(video.report(now, self.stop))
    }

    /// Starts the sender because of a control event of the scenario.
    #[cold]
    pub(super) fn start_at(&mut self, now: Time) {
        if self.phase == Phase::Idle {
            (self.start, self.turn) = (now, now);
            self.set_alarm();
        }
    }

    fn take_turn(&mut self, now: Time) {
        let Some(application) = &mut self.application else { return };
        if application.is_writing() {
            // Discard the unsent data of the burst.
            self.end = self.board.max();
            self.turn = application.pause(now);
        } else if now < self.stop {
            let (bytes, until) = application.write(now);
            self.note_application_limit();
            self.end = self.end.saturating_add(bytes);
            self.turn = until;
            if self.phase == Phase::Established && self.board.flight() == 0 {
                self.end_idle(now);
            }
        } else {
            application.stop();
        }
    }

    /// Handles the start of a new burst. If all earlier data has been sent and one more segment
    /// would have fitted into cwnd, the rate samples are marked as application-limited.
    fn note_application_limit(&mut self) {
        let in_flight = self.recovery.in_flight(&self.board);
        let is_sent = self.board.max() == self.end && self.board.nxt() == self.end;
        let had_room = in_flight + u64::from(self.mss) <= self.congestion.cwnd();
        if is_sent && had_room && self.end > 0 {
            self.board.limit_by_application(in_flight);
        }
    }

    /// Ends the transfer or the application's burst if all data is acknowledged.
    #[inline]
    pub(super) fn complete_if_all_sent(&mut self, ctx: &mut Ctx<'_>) {
        if self.board.una() == self.end {
            if self.application.is_some() {
                return self.on_written_out(ctx.now);
            }
            self.phase = Phase::Done;
            self.closed_at = self.closed_at.min(ctx.now);
            self.stop_limit_clocks(ctx.now);
        }
    }

    /// Handles the acknowledgement of all written data.
    #[cold]
    fn on_written_out(&mut self, now: Time) {
        if let Some(application) = &mut self.application
            && application.is_writing()
        {
            self.turn = application.pause(now);
            self.set_alarm();
        }
    }
}
