//! An application that alternates between a burst of data and a pause.
//!
//! A burst has either a size, or a duration during which there is always data to send. A burst with
//! a size ends when its last byte is acknowledged. Then the application pauses and writes the next
//! burst on the same connection.

use super::distributions::{SizeDistribution, TimeDistribution};
use airpath_core::{Checks, ConfigError, Stream, Time, at_least};
use serde::Deserialize;

/// Size or duration of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Burst {
    /// Number of bytes in a burst.
    Size(SizeDistribution),
    /// Duration of a burst, during which there is always data to send.
    Time(TimeDistribution),
}

/// Configuration of an application that alternates between a burst of data and a pause.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOffConfig {
    /// Size or duration of a burst.
    pub on: Burst,
    /// Duration of a pause. A pause starts when the last byte of the burst is acknowledged or, for
    /// a burst with a duration, when the burst ends.
    pub off: TimeDistribution,
}

impl OnOffConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The error lists every size, time or mean of 0. A fixed pause of 0 is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        match self.on {
            Burst::Size(size) => {
                checks.nested("on.size", size.validate());
            }
            Burst::Time(TimeDistribution::Fixed { time_ns }) => {
                checks.within("on.time.time_ns", time_ns, at_least(1_u64));
            }
            Burst::Time(time) => time.check_mean(&mut checks, "on.time"),
        }
        self.off.check_mean(&mut checks, "off");
        checks.finish()
    }
}

/// Configuration of an application, and its random stream.
#[derive(Clone, Debug)]
pub struct OnOff {
    /// Configuration of the application.
    pub config: OnOffConfig,
    /// Random stream of the application.
    pub stream: Stream,
}

/// State of an application that alternates between a burst and a pause.
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    config: OnOffConfig,
    stream: Stream,
}

impl Bursts {
    pub(crate) fn new(on_off: OnOff) -> Bursts {
        Bursts { config: on_off.config, stream: on_off.stream }
    }

    /// Begins a burst. Returns its size, bytes, and its end time: `u64::MAX` for a burst with a
    /// duration, `NEVER` for a burst with a size.
    pub(crate) fn write(&mut self, now: Time) -> (u64, Time) {
        match self.config.on {
            Burst::Size(size) => (size.draw(&mut self.stream), Time::NEVER),
            Burst::Time(time) => (u64::MAX, now + time.draw(&mut self.stream)),
        }
    }

    /// Ends a burst. Returns the start time of the next burst.
    pub(crate) fn pause(&mut self, now: Time) -> Time {
        now + self.config.off.draw(&mut self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::SizeDistribution;

    #[test]
    fn on_off_rejects_zero_means_and_accepts_zero_pauses() {
        let check = |on, off| OnOffConfig { on, off }.validate().map_err(|e| e.to_string());
        let fixed = |time_ns| TimeDistribution::Fixed { time_ns };
        let drawn = |mean_ns| TimeDistribution::Exponential { mean_ns };
        assert_eq!(check(Burst::Time(fixed(1)), fixed(0)), Ok(()));
        let size = Burst::Size(SizeDistribution::Fixed { bytes: 0 });
        assert_eq!(
            check(size, drawn(0)).expect_err("two problems"),
            "on.size.bytes = 0: below 1. Accepted: at least 1\n\
             off.mean_ns = 0: below 1. Accepted: at least 1"
        );
        assert!(check(Burst::Time(fixed(0)), drawn(1)).is_err());
        assert!(check(Burst::Time(drawn(0)), drawn(1)).is_err());
    }
}
