//! Configuration of the framing. Every link that sends each packet in a separate frame has this
//! configuration.

use airpath_core::{Bytes, Checks, ConfigError, Framing};
use serde::Deserialize;

/// Largest overhead per packet and largest block, bytes: the size of the largest IP packet.
const LARGEST: u64 = 65_535;

/// Smallest code rate. With this code rate, packet sizes on the air do not overflow.
pub(crate) const LEAST_CODE_RATE: f64 = 1e-3;

/// Configuration of the framing: a table, or a number, which sets only the overhead.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "Given")]
pub struct FramingConfig {
    /// Bytes added to each packet. At most 65 535.
    pub overhead_bytes: u64,
    /// Block size, bytes, 1 to 65 535. A frame is padded to a multiple of the block size.
    pub block_bytes: u64,
    /// Code rate: share of data among the bytes on the air, 0.001 to 1.
    pub code_rate: f64,
}

/// Form of the configuration: a number or a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Overhead(u64),
    Table(Table),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    overhead_bytes: u64,
    #[serde(default = "one_byte")]
    block_bytes: u64,
    #[serde(default = "uncoded")]
    code_rate: f64,
}

fn one_byte() -> u64 {
    1
}

fn uncoded() -> f64 {
    1.0
}

impl From<Given> for FramingConfig {
    fn from(given: Given) -> FramingConfig {
        match given {
            Given::Overhead(overhead_bytes) => {
                FramingConfig { overhead_bytes, ..FramingConfig::default() }
            }
            Given::Table(Table { overhead_bytes, block_bytes, code_rate }) => {
                FramingConfig { overhead_bytes, block_bytes, code_rate }
            }
        }
    }
}

impl Default for FramingConfig {
    /// Framing without overhead.
    fn default() -> FramingConfig {
        FramingConfig { overhead_bytes: 0, block_bytes: 1, code_rate: 1.0 }
    }
}

impl FramingConfig {
    /// Returns the framing.
    ///
    /// # Errors
    /// If a value is outside its range.
    pub fn framing(&self) -> Result<Framing, ConfigError> {
        let mut checks = Checks::default();
        self.check(&mut checks);
        checks.finish()?;
        let FramingConfig { overhead_bytes, block_bytes, code_rate } = *self;
        let framing = Framing::with_overhead(Bytes(overhead_bytes));
        Ok(framing.in_blocks(Bytes(block_bytes)).coded_at(code_rate))
    }

    /// Rejects values outside their ranges.
    pub(crate) fn check(&self, checks: &mut Checks) {
        checks.within("framing.overhead_bytes", self.overhead_bytes, 0..=LARGEST);
        checks.within("framing.block_bytes", self.block_bytes, 1..=LARGEST);
        checks.within("framing.code_rate", self.code_rate, LEAST_CODE_RATE..=1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn framing(given: Value) -> Result<Framing, String> {
        let config: FramingConfig =
            serde_json::from_value(given).map_err(|error| error.to_string())?;
        config.framing().map_err(|error| error.to_string())
    }

    #[test]
    fn number_is_overhead_and_table_has_defaults() {
        let overhead = Framing::with_overhead(Bytes(6));
        assert_eq!(framing(json!(6)), Ok(overhead));
        assert_eq!(framing(json!({"overhead_bytes": 6})), Ok(overhead));
        assert_eq!(framing(json!({})), Ok(Framing::default()));
        let all = json!({"overhead_bytes": 6, "block_bytes": 60, "code_rate": 0.5});
        assert_eq!(framing(all), Ok(overhead.in_blocks(Bytes(60)).coded_at(0.5)));
    }

    #[test]
    fn invalid_framing_is_rejected() {
        for (given, expected) in [
            (json!(65_536), "framing.overhead_bytes = 65536: above 65535. Accepted: 0 to 65535"),
            (json!({"block_bytes": 0}), "framing.block_bytes = 0: below 1. Accepted: 1 to 65535"),
            (json!({"code_rate": 0}), "framing.code_rate = 0: below 0.001. Accepted: 0.001 to 1"),
            (json!({"code_rate": 1.5}), "framing.code_rate = 1.5: above 1. Accepted: 0.001 to 1"),
        ] {
            assert_eq!(framing(given).expect_err("it is refused"), expected);
        }
        assert!(framing(json!({"surplus": 1})).is_err());
        assert!(framing(json!("6 B")).is_err());
    }
}
