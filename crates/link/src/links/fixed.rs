//! Link with a constant rate and Bernoulli loss.
//!
//! Every packet is lost independently with the same probability, at the end of its transmission.
//! The link has no propagation delay; the path adds the delay after the link.

use crate::context::{LinkContext, check_errors};
use crate::link::Link;
use crate::links::framing::FramingConfig;
use crate::links::serial::{SerialLink, Transmission, Transmitter};
use crate::retransmission::arq::ArqConfig;
use crate::retransmission::check_retransmission;
use crate::retransmission::harq::HarqConfig;
use crate::retransmission::stage::RetransmissionStage;
use airpath_core::{Bytes, Checks, Component, ConfigError, Duration, Rate, Setup, Time, at_least};
use serde::Deserialize;
use serde_json::Value;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedConfig {
    /// Rate, bit/s. Above 0.
    pub rate_bps: u64,
    /// Probability that a packet is lost, in [0, 1].
    #[serde(default)]
    pub loss: f64,
    /// Framing: determines the size of a packet on the air. A number in the configuration sets only
    /// the overhead, bytes.
    #[serde(default)]
    pub framing: FramingConfig,
    /// Error process in addition to `loss`: `{"kind": …}`. `None`: no error process.
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

/// Transmitter with a constant rate.
#[derive(Clone, Debug)]
pub struct Fixed {
    rate: Rate,
    loss: f64,
    /// Size and transmission time of the last frame. The next frame often has the same size, and
    /// then needs no new computation.
    last: (Bytes, Duration),
}

impl Fixed {
    fn new(rate: Rate, loss: f64) -> Fixed {
        Fixed { rate, loss, last: (Bytes::ZERO, Bytes::ZERO / rate) }
    }
}

impl Transmitter for Fixed {
    const HAS_LOSS: bool = true;

    #[inline]
    fn begin(&mut self, frame: Bytes, _waiting: usize, now: Time) -> Transmission {
        if self.last.0 != frame {
            self.last = (frame, frame / self.rate);
        }
        let ends = now + self.last.1;
        Transmission { ends, bytes: frame, loss: self.loss, regime: 0, mcs: None }
    }

    fn nominal_rate(&self) -> Rate {
        self.rate
    }

    fn set_loss(&mut self, loss: f64) {
        self.loss = loss;
    }

    fn set_rate(&mut self, rate: Rate) {
        *self = Fixed::new(rate, self.loss);
    }
}

impl Component<dyn Link + Send, LinkContext> for SerialLink<Fixed> {
    type Config = FixedConfig;

    fn check(config: &FixedConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("rate_bps", config.rate_bps, at_least(1_u64));
        checks.within("loss", config.loss, 0.0..=1.0);
        config.framing.check(&mut checks);
        check_errors("errors", config.errors.as_ref(), &mut checks);
        check_retransmission(config.harq.as_ref(), config.arq, &mut checks);
        checks.finish()
    }

    fn build(
        config: FixedConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let framing = config.framing.framing()?;
        let errors = setup.extra.errors(config.errors.as_ref(), &setup.seed)?;
        let fixed = Fixed::new(Rate(config.rate_bps), config.loss);
        let (harq, files) = (config.harq.as_ref(), &setup.extra.files);
        let retransmission =
            RetransmissionStage::new(harq, config.arq, config.in_order, files, &setup.seed)?;
        let link = SerialLink::new(fixed, framing, errors, setup.extra, &setup.seed)?;
        Ok(link.with_retransmission(retransmission))
    }
}
