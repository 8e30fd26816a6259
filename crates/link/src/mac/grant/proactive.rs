//! Common parts of grants ahead of ACKs: size, timing, and the fallback without a grant.

use super::{Downlink, GrantRules};
use airpath_core::{Checks, ConfigError, Duration, at_least};
use serde::Deserialize;

/// When a grant is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrantTiming {
    /// As the packet's service ends, whether or not it is then lost (wimax-2009 §5.4).
    #[default]
    Served,
    /// As it is sent for the first time: before HARQ has done with it.
    FirstTransmission,
    /// As its service ends, if it was received.
    Delivered,
}

impl GrantTiming {
    /// Whether `event` is it.
    #[inline]
    pub(super) fn is(self, event: Downlink) -> bool {
        match self {
            GrantTiming::Served => matches!(event, Downlink::Ended { .. }),
            GrantTiming::FirstTransmission => event == Downlink::Sent,
            GrantTiming::Delivered => event == Downlink::Ended { is_received: true },
        }
    }
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProactiveConfig {
    /// Bytes of a grant: an ACK with its MAC header. At least 1.
    pub size_bytes: u64,
    /// When it is given.
    #[serde(default)]
    pub when: GrantTiming,
    /// Time without a grant after which a station with data sends a request, ns.
    pub fallback_ns: u64,
}

impl ProactiveConfig {
    /// Accepts values in their ranges.
    pub(super) fn rules(&self, piggybacks: bool) -> GrantRules {
        GrantRules {
            asks: false,
            piggybacks,
            fallback: Some(Duration::from_nanos(self.fallback_ns)),
            largest: self.size_bytes,
        }
    }
}

/// Largest grant, bytes.
const LARGEST_GRANT: u64 = 65_535;

/// Rejects a size of a grant, and a fallback time, outside their ranges.
pub(super) fn check_grant(size_bytes: u64, fallback_ns: u64) -> Result<(), ConfigError> {
    let mut checks = Checks::default();
    checks.within("size_bytes", size_bytes, 1..=LARGEST_GRANT);
    checks.within("fallback_ns", fallback_ns, at_least(1_u64));
    checks.finish()
}
