//! Tests of the rules of BBRv3, named after sections and functions of draft-ietf-ccwg-bbr-06.

use super::*;
use crate::congestion::RateSample;
use crate::congestion::bbr::testing::{Acks, MSS, ROUND, Round, setup};
use airpath_core::Seed;

#[path = "more_tests.rs"]
mod more;

struct Bench {
    bbr: Bbr,
    acks: Acks,
}

impl Bench {
    /// A connection whose handshake took 40 ms.
    fn new() -> Bench {
        let mut bbr = Bbr::new(BbrConfig::default(), &setup(), Seed::new(1, 0, "bbr").stream());
        bbr.on_open(Time::ZERO, Some(Duration::from_millis(40)));
        Bench { bbr, acks: Acks::new() }
    }

    fn round(&mut self, round: Round) {
        self.bbr.on_ack(&self.acks.round(round));
    }

    /// The same with the rules of Google's kernel.
    fn linux() -> Bench {
        let mut bench = Bench::new();
        bench.bbr.config.variant = BbrVariant::Linux;
        bench
    }

    /// A connection in `mode` at 10 Mbit/s and 40 ms, after a Startup that ended with a plateau.
    fn at(mode: Mode) -> Bench {
        Bench::new().until(mode, ROUND)
    }

    /// Repeats `round` until the connection is in `mode`.
    fn until(mut self, mode: Mode, round: Round) -> Bench {
        for _ in 0..200 {
            if self.bbr.mode == mode {
                return self;
            }
            self.round(round);
        }
        panic!("no {mode:?}");
    }

    /// Loses `count` separate segments of which the last one has lost `lost` of 100 segments.
    fn lose(&mut self, count: u64, lost: u64) {
        for index in 0..count {
            let start = 2 * index * MSS;
            let segment = self.acks.lost_segment(start, 100 * MSS, lost * MSS);
            self.bbr.on_segment_lost(&segment);
        }
    }

    fn mode(&self) -> Mode {
        self.bbr.mode
    }
}

// --- Startup and Drain ---------------------------------------------------------------------------

/// `InitPacingRate`: 2.77 times ten segments per RTT of 40 ms, with the margin.
#[test]
fn init_pacing_rate() {
    let bench = Bench::new();
    let expected = bench.bbr.units.pacing_rate(2_000_000, 2.77);
    assert_eq!(bench.bbr.pacing_rate(), Some(expected));
}

/// `CheckFullBWReached`: three round trips with less than 25 % growth end Startup.
#[test]
fn check_full_bw_reached() {
    let mut bench = Bench::new();
    for bandwidth in [2_000_000, 2_600_000, 3_400_000, 4_400_000] {
        bench.round(Round { bandwidth, ..ROUND });
        assert_eq!((bench.mode(), bench.bbr.full.count), (Mode::Startup, 0));
    }
    for mode in [Mode::Startup, Mode::Startup, Mode::Drain] {
        bench.round(Round { bandwidth: 5_000_000, inflight: 100 * MSS, ..ROUND });
        assert_eq!(bench.mode(), mode);
    }
}

/// `CheckFullBWReached`: application-limited round trips do not end Startup.
#[test]
fn app_limited_flow_stays_in_startup() {
    let mut bench = Bench::new();
    for _ in 0..50 {
        bench.round(Round { app_limited: true, ..ROUND });
    }
    assert_eq!(bench.mode(), Mode::Startup);
}

/// `CheckStartupHighLoss`: a round trip in fast recovery with six lost ranges and more than 2 % of
/// loss ends Startup; the bound is the larger of BDP and delivered bytes.
#[test]
fn check_startup_high_loss() {
    for (ranges, lost, ends) in [(6, 3, true), (5, 3, false), (6, 1, false)] {
        let mut bench = Bench::new();
        bench.round(Round { bandwidth: 4_000_000, ..ROUND });
        bench.round(Round { bandwidth: 8_000_000, ..ROUND });
        bench.lose(ranges, lost);
        bench.bbr.on_loss(&LossEvent::new(bench.acks.now, 0, 0));
        let recovery = Round {
            bandwidth: 16_000_000,
            phase: RecoveryPhase::Recovery,
            lost: lost * MSS,
            tx_in_flight: 100 * MSS,
            inflight: 120 * MSS,
            ..ROUND
        };
        bench.round(recovery);
        let (expected, bound) =
            if ends { (Mode::Drain, 80 * MSS) } else { (Mode::Startup, u64::MAX) };
        assert_eq!((bench.mode(), bench.bbr.bounds.inflight_longterm), (expected, bound));
    }
}

/// `CheckDrainDone`: Drain ends when the BDP is in the network, here 50 segments. The same ACK ends
/// DOWN.
#[test]
fn check_drain_done_by_inflight() {
    let mut bench = Bench::new();
    while bench.mode() != Mode::Drain {
        bench.round(Round { inflight: 100 * MSS, ..ROUND });
    }
    assert_eq!(bench.bbr.gains(), (0.5, 2.0));
    bench.round(Round { inflight: 51 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Drain);
    bench.round(Round { inflight: 50 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Cruise);
}

/// `CheckDrainDone`: Drain ends after three round trips.
#[test]
fn check_drain_done_by_rounds() {
    let mut bench = Bench::new();
    while bench.mode() != Mode::Drain {
        bench.round(Round { inflight: 100 * MSS, ..ROUND });
    }
    for mode in [Mode::Drain, Mode::Drain, Mode::Drain, Mode::Down] {
        bench.round(Round { inflight: 100 * MSS, ..ROUND });
        assert_eq!(bench.mode(), mode);
    }
}

// --- ProbeBW -------------------------------------------------------------------------------------

/// `IsTimeToCruise`: at most the BDP is in the network, and headroom of 15 % is free.
#[test]
fn is_time_to_cruise() {
    let mut bench = Bench::at(Mode::Down);
    bench.bbr.bounds.inflight_longterm = 50 * MSS;
    assert_eq!(bench.bbr.inflight_with_headroom(), 42_500);
    bench.round(Round { inflight: 43 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Down);
    bench.round(Round { inflight: 42 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Cruise);
}

/// `IsTimeToProbeBW`: the wait is 2 s to 3 s, or at most 63 round trips or the BDP in segments.
#[test]
fn is_time_to_probe_bw_by_time() {
    for replication in 0..20 {
        let mut bench = Bench::at(Mode::Cruise);
        bench.bbr.stream = Seed::new(1, replication, "wait").stream();
        bench.bbr.start_down(bench.acks.now);
        let begun = bench.acks.now;
        // 100 ms per round trip: 50 round trips, as many as the BDP has segments, take 5 s.
        while bench.mode() != Mode::Refill {
            bench.round(Round { rtt: Duration::from_millis(100), ..ROUND });
        }
        let waited = bench.acks.now.saturating_since(begun).as_secs_lossy();
        assert!((2.0..3.2).contains(&waited), "{waited}");
    }
}

/// `IsRenoCoexistenceProbeTime`: with a BDP of 10 segments after 9 or 10 round trips.
#[test]
fn is_reno_coexistence_probe_time() {
    let small = Round { bandwidth: 2_000_000, inflight: 10 * MSS, tx_in_flight: 10 * MSS, ..ROUND };
    let mut bench = Bench::new();
    while bench.mode() != Mode::Down {
        bench.round(small);
    }
    let mut rounds = 0;
    while bench.mode() != Mode::Refill {
        bench.round(small);
        rounds += 1;
    }
    assert!((9..=11).contains(&rounds), "{rounds}");
}

/// `StartProbeBW_REFILL` resets the short-term bounds. One round trip later UP begins, with gains
/// 1.25 and 2.25.
#[test]
fn refill_lasts_a_round_trip() {
    let mut bench = Bench::at(Mode::Cruise);
    bench.bbr.bounds.bw_shortterm = 5_000_000;
    bench.bbr.bounds.inflight_shortterm = 20 * MSS;
    while bench.mode() == Mode::Cruise {
        bench.round(ROUND);
    }
    assert_eq!((bench.mode(), bench.bbr.bounds), (Mode::Refill, Bounds::default()));
    bench.round(ROUND);
    assert_eq!((bench.mode(), bench.bbr.gains()), (Mode::Up, (1.25, 2.25)));
    assert!(bench.bbr.probe.is_sample);
}

/// `IsTimeToGoDown`: UP ends after three round trips without growth of the bandwidth.
#[test]
fn up_ends_with_a_plateau() {
    let mut bench = Bench::at(Mode::Up);
    for mode in [Mode::Up, Mode::Up, Mode::Down] {
        bench.round(ROUND);
        assert_eq!(bench.mode(), mode);
    }
    assert!(!bench.bbr.probe.was_too_high);
}

/// `IsTimeToGoDown`: the plateau does not count while `inflight_longterm` limits the window.
#[test]
fn bound_window_does_not_count_as_a_plateau() {
    let mut bench = Bench::at(Mode::Up);
    for _ in 0..4 {
        bench.bbr.bounds.inflight_longterm = 60 * MSS;
        bench.bbr.cwnd = 70 * MSS;
        bench.round(ROUND);
        assert_eq!(bench.mode(), Mode::Up);
    }
}

/// `HandleInflightTooHigh`: more than 2 % of loss ends UP. The bound is the inflight at the loss
/// prefix, at least 0.7 times the BDP. Later losses of the probe change nothing.
#[test]
fn handle_inflight_too_high() {
    let mut bench = Bench::at(Mode::Up);
    bench.lose(1, 2);
    assert!(!bench.bbr.probe.was_too_high);
    bench.lose(1, 3);
    // 99 000 bytes before, 2000 of them lost: a prefix of −20 bytes.
    let bound = bench.bbr.bounds.inflight_longterm;
    assert_eq!((bound, bench.bbr.probe.was_too_high), (98_979, true));
    bench.lose(1, 50);
    assert_eq!(bench.bbr.bounds.inflight_longterm, bound);
    bench.round(Round { inflight: 60 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Down);
}

/// `HandleInflightTooHigh`: the bound is not reduced below 0.7 times the BDP of 50 segments.
#[test]
fn bound_is_at_least_beta_times_the_bdp() {
    let mut bench = Bench::at(Mode::Up);
    let segment = bench.acks.lost_segment(0, 20 * MSS, 5 * MSS);
    bench.bbr.on_segment_lost(&segment);
    assert_eq!(bench.bbr.bounds.inflight_longterm, 35 * MSS);
}

/// `IsTimeToGoDown` and `AdaptLongTermModel`: after a probe with excessive loss, the next probe
/// stops at the bound; if a round trip of feedback is clean, it continues with REFILL.
#[test]
fn precautionary_probe_is_repeated_without_loss() {
    let mut bench = Bench::at(Mode::Up);
    bench.bbr.probe.was_too_high = true;
    bench.bbr.bounds.inflight_longterm = 80 * MSS;
    bench.round(Round { inflight: 80 * MSS, ..ROUND });
    assert_eq!((bench.mode(), bench.bbr.probe.was_precautionary), (Mode::Down, true));
    bench.round(ROUND);
    assert_eq!((bench.mode(), bench.bbr.probe.was_precautionary), (Mode::Refill, false));
}

/// `ProbeInflightLongtermUpward`: the bound grows by 1, 2, 4 … segments per round trip if it limits
/// the flow.
#[test]
fn raise_inflight_longterm_slope() {
    let mut bench = Bench::at(Mode::Up);
    let mut grown = Vec::new();
    bench.bbr.probe.acked_per_step = 100 * MSS;
    for _ in 0..4 {
        let bound = 100 * MSS;
        bench.bbr.bounds.inflight_longterm = bound;
        bench.bbr.cwnd = bound;
        bench.bbr.probe.up_acked = 0;
        // A window of 100 segments is acknowledged.
        bench.round(Round { bandwidth: 20_000_000, ..ROUND });
        grown.push((bench.bbr.bounds.inflight_longterm - bound) / MSS);
    }
    assert_eq!(grown, [1, 2, 4, 8]);
}

/// `AdaptLongTermModel`: a safe sample raises the bound to the bytes in the network at its send
/// time.
#[test]
fn safe_sample_raises_inflight_longterm() {
    let mut bench = Bench::at(Mode::Cruise);
    bench.bbr.bounds.inflight_longterm = 40 * MSS;
    bench.round(Round { tx_in_flight: 45 * MSS, ..ROUND });
    assert_eq!(bench.bbr.bounds.inflight_longterm, 45 * MSS);
    bench.round(Round { tx_in_flight: 60 * MSS, lost: 2 * MSS, ..ROUND });
    assert_eq!(bench.bbr.bounds.inflight_longterm, 45 * MSS);
}

/// `AdvanceMaxBwFilter`: the maximum is that of the last two cycles.
#[test]
fn advance_max_bw_filter() {
    let mut bbr = Bench::new().bbr;
    bbr.max_bw = [0, 100];
    bbr.advance_max_bw_filter();
    assert_eq!(bbr.max_bw(), 100);
    bbr.max_bw[1] = 60;
    bbr.advance_max_bw_filter();
    assert_eq!(bbr.max_bw(), 60);
    bbr.advance_max_bw_filter();
    assert_eq!(bbr.max_bw(), 60);
}

// --- bounds by loss ------------------------------------------------------------------------------

/// `AdaptLowerBoundsFromCongestion`: 0.7 of bandwidth and window per round trip with a loss, not
/// below the latest deliveries.
#[test]
fn adapt_lower_bounds_from_congestion() {
    let mut bench = Bench::at(Mode::Cruise);
    let cwnd = bench.bbr.cwnd;
    let slow = Round { bandwidth: 4_000_000, inflight: 30 * MSS, tx_in_flight: 30 * MSS, ..ROUND };
    bench.round(slow);
    bench.lose(1, 1);
    bench.round(Round { lost: MSS, ..slow });
    let expected = (7_000_000, bench.bbr.reduced(cwnd));
    let found = (bench.bbr.bounds.bw_shortterm, bench.bbr.bounds.inflight_shortterm);
    assert!(found.0.abs_diff(expected.0) < 1000, "{found:?}");
    assert!(found.1 <= expected.1 && found.1 >= 20 * MSS, "{found:?} {expected:?}");
    bench.round(slow);
    assert_eq!(bench.bbr.bounds.bw_shortterm, found.0);
}

/// `AdaptLowerBoundsFromCongestion`: no reduction while the flow probes.
#[test]
fn lower_bounds_stay_while_probing() {
    let mut bench = Bench::at(Mode::Refill);
    bench.lose(1, 1);
    bench.round(Round { lost: MSS, ..ROUND });
    assert_eq!(bench.bbr.bounds.bw_shortterm, u64::MAX);
}

/// `BoundCwndForModel`: 0.85 of the long-term bound in CRUISE, all of it in UP.
#[test]
fn bound_cwnd_for_model() {
    for (mode, expected) in [(Mode::Cruise, 51_000), (Mode::Up, 60_000)] {
        let mut bench = Bench::at(mode);
        bench.bbr.bounds.inflight_longterm = 60 * MSS;
        bench.round(Round { tx_in_flight: 10 * MSS, cwnd_limited: false, ..ROUND });
        assert_eq!((bench.mode(), bench.bbr.cwnd()), (mode, expected));
    }
}

/// A mark (RFC 3168) counts as a loss: here it ends UP.
#[test]
fn mark_counts_as_a_loss() {
    let mut bench = Bench::at(Mode::Up);
    bench.bbr.on_ecn(&LossEvent::new(bench.acks.now, 0, 0));
    assert_eq!(bench.bbr.bounds.inflight_longterm, 35 * MSS);
    bench.round(Round { inflight: 60 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Down);
}

// --- ProbeRTT, recovery, idle --------------------------------------------------------------------

/// `CheckProbeRTT`: ProbeRTT begins 5 s after the last minimum, with half of the BDP, and lasts 200
/// ms and a round trip. It continues with CRUISE.
#[test]
fn check_probe_rtt() {
    let mut bench = Bench::at(Mode::Cruise);
    let longer = Round { rtt: Duration::from_millis(45), ..ROUND };
    while bench.mode() != Mode::ProbeRtt {
        bench.round(longer);
    }
    assert!((5.0..5.3).contains(&bench.acks.now.as_secs_lossy()));
    assert_eq!((bench.bbr.cwnd(), bench.bbr.limits_itself()), (25 * MSS, true));
    let small = Round { inflight: 25 * MSS, bandwidth: 5_000_000, app_limited: true, ..ROUND };
    bench.round(small);
    let begun = bench.acks.now;
    while bench.mode() == Mode::ProbeRtt {
        bench.round(small);
    }
    assert_eq!(bench.mode(), Mode::Cruise);
    assert_eq!(bench.acks.now.saturating_since(begun), Duration::from_millis(240));
    assert!(bench.bbr.cwnd() > 90 * MSS);
}

/// `OnEnterRTO`, `RestoreCwnd`: one segment, and the end of the recovery restores the window.
#[test]
fn timeout_leaves_one_segment_until_its_end() {
    let mut bench = Bench::at(Mode::Cruise);
    let before = bench.bbr.cwnd();
    bench.bbr.on_rto(&LossEvent::new(bench.acks.now, before, before));
    assert_eq!(bench.bbr.cwnd(), MSS);
    bench.round(Round { phase: RecoveryPhase::Loss, inflight: MSS, bandwidth: 1_000_000, ..ROUND });
    bench.round(ROUND);
    assert!(bench.bbr.cwnd() >= before);
}

/// `HandleSpuriousLossDetection`: the bounds are restored, and UP is repeated.
#[test]
fn spurious_loss_returns_to_refill() {
    let mut bench = Bench::at(Mode::Up);
    let before = bench.bbr.bounds;
    bench.lose(1, 10);
    bench.round(Round { lost: 10 * MSS, inflight: 60 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Down);
    bench.bbr.on_undo(&UndoEvent { now: bench.acks.now, cwnd: 1, ssthresh: 1 });
    assert_eq!((bench.mode(), bench.bbr.bounds), (Mode::Refill, before));
}

/// `HandleRestartFromIdle`: paces at the bandwidth and skips ProbeRTT.
#[test]
fn handle_restart_from_idle() {
    let mut bench = Bench::at(Mode::Up);
    bench.acks.now = bench.acks.now + Duration::from_secs(20);
    let cwnd = bench.bbr.cwnd();
    bench.bbr.on_idle(&IdleEvent { now: bench.acks.now, cwnd: 1, ssthresh: 0 });
    let expected = bench.bbr.units.pacing_rate(bench.bbr.bw(), 1.0);
    assert_eq!((bench.bbr.cwnd(), bench.bbr.pacing_rate()), (cwnd, Some(expected)));
    bench.round(ROUND);
    assert_ne!(bench.mode(), Mode::ProbeRtt);
}

/// `InflightAtLoss`: 98 segments precede, one of them lost. 0.02 · 98 000 − 1000 = 960 bytes of the
/// last segment may be lost, 979 with those bytes in flight.
#[test]
fn inflight_at_loss_is_within_the_segment() {
    let mut bench = Bench::at(Mode::Up);
    let segment = bench.acks.lost_segment(0, 99 * MSS, 2 * MSS);
    bench.bbr.on_segment_lost(&segment);
    assert_eq!(bench.bbr.bounds.inflight_longterm, 98_979);
}
