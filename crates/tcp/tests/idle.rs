//! Applications that pause, and the reduction of the window after idle times: RFC 5681 §4.1, RFC
//! 2861.

use crate::script;
use crate::script::{Given, SenderScript, new, new_segments, part};
use airpath_core::Duration;
use airpath_tcp::{Burst, IdleRestart, OnOffConfig, SizeDistribution, TimeDistribution};

fn bursts(bytes: u64, pause_ms: u64) -> OnOffConfig {
    let off = TimeDistribution::Fixed { time_ns: pause_ms * 1_000_000 };
    OnOffConfig { on: Burst::Size(SizeDistribution::Fixed { bytes }), off }
}

/// Creates a sender with bursts of ten segments. The first burst is acknowledged at 100 ms, segment
/// by segment: cwnd is then 14 segments, and the RTO is that of ten samples of 100 ms, at least 400
/// ms.
fn after_a_burst(pause_ms: u64, change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut tcp = script::sender(|given| {
        given.tcp.initial_window = 4000;
        given.tcp.min_rto = Duration::from_millis(400);
        given.tcp.receive_window = 100_000;
        given.application = Some(bursts(10_000, pause_ms));
        change(given);
    });
    tcp.expect(new_segments(0, 4)).at(100);
    for ack in 1..=4 {
        tcp.ack(ack * 1000).anything();
    }
    tcp.at(200);
    for ack in 5..=10 {
        tcp.ack(ack * 1000).nothing();
    }
    tcp.cwnd(14_000);
    tcp
}

#[test]
fn burst_starts_a_pause_after_the_last_ack_of_the_previous_burst() {
    let mut tcp = after_a_burst(1000, |_| ());
    tcp.application_at(1200).expect(new_segments(10, 20)).timer(1600);
    assert_eq!(tcp.completed_at(), None);
}

#[test]
fn last_segment_of_a_burst_may_be_short() {
    let mut tcp = script::sender(|given| given.application = Some(bursts(2300, 50)));
    tcp.expect([new(0), new(1), part(2000, 300)]);
    tcp.at(100).ack(2300).nothing().application_at(150);
    tcp.expect([part(2300, 1000), part(3300, 1000), part(4300, 300)]);
}

#[test]
fn no_burst_begins_after_the_stop() {
    let mut tcp = after_a_burst(1000, |given| given.stop = Some(1000));
    tcp.application_at(1200).nothing().no_timer();
}

/// If a burst has a duration, data that was not sent before the end of the burst is never sent.
#[test]
fn application_may_write_for_a_duration() {
    let time = |ms: u64| TimeDistribution::Fixed { time_ns: ms * 1_000_000 };
    let mut tcp = script::sender(|given| {
        given.tcp.initial_window = 2000;
        given.application = Some(OnOffConfig { on: Burst::Time(time(150)), off: time(300) });
    });
    tcp.expect(new_segments(0, 2)).at(100).ack(1000).expect(new_segments(2, 4));
    tcp.application_at(150).nothing();
    tcp.at(160).ack(2000).nothing().at(200).ack(4000).nothing();
    tcp.application_at(450).expect(new_segments(4, 9));
}

/// The pause is not extended while lost data of the previous burst is retransmitted.
#[test]
fn pause_after_a_timed_burst_does_not_wait_for_acks() {
    let time = |ms: u64| TimeDistribution::Fixed { time_ns: ms * 1_000_000 };
    let mut tcp = script::sender(|given| {
        given.tcp.initial_window = 1000;
        given.application = Some(OnOffConfig { on: Burst::Time(time(50)), off: time(100) });
    });
    tcp.expect([new(0)]).application_at(50).nothing().application_at(150).nothing();
    tcp.at(160).ack(1000).expect(new_segments(1, 3)).application_at(200).nothing();
}

// --- RFC 5681 §4.1 ----------------------------------------------------------------------------

#[test]
fn rfc5681_4_1_window_is_kept_without_the_option() {
    after_a_burst(5000, |_| ()).application_at(5200).expect(new_segments(10, 20)).cwnd(14_000);
}

#[test]
fn rfc5681_4_1_window_is_the_initial_window_after_more_than_an_rto() {
    let mut tcp = after_a_burst(1000, |given| given.tcp.idle_restart = IdleRestart::Restart);
    tcp.application_at(1200).expect(new_segments(10, 14)).cwnd(4000).ssthresh(u64::MAX);
}

/// The last data was sent at 100 ms and the RTO is 400 ms: at 500 ms exactly one RTO has passed.
#[test]
fn rfc5681_4_1_window_is_kept_after_exactly_an_rto() {
    let mut tcp = after_a_burst(300, |given| given.tcp.idle_restart = IdleRestart::Restart);
    tcp.application_at(500).expect(new_segments(10, 20)).cwnd(14_000);
    let mut tcp = after_a_burst(301, |given| given.tcp.idle_restart = IdleRestart::Restart);
    tcp.application_at(501).expect(new_segments(10, 14)).cwnd(4000);
}

/// RW = min(IW, cwnd).
#[test]
fn rfc5681_4_1_window_is_not_raised_to_the_initial_window() {
    let mut tcp = script::sender(|given| {
        given.tcp.initial_window = 4000;
        given.tcp.idle_restart = IdleRestart::Restart;
        given.application = Some(bursts(2000, 5000));
        given.tcp.grow_unused = false;
    });
    tcp.expect(new_segments(0, 2)).timeout_at(1000).expect([script::retransmission(0)]).cwnd(1000);
    tcp.at(1050).ack(2000).nothing().cwnd(2000);
    tcp.application_at(6050).expect(new_segments(2, 4)).cwnd(2000);
}

/// RFC 2861 §3 as counted by Linux: more than one RTO halves the window once, more than two RTOs
/// twice. ssthresh becomes three quarters of the window.
#[test]
fn rfc2861_3_window_decays_with_the_elapsed_rtos() {
    for (pause, cwnd) in [(300, 14_000), (301, 7000), (700, 7000), (701, 4000), (60_000, 4000)] {
        let mut tcp = after_a_burst(pause, |given| {
            given.tcp.idle_restart = IdleRestart::Decay;
            given.tcp.initial_ssthresh = Some(50_000);
        });
        tcp.application_at(200 + pause).anything().cwnd(cwnd).ssthresh(50_000);
    }
    let mut tcp = after_a_burst(60_000, |given| {
        given.tcp.idle_restart = IdleRestart::Decay;
        given.tcp.initial_ssthresh = Some(14_000);
    });
    tcp.application_at(60_200).anything().cwnd(4000).ssthresh(14_000);
}

#[test]
fn rfc2861_3_ssthresh_rises_to_three_quarters_of_the_window() {
    let mut tcp = script::sender(|given| {
        given.in_congestion_avoidance(12_000);
        given.tcp.initial_ssthresh = Some(3000);
        given.tcp.idle_restart = IdleRestart::Decay;
        given.tcp.grow_unused = false;
        given.application = Some(bursts(1000, 100_000));
    });
    tcp.expect([new(0)]).at(100).ack(1000).application_at(100_100).anything().ssthresh(9000);
}

/// A closed receive window also causes an idle time.
#[test]
fn rfc5681_4_1_window_is_reduced_after_a_long_closed_receive_window() {
    let mut tcp = script::sender(|given| {
        given.tcp.initial_window = 3000;
        given.tcp.receive_window = 3000;
        given.tcp.idle_restart = IdleRestart::Restart;
    });
    tcp.expect(new_segments(0, 3)).at(100).ack_with_window(3000, 0).cwnd(4000).nothing();
    tcp.timeout_at(1100)
        .anything()
        .at(1500)
        .window_update(10_000)
        .expect(new_segments(3, 6))
        .cwnd(3000);
}

// --- growth -----------------------------------------------------------------------------------

/// Five segments do not fill a window of 14 segments.
#[test]
fn unused_window_grows_with_grow_unused() {
    for (grow_unused, cwnd) in [(true, 19_000), (false, 14_000)] {
        let mut tcp = script::sender(|given| {
            given.tcp.initial_window = 14_000;
            given.tcp.grow_unused = grow_unused;
            given.application = Some(bursts(5000, 50));
        });
        tcp.expect(new_segments(0, 5)).at(100);
        for ack in 1..=5 {
            tcp.ack(ack * 1000).nothing();
        }
        tcp.cwnd(cwnd);
    }
}

/// A window counts as used if less than a segment is left.
#[test]
fn used_window_grows_regardless_of_grow_unused() {
    let mut tcp = script::sender(|given| {
        given.tcp.initial_window = 5900;
        given.tcp.grow_unused = false;
        given.application = Some(bursts(5000, 50));
    });
    tcp.expect(new_segments(0, 5)).at(100).ack(5000).cwnd(6900);
}
