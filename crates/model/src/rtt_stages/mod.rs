//! A download in stages of one round trip, with bandwidth requests for the uplink of its ACKs
//! (wimax-2009 §3, Eqs. 1 to 8).
//!
//! The window is a Markov chain (Eq. 1): it grows in every stage without loss and is halved
//! otherwise. A stage takes one round trip (Eq. 4) plus a request delay: a contention if the
//! receiver was idle before, otherwise a piggyback request (Eq. 5). The download ends when the
//! number of packets sent reaches the mean number that it requires, including retransmissions (Eq.
//! 2).
//!
//! Assumptions that the paper does not state: the window is a real number from 1 to W_max; idle
//! times below 1 ns count as 0. Variants: W_th is set to half of the window at a loss (as in TCP)
//! or is constant (as printed in the paper); the queue of Eq. 6 drains or never drains (as
//! printed). Left out, as in the paper: timeouts, loss recovery, HARQ.
//!
//! | file | content |
//! | --- | --- |
//! | `stage.rs` | one stage |
//! | `monte_carlo.rs` | simulation of many random downloads |
//! | `grid.rs` | propagation of the distribution of window and sent packets |
//! | `points.rs` | the windows of the grid, and interpolation between them |
//! | `moments.rs` | probability, time moments and packets at a point |

mod grid;
mod moments;
mod monte_carlo;
mod points;
mod stage;

use crate::error::{ModelError, require};

/// Update of W_th at a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ssthresh {
    /// W_th becomes half of the window, at least 2, as in TCP.
    #[default]
    Updated,
    /// W_th is constant, as printed in the paper.
    Constant,
}

/// Update of the backlog of Eq. 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queue {
    /// The backlog never drains, as printed in the paper.
    #[default]
    Literal,
    /// The backlog decreases if the link can send more packets in a stage than the window contains.
    Draining,
}

/// Parameters of a download.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// L: size of the download, bytes. Above 0.
    pub size_bytes: f64,
    /// Maximum segment size, bytes. At least 1.
    pub mss_bytes: f64,
    /// R: payload rate of the downlink, bit/s. Above 0.
    pub rate_bps: f64,
    /// RTT_min: round-trip time without requests and queueing, s. At least 0.
    pub base_rtt_s: f64,
    /// T_ct: delay of a contention request, s. At least 0.
    pub contention_s: f64,
    /// T_pb: delay of a piggyback request, s. At least 0.
    pub piggyback_s: f64,
    /// p_e: loss probability of a packet, in [0, 1).
    pub loss: f64,
    /// b: packets per ACK. At least 1.
    pub packets_per_ack: f64,
    /// Initial W_th (slow start threshold), packets. At least 1.
    pub initial_ssthresh_packets: f64,
    /// W_max: maximum window, packets. At least 1.
    pub max_window_packets: f64,
    /// Update of W_th at a loss.
    pub ssthresh: Ssthresh,
    /// Update of the backlog.
    pub queue: Queue,
}

/// Performance of the downloads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Mean over the downloads of the throughput by Eq. 8, bit/s.
    pub throughput_bps: f64,
    /// Throughput by Eq. 8 with numerator and denominator summed over all downloads, bit/s.
    pub ratio_of_sums_bps: f64,
    /// Mean over the downloads of size divided by completion time, bit/s.
    pub goodput_bps: f64,
    /// N: mean number of stages.
    pub stages: f64,
    /// Share of stages that start with a contention.
    pub contention_share: f64,
    /// Error of `throughput_bps`, bit/s: standard error (Monte Carlo), or 1.5 times the change of
    /// the result by two halvings of the step (grid).
    pub error_bps: f64,
}

impl Problem {
    /// Checks the ranges that are stated at the fields.
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
