//! Round-trip time estimate and retransmission timeout.
//!
//! Source: RFC 6298. Only segments that were sent once provide RTT samples (Karn's algorithm, §3).

use crate::config::{FirstRttvar, RtoFloor, TcpConfig};
use airpath_core::Duration;
use std::sync::Arc;

/// SRTT, RTTVAR and the retransmission timeout.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    options: Arc<TcpConfig>,
    /// Lower bound of the RTO. Zero if `rto_floor` bounds 4·RTTVAR instead.
    min_rto: Duration,
    /// Lower bound of 4·RTTVAR, ns: the granularity or, if `rto_floor` bounds this term, `min_rto`.
    least_term: f64,
    estimate: Option<Estimate>,
    /// RTO without back-off, updated by every sample.
    base_rto: Duration,
    backoff: u32,
}

/// Smoothed values, ns.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: f64,
    rttvar: f64,
}

#[cold]
fn first_estimate(options: &TcpConfig, rtt: f64) -> Estimate {
    let share = match options.first_rttvar {
        FirstRttvar::Half => 0.5,
        FirstRttvar::Full => 1.0,
    };
    Estimate { srtt: rtt, rttvar: rtt * share }
}

impl RttEstimator {
    /// Creates an estimator without samples.
    pub fn new(options: &Arc<TcpConfig>) -> RttEstimator {
        RttEstimator {
            options: Arc::clone(options),
            min_rto: match options.rto_floor {
                RtoFloor::Total => options.min_rto,
                RtoFloor::Variance => Duration::ZERO,
            },
            least_term: match options.rto_floor {
                RtoFloor::Total => options.rto_granularity,
                RtoFloor::Variance => options.rto_granularity.max(options.min_rto),
            }
            .as_nanos() as f64,
            estimate: None,
            base_rto: options.initial_rto,
            backoff: 1,
        }
    }

    /// Adds a sample and resets the back-off (RFC 6298 §2.2, §2.3, §5.7).
    #[inline(always)]
    pub fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos() as i64 as f64;
        let options = &*self.options;
        let Estimate { srtt, rttvar } = match self.estimate {
            None => first_estimate(options, rtt),
            Some(Estimate { srtt, rttvar }) => Estimate {
                srtt: srtt + options.srtt_gain * (rtt - srtt),
                rttvar: rttvar + options.rttvar_gain * ((rtt - srtt).abs() - rttvar),
            },
        };
        self.estimate = Some(Estimate { srtt, rttvar });
        self.backoff = 1;
        let grain = options.rto_granularity.as_nanos();
        let rto = (srtt + (4.0 * rttvar).max(self.least_term)) as i64 as u64;
        let rto = rto.checked_div(grain).map_or(rto, |ticks| ticks * grain);
        self.base_rto = Duration::from_nanos(rto).max(self.min_rto).min(options.max_rto);
    }

    /// Returns SRTT. `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|estimate| Duration::from_nanos(estimate.srtt as u64))
    }

    /// Returns RTTVAR. `None` before the first sample.
    pub fn rttvar(&self) -> Option<Duration> {
        self.estimate.map(|estimate| Duration::from_nanos(estimate.rttvar as u64))
    }

    /// Returns the number of doublings of the timeout since the last sample.
    pub fn doublings(&self) -> u32 {
        self.backoff.next_power_of_two().ilog2()
    }

    /// Returns the current timeout, including the back-off.
    #[inline]
    pub fn rto(&self) -> Duration {
        if self.backoff == 1 {
            return self.base_rto;
        }
        self.base_rto.saturating_mul(u64::from(self.backoff)).min(self.options.max_rto)
    }

    /// Sets an RTO of at least 3 s for data after a retransmission of the SYN (RFC 6298 §5.7).
    pub fn restart_after_lost_syn(&mut self) {
        self.backoff = 1;
        let rto = self.base_rto.max(Duration::from_secs(3));
        self.base_rto = rto.clamp(self.min_rto, self.options.max_rto);
    }

    /// Resets the back-off, because the peer has answered, although without an RTT sample.
    pub fn forget_back_off(&mut self) {
        self.backoff = 1;
    }

    /// Doubles the timeout (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_mul(2).min(self.options.max_backoff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_conformance::Law;

    const RTO: Law = Law {
        area: "Retransmission timeout",
        source: "RFC 6298 §2, §5: the timeout after samples and expiries",
        allows: "nothing",
    };

    const LINUX: Law = Law {
        area: "Retransmission timeout",
        source: "Linux: RTO = SRTT + max(200 ms, 4·RTTVAR)",
        allows: "nothing",
    };

    fn is_ms(what: &str, found: Duration, expected_ms: u64) {
        RTO.equal(what, "ms", found.as_nanos() as f64 / 1e6, expected_ms as f64);
    }

    fn exact() -> RttEstimator {
        let min_rto = Duration::from_nanos(1);
        RttEstimator::new(&Arc::new(TcpConfig { min_rto, ..TcpConfig::rfc() }))
    }

    #[test]
    fn rfc6298_2_2_rto_is_three_times_the_first_sample() {
        let mut rtt = exact();
        is_ms("before a sample", rtt.rto(), 1000);
        rtt.sample(Duration::from_millis(100));
        assert_eq!(rtt.srtt(), Some(Duration::from_millis(100)));
        is_ms("after a sample of 100 ms", rtt.rto(), 300);
    }

    #[test]
    fn rfc6298_2_3_variance_is_updated_before_the_mean() {
        let mut rtt = exact();
        rtt.sample(Duration::from_millis(100));
        rtt.sample(Duration::from_millis(180));
        // RTTVAR = 3/4·50 + 1/4·80 = 57.5 ms, SRTT = 100 + 80/8 = 110 ms.
        is_ms("after samples of 100 and 180 ms", rtt.rto(), 340);
    }

    #[test]
    fn rto_doubles_from_the_minimum_to_the_maximum() {
        let mut rtt = RttEstimator::new(&Arc::new(TcpConfig::rfc()));
        rtt.sample(Duration::from_millis(10));
        for (expiries, timeout_s) in [1, 2, 4, 8, 16, 32, 60, 60].into_iter().enumerate() {
            let what = format!("after a sample of 10 ms, expiries: {expiries}");
            is_ms(&what, rtt.rto(), timeout_s * 1000);
            rtt.back_off();
        }
        rtt.sample(Duration::from_millis(10));
        assert_eq!(rtt.rto(), Duration::from_secs(1));
    }

    /// In Linux, RTO = SRTT + max(200 ms, 4·RTTVAR): the lower bound applies only to the second
    /// term.
    #[test]
    fn rto_is_srtt_plus_floor_with_variance_floor() {
        let mut rtt = RttEstimator::new(&Arc::new(TcpConfig {
            min_rto: Duration::from_millis(200),
            rto_floor: RtoFloor::Variance,
            ..TcpConfig::rfc()
        }));
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        // SRTT = 17 ms, RTTVAR = 8.5 ms.
        rtt.sample(Duration::from_millis(17));
        let found = rtt.rto().as_nanos() as f64 / 1e6;
        LINUX.equal("after a sample of 17 ms", "ms", found, 217.0);
        // SRTT = 17 + 400/8 ms, RTTVAR = ¾·8.5 + 400/4 ms.
        rtt.sample(Duration::from_millis(417));
        let found = rtt.rto().as_nanos() as f64 / 1e6;
        LINUX.equal("after samples of 17 and 417 ms", "ms", found, 67.0 + 4.0 * 106.375);
        rtt.back_off();
        assert_eq!(rtt.rto(), Duration::from_nanos(2 * (67_000_000 + 4 * 106_375_000)));
    }

    #[test]
    fn rto_is_rounded_to_ticks_of_coarse_clock() {
        let mut rtt = RttEstimator::new(&Arc::new(TcpConfig {
            min_rto: Duration::from_nanos(1),
            rto_granularity: Duration::from_millis(10),
            ..TcpConfig::rfc()
        }));
        rtt.sample(Duration::from_millis(33));
        is_ms("after a sample of 33 ms, clock of 10 ms", rtt.rto(), 90);
    }
}
