//! Allocation at the start of a frame: the downlink of the frame, and the uplink that its map
//! grants.
//!
//! The scheduler allocates both directions in turns. In the downlink a turn is one MPDU; in the
//! uplink a turn has at most the size of the largest MPDU. All allocations of a station in one
//! direction of a frame form one burst. The size of the burst is rounded up to slots.

use super::Tdd;
use super::side::{LARGEST_MPDU, Segmentation, Side};
use crate::mac::grant::{Downlink, Grant};
use crate::mac::scheduler::Candidate;
use airpath_core::{Bytes, Ctx, Duration, Time, UserId};

/// Octets of a request header.
pub(super) const REQUEST_HEADER: u64 = 6;

/// Allocation of a station in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FrameAllocation {
    slots: u64,
    bytes: u64,
}

/// Uplink grant of a station in a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    /// Number of the frame in which the burst is sent.
    pub(super) frame: u64,
    pub(super) station: u32,
    /// Bytes granted for data.
    pub(super) bytes: u64,
    /// Number of request headers that are granted.
    pub(super) headers: u32,
    /// Index of the MCS, if the MCS is adaptive.
    pub(super) scheme: u8,
}

/// Cached state of a station for the allocation of the downlink. For most stations it does not
/// change between frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct DownlinkState {
    /// True if the state must be recomputed because the station's data or its slots have changed.
    pub(super) is_stale: bool,
    /// Rate if the station has all slots of the frame, bit/s.
    rate: f64,
    /// Backlog with headers, bytes.
    backlog: u64,
    /// Arrival time of the next packet.
    head_since: Time,
}

impl DownlinkState {
    /// Initial state, which must be recomputed.
    pub(super) const STALE: DownlinkState =
        DownlinkState { is_stale: true, rate: 0.0, backlog: 0, head_since: Time::ZERO };

    fn of(side: &mut Side, rate: f64, segmentation: &Segmentation, now: Time) -> DownlinkState {
        let waited = side.head_packet().map_or(Duration::ZERO, |packet| packet.waited(now));
        let head_since = Time::from_nanos(now.as_nanos() - waited.as_nanos());
        DownlinkState { is_stale: false, rate, backlog: side.backlog(segmentation), head_since }
    }
}

impl Tdd {
    /// Allocates the frame that starts now.
    pub(super) fn begin_frame(&mut self, ctx: &mut Ctx<'_>) {
        let frame = self.next_frame;
        self.next_frame = frame + 1;
        self.frames += 1;
        let bursts = self.map_uplink(frame, ctx);
        self.find_closes();
        if !self.with_data.is_empty() {
            self.send_downlink(frame, bursts, ctx);
        }
    }

    /// Sets `candidates` to the stations with data. The rate of a candidate is its rate if it has
    /// the complete frame. There are no candidates if the policy fails.
    fn find_candidates(&mut self, side: usize, frame: u64, ctx: &mut Ctx<'_>) {
        let now = ctx.now;
        let Tdd { candidates, stations, with_data, with_request, turns, .. } = self;
        let Tdd { segmentation, slots, frame_s, offers, radio, .. } = self;
        candidates.clear();
        let members = if side == 0 { with_data } else { with_request };
        members.for_each(|number| {
            turns[number] = FrameAllocation::default();
            if let Some(radio) = radio {
                let direction = &mut stations[number].sides[side];
                (direction.scheme, direction.slot) = radio.choose(side, number, frame);
                offers[number].is_stale |= side == 0;
            }
            let (rate, backlog, head_wait) = if side == 0 {
                let offer = &mut offers[number];
                if offer.is_stale {
                    let direction = &mut stations[number].sides[0];
                    let rate = direction.slot.rate(slots[0], *frame_s);
                    *offer = DownlinkState::of(direction, rate, &segmentation[0], now);
                }
                (offer.rate, offer.backlog, now.saturating_since(offer.head_since))
            } else {
                // The base station has no information about the backlog of the station except the
                // request queue.
                let station = &stations[number];
                let rate = station.sides[1].slot.rate(slots[1], *frame_s);
                (rate, station.requested, Duration::ZERO)
            };
            if rate > 0.0 {
                let (user, backlog) = (UserId(number as u32), Bytes(backlog));
                candidates.push(Candidate { user, rate, backlog, head_wait });
            }
        });
        if let Some(error) = radio.as_mut().and_then(|radio| radio.take_error()) {
            candidates.clear();
            ctx.fail(error);
        }
    }

    /// Returns the index of the candidate that is served next; `None` if the scheduler fails.
    #[inline]
    fn choose(&mut self, side: usize, frame: u64, ctx: &mut Ctx<'_>) -> Option<usize> {
        let chosen = self.schedulers[side].try_choose(frame, &self.candidates);
        chosen.map_err(|error| ctx.fail(error)).ok()
    }

    /// Notifies the scheduler that the candidate at index `place` receives `bytes` in `frame`.
    #[inline]
    fn notify_served(
        &mut self,
        side: usize,
        frame: u64,
        place: usize,
        bytes: u64,
        ctx: &mut Ctx<'_>,
    ) {
        let rate = bytes as f64 * 8.0 / self.frame_s;
        let served = self.schedulers[side].try_served(frame, &self.candidates, place, rate);
        if let Err(error) = served {
            ctx.fail(error);
        }
    }

    /// Creates the map of `frame`. Returns the number of uplink bursts that it grants.
    fn map_uplink(&mut self, frame: u64, ctx: &mut Ctx<'_>) -> u64 {
        if self.with_request.is_empty() {
            return 0;
        }
        self.find_candidates(1, frame, ctx);
        let sent_in = frame + self.map_relevance;
        let first = self.bursts.len();
        let mut free = self.slots[1];
        // Request headers are allocated first because they are short and the base station needs
        // their content for further grants.
        for place in 0..self.candidates.len() {
            let number = self.candidates[place].user.0 as usize;
            let (station, turn) = (&mut self.stations[number], &mut self.turns[number]);
            let slot = station.sides[1].slot;
            let mut headers = 0;
            while station.headers > 0 {
                let bytes = turn.bytes + REQUEST_HEADER;
                let more = slot.slots_for(bytes) - turn.slots;
                if more > free {
                    break;
                }
                free -= more;
                *turn = FrameAllocation { slots: turn.slots + more, bytes };
                station.headers -= 1;
                headers += 1;
            }
            if headers > 0 {
                let scheme = station.sides[1].scheme;
                let station = number as u32;
                self.bursts.push_back(Burst { frame: sent_in, station, bytes: 0, headers, scheme });
            }
        }
        self.candidates.retain(|candidate| candidate.backlog.0 > 0);
        while free > 0 && !self.candidates.is_empty() {
            let Some(place) = self.choose(1, frame, ctx) else { return 0 };
            let number = self.candidates[place].user.0 as usize;
            let given = self.grant_turn(number, sent_in, first, &mut free);
            self.notify_served(1, frame, place, given, ctx);
            let station = &mut self.stations[number];
            self.candidates[place].backlog = Bytes(station.requested);
            if given == 0 || station.requested == 0 {
                self.candidates.remove(place);
            }
        }
        for at in first..self.bursts.len() {
            let number = self.bursts[at].station as usize;
            self.meters[1].add_used(self.turns[number].slots);
            self.look_at_request(number);
        }
        (self.bursts.len() - first) as u64
    }

    /// Grants a station one turn in the uplink of the frame `sent_in`. Returns the number of
    /// granted bytes.
    fn grant_turn(&mut self, number: usize, sent_in: u64, first: usize, free: &mut u64) -> u64 {
        let station = &mut self.stations[number];
        let (slot, turn) = (station.sides[1].slot, self.turns[number]);
        let mut bytes = station.requested.min(LARGEST_MPDU);
        let space = slot.bytes_of(turn.slots + *free) - turn.bytes;
        bytes = bytes.min(space);
        if bytes == 0 {
            return 0;
        }
        let slots = slot.slots_for(turn.bytes + bytes).max(turn.slots);
        *free -= slots - turn.slots;
        self.turns[number] = FrameAllocation { slots, bytes: turn.bytes + bytes };
        station.requested -= bytes;
        station.granted_ever += bytes;
        station.counts.granted_bytes += bytes;
        let of_station = |burst: &&mut Burst| burst.station == number as u32;
        match self.bursts.iter_mut().skip(first).find(of_station) {
            Some(burst) => burst.bytes += bytes,
            None => {
                let scheme = station.sides[1].scheme;
                let station = number as u32;
                self.bursts.push_back(Burst { frame: sent_in, station, bytes, headers: 0, scheme });
            }
        }
        bytes
    }

    /// Sends the downlink of `frame`, whose map grants `bursts` uplink bursts.
    fn send_downlink(&mut self, frame: u64, bursts: u64, ctx: &mut Ctx<'_>) {
        self.find_candidates(0, frame, ctx);
        let arrives = self.clock.decoded_at(frame);
        let mut free = self.slots[0].saturating_sub(self.per_burst * bursts);
        let whole = free.saturating_sub(self.per_burst);
        while free > 0 && !self.candidates.is_empty() {
            let Some(place) = self.choose(0, frame, ctx) else { return };
            let number = self.candidates[place].user.0 as usize;
            let station = &mut self.stations[number];
            let (slot, turn) = (station.sides[0].slot, self.turns[number]);
            let is_first = turn.bytes == 0;
            let left = if is_first { free.saturating_sub(self.per_burst) } else { free };
            let space = slot.bytes_of(turn.slots + left) - turn.bytes;
            let segmentation = &self.segmentation[0];
            let mpdu = station.sides[0].next_mpdu(number as u32, space, segmentation, ctx);
            let mut given = 0;
            if let Some(mpdu) = mpdu {
                given = mpdu.bytes;
                let slots = slot.slots_for(turn.bytes + given).max(turn.slots);
                free = left - (slots - turn.slots);
                self.turns[number] = FrameAllocation { slots, bytes: turn.bytes + given };
                self.meters[0].add_used(slots - turn.slots);
                if let Some(radio) = &mut self.radio {
                    radio.count(0, mpdu.scheme);
                }
                self.air[0].send(arrives, mpdu);
                if mpdu.ends > 0 {
                    let queued = station.requested;
                    let more = self.grant.on_downlink(number as u32, Downlink::Sent, queued);
                    self.grant_proactively(number, more, ctx.now);
                }
            } else if is_first && left == whole && !segmentation.fragments {
                self.drop_too_large(0, number, ctx);
            }
            self.notify_served(0, frame, place, given, ctx);
            self.look_at(0, number);
            let direction = &self.stations[number].sides[0];
            if given == 0 || !direction.has_data() {
                self.candidates.remove(place);
            } else {
                let backlog = direction.backlog(&self.segmentation[0]);
                self.candidates[place].backlog = Bytes(backlog);
            }
        }
    }

    /// Drops the next packet if it does not fit into a frame with the largest map and fragmentation
    /// is disabled.
    #[cold]
    pub(super) fn drop_too_large(&mut self, side: usize, number: usize, ctx: &mut Ctx<'_>) {
        // A map may grant uplink to every station in every frame.
        let bursts = if side == 0 { 1 + self.stations.len() as u64 } else { 0 };
        let maps = self.per_burst * bursts;
        let direction = &mut self.stations[number].sides[side];
        // The radio channel may later allow a better MCS.
        let slot = self.radio.as_ref().map_or(direction.slot, |radio| radio.most(side));
        let largest = slot.bytes_of(self.slots[side].saturating_sub(maps));
        let header = self.segmentation[side].header;
        let fits = |bytes: u64| bytes + header <= largest;
        if direction.head_packet().is_none_or(|packet| fits(u64::from(packet.size))) {
            return;
        }
        if let Some(packet) = direction.drop_head() {
            self.deliver(side, number, packet, ctx);
        }
    }
}
