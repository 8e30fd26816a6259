//! What the user sets of a cell.

use super::harq::Harq;
use super::margin::MarginConfig;
use super::rate::RateConfig;
use airpath_core::ConfigError;
use serde::Deserialize;
use serde_json::Value;

/// Shortest slot: shorter ones are in no radio, and a second of them would take minutes.
const MIN_SLOT_NS: u64 = 1000;
/// Longest slot, ns.
const MAX_SLOT_NS: u64 = 3_600_000_000_000;

/// What the user sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellConfig {
    /// Length of a slot, ns. From a microsecond, at most an hour.
    pub slot_ns: u64,
    /// The rate that a slot is given: `{"kind": "shannon", …}` or `{"kind": "mcs", …}`.
    pub rate: RateConfig,
    /// The margin of the selected rate: a number below 1, or a table with a target.
    #[serde(default)]
    pub margin: MarginConfig,
    /// n: when so many slots in a row have failed for a user, what the last one would have completed
    /// is given up. At least 1.
    pub attempts: u32,
    /// What becomes of a block whose slot has failed.
    #[serde(default)]
    pub harq: Harq,
    /// Who is served: `{"kind": …}`.
    pub scheduler: Value,
    /// The SNR of every user, each with randomness of its own: `{"kind": …}`.
    pub snr: Value,
    /// Users that differ. Entries of users without flows have no effect.
    #[serde(default)]
    pub users: Vec<UserConfig>,
    /// What destroys blocks beside the fading: `{"kind": …}`; absent: nothing.
    #[serde(default)]
    pub errors: Option<Value>,
}

/// What differs for one user.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserConfig {
    /// Its number.
    pub user: u32,
    /// w, its weight in the scheduler's utility. Above 0; absent: 1.
    #[serde(default)]
    pub weight: Option<f64>,
    /// Its SNR; absent: as everyone's.
    #[serde(default)]
    pub snr: Option<Value>,
}

impl CellConfig {
    /// Accepts values in their ranges.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if !(MIN_SLOT_NS..=MAX_SLOT_NS).contains(&self.slot_ns) {
            let problem = format!("outside {MIN_SLOT_NS} … {MAX_SLOT_NS}");
            return Err(ConfigError::new("slot_ns", self.slot_ns, problem));
        }
        if self.attempts == 0 {
            return Err(ConfigError::new("attempts", 0, "less than 1"));
        }
        self.rate.validate().map_err(|error| error.under("rate"))?;
        self.margin.validate()?;
        for (place, entry) in self.users.iter().enumerate() {
            let under = |error: ConfigError| error.under(&format!("users.{place}"));
            let weight = entry.weight.unwrap_or(1.0);
            if !(weight > 0.0 && weight.is_finite()) {
                return Err(under(ConfigError::new("weight", weight, "not above 0")));
            }
            if self.users[..place].iter().any(|before| before.user == entry.user) {
                return Err(under(ConfigError::new("user", entry.user, "named before")));
            }
        }
        Ok(())
    }

    /// What differs for `user`, with the place of that entry.
    fn of(&self, user: u32) -> Option<(usize, &UserConfig)> {
        self.users.iter().enumerate().find(|(_, entry)| entry.user == user)
    }

    /// w of `user`.
    pub(super) fn weight(&self, user: u32) -> f64 {
        self.of(user).and_then(|(_, entry)| entry.weight).unwrap_or(1.0)
    }

    /// The SNR of `user`, and the place where errors about it belong.
    pub(super) fn snr(&self, user: u32) -> (&Value, String) {
        let own = self.of(user).and_then(|(place, entry)| Some((place, entry.snr.as_ref()?)));
        own.map_or((&self.snr, String::new()), |(place, snr)| (snr, format!("users.{place}")))
    }
}
