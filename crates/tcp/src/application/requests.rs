//! A client that loads pages of objects over one or several connections, and pauses between pages.
//!
//! A page has a fixed number of objects, after an optional main object that is requested first. An
//! object is requested from the connection with the fewest outstanding objects, as soon as this
//! number is below a limit: 1 without pipelining (HTTP/1.1), about 100 with streams (HTTP/2, RFC
//! 9113 §6.5.2). A page is complete with its last object; then the client pauses for the think
//! time.
//!
//! If a connection is aborted, the client gives up the current page and requests nothing more.
//! Objects of the other connections are still delivered.

use super::distributions::{SizeDistribution, TimeDistribution};
use airpath_core::{Checks, ConfigError, Stream, Time, at_least};
use serde::Deserialize;
use std::collections::VecDeque;

/// Largest number of connections of a client.
const MOST_CONNECTIONS: u32 = 100;

/// Configuration of a client that requests objects.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestsConfig {
    /// Size of an object.
    pub object: SizeDistribution,
    /// Number of objects of a page, without the main object.
    pub objects: u32,
    /// Size of the main object, which is complete before other objects are requested; `None` for
    /// pages without a main object.
    #[serde(default)]
    pub main: Option<SizeDistribution>,
    /// Number of connections of the client.
    #[serde(default = "one")]
    pub connections: u32,
    /// Largest number of outstanding objects of a connection.
    #[serde(default = "one")]
    pub streams: u32,
    /// Pause between two pages.
    pub think: TimeDistribution,
}

fn one() -> u32 {
    1
}

impl RequestsConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The error lists every size, number and mean of 0, and too many connections.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("object", self.object.validate());
        checks.within("objects", self.objects, at_least(1_u32));
        if let Some(main) = &self.main {
            checks.nested("main", main.validate());
        }
        checks.within("connections", self.connections, 1..=MOST_CONNECTIONS);
        checks.within("streams", self.streams, at_least(1_u32));
        self.think.check_mean(&mut checks, "think");
        checks.finish()
    }
}

/// A requested object.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// Stream offset after the last byte of the object.
    end: u64,
    requested_at: Time,
}

/// Objects of one connection.
#[derive(Clone, Debug, Default)]
struct Connection {
    /// Number of bytes requested so far.
    requested: u64,
    outstanding: VecDeque<Outstanding>,
}

/// State of a client that requests objects.
#[derive(Clone, Debug)]
pub struct Requests {
    config: RequestsConfig,
    stream: Stream,
    connections: Vec<Connection>,
    /// Number of objects of the current page that are not requested yet, without the main object.
    left: u32,
    /// Number of objects that are requested and not complete.
    outstanding: u32,
    /// True until the main object of the current page is complete.
    awaits_main: bool,
    page_at: Time,
    since: Time,
    object_s: Vec<f64>,
    page_s: Vec<f64>,
    /// Time from the first request of the page that the client gave up, s, if it is measured.
    given_up_s: Option<f64>,
    has_given_up: bool,
}

impl Requests {
    /// Creates a client that has not requested anything. `stream` samples sizes and pauses.
    pub fn new(config: RequestsConfig, stream: Stream) -> Requests {
        Requests {
            config,
            stream,
            connections: vec![Connection::default(); config.connections as usize],
            left: 0,
            outstanding: 0,
            awaits_main: false,
            page_at: Time::ZERO,
            since: Time::ZERO,
            object_s: Vec::new(),
            page_s: Vec::new(),
            given_up_s: None,
            has_given_up: false,
        }
    }

    /// Returns true if nothing has been requested.
    pub fn is_new(&self) -> bool {
        self.connections.iter().all(|connection| connection.requested == 0)
    }

    /// Requests an object if a connection may carry another one; begins a page if the previous one
    /// is complete. Returns the index of the connection and the size of the object, bytes.
    pub fn request(&mut self, now: Time) -> Option<(usize, u64)> {
        if self.has_given_up {
            return None;
        }
        let begins = self.left == 0 && self.outstanding == 0;
        if begins {
            self.page_at = now;
            self.left = self.config.objects;
            self.awaits_main = self.config.main.is_some();
        }
        let size = match self.config.main {
            Some(main) if begins => main,
            _ if self.awaits_main || self.left == 0 => return None,
            _ => self.config.object,
        };
        let load = |(_, connection): &(usize, &mut Connection)| connection.outstanding.len();
        let (index, connection) = self.connections.iter_mut().enumerate().min_by_key(load)?;
        if connection.outstanding.len() >= self.config.streams as usize {
            return None;
        }
        let bytes = size.draw(&mut self.stream);
        connection.requested += bytes;
        let object = Outstanding { end: connection.requested, requested_at: now };
        connection.outstanding.push_back(object);
        self.outstanding += 1;
        if !self.awaits_main {
            self.left -= 1;
        }
        Some((index, bytes))
    }

    /// Handles the delivery of all bytes before the stream offset `delivered` of a connection.
    /// Returns the time of the next requests if an object is complete.
    pub fn on_delivered(&mut self, connection: usize, delivered: u64, now: Time) -> Option<Time> {
        let mut next = None;
        while let Some(object) = self.take_complete(connection, delivered) {
            next = Some(self.complete(object, now));
        }
        next
    }

    fn take_complete(&mut self, connection: usize, delivered: u64) -> Option<Outstanding> {
        let outstanding = &mut self.connections[connection].outstanding;
        let is_complete = outstanding.front().is_some_and(|object| object.end <= delivered);
        if is_complete { outstanding.pop_front() } else { None }
    }

    fn complete(&mut self, object: Outstanding, now: Time) -> Time {
        if object.requested_at >= self.since {
            self.object_s.push(now.saturating_since(object.requested_at).as_secs_lossy());
        }
        self.outstanding -= 1;
        self.awaits_main = false;
        if self.left > 0 || self.outstanding > 0 || self.has_given_up {
            return now;
        }
        if self.page_at >= self.since {
            self.page_s.push(now.saturating_since(self.page_at).as_secs_lossy());
        }
        now + self.config.think.draw(&mut self.stream)
    }

    /// Handles the abort of a connection: the current page is given up, and nothing more is
    /// requested. A second abort has no effect.
    pub fn give_up(&mut self, now: Time) {
        if self.has_given_up {
            return;
        }
        self.has_given_up = true;
        let is_measured = self.page_at >= self.since;
        self.given_up_s = is_measured.then(|| now.saturating_since(self.page_at).as_secs_lossy());
    }

    /// Discards all measurements. Only objects and pages requested from `now` on are measured.
    pub fn start_measurement(&mut self, now: Time) {
        self.since = now;
        self.object_s.clear();
        self.page_s.clear();
        self.given_up_s = None;
    }

    /// Returns the times from the request of an object to its last byte, s.
    pub fn object_s(&self) -> &[f64] {
        &self.object_s
    }

    /// Returns the times from the first request of a page to its last byte, s.
    pub fn page_s(&self) -> &[f64] {
        &self.page_s
    }

    /// Returns the time from the first request of the page that the client gave up to the abort of a
    /// connection, s. `None` if no connection was aborted, or if the page is not measured.
    pub fn given_up_s(&self) -> Option<f64> {
        self.given_up_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: RequestsConfig = RequestsConfig {
        object: SizeDistribution::Fixed { bytes: 5000 },
        objects: 2,
        main: None,
        connections: 1,
        streams: 1,
        think: TimeDistribution::Fixed { time_ns: 1_000_000_000 },
    };

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn client(config: RequestsConfig) -> Requests {
        Requests::new(config, Stream::new(1, 0, "requests"))
    }

    /// Connections of all objects that the client requests at `now`.
    fn requested(client: &mut Requests, now: Time) -> Vec<usize> {
        std::iter::from_fn(|| client.request(now)).map(|(connection, _)| connection).collect()
    }

    #[test]
    fn page_ends_with_its_last_object_and_is_followed_by_a_pause() {
        let mut client = client(CONFIG);
        assert_eq!(client.request(at(100)), Some((0, 5000)));
        assert_eq!(client.request(at(100)), None);
        assert_eq!(client.on_delivered(0, 4999, at(140)), None);
        assert_eq!(client.on_delivered(0, 5000, at(150)), Some(at(150)));
        assert_eq!(client.request(at(150)), Some((0, 5000)));
        assert_eq!(client.on_delivered(0, 10_000, at(250)), Some(at(1250)));
        assert_eq!((client.object_s(), client.page_s()), (&[0.05, 0.1][..], &[0.15][..]));
        client.request(at(1250));
        assert_eq!(client.on_delivered(0, 15_000, at(1300)), Some(at(1300)));
        assert_eq!(client.page_s().len(), 1);
    }

    #[test]
    fn page_that_was_requested_before_the_measurement_is_not_measured() {
        let mut client = client(CONFIG);
        client.request(at(100));
        client.start_measurement(at(120));
        client.on_delivered(0, 5000, at(150));
        client.request(at(150));
        client.on_delivered(0, 10_000, at(250));
        assert_eq!((client.object_s(), client.page_s()), (&[0.1][..], &[][..]));
    }

    #[test]
    fn objects_are_requested_over_all_connections_and_then_over_the_free_one() {
        let mut client = client(RequestsConfig { objects: 4, connections: 3, ..CONFIG });
        assert_eq!(requested(&mut client, at(0)), [0, 1, 2]);
        assert_eq!(client.on_delivered(1, 5000, at(50)), Some(at(50)));
        assert_eq!(requested(&mut client, at(50)), [1]);
        for (connection, delivered, millis) in [(0, 5000, 60), (2, 5000, 70)] {
            assert_eq!(client.on_delivered(connection, delivered, at(millis)), Some(at(millis)));
            assert!(requested(&mut client, at(millis)).is_empty());
        }
        assert_eq!(client.on_delivered(1, 10_000, at(90)), Some(at(1090)));
        assert_eq!(client.page_s(), [0.09]);
    }

    #[test]
    fn streams_share_the_connections_evenly() {
        let config = RequestsConfig { objects: 6, connections: 2, streams: 2, ..CONFIG };
        let mut client = client(config);
        assert_eq!(requested(&mut client, at(0)), [0, 1, 0, 1]);
        // Both objects of connection 1 are complete with one acknowledgement.
        assert_eq!(client.on_delivered(1, 10_000, at(40)), Some(at(40)));
        assert_eq!(requested(&mut client, at(40)), [1, 1]);
        assert_eq!(client.object_s(), [0.04, 0.04]);
    }

    #[test]
    fn other_objects_wait_for_the_main_object() {
        let main = Some(SizeDistribution::Fixed { bytes: 300 });
        let mut client = client(RequestsConfig { main, connections: 6, ..CONFIG });
        assert_eq!(client.request(at(0)), Some((0, 300)));
        assert_eq!(client.request(at(0)), None);
        assert_eq!(client.on_delivered(0, 300, at(20)), Some(at(20)));
        assert_eq!(requested(&mut client, at(20)), [0, 1]);
        client.on_delivered(0, 5300, at(50));
        assert_eq!(client.on_delivered(1, 5000, at(60)), Some(at(1060)));
        assert_eq!((client.object_s().len(), client.page_s()), (3, &[0.06][..]));
    }

    #[test]
    fn abort_of_a_connection_gives_up_the_page() {
        let mut client = client(RequestsConfig { connections: 2, ..CONFIG });
        assert_eq!(requested(&mut client, at(100)), [0, 1]);
        client.give_up(at(900));
        client.give_up(at(1000));
        assert_eq!(client.given_up_s(), Some(0.8));
        // The other connection delivers its object; the page is not complete.
        client.on_delivered(1, 5000, at(1100));
        assert_eq!((client.object_s(), client.page_s()), (&[1.0][..], &[][..]));
        assert_eq!(client.request(at(1100)), None);
    }

    #[test]
    fn page_of_the_warm_up_is_not_counted_as_given_up() {
        let mut client = client(CONFIG);
        client.request(at(100));
        client.start_measurement(at(200));
        client.give_up(at(900));
        assert_eq!((client.given_up_s(), client.request(at(2000))), (None, None));
    }

    #[test]
    fn zero_sizes_numbers_and_means_are_rejected() {
        assert_eq!(CONFIG.validate(), Ok(()));
        let wrong = RequestsConfig {
            object: SizeDistribution::Fixed { bytes: 0 },
            objects: 0,
            main: Some(SizeDistribution::Fixed { bytes: 0 }),
            connections: MOST_CONNECTIONS + 1,
            streams: 0,
            think: TimeDistribution::Exponential { mean_ns: 0 },
        };
        let error = wrong.validate().expect_err("six problems");
        let fields: Vec<&str> = error.problems().iter().map(|one| one.field.as_str()).collect();
        let expected = ["object.bytes", "objects", "main.bytes", "connections", "streams"];
        assert_eq!(fields[..5], expected);
        assert_eq!(fields[5..], ["think.mean_ns"]);
    }
}
