//! The second loop: what HARQ gave up, or what was destroyed without it, arrives later all the same.
//!
//! Source: wimax-2009 §5.1 (100 ms). An idealisation, the paper's own ("we emulate"): it always
//! succeeds, and takes time and no capacity.

use airpath_core::Duration;
use serde::Deserialize;

/// What the user sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArqConfig {
    /// From the last failure to the arrival, ns.
    pub delay_ns: u64,
}

impl ArqConfig {
    /// From the last failure to the arrival.
    pub fn delay(self) -> Duration {
        Duration::from_nanos(self.delay_ns)
    }
}
