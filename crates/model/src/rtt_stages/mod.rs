//! A download in stages of a round trip, whose ACKs must request uplink bandwidth (wimax-2009 §3,
//! Eqs. 1 to 8).
//!
//! The window is a Markov chain (Eq. 1): it grows with every stage without loss and is halved otherwise. A
//! stage takes a round trip (Eq. 4), longer by a contention when the receiver was idle before, by a
//! piggyback request otherwise (Eq. 5). The download ends when as many packets are sent as it needs on the mean,
//! repetitions counted (Eq. 2).
//!
//! Choices where the paper is silent: the window is real, at least 1, at most W_max; W_th is halved with
//! the window (as TCP does) or constant (as printed); the queue of Eq. 6 drains, or never does (as
//! printed); idle times below 1 ns are none. Left out, as in the paper: time-outs, recovery, HARQ.
//!
//! | file | what |
//! | --- | --- |
//! | `stage.rs` | one stage |
//! | `monte_carlo.rs` | many downloads, drawn |
//! | `grid.rs` | the law of window and sent packets, propagated |
//! | `points.rs` | the windows of the grid, and what lies between |
//! | `moments.rs` | probability, times and packets at a point |

mod grid;
mod moments;
mod monte_carlo;
mod points;
mod stage;

use crate::error::{ModelError, require};

/// Update of W_th at a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ssthresh {
    /// Half of the window, at least 2: what TCP does.
    #[default]
    Updated,
    /// W_th is constant, as printed.
    Constant,
}

/// Update of the backlog of Eq. 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queue {
    /// The backlog never drains, as printed.
    #[default]
    Literal,
    /// Service beyond a stage's packets reduces it.
    Draining,
}

/// A download.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// L, bytes. Above 0.
    pub size_bytes: f64,
    /// MSS, bytes. At least 1.
    pub mss_bytes: f64,
    /// R, bit/s of payload. Above 0.
    pub rate_bps: f64,
    /// RTT_min, s: without requests and queueing. At least 0.
    pub base_rtt_s: f64,
    /// T_ct, s. At least 0.
    pub contention_s: f64,
    /// T_pb, s. At least 0.
    pub piggyback_s: f64,
    /// p_e, in [0, 1).
    pub loss: f64,
    /// b, packets that an ACK acknowledges. At least 1.
    pub packets_per_ack: f64,
    /// The first W_th, packets. At least 1.
    pub initial_ssthresh_packets: f64,
    /// W_max, packets. At least 1.
    pub max_window_packets: f64,
    /// Update of W_th at a loss.
    pub ssthresh: Ssthresh,
    /// Update of the backlog.
    pub queue: Queue,
}

/// Performance of the downloads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The mean over downloads of Eq. 8, bit/s.
    pub throughput_bps: f64,
    /// Eq. 8 with both sums over all downloads, bit/s.
    pub ratio_of_sums_bps: f64,
    /// The mean over downloads of size over time, bit/s.
    pub goodput_bps: f64,
    /// N, the mean number of stages.
    pub stages: f64,
    /// Share of stages that begin with a contention.
    pub contention_share: f64,
    /// Of `throughput_bps`: its standard error (Monte-Carlo), or 1.5 times what two halvings of the step
    /// changed (grid).
    pub error_bps: f64,
}

impl Problem {
    /// Checks the ranges given with the fields.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), ModelError> {
        let finite_from = |value: f64, least: f64| value >= least && value.is_finite();
        for (name, value, least, accepted) in [
            ("mss_bytes", self.mss_bytes, 1.0, "at least 1 and finite"),
            ("base_rtt_s", self.base_rtt_s, 0.0, "at least 0 and finite"),
            ("contention_s", self.contention_s, 0.0, "at least 0 and finite"),
            ("piggyback_s", self.piggyback_s, 0.0, "at least 0 and finite"),
            ("packets_per_ack", self.packets_per_ack, 1.0, "at least 1 and finite"),
            (
                "initial_ssthresh_packets",
                self.initial_ssthresh_packets,
                1.0,
                "at least 1 and finite",
            ),
            ("max_window_packets", self.max_window_packets, 1.0, "at least 1 and finite"),
        ] {
            require(finite_from(value, least), name, value, accepted)?;
        }
        for (name, value) in [("size_bytes", self.size_bytes), ("rate_bps", self.rate_bps)] {
            require(value > 0.0 && value.is_finite(), name, value, "above 0 and finite")?;
        }
        require((0.0..1.0).contains(&self.loss), "loss", self.loss, "at least 0 and below 1")?;
        let packets = self.size_bytes / self.mss_bytes;
        let most = "at most a hundred million segments";
        require(packets <= 1e8, "size_bytes", self.size_bytes, most)
    }
}

#[cfg(test)]
pub(crate) mod tests;
