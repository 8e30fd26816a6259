//! From the air to the packets that are handed up.

use super::Tdd;
use super::settings::TddConfig;
use super::side::Mpdu;
use crate::grant::{Downlink, Grant};
use crate::kit::LinkKit;
use crate::recovery::{Ended, Recovery};
use airpath_core::{Bytes, ConfigError, Ctx, DropReason, Duration, Seed, Time};
use airpath_phy::errors::{AnyErrors, ErrorProcess, Frame};
use serde_json::Value;
use std::collections::VecDeque;

/// What is on the air in one direction, and what becomes of it.
pub(super) struct Air {
    /// Bursts' MPDUs by their arrival.
    sent: VecDeque<(Time, Mpdu)>,
    errors: Option<AnyErrors>,
    recovery: Recovery<Mpdu>,
    /// What is given up counts as that, where something was repeated.
    reason: DropReason,
}

impl Air {
    pub(super) fn new(
        config: &TddConfig,
        kit: &LinkKit,
        errors: Option<&Value>,
        seed: &Seed,
    ) -> Result<Air, ConfigError> {
        let reason = if config.harq.is_some() { DropReason::Retries } else { DropReason::Channel };
        Ok(Air {
            sent: VecDeque::new(),
            errors: kit.errors(errors, seed)?,
            recovery: Recovery::with_files(config.harq.as_ref(), config.arq, &kit.files, seed)?,
            reason,
        })
    }

    /// Puts an MPDU on the air, which arrives at `at`, not before those that were put there before.
    #[inline]
    pub(super) fn send(&mut self, at: Time, mpdu: Mpdu) {
        self.sent.push_back((at, mpdu));
    }

    #[inline]
    pub(super) fn next_wakeup(&self) -> Time {
        let first = self.sent.front().map_or(Time::NEVER, |(at, _)| *at);
        first.min(self.recovery.next_wakeup())
    }

    /// Takes an MPDU whose fate is known by `now`; on the air it has been for `airtime`. `fades` says
    /// what the radio does to an attempt.
    fn take_ended(
        &mut self,
        now: Time,
        airtime: Duration,
        mut fades: impl FnMut(&mut Mpdu) -> bool,
    ) -> Option<Ended<Mpdu>> {
        let Air { sent, errors, recovery, .. } = self;
        let mut destroys = |mpdu: &mut Mpdu, ended: Time| {
            let fades = fades(mpdu);
            let is_destroyed = errors.as_mut().is_some_and(|errors| {
                let began = Time::from_nanos(ended.as_nanos().saturating_sub(airtime.as_nanos()));
                errors.destroys(&Frame { began, ended, bytes: Bytes(mpdu.bytes), mcs: None })
            });
            fades || is_destroyed
        };
        if recovery.next_wakeup() <= now
            && let Some(ended) = recovery.take_due(now, |mpdu| destroys(mpdu, now))
        {
            return Some(ended);
        }
        while let Some((at, mut mpdu)) = sent.front().copied()
            && at <= now
        {
            sent.pop_front();
            let is_destroyed = destroys(&mut mpdu, at);
            if let Some(ended) = recovery.begin(mpdu, is_destroyed, now) {
                return Some(ended);
            }
        }
        None
    }
}

impl Tdd {
    /// Everything of the direction `side` whose fate is known by now.
    pub(super) fn receive_mpdus(&mut self, side: usize, ctx: &mut Ctx<'_>) {
        if self.air[side].next_wakeup() > ctx.now {
            return;
        }
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
            let Tdd { air, radio, .. } = self;
            let fades = |mpdu: &mut Mpdu| {
                radio.as_mut().is_some_and(|radio| radio.destroys(side, number, mpdu))
            };
            let Some(ended) = air[side].take_ended(ctx.now, airtime, fades) else { break };
            self.settle(side, &ended, ctx);
        }
    }

    /// An MPDU is settled: its packets are handed up, or lost.
    fn settle(&mut self, side: usize, ended: &Ended<Mpdu>, ctx: &mut Ctx<'_>) {
        let number = ended.block.station as usize;
        let mut released = std::mem::take(&mut self.released);
        let direction = &mut self.stations[number].sides[side];
        direction.settle(&ended.block, ended.is_received, |msdu, is_received| {
            released.push((msdu, is_received));
        });
        self.hand_up(side, number, &mut released, ctx);
        self.released = released;
    }

    /// Hands up what is released at a station, or drops what is lost.
    pub(super) fn hand_up(
        &mut self,
        side: usize,
        number: usize,
        released: &mut Vec<(super::Msdu, bool)>,
        ctx: &mut Ctx<'_>,
    ) {
        for (mut msdu, is_received) in released.drain(..) {
            let station = &mut self.stations[number];
            let traffic = &mut station.traffic[side];
            if is_received {
                traffic.packets += 1;
                traffic.bytes += u64::from(msdu.packet.size);
                if side == 1 {
                    station.delays.add(msdu.packet.waited(ctx.now));
                }
                self.meters[side].deliver(&msdu.packet);
                station.sides[side].queue.on_served(&mut msdu.packet, ctx);
                ctx.emit(self.ports[side], msdu.packet);
            } else {
                traffic.lost += 1;
                self.meters[side].lose();
                station.sides[side].lose(msdu.packet, self.air[side].reason, ctx);
            }
            if side == 0 && msdu.ends_mpdu {
                let event = Downlink::Ended { is_received };
                let more = self.grant.on_downlink(number as u32, event, station.requested);
                self.grant_unasked(number, more, ctx.now);
            }
        }
    }
}
