//! The state CWR, the answer to an echoed congestion mark: `ecn_reaction = "cwr"`.
//!
//! Source: Linux `tcp_enter_cwr`, `tcp_init_cwnd_reduction`, `tcp_fastretrans_alert`: the window is
//! reduced by proportional rate reduction, RecoverFS being that before it, and the ACK that brought
//! the echo is the first that counts. The state ends with an ACK for more than was sent before.

use super::{Rack, Reduction, Scoreboard, State};
use crate::config::TcpConfig;

/// The state CWR of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cwr {
    /// Echoed marks are answered in it.
    is_used: bool,
    /// While it lasts, the end of everything sent before the echo.
    pub(super) until: Option<u64>,
    /// ssthresh was reduced for an echo from the same window of data as the last loss.
    keeps_ssthresh: bool,
}

impl Cwr {
    pub(super) fn new(options: &TcpConfig) -> Cwr {
        Cwr { is_used: options.reacts_in_cwr(), until: None, keeps_ssthresh: false }
    }
}

impl Rack {
    /// Linux `tcp_ack`: an echo is not read while nothing is outstanding.
    pub(in crate::recovery) fn answers_echo(&self, flight: u64) -> bool {
        flight > 0 || !self.cwr.is_used
    }

    /// FlightSize from which ssthresh is computed for an ECN echo, bytes, when the window is `cwnd`,
    /// if its answer is the state CWR.
    pub(in crate::recovery) fn echo_base(&mut self, board: &Scoreboard, cwnd: u64) -> Option<u64> {
        self.cwr.is_used.then(|| self.flight_at_loss(board, cwnd))
    }

    /// The congestion control has answered the echo with `ssthresh`.
    pub(in crate::recovery) fn begin_cwr(&mut self, board: &Scoreboard, ssthresh: u64) {
        if self.state == State::Open {
            self.cwr.until = Some(board.max());
            self.reduction = Reduction::new(self.lost_flight);
            // `tcp_cwnd_reduction` leaves cwnd as it is until an ACK delivers something.
            self.window = self.lost_flight;
            self.reduce(board, ssthresh);
        }
    }

    #[inline]
    pub(super) fn is_in_cwr(&self) -> bool {
        self.state == State::Open && self.cwr.until.is_some()
    }

    /// A loss is to be repaired, which ends the state. Whether ssthresh was reduced for an echo from
    /// the same window of data; then timeouts leave it as it is (Linux `tcp_enter_loss`).
    pub(super) fn leave_cwr(&mut self, board: &Scoreboard) -> bool {
        self.cwr.keeps_ssthresh = self.was_reduced_for_echo(board);
        self.cwr.until = None;
        self.cwr.keeps_ssthresh
    }

    pub(in crate::recovery) fn keeps_ssthresh(&self) -> bool {
        self.cwr.keeps_ssthresh
    }

    /// Whether the window was reduced for an echo from the window of data that is outstanding.
    pub(super) fn was_reduced_for_echo(&self, board: &Scoreboard) -> bool {
        self.cwr.until.is_some_and(|until| board.una() < until)
    }
}
