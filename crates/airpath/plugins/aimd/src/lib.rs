//! AIMD(a, b) congestion control: the window grows by a segments per RTT, and a loss reduces it to
//! b times the FlightSize.
//!
//! Source: Yang & Lam 2000, "General AIMD congestion control", §2; slow start as in RFC 5681. With
//! a = 1 and b = 1/2 the algorithm is Reno.
#![forbid(unsafe_code)]

use airpath::{
    AckEvent, Checks, Component, Components, ConfigError, CongestionControl, CongestionSetup,
    LossEvent, Setup, UndoEvent, above, at_least, read_component,
};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AimdConfig {
    /// Increase a, segments per RTT, at least 1.
    pub increase: u64,
    /// Factor b of the FlightSize after a loss, in (0, 1).
    pub decrease: f64,
}

/// AIMD(a, b) as a congestion control algorithm.
#[derive(Clone, Debug)]
pub struct Aimd {
    config: AimdConfig,
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Remainder of the division a·MSS²/cwnd, which is carried over to the next ACK.
    carry: u64,
}

impl<T: ?Sized> Component<T, CongestionSetup> for Aimd {
    type Config = AimdConfig;

    fn check(config: &AimdConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("increase", config.increase, at_least(1_u64));
        checks.within("decrease", config.decrease, above(0.0).below(1.0));
        checks.finish()
    }

    fn build(
        config: AimdConfig,
        setup: Setup<'_, T, CongestionSetup>,
    ) -> Result<Aimd, ConfigError> {
        let options = &setup.extra.options;
        Ok(Aimd {
            config,
            mss: u64::from(options.mss),
            cwnd: options.initial_window,
            ssthresh: options.initial_ssthresh.unwrap_or(u64::MAX),
            carry: 0,
        })
    }
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, event: &AckEvent) {
        // `growth` is `None` for duplicate ACKs, in fast recovery, and for ACKs with an echoed
        // mark.
        let Some(acked) = event.growth else { return };
        if self.cwnd < self.ssthresh {
            self.cwnd += acked.min(self.mss); // RFC 5681 eq. 2
        } else {
            self.carry += self.config.increase * self.mss * self.mss;
            let growth = self.carry / self.cwnd;
            self.carry -= growth * self.cwnd;
            self.cwnd += growth;
        }
    }

    fn on_loss(&mut self, event: &LossEvent) {
        let left = (event.flight as f64 * self.config.decrease) as u64;
        self.ssthresh = left.max(2 * self.mss);
        self.cwnd = self.ssthresh;
        self.carry = 0;
    }

    fn on_rto(&mut self, event: &LossEvent) {
        self.on_loss(event);
        self.cwnd = self.mss;
    }

    fn on_recovered(&mut self, cwnd: u64) {
        self.cwnd = self.ssthresh.min(cwnd);
    }

    fn on_undo(&mut self, event: &UndoEvent) {
        self.cwnd = self.cwnd.max(event.cwnd);
        self.ssthresh = self.ssthresh.max(event.ssthresh);
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

/// Registers the congestion control algorithm as `aimd`.
pub fn register(components: &mut Components) {
    components.congestion.register("aimd", |parameters, setup| {
        Ok(Box::new(read_component::<_, _, Aimd>(parameters, setup)?))
    });
    components.congestion.declare_independent("aimd");
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath::{profile, simulate};
    use serde_json::json;

    fn goodput_bps(increase: u64) -> f64 {
        let mut components = Components::default();
        register(&mut components);
        let options = json!({"receive_window": 4_000_000, "delayed_ack_segments": 1});
        let options = profile("rfc", options).expect("a profile");
        let scenario = json!({
            "duration_ns": 200_000_000_000u64, "warmup_ns": 20_000_000_000u64,
            "flows": [{
                "source": {"kind": "tcp", "options": options,
                           "congestion": {"kind": "aimd", "increase": increase, "decrease": 0.5}},
                "start": {"kind": "at", "time_ns": 0},
                "access": {"delay_ns": 0}, "egress": {"delay_ns": 20_000_000},
                "return_wire": {"delay_ns": 20_000_000}}],
            "bottleneck": {
                "link": {"kind": "fixed", "rate_bps": 1_000_000_000, "loss": 0.002},
                "queue": {"kind": "droptail", "limit": {"packets": 1000}}},
            "ack_path": {"kind": "ideal"}});
        simulate(&scenario.to_string(), &components, 1).expect("a run").flows[0].goodput_bps
    }

    #[test]
    fn rejects_all_values_outside_their_ranges() {
        let config = AimdConfig { increase: 0, decrease: 1.0 };
        let error =
            <Aimd as Component<dyn CongestionControl + Send, CongestionSetup>>::check(&config)
                .expect_err("two problems");
        let fields: Vec<&str> = error.problems().iter().map(|each| each.field.as_str()).collect();
        assert_eq!(fields, ["increase", "decrease"]);
    }

    /// On a link with random loss the goodput grows with the square root of a.
    #[test]
    fn goodput_grows_with_the_square_root_of_the_increase() {
        let gain = goodput_bps(4) / goodput_bps(1);
        assert!((1.6..2.4).contains(&gain), "sqrt(4) = 2, found {gain}");
    }
}
