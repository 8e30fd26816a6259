//! One stage: transmission of one window of packets (wimax-2009 Eqs. 1 and 3 to 7).

use super::{Problem, Queue};

/// Time difference up to which two times count as equal. With backlog, the exact idle time is 0,
/// and rounding must not decide between contention and piggyback.
const TOLERANCE_S: f64 = 1e-9;

/// Difference up to which two windows count as equal. With b = 2 a window grows to W_th by factors
/// of √2, and rounding must not decide whether it reaches W_th.
const TOLERANCE_PACKETS: f64 = 1e-9;

/// Returns true if the window is below W_th.
#[inline]
pub(super) fn is_slow(window: f64, ssthresh: f64) -> bool {
    window < ssthresh - TOLERANCE_PACKETS
}

/// Initial state of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    /// w: window, packets.
    pub(super) window: f64,
    /// W_th: slow start threshold, packets.
    pub(super) ssthresh: f64,
    /// t_q: queueing delay, s.
    pub(super) queue_s: f64,
    /// True if the receiver was idle before the stage, so that its first ACK requires a contention.
    pub(super) contends: bool,
}

/// Result of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StageResult {
    /// Round-trip time RTT(k), s.
    pub(super) rtt_s: f64,
    /// Queueing delay of the next stage t_q(k + 1), s.
    pub(super) queue_s: f64,
    /// Idle time of the receiver t_idle(k), s.
    pub(super) idle_s: f64,
}

impl StageResult {
    /// Returns true if t_idle(k) > 0.
    #[inline]
    pub(super) fn was_idle(&self) -> bool {
        self.idle_s > TOLERANCE_S
    }
}

impl Problem {
    /// Returns the initial state of the first stage: w(1) = 1, and the first ACK requires a
    /// contention.
    pub(super) fn first(&self) -> State {
        let ssthresh = self.initial_ssthresh_packets;
        State { window: 1.0, ssthresh, queue_s: 0.0, contends: true }
    }

    /// Returns the transmission time of a packet, MSS/R, s.
    #[inline]
    pub(super) fn packet_s(&self) -> f64 {
        8.0 * self.mss_bytes / self.rate_bps
    }

    /// Returns L'(1 + p_e), packets: the right side of Eq. 2.
    pub(super) fn target(&self) -> f64 {
        (self.size_bytes / self.mss_bytes).ceil() * (1.0 + self.loss)
    }

    /// Returns the request delay t_br(k), s (Eq. 5).
    #[inline]
    pub(super) fn request_s(&self, contends: bool) -> f64 {
        if contends { self.contention_s } else { self.piggyback_s }
    }

    /// Computes RTT, queueing delay and idle time of a stage (Eqs. 4, 6 and 7).
    #[inline]
    pub(super) fn pass(&self, state: &State) -> StageResult {
        let packet_s = self.packet_s();
        let wait_s = self.request_s(state.contends) + state.queue_s + self.base_rtt_s;
        let rtt_s = packet_s + wait_s;
        let grown_s = state.window * packet_s - rtt_s;
        let queue_s = match self.queue {
            Queue::Literal => state.queue_s + grown_s.max(0.0),
            Queue::Draining => (state.queue_s + grown_s).max(0.0),
        };
        let idle_s = (wait_s - (state.window - 1.0) * packet_s).max(0.0);
        StageResult { rtt_s, queue_s, idle_s }
    }

    /// Returns the window after a stage without loss (Eq. 1, first three lines).
    #[inline]
    pub(super) fn grow(&self, window: f64, ssthresh: f64) -> f64 {
        let b = self.packets_per_ack;
        let slow = is_slow(window, ssthresh);
        let grown = if slow { window * (1.0 / b).exp2() } else { window + 1.0 / b };
        grown.min(self.max_window_packets)
    }

    /// Returns the window after a stage with a loss (Eq. 1, last line); at least 1.
    #[inline]
    pub(super) fn halve(&self, window: f64) -> f64 {
        (window / 2.0).max(1.0)
    }

    /// Returns W_th after a loss at the window `window`.
    #[inline]
    pub(super) fn ssthresh_after(&self, window: f64) -> f64 {
        match self.ssthresh {
            super::Ssthresh::Updated => (window / 2.0).max(2.0),
            super::Ssthresh::Constant => self.initial_ssthresh_packets,
        }
    }

    /// Returns the probability that all packets of a window arrive.
    #[inline]
    pub(super) fn arrives(&self, window: f64) -> f64 {
        (1.0 - self.loss).powf(window)
    }

    /// Returns true if the window can become large enough to build a queue.
    pub(super) fn can_queue(&self) -> bool {
        let least = self.contention_s.min(self.piggyback_s) + self.base_rtt_s;
        (self.max_window_packets - 1.0) * self.packet_s() > least - TOLERANCE_S
    }
}
