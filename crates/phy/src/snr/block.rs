//! Block fading: the SNR of a Rayleigh channel that is constant within a block of time and
//! independent between blocks.
//!
//! SNR = mean · e, where e is exponentially distributed with mean 1 and depends only on the index
//! of the block. On a link with slots, a block is one slot by default, so that the SNR does not
//! change within a slot.
//!
//! Source: the block fading model of information theory (Ozarow, Shamai and Wyner, IEEE Trans. Veh.
//! Technol. 43, 1994). Left out: correlation between blocks.

use super::slotted::{last_of, start_of};
use super::{Sample, SnrContext, SnrProcess, check_level};
use crate::shannon::from_db;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Stream, Time, at_least};
use serde::Deserialize;

/// Configuration of the process.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockConfig {
    /// Mean SNR, dB, -200 to 200.
    pub mean_db: f64,
    /// Length of a block, ns, above 0. `None`: one slot of the link.
    #[serde(default)]
    pub coherence_ns: Option<u64>,
}

/// SNR process with independent values per block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    mean_db: f64,
    mean: f64,
    block_ns: u64,
    /// Key of the random stream of each block.
    key: u64,
    /// Index of the latest block, and its power relative to the mean.
    last: Option<(u64, f64)>,
}

impl Block {
    /// Returns the power in the block at index `block`, relative to the mean.
    fn power_of(&mut self, block: u64) -> f64 {
        match self.last {
            Some((number, power)) if number == block => power,
            _ => {
                let uniform = Stream::new(self.key, block, "block").uniform();
                let power = -libm::log(1.0 - uniform);
                self.last = Some((block, power));
                power
            }
        }
    }
}

impl Component<dyn SnrProcess + Send, SnrContext> for Block {
    type Config = BlockConfig;

    fn check(config: &BlockConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        check_level("mean_db", config.mean_db, &mut checks);
        if let Some(coherence_ns) = config.coherence_ns {
            checks.within("coherence_ns", coherence_ns, at_least(1_u64));
        }
        checks.finish()
    }

    fn build(
        config: BlockConfig,
        setup: Setup<'_, dyn SnrProcess + Send, SnrContext>,
    ) -> Result<Block, ConfigError> {
        let BlockConfig { mean_db, coherence_ns } = config;
        let block_ns = match (coherence_ns, setup.extra.slot) {
            (Some(block_ns), _) => block_ns,
            (None, Some(slot)) => slot.as_nanos(),
            (None, None) => {
                let problem = "missing. Use the length of a block, ns, for a link without slots";
                return Err(ConfigError::new("coherence_ns", "none", problem));
            }
        };
        let key = setup.seed.stream().next_u64();
        Ok(Block { mean_db, mean: from_db(mean_db), block_ns, key, last: None })
    }
}

impl SnrProcess for Block {
    fn sample(&mut self, at: Time) -> Sample {
        let block = at.as_nanos() / self.block_ns;
        let snr_db = self.mean_db + 10.0 * libm::log10(self.power_of(block));
        let until = Time::from_nanos((block + 1).saturating_mul(self.block_ns));
        Sample { snr_db, until }
    }

    fn at_slot_start(&mut self, slot: u64, length: Duration) -> f64 {
        let block = start_of(slot, length).as_nanos() / self.block_ns;
        self.mean * self.power_of(block)
    }

    fn at_slot_end(&mut self, slot: u64, length: Duration) -> f64 {
        let block = last_of(slot, length).as_nanos() / self.block_ns;
        self.mean * self.power_of(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const BLOCKS: u64 = 200_000;

    const EXPONENTIAL: Law = Law {
        area: "Radio channel",
        source: "SNR process block: an exponential SNR, independent from block to block",
        allows: "five standard deviations of 200 000 blocks",
    };

    fn block(block_ns: u64) -> Block {
        Block { mean_db: 6.0, mean: from_db(6.0), block_ns, key: 5, last: None }
    }

    #[test]
    fn powers_are_exponential_and_independent() {
        let mut process = block(1);
        let powers: Vec<f64> = (0..BLOCKS).map(|number| process.power_of(number)).collect();
        let count = BLOCKS as f64;
        let mean = powers.iter().sum::<f64>() / count;
        EXPONENTIAL.close("mean", "", mean, 1.0, 5.0 / count.sqrt());
        for level in [0.1, 1.0, 3.0] {
            let share = powers.iter().filter(|power| **power < level).count() as f64 / count;
            let expected = -f64::exp_m1(-level);
            let bound = 5.0 * (expected * (1.0 - expected) / count).sqrt();
            EXPONENTIAL.close(format!("P(SNR < {level} mean)"), "", share, expected, bound);
        }
        let products = powers.windows(2).map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0));
        let covariance = products.sum::<f64>() / (count - 1.0);
        EXPONENTIAL.close("covariance of neighbours", "", covariance, 0.0, 5.0 / count.sqrt());
    }

    #[test]
    fn snr_is_constant_within_a_block() {
        let length = Duration::from_millis(3);
        let mut process = block(length.as_nanos());
        for slot in [0, 1, 7, 1_000_000] {
            let start = process.at_slot_start(slot, length);
            assert_eq!(process.at_slot_end(slot, length), start);
            assert_ne!(process.at_slot_start(slot + 1, length), start);
        }
        // A block of two slots.
        let mut process = block(2 * length.as_nanos());
        let start = process.at_slot_start(4, length);
        assert_eq!(process.at_slot_end(5, length), start);
        assert_ne!(process.at_slot_start(6, length), start);
    }
}
