//! A client that requests objects, one after the other, and pauses between pages.
//!
//! A page has a fixed number of objects; with one object it is a request and its response. Each
//! object is requested when the previous one is complete. After the last object of a page the
//! client pauses for the think time.

use super::distributions::{SizeDistribution, TimeDistribution};
use airpath_core::{Checks, ConfigError, Stream, Time, at_least};
use serde::Deserialize;

/// Configuration of a client that requests objects.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestsConfig {
    /// Size of an object.
    pub object: SizeDistribution,
    /// Number of objects of a page.
    pub objects: u32,
    /// Pause between two pages.
    pub think: TimeDistribution,
}

impl RequestsConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The error lists every size, number and mean of 0.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("object", self.object.validate());
        checks.within("objects", self.objects, at_least(1_u32));
        self.think.check_mean(&mut checks, "think");
        checks.finish()
    }
}

/// State of a client that requests objects.
#[derive(Clone, Debug)]
pub struct Requests {
    config: RequestsConfig,
    stream: Stream,
    /// Number of objects of the current page that are complete.
    complete: u32,
    page_at: Time,
    object_at: Time,
    since: Time,
    object_s: Vec<f64>,
    page_s: Vec<f64>,
}

impl Requests {
    /// Creates a client that has not requested anything. `stream` samples sizes and pauses.
    pub fn new(config: RequestsConfig, stream: Stream) -> Requests {
        Requests {
            config,
            stream,
            complete: 0,
            page_at: Time::ZERO,
            object_at: Time::ZERO,
            since: Time::ZERO,
            object_s: Vec::new(),
            page_s: Vec::new(),
        }
    }

    /// Requests the next object. Returns its size, bytes.
    pub fn request(&mut self, now: Time) -> u64 {
        if self.complete == 0 {
            self.page_at = now;
        }
        self.object_at = now;
        self.config.object.draw(&mut self.stream)
    }

    /// Handles the delivery of the requested object. Returns the time of the next request.
    pub fn on_delivered(&mut self, now: Time) -> Time {
        if self.object_at >= self.since {
            self.object_s.push(now.saturating_since(self.object_at).as_secs_lossy());
        }
        self.complete += 1;
        if self.complete < self.config.objects {
            return now;
        }
        self.complete = 0;
        if self.page_at >= self.since {
            self.page_s.push(now.saturating_since(self.page_at).as_secs_lossy());
        }
        now + self.config.think.draw(&mut self.stream)
    }

    /// Discards all measurements. Only objects and pages requested from `now` on are measured.
    pub fn start_measurement(&mut self, now: Time) {
        self.since = now;
        self.object_s.clear();
        self.page_s.clear();
    }

    /// Returns the times from the request of an object to its last byte, s.
    pub fn object_s(&self) -> &[f64] {
        &self.object_s
    }

    /// Returns the times from the first request of a page to its last byte, s.
    pub fn page_s(&self) -> &[f64] {
        &self.page_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: RequestsConfig = RequestsConfig {
        object: SizeDistribution::Fixed { bytes: 5000 },
        objects: 2,
        think: TimeDistribution::Fixed { time_ns: 1_000_000_000 },
    };

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn client() -> Requests {
        Requests::new(CONFIG, Stream::new(1, 0, "requests"))
    }

    #[test]
    fn page_ends_with_its_last_object_and_is_followed_by_a_pause() {
        let mut client = client();
        assert_eq!(client.request(at(100)), 5000);
        assert_eq!(client.on_delivered(at(150)), at(150));
        client.request(at(150));
        assert_eq!(client.on_delivered(at(250)), at(1250));
        assert_eq!((client.object_s(), client.page_s()), (&[0.05, 0.1][..], &[0.15][..]));
        client.request(at(1250));
        assert_eq!(client.on_delivered(at(1300)), at(1300));
        assert_eq!(client.page_s().len(), 1);
    }

    #[test]
    fn page_that_was_requested_before_the_measurement_is_not_measured() {
        let mut client = client();
        client.request(at(100));
        client.start_measurement(at(120));
        client.on_delivered(at(150));
        client.request(at(150));
        client.on_delivered(at(250));
        assert_eq!((client.object_s(), client.page_s()), (&[0.1][..], &[][..]));
    }

    #[test]
    fn zero_sizes_numbers_and_means_are_rejected() {
        assert_eq!(CONFIG.validate(), Ok(()));
        let wrong = RequestsConfig {
            object: SizeDistribution::Fixed { bytes: 0 },
            objects: 0,
            think: TimeDistribution::Exponential { mean_ns: 0 },
        };
        let error = wrong.validate().expect_err("three problems");
        let fields: Vec<&str> = error.problems().iter().map(|one| one.field.as_str()).collect();
        assert_eq!(fields, ["object.bytes", "objects", "think.mean_ns"]);
    }
}
