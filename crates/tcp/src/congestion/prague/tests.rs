//! Tests of Prague: α, reductions, growth, pacing, and the change to Reno.

use super::*;
use airpath_conformance::Law;

const MSS: u64 = 1000;

const RULES: Law = Law {
    area: "Prague",
    source: "draft-briscoe-iccrg-prague-congestion-control-04: α, reduction, increase, pacing",
    allows: "floating-point rounding",
};

/// Creates a sender in congestion avoidance with a window of `segments` segments and an RTT of
/// `rtt` ms.
fn prague(config: PragueConfig, segments: u64, rtt: u64) -> Prague {
    let window = segments * MSS;
    let options = TcpConfig {
        mss: MSS as u32,
        initial_window: window,
        initial_ssthresh: Some(window),
        ..TcpConfig::rfc()
    };
    let mut cc = Prague(Mode::Scalable(Box::new(Scalable::new(
        config,
        &CongestionSetup { options: options.into() },
    ))));
    assert_eq!(cc.on_negotiated(EcnUse::Accurate), Ecn::Ect1);
    state(&mut cc).srtt.value = rtt as f64 / 1000.0;
    cc
}

const DEFAULT: PragueConfig = PragueConfig {
    g: 0.0625,
    start: PragueStart::Halve,
    reduction: PragueReduction::VirtualRtt,
    rtt_target_ns: 25_000_000,
    transition_rounds: 4,
    pacing_variation: 0.031_25,
};
const WINDOW: PragueConfig = PragueConfig { reduction: PragueReduction::Window, ..DEFAULT };
const ALPHA: PragueConfig = PragueConfig { start: PragueStart::Alpha, ..WINDOW };

fn state(cc: &mut Prague) -> &mut Scalable {
    let Mode::Scalable(state) = &mut cc.0 else { panic!("Reno") };
    state
}

/// Handles an ACK at `ms` of everything before segment `next`, after `sent` segments were sent.
/// `acked` segments are new, `marked` of them marked.
fn ack(cc: &mut Prague, ms: u64, (next, sent): (u64, u64), acked: u64, marked: u64) {
    let event = AckEvent::of_new_data(Time::from_millis(ms), acked * MSS);
    let (ack, sent, marked) = (next * MSS, sent * MSS, marked * MSS);
    cc.on_ack(&AckEvent { ack, sent, marked, ..event });
}

fn ecn(cc: &mut Prague, ms: u64) -> f64 {
    cc.on_ecn(&LossEvent::new(Time::from_millis(ms), cc.cwnd(), cc.cwnd()));
    state(cc).window / MSS as f64
}

#[test]
fn increase_is_the_square_of_the_rtt_ratio_below_the_target() {
    for (rtt, increase) in [(0.001, 0.0016), (0.005, 0.04), (0.025, 1.0), (0.05, 1.0)] {
        RULES.close(
            format!("increase at {rtt} s"),
            "segments",
            prague_increase(rtt, 0.025),
            increase,
            1e-12,
        );
    }
}

#[test]
fn alpha_moves_by_g_once_per_virtual_rtt() {
    let mut cc = prague(ALPHA, 10, 50);
    ack(&mut cc, 0, (1, 10), 1, 1);
    assert_eq!(cc.alpha(), Some(1.0));
    ack(&mut cc, 40, (6, 15), 5, 0);
    assert_eq!(cc.alpha(), Some(1.0), "the round ends with segment 10");
    // 2 of 10 segments of the round are marked.
    ack(&mut cc, 50, (11, 20), 5, 2);
    RULES.close("α, 2 of 10 marked", "", cc.alpha().unwrap(), 15.0 / 16.0 + 0.2 / 16.0, 1e-12);
}

/// With an RTT of 5 ms and a virtual RTT of 25 ms, α and the window change every fifth round.
#[test]
fn short_rtts_react_once_per_virtual_rtt() {
    let mut cc = prague(PragueConfig { transition_rounds: 0, ..ALPHA }, 10, 5);
    ack(&mut cc, 100, (1, 10), 1, 1);
    state(&mut cc).window = 10_000.0;
    state(&mut cc).ssthresh = 10_000.0;
    let alpha = cc.alpha().unwrap();
    assert!((ecn(&mut cc, 100) - 10.0 * (1.0 - alpha / 2.0)).abs() < 1e-9);
    for round in 1..5 {
        ack(&mut cc, 100 + 5 * round, (10 * round + 1, 10 * round + 10), 10, 10);
        assert_eq!(cc.alpha(), Some(alpha), "round {round}");
        let window = state(&mut cc).window;
        assert_eq!(ecn(&mut cc, 100 + 5 * round), window / 1000.0, "round {round}");
    }
    ack(&mut cc, 125, (51, 60), 10, 0);
    // 40 of the 50 segments since the update were marked.
    RULES.close("α, 40 of 50", "", cc.alpha().unwrap(), alpha * 15.0 / 16.0 + 0.05, 1e-12);
    let window = state(&mut cc).window / 1000.0;
    let left = window * (1.0 - cc.alpha().unwrap() / 2.0);
    RULES.close("window at 125 ms", "segments", ecn(&mut cc, 125), left, 1e-9);
}

/// Times, ms, of the reductions of a flow with an RTT of 20 ms and a mark in every ACK, one ACK and
/// one segment per ms, up to 160 ms. The sender reports the first mark of each window of data.
fn reductions(reduction: PragueReduction) -> Vec<u64> {
    let config = PragueConfig { transition_rounds: 0, reduction, ..ALPHA };
    let mut cc = prague(config, 100, 20);
    let mut found = Vec::new();
    for ms in 0..=160 {
        let before = state(&mut cc).window;
        ack(&mut cc, ms, (ms, ms + 20), 1, 1);
        if ms % 20 == 0 {
            ecn(&mut cc, ms);
        }
        if state(&mut cc).window < before {
            found.push(ms);
        }
    }
    found
}

/// With RTT 20 ms a virtual RTT of 25 ms elapses within a window of data. Linux then waits for the
/// next window of data.
#[test]
fn marks_reduce_the_window_once_per_virtual_rtt() {
    assert_eq!(reductions(PragueReduction::VirtualRtt), [0, 25, 50, 75, 100, 125, 150]);
    assert_eq!(reductions(PragueReduction::Window), [0, 40, 80, 120, 160]);
}

/// Beyond a virtual RTT, an RTT must elapse: data sent after the reduction is acknowledged.
#[test]
fn marks_of_earlier_data_do_not_reduce_the_window_again() {
    let config = PragueConfig { start: PragueStart::Alpha, ..DEFAULT };
    let mut cc = prague(config, 10, 50);
    ack(&mut cc, 100, (1, 10), 1, 1);
    let window = state(&mut cc).window;
    RULES.close("half", "B", window, 5000.0, 1e-9);
    ack(&mut cc, 140, (9, 14), 1, 1);
    assert!(state(&mut cc).window >= window);
    ack(&mut cc, 150, (10, 15), 1, 1);
    assert!(state(&mut cc).window < window);
}

/// In loss recovery marks enter α, but do not reduce the window.
#[test]
fn marks_in_loss_recovery_do_not_reduce_the_window() {
    let config = PragueConfig { start: PragueStart::Alpha, ..DEFAULT };
    for (phase, left) in [
        (RecoveryPhase::Open, 5000.0),
        (RecoveryPhase::Recovery, 10_000.0),
        (RecoveryPhase::Loss, 10_000.0),
    ] {
        let mut cc = prague(config, 10, 50);
        let event =
            AckEvent { phase, marked: MSS, growth: None, ..AckEvent::of_new_data(Time::ZERO, MSS) };
        cc.on_ack(&event);
        RULES.close(format!("window, {phase:?}"), "B", state(&mut cc).window, left, 1e-9);
    }
}

#[test]
fn first_mark_halves_the_window_and_ends_slow_start() {
    let mut cc = prague(WINDOW, 10, 50);
    state(&mut cc).ssthresh = f64::INFINITY;
    ack(&mut cc, 0, (10, 20), 10, 0);
    assert_eq!((cc.cwnd(), cc.ssthresh()), (20_000, u64::MAX));
    ack(&mut cc, 50, (11, 21), 1, 1);
    assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000, 10_000));
    // α is still small: the reduction that follows changes little.
    let alpha = cc.alpha().unwrap();
    assert!((ecn(&mut cc, 50) - 10.0 * (1.0 - alpha / 2.0)).abs() < 1e-9 && alpha < 0.0625);
}

#[test]
fn only_unmarked_bytes_increase_the_window() {
    let mut cc = prague(WINDOW, 10, 50);
    state(&mut cc).has_seen_mark = true;
    ack(&mut cc, 0, (5, 15), 5, 2);
    RULES.close("3 of 5 unmarked", "B", state(&mut cc).window, 10_000.0 + 300.0, 1e-9);
    ack(&mut cc, 1, (6, 16), 1, 1);
    RULES.close("marked only", "B", state(&mut cc).window, 10_300.0, 1e-9);
}

/// One segment per RTT during the first rounds, then one per virtual RTT at the flow's rate.
#[test]
fn rtt_independence_begins_after_the_transition() {
    let mut cc = prague(DEFAULT, 10, 5);
    for round in 0..4 {
        ack(&mut cc, 5 * round, (10 * round + 1, 10 * round + 10), 1, 0);
        let window = state(&mut cc).window;
        assert!(window > 10_099.0, "{window}");
        state(&mut cc).window = 10_000.0;
    }
    ack(&mut cc, 25, (50, 60), 10, 0);
    RULES.close("growth per RTT of 5 ms", "B", state(&mut cc).window, 10_040.0, 1e-9);
}

#[test]
fn loss_halves_the_window_and_a_timeout_leaves_one_segment() {
    let mut cc = prague(DEFAULT, 10, 50);
    cc.on_loss(&LossEvent::new(Time::ZERO, 10_000, 10_000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (5000, 5000));
    cc.on_rto(&LossEvent::new(Time::ZERO, 5000, 5000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 2500));
    cc.on_undo(&UndoEvent { now: Time::ZERO, cwnd: 10_000, ssthresh: 10_000 });
    assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000, 10_000));
}

/// W/srtt in complete packets of 1040 B, 3 % more in the first half of the virtual RTT.
#[test]
fn pacing_rate_is_window_per_rtt_with_a_variation() {
    let mut cc = prague(DEFAULT, 10, 50);
    let usual = 10.0 * 1040.0 * 8.0 / 0.05;
    for (ms, factor) in [(0, 1.031_25), (24, 1.031_25), (26, 0.968_75)] {
        cc.on_sent(Time::from_millis(ms), MSS);
        let rate = cc.pacing_rate().unwrap().0 as f64;
        RULES.close(format!("pacing rate at {ms} ms"), "bit/s", rate, usual * factor, 1.0);
    }
    state(&mut cc).ssthresh = 21_000.0;
    let rate = cc.pacing_rate().unwrap().0 as f64;
    RULES.close("W < ssthresh/2", "bit/s", rate, 2.0 * usual * 0.968_75, 1.0);
}

/// Below two segments only pacing reduces the rate, down to 100 kbit/s of payload.
#[test]
fn window_is_two_segments_and_pacing_continues_to_decrease() {
    let mut cc = prague(PragueConfig { transition_rounds: 0, ..ALPHA }, 2, 10);
    for reduction in 0..20 {
        ecn(&mut cc, 100 * (reduction + 1));
        assert_eq!(cc.cwnd(), 2000);
    }
    RULES.close("window at 100 kbit/s and 10 ms", "B", state(&mut cc).window, 125.0, 1e-9);
}

#[test]
fn without_accurate_feedback_it_is_reno() {
    for feedback in [EcnUse::On, EcnUse::Off] {
        let mut cc = prague(DEFAULT, 10, 50);
        assert_eq!(cc.on_negotiated(feedback), Ecn::Ect0);
        cc.on_ecn(&LossEvent::new(Time::ZERO, 10_000, 10_000));
        assert_eq!((cc.cwnd(), cc.alpha(), cc.pacing_rate()), (5000, None, None));
    }
}

#[test]
fn application_without_data_does_not_increase_the_window() {
    let mut cc = prague(DEFAULT, 10, 50);
    for (in_flight, window) in [(2000, 10_000.0), (5000, 10_200.0)] {
        let event =
            AckEvent { in_flight, app_limited: true, ..AckEvent::of_new_data(Time::ZERO, 2000) };
        cc.on_ack(&event);
        assert!((state(&mut cc).window - window).abs() < 1.0, "{}", state(&mut cc).window);
    }
}
