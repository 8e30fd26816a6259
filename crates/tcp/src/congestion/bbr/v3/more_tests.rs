//! Tests of further transitions of BBRv3, and of the rules of Google's kernel, named after its
//! functions.

use super::*;

/// An ACK before which the network was empty, because Linux compares the bytes before the ACK.
const EMPTY: Round = Round { inflight: 0, ..ROUND };

/// `ExitProbeRTT`: ProbeRTT returns to Startup if the pipe was never full.
#[test]
fn probe_rtt_returns_to_startup_before_the_pipe_is_full() {
    let mut bench = Bench::new();
    let limited = Round { app_limited: true, rtt: Duration::from_millis(45), ..ROUND };
    while bench.mode() != Mode::ProbeRtt {
        assert_eq!(bench.mode(), Mode::Startup);
        bench.round(limited);
    }
    while bench.mode() == Mode::ProbeRtt {
        bench.round(Round { inflight: 10 * MSS, ..limited });
    }
    assert_eq!((bench.mode(), bench.bbr.gains().0), (Mode::Startup, 2.77));
}

/// `HandleSpuriousLossDetection`: Startup that ended by a spurious loss continues.
#[test]
fn spurious_loss_returns_to_startup() {
    for (mut bench, expected) in [(Bench::new(), Mode::Startup), (Bench::linux(), Mode::Drain)] {
        for bandwidth in [4_000_000, 8_000_000] {
            bench.round(Round { bandwidth, ..ROUND });
        }
        bench.bbr.on_loss(&LossEvent::new(bench.acks.now, 0, 0));
        for lost in 1..=6 {
            bench.lose(1, lost);
            bench.bbr.losses.last_lost_end = None;
            let net = InflightSample { newly_lost: MSS, ..InflightSample::default() };
            bench.bbr.check_startup_done(&AckEvent::of_new_data(bench.acks.now, 0), &net);
        }
        let recovery = Round { phase: RecoveryPhase::Recovery, lost: 6 * MSS, ..ROUND };
        bench.round(Round { bandwidth: 16_000_000, inflight: 200 * MSS, ..recovery });
        assert_eq!(bench.mode(), Mode::Drain);
        bench.bbr.on_undo(&UndoEvent { now: bench.acks.now, cwnd: 1, ssthresh: 1 });
        assert_eq!(bench.mode(), expected);
    }
}

/// `UpdateProbeBWCyclePhase`: while the queue does not drain, REFILL follows DOWN after the wait.
#[test]
fn refill_follows_down_while_the_queue_stays() {
    let mut bench = Bench::at(Mode::Down);
    let mut rounds = 0;
    while bench.mode() == Mode::Down {
        bench.round(Round { inflight: 80 * MSS, ..ROUND });
        rounds += 1;
    }
    // The BDP has 50 segments, and the count begins with 0 or 1.
    assert_eq!(bench.mode(), Mode::Refill);
    assert!((49..=51).contains(&rounds), "{rounds}");
}

/// `bbr_check_drain`: Drain has no limit of round trips.
#[test]
fn bbr_check_drain() {
    let mut bench = Bench::linux().until(Mode::Drain, Round { inflight: 100 * MSS, ..ROUND });
    assert_eq!(bench.bbr.gains(), (1000.0 / 2885.0, 2.0));
    for _ in 0..10 {
        bench.round(Round { inflight: 100 * MSS, ..ROUND });
        assert_eq!(bench.mode(), Mode::Drain);
    }
    bench.round(EMPTY);
    assert_ne!(bench.mode(), Mode::Drain);
}

/// `bbr_check_full_bw_reached`: an ACK within a round trip raises the baseline.
#[test]
fn bbr_check_full_bw_reached() {
    for (mut bench, expected) in [(Bench::new(), 4_000_000), (Bench::linux(), 8_000_000)] {
        bench.round(Round { bandwidth: 4_000_000, ..ROUND });
        let mut event = bench.acks.round(Round { bandwidth: 8_000_000, ..ROUND });
        event.rate = event.rate.map(|rate| RateSample { prior_delivered: 0, ..rate });
        bench.bbr.on_ack(&event);
        assert_eq!(bench.bbr.full.bandwidth, expected);
    }
}

/// `bbr_is_inflight_too_high`: 5/256 of 100 segments are 1.95, rounded down to one.
#[test]
fn bbr_is_inflight_too_high() {
    for (bench, expected) in
        [(Bench::new(), [false, false, true]), (Bench::linux(), [false, true, true])]
    {
        let found = [1, 2, 3].map(|lost| bench.bbr.is_too_high(lost * MSS, 100 * MSS));
        assert_eq!(found, expected);
    }
}

/// `bbr_inflight_hi_from_lost_skb`: the budget of 99 segments is two, of which one was lost before.
#[test]
fn bbr_inflight_hi_from_lost_skb() {
    let mut bench = Bench::linux().until(Mode::Up, EMPTY);
    bench.lose(1, 2);
    assert_eq!(bench.bbr.bounds.inflight_longterm, 100 * MSS);
}

/// `bbr_start_bw_probe_cruise`: the short-term bound is at most the long-term one.
#[test]
fn bbr_start_bw_probe_cruise() {
    let mut bench = Bench::linux();
    bench.bbr.bounds =
        Bounds { inflight_longterm: 50 * MSS, inflight_shortterm: 70 * MSS, ..Bounds::default() };
    bench.bbr.start_cruise();
    assert_eq!(bench.bbr.bounds.inflight_shortterm, 50 * MSS);
}

/// `bbr_set_state`: a timeout bounds the bytes in the network by the window before, and its end
/// restores the window. The end of fast recovery does not.
#[test]
fn bbr_set_state() {
    let mut bench = Bench::linux().until(Mode::Cruise, EMPTY);
    let before = bench.bbr.cwnd();
    bench.bbr.on_rto(&LossEvent::new(bench.acks.now, before, before));
    assert_eq!((bench.bbr.cwnd(), bench.bbr.bounds.inflight_shortterm), (MSS, before));
    bench.round(Round { phase: RecoveryPhase::Loss, inflight: MSS, bandwidth: 1_000_000, ..ROUND });
    bench.round(ROUND);
    assert!(bench.bbr.cwnd() >= 70 * MSS, "{}", bench.bbr.cwnd());
}

/// `bbr_update_min_rtt`: an equal minimum restarts the window of 10 s.
#[test]
fn bbr_update_min_rtt() {
    for (mut bench, at) in [(Bench::new(), 0), (Bench::linux(), 6)] {
        bench.bbr.update_min_rtt(Time::from_secs(6), Some(Duration::from_millis(40)));
        assert_eq!(bench.bbr.min_rtt.value, Some(Duration::from_millis(40)));
        bench.bbr.update_min_rtt(Time::from_secs(12), Some(Duration::from_millis(50)));
        let expected = if at == 0 { 50 } else { 40 };
        assert_eq!(bench.bbr.min_rtt.value, Some(Duration::from_millis(expected)));
    }
}

/// `bbr_ack_aggregation_cwnd`: at most 100 ms of data.
#[test]
fn bbr_ack_aggregation_cwnd() {
    let mut bench = Bench::linux().until(Mode::Cruise, EMPTY);
    let acked = (bench.acks.now, 500 * MSS, 10_000_000);
    bench.bbr.aggregation.on_ack(acked, 1000 * MSS, (false, false));
    assert_eq!(bench.bbr.aggregation_window(), 125 * MSS);
}

/// `bbr_tso_segs_generic`: 1/1024 s of 10 Mbit/s is less than a segment, and 64 KiB are halved for
/// each 512 µs of the minimum RTT.
#[test]
fn bbr_tso_segs_generic() {
    let mut bench = Bench::linux();
    bench.bbr.pacing.set(bench.bbr.units, Rate(10_000_000));
    assert_eq!((bench.bbr.quantum(), bench.bbr.burst_size().extra), (2 * MSS, 0));
    bench.bbr.min_rtt.value = Some(Duration::from_nanos(1_024_000));
    assert_eq!((bench.bbr.quantum(), bench.bbr.burst_size().extra), (17 * MSS, 16_384));
}

/// Each parameter outside its range is rejected.
#[test]
fn parameters_have_ranges() {
    let default = BbrConfig::default();
    assert!(default.check().is_ok());
    for config in [
        BbrConfig { startup_gain: 0.9, ..default },
        BbrConfig { drain_gain: Some(0.0), ..default },
        BbrConfig { down_gain: Some(1.1), ..default },
        BbrConfig { loss_threshold: 0.0, ..default },
        BbrConfig { loss_threshold: 1.0, ..default },
        BbrConfig { beta: 1.5, ..default },
        BbrConfig { headroom: 1.0, ..default },
        BbrConfig { probe_rounds: 0, ..default },
        BbrConfig { probe_rtt_interval_ns: 0, ..default },
    ] {
        assert!(config.check().is_err(), "{config:?}");
    }
}

/// `HandleSpuriousLossDetection`: a timeout in UP that is undone by the next ACK. Its losses have
/// bounded the bytes in the network, and would end UP with that ACK.
#[test]
fn spurious_timeout_returns_to_refill() {
    let mut bench = Bench::at(Mode::Up);
    let before = bench.bbr.bounds;
    bench.lose(1, 100);
    bench.bbr.on_rto(&LossEvent::new(bench.acks.now, 0, 0));
    assert_ne!(bench.bbr.bounds, before);
    bench.bbr.on_undo(&UndoEvent { now: bench.acks.now, cwnd: 1, ssthresh: 1 });
    assert_eq!((bench.mode(), bench.bbr.bounds), (Mode::Refill, before));
    bench.round(ROUND);
    assert_ne!(bench.mode(), Mode::Down);
}

/// `UpdateMaxBw`: an application-limited sample counts only if it is not below the maximum, also in a
/// later cycle.
#[test]
fn app_limited_samples_only_raise_the_bandwidth() {
    let mut bench = Bench::at(Mode::Cruise);
    bench.bbr.max_bw = [10_000_000, 0];
    let limited = Round { app_limited: true, ..ROUND };
    bench.round(Round { bandwidth: 8_000_000, ..limited });
    assert_eq!(bench.bbr.max_bw, [10_000_000, 0]);
    bench.round(Round { bandwidth: 12_000_000, ..limited });
    assert_eq!(bench.bbr.max_bw, [10_000_000, 12_000_000]);
}

/// `UpdateACKAggregation`: in Startup the estimate of the first round trip, ten segments, is that of
/// two slots of a round trip each.
#[test]
fn ack_aggregation_has_slots_of_a_round_trip_in_startup() {
    let mut bench = Bench::new();
    let mut after = |bandwidth| {
        bench.round(Round { bandwidth, ..ROUND });
        assert_eq!(bench.mode(), Mode::Startup);
        bench.bbr.aggregation.extra_acked()
    };
    assert_eq!([10_000_000, 800_000, 800_000].map(&mut after), [10 * MSS, 10 * MSS, 4 * MSS]);
}

/// `bbr_can_use_ecn`: without accurate feedback, Google's kernel does not react to marks.
#[test]
fn linux_ignores_marks_without_accurate_feedback() {
    let mut bench = Bench::linux().until(Mode::Up, EMPTY);
    let bounds = bench.bbr.bounds;
    bench.bbr.on_ecn(&LossEvent::new(bench.acks.now, 0, 0));
    bench.round(EMPTY);
    assert_eq!((bench.mode(), bench.bbr.bounds), (Mode::Up, bounds));
}

/// Gains of pacing rate and window: the table of states of the draft, `bbr_pacing_gain`,
/// `bbr_drain_gain` of Google's kernel.
#[test]
fn gains_of_the_states() {
    for (mut bench, drain, down) in
        [(Bench::new(), 0.5, 0.9), (Bench::linux(), 1000.0 / 2885.0, 0.91)]
    {
        for (mode, gains) in [
            (Mode::Startup, (2.77, 2.0)),
            (Mode::Drain, (drain, 2.0)),
            (Mode::Down, (down, 2.0)),
            (Mode::Cruise, (1.0, 2.0)),
            (Mode::Refill, (1.0, 2.0)),
            (Mode::Up, (1.25, 2.25)),
            (Mode::ProbeRtt, (1.0, 0.5)),
        ] {
            bench.bbr.mode = mode;
            assert_eq!(bench.bbr.gains(), gains, "{mode:?}");
        }
    }
}

/// `bbr_check_loss_too_high_in_startup`: the kernel counts ACKs that have revealed losses, not losses
/// that a timer has detected.
#[test]
fn losses_of_a_timer_do_not_end_startup_in_linux() {
    for (newly_lost, expected) in [(MSS, Mode::Drain), (0, Mode::Startup)] {
        let mut bench = Bench::linux();
        for bandwidth in [4_000_000, 8_000_000] {
            bench.round(Round { bandwidth, ..ROUND });
        }
        for lost in 1..=6 {
            bench.lose(1, lost);
            let net = InflightSample { newly_lost, ..InflightSample::default() };
            bench.bbr.check_startup_done(&AckEvent::of_new_data(bench.acks.now, 0), &net);
        }
        let recovery = Round { phase: RecoveryPhase::Recovery, lost: 6 * MSS, ..ROUND };
        bench.round(Round { bandwidth: 16_000_000, inflight: 200 * MSS, ..recovery });
        assert_eq!(bench.mode(), expected);
    }
}
