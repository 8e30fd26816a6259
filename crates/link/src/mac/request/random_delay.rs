//! Request procedure with a random delay from the arrival of data at the station to the reception
//! of the request at the base station.
//!
//! Source: wimax-2009 §5.1: the delay is uniformly distributed from 25 to 50 ms; a code collides
//! with a probability of 1 %, and a collision adds a timer of 100 ms. Here the attempt after a
//! collision may collide again. A request contains the backlog at the start of the request, as in
//! Fig. 1. The station requests bandwidth for later data by piggyback.

use super::{BandwidthRequest, Request, RequestContext, RequestCounts, RequestEvent, RequestRules};
use crate::retransmission::delay_queue::DelayQueue;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Stream, Time, at_least};
use serde::Deserialize;

/// Range of a uniformly distributed time interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Lower end, ns.
    pub low_ns: u64,
    /// Upper end, ns; equal to the lower end for a constant.
    pub high_ns: u64,
}

impl Span {
    /// Rejects a lower end above the upper end.
    fn check(self, field: &str, checks: &mut Checks) {
        if self.low_ns > self.high_ns {
            let value = format!("{} … {} ns", self.low_ns, self.high_ns);
            checks.reject(
                field,
                value,
                "the first is above the second",
                "Set the lower end first, then the upper end",
            );
        }
    }

    fn draw(self, draws: &mut Stream) -> Duration {
        let (low, high) = (Duration::from_nanos(self.low_ns), Duration::from_nanos(self.high_ns));
        if low == high { low } else { draws.uniform_duration(low, high) }
    }
}

/// Scope of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// At most one outstanding request per station, for the complete queue, with piggyback requests
    /// for remaining data (IEEE 802.16).
    #[default]
    Queue,
    /// A separate request for every packet, without piggyback.
    Packet,
}

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomDelayConfig {
    /// Time from the arrival of data to the reception of the request if no collision occurs.
    pub delay: Span,
    /// Probability of a collision in each attempt; below 1.
    pub collision: f64,
    /// Delay added by each collision, ns.
    pub timer_ns: u64,
    /// Scope of a request.
    #[serde(default)]
    pub per: Per,
    /// Delay from the reception of a piggyback request until the base station uses the request.
    #[serde(default)]
    pub piggyback: Span,
}

/// Random stream and counters of a station.
#[derive(Clone, Debug)]
struct Station {
    draws: Stream,
    counts: RequestCounts,
}

/// Request procedure with random delays.
#[derive(Clone, Debug)]
pub struct RandomDelay {
    config: RandomDelayConfig,
    stations: Vec<Station>,
    in_flight: DelayQueue<BandwidthRequest>,
}

impl Component<dyn Request + Send, RequestContext> for RandomDelay {
    type Config = RandomDelayConfig;

    fn check(config: &RandomDelayConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        config.delay.check("delay", &mut checks);
        config.piggyback.check("piggyback", &mut checks);
        checks.within("timer_ns", config.timer_ns, at_least(1_u64));
        checks.within("collision", config.collision, at_least(0.0).below(1.0));
        checks.finish()
    }

    fn build(
        config: RandomDelayConfig,
        setup: Setup<'_, dyn Request + Send, RequestContext>,
    ) -> Result<RandomDelay, ConfigError> {
        let station = |number: u32| Station {
            draws: setup.seed.child(&format!("station {number}")).stream(),
            counts: RequestCounts::default(),
        };
        let stations = (0..setup.extra.stations).map(station).collect();
        Ok(RandomDelay { config, stations, in_flight: DelayQueue::default() })
    }
}

impl Request for RandomDelay {
    fn rules(&self) -> RequestRules {
        RequestRules { per_packet: self.config.per == Per::Packet, can_ask: true }
    }

    fn send_request(&mut self, request: BandwidthRequest, now: Time) {
        let Station { draws, counts } = &mut self.stations[request.station as usize];
        let mut takes = self.config.delay.draw(draws);
        counts.attempts += 1;
        while self.config.collision > 0.0 && draws.bernoulli(self.config.collision) {
            takes += Duration::from_nanos(self.config.timer_ns);
            counts.attempts += 1;
            counts.collisions += 1;
        }
        self.in_flight.push(now + takes, request);
    }

    #[inline]
    fn next_wakeup(&self) -> Time {
        self.in_flight.next()
    }

    fn wake(&mut self, now: Time, received: &mut Vec<RequestEvent>) {
        while let Some(request) = self.in_flight.take_due(now) {
            received.push(RequestEvent::Request(request));
        }
    }

    fn piggyback_delay(&mut self, station: u32) -> Duration {
        self.config.piggyback.draw(&mut self.stations[station as usize].draws)
    }

    fn counts(&self, station: u32) -> RequestCounts {
        self.stations[station as usize].counts
    }

    fn restart_measurement(&mut self) {
        self.stations.iter_mut().for_each(|station| station.counts = RequestCounts::default());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{make, mean_request_time};
    use super::*;

    const CONFIG: RandomDelayConfig = RandomDelayConfig {
        delay: Span { low_ns: 25_000_000, high_ns: 50_000_000 },
        collision: 0.01,
        timer_ns: 100_000_000,
        per: Per::Queue,
        piggyback: Span { low_ns: 0, high_ns: 0 },
    };

    /// wimax-2009 §5.1: the mean is 37.5 ms plus 100 c/(1 − c) ms.
    #[test]
    fn mean_delay_includes_collisions() {
        for collision in [0.0, 0.01, 0.3] {
            let mut random_delay: RandomDelay =
                make(RandomDelayConfig { collision, ..CONFIG }, 1).expect("a valid configuration");
            let mean = mean_request_time(&mut random_delay, 40_000).0;
            let expected = 37.5 + 100.0 * collision / (1.0 - collision);
            assert!((mean / expected - 1.0).abs() < 0.01, "{collision}: {mean} {expected}");
            let counts = random_delay.counts(0);
            let share = counts.collisions as f64 / counts.attempts as f64;
            assert!((share - collision).abs() < 0.005, "{counts:?}");
        }
    }

    #[test]
    fn invalid_delay_and_probability_are_rejected() {
        let reversed = Span { low_ns: 2, high_ns: 1 };
        let refused = |config| RandomDelay::check(&config).expect_err("refused").to_string();
        let found = refused(RandomDelayConfig { delay: reversed, ..CONFIG });
        assert_eq!(
            found,
            "delay = 2 … 1 ns: the first is above the second. Set the lower end first, then the upper end"
        );
        let found = refused(RandomDelayConfig { collision: 1.0, ..CONFIG });
        assert!(found.starts_with("collision = 1: not below 1"), "{found}");
    }
}
