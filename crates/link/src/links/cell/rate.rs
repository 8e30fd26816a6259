//! The rate that a slot is given, and whether the channel has carried it.
//!
//! | file | by what |
//! | --- | --- |
//! | `shannon.rs` | the capacity (clamp-2008 Eq. 18) |
//! | `mcs.rs` | the schemes of an error-rate table |

mod mcs;
mod shannon;

pub(super) use shannon::Shannon;

use super::harq::Harq;
use super::whole_bits;
use crate::files::Files;
use airpath_core::{Checks, ConfigError, Duration, Rate, Seed, above, at_least};
use mcs::Mcs;
use serde::Deserialize;

/// Widest band, Hz.
const MAX_BANDWIDTH_HZ: f64 = 1e12;

/// Configuration of the rate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateConfig {
    /// The capacity at the SNR of the slot's start.
    Shannon {
        /// W, Hz. Above 0, at most 10¹².
        bandwidth_hz: f64,
        /// C, the largest rate, bit/s. Above 0; absent: none.
        #[serde(default)]
        cap_bps: Option<u64>,
        /// Base of the logarithm.
        #[serde(default)]
        log: Logarithm,
    },
    /// That of the scheme with the largest expected goodput at the SNR of the slot's start.
    Mcs {
        /// Key of the error-rate table.
        table: String,
        /// W, Hz: a symbol a second and Hz. Above 0, at most 10¹²; absent: the rates of the table.
        #[serde(default)]
        bandwidth_hz: Option<f64>,
    },
}

/// Base of the logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Logarithm {
    /// 2: W counts bits.
    #[default]
    Binary,
    /// e: W counts nats, of which a bit is made all the same.
    Natural,
}

impl RateConfig {
    /// Rejects values outside their ranges.
    pub(super) fn check(&self, checks: &mut Checks) {
        let (bandwidth_hz, cap_bps) = match *self {
            RateConfig::Shannon { bandwidth_hz, cap_bps, .. } => (Some(bandwidth_hz), cap_bps),
            RateConfig::Mcs { bandwidth_hz, .. } => (bandwidth_hz, None),
        };
        if let Some(bandwidth_hz) = bandwidth_hz {
            let range = above(0.0).up_to(MAX_BANDWIDTH_HZ);
            checks.within("rate.bandwidth_hz", bandwidth_hz, range);
        }
        if let Some(cap_bps) = cap_bps {
            checks.within("rate.cap_bps", cap_bps, at_least(1_u64));
        }
    }
}

/// How a block is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Coded {
    /// The rate that was selected, bit/s, and the bits that make of it.
    pub(super) rate: f64,
    pub(super) bits: u64,
    /// The number of its scheme in the table, and how unlucky it is: from the most likely to fail,
    /// 0, to 1. Both 0 without a table.
    mcs: usize,
    variate: f64,
}

/// The rate of slots at the present nominal rate.
pub(super) enum SlotRate {
    Shannon(Shannon),
    Mcs(Box<Mcs>),
}

impl SlotRate {
    /// The rate of slots of the length `slot`, with randomness of `seed`.
    ///
    /// # Errors
    /// When the table is not among `files`.
    pub(super) fn new(
        config: &RateConfig,
        slot: Duration,
        files: &Files,
        seed: &Seed,
    ) -> Result<SlotRate, ConfigError> {
        Ok(match config {
            RateConfig::Shannon { bandwidth_hz, cap_bps, log } => {
                SlotRate::Shannon(Shannon::new(*bandwidth_hz, *cap_bps, *log))
            }
            RateConfig::Mcs { table, bandwidth_hz } => {
                let key = seed.stream().next_u64();
                let mcs = Mcs::new(files.table(table)?, *bandwidth_hz, slot, key);
                SlotRate::Mcs(Box::new(mcs))
            }
        })
    }

    /// The rate that the cell is said to have.
    pub(super) fn nominal(&self) -> Rate {
        match self {
            SlotRate::Shannon(shannon) => shannon.nominal(),
            SlotRate::Mcs(mcs) => mcs.nominal(),
        }
    }

    /// Whether no slot has a rate.
    #[inline]
    pub(super) fn is_zero(&self) -> bool {
        self.nominal() == Rate(0)
    }

    /// The nominal rate is `rate` from now on: all rates keep their proportion to it.
    pub(super) fn set_nominal(&mut self, rate: Rate) {
        match self {
            SlotRate::Shannon(shannon) => shannon.set_nominal(rate),
            SlotRate::Mcs(mcs) => mcs.set_nominal(rate),
        }
    }

    /// The rate of a slot, bit/s, that begins with the SNR `snr`, a power ratio, at the margin m.
    #[inline]
    pub(super) fn select(&self, snr: f64, margin: f64) -> f64 {
        match self {
            SlotRate::Shannon(shannon) => shannon.select(snr, margin),
            SlotRate::Mcs(mcs) => mcs.select(snr, margin).map_or(0.0, |(_, rate)| rate),
        }
    }

    /// A block for slot number `slot`, of the length `length`, whose rate was selected at `snr` and
    /// `margin`.
    pub(super) fn block(&self, slot: u64, length: Duration, snr: f64, margin: f64) -> Coded {
        let (mcs, rate, variate) = match self {
            SlotRate::Shannon(shannon) => (0, shannon.select(snr, margin), 0.0),
            SlotRate::Mcs(of_table) => {
                let (mcs, rate) = of_table.select(snr, margin).unwrap_or_default();
                (mcs, rate, of_table.variate(slot))
            }
        };
        Coded { rate, bits: whole_bits(rate, length), mcs, variate }
    }

    /// Term that incremental redundancy sums over the slots of a block, at the SNR `snr` of one:
    /// the capacity, bit/s; with a table that of a symbol, bits.
    #[inline]
    pub(super) fn capacity(&self, snr: f64) -> f64 {
        match self {
            SlotRate::Shannon(shannon) => shannon.capacity(snr),
            SlotRate::Mcs(_) => libm::log2(1.0 + snr),
        }
    }

    /// Whether `block` fails, whose attempts combine to `combined` with `harq`.
    #[inline]
    pub(super) fn fails(&self, block: &Coded, harq: Harq, combined: f64) -> bool {
        match (self, harq) {
            (SlotRate::Shannon(shannon), Harq::Off | Harq::Chase) => {
                block.rate > shannon.capacity(combined)
            }
            (SlotRate::Shannon(_), Harq::Incremental) => block.rate > combined,
            (SlotRate::Mcs(of_table), Harq::Off | Harq::Chase) => {
                block.variate < of_table.error_rate(block.mcs, block.bits, combined)
            }
            (SlotRate::Mcs(of_table), Harq::Incremental) => {
                let snr = libm::exp2(combined) - 1.0;
                block.variate < of_table.error_rate(block.mcs, block.bits, snr)
            }
        }
    }

    /// The number of the scheme of `block` in the table, if there is one.
    pub(super) fn mcs(&self, block: &Coded) -> Option<usize> {
        matches!(self, SlotRate::Mcs(_)).then_some(block.mcs)
    }
}
