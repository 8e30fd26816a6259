//! Tests of the video client.

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

const BY_BUFFER: AbrConfig = AbrConfig::Buffer { reservoir_ns: 4 * SECOND, cushion_ns: 6 * SECOND };
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
    assert_eq!(video.report(at(1.5), Time::NEVER).startup_s, None);
    assert_eq!(segment(&mut video, 1.5, 2.5), (1, 2.5));
    let report = video.report(at(3.5), Time::NEVER);
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
    let report = video.report(at(3.5), Time::NEVER);
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
    let report = video.report(at(7.0), Time::NEVER);
    assert_eq!((report.stalls, report.stalled_s, report.played_s), (1, 2.0, 4.0));
    segment(&mut video, 7.0, 9.0);
    let report = video.report(at(10.0), Time::NEVER);
    assert_eq!((report.stalls, report.stalled_s, report.played_s), (1, 4.0, 5.0));
}

#[test]
fn buffer_that_empties_with_a_delivery_is_no_stall() {
    let mut video = client(BY_BUFFER);
    segment(&mut video, 0.0, 0.5);
    segment(&mut video, 0.5, 1.0);
    segment(&mut video, 1.0, 5.0);
    assert_eq!(video.report(at(5.5), Time::NEVER).stalls, 0);
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
    let report = video.report(at(60.0), Time::NEVER);
    assert_eq!((report.stalls, report.stalled_s, report.played_s), (0, 0.0, 6.0));
}

#[test]
fn stopped_video_plays_its_buffer() {
    let mut video = client(BY_BUFFER);
    segment(&mut video, 0.0, 0.5);
    segment(&mut video, 0.5, 1.0);
    video.stop();
    let report = video.report(at(60.0), Time::NEVER);
    assert_eq!((report.stalls, report.played_s), (0, 4.0));
}

/// Playback from 1 s with 4 s of video: a stall from 5 s. At the stop, the segment requested at 1
/// s is not delivered, or the segment delivered at 7 s is below the start threshold.
#[test]
fn stop_of_the_sender_ends_a_stall() {
    let mut video = client(BY_BUFFER);
    segment(&mut video, 0.0, 0.5);
    segment(&mut video, 0.5, 1.0);
    video.request(at(1.0));
    let report = video.report(at(60.0), at(6.0));
    assert_eq!((report.stalls, report.stalled_s, report.played_s), (1, 1.0, 4.0));
    let report = video.report(at(60.0), at(3.0));
    assert_eq!((report.stalls, report.stalled_s, report.played_s), (0, 0.0, 4.0));
    video.on_delivered(at(7.0));
    video.request(at(7.0));
    let report = video.report(at(60.0), at(8.0));
    assert_eq!((report.stalls, report.stalled_s, report.played_s), (1, 3.0, 6.0));
}

#[test]
fn measurement_counts_the_rest_of_a_stall() {
    let mut video = client(BY_BUFFER);
    segment(&mut video, 0.0, 0.5);
    segment(&mut video, 0.5, 1.0);
    video.request(at(1.0));
    video.start_measurement(at(6.0));
    video.on_delivered(at(7.0));
    let report = video.report(at(7.0), Time::NEVER);
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
