//! Uplink requests, bursts, and their reception by the base station.

use super::Tdd;
use super::frame::REQUEST_HEADER;
use super::settings::PiggybackRead;
use crate::mac::grant::Grant;
use crate::mac::request::{BandwidthRequest, Request, RequestEvent};
use airpath_core::{Ctx, Packet, Time};

/// Octets of a piggyback request.
const PIGGYBACK: u64 = 2;

/// A request that a station has sent in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReceivedRequest {
    request: BandwidthRequest,
    /// Value of the station's `closed_ever` at the time of the request.
    closed: u64,
    is_piggyback: bool,
}

impl Tdd {
    /// Processes the arrival of a packet at a station.
    pub(super) fn receive_at_station(&mut self, number: usize, packet: &Packet, ctx: &mut Ctx<'_>) {
        let station = &mut self.stations[number];
        let direction = &mut station.sides[1];
        let (had_data, before) = (direction.has_data(), direction.queue.packets());
        direction.queue.enqueue(packet, ctx);
        if !had_data {
            station.waits_since = ctx.now;
        }
        let is_queued = direction.queue.packets() > before;
        if self.requests_per_packet() {
            if is_queued {
                let bytes = u64::from(packet.size) + self.segmentation[1].header;
                self.send_request(
                    BandwidthRequest { station: number as u32, bytes, adds: true },
                    ctx.now,
                );
            }
        } else {
            self.request_if_needed(number, ctx.now);
        }
        self.look_at(1, number);
        self.note_fallback(number);
    }

    /// Requests bandwidth for all packets that wait at a station, as if they arrived now.
    pub(super) fn offer_again(&mut self, number: usize, now: Time) {
        let station = &mut self.stations[number];
        if !station.sides[1].queue.is_empty() {
            station.waits_since = now;
            let bytes = station.sides[1].backlog(&self.segmentation[1]);
            if self.requests_per_packet() {
                self.send_request(
                    BandwidthRequest { station: number as u32, bytes, adds: true },
                    now,
                );
            } else {
                self.request_if_needed(number, now);
            }
        }
        self.look_at(1, number);
        self.note_fallback(number);
    }

    /// Returns true if every packet has a separate request, without piggyback.
    fn requests_per_packet(&self) -> bool {
        self.asking.per_packet && self.rules.asks
    }

    /// Sends a request of a station that has data, if requests are allowed and neither a request
    /// nor a grant is in flight.
    fn request_if_needed(&mut self, number: usize, now: Time) {
        let station = &self.stations[number];
        if self.rules.asks && station.sides[1].has_data() && !station.is_served() {
            let bytes = station.sides[1].backlog(&self.segmentation[1]);
            self.send_request(BandwidthRequest { station: number as u32, bytes, adds: false }, now);
        }
    }

    fn send_request(&mut self, request: BandwidthRequest, now: Time) {
        if self.asking.can_ask {
            let station = &mut self.stations[request.station as usize];
            station.asks += 1;
            station.closed_when_sent = station.closed_ever;
            self.request.send_request(request, now);
            self.seldom = self.seldom.min(self.request.next_wakeup());
        }
    }

    /// Sets the fallback timer of a station without a grant.
    fn note_fallback(&mut self, number: usize) {
        let Some(fallback) = self.rules.fallback else { return };
        let station = &self.stations[number];
        let has_data = station.sides[1].has_data();
        let may_request = has_data && !station.is_served() && self.asking.can_ask;
        let at = if may_request { station.waits_since + fallback } else { Time::NEVER };
        self.fallbacks.note(number, at);
        self.seldom = self.seldom.min(at);
    }

    /// Sends the fallback requests of stations without a grant.
    pub(super) fn send_fallback_requests(&mut self, now: Time) {
        while let Some(number) = self.fallbacks.take_due(now) {
            let station = &self.stations[number];
            if station.sides[1].has_data() && !station.is_served() {
                let bytes = station.sides[1].backlog(&self.segmentation[1]);
                self.send_request(
                    BandwidthRequest { station: number as u32, bytes, adds: false },
                    now,
                );
            }
        }
    }

    /// Polls the request procedure and processes the requests that the base station has received.
    pub(super) fn poll_requests(&mut self, now: Time) {
        if self.request.next_wakeup() > now {
            return;
        }
        let mut received = std::mem::take(&mut self.received);
        self.request.wake(now, &mut received);
        for each in received.drain(..) {
            match each {
                RequestEvent::Request(request) => {
                    let closed = self.stations[request.station as usize].closed_when_sent;
                    self.on_request(ReceivedRequest { request, closed, is_piggyback: false }, now);
                }
                RequestEvent::Code(station) => {
                    self.wait_for_frame(now);
                    self.stations[station as usize].headers += 1;
                    self.look_at_request(station as usize);
                }
            }
        }
        self.received = received;
    }

    /// Processes the requests in received bursts and request headers.
    pub(super) fn receive_requests(&mut self, now: Time) {
        while let Some(stated) = self.stated.take_due(now) {
            self.on_request(stated, now);
        }
    }

    /// Processes the loss of a station's request. The station sends another request if no request
    /// and no grant is in flight.
    pub(super) fn forget_request(&mut self, number: usize, now: Time) {
        let station = &mut self.stations[number];
        station.asks = station.asks.saturating_sub(1);
        self.request_if_needed(number, now);
        self.note_fallback(number);
    }

    /// Processes a request at the base station. The requested bytes minus the grants in flight
    /// become the new size of the request queue; the bytes of an incremental request are added
    /// instead. A piggyback request is ignored if a later request has already been received.
    fn on_request(&mut self, stated: ReceivedRequest, now: Time) {
        let ReceivedRequest {
            request: BandwidthRequest { station: number, bytes, adds },
            closed,
            is_piggyback,
        } = stated;
        self.wait_for_frame(now);
        let station = &mut self.stations[number as usize];
        station.asks = station.asks.saturating_sub(1);
        if is_piggyback {
            station.counts.piggyback += 1;
            station.counts.granted_bytes += PIGGYBACK;
        } else {
            station.counts.contention += 1;
            station.counts.granted_bytes += REQUEST_HEADER;
        }
        let is_overtaken = is_piggyback && closed < station.closed_at_request;
        if is_piggyback {
            station.closed_at_request = station.closed_at_request.max(closed);
        }
        if adds {
            station.requested += bytes;
        } else if !is_overtaken {
            let on_its_way = station.granted_ever - closed;
            station.requested = bytes.saturating_sub(on_its_way);
        }
        let more = self.grant.on_request(number, bytes, station.requested);
        self.grant_proactively(number as usize, more, now);
        self.look_at_request(number as usize);
        // The grants in flight may be too small for the backlog.
        self.request_if_needed(number as usize, now);
        self.note_fallback(number as usize);
    }

    /// Adds a proactive grant of the policy to a request queue.
    #[inline]
    pub(super) fn grant_proactively(&mut self, number: usize, bytes: u64, now: Time) {
        self.seldom = self.seldom.min(self.grant.next_wakeup());
        if bytes > 0 {
            self.add_proactive_grant(number, bytes, now);
        }
    }

    fn add_proactive_grant(&mut self, number: usize, bytes: u64, now: Time) {
        self.wait_for_frame(now);
        let station = &mut self.stations[number];
        station.requested += bytes;
        station.counts.proactive += 1;
        self.look_at_request(number);
    }

    /// Adds the grants that the timer of the policy issues.
    pub(super) fn grant_by_itself(&mut self, now: Time) {
        if self.grant.next_wakeup() > now {
            return;
        }
        self.wait_for_frame(now);
        let Tdd { grant, stations, with_request, .. } = self;
        grant.on_wake(now, &mut |number, bytes| {
            let station = &mut stations[number as usize];
            station.requested += bytes;
            station.counts.proactive += 1;
            with_request.set(number as usize, true);
        });
    }

    /// Closes the bursts that are due.
    pub(super) fn close_bursts(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(burst) = self.bursts.front().copied()
            && self.clock.closed_at(burst.frame) <= ctx.now
        {
            self.bursts.pop_front();
            self.close_burst(&burst, ctx);
        }
        self.find_closes();
    }

    /// Fills the burst of a station.
    fn close_burst(&mut self, burst: &super::Burst, ctx: &mut Ctx<'_>) {
        let number = burst.station as usize;
        let arrives = self.clock.received_at(burst.frame);
        let piggybacks = self.rules.piggybacks && !self.requests_per_packet();
        let segmentation = &self.segmentation[1];
        let mut used = 0;
        let station = &mut self.stations[number];
        while let Some(mut mpdu) =
            station.sides[1].next_mpdu(burst.station, burst.bytes - used, segmentation, ctx)
        {
            used += mpdu.bytes;
            if let Some(radio) = &mut self.radio {
                mpdu.scheme = burst.scheme;
                radio.count(1, mpdu.scheme);
            }
            self.air[1].send(arrives, mpdu);
        }
        if used == 0 && burst.bytes > 0 && !segmentation.fragments {
            self.drop_too_large(1, number, ctx);
        }
        let station = &mut self.stations[number];
        station.closed_ever += burst.bytes;
        station.counts.used_bytes += used;
        if used > 0 {
            // A grant that is too small for any data counts as no grant.
            station.waits_since = ctx.now;
        }
        let left = station.sides[1].backlog(&self.segmentation[1]);
        let closed = station.closed_ever;
        let state = |is_piggyback| {
            let request = BandwidthRequest { station: burst.station, bytes: left, adds: false };
            ReceivedRequest { request, closed, is_piggyback }
        };
        if burst.headers > 0 {
            // The request is sent in each granted header; several headers contain the same request.
            for _ in 0..burst.headers {
                self.stated.push(arrives, state(false));
            }
            self.seldom = self.seldom.min(arrives);
        } else if used > 0 && left > 0 && piggybacks {
            station.asks += 1;
            let delay = self.request.piggyback_delay(burst.station);
            match self.piggyback_read {
                PiggybackRead::AtOnce => {
                    self.stated.push(arrives + delay, state(true));
                    self.seldom = self.seldom.min(arrives + delay);
                }
                PiggybackRead::WithMpdu => {
                    let request_number = self.piggyback_requests.put(state(true), delay);
                    self.air[1].carry(request_number);
                }
            }
        }
        if burst.bytes > 0 {
            self.wait_for_frame(ctx.now);
            let queued = self.stations[number].requested;
            let more = self.grant.on_grant(burst.station, burst.bytes, used, queued);
            self.grant_proactively(number, more, ctx.now);
        }
        self.request_if_needed(number, ctx.now);
        self.look_at(1, number);
        self.note_fallback(number);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::make;
    use super::*;
    use serde_json::json;

    /// Two bursts of 46 bytes have closed. Then 40 bytes arrived after the close of the first
    /// burst, so only the request in the second burst reports them.
    #[test]
    fn overtaken_piggyback_request_is_ignored() {
        let mut tdd = make(json!({}), 1, 1).expect("a valid configuration");
        (tdd.stations[0].granted_ever, tdd.stations[0].closed_ever) = (92, 92);
        let said = |bytes, closed| {
            let request = BandwidthRequest { station: 0, bytes, adds: false };
            ReceivedRequest { request, closed, is_piggyback: true }
        };
        tdd.on_request(said(40, 92), Time::from_millis(60));
        assert_eq!(tdd.stations[0].requested, 40);
        tdd.on_request(said(46, 46), Time::from_millis(90));
        assert_eq!(tdd.stations[0].requested, 40);
        assert_eq!(tdd.stations[0].counts.piggyback, 2);
    }
}
