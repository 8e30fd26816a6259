//! State of the flows and the link at one queue length: the functions of x (queue length) and α
//! (share of time in the upper regime) in qawla-2015 §3.

use crate::pftk::{RateTerms, Tcp};
use crate::regimes::Regime;

/// State of link and flows at a given queue length and mix of regimes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatingPoint {
    /// x: number of waiting packets.
    pub queue_packets: f64,
    /// Service rate r(x, α), bit/s, and PER(x, α): qawla-2015 eqs. 12 and 13.
    pub service: Regime,
    /// q(x): drop probability of the queue discipline.
    pub drop_probability: f64,
    /// p(x, α): probability that a packet is dropped or lost (qawla-2015 eq. 14).
    pub loss: f64,
    /// Queueing and transmission delay x/r + L/r, s: the last two terms of qawla-2015 eq. 15.
    pub delay_s: f64,
    /// P₁ and P₂ of the PFTK formula at the loss rate `loss`.
    pub terms: RateTerms,
    /// Σ λ_i: total sending rate of all flows, packets/s.
    pub sending_rate: f64,
    /// L: packet size, bits.
    pub packet_bits: f64,
}

/// One flow at an operating point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowPoint {
    /// RTT_i of the flow, s: qawla-2015 eq. 15.
    pub rtt_s: f64,
    /// λ_i: sending rate of the flow, packets/s (qawla-2015 eq. 19).
    pub sending_rate: f64,
    /// Rate of the IP packets that reach the receiver, bit/s: the share of this flow in T
    /// (qawla-2015 eq. 18).
    pub throughput_bps: f64,
    /// p: probability that a packet of the flow is dropped or lost; equal for all flows.
    pub loss: f64,
}

impl OperatingPoint {
    /// Evaluates the point. The terms that depend on the loss rate are computed once for all flows.
    pub(crate) fn new(
        queue_packets: f64,
        service: Regime,
        drop_probability: f64,
        (tcp, packet_bits, base_rtts_s): (&Tcp, f64, &[f64]),
    ) -> Self {
        let loss = combined_loss(service.per, drop_probability);
        let flows = (packet_bits, base_rtts_s);
        Self::held(queue_packets, service, drop_probability, tcp.rate_terms(loss), 1.0, flows)
    }

    /// Evaluates the point for flows that send at `scale` times the rate given by `terms`,
    /// regardless of the loss rate at this point.
    pub(crate) fn held(
        queue_packets: f64,
        service: Regime,
        drop_probability: f64,
        terms: RateTerms,
        scale: f64,
        (packet_bits, base_rtts_s): (f64, &[f64]),
    ) -> Self {
        let delay_s = (queue_packets + 1.0) * packet_bits / service.rate_bps;
        let rate = |base_rtt: &f64| terms.sending_rate(base_rtt + delay_s);
        let sending_rate = scale * base_rtts_s.iter().map(rate).sum::<f64>();
        Self {
            queue_packets,
            service,
            drop_probability,
            loss: combined_loss(service.per, drop_probability),
            delay_s,
            terms,
            sending_rate,
            packet_bits,
        }
    }

    /// Returns κ(x, α): rate admitted to the queue, bit/s (qawla-2015 eq. 16).
    pub fn arrival_bps(&self) -> f64 {
        (1.0 - self.drop_probability) * self.packet_bits * self.sending_rate
    }

    /// Returns G(x, α): ratio of the service rate to the sending rate of the flows (qawla-2015 eq.
    /// 21).
    pub fn g(&self) -> f64 {
        self.service.rate_bps / (self.packet_bits * self.sending_rate)
    }

    /// Returns G(x, α) − (1 − q(x)): 0 if the queue is in balance (qawla-2015 eq. 22), negative if
    /// it grows (κ > r), positive if it drains.
    pub fn balance(&self) -> f64 {
        self.g() - (1.0 - self.drop_probability)
    }

    /// Returns T: rate of the IP packets that reach the receivers, bit/s (qawla-2015 eq. 18).
    pub fn throughput_bps(&self) -> f64 {
        (1.0 - self.service.per) * self.arrival_bps()
    }

    /// Returns the state of a flow with the given base RTT, s (including 2 D_F, without queueing
    /// and transmission at this link).
    pub fn flow(&self, base_rtt_s: f64) -> FlowPoint {
        let rtt_s = base_rtt_s + self.delay_s;
        let sending_rate = self.terms.sending_rate(rtt_s);
        let throughput_bps = (1.0 - self.loss) * self.packet_bits * sending_rate;
        FlowPoint { rtt_s, sending_rate, throughput_bps, loss: self.loss }
    }
}

/// Returns the loss rate p = 1 − (1 − PER)(1 − q) (qawla-2015 eq. 14), which assumes that losses on
/// the link are independent of drops. Both arguments are in [0, 1].
pub fn combined_loss(per: f64, drop_probability: f64) -> f64 {
    per + drop_probability - per * drop_probability
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point() -> OperatingPoint {
        let service = Regime { rate_bps: 12e6, per: 0.01 };
        OperatingPoint::new(9.0, service, 0.1, (&Tcp::default(), 12_000.0, &[0.02, 0.05]))
    }

    #[test]
    fn eq_14_combines_independent_losses() {
        assert!((combined_loss(0.1, 0.2) - 0.28).abs() < 1e-16);
        assert_eq!(combined_loss(0.0, 1e-17), 1e-17);
        assert_eq!(combined_loss(0.3, 1.0), 1.0);
        assert_eq!(point().loss, combined_loss(0.01, 0.1));
    }

    #[test]
    fn eq_15_adds_queueing_and_transmission_to_the_base_rtt() {
        assert!((point().delay_s - 0.010).abs() < 1e-15);
        assert!((point().flow(0.02).rtt_s - 0.030).abs() < 1e-15);
    }

    #[test]
    fn eq_16_is_the_admitted_rate() {
        let rates = Tcp::default().sending_rate(point().loss, 0.03)
            + Tcp::default().sending_rate(point().loss, 0.06);
        assert!((point().arrival_bps() / (12_000.0 * 0.9 * rates) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn eq_20_and_21_agree_with_eq_16() {
        let point = point();
        let sent_bps = point.arrival_bps() / (1.0 - point.drop_probability);
        assert!((point.g() / (point.service.rate_bps / sent_bps) - 1.0).abs() < 1e-14);
        let drains = point.arrival_bps() < point.service.rate_bps;
        assert_eq!(point.balance() > 0.0, drains);
    }

    #[test]
    fn eq_18_is_the_sum_over_the_flows() {
        let sum = point().flow(0.02).throughput_bps + point().flow(0.05).throughput_bps;
        assert!((point().throughput_bps() / sum - 1.0).abs() < 1e-14);
    }
}
