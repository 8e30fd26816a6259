//! Link with queue-aware link adaptation: the queue length determines the rate and the packet error
//! rate.
//!
//! Source: qawla-2015 §2, the dual-regime wireless link, generalised from one threshold B to an
//! ascending list of thresholds B_j. A packet is sent in regime j if at the start of its
//! transmission at least B_j and fewer than B_{j+1} other packets wait.
//!
//! The nominal rate is the rate of the fastest regime. If the scenario sets another rate, all
//! regimes are scaled in proportion, in integer bit/s.

use crate::context::{LinkContext, check_errors};
use crate::link::Link;
use crate::links::framing::FramingConfig;
use crate::links::scale::Scale;
use crate::links::serial::{SerialLink, Transmission, Transmitter};
use crate::retransmission::arq::ArqConfig;
use crate::retransmission::check_retransmission;
use crate::retransmission::harq::HarqConfig;
use crate::retransmission::stage::RetransmissionStage;
use airpath_core::{Bytes, Checks, Component, ConfigError, Rate, Setup, Time, above, at_least};
use serde::Deserialize;
use serde_json::Value;

/// Configuration of one regime.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegimeConfig {
    /// Rate r_j, bit/s. Above 0.
    pub rate_bps: u64,
    /// Packet error rate PER_j, in [0, 1].
    pub per: f64,
}

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiRegimeConfig {
    /// Thresholds B_j, waiting packets, in ascending order. The index of the regime is the number
    /// of thresholds that the queue length has reached.
    pub thresholds: Vec<u64>,
    /// Regimes; one regime more than there are thresholds.
    pub regimes: Vec<RegimeConfig>,
    /// Framing: determines the size of a packet on the air. A number in the configuration sets only
    /// the overhead, bytes.
    #[serde(default)]
    pub framing: FramingConfig,
    /// Error process in addition to the error rate of the regime: `{"kind": …}`. `None`: no error
    /// process.
    #[serde(default)]
    pub errors: Option<Value>,
    /// HARQ parameters. `None`: no HARQ.
    #[serde(default)]
    pub harq: Option<HarqConfig>,
    /// ARQ parameters, for packets that HARQ discards or that are corrupted without HARQ. `None`:
    /// no ARQ.
    #[serde(default)]
    pub arq: Option<ArqConfig>,
    /// True if the link delivers packets in the order of their first transmissions.
    #[serde(default)]
    pub in_order: bool,
}

/// Transmitter that selects the regime by the queue length.
#[derive(Clone, Debug)]
pub struct MultiRegime {
    thresholds: Vec<u64>,
    /// Regimes, scaled to the current nominal rate.
    regimes: Vec<RegimeConfig>,
    /// Configured regimes.
    given: Vec<RegimeConfig>,
    scale: Scale,
}

impl MultiRegime {
    /// Creates a transmitter. `regimes` must have one entry more than `thresholds`, and all rates
    /// must be above 0.
    fn new(thresholds: Vec<u64>, regimes: Vec<RegimeConfig>) -> MultiRegime {
        let fastest = regimes.iter().map(|regime| regime.rate_bps).max().unwrap_or(0);
        let scale = Scale::new(Rate(fastest));
        MultiRegime { thresholds, given: regimes.clone(), regimes, scale }
    }

    /// Returns the index of the regime, from 0, of a transmission that starts while `waiting` other
    /// packets wait.
    #[inline]
    pub fn regime_at(&self, waiting: u64) -> usize {
        self.thresholds.iter().take_while(|threshold| waiting >= **threshold).count()
    }
}

impl Transmitter for MultiRegime {
    #[inline]
    fn begin(&mut self, frame: Bytes, waiting: usize, now: Time) -> Transmission {
        let regime = self.regime_at(waiting as u64);
        let RegimeConfig { rate_bps, per } = self.regimes[regime];
        let ends = now + frame / Rate(rate_bps);
        Transmission { ends, bytes: frame, loss: per, regime, mcs: None }
    }

    fn nominal_rate(&self) -> Rate {
        self.scale.nominal()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.scale.set_nominal(rate);
        for (regime, given) in self.regimes.iter_mut().zip(&self.given) {
            regime.rate_bps = self.scale.of(Rate(given.rate_bps)).0;
        }
    }

    fn regimes(&self) -> usize {
        self.regimes.len()
    }
}

impl Component<dyn Link + Send, LinkContext> for SerialLink<MultiRegime> {
    type Config = MultiRegimeConfig;

    fn check(config: &MultiRegimeConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let (thresholds, regimes) = (&config.thresholds, &config.regimes);
        for (place, threshold) in thresholds.iter().enumerate() {
            let (field, before) = (format!("thresholds.{place}"), place.checked_sub(1));
            if checks.within(&field, *threshold, at_least(1_u64))
                && let Some(before) = before
            {
                let problem = "not above the threshold before it";
                checks.related(&field, *threshold, above(thresholds[before]), problem);
            }
        }
        if regimes.len() != thresholds.len() + 1 {
            let given = format!("{} regimes for {} thresholds", regimes.len(), thresholds.len());
            let advice = "Set one regime more than there are thresholds";
            checks.reject("regimes", format!("{} entries", regimes.len()), &given, advice);
        }
        for (number, regime) in regimes.iter().enumerate() {
            let mut found = Checks::default();
            found.within("rate_bps", regime.rate_bps, at_least(1_u64));
            found.within("per", regime.per, 0.0..=1.0);
            checks.nested(&format!("regimes.{number}"), found.finish());
        }
        config.framing.check(&mut checks);
        check_errors("errors", config.errors.as_ref(), &mut checks);
        check_retransmission(config.harq.as_ref(), config.arq, &mut checks);
        checks.finish()
    }

    fn build(
        config: MultiRegimeConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let MultiRegimeConfig { thresholds, regimes, framing, errors, harq, arq, in_order } =
            config;
        let framing = framing.framing()?;
        let errors = setup.extra.errors(errors.as_ref(), &setup.seed)?;
        let transmitter = MultiRegime::new(thresholds, regimes);
        let files = &setup.extra.files;
        let retransmission =
            RetransmissionStage::new(harq.as_ref(), arq, in_order, files, &setup.seed)?;
        let link = SerialLink::new(transmitter, framing, errors, setup.extra, &setup.seed)?;
        Ok(link.with_retransmission(retransmission))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regime_changes_when_threshold_is_reached() {
        let regime = RegimeConfig { rate_bps: 1_000_000, per: 0.0 };
        let link = MultiRegime::new(vec![2, 5], vec![regime; 3]);
        let regimes: Vec<usize> = (0..7).map(|waiting| link.regime_at(waiting)).collect();
        assert_eq!(regimes, [0, 0, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn regimes_scale_in_proportion_to_fastest() {
        let rates = [16_000_000, 24_000_000, 3];
        let regimes = rates.map(|rate_bps| RegimeConfig { rate_bps, per: 0.5 });
        let mut link = MultiRegime::new(vec![2, 5], regimes.to_vec());
        assert_eq!(link.nominal_rate(), Rate(24_000_000));
        let mut rates_at = |nominal| {
            link.set_rate(Rate(nominal));
            assert_eq!(link.nominal_rate(), Rate(nominal));
            link.regimes.iter().map(|regime| (regime.rate_bps, regime.per)).collect::<Vec<_>>()
        };
        // 3 bit/s are scaled to ⅜ bit/s and rounded up to 1 bit/s: if the nominal rate is positive,
        // the rate of every regime is positive.
        assert_eq!(rates_at(3_000_000), [(2_000_000, 0.5), (3_000_000, 0.5), (1, 0.5)]);
        assert_eq!(rates_at(0), [(0, 0.5); 3]);
        assert_eq!(rates_at(24_000_000), rates.map(|rate_bps| (rate_bps, 0.5)));
    }

    #[test]
    fn packet_time_follows_scaled_rate() {
        let regimes = [1_000_000, 2_000_000].map(|rate_bps| RegimeConfig { rate_bps, per: 0.0 });
        let mut link = MultiRegime::new(vec![1], regimes.to_vec());
        let mut ends = |nominal, waiting| {
            link.set_rate(Rate(nominal));
            link.begin(Bytes(1250), waiting, Time::ZERO).ends
        };
        assert_eq!([ends(2_000_000, 0), ends(2_000_000, 1)], [10, 5].map(Time::from_millis));
        assert_eq!([ends(500_000, 0), ends(500_000, 1)], [40, 20].map(Time::from_millis));
        assert!(ends(0, 0).is_never());
    }
}
