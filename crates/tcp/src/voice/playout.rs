//! Fixed playout buffer of a receiver of voice.
//!
//! The first packet is played `buffer` after its arrival, the later ones at the intervals at which
//! they were sent. A packet that arrives after its playout time is discarded. When the source
//! restarts after a stop, the first packet that arrives sets the playout delay again.
//!
//! A packet is decided when its playout time has passed: played or lost. Packets
//! in transit at the end of the measurement are not counted.

use airpath_core::stats::Mean;
use airpath_core::{Duration, Time};
use std::collections::VecDeque;

/// State of a playout buffer.
#[derive(Clone, Debug)]
pub struct Playout {
    interval: Duration,
    buffer: Duration,
    /// Network delay of the first packet plus `buffer`; `None` before the first arrival.
    delay: Option<Duration>,
    /// Number of the first packet that is not decided.
    next: u64,
    /// Time at which packet `next` was sent.
    next_sent: Time,
    /// For each packet from `next` on, true if it arrived in time.
    arrived: VecDeque<bool>,
    since: Time,
    is_in_burst: bool,
    played: u64,
    lost: u64,
    late: u64,
    bursts: u64,
    delays: Mean,
}

/// Counters of a playout buffer, of the packets sent since the start of measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayoutReport {
    /// Number of packets played.
    pub played: u64,
    /// Number of packets not played: dropped, corrupted or late.
    pub lost: u64,
    /// Number of packets that arrived after their playout time.
    pub late: u64,
    /// Number of loss bursts: runs of consecutive lost packets.
    pub bursts: u64,
    /// Mean time from sending to playout of the packets played, s.
    pub mean_delay_s: Option<f64>,
}

impl PlayoutReport {
    /// Returns the share of packets that were not played; `None` without packets.
    pub fn loss_ratio(&self) -> Option<f64> {
        let all = self.played + self.lost;
        (all > 0).then(|| self.lost as f64 / all as f64)
    }

    /// Returns BurstR of G.107: the mean length of a loss burst divided by 1/(1 − loss ratio),
    /// its mean length for random loss. `None` without losses, or if nothing was played.
    pub fn burst_ratio(&self) -> Option<f64> {
        let loss = self.loss_ratio().filter(|loss| *loss > 0.0 && *loss < 1.0)?;
        Some(self.lost as f64 / self.bursts as f64 * (1.0 - loss))
    }
}

impl Playout {
    /// Creates the buffer for packets that are sent every `interval`.
    pub fn new(interval: Duration, buffer: Duration) -> Playout {
        Playout {
            interval,
            buffer,
            delay: None,
            next: 0,
            next_sent: Time::ZERO,
            arrived: VecDeque::new(),
            since: Time::ZERO,
            is_in_burst: false,
            played: 0,
            lost: 0,
            late: 0,
            bursts: 0,
            delays: Mean::default(),
        }
    }

    /// Returns the duration of `count` intervals.
    fn intervals(&self, count: u64) -> Duration {
        Duration::from_nanos(self.interval.as_nanos().saturating_mul(count))
    }

    /// Handles the arrival at `now` of packet `number`, which was sent at `sent`.
    pub fn on_arrival(&mut self, number: u64, sent: Time, now: Time) {
        let Some(delay) = self.delay else {
            return self.start(number, sent, now);
        };
        if number < self.next {
            self.late += u64::from(sent >= self.since);
            return;
        }
        let ahead = number - self.next;
        if sent > self.next_sent + self.intervals(ahead) {
            // The source was stopped in between: all earlier packets were sent before the stop.
            self.decide_below(number);
            return self.start(number, sent, now);
        }
        self.decide(number, now);
        if now > sent + delay {
            self.late += u64::from(sent >= self.since);
            return;
        }
        let place = (number - self.next) as usize;
        if place >= self.arrived.len() {
            self.arrived.resize(place + 1, false);
        }
        self.arrived[place] = true;
    }

    /// Sets the playout delay from packet `number`. Packets before it are lost.
    fn start(&mut self, number: u64, sent: Time, now: Time) {
        let delay = now.saturating_since(sent) + self.buffer;
        if self.delay.is_none() {
            let before = self.intervals(number);
            self.next_sent = Time::ZERO + sent.saturating_since(Time::ZERO + before);
            self.delay = Some(delay);
            self.decide_below(number);
        }
        let undecided = delay.as_nanos() / self.interval.as_nanos().max(1);
        self.arrived.reserve(undecided.min(1 << 16) as usize + 1);
        (self.delay, self.next_sent) = (Some(delay), sent);
        self.arrived.push_back(true);
    }

    /// Decides the packets below `number` whose playout time is before `now`.
    fn decide(&mut self, number: u64, now: Time) {
        let Some(delay) = self.delay else { return };
        while self.next < number && self.next_sent + delay < now {
            self.decide_next(delay);
        }
    }

    /// Decides all packets below `number`.
    fn decide_below(&mut self, number: u64) {
        let Some(delay) = self.delay else { return };
        while self.next < number {
            self.decide_next(delay);
        }
    }

    fn decide_next(&mut self, delay: Duration) {
        let is_played = self.arrived.pop_front().unwrap_or(false);
        if self.next_sent >= self.since {
            self.bursts += u64::from(!is_played && !self.is_in_burst);
            self.is_in_burst = !is_played;
            if is_played {
                self.played += 1;
                self.delays.add(delay);
            } else {
                self.lost += 1;
            }
        }
        self.next += 1;
        self.next_sent = self.next_sent + self.interval;
    }

    /// Resets all counters. Only packets sent from `now` on are counted.
    pub fn start_measurement(&mut self, now: Time) {
        (self.since, self.is_in_burst) = (now, false);
        (self.played, self.lost, self.late, self.bursts) = (0, 0, 0, 0);
        self.delays = Mean::default();
    }

    /// Returns the counters at `now`, after the source has sent `sent` packets in total.
    pub fn report(&self, sent: u64, now: Time) -> PlayoutReport {
        let mut end = self.clone();
        end.decide(sent, now);
        PlayoutReport {
            played: end.played,
            lost: end.lost,
            late: end.late,
            bursts: end.bursts,
            mean_delay_s: end.delays.secs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a buffer of 50 ms for packets every 20 ms.
    fn buffer() -> Playout {
        Playout::new(Duration::from_millis(20), Duration::from_millis(50))
    }

    /// Passes the packet `number`, sent at 20 ms · number, which arrives `delay` ms later.
    fn arrive(playout: &mut Playout, number: u64, delay: u64) {
        let sent = Time::from_millis(20 * number);
        playout.on_arrival(number, sent, sent + Duration::from_millis(delay));
    }

    fn counts(report: &PlayoutReport) -> [u64; 4] {
        [report.played, report.lost, report.late, report.bursts]
    }

    /// The first packet takes 30 ms, so that all packets are played 80 ms after they were sent.
    #[test]
    fn packet_at_its_playout_time_is_played_and_a_later_one_is_late() {
        let mut playout = buffer();
        for (number, delay) in [(0, 30), (1, 80), (2, 81), (3, 10)] {
            arrive(&mut playout, number, delay);
        }
        let report = playout.report(4, Time::from_millis(200));
        assert_eq!(counts(&report), [3, 1, 1, 1]);
        assert_eq!(report.mean_delay_s, Some(0.080));
    }

    #[test]
    fn packets_before_their_playout_time_are_not_counted() {
        let mut playout = buffer();
        arrive(&mut playout, 0, 30);
        arrive(&mut playout, 1, 30);
        // Packet 0 is played at 80 ms, packet 1 at 100 ms, packet 2, which is missing, at 120 ms.
        for (now, expected) in [(80, [0, 0]), (81, [1, 0]), (101, [2, 0]), (121, [2, 1])] {
            let report = playout.report(3, Time::from_millis(now));
            assert_eq!([report.played, report.lost], expected, "{now} ms");
        }
    }

    #[test]
    fn reordered_packets_are_played_in_order() {
        let mut playout = buffer();
        for (number, delay) in [(0, 30), (2, 20), (1, 60), (3, 30)] {
            arrive(&mut playout, number, delay);
        }
        assert_eq!(counts(&playout.report(4, Time::from_millis(500))), [4, 0, 0, 0]);
    }

    /// Packets 2, 3 and 6 are lost: bursts of 2 and 1, loss ratio 3/8, BurstR = 1.5 · 5/8.
    #[test]
    fn burst_ratio_is_the_mean_burst_length_relative_to_random_loss() {
        let mut playout = buffer();
        for number in [0, 1, 4, 5, 7] {
            arrive(&mut playout, number, 30);
        }
        let report = playout.report(8, Time::from_millis(1000));
        assert_eq!(counts(&report), [5, 3, 0, 2]);
        assert_eq!(report.loss_ratio(), Some(0.375));
        assert_eq!(report.burst_ratio(), Some(0.9375));
    }

    #[test]
    fn packets_lost_before_the_first_arrival_are_counted() {
        let mut playout = buffer();
        arrive(&mut playout, 2, 30);
        assert_eq!(counts(&playout.report(3, Time::from_millis(500))), [1, 2, 0, 1]);
    }

    #[test]
    fn only_packets_sent_since_the_start_of_measurement_are_counted() {
        let mut playout = buffer();
        arrive(&mut playout, 0, 30);
        arrive(&mut playout, 1, 30);
        playout.start_measurement(Time::from_millis(60));
        arrive(&mut playout, 3, 30);
        assert_eq!(counts(&playout.report(4, Time::from_millis(500))), [1, 0, 0, 0]);
    }

    #[test]
    fn restart_of_the_source_sets_the_playout_delay_again() {
        let mut playout = buffer();
        arrive(&mut playout, 0, 30);
        let sent = Time::from_millis(1000);
        playout.on_arrival(1, sent, sent + Duration::from_millis(10));
        let report = playout.report(2, Time::from_millis(2000));
        assert_eq!(counts(&report), [2, 0, 0, 0]);
        assert_eq!(report.mean_delay_s, Some(0.070)); // 80 ms and 60 ms
    }

    #[test]
    fn late_packet_does_not_decide_packets_that_may_still_arrive() {
        let mut playout = buffer();
        arrive(&mut playout, 0, 10);
        arrive(&mut playout, 1, 200);
        arrive(&mut playout, 2, 180);
        assert_eq!(counts(&playout.report(3, Time::from_millis(500))), [1, 2, 2, 1]);
    }
}
