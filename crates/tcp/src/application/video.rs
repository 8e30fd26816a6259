//! A video client that requests segments of equal duration at rates of a ladder.
//!
//! Segments are requested one after the other on one connection. Playback starts, and continues
//! after a stall, when the buffer reaches the start threshold. The next segment is requested when
//! the buffer has space for it.

use super::abr::{buffer_based, harmonic_mean, highest_within};
use airpath_core::{Checks, ConfigError, Duration, Time, above, at_least, at_most};
use serde::Deserialize;
use std::collections::VecDeque;
use std::sync::Arc;

/// Rule by which the client chooses the rate of the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum AbrConfig {
    /// BBA-0, by the buffer level.
    Buffer {
        /// Buffer level up to which the lowest rate is chosen, ns of video.
        reservoir_ns: u64,
        /// Range of buffer levels over which the rate rises, ns of video.
        cushion_ns: u64,
    },
    /// The harmonic mean of the throughputs of the last segments.
    Rate {
        /// Number of segments, from 1.
        window: u32,
        /// Factor of the mean, in (0, 1].
        safety: f64,
    },
}

/// Configuration of a video client.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VideoConfig {
    /// Rates, ascending, bit/s.
    pub ladder_bps: Vec<u64>,
    /// Duration of a segment, ns.
    pub segment_ns: u64,
    /// Buffer level at which playback starts, and continues after a stall, ns of video.
    pub startup_ns: u64,
    /// Largest buffer level, ns of video.
    pub limit_ns: u64,
    /// Rule for the next rate.
    pub abr: AbrConfig,
    /// Number of segments of the video. Default: without end.
    #[serde(default)]
    pub segments: Option<u64>,
}

/// Largest duration of a segment and of a buffer, ns: one day.
const LONGEST_NS: u64 = 86_400 * 1_000_000_000;
/// Largest rate of the ladder, bit/s.
const HIGHEST_BPS: u64 = 1_000_000_000_000;
/// Largest number of segments over which throughputs are averaged.
const LONGEST_WINDOW: u32 = 1000;

impl VideoConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The error lists every value out of range, and a buffer limit that is too small for the start
    /// of playback or for the rule.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        if self.ladder_bps.is_empty() {
            checks.reject("ladder_bps", "[]", "no rates", "Set at least one rate");
        }
        for (index, rate) in self.ladder_bps.iter().enumerate() {
            let field = format!("ladder_bps.{index}");
            if checks.within(&field, *rate, 1..=HIGHEST_BPS)
                && index > 0
                && *rate <= self.ladder_bps[index - 1]
            {
                checks.reject(&field, *rate, "not above the previous rate", "Use ascending rates");
            }
        }
        let has_segment = checks.within("segment_ns", self.segment_ns, 1..=LONGEST_NS);
        let has_startup = checks.within("startup_ns", self.startup_ns, 1..=LONGEST_NS);
        if checks.within("limit_ns", self.limit_ns, 1..=LONGEST_NS) && has_segment && has_startup {
            let least = at_least(self.startup_ns + self.segment_ns);
            let (others, problem) = (["startup_ns", "segment_ns"], "below startup plus a segment");
            checks.related_to(&others, "limit_ns", self.limit_ns, least, problem);
        }
        if let Some(segments) = self.segments {
            checks.within("segments", segments, at_least(1_u64));
        }
        match self.abr {
            AbrConfig::Buffer { reservoir_ns, cushion_ns } => {
                let in_range = checks.within("abr.cushion_ns", cushion_ns, 1..=LONGEST_NS);
                let most = at_most(self.limit_ns);
                let (others, problem) = (["limit_ns", "abr.reservoir_ns"], "above the limit");
                if in_range
                    && checks.related_to(
                        &others[..1],
                        "abr.reservoir_ns",
                        reservoir_ns,
                        most,
                        problem,
                    )
                {
                    let most = at_most(self.limit_ns - reservoir_ns);
                    checks.related_to(&others, "abr.cushion_ns", cushion_ns, most, problem);
                }
            }
            AbrConfig::Rate { window, safety } => {
                checks.within("abr.window", window, 1..=LONGEST_WINDOW);
                if checks.within("abr.safety", safety, above(0.0)) {
                    checks.within("abr.safety", safety, at_most(1.0));
                }
            }
        }
        checks.finish()
    }
}

/// Progress of playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Playback {
    /// Waits for the start threshold, for the first time.
    Starting,
    Playing,
    Stalled,
    /// The video has ended.
    Ended,
}

/// Counters since the start of measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    segments: u64,
    bits_per_s: u128,
    switches: u64,
    stalls: u64,
    stalled: Duration,
    played: Duration,
}

/// Measurements of a video client.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoReport {
    /// Number of segments delivered since the start of measurement.
    pub segments: u64,
    /// Sum of their rates, bit/s.
    pub sum_of_rates_bps: f64,
    /// Number of segments whose rate differs from that of the previous segment.
    pub switches: u64,
    /// Number of stalls that began.
    pub stalls: u64,
    /// Time in stalls, s.
    pub stalled_s: f64,
    /// Time in playback, s.
    pub played_s: f64,
    /// Time from the first request to the start of playback, s; `None` before it.
    pub startup_s: Option<f64>,
}

/// State of a video client.
#[derive(Clone, Debug)]
pub struct Video {
    config: Arc<VideoConfig>,
    playback: Playback,
    /// Video in the buffer at `updated`, ns.
    buffer_ns: u64,
    updated: Time,
    /// Index of the rate of the latest segment; `None` before the first request.
    rate: Option<usize>,
    requested: u64,
    requested_at: Time,
    started_at: Option<Time>,
    first_request: Time,
    is_last: bool,
    /// Throughputs of the last segments, bit/s; empty for the rule by buffer.
    throughputs: VecDeque<f64>,
    counters: Counters,
}

impl Video {
    /// Creates a client that has not requested anything.
    pub fn new(config: Arc<VideoConfig>) -> Video {
        let window = match config.abr {
            AbrConfig::Buffer { .. } => 0,
            AbrConfig::Rate { window, .. } => window as usize,
        };
        Video {
            config,
            playback: Playback::Starting,
            buffer_ns: 0,
            updated: Time::ZERO,
            rate: None,
            requested: 0,
            requested_at: Time::ZERO,
            started_at: None,
            first_request: Time::ZERO,
            is_last: false,
            throughputs: VecDeque::with_capacity(window),
            counters: Counters::default(),
        }
    }

    /// Requests the next segment. Returns its size, bytes.
    pub fn request(&mut self, now: Time) -> u64 {
        self.play_until(now);
        if self.rate.is_none() {
            self.first_request = now;
        }
        let next = self.choose();
        let is_switch = self.rate.is_some_and(|before| before != next);
        self.counters.switches += u64::from(is_switch);
        self.rate = Some(next);
        self.requested += 1;
        self.is_last = self.config.segments == Some(self.requested);
        self.requested_at = now;
        segment_bytes(self.config.ladder_bps[next], self.config.segment_ns)
    }

    /// Returns the index of the rate of the next segment. The first segment has the lowest rate.
    fn choose(&self) -> usize {
        let Some(previous) = self.rate else { return 0 };
        let ladder = &self.config.ladder_bps;
        match self.config.abr {
            AbrConfig::Buffer { reservoir_ns, cushion_ns } => {
                buffer_based(ladder, previous, self.buffer_ns, reservoir_ns, cushion_ns)
            }
            AbrConfig::Rate { safety, .. } => {
                let mean = harmonic_mean(self.throughputs.iter().copied());
                mean.map_or(0, |mean| highest_within(ladder, safety * mean))
            }
        }
    }

    /// Handles the delivery of the requested segment. Returns the time of the next request.
    pub fn on_delivered(&mut self, now: Time) -> Time {
        self.play_until(now);
        let rate_bps = self.config.ladder_bps[self.rate.unwrap_or(0)];
        self.note_throughput(rate_bps, now);
        self.counters.segments += 1;
        self.counters.bits_per_s += u128::from(rate_bps);
        self.buffer_ns += self.config.segment_ns;
        let waits = matches!(self.playback, Playback::Starting | Playback::Stalled);
        if waits && (self.is_last || self.buffer_ns >= self.config.startup_ns) {
            self.playback = Playback::Playing;
            self.started_at = self.started_at.or(Some(now));
        }
        if self.is_last {
            return Time::NEVER;
        }
        let full_ns = self.buffer_ns + self.config.segment_ns;
        now + Duration::from_nanos(full_ns.saturating_sub(self.config.limit_ns))
    }

    fn note_throughput(&mut self, rate_bps: u64, now: Time) {
        let AbrConfig::Rate { window, .. } = self.config.abr else { return };
        let bits = 8 * segment_bytes(rate_bps, self.config.segment_ns);
        let seconds = now.saturating_since(self.requested_at).as_secs_lossy();
        if self.throughputs.len() == window as usize {
            self.throughputs.pop_front();
        }
        self.throughputs.push_back(bits as f64 / seconds.max(1e-9));
    }

    /// Plays from `updated` to `now`.
    fn play_until(&mut self, now: Time) {
        let elapsed = now.saturating_since(self.updated);
        self.updated = now;
        if self.playback == Playback::Playing {
            let played = Duration::from_nanos(elapsed.as_nanos().min(self.buffer_ns));
            self.buffer_ns -= played.as_nanos();
            self.counters.played += played;
            let rest = Duration::from_nanos(elapsed.as_nanos() - played.as_nanos());
            if rest > Duration::ZERO {
                self.empty(rest);
            }
        } else if self.playback == Playback::Stalled {
            self.counters.stalled += elapsed;
        }
    }

    /// Handles an empty buffer: a stall for `rest`, or the end of the video.
    fn empty(&mut self, rest: Duration) {
        if self.is_last {
            self.playback = Playback::Ended;
        } else {
            self.playback = Playback::Stalled;
            self.counters.stalls += 1;
            self.counters.stalled += rest;
        }
    }

    /// Makes the segments requested so far the complete video.
    pub fn stop(&mut self) {
        self.is_last = true;
        if self.playback == Playback::Starting && self.buffer_ns > 0 {
            self.playback = Playback::Playing;
        }
    }

    /// Resets the counters. The time to the start of playback is kept.
    pub fn start_measurement(&mut self, now: Time) {
        self.play_until(now);
        self.counters = Counters::default();
    }

    /// Returns the measurements at `now`.
    pub fn report(&self, now: Time) -> VideoReport {
        let mut end = self.clone();
        end.play_until(now);
        let counters = end.counters;
        VideoReport {
            segments: counters.segments,
            sum_of_rates_bps: counters.bits_per_s as f64,
            switches: counters.switches,
            stalls: counters.stalls,
            stalled_s: counters.stalled.as_secs_lossy(),
            played_s: counters.played.as_secs_lossy(),
            startup_s: self
                .started_at
                .map(|at| at.saturating_since(self.first_request).as_secs_lossy()),
        }
    }
}

/// Returns the size of a segment, bytes, rounded up.
fn segment_bytes(rate_bps: u64, segment_ns: u64) -> u64 {
    let bits = (u128::from(rate_bps) * u128::from(segment_ns)).div_ceil(1_000_000_000);
    u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Ladder of 1, 2 and 4 Mbit/s, segments of 2 s, start at 4 s, buffer of 12 s.
    fn config(abr: AbrConfig) -> VideoConfig {
        VideoConfig {
            ladder_bps: vec![1_000_000, 2_000_000, 4_000_000],
            segment_ns: 2 * SECOND,
            startup_ns: 4 * SECOND,
            limit_ns: 12 * SECOND,
            abr,
            segments: None,
        }
    }

    const BY_BUFFER: AbrConfig =
        AbrConfig::Buffer { reservoir_ns: 4 * SECOND, cushion_ns: 6 * SECOND };
    const BY_RATE: AbrConfig = AbrConfig::Rate { window: 3, safety: 0.8 };

    fn client(abr: AbrConfig) -> Video {
        Video::new(Arc::new(config(abr)))
    }

    fn at(seconds: f64) -> Time {
        Time::from_nanos((seconds * 1e9) as u64)
    }

    /// Requests at `from` s and delivers at `until` s. Returns the rate, Mbit/s, and the time of
    /// the next request, s.
    fn segment(video: &mut Video, from: f64, until: f64) -> (u64, f64) {
        let bytes = video.request(at(from));
        let next = video.on_delivered(at(until));
        (bytes * 8 / 2_000_000, next.as_secs_lossy())
    }

    #[test]
    fn playback_starts_at_the_threshold() {
        let mut video = client(BY_BUFFER);
        assert_eq!(segment(&mut video, 1.0, 1.5), (1, 1.5));
        assert_eq!(video.report(at(1.5)).startup_s, None);
        assert_eq!(segment(&mut video, 1.5, 2.5), (1, 2.5));
        let report = video.report(at(3.5));
        assert_eq!((report.startup_s, report.played_s), (Some(1.5), 1.0));
    }

    /// Buffer at the requests: 4, 5.5, 7 and 8.5 s after playback began; f(B) = 1 + (B − 4)/2.
    #[test]
    fn buffer_based_client_climbs_the_ladder() {
        let mut video = client(BY_BUFFER);
        segment(&mut video, 0.0, 0.5);
        segment(&mut video, 0.5, 1.0);
        assert_eq!(segment(&mut video, 1.0, 1.5).0, 1); // B = 4
        assert_eq!(segment(&mut video, 1.5, 2.0).0, 1); // B = 5.5, f = 1.75
        assert_eq!(segment(&mut video, 2.0, 2.5).0, 2); // B = 7, f = 2.5
        assert_eq!(segment(&mut video, 2.5, 3.0).0, 2); // B = 8.5, f = 3.25
        // B = 10: the highest rate. After its delivery B = 11.5: space for a segment in 1.5 s.
        assert_eq!(segment(&mut video, 3.0, 3.5), (4, 5.0));
        let report = video.report(at(3.5));
        assert_eq!((report.segments, report.switches, report.stalls), (7, 2, 0));
        assert_eq!(report.sum_of_rates_bps, 12e6);
    }

    /// Playback from 1 s with 4 s of video: the third segment takes until 7 s, so that the buffer
    /// is empty at 5 s. Playback continues at the threshold of two segments, at 9 s.
    #[test]
    fn stall_lasts_until_the_threshold_is_reached_again() {
        let mut video = client(BY_BUFFER);
        segment(&mut video, 0.0, 0.5);
        segment(&mut video, 0.5, 1.0);
        segment(&mut video, 1.0, 7.0);
        let report = video.report(at(7.0));
        assert_eq!((report.stalls, report.stalled_s, report.played_s), (1, 2.0, 4.0));
        segment(&mut video, 7.0, 9.0);
        let report = video.report(at(10.0));
        assert_eq!((report.stalls, report.stalled_s, report.played_s), (1, 4.0, 5.0));
    }

    #[test]
    fn buffer_that_empties_with_a_delivery_is_no_stall() {
        let mut video = client(BY_BUFFER);
        segment(&mut video, 0.0, 0.5);
        segment(&mut video, 0.5, 1.0);
        segment(&mut video, 1.0, 5.0);
        assert_eq!(video.report(at(5.5)).stalls, 0);
    }

    /// Throughputs of 4, 4 and 8 Mbit/s: harmonic mean 4.8, times 0.8 = 3.84, so 2 Mbit/s. Without
    /// the first: 16/3 · 0.8 = 4.27, so 4 Mbit/s once the window of three has passed it.
    #[test]
    fn rate_based_client_uses_the_harmonic_mean_of_the_last_segments() {
        let mut video = client(BY_RATE);
        assert_eq!(segment(&mut video, 0.0, 0.5).0, 1); // 4 Mbit/s
        assert_eq!(segment(&mut video, 0.5, 1.5).0, 2); // 3.2 allowed; 4 Mbit/s
        assert_eq!(segment(&mut video, 1.5, 2.0).0, 2); // 3.2 allowed; 8 Mbit/s
        assert_eq!(segment(&mut video, 2.0, 2.5).0, 2); // 3.84 allowed; 8 Mbit/s
        assert_eq!(segment(&mut video, 2.5, 3.5).0, 4); // 4, 8, 8: mean 6, 4.8 allowed
    }

    #[test]
    fn video_of_three_segments_ends_without_a_stall() {
        let config = VideoConfig { segments: Some(3), ..config(BY_BUFFER) };
        let mut video = Video::new(Arc::new(config));
        segment(&mut video, 0.0, 0.5);
        segment(&mut video, 0.5, 1.0);
        video.request(at(1.0));
        assert_eq!(video.on_delivered(at(1.5)), Time::NEVER);
        let report = video.report(at(60.0));
        assert_eq!((report.stalls, report.stalled_s, report.played_s), (0, 0.0, 6.0));
    }

    #[test]
    fn stopped_video_plays_its_buffer() {
        let mut video = client(BY_BUFFER);
        segment(&mut video, 0.0, 0.5);
        segment(&mut video, 0.5, 1.0);
        video.stop();
        let report = video.report(at(60.0));
        assert_eq!((report.stalls, report.played_s), (0, 4.0));
    }

    #[test]
    fn measurement_counts_the_rest_of_a_stall() {
        let mut video = client(BY_BUFFER);
        segment(&mut video, 0.0, 0.5);
        segment(&mut video, 0.5, 1.0);
        video.request(at(1.0));
        video.start_measurement(at(6.0));
        video.on_delivered(at(7.0));
        let report = video.report(at(7.0));
        assert_eq!((report.stalls, report.stalled_s, report.segments), (0, 1.0, 1));
        assert_eq!(report.startup_s, Some(1.0));
    }

    #[test]
    fn inconsistent_values_are_rejected() {
        assert_eq!(config(BY_BUFFER).validate(), Ok(()));
        assert_eq!(config(BY_RATE).validate(), Ok(()));
        let fields = |config: VideoConfig| {
            let error = config.validate().expect_err("a problem");
            error.problems().iter().map(|one| one.field.clone()).collect::<Vec<_>>()
        };
        let good = || config(BY_BUFFER);
        assert_eq!(fields(VideoConfig { ladder_bps: vec![], ..good() }), ["ladder_bps"]);
        let ladder_bps = vec![2, 2];
        assert_eq!(fields(VideoConfig { ladder_bps, ..good() }), ["ladder_bps.1"]);
        assert_eq!(fields(VideoConfig { startup_ns: 11 * SECOND, ..good() }), ["limit_ns"]);
        let abr = AbrConfig::Buffer { reservoir_ns: 4 * SECOND, cushion_ns: 9 * SECOND };
        assert_eq!(fields(VideoConfig { abr, ..good() }), ["abr.cushion_ns"]);
        let abr = AbrConfig::Rate { window: 0, safety: 1.5 };
        assert_eq!(fields(VideoConfig { abr, ..good() }), ["abr.window", "abr.safety"]);
    }
}
