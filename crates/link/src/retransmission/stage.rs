//! HARQ, ARQ and release in order for a serial link.
//!
//! An attempt can be corrupted by the random loss of the link and by its error process.
//! [`Retransmission`] determines the times of retransmissions. They do not depend on other
//! transmissions of the link: they take time but no capacity. A retransmission has the loss
//! probability of the first attempt; the error process is evaluated at the time of the
//! retransmission.

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
    /// Number of the packet, in order of the first attempts.
    number: u64,
    /// Probability that the random loss of the link corrupts an attempt.
    loss: f64,
    /// Frame of the first attempt.
    frame: Frame,
}

/// Progress of a packet whose first attempt has ended.
pub(crate) enum Progress<'a> {
    /// The packet is received. Its release follows, immediately or later.
    Received(&'a Packet),
    /// The packet is released; true if it was received, false if it is lost.
    Released(Packet, bool),
}

/// HARQ, ARQ and release in order of a serial link.
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
    /// Creates the stage for `harq` and `arq`. Returns `None` without HARQ and ARQ.
    ///
    /// # Errors
    /// If a value is outside its range, or if a table is missing in `files`.
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

    /// Returns the earliest time, at or after `now`, at which the next packet may be sent for the
    /// first time.
    pub(crate) fn free_from(&mut self, now: Time) -> Time {
        self.recovery.free_from(now)
    }

    /// Processes the end of the first attempt of `packet`. `frame` is the frame of this attempt,
    /// and `loss` is the random loss probability of the link. Calls `report` with the progress of
    /// packets.
    pub(crate) fn end_first(
        &mut self,
        packet: Packet,
        (loss, frame): (f64, Frame),
        air: &mut FrameErrors,
        report: impl FnMut(Progress<'_>),
    ) {
        // The start is recorded only now. No free process was needed in the meantime, because the
        // link sends one packet at a time.
        self.recovery.start();
        let flight = Flight { number: self.order.push(packet), loss, frame };
        let is_corrupted = corrupts(&flight, frame.ended, air, &mut self.asked_from);
        let airtime = frame.ended.saturating_since(frame.began);
        if let Some(ended) = self.recovery.end_first(flight, is_corrupted, airtime, frame.ended) {
            self.settle(ended, frame.ended, report);
        }
    }

    /// Processes all retransmissions that end by `now`.
    pub(crate) fn take_due(
        &mut self,
        now: Time,
        air: &mut FrameErrors,
        mut report: impl FnMut(Progress<'_>),
    ) {
        while self.recovery.next_wakeup() <= now {
            let (asked_from, counts) = (&mut self.asked_from, &mut self.counts);
            let ended = self.recovery.take_due(now, |flight| {
                counts.repetitions += 1;
                corrupts(flight, now, air, asked_from)
            });
            match ended {
                Some(ended) => self.settle(ended, now, &mut report),
                None => return,
            }
        }
    }

    /// Records the outcome of a packet.
    fn settle(
        &mut self,
        ended: BlockOutcome<Flight>,
        now: Time,
        mut report: impl FnMut(Progress<'_>),
    ) {
        let BlockOutcome { block: Flight { number, frame, .. }, is_received } = ended;
        if is_received {
            let delay = now.saturating_since(frame.ended);
            self.counts.received += 1;
            self.counts.recovered += u64::from(delay > Duration::ZERO);
            self.counts.delay += delay;
            if let Some(packet) = self.order.get_mut(number) {
                report(Progress::Received(packet));
            }
        }
        self.order.settle(number, is_received, |packet, is_received| {
            report(Progress::Released(packet, is_received));
        });
    }

    /// Time at which the next retransmission ends.
    pub(crate) fn next_wakeup(&self) -> Time {
        self.recovery.next_wakeup()
    }

    /// Number of packets that have been sent but not released.
    pub(crate) fn held(&self) -> usize {
        self.order.len()
    }

    /// Restarts the counters.
    pub(crate) fn restart_measurement(&mut self) {
        self.counts = Counts::default();
    }

    /// Returns the counters as pairs of name and value:
    /// - number of completed retransmissions;
    /// - number of packets received by a retransmission or by ARQ;
    /// - mean time from the end of a packet's first attempt to its reception, without the delay of
    ///   release in order.
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

/// Returns true if the channel corrupts an attempt that ends at `ended`. The error process must be
/// called with ascending times. Therefore an attempt that started before the last call is evaluated
/// at a later time.
fn corrupts(flight: &Flight, ended: Time, air: &mut FrameErrors, asked_from: &mut Time) -> bool {
    let Flight { loss, frame, .. } = *flight;
    air.corrupts(loss, || {
        let airtime = frame.ended.saturating_since(frame.began).as_nanos();
        let began = Time::from_nanos(ended.as_nanos().saturating_sub(airtime));
        *asked_from = began.max(*asked_from);
        Frame { began: *asked_from, ended, ..frame }
    })
}
