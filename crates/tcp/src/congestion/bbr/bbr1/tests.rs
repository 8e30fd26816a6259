//! Tests of the rules of BBRv1, named after functions of Linux's tcp_bbr.

use super::*;
use crate::congestion::bbr::testing::{Acks, MSS, ROUND, Round, setup};
use airpath_core::Seed;

struct Bench {
    bbr: Bbr1,
    acks: Acks,
}

impl Bench {
    /// A connection whose handshake took 40 ms.
    fn new() -> Bench {
        let mut bbr = Bbr1::new(&setup(), Seed::new(1, 0, "bbr").stream());
        bbr.on_open(Time::ZERO, Some(Duration::from_millis(40)));
        Bench { bbr, acks: Acks::new() }
    }

    fn round(&mut self, round: Round) {
        self.bbr.on_ack(&self.acks.round(round));
    }

    /// A connection in ProbeBW at 10 Mbit/s and 40 ms.
    fn probing() -> Bench {
        let mut bench = Bench::new();
        for _ in 0..5 {
            bench.round(ROUND);
        }
        assert_eq!(bench.bbr.mode, Mode::ProbeBw);
        bench
    }

    fn mode(&self) -> Mode {
        self.bbr.mode
    }
}

/// `bbr_init_pacing_rate_from_rtt`: 2.89 times ten segments per RTT of 40 ms, with margin.
#[test]
fn init_pacing_rate_from_rtt() {
    let bench = Bench::new();
    let expected = bench.bbr.units.pacing_rate(2_000_000, HIGH_GAIN);
    assert_eq!(bench.bbr.pacing_rate(), Some(expected));
}

/// `bbr_check_full_bw_reached`: growth by a quarter continues Startup.
#[test]
fn startup_continues_while_the_bandwidth_grows_by_a_quarter() {
    let mut bench = Bench::new();
    for bandwidth in [2_000_000, 2_600_000, 3_400_000, 4_400_000, 5_600_000] {
        bench.round(Round { bandwidth, ..ROUND });
        assert_eq!((bench.mode(), bench.bbr.full_count), (Mode::Startup, 0));
    }
    for count in 1..3 {
        bench.round(Round { bandwidth: 6_500_000, ..ROUND });
        assert_eq!((bench.mode(), bench.bbr.full_count), (Mode::Startup, count));
    }
    bench.round(Round { bandwidth: 6_500_000, ..ROUND });
    assert_eq!(bench.mode(), Mode::Drain);
}

/// `bbr_check_full_bw_reached`: application-limited samples do not count.
#[test]
fn app_limited_rounds_do_not_end_startup() {
    let mut bench = Bench::new();
    for _ in 0..20 {
        bench.round(Round { app_limited: true, ..ROUND });
    }
    assert_eq!(bench.mode(), Mode::Startup);
}

/// `bbr_check_drain`: Drain paces at 0.347 of the bandwidth until the BDP is in the network. The
/// BDP is 50 segments, the budget three bursts of two segments.
#[test]
fn drain_ends_when_the_bdp_is_in_the_network() {
    let mut bench = Bench::new();
    for _ in 0..4 {
        bench.round(Round { inflight: 140 * MSS, ..ROUND });
    }
    assert_eq!((bench.mode(), bench.bbr.gains()), (Mode::Drain, (DRAIN_GAIN, HIGH_GAIN)));
    assert_eq!(bench.bbr.inflight_for_max(1.0), 56 * MSS);
    bench.round(Round { inflight: 57 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::Drain);
    bench.round(Round { inflight: 56 * MSS, ..ROUND });
    assert_eq!(bench.mode(), Mode::ProbeBw);
}

/// `bbr_reset_probe_bw_mode`: the phase of gain 0.75 is never the first.
#[test]
fn probe_bw_begins_in_a_random_phase() {
    let mut found = [0; 8];
    for replication in 0..200 {
        let stream = Seed::new(1, replication, "bbr").stream();
        let mut bbr = Bbr1::new(&setup(), stream);
        bbr.begin_probe_bw(Time::ZERO);
        let index = (0..8).find(|skip| {
            let mut cycle = Cycle::default();
            cycle.begin(6 - skip.min(&6), Time::ZERO);
            format!("{cycle:?}") == format!("{:?}", bbr.cycle)
        });
        found[index.unwrap_or(7) as usize] += 1;
    }
    assert!(found[..7].iter().all(|count| *count > 10), "{found:?}");
    assert_eq!(found[7], 0);
}

/// `bbr_is_next_cycle_phase`: gain 1.25 lasts until 1.25 BDP is in the network, gain 0.75 until 1
/// BDP, gain 1 a minimum RTT.
#[test]
fn cycle_follows_the_bytes_in_the_network() {
    let mut bench = Bench::probing();
    while bench.bbr.gains().0 != 1.25 {
        bench.round(Round { rtt: Duration::from_millis(41), ..ROUND });
    }
    let probe = Round { rtt: Duration::from_millis(41), inflight: 0, ..ROUND };
    bench.round(probe);
    assert_eq!(bench.bbr.gains().0, 1.25);
    bench.round(Round { inflight: 30 * MSS, ..probe });
    assert_eq!(bench.bbr.gains().0, 0.75);
    // The phase of gain 0.75 ends although it has not lasted a minimum RTT.
    bench.round(Round { rtt: Duration::from_millis(10), inflight: 20 * MSS, ..ROUND });
    assert_eq!(bench.bbr.gains().0, 1.0);
}

/// `bbr_is_next_cycle_phase`: a loss ends the phase of gain 1.25.
#[test]
fn loss_ends_the_phase_of_gain_1_25() {
    let mut bench = Bench::probing();
    let slow = Round { rtt: Duration::from_millis(41), inflight: 0, ..ROUND };
    while bench.bbr.gains().0 != 1.25 {
        bench.round(slow);
    }
    bench.round(Round { lost: MSS, ..slow });
    assert_eq!(bench.bbr.gains().0, 0.75);
}

/// `bbr_update_min_rtt`: ProbeRTT begins 10 s after the minimum, with a window of four segments. It
/// lasts 200 ms and a round trip from the time at which four segments are in the network.
#[test]
fn probe_rtt_begins_after_ten_seconds_and_lasts_200_ms() {
    let mut bench = Bench::probing();
    let longer = Round { rtt: Duration::from_millis(50), ..ROUND };
    while bench.mode() != Mode::ProbeRtt {
        bench.round(longer);
    }
    assert!(bench.acks.now > Time::from_secs(10) && bench.acks.now < Time::from_millis(10_200));
    assert_eq!((bench.bbr.cwnd(), bench.bbr.limits_itself()), (4 * MSS, true));
    let before = bench.bbr.prior.bytes;
    let small = Round { inflight: 4 * MSS, bandwidth: 800_000, app_limited: true, ..ROUND };
    bench.round(small);
    let begun = bench.acks.now;
    while bench.mode() == Mode::ProbeRtt {
        assert_eq!(bench.bbr.cwnd(), 4 * MSS);
        bench.round(small);
    }
    assert_eq!(bench.mode(), Mode::ProbeBw);
    let lasted = bench.acks.now.saturating_since(begun);
    assert_eq!(lasted, Duration::from_millis(240));
    assert!(bench.bbr.cwnd() >= before);
    assert!(!bench.bbr.limits_itself());
}

/// `bbr_cwnd_event`: after an idle time ProbeRTT is skipped, and ProbeBW paces at the bandwidth.
#[test]
fn idle_restart_skips_probe_rtt() {
    let mut bench = Bench::probing();
    bench.acks.now = bench.acks.now + Duration::from_secs(20);
    let cwnd = bench.bbr.cwnd();
    bench.bbr.on_idle(&IdleEvent { now: bench.acks.now, cwnd: 1, ssthresh: 0 });
    assert_eq!(bench.bbr.cwnd(), cwnd);
    let expected = bench.bbr.units.pacing_rate(10_000_000, 1.0);
    assert_eq!(bench.bbr.pacing_rate(), Some(expected));
    bench.round(ROUND);
    assert_eq!((bench.mode(), bench.bbr.is_idle_restart), (Mode::ProbeBw, false));
}

/// `bbr_set_cwnd`: twice the BDP of 50 segments, extra_acked, three bursts, at least four segments.
#[test]
fn set_cwnd_to_two_bdp() {
    let mut bench = Bench::probing();
    for _ in 0..20 {
        bench.round(ROUND);
    }
    let extra = bench.bbr.aggregation.extra_acked();
    let probing = if bench.bbr.cycle.is_probing() { 2 } else { 0 };
    let expected = ((100 * MSS + extra + 6 * MSS).div_ceil(2 * MSS) * 2 + probing) * MSS;
    assert_eq!(bench.bbr.cwnd(), expected);
}

/// `bbr_set_cwnd_to_recover_or_restore`: in the first round trip of a recovery the window is the
/// bytes in the network plus those delivered. The end of the recovery restores the window.
#[test]
fn recovery_conserves_packets_for_a_round_trip() {
    let mut bench = Bench::probing();
    let before = bench.bbr.cwnd();
    bench.bbr.on_loss(&LossEvent::new(bench.acks.now, before, before));
    let recovery = Round { phase: RecoveryPhase::Recovery, ..ROUND };
    bench.round(Round { lost: MSS, inflight: 20 * MSS, ..recovery });
    assert_eq!(bench.bbr.cwnd(), 70 * MSS);
    assert!(bench.bbr.is_conserving);
    bench.round(recovery);
    assert!(!bench.bbr.is_conserving);
    bench.round(ROUND);
    assert!(bench.bbr.cwnd() >= before);
}

/// `bbr_set_state` and `tcp_enter_loss`: a timeout leaves one segment, and the end of the loss
/// state restores the window.
#[test]
fn timeout_leaves_one_segment_until_its_end() {
    let mut bench = Bench::probing();
    let before = bench.bbr.cwnd();
    bench.bbr.on_rto(&LossEvent::new(bench.acks.now, before, before));
    assert_eq!((bench.bbr.cwnd(), bench.bbr.prior.bytes), (MSS, before));
    bench.round(Round { phase: RecoveryPhase::Loss, inflight: MSS, ..ROUND });
    bench.round(ROUND);
    assert!(bench.bbr.cwnd() >= before);
}

/// `bbr_update_bw`: an application-limited sample counts only if it is not below the maximum.
#[test]
fn app_limited_samples_only_raise_the_bandwidth() {
    let mut bench = Bench::new();
    let limited = Round { app_limited: true, ..ROUND };
    for bandwidth in [4_000_000, 2_000_000] {
        bench.round(Round { bandwidth, ..limited });
        assert_eq!(bench.bbr.bw(), 4_000_000);
    }
    bench.round(Round { bandwidth: 6_000_000, ..limited });
    assert_eq!(bench.bbr.bw(), 6_000_000);
}

/// `bbr_undo_cwnd`: the search for the full pipe restarts.
#[test]
fn undo_restarts_the_search_for_the_full_pipe() {
    let mut bench = Bench::new();
    bench.round(ROUND);
    bench.round(ROUND);
    assert_eq!(bench.bbr.full_count, 1);
    bench.bbr.on_undo(&UndoEvent { now: bench.acks.now, cwnd: 1, ssthresh: 1 });
    assert_eq!((bench.bbr.full_bandwidth, bench.bbr.full_count), (0, 0));
}

/// `bbr_exit_probe_rtt`: ProbeRTT returns to Startup if the pipe was never full.
#[test]
fn probe_rtt_returns_to_startup_before_the_pipe_is_full() {
    let mut bench = Bench::new();
    let limited = Round { app_limited: true, rtt: Duration::from_millis(45), ..ROUND };
    while bench.mode() != Mode::ProbeRtt {
        assert_eq!(bench.mode(), Mode::Startup);
        bench.round(limited);
    }
    while bench.mode() == Mode::ProbeRtt {
        bench.round(Round { inflight: 4 * MSS, ..limited });
    }
    assert_eq!((bench.mode(), bench.bbr.gains().0), (Mode::Startup, HIGH_GAIN));
}

/// `bbr_min_tso_segs`: single segments below 1.2 Mbit/s, otherwise at least two.
#[test]
fn bbr_min_tso_segs() {
    let mut bbr = Bench::new().bbr;
    let least = [1_199_999, 1_200_000].map(|rate| {
        bbr.pacing.set(bbr.units, Rate(rate));
        bbr.burst_size().least
    });
    assert_eq!(least, [1, 2]);
}

/// `bbr_is_next_cycle_phase`: losses before the ACK, which a timer has detected, do not end the phase
/// of gain 1.25.
#[test]
fn loss_of_a_timer_does_not_end_the_phase_of_gain_1_25() {
    let mut bench = Bench::probing();
    let slow = Round { rtt: Duration::from_millis(41), inflight: 0, ..ROUND };
    while bench.bbr.gains().0 != 1.25 {
        bench.round(slow);
    }
    bench.bbr.on_segment_lost(&bench.acks.lost_segment(0, 50 * MSS, MSS));
    bench.round(slow);
    assert_eq!(bench.bbr.gains().0, 1.25);
}

/// `bbr_set_state`: a timeout ends an interval of the detection of a policer, with the segments that
/// it deems lost. After the losses of ten segments, 50 segments are delivered per round trip of 40 ms.
#[test]
fn timeout_ends_a_policer_interval_with_its_losses() {
    let mut bench = Bench::probing();
    bench.bbr.on_segment_lost(&bench.acks.lost_segment(0, 50 * MSS, MSS));
    bench.round(Round { lost: MSS, ..ROUND });
    for _ in 0..3 {
        bench.round(ROUND);
    }
    for lost in 1..=40 {
        bench.bbr.on_segment_lost(&bench.acks.lost_segment(lost * MSS, 50 * MSS, lost * MSS));
    }
    bench.acks.now = bench.acks.now + Duration::from_secs(1);
    assert_eq!(bench.bbr.policer.rate(), 0);
    bench.bbr.on_rto(&LossEvent::new(bench.acks.now, 0, 0));
    // 150 segments in 120 ms; the time since the last delivery does not count.
    assert_eq!(bench.bbr.policer.rate(), 10_000_000);
}

/// `bbr_set_cwnd_to_recover_or_restore`: the kernel counts segments, so that an ACK of a short last
/// segment leaves a window of one segment.
#[test]
fn recovery_conserves_at_least_one_segment() {
    let mut bench = Bench::probing();
    let event = bench.acks.round(Round { phase: RecoveryPhase::Recovery, inflight: 0, ..ROUND });
    bench.bbr.on_ack(&AckEvent { delivered: 300, ..event });
    assert_eq!(bench.bbr.cwnd(), MSS);
}
