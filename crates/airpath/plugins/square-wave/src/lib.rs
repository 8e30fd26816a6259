//! Link whose rate alternates between two values.
//!
//! Source: none; this link is a test signal. A packet is transmitted completely at the rate that
//! was valid at the start of its transmission.
#![forbid(unsafe_code)]

use airpath::{
    Bytes, Checks, Components, ConfigError, Duration, Framing, LinkContext, Rate, Scale, Seed,
    SerialLink, Time, Transmission, Transmitter, above, at_least, read_config,
};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SquareWaveConfig {
    /// Rate in the first half of each period, bit/s, above 0.
    pub high_bps: u64,
    /// Rate in the second half of each period, bit/s, above 0.
    pub low_bps: u64,
    /// Period, ns, at least 2.
    pub period_ns: u64,
}

/// A transmitter with two alternating rates.
#[derive(Clone, Copy, Debug)]
pub struct SquareWave {
    high: Rate,
    low: Rate,
    half_period: Duration,
    /// Mean of the two rates. A `[[control]]` of the scenario may set another mean; both rates are
    /// then scaled.
    scale: Scale,
}

impl SquareWave {
    fn rate_at(&self, now: Time) -> Rate {
        let half = now.as_nanos() / self.half_period.as_nanos();
        self.scale.of(if half.is_multiple_of(2) { self.high } else { self.low })
    }
}

impl Transmitter for SquareWave {
    fn begin(&mut self, frame: Bytes, _waiting: usize, now: Time) -> Transmission {
        let ends = now + frame / self.rate_at(now);
        Transmission { ends, bytes: frame, loss: 0.0, regime: 0, mcs: None }
    }

    fn nominal_rate(&self) -> Rate {
        self.scale.nominal()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.scale.set_nominal(rate);
    }
}

/// Builds a link from `config`.
///
/// # Errors
/// If a value of `config` is outside its range.
pub fn square_wave(
    config: SquareWaveConfig,
    context: LinkContext,
    seed: &Seed,
) -> Result<SerialLink<SquareWave>, ConfigError> {
    let mut checks = Checks::default();
    checks.within("high_bps", config.high_bps, above(0_u64));
    checks.within("low_bps", config.low_bps, above(0_u64));
    checks.within("period_ns", config.period_ns, at_least(2_u64));
    checks.finish()?;
    let transmitter = SquareWave {
        high: Rate(config.high_bps),
        low: Rate(config.low_bps),
        half_period: Duration::from_nanos(config.period_ns / 2),
        scale: Scale::new(Rate(config.high_bps.midpoint(config.low_bps))),
    };
    // No error process in addition to `context.errors`.
    SerialLink::new(transmitter, Framing::default(), None, context, seed)
}

/// Registers the link as `square-wave`.
pub fn register(components: &mut Components) {
    components.links.register("square-wave", |parameters, setup| {
        let seed = setup.seed.clone();
        Ok(Box::new(square_wave(read_config(parameters)?, setup.extra, &seed)?))
    });
    components.links.declare_independent("square-wave");
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath::simulate;
    use serde_json::json;

    /// A saturated source receives the mean of the rates.
    #[test]
    fn saturated_link_delivers_the_mean_rate() {
        let mut components = Components::default();
        register(&mut components);
        let scenario = json!({
            "duration_ns": 100_000_000_000u64,
            "flows": [{
                "source": {"kind": "cbr", "rate_bps": 20_000_000, "packet_bytes": 1250},
                "start": {"kind": "at", "time_ns": 0},
                "access": {"delay_ns": 0}, "egress": {"delay_ns": 0},
                "return_wire": {"delay_ns": 0}}],
            "bottleneck": {
                "link": {"kind": "square-wave", "high_bps": 10_000_000, "low_bps": 2_000_000,
                         "period_ns": 2_000_000_000u64},
                "queue": {"kind": "droptail", "limit": {"packets": 100}}},
            "ack_path": {"kind": "ideal"}});
        let report = simulate(&scenario.to_string(), &components, 1).expect("a run");
        let rate = report.flows[0].ip_throughput_bps;
        assert!((rate / 6e6 - 1.0).abs() < 0.01, "{rate} bit/s");
    }
}
