//! What ns-3 does where it departs from RFC 6675 and RFC 6937: the option `procedures = "ns3"`.
//!
//! Source: read from `TcpSocketBase`, `TcpTxBuffer`, `TcpClassicRecovery` and `TcpPrrRecovery` of
//! ns-3.48, the same in ns-3.44; written anew. Meant for comparisons with that simulator.
//! Left out: what it does without SACK, FACK, pacing, ECN, giving up after six timeouts, and the
//! joining of short segments that are sent again.
//!
//! The departures, each at its place in the code: ssthresh comes from `pipe` or cwnd; `pipe` still
//! counts a segment sent again that is selectively acknowledged; a partial ACK always sends a
//! segment; only the first partial ACK restarts the timer; the ACK that ends a recovery enlarges
//! the window; a timeout keeps what SACK told; the reduction bound of PRR; no rescue.

mod prr;
mod scoreboard;

use crate::options::{Procedures, TcpOptions};
use airpath_core::SackBlock;
use prr::Prr;
pub(crate) use scoreboard::Next;
use scoreboard::Scoreboard;

/// Duplicate ACKs that announce a loss (attribute `ReTxThreshold`).
const DUP_THRESH: u32 = 3;

/// `TcpCongState_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Disorder,
    Recovery,
    Loss,
}

/// An ACK that is not older than the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    /// The cumulative acknowledgement.
    pub(crate) number: u64,
    /// The selective ones.
    pub(crate) blocks: &'a [SackBlock],
}

/// What has to be done about an ACK of new data, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// A partial ACK: [`Ns3Recovery::forced`] is sent, whatever the window.
    pub(crate) forces: bool,
    /// A recovery is over: cwnd = ssthresh.
    pub(crate) recovered: bool,
    /// Whole segments by which the window law grows.
    pub(crate) grows_by: u64,
    /// The retransmission timer starts anew.
    pub(crate) restarts_timer: bool,
}

/// Loss detection and recovery of one sender, as ns-3 has them with SACK.
#[derive(Clone, Debug)]
pub(crate) struct Ns3Recovery {
    mss: u64,
    state: State,
    board: Scoreboard,
    /// `TcpPrrRecovery`; `None` is `TcpClassicRecovery`.
    prr: Option<Prr>,
    duplicates: u32,
    /// Everything sent before the last loss; no recovery begins below it while `guards`.
    recover: u64,
    guards: bool,
    awaits_first_partial_ack: bool,
    /// Bytes delivered that do not make a whole segment.
    remainder: u64,
    /// cwnd left less than a segment unused when something was last sent.
    is_cwnd_limited: bool,
    /// Bytes that the ACK in hand delivered, and whether it acknowledged something sent again.
    delivered: u64,
    is_safe: bool,
    /// It told of data beyond a hole.
    is_duplicate: bool,
}

impl Ns3Recovery {
    /// Recovery as `options` ask for it; `None` when the RFCs' procedures rule.
    pub(crate) fn new(options: &TcpOptions) -> Option<Ns3Recovery> {
        let mss = u64::from(options.mss);
        let is_wanted = options.procedures == Procedures::Ns3 && options.recovery.uses_sack();
        is_wanted.then(|| Ns3Recovery {
            mss,
            state: State::Open,
            board: Scoreboard::new(mss),
            prr: options.recovery.is_proportional().then(|| Prr::new(mss)),
            duplicates: 0,
            recover: 0,
            guards: false,
            awaits_first_partial_ack: true,
            remainder: 0,
            is_cwnd_limited: false,
            delivered: 0,
            is_safe: false,
            is_duplicate: false,
        })
    }

    /// An ACK that is older than the last: only what it tells selectively counts.
    pub(crate) fn on_old_ack(&mut self, ack: &Ack<'_>, snd_max: u64) {
        self.board.update(ack.number, ack.blocks, snd_max);
    }

    /// Takes an ACK; says whether a recovery begins: then the window law is told, and
    /// [`Ns3Recovery::enter`] called.
    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>, snd_max: u64, ssthresh: u64) -> bool {
        let una = self.board.una();
        let sacked = self.board.update(ack.number, ack.blocks, snd_max);
        self.is_safe = self.state == State::Recovery
            && ack.number < self.recover
            && self.board.holds_resent(una, ack.number);
        self.delivered = sacked + self.board.acknowledge(ack.number);
        self.is_duplicate = sacked > 0;
        let begins = self.is_duplicate && self.on_duplicate(ssthresh);
        if begins {
            self.begin(snd_max);
        }
        begins
    }

    /// A duplicate ACK is one that told of data beyond a hole; says whether a recovery begins.
    fn on_duplicate(&mut self, ssthresh: u64) -> bool {
        match self.state {
            State::Loss => false,
            State::Recovery => {
                self.reduce(true, ssthresh);
                false
            }
            State::Open | State::Disorder => {
                self.state = State::Disorder;
                self.duplicates += 1;
                let una = self.board.una();
                let may_begin = una >= self.recover || !self.guards;
                (self.duplicates == DUP_THRESH && may_begin) || self.board.is_lost(una)
            }
        }
    }

    fn begin(&mut self, snd_max: u64) {
        let una = self.board.una();
        if !self.board.is_lost(una) {
            self.board.mark_head_lost();
        }
        self.recover = snd_max;
        self.guards = true;
        self.state = State::Recovery;
    }

    /// The window law has reduced its threshold to `ssthresh`: what remains of the entry.
    pub(crate) fn enter(&mut self, ssthresh: u64) {
        let pipe = self.board.pipe();
        if let Some(prr) = &mut self.prr {
            prr.begin(pipe);
        }
        self.reduce(true, ssthresh);
    }

    /// PRR takes what the ACK in hand delivered.
    fn reduce(&mut self, is_duplicate: bool, ssthresh: u64) {
        let pipe = self.board.pipe();
        if let Some(prr) = &mut self.prr {
            prr.on_ack(self.delivered, is_duplicate, pipe, ssthresh, self.is_safe);
        }
    }

    /// The ACK in hand acknowledged everything from `una` to `ack`.
    pub(crate) fn on_progress(&mut self, una: u64, ack: u64, ssthresh: u64) -> Progress {
        let mut segments = self.whole_segments();
        if !self.is_duplicate {
            self.duplicates = 0;
        }
        if ack < self.recover && self.state == State::Recovery {
            return self.on_partial_ack(ack, segments, ssthresh);
        }
        if ack < self.recover && self.state == State::Loss {
            return Progress { grows_by: segments, restarts_timer: true, ..Progress::default() };
        }
        let recovered = self.state == State::Recovery;
        match self.state {
            State::Recovery => segments = (ack - una) / self.mss,
            State::Loss => segments = (ack - self.recover) / self.mss,
            State::Open | State::Disorder => {}
        }
        if recovered || self.state == State::Loss {
            self.awaits_first_partial_ack = true;
        }
        if recovered {
            self.duplicates = 0;
        }
        self.guards &= ack < self.recover;
        if self.state == State::Disorder && self.is_duplicate {
            return Progress::default();
        }
        self.state = State::Open;
        Progress { forces: false, recovered, grows_by: segments, restarts_timer: true }
    }

    fn on_partial_ack(&mut self, ack: u64, segments: u64, ssthresh: u64) -> Progress {
        if segments >= 1 {
            self.reduce(false, ssthresh);
        }
        Progress {
            forces: !self.board.is_resent_up_to(ack + self.mss),
            restarts_timer: std::mem::take(&mut self.awaits_first_partial_ack),
            ..Progress::default()
        }
    }

    /// Whole segments in what was delivered, and in what earlier ACKs left.
    fn whole_segments(&mut self) -> u64 {
        let bytes = self.remainder + self.delivered;
        self.remainder = bytes % self.mss;
        bytes / self.mss
    }

    /// The retransmission timer expired: all that was not selectively acknowledged is lost.
    pub(crate) fn on_rto(&mut self, snd_max: u64) {
        self.duplicates = 0;
        self.board.lose_all();
        self.recover = snd_max;
        self.guards = true;
        self.state = State::Loss;
    }

    /// cwnd, for a window law that has `cwnd`: in a proportional reduction it is PRR's.
    pub(crate) fn cwnd(&self, cwnd: u64) -> u64 {
        match &self.prr {
            Some(prr) if self.state == State::Recovery => prr.cwnd(),
            _ => cwnd,
        }
    }

    /// Bytes in flight.
    pub(crate) fn pipe(&self) -> u64 {
        self.board.pipe()
    }

    /// Bytes selectively acknowledged.
    pub(crate) fn sacked_bytes(&self) -> u64 {
        self.board.sacked_bytes()
    }

    /// Bytes that the last ACK acknowledged first, in either way.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether a recovery is going on.
    pub(crate) fn is_recovering(&self) -> bool {
        self.state == State::Recovery
    }

    /// Whether cwnd limited the sender when it last sent.
    pub(crate) fn is_cwnd_limited(&self) -> bool {
        self.is_cwnd_limited
    }

    /// What comes next, when the receive window takes `unsent` bytes of new data; `None` when
    /// there are none.
    pub(crate) fn next(&self, unsent: Option<u64>) -> Option<Next> {
        self.board.next(unsent, self.state == State::Recovery)
    }

    /// What a partial ACK sends: the next, or else the oldest again.
    pub(crate) fn forced(&self, unsent: Option<u64>) -> Next {
        self.board.next(unsent, false).unwrap_or(Next::Resend(self.board.una()))
    }

    /// The bytes up to `end` were sent for the first time; the window is `cwnd`.
    pub(crate) fn on_new(&mut self, end: u64, cwnd: u64) {
        let bytes = self.board.push(end);
        self.on_sent(bytes, cwnd);
    }

    /// The segment that begins at `start` was sent again; the window is `cwnd`.
    pub(crate) fn on_resent(&mut self, start: u64, cwnd: u64) {
        let bytes = self.board.mark_resent(start);
        self.on_sent(bytes, cwnd);
    }

    fn on_sent(&mut self, bytes: u64, cwnd: u64) {
        self.is_cwnd_limited = self.cwnd(cwnd) < self.board.pipe() + self.mss;
        if let Some(prr) = &mut self.prr
            && self.state == State::Recovery
        {
            prr.on_sent(bytes);
        }
    }
}
