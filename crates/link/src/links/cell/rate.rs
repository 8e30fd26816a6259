//! Rate of a slot, and failure of its block.
//!
//! | file | source of the rate |
//! | --- | --- |
//! | `shannon.rs` | channel capacity (clamp-2008 Eq. 18) |
//! | `mcs.rs` | modulation and coding schemes of an error-rate table |

mod mcs;
mod shannon;

pub(super) use shannon::Shannon;

use super::harq::Harq;
use super::whole_bits;
use crate::files::Files;
use airpath_core::{Checks, ConfigError, Duration, Rate, Seed, above, at_least};
use mcs::Mcs;
use serde::Deserialize;

/// Largest bandwidth, Hz.
const MAX_BANDWIDTH_HZ: f64 = 1e12;

/// Configuration of the rate model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateConfig {
    /// Channel capacity at the SNR at the start of the slot.
    Shannon {
        /// Bandwidth W, Hz. Above 0, at most 10¹².
        bandwidth_hz: f64,
        /// Largest rate C, bit/s. Above 0. `None`: no limit.
        #[serde(default)]
        cap_bps: Option<u64>,
        /// Base of the logarithm.
        #[serde(default)]
        log: Logarithm,
    },
    /// Rate of the MCS with the largest expected goodput at the SNR at the start of the slot.
    Mcs {
        /// Key of the error-rate table.
        table: String,
        /// Bandwidth W, Hz, with one symbol per second and Hz. Above 0, at most 10¹². `None`: the
        /// rates are those of the table.
        #[serde(default)]
        bandwidth_hz: Option<f64>,
    },
}

/// Base of the logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Logarithm {
    /// Base 2: the capacity is in bits.
    #[default]
    Binary,
    /// Base e: the capacity in nats is used as a number of bits.
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

/// Rate, bits and MCS of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Coded {
    /// Selected rate, bit/s.
    pub(super) rate: f64,
    /// Number of bits of a slot at this rate.
    pub(super) bits: u64,
    /// Index of the MCS in the table. `variate` is a uniform variate: the block fails if its error
    /// rate exceeds the variate. Both fields are 0 without a table.
    mcs: usize,
    variate: f64,
}

/// Rate model of slots at the current nominal rate.
pub(super) enum SlotRate {
    Shannon(Shannon),
    Mcs(Box<Mcs>),
}

impl SlotRate {
    /// Creates the rate model for slots of length `slot`, with random numbers from `seed`.
    ///
    /// # Errors
    /// If the table is missing in `files`.
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

    /// Nominal rate of the cell.
    pub(super) fn nominal(&self) -> Rate {
        match self {
            SlotRate::Shannon(shannon) => shannon.nominal(),
            SlotRate::Mcs(mcs) => mcs.nominal(),
        }
    }

    /// Returns true if the nominal rate is zero.
    #[inline]
    pub(super) fn is_zero(&self) -> bool {
        self.nominal() == Rate(0)
    }

    /// Sets the nominal rate. All rates are scaled in proportion.
    pub(super) fn set_nominal(&mut self, rate: Rate) {
        match self {
            SlotRate::Shannon(shannon) => shannon.set_nominal(rate),
            SlotRate::Mcs(mcs) => mcs.set_nominal(rate),
        }
    }

    /// Returns the rate, bit/s, of a slot that starts with the SNR `snr` (power ratio), for the
    /// margin m.
    #[inline]
    pub(super) fn select(&self, snr: f64, margin: f64) -> f64 {
        match self {
            SlotRate::Shannon(shannon) => shannon.select(snr, margin),
            SlotRate::Mcs(mcs) => mcs.select(snr, margin).map_or(0.0, |(_, rate)| rate),
        }
    }

    /// Returns a block for slot number `slot` of length `length`, at the rate selected for `snr`
    /// and `margin`.
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

    /// Returns the capacity of a slot at the SNR `snr`, in bit/s, or in bits per symbol with a
    /// table. Incremental redundancy adds this capacity over the slots of a block.
    #[inline]
    pub(super) fn capacity(&self, snr: f64) -> f64 {
        match self {
            SlotRate::Shannon(shannon) => shannon.capacity(snr),
            SlotRate::Mcs(_) => libm::log2(1.0 + snr),
        }
    }

    /// Returns true if `block` fails. `combined` is the combined value of its attempts
    /// (`HarqBlock::combined`).
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

    /// Index of the MCS of `block` in the table; `None` without a table.
    pub(super) fn mcs(&self, block: &Coded) -> Option<usize> {
        matches!(self, SlotRate::Mcs(_)).then_some(block.mcs)
    }
}
