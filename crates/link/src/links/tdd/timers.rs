//! Updates of the sets of stations with pending work and of the times of the next events.
//!
//! The next frame, the next closing of a burst and the next arrival of an MPDU have separate times.
//! All irregular events (requests, fallback requests, timers of queues and of the grant policy)
//! share one time, `seldom`, so that most wake-ups need not check them.

use super::Tdd;
use crate::mac::grant::Grant;
use crate::mac::request::Request;
use airpath_core::{Ctx, Time};

impl Tdd {
    /// Updates the set of stations with data and the timer of the station's queue.
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

    /// Updates the set of stations with a nonempty request queue.
    #[inline]
    pub(super) fn look_at_request(&mut self, station: usize) {
        self.with_request.set(station, self.stations[station].needs_grant());
    }

    /// If no work was pending for the next frame, sets the next frame to the first frame at or
    /// after `now`.
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

    /// Calls the queue disciplines whose timers are due.
    pub(super) fn wake_queues(&mut self, ctx: &mut Ctx<'_>) {
        for side in 0..2 {
            while let Some(station) = self.queue_timers[side].take_due(ctx.now) {
                self.stations[station].sides[side].queue.wake_if_due(ctx);
                self.look_at(side, station);
            }
        }
    }
}
