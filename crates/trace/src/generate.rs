//! Generator of synthetic traces of a Rayleigh fading link, whose rate is the Shannon capacity,
//! limited to a maximum.
//!
//! In each millisecond the rate is min(cap, W·log2(1 + SNR·|h|²)), where h is the channel
//! coefficient at the middle of the millisecond. The bits are then divided into delivery
//! opportunities.
//!
//! Source: [`airpath_phy::rayleigh`], [`airpath_phy::shannon`]. Not modelled: shadowing and path
//! loss (the mean SNR is constant), other users, scheduling, handover, and fading within a
//! millisecond. Fading within a millisecond is relevant at Doppler frequencies above about 100 Hz.

use super::{
    MAX_RATE_BPS, NANOS_PER_MILLI, NANOS_PER_SECOND, OPPORTUNITY_BITS, OpportunityTrace, RateTrace,
    Segment, TraceError,
};
use airpath_core::{Stream, Time};
use airpath_phy::{doppler, rayleigh::Rayleigh, shannon};

/// Longest generated trace, s. A longer run repeats the trace.
pub const MAX_GENERATED_S: u64 = 3600;

/// Parameters of the link of a synthetic trace.
#[derive(Clone, Debug, PartialEq)]
pub struct FadedLinkConfig {
    /// Duration of the trace, ns: 1 ms to [`MAX_GENERATED_S`]. The trace is rounded up to full
    /// milliseconds.
    pub duration_ns: u64,
    /// Mean SNR, averaged over the fading, dB: −50 to 100.
    pub mean_snr_db: f64,
    /// Bandwidth W, Hz: above 0, up to 1e12.
    pub bandwidth_hz: f64,
    /// Maximum rate, bit/s: above 0, up to [`MAX_RATE_BPS`].
    pub cap_bps: f64,
    /// Speed of the receiver, m/s: 0 (constant channel) to 10 000.
    pub speed_mps: f64,
    /// Carrier frequency, Hz: above 0, up to 1e12.
    pub carrier_hz: f64,
    /// Seed of the channel. Equal parameters and seed give the same trace on every machine.
    pub seed: u64,
}

impl FadedLinkConfig {
    fn validate(&self) -> Result<(), TraceError> {
        let duration_s = self.duration_ns as f64 / NANOS_PER_SECOND as f64;
        let up_to = |value: f64, highest: f64| value > 0.0 && value <= highest;
        let checks = [
            (
                "duration",
                duration_s,
                (NANOS_PER_MILLI..=MAX_GENERATED_S * NANOS_PER_SECOND).contains(&self.duration_ns),
                "seconds from 0.001 to 3600, for example 60",
            ),
            (
                "mean_snr_db",
                self.mean_snr_db,
                (-50.0..=100.0).contains(&self.mean_snr_db),
                "dB from -50 to 100, for example 15",
            ),
            (
                "bandwidth_hz",
                self.bandwidth_hz,
                up_to(self.bandwidth_hz, 1e12),
                "Hz above 0 up to 1e12, for example 5e6",
            ),
            (
                "cap_bps",
                self.cap_bps,
                up_to(self.cap_bps, MAX_RATE_BPS),
                "bit/s above 0 up to 1e15, for example 20e6",
            ),
            (
                "speed_mps",
                self.speed_mps,
                (0.0..=1e4).contains(&self.speed_mps),
                "m/s from 0 to 10000, for example 1.5",
            ),
            (
                "carrier_hz",
                self.carrier_hz,
                up_to(self.carrier_hz, 1e12),
                "Hz above 0 up to 1e12, for example 2.1e9",
            ),
        ];
        match checks.into_iter().find(|&(_, _, is_valid, _)| !is_valid) {
            Some((field, value, _, accepted)) => {
                Err(TraceError::OutOfRange { field, value, accepted })
            }
            None => Ok(()),
        }
    }
}

/// Generates the delivery opportunities of a fading link.
///
/// # Errors
/// [`TraceError::OutOfRange`] for a parameter outside its range, [`TraceError::NothingDelivered`]
/// if the link carries less than one opportunity, [`TraceError::TooManyOpportunities`] if it
/// carries too many opportunities.
pub fn generate(config: &FadedLinkConfig) -> Result<OpportunityTrace, TraceError> {
    let rate = generate_rate(config)?;
    let bits = rate.bits();
    if bits < OPPORTUNITY_BITS {
        return Err(TraceError::NothingDelivered { bits });
    }
    rate.to_opportunities()
}

/// Generates the rate of a fading link, one segment per millisecond.
///
/// # Errors
/// [`TraceError::OutOfRange`] for a parameter outside its range.
pub fn generate_rate(config: &FadedLinkConfig) -> Result<RateTrace, TraceError> {
    config.validate()?;
    let mut stream = Stream::new(config.seed, 0, "trace generator");
    let doppler_hz = doppler::max_doppler_hz(config.speed_mps, config.carrier_hz);
    let fading = Rayleigh::new(doppler_hz, || stream.uniform());
    let mean_snr = shannon::from_db(config.mean_snr_db);
    let segment = |milli: u64| {
        let start_ns = milli * NANOS_PER_MILLI;
        let snr = mean_snr * fading.power_at(Time::from_nanos(start_ns + NANOS_PER_MILLI / 2));
        let rate_bps = shannon::rate_bps(config.bandwidth_hz, snr, config.cap_bps);
        Segment { start_ns, rate_bps }
    };
    let steps = config.duration_ns.div_ceil(NANOS_PER_MILLI);
    RateTrace::new((0..steps).map(segment).collect(), steps * NANOS_PER_MILLI)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    fn config() -> FadedLinkConfig {
        FadedLinkConfig {
            duration_ns: 10 * NANOS_PER_SECOND,
            mean_snr_db: 10.0,
            bandwidth_hz: 5e6,
            cap_bps: 20e6,
            speed_mps: 3.0,
            carrier_hz: 2e9,
            seed: 1,
        }
    }

    fn error(config: &FadedLinkConfig) -> String {
        generate(config).expect_err("refused").to_string()
    }

    #[test]
    fn equal_seeds_give_equal_traces() {
        let trace = generate(&config()).unwrap();
        assert_eq!(trace, generate(&config()).unwrap());
        assert_ne!(trace, generate(&FadedLinkConfig { seed: 2, ..config() }).unwrap());
    }

    #[test]
    fn seed_gives_the_same_trace_on_every_machine() {
        let trace = generate(&config()).unwrap();
        // The first assertion detects any change of the result; the mean rate is a plausibility
        // check.
        let sum_ms: u64 = trace.times_ms().iter().sum();
        assert_eq!((trace.times_ms().len(), sum_ms), (11_422, 55_589_081));
        let mean_bps = trace.bits() / 10.0;
        assert!((8e6..20e6).contains(&mean_bps), "{mean_bps}");
    }

    #[test]
    fn trace_has_the_configured_duration_and_respects_the_cap() {
        let trace = generate(&config()).unwrap();
        assert_eq!(trace.period_ms(), 10_000);
        let rates = trace.rates(100 * NANOS_PER_MILLI).unwrap();
        // Rounding error: one opportunity per bin.
        assert!(rates.iter().all(|&rate| rate <= 20e6 + OPPORTUNITY_BITS / 0.1));
        assert!(rates.iter().any(|&rate| rate > 19e6), "the cap is reached");
        assert!(rates.iter().any(|&rate| rate < 10e6), "the link fades");
        let odd = FadedLinkConfig { duration_ns: 1_000_000_001, ..config() };
        assert_eq!(generate(&odd).unwrap().period_ms(), 1001);
    }

    const ERGODIC: Law = Law {
        area: "Links and traces",
        source: "The ergodic Rayleigh channel: e^(1/γ) E1(1/γ) / ln 2 at γ = 10",
        allows: "2 %: the generator's finite number of waves",
    };

    #[test]
    fn mean_rate_equals_that_of_the_ergodic_channel() {
        // E log2(1 + γ|h|²) = e^(1/γ) E1(1/γ) / ln 2 = 2.9065 bit/s/Hz at γ = 10 (E1(0.1) =
        // 1.8229). At 100 m/s one minute contains 40 000 cycles. The remaining error comes from the
        // finite number of waves of the generator.
        let fast = FadedLinkConfig {
            duration_ns: 60 * NANOS_PER_SECOND,
            cap_bps: 1e9,
            speed_mps: 100.0,
            ..config()
        };
        let rate = generate_rate(&fast).unwrap();
        let mean = rate.bits() / 60.0 / 5e6;
        ERGODIC.close_relative("mean rate of a generated trace", "bit/s/Hz", mean, 2.9065, 0.02);
        let opportunities = generate(&fast).unwrap();
        assert!((opportunities.bits() - rate.bits()).abs() < OPPORTUNITY_BITS);
    }

    #[test]
    fn receiver_at_rest_has_a_constant_rate() {
        let rate = generate_rate(&FadedLinkConfig { speed_mps: 0.0, ..config() }).unwrap();
        let first = rate.segments()[0].rate_bps;
        assert!(rate.segments().iter().all(|segment| segment.rate_bps == first));
    }

    #[test]
    fn out_of_range_parameters_are_reported_by_name() {
        let base = config();
        assert_eq!(
            error(&FadedLinkConfig { duration_ns: 0, ..base.clone() }),
            "duration = 0: not accepted. Use seconds from 0.001 to 3600, for example 60."
        );
        assert_eq!(
            error(&FadedLinkConfig { mean_snr_db: f64::NAN, ..base.clone() }),
            "mean_snr_db = NaN: not accepted. Use dB from -50 to 100, for example 15."
        );
        assert_eq!(
            error(&FadedLinkConfig { bandwidth_hz: 0.0, ..base.clone() }),
            "bandwidth_hz = 0: not accepted. Use Hz above 0 up to 1e12, for example 5e6."
        );
        assert_eq!(
            error(&FadedLinkConfig { cap_bps: f64::INFINITY, ..base.clone() }),
            "cap_bps = inf: not accepted. Use bit/s above 0 up to 1e15, for example 20e6."
        );
        assert_eq!(
            error(&FadedLinkConfig { speed_mps: -3.0, ..base.clone() }),
            "speed_mps = -3: not accepted. Use m/s from 0 to 10000, for example 1.5."
        );
        assert_eq!(
            error(&FadedLinkConfig { carrier_hz: -1.0, ..base }),
            "carrier_hz = -1: not accepted. Use Hz above 0 up to 1e12, for example 2.1e9."
        );
    }

    #[test]
    fn link_that_delivers_nothing_is_rejected() {
        let poor = FadedLinkConfig { bandwidth_hz: 10.0, duration_ns: 1_000_000, ..config() };
        let message = error(&poor);
        assert!(message.starts_with("the generated link carries 0 bit in all, "), "{message}");
        let rich = FadedLinkConfig { bandwidth_hz: 1e12, cap_bps: 1e15, ..config() };
        assert!(error(&rich).contains("At most 50000000 are possible"));
    }
}
