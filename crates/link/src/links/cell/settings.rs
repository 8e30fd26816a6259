//! Configuration of a cell.

use super::harq::Harq;
use super::margin::MarginConfig;
use super::rate::RateConfig;
use crate::context::{check_component, check_errors};
use crate::mac::scheduler::{AnyScheduler, Population, SchedulerRegistry};
use airpath_core::{Checks, ConfigError, Duration, Rate, Seed, Setup, above, at_least};
use airpath_phy::snr::AnySnr;
use serde::Deserialize;
use serde_json::Value;

/// Shortest slot, ns. Radio systems have no shorter slots, and with shorter slots the simulation of
/// one second would take minutes.
const MIN_SLOT_NS: u64 = 1000;
/// Longest slot, ns.
const MAX_SLOT_NS: u64 = 3_600_000_000_000;

/// Configuration set by the user.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellConfig {
    /// Slot length, ns. From a microsecond to an hour.
    pub slot_ns: u64,
    /// Rate of a slot: `{"kind": "shannon", …}` or `{"kind": "mcs", …}`.
    pub rate: RateConfig,
    /// SNR margin for the selection of the rate: a number below 1, or a table with a target loss.
    #[serde(default)]
    pub margin: MarginConfig,
    /// Number n of consecutive failed slots of a user. At the n-th failure the packets that the
    /// slot would have completed are discarded. At least 1.
    pub attempts: u32,
    /// Retransmission of a block whose slot has failed.
    #[serde(default)]
    pub harq: Harq,
    /// Scheduler: `{"kind": …}`.
    pub scheduler: Value,
    /// SNR process of the users: `{"kind": …}`. Every user has a separate process with its own
    /// random stream.
    pub snr: Value,
    /// Configuration of individual users. Entries of users without flows have no effect.
    #[serde(default)]
    pub users: Vec<UserConfig>,
    /// Error process of blocks in addition to the fading: `{"kind": …}`. `None`: no error process.
    #[serde(default)]
    pub errors: Option<Value>,
}

/// Configuration of one user.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserConfig {
    /// ID of the user.
    pub user: u32,
    /// Weight w in the scheduler's utility function. Above 0. `None`: 1.
    #[serde(default)]
    pub weight: Option<f64>,
    /// SNR process of the user. `None`: `snr` of the cell.
    #[serde(default)]
    pub snr: Option<Value>,
}

impl CellConfig {
    /// Rejects values outside their ranges.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let is_slot = checks.within("slot_ns", self.slot_ns, MIN_SLOT_NS..=MAX_SLOT_NS);
        checks.within("attempts", self.attempts, at_least(1_u64));
        self.rate.check(&mut checks);
        self.margin.check(&mut checks);
        for (place, entry) in self.users.iter().enumerate() {
            let mut found = Checks::default();
            if let Some(weight) = entry.weight {
                found.within("weight", weight, above(0.0));
            }
            if self.users[..place].iter().any(|before| before.user == entry.user) {
                let advice = "Use one entry for each user";
                found.reject("user", entry.user, "named before", advice);
            }
            if let Some(snr) = &entry.snr {
                found.nested("snr", AnySnr::check(snr));
            }
            checks.nested(&format!("users.{place}"), found.finish());
        }
        checks.nested("snr", AnySnr::check(&self.snr));
        check_errors("errors", self.errors.as_ref(), &mut checks);
        if is_slot {
            let slot = Duration::from_nanos(self.slot_ns);
            let registry = &SchedulerRegistry::default();
            let extra = Population::even(1, slot, Rate(1));
            let scheduler = Setup { seed: Seed::new(0, 0, ""), registry, extra };
            let built_in = AnyScheduler::BUILT_IN;
            check_component(&self.scheduler, built_in, "scheduler", &mut checks, || {
                AnyScheduler::build(&self.scheduler, scheduler)
            });
        }
        checks.finish()
    }

    /// Returns the index of the entry of `user` in the list, and the entry.
    fn of(&self, user: u32) -> Option<(usize, &UserConfig)> {
        self.users.iter().enumerate().find(|(_, entry)| entry.user == user)
    }

    /// Weight w of `user`.
    pub(super) fn weight(&self, user: u32) -> f64 {
        self.of(user).and_then(|(_, entry)| entry.weight).unwrap_or(1.0)
    }

    /// Returns the SNR process of `user`, and the name of its configuration field for error
    /// messages.
    pub(super) fn snr(&self, user: u32) -> (&Value, String) {
        let own = self.of(user).and_then(|(place, entry)| Some((place, entry.snr.as_ref()?)));
        own.map_or((&self.snr, String::new()), |(place, snr)| (snr, format!("users.{place}")))
    }
}
