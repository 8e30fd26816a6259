//! Common parts of blind-BI and adapt-BI, the policies that grant bandwidth for ACKs: size and time
//! of a grant, and the fallback time of a station without a grant.

use super::{Downlink, GrantRules};
use airpath_core::{Checks, ConfigError, Duration, at_least};
use serde::Deserialize;

/// Time at which a grant is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrantTiming {
    /// At the end of the packet's service, even if the packet is lost (wimax-2009 §5.4).
    #[default]
    Served,
    /// At the first transmission of the packet, before the end of HARQ.
    FirstTransmission,
    /// At the end of the packet's service, only if the packet was received.
    Delivered,
}

impl GrantTiming {
    /// Returns true if `event` triggers the grant.
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
    /// Size of a grant, bytes: an ACK with its MAC header. At least 1.
    pub size_bytes: u64,
    /// Time at which the grant is issued.
    #[serde(default)]
    pub when: GrantTiming,
    /// Time without a grant after which a station with data sends a request, ns.
    pub fallback_ns: u64,
}

impl ProactiveConfig {
    /// Returns the grant rules. The parameters must already be checked.
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

/// Rejects a grant size or a fallback time outside its range.
pub(super) fn check_grant(size_bytes: u64, fallback_ns: u64) -> Result<(), ConfigError> {
    let mut checks = Checks::default();
    checks.within("size_bytes", size_bytes, 1..=LARGEST_GRANT);
    checks.within("fallback_ns", fallback_ns, at_least(1_u64));
    checks.finish()
}
