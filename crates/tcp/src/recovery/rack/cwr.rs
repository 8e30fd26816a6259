//! State CWR (congestion window reduced): the reaction to an echoed congestion mark with
//! `ecn_reaction = "cwr"`.
//!
//! Source: Linux `tcp_enter_cwr`, `tcp_init_cwnd_reduction`, `tcp_fastretrans_alert`. Proportional
//! rate reduction reduces the window. RecoverFS is the window before the reduction. The ACK with
//! the echo is the first ACK that counts as delivered data. The state ends when data sent after the
//! echo is acknowledged.

use super::{Rack, Reduction, Scoreboard, State};
use crate::config::TcpConfig;

/// CWR state of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cwr {
    /// True if the reaction to echoed marks is the state CWR.
    is_used: bool,
    /// SND.MAX at the echo; `None` outside the state CWR.
    pub(super) until: Option<u64>,
    /// True if ssthresh was reduced for an echo in the same window of data as the last loss.
    keeps_ssthresh: bool,
}

impl Cwr {
    pub(super) fn new(options: &TcpConfig) -> Cwr {
        Cwr { is_used: options.reacts_in_cwr(), until: None, keeps_ssthresh: false }
    }
}

impl Rack {
    /// Returns false if no data is outstanding; then the echo is ignored (Linux `tcp_ack`).
    pub(in crate::recovery) fn answers_echo(&self, flight: u64) -> bool {
        flight > 0 || !self.cwr.is_used
    }

    /// If the reaction to an ECN echo is the state CWR, returns the FlightSize from which ssthresh
    /// is computed, bytes.
    pub(in crate::recovery) fn echo_base(&mut self, board: &Scoreboard, cwnd: u64) -> Option<u64> {
        self.cwr.is_used.then(|| self.flight_at_loss(board, cwnd))
    }

    /// Begins the state CWR after the congestion control has set `ssthresh` for the echo.
    pub(in crate::recovery) fn begin_cwr(&mut self, board: &Scoreboard, ssthresh: u64) {
        if self.state == State::Open {
            self.cwr.until = Some(board.max());
            self.reduction = Reduction::new(self.lost_flight);
            // `tcp_cwnd_reduction` does not change cwnd until an ACK delivers data.
            self.window = self.lost_flight;
            self.reduce(board, ssthresh);
        }
    }

    #[inline]
    pub(super) fn is_in_cwr(&self) -> bool {
        self.state == State::Open && self.cwr.until.is_some()
    }

    /// Ends the state CWR because of a loss. Returns true if ssthresh was already reduced for an
    /// echo in the same window of data. In this case, later timeouts do not change ssthresh (Linux
    /// `tcp_enter_loss`).
    pub(super) fn leave_cwr(&mut self, board: &Scoreboard) -> bool {
        self.cwr.keeps_ssthresh = self.was_reduced_for_echo(board);
        self.cwr.until = None;
        self.cwr.keeps_ssthresh
    }

    pub(in crate::recovery) fn keeps_ssthresh(&self) -> bool {
        self.cwr.keeps_ssthresh
    }

    /// Returns true if the window was reduced for an echo and data sent before this echo is still
    /// outstanding.
    pub(super) fn was_reduced_for_echo(&self, board: &Scoreboard) -> bool {
        self.cwr.until.is_some_and(|until| board.una() < until)
    }
}
