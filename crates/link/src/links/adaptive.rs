//! Link with link adaptation and an error-rate table. A policy selects the modulation and coding
//! scheme (MCS) of each packet from an estimate of the SNR and from the queue length.
//!
//! Source: qawla-2015 §2, §4 and §6. With MCS m a packet of L bytes fills ⌈L/k_m⌉ FEC blocks. k_m
//! is the number of bytes in a block, c_m the rate of the MCS, and fer_m the error rate of a block:
//!
//! ```text
//! time 8 ⌈L/k_m⌉ k_m / c_m      loss 1 - (1 - fer_m)^⌈L/k_m⌉ at the true SNR  (eq. 23)
//! estimate = SNR + bias + noise, with new normal noise in each estimate interval
//! ```
//!
//! The loss of a packet is computed from the true SNR at the start of its transmission. An estimate
//! is based on the SNR at the start of its interval and is used until the end of the interval.
//!
//! The policy defines regimes of the queue length, as on a multi-regime link. The nominal rate is
//! the rate c_m of the fastest MCS in the table. If the scenario sets another rate, all MCS rates
//! are scaled in proportion.
//!
//! The noise of an interval depends only on the interval number, not on earlier transmissions. Runs
//! with different policies therefore have the same estimates.

mod settings;

pub use settings::AdaptiveConfig;

use crate::context::{LinkContext, check_errors};
use crate::files::Files;
use crate::link::Link;
use crate::links::framing::FramingConfig;
use crate::links::scale::Scale;
use crate::links::serial::{SerialLink, Transmission, Transmitter};
use crate::retransmission::check_retransmission;
use crate::retransmission::stage::RetransmissionStage;
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Duration, Framing, Rate, Seed, Setup, StageError,
    Stream, Time, at_least, registry,
};
use airpath_phy::adaptation::{AnyPolicy, Chooser, PolicyRegistry};
use airpath_phy::mcs::packet_error_rate;
use airpath_phy::per_table::{PerCurve, PerTable};
use airpath_phy::snr::{AnySnr, ConstantConfig, Sample, SnrProcess};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// Name of the counter of packets that were sent at an SNR outside the range of the table.
const OUTSIDE_TABLE: &str = "outside_table_packets";

/// Largest absolute bias and largest standard deviation of an SNR estimate, dB.
const LARGEST_LEVEL_DB: f64 = 200.0;

/// Bytes of the largest IP packet.
const LARGEST_PACKET: u64 = 65_535;

/// Rate and loss of packets of one size in a regime.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptedRegime {
    /// Name of the MCS of the regime.
    pub mcs: String,
    /// Rate of packets without padding and framing, bit/s.
    pub rate_bps: f64,
    /// Packet error rate at the true SNR.
    pub per: f64,
}

/// Regimes of an adaptive link for packets of one size. The choices of the policy must not change
/// over time.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptedRegimes {
    /// Thresholds in waiting packets. Threshold j is the lowest queue length of regime j + 1.
    pub thresholds: Vec<u64>,
    /// Regimes; one regime more than there are thresholds.
    pub regimes: Vec<AdaptedRegime>,
    /// True if both the true and the estimated SNR are in the range of the table.
    pub is_covered: bool,
}

impl AdaptiveConfig {
    /// Returns the regimes for packets of `packet` bytes. The choices of the policy must be
    /// constant.
    ///
    /// # Errors
    /// If a value or the table is invalid, if the SNR varies, or if the policy uses an estimate
    /// with noise.
    pub fn regimes(
        &self,
        files: &Files,
        policies: &PolicyRegistry,
        packet: Bytes,
    ) -> Result<AdaptedRegimes, ConfigError> {
        let (table, mut chooser) = self.chooser(files, policies, &Seed::new(0, 0, ""))?;
        if self.snr_noise_db > 0.0 && chooser.uses_estimate() {
            let problem = "the estimate of the SNR varies. Use 0 for constant regimes";
            return Err(ConfigError::new("snr_noise_db", self.snr_noise_db, problem));
        }
        let snr_db = self.constant_snr_db()?;
        let estimate_db = snr_db + self.snr_bias_db;
        let mut chosen = vec![0; chooser.regimes()];
        chooser.choose(estimate_db, &mut chosen).map_err(|error| {
            let kind = self.policy["kind"].as_str().unwrap_or_default();
            ConfigError::new("policy.kind", kind, error.to_string())
        })?;
        let regime = |number: usize| self.on_curve(&table.curves[number], snr_db, packet);
        Ok(AdaptedRegimes {
            thresholds: chooser.thresholds().to_vec(),
            regimes: chosen.into_iter().map(regime).collect(),
            is_covered: table.covers(snr_db)
                && (table.covers(estimate_db) || !chooser.uses_estimate()),
        })
    }

    /// Returns the configuration of the SNR process.
    fn snr_process(&self) -> Value {
        if self.snr.is_number() {
            json!({"kind": "constant", "mean_db": self.snr})
        } else {
            self.snr.clone()
        }
    }

    /// Returns the constant true SNR of the link, dB.
    ///
    /// # Errors
    /// If a value is invalid, or if the SNR varies (field `snr.kind`).
    pub fn constant_snr_db(&self) -> Result<f64, ConfigError> {
        let description = self.snr_process();
        let (kind, parameters) = registry::split_kind(&description)?;
        if kind != "constant" {
            let problem = "the SNR varies. Use an SNR of kind constant for constant regimes";
            return Err(ConfigError::new("snr.kind", kind, problem));
        }
        let ConstantConfig { mean_db } = registry::read_config(&parameters)?;
        Ok(mean_db)
    }

    /// Returns the rate and the loss probability of packets of `packet` bytes that are sent with
    /// the MCS of `curve` at the true SNR `snr_db`.
    fn on_curve(&self, curve: &PerCurve, snr_db: f64, packet: Bytes) -> AdaptedRegime {
        let mcs = &curve.mcs;
        let frame = packet + Bytes(self.framing.overhead_bytes);
        let sent = frame.0.div_ceil(mcs.block_bytes) * mcs.block_bytes;
        AdaptedRegime {
            mcs: mcs.name.clone(),
            rate_bps: mcs.rate_bps * packet.0 as f64 / sent as f64,
            per: curve.per(snr_db, frame),
        }
    }

    /// Returns, for each MCS of the table, the rate and the loss probability of packets of `packet`
    /// bytes.
    ///
    /// # Errors
    /// If a value or the table is invalid.
    pub fn schemes(&self, files: &Files, packet: Bytes) -> Result<Vec<AdaptedRegime>, ConfigError> {
        let table = self.checked_table(files)?;
        let snr_db = self.constant_snr_db()?;
        Ok(table.curves.iter().map(|curve| self.on_curve(curve, snr_db, packet)).collect())
    }

    fn chooser(
        &self,
        files: &Files,
        policies: &PolicyRegistry,
        seed: &Seed,
    ) -> Result<(Arc<PerTable>, Chooser), ConfigError> {
        let table = self.checked_table(files)?;
        let reference = Bytes(self.packet_bytes) + Bytes(self.framing.overhead_bytes);
        let setup = (seed.child("policy"), policies);
        let chooser = Chooser::new(&self.policy, Arc::clone(&table), reference, setup)
            .map_err(|error| error.under("policy"))?;
        Ok((table, chooser))
    }

    /// Rejects values outside their ranges. The policy and the SNR process are not checked here.
    fn check_values(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("snr_bias_db", self.snr_bias_db, -LARGEST_LEVEL_DB..=LARGEST_LEVEL_DB);
        checks.within("snr_noise_db", self.snr_noise_db, 0.0..=LARGEST_LEVEL_DB);
        checks.within("estimate_interval_ns", self.estimate_interval_ns, at_least(1_u64));
        checks.within("packet_bytes", self.packet_bytes, 1..=LARGEST_PACKET);
        self.framing.check(&mut checks);
        let FramingConfig { block_bytes, code_rate, .. } = self.framing;
        for (field, is_given, value) in [
            ("framing.block_bytes", block_bytes != 1, block_bytes as f64),
            ("framing.code_rate", code_rate < 1.0, code_rate),
        ] {
            if is_given {
                checks.reject(
                    field,
                    value,
                    "the table contains this value for each MCS",
                    "Remove it",
                );
            }
        }
        checks.finish()
    }

    /// Checks all values except the policy, and returns the table.
    fn checked_table(&self, files: &Files) -> Result<Arc<PerTable>, ConfigError> {
        self.check_values()?;
        files.table(&self.table)
    }
}

/// An MCS with its error rate at one SNR.
#[derive(Clone, Debug)]
struct Scheme {
    name: String,
    block_bytes: u64,
    /// SNR for which `fer` and `loss` were computed, dB.
    snr_db: f64,
    fer: f64,
    /// Rate c_m from the table.
    given: Rate,
    /// This rate, scaled to the current nominal rate.
    rate: Rate,
    /// Frame size for which `time`, `bytes` and `loss` were computed.
    frame: Bytes,
    time: Duration,
    bytes: Bytes,
    loss: f64,
    /// Number of transmissions since the start of measurement.
    packets: u64,
}

impl Scheme {
    fn new(curve: &PerCurve, snr_db: f64) -> Scheme {
        let rate = Rate((curve.mcs.rate_bps.round() as u64).max(1));
        let mut scheme = Scheme {
            name: curve.mcs.name.clone(),
            block_bytes: curve.mcs.block_bytes,
            snr_db,
            fer: curve.fer(snr_db),
            given: rate,
            rate,
            frame: Bytes::ZERO,
            time: Duration::ZERO,
            bytes: Bytes::ZERO,
            loss: 0.0,
            packets: 0,
        };
        scheme.prepare(Bytes(settings::packet_bytes()));
        scheme
    }

    /// Computes `time`, `bytes` and `loss` for frames of `frame` bytes.
    #[cold]
    fn prepare(&mut self, frame: Bytes) {
        let blocks = frame.0.div_ceil(self.block_bytes);
        self.frame = frame;
        self.bytes = Bytes(blocks * self.block_bytes);
        self.time = self.bytes / self.rate;
        self.loss = packet_error_rate(self.fer, blocks);
    }

    /// Sets the SNR, dB, and computes the error rate.
    #[cold]
    fn set_snr(&mut self, snr_db: f64, curve: &PerCurve) {
        self.snr_db = snr_db;
        self.fer = curve.fer(snr_db);
        self.loss = packet_error_rate(self.fer, self.frame.0.div_ceil(self.block_bytes));
    }

    #[inline]
    fn meet(&mut self, frame: Bytes) -> (Duration, Bytes, f64) {
        if frame != self.frame {
            self.prepare(frame);
        }
        (self.time, self.bytes, self.loss)
    }
}

/// State of a link whose SNR or SNR estimate varies.
struct Radio {
    process: AnySnr,
    /// Time until which the latest sample of the true SNR is valid.
    holds_until: Time,
    /// True if the policy uses an estimate.
    is_estimated: bool,
    bias_db: f64,
    noise: Option<Noise>,
    interval_ns: u64,
    /// End of the current estimate interval.
    estimate_ends_ns: u64,
}

/// Noise of the SNR estimates.
#[derive(Clone, Copy, Debug)]
struct Noise {
    deviation_db: f64,
    /// Key from which the random stream of each interval is derived.
    key: u64,
}

impl Radio {
    /// Returns the estimate for the interval that contains `now`, based on the SNR at the start of
    /// this interval.
    fn estimate_at(&mut self, now: Time) -> f64 {
        let number = now.as_nanos() / self.interval_ns;
        self.estimate_ends_ns = (number + 1).saturating_mul(self.interval_ns);
        let starts = Time::from_nanos(number * self.interval_ns);
        let mean_db = self.process.sample(starts).snr_db + self.bias_db;
        match self.noise {
            Some(Noise { deviation_db, key }) => {
                mean_db + deviation_db * Stream::new(key, number, "estimate").normal()
            }
            None => mean_db,
        }
    }
}

/// Transmitter with the MCS selected by a policy.
pub struct Adaptive {
    schemes: Vec<Scheme>,
    thresholds: Vec<u64>,
    /// MCS of each regime at the current estimate.
    chosen: Vec<usize>,
    scale: Scale,
    /// Current true SNR, dB.
    snr_db: f64,
    /// `None` if neither the SNR nor the estimate varies.
    radio: Option<Box<Radio>>,
    chooser: Chooser,
    /// Error of the policy that the link has not yet reported.
    failure: Option<StageError>,
    table: Arc<PerTable>,
    /// True if the current true SNR is in the range of the table. `is_estimate_covered` is the same
    /// for the current estimate.
    is_true_covered: bool,
    is_estimate_covered: bool,
    outside_packets: u64,
}

impl Adaptive {
    fn new(
        config: &AdaptiveConfig,
        context: &LinkContext,
        seed: &Seed,
    ) -> Result<Adaptive, ConfigError> {
        let (table, mut chooser) =
            config.chooser(&context.files, &context.registries.get(), seed)?;
        let mut process = context.snr(&config.snr_process(), seed)?;
        let snr_db = process.sample(Time::ZERO).snr_db;
        let mean_db = snr_db + config.snr_bias_db;
        let mut chosen = vec![0; chooser.regimes()];
        let failure = chooser.choose(mean_db, &mut chosen).err();
        let schemes: Vec<Scheme> =
            table.curves.iter().map(|curve| Scheme::new(curve, snr_db)).collect();
        let fastest = schemes.iter().map(|scheme| scheme.rate).max().unwrap_or(Rate(0));
        let is_estimated = chooser.uses_estimate();
        let noise = (config.snr_noise_db > 0.0 && is_estimated).then(|| Noise {
            deviation_db: config.snr_noise_db,
            key: seed.child("estimate").stream().next_u64(),
        });
        let varies = process.constant_db().is_none() || noise.is_some();
        let radio = varies.then(|| {
            Box::new(Radio {
                process,
                holds_until: Time::ZERO,
                is_estimated,
                bias_db: config.snr_bias_db,
                noise,
                interval_ns: config.estimate_interval_ns,
                estimate_ends_ns: 0,
            })
        });
        Ok(Adaptive {
            schemes,
            thresholds: chooser.thresholds().to_vec(),
            chosen,
            scale: Scale::new(fastest),
            snr_db,
            radio,
            is_true_covered: table.covers(snr_db),
            is_estimate_covered: table.covers(mean_db) || !is_estimated,
            chooser,
            failure,
            table,
            outside_packets: 0,
        })
    }

    /// Updates the SNR, and calls the policy if the estimate has changed.
    #[inline]
    fn follow_radio(&mut self, now: Time) {
        let Some(radio) = &mut self.radio else { return };
        if radio.is_estimated && now.as_nanos() >= radio.estimate_ends_ns {
            let estimate_db = radio.estimate_at(now);
            self.failure = self.chooser.choose(estimate_db, &mut self.chosen).err();
            self.is_estimate_covered = self.table.covers(estimate_db);
        }
        if now >= radio.holds_until {
            let Sample { snr_db, until } = radio.process.sample(now);
            radio.holds_until = until;
            self.snr_db = snr_db;
            self.is_true_covered = self.table.covers(snr_db);
        }
    }
}

impl Transmitter for Adaptive {
    #[inline]
    fn begin(&mut self, frame: Bytes, waiting: usize, now: Time) -> Transmission {
        self.follow_radio(now);
        let waiting = waiting as u64;
        let regime = self.thresholds.iter().take_while(|threshold| waiting >= **threshold).count();
        let mcs = self.chosen[regime];
        let scheme = &mut self.schemes[mcs];
        if scheme.snr_db != self.snr_db {
            scheme.set_snr(self.snr_db, &self.table.curves[mcs]);
        }
        let (time, bytes, loss) = scheme.meet(frame);
        let ends = now + time;
        // A transmission at rate zero is started and counted later, when the rate is above zero.
        if !ends.is_never() {
            scheme.packets += 1;
            let is_covered = self.is_true_covered && self.is_estimate_covered;
            self.outside_packets += u64::from(!is_covered);
        }
        Transmission { ends, bytes, loss, regime, mcs: Some(mcs) }
    }

    #[inline]
    fn take_error(&mut self) -> Option<StageError> {
        self.failure.as_ref()?;
        self.failure.take()
    }

    fn nominal_rate(&self) -> Rate {
        self.scale.nominal()
    }

    fn set_rate(&mut self, rate: Rate) {
        self.scale.set_nominal(rate);
        for scheme in &mut self.schemes {
            scheme.rate = self.scale.of(scheme.given);
            scheme.prepare(scheme.frame);
        }
    }

    /// Returns the framing with the block size of the fastest MCS.
    fn framing(&self, given: Framing) -> Framing {
        let fastest = self.schemes.iter().max_by_key(|scheme| scheme.given);
        fastest.map_or(given, |scheme| given.in_blocks(Bytes(scheme.block_bytes)))
    }

    fn regimes(&self) -> usize {
        self.chosen.len()
    }

    fn restart_measurement(&mut self) {
        self.outside_packets = 0;
        for scheme in &mut self.schemes {
            scheme.packets = 0;
        }
    }

    fn counters(&self) -> Vec<(Cow<'static, str>, f64)> {
        let by_scheme = self
            .schemes
            .iter()
            .map(|scheme| (Cow::Owned(format!("{}_packets", scheme.name)), scheme.packets as f64));
        by_scheme.chain([(OUTSIDE_TABLE.into(), self.outside_packets as f64)]).collect()
    }
}

impl Component<dyn Link + Send, LinkContext> for SerialLink<Adaptive> {
    type Config = AdaptiveConfig;

    fn check(config: &AdaptiveConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("", config.check_values());
        checks.nested("snr", AnySnr::check(&config.snr_process()));
        checks.nested("policy", AnyPolicy::check(&config.policy));
        check_errors("errors", config.errors.as_ref(), &mut checks);
        check_retransmission(config.harq.as_ref(), config.arq, &mut checks);
        checks.finish()
    }

    fn build(
        config: AdaptiveConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let transmitter = Adaptive::new(&config, &setup.extra, &setup.seed)?;
        let errors = setup.extra.errors(config.errors.as_ref(), &setup.seed)?;
        let framing = config.framing.framing()?;
        let (harq, files) = (config.harq.as_ref(), &setup.extra.files);
        let retransmission =
            RetransmissionStage::new(harq, config.arq, config.in_order, files, &setup.seed)?;
        let link = SerialLink::new(transmitter, framing, errors, setup.extra, &setup.seed)?;
        Ok(link.with_retransmission(retransmission))
    }
}
