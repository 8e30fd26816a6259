//! Slow reader: the application reads from a buffer at a limited rate.
//!
//! Source: RFC 9293 §3.8.6.2.2 and RFC 1122 §4.2.3.3 (silly-window avoidance at the receiver). The
//! right edge does not move until it can move by min(buffer/2, MSS). A window update is an ACK that
//! is caused only by reading. It is sent when the right edge can move by max(two segments,
//! buffer/4) or by buffer/2. The RFCs do not specify this condition. FreeBSD uses it, because a
//! fast reader would otherwise double the number of ACKs.
//!
//! Not modelled: reading in pieces (the application reads continuously), separate buffer space for
//! data beyond a hole, and automatic tuning of the buffer size.

use super::{Arrival, ReceiveWindow, WindowSetup, WindowState};
use airpath_core::{Bytes, Component, ConfigError, Rate, Setup, StageError, Time};
use serde::Deserialize;

/// Configuration of a slow reader. The buffer size is the connection's receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrainConfig {
    /// Rate at which the application reads payload, bit/s. At 0 the application never reads.
    pub rate_bps: u64,
    /// Start of reading, ns since the start of the run.
    #[serde(default)]
    pub start_ns: u64,
}

/// Receive window of a buffer that the application reads at a limited rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainWindow {
    buffer: u64,
    rate: Rate,
    /// Time since which the application has been reading without a pause.
    since: Time,
    /// Stream offset up to which the application had read at `since`.
    from: u64,
    /// Next expected byte. The application can read the data before this offset.
    arrived: u64,
}

impl DrainWindow {
    /// Creates an empty buffer of `buffer` bytes.
    pub fn new(buffer: u64, config: DrainConfig) -> DrainWindow {
        let DrainConfig { rate_bps, start_ns } = config;
        let since = Time::from_nanos(start_ns);
        DrainWindow { buffer, rate: Rate(rate_bps), since, from: 0, arrived: 0 }
    }

    /// Returns the stream offset up to which the application has read at `now`.
    pub fn read(&self, now: Time) -> u64 {
        let Bytes(bytes) = self.rate * now.saturating_since(self.since);
        self.from.saturating_add(bytes).min(self.arrived)
    }

    /// Returns the time at which the application will have read all data before `offset`. This data
    /// must have arrived.
    fn time_of(&self, offset: u64) -> Time {
        self.since + Bytes(offset - self.from) / self.rate
    }

    /// Returns the largest possible right edge: RCV.USER + RCV.BUFF, in terms of RFC 9293.
    fn reach(&self, now: Time) -> u64 {
        self.read(now) + self.buffer
    }
}

impl<T: ?Sized> Component<T, WindowSetup> for DrainWindow {
    type Config = DrainConfig;

    fn build(
        config: DrainConfig,
        setup: Setup<'_, T, WindowSetup>,
    ) -> Result<DrainWindow, ConfigError> {
        Ok(DrainWindow::new(setup.extra.receive_window, config))
    }
}

impl ReceiveWindow for DrainWindow {
    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError> {
        if self.read(arrival.now) == self.arrived && arrival.now >= self.since {
            (self.since, self.from) = (arrival.now, self.arrived);
        }
        self.arrived += arrival.delivered;
        Ok(())
    }

    fn window(&self) -> u64 {
        self.buffer.saturating_sub(self.arrived - self.from)
    }

    fn right_edge(&self, state: &WindowState) -> u64 {
        let &WindowState { now, edge, mss, .. } = state;
        let reach = self.reach(now);
        if reach >= edge + (self.buffer / 2).min(mss) { reach } else { edge }
    }

    fn next_update(&self, state: &WindowState) -> Time {
        let &WindowState { edge, mss, step, .. } = state;
        if self.from == self.arrived {
            return Time::NEVER;
        }
        let opening = (2 * mss).max(self.buffer / 4).min(self.buffer / 2).max(step);
        let wanted = (edge + opening).saturating_sub(self.buffer).max(self.from);
        if wanted > self.arrived { Time::NEVER } else { self.time_of(wanted) }
    }

    fn is_bounded(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: u64 = 10_000;

    /// Returns a reader of 8 kbit/s: one byte per millisecond.
    fn slow() -> DrainWindow {
        DrainWindow::new(BUFFER, DrainConfig { rate_bps: 8000, start_ns: 0 })
    }

    fn at(millis: u64, edge: u64) -> WindowState {
        WindowState { now: Time::from_millis(millis), next: 0, edge, mss: 1000, step: 1 }
    }

    fn arrive(window: &mut DrainWindow, millis: u64, delivered: u64) {
        let arrival = Arrival {
            now: Time::from_millis(millis),
            bytes: delivered + 40,
            feedback: 0.0,
            in_order: true,
            duplicate: false,
            delivered,
        };
        window.on_arrival(&arrival).expect("a built-in policy does not fail");
    }

    #[test]
    fn application_reads_continuously_and_only_arrived_data() {
        let mut window = slow();
        arrive(&mut window, 100, 3000);
        let read = [100, 101, 1600, 3100, 9000].map(|ms| window.read(Time::from_millis(ms)));
        assert_eq!(read, [0, 1, 1500, 3000, 3000]);
        // The pause without data does not count as reading time.
        arrive(&mut window, 10_000, 500);
        let read = [10_000, 10_200, 10_600].map(|ms| window.read(Time::from_millis(ms)));
        assert_eq!(read, [3000, 3200, 3500]);
    }

    #[test]
    fn reading_continues_while_more_data_arrives() {
        let mut window = slow();
        for k in 0..100 {
            arrive(&mut window, 7 * k, 10);
        }
        assert_eq!(window.read(Time::from_millis(997)), 997);
    }

    #[test]
    fn rfc9293_3_8_6_2_2_edge_moves_by_at_least_a_segment() {
        let mut window = slow();
        assert_eq!(window.right_edge(&at(0, 0)), 10_000);
        arrive(&mut window, 0, 10_000);
        assert_eq!(window.right_edge(&at(999, 10_000)), 10_000);
        assert_eq!(window.right_edge(&at(1000, 10_000)), 11_000);
        assert_eq!(window.right_edge(&at(3500, 11_000)), 13_500);
    }

    #[test]
    fn rfc9293_3_8_6_2_2_edge_of_a_small_buffer_moves_by_half_of_the_buffer() {
        let mut window = DrainWindow::new(1000, DrainConfig { rate_bps: 8000, start_ns: 0 });
        arrive(&mut window, 0, 1000);
        assert_eq!(window.right_edge(&at(499, 1000)), 1000);
        assert_eq!(window.right_edge(&at(500, 1000)), 1500);
        assert_eq!(window.next_update(&at(0, 1000)), Time::from_millis(500));
    }

    #[test]
    fn update_is_due_when_a_quarter_of_the_buffer_is_free() {
        let mut window = slow();
        assert_eq!(window.next_update(&at(0, 10_000)), Time::NEVER);
        arrive(&mut window, 0, 10_000);
        assert_eq!(window.next_update(&at(0, 10_000)), Time::from_millis(2500));
        assert_eq!(window.next_update(&at(2500, 12_500)), Time::from_millis(5000));
        // The arrived data is not sufficient for another update.
        assert_eq!(window.next_update(&at(9000, 19_000)), Time::NEVER);
    }

    #[test]
    fn update_is_due_when_two_segments_are_free_if_they_exceed_a_quarter() {
        let mut window = DrainWindow::new(5000, DrainConfig { rate_bps: 8000, start_ns: 0 });
        arrive(&mut window, 0, 5000);
        assert_eq!(window.next_update(&at(0, 5000)), Time::from_millis(2000));
    }

    #[test]
    fn window_of_an_application_that_never_reads_remains_closed() {
        let mut window = DrainWindow::new(BUFFER, DrainConfig { rate_bps: 0, start_ns: 0 });
        arrive(&mut window, 0, 10_000);
        assert_eq!(window.next_update(&at(0, 10_000)), Time::NEVER);
        assert_eq!(window.right_edge(&at(86_400_000, 10_000)), 10_000);
    }

    #[test]
    fn reading_begins_at_the_configured_time() {
        let config = DrainConfig { rate_bps: 8000, start_ns: 5_000_000_000 };
        let mut window = DrainWindow::new(BUFFER, config);
        arrive(&mut window, 0, 4000);
        assert_eq!(window.read(Time::from_secs(5)), 0);
        assert_eq!(window.read(Time::from_secs(6)), 1000);
    }

    #[test]
    fn reading_at_an_odd_rate_loses_no_byte_in_ten_days() {
        let mut window = DrainWindow::new(u64::MAX / 4, DrainConfig { rate_bps: 7, start_ns: 0 });
        arrive(&mut window, 0, 1 << 40);
        assert_eq!(window.read(Time::from_secs(864_000)), 864_000 * 7 / 8);
    }
}
