//! Loss detection and recovery with selective acknowledgements.
//!
//! Source: RFC 6675 (its `SetPipe`, `IsLost`, `NextSeg`, here on byte ranges instead of byte by
//! byte); RFC 6937 with the slow-start reduction bound for proportional rate reduction.
//! After a timeout everything outstanding counts as lost and is sent again in slow start, except
//! what is known to have arrived. All SACK information is forgotten first, as RFC 2018 §8 asks for
//! fear of reneging; or, as in Linux (`tcp_timeout_mark_lost`), only when the oldest segment is
//! part of it, which proves reneging.

use crate::options::{RecoveryKind, SackAfterTimeout, TcpOptions};
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
    /// The cumulative acknowledgement; before `una` when the ACK was overtaken by another.
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
    after_timeout: SackAfterTimeout,
    sacked: RangeSet,
    /// DupAcks.
    duplicates: u32,
    /// Bytes that limited transmit has sent for these duplicates.
    limited_transmit_sent: u64,
    /// DeliveredData of the last ACK: bytes that it acknowledged first, in either way.
    delivered: u64,
    phase: Phase,
    /// RecoveryPoint: no new recovery before everything up to here is acknowledged.
    recovery_point: u64,
    /// HighRxt, as the offset behind the highest byte sent again in this phase.
    high_rxt: u64,
    /// `pipe` since the last ACK, while nothing was sent again.
    known_pipe: Option<u64>,
    /// The flight that the last loss was reckoned from.
    lost_flight: u64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    Recovery(Episode),
    /// After a timeout, until everything sent before it is acknowledged. When what SACK told was
    /// forgotten, blocks may tell it anew.
    Loss {
        forgot: bool,
    },
}

/// One recovery.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// RescueRxt, as an offset behind a byte: rule 4 waits until more is acknowledged.
    rescue_rxt: u64,
    /// What rules instead of cwnd − pipe (RFC 6937).
    reduction: Option<Reduction>,
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
            after_timeout: options.sack_after_timeout,
            sacked: RangeSet::default(),
            duplicates: 0,
            limited_transmit_sent: 0,
            delivered: 0,
            phase: Phase::Open,
            recovery_point: 0,
            high_rxt: 0,
            known_pipe: None,
            lost_flight: 0,
        })
    }

    /// Takes an ACK; `ssthresh` is the window law's.
    pub(crate) fn on_ack(&mut self, acknowledged: &Acknowledged<'_>, ssthresh: u64) -> Verdict {
        let &Acknowledged { una, ack, snd_max, .. } = acknowledged;
        let ack = ack.max(una);
        self.known_pipe = None;
        let news = self.absorb(acknowledged);
        let known = if ack > una { self.sacked.remove_before(ack) } else { 0 };
        let first_told = if self.may_be_told_anew() { 0 } else { news };
        self.delivered = ack - una - known + first_told;
        self.high_rxt = self.high_rxt.max(ack);
        let open_verdict = if ack > una { Verdict::Grow } else { Verdict::Wait };
        match self.phase {
            Phase::Open => {
                if ack > una {
                    self.forget_duplicates();
                }
                if news > 0 && self.on_duplicate(ack) {
                    self.begin(ack, snd_max);
                    return Verdict::FastRetransmit;
                }
                open_verdict
            }
            Phase::Recovery(_) if ack >= self.recovery_point => {
                self.open();
                Verdict::Recovered
            }
            Phase::Recovery(_) => {
                self.reduce(ack, snd_max, ssthresh);
                Verdict::Wait
            }
            Phase::Loss { .. } => {
                if ack >= self.recovery_point {
                    self.open();
                }
                open_verdict
            }
        }
    }

    /// `Update` (RFC 6675 §4): adds the blocks to the scoreboard; gives how many bytes were news.
    /// A block at the cumulative acknowledgement contradicts it, one beyond `snd_max` cannot be.
    fn absorb(&mut self, acknowledged: &Acknowledged<'_>) -> u64 {
        let &Acknowledged { una, ack, blocks, snd_max } = acknowledged;
        let ranges = blocks.iter().map(|block| {
            let start = ack + u64::from(block.offset);
            Range { start, end: start + u64::from(block.length) }
        });
        let edge = ack.max(una);
        ranges
            .filter(|range| edge < range.start && range.start < range.end && range.end <= snd_max)
            .map(|range| self.sacked.insert(range))
            .sum()
    }

    /// Counts a duplicate ACK, which is one that told of new data beyond a hole (RFC 6675 §2);
    /// says whether the byte at `una` is lost (§5 steps 1 and 2).
    fn on_duplicate(&mut self, una: u64) -> bool {
        self.duplicates += 1;
        self.duplicates >= DUP_THRESH || una < self.lost_before()
    }

    /// RFC 6675 §5 step 4.
    fn begin(&mut self, una: u64, snd_max: u64) {
        self.recovery_point = snd_max;
        self.high_rxt = una;
        let recover_fs = snd_max - una;
        let reduction = self.proportional.then(|| Reduction { recover_fs, ..Reduction::default() });
        self.phase = Phase::Recovery(Episode { rescue_rxt: una, reduction });
    }

    /// Proportional rate reduction: what the last ACK allows to send.
    pub(crate) fn reduce(&mut self, una: u64, snd_max: u64, ssthresh: u64) {
        if !self.proportional {
            return;
        }
        let pipe = self.pipe(una, snd_max);
        if let Phase::Recovery(Episode { reduction: Some(reduction), .. }) = &mut self.phase {
            reduction.on_ack(self.delivered, pipe, ssthresh, self.mss);
        }
    }

    /// Whether a fast recovery is under way.
    pub(crate) fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
    }

    /// Whether blocks may tell of what was known before a timeout.
    fn may_be_told_anew(&self) -> bool {
        matches!(self.phase, Phase::Loss { forgot: true })
    }

    /// Bytes that the last ACK acknowledged first, in either way; without what blocks may tell anew.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes that were acknowledged selectively.
    pub(crate) fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    fn open(&mut self) {
        self.phase = Phase::Open;
        self.forget_duplicates();
    }

    fn forget_duplicates(&mut self) {
        self.duplicates = 0;
        self.limited_transmit_sent = 0;
    }

    /// The retransmission timer expired (RFC 6675 §5.1).
    pub(crate) fn on_rto(&mut self, una: u64, snd_max: u64) {
        self.known_pipe = None;
        let has_reneged = self.sacked.holding(una).is_some();
        let forgot = has_reneged || self.after_timeout == SackAfterTimeout::Forget;
        if forgot {
            self.sacked.clear();
        }
        self.forget_duplicates();
        self.phase = Phase::Loss { forgot };
        self.recovery_point = snd_max;
        self.high_rxt = una;
    }

    /// Limited transmit's share of what is outstanding, not part of FlightSize
    /// (RFC 6675 §5 step 4.2).
    pub(crate) fn limited_transmit_sent(&self) -> u64 {
        self.limited_transmit_sent
    }

    /// Limited transmit: what may be sent beyond cwnd before a recovery begins, which is what
    /// has left the network (RFC 6675 §5 step 3), two segments at most (RFC 3042 §2).
    #[inline]
    pub(crate) fn limited_transmit_allowance(&self) -> u64 {
        if self.limited_transmit && self.duplicates > 0 {
            self.sacked.bytes().min(u64::from(DUP_THRESH - 1) * self.mss)
        } else {
            0
        }
    }

    /// Limited transmit sent `bytes`.
    pub(crate) fn on_limited_transmit(&mut self, bytes: u64) {
        self.limited_transmit_sent += bytes;
    }

    /// The flight that a loss is reckoned from at the beginning of a recovery, when `flight` bytes
    /// are outstanding: no more than cwnd. RFC 5681 eq. 4 is an upper bound of ssthresh; what was
    /// acknowledged selectively piles up in FlightSize, beyond any window, and ssthresh would rise
    /// from loss to loss.
    pub(crate) fn flight_at_loss(&mut self, flight: u64, cwnd: u64) -> u64 {
        self.lost_flight = flight.min(cwnd);
        self.lost_flight
    }

    /// The same for a timeout: until a recovery is over, no more than at its beginning.
    pub(crate) fn flight_at_rto(&mut self, flight: u64, cwnd: u64) -> u64 {
        let bound = if self.counts_pipe() { self.lost_flight } else { cwnd };
        self.flight_at_loss(flight, bound)
    }

    /// Whether what may be sent is ruled by `pipe` and not by the edge of the window.
    #[inline]
    pub(crate) fn counts_pipe(&self) -> bool {
        !matches!(self.phase, Phase::Open)
    }

    /// Whether a segment may be sent now, for a window law that allows `cwnd`.
    pub(crate) fn may_send(&mut self, cwnd: u64, una: u64, snd_max: u64) -> bool {
        match &self.phase {
            Phase::Recovery(Episode { reduction: Some(reduction), .. }) => {
                reduction.budget >= self.mss
            }
            _ => {
                let pipe = self.known_pipe.unwrap_or_else(|| self.pipe(una, snd_max));
                self.known_pipe = Some(pipe);
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
            Phase::Loss { .. } => self.recovery_point.max(self.lost_before()),
            _ => self.lost_before(),
        }
    }

    /// `SetPipe` (RFC 6675 §4): bytes outstanding that are not lost, and those sent again.
    pub(crate) fn pipe(&self, una: u64, snd_max: u64) -> u64 {
        let lost_edge = self.lost_edge().clamp(una, snd_max);
        let not_lost = snd_max - lost_edge - self.sacked.bytes_from(lost_edge);
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
        let last = self.sacked.as_slice().last();
        if last.is_some_and(|range| hole < range.end) {
            return Some(NextSegment::Resend(hole));
        }
        if una <= episode.rescue_rxt {
            return None;
        }
        let tail = last.filter(|range| range.end == snd_max).map_or(snd_max, |range| range.start);
        (tail > una).then(|| NextSegment::Rescue(tail - 1))
    }

    /// The fast retransmit, from `start` to `end`: HighRxt and RescueRxt (RFC 6675 §5 step 4.3).
    pub(crate) fn on_fast_retransmit(&mut self, start: u64, end: u64) {
        self.on_resent(start, end);
        if let Phase::Recovery(episode) = &mut self.phase {
            episode.rescue_rxt = end;
        }
    }

    /// The bytes from `start` to `end` were sent again.
    pub(crate) fn on_resent(&mut self, start: u64, end: u64) {
        self.high_rxt = self.high_rxt.max(end);
        self.on_sent(end - start);
        self.known_pipe = None;
    }

    /// Rule 4 of `NextSeg` was used for `bytes`: HighRxt stays.
    pub(crate) fn on_rescue(&mut self, bytes: u64) {
        if let Phase::Recovery(episode) = &mut self.phase {
            episode.rescue_rxt = self.recovery_point;
        }
        self.on_sent(bytes);
        self.known_pipe = None;
    }

    /// `bytes` were sent, new or again.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.known_pipe = self.known_pipe.map(|pipe| pipe + bytes);
        if let Phase::Recovery(Episode { reduction: Some(reduction), .. }) = &mut self.phase {
            reduction.on_sent(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 4;

    /// The scoreboard of RFC 6675, octet by octet, as its §4 words the routines.
    struct Octets {
        sacked: Vec<bool>,
        una: u64,
        high_rxt: u64,
        rescue_rxt: u64,
    }

    impl Octets {
        fn unsacked(&self) -> impl Iterator<Item = u64> {
            (self.una..self.sacked.len() as u64).filter(|at| !self.sacked[*at as usize])
        }

        fn is_lost(&self, at: u64) -> bool {
            let above = &self.sacked[at as usize..];
            let sequences = above.windows(2).filter(|pair| !pair[0] && pair[1]).count();
            let octets = above.iter().filter(|sacked| **sacked).count() as u64;
            sequences >= 3 || octets > 2 * MSS
        }

        fn pipe(&self) -> u64 {
            let not_lost = self.unsacked().filter(|at| !self.is_lost(*at)).count();
            let resent = self.unsacked().filter(|at| *at < self.high_rxt).count();
            (not_lost + resent) as u64
        }

        fn next_segment(&self, has_new: bool) -> Option<NextSegment> {
            let highest = self.sacked.iter().rposition(|sacked| *sacked).unwrap_or(0) as u64;
            let hole = self.unsacked().find(|at| *at >= self.high_rxt && *at < highest);
            if let Some(hole) = hole.filter(|hole| self.is_lost(*hole)) {
                return Some(NextSegment::Resend(hole));
            }
            if has_new {
                return Some(NextSegment::New);
            }
            if let Some(hole) = hole {
                return Some(NextSegment::Resend(hole));
            }
            let last = self.unsacked().last().filter(|_| self.una > self.rescue_rxt);
            last.map(NextSegment::Rescue)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..Default::default() })]

        #[test]
        fn rfc6675_4_agrees_with_octet_by_octet_counting(
            pieces in prop::collection::vec((0u64..60, 1u64..9), 0..8),
            una in 0u64..30,
            resent in 0u64..60,
            rescue_rxt in 0u64..60,
            has_new: bool,
        ) {
            let snd_max = 70;
            let options =
                TcpOptions { mss: MSS as u32, recovery: RecoveryKind::Sack, ..TcpOptions::rfc() };
            let mut sack = SackRecovery::new(&options).expect("it uses SACK");
            let mut sacked = vec![false; snd_max as usize];
            for (start, length) in pieces {
                let start = start.max(una + 1);
                let end = (start + length).min(snd_max);
                sack.sacked.insert(Range { start, end });
                sacked[start as usize..end as usize].fill(true);
            }
            let high_rxt = resent.max(una);
            sack.phase = Phase::Recovery(Episode { rescue_rxt, reduction: None });
            sack.recovery_point = snd_max;
            sack.high_rxt = high_rxt;
            let octets = Octets { sacked, una, high_rxt, rescue_rxt };
            prop_assert_eq!(sack.pipe(una, snd_max), octets.pipe());
            prop_assert_eq!(una < sack.lost_before(), octets.is_lost(una));
            let next = sack.next_segment(una, snd_max, has_new);
            prop_assert_eq!(next, octets.next_segment(has_new));
        }
    }

    /// RFC 6937 §3.1, in segments of 1000 bytes.
    #[test]
    fn the_reduction_follows_the_equations() {
        let mut reduction = Reduction { recover_fs: 20_000, ..Reduction::default() };
        let mut sndcnt = |delivered, pipe, sent| {
            reduction.on_ack(delivered, pipe, 10_000, 1000);
            let allowed = reduction.budget;
            reduction.on_sent(sent);
            allowed
        };
        assert_eq!(sndcnt(1000, 16_000, 1000), 500); // ⌈1 · ½⌉; the fast retransmit is forced
        assert_eq!(sndcnt(1000, 16_000, 0), 0); // 2 · ½ − 1
        assert_eq!(sndcnt(1001, 15_000, 0), 501); // ⌈3.001 · ½⌉ − 1
        assert_eq!(sndcnt(8999, 10_000, 0), 0); // at ssthresh
        assert_eq!(sndcnt(1000, 9500, 0), 500); // as much as ssthresh leaves
        assert_eq!(sndcnt(0, 0, 10_000), 10_000); // as much as prr_delivered allows: 13 − 1 + 1
        assert_eq!(sndcnt(1000, 0, 2000), 4000); // 14 − 11 + 1
        assert_eq!(sndcnt(3000, 0, 0), 5000); // 17 − 13 + 1
    }
}
