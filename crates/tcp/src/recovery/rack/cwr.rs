//! The state CWR, the answer to an echoed congestion mark: `ecn_reaction = "cwr"`.
//!
//! Source: Linux `tcp_enter_cwr`, `tcp_init_cwnd_reduction`, `tcp_fastretrans_alert`: the window is
//! reduced by proportional rate reduction, RecoverFS being that before it, and the ACK that brought
//! the echo is the first that counts. The state ends with an ACK for more than was sent before.

use super::{Rack, Reduction, Scoreboard, State};

impl Rack {
    /// The flight that an echo is reckoned from, when the window is `cwnd`, if its answer is the state
    /// CWR.
    pub(in crate::recovery) fn echo_base(&mut self, board: &Scoreboard, cwnd: u64) -> Option<u64> {
        self.reacts_in_cwr.then(|| self.flight_at_loss(board, cwnd))
    }

    /// The congestion control has answered the echo with `ssthresh`.
    pub(in crate::recovery) fn begin_cwr(&mut self, board: &Scoreboard, ssthresh: u64) {
        if self.state == State::Open {
            self.cwr_until = Some(board.max());
            self.reduction = Reduction::new(self.lost_flight);
            self.reduce(board, ssthresh);
        }
    }

    #[inline]
    pub(super) fn is_in_cwr(&self) -> bool {
        self.state == State::Open && self.cwr_until.is_some()
    }

    /// Whether the window was reduced for an echo from the window of data that is outstanding.
    pub(super) fn was_reduced_for_echo(&self, board: &Scoreboard) -> bool {
        self.cwr_until.is_some_and(|until| board.una() < until)
    }
}
