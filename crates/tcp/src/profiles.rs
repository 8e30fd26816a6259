//! TCP profiles: named tables of TCP parameters.
//!
//! `make generate-docs` writes `generated/profiles.json` from `python/airpath/scenario/tcp/tcp_options.toml`,
//! which states the source of every value. A Python test checks that the two files agree.

use crate::config::TcpConfig;
use airpath_core::ConfigError;
use serde_json::Value;

const TABLES: &str = include_str!("../generated/profiles.json");

/// Returns the parameters of the profile `name` as JSON, in the format in which [`TcpConfig`] is
/// deserialized. Values in the table `changes` replace values of the profile.
///
/// ```
/// use serde_json::json;
/// let options = airpath_tcp::profile("rfc", json!({"receive_window": 1_000_000}))?;
/// assert_eq!((&options["mss"], &options["receive_window"]), (&json!(1460), &json!(1_000_000)));
/// # Ok::<(), airpath_core::ConfigError>(())
/// ```
///
/// # Errors
/// Returns an error if no profile has this name.
pub fn profile(name: &str, changes: Value) -> Result<Value, ConfigError> {
    let mut tables: Value = serde_json::from_str(TABLES).expect("make generate-docs writes JSON");
    let mut options = tables[name].take();
    let Value::Object(table) = &mut options else {
        return Err(ConfigError::new("profile", name, "not a profile"));
    };
    if let Value::Object(changes) = changes {
        table.extend(changes);
    }
    Ok(options)
}

/// Returns the names of all profiles.
pub fn profile_names() -> Vec<String> {
    let tables: Value = serde_json::from_str(TABLES).expect("make generate-docs writes JSON");
    tables.as_object().into_iter().flat_map(|tables| tables.keys().cloned()).collect()
}

impl TcpConfig {
    /// Returns the parameters of the profile `name`.
    ///
    /// # Errors
    /// Returns an error if no profile has this name.
    pub fn of_profile(name: &str) -> Result<TcpConfig, ConfigError> {
        let options = profile(name, Value::Null)?;
        Ok(serde_json::from_value(options).expect("a profile has every option"))
    }

    /// Returns the profile `rfc`, which follows RFC 5681, 6582, 6298 and 3042, with 1500-byte
    /// packets.
    pub fn rfc() -> TcpConfig {
        TcpConfig::of_profile("rfc").expect("there is a profile of that name")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_valid() {
        let tables: Value = serde_json::from_str(TABLES).expect("JSON");
        let names: Vec<_> = tables.as_object().expect("a table").keys().collect();
        assert_eq!(names, ["linux", "ns2", "ns3", "ns3-2014", "rfc"]);
        for name in names {
            let options = TcpConfig::of_profile(name).expect("a profile");
            assert_eq!(&options.profile, name);
            assert!(options.validate().is_ok(), "{name}");
        }
    }

    #[test]
    fn unknown_profile_is_rejected() {
        let error = TcpConfig::of_profile("bsd").expect_err("no such profile");
        assert_eq!(error.to_string(), "profile = bsd: not a profile");
    }
}
