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

    /// Makes the segments requested so far the complete video. A stall ends: the client plays its
    /// buffer.
    pub fn stop(&mut self) {
        self.is_last = true;
        let waits = matches!(self.playback, Playback::Starting | Playback::Stalled);
        if waits && self.buffer_ns > 0 {
            self.playback = Playback::Playing;
        } else if self.playback == Playback::Stalled {
            self.playback = Playback::Ended;
        }
    }

    /// Resets the counters. The time to the start of playback is kept.
    pub fn start_measurement(&mut self, now: Time) {
        self.play_until(now);
        self.counters = Counters::default();
    }

    /// Returns the measurements at `now`. The sender stops at `stop`: a segment that is not delivered
    /// by then does not belong to the video.
    pub fn report(&self, now: Time, stop: Time) -> VideoReport {
        let mut end = self.clone();
        if stop <= now {
            end.play_until(stop.max(self.updated));
            end.stop();
        }
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
mod tests;
