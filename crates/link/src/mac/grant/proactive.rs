//! What grants ahead of ACKs have in common: their size, when they are given, what happens without one.

use super::{Downlink, GrantRules};
use airpath_core::{ConfigError, Duration};
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

/// What the user sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProactiveConfig {
    /// Bytes of a grant: an ACK with its MAC header. At least 1.
    pub size_bytes: u64,
    /// When it is given.
    #[serde(default)]
    pub when: GrantTiming,
    /// After how long without a grant a station with data asks, ns.
    pub fallback_ns: u64,
}

impl ProactiveConfig {
    /// Accepts values in their ranges.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        accept_size(self.size_bytes)
    }

    pub(super) fn rules(&self, piggybacks: bool) -> GrantRules {
        GrantRules {
            asks: false,
            piggybacks,
            fallback: Some(Duration::from_nanos(self.fallback_ns)),
            largest: self.size_bytes,
        }
    }
}

/// Accepts a grant of something.
pub(super) fn accept_size(size_bytes: u64) -> Result<(), ConfigError> {
    if size_bytes == 0 {
        return Err(ConfigError::new("size_bytes", 0, "nothing. Write at least 1 byte"));
    }
    Ok(())
}
