//! Request procedure with scheduling requests (LTE, NR: TS 36.321, TS 38.321 §5.4.4). Every station
//! has one dedicated opportunity in each period. A scheduling request signals only that the station
//! has data. The base station then grants a request header, which represents the buffer status
//! report. The station requests bandwidth for remaining data by piggyback.
//!
//! The opportunity of station n is n frames after the start of the period, modulo the length of the
//! period.

use super::{BandwidthRequest, Request, RequestContext, RequestCounts, RequestEvent, RequestRules};
use crate::links::tdd::Clock;
use crate::retransmission::delay_queue::DelayQueue;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Time, at_least};
use serde::Deserialize;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulingRequestConfig {
    /// Time between two opportunities of the same station, ns; at least a frame.
    pub period_ns: u64,
}

/// Request procedure with scheduling requests.
#[derive(Clone, Debug)]
pub struct SchedulingRequest {
    period: u64,
    clock: Clock,
    counts: Vec<RequestCounts>,
    in_flight: DelayQueue<u32>,
}

impl Component<dyn Request + Send, RequestContext> for SchedulingRequest {
    type Config = SchedulingRequestConfig;

    fn build(
        config: SchedulingRequestConfig,
        setup: Setup<'_, dyn Request + Send, RequestContext>,
    ) -> Result<SchedulingRequest, ConfigError> {
        let RequestContext { stations, clock } = setup.extra;
        let mut checks = Checks::default();
        let least = at_least(clock.frame().as_nanos());
        checks.related("period_ns", config.period_ns, least, "shorter than a frame");
        checks.finish()?;
        let counts = vec![RequestCounts::default(); stations as usize];
        Ok(SchedulingRequest {
            period: config.period_ns,
            clock,
            counts,
            in_flight: DelayQueue::default(),
        })
    }
}

impl SchedulingRequest {
    /// Returns the frame of the first opportunity of `station` for data that arrived at `now`.
    fn frame_of(&self, station: u32, now: Time) -> u64 {
        let frame_ns = self.clock.frame().as_nanos();
        let offset = u64::from(station) * frame_ns % self.period;
        let first = self.clock.frame_to_close_after(now);
        let begins = first.saturating_mul(frame_ns);
        let periods = begins.saturating_sub(offset) / self.period;
        // The frame that contains an opportunity may have started before the opportunity.
        (periods..)
            .map(|period| (period * self.period + offset) / frame_ns)
            .find(|frame| *frame >= first)
            .unwrap_or(first)
    }
}

impl Request for SchedulingRequest {
    fn rules(&self) -> RequestRules {
        RequestRules { per_packet: false, can_ask: true }
    }

    fn send_request(&mut self, request: BandwidthRequest, now: Time) {
        let frame = self.frame_of(request.station, now);
        self.counts[request.station as usize].attempts += 1;
        self.in_flight.push(self.clock.received_at(frame), request.station);
    }

    fn next_wakeup(&self) -> Time {
        self.in_flight.next()
    }

    fn wake(&mut self, now: Time, received: &mut Vec<RequestEvent>) {
        while let Some(station) = self.in_flight.take_due(now) {
            received.push(RequestEvent::Code(station));
        }
    }

    fn piggyback_delay(&mut self, _station: u32) -> Duration {
        Duration::ZERO
    }

    fn counts(&self, station: u32) -> RequestCounts {
        self.counts[station as usize]
    }

    fn restart_measurement(&mut self) {
        self.counts.fill(RequestCounts::default());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::make;
    use super::*;

    #[test]
    fn every_station_has_one_opportunity_per_period() {
        let config = SchedulingRequestConfig { period_ns: 20_000_000 };
        let mut requests: SchedulingRequest = make(config, 5).expect("a valid configuration");
        // Frames of 5 ms whose bursts end after 3 ms and are received after 5.6 ms. The
        // opportunities of station 1 are in frames 1, 5, 9, …, those of station 4 in frames 0, 4,
        // 8, ….
        for (station, sent_ms, received_us) in [
            (1, 0, 10_600),
            (1, 7, 10_600),
            (1, 8, 30_600),
            (1, 27, 30_600),
            (4, 1, 5_600),
            (4, 4, 25_600),
        ] {
            requests.send_request(
                BandwidthRequest { station, bytes: 46, adds: false },
                Time::from_millis(sent_ms),
            );
            assert_eq!(requests.next_wakeup(), Time::from_nanos(received_us * 1000), "{sent_ms}");
            let mut received = Vec::new();
            requests.wake(requests.next_wakeup(), &mut received);
            assert_eq!(received, [RequestEvent::Code(station)]);
        }
    }

    #[test]
    fn check_rejects_period_shorter_than_frame() {
        let config = SchedulingRequestConfig { period_ns: 4_000_000 };
        let found = make::<SchedulingRequest>(config, 1).expect_err("refused").to_string();
        assert_eq!(found, "period_ns = 4000000: shorter than a frame. Accepted: at least 5000000");
    }
}
