//! Transmission of MPDUs on the air, retransmissions, and delivery of packets to the upper layer.

use super::Tdd;
use super::settings::TddConfig;
use super::side::{Mpdu, Side};
use super::station::Station;
use crate::context::LinkContext;
use crate::mac::grant::{Downlink, Grant};
use crate::retransmission::{BlockOutcome, Retransmission};
use airpath_core::{Bytes, ConfigError, Ctx, DropReason, Duration, Seed, Time};
use airpath_phy::errors::{AnyErrors, ErrorProcess, Frame};
use serde_json::Value;
use std::collections::VecDeque;

/// MPDUs on the air in one direction, and their retransmissions.
pub(super) struct AirInterface {
    /// Sent MPDUs, in order of arrival.
    sent: VecDeque<(Time, Mpdu)>,
    errors: Option<AnyErrors>,
    recovery: Retransmission<Mpdu>,
    /// True if no MPDU can be corrupted.
    is_perfect: bool,
    /// Time of the next arrival or of the end of the next retransmission.
    next: Time,
    /// Drop reason of discarded packets.
    reason: DropReason,
}

impl AirInterface {
    pub(super) fn new(
        config: &TddConfig,
        context: &LinkContext,
        errors: Option<&Value>,
        seed: &Seed,
    ) -> Result<AirInterface, ConfigError> {
        let reason = if config.harq.is_some() { DropReason::Retries } else { DropReason::Channel };
        let errors = context.errors(errors, seed)?;
        let recovery =
            Retransmission::with_files(config.harq.as_ref(), config.arq, &context.files, seed)?;
        let is_perfect = errors.is_none() && recovery.is_nothing() && config.radio.is_none();
        Ok(AirInterface {
            sent: VecDeque::new(),
            errors,
            recovery,
            is_perfect,
            next: Time::NEVER,
            reason,
        })
    }

    /// Sends an MPDU that arrives at `at`. Arrival times must not decrease.
    #[inline]
    pub(super) fn send(&mut self, at: Time, mpdu: Mpdu) {
        self.sent.push_back((at, mpdu));
        self.next = self.next.min(at);
    }

    /// Adds the piggyback request with the number `request_number` to the last sent MPDU.
    pub(super) fn carry(&mut self, request_number: u32) {
        if let Some((_, mpdu)) = self.sent.back_mut() {
            mpdu.request_number = request_number;
        }
    }

    #[inline]
    pub(super) fn next_wakeup(&self) -> Time {
        self.next
    }

    fn find_next(&mut self) {
        let first = self.sent.front().map_or(Time::NEVER, |(at, _)| *at);
        self.next = first.min(self.recovery.next_wakeup());
    }

    /// Removes and returns an MPDU that has arrived by `now`.
    #[inline]
    fn take_arrived(&mut self, now: Time) -> Option<Mpdu> {
        let (at, mpdu) = self.sent.front().copied()?;
        if at > now {
            return None;
        }
        self.sent.pop_front();
        Some(mpdu)
    }

    /// Removes and returns an MPDU whose outcome is known by `now`. An attempt takes the time
    /// `airtime`. `fades` returns true if the radio channel corrupts an attempt. Calls `sent_once` at the
    /// end of each first attempt.
    fn take_ended(
        &mut self,
        now: Time,
        airtime: Duration,
        mut fades: impl FnMut(&mut Mpdu) -> bool,
        mut sent_once: impl FnMut(&Mpdu),
    ) -> Option<BlockOutcome<Mpdu>> {
        let AirInterface { sent, errors, recovery, .. } = self;
        let mut corrupts = |mpdu: &mut Mpdu, ended: Time| {
            let fades = fades(mpdu);
            let is_corrupted = errors.as_mut().is_some_and(|errors| {
                let began = Time::from_nanos(ended.as_nanos().saturating_sub(airtime.as_nanos()));
                errors.corrupts(&Frame { began, ended, bytes: Bytes(mpdu.bytes), mcs: None })
            });
            fades || is_corrupted
        };
        if recovery.next_wakeup() <= now
            && let Some(ended) = recovery.take_due(now, |mpdu| corrupts(mpdu, now))
        {
            return Some(ended);
        }
        while let Some((at, mut mpdu)) = sent.front().copied()
            && at <= now
        {
            sent.pop_front();
            sent_once(&mpdu);
            let is_corrupted = corrupts(&mut mpdu, at);
            if let Some(ended) = recovery.begin(mpdu, is_corrupted, now) {
                return Some(ended);
            }
        }
        None
    }
}

impl Tdd {
    /// Receives all MPDUs of the direction `side` whose outcome is known at the current time.
    pub(super) fn receive_mpdus(&mut self, side: usize, ctx: &mut Ctx<'_>) {
        if self.air[side].is_perfect {
            while let Some(mpdu) = self.air[side].take_arrived(ctx.now) {
                self.settle(side, &mpdu, true, ctx);
            }
        } else {
            self.receive_through_errors(side, ctx);
        }
        self.air[side].find_next();
    }

    /// Receives MPDUs that may be corrupted and retransmitted.
    fn receive_through_errors(&mut self, side: usize, ctx: &mut Ctx<'_>) {
        let frame = |at: fn(&super::Clock, u64) -> Time| at(&self.clock, 0);
        let airtime = match side {
            0 => frame(super::Clock::decoded_at).saturating_since(Time::ZERO),
            _ => frame(super::Clock::received_at).saturating_since(frame(super::Clock::closed_at)),
        };
        let offset = match side {
            0 => airtime,
            _ => frame(super::Clock::received_at).saturating_since(Time::ZERO),
        };
        let number = ctx.now.saturating_since(Time::ZERO + offset).as_nanos()
            / self.clock.frame().as_nanos();
        loop {
            let Tdd { air, radio, stations, .. } = self;
            let fades = |mpdu: &mut Mpdu| {
                radio.as_mut().is_some_and(|radio| radio.corrupts(side, number, mpdu))
            };
            let (now, is_recorded) = (ctx.now, ctx.records_instants());
            let sent_once = |mpdu: &Mpdu| {
                if is_recorded {
                    stations[mpdu.station as usize].sides[side].note_sent(mpdu, ctx);
                }
            };
            let ended = air[side].take_ended(now, airtime, fades, sent_once);
            let Some(ended) = ended else { break };
            self.settle(side, &ended.block, ended.is_received, ctx);
        }
    }

    /// Records the outcome of an MPDU: its packets are delivered or lost.
    #[inline]
    fn settle(&mut self, side: usize, mpdu: &Mpdu, is_received: bool, ctx: &mut Ctx<'_>) {
        let number = mpdu.station as usize;
        for packet in mpdu.numbers() {
            let station = &mut self.stations[number].sides[side];
            if station.settle_piece(packet, is_received) {
                if ctx.records_instants() {
                    station.note_received(packet, ctx);
                }
                self.deliver(side, number, packet, ctx);
            }
        }
        if mpdu.request_number > 0 {
            self.read_carried(number, mpdu.request_number, is_received, ctx.now);
        }
    }

    /// Releases packets of a station after packet number `settled` was received or lost: delivers
    /// received packets and drops lost packets.
    pub(super) fn deliver(&mut self, side: usize, number: usize, settled: u64, ctx: &mut Ctx<'_>) {
        loop {
            let Tdd { stations, meters, ports, air, .. } = &mut *self;
            let Station { sides, traffic, delays, .. } = &mut stations[number];
            let Side { queue, in_flight, .. } = &mut sides[side];
            let Some((first, msdu, is_received)) = in_flight.released_by(settled) else { break };
            let traffic = &mut traffic[side];
            if is_received {
                traffic.packets += 1;
                traffic.bytes += u64::from(msdu.packet.size);
                if side == 1 {
                    delays.add(msdu.packet.waited(ctx.now));
                }
                meters[side].deliver(&msdu.packet);
                queue.on_served(&mut msdu.packet, ctx);
                ctx.emit(ports[side], msdu.packet);
            } else {
                traffic.lost += 1;
                meters[side].lose();
                queue.lose(msdu.packet, air[side].reason, ctx);
            }
            let ends_mpdu = msdu.ends_mpdu;
            in_flight.take(first);
            if side == 0 && ends_mpdu {
                let event = Downlink::Ended { is_received };
                let queued = self.stations[number].requested;
                let more = self.grant.on_downlink(number as u32, event, queued);
                self.grant_proactively(number, more, ctx.now);
            }
        }
    }
}
