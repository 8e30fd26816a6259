//! Loss detection and recovery with selective acknowledgements.
//!
//! Source: RFC 6675 (`SetPipe`, `IsLost`, `NextSeg`), applied to byte ranges instead of single
//! bytes. Proportional rate reduction is in `reduction.rs`. After a timeout, all outstanding data
//! that is not selectively acknowledged counts as lost and is retransmitted in slow start. With
//! `sack_after_timeout = "forget"`, all SACK information is discarded at the timeout, as RFC 2018
//! §8 requires because of reneging. With `"keep"`, the SACK information is discarded only if the
//! oldest segment is selectively acknowledged, which proves that the receiver has reneged (Linux
//! `tcp_timeout_mark_lost`).

use super::reduction::Reduction;
use super::{
    AckOutcome, Allowance, DUP_THRESH, LossRecovery, Next, Scoreboard, SendLimits, Sent, Verdict,
};
use crate::config::{SackAfterTimeout, TcpConfig, WindowGrowth};
use crate::congestion::{AnyCongestion, CongestionControl};
use crate::ranges::{Range, RangeSet};
use airpath_core::{Packet, Time};

/// Loss detection and recovery of one sender with SACK.
#[derive(Clone, Debug)]
pub(crate) struct Selective {
    mss: u64,
    /// True if the window grows with the ACK that ends a recovery.
    grows_at_exit: bool,
    limited_transmit: bool,
    proportional: bool,
    after_timeout: SackAfterTimeout,
    /// Selectively acknowledged bytes. The segments are in the scoreboard.
    sacked: RangeSet,
    /// DupAcks of RFC 6675: number of duplicate ACKs.
    duplicates: u32,
    /// Bytes that limited transmit has sent since the first of the current duplicate ACKs.
    limited_transmit_sent: u64,
    /// End of the window at the last call of `allowance`. Limited transmit sends the data beyond
    /// it.
    window_end: u64,
    /// DeliveredData of RFC 6937: bytes newly acknowledged by the last ACK, cumulatively or
    /// selectively.
    delivered: u64,
    phase: Phase,
    /// RecoveryPoint: no new recovery begins until all data before this offset is acknowledged.
    recovery_point: u64,
    /// HighRxt: offset after the highest byte retransmitted in this phase.
    high_rxt: u64,
    /// `pipe` after the last ACK. `None` after a retransmission; then `pipe` must be recomputed.
    known_pipe: Option<u64>,
    /// FlightSize from which the last reduction was computed.
    lost_flight: u64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    Recovery(Episode),
    /// After a timeout, until all data sent before the timeout is acknowledged. If `forgot` is
    /// true, the SACK information was discarded, and SACK blocks may report the same data again.
    Loss {
        forgot: bool,
    },
}

/// State of one recovery.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// RescueRxt: rule 4 applies only after all data before this offset is acknowledged.
    rescue_rxt: u64,
    /// Reduction that replaces cwnd − pipe (RFC 6937).
    reduction: Option<Reduction>,
}

impl Selective {
    /// `proportional`: the window follows proportional rate reduction during a recovery.
    pub(super) fn new(options: &TcpConfig, proportional: bool) -> Selective {
        Selective {
            mss: u64::from(options.mss),
            grows_at_exit: options.window_growth == WindowGrowth::PerAckTruncated,
            limited_transmit: options.limited_transmit,
            proportional,
            after_timeout: options.sack_after_timeout,
            sacked: RangeSet::default(),
            duplicates: 0,
            limited_transmit_sent: 0,
            window_end: 0,
            delivered: 0,
            phase: Phase::Open,
            recovery_point: 0,
            high_rxt: 0,
            known_pipe: None,
            lost_flight: 0,
        }
    }

    /// `Update` (RFC 6675 §4): adds the SACK blocks to the scoreboard. Returns the number of new
    /// bytes. Ignores invalid blocks, which start at the acknowledgement number or lie beyond
    /// SND.MAX.
    fn absorb(&mut self, ack: &Packet, now: Time, board: &mut Scoreboard) -> u64 {
        let edge = ack.seq.max(board.una());
        let mut all = 0;
        for block in ack.sack() {
            let start = ack.seq + u64::from(block.offset);
            let end = start + u64::from(block.length);
            if edge < start && start < end && end <= board.max() {
                let news = self.sacked.insert(Range { start, end });
                if news > 0 {
                    board.sack((start, end), news, self.mss, now);
                }
                all += news;
            }
        }
        all
    }

    /// Counts a duplicate ACK, which is an ACK that reports new data beyond a hole (RFC 6675 §2).
    /// Returns true if the byte at `una` is lost (§5 steps 1 and 2).
    fn on_duplicate(&mut self, una: u64) -> bool {
        self.duplicates += 1;
        self.duplicates >= DUP_THRESH || una < self.lost_before()
    }

    /// Begins a recovery (RFC 6675 §5 step 4).
    fn begin(&mut self, una: u64, snd_max: u64) {
        self.recovery_point = snd_max;
        self.high_rxt = una;
        let reduction = self.proportional.then(|| Reduction::new(snd_max - una));
        self.phase = Phase::Recovery(Episode { rescue_rxt: una, reduction });
    }

    /// With proportional rate reduction, computes the number of bytes that may be sent because of
    /// the last ACK.
    fn reduce(&mut self, una: u64, snd_max: u64, ssthresh: u64) {
        if !self.proportional {
            return;
        }
        let pipe = self.pipe(una, snd_max);
        if let Phase::Recovery(Episode { reduction: Some(reduction), .. }) = &mut self.phase {
            reduction.on_ack(self.delivered, pipe, ssthresh, self.mss);
        }
    }

    /// Returns true if SACK blocks may report data that was already reported before a timeout.
    fn may_be_resacked(&self) -> bool {
        matches!(self.phase, Phase::Loss { forgot: true })
    }

    fn open(&mut self) {
        self.phase = Phase::Open;
        self.forget_duplicates();
    }

    fn forget_duplicates(&mut self) {
        self.duplicates = 0;
        self.limited_transmit_sent = 0;
    }

    /// Returns the bytes that limited transmit may send beyond cwnd before a recovery begins: the
    /// bytes that have left the network (RFC 6675 §5 step 3), at most two segments (RFC 3042 §2).
    #[inline]
    fn limited_transmit_allowance(&self) -> u64 {
        if self.limited_transmit && self.duplicates > 0 {
            self.sacked.bytes().min(u64::from(DUP_THRESH - 1) * self.mss)
        } else {
            0
        }
    }

    /// Returns the value from which the reduction at the beginning of a recovery is computed: the
    /// outstanding bytes `flight`, but at most cwnd. Without this bound, ssthresh could increase
    /// from loss to loss, because selectively acknowledged data accumulates in FlightSize and may
    /// exceed cwnd. RFC 5681 eq. 4 is only an upper bound of ssthresh.
    fn flight_at_loss(&mut self, flight: u64, cwnd: u64) -> u64 {
        self.lost_flight = flight.min(cwnd);
        self.lost_flight
    }

    /// Returns true if `pipe` limits transmission instead of the right edge of the window.
    #[inline]
    fn counts_pipe(&self) -> bool {
        !matches!(self.phase, Phase::Open)
    }

    /// Returns true if a segment may be sent now, with a congestion window of `cwnd`.
    fn may_send(&mut self, cwnd: u64, una: u64, snd_max: u64) -> bool {
        match &self.phase {
            Phase::Recovery(Episode { reduction: Some(reduction), .. }) => {
                reduction.budget() >= self.mss
            }
            _ => {
                let pipe = self.known_pipe.unwrap_or_else(|| self.pipe(una, snd_max));
                self.known_pipe = Some(pipe);
                pipe == 0 || cwnd >= pipe + self.mss
            }
        }
    }

    /// `IsLost` (RFC 6675 §4): returns the offset before which unacknowledged bytes are deemed
    /// lost. Beyond this offset, at least DupThresh ranges, or more than DupThresh − 1 segments,
    /// are selectively acknowledged.
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

    /// `SetPipe` (RFC 6675 §4): returns the outstanding bytes that are not lost, plus
    /// retransmissions.
    fn pipe(&self, una: u64, snd_max: u64) -> u64 {
        let lost_edge = self.lost_edge().clamp(una, snd_max);
        let not_lost = snd_max - lost_edge - self.sacked.bytes_from(lost_edge);
        let high_rxt = self.high_rxt.max(una);
        let resent = high_rxt - una - self.sacked.bytes_before(high_rxt);
        not_lost + resent
    }

    /// `NextSeg` (RFC 6675 §4): returns the next segment. New data may be sent up to `new_end`.
    fn next_segment(&self, una: u64, snd_max: u64, new_end: Option<u64>) -> Option<Next> {
        let from = self.high_rxt.max(una);
        let hole = self.sacked.holding(from).map_or(from, |range| range.end);
        if hole < self.lost_edge() {
            return Some(Next::Again(hole));
        }
        if let Some(end) = new_end {
            return Some(Next::New(end));
        }
        let Phase::Recovery(episode) = self.phase else { return None };
        let last = self.sacked.as_slice().last();
        if last.is_some_and(|range| hole < range.end) {
            return Some(Next::Again(hole));
        }
        if una <= episode.rescue_rxt {
            return None;
        }
        let tail = last.filter(|range| range.end == snd_max).map_or(snd_max, |range| range.start);
        (tail > una).then(|| Next::Rescue(tail - 1))
    }

    /// Updates HighRxt and RescueRxt (RFC 6675 §4 rule 4, §5 step 4.3) after a retransmission of
    /// the bytes up to `end`.
    fn on_resent(&mut self, sent: Sent, end: u64) {
        if sent != Sent::Rescue {
            self.high_rxt = self.high_rxt.max(end);
        }
        if let Phase::Recovery(episode) = &mut self.phase {
            match sent {
                Sent::Head => episode.rescue_rxt = end,
                Sent::Rescue => episode.rescue_rxt = self.recovery_point,
                Sent::New | Sent::Again => {}
            }
        }
        self.known_pipe = None;
    }
}

impl LossRecovery for Selective {
    fn on_overtaken(&mut self, ack: &Packet, _now: Time, _board: &mut Scoreboard) -> bool {
        !ack.sack().is_empty()
    }

    #[inline]
    fn allows_fast_path(&mut self, ack: &Packet) -> bool {
        let is_plain = !self.counts_pipe() && self.sacked.is_empty() && ack.sack().is_empty();
        if is_plain {
            self.forget_duplicates();
        }
        is_plain
    }

    fn is_open(&self) -> bool {
        let is_suspicious = self.duplicates > 0 || self.limited_transmit_sent > 0;
        !self.counts_pipe() && self.sacked.is_empty() && !is_suspicious
    }

    fn on_ack(
        &mut self,
        ack: &Packet,
        now: Time,
        board: &mut Scoreboard,
        cc: &AnyCongestion,
    ) -> AckOutcome {
        let before = board.una();
        self.known_pipe = None;
        let news = self.absorb(ack, now, board);
        let una = ack.seq.max(before);
        let (mut rtt, mut known) = (None, 0);
        if una > before {
            known = self.sacked.remove_before(una);
            rtt = board.acknowledge(una, now);
        }
        let first_told = if self.may_be_resacked() { 0 } else { news };
        self.delivered = una - before - known + first_told;
        let is_repaired = una >= self.recovery_point;
        let (mut verdict, mut growth) = (Verdict::Usual, 0);
        match self.phase {
            Phase::Open => {
                if una > before {
                    self.forget_duplicates();
                }
                if news > 0 && self.on_duplicate(una) {
                    self.begin(una, board.max());
                    verdict = Verdict::Begins;
                } else {
                    growth = una - before;
                }
            }
            Phase::Recovery(_) if is_repaired => {
                self.open();
                verdict = Verdict::Recovered;
                growth = if self.grows_at_exit { una - before } else { 0 };
            }
            Phase::Recovery(_) => self.reduce(una, board.max(), cc.ssthresh()),
            Phase::Loss { .. } => {
                if is_repaired {
                    self.open();
                }
                growth = una - before;
            }
        }
        if board.is_watched() {
            board.lose_before(self.lost_edge());
        }
        AckOutcome { verdict, growth, delivered: self.delivered, rtt }
    }

    /// Returns FlightSize without the bytes sent by limited transmit (RFC 6675 §5 step 4.2).
    fn loss_base(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        self.flight_at_loss(board.flight() - self.limited_transmit_sent, cwnd)
    }

    fn on_reduced(&mut self, board: &Scoreboard, ssthresh: u64) {
        self.reduce(board.una(), board.max(), ssthresh);
    }

    fn after_loss(&mut self, _board: &Scoreboard, _ssthresh: u64) -> Verdict {
        Verdict::Usual
    }

    fn exit_window(&self, _board: &Scoreboard) -> u64 {
        u64::MAX
    }

    /// Handles a timeout (RFC 6675 §5.1). During a recovery, the reduction is computed from at most
    /// the FlightSize at the beginning of the recovery.
    fn on_timeout(&mut self, board: &mut Scoreboard, cwnd: u64) -> (u64, u64) {
        let bound = if self.counts_pipe() { self.lost_flight } else { cwnd };
        let flight = self.flight_at_loss(board.flight(), bound);
        self.known_pipe = None;
        let has_reneged = self.sacked.holding(board.una()).is_some();
        let forgot = has_reneged || self.after_timeout == SackAfterTimeout::Forget;
        if forgot {
            self.sacked.clear();
            board.forget_sacked();
        }
        self.forget_duplicates();
        self.phase = Phase::Loss { forgot };
        self.recovery_point = board.max();
        self.high_rxt = board.una();
        (flight, cwnd)
    }

    #[inline]
    fn on_sent(
        &mut self,
        sent: Sent,
        start: u64,
        end: u64,
        _board: &Scoreboard,
        _cc: &AnyCongestion,
    ) {
        if !self.counts_pipe() {
            if end > self.window_end {
                self.limited_transmit_sent += end - start;
            }
            return;
        }
        self.known_pipe = self.known_pipe.map(|pipe| pipe + (end - start));
        if let Phase::Recovery(Episode { reduction: Some(reduction), .. }) = &mut self.phase {
            reduction.on_sent(end - start);
        }
        if sent != Sent::New {
            self.on_resent(sent, end);
        }
    }

    #[inline]
    fn allowance(&mut self, board: &Scoreboard, cwnd: u64) -> Allowance {
        if self.counts_pipe() {
            return Allowance::ByFlight;
        }
        self.window_end = board.una().saturating_add(cwnd);
        Allowance::Window(cwnd.saturating_add(self.limited_transmit_allowance()))
    }

    fn next(&mut self, board: &Scoreboard, offer: &SendLimits) -> Option<Next> {
        let may_send = self.may_send(offer.cwnd, board.una(), board.max());
        may_send.then(|| self.next_segment(board.una(), board.max(), offer.new_end))?
    }

    fn forced(&self, board: &Scoreboard, _offer: &SendLimits) -> Next {
        Next::Again(board.una())
    }

    fn reach(&mut self, board: &Scoreboard, cwnd: u64) -> u64 {
        if self.may_send(cwnd, board.una(), board.max()) { u64::MAX } else { 0 }
    }

    #[inline]
    fn is_cwnd_limited(&self, used: u64, cwnd: u64) -> bool {
        used + self.mss >= cwnd
    }

    fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
    }

    fn inflated(&self, cwnd: u64) -> u64 {
        cwnd
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        self.pipe(board.una(), board.max())
    }

    #[inline]
    fn sacked(&self, _board: &Scoreboard) -> u64 {
        self.sacked.bytes()
    }
}

#[cfg(test)]
mod tests;
