//! Log-normal shadowing of another process: SNR(t) = SNR_inner(t) · 10^(S(t)/10), where S is
//! [`Shadowing`] in dB.
//!
//! Source: Gudmundson 1991, see [`crate::shadowing`]. If the inner process is Rayleigh fading, the
//! product of fast fading and shadowing is the Suzuki process (IEEE Trans. Commun. 25, 1977).
//!
//! The configured mean of the inner process is the median over the shadowing. The mean power ratio
//! is larger by σ² ln(10)/20 dB, for example 7.4 dB for σ = 8 dB.
//!
//! The inner process uses the same random numbers as without shadowing, so that runs with and
//! without shadowing can be compared.

use super::slotted::{last_of, start_of};
use super::{AnySnr, Sample, SnrContext, SnrProcess};
use crate::shadowing::{Shadowing, coherence_of};
use crate::shannon::from_db;
use airpath_core::registry::kind_of;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time, above, at_least};
use serde::Deserialize;
use serde_json::Value;

/// Name of the process in the registry.
const KIND: &str = "shadowed";

/// Largest standard deviation, dB.
const LARGEST_DB: f64 = 30.0;

/// Configuration: σ, the inner process, and either the correlation time, or the correlation
/// distance and the speed, which determine the correlation time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShadowedConfig {
    /// σ, standard deviation, dB, 0 to 30.
    pub deviation_db: f64,
    /// T, time after which the correlation is 1/e, ns, above 0.
    #[serde(default)]
    pub correlation_ns: Option<u64>,
    /// d, distance after which the correlation is 1/e, m, above 0.
    #[serde(default)]
    pub correlation_m: Option<f64>,
    /// Speed of the receiver, m/s, 0 to 10 000. With 0, the shadowing is constant.
    #[serde(default)]
    pub speed_mps: Option<f64>,
    /// Inner process without shadowing: `{"kind": …}`, any except `shadowed`.
    pub inner: Value,
}

/// A process with shadowing.
pub struct Shadowed {
    shadowing: Shadowing,
    inner: Box<AnySnr>,
}

/// Returns T of a configuration; `None` without movement.
fn coherence(config: &ShadowedConfig) -> Result<Option<Duration>, ConfigError> {
    let mut checks = Checks::default();
    let coherence = match (config.correlation_ns, config.correlation_m, config.speed_mps) {
        (Some(correlation_ns), None, None) => {
            checks.within("correlation_ns", correlation_ns, at_least(1_u64));
            Some(Duration::from_nanos(correlation_ns))
        }
        (None, Some(correlation_m), Some(speed_mps)) => {
            checks.within("correlation_m", correlation_m, above(0.0));
            checks.within("speed_mps", speed_mps, 0.0..=FASTEST_MPS);
            coherence_of(correlation_m, speed_mps)
        }
        _ => {
            let advice = "Set correlation, or correlation_distance and speed";
            checks.reject(
                "correlation_ns",
                "missing or ambiguous",
                "exactly one form is required",
                advice,
            );
            None
        }
    };
    checks.finish().map(|()| coherence)
}

/// Largest speed of a receiver, m/s.
const FASTEST_MPS: f64 = 1e4;

impl Component<dyn SnrProcess + Send, SnrContext> for Shadowed {
    type Config = ShadowedConfig;

    fn check(config: &ShadowedConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("deviation_db", config.deviation_db, 0.0..=LARGEST_DB);
        checks.nested("", coherence(config));
        if kind_of(&config.inner).is_ok_and(|kind| kind == KIND) {
            let problem = "a shadowed process inside another";
            checks.reject("inner.kind", KIND, problem, "Use another process inside");
        }
        checks.nested("inner", AnySnr::check(&config.inner));
        checks.finish()
    }

    fn build(
        config: ShadowedConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<Shadowed, ConfigError> {
        let deviation_db = config.deviation_db;
        let coherence = coherence(&config)?;
        let shadowing = Shadowing::new(deviation_db, coherence, &setup.seed.child("shadowing"));
        let inner = AnySnr::build(&config.inner, setup).map_err(|error| error.under("inner"))?;
        Ok(Shadowed { shadowing, inner: Box::new(inner) })
    }
}

impl SnrProcess for Shadowed {
    fn sample(&mut self, at: Time) -> Sample {
        let Sample { snr_db, until } = self.inner.sample(at);
        let (shadow_db, holds_until) = self.shadowing.at(at);
        Sample { snr_db: snr_db + shadow_db, until: until.min(holds_until) }
    }

    fn constant_db(&self) -> Option<f64> {
        let constant_db = self.inner.constant_db()?;
        self.shadowing.constant_db().map(|shadow_db| constant_db + shadow_db)
    }

    #[inline]
    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        let (shadow_db, _) = self.shadowing.at(start_of(slot, length));
        self.inner.at_slot_start(slot, length) * from_db(shadow_db)
    }

    #[inline]
    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        let (shadow_db, _) = self.shadowing.at(last_of(slot, length));
        self.inner.at_slot_end(slot, length) * from_db(shadow_db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snr::SnrRegistry;
    use airpath_conformance::Law;
    use airpath_core::Seed;
    use serde_json::json;

    const SUZUKI: Law = Law {
        area: "Radio channel",
        source: "SNR process shadowed: mean power exp((σ ln(10)/10)²/2) times that of the inner",
        allows: "five standard deviations of 20 000 seeds",
    };

    fn build(description: &Value, seed: u64) -> Result<AnySnr, ConfigError> {
        let registry = SnrRegistry::default();
        let seed = Seed::new(seed, 0, "snr");
        AnySnr::build(
            description,
            Setup { seed, registry: &registry, extra: SnrContext::default() },
        )
    }

    fn shadowed(changes: &Value) -> Value {
        let mut description = json!({
            "kind": "shadowed", "deviation_db": 4.0, "correlation_m": 50.0, "speed_mps": 10.0,
            "inner": {"kind": "rayleigh", "mean_db": 10.0, "doppler_hz": 20.0},
        });
        for (key, value) in changes.as_object().expect("a table") {
            description[key] = value.clone();
        }
        description.as_object_mut().expect("a table").retain(|_, value| !value.is_null());
        description
    }

    #[test]
    fn inner_process_is_unchanged_by_shadowing() {
        let description = shadowed(&json!({}));
        let mut both = build(&description, 7).expect("accepted");
        let mut alone = build(&description["inner"], 7).expect("accepted");
        let seed = Seed::new(7, 0, "snr").child("shadowing");
        // 50 m at 10 m/s take 5 s.
        let mut shadow = Shadowing::new(4.0, Some(Duration::from_secs(5)), &seed);
        for millis in (0..20_000).step_by(37) {
            let at = Time::from_millis(millis);
            let expected_db = alone.sample(at).snr_db + shadow.at(at).0;
            assert_eq!(both.sample(at).snr_db, expected_db);
        }
        assert_eq!(both.constant_db(), None);
    }

    #[test]
    fn mean_power_exceeds_power_of_median() {
        const SEEDS: u64 = 20_000;
        let description = shadowed(&json!({}));
        let powers: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let mut process = build(&description, seed).expect("accepted");
                from_db(process.sample(Time::from_millis(1234)).snr_db - 10.0)
            })
            .collect();
        let mean = powers.iter().sum::<f64>() / SEEDS as f64;
        let variance = powers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / SEEDS as f64;
        let sigma = 4.0 * std::f64::consts::LN_10 / 10.0;
        let bound = 5.0 * (variance / SEEDS as f64).sqrt();
        SUZUKI.close("σ = 4 dB, Rayleigh fading", "", mean, f64::exp(sigma * sigma / 2.0), bound);
    }

    #[test]
    fn sample_is_valid_until_either_part_changes() {
        let inner = json!({"kind": "constant", "mean_db": 10.0});
        let mut moving = build(&shadowed(&json!({"inner": inner})), 1).expect("accepted");
        // 5 s / 1024.
        assert_eq!(moving.sample(Time::ZERO).until, Time::from_nanos(4_882_813));
        assert_eq!(moving.constant_db(), None);
        let still = shadowed(&json!({"inner": inner, "speed_mps": 0.0}));
        let mut still = build(&still, 1).expect("accepted");
        let first = still.sample(Time::ZERO);
        assert_eq!(first.until, Time::NEVER);
        assert_eq!(still.constant_db(), Some(first.snr_db));
        assert_ne!(first.snr_db, 10.0);
        let none = shadowed(&json!({"inner": inner, "deviation_db": 0}));
        assert_eq!(build(&none, 1).expect("accepted").constant_db(), Some(10.0));
    }

    #[test]
    fn rejected_value_is_named() {
        let error =
            |changes: Value| build(&shadowed(&changes), 1).err().expect("refused").to_string();
        let one = "correlation_ns = missing or ambiguous: exactly one form is required. \
                   Set correlation, or correlation_distance and speed";
        assert_eq!(error(json!({"speed_mps": null})), one);
        assert_eq!(error(json!({"correlation_ns": 1})), one);
        let time = json!({"correlation_ns": 0, "correlation_m": null, "speed_mps": null});
        assert_eq!(error(time), "correlation_ns = 0: below 1. Accepted: at least 1");
        assert_eq!(
            error(json!({"correlation_m": 0.0})),
            "correlation_m = 0: not above 0. Accepted: more than 0"
        );
        assert_eq!(
            error(json!({"speed_mps": -1})),
            "speed_mps = -1: below 0. Accepted: 0 to 10000"
        );
        assert_eq!(
            error(json!({"deviation_db": 31})),
            "deviation_db = 31: above 30. Accepted: 0 to 30"
        );
        assert_eq!(
            error(json!({"inner": shadowed(&json!({}))})),
            "inner.kind = shadowed: a shadowed process inside another. Use another process inside"
        );
        let wrong = json!({"inner": {"kind": "constant", "mean_db": 201}});
        assert_eq!(error(wrong), "inner.mean_db = 201: above 200. Accepted: -200 to 200");
    }
}
