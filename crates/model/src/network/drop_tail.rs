//! Mean queue and utilisation of a drop-tail hop whose losses limit the flows.
//!
//! The sum of the windows of the flows grows until the queue overflows; then the flows with losses
//! halve their windows, and the sum grows again. Lakshman & Madhow 1997 compute this sawtooth for
//! one flow. For N flows the share of the windows that is halved follows from the number of lost
//! packets M: the sum grows by Σ 1/b_i packets in the round trip before the senders notice the
//! overflow, and these packets are lost. A packet in excess is one of flow i with the probability
//! v_i, the share of flow i in the sum of windows:
//!
//! ```text
//! s = Σ v_i (1 − (1 − v_i)^M),   M = max(1, Σ 1/b_i)                                  (D1)
//! ```
//!
//! s is 1 for one flow, and tends to 1 − e^(−1/b) for many equal flows. In units of time (sum of
//! windows over the capacity that datagrams leave), the sum moves from (1 − s/2) T to T = R + B t̄,
//! where R is the round-trip time without this queue. At τ the queue has (τ − R)⁺/t̄ packets, and a
//! round trip takes max(R, τ), so that the density of τ over time is proportional to max(R, τ):
//!
//! ```text
//! n_h = ∫ (τ − R)⁺ max(R, τ) dτ / (t̄ ∫ max(R, τ) dτ)                                  (D2)
//! u_h = ∫ τ dτ / ∫ max(R, τ) dτ                                                        (D3)
//! ```
//!
//! The formula (N3) counts loss events, not lost packets: the losses of one overflow halve a window
//! once. Of the losses of flow i at this hop, the formula gets the share
//!
//! ```text
//! f_i = (1 − (1 − v_i)^M) / (v_i M)                                                     (D4)
//! ```
//!
//! A flow with a small window loses at most one packet per overflow (f = 1), a large window loses
//! several at once.
//!
//! If all windows at W_max do not fill path and queue, the queue does not overflow and s is 0.
//!
//! Left out: bursts, flows of different RTTs that lose at different times, and losses at other hops
//! between two overflows.

/// Sum of windows of the flows of a drop-tail hop, in units of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sawtooth {
    /// R: round-trip time without the queue of this hop, s; mean over the flows, weighted by rate.
    pub(super) rtt_s: f64,
    /// B t̄: queueing delay of a full queue, s.
    pub(super) full_s: f64,
    /// s of (D1): share of the windows that an overflow halves, in [0, 1].
    pub(super) halved: f64,
}

impl Sawtooth {
    /// Returns the mean queueing delay, s (D2), and the utilisation of the capacity that datagrams
    /// leave (D3).
    pub(super) fn means(self) -> (f64, f64) {
        let top = self.rtt_s + self.full_s;
        let low = (1.0 - 0.5 * self.halved) * top;
        if top - low <= 1e-12 * top {
            return (self.full_s, 1.0);
        }
        // Below R the link is idle at times; above R it is busy.
        let split = self.rtt_s.clamp(low, top);
        let busy = 0.5 * (top * top - split * split);
        let total = self.rtt_s * (split - low) + busy;
        let sent = 0.5 * (top * top - low * low);
        let cubes = (top.powi(3) - split.powi(3)) / 3.0;
        ((cubes - self.rtt_s * busy) / total, sent / total)
    }
}

/// Returns M of (D1): number of packets that an overflow loses. `flows` has number and packets per
/// ACK b of each class.
pub(super) fn lost_packets(flows: impl Iterator<Item = (f64, f64)>) -> f64 {
    flows.map(|(count, b)| count / b).sum::<f64>().max(1.0)
}

/// Returns the probability that an overflow that loses `lost` packets hits a flow with the share
/// `share` of the sum of windows.
pub(super) fn hit_probability(share: f64, lost: f64) -> f64 {
    1.0 - (1.0 - share).powf(lost)
}

/// Returns the number of loss events per lost packet of a flow (D4).
pub(super) fn events_per_loss(share: f64, lost: f64) -> f64 {
    (hit_probability(share, lost) / (share * lost)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flow_has_the_sawtooth_of_lakshman_and_madhow() {
        assert_eq!(hit_probability(1.0, lost_packets([(1.0, 2.0)].into_iter())), 1.0);
        // A buffer of one bandwidth-delay product: always busy. With R = 1, τ is from 1 to 2 with a
        // density proportional to τ: ∫ (τ − 1) τ / ∫ τ = (7/3 − 3/2) / (3/2) = 5/9.
        let (delay_s, busy) = Sawtooth { rtt_s: 1.0, full_s: 1.0, halved: 1.0 }.means();
        assert!((delay_s - 5.0 / 9.0).abs() < 1e-12 && (busy - 1.0).abs() < 1e-12);
        // No buffer: the window is between 1/2 and 1 of the bandwidth-delay product.
        let (delay_s, busy) = Sawtooth { rtt_s: 1.0, full_s: 0.0, halved: 1.0 }.means();
        assert!(delay_s.abs() < 1e-12 && (busy - 0.75).abs() < 1e-12);
    }

    #[test]
    fn half_a_product_of_buffer_by_hand() {
        // T = 1.5, low 0.75: R (1 − 0.75) = 0.25; ∫_1^1.5 τ = 0.625; ∫_0.75^1.5 τ = 0.84375;
        // ∫ (τ − 1) τ = (3.375 − 1)/3 − 0.625 = 1/6.
        let (delay_s, busy) = Sawtooth { rtt_s: 1.0, full_s: 0.5, halved: 1.0 }.means();
        assert!((busy - 0.84375 / 0.875).abs() < 1e-12, "{busy}");
        assert!((delay_s - 1.0 / 6.0 / 0.875).abs() < 1e-12, "{delay_s}");
    }

    #[test]
    fn many_flows_halve_a_share_of_one_minus_exp_of_growth() {
        for b in [1.0, 2.0] {
            let lost = lost_packets([(1e4, b)].into_iter());
            let found = hit_probability(1e-4, lost);
            assert!((found - (1.0 - (-1.0 / b).exp())).abs() < 1e-4, "{found}");
            // A flow with a small window loses one packet per event.
            assert!((events_per_loss(1e-9, lost) - 1.0).abs() < 1e-4);
            let many = events_per_loss(1e-4, lost);
            assert!((many - b * (1.0 - (-1.0 / b).exp())).abs() < 1e-4, "{many}");
        }
        assert_eq!(hit_probability(0.5, lost_packets([(2.0, 2.0)].into_iter())), 0.5);
        assert_eq!(events_per_loss(0.5, 1.0), 1.0);
    }

    #[test]
    fn without_losses_the_queue_is_full() {
        assert_eq!(Sawtooth { rtt_s: 1.0, full_s: 0.5, halved: 0.0 }.means(), (0.5, 1.0));
    }
}
