//! Delay filters of RFC 6817 §2.4.2: the base delay and the current delay.

use airpath_core::{Duration, Time};

/// `BASE_HISTORY`: number of minutes over which the base delay is the minimum.
const BASE_HISTORY: usize = 10;
/// Interval of one element of the history.
const INTERVAL: Duration = Duration::from_secs(60);
/// `CURRENT_FILTER`: number of samples over which the current delay is the minimum.
const CURRENT_FILTER: usize = 4;
/// Value of an element without a sample.
const NONE: Duration = Duration::from_nanos(u64::MAX);

/// Minimum of the last minutes and of the last samples.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    /// Minimum of each of the last minutes, as a ring.
    base: [Duration; BASE_HISTORY],
    /// Number of the current minute.
    minute: u64,
    /// The last samples, as a ring.
    current: [Duration; CURRENT_FILTER],
    next: usize,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays { base: [NONE; BASE_HISTORY], minute: 0, current: [NONE; CURRENT_FILTER], next: 0 }
    }
}

fn least(values: &[Duration]) -> Option<Duration> {
    values.iter().copied().min().filter(|least| *least != NONE)
}

impl Delays {
    /// Adds a sample. Minutes are counted from the start of the run.
    pub(super) fn sample(&mut self, now: Time, delay: Duration) {
        let minute = now.as_nanos() / INTERVAL.as_nanos();
        let passed = (minute - self.minute).min(BASE_HISTORY as u64);
        for number in 0..passed {
            self.base[((minute - number) % BASE_HISTORY as u64) as usize] = NONE;
        }
        self.minute = minute;
        let slot = &mut self.base[(minute % BASE_HISTORY as u64) as usize];
        *slot = (*slot).min(delay);
        self.current[self.next] = delay;
        self.next = (self.next + 1) % CURRENT_FILTER;
    }

    /// Returns the base delay.
    pub(super) fn base(&self) -> Option<Duration> {
        least(&self.base)
    }

    /// Returns the current delay above the base delay.
    pub(super) fn queueing(&self) -> Option<Duration> {
        let current = least(&self.current)?;
        Some(Duration::from_nanos(current.as_nanos().saturating_sub(self.base()?.as_nanos())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Samples of 50, 90, 80, 95 and 100 ms: base 50 ms, the last four samples are at least 80 ms.
    #[test]
    fn rfc6817_current_delay_is_the_minimum_of_four_samples() {
        let mut delays = Delays::default();
        assert_eq!((delays.base(), delays.queueing()), (None, None));
        for (number, millis) in [50, 90, 80, 95, 100].into_iter().enumerate() {
            delays.sample(Time::from_secs(number as u64), ms(millis));
        }
        assert_eq!((delays.base(), delays.queueing()), (Some(ms(50)), Some(ms(30))));
    }

    /// A minimum of the first minute is valid until the end of the tenth.
    #[test]
    fn rfc6817_base_delay_expires_after_ten_minutes() {
        let mut delays = Delays::default();
        delays.sample(Time::from_secs(30), ms(50));
        delays.sample(Time::from_secs(599), ms(70));
        assert_eq!(delays.base(), Some(ms(50)));
        delays.sample(Time::from_secs(601), ms(80));
        assert_eq!(delays.base(), Some(ms(70)));
        delays.sample(Time::from_secs(6000), ms(90));
        assert_eq!(delays.base(), Some(ms(90)));
    }
}
