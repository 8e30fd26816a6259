//! ARQ: blocks that HARQ has discarded, or that were corrupted on a link without HARQ, arrive after
//! a delay.
//!
//! Source: wimax-2009 §5.1 (100 ms). As in the paper ("we emulate"), ARQ is idealised: it always
//! succeeds, and it takes time but no capacity.

use crate::retransmission::harq::LONGEST_WAIT_NS;
use airpath_core::{Checks, Duration};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArqConfig {
    /// Time from the last failed attempt to the arrival of the block, ns. From 1 ns to an hour.
    pub delay_ns: u64,
}

impl ArqConfig {
    /// Rejects a delay outside its range.
    pub(crate) fn check(self, checks: &mut Checks) {
        checks.within("delay_ns", self.delay_ns, 1..=LONGEST_WAIT_NS);
    }

    /// Time from the last failed attempt to the arrival of the block.
    pub fn delay(self) -> Duration {
        Duration::from_nanos(self.delay_ns)
    }
}
