//! Stations with pending work, and the next events.
//!
//! Frames, bursts and MPDUs on the air have separate times. Irregular events (requests by procedure
//! or in bursts, fallbacks, timers of queues and of the grant policy) share one time, `seldom`, so
//! that most wake-ups poll none of them.

use super::Tdd;
use crate::mac::grant::Grant;
use crate::mac::request::Request;
use airpath_core::{Ctx, Time};

impl Tdd {
    /// Updates the records of a station's data and of its queue's timer.
    #[inline]
    pub(super) fn look_at(&mut self, side: usize, station: usize) {
        let direction = &self.stations[station].sides[side];
        if side == 0 {
            self.with_data.set(station, direction.has_data());
            self.offers[station].is_stale = true;
        }
        let timer = direction.queue.next_wakeup();
        self.queue_timers[side].note(station, timer);
        self.seldom = self.seldom.min(timer);
    }

    /// Updates the record of a station's request queue.
    #[inline]
    pub(super) fn look_at_request(&mut self, station: usize) {
        self.with_request.set(station, self.stations[station].needs_grant());
    }

    /// Sets the next frame to one at or after `now`, if no work was pending for it.
    #[inline]
    pub(super) fn wait_for_frame(&mut self, now: Time) {
        if !self.is_awake() {
            self.next_frame = self.next_frame.max(self.clock.frame_from(now));
        }
    }

    /// Returns true if the next frame has pending work.
    #[inline]
    pub(super) fn is_awake(&self) -> bool {
        !(self.is_stopped || self.with_data.is_empty() && self.with_request.is_empty())
    }

    /// Sets the wake-up to the earliest event.
    #[inline]
    pub(super) fn set_wakeup(&mut self) {
        let frame =
            if self.is_awake() { self.clock.start_of(self.next_frame) } else { Time::NEVER };
        self.wakeup = frame
            .min(self.closes)
            .min(self.air[0].next_wakeup())
            .min(self.air[1].next_wakeup())
            .min(self.seldom);
    }

    /// Sets the time at which the first burst closes.
    #[inline]
    pub(super) fn find_closes(&mut self) {
        let burst = self.bursts.front();
        self.closes = burst.map_or(Time::NEVER, |burst| self.clock.closed_at(burst.frame));
    }

    /// Sets the time of the first irregular event. Code that adds an irregular event must
    /// immediately update `seldom` to the minimum.
    pub(super) fn find_irregular_timer(&mut self) {
        self.seldom = self
            .stated
            .next()
            .min(self.request.next_wakeup())
            .min(self.grant.next_wakeup())
            .min(self.fallbacks.next())
            .min(self.queue_timers[0].next())
            .min(self.queue_timers[1].next());
    }

    /// Calls the disciplines whose timers are due.
    pub(super) fn wake_queues(&mut self, ctx: &mut Ctx<'_>) {
        for side in 0..2 {
            while let Some(station) = self.queue_timers[side].take_due(ctx.now) {
                self.stations[station].sides[side].queue.wake_if_due(ctx);
                self.look_at(side, station);
            }
        }
    }
}
