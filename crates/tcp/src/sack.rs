//! Loss detection and recovery with selective acknowledgements.
//!
//! Source: RFC 6675 (its `SetPipe`, `IsLost`, `NextSeg`, here on byte ranges instead of byte by
//! byte); RFC 6937 for proportional rate reduction.
//! After a timeout all SACK information is forgotten, as RFC 2018 §8 asks for fear of reneging;
//! everything outstanding counts as lost and is sent again in slow start, except what the
//! receiver reports anew.

use crate::options::{RecoveryKind, TcpOptions};
use crate::ranges::{Range, RangeSet};
use crate::recovery::Verdict;
use airpath_core::SackBlock;

/// DupThresh (RFC 6675 §2).
const DUP_THRESH: u32 = 3;

/// What an ACK says, in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged<'a> {
    /// The oldest unacknowledged byte before this ACK.
    pub(crate) una: u64,
    /// The cumulative acknowledgement.
    pub(crate) ack: u64,
    /// The selective ones.
    pub(crate) blocks: &'a [SackBlock],
    /// Everything before it has been sent.
    pub(crate) snd_max: u64,
}

/// The next segment to send (`NextSeg`, RFC 6675 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextSegment {
    /// The segment that begins here, again.
    Resend(u64),
    /// The highest segment that was not acknowledged, again, to keep the ACKs coming (rule 4).
    Rescue(u64),
    /// New data.
    New,
}

/// Loss detection and recovery of one sender with SACK.
#[derive(Clone, Debug)]
pub(crate) struct SackRecovery {
    mss: u64,
    limited_transmit: bool,
    proportional: bool,
    sacked: RangeSet,
    duplicates: u32,
    sent_before_duplicates: u64,
    phase: Phase,
    /// No new recovery before everything up to here is acknowledged.
    recovery_point: u64,
    /// HighRxt, as the offset behind the highest byte sent again in this phase.
    high_rxt: u64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    Recovery(Episode),
    /// After a timeout, until everything sent before it is acknowledged.
    Loss,
}

/// One recovery.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// RescueRxt.
    rescue: Option<u64>,
    reduction: Reduction,
}

/// Proportional rate reduction (RFC 6937 §3.1), bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    /// RecoverFS, FlightSize at the start.
    recover_fs: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
    /// What is left of sndcnt.
    budget: u64,
}

impl Reduction {
    /// An ACK delivered `delivered` bytes; `pipe` bytes are outstanding (RFC 6937 §3.1).
    fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64, mss: u64) {
        self.delivered += delivered;
        self.budget = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let due = share.div_ceil(u128::from(self.recover_fs.max(1)));
            u64::try_from(due).unwrap_or(u64::MAX).saturating_sub(self.out)
        } else {
            // Slow-start reduction bound.
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + mss;
            (ssthresh - pipe).min(limit)
        };
    }

    fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.budget = self.budget.saturating_sub(bytes);
    }
}

impl SackRecovery {
    /// Recovery as `options` ask for it; `None` when it does not use SACK.
    pub(crate) fn new(options: &TcpOptions) -> Option<SackRecovery> {
        options.recovery.uses_sack().then(|| SackRecovery {
            mss: u64::from(options.mss),
            limited_transmit: options.limited_transmit,
            proportional: options.recovery == RecoveryKind::Prr,
            sacked: RangeSet::default(),
            duplicates: 0,
            sent_before_duplicates: 0,
            phase: Phase::Open,
            recovery_point: 0,
            high_rxt: 0,
        })
    }

    /// Takes an ACK; `ssthresh` is the window law's.
    pub(crate) fn on_ack(&mut self, acknowledged: &Acknowledged<'_>, ssthresh: u64) -> Verdict {
        let Acknowledged { una, ack, snd_max, .. } = *acknowledged;
        let newly_sacked = self.absorb(acknowledged);
        let known = if ack > una { self.sacked.remove_before(ack) } else { 0 };
        let delivered = ack - una - known + newly_sacked;
        self.high_rxt = self.high_rxt.max(ack);
        if ack >= self.recovery_point && !matches!(self.phase, Phase::Open) {
            self.duplicates = 0;
            let was_recovery = matches!(self.phase, Phase::Recovery(_));
            self.phase = Phase::Open;
            return if was_recovery { Verdict::Recovered } else { Verdict::Grow };
        }
        let pipe = self.pipe(ack, snd_max);
        match &mut self.phase {
            Phase::Recovery(episode) => {
                episode.reduction.on_ack(delivered, pipe, ssthresh, self.mss);
                Verdict::Wait
            }
            Phase::Loss if ack > una => Verdict::Grow,
            Phase::Loss => Verdict::Wait,
            Phase::Open if ack > una => {
                self.duplicates = 0;
                Verdict::Grow
            }
            Phase::Open => self.on_duplicate(ack, snd_max),
        }
    }

    /// Adds the blocks to the scoreboard; gives how many bytes were news.
    fn absorb(&mut self, acknowledged: &Acknowledged<'_>) -> u64 {
        let &Acknowledged { ack, blocks, snd_max, .. } = acknowledged;
        let ranges = blocks.iter().map(|block| {
            let start = ack + u64::from(block.offset);
            Range { start, end: start + u64::from(block.length) }
        });
        ranges
            .filter(|range| range.start < range.end && range.end <= snd_max)
            .map(|range| self.sacked.insert(range))
            .sum()
    }

    /// RFC 6675 §5: a duplicate ACK outside of recovery.
    fn on_duplicate(&mut self, una: u64, snd_max: u64) -> Verdict {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == 1 {
            self.sent_before_duplicates = snd_max;
        }
        let is_lost = self.duplicates >= DUP_THRESH || una < self.lost_before();
        if !is_lost || una < self.recovery_point {
            return Verdict::Wait;
        }
        self.recovery_point = snd_max;
        self.high_rxt = una;
        let reduction = Reduction { recover_fs: snd_max - una, ..Reduction::default() };
        self.phase = Phase::Recovery(Episode { rescue: None, reduction });
        Verdict::FastRetransmit
    }

    /// The retransmission timer expired (RFC 6675 §5.1).
    pub(crate) fn on_rto(&mut self, una: u64, snd_max: u64) {
        self.sacked.clear();
        self.duplicates = 0;
        self.phase = Phase::Loss;
        self.recovery_point = snd_max;
        self.high_rxt = una;
    }

    /// Limited transmit's share of what is outstanding, not part of FlightSize.
    pub(crate) fn limited_transmit_sent(&self, snd_max: u64) -> u64 {
        if self.limited_transmit { snd_max - self.sent_before_duplicates } else { 0 }
    }

    /// RFC 3042: what duplicates allow beyond cwnd before a recovery starts.
    #[inline]
    pub(crate) fn limited_transmit_allowance(&self) -> u64 {
        if self.limited_transmit {
            u64::from(self.duplicates.min(DUP_THRESH - 1)) * self.mss
        } else {
            0
        }
    }

    /// Whether what may be sent is ruled by `pipe` and not by the edge of the window.
    #[inline]
    pub(crate) fn counts_pipe(&self) -> bool {
        !matches!(self.phase, Phase::Open)
    }

    /// Whether a segment may be sent now, for a window law that allows `cwnd`.
    pub(crate) fn may_send(&self, cwnd: u64, una: u64, snd_max: u64) -> bool {
        match &self.phase {
            Phase::Recovery(episode) if self.proportional => episode.reduction.budget >= self.mss,
            _ => {
                let pipe = self.pipe(una, snd_max);
                pipe == 0 || cwnd >= pipe + self.mss
            }
        }
    }

    /// `IsLost` (RFC 6675 §4): unacknowledged bytes before this edge are lost, because at least
    /// DupThresh ranges, or more than DupThresh − 1 segments, were acknowledged beyond them.
    fn lost_before(&self) -> u64 {
        let enough = u64::from(DUP_THRESH - 1) * self.mss;
        let (mut bytes, mut ranges) = (0, 0);
        for range in self.sacked.as_slice().iter().rev() {
            bytes += range.len();
            ranges += 1;
            if bytes > enough || ranges >= DUP_THRESH {
                return range.start;
            }
        }
        0
    }

    fn lost_edge(&self) -> u64 {
        match self.phase {
            Phase::Loss => self.recovery_point.max(self.lost_before()),
            _ => self.lost_before(),
        }
    }

    /// `SetPipe` (RFC 6675 §4): bytes outstanding that are not lost, and those sent again.
    fn pipe(&self, una: u64, snd_max: u64) -> u64 {
        let lost_edge = self.lost_edge().clamp(una, snd_max);
        let sacked_beyond = self.sacked.bytes() - self.sacked.bytes_before(lost_edge);
        let not_lost = snd_max - lost_edge - sacked_beyond;
        let high_rxt = self.high_rxt.max(una);
        let resent = high_rxt - una - self.sacked.bytes_before(high_rxt);
        not_lost + resent
    }

    /// `NextSeg` (RFC 6675 §4); `has_new` tells whether new data may be sent.
    pub(crate) fn next_segment(
        &self,
        una: u64,
        snd_max: u64,
        has_new: bool,
    ) -> Option<NextSegment> {
        let from = self.high_rxt.max(una);
        let hole = self.sacked.holding(from).map_or(from, |range| range.end);
        if hole < self.lost_edge() {
            return Some(NextSegment::Resend(hole));
        }
        if has_new {
            return Some(NextSegment::New);
        }
        let Phase::Recovery(episode) = self.phase else { return None };
        let highest_sacked = self.sacked.as_slice().last()?.end;
        if hole < highest_sacked {
            return Some(NextSegment::Resend(hole));
        }
        if episode.rescue.is_some_and(|rescue| una <= rescue) {
            return None;
        }
        let tail = if highest_sacked == snd_max {
            self.sacked.as_slice().last().map_or(snd_max, |range| range.start)
        } else {
            snd_max
        };
        (tail > una).then(|| NextSegment::Rescue(tail - 1))
    }

    /// The bytes from `start` to `end` were sent again.
    pub(crate) fn on_resent(&mut self, start: u64, end: u64, is_rescue: bool) {
        if let Phase::Recovery(episode) = &mut self.phase {
            episode.reduction.on_sent(end - start);
            if is_rescue {
                episode.rescue = Some(self.recovery_point);
            }
        }
        if !is_rescue {
            self.high_rxt = self.high_rxt.max(end);
        }
    }

    /// `bytes` of new data were sent.
    pub(crate) fn on_new_data(&mut self, bytes: u64) {
        if let Phase::Recovery(episode) = &mut self.phase {
            episode.reduction.on_sent(bytes);
        }
    }
}
