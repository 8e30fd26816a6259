//! Computes the rate of one TCP flow on a link with independent losses, by simulation and by the
//! PFTK formula.

#![allow(dead_code)]

use airpath_model::Tcp;
use airpath_path::{Components, Scenario, build};
use airpath_sim::Driver;
use serde_json::json;
use std::sync::Arc;

/// Loss rates of the curve.
pub(crate) const LOSS_RATES: [f64; 9] = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2];

/// Base RTT, ms. The transmission time of 12 µs adds 0.01 %.
const RTT_MS: u64 = 100;
/// Receive window, bytes; it is so large that it never limits the sender.
const RECEIVE_WINDOW: u64 = 100_000_000;
const NANOS: f64 = 1e9;

/// Parameters of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// p: probability that a packet is lost.
    pub(crate) p: f64,
    /// b: packets per ACK.
    pub(crate) b: u32,
    /// Minimum RTO, s. The RTT is constant, so the minimum RTO is T₀ if it is above the RTT.
    pub(crate) min_rto_s: f64,
    /// Maximum delay of an ACK, ms.
    pub(crate) ack_delay_ms: u64,
    /// `reno` or `newreno`.
    pub(crate) recovery: &'static str,
}

/// Result of the formula or of a simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Share of lost packets. The formula is evaluated at the simulated loss rate, so that the
    /// random difference between this rate and p does not count as a deviation.
    pub(crate) loss_rate: f64,
    /// Packets sent per second, including retransmissions.
    pub(crate) sending_rate: f64,
    /// Q: share of the loss events that end in a timeout. In the simulation: timeouts divided by
    /// the sum of timeouts and fast retransmits, so each expiry during back-off counts as a
    /// separate timeout.
    pub(crate) timeout_share: f64,
    /// Mean RTT sample, s.
    pub(crate) rtt_s: f64,
}

impl Case {
    /// Evaluates the PFTK formula.
    pub(crate) fn pftk(&self) -> Outcome {
        let b = f64::from(self.b);
        let tcp = Tcp {
            max_window_packets: RECEIVE_WINDOW as f64 / 1460.0,
            timeout_s: self.min_rto_s,
            packets_per_ack: b,
        };
        let window = airpath_model::pftk::unconstrained_window(self.p, b);
        Outcome {
            loss_rate: self.p,
            sending_rate: tcp.sending_rate(self.p, RTT_MS as f64 / 1e3),
            timeout_share: airpath_model::pftk::timeout_probability(self.p, window),
            rtt_s: RTT_MS as f64 / 1e3,
        }
    }

    /// Computes the PFTK rate with measured values of p, RTT and the share of timeouts q, instead
    /// of the assumptions of the formula: (E\[Y\] + q E\[R\]) / (E\[A\] RTT + q E\[Z\]), Padhye et
    /// al. 2000 §II.B.
    pub(crate) fn pftk_rate_as_measured(&self, simulated: Outcome) -> f64 {
        let (p, q) = (simulated.loss_rate, simulated.timeout_share);
        let (b, rtt_s) = (f64::from(self.b), simulated.rtt_s);
        let window = airpath_model::pftk::unconstrained_window(p, b);
        let timeouts_s = self.min_rto_s * airpath_model::pftk::backoff_factor(p) / (1.0 - p);
        ((1.0 - p) / p + window + q / (1.0 - p))
            / (rtt_s * (0.5 * b * window + 1.0) + q * timeouts_s)
    }

    /// Returns the relative deviation of `simulated` from PFTK at the simulated loss rate.
    pub(crate) fn deviation(&self, simulated: Outcome) -> f64 {
        let model = Case { p: simulated.loss_rate, ..*self }.pftk();
        simulated.sending_rate / model.sending_rate - 1.0
    }

    /// Simulates the flow for a time in which `losses` packets are lost at the PFTK rate.
    pub(crate) fn measure(&self, losses: f64, seed: u64) -> Outcome {
        let measured_s = (losses / self.p / self.pftk().sending_rate).ceil();
        let network =
            build(&self.scenario(measured_s), &Components::default(), &Arc::default(), seed, 0)
                .expect("a network");
        let mut driver = Driver::new(network);
        driver.run(&()).expect("a run");
        let report = driver.report(0);
        let flow = &report.flows[0];
        assert_eq!(report.queues[0].drops.len(), 0, "the link is no bottleneck");
        let events = (flow.timeouts.unwrap() + flow.fast_retransmits.unwrap()) as f64;
        let link = &report.links[0];
        let carried = link.lost_packets + link.delivered_packets;
        Outcome {
            loss_rate: link.lost_packets as f64 / carried as f64,
            sending_rate: flow.sent_packets as f64 / report.measured_s,
            timeout_share: flow.timeouts.unwrap() as f64 / events,
            rtt_s: flow.mean_rtt_s.expect("ACKs came back"),
        }
    }

    fn scenario(&self, measured_s: f64) -> Scenario {
        let half = RTT_MS * 1_000_000 / 2;
        let warmup_s = 100.0;
        let changes = json!({
            "receive_window": RECEIVE_WINDOW, "recovery": self.recovery, "window_growth": "bytes",
            "flight_bound": "none", "limited_transmit": false, "delayed_ack_segments": self.b,
            "delayed_ack_timeout_ns": self.ack_delay_ms * 1_000_000,
            "min_rto_ns": (self.min_rto_s * NANOS) as u64, "max_rto_ns": 3_600_000_000_000u64});
        let options = airpath_tcp::profile("rfc", changes).expect("a profile");
        let scenario = json!({
            "duration_ns": ((warmup_s + measured_s) * NANOS) as u64,
            "warmup_ns": (warmup_s * NANOS) as u64,
            "flows": [{
                "source": {"kind": "tcp", "congestion": {"kind": "reno"}, "options": options},
                "start": {"kind": "at", "time_ns": 0},
                "access": {"delay_ns": 0}, "egress": {"delay_ns": half},
                "return_wire": {"delay_ns": half}}],
            "bottleneck": {
                "link": {"kind": "fixed", "rate_bps": 1_000_000_000, "loss": self.p},
                "queue": {"kind": "droptail", "limit": {"packets": 1_000_000}}},
            "ack_path": {"kind": "ideal"}});
        Scenario::from_json(&scenario.to_string()).expect("a scenario")
    }
}
