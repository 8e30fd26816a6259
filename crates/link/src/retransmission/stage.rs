//! The loops behind the air of a serial link: HARQ, ARQ, and release in order.
//!
//! The link's own loss and its error process corrupt attempts. Retransmissions begin and end as
//! [`Retransmission`] decides, regardless of other transmissions of the link: they take time and no
//! capacity. Each meets the link's own loss with the probability of the first, and the error
//! process at its own time.

use crate::files::Files;
use crate::links::frame_errors::FrameErrors;
use crate::retransmission::arq::ArqConfig;
use crate::retransmission::harq::HarqConfig;
use crate::retransmission::resequencer::Resequencer;
use crate::retransmission::{BlockOutcome, Retransmission};
use airpath_core::{ConfigError, DropReason, Duration, Packet, Seed, Time};
use airpath_phy::errors::Frame;
use std::borrow::Cow;

/// A packet whose first attempt has ended.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// Its number in the order of first attempts.
    number: u64,
    /// Probability that the link itself loses an attempt.
    loss: f64,
    /// The first attempt.
    frame: Frame,
}

/// Retransmissions after the first attempts of a serial link.
pub(crate) struct RetransmissionStage {
    recovery: Retransmission<Flight>,
    order: Resequencer<Packet>,
    /// Drop reason of discarded packets.
    reason: DropReason,
    /// Start of the latest frame for which the error process was called.
    asked_from: Time,
    counts: Counts,
}

/// Counters since the start of measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    repetitions: u64,
    recovered: u64,
    received: u64,
    delay: Duration,
}

impl RetransmissionStage {
    /// The stage of `harq` and `arq`; `None` without either, since then nothing is late.
    ///
    /// # Errors
    /// When a value is outside its range, or a table is not among `files`.
    pub(crate) fn new(
        harq: Option<&HarqConfig>,
        arq: Option<ArqConfig>,
        in_order: bool,
        files: &Files,
        seed: &Seed,
    ) -> Result<Option<Box<RetransmissionStage>>, ConfigError> {
        if harq.is_none() && arq.is_none() {
            return Ok(None);
        }
        let reason = if harq.is_some() { DropReason::Retries } else { DropReason::Channel };
        Ok(Some(Box::new(RetransmissionStage {
            recovery: Retransmission::with_files(harq, arq, files, seed)?,
            order: Resequencer::new(in_order),
            reason,
            asked_from: Time::ZERO,
            counts: Counts::default(),
        })))
    }

    /// Drop reason of a discarded packet.
    pub(crate) fn reason(&self) -> DropReason {
        self.reason
    }

    /// From when on the next packet may be sent for the first time: `now`, or later.
    pub(crate) fn free_from(&mut self, now: Time) -> Time {
        self.recovery.free_from(now)
    }

    /// The first attempt of `packet` has ended, the frame `frame` with the link's own loss `loss`.
    /// `release` is given what leaves, and whether it was received.
    pub(crate) fn end_first(
        &mut self,
        packet: Packet,
        (loss, frame): (f64, Frame),
        air: &mut FrameErrors,
        release: impl FnMut(Packet, bool),
    ) {
        // No process has been requested since it started: the link sends one packet at a time.
        self.recovery.start();
        let flight = Flight { number: self.order.push(packet), loss, frame };
        let is_corrupted = corrupts(&flight, frame.ended, air, &mut self.asked_from);
        let airtime = frame.ended.saturating_since(frame.began);
        if let Some(ended) = self.recovery.end_first(flight, is_corrupted, airtime, frame.ended) {
            self.settle(ended, frame.ended, release);
        }
    }

    /// Everything that is due by `now`.
    pub(crate) fn take_due(
        &mut self,
        now: Time,
        air: &mut FrameErrors,
        mut release: impl FnMut(Packet, bool),
    ) {
        while self.recovery.next_wakeup() <= now {
            let (asked_from, counts) = (&mut self.asked_from, &mut self.counts);
            let ended = self.recovery.take_due(now, |flight| {
                counts.repetitions += 1;
                corrupts(flight, now, air, asked_from)
            });
            match ended {
                Some(ended) => self.settle(ended, now, &mut release),
                None => return,
            }
        }
    }

    /// The outcome of a packet is known.
    fn settle(
        &mut self,
        ended: BlockOutcome<Flight>,
        now: Time,
        release: impl FnMut(Packet, bool),
    ) {
        let BlockOutcome { block: Flight { number, frame, .. }, is_received } = ended;
        if is_received {
            let delay = now.saturating_since(frame.ended);
            self.counts.received += 1;
            self.counts.recovered += u64::from(delay > Duration::ZERO);
            self.counts.delay += delay;
        }
        self.order.settle(number, is_received, release);
    }

    /// When a repetition ends next.
    pub(crate) fn next_wakeup(&self) -> Time {
        self.recovery.next_wakeup()
    }

    /// Packets that have been sent and have not left.
    pub(crate) fn held(&self) -> usize {
        self.order.len()
    }

    /// Restarts the counters.
    pub(crate) fn restart_measurement(&mut self) {
        self.counts = Counts::default();
    }

    /// Counters by name: repetitions that have ended; packets received by one, or by ARQ; the mean
    /// time from the end of a packet's first attempt to its reception, in which waiting for order
    /// is no part.
    pub(crate) fn counters(&self) -> [(Cow<'static, str>, f64); 3] {
        let Counts { repetitions, recovered, received, delay } = self.counts;
        let mean_s = delay.as_secs_lossy() / received.max(1) as f64;
        [
            ("repetitions".into(), repetitions as f64),
            ("recovered_packets".into(), recovered as f64),
            ("recovery_delay_mean_s".into(), mean_s),
        ]
    }
}

/// Whether the air corrupts an attempt that ends at `ended`. The error process is called in order
/// of time: for an attempt that began before the latest call, with the time after that call.
fn corrupts(flight: &Flight, ended: Time, air: &mut FrameErrors, asked_from: &mut Time) -> bool {
    let Flight { loss, frame, .. } = *flight;
    air.corrupts(loss, || {
        let airtime = frame.ended.saturating_since(frame.began).as_nanos();
        let began = Time::from_nanos(ended.as_nanos().saturating_sub(airtime));
        *asked_from = began.max(*asked_from);
        Frame { began: *asked_from, ended, ..frame }
    })
}
