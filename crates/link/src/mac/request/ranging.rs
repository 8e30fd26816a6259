//! Request procedure by contention with ranging codes (IEEE 802.16e; wimax-2009 §2.2). A station
//! sends a random code in the ranging opportunity of a frame. If two stations send the same code,
//! both attempts fail. The stations detect the failure when a timer expires. Each station then
//! doubles its back-off window, selects a random number of opportunities from this window, and
//! sends another code after that number of opportunities. For each received code the base station
//! grants a request header. In this header the station reports its backlog.
//!
//! Each frame has one ranging opportunity, at the end of its uplink bursts.

use super::{BandwidthRequest, Request, RequestContext, RequestCounts, RequestEvent, RequestRules};
use crate::links::tdd::Clock;
use airpath_core::{Checks, Component, ConfigError, Duration, Setup, Stream, Time, at_least};
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Largest number of codes, and largest back-off window.
const MOST_CODES: u32 = 65_535;
const LARGEST_WINDOW: u32 = 65_536;

/// Configuration set by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangingConfig {
    /// Number of different codes; at least 1.
    pub codes: u32,
    /// Time from a code with a collision to the next back-off, ns.
    pub timer_ns: u64,
    /// Initial and largest back-off window, opportunities. Both at least 1, in ascending order.
    pub backoff: [u32; 2],
}

#[derive(Clone, Debug)]
struct Station {
    draws: Stream,
    /// Window of the next back-off, opportunities.
    window: u32,
    counts: RequestCounts,
}

/// Request procedure with ranging codes.
#[derive(Clone, Debug)]
pub struct Ranging {
    config: RangingConfig,
    clock: Clock,
    stations: Vec<Station>,
    /// Planned codes, as pairs of frame number and station ID.
    planned: BinaryHeap<Reverse<(u64, u32)>>,
    /// Codes sent in one opportunity, as pairs of code and station ID.
    sent: Vec<(u32, u32)>,
}

impl Component<dyn Request + Send, RequestContext> for Ranging {
    type Config = RangingConfig;

    fn check(config: &RangingConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        let [first, largest] = config.backoff;
        checks.within("codes", config.codes, 1..=MOST_CODES);
        checks.within("timer_ns", config.timer_ns, at_least(1_u64));
        let is_window = checks.within("backoff.0", first, 1..=LARGEST_WINDOW)
            & checks.within("backoff.1", largest, 1..=LARGEST_WINDOW);
        if is_window {
            let problem = "smaller than the first window";
            checks.related("backoff.1", largest, first..=LARGEST_WINDOW, problem);
        }
        checks.finish()
    }

    fn build(
        config: RangingConfig,
        setup: Setup<'_, dyn Request + Send, RequestContext>,
    ) -> Result<Ranging, ConfigError> {
        let [first, _] = config.backoff;
        let RequestContext { stations, clock } = setup.extra;
        let station = |number: u32| Station {
            draws: setup.seed.child(&format!("station {number}")).stream(),
            window: first,
            counts: RequestCounts::default(),
        };
        let stations = (0..stations).map(station).collect();
        Ok(Ranging { config, clock, stations, planned: BinaryHeap::new(), sent: Vec::new() })
    }
}

/// Returns a random integer below `limit`.
fn below(draws: &mut Stream, limit: u32) -> u32 {
    ((draws.uniform() * f64::from(limit)) as u32).min(limit - 1)
}

impl Ranging {
    /// Plans a code of the station in a random opportunity of its back-off window. The window
    /// starts with the next opportunity after `from`.
    fn plan(&mut self, station: u32, from: Time) {
        let Station { draws, window, .. } = &mut self.stations[station as usize];
        let frame = self.clock.frame_to_close_after(from) + u64::from(below(draws, *window));
        self.planned.push(Reverse((frame, station)));
    }

    /// Receives the codes of the opportunity of `frame`.
    fn receive(&mut self, frame: u64, received: &mut Vec<RequestEvent>) {
        self.sent.clear();
        while let Some(Reverse((planned, station))) = self.planned.peek().copied()
            && planned == frame
        {
            self.planned.pop();
            let Station { draws, counts, .. } = &mut self.stations[station as usize];
            counts.attempts += 1;
            self.sent.push((below(draws, self.config.codes), station));
        }
        let sent = std::mem::take(&mut self.sent);
        for &(code, station) in &sent {
            let alone = sent.iter().filter(|(other, _)| *other == code).count() == 1;
            let [first, largest] = self.config.backoff;
            let asking = &mut self.stations[station as usize];
            if alone {
                asking.window = first;
                received.push(RequestEvent::Code(station));
            } else {
                asking.counts.collisions += 1;
                asking.window = asking.window.saturating_mul(2).min(largest);
                let timer = Duration::from_nanos(self.config.timer_ns);
                self.plan(station, self.clock.closed_at(frame) + timer);
            }
        }
        self.sent = sent;
    }
}

impl Request for Ranging {
    fn rules(&self) -> RequestRules {
        RequestRules { per_packet: false, can_ask: true }
    }

    fn send_request(&mut self, request: BandwidthRequest, now: Time) {
        self.plan(request.station, now);
    }

    fn next_wakeup(&self) -> Time {
        self.planned
            .peek()
            .map_or(Time::NEVER, |Reverse((frame, _))| self.clock.received_at(*frame))
    }

    fn wake(&mut self, now: Time, received: &mut Vec<RequestEvent>) {
        while let Some(Reverse((frame, _))) = self.planned.peek().copied()
            && self.clock.received_at(frame) <= now
        {
            self.receive(frame, received);
        }
    }

    fn piggyback_delay(&mut self, _station: u32) -> Duration {
        Duration::ZERO
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
    use super::super::testing::make;
    use super::*;

    fn request(station: u32) -> BandwidthRequest {
        BandwidthRequest { station, bytes: 46, adds: false }
    }

    #[test]
    fn single_code_is_received_in_the_first_opportunity() {
        let config = RangingConfig { codes: 1, timer_ns: 50_000_000, backoff: [1, 1] };
        let mut ranging: Ranging = make(config, 1).expect("a valid configuration");
        let mut received = Vec::new();
        // In a frame of 5 ms, bursts end 3 ms after the start of the frame and are received 5.6 ms
        // after the start.
        for (sent_us, received_us) in [(0, 5_600), (2_999, 5_600), (3_000, 10_600), (4_000, 10_600)]
        {
            ranging.send_request(request(0), Time::from_nanos(sent_us * 1000));
            assert_eq!(ranging.next_wakeup(), Time::from_nanos(received_us * 1000), "{sent_us}");
            ranging.wake(ranging.next_wakeup(), &mut received);
        }
        assert_eq!(received, [RequestEvent::Code(0); 4]);
        assert_eq!(ranging.counts(0), RequestCounts { attempts: 4, collisions: 0 });
    }

    #[test]
    fn colliding_stations_retry_after_timer() {
        let config = RangingConfig { codes: 1, timer_ns: 20_000_000, backoff: [1, 64] };
        let mut ranging: Ranging = make(config, 2).expect("a valid configuration");
        let mut received = Vec::new();
        ranging.send_request(request(0), Time::ZERO);
        ranging.send_request(request(1), Time::ZERO);
        ranging.wake(Time::from_nanos(5_600_000), &mut received);
        assert_eq!(received, []);
        // The opportunity ended at 3 ms and the timer expires after 20 ms. The next opportunity
        // after 23 ms ends at 28 ms.
        assert!(ranging.next_wakeup() >= Time::from_nanos(30_600_000));
        while !ranging.next_wakeup().is_never() {
            ranging.wake(ranging.next_wakeup(), &mut received);
        }
        received.sort_by_key(|received| matches!(received, RequestEvent::Code(1)));
        assert_eq!(received, [RequestEvent::Code(0), RequestEvent::Code(1)]);
        let counts = [0, 1].map(|station| ranging.counts(station));
        assert!(counts.iter().all(|counts| counts.collisions + 1 == counts.attempts), "{counts:?}");
        assert_eq!(counts[0].collisions, counts[1].collisions);
    }

    /// With n codes, two stations that send at the same time choose the same code with probability
    /// 1/n.
    #[test]
    fn collision_share_is_inverse_of_number_of_codes() {
        let config = RangingConfig { codes: 8, timer_ns: 20_000_000, backoff: [1, 1] };
        let mut ranging: Ranging = make(config, 2).expect("a valid configuration");
        let (mut received, mut now) = (Vec::new(), Time::ZERO);
        for _ in 0..20_000 {
            (0..2).for_each(|station| ranging.send_request(request(station), now));
            while !ranging.next_wakeup().is_never() {
                now = ranging.next_wakeup();
                ranging.wake(now, &mut received);
            }
        }
        let counts = ranging.counts(0);
        let share = counts.collisions as f64 / counts.attempts as f64;
        assert!((share - 0.125).abs() < 0.006, "{share}");
    }
}
